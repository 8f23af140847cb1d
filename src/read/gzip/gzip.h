/* SPDX-License-Identifier: MIT
 * A file that was compressed with gzip, inflated into memory. */
#ifndef SP_READ_GZIP_GZIP_H
#define SP_READ_GZIP_GZIP_H

#include "base/file.h"

/* What a whole file may have when it is inflated. */
enum { SP_GZIP_MAX = 1 << 30 };

/* Fills `inflated`, a file in memory without a name on any disk; close it. *used: how many bytes of the file are gzip
 * data; what follows is something else. */
bool sp_gzip_inflate(const struct sp_file *file, struct sp_file *inflated, uint64_t *used,
                     struct shapeproof_error *error);

#endif
