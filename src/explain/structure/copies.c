/* SPDX-License-Identifier: MIT
 * A second copy of the model under a prefix, such as its moving average. */
#include <stdlib.h>
#include <string.h>

#include "base/order.h"
#include "explain/gather.h"

/* What copies are of. */
struct originals {
    struct shapeproof_check *check;
    bool *own;              /* which tensors of the file are the model's */
    struct sp_map undotted; /* tensors by their names without dots, as trainers of latent diffusion call a copy */
    struct sp_arena arena;
};

/* Which tensors of the file are the model's: those that are predicted, and those that a cause explains. */
static bool *find_own(const struct shapeproof_check *check)
{
    const size_t count = shapeproof_inventory_count(check->inventory);
    bool *own = sp_realloc(NULL, count, sizeof *own);
    for (size_t i = 0; i < count; i++) own[i] = check->match.predicted_of[i] != SHAPEPROOF_NONE;
    for (size_t i = 0; i < check->finding_count; i++) {
        const struct shapeproof_finding *finding = &check->findings[i];
        if (finding->tensor != SHAPEPROOF_NONE && finding->cause != SHAPEPROOF_NONE) own[finding->tensor] = true;
    }
    return own;
}

/* The tensor that the rest of a name stands for: one of that name, the predicted one, or one that has in front what all
 * names of the model have; or SHAPEPROOF_NONE. */
static size_t find_original(const struct shapeproof_check *check, const char *rest)
{
    const size_t predicted = shapeproof_prediction_find(check->prediction, rest);
    size_t original = shapeproof_inventory_find(check->inventory, rest);
    if (original == SHAPEPROOF_NONE && predicted != SHAPEPROOF_NONE) original = check->match.tensor_of[predicted];
    if (original == SHAPEPROOF_NONE && *check->naming.strip) {
        struct sp_text name = {0};
        sp_text_printf(&name, "%s%s", check->naming.strip, rest);
        original = shapeproof_inventory_find(check->inventory, name.data);
        sp_text_free(&name);
    }
    return original;
}

static const char *without_dots(struct sp_arena *arena, const char *name)
{
    char *text = sp_arena_string(arena, name), *end = text;
    for (const char *p = name; *p; p++)
        if (*p != '.') *end++ = *p;
    *end = '\0';
    return text;
}

static void note_undotted(struct originals *originals)
{
    const struct shapeproof_check *check = originals->check;
    for (size_t i = 0; i < shapeproof_inventory_count(check->inventory); i++) {
        struct sp_text name = {0};
        if (!originals->own[i]) continue;
        sp_naming_apply(&check->naming, shapeproof_inventory_tensor(check->inventory, i)->name, &name);
        sp_map_add(&originals->undotted, without_dots(&originals->arena, name.data), i);
        sp_text_free(&name);
    }
}

/* Whether the rest of a name stands for another tensor of the model, of the same shape. */
static bool is_copy_of(struct originals *originals, const struct shapeproof_tensor *tensor, const char *rest)
{
    const struct shapeproof_check *check = originals->check;
    size_t original = find_original(check, rest);
    if (original == SHAPEPROOF_NONE && !strchr(rest, '.')) {
        if (!originals->undotted.count) note_undotted(originals);
        original = sp_map_get(&originals->undotted, rest);
    }
    if (original == SHAPEPROOF_NONE || !originals->own[original]) return false;
    const struct shapeproof_tensor *other = shapeproof_inventory_tensor(check->inventory, original);
    return other != tensor && sp_same_dims(other->shape, other->rank, tensor->shape, tensor->rank);
}

/* The length of what is in front of the name of another tensor that this one is a copy of; 0 when it is none. */
static size_t copy_prefix(struct originals *originals, const struct shapeproof_finding *finding)
{
    enum { DEEPEST = 4 };
    const struct shapeproof_tensor *tensor = shapeproof_inventory_tensor(originals->check->inventory, finding->tensor);
    const char *rest = tensor->name;
    for (int depth = 0; depth < DEEPEST && (rest = strchr(rest, '.')) != NULL; depth++)
        if (is_copy_of(originals, tensor, ++rest)) return (size_t)(rest - tensor->name);
    return 0;
}

/* The prefix under which there are copies of at least half the model, or NULL; marks their findings. */
static const char *common_prefix(struct originals *originals, bool *copied)
{
    struct shapeproof_check *check = originals->check;
    const char *prefix = NULL;
    size_t count = 0, others = 0;
    for (size_t i = 0; i < check->finding_count; i++) {
        const struct shapeproof_finding *finding = &check->findings[i];
        const size_t length =
            sp_finding_is_open_as(finding, SHAPEPROOF_FINDING_UNEXPECTED) ? copy_prefix(originals, finding) : 0;
        if (length && !prefix) prefix = sp_arena_copy(&check->arena, finding->name, length);
        copied[i] = length && strncmp(prefix, finding->name, strlen(prefix)) == 0;
        count += copied[i];
        others += length && !copied[i];
    }
    return count > 1 && count >= sp_check_matched(check) / 2 && count > others ? prefix : NULL;
}

void sp_explain_copies(struct shapeproof_check *check)
{
    bool *copied = sp_realloc(NULL, check->finding_count, sizeof *copied);
    struct originals originals = {.check = check, .own = find_own(check)};
    const char *prefix = common_prefix(&originals, copied);
    if (prefix) {
        struct shapeproof_cause *cause = sp_gather(check, SP_CAUSE_COPY, sp_is_marked, copied);
        cause->message = sp_arena_printf(&check->arena, "the file holds a second copy of %s below '%s'",
                                         sp_tensors_of(check, cause), prefix);
        cause->hint = strncmp(prefix, "current_model_state.", 20) == 0
                          ? "it is a checkpoint of WeightAveraging: state_dict has the averaged weights, "
                            "current_model_state those that are trained"
                          : "loaders ignore one of the two copies: make sure that they load the one that you need";
    }
    sp_map_free(&originals.undotted);
    sp_arena_free(&originals.arena);
    free(originals.own);
    free(copied);
}
