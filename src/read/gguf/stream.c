/* SPDX-License-Identifier: MIT */
#include "read/gguf/stream.h"

#include <inttypes.h>
#include <string.h>

static bool end_stream(struct sp_gguf_stream *stream, uint64_t bytes)
{
    if (bytes > sp_gguf_left(stream))
        sp_malformed(stream->error,
                     "ends inside the header: at byte %" PRIu64 ", only %" PRIu64 " of %" PRIu64 " bytes are left "
                     "(truncated download?)",
                     stream->offset, sp_gguf_left(stream), bytes);
    else
        sp_fail(stream->error, SHAPEPROOF_ERR_FILE, SHAPEPROOF_KIND_LIMIT, "the header is over the limit of %d bytes",
                SP_GGUF_MAX_HEADER);
    return stream->ok = false;
}

/* Whether so many bytes may be taken. */
static bool has_bytes(struct sp_gguf_stream *stream, uint64_t bytes)
{
    if (!stream->ok) return false;
    if (bytes > sp_gguf_left(stream) || bytes > SP_GGUF_MAX_HEADER || stream->offset + bytes > SP_GGUF_MAX_HEADER)
        return end_stream(stream, bytes);
    return true;
}

/* Takes at most `most` bytes, 1 or more, into the buffer; how many of them are there. */
static size_t fill_buffer(struct sp_gguf_stream *stream, size_t most)
{
    if (stream->offset < stream->begin || stream->offset >= stream->end) {
        const uint64_t left = sp_gguf_left(stream);
        const size_t length = left < SP_GGUF_BUFFER ? (size_t)left : SP_GGUF_BUFFER;
        stream->ok = sp_file_read(stream->file, stream->offset, stream->buffer, length, stream->error);
        if (!stream->ok) return 0;
        stream->begin = stream->offset;
        stream->end = stream->offset + length;
    }
    const uint64_t here = stream->end - stream->offset;
    return here < most ? (size_t)here : most;
}

static void take_stream(struct sp_gguf_stream *stream, unsigned char *into, size_t length)
{
    while (length) {
        const size_t part = fill_buffer(stream, length);
        if (!part) return;
        memcpy(into, stream->buffer + (stream->offset - stream->begin), part);
        stream->offset += part;
        into += part;
        length -= part;
    }
}

/* Those bytes in the buffer itself, or NULL when they are not all in it. */
static const unsigned char *in_buffer(const struct sp_gguf_stream *stream, unsigned bytes)
{
    const bool there = stream->offset >= stream->begin && stream->offset + bytes <= stream->end;
    return there ? stream->buffer + (stream->offset - stream->begin) : NULL;
}

uint64_t sp_gguf_integer(struct sp_gguf_stream *stream, unsigned bytes)
{
    unsigned char raw[8] = {0};
    uint64_t value = 0;
    if (!has_bytes(stream, bytes)) return 0;
    const unsigned char *at = in_buffer(stream, bytes);
    if (at) stream->offset += bytes;
    else take_stream(stream, raw, bytes);
    if (!at) at = raw;
    for (unsigned i = 0; i < bytes; i++) value = value << 8 | at[stream->big_endian ? i : bytes - 1 - i];
    return value;
}

uint64_t sp_gguf_count(struct sp_gguf_stream *stream) { return sp_gguf_integer(stream, stream->word); }

void sp_gguf_skip(struct sp_gguf_stream *stream, uint64_t bytes)
{
    if (has_bytes(stream, bytes)) stream->offset += bytes;
}

void sp_gguf_bytes(struct sp_gguf_stream *stream, uint64_t length, struct sp_text *text)
{
    text->length = 0;
    if (!has_bytes(stream, length)) length = 0;
    sp_text_reserve(text, (size_t)length);
    take_stream(stream, (unsigned char *)text->data, (size_t)length);
    text->length = stream->ok ? (size_t)length : 0;
    text->data[text->length] = '\0';
}
