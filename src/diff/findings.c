/* SPDX-License-Identifier: MIT
 * Findings, one for each tensor and kind, read off the pairs. */
#include <string.h>

#include "diff/diff.h"
#include "model/layouts.h"

/* "F32 (64, 16)" */
static const char *described(struct shapeproof_diff *diff, const struct shapeproof_tensor *tensor)
{
    return sp_arena_printf(&diff->arena, "%s %s", tensor->dtype_name, sp_found_shape(&diff->arena, tensor));
}

/* ---- in one alone ---- */

static void add_alone(struct shapeproof_diff *diff, const struct sp_diff_half *half, size_t i)
{
    const struct shapeproof_tensor *tensor = shapeproof_inventory_tensor(half->inventory, i);
    const bool in_a = half->side == SHAPEPROOF_DIFF_A;
    struct shapeproof_diff_finding finding = {.kind = in_a ? SHAPEPROOF_DIFF_FINDING_REMOVED
                                                           : SHAPEPROOF_DIFF_FINDING_ADDED};
    if (half->joined[i] || !shapeproof_diff_is_alone(diff, half->side, i)) return;
    if (tensor->flags & SHAPEPROOF_TENSOR_STATE) {
        finding.kind = SHAPEPROOF_DIFF_FINDING_STATE;
        finding.message =
            sp_arena_printf(&diff->arena, "is the state of an optimizer or trainer, in %s alone", sp_half_name(half));
    } else
        finding.message =
            sp_arena_printf(&diff->arena, "is in %s alone: %s", sp_half_name(half), described(diff, tensor));
    sp_diff_add_about(diff, in_a ? i : SHAPEPROOF_NONE, in_a ? SHAPEPROOF_NONE : i, finding);
}

/* ---- in both ---- */

static void pair_finding(struct shapeproof_diff *diff, size_t a, enum shapeproof_diff_finding_kind kind,
                         const char *message)
{
    sp_diff_add_about(diff, a, diff->a.other[a], (struct shapeproof_diff_finding){.kind = kind, .message = message});
}

/* Of which the elements are as many, as far as the shapes tell; "" when they are not. */
static const char *how_reshaped(const struct shapeproof_tensor *a, const struct shapeproof_tensor *b)
{
    if ((a->flags | b->flags) & SHAPEPROOF_TENSOR_NO_SHAPE) return "";
    if (sp_differs_in_ones(a->shape, a->rank, b->shape, b->rank))
        return ", which is the same except for dimensions of 1";
    return a->parameters == b->parameters ? ", as many elements" : "";
}

static void compare_shapes(struct shapeproof_diff *diff, size_t tensor)
{
    const struct shapeproof_tensor *a = sp_diff_a(diff, tensor), *b = sp_diff_b(diff, diff->a.other[tensor]);
    if (sp_diff_lacks_transposing(diff, tensor))
        pair_finding(diff, tensor, SHAPEPROOF_DIFF_FINDING_SHAPE,
                     sp_arena_printf(&diff->arena, "%s in A and in B, and the conversion to GGUF transposes it",
                                     sp_found_shape(&diff->arena, a)));
    if (sp_tensor_same_shape(a, b) || shapeproof_diff_is_converted(diff, tensor)) return;
    const bool transposed = sp_tensor_is_transposed(a, b) || sp_tensor_has_transposed_matrices(a, b);
    pair_finding(diff, tensor, transposed ? SHAPEPROOF_DIFF_FINDING_TRANSPOSED : SHAPEPROOF_DIFF_FINDING_SHAPE,
                 sp_arena_printf(&diff->arena, "%s in A, %s%s in B%s", sp_found_shape(&diff->arena, a),
                                 transposed ? "transposed " : "", sp_found_shape(&diff->arena, b),
                                 transposed ? "" : how_reshaped(a, b)));
}

static void compare_dtypes(struct shapeproof_diff *diff, size_t tensor)
{
    const struct shapeproof_tensor *a = sp_diff_a(diff, tensor), *b = sp_diff_b(diff, diff->a.other[tensor]);
    if (a->dtype == b->dtype && strcmp(a->dtype_name, b->dtype_name) == 0) return;
    pair_finding(diff, tensor, SHAPEPROOF_DIFF_FINDING_DTYPE,
                 sp_arena_printf(&diff->arena, "%s in A, %s in B", a->dtype_name, b->dtype_name));
}

void sp_diff_find(struct shapeproof_diff *diff)
{
    for (size_t i = 0; i < shapeproof_inventory_count(diff->a.inventory); i++) {
        if (diff->a.other[i] == SHAPEPROOF_NONE) {
            add_alone(diff, &diff->a, i);
            continue;
        }
        if (diff->a.joined[i]) continue;
        if (sp_diff_is_renamed(diff, i))
            pair_finding(diff, i, SHAPEPROOF_DIFF_FINDING_RENAMED, "has another name in B");
        compare_shapes(diff, i);
        compare_dtypes(diff, i);
    }
    for (size_t i = 0; i < shapeproof_inventory_count(diff->b.inventory); i++) add_alone(diff, &diff->b, i);
}
