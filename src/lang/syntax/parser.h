/* SPDX-License-Identifier: MIT
 * Table text to tree. A line with a mistake is reported and left out, and the next line is read: several mistakes
 * are found in one run. */
#ifndef SP_LANG_SYNTAX_PARSER_H
#define SP_LANG_SYNTAX_PARSER_H

#include "lang/syntax/lexer.h"
#include "lang/syntax/symbols.h"

/* So that no table can exhaust the stack. */
enum { SP_MAX_EXPR_DEPTH = 200, SP_MAX_OPERATORS = 500, SP_MAX_CLAUSES = 16 };
/* So that what looks through all of them stays fast. */
enum { SP_MAX_DEFINITIONS = 1000, SP_MAX_UNITS = 10000 };

struct sp_parser {
    struct sp_lexer lexer;
    struct sp_arena *arena;
    struct sp_symbols *symbols;
    struct sp_text *messages;
    bool failed;              /* in the current line */
    size_t failed_at;         /* offset of that mistake */
    unsigned depth;           /* of the expression being read */
    unsigned operators;       /* in the current line */
    bool in_claim;            /* [name] is a group, not a list */
    bool in_dimension;        /* what is read, and what is in parentheses in it, may be divided among ranks */
    bool is_about_checkpoint; /* the unit has claims about a checkpoint alone: dim(NAME, i) takes a name of a tensor */
    bool in_states; /* the section that is being read has states or work: it is the last of those of the unit */
    size_t mistakes;
};

/* Appends the units of `source` to *units (heap array; the units live in the arena). False when there were mistakes,
 * which are appended to `messages`. */
bool sp_parse(const struct sp_source_text *source, struct sp_arena *arena, struct sp_symbols *symbols,
              struct sp_unit ***units, size_t *count, size_t *capacity, struct sp_text *messages);

/* The one unit of a text that is known to be UTF-8, in [begin, end); NULL when there were mistakes. */
struct sp_unit *sp_parse_unit(const struct sp_source_text *source, size_t begin, size_t end, struct sp_arena *arena,
                              struct sp_symbols *symbols, struct sp_text *messages);

/* ---- shared by the parser's files ---- */

/* Growing arrays of the tree are rebuilt in the arena as they grow: they are short. */
void *sp_parse_grow(struct sp_arena *arena, void *items, size_t count, size_t size);
#define SP_PARSE_APPEND(parser, items, count)                                                                          \
    ((items) = sp_parse_grow((parser)->arena, (items), (count), sizeof *(items)), &(items)[(count)++])

/* The source from an offset on. */
static inline const char *sp_parse_text(const struct sp_parser *parser, size_t offset)
{
    return parser->lexer.source->text + offset;
}
/* Goes on reading tokens at the offset. */
static inline void sp_parse_restart(struct sp_parser *parser, size_t offset)
{
    parser->lexer.offset = offset;
    parser->lexer.nesting = 0;
}
static inline bool sp_parse_is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }
/* Whether the line ends at the current token. */
static inline bool sp_parse_at_end(const struct sp_parser *parser)
{
    return parser->lexer.token.kind == SP_TOKEN_NEWLINE || parser->lexer.token.kind == SP_TOKEN_END;
}

/* parse_row.c: the row that begins at the offset. False after a mistake. */
bool sp_parse_row(struct sp_parser *parser, struct sp_row *row, size_t offset);

/* parse_row.c: share PART of WHOLE, of which the word is the current token. False after a mistake. */
bool sp_parse_share(struct sp_parser *parser, struct sp_row_share *share);
/* times EXPR, likewise. */
bool sp_parse_times(struct sp_parser *parser, struct sp_expr **times);

/* parse_claims.c: "claims for TABLE", and the lines claim, erratum, approx, example. The word is the current token. */
void sp_parse_claims_header(struct sp_parser *parser, struct sp_unit *unit);
void sp_parse_claim(struct sp_parser *parser, struct sp_unit *unit);
void sp_parse_asked_expression(struct sp_parser *parser, struct sp_unit *unit, size_t offset);

/* parse_sizing.c: the brackets of a question about a size, of which the name is in expr->name. False after a mistake.
 */
bool sp_parse_sizing(struct sp_parser *parser, struct sp_expr *expr);
/* The number of ranks of an axis. More than any cluster has is refused, so that products of a few do not overflow. */
bool sp_parse_ranks(struct sp_parser *parser, unsigned *ranks);

/* An expression; NULL after a mistake (which was reported). */
struct sp_expr *sp_parse_expression(struct sp_parser *parser);
/* A dimension, or an argument of a part that becomes one: an expression, with how it is divided among ranks. */
struct sp_expr *sp_parse_dimension(struct sp_parser *parser);
/* Reports a mistake at the span, once a line; always false. */
bool sp_parse_fail(struct sp_parser *parser, struct sp_span span, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Consumes the token when it is `text`. */
bool sp_parse_accept(struct sp_parser *parser, const char *text);
/* Takes "NAME =" of an argument, and returns which of the names, up to NULL, it is. SIZE_MAX, with a message, for
 * another name ("expected ..."), or for one that `seen`, a set of bits, has already. */
size_t sp_parse_argument_name(struct sp_parser *parser, const char *const *names, const char *expected, unsigned *seen);
/* Consumes it or reports "expected ... ". */
bool sp_parse_expect(struct sp_parser *parser, const char *text, const char *where);
/* Consumes the bracket that closes the one at `open`; `expected` is for the message: "',' or ')'". */
bool sp_parse_close(struct sp_parser *parser, const char *close, struct sp_span open, const char *expected);
/* The interned text of the current NAME token, which is consumed; NULL with a report when it is none. */
const char *sp_parse_name(struct sp_parser *parser, const char *what);
const char *sp_parse_intern(struct sp_parser *parser, const char *text, size_t length);

#endif
