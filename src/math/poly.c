/* SPDX-License-Identifier: MIT */
#include "math/poly.h"

#include <stdlib.h>
#include <string.h>

/* ---- atoms ---- */

void sp_algebra_free(struct sp_algebra *algebra)
{
    free(algebra->atoms);
    sp_map_free(&algebra->names);
    sp_arena_free(&algebra->arena);
    *algebra = (struct sp_algebra){0};
}

static size_t atom(struct sp_algebra *algebra, const char *text, bool is_condition)
{
    const size_t known = sp_map_get(&algebra->names, text);
    if (known != SIZE_MAX) return known;
    const char *kept = sp_arena_string(&algebra->arena, text);
    SP_GROW(algebra->atoms, algebra->atom_count, algebra->atom_capacity);
    algebra->atoms[algebra->atom_count] = (struct sp_atom){kept, is_condition};
    sp_map_add(&algebra->names, kept, algebra->atom_count);
    return algebra->atom_count++;
}

size_t sp_atom_symbol(struct sp_algebra *algebra, const char *text) { return atom(algebra, text, false); }
size_t sp_atom_condition(struct sp_algebra *algebra, const char *text) { return atom(algebra, text, true); }

static void fail(struct sp_algebra *algebra, const char *why)
{
    if (!algebra->failed) algebra->failed = why;
}

static const char overflowed[] = "a coefficient does not fit in 64 bits";

/* ---- terms: by total degree, the highest first, then by atoms ---- */

static int degree_of(const struct sp_term *term)
{
    int degree = 0;
    for (size_t i = 0; i < term->count; i++) degree += term->factors[i].exponent;
    return degree;
}

static int compare_factors(const struct sp_term *a, const struct sp_term *b)
{
    for (size_t i = 0; i < a->count && i < b->count; i++) {
        if (a->factors[i].atom != b->factors[i].atom) return a->factors[i].atom < b->factors[i].atom ? -1 : 1;
        if (a->factors[i].exponent != b->factors[i].exponent)
            return a->factors[i].exponent > b->factors[i].exponent ? -1 : 1;
    }
    return a->count != b->count ? (a->count > b->count ? -1 : 1) : 0;
}

static int compare_terms(const void *left, const void *right)
{
    const int a = degree_of(left), b = degree_of(right);
    if (a != b) return a > b ? -1 : 1;
    return compare_factors(left, right);
}

/* Takes terms in any order, with repetitions, and makes them canonical. `terms` is in the arena and is reused. */
static const struct sp_poly *canonical(struct sp_algebra *algebra, struct sp_term *terms, size_t count)
{
    struct sp_poly *poly = sp_arena_alloc(&algebra->arena, sizeof *poly);
    size_t kept = 0;
    if (count) qsort(terms, count, sizeof *terms, compare_terms);
    for (size_t i = 0; i < count;) {
        struct sp_term sum = terms[i++];
        for (; i < count && compare_terms(&sum, &terms[i]) == 0; i++)
            if (!sp_rational_add(sum.coefficient, terms[i].coefficient, &sum.coefficient)) fail(algebra, overflowed);
        if (!sp_rational_is_zero(sum.coefficient)) terms[kept++] = sum;
    }
    if (kept > SP_MAX_TERMS) fail(algebra, "the formula has too many terms");
    *poly = (struct sp_poly){terms, kept};
    return poly;
}

static struct sp_term *new_terms(struct sp_algebra *algebra, size_t count)
{
    return sp_arena_array(&algebra->arena, count, sizeof(struct sp_term));
}

const struct sp_poly *sp_poly_rational(struct sp_algebra *algebra, struct sp_rational value)
{
    struct sp_term *terms = new_terms(algebra, 1);
    terms[0] = (struct sp_term){.coefficient = value};
    return canonical(algebra, terms, 1);
}

const struct sp_poly *sp_poly_int(struct sp_algebra *algebra, int64_t value)
{
    if (value == INT64_MIN) fail(algebra, overflowed); /* has no negative */
    return sp_poly_rational(algebra, sp_rational_int(value));
}

static const struct sp_poly *power_of_atom(struct sp_algebra *algebra, size_t which, int exponent)
{
    struct sp_term *terms = new_terms(algebra, 1);
    struct sp_factor *factor = sp_arena_alloc(&algebra->arena, sizeof *factor);
    *factor = (struct sp_factor){which, exponent};
    terms[0] = (struct sp_term){{1, 1}, factor, exponent ? 1 : 0};
    return canonical(algebra, terms, 1);
}

const struct sp_poly *sp_poly_atom(struct sp_algebra *algebra, size_t which)
{
    return power_of_atom(algebra, which, 1);
}

/* ---- ring operations ---- */

const struct sp_poly *sp_poly_add(struct sp_algebra *algebra, const struct sp_poly *a, const struct sp_poly *b)
{
    struct sp_term *terms = new_terms(algebra, a->count + b->count);
    if (a->count) memcpy(terms, a->terms, a->count * sizeof *terms);
    if (b->count) memcpy(terms + a->count, b->terms, b->count * sizeof *terms);
    return canonical(algebra, terms, a->count + b->count);
}

const struct sp_poly *sp_poly_scale(struct sp_algebra *algebra, const struct sp_poly *a, struct sp_rational by)
{
    struct sp_term *terms = new_terms(algebra, a->count);
    for (size_t i = 0; i < a->count; i++) {
        terms[i] = a->terms[i];
        if (!sp_rational_mul(terms[i].coefficient, by, &terms[i].coefficient)) fail(algebra, overflowed);
    }
    return canonical(algebra, terms, a->count);
}

const struct sp_poly *sp_poly_sub(struct sp_algebra *algebra, const struct sp_poly *a, const struct sp_poly *b)
{
    return sp_poly_add(algebra, a, sp_poly_scale(algebra, b, sp_rational_int(-1)));
}

static void push_factor(struct sp_algebra *algebra, struct sp_factor *factors, size_t *count, struct sp_factor factor)
{
    if (algebra->atoms[factor.atom].is_condition && factor.exponent > 1) factor.exponent = 1;
    if (factor.exponent > SP_MAX_EXPONENT || factor.exponent < -SP_MAX_EXPONENT)
        fail(algebra, "an exponent is out of bounds");
    else if (factor.exponent) factors[(*count)++] = factor;
}

static struct sp_term multiply_terms(struct sp_algebra *algebra, const struct sp_term *a, const struct sp_term *b)
{
    struct sp_factor *factors = sp_arena_array(&algebra->arena, a->count + b->count, sizeof *factors);
    struct sp_term product = {.factors = factors};
    size_t i = 0, k = 0;
    while (i < a->count || k < b->count) {
        struct sp_factor factor;
        if (k == b->count || (i < a->count && a->factors[i].atom < b->factors[k].atom)) factor = a->factors[i++];
        else if (i == a->count || b->factors[k].atom < a->factors[i].atom) factor = b->factors[k++];
        else {
            factor = a->factors[i++];
            factor.exponent += b->factors[k++].exponent;
        }
        push_factor(algebra, factors, &product.count, factor);
    }
    if (!sp_rational_mul(a->coefficient, b->coefficient, &product.coefficient)) {
        fail(algebra, overflowed);
        product.coefficient = sp_rational_int(0);
    }
    return product;
}

const struct sp_poly *sp_poly_mul(struct sp_algebra *algebra, const struct sp_poly *a, const struct sp_poly *b)
{
    if (a->count && b->count > (size_t)SP_MAX_TERMS * 50 / a->count) {
        fail(algebra, "the formula has too many terms");
        return a;
    }
    struct sp_term *terms = new_terms(algebra, a->count * b->count);
    for (size_t i = 0; i < a->count; i++)
        for (size_t k = 0; k < b->count; k++)
            terms[i * b->count + k] = multiply_terms(algebra, &a->terms[i], &b->terms[k]);
    return canonical(algebra, terms, a->count * b->count);
}

static const struct sp_poly *inverse_term(struct sp_algebra *algebra, const struct sp_term *term)
{
    struct sp_term *terms = new_terms(algebra, 1);
    struct sp_factor *factors = sp_arena_array(&algebra->arena, term->count, sizeof *factors);
    for (size_t i = 0; i < term->count; i++)
        factors[i] = (struct sp_factor){term->factors[i].atom, -term->factors[i].exponent};
    terms[0] = (struct sp_term){.factors = factors, .count = term->count};
    if (!sp_rational_div(sp_rational_int(1), term->coefficient, &terms[0].coefficient)) fail(algebra, overflowed);
    return canonical(algebra, terms, 1);
}

const struct sp_poly *sp_poly_power(struct sp_algebra *algebra, const struct sp_poly *a, int exponent)
{
    const struct sp_poly *power = sp_poly_int(algebra, 1);
    if (exponent < 0) {
        if (a->count != 1) return NULL;
        a = inverse_term(algebra, &a->terms[0]);
        exponent = -exponent;
    }
    for (; exponent && !algebra->failed; exponent--) power = sp_poly_mul(algebra, power, a);
    return power;
}

/* ---- division ---- */

/* Division by a sum needs a well-order, so negative exponents are cleared first: x^-2 + x becomes 1 + x^3. */
static const struct sp_poly *clear_denominators(struct sp_algebra *algebra, const struct sp_poly *a,
                                                const struct sp_poly **by)
{
    *by = sp_poly_int(algebra, 1);
    for (size_t which = 0; which < algebra->atom_count; which++) {
        const int low = sp_poly_low_degree(a, which);
        if (low < 0) *by = sp_poly_mul(algebra, *by, power_of_atom(algebra, which, -low));
    }
    return sp_poly_mul(algebra, a, *by);
}

static bool divides(const struct sp_poly *quotient)
{
    for (size_t i = 0; i < quotient->terms[0].count; i++)
        if (quotient->terms[0].factors[i].exponent < 0) return false;
    return true;
}

static const struct sp_poly *long_division(struct sp_algebra *algebra, const struct sp_poly *rest,
                                           const struct sp_poly *b)
{
    const struct sp_poly *quotient = sp_poly_int(algebra, 0);
    const struct sp_poly *lead = inverse_term(algebra, &b->terms[0]);
    for (size_t steps = 0; rest->count && !algebra->failed; steps++) {
        const struct sp_poly first = {rest->terms, 1};
        const struct sp_poly *term = sp_poly_mul(algebra, &first, lead);
        if (!divides(term) || steps > SP_MAX_TERMS) return NULL;
        quotient = sp_poly_add(algebra, quotient, term);
        rest = sp_poly_sub(algebra, rest, sp_poly_mul(algebra, term, b));
    }
    return quotient;
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

const struct sp_poly *sp_poly_divide(struct sp_algebra *algebra, const struct sp_poly *a, const struct sp_poly *b)
{
    const struct sp_poly *shift_a, *shift_b;
    if (sp_poly_is_zero(b)) return NULL;
    if (sp_poly_is_zero(a)) return a;
    if (!conditions_allow(algebra, a, b)) return NULL;
    if (b->count == 1) return sp_poly_mul(algebra, a, inverse_term(algebra, &b->terms[0]));
    const struct sp_poly *dividend = clear_denominators(algebra, a, &shift_a);
    const struct sp_poly *divisor = clear_denominators(algebra, b, &shift_b);
    const struct sp_poly *quotient = long_division(algebra, dividend, divisor);
    if (!quotient) return NULL;
    return sp_poly_mul(algebra, quotient, sp_poly_mul(algebra, shift_b, inverse_term(algebra, &shift_a->terms[0])));
}

/* ---- looking inside ---- */

bool sp_poly_equal(const struct sp_poly *a, const struct sp_poly *b)
{
    if (a->count != b->count) return false;
    for (size_t i = 0; i < a->count; i++)
        if (compare_terms(&a->terms[i], &b->terms[i]) != 0 ||
            sp_rational_compare(a->terms[i].coefficient, b->terms[i].coefficient) != 0)
            return false;
    return true;
}

bool sp_poly_is_constant(const struct sp_poly *a, struct sp_rational *value)
{
    *value = a->count ? a->terms[0].coefficient : sp_rational_int(0);
    return a->count == 0 || (a->count == 1 && a->terms[0].count == 0);
}

static int exponent_of(const struct sp_term *term, size_t which)
{
    for (size_t i = 0; i < term->count; i++)
        if (term->factors[i].atom == which) return term->factors[i].exponent;
    return 0;
}

bool sp_poly_uses(const struct sp_poly *a, size_t which)
{
    for (size_t i = 0; i < a->count; i++)
        if (exponent_of(&a->terms[i], which)) return true;
    return false;
}

int sp_poly_degree(const struct sp_poly *a, size_t which)
{
    int degree = a->count ? exponent_of(&a->terms[0], which) : 0;
    for (size_t i = 1; i < a->count; i++)
        if (exponent_of(&a->terms[i], which) > degree) degree = exponent_of(&a->terms[i], which);
    return degree;
}

int sp_poly_low_degree(const struct sp_poly *a, size_t which)
{
    int degree = a->count ? exponent_of(&a->terms[0], which) : 0;
    for (size_t i = 1; i < a->count; i++)
        if (exponent_of(&a->terms[i], which) < degree) degree = exponent_of(&a->terms[i], which);
    return degree;
}

static struct sp_term without(struct sp_algebra *algebra, const struct sp_term *term, size_t which)
{
    struct sp_factor *factors = sp_arena_array(&algebra->arena, term->count, sizeof *factors);
    struct sp_term rest = {term->coefficient, factors, 0};
    for (size_t i = 0; i < term->count; i++)
        if (term->factors[i].atom != which) factors[rest.count++] = term->factors[i];
    return rest;
}

const struct sp_poly *sp_poly_coefficient(struct sp_algebra *algebra, const struct sp_poly *a, size_t which,
                                          int exponent)
{
    struct sp_term *terms = new_terms(algebra, a->count);
    size_t count = 0;
    for (size_t i = 0; i < a->count; i++)
        if (exponent_of(&a->terms[i], which) == exponent) terms[count++] = without(algebra, &a->terms[i], which);
    return canonical(algebra, terms, count);
}

const struct sp_poly *sp_poly_substitute(struct sp_algebra *algebra, const struct sp_poly *a, size_t which,
                                         const struct sp_poly *value)
{
    const struct sp_poly *result = sp_poly_int(algebra, 0);
    for (int e = sp_poly_low_degree(a, which), top = sp_poly_degree(a, which); e <= top && !algebra->failed; e++) {
        const struct sp_poly *coefficient = sp_poly_coefficient(algebra, a, which, e);
        if (sp_poly_is_zero(coefficient)) continue;
        const struct sp_poly *power = e < 0 && sp_poly_is_zero(value) ? NULL : sp_poly_power(algebra, value, e);
        if (!power) return NULL;
        result = sp_poly_add(algebra, result, sp_poly_mul(algebra, coefficient, power));
    }
    return result;
}

static bool evaluate_term(const struct sp_term *term, const struct sp_rational *values, struct sp_rational *result)
{
    struct sp_rational power;
    *result = term->coefficient;
    for (size_t i = 0; i < term->count; i++)
        if (!sp_rational_power(values[term->factors[i].atom], term->factors[i].exponent, &power) ||
            !sp_rational_mul(*result, power, result))
            return false;
    return true;
}

bool sp_poly_evaluate(const struct sp_poly *a, const struct sp_rational *values, struct sp_rational *result)
{
    struct sp_rational sum = {0, 1}, term;
    for (size_t i = 0; i < a->count; i++)
        if (!evaluate_term(&a->terms[i], values, &term) || !sp_rational_add(sum, term, &sum)) return false;
    *result = sum;
    return true;
}
