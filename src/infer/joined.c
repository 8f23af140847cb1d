/* SPDX-License-Identifier: MIT
 * Tensors that are one in the file and several in the table, or the other way round: q, k and v in one projection, as
 * timm has them. Tensors that such a fusion (names/joints.h) joins count as explained. */
#include <stdlib.h>
#include <string.h>

#include "base/chars.h"
#include "infer/infer.h"
#include "infer/limits.h"
#include "match/pieces.h"

/* Items of joints, and of attempt->is_joined, are numbered through: first the predicted tensors, then those of the
 * view. The number of the first of the latter. */
static size_t first_seen(const struct sp_attempt *attempt) { return shapeproof_prediction_count(attempt->prediction); }

/* Offers what is left of the comparison: the missing tensors as parts and the unexpected ones as wholes; or the
 * reverse, unless wholes_in_file. */
static void add_pieces(const struct sp_attempt *attempt, struct sp_joints *joints, bool wholes_in_file)
{
    for (size_t i = 0; i < shapeproof_prediction_count(attempt->prediction); i++) {
        const struct shapeproof_predicted *tensor = shapeproof_prediction_tensor(attempt->prediction, i);
        const struct sp_joint_piece piece = {i, tensor->shape, tensor->rank};
        if (sp_match_predicted(&attempt->match, i) != SP_MISSING || attempt->is_joined[i]) continue;
        if (wholes_in_file) sp_joints_add_part(joints, tensor->name, piece, SP_JOINT_FIRST_SIDE);
        else sp_joints_add_whole(joints, tensor->name, piece, SP_JOINT_FIRST_SIDE);
    }
    for (size_t i = 0; joints->nests.count && i < shapeproof_inventory_count(attempt->match.inventory); i++)
        if (sp_match_tensor(&attempt->match, i) == SP_UNEXPECTED && !attempt->is_joined[first_seen(attempt) + i])
            sp_joints_add_stored(joints, &attempt->naming, shapeproof_inventory_tensor(attempt->match.inventory, i),
                                 first_seen(attempt) + i, wholes_in_file);
}

static void add_fused(struct sp_attempt *attempt, const struct sp_joint *joint)
{
    size_t *parts = sp_arena_array(&attempt->outline.solver.arena, joint->part_count, sizeof *parts);
    memcpy(parts, joint->parts, joint->part_count * sizeof *parts);
    *SP_PUSH(&attempt->fused) = (struct sp_fused){joint->whole.item - first_seen(attempt), parts, joint->part_count};
}

/* Joins what can be joined, with the wholes in the file or in the prediction. */
static void join_side(struct sp_attempt *attempt, bool wholes_in_file)
{
    struct sp_joints joints = {0};
    add_pieces(attempt, &joints, wholes_in_file);
    sp_joints_find(&joints);
    for (size_t i = 0; i < joints.count; i++) {
        const struct sp_joint *joint = &joints.items[i];
        if (!attempt->joint) attempt->joint = sp_arena_string(&attempt->outline.solver.arena, joint->says);
        attempt->joints++;
        if (wholes_in_file) add_fused(attempt, joint);
        attempt->is_joined[joint->whole.item] = true;
        for (size_t k = 0; k < joint->part_count; k++) attempt->is_joined[joint->parts[k]] = true;
    }
    sp_joints_free(&joints);
}

void sp_attempt_join(struct sp_attempt *attempt)
{
    const size_t count = first_seen(attempt) + shapeproof_inventory_count(attempt->match.inventory);
    attempt->is_joined = sp_arena_array(&attempt->outline.solver.arena, count, sizeof *attempt->is_joined);
    join_side(attempt, true);
    join_side(attempt, false);
}

bool sp_attempt_is_joined(const struct sp_attempt *attempt, size_t seen)
{
    return attempt->is_joined[first_seen(attempt) + seen];
}

bool sp_attempt_lacks(const struct sp_attempt *attempt, size_t predicted)
{
    return sp_match_predicted(&attempt->match, predicted) == SP_MISSING && !attempt->is_joined[predicted] &&
           !attempt->is_recomputed[predicted];
}

/* ---- sizes that only fused tensors show ---- */

/* Writes the dimensions of the unexpected tensors, and their halves, to `sizes`, each once; returns how many. */
static size_t find_sizes(const struct sp_attempt *attempt, uint64_t sizes[SP_MOST_FUSED_SIZES])
{
    size_t count = 0;
    for (size_t i = 0; i < shapeproof_inventory_count(attempt->match.inventory); i++) {
        const struct shapeproof_tensor *tensor = shapeproof_inventory_tensor(attempt->match.inventory, i);
        if (sp_match_tensor(&attempt->match, i) != SP_UNEXPECTED || sp_attempt_is_joined(attempt, i)) continue;
        for (uint32_t d = 0; d < 2 * tensor->rank && count < SP_MOST_FUSED_SIZES; d++) {
            const uint64_t size = tensor->shape[d / 2] / (1 + d % 2);
            bool is_new = size > 1 && size <= INT32_MAX && (d % 2 == 0 || tensor->shape[d / 2] % 2 == 0);
            for (size_t k = 0; k < count; k++) is_new = is_new && sizes[k] != size;
            if (is_new) sizes[count++] = size;
        }
    }
    return count;
}

/* Whether the hyper-parameter is a number that nothing told, so that another one may be tried. */
static bool is_free_size(const struct sp_attempt *attempt, struct shapeproof_hyperparameter hyper)
{
    const struct sp_fact *fact = sp_known_fact(&attempt->outline.solver.known, hyper.name);
    return hyper.value.type == SHAPEPROOF_VALUE_INT && hyper.from.source != SHAPEPROOF_SOURCE_TABLE &&
           (!fact || fact->reason.kind == SP_REASON_NONE || fact->reason.kind == SP_REASON_GUESS);
}

/* Keeps the value if fewer tensors are wrong with it. */
static bool try_size(struct sp_attempt *attempt, const char *key, uint64_t size)
{
    struct sp_known *known = &attempt->outline.solver.known;
    const size_t before = attempt->unexplained + attempt->missing;
    const struct sp_mark mark = sp_known_mark(known);
    sp_known_settle_exactly(known, key, sp_value_int((int64_t)size));
    sp_attempt_verify_anew(attempt);
    if (attempt->prediction && attempt->unexplained + attempt->missing < before) {
        sp_known_commit(known, &mark);
        return true;
    }
    sp_known_undo(known, &mark);
    sp_attempt_verify_anew(attempt);
    return false;
}

void sp_attempt_size_fused(struct sp_attempt *attempt, size_t *left)
{
    struct sp_arena *arena = &attempt->outline.solver.arena;
    uint64_t sizes[SP_MOST_FUSED_SIZES];
    const size_t cost =
        2 * (shapeproof_inventory_count(attempt->match.inventory) + shapeproof_prediction_count(attempt->prediction));
    const size_t count = find_sizes(attempt, sizes);
    for (size_t i = 0; i < shapeproof_prediction_hyperparameter_count(attempt->prediction); i++) {
        const struct shapeproof_hyperparameter hyper = *shapeproof_prediction_hyperparameter(attempt->prediction, i);
        if (!is_free_size(attempt, hyper)) continue;
        const char *key = sp_arena_string(arena, hyper.name);
        for (size_t k = 0; k < count && *left >= cost && !sp_attempt_explains_all(attempt); k++) {
            *left -= cost;
            if (try_size(attempt, key, sizes[k])) break;
        }
    }
}

/* ---- in parts ---- */

struct splitting {
    const struct sp_attempt *attempt;
    struct sp_infer_view *view;
    size_t *fused_of; /* for each tensor of the file an index of attempt->fused, whose weight it is or whose bias;
                         SHAPEPROOF_NONE for the others */
};

/* The bias of a fused weight: "qkv.bias" beside "qkv.weight", with an element for each of its rows; SHAPEPROOF_NONE
 * when there is none. */
static size_t find_bias(const struct shapeproof_inventory *seen, const struct shapeproof_tensor *weight)
{
    static const char tail[] = "weight";
    struct sp_text name = {0};
    if (!sp_ends_with(weight->name, ".weight")) return SHAPEPROOF_NONE;
    sp_text_append(&name, weight->name, strlen(weight->name) - strlen(tail));
    sp_text_puts(&name, "bias");
    const size_t found = shapeproof_inventory_find(seen, name.data);
    sp_text_free(&name);
    if (found == SHAPEPROOF_NONE) return SHAPEPROOF_NONE;
    const struct shapeproof_tensor *bias = shapeproof_inventory_tensor(seen, found);
    return bias->rank == 1 && weight->rank == 2 && bias->shape[0] == weight->shape[0] ? found : SHAPEPROOF_NONE;
}

/* Adds the parts of a fused weight in its place, or, for its bias, one bias for each part: q.weight (768, 768) ->
 * q.bias (768). False past the limits of an inventory. */
static bool add_parts(const struct splitting *splitting, size_t seen, const struct sp_fused *fused)
{
    struct sp_arena *arena = &splitting->view->own->arena;
    const bool is_bias = fused->seen != seen;
    bool good = true;
    for (size_t i = 0; i < fused->count && good; i++) {
        const struct shapeproof_predicted *part =
            shapeproof_prediction_tensor(splitting->attempt->prediction, fused->parts[i]);
        const size_t stem = strlen(part->name) - (is_bias ? strlen("weight") : 0);
        const char *name = sp_arena_printf(arena, "%.*s%s", (int)stem, part->name, is_bias ? "bias" : "");
        uint64_t *shape = sp_arena_array(arena, part->rank, sizeof *shape);
        memcpy(shape, part->shape, part->rank * sizeof *shape);
        good = sp_infer_view_add(splitting->view, seen, name, shape, is_bias ? 1 : part->rank);
        splitting->view->is_part[shapeproof_inventory_count(splitting->view->own) - 1] = true;
    }
    return good;
}

/* Fills in fused_of. */
static void find_fused(const struct splitting *splitting)
{
    const struct shapeproof_inventory *seen = splitting->attempt->view->inventory;
    for (size_t i = 0; i < shapeproof_inventory_count(seen); i++) splitting->fused_of[i] = SHAPEPROOF_NONE;
    for (size_t i = 0; i < splitting->attempt->fused.count; i++) {
        const struct sp_fused *fused = &splitting->attempt->fused.items[i];
        const size_t bias = find_bias(seen, shapeproof_inventory_tensor(seen, fused->seen));
        splitting->fused_of[fused->seen] = i;
        if (bias != SHAPEPROOF_NONE && !sp_attempt_is_joined(splitting->attempt, bias)) splitting->fused_of[bias] = i;
    }
}

bool sp_infer_view_split(struct sp_infer_view *view, const struct sp_attempt *attempt)
{
    const struct shapeproof_inventory *file = attempt->view->inventory;
    const size_t count = shapeproof_inventory_count(file);
    /* Each predicted tensor is at most one part, and has at most one bias. */
    const size_t most_parts = 2 * shapeproof_prediction_count(attempt->prediction);
    const bool is_plain_view = !attempt->view->own;
    struct splitting splitting = {.attempt = attempt, .view = view};
    bool good = true;
    if (!is_plain_view || !attempt->fused.count) return false;
    sp_infer_view_begin(view, file);
    splitting.fused_of = sp_arena_array(&view->own->arena, count, sizeof *splitting.fused_of);
    view->is_part = sp_arena_array(&view->own->arena, count + most_parts, sizeof *view->is_part);
    view->fused = sp_arena_string(&view->own->arena, attempt->joint);
    find_fused(&splitting);
    for (size_t i = 0; i < count && good; i++) {
        const struct shapeproof_tensor *tensor = shapeproof_inventory_tensor(file, i);
        if (splitting.fused_of[i] == SHAPEPROOF_NONE)
            good = sp_infer_view_add(view, i, tensor->name, tensor->shape, tensor->rank);
        else good = add_parts(&splitting, i, &attempt->fused.items[splitting.fused_of[i]]);
    }
    if (good) return sp_infer_view_end(view);
    sp_infer_view_free(view);
    return false;
}
