/* SPDX-License-Identifier: MIT
 * The JSON header of a safetensors file. */
#ifndef SP_READ_SAFETENSORS_HEADER_H
#define SP_READ_SAFETENSORS_HEADER_H

#include "model/inventory.h"

enum { SP_SAFETENSORS_LENGTH_BYTES = 8 }; /* the header's length, which stands before it */

/* Appends the tensors that the header declares, in its order and each checked by itself, and its metadata. The byte
 * ranges are still relative to the end of the header, and not yet compared with one another or with the file.
 * `text` is lost. */
bool sp_safetensors_scan_header(char *text, size_t length, uint32_t file_index, struct shapeproof_inventory *inventory,
                                struct shapeproof_error *error);

#endif
