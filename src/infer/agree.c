/* SPDX-License-Identifier: MIT
 * Compares two predictions for a file: whether they say the same of it, and if not, whether one explains as much. In
 * all of it `attempt` has the file, and tells which tensors of a piece of a model may be absent. */
#include <stdlib.h>

#include "base/order.h"
#include "infer/infer.h"
#include "match/layers.h"
#include "names/level.h"

/* Whether the file has the tensor with that predicted name, under whatever name of its own. */
static bool is_tensor_there(const struct sp_attempt *attempt, const char *name)
{
    const size_t predicted = shapeproof_prediction_find(attempt->prediction, name);
    if (predicted != SHAPEPROOF_NONE) return attempt->match.tensor_of[predicted] != SHAPEPROOF_NONE;
    return shapeproof_inventory_find(attempt->match.inventory, name) != SHAPEPROOF_NONE;
}

/* Whether a predicted tensor may be absent: it is optional or tied; or the file is a piece of a model, and does not
 * have the tensor's layer, or the tensor is in none. */
static bool is_excused_tensor(const struct shapeproof_predicted *tensor, const struct sp_attempt *attempt)
{
    if (tensor->optional || tensor->same_as != SHAPEPROOF_NONE) return true;
    if (!attempt->lacks_layers) return false;
    struct sp_arena scratch = {0};
    const char *layer = sp_arena_copy(&scratch, tensor->name, sp_layer_end(tensor->name, SP_LAYERS));
    const bool excused = !*layer || sp_map_get(&attempt->present_layers, layer) == SIZE_MAX;
    sp_arena_free(&scratch);
    return excused;
}

/* Whether two predicted tensors of one name say the same of the file. If it has no such tensor (`there`), their shapes
 * do not matter. */
static bool says_the_same(const struct shapeproof_predicted *a, const struct shapeproof_predicted *b, bool there,
                          const struct sp_attempt *attempt)
{
    if (!there) return is_excused_tensor(a, attempt) == is_excused_tensor(b, attempt);
    return (a->same_as == SHAPEPROOF_NONE) == (b->same_as == SHAPEPROOF_NONE) &&
           sp_same_dims(a->shape, a->rank, b->shape, b->rank);
}

/* Whether b says of the file everything that a says of it. */
static bool prediction_contains(const struct shapeproof_prediction *b, const struct shapeproof_prediction *a,
                                const struct sp_attempt *attempt)
{
    for (size_t i = 0; i < shapeproof_prediction_count(a); i++) {
        const struct shapeproof_predicted *tensor = shapeproof_prediction_tensor(a, i);
        const size_t other = shapeproof_prediction_find(b, tensor->name);
        const bool there = is_tensor_there(attempt, tensor->name);
        if (other == SHAPEPROOF_NONE ? there || !is_excused_tensor(tensor, attempt)
                                     : !says_the_same(tensor, shapeproof_prediction_tensor(b, other), there, attempt))
            return false;
    }
    return true;
}

bool sp_predictions_agree(const struct shapeproof_prediction *a, const struct shapeproof_prediction *b,
                          const struct sp_attempt *attempt)
{
    return a && b && prediction_contains(a, b, attempt) && prediction_contains(b, a, attempt);
}

/* Whether the attempt explains a tensor that it predicts. */
static bool is_explained(const struct sp_attempt *attempt, size_t predicted)
{
    if (attempt->is_joined[predicted]) return true;
    return attempt->match.tensor_of[predicted] != SHAPEPROOF_NONE &&
           sp_match_predicted(&attempt->match, predicted) != SP_SHAPE;
}

/* Whether b explains each tensor of the file that a explains. */
static bool explains_as_much(const struct shapeproof_prediction *b, const struct shapeproof_prediction *a,
                             const struct sp_attempt *attempt)
{
    for (size_t i = 0; i < shapeproof_prediction_count(a); i++) {
        const struct shapeproof_predicted *tensor = shapeproof_prediction_tensor(a, i);
        const size_t predicted = shapeproof_prediction_find(attempt->prediction, tensor->name);
        if (predicted == SHAPEPROOF_NONE || !is_explained(attempt, predicted)) continue;
        const size_t other = shapeproof_prediction_find(b, tensor->name);
        if (other == SHAPEPROOF_NONE || !says_the_same(tensor, shapeproof_prediction_tensor(b, other), true, attempt))
            return false;
    }
    return true;
}

/* How many predicted tensors the file lacks that it should have. */
static size_t count_lacking(const struct shapeproof_prediction *prediction, const struct sp_attempt *attempt)
{
    size_t lacking = 0;
    for (size_t i = 0; i < shapeproof_prediction_count(prediction); i++) {
        const struct shapeproof_predicted *tensor = shapeproof_prediction_tensor(prediction, i);
        lacking += !is_tensor_there(attempt, tensor->name) && !is_excused_tensor(tensor, attempt);
    }
    return lacking;
}

bool sp_prediction_does_as_well(const struct shapeproof_prediction *prediction,
                                const struct shapeproof_prediction *than, const struct sp_attempt *attempt)
{
    if (!prediction || !than) return false;
    if (sp_attempt_explains_all(attempt)) return sp_predictions_agree(prediction, than, attempt);
    return explains_as_much(prediction, than, attempt) &&
           count_lacking(prediction, attempt) <= count_lacking(than, attempt);
}

bool sp_attempt_allows(const struct sp_attempt *attempt, const struct shapeproof_config *config, const char *key,
                       struct shapeproof_value value)
{
    struct shapeproof_config *variant = sp_config_variant(config);
    sp_config_set_value(variant, key, value, "recheck");
    struct shapeproof_prediction *prediction = sp_attempt_predict_within(attempt, variant);
    const bool as_well = sp_prediction_does_as_well(prediction, attempt->prediction, attempt);
    shapeproof_prediction_free(prediction);
    shapeproof_config_free(variant);
    return as_well;
}
