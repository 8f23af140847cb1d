/* SPDX-License-Identifier: MIT */
#include "report/wrap.h"

#include <stdlib.h>
#include <string.h>

#include "report/common.h"

enum { LONGEST_JSON = 2000, LONGEST_PARENTHESES = 30 };

/* Behind the bracket that closes the one there; 0 when there is none near. In parentheses a shape or a count is kept
 * together, a sentence is not. */
static size_t behind_bracket(const char *text, size_t at, size_t end)
{
    const char open = text[at], close = open == '{' ? '}' : open == '[' ? ']' : ')';
    const size_t most = at + (open == '(' ? LONGEST_PARENTHESES : LONGEST_JSON);
    size_t depth = 0;
    for (size_t i = at; i < end && i < most; i++) {
        if (text[i] == open) depth++;
        else if (text[i] == close && !--depth) return i + 1;
    }
    return 0;
}

/* The end of what must stay in one line: the next blank outside of brackets. */
static size_t end_of_piece(const char *text, size_t at, size_t end)
{
    while (at < end && text[at] != ' ') {
        const size_t behind = strchr("{[(", text[at]) ? behind_bracket(text, at, end) : 0;
        at = behind ? behind : at + 1;
    }
    return at;
}

/* The columns before `begin` in its line; escape sequences of colours have none. */
static size_t column_of(const struct sp_text *text, size_t begin)
{
    size_t at = begin, column = 0;
    while (at && text->data[at - 1] != '\n') at--;
    while (at < begin) {
        size_t plain = at;
        while (plain < begin && text->data[plain] != '\033') plain++;
        column += sp_text_columns(text->data + at, plain - at);
        at = plain;
        while (at < begin && text->data[at++] != 'm') continue;
    }
    return column;
}

size_t sp_count_lines(const struct sp_text *text)
{
    size_t lines = 0;
    for (size_t i = 0; i < text->length; i++) lines += text->data[i] == '\n';
    return lines;
}

void sp_cut_back(struct sp_text *text, size_t length)
{
    text->length = length;
    text->data[length] = '\0';
}

void sp_wrap(struct sp_text *text, size_t begin, size_t indent) { sp_wrap_to(text, begin, indent, SP_LINE_COLUMNS); }

void sp_wrap_to(struct sp_text *text, size_t begin, size_t indent, size_t columns)
{
    size_t column = column_of(text, begin);
    struct sp_text whole = {0};
    sp_text_append(&whole, text->data + begin, text->length - begin);
    text->length = begin;
    for (size_t at = 0; at < whole.length;) {
        const size_t end = end_of_piece(whole.data, at, whole.length);
        const size_t width = sp_text_columns(whole.data + at, end - at);
        if (at && column + 1 + width > columns) {
            sp_text_puts(text, "\n");
            sp_text_pad(text, column = indent);
        } else if (at) {
            sp_text_puts(text, " ");
            column++;
        }
        sp_text_append(text, whole.data + at, end - at);
        column += width;
        at = end + 1;
    }
    sp_text_free(&whole);
}
