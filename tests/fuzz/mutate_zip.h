/* SPDX-License-Identifier: MIT
 * Mutation of zip archives. The members are read from the local headers, one member is changed, removed, doubled or
 * renamed, and the archive is written anew: stored, with the right checksums, sizes and offsets. So a mutant is not
 * refused for its checksum, and its members are read. */
#ifndef TESTS_FUZZ_MUTATE_ZIP_H
#define TESTS_FUZZ_MUTATE_ZIP_H

#include <zlib.h>

#include "mutate_pickle.h"

enum { ZIP_MEMBERS = 64, ZIP_LOCAL = 30, ZIP_CENTRAL = 46, ZIP_END = 22, ZIP_INFLATED = 1 << 16 };

struct zip_member {
    uint8_t name[256], *data; /* heap */
    size_t name_length, size;
};

static inline uint32_t zip_get(const uint8_t *at, size_t width)
{
    uint32_t value = 0;
    for (size_t i = 0; i < width; i++) value |= (uint32_t)at[i] << 8 * i;
    return value;
}

static inline uint8_t *zip_put(uint8_t *at, size_t width, size_t value)
{
    for (size_t i = 0; i < width; i++) *at++ = (uint8_t)(value >> 8 * i);
    return at;
}

/* The inflated bytes; those that there are where the stream breaks off. */
static inline uint8_t *zip_inflate(const uint8_t *bytes, size_t length, size_t *size)
{
    uint8_t *data = malloc(ZIP_INFLATED);
    z_stream stream = {
        .next_in = (uint8_t *)bytes, .avail_in = (uInt)length, .next_out = data, .avail_out = ZIP_INFLATED};
    if (!data || inflateInit2(&stream, -15) != Z_OK) abort();
    inflate(&stream, Z_FINISH);
    *size = ZIP_INFLATED - stream.avail_out;
    inflateEnd(&stream);
    return data;
}

/* The member whose local header is at `at`; false when there is none, or its size is not there. */
static inline bool zip_take(struct zip_member *member, const uint8_t *data, size_t size, size_t at)
{
    if (at + ZIP_LOCAL > size || memcmp(data + at, "PK\3\4", 4) != 0) return false;
    const size_t packed = zip_get(data + at + 18, 4), name = zip_get(data + at + 26, 2);
    const size_t begin = at + ZIP_LOCAL + name + zip_get(data + at + 28, 2);
    if (name > sizeof member->name || begin > size || packed > size - begin) return false;
    memcpy(member->name, data + at + ZIP_LOCAL, name);
    member->name_length = name;
    if (zip_get(data + at + 8, 2) == 8) member->data = zip_inflate(data + begin, packed, &member->size);
    else {
        member->data = malloc(packed + 1);
        if (!member->data) abort();
        memcpy(member->data, data + begin, member->size = packed);
    }
    return true;
}

/* Every local header that is found, whose sizes are in it. */
static inline size_t zip_members(struct zip_member *members, const uint8_t *data, size_t size)
{
    size_t count = 0;
    for (size_t at = 0; at + 4 <= size && count < ZIP_MEMBERS;) {
        const uint8_t *next = memmem(data + at, size - at, "PK\3\4", 4);
        if (!next) break;
        at = (size_t)(next - data);
        if (zip_take(&members[count], data, size, at)) at += ZIP_LOCAL + members[count++].name_length;
        else at += 4;
    }
    return count;
}

/* Both headers of a member have these fields in this order, behind the version. */
static inline uint8_t *zip_put_fields(uint8_t *at, const struct zip_member *member)
{
    at = zip_put(at, 8, 0); /* flags, method, time, date */
    at = zip_put(at, 4, crc32(0, member->data, (uInt)member->size));
    at = zip_put(at, 4, member->size);
    at = zip_put(at, 4, member->size);
    at = zip_put(at, 2, member->name_length);
    return zip_put(at, 2, 0);
}

/* The archive of the members; 0 when there is no room. */
static inline size_t zip_write(uint8_t *data, size_t most, const struct zip_member *members, size_t count)
{
    size_t needed = ZIP_END, offsets[ZIP_MEMBERS];
    for (size_t i = 0; i < count; i++) needed += ZIP_LOCAL + ZIP_CENTRAL + 2 * members[i].name_length + members[i].size;
    if (needed > most) return 0;
    uint8_t *at = data;
    for (size_t i = 0; i < count; i++) {
        offsets[i] = (size_t)(at - data);
        memcpy(at, "PK\3\4\24\0", 6);
        at = zip_put_fields(at + 6, &members[i]);
        memcpy(at, members[i].name, members[i].name_length);
        memcpy(at + members[i].name_length, members[i].data, members[i].size);
        at += members[i].name_length + members[i].size;
    }
    const size_t directory = (size_t)(at - data);
    for (size_t i = 0; i < count; i++) {
        memcpy(at, "PK\1\2\24\0\24\0", 8);
        at = zip_put_fields(at + 8, &members[i]);
        at = zip_put(zip_put(at, 8, 0), 2, 0); /* comment, disk, attributes */
        at = zip_put(at, 4, offsets[i]);
        memcpy(at, members[i].name, members[i].name_length);
        at += members[i].name_length;
    }
    const size_t length = (size_t)(at - data) - directory;
    memcpy(at, "PK\5\6\0\0\0\0", 8);
    at = zip_put(zip_put(at + 8, 2, count), 2, count);
    at = zip_put(zip_put(zip_put(at, 4, length), 4, directory), 2, 0);
    return (size_t)(at - data);
}

static inline bool zip_is_pickle(const struct zip_member *member)
{
    return member->name_length >= 4 && memcmp(member->name + member->name_length - 4, ".pkl", 4) == 0;
}

/* Pickles are changed as pickles are. */
static inline void zip_change(struct zip_member *member, uint64_t *state)
{
    const size_t most = member->size + 64;
    member->data = realloc(member->data, most);
    if (!member->data) abort();
    member->size = zip_is_pickle(member) ? pickle_mutate(member->data, member->size, most, state)
                                         : LLVMFuzzerMutate(member->data, member->size, most);
}

static inline void zip_free(struct zip_member *members, size_t count)
{
    for (size_t i = 0; i < count; i++) free(members[i].data);
}

static inline size_t zip_mutate(uint8_t *data, size_t size, size_t most, uint64_t *state)
{
    struct zip_member members[ZIP_MEMBERS + 1] = {{{0}, NULL, 0, 0}};
    size_t count = zip_members(members, data, size);
    if (!count || mutate_random(state) % 4 == 0) {
        zip_free(members, count);
        return LLVMFuzzerMutate(data, size, most);
    }
    const size_t chosen = mutate_random(state) % count;
    struct zip_member *member = &members[chosen], spare;
    switch (mutate_random(state) % 8) {
    case 0: /* removed: the last one is in its place */
        spare = *member;
        *member = members[--count];
        free(spare.data);
        members[count].data = NULL;
        break;
    case 1: /* doubled, with or without its name */
        if (count == ZIP_MEMBERS) break;
        members[count] = *member;
        members[count].data = malloc(member->size + 1);
        if (!members[count].data) abort();
        memcpy(members[count].data, member->data, member->size);
        if (mutate_random(state) % 2) members[count].name[0] ^= 1;
        count++;
        break;
    case 2:
        member->name_length = LLVMFuzzerMutate(member->name, member->name_length, sizeof member->name);
        break;
    default:
        for (size_t i = 0; i < count; i++) /* most of them at the pickle, if there is one */
            if (zip_is_pickle(&members[i]) && mutate_random(state) % 4) member = &members[i];
        zip_change(member, state);
    }
    const size_t written = zip_write(data, most, members, count);
    zip_free(members, count);
    return written ? written : LLVMFuzzerMutate(data, size, most);
}

#endif
