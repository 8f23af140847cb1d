/* SPDX-License-Identifier: MIT
 * What names mean, as lang/eval.c has it for concrete hyper-parameters; tests/prove/test_count.c compares both. */
#include "prove/symbolic/meaning.h"

#include <string.h>

#include "lang/functions.h"
#include "prove/symbolic/atoms.h"
#include "prove/symbolic/operate.h"

/* ---- what a name means ---- */

/* The binding of the loop with that number, counted from outside; NULL when it is not open. */
static const struct sp_sym_binding *loop_numbered(const struct sp_sym_binding *loops, size_t number)
{
    while (loops && loops->number > number) loops = loops->outer;
    return loops && loops->number == number ? loops : NULL;
}

/* The index of a loop that is not open hides nothing: the name means what it means in the unit. */
struct sp_meaning sp_sym_meaning_of(const struct sp_sym_env *env, const struct sp_expr *expr)
{
    const struct sp_unit *unit = env->frame->unit;
    if (env->is_outer) return sp_meaning_by_name(unit, expr->name);
    const struct sp_meaning meaning = sp_meaning_at(unit, expr);
    const bool hidden = meaning.kind == SP_MEANS_LOOP && !loop_numbered(env->loops, meaning.index);
    return hidden ? sp_meaning_in_unit(unit, expr) : meaning;
}

/* At most 8 definitions deep. */
const struct sp_expr *sp_sym_name_behind(const struct sp_sym_env *env, const struct sp_expr *expr)
{
    for (int steps = 0; steps < 8 && expr->kind == SP_EXPR_NAME; steps++) {
        const struct sp_meaning meaning = sp_sym_meaning_of(env, expr);
        if (meaning.kind != SP_MEANS_DEFINITION || meaning.is_local || meaning.definition->is_function) break;
        expr = meaning.definition->expr;
    }
    return expr;
}

bool sp_sym_name_is_key(const struct sp_sym_env *env, const struct sp_expr *expr)
{
    if (expr->kind == SP_EXPR_MEMBER) return sp_sym_name_is_key(env, sp_sym_name_behind(env, expr->args[0]));
    if (expr->kind != SP_EXPR_NAME || sp_sym_meaning_of(env, expr).kind != SP_MEANS_KEY) return false;
    if (!env->outer) return true;
    const struct sp_sym_env outer = {.frame = env->outer, .is_outer = true};
    return sp_sym_name_is_key(&outer, expr);
}

/* The environment of a claim's definitions is that of the claim; those of the table know nothing of it. */
struct sp_sym_env sp_sym_unit_env(const struct sp_sym_env *env)
{
    if (!env->outer) return (struct sp_sym_env){.frame = env->frame};
    return (struct sp_sym_env){.frame = env->frame,
                               .outer = env->outer,
                               .group = env->group,
                               .active = env->active,
                               .states = env->states,
                               .activations = env->activations,
                               .sizing = env->sizing,
                               .flops = env->flops,
                               .context = env->context};
}

static struct sp_sym_env section_env(const struct sp_sym_env *env)
{
    struct sp_sym_env own = sp_sym_unit_env(env);
    own.section = env->section;
    own.loops = env->loops;
    return own;
}

struct sp_sym_env sp_sym_name_env(const struct sp_sym_env *env, bool is_local)
{
    return is_local ? section_env(env) : sp_sym_unit_env(env);
}

/* ---- names ---- */

/* Whether two definitions say the same, as "labels = len(id2label) default num_labels default 2" in the table and in a
 * part that it uses. */
static bool is_same_line(const struct sp_definition *a, const struct sp_definition *b)
{
    const struct sp_span left = a->expr->span, right = b->expr->span;
    return left.length == right.length &&
           strncmp(left.source->text + left.offset, right.source->text + right.offset, left.length) == 0;
}

/* The name of a definition is the symbol's, when the definition is a key with or without defaults. In a
 * sub-table the key itself is: its short names would clash with those of the table around it. */
static const char *symbol_name(const struct sp_symbolic *symbolic, const struct sp_sym_env *env,
                               const struct sp_definition *definition)
{
    if (env->group) return NULL; /* a claim's own */
    if (!env->frame->group) return definition->name;
    for (size_t i = 0; i < symbolic->root->definition_count; i++) {
        const struct sp_definition *other = &symbolic->root->definitions[i];
        if (strcmp(other->name, definition->name) == 0 && !is_same_line(other, definition)) return NULL;
    }
    return *env->frame->path || env->frame->unit->is_table ? NULL : definition->name;
}

/* Evaluates a definition, and gives its name to the symbol or the atom that it is. */
static bool define(struct sp_symbolic *symbolic, const struct sp_sym_env *env, const struct sp_definition *definition,
                   struct sp_sym *out)
{
    const char *name = symbol_name(symbolic, env, definition);
    const bool is_chain = definition->expr->kind == SP_EXPR_DEFAULT || sp_sym_name_is_key(env, definition->expr);
    if (is_chain ? !sp_sym_key_chain(symbolic, env, definition->expr, name, out)
                 : !sp_sym_eval(symbolic, env, definition->expr, out))
        return false;
    if (name) sp_atom_name(symbolic, name, out);
    return true;
}

/* The value of a definition of the unit, which is evaluated once. */
static bool unit_value(struct sp_symbolic *symbolic, const struct sp_sym_env *env, size_t index, struct sp_sym *out)
{
    struct sp_sym_frame *frame = env->frame;
    const struct sp_definition *definition = &frame->unit->definitions[index];
    const struct sp_sym_env own = sp_sym_unit_env(env);
    if (definition->is_function)
        return sp_sym_fail(symbolic, definition->span, "'%s' needs its arguments", definition->name);
    if (frame->cached[index] == SP_SYM_CACHE_BUSY)
        return sp_sym_fail(symbolic, definition->span, "'%s' is defined through itself", definition->name);
    if (frame->cached[index] == SP_SYM_CACHE_EMPTY) {
        frame->cached[index] = SP_SYM_CACHE_BUSY;
        const bool good = define(symbolic, &own, definition, &frame->cache[index]);
        frame->cached[index] = good ? SP_SYM_CACHE_FULL : SP_SYM_CACHE_EMPTY;
        if (!good) return false;
    }
    *out = frame->cache[index];
    return true;
}

/* The value of a definition of a section, which may differ from iteration to iteration. */
static bool local_value(struct sp_symbolic *symbolic, const struct sp_sym_env *env, const struct sp_definition *local,
                        struct sp_sym *out)
{
    const struct sp_sym_env own = section_env(env);
    if (local->is_function) return sp_sym_fail(symbolic, local->span, "'%s' needs its arguments", local->name);
    return sp_sym_eval(symbolic, &own, local->expr, out);
}

/* A name that a claim does not define is looked up in its table, once more with what it means there. */
bool sp_sym_name_value(struct sp_symbolic *symbolic, const struct sp_sym_env *env, const struct sp_expr *expr,
                       struct sp_sym *out)
{
    const struct sp_meaning meaning = sp_sym_meaning_of(env, expr);
    switch (meaning.kind) {
    case SP_MEANS_ARGUMENT:
        *out = env->args[meaning.index];
        return true;
    case SP_MEANS_LOOP:
        *out = loop_numbered(env->loops, meaning.index)->sym;
        return true;
    case SP_MEANS_PARAM:
        *out = env->frame->params[meaning.index];
        return true;
    case SP_MEANS_DEFINITION:
        if (meaning.is_local) return local_value(symbolic, env, meaning.definition, out);
        return unit_value(symbolic, env, meaning.index, out);
    case SP_MEANS_KEY:
        break;
    }
    if (!env->outer) return sp_sym_key_value(symbolic, env, expr, NULL, out);
    const struct sp_sym_env outer = {.frame = env->outer,
                                     .is_outer = true,
                                     .group = env->group,
                                     .active = env->active,
                                     .states = env->states,
                                     .activations = env->activations,
                                     .sizing = env->sizing,
                                     .flops = env->flops,
                                     .context = env->context};
    return sp_sym_name_value(symbolic, &outer, expr, out);
}

/* Whether the key is anywhere in the expression. */
static bool mentions_key(struct sp_symbolic *symbolic, const struct sp_sym_env *env, const struct sp_expr *expr,
                         const char *key)
{
    const struct sp_sym_env own = sp_sym_unit_env(env);
    if (sp_sym_name_is_key(&own, expr)) return strcmp(sp_sym_key_path(symbolic, env, expr), key) == 0;
    for (size_t i = 0; i < expr->count; i++)
        if (mentions_key(symbolic, env, expr->args[i], key)) return true;
    return false;
}

/* Notes the key that an expression begins with: it is no other name of a key in front of it. Of a choice it notes those
 * of the branches that the other branch does not have: of c ? a default b : d default b these are a and d. `other`: the
 * other branch, or NULL. */
static void note_key(struct sp_symbolic *symbolic, const struct sp_sym_env *env, const struct sp_expr *expr,
                     const struct sp_expr *other)
{
    const struct sp_sym_env own = sp_sym_unit_env(env);
    if (expr->kind == SP_EXPR_CHOICE && !other) {
        note_key(symbolic, env, expr->args[1], expr->args[2]);
        note_key(symbolic, env, expr->args[2], expr->args[1]);
    }
    if (expr->kind == SP_EXPR_DEFAULT) expr = expr->args[0];
    if (!sp_sym_name_is_key(&own, expr)) return;
    const char *key = sp_sym_key_path(symbolic, env, expr);
    if (!other || !mentions_key(symbolic, env, other, key)) sp_map_add(&symbolic->symbols.own_keys, key, 0);
}

void sp_sym_note_keys(struct sp_symbolic *symbolic, const struct sp_sym_env *env)
{
    for (size_t i = 0; i < env->frame->unit->definition_count; i++)
        note_key(symbolic, env, env->frame->unit->definitions[i].expr, NULL);
}

/* Evaluates each definition that begins with a key, which makes its symbol. Mistakes do not count: a definition that
 * nothing uses cannot fail. */
void sp_sym_name_symbols(struct sp_symbolic *symbolic, const struct sp_sym_env *env)
{
    const struct sp_unit *unit = env->frame->unit;
    const struct sp_sym_heard heard = sp_sym_begin_look_ahead(symbolic);
    sp_sym_note_keys(symbolic, env);
    for (size_t i = 0; i < unit->definition_count; i++) {
        const struct sp_definition *definition = &unit->definitions[i];
        const struct sp_sym_env own = sp_sym_unit_env(env);
        const struct sp_expr *expr = definition->expr;
        struct sp_sym sym;
        if (definition->is_function || !sp_sym_name_is_key(&own, expr->kind == SP_EXPR_DEFAULT ? expr->args[0] : expr))
            continue;
        unit_value(symbolic, env, i, &sym);
    }
    sp_sym_end_look_ahead(symbolic, heard);
}
