/* SPDX-License-Identifier: MIT
 * Ties: tensors of one storage under several names. A format without storages keeps one of the names (safetensors), or
 * a copy for each. Both sides are looked at with the same eyes, first A's ties in B, then B's in A. */
#include <stdlib.h>

#include "diff/diff.h"

/* One checkpoint, and the other as it sees it. */
struct view {
    struct shapeproof_diff *diff;
    const struct sp_diff_half *mine, *theirs;
};

static void add_tie_finding(const struct view *view, size_t tensor, enum shapeproof_diff_finding_kind kind,
                            const char *message)
{
    const size_t there = view->mine->other[tensor];
    const bool is_a = view->mine->side == SHAPEPROOF_DIFF_A;
    sp_diff_add_about(view->diff, is_a ? tensor : there, is_a ? there : tensor,
                      (struct shapeproof_diff_finding){.kind = kind, .message = message});
}

/* `kept` is the first of its group that the other side has. */
static void compare_tie(const struct view *view, size_t tensor, size_t kept)
{
    struct sp_arena *arena = &view->diff->arena;
    const struct shapeproof_inventory *theirs = view->theirs->inventory;
    const char *here = sp_half_name(view->mine), *over_there = sp_half_name(view->theirs);
    const char *partner = shapeproof_inventory_tensor(view->mine->inventory, kept)->name;
    const size_t there = view->mine->other[tensor];
    if (there == SHAPEPROOF_NONE) {
        view->mine->once[tensor] = true;
        add_tie_finding(view, tensor, SHAPEPROOF_DIFF_FINDING_STORED_ONCE,
                        sp_arena_printf(arena, "is tied to %s in %s, stored once in %s", partner, here, over_there));
    } else if (sp_tie_group(theirs, there) != sp_tie_group(theirs, view->mine->other[kept])) {
        add_tie_finding(
            view, tensor, SHAPEPROOF_DIFF_FINDING_TIED,
            sp_arena_printf(arena, "is tied to %s in %s, a tensor of its own in %s", partner, here, over_there));
    }
}

static void compare_ties(const struct view *view)
{
    const struct sp_diff_half *mine = view->mine;
    const size_t count = shapeproof_inventory_count(mine->inventory);
    size_t *kept = sp_realloc(NULL, count, sizeof *kept);
    for (size_t i = 0; i < count; i++) kept[i] = SHAPEPROOF_NONE;
    for (size_t i = count; i-- > 0;)
        if (mine->other[i] != SHAPEPROOF_NONE) kept[sp_tie_group(mine->inventory, i)] = i;
    for (size_t i = 0; i < count; i++) {
        const size_t first = kept[sp_tie_group(mine->inventory, i)];
        if (first != SHAPEPROOF_NONE && first != i) compare_tie(view, i, first);
    }
    sp_free(kept);
}

void sp_diff_ties(struct shapeproof_diff *diff)
{
    compare_ties(&(struct view){diff, &diff->a, &diff->b});
    compare_ties(&(struct view){diff, &diff->b, &diff->a});
}
