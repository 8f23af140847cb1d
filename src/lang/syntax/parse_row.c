/* SPDX-License-Identifier: MIT
 * The rows of a section: a tensor, its shape and what else there is to say about it; the use of a part or table. */
#include "lang/syntax/parser.h"

#include <string.h>

/* ---- names with holes ---- */

static void add_text(struct sp_parser *parser, struct sp_template *name, size_t from, size_t to)
{
    if (from < to)
        *SP_PARSE_APPEND(parser, name->pieces, name->count) =
            (struct sp_piece){sp_arena_copy(parser->arena, sp_parse_text(parser, from), to - from), NULL};
}

/* {expression} at `offset`; returns the offset after it, 0 after a mistake. */
static size_t parse_hole(struct sp_parser *parser, struct sp_template *name, size_t offset)
{
    sp_parse_restart(parser, offset);
    sp_lexer_next(&parser->lexer);
    const struct sp_span open = parser->lexer.token.span;
    sp_lexer_next(&parser->lexer);
    struct sp_expr *expr = sp_parse_expression(parser);
    if (!expr) return 0;
    if (!sp_token_is(&parser->lexer, "}")) {
        sp_parse_close(parser, "}", open, "'}'");
        return 0;
    }
    *SP_PARSE_APPEND(parser, name->pieces, name->count) = (struct sp_piece){NULL, expr};
    return parser->lexer.token.span.offset + 1;
}

static bool ends_name(char c, bool quoted)
{
    return c == '\0' || c == '\n' || (quoted ? c == '"' : sp_parse_is_blank(c));
}

/* Reads the name that begins at `offset`, "h.{i}.weight" or "\"a name with blanks\"", into pieces; afterwards the token
 * behind it is the current one. Names are no tokens: `offset` walks over the bytes of the text, `from` is where the
 * piece begins that is not added yet. False after a mistake.
 *
 *     name = { character | "{" expr "}" } ; */
static bool parse_template(struct sp_parser *parser, size_t offset, struct sp_template *name)
{
    const bool quoted = *sp_parse_text(parser, offset) == '"';
    const size_t start = offset;
    size_t from = offset += quoted;
    while (!ends_name(*sp_parse_text(parser, offset), quoted)) {
        if (*sp_parse_text(parser, offset) == '}')
            return sp_parse_fail(parser, (struct sp_span){parser->lexer.source, (uint32_t)offset, 1},
                                 "there is no '{' before this '}'");
        if (*sp_parse_text(parser, offset) != '{') {
            offset++;
            continue;
        }
        add_text(parser, name, from, offset);
        from = offset = parse_hole(parser, name, offset);
        if (!offset) return false;
    }
    add_text(parser, name, from, offset);
    name->span = (struct sp_span){parser->lexer.source, (uint32_t)start, (uint32_t)(offset - start)};
    if (quoted && *sp_parse_text(parser, offset) != '"')
        return sp_parse_fail(parser, name->span, "the name has no closing '\"' on its line");
    sp_parse_restart(parser, offset + quoted);
    sp_lexer_next(&parser->lexer);
    return true;
}

/* The name that follows a keyword; the keyword's next token was already looked at. */
static bool parse_template_here(struct sp_parser *parser, struct sp_template *name)
{
    const struct sp_token *token = &parser->lexer.token;
    if (token->kind == SP_TOKEN_NEWLINE || token->kind == SP_TOKEN_END)
        return sp_parse_fail(parser, token->span, "expected a tensor name");
    return parse_template(parser, token->span.offset, name);
}

/* Whether the name ends in a star, "prefix.*", which is taken off.
 *
 *     prefix = name ; */
static bool take_star(struct sp_template *name)
{
    struct sp_piece *last = name->count ? &name->pieces[name->count - 1] : NULL;
    const size_t length = last && last->text ? strlen(last->text) : 0;
    if (!length || last->text[length - 1] != '*') return false;
    ((char *)last->text)[length - 1] = '\0'; /* the arena's own copy */
    return true;
}

/* ---- rows ---- */

/* The dimensions in parentheses, of which the opening one is the current token. */
static bool parse_shape(struct sp_parser *parser, struct sp_row *row)
{
    struct sp_lexer *lexer = &parser->lexer;
    const struct sp_span open = lexer->token.span;
    sp_lexer_next(lexer);
    while (!sp_token_is(lexer, ")")) {
        struct sp_expr *dim = sp_parse_dimension(parser);
        if (!dim) return false;
        *SP_PARSE_APPEND(parser, row->shape, row->rank) = dim;
        if (!sp_parse_accept(parser, ",")) break;
    }
    return sp_parse_close(parser, ")", open, "',' or ')'");
}

static bool parse_condition(struct sp_parser *parser, struct sp_expr **into)
{
    const struct sp_span span = parser->lexer.token.span;
    sp_lexer_next(&parser->lexer);
    if (*into) return sp_parse_fail(parser, span, "a second 'if' here: join the conditions with 'and'");
    *into = sp_parse_expression(parser);
    return *into != NULL;
}

/* A tensor and its tie have a condition each, and a reader should not have to guess which one is meant: 'if' is always
 * the tensor's and stands in front, 'when' is always the tie's; with the one, the other must be said too. */
static bool parse_tie_condition(struct sp_parser *parser, struct sp_row *row)
{
    if (sp_parse_accept(parser, "always")) return true;
    if (sp_token_is(&parser->lexer, "when")) return parse_condition(parser, &row->tie_condition);
    if (!row->condition) return true;
    return sp_parse_fail(parser, parser->lexer.token.span,
                         "the 'if' before 'same as' is about the tensor: expected 'when ...' for the tie, or 'always'");
}

/* tie = "same" [ "rows" ] "as" name [ "when" expr | "always" ] ; */
static bool parse_tie(struct sp_parser *parser, struct sp_row *row)
{
    const struct sp_span span = parser->lexer.token.span;
    sp_lexer_next(&parser->lexer);
    if (row->has_tie) return sp_parse_fail(parser, span, "a tensor can be the same as one other only");
    row->has_tie = true;
    row->tie_rows = sp_parse_accept(parser, "rows");
    if (!sp_token_is(&parser->lexer, "as")) return sp_parse_expect(parser, "as", "after 'same'");
    sp_lexer_next(&parser->lexer);
    return parse_template_here(parser, &row->tie) && parse_tie_condition(parser, row);
}

static bool parse_old_name(struct sp_parser *parser, struct sp_row *row)
{
    struct sp_template *old = SP_PARSE_APPEND(parser, row->olds, row->old_count);
    *old = (struct sp_template){0};
    sp_lexer_next(&parser->lexer);
    return parse_template_here(parser, old);
}

/* dtypes = DTYPE { "or" DTYPE } ; false without a message if there is no dtype at all. */
static bool parse_dtypes(struct sp_parser *parser, struct sp_row *row)
{
    const bool is_second = row->dtypes != 0;
    do {
        const struct sp_span span = parser->lexer.token.span;
        const enum shapeproof_dtype dtype = shapeproof_dtype_from_name(sp_parse_text(parser, span.offset), span.length);
        if (dtype == SHAPEPROOF_DTYPE_UNKNOWN)
            return row->dtypes && !is_second && sp_parse_fail(parser, span, "expected a dtype after 'or'");
        if (is_second) return sp_parse_fail(parser, span, "a second dtype here: write 'or' between several");
        row->dtype = row->dtypes ? SHAPEPROOF_DTYPE_UNKNOWN : dtype;
        row->dtypes |= UINT64_C(1) << dtype;
        sp_lexer_next(&parser->lexer);
    } while (sp_parse_accept(parser, "or"));
    return true;
}

static bool parse_row_condition(struct sp_parser *parser, struct sp_row *row)
{
    if (!row->has_tie) return parse_condition(parser, &row->condition);
    return sp_parse_fail(parser, parser->lexer.token.span,
                         "the condition of the tensor goes in front of 'same as'; for that of the tie write 'when'");
}

/* Reports a 'when' that belongs to no tie; always false. */
static bool fail_on_when(struct sp_parser *parser, const struct sp_row *row)
{
    return sp_parse_fail(parser, parser->lexer.token.span,
                         row->has_tie
                             ? "'when' goes right behind 'same as NAME', and is there once"
                             : "'when' goes behind 'same as NAME'; for the condition of the tensor write 'if'");
}

/* share = "share" expr "of" expr ; */
bool sp_parse_share(struct sp_parser *parser, struct sp_row_share *share)
{
    const struct sp_span span = parser->lexer.token.span;
    sp_lexer_next(&parser->lexer);
    if (share->part) return sp_parse_fail(parser, span, "a second 'share' here");
    share->part = sp_parse_expression(parser);
    if (!share->part || !sp_parse_expect(parser, "of", "between the two numbers of a share")) return false;
    share->whole = sp_parse_expression(parser);
    return share->whole != NULL;
}

/* times = "times" expr ; */
bool sp_parse_times(struct sp_parser *parser, struct sp_expr **times)
{
    const struct sp_span span = parser->lexer.token.span;
    sp_lexer_next(&parser->lexer);
    if (*times) return sp_parse_fail(parser, span, "a second 'times' here");
    *times = sp_parse_expression(parser);
    return *times != NULL;
}

/* modifier = "if" expr | "optional" | "buffer" | "lookup" | "state" | "work" [ "recurrent" ] | "activation"
 *            | share | times | dtypes | "was" name | tie ; */
static bool parse_modifiers(struct sp_parser *parser, struct sp_row *row)
{
    while (!sp_parse_at_end(parser)) {
        bool good = true;
        if (sp_token_is(&parser->lexer, "if")) good = parse_row_condition(parser, row);
        else if (sp_token_is(&parser->lexer, "when")) good = fail_on_when(parser, row);
        else if (sp_token_is(&parser->lexer, "same")) good = parse_tie(parser, row);
        else if (sp_token_is(&parser->lexer, "was")) good = parse_old_name(parser, row);
        else if (sp_parse_accept(parser, "optional")) row->optional = true;
        else if (sp_parse_accept(parser, "buffer")) row->buffer = true;
        else if (sp_parse_accept(parser, "lookup")) row->lookup = true;
        else if (sp_parse_accept(parser, "state")) row->state = true;
        else if (sp_parse_accept(parser, "work")) {
            row->work = true;
            row->is_recurrent = row->is_recurrent || sp_parse_accept(parser, "recurrent");
        } else if (sp_parse_accept(parser, "activation")) row->activation = true;
        else if (sp_token_is(&parser->lexer, "share")) good = sp_parse_share(parser, &row->share);
        else if (sp_token_is(&parser->lexer, "times")) good = sp_parse_times(parser, &row->times);
        else if (!parse_dtypes(parser, row))
            good = sp_parse_fail(parser, parser->lexer.token.span,
                                 "expected 'if', 'same as', 'optional', 'buffer', 'lookup', 'state', 'work', "
                                 "'activation', 'share', 'times', 'was' or a dtype after the shape");
        if (!good) return false;
    }
    const bool is_of_tensors = row->optional || row->buffer || row->lookup || row->share.part || row->times ||
                               row->has_tie || row->old_count || row->dtypes;
    const char *word = row->activation ? "activation" : row->work ? "work" : "state";
    const char *what = row->activation ? "an activation" : row->work ? "work" : "a state";
    const bool is_one_kind = row->state + row->work + row->activation == 1;
    if (sp_row_is_tensor(row) || (!is_of_tensors && is_one_kind)) return true;
    return sp_parse_fail(parser, row->name.span, "%s is no tensor of a file: beside '%s' there can only be 'if'", what,
                         word);
}

/* Whether an argument has a name: NAME = ...; anything else begins an expression. */
static bool is_named(const struct sp_parser *parser)
{
    struct sp_lexer ahead = parser->lexer;
    if (ahead.token.kind != SP_TOKEN_NAME) return false;
    sp_lexer_next(&ahead);
    return sp_token_is(&ahead, "=");
}

enum naming { MAY_BE_NAMED, MUST_BE_NAMED };

/* argument = [ NAME "=" ] dimension ; */
static bool parse_argument(struct sp_parser *parser, struct sp_argument *into, enum naming naming)
{
    *into = (struct sp_argument){.span = parser->lexer.token.span};
    if (is_named(parser)) {
        into->name = sp_parse_name(parser, "a name");
        if (!into->name) return false;
        sp_lexer_next(&parser->lexer); /* the '=' */
    } else if (naming == MUST_BE_NAMED) return sp_parse_fail(parser, into->span, "expected KEY = value");
    into->expr = sp_parse_dimension(parser);
    return into->expr != NULL;
}

static bool parse_use_arguments(struct sp_parser *parser, struct sp_row *row)
{
    const struct sp_span open = parser->lexer.token.span;
    if (!sp_parse_accept(parser, "(")) return true;
    while (!sp_token_is(&parser->lexer, ")")) {
        if (!parse_argument(parser, SP_PARSE_APPEND(parser, row->args, row->arg_count), MAY_BE_NAMED)) return false;
        if (!sp_parse_accept(parser, ",")) break;
    }
    return sp_parse_close(parser, ")", open, "',' or ')'");
}

/* "with" ( settings | "(" settings ")" ), where settings = NAME "=" dimension { "," NAME "=" dimension } ; */
static bool parse_with(struct sp_parser *parser, struct sp_row *row)
{
    const struct sp_span open = parser->lexer.token.span;
    const bool bracketed = sp_parse_accept(parser, "(");
    do {
        if (!parse_argument(parser, SP_PARSE_APPEND(parser, row->with, row->with_count), MUST_BE_NAMED)) return false;
    } while (sp_parse_accept(parser, ","));
    return !bracketed || sp_parse_close(parser, ")", open, "',' or ')'");
}

/* What stands behind "prefix.*", which is read; the current token is the name of the part or table.
 *
 *     use = prefix NAME [ "(" [ argument { "," argument } [ "," ] ] ")" ] { clause }
 *         | prefix "table" "(" expr ")" { clause } ;
 *     clause = "from" expr | "with" ( settings | "(" settings ")" ) | "if" expr | "optional" | share | times ; */
static bool parse_use(struct sp_parser *parser, struct sp_row *row)
{
    row->kind = SP_ROW_USE;
    row->unit_span = parser->lexer.token.span;
    row->unit_name = sp_parse_name(parser, "the name of a part or table after 'prefix.*'");
    if (!row->unit_name || !parse_use_arguments(parser, row)) return false;
    while (!sp_parse_at_end(parser)) {
        bool good;
        if (sp_token_is(&parser->lexer, "if")) good = parse_condition(parser, &row->condition);
        else if (sp_parse_accept(parser, "from")) {
            row->has_from = true;
            row->from = sp_parse_expression(parser);
            good = row->from != NULL;
        } else if (sp_parse_accept(parser, "with")) {
            good = parse_with(parser, row);
        } else if (sp_parse_accept(parser, "optional")) {
            good = row->optional = true;
        } else if (sp_token_is(&parser->lexer, "share")) {
            good = sp_parse_share(parser, &row->share);
        } else if (sp_token_is(&parser->lexer, "times")) {
            good = sp_parse_times(parser, &row->times);
        } else
            good = sp_parse_fail(parser, parser->lexer.token.span,
                                 "expected 'from', 'with', 'optional', 'share', 'times' or 'if' here");
        if (!good) return false;
    }
    return true;
}

/* Whether the name runs into its shape: without a blank between them "weight(V," is a name to the parser. */
static bool is_glued_to_shape(const struct sp_template *name)
{
    for (size_t i = 0; i < name->count; i++)
        if (name->pieces[i].text && strchr(name->pieces[i].text, '(')) return true;
    return false;
}

/* tensor = name "(" [ dimension { "," dimension } [ "," ] ] ")" { modifier } ; */
bool sp_parse_row(struct sp_parser *parser, struct sp_row *row, size_t offset)
{
    if (!parse_template(parser, offset, &row->name)) return false;
    row->span = row->name.span;
    const bool star = take_star(&row->name);
    if (star && parser->lexer.token.kind == SP_TOKEN_NAME) return parse_use(parser, row);
    if (star) return sp_parse_fail(parser, parser->lexer.token.span, "expected a part or table after 'prefix.*'");
    if (sp_token_is(&parser->lexer, "(")) return parse_shape(parser, row) && parse_modifiers(parser, row);
    if (is_glued_to_shape(&row->name))
        return sp_parse_fail(parser, row->name.span, "expected a space between the name and its shape");
    return sp_parse_fail(parser, row->name.span, "expected 'name (shape)', 'prefix.* part(...)' or 'NAME = value'");
}
