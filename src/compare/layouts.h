/* SPDX-License-Identifier: MIT
 * Shapes that hold the same elements in another order, or in the same order under other dimensions. */
#ifndef SP_COMPARE_LAYOUTS_H
#define SP_COMPARE_LAYOUTS_H

#include <stdbool.h>
#include <stdint.h>

/* Whether one has the dimensions in the order of Keras and the other in that of PyTorch: (in, out) and (out, in);
 * (height, width, in, out) and (out, in, height, width). */
bool sp_is_transposed(const uint64_t *a, const uint64_t *b, uint32_t rank);
/* Whether they differ in dimensions of 1 alone: (768, 3072) and (768, 3072, 1). */
bool sp_differs_in_ones(const uint64_t *a, uint32_t a_rank, const uint64_t *b, uint32_t b_rank);

#endif
