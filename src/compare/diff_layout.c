/* SPDX-License-Identifier: MIT
 * Shapes and the order of elements. */
#include <string.h>

#include "compare/diff.h"
#include "compare/layouts.h"

static bool same_rank(const struct sp_tensor *a, const struct sp_tensor *b)
{
    const uint32_t no_shape = SP_TENSOR_NO_SHAPE;
    return a->rank == b->rank && (a->flags & no_shape) == (b->flags & no_shape);
}

bool sp_diff_same_shape(const struct sp_tensor *a, const struct sp_tensor *b)
{
    return same_rank(a, b) && (!a->rank || memcmp(a->shape, b->shape, a->rank * sizeof *a->shape) == 0);
}

bool sp_diff_is_transposed(const struct sp_tensor *a, const struct sp_tensor *b)
{
    return same_rank(a, b) && sp_is_transposed(a->shape, b->shape, a->rank);
}

static bool is_kernel(const char *leaf) { return strcmp(leaf, "kernel") == 0 || strcmp(leaf, "vars/0") == 0; }

bool sp_diff_is_converted(const struct sp_diff *diff, size_t a)
{
    const size_t b = diff->b_of[a];
    if (b == SP_NONE || !diff->spelling_a[a].text || !diff->spelling_b[b].text) return false;
    return is_kernel(diff->spelling_a[a].leaf) != is_kernel(diff->spelling_b[b].leaf) &&
           sp_diff_is_transposed(sp_diff_a(diff, a), sp_diff_b(diff, b));
}

/* ---- the order of elements ---- */

bool sp_is_row_major(const struct sp_tensor *tensor)
{
    uint64_t expected = 1;
    if (!tensor->stride || !tensor->parameters) return true;
    for (uint32_t i = tensor->rank; i-- > 0; expected *= tensor->shape[i]) /* at most `parameters` */
        if (tensor->shape[i] != 1 && tensor->stride[i] != expected) return false;
    return true;
}

bool sp_diff_same_order(const struct sp_tensor *a, const struct sp_tensor *b)
{
    if (sp_is_row_major(a) && sp_is_row_major(b)) return true;
    if (!a->stride || !b->stride) return false;
    for (uint32_t i = 0; i < a->rank; i++)
        if (a->shape[i] != 1 && a->stride[i] != b->stride[i]) return false;
    return true;
}
