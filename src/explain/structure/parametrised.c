/* SPDX-License-Identifier: MIT
 * Weights that are stored under a parametrisation: weight norm, spectral norm, a mask of pruning. */
#include <stdlib.h>
#include <string.h>

#include "base/order.h"
#include "explain/gather.h"
#include "explain/models/asked.h"
#include "model/layouts.h"
#include "model/parametrised.h"

struct parametrised {
    struct shapeproof_check *check;
    size_t *of_predicted; /* the open finding that says that it is missing, or not stored because it is tied */
    size_t *of_tensor;    /* that says that it is unexpected */
    bool *marks;          /* findings of the cause that is being made */
};

static size_t *no_findings(size_t count)
{
    size_t *list = sp_realloc(NULL, count, sizeof *list);
    for (size_t i = 0; i < count; i++) list[i] = SHAPEPROOF_NONE;
    return list;
}

static void list_findings(struct parametrised *all)
{
    struct shapeproof_check *check = all->check;
    all->of_predicted = no_findings(shapeproof_prediction_count(check->prediction));
    all->of_tensor = no_findings(shapeproof_inventory_count(check->inventory));
    all->marks = sp_realloc(NULL, check->finding_count, sizeof *all->marks);
    for (size_t i = 0; i < check->finding_count; i++) {
        const struct shapeproof_finding *finding = &check->findings[i];
        const bool is_tied = finding->kind == SHAPEPROOF_FINDING_TIED_ABSENT && finding->cause == SHAPEPROOF_NONE;
        if (is_tied || sp_finding_is_open_as(finding, SHAPEPROOF_FINDING_MISSING))
            all->of_predicted[finding->predicted] = i;
        if (sp_finding_is_open_as(finding, SHAPEPROOF_FINDING_UNEXPECTED)) all->of_tensor[finding->tensor] = i;
    }
}

/* The finding that the weight is missing; SHAPEPROOF_NONE where it is not, or one of its parts is not unexpected. */
static size_t find_missing(const struct parametrised *all, const struct sp_parametrised *stored)
{
    struct sp_text name = {0};
    sp_naming_apply(&all->check->naming, stored->weight, &name);
    const size_t predicted = shapeproof_prediction_find(all->check->prediction, name.data);
    size_t missing = predicted == SHAPEPROOF_NONE ? SHAPEPROOF_NONE : all->of_predicted[predicted];
    for (size_t i = 0; i < stored->count; i++)
        if (all->of_tensor[stored->parts[i]] == SHAPEPROOF_NONE) missing = SHAPEPROOF_NONE;
    sp_text_free(&name);
    return missing;
}

static bool has_predicted_shape(const struct parametrised *all, const struct sp_parametrised *stored, size_t missing)
{
    const struct shapeproof_predicted *predicted =
        shapeproof_prediction_tensor(all->check->prediction, all->check->findings[missing].predicted);
    const struct shapeproof_tensor *like = shapeproof_inventory_tensor(all->check->inventory, stored->like);
    return sp_same_dims(like->shape, like->rank, predicted->shape, predicted->rank);
}

static void mark_findings(const struct parametrised *all, const struct sp_parametrised *stored, size_t missing)
{
    all->marks[missing] = true;
    for (size_t i = 0; i < stored->count; i++) all->marks[all->of_tensor[stored->parts[i]]] = true;
}

/* One cause for all weights that are stored in this way and have the predicted shape. */
static void explain_whole(const struct parametrised *all, const struct sp_parametrised *stored, size_t count,
                          const char *how)
{
    struct sp_arena *arena = &all->check->arena;
    const struct sp_parametrised *first = NULL;
    size_t weights = 0;
    memset(all->marks, 0, all->check->finding_count * sizeof *all->marks);
    for (size_t i = 0; i < count; i++) {
        if (!stored[i].is_whole || strcmp(stored[i].how, how) != 0) continue;
        const size_t missing = find_missing(all, &stored[i]);
        if (missing == SHAPEPROOF_NONE || !has_predicted_shape(all, &stored[i], missing)) continue;
        mark_findings(all, &stored[i], missing);
        if (!weights++) first = &stored[i];
    }
    if (!first) return;
    struct shapeproof_cause *cause = sp_gather(all->check, SP_CAUSE_PARAMETRISED, sp_is_marked, all->marks);
    cause->message = sp_arena_printf(arena, "%s %s stored under %s, such as %s as %s",
                                     sp_count_of(arena, weights, "weight"), weights == 1 ? "is" : "are", how,
                                     first->weight, sp_parametrised_list_parts(arena, all->check->inventory, first));
    cause->hint =
        first->is_quantised
            ? "load it into a model that was quantised in the same way: torch.ao.quantization.quantize_dynamic "
              "for linear layers, before load_state_dict"
            : "load it into a model with the same parametrisation, or remove it before saving: "
              "remove_parametrizations, remove_weight_norm, prune.remove of torch.nn.utils";
}

/* A cause for each weight of which a part is absent, or has another shape than the others or the predicted one. */
static void explain_part(const struct parametrised *all, const struct sp_parametrised *stored)
{
    struct sp_arena *arena = &all->check->arena;
    const size_t missing = find_missing(all, stored);
    if (missing == SHAPEPROOF_NONE || (stored->is_whole && has_predicted_shape(all, stored, missing))) return;
    memset(all->marks, 0, all->check->finding_count * sizeof *all->marks);
    mark_findings(all, stored, missing);
    const struct shapeproof_predicted *predicted =
        shapeproof_prediction_tensor(all->check->prediction, all->check->findings[missing].predicted);
    const char *expected = sp_shape_text(arena, predicted->shape, predicted->rank);
    struct shapeproof_cause *cause = sp_gather(all->check, SP_CAUSE_PARAMETRISED_PART, sp_is_marked, all->marks);
    cause->message = stored->lack ? sp_arena_printf(arena, "%s is stored under %s, and a part is missing: %s",
                                                    stored->weight, stored->how, stored->lack)
                     : stored->is_whole
                         ? sp_arena_printf(arena, "%s is stored under %s with another shape than the predicted %s: %s",
                                           stored->weight, stored->how, expected,
                                           sp_parametrised_list_parts(arena, all->check->inventory, stored))
                         : sp_arena_printf(arena, "%s is stored under %s, and the shapes of its parts do not agree: %s",
                                           stored->weight, stored->how,
                                           sp_parametrised_list_parts(arena, all->check->inventory, stored));
    cause->hint = stored->is_whole ? "use the configuration that the model was trained with"
                                   : "the model cannot be restored from this file: save it again";
}

void sp_explain_parametrised(struct shapeproof_check *check)
{
    enum { MOST_PARTS = 20 }; /* causes of their own; further ones are left as findings */
    struct parametrised all = {.check = check};
    size_t count;
    if (!sp_check_open(check)) return;
    const struct sp_parametrised *stored = sp_ask_parametrised(check->asked, check->inventory, &count);
    if (!count) return;
    list_findings(&all);
    for (size_t i = 0; i < count; i++) {
        bool is_first = true;
        for (size_t k = 0; k < i && is_first; k++) is_first = strcmp(stored[k].how, stored[i].how) != 0;
        if (is_first) explain_whole(&all, stored, count, stored[i].how);
    }
    for (size_t i = 0, parts = check->cause_count; i < count && check->cause_count < parts + MOST_PARTS; i++)
        explain_part(&all, &stored[i]);
    sp_free(all.of_predicted);
    sp_free(all.of_tensor);
    sp_free(all.marks);
}
