/* SPDX-License-Identifier: MIT
 * The tensors of a GGUF file: what the header says of each, and whether their data lie where it says. */
#ifndef SP_READ_GGUF_LAYOUT_H
#define SP_READ_GGUF_LAYOUT_H

#include "model/inventory.h"
#include "read/gguf/stream.h"

/* Appends `count` tensors; data_begin and data_end count from the beginning of the data. */
bool sp_gguf_read_tensors(struct sp_gguf_stream *stream, uint64_t count, uint32_t file_index,
                          struct shapeproof_inventory *inventory);
/* Checks the places of the tensors from `first` on against each other and against the size of the file, and makes them
 * count from its beginning. `data` is where the data begin. */
bool sp_gguf_place_tensors(const struct sp_file *file, uint64_t data, uint64_t alignment, size_t first,
                           struct shapeproof_inventory *inventory, struct shapeproof_error *error);

#endif
