/* SPDX-License-Identifier: MIT */
#include "solve/alternatives.h"

#include "solve/limits.h"

#include <stdlib.h>

struct search {
    struct sp_outline *outline;
    const struct sp_assumption *assumed;
    struct sp_assumption *lacking;
    unsigned depth;
};

static bool evaluate(struct search *search, const struct sp_env *env, const struct sp_expr *expr,
                     struct shapeproof_value *value);

/* Two names of one condition are one condition. */
static struct sp_assumption named_condition(const struct sp_env *env, const struct sp_expr *expr)
{
    struct sp_assumption named = {.condition = expr, .env = *env};
    for (int depth = 0; depth < SP_DEEPEST_ALTERNATIVES && named.condition->kind == SP_EXPR_NAME; depth++) {
        struct sp_assumption opened = named;
        if (!sp_meaning_open(&opened.env, &opened.condition)) break;
        named = opened;
    }
    return named;
}

static bool choose_alternative(struct search *search, const struct sp_env *env, const struct sp_expr *expr,
                               struct shapeproof_value *value)
{
    const struct sp_assumption needed = named_condition(env, expr->args[0]);
    struct shapeproof_value condition;
    if (!sp_solver_eval(&search->outline->solver, env, expr->args[0], &condition)) return false;
    if (condition.type == SHAPEPROOF_VALUE_BOOL)
        return evaluate(search, env, expr->args[condition.boolean ? 1 : 2], value);
    for (const struct sp_assumption *one = search->assumed; one; one = one->outer)
        if (one->condition == needed.condition && one->env.frame == needed.env.frame)
            return evaluate(search, env, expr->args[one->holds ? 1 : 2], value);
    if (condition.type == SHAPEPROOF_VALUE_UNKNOWN && !search->lacking->condition) *search->lacking = needed;
    return true;
}

static bool join_alternatives(struct search *search, const struct sp_env *env, const struct sp_expr *expr,
                              struct shapeproof_value *value)
{
    struct shapeproof_value left, right;
    if (!evaluate(search, env, expr->args[0], &left) || !evaluate(search, env, expr->args[1], &right)) return false;
    if (left.type == SHAPEPROOF_VALUE_STRING && right.type == SHAPEPROOF_VALUE_STRING)
        *value = sp_value_string(sp_arena_printf(&search->outline->solver.arena, "%s%s", left.string, right.string));
    else if (left.type == SHAPEPROOF_VALUE_INT && right.type == SHAPEPROOF_VALUE_INT &&
             __builtin_add_overflow(left.integer, right.integer, &left.integer))
        return false;
    else if (left.type == SHAPEPROOF_VALUE_INT && right.type == SHAPEPROOF_VALUE_INT) *value = left;
    return true;
}

/* What a name stands for: a definition, an argument, or what `with` gives for a key. */
static bool open_name(struct sp_env *env, const struct sp_expr **expr)
{
    if (sp_meaning_open(env, expr)) return true;
    const bool is_key = sp_meaning_of(env, *expr).kind == SP_MEANS_KEY;
    const struct sp_given *given = is_key ? sp_view_given(env->frame->view, (*expr)->name) : NULL;
    if (!given || !given->open.expr) return false;
    *env = *given->open.env;
    *expr = given->open.expr;
    return true;
}

/* `a default b`: b where a is not set, as far as that is known. A text that only its key could tell is taken for its
 * default: names cannot be laid out without it. */
static bool choose_default(struct search *search, const struct sp_env *env, const struct sp_expr *expr,
                           struct shapeproof_value *value)
{
    struct shapeproof_value fallback;
    if (!evaluate(search, env, expr->args[0], value)) return false;
    if (sp_value_is_set(*value)) return true;
    if (!evaluate(search, env, expr->args[1], &fallback)) return false;
    if (value->type != SHAPEPROOF_VALUE_UNKNOWN ||
        (fallback.type == SHAPEPROOF_VALUE_STRING && !sp_is_class_key(value->string)))
        *value = fallback;
    return true;
}

/* An item of a list that depends on something. */
static bool choose_item(struct search *search, const struct sp_env *env, const struct sp_expr *expr,
                        struct shapeproof_value *value)
{
    struct shapeproof_value list, index;
    if (!evaluate(search, env, expr->args[0], &list) || !evaluate(search, env, expr->args[1], &index)) return false;
    if (list.type != SHAPEPROOF_VALUE_LIST || index.type != SHAPEPROOF_VALUE_INT) return true;
    if (index.integer < 0 || (uint64_t)index.integer >= list.count) return false;
    *value = list.items[index.integer];
    return true;
}

/* Only what is unknown as a whole is looked into. */
static bool evaluate(struct search *search, const struct sp_env *env, const struct sp_expr *expr,
                     struct shapeproof_value *value)
{
    struct sp_env own = *env;
    if (!sp_solver_eval(&search->outline->solver, env, expr, value)) return false;
    if (value->type != SHAPEPROOF_VALUE_UNKNOWN || search->depth == SP_DEEPEST_ALTERNATIVES) return true;
    bool good = true;
    search->depth++;
    if (expr->kind == SP_EXPR_NAME && open_name(&own, &expr)) good = evaluate(search, &own, expr, value);
    else if (expr->kind == SP_EXPR_DEFAULT) good = choose_default(search, env, expr, value);
    else if (expr->kind == SP_EXPR_CHOICE) good = choose_alternative(search, env, expr, value);
    else if (expr->kind == SP_EXPR_INDEX) good = choose_item(search, env, expr, value);
    else if (expr->kind == SP_EXPR_BINARY && expr->op == SP_OP_ADD) good = join_alternatives(search, env, expr, value);
    search->depth--;
    return good;
}

bool sp_assume_eval(struct sp_outline *outline, const struct sp_assumption *assumed, const struct sp_env *env,
                    const struct sp_expr *expr, struct shapeproof_value *value, struct sp_assumption *lacking)
{
    return evaluate(&(struct search){.outline = outline, .assumed = assumed, .lacking = lacking}, env, expr, value);
}

const struct sp_expr *sp_assumption_expr(struct sp_outline *outline, const struct sp_assumption *assumption)
{
    if (assumption->holds) return assumption->condition;
    struct sp_expr *opposite = sp_arena_alloc(&outline->solver.arena, sizeof *opposite);
    struct sp_expr **operand = sp_arena_alloc(&outline->solver.arena, sizeof *operand);
    *operand = sp_arena_alloc(&outline->solver.arena, sizeof **operand);
    **operand = *assumption->condition;
    *opposite = (struct sp_expr){
        .kind = SP_EXPR_UNARY, .op = SP_OP_NOT, .span = assumption->condition->span, .args = operand, .count = 1};
    return opposite;
}

/* ---- lines ---- */

struct branch {
    uint64_t origin;
    size_t line;
};

static int compare_branches(const void *left, const void *right)
{
    const struct branch *a = left, *b = right;
    if (a->origin != b->origin) return a->origin < b->origin ? -1 : 1;
    return a->line < b->line ? -1 : a->line > b->line;
}

/* On the heap. */
static size_t collect_branches(const struct sp_outline *outline, struct branch **branches)
{
    size_t count = 0, capacity = 0;
    for (size_t i = 0; i < outline->count; i++) {
        if (outline->lines[i].share == SP_ALL_ALTERNATIVES || outline->lines[i].old_of != SP_NO_LINE) continue;
        SP_GROW(*branches, count, capacity);
        (*branches)[count++] = (struct branch){outline->lines[i].origin, i};
    }
    if (count) qsort(*branches, count, sizeof **branches, compare_branches);
    return count;
}

/* Lines of one origin exclude one another: their shares make a whole when there are no other alternatives. */
void sp_alternatives_link(struct sp_outline *outline)
{
    struct branch *branches = NULL;
    const size_t count = collect_branches(outline, &branches);
    for (size_t first = 0, end; first < count; first = end) {
        unsigned shares = 0;
        for (end = first; end < count && branches[end].origin == branches[first].origin; end++)
            shares += outline->lines[branches[end].line].share;
        for (size_t i = first; i < end && shares == SP_ALL_ALTERNATIVES; i++)
            outline->lines[branches[i].line].alternative = branches[i + 1 < end ? i + 1 : first].line;
    }
    sp_free(branches);
}
