/* SPDX-License-Identifier: MIT */
#include "infer/alternatives.h"

enum { MAX_DEPTH = 24 };

struct search {
    struct sp_outline *outline;
    const struct sp_assumption *assumed;
    struct sp_assumption *lacking;
    unsigned depth;
};

static bool evaluate(struct search *search, const struct sp_env *env, const struct sp_expr *expr,
                     struct sp_value *value);

/* Two names of one condition are one condition. */
static struct sp_assumption named_condition(const struct sp_env *env, const struct sp_expr *expr)
{
    struct sp_assumption named = {.condition = expr, .env = *env};
    for (int depth = 0; depth < MAX_DEPTH && named.condition->kind == SP_EXPR_NAME; depth++) {
        struct sp_assumption opened = named;
        if (!sp_meaning_open(&opened.env, &opened.condition)) break;
        named = opened;
    }
    return named;
}

static bool choose(struct search *search, const struct sp_env *env, const struct sp_expr *expr, struct sp_value *value)
{
    const struct sp_assumption needed = named_condition(env, expr->args[0]);
    struct sp_value condition;
    if (!sp_outline_eval(search->outline, env, expr->args[0], &condition)) return false;
    if (condition.type == SP_BOOL) return evaluate(search, env, expr->args[condition.boolean ? 1 : 2], value);
    for (const struct sp_assumption *one = search->assumed; one; one = one->outer)
        if (one->condition == needed.condition && one->env.frame == needed.env.frame)
            return evaluate(search, env, expr->args[one->holds ? 1 : 2], value);
    if (condition.type == SP_UNKNOWN && !search->lacking->condition) *search->lacking = needed;
    return true;
}

static bool join(struct search *search, const struct sp_env *env, const struct sp_expr *expr, struct sp_value *value)
{
    struct sp_value left, right;
    if (!evaluate(search, env, expr->args[0], &left) || !evaluate(search, env, expr->args[1], &right)) return false;
    if (left.type == SP_STRING && right.type == SP_STRING)
        *value = sp_value_string(sp_arena_printf(&search->outline->arena, "%s%s", left.string, right.string));
    else if (left.type == SP_INT && right.type == SP_INT &&
             __builtin_add_overflow(left.integer, right.integer, &left.integer))
        return false;
    else if (left.type == SP_INT && right.type == SP_INT) *value = left;
    return true;
}

/* Only what is unknown as a whole is looked into. */
static bool evaluate(struct search *search, const struct sp_env *env, const struct sp_expr *expr,
                     struct sp_value *value)
{
    struct sp_env own = *env;
    if (!sp_outline_eval(search->outline, env, expr, value)) return false;
    if (value->type != SP_UNKNOWN || search->depth == MAX_DEPTH) return true;
    bool good = true;
    search->depth++;
    if (expr->kind == SP_EXPR_NAME && sp_meaning_open(&own, &expr)) good = evaluate(search, &own, expr, value);
    else if (expr->kind == SP_EXPR_CHOICE) good = choose(search, env, expr, value);
    else if (expr->kind == SP_EXPR_BINARY && expr->op == SP_OP_ADD) good = join(search, env, expr, value);
    search->depth--;
    return good;
}

bool sp_assume_eval(struct sp_outline *outline, const struct sp_assumption *assumed, const struct sp_env *env,
                    const struct sp_expr *expr, struct sp_value *value, struct sp_assumption *lacking)
{
    return evaluate(&(struct search){.outline = outline, .assumed = assumed, .lacking = lacking}, env, expr, value);
}

const struct sp_expr *sp_assumption_expr(struct sp_outline *outline, const struct sp_assumption *assumption)
{
    if (assumption->holds) return assumption->condition;
    struct sp_expr *opposite = sp_arena_alloc(&outline->arena, sizeof *opposite);
    struct sp_expr **operand = sp_arena_alloc(&outline->arena, sizeof *operand);
    *operand = sp_arena_alloc(&outline->arena, sizeof **operand);
    **operand = *assumption->condition;
    *opposite = (struct sp_expr){
        .kind = SP_EXPR_UNARY, .op = SP_OP_NOT, .span = assumption->condition->span, .args = operand, .count = 1};
    return opposite;
}
