/* SPDX-License-Identifier: MIT
 * Tensors that are one in one checkpoint and several in the other (joints.h). Whether their data are the same depends
 * on the order of the parts, which no shape tells: parts.c finds it by the data. */
#include "names/joints.h"

#include <inttypes.h>
#include <string.h>

#include "diff/diff.h"

/* Whether a tensor has no partner yet and can be a whole or a part. */
static bool is_left(const struct shapeproof_diff *diff, const struct sp_diff_half *half, size_t tensor)
{
    const unsigned flags = shapeproof_inventory_tensor(half->inventory, tensor)->flags;
    return shapeproof_diff_is_alone(diff, half->side, tensor) && !half->joined[tensor] &&
           !(flags & (SHAPEPROOF_TENSOR_STATE | SHAPEPROOF_TENSOR_NO_SHAPE));
}

/* Items are the tensors of A, and behind them those of B. */
static size_t first_item(const struct shapeproof_diff *diff, const struct sp_diff_half *half)
{
    return half->side == SHAPEPROOF_DIFF_A ? 0 : shapeproof_inventory_count(diff->a.inventory);
}

/* What the names of the half begin with and those of the other do not, of a renaming that was found: "model.", or "".
 */
static const char *front_of_half(struct shapeproof_diff *diff, const struct sp_diff_half *half)
{
    for (size_t i = 0; i < diff->translations.count; i++) {
        const struct sp_translation *translation = &diff->translations.items[i];
        const char *mine = half->side == SHAPEPROOF_DIFF_A ? translation->from : translation->to;
        const char *other = half->side == SHAPEPROOF_DIFF_A ? translation->to : translation->from;
        const size_t length = strlen(mine);
        if (strcmp(other, "*") == 0 && length > 2 && strcmp(mine + length - 2, ".*") == 0 && *mine != '*')
            return sp_arena_copy(&diff->arena, mine, length - 1);
    }
    return "";
}

static void add_piece(struct sp_joints *joints, const char *name, struct sp_joint_piece piece, bool whole,
                      enum sp_joint_side side)
{
    if (whole) sp_joints_add_whole(joints, name, piece, side);
    else sp_joints_add_part(joints, name, piece, side);
}

/* Adds what is left of one half, as wholes or as parts. */
static void add_pieces(struct shapeproof_diff *diff, struct sp_joints *joints, const struct sp_diff_half *half,
                       bool whole)
{
    const enum sp_joint_side side = half->side == SHAPEPROOF_DIFF_A ? SP_JOINT_FIRST_SIDE : SP_JOINT_OTHER_SIDE;
    const char *front = front_of_half(diff, half);
    const size_t length = strlen(front);
    for (size_t i = 0; i < shapeproof_inventory_count(half->inventory); i++) {
        const struct shapeproof_tensor *tensor = shapeproof_inventory_tensor(half->inventory, i);
        const struct sp_joint_piece piece = {first_item(diff, half) + i, tensor->shape, tensor->rank};
        if (!is_left(diff, half, i)) continue;
        const char *name = half->spelling[i].text;
        add_piece(joints, name, piece, whole, side);
        if (length && strncmp(name, front, length) == 0) add_piece(joints, name + length, piece, whole, side);
    }
}

static size_t *copy_items(struct sp_arena *arena, const size_t *items, size_t count, size_t first)
{
    size_t *copy = sp_arena_array(arena, count, sizeof *copy);
    for (size_t i = 0; i < count; i++) copy[i] = items[i] - first;
    return copy;
}

/* The names of the components, or NULL for one component. */
static const char *const *copy_names(struct sp_arena *arena, const struct sp_joint *joint)
{
    if (joint->component_count < 2) return NULL;
    const char **names = sp_arena_array(arena, joint->component_count, sizeof *names);
    for (size_t i = 0; i < joint->component_count; i++) names[i] = sp_arena_string(arena, joint->names[i]);
    return names;
}

/* Keeps a whole and its parts for the comparison of their data. */
static void keep_joint(struct shapeproof_diff *diff, const struct sp_joint *joint, const struct sp_diff_half *whole,
                       const struct sp_diff_half *parts)
{
    *SP_PUSH(&diff->joints) = (struct sp_diff_joint){
        .whole_side = whole,
        .parts_side = parts,
        .whole = joint->whole.item - first_item(diff, whole),
        .parts = copy_items(&diff->arena, joint->parts, joint->part_count, first_item(diff, parts)),
        .part_count = joint->part_count,
        .order = copy_items(&diff->arena, joint->order, joint->component_count, 0),
        .component_count = joint->component_count,
        .transposed = joint->transposed,
        .by_heads = joint->by_heads,
        .says = sp_arena_string(&diff->arena, joint->says),
        .head = joint->head ? sp_arena_string(&diff->arena, joint->head) : NULL,
        .tail = joint->tail ? sp_arena_string(&diff->arena, joint->tail) : NULL,
        .names = copy_names(&diff->arena, joint),
        .finding = diff->finding_count,
        .is_ordered = joint->is_ordered,
    };
}

/* "self_attn.qkv_proj = v_proj + k_proj + q_proj": what a whole consists of, in that order. */
static const char *say_in_order(struct shapeproof_diff *diff, const struct sp_diff_joint *joint, const size_t *order)
{
    struct sp_text text = {0};
    sp_text_puts(&text, joint->head);
    for (size_t i = 0; i < joint->component_count; i++)
        sp_text_printf(&text, "%s%s", i ? " + " : "", joint->names[order[i]]);
    sp_text_puts(&text, joint->tail);
    return sp_text_keep(&text, &diff->arena);
}

/* "is one in B and 3 in A: self_attn.qkv_proj = q_proj + k_proj + v_proj (transposed)", with what is known of the
 * order. */
static const char *say_parts(struct shapeproof_diff *diff, const struct sp_diff_joint *joint, const char *says,
                             bool transposed, const char *order)
{
    return sp_arena_printf(&diff->arena, "is one in %s and %zu in %s: %s%s%s", sp_half_name(joint->whole_side),
                           joint->part_count, sp_half_name(joint->parts_side), says,
                           joint->by_heads ? " (head by head, keys transposed)"
                           : transposed    ? " (transposed)"
                                           : "",
                           order);
}

void sp_diff_show_layout(struct shapeproof_diff *diff, struct sp_diff_joint *joint,
                         const struct sp_joint_layout *layout)
{
    struct sp_text text = {0};
    if (!joint->names) return;
    if (!layout) {
        diff->findings[joint->finding].message =
            say_parts(diff, joint, joint->says, joint->transposed, " (order not known from the data)");
        return;
    }
    joint->is_misplaced =
        joint->is_ordered &&
        (layout->groups > 1 || memcmp(layout->order, joint->order, joint->component_count * sizeof *joint->order) != 0);
    sp_text_puts(&text, "");
    if (layout->groups > 1) sp_text_printf(&text, " (in each of %" PRIu64 " groups)", layout->groups);
    diff->findings[joint->finding].message = say_parts(diff, joint, say_in_order(diff, joint, layout->order),
                                                       layout->transposed, sp_text_keep(&text, &diff->arena));
}

void sp_diff_add_joint(struct shapeproof_diff *diff, const struct sp_joint *joint, const struct sp_diff_half *whole,
                       const struct sp_diff_half *parts)
{
    const size_t item = joint->whole.item - first_item(diff, whole);
    const bool in_a = whole->side == SHAPEPROOF_DIFF_A;
    keep_joint(diff, joint, whole, parts);
    const struct sp_diff_joint *kept = &diff->joints.items[diff->joints.count - 1];
    const char *message =
        say_parts(diff, kept, kept->says, kept->transposed, kept->names ? " (order not known from shapes)" : "");
    sp_diff_add_about(diff, in_a ? item : SHAPEPROOF_NONE, in_a ? SHAPEPROOF_NONE : item,
                      (struct shapeproof_diff_finding){.kind = SHAPEPROOF_DIFF_FINDING_JOINED, .message = message});
    whole->joined[item] = true;
    for (size_t i = 0; i < joint->part_count; i++) parts->joined[joint->parts[i] - first_item(diff, parts)] = true;
}

static void join_tensors(struct shapeproof_diff *diff, const struct sp_diff_half *whole,
                         const struct sp_diff_half *parts)
{
    struct sp_joints joints = {0};
    add_pieces(diff, &joints, &diff->a, whole == &diff->a);
    if (joints.nests.count) add_pieces(diff, &joints, &diff->b, whole == &diff->b);
    sp_joints_find(&joints);
    for (size_t i = 0; i < joints.count; i++) sp_diff_add_joint(diff, &joints.items[i], whole, parts);
    sp_joints_free(&joints);
}

void sp_diff_join(struct shapeproof_diff *diff)
{
    join_tensors(diff, &diff->a, &diff->b);
    join_tensors(diff, &diff->b, &diff->a);
}
