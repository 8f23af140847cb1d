/* SPDX-License-Identifier: MIT
 * Tensors that are one in one checkpoint and several in the other (joints.h). Whether their data are the same depends
 * on the order of the parts, which no shape tells: they are never compared. */
#include "names/joints.h"
#include "diff/diff.h"

static bool is_left(const struct sp_diff *diff, const struct sp_tensor *tensor, size_t index, enum sp_diff_side side)
{
    return sp_diff_is_alone(diff, side, index) && !(tensor->flags & (SP_TENSOR_STATE | SP_TENSOR_NO_SHAPE));
}

/* Items are the tensors of A, and behind them those of B. */
static void add_a(const struct sp_diff *diff, struct sp_joints *joints, bool whole)
{
    for (size_t i = 0; i < sp_inventory_count(diff->a); i++) {
        const struct sp_tensor *tensor = sp_diff_a(diff, i);
        const struct sp_piece piece = {i, tensor->shape, tensor->rank};
        if (!is_left(diff, tensor, i, SP_DIFF_A) || diff->joined_a[i]) continue;
        if (whole) sp_joints_add_whole(joints, diff->spelling_a[i].text, piece, true);
        else sp_joints_add_part(joints, diff->spelling_a[i].text, piece, true);
    }
}

static void add_b(const struct sp_diff *diff, struct sp_joints *joints, bool whole)
{
    for (size_t i = 0; i < sp_inventory_count(diff->b); i++) {
        const struct sp_tensor *tensor = sp_diff_b(diff, i);
        const struct sp_piece piece = {sp_inventory_count(diff->a) + i, tensor->shape, tensor->rank};
        if (!is_left(diff, tensor, i, SP_DIFF_B) || diff->joined_b[i]) continue;
        if (whole) sp_joints_add_whole(joints, diff->spelling_b[i].text, piece, false);
        else sp_joints_add_part(joints, diff->spelling_b[i].text, piece, false);
    }
}

static void mark(struct sp_diff *diff, size_t item)
{
    const size_t in_a = sp_inventory_count(diff->a);
    if (item < in_a) diff->joined_a[item] = true;
    else diff->joined_b[item - in_a] = true;
}

static void add_finding(struct sp_diff *diff, const struct sp_joint *joint, bool whole_in_a)
{
    const size_t item = joint->whole.item, in_a = sp_inventory_count(diff->a);
    struct sp_diff_finding finding = {.id = "joined", .severity = SP_SEVERITY_ERROR, .a = SP_NONE, .b = SP_NONE};
    if (whole_in_a) finding.a = item;
    else finding.b = item - in_a;
    finding.name = whole_in_a ? sp_diff_a(diff, item)->name : sp_diff_b(diff, item - in_a)->name;
    finding.message =
        sp_arena_printf(&diff->arena, "is one in %s and %zu in %s: %s%s", whole_in_a ? "A" : "B", joint->part_count,
                        whole_in_a ? "B" : "A", joint->says, joint->transposed ? " (transposed)" : "");
    sp_diff_add(diff, finding);
    mark(diff, item);
    for (size_t i = 0; i < joint->part_count; i++) mark(diff, joint->parts[i]);
}

static void join(struct sp_diff *diff, bool whole_in_a)
{
    struct sp_joints joints = {0};
    add_a(diff, &joints, whole_in_a);
    if (joints.nests.count) add_b(diff, &joints, !whole_in_a);
    sp_joints_find(&joints);
    for (size_t i = 0; i < joints.count; i++) add_finding(diff, &joints.items[i], whole_in_a);
    sp_joints_free(&joints);
}

void sp_diff_join(struct sp_diff *diff)
{
    join(diff, true);
    join(diff, false);
}
