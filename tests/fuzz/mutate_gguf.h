/* SPDX-License-Identifier: MIT
 * Mutation of GGUF, version 2 and later, little-endian: the entries of the metadata and of the tensors are the spans,
 * and the counts in the header follow when one is removed or doubled. */
#ifndef TESTS_FUZZ_MUTATE_GGUF_H
#define TESTS_FUZZ_MUTATE_GGUF_H

#include "mutate.h"

enum { GGUF_TENSOR, GGUF_KEY, GGUF_HEADER = 24, GGUF_STRING = 8, GGUF_ARRAY = 9 };

struct gguf_divider {
    const uint8_t *data;
    size_t size, at;
    bool ok;
};

static inline uint64_t gguf_number(struct gguf_divider *d, size_t width)
{
    uint64_t value = 0;
    d->ok = d->ok && width <= d->size - d->at;
    for (size_t i = 0; d->ok && i < width; i++) value |= (uint64_t)d->data[d->at++] << 8 * i;
    return value;
}

static inline void gguf_skip(struct gguf_divider *d, uint64_t bytes)
{
    d->ok = d->ok && bytes <= d->size - d->at;
    if (d->ok) d->at += (size_t)bytes;
}

static inline void gguf_value(struct gguf_divider *d, uint64_t type)
{
    static const uint8_t widths[] = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};
    if (type == GGUF_STRING) gguf_skip(d, gguf_number(d, 8));
    else if (type == GGUF_ARRAY) {
        const uint64_t of = gguf_number(d, 4), count = gguf_number(d, 8);
        if (of == GGUF_ARRAY) d->ok = false;
        for (uint64_t i = 0; d->ok && i < count; i++) gguf_value(d, of);
    } else if (type < sizeof widths) gguf_skip(d, widths[type]);
    else d->ok = false;
}

static inline size_t gguf_mutate(uint8_t *data, size_t size, size_t most, uint64_t *state)
{
    static struct mutate_spans spans;
    struct mutate_change change;
    struct gguf_divider d = {.data = data, .size = size, .at = GGUF_HEADER, .ok = size >= GGUF_HEADER};
    uint64_t counts[2] = {0, 0}; /* of tensors, of keys: as in the header */
    spans.count = 0;
    for (size_t kind = 0; d.ok && kind < 2; kind++)
        for (size_t i = 0; i < 8; i++) counts[kind] |= (uint64_t)data[8 + 8 * kind + i] << 8 * i;
    for (uint64_t i = 0; d.ok && i < counts[GGUF_KEY]; i++) {
        const size_t begin = d.at;
        gguf_skip(&d, gguf_number(&d, 8));
        gguf_value(&d, gguf_number(&d, 4));
        if (d.ok) mutate_add(&spans, begin, d.at, GGUF_KEY);
    }
    for (uint64_t i = 0; d.ok && i < counts[GGUF_TENSOR]; i++) {
        const size_t begin = d.at;
        gguf_skip(&d, gguf_number(&d, 8));
        gguf_skip(&d, gguf_number(&d, 4) * 8);
        gguf_skip(&d, 12); /* type and offset */
        if (d.ok) mutate_add(&spans, begin, d.at, GGUF_TENSOR);
    }
    const size_t mutated = mutate_spans(data, size, most, &spans, state, &change);
    if (mutated < GGUF_HEADER) return mutated;
    const uint64_t count = counts[change.kind] + (uint64_t)(int64_t)change.delta;
    for (size_t i = 0; change.delta && i < 8; i++) data[8 + 8 * (size_t)change.kind + i] = (uint8_t)(count >> 8 * i);
    return mutated;
}

#endif
