/* SPDX-License-Identifier: MIT
 * Which hyper-parameter, changed alone, gives a published total? All others get their values, what is left is a
 * polynomial in one symbol, and its integer roots are the answers; for a rounded total, the integers at which it is
 * within the bounds that round to it. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "prove/printed.h"
#include "prove/settle.h"
#include "shapeproof/prove.h"

enum { MAX_RANGES = 16 };

struct sp_solutions {
    struct sp_arena arena;
    const char *asked;
    bool rounded;
    struct sp_solution *items;
    size_t count, capacity;
    const char **skipped;
    size_t skipped_count, skipped_capacity;
};

static int plausibility(struct sp_range range)
{
    for (int64_t power = 1; power > 0 && power <= range.last; power *= 2)
        if (power >= range.first) return 4;
    if (range.last / 64 * 64 >= range.first) return 3;
    if (range.last / 8 * 8 >= range.first) return 2;
    return range.first < 200; /* numbers of layers and heads are small */
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

static size_t intersect(struct sp_range *a, size_t a_count, const struct sp_range *b, size_t b_count)
{
    struct sp_range both[MAX_RANGES];
    size_t count = 0;
    for (size_t i = 0; i < a_count; i++)
        for (size_t k = 0; k < b_count && count < MAX_RANGES; k++) {
            const int64_t first = a[i].first > b[k].first ? a[i].first : b[k].first;
            const int64_t last = a[i].last < b[k].last ? a[i].last : b[k].last;
            if (first <= last) both[count++] = (struct sp_range){first, last};
        }
    memcpy(a, both, count * sizeof *a);
    return count;
}

/* The integers at which a polynomial in one symbol is one of the wanted counts. */
static size_t find_values(struct sp_algebra *algebra, const struct sp_poly *poly, size_t atom, struct sp_printed wanted,
                          struct sp_range *ranges, bool *complete)
{
    const struct sp_poly *above = sp_poly_sub(algebra, poly, sp_poly_int(algebra, wanted.least));
    const struct sp_poly *below = sp_poly_sub(algebra, sp_poly_int(algebra, wanted.most), poly);
    struct sp_range others[MAX_RANGES];
    int64_t roots[MAX_RANGES];
    if (wanted.least == wanted.most) {
        const size_t count = sp_poly_roots(algebra, above, atom, roots, MAX_RANGES, complete);
        for (size_t i = 0; i < count; i++) ranges[i] = (struct sp_range){roots[i], roots[i]};
        return count;
    }
    bool also;
    const size_t count = sp_poly_ranges(algebra, above, atom, ranges, MAX_RANGES, complete);
    const size_t other_count = sp_poly_ranges(algebra, below, atom, others, MAX_RANGES, &also);
    *complete = *complete && also;
    return *complete ? intersect(ranges, count, others, other_count) : 0;
}

static void add_solution(struct sp_solutions *solutions, const struct sp_symbol_info *symbol, const char *now,
                         struct sp_range range)
{
    SP_GROW(solutions->items, solutions->count, solutions->capacity);
    solutions->items[solutions->count++] =
        (struct sp_solution){.name = sp_arena_string(&solutions->arena, symbol->name),
                             .key = sp_arena_string(&solutions->arena, symbol->key),
                             .configured = now,
                             .value = range.first,
                             .last = range.last,
                             .plausibility = plausibility(range)};
}

static void solve_for(struct sp_solutions *solutions, struct sp_count *count, const struct sp_poly *whole,
                      struct sp_printed wanted, const struct sp_values *values, const struct sp_symbol_info *symbol)
{
    struct sp_algebra *algebra = &count->symbolic.algebra;
    struct sp_range ranges[MAX_RANGES];
    bool complete;
    struct sp_rational now = {0, 1};
    const struct sp_poly *poly = univariate(count, whole, values, symbol->atom);
    if (!poly) skip(solutions, symbol->name);
    if (!poly || !sp_poly_uses(poly, symbol->atom)) return;
    const struct sp_poly *own = sp_reduce(count, sp_poly_atom(algebra, symbol->atom), values);
    const bool known = own && sp_poly_is_constant(own, &now) && now.den == 1;
    const size_t found = find_values(algebra, poly, symbol->atom, wanted, ranges, &complete);
    if (!complete) skip(solutions, symbol->name);
    const char *configured_text = known ? sp_arena_printf(&solutions->arena, "%" PRId64, now.num) : "";
    for (size_t i = 0; i < found; i++) add_solution(solutions, symbol, configured_text, ranges[i]);
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
        if (!key || sp_configured(hyper, key).type == SP_LIST) continue;
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
    if (key && sp_configured(hyper, key).type != SP_LIST) symbol.name = symbol.key = key;
    return symbol;
}

static bool solve(struct sp_solutions *solutions, struct sp_count *count, struct sp_count *settled,
                  const struct sp_hyper *hyper, const char *group, struct sp_printed wanted, struct sp_error *error)
{
    struct sp_algebra *algebra = &count->symbolic.algebra;
    const struct sp_poly *poly = sp_count_group(count, group);
    if (!poly) return sp_fail(error, SP_ERR_USAGE, SP_KIND_NONE, "the table has no group [%s]", group);
    struct sp_values values = sp_settle(count, settled, hyper);
    poly = join_sides(count, poly, hyper);
    for (size_t i = 0; poly && i < count->symbolic.symbol_count; i++) {
        const struct sp_symbol_info symbol = named(count, count->symbolic.symbols[i], hyper);
        if (!algebra->atoms[symbol.atom].is_condition && sp_poly_uses(poly, symbol.atom))
            solve_for(solutions, count, poly, wanted, &values, &symbol);
    }
    sp_values_free(&values);
    if (solutions->count) qsort(solutions->items, solutions->count, sizeof *solutions->items, compare_solutions);
    return !algebra->failed || sp_fail(error, SP_ERR_TABLE, SP_KIND_NONE, "%s", algebra->failed);
}

static bool count_and_solve(struct sp_solutions *solutions, const struct sp_tables *tables, const struct sp_unit *unit,
                            const struct sp_config *config, const char *group, struct sp_printed wanted,
                            struct sp_error *error)
{
    struct sp_count count = {0}, settled = {0};
    struct sp_config *texts = sp_config_open(config, SP_OPEN_ALL_BUT_TEXTS);
    const bool counted = sp_count_table(&count, tables, unit, sp_config_hyper(texts), false) &&
                         sp_count_table(&settled, tables, unit, sp_config_hyper(config), true);
    if (!counted)
        sp_fail(error, SP_ERR_TABLE, SP_KIND_NONE, "%s",
                count.messages.data ? count.messages.data : settled.messages.data);
    const bool good = counted && solve(solutions, &count, &settled, sp_config_hyper(config), group, wanted, error);
    sp_count_free(&count);
    sp_count_free(&settled);
    sp_config_free(texts);
    return good;
}

static struct sp_solutions *solutions_of(const struct sp_tables *tables, const char *table,
                                         const struct sp_config *config, const char *group, const char *asked,
                                         struct sp_printed wanted, struct sp_error *error)
{
    const struct sp_unit *unit = sp_tables_unit(tables, table);
    if (!unit || !unit->is_table) {
        sp_fail(error, SP_ERR_USAGE, SP_KIND_NONE, "there is no table '%s'", table);
        return NULL;
    }
    struct sp_solutions *solutions = sp_realloc(NULL, 1, sizeof *solutions);
    *solutions = (struct sp_solutions){.rounded = wanted.least != wanted.most};
    solutions->asked = sp_arena_string(&solutions->arena, asked);
    if (count_and_solve(solutions, tables, unit, config, group, wanted, error)) return solutions;
    sp_solutions_free(solutions);
    return NULL;
}

struct sp_solutions *sp_solve(const struct sp_tables *tables, const char *table, const struct sp_config *config,
                              const char *group, uint64_t total, struct sp_error *error)
{
    char asked[32];
    if (total > INT64_MAX) {
        sp_fail(error, SP_ERR_USAGE, SP_KIND_NONE, "the total does not fit in 63 bits");
        return NULL;
    }
    snprintf(asked, sizeof asked, "%" PRIu64, total);
    return solutions_of(tables, table, config, group, asked, (struct sp_printed){(int64_t)total, (int64_t)total},
                        error);
}

struct sp_solutions *sp_solve_rounded(const struct sp_tables *tables, const char *table, const struct sp_config *config,
                                      const char *group, const char *figure, struct sp_error *error)
{
    struct sp_printed wanted;
    if (sp_printed_read(figure, &wanted)) return solutions_of(tables, table, config, group, figure, wanted, error);
    sp_fail(error, SP_ERR_USAGE, SP_KIND_NONE, "'%s': expected a figure such as 65M or 1.5B", figure);
    return NULL;
}

const char *sp_solutions_asked(const struct sp_solutions *solutions) { return solutions->asked; }
bool sp_solutions_rounded(const struct sp_solutions *solutions) { return solutions->rounded; }

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
