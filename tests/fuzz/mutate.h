/* SPDX-License-Identifier: MIT
 * Structure-aware mutation for libFuzzer: an input is divided into spans, such as values of JSON or opcodes of a
 * pickle, and one span is removed, doubled, replaced by another of its kind, or changed inside. So most mutants are
 * still of the format. A target defines how its inputs are divided, and calls mutate_spans in LLVMFuzzerCustomMutator.
 * One mutation in four is of libFuzzer's own, so that broken inputs are tried, too. */
#ifndef TESTS_FUZZ_MUTATE_H
#define TESTS_FUZZ_MUTATE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Of libFuzzer; absent from the replay, which mutates nothing in this way. */
__attribute__((weak)) size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t most);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned int seed);

enum { MUTATE_SPANS = 4096 };

struct mutate_span {
    size_t begin, end;
    int kind;
};

/* What a mutation did to the number of spans: `delta` of them, -1, 0 or 1, were added that are of this kind. */
struct mutate_change {
    int kind, delta;
};

struct mutate_spans {
    struct mutate_span items[MUTATE_SPANS];
    size_t count;
};

static inline uint64_t mutate_random(uint64_t *state) /* splitmix64 */
{
    uint64_t x = *state += 0x9e3779b97f4a7c15;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
    x = (x ^ x >> 27) * 0x94d049bb133111eb;
    return x ^ x >> 31;
}

static inline void mutate_add(struct mutate_spans *spans, size_t begin, size_t end, int kind)
{
    if (spans->count < MUTATE_SPANS && begin < end)
        spans->items[spans->count++] = (struct mutate_span){begin, end, kind};
}

/* Puts `length` bytes in place of data[begin, end); the new size, or the old one when there is no room. */
static inline size_t mutate_splice(uint8_t *data, size_t size, size_t most, size_t begin, size_t end,
                                   const uint8_t *bytes, size_t length)
{
    if (size - (end - begin) + length > most) return size;
    memmove(data + begin + length, data + end, size - end);
    memcpy(data + begin, bytes, length);
    return size - (end - begin) + length;
}

/* A copy of the span, changed by libFuzzer's own mutations; *length is its size. */
static inline uint8_t *mutate_inside(const uint8_t *bytes, size_t *length)
{
    const size_t most = *length + 64;
    uint8_t *copy = malloc(most);
    if (!copy) abort();
    memcpy(copy, bytes, *length);
    *length = LLVMFuzzerMutate(copy, *length, most);
    return copy;
}

/* One mutation; *change, if `change` is not NULL, says what it did to the number of spans. */
static inline size_t mutate_spans(uint8_t *data, size_t size, size_t most, const struct mutate_spans *spans,
                                  uint64_t *state, struct mutate_change *change)
{
    if (change) *change = (struct mutate_change){0, 0};
    if (!spans->count || mutate_random(state) % 4 == 0) return LLVMFuzzerMutate(data, size, most);
    const struct mutate_span a = spans->items[mutate_random(state) % spans->count];
    struct mutate_span b = a;
    for (int tries = 0; tries < 8; tries++) {
        b = spans->items[mutate_random(state) % spans->count];
        if (b.kind == a.kind) break;
        b = a;
    }
    size_t length = b.end - b.begin;
    uint8_t *bytes;
    const uint64_t how = mutate_random(state) % 5;
    size_t result;
    switch (how) {
    case 0: /* remove */
        result = mutate_splice(data, size, most, a.begin, a.end, data, 0);
        if (change && result != size) *change = (struct mutate_change){a.kind, -1};
        return result;
    case 1: /* insert a copy of another */
    case 2: /* replace by another */
        bytes = malloc(length);
        if (!bytes) abort();
        memcpy(bytes, data + b.begin, length);
        result = mutate_splice(data, size, most, how == 1 ? a.end : a.begin, a.end, bytes, length);
        if (change && how == 1 && result != size) *change = (struct mutate_change){a.kind, 1};
        break;
    default:
        length = a.end - a.begin;
        bytes = mutate_inside(data + a.begin, &length);
        result = mutate_splice(data, size, most, a.begin, a.end, bytes, length);
    }
    free(bytes);
    return result;
}

#endif
