/* SPDX-License-Identifier: MIT
 * How much the file holds, counted in several ways. */
#include <stdlib.h>
#include <string.h>

#include "check/check.h"

/* An unexpected tensor that a harmless cause explains is no parameter: a mask, a position. What an adapter has for
 * another model of a pipeline is one. */
static bool is_harmless_stranger(const struct shapeproof_check *check, size_t finding)
{
    if (finding == SHAPEPROOF_NONE || check->findings[finding].kind != SHAPEPROOF_FINDING_UNEXPECTED) return false;
    const size_t cause = check->findings[finding].cause;
    return cause != SHAPEPROOF_NONE && check->causes[cause].severity == SHAPEPROOF_SEVERITY_NOTE &&
           strcmp(check->causes[cause].id, "adapter-component") != 0;
}

/* What a training saves outside of the model. */
static bool is_outside(const struct shapeproof_check *check, size_t finding)
{
    const size_t cause = finding == SHAPEPROOF_NONE ? SHAPEPROOF_NONE : check->findings[finding].cause;
    return cause != SHAPEPROOF_NONE && strcmp(check->causes[cause].id, "outside") == 0;
}

/* What a tensor is that shares no storage with an earlier one. */
static enum sp_share share_of(const struct shapeproof_check *check, size_t tensor, size_t finding)
{
    const size_t predicted = check->match.predicted_of[tensor];
    if (predicted == SHAPEPROOF_NONE) {
        if (sp_match_tensor(&check->match, tensor) == SP_STATE || is_outside(check, finding)) return SP_SHARE_STATE;
        return is_harmless_stranger(check, finding) ? SP_SHARE_BUFFER : SP_SHARE_LOGICAL;
    }
    if (shapeproof_prediction_tensor(check->prediction, predicted)->buffer) return SP_SHARE_BUFFER;
    return sp_match_predicted(&check->match, predicted) == SP_TIED_PRESENT ? SP_SHARE_COPY : SP_SHARE_LOGICAL;
}

uint64_t sp_parameters_in(const struct shapeproof_check *check, size_t tensor)
{
    const size_t predicted = check->match.predicted_of[tensor];
    const struct shapeproof_predicted *expected =
        predicted == SHAPEPROOF_NONE ? NULL : shapeproof_prediction_tensor(check->prediction, predicted);
    return expected && expected->stands_for ? expected->logical
                                            : shapeproof_inventory_tensor(check->inventory, tensor)->parameters;
}

/* For each tensor of the file its finding, or SHAPEPROOF_NONE. */
static size_t *findings_of(const struct shapeproof_check *check)
{
    const size_t total = shapeproof_inventory_count(check->inventory);
    size_t *findings = sp_realloc(NULL, total, sizeof *findings);
    for (size_t i = 0; i < total; i++) findings[i] = SHAPEPROOF_NONE;
    for (size_t i = 0; i < check->finding_count; i++)
        if (check->findings[i].tensor != SHAPEPROOF_NONE) findings[check->findings[i].tensor] = i;
    return findings;
}

enum sp_share *sp_shares(const struct shapeproof_check *check)
{
    const size_t total = shapeproof_inventory_count(check->inventory);
    enum sp_share *shares = sp_realloc(NULL, total, sizeof *shares);
    size_t *findings = findings_of(check);
    for (size_t i = 0; i < total; i++) shares[i] = share_of(check, i, findings[i]);
    sp_free(findings);
    return shares;
}

/* Sums of parts of the inventory's total, which fits in 64 bits. */
static void add_to_count(struct shapeproof_counts *counts, enum sp_share share, uint64_t elements, uint64_t parameters)
{
    counts->unique_tensors++;
    if (share == SP_SHARE_COPY) counts->copies += elements;
    if (share == SP_SHARE_BUFFER) counts->buffers += elements;
    if (share == SP_SHARE_STATE) counts->state += elements;
    if (share != SP_SHARE_LOGICAL) return;
    counts->logical_tensors += parameters || !elements; /* scales belong to another */
    if (__builtin_add_overflow(counts->logical, parameters, &counts->logical)) counts->logical = UINT64_MAX;
}

/* Predicted tensors that hold parameters of their own. */
static uint64_t predicted_tensors(const struct shapeproof_prediction *prediction)
{
    uint64_t count = 0;
    for (size_t i = 0; i < shapeproof_prediction_count(prediction); i++) {
        const struct shapeproof_predicted *tensor = shapeproof_prediction_tensor(prediction, i);
        if (tensor->optional || tensor->buffer || tensor->same_as != SHAPEPROOF_NONE) continue;
        count += tensor->logical || !tensor->parameters;
    }
    return count;
}

void sp_count(struct shapeproof_check *check)
{
    const struct shapeproof_totals *found = shapeproof_inventory_totals(check->inventory);
    struct shapeproof_counts *counts = &check->counts;
    enum sp_share *shares = sp_shares(check);
    *counts =
        (struct shapeproof_counts){.predicted_tensors = predicted_tensors(check->prediction),
                                   .predicted = shapeproof_prediction_totals(check->prediction)->unique_parameters,
                                   .stored_tensors = found->tensors,
                                   .stored = found->parameters,
                                   .unique = found->unique_parameters};
    for (size_t i = 0; i < shapeproof_inventory_count(check->inventory); i++) {
        const struct shapeproof_tensor *tensor = shapeproof_inventory_tensor(check->inventory, i);
        if (tensor->same_as == SHAPEPROOF_NONE)
            add_to_count(counts, shares[i], tensor->parameters, sp_parameters_in(check, i));
    }
    sp_free(shares);
}
