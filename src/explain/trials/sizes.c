/* SPDX-License-Identifier: MIT
 * A dimension that differs, and what the keys in it would have to be. */
#include <string.h>

#include "base/map.h"
#include "explain/trials/proposals.h"
#include "lang/prediction.h"

/* Whether the key is a number below 0, which stands for "none": what it switches off has no size. */
static bool is_off(const struct sp_changeable *key)
{
    return key->unknown.now.type == SHAPEPROOF_VALUE_INT && key->unknown.now.integer < 0;
}

/* A dimension of a tensor that has another size, and the expression that it is. */
struct resized {
    size_t predicted;
    uint32_t dimension;
    uint64_t size; /* in the file */
    const struct sp_env *env;
    const struct sp_expr *expr;
};

/* Proposes the values of the key with which the expression gives the size in the file. */
static void propose_key(struct sp_proposals *proposals, const struct resized *resized, const struct sp_changeable *key)
{
    if (!is_off(key)) sp_propose_for(proposals, key, resized->env, resized->expr, sp_value_int((int64_t)resized->size));
}

/* A table may give a value to a part, "attention.d[1]", which follows from keys of the table. Proposes those of the
 * same object on which the dimension depends. `given` is the name of that value. */
static void propose_beside(struct sp_proposals *proposals, const struct resized *resized, const char *given)
{
    const char *dot = strrchr(given, '.');
    const size_t front = dot ? (size_t)(dot - given) + 1 : 0;
    for (size_t i = 0; i < proposals->key_count && front; i++) {
        const struct sp_changeable *key = &proposals->keys[i];
        if (strncmp(key->hyper.name, given, front) == 0 &&
            sp_key_matters(&proposals->outline.solver, &key->unknown, resized->env, resized->expr))
            propose_key(proposals, resized, key);
    }
}

/* Proposes values for the keys in the expression, in their order; then for keys behind values that a table gives. */
static void propose_in_order(struct sp_proposals *proposals, const struct resized *resized)
{
    struct shapeproof_prediction *prediction = proposals->check->prediction;
    const struct sp_keys keys = sp_prediction_depends_on(prediction, resized->predicted, resized->dimension);
    for (size_t i = 0; i < keys.count; i++)
        if (proposals->key_of[keys.list[i]] != SHAPEPROOF_NONE)
            propose_key(proposals, resized, &proposals->keys[proposals->key_of[keys.list[i]]]);
    for (size_t i = 0; i < keys.count; i++)
        if (proposals->key_of[keys.list[i]] == SHAPEPROOF_NONE)
            propose_beside(proposals, resized, shapeproof_prediction_hyperparameter(prediction, keys.list[i])->name);
}

/* ---- where a dimension has its value ---- */

/* The view of a part of a quantisation, with the members of its own object, quantization_config, as given values. */
static const struct sp_view *packed_view(struct sp_arena *arena, const struct sp_view *view)
{
    struct sp_view *own = sp_arena_alloc(arena, sizeof *own);
    const size_t members = view->object.type == SHAPEPROOF_VALUE_OBJECT ? view->object.count : 0;
    struct sp_given *given = sp_arena_array(arena, view->given_count + members, sizeof *given);
    *own = *view;
    if (own->given_count) memcpy(given, own->given, own->given_count * sizeof *given);
    for (size_t i = 0; i < members; i++)
        given[own->given_count++] =
            (struct sp_given){.key = view->object.members[i].key, .value = view->object.members[i].value};
    own->given = given;
    return own;
}

/* What is stored in place of a matrix has the dimensions of a part of the quantisation, in terms of those of the
 * matrix. Returns a copy of that part's frame, and of the ones that call it, whose parameters are evaluated in the
 * environment `matrix` of the outline. */
static const struct sp_frame *packed_frame(struct sp_arena *arena, const struct sp_frame *frame,
                                           const struct sp_env *matrix)
{
    struct sp_frame *own = sp_arena_alloc(arena, sizeof *own);
    struct sp_env *env = sp_arena_alloc(arena, sizeof *env);
    *own = *frame;
    *env = *matrix;
    if (frame->caller->replaced) *env = (struct sp_env){.frame = packed_frame(arena, frame->caller, matrix)};
    own->view = packed_view(arena, frame->view);
    own->user_env = env;
    return own;
}

/* Proposes values for a dimension of the row of a line, or, where that is quantised, of the part that replaces it. */
static void propose_size(struct sp_proposals *proposals, const struct sp_line *line, struct resized resized)
{
    const struct sp_row_origin *origin = &proposals->check->prediction->origins[resized.predicted];
    const struct sp_replaced *replaced = origin->frame->replaced;
    struct sp_env env = *line->env;
    size_t dimension = resized.dimension;
    const struct sp_row *row = line->row;
    if (replaced && dimension >= replaced->lead_rank) {
        env = (struct sp_env){.frame = packed_frame(&proposals->outline.solver.arena, origin->frame, line->env)};
        dimension -= replaced->lead_rank;
        row = origin->row;
    }
    if (dimension >= row->rank || resized.size > INT64_MAX) return;
    resized.env = &env;
    resized.expr = row->shape[dimension];
    propose_in_order(proposals, &resized);
}

/* ---- findings ---- */

/* For a tensor of another shape: proposes the values of hyper-parameters with which each differing dimension would be
 * right, for every row of the table that can make its name. */
static void propose_shape(struct sp_proposals *proposals, const struct shapeproof_finding *finding)
{
    const struct shapeproof_tensor *tensor = shapeproof_inventory_tensor(proposals->check->inventory, finding->tensor);
    const struct shapeproof_predicted *expected =
        shapeproof_prediction_tensor(proposals->check->prediction, finding->predicted);
    const struct sp_line *lines[SP_MOST_LINES];
    struct sp_solver *solver = &proposals->outline.solver;
    struct sp_indices indices;
    if (expected->rank != tensor->rank) return;
    const size_t count = sp_proposal_lines(proposals, finding, &indices, lines);
    for (size_t i = 0; i < count; i++) {
        sp_line_find_iterations(solver, lines[i], indices.value);
        for (uint32_t d = 0; d < expected->rank && !sp_line_is_ruled_out(solver, lines[i]); d++)
            if (tensor->shape[d] != expected->shape[d])
                propose_size(
                    proposals, lines[i],
                    (struct resized){.predicted = finding->predicted, .dimension = d, .size = tensor->shape[d]});
        sp_loop_leave(lines[i]->loop);
    }
}

/* Findings with the same message differ in the same dimensions: one of them is enough. */
void sp_propose_sizes(struct sp_proposals *proposals)
{
    const struct shapeproof_check *check = proposals->check;
    struct sp_map asked = {0};
    for (size_t i = 0; i < check->finding_count && proposals->count < SP_MOST_PROPOSALS; i++) {
        const struct shapeproof_finding *finding = &check->findings[i];
        if (sp_finding_is_open_as(finding, SHAPEPROOF_FINDING_SHAPE) && sp_map_add(&asked, finding->message, i))
            propose_shape(proposals, finding);
    }
    sp_map_free(&asked);
}
