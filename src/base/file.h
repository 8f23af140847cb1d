/* SPDX-License-Identifier: MIT
 * A regular file, opened once and read with pread, so that a file cut short while it is read is an error, not SIGBUS.
 */
#ifndef SP_BASE_FILE_H
#define SP_BASE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* Fetches the bytes of a remote file: `fd` is then a sparse local copy of it, of the same size, with holes. */
struct sp_byte_source {
    /* Fetches those of the bytes, which are all within the file, that are not in the copy yet; false with an error. */
    bool (*fill)(struct sp_byte_source *source, uint64_t offset, uint64_t length, struct shapeproof_error *error);
};

/* A file of that name is in each folder of such copies, which must not be read without a byte source: zeros may be a
 * hole. */
#define SP_MIRROR_MARK ".shapeproof-mirror"

struct sp_file {
    int fd;
    uint64_t size;                 /* when it was opened */
    const char *path;              /* borrowed: as the user wrote it */
    uint64_t base;                 /* of a file within a file: where it begins in that; else 0 */
    unsigned nesting;              /* how many files it is in, one within the other */
    void *in_memory;               /* of a file in memory: a block that counts as its bytes (sp_count_as); else NULL */
    uint64_t inflated_from;        /* of what was inflated, in layers: the size of the outermost; else 0 */
    struct sp_byte_source *source; /* of a remote file; NULL for a local one */
};

/* Opens `path` (relative to `directory_fd`, or AT_FDCWD) and insists on a regular file: a FIFO or device never blocks.
 */
bool sp_file_open(struct sp_file *file, int directory_fd, const char *path, struct shapeproof_error *error);
/* Reads exactly `length` bytes at `offset`, which counts from `base`. False with an error: SHAPEPROOF_KIND_MALFORMED
 * when the file ends before, SHAPEPROOF_KIND_IO when reading fails. */
bool sp_file_read(const struct sp_file *file, uint64_t offset, void *into, size_t length,
                  struct shapeproof_error *error);
/* Fetches the bytes of a remote file, up to its end, for code that reads `fd` by other means than sp_file_read. True at
 * once for a local file. */
bool sp_file_need(const struct sp_file *file, uint64_t offset, uint64_t length, struct shapeproof_error *error);
/* The whole file, NUL-terminated (the NUL not counted), when it is at most `limit` bytes; else NULL with an
 * error. sp_free it. */
char *sp_file_slurp(const struct sp_file *file, size_t limit, struct shapeproof_error *error);
void sp_file_close(struct sp_file *file);

/* Writes all bytes, also if the system takes them in several parts. False with errno. */
bool sp_write_all(int fd, const void *bytes, size_t length);

#endif
