/* SPDX-License-Identifier: MIT */
#include "infer/tables/candidates.h"

#include <stdlib.h>
#include <string.h>

#include "infer/infer.h"
#include "match/search.h"

/* How many tables are laid out to be ranked: of which some are to fit, and of which few are to say what names begin
 * with.
 */
enum { MANY_RANKED = 64, SOME_RANKED = 24, MOST_RANKED = 160, FIRST_FITS = 40 };

/* What is looked at, and with what. */
struct looking {
    struct sp_arena *arena;
    const struct sp_tables_searched *searched;
    const struct sp_infer_view *view;
};

/* ---- under one naming ---- */

static int compare_fits(const void *left, const void *right)
{
    const struct sp_fit *a = left, *b = right;
    if (sp_fit_is_better(*a, *b)) return -1;
    if (sp_fit_is_better(*b, *a)) return 1;
    return strcmp(a->table->name, b->table->name);
}

/* A part of models that is there as a whole, and makes all names of the file as they are. */
static bool is_whole_part(const struct sp_ranked *ranked, const struct sp_candidate_tables *candidates)
{
    return !*candidates->naming.strip && !*candidates->naming.add && !ranked->heads && !ranked->uncovered &&
           ranked->covered == candidates->shapes.patterns.count;
}

/* Whether the table is of a composite, of whose inner models each may be the file: these come last. */
static bool is_far_more(const struct sp_ranked *ranked, const struct sp_candidate_tables *candidates)
{
    return ranked->conditional > 10 * candidates->shapes.patterns.count + 100;
}

/* Of a table that begins all names otherwise nothing is seen. */
static void add_fit(const struct looking *looking, struct sp_candidate_tables *candidates, const struct sp_unit *table)
{
    const struct sp_fit fit = sp_fit_table(looking->searched->tables, table, &candidates->shapes);
    if (fit.seen || looking->searched->only) candidates->fits[candidates->count++] = fit;
}

/* The tables whose names fit best, with the class for which they do. */
static void find_fits(const struct looking *looking, struct sp_candidate_tables *candidates)
{
    size_t count;
    struct sp_ranked *ranked = sp_rank_tables(looking->searched, &candidates->shapes, MANY_RANKED, NULL, &count);
    for (int composites = 0; composites < 2; composites++)
        for (size_t i = 0; i < count && candidates->count < SP_MAX_FITS; i++)
            if (is_far_more(&ranked[i], candidates) == composites &&
                (candidates->count < FIRST_FITS ? ranked[i].covered * 2 >= ranked[0].covered
                 : composites                   ? ranked[i].covered == ranked[0].covered
                                                : is_whole_part(&ranked[i], candidates)))
                add_fit(looking, candidates, ranked[i].table);
    free(ranked);
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
    struct sp_ranked *ranked = sp_rank_tables(&all, &candidates->shapes, MOST_RANKED, &wanted, &count);
    for (size_t i = 0; i < count && found < most; i++) {
        const struct sp_fit fit = sp_fit_table(tables, ranked[i].table, &candidates->shapes);
        const bool sees_all = fit.seen == candidates->shapes.count && !fit.missing;
        if (sees_all && is_fit(candidates, ranked[i].table)) continue; /* among the first ones */
        further[found++] = (struct sp_further){fit, !sees_all};
    }
    free(ranked);
    return found;
}

static void candidates_under(const struct looking *looking, const struct sp_naming *naming, const struct sp_map *known,
                             struct sp_candidate_tables *candidates)
{
    *candidates = (struct sp_candidate_tables){.view = looking->view, .naming = *naming};
    sp_shapes_init(&candidates->shapes, looking->searched->tables, looking->view->inventory, naming, known, 1);
    candidates->shapes.is_flat = looking->view->is_flat;
    find_fits(looking, candidates);
}

void sp_candidate_tables_under(struct sp_candidate_tables *candidates, struct sp_arena *arena,
                               const struct sp_tables_searched *searched, const struct sp_infer_view *view,
                               const struct sp_naming *naming)
{
    struct sp_map known = {0};
    sp_fit_names(arena, searched->tables, searched->only, &known);
    candidates_under(&(struct looking){arena, searched, view}, naming, &known, candidates);
    sp_map_free(&known);
}

void sp_candidate_tables_free(struct sp_candidate_tables *candidates) { sp_shapes_free(&candidates->shapes); }

/* ---- under the best ---- */

/* What has to be done to the names besides, for the tables that their ends point to. */
static struct sp_naming likely_naming(const struct looking *looking, struct sp_naming way, struct sp_map *known)
{
    enum { FEW = 6 };
    const struct sp_unit *likely[FEW];
    struct sp_shapes shapes;
    size_t count;
    sp_shapes_init(&shapes, looking->searched->tables, looking->view->inventory, &way, NULL, 1);
    struct sp_ranked *ranked = sp_rank_tables(looking->searched, &shapes, SOME_RANKED, NULL, &count);
    size_t few = 0;
    const struct sp_unit *meant = !looking->searched->only && way.scheme && way.scheme->table
                                      ? sp_tables_unit(looking->searched->tables, way.scheme->table)
                                      : NULL;
    if (meant) likely[few++] = meant;
    for (size_t i = 0; i < count && few < FEW; i++)
        if (ranked[i].table != meant) likely[few++] = ranked[i].table;
    free(ranked);
    const struct sp_naming naming =
        sp_fit_naming(looking->arena, looking->searched->tables, &shapes, likely, few, way, known);
    sp_shapes_free(&shapes);
    return naming;
}

/* A table sees more of the file, or as much and lacks less. */
static bool are_better_candidates(const struct sp_candidate_tables *candidates, const struct sp_candidate_tables *than)
{
    if (!candidates->count || !than->count) return candidates->count;
    if (candidates->fits[0].seen != than->fits[0].seen) return candidates->fits[0].seen > than->fits[0].seen;
    return candidates->fits[0].missing < than->fits[0].missing;
}

/* The names once more, as that way has them; kept when it is better. */
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
    sp_naming_offer(&strips, view->inventory, false);
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
