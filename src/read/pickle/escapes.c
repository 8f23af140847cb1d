/* SPDX-License-Identifier: MIT
 * Escapes in the lines of protocol 0. */
#include "read/pickle/escapes.h"

#include <stdint.h>
#include <string.h>

static unsigned hex_digit(char c)
{
    if (c >= '0' && c <= '9') return (unsigned)(c - '0');
    if (c >= 'a' && c <= 'f') return (unsigned)(c - 'a') + 10;
    if (c >= 'A' && c <= 'F') return (unsigned)(c - 'A') + 10;
    return 16;
}

/* Just so many digits, of those that there are. */
static bool take_hex(const char *text, size_t length, size_t digits, uint32_t *code)
{
    *code = 0;
    if (length < digits) return false;
    for (size_t i = 0; i < digits; i++) {
        const unsigned digit = hex_digit(text[i]);
        if (digit > 15) return false;
        *code = *code << 4 | digit;
    }
    return true;
}

static size_t put_code(uint32_t code, char *out)
{
    const size_t more = code < 0x80 ? 0 : code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
    static const unsigned char marks[] = {0, 0xc0, 0xe0, 0xf0};
    out[0] = (char)(marks[more] | code >> 6 * more);
    for (size_t i = 1; i <= more; i++) out[i] = (char)(0x80 | (code >> 6 * (more - i) & 0x3f));
    return more + 1;
}

bool sp_pickle_plain_text(const char *text, size_t length, char *out, size_t *count)
{
    *count = 0;
    for (size_t i = 0; i < length; i++) {
        uint32_t code = (unsigned char)text[i];
        const char kind = code == '\\' && i + 1 < length ? text[i + 1] : '\0';
        const size_t digits = kind == 'u' ? 4 : kind == 'U' ? 8 : 0;
        if (digits) {
            if (!take_hex(text + i + 2, length - i - 2, digits, &code) || code > 0x10ffff) return false;
            i += digits + 1;
        } else if (kind) { /* the backslash is one, and so is what follows it: no \u begins there */
            out[(*count)++] = '\\';
            code = (unsigned char)text[++i];
        }
        *count += put_code(code, out + *count);
    }
    return true;
}

/* Sets *byte to the value of up to three octal digits. Returns how many there are; without any the byte is 0. */
static size_t take_octal(const char *text, size_t length, char *byte)
{
    unsigned value = 0;
    size_t digits = 0;
    for (; digits < 3 && digits < length && text[digits] >= '0' && text[digits] <= '7'; digits++)
        value = value << 3 | (unsigned)(text[digits] - '0');
    *byte = (char)value;
    return digits;
}

/* Python's escapes: \ with one of the letters, \ooo with one to three octal digits, \xhh; \ in front of anything else
 * stands for itself. */
bool sp_pickle_plain_bytes(const char *text, size_t length, char *out, size_t *count)
{
    static const char letters[] = "abfnrtv\\'\"", meant[] = "\a\b\f\n\r\t\v\\'\"";
    *count = 0;
    for (size_t i = 0; i < length; i++) {
        uint32_t code;
        if (text[i] != '\\') {
            out[(*count)++] = text[i];
            continue;
        }
        if (++i == length) return false;
        const char *letter = text[i] ? strchr(letters, text[i]) : NULL;
        const size_t octal = take_octal(text + i, length - i, &out[*count]);
        if (octal) i += octal - 1;
        else if (letter) out[*count] = meant[letter - letters];
        else if (text[i] == 'x') {
            if (!take_hex(text + i + 1, length - i - 1, 2, &code)) return false;
            out[*count] = (char)code;
            i += 2;
        } else { /* no escape: both characters stay */
            out[(*count)++] = '\\';
            out[*count] = text[i];
        }
        ++*count;
    }
    return true;
}
