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

/* The value of a definition of the table under the whole configuration: for symbols that are computed from keys. */
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
        sp_values_add_defaults(settled, &defaults, false);
        const struct sp_poly *poly = sp_reduce(settled, sym.poly, &defaults);
        sp_values_free(&defaults);
        return poly && sp_poly_is_constant(poly, value);
    }
    return false;
}

/* A value for every symbol that has one: from the configuration, else its default. */
static struct sp_values all_values(struct sp_count *count, struct sp_count *settled, const struct sp_hyper *hyper)
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

/* How far the value is from the configured one, as a factor of it. */
static double distance(const struct sp_solution *solution)
{
    const double from = strtod(solution->configured, NULL), to = (double)solution->value;
    if (from <= 0) return 1e9;
    return to > from ? to / from : from / to;
}

static int compare_solutions(const void *left, const void *right)
{
    const struct sp_solution *a = left, *b = right;
    if (a->plausibility != b->plausibility) return a->plausibility > b->plausibility ? -1 : 1;
    if (distance(a) != distance(b)) return distance(a) < distance(b) ? -1 : 1;
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
    if (!poly) skip(solutions, symbol->name);
    if (!poly || !sp_poly_uses(poly, symbol->atom)) return;
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

/* The K of a symbol that is at(K, n), one side of a pair; NULL for any other. */
static const char *pair_of(struct sp_count *count, const struct sp_symbol_info *symbol)
{
    const char *comma = strrchr(symbol->key, ',');
    if (strncmp(symbol->key, "at(", 3) != 0 || !comma) return NULL;
    return sp_arena_copy(&count->symbolic.algebra.arena, symbol->key + 3, (size_t)(comma - symbol->key - 3));
}

/* One value for both sides is one hyper-parameter: its symbols become the first of them, under the name of the key. */
static const struct sp_poly *join_sides(struct sp_count *count, const struct sp_poly *poly,
                                        const struct sp_hyper *hyper)
{
    for (size_t i = 0; i < count->symbolic.symbol_count; i++) {
        struct sp_symbol_info *first = &count->symbolic.symbols[i];
        const char *key = pair_of(count, first);
        if (!key || configured(hyper, key).type == SP_LIST) continue;
        for (size_t k = i + 1; k < count->symbolic.symbol_count; k++) {
            const char *other = pair_of(count, &count->symbolic.symbols[k]);
            const struct sp_poly *joined = sp_poly_atom(&count->symbolic.algebra, first->atom);
            if (other && strcmp(key, other) == 0)
                poly = sp_poly_substitute(&count->symbolic.algebra, poly, count->symbolic.symbols[k].atom, joined);
            if (!poly) return NULL;
        }
    }
    return poly;
}

/* As it is called in the answer. */
static struct sp_symbol_info named(struct sp_count *count, struct sp_symbol_info symbol, const struct sp_hyper *hyper)
{
    const char *key = pair_of(count, &symbol);
    if (key && configured(hyper, key).type != SP_LIST) symbol.name = symbol.key = key;
    return symbol;
}

static bool solve(struct sp_solutions *solutions, struct sp_count *count, struct sp_count *settled,
                  const struct sp_hyper *hyper, const char *group, uint64_t total, struct sp_error *error)
{
    struct sp_algebra *algebra = &count->symbolic.algebra;
    const struct sp_poly *poly = sp_count_group(count, group);
    if (!poly) return sp_fail(error, SP_ERR_USAGE, SP_KIND_NONE, "the table has no group [%s]", group);
    if (total > INT64_MAX) return sp_fail(error, SP_ERR_USAGE, SP_KIND_NONE, "the total does not fit in 63 bits");
    struct sp_values values = all_values(count, settled, hyper);
    poly = join_sides(count, sp_poly_sub(algebra, poly, sp_poly_int(algebra, (int64_t)total)), hyper);
    for (size_t i = 0; poly && i < count->symbolic.symbol_count; i++) {
        const struct sp_symbol_info symbol = named(count, count->symbolic.symbols[i], hyper);
        if (!algebra->atoms[symbol.atom].is_condition && sp_poly_uses(poly, symbol.atom))
            solve_for(solutions, count, poly, &values, &symbol);
    }
    sp_values_free(&values);
    if (solutions->count) qsort(solutions->items, solutions->count, sizeof *solutions->items, compare_solutions);
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
    const bool counted = sp_count_table(&count, tables, unit, sp_config_hyper(texts), false) &&
                         sp_count_table(&settled, tables, unit, sp_config_hyper(config), true);
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
