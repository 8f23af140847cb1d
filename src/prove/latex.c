/* SPDX-License-Identifier: MIT
 * LaTeX of a formula: its text is parsed, and the tree is written with the signs of mathematics. Brackets stand where
 * an operand binds less than the operator around it needs; a fraction, a floor and a subscript need none. */
#include "prove/latex.h"

#include <ctype.h>
#include <string.h>

#include "base/text.h"
#include "lang/syntax/parser.h"
#include "lang/words.h"

/* How strongly what is written holds together, the weakest first. */
enum strength { ANYTHING, OR, AND, NOT, COMPARISON, REMAINDER, SUM, PRODUCT, POWER, WHOLE };

struct latex {
    struct sp_arena *arena;
    struct sp_text *text;
    const char *formula; /* that was parsed */
};

static void put(const struct latex *latex, const struct sp_expr *expr, enum strength needed);

/* ---- names ---- */

/* A name or a text in upright letters, with LaTeX's own characters written so that they show. */
static void put_upright(struct sp_text *text, const char *name, size_t length)
{
    sp_text_puts(text, "\\mathrm{");
    for (size_t i = 0; i < length; i++) {
        if (strchr("_%#&${} ", name[i])) sp_text_printf(text, "\\%c", name[i]);
        else if (name[i] == '\\') sp_text_puts(text, "\\backslash ");
        else if (name[i] == '^') sp_text_puts(text, "\\wedge ");
        else if (name[i] == '~') sp_text_puts(text, "\\sim ");
        else sp_text_append(text, &name[i], 1);
    }
    sp_text_puts(text, "}");
}

/* One letter is a variable; what is longer is upright. */
static void put_word(struct sp_text *text, const char *word, size_t length)
{
    const bool is_number = strspn(word, "0123456789") >= length;
    if (length == 1 || is_number) sp_text_append(text, word, length);
    else put_upright(text, word, length);
}

/* Whether what is behind the one underscore of the name is its index: D_v, n_layer, x_1, is_0. */
static const char *index_of(const char *name)
{
    const char *underscore = strchr(name, '_');
    if (!underscore || underscore == name || !underscore[1] || strchr(underscore + 1, '_')) return NULL;
    const bool is_number = strspn(underscore + 1, "0123456789") == strlen(underscore + 1);
    return underscore == name + 1 || is_number ? underscore + 1 : NULL;
}

static void put_name(struct sp_text *text, const char *name)
{
    const char *index = strchr(name, '.') ? NULL : index_of(name);
    if (!index) {
        put_word(text, name, strlen(name));
        return;
    }
    put_word(text, name, (size_t)(index - 1 - name));
    sp_text_puts(text, "_{");
    put_word(text, index, strlen(index));
    sp_text_puts(text, "}");
}

/* ---- operators ---- */

static const struct {
    enum strength is, left, right; /* of the whole, and what the operands need */
    const char *sign;
} operators[] = {
    [SP_OP_ADD] = {SUM, SUM, SUM, " + "},
    [SP_OP_SUB] = {SUM, SUM, PRODUCT, " - "},
    [SP_OP_MUL] = {PRODUCT, PRODUCT, PRODUCT, " "},
    [SP_OP_MOD] = {REMAINDER, PRODUCT, WHOLE, " \\bmod "},
    [SP_OP_EQ] = {COMPARISON, REMAINDER, REMAINDER, " = "},
    [SP_OP_NE] = {COMPARISON, REMAINDER, REMAINDER, " \\ne "},
    [SP_OP_LT] = {COMPARISON, REMAINDER, REMAINDER, " < "},
    [SP_OP_LE] = {COMPARISON, REMAINDER, REMAINDER, " \\le "},
    [SP_OP_GT] = {COMPARISON, REMAINDER, REMAINDER, " > "},
    [SP_OP_GE] = {COMPARISON, REMAINDER, REMAINDER, " \\ge "},
    [SP_OP_IN] = {COMPARISON, REMAINDER, REMAINDER, " \\in "},
    [SP_OP_NOT_IN] = {COMPARISON, REMAINDER, REMAINDER, " \\notin "},
    [SP_OP_AND] = {AND, AND, AND, " \\land "},
    [SP_OP_OR] = {OR, OR, OR, " \\lor "},
};

static enum strength strength_of(const struct sp_expr *expr)
{
    switch (expr->kind) {
    case SP_EXPR_UNARY:
        return expr->op == SP_OP_NOT ? NOT : PRODUCT;
    case SP_EXPR_SUM:
        return SUM; /* a factor behind it would seem to belong to it */
    case SP_EXPR_BINARY:
        if (expr->op == SP_OP_DIV) return PRODUCT;
        if (expr->op == SP_OP_FLOOR) return WHOLE;
        return expr->op == SP_OP_POW ? POWER : operators[expr->op].is;
    case SP_EXPR_DEFAULT:
        return ANYTHING;
    default:
        return WHOLE;
    }
}

static void put_around(const struct latex *latex, const char *before, const struct sp_expr *expr, const char *behind)
{
    sp_text_puts(latex->text, before);
    put(latex, expr, ANYTHING);
    sp_text_puts(latex->text, behind);
}

/* \frac{a}{b}, between what stands around it. */
static void put_fraction(const struct latex *latex, const char *before, const struct sp_expr *above,
                         const struct sp_expr *below, const char *behind)
{
    sp_text_puts(latex->text, before);
    put_around(latex, "\\frac{", above, "}");
    put_around(latex, "{", below, "}");
    sp_text_puts(latex->text, behind);
}

/* What stands behind the sign of an operator. A number behind another factor needs a dot, 2*3 is "2 \cdot 3", and a
 * minus sign brackets. */
static void put_right(const struct latex *latex, const struct sp_expr *expr, enum sp_op op)
{
    struct sp_text right = {0};
    const struct latex apart = {latex->arena, &right, latex->formula};
    put(&apart, expr, operators[op].right);
    const bool is_negative = *right.data == '-' && operators[op].is >= SUM;
    if (op == SP_OP_MUL && isdigit((unsigned char)*right.data)) sp_text_puts(latex->text, "\\cdot ");
    if (is_negative) sp_text_puts(latex->text, "\\left(");
    sp_text_puts(latex->text, right.data);
    if (is_negative) sp_text_puts(latex->text, "\\right)");
    sp_text_free(&right);
}

static void put_binary(const struct latex *latex, const struct sp_expr *expr)
{
    if (expr->op == SP_OP_DIV) put_fraction(latex, "", expr->args[0], expr->args[1], "");
    else if (expr->op == SP_OP_FLOOR)
        put_fraction(latex, "\\left\\lfloor ", expr->args[0], expr->args[1], " \\right\\rfloor");
    else if (expr->op == SP_OP_POW) {
        put(latex, expr->args[0], WHOLE);
        put_around(latex, "^{", expr->args[1], "}");
    } else {
        put(latex, expr->args[0], operators[expr->op].left);
        sp_text_puts(latex->text, operators[expr->op].sign);
        put_right(latex, expr->args[1], expr->op);
    }
}

/* ---- everything else ---- */

static void put_list(const struct latex *latex, const char *before, const struct sp_expr *expr, const char *behind)
{
    sp_text_puts(latex->text, before);
    for (size_t i = 0; i < expr->count; i++) put_around(latex, i ? ", " : "", expr->args[i], "");
    sp_text_puts(latex->text, behind);
}

/* min(a, b) has LaTeX's own sign, ceil_div(a, b) that of a ceiling; the other functions are upright names. */
static void put_call(const struct latex *latex, const struct sp_expr *expr)
{
    const bool has_sign = strcmp(expr->name, "min") == 0 || strcmp(expr->name, "max") == 0;
    if (strcmp(expr->name, "ceil_div") == 0 && expr->count == 2) {
        put_fraction(latex, "\\left\\lceil ", expr->args[0], expr->args[1], " \\right\\rceil");
        return;
    }
    if (has_sign) sp_text_printf(latex->text, "\\%s", expr->name);
    else put_name(latex->text, expr->name);
    put_list(latex, "\\left(", expr, "\\right)");
}

/* sum(i in 0..L - 1: body) has the body behind the sign; of count(...) it is the bracket that is 1 where it holds. */
static void put_sum(const struct latex *latex, const struct sp_expr *expr)
{
    const bool counts = expr->value.type == SHAPEPROOF_VALUE_BOOL && expr->value.boolean;
    sp_text_puts(latex->text, "\\sum_{");
    put_name(latex->text, expr->name);
    put_around(latex, "=", expr->args[0], "}");
    put_around(latex, "^{", expr->args[1], "} ");
    if (counts) put_around(latex, "\\left[", expr->args[2], "\\right]");
    else put(latex, expr->args[2], PRODUCT);
}

static void put_literal(const struct latex *latex, struct shapeproof_value value)
{
    struct sp_text text = {0};
    sp_value_json(&text, value);
    if (value.type == SHAPEPROOF_VALUE_INT || value.type == SHAPEPROOF_VALUE_REAL) sp_text_puts(latex->text, text.data);
    else put_upright(latex->text, text.data, strlen(text.data));
    sp_text_free(&text);
}

static void put_cases(const struct latex *latex, const struct sp_expr *expr)
{
    put_around(latex, "\\begin{cases} ", expr->args[1], " & \\text{if } ");
    put_around(latex, "", expr->args[0], " \\\\ ");
    put_around(latex, "", expr->args[2], " & \\text{otherwise} \\end{cases}");
}

/* depths[1] as depths_{1}. A second subscript needs braces around what has the first: {D_{v}}_{1}. */
static void put_item(const struct latex *latex, const struct sp_expr *expr)
{
    struct sp_text list = {0};
    put(&(struct latex){latex->arena, &list, latex->formula}, expr->args[0], WHOLE);
    sp_text_printf(latex->text, strstr(list.data, "_{") ? "{%s}" : "%s", list.data);
    put_around(latex, "_{", expr->args[1], "}");
    sp_text_free(&list);
}

static void put_whole(const struct latex *latex, const struct sp_expr *expr)
{
    const char *key;
    switch (expr->kind) {
    case SP_EXPR_LITERAL:
        put_literal(latex, expr->value);
        break;
    case SP_EXPR_NAME:
        put_name(latex->text, expr->name);
        break;
    case SP_EXPR_MEMBER:
        if ((key = sp_expr_key(latex->arena, expr)) != NULL) put_name(latex->text, key);
        else {
            put(latex, expr->args[0], WHOLE);
            sp_text_puts(latex->text, ".");
            put_name(latex->text, expr->name);
        }
        break;
    case SP_EXPR_INDEX:
        put_item(latex, expr);
        break;
    case SP_EXPR_LIST:
        put_list(latex, "\\left[", expr, "\\right]");
        break;
    case SP_EXPR_BRACKET:
        put_around(latex, "\\left[", expr->args[0], "\\right]");
        break;
    case SP_EXPR_UNARY:
        sp_text_puts(latex->text, expr->op == SP_OP_NOT ? "\\lnot " : "-");
        put(latex, expr->args[0], expr->op == SP_OP_NOT ? NOT : PRODUCT);
        break;
    case SP_EXPR_BINARY:
        put_binary(latex, expr);
        break;
    case SP_EXPR_CALL:
        put_call(latex, expr);
        break;
    case SP_EXPR_SUM:
        put_sum(latex, expr);
        break;
    case SP_EXPR_CHOICE:
        put_cases(latex, expr);
        break;
    case SP_EXPR_DEFAULT:
        put(latex, expr->args[0], OR);
        put_around(latex, "\\text{ or by default }", expr->args[1], "");
        break;
    case SP_EXPR_GROUP: /* these are asked of a table or a checkpoint: no formula that is derived has them */
    case SP_EXPR_STORED:
    case SP_EXPR_ACTIVE:
    case SP_EXPR_CACHE:
    case SP_EXPR_SIZING:
    case SP_EXPR_FLOPS:
    case SP_EXPR_ACTIVATIONS:
    case SP_EXPR_TENSORS:
        put_upright(latex->text, latex->formula + expr->span.offset, expr->span.length);
        break;
    }
}

static void put(const struct latex *latex, const struct sp_expr *expr, enum strength needed)
{
    const bool is_bracketed = strength_of(expr) < needed;
    if (is_bracketed) sp_text_puts(latex->text, "\\left(");
    put_whole(latex, expr);
    if (is_bracketed) sp_text_puts(latex->text, "\\right)");
}

const char *sp_latex_formula(struct sp_arena *arena, const char *text)
{
    struct sp_symbols symbols = {0};
    struct sp_text latex = {0}, messages = {0};
    const struct sp_source_text source = {.name = "", .text = text, .length = strlen(text)};
    struct sp_parser parser = {.lexer = {.source = &source, .arena = arena},
                               .arena = arena,
                               .symbols = &symbols,
                               .messages = &messages,
                               .in_claim = true};
    sp_lexer_next(&parser.lexer);
    const struct sp_expr *expr = sp_parse_expression(&parser);
    if (expr && parser.lexer.token.kind == SP_TOKEN_END) put(&(struct latex){arena, &latex, text}, expr, ANYTHING);
    else put_upright(&latex, text, strlen(text));
    sp_symbols_free(&symbols);
    sp_text_free(&messages);
    return sp_text_keep(&latex, arena);
}
