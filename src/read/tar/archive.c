/* SPDX-License-Identifier: MIT
 * A member is a header of 512 bytes and its data, filled up to blocks of as many. In front of it there may be a member
 * that says more of the next one:
 *   x   pax records, "25 path=a/long/name\n": path and size are heeded       g   the same for all that follow
 *   L   GNU: the name                                                         K   that of a link
 * Two blocks of zeros end the archive; many end with the file. Libraries for tar read it as a stream, and of what is
 * in it nothing can then be said about where it lies; the format is a header and a sum. */
#include "read/tar/archive.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/budget.h"
#include "base/chars.h"
#include "base/checked.h"
#include "base/map.h"
#include "base/names.h"
#include "base/utf8.h"

enum {
    NAME_BYTES = 100,
    SIZE_AT = 124,
    SIZE_DIGITS = 12,
    SUM_AT = 148,
    SUM_DIGITS = 8,
    TYPE_AT = 156,
    MAGIC_AT = 257,
    PREFIX_AT = 345,
    PREFIX_BYTES = 155,
    RECORD = 20 * SP_TAR_BLOCK,
    MAX_RECORD_BYTES = 1 << 20 /* of a member's extended header */
};

struct tar_walk {
    struct sp_tar *tar;
    const struct sp_file *file;
    struct shapeproof_error *error;
    struct sp_map names;
    uint64_t at;
    const char *name; /* of the next member, as a member before it said; or NULL */
    uint64_t size;    /* the same, when sized */
    bool sized;
};

/* ---- headers ---- */

static bool read_octal(const unsigned char *digits, size_t count, uint64_t *value)
{
    size_t i = 0;
    *value = 0;
    while (i < count && digits[i] == ' ') i++;
    const size_t first = i;
    for (; i < count && digits[i] >= '0' && digits[i] <= '7'; i++) *value = *value << 3 | (digits[i] - '0');
    return i > first && (i == count || !digits[i] || digits[i] == ' ');
}

/* GNU writes large ones in binary, behind a byte 0x80. */
bool sp_tar_member_size(const unsigned char *block, uint64_t *size)
{
    const unsigned char *field = block + SIZE_AT;
    if (field[0] != 0x80) return read_octal(field, SIZE_DIGITS, size);
    *size = 0;
    for (size_t i = 1; i < SIZE_DIGITS; i++) {
        if (*size >> 56) return false;
        *size = *size << 8 | field[i];
    }
    return true;
}

bool sp_tar_is_header(const unsigned char *block)
{
    uint64_t said, sum = SUM_DIGITS * (uint64_t)' ';
    for (size_t i = 0; i < SP_TAR_BLOCK; i++)
        if (i < SUM_AT || i >= SUM_AT + SUM_DIGITS) sum += block[i];
    return !memcmp(block + MAGIC_AT, "ustar", 5) && read_octal(block + SUM_AT, SUM_DIGITS, &said) && said == sum;
}

/* The name in the header itself: "prefix/name", each filled up with NULs. */
static const char *name_in_header(struct sp_arena *arena, const unsigned char *block)
{
    const char *name = (const char *)block, *prefix = (const char *)block + PREFIX_AT;
    const bool posix = !memcmp(block + MAGIC_AT, "ustar\0", 6) && *prefix; /* GNU has times in its place */
    return sp_arena_printf(arena, "%.*s%s%.*s", posix ? PREFIX_BYTES : 0, prefix, posix ? "/" : "", NAME_BYTES, name);
}

/* ---- what is said of the next member ---- */

static void take_pax_record(struct tar_walk *w, const char *key, size_t length, const char *value, size_t count)
{
    struct sp_arena *arena = &w->tar->arena;
    uint64_t size = 0;
    if (SP_IS(key, length, "path")) w->name = sp_arena_copy(arena, value, count);
    if (!SP_IS(key, length, "size") || !count) return;
    for (size_t i = 0; i < count; i++) {
        if (!sp_is_digit(value[i]) || !sp_mul_u64(size, 10, &size) || !sp_add_u64(size, sp_digit(value[i]), &size))
            return;
    }
    w->size = size;
    w->sized = true;
}

/* "25 path=a/long/name\n": the length is that of the whole record. */
static bool take_records(struct tar_walk *w, const char *bytes, size_t length)
{
    for (size_t at = 0; at < length && bytes[at];) {
        size_t record = 0, head = at;
        while (head < length && sp_is_digit(bytes[head]) && record < MAX_RECORD_BYTES)
            record = record * 10 + sp_digit(bytes[head++]);
        const char *equals = head < length ? memchr(bytes + head, '=', length - head) : NULL;
        if (!equals || bytes[head] != ' ' || record > length - at || equals >= bytes + at + record) return false;
        const char *key = bytes + head + 1, *end = bytes + at + record - 1;
        if (equals < key || end < equals + 1 || *end != '\n') return false;
        take_pax_record(w, key, (size_t)(equals - key), equals + 1, (size_t)(end - equals - 1));
        at += record;
    }
    return true;
}

static bool read_extension(struct tar_walk *w, char type, uint64_t size)
{
    sp_budget_read(size);
    char *bytes = sp_realloc(NULL, (size_t)size + 1, 1);
    bool ok = sp_file_read(w->file, w->at, bytes, (size_t)size, w->error);
    bytes[size] = '\0';
    if (ok && type == 'L') w->name = sp_arena_string(&w->tar->arena, bytes);
    if (ok && type == 'x' && !take_records(w, bytes, (size_t)size))
        ok = sp_malformed(w->error, "tar header at byte %" PRIu64 ": its pax records are broken", w->at - SP_TAR_BLOCK);
    sp_free(bytes);
    return ok;
}

/* ---- members ---- */

static bool is_extension(char type) { return type == 'x' || type == 'g' || type == 'L' || type == 'K'; }

static bool add_tar_member(struct tar_walk *w, const char *name, uint64_t size)
{
    struct sp_tar *tar = w->tar;
    while (name[0] == '.' && name[1] == '/') name += 2;
    if (!*name || sp_utf8_check(name, strlen(name)) != strlen(name))
        return sp_malformed(w->error, "tar member at byte %" PRIu64 ": its name is no UTF-8 text", w->at);
    if (tar->members.count == SP_TAR_MAX_MEMBERS)
        return sp_fail(w->error, SHAPEPROOF_ERR_FILE, SHAPEPROOF_KIND_LIMIT, "more than %d tar members",
                       SP_TAR_MAX_MEMBERS);
    if (!sp_map_add(&w->names, name, tar->members.count))
        return sp_malformed(w->error, "ambiguous archive: two members named %s", sp_quote(name).text);
    *SP_PUSH(&tar->members) = (struct sp_tar_member){name, w->at, size};
    return true;
}

/* The member whose header is in the block; w->at is behind it, and moves behind its data. A plain file is added, a
 * member about the next one is read, any other is passed over. False with an error. */
static bool take_tar_member(struct tar_walk *w, const unsigned char *block)
{
    const char type = (char)block[TYPE_AT];
    const uint64_t left = w->file->size - w->at;
    uint64_t size;
    bool ok = true;
    if (!sp_tar_is_header(block) || !sp_tar_member_size(block, &size))
        return sp_malformed(w->error, "the tar header at byte %" PRIu64 " is broken", w->at - SP_TAR_BLOCK);
    const bool extension = is_extension(type);
    if (!extension && w->sized) size = w->size;
    if (type >= '1' && type <= '6') size = 0; /* links, devices, folders, pipes: they have no data, whatever is there */
    if (extension && size > MAX_RECORD_BYTES)
        return sp_fail(w->error, SHAPEPROOF_ERR_FILE, SHAPEPROOF_KIND_LIMIT,
                       "tar header at byte %" PRIu64 ": %" PRIu64 " bytes about one member, at most %d",
                       w->at - SP_TAR_BLOCK, size, MAX_RECORD_BYTES);
    if (size > left)
        return sp_malformed(w->error,
                            "the tar member at byte %" PRIu64 " has %" PRIu64 " bytes, and the file ends at %" PRIu64,
                            w->at, size, w->file->size);
    if (extension) ok = read_extension(w, type, size);
    else if (type == '0' || !type || type == '7') /* a plain file, of an old writer, in one piece on the disk */
        ok = add_tar_member(w, w->name ? w->name : name_in_header(&w->tar->arena, block), size);
    if (!extension) {
        w->name = NULL;
        w->sized = false;
    }
    const uint64_t padding = (SP_TAR_BLOCK - size % SP_TAR_BLOCK) % SP_TAR_BLOCK;
    w->at += size + (padding < left - size ? padding : left - size);
    return ok;
}

/* Archives end with zeros, at least two blocks and to a multiple of 20. */
static uint64_t blank_end(const struct sp_file *file, uint64_t at)
{
    unsigned char block[SP_TAR_BLOCK];
    struct shapeproof_error ignored = {0};
    while (file->size - at >= sizeof block && sp_file_read(file, at, block, sizeof block, &ignored)) {
        if (block[0] || memcmp(block, block + 1, sizeof block - 1)) break;
        at += sizeof block;
        if (at % RECORD == 0) break;
    }
    return at;
}

bool sp_tar_read(struct sp_tar *tar, const struct sp_file *file, struct shapeproof_error *error)
{
    struct tar_walk walk = {.tar = tar, .file = file, .error = error};
    unsigned char block[SP_TAR_BLOCK];
    bool ok = true, ended = false; /* by a block of zeros; or else with the file */
    *tar = (struct sp_tar){0};
    while (ok && file->size - walk.at >= SP_TAR_BLOCK) {
        ok = sp_file_read(file, walk.at, block, sizeof block, error);
        ended = ok && !block[0];
        if (!ok || ended) break;
        walk.at += SP_TAR_BLOCK;
        ok = take_tar_member(&walk, block);
    }
    tar->end = walk.at;
    if (ok) tar->blank = blank_end(file, walk.at);
    if (ok && !ended && walk.at < file->size)
        ok = sp_malformed(error, "the tar header at byte %" PRIu64 " is cut", walk.at);
    sp_map_free(&walk.names);
    return ok;
}

void sp_tar_claim(const struct sp_tar *tar, struct shapeproof_inventory *inventory, uint32_t file_index)
{
    uint64_t at = 0;
    for (size_t i = 0; i < tar->members.count; i++) {
        const struct sp_tar_member *member = &tar->members.items[i];
        const uint64_t end = member->begin + member->size;
        sp_inventory_claim(inventory, file_index, at, member->begin, SP_USE_STRUCTURE);
        at = end + (SP_TAR_BLOCK - member->size % SP_TAR_BLOCK) % SP_TAR_BLOCK;
        if (at > tar->end) at = tar->end;
        sp_inventory_claim(inventory, file_index, end, at, SP_USE_PADDING);
    }
    sp_inventory_claim(inventory, file_index, at, tar->end, SP_USE_STRUCTURE);
    sp_inventory_claim(inventory, file_index, tar->end, tar->blank, SP_USE_PADDING);
}

void sp_tar_free(struct sp_tar *tar)
{
    sp_free(tar->members.items);
    sp_arena_free(&tar->arena);
}
