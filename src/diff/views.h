/* SPDX-License-Identifier: MIT
 * Comparing elements of two tensors that are in different orders, with strides: a view names for each index the element
 * that it means, as in NumPy. Every order of elements that a converter makes is such a view:
 *
 *     B's row h d + 2 r + s is A's row h d + s d/2 + r    sizes (heads, d/2, 2, columns),
 *     (rotary positions; d rows in a head)                steps of A (d columns, columns, d/2 columns, 1)
 *
 *     B is A transposed, (rows, columns) of B             sizes (rows, columns), steps of A (1, rows)
 *
 *     k of A is the rows 64 to 95 of qkv of B             sizes (32, columns), of B `start` 64 columns */
#ifndef SP_DIFF_VIEWS_H
#define SP_DIFF_VIEWS_H

#include "diff/elements.h"
#include "model/bytes.h"
#include "shapeproof/inventory.h"

enum {
    SP_VIEW_RANK = 6, /* dimensions of a view: four of a convolution, two more for groups of rows */
    SP_SAMPLES = 16   /* values of a sample, at most */
};

/* Element (i, j, ...) of the view is element start + i * step[0] + j * step[1] + ... of the tensor, which is dense and
 * little-endian. */
struct sp_element_view {
    struct sp_bytes_of bytes;
    const struct shapeproof_tensor *tensor;
    uint64_t start, step[SP_VIEW_RANK];
};

/* What is done to the values of A before they are compared with those of B. */
enum sp_change {
    SP_CHANGE_NONE,
    SP_CHANGE_PLUS_ONE,
    SP_CHANGE_PLUS_TWO,
    SP_CHANGE_MINUS_ONE,
    SP_CHANGE_MINUS_EXP, /* -exp(a) */
    SP_CHANGE_EXP,       /* exp(a) */
    SP_CHANGE_NEGATED,
    SP_CHANGE_DOUBLED,
    SP_CHANGE_HALVED,
    SP_CHANGE_ZERO,         /* 0 or -0, in place of each a, of which none is 0 */
    SP_CHANGE_ROUNDED_BF16, /* a as BF16 stores it, whatever the dtype of B */
    SP_CHANGE_ROUNDED_F16,
    SP_CHANGE_CUT_BF16 /* the first 16 bits of F32, without rounding */
};

struct sp_view_pair {
    uint32_t rank; /* at least 1 */
    uint64_t size[SP_VIEW_RANK];
    struct sp_element_view a, b;
    enum sp_change change; /* other than SP_CHANGE_NONE: both are F16, BF16, F32 or F64 */
};

/* How two tensors differ that are not the same. */
struct sp_view_differences {
    uint64_t different, all;             /* elements: compared, of these different */
    uint64_t first;                      /* index, counted along the view, of the first that differs */
    uint64_t not_finite_a, not_finite_b; /* elements that are NaN or infinite in one of them alone */
    double most;                         /* the greatest absolute difference of two finite numbers */
    double squares, squares_a;           /* sums of squares: of the differences, of A's values; of finite numbers */
};

/* A pair of all elements of two tensors in the order in which both have them. */
struct sp_view_pair sp_view_pair_flat(const struct sp_element_view *a, const struct sp_element_view *b);
/* Adds a dimension behind those that the pair has. */
void sp_view_pair_add(struct sp_view_pair *pair, uint64_t size, uint64_t step_a, uint64_t step_b);
/* Orders of the rows of a head for rotary positions: "paired" has the halves of the original one element by one, so
 * that its row 2 r + s is row s d/2 + r of the d rows there. */
enum sp_rotary {
    SP_ROTARY_PAIRED, /* B is A, paired */
    SP_ROTARY_HALVED, /* A is B, paired */
    SP_ROTARY_TWICE   /* B is A, paired, and the result paired again */
};

/* Adds the dimensions of the rows of one head, which are 2 n, for SP_ROTARY_TWICE 4 n. */
void sp_view_pair_add_rotary(struct sp_view_pair *pair, enum sp_rotary order, uint64_t rows, uint64_t step_a,
                             uint64_t step_b);
/* The same for one row of several paired heads of `rows` rows: its row in the original. */
static inline uint64_t sp_rotary_original(uint64_t row, uint64_t rows)
{
    const uint64_t own = row % rows;
    return row - own + own % 2 * (rows / 2) + own / 2;
}

/* Whether the pair can be compared: not when the elements of a part of it lie so far apart that more than 64 MiB would
 * be in memory at once, nor when a tensor can only be read in order and the view has another. */
bool sp_views_fit(const struct sp_view_pair *pair);
/* Compares the elements of a pair that fits up to the first that is neither equal nor rounded: to the narrower of the
 * two dtypes, of F16 and BF16 all of them to either. False with an error when a file cannot be read, or when the caller
 * wants the call to end. `progress` may be NULL, also below. */
bool sp_views_compare(const struct sp_view_pair *pair, struct sp_data_progress *progress, enum sp_elements *result,
                      struct shapeproof_error *error);
/* Whether two values are the same but for the rounding to BF16, which has 8 bits, or to F16, whose smallest numbers are
 * 2^-24 apart. */
bool sp_is_near(double a, double b);
/* Whether a few elements of two places of the view are about the same: cheap, before sp_views_compare. */
bool sp_views_are_alike(const struct sp_view_pair *pair);
/* Compares all elements and measures how they differ; of elements that are not floats only how many differ. */
bool sp_views_measure(const struct sp_view_pair *pair, struct sp_data_progress *progress,
                      struct sp_view_differences *differences, struct shapeproof_error *error);
/* The first `count` values along the last dimension, or fewer if that is shorter, at most SP_SAMPLES; those of A after
 * its change, and of elements that are not floats their bits as a number. Returns how many, 0 when a file cannot be
 * read. */
size_t sp_views_sample_a(const struct sp_view_pair *pair, double *values, size_t count);
size_t sp_views_sample_b(const struct sp_view_pair *pair, double *values, size_t count);

#endif
