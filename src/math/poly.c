/* SPDX-License-Identifier: MIT */
#include "math/poly.h"

#include <stdlib.h>
#include <string.h>

#include "math/terms.h"

enum { MAX_PRODUCTS = 1 << 20, MAX_PRODUCT_FACTORS = 8 << 20 };

/* ---- atoms ---- */

void sp_algebra_free(struct sp_algebra *algebra)
{
    sp_free(algebra->atoms);
    sp_map_free(&algebra->names);
    sp_arena_free(&algebra->arena);
    *algebra = (struct sp_algebra){0};
}

static size_t atom(struct sp_algebra *algebra, const char *text, bool is_condition)
{
    const size_t known = sp_map_get(&algebra->names, text);
    if (known != SIZE_MAX) {
        if (algebra->atoms[known].is_condition != is_condition)
            sp_algebra_fail(algebra, "a name stands for a number and for a condition");
        return known;
    }
    const char *kept = sp_arena_string(&algebra->arena, text);
    SP_GROW(algebra->atoms, algebra->atom_count, algebra->atom_capacity);
    algebra->atoms[algebra->atom_count] = (struct sp_atom){.text = kept, .is_condition = is_condition};
    sp_map_add(&algebra->names, kept, algebra->atom_count);
    return algebra->atom_count++;
}

size_t sp_atom_symbol(struct sp_algebra *algebra, const char *text) { return atom(algebra, text, false); }
size_t sp_atom_condition(struct sp_algebra *algebra, const char *text) { return atom(algebra, text, true); }

bool sp_atom_rename(struct sp_algebra *algebra, size_t which, const char *text)
{
    const size_t known = sp_map_get(&algebra->names, text);
    if (known != SIZE_MAX) return known == which;
    text = sp_arena_string(&algebra->arena, text);
    sp_map_add(&algebra->names, text, which);
    algebra->atoms[which].text = text;
    return true;
}

/* ---- single terms ---- */

static const struct sp_poly *single(struct sp_algebra *algebra, struct sp_term term)
{
    return sp_terms_keep(algebra, &term, sp_rational_is_zero(term.coefficient) ? 0 : 1);
}

const struct sp_poly *sp_poly_rational(struct sp_algebra *algebra, struct sp_rational value)
{
    struct sp_term term = {.count = 0};
    if (!sp_rational_make(value.num, value.den, &term.coefficient))
        return sp_algebra_fail(algebra, sp_algebra_overflowed);
    return single(algebra, term);
}

/* Nearly all whole numbers in formulas are these, which are in the memory of no algebra. */
static const struct sp_term term_1 = {{1, 1}, NULL, 0}, term_2 = {{2, 1}, NULL, 0};
static const struct sp_poly small_numbers[] = {{NULL, 0}, {&term_1, 1}, {&term_2, 1}};

const struct sp_poly *sp_poly_int(struct sp_algebra *algebra, int64_t value)
{
    if (algebra->failed) return &sp_poly_invalid;
    if (value >= 0 && value < (int64_t)(sizeof small_numbers / sizeof *small_numbers)) return &small_numbers[value];
    return sp_poly_rational(algebra, sp_rational_int(value));
}

const struct sp_poly *sp_poly_atom(struct sp_algebra *algebra, size_t which)
{
    const struct sp_factor factor = {which, 1};
    return single(algebra, (struct sp_term){{1, 1}, &factor, 1});
}

/* ---- sums ---- */

const struct sp_poly *sp_poly_add(struct sp_algebra *algebra, const struct sp_poly *a, const struct sp_poly *b)
{
    if (algebra->failed) return &sp_poly_invalid;
    if (!a || !b) return NULL;
    if (sp_poly_is_zero(a)) return b;
    if (sp_poly_is_zero(b)) return a;
    struct sp_term *terms = sp_terms_new(algebra, a->count + b->count);
    if (!terms) return &sp_poly_invalid;
    return sp_terms_wrap(algebra, terms, sp_terms_merge(algebra, a->terms, a->count, b->terms, b->count, terms));
}

const struct sp_poly *sp_poly_scale(struct sp_algebra *algebra, const struct sp_poly *a, struct sp_rational by)
{
    if (algebra->failed) return &sp_poly_invalid;
    if (!a) return NULL;
    if (sp_rational_is_zero(by)) return sp_poly_int(algebra, 0);
    struct sp_term *terms = sp_terms_new(algebra, a->count);
    for (size_t i = 0; terms && i < a->count; i++) {
        terms[i] = a->terms[i];
        if (!sp_rational_mul(terms[i].coefficient, by, &terms[i].coefficient))
            return sp_algebra_fail(algebra, sp_algebra_overflowed);
    }
    return sp_terms_wrap(algebra, terms, a->count);
}

const struct sp_poly *sp_poly_sub(struct sp_algebra *algebra, const struct sp_poly *a, const struct sp_poly *b)
{
    return sp_poly_add(algebra, a, sp_poly_scale(algebra, b, sp_rational_int(-1)));
}

static struct sp_terms merge_lists(struct sp_algebra *algebra, struct sp_terms a, struct sp_terms b)
{
    struct sp_terms both = {sp_realloc(NULL, a.count + b.count, sizeof(struct sp_term)), 0};
    both.count = sp_terms_merge(algebra, a.at, a.count, b.at, b.count, both.at);
    sp_free(a.at);
    sp_free(b.at);
    return both;
}

/* Halves are added, and halves of halves: the depth is the logarithm of the count. */
static struct sp_terms total_of(struct sp_algebra *algebra, const struct sp_poly *const *parts, size_t count)
{
    if (count == 1) {
        struct sp_terms one = {sp_realloc(NULL, parts[0]->count, sizeof(struct sp_term)), parts[0]->count};
        if (one.count) memcpy(one.at, parts[0]->terms, one.count * sizeof *one.at);
        return one;
    }
    const struct sp_terms left = total_of(algebra, parts, count / 2);
    return merge_lists(algebra, left, total_of(algebra, parts + count / 2, count - count / 2));
}

const struct sp_poly *sp_poly_total(struct sp_algebra *algebra, const struct sp_poly *const *parts, size_t count)
{
    if (algebra->failed) return &sp_poly_invalid;
    if (count == 0) return sp_poly_int(algebra, 0);
    for (size_t i = 0; i < count; i++)
        if (!parts[i]) return NULL;
    const struct sp_terms sum = total_of(algebra, parts, count);
    const struct sp_poly *kept = sp_terms_keep(algebra, sum.at, sum.count);
    sp_free(sum.at);
    return kept;
}

/* ---- products ---- */

struct product {
    struct sp_algebra *algebra;
    const struct sp_poly *a, *b;
    struct sp_arena factors;
};

/* The terms from `from` to `to` of a, times b: each row is in order already, and neighbours are merged. */
static struct sp_terms rows(struct product *product, size_t from, size_t to)
{
    if (to - from == 1) {
        struct sp_terms row = {sp_realloc(NULL, product->b->count, sizeof(struct sp_term)), 0};
        row.count = sp_terms_row(product->algebra, &product->a->terms[from], product->b, &product->factors, row.at);
        return row;
    }
    const size_t middle = from + (to - from) / 2;
    const struct sp_terms left = rows(product, from, middle);
    return merge_lists(product->algebra, left, rows(product, middle, to));
}

static size_t count_factors(const struct sp_poly *a)
{
    size_t count = 0;
    for (size_t i = 0; i < a->count; i++) count += a->terms[i].count;
    return count;
}

static bool is_too_much(const struct sp_poly *a, const struct sp_poly *b)
{
    if (b->count > MAX_PRODUCTS / a->count) return true;
    return count_factors(a) * b->count + count_factors(b) * a->count > MAX_PRODUCT_FACTORS;
}

/* A product with a single term, the most frequent one: its only row is the result, and is made in its place. */
static const struct sp_poly *multiply_by_term(struct sp_algebra *algebra, const struct sp_term *term,
                                              const struct sp_poly *b)
{
    struct sp_term *terms = sp_terms_new(algebra, b->count);
    if (!terms) return &sp_poly_invalid;
    const size_t count = sp_terms_row(algebra, term, b, &algebra->arena, terms);
    return sp_terms_wrap(algebra, terms, count);
}

const struct sp_poly *sp_poly_mul(struct sp_algebra *algebra, const struct sp_poly *a, const struct sp_poly *b)
{
    if (algebra->failed) return &sp_poly_invalid;
    if (!a || !b) return NULL;
    if (sp_poly_is_zero(a) || sp_poly_is_zero(b)) return sp_poly_is_zero(a) ? a : b;
    if (is_too_much(a, b)) return sp_algebra_fail(algebra, "the formula has too many terms");
    struct product product = {.algebra = algebra, .a = a->count < b->count ? a : b, .b = a->count < b->count ? b : a};
    if (product.a->count == 1) return multiply_by_term(algebra, product.a->terms, product.b);
    const struct sp_terms terms = rows(&product, 0, product.a->count);
    const struct sp_poly *kept = sp_terms_keep(algebra, terms.at, terms.count);
    sp_free(terms.at);
    sp_arena_free(&product.factors);
    return kept;
}

/* ---- powers ---- */

/* The exponents are multiplied; a condition keeps its 1. */
static const struct sp_poly *power_of_term(struct sp_algebra *algebra, struct sp_term term, int exponent)
{
    struct sp_factor *factors = sp_arena_array(&algebra->arena, term.count, sizeof *factors);
    for (size_t i = 0; i < term.count; i++) {
        const int64_t wide = (int64_t)term.factors[i].exponent * exponent;
        const bool keeps = algebra->atoms[term.factors[i].atom].is_condition;
        if (!keeps && (wide > SP_MAX_EXPONENT || wide < -SP_MAX_EXPONENT))
            return sp_algebra_fail(algebra, "an exponent is out of bounds");
        factors[i] = (struct sp_factor){term.factors[i].atom, keeps ? 1 : (int)wide};
    }
    term.factors = factors;
    if (!sp_rational_power(term.coefficient, exponent, &term.coefficient))
        return sp_algebra_fail(algebra, sp_algebra_overflowed);
    return single(algebra, term);
}

/* By squaring: no sum has a high power that fits, but for those in which a condition is, such as 1 - b. */
static const struct sp_poly *power_of_sum(struct sp_algebra *algebra, const struct sp_poly *a, int exponent)
{
    const struct sp_poly *power = sp_poly_int(algebra, 1);
    for (; exponent && !algebra->failed; exponent /= 2) {
        if (exponent % 2) power = sp_poly_mul(algebra, power, a);
        if (exponent > 1) a = sp_poly_mul(algebra, a, a);
    }
    return algebra->failed ? &sp_poly_invalid : power;
}

const struct sp_poly *sp_poly_power(struct sp_algebra *algebra, const struct sp_poly *a, int exponent)
{
    struct sp_term inverse;
    if (algebra->failed) return &sp_poly_invalid;
    if (!a) return NULL;
    if (exponent == 0) return sp_poly_int(algebra, 1);
    if (exponent > 0 && a->count != 1) return power_of_sum(algebra, a, exponent);
    if (exponent > 0) return power_of_term(algebra, a->terms[0], exponent);
    if (a->count != 1 || sp_term_has_condition(algebra, &a->terms[0])) return NULL;
    if (!sp_term_inverse(algebra, &a->terms[0], &inverse)) return NULL;
    return power_of_term(algebra, inverse, exponent == INT32_MIN ? INT32_MAX : -exponent);
}

/* ---- looking inside ---- */

bool sp_poly_equal(const struct sp_poly *a, const struct sp_poly *b)
{
    if (!a || !b || a == &sp_poly_invalid || b == &sp_poly_invalid || a->count != b->count) return false;
    for (size_t i = 0; i < a->count; i++)
        if (sp_terms_compare(&a->terms[i], &b->terms[i]) != 0 ||
            sp_rational_compare(a->terms[i].coefficient, b->terms[i].coefficient) != 0)
            return false;
    return true;
}

bool sp_poly_is_constant(const struct sp_poly *a, struct sp_rational *value)
{
    *value = a && a->count ? a->terms[0].coefficient : sp_rational_int(0);
    if (!a || a == &sp_poly_invalid) return false;
    return a->count == 0 || (a->count == 1 && a->terms[0].count == 0);
}

bool sp_poly_uses(const struct sp_poly *a, size_t which)
{
    for (size_t i = 0; a && i < a->count; i++)
        if (sp_term_exponent(&a->terms[i], which)) return true;
    return false;
}

int sp_poly_degree(const struct sp_poly *a, size_t which)
{
    int degree = a && a->count ? sp_term_exponent(&a->terms[0], which) : 0;
    for (size_t i = 1; a && i < a->count; i++) {
        const int exponent = sp_term_exponent(&a->terms[i], which);
        if (exponent > degree) degree = exponent;
    }
    return degree;
}

int sp_poly_low_degree(const struct sp_poly *a, size_t which)
{
    int degree = a && a->count ? sp_term_exponent(&a->terms[0], which) : 0;
    for (size_t i = 1; a && i < a->count; i++) {
        const int exponent = sp_term_exponent(&a->terms[i], which);
        if (exponent < degree) degree = exponent;
    }
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
    size_t count = 0, kept = 0;
    if (!a) return NULL;
    for (size_t i = 0; i < a->count; i++) count += sp_term_exponent(&a->terms[i], which) == exponent;
    struct sp_term *terms = algebra->failed ? NULL : sp_terms_new(algebra, count);
    if (!terms) return &sp_poly_invalid;
    for (size_t i = 0; i < a->count; i++)
        if (sp_term_exponent(&a->terms[i], which) == exponent) terms[kept++] = without(algebra, &a->terms[i], which);
    return sp_terms_wrap(algebra, terms, count); /* still in order: all were divided by the same */
}

/* ---- values ---- */

const struct sp_poly *sp_poly_substitute(struct sp_algebra *algebra, const struct sp_poly *a, size_t which,
                                         const struct sp_poly *value)
{
    const int low = sp_poly_low_degree(a, which), high = sp_poly_degree(a, which);
    const struct sp_poly *result = sp_poly_int(algebra, 0), *power = sp_poly_power(algebra, value, low);
    if (!a || !power) return NULL;
    for (int e = low, reached = low; e <= high && !algebra->failed; e++) {
        const struct sp_poly *coefficient = sp_poly_coefficient(algebra, a, which, e);
        if (sp_poly_is_zero(coefficient)) continue;
        /* From x^-1 to x^0 is a step by x, too: where there are negative powers the value is a single term, not 0. */
        power = sp_poly_mul(algebra, power, sp_poly_power(algebra, value, e - reached));
        reached = e;
        result = sp_poly_add(algebra, result, sp_poly_mul(algebra, coefficient, power));
    }
    return algebra->failed ? &sp_poly_invalid : result;
}

/* The term with the numbers in it; the factors that stay go into `factors`. False for 0 below a fraction line; on
 * overflow the algebra fails. */
static bool put_in_term(struct sp_algebra *algebra, const struct sp_term *term,
                        const struct sp_rational *const *numbers, struct sp_factor *factors, struct sp_term *result)
{
    *result = (struct sp_term){term->coefficient, factors, 0};
    for (size_t i = 0; i < term->count; i++) {
        const struct sp_factor factor = term->factors[i];
        struct sp_rational power;
        if (!numbers[factor.atom]) {
            factors[result->count++] = factor;
            continue;
        }
        if (factor.exponent < 0 && sp_rational_is_zero(*numbers[factor.atom])) return false;
        if (!sp_rational_power(*numbers[factor.atom], factor.exponent, &power) ||
            !sp_rational_mul(result->coefficient, power, &result->coefficient))
            sp_algebra_fail(algebra, sp_algebra_overflowed);
    }
    return true;
}

/* Numbers in the places of atoms, in one pass: atom i becomes *numbers[i], and stays where that is NULL. In x*y + 2*x
 * the number 3 for y gives 5*x. NULL for 0 below a fraction line. */
static const struct sp_poly *put_numbers(struct sp_algebra *algebra, const struct sp_poly *a,
                                         const struct sp_rational *const *numbers)
{
    struct sp_term *terms = sp_realloc(NULL, a->count, sizeof *terms);
    struct sp_factor *factors = sp_realloc(NULL, count_factors(a), sizeof *factors), *next = factors;
    bool exists = true;
    for (size_t i = 0; i < a->count && exists; i++) {
        exists = put_in_term(algebra, &a->terms[i], numbers, next, &terms[i]);
        next += terms[i].count;
    }
    const struct sp_poly *result = NULL;
    if (exists) result = sp_terms_keep(algebra, terms, sp_terms_sort(algebra, terms, a->count));
    sp_free(terms);
    sp_free(factors);
    return result;
}

/* Puts in those of the values that are numbers; is_put[i] tells which were. */
static const struct sp_poly *substitute_numbers(struct sp_algebra *algebra, const struct sp_poly *a,
                                                const size_t *atoms, const struct sp_poly *const *values, size_t count,
                                                bool *is_put)
{
    struct sp_rational *constants = sp_realloc(NULL, count, sizeof *constants);
    const struct sp_rational **numbers = sp_realloc(NULL, algebra->atom_count, sizeof *numbers);
    for (size_t i = 0; i < algebra->atom_count; i++) numbers[i] = NULL;
    for (size_t i = 0; i < count; i++) {
        is_put[i] = sp_poly_is_constant(values[i], &constants[i]);
        if (is_put[i]) numbers[atoms[i]] = &constants[i];
    }
    const struct sp_poly *put = put_numbers(algebra, a, numbers);
    for (size_t i = 0; !put && i < count; i++) is_put[i] = false;
    sp_free(constants);
    sp_free(numbers);
    return put ? put : a;
}

/* The polynomials on the way to the result are in an arena of their own, which is freed at the end. */
const struct sp_poly *sp_poly_substitute_all(struct sp_algebra *algebra, const struct sp_poly *a, const size_t *atoms,
                                             const struct sp_poly *const *values, size_t count)
{
    if (algebra->failed) return &sp_poly_invalid;
    if (!a || count == 0) return a;
    const struct sp_arena kept = algebra->arena;
    const struct sp_poly *result;
    bool *is_put = sp_realloc(NULL, count, sizeof *is_put);
    algebra->arena = (struct sp_arena){.used = kept.used}; /* what is used counts against the limit as before */
    result = substitute_numbers(algebra, a, atoms, values, count, is_put);
    for (size_t i = 0; i < count; i++) {
        const struct sp_poly *put = is_put[i] ? NULL : sp_poly_substitute(algebra, result, atoms[i], values[i]);
        if (put) result = put;
    }
    struct sp_arena scratch = algebra->arena;
    algebra->arena = kept;
    if (result != a) result = sp_terms_keep(algebra, result->terms, result->count);
    sp_arena_free(&scratch);
    sp_free(is_put);
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
    if (!a) return false;
    for (size_t i = 0; i < a->count; i++)
        if (!evaluate_term(&a->terms[i], values, &term) || !sp_rational_add(sum, term, &sum)) return false;
    *result = sum;
    return true;
}
