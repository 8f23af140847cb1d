/* SPDX-License-Identifier: MIT
 * Tokens of a table file, read on demand: the parser decides at the start of a line whether a tensor name or an
 * expression follows, and only the latter is made of tokens. */
#ifndef SP_LANG_SYNTAX_LEXER_H
#define SP_LANG_SYNTAX_LEXER_H

#include <string.h>

#include "lang/syntax/ast.h"

enum sp_token_kind {
    SP_TOKEN_END,     /* of the file */
    SP_TOKEN_NEWLINE, /* never inside brackets */
    SP_TOKEN_NAME,
    SP_TOKEN_INT,
    SP_TOKEN_REAL,
    SP_TOKEN_STRING,
    SP_TOKEN_PUNCTUATION,
    SP_TOKEN_BAD
};

struct sp_token {
    enum sp_token_kind kind;
    struct sp_span span;
    struct shapeproof_value value; /* of numbers and strings */
    const char *problem;           /* of SP_TOKEN_BAD */
};

struct sp_lexer {
    const struct sp_source_text *source;
    struct sp_arena *arena;
    size_t offset;    /* where the next token begins */
    unsigned nesting; /* open brackets */
    struct sp_token token;
};

/* Moves to the next token. */
void sp_lexer_next(struct sp_lexer *lexer);
/* True when the current token is that punctuation or keyword. Inline, since it is asked some ten times for each. */
static inline bool sp_token_is(const struct sp_lexer *lexer, const char *text)
{
    const struct sp_token *token = &lexer->token;
    if (lexer->source->text[token->span.offset] != *text || token->span.length != strlen(text)) return false;
    if (token->kind != SP_TOKEN_NAME && token->kind != SP_TOKEN_PUNCTUATION) return false;
    return memcmp(lexer->source->text + token->span.offset, text, token->span.length) == 0;
}
/* Offset of the end of the line that `offset` is on. */
size_t sp_lexer_line_end(const struct sp_lexer *lexer, size_t offset);
/* Whether it is a word that would make a line ambiguous if it were a name, such as "if". */
bool sp_is_reserved(const char *word, size_t length);
bool sp_is_name_start(char c);
bool sp_is_name_char(char c);

#endif
