/* SPDX-License-Identifier: MIT
 * The largest singular value of a matrix, between bounds that hold. */
#ifndef SP_DIFF_SINGULAR_H
#define SP_DIFF_SINGULAR_H

#include <stddef.h>

enum {
    SP_SINGULAR_ROWS = 512,         /* of a matrix, at most: each step multiplies two matrices of so many rows */
    SP_SINGULAR_ELEMENTS = 1 << 22, /* of a matrix, at most: 32 MiB */
};

struct sp_singular_bounds {
    double low, high;
};

/* Bounds of the largest singular value of a matrix of `rows` rows, at most SP_SINGULAR_ROWS, that are so close that
 * `value` is not between them, or that they differ by the fraction `precision` at most. Infinite if a number of the
 * matrix is not finite. */
struct sp_singular_bounds sp_singular_largest(const double *matrix, size_t rows, size_t columns, double value,
                                              double precision);

#endif
