/* SPDX-License-Identifier: MIT
 * Comparing quantised values with those in full precision: whether each number lies where the quantiser would have
 * stored the code that is there. */
#ifndef SP_DIFF_DEQUANTISED_H
#define SP_DIFF_DEQUANTISED_H

#include "diff/elements.h"
#include "stored/ggml_blocks.h"

/* How the two differ. */
struct sp_quantisation_error {
    uint64_t elements, outside; /* compared; of these outside of what the code can stand for, or not finite */
    uint64_t first;             /* where the first group of 256 with one of those outside begins, in the order of the
                                 * quantised tensor */
    double most;                /* the largest absolute difference of finite numbers */
    double squares, whole;      /* sums of squares: of the differences, of the numbers in full precision */
};

/* The root of the mean square of the differences, as a fraction of that of the numbers. */
double sp_relative_error(const struct sp_quantisation_error *error);

/* Whether a number in full precision lies where the quantiser would have stored that value; not if it is NaN. A number
 * may have been rounded to BF16 or F16 before. */
bool sp_is_within_error(const struct sp_restored *restored, double value);

/* A tensor of blocks, or a matrix in it, and a tensor of F16, BF16, F32 or F64 of the same shape, both row-major. */
struct sp_dequantised_pair {
    struct sp_bytes_of packed, full;
    const struct shapeproof_tensor *in_packed, *in_full;
    const struct sp_ggml_block *block; /* of `packed` */
    uint64_t start;                    /* the element of `packed` at which the matrix begins, that of a block */
    uint64_t heads;                    /* `packed` has the rows of so many heads in pairs (SP_ROWS_PAIRED); 0: not */
    bool only_whether;                 /* end at the first element outside */
    struct sp_data_progress *progress; /* or NULL; in bytes of the full one if `full_is_a`, otherwise of the other */
    bool full_is_a;
};

/* False with an error when a file cannot be read, or when the caller wants the call to end. */
bool sp_dequantised_compare(const struct sp_dequantised_pair *pair, struct sp_quantisation_error *found,
                            struct shapeproof_error *error);

#endif
