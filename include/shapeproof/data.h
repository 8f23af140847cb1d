/* SPDX-License-Identifier: MIT
 * The bytes of tensors, for those who ask for them: an inventory never reads them. Bytes are as the file stores them,
 * little-endian unless the tensor is SHAPEPROOF_TENSOR_BIG_ENDIAN; nothing is converted. What is compressed is
 * decompressed, and what lies in pieces is put together, as it is read.
 */
#ifndef SHAPEPROOF_DATA_H
#define SHAPEPROOF_DATA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "shapeproof/api.h"
#include "shapeproof/error.h"
#include "shapeproof/inventory.h"

#ifdef __cplusplus
extern "C" {
#endif

struct shapeproof_data; /* opaque: the open files of an inventory, and where in them its tensors lie */

/* Opens the files of the inventory again, which must outlive it. NULL with an error when one cannot be opened. */
SHAPEPROOF_API struct shapeproof_data *shapeproof_data_open(const struct shapeproof_inventory *inventory,
                                                            struct shapeproof_error *error);
SHAPEPROOF_API void shapeproof_data_close(struct shapeproof_data *data);

/* Why the bytes of a tensor cannot be had: "the file holds no bytes for it", "not contiguous"; NULL when they can. May
 * read headers of the pieces of a tensor. Borrowed until shapeproof_data_close. */
SHAPEPROOF_API const char *shapeproof_data_obstacle(const struct shapeproof_data *data, size_t tensor);
/* Whether the bytes of a tensor should be asked for from the first to the last. It is large and compressed: who asks
 * for an earlier byte than before has it decompressed from its beginning again. */
SHAPEPROOF_API bool shapeproof_data_in_order(const struct shapeproof_data *data, size_t tensor);
/* The bytes of a tensor without an obstacle, from its first element to its last in the file: shapeproof_tensor.bytes of
 * them, in row-major order unless it has other strides. False with an error when the file cannot be read, or is shorter
 * than it was. */
SHAPEPROOF_API bool shapeproof_data_read(const struct shapeproof_data *data, size_t tensor, uint64_t offset, void *into,
                                         size_t length, struct shapeproof_error *error);

#ifdef __cplusplus
}
#endif
#endif
