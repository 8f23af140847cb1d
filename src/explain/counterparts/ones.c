/* SPDX-License-Identifier: MIT
 * Tensors that have the predicted shape but for dimensions of 1. */
#include "explain/gather.h"
#include "model/layouts.h"

static bool has_other_ones(const struct sp_check *check, const struct sp_finding *finding, const void *context)
{
    (void)context;
    if (finding->kind != SP_FINDING_SHAPE) return false;
    const struct sp_tensor *tensor = sp_inventory_tensor(check->inventory, finding->tensor);
    const struct sp_predicted *expected = sp_prediction_tensor(check->prediction, finding->predicted);
    return !(tensor->flags & SP_TENSOR_NO_SHAPE) &&
           sp_differs_in_ones(tensor->shape, tensor->rank, expected->shape, expected->rank);
}

void sp_explain_ones(struct sp_check *check)
{
    struct sp_cause *cause = sp_gather(check, SP_CAUSE_SQUEEZED, has_other_ones, NULL);
    if (cause) sp_cause_set_message(check, cause, "the same but for dimensions of 1");
}
