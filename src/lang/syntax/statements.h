/* SPDX-License-Identifier: MIT
 * The text of a table file, which was parsed without a mistake, as statements cut into cells: what a layout aligns.
 * The blanks within a cell are as the house writes them: one where there are any, none inside of brackets at their
 * ends, one behind a comma and on each side of '='. */
#ifndef SP_LANG_SYNTAX_STATEMENTS_H
#define SP_LANG_SYNTAX_STATEMENTS_H

#include "lang/syntax/lexer.h"
#include "lang/syntax/line_kind.h"

/* In a cell, beside the characters of the text, none of which is below a blank: */
#define SP_CELL_BREAK '\n'   /* the line goes on in the next one, inside brackets */
#define SP_CELL_COMMA '\2'   /* the blank behind a comma inside brackets, where a line may be broken */
#define SP_CELL_COMMENT '\1' /* a comment begins, which ends with a break */

enum sp_statement_kind { SP_STATEMENT_LINE, SP_STATEMENT_BLANK, SP_STATEMENT_COMMENT };

/*   cells[0]           cells[1]               cells[2]
 *   NAME               = expression                                  of a definition
 *   name               (shape)                if ... same as ...     of a row
 *   prefix.*           part(...) from ...     if ...
 *   all of it                                                        of any other line, and of a comment */
struct sp_statement {
    enum sp_statement_kind kind;
    enum sp_line_kind line; /* of SP_STATEMENT_LINE */
    const char *cells[3];   /* "": there is none */
    const char *comment;    /* behind it, with its '#', or "" */
};

struct sp_statements {
    struct sp_statement *items;
    size_t count, capacity;
};

/* Appends the statements of the source in order, with a SP_STATEMENT_BLANK for each empty line. Their texts live in the
 * arena; sp_free the items. */
void sp_statements_cut(struct sp_statements *statements, const struct sp_source_text *source, struct sp_arena *arena);

#endif
