/* SPDX-License-Identifier: MIT
 * Names alone, without numbers and without what is in front of them, tell most tables apart. */
#include <stdlib.h>
#include <string.h>

#include "infer/classes.h"
#include "infer/infer.h"
#include "model/computed.h"
#include "names/components.h"

/* What is left of a name without its first component, when that says enough: two components, or, of a name that has
 * lost one already, those around an index. */
static const char *without_front(const char *name, bool again)
{
    const char *rest = sp_behind_component(name, SP_ENDS);
    const char *second = rest ? sp_behind_component(rest, SP_ENDS) : NULL;
    if (!second) return NULL;
    return !again || memchr(second, (unsigned char)SP_INDEX_MARK, strlen(second)) ? rest : NULL;
}

/* The patterns that the lines of one table are. */
struct covering {
    const struct sp_prefilter *prefilter;
    bool *covered;
    size_t count;
};

static bool cover_name(const struct covering *covering, const char *name)
{
    return sp_ends_cover(&covering->prefilter->ends, name, covering->covered, covering->count);
}

/* Behind a text that depends on the class anything may be in front; otherwise the file may have left out some, such as
 * the components that hold the part of a model. */
static bool cover_line(const struct covering *covering, const struct sp_line *line)
{
    const char *name = line->name;
    for (const char *p = name; *p; p++)
        if (*p == SP_TEXT_MARK) name = p + 1;
    if (cover_name(covering, name)) return true;
    name = name == line->name ? without_front(name, false) : NULL;
    if (!name || cover_name(covering, name)) return name;
    name = without_front(name, true);
    return name && cover_name(covering, name);
}

/* A table that is being laid out, and what its lines are to the file so far. */
struct ranking {
    struct sp_ranked ranked;
    struct sp_outline outline;
    struct covering covering;
    size_t ranked_lines;
    size_t most_others; /* of a table that has more nothing else matters */
};

static bool has_too_many(const struct ranking *ranking)
{
    return ranking->ranked.uncovered + ranking->ranked.conditional > ranking->most_others;
}

static void rank_lines(struct ranking *ranking)
{
    for (; ranking->ranked_lines < ranking->outline.count; ranking->ranked_lines++) {
        const struct sp_line *line = &ranking->outline.lines[ranking->ranked_lines];
        if (cover_line(&ranking->covering, line) || line->optional) continue;
        ranking->ranked.uncovered += !line->condition;
        ranking->ranked.conditional += line->condition != NULL;
    }
}

/* Of a composite with hundreds of models, each of thousands of lines, a few models may be enough to know. */
static bool keeps_until_too_many(void *context, const struct sp_row *use)
{
    struct ranking *ranking = context;
    const struct sp_use_filter *filter = &ranking->covering.prefilter->filter;
    if (!sp_row_is_alternative(use)) return true;
    rank_lines(ranking);
    return !has_too_many(ranking) && filter->keeps(filter->context, use);
}

/* False when it has too many other names. */
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

/* The same of the table at a place, which is parsed for it, found once for these shapes. */
static bool rank_table(size_t place, const struct sp_shapes *shapes, size_t most_others, struct sp_ranked *ranked)
{
    struct sp_prefilter *prefilter = shapes->prefilter;
    struct sp_prefiltered *of = sp_prefilter_unit(prefilter, place);
    if (of->ranked) {
        *ranked = *of->ranked;
        return ranked->uncovered + ranked->conditional <= most_others;
    }
    const struct sp_unit *table = sp_tables_at(prefilter->tables, place);
    if (!table || !rank_anew(table, shapes, most_others, ranked)) return false;
    ranked->place = place;
    ranked->name = table->name;
    of->ranked = sp_arena_alloc(&prefilter->arena, sizeof *of->ranked);
    *of->ranked = *ranked;
    return true;
}

static int compare_ranked(const void *left, const void *right)
{
    const struct sp_ranked *a = left, *b = right;
    if (a->covered != b->covered) return a->covered > b->covered ? -1 : 1;
    if (a->uncovered != b->uncovered) return a->uncovered < b->uncovered ? -1 : 1;
    if (!a->heads != !b->heads) return a->heads ? -1 : 1;
    if (a->depth != b->depth) return a->depth < b->depth ? -1 : 1;
    if (a->heads != b->heads) return a->heads > b->heads ? -1 : 1; /* what there is more of */
    if (a->conditional != b->conditional) return a->conditional < b->conditional ? -1 : 1;
    return strcmp(a->name, b->name);
}

static int compare_likely(const void *left, const void *right)
{
    const struct sp_ranked *a = left, *b = right;
    if (a->likely != b->likely) return a->likely > b->likely ? -1 : 1;
    return compare_ranked(left, right);
}

/* How much of the file is a table of which it has nearly all, rather than a composite that may hold anything. */
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

/* The fewest patterns that a table may have which has every name of the file but those of buffers that loaders compute;
 * 0 when any table will do. */
static size_t fewest_patterns(const struct sp_tables_searched *searched, const struct sp_shapes *shapes)
{
    const size_t patterns = shapes->prefilter->patterns;
    const size_t computed = searched->as_named ? sp_count_computed(shapes->inventory) : patterns;
    return patterns > computed ? patterns - computed : 0;
}

/* The tables that could be some of the file; in `vague`, one behind the other, those of which that cannot be told from
 * afar. */
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
        if (only ? strcmp(sp_tables_entry(tables, list[i]).name, only->name) != 0
                 : sp_prefilter_unit(shapes->prefilter, list[i])->needs_arguments)
            continue; /* what others use is no model by itself */
        struct sp_ranked rough;
        const bool is_told = sp_prefilter_table(shapes->prefilter, list[i], &rough);
        if (rough.likely < fewest) continue;
        rough.name = sp_tables_entry(tables, list[i]).name;
        if (!is_told || only) vague[(*vague_count)++] = rough;
        else if (rough.covered) ranked[count++] = rough;
    }
    return count;
}

/* The best; behind them some of which more is likely than name endings can tell, and some that have little else than
 * the file. Returns how many. */
static size_t choose_likely(struct sp_ranked *ranked, size_t count, size_t most)
{
    static int (*const orders[])(const void *, const void *) = {compare_ranked, compare_likely, compare_closeness};
    size_t chosen = 0;
    for (size_t i = 0; i < sizeof orders / sizeof *orders && chosen < count; i++) {
        qsort(ranked + chosen, count - chosen, sizeof *ranked, orders[i]);
        chosen += i ? most / 4 : most;
    }
    return chosen < count ? chosen : count;
}

static int compare_covered(const void *left, const void *right)
{
    const struct sp_ranked *a = left, *b = right;
    if (a->covered != b->covered) return a->covered > b->covered ? -1 : 1;
    return a->uncovered < b->uncovered ? -1 : a->uncovered > b->uncovered;
}

/* By compare_ranked. Which classes have a head takes long to find, and is asked of those alone that nothing before
 * tells apart, and of what may be a part that is there as a whole. */
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

/* All tables by the endings of their names, then the best of them by whole names. */
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
    for (size_t i = 0; i < likely; i++) {
        struct sp_ranked *next = &ranked[*count];
        *count +=
            rank_table(ranked[i].place, shapes, wanted->most_others, next) && next->covered >= wanted->fewest_covered;
    }
    order_ranked(tables, ranked, *count, shapes->patterns.count);
    free(vague);
    return ranked;
}
