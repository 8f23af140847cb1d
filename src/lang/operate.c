/* SPDX-License-Identifier: MIT
 * What operators make of values that are set: exact whole numbers, real numbers, texts and lists. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/checked.h"
#include "lang/eval.h"
#include "lang/functions.h"

/* Comparing takes time in proportion to what is compared, which a configuration may make large: lists within lists,
 * long strings. */
static size_t comparison_cost(struct shapeproof_value value)
{
    return sp_size_saturated(sp_value_comparison_cost(value));
}

static bool overflow(struct sp_eval *eval, const struct sp_expr *expr)
{
    return sp_eval_overflow(eval, expr->span, "the result does not fit in 64 bits");
}

/* '/' is exact, '//' rounds down, '%' has the sign of the divisor, as in Python. */
static bool integer_division(struct sp_eval *eval, const struct sp_expr *expr, int64_t a, int64_t b, int64_t *result)
{
    if (!b) return sp_eval_fail(eval, expr->span, "division by zero");
    if (a == INT64_MIN && b == -1) { /* the quotient is 2^63, the remainder 0; C knows neither */
        *result = 0;
        return expr->op == SP_OP_MOD || overflow(eval, expr);
    }
    const int64_t quotient = a / b, rest = a % b;
    const bool down = rest && (rest < 0) != (b < 0);
    if (expr->op == SP_OP_DIV && rest)
        return sp_eval_fail(eval, expr->span, "%" PRId64 " is not divisible by %" PRId64 " ('//' rounds down)", a, b);
    *result = expr->op == SP_OP_MOD ? (down ? rest + b : rest) : (down ? quotient - 1 : quotient);
    return true;
}

/* base ^ exponent; false after a mistake: a negative exponent or an overflow. */
static bool integer_power(struct sp_eval *eval, const struct sp_expr *expr, int64_t base, int64_t exponent,
                          int64_t *result)
{
    int64_t power = 1;
    if (exponent < 0) return sp_eval_fail(eval, expr->span, "the exponent is negative");
    /* 0, 1 and -1 can have any exponent: instead of multiplying so often, take 2 for an even one and 1 for an odd one
     */
    const bool has_parity_alone = base == 0 || base == 1 || base == -1;
    if (has_parity_alone && exponent) exponent = exponent % 2 ? 1 : 2;
    for (; exponent; exponent--)
        if (__builtin_mul_overflow(power, base, &power)) return overflow(eval, expr);
    *result = power;
    return true;
}

/* One of + - * / // % ^ on two integers. False after a mistake: an overflow, a division by 0, a remainder of '/'. */
static bool integer_arithmetic(struct sp_eval *eval, const struct sp_expr *expr, int64_t a, int64_t b,
                               struct shapeproof_value *value)
{
    int64_t result = 0;
    bool overflows = false;
    switch (expr->op) {
    case SP_OP_ADD:
        overflows = __builtin_add_overflow(a, b, &result);
        break;
    case SP_OP_SUB:
        overflows = __builtin_sub_overflow(a, b, &result);
        break;
    case SP_OP_MUL:
        overflows = __builtin_mul_overflow(a, b, &result);
        break;
    case SP_OP_POW:
        if (!integer_power(eval, expr, a, b, &result)) return false;
        break;
    default: /* SP_OP_DIV, SP_OP_FLOOR, SP_OP_MOD */
        if (!integer_division(eval, expr, a, b, &result)) return false;
    }
    *value = sp_value_int(result);
    return overflows ? overflow(eval, expr) : true;
}

double sp_calculate(enum sp_op op, double a, double b)
{
    switch (op) {
    case SP_OP_ADD:
        return a + b;
    case SP_OP_SUB:
        return a - b;
    case SP_OP_MUL:
        return a * b;
    case SP_OP_DIV:
        return a / b;
    case SP_OP_FLOOR:
        return floor(a / b);
    case SP_OP_MOD:
        return a - b * floor(a / b);
    default:
        return pow(a, b);
    }
}

static bool eval_real_arithmetic(struct sp_eval *eval, const struct sp_expr *expr, double a, double b,
                                 struct shapeproof_value *value)
{
    if (b == 0 && (expr->op == SP_OP_DIV || expr->op == SP_OP_FLOOR || expr->op == SP_OP_MOD))
        return sp_eval_fail(eval, expr->span, "division by zero");
    const double result = sp_calculate(expr->op, a, b);
    if (!isfinite(result)) return sp_eval_fail(eval, expr->span, "the result is not a finite number");
    *value = sp_value_real(result);
    return true;
}

/* One of + - * / // % ^ on two numbers, or + on two texts. */
static bool arithmetic(struct sp_eval *eval, const struct sp_expr *expr, struct shapeproof_value a,
                       struct shapeproof_value b, struct shapeproof_value *value)
{
    if (a.type == SHAPEPROOF_VALUE_INT && b.type == SHAPEPROOF_VALUE_INT)
        return integer_arithmetic(eval, expr, a.integer, b.integer, value);
    if (sp_value_is_number(a) && sp_value_is_number(b))
        return eval_real_arithmetic(eval, expr, sp_value_as_real(a), sp_value_as_real(b), value);
    if (expr->op == SP_OP_ADD && a.type == SHAPEPROOF_VALUE_STRING && b.type == SHAPEPROOF_VALUE_STRING) {
        if (strlen(a.string) + strlen(b.string) > SP_MAX_TEXT)
            return sp_eval_fail(eval, expr->span, "the string is longer than %d bytes", SP_MAX_TEXT);
        *value = sp_value_string(sp_arena_printf(eval->arena, "%s%s", a.string, b.string));
        return true;
    }
    return sp_eval_fail(eval, expr->span, "cannot compute with %s and %s", sp_value_kind(a.type),
                        sp_value_kind(b.type));
}

/* One of < <= > >= on two numbers or two texts. */
static bool compare_operands(struct sp_eval *eval, const struct sp_expr *expr, struct shapeproof_value a,
                             struct shapeproof_value b, struct shapeproof_value *value)
{
    int order;
    if (sp_value_is_number(a) && sp_value_is_number(b)) order = sp_values_order(a, b);
    else if (a.type == SHAPEPROOF_VALUE_STRING && b.type == SHAPEPROOF_VALUE_STRING) {
        if (!sp_eval_spend(eval, expr->span, comparison_cost(a))) return false;
        order = strcmp(a.string, b.string);
    } else {
        return sp_eval_fail(eval, expr->span, "cannot compare %s with %s", sp_value_kind(a.type),
                            sp_value_kind(b.type));
    }
    const enum sp_op op = expr->op;
    *value = sp_value_bool(op == SP_OP_LT   ? order < 0
                           : op == SP_OP_LE ? order <= 0
                           : op == SP_OP_GT ? order > 0
                                            : order >= 0);
    return true;
}

/* An item in a list, or a text in a text. */
static bool list_contains(struct sp_eval *eval, const struct sp_expr *expr, struct shapeproof_value item,
                          struct shapeproof_value list, struct shapeproof_value *value)
{
    bool found = false;
    if (!sp_eval_spend(eval, expr->span, sp_size_saturated(sp_value_search_cost(list, item)))) return false;
    if (list.type == SHAPEPROOF_VALUE_STRING && item.type == SHAPEPROOF_VALUE_STRING) {
        *value = sp_value_bool((strstr(list.string, item.string) != NULL) == (expr->op == SP_OP_IN));
        return true;
    }
    if (list.type != SHAPEPROOF_VALUE_LIST)
        return sp_eval_fail(eval, expr->span, "'in' needs a list, not %s", sp_value_kind(list.type));
    for (size_t i = 0; i < list.count && !found; i++) found = sp_values_equal(item, list.items[i]);
    *value = sp_value_bool(found == (expr->op == SP_OP_IN));
    return true;
}

bool sp_truth(struct sp_eval *eval, const struct sp_expr *expr, struct shapeproof_value value, bool *result)
{
    *result = false;
    if (value.type == SHAPEPROOF_VALUE_BOOL) *result = value.boolean;
    else if (value.type == SHAPEPROOF_VALUE_INT) *result = value.integer != 0;
    else return sp_eval_fail(eval, expr->span, "expected a truth value, found %s", sp_value_kind(value.type));
    return true;
}

bool sp_operate(struct sp_eval *eval, const struct sp_expr *expr, struct shapeproof_value a, struct shapeproof_value b,
                struct shapeproof_value *value)
{
    if (expr->op == SP_OP_EQ || expr->op == SP_OP_NE) {
        if (!sp_eval_spend(eval, expr->span, 4 * comparison_cost(a))) return false;
        *value = sp_value_bool(sp_values_equal(a, b) == (expr->op == SP_OP_EQ));
        return true;
    }
    if (expr->op == SP_OP_IN || expr->op == SP_OP_NOT_IN) return list_contains(eval, expr, a, b, value);
    if (expr->op >= SP_OP_LT && expr->op <= SP_OP_GE) return compare_operands(eval, expr, a, b, value);
    return arithmetic(eval, expr, a, b, value);
}

bool sp_negate(struct sp_eval *eval, const struct sp_expr *expr, struct shapeproof_value *value)
{
    if (value->type == SHAPEPROOF_VALUE_REAL) value->real = -value->real;
    else if (value->type != SHAPEPROOF_VALUE_INT)
        return sp_eval_fail(eval, expr->span, "cannot negate %s", sp_value_kind(value->type));
    else if (__builtin_sub_overflow((int64_t)0, value->integer, &value->integer)) return overflow(eval, expr);
    return true;
}
