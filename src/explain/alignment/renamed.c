/* SPDX-License-Identifier: MIT
 * Tensors that are missing under one name and there under another. */
#include <stdlib.h>
#include <string.h>

#include "explain/gather.h"
#include "explain/renaming.h"

/* Whether the finding was paired with another one; `others` is what sp_pair_renamed returns. */
static bool has_other_name(const struct shapeproof_check *check, const struct shapeproof_finding *finding,
                           const void *others)
{
    return ((const size_t *)others)[finding - check->findings] != SHAPEPROOF_NONE;
}

static const char *last_component(const char *name)
{
    const char *dot = strrchr(name, '.');
    return dot ? dot + 1 : name;
}

/* Whether an unexpected matrix has the shape and the last component of the missing one: "v_head.weight" for
 * "score.weight". */
static bool is_like(const struct shapeproof_check *check, const struct shapeproof_finding *missing,
                    const struct shapeproof_finding *unexpected)
{
    const struct shapeproof_predicted *predicted = shapeproof_prediction_tensor(check->prediction, missing->predicted);
    const struct shapeproof_tensor *tensor = shapeproof_inventory_tensor(check->inventory, unexpected->tensor);
    return predicted->rank > 1 && sp_same_shape(tensor, predicted) &&
           strcmp(last_component(predicted->name), last_component(tensor->name)) == 0;
}

/* One cause if exactly two findings are open, a missing matrix and an unexpected one that is like it: the head of a
 * reward model is called value_head or score. */
static void explain_single(struct shapeproof_check *check)
{
    size_t missing = SHAPEPROOF_NONE, unexpected = SHAPEPROOF_NONE;
    for (size_t i = 0; i < check->finding_count; i++) {
        if (!sp_finding_is_open(&check->findings[i])) continue;
        const enum shapeproof_finding_kind kind = check->findings[i].kind;
        if (kind == SHAPEPROOF_FINDING_MISSING && missing == SHAPEPROOF_NONE) missing = i;
        else if (kind == SHAPEPROOF_FINDING_UNEXPECTED && unexpected == SHAPEPROOF_NONE) unexpected = i;
        else return; /* a second one, or of another kind */
    }
    if (missing == SHAPEPROOF_NONE || unexpected == SHAPEPROOF_NONE) return;
    if (!is_like(check, &check->findings[missing], &check->findings[unexpected])) return;
    struct shapeproof_cause *cause = sp_blame(check, SP_CAUSE_RENAMED);
    sp_attribute_finding(check, missing, cause);
    sp_attribute_finding(check, unexpected, cause);
    cause->message = sp_arena_printf(&check->arena, "renamed: %s is missing, and %s has its shape",
                                     check->findings[missing].name, check->findings[unexpected].name);
}

void sp_explain_renamed(struct shapeproof_check *check)
{
    const char *says;
    size_t *others = sp_pair_renamed(check, &says);
    struct shapeproof_cause *cause = sp_gather(check, SP_CAUSE_RENAMED, has_other_name, others);
    if (cause) cause->message = says;
    sp_free(others);
    explain_single(check);
}
