/* SPDX-License-Identifier: MIT */
#include "math/terms.h"

#include <stdlib.h>
#include <string.h>

#include "base/budget.h"

const char sp_algebra_overflowed[] = "a coefficient does not fit in 64 bits";

static const struct sp_term any_term = {{1, 1}, NULL, 0};
const struct sp_poly sp_poly_invalid = {&any_term, 1};

const struct sp_poly *sp_algebra_fail(struct sp_algebra *algebra, const char *why)
{
    if (!algebra->failed) algebra->failed = why;
    return &sp_poly_invalid;
}

struct sp_term *sp_terms_new(struct sp_algebra *algebra, size_t count)
{
    /* Half of the budget: then the claim is undecided, and the others are still judged. */
    const uint64_t most = sp_budget_memory() / 2, used = algebra->arena.used;
    if (sp_budget_is_short() || used > most || count > (most - used) / sizeof(struct sp_term)) {
        sp_algebra_fail(algebra, "the formulas need too much memory; --limit memory=SIZE allows more");
        return NULL;
    }
    return sp_arena_array(&algebra->arena, count, sizeof(struct sp_term));
}

const struct sp_poly *sp_terms_wrap(struct sp_algebra *algebra, const struct sp_term *terms, size_t count)
{
    if (count > SP_MAX_TERMS) return sp_algebra_fail(algebra, "the formula has too many terms");
    if (algebra->failed) return &sp_poly_invalid;
    struct sp_poly *poly = sp_arena_alloc(&algebra->arena, sizeof *poly);
    *poly = (struct sp_poly){terms, count};
    return poly;
}

const struct sp_poly *sp_terms_keep(struct sp_algebra *algebra, const struct sp_term *terms, size_t count)
{
    struct sp_term *kept = count > SP_MAX_TERMS || algebra->failed ? NULL : sp_terms_new(algebra, count);
    for (size_t i = 0; kept && i < count; i++) {
        struct sp_factor *factors = sp_arena_array(&algebra->arena, terms[i].count, sizeof *factors);
        if (terms[i].count) memcpy(factors, terms[i].factors, terms[i].count * sizeof *factors);
        kept[i] = (struct sp_term){terms[i].coefficient, factors, terms[i].count};
    }
    return sp_terms_wrap(algebra, kept, count);
}

/* Counts the terms that are looked at; false, and failed, when that is too many. */
static bool may_work(struct sp_algebra *algebra, size_t terms)
{
    if (algebra->work <= SP_MAX_WORK) algebra->work += terms;
    sp_budget_spend(terms);
    if (algebra->work > SP_MAX_WORK) sp_algebra_fail(algebra, "the formulas take too long");
    return !algebra->failed;
}

/* ---- order ---- */

/* One pass over the factors of both sums up the difference of the degrees, which decides, and notes the first
 * difference of exponents, which decides between equal degrees. */
int sp_terms_compare(const struct sp_term *a, const struct sp_term *b)
{
    int degree = 0, first = 0;
    for (size_t i = 0, k = 0; i < a->count || k < b->count;) {
        const size_t left = i < a->count ? a->factors[i].atom : SIZE_MAX;
        const size_t right = k < b->count ? b->factors[k].atom : SIZE_MAX;
        int difference = 0; /* an absent atom has the exponent 0 */
        if (left <= right) difference += a->factors[i++].exponent;
        if (right <= left) difference -= b->factors[k++].exponent;
        degree += difference;
        if (!first) first = difference;
    }
    if (!degree) degree = first;
    return (degree < 0) - (degree > 0);
}

static int compare_for_sort(const void *a, const void *b) { return sp_terms_compare(a, b); }

int sp_term_exponent(const struct sp_term *term, size_t atom)
{
    for (size_t i = 0; i < term->count; i++)
        if (term->factors[i].atom == atom) return term->factors[i].exponent;
    return 0;
}

/* Widens the range of the atom's exponents; `first`: it has none yet. */
static void see_factor(const struct sp_degrees *degrees, struct sp_factor factor, bool first)
{
    int *low = &degrees->low[factor.atom], *high = &degrees->high[factor.atom];
    if (first || factor.exponent < *low) *low = factor.exponent;
    if (first || factor.exponent > *high) *high = factor.exponent;
}

struct sp_degrees sp_terms_degrees(const struct sp_algebra *algebra, const struct sp_poly *a, struct sp_arena *arena)
{
    const size_t atoms = algebra->atom_count;
    const struct sp_degrees degrees = {sp_arena_array(arena, atoms, sizeof(int)),
                                       sp_arena_array(arena, atoms, sizeof(int))};
    size_t *seen = sp_arena_array(arena, atoms, sizeof *seen); /* in how many terms */
    for (size_t i = 0; i < a->count; i++)
        for (size_t k = 0; k < a->terms[i].count; k++)
            see_factor(&degrees, a->terms[i].factors[k], seen[a->terms[i].factors[k].atom]++ == 0);
    for (size_t which = 0; which < atoms; which++)
        if (seen[which] < a->count) see_factor(&degrees, (struct sp_factor){which, 0}, false);
    return degrees;
}

/* The i'th factor; behind the last one of an atom that is greater than all. */
static struct sp_factor factor_at(const struct sp_term *term, size_t i)
{
    return i < term->count ? term->factors[i] : (struct sp_factor){SIZE_MAX, 0};
}

/* ---- sums ---- */

/* The sum of two like terms. Its coefficient may be 0: the caller drops it. */
static struct sp_term add_like(struct sp_algebra *algebra, struct sp_term a, struct sp_term b)
{
    if (!sp_rational_add(a.coefficient, b.coefficient, &a.coefficient)) sp_algebra_fail(algebra, sp_algebra_overflowed);
    return a;
}

size_t sp_terms_merge(struct sp_algebra *algebra, const struct sp_term *a, size_t a_count, const struct sp_term *b,
                      size_t b_count, struct sp_term *out)
{
    size_t i = 0, k = 0, count = 0;
    if (!may_work(algebra, a_count + b_count)) return 0;
    while (i < a_count && k < b_count) {
        const int order = sp_terms_compare(&a[i], &b[k]);
        if (order) {
            out[count++] = order < 0 ? a[i++] : b[k++];
            continue;
        }
        out[count] = add_like(algebra, a[i++], b[k++]);
        if (!sp_rational_is_zero(out[count].coefficient)) count++;
    }
    if (i < a_count) memcpy(out + count, a + i, (a_count - i) * sizeof *out);
    if (k < b_count) memcpy(out + count, b + k, (b_count - k) * sizeof *out);
    return count + (a_count - i) + (b_count - k);
}

size_t sp_terms_sort(struct sp_algebra *algebra, struct sp_term *terms, size_t count)
{
    size_t kept = 0;
    qsort(terms, count, sizeof *terms, compare_for_sort);
    for (size_t i = 0; i < count;) {
        struct sp_term sum = terms[i++];
        while (i < count && sp_terms_compare(&sum, &terms[i]) == 0) sum = add_like(algebra, sum, terms[i++]);
        if (!sp_rational_is_zero(sum.coefficient)) terms[kept++] = sum;
    }
    return kept;
}

/* ---- products ---- */

static bool is_condition_atom(const struct sp_algebra *algebra, size_t atom)
{
    return algebra->atoms[atom].is_condition;
}

/* The product of two terms: 2*E*N^2 times 3*E^-1*L -> 6*L*N^2. The factors of both are in the order of the atoms, and
 * are merged like two sorted lists into `factors`, which has room for all and becomes part of the product. A condition
 * b is 0 or 1, so that b*b = b; *collapsed becomes true when that happens, since the degree then shrinks, and a list of
 * products may have to be sorted again. On failure the algebra fails, and the product is meaningless. */
static struct sp_term multiply_terms(struct sp_algebra *algebra, const struct sp_term *a, const struct sp_term *b,
                                     struct sp_factor *factors, bool *collapsed)
{
    struct sp_term product = {{0, 1}, factors, 0};
    for (size_t i = 0, k = 0; i < a->count || k < b->count;) {
        const struct sp_factor left = factor_at(a, i), right = factor_at(b, k);
        struct sp_factor factor = left.atom <= right.atom ? left : right;
        i += left.atom <= right.atom;
        k += right.atom <= left.atom;
        if (left.atom == right.atom) {
            factor.exponent += right.exponent; /* 0 when a condition is divided by itself */
            if (is_condition_atom(algebra, factor.atom)) {
                *collapsed = true;
                if (factor.exponent) factor.exponent = 1;
            }
        }
        if (abs(factor.exponent) > SP_MAX_EXPONENT) sp_algebra_fail(algebra, "an exponent is out of bounds");
        if (factor.exponent) factors[product.count++] = factor;
    }
    if (!sp_rational_mul(a->coefficient, b->coefficient, &product.coefficient))
        sp_algebra_fail(algebra, sp_algebra_overflowed);
    return product;
}

size_t sp_terms_row(struct sp_algebra *algebra, const struct sp_term *by, const struct sp_poly *a,
                    struct sp_arena *factors, struct sp_term *out)
{
    size_t room = 0;
    bool collapsed = false;
    if (!may_work(algebra, a->count)) return 0;
    for (size_t i = 0; i < a->count; i++) room += by->count + a->terms[i].count;
    struct sp_factor *next = sp_arena_array(factors, room, sizeof *next);
    for (size_t i = 0; i < a->count; i++) {
        out[i] = multiply_terms(algebra, by, &a->terms[i], next, &collapsed);
        next += out[i].count;
    }
    return collapsed ? sp_terms_sort(algebra, out, a->count) : a->count;
}

bool sp_term_has_condition(const struct sp_algebra *algebra, const struct sp_term *term)
{
    for (size_t i = 0; i < term->count; i++)
        if (is_condition_atom(algebra, term->factors[i].atom)) return true;
    return false;
}

bool sp_term_inverse(struct sp_algebra *algebra, const struct sp_term *term, struct sp_term *inverse)
{
    struct sp_factor *factors = sp_arena_array(&algebra->arena, term->count, sizeof *factors);
    *inverse = (struct sp_term){{1, 1}, factors, term->count};
    for (size_t i = 0; i < term->count; i++)
        factors[i] = (struct sp_factor){term->factors[i].atom, -term->factors[i].exponent};
    return sp_rational_div(sp_rational_int(1), term->coefficient, &inverse->coefficient);
}
