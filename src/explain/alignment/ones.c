/* SPDX-License-Identifier: MIT
 * Tensors that have the predicted shape but for dimensions of 1. */
#include "explain/gather.h"
#include "model/layouts.h"

static bool has_other_ones(const struct shapeproof_check *check, const struct shapeproof_finding *finding,
                           const void *context)
{
    (void)context;
    if (finding->kind != SHAPEPROOF_FINDING_SHAPE) return false;
    const struct shapeproof_tensor *tensor = shapeproof_inventory_tensor(check->inventory, finding->tensor);
    const struct shapeproof_predicted *expected = shapeproof_prediction_tensor(check->prediction, finding->predicted);
    return !(tensor->flags & SHAPEPROOF_TENSOR_NO_SHAPE) &&
           sp_differs_in_ones(tensor->shape, tensor->rank, expected->shape, expected->rank);
}

void sp_explain_ones(struct shapeproof_check *check)
{
    struct shapeproof_cause *cause = sp_gather(check, SP_CAUSE_SQUEEZED, has_other_ones, NULL);
    if (cause) sp_cause_set_message(check, cause, "the same shape except for dimensions of 1");
}
