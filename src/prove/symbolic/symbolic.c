/* SPDX-License-Identifier: MIT
 * The value of an expression. What names mean is in meaning.c, what operations give in operate.c. */
#include "prove/symbolic/symbolic.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/budget.h"
#include "base/suggest.h"
#include "lang/functions.h"
#include "lang/names.h"
#include "prove/symbolic/atoms.h"
#include "prove/symbolic/meaning.h"
#include "prove/symbolic/operations.h"
#include "prove/symbolic/shard.h"
#include "prove/symbolic/sums.h"

enum {
    LEAST_STEPS = 4 * 1000 * 1000, /* that a count or reduction may take: expressions and iterations */
    STEPS_PART = 16, /* of the steps of a prediction: a step takes so much longer with formulas than with numbers */
    MAX_MESSAGES = 20,
    MAX_ITERATIONS = 4096 /* of a sum that is computed iteration by iteration */
};

void sp_symbolic_free(struct sp_symbolic *symbolic)
{
    sp_free(symbolic->symbols.items);
    sp_free(symbolic->infos.items);
    sp_free(symbolic->premises.assumed);
    sp_map_free(&symbolic->symbols.keys);
    sp_map_free(&symbolic->symbols.own_keys);
    sp_free(symbolic->defaults.items);
    sp_map_free(&symbolic->defaults.keys);
    sp_algebra_free(&symbolic->algebra);
}

struct sp_sym_heard sp_sym_begin_look_ahead(struct sp_symbolic *symbolic)
{
    const struct sp_sym_heard heard = {symbolic->report.messages, symbolic->report.mistakes};
    symbolic->report.messages = &symbolic->report.unheard;
    return heard;
}

void sp_sym_end_look_ahead(struct sp_symbolic *symbolic, struct sp_sym_heard heard)
{
    symbolic->report.messages = heard.messages;
    symbolic->report.mistakes = heard.mistakes;
    sp_text_free(&symbolic->report.unheard);
    symbolic->report.unheard = (struct sp_text){0};
}

bool sp_sym_fail(struct sp_symbolic *symbolic, struct sp_span span, const char *format, ...)
{
    char message[512];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    if (symbolic->report.mistakes++ >= MAX_MESSAGES) return false;
    if (span.source) sp_diagnose(symbolic->report.messages, span, "%s", message);
    else {
        if (symbolic->report.messages->length) sp_text_puts(symbolic->report.messages, "\n");
        sp_text_visible(symbolic->report.messages, message, strlen(message));
    }
    return false;
}

enum shapeproof_kind sp_sym_failure(const struct sp_symbolic *symbolic)
{
    return symbolic->algebra.failed == sp_algebra_overflowed ? SHAPEPROOF_KIND_OVERFLOW : SHAPEPROOF_KIND_NONE;
}

bool sp_sym_spend(struct sp_symbolic *symbolic, struct sp_span span, size_t steps)
{
    const uint64_t part = sp_budget_steps() / STEPS_PART;
    const size_t most = part < LEAST_STEPS ? LEAST_STEPS : part < SIZE_MAX / 2 ? (size_t)part : SIZE_MAX / 2;
    if (symbolic->algebra.failed) return false;
    if (symbolic->steps > most) return false; /* it was reported */
    sp_budget_spend(steps);
    symbolic->steps += steps < most ? steps : most;
    return symbolic->steps <= most ||
           sp_sym_fail(symbolic, span,
                       "the formulas of the table take more than %zu steps; --limit steps=N allows N/%d", most,
                       STEPS_PART);
}

const struct sp_symbol_info *sp_sym_symbol(const struct sp_symbolic *symbolic, const char *name)
{
    for (size_t i = 0; i < symbolic->symbols.count; i++)
        if (!strcmp(symbolic->symbols.items[i].name, name)) return &symbolic->symbols.items[i];
    const size_t by_key = sp_map_get(&symbolic->symbols.keys, name);
    return by_key == SIZE_MAX ? NULL : &symbolic->symbols.items[by_key];
}

/* ---- operators ---- */

/* The functions below evaluate one kind of expression each. False after a mistake, which was reported. */

/* and, or: p*q, p + q - p*q. The right side is not evaluated when the left one decides. A side that is absent or null
 * is the result. */
static bool symbolic_logic(struct sp_symbolic *symbolic, const struct sp_sym_env *env, const struct sp_expr *expr,
                           struct sp_sym *out)
{
    struct sp_algebra *algebra = &symbolic->algebra;
    struct sp_rational value;
    const struct sp_poly *p, *q;
    if (!sp_sym_eval(symbolic, env, expr->args[0], out)) return false;
    if (!sp_sym_is_set(*out)) return true;
    if (!sp_sym_as_condition(symbolic, expr->args[0]->span, *out, &p)) return false;
    *out = sp_sym_of_condition(p);
    if (sp_poly_is_constant(p, &value) && (value.num != 0) == (expr->op == SP_OP_OR)) return true;
    if (!sp_sym_eval(symbolic, env, expr->args[1], out)) return false;
    if (!sp_sym_is_set(*out)) return true;
    if (!sp_sym_as_condition(symbolic, expr->args[1]->span, *out, &q)) return false;
    const struct sp_poly *both = sp_poly_mul(algebra, p, q);
    *out = sp_sym_of_condition(expr->op == SP_OP_AND ? both : sp_poly_sub(algebra, sp_poly_add(algebra, p, q), both));
    return true;
}

/* c ? yes : no. Only the chosen side is evaluated when c is known; a c that is absent or null is the result. */
static bool symbolic_choice(struct sp_symbolic *symbolic, const struct sp_sym_env *env, const struct sp_expr *expr,
                            struct sp_sym *out)
{
    struct sp_rational value;
    struct sp_sym yes, no;
    const struct sp_poly *c;
    if (!sp_sym_eval(symbolic, env, expr->args[0], out)) return false;
    if (!sp_sym_is_set(*out)) return true;
    if (!sp_sym_as_condition(symbolic, expr->args[0]->span, *out, &c)) return false;
    if (sp_poly_is_constant(c, &value)) return sp_sym_eval(symbolic, env, expr->args[value.num ? 1 : 2], out);
    if (!sp_sym_eval(symbolic, env, expr->args[1], &yes) || !sp_sym_eval(symbolic, env, expr->args[2], &no))
        return false;
    *out = sp_sym_combine(symbolic, c, yes, no);
    return true;
}

/* a op b */
static bool symbolic_binary(struct sp_symbolic *symbolic, const struct sp_sym_env *env, const struct sp_expr *expr,
                            struct sp_sym *out)
{
    const struct sp_operation operation = {.kind = SP_DO_BINARY, .op = expr->op, .span = expr->span};
    struct sp_sym args[2];
    if (expr->op == SP_OP_AND || expr->op == SP_OP_OR) return symbolic_logic(symbolic, env, expr, out);
    if (!sp_sym_eval(symbolic, env, expr->args[0], &args[0]) || !sp_sym_eval(symbolic, env, expr->args[1], &args[1]))
        return false;
    return sp_sym_operate(symbolic, &operation, args, 2, out);
}

/* -a, which is 0 - a, and not a. */
static bool symbolic_unary(struct sp_symbolic *symbolic, const struct sp_sym_env *env, const struct sp_expr *expr,
                           struct sp_sym *out)
{
    const struct sp_operation minus = {.kind = SP_DO_BINARY, .op = SP_OP_SUB, .span = expr->span};
    struct sp_sym args[2] = {sp_sym_of_poly(sp_poly_int(&symbolic->algebra, 0))};
    const struct sp_poly *p;
    if (!sp_sym_eval(symbolic, env, expr->args[0], &args[1])) return false;
    if (expr->op != SP_OP_NOT) return sp_sym_operate(symbolic, &minus, args, 2, out);
    *out = args[1];
    if (!sp_sym_is_set(*out)) return true;
    if (!sp_sym_as_condition(symbolic, expr->args[0]->span, *out, &p)) return false;
    *out = sp_sym_of_condition(sp_sym_not(symbolic, p));
    return true;
}

/* ---- lists, members, calls ---- */

/* [a, b]: none of the items may be absent or null. */
static bool symbolic_list(struct sp_symbolic *symbolic, const struct sp_sym_env *env, const struct sp_expr *expr,
                          struct sp_sym *out)
{
    struct sp_sym *items = sp_arena_array(&symbolic->algebra.arena, expr->count, sizeof *items);
    for (size_t i = 0; i < expr->count; i++) {
        if (!sp_sym_eval(symbolic, env, expr->args[i], &items[i])) return false;
        if (!sp_sym_is_set(items[i]))
            return sp_sym_fail(symbolic, expr->args[i]->span, "the items of a list must be set");
    }
    *out = sp_sym_of_items(symbolic, items, expr->count);
    return true;
}

/* The symbol that a value is; NULL when it is none. */
static const struct sp_symbol_info *symbol_of_key(const struct sp_symbolic *symbolic, struct sp_sym sym)
{
    const size_t atom = sym.kind <= SP_SYM_CONDITION ? sp_atom_alone(sym.poly) : SIZE_MAX;
    for (size_t i = 0; i < symbolic->symbols.count; i++)
        if (symbolic->symbols.items[i].atom == atom) return &symbolic->symbols.items[i];
    return NULL;
}

/* Whether the table has the symbol x[0], what at(x, 0) is of a symbol x. */
static bool has_side(struct sp_symbolic *symbolic, const struct sp_symbol_info *symbol, struct sp_sym place)
{
    struct shapeproof_value side;
    if (!sp_sym_literal(place, &side) || side.type != SHAPEPROOF_VALUE_INT) return false;
    return sp_sym_symbol(symbolic, sp_arena_printf(&symbolic->algebra.arena, "%s[%" PRId64 "]", symbol->key,
                                                   side.integer)) != NULL;
}

/* LIST[i]. A claim writes patch_size[0] as well of what may be one number for both sides, which is at(patch_size, 0).
 * So it is in the formulas of a table that asks for at(patch_size, 0), also where patch_size is a list elsewhere. */
static bool symbolic_item(struct sp_symbolic *symbolic, const struct sp_sym_env *env, const struct sp_expr *expr,
                          struct sp_sym *out)
{
    struct sp_operation operation = {.kind = SP_DO_INDEX, .span = expr->span};
    struct sp_sym args[2];
    if (!sp_sym_eval(symbolic, env, expr->args[0], &args[0]) || !sp_sym_eval(symbolic, env, expr->args[1], &args[1]))
        return false;
    const struct sp_symbol_info *symbol = env->group ? symbol_of_key(symbolic, args[0]) : NULL;
    if (symbol && (!symbol->is_list || has_side(symbolic, symbol, args[1]))) {
        operation.kind = SP_DO_CALL;
        operation.function = sp_function_find("at");
    }
    return sp_sym_operate(symbolic, &operation, args, 2, out);
}

/* object.name, where the object is not known: a symbol for the key "object.name". Of an object that is an item of a
 * list, may be unset, or is either of two, it is an operation on it. */
static bool unknown_member(struct sp_symbolic *symbolic, const struct sp_sym_env *env, const struct sp_expr *expr,
                           struct sp_sym object, struct sp_sym *out)
{
    const struct sp_symbol_info *symbol = symbol_of_key(symbolic, object);
    const struct sp_operation member = {.kind = SP_DO_MEMBER, .name = expr->name, .span = expr->args[0]->span};
    struct sp_sym_frame view = {.path = ""};
    if (object.kind == SP_SYM_EITHER || sp_sym_may_be_unset(symbolic, object) || sp_sym_depends(symbolic, object))
        return sp_sym_operate(symbolic, &member, &object, 1, out);
    if (symbol && !symbol->is_computed) {
        view.path = sp_arena_printf(&symbolic->algebra.arena, "%s.%s", symbol->key, expr->name);
        view.depends = sp_sym_depends(symbolic, object);
    } else if (!sp_sym_view_of(symbolic, env, expr, &view)) return false;
    if (env->group && !sp_sym_symbol(symbolic, view.path))
        return sp_sym_fail(symbolic, expr->span, "'%s' is neither defined nor a hyper-parameter of the table",
                           view.path);
    *out = sp_atom_open(symbolic, NULL, view.path, view.depends, NULL);
    return true;
}

/* object.name, where the object is a value of the configuration: the member, or a symbol for one that it does not have,
 * unless the count is settled. The members of any other object are just values. */
static struct sp_sym known_member(struct sp_symbolic *symbolic, struct sp_sym object, const char *name)
{
    const struct shapeproof_value value = sp_value_member(object.value, name);
    struct sp_sym member = sp_sym_of_value(symbolic, value);
    if (!object.name) return member;
    const char *path = sp_arena_printf(&symbolic->algebra.arena, "%s.%s", object.name, name);
    const bool is_open = sp_sym_key_is_open(symbolic, path);
    sp_sym_key_mark(symbolic, path);
    if (is_open || (value.type == SHAPEPROOF_VALUE_ABSENT && !symbolic->fixed.is_settled))
        member = sp_atom_open(symbolic, NULL, path, 0, NULL);
    if (is_open || !sp_value_is_set(value) || value.type == SHAPEPROOF_VALUE_OBJECT) member.name = path;
    return member;
}

/* a.name: a key of the configuration, or a member of whatever `a` is. */
static bool symbolic_member(struct sp_symbolic *symbolic, const struct sp_sym_env *env, const struct sp_expr *expr,
                            struct sp_sym *out)
{
    struct sp_sym object;
    if (sp_sym_name_is_key(env, expr)) return sp_sym_key_value(symbolic, env, expr, NULL, out);
    if (!sp_sym_eval(symbolic, env, expr->args[0], &object)) return false;
    *out = object;
    if (!sp_sym_is_set(object)) return true;
    if (object.kind != SP_SYM_VALUE) return unknown_member(symbolic, env, expr, object, out);
    if (object.value.type != SHAPEPROOF_VALUE_OBJECT)
        return sp_sym_fail(symbolic, expr->args[0]->span, "expected an object, found %s",
                           sp_value_kind(object.value.type));
    *out = known_member(symbolic, object, expr->name);
    return true;
}

/* A call of a function that the table or the claim defines. Its arguments are evaluated in `env`, its body in `own`,
 * the environment of its definition. */
static bool symbolic_call_own(struct sp_symbolic *symbolic, const struct sp_sym_env *env, const struct sp_expr *expr,
                              struct sp_sym_env own, const struct sp_definition *definition, struct sp_sym *out)
{
    struct sp_sym *args = sp_arena_array(&symbolic->algebra.arena, expr->count, sizeof *args);
    if (definition->param_count != expr->count)
        return sp_sym_fail(symbolic, expr->span, "'%s' takes %zu arguments, not %zu", expr->name,
                           definition->param_count, expr->count);
    for (size_t i = 0; i < expr->count; i++)
        if (!sp_sym_eval(symbolic, env, expr->args[i], &args[i])) return false;
    own.args = args;
    return sp_sym_eval(symbolic, &own, definition->expr, out);
}

/* The condition absent(path) or null(path) of a hyper-parameter that is open, as a symbol that is false by default. */
static struct sp_sym unset_condition(struct sp_symbolic *symbolic, const char *function, const char *path)
{
    const struct sp_sym no = sp_sym_of_truth(symbolic, false);
    const char *text = sp_arena_printf(&symbolic->algebra.arena, "%s(%s)", function, path);
    const struct sp_sym sym = sp_atom_open(symbolic, NULL, text, 0, &no);
    symbolic->symbols.items[sp_map_get(&symbolic->symbols.keys, text)].unset_key = path;
    return sym;
}

/* In a claim absent(KEY) and null(KEY) are the conditions that the table has of that key, or what the configuration
 * says where all is settled; false for anything else. */
static bool claimed_unset(struct sp_symbolic *symbolic, const struct sp_sym_env *env, const struct sp_expr *expr,
                          struct sp_sym *out)
{
    const char *path = sp_sym_claimed_path(symbolic, env, expr->args[0]);
    const char *text = path ? sp_arena_printf(&symbolic->algebra.arena, "%s(%s)", expr->name, path) : NULL;
    const size_t symbol = text ? sp_map_get(&symbolic->symbols.keys, text) : SIZE_MAX;
    if (symbol == SIZE_MAX && path && symbolic->fixed.is_settled && symbolic->fixed.settings) {
        const bool null = strcmp(expr->name, "null") == 0;
        const enum shapeproof_value_type type = sp_value_at(symbolic->fixed.settings->root, path).type;
        *out = sp_sym_of_truth(symbolic, type == (null ? SHAPEPROOF_VALUE_NULL : SHAPEPROOF_VALUE_ABSENT));
        return true;
    }
    if (symbol == SIZE_MAX) return false;
    *out = sp_sym_of_condition(sp_poly_atom(&symbolic->algebra, symbolic->symbols.items[symbol].atom));
    return true;
}

/* Fails for a NaN, as of a key of the configuration, which has no place in any expression; whether it is one. */
static bool fail_nan(struct sp_symbolic *symbolic, const struct sp_expr *expr, struct sp_sym sym)
{
    if (sym.kind != SP_SYM_VALUE || !sp_value_is_nan(sym.value)) return false;
    sp_sym_fail(symbolic, expr->span, "%s", sp_value_not_a_number);
    return true;
}

static bool call_unset(struct sp_symbolic *symbolic, const struct sp_sym_env *env, const struct sp_expr *expr,
                       struct sp_sym *out);

/* absent(a default b) is (absent(a) or null(a)) and absent(b); null(a default b) is that with null(b). Of a key that is
 * known the first factor is 0 or 1. False, and nothing reported, when the argument is no such chain of keys. */
static bool unset_chain(struct sp_symbolic *symbolic, const struct sp_sym_env *env, const struct sp_expr *expr,
                        struct sp_sym *out)
{
    const struct sp_expr *chain = sp_sym_name_behind(env, expr->args[0]);
    struct sp_sym all_unset = sp_sym_of_truth(symbolic, true), sym;
    if (chain->kind != SP_EXPR_DEFAULT || env->group) return false;
    for (; chain->kind == SP_EXPR_DEFAULT; chain = chain->args[1]) {
        if (!sp_sym_name_is_key(env, chain->args[0])) return false;
        const char *path = sp_sym_key_path(symbolic, env, chain->args[0]);
        const enum sp_sym_key_state state = sp_sym_key_look_up(symbolic, env, chain->args[0], path, &sym);
        if (state == SP_SYM_KEY_KNOWN) {
            if (sym.kind == SP_SYM_VALUE && sp_value_is_nan(sym.value)) return false; /* reported with its value */
            *out = sp_sym_of_truth(symbolic, false);
            return true;
        }
        if (state == SP_SYM_KEY_UNSET) continue;
        const struct sp_sym absent = unset_condition(symbolic, "absent", path),
                            null = unset_condition(symbolic, "null", path);
        const struct sp_poly *neither =
            sp_poly_mul(&symbolic->algebra, sp_sym_not(symbolic, absent.poly), sp_sym_not(symbolic, null.poly));
        all_unset = sp_sym_of_condition(sp_poly_mul(&symbolic->algebra, all_unset.poly, sp_sym_not(symbolic, neither)));
    }
    struct sp_expr rest = *expr; /* the same call, of the last item of the chain */
    struct sp_expr *last = (struct sp_expr *)(uintptr_t)chain;
    rest.args = &last;
    if (!call_unset(symbolic, env, &rest, &sym)) return false;
    *out = sp_sym_of_condition(sp_poly_mul(&symbolic->algebra, all_unset.poly, sym.poly));
    return true;
}

/* absent(x) and null(x), by what x is:
 *
 *     a chain of keys, a default b    unset_chain
 *     a key that may be given         a condition of its own, absent(KEY)
 *     in a claim (env->group)         the condition that the table has of that key
 *     c ? null : 5                    c
 *     anything else                   a constant: whether its value is absent, or null */
static bool call_unset(struct sp_symbolic *symbolic, const struct sp_sym_env *env, const struct sp_expr *expr,
                       struct sp_sym *out)
{
    const enum shapeproof_value_type type =
        strcmp(expr->name, "null") == 0 ? SHAPEPROOF_VALUE_NULL : SHAPEPROOF_VALUE_ABSENT;
    const struct sp_expr *arg = expr->args[0];
    struct sp_sym sym;
    if (env->group && claimed_unset(symbolic, env, expr, out)) return true;
    if (unset_chain(symbolic, env, expr, out)) return true;
    if (sp_sym_name_is_key(env, arg) && !env->group) {
        const char *path = sp_sym_key_path(symbolic, env, arg);
        if (sp_sym_key_look_up(symbolic, env, arg, path, &sym) == SP_SYM_KEY_OPEN) {
            *out = unset_condition(symbolic, expr->name, path);
            return true;
        }
        if (fail_nan(symbolic, arg, sym)) return false;
    } else if (!sp_sym_eval(symbolic, env, arg, &sym)) return false;
    const struct sp_symbol_info *symbol = symbol_of_key(symbolic, sym);
    if (sp_sym_is_numeric(sym) && sym.name) *out = unset_condition(symbolic, expr->name, sym.name);
    else if (symbol && !symbol->fallback && !symbol->is_computed && !symbol->unset_key)
        *out = unset_condition(symbolic, expr->name, symbol->key);
    else if (sym.kind == SP_SYM_EITHER) {
        struct sp_sym sides[2];
        for (size_t i = 0; i < 2; i++)
            sides[i] =
                sp_sym_of_truth(symbolic, sym.either[i].kind == SP_SYM_VALUE && sym.either[i].value.type == type);
        *out = sp_sym_combine(symbolic, sym.poly, sides[0], sides[1]);
    } else *out = sp_sym_of_truth(symbolic, sym.kind == SP_SYM_VALUE && sym.value.type == type);
    return true;
}

/* A call of a function of the table language. */
static bool call_builtin(struct sp_symbolic *symbolic, const struct sp_sym_env *env, const struct sp_expr *expr,
                         struct sp_sym *out)
{
    const struct sp_operation operation = {.kind = SP_DO_CALL, .function = expr->function, .span = expr->span};
    struct sp_sym *args = sp_arena_array(&symbolic->algebra.arena, expr->count, sizeof *args);
    if (!expr->count || expr->count > SP_MAX_PARAMS) return sp_sym_fail(symbolic, expr->span, "too many arguments");
    for (size_t i = 0; i < expr->count; i++)
        if (!sp_sym_eval(symbolic, env, expr->args[i], &args[i])) return false;
    return sp_sym_operate(symbolic, &operation, args, expr->count, out);
}

/* A call, by what the name means: a function of the claim or the table where it stands, for a claim one of its table,
 * or a function of the language. */
static bool symbolic_call(struct sp_symbolic *symbolic, const struct sp_sym_env *env, const struct sp_expr *expr,
                          struct sp_sym *out)
{
    const struct sp_meaning own = sp_sym_meaning_of(env, expr);
    if (own.definition && own.definition->is_function)
        return symbolic_call_own(symbolic, env, expr, sp_sym_name_env(env, own.is_local), own.definition, out);
    if (env->outer) {
        const struct sp_sym_env table = {.frame = env->outer};
        const struct sp_definition *of_table = sp_meaning_by_name(env->outer->unit, expr->name).definition;
        if (of_table && of_table->is_function)
            return symbolic_call_own(symbolic, env, expr, sp_sym_unit_env(&table), of_table, out);
    }
    if (expr->function && expr->function->sees_absent) return call_unset(symbolic, env, expr, out);
    if (expr->function) return call_builtin(symbolic, env, expr, out);
    return sp_sym_fail(symbolic, expr->span, "there is no function '%s'", expr->name);
}

/* The mistake of a group that the table does not have, with the one that is meant most likely. */
static bool no_such_group(struct sp_symbolic *symbolic, const struct sp_expr *expr)
{
    const struct sp_unit *table = symbolic->root;
    const char *names[64], *likely = NULL;
    size_t count = 0;
    for (size_t i = 0; i < table->section_count && count < sizeof names / sizeof *names; i++)
        names[count++] = table->sections[i].name;
    if (strlen(expr->name) > 2) likely = sp_suggest(expr->name, names, count); /* else all names are alike */
    return sp_sym_fail(symbolic, expr->span, "the table has no group [%s]%s%s%s", expr->name,
                       likely ? "; did you mean [" : "", likely ? likely : "", likely ? "]?" : "");
}

/* Whether the name is one of a flag or a number. Evaluates it, and takes a mistake back. */
static bool is_numeric_name(struct sp_symbolic *symbolic, const struct sp_sym_env *env, const struct sp_expr *expr)
{
    const struct sp_sym_heard heard = sp_sym_begin_look_ahead(symbolic);
    struct sp_sym sym;
    const bool is_numeric = sp_sym_eval(symbolic, env, expr, &sym) && sp_sym_is_numeric(sym);
    sp_sym_end_look_ahead(symbolic, heard);
    return is_numeric;
}

/* [embedding](vocab_size = 128000): the group with other settings. The arguments are keys and values in turn. */
static bool varied_group(struct sp_symbolic *symbolic, const struct sp_sym_env *env, const struct sp_expr *expr,
                         struct sp_sym *out)
{
    const size_t count = expr->count / 2;
    struct sp_sym_setting *settings = sp_arena_array(&symbolic->algebra.arena, count, sizeof *settings);
    const char *why = "there is no configuration to vary";
    for (size_t i = 0; i < count; i++) {
        const struct sp_expr *value = expr->args[2 * i + 1];
        struct sp_sym given;
        settings[i].key = expr->args[2 * i]->value.string;
        if (!sp_sym_eval(symbolic, env, value, &given)) return false;
        if (!sp_sym_literal(given, &settings[i].value))
            return sp_sym_fail(symbolic, value->span, "the value of '%s' is not known", settings[i].key);
    }
    const struct sp_poly *poly = env->varied ? env->varied(env->context, expr->name, settings, count, &why) : NULL;
    if (!poly) return sp_sym_fail(symbolic, expr->span, "%s", why);
    *out = sp_sym_of_poly(poly);
    return true;
}

/* [embedding], or `total` with settings: a group of the table. */
static bool symbolic_group(struct sp_symbolic *symbolic, const struct sp_sym_env *env, const struct sp_expr *expr,
                           struct sp_sym *out)
{
    if (expr->count) return varied_group(symbolic, env, expr, out);
    const struct sp_poly *poly = env->group ? env->group(env->context, expr->name) : NULL;
    if (!poly) return no_such_group(symbolic, expr);
    *out = sp_sym_of_poly(poly);
    return true;
}

/* [0 < n]: 1 where the condition holds, else 0; or a group of that name. */
static bool symbolic_bracket(struct sp_symbolic *symbolic, const struct sp_sym_env *env, const struct sp_expr *expr,
                             struct sp_sym *out)
{
    const struct sp_poly *poly = env->group ? env->group(env->context, expr->name) : NULL;
    const bool is_name = expr->args[0]->kind == SP_EXPR_NAME;
    if (!poly && is_name && !is_numeric_name(symbolic, env, expr->args[0])) return no_such_group(symbolic, expr);
    if (!poly && !sp_sym_condition(symbolic, env, expr->args[0], &poly)) return false;
    *out = sp_sym_of_poly(poly);
    return true;
}

/* The index of a sum around the expression, by its name. False when there is none of that name. */
static bool find_bound(const struct sp_sym_env *env, const char *name, struct sp_sym *out)
{
    for (const struct sp_sym_bound *bound = env->bound; bound; bound = bound->outer)
        if (strcmp(bound->name, name) == 0) {
            *out = bound->sym;
            return true;
        }
    return false;
}

/* Whether the polynomial is 0 or 1 in every case, as [a]*[b] and 1 - [a] are: then it is its own square, because a
 * condition is. */
static bool is_truth(struct sp_algebra *algebra, const struct sp_poly *poly)
{
    return sp_poly_equal(sp_poly_mul(algebra, poly, poly), poly);
}

/* Whether there may be iterations of a sum in which its body has no value: it divides by what is no number, or calls
 * ceil_div, round_up or a function of the table. */
static bool may_have_no_value(const struct sp_expr *body)
{
    const bool divides = body->kind == SP_EXPR_BINARY && body->op >= SP_OP_DIV && body->op <= SP_OP_MOD;
    if (divides && body->args[1]->kind != SP_EXPR_LITERAL) return true;
    if (body->kind == SP_EXPR_CALL && (!body->function || strcmp(body->function->name, "ceil_div") == 0 ||
                                       strcmp(body->function->name, "round_up") == 0))
        return true;
    bool may = false;
    for (size_t i = 0; i < body->count && !may; i++) may = may_have_no_value(body->args[i]);
    return may;
}

/* Whether the end of a sum is a known whole number, and small. */
static bool is_known_end(const struct sp_poly *end, int64_t *number)
{
    struct sp_rational value;
    if (!sp_poly_is_constant(end, &value) || value.den != 1) return false;
    *number = value.num;
    return value.num > INT32_MIN && value.num < INT32_MAX;
}

/* Whether the body is a condition if it is that of count(...). Reports a mistake otherwise. */
static bool is_good_body(struct sp_symbolic *symbolic, const struct sp_expr *expr, const struct sp_poly *body)
{
    const bool counts = expr->value.boolean;
    return !counts || is_truth(&symbolic->algebra, body) ||
           sp_sym_fail(symbolic, expr->args[2]->span, "count needs a condition; sum takes a number");
}

/* The iterations of a sum in a claim at a point, one by one: the closed form of the sum has a value also if an
 * iteration divides by 0. They are added when all have a value, since fractions may become too large for the algebra.
 * True, with 0, for a loop without iterations. False after a mistake. */
static bool sum_by_iterations(struct sp_symbolic *symbolic, const struct sp_sym_env *env, const struct sp_expr *expr,
                              int64_t first, int64_t last, const struct sp_poly **sum)
{
    const size_t most = last < first ? 0 : (size_t)(last - first) + 1;
    const struct sp_poly **iterations = sp_arena_array(&symbolic->algebra.arena, most, sizeof *iterations);
    size_t count = 0;
    for (int64_t i = first; i <= last; i++) {
        const struct sp_sym_bound bound = {expr->name, sp_sym_of_poly(sp_poly_int(&symbolic->algebra, i)), env->bound};
        struct sp_sym_env inner = *env;
        inner.bound = &bound;
        if (!sp_sym_number(symbolic, &inner, expr->args[2], &iterations[count])) return false;
        if (!is_good_body(symbolic, expr, iterations[count++])) return false;
    }
    *sum = sp_poly_int(&symbolic->algebra, 0);
    for (size_t i = 0; i < count; i++) *sum = sp_poly_add(&symbolic->algebra, *sum, iterations[i]);
    return true;
}

/* sum(i in 1..n: sizes[i]), in closed form where it has one; count(i in 1..n: i % k == 0) is the sum of a condition. */
static bool symbolic_sum(struct sp_symbolic *symbolic, const struct sp_sym_env *env, const struct sp_expr *expr,
                         struct sp_sym *out)
{
    const size_t room = sizeof symbolic->loops.items / sizeof *symbolic->loops.items;
    const struct sp_poly *first, *last, *body;
    if (!sp_sym_number(symbolic, env, expr->args[0], &first) || !sp_sym_number(symbolic, env, expr->args[1], &last))
        return false;
    int64_t from, to;
    if (symbolic->fixed.is_settled && !symbolic->is_counting && is_known_end(first, &from) && is_known_end(last, &to) &&
        to - from < MAX_ITERATIONS && may_have_no_value(expr->args[2])) {
        if (!sum_by_iterations(symbolic, env, expr, from, to, &body)) return false;
        *out = sp_sym_of_poly(body);
        return true;
    }
    const size_t index = symbolic->loops.count < room ? sp_atom_new_index(symbolic, expr->name) : SIZE_MAX;
    if (index == SIZE_MAX) return sp_sym_fail(symbolic, expr->span, "more than %zu sums", room);
    const struct sp_sym_bound bound = {expr->name, sp_sym_of_poly(sp_poly_atom(&symbolic->algebra, index)), env->bound};
    struct sp_sym_env inner = *env;
    inner.bound = &bound;
    symbolic->loops.items[symbolic->loops.count++] = (struct sp_open_loop){index, first, last};
    const bool good = sp_sym_number(symbolic, &inner, expr->args[2], &body);
    symbolic->loops.count--;
    if (!good) return false;
    if (!is_good_body(symbolic, expr, body)) return false;
    *out = sp_sym_of_poly(sp_sym_sum(symbolic, expr->span, index, body, first, last));
    return true;
}

/* stored([head]): a number of the checkpoint. */
static bool symbolic_stored(struct sp_symbolic *symbolic, const struct sp_sym_env *env, const struct sp_expr *expr,
                            struct sp_sym *out)
{
    if (!env->stored) return sp_sym_fail(symbolic, expr->span, "stored(...) needs a checkpoint: give one");
    const struct sp_poly *poly = env->stored(env->context, expr->name);
    if (!poly) return no_such_group(symbolic, expr);
    *out = sp_sym_of_poly(poly);
    return true;
}

bool sp_sym_active(struct sp_symbolic *symbolic, const struct sp_sym_env *env, const struct sp_expr *expr,
                   const char *group, struct sp_sym *out)
{
    if (!env->active) return sp_sym_fail(symbolic, expr->span, "'active' needs a table");
    if (group && !env->group(env->context, group)) return no_such_group(symbolic, expr);
    const struct sp_poly *poly = env->active(env->context, group);
    if (poly) *out = sp_sym_of_poly(poly);
    return poly != NULL;
}

/* A number of tokens, or of sequences. */
static bool whole_number(struct sp_symbolic *symbolic, const struct sp_sym_env *env, const struct sp_expr *expr,
                         const char *name, const struct sp_poly **out)
{
    struct sp_rational number;
    const bool is_literal = expr->kind == SP_EXPR_LITERAL;
    const bool is_other_literal = is_literal && expr->value.type != SHAPEPROOF_VALUE_INT; /* true, 1.0 */
    if (!sp_sym_number(symbolic, env, expr, out)) return false;
    const bool is_other_number = sp_poly_is_constant(*out, &number) && (number.num < 0 || number.den != 1);
    return (!is_other_literal && !is_other_number) ||
           sp_sym_fail(symbolic, expr->span, "'%s' must be a whole number, 0 or more", name);
}

/* Whether a group of the table is beside its tensors. */
static bool is_group_of_work(const struct sp_unit *table, const char *name)
{
    for (size_t i = 0; i < table->state_count; i++)
        if (strcmp(table->states[i].name, name) == 0) return true;
    return false;
}

const char *const sp_flops_names[SP_FLOPS_ARGUMENTS] = {"batch",  "tokens",  "images",
                                                        "sounds", "patches", "source_tokens"};

/* flops(tokens = ..., batch = ...): the operations of a pass. */
static bool symbolic_flops(struct sp_symbolic *symbolic, const struct sp_sym_env *env, const struct sp_expr *expr,
                           struct sp_sym *out)
{
    struct sp_flops asked = {.group = expr->name, .how = (unsigned)expr->value.integer};
    if (!env->flops) return sp_sym_fail(symbolic, expr->span, "'flops' needs a table");
    if (expr->name && !env->group(env->context, expr->name) && !is_group_of_work(symbolic->root, expr->name))
        return no_such_group(symbolic, expr);
    for (size_t i = 0; i < expr->count; i++) {
        const struct sp_expr *arg = expr->args[i];
        const bool is_missing = arg->kind == SP_EXPR_LITERAL && arg->value.type == SHAPEPROOF_VALUE_ABSENT;
        if (!is_missing && !whole_number(symbolic, env, arg, sp_flops_names[i], &asked.numbers[i])) return false;
    }
    const struct sp_poly *poly = env->flops(env->context, &asked);
    if (poly) *out = sp_sym_of_poly(poly);
    return poly != NULL;
}

/* The entry of sp_flops_names, by whose address a missing argument is known, if it has that name; else the name. */
static const char *flops_name(const char *name)
{
    for (size_t i = 0; i < SP_FLOPS_ARGUMENTS; i++)
        if (strcmp(sp_flops_names[i], name) == 0) return sp_flops_names[i];
    return name;
}

/* The arguments of cache(...) or activations(...), as rows read them by name. The arguments in `words`, a set of bits,
 * are true, false or a string; all others are whole numbers. An argument that is missing is absent in a settled count,
 * whatever the configuration says, and open in any other. NULL after a mistake. */
static const struct sp_sym_given *given_arguments(struct sp_symbolic *symbolic, const struct sp_sym_env *env,
                                                  const struct sp_expr *expr, const char *const *names, unsigned words,
                                                  size_t *count)
{
    struct sp_sym_given *given = sp_arena_array(&symbolic->algebra.arena, expr->count, sizeof *given);
    *count = 0;
    for (size_t i = 0; i < expr->count; i++) {
        const struct sp_expr *arg = expr->args[i];
        const struct sp_poly *poly;
        struct sp_sym sym;
        const bool is_missing = arg->kind == SP_EXPR_LITERAL && arg->value.type == SHAPEPROOF_VALUE_ABSENT;
        if (is_missing && !symbolic->fixed.is_settled) continue;
        if (is_missing) sym = sp_sym_of_value(symbolic, sp_value_absent(flops_name(names[i])));
        else if (words >> i & 1) {
            if (!sp_sym_eval(symbolic, env, arg, &sym)) return NULL;
        } else {
            if (!whole_number(symbolic, env, arg, names[i], &poly)) return NULL;
            sym = sp_sym_of_poly(poly);
        }
        given[(*count)++] = (struct sp_sym_given){.key = names[i], .sym = sym, .is_read = NULL};
    }
    return given;
}

/* cache(tokens = ..., batch = ..., dtype = ..., tp = ...): the bytes of the states, which read tokens, batch and others
 * by name. */
static bool symbolic_cache(struct sp_symbolic *symbolic, const struct sp_sym_env *env, const struct sp_expr *expr,
                           struct sp_sym *out)
{
    static const char *const names[SP_CACHE_ARGUMENTS] = {"tokens", "batch", "expanded", "source_tokens", "images"};
    size_t count;
    if (!env->states) return sp_sym_fail(symbolic, expr->span, "'cache' needs a table");
    const struct sp_sym_given *given = given_arguments(symbolic, env, expr, names, 1U << SP_CACHE_EXPANDED, &count);
    if (!given) return false;
    const struct sp_poly *elements = env->states(env->context, expr->sizing ? expr->sizing->ranks.tp : 1, given, count);
    if (!elements) return false;
    *out = sp_sym_of_poly(
        sp_poly_scale(&symbolic->algebra, elements, sp_rational_int(expr->value.integer / 8 /* bits of a byte */)));
    return true;
}

/* activations(tokens = ..., ...): bytes, in rows that read the arguments by name. */
static bool symbolic_activations(struct sp_symbolic *symbolic, const struct sp_sym_env *env, const struct sp_expr *expr,
                                 struct sp_sym *out)
{
    static const char *const names[SP_ACTIVATIONS_ARGUMENTS] = {"tokens", "batch", "tp", "sequence_parallel",
                                                                "recompute"};
    size_t count;
    if (!env->activations) return sp_sym_fail(symbolic, expr->span, "'activations' needs a table");
    const struct sp_sym_given *given = given_arguments(
        symbolic, env, expr, names, 1U << SP_ACTIVATIONS_SEQUENCE_PARALLEL | 1U << SP_ACTIVATIONS_RECOMPUTE, &count);
    if (!given) return false;
    const struct sp_poly *bytes = env->activations(env->context, given, count);
    if (bytes) *out = sp_sym_of_poly(bytes);
    return bytes != NULL;
}

/* bytes(...), lora(...), optimizer(...). */
static bool symbolic_sizing(struct sp_symbolic *symbolic, const struct sp_sym_env *env, const struct sp_expr *expr,
                            struct sp_sym *out)
{
    const struct sp_poly *number = NULL;
    struct sp_rational known;
    if (!env->sizing) return sp_sym_fail(symbolic, expr->span, "'%s' needs a table", expr->name);
    if (expr->count && !sp_sym_number(symbolic, env, expr->args[0], &number)) return false;
    if (number && sp_poly_is_constant(number, &known) && (known.num < 1 || known.den != 1))
        return sp_sym_fail(symbolic, expr->args[0]->span, "'%s' must be a whole number, 1 or more",
                           expr->sizing->kind == SP_SIZING_LORA ? "rank" : "ranks");
    const struct sp_poly *poly = env->sizing(env->context, expr, number);
    if (poly) *out = sp_sym_of_poly(poly);
    return poly != NULL;
}

/* dim(wte.weight, 0), count(...), elements(...): a number of the checkpoint in a claim about it alone, else of the rows
 * of the table. */
static bool symbolic_tensors(struct sp_symbolic *symbolic, const struct sp_sym_env *env, const struct sp_expr *expr,
                             struct sp_sym *out)
{
    struct shapeproof_value index = sp_value_int(-1); /* of count and elements, which have none */
    struct sp_sym given;
    const char *why = "it needs a checkpoint";
    int64_t value;
    if (expr->count && !sp_sym_eval(symbolic, env, expr->args[0], &given)) return false;
    if (expr->count && (!sp_sym_literal(given, &index) || index.type != SHAPEPROOF_VALUE_INT))
        return sp_sym_fail(symbolic, expr->span, "which dimension it is must be a whole number");
    const struct sp_poly *poly = NULL;
    if (symbolic->fixed.tensors) {
        if (symbolic->fixed.tensors(symbolic->fixed.context, expr, index.integer, &value, &why))
            poly = sp_poly_int(&symbolic->algebra, value);
    } else if (env->rows) poly = env->rows(env->context, expr, index.integer, &why);
    if (!poly) return sp_sym_fail(symbolic, expr->span, "%s(%s): %s", expr->name, expr->value.string, why);
    *out = sp_sym_of_poly(poly);
    return true;
}

/* The symbolic value of an expression, by its kind. False when it has none, with a message. */
static bool symbolic_dispatch(struct sp_symbolic *symbolic, const struct sp_sym_env *env, const struct sp_expr *expr,
                              struct sp_sym *out)
{
    switch (expr->kind) {
    case SP_EXPR_LITERAL:
        *out = sp_sym_of_value(symbolic, expr->value);
        return true;
    case SP_EXPR_NAME:
        return find_bound(env, expr->name, out) || sp_sym_name_value(symbolic, env, expr, out);
    case SP_EXPR_LIST:
        return symbolic_list(symbolic, env, expr, out);
    case SP_EXPR_UNARY:
        return symbolic_unary(symbolic, env, expr, out);
    case SP_EXPR_BINARY:
        return symbolic_binary(symbolic, env, expr, out);
    case SP_EXPR_CHOICE:
        return symbolic_choice(symbolic, env, expr, out);
    case SP_EXPR_DEFAULT:
        return sp_sym_key_chain(symbolic, env, expr, NULL, out);
    case SP_EXPR_CALL:
        return symbolic_call(symbolic, env, expr, out);
    case SP_EXPR_INDEX:
        return symbolic_item(symbolic, env, expr, out);
    case SP_EXPR_MEMBER:
        return symbolic_member(symbolic, env, expr, out);
    case SP_EXPR_TENSORS:
        return symbolic_tensors(symbolic, env, expr, out);
    case SP_EXPR_GROUP:
        return symbolic_group(symbolic, env, expr, out);
    case SP_EXPR_BRACKET:
        return symbolic_bracket(symbolic, env, expr, out);
    case SP_EXPR_SUM:
        return symbolic_sum(symbolic, env, expr, out);
    case SP_EXPR_CACHE:
        return symbolic_cache(symbolic, env, expr, out);
    case SP_EXPR_ACTIVATIONS:
        return symbolic_activations(symbolic, env, expr, out);
    case SP_EXPR_SIZING:
        return symbolic_sizing(symbolic, env, expr, out);
    case SP_EXPR_FLOPS:
        return symbolic_flops(symbolic, env, expr, out);
    case SP_EXPR_ACTIVE:
        return sp_sym_active(symbolic, env, expr, expr->name, out);
    case SP_EXPR_STORED:
        return symbolic_stored(symbolic, env, expr, out);
    }
    return false;
}

/* Evaluates within the limits of steps and depth. After a mistake *out means nothing. */
bool sp_sym_eval(struct sp_symbolic *symbolic, const struct sp_sym_env *env, const struct sp_expr *expr,
                 struct sp_sym *out)
{
    *out = (struct sp_sym){.kind = SP_SYM_VALUE, .value = sp_value_absent("")};
    if (!sp_sym_spend(symbolic, expr->span, 1)) return false;
    if (symbolic->depth >= SP_SYM_MAX_DEPTH) return sp_sym_fail(symbolic, expr->span, "nested too deep");
    symbolic->depth++;
    bool good = symbolic_dispatch(symbolic, env, expr, out);
    if (good && expr->division && symbolic->sharding) good = sp_shard_dimension(symbolic, env, expr, out);
    symbolic->depth--;
    return good && !fail_nan(symbolic, expr, *out);
}

bool sp_sym_number(struct sp_symbolic *symbolic, const struct sp_sym_env *env, const struct sp_expr *expr,
                   const struct sp_poly **out)
{
    struct sp_sym sym;
    return sp_sym_eval(symbolic, env, expr, &sym) && sp_sym_as_number(symbolic, expr->span, sym, out);
}

bool sp_sym_condition(struct sp_symbolic *symbolic, const struct sp_sym_env *env, const struct sp_expr *expr,
                      const struct sp_poly **out)
{
    struct sp_sym sym;
    return sp_sym_eval(symbolic, env, expr, &sym) && sp_sym_as_condition(symbolic, expr->span, sym, out);
}
