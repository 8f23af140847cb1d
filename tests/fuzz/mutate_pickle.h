/* SPDX-License-Identifier: MIT
 * Spans of a pickle: its opcodes with their operands. */
#ifndef TESTS_FUZZ_MUTATE_PICKLE_H
#define TESTS_FUZZ_MUTATE_PICKLE_H

#include "mutate.h"

/* How the operand of an opcode is read; of src/read/pickle/opcodes.def. */
enum pickle_operand {
    PICKLE_NONE,
    PICKLE_U1,
    PICKLE_U2,
    PICKLE_U4,
    PICKLE_I4,
    PICKLE_U8,
    PICKLE_F8,
    PICKLE_LINE,
    PICKLE_LINES,
    PICKLE_S1,
    PICKLE_S4,
    PICKLE_T4,
    PICKLE_S8
};

static inline size_t pickle_length(const uint8_t *at, size_t left, size_t width)
{
    uint64_t length = 0;
    if (left < width) return left;
    for (size_t i = 0; i < width; i++) length |= (uint64_t)at[i] << 8 * i;
    return length > left - width ? left : width + (size_t)length;
}

static inline size_t pickle_lines(const uint8_t *at, size_t left, int count)
{
    size_t length = 0;
    while (count-- > 0 && length < left) {
        const uint8_t *end = memchr(at + length, '\n', left - length);
        length = end ? (size_t)(end - at) + 1 : left;
    }
    return length;
}

/* The bytes of an operand. */
static inline size_t pickle_operand(enum pickle_operand operand, const uint8_t *at, size_t left)
{
    static const uint8_t fixed[] = {0, 1, 2, 4, 4, 8, 8};
    if (operand <= PICKLE_F8) return fixed[operand] < left ? fixed[operand] : left;
    if (operand <= PICKLE_LINES) return pickle_lines(at, left, operand == PICKLE_LINE ? 1 : 2);
    return pickle_length(at, left, operand == PICKLE_S1 ? 1 : operand == PICKLE_S8 ? 8 : 4);
}

static inline size_t pickle_mutate(uint8_t *data, size_t size, size_t most, uint64_t *state)
{
    static const uint8_t operands[256] = {
#define SP_OPCODE(byte, name, operand) [byte] = PICKLE_##operand,
#include "read/pickle/opcodes.def"
#undef SP_OPCODE
    };
    static struct mutate_spans spans;
    spans.count = 0;
    for (size_t at = 0; at < size && spans.count < MUTATE_SPANS;) {
        const size_t operand = pickle_operand((enum pickle_operand)operands[data[at]], data + at + 1, size - at - 1);
        mutate_add(&spans, at, at + 1 + operand, 0);
        at += 1 + operand;
    }
    return mutate_spans(data, size, most, &spans, state, NULL);
}

#endif
