/* SPDX-License-Identifier: MIT
 * The central directory of a zip archive, walked once with every length checked.
 *
 *   members ... | central directory | [zip64 end record] [zip64 locator] | end record [comment]
 *
 * The end record is found backwards from the end of the file. Zip readers differ in what they do with contradictions
 * (two directories, two members of one name, names that differ in case or in \ and / alone), and attackers live on
 * that: whatever is ambiguous is refused here. Not supported: archives in several volumes. */
#include "read/zip/directory.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/budget.h"
#include "base/checked.h"
#include "base/cursor.h"
#include "base/utf8.h"

enum {
    LATEST_VERSION = 63, /* of the format that an entry may need: 6.3 */
    LOCATOR_SIZE = 20,
    END64_SIZE = 56,
    END64_REST = END64_SIZE - 12, /* the size that the zip64 end record states: without its first two fields */
    MAX_END_RECORDS = 4,          /* a member that is itself a zip archive may put its own into the window */
    EXTRA_ZIP64 = 1,
    EXTRA_PATH = 0x7075,
    DOS_DIRECTORY = 0x10, /* of the external attributes */
    DELETE = 0x7f         /* the control character above all printable ones of ASCII */
};

static const char END_MAGIC[] = "PK\5\6", END64_MAGIC[] = "PK\6\6", LOCATOR_MAGIC[] = "PK\6\7",
                  CENTRAL_MAGIC[] = "PK\1\2", LOCAL_MAGIC[] = "PK\3\4";

/* What the end records say. `limit` is where the first of them begins: the directory must end there. */
struct end {
    uint64_t entries, size, offset, limit;
    uint64_t close; /* where the last of them ends, with its comment */
    bool lacks_volume;
};

static bool starts_with_signature(const unsigned char *bytes, const char *magic) { return !memcmp(bytes, magic, 4); }

/* ---- the end records ---- */

static bool parse_end(const unsigned char *record, struct end *end, struct shapeproof_error *error)
{
    struct sp_cursor cursor = sp_cursor_of(record, SP_ZIP_END_SIZE);
    sp_cursor_take(&cursor, 4);
    const uint64_t disk = sp_cursor_le(&cursor, 2), first_disk = sp_cursor_le(&cursor, 2);
    const uint64_t here = sp_cursor_le(&cursor, 2);
    end->entries = sp_cursor_le(&cursor, 2);
    end->size = sp_cursor_le(&cursor, 4);
    end->offset = sp_cursor_le(&cursor, 4);
    if ((disk && disk != 0xffff) || (first_disk && first_disk != 0xffff) || here != end->entries)
        return sp_malformed(error, "zip archive in several volumes");
    end->lacks_volume = disk || first_disk;
    return true;
}

/* The length of the comment behind an end record. */
static size_t comment_length(const unsigned char *record)
{
    enum { COMMENT_LENGTH_AT = 20 };
    return record[COMMENT_LENGTH_AT] | (size_t)record[COMMENT_LENGTH_AT + 1] << 8;
}

/* Finds the last end record in the final 64 KiB and reads it. A comment may follow it. An earlier record whose comment
 * is all that follows would be the end of another archive, with the last one inside of its comment. */
static bool find_end(const struct sp_zip *zip, struct end *end, struct shapeproof_error *error)
{
    const uint64_t size = zip->file->size, most = SP_ZIP_END_SIZE + SP_ZIP_MAX_COMMENT;
    const size_t length = (size_t)(size < most ? size : most);
    unsigned char *window = sp_realloc(NULL, length, 1);
    bool ok = sp_file_read(zip->file, size - length, window, length, error);
    size_t found = SIZE_MAX, records = 0, whole = 0;
    for (size_t i = 0; ok && i + SP_ZIP_END_SIZE <= length; i++) {
        const unsigned char *first = memchr(window + i, *END_MAGIC, length - SP_ZIP_END_SIZE + 1 - i);
        if (!first) break;
        i = (size_t)(first - window);
        if (!starts_with_signature(first, END_MAGIC)) continue;
        found = i;
        records++;
        whole += i + SP_ZIP_END_SIZE + comment_length(first) == length;
    }
    if (ok && !records) ok = sp_malformed(error, "zip directory missing: truncated?");
    else if (ok && records > MAX_END_RECORDS)
        ok = sp_fail(error, SHAPEPROOF_ERR_FILE, SHAPEPROOF_KIND_LIMIT,
                     "%zu zip end records at the end of the file, at most %d", records, MAX_END_RECORDS);
    if (ok && whole > 1) ok = sp_malformed(error, "ambiguous archive: %zu zip end records reach to its end", whole);
    if (ok) {
        const size_t comment = comment_length(window + found);
        end->limit = size - length + found;
        end->close = end->limit + SP_ZIP_END_SIZE + comment;
        if (comment > length - found - SP_ZIP_END_SIZE)
            ok = sp_malformed(error, "zip end record at byte %" PRIu64 ": its comment of %zu bytes passes the end",
                              end->limit, comment);
        else ok = parse_end(window + found, end, error);
    }
    sp_free(window);
    return ok;
}

/* A field of the old record must be the value of the zip64 record, or all ones. */
static bool agrees_with_zip64(uint64_t narrow, uint64_t wide, uint64_t ones)
{
    return narrow == ones || narrow == wide;
}

/* Python takes the 56 bytes before the locator for the zip64 end record, and others follow the locator: both must be
 * the same record. */
static bool check_place_of_end64(uint64_t at, uint64_t size, const struct end *end, struct shapeproof_error *error)
{
    const uint64_t gap = end->limit - LOCATOR_SIZE - END64_SIZE - at;
    if (gap)
        return sp_malformed(error, "ambiguous archive: %" PRIu64 " bytes between the zip64 end record and its locator",
                            gap);
    return size == END64_REST ||
           sp_malformed(error, "zip64 end record at byte %" PRIu64 ": it states a size of %" PRIu64 " bytes, not %d",
                        at, size, END64_REST);
}

/* Reads the zip64 end record, whose wide fields replace those of the end record. They must agree where the latter
 * does not refer to them. */
static bool read_end64(const struct sp_zip *zip, uint64_t at, struct end *end, struct shapeproof_error *error)
{
    unsigned char record[END64_SIZE];
    if (at > end->limit || end->limit - at < END64_SIZE + LOCATOR_SIZE)
        return sp_malformed(error, "zip64 locator points to byte %" PRIu64 ", past the end records", at);
    if (!sp_file_read(zip->file, at, record, sizeof record, error)) return false;
    if (!starts_with_signature(record, END64_MAGIC))
        return sp_malformed(error, "no zip64 end record at byte %" PRIu64, at);
    struct sp_cursor cursor = sp_cursor_of(record, sizeof record);
    sp_cursor_take(&cursor, 4); /* the signature */
    if (!check_place_of_end64(at, sp_cursor_le(&cursor, 8), end, error)) return false;
    sp_cursor_take(&cursor, 4);                      /* versions */
    const uint64_t disks = sp_cursor_le(&cursor, 8); /* the number of this volume, and of the one with the directory */
    const uint64_t here = sp_cursor_le(&cursor, 8);  /* entries in this volume */
    struct end wide = {.limit = at, .close = end->close};
    wide.entries = sp_cursor_le(&cursor, 8);
    wide.size = sp_cursor_le(&cursor, 8);
    wide.offset = sp_cursor_le(&cursor, 8);
    if (disks || here != wide.entries) return sp_malformed(error, "zip archive in several volumes");
    if (!agrees_with_zip64(end->entries, wide.entries, 0xffff) ||
        !agrees_with_zip64(end->size, wide.size, 0xffffffff) ||
        !agrees_with_zip64(end->offset, wide.offset, 0xffffffff))
        return sp_malformed(error, "ambiguous archive: the zip and zip64 end records disagree");
    *end = wide;
    return true;
}

static bool follow_locator(const struct sp_zip *zip, struct end *end, struct shapeproof_error *error)
{
    unsigned char locator[LOCATOR_SIZE];
    if (end->limit < LOCATOR_SIZE) return true;
    if (!sp_file_read(zip->file, end->limit - LOCATOR_SIZE, locator, sizeof locator, error)) return false;
    if (!starts_with_signature(locator, LOCATOR_MAGIC)) return true;
    struct sp_cursor cursor = sp_cursor_of(locator, sizeof locator);
    sp_cursor_take(&cursor, 4);
    const uint64_t volume = sp_cursor_le(&cursor, 4), at = sp_cursor_le(&cursor, 8), volumes = sp_cursor_le(&cursor, 4);
    if (volume || volumes > 1) return sp_malformed(error, "zip archive in several volumes");
    if (!read_end64(zip, at, end, error)) return false;
    end->lacks_volume = !volumes;
    return true;
}

static bool check_end(const struct end *end, struct shapeproof_error *error)
{
    uint64_t stop;
    if (!sp_add_u64(end->offset, end->size, &stop) || stop > end->limit)
        return sp_malformed(error,
                            "zip directory of %" PRIu64 " bytes at byte %" PRIu64 " passes its end record at %" PRIu64,
                            end->size, end->offset, end->limit);
    if (end->entries > SP_ZIP_MAX_ENTRIES)
        return sp_fail(error, SHAPEPROOF_ERR_FILE, SHAPEPROOF_KIND_LIMIT, "%" PRIu64 " zip entries, at most %d",
                       end->entries, SP_ZIP_MAX_ENTRIES);
    if (end->size > SP_ZIP_MAX_DIRECTORY)
        return sp_fail(error, SHAPEPROOF_ERR_FILE, SHAPEPROOF_KIND_LIMIT,
                       "zip directory of %" PRIu64 " bytes, at most %d", end->size, SP_ZIP_MAX_DIRECTORY);
    if (end->size / SP_ZIP_CENTRAL_SIZE < end->entries)
        return sp_malformed(error, "zip directory of %" PRIu64 " bytes cannot hold %" PRIu64 " entries", end->size,
                            end->entries);
    if (stop < end->limit) /* Python would look for the directory behind its place */
        return sp_malformed(error, "ambiguous archive: %" PRIu64 " bytes between the zip directory and its end record",
                            end->limit - stop);
    return true;
}

/* ---- the entries ---- */

/* The next field of an extra field, of which each has an ID and a length in front. False behind the last. */
static bool next_field(struct sp_cursor *extra, uint64_t *id, struct sp_cursor *field)
{
    if (!extra->ok || sp_cursor_left(extra) < 4) return false;
    *id = sp_cursor_le(extra, 2);
    const uint64_t length = sp_cursor_le(extra, 2);
    const unsigned char *data = sp_cursor_take(extra, length);
    if (data) *field = sp_cursor_of(data, (size_t)length);
    return data != NULL;
}

bool sp_zip_apply_wide(struct sp_cursor extra, uint64_t *const *sizes, size_t count)
{
    struct sp_cursor field;
    uint64_t id;
    while (next_field(&extra, &id, &field)) {
        if (id != EXTRA_ZIP64) continue;
        for (size_t i = 0; i < count; i++)
            if (*sizes[i] == 0xffffffff) *sizes[i] = sp_cursor_le(&field, 8);
        return field.ok;
    }
    return true;
}

/* Readers differ in which of two zip64 fields they use. */
bool sp_zip_check_wide(struct sp_cursor extra, const char *name, struct shapeproof_error *error)
{
    struct sp_cursor field;
    uint64_t id, count = 0;
    while (next_field(&extra, &id, &field)) count += id == EXTRA_ZIP64;
    return count < 2 || sp_malformed(error, "ambiguous archive: member '%s' has more than one zip64 field", name);
}

/* The CRC-32 of zip, bit by bit: names are short. */
static uint32_t crc_of_name(const char *name)
{
    uint32_t crc = UINT32_MAX;
    for (; *name; name++) {
        crc ^= (unsigned char)*name;
        for (int bit = 0; bit < 8; bit++) crc = crc >> 1 ^ (crc & 1 ? 0xedb88320 : 0);
    }
    return ~crc;
}

/* Info-ZIP's field with the name in UTF-8: version 1, the CRC of the name in the header, and the path. libzip, and
 * Python since 3.12, use the path instead of the name if the CRC is right, and Python before 3.12 the name: both must
 * be the same. With a wrong CRC, or another version, all of them use the name. */
bool sp_zip_check_path(struct sp_cursor extra, const char *name, struct shapeproof_error *error)
{
    struct sp_cursor field;
    uint64_t id;
    while (next_field(&extra, &id, &field)) {
        if (id != EXTRA_PATH) continue;
        const uint64_t version = sp_cursor_le(&field, 1), crc = sp_cursor_le(&field, 4);
        if (!field.ok) return sp_malformed(error, "zip member '%s': short Unicode Path field", name);
        if (version != 1 || crc != crc_of_name(name)) continue;
        const size_t length = sp_cursor_left(&field);
        if (length != strlen(name) || memcmp(sp_cursor_take(&field, length), name, length) != 0)
            return sp_malformed(error, "ambiguous archive: member '%s' has another name in its Unicode Path field",
                                name);
    }
    return true;
}

/* Readers give a control character different meanings: libzip takes a name with one for code page 437, which has
 * pictures in their place. */
static bool check_name(const char *name, size_t length, size_t index, struct shapeproof_error *error)
{
    if (!length) return sp_malformed(error, "zip entry %zu has no name", index);
    if (memchr(name, 0, length)) return sp_malformed(error, "zip entry %zu: NUL in its name", index);
    if (sp_utf8_check(name, length) != length)
        return sp_malformed(error, "zip entry %zu: its name is not UTF-8", index);
    for (size_t i = 0; i < length; i++) {
        const unsigned char byte = (unsigned char)name[i];
        if (byte < ' ' || byte == DELETE)
            return sp_malformed(error, "ambiguous archive: zip entry %zu: control byte 0x%02x in its name", index,
                                byte);
    }
    return true;
}

/* Reads one entry of the central directory into zip->entries[index]. The fields that are passed over say nothing about
 * the data. Refuses what readers of zip understand differently: names used twice, short zip64 fields. */
static bool parse_entry(struct sp_zip *zip, struct sp_cursor *cursor, size_t index, struct shapeproof_error *error)
{
    struct sp_zip_entry *entry = &zip->entries[index];
    const unsigned char *magic = sp_cursor_take(cursor, 4);
    if (!magic || !starts_with_signature(magic, CENTRAL_MAGIC))
        return sp_malformed(error, "zip directory: no entry %zu at byte %" PRIu64, index,
                            zip->directory_offset + cursor->offset - (magic ? 4 : 0));
    sp_cursor_take(cursor, 2); /* the version and the system of the writer */
    const uint64_t version = sp_cursor_le(cursor, 1);
    sp_cursor_take(cursor, 1); /* a system */
    entry->flags = (uint16_t)sp_cursor_le(cursor, 2);
    entry->method = (uint16_t)sp_cursor_le(cursor, 2);
    sp_cursor_take(cursor, 4); /* time and date */
    entry->crc = (uint32_t)sp_cursor_le(cursor, 4);
    entry->compressed_size = sp_cursor_le(cursor, 4);
    entry->size = sp_cursor_le(cursor, 4);
    const uint64_t name_length = sp_cursor_le(cursor, 2), extra_length = sp_cursor_le(cursor, 2);
    const uint64_t comment_length = sp_cursor_le(cursor, 2);
    const uint64_t volume = sp_cursor_le(cursor, 2);
    sp_cursor_take(cursor, 2); /* attributes of the text */
    const uint64_t attributes = sp_cursor_le(cursor, 4);
    entry->header_offset = sp_cursor_le(cursor, 4);
    const char *name = (const char *)sp_cursor_take(cursor, name_length);
    const unsigned char *extra = sp_cursor_take(cursor, extra_length);
    sp_cursor_take(cursor, comment_length);
    if (!cursor->ok) return sp_malformed(error, "zip directory ends inside entry %zu", index);
    if (volume > 1 && volume != 0xffff) /* some count from 1; all ones refer to a field of zip64 */
        return sp_malformed(error, "zip archive in several volumes");
    if (volume == 0xffff) zip->lacks_volume = true; /* torch does not look for it in zip64 */
    if (!check_name(name, (size_t)name_length, index, error)) return false;
    entry->name = sp_arena_copy(&zip->arena, name, (size_t)name_length);
    if (version > LATEST_VERSION) /* which Python refuses, and torch does not look at */
        return sp_malformed(error,
                            "ambiguous archive: member '%s' needs version %" PRIu64 ".%" PRIu64
                            " of the format, the latest is %d.%d",
                            entry->name, version / 10, version % 10, LATEST_VERSION / 10, LATEST_VERSION % 10);
    if (attributes & DOS_DIRECTORY && entry->size && name[name_length - 1] != '/') /* torch would read no byte of it */
        return sp_malformed(error, "ambiguous archive: member '%s' has data and is marked as a directory", entry->name);
    uint64_t *const wide[] = {&entry->size, &entry->compressed_size, &entry->header_offset};
    if (!sp_zip_apply_wide(sp_cursor_of(extra, (size_t)extra_length), wide, sizeof wide / sizeof *wide))
        return sp_malformed(error, "zip entry '%s': short zip64 field", entry->name);
    if (!sp_zip_check_wide(sp_cursor_of(extra, (size_t)extra_length), entry->name, error)) return false;
    if (!sp_zip_check_path(sp_cursor_of(extra, (size_t)extra_length), entry->name, error)) return false;
    if (!sp_map_add(&zip->names, entry->name, index))
        return sp_malformed(error, "ambiguous archive: two members named '%s'", entry->name);
    return true;
}

static bool parse_entries(struct sp_zip *zip, const struct end *end, struct shapeproof_error *error)
{
    sp_budget_read(end->size);
    unsigned char *bytes = sp_realloc(NULL, (size_t)end->size, 1);
    bool ok = sp_file_read(zip->file, end->offset, bytes, (size_t)end->size, error);
    struct sp_cursor cursor = sp_cursor_of(bytes, (size_t)end->size);
    for (size_t i = 0; ok && i < zip->count; i++) ok = parse_entry(zip, &cursor, i, error);
    if (ok && sp_cursor_left(&cursor))
        ok = sp_malformed(error, "zip directory: %zu bytes after its %zu entries", sp_cursor_left(&cursor), zip->count);
    sp_free(bytes);
    return ok;
}

/* ---- no two members share a name or bytes ---- */

/* The name that a file would get when the member is unpacked: in lower case, with slashes for backslashes, and without
 * the components "." and "", as in "a/./b" and "a//b". */
static void fold_name(char *name)
{
    char *to = name;
    for (const char *at = name; *at; at++) {
        const char c = *at == '\\' ? '/' : *at >= 'A' && *at <= 'Z' ? (char)(*at - 'A' + 'a') : *at;
        const bool begins = to == name || to[-1] == '/';
        if (begins && c == '.' && (at[1] == '/' || at[1] == '\\')) at++;
        else if (!begins || c != '/') *to++ = c;
    }
    *to = '\0';
}

/* Some readers look names up without regard to case, or take a backslash for a slash, as Python's does on Windows; and
 * programs that unpack two members into one file keep the last. */
static bool check_case(const struct sp_zip *zip, struct shapeproof_error *error)
{
    struct sp_arena arena = {0};
    struct sp_map folded = {0};
    bool ok = true;
    for (size_t i = 0; ok && i < zip->count; i++) {
        char *name = sp_arena_string(&arena, zip->entries[i].name);
        fold_name(name);
        const size_t other = sp_map_get(&folded, name);
        if (other == SIZE_MAX) sp_map_add(&folded, name, i);
        else
            ok = sp_malformed(error, "ambiguous archive: members '%s' and '%s'", zip->entries[other].name,
                              zip->entries[i].name);
    }
    sp_map_free(&folded);
    sp_arena_free(&arena);
    return ok;
}

static int compare_offsets(const void *left, const void *right)
{
    const struct sp_zip_entry *a = *(const struct sp_zip_entry *const *)left;
    const struct sp_zip_entry *b = *(const struct sp_zip_entry *const *)right;
    return a->header_offset < b->header_offset ? -1 : a->header_offset > b->header_offset;
}

/* Each member must end where the next begins, or before; the last before the directory. The local extra field is
 * not known without reading every local header: sp_zip_data_offset checks it for the members that are read. */
static bool check_places(const struct sp_zip *zip, struct shapeproof_error *error)
{
    const struct sp_zip_entry **sorted = sp_realloc(NULL, zip->count, sizeof *sorted);
    bool ok = true;
    for (size_t i = 0; i < zip->count; i++) sorted[i] = &zip->entries[i];
    qsort(sorted, zip->count, sizeof *sorted, compare_offsets);
    for (size_t i = 0; ok && i < zip->count; i++) {
        const uint64_t next = i + 1 < zip->count ? sorted[i + 1]->header_offset : zip->directory_offset;
        uint64_t end;
        zip->next[sorted[i] - zip->entries] = next;
        if (!sp_add_u64(sorted[i]->header_offset, SP_ZIP_LOCAL_SIZE, &end) ||
            !sp_add_u64(end, sorted[i]->compressed_size, &end) || end > next)
            ok = sp_malformed(
                error, "zip member '%s' of %" PRIu64 " bytes at byte %" PRIu64 " runs into what begins at %" PRIu64,
                sorted[i]->name, sorted[i]->compressed_size, sorted[i]->header_offset, next);
    }
    sp_free(sorted);
    return ok;
}

/* What is stored as it is has as many bytes as it declares; but for what is encrypted, which has some more and is
 * refused by whoever reads it. */
static bool check_stored(const struct sp_zip *zip, struct shapeproof_error *error)
{
    for (size_t i = 0; i < zip->count; i++) {
        const struct sp_zip_entry *entry = &zip->entries[i];
        const bool plain = entry->method == SP_ZIP_STORED && !sp_zip_is_encrypted(entry);
        if (plain && entry->size != entry->compressed_size)
            return sp_malformed(error, "zip member '%s' is stored in %" PRIu64 " bytes and declares %" PRIu64,
                                entry->name, entry->compressed_size, entry->size);
    }
    return true;
}

/* A reader that goes through the file from its beginning would see another archive than the one in the directory. */
static bool check_beginning(const struct sp_zip *zip, struct shapeproof_error *error)
{
    unsigned char magic[4];
    for (size_t i = 0; i < zip->count; i++)
        if (!zip->entries[i].header_offset) return true;
    if (!sp_file_read(zip->file, 0, magic, sizeof magic, error)) return false;
    return !starts_with_signature(magic, LOCAL_MAGIC) || !zip->count ||
           sp_malformed(error, "ambiguous archive: a zip member begins at byte 0 that its directory does not list");
}

bool sp_zip_scan(struct sp_zip *zip, struct shapeproof_error *error)
{
    struct end end = {0};
    if (!find_end(zip, &end, error) || !follow_locator(zip, &end, error) || !check_end(&end, error)) return false;
    zip->directory_offset = end.offset;
    zip->count = (size_t)end.entries;
    zip->end = end.close;
    zip->lacks_volume = end.lacks_volume;
    zip->entries = sp_arena_array(&zip->arena, zip->count, sizeof *zip->entries);
    zip->next = sp_arena_array(&zip->arena, zip->count, sizeof *zip->next);
    return parse_entries(zip, &end, error) && check_case(zip, error) && check_places(zip, error) &&
           check_stored(zip, error) && check_beginning(zip, error);
}
