/* SPDX-License-Identifier: MIT
 * Which hyper-parameter, changed alone, gives a published total? All others get their values, what is left is a
 * polynomial in one symbol, and its integer roots are the answers. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "prove/reduce.h"
#include "shapeproof/prove.h"

enum { MAX_ROOTS = 16 };

struct sp_solutions {
    struct sp_arena arena;
    struct sp_solution *items;
    size_t count, capacity;
    const char **skipped;
    size_t skipped_count, skipped_capacity;
};

/* The value of a key in a configuration; absent when it is not there. */
static struct sp_value configured(const struct sp_hyper *hyper, const char *key)
{
    struct sp_value object = hyper->root;
    char part[256];
    for (const char *dot; (dot = strchr(key, '.')) && (size_t)(dot - key) < sizeof part; key = dot + 1) {
        memcpy(part, key, (size_t)(dot - key));
        part[dot - key] = '\0';
        object = sp_value_member(object, part);
    }
    return sp_value_member(object, key);
}

/* at(num_embed, 0) and the like: the symbol's text is evaluated with the configuration put in. */
static bool evaluated(const struct sp_count *settled, const char *name, struct sp_rational *value)
{
    const struct sp_unit *unit = settled->table;
    for (size_t i = 0; i < unit->definition_count; i++) {
        if (strcmp(unit->definitions[i].name, name) != 0) continue;
        struct sp_sym sym;
        const struct sp_sym_env env = {.frame = settled->frame};
        const struct sp_expr expr = {
            .kind = SP_EXPR_NAME, .name = unit->definitions[i].name, .span = unit->definitions[i].span};
        return sp_sym_eval((struct sp_symbolic *)&settled->symbolic, &env, &expr, &sym) &&
               sym.kind <= SP_SYM_CONDITION && sp_poly_is_constant(sym.poly, value);
    }
    return false;
}

/* A value for every symbol that has one: from the configuration, else its default. */
static struct sp_values all_values(struct sp_count *count, const struct sp_count *settled, const struct sp_hyper *hyper)
{
    struct sp_algebra *algebra = &count->symbolic.algebra;
    struct sp_values values = {0};
    for (size_t i = 0; i < count->symbolic.symbol_count; i++) {
        const struct sp_symbol_info *symbol = &count->symbolic.symbols[i];
        const struct sp_value value = configured(hyper, symbol->key);
        struct sp_rational number;
        if (value.type == SP_INT) sp_values_add(&values, symbol->atom, sp_poly_int(algebra, value.integer));
        else if (value.type == SP_BOOL) sp_values_add(&values, symbol->atom, sp_poly_int(algebra, value.boolean));
        else if (!symbol->fallback && evaluated(settled, symbol->name, &number))
            sp_values_add(&values, symbol->atom, sp_poly_rational(algebra, number));
    }
    sp_values_add_defaults(count, &values, false);
    return values;
}

static int plausibility(int64_t value)
{
    if ((value & (value - 1)) == 0) return 4;
    if (value % 64 == 0) return 3;
    if (value % 8 == 0) return 2;
    return value < 200; /* numbers of layers and heads are small */
}

static int compare_solutions(const void *left, const void *right)
{
    const struct sp_solution *a = left, *b = right;
    if (a->plausibility != b->plausibility) return a->plausibility > b->plausibility ? -1 : 1;
    return strcmp(a->name, b->name);
}

static void skip(struct sp_solutions *solutions, const char *name)
{
    SP_GROW(solutions->skipped, solutions->skipped_count, solutions->skipped_capacity);
    solutions->skipped[solutions->skipped_count++] = sp_arena_string(&solutions->arena, name);
}

/* The polynomial in one symbol that is left when all others have their values; NULL when others are left too. */
static const struct sp_poly *univariate(struct sp_count *count, const struct sp_poly *poly,
                                        const struct sp_values *values, size_t which)
{
    struct sp_values others = {0};
    for (size_t i = 0; i < values->count; i++)
        if (values->atoms[i] != which) sp_values_add(&others, values->atoms[i], values->values[i]);
    const struct sp_poly *reduced = sp_reduce(count, poly, &others);
    sp_values_free(&others);
    for (size_t atom = 0; reduced && atom < count->symbolic.algebra.atom_count; atom++)
        if (atom != which && sp_poly_uses(reduced, atom)) return NULL;
    return reduced;
}

static void solve_for(struct sp_solutions *solutions, struct sp_count *count, const struct sp_poly *error,
                      const struct sp_values *values, const struct sp_symbol_info *symbol)
{
    int64_t roots[MAX_ROOTS];
    bool complete;
    struct sp_rational now = {0, 1};
    const struct sp_poly *poly = univariate(count, error, values, symbol->atom);
    if (!poly || (!sp_poly_uses(poly, symbol->atom) && !sp_poly_is_zero(poly) && !sp_poly_uses(error, symbol->atom))) {
        if (!poly) skip(solutions, symbol->name);
        return;
    }
    if (!sp_poly_uses(poly, symbol->atom)) return;
    const struct sp_poly *own = sp_reduce(count, sp_poly_atom(&count->symbolic.algebra, symbol->atom), values);
    const bool known = own && sp_poly_is_constant(own, &now) && now.den == 1;
    const size_t found = sp_poly_roots(&count->symbolic.algebra, poly, symbol->atom, roots, MAX_ROOTS, &complete);
    if (!complete) skip(solutions, symbol->name);
    for (size_t i = 0; i < found; i++) {
        SP_GROW(solutions->items, solutions->count, solutions->capacity);
        solutions->items[solutions->count++] = (struct sp_solution){
            sp_arena_string(&solutions->arena, symbol->name), sp_arena_string(&solutions->arena, symbol->key),
            known ? sp_arena_printf(&solutions->arena, "%" PRId64, now.num) : "", roots[i], plausibility(roots[i])};
    }
}

static bool solve(struct sp_solutions *solutions, struct sp_count *count, const struct sp_count *settled,
                  const struct sp_hyper *hyper, const char *group, uint64_t total, struct sp_error *error)
{
    struct sp_algebra *algebra = &count->symbolic.algebra;
    const struct sp_poly *poly = sp_count_group(count, group);
    if (!poly) return sp_fail(error, SP_ERR_USAGE, SP_KIND_NONE, "the table has no group [%s]", group);
    if (total > INT64_MAX) return sp_fail(error, SP_ERR_USAGE, SP_KIND_NONE, "the total does not fit in 63 bits");
    struct sp_values values = all_values(count, settled, hyper);
    poly = sp_poly_sub(algebra, poly, sp_poly_int(algebra, (int64_t)total));
    for (size_t i = 0; i < count->symbolic.symbol_count; i++)
        if (!algebra->atoms[count->symbolic.symbols[i].atom].is_condition)
            solve_for(solutions, count, poly, &values, &count->symbolic.symbols[i]);
    sp_values_free(&values);
    qsort(solutions->items, solutions->count, sizeof *solutions->items, compare_solutions);
    return !algebra->failed || sp_fail(error, SP_ERR_TABLE, SP_KIND_NONE, "%s", algebra->failed);
}

/* Texts and lists of the configuration are fixed, numbers stay open. */
static struct sp_config *texts_only(const struct sp_config *config)
{
    struct sp_config *texts = sp_config_new();
    const struct sp_value root = sp_config_hyper(config)->root;
    for (size_t i = 0; i < root.count; i++)
        if (root.members[i].value.type == SP_STRING)
            sp_config_set_value(texts, root.members[i].key, root.members[i].value, "config");
    return texts;
}

struct sp_solutions *sp_solve(const struct sp_tables *tables, const char *table, const struct sp_config *config,
                              const char *group, uint64_t total, struct sp_error *error)
{
    struct sp_count count = {0}, settled = {0};
    const struct sp_unit *unit = sp_tables_unit(tables, table);
    if (!unit || !unit->is_table) {
        sp_fail(error, SP_ERR_USAGE, SP_KIND_NONE, "there is no table '%s'", table);
        return NULL;
    }
    struct sp_config *texts = texts_only(config);
    struct sp_solutions *solutions = sp_realloc(NULL, 1, sizeof *solutions);
    *solutions = (struct sp_solutions){0};
    const bool counted = sp_count_table(&count, tables, unit, sp_config_hyper(texts)) &&
                         sp_count_table(&settled, tables, unit, sp_config_hyper(config));
    if (!counted)
        sp_fail(error, SP_ERR_TABLE, SP_KIND_NONE, "%s",
                count.messages.data ? count.messages.data : settled.messages.data);
    const bool good = counted && solve(solutions, &count, &settled, sp_config_hyper(config), group, total, error);
    sp_count_free(&count);
    sp_count_free(&settled);
    sp_config_free(texts);
    if (good) return solutions;
    sp_solutions_free(solutions);
    return NULL;
}

void sp_solutions_free(struct sp_solutions *solutions)
{
    if (!solutions) return;
    free(solutions->items);
    free(solutions->skipped);
    sp_arena_free(&solutions->arena);
    free(solutions);
}

size_t sp_solutions_count(const struct sp_solutions *solutions) { return solutions->count; }
struct sp_solution sp_solutions_get(const struct sp_solutions *solutions, size_t index)
{
    return solutions->items[index];
}
size_t sp_solutions_skipped_count(const struct sp_solutions *solutions) { return solutions->skipped_count; }
const char *sp_solutions_skipped(const struct sp_solutions *solutions, size_t index)
{
    return solutions->skipped[index];
}
