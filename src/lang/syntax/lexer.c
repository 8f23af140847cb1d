/* SPDX-License-Identifier: MIT */
#include "lang/syntax/lexer.h"

#include <string.h>

#include "base/chars.h"

/* NAME = ( letter | "_" ) { letter | digit | "_" } ; */
bool sp_is_name_start(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

bool sp_is_name_char(char c) { return sp_is_name_start(c) || sp_is_digit(c); }

bool sp_is_reserved(const char *word, size_t length)
{
    static const char *const words[] = {"if", "for", "in",  "from", "with",  "same",    "as",       "was",
                                        "or", "and", "not", "true", "false", "default", "optional", "buffer"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strlen(words[i]) == length && memcmp(words[i], word, length) == 0) return true;
    return false;
}

size_t sp_lexer_line_end(const struct sp_lexer *lexer, size_t offset)
{
    return offset + strcspn(lexer->source->text + offset, "\n");
}

static void skip_blanks(struct sp_lexer *lexer)
{
    const char *text = lexer->source->text;
    for (;;) {
        const char c = text[lexer->offset];
        if (c == ' ' || c == '\t' || c == '\r' || (c == '\n' && lexer->nesting)) lexer->offset++;
        else if (c == '#') lexer->offset = sp_lexer_line_end(lexer, lexer->offset);
        else return;
    }
}

static void finish_token(struct sp_lexer *lexer, enum sp_token_kind kind, size_t length)
{
    lexer->token.kind = kind;
    lexer->token.span = (struct sp_span){lexer->source, (uint32_t)lexer->offset, (uint32_t)length};
    lexer->offset += length;
}

/* Makes what is there the token SP_TOKEN_BAD; the parser reports `problem` if it comes to it. */
static void bad(struct sp_lexer *lexer, size_t length, const char *problem)
{
    lexer->token.problem = problem;
    finish_token(lexer, SP_TOKEN_BAD, length);
}

/* A number with a point behind its first `whole` digits. It is read by hand, because strtod depends on the locale. With
 * up to 15 digits both the digits and the power of ten are exact doubles, so their quotient is the nearest one. */
static void real_number(struct sp_lexer *lexer, const char *p, size_t whole)
{
    double value = 0, scale = 1;
    size_t i = 0, digits = 0;
    for (; i < whole; i++, digits++) value = value * 10 + (p[i] - '0');
    for (i = whole + 1; sp_is_digit(p[i]); i++, digits++) {
        value = value * 10 + (p[i] - '0');
        scale *= 10;
    }
    lexer->token.value = sp_value_real(value / scale);
    if (digits > 15) bad(lexer, i, "a real number may have 15 digits");
    else finish_token(lexer, SP_TOKEN_REAL, i);
}

/* A number at the current offset; SP_TOKEN_BAD when it is too large or a letter follows it, as in 12b.
 *
 *     INTEGER = digit { digit } ;
 *     REAL = digit { digit } "." digit { digit } ; */
static void lex_number(struct sp_lexer *lexer)
{
    const char *p = lexer->source->text + lexer->offset;
    size_t length = 0;
    int64_t value = 0;
    bool fits = true;
    while (sp_is_digit(p[length])) {
        if (__builtin_mul_overflow(value, 10, &value) || __builtin_add_overflow(value, p[length] - '0', &value))
            fits = false;
        length++;
    }
    if (p[length] == '.' && sp_is_digit(p[length + 1])) {
        real_number(lexer, p, length);
        return;
    }
    lexer->token.value = sp_value_int(value);
    if (!fits) bad(lexer, length, "the number does not fit in 64 bits");
    else if (sp_is_name_start(p[length])) bad(lexer, length + 1, "a number cannot be followed by a letter");
    else finish_token(lexer, SP_TOKEN_INT, length);
}

/* TEXT = '"' { any character but '"' and the line break } '"' ; */
static void string(struct sp_lexer *lexer)
{
    const char *p = lexer->source->text + lexer->offset + 1;
    const size_t length = strcspn(p, "\"\n");
    if (p[length] != '"') {
        bad(lexer, length + 1, "the string has no closing '\"' on its line");
        return;
    }
    lexer->token.value = sp_value_string(sp_arena_copy(lexer->arena, p, length));
    finish_token(lexer, SP_TOKEN_STRING, length + 2);
}

/* A character that the language does not have: the token is all of its bytes. */
static void meaningless(struct sp_lexer *lexer, const char *p)
{
    size_t length = 1;
    while (((unsigned char)p[length] & 0xc0) == 0x80) length++; /* the whole character */
    bad(lexer, length, "this character has no meaning here");
}

/* One or two characters, "(" or "==". Counts the brackets that are open. */
static void punctuation(struct sp_lexer *lexer)
{
    const char *p = lexer->source->text + lexer->offset;
    const bool twice = (*p == '.' || *p == '/' || *p == '=') && p[1] == *p;
    const bool compares = (*p == '!' || *p == '<' || *p == '>') && p[1] == '=';
    if (!twice && !compares && !strchr("()[]{}=<>+-*/%^?:,.", *p)) {
        meaningless(lexer, p);
        return;
    }
    if (*p == '(' || *p == '[' || *p == '{') lexer->nesting++;
    if ((*p == ')' || *p == ']' || *p == '}') && lexer->nesting) lexer->nesting--;
    finish_token(lexer, SP_TOKEN_PUNCTUATION, twice || compares ? 2 : 1);
}

void sp_lexer_next(struct sp_lexer *lexer)
{
    skip_blanks(lexer);
    const char *p = lexer->source->text + lexer->offset;
    lexer->token = (struct sp_token){0};
    if (*p == '\0') finish_token(lexer, SP_TOKEN_END, 0);
    else if (*p == '\n') finish_token(lexer, SP_TOKEN_NEWLINE, 1);
    else if (sp_is_digit(*p)) lex_number(lexer);
    else if (*p == '"') string(lexer);
    else if (sp_is_name_start(*p)) {
        size_t length = 1;
        while (sp_is_name_char(p[length])) length++;
        finish_token(lexer, SP_TOKEN_NAME, length);
    } else punctuation(lexer);
}
