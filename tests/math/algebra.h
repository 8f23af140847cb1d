/* SPDX-License-Identifier: MIT
 * What the tests of the algebra share: random numbers that are the same in every run, random polynomials and points. */
#ifndef TESTS_MATH_ALGEBRA_H
#define TESTS_MATH_ALGEBRA_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "math/poly.h"

/* ---- random numbers (splitmix64) ---- */

static inline uint64_t random_bits(uint64_t *seed)
{
    uint64_t z = *seed += 0x9e3779b97f4a7c15U;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9U;
    z = (z ^ z >> 27) * 0x94d049bb133111ebU;
    return z ^ z >> 31;
}

static inline int64_t random_between(uint64_t *seed, int64_t from, int64_t to)
{
    return from + (int64_t)(random_bits(seed) % (uint64_t)(to - from + 1));
}

static inline int64_t random_nonzero(uint64_t *seed, int64_t most)
{
    const int64_t value = random_between(seed, 1, most);
    return random_bits(seed) & 1 ? value : -value;
}

static inline struct sp_rational fraction(int64_t num, int64_t den)
{
    struct sp_rational value;
    assert_true(sp_rational_make(num, den, &value));
    return value;
}

static inline bool same_number(struct sp_rational a, struct sp_rational b) { return a.num == b.num && a.den == b.den; }

/* ---- an algebra of four symbols and two conditions ---- */

enum { SYMBOLS = 4, ATOMS = 6 };

static inline struct sp_algebra new_algebra(void)
{
    struct sp_algebra algebra = {0};
    static const char *const names[ATOMS] = {"x", "y", "zeta", "w_0", "tied", "b"};
    for (size_t i = 0; i < ATOMS; i++)
        assert_int_equal(i < SYMBOLS ? sp_atom_symbol(&algebra, names[i]) : sp_atom_condition(&algebra, names[i]), i);
    return algebra;
}

struct shape {
    int terms, low, high; /* at most so many terms; exponents of symbols are from low to high */
    int64_t number;       /* numerators up to this */
    int64_t den;          /* denominators up to this */
    size_t atoms;         /* the first so many atoms are used */
};

static const struct shape small_shape = {5, 0, 3, 6, 3, ATOMS}, laurent_shape = {4, -2, 2, 6, 2, ATOMS},
                          integer_shape = {5, 0, 3, 9, 1, SYMBOLS};

static inline const struct sp_poly *random_term(struct sp_algebra *algebra, uint64_t *seed, struct shape shape)
{
    const struct sp_rational number = fraction(random_nonzero(seed, shape.number), random_between(seed, 1, shape.den));
    const struct sp_poly *term = sp_poly_rational(algebra, number);
    for (size_t i = 0; i < shape.atoms; i++) {
        if (random_bits(seed) % 2) continue; /* half of the atoms are absent */
        const int exponent = (int)(i < SYMBOLS ? random_between(seed, shape.low, shape.high) : 1);
        term = sp_poly_mul(algebra, term, sp_poly_power(algebra, sp_poly_atom(algebra, i), exponent));
    }
    return term;
}

static inline const struct sp_poly *random_poly(struct sp_algebra *algebra, uint64_t *seed, struct shape shape)
{
    const struct sp_poly *sum = sp_poly_int(algebra, 0);
    for (int64_t left = random_between(seed, 0, shape.terms); left; left--)
        sum = sp_poly_add(algebra, sum, random_term(algebra, seed, shape));
    return sum;
}

/* A value for every atom: small fractions, none of them 0, for symbols; 0 or 1 for conditions. */
static inline void random_point(uint64_t *seed, struct sp_rational values[ATOMS])
{
    for (size_t i = 0; i < ATOMS; i++)
        values[i] = i < SYMBOLS ? fraction(random_nonzero(seed, 5), random_between(seed, 1, 3))
                                : sp_rational_int((int64_t)(random_bits(seed) & 1));
}

static inline struct sp_rational value_at(const struct sp_poly *a, const struct sp_rational *values)
{
    struct sp_rational value = {0, 1};
    assert_true(sp_poly_evaluate(a, values, &value));
    return value;
}

/* ---- messages ---- */

/* Term by term with the numbers of the atoms, independent of the printer under test. */
static inline void show(const char *label, const struct sp_poly *a)
{
    print_message("%s:%s", label, a ? "" : " NULL");
    for (size_t i = 0; a && i < a->count; i++) {
        const struct sp_term *term = &a->terms[i];
        print_message(" %+lld/%lld", (long long)term->coefficient.num, (long long)term->coefficient.den);
        for (size_t k = 0; k < term->count; k++)
            print_message("*a%zu^%d", term->factors[k].atom, term->factors[k].exponent);
    }
    print_message("\n");
}

/* What every polynomial promises: order, no zero, lowest terms, factors in order and none of exponent 0. */
static inline bool is_canonical(const struct sp_algebra *algebra, const struct sp_poly *a)
{
    for (size_t i = 0; i < a->count; i++) {
        const struct sp_term *term = &a->terms[i];
        struct sp_rational lowest;
        if (!sp_rational_make(term->coefficient.num, term->coefficient.den, &lowest)) return false;
        if (lowest.num == 0 || !same_number(lowest, term->coefficient)) return false;
        for (size_t k = 0; k < term->count; k++) {
            const struct sp_factor factor = term->factors[k];
            if (factor.exponent == 0 || (k && term->factors[k - 1].atom >= factor.atom)) return false;
            if (algebra->atoms[factor.atom].is_condition && factor.exponent != 1) return false;
        }
    }
    return true;
}

static inline void expect_equal(const struct sp_algebra *algebra, const char *law, const struct sp_poly *a,
                                const struct sp_poly *b)
{
    if (algebra->failed) fail_msg("%s: %s", law, algebra->failed);
    if (a && b && sp_poly_equal(a, b) && is_canonical(algebra, a) && is_canonical(algebra, b)) return;
    show("left ", a);
    show("right", b);
    fail_msg("%s does not hold", law);
}

#endif
