/* SPDX-License-Identifier: MIT */
#include "lang/syntax/source.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"

static size_t line_start(struct sp_span span)
{
    size_t start = span.offset;
    while (start && span.source->text[start - 1] != '\n') start--;
    return start;
}

static size_t columns(const char *text, size_t length)
{
    size_t count = 0;
    for (size_t i = 0; i < length; i++) count += ((unsigned char)text[i] & 0xc0) != 0x80 && text[i] != '\r';
    return count;
}

size_t sp_source_begin(const char *text)
{
    static const char mark[] = "\xef\xbb\xbf";
    return strncmp(text, mark, sizeof mark - 1) == 0 ? sizeof mark - 1 : 0;
}

static size_t count_lines(const char *text, size_t from, size_t to)
{
    size_t count = 0;
    const char *const end = text + to;
    for (const char *p = text + from; (p = memchr(p, '\n', (size_t)(end - p))) != NULL; p++) count++;
    return count;
}

void sp_source_count_lines(struct sp_source_text *source, struct sp_arena *arena)
{
    const size_t blocks = source->length / SP_LINE_BLOCK + 1;
    size_t *before = sp_arena_array(arena, blocks, sizeof *before);
    for (size_t i = 1; i < blocks; i++)
        before[i] = before[i - 1] + count_lines(source->text, (i - 1) * SP_LINE_BLOCK, i * SP_LINE_BLOCK);
    source->lines_before = before;
}

/* The number of the line in the source, from 1. */
static size_t line_number(struct sp_span span)
{
    const size_t *before = span.source->lines_before;
    const size_t block = before ? span.offset / SP_LINE_BLOCK : 0;
    return 1 + (before ? before[block] : 0) + count_lines(span.source->text, block * SP_LINE_BLOCK, span.offset);
}

static struct sp_line_origin origin_of(struct sp_span span)
{
    const size_t line = line_number(span), count = span.source->origin_count;
    if (!count) return (struct sp_line_origin){.line = line};
    return span.source->origins[line <= count ? line - 1 : count - 1];
}

/* What was added in front of the user's text, up to the end of the line. */
static size_t added_to(size_t start, const char *text, struct sp_line_origin origin)
{
    const size_t length = strcspn(text + start, "\r\n");
    return origin.added < length ? origin.added : length;
}

struct sp_position sp_span_position(struct sp_span span)
{
    const char *text = span.source->text;
    const size_t start = line_start(span);
    const struct sp_line_origin origin = origin_of(span);
    const size_t begin = start + added_to(start, text, origin);
    const size_t before = span.offset > begin ? columns(text + begin, span.offset - begin) : 0;
    return (struct sp_position){.line = origin.line, .column = 1 + origin.cut + before};
}

size_t sp_span_line(struct sp_span span) { return origin_of(span).line; }

/* ---- what a message shows of a line ---- */

enum { MAX_SHOWN = 160, SHOWN_BEFORE = 60 }; /* bytes of a long line, and those of them in front of the mistake */

struct extract {
    size_t from, to; /* offsets in the text of the source */
};

static bool inside_character(char c) { return ((unsigned char)c & 0xc0) == 0x80; }

/* The part of the line of a span that is shown: all that the user has of it, or MAX_SHOWN bytes around the beginning of
 * the span, cut between characters. Only what is in front of a carriage return is shown, also if the span is behind it.
 */
static struct extract extract_of(struct sp_span span)
{
    const char *text = span.source->text;
    const size_t start = line_start(span);
    struct extract shown = {start + added_to(start, text, origin_of(span)), start + strcspn(text + start, "\r\n")};
    if (shown.to - shown.from <= MAX_SHOWN) return shown;
    const size_t place = span.offset < shown.to ? span.offset : shown.to;
    if (place > shown.from + SHOWN_BEFORE) shown.from = place - SHOWN_BEFORE;
    if (shown.to > shown.from + MAX_SHOWN) shown.to = shown.from + MAX_SHOWN;
    while (shown.from < place && inside_character(text[shown.from])) shown.from++;
    while (shown.to > place && inside_character(text[shown.to])) shown.to--;
    return shown;
}

/* A tab becomes one space and a control character an escape, so that what is printed is as wide as it seems.
 * Returns the number of columns. */
static size_t show(struct sp_text *out, const char *text, size_t length)
{
    const size_t before = out->length;
    sp_text_puts(out, "");
    while (length) {
        const char *tab = memchr(text, '\t', length);
        const size_t plain = tab ? (size_t)(tab - text) : length;
        sp_text_visible(out, text, plain);
        if (tab) sp_text_puts(out, " ");
        text += plain + (tab != NULL);
        length -= plain + (tab != NULL);
    }
    return columns(out->data + before, out->length - before);
}

void sp_diagnose(struct sp_text *out, struct sp_span span, const char *format, ...)
{
    char message[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    const struct sp_position at = sp_span_position(span);
    const struct extract line = extract_of(span);
    const char *text = span.source->text;
    /* the span may be behind the end of its line, or end in a later one, or begin with what was added to the line: what
     * is marked stays within what is shown */
    const size_t end = span.offset + span.length, first = span.offset > line.from ? span.offset : line.from;
    const size_t place = first < line.to ? first : line.to, rest = line.to - place;
    const size_t marked = end <= place ? 0 : end - place < rest ? end - place : rest;
    if (out->length) sp_text_puts(out, "\n");
    sp_text_visible(out, span.source->name, strlen(span.source->name));
    sp_text_printf(out, ":%zu:%zu: ", at.line, at.column);
    sp_text_visible(out, message, strlen(message));
    sp_text_printf(out, "\n%5zu | ", at.line);
    const size_t indent = show(out, text + line.from, place - line.from);
    const size_t width = show(out, text + place, marked);
    show(out, text + place + marked, rest - marked);
    sp_text_puts(out, "\n      | ");
    sp_text_pad(out, indent);
    sp_text_puts(out, "^");
    for (size_t i = 1; i < width; i++) sp_text_puts(out, "~");
}

/* ---- several messages in the room of one ---- */

enum { LINES = 3 }; /* of a message */

/* The text behind its first `lines` lines. */
static const char *after_lines(const char *text, unsigned lines)
{
    while (lines-- && *text) {
        text += strcspn(text, "\n");
        text += *text == '\n';
    }
    return text;
}

size_t sp_diagnoses_count(const char *messages)
{
    size_t count = 0;
    for (; *messages; messages = after_lines(messages, LINES)) count++;
    return count;
}

bool sp_diagnoses_fail(struct shapeproof_error *error, enum shapeproof_status status, enum shapeproof_kind kind,
                       const char *messages)
{
    const size_t room = sizeof error->message - 32; /* for the last line */
    size_t kept = 0, left_out = 0;
    for (const char *one = messages, *next; *one; one = next) {
        next = after_lines(one, LINES);
        const size_t end = (size_t)(next - messages) - (next[-1] == '\n');
        if (!left_out && (end <= room || one == messages)) kept = end;
        else left_out++;
    }
    struct sp_text lines = {0};
    sp_text_append(&lines, messages, kept);
    const char *least = sp_diagnoses_count(messages) < SP_MAX_MESSAGES ? "" : "at least ";
    if (left_out) sp_text_printf(&lines, "\nand %s%zu more", least, left_out);
    sp_fail_lines(error, status, kind, lines.data);
    sp_text_free(&lines);
    return false;
}
