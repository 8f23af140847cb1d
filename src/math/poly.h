/* SPDX-License-Identifier: MIT
 * Polynomials in named atoms with exact rational coefficients. Exponents are integers and may be negative, so that
 * n_heads * (d_model / n_heads) is d_model. An atom is a symbol such as E, or an expression that is no polynomial
 * (min(F, L)) and so equals itself alone, by its text. An atom that is a condition has only the values 0 and 1, and its
 * square is itself.
 *
 * A polynomial is immutable and always canonical: like terms are joined, none is zero, the order is fixed. Equal
 * polynomials are equal term by term. All live in the algebra's arena, until sp_algebra_free.
 *
 * Overflow of a coefficient or exponent, more than SP_MAX_TERMS terms, more than SP_MAX_WORK terms looked at, too much
 * memory, or one name for a number and a condition makes the algebra fail: `failed` says why, and every result from
 * then on is meaningless until it is cleared. Callers compute first and ask once. A result of a failed algebra is equal
 * to nothing, not even to itself, and not zero: who forgets to ask proves nothing wrong.
 *
 * NULL is a polynomial that does not exist, such as 1/(a + b). It may be handed on wherever a polynomial is taken: what
 * is computed from it does not exist either, and it is equal to nothing, not zero, and no constant. */
#ifndef SP_MATH_POLY_H
#define SP_MATH_POLY_H

#include <stddef.h>

#include "base/arena.h"
#include "base/map.h"
#include "base/text.h"
#include "math/rational.h"

enum { SP_MAX_TERMS = 20000, SP_MAX_EXPONENT = 1000, SP_MAX_WORK = 1 << 26 };

struct sp_atom {
    const char *text;
    bool is_condition;
};

struct sp_algebra {
    struct sp_arena arena;
    struct sp_map names;
    struct sp_atom *atoms; /* heap */
    size_t atom_count, atom_capacity;
    size_t work;        /* terms looked at so far; the owner sets it to 0 where something new begins */
    const char *failed; /* NULL, or what happened */
};

struct sp_factor {
    size_t atom;
    int exponent; /* never 0 */
};

struct sp_term {
    struct sp_rational coefficient;  /* never 0 */
    const struct sp_factor *factors; /* in the order of the atoms */
    size_t count;
};

struct sp_poly {
    const struct sp_term *terms;
    size_t count;
};

/* What `failed` is after an overflow. */
extern const char sp_algebra_overflowed[];
void sp_algebra_free(struct sp_algebra *algebra);
/* The atom of that text, made when it is new. */
size_t sp_atom_symbol(struct sp_algebra *algebra, const char *text);
size_t sp_atom_condition(struct sp_algebra *algebra, const char *text);
/* Writes the atom as `text` from now on; both texts stand for it. False when another atom has that text. */
bool sp_atom_rename(struct sp_algebra *algebra, size_t atom, const char *text);

const struct sp_poly *sp_poly_rational(struct sp_algebra *algebra, struct sp_rational value);
const struct sp_poly *sp_poly_int(struct sp_algebra *algebra, int64_t value);
const struct sp_poly *sp_poly_atom(struct sp_algebra *algebra, size_t atom);

const struct sp_poly *sp_poly_add(struct sp_algebra *algebra, const struct sp_poly *a, const struct sp_poly *b);
/* The sum of many at once, which costs far less than adding one by one. */
const struct sp_poly *sp_poly_total(struct sp_algebra *algebra, const struct sp_poly *const *parts, size_t count);
const struct sp_poly *sp_poly_sub(struct sp_algebra *algebra, const struct sp_poly *a, const struct sp_poly *b);
const struct sp_poly *sp_poly_mul(struct sp_algebra *algebra, const struct sp_poly *a, const struct sp_poly *b);
const struct sp_poly *sp_poly_scale(struct sp_algebra *algebra, const struct sp_poly *a, struct sp_rational by);
/* NULL when the exponent is negative and `a` is not a single term, or has a condition, which may be 0. */
const struct sp_poly *sp_poly_power(struct sp_algebra *algebra, const struct sp_poly *a, int exponent);
/* A q for which q*b = a; NULL when there is none, or b is 0. Conditions may be 0, so b must have none but as a factor
 * that all terms of `a` have too; of the many q there are then, it is the one in which the condition is gone. */
const struct sp_poly *sp_poly_divide(struct sp_algebra *algebra, const struct sp_poly *a, const struct sp_poly *b);
/* `value` in the place of the atom; NULL when sp_poly_power has no power of it that is needed. For a condition the
 * value must be 0, 1 or a polynomial with only these values. */
const struct sp_poly *sp_poly_substitute(struct sp_algebra *algebra, const struct sp_poly *a, size_t atom,
                                         const struct sp_poly *value);
/* `values[i]` in the place of atoms[i], for all i, one after the other but for the numbers, which come first and
 * together. An atom stays where sp_poly_substitute would give NULL. Costs far less than to call that for each. */
const struct sp_poly *sp_poly_substitute_all(struct sp_algebra *algebra, const struct sp_poly *a, const size_t *atoms,
                                             const struct sp_poly *const *values, size_t count);
/* The sum of a(index) for index = first, first+1, ... last, in closed form (Faulhaber). An empty range, last =
 * first-1, gives 0; one that is emptier still has no meaning. NULL when `a` has a negative power of the index, or one
 * above 12. Atoms are constants here: the caller makes sure that none speaks of the index, as min(index, L) does. */
const struct sp_poly *sp_poly_sum(struct sp_algebra *algebra, const struct sp_poly *a, size_t index,
                                  const struct sp_poly *first, const struct sp_poly *last);

static inline bool sp_poly_is_zero(const struct sp_poly *a) { return a && a->count == 0; }
bool sp_poly_equal(const struct sp_poly *a, const struct sp_poly *b);
/* True for a number, which is then in *value. */
bool sp_poly_is_constant(const struct sp_poly *a, struct sp_rational *value);
bool sp_poly_uses(const struct sp_poly *a, size_t atom);
/* The largest and smallest exponent of the atom, 0 where it is absent. */
int sp_poly_degree(const struct sp_poly *a, size_t atom);
int sp_poly_low_degree(const struct sp_poly *a, size_t atom);
/* What is multiplied with atom^exponent. */
const struct sp_poly *sp_poly_coefficient(struct sp_algebra *algebra, const struct sp_poly *a, size_t atom,
                                          int exponent);
/* The value where each atom i is values[i]; false on overflow or a zero below a fraction line. */
bool sp_poly_evaluate(const struct sp_poly *a, const struct sp_rational *values, struct sp_rational *result);

/* The integers from 1 up at which a polynomial in that one atom is 0, in order; at most `limit`. Returns their number.
 * *complete is false when there may be more: above the limit, or because this was not decided (another atom, a degree
 * above 12, a common denominator that does not fit; 0 itself has every root). */
size_t sp_poly_roots(struct sp_algebra *algebra, const struct sp_poly *a, size_t atom, int64_t *roots, size_t limit,
                     bool *complete);

/* Whole numbers from `first` to `last`, both included; INT64_MAX is without end. */
struct sp_range {
    int64_t first, last;
};

/* Where, from 1 up, a polynomial in that one atom is not negative, in order; at most `limit` ranges. Returns their
 * number; *complete is false when the search could not decide exactly. */
size_t sp_poly_ranges(struct sp_algebra *algebra, const struct sp_poly *a, size_t atom, struct sp_range *ranges,
                      size_t limit, bool *complete);

/* "12*L*E^2 + 13*L*E + 2*E": every term for itself. */
void sp_poly_put_expanded(struct sp_text *text, const struct sp_algebra *algebra, const struct sp_poly *a);
/* "E*(V + P + 2) + L*E*(12*E + 13)": collected as a person would. */
void sp_poly_put_factored(struct sp_text *text, struct sp_algebra *algebra, const struct sp_poly *a);

#endif
