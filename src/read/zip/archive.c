/* SPDX-License-Identifier: MIT
 * Opening an archive and finding its members. The directory is walked by directory.c; members are read by member.c. */
#include "read/zip/archive.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "base/cursor.h"
#include "read/zip/directory.h"

enum { COMPARED_NAME = 512 }; /* bytes of a name that are compared with the directory */

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
size_t sp_zip_count(const struct sp_zip *zip) { return zip->count; }
const struct sp_zip_entry *sp_zip_entry(const struct sp_zip *zip, size_t index) { return &zip->entries[index]; }
size_t sp_zip_find(const struct sp_zip *zip, const char *name) { return sp_map_get(&zip->names, name); }

/* Sizes of 0 or all ones are elsewhere: in a descriptor behind the data, or in a zip64 field. */
static bool size_agrees(const struct sp_zip_entry *entry, uint64_t in_directory, uint64_t in_header,
                        struct shapeproof_error *error)
{
    if (!in_header || in_header == UINT32_MAX || in_header == in_directory) return true;
    return sp_malformed(
        error, "ambiguous archive: member '%s' has %" PRIu64 " bytes in the directory, %" PRIu64 " in its own header",
        entry->name, in_directory, in_header);
}

/* Some readers of zip believe the local header, some the directory: both must say the same. */
static bool agrees_with_directory(struct sp_cursor header, const struct sp_zip_entry *entry,
                                  struct shapeproof_error *error)
{
    sp_cursor_take(&header, 6); /* signature, version */
    const uint64_t flags = sp_cursor_le(&header, 2), method = sp_cursor_le(&header, 2);
    sp_cursor_take(&header, 8); /* time, date, CRC */
    const uint64_t compressed_size = sp_cursor_le(&header, 4), size = sp_cursor_le(&header, 4);
    const bool encrypted = flags & SP_ZIP_ENCRYPTED, encrypted_there = entry->flags & SP_ZIP_ENCRYPTED;
    if (method != entry->method)
        return sp_malformed(error,
                            "ambiguous archive: member '%s' has method %u in the directory, %u in its own header",
                            entry->name, entry->method, (unsigned)method);
    if (encrypted != encrypted_there)
        return sp_malformed(error, "ambiguous archive: member '%s' is encrypted by %s alone", entry->name,
                            encrypted ? "its own header" : "the directory");
    return size_agrees(entry, entry->compressed_size, compressed_size, error) &&
           size_agrees(entry, entry->size, size, error);
}

/* A local header has the lengths of the name and of an extra field at byte 26; then follow the name, which must be that
 * of the directory, the extra field and the data. */
bool sp_zip_data_offset(struct sp_zip *zip, size_t index, uint64_t *offset, struct shapeproof_error *error)
{
    const struct sp_zip_entry *entry = &zip->entries[index];
    enum { LENGTHS_AT = 26 };
    const size_t length = strlen(entry->name);
    unsigned char header[SP_ZIP_LOCAL_SIZE], own[COMPARED_NAME];
    if (!sp_file_read(zip->file, entry->header_offset, header, sizeof header, error)) return false;
    if (memcmp(header, "PK\3\4", 4))
        return sp_malformed(error,
                            "zip member '%s': no local header at byte %" PRIu64
                            ": a part of the archive was overwritten, or lost",
                            entry->name, entry->header_offset);
    struct sp_cursor cursor = sp_cursor_of(header, sizeof header);
    sp_cursor_take(&cursor, LENGTHS_AT);
    const uint64_t name = sp_cursor_le(&cursor, 2), extra = sp_cursor_le(&cursor, 2);
    const size_t compared = length < sizeof own ? length : sizeof own;
    if (!sp_file_read(zip->file, entry->header_offset + SP_ZIP_LOCAL_SIZE, own, compared, error)) return false;
    if (name != length || memcmp(own, entry->name, compared) != 0)
        return sp_malformed(error,
                            "zip member '%s': its local header at byte %" PRIu64
                            " has another name: a part of the archive was overwritten",
                            entry->name, entry->header_offset);
    if (!agrees_with_directory(sp_cursor_of(header, sizeof header), entry, error)) return false;
    /* No overflow: directory.c has checked header_offset + 30 + compressed_size. */
    const uint64_t begin = entry->header_offset + SP_ZIP_LOCAL_SIZE + name + extra;
    if (begin > zip->next[index] || zip->next[index] - begin < entry->compressed_size)
        return sp_malformed(error, "zip member '%s' runs into what begins at byte %" PRIu64, entry->name,
                            zip->next[index]);
    *offset = begin;
    return true;
}

/* ---- what the bytes are for ---- */

enum { FLAG_DESCRIPTOR = 8, DESCRIPTOR = 16, DESCRIPTOR_WIDE = 24, MAX_EXTRA = 65535 };

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
