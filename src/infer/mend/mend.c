/* SPDX-License-Identifier: MIT
 * What questions and guesses left wrong, mended: one hyper-parameter after the other is given other values, and the
 * whole is predicted and compared, as long as that explains more of the file.
 *
 *   layers_per_block  [4, 3, 3, 3]      4 tensors differ: encoder.mid_block.resnets.3.conv1.conv.weight, ...
 *                     [4, 3, 3, 3, 4]   none does */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "infer/infer.h"
#include "infer/mend/candidates.h"

enum { MAX_PASSES = 12, LITTLE = 64, FEW = 8 };

/* How much is wrong. */
struct score {
    size_t errors;
    double distance; /* of the shapes that are others, as the sum of the logarithms of their proportions */
};

struct mending {
    struct sp_attempt *attempt;
    struct sp_prediction *prediction;
    struct sp_naming naming;
    struct score score;                 /* of the prediction */
    size_t *left;                       /* tensors that may still be compared */
    enum { VALUES, SIZES, LISTS } what; /* see mend_from_anywhere */
    bool lists;                         /* are mended as well */
    struct sp_hints hints;              /* their arena is that of the outline: what is found stays */
};

/* ---- trying it ---- */

static struct sp_prediction *predict_variant(const struct mending *mending, const char *key, struct sp_value value)
{
    struct sp_config *config = sp_config_variant(mending->attempt->config);
    sp_config_set_value(config, key, value, "inferred");
    struct sp_prediction *prediction = sp_attempt_predict_within(mending->attempt, config);
    sp_config_free(config);
    return prediction;
}

static void add_ratio(struct sp_hints *hints, struct sp_ratio ratio)
{
    if (ratio.is == ratio.was || !ratio.is || !ratio.was || ratio.is > INT32_MAX || ratio.was > INT32_MAX) return;
    for (size_t i = 0; i < hints->ratio_count; i++)
        if (hints->ratios[i].is * ratio.was == hints->ratios[i].was * ratio.is) return;
    if (hints->ratio_count < SP_MAX_RATIOS) hints->ratios[hints->ratio_count++] = ratio;
}

static void note_ratios(struct sp_hints *hints, const struct sp_match *match)
{
    hints->ratio_count = 0;
    for (size_t i = 0; i < sp_prediction_count(match->prediction); i++) {
        if (sp_match_predicted(match, i) != SP_SHAPE) continue;
        const struct sp_predicted *predicted = sp_prediction_tensor(match->prediction, i);
        const struct sp_tensor *tensor = sp_inventory_tensor(match->inventory, match->tensor_of[i]);
        for (size_t d = 0; d < predicted->rank && predicted->rank == tensor->rank; d++)
            add_ratio(hints, (struct sp_ratio){tensor->shape[d], predicted->shape[d]});
    }
}

static double distance_of(const struct sp_tensor *tensor, const struct sp_predicted *predicted)
{
    double distance = 0;
    for (size_t d = 0; d < predicted->rank && predicted->rank == tensor->rank; d++)
        distance += fabs(log((double)(tensor->shape[d] + 1) / (double)(predicted->shape[d] + 1)));
    return distance;
}

/* A tensor that is there and has another shape is nearer than one that is not there. */
static struct score score_of(const struct sp_match *match)
{
    struct score score = {.errors = 2 * sp_match_errors(match)};
    for (size_t i = 0; i < sp_prediction_count(match->prediction); i++) {
        if (sp_match_predicted(match, i) != SP_SHAPE) continue;
        score.errors--;
        score.distance += distance_of(sp_inventory_tensor(match->inventory, match->tensor_of[i]),
                                      sp_prediction_tensor(match->prediction, i));
    }
    return score;
}

/* What is only a little better as long as much is wrong leads astray. */
static bool is_nearer(const struct mending *mending, struct score score)
{
    const struct score than = mending->score;
    if (mending->what == SIZES && score.errors == than.errors) return score.distance < than.distance * (1 - 1e-9);
    return score.errors + than.errors / LITTLE < than.errors;
}

/* Of the nearest so far the proportions are kept. */
static bool comes_nearer(struct mending *mending, const struct sp_prediction *prediction)
{
    struct sp_match match;
    if (!prediction) return false;
    sp_match_init(&match, mending->attempt->guise->inventory, prediction, &mending->naming);
    const struct score score = score_of(&match);
    const bool nearer = is_nearer(mending, score);
    if (nearer) {
        note_ratios(&mending->hints, &match);
        mending->score = score;
    }
    sp_match_free(&match);
    return nearer;
}

/* Whether the value explains more; then it is taken. */
static bool try_candidate(struct mending *mending, const char *key, struct sp_value value)
{
    const size_t cost = sp_inventory_count(mending->attempt->guise->inventory) + 10;
    if (*mending->left < cost) return false;
    *mending->left -= cost;
    struct sp_prediction *prediction = predict_variant(mending, key, value);
    if (!comes_nearer(mending, prediction)) {
        sp_prediction_free(prediction);
        return false;
    }
    sp_prediction_free(mending->prediction);
    mending->prediction = prediction;
    key = sp_arena_string(mending->hints.arena, key);
    sp_config_set_value(mending->attempt->config, key, value, "inferred");
    sp_known_settle(&mending->attempt->outline.solver.known, key, value, mending->what == SIZES);
    return true;
}

/* How long the first list of the configuration is that has several items; 0 when there is none. */
static size_t usual_length(const struct mending *mending)
{
    for (size_t i = 0; i < sp_prediction_hyperparameter_count(mending->prediction); i++) {
        const struct sp_value value = sp_prediction_hyperparameter(mending->prediction, i).value;
        if (value.type == SP_LIST && value.count > 1) return value.count;
    }
    return 0;
}

static void find_candidates(struct mending *mending, struct sp_candidates *candidates, const struct sp_literals *texts,
                            struct sp_value value)
{
    mending->hints.usual_length = usual_length(mending);
    mending->hints.no_zero = mending->what == SIZES; /* it would take away what comes nearer */
    sp_find_candidates(candidates, &mending->hints, texts, value);
}

/* From a value that explains more on others are in the same order: of a list the next item. */
static bool mend_key(struct mending *mending, const char *key, struct sp_value value)
{
    const struct sp_literals *texts = sp_solver_texts(&mending->attempt->outline.solver, key);
    struct sp_candidates candidates;
    bool mended = false;
    find_candidates(mending, &candidates, texts, value);
    for (size_t i = 0; i < candidates.count && mending->score.errors; i++) {
        value = candidates.list[i];
        if (!try_candidate(mending, key, value)) continue;
        find_candidates(mending, &candidates, texts, value);
        mended = true;
    }
    return mended;
}

/* A value that outlives the prediction which it is of. */
static struct sp_value kept_value(struct sp_arena *arena, struct sp_value value)
{
    if (value.type == SP_STRING) value.string = sp_arena_string(arena, value.string);
    if (value.type == SP_LIST) {
        struct sp_value *items = sp_arena_array(arena, value.count, sizeof *items);
        for (size_t i = 0; i < value.count; i++) items[i] = kept_value(arena, value.items[i]);
        value.items = items;
    }
    if (value.type == SP_OBJECT) {
        struct sp_member *members = sp_arena_array(arena, value.count, sizeof *members);
        for (size_t i = 0; i < value.count; i++)
            members[i] = (struct sp_member){sp_arena_string(arena, value.members[i].key),
                                            kept_value(arena, value.members[i].value)};
        value.members = members;
    }
    return value;
}

/* How a value came about: those that nothing told are tried first, those that a dimension told never. */
enum standing { ASSUMED, TOLD, SURE };

static enum standing standing_of(const struct mending *mending, const char *key)
{
    const struct sp_fact *fact = sp_known_fact(&mending->attempt->outline.solver.known, key);
    if (!fact || fact->guess || fact->reason.kind == SP_REASON_NONE || fact->reason.kind >= SP_REASON_ONLY)
        return ASSUMED;
    return fact->value.type == SP_INT && !fact->reason.rounded && fact->reason.kind == SP_REASON_DIMENSION ? SURE
                                                                                                           : TOLD;
}

/* Lists take the longest: only when little is wrong, or nothing else helps any more. */
static bool mends_lists(const struct mending *mending)
{
    const size_t tensors = sp_inventory_count(mending->attempt->guise->inventory);
    return mending->lists || (mending->what == VALUES && mending->score.errors * FEW < tensors);
}

static bool may_mend(const struct mending *mending, struct sp_hyperparameter hyper, enum standing standing)
{
    if (hyper.from.source == SP_SOURCE_TABLE || (hyper.value.type == SP_LIST && !mends_lists(mending))) return false;
    return strcmp(hyper.name, "architectures") != 0 && strcmp(hyper.name, "model_type") != 0 &&
           standing_of(mending, hyper.name) == standing;
}

static bool mend_keys(struct mending *mending, enum standing standing)
{
    bool mended = false;
    for (size_t i = 0; mending->score.errors && i < sp_prediction_hyperparameter_count(mending->prediction); i++) {
        const struct sp_hyperparameter hyper = sp_prediction_hyperparameter(mending->prediction, i);
        if (!may_mend(mending, hyper, standing)) continue;
        const struct sp_value value = kept_value(mending->hints.arena, hyper.value);
        mended |= mend_key(mending, sp_arena_string(mending->hints.arena, hyper.name), value);
    }
    return mended;
}

/* ---- where to begin ---- */

/* Under which naming all others are compared. */
static struct sp_naming naming_for(const struct mending *mending)
{
    struct sp_match match;
    sp_match_begin(&match, mending->attempt->guise->inventory, mending->prediction);
    const struct sp_naming naming = sp_naming_infer(mending->hints.arena, &match);
    sp_match_free(&match);
    return naming;
}

/* As what the attempt knows says it; false when there is no prediction. */
static bool mend_from_known(struct mending *mending)
{
    sp_config_free(mending->attempt->config);
    mending->attempt->config = sp_known_config(mending->attempt);
    mending->score = (struct score){.errors = SIZE_MAX};
    mending->prediction = predict_variant(mending, "", sp_value_absent(""));
    if (!mending->prediction) return false;
    mending->naming = naming_for(mending);
    comes_nearer(mending, mending->prediction);
    mending->lists = false;
    for (int pass = 0; pass < MAX_PASSES && mending->score.errors; pass++) {
        if (mend_keys(mending, ASSUMED) || mend_keys(mending, TOLD)) continue;
        if (mending->lists || mending->what != LISTS) break;
        mending->lists = true;
    }
    sp_prediction_free(mending->prediction);
    return !mending->score.errors;
}

/* What of it is kept to begin with. */
enum start { ALL_THAT_IS_KNOWN, WHAT_DIMENSIONS_TOLD, NOTHING, STARTS };

static void begin_from(struct mending *mending, enum start start)
{
    struct sp_known *known = &mending->attempt->outline.solver.known;
    if (start == ALL_THAT_IS_KNOWN) return;
    if (start == WHAT_DIMENSIONS_TOLD) sp_known_forget_but_dimensions(known);
    else sp_known_forget(known);
    sp_solver_tell_class(&mending->attempt->outline.solver, mending->attempt->class);
}

/* Values are tried one by one as long as each explains more. Where several are wrong that make one size, none of them
 * does: then what brings sizes nearer to those of the file is taken as well. Lists come last. */
static bool mend_from_anywhere(struct mending *mending)
{
    struct sp_known *known = &mending->attempt->outline.solver.known;
    for (mending->what = VALUES; mending->what <= LISTS; mending->what++)
        for (enum start start = ALL_THAT_IS_KNOWN; start < STARTS; start++) {
            struct sp_kept kept = sp_known_keep(known);
            begin_from(mending, start);
            if (mend_from_known(mending)) {
                free(kept.facts);
                return true;
            }
            sp_known_restore(known, &kept);
        }
    return false;
}

void sp_attempt_mend(struct sp_attempt *attempt, size_t *left)
{
    struct mending mending = {.attempt = attempt, .hints = {.arena = &attempt->outline.solver.arena}, .left = left};
    mend_from_anywhere(&mending);
    sp_attempt_verify_anew(attempt);
}
