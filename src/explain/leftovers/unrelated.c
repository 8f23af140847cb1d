/* SPDX-License-Identifier: MIT
 * A file of something else: not one predicted tensor is there. */
#include "explain/leftovers/unrelated.h"

#include "explain/gather.h"

static bool is_any_open(const struct shapeproof_check *check, const struct shapeproof_finding *finding,
                        const void *context)
{
    (void)check;
    (void)context;
    return sp_finding_is_open(finding);
}

/* Whether a tensor that is missing was found all the same, under another name or in another layout. */
static bool is_any_found(const struct shapeproof_check *check)
{
    for (size_t i = 0; i < check->finding_count; i++) {
        const struct shapeproof_finding *finding = &check->findings[i];
        if (finding->kind == SHAPEPROOF_FINDING_MISSING && finding->cause != SHAPEPROOF_NONE &&
            check->causes[finding->cause].severity != SHAPEPROOF_SEVERITY_NOTE)
            return true;
    }
    return false;
}

bool sp_is_unrelated(const struct shapeproof_check *check) { return !sp_check_matched(check) && !is_any_found(check); }

void sp_explain_unrelated(struct shapeproof_check *check)
{
    struct shapeproof_cause *cause =
        sp_is_unrelated(check) ? sp_gather(check, SP_CAUSE_UNRELATED, is_any_open, NULL) : NULL;
    if (!cause) return;
    cause->message = shapeproof_inventory_count(check->inventory)
                         ? sp_arena_printf(&check->arena, "no tensor of the file is one that the table %s predicts",
                                           shapeproof_prediction_table(check->prediction))
                         : "the file holds no tensors";
}
