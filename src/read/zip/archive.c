/* SPDX-License-Identifier: MIT
 * Opening an archive and finding its members. The directory is walked by directory.c; members are read by member.c. */
#include "read/zip/archive.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "base/cursor.h"
#include "read/zip/directory.h"

struct sp_zip *sp_zip_open(const struct sp_file *file, struct sp_error *error)
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
    free(zip);
}

size_t sp_zip_count(const struct sp_zip *zip) { return zip->count; }
const struct sp_zip_entry *sp_zip_entry(const struct sp_zip *zip, size_t index) { return &zip->entries[index]; }
size_t sp_zip_find(const struct sp_zip *zip, const char *name) { return sp_map_get(&zip->names, name); }

bool sp_zip_data_offset(struct sp_zip *zip, size_t index, uint64_t *offset, struct sp_error *error)
{
    const struct sp_zip_entry *entry = &zip->entries[index];
    unsigned char header[SP_ZIP_LOCAL_SIZE];
    if (!sp_file_read(zip->file, entry->header_offset, header, sizeof header, error)) return false;
    if (memcmp(header, "PK\3\4", 4))
        return sp_malformed(error, "zip member '%s': no local header at byte %" PRIu64, entry->name,
                            entry->header_offset);
    struct sp_cursor cursor = sp_cursor_of(header, sizeof header);
    sp_cursor_take(&cursor, 26);
    const uint64_t name = sp_cursor_le(&cursor, 2), extra = sp_cursor_le(&cursor, 2);
    /* No overflow: directory.c has checked header_offset + 30 + compressed_size. */
    const uint64_t begin = entry->header_offset + SP_ZIP_LOCAL_SIZE + name + extra;
    if (begin > zip->directory_offset || zip->directory_offset - begin < entry->compressed_size)
        return sp_malformed(error, "zip member '%s' runs into the directory at byte %" PRIu64, entry->name,
                            zip->directory_offset);
    *offset = begin;
    return true;
}
