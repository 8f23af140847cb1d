/* SPDX-License-Identifier: MIT
 * Names alone, without numbers and without what is in front of them, tell most tables apart. */
#include <stdlib.h>
#include <string.h>

#include "infer/infer.h"
#include "names/components.h"

/* A pattern that has an end, and the next one, as an index of the same list. */
struct listed_pattern {
    size_t pattern, next;
};

/* The patterns of the file by their ends: "layers.#.mlp.up_proj.weight", "mlp.up_proj.weight", ... */
/* What an end may begin behind. */
#define ENDS "./:"

struct ends {
    struct sp_map map; /* end -> the first pattern that has it, as an index of `list` */
    struct listed_pattern *list;
    size_t count, capacity;
};

static void add_ends(struct ends *ends, const char *pattern, size_t number)
{
    for (; pattern && *pattern; pattern = sp_behind_component(pattern, ENDS)) {
        const size_t first = sp_map_get(&ends->map, pattern);
        SP_GROW(ends->list, ends->count, ends->capacity);
        ends->list[ends->count].pattern = number;
        ends->list[ends->count].next = first;
        sp_map_set(&ends->map, pattern, ends->count++);
    }
}

/* Marks the patterns that end as the name does; false when there are none. */
static bool cover_pattern(const struct ends *ends, const char *name, bool *covered)
{
    size_t i = sp_map_get(&ends->map, name);
    const bool found = i != SIZE_MAX;
    for (; i != SIZE_MAX; i = ends->list[i].next) covered[ends->list[i].pattern] = true;
    return found;
}

/* What is left of a name without its first component, when that says enough: two components, or, of a name that has
 * lost one already, those around an index. */
static const char *without_front(const char *name, bool again)
{
    const char *rest = sp_behind_component(name, ENDS);
    const char *second = rest ? sp_behind_component(rest, ENDS) : NULL;
    if (!second) return NULL;
    return !again || memchr(second, (unsigned char)SP_INDEX_MARK, strlen(second)) ? rest : NULL;
}

/* Behind a text that depends on the class anything may be in front; otherwise the file may have left out some, such as
 * the components that hold the part of a model. */
static bool cover_line(const struct ends *ends, const struct sp_line *line, bool *covered)
{
    const char *name = line->name;
    for (const char *p = name; *p; p++)
        if (*p == SP_TEXT_MARK) name = p + 1;
    if (cover_pattern(ends, name, covered)) return true;
    name = name == line->name ? without_front(name, false) : NULL;
    if (!name || cover_pattern(ends, name, covered)) return name;
    name = without_front(name, true);
    return name && cover_pattern(ends, name, covered);
}

static struct sp_ranked rank_table(const struct sp_unit *table, const struct ends *ends, size_t patterns)
{
    struct sp_ranked ranked = {.table = table};
    struct sp_outline outline;
    sp_outline_init(&outline, table, "");
    bool *covered = sp_arena_array(&outline.solver.arena, patterns, sizeof *covered);
    for (size_t i = 0; i < outline.count; i++)
        if (!cover_line(ends, &outline.lines[i], covered) && !outline.lines[i].optional) ranked.uncovered++;
    for (size_t i = 0; i < patterns; i++) ranked.covered += covered[i];
    sp_outline_free(&outline);
    return ranked;
}

static int compare_ranked(const void *left, const void *right)
{
    const struct sp_ranked *a = left, *b = right;
    if (a->covered != b->covered) return a->covered > b->covered ? -1 : 1;
    if (a->uncovered != b->uncovered) return a->uncovered < b->uncovered ? -1 : 1;
    return strcmp(a->table->name, b->table->name);
}

static bool needs_arguments(const struct sp_unit *table)
{
    for (size_t i = 0; i < table->param_count; i++)
        if (!table->params[i].fallback) return true;
    return false;
}

struct sp_ranked *sp_rank_tables(const struct sp_tables *tables, const struct sp_unit *only,
                                 const struct sp_shapes *shapes, size_t *count)
{
    size_t listed;
    const size_t *list = sp_tables_list(tables, &listed);
    struct sp_ranked *ranked = sp_realloc(NULL, listed, sizeof *ranked);
    struct ends ends = {.list = NULL};
    *count = 0;
    for (size_t p = 0; p < shapes->patterns.count; p++) add_ends(&ends, sp_pattern_text(&shapes->patterns, p), p);
    for (size_t i = 0; i < listed; i++) {
        if (only && strcmp(sp_tables_entry(tables, list[i]).name, only->name) != 0) continue;
        const struct sp_unit *table = sp_tables_at(tables, list[i]);
        if (!table || needs_arguments(table)) continue;
        ranked[*count] = rank_table(table, &ends, shapes->patterns.count);
        *count += ranked[*count].covered > 0;
    }
    if (*count) qsort(ranked, *count, sizeof *ranked, compare_ranked);
    sp_map_free(&ends.map);
    free(ends.list);
    return ranked;
}
