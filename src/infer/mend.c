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
#include "lang/functions.h"

enum { MAX_CANDIDATES = 400, MAX_PASSES = 12, MAX_ITEMS = 24, MAX_NESTED = 3, MAX_RATIOS = 12, LITTLE = 64, FEW = 8 };

/* What a dimension is, and what it was predicted to be: in that proportion something may have to change. */
struct ratio {
    uint64_t is, was;
};

struct mending {
    struct sp_attempt *attempt;
    struct sp_arena *arena; /* that of its outline: what is found stays */
    struct sp_prediction *prediction;
    struct sp_naming naming;
    size_t errors;
    size_t *left; /* tensors that may still be compared */
    bool lists;   /* are mended as well */
    struct ratio ratios[MAX_RATIOS];
    size_t ratio_count;
};

struct candidates {
    struct sp_value list[MAX_CANDIDATES];
    size_t count;
};

/* ---- what else it could be ---- */

static void add_candidate(struct candidates *candidates, struct sp_value value)
{
    if (candidates->count < MAX_CANDIDATES) candidates->list[candidates->count++] = value;
}

static void add_numbers(const struct mending *mending, struct candidates *candidates, int64_t number)
{
    if (number < 0 || number > INT32_MAX) return;
    for (size_t i = 0; i < mending->ratio_count; i++) {
        const struct ratio ratio = mending->ratios[i];
        const uint64_t product = (uint64_t)number * ratio.is;
        if (product % ratio.was == 0) add_candidate(candidates, sp_value_int((int64_t)(product / ratio.was)));
    }
    add_candidate(candidates, sp_value_int(number + 1));
    if (number) add_candidate(candidates, sp_value_int(number - 1));
    if (number > 1) add_candidate(candidates, sp_value_int(0));
    if (number > 1) add_candidate(candidates, sp_value_int(2 * number));
    if (number > 2 && number % 2 == 0) add_candidate(candidates, sp_value_int(number / 2));
}

/* Factors as people write them: whole numbers, then tenths. */
static void add_factors(struct candidates *candidates)
{
    enum { WHOLE = 10, MOST = 40 };
    for (int tenths = WHOLE; tenths <= MOST; tenths += WHOLE) add_candidate(candidates, sp_value_real(tenths / 10.0));
    for (int tenths = 1; tenths < MOST; tenths++)
        if (tenths % WHOLE != 0) add_candidate(candidates, sp_value_real(tenths / 10.0));
}

static void add_reals(const struct mending *mending, struct candidates *candidates, double real)
{
    for (size_t i = 0; i < mending->ratio_count; i++) {
        const double scaled = real * (double)mending->ratios[i].is / (double)mending->ratios[i].was;
        add_candidate(candidates, sp_value_real(round(scaled * 10) / 10)); /* as people write it */
        add_candidate(candidates, sp_value_real(scaled));
    }
    add_factors(candidates);
}

static void add_texts(struct candidates *candidates, const struct sp_literals *texts, struct sp_value value)
{
    for (size_t i = 0; i < texts->count; i++)
        if (value.type != SP_STRING || strcmp(texts->list[i], value.string) != 0)
            add_candidate(candidates, sp_value_string(texts->list[i]));
}

static void add_values(const struct mending *mending, struct candidates *candidates, const struct sp_literals *texts,
                       struct sp_value value, unsigned depth);

/* The list with one item more: one that it has, or next to it. */
static void add_longer(const struct mending *mending, struct candidates *candidates, const struct sp_literals *texts,
                       struct sp_value list)
{
    struct candidates items = {.count = 0};
    for (size_t i = list.count; i-- > 0 && items.count < MAX_ITEMS;) {
        bool is_new = true;
        for (size_t k = 0; k < items.count; k++) is_new = is_new && !sp_values_equal(items.list[k], list.items[i]);
        if (is_new) add_candidate(&items, list.items[i]);
    }
    add_values(mending, &items, texts, list.items[list.count - 1], MAX_NESTED);
    for (size_t i = 0; i < items.count; i++)
        add_candidate(candidates, sp_value_list_with(mending->arena, list, list.count + 1, list.count, items.list[i]));
}

static void add_lists(const struct mending *mending, struct candidates *candidates, const struct sp_literals *texts,
                      struct sp_value list, unsigned depth)
{
    if (!list.count) return;
    if (list.count > 1)
        add_candidate(candidates, sp_value_list_with(mending->arena, list, list.count - 1, SIZE_MAX, list));
    add_longer(mending, candidates, texts, list);
    for (size_t i = 0; i < list.count && i < MAX_ITEMS && candidates->count < MAX_CANDIDATES; i++) {
        struct candidates items = {.count = 0};
        add_values(mending, &items, texts, list.items[i], depth + 1);
        for (size_t k = 0; k < items.count && candidates->count < MAX_CANDIDATES; k++)
            add_candidate(candidates, sp_value_list_with(mending->arena, list, list.count, i, items.list[k]));
    }
}

static void add_values(const struct mending *mending, struct candidates *candidates, const struct sp_literals *texts,
                       struct sp_value value, unsigned depth)
{
    if (value.type == SP_BOOL) add_candidate(candidates, sp_value_bool(!value.boolean));
    if (value.type == SP_INT) add_numbers(mending, candidates, value.integer);
    if (value.type == SP_REAL) add_reals(mending, candidates, value.real);
    if (value.type == SP_STRING || value.type == SP_LIST) add_texts(candidates, texts, value);
    if (value.type == SP_LIST && depth < MAX_NESTED) add_lists(mending, candidates, texts, value, depth);
}

/* ---- trying it ---- */

static struct sp_prediction *predict_variant(const struct mending *mending, const char *key, struct sp_value value)
{
    const struct sp_attempt *attempt = mending->attempt;
    struct sp_config *config = sp_config_variant(attempt->config);
    const struct sp_scope scope = {.most = 4 * sp_inventory_count(attempt->guise->inventory) + 10000};
    sp_config_set_value(config, key, value, "inferred");
    sp_config_limit(config, &scope);
    struct sp_prediction *prediction = sp_attempt_predict(attempt, config);
    sp_config_free(config);
    return prediction;
}

static void add_ratio(struct mending *mending, struct ratio ratio)
{
    if (ratio.is == ratio.was || !ratio.is || !ratio.was || ratio.is > INT32_MAX || ratio.was > INT32_MAX) return;
    for (size_t i = 0; i < mending->ratio_count; i++)
        if (mending->ratios[i].is * ratio.was == mending->ratios[i].was * ratio.is) return;
    if (mending->ratio_count < MAX_RATIOS) mending->ratios[mending->ratio_count++] = ratio;
}

static void note_ratios(struct mending *mending, const struct sp_match *match)
{
    mending->ratio_count = 0;
    for (size_t i = 0; i < sp_prediction_count(match->prediction); i++) {
        if (sp_match_predicted(match, i) != SP_SHAPE) continue;
        const struct sp_predicted *predicted = sp_prediction_tensor(match->prediction, i);
        const struct sp_tensor *tensor = sp_inventory_tensor(match->inventory, match->tensor_of[i]);
        for (size_t d = 0; d < predicted->rank && predicted->rank == tensor->rank; d++)
            add_ratio(mending, (struct ratio){tensor->shape[d], predicted->shape[d]});
    }
}

/* A tensor that is there and has another shape is nearer than one that is not there. */
static size_t weigh_errors(const struct sp_match *match)
{
    size_t reshaped = 0;
    for (size_t i = 0; i < sp_prediction_count(match->prediction); i++)
        reshaped += sp_match_predicted(match, i) == SP_SHAPE;
    return 2 * sp_match_errors(match) - reshaped;
}

/* Of the least errors so far the proportions are kept. */
static size_t count_errors(struct mending *mending, const struct sp_prediction *prediction)
{
    struct sp_match match;
    sp_match_init(&match, mending->attempt->guise->inventory, prediction, &mending->naming);
    const size_t errors = weigh_errors(&match);
    if (errors < mending->errors) note_ratios(mending, &match);
    sp_match_free(&match);
    return errors;
}

/* Whether the value explains more; then it is taken. What is only a little better as long as much is wrong leads
 * astray. */
static bool try_candidate(struct mending *mending, const char *key, struct sp_value value)
{
    const size_t cost = sp_inventory_count(mending->attempt->guise->inventory) + 10;
    if (*mending->left < cost) return false;
    *mending->left -= cost;
    struct sp_prediction *prediction = predict_variant(mending, key, value);
    const size_t errors = prediction ? count_errors(mending, prediction) : SIZE_MAX;
    if (errors == SIZE_MAX || errors + mending->errors / LITTLE >= mending->errors) {
        sp_prediction_free(prediction);
        return false;
    }
    sp_prediction_free(mending->prediction);
    mending->prediction = prediction;
    mending->errors = errors;
    key = sp_arena_string(mending->arena, key);
    sp_config_set_value(mending->attempt->config, key, value, "inferred");
    sp_known_settle(&mending->attempt->outline.solver.known, key, value);
    return true;
}

static void find_candidates(const struct mending *mending, struct candidates *candidates,
                            const struct sp_literals *texts, struct sp_value value)
{
    candidates->count = 0;
    if (sp_value_is_set(value)) add_candidate(candidates, (struct sp_value){.type = SP_NULL});
    else add_texts(candidates, texts, value);
    add_values(mending, candidates, texts, value, 0);
}

/* From a value that explains more on others are in the same order: of a list the next item. */
static bool mend_key(struct mending *mending, const char *key, struct sp_value value)
{
    struct candidates candidates;
    struct sp_literals texts = {0};
    bool mended = false;
    sp_literals_about(&texts, mending->attempt->table, key);
    find_candidates(mending, &candidates, &texts, value);
    for (size_t i = 0; i < candidates.count && mending->errors; i++) {
        value = candidates.list[i];
        if (!try_candidate(mending, key, value)) continue;
        find_candidates(mending, &candidates, &texts, value);
        mended = true;
    }
    sp_literals_free(&texts);
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

static bool may_mend(const struct mending *mending, struct sp_hyperparameter hyper, enum standing standing)
{
    if (hyper.from.source == SP_SOURCE_TABLE || (hyper.value.type == SP_LIST && !mending->lists)) return false;
    return strcmp(hyper.name, "architectures") != 0 && strcmp(hyper.name, "model_type") != 0 &&
           standing_of(mending, hyper.name) == standing;
}

static bool mend_keys(struct mending *mending, enum standing standing)
{
    bool mended = false;
    for (size_t i = 0; mending->errors && i < sp_prediction_hyperparameter_count(mending->prediction); i++) {
        const struct sp_hyperparameter hyper = sp_prediction_hyperparameter(mending->prediction, i);
        if (!may_mend(mending, hyper, standing)) continue;
        const struct sp_value value = kept_value(mending->arena, hyper.value);
        mended |= mend_key(mending, sp_arena_string(mending->arena, hyper.name), value);
    }
    return mended;
}

/* ---- where to begin ---- */

/* Under which naming all others are compared. */
static struct sp_naming naming_for(const struct mending *mending)
{
    struct sp_match match;
    sp_match_begin(&match, mending->attempt->guise->inventory, mending->prediction);
    const struct sp_naming naming = sp_naming_infer(mending->arena, &match);
    sp_match_free(&match);
    return naming;
}

/* As what the attempt knows says it; false when there is no prediction. */
static bool mend_from_known(struct mending *mending)
{
    sp_config_free(mending->attempt->config);
    mending->attempt->config = sp_known_config(mending->attempt);
    mending->errors = SIZE_MAX;
    mending->prediction = predict_variant(mending, "", sp_value_absent(""));
    if (!mending->prediction) return false;
    mending->naming = naming_for(mending);
    mending->errors = count_errors(mending, mending->prediction);
    mending->lists |= mending->errors * FEW < sp_inventory_count(mending->attempt->guise->inventory);
    for (int pass = 0; pass < MAX_PASSES && mending->errors; pass++)
        if (!mend_keys(mending, ASSUMED) && !mend_keys(mending, TOLD)) break;
    sp_prediction_free(mending->prediction);
    return !mending->errors;
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

/* Lists take the longest, and come last unless little is wrong. */
static bool mend_from_anywhere(struct mending *mending)
{
    struct sp_known *known = &mending->attempt->outline.solver.known;
    for (int lists = 0; lists < 2; lists++)
        for (enum start start = ALL_THAT_IS_KNOWN; start < STARTS; start++) {
            struct sp_kept kept = sp_known_keep(known);
            mending->lists = lists;
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
    struct mending mending = {.attempt = attempt, .arena = &attempt->outline.solver.arena, .left = left};
    mend_from_anywhere(&mending);
    sp_attempt_verify_anew(attempt);
}
