/* SPDX-License-Identifier: MIT
 * Opening an archive and finding its members. The directory is walked by directory.c; members are read by member.c. */
#include "read/zip/archive.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "base/cursor.h"
#include "read/zip/directory.h"

enum { FLAG_DESCRIPTOR = 8 /* CRC and sizes follow the data */ };

struct sp_zip *sp_zip_open(const struct sp_file *file, struct shapeproof_error *error)
{
    struct sp_zip *zip = sp_realloc(NULL, 1, sizeof *zip);
    *zip = (struct sp_zip){.file = file};
    if (sp_zip_scan(zip, error)) return zip;
    sp_zip_close(zip);
    return NULL;
}

void sp_zip_close(struct sp_zip *zip)
{
    if (!zip) return;
    sp_map_free(&zip->names);
    sp_arena_free(&zip->arena);
    sp_free(zip);
}

bool sp_zip_is_far(const struct sp_zip *zip) { return zip->file->source != NULL; }
bool sp_zip_lacks_volume(const struct sp_zip *zip) { return zip->lacks_volume; }
size_t sp_zip_count(const struct sp_zip *zip) { return zip->count; }
const struct sp_zip_entry *sp_zip_entry(const struct sp_zip *zip, size_t index) { return &zip->entries[index]; }
size_t sp_zip_find(const struct sp_zip *zip, const char *name) { return sp_map_get(&zip->names, name); }

/* What a local header says. The fields behind FLAG_DESCRIPTOR count only without that flag. */
struct local {
    uint64_t flags, method, crc, compressed_size, size;
    uint64_t name, extra; /* lengths */
};

static struct local parse_local(const unsigned char *header)
{
    struct sp_cursor cursor = sp_cursor_of(header, SP_ZIP_LOCAL_SIZE);
    struct local local;
    sp_cursor_take(&cursor, 6); /* signature, version */
    local.flags = sp_cursor_le(&cursor, 2);
    local.method = sp_cursor_le(&cursor, 2);
    sp_cursor_take(&cursor, 4); /* time, date */
    local.crc = sp_cursor_le(&cursor, 4);
    local.compressed_size = sp_cursor_le(&cursor, 4);
    local.size = sp_cursor_le(&cursor, 4);
    local.name = sp_cursor_le(&cursor, 2);
    local.extra = sp_cursor_le(&cursor, 2);
    return local;
}

/* A writer that sets FLAG_DESCRIPTOR may leave 0, and put the size behind the data; all ones are then no size, either.
 * Without the flag, the header has the size itself. */
static bool size_agrees(const struct sp_zip_entry *entry, const struct local *local, uint64_t in_directory,
                        uint64_t in_header, struct shapeproof_error *error)
{
    const bool is_behind = local->flags & FLAG_DESCRIPTOR && (!in_header || in_header == UINT32_MAX);
    if (is_behind || in_header == in_directory) return true;
    return sp_malformed(
        error, "ambiguous archive: member '%s' has %" PRIu64 " bytes in the directory, %" PRIu64 " in its own header",
        entry->name, in_directory, in_header);
}

/* Some readers of zip believe the local header, some the directory: both must say the same. */
static bool agrees_with_directory(const struct local *local, const struct sp_zip_entry *entry,
                                  struct shapeproof_error *error)
{
    const bool encrypted = local->flags & SP_ZIP_ENCRYPTED, encrypted_there = entry->flags & SP_ZIP_ENCRYPTED;
    if (local->method != entry->method)
        return sp_malformed(error,
                            "ambiguous archive: member '%s' has method %u in the directory, %u in its own header",
                            entry->name, entry->method, (unsigned)local->method);
    if (encrypted != encrypted_there)
        return sp_malformed(error, "ambiguous archive: member '%s' is encrypted by %s alone", entry->name,
                            encrypted ? "its own header" : "the directory");
    if (!(local->flags & FLAG_DESCRIPTOR) && local->crc != entry->crc)
        return sp_malformed(error,
                            "ambiguous archive: member '%s' has the CRC %08x in the directory, %08x in its own header",
                            entry->name, (unsigned)entry->crc, (unsigned)local->crc);
    return size_agrees(entry, local, entry->compressed_size, local->compressed_size, error) &&
           size_agrees(entry, local, entry->size, local->size, error);
}

/* `own`: the name and the extra field of the local header. */
static bool check_local(struct local *local, const unsigned char *own, const struct sp_zip_entry *entry,
                        struct shapeproof_error *error)
{
    const struct sp_cursor extra = sp_cursor_of(own + local->name, (size_t)local->extra);
    uint64_t *const sizes[] = {&local->size, &local->compressed_size};
    if (!sp_zip_apply_wide(extra, sizes, 2))
        return sp_malformed(error, "zip member '%s': short zip64 field in its own header", entry->name);
    return sp_zip_check_wide(extra, entry->name, error) && agrees_with_directory(local, entry, error) &&
           sp_zip_check_path(extra, entry->name, error);
}

/* Whether the bytes are a data descriptor that repeats the CRC and the sizes of the directory. It may begin with a
 * signature, and its sizes have 32 or 64 bits. Returns its length, or 0. */
static size_t matching_descriptor(const unsigned char *bytes, size_t length, const struct sp_zip_entry *entry)
{
    static const unsigned widths[] = {4, 8};
    for (size_t i = 0; i < 4; i++) {
        const unsigned width = widths[i / 2];
        const size_t signature = i & 1 ? 0 : 4, whole = signature + 4 + 2 * width;
        if (length < whole || (signature && memcmp(bytes, "PK\7\10", 4) != 0)) continue;
        struct sp_cursor cursor = sp_cursor_of(bytes + signature, whole - signature);
        const uint64_t crc = sp_cursor_le(&cursor, 4), compressed = sp_cursor_le(&cursor, width);
        const uint64_t size = sp_cursor_le(&cursor, width);
        if (crc == entry->crc && compressed == entry->compressed_size && size == entry->size) return whole;
    }
    return 0;
}

/* Whether the place of a descriptor was overwritten with zeros, as a part of the file that was never written has them.
 * Then it tells nothing, and so nothing else than the directory. */
static bool is_lost(const unsigned char *bytes, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (bytes[i]) return false;
    return length > 0;
}

/* What follows the data of a member, up to what comes next by the directory. A reader that goes through the file from
 * its beginning takes the sizes from the data descriptor, and finds members that the directory does not list. */
static bool check_behind(const struct sp_zip *zip, size_t index, const struct local *local, uint64_t end,
                         struct shapeproof_error *error)
{
    enum { MOST = 24 + 4 }; /* bytes of the longest descriptor and of a signature */
    const struct sp_zip_entry *entry = &zip->entries[index];
    const uint64_t room = zip->next[index] - end;
    const size_t length = room < MOST ? (size_t)room : MOST;
    const bool described = local->flags & FLAG_DESCRIPTOR;
    unsigned char bytes[MOST];
    if (described != ((entry->flags & FLAG_DESCRIPTOR) != 0))
        return sp_malformed(error, "ambiguous archive: member '%s' has a data descriptor by %s alone", entry->name,
                            described ? "its own header" : "the directory");
    if (sp_zip_is_far(zip)) return true; /* it would be a request of its own */
    if (length && !sp_file_read(zip->file, end, bytes, length, error)) return false;
    const size_t descriptor = described ? matching_descriptor(bytes, length, entry) : 0;
    if (described && !descriptor && !is_lost(bytes, length))
        return sp_malformed(error,
                            "ambiguous archive: member '%s' has no data descriptor with the sizes and the CRC of the "
                            "directory",
                            entry->name);
    if (length - descriptor < 4 || memcmp(bytes + descriptor, "PK\3\4", 4) != 0) return true;
    return sp_malformed(error,
                        "ambiguous archive: a zip member begins at byte %" PRIu64 " that its directory does not list",
                        end + descriptor);
}

/* A local header has the lengths of the name and of an extra field at its end; then follow the name, which must be that
 * of the directory, the extra field and the data. */
bool sp_zip_data_offset(struct sp_zip *zip, size_t index, uint64_t *offset, struct shapeproof_error *error)
{
    const struct sp_zip_entry *entry = &zip->entries[index];
    const size_t length = strlen(entry->name);
    unsigned char header[SP_ZIP_LOCAL_SIZE];
    if (!sp_file_read(zip->file, entry->header_offset, header, sizeof header, error)) return false;
    if (memcmp(header, "PK\3\4", 4))
        return sp_malformed(error,
                            "zip member '%s': no local header at byte %" PRIu64
                            ": a part of the archive was overwritten, or lost",
                            entry->name, entry->header_offset);
    struct local local = parse_local(header);
    /* No overflow: directory.c has checked header_offset + 30 + compressed_size. */
    const uint64_t at = entry->header_offset + SP_ZIP_LOCAL_SIZE;
    const uint64_t room = zip->next[index] - at - entry->compressed_size;
    const bool fits = local.name + local.extra <= room;
    const size_t compared = length < room ? length : (size_t)room;
    const size_t count = fits ? (size_t)(local.name + local.extra) : compared;
    unsigned char *own = sp_realloc(NULL, count + 1, 1);
    bool ok = sp_file_read(zip->file, at, own, count, error);
    if (ok && (local.name != length || memcmp(own, entry->name, compared) != 0))
        ok = sp_malformed(error,
                          "zip member '%s': its local header at byte %" PRIu64
                          " has another name: a part of the archive was overwritten",
                          entry->name, entry->header_offset);
    if (ok && !fits)
        ok = sp_malformed(error, "zip member '%s' runs into what begins at byte %" PRIu64, entry->name,
                          zip->next[index]);
    ok = ok && check_local(&local, own, entry, error);
    sp_free(own);
    *offset = at + local.name + local.extra;
    return ok && check_behind(zip, index, &local, *offset + entry->compressed_size, error);
}

/* ---- what the bytes are for ---- */

enum { DESCRIPTOR = 16, DESCRIPTOR_WIDE = 24, MAX_EXTRA = 65535 };

/* What a writer that did not know the size puts behind the data: 24 bytes, when the sizes there need 64 bits. */
static uint64_t descriptor_bytes(const struct sp_zip_entry *entry, uint64_t room)
{
    const bool wide = entry->size >= UINT32_MAX || entry->compressed_size >= UINT32_MAX;
    const uint64_t bytes = entry->flags & FLAG_DESCRIPTOR ? wide ? DESCRIPTOR_WIDE : DESCRIPTOR : 0;
    return bytes < room ? bytes : room;
}

void sp_zip_span(const struct sp_zip *zip, size_t index, uint64_t *begin, uint64_t *end)
{
    const struct sp_zip_entry *entry = &zip->entries[index];
    const uint64_t header = entry->header_offset + SP_ZIP_LOCAL_SIZE; /* in front of `next` with the data: checked */
    *end = zip->next[index] - descriptor_bytes(entry, zip->next[index] - header - entry->compressed_size);
    *begin = *end - entry->compressed_size;
}

void sp_zip_claim_member(const struct sp_zip *zip, size_t index, struct shapeproof_inventory *inventory,
                         uint32_t file_index, enum sp_use use)
{
    uint64_t begin, end;
    sp_zip_span(zip, index, &begin, &end);
    sp_inventory_claim(inventory, file_index, begin, end, use);
}

void sp_zip_claim(const struct sp_zip *zip, struct shapeproof_inventory *inventory, uint32_t file_index)
{
    for (size_t i = 0; i < zip->count; i++) {
        const uint64_t header = zip->entries[i].header_offset;
        uint64_t begin, end, named = header + SP_ZIP_LOCAL_SIZE + strlen(zip->entries[i].name);
        sp_zip_span(zip, i, &begin, &end);
        if (named > begin) named = begin;
        sp_inventory_claim(inventory, file_index, header, named, SP_USE_STRUCTURE);
        sp_inventory_claim(inventory, file_index, named, begin - named > MAX_EXTRA ? named + MAX_EXTRA : begin,
                           SP_USE_PADDING);
        sp_inventory_claim(inventory, file_index, end, zip->next[i], SP_USE_STRUCTURE);
    }
    sp_inventory_claim(inventory, file_index, zip->directory_offset, zip->end, SP_USE_STRUCTURE);
}
