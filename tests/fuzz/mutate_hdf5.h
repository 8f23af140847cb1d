/* SPDX-License-Identifier: MIT
 * Mutation of HDF5: the blocks that begin with a signature, such as nodes of B-trees, heaps and object headers, are the
 * spans. Since a block stands where its address says, no byte moves: a block is overwritten by another one of its kind,
 * or a field in it becomes the address of a block or a number that is likely to be wrong. Afterwards the checksums of
 * superblocks and object headers are right again; libhdf5 would look at nothing behind a wrong one. */
#ifndef TESTS_FUZZ_MUTATE_HDF5_H
#define TESTS_FUZZ_MUTATE_HDF5_H

#include "mutate.h"

static const char hdf5_signatures[][5] = {"TREE", "SNOD", "HEAP", "GCOL", "OHDR", "OCHK", "FRHP",   "FHDB",
                                          "FHIB", "BTHD", "BTLF", "BTIN", "EAHD", "EAIB", "EASB",   "EADB",
                                          "FAHD", "FADB", "FSHD", "FSSE", "SMTB", "SMLI", "\x89HDF"};
enum {
    HDF5_KINDS = sizeof hdf5_signatures / sizeof *hdf5_signatures,
    HDF5_OBJECT_HEADER = 4,  /* the place of OHDR in the list */
    HDF5_CHECKED_SUPER = 44, /* bytes of a superblock of version 2 or 3 with addresses of 8 bytes, without checksum */
    HDF5_FIELDS = 256        /* bytes of a block in which a field is changed: there its counts and addresses are */
};

static inline uint32_t hdf5_rotate(uint32_t x, unsigned bits) { return x << bits | x >> (32 - bits); }

/* The checksum of HDF5: Bob Jenkins' lookup3, hashlittle with an initial value of 0. */
static inline uint32_t hdf5_checksum(const uint8_t *bytes, size_t length)
{
    uint32_t a = 0xdeadbeef + (uint32_t)length, b = a, c = a;
    for (; length; bytes += length < 12 ? length : 12, length -= length < 12 ? length : 12) {
        uint32_t words[3] = {0, 0, 0};
        for (size_t i = 0; i < 12 && i < length; i++) words[i / 4] |= (uint32_t)bytes[i] << 8 * (i % 4);
        a += words[0], b += words[1], c += words[2];
        if (length > 12) {
            a = (a - c) ^ hdf5_rotate(c, 4), c += b;
            b = (b - a) ^ hdf5_rotate(a, 6), a += c;
            c = (c - b) ^ hdf5_rotate(b, 8), b += a;
            a = (a - c) ^ hdf5_rotate(c, 16), c += b;
            b = (b - a) ^ hdf5_rotate(a, 19), a += c;
            c = (c - b) ^ hdf5_rotate(b, 4), b += a;
        } else {
            c = (c ^ b) - hdf5_rotate(b, 14);
            a = (a ^ c) - hdf5_rotate(c, 11);
            b = (b ^ a) - hdf5_rotate(a, 25);
            c = (c ^ b) - hdf5_rotate(b, 16);
            a = (a ^ c) - hdf5_rotate(c, 4);
            b = (b ^ a) - hdf5_rotate(a, 14);
            c = (c ^ b) - hdf5_rotate(b, 24);
        }
    }
    return c;
}

static inline uint64_t hdf5_number(const uint8_t *bytes, size_t width)
{
    uint64_t value = 0;
    for (size_t i = 0; i < width; i++) value |= (uint64_t)bytes[i] << 8 * i;
    return value;
}

static inline void hdf5_put(uint8_t *bytes, uint64_t value, size_t width)
{
    for (size_t i = 0; i < width; i++) bytes[i] = (uint8_t)(value >> 8 * i);
}

/* How many bytes of the block have a checksum behind them; 0 if it has none, or where that is not known. */
static inline size_t hdf5_checked_length(const uint8_t *block, size_t left, int kind)
{
    enum { TIMES = 0x20, PHASES = 0x10 }; /* flags of an object header: 4 times follow, and 2 numbers of attributes */
    uint64_t length = 0;
    if (kind == HDF5_KINDS - 1 && left > 9 && (block[8] == 2 || block[8] == 3) && block[9] == 8)
        length = HDF5_CHECKED_SUPER;
    if (kind == HDF5_OBJECT_HEADER && left > 6 + 16 + 4 + 8) {
        const size_t times = block[5] & TIMES ? 16 : 0, phases = block[5] & PHASES ? 4 : 0;
        const size_t at = 6 + times + phases, width = (size_t)1 << (block[5] & 3);
        length = at + width + hdf5_number(block + at, width);
    }
    return length < left && left - length >= 4 ? (size_t)length : 0;
}

static inline void hdf5_divide(const uint8_t *data, size_t size, struct mutate_spans *spans)
{
    static bool begins[UINT8_MAX + 1]; /* whether a signature begins with that byte */
    for (int kind = 0; kind < HDF5_KINDS; kind++) begins[(uint8_t)hdf5_signatures[kind][0]] = true;
    spans->count = 0;
    for (size_t at = 0; at + 8 <= size; at++)
        for (int kind = begins[data[at]] ? 0 : HDF5_KINDS; kind < HDF5_KINDS; kind++)
            if (memcmp(data + at, hdf5_signatures[kind], 4) == 0) {
                if (spans->count) spans->items[spans->count - 1].end = at;
                mutate_add(spans, at, size, kind);
            }
}

static inline void hdf5_check(uint8_t *data, size_t size, const struct mutate_spans *spans)
{
    for (size_t i = 0; i < spans->count; i++) {
        uint8_t *block = data + spans->items[i].begin;
        const size_t length = hdf5_checked_length(block, size - spans->items[i].begin, spans->items[i].kind);
        if (length) hdf5_put(block + length, hdf5_checksum(block, length), 4);
    }
}

static inline size_t hdf5_mutate(uint8_t *data, size_t size, size_t most, uint64_t *state)
{
    static struct mutate_spans spans;
    hdf5_divide(data, size, &spans);
    if (!spans.count || mutate_random(state) % 8 == 0) return LLVMFuzzerMutate(data, size, most);
    const struct mutate_span a = spans.items[mutate_random(state) % spans.count];
    const struct mutate_span b = spans.items[mutate_random(state) % spans.count];
    const size_t length = a.end - a.begin, other = b.end - b.begin,
                 fields = length < HDF5_FIELDS ? length : HDF5_FIELDS;
    const size_t width = (size_t)1 << mutate_random(state) % 4;
    uint8_t *field = data + a.begin + 4 + mutate_random(state) % fields;
    if (field + width > data + size) return LLVMFuzzerMutate(data, size, most);
    const uint64_t value = hdf5_number(field, width);
    const uint64_t numbers[] = {0, 1, UINT64_MAX, UINT64_MAX >> 1, value + 1, value - 1, value * 2, size, b.begin};
    if (mutate_random(state) % 8 == 0 && a.kind == b.kind)
        memmove(data + a.begin, data + b.begin, length < other ? length : other);
    else hdf5_put(field, numbers[mutate_random(state) % (sizeof numbers / sizeof *numbers)], width);
    hdf5_check(data, size, &spans);
    return size;
}

#endif
