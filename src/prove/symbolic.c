/* SPDX-License-Identifier: MIT
 * What names mean, as lang/eval.c has it for concrete hyper-parameters; tests/prove/test_count.c compares both. */
#include "prove/symbolic.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lang/functions.h"
#include "lang/names.h"
#include "prove/atoms.h"
#include "prove/operate.h"

enum { MAX_DEPTH = 1000, MAX_STEPS = 4 * 1000 * 1000, MAX_MESSAGES = 20 };

void sp_symbolic_free(struct sp_symbolic *symbolic)
{
    free(symbolic->symbols.items);
    free(symbolic->infos.items);
    free(symbolic->premises.assumed);
    sp_map_free(&symbolic->symbols.keys);
    sp_map_free(&symbolic->symbols.own_keys);
    sp_algebra_free(&symbolic->algebra);
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
    else sp_text_printf(symbolic->report.messages, "%s%s", symbolic->report.messages->length ? "\n" : "", message);
    return false;
}

bool sp_sym_spend(struct sp_symbolic *symbolic, struct sp_span span, size_t steps)
{
    if (symbolic->algebra.failed) return false;
    if (symbolic->steps > MAX_STEPS) return false; /* it was reported */
    symbolic->steps += steps < MAX_STEPS ? steps : MAX_STEPS;
    return symbolic->steps <= MAX_STEPS || sp_sym_fail(symbolic, span, "the table takes more than %d steps", MAX_STEPS);
}

const struct sp_symbol_info *sp_sym_symbol(const struct sp_symbolic *symbolic, const char *name)
{
    for (size_t i = 0; i < symbolic->symbols.count; i++)
        if (!strcmp(symbolic->symbols.items[i].name, name)) return &symbolic->symbols.items[i];
    const size_t by_key = sp_map_get(&symbolic->symbols.keys, name);
    return by_key == SIZE_MAX ? NULL : &symbolic->symbols.items[by_key];
}

/* ---- what a name means ---- */

static const struct sp_sym_binding *loop_numbered(const struct sp_sym_binding *loops, size_t number)
{
    while (loops && loops->number > number) loops = loops->outer;
    return loops && loops->number == number ? loops : NULL;
}

/* As sp_meaning_of; in the table that a claim is about, of the name alone. */
static struct sp_meaning meaning_of(const struct sp_sym_env *env, const struct sp_expr *expr)
{
    const struct sp_unit *unit = env->frame->unit;
    if (env->is_outer) return sp_meaning_by_name(unit, expr->name);
    const struct sp_meaning meaning = sp_meaning_at(unit, expr);
    const bool hidden = meaning.kind == SP_MEANS_LOOP && !loop_numbered(env->loops, meaning.index);
    return hidden ? sp_meaning_in_unit(unit, expr) : meaning;
}

/* enc = config_encoder: what the name stands for. */
static const struct sp_expr *behind_alias(const struct sp_sym_env *env, const struct sp_expr *expr)
{
    for (int steps = 0; steps < 8 && expr->kind == SP_EXPR_NAME; steps++) {
        const struct sp_meaning meaning = meaning_of(env, expr);
        if (meaning.kind != SP_MEANS_DEFINITION || meaning.is_local || meaning.definition->is_function) break;
        expr = meaning.definition->expr;
    }
    return expr;
}

static bool is_key(const struct sp_sym_env *env, const struct sp_expr *expr)
{
    if (expr->kind == SP_EXPR_MEMBER) return is_key(env, behind_alias(env, expr->args[0]));
    if (expr->kind != SP_EXPR_NAME || meaning_of(env, expr).kind != SP_MEANS_KEY) return false;
    if (!env->outer) return true;
    const struct sp_sym_env outer = {.frame = env->outer, .is_outer = true};
    return is_key(&outer, expr);
}

/* The environment of a claim's definitions is that of the claim; those of the table know nothing of it. */
static struct sp_sym_env own_env(const struct sp_sym_env *env, bool local)
{
    struct sp_sym_env own = {.frame = env->frame, .outer = env->outer};
    if (env->outer) own.group = env->group, own.context = env->context;
    if (local) own.section = env->section, own.loops = env->loops;
    return own;
}

/* ---- hyper-parameters ---- */

/* Notes which settings the table looks at. */
static void mark_read(struct sp_symbolic *symbolic, const char *path)
{
    const size_t length = strcspn(path, ".");
    if (!symbolic->fixed.settings) return;
    const struct sp_value root = symbolic->fixed.settings->root;
    for (size_t i = 0; i < root.count && i < 64; i++)
        if (strncmp(root.members[i].key, path, length) == 0 && !root.members[i].key[length])
            symbolic->fixed.settings_read |= (uint64_t)1 << i;
}

static const struct sp_sym *given(const struct sp_sym_frame *frame, const char *key)
{
    for (size_t i = 0; i < frame->given_count; i++)
        if (strcmp(frame->given[i].key, key) == 0) return &frame->given[i].sym;
    return NULL;
}

static const char *key_path(struct sp_symbolic *symbolic, const struct sp_sym_env *env, const struct sp_expr *expr)
{
    if (expr->kind == SP_EXPR_NAME)
        return sp_arena_printf(&symbolic->algebra.arena, "%s%s", env->frame->path, expr->name);
    return sp_arena_printf(&symbolic->algebra.arena, "%s.%s", key_path(symbolic, env, behind_alias(env, expr->args[0])),
                           expr->name);
}

/* The setting of a key: absent, null, or a value. */
static struct sp_value setting_of(const struct sp_sym_env *env, const struct sp_expr *expr)
{
    if (expr->kind == SP_EXPR_NAME) return sp_value_member(env->frame->object, expr->name);
    return sp_value_member(setting_of(env, behind_alias(env, expr->args[0])), expr->name);
}

/* What has members is no number. */
static void mark_object(struct sp_symbolic *symbolic, const char *path)
{
    const char *object = sp_arena_copy(&symbolic->algebra.arena, path, (size_t)(strrchr(path, '.') - path));
    const size_t symbol = sp_map_get(&symbolic->symbols.keys, object);
    if (symbol != SIZE_MAX) symbolic->symbols.items[symbol].is_text = true;
}

enum key_state { KEY_KNOWN, KEY_UNSET, KEY_OPEN };

/* What is known of a key: its value (or null), that it is not set, or that it is open. */
static enum key_state look_up(struct sp_symbolic *symbolic, const struct sp_sym_env *env, const struct sp_expr *expr,
                              const char *path, struct sp_sym *out)
{
    const struct sp_sym *by_table = expr->kind == SP_EXPR_NAME ? given(env->frame, expr->name) : NULL;
    if (by_table) {
        *out = *by_table;
        return sp_sym_is_set(*out) ? KEY_KNOWN : KEY_UNSET;
    }
    if (expr->kind == SP_EXPR_MEMBER) mark_object(symbolic, path);
    if (symbolic->fixed.open && strcmp(symbolic->fixed.open, path) == 0) return KEY_OPEN;
    struct sp_value value = setting_of(env, expr);
    mark_read(symbolic, path);
    if (!sp_value_is_set(value)) value.string = path;
    *out = sp_sym_of_value(symbolic, value);
    if (sp_value_is_set(value)) return KEY_KNOWN;
    return value.type == SP_NULL || symbolic->fixed.is_settled ? KEY_UNSET : KEY_OPEN;
}

/* A key that a claim names: one that the table has. */
static bool claimed_key(struct sp_symbolic *symbolic, const struct sp_sym_env *env, const struct sp_expr *expr,
                        struct sp_sym *out)
{
    const struct sp_sym_env table = {.frame = env->outer ? env->outer : env->frame};
    const char *path = key_path(symbolic, &table, expr);
    const struct sp_symbol_info *symbol = sp_sym_symbol(symbolic, path);
    if (expr->kind == SP_EXPR_NAME && strcmp(expr->name, "total") == 0)
        *out = sp_sym_of_poly(env->group(env->context, NULL));
    else if (symbol) {
        const struct sp_poly *poly = sp_poly_atom(&symbolic->algebra, symbol->atom);
        const bool is_condition = symbolic->algebra.atoms[symbol->atom].is_condition;
        *out = is_condition ? sp_sym_of_condition(poly) : sp_sym_of_poly(poly);
    } else if (look_up(symbolic, &table, expr, path, out) != KEY_KNOWN)
        return sp_sym_fail(symbolic, expr->span, "'%s' is neither defined nor a hyper-parameter of the table", path);
    return true;
}

/* A key on its own, without a default. */
static bool bare_key(struct sp_symbolic *symbolic, const struct sp_sym_env *env, const struct sp_expr *expr,
                     const char *name, struct sp_sym *out)
{
    if (env->group) return claimed_key(symbolic, env, expr, out);
    const char *path = key_path(symbolic, env, expr);
    if (look_up(symbolic, env, expr, path, out) == KEY_OPEN)
        *out = sp_atom_open(symbolic, name, path, env->frame->depends, NULL);
    return true;
}

/* ---- defaults ---- */

static bool first_set(struct sp_symbolic *symbolic, const struct sp_sym_env *env, const struct sp_expr *expr,
                      const char *name, struct sp_sym *out);

static bool is_numeric(struct sp_sym sym)
{
    return sym.kind == SP_SYM_NUMBER || sym.kind == SP_SYM_CONDITION ||
           (sym.kind == SP_SYM_VALUE && sym.value.type == SP_REAL);
}

/* What is computed from a list or a text that is not known: the table has a default for when it is not given. */
static bool is_unknown(struct sp_symbolic *symbolic, struct sp_sym sym)
{
    bool found = false;
    if (symbolic->fixed.is_settled || sym.kind > SP_SYM_CONDITION) return false;
    char *seen = sp_realloc(NULL, symbolic->algebra.atom_count, 1);
    memset(seen, 0, symbolic->algebra.atom_count);
    sp_poly_reach(symbolic, sym.poly, seen);
    for (size_t i = 0; i < symbolic->symbols.count; i++) {
        struct sp_symbol_info *symbol = &symbolic->symbols.items[i];
        if (!seen[symbol->atom] || !(symbol->is_list || symbol->is_text)) continue;
        if (symbolic->fixed.given && sp_map_get(symbolic->fixed.given, symbol->key) != SIZE_MAX) continue;
        symbol->was_left_out = found = true;
    }
    free(seen);
    return found;
}

/* What is absent or null becomes the rest of the chain. */
static bool put_default(struct sp_symbolic *symbolic, const struct sp_sym_env *env, const struct sp_expr *rest,
                        const char *name, struct sp_sym sym, struct sp_sym *out)
{
    struct sp_sym either[2];
    *out = sym;
    if (!sp_sym_is_set(sym)) return first_set(symbolic, env, rest, name, out);
    if (sym.kind != SP_SYM_EITHER) return true;
    if (!put_default(symbolic, env, rest, NULL, sym.either[0], &either[0]) ||
        !put_default(symbolic, env, rest, NULL, sym.either[1], &either[1]))
        return false;
    *out = sp_sym_combine(symbolic, sym.poly, either[0], either[1]);
    return true;
}

/* Whether it speaks of keys that have no definition of their own: other names of the key in front of it, as in
 * n_layer default num_hidden_layers default 12. Where that key is not given, they are not given either. */
static bool has_alias(struct sp_symbolic *symbolic, struct sp_sym sym)
{
    bool found = false;
    if (sym.kind > SP_SYM_CONDITION) return false;
    char *seen = sp_realloc(NULL, symbolic->algebra.atom_count, 1);
    memset(seen, 0, symbolic->algebra.atom_count);
    sp_poly_reach(symbolic, sym.poly, seen);
    for (size_t i = 0; i < symbolic->symbols.count && !found; i++) {
        const struct sp_symbol_info *symbol = &symbolic->symbols.items[i];
        found = seen[symbol->atom] && !symbol->is_computed &&
                sp_map_get(&symbolic->symbols.own_keys, symbol->key) == SIZE_MAX;
    }
    free(seen);
    return found;
}

static bool is_alias(struct sp_symbolic *symbolic, const struct sp_sym_env *env, const struct sp_expr *expr)
{
    struct sp_sym sym;
    if (!is_key(env, expr)) return sp_sym_eval(symbolic, env, expr, &sym) && has_alias(symbolic, sym);
    const char *path = key_path(symbolic, env, expr);
    return sp_map_get(&symbolic->symbols.own_keys, path) == SIZE_MAX &&
           look_up(symbolic, env, expr, path, &sym) == KEY_OPEN;
}

/* The default of a key: the rest of its chain, without its other names. */
static bool rest_of_chain(struct sp_symbolic *symbolic, const struct sp_sym_env *env, const struct sp_expr *rest,
                          struct sp_sym *out)
{
    while (rest->kind == SP_EXPR_DEFAULT && is_alias(symbolic, env, rest->args[0])) rest = rest->args[1];
    return first_set(symbolic, env, rest, NULL, out);
}

/* A key that stays open and has a default. A text or a list is the one that the table gives. */
static bool open_key(struct sp_symbolic *symbolic, const struct sp_sym_env *env, const struct sp_expr *rest,
                     const char *name, const char *path, struct sp_sym *out)
{
    struct sp_sym fallback;
    if (!rest_of_chain(symbolic, env, rest, &fallback)) return false;
    const bool numeric = is_numeric(fallback);
    if (numeric || !sp_sym_is_set(fallback))
        *out = sp_atom_open(symbolic, name, path, env->frame->depends, numeric ? &fallback : NULL);
    else *out = fallback;
    return true;
}

/* a default b default c: the first that is set. An open key is set; what follows it is its default. */
static bool first_set(struct sp_symbolic *symbolic, const struct sp_sym_env *env, const struct sp_expr *expr,
                      const char *name, struct sp_sym *out)
{
    struct sp_sym first;
    const struct sp_expr *key = expr->kind == SP_EXPR_DEFAULT ? expr->args[0] : expr;
    if (is_key(env, key) && (!env->group || expr == key)) {
        if (expr == key) return bare_key(symbolic, env, expr, name, out);
        const char *path = key_path(symbolic, env, key);
        const enum key_state state = look_up(symbolic, env, key, path, &first);
        if (state == KEY_OPEN) return open_key(symbolic, env, expr->args[1], name, path, out);
        return put_default(symbolic, env, expr->args[1], name, first, out);
    }
    if (expr == key) return sp_sym_eval(symbolic, env, expr, out);
    if (!sp_sym_eval(symbolic, env, key, &first)) return false;
    if (is_unknown(symbolic, first)) return first_set(symbolic, env, expr->args[1], name, out);
    if (first.kind <= SP_SYM_CONDITION && !env->group) {
        struct sp_sym fallback;
        *out = first;
        if (!rest_of_chain(symbolic, env, expr->args[1], &fallback)) return false;
        if (is_numeric(fallback)) sp_atom_default(symbolic, &first, &fallback);
        else if (sp_sym_is_set(fallback) && sp_atom_is_text(symbolic, &first)) *out = fallback;
        return true;
    }
    return put_default(symbolic, env, expr->args[1], name, first, out);
}

/* When none is set, the first is the one to ask for, unless it is null and the last is absent, or the other way round.
 */
static bool chain(struct sp_symbolic *symbolic, const struct sp_sym_env *env, const struct sp_expr *expr,
                  const char *name, struct sp_sym *out)
{
    struct sp_sym first;
    if (!first_set(symbolic, env, expr, name, out)) return false;
    if (expr->kind != SP_EXPR_DEFAULT || sp_sym_is_set(*out) || out->kind != SP_SYM_VALUE) return true;
    if (!sp_sym_eval(symbolic, env, expr->args[0], &first)) return false;
    if (first.kind == SP_SYM_VALUE && first.value.type == out->value.type) *out = first;
    return true;
}

/* ---- names ---- */

/* The name of a definition is the symbol's, when the definition is a key with or without defaults. In a
 * sub-table the key itself is: its short names would clash with those of the table around it. */
static const char *symbol_name(const struct sp_symbolic *symbolic, const struct sp_sym_env *env,
                               const struct sp_definition *definition)
{
    if (env->group) return NULL; /* a claim's own */
    if (!env->frame->group) return definition->name;
    for (size_t i = 0; i < symbolic->root->definition_count; i++)
        if (strcmp(symbolic->root->definitions[i].name, definition->name) == 0) return NULL;
    return *env->frame->path || env->frame->unit->is_table ? NULL : definition->name;
}

static bool define(struct sp_symbolic *symbolic, const struct sp_sym_env *env, const struct sp_definition *definition,
                   struct sp_sym *out)
{
    const char *name = symbol_name(symbolic, env, definition);
    const bool is_chain = definition->expr->kind == SP_EXPR_DEFAULT || is_key(env, definition->expr);
    if (is_chain ? !chain(symbolic, env, definition->expr, name, out)
                 : !sp_sym_eval(symbolic, env, definition->expr, out))
        return false;
    if (name) sp_atom_name(symbolic, name, out);
    return true;
}

static bool unit_value(struct sp_symbolic *symbolic, const struct sp_sym_env *env, size_t index, struct sp_sym *out)
{
    struct sp_sym_frame *frame = env->frame;
    const struct sp_definition *definition = &frame->unit->definitions[index];
    const struct sp_sym_env own = own_env(env, false);
    if (definition->is_function)
        return sp_sym_fail(symbolic, definition->span, "'%s' needs its arguments", definition->name);
    if (frame->cached[index] == 1)
        return sp_sym_fail(symbolic, definition->span, "'%s' is defined through itself", definition->name);
    if (frame->cached[index] == 0) {
        frame->cached[index] = 1;
        const bool good = define(symbolic, &own, definition, &frame->cache[index]);
        frame->cached[index] = good ? 2 : 0;
        if (!good) return false;
    }
    *out = frame->cache[index];
    return true;
}

static bool local_value(struct sp_symbolic *symbolic, const struct sp_sym_env *env, const struct sp_definition *local,
                        struct sp_sym *out)
{
    const struct sp_sym_env own = own_env(env, true);
    if (local->is_function) return sp_sym_fail(symbolic, local->span, "'%s' needs its arguments", local->name);
    return sp_sym_eval(symbolic, &own, local->expr, out);
}

static bool eval_name(struct sp_symbolic *symbolic, const struct sp_sym_env *env, const struct sp_expr *expr,
                      struct sp_sym *out)
{
    const struct sp_meaning meaning = meaning_of(env, expr);
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
    if (!env->outer) return bare_key(symbolic, env, expr, NULL, out);
    const struct sp_sym_env outer = {
        .frame = env->outer, .is_outer = true, .group = env->group, .context = env->context};
    return eval_name(symbolic, &outer, expr, out);
}

/* A key that has a definition of its own is a hyper-parameter of its own. */
static void note_key(struct sp_symbolic *symbolic, const struct sp_sym_env *env, const struct sp_definition *definition)
{
    const struct sp_sym_env own = own_env(env, false);
    const struct sp_expr *expr = definition->expr;
    if (expr->kind == SP_EXPR_DEFAULT) expr = expr->args[0];
    if (is_key(&own, expr)) sp_map_add(&symbolic->symbols.own_keys, key_path(symbolic, env, expr), 0);
}

void sp_sym_note_keys(struct sp_symbolic *symbolic, const struct sp_sym_env *env)
{
    for (size_t i = 0; i < env->frame->unit->definition_count; i++)
        note_key(symbolic, env, &env->frame->unit->definitions[i]);
}

void sp_sym_name_symbols(struct sp_symbolic *symbolic, const struct sp_sym_env *env)
{
    const struct sp_unit *unit = env->frame->unit;
    struct sp_text *messages = symbolic->report.messages;
    const size_t mistakes = symbolic->report.mistakes;
    symbolic->report.messages = &symbolic->report.unheard; /* a definition that nothing uses cannot fail */
    sp_sym_note_keys(symbolic, env);
    for (size_t i = 0; i < unit->definition_count; i++) {
        const struct sp_definition *definition = &unit->definitions[i];
        const struct sp_sym_env own = own_env(env, false);
        const struct sp_expr *expr = definition->expr;
        struct sp_sym sym;
        if (definition->is_function || !is_key(&own, expr->kind == SP_EXPR_DEFAULT ? expr->args[0] : expr)) continue;
        unit_value(symbolic, env, i, &sym);
    }
    symbolic->report.messages = messages;
    symbolic->report.mistakes = mistakes;
    sp_text_free(&symbolic->report.unheard);
    symbolic->report.unheard = (struct sp_text){0};
}

/* ---- sub-configurations ---- */

static bool view_of(struct sp_symbolic *symbolic, const struct sp_sym_env *env, const struct sp_expr *expr,
                    struct sp_sym_frame *view);

static bool view_of_name(struct sp_symbolic *symbolic, const struct sp_sym_env *env, const struct sp_expr *expr,
                         struct sp_sym_frame *view)
{
    const struct sp_meaning meaning = meaning_of(env, expr);
    const struct sp_definition *definition = meaning.definition;
    if (!definition || definition->is_function || symbolic->depth >= MAX_DEPTH)
        return sp_sym_fail(symbolic, expr->span, "this sub-configuration has no name");
    const struct sp_sym_env own = own_env(env, meaning.is_local);
    symbolic->depth++;
    const bool good = view_of(symbolic, &own, definition->expr, view);
    symbolic->depth--;
    return good;
}

/* An item of a list of objects: keys in it may differ from turn to turn. */
static bool view_of_item(struct sp_symbolic *symbolic, const struct sp_sym_env *env, const struct sp_expr *expr,
                         struct sp_sym_frame *view)
{
    struct sp_sym place;
    struct sp_value index;
    if (!view_of(symbolic, env, expr->args[0], view) || !sp_sym_eval(symbolic, env, expr->args[1], &place))
        return false;
    const struct sp_value list = view->object;
    const bool known = sp_sym_literal(place, &index) && index.type == SP_INT && list.type == SP_LIST &&
                       index.integer >= 0 && (uint64_t)index.integer < list.count;
    view->object = known ? list.items[index.integer] : sp_value_absent("");
    view->depends |= sp_sym_depends(symbolic, place);
    view->path = sp_arena_printf(&symbolic->algebra.arena, "%s[%s]", view->path, sp_sym_words(symbolic, place));
    return true;
}

/* Of alternatives the one that is set, or the first. */
static bool view_of_default(struct sp_symbolic *symbolic, const struct sp_sym_env *env, const struct sp_expr *expr,
                            struct sp_sym_frame *view)
{
    struct sp_sym_frame other = *view;
    if (!view_of(symbolic, env, expr->args[0], view)) return false;
    if (sp_value_is_set(view->object)) return true;
    if (view_of(symbolic, env, expr->args[1], &other) && sp_value_is_set(other.object)) *view = other;
    return true;
}

static bool view_of(struct sp_symbolic *symbolic, const struct sp_sym_env *env, const struct sp_expr *expr,
                    struct sp_sym_frame *view)
{
    if (is_key(env, expr)) {
        const struct sp_sym *by_table = expr->kind == SP_EXPR_NAME ? given(env->frame, expr->name) : NULL;
        view->path = key_path(symbolic, env, expr);
        view->depends = env->frame->depends;
        view->object = setting_of(env, expr);
        mark_read(symbolic, view->path);
        if (by_table) view->object = by_table->kind == SP_SYM_VALUE ? by_table->value : sp_value_absent("");
        return true;
    }
    switch (expr->kind) {
    case SP_EXPR_NAME:
        return view_of_name(symbolic, env, expr, view);
    case SP_EXPR_DEFAULT:
        return view_of_default(symbolic, env, expr, view);
    case SP_EXPR_INDEX:
        return view_of_item(symbolic, env, expr, view);
    case SP_EXPR_MEMBER:
        if (!view_of(symbolic, env, expr->args[0], view)) return false;
        view->object = sp_value_member(view->object, expr->name);
        view->path = sp_arena_printf(&symbolic->algebra.arena, "%s.%s", view->path, expr->name);
        return true;
    default:
        return sp_sym_fail(symbolic, expr->span, "this sub-configuration has no name");
    }
}

bool sp_sym_open_view(struct sp_symbolic *symbolic, const struct sp_sym_env *env, const struct sp_expr *from,
                      struct sp_sym_frame *frame)
{
    if (!view_of(symbolic, env, from, frame)) return false;
    if (sp_value_is_set(frame->object) && frame->object.type != SP_OBJECT)
        return sp_sym_fail(symbolic, from->span, "expected a sub-configuration, found %s",
                           sp_value_kind(frame->object.type));
    frame->path = sp_arena_printf(&symbolic->algebra.arena, "%s.", frame->path);
    return true;
}

/* ---- operators ---- */

/* and, or: the right side is not looked at when the left one decides. */
static bool logic(struct sp_symbolic *symbolic, const struct sp_sym_env *env, const struct sp_expr *expr,
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

static bool choice(struct sp_symbolic *symbolic, const struct sp_sym_env *env, const struct sp_expr *expr,
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

static bool binary(struct sp_symbolic *symbolic, const struct sp_sym_env *env, const struct sp_expr *expr,
                   struct sp_sym *out)
{
    const struct sp_operation operation = {.kind = SP_DO_BINARY, .op = expr->op, .span = expr->span};
    struct sp_sym args[2];
    if (expr->op == SP_OP_AND || expr->op == SP_OP_OR) return logic(symbolic, env, expr, out);
    if (!sp_sym_eval(symbolic, env, expr->args[0], &args[0]) || !sp_sym_eval(symbolic, env, expr->args[1], &args[1]))
        return false;
    return sp_sym_operate(symbolic, &operation, args, 2, out);
}

static bool unary(struct sp_symbolic *symbolic, const struct sp_sym_env *env, const struct sp_expr *expr,
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

static bool list(struct sp_symbolic *symbolic, const struct sp_sym_env *env, const struct sp_expr *expr,
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

static bool item(struct sp_symbolic *symbolic, const struct sp_sym_env *env, const struct sp_expr *expr,
                 struct sp_sym *out)
{
    const struct sp_operation operation = {.kind = SP_DO_INDEX, .span = expr->span};
    struct sp_sym args[2];
    return sp_sym_eval(symbolic, env, expr->args[0], &args[0]) && sp_sym_eval(symbolic, env, expr->args[1], &args[1]) &&
           sp_sym_operate(symbolic, &operation, args, 2, out);
}

static const struct sp_symbol_info *symbol_of(const struct sp_symbolic *symbolic, struct sp_sym sym)
{
    const size_t atom = sym.kind <= SP_SYM_CONDITION ? sp_atom_alone(sym.poly) : SIZE_MAX;
    for (size_t i = 0; i < symbolic->symbols.count; i++)
        if (symbolic->symbols.items[i].atom == atom) return &symbolic->symbols.items[i];
    return NULL;
}

/* Of an object that is not known: a key of its own. */
static bool unknown_member(struct sp_symbolic *symbolic, const struct sp_sym_env *env, const struct sp_expr *expr,
                           struct sp_sym object, struct sp_sym *out)
{
    const struct sp_symbol_info *symbol = symbol_of(symbolic, object);
    struct sp_sym_frame view = {.path = ""};
    if (symbol && !symbol->is_computed) {
        view.path = sp_arena_printf(&symbolic->algebra.arena, "%s.%s", symbol->key, expr->name);
        view.depends = sp_sym_depends(symbolic, object);
    } else if (!view_of(symbolic, env, expr, &view)) return false;
    *out = sp_atom_open(symbolic, NULL, view.path, view.depends, NULL);
    return true;
}

static bool member(struct sp_symbolic *symbolic, const struct sp_sym_env *env, const struct sp_expr *expr,
                   struct sp_sym *out)
{
    struct sp_sym object;
    if (is_key(env, expr)) return bare_key(symbolic, env, expr, NULL, out);
    if (!sp_sym_eval(symbolic, env, expr->args[0], &object)) return false;
    *out = object;
    if (!sp_sym_is_set(object)) return true;
    if (object.kind != SP_SYM_VALUE) return unknown_member(symbolic, env, expr, object, out);
    if (object.value.type != SP_OBJECT)
        return sp_sym_fail(symbolic, expr->args[0]->span, "expected an object, found %s",
                           sp_value_kind(object.value.type));
    *out = sp_sym_of_value(symbolic, sp_value_member(object.value, expr->name));
    return true;
}

/* `home` is where the function is defined; its arguments stand in `env`. */
static bool call_own(struct sp_symbolic *symbolic, const struct sp_sym_env *env, const struct sp_expr *expr,
                     const struct sp_sym_env *home, const struct sp_definition *definition, bool local,
                     struct sp_sym *out)
{
    struct sp_sym_env own = own_env(home, local);
    struct sp_sym *args = sp_arena_array(&symbolic->algebra.arena, expr->count, sizeof *args);
    if (definition->param_count != expr->count)
        return sp_sym_fail(symbolic, expr->span, "'%s' takes %zu arguments, not %zu", expr->name,
                           definition->param_count, expr->count);
    for (size_t i = 0; i < expr->count; i++)
        if (!sp_sym_eval(symbolic, env, expr->args[i], &args[i])) return false;
    own.args = args;
    return sp_sym_eval(symbolic, &own, definition->expr, out);
}

/* absent(x) and null(x) of a hyper-parameter that is open are conditions of their own. */
static struct sp_sym unset_condition(struct sp_symbolic *symbolic, const char *function, const char *path)
{
    const struct sp_sym no = sp_sym_of_truth(symbolic, false);
    const char *text = sp_arena_printf(&symbolic->algebra.arena, "%s(%s)", function, path);
    const struct sp_sym sym = sp_atom_open(symbolic, NULL, text, 0, &no);
    symbolic->symbols.items[sp_map_get(&symbolic->symbols.keys, text)].unset_key = path;
    return sym;
}

static bool call_unset(struct sp_symbolic *symbolic, const struct sp_sym_env *env, const struct sp_expr *expr,
                       struct sp_sym *out)
{
    const enum sp_value_type type = strcmp(expr->name, "null") == 0 ? SP_NULL : SP_ABSENT;
    const struct sp_expr *arg = expr->args[0];
    struct sp_sym sym;
    if (is_key(env, arg) && !env->group) {
        const char *path = key_path(symbolic, env, arg);
        if (look_up(symbolic, env, arg, path, &sym) == KEY_OPEN) {
            *out = unset_condition(symbolic, expr->name, path);
            return true;
        }
    } else if (!sp_sym_eval(symbolic, env, arg, &sym)) return false;
    const struct sp_symbol_info *symbol = symbol_of(symbolic, sym);
    if (symbol && !symbol->fallback && !symbol->is_computed && !symbol->unset_key)
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

static bool call(struct sp_symbolic *symbolic, const struct sp_sym_env *env, const struct sp_expr *expr,
                 struct sp_sym *out)
{
    const struct sp_meaning own = meaning_of(env, expr);
    if (own.definition && own.definition->is_function)
        return call_own(symbolic, env, expr, env, own.definition, own.is_local, out);
    if (env->outer) {
        const struct sp_sym_env table = {.frame = env->outer};
        const struct sp_definition *of_table = sp_meaning_by_name(env->outer->unit, expr->name).definition;
        if (of_table && of_table->is_function) return call_own(symbolic, env, expr, &table, of_table, false, out);
    }
    if (expr->function && expr->function->sees_absent) return call_unset(symbolic, env, expr, out);
    if (expr->function) return call_builtin(symbolic, env, expr, out);
    return sp_sym_fail(symbolic, expr->span, "there is no function '%s'", expr->name);
}

static bool group(struct sp_symbolic *symbolic, const struct sp_sym_env *env, const struct sp_expr *expr,
                  struct sp_sym *out)
{
    const struct sp_poly *poly = env->group ? env->group(env->context, expr->name) : NULL;
    if (!poly) return sp_sym_fail(symbolic, expr->span, "the table has no group [%s]", expr->name ? expr->name : "");
    *out = sp_sym_of_poly(poly);
    return true;
}

static bool dispatch(struct sp_symbolic *symbolic, const struct sp_sym_env *env, const struct sp_expr *expr,
                     struct sp_sym *out)
{
    switch (expr->kind) {
    case SP_EXPR_LITERAL:
        *out = sp_sym_of_value(symbolic, expr->value);
        return true;
    case SP_EXPR_NAME:
        return eval_name(symbolic, env, expr, out);
    case SP_EXPR_LIST:
        return list(symbolic, env, expr, out);
    case SP_EXPR_UNARY:
        return unary(symbolic, env, expr, out);
    case SP_EXPR_BINARY:
        return binary(symbolic, env, expr, out);
    case SP_EXPR_CHOICE:
        return choice(symbolic, env, expr, out);
    case SP_EXPR_DEFAULT:
        return chain(symbolic, env, expr, NULL, out);
    case SP_EXPR_CALL:
        return call(symbolic, env, expr, out);
    case SP_EXPR_INDEX:
        return item(symbolic, env, expr, out);
    case SP_EXPR_MEMBER:
        return member(symbolic, env, expr, out);
    case SP_EXPR_GROUP:
        return group(symbolic, env, expr, out);
    }
    return false;
}

bool sp_sym_eval(struct sp_symbolic *symbolic, const struct sp_sym_env *env, const struct sp_expr *expr,
                 struct sp_sym *out)
{
    *out = (struct sp_sym){.kind = SP_SYM_VALUE, .value = sp_value_absent("")};
    if (!sp_sym_spend(symbolic, expr->span, 1)) return false;
    if (symbolic->depth >= MAX_DEPTH) return sp_sym_fail(symbolic, expr->span, "nested too deep");
    symbolic->depth++;
    const bool good = dispatch(symbolic, env, expr, out);
    symbolic->depth--;
    return good;
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
