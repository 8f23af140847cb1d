/* SPDX-License-Identifier: MIT */
#include "base/utf8.h"

#include "base/word.h"

static size_t sequence_length(unsigned char first)
{
    if (first < 0x80) return 1;
    if (first >= 0xc2 && first <= 0xdf) return 2;
    if ((first & 0xf0) == 0xe0) return 3;
    if (first >= 0xf0 && first <= 0xf4) return 4;
    return 0;
}

size_t sp_utf8_decode(const char *bytes, size_t length, uint32_t *code)
{
    static const unsigned char first_mask[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
    static const uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
    const unsigned char *p = (const unsigned char *)bytes;
    const size_t need = length ? sequence_length(p[0]) : 0;
    if (!need || need > length) return 0;
    uint32_t value = p[0] & first_mask[need];
    for (size_t i = 1; i < need; i++) {
        if ((p[i] & 0xc0) != 0x80) return 0;
        value = value << 6 | (p[i] & 0x3fU);
    }
    if (value < smallest[need] || value > 0x10ffff || (value >= 0xd800 && value <= 0xdfff)) return 0;
    *code = value;
    return need;
}

size_t sp_utf8_decode_odd(const char *bytes, size_t length, uint32_t *code)
{
    const unsigned char *p = (const unsigned char *)bytes;
    if (length >= 2 && p[0] == 0xc0 && p[1] == 0x80) {
        *code = 0;
        return 2;
    }
    if (length < 3 || p[0] != 0xed || p[1] < 0xa0 || p[1] > 0xbf || (p[2] & 0xc0) != 0x80) return 0;
    *code = 0xd000U | (p[1] & 0x3fU) << 6 | (p[2] & 0x3fU);
    return 3;
}

/* How many bytes at `p` are ASCII: all of a header as a rule, so that it is looked at 32 bytes at a time, and what is
 * left, or a short text, a word at a time. */
static size_t ascii_length(const char *p, size_t left)
{
    size_t i = 0;
    for (; left - i >= 4 * SP_WORD; i += 4 * SP_WORD) {
        const uint64_t all = sp_word_at(p + i) | sp_word_at(p + i + SP_WORD) | sp_word_at(p + i + 2 * SP_WORD) |
                             sp_word_at(p + i + 3 * SP_WORD);
        if (all & SP_WORD_OF(0x80)) break;
    }
    while (i < left) {
        const size_t length = left - i < SP_WORD ? left - i : SP_WORD;
        const uint64_t others = sp_word_of_bytes(p + i, length) & SP_WORD_OF(0x80);
        if (others) return i + sp_word_first(others);
        i += length;
    }
    return i;
}

size_t sp_utf8_check(const char *bytes, size_t length)
{
    for (size_t i = 0;;) {
        uint32_t code;
        i += ascii_length(bytes + i, length - i);
        const size_t step = i < length ? sp_utf8_decode(bytes + i, length - i, &code) : 0;
        if (!step) return i; /* the end, too */
        i += step;
    }
}
