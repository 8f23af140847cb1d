/* SPDX-License-Identifier: MIT */
#include "lang/source.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static size_t line_start(struct sp_span span)
{
    size_t start = span.offset;
    while (start && span.source->text[start - 1] != '\n') start--;
    return start;
}

static size_t columns(const char *text, size_t length)
{
    size_t count = 0;
    for (size_t i = 0; i < length; i++) count += ((unsigned char)text[i] & 0xc0) != 0x80;
    return count;
}

struct sp_position sp_span_position(struct sp_span span)
{
    struct sp_position position = {1, 1};
    const size_t start = line_start(span);
    for (size_t i = 0; i < start; i++) position.line += span.source->text[i] == '\n';
    position.column = 1 + columns(span.source->text + start, span.offset - start);
    return position;
}

/* A tab in the source becomes a tab before the caret, so that both stand in the same column on any terminal. */
static void caret_line(struct sp_text *out, struct sp_span span)
{
    const char *text = span.source->text;
    const size_t start = line_start(span), end = start + strcspn(text + start, "\r\n");
    size_t length = span.length;
    for (size_t i = start; i < span.offset; i++)
        if (text[i] == '\t') sp_text_puts(out, "\t");
        else if (((unsigned char)text[i] & 0xc0) != 0x80) sp_text_puts(out, " ");
    if (span.offset + length > end) length = end > span.offset ? end - span.offset : 0;
    const size_t wide = columns(text + span.offset, length);
    sp_text_puts(out, "^");
    for (size_t i = 1; i < wide; i++) sp_text_puts(out, "~");
}

void sp_diagnose(struct sp_text *out, struct sp_span span, const char *format, ...)
{
    char message[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    const struct sp_position at = sp_span_position(span);
    const char *line = span.source->text + line_start(span);
    if (out->length) sp_text_puts(out, "\n");
    sp_text_printf(out, "%s:%zu:%zu: %s\n", span.source->name, at.line, at.column, message);
    sp_text_printf(out, "%5zu | %.*s\n", at.line, (int)strcspn(line, "\r\n"), line);
    sp_text_puts(out, "      | ");
    caret_line(out, span);
}
