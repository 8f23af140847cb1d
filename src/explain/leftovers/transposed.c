/* SPDX-License-Identifier: MIT
 * Matrices that are stored the other way round. */
#include "explain/gather.h"
#include "model/layouts.h"

static bool is_transposed(const struct sp_check *check, const struct sp_finding *finding, const void *context)
{
    (void)context;
    if (finding->kind != SP_FINDING_SHAPE) return false;
    const struct sp_tensor *tensor = sp_inventory_tensor(check->inventory, finding->tensor);
    const struct sp_predicted *expected = sp_prediction_tensor(check->prediction, finding->predicted);
    return tensor->rank == expected->rank && sp_is_transposed(tensor->shape, expected->shape, tensor->rank);
}

void sp_explain_transposed(struct sp_check *check)
{
    struct sp_cause *cause = sp_gather(check, SP_CAUSE_TRANSPOSED, is_transposed, NULL);
    if (!cause) return;
    const struct sp_finding *first = sp_first_of(check, cause);
    if (cause->explains > 1) sp_say(check, cause, "stored transposed");
    else cause->message = sp_arena_printf(&check->arena, "%s is stored transposed: %s", first->name, first->message);
}
