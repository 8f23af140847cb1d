/* SPDX-License-Identifier: MIT
 * Comparing the elements of two tensors one by one: of another dtype, or in another order. */
#ifndef SP_DIFF_ELEMENTS_H
#define SP_DIFF_ELEMENTS_H

#include "model/bytes.h"
#include "shapeproof/inventory.h"

/* Where an element of one tensor is in the other. */
enum sp_element_order {
    SP_ORDER_SAME,
    SP_ORDER_TRANSPOSED, /* of a matrix: element (i, k) of the one is (k, i) of the other */
    SP_ORDER_ROTARY      /* the rows of each head in pairs, as llama.cpp has them: row 2 r + s is row s d/2 + r of d */
};

enum sp_elements {
    SP_ELEMENTS_EQUAL,   /* each of one dtype has the same value in the other */
    SP_ELEMENTS_ROUNDED, /* each of the narrower dtype is the other one, rounded to it */
    SP_ELEMENTS_DIFFERENT
};

struct sp_element_comparison {
    struct sp_bytes_of a, b;
    const struct shapeproof_tensor *in_a, *in_b; /* dense and row-major, without an obstacle */
    enum sp_element_order order;
    uint64_t heads; /* of SP_ORDER_ROTARY; B has the pairs */
    enum sp_elements result;
    uint64_t at; /* the first element of B that differs */
};

/* Whether values of both dtypes are numbers that can be compared: the same dtype, or two of F16, BF16, F32 and F64. */
bool sp_elements_are_comparable(const struct shapeproof_tensor *a, const struct shapeproof_tensor *b);
/* Fills in the result. False with an error when a file cannot be read. */
bool sp_elements_compare(struct sp_element_comparison *comparison, struct shapeproof_error *error);

#endif
