/* SPDX-License-Identifier: MIT
 * Repairs what constraints and guesses left wrong, by hill climbing: one hyper-parameter after the other is given other
 * values, the whole is predicted and compared, and a value is kept if it explains more of the file.
 *
 *   layers_per_block  [4, 3, 3, 3]      4 tensors differ: encoder.mid_block.resnets.3.conv1.conv.weight, ...
 *                     [4, 3, 3, 3, 4]   none does */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "infer/infer.h"
#include "infer/limits.h"
#include "lang/functions.h"
#include "lang/hyper.h"
#include "solve/literals.h"

/* ---- other values to try for a hyper-parameter ---- */

/* A dimension of the file, and what was predicted for it: a size may be wrong by that factor. */
struct sp_ratio {
    uint64_t is, was;
};

/* What points to other values. */
struct sp_hints {
    struct sp_arena *arena;                 /* of the values that are made */
    struct sp_ratio ratios[SP_MOST_RATIOS]; /* different ones, of all tensors of another shape */
    size_t ratio_count;
    size_t usual_length; /* of lists in the same configuration; 0 when there are none */
    bool no_zero;        /* 0 is not tried in place of another number */
};

struct sp_value_candidates {
    struct shapeproof_value list[SP_MOST_REPAIR_VALUES];
    size_t count;
};

static void add_candidate(struct sp_value_candidates *candidates, struct shapeproof_value value)
{
    if (candidates->count < SP_MOST_REPAIR_VALUES) candidates->list[candidates->count++] = value;
}

/* The number scaled by each ratio, or moved by its difference if it is a part of a sum; half, one more, one less, 0 and
 * twice. */
static void add_numbers(const struct sp_hints *hints, struct sp_value_candidates *candidates, int64_t number)
{
    if (number < 0 || number > INT32_MAX) return;
    for (size_t i = 0; i < hints->ratio_count; i++) {
        const struct sp_ratio ratio = hints->ratios[i];
        const uint64_t product = (uint64_t)number * ratio.is;
        if (product % ratio.was == 0) add_candidate(candidates, sp_value_int((int64_t)(product / ratio.was)));
        const int64_t sum = number + (int64_t)ratio.is - (int64_t)ratio.was; /* when it is a part of that */
        if (sum > 0) add_candidate(candidates, sp_value_int(sum));
    }
    if (number > 2) add_candidate(candidates, sp_value_int(number / 2));
    add_candidate(candidates, sp_value_int(number + 1));
    if (number) add_candidate(candidates, sp_value_int(number - 1));
    if (number > 1 && !hints->no_zero) add_candidate(candidates, sp_value_int(0));
    if (number > 1) add_candidate(candidates, sp_value_int(2 * number));
}

/* Factors as people write them: whole numbers, then halves, tenths and twentieths. */
static void add_factors(struct sp_value_candidates *candidates)
{
    static const int steps[] = {20, 10, 2, 1};
    for (size_t k = 0; k < sizeof steps / sizeof *steps; k++)
        for (int i = steps[k]; i <= SP_MOST_FACTOR_STEPS; i += steps[k])
            if (!k || i % steps[k - 1] != 0) add_candidate(candidates, sp_value_real(i / (double)SP_FACTOR_STEPS));
}

/* The number scaled by each ratio, rounded to twentieths as people write it and as it is; then usual factors. */
static void add_reals(const struct sp_hints *hints, struct sp_value_candidates *candidates, double real)
{
    for (size_t i = 0; i < hints->ratio_count; i++) {
        const double scaled = real * (double)hints->ratios[i].is / (double)hints->ratios[i].was;
        add_candidate(candidates, sp_value_real(round(scaled * 20) / 20)); /* as people write it */
        add_candidate(candidates, sp_value_real(scaled));
    }
    add_factors(candidates);
}

/* The other texts of the table, and "", which stands for one that it does not name. */
static void add_texts(struct sp_value_candidates *candidates, const struct sp_literals *texts,
                      struct shapeproof_value value)
{
    for (size_t i = 0; i < texts->count; i++)
        if (value.type != SHAPEPROOF_VALUE_STRING || strcmp(texts->list[i], value.string) != 0)
            add_candidate(candidates, sp_value_string(texts->list[i]));
    if (texts->count) add_candidate(candidates, sp_value_string("")); /* one that the table does not name */
}

/* The text for the first items, and another one for those behind them: ["Res", "Res", "Attention"]. */
static struct shapeproof_value list_of_two(struct sp_arena *arena, struct shapeproof_value text, size_t first,
                                           struct shapeproof_value other, size_t count)
{
    struct shapeproof_value *items = sp_arena_array(arena, count, sizeof *items);
    for (size_t i = 0; i < count; i++) items[i] = i < first ? text : other;
    return (struct shapeproof_value){.type = SHAPEPROOF_VALUE_LIST, .count = count, .items = items};
}

/* In place of one text for all items of a list: lists of two kinds of items. */
static void add_lists_of_two(const struct sp_hints *hints, struct sp_value_candidates *candidates,
                             const struct sp_literals *texts, struct shapeproof_value text)
{
    const size_t count = hints->usual_length <= SP_MOST_ITEMS_REPAIRED ? hints->usual_length : 0;
    for (size_t k = 0; k < texts->count; k++) {
        const struct shapeproof_value other = sp_value_string(texts->list[k]);
        for (size_t first = 1; first < count && !sp_values_equal(text, other); first++) {
            add_candidate(candidates, list_of_two(hints->arena, text, first, other, count));
            add_candidate(candidates, list_of_two(hints->arena, other, first, text, count));
        }
    }
}

static void add_values(const struct sp_hints *hints, struct sp_value_candidates *candidates,
                       const struct sp_literals *texts, struct shapeproof_value value, unsigned depth);

/* The list with one item more at its end: a value that another item has, or one that is tried in place of the last. */
static void add_longer(const struct sp_hints *hints, struct sp_value_candidates *candidates,
                       const struct sp_literals *texts, struct shapeproof_value list)
{
    struct sp_value_candidates items = {.count = 0};
    for (size_t i = list.count; i-- > 0 && items.count < SP_MOST_ITEMS_REPAIRED;) {
        bool is_new = true;
        for (size_t k = 0; k < items.count; k++) is_new = is_new && !sp_values_equal(items.list[k], list.items[i]);
        if (is_new) add_candidate(&items, list.items[i]);
    }
    add_values(hints, &items, texts, list.items[list.count - 1], SP_MOST_NESTED_LISTS);
    for (size_t i = 0; i < items.count; i++)
        add_candidate(candidates, sp_value_list_with(hints->arena, list, list.count + 1, list.count, items.list[i]));
}

/* The sum of a list of numbers; 0 when an item is no number, or out of bounds. */
static int64_t sum_of(struct shapeproof_value list)
{
    int64_t sum = 0;
    for (size_t i = 0; i < list.count; i++) {
        if (list.items[i].type != SHAPEPROOF_VALUE_INT || list.items[i].integer < 0 ||
            list.items[i].integer > INT32_MAX)
            return 0;
        sum += list.items[i].integer;
    }
    return sum;
}

/* If a wrong size is the sum of all items, [16, 24, 24]: items in about the same proportions with the right sum. */
static void add_parts(const struct sp_hints *hints, struct sp_value_candidates *candidates,
                      struct shapeproof_value list)
{
    const int64_t sum = sum_of(list);
    for (size_t k = 0; k < hints->ratio_count && sum; k++) {
        const struct sp_ratio ratio = hints->ratios[k];
        int64_t rest = (int64_t)ratio.is;
        if (ratio.was != (uint64_t)sum) continue;
        struct shapeproof_value *items = sp_arena_array(hints->arena, list.count, sizeof *items);
        for (size_t i = 0; i < list.count; i++) {
            const int64_t part = list.items[i].integer * (int64_t)ratio.is / sum;
            items[i] = sp_value_int(i + 1 < list.count ? part : rest);
            rest -= part;
        }
        add_candidate(candidates,
                      (struct shapeproof_value){.type = SHAPEPROOF_VALUE_LIST, .count = list.count, .items = items});
    }
}

/* Lists with other items, one less, or one more. */
static void add_lists(const struct sp_hints *hints, struct sp_value_candidates *candidates,
                      const struct sp_literals *texts, struct shapeproof_value list, unsigned depth)
{
    if (!list.count) return;
    add_parts(hints, candidates, list);
    if (list.count > 1)
        add_candidate(candidates, sp_value_list_with(hints->arena, list, list.count - 1, SIZE_MAX, list));
    add_longer(hints, candidates, texts, list);
    for (size_t i = 0; i < list.count && i < SP_MOST_ITEMS_REPAIRED && candidates->count < SP_MOST_REPAIR_VALUES; i++) {
        struct sp_value_candidates items = {.count = 0};
        add_values(hints, &items, texts, list.items[i], depth + 1);
        for (size_t k = 0; k < items.count && candidates->count < SP_MOST_REPAIR_VALUES; k++)
            add_candidate(candidates, sp_value_list_with(hints->arena, list, list.count, i, items.list[k]));
    }
}

/* Other values of the same type; `depth`: lists around it. */
static void add_values(const struct sp_hints *hints, struct sp_value_candidates *candidates,
                       const struct sp_literals *texts, struct shapeproof_value value, unsigned depth)
{
    if (value.type == SHAPEPROOF_VALUE_BOOL) add_candidate(candidates, sp_value_bool(!value.boolean));
    if (value.type == SHAPEPROOF_VALUE_INT) add_numbers(hints, candidates, value.integer);
    if (value.type == SHAPEPROOF_VALUE_REAL) add_reals(hints, candidates, value.real);
    if (value.type == SHAPEPROOF_VALUE_STRING || value.type == SHAPEPROOF_VALUE_LIST)
        add_texts(candidates, texts, value);
    if (value.type == SHAPEPROOF_VALUE_STRING && !depth) add_lists_of_two(hints, candidates, texts, value);
    if (value.type == SHAPEPROOF_VALUE_LIST && depth < SP_MOST_NESTED_LISTS)
        add_lists(hints, candidates, texts, value, depth);
}

/* The values to try in place of that one, likeliest first; `texts` are those that the table has about the key. */
static void find_value_candidates(struct sp_value_candidates *candidates, const struct sp_hints *hints,
                                  const struct sp_literals *texts, struct shapeproof_value value)
{
    candidates->count = 0;
    if (sp_value_is_set(value)) add_candidate(candidates, (struct shapeproof_value){.type = SHAPEPROOF_VALUE_NULL});
    else add_texts(candidates, texts, value);
    add_values(hints, candidates, texts, value, 0);
}

/* ---- repair ---- */

/* How much is wrong. */
struct score {
    size_t errors;   /* 2 for each tensor that is missing or unexpected, 1 for each of another shape */
    double distance; /* of these shapes: the sum of |log(actual / predicted)| over their dimensions */
};

/* What came of a value that was tried. The climbs of one repair try many values again: one that allows no lists, then
 * one that allows them, both from the same start. */
struct tried {
    bool predicts; /* there is a prediction */
    struct score score;
};

/* How much of what is known a climb begins with. Each start knows a part of what the one before it knows. */
enum start { ALL_THAT_IS_KNOWN, WHAT_DIMENSIONS_TOLD, NOTHING, STARTS };

struct repair {
    struct sp_attempt *attempt;
    struct shapeproof_prediction *prediction; /* the best so far */
    struct sp_naming naming;                  /* under which all are compared: that of the start */
    struct sp_naming naming_of[STARTS];       /* the best naming for the prediction of each start */
    bool has_naming[STARTS];
    struct score score;   /* of the prediction */
    struct sp_map states; /* a configuration as JSON, and the naming, from which values are tried -> its number */
    size_t state;         /* the number of attempt->config under the naming */
    struct sp_map places; /* "3 n_layer 12", a state and a value -> the place in `tried` */
    struct sp_text place; /* the buffer in which such a text is made */
    SP_ARRAY(struct tried) tried;
    size_t *left; /* tensors that may still be compared */
    bool ran_out; /* a value was not tried, because no more tensors may be compared */
    enum {
        VALUES, /* a value is kept if fewer tensors are wrong; lists only if little is wrong */
        SIZES,  /* also if the shapes come nearer to the file's: several values may make one size */
        LISTS   /* as VALUES, and in the end all lists */
    } what;
    bool lists;            /* lists are repaired whatever is wrong */
    struct sp_hints hints; /* their arena is that of the outline, since values that are found stay */
};

/* ---- trying it ---- */

/* What is predicted with another value for one key ("": as it is); NULL when that fails. */
static struct shapeproof_prediction *predict_variant(const struct repair *repair, const char *key,
                                                     struct shapeproof_value value)
{
    struct shapeproof_config *config = sp_config_variant(repair->attempt->config);
    sp_config_set_value(config, key, value, "inferred");
    struct shapeproof_prediction *prediction = sp_attempt_predict_within(repair->attempt, config);
    shapeproof_config_free(config);
    return prediction;
}

/* Adds a ratio unless it is 1, or there is one as large. */
static void add_ratio(struct sp_hints *hints, struct sp_ratio ratio)
{
    if (ratio.is == ratio.was || !ratio.is || !ratio.was || ratio.is > INT32_MAX || ratio.was > INT32_MAX) return;
    for (size_t i = 0; i < hints->ratio_count; i++)
        if (hints->ratios[i].is * ratio.was == hints->ratios[i].was * ratio.is) return;
    if (hints->ratio_count < SP_MOST_RATIOS) hints->ratios[hints->ratio_count++] = ratio;
}

static void note_ratios(struct sp_hints *hints, const struct sp_match *match)
{
    hints->ratio_count = 0;
    for (size_t i = 0; i < shapeproof_prediction_count(match->prediction); i++) {
        if (sp_match_predicted(match, i) != SP_SHAPE) continue;
        const struct shapeproof_predicted *predicted = shapeproof_prediction_tensor(match->prediction, i);
        const struct shapeproof_tensor *tensor = shapeproof_inventory_tensor(match->inventory, match->tensor_of[i]);
        for (size_t d = 0; d < predicted->rank && predicted->rank == tensor->rank; d++)
            add_ratio(hints, (struct sp_ratio){tensor->shape[d], predicted->shape[d]});
    }
}

/* How far two shapes are apart; 0 for those of another rank. */
static double distance_of(const struct shapeproof_tensor *tensor, const struct shapeproof_predicted *predicted)
{
    double distance = 0;
    for (size_t d = 0; d < predicted->rank && predicted->rank == tensor->rank; d++)
        distance += fabs(log((double)(tensor->shape[d] + 1) / (double)(predicted->shape[d] + 1)));
    return distance;
}

/* struct score says how it is counted: a tensor of another shape is nearer than one that is not there. */
static struct score score_of(const struct sp_match *match)
{
    struct score score = {.errors = 2 * sp_match_errors(match)};
    for (size_t i = 0; i < shapeproof_prediction_count(match->prediction); i++) {
        if (sp_match_predicted(match, i) != SP_SHAPE) continue;
        score.errors--;
        score.distance += distance_of(shapeproof_inventory_tensor(match->inventory, match->tensor_of[i]),
                                      shapeproof_prediction_tensor(match->prediction, i));
    }
    return score;
}

/* Whether the score is better by enough: as long as much is wrong, a value that is only a little better leads astray.
 */
static bool is_nearer(const struct repair *repair, struct score score)
{
    const struct score than = repair->score;
    if (repair->what == SIZES && score.errors == than.errors) return score.distance < than.distance * (1 - 1e-9);
    return score.errors + than.errors / SP_LEAST_GAIN < than.errors;
}

/* Numbers the configuration, from which values are tried from now on. */
static void note_state(struct repair *repair)
{
    struct sp_text text = {0};
    const struct sp_naming *naming = &repair->naming;
    sp_text_printf(&text, "%s\n%s\n%p %d %d\n", naming->strip, naming->add, (const void *)naming->scheme,
                   naming->drop_wrappers, naming->tensorflow_names);
    for (size_t i = 0; i < naming->prefix_rule_count; i++)
        sp_text_printf(&text, "%s %s\n", naming->prefix_rules[i].from, naming->prefix_rules[i].to);
    sp_value_json(&text, sp_config_hyper(repair->attempt->config)->root);
    const size_t known = sp_map_get(&repair->states, text.data);
    repair->state = known != SIZE_MAX ? known : repair->states.count;
    if (known == SIZE_MAX) sp_map_add(&repair->states, sp_text_keep(&text, repair->hints.arena), repair->state);
    else sp_text_free(&text);
}

/* What came of the value when it was tried in this state before; NULL: it was not. It is noted that it is tried now:
 * `place` gets the place of the result. */
static const struct tried *find_tried(struct repair *repair, const char *key, struct shapeproof_value value,
                                      size_t *place)
{
    struct sp_text *text = &repair->place;
    text->length = 0;
    sp_text_number(text, repair->state);
    sp_text_puts(text, " ");
    sp_text_puts(text, key);
    sp_text_puts(text, " ");
    sp_value_json(text, value);
    *place = sp_map_get(&repair->places, text->data);
    if (*place != SIZE_MAX) return &repair->tried.items[*place];
    *place = repair->tried.count;
    sp_map_add(&repair->places, sp_arena_copy(repair->hints.arena, text->data, text->length), *place);
    *SP_PUSH(&repair->tried) = (struct tried){.predicts = false};
    return NULL;
}

/* Whether the prediction (NULL: no) is nearer than the best one; then its score and ratios become those of the repair.
 * `tried` gets the score. */
static bool comes_nearer(struct repair *repair, const struct shapeproof_prediction *prediction, struct tried *tried)
{
    struct sp_match match;
    *tried = (struct tried){.predicts = prediction != NULL};
    if (!prediction) return false;
    sp_match_init(&match, repair->attempt->view->inventory, prediction, &repair->naming);
    const struct score score = tried->score = score_of(&match);
    const bool nearer = is_nearer(repair, score);
    if (nearer) {
        note_ratios(&repair->hints, &match);
        repair->score = score;
    }
    sp_match_free(&match);
    return nearer;
}

/* Whether the value explains more; then it is kept. False as well when nothing more may be compared. */
static bool try_candidate(struct repair *repair, const char *key, struct shapeproof_value value)
{
    const size_t cost = shapeproof_inventory_count(repair->attempt->view->inventory) + 10;
    if (*repair->left < cost) {
        repair->ran_out = true;
        return false;
    }
    *repair->left -= cost;
    size_t place;
    const struct tried *before = find_tried(repair, key, value, &place);
    if (before && !(before->predicts && is_nearer(repair, before->score))) return false;
    struct shapeproof_prediction *prediction = predict_variant(repair, key, value);
    if (!comes_nearer(repair, prediction, &repair->tried.items[place])) {
        shapeproof_prediction_free(prediction);
        return false;
    }
    shapeproof_prediction_free(repair->prediction);
    repair->prediction = prediction;
    key = sp_arena_string(repair->hints.arena, key);
    sp_config_set_value(repair->attempt->config, key, value, "inferred");
    struct sp_known *known = &repair->attempt->outline.solver.known;
    if (repair->what == SIZES) sp_known_settle_as_guess(known, key, value);
    else sp_known_settle(known, key, value);
    note_state(repair);
    return true;
}

/* How long the first list of the configuration is that has several items; 0 when there is none. */
static size_t usual_length(const struct repair *repair)
{
    for (size_t i = 0; i < shapeproof_prediction_hyperparameter_count(repair->prediction); i++) {
        const struct shapeproof_value value = shapeproof_prediction_hyperparameter(repair->prediction, i)->value;
        if (value.type == SHAPEPROOF_VALUE_LIST && value.count > 1) return value.count;
    }
    return 0;
}

static void find_candidates(struct repair *repair, struct sp_value_candidates *candidates,
                            const struct sp_literals *texts, struct shapeproof_value value)
{
    repair->hints.usual_length = usual_length(repair);
    repair->hints.no_zero = repair->what == SIZES; /* it removes tensors, whose shapes are no distance then */
    find_value_candidates(candidates, &repair->hints, texts, value);
}

/* Tries all candidates for one key. From each that is kept, the candidates are computed anew, and tried from the same
 * place in their order on: for a list these are the next items. */
static bool repair_key(struct repair *repair, const char *key, struct shapeproof_value value)
{
    const struct sp_literals *texts = sp_solver_texts(&repair->attempt->outline.solver, key);
    struct sp_value_candidates candidates;
    bool repaired = false;
    find_candidates(repair, &candidates, texts, value);
    for (size_t i = 0; i < candidates.count && repair->score.errors; i++) {
        value = candidates.list[i];
        if (!try_candidate(repair, key, value)) continue;
        find_candidates(repair, &candidates, texts, value);
        repaired = true;
    }
    return repaired;
}

/* A deep copy of a value, which outlives the prediction that has it. */
static struct shapeproof_value kept_value(struct sp_arena *arena, struct shapeproof_value value)
{
    if (value.type == SHAPEPROOF_VALUE_STRING) value.string = sp_arena_string(arena, value.string);
    if (value.type == SHAPEPROOF_VALUE_LIST) {
        struct shapeproof_value *items = sp_arena_array(arena, value.count, sizeof *items);
        for (size_t i = 0; i < value.count; i++) items[i] = kept_value(arena, value.items[i]);
        value.items = items;
    }
    if (value.type == SHAPEPROOF_VALUE_OBJECT) {
        struct shapeproof_member *members = sp_arena_array(arena, value.count, sizeof *members);
        for (size_t i = 0; i < value.count; i++)
            members[i] = (struct shapeproof_member){sp_arena_string(arena, value.members[i].key),
                                                    kept_value(arena, value.members[i].value)};
        value.members = members;
    }
    return value;
}

/* How certain a value is. */
enum standing {
    ASSUMED, /* nothing told it, or it follows from a guess: is repaired first */
    TOLD,
    SURE /* a dimension told it exactly: is never repaired */
};

static enum standing standing_of(const struct repair *repair, const char *key)
{
    const struct sp_fact *fact = sp_known_fact(&repair->attempt->outline.solver.known, key);
    if (!fact || fact->guess || fact->reason.kind == SP_REASON_NONE || fact->reason.kind >= SP_REASON_ONLY)
        return ASSUMED;
    return fact->value.type == SHAPEPROOF_VALUE_INT && !fact->reason.rounded && fact->reason.kind == SP_REASON_DIMENSION
               ? SURE
               : TOLD;
}

/* Whether lists are repaired, which takes the longest: only when little is wrong, or nothing else helps any more. */
static bool repairs_lists(const struct repair *repair)
{
    const size_t tensors = shapeproof_inventory_count(repair->attempt->view->inventory);
    return repair->lists || (repair->what == VALUES && repair->score.errors * SP_FEW_ERRORS < tensors);
}

/* Whether the hyper-parameter is one of that standing whose value may be changed. */
static bool may_repair(const struct repair *repair, struct shapeproof_hyperparameter hyper, enum standing standing)
{
    if (hyper.from.source == SHAPEPROOF_SOURCE_TABLE ||
        (hyper.value.type == SHAPEPROOF_VALUE_LIST && !repairs_lists(repair)))
        return false;
    return strcmp(hyper.name, "architectures") != 0 && strcmp(hyper.name, "model_type") != 0 &&
           standing_of(repair, hyper.name) == standing;
}

/* One pass over the hyper-parameters of that standing. Whether any value was kept. */
static bool repair_keys(struct repair *repair, enum standing standing)
{
    bool repaired = false;
    for (size_t i = 0; repair->score.errors && i < shapeproof_prediction_hyperparameter_count(repair->prediction);
         i++) {
        const struct shapeproof_hyperparameter hyper = *shapeproof_prediction_hyperparameter(repair->prediction, i);
        if (!may_repair(repair, hyper, standing)) continue;
        const struct shapeproof_value value = kept_value(repair->hints.arena, hyper.value);
        repaired |= repair_key(repair, sp_arena_string(repair->hints.arena, hyper.name), value);
    }
    return repaired;
}

/* ---- where to begin ---- */

/* The naming for the prediction of a start, under which all others of the climb are compared. */
static struct sp_naming naming_for(struct repair *repair, enum start start)
{
    struct sp_match match;
    if (repair->has_naming[start]) return repair->naming_of[start];
    sp_match_begin(&match, repair->attempt->view->inventory, repair->prediction);
    repair->naming_of[start] = sp_naming_infer(repair->hints.arena, &match);
    repair->has_naming[start] = true;
    sp_match_free(&match);
    return repair->naming_of[start];
}

/* Climbs from what is known in the attempt, pass by pass, as long as that explains more. True when everything is
 * explained in the end. */
static bool repair_from_known(struct repair *repair, enum start start)
{
    shapeproof_config_free(repair->attempt->config);
    repair->attempt->config = sp_known_config(repair->attempt);
    repair->score = (struct score){.errors = SIZE_MAX};
    repair->prediction = predict_variant(repair, "", sp_value_absent(""));
    if (!repair->prediction) return false;
    repair->naming = naming_for(repair, start);
    note_state(repair);
    struct tried first;
    comes_nearer(repair, repair->prediction, &first);
    repair->lists = false;
    for (int pass = 0; pass < SP_MOST_REPAIR_PASSES && repair->score.errors; pass++) {
        if (repair_keys(repair, ASSUMED) || repair_keys(repair, TOLD)) continue;
        if (repair->lists || repair->what != LISTS) break;
        repair->lists = true;
    }
    shapeproof_prediction_free(repair->prediction);
    return !repair->score.errors;
}

/* Forgets what the start does not know. Returns how many facts are left. */
static size_t begin_from(struct repair *repair, enum start start)
{
    struct sp_known *known = &repair->attempt->outline.solver.known;
    if (start == ALL_THAT_IS_KNOWN) return known->used.count;
    if (start == WHAT_DIMENSIONS_TOLD) sp_known_keep_dimensions(known);
    else sp_known_clear(known);
    sp_solver_tell_class(&repair->attempt->outline.solver, repair->attempt->class);
    return known->used.count;
}

/* Climbs with each kind of steps (repair->what) from each start, until everything is explained. A start that knows as
 * many facts as the one before it is the same, and is left out. Without an explanation what is known is as it was. */
static bool repair_from_anywhere(struct repair *repair)
{
    struct sp_known *known = &repair->attempt->outline.solver.known;
    for (repair->what = VALUES; repair->what <= LISTS; repair->what++) {
        size_t before = SIZE_MAX;
        for (enum start start = ALL_THAT_IS_KNOWN; start < STARTS; start++) {
            const struct sp_mark mark = sp_known_mark(known);
            const size_t facts = begin_from(repair, start);
            if (facts != before && repair_from_known(repair, start)) {
                sp_known_commit(known, &mark);
                return true;
            }
            before = facts;
            sp_known_undo(known, &mark);
        }
    }
    return false;
}

void sp_attempt_repair(struct sp_attempt *attempt, size_t *left)
{
    if (attempt->is_beyond_repair) return;
    struct repair repair = {.attempt = attempt, .hints = {.arena = &attempt->outline.solver.arena}, .left = left};
    attempt->is_beyond_repair = !repair_from_anywhere(&repair) && !repair.ran_out;
    sp_map_free(&repair.states);
    sp_map_free(&repair.places);
    sp_text_free(&repair.place);
    sp_free(repair.tried.items);
    sp_attempt_verify_anew(attempt);
}
