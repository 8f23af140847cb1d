/* SPDX-License-Identifier: MIT
 * Comparing the bytes of two tensors, through two buffers whatever their size. Bytes are compared and not numbers: 0.0
 * is not -0.0, and a NaN equals itself. */
#ifndef SP_MODEL_BYTES_H
#define SP_MODEL_BYTES_H

#include "shapeproof/data.h"

struct sp_bytes_of {
    const struct shapeproof_data *data;
    size_t tensor; /* without an obstacle */
};

/* Compares the bytes from *at to `length`, which both must have; *at becomes the first that differs, or `length`. False
 * with an error when a file cannot be read. */
bool sp_bytes_compare(struct sp_bytes_of a, struct sp_bytes_of b, uint64_t length, uint64_t *at,
                      struct shapeproof_error *error);

#endif
