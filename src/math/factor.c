/* SPDX-License-Identifier: MIT
 * A factor that lacks an atom divides each coefficient of that atom's powers, so those of the smallest coefficient are
 * tried, which has an atom less. In a single atom the rational roots give linear factors. This finds what formulas for
 * parameters have; x^2 - y^2 stays as it is. */
#include "math/factor.h"

enum { MAX_DEPTH = 6 };

/* The result, or NULL when computing it failed, which then is no failure. */
static const struct sp_poly *attempt(struct sp_algebra *algebra, const struct sp_poly *result)
{
    if (!algebra->failed) return result;
    algebra->failed = NULL;
    return NULL;
}

/* ---- number and monomial ---- */

static struct sp_rational content_of(const struct sp_poly *a)
{
    struct sp_rational content = {0, 1};
    for (size_t i = 0; i < a->count; i++)
        if (!sp_rational_gcd(content, a->terms[i].coefficient, &content)) content = sp_rational_int(1);
    if (a->terms[0].coefficient.num < 0) content.num = -content.num;
    return content;
}

/* What all terms share, but no negative exponents: 1 + k/h is simpler than (h + k)/h. */
static struct sp_term shared_monomial(struct sp_algebra *algebra, const struct sp_poly *a)
{
    const struct sp_degrees degrees = sp_terms_degrees(algebra, a, &algebra->arena);
    struct sp_factor *factors = sp_arena_array(&algebra->arena, algebra->atom_count, sizeof *factors);
    struct sp_term shared = {content_of(a), factors, 0};
    for (size_t which = 0; which < algebra->atom_count; which++)
        if (degrees.low[which] > 0) factors[shared.count++] = (struct sp_factor){which, degrees.low[which]};
    return shared;
}

static const struct sp_poly *divide_by_term(struct sp_algebra *algebra, const struct sp_poly *a,
                                            const struct sp_term *term)
{
    const struct sp_poly single = {term, 1};
    return attempt(algebra, sp_poly_divide(algebra, a, &single));
}

/* ---- divisors ---- */

struct division {
    const struct sp_poly *divisor, *quotient;
};

static void factor(struct sp_algebra *algebra, const struct sp_poly *a, int depth, struct sp_factors *factors);

static bool divide(struct sp_algebra *algebra, const struct sp_poly *a, const struct sp_poly *by,
                   struct division *found)
{
    *found = (struct division){by, attempt(algebra, sp_poly_divide(algebra, a, by))};
    return found->quotient;
}

static const struct sp_poly *smallest_coefficient(struct sp_algebra *algebra, const struct sp_poly *a, size_t which)
{
    const struct sp_poly *smallest = a;
    for (int e = sp_poly_low_degree(a, which); e <= sp_poly_degree(a, which) && smallest->count > 1; e++) {
        const struct sp_poly *coefficient = sp_poly_coefficient(algebra, a, which, e);
        if (coefficient->count && coefficient->count < smallest->count) smallest = coefficient;
    }
    return smallest;
}

static bool divisor_without(struct sp_algebra *algebra, const struct sp_poly *a, size_t which, int depth,
                            struct division *found)
{
    const struct sp_poly *smallest = smallest_coefficient(algebra, a, which);
    struct sp_factors candidates;
    if (smallest->count < 2 || smallest->count == a->count) return false;
    factor(algebra, smallest, depth + 1, &candidates);
    for (size_t i = 0; i < candidates.count; i++)
        if (divide(algebra, a, candidates.sums[i], found)) return true;
    return false;
}

/* b*A - A is (b - 1)*A. */
static bool divisor_of_condition(struct sp_algebra *algebra, const struct sp_poly *a, size_t which,
                                 struct division *found)
{
    const struct sp_poly *with = sp_poly_coefficient(algebra, a, which, 1);
    const struct sp_poly *rest = sp_poly_coefficient(algebra, a, which, 0);
    if (with->count < 2 || !sp_poly_is_zero(sp_poly_add(algebra, with, rest))) return false;
    found->divisor = sp_poly_sub(algebra, sp_poly_atom(algebra, which), sp_poly_int(algebra, 1));
    found->quotient = with;
    return true;
}

/* With y = n*x, n being the first coefficient, rational roots in x are integers in y. `sign` says which are sought. */
static bool linear_divisor(struct sp_algebra *algebra, const struct sp_poly *a, size_t which, int sign,
                           struct division *found)
{
    const struct sp_poly *x = sp_poly_atom(algebra, which);
    struct sp_rational lead = a->terms[0].coefficient, scale, inverse;
    int64_t root;
    bool complete;
    if (sp_poly_degree(a, which) < 2 || sp_poly_low_degree(a, which) < 0) return false;
    if (!sp_rational_power(lead, sp_poly_degree(a, which) - 1, &scale)) return false;
    if (!sp_rational_div(sp_rational_int(sign), lead, &inverse)) return false;
    const struct sp_poly *in_y = sp_poly_substitute(algebra, a, which, sp_poly_scale(algebra, x, inverse));
    in_y = attempt(algebra, sp_poly_scale(algebra, in_y, scale));
    if (!in_y || sp_poly_roots(algebra, in_y, which, &root, 1, &complete) == 0) return false;
    const struct sp_poly *linear =
        sp_poly_sub(algebra, sp_poly_scale(algebra, x, lead), sp_poly_int(algebra, sign * root));
    const struct sp_term shared = {content_of(linear), NULL, 0};
    linear = divide_by_term(algebra, linear, &shared);
    return linear && divide(algebra, a, linear, found);
}

static bool is_univariate(const struct sp_poly *a, size_t which)
{
    for (size_t i = 0; i < a->count; i++)
        if (a->terms[i].count > 1 || (a->terms[i].count == 1 && a->terms[i].factors[0].atom != which)) return false;
    return true;
}

static bool find_divisor(struct sp_algebra *algebra, const struct sp_poly *a, int depth, struct division *found)
{
    for (size_t which = 0; which < algebra->atom_count; which++) {
        if (!sp_poly_uses(a, which)) continue;
        if (algebra->atoms[which].is_condition) {
            if (divisor_of_condition(algebra, a, which, found)) return true;
        } else if (is_univariate(a, which)) {
            return linear_divisor(algebra, a, which, 1, found) || linear_divisor(algebra, a, which, -1, found);
        } else if (depth < MAX_DEPTH && divisor_without(algebra, a, which, depth, found)) return true;
    }
    return false;
}

static void factor(struct sp_algebra *algebra, const struct sp_poly *a, int depth, struct sp_factors *factors)
{
    struct division found;
    const struct sp_term one = {{1, 1}, NULL, 0};
    *factors = (struct sp_factors){.monomial = shared_monomial(algebra, a)};
    const struct sp_poly *rest = divide_by_term(algebra, a, &factors->monomial);
    if (!rest) {
        factors->monomial = one;
        rest = a;
    }
    while (rest->count > 1 && factors->count + 1 < SP_MAX_FACTORS && find_divisor(algebra, rest, depth, &found)) {
        factors->sums[factors->count++] = found.divisor;
        rest = found.quotient;
    }
    if (rest->count > 1) factors->sums[factors->count++] = rest;
    else sp_terms_row(algebra, &factors->monomial, rest, &algebra->arena, &factors->monomial);
}

void sp_poly_factor(struct sp_algebra *algebra, const struct sp_poly *a, struct sp_factors *factors)
{
    factor(algebra, a, 0, factors);
}
