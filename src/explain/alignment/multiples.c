/* SPDX-License-Identifier: MIT
 * Another multiple of the same size: 3*hidden_size wherever 4*hidden_size is predicted, and hidden_size itself is
 * right. No hyper-parameter says how many parts there are: it is another kind of module, such as a GRU for an LSTM. */
#include <inttypes.h>
#include <string.h>

#include "base/chars.h"
#include "explain/gather.h"
#include "lang/prediction.h"

enum { MOST_PARTS = 16 };

/* How many times the value of a hyper-parameter a dimension is. */
struct multiple {
    size_t key;
    uint64_t predicted, found;
};

/* A dimension that is a multiple of one number, and of nothing else. */
static bool predicted_multiple(const struct shapeproof_check *check, size_t predicted, uint32_t dimension,
                               struct multiple *multiple)
{
    const struct sp_keys keys = sp_prediction_dimension_keys(check->prediction, predicted, dimension);
    const uint64_t size = shapeproof_prediction_tensor(check->prediction, predicted)->shape[dimension];
    if (keys.count != 1) return false;
    const struct shapeproof_value value = shapeproof_prediction_hyperparameter(check->prediction, keys.list[0])->value;
    if (value.type != SHAPEPROOF_VALUE_INT || value.integer < 2 || size % (uint64_t)value.integer) return false;
    *multiple = (struct multiple){keys.list[0], size / (uint64_t)value.integer, 0};
    return multiple->predicted <= MOST_PARTS;
}

/* The size in the file that stands for the dimension, when nothing else differs. Of two biases, as a GRU of Keras has,
 * one stands for both. */
static bool differing_dimension(const struct shapeproof_tensor *tensor, const struct shapeproof_predicted *expected,
                                uint32_t *dimension, uint64_t *found)
{
    uint32_t differing = 0;
    if (expected->rank == 1 && tensor->rank == 2 && tensor->shape[0] == 2) {
        *dimension = 0;
        *found = tensor->shape[1];
        return true;
    }
    for (uint32_t d = 0; d < expected->rank && tensor->rank == expected->rank; d++)
        if (tensor->shape[d] != expected->shape[d] && ++differing) *dimension = d;
    if (differing == 1) *found = tensor->shape[*dimension];
    return differing == 1;
}

static bool multiple_of(const struct shapeproof_check *check, const struct shapeproof_finding *finding,
                        struct multiple *multiple)
{
    uint32_t dimension;
    uint64_t found;
    if (!sp_finding_is_open_as(finding, SHAPEPROOF_FINDING_SHAPE)) return false;
    if (!differing_dimension(shapeproof_inventory_tensor(check->inventory, finding->tensor),
                             shapeproof_prediction_tensor(check->prediction, finding->predicted), &dimension, &found) ||
        !predicted_multiple(check, finding->predicted, dimension, multiple))
        return false;
    const uint64_t size =
        (uint64_t)shapeproof_prediction_hyperparameter(check->prediction, multiple->key)->value.integer;
    multiple->found = found / size;
    return found && found % size == 0 && multiple->found <= MOST_PARTS && multiple->found != multiple->predicted;
}

static bool is_such_multiple(const struct shapeproof_check *check, const struct shapeproof_finding *finding,
                             const void *wanted)
{
    const struct multiple *one = wanted;
    struct multiple other;
    return multiple_of(check, finding, &other) && other.key == one->key && other.predicted == one->predicted &&
           other.found == one->found;
}

/* Whether the number itself is right somewhere, and either multiple nowhere. */
static bool is_borne_out(const struct shapeproof_check *check, const struct multiple *wanted)
{
    bool itself = false;
    for (size_t i = 0; i < shapeproof_prediction_count(check->prediction); i++) {
        const struct shapeproof_predicted *expected = shapeproof_prediction_tensor(check->prediction, i);
        if (check->match.tensor_of[i] == SHAPEPROOF_NONE) continue;
        const struct shapeproof_tensor *tensor =
            shapeproof_inventory_tensor(check->inventory, check->match.tensor_of[i]);
        for (uint32_t d = 0; d < expected->rank && tensor->rank == expected->rank; d++) {
            struct multiple here;
            if (tensor->shape[d] != expected->shape[d] || !predicted_multiple(check, i, d, &here)) continue;
            if (here.key != wanted->key) continue;
            if (here.predicted == 1) itself = true;
            else if (here.predicted == wanted->predicted || here.predicted == wanted->found) return false;
        }
    }
    return itself;
}

/* ---- saying it ---- */

/* What has so many gates; NULL when nothing is known that does. */
static const char *recurrent_module(uint64_t gates)
{
    return gates == 1 ? "an RNN" : gates == 3 ? "a GRU" : gates == 4 ? "an LSTM" : NULL;
}

static bool is_recurrent(const char *name)
{
    static const char *const words[] = {"weight_ih", "weight_hh", "bias_ih", "bias_hh", "recurrent", "i2h",
                                        "h2h",       "lstm",      "gru",     "rnn",     "LSTM",      "GRU"};
    return SP_HAS_ANY(name, words);
}

static void say_multiple(struct shapeproof_check *check, struct shapeproof_cause *cause,
                         const struct multiple *multiple)
{
    const char *key = shapeproof_prediction_hyperparameter(check->prediction, multiple->key)->name;
    const char *first = sp_first_of(check, cause)->name, *kind = "";
    const char *is = recurrent_module(multiple->found), *should = recurrent_module(multiple->predicted);
    if (is && should && is_recurrent(first)) {
        kind = sp_arena_printf(&check->arena, "%s where the table has %s: ", is, should);
        cause->hint =
            sp_arena_printf(&check->arena, "build the model with %s: it does not have the gates of %s", is, should);
    }
    cause->message =
        sp_arena_printf(&check->arena, "%s%" PRIu64 "*%s in place of %" PRIu64 "*%s in %s, such as %s", kind,
                        multiple->found, key, multiple->predicted, key, sp_tensors_of(check, cause), first);
}

/* What no value of a hyper-parameter explains: sp_explain_hyperparameters has tried. */
void sp_explain_multiples(struct shapeproof_check *check)
{
    enum { LEAST = 2 };
    struct multiple multiple;
    for (size_t i = 0; i < check->finding_count; i++) {
        if (!multiple_of(check, &check->findings[i], &multiple)) continue;
        if (sp_count_wanted(check, is_such_multiple, &multiple) < LEAST || !is_borne_out(check, &multiple)) return;
        say_multiple(check, sp_gather(check, SP_CAUSE_MULTIPLE, is_such_multiple, &multiple), &multiple);
        return;
    }
}
