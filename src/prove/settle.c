/* SPDX-License-Identifier: MIT */
#include "prove/settle.h"

#include <string.h>

/* The value of what the table defines under the name, in a count with all settled. False when it defines no number of
 * that name. */
static bool evaluated(struct sp_count *settled, const char *name, struct sp_rational *value)
{
    const struct sp_unit *unit = settled->table;
    for (size_t i = 0; i < unit->definition_count; i++) {
        if (strcmp(unit->definitions[i].name, name) != 0) continue;
        struct sp_sym sym;
        struct sp_values defaults = {0};
        const struct sp_sym_env env = {.frame = settled->frame};
        const struct sp_expr expr = {
            .kind = SP_EXPR_NAME, .name = unit->definitions[i].name, .span = unit->definitions[i].span};
        if (!sp_sym_eval(&settled->symbolic, &env, &expr, &sym) || sym.kind > SP_SYM_CONDITION) return false;
        sp_values_add_defaults(settled, &defaults, SP_DEFAULTS_OF_ALL);
        const struct sp_poly *poly = sp_reduce(settled, sym.poly, &defaults);
        sp_values_free(&defaults);
        return poly && sp_poly_is_constant(poly, value);
    }
    return false;
}

struct sp_values sp_settle(struct sp_count *count, struct sp_count *settled, const struct sp_hyper *hyper)
{
    struct sp_algebra *algebra = &count->symbolic.algebra;
    struct sp_values values = {0};
    for (size_t i = 0; i < count->symbolic.symbols.count; i++) {
        const struct sp_symbol_info *symbol = &count->symbolic.symbols.items[i];
        const struct shapeproof_value value = sp_value_at(hyper->root, symbol->key);
        struct sp_rational number;
        if (value.type == SHAPEPROOF_VALUE_INT)
            sp_values_add(&values, symbol->atom, sp_poly_int(algebra, value.integer));
        else if (value.type == SHAPEPROOF_VALUE_BOOL)
            sp_values_add(&values, symbol->atom, sp_poly_int(algebra, value.boolean));
        else if (evaluated(settled, symbol->name, &number))
            sp_values_add(&values, symbol->atom, sp_poly_rational(algebra, number));
    }
    sp_values_add_defaults(count, &values, SP_DEFAULTS_OF_ALL);
    return values;
}

/* {"0": {...}, "1": {...}}: a list in all but name. */
static bool is_by_number(struct shapeproof_value object)
{
    for (size_t i = 0; i < object.count; i++) {
        const char *key = object.members[i].key;
        if (!*key || key[strspn(key, "0123456789")]) return false;
    }
    return object.type == SHAPEPROOF_VALUE_OBJECT && object.count > 0;
}

/* Whether a value stays in a configuration that is opened so: see enum sp_open. An object that is no list by number
 * does not stay as a whole; its members are looked at. */
static bool stays(struct shapeproof_value value, enum sp_open open)
{
    if (value.type == SHAPEPROOF_VALUE_STRING) return true;
    if (open == SP_OPEN_FLAGS) return value.type != SHAPEPROOF_VALUE_BOOL && value.type != SHAPEPROOF_VALUE_OBJECT;
    if (value.type == SHAPEPROOF_VALUE_BOOL) return open == SP_OPEN_NUMBERS;
    return open != SP_OPEN_ALL_BUT_TEXTS && (value.type == SHAPEPROOF_VALUE_LIST || is_by_number(value));
}

/* The members that stay, in sub-configurations too: as deep as a JSON file may be. */
static struct shapeproof_value opened(struct sp_arena *arena, struct shapeproof_value object, enum sp_open open)
{
    struct shapeproof_member *members = sp_arena_array(arena, object.count, sizeof *members);
    size_t count = 0;
    for (size_t i = 0; i < object.count; i++) {
        struct shapeproof_member member = object.members[i];
        const bool is_kept = stays(member.value, open);
        if (member.value.type != SHAPEPROOF_VALUE_OBJECT && !is_kept) continue;
        if (!is_kept) member.value = opened(arena, member.value, open);
        members[count++] = member;
    }
    return (struct shapeproof_value){.type = SHAPEPROOF_VALUE_OBJECT, .count = count, .members = members};
}

struct shapeproof_config *sp_config_open(const struct shapeproof_config *config, enum sp_open open)
{
    struct shapeproof_config *result = shapeproof_config_new();
    sp_config_set_root(result, opened(&result->arena, sp_config_hyper(config)->root, open));
    return result;
}
