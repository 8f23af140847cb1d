/* SPDX-License-Identifier: MIT
 * Arithmetic that says when it overflows: each returns false then and leaves *out alone; or that stops at the largest
 * number. */
#ifndef SP_BASE_CHECKED_H
#define SP_BASE_CHECKED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

static inline bool sp_add_u64(uint64_t a, uint64_t b, uint64_t *out)
{
    uint64_t sum;
    if (__builtin_add_overflow(a, b, &sum)) return false;
    *out = sum;
    return true;
}

static inline bool sp_mul_u64(uint64_t a, uint64_t b, uint64_t *out)
{
    uint64_t product;
    if (__builtin_mul_overflow(a, b, &product)) return false;
    *out = product;
    return true;
}

/* a + b, or the largest number. */
static inline uint64_t sp_add_saturated(uint64_t a, uint64_t b) { return a > UINT64_MAX - b ? UINT64_MAX : a + b; }

/* As a size, or the largest one. */
static inline size_t sp_size_saturated(uint64_t a) { return a < SIZE_MAX ? (size_t)a : SIZE_MAX; }

/* A quotient without a remainder: false as well when there is one, and when b is 0. */
static inline bool sp_divide_i64(int64_t a, int64_t b, int64_t *out)
{
    if (b == 0 || (a == INT64_MIN && b == -1) || a % b) return false;
    *out = a / b;
    return true;
}

#endif
