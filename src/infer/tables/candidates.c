/* SPDX-License-Identifier: MIT */
#include "infer/tables/candidates.h"

#include <stdlib.h>
#include <string.h>

#include "infer/classes.h"
#include "infer/infer.h"
#include "infer/limits.h"
#include "infer/occurrences.h"
#include "match/search.h"

/* ---- fits: one class ---- */

/* Whether the file should have the tensors of a line. The conditions are known (those that are not met have no lines);
 * and its loop, if it is in one, has iterations: without a tensor of any line it may have none. */
static bool is_expected(struct sp_outline *outline, const struct sp_line *line, const bool *has_iterations)
{
    if (line->loop && !has_iterations[line->loop->number]) return false;
    return sp_line_is_decided(&outline->solver, line);
}

/* How well a class of a table fits the names of the file. */
static struct sp_fit fit_of(const struct sp_unit *table, const char *class, const struct sp_shapes *shapes)
{
    struct sp_fit fit = {.table = table, .class = class};
    struct sp_outline outline;
    struct sp_occurrences occurrences;
    sp_outline_init(&outline, table, class, &shapes->prefilter->filter);
    sp_occurrences_init(&occurrences, &outline, shapes);
    /* By number of a loop: the file has a tensor of it. */
    bool *has_iterations = sp_arena_array(&outline.solver.arena, outline.loop_count, sizeof *has_iterations);
    for (size_t i = 0; i < outline.count; i++)
        if (occurrences.of[i].count && outline.lines[i].loop) has_iterations[outline.lines[i].loop->number] = true;
    for (size_t i = 0; i < outline.count; i++) {
        const struct sp_line *line = &outline.lines[i];
        if (occurrences.of[i].count || line->optional || line->old_of != SP_NO_LINE) continue;
        if (line->row->has_tie) fit.tied++;
        else if (is_expected(&outline, line, has_iterations)) {
            fit.missing++;
            fit.weights += !line->row->buffer;
        } else fit.absent++;
    }
    fit.seen = occurrences.seen;
    sp_occurrences_free(&occurrences);
    sp_outline_free(&outline);
    return fit;
}

/* Of equals in everything else the one with more tied lines is better, since more models have a head than none. */
static bool fit_is_better(struct sp_fit a, struct sp_fit b)
{
    if (a.seen != b.seen) return a.seen > b.seen;
    if (a.missing != b.missing) return a.missing < b.missing;
    return a.absent != b.absent ? a.absent < b.absent : a.tied > b.tied;
}

/* The table for the class for which it fits best. */
static struct sp_fit fit_table(const struct shapeproof_tables *tables, const struct sp_unit *table,
                               const struct sp_shapes *shapes)
{
    size_t count;
    const char *const *classes = sp_classes_of(tables, table, &count);
    struct sp_fit best = fit_of(table, classes[0], shapes);
    for (size_t i = 1; i < count; i++) {
        const struct sp_fit fit = fit_of(table, classes[i], shapes);
        if (fit_is_better(fit, best)) best = fit;
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

/* What a naming is judged by (most_seen): a file, and tables laid out for each of their classes. */
struct fitting {
    const struct shapeproof_tables *tables;
    const struct shapeproof_inventory *inventory;
    struct sp_outline *outlines;
    size_t count;               /* of the outlines */
    const struct sp_map *known; /* the patterns of their names */
};

static size_t count_seen(struct sp_outline *outline, const struct sp_shapes *shapes)
{
    struct sp_occurrences occurrences;
    sp_occurrences_init(&occurrences, outline, shapes);
    const size_t seen = occurrences.seen;
    sp_occurrences_free(&occurrences);
    return seen;
}

/* The score of a naming: how many of the sampled tensors the table sees that sees the most. 0 for the plain naming. */
static size_t most_seen(const void *context, const struct sp_naming *naming)
{
    const struct fitting *fitting = context;
    struct sp_shapes shapes;
    size_t most = 0;
    if (!*naming->strip && !*naming->add && !naming->drop_wrappers && !naming->scheme) return 0;
    sp_shapes_init(&shapes, fitting->tables, fitting->inventory, naming, fitting->known,
                   shapeproof_inventory_count(fitting->inventory) / SP_SAMPLED_NAMES + 1);
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

/* Offers prefixes of the table's names as candidates to add, and notes the names in `known`. */
static void offer_lines(struct sp_prefixes *adds, const struct sp_outline *outline, struct sp_map *known)
{
    struct sp_prefixes own = {.arena = adds->arena};
    for (size_t i = 0; i < outline->count; i += sp_stride_for(outline->count, SP_PREFIX_NAMES))
        sp_prefixes_offer(&own, outline->lines[i].name);
    note_lines(outline, adds->arena, known);
    sp_prefixes_keep_common(&own);
    sp_prefixes_join(adds, &own);
}

/* Notes the names that the table makes, as patterns. */
static void fit_names(struct sp_arena *arena, const struct shapeproof_tables *tables, const struct sp_unit *table,
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

/* Lays the table out for each of its classes: the prefix of a base model is often there for a class with a head alone,
 * and each head has its own names. */
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

/* Finds the naming under which one of the tables sees the most of the file. It builds on `way`, the plain naming or
 * that of a scheme, under which `shapes` were read. Puts the patterns of all names that the tables make into `known`.
 */
static struct sp_naming fit_naming(struct sp_arena *arena, const struct shapeproof_tables *set,
                                   const struct sp_shapes *shapes, const struct sp_unit *const *tables, size_t count,
                                   struct sp_naming way, struct sp_map *known)
{
    struct fitting fitting = {.tables = set, .inventory = shapes->inventory, .known = known};
    struct sp_naming_search search = {
        .strips = {.arena = arena}, .adds = {.arena = arena}, .score = most_seen, .context = &fitting, .best = way};
    fitting.outlines = sp_realloc(NULL, count_classes(set, tables, count), sizeof *fitting.outlines);
    for (size_t i = 0; i < count; i++) add_layouts(&fitting, set, tables[i], &shapes->prefilter->filter);
    if (!way.scheme) sp_naming_offer(&search.strips, shapes->inventory, SP_NAMES_AS_STORED);
    else if (*way.strip) search.strips.list[search.strips.count++] = way.strip;
    for (size_t i = 0; i < fitting.count; i++) offer_lines(&search.adds, &fitting.outlines[i], known);
    way.drop_wrappers = sp_has_wrappers(shapes->inventory);
    sp_naming_try(&search, way);
    for (size_t i = 0; i < fitting.count; i++) sp_outline_free(&fitting.outlines[i]);
    sp_free(fitting.outlines);
    return search.best;
}

/* ---- candidates ---- */

/* A view, and the tables among which candidates are searched for it. */
struct looking {
    struct sp_arena *arena;
    const struct sp_tables_searched *searched;
    const struct sp_infer_view *view;
};

/* ---- under one naming ---- */

static int compare_fits(const void *left, const void *right)
{
    const struct sp_fit *a = left, *b = right;
    if (fit_is_better(*a, *b)) return -1;
    if (fit_is_better(*b, *a)) return 1;
    return strcmp(a->table->name, b->table->name);
}

/* Whether it is a part of models that makes all names of the file as they are, and no others. */
static bool is_whole_part(const struct sp_ranked *ranked, const struct sp_candidate_tables *candidates)
{
    return !*candidates->naming.strip && !*candidates->naming.add && !ranked->heads && !ranked->uncovered &&
           ranked->covered == candidates->shapes.patterns.count;
}

/* Whether the table has far more names than the file: it is a composite, any of whose inner models the file may be.
 * These come last. */
static bool is_far_more(const struct sp_ranked *ranked, const struct sp_candidate_tables *candidates)
{
    return ranked->conditional > 10 * candidates->shapes.patterns.count + 100;
}

/* Adds the table with its best class, unless it sees nothing: then all of its names have another prefix. */
static void add_fit(const struct looking *looking, struct sp_candidate_tables *candidates, const struct sp_unit *table)
{
    const struct sp_fit fit = fit_table(looking->searched->tables, table, &candidates->shapes);
    if (fit.seen || looking->searched->only) candidates->fits[candidates->count++] = fit;
}

/* Adds the best ranked tables, composites last, and sorts the fits. The first SP_FIRST_FITS cover at least half as many
 * patterns as the best one; behind these come only whole parts, and composites that cover as many as the best one. */
static void find_fits(const struct looking *looking, struct sp_candidate_tables *candidates)
{
    size_t count;
    struct sp_ranked *ranked = sp_rank_tables(looking->searched, &candidates->shapes, SP_MOST_RANKED, NULL, &count);
    for (int composites = 0; composites < 2; composites++)
        for (size_t i = 0; i < count && candidates->count < SP_MOST_FITS; i++)
            if (is_far_more(&ranked[i], candidates) == composites &&
                (candidates->count < SP_FIRST_FITS ? ranked[i].covered * 2 >= ranked[0].covered
                 : composites                      ? ranked[i].covered == ranked[0].covered
                                                   : is_whole_part(&ranked[i], candidates)))
                add_fit(looking, candidates, ranked[i].table);
    sp_free(ranked);
    if (candidates->count) qsort(candidates->fits, candidates->count, sizeof *candidates->fits, compare_fits);
}

static bool is_fit(const struct sp_candidate_tables *candidates, const struct sp_unit *table)
{
    for (size_t i = 0; i < candidates->count; i++)
        if (candidates->fits[i].table == table) return true;
    return false;
}

size_t sp_candidate_tables_further(struct sp_candidate_tables *candidates, const struct shapeproof_tables *tables,
                                   struct sp_further *further, size_t most)
{
    const struct sp_tables_searched all = {.tables = tables};
    const size_t patterns = candidates->shapes.patterns.count;
    /* A composite has much beside what the file has. */
    const struct sp_rank_wanted wanted = {.fewest_covered = patterns ? patterns : 1, .most_others = 2 * patterns + 10};
    size_t count, found = 0;
    struct sp_ranked *ranked = sp_rank_tables(&all, &candidates->shapes, SP_MOST_RANKED_FURTHER, &wanted, &count);
    for (size_t i = 0; i < count && found < most; i++) {
        const struct sp_fit fit = fit_table(tables, ranked[i].table, &candidates->shapes);
        const bool sees_all = fit.seen == candidates->shapes.count && !fit.missing;
        if (sees_all && is_fit(candidates, ranked[i].table)) continue;
        further[found++] = (struct sp_further){.fit = fit, .has_other_prefix = !sees_all};
    }
    sp_free(ranked);
    return found;
}

/* The candidates under a naming; `known` as for sp_shapes_init. */
static void candidates_under(const struct looking *looking, const struct sp_naming *naming, const struct sp_map *known,
                             struct sp_candidate_tables *candidates)
{
    *candidates = (struct sp_candidate_tables){.view = looking->view, .naming = *naming};
    sp_shapes_init(&candidates->shapes, looking->searched->tables, looking->view->inventory, naming, known,
                   SP_EVERY_TENSOR);
    candidates->shapes.is_flat = looking->view->is_flat;
    find_fits(looking, candidates);
}

void sp_candidate_tables_under(struct sp_candidate_tables *candidates, struct sp_arena *arena,
                               const struct sp_tables_searched *searched, const struct sp_infer_view *view,
                               const struct sp_naming *naming)
{
    struct sp_map known = {0};
    fit_names(arena, searched->tables, searched->only, &known);
    candidates_under(&(struct looking){arena, searched, view}, naming, &known, candidates);
    sp_map_free(&known);
}

void sp_candidate_tables_free(struct sp_candidate_tables *candidates) { sp_shapes_free(&candidates->shapes); }

/* ---- under the best ---- */

/* The best naming that builds on `way` (fit_naming), for the tables that are likely by the endings of their names,
 * which no prefix changes: the table that the scheme names if there is one, then the best ranked. Puts the patterns of
 * their names into `known`. */
static struct sp_naming likely_naming(const struct looking *looking, struct sp_naming way, struct sp_map *known)
{
    const struct sp_unit *likely[SP_MOST_TABLES_FOR_NAMING];
    struct sp_shapes shapes;
    size_t count, likely_count = 0;
    sp_shapes_init(&shapes, looking->searched->tables, looking->view->inventory, &way, NULL, SP_EVERY_TENSOR);
    struct sp_ranked *ranked = sp_rank_tables(looking->searched, &shapes, SP_MOST_RANKED_FOR_NAMING, NULL, &count);
    const struct sp_unit *of_scheme = !looking->searched->only && way.scheme && way.scheme->table
                                          ? sp_tables_unit(looking->searched->tables, way.scheme->table)
                                          : NULL;
    if (of_scheme) likely[likely_count++] = of_scheme;
    for (size_t i = 0; i < count && likely_count < SP_MOST_TABLES_FOR_NAMING; i++)
        if (ranked[i].table != of_scheme) likely[likely_count++] = ranked[i].table;
    sp_free(ranked);
    const struct sp_naming naming =
        fit_naming(looking->arena, looking->searched->tables, &shapes, likely, likely_count, way, known);
    sp_shapes_free(&shapes);
    return naming;
}

/* Whether the best candidate sees more of the file than that of the other list, or as much and misses less. */
static bool are_better_candidates(const struct sp_candidate_tables *candidates, const struct sp_candidate_tables *than)
{
    if (!candidates->count || !than->count) return candidates->count;
    if (candidates->fits[0].seen != than->fits[0].seen) return candidates->fits[0].seen > than->fits[0].seen;
    return candidates->fits[0].missing < than->fits[0].missing;
}

/* Replaces the candidates by those under the best naming that builds on `way`, if they are better. */
static void candidates_again(const struct looking *looking, struct sp_naming way, struct sp_candidate_tables *best)
{
    struct sp_candidate_tables candidates;
    struct sp_map known = {0};
    const struct sp_naming naming = likely_naming(looking, way, &known);
    candidates_under(looking, &naming, &known, &candidates);
    sp_map_free(&known);
    const bool is_better = are_better_candidates(&candidates, best);
    sp_candidate_tables_free(is_better ? best : &candidates);
    if (is_better) *best = candidates;
}

static bool sees_all(const struct sp_candidate_tables *candidates)
{
    return candidates->count && candidates->fits[0].seen == candidates->shapes.count && !candidates->fits[0].missing;
}

bool sp_candidate_tables_translated(struct sp_candidate_tables *candidates, struct sp_arena *arena,
                                    const struct sp_tables_searched *searched, const struct sp_infer_view *view)
{
    const struct looking looking = {arena, searched, view};
    struct sp_prefixes strips = {.arena = arena};
    const bool wrapped = sp_has_wrappers(view->inventory);
    bool any = false;
    *candidates = (struct sp_candidate_tables){.count = 0};
    sp_naming_offer(&strips, view->inventory, SP_NAMES_AS_STORED);
    for (size_t e = 0; e < sp_naming_scheme_count(); e++) {
        const struct sp_naming way = sp_naming_of_scheme(sp_naming_scheme(e), &strips, wrapped, view->inventory);
        if (!way.scheme) continue;
        any = true;
        candidates_again(&looking, way, candidates);
    }
    return any && candidates->count;
}

bool sp_candidate_tables_for(struct sp_candidate_tables *candidates, struct sp_arena *arena,
                             const struct shapeproof_tables *tables, const struct sp_unit *table,
                             const struct sp_infer_view *view)
{
    const struct sp_naming plain = {.strip = "", .add = ""};
    const struct sp_tables_searched own = {.tables = tables, .only = table};
    const struct looking looking = {arena, &own, view};
    struct sp_map known = {0};
    const struct sp_naming naming = likely_naming(&looking, plain, &known);
    candidates_under(&looking, &naming, &known, candidates);
    sp_map_free(&known);
    if (sees_all(candidates)) return true;
    sp_candidate_tables_free(candidates);
    return false;
}

void sp_candidate_tables_best(struct sp_candidate_tables *candidates, struct sp_arena *arena,
                              const struct sp_tables_searched *searched, const struct sp_infer_view *view)
{
    const struct sp_naming plain = {.strip = "", .add = ""};
    const struct looking looking = {arena, searched, view};
    candidates_under(&looking, &plain, NULL, candidates);
    if (!sees_all(candidates)) candidates_again(&looking, plain, candidates);
}
