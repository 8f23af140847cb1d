/* SPDX-License-Identifier: MIT */
#include "model/layouts.h"

#include <stdlib.h>
#include <string.h>

#include "base/budget.h"
#include "base/checked.h"
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

/* ---- overlap ---- */

/* An element of a tensor lies at offset + x1 * stride1 + ... + xn * strideN, 0 <= xi < sizei. With y = size - 1 - x in
 * place of the x of the second tensor, two tensors have an element in common if, of terms that all have coefficients
 * above 0, some sum of x * coefficient is a given number: a subset-sum problem with bounds. */
struct term {
    uint64_t coefficient, most; /* 0 <= x <= most */
    uint64_t rest;              /* the largest sum of the terms from this one on */
};

/* Of two tensors, and one for the bytes of an element of each. */
enum { MOST_TERMS = 32 };
/* Sums that are tried for a pair: views of one storage need a few for each dimension. */
enum { MOST_SUMS = 1000 };

struct sums {
    struct term terms[MOST_TERMS];
    size_t count;
    uint64_t wanted; /* the sum */
    unsigned tried;
};

/* Adds x * coefficient; terms of one coefficient are one term. False if there are too many terms. */
static bool add_term(struct sums *sums, uint64_t coefficient, uint64_t most)
{
    if (!coefficient || !most) return true;
    for (size_t i = 0; i < sums->count; i++)
        if (sums->terms[i].coefficient == coefficient)
            return sp_add_u64(sums->terms[i].most, most, &sums->terms[i].most);
    if (sums->count == MOST_TERMS) return false;
    sums->terms[sums->count++] = (struct term){.coefficient = coefficient, .most = most};
    return true;
}

/* Adds the terms of a tensor, whose elements are `unit` places long, and sets *reach to its last place, counted from
 * its first one. */
static bool add_tensor(struct sums *sums, const struct shapeproof_tensor *tensor, uint64_t unit, uint64_t *reach)
{
    uint64_t step, span;
    *reach = unit - 1;
    if (!add_term(sums, 1, unit - 1)) return false;
    if (sp_is_row_major(tensor))
        return sp_mul_u64(tensor->parameters - 1, unit, &span) && sp_add_u64(*reach, span, reach) &&
               add_term(sums, unit, tensor->parameters - 1);
    for (uint32_t i = 0; i < tensor->rank; i++)
        if (!sp_mul_u64(tensor->stride[i], unit, &step) || !sp_mul_u64(tensor->shape[i] - 1, step, &span) ||
            !sp_add_u64(*reach, span, reach) || !add_term(sums, step, tensor->shape[i] - 1))
            return false;
    return true;
}

static int compare_terms(const void *left, const void *right)
{
    const struct term *a = left, *b = right;
    return sp_order(b->coefficient, a->coefficient);
}

/* Sorts the terms by coefficients, the largest first, and fills in the rests. */
static bool order_terms(struct sums *sums)
{
    uint64_t rest = 0, own;
    if (sums->count) qsort(sums->terms, sums->count, sizeof *sums->terms, compare_terms);
    for (size_t i = sums->count; i-- > 0;) {
        if (!sp_mul_u64(sums->terms[i].coefficient, sums->terms[i].most, &own) || !sp_add_u64(rest, own, &rest))
            return false;
        sums->terms[i].rest = rest;
    }
    return true;
}

/* Whether the terms from number `first` on can sum up to `wanted`; backtracking over the values of the first one that
 * leave something that the others can reach. */
static bool can_sum_to(struct sums *sums, size_t first, uint64_t wanted)
{
    if (!wanted) return true;
    if (first == sums->count || wanted > sums->terms[first].rest || ++sums->tried > MOST_SUMS) return false;
    const struct term *term = &sums->terms[first];
    const uint64_t others = first + 1 < sums->count ? term[1].rest : 0;
    const uint64_t fits = wanted / term->coefficient;
    const uint64_t least = wanted > others ? (wanted - others - 1) / term->coefficient + 1 : 0;
    for (uint64_t x = (fits < term->most ? fits : term->most) + 1; x-- > least;) {
        if (can_sum_to(sums, first + 1, wanted - x * term->coefficient)) return true;
        if (sums->tried > MOST_SUMS) return false;
    }
    return false;
}

bool sp_tensors_overlap(const struct shapeproof_tensor *a, const struct shapeproof_tensor *b)
{
    const unsigned bits = shapeproof_dtype_bits(a->dtype), other_bits = shapeproof_dtype_bits(b->dtype);
    const bool in_elements = bits == other_bits;
    const uint64_t unit = in_elements ? 1 : bits / 8, other_unit = in_elements ? 1 : other_bits / 8;
    struct sums sums = {.count = 0};
    uint64_t begin, other_begin, reach, other_reach;
    if (!bits || !other_bits || (!in_elements && (bits % 8 || other_bits % 8))) return false;
    if (!a->parameters || !b->parameters || a->piece || b->piece) return false;
    if (!sp_mul_u64(a->offset, unit, &begin) || !sp_mul_u64(b->offset, other_unit, &other_begin)) return false;
    if (begin > other_begin) return sp_tensors_overlap(b, a);
    if (!add_tensor(&sums, a, unit, &reach) || !add_tensor(&sums, b, other_unit, &other_reach)) return false;
    if (!order_terms(&sums) || other_begin - begin > reach) return false;
    const bool is_known = sp_add_u64(other_begin - begin, other_reach, &sums.wanted);
    const bool overlaps = is_known && can_sum_to(&sums, 0, sums.wanted);
    sp_budget_spend(sums.tried);
    return overlaps;
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
