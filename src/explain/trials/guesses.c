/* SPDX-License-Identifier: MIT
 * Values that no finding suggests, for numbers that decide which tensors there are. */
#include "explain/trials/proposals.h"

bool sp_is_structural(const struct sp_finding *finding)
{
    return sp_finding_is_open(finding) && finding->kind != SP_FINDING_SHAPE;
}

/* A number that is 0, so that something is not predicted: the dimensions of what is there, or how often it is there. */
static void guess_from_nothing(struct sp_proposals *proposals, const struct sp_check *check,
                               struct sp_hyperparameter hyper)
{
    size_t asked = SP_NONE;
    for (size_t i = 0; i < check->finding_count; i++) {
        const struct sp_finding *finding = &check->findings[i];
        if (!sp_is_structural(finding) || finding->tensor == SP_NONE || check->places[i].pattern == asked) continue;
        asked = check->places[i].pattern;
        const struct sp_tensor *tensor = sp_inventory_tensor(check->inventory, finding->tensor);
        for (uint32_t d = 0; d < tensor->rank && d < 2; d++)
            sp_propose_number(proposals, hyper, (double)tensor->shape[d]);
    }
}

/* Near values, for numbers that decide which tensors there are in ways that no finding tells: every n-th layer has
 * experts, more than one expert makes a router. */
static void guess_near(struct sp_proposals *proposals, struct sp_hyperparameter hyper, int64_t value)
{
    const int64_t near[] = {0, 1, 2, value - 1, value + 1, 2 * value, value / 2};
    for (size_t i = 0; i < sizeof near / sizeof *near; i++)
        if (near[i] >= 0 && near[i] != value) sp_propose(proposals, hyper, sp_value_int(near[i]));
}

void sp_propose_guesses(struct sp_proposals *proposals, const struct sp_check *check)
{
    enum { LARGEST = 1 << 16 };
    const struct sp_prediction *prediction = check->prediction;
    for (size_t i = 0; i < sp_prediction_hyperparameter_count(prediction); i++) {
        const struct sp_hyperparameter hyper = sp_prediction_hyperparameter(prediction, i);
        int64_t value;
        if (!sp_integer_value(hyper, &value) || value < 0 || value > LARGEST) continue;
        guess_near(proposals, hyper, value);
        if (value == 0) guess_from_nothing(proposals, check, hyper);
    }
}
