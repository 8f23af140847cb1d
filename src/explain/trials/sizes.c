/* SPDX-License-Identifier: MIT
 * A dimension that differs, and what the hyper-parameters in it would have to be. */
#include <math.h>

#include "base/map.h"
#include "explain/trials/proposals.h"
#include "lang/prediction.h"

struct solver {
    struct sp_proposals *proposals;
    struct sp_check *check;
    const struct sp_sample *sample;
};

/* A dimension of a tensor that has another size. */
struct question {
    const char *name; /* of the tensor, as predicted */
    uint32_t dimension;
    uint64_t found, expected;
};

/* What the hyper-parameter would have to be for a dimension that is proportional to it, or inversely so, or that it is
 * a term of. Whatever is rounded away, the trial decides. */
static void solve_for(struct solver *solver, struct sp_hyperparameter hyper, double found, double expected)
{
    const double value = (double)hyper.value.integer;
    if (expected > 0) sp_propose_number(solver->proposals, hyper, value * found / expected);
    sp_propose_number(solver->proposals, hyper, value + found - expected);
    if (found > 0) sp_propose_number(solver->proposals, hyper, value * expected / found);
}

/* What a hyper-parameter of one more does to the dimension tells what it takes to reach the size that was found. */
static void solve_by_slope(struct solver *solver, struct sp_hyperparameter hyper, struct question question)
{
    int64_t value;
    uint64_t moved;
    if (!sp_integer_value(hyper, &value) || value == INT64_MAX) return;
    const struct sp_change change = {.key = hyper.name, .value = sp_value_int(value + 1)};
    if (!sp_sample_dimension(solver->sample, &change, question.name, question.dimension, &moved)) return;
    const double slope = (double)moved - (double)question.expected;
    if (slope != 0)
        sp_propose_number(solver->proposals, hyper,
                          (double)value + ((double)question.found - (double)question.expected) / slope);
}

static void solve_question(struct solver *solver, struct sp_hyperparameter hyper, struct question question)
{
    int64_t value;
    const double found = (double)question.found, expected = (double)question.expected;
    if (!sp_integer_value(hyper, &value) || question.found > SP_MOST_DIMENSION || question.expected > SP_MOST_DIMENSION)
        return;
    solve_for(solver, hyper, found, expected);
    solve_for(solver, hyper, sqrt(found), sqrt(expected)); /* (image_size//patch_size)^2 + 1 */
    solve_by_slope(solver, hyper, question);
}

static void solve_shape(struct solver *solver, const struct sp_finding *finding)
{
    struct sp_prediction *prediction = solver->check->prediction;
    const struct sp_tensor *tensor = sp_inventory_tensor(solver->check->inventory, finding->tensor);
    const struct sp_predicted *expected = sp_prediction_tensor(prediction, finding->predicted);
    for (uint32_t d = 0; d < expected->rank && expected->rank == tensor->rank; d++) {
        if (tensor->shape[d] == expected->shape[d]) continue;
        const struct question question = {expected->name, d, tensor->shape[d], expected->shape[d]};
        const struct sp_keys keys = sp_prediction_depends_on(prediction, finding->predicted, d);
        for (size_t i = 0; i < keys.count; i++)
            solve_question(solver, sp_prediction_hyperparameter(prediction, keys.list[i]), question);
    }
}

/* Findings in the same words ask the same question. */
void sp_propose_sizes(struct sp_proposals *proposals, struct sp_check *check, const struct sp_sample *sample)
{
    struct solver solver = {proposals, check, sample};
    struct sp_map asked = {0};
    for (size_t i = 0; i < check->finding_count && proposals->count < SP_MOST_PROPOSALS; i++) {
        const struct sp_finding *finding = &check->findings[i];
        if (sp_finding_is_open_as(finding, SP_FINDING_SHAPE) && sp_map_add(&asked, finding->message, i))
            solve_shape(&solver, finding);
    }
    sp_map_free(&asked);
}
