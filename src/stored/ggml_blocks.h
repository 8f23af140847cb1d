/* SPDX-License-Identifier: MIT
 * The quantised types of ggml, which GGUF files have: blocks of 32 or 256 elements of a row with common scales, and the
 * values that llama.cpp makes of them. */
#ifndef SP_STORED_GGML_BLOCKS_H
#define SP_STORED_GGML_BLOCKS_H

#include <stdint.h>

/* An element that was quantised: its value, and the interval of those that a quantiser stores as this value. */
struct sp_restored {
    float value, low, high;
};

struct sp_ggml_block {
    const char *name;         /* as shapeproof_tensor.dtype_name has it: "Q4_K" */
    uint32_t elements, bytes; /* of a block */
    void (*restore)(const unsigned char *block, struct sp_restored *into);
};

enum { SP_GGML_MOST_ELEMENTS = 256 }; /* of a block */

/* The type of that name, or NULL if its blocks cannot be restored here. */
const struct sp_ggml_block *sp_ggml_block(const char *dtype_name);

#endif
