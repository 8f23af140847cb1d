/* SPDX-License-Identifier: MIT
 * Values that are needed: dimensions, conditions and names. When one is not set, the message says which hyper-parameter
 * is missing, and points at the place where the table reads it. */
#include <inttypes.h>
#include <math.h>

#include "base/real.h"
#include "lang/eval.h"

static bool is_choice_taken(struct shapeproof_value value)
{
    return value.type == SHAPEPROOF_VALUE_BOOL ? value.boolean : value.integer != 0;
}

/* What an unset expression got that from: the next thing to look at, in its own environment; false at the key. */
static bool descend(struct sp_eval *eval, struct sp_env *env, const struct sp_expr **expr)
{
    struct shapeproof_value value;
    if ((*expr)->kind == SP_EXPR_NAME) return sp_meaning_open(env, expr);
    for (size_t i = 0; i < (*expr)->count; i++) {
        if (!sp_eval(eval, env, (*expr)->args[i], &value)) return false;
        if (sp_value_is_set(value)) {
            if ((*expr)->kind == SP_EXPR_CHOICE && i == 0 && !is_choice_taken(value))
                i++; /* the first alternative is not it */
            continue;
        }
        *expr = (*expr)->args[i];
        return true;
    }
    return false;
}

/* Where the table reads the key that is not set: most often in a definition, with a comment that says what it is. */
static struct sp_span place_of_key(struct sp_eval *eval, const struct sp_env *env, const struct sp_expr *expr)
{
    struct sp_env own = *env;
    for (unsigned depth = 0; depth < SP_MAX_EVAL_DEPTH && descend(eval, &own, &expr); depth++) continue;
    return expr->span;
}

bool sp_eval_set(struct sp_eval *eval, const struct sp_env *env, const struct sp_expr *expr,
                 struct shapeproof_value *value)
{
    return sp_eval_known(eval, env, expr, value) &&
           (value->type != SHAPEPROOF_VALUE_UNKNOWN ||
            sp_eval_fail(eval, expr->span, "the hyper-parameter '%s' is not known", value->string));
}

bool sp_eval_known(struct sp_eval *eval, const struct sp_env *env, const struct sp_expr *expr,
                   struct shapeproof_value *value)
{
    if (!sp_eval(eval, env, expr, value)) return false;
    if (sp_value_is_set(*value) || value->type == SHAPEPROOF_VALUE_UNKNOWN) return true;
    if (!eval->first_missing) eval->first_missing = value->string;
    return sp_eval_fail(eval, place_of_key(eval, env, expr), "the hyper-parameter '%s' is %s", value->string,
                        value->type == SHAPEPROOF_VALUE_NULL ? "null" : "not set");
}

bool sp_eval_bool(struct sp_eval *eval, const struct sp_env *env, const struct sp_expr *expr, bool *result)
{
    struct shapeproof_value value;
    return sp_eval_set(eval, env, expr, &value) && sp_truth(eval, expr, value, result);
}

bool sp_eval_int(struct sp_eval *eval, const struct sp_env *env, const struct sp_expr *expr, const char *what,
                 int64_t *result)
{
    struct shapeproof_value value;
    if (!sp_eval_set(eval, env, expr, &value)) return false;
    if (value.type == SHAPEPROOF_VALUE_REAL && value.real == floor(value.real) && fabs(value.real) < 9007199254740992.0)
        value = sp_value_int((int64_t)value.real);
    *result = value.integer;
    if (value.type == SHAPEPROOF_VALUE_INT) return true;
    if (value.type == SHAPEPROOF_VALUE_REAL && fabs(value.real) >= 9007199254740992.0)
        return sp_eval_fail(eval, expr->span, "%s is %s, which is too large to be exact", what,
                            sp_real_text(value.real, 6).text);
    if (value.type == SHAPEPROOF_VALUE_REAL)
        return sp_eval_fail(eval, expr->span, "%s is %s, not a whole number (int() cuts it)", what,
                            sp_real_text(value.real, 6).text);
    return sp_eval_fail(eval, expr->span, "%s is %s, not a whole number", what, sp_value_kind(value.type));
}

static void append_integer(struct sp_text *text, int64_t number)
{
    char digits[20];
    size_t first = sizeof digits;
    uint64_t rest = number < 0 ? -(uint64_t)number : (uint64_t)number;
    do digits[--first] = (char)('0' + rest % 10);
    while (rest /= 10);
    if (number < 0) digits[--first] = '-';
    sp_text_append(text, digits + first, sizeof digits - first);
}

static bool append_value(struct sp_eval *eval, const struct sp_expr *hole, struct shapeproof_value value,
                         struct sp_text *text)
{
    if (value.type == SHAPEPROOF_VALUE_STRING) sp_text_puts(text, value.string);
    else if (value.type == SHAPEPROOF_VALUE_INT) append_integer(text, value.integer);
    else
        return sp_eval_fail(eval, hole->span, "a name can hold a string or an integer, not %s",
                            sp_value_kind(value.type));
    return true;
}

const struct sp_text *sp_eval_template(struct sp_eval *eval, const struct sp_env *env, const struct sp_template *name)
{
    struct sp_text *text = &eval->name;
    text->length = 0;
    sp_text_puts(text, env->frame->prefix);
    for (size_t i = 0; i < name->count; i++) {
        struct shapeproof_value value;
        if (name->pieces[i].text) sp_text_puts(text, name->pieces[i].text);
        else if (!sp_eval_set(eval, env, name->pieces[i].hole, &value) ||
                 !append_value(eval, name->pieces[i].hole, value, text))
            return NULL;
        if (text->length <= SP_MAX_TEXT) continue;
        sp_eval_fail(eval, name->span, "the name is longer than %d bytes", SP_MAX_TEXT);
        return NULL;
    }
    return text;
}
