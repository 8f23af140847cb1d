/* SPDX-License-Identifier: MIT
 * What comparisons for qsort and of shapes are made of. */
#ifndef SP_BASE_ORDER_H
#define SP_BASE_ORDER_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* Below 0, 0 or above it, as qsort wants it. */
static inline int sp_order(uint64_t a, uint64_t b) { return a < b ? -1 : a > b; }

/* For qsort, of int64_t. */
static inline int sp_compare_integers(const void *left, const void *right)
{
    const int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
    return a < b ? -1 : a > b;
}

/* For qsort and bsearch, of strings. */
static inline int sp_compare_strings(const void *left, const void *right)
{
    return strcmp(*(const char *const *)left, *(const char *const *)right);
}

/* Whether two shapes are the same. */
static inline bool sp_same_dims(const uint64_t *a, size_t a_rank, const uint64_t *b, size_t b_rank)
{
    return a_rank == b_rank && (!a_rank || memcmp(a, b, a_rank * sizeof *a) == 0);
}

#endif
