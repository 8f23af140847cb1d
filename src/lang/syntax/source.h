/* SPDX-License-Identifier: MIT
 * The text of a table file, and messages that point into it. */
#ifndef SP_LANG_SYNTAX_SOURCE_H
#define SP_LANG_SYNTAX_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/text.h"
#include "shapeproof/error.h"

/* What a line of a source was made of, where a program put the source together (prove/claim_lines.c): the user gave
 * "  total = V*E" as the third text, and the source has "claim total = V*E". */
struct sp_line_origin {
    size_t line;       /* of the user's text: 3 */
    size_t added, cut; /* bytes in front: that the user's text does not have, 6; that the source does not have, 2 */
};

struct sp_source_text {
    const char *name; /* "gpt2.shapes", or the path of a user's file */
    const char *text; /* NUL-terminated */
    size_t length;
    bool own;             /* a user's file, not one that is built in */
    bool has_expressions; /* below `claims for` stand expressions, not claims (shapeproof_expressions_new) */
    bool has_mistakes;    /* lines of it could not be read, and are left out */
    const struct sp_line_origin *origins; /* of each line; NULL: the source is as the user has it */
    size_t origin_count;
    const size_t *lines_before; /* of each SP_LINE_BLOCK bytes: the line breaks before them; NULL: not counted */
};

enum { SP_LINE_BLOCK = 4096 }; /* bytes: as many are looked at to tell the line of a span */

/* The offset behind the byte order mark of UTF-8, which some editors write; 0 without one. */
size_t sp_source_begin(const char *text);

/* A place in a source: `length` bytes at `offset`. */
struct sp_span {
    const struct sp_source_text *source;
    uint32_t offset, length;
};

/* Counts the line breaks of a source of which many spans may be asked for their lines. */
void sp_source_count_lines(struct sp_source_text *source, struct sp_arena *arena);

struct sp_position {
    size_t line, column; /* both from 1; the column counts code points */
};

/* In the user's text. */
struct sp_position sp_span_position(struct sp_span span);
/* Its line alone, which takes no longer in a long line. */
size_t sp_span_line(struct sp_span span);

/* Appends, with a line break before it when `out` is not empty:
 *   FILE:LINE:COLUMN: message
 *      12 | the source line
 *         |     ^~~~
 * Of a long line the part around the mistake is shown. */
void sp_diagnose(struct sp_text *out, struct sp_span span, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Messages about one text. More are not made, because each takes the time to count the lines before the mistake. */
enum { SP_MAX_MESSAGES = 100 };

/* Fills the error with such messages: whole ones, as many as it has room for, and the number of the others. Always
 * false. */
bool sp_diagnoses_fail(struct shapeproof_error *error, enum shapeproof_status status, enum shapeproof_kind kind,
                       const char *messages);
/* The number of such messages. If it is SP_MAX_MESSAGES or more, there may be more mistakes. */
size_t sp_diagnoses_count(const char *messages);

#endif
