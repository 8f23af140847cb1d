/* SPDX-License-Identifier: MIT */
#include "infer/tables/look.h"

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
    const struct sp_guise *guise;
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
static bool is_whole_part(const struct sp_ranked *ranked, const struct sp_look *look)
{
    return !*look->naming.strip && !*look->naming.add && !ranked->heads && !ranked->uncovered &&
           ranked->covered == look->shapes.patterns.count;
}

/* Whether the table is of a composite, of whose inner models each may be the file: these come last. */
static bool is_far_more(const struct sp_ranked *ranked, const struct sp_look *look)
{
    return ranked->conditional > 10 * look->shapes.patterns.count + 100;
}

/* Of a table that begins all names otherwise nothing is seen. */
static void add_fit(const struct looking *looking, struct sp_look *look, const struct sp_unit *table)
{
    const struct sp_fit fit = sp_fit_table(looking->searched->tables, table, &look->shapes);
    if (fit.seen || looking->searched->only) look->fits[look->count++] = fit;
}

/* The tables whose names fit best, with the class for which they do. */
static void find_fits(const struct looking *looking, struct sp_look *look)
{
    size_t count;
    struct sp_ranked *ranked = sp_rank_tables(looking->searched, &look->shapes, MANY_RANKED, NULL, &count);
    for (int composites = 0; composites < 2; composites++)
        for (size_t i = 0; i < count && look->count < SP_MAX_FITS; i++)
            if (is_far_more(&ranked[i], look) == composites &&
                (look->count < FIRST_FITS ? ranked[i].covered * 2 >= ranked[0].covered
                 : composites             ? ranked[i].covered == ranked[0].covered
                                          : is_whole_part(&ranked[i], look)))
                add_fit(looking, look, ranked[i].table);
    free(ranked);
    if (look->count) qsort(look->fits, look->count, sizeof *look->fits, compare_fits);
}

static bool is_fit(const struct sp_look *look, const struct sp_unit *table)
{
    for (size_t i = 0; i < look->count; i++)
        if (look->fits[i].table == table) return true;
    return false;
}

size_t sp_look_further(struct sp_look *look, const struct sp_tables *tables, struct sp_further *further, size_t most)
{
    const struct sp_tables_searched all = {.tables = tables};
    const size_t patterns = look->shapes.patterns.count;
    /* A composite has much beside what the file has. */
    const struct sp_rank_wanted wanted = {.fewest_covered = patterns ? patterns : 1, .most_others = 2 * patterns + 10};
    size_t count, found = 0;
    struct sp_ranked *ranked = sp_rank_tables(&all, &look->shapes, MOST_RANKED, &wanted, &count);
    for (size_t i = 0; i < count && found < most; i++) {
        const struct sp_fit fit = sp_fit_table(tables, ranked[i].table, &look->shapes);
        const bool sees_all = fit.seen == look->shapes.count && !fit.missing;
        if (sees_all && is_fit(look, ranked[i].table)) continue; /* among the first ones */
        further[found++] = (struct sp_further){fit, !sees_all};
    }
    free(ranked);
    return found;
}

static void look_under(const struct looking *looking, const struct sp_naming *naming, const struct sp_map *known,
                       struct sp_look *look)
{
    *look = (struct sp_look){.guise = looking->guise, .naming = *naming};
    sp_shapes_init(&look->shapes, looking->guise->inventory, naming, known, 1);
    look->shapes.is_flat = looking->guise->is_flat;
    find_fits(looking, look);
}

void sp_look_under(struct sp_look *look, struct sp_arena *arena, const struct sp_tables_searched *searched,
                   const struct sp_guise *guise, const struct sp_naming *naming)
{
    struct sp_map known = {0};
    sp_fit_names(arena, searched->tables, searched->only, &known);
    look_under(&(struct looking){arena, searched, guise}, naming, &known, look);
    sp_map_free(&known);
}

void sp_look_free(struct sp_look *look) { sp_shapes_free(&look->shapes); }

/* ---- under the best ---- */

/* What has to be done to the names besides, for the tables that their ends point to. */
static struct sp_naming likely_naming(const struct looking *looking, struct sp_naming way, struct sp_map *known)
{
    enum { FEW = 6 };
    const struct sp_unit *likely[FEW];
    struct sp_shapes shapes;
    size_t count;
    sp_shapes_init(&shapes, looking->guise->inventory, &way, NULL, 1);
    struct sp_ranked *ranked = sp_rank_tables(looking->searched, &shapes, SOME_RANKED, NULL, &count);
    size_t few = 0;
    const struct sp_unit *meant = !looking->searched->only && way.era && way.era->table
                                      ? sp_tables_unit(looking->searched->tables, way.era->table)
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
static bool is_better_look(const struct sp_look *look, const struct sp_look *than)
{
    if (!look->count || !than->count) return look->count;
    if (look->fits[0].seen != than->fits[0].seen) return look->fits[0].seen > than->fits[0].seen;
    return look->fits[0].missing < than->fits[0].missing;
}

/* The names once more, as that way has them; kept when it is better. */
static void look_again(const struct looking *looking, struct sp_naming way, struct sp_look *best)
{
    struct sp_look look;
    struct sp_map known = {0};
    const struct sp_naming naming = likely_naming(looking, way, &known);
    look_under(looking, &naming, &known, &look);
    sp_map_free(&known);
    const bool is_better = is_better_look(&look, best);
    sp_look_free(is_better ? best : &look);
    if (is_better) *best = look;
}

static bool sees_all(const struct sp_look *look)
{
    return look->count && look->fits[0].seen == look->shapes.count && !look->fits[0].missing;
}

bool sp_look_translated(struct sp_look *look, struct sp_arena *arena, const struct sp_tables_searched *searched,
                        const struct sp_guise *guise)
{
    const struct looking looking = {arena, searched, guise};
    struct sp_prefixes strips = {.arena = arena};
    const bool wrapped = sp_has_wrappers(guise->inventory);
    bool any = false;
    *look = (struct sp_look){.count = 0};
    sp_naming_offer(&strips, guise->inventory, false);
    for (size_t e = 0; e < sp_era_count(); e++) {
        const struct sp_naming way = sp_naming_of_era(sp_era(e), &strips, wrapped, guise->inventory);
        if (!way.era) continue;
        any = true;
        look_again(&looking, way, look);
    }
    return any && look->count;
}

bool sp_look_for(struct sp_look *look, struct sp_arena *arena, const struct sp_tables *tables,
                 const struct sp_unit *table, const struct sp_guise *guise)
{
    const struct sp_naming plain = {.strip = "", .add = ""};
    const struct sp_tables_searched own = {.tables = tables, .only = table};
    const struct looking looking = {arena, &own, guise};
    struct sp_map known = {0};
    const struct sp_naming naming = likely_naming(&looking, plain, &known);
    look_under(&looking, &naming, &known, look);
    sp_map_free(&known);
    if (sees_all(look)) return true;
    sp_look_free(look);
    return false;
}

void sp_look_best(struct sp_look *look, struct sp_arena *arena, const struct sp_tables_searched *searched,
                  const struct sp_guise *guise)
{
    const struct sp_naming plain = {.strip = "", .add = ""};
    const struct looking looking = {arena, searched, guise};
    look_under(&looking, &plain, NULL, look);
    if (!sees_all(look)) look_again(&looking, plain, look);
}
