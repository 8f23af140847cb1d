/* SPDX-License-Identifier: MIT */
#include "base/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/fault.h"
#include "base/utf8.h"
#include "base/word.h"

/* Not a part of its caller, which is called for each word of a report and seldom needs it. */
static __attribute__((noinline)) void grow_text(struct sp_text *text, size_t need)
{
    const size_t twice = text->capacity ? text->capacity * 2 : 64;
    const size_t capacity = need > twice ? need : twice;
    text->data = sp_grow(text->data, text->length + 1, capacity, 1);
    text->capacity = capacity;
}

void sp_text_reserve(struct sp_text *text, size_t more)
{
    const size_t need = text->length + more + 1;
    if (need > text->capacity) grow_text(text, need);
}

void sp_text_append(struct sp_text *text, const char *bytes, size_t length)
{
    sp_text_reserve(text, length);
    if (length) memcpy(text->data + text->length, bytes, length);
    text->length += length;
    text->data[text->length] = '\0';
}

void sp_text_printf(struct sp_text *text, const char *format, ...)
{
    va_list args;
    sp_text_reserve(text, 64); /* nearly always enough, so that it is formatted once */
    const size_t room = text->capacity - text->length;
    va_start(args, format);
    const int length = vsnprintf(text->data + text->length, room, format, args);
    va_end(args);
    if (length < 0) sp_out_of_memory(); /* longer than INT_MAX */
    if ((size_t)length >= room) {
        sp_text_reserve(text, (size_t)length);
        va_start(args, format);
        vsnprintf(text->data + text->length, (size_t)length + 1, format, args);
        va_end(args);
    }
    text->length += (size_t)length;
}

void sp_text_pad(struct sp_text *text, size_t spaces)
{
    sp_text_reserve(text, spaces);
    memset(text->data + text->length, ' ', spaces);
    text->length += spaces;
    text->data[text->length] = '\0';
}

static void append_number(struct sp_text *text, uint64_t number, bool grouped)
{
    char digits[32]; /* filled from its end */
    size_t at = sizeof digits, count = 0;
    do {
        if (grouped && count && count % 3 == 0) digits[--at] = ',';
        digits[--at] = (char)('0' + number % 10);
        count++;
    } while (number /= 10);
    sp_text_append(text, digits + at, sizeof digits - at);
}

void sp_text_number(struct sp_text *text, uint64_t number) { append_number(text, number, false); }
void sp_text_grouped(struct sp_text *text, uint64_t number) { append_number(text, number, true); }

/* How many bytes from the start are printable ASCII that no output escapes: nearly all of every name. */
static size_t printable_run(const char *bytes, size_t length)
{
    size_t i = 0;
    for (; length - i >= SP_WORD; i += SP_WORD) {
        const uint64_t word = sp_word_at(bytes + i);
        const uint64_t other = sp_word_escaped(word) | sp_word_equal(word, 0x7f) | (word & SP_WORD_OF(0x80));
        if (other) return i + sp_word_first(other);
    }
    while (i < length && bytes[i] >= 0x20 && bytes[i] < 0x7f && bytes[i] != '"' && bytes[i] != '\\') i++;
    return i;
}

/* Characters that must not reach a terminal raw, because nobody sees them or sees how they differ from a blank, or
 * because they change how others are shown. The ranges, in ascending order, are from the properties of Unicode 17.0:
 *
 *     Default_Ignorable_Code_Point    U+200B, the Hangul fillers, the variation selectors
 *     White_Space but for U+0020      U+00A0, U+3000, U+2028
 *     General_Category Cc and Cf      U+001B, U+202E, the joiners of hieroglyphs
 *     General_Category Co             U+E000, which each font draws in its own way
 *     Noncharacter_Code_Point         U+FDD0; U+nFFFE and U+nFFFF are tested apart
 *     names that say so               U+2800 BRAILLE PATTERN BLANK, U+16FE4 KHITAN SMALL SCRIPT FILLER,
 *                                     U+1D159 MUSICAL SYMBOL NULL NOTEHEAD
 *
 * A code point that is not assigned stays, because a later Unicode can assign it to a letter. */
static bool is_unsafe(uint32_t code)
{
    static const struct {
        uint32_t first, last;
    } ranges[] = {
        {0x00, 0x1f},       {0x7f, 0xa0},       {0xad, 0xad},       {0x34f, 0x34f},     {0x600, 0x605},
        {0x61c, 0x61c},     {0x6dd, 0x6dd},     {0x70f, 0x70f},     {0x890, 0x891},     {0x8e2, 0x8e2},
        {0x115f, 0x1160},   {0x1680, 0x1680},   {0x17b4, 0x17b5},   {0x180b, 0x180f},   {0x2000, 0x200f},
        {0x2028, 0x202f},   {0x205f, 0x206f},   {0x2800, 0x2800},   {0x3000, 0x3000},   {0x3164, 0x3164},
        {0xe000, 0xf8ff},   {0xfdd0, 0xfdef},   {0xfe00, 0xfe0f},   {0xfeff, 0xfeff},   {0xffa0, 0xffa0},
        {0xfff0, 0xfffb},   {0x110bd, 0x110bd}, {0x110cd, 0x110cd}, {0x13430, 0x1343f}, {0x16fe4, 0x16fe4},
        {0x1bca0, 0x1bca3}, {0x1d159, 0x1d159}, {0x1d173, 0x1d17a}, {0xe0000, 0xe0fff}, {0xf0000, 0x10ffff},
    };
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges && code >= ranges[i].first; i++)
        if (code <= ranges[i].last) return true;
    return (code & 0xfffe) == 0xfffe;
}

static void json_escape(struct sp_text *text, uint32_t code, const char *bytes, size_t length)
{
    static const char *const short_forms[] = {
        ['\b'] = "\\b", ['\t'] = "\\t", ['\n'] = "\\n", ['\f'] = "\\f", ['\r'] = "\\r"};
    if (code == '"' || code == '\\') sp_text_printf(text, "\\%c", (char)code);
    else if (code < sizeof short_forms / sizeof *short_forms && short_forms[code])
        sp_text_puts(text, short_forms[code]);
    else if (is_unsafe(code) && code >= 0x10000) /* as JSON has it, in two halves */
        sp_text_printf(text, "\\u%04x\\u%04x", 0xd800 + ((code - 0x10000) >> 10), 0xdc00 + (code & 0x3ff));
    else if (is_unsafe(code)) sp_text_printf(text, "\\u%04x", code);
    else sp_text_append(text, bytes, length);
}

void sp_text_json(struct sp_text *text, const char *string)
{
    const size_t length = strlen(string);
    sp_text_puts(text, "\"");
    for (size_t i = 0; i < length;) {
        uint32_t code;
        const size_t plain = printable_run(string + i, length - i);
        sp_text_append(text, string + i, plain);
        if ((i += plain) == length) break;
        size_t step = sp_utf8_decode(string + i, length - i, &code);
        if (step) json_escape(text, code, string + i, step);
        else if ((step = sp_utf8_decode_odd(string + i, length - i, &code))) sp_text_printf(text, "\\u%04x", code);
        else sp_text_puts(text, "\xef\xbf\xbd");
        i += step ? step : 1;
    }
    sp_text_puts(text, "\"");
}

/* Finds what a runner of continuous integration takes for a command in a log: "::" at the beginning of a line, after
 * blanks of Unicode ("::error::" of GitHub Actions), and anywhere "##[" (GitHub), "##vso[" (Azure) and "##teamcity[".
 * A string may begin a line, and a line may be broken at a blank, so "::" counts after these. Returns the place of its
 * first character, or `length`. */
static size_t find_command(const char *string, size_t length)
{
    static const char *const commands[] = {"::", "##[", "##vso[", "##teamcity["};
    for (size_t at = 0; at < length; at++) {
        if (string[at] != ':' && string[at] != '#') continue;
        const bool may_begin = at == 0 || string[at - 1] == ' ' || (unsigned char)string[at - 1] >= 0x80;
        for (size_t i = string[at] == ':' && !may_begin; i < sizeof commands / sizeof *commands; i++) {
            const size_t size = strlen(commands[i]);
            if (length - at >= size && strncasecmp(string + at, commands[i], size) == 0) return at;
        }
    }
    return length;
}

static void put_visible(struct sp_text *text, const char *string, size_t length)
{
    for (size_t i = 0; i < length;) {
        uint32_t code;
        const size_t plain = printable_run(string + i, length - i);
        sp_text_append(text, string + i, plain);
        if ((i += plain) == length) break;
        size_t step = sp_utf8_decode(string + i, length - i, &code);
        const bool odd = !step && (step = sp_utf8_decode_odd(string + i, length - i, &code));
        if (!step) sp_text_printf(text, "\\x%02x", (unsigned char)string[i]);
        else if (odd || is_unsafe(code)) sp_text_printf(text, code < 0x100 ? "\\x%02x" : "\\u{%x}", code);
        else sp_text_append(text, string + i, step);
        i += step ? step : 1;
    }
}

void sp_text_visible(struct sp_text *text, const char *string, size_t length)
{
    for (size_t at; (at = find_command(string, length)) < length; string += at + 1, length -= at + 1) {
        put_visible(text, string, at);
        sp_text_printf(text, "\\x%02x", (unsigned char)string[at]);
    }
    put_visible(text, string, length);
}

size_t sp_visible_width(const char *string)
{
    const size_t length = strlen(string);
    if (printable_run(string, length) == length && find_command(string, length) == length) return length;
    struct sp_text text = {0};
    size_t width = 0;
    sp_text_visible(&text, string, length);
    for (size_t i = 0; i < text.length; i++) width += ((unsigned char)text.data[i] & 0xc0) != 0x80;
    sp_text_free(&text);
    return width;
}

void sp_text_free(struct sp_text *text)
{
    sp_free(text->data);
    *text = (struct sp_text){0};
}

char *sp_text_keep(struct sp_text *text, struct sp_arena *arena)
{
    char *kept = sp_arena_copy(arena, text->data, text->length);
    sp_text_free(text);
    return kept;
}
