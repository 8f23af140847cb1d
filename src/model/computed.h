/* SPDX-License-Identifier: MIT
 * Buffers that every loader can compute: the frequencies of rotary embeddings, masks, positions. */
#ifndef SP_MODEL_COMPUTED_H
#define SP_MODEL_COMPUTED_H

#include <stdbool.h>
#include <stdint.h>

#include "shapeproof/dtype.h"

/* Whether a tensor is such a buffer, by its name, its shape and its dtype. */
bool sp_is_computed(const char *name, const uint64_t *shape, uint32_t rank, enum shapeproof_dtype dtype);

#endif
