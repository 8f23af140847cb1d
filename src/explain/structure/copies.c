/* SPDX-License-Identifier: MIT
 * A second copy of the model under a prefix, such as its moving average. */
#include <stdlib.h>
#include <string.h>

#include "base/order.h"
#include "explain/gather.h"
#include "model/layouts.h"
#include "names/components.h"
#include "names/wrappers.h"

/* What copies are of. */
struct originals {
    struct shapeproof_check *check;
    bool *own;              /* which tensors of the file are the model's */
    bool *has_copy;         /* of which of them there is a copy */
    struct sp_map undotted; /* tensors by their names without dots, as trainers of latent diffusion call a copy */
    bool has_undotted;      /* whether note_undotted has filled it: it may stay empty */
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
    originals->has_undotted = true;
    for (size_t i = 0; i < shapeproof_inventory_count(check->inventory); i++) {
        struct sp_text name = {0};
        if (!originals->own[i]) continue;
        sp_naming_apply(&check->naming, shapeproof_inventory_tensor(check->inventory, i)->name, &name);
        sp_map_add(&originals->undotted, without_dots(&originals->arena, name.data), i);
        sp_text_free(&name);
    }
}

/* The tensor of the model that the rest of a name stands for, another one than the tensor; or SHAPEPROOF_NONE. */
static size_t find_named(struct originals *originals, size_t tensor, const char *rest)
{
    size_t original = find_original(originals->check, rest);
    if (original == SHAPEPROOF_NONE && !strchr(rest, '.')) {
        if (!originals->has_undotted) note_undotted(originals);
        original = sp_map_get(&originals->undotted, rest);
    }
    if (original == SHAPEPROOF_NONE || original == tensor || !originals->own[original]) return SHAPEPROOF_NONE;
    return original;
}

static bool has_same_dims(const struct shapeproof_check *check, size_t a, size_t b)
{
    const struct shapeproof_tensor *one = shapeproof_inventory_tensor(check->inventory, a),
                                   *other = shapeproof_inventory_tensor(check->inventory, b);
    return sp_same_dims(one->shape, one->rank, other->shape, other->rank);
}

/* The length of what is in front of the name of another tensor, `*original`, that this one is a copy of; 0 when it is
 * none. */
static size_t copy_prefix(struct originals *originals, const struct shapeproof_finding *finding, size_t *original)
{
    enum { DEEPEST = 4 };
    const struct shapeproof_check *check = originals->check;
    const char *name = shapeproof_inventory_tensor(check->inventory, finding->tensor)->name, *rest = name;
    for (int depth = 0; depth < DEEPEST && (rest = strchr(rest, '.')) != NULL; depth++) {
        *original = find_named(originals, finding->tensor, ++rest);
        if (*original != SHAPEPROOF_NONE && has_same_dims(check, finding->tensor, *original))
            return (size_t)(rest - name);
    }
    return 0;
}

/* The prefix under which there are copies of at least half the model, or NULL; marks their findings, and the tensors
 * that they are copies of. */
static const char *common_prefix(struct originals *originals, bool *copied)
{
    struct shapeproof_check *check = originals->check;
    const char *prefix = NULL;
    size_t count = 0, others = 0, original;
    for (size_t i = 0; i < check->finding_count; i++) {
        const struct shapeproof_finding *finding = &check->findings[i];
        const size_t length = sp_finding_is_open_as(finding, SHAPEPROOF_FINDING_UNEXPECTED)
                                  ? copy_prefix(originals, finding, &original)
                                  : 0;
        if (length && !prefix) prefix = sp_arena_copy(&check->arena, finding->name, length);
        copied[i] = length && strncmp(prefix, finding->name, strlen(prefix)) == 0;
        if (copied[i]) originals->has_copy[original] = true;
        count += copied[i];
        others += length && !copied[i];
    }
    return count > 1 && count >= sp_check_matched(check) / 2 && count > others ? prefix : NULL;
}

/* Whether the tensor of the file is no buffer, and not one that the model may lack. */
static bool is_parameter(const struct shapeproof_check *check, size_t tensor)
{
    const size_t index = check->match.predicted_of[tensor];
    if (index == SHAPEPROOF_NONE) return true;
    const struct shapeproof_predicted *predicted = shapeproof_prediction_tensor(check->prediction, index);
    return !predicted->optional && !predicted->buffer;
}

/* Tensors of the copy whose originals have another shape. */
struct reshaped {
    size_t count, first, original; /* the first of them, and its original */
};

/* Marks the findings and the originals of parameters that have another shape below the prefix. */
static struct reshaped mark_reshaped(struct originals *originals, const char *prefix, bool *copied)
{
    const struct shapeproof_check *check = originals->check;
    const size_t length = strlen(prefix);
    struct reshaped reshaped = {0};
    for (size_t i = 0; i < check->finding_count; i++) {
        const struct shapeproof_finding *finding = &check->findings[i];
        if (copied[i] || !sp_finding_is_open_as(finding, SHAPEPROOF_FINDING_UNEXPECTED)) continue;
        const char *name = shapeproof_inventory_tensor(check->inventory, finding->tensor)->name;
        if (strncmp(name, prefix, length) != 0) continue;
        const size_t original = find_named(originals, finding->tensor, name + length);
        if (original == SHAPEPROOF_NONE || originals->has_copy[original] || !is_parameter(check, original)) continue;
        copied[i] = originals->has_copy[original] = true;
        if (!reshaped.count++) {
            reshaped.first = finding->tensor;
            reshaped.original = original;
        }
    }
    return reshaped;
}

/* How many parameters of the model have no copy; `*first` is one of them. */
static size_t count_lacking(const struct originals *originals, size_t *first)
{
    const struct shapeproof_check *check = originals->check;
    size_t count = 0;
    for (size_t i = 0; i < shapeproof_prediction_count(check->prediction); i++) {
        const size_t own = check->match.tensor_of[i];
        if (own == SHAPEPROOF_NONE || originals->has_copy[own] || !is_parameter(check, own)) continue;
        if (shapeproof_inventory_tensor(check->inventory, own)->same_as != SHAPEPROOF_NONE) continue;
        if (!count++) *first = own;
    }
    return count;
}

static const char *and_more(struct shapeproof_check *check, size_t count)
{
    return count > 1 ? sp_arena_printf(&check->arena, " and %zu more", count - 1) : "";
}

/* "ema.lm_head.weight has the shape (90, 24), lm_head.weight (97, 24)": a copy cannot come from that model. */
static void describe_reshaped(struct shapeproof_check *check, struct shapeproof_cause *cause,
                              const struct reshaped *reshaped)
{
    struct sp_arena *arena = &check->arena;
    const struct shapeproof_tensor *copy = shapeproof_inventory_tensor(check->inventory, reshaped->first),
                                   *original = shapeproof_inventory_tensor(check->inventory, reshaped->original);
    if (!reshaped->count) return;
    cause->severity = SHAPEPROOF_SEVERITY_ERROR;
    cause->message = sp_arena_printf(arena, "%s, but with other shapes: %s is %s, %s is %s%s", cause->message,
                                     copy->name, sp_found_shape(arena, copy), original->name,
                                     sp_found_shape(arena, original), and_more(check, reshaped->count));
    cause->hint = "one of the two copies was changed after the other was made: take both from one checkpoint";
}

/* An average may lack what was not trained. Weights that lack what their average has were lost. */
static void describe_lacking(struct originals *originals, struct shapeproof_cause *cause, const char *prefix)
{
    struct shapeproof_check *check = originals->check;
    size_t first = SHAPEPROOF_NONE;
    const size_t lacking = count_lacking(originals, &first);
    if (!lacking) return;
    cause->message =
        sp_arena_printf(&check->arena, "%s, which lacks %s%s", cause->message,
                        shapeproof_inventory_tensor(check->inventory, first)->name, and_more(check, lacking));
    if (!sp_is_of_average(prefix)) cause->severity = SHAPEPROOF_SEVERITY_ERROR;
}

void sp_explain_copies(struct shapeproof_check *check)
{
    const size_t tensors = shapeproof_inventory_count(check->inventory);
    bool *copied = sp_realloc(NULL, check->finding_count, sizeof *copied);
    struct originals originals = {.check = check, .own = find_own(check)};
    originals.has_copy = sp_realloc(NULL, tensors, sizeof *originals.has_copy);
    memset(originals.has_copy, 0, tensors * sizeof *originals.has_copy);
    const char *prefix = common_prefix(&originals, copied);
    if (prefix) {
        const struct reshaped reshaped = mark_reshaped(&originals, prefix, copied);
        struct shapeproof_cause *cause = sp_gather(check, SP_CAUSE_COPY, sp_is_marked, copied);
        cause->message = sp_arena_printf(&check->arena, "the file holds a second copy of %s below '%s'",
                                         sp_tensors_of(check, cause), prefix);
        cause->hint = strncmp(prefix, "current_model_state.", 20) == 0
                          ? "it is a checkpoint of WeightAveraging: state_dict has the averaged weights, "
                            "current_model_state those that are trained"
                          : "loaders ignore one of the two copies: make sure that they load the one that you need";
        describe_lacking(&originals, cause, prefix);
        describe_reshaped(check, cause, &reshaped);
    }
    sp_map_free(&originals.undotted);
    sp_arena_free(&originals.arena);
    sp_free(originals.own);
    sp_free(originals.has_copy);
    sp_free(copied);
}
