/* SPDX-License-Identifier: MIT */
#include "compare/layouts.h"

#include <string.h>

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
