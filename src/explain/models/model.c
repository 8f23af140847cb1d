/* SPDX-License-Identifier: MIT */
#include "explain/models/model.h"

#include <string.h>

#include "base/suggest.h"
#include "explain/models/asked.h"
#include "infer/computed.h"
#include "lang/functions.h"

/* So many tensors are predicted to find out which changes are needed. */
enum { MAX_PREDICTED = 500000 };

static const char not_to_the_end[] = "no fix is known: the search for another model ended early";

/* ---- trials ---- */

static struct shapeproof_config *config_of_model(const struct sp_model *model)
{
    struct shapeproof_config *config = sp_config_variant(model->check->config);
    for (size_t i = 0; i < model->count; i++)
        if (!model->changes[i].dropped)
            sp_config_set_value(config, model->changes[i].what.key, model->changes[i].what.value, "what if");
    return config;
}

/* How many errors of the match do not count: buffers that loaders compute, and unexpected tensors that the inference
 * takes for something beside the model, such as a copy of it. */
static size_t count_excused(const struct sp_match *match, const struct sp_attempt *attempt)
{
    const size_t count = shapeproof_inventory_count(match->inventory);
    const size_t predicted = shapeproof_prediction_count(match->prediction);
    bool *is_excused = sp_realloc(NULL, count, sizeof *is_excused);
    bool *is_recomputed = sp_realloc(NULL, predicted, sizeof *is_recomputed);
    size_t excused = 0;
    sp_find_computed(match, is_excused, is_recomputed);
    for (size_t i = 0; i < count; i++)
        excused +=
            is_excused[i] || (sp_match_tensor(match, i) == SP_UNEXPECTED && sp_attempt_tensor(attempt, i) == SP_STATE);
    for (size_t i = 0; i < predicted; i++) excused += is_recomputed[i];
    sp_free(is_excused);
    sp_free(is_recomputed);
    return excused;
}

/* Whether every tensor of the model is there as predicted. */
static bool is_as_predicted(struct sp_model *model, const struct shapeproof_prediction *prediction)
{
    struct sp_match match;
    sp_match_init_best(&match, model->check->inventory, prediction, &model->plain);
    const size_t errors = sp_match_errors(&match);
    const bool whole = !errors || errors == count_excused(&match, model->inference->best);
    sp_match_free(&match);
    return whole;
}

/* Whether the file is as predicted with the changes. The configuration chooses the table, unless the caller of the
 * check did. */
static bool leaves_nothing_open(struct sp_model *model)
{
    struct shapeproof_check *check = model->check;
    const struct sp_scope scope = {.most = 2 * shapeproof_inventory_count(check->inventory) + 1000};
    struct shapeproof_config *config = config_of_model(model);
    struct shapeproof_prediction *prediction = sp_check_predict(check, config, &scope, NULL);
    const size_t count = prediction ? shapeproof_prediction_count(prediction) : 0;
    const bool whole = prediction && count <= model->budget &&
                       strcmp(shapeproof_prediction_table(prediction), model->table) == 0 &&
                       is_as_predicted(model, prediction);
    if (count > model->budget) check->open_hint = not_to_the_end;
    model->budget -= count < model->budget ? count : model->budget;
    shapeproof_prediction_free(prediction);
    shapeproof_config_free(config);
    return whole;
}

/* ---- what differs ---- */

static bool has_model_change(const struct sp_model *model, const char *path)
{
    for (size_t i = 0; i < model->count; i++)
        if (strcmp(model->changes[i].what.key, path) == 0) return true;
    return false;
}

/* Objects are there for what they hold, which has changes of its own. */
static void add_model_change(struct sp_model *model, const char *path, struct shapeproof_value value, bool is_free)
{
    const struct sp_hyper *hyper = sp_config_hyper(model->check->config);
    const struct shapeproof_value configured = sp_value_at(hyper->root, path);
    if (has_model_change(model, path) || model->count == SP_MOST_MODEL_CHANGES || !sp_value_is_set(value)) return;
    if (configured.type == SHAPEPROOF_VALUE_OBJECT ||
        (sp_value_is_set(configured) && sp_values_equal(configured, value)))
        return;
    model->changes[model->count++] = (struct sp_model_change){
        .what = {.key = path, .value = value, .configured = configured, .from = sp_hyper_provenance(hyper, path)},
        .free = is_free};
}

static bool is_inferred(const struct shapeproof_inference *inference, const char *key)
{
    for (size_t i = 0; i < shapeproof_inference_count(inference); i++)
        if (strcmp(shapeproof_inference_get(inference, i)->name, key) == 0) return true;
    return false;
}

/* Where the configuration says how the file is quantised, which is settled; NULL when it does not. */
static const char *place_of_quantisation(struct shapeproof_check *check)
{
    struct sp_quantised quantised;
    const bool found = sp_quantised_open(&quantised, check->tables, sp_config_hyper(check->config), NULL);
    const char *place = found ? sp_arena_string(&check->arena, quantised.path) : NULL;
    sp_quantised_close(&quantised);
    return place;
}

/* What the configuration says and the file's own does not need, such as which layers are of which kind, is taken back.
 */
static void add_removals(struct sp_model *model)
{
    const struct shapeproof_prediction *prediction = model->check->prediction;
    const char *quantisation = place_of_quantisation(model->check);
    for (size_t i = 0; i < shapeproof_prediction_hyperparameter_count(prediction); i++) {
        const struct shapeproof_hyperparameter *hyper = shapeproof_prediction_hyperparameter(prediction, i);
        if (!sp_value_is_set(hyper->value) || hyper->from.source != SHAPEPROOF_SOURCE_CONFIG) continue;
        if (quantisation && sp_path_within(hyper->name, quantisation)) continue;
        if (is_inferred(model->inference, hyper->name) || model->count == SP_MOST_MODEL_CHANGES) continue;
        model->changes[model->count++] = (struct sp_model_change){.what = {.key = hyper->name,
                                                                           .value = {.type = SHAPEPROOF_VALUE_NULL},
                                                                           .configured = hyper->value,
                                                                           .from = hyper->from}};
    }
}

/* All that the table reads, for a default is not what the configuration says, in objects that are there; and what
 * chooses table and class. */
static void add_model_changes(struct sp_model *model)
{
    const struct shapeproof_config *inferred = model->inference->best->config;
    for (size_t i = 0; i < inferred->setting_count; i++)
        if (inferred->settings[i].value.type == SHAPEPROOF_VALUE_OBJECT)
            add_model_change(model, inferred->settings[i].path, inferred->settings[i].value, false);
    for (size_t i = 0; i < shapeproof_inference_count(model->inference); i++) {
        const struct shapeproof_inferred *key = shapeproof_inference_get(model->inference, i);
        add_model_change(model, key->name, key->value, !key->determined);
    }
    for (size_t i = 0; i < inferred->setting_count; i++)
        add_model_change(model, inferred->settings[i].path, inferred->settings[i].value, false);
    add_removals(model);
}

/* Drops the changes from `first` on to before `end` that `wanted` accepts, if nothing stays open without them; if that
 * does, those of either half. */
static void drop_needless(struct sp_model *model, const bool *wanted, size_t first, size_t end)
{
    bool before[SP_MOST_MODEL_CHANGES];
    size_t dropped = 0;
    for (size_t i = first; i < end; i++) {
        before[i] = model->changes[i].dropped;
        dropped += wanted[i] && !before[i];
        model->changes[i].dropped = before[i] || wanted[i];
    }
    if (!dropped || leaves_nothing_open(model)) return;
    for (size_t i = first; i < end; i++) model->changes[i].dropped = before[i];
    if (end - first == 1) return;
    const size_t middle = first + (end - first) / 2;
    drop_needless(model, wanted, first, middle);
    drop_needless(model, wanted, middle, end);
}

/* ---- numbers of which the file tells the product ---- */

static size_t *list_free_integers(struct sp_arena *arena, const struct sp_model *model, size_t *count)
{
    size_t *places = sp_arena_array(arena, model->count, sizeof *places);
    *count = 0;
    for (size_t i = 0; i < model->count; i++) {
        const struct sp_model_change *change = &model->changes[i];
        if (change->free && !change->dropped && change->what.value.type == SHAPEPROOF_VALUE_INT &&
            change->what.value.integer > 0)
            places[(*count)++] = i;
    }
    return places;
}

/* The one that is kept as it is configured, the others multiplied by inferred / configured value of that one where
 * the bit of it is set, or by the inverse. False when one of these is no integer. */
static bool scale_factors(struct sp_model *model, const size_t *places, size_t count, size_t kept, unsigned larger)
{
    const int64_t inferred = model->changes[kept].what.value.integer,
                  configured = model->changes[kept].what.configured.integer;
    for (size_t i = 0; i < count; i++) {
        struct sp_model_change *change = &model->changes[places[i]];
        int64_t *value = &change->what.value.integer;
        const bool grows = larger >> i & 1;
        if (places[i] != kept) {
            if (__builtin_mul_overflow(*value, grows ? inferred : configured, value)) return false;
            if (*value % (grows ? configured : inferred)) return false;
            *value /= grows ? configured : inferred;
        }
        change->dropped = places[i] == kept || sp_values_equal(change->what.value, change->what.configured);
    }
    return true;
}

static size_t count_needed(const struct sp_model *model)
{
    size_t needed = 0;
    for (size_t i = 0; i < model->count; i++) needed += !model->changes[i].dropped;
    return needed;
}

/* Keeps one of them as it is configured, and the others match: where the configuration has a width of 128, 12 heads of
 * 128 for 24 of 64. Of several ways the one with the fewest changes is taken. */
static void keep_configured_factors(struct sp_model *model)
{
    enum { MOST = 4 };
    struct sp_arena arena = {0};
    size_t count;
    const size_t *places = list_free_integers(&arena, model, &count);
    struct sp_model *best = sp_arena_alloc(&arena, sizeof *best), *scaled = sp_arena_alloc(&arena, sizeof *scaled);
    *best = *model; /* too large for a small stack, as the other one is */
    for (size_t i = 0; i < count && count <= MOST; i++) {
        const struct shapeproof_value configured = model->changes[places[i]].what.configured;
        if (configured.type != SHAPEPROOF_VALUE_INT || configured.integer <= 0) continue;
        for (unsigned larger = 0; larger < 1u << count; larger++) {
            *scaled = *model;
            if (larger >> i & 1 || !scale_factors(scaled, places, count, places[i], larger)) continue;
            if (count_needed(scaled) >= count_needed(best)) continue;
            const bool fits = leaves_nothing_open(scaled);
            model->budget = scaled->budget;
            if (fits) *best = *scaled;
        }
    }
    best->budget = model->budget;
    *model = *best;
    sp_arena_free(&arena);
}

/* ---- as few as will do ---- */

/* The first to go are removals, then keys that the configuration does not have. Then what the file leaves open stays as
 * it is configured, all at once if that will do: heads and their width go together, whatever the class is. */
static void drop_needless_changes(struct sp_model *model)
{
    enum { ROUNDS = 4 };
    bool wanted[ROUNDS][SP_MOST_MODEL_CHANGES];
    for (size_t i = 0; i < model->count; i++) {
        wanted[0][i] = model->changes[i].what.value.type == SHAPEPROOF_VALUE_NULL;
        wanted[1][i] = !sp_value_is_set(model->changes[i].what.configured);
        wanted[2][i] = model->changes[i].free && !sp_is_choice_of_table(model->changes[i].what.key);
        wanted[3][i] = true;
    }
    for (int round = 0; round < ROUNDS; round++) drop_needless(model, wanted[round], 0, model->count);
    keep_configured_factors(model);
}

/* ---- inference ---- */

static size_t common_start(const char *a, const char *b)
{
    size_t length = 0;
    while (a[length] && a[length] == b[length]) length++;
    return length;
}

static size_t length_apart(const char *a, const char *b)
{
    const size_t one = strlen(a), other = strlen(b);
    return one > other ? one - other : other - one;
}

/* Names of one family begin alike for half of the shorter one (qwen2, qwen2_moe) or are a letter apart (mistral,
 * mixtral): a letter or two in common (seed_oss, seamless_m4t) is no likeness. */
static bool are_alike(const char *one, const char *other)
{
    const size_t shorter = strlen(one) < strlen(other) ? strlen(one) : strlen(other);
    return 2 * common_start(one, other) >= shorter || sp_is_misspelt(one, other);
}

static bool is_liker(const char *configured, const char *name, const char *than)
{
    const size_t common = common_start(configured, name), other = common_start(configured, than);
    if (!are_alike(configured, name) || common < other) return false;
    return common > other || length_apart(configured, name) < length_apart(configured, than);
}

/* Of tables that explain the file alike, the one that is called most like the configured one: Mistral, for Mixtral. */
static const char *likest_table(const struct shapeproof_check *check, const struct shapeproof_inference *inference)
{
    const char *configured = shapeproof_prediction_table(check->prediction),
               *likest = shapeproof_inference_table(inference);
    for (size_t i = 0; i < shapeproof_inference_candidate_count(inference); i++) {
        const struct shapeproof_inference_candidate *candidate = shapeproof_inference_candidate(inference, i);
        if (candidate->same && is_liker(configured, candidate->table, likest)) likest = candidate->table;
    }
    return likest;
}

static const struct shapeproof_inference *infer_under(struct shapeproof_check *check, const char *table, bool as_named)
{
    const struct sp_file_answer *answer = sp_ask_file(check->asked, check->inventory, check->tables, table, as_named);
    if (answer->is_cut_short) check->open_hint = not_to_the_end;
    return answer->inference;
}

/* Under all tables; then once more, under the likest of those that do as well. */
static const struct shapeproof_inference *infer_likest(struct shapeproof_check *check, bool as_named)
{
    const struct shapeproof_inference *first = infer_under(check, NULL, as_named);
    const char *likest = first ? likest_table(check, first) : NULL;
    if (!first || strcmp(likest, shapeproof_inference_table(first)) == 0) return first;
    return infer_under(check, likest, as_named);
}

/* The changes to the model that an inference explains the whole file with; NULL for none. */
static bool take_inference(struct sp_model *model, struct shapeproof_check *check,
                           const struct shapeproof_inference *inference)
{
    *model = (struct sp_model){.check = check, .inference = inference, .budget = MAX_PREDICTED};
    if (!inference || !sp_attempt_explains_all(inference->best)) return false;
    model->table = shapeproof_inference_table(model->inference);
    add_model_changes(model);
    model->patched = model->count && leaves_nothing_open(model);
    if (!model->patched && model->inference->best->view->own) return false; /* it is not stored as that says */
    if (model->patched) drop_needless_changes(model);
    return true;
}

bool sp_model_infer(struct sp_model *model, struct shapeproof_check *check, const char *table)
{
    return take_inference(model, check, table ? infer_under(check, table, false) : infer_likest(check, false));
}

bool sp_model_infer_as_named(struct sp_model *model, struct shapeproof_check *check)
{
    return take_inference(model, check, infer_likest(check, true));
}
