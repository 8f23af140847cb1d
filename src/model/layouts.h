/* SPDX-License-Identifier: MIT
 * Shapes: of the same elements in another order, or in the same order under other dimensions; and as text. */
#ifndef SP_MODEL_LAYOUTS_H
#define SP_MODEL_LAYOUTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "shapeproof/inventory.h"

/* Whether one has the dimensions in the order of Keras and the other in that of PyTorch: (in, out) and (out, in);
 * (height, width, in, out) and (out, in, height, width). */
bool sp_is_transposed(const uint64_t *a, const uint64_t *b, uint32_t rank);
/* Whether they differ in dimensions of 1 alone: (768, 3072) and (768, 3072, 1). */
bool sp_differs_in_ones(const uint64_t *a, uint32_t a_rank, const uint64_t *b, uint32_t b_rank);

bool sp_tensor_same_shape(const struct shapeproof_tensor *a, const struct shapeproof_tensor *b);
/* As sp_is_transposed. */
bool sp_tensor_is_transposed(const struct shapeproof_tensor *a, const struct shapeproof_tensor *b);
/* Several matrices in one, each of them transposed: (4, 96, 64) and (4, 64, 96). */
bool sp_tensor_has_transposed_matrices(const struct shapeproof_tensor *a, const struct shapeproof_tensor *b);
/* Dense, the last dimension innermost. */
bool sp_is_row_major(const struct shapeproof_tensor *tensor);
/* Whether their elements follow one another in the same order in both files. */
bool sp_tensor_same_order(const struct shapeproof_tensor *a, const struct shapeproof_tensor *b);

/* Whether two tensors of one storage certainly have an element in common. False also when it is not known: the size of
 * an element is not, only a piece is stored, or the strides are too many and too odd. */
bool sp_tensors_overlap(const struct shapeproof_tensor *a, const struct shapeproof_tensor *b);

/* "(64, 16)". In the arena. */
const char *sp_shape_text(struct sp_arena *arena, const uint64_t *shape, size_t rank);
/* The same, or "no shape". */
const char *sp_found_shape(struct sp_arena *arena, const struct shapeproof_tensor *tensor);

#endif
