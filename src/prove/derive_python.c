/* SPDX-License-Identifier: MIT
 * The formulas of a table as a Python function. They are those of `derive --claims`, which hold for all cases, parsed
 * again and written with Python's operators; what the table defines and they use stands above them. Of a GPT:
 *
 *     def gpt(*, vocab_size=50257, n_embd=768):
 *         V = vocab_size
 *         E = n_embd
 *         return {
 *             "embedding": V*E,
 *             "total": V*E,
 *         }
 *
 * Whoever runs the file tests it: at the defaults the function gives what the table predicts. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/call.h"
#include "base/error.h"
#include "lang/words.h"
#include "prove/cases.h"
#include "prove/claims.h"
#include "shapeproof/prove.h"

enum { MAX_BOUND = 16 };

/* A parameter of the Python function: a hyper-parameter. */
struct parameter {
    const char *name;     /* in Python */
    const char *key;      /* of the hyper-parameter: "vision_config.hidden_size" */
    const char *fallback; /* in Python; NULL: it must be given */
};

/* The function under way. It is written from its end: the formulas of the groups ask for the definitions that they use,
 * which are written to `body`, and those for parameters, from which the head follows. */
struct python {
    struct sp_arena arena;
    struct sp_count *count; /* of the table: its symbols have the keys and the defaults */
    const struct sp_unit *table;
    const struct sp_unit *claims; /* the formulas, one claim for each group, and the definitions above them */
    struct sp_text tests;         /* lines "no_n_inner = n_inner is None" */
    struct sp_text body;          /* the lines of the definitions so far, each behind those that it needs */
    struct parameter *parameters; /* heap */
    size_t parameter_count, parameter_capacity;
    const char **names; /* heap; of the definitions that are written or begun */
    size_t name_count, name_capacity;
    const char *bound[MAX_BOUND]; /* the indices of sums and parameters of functions around what is written now */
    size_t bound_count;
    bool plain_defaults; /* a default that is a literal stands in the head, n_embd=768; false: the head has None, and
                          * the definition "n_embd if n_embd is not None else 768" */
    bool is_ambiguous;   /* one key has two such defaults, so that the head cannot have it */
    const char *failed;  /* the first thing that cannot be written in Python, or NULL */
};

static void put_expr(struct python *python, struct sp_text *text, const struct sp_expr *expr);

/* Notes that the table needs something which has no counterpart in Python. */
static void fail(struct python *python, const char *what)
{
    if (!python->failed) python->failed = sp_arena_string(&python->arena, what);
}

/* ---- names ---- */

/* A name as Python can have it: dots and brackets become underscores, and a word of Python gets one. The sides of a
 * pair, "patch_size[0]" and "patch_size[1]", are patch_size_0 and patch_size_1. */
static const char *python_name(struct python *python, const char *name)
{
    /* reserved words, then what the output calls */
    static const char *const words[] = {
        "False",    "None",   "True",  "and",  "as",     "assert",   "async",   "await",      "break", "class",
        "continue", "def",    "del",   "elif", "else",   "except",   "finally", "for",        "from",  "global",
        "if",       "import", "in",    "is",   "lambda", "nonlocal", "not",     "or",         "pass",  "raise",
        "return",   "try",    "while", "with", "yield",  "bool",     "int",     "isinstance", "len",   "max",
        "min",      "print",  "range", "str",  "sum",    "Fraction"};
    char *copy = sp_arena_copy(&python->arena, name, strlen(name));
    for (char *at = copy; *at; at++) {
        if (*at == ']' && !at[1]) *at = '\0';
        else if (strchr(".-[]", *at)) *at = '_';
        if (!*at) break;
    }
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(copy, words[i]) == 0) return sp_arena_printf(&python->arena, "%s_", copy);
    return copy;
}

static bool is_bound(const struct python *python, const char *name)
{
    for (size_t i = 0; i < python->bound_count; i++)
        if (strcmp(python->bound[i], name) == 0) return true;
    return false;
}

static void bind(struct python *python, const char *name)
{
    if (python->bound_count == MAX_BOUND) fail(python, "so many names within one another");
    else python->bound[python->bound_count++] = name;
}

/* Adds a parameter of the function for the key, unless it has one. Returns its name in Python. The fallback is written
 * in Python; NULL for a parameter that must be given. */
static const char *add_parameter(struct python *python, const char *key, const char *fallback)
{
    const char *name = python_name(python, key);
    for (size_t i = 0; i < python->parameter_count; i++) {
        struct parameter *known = &python->parameters[i];
        if (strcmp(known->name, name) != 0) continue;
        if (strcmp(known->key, key) != 0) fail(python, "two keys that have the same name in Python");
        if (fallback && known->fallback && strcmp(fallback, known->fallback) != 0) python->is_ambiguous = true;
        if (!fallback != !known->fallback) fail(python, "a value of what may not be given");
        return name;
    }
    SP_GROW(python->parameters, python->parameter_count, python->parameter_capacity);
    python->parameters[python->parameter_count++] = (struct parameter){name, key, fallback};
    return name;
}

/* The definition of the name in the unit, or in one that it extends; NULL when there is none. */
static const struct sp_definition *definition_in(const struct sp_unit *unit, const char *name)
{
    for (; unit; unit = unit->parent)
        for (size_t i = 0; i < unit->definition_count; i++)
            if (strcmp(unit->definitions[i].name, name) == 0) return &unit->definitions[i];
    return NULL;
}

/* A symbol of the formulas, by its name. */
static const struct sp_symbol_info *symbol_of(const struct python *python, const char *name)
{
    const struct sp_symbol_info *symbol = sp_sym_symbol(&python->count->symbolic, name);
    return symbol && strcmp(symbol->name, name) == 0 && !symbol->unset_key ? symbol : NULL;
}

/* What is defined above the claims: the parts of long formulas, and for each symbol what it is. */
static const struct sp_definition *own_definition(const struct python *python, const char *name)
{
    return definition_in(python->claims, name);
}

/* Whatever defines the name; NULL: it is a key. */
static const struct sp_definition *definition_of(const struct python *python, const char *name)
{
    const struct sp_definition *own = own_definition(python, name);
    return own ? own : definition_in(python->table, name);
}

static bool is_begun(const struct python *python, const char *name)
{
    for (size_t i = 0; i < python->name_count; i++)
        if (strcmp(python->names[i], name) == 0) return true;
    return false;
}

/* Whether the name stands for the key itself: nothing defines it, or it stands in the definition `under` (or NULL) of
 * the same name, "depth = depth default 2". */
static bool is_key(const struct python *python, const char *name, const char *under)
{
    return !is_bound(python, name) && (!definition_of(python, name) || (under && strcmp(name, under) == 0));
}

/* ---- definitions ---- */

/* Of "V = vocab_size default 50257" writes the parameter vocab_size, which gets the default 50257 in the head. False,
 * and nothing written, for any other definition. */
static bool put_plain_default(struct python *python, struct sp_text *line, const struct sp_definition *definition)
{
    const struct sp_expr *expr = definition->expr;
    if (!python->plain_defaults || expr->kind != SP_EXPR_DEFAULT || expr->args[1]->kind != SP_EXPR_LITERAL)
        return false;
    const char *key = sp_expr_key(&python->arena, expr->args[0]);
    if (!key || !is_key(python, key, definition->name)) return false;
    struct sp_text fallback = {0};
    put_expr(python, &fallback, expr->args[1]);
    sp_text_puts(line, add_parameter(python, key, sp_text_keep(&fallback, &python->arena)));
    return true;
}

/* What a symbol is: "origin_3 = 4*E" stands above the claims, the default of a hyper-parameter or an expression. */
static const struct sp_expr *origin_of(struct python *python, const struct sp_symbol_info *symbol)
{
    const size_t number = (size_t)(symbol - python->count->symbolic.symbols.items);
    const struct sp_definition *origin = own_definition(python, sp_arena_printf(&python->arena, "origin_%zu", number));
    return origin ? origin->expr : NULL;
}

static bool is_flag(const struct python *python, const struct sp_symbol_info *symbol)
{
    return python->count->symbolic.algebra.atoms[symbol->atom].is_condition;
}

/* The value of a symbol, behind "NAME = ":
 *
 *     vocab_size                                           a parameter that must be given
 *     n_inner if n_inner is not None else 4*E              one with a default that is computed
 *     n_layer                                              one with a plain default, which is that of the parameter
 *
 *     bool(use_bias)                                       a flag, for which 0 and 1 may be given too
 *     min(F, L)                                            one that is computed
 *
 * A key with a parenthesis, absent(KEY), is none that can be given. */
static void put_symbol(struct python *python, struct sp_text *line, const struct sp_symbol_info *symbol)
{
    const struct sp_expr *origin = origin_of(python, symbol);
    if (symbol->is_computed) {
        if (origin) put_expr(python, line, origin);
        else fail(python, sp_arena_printf(&python->arena, "'%s'", symbol->name));
        return;
    }
    if (strchr(symbol->key, '(')) fail(python, sp_arena_printf(&python->arena, "'%s'", symbol->key));
    if (!origin) {
        sp_text_printf(line, is_flag(python, symbol) ? "bool(%s)" : "%s", add_parameter(python, symbol->key, NULL));
        return;
    }
    const bool is_literal = origin->kind == SP_EXPR_LITERAL, is_plain = is_literal && python->plain_defaults;
    /* before put_expr, so that it stands in the head in front of the parameters that its default adds */
    const char *key = is_plain ? NULL : add_parameter(python, symbol->key, "None");
    struct sp_text text = {0};
    if (is_literal && is_flag(python, symbol)) sp_text_puts(&text, origin->value.integer ? "True" : "False");
    else put_expr(python, &text, origin);
    const char *fallback = sp_text_keep(&text, &python->arena);
    if (is_plain) sp_text_puts(line, add_parameter(python, symbol->key, fallback));
    else sp_text_printf(line, "%s if %s is not None else %s", key, key, fallback);
}

/* Writes the line of a name, unless it is written: "    H = n_inner if n_inner is not None else 4*E". Lines that it
 * needs are written first, while its own is put together. Nothing is written for "x = x", where the parameter has the
 * name already. The name is that of a symbol or of a definition; one above the claims goes before a symbol. */
static void write_definition_once(struct python *python, const char *table_name)
{
    static const char indent[] = "    ";
    struct sp_text line = {0};
    const size_t outer = python->bound_count;
    if (is_begun(python, table_name)) return;
    SP_GROW(python->names, python->name_count, python->name_capacity);
    python->names[python->name_count++] = table_name;
    const struct sp_symbol_info *symbol = symbol_of(python, table_name);
    const struct sp_definition *definition = definition_of(python, table_name);
    const char *name = python_name(python, table_name);
    sp_text_printf(&line, "%s%s = ", indent, name);
    if (symbol && !own_definition(python, table_name)) put_symbol(python, &line, symbol);
    else if (definition->is_function) {
        sp_text_puts(&line, "lambda ");
        for (size_t i = 0; i < definition->param_count; i++) {
            bind(python, definition->params[i]);
            sp_text_printf(&line, "%s%s", i ? ", " : "", python_name(python, definition->params[i]));
        }
        sp_text_puts(&line, ": ");
        put_expr(python, &line, definition->expr);
    } else if (!put_plain_default(python, &line, definition)) put_expr(python, &line, definition->expr);
    python->bound_count = outer;
    const bool says_nothing = strcmp(line.data, sp_arena_printf(&python->arena, "%s%s = %s", indent, name, name)) == 0;
    if (!says_nothing) sp_text_printf(&python->body, "%s\n", line.data);
    sp_text_free(&line);
}

/* ---- expressions ---- */

/* The arguments of the expression with commas between them. */
static void put_list(struct python *python, struct sp_text *text, const struct sp_expr *expr, const char *before,
                     const char *behind)
{
    sp_text_puts(text, before);
    for (size_t i = 0; i < expr->count; i++) {
        if (i) sp_text_puts(text, ", ");
        put_expr(python, text, expr->args[i]);
    }
    sp_text_puts(text, behind);
}

static void put_value(struct python *python, struct sp_text *text, struct shapeproof_value value)
{
    if (value.type == SHAPEPROOF_VALUE_BOOL) sp_text_puts(text, value.boolean ? "True" : "False");
    else if (value.type == SHAPEPROOF_VALUE_INT || value.type == SHAPEPROOF_VALUE_REAL ||
             value.type == SHAPEPROOF_VALUE_STRING)
        sp_value_json(text, value);
    else if (value.type == SHAPEPROOF_VALUE_NULL) sp_text_puts(text, "None");
    else fail(python, "this literal");
}

/* A name: one that is bound, one whose line is written first, or else a key that must be given. */
static void put_name(struct python *python, struct sp_text *text, const char *name)
{
    const bool is_known = !is_bound(python, name) && (symbol_of(python, name) || definition_of(python, name));
    if (is_known) write_definition_once(python, name);
    if (is_known || is_bound(python, name)) sp_text_puts(text, python_name(python, name));
    else sp_text_puts(text, add_parameter(python, name, NULL));
}

/* "a default b" as "(a if a is not None else b)". A key without a definition, or whose line is being written, is its
 * parameter. */
static void put_default(struct python *python, struct sp_text *text, const struct sp_expr *expr)
{
    struct sp_text value = {0};
    const char *key = sp_expr_key(&python->arena, expr->args[0]);
    if (key && !is_bound(python, key) && (!definition_of(python, key) || is_begun(python, key)))
        sp_text_puts(&value, add_parameter(python, key, "None"));
    else put_expr(python, &value, expr->args[0]);
    sp_text_printf(text, "(%s if %s is not None else ", value.data, value.data);
    put_expr(python, text, expr->args[1]);
    sp_text_puts(text, ")");
    sp_text_free(&value);
}

/* Whether a divisor is 0 by default: the formula has a factor of 0 beside the quotient then, but Python computes both.
 */
static bool may_be_0(struct python *python, const struct sp_expr *expr)
{
    const char *key = sp_expr_key(&python->arena, expr);
    const struct sp_symbol_info *symbol = key ? symbol_of(python, key) : NULL;
    const struct sp_expr *origin = symbol ? origin_of(python, symbol) : NULL;
    return origin && origin->kind == SP_EXPR_LITERAL && origin->value.type == SHAPEPROOF_VALUE_INT &&
           origin->value.integer == 0;
}

static const char *operator_of(enum sp_op op)
{
    static const char *const operators[] = {
        [SP_OP_ADD] = " + ", [SP_OP_SUB] = " - ",         [SP_OP_MUL] = "*",     [SP_OP_FLOOR] = " // ",
        [SP_OP_MOD] = " % ", [SP_OP_POW] = "**",          [SP_OP_EQ] = " == ",   [SP_OP_NE] = " != ",
        [SP_OP_LT] = " < ",  [SP_OP_LE] = " <= ",         [SP_OP_GT] = " > ",    [SP_OP_GE] = " >= ",
        [SP_OP_IN] = " in ", [SP_OP_NOT_IN] = " not in ", [SP_OP_AND] = " and ", [SP_OP_OR] = " or "};
    return operators[op];
}

/* Whether what is written for the expression is one word, or stands in brackets. */
static bool is_simple(const struct sp_expr *expr)
{
    return expr->kind == SP_EXPR_NAME || expr->kind == SP_EXPR_LITERAL || expr->kind == SP_EXPR_CALL ||
           expr->kind == SP_EXPR_INDEX || expr->kind == SP_EXPR_MEMBER || expr->kind == SP_EXPR_BRACKET ||
           expr->kind == SP_EXPR_SUM || expr->kind == SP_EXPR_LIST || expr->kind == SP_EXPR_DEFAULT ||
           expr->kind == SP_EXPR_CHOICE;
}

enum side { LEFT, RIGHT };

/* Writes an operand of `op` in parentheses, where it needs them. It needs none when it is simple, a product or a power
 * in a sum, a power in a product, or a sum or product of the same kind on the left side. */
static void put_operand(struct python *python, struct sp_text *text, const struct sp_expr *expr, enum sp_op op,
                        enum side side)
{
    const bool left = side == LEFT;
    const bool additive = op == SP_OP_ADD || op == SP_OP_SUB;
    const bool binary = expr->kind == SP_EXPR_BINARY;
    const bool whole =
        is_simple(expr) ||
        (binary && additive && (expr->op == SP_OP_MUL || expr->op == SP_OP_POW || expr->op == SP_OP_DIV)) ||
        (binary && additive && left && (expr->op == SP_OP_ADD || expr->op == SP_OP_SUB)) ||
        (binary && op == SP_OP_MUL && (expr->op == SP_OP_POW || (left && expr->op == SP_OP_MUL)));
    if (!whole) sp_text_puts(text, "(");
    put_expr(python, text, expr);
    if (!whole) sp_text_puts(text, ")");
}

/* An operation of two operands. A division is one of fractions, which Python computes exactly. */
static void put_binary(struct python *python, struct sp_text *text, const struct sp_expr *expr)
{
    if ((expr->op == SP_OP_DIV || expr->op == SP_OP_FLOOR || expr->op == SP_OP_MOD) && may_be_0(python, expr->args[1]))
        fail(python, "a division by what may be 0");
    if (expr->op == SP_OP_DIV) { /* exact, of numbers of any size */
        sp_text_puts(text, "Fraction(");
        put_expr(python, text, expr->args[0]);
        sp_text_puts(text, ") / ");
        put_operand(python, text, expr->args[1], expr->op, RIGHT);
        return;
    }
    put_operand(python, text, expr->args[0], expr->op, LEFT);
    sp_text_puts(text, operator_of(expr->op));
    put_operand(python, text, expr->args[1], expr->op, RIGHT);
}

/* Whatever the expression is, in parentheses unless it is simple. */
static void put_closed(struct python *python, struct sp_text *text, const struct sp_expr *expr)
{
    put_operand(python, text, expr, SP_OP_POW, RIGHT);
}

/* sum(i in 0..N-1: body) as "sum(body for i in range(0, N - 1 + 1))"; of count(...) the truth of the body is summed. */
static void put_sum(struct python *python, struct sp_text *text, const struct sp_expr *expr)
{
    const bool counts = expr->value.type == SHAPEPROOF_VALUE_BOOL && expr->value.boolean;
    sp_text_puts(text, counts ? "sum(bool(" : "sum(");
    bind(python, expr->name);
    put_expr(python, text, expr->args[2]);
    python->bound_count--;
    sp_text_printf(text, "%s for %s in range(", counts ? ")" : "", python_name(python, expr->name));
    put_expr(python, text, expr->args[0]);
    sp_text_puts(text, ", ");
    put_expr(python, text, expr->args[1]);
    sp_text_puts(text, " + 1))");
}

/* absent(KEY) as "no_KEY", which a line above all definitions computes: one of these may give the key its default. */
static void put_absent(struct python *python, struct sp_text *text, const char *key)
{
    const char *name = add_parameter(python, key, "None");
    const char *line = sp_arena_printf(&python->arena, "    no_%s = %s is None\n", name, name);
    if (!python->tests.data || !strstr(python->tests.data, line)) sp_text_puts(&python->tests, line);
    sp_text_printf(text, "no_%s", name);
}

/* absent(KEY) and null(KEY): None stands for what is not given, and nothing for null. */
static void put_missing(struct python *python, struct sp_text *text, const struct sp_expr *expr)
{
    const char *key = sp_expr_key(&python->arena, expr->args[0]);
    if (key && strcmp(expr->name, "null") == 0) sp_text_puts(text, "False");
    else if (key) put_absent(python, text, key);
    else fail(python, "absent() of an expression");
}

/* A call of a function: one that the table defines, absent() or null(), or one of the language. For the last the table
 * below has a pattern, in which $1 is the first argument and $* all of them. sum() of several lists has none. */
static void put_call(struct python *python, struct sp_text *text, const struct sp_expr *expr)
{
    static const struct {
        const char *name, *pattern;
    } calls[] = {{"min", "min($*)"},
                 {"max", "max($*)"},
                 {"len", "len($1)"},
                 {"int", "int($1)"},
                 {"sum", "sum($1)"},
                 {"ceil_div", "(-(-($1) // ($2)))"},
                 {"round_up", "(-(-($1) // ($2)) * ($2))"},
                 {"at", "($1 if isinstance($1, int) else $1[$2])"},
                 {"starts_with", "str.startswith($1, $2)"},
                 {"ends_with", "str.endswith($1, $2)"}};
    const struct sp_definition *own = is_bound(python, expr->name) ? NULL : definition_of(python, expr->name);
    if (own) {
        write_definition_once(python, expr->name);
        put_list(python, text, expr, sp_arena_printf(&python->arena, "%s(", python_name(python, expr->name)), ")");
        return;
    }
    if (strcmp(expr->name, "absent") == 0 || strcmp(expr->name, "null") == 0) {
        put_missing(python, text, expr);
        return;
    }
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        if (strcmp(calls[i].name, expr->name) != 0) continue;
        if (strcmp(expr->name, "sum") == 0 && expr->count != 1) break;
        for (const char *at = calls[i].pattern; *at; at++) {
            if (*at != '$') sp_text_append(text, at, 1);
            else if (*++at == '*') put_list(python, text, expr, "", "");
            else put_expr(python, text, expr->args[*at - '1']);
        }
        return;
    }
    fail(python, sp_arena_printf(&python->arena, "%s()", expr->name));
}

/* Whether Python makes True or False of it, whatever the operands are: not of `a and b`, which is a or b. */
static bool is_comparison(const struct sp_expr *expr)
{
    return (expr->kind == SP_EXPR_BINARY && expr->op >= SP_OP_EQ && expr->op <= SP_OP_NOT_IN) ||
           (expr->kind == SP_EXPR_UNARY && expr->op == SP_OP_NOT);
}

/* "patch_size[0]", where that is a symbol; NULL of another item. */
static const char *side_of_pair(struct python *python, const struct sp_expr *expr)
{
    const struct sp_expr *index = expr->args[1];
    const char *key = sp_expr_key(&python->arena, expr->args[0]);
    if (!key || index->kind != SP_EXPR_LITERAL || index->value.type != SHAPEPROOF_VALUE_INT) return NULL;
    const char *name = sp_arena_printf(&python->arena, "%s[%d]", key, (int)index->value.integer);
    return symbol_of(python, name) ? name : NULL;
}

/* Appends the expression as Python; what has no counterpart there makes the function fail. [CONDITION] is 0 or 1:
 * int() of a comparison, and of anything else, which may be a number such as 5, int() of its truth. */
static void put_expr(struct python *python, struct sp_text *text, const struct sp_expr *expr)
{
    const char *key;
    switch (expr->kind) {
    case SP_EXPR_LITERAL:
        put_value(python, text, expr->value);
        break;
    case SP_EXPR_NAME:
        put_name(python, text, expr->name);
        break;
    case SP_EXPR_MEMBER:
        if ((key = sp_expr_key(&python->arena, expr)) != NULL)
            put_name(python, text, sp_arena_string(&python->arena, key));
        else fail(python, "a member of an expression");
        break;
    case SP_EXPR_LIST:
        put_list(python, text, expr, "[", "]");
        break;
    case SP_EXPR_UNARY:
        sp_text_puts(text, expr->op == SP_OP_NOT ? "(not " : "(-");
        put_closed(python, text, expr->args[0]);
        sp_text_puts(text, ")");
        break;
    case SP_EXPR_BINARY:
        put_binary(python, text, expr);
        break;
    case SP_EXPR_CHOICE:
        sp_text_puts(text, "(");
        put_expr(python, text, expr->args[1]);
        sp_text_puts(text, " if ");
        put_expr(python, text, expr->args[0]);
        sp_text_puts(text, " else ");
        put_expr(python, text, expr->args[2]);
        sp_text_puts(text, ")");
        break;
    case SP_EXPR_DEFAULT:
        put_default(python, text, expr);
        break;
    case SP_EXPR_CALL:
        put_call(python, text, expr);
        break;
    case SP_EXPR_INDEX:
        if ((key = side_of_pair(python, expr)) != NULL) {
            put_name(python, text, key);
            break;
        }
        put_closed(python, text, expr->args[0]);
        sp_text_puts(text, "[");
        put_expr(python, text, expr->args[1]);
        sp_text_puts(text, "]");
        break;
    case SP_EXPR_BRACKET:
        sp_text_puts(text, is_comparison(expr->args[0]) ? "int(" : "int(bool(");
        put_expr(python, text, expr->args[0]);
        sp_text_puts(text, is_comparison(expr->args[0]) ? ")" : "))");
        break;
    case SP_EXPR_SUM:
        put_sum(python, text, expr);
        break;
    default:
        fail(python, "this expression");
    }
}

/* ---- the function ---- */

/* The number that the table predicts when nothing is given; false when something must be. */
static bool usual_total(const struct shapeproof_tables *tables, const char *table, uint64_t *total)
{
    struct shapeproof_error ignored = {0};
    struct shapeproof_config *none = shapeproof_config_new();
    const struct shapeproof_predict_options what = {.table = table};
    struct shapeproof_prediction *prediction = shapeproof_predict(tables, none, &what, &ignored);
    if (prediction) *total = shapeproof_prediction_totals(prediction)->unique_parameters;
    shapeproof_config_free(none);
    const bool found = prediction != NULL;
    shapeproof_prediction_free(prediction);
    return found;
}

/* Whether the formula of the total gives the predicted number with the defaults of its symbols: then the function does,
 * too. It need not, as a table may have different defaults for one key. */
static bool gives_usual_total(struct sp_count *count, uint64_t predicted)
{
    struct sp_values values = {0};
    struct sp_rational number;
    for (size_t i = 0; i < count->symbolic.symbols.count; i++) {
        const struct sp_symbol_info *symbol = &count->symbolic.symbols.items[i];
        if (symbol->unset_key) /* null(KEY) is false, absent(KEY) true */
            sp_values_add(&values, symbol->atom, sp_poly_int(&count->symbolic.algebra, *symbol->key != 'n'));
    }
    sp_values_add_defaults(count, &values, SP_DEFAULTS_OF_ALL);
    const struct sp_poly *general = sp_case_general(count, count->total);
    const struct sp_poly *total = general ? sp_reduce(count, general, &values) : NULL;
    sp_values_free(&values);
    return total && sp_poly_is_constant(total, &number) && number.den == 1 && (uint64_t)number.num == predicted;
}

/* "name", as a string of Python. */
static void put_quoted(struct sp_text *text, const char *name) { sp_value_json(text, sp_value_string(name)); }

/* Writes the end of the function: an assertion for each assumption, and the numbers by group. An assumption is a
 * condition, `not tied` or `F <= L`; one that gives a value, `H = 4*E`, stands nowhere in the claims that derive
 * writes, and is refused. */
static void put_groups(struct python *python, struct sp_text *text)
{
    for (size_t i = 0; i < python->claims->given_count; i++) {
        const struct sp_argument *given = &python->claims->given[i];
        sp_text_puts(text, "    assert ");
        if (given->name) fail(python, "this premise");
        put_expr(python, text, given->expr);
        sp_text_puts(text, "\n");
    }
    sp_text_puts(text, "    return {\n");
    for (size_t i = 0; i < python->claims->claim_count; i++) {
        const struct sp_claim *claim = &python->claims->claims[i];
        const char *name = claim->left->kind == SP_EXPR_NAME ? "total" : claim->left->name;
        sp_text_puts(text, "        ");
        put_quoted(text, name);
        struct sp_text formula = {0};
        put_expr(python, &formula, claim->right);
        const bool is_number = claim->right->kind == SP_EXPR_BINARY || claim->right->kind == SP_EXPR_LITERAL;
        const bool is_whole = is_number && !strstr(formula.data, "Fraction(");
        sp_text_printf(text, is_whole ? ": %s,\n" : ": int(%s),\n", formula.data); /* of a flag, or a fraction */
        sp_text_free(&formula);
    }
    sp_text_puts(text, "    }\n");
}

/* def NAME(*, KEY=DEFAULT, ...): those that must be given first. */
static void put_head(struct python *python, struct sp_text *text, const char *name)
{
    enum { LINE = 100 }; /* columns */
    size_t begin = text->length;
    sp_text_printf(text, "def %s(", python_name(python, name));
    if (python->parameter_count) sp_text_puts(text, "*");
    for (int with_fallback = 0; with_fallback < 2; with_fallback++)
        for (size_t i = 0; i < python->parameter_count; i++) {
            const struct parameter *one = &python->parameters[i];
            if ((one->fallback != NULL) != (with_fallback == 1)) continue;
            const char *fallback = one->fallback ? one->fallback : "";
            const bool fits = text->length - begin + strlen(one->name) + strlen(fallback) + 3 < LINE;
            if (!fits) begin = text->length;
            sp_text_printf(text, fits ? ", %s" : ",\n    %s", one->name);
            if (one->fallback) sp_text_printf(text, "=%s", one->fallback);
        }
    sp_text_puts(text, "):\n");
}

/* The text of the whole file: the function, and a test that it gives the predicted total where every parameter has a
 * default. Allocated; it means nothing when python->failed is set. */
static char *write_function(struct python *python, const struct shapeproof_tables *tables, size_t *length)
{
    struct sp_text groups = {0}, text = {0};
    const char *table = python->table->name;
    uint64_t total;
    bool is_complete = true;
    put_groups(python, &groups);
    if (python->is_ambiguous) { /* once more, with None in the head for all defaults */
        python->plain_defaults = python->is_ambiguous = false;
        python->parameter_count = python->name_count = 0;
        sp_text_free(&python->tests);
        sp_text_free(&python->body);
        sp_text_free(&groups);
        put_groups(python, &groups);
    }
    if (strstr(groups.data, "Fraction(") || (python->body.data && strstr(python->body.data, "Fraction(")))
        sp_text_puts(&text, "from fractions import Fraction\n\n\n");
    put_head(python, &text, table);
    sp_text_printf(&text, "    \"\"\"The number of parameters of each group of %s, and in total.", table);
    sp_text_printf(&text, "\"\"\"\n%s%s%s", python->tests.data ? python->tests.data : "",
                   python->body.data ? python->body.data : "", groups.data);
    for (size_t i = 0; i < python->parameter_count; i++) is_complete &= python->parameters[i].fallback != NULL;
    const bool is_usual = is_complete && usual_total(tables, table, &total);
    if (is_usual && !gives_usual_total(python->count, total)) fail(python, "defaults that differ from place to place");
    if (is_usual)
        sp_text_printf(&text, "\n\nif __name__ == \"__main__\":\n    assert %s()[\"total\"] == %llu\n",
                       python_name(python, table), (unsigned long long)total);
    sp_text_free(&groups);
    if (length) *length = text.length;
    return text.data; /* handed over */
}

/* The claims among the tables that were parsed; the other one is the stub of put_origins. */
static const struct sp_unit *claims_of(const struct shapeproof_tables *tables)
{
    for (size_t i = 0; i < tables->own.count; i++)
        if (tables->own.items[i]->about) return tables->own.items[i];
    return NULL;
}

/* The claims with a definition for each symbol below their first line, of what it is by default or computed from, so
 * that these are parsed like the rest:
 *
 *     table gpt2              a stub, so that "claims for gpt2" refers to something
 *     weight (1)
 *     claims for gpt2
 *     origin_4 = 4*E          the default of symbol 4, n_inner
 *     claim total = ...
 *
 * In a default null(KEY) counts as false: the function takes None for what is not given, and knows no null. */
static void put_origins(struct sp_count *count, const struct sp_text *claims, struct sp_text *text)
{
    const size_t heading = strcspn(claims->data, "\n") + 1;
    struct sp_values not_null = {0};
    sp_text_printf(text, "table %s\nweight (1)\n\n", count->table->name);
    sp_text_append(text, claims->data, heading);
    for (size_t i = 0; i < count->symbolic.symbols.count; i++) {
        const struct sp_symbol_info *symbol = &count->symbolic.symbols.items[i];
        if (symbol->unset_key && strncmp(symbol->key, "null(", 5) == 0)
            sp_values_add(&not_null, symbol->atom, sp_poly_int(&count->symbolic.algebra, 0));
    }
    for (size_t i = 0; i < count->symbolic.symbols.count; i++) {
        const struct sp_symbol_info *symbol = &count->symbolic.symbols.items[i];
        const struct sp_poly *fallback = symbol->fallback ? sp_reduce(count, symbol->fallback, &not_null) : NULL;
        const char *origin = symbol->is_computed ? symbol->key
                             : fallback          ? sp_sym_text(&count->symbolic, fallback)
                                                 : NULL;
        if (origin && !symbol->is_ambiguous) sp_text_printf(text, "origin_%zu = %s\n", i, origin);
    }
    sp_values_free(&not_null);
    sp_text_puts(text, claims->data + heading);
}

char *shapeproof_derive_python(const struct shapeproof_tables *tables, const char *table, size_t *length,
                               struct shapeproof_error *error)
{
    SP_CALL(error, NULL);
    SP_SPENDS("deriving the formulas");
    sp_error_reset(error);
    assert(tables && table);
    struct sp_count count;
    struct sp_text claims = {0}, text = {0};
    char *function = NULL;
    const struct sp_unit *unit = sp_tables_table(tables, table, error);
    if (!unit) return NULL;
    struct python python = {.table = unit, .count = &count, .plain_defaults = true};
    struct shapeproof_tables *parsed = NULL;
    if (sp_derive_claims(&count, tables, unit, SP_KEYS_IN_FULL, &claims, error) &&
        (parsed = shapeproof_tables_new(error)) != NULL) {
        put_origins(&count, &claims, &text);
        if (shapeproof_tables_add_text(parsed, "claims", text.data, text.length, error) == SHAPEPROOF_OK) {
            python.claims = claims_of(parsed);
            function = write_function(&python, tables, length);
        }
    }
    if (function && python.failed) {
        sp_fail(error, SHAPEPROOF_ERR_UNKNOWN, SHAPEPROOF_KIND_LIMIT,
                "the formula of '%s' needs %s, which is not written in Python", table, python.failed);
        sp_free(function);
        function = NULL;
    }
    shapeproof_tables_free(parsed);
    sp_free(python.parameters);
    sp_free(python.names);
    sp_text_free(&python.tests);
    sp_text_free(&python.body);
    sp_text_free(&claims);
    sp_text_free(&text);
    sp_arena_free(&python.arena);
    sp_count_free(&count);
    return function;
}
