/* SPDX-License-Identifier: MIT
 * Small files for tests of readers: bytes in memory, pickles as C strings, zip and tar archives. */
#ifndef TESTS_READ_BUILD_H
#define TESTS_READ_BUILD_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/text.h"

/* ---- numbers ---- */

/* Appends the lowest `width` bytes of the number, the lowest first. */
static inline void put_le(struct sp_text *text, size_t width, uint64_t number)
{
    for (size_t i = 0; i < width; i++) {
        const char byte = (char)(i < 8 ? number >> 8 * i & 0xff : 0);
        sp_text_append(text, &byte, 1);
    }
}

/* ---- pickles: values as C strings. P_PICKLE(P_LIST(P_INT("1") P_STR("a"))) is [1, "a"] ---- */

#define P_PICKLE(value) "\x80\x02" value "."
#define P_INT(digits) "I" digits "\n"
#define P_STR(text) "V" text "\n"
#define P_FALSE "I00\n"
#define P_TRUE "I01\n"
#define P_NONE "N"
#define P_TUPLE(items) "(" items "t"
#define P_LIST(items) "](" items "e"
#define P_DICT(items) "}(" items "u"
#define P_GLOBAL(module, name) "c" module "\n" name "\n"
#define P_CALL(module, name, arguments) P_GLOBAL(module, name) arguments "R"
/* An object of a class, made without arguments, whose state is set. */
#define P_OBJECT(module, name, state) P_GLOBAL(module, name) ")\x81" state "b"
#define P_PERSISTENT(id) id "Q"

/* A storage of torch in a persistent id, and a tensor of `shape` in it. */
#define P_STORAGE(class, key, count)                                                                                   \
    P_PERSISTENT(P_TUPLE(P_STR("storage") P_GLOBAL("torch", class) P_STR(key) P_STR("cpu") P_INT(count)))
#define P_REBUILD(storage, offset, shape, strides)                                                                     \
    P_CALL("torch._utils", "_rebuild_tensor_v2",                                                                       \
           P_TUPLE(storage P_INT(offset) shape strides P_FALSE P_CALL("collections", "OrderedDict", ")")))

/* ---- zip archives: each member stored, with a right checksum ---- */

enum { ZIP_STORED = 0, ZIP_DEFLATED = 8 };

struct zipped {
    const char *name, *bytes;
    size_t length;
    unsigned method;       /* with ZIP_DEFLATED the bytes are deflated */
    uint32_t claimed_size; /* that the headers give as the inflated size; 0: the right one */
    const char *extra;     /* of the directory: extra fields, for zip64 */
    size_t extra_length;
    unsigned flags, local_flags; /* of the directory, and of the header in front of the data */
    const char *behind;          /* bytes behind the data */
    size_t behind_length;
};

/* What both headers of a member have, from the flags to the lengths. */
static inline void put_zip_fields(struct sp_text *text, const struct zipped *member, size_t packed, size_t extra,
                                  unsigned flags)
{
    const uint32_t size = member->claimed_size ? member->claimed_size : (uint32_t)member->length;
    put_le(text, 2, flags);
    put_le(text, 2, member->method);
    put_le(text, 4, 0); /* time and date */
    put_le(text, 4, crc32(0, (const unsigned char *)member->bytes, (uInt)member->length));
    put_le(text, 4, packed);
    put_le(text, 4, size);
    put_le(text, 2, strlen(member->name));
    put_le(text, 2, extra);
}

static inline size_t put_deflated(struct sp_text *text, const char *bytes, size_t length)
{
    unsigned char packed[4096];
    z_stream stream = {.next_in = (unsigned char *)bytes, .avail_in = (uInt)length, .next_out = packed};
    stream.avail_out = sizeof packed;
    if (deflateInit2(&stream, 9, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY) != Z_OK || deflate(&stream, Z_FINISH) < 0)
        abort();
    const size_t size = sizeof packed - stream.avail_out;
    deflateEnd(&stream);
    sp_text_append(text, (const char *)packed, size);
    return size;
}

/* The archive of the members, with a comment of `comment` bytes at its end. */
static inline void put_zip(struct sp_text *text, const struct zipped *members, size_t count)
{
    struct sp_text directory = {0};
    for (size_t i = 0; i < count; i++) {
        struct sp_text data = {0};
        const size_t begin = text->length, name = strlen(members[i].name);
        if (members[i].method == ZIP_DEFLATED) put_deflated(&data, members[i].bytes, members[i].length);
        else sp_text_append(&data, members[i].bytes, members[i].length);
        sp_text_append(text, "PK\3\4\24\0", 6);
        put_zip_fields(text, &members[i], data.length, 0, members[i].local_flags);
        sp_text_append(text, members[i].name, name);
        sp_text_append(text, data.data, data.length);
        if (members[i].behind) sp_text_append(text, members[i].behind, members[i].behind_length);
        sp_text_append(&directory, "PK\1\2\24\0\24\0", 8);
        put_zip_fields(&directory, &members[i], data.length, members[i].extra_length, members[i].flags);
        put_le(&directory, 10, 0); /* comment, disk, attributes */
        put_le(&directory, 4, begin);
        sp_text_append(&directory, members[i].name, name);
        if (members[i].extra) sp_text_append(&directory, members[i].extra, members[i].extra_length);
        sp_text_free(&data);
    }
    const size_t begin = text->length;
    sp_text_append(text, directory.data, directory.length);
    sp_text_append(text, "PK\5\6\0\0\0\0", 8);
    put_le(text, 2, count);
    put_le(text, 2, count);
    put_le(text, 4, directory.length);
    put_le(text, 4, begin);
    put_le(text, 2, 0);
    sp_text_free(&directory);
}

/* ---- tar archives ---- */

enum { TAR_BLOCK = 512 };

/* The header of a member: its type, name, mode, size and the checksum of the header. */
static inline void put_tar_typed(struct sp_text *text, char type, const char *name, uint64_t size)
{
    char header[TAR_BLOCK] = {0};
    unsigned sum = 0;
    snprintf(header, 100, "%s", name);
    memcpy(header + 100, "0000644", 7);
    snprintf(header + 124, 12, "%011llo", (unsigned long long)size);
    memcpy(header + 148, "        ", 8);
    header[156] = type;
    memcpy(header + 257, "ustar\00000", 8);
    for (size_t i = 0; i < sizeof header; i++) sum += (unsigned char)header[i];
    snprintf(header + 148, 8, "%06o", sum);
    sp_text_append(text, header, sizeof header);
}

static inline void put_tar_header(struct sp_text *text, const char *name, uint64_t size)
{
    put_tar_typed(text, '0', name, size);
}

static inline void put_tar_member(struct sp_text *text, const char *name, const char *bytes, size_t length)
{
    put_tar_header(text, name, length);
    if (length) sp_text_append(text, bytes, length);
    put_le(text, (TAR_BLOCK - length % TAR_BLOCK) % TAR_BLOCK, 0);
}

#endif
