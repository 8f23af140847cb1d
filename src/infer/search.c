/* SPDX-License-Identifier: MIT
 * A best-first search over attempts. Three lists of steps say all that is tried, in order: `file_steps` the views of a
 * file, `view_steps` the names in a view, `candidate_steps` what is done with the tables that have these names. Each
 * step may make attempts; the best one by sp_attempt_compare is the result. */
#include "infer/search.h"

#include <stdlib.h>
#include <string.h>

#include "infer/classes.h"
#include "infer/limits.h"

/* What a step works on. */
struct scope {
    enum sp_step_level level;
    const struct sp_infer_view *view;       /* NULL at the level of the file */
    struct sp_candidate_tables *candidates; /* NULL but at the level of candidates */
    size_t from;                            /* search->attempts from this one on were made within the scope */
    struct sp_attempt *best;                /* of the attempts that were made with the candidates; or NULL */
};

/* One way to come to better attempts. */
struct step {
    const char *what; /* for the trace; NULL ends a list */
    void (*take)(struct sp_infer_search *search, struct scope *scope);
    bool (*applies)(const struct sp_infer_search *search, const struct scope *scope); /* NULL: always */
    enum {
        NOT_IN_BUDGET, /* it is left out when the search has a budget */
        IN_BUDGET      /* it is always taken */
    } budget;
};

/* Takes the steps that apply, in order. */
static void take_steps(struct sp_infer_search *search, const struct step *steps, struct scope *scope)
{
    for (; steps->what && !search->is_cancelled; steps++) {
        if ((search->budget && steps->budget != IN_BUDGET) || (steps->applies && !steps->applies(search, scope)))
            continue;
        sp_trace_step(search, scope->level, steps->what);
        steps->take(search, scope);
    }
}

/* Whether an attempt explains everything, is of a whole model, and joins no fused tensors: for one that does a simpler
 * explanation may still be found. */
static bool is_search_done(const struct sp_infer_search *search)
{
    return search->best && sp_attempt_explains_all(search->best) && !search->best->joints && !search->best->is_part;
}

/* Makes the attempt (NULL: none) the best one of the search if it is better. */
static void offer(struct sp_infer_search *search, struct sp_attempt *attempt)
{
    if (attempt && (!search->best || sp_attempt_is_better(attempt, search->best))) search->best = attempt;
}

/* ---- attempts ---- */

/* Adds an attempt to the search, which owns it from then on, and returns it. */
static struct sp_attempt *keep_attempt(struct sp_infer_search *search, struct sp_attempt *attempt)
{
    *SP_PUSH(&search->attempts) = attempt;
    sp_trace_attempt(search, attempt);
    search->is_cancelled |= !sp_goes_on(search->watch, "attempts", search->attempts.count, 0);
    if (search->is_cancelled) search->effort = (struct sp_effort){0};
    return attempt;
}

/* Makes an attempt; `name` is that of the model, or NULL. It may spend half of the effort that is left. */
static struct sp_attempt *attempt_as(struct sp_infer_search *search, const struct sp_candidate_tables *candidates,
                                     struct sp_fit fit, const char *name)
{
    const size_t half = search->effort.checks / 2;
    search->effort.checks -= half;
    struct sp_effort own = {search->watch, search->effort.trials, half};
    struct sp_attempt *attempt = sp_attempt_new(search->searched.tables, fit, candidates, name, &own);
    search->effort.trials = own.trials;
    search->effort.checks += own.checks;
    attempt->is_stated = search->stated.table && search->stated.table == fit.table;
    return keep_attempt(search, attempt);
}

static struct sp_attempt *attempt_fit(struct sp_infer_search *search, const struct sp_candidate_tables *candidates,
                                      struct sp_fit fit)
{
    return attempt_as(search, candidates, fit, NULL);
}

/* The best attempt of a table; if shapes are wrong, other classes are tried that have the same names. */
static struct sp_attempt *attempt_classes(struct sp_infer_search *search, const struct sp_candidate_tables *candidates,
                                          struct sp_fit fit)
{
    struct sp_fit others[SP_MOST_CLASSES];
    struct sp_attempt *best = attempt_fit(search, candidates, fit);
    if (!best->reshaped) return best;
    const size_t count =
        sp_fit_equal_classes(search->searched.tables, fit, &candidates->shapes, others, SP_MOST_CLASSES);
    for (size_t i = 0; i < count && !sp_attempt_explains_all(best); i++) {
        struct sp_attempt *other = attempt_fit(search, candidates, others[i]);
        if (sp_attempt_is_better(other, best)) best = other;
    }
    return best;
}

/* Whether a fit cannot be an equal of one that explains everything: it has fewer of the names, or lacks more that
 * should be there. Once there are enough equals, the same is said of one with many more absent names than the
 * `leanest`. */
static bool is_worse_fit(struct sp_fit fit, struct sp_fit best, struct sp_fit leanest, size_t equals)
{
    return fit.seen < best.seen || fit.missing > best.missing ||
           (equals >= SP_ENOUGH_EQUALS && fit.absent > leanest.absent + SP_FEW_ABSENT);
}

/* Whether a fit has less than half of the names that the best attempt has. With fewer names a table may still explain
 * the file, because fused tensors and other prefixes are only found later; but hardly with less than half. */
static bool sees_too_little(struct sp_fit fit, const struct sp_attempt *best)
{
    return best && best->prediction && fit.seen * 2 < best->fit.seen;
}

/* Whether the attempt (NULL: no) explains everything with the table of a whole model that a configuration can name. */
static bool is_settled(const struct sp_attempt *best)
{
    return best && sp_attempt_explains_all(best) && best->table->model_type_count && !best->is_part;
}

/* Whether a table that has the same names, although it is no equal, may be the one whose matrices the file transposed.
 */
static bool may_fit_transposed(struct sp_fit fit, struct sp_fit best)
{
    return fit.seen == best.seen && !fit.missing && !fit.tied == !best.tied;
}

/* Makes an attempt for take_transposed, with little effort: only its transposed version counts. */
static void attempt_another(struct sp_infer_search *search, const struct sp_candidate_tables *candidates,
                            struct sp_fit fit)
{
    const size_t left = search->effort.trials;
    search->effort.trials = SP_FEW_TRIALS;
    attempt_fit(search, candidates, fit)->is_second_choice = true;
    search->effort.trials = left;
}

/* Whether there is an attempt of the view with the same table and class under another naming, whose names fitted at
 * least as well. */
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

/* Whether no further attempt can be afforded: one compares all tensors of the file, and poses a constraint for most. */
static bool is_spent(const struct sp_infer_search *search)
{
    if (search->is_cancelled || search->effort.checks / 2 < shapeproof_inventory_count(search->file)) return true;
    if (!search->budget || search->attempts.count * shapeproof_inventory_count(search->file) <= search->budget->most)
        return false;
    search->budget->spent = true;
    return true;
}

/* Whether the table has every name of the file except those of buffers that loaders compute. */
static bool sees_all_weights(const struct sp_candidate_tables *candidates, struct sp_fit fit)
{
    return fit.seen == candidates->shapes.count ||
           fit.seen + sp_count_computed(candidates->view->inventory) >= candidates->shapes.count;
}

/* Whether a search with a budget, which needs a whole explanation, may leave the fit out: the table has every name of
 * the file and lacks weights, of which no tensor is left that they could be fused in. */
static bool cannot_be_whole(const struct sp_infer_search *search, const struct sp_candidate_tables *candidates,
                            struct sp_fit fit)
{
    if (!search->budget) return false;
    if (search->budget->as_named) return fit.weights || !sees_all_weights(candidates, fit);
    return fit.weights && fit.seen == candidates->shapes.count;
}

/* Makes attempts of the candidates, best fit first, and returns the best; NULL when there is none. The first one that
 * explains everything does not end that: its equals are reported beside it. What ends it is a fit that can be no equal
 * any more, since those behind it are worse, or an effort that is spent. */
static struct sp_attempt *attempt_all(struct sp_infer_search *search, const struct sp_candidate_tables *candidates)
{
    const struct sp_fit *fits = candidates->fits;
    struct sp_attempt *best = NULL;
    size_t i = 0, equals = 0;
    for (; i < candidates->count && i < SP_MOST_ATTEMPTS; i++) {
        const bool is_beyond_equals = is_settled(best) && is_worse_fit(fits[i], best->fit, fits[0], equals);
        if (is_beyond_equals || is_spent(search)) break;
        equals += is_settled(best);
        if (sees_too_little(fits[i], best)) break;
        if (cannot_be_whole(search, candidates, fits[i]) || is_attempted(search, candidates, fits[i])) continue;
        struct sp_attempt *attempt = attempt_classes(search, candidates, fits[i]);
        if (!best || sp_attempt_is_better(attempt, best)) best = attempt;
    }
    if (i < candidates->count && is_settled(best) && may_fit_transposed(fits[i], fits[0]))
        attempt_another(search, candidates, fits[i]);
    return best;
}

/* ---- an attempt once more ---- */

static struct sp_infer_view *keep_view(struct sp_infer_search *search, struct sp_infer_view view)
{
    struct sp_infer_view *kept = sp_arena_alloc(search->arena, sizeof *kept);
    *kept = view;
    *SP_PUSH(&search->views) = kept;
    return kept;
}

/* What went wrong in an attempt, and how it is made once more: its table alone, of the same view or one that is derived
 * from it. */
struct retry {
    bool (*applies)(const struct sp_attempt *attempt);
    /* False when there is no such view; NULL: the attempt's own. */
    bool (*derive)(struct sp_infer_search *search, const struct sp_attempt *attempt, struct sp_infer_view *view);
    struct sp_attempt *(*make)(struct sp_infer_search *search, const struct sp_candidate_tables *candidates,
                               struct sp_fit fit);
};

/* The new attempt; NULL when the retry does not apply, or the table has no names of the view. */
static struct sp_attempt *retry_attempt(struct sp_infer_search *search, const struct retry *how,
                                        const struct sp_attempt *attempt)
{
    const struct sp_tables_searched own = {.tables = search->searched.tables, .only = attempt->table};
    const struct sp_infer_view *view = attempt->view;
    struct sp_infer_view derived;
    struct sp_candidate_tables candidates;
    if (!how->applies(attempt) || (how->derive && !how->derive(search, attempt, &derived))) return NULL;
    if (how->derive) view = keep_view(search, derived);
    if (attempt->prediction) sp_candidate_tables_under(&candidates, search->arena, &own, view, &attempt->naming);
    else sp_candidate_tables_best(&candidates, search->arena, &own, view);
    struct sp_attempt *again = candidates.count ? how->make(search, &candidates, candidates.fits[0]) : NULL;
    sp_candidate_tables_free(&candidates);
    return again;
}

/* The best of the attempts from `from` on for which is_one is true, and that is none of the `count` in `tried`; or
 * NULL. */
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

/* Whether prefix rules of single components were found, which takes a prediction: with these more tensors can be
 * compared.
 */
static bool has_fronts(const struct sp_attempt *attempt)
{
    return attempt->prediction && attempt->naming.prefix_rule_count && !sp_attempt_explains_all(attempt);
}

static const struct retry with_fronts = {has_fronts, NULL, attempt_classes};

/* Whether the fused tensors should be split: of the parts the table can say more, such as whether they have biases. */
static bool may_be_split(const struct sp_attempt *attempt)
{
    return attempt->prediction && attempt->joints && attempt->unexplained;
}

static bool derive_split(struct sp_infer_search *search, const struct sp_attempt *attempt, struct sp_infer_view *view)
{
    (void)search;
    return sp_infer_view_split(view, attempt);
}

static const struct retry in_parts = {may_be_split, derive_split, attempt_classes};

/* Whether nothing is wrong but shapes. */
static bool may_be_transposed(const struct sp_attempt *attempt)
{
    return attempt->prediction && !attempt->is_further && attempt->reshaped &&
           attempt->unexplained == attempt->reshaped && !attempt->missing && !attempt->view->transposed;
}

/* The view with the matrices of a wrong shape transposed. */
static bool derive_transposed(struct sp_infer_search *search, const struct sp_attempt *attempt,
                              struct sp_infer_view *view)
{
    const size_t count = shapeproof_inventory_count(attempt->view->inventory);
    bool *transposed = sp_arena_array(search->arena, count, sizeof *transposed);
    for (size_t i = 0; i < count; i++) transposed[i] = sp_match_tensor(&attempt->match, i) == SP_SHAPE;
    return sp_infer_view_transposed(view, attempt->view, transposed);
}

static const struct retry with_transposed = {may_be_transposed, derive_transposed, attempt_fit};

/* Whether the attempt may come out better if shapes tell the stages of its modules. */
static bool may_be_staged(const struct sp_attempt *attempt)
{
    return attempt->has_stages && !attempt->is_further && !attempt->is_second_choice &&
           !sp_attempt_explains_all(attempt);
}

static struct sp_attempt *attempt_stages(struct sp_infer_search *search, const struct sp_candidate_tables *candidates,
                                         struct sp_fit fit)
{
    search->effort.trials = search->is_cancelled ? 0 : SP_MOST_TRIALS;
    return keep_attempt(search, sp_attempt_by_stages(search->searched.tables, fit, candidates, &search->effort));
}

static const struct retry by_stages = {may_be_staged, NULL, attempt_stages};

/* ---- steps: what is done with the tables that have the names ---- */

/* Makes the attempt (NULL: none) the best one of the scope if it is better than that, which there must be. */
static void offer_within(struct scope *scope, struct sp_attempt *attempt)
{
    if (attempt && sp_attempt_is_better(attempt, scope->best)) scope->best = attempt;
}

static void take_all(struct sp_infer_search *search, struct scope *scope)
{
    scope->best = attempt_all(search, scope->candidates);
}

static bool has_best(const struct sp_infer_search *search, const struct scope *scope)
{
    (void)search;
    return scope->best;
}

static bool is_plain_naming(const struct sp_naming *naming)
{
    return !naming->scheme && !*naming->strip && !*naming->add && !naming->drop_wrappers;
}

/* A table explains the file with its names as they are. */
static bool is_plainly_explained(const struct sp_infer_search *search, const struct scope *scope)
{
    return scope->best && sp_attempt_explains_all(scope->best) && !search->searched.only && !scope->view->transposed &&
           is_plain_naming(&scope->candidates->naming);
}

/* An attempt of a table that may be named beside the best one; NULL when its names do not fit. */
static struct sp_attempt *attempt_further(struct sp_infer_search *search, const struct sp_candidate_tables *candidates,
                                          const struct sp_further *further)
{
    struct sp_candidate_tables other;
    struct sp_attempt *attempt = NULL;
    const struct shapeproof_tables *tables = search->searched.tables;
    if (!further->has_other_prefix) attempt = attempt_fit(search, candidates, further->fit);
    else if (sp_candidate_tables_for(&other, search->arena, tables, further->fit.table, candidates->view)) {
        attempt = attempt_fit(search, &other, other.fits[0]);
        sp_candidate_tables_free(&other);
    }
    if (attempt) attempt->is_further = true;
    return attempt;
}

/* Whether the attempt explains everything, and no prefix was stripped from the names: the file has a whole model,
 * perhaps without the prefix of its names. */
static bool is_whole_of(const struct sp_attempt *attempt)
{
    return sp_attempt_explains_all(attempt) && !*attempt->naming.strip;
}

/* After a table has explained the file under its plain names: attempts the other tables that have all of these names.
 * If that table is a part of models, also those whose names have another prefix, as they have in a whole model; the
 * best whole model then replaces the part. */
static void take_further(struct sp_infer_search *search, struct scope *scope)
{
    const bool is_part = scope->best->is_part;
    struct sp_further further[SP_MOST_FURTHER];
    const size_t tensors = shapeproof_inventory_count(search->file), left = search->effort.trials;
    const size_t count =
        sp_candidate_tables_further(scope->candidates, search->searched.tables, further, SP_MOST_FURTHER);
    for (size_t i = 0; i < count && i * tensors < SP_MOST_FURTHER_TENSORS && !search->is_cancelled; i++) {
        search->effort.trials = SP_FEW_TRIALS;
        if (!is_part && further[i].has_other_prefix) continue;
        struct sp_attempt *attempt = attempt_further(search, scope->candidates, &further[i]);
        if (is_part && attempt && is_whole_of(attempt)) offer_within(scope, attempt);
    }
    search->effort.trials = left;
}

/* Attempts each table once more under the name of its model that comes nearest, such as "resnet50". */
static void take_named(struct sp_infer_search *search, struct scope *scope)
{
    const size_t count = search->attempts.count;
    size_t left = SP_COMPARED_ONCE;
    for (size_t i = scope->from; i < count; i++) {
        struct sp_attempt *plain = search->attempts.items[i];
        if (sp_attempt_explains_all(scope->best) && !sp_attempt_explains_all(plain)) continue;
        const char *name = sp_nearest_name(plain, &scope->candidates->naming, &left);
        if (name) offer_within(scope, attempt_as(search, scope->candidates, plain->fit, name));
    }
}

/* Whether the model that explains the file may be wrapped in another: its table goes by names of models, and a prefix
 * had to be stripped from the tensors' names. */
static bool may_be_wrapped(const struct sp_infer_search *search, const struct scope *scope)
{
    return scope->best && sp_attempt_explains_all(scope->best) && sp_stands_for_settings(scope->best->table) &&
           *scope->best->naming.strip && !search->searched.only;
}

/* Attempts the wrapper's classes around the inner model; returns the first that explains everything without a prefix,
 * or NULL. The others are no equals. */
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

static void take_wrappers(struct sp_infer_search *search, struct scope *scope)
{
    size_t count;
    const size_t *list = sp_tables_list(search->searched.tables, &count);
    struct sp_attempt *wrapped = NULL;
    for (size_t i = 0; i < count && !wrapped; i++) {
        if (list[i] < sp_builtin_index_count && !sp_builtin_index_units[list[i]].chooses) continue;
        const struct sp_unit *table = sp_tables_at(search->searched.tables, list[i]);
        if (table && sp_unit_chooses(table)) wrapped = attempt_wrapper(search, scope->best, table);
    }
    if (wrapped) scope->best = wrapped;
}

static void take_fronts(struct sp_infer_search *search, struct scope *scope)
{
    offer_within(scope, retry_attempt(search, &with_fronts, scope->best));
}

static void take_parts(struct sp_infer_search *search, struct scope *scope)
{
    offer_within(scope, retry_attempt(search, &in_parts, scope->best));
}

/* Whether the unexplained tensors may be missing ones fused, and the only tensors that show a size. */
static bool may_be_fused(const struct sp_attempt *attempt)
{
    return attempt->prediction && !attempt->joints && attempt->missing && attempt->unexplained && !attempt->reshaped &&
           attempt->explained > attempt->unexplained && !attempt->is_further && !attempt->is_second_choice;
}

static void take_fused(struct sp_infer_search *search, struct scope *scope)
{
    size_t left = SP_COMPARED_NEAR;
    for (size_t i = scope->from; i < search->attempts.count && !sp_attempt_explains_all(scope->best); i++) {
        struct sp_attempt *attempt = search->attempts.items[i];
        if (!may_be_fused(attempt)) continue;
        sp_attempt_size_fused(attempt, &left);
        offer_within(scope, attempt);
    }
}

static const struct step candidate_steps[] = {
    {"tables that have the names, best first", take_all, NULL, IN_BUDGET},
    {"other tables that have all names", take_further, is_plainly_explained, NOT_IN_BUDGET},
    {"models by name", take_named, has_best, NOT_IN_BUDGET},
    {"tables that wrap a model", take_wrappers, may_be_wrapped, NOT_IN_BUDGET},
    {"components whose names have other prefixes", take_fronts, has_best, IN_BUDGET},
    {"fused tensors in parts", take_parts, has_best, IN_BUDGET},
    {"sizes that only fused tensors show", take_fused, has_best, NOT_IN_BUDGET},
    {.what = NULL},
};

static void search_candidates(struct sp_infer_search *search, struct scope *scope,
                              struct sp_candidate_tables *candidates)
{
    struct scope inner = {
        .level = SP_LEVEL_CANDIDATES, .view = scope->view, .candidates = candidates, .from = search->attempts.count};
    sp_trace_candidates(search, candidates);
    take_steps(search, candidate_steps, &inner);
    offer(search, inner.best);
    sp_candidate_tables_free(candidates);
}

/* ---- steps: the names in a view ---- */

/* Searches the candidates for the names as they are, or without a prefix. */
static void take_names(struct sp_infer_search *search, struct scope *scope)
{
    struct sp_candidate_tables candidates;
    sp_candidate_tables_best(&candidates, search->arena, &search->searched, scope->view);
    search_candidates(search, scope, &candidates);
}

static bool is_not_done(const struct sp_infer_search *search, const struct scope *scope)
{
    (void)scope;
    return !is_search_done(search);
}

static void take_translated(struct sp_infer_search *search, struct scope *scope)
{
    struct sp_candidate_tables candidates;
    if (sp_candidate_tables_translated(&candidates, search->arena, &search->searched, scope->view))
        search_candidates(search, scope, &candidates);
}

/* Whether other values may make the attempt explain more: most tensors of the file are in the prediction by name, and
 * it lacks fewer than these; or the table has all names of the file. */
static bool may_be_repaired(const struct sp_attempt *attempt)
{
    const size_t predicted = attempt->explained + attempt->reshaped; /* with the right shape, or another */
    if (attempt->joints || attempt->is_further || attempt->is_second_choice || sp_attempt_explains_all(attempt))
        return false;
    if (sp_attempt_sees_all_names(attempt)) return true;
    return attempt->prediction && predicted > attempt->unexplained - attempt->reshaped && attempt->missing < predicted;
}

static bool is_unexplained(const struct sp_infer_search *search, const struct scope *scope)
{
    (void)scope;
    return search->best && !sp_attempt_explains_all(search->best);
}

/* Repairs the best attempts that it may help, for which `left` tensors may be compared. Once one explains the file, the
 * others get no more than it took. */
static void repair_nearest(struct sp_infer_search *search, size_t left)
{
    struct sp_attempt *tried[SP_MOST_REPAIRED];
    for (size_t i = 0; i < SP_MOST_REPAIRED && (tried[i] = next_best(search, 0, may_be_repaired, tried, i)); i++) {
        const size_t before = left;
        sp_attempt_repair(tried[i], &left);
        sp_trace_repaired(search, tried[i]);
        if (sp_attempt_explains_all(tried[i]) && before - left < left) left = before - left;
        offer(search, tried[i]);
    }
}

/* Comes before other names are tried: an attempt with these and the same values is less likely. */
static void take_repair(struct sp_infer_search *search, struct scope *scope)
{
    (void)scope;
    repair_nearest(search, SP_COMPARED_NEAR);
}

static bool is_explained(const struct sp_infer_search *search, const struct scope *scope)
{
    (void)scope;
    return search->best && sp_attempt_explains_all(search->best);
}

/* Whether one of the tables builds on the other. */
static bool are_relatives(const struct sp_unit *a, const struct sp_unit *b)
{
    const struct sp_unit *up = a, *other = b;
    while (up && up != b) up = up->parent;
    while (other && other != a) other = other->parent;
    return up || other;
}

/* Repairs the attempts of tables that the best one's builds on, or that build on it. If one explains the file as well,
 * with values that only trying finds, nothing tells the two tables apart. */
static void take_relatives(struct sp_infer_search *search, struct scope *scope)
{
    size_t left = SP_COMPARED_RELATIVES;
    (void)scope;
    for (size_t i = 0; i < search->attempts.count; i++) {
        struct sp_attempt *attempt = search->attempts.items[i];
        if (!sp_attempt_sees_all_names(attempt) || !may_be_repaired(attempt) ||
            !are_relatives(attempt->table, search->best->table))
            continue;
        sp_attempt_repair(attempt, &left);
        sp_trace_repaired(search, attempt);
        offer(search, attempt);
    }
}

/* Keeps search->transposed for a note only if it needs fewer switches than the best attempt; makes it the best one
 * if it is better. */
static void weigh_transposed(struct sp_infer_search *search)
{
    if (!search->best || sp_attempt_is_better(search->transposed, search->best)) {
        search->best = search->transposed;
        search->transposed = NULL;
    } else if (sp_attempt_switches(search->transposed) >= sp_attempt_switches(search->best)) search->transposed = NULL;
}

/* Retries attempts with transposed matrices, as other programs store them: linear layers for the convolutions of GPT-2.
 * Only an attempt that explains everything counts. */
static void take_transposed(struct sp_infer_search *search, struct scope *scope)
{
    struct sp_attempt *tried[SP_MOST_TRANSPOSED];
    for (size_t i = 0; i < SP_MOST_TRANSPOSED && !search->transposed; i++) {
        tried[i] = next_best(search, scope->from, may_be_transposed, tried, i);
        if (!tried[i]) return;
        struct sp_attempt *again = retry_attempt(search, &with_transposed, tried[i]);
        if (again && sp_attempt_explains_all(again)) search->transposed = again;
    }
    if (search->transposed) weigh_transposed(search);
}

static const struct step view_steps[] = {
    {"names as they are, or without a prefix", take_names, NULL, IN_BUDGET},
    {"other values for the nearest", take_repair, is_unexplained, NOT_IN_BUDGET},
    {"other values for related tables", take_relatives, is_explained, NOT_IN_BUDGET},
    {"names of another program", take_translated, is_not_done, IN_BUDGET},
    {"matrices transposed", take_transposed, NULL, IN_BUDGET},
    {.what = NULL},
};

static void search_view(struct sp_infer_search *search, struct sp_infer_view view)
{
    struct scope scope = {.level = SP_LEVEL_VIEW, .view = keep_view(search, view), .from = search->attempts.count};
    take_steps(search, view_steps, &scope);
}

/* ---- steps: the views of a file ---- */

/* The table that the metadata name, with the hyper-parameters that they give. */
static void take_stated(struct sp_infer_search *search, struct scope *scope)
{
    struct sp_infer_view view;
    struct sp_candidate_tables candidates;
    (void)scope;
    if (!sp_stated_find(&search->stated, search)) return;
    const struct sp_tables_searched own = {.tables = search->searched.tables, .only = search->stated.table};
    sp_infer_view_plain(&view, search->file);
    sp_candidate_tables_best(&candidates, search->arena, &own, keep_view(search, view));
    if (candidates.count) {
        search->best = keep_attempt(search, sp_attempt_as_stated(own.tables, candidates.fits[0], &candidates,
                                                                 &search->stated, &search->effort));
        search->best->is_stated = true;
    }
    sp_candidate_tables_free(&candidates);
}

/* Searches the view with the matrices that were quantised; if several bits and group sizes are possible, one view after
 * the other until one explains everything. */
static void take_unpacked(struct sp_infer_search *search, struct scope *scope)
{
    struct sp_unpacked *unpacked = sp_arena_array(search->arena, SP_MOST_UNPACKED, sizeof *unpacked);
    const size_t count = sp_unpack(search->arena, search->searched.tables, search->file, unpacked, SP_MOST_UNPACKED);
    struct sp_infer_view view;
    (void)scope;
    for (size_t i = 0; i < count && !is_search_done(search); i++)
        if (sp_infer_view_unpacked(&view, search->file, &unpacked[i])) search_view(search, view);
}

static void take_respelt(struct sp_infer_search *search, struct scope *scope)
{
    struct sp_infer_view view;
    (void)scope;
    if (sp_infer_view_respelt(&view, search->file)) search_view(search, view);
}

static void take_unparametrised(struct sp_infer_search *search, struct scope *scope)
{
    struct sp_infer_view view;
    (void)scope;
    if (sp_infer_view_unparametrised(&view, search->file)) search_view(search, view);
}

static void take_plain(struct sp_infer_search *search, struct scope *scope)
{
    struct sp_infer_view view;
    (void)scope;
    sp_infer_view_plain(&view, search->file);
    search_view(search, view);
}

/* Retries the best attempts whose modules are numbered through several stages, which only shapes tell apart. */
static void take_stages(struct sp_infer_search *search, struct scope *scope)
{
    struct sp_attempt *tried[SP_MOST_STAGED];
    (void)scope;
    for (size_t i = 0; i < SP_MOST_STAGED && !sp_attempt_explains_all(search->best); i++) {
        tried[i] = next_best(search, 0, may_be_staged, tried, i);
        if (!tried[i]) return;
        offer(search, retry_attempt(search, &by_stages, tried[i]));
    }
}

static void take_long_repair(struct sp_infer_search *search, struct scope *scope)
{
    (void)scope;
    repair_nearest(search, SP_COMPARED_ONCE);
}

/* Each is taken unless one before explains the file. */
static const struct step file_steps[] = {
    {"what the metadata state", take_stated, is_not_done, NOT_IN_BUDGET},
    {"matrices as they were before they were quantised", take_unpacked, is_not_done, IN_BUDGET},
    {"names in the usual spelling", take_respelt, is_not_done, IN_BUDGET},
    {"weights without their parametrisation", take_unparametrised, is_not_done, IN_BUDGET},
    {"the file as it is", take_plain, is_not_done, IN_BUDGET},
    {"stages told by shapes", take_stages, is_unexplained, NOT_IN_BUDGET},
    {"other values for the nearest, with more effort", take_long_repair, is_unexplained, NOT_IN_BUDGET},
    {.what = NULL},
};

void sp_infer_search_file(struct sp_infer_search *search)
{
    struct scope scope = {.level = SP_LEVEL_FILE};
    search->effort = (struct sp_effort){search->watch, SP_MOST_TRIALS, SP_MOST_CHECKS};
    take_steps(search, file_steps, &scope);
    sp_trace_result(search);
}
