/* SPDX-License-Identifier: MIT
 * Ties: tensors of one storage under several names. A format without storages keeps one of the names (safetensors), or
 * a copy for each. Both sides are looked at with the same eyes, first A's ties in B, then B's in A. */
#include <stdlib.h>

#include "diff/diff.h"

/* One side, and the other as it sees it. */
struct view {
    struct sp_diff *diff;
    const struct sp_inventory *mine, *theirs;
    const size_t *their_of; /* counterparts */
    bool *once;             /* of mine: only stored once over there */
    bool is_a;
};

static void add_finding(const struct view *view, size_t tensor, const char *id, enum sp_severity severity,
                        const char *message)
{
    const size_t there = view->their_of[tensor];
    const struct sp_tensor *mine = sp_inventory_tensor(view->mine, tensor);
    const char *name = there == SP_NONE || view->is_a ? mine->name : sp_inventory_tensor(view->theirs, there)->name;
    const char *other = NULL;
    const size_t a = view->is_a ? tensor : there, b = view->is_a ? there : tensor;
    if (a != SP_NONE && b != SP_NONE && sp_diff_is_renamed(view->diff, a)) other = sp_diff_b(view->diff, b)->name;
    sp_diff_add(view->diff,
                (struct sp_diff_finding){
                    .id = id, .severity = severity, .name = name, .other = other, .message = message, .a = a, .b = b});
}

/* `kept` is the first of its group that the other side has. */
static void compare_tie(const struct view *view, size_t tensor, size_t kept)
{
    struct sp_arena *arena = &view->diff->arena;
    const char *mine = view->is_a ? "A" : "B", *theirs = view->is_a ? "B" : "A";
    const char *partner = sp_inventory_tensor(view->mine, kept)->name;
    const size_t there = view->their_of[tensor];
    if (there == SP_NONE) {
        view->once[tensor] = true;
        add_finding(view, tensor, "stored-once", SP_SEVERITY_NOTE,
                    sp_arena_printf(arena, "is tied to %s in %s, stored once in %s", partner, mine, theirs));
    } else if (sp_tie_group(view->theirs, there) != sp_tie_group(view->theirs, view->their_of[kept])) {
        add_finding(view, tensor, "tied", SP_SEVERITY_ERROR,
                    sp_arena_printf(arena, "is tied to %s in %s, a tensor of its own in %s", partner, mine, theirs));
    }
}

static void compare_ties(const struct view *view)
{
    const size_t count = sp_inventory_count(view->mine);
    size_t *kept = sp_realloc(NULL, count, sizeof *kept);
    for (size_t i = 0; i < count; i++) kept[i] = SP_NONE;
    for (size_t i = count; i-- > 0;)
        if (view->their_of[i] != SP_NONE) kept[sp_tie_group(view->mine, i)] = i;
    for (size_t i = 0; i < count; i++) {
        const size_t first = kept[sp_tie_group(view->mine, i)];
        if (first != SP_NONE && first != i) compare_tie(view, i, first);
    }
    free(kept);
}

void sp_diff_ties(struct sp_diff *diff)
{
    compare_ties(&(struct view){diff, diff->a, diff->b, diff->b_of, diff->once_a, true});
    compare_ties(&(struct view){diff, diff->b, diff->a, diff->a_of, diff->once_b, false});
}
