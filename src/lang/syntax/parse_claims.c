/* SPDX-License-Identifier: MIT
 * What publications say of a table:
 *   claim   LEFT = RIGHT  [when ...] ["source"]           holds for all hyper-parameters
 *   erratum LEFT = RIGHT  [when ...] ["source"]           was published, and does not hold (also: erratum example ...)
 *   approx  LEFT = RIGHT within 0.5% [when ...] ["source"]
 *   example E = 768, N = 12: LEFT = RIGHT ["source"]      holds for these
 *   claim   LEFT rounds to 124M ["source"]                 for the defaults; also with values, of an example
 * where LEFT and RIGHT are expressions in which [group] and total stand for numbers of parameters, and `when` lists
 * NAME = value and conditions. They stand in a table, or below a line of their own:
 *   claims for TABLE [when ...]                           which then narrows each of them
 */
#include "lang/syntax/parser.h"

#include <string.h>

/* NAME, or NAME.NAME: *path is the whole. NULL when no name stands there. */
static struct sp_expr *parse_target(struct sp_parser *parser, const char **path)
{
    struct sp_expr *object = NULL;
    do {
        struct sp_expr *expr = sp_arena_alloc(parser->arena, sizeof *expr);
        *expr = (struct sp_expr){.kind = object ? SP_EXPR_MEMBER : SP_EXPR_NAME, .span = parser->lexer.token.span};
        if (parser->lexer.token.kind != SP_TOKEN_NAME) return NULL;
        expr->name = sp_parse_name(parser, "a name");
        if (object) {
            expr->args = sp_arena_array(parser->arena, 1, sizeof *expr->args);
            expr->args[expr->count++] = object;
            *path = sp_arena_printf(parser->arena, "%s.%s", *path, expr->name);
        } else *path = expr->name;
        object = expr;
    } while (sp_parse_accept(parser, "."));
    return object;
}

/* One NAME = value, or a condition. In a value a bracket begins a list; in a condition it is read as in a claim: [a <
 * 0] is 1 where a < 0.
 *
 *     value = [ NAME { "." NAME } "=" ] expr ; */
static bool parse_value(struct sp_parser *parser, struct sp_argument *into)
{
    const struct sp_lexer before = parser->lexer;
    *into = (struct sp_argument){.span = parser->lexer.token.span};
    if (!sp_token_is(&parser->lexer, "not")) {
        const char *path = NULL;
        into->target = parse_target(parser, &path);
        if (into->target && sp_parse_accept(parser, "=")) into->name = path;
        else parser->lexer = before;
    }
    parser->in_claim = !into->name;
    into->expr = parser->failed ? NULL : sp_parse_expression(parser);
    parser->in_claim = true;
    return into->expr != NULL;
}

/* values = value { "," value } ; */
static bool parse_values(struct sp_parser *parser, struct sp_argument **list, size_t *count)
{
    do {
        *list = sp_parse_grow(parser->arena, *list, *count, sizeof **list);
        if (!parse_value(parser, &(*list)[(*count)++])) return false;
    } while (sp_parse_accept(parser, ","));
    return true;
}

/* number = INTEGER | REAL ; */
static bool parse_percent(struct sp_parser *parser, struct sp_claim *claim)
{
    const struct sp_token token = parser->lexer.token;
    if (token.kind != SP_TOKEN_INT && token.kind != SP_TOKEN_REAL)
        return sp_parse_fail(parser, token.span, "expected a number of per cent");
    claim->percent = token.kind == SP_TOKEN_INT ? (double)token.value.integer : token.value.real;
    sp_lexer_next(&parser->lexer);
    return sp_parse_expect(parser, "%", "after the number of per cent");
}

/* 124M, 6.7 B or 65000, as publications print it.
 *
 * figure = ( INTEGER | REAL ) [ "K" | "M" | "B" | "T" ] ; */
static const char *parse_figure(struct sp_parser *parser)
{
    struct sp_lexer *lexer = &parser->lexer;
    const char *text = lexer->source->text + lexer->token.span.offset;
    const size_t digits = strspn(text, "0123456789."), letter = digits + strspn(text + digits, " ");
    const bool has_letter = text[letter] && strchr("KMBT", text[letter]) && !sp_is_name_char(text[letter + 1]);
    lexer->offset = lexer->token.span.offset + (has_letter ? letter + 1 : digits);
    sp_lexer_next(lexer); /* from behind the figure, of which "124M" is no token */
    return sp_arena_printf(parser->arena, "%.*s%.*s", (int)digits, text, has_letter, text + letter);
}

/* rounding = expr "rounds" "to" ( TEXT | figure ) ; */
static bool parse_printed(struct sp_parser *parser, struct sp_claim *claim)
{
    if (!sp_parse_expect(parser, "to", "after 'rounds'")) return false;
    const struct sp_token token = parser->lexer.token;
    const char first = token.span.length ? token.span.source->text[token.span.offset] : '\0';
    claim->kind = SP_CLAIM_ROUNDS;
    if (first >= '0' && first <= '9') {
        claim->printed = parse_figure(parser);
        return true;
    }
    if (token.kind != SP_TOKEN_STRING) return sp_parse_fail(parser, token.span, "expected the printed figure, as 1.5B");
    claim->printed = token.value.string;
    sp_lexer_next(&parser->lexer);
    return true;
}

/* equation = expr "=" expr ; */
static bool parse_equation(struct sp_parser *parser, struct sp_claim *claim)
{
    claim->left = sp_parse_expression(parser);
    if (!claim->left) return false;
    if (claim->kind == SP_CLAIM_EXACT && sp_parse_accept(parser, "rounds")) return parse_printed(parser, claim);
    if (claim->left->kind == SP_EXPR_BINARY && claim->left->op == SP_OP_EQ && !sp_token_is(&parser->lexer, "="))
        return sp_parse_fail(parser, claim->left->span, "a claim has '=' between its two sides; '==' compares values");
    if (!sp_parse_expect(parser, "=", "between the two sides of the claim")) return false;
    claim->right = sp_parse_expression(parser);
    if (!claim->right) return false;
    if (claim->kind != SP_CLAIM_APPROX) return true;
    return sp_parse_expect(parser, "within", "with its error, after an approximation") && parse_percent(parser, claim);
}

/* Whether the token begins with the word or sign. */
static bool begins(struct sp_token token, const char *with)
{
    return token.span.length >= strlen(with) &&
           strncmp(token.span.source->text + token.span.offset, with, strlen(with)) == 0;
}

/* What is wrong where a claim goes on although it should end: at the "=" of `when A*D = H`, or the "," of 124,439,808.
 */
static const char *why_no_end(const struct sp_parser *parser, const struct sp_claim *claim)
{
    const struct sp_lexer *lexer = &parser->lexer;
    const struct sp_token token = lexer->token;
    const char *at = token.span.source->text + token.span.offset;
    const bool is_behind_digit = token.span.offset && at[-1] >= '0' && at[-1] <= '9';
    if (begins(token, "=") && claim->when_count)
        return "'=' gives a value to a name: a condition compares its two sides with '=='";
    if (begins(token, ",") && is_behind_digit && at[1] >= '0' && at[1] <= '9')
        return "a number is written without commas";
    if ((begins(token, "e") || begins(token, "E")) && is_behind_digit)
        return "a number has no exponent: 8.03e9 is written 8.03*10^9";
    if (begins(token, "\xc2\xb7") || begins(token, "\xc3\x97")) return "the sign of a product is '*'";
    if (sp_token_is(lexer, "if") || sp_token_is(lexer, "where")) return "the word before a condition is 'when'";
    if (sp_token_is(lexer, "within")) return "a claim with 'within' begins with the word 'approx'";
    return "expected 'when', the source in quotes, or the end of the line";
}

static bool parse_ending(struct sp_parser *parser, struct sp_claim *claim)
{
    if (sp_parse_accept(parser, "when") && !parse_values(parser, &claim->when, &claim->when_count)) return false;
    claim->text_length = parser->lexer.token.span.offset - claim->span.offset;
    if (parser->lexer.token.kind == SP_TOKEN_STRING) {
        claim->source = parser->lexer.token.value.string;
        sp_lexer_next(&parser->lexer);
    }
    return sp_parse_at_end(parser) || sp_parse_fail(parser, parser->lexer.token.span, "%s", why_no_end(parser, claim));
}

static size_t end_of_line(const struct sp_parser *parser, size_t from)
{
    const char *text = parser->lexer.source->text;
    while (text[from] && text[from] != '\n') from++;
    return from;
}

/* claim = statement [ "when" values ] [ TEXT ] ;
 * statement = ( "claim" | "erratum" ) ( equation | rounding ) | [ "erratum" ] "approx" equation "within" number "%"
 *           | [ "erratum" ] "example" values ":" ( equation | rounding ) ; */
void sp_parse_claim(struct sp_parser *parser, struct sp_unit *unit)
{
    struct sp_claim claim = {.source = "", .span = parser->lexer.token.span};
    claim.erratum = sp_token_is(&parser->lexer, "erratum");
    if (claim.erratum) sp_lexer_next(&parser->lexer);
    claim.is_example = sp_token_is(&parser->lexer, "example");
    if (sp_token_is(&parser->lexer, "approx")) claim.kind = SP_CLAIM_APPROX;
    claim.span.length = (uint32_t)(end_of_line(parser, claim.span.offset) - claim.span.offset);
    parser->in_claim = true;
    if (!claim.erratum || claim.is_example || claim.kind == SP_CLAIM_APPROX) sp_lexer_next(&parser->lexer);
    const bool good = (!claim.is_example || (parse_values(parser, &claim.when, &claim.when_count) &&
                                             sp_parse_expect(parser, ":", "after the values of the example"))) &&
                      parse_equation(parser, &claim) && parse_ending(parser, &claim);
    parser->in_claim = false;
    claim.own_when_count = claim.when_count;
    for (size_t i = 0; i < unit->given_count; i++) /* last, so that the claim's own values come first */
        *SP_PARSE_APPEND(parser, claim.when, claim.when_count) = unit->given[i];
    if (good) *SP_PARSE_APPEND(parser, unit->claims, unit->claim_count) = claim;
}

/* asked-expression = expr ; */
void sp_parse_asked_expression(struct sp_parser *parser, struct sp_unit *unit, size_t offset)
{
    struct sp_claim claim = {.kind = SP_CLAIM_VALUE, .source = ""};
    sp_parse_restart(parser, offset);
    sp_lexer_next(&parser->lexer);
    claim.span = parser->lexer.token.span;
    claim.span.length = (uint32_t)(end_of_line(parser, claim.span.offset) - claim.span.offset);
    claim.text_length = claim.span.length;
    parser->in_claim = true;
    claim.left = sp_parse_expression(parser);
    parser->in_claim = false;
    if (claim.left) *SP_PARSE_APPEND(parser, unit->claims, unit->claim_count) = claim;
}

/* claims = "claims" "for" NAME [ "when" values ] ; */
void sp_parse_claims_header(struct sp_parser *parser, struct sp_unit *unit)
{
    sp_lexer_next(&parser->lexer);
    unit->span = parser->lexer.token.span;
    if (!sp_parse_expect(parser, "for", "after 'claims'")) return;
    unit->about_span = parser->lexer.token.span;
    unit->about = sp_parse_name(parser, "the name of a table");
    if (!unit->about) return;
    unit->name = sp_arena_printf(parser->arena, "claims for %s", unit->about);
    parser->is_about_checkpoint = strcmp(unit->about, SP_CHECKPOINT_ALONE) == 0;
    unit->given_text = "";
    if (!sp_parse_accept(parser, "when")) return;
    const size_t from = parser->lexer.token.span.offset;
    if (!parse_values(parser, &unit->given, &unit->given_count)) return;
    size_t to = parser->lexer.token.span.offset;
    while (to > from && strchr(" \t\r", parser->lexer.source->text[to - 1])) to--;
    unit->given_text = sp_arena_copy(parser->arena, parser->lexer.source->text + from, to - from);
}
