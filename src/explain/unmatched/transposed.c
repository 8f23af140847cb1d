/* SPDX-License-Identifier: MIT
 * Matrices that are stored the other way round. */
#include "explain/gather.h"

void sp_explain_transposed(struct shapeproof_check *check)
{
    struct shapeproof_cause *cause = sp_gather(check, SP_CAUSE_TRANSPOSED, sp_has_transposed_shape, NULL);
    if (!cause) return;
    const struct shapeproof_finding *first = sp_first_of(check, cause);
    if (cause->explains > 1) sp_cause_set_message(check, cause, "stored transposed");
    else cause->message = sp_arena_printf(&check->arena, "%s is stored transposed: %s", first->name, first->message);
}
