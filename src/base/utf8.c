/* SPDX-License-Identifier: MIT */
#include "base/utf8.h"

#include <string.h>

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

size_t sp_utf8_check(const char *bytes, size_t length)
{
    size_t i = 0;
    while (i < length) {
        uint64_t word;
        uint32_t code;
        if (length - i >= sizeof word) { /* eight ASCII bytes at a time: headers are megabytes of it */
            memcpy(&word, bytes + i, sizeof word);
            if (!(word & 0x8080808080808080U)) {
                i += sizeof word;
                continue;
            }
        }
        const size_t step = sp_utf8_decode(bytes + i, length - i, &code);
        if (!step) return i;
        i += step;
    }
    return length;
}
