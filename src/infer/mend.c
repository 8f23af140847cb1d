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

/* How much is wrong. */
struct score {
    size_t errors;
    double distance; /* of the shapes that are others, as the sum of the logarithms of their proportions */
};

struct mending {
    struct sp_attempt *attempt;
    struct sp_arena *arena; /* that of its outline: what is found stays */
    struct sp_prediction *prediction;
    struct sp_naming naming;
    struct score score;                 /* of the prediction */
    size_t *left;                       /* tensors that may still be compared */
    enum { VALUES, SIZES, LISTS } what; /* see mend_from_anywhere */
    bool lists;                         /* are mended as well */
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
        const int64_t sum = number + (int64_t)ratio.is - (int64_t)ratio.was; /* when it is a part of that */
        if (sum > 0) add_candidate(candidates, sp_value_int(sum));
    }
    if (number > 2) add_candidate(candidates, sp_value_int(number / 2));
    add_candidate(candidates, sp_value_int(number + 1));
    if (number) add_candidate(candidates, sp_value_int(number - 1));
    if (number > 1 && mending->what != SIZES) add_candidate(candidates, sp_value_int(0));
    if (number > 1) add_candidate(candidates, sp_value_int(2 * number));
}

/* Factors as people write them: whole numbers, then halves, tenths and twentieths. */
static void add_factors(struct candidates *candidates)
{
    enum { ONE = 20, MOST = 80 };
    static const int steps[] = {20, 10, 2, 1};
    for (size_t k = 0; k < sizeof steps / sizeof *steps; k++)
        for (int i = steps[k]; i <= MOST; i += steps[k])
            if (!k || i % steps[k - 1] != 0) add_candidate(candidates, sp_value_real((double)i / ONE));
}

static void add_reals(const struct mending *mending, struct candidates *candidates, double real)
{
    for (size_t i = 0; i < mending->ratio_count; i++) {
        const double scaled = real * (double)mending->ratios[i].is / (double)mending->ratios[i].was;
        add_candidate(candidates, sp_value_real(round(scaled * 20) / 20)); /* as people write it */
        add_candidate(candidates, sp_value_real(scaled));
    }
    add_factors(candidates);
}

static void add_texts(struct candidates *candidates, const struct sp_literals *texts, struct sp_value value)
{
    for (size_t i = 0; i < texts->count; i++)
        if (value.type != SP_STRING || strcmp(texts->list[i], value.string) != 0)
            add_candidate(candidates, sp_value_string(texts->list[i]));
    if (texts->count) add_candidate(candidates, sp_value_string("")); /* one that the table does not name */
}

/* How long the first list of the configuration is that is one of items beside each other; 0 when it has none. */
static size_t usual_length(const struct mending *mending)
{
    for (size_t i = 0; i < sp_prediction_hyperparameter_count(mending->prediction); i++) {
        const struct sp_value value = sp_prediction_hyperparameter(mending->prediction, i).value;
        if (value.type == SP_LIST && value.count > 1 && value.count <= MAX_ITEMS) return value.count;
    }
    return 0;
}

/* The text for the first items, and another one for those behind them: ["Res", "Res", "Attention"]. */
static struct sp_value list_of_two(struct sp_arena *arena, struct sp_value text, size_t first, struct sp_value other,
                                   size_t count)
{
    struct sp_value *items = sp_arena_array(arena, count, sizeof *items);
    for (size_t i = 0; i < count; i++) items[i] = i < first ? text : other;
    return (struct sp_value){.type = SP_LIST, .count = count, .items = items};
}

/* One text may stand for the items of a list, or the items be of two kinds. */
static void add_lists_of_two(const struct mending *mending, struct candidates *candidates,
                             const struct sp_literals *texts, struct sp_value text)
{
    const size_t count = usual_length(mending);
    for (size_t k = 0; k < texts->count; k++) {
        const struct sp_value other = sp_value_string(texts->list[k]);
        for (size_t first = 1; first < count && !sp_values_equal(text, other); first++) {
            add_candidate(candidates, list_of_two(mending->arena, text, first, other, count));
            add_candidate(candidates, list_of_two(mending->arena, other, first, text, count));
        }
    }
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

/* The sum of a list of numbers; 0 when it is none, or has no sum. */
static int64_t sum_of(struct sp_value list)
{
    int64_t sum = 0;
    for (size_t i = 0; i < list.count; i++) {
        if (list.items[i].type != SP_INT || list.items[i].integer < 0 || list.items[i].integer > INT32_MAX) return 0;
        sum += list.items[i].integer;
    }
    return sum;
}

/* A size that all items together make, [16, 24, 24]: others that make the other size, in about the same proportions. */
static void add_parts(const struct mending *mending, struct candidates *candidates, struct sp_value list)
{
    const int64_t sum = sum_of(list);
    for (size_t k = 0; k < mending->ratio_count && sum; k++) {
        const struct ratio ratio = mending->ratios[k];
        int64_t rest = (int64_t)ratio.is;
        if (ratio.was != (uint64_t)sum) continue;
        struct sp_value *items = sp_arena_array(mending->arena, list.count, sizeof *items);
        for (size_t i = 0; i < list.count; i++) {
            const int64_t part = list.items[i].integer * (int64_t)ratio.is / sum;
            items[i] = sp_value_int(i + 1 < list.count ? part : rest);
            rest -= part;
        }
        add_candidate(candidates, (struct sp_value){.type = SP_LIST, .count = list.count, .items = items});
    }
}

static void add_lists(const struct mending *mending, struct candidates *candidates, const struct sp_literals *texts,
                      struct sp_value list, unsigned depth)
{
    if (!list.count) return;
    add_parts(mending, candidates, list);
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
    if (value.type == SP_STRING && !depth) add_lists_of_two(mending, candidates, texts, value);
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
        note_ratios(mending, &match);
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
    key = sp_arena_string(mending->arena, key);
    sp_config_set_value(mending->attempt->config, key, value, "inferred");
    sp_known_settle(&mending->attempt->outline.solver.known, key, value, mending->what == SIZES);
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
    for (size_t i = 0; i < candidates.count && mending->score.errors; i++) {
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
    struct mending mending = {.attempt = attempt, .arena = &attempt->outline.solver.arena, .left = left};
    mend_from_anywhere(&mending);
    sp_attempt_verify_anew(attempt);
}
