/* SPDX-License-Identifier: MIT
 * gzip data, one member or several one after another, through zlib, a piece at a time. What is inflated goes to a file
 * in memory, in which runs of zeros are holes, so that they take no memory; all else counts as memory of the call. */
#define _POSIX_C_SOURCE 200809L /* pwrite, ftruncate */
#include "read/gzip/gzip.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "base/arena.h"
#include "base/budget.h"
#include "base/call.h"
#include "base/fault.h"
#include "base/system/system.h"

enum { PIECE = 64 << 10, GZIP_WINDOW = 15 + 16 /* the largest, and gzip's own head and trailer */ };

struct gunzip {
    const struct sp_file *file;
    struct shapeproof_error *error;
    z_stream stream;
    uint64_t at;     /* of the file: what has been read */
    uint64_t size;   /* of what has been inflated */
    uint64_t most;   /* that it may be */
    void *in_memory; /* counts as what is stored, */
    size_t stored;   /* which are so many bytes */
    int fd;
    unsigned char in[PIECE], out[PIECE];
};

static bool fill_input(struct gunzip *g)
{
    const uint64_t left = g->file->size - g->at;
    const size_t length = left < PIECE ? (size_t)left : PIECE;
    if (g->stream.avail_in) return true;
    if (!sp_file_read(g->file, g->at, g->in, length, g->error)) return false;
    g->stream.next_in = g->in;
    g->stream.avail_in = (uInt)length;
    g->at += length;
    return true;
}

static bool holds_zeros(const unsigned char *bytes, size_t length)
{
    return !bytes[0] && !memcmp(bytes, bytes + 1, length - 1);
}

/* What is inflated cannot be stored. */
static bool fail_store(const struct sp_file *file, const char *call, int why, struct shapeproof_error *error)
{
    sp_fault_note(call, file->path, why);
    return sp_fail(error, SHAPEPROOF_ERR_FILE, SHAPEPROOF_KIND_IO, "no room for what is inflated: %s: %s", call,
                   strerror(why));
}

static bool store_piece(struct gunzip *g, size_t length)
{
    if (length > g->most - g->size)
        return sp_fail(g->error, SHAPEPROOF_ERR_FILE, SHAPEPROOF_KIND_LIMIT,
                       "gzip data that inflate to more than %" PRIu64 " bytes", g->most);
    sp_budget_spend(1 + length / SP_BUDGET_INFLATED);
    const bool is_stored = length && !holds_zeros(g->out, length);
    if (is_stored) sp_count_as(g->in_memory, g->stored += length);
    for (size_t done = 0; is_stored && done < length;) {
        const ssize_t put = pwrite(g->fd, g->out + done, length - done, (off_t)(g->size + done));
        if (put < 0 && errno == EINTR) continue;
        if (put < 0) return fail_store(g->file, "pwrite", errno, g->error);
        done += (size_t)put;
    }
    g->size += length;
    return true;
}

/* One member, to its end. */
static bool inflate_gzip_member(struct gunzip *g)
{
    for (int status = Z_OK; status != Z_STREAM_END;) {
        if (!fill_input(g)) return false;
        if (!g->stream.avail_in) return sp_malformed(g->error, "gzip data that end early, at byte %" PRIu64, g->at);
        g->stream.next_out = g->out;
        g->stream.avail_out = PIECE;
        status = inflate(&g->stream, Z_NO_FLUSH);
        if (status == Z_MEM_ERROR) sp_out_of_memory();
        if (status != Z_OK && status != Z_STREAM_END)
            return sp_malformed(g->error, "gzip data broken at byte %" PRIu64 ": %s", g->at - g->stream.avail_in,
                                g->stream.msg ? g->stream.msg : zError(status));
        if (!store_piece(g, PIECE - g->stream.avail_out)) return false;
    }
    return true;
}

/* Whether another member follows. One whose two bytes are torn apart by the end of a piece is put together. */
static bool at_another_member(struct gunzip *g)
{
    unsigned char magic[2];
    struct shapeproof_error ignored = {0};
    const uint64_t at = g->at - g->stream.avail_in;
    return g->file->size - at >= sizeof magic && sp_file_read(g->file, at, magic, sizeof magic, &ignored) &&
           magic[0] == 0x1f && magic[1] == 0x8b;
}

static void end_stream(void *stream) { inflateEnd(stream); }

static bool inflate_all(struct gunzip *g)
{
    if (inflateInit2(&g->stream, GZIP_WINDOW) != Z_OK) sp_out_of_memory();
    sp_hold(&g->stream, end_stream);
    bool ok = inflate_gzip_member(g);
    while (ok && at_another_member(g)) ok = inflateReset(&g->stream) == Z_OK && inflate_gzip_member(g);
    sp_let_go(&g->stream, end_stream);
    return ok && (ftruncate(g->fd, (off_t)g->size) == 0 || fail_store(g->file, "ftruncate", errno, g->error));
}

/* One layer inflates to at most 1,032 times its size. More come only from layers within layers, which no checkpoint
 * has. The megabyte besides is for small files. */
static uint64_t most_inflated(uint64_t size)
{
    enum { DEFLATE_RATIO = 1032, BESIDES = 1 << 20 };
    return size > (SP_GZIP_MAX - BESIDES) / DEFLATE_RATIO ? SP_GZIP_MAX : size * DEFLATE_RATIO + BESIDES;
}

bool sp_gzip_inflate(const struct sp_file *file, struct sp_file *inflated, uint64_t *used,
                     struct shapeproof_error *error)
{
    struct gunzip *g = sp_realloc(NULL, 1, sizeof *g);
    memset(g, 0, sizeof *g);
    g->file = file;
    g->error = error;
    const uint64_t outermost = file->inflated_from ? file->inflated_from : file->size;
    g->most = most_inflated(outermost);
    g->in_memory = sp_zeroed(1);
    g->fd = sp_hold_fd(sp_system_unnamed_file("inflated"));
    bool ok = g->fd >= 0 || fail_store(file, "memfd_create", errno, error);
    ok = ok && inflate_all(g);
    *inflated = (struct sp_file){.fd = g->fd, .size = g->size, .path = file->path, .inflated_from = outermost};
    inflated->in_memory = g->in_memory;
    *used = g->at - g->stream.avail_in;
    if (!ok) sp_file_close(inflated);
    sp_free(g);
    return ok;
}
