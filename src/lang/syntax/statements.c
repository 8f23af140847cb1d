/* SPDX-License-Identifier: MIT */
#include "lang/syntax/statements.h"

#include <stdlib.h>
#include <string.h>

struct cutter {
    struct sp_lexer lexer;
    struct sp_text cell;    /* that is being written */
    struct sp_token before; /* the token in front of the current one; of no length at the beginning of a statement */
    size_t end;             /* offset where that token ends, or the name in its place */
    bool in_name;           /* between the braces of a name */
};

static const char *cutter_text(const struct cutter *cutter, size_t offset)
{
    return cutter->lexer.source->text + offset;
}

static void put_char(struct cutter *cutter, char c) { sp_text_append(&cutter->cell, &c, 1); }

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

/* The length of the line at `p` without the blanks at its end. */
static size_t trimmed_line(const char *p)
{
    size_t length = strcspn(p, "\n");
    while (length && is_blank(p[length - 1])) length--;
    return length;
}

/* Ends the cell that is being written: a copy of it, and a new one begins. */
static const char *take_cell(struct cutter *cutter)
{
    const char *cell = sp_arena_copy(cutter->lexer.arena, cutter->cell.data, cutter->cell.length);
    cutter->cell.length = 0;
    cutter->before.span.length = 0;
    return cell;
}

/* ---- blanks between tokens ---- */

/* Comments and ends of lines between the last token and the one at `to`; whether there were any. */
static bool put_breaks(struct cutter *cutter, size_t to)
{
    bool broken = false, commented = false;
    for (size_t at = cutter->end; at < to; at++) {
        const char *p = cutter_text(cutter, at);
        if (*p == '#') {
            if (broken) put_char(cutter, SP_CELL_BREAK);
            const size_t length = trimmed_line(p);
            put_char(cutter, SP_CELL_COMMENT);
            sp_text_append(&cutter->cell, p, length);
            at += length - 1;
            broken = false;
            commented = true;
        } else if (*p == '\n') broken = true;
    }
    if (cutter->in_name && !commented) return false;
    if (broken) put_char(cutter, SP_CELL_BREAK);
    return broken;
}

static bool token_is_one_of(const struct cutter *cutter, const struct sp_token *token, const char *characters)
{
    return token->kind == SP_TOKEN_PUNCTUATION && token->span.length == 1 &&
           strchr(characters, *cutter_text(cutter, token->span.offset));
}

/* Whether a word behind it is no part of it, though no blank need be there. */
static bool ends_value(const struct cutter *cutter, const struct sp_token *token)
{
    return token->kind == SP_TOKEN_STRING || token_is_one_of(cutter, token, ")]");
}

/* What stands between the last token and the current one. */
static void put_blank(struct cutter *cutter)
{
    const struct sp_token *token = &cutter->lexer.token, *before = &cutter->before;
    const bool apart = token->span.offset > cutter->end;
    if (!before->span.length || (apart && put_breaks(cutter, token->span.offset))) return;
    if (token_is_one_of(cutter, token, "=") || token_is_one_of(cutter, before, "=")) put_char(cutter, ' ');
    else if (token_is_one_of(cutter, token, ",)]}") || token_is_one_of(cutter, before, "([{")) return;
    else if (token_is_one_of(cutter, before, ","))
        put_char(cutter, cutter->lexer.nesting && !cutter->in_name ? SP_CELL_COMMA : ' ');
    else if (apart || (token->kind == SP_TOKEN_NAME && ends_value(cutter, before))) put_char(cutter, ' ');
}

/* Appends the current token and moves to the next one. */
static void put_token(struct cutter *cutter)
{
    const struct sp_token token = cutter->lexer.token;
    put_blank(cutter);
    sp_text_append(&cutter->cell, cutter_text(cutter, token.span.offset), token.span.length);
    cutter->before = token;
    cutter->end = token.span.offset + token.span.length;
    sp_lexer_next(&cutter->lexer);
}

static bool is_at_end(const struct cutter *cutter)
{
    const enum sp_token_kind kind = cutter->lexer.token.kind;
    return kind == SP_TOKEN_END || (kind == SP_TOKEN_NEWLINE && !cutter->lexer.nesting);
}

static void start_tokens(struct cutter *cutter, size_t offset)
{
    cutter->lexer.offset = cutter->end = offset;
    cutter->lexer.nesting = 0;
    sp_lexer_next(&cutter->lexer);
}

/* ---- names of tensors and groups ---- */

/* A hole of a name: afterwards `end` is behind its brace. */
static void put_hole(struct cutter *cutter, size_t offset)
{
    cutter->before.span.length = 0;
    cutter->in_name = true;
    start_tokens(cutter, offset);
    do put_token(cutter);
    while (!is_at_end(cutter) && (!token_is_one_of(cutter, &cutter->lexer.token, "}") || cutter->lexer.nesting));
    const size_t close = cutter->lexer.token.span.offset;
    put_blank(cutter);
    put_char(cutter, '}');
    cutter->end = close + 1;
    cutter->in_name = false;
}

/* The name of a tensor at `offset`; afterwards the token behind it is the current one. */
static void put_name(struct cutter *cutter, size_t offset)
{
    const bool quoted = *cutter_text(cutter, offset) == '"';
    size_t at = offset;
    for (char c; (c = *cutter_text(cutter, at)) != '\0' && c != '\n';) {
        if (quoted ? c == '"' && at > offset : is_blank(c)) break;
        if (c == '{') {
            put_hole(cutter, at);
            at = cutter->end;
        } else {
            put_char(cutter, c);
            at++;
        }
    }
    if (quoted) put_char(cutter, '"');
    cutter->before = (struct sp_token){.kind = SP_TOKEN_NAME, .span = {.length = 1}};
    start_tokens(cutter, at + quoted);
}

/* "[name]" at `offset`, the current token, as it is; afterwards the token behind it is the current one. */
static void put_group(struct cutter *cutter, size_t offset)
{
    const size_t length = strcspn(cutter_text(cutter, offset), "]") + 1;
    sp_text_append(&cutter->cell, cutter_text(cutter, offset), length);
    cutter->before = (struct sp_token){.kind = SP_TOKEN_NAME, .span = {.length = 1}};
    cutter->lexer.offset = cutter->end = offset + length;
    cutter->lexer.nesting--; /* the bracket was counted when it was read as a token */
    sp_lexer_next(&cutter->lexer);
}

/* ---- statements ---- */

static bool is_word(const struct cutter *cutter, const char *word) { return sp_token_is(&cutter->lexer, word); }

/* What is left of the line. */
static void put_rest(struct cutter *cutter)
{
    while (!is_at_end(cutter)) put_token(cutter);
}

/* if ... same as NAME when ... was NAME: what stands behind a shape. */
static void put_modifiers(struct cutter *cutter)
{
    while (!is_at_end(cutter)) {
        const bool names = is_word(cutter, "as") || is_word(cutter, "was");
        put_token(cutter);
        if (!names) continue;
        put_char(cutter, ' ');
        put_name(cutter, cutter->lexer.token.span.offset);
    }
}

/* name (shape) modifiers, or prefix.* part(...) from ... and then its condition: a cell each. */
static void cut_row(struct cutter *cutter, struct sp_statement *statement, size_t offset)
{
    put_name(cutter, offset);
    statement->cells[0] = take_cell(cutter);
    const bool tensor = is_word(cutter, "(");
    do put_token(cutter);
    while (!is_at_end(cutter) && (cutter->lexer.nesting || is_word(cutter, ")") ||
                                  !(tensor || is_word(cutter, "if") || is_word(cutter, "optional") ||
                                    is_word(cutter, "share") || is_word(cutter, "times"))));
    statement->cells[1] = take_cell(cutter);
    if (tensor) put_modifiers(cutter);
    else put_rest(cutter);
    statement->cells[2] = take_cell(cutter);
}

/* Whether the current token is behind a value, so that a bracket takes an item of it. */
static bool follows_value(const struct cutter *cutter)
{
    static const char *const words[] = {"not", "and", "or", "in", "default", "claim", "erratum", "approx", "example"};
    const struct sp_token *before = &cutter->before;
    if (before->kind == SP_TOKEN_PUNCTUATION) return token_is_one_of(cutter, before, ")]}");
    for (size_t i = 0; before->span.source && i < sizeof words / sizeof *words; i++)
        if (before->span.length == strlen(words[i]) &&
            memcmp(cutter_text(cutter, before->span.offset), words[i], before->span.length) == 0)
            return false;
    return before->span.length > 0;
}

/* NAME = value, ... of a claim, in which a bracket begins a list: to the ':' of an example, or to the end. */
static void put_bindings(struct cutter *cutter)
{
    unsigned choices = 0; /* c ? a : b */
    for (; !is_at_end(cutter) && (cutter->lexer.nesting || choices || !is_word(cutter, ":")); put_token(cutter)) {
        if (cutter->lexer.nesting) continue;
        if (is_word(cutter, "?")) choices++;
        else if (is_word(cutter, ":")) choices--;
    }
}

/* A claim, or the value of a definition among claims: [name] is a group there, and its blanks are its own. */
static void put_claim(struct cutter *cutter)
{
    if (is_word(cutter, "erratum")) put_token(cutter);
    if (is_word(cutter, "example")) put_bindings(cutter);
    while (!is_at_end(cutter)) {
        const bool value = follows_value(cutter);
        if (is_word(cutter, "when") && value && !cutter->lexer.nesting) put_bindings(cutter);
        else if (!is_word(cutter, "[") || value) put_token(cutter);
        else {
            put_blank(cutter);
            put_group(cutter, cutter->lexer.token.span.offset);
        }
    }
}

static void cut_definition(struct cutter *cutter, struct sp_statement *statement, size_t offset, bool in_claims)
{
    start_tokens(cutter, offset);
    while (!is_at_end(cutter) && (!is_word(cutter, "=") || cutter->lexer.nesting)) put_token(cutter);
    statement->cells[0] = take_cell(cutter);
    if (in_claims) put_claim(cutter);
    else put_rest(cutter);
    statement->cells[1] = take_cell(cutter);
}

/* [name] for ... if ...: one cell. */
static void cut_heading(struct cutter *cutter, struct sp_statement *statement, size_t offset)
{
    const char *name = cutter_text(cutter, offset + 1);
    size_t length = strcspn(name, "]");
    start_tokens(cutter, offset + 1 + length + 1);
    while (is_blank(*name)) name++, length--;
    while (is_blank(name[length - 1])) length--;
    put_char(cutter, '[');
    sp_text_append(&cutter->cell, name, length);
    sp_text_puts(&cutter->cell, is_at_end(cutter) ? "]" : "] ");
    put_rest(cutter);
    statement->cells[0] = take_cell(cutter);
}

/* Fills the cells of the statement at `offset`, whose kind of line is known, as the picture in the header shows them;
 * afterwards the token that ends its line is the current one. `in_claims`: it stands below "claims for". */
static void cut_line(struct cutter *cutter, struct sp_statement *statement, size_t offset, bool in_claims)
{
    cutter->before.span.length = 0;
    switch (statement->line) {
    case SP_LINE_ROW:
        cut_row(cutter, statement, offset);
        return;
    case SP_LINE_DEFINITION:
        cut_definition(cutter, statement, offset, in_claims);
        return;
    case SP_LINE_HEADING:
        cut_heading(cutter, statement, offset);
        return;
    default: /* directives: one cell */
        break;
    }
    start_tokens(cutter, offset);
    if (statement->line == SP_LINE_CLAIM) put_claim(cutter);
    else put_rest(cutter);
    statement->cells[0] = take_cell(cutter);
}

/* The comment behind a statement, which ends at the current token. */
static const char *comment_behind(const struct cutter *cutter)
{
    const char *p = cutter_text(cutter, cutter->end);
    while (is_blank(*p)) p++;
    return *p == '#' ? sp_arena_copy(cutter->lexer.arena, p, trimmed_line(p)) : "";
}

void sp_statements_cut(struct sp_statements *statements, const struct sp_source_text *source, struct sp_arena *arena)
{
    struct cutter cutter = {.lexer = {.source = source, .arena = arena}};
    bool in_claims = false;
    for (size_t offset = sp_source_begin(source->text); offset < source->length;) {
        struct sp_statement statement = {.cells = {"", "", ""}, .comment = ""};
        while (is_blank(source->text[offset])) offset++;
        const char *p = source->text + offset;
        const size_t length = trimmed_line(p);
        if (!length) statement.kind = SP_STATEMENT_BLANK;
        else if (*p == '#') {
            statement.kind = SP_STATEMENT_COMMENT;
            statement.cells[0] = sp_arena_copy(arena, p, length);
        } else {
            statement.line = sp_line_kind_at(p);
            if (statement.line == SP_LINE_UNIT) in_claims = strncmp(p, "claims", 6) == 0;
            cut_line(&cutter, &statement, offset, in_claims);
            statement.comment = comment_behind(&cutter);
            offset = cutter.lexer.token.span.offset;
        }
        *SP_PUSH(statements) = statement;
        offset += strcspn(source->text + offset, "\n") + 1;
    }
    sp_text_free(&cutter.cell);
}
