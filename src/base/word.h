/* SPDX-License-Identifier: MIT
 * Text eight bytes at a time: names and numbers are megabytes of it. */
#ifndef SP_BASE_WORD_H
#define SP_BASE_WORD_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { SP_WORD = 8 };

/* The byte `c`, eight times. */
#define SP_WORD_OF(c) (0x0101010101010101U * (c))

/* The eight bytes at `p`, the first of them lowest on any machine. */
static inline uint64_t sp_word_at(const char *p)
{
    uint64_t word;
    memcpy(&word, p, sizeof word);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    word = __builtin_bswap64(word);
#endif
    return word;
}

/* The same of four bytes; the upper half of the word is 0. */
static inline uint64_t sp_half_word_at(const char *p)
{
    uint32_t half;
    memcpy(&half, p, sizeof half);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    half = __builtin_bswap32(half);
#endif
    return half;
}

/* The `length` bytes at `p`, at most eight, as a word; those behind them are 0. Fewer than eight are read in parts that
 * overlap: five as the first four and the last four, three as the first, the middle and the last one. */
static inline uint64_t sp_word_of_bytes(const char *p, size_t length)
{
    if (length == SP_WORD) return sp_word_at(p);
    if (length >= 4) return sp_half_word_at(p) | sp_half_word_at(p + length - 4) << 8 * (length - 4);
    if (!length) return 0;
    const uint64_t first = (unsigned char)p[0], middle = (unsigned char)p[length / 2];
    return first | middle << 8 * (length / 2) | (uint64_t)(unsigned char)p[length - 1] << 8 * (length - 1);
}

/* A set of bytes of a word, from the functions below: true when it has a member, and the first is exact; further ones
 * are not, because a subtraction borrows from the byte above. */
static inline uint64_t sp_word_below(uint64_t word, unsigned char limit) /* at most 0x80 */
{
    return (word - SP_WORD_OF(limit)) & ~word & SP_WORD_OF(0x80);
}
static inline uint64_t sp_word_equal(uint64_t word, unsigned char c) { return sp_word_below(word ^ SP_WORD_OF(c), 1); }

/* Those that JSON has to escape: quotes, backslashes and control bytes. A quote with bit 1 flipped is 0x20, the byte
 * above the control bytes, which stay below it: one comparison finds both. */
static inline uint64_t sp_word_escaped(uint64_t word)
{
    return sp_word_below(word ^ SP_WORD_OF('"' ^ 0x20), 0x21) | sp_word_equal(word, '\\');
}

/* Which byte of the eight is the first in the set; the set has one. */
static inline size_t sp_word_first(uint64_t set) { return (size_t)__builtin_ctzll(set) / 8; }

#endif
