/* SPDX-License-Identifier: MIT */
#include "infer/computed.h"

#include "base/arena.h"
#include "match/present_modules.h"
#include "model/computed.h"

/* A tensor that is not predicted, and that by its name, shape and dtype is a buffer that loaders compute. */
static bool may_be_computed(const struct sp_match *match, size_t seen)
{
    const struct shapeproof_tensor *tensor = shapeproof_inventory_tensor(match->inventory, seen);
    return sp_match_tensor(match, seen) == SP_UNEXPECTED && !(tensor->flags & SHAPEPROOF_TENSOR_NO_SHAPE) &&
           sp_is_computed(tensor->name, tensor->shape, tensor->rank, tensor->dtype);
}

/* The same of a predicted buffer that the file lacks. */
static bool may_be_recomputed(const struct sp_match *match, size_t predicted)
{
    const struct shapeproof_predicted *tensor = shapeproof_prediction_tensor(match->prediction, predicted);
    return tensor->buffer && sp_match_predicted(match, predicted) == SP_MISSING &&
           sp_is_computed(tensor->name, tensor->shape, tensor->rank, tensor->dtype);
}

/* All of these buffers are collected before the first is judged, because a module is present when the file has
 * something else of it than such buffers. */
void sp_find_computed(const struct sp_match *match, bool *is_excused, bool *is_recomputed)
{
    struct sp_present_modules present = {0};
    const size_t count = shapeproof_inventory_count(match->inventory);
    const size_t predicted = shapeproof_prediction_count(match->prediction);
    for (size_t i = 0; i < count; i++) {
        is_excused[i] = may_be_computed(match, i);
        if (is_excused[i]) sp_present_modules_add(&present, shapeproof_inventory_tensor(match->inventory, i)->name);
    }
    for (size_t i = 0; i < predicted; i++) {
        is_recomputed[i] = may_be_recomputed(match, i);
        if (is_recomputed[i])
            sp_present_modules_add(&present, shapeproof_prediction_tensor(match->prediction, i)->name);
    }
    if (!present.tensors.count) return; /* no such buffers: nothing was allocated for them */
    sp_present_modules_read(&present, match);
    for (size_t i = 0; i < count; i++)
        is_excused[i] =
            is_excused[i] && sp_module_is_present(&present, shapeproof_inventory_tensor(match->inventory, i)->name);
    for (size_t i = 0; i < predicted; i++)
        is_recomputed[i] = is_recomputed[i] &&
                           sp_module_is_present(&present, shapeproof_prediction_tensor(match->prediction, i)->name);
    sp_present_modules_free(&present);
}
