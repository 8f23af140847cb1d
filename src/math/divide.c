/* SPDX-License-Identifier: MIT
 * Exact division. Exponents may be negative, so both sides are first divided by the largest monomial that divides all
 * their terms: after that a quotient, where there is one, has no negative exponent, and the long division of ordinary
 * polynomials finds it. Its degree in each atom is known beforehand, which ends most divisions that fail early. */
#include <stdlib.h>
#include <string.h>

#include "math/terms.h"

/* Terms looked at in one division. */
static const size_t MAX_STEPS = (size_t)1 << 24, MAX_ROWS = (size_t)1 << 20;

struct division {
    struct sp_algebra *algebra;
    const struct sp_poly *by;
    struct sp_term lead; /* 1/(first term of `by`) */
    int *most;           /* the degree of the quotient in each atom */
    struct sp_arena scratch;
};

/* The monomial of the lowest exponents. A condition does not count: b does not divide b + b*x, it may be 0. */
static struct sp_term low_monomial(struct sp_algebra *algebra, const struct sp_poly *a)
{
    const struct sp_degrees degrees = sp_terms_degrees(algebra, a, &algebra->arena);
    struct sp_factor *factors = sp_arena_array(&algebra->arena, algebra->atom_count, sizeof *factors);
    struct sp_term low = {{1, 1}, factors, 0};
    for (size_t which = 0; which < algebra->atom_count; which++)
        if (degrees.low[which] && !algebra->atoms[which].is_condition)
            factors[low.count++] = (struct sp_factor){which, degrees.low[which]};
    return low;
}

static const struct sp_poly *multiply_by(struct sp_algebra *algebra, const struct sp_poly *a, struct sp_term term)
{
    const struct sp_poly single = {&term, 1};
    return sp_poly_mul(algebra, a, &single);
}

static const struct sp_poly *divide_by(struct sp_algebra *algebra, const struct sp_poly *a, const struct sp_term *term)
{
    struct sp_term inverse;
    return sp_term_inverse(algebra, term, &inverse) ? multiply_by(algebra, a, inverse) : NULL;
}

/* A condition may be 0, so that only what has it as a factor already can be divided by it. */
static bool conditions_allow(const struct sp_algebra *algebra, const struct sp_poly *a, const struct sp_poly *b)
{
    for (size_t which = 0; which < algebra->atom_count; which++)
        if (algebra->atoms[which].is_condition && sp_poly_uses(b, which) &&
            (b->count > 1 || sp_poly_low_degree(a, which) < 1))
            return false;
    return true;
}

/* Fills the degrees of the quotient; false when one would be negative. */
static bool bound_degrees(struct division *division, const struct sp_poly *a)
{
    const struct sp_algebra *algebra = division->algebra;
    const struct sp_degrees have = sp_terms_degrees(algebra, a, &division->scratch);
    const struct sp_degrees take = sp_terms_degrees(algebra, division->by, &division->scratch);
    division->most = have.high;
    for (size_t which = 0; which < algebra->atom_count; which++)
        if ((division->most[which] -= take.high[which]) < 0) return false;
    return true;
}

static bool is_possible(const struct division *division, const struct sp_term *term)
{
    for (size_t i = 0; i < term->count; i++)
        if (term->factors[i].exponent < 0 || term->factors[i].exponent > division->most[term->factors[i].atom])
            return false;
    return true;
}

/* rest - term*by, in the place of rest. */
static void subtract(struct division *division, struct sp_terms *rest, struct sp_term term)
{
    struct sp_term *row = sp_realloc(NULL, division->by->count, sizeof *row);
    struct sp_term *left = sp_realloc(NULL, rest->count + division->by->count, sizeof *left);
    term.coefficient.num = -term.coefficient.num;
    const size_t count = sp_terms_row(division->algebra, &term, division->by, &division->scratch, row);
    rest->count = sp_terms_merge(division->algebra, rest->at, rest->count, row, count, left);
    sp_free(rest->at);
    sp_free(row);
    rest->at = left;
}

/* The terms of the quotient, each found from the first term of what is left; false when there is no quotient. */
static bool long_division(struct division *division, struct sp_terms *rest, struct sp_terms *quotient)
{
    size_t steps = 0, capacity = 0;
    while (rest->count && !division->algebra->failed) {
        const struct sp_poly lead = {&division->lead, 1};
        struct sp_term term;
        if (!sp_terms_row(division->algebra, &rest->at[0], &lead, &division->scratch, &term)) return false;
        if (!is_possible(division, &term)) return false;
        SP_GROW(quotient->at, quotient->count, capacity);
        quotient->at[quotient->count++] = term;
        steps += rest->count + division->by->count;
        if (steps > MAX_STEPS || quotient->count > MAX_ROWS / division->by->count)
            sp_algebra_fail(division->algebra, "a division takes too long");
        else subtract(division, rest, term);
    }
    return true;
}

static const struct sp_poly *divide_cleared(struct sp_algebra *algebra, const struct sp_poly *a,
                                            const struct sp_poly *by)
{
    struct division division = {.algebra = algebra, .by = by};
    struct sp_terms rest = {0}, quotient = {0};
    const struct sp_poly *result = NULL;
    if (!sp_term_inverse(algebra, &by->terms[0], &division.lead)) return NULL;
    if (!bound_degrees(&division, a)) goto out;
    rest = (struct sp_terms){sp_realloc(NULL, a->count, sizeof *rest.at), a->count};
    memcpy(rest.at, a->terms, a->count * sizeof *rest.at);
    if (long_division(&division, &rest, &quotient)) result = sp_terms_keep(algebra, quotient.at, quotient.count);
out:
    sp_free(rest.at);
    sp_free(quotient.at);
    sp_arena_free(&division.scratch);
    return result;
}

const struct sp_poly *sp_poly_divide(struct sp_algebra *algebra, const struct sp_poly *a, const struct sp_poly *b)
{
    if (algebra->failed) return &sp_poly_invalid;
    if (!a || !b || sp_poly_is_zero(b)) return NULL;
    if (sp_poly_is_zero(a)) return a;
    if (!conditions_allow(algebra, a, b)) return NULL;
    if (b->count == 1) return divide_by(algebra, a, &b->terms[0]);
    const struct sp_term low_a = low_monomial(algebra, a), low_b = low_monomial(algebra, b);
    const struct sp_poly *dividend = divide_by(algebra, a, &low_a), *divisor = divide_by(algebra, b, &low_b);
    if (algebra->failed) return &sp_poly_invalid;
    const struct sp_poly *quotient = divide_cleared(algebra, dividend, divisor);
    if (!quotient) return NULL;
    quotient = multiply_by(algebra, quotient, low_a);
    return algebra->failed ? &sp_poly_invalid : divide_by(algebra, quotient, &low_b);
}
