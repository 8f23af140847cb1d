/* SPDX-License-Identifier: MIT
 * Absent and null are contagious: an operation on them gives them back, until `default` replaces them. Whoever
 * needs a value then reports the hyper-parameter that was not set. */
#include "lang/eval.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "lang/functions.h"

bool sp_eval_fail(struct sp_eval *eval, struct sp_span span, const char *format, ...)
{
    char message[512];
    struct sp_text one = {0};
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    sp_diagnose(&one, span, "%s", message);
    const bool known = eval->messages->data && strstr(eval->messages->data, one.data);
    if (!known && eval->mistakes++ < SP_MAX_MESSAGES) {
        if (eval->messages->length) sp_text_puts(eval->messages, "\n");
        sp_text_puts(eval->messages, one.data);
    }
    sp_text_free(&one);
    return false;
}

/* ---- names ---- */

struct sp_meaning sp_meaning_of(const struct sp_env *env, const char *name)
{
    for (const struct sp_binding *b = env->bindings; b; b = b->outer)
        if (b->name == name) return (struct sp_meaning){.kind = SP_MEANS_BINDING, .binding = b};
    for (size_t i = 0; env->section && i < env->section->local_count; i++) {
        const struct sp_definition *local = &env->section->locals[i];
        if (local->name == name && local != env->defining)
            return (struct sp_meaning){.kind = SP_MEANS_DEFINITION, .definition = local, .local = true};
    }
    const struct sp_unit *unit = env->frame->unit;
    for (size_t i = 0; i < unit->param_count; i++)
        if (unit->params[i].name == name) return (struct sp_meaning){.kind = SP_MEANS_PARAM, .index = i};
    for (size_t i = 0; i < unit->definition_count; i++)
        if (unit->definitions[i].name == name && &unit->definitions[i] != env->defining)
            return (struct sp_meaning){.kind = SP_MEANS_DEFINITION, .definition = &unit->definitions[i], .index = i};
    return (struct sp_meaning){.kind = SP_MEANS_KEY};
}

struct sp_value sp_view_get(const struct sp_view *view, const char *key)
{
    for (size_t i = 0; i < view->given_count; i++)
        if (strcmp(view->given[i].path, key) == 0) return view->given[i].value;
    return sp_value_member(view->object, key);
}

static const char *origin(const struct sp_eval *eval, const struct sp_view *view, const char *key, const char *path)
{
    for (size_t i = 0; i < view->given_count; i++)
        if (strcmp(view->given[i].path, key) == 0) return view->given[i].from;
    for (size_t i = 0; i < eval->hyper->override_count; i++)
        if (strcmp(eval->hyper->overrides[i].path, path) == 0) return eval->hyper->overrides[i].from;
    return eval->hyper->from;
}

/* Remembers a hyper-parameter the first time that it is read. */
static void record(struct sp_eval *eval, const char *path, struct sp_value value, const char *from)
{
    if (!sp_map_add(&eval->read_paths, path, eval->reading_count)) return;
    SP_GROW(eval->readings, eval->reading_count, eval->reading_capacity);
    eval->readings[eval->reading_count++] = (struct sp_reading){path, value, from};
}

static const char *join(struct sp_eval *eval, const char *prefix, const char *key)
{
    return *prefix ? sp_arena_printf(eval->arena, "%s%s", prefix, key) : key;
}

static struct sp_value read_key(struct sp_eval *eval, const struct sp_view *view, const char *key)
{
    struct sp_value value = sp_view_get(view, key);
    const char *path = join(eval, view->prefix, key);
    if (!sp_value_is_set(value)) value.string = path;
    else if (value.type != SP_OBJECT) record(eval, path, value, origin(eval, view, key, path));
    return value;
}

/* The dotted path of the hyper-parameter that an expression reads first, as in `key default ...`; NULL for others. */
static const char *key_path(struct sp_eval *eval, const struct sp_env *env, const struct sp_expr *expr)
{
    if (expr->kind == SP_EXPR_NAME && sp_meaning_of(env, expr->name).kind == SP_MEANS_KEY)
        return join(eval, env->frame->view->prefix, expr->name);
    if (expr->kind == SP_EXPR_DEFAULT) return key_path(eval, env, expr->args[0]);
    if (expr->kind != SP_EXPR_MEMBER) return NULL;
    const char *object = key_path(eval, env, expr->args[0]);
    return object ? sp_arena_printf(eval->arena, "%s.%s", object, expr->name) : NULL;
}

static bool eval_definition(struct sp_eval *eval, const struct sp_env *env, struct sp_meaning meaning,
                            struct sp_value *value)
{
    const struct sp_definition *definition = meaning.definition;
    struct sp_env own = {env->frame, meaning.local ? env->section : NULL, meaning.local ? env->bindings : NULL,
                         definition};
    struct sp_cached *cached = meaning.local ? NULL : &env->frame->cache[meaning.index];
    if (definition->is_function)
        return sp_eval_fail(eval, definition->span, "'%s' needs its arguments", definition->name);
    if (cached && cached->state == SP_CACHE_DONE) {
        *value = cached->value;
        return true;
    }
    if (cached && cached->state == SP_CACHE_BUSY)
        return sp_eval_fail(eval, definition->span, "'%s' is defined through itself", definition->name);
    if (cached) cached->state = SP_CACHE_BUSY;
    const bool good = sp_eval(eval, &own, definition->expr, value);
    if (cached) *cached = (struct sp_cached){good ? SP_CACHE_DONE : SP_CACHE_EMPTY, *value};
    return good;
}

static bool eval_name(struct sp_eval *eval, const struct sp_env *env, const struct sp_expr *expr,
                      struct sp_value *value)
{
    const struct sp_meaning meaning = sp_meaning_of(env, expr->name);
    switch (meaning.kind) {
    case SP_MEANS_BINDING:
        *value = meaning.binding->value;
        return true;
    case SP_MEANS_PARAM:
        *value = env->frame->params[meaning.index];
        return true;
    case SP_MEANS_DEFINITION:
        return eval_definition(eval, env, meaning, value);
    case SP_MEANS_KEY:
        *value = read_key(eval, env->frame->view, expr->name);
        return true;
    }
    return false;
}

/* ---- operators ---- */

static bool overflow(struct sp_eval *eval, const struct sp_expr *expr)
{
    return sp_eval_fail(eval, expr->span, "the result does not fit in 64 bits");
}

static bool integer_division(struct sp_eval *eval, const struct sp_expr *expr, int64_t a, int64_t b, int64_t *result)
{
    if (!b) return sp_eval_fail(eval, expr->span, "division by zero");
    if (a == INT64_MIN && b == -1) return overflow(eval, expr);
    const int64_t quotient = a / b, rest = a % b;
    const bool down = rest && (rest < 0) != (b < 0);
    if (expr->op == SP_OP_DIV && rest)
        return sp_eval_fail(eval, expr->span, "%" PRId64 " is not divisible by %" PRId64 " ('//' rounds down)", a, b);
    *result = expr->op == SP_OP_MOD ? (down ? rest + b : rest) : (down ? quotient - 1 : quotient);
    return true;
}

static bool integer_power(struct sp_eval *eval, const struct sp_expr *expr, int64_t base, int64_t exponent,
                          int64_t *result)
{
    int64_t power = 1;
    if (exponent < 0) return sp_eval_fail(eval, expr->span, "the exponent is negative");
    if (base == 0 || base == 1 || base == -1) exponent = exponent ? 2 - exponent % 2 : 0;
    for (; exponent; exponent--)
        if (__builtin_mul_overflow(power, base, &power)) return overflow(eval, expr);
    *result = power;
    return true;
}

static bool integer_arithmetic(struct sp_eval *eval, const struct sp_expr *expr, int64_t a, int64_t b,
                               struct sp_value *value)
{
    int64_t result = 0;
    bool wrong = false;
    switch (expr->op) {
    case SP_OP_ADD:
        wrong = __builtin_add_overflow(a, b, &result);
        break;
    case SP_OP_SUB:
        wrong = __builtin_sub_overflow(a, b, &result);
        break;
    case SP_OP_MUL:
        wrong = __builtin_mul_overflow(a, b, &result);
        break;
    case SP_OP_POW:
        if (!integer_power(eval, expr, a, b, &result)) return false;
        break;
    default:
        if (!integer_division(eval, expr, a, b, &result)) return false;
    }
    *value = sp_value_int(result);
    return wrong ? overflow(eval, expr) : true;
}

static bool real_arithmetic(struct sp_eval *eval, const struct sp_expr *expr, double a, double b,
                            struct sp_value *value)
{
    double result = 0;
    if (b == 0 && (expr->op == SP_OP_DIV || expr->op == SP_OP_FLOOR || expr->op == SP_OP_MOD))
        return sp_eval_fail(eval, expr->span, "division by zero");
    switch (expr->op) {
    case SP_OP_ADD:
        result = a + b;
        break;
    case SP_OP_SUB:
        result = a - b;
        break;
    case SP_OP_MUL:
        result = a * b;
        break;
    case SP_OP_DIV:
        result = a / b;
        break;
    case SP_OP_FLOOR:
        result = floor(a / b);
        break;
    case SP_OP_MOD:
        result = a - b * floor(a / b);
        break;
    default:
        result = pow(a, b);
        break;
    }
    if (!isfinite(result)) return sp_eval_fail(eval, expr->span, "the result is not a finite number");
    *value = sp_value_real(result);
    return true;
}

static bool arithmetic(struct sp_eval *eval, const struct sp_expr *expr, struct sp_value a, struct sp_value b,
                       struct sp_value *value)
{
    if (a.type == SP_INT && b.type == SP_INT) return integer_arithmetic(eval, expr, a.integer, b.integer, value);
    if (sp_value_is_number(a) && sp_value_is_number(b))
        return real_arithmetic(eval, expr, sp_value_as_real(a), sp_value_as_real(b), value);
    if (expr->op == SP_OP_ADD && a.type == SP_STRING && b.type == SP_STRING) {
        *value = sp_value_string(sp_arena_printf(eval->arena, "%s%s", a.string, b.string));
        return true;
    }
    return sp_eval_fail(eval, expr->span, "cannot compute with %s and %s", sp_value_kind(a.type),
                        sp_value_kind(b.type));
}

static bool compare(struct sp_eval *eval, const struct sp_expr *expr, struct sp_value a, struct sp_value b,
                    struct sp_value *value)
{
    int order;
    if (sp_value_is_number(a) && sp_value_is_number(b)) {
        const double x = sp_value_as_real(a), y = sp_value_as_real(b);
        order = a.type == SP_INT && b.type == SP_INT ? (a.integer > b.integer) - (a.integer < b.integer)
                                                     : (x > y) - (x < y);
    } else if (a.type == SP_STRING && b.type == SP_STRING) {
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

static bool contains(struct sp_eval *eval, const struct sp_expr *expr, struct sp_value item, struct sp_value list,
                     struct sp_value *value)
{
    bool found = false;
    if (list.type != SP_LIST)
        return sp_eval_fail(eval, expr->span, "'in' needs a list, not %s", sp_value_kind(list.type));
    for (size_t i = 0; i < list.count && !found; i++) found = sp_values_equal(item, list.items[i]);
    *value = sp_value_bool(found == (expr->op == SP_OP_IN));
    return true;
}

/* Python writes 0 and 1 for truth values often enough. */
static bool truth(struct sp_eval *eval, const struct sp_expr *expr, struct sp_value value, bool *result)
{
    if (value.type == SP_BOOL) *result = value.boolean;
    else if (value.type == SP_INT) *result = value.integer != 0;
    else return sp_eval_fail(eval, expr->span, "expected a truth value, found %s", sp_value_kind(value.type));
    return true;
}

/* and, or: the right side is not looked at when the left one decides. */
static bool logic(struct sp_eval *eval, const struct sp_env *env, const struct sp_expr *expr, struct sp_value *value)
{
    bool left, right;
    if (!sp_eval(eval, env, expr->args[0], value)) return false;
    if (!sp_value_is_set(*value)) return true;
    if (!truth(eval, expr->args[0], *value, &left)) return false;
    *value = sp_value_bool(left);
    if (left == (expr->op == SP_OP_OR)) return true;
    if (!sp_eval(eval, env, expr->args[1], value)) return false;
    if (!sp_value_is_set(*value)) return true;
    if (!truth(eval, expr->args[1], *value, &right)) return false;
    *value = sp_value_bool(right);
    return true;
}

static bool binary(struct sp_eval *eval, const struct sp_env *env, const struct sp_expr *expr, struct sp_value *value)
{
    struct sp_value a, b;
    if (expr->op == SP_OP_AND || expr->op == SP_OP_OR) return logic(eval, env, expr, value);
    if (!sp_eval(eval, env, expr->args[0], &a) || !sp_eval(eval, env, expr->args[1], &b)) return false;
    if (!sp_value_is_set(a) || !sp_value_is_set(b)) {
        *value = sp_value_is_set(a) ? b : a;
        return true;
    }
    if (expr->op == SP_OP_EQ || expr->op == SP_OP_NE) {
        *value = sp_value_bool(sp_values_equal(a, b) == (expr->op == SP_OP_EQ));
        return true;
    }
    if (expr->op == SP_OP_IN || expr->op == SP_OP_NOT_IN) return contains(eval, expr, a, b, value);
    if (expr->op >= SP_OP_LT && expr->op <= SP_OP_GE) return compare(eval, expr, a, b, value);
    return arithmetic(eval, expr, a, b, value);
}

static bool unary(struct sp_eval *eval, const struct sp_env *env, const struct sp_expr *expr, struct sp_value *value)
{
    bool yes;
    if (!sp_eval(eval, env, expr->args[0], value)) return false;
    if (!sp_value_is_set(*value)) return true;
    if (expr->op == SP_OP_NOT) {
        if (!truth(eval, expr->args[0], *value, &yes)) return false;
        *value = sp_value_bool(!yes);
        return true;
    }
    if (value->type == SP_REAL) value->real = -value->real;
    else if (value->type != SP_INT)
        return sp_eval_fail(eval, expr->span, "cannot negate %s", sp_value_kind(value->type));
    else if (__builtin_sub_overflow((int64_t)0, value->integer, &value->integer)) return overflow(eval, expr);
    return true;
}

/* ---- the other kinds of expression ---- */

static bool choice(struct sp_eval *eval, const struct sp_env *env, const struct sp_expr *expr, struct sp_value *value)
{
    bool yes;
    if (!sp_eval(eval, env, expr->args[0], value)) return false;
    if (!sp_value_is_set(*value)) return true;
    if (!truth(eval, expr->args[0], *value, &yes)) return false;
    return sp_eval(eval, env, expr->args[yes ? 1 : 2], value);
}

/* a default b default 12: the first that is set. A value that the table supplies is recorded under the first key. */
static bool fallback(struct sp_eval *eval, const struct sp_env *env, const struct sp_expr *expr, struct sp_value *value)
{
    const char *path = NULL;
    const struct sp_expr *last = expr;
    for (; last->kind == SP_EXPR_DEFAULT; last = last->args[1]) {
        if (!sp_eval(eval, env, last->args[0], value)) return false;
        if (sp_value_is_set(*value)) return true;
        if (!path) path = key_path(eval, env, last->args[0]);
    }
    if (!sp_eval(eval, env, last, value)) return false;
    if (path && sp_value_is_set(*value) && value->type != SP_OBJECT &&
        sp_map_get(&eval->read_paths, path) == SIZE_MAX && !key_path(eval, env, last))
        record(eval, path, *value,
               sp_arena_printf(eval->arena, "default (%s:%zu)", expr->span.source->name,
                               sp_span_position(expr->span).line));
    return true;
}

static bool list(struct sp_eval *eval, const struct sp_env *env, const struct sp_expr *expr, struct sp_value *value)
{
    struct sp_value *items = sp_arena_array(eval->arena, expr->count, sizeof *items);
    for (size_t i = 0; i < expr->count; i++)
        if (!sp_eval_set(eval, env, expr->args[i], "an item of a list", &items[i])) return false;
    *value = (struct sp_value){.type = SP_LIST, .count = expr->count, .items = items};
    return true;
}

static bool index_value(struct sp_eval *eval, const struct sp_env *env, const struct sp_expr *expr,
                        struct sp_value *value)
{
    struct sp_value from;
    int64_t place;
    if (!sp_eval(eval, env, expr->args[0], &from)) return false;
    if (!sp_value_is_set(from)) {
        *value = from;
        return true;
    }
    if (from.type != SP_LIST)
        return sp_eval_fail(eval, expr->args[0]->span, "expected a list, found %s", sp_value_kind(from.type));
    if (!sp_eval_int(eval, env, expr->args[1], "an index", &place)) return false;
    if (place < 0 || (uint64_t)place >= from.count)
        return sp_eval_fail(eval, expr->span,
                            "the list has %zu item(s), and item %" PRId64 " is asked for (counting from 0)", from.count,
                            place);
    *value = from.items[place];
    return true;
}

static bool member(struct sp_eval *eval, const struct sp_env *env, const struct sp_expr *expr, struct sp_value *value)
{
    struct sp_value object;
    if (!sp_eval(eval, env, expr->args[0], &object)) return false;
    const char *path = key_path(eval, env, expr);
    if (!path) path = expr->name;
    if (!sp_value_is_set(object)) *value = object;
    else if (object.type != SP_OBJECT)
        return sp_eval_fail(eval, expr->args[0]->span, "expected an object, found %s", sp_value_kind(object.type));
    else *value = sp_value_member(object, expr->name);
    if (!sp_value_is_set(*value)) value->string = path;
    else if (value->type != SP_OBJECT) record(eval, path, *value, origin(eval, env->frame->view, "", path));
    return true;
}

static bool call_own(struct sp_eval *eval, const struct sp_env *env, const struct sp_expr *expr,
                     struct sp_meaning meaning, struct sp_value *value)
{
    const struct sp_definition *definition = meaning.definition;
    struct sp_binding bound[8];
    const struct sp_binding *bindings = meaning.local ? env->bindings : NULL;
    if (!definition->is_function || definition->param_count != expr->count || expr->count > 8)
        return sp_eval_fail(eval, expr->span, "'%s' cannot be called like this", expr->name);
    for (size_t i = 0; i < expr->count; i++) {
        bound[i] = (struct sp_binding){.name = definition->params[i], .outer = bindings};
        if (!sp_eval(eval, env, expr->args[i], &bound[i].value)) return false;
    }
    for (size_t i = 0; i < expr->count; i++) {
        bound[i].outer = bindings;
        bindings = &bound[i];
    }
    const struct sp_env own = {env->frame, meaning.local ? env->section : NULL, bindings, definition};
    return sp_eval(eval, &own, definition->expr, value);
}

static bool call(struct sp_eval *eval, const struct sp_env *env, const struct sp_expr *expr, struct sp_value *value)
{
    struct sp_value args[16];
    const char *problem = NULL;
    const struct sp_meaning meaning = sp_meaning_of(env, expr->name);
    if (meaning.kind == SP_MEANS_DEFINITION) return call_own(eval, env, expr, meaning, value);
    if (!expr->function || expr->count > 16)
        return sp_eval_fail(eval, expr->span, "there is no function '%s'", expr->name);
    for (size_t i = 0; i < expr->count; i++) {
        if (!sp_eval(eval, env, expr->args[i], &args[i])) return false;
        if (sp_value_is_set(args[i]) || expr->function->sees_absent) continue;
        *value = args[i];
        return true;
    }
    *value = args[0];
    if (expr->function->apply(args, expr->count, value, &problem)) return true;
    return sp_eval_fail(eval, expr->span, "%s: %s", expr->name, problem);
}

static bool dispatch(struct sp_eval *eval, const struct sp_env *env, const struct sp_expr *expr, struct sp_value *value)
{
    switch (expr->kind) {
    case SP_EXPR_LITERAL:
        *value = expr->value;
        return true;
    case SP_EXPR_NAME:
        return eval_name(eval, env, expr, value);
    case SP_EXPR_LIST:
        return list(eval, env, expr, value);
    case SP_EXPR_UNARY:
        return unary(eval, env, expr, value);
    case SP_EXPR_BINARY:
        return binary(eval, env, expr, value);
    case SP_EXPR_CHOICE:
        return choice(eval, env, expr, value);
    case SP_EXPR_DEFAULT:
        return fallback(eval, env, expr, value);
    case SP_EXPR_CALL:
        return call(eval, env, expr, value);
    case SP_EXPR_INDEX:
        return index_value(eval, env, expr, value);
    case SP_EXPR_MEMBER:
        return member(eval, env, expr, value);
    }
    return false;
}

bool sp_eval(struct sp_eval *eval, const struct sp_env *env, const struct sp_expr *expr, struct sp_value *value)
{
    *value = sp_value_absent("");
    if (eval->depth >= SP_MAX_EVAL_DEPTH)
        return sp_eval_fail(eval, expr->span, "nested too deep: is it defined through itself?");
    eval->depth++;
    const bool good = dispatch(eval, env, expr, value);
    eval->depth--;
    return good;
}

bool sp_eval_set(struct sp_eval *eval, const struct sp_env *env, const struct sp_expr *expr, const char *what,
                 struct sp_value *value)
{
    if (!sp_eval(eval, env, expr, value)) return false;
    if (sp_value_is_set(*value)) return true;
    if (!eval->first_missing) eval->first_missing = value->string;
    return sp_eval_fail(eval, expr->span, "%s needs the hyper-parameter '%s', which is %s", what, value->string,
                        value->type == SP_NULL ? "null" : "not set");
}

bool sp_eval_bool(struct sp_eval *eval, const struct sp_env *env, const struct sp_expr *expr, bool *result)
{
    struct sp_value value;
    return sp_eval_set(eval, env, expr, "the condition", &value) && truth(eval, expr, value, result);
}

bool sp_eval_int(struct sp_eval *eval, const struct sp_env *env, const struct sp_expr *expr, const char *what,
                 int64_t *result)
{
    struct sp_value value;
    if (!sp_eval_set(eval, env, expr, what, &value)) return false;
    if (value.type == SP_REAL && value.real == floor(value.real) && fabs(value.real) < 9007199254740992.0)
        value = sp_value_int((int64_t)value.real);
    *result = value.integer;
    if (value.type == SP_INT) return true;
    if (value.type == SP_REAL)
        return sp_eval_fail(eval, expr->span, "%s is %g, not a whole number (int() cuts it)", what, value.real);
    return sp_eval_fail(eval, expr->span, "%s is %s, not a whole number", what, sp_value_kind(value.type));
}

static bool append_value(struct sp_eval *eval, const struct sp_expr *hole, struct sp_value value, struct sp_text *text)
{
    if (value.type == SP_STRING) sp_text_puts(text, value.string);
    else if (value.type == SP_INT) sp_text_printf(text, "%" PRId64, value.integer);
    else
        return sp_eval_fail(eval, hole->span, "a name can hold a text or an integer, not %s",
                            sp_value_kind(value.type));
    return true;
}

const char *sp_eval_template(struct sp_eval *eval, const struct sp_env *env, const struct sp_template *name)
{
    struct sp_text text = eval->scratch; /* taken away while it is in use: the name in a hole may need one too */
    bool good = true;
    eval->scratch = (struct sp_text){0};
    text.length = 0;
    sp_text_puts(&text, env->frame->prefix);
    for (size_t i = 0; i < name->count && good; i++) {
        struct sp_value value;
        if (name->pieces[i].text) sp_text_puts(&text, name->pieces[i].text);
        else
            good = sp_eval_set(eval, env, name->pieces[i].hole, "the name", &value) &&
                   append_value(eval, name->pieces[i].hole, value, &text);
    }
    const char *result = good ? sp_arena_copy(eval->arena, text.data, text.length) : NULL;
    sp_text_free(&eval->scratch);
    eval->scratch = text;
    return result;
}
