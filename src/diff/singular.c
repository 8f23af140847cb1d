/* SPDX-License-Identifier: MIT
 * Repeated squaring. With w the matrix, N = w w' / trace(w w') is symmetric with eigenvalues of 0 or more and trace 1,
 * so that its largest eigenvalue is at most 1, and at least t = trace(N N). The largest eigenvalue of N N / t, whose
 * trace is 1 as well, is the square of that of N divided by t. So each step halves the logarithm of what the two bounds
 * are apart:
 *
 *     w = diag(2, 1)    |w| = 2.236, N = diag(0.8, 0.2), t = 0.68     2.236 sqrt(0.68) = 1.844 to 2.236
 *                       N N / t = diag(0.941, 0.059), t = 0.889     1.971 to 2.031 */
#include "diff/singular.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"

/* w w' divided by its trace, which is `squares`. */
static void fill_gram(const double *matrix, size_t rows, size_t columns, double squares, double *gram)
{
    const double scale = 1 / sqrt(squares);
    for (size_t i = 0; i < rows; i++)
        for (size_t k = 0; k <= i; k++) {
            double sum = 0;
            for (size_t c = 0; c < columns; c++)
                sum += matrix[i * columns + c] * scale * (matrix[k * columns + c] * scale);
            gram[i * rows + k] = gram[k * rows + i] = sum;
        }
}

/* The square of a symmetric matrix, divided by `by`. */
static void square(const double *matrix, size_t rows, double by, double *into)
{
    for (size_t i = 0; i < rows; i++)
        for (size_t k = 0; k <= i; k++) {
            double sum = 0;
            for (size_t c = 0; c < rows; c++) sum += matrix[i * rows + c] * matrix[k * rows + c];
            into[i * rows + k] = into[k * rows + i] = sum / by;
        }
}

static double sum_of_squares(const double *numbers, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++) sum += numbers[i] * numbers[i];
    return sum;
}

struct sp_singular_bounds sp_singular_largest(const double *matrix, size_t rows, size_t columns, double value,
                                              double precision)
{
    enum { STEPS = 50 }; /* more change nothing in F64 */
    struct sp_singular_bounds bounds = {0, (double)INFINITY};
    const double squares = sum_of_squares(matrix, rows * columns);
    if (!isnormal(squares)) return fpclassify(squares) == FP_ZERO ? (struct sp_singular_bounds){0, 0} : bounds;
    double *now = sp_realloc(NULL, rows * rows, sizeof *now), *next = sp_realloc(NULL, rows * rows, sizeof *next);
    double high = log(squares), share = 1; /* of the square: its logarithm; share: 2 to the power of -step */
    fill_gram(matrix, rows, columns, squares, now);
    for (int step = 0; step < STEPS; step++, share /= 2) {
        const double trace = sum_of_squares(now, rows * rows);
        bounds = (struct sp_singular_bounds){exp((high + share * log(trace)) / 2), exp(high / 2)};
        if (value < bounds.low || value > bounds.high || bounds.high <= bounds.low * (1 + precision)) break;
        high += share / 2 * log(trace);
        square(now, rows, trace, next);
        double *const swap = now;
        now = next;
        next = swap;
    }
    sp_free(now);
    sp_free(next);
    return bounds;
}
