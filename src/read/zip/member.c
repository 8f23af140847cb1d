/* SPDX-License-Identifier: MIT
 * Reading one member with libzip, which is shown an archive of that member alone:
 *
 *   the member's own bytes of the file (local header, data) | one central entry | end record | 64 KiB comment
 *
 * So its cost does not depend on the rest of the directory, and it cannot see another member than the one that
 * directory.c has checked. The comment fills the window in which libzip looks for end records: none can be forged
 * in the data. Only stored and deflated members are read; nothing is written to disk. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <zip.h>

#include "base/budget.h"
#include "base/call.h"
#include "base/checked.h"
#include "base/fault.h"
#include "read/zip/directory.h"

/* Bytes: deflating makes nothing longer by as much. */
enum { DEFLATE_SPARE = 64 << 10 };
enum { TAIL_SIZE = SP_ZIP_CENTRAL_SIZE + 1 + SP_ZIP_END_SIZE + SP_ZIP_MAX_COMMENT };

/* The archive that libzip sees: `span` bytes of the file from `begin`, then the tail. */
struct view {
    const struct sp_file *file;
    uint64_t begin, span, position;
    unsigned char tail[TAIL_SIZE];
    zip_error_t error;
    struct shapeproof_error why; /* that the file could not be read */
    bool is_unwound;             /* a callback lacked memory or time, as `why` says */
};

static void put_little_endian(unsigned char *bytes, uint64_t value, unsigned size)
{
    for (unsigned i = 0; i < size; i++) bytes[i] = (unsigned char)(value >> 8 * i);
}

/* The tail is zeroed: only the fields that are not 0 are set. A size that needs more than 32 bits is in an extra field
 * of the central entry, for which the comment is shorter. */
static void write_tail(struct view *view, const struct sp_zip_entry *entry)
{
    enum { EXTRA = 12, ZIP64 = 1 }; /* bytes of the field: its kind, its length, 64 bits */
    const unsigned extra = entry->size < UINT32_MAX ? 0 : EXTRA;
    unsigned char *central = view->tail, *name = central + SP_ZIP_CENTRAL_SIZE, *end = name + 1 + extra;
    memcpy(central, "PK\1\2", 4);
    put_little_endian(central + 10, entry->method, 2);
    put_little_endian(central + 14, 0x21, 2); /* 1 January 1980 */
    put_little_endian(central + 16, entry->crc, 4);
    put_little_endian(central + 20, entry->compressed_size, 4);
    put_little_endian(central + 24, extra ? UINT32_MAX : entry->size, 4);
    put_little_endian(central + 28, 1, 2);
    put_little_endian(central + 30, extra, 2);
    *name = 'm';
    if (extra) {
        put_little_endian(name + 1, ZIP64, 2);
        put_little_endian(name + 3, sizeof entry->size, 2);
        put_little_endian(name + 5, entry->size, sizeof entry->size);
    }
    memcpy(end, "PK\5\6", 4);
    put_little_endian(end + 8, 1, 2);
    put_little_endian(end + 10, 1, 2);
    put_little_endian(end + 12, SP_ZIP_CENTRAL_SIZE + 1 + extra, 4);
    put_little_endian(end + 16, view->span, 4);
    put_little_endian(end + 20, SP_ZIP_MAX_COMMENT - extra, 2);
}

static zip_int64_t view_read(struct view *view, void *into, uint64_t length)
{
    const uint64_t size = view->span + TAIL_SIZE;
    if (length > size - view->position) length = size - view->position;
    uint64_t done = 0;
    if (view->position < view->span) {
        done = view->span - view->position < length ? view->span - view->position : length;
        if (!sp_file_read(view->file, view->begin + view->position, into, (size_t)done, &view->why)) {
            zip_error_set(&view->error, ZIP_ER_READ, 0);
            return -1;
        }
    }
    if (done < length)
        memcpy((char *)into + done, view->tail + (view->position + done - view->span), (size_t)(length - done));
    view->position += length;
    return (zip_int64_t)length;
}

static zip_int64_t view_seek(struct view *view, void *data, zip_uint64_t length)
{
    const zip_int64_t to =
        zip_source_seek_compute_offset(view->position, view->span + TAIL_SIZE, data, length, &view->error);
    if (to < 0) return -1;
    view->position = (uint64_t)to;
    return 0;
}

static zip_int64_t view_stat(struct view *view, zip_stat_t *stat)
{
    zip_stat_init(stat);
    stat->size = view->span + TAIL_SIZE;
    stat->valid = ZIP_STAT_SIZE;
    return sizeof *stat;
}

/* Without memory or time, which reading a remote file needs: libzip passes that on to fail_member. */
static zip_int64_t fail_view(struct view *view)
{
    view->is_unwound = true;
    zip_error_set(&view->error, ZIP_ER_MEMORY, 0);
    return -1;
}

/* The callback of a libzip source that shows libzip a part of our file. */
static zip_int64_t view_command(void *state, void *data, zip_uint64_t length, zip_source_cmd_t command)
{
    struct view *view = state;
    SP_CALL_INNER(&view->why, fail_view(state));
    switch (command) {
    case ZIP_SOURCE_OPEN:
        view->position = 0;
        return 0;
    case ZIP_SOURCE_READ:
        return view_read(view, data, length);
    case ZIP_SOURCE_SEEK:
        return view_seek(view, data, length);
    case ZIP_SOURCE_TELL:
        return (zip_int64_t)view->position;
    case ZIP_SOURCE_STAT:
        return view_stat(view, data);
    case ZIP_SOURCE_ERROR:
        return zip_error_to_data(&view->error, data, length);
    case ZIP_SOURCE_CLOSE:
    case ZIP_SOURCE_FREE:
        return 0;
    case ZIP_SOURCE_SUPPORTS:
        return zip_source_make_command_bitmap(ZIP_SOURCE_OPEN, ZIP_SOURCE_READ, ZIP_SOURCE_CLOSE, ZIP_SOURCE_STAT,
                                              ZIP_SOURCE_ERROR, ZIP_SOURCE_FREE, ZIP_SOURCE_SEEK, ZIP_SOURCE_TELL,
                                              ZIP_SOURCE_SUPPORTS, -1);
    default:
        zip_error_set(&view->error, ZIP_ER_OPNOTSUPP, 0);
        return -1;
    }
}

bool sp_zip_is_encrypted(const struct sp_zip_entry *entry)
{
    return entry->flags & (SP_ZIP_ENCRYPTED | SP_ZIP_STRONGLY_ENCRYPTED | SP_ZIP_MASKED);
}

bool sp_zip_check_method(const struct sp_zip_entry *entry, struct shapeproof_error *error)
{
    if (sp_zip_is_encrypted(entry))
        return sp_fail(error, SHAPEPROOF_ERR_FILE, SHAPEPROOF_KIND_REFUSED, "zip member '%s' is encrypted",
                       entry->name);
    if (entry->flags & SP_ZIP_PATCHED)
        return sp_fail(error, SHAPEPROOF_ERR_FILE, SHAPEPROOF_KIND_REFUSED, "zip member '%s' is a patch of another",
                       entry->name);
    if (entry->method != SP_ZIP_STORED && entry->method != SP_ZIP_DEFLATED)
        return sp_fail(error, SHAPEPROOF_ERR_FILE, SHAPEPROOF_KIND_REFUSED,
                       "zip member '%s' is compressed with method %u", entry->name, entry->method);
    return true;
}

static bool check_readable(const struct sp_zip_entry *entry, uint64_t limit, struct shapeproof_error *error)
{
    if (!sp_zip_check_method(entry, error)) return false;
    if (entry->size > limit || entry->compressed_size > UINT32_MAX / 2 || entry->size > UINT32_MAX / 2)
        return sp_fail(error, SHAPEPROOF_ERR_FILE, SHAPEPROOF_KIND_LIMIT,
                       "zip member '%s' of %" PRIu64 " bytes, at most %" PRIu64, entry->name, entry->size, limit);
    return true;
}

/* Why libzip failed, in its words; but a file that could not be read is an error of its own, and without memory the
 * call fails. */
static bool fail_member(const struct view *view, const struct sp_zip_entry *entry, uint64_t at, zip_error_t *why,
                        struct shapeproof_error *error)
{
    if (view->is_unwound && view->why.kind == SHAPEPROOF_KIND_LIMIT) sp_call_exceed();
    if (view->is_unwound) sp_out_of_memory();
    if (view->why.status) {
        *error = view->why;
        return false;
    }
    if (zip_error_code_zip(why) == ZIP_ER_MEMORY || errno == ENOMEM) sp_out_of_memory();
    return sp_malformed(error, "zip member '%s' at byte %" PRIu64 ": %s", entry->name, at, zip_error_strerror(why));
}

/* Reads a piece of at most 1 MiB. What is inflated takes steps. */
static zip_int64_t read_piece(zip_file_t *member, const struct sp_zip_entry *entry, char *into, uint64_t length)
{
    enum { PIECE = 1 << 20 };
    if (entry->method == SP_ZIP_DEFLATED) sp_budget_spend((length < PIECE ? length : PIECE) / SP_BUDGET_INFLATED);
    return zip_fread(member, into, length < PIECE ? length : PIECE);
}

/* libzip never stops at the declared size by itself: ask for one byte more than that. */
static bool read_all(const struct view *view, zip_file_t *member, struct sp_zip_entry *entry, char *into,
                     struct shapeproof_error *error)
{
    uint64_t done = 0;
    zip_int64_t got;
    while (done <= entry->size && (got = read_piece(member, entry, into + done, entry->size + 1 - done)) != 0) {
        if (got > 0) {
            done += (uint64_t)got;
            continue;
        }
        if (zip_error_code_zip(zip_file_get_error(member)) != ZIP_ER_CRC)
            return fail_member(view, entry, done, zip_file_get_error(member), error);
        entry->damaged = entry->crc != 0; /* torch writes 0 where it is told to compute none */
        break;
    }
    if (done > entry->size)
        return sp_malformed(error, "zip member '%s' expands beyond its declared size of %" PRIu64 " bytes", entry->name,
                            entry->size);
    if (done < entry->size)
        return sp_malformed(error, "zip member '%s' holds %" PRIu64 " of %" PRIu64 " bytes", entry->name, done,
                            entry->size);
    into[done] = '\0';
    return true;
}

/* As many bytes as were asked for; what follows is not looked at. */
static bool read_first(const struct view *view, zip_file_t *member, const struct sp_zip_entry *entry, char *into,
                       size_t count, struct shapeproof_error *error)
{
    size_t done = 0;
    while (done < count) {
        const zip_int64_t got = zip_fread(member, into + done, count - done);
        if (got < 0) return fail_member(view, entry, done, zip_file_get_error(member), error);
        if (got == 0) return sp_malformed(error, "zip member '%s' at byte %zu: it ends", entry->name, done);
        done += (size_t)got;
    }
    return true;
}

/* libzip's objects for the member in a view. */
struct opened {
    zip_t *archive;
    zip_file_t *member;
};

static void close_opened_member(void *member) { zip_fclose(member); }
static void discard_archive(void *archive) { zip_discard(archive); }

static void close_view(struct view *view, struct opened *opened)
{
    if (opened->member) sp_let_go(opened->member, close_opened_member);
    if (opened->archive) sp_let_go(opened->archive, discard_archive);
    zip_error_fini(&view->error);
}

/* False with an error, and nothing is open, when libzip refuses. */
static bool open_view(struct view *view, const struct sp_zip_entry *entry, struct opened *opened,
                      struct shapeproof_error *error)
{
    zip_error_t why;
    *opened = (struct opened){0};
    errno = 0; /* not every failure of libzip keeps its reason */
    zip_error_init(&why);
    zip_error_init(&view->error);
    zip_source_t *source = zip_source_function_create(view_command, view, &why);
    if (source) opened->archive = zip_open_from_source(source, ZIP_RDONLY, &why);
    if (source && !opened->archive) zip_source_free(source);
    if (opened->archive) {
        sp_hold(opened->archive, discard_archive);
        opened->member = zip_fopen_index(opened->archive, 0, 0);
    }
    if (opened->member) sp_hold(opened->member, close_opened_member);
    const bool ok = opened->member != NULL;
    if (!ok) {
        fail_member(view, entry, 0, opened->archive ? zip_get_error(opened->archive) : &why, error);
        close_view(view, opened);
    }
    zip_error_fini(&why);
    return ok;
}

/* Reads the member in the view. Without `head` all of it, into memory that the caller frees; else its first `count`
 * bytes into `head`, which is returned. NULL on error. */
static char *read_view(struct view *view, struct sp_zip_entry *entry, char *head, size_t count,
                       struct shapeproof_error *error)
{
    struct opened opened;
    if (!open_view(view, entry, &opened, error)) return NULL;
    if (!head) sp_budget_read(entry->method ? entry->compressed_size : entry->size); /* read next */
    char *bytes = head ? head : sp_realloc(NULL, (size_t)entry->size + 1, 1);
    const bool ok = head ? read_first(view, opened.member, entry, head, count, error)
                         : read_all(view, opened.member, entry, bytes, error);
    close_view(view, &opened);
    if (ok) return bytes;
    if (!head) sp_free(bytes);
    return NULL;
}

/* libzip sees a member that ends where its head has surely been inflated, however long it is. */
static bool inflate_head(struct sp_zip *zip, size_t index, uint64_t data, void *into, size_t count,
                         struct shapeproof_error *error)
{
    struct sp_zip_entry entry = zip->entries[index];
    struct view *view = sp_realloc(NULL, 1, sizeof *view);
    if (entry.compressed_size > count + DEFLATE_SPARE) entry.compressed_size = count + DEFLATE_SPARE;
    if (entry.size > UINT32_MAX / 2) entry.size = UINT32_MAX / 2;
    *view = (struct view){.file = zip->file, .begin = entry.header_offset};
    view->span = data - entry.header_offset + entry.compressed_size;
    write_tail(view, &entry);
    const bool ok = read_view(view, &entry, into, count, error) != NULL;
    sp_free(view);
    return ok;
}

bool sp_zip_read_head(struct sp_zip *zip, size_t index, void *into, size_t count, struct shapeproof_error *error)
{
    const struct sp_zip_entry *entry = &zip->entries[index];
    uint64_t data;
    if (!sp_zip_check_method(entry, error) || !sp_zip_data_offset(zip, index, &data, error)) return false;
    if (entry->method == SP_ZIP_STORED) return sp_file_read(zip->file, data, into, count, error);
    return inflate_head(zip, index, data, into, count, error);
}

char *sp_zip_read(struct sp_zip *zip, size_t index, uint64_t limit, size_t *length, struct shapeproof_error *error)
{
    struct sp_zip_entry *entry = &zip->entries[index];
    uint64_t data;
    if (!check_readable(entry, limit, error) || !sp_zip_data_offset(zip, index, &data, error)) return NULL;
    struct view *view = sp_realloc(NULL, 1, sizeof *view);
    *view = (struct view){.file = zip->file, .begin = entry->header_offset};
    view->span = data - entry->header_offset + entry->compressed_size;
    write_tail(view, entry);
    char *bytes = read_view(view, entry, NULL, 0, error);
    sp_free(view);
    if (bytes) *length = (size_t)entry->size;
    return bytes;
}

/* ---- one after another ---- */

struct sp_zip_stream {
    struct sp_zip_entry entry;
    struct view view;
    struct opened opened;
    uint64_t done; /* bytes that were read */
};

bool sp_zip_can_stream(const struct sp_zip_entry *entry)
{
    const bool is_known = entry->method == SP_ZIP_STORED || entry->method == SP_ZIP_DEFLATED;
    return is_known && !sp_zip_is_encrypted(entry) && entry->compressed_size <= UINT32_MAX / 2;
}

struct sp_zip_stream *sp_zip_stream_open(struct sp_zip *zip, size_t index, struct shapeproof_error *error)
{
    const struct sp_zip_entry *entry = &zip->entries[index];
    uint64_t data;
    if (!sp_zip_data_offset(zip, index, &data, error)) return NULL;
    struct sp_zip_stream *stream = sp_realloc(NULL, 1, sizeof *stream);
    *stream = (struct sp_zip_stream){.entry = *entry, .view = {.file = zip->file, .begin = entry->header_offset}};
    stream->view.span = data - entry->header_offset + entry->compressed_size;
    write_tail(&stream->view, entry);
    if (open_view(&stream->view, entry, &stream->opened, error)) return stream;
    sp_free(stream);
    return NULL;
}

bool sp_zip_stream_read(struct sp_zip_stream *stream, void *into, size_t length, struct shapeproof_error *error)
{
    char past;
    errno = 0; /* so that fail_member sees that of this call */
    if (!read_first(&stream->view, stream->opened.member, &stream->entry, into, length, error)) return false;
    stream->done += length;
    if (stream->done < stream->entry.size || !stream->entry.crc) return true; /* torch writes 0 for none */
    const zip_int64_t more = zip_fread(stream->opened.member, &past, 1);      /* libzip looks at the CRC at the end */
    if (more < 0)
        return fail_member(&stream->view, &stream->entry, stream->done, zip_file_get_error(stream->opened.member),
                           error);
    return more == 0 || sp_malformed(error, "zip member '%s': it expands beyond its declared size", stream->entry.name);
}

void sp_zip_stream_close(struct sp_zip_stream *stream)
{
    if (!stream) return;
    close_view(&stream->view, &stream->opened);
    sp_free(stream);
}

void sp_zip_stream_keep(struct sp_zip_stream *stream)
{
    if (stream) sp_keep(stream, stream, sizeof *stream);
}
