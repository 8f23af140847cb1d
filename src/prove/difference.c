/* SPDX-License-Identifier: MIT
 * What is wrong with a claim, in words: by how much it differs, which group or tensor that is, and the smallest
 * hyper-parameters at which one can see it. */
#include <inttypes.h>
#include <stdlib.h>

#include "prove/atoms.h"
#include "prove/trial.h"

enum { MAX_SYMBOLS = 16, MAX_SMALL = 4, MAX_TRIES = 100000 };

const char *sp_rational_text(struct sp_arena *arena, struct sp_rational value)
{
    if (value.den == 1) return sp_arena_printf(arena, "%" PRId64, value.num);
    return sp_arena_printf(arena, "%" PRId64 "/%" PRId64, value.num, value.den);
}

/* ---- the difference ---- */

static bool same_reduced(struct sp_trial *trial, const struct sp_poly *part, const struct sp_values *values,
                         const struct sp_poly *gap)
{
    const struct sp_poly *reduced = sp_reduce(trial->count, part, values);
    return reduced && sp_poly_equal(reduced, gap);
}

/* The group or tensor that has just as many parameters as are missing. */
static const char *namesake(struct sp_trial *trial, const struct sp_values *values, const struct sp_poly *gap)
{
    const struct sp_count *count = trial->count;
    for (size_t i = 0; i < count->group_count; i++)
        if (same_reduced(trial, count->groups[i].parameters, values, gap))
            return sp_arena_printf(trial->arena, ": [%s]", count->groups[i].name);
    for (size_t i = 0; i < count->row_count; i++)
        if (same_reduced(trial, count->rows[i].parameters, values, gap))
            return sp_arena_printf(trial->arena, ": %s", count->rows[i].name);
    return "";
}

static const char *describe(struct sp_trial *trial, const struct sp_values *values, const struct sp_poly *error)
{
    struct sp_algebra *algebra = &trial->count->symbolic.algebra;
    const struct sp_poly *gap = sp_poly_scale(algebra, error, sp_rational_int(-1));
    const bool is_short = gap->terms[0].coefficient.num > 0;
    struct sp_text text = {0};
    sp_poly_put_factored(&text, algebra, is_short ? gap : error, SP_NOTATION_TEXT);
    const char *words = sp_arena_printf(trial->arena, "%s %s%s", is_short ? "short by" : "too large by", text.data,
                                        namesake(trial, values, is_short ? gap : error));
    sp_text_free(&text);
    return words;
}

/* ---- counter-examples ---- */

struct point {
    size_t atoms[MAX_SYMBOLS];
    int64_t values[MAX_SYMBOLS];
    size_t count;
};

static void collect_symbols(const struct sp_trial *trial, const struct sp_poly *poly, struct point *point)
{
    for (size_t atom = 0; atom < trial->count->symbolic.algebra.atom_count; atom++) {
        bool known = false;
        for (size_t i = 0; i < point->count; i++) known = known || point->atoms[i] == atom;
        if (known || !sp_poly_uses(poly, atom) || point->count == MAX_SYMBOLS) continue;
        if (!sp_symbol_of(trial->count, atom)) continue; /* no polynomial in the symbols */
        point->values[point->count] = 1;
        point->atoms[point->count++] = atom;
    }
}

static bool value_at(const struct sp_trial *trial, const struct sp_poly *poly, const struct point *point,
                     struct sp_rational *value)
{
    const size_t count = trial->count->symbolic.algebra.atom_count;
    struct sp_rational *values = sp_realloc(NULL, count, sizeof *values);
    for (size_t i = 0; i < count; i++) values[i] = sp_rational_int(1);
    for (size_t i = 0; i < point->count; i++) values[point->atoms[i]] = sp_rational_int(point->values[i]);
    const bool good = sp_poly_evaluate(poly, values, value);
    free(values);
    return good;
}

/* The comparisons that the case decides must come out that way at the point. */
struct constraint {
    const struct sp_poly *gap;
    bool equality, holds;
};

struct constraints {
    struct constraint items[MAX_SYMBOLS];
    size_t count;
};

/* False when one of them cannot be checked. */
static bool find_constraints(struct sp_trial *trial, const struct sp_values *values, struct constraints *found)
{
    found->count = 0;
    for (size_t i = 0; i < values->count; i++) {
        const struct sp_poly *gap;
        bool equality;
        if (!sp_atom_comparison(&trial->count->symbolic, values->atoms[i], &gap, &equality)) continue;
        gap = sp_reduce(trial->count, gap, values);
        if (!gap || !sp_is_transparent(trial->count, gap) || found->count == MAX_SYMBOLS) return false;
        found->items[found->count++] = (struct constraint){gap, equality, !sp_poly_is_zero(values->values[i])};
    }
    return true;
}

static bool allowed(const struct sp_trial *trial, const struct constraints *constraints, const struct point *point)
{
    for (size_t i = 0; i < constraints->count; i++) {
        const struct constraint constraint = constraints->items[i];
        struct sp_rational gap;
        if (!value_at(trial, constraint.gap, point, &gap)) return false;
        if ((constraint.equality ? gap.num == 0 : gap.num > 0) != constraint.holds) return false;
    }
    return true;
}

/* Counts up, the first symbol fastest; false after the last point. */
static bool next_point(struct point *point)
{
    for (size_t i = 0; i < point->count; i++) {
        if (++point->values[i] <= MAX_SMALL) return true;
        point->values[i] = 1;
    }
    return false;
}

/* The smallest point at which the error shows; with `whole`, one at which the sides are whole numbers. */
static bool find_point(struct sp_trial *trial, const struct constraints *constraints, const struct sp_poly *left,
                       const struct sp_poly *error, bool whole, struct point *point)
{
    struct sp_rational gap, truth;
    *point = (struct point){.count = 0};
    collect_symbols(trial, error, point);
    for (size_t i = 0; i < constraints->count; i++) collect_symbols(trial, constraints->items[i].gap, point);
    for (int tries = 0; tries < MAX_TRIES; tries++) {
        const bool shows = value_at(trial, error, point, &gap) && gap.num && allowed(trial, constraints, point);
        if (shows && (!whole || (gap.den == 1 && value_at(trial, left, point, &truth) && truth.den == 1))) return true;
        if (!next_point(point)) return false;
    }
    return false;
}

/* "E = 1, N = 1, the others 1: 13, claimed 12" */
static const char *describe_point(struct sp_trial *trial, const struct point *point, size_t shown,
                                  struct sp_rational truth, struct sp_rational claimed)
{
    struct sp_text text = {0};
    for (size_t i = 0; i < shown; i++)
        sp_text_printf(&text, "%s%s = %" PRId64, i ? ", " : "",
                       trial->count->symbolic.algebra.atoms[point->atoms[i]].text, point->values[i]);
    if (shown < point->count && shown) sp_text_puts(&text, ", the others 1");
    sp_text_printf(&text, "%s%s, claimed %s", text.length ? ": " : "", sp_rational_text(trial->arena, truth),
                   sp_rational_text(trial->arena, claimed));
    return sp_text_keep(&text, trial->arena);
}

/* Both sides at the point; a side that is no polynomial in the symbols is counted there. */
static bool sides_of(const struct sp_trial *trial, const struct sp_values *values, const struct sp_poly *left,
                     const struct sp_poly *error, const struct point *point, struct sp_rational *truth,
                     struct sp_rational *claimed)
{
    struct sp_algebra *algebra = &trial->count->symbolic.algebra;
    struct sp_values fixed = {0};
    struct sp_rational gap;
    if (sp_is_transparent(trial->count, left))
        return value_at(trial, left, point, truth) && value_at(trial, error, point, &gap) &&
               sp_rational_add(*truth, gap, claimed);
    for (size_t i = 0; i < point->count; i++)
        sp_values_add(&fixed, point->atoms[i], sp_poly_int(algebra, point->values[i]));
    for (size_t i = 0; i < values->count; i++) sp_values_add(&fixed, values->atoms[i], values->values[i]);
    const bool good = sp_trial_sides_at(trial, &fixed, truth, claimed);
    sp_values_free(&fixed);
    return good;
}

/* The symbols of what is no polynomial stand in its text alone, so all that are left are taken. */
static void collect_others(const struct sp_trial *trial, const struct sp_poly *left, const struct sp_values *values,
                           struct point *point)
{
    collect_symbols(trial, left, point);
    if (sp_is_transparent(trial->count, left)) return;
    for (size_t i = 0; i < trial->count->symbolic.symbol_count; i++) {
        const size_t atom = trial->count->symbolic.symbols[i].atom;
        bool given = trial->count->symbolic.algebra.atoms[atom].is_condition;
        for (size_t k = 0; k < values->count; k++) given = given || values->atoms[k] == atom;
        if (!given) collect_symbols(trial, sp_poly_atom(&trial->count->symbolic.algebra, atom), point);
    }
}

bool sp_trial_refute(struct sp_trial *trial, const struct sp_values *values, const struct sp_poly *error)
{
    struct constraints constraints;
    struct point point;
    struct sp_rational truth, claimed;
    const struct sp_poly *left = sp_reduce(trial->count, trial->left, values);
    if (!left || !sp_is_transparent(trial->count, error) || !find_constraints(trial, values, &constraints) ||
        (!find_point(trial, &constraints, left, error, true, &point) &&
         !find_point(trial, &constraints, left, error, false, &point)))
        return false;
    const size_t shown = point.count;
    collect_others(trial, left, values, &point); /* they are 1 */
    trial->proof.verdict = SP_REFUTED;
    trial->proof.difference = describe(trial, values, error);
    if (!sides_of(trial, values, left, error, &point, &truth, &claimed)) return true;
    const char *numbers = describe_point(trial, &point, shown, truth, claimed);
    if (point.count) trial->proof.counterexample = numbers;
    else trial->proof.difference = numbers; /* of two plain numbers there are no examples */
    return true;
}
