/* SPDX-License-Identifier: MIT
 * Absent and null are contagious: an operation on them gives them back, until `default` replaces them. Whoever
 * needs a value then reports the hyper-parameter that was not set. */
#include "lang/eval.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/budget.h"
#include "base/checked.h"
#include "lang/functions.h"

/* Returns how many mistakes it adds: 1, or 0 after the limit of mistakes. */
static size_t add_mistake(struct sp_eval *eval, struct sp_span span, const char *format, va_list args)
{
    char message[512];
    struct sp_text one = {0};
    if (eval->stopped) return 0;
    if (++eval->mistakes >= SP_MAX_MISTAKES) eval->stopped = true;
    if (eval->hyper->knowledge) return 1; /* what is tried out fails often, and nobody reads why */
    vsnprintf(message, sizeof message, format, args);
    sp_diagnose(&one, span, "%s", message);
    const bool known = eval->messages->data && strstr(eval->messages->data, one.data);
    if (!known && eval->message_count++ < SP_MAX_MESSAGES) {
        if (eval->messages->length) sp_text_puts(eval->messages, "\n");
        sp_text_puts(eval->messages, one.data);
    }
    sp_text_free(&one);
    return 1;
}

bool sp_eval_fail(struct sp_eval *eval, struct sp_span span, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    add_mistake(eval, span, format, args);
    va_end(args);
    return false;
}

bool sp_eval_exceed(struct sp_eval *eval, struct sp_span span, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    eval->limits += add_mistake(eval, span, format, args);
    va_end(args);
    return false;
}

bool sp_eval_overflow(struct sp_eval *eval, struct sp_span span, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    eval->overflows += add_mistake(eval, span, format, args);
    va_end(args);
    return false;
}

void sp_eval_settle(struct sp_eval *eval)
{
    const size_t steps = eval->steps - eval->spent;
    eval->spent = eval->steps;
    sp_budget_spend(steps);
}

bool sp_eval_spend_looking(struct sp_eval *eval, struct sp_span span, size_t steps)
{
    const size_t before = eval->steps;
    if (__builtin_add_overflow(before, steps, &eval->steps)) eval->steps = SIZE_MAX;
    if (eval->stopped) return false;
    if (sp_budget_lacks_steps(eval->steps))
        sp_eval_exceed(eval, span, "the table takes more than %" PRIu64 " steps; --limit steps=N allows more",
                       sp_budget_steps());
    else if (sp_budget_is_short())
        sp_eval_exceed(eval, span, "the table takes almost all of %s of memory; --limit memory=SIZE allows more",
                       sp_budget_memory_text().text);
    else {
        sp_eval_settle(eval);
        return true;
    }
    eval->stopped = true;
    eval->steps = before; /* what would have taken them is not done */
    return false;
}

/* ---- names ---- */

const struct sp_binding *sp_loop_numbered(const struct sp_binding *loops, size_t number)
{
    while (loops && loops->number > number) loops = loops->outer;
    return loops && loops->number == number ? loops : NULL;
}

struct sp_meaning sp_meaning_by_place(const struct sp_env *env, const struct sp_expr *expr)
{
    if (expr->reach == SP_REACH_LOOP && !sp_loop_numbered(env->loops, expr->index))
        return sp_meaning_in_unit(env->frame->unit, expr);
    return sp_meaning_at(env->frame->unit, expr);
}

struct sp_env sp_definition_env(const struct sp_env *env, struct sp_meaning meaning)
{
    if (!meaning.is_local) return (struct sp_env){.frame = env->frame};
    return (struct sp_env){.frame = env->frame, .section = env->section, .loops = env->loops};
}

const struct sp_given *sp_view_given(const struct sp_view *view, const char *key)
{
    for (size_t i = 0; i < view->given_count; i++)
        if (strcmp(view->given[i].key, key) == 0) return &view->given[i];
    return NULL;
}

struct shapeproof_value sp_view_get(const struct sp_view *view, const char *key)
{
    const struct sp_given *given = sp_view_given(view, key);
    return given ? given->value : sp_value_member(view->object, key);
}

/* The same, with a map of the members of the configuration. */
static struct shapeproof_value view_get(struct sp_eval *eval, const struct sp_view *view, const char *key)
{
    const struct shapeproof_value root = eval->hyper->root, object = view->object;
    if (object.type != SHAPEPROOF_VALUE_OBJECT || object.members != root.members || object.count != root.count)
        return sp_view_get(view, key);
    const struct sp_given *given = sp_view_given(view, key);
    return given ? given->value : sp_members_get(&eval->members, root, key);
}

bool sp_path_within(const char *path, const char *setting)
{
    const size_t length = strlen(setting);
    return strncmp(path, setting, length) == 0 && (path[length] == '\0' || path[length] == '.');
}

struct shapeproof_provenance sp_hyper_provenance(const struct sp_hyper *hyper, const char *path)
{
    for (size_t i = hyper->override_count; i-- > 0;)
        if (sp_path_within(path, hyper->overrides[i].path)) return hyper->overrides[i].from;
    return (struct shapeproof_provenance){.source = SHAPEPROOF_SOURCE_CONFIG, .name = hyper->file};
}

static bool is_made_of(const char *path, const char *prefix, const char *dot, const char *key)
{
    const size_t length = strlen(prefix), dots = strlen(dot);
    return strncmp(path, prefix, length) == 0 && strncmp(path + length, dot, dots) == 0 &&
           strcmp(path + length + dots, key) == 0;
}

/* The entry of prefix + dot + key, which is made when it is looked at for the first time. */
static struct sp_reading *reading_of(struct sp_eval *eval, const char *prefix, const char *dot, const char *key)
{
    size_t *recent = &eval->recent[(uintptr_t)key / sizeof(void *) % SP_RECENT_READINGS];
    if (*recent < eval->reading_count && is_made_of(eval->readings[*recent].path, prefix, dot, key))
        return &eval->readings[*recent];
    struct sp_text *path = &eval->path;
    path->length = 0;
    sp_text_puts(path, prefix);
    sp_text_puts(path, dot);
    sp_text_puts(path, key);
    const size_t known = *recent = sp_map_get(&eval->paths, path->data);
    if (known != SIZE_MAX) return &eval->readings[known];
    SP_GROW(eval->readings, eval->reading_count, eval->reading_capacity);
    struct sp_reading *reading = &eval->readings[eval->reading_count];
    *reading = (struct sp_reading){.path = sp_arena_copy(eval->arena, path->data, path->length)};
    sp_map_add(&eval->paths, reading->path, eval->reading_count++);
    return reading;
}

/* Finishes reading a hyper-parameter: an unset value names it, a set one is recorded. */
static struct shapeproof_value look_at(struct sp_eval *eval, struct sp_reading *reading, struct shapeproof_value value,
                                       const struct sp_view *view, const char *key)
{
    if (!sp_value_is_set(value)) value.string = reading->path;
    else if (!reading->from.source && value.type != SHAPEPROOF_VALUE_OBJECT) {
        reading->value = value;
        const struct sp_given *given = sp_view_given(view, key);
        reading->from = given ? given->from : sp_hyper_provenance(eval->hyper, reading->path);
    }
    return value;
}

static struct shapeproof_value ask_knowledge(const struct sp_eval *eval, const char *path)
{
    const struct sp_knowledge *knowledge = eval->hyper->knowledge;
    return knowledge->ask(knowledge->context, path);
}

bool sp_eval_key(struct sp_eval *eval, const struct sp_view *view, const char *key, struct shapeproof_value *value)
{
    const struct sp_given *given = sp_view_given(view, key);
    if (given && given->open.expr) return sp_eval(eval, given->open.env, given->open.expr, value);
    struct sp_reading *reading = reading_of(eval, view->prefix, "", key);
    *value = given || !eval->hyper->knowledge ? view_get(eval, view, key) : ask_knowledge(eval, reading->path);
    *value = look_at(eval, reading, *value, view, key);
    return true;
}

static const char *path_of_name(struct sp_eval *eval, const struct sp_env *env, const struct sp_expr *expr)
{
    const struct sp_meaning meaning = sp_meaning_of(env, expr);
    const struct sp_env own = sp_definition_env(env, meaning);
    if (meaning.kind == SP_MEANS_KEY) return reading_of(eval, env->frame->view->prefix, "", expr->name)->path;
    if (meaning.kind != SP_MEANS_DEFINITION || meaning.definition->is_function) return NULL;
    return sp_eval_path(eval, &own, meaning.definition->expr);
}

/* at(num_layers, 0): one side of a pair means the hyper-parameter that holds both. */
static bool is_one_side(const struct sp_expr *expr)
{
    return expr->kind == SP_EXPR_CALL && expr->function && strcmp(expr->name, "at") == 0;
}

const char *sp_eval_path(struct sp_eval *eval, const struct sp_env *env, const struct sp_expr *expr)
{
    struct shapeproof_value value;
    switch (expr->kind) {
    case SP_EXPR_NAME:
        return path_of_name(eval, env, expr);
    case SP_EXPR_DEFAULT: /* of the alternative that holds, or the first */
        if (sp_eval(eval, env, expr->args[0], &value) && !sp_value_is_set(value) &&
            sp_eval(eval, env, expr->args[1], &value) && sp_value_is_set(value))
            return sp_eval_path(eval, env, expr->args[1]);
        return sp_eval_path(eval, env, expr->args[0]);
    case SP_EXPR_MEMBER: {
        const char *object = sp_eval_path(eval, env, expr->args[0]);
        return object ? reading_of(eval, object, ".", expr->name)->path : NULL;
    }
    case SP_EXPR_CALL:
        return is_one_side(expr) ? sp_eval_path(eval, env, expr->args[0]) : NULL;
    default:
        return NULL;
    }
}

bool sp_eval_remembered(struct sp_eval *eval, const struct sp_env *env, const struct sp_expr *expr,
                        struct sp_remembered *remembered, struct shapeproof_value *value)
{
    const struct sp_knowledge *knowledge = eval->hyper->knowledge;
    const size_t touched = *knowledge->touched;
    const uint64_t asked = *knowledge->asked;
    if (!remembered->is_set || remembered->made != *knowledge->changes) {
        *knowledge->touched = 0;
        *knowledge->asked = 0;
        const bool good = sp_eval(eval, env, expr, value);
        *remembered = (struct sp_remembered){good, *knowledge->changes, *knowledge->touched, *knowledge->asked, *value};
        if (*knowledge->touched < touched) *knowledge->touched = touched;
        *knowledge->asked |= asked;
        return good;
    }
    if (remembered->touched > touched) *knowledge->touched = remembered->touched;
    *knowledge->asked |= remembered->asked;
    *value = remembered->value;
    return true;
}

/* The value of a definition, evaluated once for each frame. A definition that is reached while it is evaluated is
 * defined through itself, which is an error. */
static bool eval_definition(struct sp_eval *eval, const struct sp_env *env, struct sp_meaning meaning,
                            struct shapeproof_value *value)
{
    const struct sp_definition *definition = meaning.definition;
    const struct sp_env own = sp_definition_env(env, meaning);
    struct sp_cached *cached = meaning.is_local || !env->frame->cache ? NULL : &env->frame->cache[meaning.index];
    if (definition->is_function)
        return sp_eval_fail(eval, definition->span, "'%s' needs its arguments", definition->name);
    if (cached && cached->state == SP_CACHE_DONE) {
        *value = cached->value;
        return true;
    }
    if (cached && cached->state == SP_CACHE_FAILED) return false; /* it was reported */
    if (cached && cached->state == SP_CACHE_BUSY)
        return sp_eval_fail(eval, definition->span, "'%s' is defined through itself", definition->name);
    if (env->frame->remembered && !meaning.is_local)
        return sp_eval_remembered(eval, &own, definition->expr, &env->frame->remembered[meaning.index], value);
    if (cached) cached->state = SP_CACHE_BUSY;
    const bool good = sp_eval(eval, &own, definition->expr, value);
    if (cached) *cached = (struct sp_cached){good ? SP_CACHE_DONE : SP_CACHE_FAILED, *value};
    return good;
}

/* A parameter of a part, whose argument is worked out when it is asked for. */
static bool eval_argument(struct sp_eval *eval, const struct sp_env *env, const struct sp_expr *expr,
                          struct shapeproof_value *value)
{
    struct sp_env own = *env;
    const struct sp_expr *argument = expr;
    if (sp_meaning_open(&own, &argument)) return sp_eval(eval, &own, argument, value);
    *value = sp_value_absent(expr->name);
    return true;
}

/* The value of a name, by its meaning: argument of a function, loop index, parameter of the part, definition, or
 * key of the configuration. */
static bool eval_name(struct sp_eval *eval, const struct sp_env *env, const struct sp_expr *expr,
                      struct shapeproof_value *value)
{
    const struct sp_meaning meaning = sp_meaning_of(env, expr);
    switch (meaning.kind) {
    case SP_MEANS_ARGUMENT:
        *value = env->args ? env->args[meaning.index] : sp_value_absent(expr->name);
        return true;
    case SP_MEANS_LOOP:
        *value = sp_loop_numbered(env->loops, meaning.index)->value;
        return true;
    case SP_MEANS_PARAM:
        if (!env->frame->params) return eval_argument(eval, env, expr, value);
        *value = env->frame->params[meaning.index];
        return true;
    case SP_MEANS_DEFINITION:
        return eval_definition(eval, env, meaning, value);
    case SP_MEANS_KEY:
        /* a key is searched for among all members of the object: 16 of them are a step */
        if (!sp_eval_spend(eval, expr->span, env->frame->view->object.count / 16)) return false;
        return sp_eval_key(eval, env->frame->view, expr->name, value);
    }
    return false;
}

/* ---- operators ---- */

/* and, or: the right side is not looked at when the left one decides. */
static bool eval_logic(struct sp_eval *eval, const struct sp_env *env, const struct sp_expr *expr,
                       struct shapeproof_value *value)
{
    bool left, right;
    if (!sp_eval(eval, env, expr->args[0], value)) return false;
    if (!sp_value_is_set(*value)) return true;
    if (!sp_truth(eval, expr->args[0], *value, &left)) return false;
    *value = sp_value_bool(left);
    if (left == (expr->op == SP_OP_OR)) return true;
    if (!sp_eval(eval, env, expr->args[1], value)) return false;
    if (!sp_value_is_set(*value)) return true;
    if (!sp_truth(eval, expr->args[1], *value, &right)) return false;
    *value = sp_value_bool(right);
    return true;
}

static bool eval_binary(struct sp_eval *eval, const struct sp_env *env, const struct sp_expr *expr,
                        struct shapeproof_value *value)
{
    struct shapeproof_value a, b;
    if (expr->op == SP_OP_AND || expr->op == SP_OP_OR) return eval_logic(eval, env, expr, value);
    if (!sp_eval(eval, env, expr->args[0], &a) || !sp_eval(eval, env, expr->args[1], &b)) return false;
    if (!sp_value_is_set(a) || !sp_value_is_set(b)) {
        *value = sp_value_is_set(a) ? b : a;
        return true;
    }
    return sp_operate(eval, expr, a, b, value);
}

/* not x, -x. Not set when the operand is not. */
static bool eval_unary(struct sp_eval *eval, const struct sp_env *env, const struct sp_expr *expr,
                       struct shapeproof_value *value)
{
    bool yes;
    if (!sp_eval(eval, env, expr->args[0], value)) return false;
    if (!sp_value_is_set(*value)) return true;
    if (expr->op == SP_OP_NOT) {
        if (!sp_truth(eval, expr->args[0], *value, &yes)) return false;
        *value = sp_value_bool(!yes);
        return true;
    }
    return sp_negate(eval, expr, value);
}

/* ---- the other kinds of expression ---- */

static bool eval_choice(struct sp_eval *eval, const struct sp_env *env, const struct sp_expr *expr,
                        struct shapeproof_value *value)
{
    bool yes;
    if (!sp_eval(eval, env, expr->args[0], value)) return false;
    if (!sp_value_is_set(*value)) return true;
    if (!sp_truth(eval, expr->args[0], *value, &yes)) return false;
    return sp_eval(eval, env, expr->args[yes ? 1 : 2], value);
}

/* What the table supplies is recorded under the first key, in whose place it stands. */
static void record_default(struct sp_eval *eval, const struct sp_env *env, const struct sp_expr *expr,
                           struct shapeproof_value value)
{
    const struct sp_expr *key = expr, *last = expr;
    for (; last->kind == SP_EXPR_DEFAULT; last = last->args[1]) {
        const struct sp_expr *one = last->args[0];
        if (key == expr && (one->kind == SP_EXPR_NAME || one->kind == SP_EXPR_MEMBER || is_one_side(one))) key = one;
    }
    const bool from_key = is_one_side(last) || last->kind == SP_EXPR_MEMBER ||
                          (last->kind == SP_EXPR_NAME && sp_meaning_of(env, last).kind == SP_MEANS_KEY);
    const char *path = from_key || key == expr ? NULL : sp_eval_path(eval, env, key);
    if (!path) return;
    struct sp_reading *reading = reading_of(eval, path, "", "");
    if (reading->from.source) return;
    reading->value = value;
    reading->from = (struct shapeproof_provenance){
        .source = SHAPEPROOF_SOURCE_DEFAULT, .name = expr->span.source->name, .line = sp_span_line(expr->span)};
}

/* a default b default 12: the first that is set. When none is there, the first is the one to ask for. */
static bool eval_fallback(struct sp_eval *eval, const struct sp_env *env, const struct sp_expr *expr,
                          struct shapeproof_value *value)
{
    const struct sp_expr *last = expr;
    struct shapeproof_value first = sp_value_absent("");
    for (; last->kind == SP_EXPR_DEFAULT; last = last->args[1]) {
        if (!sp_eval(eval, env, last->args[0], value)) return false;
        if (sp_value_is_set(*value) || value->type == SHAPEPROOF_VALUE_UNKNOWN) return true;
        if (last == expr) first = *value;
    }
    if (!sp_eval(eval, env, last, value)) return false;
    if (value->type == first.type) value->string = first.string;
    else if (sp_value_is_set(*value) && value->type != SHAPEPROOF_VALUE_OBJECT) record_default(eval, env, expr, *value);
    return true;
}

/* [a, b]. Each item must be set; if inference does not know one yet, the list is that unknown value. */
static bool eval_list(struct sp_eval *eval, const struct sp_env *env, const struct sp_expr *expr,
                      struct shapeproof_value *value)
{
    struct shapeproof_value *items = sp_arena_array(eval->arena, expr->count, sizeof *items);
    for (size_t i = 0; i < expr->count; i++) {
        if (!sp_eval_known(eval, env, expr->args[i], &items[i])) return false;
        if (items[i].type != SHAPEPROOF_VALUE_UNKNOWN) continue;
        *value = items[i];
        return true;
    }
    *value = (struct shapeproof_value){.type = SHAPEPROOF_VALUE_LIST, .count = expr->count, .items = items};
    return true;
}

/* The value of `list[index]` in inference, where the list is not known as a whole: the item may be known nevertheless.
 * If it is not either, the value is the unknown list. */
static bool eval_item_of_unknown(struct sp_eval *eval, const struct sp_env *env, const struct sp_expr *index,
                                 struct shapeproof_value list, struct shapeproof_value *value)
{
    const struct sp_knowledge *knowledge = eval->hyper->knowledge;
    struct shapeproof_value place;
    *value = list;
    if (!sp_eval(eval, env, index, &place)) return false;
    if (place.type != SHAPEPROOF_VALUE_INT || place.integer < 0) return true;
    const struct shapeproof_value item = knowledge->ask_item(knowledge->context, list.string, (size_t)place.integer);
    if (sp_value_is_set(item)) *value = item;
    return true;
}

/* An index that the list does not have, for people: "there is no item 2 in depths, a list of 2 (the first is item 0)".
 * A list that is no key of the configuration is not named. */
static bool refuse_index(struct sp_eval *eval, const struct sp_env *env, const struct sp_expr *expr, int64_t index,
                         size_t count)
{
    const char *path = sp_eval_path(eval, env, expr->args[0]);
    return sp_eval_fail(eval, expr->span, "there is no item %" PRId64 " in %s%sa list of %zu (the first is item 0)",
                        index, path ? path : "", path ? ", " : "", count);
}

/* The value of `list[index]`. Not set when the list or the index is not set; absent when the list is empty, so that
 * `architectures[0] default ""` can be written. An index outside of any other list is a mistake. */
static bool eval_index(struct sp_eval *eval, const struct sp_env *env, const struct sp_expr *expr,
                       struct shapeproof_value *value)
{
    struct shapeproof_value from;
    if (!sp_eval(eval, env, expr->args[0], &from)) return false;
    const bool is_unknown_key = from.type == SHAPEPROOF_VALUE_UNKNOWN && *from.string; /* its path; "": no key */
    if (is_unknown_key) return eval_item_of_unknown(eval, env, expr->args[1], from, value);
    if (!sp_value_is_set(from)) {
        *value = from;
        return true;
    }
    if (from.type != SHAPEPROOF_VALUE_LIST)
        return sp_eval_fail(eval, expr->args[0]->span, "expected a list, found %s", sp_value_kind(from.type));
    if (!sp_eval(eval, env, expr->args[1], value)) return false;
    if (!sp_value_is_set(*value)) return true;
    if (value->type != SHAPEPROOF_VALUE_INT)
        return sp_eval_fail(eval, expr->args[1]->span, "an index is an integer, not %s", sp_value_kind(value->type));
    const int64_t place = value->integer;
    if (from.count == 0) {
        *value = sp_value_absent(sp_eval_path(eval, env, expr->args[0]));
        if (!value->string) value->string = "an item of an empty list";
        return true;
    }
    if (place < 0 || (uint64_t)place >= from.count) return refuse_index(eval, env, expr, place, from.count);
    *value = from.items[place];
    return true;
}

const char *sp_eval_item_path(struct sp_arena *arena, struct shapeproof_value item, const char *name)
{
    const size_t length = item.type == SHAPEPROOF_VALUE_UNKNOWN ? strlen(item.string) : 0;
    return length && item.string[length - 1] == ']' ? sp_arena_printf(arena, "%s.%s", item.string, name) : NULL;
}

/* object.key: of a path of the configuration it is a hyper-parameter that is read, and recorded; otherwise a member of
 * an object that was computed. Not set when the object is not. */
static bool eval_member(struct sp_eval *eval, const struct sp_env *env, const struct sp_expr *expr,
                        struct shapeproof_value *value)
{
    struct shapeproof_value object;
    if (!sp_eval(eval, env, expr->args[0], &object)) return false;
    if (sp_value_is_set(object) && object.type != SHAPEPROOF_VALUE_OBJECT)
        return sp_eval_fail(eval, expr->args[0]->span, "expected an object, found %s", sp_value_kind(object.type));
    if (object.type == SHAPEPROOF_VALUE_OBJECT && !sp_eval_spend(eval, expr->span, object.count)) return false;
    const char *path = sp_eval_path(eval, env, expr);
    *value = sp_value_is_set(object) ? sp_value_member(object, expr->name) : object;
    if (path && eval->hyper->knowledge) *value = ask_knowledge(eval, path);
    if (path) *value = look_at(eval, reading_of(eval, path, "", ""), *value, env->frame->view, "");
    else if (value->type == SHAPEPROOF_VALUE_UNKNOWN &&
             (path = sp_eval_item_path(eval->arena, object, expr->name)) != NULL)
        *value = ask_knowledge(eval, path);
    else if (!sp_value_is_set(*value) && value->type != SHAPEPROOF_VALUE_UNKNOWN) value->string = expr->name;
    return true;
}

/* A call of a function that the table defines: its body, with the values of the arguments. */
static bool eval_call_own(struct sp_eval *eval, const struct sp_env *env, const struct sp_expr *expr,
                          struct sp_meaning meaning, struct shapeproof_value *value)
{
    const struct sp_definition *definition = meaning.definition;
    struct shapeproof_value args[SP_MAX_PARAMS];
    struct sp_env own = sp_definition_env(env, meaning);
    if (definition->param_count != expr->count || expr->count > SP_MAX_PARAMS)
        return sp_eval_fail(eval, expr->span, "'%s' takes %zu arguments, not %zu", expr->name, definition->param_count,
                            expr->count);
    for (size_t i = 0; i < expr->count; i++)
        if (!sp_eval(eval, env, expr->args[i], &args[i])) return false;
    own.args = args;
    return sp_eval(eval, &own, definition->expr, value);
}

/* The first item of the list that inference does not know yet; false when there is none. It explains why a function
 * failed. */
static bool find_unknown_item(struct shapeproof_value list, struct shapeproof_value *item)
{
    for (size_t i = 0; list.type == SHAPEPROOF_VALUE_LIST && i < list.count; i++) {
        *item = list.items[i];
        if (item->type == SHAPEPROOF_VALUE_UNKNOWN) return true;
    }
    return false;
}

/* The value of a function call. The first argument that is not set is the result, except of the functions that ask
 * for that (absent, null). */
static bool eval_call(struct sp_eval *eval, const struct sp_env *env, const struct sp_expr *expr,
                      struct shapeproof_value *value)
{
    struct shapeproof_value args[SP_MAX_PARAMS];
    const char *problem = NULL;
    const struct sp_meaning meaning = sp_meaning_of(env, expr);
    if (meaning.kind == SP_MEANS_DEFINITION && meaning.definition->is_function)
        return eval_call_own(eval, env, expr, meaning, value);
    if (!expr->function || expr->count > SP_MAX_PARAMS)
        return sp_eval_fail(eval, expr->span, "there is no function '%s'", expr->name);
    for (size_t i = 0; i < expr->count; i++) {
        if (!sp_eval(eval, env, expr->args[i], &args[i])) return false;
        if (sp_value_is_set(args[i]) || (expr->function->sees_absent && args[i].type != SHAPEPROOF_VALUE_UNKNOWN))
            continue;
        *value = args[i];
        return true;
    }
    /* every built-in function has at least one argument: the linker counted them */
    const uint64_t cost = sp_function_cost(expr->function, args, expr->count);
    if (cost && !sp_eval_spend(eval, expr->span, sp_size_saturated(cost))) return false;
    *value = args[0];
    if (sp_function_apply(expr->function, eval->arena, args, expr->count, value, &problem)) return true;
    if (find_unknown_item(args[0], value)) return true;
    if (problem == sp_function_overflowed) return sp_eval_overflow(eval, expr->span, "%s: %s", expr->name, problem);
    return sp_eval_fail(eval, expr->span, "%s: %s", expr->name, problem);
}

/* The value of an expression that is neither a literal nor a name. Not inlined: those, which are most of what is
 * evaluated, would pay for its stack frame. */
static __attribute__((noinline)) bool operate(struct sp_eval *eval, const struct sp_env *env,
                                              const struct sp_expr *expr, struct shapeproof_value *value)
{
    switch (expr->kind) {
    case SP_EXPR_LIST:
        return eval_list(eval, env, expr, value);
    case SP_EXPR_UNARY:
        return eval_unary(eval, env, expr, value);
    case SP_EXPR_BINARY:
        return eval_binary(eval, env, expr, value);
    case SP_EXPR_CHOICE:
        return eval_choice(eval, env, expr, value);
    case SP_EXPR_DEFAULT:
        return eval_fallback(eval, env, expr, value);
    case SP_EXPR_CALL:
        return eval_call(eval, env, expr, value);
    case SP_EXPR_INDEX:
        return eval_index(eval, env, expr, value);
    case SP_EXPR_MEMBER:
        return eval_member(eval, env, expr, value);
    default: /* a group stands in claims alone, which are never evaluated here */
        return false;
    }
}

bool sp_eval(struct sp_eval *eval, const struct sp_env *env, const struct sp_expr *expr, struct shapeproof_value *value)
{
    *value = sp_value_absent("");
    if (!sp_eval_spend(eval, expr->span, 1)) return false;
    if (eval->depth >= SP_MAX_EVAL_DEPTH)
        return sp_eval_fail(eval, expr->span, "nested too deep: is it defined through itself?");
    if (expr->kind == SP_EXPR_LITERAL) {
        *value = expr->value;
        return true;
    }
    eval->depth++;
    const bool good = expr->kind == SP_EXPR_NAME ? eval_name(eval, env, expr, value) : operate(eval, env, expr, value);
    eval->depth--;
    if (good && sp_value_is_nan(*value)) return sp_eval_fail(eval, expr->span, "%s", sp_value_not_a_number);
    return good;
}

bool sp_meaning_open(struct sp_env *env, const struct sp_expr **expr)
{
    const struct sp_meaning meaning = sp_meaning_of(env, *expr);
    const struct sp_frame *frame = env->frame;
    if (meaning.kind == SP_MEANS_PARAM && frame->param_exprs[meaning.index]) {
        if (!frame->user_env) return false;
        *expr = frame->param_exprs[meaning.index];
        *env = *frame->user_env;
    } else if (meaning.kind == SP_MEANS_PARAM) {
        *expr = frame->unit->params[meaning.index].fallback;
        *env = (struct sp_env){.frame = frame};
    } else if (meaning.kind == SP_MEANS_DEFINITION && !meaning.definition->is_function) {
        *expr = meaning.definition->expr;
        *env = sp_definition_env(env, meaning);
    } else return false;
    return *expr != NULL;
}

void sp_eval_free(struct sp_eval *eval)
{
    sp_eval_settle(eval);
    sp_free(eval->readings);
    sp_map_free(&eval->paths);
    sp_members_free(&eval->members);
    sp_text_free(&eval->path);
    sp_text_free(&eval->name);
}
