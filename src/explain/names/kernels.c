/* SPDX-License-Identifier: MIT
 * Kernels of TensorFlow: what is called so is transposed, and every converter knows that. */
#include <string.h>

#include "explain/gather.h"
#include "model/layouts.h"

static bool is_kernel_finding(const struct sp_check *check, const struct sp_finding *finding, const void *context)
{
    (void)context;
    if (finding->kind != SP_FINDING_SHAPE) return false;
    const struct sp_tensor *tensor = sp_inventory_tensor(check->inventory, finding->tensor);
    const struct sp_predicted *expected = sp_prediction_tensor(check->prediction, finding->predicted);
    return (check->match.renaming[finding->tensor] & SP_RESPELT) && strstr(tensor->name, "/kernel") &&
           tensor->rank == expected->rank && sp_is_transposed(tensor->shape, expected->shape, tensor->rank);
}

void sp_explain_kernels(struct sp_check *check)
{
    struct sp_cause *cause = sp_gather(check, SP_CAUSE_KERNELS, is_kernel_finding, NULL);
    if (!cause) return;
    cause->message = sp_arena_printf(&check->arena, "kernels are transposed, as TensorFlow has them (%s)",
                                     sp_tensors_of(check, cause));
    cause->hint = "square ones are transposed too, which no shape tells: convert all that is called kernel";
}
