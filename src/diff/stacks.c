/* SPDX-License-Identifier: MIT
 * Matrix k of a stack is the blocks from k times the blocks of a matrix on. */
#include "diff/stacks.h"

#include <inttypes.h>

#include "base/real.h"
#include "diff/dequantised.h"
#include "model/values.h"

struct stack {
    struct shapeproof_diff *diff;
    const struct sp_diff_joint *joint;
    const struct shapeproof_data *whole_data, *parts_data;
    struct sp_parts_totals *totals;
    struct shapeproof_error *error;
};

static const struct shapeproof_tensor *whole_of(const struct sp_diff_joint *joint)
{
    return shapeproof_inventory_tensor(joint->whole_side->inventory, joint->whole);
}

static const struct shapeproof_tensor *part_of(const struct sp_diff_joint *joint, size_t part)
{
    return shapeproof_inventory_tensor(joint->parts_side->inventory, joint->parts[part]);
}

bool sp_is_quantised_stack(const struct sp_diff_joint *joint)
{
    const struct shapeproof_tensor *whole = whole_of(joint);
    if (joint->component_count != 1 || joint->transposed || joint->by_heads || whole->dtype || !whole->parameters ||
        !sp_ggml_block(whole->dtype_name) || whole->rank != 3 || whole->shape[0] != joint->part_count)
        return false;
    for (size_t i = 0; i < joint->part_count; i++) {
        const struct shapeproof_tensor *part = part_of(joint, i);
        if (!sp_is_float(part->dtype) || part->rank != 2 || part->shape[0] != whole->shape[1] ||
            part->shape[1] != whole->shape[2])
            return false;
    }
    return true;
}

/* Compares a part with a place of the whole, to the end or (`only_whether`) to the first block that differs. */
static bool compare_place(const struct stack *stack, size_t part, size_t place, bool only_whether,
                          struct sp_quantisation_error *found)
{
    const struct shapeproof_tensor *whole = whole_of(stack->joint), *full = part_of(stack->joint, part);
    const struct sp_dequantised_pair pair = {.packed = {stack->whole_data, stack->joint->whole},
                                             .full = {stack->parts_data, stack->joint->parts[part]},
                                             .in_packed = whole,
                                             .in_full = full,
                                             .block = sp_ggml_block(whole->dtype_name),
                                             .start = place * full->parameters,
                                             .only_whether = only_whether};
    return sp_dequantised_compare(&pair, found, stack->error);
}

/* The only other place of the whole that has the data of a part; SIZE_MAX when there is none or several. */
static bool find_place(const struct stack *stack, size_t part, size_t *place)
{
    size_t count = 0;
    for (size_t i = 0; i < stack->joint->part_count; i++) {
        struct sp_quantisation_error found;
        if (i == part) continue;
        if (!compare_place(stack, part, i, true, &found)) return false;
        if (!found.outside && !count++) *place = i;
    }
    if (count != 1) *place = SIZE_MAX;
    return true;
}

/* Adds the finding of a part that has other data; `search`: for its data in other places. */
static bool report_part(const struct stack *stack, size_t part, const struct sp_quantisation_error *found, bool search)
{
    const struct sp_diff_joint *joint = stack->joint;
    const bool whole_is_a = joint->whole_side->side == SHAPEPROOF_DIFF_A;
    struct sp_arena *arena = &stack->diff->arena;
    size_t place = SIZE_MAX;
    if (search && !find_place(stack, part, &place)) return false;
    const char *message = "has the data of another matrix of the fused tensor",
               *detail = sp_arena_printf(arena, "matrix %zu", place);
    if (place == SIZE_MAX) {
        message =
            sp_arena_printf(arena, "differs by more than the quantisation error of %s", whole_of(joint)->dtype_name);
        detail = sp_arena_printf(
            arena, "in %" PRIu64 " of %" PRIu64 " elements; greatest difference %s, relative error %s", found->outside,
            found->elements, sp_real_text(found->most, 3).text, sp_real_text(sp_relative_error(found), 2).text);
    }
    sp_diff_add(stack->diff, (struct shapeproof_diff_finding){.kind = SHAPEPROOF_DIFF_FINDING_DATA,
                                                              .name = part_of(joint, part)->name,
                                                              .message = message,
                                                              .detail = detail,
                                                              .a = whole_is_a ? joint->whole : joint->parts[part],
                                                              .b = whole_is_a ? joint->parts[part] : joint->whole});
    return true;
}

bool sp_quantised_stack_compare(struct shapeproof_diff *diff, const struct sp_diff_joint *joint,
                                const struct shapeproof_data *a, const struct shapeproof_data *b,
                                struct sp_data_progress *progress, struct sp_parts_totals *totals,
                                struct shapeproof_error *error)
{
    const bool whole_is_a = joint->whole_side->side == SHAPEPROOF_DIFF_A;
    const struct stack stack = {diff, joint, whole_is_a ? a : b, whole_is_a ? b : a, totals, error};
    enum { SEARCHED = 8 }; /* matrices of a stack whose data are searched in all places */
    size_t different = 0;
    for (size_t i = 0; i < joint->part_count; i++) {
        struct sp_quantisation_error found;
        if (!compare_place(&stack, i, i, false, &found) || !sp_data_goes_on(progress, 0, error)) return false;
        if (found.outside && !report_part(&stack, i, &found, different < SEARCHED)) return false;
        const double relative = sp_relative_error(&found);
        different += found.outside > 0;
        totals->bytes += whole_is_a ? 0 : part_of(joint, i)->bytes;
        if (!found.outside && relative > totals->relative_error) totals->relative_error = relative;
    }
    totals->bytes += whole_is_a ? whole_of(joint)->bytes : 0;
    totals->compared += whole_is_a ? 1 : joint->part_count;
    totals->different += whole_is_a ? different > 0 : different;
    totals->restored += whole_is_a ? !different : joint->part_count - different;
    return true;
}
