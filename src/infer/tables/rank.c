/* SPDX-License-Identifier: MIT
 * Ranks tables by how well their names cover those of a file: names without numbers and without prefixes tell most
 * tables apart. Every table is estimated by the endings of its names, which takes no parsing; the best are laid out and
 * compared name by name. */
#include <stdlib.h>
#include <string.h>

#include "infer/classes.h"
#include "infer/infer.h"
#include "model/computed.h"
#include "names/components.h"

/* The name without its first component: "model.h.#.weight" -> "h.#.weight". NULL when that leaves only one, which says
 * too little. */
static const char *without_first_component(const char *name)
{
    const char *rest = sp_behind_component(name, SP_ENDS);
    return rest && sp_behind_component(rest, SP_ENDS) ? rest : NULL;
}

/* Whether an index comes behind the first component of a name of at least two. */
static bool has_index_behind_first(const char *name)
{
    const char *second = sp_behind_component(name, SP_ENDS);
    return memchr(second, (unsigned char)SP_INDEX_MARK, strlen(second)) != NULL;
}

/* The patterns of the file that the lines of one table make. */
struct covering {
    const struct sp_prefilter *prefilter;
    bool *covered; /* by pattern */
    size_t count;  /* of the patterns */
};

/* Marks the patterns that end as the name does; false when there is none. */
static bool cover_name(const struct covering *covering, const char *name)
{
    return sp_ends_cover(&covering->prefilter->ends, name, covering->covered, covering->count);
}

/* Marks the patterns that a line can make, whatever prefix they have in the file; false when there is none. A text in
 * its name that depends on the class (SP_TEXT_MARK) may be anything. Otherwise the file may lack the first component,
 * or the first two if the rest has an index: such as the components that hold a part of a model. */
static bool cover_line(const struct covering *covering, const struct sp_line *line)
{
    const char *name = line->name;
    for (const char *p = name; *p; p++)
        if (*p == SP_TEXT_MARK) name = p + 1;
    if (cover_name(covering, name)) return true;
    name = name == line->name ? without_first_component(name) : NULL;
    if (!name || cover_name(covering, name)) return name;
    name = without_first_component(name);
    return name && has_index_behind_first(name) && cover_name(covering, name);
}

/* A table that is being laid out, and the counts of its lines so far. */
struct ranking {
    struct sp_ranked ranked;
    struct sp_outline outline;
    struct covering covering;
    size_t ranked_lines; /* the first so many lines of the outline are counted */
    size_t most_others;  /* with more names that the file lacks the table is given up */
};

static bool has_too_many(const struct ranking *ranking)
{
    return ranking->ranked.uncovered + ranking->ranked.conditional > ranking->most_others;
}

/* Counts the lines that were added to the outline since the last call. */
static void rank_lines(struct ranking *ranking)
{
    for (; ranking->ranked_lines < ranking->outline.count; ranking->ranked_lines++) {
        const struct sp_line *line = &ranking->outline.lines[ranking->ranked_lines];
        if (cover_line(&ranking->covering, line) || line->optional) continue;
        ranking->ranked.uncovered += !line->condition;
        ranking->ranked.conditional += line->condition != NULL;
    }
}

/* Lays out the models of a composite only until the table has too many other names: it may have hundreds of models,
 * each of thousands of lines. */
static bool keeps_until_too_many(void *context, const struct sp_row *use)
{
    struct ranking *ranking = context;
    const struct sp_use_filter *filter = &ranking->covering.prefilter->filter;
    if (!sp_row_is_alternative(use)) return true;
    rank_lines(ranking);
    return !has_too_many(ranking) && filter->keeps(filter->context, use);
}

/* Compares a table exactly. False when it has more than `most_others` names that the file lacks. */
static bool rank_anew(const struct sp_unit *table, const struct sp_shapes *shapes, size_t most_others,
                      struct sp_ranked *ranked)
{
    struct sp_arena arena = {0};
    struct ranking ranking = {
        .ranked = {.table = table, .depth = sp_unit_depth(table)},
        .covering = {shapes->prefilter, sp_arena_array(&arena, shapes->patterns.count, sizeof(bool)),
                     shapes->patterns.count},
        .most_others = most_others,
    };
    sp_outline_init(&ranking.outline, table, "", &(struct sp_use_filter){keeps_until_too_many, &ranking});
    rank_lines(&ranking);
    for (size_t i = 0; i < shapes->patterns.count; i++) ranking.ranked.covered += ranking.covering.covered[i];
    sp_outline_free(&ranking.outline);
    sp_arena_free(&arena);
    *ranked = ranking.ranked;
    return !has_too_many(&ranking);
}

/* The same for the table at a place, which is parsed for that. The result is cached. False as well when the table has a
 * mistake. */
static bool rank_table(size_t place, const struct sp_shapes *shapes, size_t most_others, struct sp_ranked *ranked)
{
    struct sp_prefilter *prefilter = shapes->prefilter;
    struct sp_prefiltered *cached = sp_prefilter_unit(prefilter, place);
    if (cached->ranked) {
        *ranked = *cached->ranked;
        return ranked->uncovered + ranked->conditional <= most_others;
    }
    const struct sp_unit *table = sp_tables_at(prefilter->tables, place);
    if (!table || !rank_anew(table, shapes, most_others, ranked)) return false;
    ranked->place = place;
    ranked->name = table->name;
    cached->ranked = sp_arena_alloc(&prefilter->arena, sizeof *cached->ranked);
    *cached->ranked = *ranked;
    return true;
}

/* Best first: what covers more and lacks less; a whole model before a part; the smaller table; the table of more
 * models.
 */
static int compare_ranked(const void *left, const void *right)
{
    const struct sp_ranked *a = left, *b = right;
    if (a->covered != b->covered) return a->covered > b->covered ? -1 : 1;
    if (a->uncovered != b->uncovered) return a->uncovered < b->uncovered ? -1 : 1;
    if (!a->heads != !b->heads) return a->heads ? -1 : 1;
    if (a->depth != b->depth) return a->depth < b->depth ? -1 : 1;
    if (a->heads != b->heads) return a->heads > b->heads ? -1 : 1;
    if (a->conditional != b->conditional) return a->conditional < b->conditional ? -1 : 1;
    return strcmp(a->name, b->name);
}

static int compare_likely(const void *left, const void *right)
{
    const struct sp_ranked *a = left, *b = right;
    if (a->likely != b->likely) return a->likely > b->likely ? -1 : 1;
    return compare_ranked(left, right);
}

/* covered^2 / (all names of the table): high for a table of which the file has nearly all, low for a composite that may
 * hold anything. */
static double closeness(const struct sp_ranked *ranked)
{
    const double covered = (double)ranked->covered;
    return covered * covered / (double)(ranked->covered + ranked->uncovered + ranked->conditional + 1);
}

static int compare_closeness(const void *left, const void *right)
{
    const double a = closeness(left), b = closeness(right);
    if (a != b) return a > b ? -1 : 1;
    return compare_ranked(left, right);
}

size_t sp_count_computed(const struct shapeproof_inventory *inventory)
{
    size_t computed = 0;
    for (size_t i = 0; i < shapeproof_inventory_count(inventory); i++) {
        const struct shapeproof_tensor *tensor = shapeproof_inventory_tensor(inventory, i);
        computed += sp_is_computed(tensor->name, tensor->shape, tensor->rank, tensor->dtype);
    }
    return computed;
}

/* The fewest patterns that a table must be likely to cover. If tables are searched `as_named` that is all patterns of
 * the file but as many as it has buffers that loaders compute; otherwise 0. */
static size_t fewest_patterns(const struct sp_tables_searched *searched, const struct sp_shapes *shapes)
{
    const size_t patterns = shapes->prefilter->patterns;
    const size_t computed = searched->as_named ? sp_count_computed(shapes->inventory) : patterns;
    return patterns > computed ? patterns - computed : 0;
}

/* Estimates the tables that are searched by the endings of their names. Writes those that cover anything to `ranked`,
 * and returns how many; writes those for which the endings do not decide to `vague`. Parts that need arguments are no
 * models by themselves. */
static size_t prefilter_tables(const struct sp_tables_searched *searched, const struct sp_shapes *shapes,
                               struct sp_ranked *ranked, struct sp_ranked *vague, size_t *vague_count)
{
    const struct shapeproof_tables *tables = searched->tables;
    const struct sp_unit *only = searched->only;
    const size_t fewest = fewest_patterns(searched, shapes);
    size_t listed, count = 0;
    const size_t *list = sp_tables_list(tables, &listed);
    *vague_count = 0;
    for (size_t i = 0; i < listed; i++) {
        const char *name = sp_tables_entry(tables, list[i]).name;
        const bool is_searched =
            only ? strcmp(name, only->name) == 0 : !sp_prefilter_unit(shapes->prefilter, list[i])->needs_arguments;
        if (!is_searched) continue;
        struct sp_ranked estimate;
        const bool is_decided = sp_prefilter_table(shapes->prefilter, list[i], &estimate);
        if (estimate.likely < fewest) continue;
        estimate.name = name;
        if (!is_decided || only) vague[(*vague_count)++] = estimate;
        else if (estimate.covered) ranked[count++] = estimate;
    }
    return count;
}

/* Brings the tables that are to be compared exactly to the front, and returns how many: the `most` that cover the most,
 * then a quarter as many of the rest by what they are likely to cover, then as many by closeness. */
static size_t choose_likely(struct sp_ranked *ranked, size_t count, size_t most)
{
    static int (*const orders[])(const void *, const void *) = {compare_ranked, compare_likely, compare_closeness};
    size_t chosen = 0;
    for (size_t i = 0; i < sizeof orders / sizeof *orders && chosen < count; i++) {
        qsort(ranked + chosen, count - chosen, sizeof *ranked, orders[i]);
        chosen += i == 0 ? most : most / 4;
    }
    return chosen < count ? chosen : count;
}

static int compare_covered(const void *left, const void *right)
{
    const struct sp_ranked *a = left, *b = right;
    if (a->covered != b->covered) return a->covered > b->covered ? -1 : 1;
    return a->uncovered < b->uncovered ? -1 : a->uncovered > b->uncovered;
}

/* Sorts by compare_ranked. Counting `heads` takes long, so that it is only done for tables that cover and lack as many
 * names as another, and for one that may be a part of models which is all of the file. */
static void order_ranked(const struct shapeproof_tables *tables, struct sp_ranked *ranked, size_t count,
                         size_t patterns)
{
    if (count) qsort(ranked, count, sizeof *ranked, compare_covered);
    for (size_t from = 0, to; from < count; from = to) {
        for (to = from + 1; to < count && !compare_covered(&ranked[from], &ranked[to]);) to++;
        const bool may_be_part = !ranked[from].uncovered && ranked[from].covered == patterns;
        for (size_t i = from; i < to && (to > from + 1 || may_be_part); i++) {
            const struct sp_unit *table = ranked[i].table;
            ranked[i].heads = table->model_type_count ? sp_count_heads(tables, table) : 1;
        }
        qsort(ranked + from, to - from, sizeof *ranked, compare_ranked);
    }
}

struct sp_ranked *sp_rank_tables(const struct sp_tables_searched *searched, const struct sp_shapes *shapes, size_t most,
                                 const struct sp_rank_wanted *wanted, size_t *count)
{
    static const struct sp_rank_wanted any = {.fewest_covered = 1, .most_others = SIZE_MAX};
    if (!wanted) wanted = &any;
    const struct shapeproof_tables *tables = searched->tables;
    size_t listed, vague_count;
    sp_tables_list(tables, &listed);
    struct sp_ranked *ranked = sp_realloc(NULL, listed, sizeof *ranked);
    struct sp_ranked *vague = sp_realloc(NULL, listed, sizeof *vague);
    size_t likely = prefilter_tables(searched, shapes, ranked, vague, &vague_count);
    likely = choose_likely(ranked, likely, most);
    for (size_t i = 0; i < vague_count; i++) ranked[likely++] = vague[i];
    *count = 0;
    for (size_t i = 0; i < likely; i++) { /* in place: exact comparisons replace the estimates before the next one */
        struct sp_ranked *next = &ranked[*count];
        const bool has_few_others = rank_table(ranked[i].place, shapes, wanted->most_others, next);
        if (has_few_others && next->covered >= wanted->fewest_covered) ++*count;
    }
    order_ranked(tables, ranked, *count, shapes->patterns.count);
    sp_free(vague);
    return ranked;
}
