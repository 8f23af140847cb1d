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
#include "prove/reduce.h"
#include "shapeproof/prediction.h"
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

static size_t intersect(struct sp_range *a, size_t a_count, const struct sp_range *b, size_t b_count)
{
    struct sp_range both[MAX_RANGES] = {{0, 0}};
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

/* ---- one hyper-parameter left open ---- */

/* The hyper-parameters of a prediction, as values. */
struct known {
    struct sp_arena arena;
    const char **keys;
    struct sp_value *values;
    bool *is_default;
    size_t count;
};

static void read_known(struct known *known, const struct sp_prediction *prediction)
{
    const size_t count = sp_prediction_hyperparameter_count(prediction);
    known->keys = sp_arena_array(&known->arena, count, sizeof *known->keys);
    known->values = sp_arena_array(&known->arena, count, sizeof *known->values);
    known->is_default = sp_arena_array(&known->arena, count, sizeof *known->is_default);
    for (size_t i = 0; i < count; i++) {
        const struct sp_hyperparameter hyper = sp_prediction_hyperparameter(prediction, i);
        struct sp_error error = {0};
        if (!sp_value_parse_json(&known->arena, hyper.value, strlen(hyper.value), &known->values[known->count], &error))
            continue;
        known->keys[known->count] = sp_arena_string(&known->arena, hyper.name);
        known->is_default[known->count++] = strncmp(hyper.from, "default", 7) == 0;
    }
}

/* All but one key given; its defaults stay open with `defaults` false, and follow from the open one. */
static struct sp_config *all_but(const struct known *known, size_t open, bool defaults)
{
    struct sp_config *config = sp_config_new();
    for (size_t i = 0; i < known->count; i++)
        if (i != open && (defaults || !known->is_default[i]))
            sp_config_set_value(config, known->keys[i], known->values[i], "known");
    return config;
}

static size_t only_atom(const struct sp_count *count, const struct sp_poly *poly)
{
    size_t found = SIZE_MAX;
    for (size_t atom = 0; atom < count->symbolic.algebra.atom_count; atom++) {
        if (!sp_poly_uses(poly, atom)) continue;
        if (found != SIZE_MAX) return SIZE_MAX;
        found = atom;
    }
    return found;
}

struct question {
    const struct sp_tables *tables;
    const struct sp_unit *table;
    const char *group;
    struct sp_printed wanted;
};

static void add_solutions(struct sp_solutions *solutions, struct sp_count *count, const struct question *question,
                          const struct sp_poly *poly, size_t atom, const char *key, int64_t now)
{
    struct sp_range ranges[MAX_RANGES];
    bool complete;
    const struct sp_symbol_info *symbol = sp_symbol_of(count, atom);
    const struct sp_symbol_info shown = {atom, symbol ? symbol->name : key, key, NULL};
    const size_t found = find_values(&count->symbolic.algebra, poly, atom, question->wanted, ranges, &complete);
    if (!complete) skip(solutions, key);
    const char *configured = sp_arena_printf(&solutions->arena, "%" PRId64, now);
    for (size_t i = 0; i < found; i++) add_solution(solutions, &shown, configured, ranges[i]);
}

/* A symbol of the open hyper-parameter: itself, or one side of it when it is a pair. */
static bool is_open(const struct sp_symbol_info *symbol, const char *open)
{
    const size_t length = strlen(open);
    const bool side = strncmp(symbol->key, "at(", 3) == 0 && strncmp(symbol->key + 3, open, length) == 0 &&
                      symbol->key[3 + length] == ',';
    return side || strcmp(symbol->key, open) == 0;
}

/* One value stands for both sides: their symbols become the first of them. */
static const struct sp_poly *join_sides(struct sp_count *count, const struct sp_poly *poly, const char *open)
{
    const struct sp_poly *first = NULL;
    for (size_t i = 0; poly && i < count->symbolic.symbol_count; i++) {
        const struct sp_symbol_info *symbol = &count->symbolic.symbols[i];
        if (!is_open(symbol, open)) continue;
        if (first) poly = sp_poly_substitute(&count->symbolic.algebra, poly, symbol->atom, first);
        else first = sp_poly_atom(&count->symbolic.algebra, symbol->atom);
    }
    return poly;
}

/* The count as a polynomial: every symbol but the open one replaced by its default. NULL when it cannot be had. */
static const struct sp_poly *open_count(struct sp_count *count, const struct question *question, const char *open)
{
    const struct sp_poly *poly = sp_count_group(count, question->group);
    struct sp_values defaults = {0};
    if (!poly) return NULL;
    for (size_t i = 0; i < count->symbolic.symbol_count; i++) {
        const struct sp_symbol_info *symbol = &count->symbolic.symbols[i];
        if (symbol->fallback && !is_open(symbol, open)) sp_values_add(&defaults, symbol->atom, symbol->fallback);
    }
    poly = sp_reduce(count, poly, &defaults);
    sp_values_free(&defaults);
    return poly;
}

/* One side of a pair: the other has its value. */
static void solve_sides(struct sp_solutions *solutions, struct sp_count *count, const struct question *question,
                        const struct sp_poly *poly, const char *key, struct sp_value pair)
{
    struct sp_algebra *algebra = &count->symbolic.algebra;
    for (size_t side = 0; side < pair.count; side++) {
        const struct sp_poly *own = poly;
        for (size_t other = 0; own && other < pair.count; other++) {
            const char *name = sp_arena_printf(&algebra->arena, "at(%s, %zu)", key, other);
            const struct sp_symbol_info *symbol = sp_sym_symbol(&count->symbolic, name);
            if (other != side && symbol && pair.items[other].type == SP_INT)
                own = sp_poly_substitute(algebra, own, symbol->atom, sp_poly_int(algebra, pair.items[other].integer));
        }
        const size_t atom = own ? only_atom(count, own) : SIZE_MAX;
        if (atom != SIZE_MAX && pair.items[side].type == SP_INT)
            add_solutions(solutions, count, question, own, atom, sp_arena_printf(&algebra->arena, "%s[%zu]", key, side),
                          pair.items[side].integer);
    }
}

/* False when the count is no polynomial in this hyper-parameter alone. */
static bool solve_for(struct sp_solutions *solutions, const struct question *question, const struct known *known,
                      size_t open, bool defaults)
{
    struct sp_count count;
    struct sp_config *config = all_but(known, open, defaults);
    const struct sp_value value = known->values[open];
    bool good =
        sp_count_table(&count, question->tables, question->table, sp_config_hyper(config), value.type == SP_INT);
    const struct sp_poly *poly = good ? open_count(&count, question, known->keys[open]) : NULL;
    if (value.type == SP_INT) poly = join_sides(&count, poly, known->keys[open]);
    const size_t atom = poly ? only_atom(&count, poly) : SIZE_MAX;
    struct sp_rational rest;
    if (!poly || count.symbolic.algebra.failed) good = false;
    else if (value.type == SP_LIST) solve_sides(solutions, &count, question, poly, known->keys[open], value);
    else if (atom != SIZE_MAX) add_solutions(solutions, &count, question, poly, atom, known->keys[open], value.integer);
    else good = sp_poly_is_constant(poly, &rest); /* the count does not depend on it */
    sp_count_free(&count);
    sp_config_free(config);
    return good;
}

static bool is_pair(struct sp_value value)
{
    return value.type == SP_LIST && value.count == 2 && value.items[0].type == SP_INT && value.items[1].type == SP_INT;
}

static void solve_all(struct sp_solutions *solutions, const struct question *question, const struct known *known)
{
    for (size_t i = 0; i < known->count; i++) {
        if (known->values[i].type != SP_INT && !is_pair(known->values[i])) continue;
        if (!solve_for(solutions, question, known, i, false) && !solve_for(solutions, question, known, i, true))
            skip(solutions, known->keys[i]);
    }
    if (solutions->count) qsort(solutions->items, solutions->count, sizeof *solutions->items, compare_solutions);
}

static bool check_question(const struct question *question, const struct sp_prediction *prediction,
                           struct sp_error *error)
{
    bool known = !question->group || strcmp(question->group, "total") == 0;
    for (size_t i = 0; !known && i < sp_prediction_group_count(prediction); i++)
        known = strcmp(sp_prediction_group(prediction, i).name, question->group) == 0;
    return known || sp_fail(error, SP_ERR_USAGE, SP_KIND_NONE, "the table has no group [%s]", question->group);
}

/* The one hyper-parameter that the table needs and the configuration lacks: it can be solved for as well. NULL when
 * none is missing, or more than one. */
static const char *missing_key(const struct question *question, const struct sp_config *config, struct sp_arena *arena)
{
    struct sp_count count;
    const char *missing = NULL;
    size_t found = 0;
    if (sp_count_table(&count, question->tables, question->table, sp_config_hyper(config), true))
        for (size_t i = 0; i < count.symbolic.symbol_count; i++) {
            const struct sp_symbol_info *symbol = &count.symbolic.symbols[i];
            if (symbol->fallback || !sp_poly_uses(count.total, symbol->atom)) continue;
            if (count.symbolic.algebra.atoms[symbol->atom].is_condition) continue;
            missing = sp_arena_string(arena, symbol->key);
            found++;
        }
    sp_count_free(&count);
    return found == 1 ? missing : NULL;
}

/* Predicts with 1 in the place of what is missing, only to see all the others. */
static bool solve_missing(struct sp_solutions *solutions, const struct question *question,
                          const struct sp_config *config, const char *key, struct sp_error *error)
{
    struct known known = {0};
    struct sp_config *filled = sp_config_variant(config);
    sp_config_set_value(filled, key, sp_value_int(1), "solve");
    struct sp_prediction *prediction = sp_predict(question->tables, question->table->name, filled, error);
    const bool good = prediction && check_question(question, prediction, error);
    if (good) read_known(&known, prediction);
    for (size_t i = 0; i < known.count; i++)
        if (strcmp(known.keys[i], key) == 0 && !solve_for(solutions, question, &known, i, true))
            skip(solutions, known.keys[i]);
    for (size_t i = 0; i < solutions->count; i++) solutions->items[i].configured = "";
    sp_prediction_free(prediction);
    sp_config_free(filled);
    sp_arena_free(&known.arena);
    return good;
}

static bool predict_and_solve(struct sp_solutions *solutions, const struct question *question,
                              const struct sp_config *config, struct sp_error *error)
{
    struct known known = {0};
    const char *missing = missing_key(question, config, &solutions->arena);
    if (missing) return solve_missing(solutions, question, config, missing, error);
    struct sp_prediction *prediction = sp_predict(question->tables, question->table->name, config, error);
    const bool good = prediction && check_question(question, prediction, error);
    if (good) {
        read_known(&known, prediction);
        solve_all(solutions, question, &known);
    }
    sp_prediction_free(prediction);
    sp_arena_free(&known.arena);
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
    const struct question question = {tables, unit, group, wanted};
    if (predict_and_solve(solutions, &question, config, error)) return solutions;
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
