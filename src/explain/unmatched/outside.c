/* SPDX-License-Identifier: MIT
 * What a training saves beside the model: outside of the prefix, or of the outer key, that holds it.
 *
 *   {"module.model.embed_tokens.weight": ..., "n_averaged": 3}            AveragedModel
 *   {"model": {...}, "best_val_loss": tensor(2.1)}                        a script
 *   {"state_dict": {"model.lm_head.weight": ..., "loss.weight": ...}}     a LightningModule */
#include <string.h>

#include "explain/gather.h"
#include "names/components.h"

/* What the names of the model begin with, "state_dict.model."; "" where they begin as predicted; NULL where they begin
 * in several ways. In the arena. */
static const char *front_of_model(struct shapeproof_check *check)
{
    const char *front = NULL;
    for (size_t i = 0; i < shapeproof_inventory_count(check->inventory); i++) {
        const size_t predicted = check->match.predicted_of[i];
        if (predicted == SHAPEPROOF_NONE) continue;
        const char *name = shapeproof_inventory_tensor(check->inventory, i)->name;
        const char *as = shapeproof_prediction_tensor(check->prediction, predicted)->name;
        const size_t length = strlen(name), tail = strlen(as);
        if (front && strncmp(name, front, strlen(front)) != 0) return NULL;
        if (length < tail || strcmp(name + length - tail, as) != 0) continue;
        if (front && strlen(front) != length - tail) return NULL;
        if (!front) front = sp_arena_copy(&check->arena, name, length - tail);
    }
    return front;
}

/* A number, or the bytes of a generator of random numbers. */
static bool is_count_or_bytes(const struct shapeproof_tensor *tensor)
{
    return tensor->parameters <= 1 || (tensor->rank == 1 && tensor->dtype == SHAPEPROOF_DTYPE_U8);
}

struct outside {
    const char *front;
    bool whole; /* the model has all of its tensors: what else there is, is none of them under another name */
};

/* Whether the tensor that a finding is about lies outside of the front; context: a struct outside. */
static bool lies_outside(const struct shapeproof_check *check, const struct shapeproof_finding *finding,
                         const void *context)
{
    const struct outside *outside = context;
    const char *front = outside->front;
    if (!sp_finding_is_open_as(finding, SHAPEPROOF_FINDING_UNEXPECTED)) return false;
    const struct shapeproof_tensor *tensor = shapeproof_inventory_tensor(check->inventory, finding->tensor);
    if (strncmp(tensor->name, front, strlen(front)) == 0) return false;
    return is_count_or_bytes(tensor) || (outside->whole && tensor->outer);
}

void sp_explain_outside(struct shapeproof_check *check)
{
    static const enum shapeproof_finding_kind missing = SHAPEPROOF_FINDING_MISSING, shape = SHAPEPROOF_FINDING_SHAPE;
    const char *front = front_of_model(check);
    if (!front || !*front || !sp_check_matched(check)) return;
    const struct outside outside = {front, !sp_count_wanted(check, sp_is_open_kind, &missing) &&
                                               !sp_count_wanted(check, sp_is_open_kind, &shape)};
    struct shapeproof_cause *cause = sp_gather(check, SP_CAUSE_OUTSIDE, lies_outside, &outside);
    if (!cause) return;
    cause->message = sp_arena_printf(
        &check->arena, "%s of a trainer, or of a module around the model, %s not have the prefix '%s' of the model: %s",
        sp_tensors_of(check, cause), cause->explains == 1 ? "does" : "do", front, sp_names_of(check, cause));
}
