/* SPDX-License-Identifier: MIT */
#include "prove/symbolic.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lang/functions.h"

enum { MAX_DEPTH = 1000, MAX_MESSAGES = 20 };

void sp_symbolic_free(struct sp_symbolic *symbolic)
{
    free(symbolic->symbols);
    free(symbolic->depends);
    free(symbolic->comparisons);
    sp_algebra_free(&symbolic->algebra);
}

bool sp_sym_fail(struct sp_symbolic *symbolic, struct sp_span span, const char *format, ...)
{
    char message[512];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    if (symbolic->mistakes++ < MAX_MESSAGES) sp_diagnose(symbolic->messages, span, "%s", message);
    return false;
}

/* ---- atoms and what they depend on ---- */

static uint64_t *depends_of(struct sp_symbolic *symbolic, size_t atom)
{
    while (atom >= symbolic->depends_capacity) {
        const size_t old = symbolic->depends_capacity;
        symbolic->depends_capacity = old ? old * 2 : 64;
        symbolic->depends = sp_realloc(symbolic->depends, symbolic->depends_capacity, sizeof *symbolic->depends);
        memset(symbolic->depends + old, 0, (symbolic->depends_capacity - old) * sizeof *symbolic->depends);
    }
    return &symbolic->depends[atom];
}

const struct sp_poly *sp_sym_opaque(struct sp_symbolic *symbolic, bool condition, uint64_t depends, const char *text)
{
    struct sp_algebra *algebra = &symbolic->algebra;
    const size_t atom = condition ? sp_atom_condition(algebra, text) : sp_atom_symbol(algebra, text);
    *depends_of(symbolic, atom) = depends;
    return sp_poly_atom(algebra, atom);
}

uint64_t sp_sym_depends(const struct sp_symbolic *symbolic, const struct sp_poly *poly)
{
    uint64_t depends = 0;
    for (size_t i = 0; i < poly->count; i++)
        for (size_t k = 0; k < poly->terms[i].count; k++) {
            const size_t atom = poly->terms[i].factors[k].atom;
            if (atom < symbolic->depends_capacity) depends |= symbolic->depends[atom];
        }
    return depends;
}

const char *sp_sym_text(struct sp_symbolic *symbolic, const struct sp_poly *poly)
{
    struct sp_text text = {0};
    sp_poly_put_expanded(&text, &symbolic->algebra, poly, SP_NOTATION_TEXT);
    const char *kept = sp_arena_copy(&symbolic->algebra.arena, text.data, text.length);
    sp_text_free(&text);
    return kept;
}

const struct sp_symbol_info *sp_sym_symbol(const struct sp_symbolic *symbolic, const char *name)
{
    for (size_t i = 0; i < symbolic->symbol_count; i++)
        if (!strcmp(symbolic->symbols[i].name, name)) return &symbolic->symbols[i];
    for (size_t i = 0; i < symbolic->symbol_count; i++)
        if (!strcmp(symbolic->symbols[i].key, name)) return &symbolic->symbols[i];
    return NULL;
}

/* ---- values ---- */

struct sp_sym sp_sym_of_poly(const struct sp_poly *poly)
{
    return (struct sp_sym){.kind = SP_SYM_NUMBER, .poly = poly};
}

static struct sp_sym condition(const struct sp_poly *poly)
{
    return (struct sp_sym){.kind = SP_SYM_CONDITION, .poly = poly};
}

static struct sp_sym truth(struct sp_symbolic *symbolic, bool value)
{
    return condition(sp_poly_int(&symbolic->algebra, value));
}

/* A decimal fraction such as 0.05 is the exact fraction that its digits say. */
static const struct sp_poly *real_poly(struct sp_symbolic *symbolic, double real)
{
    struct sp_rational value = {0, 1};
    int64_t den = 1;
    for (int digits = 0; digits < 9 && real * (double)den != (double)(int64_t)(real * (double)den); digits++) den *= 10;
    if (real > 1e9 || real < -1e9 || !sp_rational_make((int64_t)(real * (double)den), den, &value))
        symbolic->algebra.failed = "a real number is out of bounds";
    return sp_poly_rational(&symbolic->algebra, value);
}

struct sp_sym sp_sym_of_value(struct sp_symbolic *symbolic, struct sp_value value)
{
    if (value.type == SP_INT) return sp_sym_of_poly(sp_poly_int(&symbolic->algebra, value.integer));
    if (value.type == SP_REAL) return sp_sym_of_poly(real_poly(symbolic, value.real));
    if (value.type == SP_BOOL) return truth(symbolic, value.boolean);
    return (struct sp_sym){.kind = SP_SYM_VALUE, .value = value};
}

static const char *sym_text(struct sp_symbolic *symbolic, struct sp_sym sym)
{
    struct sp_text text = {0};
    if (sym.kind == SP_SYM_OPAQUE) return sym.name;
    if (sym.kind == SP_SYM_EITHER)
        return sp_arena_printf(&symbolic->algebra.arena, "(%s ? %s : %s)", sp_sym_text(symbolic, sym.poly),
                               sym_text(symbolic, sym.either[0]), sym_text(symbolic, sym.either[1]));
    if (sym.kind != SP_SYM_VALUE) return sp_sym_text(symbolic, sym.poly);
    sp_value_json(&text, sym.value);
    const char *kept = sp_arena_copy(&symbolic->algebra.arena, text.data, text.length);
    sp_text_free(&text);
    return kept;
}

static uint64_t sym_depends(const struct sp_symbolic *symbolic, struct sp_sym sym)
{
    return sym.kind == SP_SYM_NUMBER || sym.kind == SP_SYM_CONDITION ? sp_sym_depends(symbolic, sym.poly) : 0;
}

static bool as_number(struct sp_symbolic *symbolic, struct sp_span span, struct sp_sym sym, const struct sp_poly **out)
{
    *out = sym.poly;
    if (sym.kind == SP_SYM_NUMBER || sym.kind == SP_SYM_CONDITION) return true;
    if (sym.kind == SP_SYM_OPAQUE || sym.kind == SP_SYM_EITHER) {
        *out = sp_sym_opaque(symbolic, false, 0, sym_text(symbolic, sym));
        return true;
    }
    return sp_sym_fail(symbolic, span, "expected a number, found %s", sp_value_kind(sym.value.type));
}

/* A number used as a condition says whether it is not 0. */
static bool as_condition(struct sp_symbolic *symbolic, struct sp_span span, struct sp_sym sym,
                         const struct sp_poly **out)
{
    struct sp_rational value;
    *out = sym.poly;
    if (sym.kind == SP_SYM_CONDITION) return true;
    if (sym.kind == SP_SYM_VALUE)
        return sp_sym_fail(symbolic, span, "expected a condition, found %s", sp_value_kind(sym.value.type));
    if (sym.kind == SP_SYM_NUMBER && sp_poly_is_constant(sym.poly, &value))
        *out = sp_poly_int(&symbolic->algebra, !sp_rational_is_zero(value));
    else
        *out = sp_sym_opaque(symbolic, true, sym_depends(symbolic, sym),
                             sp_arena_printf(&symbolic->algebra.arena, "[%s]", sym_text(symbolic, sym)));
    return true;
}

/* ---- hyper-parameters ---- */

static bool is_key(const struct sp_sym_env *env, const struct sp_expr *expr);

static void mark_read(struct sp_symbolic *symbolic, const char *path)
{
    const struct sp_value root = symbolic->settings->root;
    const size_t length = strcspn(path, ".");
    for (size_t i = 0; i < root.count && i < 64; i++)
        if (strncmp(root.members[i].key, path, length) == 0 && !root.members[i].key[length])
            symbolic->settings_read |= (uint64_t)1 << i;
}

static struct sp_value fixed(struct sp_symbolic *symbolic, const char *path)
{
    struct sp_value object = symbolic->settings ? symbolic->settings->root : (struct sp_value){.type = SP_OBJECT};
    char part[256];
    if (symbolic->settings) mark_read(symbolic, path);
    for (const char *dot; (dot = strchr(path, '.')) && (size_t)(dot - path) < sizeof part; path = dot + 1) {
        memcpy(part, path, (size_t)(dot - path));
        part[dot - path] = '\0';
        object = sp_value_member(object, part);
    }
    return sp_value_member(object, path);
}

static void add_symbol(struct sp_symbolic *symbolic, size_t atom, const char *name, const char *key,
                       const struct sp_poly *fallback)
{
    for (size_t i = 0; i < symbolic->symbol_count; i++)
        if (symbolic->symbols[i].atom == atom) return;
    SP_GROW(symbolic->symbols, symbolic->symbol_count, symbolic->symbol_capacity);
    symbolic->symbols[symbolic->symbol_count++] = (struct sp_symbol_info){atom, name, key, fallback};
}

/* A hyper-parameter that stays open, called `name` in formulas. Its kind is that of its default; a number without one.
 */
static const struct sp_symbol_info *symbol_of_key(const struct sp_symbolic *symbolic, const char *key,
                                                  bool is_condition)
{
    for (size_t i = 0; i < symbolic->symbol_count; i++) {
        const struct sp_symbol_info *symbol = &symbolic->symbols[i];
        if (strcmp(symbol->key, key) == 0 && symbolic->algebra.atoms[symbol->atom].is_condition == is_condition)
            return symbol;
    }
    return NULL;
}

static struct sp_sym open_symbol(struct sp_symbolic *symbolic, const char *name, const char *key,
                                 const struct sp_sym *fallback)
{
    if (fallback && fallback->kind >= SP_SYM_VALUE) return *fallback;
    const bool is_condition = fallback && fallback->kind == SP_SYM_CONDITION;
    const struct sp_symbol_info *same = symbol_of_key(symbolic, key, is_condition);
    if (same) name = same->name; /* whatever each place calls it, a hyper-parameter is one symbol */
    const struct sp_poly *poly = sp_sym_opaque(symbolic, is_condition, 0, name);
    add_symbol(symbolic, poly->terms[0].factors[0].atom,
               poly->count ? symbolic->algebra.atoms[poly->terms[0].factors[0].atom].text : name, key,
               fallback ? fallback->poly : NULL);
    return is_condition ? condition(poly) : sp_sym_of_poly(poly);
}

static const struct sp_expr *behind_alias(const struct sp_sym_env *env, const struct sp_expr *expr);
static bool is_side(const struct sp_sym_env *env, const struct sp_expr *expr);

static const char *key_path(struct sp_symbolic *symbolic, const struct sp_sym_env *env, const struct sp_expr *expr)
{
    if (expr->kind == SP_EXPR_NAME)
        return sp_arena_printf(&symbolic->algebra.arena, "%s%s", env->frame->path, expr->name);
    if (expr->kind == SP_EXPR_CALL) /* one side of a pair, see is_side */
        return sp_arena_printf(&symbolic->algebra.arena, "at(%s, %d)", key_path(symbolic, env, expr->args[0]),
                               (int)expr->args[1]->value.integer);
    return sp_arena_printf(&symbolic->algebra.arena, "%s.%s", key_path(symbolic, env, behind_alias(env, expr->args[0])),
                           expr->name);
}

static const struct sp_sym *given(const struct sp_sym_frame *frame, const char *key)
{
    for (size_t i = 0; i < frame->given_count; i++)
        if (strcmp(frame->given[i].key, key) == 0) return &frame->given[i].sym;
    return NULL;
}

/* A key on its own, without a default. */
static struct sp_sym bare_key(struct sp_symbolic *symbolic, const struct sp_sym_env *env, const struct sp_expr *expr,
                              const char *name)
{
    const struct sp_sym *by_table = expr->kind == SP_EXPR_NAME ? given(env->frame, expr->name) : NULL;
    if (by_table) return *by_table;
    const char *path = key_path(symbolic, env, expr);
    const struct sp_value value = fixed(symbolic, path);
    if (sp_value_is_set(value)) return sp_sym_of_value(symbolic, value);
    return open_symbol(symbolic, name ? name : path, path, NULL);
}

/* Whether an expression looks at a key that is fixed: len(id2label). Then it has a value, and its default does not
 * count.
 */
static bool reads_setting(struct sp_symbolic *symbolic, const struct sp_sym_env *env, const struct sp_expr *expr)
{
    if (is_key(env, expr)) return sp_value_is_set(fixed(symbolic, key_path(symbolic, env, expr)));
    for (size_t i = 0; i < expr->count; i++)
        if (reads_setting(symbolic, env, expr->args[i])) return true;
    return false;
}

/* a default b default c, where some of a, b are keys: one symbol with c as its default. */
static bool chain(struct sp_symbolic *symbolic, const struct sp_sym_env *env, const struct sp_expr *expr,
                  const char *name, struct sp_sym *out)
{
    const char *path = NULL;
    const struct sp_expr *last = expr;
    for (; last->kind == SP_EXPR_DEFAULT; last = last->args[1]) {
        const bool side = is_side(env, last->args[0]);
        if (!side && !is_key(env, last->args[0])) {
            if (reads_setting(symbolic, env, last->args[0])) return sp_sym_eval(symbolic, env, last->args[0], out);
            continue;
        }
        const struct sp_expr *key = side ? last->args[0]->args[0] : last->args[0];
        const struct sp_sym *by_table = key->kind == SP_EXPR_NAME ? given(env->frame, key->name) : NULL;
        const struct sp_value value = fixed(symbolic, key_path(symbolic, env, key));
        if (!path) path = key_path(symbolic, env, last->args[0]);
        if (!by_table && !sp_value_is_set(value)) continue;
        if (side) return sp_sym_eval(symbolic, env, last->args[0], out);
        *out = by_table ? *by_table : sp_sym_of_value(symbolic, value);
        return true;
    }
    struct sp_sym fallback;
    if (is_key(env, last) || is_side(env, last)) { /* the default is another hyper-parameter, unless that is fixed */
        const bool side = is_side(env, last);
        const struct sp_value value = fixed(symbolic, key_path(symbolic, env, side ? last->args[0] : last));
        if (!side) fallback = bare_key(symbolic, env, last, path ? NULL : name);
        else if (!sp_sym_eval(symbolic, env, last, &fallback)) return false;
        if (!path || sp_value_is_set(value)) {
            *out = fallback;
            return true;
        }
    } else if (!sp_sym_eval(symbolic, env, last, &fallback)) return false;
    if (path && !sym_depends(symbolic, fallback)) *out = open_symbol(symbolic, name ? name : path, path, &fallback);
    else *out = fallback; /* layer_types[i] default ...: the list is taken as absent */
    return true;
}

/* ---- names ---- */

static const struct sp_definition *local_definition(const struct sp_sym_env *env, const char *name)
{
    for (size_t i = 0; env->section && i < env->section->local_count; i++)
        if (env->section->locals[i].name == name && &env->section->locals[i] != env->defining)
            return &env->section->locals[i];
    return NULL;
}

static size_t unit_definition(const struct sp_sym_env *env, const char *name)
{
    for (size_t i = 0; i < env->frame->unit->definition_count; i++)
        if (env->frame->unit->definitions[i].name == name && &env->frame->unit->definitions[i] != env->defining)
            return i;
    return SIZE_MAX;
}

static size_t param_index(const struct sp_sym_env *env, const char *name)
{
    for (size_t i = 0; i < env->frame->unit->param_count; i++)
        if (env->frame->unit->params[i].name == name) return i;
    return SIZE_MAX;
}

static const struct sp_sym_binding *binding_of(const struct sp_sym_env *env, const char *name)
{
    for (const struct sp_sym_binding *b = env->bindings; b; b = b->outer)
        if (b->name == name) return b;
    return NULL;
}

static bool is_key(const struct sp_sym_env *env, const struct sp_expr *expr)
{
    if (expr->kind == SP_EXPR_MEMBER) return is_key(env, behind_alias(env, expr->args[0]));
    if (expr->kind != SP_EXPR_NAME) return false;
    if (binding_of(env, expr->name) || local_definition(env, expr->name)) return false;
    if (param_index(env, expr->name) != SIZE_MAX || unit_definition(env, expr->name) != SIZE_MAX) return false;
    if (!env->outer) return true;
    const struct sp_sym_env outer = {.frame = env->outer};
    return is_key(&outer, expr);
}

/* enc = config_encoder: what the name stands for. */
static const struct sp_expr *behind_alias(const struct sp_sym_env *env, const struct sp_expr *expr)
{
    for (int steps = 0; steps < 8 && expr->kind == SP_EXPR_NAME && !binding_of(env, expr->name); steps++) {
        const size_t definition = unit_definition(env, expr->name);
        if (definition == SIZE_MAX || env->frame->unit->definitions[definition].is_function) break;
        expr = env->frame->unit->definitions[definition].expr;
    }
    return expr;
}

/* at(key, 0): one side of a pair. */
static bool is_side(const struct sp_sym_env *env, const struct sp_expr *expr)
{
    return expr->kind == SP_EXPR_CALL && expr->count == 2 && strcmp(expr->name, "at") == 0 &&
           is_key(env, expr->args[0]) && expr->args[1]->kind == SP_EXPR_LITERAL && expr->args[1]->value.type == SP_INT;
}

/* Whether a short name is free for a part: neither the table nor another key has it. */
static bool is_free(const struct sp_symbolic *symbolic, const char *name)
{
    for (size_t i = 0; symbolic->root && i < symbolic->root->definition_count; i++)
        if (strcmp(symbolic->root->definitions[i].name, name) == 0) return false;
    return sp_map_get(&symbolic->algebra.names, name) == SIZE_MAX;
}

/* The name of a definition is the symbol's, when the definition is a key with or without defaults. In a sub-table the
 * key itself is: its short names would clash with those of the table around it. */
static const char *symbol_name(const struct sp_symbolic *symbolic, const struct sp_sym_env *env,
                               const struct sp_definition *definition)
{
    if (*env->frame->path) return NULL;
    return env->frame->unit->is_table || is_free(symbolic, definition->name) ? definition->name : NULL;
}

static void add_comparison(struct sp_symbolic *symbolic, struct sp_comparison added)
{
    for (size_t i = 0; i < symbolic->comparison_count; i++)
        if (symbolic->comparisons[i].atom == added.atom) return;
    SP_GROW(symbolic->comparisons, symbolic->comparison_count, symbolic->comparison_capacity);
    symbolic->comparisons[symbolic->comparison_count++] = added;
}

/* A comparison that gets another name stays one. */
static void rename_comparison(struct sp_symbolic *symbolic, size_t from, size_t to)
{
    for (size_t i = 0; i < symbolic->comparison_count; i++) {
        struct sp_comparison comparison = symbolic->comparisons[i];
        if (comparison.atom != from) continue;
        comparison.atom = to;
        add_comparison(symbolic, comparison);
        return;
    }
}

/* What a definition of the table computes, when it is no polynomial, is known by the name of the definition. */
static void name_opaque(struct sp_symbolic *symbolic, const char *name, struct sp_sym *sym)
{
    const bool number = sym->kind == SP_SYM_NUMBER, single = sym->kind <= SP_SYM_CONDITION && sym->poly->count == 1;
    if (!single || sym->poly->terms[0].count != 1 || sp_sym_depends(symbolic, sym->poly)) return;
    const struct sp_term *term = &sym->poly->terms[0];
    if (term->factors[0].exponent != 1 || term->coefficient.num != 1 || term->coefficient.den != 1) return;
    for (size_t i = 0; i < symbolic->symbol_count; i++)
        if (symbolic->symbols[i].atom == term->factors[0].atom && strncmp(symbolic->symbols[i].name, "at(", 3) != 0)
            return; /* has a name already */
    const size_t before = term->factors[0].atom;
    const char *text = symbolic->algebra.atoms[before].text;
    sym->poly = sp_sym_opaque(symbolic, !number, 0, name);
    rename_comparison(symbolic, before, sym->poly->terms[0].factors[0].atom);
    add_symbol(symbolic, sym->poly->terms[0].factors[0].atom, name, text, NULL);
}

static bool define(struct sp_symbolic *symbolic, const struct sp_sym_env *env, const struct sp_definition *definition,
                   struct sp_sym *out)
{
    const struct sp_expr *expr = definition->expr;
    const char *name = symbol_name(symbolic, env, definition);
    if (expr->kind == SP_EXPR_DEFAULT) return chain(symbolic, env, expr, name, out);
    if (is_key(env, expr) && !env->outer) { /* in a claim it is a key of the table */
        *out = bare_key(symbolic, env, expr, name);
        return true;
    }
    if (!sp_sym_eval(symbolic, env, expr, out)) return false;
    if (name) name_opaque(symbolic, name, out);
    return true;
}

static bool unit_value(struct sp_symbolic *symbolic, const struct sp_sym_env *env, size_t index, struct sp_sym *out)
{
    struct sp_sym_frame *frame = env->frame;
    const struct sp_definition *definition = &frame->unit->definitions[index];
    const struct sp_sym_env own = {
        .frame = frame, .defining = definition, .outer = env->outer, .group = env->group, .context = env->context};
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

/* A name that a claim uses and the table does not define: the total, or a hyper-parameter that the table has. */
static bool claim_name(struct sp_symbolic *symbolic, const struct sp_sym_env *env, const struct sp_expr *expr,
                       struct sp_sym *out)
{
    if (strcmp(expr->name, "total") == 0) *out = sp_sym_of_poly(env->group(env->context, NULL));
    else if (sp_sym_symbol(symbolic, expr->name)) {
        const size_t atom = sp_sym_symbol(symbolic, expr->name)->atom;
        *out = symbolic->algebra.atoms[atom].is_condition ? condition(sp_poly_atom(&symbolic->algebra, atom))
                                                          : sp_sym_of_poly(sp_poly_atom(&symbolic->algebra, atom));
    } else if (sp_value_is_set(fixed(symbolic, expr->name))) *out = bare_key(symbolic, env, expr, NULL);
    else
        return sp_sym_fail(symbolic, expr->span, "'%s' is neither defined nor a hyper-parameter of the table",
                           expr->name);
    return true;
}

static bool eval_name(struct sp_symbolic *symbolic, const struct sp_sym_env *env, const struct sp_expr *expr,
                      struct sp_sym *out)
{
    const struct sp_sym_binding *bound = binding_of(env, expr->name);
    if (bound) {
        *out = bound->sym;
        return true;
    }
    const struct sp_definition *local = local_definition(env, expr->name);
    if (local) {
        struct sp_sym_env own = *env;
        own.defining = local;
        return sp_sym_eval(symbolic, &own, local->expr, out);
    }
    const size_t param = param_index(env, expr->name), definition = unit_definition(env, expr->name);
    if (param != SIZE_MAX) *out = env->frame->params[param];
    else if (definition != SIZE_MAX) return unit_value(symbolic, env, definition, out);
    else if (env->outer) {
        const struct sp_sym_env outer = {.frame = env->outer, .group = env->group, .context = env->context};
        return eval_name(symbolic, &outer, expr, out);
    } else if (env->group) return claim_name(symbolic, env, expr, out);
    else *out = bare_key(symbolic, env, expr, NULL);
    return true;
}

/* ---- operators ---- */

static const char *const symbols_of_ops[] = {"+", "-", "*", "/", "//", "%", "^"};

/* A condition is written in brackets: [i < F] is 1 where i < F, else 0. */
static struct sp_sym opaque_of(struct sp_symbolic *symbolic, bool is_condition, const char *text, struct sp_sym a,
                               struct sp_sym b)
{
    if (is_condition) text = sp_arena_printf(&symbolic->algebra.arena, "[%s]", text);
    const struct sp_poly *poly =
        sp_sym_opaque(symbolic, is_condition, sym_depends(symbolic, a) | sym_depends(symbolic, b), text);
    return is_condition ? condition(poly) : sp_sym_of_poly(poly);
}

static struct sp_sym comparison(struct sp_symbolic *symbolic, bool equality, const char *text,
                                const struct sp_poly *gap)
{
    const struct sp_sym sym = opaque_of(symbolic, true, text, sp_sym_of_poly(gap), sp_sym_of_poly(gap));
    add_comparison(symbolic, (struct sp_comparison){sym.poly->terms[0].factors[0].atom, gap, equality});
    return sym;
}

static const char *bracketed(struct sp_symbolic *symbolic, const struct sp_poly *poly)
{
    const char *text = sp_sym_text(symbolic, poly);
    return poly->count > 1 ? sp_arena_printf(&symbolic->algebra.arena, "(%s)", text) : text;
}

static bool constants(const struct sp_poly *a, const struct sp_poly *b, int64_t *x, int64_t *y)
{
    struct sp_rational p, q;
    if (!sp_poly_is_constant(a, &p) || !sp_poly_is_constant(b, &q) || p.den != 1 || q.den != 1) return false;
    *x = p.num;
    *y = q.num;
    return true;
}

static int64_t floor_div(int64_t a, int64_t b)
{
    const int64_t quotient = a / b;
    return quotient - (a % b && (a < 0) != (b < 0));
}

static const struct sp_poly *power(struct sp_symbolic *symbolic, const struct sp_poly *a, const struct sp_poly *b)
{
    struct sp_rational exponent;
    if (!sp_poly_is_constant(b, &exponent) || exponent.den != 1 || exponent.num < 0 || exponent.num > 64) return NULL;
    return sp_poly_power(&symbolic->algebra, a, (int)exponent.num);
}

static bool arithmetic(struct sp_symbolic *symbolic, const struct sp_expr *expr, struct sp_sym a, struct sp_sym b,
                       struct sp_sym *out)
{
    struct sp_algebra *algebra = &symbolic->algebra;
    const struct sp_poly *p, *q, *result = NULL;
    int64_t x, y;
    if (!as_number(symbolic, expr->args[0]->span, a, &p) || !as_number(symbolic, expr->args[1]->span, b, &q))
        return false;
    switch (expr->op) {
    case SP_OP_ADD:
        result = sp_poly_add(algebra, p, q);
        break;
    case SP_OP_SUB:
        result = sp_poly_sub(algebra, p, q);
        break;
    case SP_OP_MUL:
        result = sp_poly_mul(algebra, p, q);
        break;
    case SP_OP_DIV:
        result = sp_poly_divide(algebra, p, q);
        break;
    case SP_OP_POW:
        result = power(symbolic, p, q);
        break;
    default:
        if (constants(p, q, &x, &y) && y)
            result = sp_poly_int(algebra, expr->op == SP_OP_MOD ? x - y * floor_div(x, y) : floor_div(x, y));
    }
    if (result) {
        *out = sp_sym_of_poly(result);
        return true;
    }
    const char *text = sp_arena_printf(&algebra->arena, "(%s %s %s)", bracketed(symbolic, p), symbols_of_ops[expr->op],
                                       bracketed(symbolic, q));
    *out = opaque_of(symbolic, false, text, a, b);
    return true;
}

static bool is_positive_symbol(const struct sp_symbolic *symbolic, const struct sp_poly *poly)
{
    if (poly->count != 1 || poly->terms[0].coefficient.num <= 0) return false;
    return !sp_sym_depends(symbolic, poly);
}

/* a < b. A size is at least 1, so that 0 < E holds. */
static struct sp_sym less(struct sp_symbolic *symbolic, const struct sp_poly *a, const struct sp_poly *b)
{
    struct sp_rational difference;
    const struct sp_poly *gap = sp_poly_sub(&symbolic->algebra, b, a);
    if (sp_poly_is_constant(gap, &difference)) return truth(symbolic, difference.num > 0);
    if (sp_poly_is_zero(a) && is_positive_symbol(symbolic, b)) return truth(symbolic, true);
    if (sp_poly_is_zero(b) && is_positive_symbol(symbolic, a)) return truth(symbolic, false);
    const char *text =
        sp_arena_printf(&symbolic->algebra.arena, "%s < %s", sp_sym_text(symbolic, a), sp_sym_text(symbolic, b));
    return comparison(symbolic, false, text, gap);
}

static struct sp_sym negated(struct sp_symbolic *symbolic, struct sp_sym sym)
{
    return condition(sp_poly_sub(&symbolic->algebra, sp_poly_int(&symbolic->algebra, 1), sym.poly));
}

static bool order(struct sp_symbolic *symbolic, const struct sp_expr *expr, struct sp_sym a, struct sp_sym b,
                  struct sp_sym *out)
{
    const struct sp_poly *p, *q;
    if (!as_number(symbolic, expr->args[0]->span, a, &p) || !as_number(symbolic, expr->args[1]->span, b, &q))
        return false;
    switch (expr->op) {
    case SP_OP_LT:
        *out = less(symbolic, p, q);
        break;
    case SP_OP_GT:
        *out = less(symbolic, q, p);
        break;
    case SP_OP_LE:
        *out = negated(symbolic, less(symbolic, q, p));
        break;
    default:
        *out = negated(symbolic, less(symbolic, p, q));
        break;
    }
    return true;
}

static struct sp_sym equal(struct sp_symbolic *symbolic, struct sp_sym a, struct sp_sym b)
{
    struct sp_rational difference;
    const bool numbers = a.kind <= SP_SYM_CONDITION && b.kind <= SP_SYM_CONDITION;
    const struct sp_poly *gap = numbers ? sp_poly_sub(&symbolic->algebra, a.poly, b.poly) : NULL;
    if (gap && sp_poly_is_constant(gap, &difference)) return truth(symbolic, difference.num == 0);
    if (a.kind == SP_SYM_VALUE && b.kind == SP_SYM_VALUE) return truth(symbolic, sp_values_equal(a.value, b.value));
    const char *left = sym_text(symbolic, a), *right = sym_text(symbolic, b);
    const char *text = sp_arena_printf(&symbolic->algebra.arena, "%s == %s", left, right);
    return gap ? comparison(symbolic, true, text, gap) : opaque_of(symbolic, true, text, a, b);
}

static struct sp_sym member_of_list(struct sp_symbolic *symbolic, struct sp_sym item, struct sp_sym list)
{
    struct sp_rational number;
    const bool texts = list.kind == SP_SYM_VALUE && list.value.type == SP_STRING && item.kind == SP_SYM_VALUE;
    if (texts && item.value.type == SP_STRING) return truth(symbolic, strstr(list.value.string, item.value.string));
    if (list.kind == SP_SYM_VALUE && list.value.type == SP_LIST) {
        struct sp_value value = item.value;
        bool known = item.kind == SP_SYM_VALUE || list.value.count == 0, found = false;
        if (item.kind == SP_SYM_NUMBER && sp_poly_is_constant(item.poly, &number) && number.den == 1) {
            value = sp_value_int(number.num);
            known = true;
        }
        for (size_t i = 0; known && i < list.value.count; i++)
            found = found || sp_values_equal(value, list.value.items[i]);
        if (known) return truth(symbolic, found);
    }
    const char *text =
        sp_arena_printf(&symbolic->algebra.arena, "%s in %s", sym_text(symbolic, item), sym_text(symbolic, list));
    return opaque_of(symbolic, true, text, item, list);
}

static bool logic(struct sp_symbolic *symbolic, const struct sp_sym_env *env, const struct sp_expr *expr,
                  struct sp_sym *out)
{
    struct sp_algebra *algebra = &symbolic->algebra;
    struct sp_rational value;
    const struct sp_poly *p, *q;
    if (!sp_sym_condition(symbolic, env, expr->args[0], &p)) return false;
    if (sp_poly_is_constant(p, &value) && (value.num != 0) == (expr->op == SP_OP_OR)) {
        *out = condition(p);
        return true;
    }
    if (!sp_sym_condition(symbolic, env, expr->args[1], &q)) return false;
    const struct sp_poly *both = sp_poly_mul(algebra, p, q);
    *out = condition(expr->op == SP_OP_AND ? both : sp_poly_sub(algebra, sp_poly_add(algebra, p, q), both));
    return true;
}

/* c ? a : b is c*a + (1-c)*b for numbers and conditions; texts are kept side by side. */
static struct sp_sym combine(struct sp_symbolic *symbolic, const struct sp_poly *c, struct sp_sym yes, struct sp_sym no)
{
    struct sp_algebra *algebra = &symbolic->algebra;
    if (yes.kind <= SP_SYM_CONDITION && no.kind <= SP_SYM_CONDITION) {
        yes.poly = sp_poly_add(algebra, no.poly, sp_poly_mul(algebra, c, sp_poly_sub(algebra, yes.poly, no.poly)));
        return yes;
    }
    struct sp_sym *either = sp_arena_array(&algebra->arena, 2, sizeof *either);
    either[0] = yes;
    either[1] = no;
    return (struct sp_sym){.kind = SP_SYM_EITHER, .poly = c, .either = either};
}

static bool choice(struct sp_symbolic *symbolic, const struct sp_sym_env *env, const struct sp_expr *expr,
                   struct sp_sym *out)
{
    struct sp_rational value;
    struct sp_sym yes, no;
    const struct sp_poly *c;
    if (!sp_sym_condition(symbolic, env, expr->args[0], &c)) return false;
    if (sp_poly_is_constant(c, &value)) return sp_sym_eval(symbolic, env, expr->args[value.num ? 1 : 2], out);
    if (!sp_sym_eval(symbolic, env, expr->args[1], &yes) || !sp_sym_eval(symbolic, env, expr->args[2], &no))
        return false;
    *out = combine(symbolic, c, yes, no);
    return true;
}

static bool binary_of(struct sp_symbolic *symbolic, const struct sp_expr *expr, struct sp_sym a, struct sp_sym b,
                      struct sp_sym *out);

/* An operand that is either of two: the operation is done with both. */
static bool binary_either(struct sp_symbolic *symbolic, const struct sp_expr *expr, struct sp_sym a, struct sp_sym b,
                          struct sp_sym *out)
{
    struct sp_sym yes, no;
    const bool left = a.kind == SP_SYM_EITHER;
    const struct sp_sym *either = left ? a.either : b.either;
    if (!binary_of(symbolic, expr, left ? either[0] : a, left ? b : either[0], &yes) ||
        !binary_of(symbolic, expr, left ? either[1] : a, left ? b : either[1], &no))
        return false;
    *out = combine(symbolic, left ? a.poly : b.poly, yes, no);
    return true;
}

static struct sp_sym joined(struct sp_symbolic *symbolic, struct sp_sym a, struct sp_sym b)
{
    struct sp_arena *arena = &symbolic->algebra.arena;
    if (a.kind == SP_SYM_VALUE && b.kind == SP_SYM_VALUE && a.value.type == SP_STRING && b.value.type == SP_STRING)
        return sp_sym_of_value(symbolic,
                               sp_value_string(sp_arena_printf(arena, "%s%s", a.value.string, b.value.string)));
    return (struct sp_sym){.kind = SP_SYM_OPAQUE,
                           .name = sp_arena_printf(arena, "%s + %s", sym_text(symbolic, a), sym_text(symbolic, b))};
}

static bool binary_of(struct sp_symbolic *symbolic, const struct sp_expr *expr, struct sp_sym a, struct sp_sym b,
                      struct sp_sym *out)
{
    if (a.kind == SP_SYM_EITHER || b.kind == SP_SYM_EITHER) return binary_either(symbolic, expr, a, b, out);
    if (expr->op >= SP_OP_LT && expr->op <= SP_OP_GE) return order(symbolic, expr, a, b, out);
    if (expr->op == SP_OP_EQ || expr->op == SP_OP_NE) *out = equal(symbolic, a, b);
    else if (expr->op == SP_OP_IN || expr->op == SP_OP_NOT_IN) *out = member_of_list(symbolic, a, b);
    else if (expr->op == SP_OP_ADD && (a.kind >= SP_SYM_VALUE || b.kind >= SP_SYM_VALUE)) *out = joined(symbolic, a, b);
    else return arithmetic(symbolic, expr, a, b, out);
    if (expr->op == SP_OP_NE || expr->op == SP_OP_NOT_IN) *out = negated(symbolic, *out);
    return true;
}

static bool binary(struct sp_symbolic *symbolic, const struct sp_sym_env *env, const struct sp_expr *expr,
                   struct sp_sym *out)
{
    struct sp_sym a, b;
    if (expr->op == SP_OP_AND || expr->op == SP_OP_OR) return logic(symbolic, env, expr, out);
    if (!sp_sym_eval(symbolic, env, expr->args[0], &a) || !sp_sym_eval(symbolic, env, expr->args[1], &b)) return false;
    return binary_of(symbolic, expr, a, b, out);
}

static bool unary(struct sp_symbolic *symbolic, const struct sp_sym_env *env, const struct sp_expr *expr,
                  struct sp_sym *out)
{
    const struct sp_poly *p;
    if (expr->op == SP_OP_NOT) {
        if (!sp_sym_condition(symbolic, env, expr->args[0], &p)) return false;
        *out = negated(symbolic, condition(p));
        return true;
    }
    if (!sp_sym_number(symbolic, env, expr->args[0], &p)) return false;
    *out = sp_sym_of_poly(sp_poly_scale(&symbolic->algebra, p, sp_rational_int(-1)));
    return true;
}

/* ---- lists, members, calls ---- */

static bool literal_value(struct sp_symbolic *symbolic, struct sp_sym sym, struct sp_value *value)
{
    struct sp_rational number;
    (void)symbolic;
    *value = sym.value;
    if (sym.kind == SP_SYM_VALUE) return true;
    if (sym.kind >= SP_SYM_OPAQUE || !sp_poly_is_constant(sym.poly, &number) || number.den != 1) return false;
    *value = sym.kind == SP_SYM_CONDITION ? sp_value_bool(number.num != 0) : sp_value_int(number.num);
    return true;
}

static bool list(struct sp_symbolic *symbolic, const struct sp_sym_env *env, const struct sp_expr *expr,
                 struct sp_sym *out)
{
    struct sp_value *items = sp_arena_array(&symbolic->algebra.arena, expr->count, sizeof *items);
    struct sp_text text = {0};
    bool known = true;
    sp_text_puts(&text, "[");
    for (size_t i = 0; i < expr->count; i++) {
        struct sp_sym item;
        if (!sp_sym_eval(symbolic, env, expr->args[i], &item)) return false;
        known = literal_value(symbolic, item, &items[i]) && known;
        sp_text_printf(&text, "%s%s", i ? ", " : "", sym_text(symbolic, item));
    }
    sp_text_puts(&text, "]");
    if (known)
        *out = (struct sp_sym){.kind = SP_SYM_VALUE, .value = {.type = SP_LIST, .count = expr->count, .items = items}};
    else
        *out = (struct sp_sym){.kind = SP_SYM_OPAQUE,
                               .name = sp_arena_copy(&symbolic->algebra.arena, text.data, text.length)};
    sp_text_free(&text);
    return true;
}

static bool index_of(struct sp_symbolic *symbolic, const struct sp_sym_env *env, const struct sp_expr *expr,
                     struct sp_sym *out)
{
    struct sp_sym from, place;
    struct sp_value number;
    if (!sp_sym_eval(symbolic, env, expr->args[0], &from) || !sp_sym_eval(symbolic, env, expr->args[1], &place))
        return false;
    const bool known = literal_value(symbolic, place, &number) && number.type == SP_INT;
    if (from.kind == SP_SYM_VALUE && from.value.type == SP_LIST && known && number.integer >= 0 &&
        (uint64_t)number.integer < from.value.count) {
        *out = sp_sym_of_value(symbolic, from.value.items[number.integer]);
        return true;
    }
    *out = opaque_of(
        symbolic, false,
        sp_arena_printf(&symbolic->algebra.arena, "%s[%s]", sym_text(symbolic, from), sym_text(symbolic, place)), from,
        place);
    return true;
}

static bool member(struct sp_symbolic *symbolic, const struct sp_sym_env *env, const struct sp_expr *expr,
                   struct sp_sym *out)
{
    struct sp_sym object;
    if (is_key(env, expr)) {
        *out = bare_key(symbolic, env, expr, NULL);
        return true;
    }
    if (!sp_sym_eval(symbolic, env, expr->args[0], &object)) return false;
    if (object.kind == SP_SYM_VALUE) *out = sp_sym_of_value(symbolic, sp_value_member(object.value, expr->name));
    else
        *out = open_symbol(symbolic,
                           sp_arena_printf(&symbolic->algebra.arena, "%s.%s", sym_text(symbolic, object), expr->name),
                           expr->name, NULL);
    return true;
}

static bool call_own(struct sp_symbolic *symbolic, const struct sp_sym_env *env, const struct sp_expr *expr,
                     const struct sp_definition *definition, bool local, struct sp_sym *out)
{
    struct sp_sym_binding bound[8];
    struct sp_sym_env own = {.frame = env->frame,
                             .section = local ? env->section : NULL,
                             .bindings = local ? env->bindings : NULL,
                             .defining = definition,
                             .outer = env->outer,
                             .group = env->group,
                             .context = env->context};
    if (expr->count > 8) return sp_sym_fail(symbolic, expr->span, "more than 8 arguments");
    for (size_t i = 0; i < expr->count; i++) {
        bound[i].name = definition->params[i];
        if (!sp_sym_eval(symbolic, env, expr->args[i], &bound[i].sym)) return false;
    }
    for (size_t i = 0; i < expr->count; i++) {
        bound[i].outer = own.bindings;
        own.bindings = &bound[i];
    }
    return sp_sym_eval(symbolic, &own, definition->expr, out);
}

static bool is_condition_function(const char *name)
{
    return strcmp(name, "starts_with") == 0 || strcmp(name, "ends_with") == 0;
}

/* With known arguments the function is computed; else the call is an atom. */
static struct sp_sym apply(struct sp_symbolic *symbolic, const struct sp_expr *expr, const struct sp_sym *args)
{
    const bool is_condition = is_condition_function(expr->name);
    struct sp_value values[16], result;
    struct sp_text text = {0};
    uint64_t depends = 0;
    const char *problem = NULL;
    bool known = true;
    for (size_t i = 0; i < expr->count; i++) {
        if (args[i].kind != SP_SYM_EITHER) continue;
        struct sp_sym both[16], yes;
        memcpy(both, args, expr->count * sizeof *both);
        both[i] = args[i].either[0];
        yes = apply(symbolic, expr, both);
        both[i] = args[i].either[1];
        return combine(symbolic, args[i].poly, yes, apply(symbolic, expr, both));
    }
    if (symbolic->scalars && strcmp(expr->name, "at") == 0 && args[0].kind == SP_SYM_NUMBER) return args[0];
    sp_text_printf(&text, is_condition ? "[%s(" : "%s(", expr->name);
    for (size_t i = 0; i < expr->count; i++) {
        known = literal_value(symbolic, args[i], &values[i]) && known;
        depends |= sym_depends(symbolic, args[i]);
        sp_text_printf(&text, "%s%s", i ? ", " : "", sym_text(symbolic, args[i]));
    }
    sp_text_puts(&text, is_condition ? ")]" : ")");
    const char *atom = sp_arena_copy(&symbolic->algebra.arena, text.data, text.length);
    sp_text_free(&text);
    result = values[0];
    if (known && expr->function->apply(values, expr->count, &result, &problem))
        return sp_sym_of_value(symbolic, result);
    const struct sp_poly *poly = sp_sym_opaque(symbolic, is_condition, depends, atom);
    if (strcmp(expr->name, "at") == 0 && !depends)
        add_symbol(symbolic, poly->terms[0].factors[0].atom, atom, atom, NULL);
    return is_condition ? condition(poly) : sp_sym_of_poly(poly);
}

static bool call_builtin(struct sp_symbolic *symbolic, const struct sp_sym_env *env, const struct sp_expr *expr,
                         struct sp_sym *out)
{
    struct sp_sym args[16];
    if (!expr->count || expr->count > 16) return sp_sym_fail(symbolic, expr->span, "too many arguments");
    for (size_t i = 0; i < expr->count; i++)
        if (!sp_sym_eval(symbolic, env, expr->args[i], &args[i])) return false;
    *out = apply(symbolic, expr, args);
    return true;
}

/* absent(key), null(key): a case, of which a hyper-parameter that is not given and not null is the usual one. */
static bool presence(struct sp_symbolic *symbolic, const struct sp_sym_env *env, const struct sp_expr *expr,
                     struct sp_sym *out)
{
    const bool asks_absent = strcmp(expr->name, "absent") == 0;
    struct sp_sym usual = truth(symbolic, asks_absent);
    if (!is_key(env, expr->args[0])) {
        *out = truth(symbolic, false);
        return true;
    }
    const char *path = key_path(symbolic, env, expr->args[0]);
    const struct sp_value value = fixed(symbolic, path);
    if (value.type != SP_ABSENT || symbolic->scalars) {
        *out = truth(symbolic, value.type == (asks_absent ? SP_ABSENT : SP_NULL));
        return true;
    }
    const char *name = sp_arena_printf(&symbolic->algebra.arena, "[%s(%s)]", expr->name, path);
    *out = open_symbol(symbolic, name, name, &usual);
    return true;
}

static bool call(struct sp_symbolic *symbolic, const struct sp_sym_env *env, const struct sp_expr *expr,
                 struct sp_sym *out)
{
    const struct sp_definition *local = local_definition(env, expr->name);
    const size_t own = unit_definition(env, expr->name);
    if (local) return call_own(symbolic, env, expr, local, true, out);
    if (own != SIZE_MAX) return call_own(symbolic, env, expr, &env->frame->unit->definitions[own], false, out);
    if (!expr->function && env->outer) {
        const struct sp_sym_env outer = {.frame = env->outer, .bindings = env->bindings};
        return call(symbolic, &outer, expr, out);
    }
    if (!expr->function) return sp_sym_fail(symbolic, expr->span, "there is no function '%s'", expr->name);
    if (expr->function->sees_absent) return presence(symbolic, env, expr, out);
    return call_builtin(symbolic, env, expr, out);
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
        return index_of(symbolic, env, expr, out);
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
    return sp_sym_eval(symbolic, env, expr, &sym) && as_number(symbolic, expr->span, sym, out);
}

bool sp_sym_condition(struct sp_symbolic *symbolic, const struct sp_sym_env *env, const struct sp_expr *expr,
                      const struct sp_poly **out)
{
    struct sp_sym sym;
    return sp_sym_eval(symbolic, env, expr, &sym) && as_condition(symbolic, expr->span, sym, out);
}
