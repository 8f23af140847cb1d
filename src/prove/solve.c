/* SPDX-License-Identifier: MIT
 * Which hyper-parameter, changed alone, gives a published total? All others get their values, what is left is a
 * polynomial in one symbol, and its integer roots are the answers; for a rounded total, the integers at which it is
 * within the bounds that round to it. Where there is no such polynomial (a division that rounds, an item of a list, a
 * flag), the table is predicted with one value after the other. */
#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/budget.h"
#include "base/call.h"
#include "base/checked.h"
#include "base/error.h"
#include "base/real.h"
#include "config/choose.h"
#include "config/config.h"
#include "lang/functions.h"
#include "prove/claims.h"
#include "prove/solve.h"
#include "prove/symbolic/atoms.h"
#include "prove/symbolic/meaning.h"
#include "prove/symbolic/operate.h"
#include "prove/symbolic/reduce.h"
#include "prove/symbolic/symbolic.h"
#include "shapeproof/prediction.h"
#include "shapeproof/prove.h"

/* ---- branches ---- */

/* A floor, a minimum or a maximum of the unknown x is no polynomial, but in each of a few cases it is one:
 *
 *     min(3, x)         3 | x                                           one case for each argument
 *     (3*x + 1) // 8    (3*x)/8 | (3*x - 3)/8 | ... | (3*x - 5)/8       one case for each remainder of x by 8
 *     9 // x            9 (x = 1) | 4 (x = 2) | 3 (x = 3) | 2 (x = 4) | 1 (x in 5..9) | 0 (x from 10 up)
 *
 * For each x one of the cases holds. Of a minimum and of a remainder it is not known for which x it does: a solution
 * that is found in such a case has to be checked. */

/* An enumeration of the cases of one atom: opened by branches_open, advanced by branches_next. */
struct sp_branches {
    struct sp_algebra *algebra;
    size_t unknown;                 /* the atom of x */
    const struct sp_origin *choice; /* of a minimum or maximum, whose arguments are the cases; else NULL */
    int64_t slope, offset, divisor; /* (slope*x + offset) // divisor; where slope is 0: offset // x */
    int64_t next; /* of a choice the next argument, with a slope the next remainder, else the first x of the next case,
                   * or -1 behind the last one */
};

/* One case. */
struct sp_branch {
    const struct sp_poly *value; /* of the atom */
    int64_t first, last;         /* the range of x in which the case holds; both are 0 when it is not known */
};

enum { MAX_REMAINDERS = 1024, MAX_DIVIDEND = 1 << 22 };

static bool is_whole_number(const struct sp_poly *poly, int64_t *number)
{
    struct sp_rational value;
    if (!sp_poly_is_constant(poly, &value) || value.den != 1) return false;
    *number = value.num;
    return true;
}

/* Reads slope and offset of `poly`, which must be slope*x + offset with slope > 0 and offset >= 0, so that the
 * remainder in C is that of the floor. False for any other. */
static bool open_linear(struct sp_branches *branches, const struct sp_poly *poly)
{
    struct sp_algebra *algebra = branches->algebra;
    const struct sp_poly *at_0 = sp_poly_substitute(algebra, poly, branches->unknown, sp_poly_int(algebra, 0));
    const struct sp_poly *rest = at_0 ? sp_poly_sub(algebra, poly, at_0) : NULL;
    if (!rest || !is_whole_number(at_0, &branches->offset) || rest->count != 1 || rest->terms[0].count != 1)
        return false;
    const struct sp_term *term = &rest->terms[0];
    branches->slope = term->coefficient.num;
    return term->coefficient.den == 1 && term->factors[0].atom == branches->unknown && term->factors[0].exponent == 1 &&
           branches->slope > 0 && branches->slope < INT32_MAX && branches->offset >= 0 && branches->offset < INT32_MAX;
}

/* Opens the cases of above // below. False unless it is (slope*x + offset) // number or number // x. */
static bool open_floor(struct sp_branches *branches, const struct sp_origin *origin)
{
    const struct sp_sym above = origin->args[0], below = origin->args[1];
    if (above.kind != SP_SYM_NUMBER || below.kind != SP_SYM_NUMBER) return false;
    if (is_whole_number(below.poly, &branches->divisor))
        return branches->divisor > 0 && branches->divisor <= MAX_REMAINDERS && open_linear(branches, above.poly);
    branches->next = 1;
    return sp_atom_alone(below.poly) == branches->unknown && is_whole_number(above.poly, &branches->offset) &&
           branches->offset >= 0 && branches->offset <= MAX_DIVIDEND;
}

/* Opens the cases of min(...) or max(...). False for any other function. */
static bool open_choice(struct sp_branches *branches, const struct sp_origin *origin)
{
    const char *name = origin->operation.function->name;
    if (strcmp(name, "min") != 0 && strcmp(name, "max") != 0) return false;
    for (size_t i = 0; i < origin->count; i++)
        if (origin->args[i].kind != SP_SYM_NUMBER) return false;
    branches->choice = origin;
    return origin->count > 1;
}

/* Opens the cases of `atom`. False when it is no floor, minimum or maximum, or has too many cases. */
static bool branches_open(struct sp_symbolic *symbolic, size_t atom, size_t unknown, struct sp_branches *branches)
{
    const struct sp_origin *origin = sp_atom_info(symbolic, atom)->origin;
    *branches = (struct sp_branches){.algebra = &symbolic->algebra, .unknown = unknown};
    if (!origin) return false;
    if (origin->operation.kind == SP_DO_CALL) return open_choice(branches, origin);
    return origin->operation.kind == SP_DO_BINARY && origin->operation.op == SP_OP_FLOOR &&
           open_floor(branches, origin);
}

/* The next argument of a minimum or maximum. */
static bool next_choice(struct sp_branches *branches, struct sp_branch *out)
{
    if ((size_t)branches->next == branches->choice->count) return false;
    *out = (struct sp_branch){.value = branches->choice->args[branches->next++].poly};
    return true;
}

/* The next remainder r of x by the divisor. All such x lose the same by rounding, (slope*r + offset) % divisor:
 * (3*x + 1) // 8 with r = 1 is (3*x + 1 - 4) / 8. */
static bool next_remainder(struct sp_branches *branches, struct sp_branch *out)
{
    struct sp_algebra *algebra = branches->algebra;
    struct sp_rational share;
    if (branches->next == branches->divisor) return false;
    const int64_t cut = (branches->slope * branches->next++ + branches->offset) % branches->divisor;
    const struct sp_poly *x = sp_poly_atom(algebra, branches->unknown);
    const struct sp_poly *above = sp_poly_add(algebra, sp_poly_scale(algebra, x, sp_rational_int(branches->slope)),
                                              sp_poly_int(algebra, branches->offset - cut));
    if (!sp_rational_make(1, branches->divisor, &share)) return false;
    *out = (struct sp_branch){.value = sp_poly_scale(algebra, above, share)};
    return true;
}

/* The next value of offset // x, and the largest x that has the same value: of 9 // x, from x = 5 on, it is 1 up to
 * x = 9 // 1. The value 0 has no largest x. */
static bool next_value(struct sp_branches *branches, struct sp_branch *out)
{
    if (branches->next < 1) return false;
    const int64_t first = branches->next, value = branches->offset / first;
    *out = (struct sp_branch){.value = sp_poly_int(branches->algebra, value),
                              .first = first,
                              .last = value ? branches->offset / value : INT64_MAX};
    branches->next = value ? out->last + 1 : -1;
    return true;
}

/* Advances to the next case and writes it to *out. False behind the last one. */
static bool branches_next(struct sp_branches *branches, struct sp_branch *out)
{
    if (branches->choice) return next_choice(branches, out);
    return branches->slope ? next_remainder(branches, out) : next_value(branches, out);
}

/* ---- solve ---- */

enum {
    MAX_RANGES = 16,    /* answers for one unknown in one case */
    MAX_CONDITIONS = 8, /* conditions that are tried both ways: 2^8 cases */
    MAX_BRANCHINGS = 2, /* floors, minima and maxima that are split into cases within one another */
    MAX_SCANNED = 1024, /* values: 1 to this are tried one by one, and a range of no more of them */
    AROUND = 8,         /* values that are tried beyond each end of a range: a division that rounds makes steps */
    MAX_SCANNED_TENSORS = 1 << 19,   /* in all predictions of one such scan: a few tenths of a second */
    MAX_KEY_STEPS = 8 * 1000 * 1000, /* in the trials of one key: a few tenths of a second */
    /* Of an argument of a measure: 64 values, each with a count of a mixture with 64 experts in 27 layers. */
    MAX_ARGUMENT_STEPS = 64 * 1000 * 1000,
    MAX_ITEMS = 64,           /* items of one list that are tried */
    MAX_TENSORS = 50 * 1000,  /* of a prediction with a value that is tried: a few hundredths of a second */
    FLAG_PLAUSIBILITY = 5,    /* a flag that gives the total exactly is what a reader looks for first */
    ARGUMENT_PLAUSIBILITY = 6 /* who solves for a cache wants to know how many tokens it has */
};

struct shapeproof_solutions {
    struct sp_arena arena;
    const char *table;
    const char *asked;      /* the wanted total as the user wrote it: "1.5B" */
    const char *expression; /* whose value is wanted; NULL: it is a number of parameters */
    bool rounded;  /* several totals are wanted: those that round to the figure, lie within per cents of it, or below */
    bool at_most;  /* all totals up to the one that is asked for are wanted */
    bool as_given; /* the configuration gives a wanted total without any change */
    double within; /* per cent */
    struct shapeproof_solution *items; /* heap */
    size_t count, capacity;
    const char **skipped; /* heap; the keys that could not be solved for */
    size_t skipped_count, skipped_capacity;
};

/* How likely an architect chose a value of the range, from 0 (unlikely) to 4: a power of 2, then a multiple of 64, then
 * of 8, then a small number. */
static int plausibility(struct sp_range range)
{
    for (int64_t power = 1; power > 0 && power <= range.last; power *= 2)
        if (power >= range.first) return 4;
    if (range.last > 0 && range.last / 64 * 64 >= range.first) return 3;
    if (range.last > 0 && range.last / 8 * 8 >= range.first) return 2;
    return range.first < 200; /* numbers of layers and heads are small */
}

/* How far the value is from the configured one, as a factor of it. */
static double distance_of_value(const struct shapeproof_solution *solution)
{
    const struct shapeproof_value now = solution->configured;
    const double from = now.type == SHAPEPROOF_VALUE_INT ? (double)now.integer : 0, to = (double)solution->value;
    if (from <= 0) return 1e9;
    return to > from ? to / from : from / to;
}

static int compare_solutions(const void *left, const void *right)
{
    const struct shapeproof_solution *a = left, *b = right;
    if (a->plausibility != b->plausibility) return a->plausibility > b->plausibility ? -1 : 1;
    if (distance_of_value(a) != distance_of_value(b)) return distance_of_value(a) < distance_of_value(b) ? -1 : 1;
    return strcmp(a->name, b->name);
}

/* Notes that the key could not be solved for. */
static void skip_key(struct shapeproof_solutions *solutions, const char *name)
{
    SP_GROW(solutions->skipped, solutions->skipped_count, solutions->skipped_capacity);
    solutions->skipped[solutions->skipped_count++] = sp_arena_string(&solutions->arena, name);
}

/* Whether the number is a wanted one, exactly: 17777115.43 is not 17777116. */
static bool is_wanted(struct sp_printed wanted, struct sp_rational number)
{
    return sp_rational_compare(number, sp_rational_int(wanted.least)) >= 0 &&
           sp_rational_compare(number, sp_rational_int(wanted.most)) <= 0;
}

/* Replaces the ranges `a` by their intersection with the ranges `b`. Returns the number of ranges. */
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

/* The integers from 1 up at which a polynomial in one symbol is one of the wanted counts, as at most MAX_RANGES ranges.
 * Returns their number. *complete becomes false when there may be more. */
static size_t find_values(struct sp_algebra *algebra, const struct sp_poly *poly, size_t atom, struct sp_printed wanted,
                          struct sp_range *ranges, bool *complete)
{
    const struct sp_poly *below = sp_poly_sub(algebra, sp_poly_int(algebra, wanted.most), poly);
    struct sp_range others[MAX_RANGES];
    int64_t roots[MAX_RANGES];
    if (wanted.least == SP_SOLVE_NO_LEAST) return sp_poly_ranges(algebra, below, atom, ranges, MAX_RANGES, complete);
    const struct sp_poly *above = sp_poly_sub(algebra, poly, sp_poly_int(algebra, wanted.least));
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

static void add_solution(struct shapeproof_solutions *solutions, const struct sp_symbol_info *symbol,
                         struct shapeproof_value now, struct sp_range range)
{
    SP_GROW(solutions->items, solutions->count, solutions->capacity);
    solutions->items[solutions->count++] =
        (struct shapeproof_solution){.name = sp_arena_string(&solutions->arena, symbol->name),
                                     .key = sp_arena_string(&solutions->arena, symbol->key),
                                     .configured = now,
                                     .value = range.first,
                                     .last = range.last,
                                     .plausibility = plausibility(range)};
}

/* ---- one hyper-parameter left open ---- */

/* A symbol to solve for, in a count in which all else has its value. */
struct unknown {
    struct sp_count *count;
    size_t atom;
    const char *key;             /* as it is called in the answer */
    struct shapeproof_value now; /* in the configuration, if it is a number there */
};

static bool is_wanted_number(const struct sp_poly *poly, struct sp_printed wanted)
{
    struct sp_rational number;
    return sp_poly_is_constant(poly, &number) && is_wanted(wanted, number);
}

/* The count where the unknown has the value; NULL if it has none there. */
static const struct sp_poly *count_at(const struct unknown *unknown, const struct sp_poly *whole, int64_t value)
{
    struct sp_values values = {0};
    sp_values_add(&values, unknown->atom, sp_poly_int(&unknown->count->symbolic.algebra, value));
    const struct sp_poly *at = sp_reduce(unknown->count, whole, &values);
    sp_values_free(&values);
    return at;
}

/* Whether the count is a wanted one where the unknown has the value. */
static bool holds_at(const struct unknown *unknown, const struct sp_poly *whole, struct sp_printed wanted,
                     int64_t value)
{
    const struct sp_poly *at = count_at(unknown, whole, value);
    return at && is_wanted_number(at, wanted);
}

enum atom_sort {
    CONDITION, /* 0 or 1: [3 < L] */
    QUANTITY   /* any other: min(L, 8) */
};

/* The first atom of that sort in the polynomial, the unknown itself left out. SIZE_MAX when there is none. */
static size_t other_atom(const struct unknown *unknown, const struct sp_poly *poly, enum atom_sort sort)
{
    const struct sp_algebra *algebra = &unknown->count->symbolic.algebra;
    for (size_t i = 0; i < poly->count; i++)
        for (size_t k = 0; k < poly->terms[i].count; k++) {
            const size_t atom = poly->terms[i].factors[k].atom;
            const enum atom_sort found = algebra->atoms[atom].is_condition ? CONDITION : QUANTITY;
            if (atom != unknown->atom && found == sort) return atom;
        }
    return SIZE_MAX;
}

/* Makes the range, which is about to be added for `key`, replace the solutions for the key that lie within it. Returns
 * true, and removes none, when it lies within one of them itself: it is known then. */
static bool is_known_range(struct shapeproof_solutions *solutions, const char *key, struct sp_range range)
{
    size_t kept = 0;
    for (size_t i = 0; i < solutions->count; i++) {
        const struct shapeproof_solution item = solutions->items[i];
        const bool same = strcmp(item.key, key) == 0;
        if (same && item.value <= range.first && range.last <= item.last) return true;
        if (!same || item.value < range.first || range.last < item.last) solutions->items[kept++] = item;
    }
    solutions->count = kept;
    return false;
}

/* Whether a range with the value was found for the key. */
static bool is_found(const struct shapeproof_solutions *solutions, const char *key, int64_t value)
{
    for (size_t i = 0; i < solutions->count; i++) {
        const struct shapeproof_solution *item = &solutions->items[i];
        if (strcmp(item->key, key) == 0 && item->value <= value && value <= item->last) return true;
    }
    return false;
}

/* Whether the range is only the value that the configuration has, which is no change. */
static bool is_now(const struct unknown *unknown, struct sp_range range)
{
    return unknown->now.type == SHAPEPROOF_VALUE_INT && range.first == range.last &&
           unknown->now.integer == range.first;
}

/* Adds a range that was found in one case, if that case holds there: if `whole` has a wanted value at both ends. False
 * when it has one at one end alone, so that the case ends somewhere within the range. */
static bool add_range(struct shapeproof_solutions *solutions, const struct unknown *unknown, struct sp_printed wanted,
                      const struct sp_poly *whole, struct sp_range range)
{
    const struct sp_symbol_info *symbol = sp_symbol_of(unknown->count, unknown->atom);
    const struct sp_symbol_info shown = {
        .atom = unknown->atom, .name = symbol ? symbol->name : unknown->key, .key = unknown->key};
    const bool first = holds_at(unknown, whole, wanted, range.first);
    const bool last = range.last == INT64_MAX ? first : holds_at(unknown, whole, wanted, range.last);
    if (first && last && !is_known_range(solutions, unknown->key, range) && !is_now(unknown, range))
        add_solution(solutions, &shown, unknown->now, range);
    return first == last;
}

/* Adds the values of the unknown for which a case holds in which the count is wanted and does not depend on the
 * unknown: it is `in_case` there. They are found by trying 1 to MAX_SCANNED, and 2^30 for a range that is still open
 * there. False when the case does not hold at 2^30, so that the end of the range is unknown. */
static bool add_all(struct shapeproof_solutions *solutions, const struct unknown *unknown, struct sp_printed wanted,
                    const struct sp_poly *in_case, const struct sp_poly *whole)
{
    struct sp_range range = {0, 0};
    for (int64_t value = 1; value <= MAX_SCANNED; value++) {
        const bool holds = holds_at(unknown, whole, wanted, value);
        if (holds && !range.first) range.first = value;
        if (holds) range.last = value;
        else if (range.first) {
            add_range(solutions, unknown, wanted, whole, range);
            range = (struct sp_range){0, 0};
        }
    }
    if (!range.first) return true;
    range.last = INT64_MAX;
    const struct sp_poly *far = count_at(unknown, whole, (int64_t)1 << 30);
    return far && sp_poly_equal(far, in_case) && add_range(solutions, unknown, wanted, whole, range);
}

/* The three functions below solve by cases, one within another. `whole` is the count as it is, in which everything but
 * the unknown has a value; `poly` is what is left of it in one case. Of E*[3 < L]*min(L, 8), with the unknown L:
 *
 *     solve_cases       [3 < L] is 0 or 1         poly: 0 | E*min(L, 8)
 *     solve_branches    min(L, 8) is L or 8       poly: E*L | E*8
 *     solve_case        E*L = wanted              the roots of a polynomial in L
 *
 * Whatever is found in a case is checked in `whole` (add_range), since the case need not hold there. Each returns false
 * when it may have missed a solution. */

static bool solve_branches(struct shapeproof_solutions *solutions, const struct unknown *unknown,
                           struct sp_printed wanted, const struct sp_poly *poly, const struct sp_poly *whole,
                           size_t atom, int depth);

/* Solves in one case of the conditions. `depth`: how many floors, minima and maxima have been split into cases. */
static bool solve_case(struct shapeproof_solutions *solutions, const struct unknown *unknown, struct sp_printed wanted,
                       const struct sp_poly *poly, const struct sp_poly *whole, int depth)
{
    struct sp_range ranges[MAX_RANGES];
    bool complete, good = true;
    const size_t other = other_atom(unknown, poly, QUANTITY);
    if (other != SIZE_MAX) return solve_branches(solutions, unknown, wanted, poly, whole, other, depth);
    if (!sp_poly_uses(poly, unknown->atom)) {
        const bool is_left_to_branches = depth > 0; /* solve_branches knows for which values its case holds */
        const bool is_without_effect = sp_poly_equal(poly, whole); /* the unknown changes nothing: it is no answer */
        return is_left_to_branches || is_without_effect || !is_wanted_number(poly, wanted) ||
               add_all(solutions, unknown, wanted, poly, whole);
    }
    const size_t found = find_values(&unknown->count->symbolic.algebra, poly, unknown->atom, wanted, ranges, &complete);
    for (size_t i = 0; i < found; i++) good = add_range(solutions, unknown, wanted, whole, ranges[i]) && good;
    return complete && good;
}

/* Solves in each case of `atom`, a floor, a minimum or a maximum. Only for one exact count, not for a range of them. */
static bool solve_branches(struct shapeproof_solutions *solutions, const struct unknown *unknown,
                           struct sp_printed wanted, const struct sp_poly *poly, const struct sp_poly *whole,
                           size_t atom, int depth)
{
    struct sp_branches cases;
    struct sp_branch one;
    bool good = wanted.least == wanted.most && depth < MAX_BRANCHINGS &&
                branches_open(&unknown->count->symbolic, atom, unknown->atom, &cases);
    while (good && branches_next(&cases, &one)) {
        struct sp_values values = {0};
        sp_values_add(&values, atom, one.value);
        const struct sp_poly *in_case = sp_reduce(unknown->count, poly, &values);
        sp_values_free(&values);
        good = in_case && solve_case(solutions, unknown, wanted, in_case, whole, depth + 1);
        if (!good || sp_poly_uses(in_case, unknown->atom) || !is_wanted_number(in_case, wanted)) continue;
        /* the wanted number wherever the case holds */
        good = one.first ? add_range(solutions, unknown, wanted, whole, (struct sp_range){one.first, one.last})
                         : add_all(solutions, unknown, wanted, in_case, whole);
    }
    return good;
}

/* Tries each condition that depends on the unknown, such as [3 < L], both ways. `conditions`: how many have a value. */
static bool solve_cases(struct shapeproof_solutions *solutions, const struct unknown *unknown, struct sp_printed wanted,
                        const struct sp_poly *poly, const struct sp_poly *whole, int conditions)
{
    const size_t condition = other_atom(unknown, poly, CONDITION);
    if (condition == SIZE_MAX) return solve_case(solutions, unknown, wanted, poly, whole, 0);
    bool good = conditions < MAX_CONDITIONS;
    for (int64_t truth = 0; truth < 2 && good; truth++) {
        struct sp_values values = {0};
        sp_values_add(&values, condition, sp_poly_int(&unknown->count->symbolic.algebra, truth));
        const struct sp_poly *in_case = sp_reduce(unknown->count, poly, &values);
        sp_values_free(&values);
        good = in_case && solve_cases(solutions, unknown, wanted, in_case, whole, conditions + 1);
    }
    return good;
}

/* The atom of a side of a pair, num_layers[0]; SIZE_MAX when the table does not use it. */
static size_t side_atom(const struct sp_count *count, const char *key, size_t side)
{
    char name[300];
    snprintf(name, sizeof name, "%s[%zu]", key, side);
    const struct sp_symbol_info *symbol = sp_sym_symbol(&count->symbolic, name);
    return symbol ? symbol->atom : SIZE_MAX;
}

/* Solves for each side of a pair alone: the other one keeps its value. False when that may have missed a solution. */
static bool solve_sides(struct shapeproof_solutions *solutions, struct sp_count *count, struct sp_printed wanted,
                        const struct sp_poly *poly, const char *key, struct shapeproof_value pair)
{
    bool good = true;
    for (size_t side = 0; side < 2; side++) {
        struct sp_values values = {0};
        const size_t atom = side_atom(count, key, side), other = side_atom(count, key, !side);
        if (other != SIZE_MAX)
            sp_values_add(&values, other, sp_poly_int(&count->symbolic.algebra, pair.items[!side].integer));
        const struct sp_poly *own = sp_reduce(count, poly, &values);
        sp_values_free(&values);
        if (atom == SIZE_MAX || !own) return false; /* it may be a list of two items, not a pair */
        const struct unknown unknown = {count, atom, sp_arena_printf(&solutions->arena, "%s[%zu]", key, side),
                                        pair.items[side]};
        good = solve_cases(solutions, &unknown, wanted, own, own, 0) && good;
    }
    return good;
}

static bool is_pair_of_numbers(struct shapeproof_value value)
{
    return value.type == SHAPEPROOF_VALUE_LIST && value.count == 2 && value.items[0].type == SHAPEPROOF_VALUE_INT &&
           value.items[1].type == SHAPEPROOF_VALUE_INT;
}

/* Whether a range of values is wanted of an expression that may rise and fall. Of such a range the ends do not tell
 * what lies between them, if a condition may hold there: [n == 500]*10^12 + n. */
static bool is_range_of_steps(const struct sp_solve_question *question)
{
    return question->claim && question->wanted.least != question->wanted.most &&
           !sp_solve_is_monotone(question->claim->left);
}

static bool has_condition(const struct sp_poly *poly, struct sp_count *count, size_t atom)
{
    const struct unknown unknown = {.count = count, .atom = atom};
    return other_atom(&unknown, poly, CONDITION) != SIZE_MAX;
}

/* Solves for the hyper-parameter `key`, whose value is `now`, in the formula of the count; all others have their
 * values. False when that may have missed a solution, such as where the table cannot be counted so, or the count is no
 * polynomial in this hyper-parameter. *name becomes what the table calls it, if that is known. */
static bool solve_for(struct shapeproof_solutions *solutions, const struct sp_solve_question *question, const char *key,
                      struct shapeproof_value now, const char **name)
{
    struct sp_count count;
    const struct sp_hyper *hyper = sp_config_hyper(question->config);
    const struct sp_values none = {0};
    bool good = sp_count_settled_but(&count, question->tables, question->table, hyper, &key, 1,
                                     now.type == SHAPEPROOF_VALUE_LIST ? SP_SIDES_MAY_DIFFER : SP_SIDES_ARE_EQUAL);
    const struct sp_poly *poly = good ? sp_solve_count(question, &count) : NULL;
    const struct sp_symbol_info *symbol = sp_sym_symbol(&count.symbolic, key); /* NULL: the count does not use it */
    if (symbol) *name = sp_arena_string(&solutions->arena, symbol->name);
    if (poly) poly = sp_reduce(&count, poly, &none);
    if (!poly || (is_range_of_steps(question) && symbol && has_condition(poly, &count, symbol->atom))) good = false;
    else if (is_pair_of_numbers(now)) good = solve_sides(solutions, &count, question->wanted, poly, key, now);
    else if (symbol) {
        const struct unknown unknown = {&count, symbol->atom, key,
                                        now.type == SHAPEPROOF_VALUE_INT ? now : sp_value_absent("")};
        good = solve_cases(solutions, &unknown, question->wanted, poly, poly, 0);
    }
    good = good && !count.symbolic.algebra.failed;
    sp_count_free(&count);
    return good;
}

/* ---- by prediction: where the count is no polynomial in the hyper-parameter ---- */

const struct sp_poly *sp_solve_count(const struct sp_solve_question *question, struct sp_count *count)
{
    if (question->claim) return sp_solve_expression(question, question->claim->left, count);
    return question->is_active ? sp_count_active(count, question->group) : sp_count_group(count, question->group);
}

bool sp_solve_fail(const struct sp_count *count, struct shapeproof_error *error)
{
    const char *message = count->messages.data ? count->messages.data : "its value is not known";
    message = sp_behind_place(message); /* a place in the table, which the user did not name */
    return sp_fail(error, SHAPEPROOF_ERR_UNKNOWN, SHAPEPROOF_KIND_NONE, "%.*s", (int)sp_first_line(message), message);
}

/* Counts what is no sum over a prediction, under `config`: the parameters that a token uses, or an expression. False
 * with the error when that is not known. */
static bool count_measure(const struct sp_solve_question *question, const struct shapeproof_config *config,
                          struct sp_rational *number, struct shapeproof_error *error)
{
    struct sp_count count;
    const bool counted = sp_count_settled(&count, question->tables, question->table, sp_config_hyper(config));
    const struct sp_poly *poly = counted ? sp_solve_count(question, &count) : NULL;
    const bool good = poly && sp_poly_is_constant(poly, number);
    if (!good) sp_solve_fail(&count, error);
    if (!good && (count.symbolic.algebra.failed || !count.messages.data)) error->kind = SHAPEPROOF_KIND_LIMIT;
    sp_count_free(&count);
    return good;
}

/* Counts what the question is about: the parameters of all the model or of a group, or a measure. False with the error
 * when that is not known. */
static bool count_asked(const struct sp_solve_question *question, const struct shapeproof_config *config,
                        const struct shapeproof_prediction *prediction, struct sp_rational *asked,
                        struct shapeproof_error *error)
{
    if (question->is_active || question->claim) return count_measure(question, config, asked, error);
    uint64_t number = question->group ? 0 /* of a group without tensors */
                                      : shapeproof_prediction_totals(prediction)->unique_parameters;
    for (size_t i = 0; question->group && i < shapeproof_prediction_group_count(prediction); i++) {
        const struct shapeproof_group *group = shapeproof_prediction_group(prediction, i);
        if (strcmp(group->name, question->group) == 0) number = group->parameters;
    }
    if (number > INT64_MAX)
        return sp_fail(error, SHAPEPROOF_ERR_UNKNOWN, SHAPEPROOF_KIND_LIMIT, "the total does not fit in 63 bits");
    *asked = sp_rational_int((int64_t)number);
    return true;
}

bool sp_solve_is_wanted(const struct sp_solve_question *question, struct sp_rational count)
{
    return is_wanted(question->wanted, count);
}

/* What sp_solve_predict does; but the count is not known of a prediction that `accepts`, unless it is NULL, refuses. */
static bool predict_accepted(const struct sp_solve_question *question, struct shapeproof_config *config,
                             bool (*accepts)(const struct shapeproof_prediction *prediction), struct sp_rational *count,
                             size_t *tensors, struct shapeproof_error *error)
{
    const struct sp_scope scope = {.most = MAX_TENSORS};
    sp_config_limit(config, &scope);
    struct shapeproof_prediction *prediction = shapeproof_predict(
        question->tables, config, &(struct shapeproof_predict_options){.table = question->table->name}, error);
    const bool is_counted =
        prediction && (!accepts || accepts(prediction)) && count_asked(question, config, prediction, count, error);
    const bool is_too_large = !prediction && error->kind == SHAPEPROOF_KIND_LIMIT;
    if (tensors) *tensors += prediction ? shapeproof_prediction_count(prediction) : is_too_large ? MAX_TENSORS : 0;
    sp_config_limit(config, NULL);
    shapeproof_prediction_free(prediction);
    return is_counted;
}

bool sp_solve_predict(const struct sp_solve_question *question, struct shapeproof_config *config,
                      struct sp_rational *count, size_t *tensors, struct shapeproof_error *error)
{
    return predict_accepted(question, config, NULL, count, tensors, error);
}

/* The search for the values of one key. */
struct search {
    uint64_t end; /* the steps of the call at which no further value is tried */
    bool is_cut;  /* there may be more answers, of which nothing is known */
};

static struct search search_begin(uint64_t steps)
{
    return (struct search){.end = sp_add_saturated(sp_budget_steps_taken(), steps)};
}

/* What is varied: the value under a key, or one item of the list there. */
struct varied {
    const struct sp_solve_question *question;
    struct search *search;
    const char *key;
    struct shapeproof_value list; /* the configured list, if one item of it is varied; else all zero */
    size_t item;                  /* its index in the list */
    size_t *tensors;              /* NULL, or a count of those that have been predicted with one of its values */
    struct sp_count *settled;     /* the key is an argument of the expression, which is evaluated in this count; else
                                     NULL */
};

enum trial {
    COUNTED,  /* the count is known */
    REFUSED,  /* the table refuses the value: a dimension would be negative, a requirement is not met */
    NOT_KNOWN /* the limits of this program are reached: too many tensors or steps, a number of more than 64 bits */
};

/* Whether a prediction failed by what this program can compute, not because the table refuses a value. */
static bool is_beyond_limits(const struct shapeproof_error *error)
{
    return error->kind == SHAPEPROOF_KIND_LIMIT || error->kind == SHAPEPROOF_KIND_OVERFLOW;
}

/* Predicts the table with `value` in the place of what is varied, and counts what the question is about. */
static enum trial count_with(const struct varied *varied, struct shapeproof_value value, struct sp_rational *count)
{
    struct shapeproof_error error = {0};
    struct shapeproof_value items[MAX_ITEMS];
    if (sp_budget_steps_taken() > varied->search->end || sp_budget_lacks_trial()) return NOT_KNOWN;
    if (varied->settled)
        return sp_solve_count_argument(varied->question, varied->settled, varied->key, value.integer, count)
                   ? COUNTED
                   : NOT_KNOWN;
    if (varied->list.type == SHAPEPROOF_VALUE_LIST) {
        memcpy(items, varied->list.items, varied->list.count * sizeof *items);
        items[varied->item] = value;
        value = (struct shapeproof_value){.type = SHAPEPROOF_VALUE_LIST, .count = varied->list.count, .items = items};
    }
    struct shapeproof_config *config = sp_config_variant(varied->question->config);
    sp_config_set_value(config, varied->key, value, "");
    const bool good = sp_solve_predict(varied->question, config, count, varied->tensors, &error);
    shapeproof_config_free(config);
    return good ? COUNTED : is_beyond_limits(&error) ? NOT_KNOWN : REFUSED;
}

/* Whether the table refuses the value, with which the formula gives the total: a dimension would be negative, a
 * quotient no integer, a requirement is not met. Not when there would be too many tensors to try. */
static bool is_refused(const struct varied *varied, int64_t value)
{
    struct sp_rational count;
    const enum trial trial = count_with(varied, sp_value_int(value), &count);
    return trial == REFUSED || (trial == COUNTED && !sp_solve_is_wanted(varied->question, count));
}

/* Removes the solutions from `first` on that the table refuses: ranges of which it refuses both ends. */
static void drop_refused(struct shapeproof_solutions *solutions, const struct varied *varied, size_t first)
{
    size_t kept = first;
    for (size_t i = first; i < solutions->count; i++) {
        const struct shapeproof_solution item = solutions->items[i];
        const int64_t last = item.last == INT64_MAX ? item.value : item.last;
        const bool is_own = strcmp(item.key, varied->key) == 0; /* not one side of a pair */
        if (!is_own || !is_refused(varied, item.value) || !is_refused(varied, last)) solutions->items[kept++] = item;
    }
    solutions->count = kept;
}

enum answer { UNWANTED, WANTED, UNKNOWN };

/* Whether the count with the value is a wanted one. */
static enum answer answer_with(const struct varied *varied, int64_t value)
{
    struct sp_rational count;
    const enum trial trial = count_with(varied, sp_value_int(value), &count);
    if (trial == NOT_KNOWN) return UNKNOWN;
    return trial == COUNTED && sp_solve_is_wanted(varied->question, count) ? WANTED : UNWANTED;
}

/* Values up to this are tried where a range seems to have no end. */
#define FARTHEST (INT64_C(1) << 40)

/* Whether the count is the same with the value, a half and a quarter of it: it has stopped growing. */
static bool is_level_at(const struct varied *varied, int64_t value)
{
    struct sp_rational counts[3];
    for (int i = 0; i < 3; i++)
        if (count_with(varied, sp_value_int(value >> i), &counts[i]) != COUNTED) return false;
    return sp_rational_compare(counts[0], counts[1]) == 0 && sp_rational_compare(counts[0], counts[2]) == 0;
}

/* The end of a run that holds at `last`, the largest value tried: found by bisection between the last doubling that
 * holds and the first that does not. INT64_MAX where it holds at every doubling up to FARTHEST, and the count has
 * stopped growing there. 0 when the end is not known: a count on the way is not, or the expression may rise and fall.
 */
static int64_t end_of_run(const struct varied *varied, int64_t last)
{
    int64_t low = last, high = last;
    enum answer answer = UNKNOWN;
    const struct sp_claim *claim = varied->question->claim;
    if (claim && !sp_solve_is_monotone(claim->left)) return 0;
    while (high <= FARTHEST && (answer = answer_with(varied, high)) == WANTED) {
        low = high;
        high *= 2;
    }
    if (high > FARTHEST) return is_level_at(varied, low) ? INT64_MAX : 0;
    while (high - low > 1 && answer != UNKNOWN) {
        const int64_t middle = low + (high - low) / 2;
        answer = answer_with(varied, middle);
        *(answer == WANTED ? &low : &high) = middle;
    }
    return answer == UNKNOWN ? 0 : low;
}

/* Adds each run of consecutive values between `first` and `last`, both tried, that give the total, but the one that is
 * only the value of now. A run that is not over at `last` is followed to its end; a run whose end is not known is left
 * out. The last value that is tried is a smaller one when the predictions before it had more than `most_tensors`
 * together. */
static void add_runs(struct shapeproof_solutions *solutions, const struct varied *varied,
                     const struct sp_symbol_info *symbol, struct shapeproof_value now, int64_t first, int64_t last,
                     size_t most_tensors)
{
    size_t tensors = 0;
    struct varied counted = *varied;
    counted.tensors = &tensors;
    const bool is_exact = varied->question->wanted.least == varied->question->wanted.most;
    int64_t start = 0;
    enum answer before = UNWANTED; /* of the value before the run */
    for (int64_t value = first; value <= last + 1; value++) {
        if (value <= last && tensors > most_tensors) last = value - 1;
        const enum answer answer = value <= last ? answer_with(&counted, value) : UNWANTED;
        if (answer == WANTED && !start) start = value;
        if (answer == WANTED) continue;
        const struct sp_range run = {start, value > last && start ? end_of_run(varied, last) : value - 1};
        const bool is_sure = run.last && ((before != UNKNOWN && answer != UNKNOWN) || (is_exact && start == run.last));
        const bool only_now = now.type == SHAPEPROOF_VALUE_INT && run.first == now.integer && run.last == now.integer;
        before = answer;
        start = 0;
        if (!run.first) continue;
        if (!is_sure && !is_found(solutions, symbol->key, run.first)) varied->search->is_cut = true;
        if (!is_sure) continue;
        if (!only_now && !is_known_range(solutions, symbol->key, run)) add_solution(solutions, symbol, now, run);
    }
}

/* Bisection: the first value above `low`, and at most `high`, whose count is above the wanted ones, or, unless
 * `is_above`, not below them. The count grows between them, and is so at `high`. 0 when a value between cannot be
 * predicted. */
static int64_t first_reaching(const struct varied *varied, bool is_above, int64_t low, int64_t high)
{
    const struct sp_printed wanted = varied->question->wanted;
    while (high - low > 1) {
        const int64_t middle = low + (high - low) / 2;
        struct sp_rational count;
        if (count_with(varied, sp_value_int(middle), &count) != COUNTED) return 0;
        const bool reaches = is_above ? sp_rational_compare(count, sp_rational_int(wanted.most)) > 0
                                      : sp_rational_compare(count, sp_rational_int(wanted.least)) >= 0;
        *(reaches ? &high : &low) = middle;
    }
    return high;
}

/* How the count behaves at 1, 2, 4, ... It may behave otherwise in between. */
enum trend { CONSTANT, GROWING, BOUNDED, NEITHER };

/* Tries 1, 2, 4, ... until the count exceeds what is wanted: GROWING, and `above` is that value. BOUNDED when it grows
 * and then stops growing before it does; `above` is the last value tried then. NEITHER when the count falls on the way,
 * cannot be predicted, or still grows at the last value. */
static enum trend trend_of(const struct varied *varied, int64_t *above)
{
    struct sp_rational first = sp_rational_int(0), before = first, count;
    for (int64_t value = 1; value <= FARTHEST; value *= 2) {
        if (count_with(varied, sp_value_int(value), &count) != COUNTED) return NEITHER;
        if (value == 1) first = before = count;
        if (sp_rational_compare(count, before) < 0) return NEITHER;
        *above = value;
        if (sp_rational_compare(count, sp_rational_int(varied->question->wanted.most)) > 0 &&
            sp_rational_compare(count, first) > 0)
            return GROWING;
        before = count;
    }
    if (sp_rational_compare(before, first) == 0) return CONSTANT;
    return is_level_at(varied, *above) ? BOUNDED : NEITHER;
}

/* Finds both ends of the range of values that give a wanted count, where the count grows up to `above`, by bisection. A
 * division that rounds makes it grow in steps, and lets it fall now and then: in a range of at most MAX_SCANNED values
 * each is tried, and some around the ends; of a longer one only the ends are checked. False when a value on the way
 * cannot be predicted. */
static bool bisect_values(struct shapeproof_solutions *solutions, const struct varied *varied,
                          const struct sp_symbol_info *symbol, struct shapeproof_value now, int64_t above)
{
    const int64_t first = first_reaching(varied, false, 0, above), end = first_reaching(varied, true, 0, above);
    if (!first || !end) return false;
    if (end - first <= MAX_SCANNED)
        add_runs(solutions, varied, symbol, now, first > AROUND ? first - AROUND : 1, end + AROUND, SIZE_MAX);
    else if (!is_known_range(solutions, symbol->key, (struct sp_range){first, end - 1})) {
        const enum answer at_first = answer_with(varied, first), at_last = answer_with(varied, end - 1);
        if (at_first == UNKNOWN || at_last == UNKNOWN) return false;
        if (at_first == WANTED && at_last == WANTED)
            add_solution(solutions, symbol, now, (struct sp_range){first, end - 1});
    }
    return true;
}

/* Adds the values that give a wanted count: by bisection where the count grows, and of 1 to MAX_SCANNED, or fewer where
 * the predictions have many tensors, each that does. An expression that may rise and fall is not bisected. What has no
 * effect is no answer. False when that may have missed a solution, and found none. */
static bool search_values(struct shapeproof_solutions *solutions, const struct varied *varied,
                          const struct sp_symbol_info *symbol, struct shapeproof_value now)
{
    int64_t above;
    const size_t before = solutions->count;
    const struct sp_claim *claim = varied->question->claim;
    const bool is_monotone = !claim || sp_solve_is_monotone(claim->left);
    const enum trend trend = trend_of(varied, &above);
    const bool is_bisected = is_monotone && trend == GROWING && bisect_values(solutions, varied, symbol, now, above);
    add_runs(solutions, varied, symbol, now, 1, MAX_SCANNED, MAX_SCANNED_TENSORS);
    if (trend == CONSTANT && solutions->count == before + 1 && solutions->items[before].value == 1 &&
        solutions->items[before].last == INT64_MAX) {
        solutions->count = before;
        return true;
    }
    if (!is_monotone) varied->search->is_cut = true;
    return is_bisected || solutions->count > before;
}

/* A flag that, inverted, gives the total, and does not as it is. */
static void solve_flag(struct shapeproof_solutions *solutions, const struct sp_solve_question *question,
                       const char *key, bool now)
{
    struct search search = search_begin(MAX_KEY_STEPS);
    const struct varied varied = {.question = question, .search = &search, .key = key};
    const struct sp_symbol_info symbol = {.name = key, .key = key};
    struct sp_rational count;
    if (solutions->as_given || count_with(&varied, sp_value_bool(!now), &count) != COUNTED ||
        !sp_solve_is_wanted(question, count))
        return;
    add_solution(solutions, &symbol, sp_value_bool(now), (struct sp_range){!now, !now});
    solutions->items[solutions->count - 1].plausibility = FLAG_PLAUSIBILITY;
}

/* Each number in a list alone. False when there are too many, or numbers in a list within the list. */
static bool solve_items(struct shapeproof_solutions *solutions, const struct sp_solve_question *question,
                        struct search *search, const char *key, struct shapeproof_value list)
{
    bool good = list.count <= MAX_ITEMS;
    for (size_t i = 0; i < list.count && good; i++) good = list.items[i].type != SHAPEPROOF_VALUE_LIST;
    if (!good) return false;
    for (size_t i = 0; i < list.count; i++) {
        if (list.items[i].type != SHAPEPROOF_VALUE_INT) continue;
        const struct varied varied = {.question = question, .search = search, .key = key, .list = list, .item = i};
        const char *name = sp_arena_printf(&solutions->arena, "%s[%zu]", key, i);
        const struct sp_symbol_info symbol = {.name = name, .key = name};
        good = search_values(solutions, &varied, &symbol, list.items[i]) && good;
    }
    return good;
}

/* ---- zero ---- */

/* What is above solves for values from 1 up, because most hyper-parameters are sizes, which are never 0. Others may be
 * 0: first_k_dense_replace, the number of layers without experts. */

static bool has_no_empty_tensor(const struct shapeproof_prediction *prediction)
{
    for (size_t i = 0; i < shapeproof_prediction_count(prediction); i++) {
        const struct shapeproof_predicted *tensor = shapeproof_prediction_tensor(prediction, i);
        for (uint32_t k = 0; k < tensor->rank; k++)
            if (tensor->shape[k] == 0) return false;
    }
    return true;
}

/* Whether the table has no empty tensor where the key is 0, and the count is a wanted one. */
static bool holds_at_zero(const struct varied *varied)
{
    const struct sp_solve_question *question = varied->question;
    struct shapeproof_error ignored = {0};
    struct sp_rational count;
    struct shapeproof_config *config = sp_config_variant(question->config);
    sp_config_set_value(config, varied->key, sp_value_int(0), "");
    const bool holds = predict_accepted(question, config, has_no_empty_tensor, &count, NULL, &ignored) &&
                       sp_solve_is_wanted(question, count);
    shapeproof_config_free(config);
    return holds;
}

/* Adds the value 0 of a number, to the range from 1 up if there is one. False if it gives no wanted count. Where the
 * configuration as it is gives one, only a range is made longer. */
static bool solve_zero(struct shapeproof_solutions *solutions, const struct varied *varied,
                       const struct sp_symbol_info *symbol, struct shapeproof_value now)
{
    size_t range = 0;
    while (range < solutions->count &&
           (strcmp(solutions->items[range].key, varied->key) != 0 || solutions->items[range].value != 1))
        range++;
    const bool is_new = range == solutions->count;
    if (now.integer == 0 || (is_new && solutions->as_given) || !holds_at_zero(varied)) return false;
    if (is_new) add_solution(solutions, symbol, now, (struct sp_range){0, 0});
    else solutions->items[range].value = 0;
    return true;
}

/* ---- arguments of the expression ---- */

/* Adds the values that give a wanted number where the number grows up to `above`, but never exceeds what is wanted, as
 * the cache of layers with a window does: from the first such value on, all of them. False when the first is unknown.
 */
static bool add_unbounded(struct shapeproof_solutions *solutions, const struct varied *varied,
                          const struct sp_symbol_info *symbol, struct shapeproof_value now, int64_t above)
{
    const enum answer at_end = answer_with(varied, above);
    if (at_end != WANTED) return at_end == UNWANTED;
    const int64_t first = first_reaching(varied, false, 0, above);
    if (first) add_solution(solutions, symbol, now, (struct sp_range){first, INT64_MAX});
    return first;
}

/* Solves for an argument of the measures in the expression, such as the number of tokens, by bisection: a measure grows
 * with each of its arguments. If the expression may rise and fall, the values up to MAX_SCANNED are tried. Lists the
 * argument as skipped where that leaves values, or it has several ones. */
static void solve_argument(struct shapeproof_solutions *solutions, const struct sp_solve_question *question,
                           const struct sp_solve_argument *argument)
{
    struct sp_count settled = {.table = NULL};
    struct search search = search_begin(MAX_ARGUMENT_STEPS);
    const struct varied varied = {.question = question, .search = &search, .key = argument->name, .settled = &settled};
    const struct sp_symbol_info symbol = {.name = argument->name, .key = argument->name};
    const struct shapeproof_value now = sp_value_int(argument->value);
    const size_t before = solutions->count;
    bool good = !argument->is_ambiguous;
    int64_t above = 1;
    if (good && !sp_solve_is_monotone(question->claim->left)) {
        add_runs(solutions, &varied, &symbol, now, 1, MAX_SCANNED, SIZE_MAX);
        good = false;
    } else if (good) {
        const enum trend trend = trend_of(&varied, &above);
        good = trend == CONSTANT || (trend == GROWING && bisect_values(solutions, &varied, &symbol, now, above)) ||
               (trend == BOUNDED && add_unbounded(solutions, &varied, &symbol, now, above));
    }
    if (!good || search.is_cut) skip_key(solutions, argument->name);
    for (size_t i = before; i < solutions->count; i++) solutions->items[i].plausibility = ARGUMENT_PLAUSIBILITY;
    sp_count_free(&settled);
}

static void solve_arguments(struct shapeproof_solutions *solutions, const struct sp_solve_question *question)
{
    struct sp_solve_arguments arguments = {.count = 0};
    sp_solve_find_arguments(question->claim->left, &arguments);
    for (size_t i = 0; i < arguments.count; i++) solve_argument(solutions, question, &arguments.items[i]);
}

/* ---- all of them ---- */

static int compare_values(const void *left, const void *right)
{
    const struct shapeproof_solution *a = left, *b = right;
    const int names = strcmp(a->key, b->key); /* of both sides of a pair */
    return names ? names : (a->value > b->value) - (a->value < b->value);
}

/* Joins the solutions from `first` on that are neighbours: 5, 7 and 6 become the range 5..7. */
static void join_neighbours(struct shapeproof_solutions *solutions, size_t first)
{
    size_t kept = first;
    if (solutions->count > first)
        qsort(solutions->items + first, solutions->count - first, sizeof *solutions->items, compare_values);
    for (size_t i = first; i < solutions->count; i++) {
        struct shapeproof_solution *last = kept > first ? &solutions->items[kept - 1] : NULL;
        const struct shapeproof_solution item = solutions->items[i];
        if (!last || strcmp(last->key, item.key) != 0 || last->last == INT64_MAX || item.value > last->last + 1) {
            solutions->items[kept++] = item;
            continue;
        }
        if (item.last > last->last) last->last = item.last;
        last->plausibility = plausibility((struct sp_range){last->value, last->last});
    }
    solutions->count = kept;
}

/* Solves for one key: by the formula of the count where there is one, else by predictions. A key is listed as skipped
 * if nothing was found although a solution may have been missed, or if a range was left out whose end is not known. */
static void solve_or_skip(struct shapeproof_solutions *solutions, const struct sp_solve_question *question,
                          const char *key, struct shapeproof_value now)
{
    struct search search = search_begin(MAX_KEY_STEPS);
    const struct varied varied = {.question = question, .search = &search, .key = key};
    struct sp_symbol_info symbol = {.name = key, .key = key};
    const size_t before = solutions->count;
    bool good = true;
    if (now.type == SHAPEPROOF_VALUE_BOOL) solve_flag(solutions, question, key, now.boolean);
    else if (now.type == SHAPEPROOF_VALUE_LIST && !is_pair_of_numbers(now))
        good = solve_items(solutions, question, &search, key, now);
    else if (!solve_for(solutions, question, key, now, &symbol.name)) {
        good = now.type == SHAPEPROOF_VALUE_LIST ? solve_items(solutions, question, &search, key, now)
                                                 : search_values(solutions, &varied, &symbol, now);
    }
    drop_refused(solutions, &varied, before);
    if (now.type == SHAPEPROOF_VALUE_INT && !search.is_cut && solve_zero(solutions, &varied, &symbol, now)) good = true;
    if (now.type != SHAPEPROOF_VALUE_BOOL) join_neighbours(solutions, before);
    if (search.is_cut || (!good && solutions->count == before)) skip_key(solutions, key);
}

static bool is_predicted_with(const struct shapeproof_prediction *prediction, const char *key)
{
    for (size_t i = 0; i < shapeproof_prediction_hyperparameter_count(prediction); i++)
        if (strcmp(shapeproof_prediction_hyperparameter(prediction, i)->name, key) == 0) return true;
    return false;
}

/* The number or flag that a key has: as the configuration gives it, or as the settled table does by default. Absent for
 * what is neither. */
static struct shapeproof_value number_now(struct sp_count *settled, const struct sp_solve_question *question,
                                          const char *key)
{
    const struct sp_sym_env env = {.frame = settled->frame};
    struct shapeproof_value now = sp_value_at(sp_config_hyper(question->config)->root, key);
    struct sp_sym sym;
    if (!sp_value_is_set(now) &&
        (!sp_sym_defaulted_key(&settled->symbolic, &env, key, &sym) || !sp_sym_literal(sym, &now)))
        return sp_value_absent(key);
    const bool is_solved_for = now.type == SHAPEPROOF_VALUE_INT || now.type == SHAPEPROOF_VALUE_BOOL;
    return is_solved_for ? now : sp_value_absent(key);
}

/* The hyper-parameters that no shape depends on, only what is counted: num_experts_per_tok. */
static void solve_shapeless(struct shapeproof_solutions *solutions, const struct sp_solve_question *question,
                            const struct shapeproof_prediction *prediction)
{
    struct sp_count count, settled;
    const bool is_counted = sp_count_table(&count, question->tables, question->table, NULL, SP_SIDES_ARE_EQUAL) &&
                            sp_solve_count(question, &count);
    const bool is_settled =
        sp_count_settled(&settled, question->tables, question->table, sp_config_hyper(question->config));
    for (size_t i = 0; is_counted && is_settled && i < count.symbolic.symbols.count; i++) {
        const struct sp_symbol_info *symbol = &count.symbolic.symbols.items[i];
        const bool is_number = !symbol->is_computed && !symbol->is_list && !symbol->is_text && !symbol->unset_key;
        size_t first = 0; /* a key may have two symbols, if the table has two defaults for it */
        while (strcmp(count.symbolic.symbols.items[first].key, symbol->key) != 0) first++;
        if (!is_number || first < i || is_predicted_with(prediction, symbol->key)) continue;
        const char *key = sp_arena_string(&solutions->arena, symbol->key);
        solve_or_skip(solutions, question, key, number_now(&settled, question, key));
    }
    sp_count_free(&settled);
    sp_count_free(&count);
}

/* Every number, flag and list among the hyper-parameters of the prediction. */
static void solve_all(struct shapeproof_solutions *solutions, const struct sp_solve_question *question,
                      const struct shapeproof_prediction *prediction)
{
    for (size_t i = 0; i < shapeproof_prediction_hyperparameter_count(prediction); i++) {
        const struct shapeproof_hyperparameter *hyper = shapeproof_prediction_hyperparameter(prediction, i);
        if (hyper->value.type == SHAPEPROOF_VALUE_INT || hyper->value.type == SHAPEPROOF_VALUE_BOOL ||
            hyper->value.type == SHAPEPROOF_VALUE_LIST)
            solve_or_skip(solutions, question, hyper->name, hyper->value);
    }
    if (question->is_active || question->claim) solve_shapeless(solutions, question, prediction);
    if (question->claim) solve_arguments(solutions, question);
    if (solutions->count) qsort(solutions->items, solutions->count, sizeof *solutions->items, compare_solutions);
}

bool sp_solve_check_group(const struct sp_solve_question *question, struct shapeproof_error *error)
{
    struct sp_count count;
    const bool is_counted = sp_count_table(&count, question->tables, question->table, sp_config_hyper(question->config),
                                           SP_SIDES_MAY_DIFFER);
    bool good =
        !is_counted || sp_count_group(&count, question->group) ||
        sp_fail(error, SHAPEPROOF_ERR_USAGE, SHAPEPROOF_KIND_NONE, "the table has no group [%s]", question->group);
    if (good && is_counted && question->is_active && !sp_count_active(&count, question->group))
        good = sp_solve_fail(&count, error);
    sp_count_free(&count);
    return good;
}

/* The hyper-parameter that the table needs although neither the configuration gives it nor it is `open` (or NULL), the
 * first such. NULL when nothing is missing. */
static const char *lacking(const struct sp_solve_question *question, const char *open, struct sp_arena *arena)
{
    struct sp_count count;
    const bool good = sp_count_settled_but(&count, question->tables, question->table, sp_config_hyper(question->config),
                                           &open, open ? 1 : 0, SP_SIDES_ARE_EQUAL);
    const char *key =
        good || !count.symbolic.report.missing ? NULL : sp_arena_string(arena, count.symbolic.report.missing);
    sp_count_free(&count);
    return key;
}

/* The one hyper-parameter that the table needs and the configuration lacks: it can be solved for as well. NULL when
 * none is missing, or more than one. */
static const char *missing_key(const struct sp_solve_question *question, struct sp_arena *arena)
{
    const char *key = lacking(question, NULL, arena);
    return key && !lacking(question, key, arena) ? key : NULL;
}

/* If a hyper-parameter without a default is not given, it is the one to solve for. Otherwise predicts with the
 * values as they are, notes whether they give the wanted number already, and solves for each key in turn. */
static bool predict_and_solve(struct shapeproof_solutions *solutions, const struct sp_solve_question *question,
                              struct shapeproof_error *error)
{
    const char *missing = missing_key(question, &solutions->arena);
    if (!sp_solve_check_group(question, error)) return false;
    if (missing) {
        solve_or_skip(solutions, question, missing, sp_value_absent(missing));
        return true;
    }
    struct shapeproof_prediction *prediction =
        shapeproof_predict(question->tables, question->config,
                           &(struct shapeproof_predict_options){.table = question->table->name}, error);
    struct sp_rational count;
    const bool is_counted = prediction && count_asked(question, question->config, prediction, &count, error);
    if (is_counted) {
        solutions->as_given = sp_solve_is_wanted(question, count);
        solve_all(solutions, question, prediction);
    }
    shapeproof_prediction_free(prediction);
    return is_counted;
}

/* What both public functions have in common. `asked` is the wanted total as the user wrote it. NULL with the error. */
static struct shapeproof_solutions *solutions_of(const struct shapeproof_tables *tables,
                                                 const struct shapeproof_config *config,
                                                 const struct sp_solve_target *target,
                                                 const struct shapeproof_solve_options *options,
                                                 struct shapeproof_error *error)
{
    static const struct shapeproof_solve_options none = {0};
    assert(tables && config);
    if (!options) options = &none;
    sp_config_reuse(config);
    if (!sp_options_are_known(options->reserved, error) || !sp_solve_check_measure(options->measure, error))
        return NULL;
    const struct shapeproof_expressions *expressions = options->expressions;
    if (expressions && expressions->unit->claim_count != 1) {
        sp_fail(error, SHAPEPROOF_ERR_USAGE, SHAPEPROOF_KIND_NONE, "one expression is solved for, here are %zu",
                expressions->unit->claim_count);
        return NULL;
    }
    const struct sp_unit *unit = sp_choose_table(tables, options->table, sp_config_hyper(config), error);
    if (!unit) return NULL;
    struct shapeproof_solutions *solutions = sp_realloc(NULL, 1, sizeof *solutions);
    *solutions = (struct shapeproof_solutions){.table = unit->name,
                                               .rounded = target->wanted.least != target->wanted.most,
                                               .at_most = options->at_most,
                                               .within = target->within};
    solutions->asked = sp_arena_string(&solutions->arena, target->asked);
    const struct sp_solve_question question = {.tables = tables,
                                               .table = unit,
                                               .config = config,
                                               .group = options->group,
                                               .wanted = target->wanted,
                                               .is_active = options->measure != NULL,
                                               .claim = expressions ? expressions->unit->claims : NULL,
                                               .unit = expressions ? expressions->unit : NULL};
    if (expressions) {
        const struct sp_span span = question.claim->span;
        solutions->expression = sp_arena_copy(&solutions->arena, span.source->text + span.offset, span.length);
    }
    if (predict_and_solve(solutions, &question, error)) return solutions;
    shapeproof_solutions_free(solutions);
    return NULL;
}

bool sp_solve_check_measure(const char *measure, struct shapeproof_error *error)
{
    return !measure || strcmp(measure, "active") == 0 ||
           sp_fail(error, SHAPEPROOF_ERR_USAGE, SHAPEPROOF_KIND_NONE, "there is no measure '%s' to solve for", measure);
}

bool sp_solve_refuse(const char *option, const char *other, struct shapeproof_error *error)
{
    return sp_fail(error, SHAPEPROOF_ERR_USAGE, SHAPEPROOF_KIND_NONE, "the option '%s' does not go with %s", option,
                   other);
}

/* Whether the options go with each other, and with the total, which is a number or (`is_figure`) a figure. */
static bool options_agree(const struct shapeproof_solve_options *options, bool is_figure,
                          struct shapeproof_error *error)
{
    const bool tolerates = options->within < 0 || options->within > 0;
    if (options->expressions && options->group) return sp_solve_refuse("group", "'expressions'", error);
    if (options->expressions && options->measure) return sp_solve_refuse("measure", "'expressions'", error);
    if (options->at_most && tolerates) return sp_solve_refuse("within", "'at_most'", error);
    if (is_figure && tolerates) return sp_solve_refuse("within", "a figure, which is a range by itself", error);
    return !is_figure || !options->at_most || sp_solve_refuse("at_most", "a figure, which is a range by itself", error);
}

bool sp_solve_target_total(struct sp_solve_target *target, uint64_t total, double within,
                           struct shapeproof_error *error)
{
    if (total > INT64_MAX)
        return sp_fail(error, SHAPEPROOF_ERR_USAGE, SHAPEPROOF_KIND_NONE, "the total does not fit in 63 bits");
    if (!(within >= 0 && within <= 100))
        return sp_fail(error, SHAPEPROOF_ERR_USAGE, SHAPEPROOF_KIND_NONE, "--within takes 0 to 100 per cent");
    const int64_t slack = (int64_t)((double)total * within / 100);
    const bool fits = (int64_t)total <= INT64_MAX - slack;
    target->wanted = (struct sp_printed){(int64_t)total - slack, fits ? (int64_t)total + slack : INT64_MAX};
    target->within = slack ? within : 0;
    target->asked = target->text;
    if (slack)
        snprintf(target->text, sizeof target->text, "%" PRIu64 " within %s%%", total, sp_real_text(within, 6).text);
    else snprintf(target->text, sizeof target->text, "%" PRIu64, total);
    return true;
}

bool sp_solve_target_figure(struct sp_solve_target *target, const char *figure, struct shapeproof_error *error)
{
    *target = (struct sp_solve_target){.asked = figure};
    return sp_printed_read(figure, &target->wanted) || sp_fail(error, SHAPEPROOF_ERR_USAGE, SHAPEPROOF_KIND_NONE,
                                                               "'%s': expected a figure such as 65M or 1.5B", figure);
}

struct shapeproof_solutions *shapeproof_solve(const struct shapeproof_tables *tables,
                                              const struct shapeproof_config *config, uint64_t total,
                                              const struct shapeproof_solve_options *options,
                                              struct shapeproof_error *error)
{
    SP_CALL(error, NULL);
    SP_SPENDS("solving it");
    struct sp_solve_target target;
    sp_error_reset(error);
    if (options && !options_agree(options, false, error)) return NULL;
    if (!sp_solve_target_total(&target, total, options ? options->within : 0, error)) return NULL;
    if (options && options->at_most) target.wanted.least = options->expressions ? SP_SOLVE_NO_LEAST : 0;
    return solutions_of(tables, config, &target, options, error);
}

struct shapeproof_solutions *shapeproof_solve_rounded(const struct shapeproof_tables *tables,
                                                      const struct shapeproof_config *config, const char *figure,
                                                      const struct shapeproof_solve_options *options,
                                                      struct shapeproof_error *error)
{
    SP_CALL(error, NULL);
    SP_SPENDS("solving it");
    struct sp_solve_target target;
    assert(figure);
    sp_error_reset(error);
    if (options && !options_agree(options, true, error)) return NULL;
    return sp_solve_target_figure(&target, figure, error) ? solutions_of(tables, config, &target, options, error)
                                                          : NULL;
}

const char *shapeproof_solutions_asked(const struct shapeproof_solutions *solutions) { return solutions->asked; }
const char *shapeproof_solutions_table(const struct shapeproof_solutions *solutions) { return solutions->table; }
bool shapeproof_solutions_as_given(const struct shapeproof_solutions *solutions) { return solutions->as_given; }
double shapeproof_solutions_within(const struct shapeproof_solutions *solutions) { return solutions->within; }

bool shapeproof_solutions_at_most(const struct shapeproof_solutions *solutions) { return solutions->at_most; }

const char *shapeproof_solutions_expression(const struct shapeproof_solutions *solutions)
{
    return solutions->expression;
}

bool shapeproof_solutions_rounded(const struct shapeproof_solutions *solutions) { return solutions->rounded; }

void shapeproof_solutions_free(struct shapeproof_solutions *solutions)
{
    if (!solutions) return;
    sp_free(solutions->items);
    sp_free(solutions->skipped);
    sp_arena_free(&solutions->arena);
    sp_free(solutions);
}

size_t shapeproof_solutions_count(const struct shapeproof_solutions *solutions) { return solutions->count; }
const struct shapeproof_solution *shapeproof_solutions_get(const struct shapeproof_solutions *solutions, size_t index)
{
    return &solutions->items[index];
}
size_t shapeproof_solutions_skipped_count(const struct shapeproof_solutions *solutions)
{
    return solutions->skipped_count;
}
const char *shapeproof_solutions_skipped(const struct shapeproof_solutions *solutions, size_t index)
{
    return solutions->skipped[index];
}
