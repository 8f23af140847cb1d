/* SPDX-License-Identifier: MIT
 * An embedding and a head that disagree on the vocabulary: no single size explains both. */
#include <inttypes.h>

#include "explain/gather.h"
#include "explain/vocabulary.h"
#include "lang/prediction.h"

/* The first dimension that differs and is about the vocabulary; false when the tensor differs in another as well. */
static bool vocabulary_dimension(const struct sp_check *check, const struct sp_finding *finding, uint32_t *dimension)
{
    if (!sp_finding_is_open_as(finding, SP_FINDING_SHAPE)) return false;
    const struct sp_tensor *tensor = sp_inventory_tensor(check->inventory, finding->tensor);
    const struct sp_predicted *expected = sp_prediction_tensor(check->prediction, finding->predicted);
    size_t differing = 0;
    for (uint32_t d = 0; d < expected->rank && tensor->rank == expected->rank; d++)
        if (tensor->shape[d] != expected->shape[d] && ++differing) *dimension = d;
    if (differing != 1) return false;
    const size_t key = sp_prediction_dimension_key(check->prediction, finding->predicted, *dimension);
    return key != SP_NONE && sp_is_vocabulary(sp_prediction_hyperparameter(check->prediction, key).name);
}

/* A matched tensor of that many rows of the same hyper-parameter, in its expected shape; SP_NONE without one. */
static size_t counterpart(const struct sp_check *check, size_t key, uint64_t rows)
{
    for (size_t i = 0; i < sp_prediction_count(check->prediction); i++) {
        const struct sp_predicted *predicted = sp_prediction_tensor(check->prediction, i);
        const size_t tensor = check->match.tensor_of[i];
        if (tensor == SP_NONE || !predicted->rank || predicted->shape[0] != rows) continue;
        if (!sp_same_shape(sp_inventory_tensor(check->inventory, tensor), predicted)) continue;
        if (sp_prediction_dimension_key(check->prediction, i, 0) == key) return tensor;
    }
    return SP_NONE;
}

static void describe_disagreement(struct sp_check *check, struct sp_cause *cause, const struct sp_finding *finding,
                                  uint32_t dimension)
{
    const uint64_t found = sp_inventory_tensor(check->inventory, finding->tensor)->shape[dimension];
    const uint64_t expected = sp_prediction_tensor(check->prediction, finding->predicted)->shape[dimension];
    const size_t key = sp_prediction_dimension_key(check->prediction, finding->predicted, dimension);
    const size_t other = counterpart(check, key, expected);
    const struct sp_hyperparameter hyper = sp_prediction_hyperparameter(check->prediction, key);
    const char *beside = "";
    if (other != SP_NONE)
        beside = sp_arena_printf(&check->arena, ", %s %" PRIu64, sp_inventory_tensor(check->inventory, other)->name,
                                 expected);
    cause->message = sp_arena_printf(&check->arena, "%s has %" PRIu64 " rows%s%s: %s", finding->name, found,
                                     sp_vocabulary_change(check, expected, found), beside, sp_said(check, hyper));
    cause->hint = "no single vocabulary size fits both: resize one of them";
}

/* What one size of the vocabulary cannot explain: sp_explain_hyperparameters has tried. */
void sp_explain_vocabulary(struct sp_check *check)
{
    enum { MOST = 4 }; /* an embedding, a head, its bias: more would be something else */
    size_t count = 0;
    for (size_t i = 0; i < check->finding_count && count < MOST; i++) {
        uint32_t dimension;
        if (!vocabulary_dimension(check, &check->findings[i], &dimension)) continue;
        struct sp_cause *cause = sp_blame(check, SP_CAUSE_VOCABULARY);
        sp_attribute_finding(check, i, cause);
        describe_disagreement(check, cause, &check->findings[i], dimension);
        count++;
    }
}
