/* SPDX-License-Identifier: MIT
 * Claims at points: the table is counted there with every hyper-parameter fixed, so that floors, lists and loops have
 * values. What is no polynomial identity is tried at random points; examples have one point, their own. */
#include <stdlib.h>
#include <string.h>

#include "prove/trial.h"

enum { POINTS = 60 };

/* ---- examples ---- */

static bool number_of_claim_side(struct sp_trial *trial, const struct sp_poly *side, const struct sp_values *values,
                                 struct sp_rational *number)
{
    const struct sp_poly *reduced = sp_reduce(trial->count, side, values);
    if (!reduced) return sp_trial_undecided(trial, "division by zero");
    if (sp_poly_is_constant(reduced, number)) return true;
    return sp_trial_undecided(trial, sp_arena_printf(trial->arena, "what is the value of %s?",
                                                     sp_sym_text(&trial->count->symbolic, reduced)));
}

bool sp_trial_numbers(struct sp_trial *trial, struct sp_rational *left, struct sp_rational *right)
{
    struct sp_values all = {0};
    for (size_t i = 0; i < trial->when.count; i++) sp_values_add(&all, trial->when.atoms[i], trial->when.values[i]);
    sp_values_add_defaults(trial->count, &all, false);
    const bool good = (number_of_claim_side(trial, trial->left, &all, left) &&
                       number_of_claim_side(trial, trial->right, &all, right)) ||
                      sp_trial_sides_at(trial, &all, left, right);
    if (good) trial->proof.difference = NULL; /* what the first try had to say */
    sp_values_free(&all);
    return good;
}

/* ---- random points ---- */

static uint64_t next_random(uint64_t *state)
{
    *state = *state * 6364136223846793005U + 1442695040888963407U;
    return *state >> 33;
}

/* Sizes that divide each other often, as real ones do. */
static const int64_t sizes[] = {1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64};
enum { SIZES = sizeof sizes / sizeof *sizes };

static bool is_given_atom(const struct sp_trial *trial, size_t atom)
{
    for (size_t i = 0; i < trial->when.count; i++)
        if (trial->when.atoms[i] == atom) return true;
    return false;
}

/* What `when` demands of an atom is so at the point. */
static bool meets(struct sp_trial *trial, const struct sp_values *values, size_t which)
{
    struct sp_rational wanted, found;
    const size_t atom = trial->when.atoms[which];
    const struct sp_poly *value = sp_reduce(trial->count, trial->when.values[which], values);
    if (!value || !sp_poly_is_constant(value, &wanted) || wanted.den != 1) return false;
    if (sp_symbol_of(trial->count, atom)) return true; /* it is given that value */
    const struct sp_poly *truth = sp_reduce(trial->count, sp_poly_atom(&trial->count->symbolic.algebra, atom), values);
    return truth && sp_poly_is_constant(truth, &found) && sp_rational_compare(wanted, found) == 0;
}

static bool meets_all(struct sp_trial *trial, const struct sp_values *values)
{
    for (size_t i = 0; i < trial->when.count; i++)
        if (!meets(trial, values, i)) return false;
    return true;
}

/* A value for every symbol: what `when` says, or a random one. False when that does not meet `when`. */
static bool set_point(struct sp_trial *trial, struct sp_values *values, uint64_t *state)
{
    const struct sp_symbolic *symbolic = &trial->count->symbolic;
    for (size_t i = 0; i < symbolic->symbols.count; i++) {
        const size_t atom = symbolic->symbols.items[i].atom;
        const bool condition = symbolic->algebra.atoms[atom].is_condition;
        const int64_t value = condition ? (int64_t)(next_random(state) & 1) : sizes[next_random(state) % SIZES];
        if (!is_given_atom(trial, atom) && !strpbrk(symbolic->symbols.items[i].key, "([ "))
            sp_values_add(values, atom, sp_poly_int(&trial->count->symbolic.algebra, value));
    }
    for (size_t i = 0; i < trial->when.count; i++)
        if (sp_symbol_of(trial->count, trial->when.atoms[i]))
            sp_values_add(values, trial->when.atoms[i], trial->when.values[i]);
    return meets_all(trial, values);
}

/* Refutes the claim at the point. Where nothing must be given, it is one of two plain numbers. */
static void refute_at(struct sp_trial *trial, const struct sp_values *values, struct sp_rational left,
                      struct sp_rational right)
{
    const struct sp_poly *const sides[] = {trial->left, trial->right};
    const char *words = sp_trial_point_words(trial, values, values->count, sides, 2);
    const char *numbers = sp_trial_sides_words(trial, left, right);
    trial->proof.verdict = SP_REFUTED;
    trial->proof.difference = *words ? "differs where it was tried" : numbers;
    if (*words) trial->proof.counterexample = sp_arena_printf(trial->arena, "%s: %s", words, numbers);
}

static bool differs_at(struct sp_trial *trial, const struct sp_values *values, struct sp_rational *left,
                       struct sp_rational *right)
{
    return meets_all(trial, values) && sp_trial_sides_at(trial, values, left, right) &&
           sp_rational_compare(*left, *right) != 0 && sp_trial_is_possible(trial, values);
}

/* Makes a counter-example smaller, one hyper-parameter after the other. */
static void shrink(struct sp_trial *trial, struct sp_values *values, struct sp_rational *left,
                   struct sp_rational *right)
{
    struct sp_algebra *algebra = &trial->count->symbolic.algebra;
    for (size_t i = 0; i < values->count; i++) {
        const struct sp_poly *found = values->values[i];
        struct sp_rational size;
        if (is_given_atom(trial, values->atoms[i]) || algebra->atoms[values->atoms[i]].is_condition) continue;
        if (!sp_poly_is_constant(found, &size)) continue;
        for (size_t k = 0; k < SIZES && sizes[k] < size.num; k++) {
            struct sp_rational one, other;
            values->values[i] = sp_poly_int(algebra, sizes[k]);
            if (differs_at(trial, values, &one, &other)) {
                *left = one;
                *right = other;
                break;
            }
            values->values[i] = found;
        }
    }
}

/* 1 when the sides agree at a random point, 0 when the claim is refuted there, -1 when the point cannot be evaluated.
 */
static int try_point(struct sp_trial *trial, uint64_t *state)
{
    struct sp_values values = {0};
    struct sp_rational left = {0, 1}, right = {0, 1};
    int result = -1;
    if (set_point(trial, &values, state) && sp_trial_sides_at(trial, &values, &left, &right))
        result = sp_rational_compare(left, right) == 0;
    if (result == 0 && !sp_trial_is_possible(trial, &values)) result = -1;
    if (result == 0) {
        shrink(trial, &values, &left, &right);
        refute_at(trial, &values, left, right);
    }
    sp_values_free(&values);
    return result;
}

void sp_trial_try_points(struct sp_trial *trial)
{
    uint64_t state = 20241;
    for (int i = 0; i < POINTS; i++) {
        const int result = try_point(trial, &state);
        if (result == 0) return;
        if (result > 0) trial->proof.points++;
    }
    trial->proof.verdict = SP_TESTED;
    if (!trial->proof.points) sp_trial_undecided(trial, "is no polynomial identity, and no point could be tried");
}
