/* SPDX-License-Identifier: MIT
 * Kernels of TensorFlow: what is called so is transposed, and every converter knows that. */
#include <string.h>

#include "explain/gather.h"

static bool is_kernel_finding(const struct shapeproof_check *check, const struct shapeproof_finding *finding,
                              const void *context)
{
    return sp_has_transposed_shape(check, finding, context) && (check->match.renaming[finding->tensor] & SP_RESPELT) &&
           strstr(shapeproof_inventory_tensor(check->inventory, finding->tensor)->name, "/kernel");
}

void sp_explain_kernels(struct shapeproof_check *check)
{
    struct shapeproof_cause *cause = sp_gather(check, SP_CAUSE_KERNELS, is_kernel_finding, NULL);
    if (!cause) return;
    cause->message = sp_arena_printf(&check->arena, "kernels are transposed, as TensorFlow has them (%s)",
                                     sp_tensors_of(check, cause));
    cause->hint = "square kernels are transposed too, although their shapes do not show it: convert every tensor "
                  "that is called kernel";
}
