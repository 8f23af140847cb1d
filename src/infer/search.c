/* SPDX-License-Identifier: MIT */
#include "infer/search.h"

#include <stdlib.h>
#include <string.h>

#include "infer/classes.h"

enum {
    MAX_ATTEMPTS = 24,
    MAX_FURTHER = 64,
    MANY_TENSORS = 20000,
    MAX_TRANSPOSED = 2,
    MAX_REPAIRED = 4,
    MAX_STAGED = 3,
    FEW_COMPARED = 25000,
    SOME_COMPARED = 250000,
    MANY_COMPARED = 1000000,
    MAX_CLASSES = 4,
    MAX_EFFORT = 400000,
    LITTLE_EFFORT = 1000,
    MAX_QUESTIONS = 1000000 /* that a whole search may ask: a second or two; large models need up to 600,000 */
};

/* ---- attempts ---- */

static struct sp_attempt *keep_attempt(struct sp_infer_search *search, struct sp_attempt *attempt)
{
    *SP_PUSH(&search->attempts) = attempt;
    return attempt;
}

static struct sp_attempt *attempt_as(struct sp_infer_search *search, const struct sp_candidate_tables *candidates,
                                     struct sp_fit fit, const char *name)
{
    struct sp_effort own = {search->effort.trials,
                            search->effort.questions / 2}; /* one attempt leaves half to others */
    const size_t questions = search->effort.questions - own.questions;
    struct sp_attempt *attempt = sp_attempt_new(search->searched.tables, fit, candidates, name, &own);
    search->effort = (struct sp_effort){own.trials, questions + own.questions};
    attempt->is_stated = search->stated.table && search->stated.table == fit.table;
    return keep_attempt(search, attempt);
}

static struct sp_attempt *attempt_fit(struct sp_infer_search *search, const struct sp_candidate_tables *candidates,
                                      struct sp_fit fit)
{
    return attempt_as(search, candidates, fit, NULL);
}

/* The classes of a model that name the same tensors give them other shapes. */
static struct sp_attempt *attempt_classes(struct sp_infer_search *search, const struct sp_candidate_tables *candidates,
                                          struct sp_fit fit)
{
    struct sp_fit others[MAX_CLASSES];
    struct sp_attempt *best = attempt_fit(search, candidates, fit);
    if (!best->reshaped) return best;
    const size_t count = sp_fit_equal_classes(search->searched.tables, fit, &candidates->shapes, others, MAX_CLASSES);
    for (size_t i = 0; i < count && !sp_attempt_explains_all(best); i++) {
        struct sp_attempt *other = attempt_fit(search, candidates, others[i]);
        if (sp_attempt_is_better(other, best)) best = other;
    }
    return best;
}

/* When one table explains everything, those that see less, or lack more that should be there, are no equals; and after
 * some others none is that could have much more than the `leanest`. */
static bool is_worse_fit(struct sp_fit fit, struct sp_fit best, struct sp_fit leanest, size_t equals)
{
    enum { SOME = 14, LITTLE = 4 };
    return fit.seen < best.seen || fit.missing > best.missing ||
           (equals >= SOME && fit.absent > leanest.absent + LITTLE);
}

/* What is joined, or begins otherwise, is explained without being seen; but hardly half of what another table sees. */
static bool sees_too_little(struct sp_fit fit, const struct sp_attempt *best)
{
    return best && best->prediction && fit.seen * 2 < best->fit.seen;
}

static bool is_settled(const struct sp_attempt *best)
{
    return best && sp_attempt_explains_all(best) && best->table->model_type_count && !best->is_part;
}

/* A table that names the same tensors but no equal may be the one whose matrices were stored the other way round. */
static bool may_fit_transposed(struct sp_fit fit, struct sp_fit best)
{
    return fit.seen == best.seen && !fit.missing && !fit.tied == !best.tied;
}

/* One such, with little effort: it only counts when it explains everything. */
static void attempt_another(struct sp_infer_search *search, const struct sp_candidate_tables *candidates,
                            struct sp_fit fit)
{
    const size_t left = search->effort.trials;
    search->effort.trials = LITTLE_EFFORT;
    attempt_fit(search, candidates, fit)->is_second_choice = true;
    search->effort.trials = left;
}

/* Under other names the table sees no more of the same tensors than it did. */
static bool is_attempted(const struct sp_infer_search *search, const struct sp_candidate_tables *candidates,
                         struct sp_fit fit)
{
    for (size_t i = 0; i < search->attempts.count; i++) {
        const struct sp_attempt *attempt = search->attempts.items[i];
        if (attempt->view == candidates->view && attempt->table == fit.table &&
            strcmp(attempt->class, fit.class) == 0 && attempt->fit.seen >= fit.seen &&
            attempt->fit.missing <= fit.missing)
            return true;
    }
    return false;
}

/* Each attempt goes through all tensors of the file, and asks about most of them. */
static bool is_spent(const struct sp_infer_search *search)
{
    if (search->effort.questions / 2 < shapeproof_inventory_count(search->file)) return true;
    if (!search->budget || search->attempts.count * shapeproof_inventory_count(search->file) <= search->budget->most)
        return false;
    search->budget->spent = true;
    return true;
}

/* The table has every name of the file but those of buffers that loaders compute. */
static bool sees_all_weights(const struct sp_candidate_tables *candidates, struct sp_fit fit)
{
    return fit.seen == candidates->shapes.count ||
           fit.seen + sp_count_computed(candidates->view->inventory) >= candidates->shapes.count;
}

/* Only a whole explanation is asked for within a budget, and none is a table that has every name of the file and lacks
 * weights: nothing is left of which these could be parts. */
static bool cannot_be_whole(const struct sp_infer_search *search, const struct sp_candidate_tables *candidates,
                            struct sp_fit fit)
{
    if (!search->budget) return false;
    if (search->budget->as_named) return fit.weights || !sees_all_weights(candidates, fit);
    return fit.weights && fit.seen == candidates->shapes.count;
}

/* The best of those for one way to look at the file; NULL when no table fits. */
static struct sp_attempt *attempt_all(struct sp_infer_search *search, const struct sp_candidate_tables *candidates)
{
    struct sp_attempt *best = NULL;
    size_t i = 0, equals = 0;
    for (; i < candidates->count && i < MAX_ATTEMPTS; i++) {
        if ((is_settled(best) && is_worse_fit(candidates->fits[i], best->fit, candidates->fits[0], equals)) ||
            is_spent(search))
            break;
        equals += is_settled(best);
        if (sees_too_little(candidates->fits[i], best)) break;
        if (cannot_be_whole(search, candidates, candidates->fits[i]) ||
            is_attempted(search, candidates, candidates->fits[i]))
            continue;
        struct sp_attempt *attempt = attempt_classes(search, candidates, candidates->fits[i]);
        if (!best || sp_attempt_is_better(attempt, best)) best = attempt;
    }
    if (i < candidates->count && is_settled(best) && may_fit_transposed(candidates->fits[i], candidates->fits[0]))
        attempt_another(search, candidates, candidates->fits[i]);
    return best;
}

/* ---- once more ---- */

/* Components whose names begin otherwise were found when names were compared with a prediction: with that knowledge
 * more of them can be asked. */
static struct sp_attempt *attempt_fronts(struct sp_infer_search *search, struct sp_attempt *best)
{
    struct sp_candidate_tables candidates;
    struct sp_attempt *again = best;
    if (!best->prediction || !best->naming.front_count || sp_attempt_explains_all(best)) return best;
    const struct sp_tables_searched own = {.tables = search->searched.tables, .only = best->table};
    sp_candidate_tables_under(&candidates, search->arena, &own, best->view, &best->naming);
    if (candidates.count) again = attempt_classes(search, &candidates, candidates.fits[0]);
    sp_candidate_tables_free(&candidates);
    return sp_attempt_is_better(again, best) ? again : best;
}

static struct sp_infer_view *keep_view(struct sp_infer_search *search, struct sp_infer_view view);

/* What is fused in the file says more in parts: whether the parts have biases. */
static struct sp_attempt *attempt_split(struct sp_infer_search *search, struct sp_attempt *best)
{
    struct sp_infer_view view;
    struct sp_candidate_tables candidates;
    struct sp_attempt *again = best;
    const struct sp_tables_searched own = {.tables = search->searched.tables, .only = best->table};
    if (!best->prediction || !best->joints || !best->unexplained || !sp_infer_view_split(&view, best)) return best;
    sp_candidate_tables_under(&candidates, search->arena, &own, keep_view(search, view), &best->naming);
    if (candidates.count) again = attempt_classes(search, &candidates, candidates.fits[0]);
    sp_candidate_tables_free(&candidates);
    return sp_attempt_is_better(again, best) ? again : best;
}

static struct sp_infer_view *keep_view(struct sp_infer_search *search, struct sp_infer_view view)
{
    struct sp_infer_view *kept = sp_arena_alloc(search->arena, sizeof *kept);
    *kept = view;
    *SP_PUSH(&search->views) = kept;
    return kept;
}

/* The best of the attempts from `from` on of which that is true, behind those that were `tried`; or NULL. */
static struct sp_attempt *next_best(const struct sp_infer_search *search, size_t from,
                                    bool (*is_one)(const struct sp_attempt *attempt), struct sp_attempt *const *tried,
                                    size_t count)
{
    struct sp_attempt *best = NULL;
    for (size_t i = from; i < search->attempts.count; i++) {
        struct sp_attempt *attempt = search->attempts.items[i];
        bool is_tried = !is_one(attempt);
        for (size_t k = 0; k < count; k++) is_tried = is_tried || tried[k] == attempt;
        if (!is_tried && (!best || sp_attempt_is_better(attempt, best))) best = attempt;
    }
    return best;
}

/* Nothing is wrong but the shapes of matrices. */
static bool may_be_transposed(const struct sp_attempt *attempt)
{
    return attempt->prediction && !attempt->is_further && attempt->reshaped &&
           attempt->unexplained == attempt->reshaped && !attempt->missing && !attempt->view->transposed;
}

/* The same with these matrices the other way round; NULL unless that explains everything. */
static struct sp_attempt *attempt_transposed(struct sp_infer_search *search, const struct sp_attempt *attempt)
{
    const size_t count = shapeproof_inventory_count(attempt->view->inventory);
    const struct sp_tables_searched own = {.tables = search->searched.tables, .only = attempt->table};
    bool *transposed = sp_arena_array(search->arena, count, sizeof *transposed);
    struct sp_infer_view view;
    struct sp_candidate_tables candidates;
    for (size_t i = 0; i < count; i++) transposed[i] = sp_match_tensor(&attempt->match, i) == SP_SHAPE;
    if (!sp_infer_view_transposed(&view, attempt->view, transposed)) return NULL;
    sp_candidate_tables_under(&candidates, search->arena, &own, keep_view(search, view), &attempt->naming);
    struct sp_attempt *again = candidates.count ? attempt_fit(search, &candidates, candidates.fits[0]) : NULL;
    sp_candidate_tables_free(&candidates);
    return again && sp_attempt_explains_all(again) ? again : NULL;
}

/* What explains the file as it is comes first; the other is worth a word when it takes less to explain as much. */
static void weigh_transposed(struct sp_infer_search *search)
{
    if (!search->best || sp_attempt_is_better(search->transposed, search->best)) {
        search->best = search->transposed;
        search->transposed = NULL;
    } else if (sp_attempt_switches(search->transposed) >= sp_attempt_switches(search->best)) search->transposed = NULL;
}

/* What other programs keep the other way round: linear layers for the convolutions of GPT-2. */
static void search_transposed(struct sp_infer_search *search, size_t from)
{
    struct sp_attempt *tried[MAX_TRANSPOSED];
    for (size_t i = 0; i < MAX_TRANSPOSED && !search->transposed; i++) {
        tried[i] = next_best(search, from, may_be_transposed, tried, i);
        if (!tried[i]) return;
        search->transposed = attempt_transposed(search, tried[i]);
    }
    if (search->transposed) weigh_transposed(search);
}

/* ---- the whole ---- */

/* As that table sees it, for the sake of the list of those that say the same. */
static struct sp_attempt *attempt_further(struct sp_infer_search *search, const struct sp_candidate_tables *candidates,
                                          const struct sp_further *further)
{
    struct sp_candidate_tables other;
    struct sp_attempt *attempt = NULL;
    const struct shapeproof_tables *tables = search->searched.tables;
    if (!further->otherwise) attempt = attempt_fit(search, candidates, further->fit);
    else if (sp_candidate_tables_for(&other, search->arena, tables, further->fit.table, candidates->view)) {
        attempt = attempt_fit(search, &other, other.fits[0]);
        sp_candidate_tables_free(&other);
    }
    if (attempt) attempt->is_further = true;
    return attempt;
}

/* Nothing is left over, and of the names nothing was taken away: they are those of a whole without what is in front. */
static bool is_whole_of(const struct sp_attempt *attempt)
{
    return sp_attempt_explains_all(attempt) && !*attempt->naming.strip;
}

/* What a table explains as its names are, others may explain as well that were not among the likeliest; and of a part
 * of models those whose names begin otherwise, as they do in a whole: the best of these comes before the part when it
 * is there as a whole. */
static struct sp_attempt *attempt_all_further(struct sp_infer_search *search, struct sp_candidate_tables *candidates,
                                              struct sp_attempt *best)
{
    const bool is_part = best->is_part;
    struct sp_further further[MAX_FURTHER];
    const size_t tensors = shapeproof_inventory_count(search->file), left = search->effort.trials;
    const size_t count = sp_candidate_tables_further(candidates, search->searched.tables, further, MAX_FURTHER);
    for (size_t i = 0; i < count && i * tensors < MANY_TENSORS; i++) {
        search->effort.trials = LITTLE_EFFORT;
        if (!is_part && further[i].otherwise) continue;
        struct sp_attempt *attempt = attempt_further(search, candidates, &further[i]);
        if (is_part && attempt && is_whole_of(attempt) && sp_attempt_is_better(attempt, best)) best = attempt;
    }
    search->effort.trials = left;
    return best;
}

/* Tensors are where the table has them; only not all, or not all of those that it has. Or all names are, as far as
 * these tell. */
static bool may_be_repaired(const struct sp_attempt *attempt)
{
    const size_t there = attempt->explained + attempt->reshaped;
    if (attempt->joints || attempt->is_further || attempt->is_second_choice || sp_attempt_explains_all(attempt))
        return false;
    if (sp_attempt_sees_all_names(attempt)) return true;
    return attempt->prediction && there > attempt->unexplained - attempt->reshaped && attempt->missing < there;
}

/* Where nothing explains the file those that come near are repaired. After one that then does, others may take as much.
 */
static void repair_nearest(struct sp_infer_search *search, size_t left)
{
    struct sp_attempt *tried[MAX_REPAIRED];
    if (!search->best || sp_attempt_explains_all(search->best) || search->budget) return;
    for (size_t i = 0; i < MAX_REPAIRED && (tried[i] = next_best(search, 0, may_be_repaired, tried, i)) != NULL; i++) {
        const size_t before = left;
        sp_attempt_repair(tried[i], &left);
        if (sp_attempt_explains_all(tried[i]) && before - left < left) left = before - left;
        if (sp_attempt_is_better(tried[i], search->best)) search->best = tried[i];
    }
}

static bool may_be_staged(const struct sp_attempt *attempt)
{
    return attempt->has_stages && !attempt->is_further && !attempt->is_second_choice &&
           !sp_attempt_explains_all(attempt);
}

static struct sp_attempt *attempt_staged(struct sp_infer_search *search, const struct sp_attempt *attempt)
{
    const struct sp_tables_searched own = {.tables = search->searched.tables, .only = attempt->table};
    struct sp_attempt *again = NULL;
    struct sp_candidate_tables candidates;
    if (attempt->prediction)
        sp_candidate_tables_under(&candidates, search->arena, &own, attempt->view, &attempt->naming);
    else sp_candidate_tables_best(&candidates, search->arena, &own, attempt->view);
    search->effort.trials = MAX_EFFORT;
    if (candidates.count)
        again =
            keep_attempt(search, sp_attempt_by_stages(own.tables, candidates.fits[0], &candidates, &search->effort));
    sp_candidate_tables_free(&candidates);
    return again;
}

/* Where nothing explains the file, those that come near and have modules of which only shapes tell the stages once
 * more, by these. */
static void search_stages(struct sp_infer_search *search)
{
    struct sp_attempt *tried[MAX_STAGED];
    if (!search->best || search->budget) return;
    for (size_t i = 0; i < MAX_STAGED && !sp_attempt_explains_all(search->best); i++) {
        tried[i] = next_best(search, 0, may_be_staged, tried, i);
        if (!tried[i]) return;
        struct sp_attempt *again = attempt_staged(search, tried[i]);
        if (again && sp_attempt_is_better(again, search->best)) search->best = again;
    }
}

/* Whether one of the tables builds on the other. */
static bool are_relatives(const struct sp_unit *a, const struct sp_unit *b)
{
    const struct sp_unit *up = a, *other = b;
    while (up && up != b) up = up->parent;
    while (other && other != a) other = other->parent;
    return up || other;
}

/* What a table explains one that builds on it, or on which it builds, may explain as well, with values that only trying
 * tells: then nothing tells the two apart. */
static void repair_relatives(struct sp_infer_search *search)
{
    size_t left = FEW_COMPARED;
    if (!search->best || !sp_attempt_explains_all(search->best) || search->budget) return;
    for (size_t i = 0; i < search->attempts.count; i++) {
        struct sp_attempt *attempt = search->attempts.items[i];
        if (!sp_attempt_sees_all_names(attempt) || !may_be_repaired(attempt) ||
            !are_relatives(attempt->table, search->best->table))
            continue;
        sp_attempt_repair(attempt, &left);
        if (sp_attempt_is_better(attempt, search->best)) search->best = attempt;
    }
}

/* Of the attempts from `from` on each once more, under the name of a model that comes nearest. */
static struct sp_attempt *attempt_named(struct sp_infer_search *search, const struct sp_candidate_tables *candidates,
                                        struct sp_attempt *best, size_t from)
{
    const size_t count = search->attempts.count;
    size_t left = MANY_COMPARED;
    for (size_t i = from; i < count; i++) {
        struct sp_attempt *plain = search->attempts.items[i];
        if (sp_attempt_explains_all(best) && !sp_attempt_explains_all(plain)) continue;
        const char *name = sp_nearest_name(plain, &candidates->naming, &left);
        if (!name) continue;
        struct sp_attempt *named = attempt_as(search, candidates, plain->fit, name);
        if (sp_attempt_is_better(named, best)) best = named;
    }
    return best;
}

/* The classes of a table that chooses another one by its name. */
static struct sp_attempt *attempt_wrapper(struct sp_infer_search *search, const struct sp_attempt *inner,
                                          const struct sp_unit *wrapper)
{
    size_t count;
    const char *const *classes = sp_classes_of(search->searched.tables, wrapper, &count);
    for (size_t i = 0; i < count; i++) {
        struct sp_attempt *attempt = keep_attempt(search, sp_attempt_wrapped(inner, wrapper, classes[i]));
        if (sp_attempt_explains_all(attempt) && !*attempt->naming.strip && !*attempt->naming.add) return attempt;
        attempt->is_second_choice = true;
    }
    return NULL;
}

/* A model with a name, from whose names something had to be taken away, may be within a wrapper. */
static struct sp_attempt *attempt_wrappers(struct sp_infer_search *search, struct sp_attempt *best)
{
    size_t count;
    const size_t *list = sp_tables_list(search->searched.tables, &count);
    if (!sp_attempt_explains_all(best) || !sp_stands_for_settings(best->table) || !*best->naming.strip ||
        search->searched.only)
        return best;
    for (size_t i = 0; i < count; i++) {
        if (list[i] < sp_builtin_index_count && !sp_builtin_index_units[list[i]].chooses) continue;
        const struct sp_unit *table = sp_tables_at(search->searched.tables, list[i]);
        if (!table || !sp_unit_chooses(table)) continue;
        struct sp_attempt *wrapped = attempt_wrapper(search, best, table);
        if (wrapped) return wrapped;
    }
    return best;
}

/* What is left over may be fused tensors of what is missing, and the only ones that show a size. */
static bool may_be_fused(const struct sp_attempt *attempt)
{
    return attempt->prediction && !attempt->joints && attempt->missing && attempt->unexplained && !attempt->reshaped &&
           attempt->explained > attempt->unexplained && !attempt->is_further && !attempt->is_second_choice;
}

/* Where nothing explains the file, those from `from` on whose sizes fused tensors may tell. */
static struct sp_attempt *size_fused(struct sp_infer_search *search, struct sp_attempt *best, size_t from)
{
    size_t left = SOME_COMPARED;
    for (size_t i = from; i < search->attempts.count && !sp_attempt_explains_all(best); i++) {
        struct sp_attempt *attempt = search->attempts.items[i];
        if (!may_be_fused(attempt)) continue;
        sp_attempt_size_fused(attempt, &left);
        if (sp_attempt_is_better(attempt, best)) best = attempt;
    }
    return best;
}

static bool is_plain_naming(const struct sp_naming *naming)
{
    return !naming->scheme && !*naming->strip && !*naming->add && !naming->drop_wrappers;
}

static void search_candidates(struct sp_infer_search *search, struct sp_candidate_tables *candidates)
{
    const size_t from = search->attempts.count;
    struct sp_attempt *best = attempt_all(search, candidates);
    if (best && sp_attempt_explains_all(best) && !search->budget && !search->searched.only &&
        !candidates->view->transposed && is_plain_naming(&candidates->naming))
        best = attempt_all_further(search, candidates, best);
    if (best && !search->budget) best = attempt_wrappers(search, attempt_named(search, candidates, best, from));
    if (best) best = attempt_fronts(search, best);
    if (best) best = attempt_split(search, best);
    if (best && !search->budget) best = size_fused(search, best, from);
    if (best && (!search->best || sp_attempt_is_better(best, search->best))) search->best = best;
}

/* What takes no joining; a simpler explanation may still be found of what does. */
static bool is_search_done(const struct sp_infer_search *search)
{
    return search->best && sp_attempt_explains_all(search->best) && !search->best->joints && !search->best->is_part;
}

/* As its names are, and, unless that is enough, as those of another program. */
static void search_view(struct sp_infer_search *search, struct sp_infer_view view)
{
    struct sp_candidate_tables candidates;
    const size_t from = search->attempts.count;
    const struct sp_infer_view *kept = keep_view(search, view);
    sp_candidate_tables_best(&candidates, search->arena, &search->searched, kept);
    search_candidates(search, &candidates);
    sp_candidate_tables_free(&candidates);
    repair_nearest(search, SOME_COMPARED); /* other names, and the same values, are farther */
    repair_relatives(search);
    if (!is_search_done(search) &&
        sp_candidate_tables_translated(&candidates, search->arena, &search->searched, kept)) {
        search_candidates(search, &candidates);
        sp_candidate_tables_free(&candidates);
    }
    search_transposed(search, from);
}

/* As it was before it was quantised; where several numbers of bits and groups would do, each, until one explains it
 * all.
 */
static void search_unpacked(struct sp_infer_search *search)
{
    enum { FEW = 3 };
    struct sp_unpacked *unpacked = sp_arena_array(search->arena, FEW, sizeof *unpacked);
    const size_t count = sp_unpack(search->arena, search->searched.tables, search->file, unpacked, FEW);
    struct sp_infer_view view;
    for (size_t i = 0; i < count && !is_search_done(search); i++)
        if (sp_infer_view_unpacked(&view, search->file, &unpacked[i])) search_view(search, view);
}

/* The table that the metadata name, with the hyper-parameters that they give. Returns whether it explains all. */
static bool search_stated(struct sp_infer_search *search)
{
    struct sp_infer_view view;
    struct sp_candidate_tables candidates;
    if (search->budget || !sp_stated_find(&search->stated, search)) return false;
    const struct sp_tables_searched own = {.tables = search->searched.tables, .only = search->stated.table};
    sp_infer_view_plain(&view, search->file);
    sp_candidate_tables_best(&candidates, search->arena, &own, keep_view(search, view));
    if (candidates.count) {
        search->best = keep_attempt(search, sp_attempt_as_stated(own.tables, candidates.fits[0], &candidates,
                                                                 &search->stated, &search->effort));
        search->best->is_stated = true;
    }
    sp_candidate_tables_free(&candidates);
    return is_search_done(search);
}

void sp_infer_search_file(struct sp_infer_search *search)
{
    struct sp_infer_view view;
    search->effort = (struct sp_effort){MAX_EFFORT, MAX_QUESTIONS};
    if (search_stated(search)) return;
    search_unpacked(search);
    if (is_search_done(search)) return;
    if (sp_infer_view_respelt(&view, search->file)) search_view(search, view);
    if (is_search_done(search)) return;
    sp_infer_view_plain(&view, search->file);
    search_view(search, view);
    search_stages(search);
    repair_nearest(search, MANY_COMPARED);
}
