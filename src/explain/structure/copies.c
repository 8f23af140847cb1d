/* SPDX-License-Identifier: MIT
 * A second copy of the model under a prefix, such as its moving average. */
#include <stdlib.h>
#include <string.h>

#include "base/order.h"
#include "explain/gather.h"

/* The tensor of the file that the rest of a name stands for, of the same shape and where it is expected; or SP_NONE. */
static bool is_copy_of(const struct sp_check *check, const struct sp_tensor *tensor, const char *rest)
{
    const size_t predicted = sp_prediction_find(check->prediction, rest);
    size_t original = sp_inventory_find(check->inventory, rest);
    if (original == SP_NONE && predicted != SP_NONE) original = check->match.tensor_of[predicted];
    if (original == SP_NONE || check->match.predicted_of[original] == SP_NONE) return false;
    const struct sp_tensor *other = sp_inventory_tensor(check->inventory, original);
    return other != tensor && sp_same_dims(other->shape, other->rank, tensor->shape, tensor->rank);
}

/* The length of what is in front of the name of another tensor that this one is a copy of; 0 when it is none. */
static size_t copy_prefix(const struct sp_check *check, const struct sp_finding *finding)
{
    enum { DEEPEST = 4 };
    const struct sp_tensor *tensor = sp_inventory_tensor(check->inventory, finding->tensor);
    const char *rest = tensor->name;
    for (int depth = 0; depth < DEEPEST && (rest = strchr(rest, '.')) != NULL; depth++)
        if (is_copy_of(check, tensor, ++rest)) return (size_t)(rest - tensor->name);
    return 0;
}

/* The prefix under which there are copies of at least half the model, or NULL; marks their findings. */
static const char *common_prefix(struct sp_check *check, bool *copied)
{
    const char *prefix = NULL;
    size_t count = 0, others = 0;
    for (size_t i = 0; i < check->finding_count; i++) {
        const struct sp_finding *finding = &check->findings[i];
        const size_t length = sp_finding_is_open_as(finding, SP_FINDING_UNEXPECTED) ? copy_prefix(check, finding) : 0;
        if (length && !prefix) prefix = sp_arena_copy(&check->arena, finding->name, length);
        copied[i] = length && strncmp(prefix, finding->name, strlen(prefix)) == 0;
        count += copied[i];
        others += length && !copied[i];
    }
    return count > 1 && count >= sp_check_matched(check) / 2 && count > others ? prefix : NULL;
}

void sp_explain_copies(struct sp_check *check)
{
    bool *copied = sp_realloc(NULL, check->finding_count, sizeof *copied);
    const char *prefix = common_prefix(check, copied);
    if (prefix) {
        struct sp_cause *cause = sp_gather(check, SP_CAUSE_COPY, sp_is_marked, copied);
        cause->message = sp_arena_printf(&check->arena, "the file holds a second copy of %s below '%s'",
                                         sp_tensors_of(check, cause), prefix);
        cause->hint = "loaders ignore one of the two: make sure that it is not the one you mean";
    }
    free(copied);
}
