/* SPDX-License-Identifier: MIT */
#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"

const char *shapeproof_kind_name(enum shapeproof_kind kind)
{
    static const char *const names[] = {"",        "io",    "unrecognised", "malformed",
                                        "refused", "limit", "crashed",      "overflow"};
    return names[kind];
}

/* Cut at a code point so that a long name never leaves half a character. */
static void copy_cut(char *to, size_t size, const char *from, size_t length)
{
    if (length >= size) {
        length = size - 4;
        while (length && ((unsigned char)from[length] & 0xc0) == 0x80) length--;
        memcpy(to, from, length);
        memcpy(to + length, "...", 4);
        return;
    }
    if (length) memcpy(to, from, length);
    to[length] = '\0';
}

/* The one place where the text of a file gets into a message: made printable, so that it cannot begin a line. Needs no
 * memory, because callbacks of other libraries fail here, too. */
static void store(char *to, size_t size, const char *format, va_list args)
{
    char raw[4096], visible[4 * sizeof raw + 128]; /* a byte becomes at most four, "\xff" */
    struct sp_text text = {.data = visible, .capacity = sizeof visible};
    *visible = '\0';
    vsnprintf(raw, sizeof raw, format, args);
    sp_text_visible(&text, raw, strlen(raw));
    copy_cut(to, size, text.data, text.length);
}

void sp_error_reset(struct shapeproof_error *error)
{
    error->status = SHAPEPROOF_OK;
    error->kind = SHAPEPROOF_KIND_NONE;
    *error->message = *error->hint = '\0';
}

bool sp_fail(struct shapeproof_error *error, enum shapeproof_status status, enum shapeproof_kind kind,
             const char *format, ...)
{
    if (error->status != SHAPEPROOF_OK) return false;
    va_list args;
    va_start(args, format);
    error->status = status;
    error->kind = kind;
    store(error->message, sizeof error->message, format, args);
    va_end(args);
    return false;
}

bool sp_fail_lines(struct shapeproof_error *error, enum shapeproof_status status, enum shapeproof_kind kind,
                   const char *lines)
{
    if (error->status != SHAPEPROOF_OK) return false;
    struct sp_text text = {0};
    error->status = status;
    error->kind = kind;
    for (const char *line = lines; *line;) {
        const size_t length = strcspn(line, "\n");
        sp_text_visible(&text, line, length);
        line += length;
        if (*line) sp_text_append(&text, line++, 1);
    }
    copy_cut(error->message, sizeof error->message, text.data ? text.data : "", text.length);
    sp_text_free(&text);
    return false;
}

bool sp_malformed(struct shapeproof_error *error, const char *format, ...)
{
    if (error->status != SHAPEPROOF_OK) return false;
    va_list args;
    va_start(args, format);
    error->status = SHAPEPROOF_ERR_FILE;
    error->kind = SHAPEPROOF_KIND_MALFORMED;
    store(error->message, sizeof error->message, format, args);
    va_end(args);
    return false;
}

void sp_hint(struct shapeproof_error *error, const char *format, ...)
{
    if (error->hint[0]) return;
    va_list args;
    va_start(args, format);
    store(error->hint, sizeof error->hint, format, args);
    va_end(args);
}

void sp_error_prefix(struct shapeproof_error *error, const char *prefix)
{
    char message[sizeof error->message];
    struct sp_text text = {0};
    memcpy(message, error->message, sizeof message);
    sp_text_visible(&text, prefix, strlen(prefix));
    sp_text_puts(&text, ": ");
    sp_text_puts(&text, message);
    copy_cut(error->message, sizeof error->message, text.data, text.length);
    sp_text_free(&text);
}

bool sp_words_are_zero(const uint64_t *words, size_t size, struct shapeproof_error *error)
{
    uint64_t any = 0;
    for (size_t i = 0; i < size / sizeof *words; i++) any |= words[i];
    if (!any) return true;
    return sp_fail(error, SHAPEPROOF_ERR_USAGE, SHAPEPROOF_KIND_NONE,
                   "the options are those of a later version of this library");
}
