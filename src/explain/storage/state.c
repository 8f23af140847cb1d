/* SPDX-License-Identifier: MIT
 * The state of an optimizer or trainer beside the model. */
#include "explain/gather.h"

static bool is_state_finding(const struct shapeproof_check *check, const struct shapeproof_finding *finding,
                             const void *context)
{
    (void)check;
    (void)context;
    return finding->kind == SHAPEPROOF_FINDING_STATE;
}

void sp_explain_state(struct shapeproof_check *check)
{
    struct shapeproof_cause *cause = sp_gather(check, SP_CAUSE_STATE, is_state_finding, NULL);
    if (cause)
        cause->message = sp_arena_printf(&check->arena, "%s of state beside the model", sp_tensors_of(check, cause));
}
