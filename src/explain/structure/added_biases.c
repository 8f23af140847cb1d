/* SPDX-License-Identifier: MIT
 * Some quantisers give every weight that they pack a bias, whether the model has one there or not. */
#include <stdlib.h>
#include <string.h>

#include "explain/bias_names.h"
#include "explain/gather.h"

/* Whether the file has a bias beside the tensors that are stored in place of a weight. */
static bool has_bias(struct shapeproof_check *check, size_t predicted)
{
    const struct shapeproof_predicted *member = shapeproof_prediction_tensor(check->prediction, predicted);
    const char *name = shapeproof_inventory_tensor(check->inventory, check->match.tensor_of[predicted])->name;
    const size_t stem = strlen(member->stands_for) - strlen("weight"), tail = strlen(member->name) - stem;
    if (strlen(name) <= tail) return false;
    name = sp_arena_printf(&check->arena, "%.*sbias", (int)(strlen(name) - tail), name);
    return shapeproof_inventory_find(check->inventory, name) != SHAPEPROOF_NONE;
}

static bool all_have_biases(struct shapeproof_check *check)
{
    const char *last = NULL;
    for (size_t i = 0; i < shapeproof_prediction_count(check->prediction); i++) {
        const struct shapeproof_predicted *member = shapeproof_prediction_tensor(check->prediction, i);
        if (!member->stands_for || member->stands_for == last || check->match.tensor_of[i] == SHAPEPROOF_NONE) continue;
        const size_t length = strlen(member->stands_for);
        if (length < 7 || strcmp(member->stands_for + length - 7, ".weight") != 0) return false;
        if (!has_bias(check, i)) return false;
        last = member->stands_for;
    }
    return last != NULL;
}

/* Marks what is a bias beside a packed weight. */
static void mark_added(struct shapeproof_check *check, bool *added)
{
    struct sp_map packed = {0};
    sp_map_packed(check, &packed);
    for (size_t i = 0; i < check->finding_count; i++) {
        const struct shapeproof_finding *finding = &check->findings[i];
        const size_t weight = sp_finding_is_open_as(finding, SHAPEPROOF_FINDING_UNEXPECTED)
                                  ? sp_weight_of_stray_bias(check, &packed, finding->name)
                                  : SHAPEPROOF_NONE;
        added[i] = weight != SHAPEPROOF_NONE && shapeproof_prediction_tensor(check->prediction, weight)->stands_for;
    }
    sp_map_free(&packed);
}

void sp_explain_added_biases(struct shapeproof_check *check)
{
    if (!check->quantisation.method || !sp_check_open(check) || !all_have_biases(check)) return;
    bool *added = sp_realloc(NULL, check->finding_count, sizeof *added);
    mark_added(check, added);
    struct shapeproof_cause *cause = sp_gather(check, SP_CAUSE_BIAS, sp_is_marked, added);
    sp_free(added);
    if (!cause) return;
    cause->severity = SHAPEPROOF_SEVERITY_WARNING;
    sp_cause_set_message(check, cause, "the quantiser gave every weight a bias that the model does not have");
    cause->hint = "some loaders ignore these biases, others stop with an error";
}
