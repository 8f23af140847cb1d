/* SPDX-License-Identifier: MIT
 * Hyper-parameters: what is known of them, and what their defaults are. */
#include "prove/symbolic/meaning.h"

#include <stdlib.h>
#include <string.h>

#include "base/chars.h"
#include "base/suggest.h"
#include "lang/functions.h"
#include "prove/symbolic/atoms.h"
#include "prove/symbolic/operate.h"

/* ---- hyper-parameters ---- */

/* Notes which settings the table looks at. */
void sp_sym_key_mark(struct sp_symbolic *symbolic, const char *path)
{
    const size_t length = strcspn(path, ".");
    if (!symbolic->fixed.settings) return;
    const struct shapeproof_value root = symbolic->fixed.settings->root;
    for (size_t i = 0; i < root.count && i < 64; i++)
        if (strncmp(root.members[i].key, path, length) == 0 && !root.members[i].key[length])
            symbolic->fixed.settings_read |= (uint64_t)1 << i;
}

const struct sp_sym *sp_sym_key_given(const struct sp_sym_frame *frame, const struct sp_expr *expr)
{
    for (size_t i = 0; expr->kind == SP_EXPR_NAME && i < frame->given_count; i++)
        if (strcmp(frame->given[i].key, expr->name) == 0) {
            if (frame->given[i].is_read) *frame->given[i].is_read = true;
            return &frame->given[i].sym;
        }
    return NULL;
}

/* The path of the object that has the member `expr`. An object that `with` gives, c = other, has the path that it has
 * there: c.n is other.n. */
static const char *object_path(struct sp_symbolic *symbolic, const struct sp_sym_env *env, const struct sp_expr *expr)
{
    const struct sp_expr *object = sp_sym_name_behind(env, expr->args[0]);
    const struct sp_sym *given = sp_sym_key_given(env->frame, object);
    return given && given->name ? given->name : sp_sym_key_path(symbolic, env, object);
}

const char *sp_sym_key_path(struct sp_symbolic *symbolic, const struct sp_sym_env *env, const struct sp_expr *expr)
{
    if (expr->kind == SP_EXPR_NAME)
        return sp_arena_printf(&symbolic->algebra.arena, "%s%s", env->frame->path, expr->name);
    return sp_arena_printf(&symbolic->algebra.arena, "%s.%s", object_path(symbolic, env, expr), expr->name);
}

/* Follows names and first alternatives of `default`. */
static const struct sp_expr *first_source(const struct sp_sym_env *env, const struct sp_expr *expr)
{
    expr = sp_sym_name_behind(env, expr);
    while (expr->kind == SP_EXPR_DEFAULT) expr = sp_sym_name_behind(env, expr->args[0]);
    return expr;
}

const char *sp_sym_key_source(struct sp_symbolic *symbolic, const struct sp_sym_env *env, const struct sp_expr *expr)
{
    expr = first_source(env, expr);
    return sp_sym_name_is_key(env, expr) ? sp_sym_key_path(symbolic, env, expr) : NULL;
}

/* Also follows parameters of parts, which are what their arguments are. */
const char *sp_sym_source(struct sp_symbolic *symbolic, const struct sp_sym_env *env, const struct sp_expr *expr)
{
    expr = first_source(env, expr);
    if (expr->kind == SP_EXPR_NAME && env->frame->param_sources) {
        const struct sp_meaning meaning = sp_sym_meaning_of(env, expr);
        if (meaning.kind == SP_MEANS_PARAM) return env->frame->param_sources[meaning.index];
    }
    if (sp_sym_name_is_key(env, expr)) return sp_sym_key_path(symbolic, env, expr);
    return sp_arena_printf(&symbolic->algebra.arena, "%s%.*s", env->frame->path, (int)expr->span.length,
                           expr->span.source->text + expr->span.offset);
}

/* The setting of a key: absent, null, or a value. */
struct shapeproof_value sp_sym_key_setting(const struct sp_sym_env *env, const struct sp_expr *expr)
{
    if (expr->kind == SP_EXPR_NAME) return sp_value_member(env->frame->object, expr->name);
    const struct sp_expr *object = sp_sym_name_behind(env, expr->args[0]);
    const struct sp_sym *given = sp_sym_key_given(env->frame, object);
    if (!given) return sp_value_member(sp_sym_key_setting(env, object), expr->name);
    return sp_value_member(given->kind == SP_SYM_VALUE ? given->value : sp_value_absent(object->name), expr->name);
}

/* Notes that the object in which the member `path` is, a symbol until now, is no number. */
static void mark_object(struct sp_symbolic *symbolic, const char *path)
{
    const char *object = sp_arena_copy(&symbolic->algebra.arena, path, (size_t)(strrchr(path, '.') - path));
    const size_t symbol = sp_map_get(&symbolic->symbols.keys, object);
    if (symbol != SIZE_MAX) symbolic->symbols.items[symbol].is_text = true;
}

bool sp_sym_key_is_open(const struct sp_symbolic *symbolic, const char *path)
{
    for (size_t i = 0; i < symbolic->fixed.open_count; i++)
        if (strcmp(symbolic->fixed.open[i], path) == 0) return true;
    return false;
}

/* In this order: what `with` gives, the key that is open although the rest is settled, the configuration. A key that
 * the configuration does not have is open, or absent in a settled count. */
enum sp_sym_key_state sp_sym_key_look_up(struct sp_symbolic *symbolic, const struct sp_sym_env *env,
                                         const struct sp_expr *expr, const char *path, struct sp_sym *out)
{
    const struct sp_sym *by_table = sp_sym_key_given(env->frame, expr);
    if (by_table) {
        *out = *by_table;
        return sp_sym_is_set(*out) ? SP_SYM_KEY_KNOWN : SP_SYM_KEY_UNSET;
    }
    if (expr->kind == SP_EXPR_MEMBER) mark_object(symbolic, path);
    if (sp_sym_key_is_open(symbolic, path)) return SP_SYM_KEY_OPEN;
    struct shapeproof_value value = sp_sym_key_setting(env, expr);
    sp_sym_key_mark(symbolic, path);
    if (!sp_value_is_set(value)) value.string = path;
    *out = sp_sym_of_value(symbolic, value);
    if (value.type == SHAPEPROOF_VALUE_OBJECT) out->name = path;
    if (sp_value_is_set(value)) return SP_SYM_KEY_KNOWN;
    return value.type == SHAPEPROOF_VALUE_NULL || symbolic->fixed.is_settled ? SP_SYM_KEY_UNSET : SP_SYM_KEY_OPEN;
}

/* What a name of a claim stands for: through the definitions of the claim, then through those of its table. */
static const struct sp_expr *claimed_name_behind(const struct sp_sym_env *env, const struct sp_expr *expr)
{
    const struct sp_sym_env table = {.frame = env->outer, .is_outer = true};
    expr = sp_sym_name_behind(env, expr);
    return env->outer ? sp_sym_name_behind(&table, expr) : expr;
}

/* "text_config.hidden_size" as a claim names it, in the arena. */
static const char *claimed_path(struct sp_symbolic *symbolic, const struct sp_sym_env *env, const struct sp_expr *expr)
{
    if (expr->kind == SP_EXPR_NAME) return expr->name;
    return sp_arena_printf(&symbolic->algebra.arena, "%s.%s",
                           claimed_path(symbolic, env, claimed_name_behind(env, expr->args[0])), expr->name);
}

const char *sp_sym_claimed_path(struct sp_symbolic *symbolic, const struct sp_sym_env *env, const struct sp_expr *expr)
{
    const struct sp_expr *key = claimed_name_behind(env, expr);
    while (key->kind == SP_EXPR_DEFAULT) key = key->args[0];
    const struct sp_expr *object = key;
    while (object->kind == SP_EXPR_MEMBER) object = claimed_name_behind(env, object->args[0]);
    return object->kind == SP_EXPR_NAME ? claimed_path(symbolic, env, key) : NULL;
}

/* The key that a definition of a table begins with: n_head of "A = n_head default 12"; NULL when it computes
 * something. */
static const char *key_of_definition(struct sp_symbolic *symbolic, const struct sp_sym_env *table,
                                     const struct sp_definition *definition)
{
    const struct sp_expr *expr = definition->expr;
    while (expr->kind == SP_EXPR_DEFAULT) expr = expr->args[0];
    return definition->is_function || !sp_sym_name_is_key(table, expr) ? NULL : claimed_path(symbolic, table, expr);
}

/* The environment of the table itself, also for a claim about it. */
static struct sp_sym_env env_of_table(const struct sp_sym_env *env)
{
    return (struct sp_sym_env){.frame = env->outer ? env->outer : env->frame, .is_outer = true};
}

bool sp_sym_defaulted_key(struct sp_symbolic *symbolic, const struct sp_sym_env *env, const char *path,
                          struct sp_sym *out)
{
    const struct sp_sym_env table = env_of_table(env);
    const struct sp_unit *unit = table.frame->unit;
    for (size_t i = 0; i < unit->definition_count; i++) {
        const struct sp_definition *definition = &unit->definitions[i];
        const char *key = key_of_definition(symbolic, &table, definition);
        const struct sp_expr name = {.kind = SP_EXPR_NAME, .name = definition->name, .span = definition->span};
        if (key && strcmp(key, path) == 0) return sp_sym_eval(symbolic, &table, &name, out) && sp_sym_is_set(*out);
    }
    const size_t taken = sp_map_get(&symbolic->defaults.keys, path);
    if (taken == SIZE_MAX || symbolic->defaults.items[taken].is_ambiguous) return false;
    *out = symbolic->defaults.items[taken].sym;
    return sp_sym_is_set(*out);
}

/* Notes which default the settled table gave to a key, for claims that name the key: of `w (k default 2)` the claim
 * total = k. */
static void note_default(struct sp_symbolic *symbolic, const char *key, struct sp_sym sym)
{
    struct sp_taken_defaults *defaults = &symbolic->defaults;
    const size_t known = sp_map_get(&defaults->keys, key);
    struct shapeproof_value before, now;
    const bool is_known = sp_sym_literal(sym, &now); /* not one that depends on the index of a loop */
    if (known == SIZE_MAX) {
        sp_map_add(&defaults->keys, key, defaults->count);
        SP_GROW(defaults->items, defaults->count, defaults->capacity);
        defaults->items[defaults->count++] =
            (struct sp_taken_default){.key = key, .sym = sym, .is_ambiguous = !is_known};
        return;
    }
    struct sp_taken_default *taken = &defaults->items[known];
    if (!is_known || !sp_sym_literal(taken->sym, &before) || !sp_values_equal(before, now)) taken->is_ambiguous = true;
}

/* How a measure is written, for its name alone; NULL of another name. */
static const char *measure_called(const char *name)
{
    static const struct {
        const char *name, *written;
    } measures[] = {
        {"parameters", "total"},
        {"bytes", "bytes(bf16)"},
        {"cache", "cache(tokens=4096, dtype=bf16)"},
        {"flops", "flops(tokens=4096)"},
        {"optimizer", "optimizer(adam)"},
        {"lora", "lora(rank=16, targets=all-linear)"},
        {"shard", "shard(tp=8)"},
        {"activations", "activations(tokens=4096)"},
    };
    for (size_t i = 0; i < sizeof measures / sizeof *measures; i++)
        if (strcmp(measures[i].name, name) == 0) return measures[i].written;
    return NULL;
}

const char *sp_key_initials(struct sp_arena *arena, const char *key)
{
    struct sp_text text = {0};
    for (const char *word = key; *word;) {
        const size_t length = strcspn(word, "_.[]");
        const bool is_number = sp_is_digit(*word);
        const bool is_member = *word && text.length && (word[-1] == '.' || word[-1] == '[');
        const bool is_filler =
            word[length] == '.' && (strncmp(word, "config.", 7) == 0 || strncmp(word, "args.", 5) == 0);
        if (length && is_member) sp_text_puts(&text, "_");
        for (size_t i = 0; i < length && !(is_filler && text.length) && (i == 0 || is_number); i++) {
            const char letter = is_number ? word[i] : (char)(word[i] | 0x20);
            sp_text_append(&text, &letter, 1);
        }
        word += length + (word[length] != 0);
    }
    return sp_text_keep(&text, arena);
}

/* The key without a letter of its own whose initials the name is, as formulas abbreviate it: n_shared_experts for nse.
 * NULL for none, or several. */
static const char *key_of_initials(struct sp_symbolic *symbolic, const char *name)
{
    const char *found = NULL;
    for (size_t i = 0; i < symbolic->symbols.count; i++) {
        const struct sp_symbol_info *symbol = &symbolic->symbols.items[i];
        if (strcmp(symbol->name, symbol->key) != 0 ||
            strcmp(sp_key_initials(&symbolic->algebra.arena, symbol->key), name) != 0)
            continue;
        if (found) return NULL;
        found = symbol->key;
    }
    return found;
}

/* Reports that a claim names something which the table does not have, with the name that comes nearest. Always false.
 */
static bool unknown_key(struct sp_symbolic *symbolic, const struct sp_sym_env *env, const struct sp_expr *expr,
                        const char *path)
{
    const struct sp_sym_env table = env_of_table(env);
    const struct sp_unit *unit = table.frame->unit;
    const char **known = sp_arena_array(&symbolic->algebra.arena, 2 * unit->definition_count, sizeof *known);
    const char *definition = NULL; /* that is the key */
    size_t count = 0;
    if (sp_map_get(&symbolic->defaults.keys, path) != SIZE_MAX)
        return sp_sym_fail(symbolic, expr->span, "'%s' is not set, and the table has different defaults for it", path);
    for (size_t i = 0; i < unit->definition_count; i++) {
        const char *key = key_of_definition(symbolic, &table, &unit->definitions[i]);
        known[count++] = unit->definitions[i].name;
        if (key && strcmp(key, path) == 0) definition = unit->definitions[i].name;
        if (key) known[count++] = key;
    }
    const char *measure = measure_called(path);
    const char *abbreviated = definition ? NULL : key_of_initials(symbolic, path);
    const char *likely = definition         ? definition
                         : measure          ? measure
                         : abbreviated      ? abbreviated
                         : strlen(path) > 2 ? sp_suggest(path, known, count)
                                            : NULL; /* else all names are alike */
    return sp_sym_fail(symbolic, expr->span, "'%s' is neither defined nor a hyper-parameter of the table%s%s%s", path,
                       likely ? "; did you mean '" : "", likely ? likely : "", likely ? "'?" : "");
}

/* Whether the name is one that arguments of measures have: cache(tokens=tokens, dtype=bf16) for all lengths. */
static bool is_measured_name(const char *path)
{
    static const char *const names[] = {"tokens", "source_tokens", "images", "sounds", "patches", "batch", "rank"};
    return SP_IS_AMONG(path, names);
}

/* The value of a key for which the table has no symbol: that of the configuration, the table's default in a settled
 * count, or what symbolic->fixed.named says; a symbol for the name of an argument of measures, in claims about all
 * values. False after a message when there is none of these. */
static bool claimed_setting(struct sp_symbolic *symbolic, const struct sp_sym_env *env, const struct sp_expr *expr,
                            const char *path, struct sp_sym *out)
{
    const struct shapeproof_value value =
        symbolic->fixed.settings ? sp_value_at(symbolic->fixed.settings->root, path) : sp_value_absent(path);
    struct sp_rational number;
    sp_sym_key_mark(symbolic, path);
    *out = sp_sym_of_value(symbolic, value);
    if (sp_value_is_set(value)) return true;
    if (symbolic->fixed.is_settled && sp_sym_defaulted_key(symbolic, env, path, out)) return true;
    if (!symbolic->fixed.is_settled && is_measured_name(path)) {
        *out = sp_atom_open(symbolic, path, path, 0, NULL);
        return true;
    }
    if (!symbolic->fixed.named || !symbolic->fixed.named(symbolic->fixed.context, path, &number)) {
        if (!is_measured_name(path)) return unknown_key(symbolic, env, expr, path);
        return sp_sym_fail(symbolic, expr->span, "with a configuration, a number is needed in place of '%s'", path);
    }
    *out = sp_sym_of_poly(sp_poly_rational(&symbolic->algebra, number));
    return true;
}

/* The value of a key that a claim names: the words `total` and `active`, a symbol of the table, or claimed_setting. */
static bool claimed_key(struct sp_symbolic *symbolic, const struct sp_sym_env *env, const struct sp_expr *expr,
                        struct sp_sym *out)
{
    const char *path = claimed_path(symbolic, env, expr);
    const struct sp_symbol_info *symbol = sp_sym_symbol(symbolic, path);
    if (expr->kind == SP_EXPR_NAME && strcmp(expr->name, "total") == 0) {
        *out = sp_sym_of_poly(env->group(env->context, NULL));
        return true;
    }
    if (!symbol && expr->kind == SP_EXPR_NAME && strcmp(expr->name, "active") == 0)
        return sp_sym_active(symbolic, env, expr, NULL, out);
    if (!symbol) return claimed_setting(symbolic, env, expr, path, out);
    const struct sp_poly *poly = sp_poly_atom(&symbolic->algebra, symbol->atom);
    const bool is_condition = symbolic->algebra.atoms[symbol->atom].is_condition;
    *out = is_condition ? sp_sym_of_condition(poly) : sp_sym_of_poly(poly);
    return true;
}

/* The known value, or absent, or null; a symbol for an open key. */
bool sp_sym_key_value(struct sp_symbolic *symbolic, const struct sp_sym_env *env, const struct sp_expr *expr,
                      const char *name, struct sp_sym *out)
{
    if (env->group) return claimed_key(symbolic, env, expr, out);
    const char *path = sp_sym_key_path(symbolic, env, expr);
    if (sp_sym_key_look_up(symbolic, env, expr, path, out) != SP_SYM_KEY_OPEN) return true;
    *out = sp_atom_open(symbolic, name, path, env->frame->depends, NULL);
    out->name = path;
    return true;
}

/* ---- defaults ---- */

/* `name`, here and below: what the table calls the symbol that the chain becomes, or NULL. */
static bool first_set(struct sp_symbolic *symbolic, const struct sp_sym_env *env, const struct sp_expr *expr,
                      const char *name, struct sp_sym *out);

/* Whether a default is a number or a condition, so that the key has a symbol. */
static bool is_numeric_default(struct sp_sym sym)
{
    return sym.kind == SP_SYM_NUMBER || sym.kind == SP_SYM_CONDITION ||
           (sym.kind == SP_SYM_VALUE && sym.value.type == SHAPEPROOF_VALUE_REAL);
}

/* Whether a value is computed from a list or a text that is a symbol, as len(widths) is. In front of `default` such a
 * list counts as left out, so that the default is taken, unless it is among those that are given (fixed.given). This is
 * noted in the symbol. Never in a settled count, where lists and texts have values. */
static bool is_unknown_symbol(struct sp_symbolic *symbolic, struct sp_sym sym)
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
    sp_free(seen);
    return found;
}

/* `sym default rest`, where `sym` is no open key: `sym` if it is set, the rest if it is not, SP_DO_DEFAULT of both
 * where that is not known, and each of these for one that is either of two. */
static bool put_default(struct sp_symbolic *symbolic, const struct sp_sym_env *env, const struct sp_expr *rest,
                        const char *name, struct sp_sym sym, struct sp_sym *out)
{
    const struct sp_operation instead = {.kind = SP_DO_DEFAULT, .span = rest->span};
    struct sp_sym either[2];
    *out = sym;
    if (!sp_sym_is_set(sym)) return first_set(symbolic, env, rest, name, out);
    if (sp_sym_may_be_unset(symbolic, sym)) {
        either[0] = sym;
        return first_set(symbolic, env, rest, NULL, &either[1]) && sp_sym_operate(symbolic, &instead, either, 2, out);
    }
    if (sym.kind != SP_SYM_EITHER) return true;
    if (!put_default(symbolic, env, rest, NULL, sym.either[0], &either[0]) ||
        !put_default(symbolic, env, rest, NULL, sym.either[1], &either[1]))
        return false;
    *out = sp_sym_combine(symbolic, sym.poly, either[0], either[1]);
    return true;
}

/* Whether a value depends on a key that has no definition of its own: another name of the key in front of it, as in
 * n_layer default num_hidden_layers default 12. Where that key is not given, it is not given either. */
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
    sp_free(seen);
    return found;
}

/* Whether an item of a chain is such another name of the key in front of it, or computed from one. */
static bool is_alias_key(struct sp_symbolic *symbolic, const struct sp_sym_env *env, const struct sp_expr *expr)
{
    struct sp_sym sym;
    if (!sp_sym_name_is_key(env, expr)) return sp_sym_eval(symbolic, env, expr, &sym) && has_alias(symbolic, sym);
    const char *path = sp_sym_key_path(symbolic, env, expr);
    return sp_map_get(&symbolic->symbols.own_keys, path) == SIZE_MAX &&
           sp_sym_key_look_up(symbolic, env, expr, path, &sym) == SP_SYM_KEY_OPEN;
}

/* The default of a key: the rest of its chain, without its other names. */
static bool rest_of_chain(struct sp_symbolic *symbolic, const struct sp_sym_env *env, const struct sp_expr *rest,
                          struct sp_sym *out)
{
    while (rest->kind == SP_EXPR_DEFAULT && is_alias_key(symbolic, env, rest->args[0])) rest = rest->args[1];
    return first_set(symbolic, env, rest, NULL, out);
}

/* Whether a default is a list of numbers. */
static bool is_list_of_numbers(struct sp_sym sym)
{
    if (sym.kind != SP_SYM_VALUE || sym.value.type != SHAPEPROOF_VALUE_LIST) return false;
    bool good = sym.value.count > 0;
    for (size_t i = 0; i < sym.value.count && good; i++) good = sp_value_is_number(sym.value.items[i]);
    return good;
}

/* An open key in front of a default: a symbol with that default if it is a number. Of a text or a list the default
 * itself is the value, since formulas are for the texts and lists of the table, unless lists are open. */
static bool open_symbolic_key(struct sp_symbolic *symbolic, const struct sp_sym_env *env, const struct sp_expr *rest,
                              const char *name, const char *path, struct sp_sym *out)
{
    struct sp_sym fallback;
    if (!rest_of_chain(symbolic, env, rest, &fallback)) return false;
    const bool numeric = is_numeric_default(fallback), is_list = is_list_of_numbers(fallback);
    symbolic->took_list = symbolic->took_list || (is_list && !symbolic->fixed.opens_lists);
    if (numeric || !sp_sym_is_set(fallback) || (is_list && symbolic->fixed.opens_lists))
        *out = sp_atom_open(symbolic, name, path, env->frame->depends, numeric ? &fallback : NULL);
    else *out = fallback;
    if (is_list && symbolic->fixed.opens_lists)
        symbolic->symbols.items[sp_map_get(&symbolic->symbols.keys, path)].list = sp_sym_words(symbolic, fallback);
    return true;
}

/* a default b default c, by what `a` is:
 *
 *     an open key                     a symbol, which counts as set; the rest is its default (open_symbolic_key)
 *     a key that is known or unset    put_default
 *     computed from an unknown list   the rest (is_unknown_symbol)
 *     another number                  itself; the rest is the default of its symbol, if it is one without a default
 *     anything else                   put_default
 *
 * The last item of a chain, c, is a key or an expression without a default. */
static bool first_set(struct sp_symbolic *symbolic, const struct sp_sym_env *env, const struct sp_expr *expr,
                      const char *name, struct sp_sym *out)
{
    struct sp_sym first;
    const struct sp_expr *key = expr->kind == SP_EXPR_DEFAULT ? expr->args[0] : expr;
    if (sp_sym_name_is_key(env, key) && (!env->group || expr == key)) {
        if (expr == key) return sp_sym_key_value(symbolic, env, expr, name, out);
        const char *path = sp_sym_key_path(symbolic, env, key);
        const enum sp_sym_key_state state = sp_sym_key_look_up(symbolic, env, key, path, &first);
        if (state == SP_SYM_KEY_OPEN) return open_symbolic_key(symbolic, env, expr->args[1], name, path, out);
        if (!put_default(symbolic, env, expr->args[1], name, first, out)) return false;
        if (state == SP_SYM_KEY_UNSET && symbolic->fixed.is_settled && !env->group) note_default(symbolic, path, *out);
        return true;
    }
    if (expr == key) return sp_sym_eval(symbolic, env, expr, out);
    if (!sp_sym_eval(symbolic, env, key, &first)) return false;
    if (is_unknown_symbol(symbolic, first)) return first_set(symbolic, env, expr->args[1], name, out);
    const bool is_set_number = first.kind <= SP_SYM_CONDITION && !sp_sym_may_be_unset(symbolic, first);
    if (is_set_number && !env->group) {
        struct sp_sym fallback;
        *out = first;
        out->name = NULL;
        if (!rest_of_chain(symbolic, env, expr->args[1], &fallback)) return false;
        if (is_numeric_default(fallback)) sp_atom_default(symbolic, &first, &fallback);
        else if (sp_sym_is_set(fallback) && sp_atom_is_text(symbolic, &first)) *out = fallback;
        return true;
    }
    return put_default(symbolic, env, expr->args[1], name, first, out);
}

/* When none is set, first_set gives the last one. The result is the first one then, because that is the key to ask for,
 * unless one of the two is null and the other absent. */
bool sp_sym_key_chain(struct sp_symbolic *symbolic, const struct sp_sym_env *env, const struct sp_expr *expr,
                      const char *name, struct sp_sym *out)
{
    struct sp_sym first;
    if (!first_set(symbolic, env, expr, name, out)) return false;
    if (expr->kind != SP_EXPR_DEFAULT || sp_sym_is_set(*out) || out->kind != SP_SYM_VALUE) return true;
    if (!sp_sym_eval(symbolic, env, expr->args[0], &first)) return false;
    if (first.kind == SP_SYM_VALUE && first.value.type == out->value.type) *out = first;
    return true;
}
