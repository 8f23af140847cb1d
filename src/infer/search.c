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
    size_t level; /* 0: the file, 1: a view, 2: candidate tables */
    const struct sp_infer_view *view;
    struct sp_candidate_tables *candidates; /* of a step of candidate_steps */
    size_t from;                            /* the first attempt that was made of the view, or of the candidates */
    struct sp_attempt *best;                /* of those made of the candidates; or NULL */
};

struct step {
    const char *what; /* for the trace; NULL ends a list */
    void (*take)(struct sp_infer_search *search, struct scope *scope);
    bool (*applies)(const struct sp_infer_search *search, const struct scope *scope); /* NULL: always */
    bool within_budget; /* it is taken as well when the search has a budget */
};

static void take_steps(struct sp_infer_search *search, const struct step *steps, struct scope *scope)
{
    for (; steps->what && !search->is_cancelled; steps++) {
        if ((search->budget && !steps->within_budget) || (steps->applies && !steps->applies(search, scope))) continue;
        sp_trace_step(search, scope->level, steps->what);
        steps->take(search, scope);
    }
}

/* What takes no joining; a simpler explanation may still be found of what does. */
static bool is_search_done(const struct sp_infer_search *search)
{
    return search->best && sp_attempt_explains_all(search->best) && !search->best->joints && !search->best->is_part;
}

static void offer(struct sp_infer_search *search, struct sp_attempt *attempt)
{
    if (attempt && (!search->best || sp_attempt_is_better(attempt, search->best))) search->best = attempt;
}

/* ---- attempts ---- */

static struct sp_attempt *keep_attempt(struct sp_infer_search *search, struct sp_attempt *attempt)
{
    *SP_PUSH(&search->attempts) = attempt;
    sp_trace_attempt(search, attempt);
    search->is_cancelled |= !sp_goes_on(search->watch, "attempts", search->attempts.count);
    if (search->is_cancelled) search->effort = (struct sp_effort){0};
    return attempt;
}

static struct sp_attempt *attempt_as(struct sp_infer_search *search, const struct sp_candidate_tables *candidates,
                                     struct sp_fit fit, const char *name)
{
    const size_t half = search->effort.checks / 2; /* one attempt leaves half to others */
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

/* The classes of a model that name the same tensors give them other shapes. */
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

/* When one table explains everything, those that see less, or lack more that should be there, are no equals; and after
 * some others none is that could have much more than the `leanest`. */
static bool is_worse_fit(struct sp_fit fit, struct sp_fit best, struct sp_fit leanest, size_t equals)
{
    return fit.seen < best.seen || fit.missing > best.missing ||
           (equals >= SP_ENOUGH_EQUALS && fit.absent > leanest.absent + SP_FEW_ABSENT);
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
    search->effort.trials = SP_FEW_TRIALS;
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
    if (search->is_cancelled || search->effort.checks / 2 < shapeproof_inventory_count(search->file)) return true;
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
    for (; i < candidates->count && i < SP_MOST_ATTEMPTS; i++) {
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

/* NULL when it does not apply, or the table does not have the names. */
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

/* Components whose names begin otherwise were found when names were compared with a prediction: with that knowledge
 * more of them can be asked. */
static bool has_fronts(const struct sp_attempt *attempt)
{
    return attempt->prediction && attempt->naming.prefix_rule_count && !sp_attempt_explains_all(attempt);
}

static const struct retry with_fronts = {has_fronts, NULL, attempt_classes};

/* What is fused in the file says more in parts: whether the parts have biases. */
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

/* Nothing is wrong but the shapes of matrices. */
static bool may_be_transposed(const struct sp_attempt *attempt)
{
    return attempt->prediction && !attempt->is_further && attempt->reshaped &&
           attempt->unexplained == attempt->reshaped && !attempt->missing && !attempt->view->transposed;
}

/* With these matrices the other way round. */
static bool derive_transposed(struct sp_infer_search *search, const struct sp_attempt *attempt,
                              struct sp_infer_view *view)
{
    const size_t count = shapeproof_inventory_count(attempt->view->inventory);
    bool *transposed = sp_arena_array(search->arena, count, sizeof *transposed);
    for (size_t i = 0; i < count; i++) transposed[i] = sp_match_tensor(&attempt->match, i) == SP_SHAPE;
    return sp_infer_view_transposed(view, attempt->view, transposed);
}

static const struct retry with_transposed = {may_be_transposed, derive_transposed, attempt_fit};

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
static void take_further(struct sp_infer_search *search, struct scope *scope)
{
    const bool is_part = scope->best->is_part;
    struct sp_further further[SP_MOST_FURTHER];
    const size_t tensors = shapeproof_inventory_count(search->file), left = search->effort.trials;
    const size_t count =
        sp_candidate_tables_further(scope->candidates, search->searched.tables, further, SP_MOST_FURTHER);
    for (size_t i = 0; i < count && i * tensors < SP_MOST_FURTHER_TENSORS && !search->is_cancelled; i++) {
        search->effort.trials = SP_FEW_TRIALS;
        if (!is_part && further[i].otherwise) continue;
        struct sp_attempt *attempt = attempt_further(search, scope->candidates, &further[i]);
        if (is_part && attempt && is_whole_of(attempt)) offer_within(scope, attempt);
    }
    search->effort.trials = left;
}

/* Each once more, under the name of a model that comes nearest. */
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

/* A model with a name, from whose names something had to be taken away, may be within a wrapper. */
static bool may_be_wrapped(const struct sp_infer_search *search, const struct scope *scope)
{
    return scope->best && sp_attempt_explains_all(scope->best) && sp_stands_for_settings(scope->best->table) &&
           *scope->best->naming.strip && !search->searched.only;
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

/* What is left over may be fused tensors of what is missing, and the only ones that show a size. */
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
    {"tables that have the names, best first", take_all, NULL, true},
    {"other tables that have all names", take_further, is_plainly_explained, false},
    {"models by name", take_named, has_best, false},
    {"tables that wrap a model", take_wrappers, may_be_wrapped, false},
    {"components whose names begin otherwise", take_fronts, has_best, true},
    {"fused tensors in parts", take_parts, has_best, true},
    {"sizes that only fused tensors show", take_fused, has_best, false},
    {NULL, NULL, NULL, false},
};

static void search_candidates(struct sp_infer_search *search, struct scope *scope,
                              struct sp_candidate_tables *candidates)
{
    struct scope inner = {2, scope->view, candidates, search->attempts.count, NULL};
    sp_trace_candidates(search, candidates);
    take_steps(search, candidate_steps, &inner);
    offer(search, inner.best);
    sp_candidate_tables_free(candidates);
}

/* ---- steps: the names in a view ---- */

/* As they are, or without a prefix. */
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

static bool is_unexplained(const struct sp_infer_search *search, const struct scope *scope)
{
    (void)scope;
    return search->best && !sp_attempt_explains_all(search->best);
}

/* The nearest are repaired; after one that then explains the file, others may take as much. */
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

/* Other names, and the same values, are farther. */
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

/* What a table explains one that builds on it, or on which it builds, may explain as well, with values that only trying
 * tells: then nothing tells the two apart. */
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

/* What explains the file as it is comes first; the other is worth a word when it takes less to explain as much. */
static void weigh_transposed(struct sp_infer_search *search)
{
    if (!search->best || sp_attempt_is_better(search->transposed, search->best)) {
        search->best = search->transposed;
        search->transposed = NULL;
    } else if (sp_attempt_switches(search->transposed) >= sp_attempt_switches(search->best)) search->transposed = NULL;
}

/* What other programs keep the other way round: linear layers for the convolutions of GPT-2. Only one that explains
 * everything counts. */
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
    {"names as they are, or without a prefix", take_names, NULL, true},
    {"other values for the nearest", take_repair, is_unexplained, false},
    {"other values for related tables", take_relatives, is_explained, false},
    {"names of another program", take_translated, is_not_done, true},
    {"matrices transposed", take_transposed, NULL, true},
    {NULL, NULL, NULL, false},
};

static void search_view(struct sp_infer_search *search, struct sp_infer_view view)
{
    struct scope scope = {1, keep_view(search, view), NULL, search->attempts.count, NULL};
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

/* Where several numbers of bits and groups would do, each, until one explains it all. */
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

static void take_plain(struct sp_infer_search *search, struct scope *scope)
{
    struct sp_infer_view view;
    (void)scope;
    sp_infer_view_plain(&view, search->file);
    search_view(search, view);
}

/* Those that come near and have modules of which only shapes tell the stages, by these. */
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
    {"what the metadata state", take_stated, is_not_done, false},
    {"matrices as they were before they were quantised", take_unpacked, is_not_done, true},
    {"names in the usual spelling", take_respelt, is_not_done, true},
    {"the file as it is", take_plain, is_not_done, true},
    {"stages told by shapes", take_stages, is_unexplained, false},
    {"other values for the nearest, with more effort", take_long_repair, is_unexplained, false},
    {NULL, NULL, NULL, false},
};

void sp_infer_search_file(struct sp_infer_search *search)
{
    struct scope scope = {0, NULL, NULL, 0, NULL};
    search->effort = (struct sp_effort){search->watch, SP_MOST_TRIALS, SP_MOST_CHECKS};
    take_steps(search, file_steps, &scope);
    sp_trace_result(search);
}
