/* SPDX-License-Identifier: MIT
 * The header of a GGUF file, read from front to back: nothing says how long it is, so it is taken piece by piece.
 *
 * Failure is sticky, as with sp_cursor: what lies behind the end of the file, or behind the limit for headers, reads as
 * zero, and a structure can be read whole before `ok` is tested. */
#ifndef SP_READ_GGUF_STREAM_H
#define SP_READ_GGUF_STREAM_H

#include "base/file.h"
#include "base/text.h"

enum { SP_GGUF_MAX_HEADER = 256 << 20, SP_GGUF_BUFFER = 64 << 10 };

struct sp_gguf_stream {
    const struct sp_file *file;
    uint64_t offset;       /* in the file, of what is read next */
    uint64_t begin, end;   /* the range of the file that is in the buffer */
    unsigned char *buffer; /* SP_GGUF_BUFFER bytes */
    unsigned word;         /* bytes of a count or a length: 4 in version 1, 8 since */
    bool big_endian;
    bool ok;
    struct shapeproof_error *error; /* filled with the reason when `ok` is cleared */
};

/* Counts what is there, before anything is allocated for it. */
static inline uint64_t sp_gguf_left(const struct sp_gguf_stream *stream) { return stream->file->size - stream->offset; }

/* An unsigned integer of 1 to 8 bytes in the byte order of the file. */
uint64_t sp_gguf_integer(struct sp_gguf_stream *stream, unsigned bytes);
/* A count or a length. */
uint64_t sp_gguf_count(struct sp_gguf_stream *stream);
/* Passes over so many bytes. */
void sp_gguf_skip(struct sp_gguf_stream *stream, uint64_t bytes);
/* Puts so many bytes into `text`, in place of what is there. */
void sp_gguf_bytes(struct sp_gguf_stream *stream, uint64_t length, struct sp_text *text);

#endif
