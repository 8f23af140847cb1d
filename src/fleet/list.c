/* SPDX-License-Identifier: MIT */
#define _POSIX_C_SOURCE 200809L
#include "fleet/list.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/system/system.h"

enum {
    STEP = 1 << 16,       /* bytes read at once */
    MOST_BYTES = 1 << 28, /* of a list, 256 MiB: two million paths; a pipe may have no end */
    MOST_PATH = 4096,     /* bytes: as PATH_MAX of Linux, and more than URLs have */
    LEAST_SLOTS = 1024    /* of the index of paths */
};

struct sp_list_path {
    uint32_t offset, length; /* in the list or the store, in bytes: at most MOST_BYTES */
    uint32_t hash;
};

/* The list while it is read. The index has the number of a path from 1, or 0 for a free slot, with linear probing; it
 * is at most half full. */
struct reader {
    struct sp_list *list;
    int source;             /* where the lines come from */
    uint64_t taken;         /* bytes that were read from it */
    uint64_t number;        /* of the line, from 1 */
    uint64_t offset;        /* in the list at which the line begins */
    struct sp_text line;    /* as far as it was read; of a comment the first byte */
    int store;              /* where its paths go; -1: nowhere, since they can be read from the source again */
    struct sp_text pending; /* what is not yet written to the store */
    uint64_t stored;        /* bytes of all paths in the store and in `pending` */
    uint32_t *slots;
    size_t slot_count;
    struct shapeproof_error *error;
};

static bool fail_call(const struct sp_list *list, const char *call, struct shapeproof_error *error)
{
    return sp_fail(error, SHAPEPROOF_ERR_FILE, SHAPEPROOF_KIND_IO, "%s: %s: %s", list->name, call, strerror(errno));
}

/* ---- paths that were read ---- */

static bool write_pending(struct reader *reader)
{
    for (size_t done = 0; done < reader->pending.length;) {
        const ssize_t put = write(reader->store, reader->pending.data + done, reader->pending.length - done);
        if (put < 0 && errno == EINTR) continue;
        if (put < 0) return fail_call(reader->list, "write", reader->error);
        done += (size_t)put;
    }
    reader->pending.length = 0;
    return true;
}

/* FNV-1a, with a secret beginning. */
static uint32_t hash_of_path(uint64_t seed, const char *path)
{
    uint64_t hash = seed ^ UINT64_C(0xcbf29ce484222325);
    for (; *path; path++) hash = (hash ^ (unsigned char)*path) * UINT64_C(0x100000001b3);
    return (uint32_t)(hash ^ hash >> 32);
}

const char *sp_list_path(struct sp_list *list, size_t index, struct shapeproof_error *error)
{
    const struct sp_list_path *place = &list->paths[index];
    if (list->path_index == index) return list->path.data;
    list->path_index = SIZE_MAX;
    list->path.length = 0;
    sp_text_reserve(&list->path, place->length);
    while (list->path.length < place->length) {
        const size_t done = list->path.length;
        const ssize_t got =
            pread(list->from, list->path.data + done, place->length - done, (off_t)(list->base + place->offset + done));
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) {
            fail_call(list, "pread", error);
            return NULL;
        }
        if (got == 0) break;
        list->path.length += (size_t)got;
    }
    list->path.data[list->path.length] = '\0';
    if (list->path.length < place->length || hash_of_path(list->seed, list->path.data) != place->hash) {
        sp_fail(error, SHAPEPROOF_ERR_FILE, SHAPEPROOF_KIND_IO, "%s: the list has changed since it was read",
                list->name);
        return NULL;
    }
    list->path_index = index;
    return list->path.data;
}

bool sp_list_leave_out(struct sp_list *list, bool (*is_done)(const void *context, const char *path),
                       const void *context, size_t *count, struct shapeproof_error *error)
{
    size_t kept = 0;
    for (size_t i = 0; i < list->count; i++) {
        const char *path = sp_list_path(list, i, error);
        if (!path) return false;
        if (!is_done(context, path)) list->paths[kept++] = list->paths[i];
    }
    *count = list->count - kept;
    list->count = kept;
    list->path_index = SIZE_MAX;
    return true;
}

void sp_list_free(struct sp_list *list)
{
    sp_free(list->paths);
    sp_text_free(&list->path);
}

/* ---- lines ---- */

/* Makes the index twice as large when it is half full. */
static void make_slots(struct reader *reader)
{
    const struct sp_list *list = reader->list;
    if (list->count < reader->slot_count / 2) return;
    sp_free(reader->slots);
    reader->slot_count = reader->slot_count ? 2 * reader->slot_count : LEAST_SLOTS;
    reader->slots = sp_realloc(NULL, reader->slot_count, sizeof *reader->slots);
    memset(reader->slots, 0, reader->slot_count * sizeof *reader->slots);
    for (size_t i = 0; i < list->count; i++) {
        size_t slot = list->paths[i].hash & (reader->slot_count - 1);
        while (reader->slots[slot]) slot = (slot + 1) & (reader->slot_count - 1);
        reader->slots[slot] = (uint32_t)i + 1;
    }
}

/* Sets *slot to the one that has the path, or to the free one where it would be. False with an error. */
static bool find_path(struct reader *reader, const char *path, uint32_t hash, size_t *slot)
{
    for (*slot = hash & (reader->slot_count - 1); reader->slots[*slot];
         *slot = (*slot + 1) & (reader->slot_count - 1)) {
        const size_t index = reader->slots[*slot] - 1;
        if (reader->list->paths[index].hash != hash) continue;
        if (reader->pending.length && !write_pending(reader)) return false;
        const char *other = sp_list_path(reader->list, index, reader->error);
        if (!other || strcmp(other, path) == 0) return other;
    }
    return true;
}

static bool add_path(struct reader *reader, const char *path, size_t length)
{
    size_t slot;
    struct sp_list *list = reader->list;
    const uint32_t hash = hash_of_path(list->seed, path);
    make_slots(reader);
    if (!find_path(reader, path, hash, &slot)) return false;
    if (reader->slots[slot]) {
        list->repeated++;
        return true;
    }
    SP_GROW(list->paths, list->count, list->capacity);
    list->paths[list->count++] =
        (struct sp_list_path){.offset = (uint32_t)(reader->store < 0 ? reader->offset : reader->stored),
                              .length = (uint32_t)length,
                              .hash = hash};
    reader->slots[slot] = (uint32_t)list->count;
    if (reader->store < 0) return true;
    sp_text_append(&reader->pending, path, length);
    reader->stored += length;
    return reader->pending.length < STEP || write_pending(reader);
}

/* Notes the line that was read, unless it is empty or a comment; the editors of Windows end lines with \r\n. */
static bool end_line(struct reader *reader)
{
    struct sp_text *line = &reader->line;
    if (line->length && line->data[line->length - 1] == '\r') line->data[--line->length] = '\0';
    const bool is_path = line->length && *line->data != '#' && line->data[strspn(line->data, " \t")];
    return !is_path || add_path(reader, line->data, line->length);
}

/* Appends to the line; false with an error when it is longer than a path and what may follow it. */
static bool read_piece(struct reader *reader, const char *piece, size_t length)
{
    struct sp_text *line = &reader->line;
    if (line->length && *line->data == '#') return true;
    if (length && !line->length && *piece == '#') length = 1;
    if (line->length + length <= MOST_PATH) {
        sp_text_append(line, piece, length);
        return true;
    }
    sp_hint(reader->error, "a list has a path a line");
    return sp_fail(reader->error, SHAPEPROOF_ERR_USAGE, SHAPEPROOF_KIND_NONE,
                   "%s:%" PRIu64 ": the line has more than %d bytes, the limit of a path", reader->list->name,
                   reader->number, MOST_PATH);
}

/* Reads the lines in the bytes; one that does not end there is left in reader->line. */
static bool read_pieces(struct reader *reader, const char *bytes, size_t length)
{
    for (size_t at = 0; at < length;) {
        const char *stop = memchr(bytes + at, '\n', length - at);
        const size_t size = stop ? (size_t)(stop - bytes) - at : length - at;
        if (!read_piece(reader, bytes + at, size)) return false;
        at += size + (stop != NULL);
        if (!stop) continue;
        if (!end_line(reader)) return false;
        reader->line.length = 0;
        reader->number++;
        reader->offset = reader->taken + at;
    }
    reader->taken += length;
    return true;
}

/* Reads as many bytes as there are, at most STEP; those of a pipe may come in pieces. -1 with errno. */
static ssize_t read_step(int source, char *bytes)
{
    size_t length = 0;
    while (length < STEP) {
        const ssize_t got = read(source, bytes + length, STEP - length);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return -1;
        if (got == 0) break;
        length += (size_t)got;
    }
    return (ssize_t)length;
}

/* To the end of a file or a pipe. */
static bool read_lines(struct reader *reader)
{
    char bytes[STEP];
    while (reader->taken <= MOST_BYTES) {
        const ssize_t got = read_step(reader->source, bytes);
        if (got < 0) return fail_call(reader->list, "read", reader->error);
        if (memchr(bytes, '\0', (size_t)got)) {
            sp_hint(reader->error, "a list has a path a line, as find writes it without -print0");
            return sp_fail(reader->error, SHAPEPROOF_ERR_USAGE, SHAPEPROOF_KIND_NONE,
                           "%s: a NUL byte is no part of a path", reader->list->name);
        }
        const bool has_mark = !reader->taken && got >= 3 && memcmp(bytes, "\xef\xbb\xbf", 3) == 0;
        if (has_mark) reader->taken = reader->offset = 3; /* the byte order mark of editors of Windows */
        if (!read_pieces(reader, bytes + (has_mark ? 3 : 0), (size_t)got - (has_mark ? 3 : 0))) return false;
        if (got < STEP) return !reader->line.length || end_line(reader);
    }
    return sp_fail(reader->error, SHAPEPROOF_ERR_FILE, SHAPEPROOF_KIND_LIMIT, "%s: the list has more than %d MiB",
                   reader->list->name, MOST_BYTES >> 20);
}

bool sp_list_read(struct sp_list *list, int from, int store, const char *name, struct shapeproof_error *error)
{
    struct reader reader = {.list = list, .source = from, .number = 1, .store = store, .error = error};
    *list = (struct sp_list){.name = name, .seed = sp_system_random(), .path_index = SIZE_MAX};
    list->from = store < 0 ? from : store;
    const off_t base = store < 0 ? lseek(from, 0, SEEK_CUR) : 0;
    if (base < 0) return fail_call(list, "lseek", error);
    list->base = (uint64_t)base;
    const bool read = read_lines(&reader) && (reader.store < 0 || write_pending(&reader));
    sp_text_free(&reader.line);
    sp_text_free(&reader.pending);
    sp_free(reader.slots);
    return read;
}
