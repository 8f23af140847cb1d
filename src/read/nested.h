/* SPDX-License-Identifier: MIT
 * A checkpoint within a file: a member of an archive, or what was compressed. */
#ifndef SP_READ_NESTED_H
#define SP_READ_NESTED_H

#include "read/reader.h"

/* Indexes `inner` with whichever reader knows it, as a part of the file with that number. Its tensors and their
 * storages get `prefix` in front of their names. Where they lie is kept when `inner` is a range of the file, whose
 * `base` it then has; otherwise it is forgotten. */
bool sp_nested_index(const struct sp_file *outer, const struct sp_file *inner, const char *prefix, uint32_t file_index,
                     struct shapeproof_inventory *inventory, struct shapeproof_error *error);
/* Whether the file, which has its own level of nesting, is not too deep within others. */
bool sp_nested_check(const struct sp_file *file, struct shapeproof_error *error);

#endif
