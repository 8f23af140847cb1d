/* SPDX-License-Identifier: MIT */
#include "infer/tables/fit.h"

#include <stdlib.h>
#include <string.h>

#include "infer/classes.h"
#include "match/search.h"

/* ---- one class ---- */

/* Whether the tensors must be there, as far as is known. A loop that none of its tensors shows may have no iterations.
 */
static bool is_expected(struct sp_outline *outline, const struct sp_line *line, const bool *iterations)
{
    if (line->loop && !iterations[line->loop->number]) return false;
    return sp_line_is_decided(&outline->solver, line);
}

static struct sp_fit fit_of(const struct sp_unit *table, const char *class, const struct sp_shapes *shapes)
{
    struct sp_fit fit = {.table = table, .class = class};
    struct sp_outline outline;
    struct sp_occurrences occurrences;
    sp_outline_init(&outline, table, class, &shapes->prefilter->filter);
    sp_occurrences_init(&occurrences, &outline, shapes);
    bool *iterations = sp_arena_array(&outline.solver.arena, outline.loop_count, sizeof *iterations);
    for (size_t i = 0; i < outline.count; i++)
        if (occurrences.of[i].count && outline.lines[i].loop) iterations[outline.lines[i].loop->number] = true;
    for (size_t i = 0; i < outline.count; i++) {
        const struct sp_line *line = &outline.lines[i];
        if (occurrences.of[i].count || line->optional || line->old_of != SIZE_MAX) continue;
        if (line->row->has_tie) fit.tied++;
        else if (is_expected(&outline, line, iterations)) {
            fit.missing++;
            fit.weights += !line->row->buffer;
        } else fit.absent++;
    }
    fit.seen = occurrences.seen;
    sp_occurrences_free(&occurrences);
    sp_outline_free(&outline);
    return fit;
}

bool sp_fit_is_better(struct sp_fit a, struct sp_fit b)
{
    if (a.seen != b.seen) return a.seen > b.seen;
    if (a.missing != b.missing) return a.missing < b.missing;
    return a.absent != b.absent ? a.absent < b.absent : a.tied > b.tied; /* a head is more usual than none */
}

struct sp_fit sp_fit_table(const struct shapeproof_tables *tables, const struct sp_unit *table,
                           const struct sp_shapes *shapes)
{
    size_t count;
    const char *const *classes = sp_classes_of(tables, table, &count);
    struct sp_fit best = fit_of(table, classes[0], shapes);
    for (size_t i = 1; i < count; i++) {
        const struct sp_fit fit = fit_of(table, classes[i], shapes);
        if (sp_fit_is_better(fit, best)) best = fit;
    }
    return best;
}

size_t sp_fit_equal_classes(const struct shapeproof_tables *tables, struct sp_fit fit, const struct sp_shapes *shapes,
                            struct sp_fit *fits, size_t most)
{
    size_t classes, count = 0;
    const char *const *list = sp_classes_of(tables, fit.table, &classes);
    for (size_t i = 0; i < classes && count < most; i++) {
        const struct sp_fit other = fit_of(fit.table, list[i], shapes);
        if (strcmp(list[i], fit.class) != 0 && other.seen >= fit.seen && other.missing <= fit.missing)
            fits[count++] = other;
    }
    return count;
}

/* ---- names with something in front, or without what should be there ---- */

enum { MANY = 2000 };

/* How to look at a file, and for what: tables for each of their classes. */
struct fitting {
    const struct shapeproof_tables *tables;
    const struct shapeproof_inventory *inventory;
    struct sp_outline *outlines;
    size_t count;
    const struct sp_map *known; /* the names of the tables */
};

static size_t count_seen(struct sp_outline *outline, const struct sp_shapes *shapes)
{
    struct sp_occurrences occurrences;
    sp_occurrences_init(&occurrences, outline, shapes);
    const size_t seen = occurrences.seen;
    sp_occurrences_free(&occurrences);
    return seen;
}

/* What a naming is worth: how many tensors the table sees that sees the most of them. */
static size_t most_seen(const void *context, const struct sp_naming *naming)
{
    const struct fitting *fitting = context;
    struct sp_shapes shapes;
    size_t most = 0;
    if (!*naming->strip && !*naming->add && !naming->drop_wrappers && !naming->scheme)
        return 0; /* as they are: no renaming */
    sp_shapes_init(&shapes, fitting->tables, fitting->inventory, naming, fitting->known,
                   shapeproof_inventory_count(fitting->inventory) / MANY + 1);
    for (size_t i = 0; i < fitting->count; i++) {
        const size_t seen = count_seen(&fitting->outlines[i], &shapes);
        if (seen > most) most = seen;
    }
    sp_shapes_free(&shapes);
    return most;
}

static void note_lines(const struct sp_outline *outline, struct sp_arena *arena, struct sp_map *known)
{
    for (size_t i = 0; i < outline->count; i++)
        if (sp_map_get(known, outline->lines[i].name) == SIZE_MAX)
            sp_map_add(known, sp_arena_string(arena, outline->lines[i].name), i);
}

/* What the lines of a table begin with; their names are noted. */
static void offer_lines(struct sp_prefixes *adds, const struct sp_outline *outline, struct sp_map *known)
{
    struct sp_prefixes own = {.arena = adds->arena};
    for (size_t i = 0; i < outline->count; i += sp_stride_for(outline->count, SP_PREFIX_NAMES))
        sp_prefixes_offer(&own, outline->lines[i].name);
    note_lines(outline, adds->arena, known);
    sp_prefixes_keep_common(&own);
    sp_prefixes_join(adds, &own);
}

void sp_fit_names(struct sp_arena *arena, const struct shapeproof_tables *tables, const struct sp_unit *table,
                  struct sp_map *known)
{
    size_t count;
    const char *const *classes = sp_classes_of(tables, table, &count);
    for (size_t i = 0; i < count; i++) {
        struct sp_outline outline;
        sp_outline_init(&outline, table, classes[i], NULL);
        note_lines(&outline, arena, known);
        sp_outline_free(&outline);
    }
}

/* What is in front of the names of a base model is often there for a head alone, and each head has its own names. */
static void add_layouts(struct fitting *fitting, const struct shapeproof_tables *tables, const struct sp_unit *table,
                        const struct sp_use_filter *filter)
{
    size_t count;
    const char *const *classes = sp_classes_of(tables, table, &count);
    for (size_t i = 0; i < count; i++) sp_outline_init(&fitting->outlines[fitting->count++], table, classes[i], filter);
}

static size_t count_classes(const struct shapeproof_tables *set, const struct sp_unit *const *tables, size_t count)
{
    size_t all = 0, own;
    for (size_t i = 0; i < count; i++) {
        sp_classes_of(set, tables[i], &own);
        all += own;
    }
    return all;
}

struct sp_naming sp_fit_naming(struct sp_arena *arena, const struct shapeproof_tables *set,
                               const struct sp_shapes *shapes, const struct sp_unit *const *tables, size_t count,
                               struct sp_naming way, struct sp_map *known)
{
    struct fitting fitting = {.tables = set, .inventory = shapes->inventory, .known = known};
    struct sp_naming_search search = {
        .strips = {.arena = arena}, .adds = {.arena = arena}, .score = most_seen, .context = &fitting, .best = way};
    fitting.outlines = sp_realloc(NULL, count_classes(set, tables, count), sizeof *fitting.outlines);
    for (size_t i = 0; i < count; i++) add_layouts(&fitting, set, tables[i], &shapes->prefilter->filter);
    if (!way.scheme) sp_naming_offer(&search.strips, shapes->inventory, false);
    else if (*way.strip) search.strips.list[search.strips.count++] = way.strip;
    for (size_t i = 0; i < fitting.count; i++) offer_lines(&search.adds, &fitting.outlines[i], known);
    way.drop_wrappers = sp_has_wrappers(shapes->inventory);
    sp_naming_try(&search, way);
    for (size_t i = 0; i < fitting.count; i++) sp_outline_free(&fitting.outlines[i]);
    free(fitting.outlines);
    return search.best;
}
