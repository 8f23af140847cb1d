/* SPDX-License-Identifier: MIT
 * solve for the value of an expression, such as cache(tokens = 8192, dtype = bf16), in place of a number of parameters.
 * Besides the hyper-parameters, the arguments of its measures can be solved for: here the number of tokens. */
#include <assert.h>
#include <string.h>

#include "base/error.h"
#include "prove/claims.h"
#include "prove/solve.h"
#include "prove/symbolic/operate.h"

const struct sp_poly *sp_solve_expression(const struct sp_solve_question *question, const struct sp_expr *expr,
                                          struct sp_count *count)
{
    struct sp_symbolic *symbolic = &count->symbolic;
    struct sp_trial trial = {
        .arena = &symbolic->algebra.arena, .count = count, .unit = question->unit, .claim = question->claim};
    const struct sp_sym_env env = sp_trial_env(&trial);
    struct sp_sym sym;
    const struct sp_poly *poly;
    symbolic->algebra.work = 0;
    symbolic->steps = 0;
    const bool good = sp_sym_eval(symbolic, &env, expr, &sym) && sp_sym_as_number(symbolic, expr->span, sym, &poly);
    return good && !symbolic->algebra.failed ? poly : NULL;
}

/* ---- monotone expressions ---- */

static bool is_positive_number(const struct sp_expr *expr)
{
    const struct shapeproof_value value = expr->value;
    return expr->kind == SP_EXPR_LITERAL && ((value.type == SHAPEPROOF_VALUE_INT && value.integer > 0) ||
                                             (value.type == SHAPEPROOF_VALUE_REAL && value.real > 0));
}

static bool is_measure(const struct sp_expr *expr)
{
    switch (expr->kind) {
    case SP_EXPR_GROUP:
    case SP_EXPR_STORED:
    case SP_EXPR_ACTIVE:
    case SP_EXPR_CACHE:
    case SP_EXPR_SIZING:
    case SP_EXPR_ACTIVATIONS:
    case SP_EXPR_FLOPS:
        return true;
    default:
        return false;
    }
}

bool sp_solve_is_monotone(const struct sp_expr *expr)
{
    if (is_positive_number(expr)) return true;
    if (is_measure(expr)) { /* a number in it is a literal: tokens = 8192 - n would fall with n */
        for (size_t i = 0; i < expr->count; i++)
            if (expr->args[i] && expr->args[i]->kind != SP_EXPR_LITERAL) return false;
        return true;
    }
    if (expr->kind != SP_EXPR_BINARY) return false;
    if (expr->op == SP_OP_DIV) return sp_solve_is_monotone(expr->args[0]) && is_positive_number(expr->args[1]);
    return (expr->op == SP_OP_ADD || expr->op == SP_OP_MUL) && sp_solve_is_monotone(expr->args[0]) &&
           sp_solve_is_monotone(expr->args[1]);
}

/* ---- arguments ---- */

/* The argument of a measure at `index`, as it is called; NULL for one that is not solved for, such as a dtype. */
static const char *argument_name(const struct sp_expr *expr, size_t index)
{
    static const char *const of_cache[SP_CACHE_ARGUMENTS] = {[SP_CACHE_TOKENS] = "tokens",
                                                             [SP_CACHE_BATCH] = "batch",
                                                             [SP_CACHE_SOURCE_TOKENS] = "source_tokens",
                                                             [SP_CACHE_IMAGES] = "images"};
    static const char *const of_activations[SP_ACTIVATIONS_ARGUMENTS] = {
        [SP_ACTIVATIONS_TOKENS] = "tokens", [SP_ACTIVATIONS_BATCH] = "batch"};
    if (expr->kind == SP_EXPR_CACHE) return of_cache[index];
    if (expr->kind == SP_EXPR_ACTIVATIONS) return of_activations[index];
    if (expr->kind == SP_EXPR_FLOPS) return sp_flops_names[index];
    const bool is_lora = expr->kind == SP_EXPR_SIZING && expr->sizing->kind == SP_SIZING_LORA;
    return is_lora && index == 0 ? "rank" : NULL;
}

/* Adds the argument to the list, once. */
static void add_argument(struct sp_solve_arguments *arguments, const char *name, int64_t value)
{
    size_t i = 0;
    while (i < arguments->count && strcmp(arguments->items[i].name, name) != 0) i++;
    if (i < arguments->count) {
        if (arguments->items[i].value != value) arguments->items[i].is_ambiguous = true;
        return;
    }
    assert(arguments->count < sizeof arguments->items / sizeof *arguments->items);
    arguments->items[arguments->count++] = (struct sp_solve_argument){.name = name, .value = value};
}

void sp_solve_find_arguments(const struct sp_expr *expr, struct sp_solve_arguments *arguments)
{
    for (size_t i = 0; i < expr->count; i++) {
        const struct sp_expr *arg = expr->args[i];
        const char *name = argument_name(expr, i);
        if (name && arg->kind == SP_EXPR_LITERAL && arg->value.type == SHAPEPROOF_VALUE_INT)
            add_argument(arguments, name, arg->value.integer);
        else sp_solve_find_arguments(arg, arguments);
    }
}

/* A copy of the expression in the arena, in which the argument of that name has another value wherever it is a number:
 * of cache(tokens = 8192, dtype = bf16) with tokens = 9, cache(tokens = 9, dtype = bf16). */
static struct sp_expr *with_argument(struct sp_arena *arena, const struct sp_expr *expr, const char *name,
                                     int64_t value)
{
    struct sp_expr *copy = sp_arena_array(arena, 1, sizeof *copy);
    *copy = *expr;
    if (expr->count) copy->args = sp_arena_array(arena, expr->count, sizeof *copy->args);
    for (size_t i = 0; i < expr->count; i++) {
        const char *own = argument_name(expr, i);
        copy->args[i] = with_argument(arena, expr->args[i], name, value);
        const bool is_given = copy->args[i]->kind == SP_EXPR_LITERAL && sp_value_is_set(copy->args[i]->value);
        if (own && strcmp(own, name) == 0 && is_given) copy->args[i]->value = sp_value_int(value);
    }
    return copy;
}

bool sp_solve_count_argument(const struct sp_solve_question *question, struct sp_count *settled, const char *name,
                             int64_t value, struct sp_rational *number)
{
    if (settled->table && sp_count_is_large(settled)) {
        sp_count_free(settled);
        *settled = (struct sp_count){.table = NULL};
    }
    if (!settled->table &&
        !sp_count_settled(settled, question->tables, question->table, sp_config_hyper(question->config)))
        return false;
    struct sp_symbolic *symbolic = &settled->symbolic;
    const struct sp_expr *expr = with_argument(&symbolic->algebra.arena, question->claim->left, name, value);
    const struct sp_poly *poly = sp_solve_expression(question, expr, settled);
    const bool good = poly && sp_poly_is_constant(poly, number);
    symbolic->algebra.failed = NULL; /* so that it can be evaluated with the next value */
    symbolic->report.mistakes = 0;
    sp_text_free(&settled->messages);
    return good;
}
