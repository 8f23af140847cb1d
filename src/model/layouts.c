/* SPDX-License-Identifier: MIT */
#include "model/layouts.h"

#include <string.h>

#include "base/order.h"
#include "base/text.h"

/* Keras ends with (in, out), PyTorch begins with (out, in); what is left keeps its order. */
static bool is_kernel_of(const uint64_t *kernel, const uint64_t *weight, uint32_t rank)
{
    if (kernel[rank - 1] != weight[0] || kernel[rank - 2] != weight[1]) return false;
    return rank == 2 || memcmp(kernel, weight + 2, (rank - 2) * sizeof *kernel) == 0;
}

bool sp_is_transposed(const uint64_t *a, const uint64_t *b, uint32_t rank)
{
    return rank >= 2 && (is_kernel_of(a, b, rank) || is_kernel_of(b, a, rank));
}

bool sp_differs_in_ones(const uint64_t *a, uint32_t a_rank, const uint64_t *b, uint32_t b_rank)
{
    uint32_t i = 0, k = 0;
    if (a_rank == b_rank) return false;
    for (;;) {
        while (i < a_rank && a[i] == 1) i++;
        while (k < b_rank && b[k] == 1) k++;
        if (i == a_rank || k == b_rank) return i == a_rank && k == b_rank;
        if (a[i++] != b[k++]) return false;
    }
}

/* ---- of tensors ---- */

static bool same_rank(const struct shapeproof_tensor *a, const struct shapeproof_tensor *b)
{
    const uint32_t no_shape = SHAPEPROOF_TENSOR_NO_SHAPE;
    return a->rank == b->rank && (a->flags & no_shape) == (b->flags & no_shape);
}

bool sp_tensor_same_shape(const struct shapeproof_tensor *a, const struct shapeproof_tensor *b)
{
    return same_rank(a, b) && sp_same_dims(a->shape, a->rank, b->shape, b->rank);
}

bool sp_tensor_is_transposed(const struct shapeproof_tensor *a, const struct shapeproof_tensor *b)
{
    return same_rank(a, b) && sp_is_transposed(a->shape, b->shape, a->rank);
}

bool sp_tensor_has_transposed_matrices(const struct shapeproof_tensor *a, const struct shapeproof_tensor *b)
{
    const uint32_t rank = a->rank;
    if (!same_rank(a, b) || rank < 3 || memcmp(a->shape, b->shape, (rank - 2) * sizeof *a->shape) != 0) return false;
    return a->shape[rank - 2] == b->shape[rank - 1] && a->shape[rank - 1] == b->shape[rank - 2];
}

bool sp_is_row_major(const struct shapeproof_tensor *tensor)
{
    uint64_t expected = 1;
    if (!tensor->stride || !tensor->parameters) return true;
    for (uint32_t i = tensor->rank; i-- > 0; expected *= tensor->shape[i]) /* at most `parameters` */
        if (tensor->shape[i] != 1 && tensor->stride[i] != expected) return false;
    return true;
}

bool sp_tensor_same_order(const struct shapeproof_tensor *a, const struct shapeproof_tensor *b)
{
    if (sp_is_row_major(a) && sp_is_row_major(b)) return true;
    if (!a->stride || !b->stride) return false;
    for (uint32_t i = 0; i < a->rank; i++)
        if (a->shape[i] != 1 && a->stride[i] != b->stride[i]) return false;
    return true;
}

/* ---- for people ---- */

const char *sp_shape_text(struct sp_arena *arena, const uint64_t *shape, size_t rank)
{
    struct sp_text text = {0};
    sp_text_puts(&text, "(");
    for (size_t i = 0; i < rank; i++) {
        if (i) sp_text_puts(&text, ", ");
        sp_text_number(&text, shape[i]);
    }
    sp_text_puts(&text, ")");
    return sp_text_keep(&text, arena);
}

const char *sp_found_shape(struct sp_arena *arena, const struct shapeproof_tensor *tensor)
{
    return tensor->flags & SHAPEPROOF_TENSOR_NO_SHAPE ? "no shape" : sp_shape_text(arena, tensor->shape, tensor->rank);
}
