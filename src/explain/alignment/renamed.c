/* SPDX-License-Identifier: MIT
 * Tensors that are missing under one name and there under another. */
#include <stdlib.h>
#include <string.h>

#include "explain/gather.h"
#include "explain/renaming.h"

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

/* Whether a stranger is what is missing by all but its name: the shape, and the last component. */
static bool is_like(const struct shapeproof_check *check, const struct shapeproof_finding *missing,
                    const struct shapeproof_finding *stranger)
{
    const struct shapeproof_predicted *predicted = shapeproof_prediction_tensor(check->prediction, missing->predicted);
    const struct shapeproof_tensor *tensor = shapeproof_inventory_tensor(check->inventory, stranger->tensor);
    return predicted->rank > 1 && sp_same_shape(tensor, predicted) &&
           strcmp(last_component(predicted->name), last_component(tensor->name)) == 0;
}

/* The only matrix that is missing, and the only one that nothing predicts, where one is like the other: the head of a
 * reward model is called value_head or score. */
static void explain_single(struct shapeproof_check *check)
{
    const struct shapeproof_finding *missing = NULL, *stranger = NULL;
    for (size_t i = 0; i < check->finding_count; i++) {
        const struct shapeproof_finding *finding = &check->findings[i];
        if (!sp_finding_is_open(finding)) continue;
        const struct shapeproof_finding **side = finding->kind == SHAPEPROOF_FINDING_MISSING      ? &missing
                                                 : finding->kind == SHAPEPROOF_FINDING_UNEXPECTED ? &stranger
                                                                                                  : NULL;
        if (!side || *side) return;
        *side = finding;
    }
    if (!missing || !stranger || !is_like(check, missing, stranger)) return;
    const size_t lost = (size_t)(missing - check->findings), found = (size_t)(stranger - check->findings);
    struct shapeproof_cause *cause = sp_blame(check, SP_CAUSE_RENAMED);
    sp_attribute_finding(check, lost, cause);
    sp_attribute_finding(check, found, cause);
    cause->message = sp_arena_printf(&check->arena, "renamed: %s is missing, and %s has its shape",
                                     check->findings[lost].name, check->findings[found].name);
}

void sp_explain_renamed(struct shapeproof_check *check)
{
    const char *says;
    size_t *others = sp_pair_renamed(check, &says);
    struct shapeproof_cause *cause = sp_gather(check, SP_CAUSE_RENAMED, has_other_name, others);
    if (cause) cause->message = says;
    free(others);
    explain_single(check);
}
