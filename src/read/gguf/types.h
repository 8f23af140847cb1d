/* SPDX-License-Identifier: MIT
 * The element types of ggml. Most are blocks: 32 or 256 elements of a row, packed with their scales. */
#ifndef SP_READ_GGUF_TYPES_H
#define SP_READ_GGUF_TYPES_H

#include <stdbool.h>
#include <stdint.h>

#include "shapeproof/dtype.h"

struct sp_ggml_type {
    uint32_t number;
    const char *name;
    enum shapeproof_dtype dtype; /* SHAPEPROOF_DTYPE_UNKNOWN of blocks: no element has a size of its own */
    uint32_t elements;           /* in a block; 1 of a plain type */
    uint32_t bytes;              /* of a block */
    bool removed;                /* files of it exist, and ggml reads them no longer */
};

/* NULL for a number that is not known. */
const struct sp_ggml_type *sp_ggml_type(uint32_t number);

#endif
