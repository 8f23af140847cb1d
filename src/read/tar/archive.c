/* SPDX-License-Identifier: MIT
 * A member is a header of 512 bytes and its data, filled up to blocks of as many. In front of it there may be a member
 * that says more of the next one:
 *   x   pax records, "25 path=a/long/name\n": path and size are heeded       g   the same for all that follow
 *   L   GNU: the name                                                         K   that of a link
 * A block of zeros ends the archive; many end with the file. Libraries for tar read it as a stream, and of what is
 * in it nothing can then be said about where it lies; the format is a header and a sum.
 * torch.load and NeMo read archives with Python's tarfile. An archive in which tarfile would find another member, or
 * the same name with other data, is refused: of several members of one name tarfile takes the last. */
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
    MODE_AT = 100,
    USER_AT = 108,
    GROUP_AT = 116,
    SIZE_AT = 124,
    TIME_AT = 136,
    SUM_AT = 148,
    DEVICE_AT = 329,
    DEVICE_MINOR_AT = 337,
    DIGITS = 8, /* of a number */
    LONG_DIGITS = 12 /* of a size, and of a time */,
    TYPE_AT = 156,
    MAGIC_AT = 257,
    PREFIX_AT = 345,
    PREFIX_BYTES = 155,
    MAX_BLANK = 1 << 20 /* bytes of zeros at the end: the largest record that GNU tar writes, 2,048 blocks */,
    MAX_RECORD_BYTES = 1 << 20 /* of a member's extended header */
};

static const size_t NOT_READ = SIZE_MAX - 2, FOLDER = SIZE_MAX - 1; /* values of names that are no plain files */

struct tar_walk {
    struct sp_tar *tar;
    const struct sp_file *file;
    struct shapeproof_error *error;
    struct sp_map names; /* of members of all types */
    uint64_t at;
    const char *name; /* of the next member, as a member before it said; or NULL */
    uint64_t size;    /* the same, when sized */
    bool sized;
    bool extended; /* the member before was about the next one */
};

/* ---- headers ---- */

static bool read_octal(const unsigned char *digits, size_t count, uint64_t *value)
{
    size_t i = 0;
    *value = 0;
    while (i < count && digits[i] == ' ') i++;
    const size_t first = i;
    for (; i < count && digits[i] >= '0' && digits[i] <= '7'; i++) *value = *value << 3 | (digits[i] - '0');
    const size_t end = i;
    while (i < count && digits[i] == ' ') i++;
    return end > first && (i == count || !digits[i]);
}

/* GNU writes large ones in binary, behind a byte 0x80. */
bool sp_tar_member_size(const unsigned char *block, uint64_t *size)
{
    const unsigned char *field = block + SIZE_AT;
    if (field[0] != 0x80) return read_octal(field, LONG_DIGITS, size);
    *size = 0;
    for (size_t i = 1; i < LONG_DIGITS; i++) {
        if (*size >> 56) return false;
        *size = *size << 8 | field[i];
    }
    return true;
}

static bool is_python_space(unsigned char c) { return c == ' ' || (c >= '\t' && c <= '\r') || (c >= 28 && c <= 31); }

/* The number in a field as nti() of Python's tarfile reads it: binary behind 0x80, or 0xff when it is negative;
 * otherwise int(text, 8) of the text before the first NUL, which allows blanks, a sign, "0o" and single underscores. No
 * text is 0. False for what is no number. *value is right for fields of 8 bytes. */
static bool read_python_number(const unsigned char *field, size_t count, int64_t *value)
{
    uint64_t number = 0;
    size_t i = 0, end = 0;
    if (field[0] == 0x80 || field[0] == 0xff) {
        for (i = 1; i < count; i++) number = number << 8 | field[i];
        number &= (UINT64_C(1) << 56) - 1;
        *value = field[0] == 0x80 ? (int64_t)number : (int64_t)number - (INT64_C(1) << 56);
        return true;
    }
    while (end < count && field[end]) end++;
    while (end > 0 && is_python_space(field[end - 1])) end--;
    while (i < end && is_python_space(field[i])) i++;
    *value = 0;
    if (i == end) return true;
    const bool negative = field[i] == '-';
    if (negative || field[i] == '+') i++;
    bool digit = false; /* the byte before is one, or the prefix */
    if (end - i > 2 && field[i] == '0' && (field[i + 1] | 0x20) == 'o') {
        digit = true;
        i += 2;
    }
    for (; i < end; i++) {
        if (field[i] == '_' ? !digit : field[i] < '0' || field[i] > '7') return false;
        digit = field[i] != '_';
        if (digit) number = number << 3 | (field[i] - '0');
    }
    *value = negative ? -(int64_t)number : (int64_t)number;
    return digit;
}

/* The sum of the header, with blanks in place of the sum itself: of unsigned bytes, and as old programs add, signed. */
static void add_up(const unsigned char *block, int64_t *unsigned_sum, int64_t *signed_sum)
{
    *unsigned_sum = *signed_sum = DIGITS * ' ';
    for (size_t i = 0; i < SP_TAR_BLOCK; i++) {
        if (i >= SUM_AT && i < SUM_AT + DIGITS) continue;
        *unsigned_sum += block[i];
        *signed_sum += block[i] < 0x80 ? block[i] : block[i] - 0x100;
    }
}

bool sp_tar_python_reads(const unsigned char *block)
{
    static const size_t numbers[][2] = {{MODE_AT, DIGITS},        {USER_AT, DIGITS},      {GROUP_AT, DIGITS},
                                        {SIZE_AT, LONG_DIGITS},   {TIME_AT, LONG_DIGITS}, {DEVICE_AT, DIGITS},
                                        {DEVICE_MINOR_AT, DIGITS}};
    int64_t said, ignored, sum, signed_sum;
    add_up(block, &sum, &signed_sum);
    if (!read_python_number(block + SUM_AT, DIGITS, &said) || (said != sum && said != signed_sum)) return false;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (!read_python_number(block + numbers[i][0], numbers[i][1], &ignored)) return false;
    return true;
}

bool sp_tar_is_header(const unsigned char *block)
{
    uint64_t said;
    int64_t sum, signed_sum;
    add_up(block, &sum, &signed_sum);
    return !memcmp(block + MAGIC_AT, "ustar", 5) && read_octal(block + SUM_AT, DIGITS, &said) &&
           said == (uint64_t)sum && sp_tar_python_reads(block);
}

/* The name in the header itself: "prefix/name", each filled up with NULs. */
static const char *name_in_header(struct sp_arena *arena, const unsigned char *block)
{
    const char *name = (const char *)block, *prefix = (const char *)block + PREFIX_AT;
    const bool posix = !memcmp(block + MAGIC_AT, "ustar\0", 6) && *prefix; /* GNU has times in its place */
    return sp_arena_printf(arena, "%.*s%s%.*s", posix ? PREFIX_BYTES : 0, prefix, posix ? "/" : "", NAME_BYTES, name);
}

/* ---- what is said of the next member ---- */

static bool read_decimal(const char *digits, size_t count, uint64_t *value)
{
    *value = 0;
    for (size_t i = 0; i < count; i++)
        if (!sp_is_digit(digits[i]) || !sp_mul_u64(*value, 10, value) ||
            !sp_add_u64(*value, sp_digit(digits[i]), value))
            return false;
    return count > 0;
}

/* A name, or a size, is said once of a member: which of two counts depends on the program. */
static bool set_name(struct tar_walk *w, const char *name)
{
    if (w->name) return sp_malformed(w->error, "tar member at byte %" PRIu64 ": two headers give it a name", w->at);
    w->name = name;
    return true;
}

static bool set_size(struct tar_walk *w, const char *value, size_t count)
{
    if (w->sized || !read_decimal(value, count, &w->size))
        return sp_malformed(w->error, "tar header at byte %" PRIu64 ": its pax records are broken",
                            w->at - SP_TAR_BLOCK);
    w->sized = true;
    return true;
}

/* Takes one record of a header of the type: `x`, or `g` for all members that follow. */
static bool take_pax_record(struct tar_walk *w, char type, const char *key, size_t length, const char *value,
                            size_t count)
{
    static const char SPARSE[] = "GNU.sparse.";
    const bool sparse = length >= sizeof SPARSE - 1 && !memcmp(key, SPARSE, sizeof SPARSE - 1);
    const bool path = SP_IS(key, length, "path"), size = SP_IS(key, length, "size");
    if (sparse)
        return sp_malformed(w->error, "tar header at byte %" PRIu64 ": a sparse file is not read",
                            w->at - SP_TAR_BLOCK);
    if (type == 'g' && (path || size))
        return sp_malformed(w->error, "tar header at byte %" PRIu64 ": a %s for all members is not read",
                            w->at - SP_TAR_BLOCK, path ? "name" : "size");
    if (size) return set_size(w, value, count);
    if (!path) return true;
    if (memchr(value, '\0', count))
        return sp_malformed(w->error, "tar header at byte %" PRIu64 ": its pax records are broken",
                            w->at - SP_TAR_BLOCK);
    return set_name(w, sp_arena_copy(&w->tar->arena, value, count));
}

/* "25 path=a/long/name\n": the length is that of the whole record. */
static bool take_records(struct tar_walk *w, char type, const char *bytes, size_t length)
{
    for (size_t at = 0; at < length;) {
        size_t record = 0, head = at;
        while (head < length && sp_is_digit(bytes[head]) && record < MAX_RECORD_BYTES)
            record = record * 10 + sp_digit(bytes[head++]);
        const char *equals = head < length ? memchr(bytes + head, '=', length - head) : NULL;
        const char *key = bytes + head + 1, *end = bytes + at + record - 1;
        if (!equals || bytes[head] != ' ' || record > length - at || equals >= bytes + at + record || equals <= key ||
            end < equals + 1 || *end != '\n')
            return sp_malformed(w->error, "tar header at byte %" PRIu64 ": its pax records are broken",
                                w->at - SP_TAR_BLOCK);
        if (!take_pax_record(w, type, key, (size_t)(equals - key), equals + 1, (size_t)(end - equals - 1)))
            return false;
        at += record;
    }
    return true;
}

static bool is_blank(const char *bytes, size_t length)
{
    return !length || (!bytes[0] && !memcmp(bytes, bytes + 1, length - 1));
}

/* Reads `size` bytes about the next member, which fill `filled` bytes of blocks. Python's tarfile reads the whole
 * blocks, so that there may be nothing but NULs behind these bytes. */
static bool read_extension(struct tar_walk *w, char type, uint64_t size, uint64_t filled)
{
    sp_budget_read(filled);
    char *bytes = sp_realloc(NULL, (size_t)filled + 1, 1);
    bool ok = sp_file_read(w->file, w->at, bytes, (size_t)filled, w->error);
    bytes[filled] = '\0';
    if (ok && !is_blank(bytes + size, (size_t)(filled - size)))
        ok = sp_malformed(w->error, "tar header at byte %" PRIu64 ": its last block has more than its size says",
                          w->at - SP_TAR_BLOCK);
    size_t length = (size_t)size;
    while (length && !bytes[length - 1]) length--; /* some writers count the NULs */
    if (ok && type == 'L') ok = set_name(w, sp_arena_string(&w->tar->arena, bytes));
    if (ok && (type == 'x' || type == 'g')) ok = take_records(w, type, bytes, length);
    sp_free(bytes);
    return ok;
}

/* ---- members ---- */

static bool is_extension(char type) { return type == 'x' || type == 'g' || type == 'L' || type == 'K'; }

/* Adds a member of any type to the names. `value` is its index, NOT_READ or FOLDER; only a folder may come twice. */
static bool add_tar_name(struct tar_walk *w, const char *name, size_t value)
{
    if (w->names.count == SP_TAR_MAX_MEMBERS)
        return sp_fail(w->error, SHAPEPROOF_ERR_FILE, SHAPEPROOF_KIND_LIMIT, "more than %d tar members",
                       SP_TAR_MAX_MEMBERS);
    if (sp_map_add(&w->names, name, value) || (value == FOLDER && sp_map_get(&w->names, name) == FOLDER)) return true;
    return sp_malformed(w->error, "ambiguous archive: two members named %s", sp_quote(name).text);
}

/* Takes the member whose header is in the block, under its name: a plain file is listed. */
static bool add_tar_member(struct tar_walk *w, const unsigned char *block, char type, uint64_t size)
{
    struct sp_tar *tar = w->tar;
    char *name = sp_arena_string(&tar->arena, w->name ? w->name : name_in_header(&tar->arena, block));
    size_t length = strlen(name);
    while (name[0] == '.' && name[1] == '/') {
        name += 2;
        length -= 2;
    }
    const bool slash = length && name[length - 1] == '/';
    while (length && name[length - 1] == '/') name[--length] = '\0';
    const bool link = type >= '1' && type <= '6' && type != '5';  /* or a device or a pipe */
    const bool folder = type == '5' || (slash && !size && !link); /* old writers know no type of folders */
    if (folder && !*name) return true;                            /* "./" */
    if (!*name || sp_utf8_check(name, length) != length)
        return sp_malformed(w->error, "tar member at byte %" PRIu64 ": its name is %s", w->at,
                            *name ? "no UTF-8 text" : "empty");
    if (folder) return add_tar_name(w, name, FOLDER);
    if (slash && !link)
        return sp_malformed(w->error, "tar member at byte %" PRIu64 ": its name is that of a folder, and it has data",
                            w->at);
    if (link) {
        if (!tar->not_read++) tar->first_not_read = name;
        return add_tar_name(w, name, NOT_READ);
    }
    if (!add_tar_name(w, name, tar->members.count)) return false;
    *SP_PUSH(&tar->members) = (struct sp_tar_member){name, w->at, size};
    return true;
}

/* The bytes of data of the member whose header is in the block, which is said to have `size` of them. Links, devices,
 * folders and pipes have none, whatever is there; so has a folder of old writers, which is a plain file with a slash at
 * the end of its name. */
static uint64_t size_of_data(const unsigned char *block, uint64_t size)
{
    const char *name = (const char *)block, type = (char)block[TYPE_AT];
    const char *end = memchr(name, 0, NAME_BYTES);
    const size_t length = end ? (size_t)(end - name) : NAME_BYTES;
    return (type >= '1' && type <= '6') || (!type && length && name[length - 1] == '/') ? 0 : size;
}

/* GNU has times where POSIX has the beginning of the name. Python's tarfile takes them for it. */
static bool has_times(const unsigned char *block) { return memcmp(block + MAGIC_AT, "ustar\0", 6) && block[PREFIX_AT]; }

/* The member whose header is in the block; w->at is behind it, and moves behind its data. A plain file is added, a
 * member about the next one is read, links and folders are passed over. Types 0, NUL and 7 are plain files: POSIX, an
 * old writer, in one piece on the disk. Of others each program makes something else. False with an error. */
static bool take_tar_member(struct tar_walk *w, const unsigned char *block)
{
    const char type = (char)block[TYPE_AT];
    const uint64_t left = w->file->size - w->at;
    uint64_t size;
    if (!sp_tar_is_header(block) || !sp_tar_member_size(block, &size))
        return sp_malformed(w->error, "the tar header at byte %" PRIu64 " is broken", w->at - SP_TAR_BLOCK);
    const bool extension = is_extension(type);
    if (!extension && type && (type < '0' || type > '7'))
        return sp_malformed(w->error, "tar member at byte %" PRIu64 ": its type is not known", w->at);
    if (!extension && has_times(block))
        return sp_malformed(w->error, "tar member at byte %" PRIu64 ": its header has times in place of a name", w->at);
    if (!extension && w->sized) size = w->size;
    if (!extension) size = size_of_data(block, size);
    if (extension && size > MAX_RECORD_BYTES)
        return sp_fail(w->error, SHAPEPROOF_ERR_FILE, SHAPEPROOF_KIND_LIMIT,
                       "tar header at byte %" PRIu64 ": %" PRIu64 " bytes about one member, at most %d",
                       w->at - SP_TAR_BLOCK, size, MAX_RECORD_BYTES);
    const uint64_t padding = (SP_TAR_BLOCK - size % SP_TAR_BLOCK) % SP_TAR_BLOCK;
    if (size > left || padding > left - size)
        return sp_malformed(w->error,
                            "the tar member at byte %" PRIu64 " has %" PRIu64 " bytes, and the file ends at %" PRIu64,
                            w->at, size, w->file->size);
    if (!(extension ? read_extension(w, type, size, size + padding) : add_tar_member(w, block, type, size)))
        return false;
    w->extended = extension;
    if (!extension) {
        w->name = NULL;
        w->sized = false;
    }
    w->at += size + padding;
    return true;
}

/* Archives end with zeros, at least two blocks and to a multiple of 20 or more. */
static uint64_t blank_end(const struct sp_file *file, uint64_t at)
{
    char block[SP_TAR_BLOCK];
    struct shapeproof_error ignored = {0};
    for (size_t i = 0; i < MAX_BLANK / SP_TAR_BLOCK && at < file->size; i++) {
        const size_t length = file->size - at < sizeof block ? (size_t)(file->size - at) : sizeof block;
        if (!sp_file_read(file, at, block, length, &ignored) || !is_blank(block, length)) break;
        at += length;
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
        ended = ok && is_blank((const char *)block, sizeof block);
        if (!ok || ended) break;
        walk.at += SP_TAR_BLOCK;
        ok = take_tar_member(&walk, block);
    }
    tar->end = walk.at;
    if (ok) tar->blank = blank_end(file, walk.at);
    if (ok) tar->beyond = file->size - tar->blank;
    if (ok && walk.extended)
        ok = sp_malformed(error, "the tar archive ends with a header about a member that is not there");
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
    if (tar->not_read)
        sp_inventory_warn(inventory, "members that are links, devices or pipes are not read: %zu, the first is %s",
                          tar->not_read, sp_quote(tar->first_not_read).text);
    if (tar->beyond) sp_inventory_warn(inventory, "%" PRIu64 " bytes after the end of the tar archive", tar->beyond);
}

void sp_tar_free(struct sp_tar *tar)
{
    sp_free(tar->members.items);
    sp_arena_free(&tar->arena);
}
