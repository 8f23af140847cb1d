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
    const struct sp_survey *survey;
    bool *covered;
    size_t count;
};

static bool cover_name(const struct covering *covering, const char *name)
{
    return sp_ends_cover(&covering->survey->ends, name, covering->covered, covering->count);
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

static struct sp_ranked rank_table(const struct sp_tables *tables, const struct sp_unit *table,
                                   const struct sp_shapes *shapes)
{
    struct sp_ranked ranked = {.table = table};
    struct sp_outline outline;
    sp_outline_init(&outline, table, "", &shapes->survey->filter);
    const struct covering covering = {shapes->survey,
                                      sp_arena_array(&outline.solver.arena, shapes->patterns.count, sizeof(bool)),
                                      shapes->patterns.count};
    for (size_t i = 0; i < outline.count; i++) {
        const struct sp_line *line = &outline.lines[i];
        if (cover_line(&covering, line) || line->optional) continue;
        ranked.uncovered += !line->condition;
        ranked.conditional += line->condition != NULL;
    }
    ranked.depth = sp_unit_depth(table);
    ranked.heads = table->model_type_count ? sp_count_heads(tables, table) : 1;
    for (size_t i = 0; i < covering.count; i++) ranked.covered += covering.covered[i];
    sp_outline_free(&outline);
    return ranked;
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
    return strcmp(a->table->name, b->table->name);
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

static bool is_ranked(const struct sp_tables *tables, size_t place, const struct sp_unit *only)
{
    return !only || strcmp(sp_tables_entry(tables, place).name, only->name) == 0;
}

size_t sp_count_computed(const struct sp_inventory *inventory)
{
    size_t computed = 0;
    for (size_t i = 0; i < sp_inventory_count(inventory); i++) {
        const struct sp_tensor *tensor = sp_inventory_tensor(inventory, i);
        computed += sp_is_computed(tensor->name, tensor->shape, tensor->rank, tensor->dtype);
    }
    return computed;
}

/* The fewest patterns that a table may have which has every name of the file but those of buffers that loaders compute;
 * 0 when any table will do. */
static size_t fewest_patterns(const struct sp_tables_searched *searched, const struct sp_shapes *shapes)
{
    const size_t patterns = shapes->survey->patterns;
    const size_t computed = searched->as_named ? sp_count_computed(shapes->inventory) : patterns;
    return patterns > computed ? patterns - computed : 0;
}

/* The tables that could be some of the file; in `vague`, one behind the other, those of which that cannot be told from
 * afar. */
static size_t survey_tables(const struct sp_tables_searched *searched, const struct sp_shapes *shapes,
                            struct sp_ranked *ranked, struct sp_ranked *vague, size_t *vague_count)
{
    const struct sp_tables *tables = searched->tables;
    const struct sp_unit *only = searched->only;
    const size_t fewest = fewest_patterns(searched, shapes);
    size_t listed, count = 0;
    const size_t *list = sp_tables_list(tables, &listed);
    *vague_count = 0;
    for (size_t i = 0; i < listed; i++) {
        const struct sp_unit *table = is_ranked(tables, list[i], only) ? sp_tables_at(tables, list[i]) : NULL;
        if (!table || (!only && sp_unit_needs_arguments(table))) continue; /* what others use, and no model by itself */
        struct sp_ranked rough;
        const bool is_told = sp_survey_table(shapes->survey, table, &rough);
        if (rough.likely < fewest) continue;
        if (!is_told || only) vague[(*vague_count)++] = rough;
        else if (rough.covered) ranked[count++] = rough;
    }
    return count;
}

/* The best; behind them some of which more is likely than can be told from afar, and some that have little else than
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

/* All tables from afar, then the best of them exactly. */
struct sp_ranked *sp_rank_tables(const struct sp_tables_searched *searched, const struct sp_shapes *shapes, size_t most,
                                 size_t *count)
{
    const struct sp_tables *tables = searched->tables;
    size_t listed, vague_count;
    sp_tables_list(tables, &listed);
    struct sp_ranked *ranked = sp_realloc(NULL, listed, sizeof *ranked);
    struct sp_ranked *vague = sp_realloc(NULL, listed, sizeof *vague);
    size_t likely = survey_tables(searched, shapes, ranked, vague, &vague_count);
    likely = choose_likely(ranked, likely, most);
    for (size_t i = 0; i < vague_count; i++) ranked[likely++] = vague[i];
    *count = 0;
    for (size_t i = 0; i < likely; i++) {
        ranked[*count] = rank_table(tables, ranked[i].table, shapes);
        *count += ranked[*count].covered > 0;
    }
    if (*count) qsort(ranked, *count, sizeof *ranked, compare_ranked);
    free(vague);
    return ranked;
}
