/* SPDX-License-Identifier: MIT
 * A regular file, opened once and read with pread, so that a file cut short while it is read is an error, not SIGBUS.
 */
#ifndef SP_BASE_FILE_H
#define SP_BASE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* Whoever fetches the bytes of a file that is elsewhere: `fd` is then a sparse copy of it on this machine, of the same
 * size, with holes. NULL of a file that is here. */
struct sp_byte_source {
    /* Fetches what of these bytes, all within the file, is not in that copy yet. */
    bool (*fill)(struct sp_byte_source *source, uint64_t offset, uint64_t length, struct shapeproof_error *error);
};

/* A file of that name lies in each folder of such copies: what is read there without a byte source may be a hole. */
#define SP_MIRROR_MARK ".shapeproof-mirror"

struct sp_file {
    int fd;
    uint64_t size;    /* when it was opened */
    const char *path; /* borrowed: as the user wrote it */
    uint64_t base;    /* a file within a file: where it begins in that; else 0 */
    unsigned nesting; /* in how many other files it lies */
    struct sp_byte_source *source;
};

/* Opens `path` (relative to `directory_fd`, or AT_FDCWD) and insists on a regular file: a FIFO or device never blocks.
 */
bool sp_file_open(struct sp_file *file, int directory_fd, const char *path, struct shapeproof_error *error);
/* Exactly `length` bytes at `offset`, which counts from `base`; false with an error when the file has become shorter.
 */
bool sp_file_read(const struct sp_file *file, uint64_t offset, void *into, size_t length,
                  struct shapeproof_error *error);
/* Makes sure that the bytes are there for who reads `fd` by other means than sp_file_read. */
bool sp_file_need(const struct sp_file *file, uint64_t offset, uint64_t length, struct shapeproof_error *error);
/* The whole file, NUL-terminated (the NUL not counted), when it is at most `limit` bytes. free() it. */
char *sp_file_slurp(const struct sp_file *file, size_t limit, struct shapeproof_error *error);
void sp_file_close(struct sp_file *file);

#endif
