/* SPDX-License-Identifier: MIT */
#include "explain/what_if.h"
#include "base/order.h"
#include "match/multi_token.h"

#include <stdlib.h>
#include <string.h>

/* ---- the whole model ---- */

/* A variant of the configuration with the change, and with all that goes with it. */
static struct shapeproof_config *changed(const struct shapeproof_config *base, const struct sp_change *change)
{
    struct shapeproof_config *config = sp_config_variant(base);
    sp_config_set_value(config, change->key, change->value, "what if");
    if (change->instead_of)
        sp_config_set_value(config, change->instead_of, (struct shapeproof_value){.type = SHAPEPROOF_VALUE_NULL}, "");
    for (const struct sp_change *also = change->also; also; also = also->also)
        sp_config_set_value(config, also->key, also->value, "what if");
    return config;
}

bool sp_variant_under(const struct shapeproof_check *check, struct shapeproof_config *config,
                      const struct sp_scope *scope, struct sp_variant *variant)
{
    *variant = (struct sp_variant){.config = config, .prediction = sp_check_predict(check, config, scope, NULL)};
    if (!variant->prediction) {
        sp_variant_free(variant);
        return false;
    }
    sp_match_init(&variant->match, check->inventory, variant->prediction, &check->naming);
    variant->errors = sp_match_errors(&variant->match);
    return true;
}

bool sp_variant_try(const struct shapeproof_check *check, const struct shapeproof_config *base,
                    const struct sp_change *change, struct sp_variant *variant)
{
    /* What predicts far more tensors than there are cannot explain anything, whatever value a hostile file suggests. */
    const struct sp_scope scope = {
        .most =
            2 * (shapeproof_inventory_count(check->inventory) + shapeproof_prediction_count(check->prediction)) + 1000};
    return sp_variant_under(check, changed(base, change), &scope, variant);
}

void sp_variant_free(struct sp_variant *variant)
{
    if (variant->prediction) sp_match_free(&variant->match);
    shapeproof_prediction_free(variant->prediction);
    shapeproof_config_free(variant->config);
    *variant = (struct sp_variant){0};
}

bool sp_variant_has(const struct shapeproof_check *check, const struct sp_variant *variant,
                    const struct shapeproof_finding *finding)
{
    if (finding->tensor != SHAPEPROOF_NONE) return sp_is_error(sp_match_tensor(&variant->match, finding->tensor));
    const char *name = shapeproof_prediction_tensor(check->prediction, finding->predicted)->name;
    const size_t predicted = shapeproof_prediction_find(variant->prediction, name);
    if (predicted == SHAPEPROOF_NONE) return false;
    const enum sp_difference difference = sp_match_predicted(&variant->match, predicted);
    /* That it would be tied is no excuse when all of the tie is absent. */
    return difference == SP_MISSING ||
           (difference == SP_TIED_ABSENT && sp_match_partner(&variant->match, predicted) == SHAPEPROOF_NONE);
}

/* ---- which indices the sample visits ---- */

enum {
    FIRST_INDICES = 3, /* of every loop: 0, 1 and 2 */
    EXTREMES = 6,      /* smallest, and largest, ones of open findings at each position */
    MAX_VISITED = FIRST_INDICES + 2 * EXTREMES * SP_MAX_INDICES,
    MOST = 20000 /* tensors of a sample */
};

/* The smallest few of a set of values, or the largest few if `sign` is -1; in the order of sign x value. */
struct extremes {
    int64_t value[EXTREMES];
    size_t count;
    int sign;
};

/* Adds a value, if it is among the smallest (largest) few and not there. */
static void note_extreme(struct extremes *extremes, int64_t value)
{
    size_t place = 0;
    while (place < extremes->count && extremes->sign * extremes->value[place] < extremes->sign * value) place++;
    if (place == EXTREMES || (place < extremes->count && extremes->value[place] == value)) return;
    if (extremes->count < EXTREMES) extremes->count++;
    memmove(&extremes->value[place + 1], &extremes->value[place],
            (extremes->count - place - 1) * sizeof *extremes->value);
    extremes->value[place] = value;
}

/* Sorts the values and drops repeated ones; returns how many are left. */
static size_t unique(int64_t *values, size_t count)
{
    size_t kept = 0;
    qsort(values, count, sizeof *values, sp_compare_integers);
    for (size_t i = 0; i < count; i++)
        if (!kept || values[kept - 1] != values[i]) values[kept++] = values[i];
    return kept;
}

/* Chooses the indices that the loops of the sample visit: the first few, and, for each position of an index in names,
 * the smallest and largest few of the open findings. */
static void choose_sample_indices(struct sp_sample *sample, const struct shapeproof_check *check)
{
    struct extremes low[SP_MAX_INDICES] = {{.count = 0}}, high[SP_MAX_INDICES] = {{.count = 0}};
    size_t count = 0;
    for (size_t p = 0; p < SP_MAX_INDICES; p++) low[p].sign = 1, high[p].sign = -1;
    for (size_t i = 0; i < check->finding_count; i++) {
        const struct sp_indices *indices = &check->places[i].indices;
        if (!sp_finding_is_open(&check->findings[i])) continue;
        for (size_t p = 0; p < indices->count; p++) {
            note_extreme(&low[p], (int64_t)indices->value[p]);
            note_extreme(&high[p], (int64_t)indices->value[p]);
        }
    }
    sample->indices = sp_realloc(NULL, MAX_VISITED, sizeof *sample->indices);
    for (int64_t i = 0; i < FIRST_INDICES; i++) sample->indices[count++] = i;
    for (size_t p = 0; p < SP_MAX_INDICES; p++) {
        for (size_t i = 0; i < low[p].count; i++) sample->indices[count++] = low[p].value[i];
        for (size_t i = 0; i < high[p].count; i++) sample->indices[count++] = high[p].value[i];
    }
    sample->scope = (struct sp_scope){sample->indices, unique(sample->indices, count), MOST};
}

/* ---- the tensors of the file by the names that the prediction uses ---- */

/* Fills sample->tensors: the tensors of the file by their predicted names, or by all names that they may stand for. */
static void name_tensors(struct sp_sample *sample)
{
    const struct shapeproof_check *check = sample->check;
    struct sp_name_keeper keeper = {.arena = &sample->arena, .names = &sample->tensors};
    struct sp_finder finder = {.naming = &check->naming, .find = sp_keep_name, .context = &keeper};
    unsigned renaming;
    for (size_t i = 0; i < shapeproof_inventory_count(check->inventory); i++) {
        const size_t predicted = check->match.predicted_of[i];
        keeper.tensor = i;
        if (predicted != SHAPEPROOF_NONE)
            sp_map_add(&sample->tensors, shapeproof_prediction_tensor(check->prediction, predicted)->name, i);
        else sp_finder_find(&finder, shapeproof_inventory_tensor(check->inventory, i)->name, &renaming);
    }
    sp_finder_free(&finder);
}

/* The index of the tensor of the file that a predicted name stands for; SHAPEPROOF_NONE when there is none. */
static size_t find_named(const struct sp_sample *sample, const char *name)
{
    return sample->renamed ? sp_map_get(&sample->tensors, name)
                           : shapeproof_inventory_find(sample->check->inventory, name);
}

/* The tensor of the file that has the name of a predicted one, or one of its old names; NULL when there is none. */
static const struct shapeproof_tensor *tensor_of(const struct sp_sample *sample,
                                                 const struct shapeproof_predicted *expected)
{
    size_t tensor = find_named(sample, expected->name);
    for (size_t i = 0; i < expected->old_name_count && tensor == SHAPEPROOF_NONE; i++)
        tensor = find_named(sample, expected->old_names[i]);
    return tensor == SHAPEPROOF_NONE ? NULL : shapeproof_inventory_tensor(sample->check->inventory, tensor);
}

/* ---- gains ---- */

/* Whether a predicted tensor is tied to one that is in the file, and need not be there itself. */
static bool is_tied_elsewhere(const struct sp_sample *sample, const struct shapeproof_prediction *prediction,
                              const struct shapeproof_predicted *expected)
{
    return expected->same_as != SHAPEPROOF_NONE &&
           tensor_of(sample, shapeproof_prediction_tensor(prediction, expected->same_as)) != NULL;
}

/* A prediction for the sample. */
struct sampled {
    const struct sp_sample *sample;
    const struct shapeproof_prediction *prediction;
};

static bool is_sampled_there(const void *context, size_t predicted)
{
    const struct sampled *of = context;
    return tensor_of(of->sample, shapeproof_prediction_tensor(of->prediction, predicted)) != NULL;
}

/* Whether a predicted tensor is missing or has another shape in the file, or is predicted for multi-token prediction
 * and found in an ordinary layer; `tensor` is the one of that name, or NULL. */
static bool is_wrong(const struct sampled *of, struct sp_multi_token *layers,
                     const struct shapeproof_predicted *expected, const struct shapeproof_tensor *tensor)
{
    if (!tensor) return !expected->optional && !is_tied_elsewhere(of->sample, of->prediction, expected);
    return !sp_same_shape(tensor, expected) || sp_multi_token_lacks(layers, expected);
}

/* Whether a tensor, or NULL, is unexpected under a prediction that does not have its name. */
static bool is_unexpected(const struct shapeproof_tensor *tensor)
{
    return tensor && !(tensor->flags & SHAPEPROOF_TENSOR_STATE);
}

/* Frees the prediction that gains are measured against. */
static void forget_base(struct sp_sample *sample)
{
    shapeproof_prediction_free(sample->base);
    sp_free(sample->found);
    sp_free(sample->wrong);
    sample->found = NULL;
    sample->wrong = NULL;
}

void sp_sample_rebase(struct sp_sample *sample, const struct shapeproof_config *base)
{
    struct shapeproof_config *config = sp_config_variant(base);
    forget_base(sample);
    sample->base = sp_check_predict(sample->check, config, &sample->scope, NULL);
    shapeproof_config_free(config);
    const size_t count = sample->base ? shapeproof_prediction_count(sample->base) : 0;
    sample->found = sp_realloc(NULL, count, sizeof *sample->found);
    sample->wrong = sp_realloc(NULL, count, sizeof *sample->wrong);
    if (!count) return;
    const struct sampled of = {sample, sample->base};
    struct sp_multi_token layers;
    sp_multi_token_find(&layers, sample->check->inventory, sample->base, is_sampled_there, &of);
    for (size_t i = 0; i < count; i++) {
        const struct shapeproof_predicted *expected = shapeproof_prediction_tensor(sample->base, i);
        sample->found[i] = tensor_of(sample, expected);
        sample->wrong[i] = is_wrong(&of, &layers, expected, sample->found[i]);
    }
    sp_multi_token_free(&layers);
}

void sp_sample_init(struct sp_sample *sample, const struct shapeproof_check *check)
{
    *sample = (struct sp_sample){.check = check, .renamed = check->match.renamed};
    choose_sample_indices(sample, check);
    if (sample->renamed) name_tensors(sample);
    sp_sample_rebase(sample, check->config);
}

/* The errors of the sample under the base less those under the variant. Each tensor that either prediction lists
 * counts:
 *
 *     listed by          errors under the base     errors under the variant
 *     both               1 if it is wrong          1 if it is wrong
 *     the variant        1 if it is unexpected     1 if it is wrong
 *     the base           1 if it is wrong          1 if it is unexpected */
static int64_t gain_of_change(const struct sp_sample *sample, const struct shapeproof_prediction *variant)
{
    const size_t count = shapeproof_prediction_count(sample->base);
    bool *listed = sp_realloc(NULL, count, sizeof *listed); /* by the variant, for each tensor of the base */
    const struct sampled of = {sample, variant};
    struct sp_multi_token layers;
    int64_t gain = 0;
    sp_multi_token_find(&layers, sample->check->inventory, variant, is_sampled_there, &of);
    if (count) memset(listed, 0, count * sizeof *listed);
    for (size_t i = 0; i < shapeproof_prediction_count(variant); i++) {
        const struct shapeproof_predicted *expected = shapeproof_prediction_tensor(variant, i);
        const size_t place = shapeproof_prediction_find(sample->base, expected->name);
        const bool in_both = place != SHAPEPROOF_NONE;
        const struct shapeproof_tensor *tensor = in_both ? sample->found[place] : tensor_of(sample, expected);
        gain += in_both ? sample->wrong[place] : is_unexpected(tensor);
        gain -= is_wrong(&of, &layers, expected, tensor);
        if (in_both) listed[place] = true;
    }
    for (size_t i = 0; i < count; i++)
        if (!listed[i]) gain += sample->wrong[i] - is_unexpected(sample->found[i]);
    sp_multi_token_free(&layers);
    sp_free(listed);
    return gain;
}

bool sp_sample_try(const struct sp_sample *sample, const struct shapeproof_config *base, const struct sp_change *change,
                   struct sp_variant *variant)
{
    *variant = (struct sp_variant){.config = changed(base, change)};
    if (sample->base) variant->prediction = sp_check_predict(sample->check, variant->config, &sample->scope, NULL);
    if (variant->prediction) return true;
    sp_variant_free(variant);
    return false;
}

int64_t sp_sample_gain(const struct sp_sample *sample, const struct shapeproof_config *base,
                       const struct sp_change *change)
{
    struct sp_variant variant;
    if (!sp_sample_try(sample, base, change, &variant)) return 0;
    const int64_t gain = gain_of_change(sample, variant.prediction);
    sp_variant_free(&variant);
    return gain;
}

size_t sp_sample_breaks(const struct sp_sample *sample, const struct shapeproof_prediction *variant,
                        const struct shapeproof_tensor **found)
{
    for (size_t i = 0; i < shapeproof_prediction_count(variant); i++) {
        const struct shapeproof_predicted *expected = shapeproof_prediction_tensor(variant, i);
        const size_t place = shapeproof_prediction_find(sample->base, expected->name);
        if (place == SHAPEPROOF_NONE || !sample->found[place] || sample->wrong[place]) continue;
        *found = sample->found[place];
        if (!sp_same_shape(*found, expected)) return i;
    }
    return SHAPEPROOF_NONE;
}

void sp_sample_free(struct sp_sample *sample)
{
    forget_base(sample);
    sp_map_free(&sample->tensors);
    sp_arena_free(&sample->arena);
    sp_free(sample->indices);
}
