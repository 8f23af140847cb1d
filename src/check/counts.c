/* SPDX-License-Identifier: MIT
 * How much the file holds, counted in several ways. */
#include <stdlib.h>
#include <string.h>

#include "check/check.h"

enum share { LOGICAL, COPY, BUFFER, STATE };

/* An unexpected tensor that a harmless cause explains is no parameter: a mask, a position. What an adapter has for
 * another model of a pipeline is one. */
static bool is_harmless_stranger(const struct sp_check *check, size_t finding)
{
    if (finding == SP_NONE || check->findings[finding].kind != SP_FINDING_UNEXPECTED) return false;
    const size_t cause = check->findings[finding].cause;
    return cause != SP_NONE && check->causes[cause].severity == SP_SEVERITY_NOTE &&
           strcmp(check->causes[cause].id, "adapter-component") != 0;
}

/* What a training saves outside of the model. */
static bool is_outside(const struct sp_check *check, size_t finding)
{
    const size_t cause = finding == SP_NONE ? SP_NONE : check->findings[finding].cause;
    return cause != SP_NONE && strcmp(check->causes[cause].id, "outside") == 0;
}

/* What a tensor is that shares no storage with an earlier one. */
static enum share share_of(const struct sp_check *check, size_t tensor, size_t finding)
{
    const size_t predicted = check->match.predicted_of[tensor];
    if (predicted == SP_NONE) {
        if (sp_match_tensor(&check->match, tensor) == SP_STATE || is_outside(check, finding)) return STATE;
        return is_harmless_stranger(check, finding) ? BUFFER : LOGICAL;
    }
    if (sp_prediction_tensor(check->prediction, predicted)->buffer) return BUFFER;
    return sp_match_predicted(&check->match, predicted) == SP_TIED_PRESENT ? COPY : LOGICAL;
}

/* Parameters of the model in a tensor: those that a packed weight stands for, none in its scales. */
static uint64_t parameters_in(const struct sp_check *check, size_t tensor)
{
    const size_t predicted = check->match.predicted_of[tensor];
    const struct sp_predicted *expected =
        predicted == SP_NONE ? NULL : sp_prediction_tensor(check->prediction, predicted);
    return expected && expected->stands_for ? expected->logical
                                            : sp_inventory_tensor(check->inventory, tensor)->parameters;
}

/* For each tensor of the file its finding, or SP_NONE. */
static size_t *findings_of(const struct sp_check *check)
{
    const size_t total = sp_inventory_count(check->inventory);
    size_t *findings = sp_realloc(NULL, total, sizeof *findings);
    for (size_t i = 0; i < total; i++) findings[i] = SP_NONE;
    for (size_t i = 0; i < check->finding_count; i++)
        if (check->findings[i].tensor != SP_NONE) findings[check->findings[i].tensor] = i;
    return findings;
}

/* Sums of parts of the inventory's total, which fits in 64 bits. */
static void add_to_count(struct sp_counts *counts, enum share share, uint64_t elements, uint64_t parameters)
{
    counts->unique_tensors++;
    if (share == COPY) counts->copies += elements;
    if (share == BUFFER) counts->buffers += elements;
    if (share == STATE) counts->state += elements;
    if (share != LOGICAL) return;
    counts->logical_tensors += parameters || !elements; /* scales belong to another */
    if (__builtin_add_overflow(counts->logical, parameters, &counts->logical)) counts->logical = UINT64_MAX;
}

/* Predicted tensors that hold parameters of their own. */
static uint64_t predicted_tensors(const struct sp_prediction *prediction)
{
    uint64_t count = 0;
    for (size_t i = 0; i < sp_prediction_count(prediction); i++) {
        const struct sp_predicted *tensor = sp_prediction_tensor(prediction, i);
        if (tensor->optional || tensor->buffer || tensor->same_as != SP_NONE) continue;
        count += tensor->logical || !tensor->parameters;
    }
    return count;
}

void sp_count(struct sp_check *check)
{
    const struct sp_totals found = sp_inventory_totals(check->inventory);
    struct sp_counts *counts = &check->counts;
    size_t *findings = findings_of(check);
    *counts = (struct sp_counts){.predicted_tensors = predicted_tensors(check->prediction),
                                 .predicted = sp_prediction_totals(check->prediction).unique_parameters,
                                 .stored_tensors = found.tensors,
                                 .stored = found.parameters,
                                 .unique = found.unique_parameters};
    for (size_t i = 0; i < sp_inventory_count(check->inventory); i++) {
        const struct sp_tensor *tensor = sp_inventory_tensor(check->inventory, i);
        if (tensor->same_as == SP_NONE)
            add_to_count(counts, share_of(check, i, findings[i]), tensor->parameters, parameters_in(check, i));
    }
    free(findings);
}
