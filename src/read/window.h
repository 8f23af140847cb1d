/* SPDX-License-Identifier: MIT
 * A file read forwards, a little at a time, for formats whose headers lie between the data: bytes are taken, data are
 * skipped and never read. Failure is sticky, as with a cursor: past the end, or when the file cannot be read, `ok` is
 * false, a take gives zeros, and the error is filled. */
#ifndef SP_READ_WINDOW_H
#define SP_READ_WINDOW_H

#include "base/arena.h"
#include "base/file.h"

enum { SP_WINDOW_BYTES = 4096 };

struct sp_window {
    const struct sp_file *file;
    struct shapeproof_error *error;
    const char *what; /* that is read, for the message about its end: "array 3 of 7" */
    uint64_t at, end; /* of the file: nothing is taken from `end` on */
    uint64_t begin;   /* of what is in `bytes` */
    size_t length;
    bool ok;
    unsigned char bytes[SP_WINDOW_BYTES];
};

/* Bytes [begin, end) of the file; an `end` past its end is the end. */
void sp_window_open(struct sp_window *window, const struct sp_file *file, uint64_t begin, uint64_t end,
                    struct shapeproof_error *error);
static inline uint64_t sp_window_left(const struct sp_window *window) { return window->end - window->at; }
/* Copies `count` bytes, or zeros them and fails. */
bool sp_window_take(struct sp_window *window, void *into, size_t count);
bool sp_window_skip(struct sp_window *window, uint64_t count);
/* An unsigned little-endian integer of 1 to 8 bytes. */
uint64_t sp_window_le(struct sp_window *window, unsigned bytes);
/* A text of `length` bytes as names are kept: UTF-8, what is not is shown as \xNN. "" and a failure when it has a NUL
 * or more than `limit` bytes. */
const char *sp_window_text(struct sp_window *window, uint64_t length, size_t limit, struct sp_arena *arena);

/* What sp_window_text makes of bytes that are in memory; NULL when there is a NUL among them. */
const char *sp_printable_name(const char *bytes, size_t length, struct sp_arena *arena);

#endif
