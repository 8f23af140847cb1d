/* SPDX-License-Identifier: MIT
 * Text on a terminal: lines that are wider than it break at blanks, so that the terminal breaks no word. Characters
 * that it does not show are escaped. */
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "cli/cli.h"

enum { NARROWEST = 20, HANGING = 2, LONGEST_GROUP = 30, BELOW_ROWS = 4 /* rows of tables begin at 0 or 2 */ };

/* The columns of a character on a terminal: none of a mark that goes onto the one before, two of an ideogram, a
 * syllable of Hangul, a wide form or an emoji, by the blocks of Unicode. */
static size_t columns_of_code(uint32_t code)
{
    static const struct {
        uint32_t first, last;
        size_t columns;
    } blocks[] = {
        {0x0300, 0x036f, 0},   {0x1100, 0x115f, 2},   {0x1ab0, 0x1aff, 0},   {0x1dc0, 0x1dff, 0},
        {0x200b, 0x200d, 0},   {0x20d0, 0x20ff, 0},   {0x2e80, 0x303e, 2},   {0x3041, 0x4dbf, 2},
        {0x4e00, 0xa4cf, 2},   {0xa960, 0xa97c, 2},   {0xac00, 0xd7a3, 2},   {0xf900, 0xfaff, 2},
        {0xfe00, 0xfe0f, 0},   {0xfe20, 0xfe2f, 0},   {0xfe30, 0xfe6f, 2},   {0xff01, 0xff60, 2},
        {0xffe0, 0xffe6, 2},   {0x1f300, 0x1f64f, 2}, {0x1f680, 0x1f6ff, 2}, {0x1f900, 0x1f9ff, 2},
        {0x20000, 0x3fffd, 2}, {0xe0100, 0xe01ef, 0},
    };
    for (size_t i = 0; code >= blocks[0].first && i < sizeof blocks / sizeof *blocks; i++)
        if (code >= blocks[i].first && code <= blocks[i].last) return blocks[i].columns;
    return 1;
}

/* A piece of a line that stays together: a word, or what is in brackets, such as a shape. */
struct piece {
    size_t blanks;  /* in front of it */
    size_t begin;   /* of the piece, behind the blanks */
    size_t end;     /* in bytes; the end of the line if nothing follows */
    size_t columns; /* of the piece; sequences that set a colour have none */
};

/* Behind the sequence that sets a colour there, "\033[1m"; `at` itself if there is none. */
static size_t behind_color(const char *line, size_t at, size_t length)
{
    size_t end = at;
    if (line[at] != '\033') return at;
    while (end < length && line[end] != 'm') end++;
    return end < length ? end + 1 : at;
}

/* Behind the bracket that closes the one there; 0 if it is not near. */
static size_t behind_bracket(const char *line, size_t at, size_t length)
{
    static const char open[] = "([{", close[] = ")]}";
    const char *kind = line[at] ? strchr(open, line[at]) : NULL;
    const size_t most = length - at < LONGEST_GROUP ? length : at + LONGEST_GROUP;
    for (size_t i = at + 1; kind && i < most; i++)
        if (line[i] == close[kind - open]) return i + 1;
    return 0;
}

/* The piece from `at` on. */
static struct piece piece_at(const char *line, size_t at, size_t length)
{
    struct piece piece = {0};
    while (at + piece.blanks < length && line[at + piece.blanks] == ' ') piece.blanks++;
    piece.begin = piece.end = at + piece.blanks;
    for (size_t bracket = 0; piece.end < length;) {
        const size_t color = behind_color(line, piece.end, length);
        if (color > piece.end) {
            piece.end = color;
            continue;
        }
        if (line[piece.end] == ' ' && piece.end >= bracket) break;
        if (piece.end >= bracket) bracket = behind_bracket(line, piece.end, length);
        uint32_t code = 0;
        const size_t bytes = sp_utf8_decode(line + piece.end, length - piece.end, &code);
        piece.columns += bytes ? columns_of_code(code) : 1;
        piece.end += bytes ? bytes : 1;
    }
    return piece;
}

static size_t columns_of(const char *line, size_t length)
{
    size_t columns = 0;
    for (size_t at = 0; at < length;) {
        const struct piece piece = piece_at(line, at, length);
        columns += piece.blanks + piece.columns;
        at = piece.end;
    }
    return columns;
}

/* Where further lines of a line begin: under the text behind a label, which two blanks part from it, if that is in the
 * left half; otherwise a little to the right of where the line begins. A line that begins in the right half is the rest
 * of a row whose first cell is wide: what follows is no row either. */
static size_t hanging_column(const char *line, size_t length, size_t width)
{
    const struct piece first = piece_at(line, 0, length);
    size_t column = first.blanks + first.columns;
    for (size_t at = first.end; at < length && column < width / 2;) {
        const struct piece piece = piece_at(line, at, length);
        if (piece.blanks > 1 && column + piece.blanks <= width / 2) return column + piece.blanks;
        column += piece.blanks + piece.columns;
        at = piece.end;
    }
    return first.blanks + HANGING < width / 2 ? first.blanks + HANGING : BELOW_ROWS;
}

static void put_wide_line(FILE *stream, const char *line, size_t length, size_t width)
{
    const size_t hanging = hanging_column(line, length, width);
    size_t column = 0;
    bool is_empty = true; /* nothing but indentation is in the line by now */
    for (size_t at = 0; at < length;) {
        const struct piece piece = piece_at(line, at, length);
        if (!is_empty && column + piece.blanks + piece.columns > width) {
            fprintf(stream, "\n%*s", (int)hanging, "");
            column = hanging;
        } else column += (size_t)fprintf(stream, "%*s", (int)piece.blanks, "");
        fwrite(line + piece.begin, 1, piece.end - piece.begin, stream);
        column += piece.columns;
        is_empty = is_empty && !piece.columns;
        at = piece.end;
    }
}

/* ---- characters ---- */

bool cli_is_utf8(void)
{
    static const char *const variables[] = {"LC_ALL", "LC_CTYPE", "LANG"};
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
        const char *locale = getenv(variables[i]);
        if (locale && *locale)
            return strstr(locale, "UTF-8") || strstr(locale, "utf-8") || strstr(locale, "UTF8") ||
                   strstr(locale, "utf8");
    }
    return false;
}

/* A copy of the text in which all but ASCII is escaped, "\\u{e9}"; free() it. */
static char *copy_escaped(const char *text, size_t length)
{
    enum { LONGEST = sizeof "\\u{10ffff}" }; /* of a character; each has a byte at least */
    char *copy = malloc(length * LONGEST + 1), *end = copy;
    if (!copy) cli_out_of_memory();
    for (size_t at = 0; at < length;) {
        uint32_t code = 0;
        const size_t bytes = (unsigned char)text[at] < 0x80 ? 0 : sp_utf8_decode(text + at, length - at, &code);
        if (bytes) end += snprintf(end, LONGEST, "\\u{%" PRIx32 "}", code);
        else *end++ = text[at];
        at += bytes ? bytes : 1;
    }
    *end = '\0';
    return copy;
}

static void put_lines(FILE *stream, const char *text, size_t length, size_t width)
{
    while (length) {
        const char *newline = memchr(text, '\n', length);
        const size_t line = newline ? (size_t)(newline - text) : length;
        if (width >= NARROWEST && line > width && columns_of(text, line) > width)
            put_wide_line(stream, text, line, width);
        else fwrite(text, 1, line, stream);
        if (newline) putc('\n', stream);
        text += line + (newline != NULL);
        length -= line + (newline != NULL);
    }
}

void cli_put_lines(FILE *stream, const char *text, size_t length, size_t width)
{
    char *escaped = width && !cli_is_utf8() ? copy_escaped(text, length) : NULL;
    put_lines(stream, escaped ? escaped : text, escaped ? strlen(escaped) : length, width);
    free(escaped);
}
