/* SPDX-License-Identifier: MIT
 * An embedding and a head that disagree on the vocabulary: no single size explains both. */
#include <inttypes.h>

#include "explain/gather.h"
#include "explain/vocabulary.h"
#include "lang/prediction.h"

/* The first dimension that differs and is about the vocabulary; false when the tensor differs in another as well. */
static bool vocabulary_dimension(const struct shapeproof_check *check, const struct shapeproof_finding *finding,
                                 uint32_t *dimension)
{
    if (!sp_finding_is_open_as(finding, SHAPEPROOF_FINDING_SHAPE)) return false;
    const struct shapeproof_tensor *tensor = shapeproof_inventory_tensor(check->inventory, finding->tensor);
    const struct shapeproof_predicted *expected = shapeproof_prediction_tensor(check->prediction, finding->predicted);
    size_t differing = 0;
    for (uint32_t d = 0; d < expected->rank && tensor->rank == expected->rank; d++)
        if (tensor->shape[d] != expected->shape[d] && ++differing) *dimension = d;
    if (differing != 1) return false;
    const size_t key = sp_prediction_dimension_key(check->prediction, finding->predicted, *dimension);
    return key != SHAPEPROOF_NONE &&
           sp_is_vocabulary(shapeproof_prediction_hyperparameter(check->prediction, key)->name);
}

/* A matched tensor of that many rows of the same hyper-parameter, in its expected shape; SHAPEPROOF_NONE without one.
 */
static size_t counterpart(const struct shapeproof_check *check, size_t key, uint64_t rows)
{
    for (size_t i = 0; i < shapeproof_prediction_count(check->prediction); i++) {
        const struct shapeproof_predicted *predicted = shapeproof_prediction_tensor(check->prediction, i);
        const size_t tensor = check->match.tensor_of[i];
        if (tensor == SHAPEPROOF_NONE || !predicted->rank || predicted->shape[0] != rows) continue;
        if (!sp_same_shape(shapeproof_inventory_tensor(check->inventory, tensor), predicted)) continue;
        if (sp_prediction_dimension_key(check->prediction, i, 0) == key) return tensor;
    }
    return SHAPEPROOF_NONE;
}

static void describe_disagreement(struct shapeproof_check *check, struct shapeproof_cause *cause,
                                  const struct shapeproof_finding *finding, uint32_t dimension)
{
    const uint64_t found = shapeproof_inventory_tensor(check->inventory, finding->tensor)->shape[dimension];
    const uint64_t expected = shapeproof_prediction_tensor(check->prediction, finding->predicted)->shape[dimension];
    const size_t key = sp_prediction_dimension_key(check->prediction, finding->predicted, dimension);
    const size_t other = counterpart(check, key, expected);
    const struct shapeproof_hyperparameter hyper = *shapeproof_prediction_hyperparameter(check->prediction, key);
    const char *beside = "";
    if (other != SHAPEPROOF_NONE)
        beside = sp_arena_printf(&check->arena, ", %s %" PRIu64,
                                 shapeproof_inventory_tensor(check->inventory, other)->name, expected);
    cause->message = sp_arena_printf(&check->arena, "%s has %" PRIu64 " rows%s%s: %s", finding->name, found,
                                     sp_vocabulary_change(check, expected, found), beside, sp_said(check, hyper));
    cause->hint = "no single vocabulary size fits both: resize one of them";
}

/* What one size of the vocabulary cannot explain: sp_explain_hyperparameters has tried. */
void sp_explain_vocabulary(struct shapeproof_check *check)
{
    enum { MOST = 4 }; /* an embedding, a head, its bias: more would be something else */
    size_t count = 0;
    for (size_t i = 0; i < check->finding_count && count < MOST; i++) {
        uint32_t dimension;
        if (!vocabulary_dimension(check, &check->findings[i], &dimension)) continue;
        struct shapeproof_cause *cause = sp_blame(check, SP_CAUSE_VOCABULARY);
        sp_attribute_finding(check, i, cause);
        describe_disagreement(check, cause, &check->findings[i], dimension);
        count++;
    }
}
