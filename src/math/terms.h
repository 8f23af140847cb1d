/* SPDX-License-Identifier: MIT
 * Ordered lists of terms, of which polynomials are made; for src/math alone. The order is by total degree, the highest
 * first, then lexicographic. Multiplying all terms of a list with one term keeps it, unless two equal conditions meet:
 * then degrees shrink. */
#ifndef SP_MATH_TERMS_H
#define SP_MATH_TERMS_H

#include "math/poly.h"

struct sp_terms {
    struct sp_term *at; /* heap */
    size_t count;
};

/* What every operation returns once the algebra has failed: it is equal to nothing, not even to itself. */
extern const struct sp_poly sp_poly_invalid;

const struct sp_poly *sp_algebra_fail(struct sp_algebra *algebra, const char *why);
/* Memory for `count` terms, or NULL when that would be more than an algebra may take. */
struct sp_term *sp_terms_new(struct sp_algebra *algebra, size_t count);
/* A polynomial of ordered terms that are in the arena. */
const struct sp_poly *sp_terms_wrap(struct sp_algebra *algebra, const struct sp_term *terms, size_t count);
/* The same of terms elsewhere, which are copied with their factors. */
const struct sp_poly *sp_terms_keep(struct sp_algebra *algebra, const struct sp_term *terms, size_t count);

/* The order of the terms, without regard to coefficients: below 0 when a comes first, 0 for like terms. */
int sp_terms_compare(const struct sp_term *a, const struct sp_term *b);
/* 0 when the atom is no factor of the term. */
int sp_term_exponent(const struct sp_term *term, size_t atom);
/* The lowest and highest exponent of every atom, an absent one counting as 0, in one pass; in `arena`. */
struct sp_degrees {
    int *low, *high;
};
struct sp_degrees sp_terms_degrees(const struct sp_algebra *algebra, const struct sp_poly *a, struct sp_arena *arena);
/* a + b into `out`, which has room for both; returns how many terms that gives, none of a failed algebra. */
size_t sp_terms_merge(struct sp_algebra *algebra, const struct sp_term *a, size_t a_count, const struct sp_term *b,
                      size_t b_count, struct sp_term *out);
/* Sorts terms, adds like ones and drops zeros, in place; returns how many are left. */
size_t sp_terms_sort(struct sp_algebra *algebra, struct sp_term *terms, size_t count);
/* by*a into `out`, which has room for a->count terms; their factors go into `factors`. Returns how many terms, none of
 * a failed algebra. */
size_t sp_terms_row(struct sp_algebra *algebra, const struct sp_term *by, const struct sp_poly *a,
                    struct sp_arena *factors, struct sp_term *out);
/* Whether one of the factors is a condition, which may be 0 and so has no inverse. */
bool sp_term_has_condition(const struct sp_algebra *algebra, const struct sp_term *term);
/* 1/term, in the arena; false on overflow. Where a condition is in it, the caller knows that it cancels. */
bool sp_term_inverse(struct sp_algebra *algebra, const struct sp_term *term, struct sp_term *inverse);

#endif
