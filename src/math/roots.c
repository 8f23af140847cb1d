/* SPDX-License-Identifier: MIT
 * Integer roots and signs without a floating-point decision. A polynomial is monotone between the places where its
 * derivative changes sign, and those are found in the same way, down to a linear one. On a monotone stretch a change of
 * sign is found by bisection with exact values. A root divides the lowest coefficient, which bounds the search.
 *
 * Why integers are enough: should a derivative have roots inside one unit interval, then so many that the one after it
 * has a root there too (Rolle), or so few that its sign changes from one end to the other. Either way both ends become
 * points, so between neighbours that are further apart the function is monotone for all reals. */
#include <stdlib.h>

#include "math/poly.h"

__extension__ typedef unsigned __int128 wide;

enum { MAX_DEGREE = 12, MAX_POINTS = 1024 };

/* Values below 2^63 * 12! * (2^63)^12 and a little more, in two's complement. */
enum { LIMBS = 14 };

struct univariate {
    int64_t coefficient[MAX_DEGREE + 1];
    int order; /* which derivative of it: 0 for the polynomial itself */
    int degree;
};

struct points {
    int64_t at[MAX_POINTS];
    size_t count;
};

/* The coefficients as integers without a common factor, lowest power first; powers that all terms share are left out.
 */
static bool coefficients(const struct sp_poly *a, size_t which, struct univariate *p)
{
    const int low = sp_poly_low_degree(a, which), high = sp_poly_degree(a, which);
    struct sp_rational content = {0, 1}, scaled;
    *p = (struct univariate){.degree = high - low};
    if (!a || high - low > MAX_DEGREE) return false;
    for (size_t i = 0; i < a->count; i++)
        if (!sp_rational_gcd(content, a->terms[i].coefficient, &content)) return false;
    for (size_t i = 0; i < a->count; i++) {
        const struct sp_term *term = &a->terms[i];
        if (term->count > 1 || (term->count == 1 && term->factors[0].atom != which)) return false;
        if (!sp_rational_div(term->coefficient, content, &scaled)) return false;
        p->coefficient[(term->count ? term->factors[0].exponent : 0) - low] = scaled.num;
    }
    return true;
}

/* k*(k-1)*... with `order` factors: what the derivative of that order multiplies x^(k-order) with. */
static int64_t falling(int k, int order)
{
    int64_t product = 1;
    for (int i = 0; i < order; i++) product *= k - i;
    return product;
}

/* value*x + a*b, for x, b >= 0. */
static void horner_step(uint64_t value[LIMBS], uint64_t x, int64_t a, int64_t b)
{
    __extension__ const __int128 product = (__int128)a * b;
    const uint64_t sign = product < 0 ? UINT64_MAX : 0;
    wide carry = 0;
    for (int i = 0; i < LIMBS; i++) {
        const uint64_t limb = i == 0 ? (uint64_t)product : i == 1 ? (uint64_t)((wide)product >> 64) : sign;
        carry += (wide)value[i] * x + limb; /* below 2^128: x is below 2^63, the carry below 2^64 */
        value[i] = (uint64_t)carry;
        carry >>= 64;
    }
}

static int sign_at(const struct univariate *p, int64_t x)
{
    uint64_t value[LIMBS] = {0}, any = 0;
    for (int k = p->degree; k >= p->order; k--)
        horner_step(value, (uint64_t)x, p->coefficient[k], falling(k, p->order));
    for (int i = 0; i < LIMBS; i++) any |= value[i];
    return value[LIMBS - 1] >> 63 ? -1 : any != 0;
}

static int compare_points(const void *left, const void *right)
{
    const int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
    return (a > b) - (a < b);
}

/* Every root of a derivative adds at most 6 points, and the derivatives of a polynomial of degree 12 have 66 roots. */
static void add_point(struct points *points, int64_t at, int64_t bound)
{
    if (at <= bound && points->count < MAX_POINTS) points->at[points->count++] = at;
}

static void sort_points(struct points *points)
{
    size_t kept = 0;
    qsort(points->at, points->count, sizeof *points->at, compare_points);
    for (size_t i = 0; i < points->count; i++)
        if (!kept || points->at[kept - 1] != points->at[i]) points->at[kept++] = points->at[i];
    points->count = kept;
}

/* The last integer in [from, to) with the sign of `from`; the signs at both ends differ. */
static int64_t bisect_root(const struct univariate *p, int64_t from, int64_t to)
{
    const int sign = sign_at(p, from);
    while (to - from > 1) {
        const int64_t middle = from + (to - from) / 2;
        if (sign_at(p, middle) == sign) from = middle;
        else to = middle;
    }
    return from;
}

/* Points such that p is monotone between two neighbours: those of its derivative, and where that changes sign. */
static void stationary_points(struct univariate p, int64_t bound, struct points *points)
{
    add_point(points, 1, bound);
    add_point(points, bound, bound);
    for (p.order = p.degree - 1; p.order > 0; p.order--) {
        sort_points(points);
        const struct points before = *points;
        for (size_t i = 0; i + 1 < before.count; i++) {
            if (sign_at(&p, before.at[i]) == sign_at(&p, before.at[i + 1])) continue;
            const int64_t change = bisect_root(&p, before.at[i], before.at[i + 1]);
            add_point(points, change, bound);
            add_point(points, change + 1, bound);
            if (change + 1 < bound) add_point(points, change + 2, bound); /* change+1 may be the root */
        }
    }
    sort_points(points);
}

/* The roots in order; the last one found may be offered again. False when there are more than `limit`. */
static bool add_root(int64_t *roots, size_t *count, size_t limit, int64_t root)
{
    if (*count && roots[*count - 1] == root) return true;
    if (*count == limit) return false;
    roots[(*count)++] = root;
    return true;
}

static bool find_roots(const struct univariate *p, int64_t *roots, size_t *count, size_t limit)
{
    const int64_t bound = p->coefficient[0] < 0 ? -p->coefficient[0] : p->coefficient[0];
    struct points points = {.count = 0};
    bool all = true;
    stationary_points(*p, bound, &points);
    for (size_t i = 0; i < points.count; i++) {
        if (sign_at(p, points.at[i]) == 0) all &= add_root(roots, count, limit, points.at[i]);
        if (i + 1 == points.count || sign_at(p, points.at[i]) == sign_at(p, points.at[i + 1])) continue;
        const int64_t next = bisect_root(p, points.at[i], points.at[i + 1]) + 1;
        if (sign_at(p, next) == 0) all &= add_root(roots, count, limit, next);
    }
    return all;
}

size_t sp_poly_roots(struct sp_algebra *algebra, const struct sp_poly *a, size_t which, int64_t *roots, size_t limit,
                     bool *complete)
{
    struct univariate p;
    size_t count = 0;
    *complete = !algebra->failed && !sp_poly_is_zero(a) && coefficients(a, which, &p);
    if (*complete && p.degree > 0) *complete = find_roots(&p, roots, &count, limit);
    return count;
}

/* ---- ranges ---- */

static uint64_t magnitude(int64_t value) { return value < 0 ? -(uint64_t)value : (uint64_t)value; }

/* No sign changes further out (Cauchy), and none of a derivative (Gauss and Lucas). */
static int64_t sign_bound(const struct univariate *p)
{
    uint64_t largest = 0;
    for (int k = 0; k < p->degree; k++) {
        const uint64_t size = magnitude(p->coefficient[k]);
        if (size > largest) largest = size;
    }
    const uint64_t lead = magnitude(p->coefficient[p->degree]);
    const uint64_t bound = lead ? largest / lead + 2 : 2;
    return bound > INT64_MAX ? INT64_MAX : (int64_t)bound;
}

/* The last integer from `from` on before the polynomial changes between negative and not negative; it has at `to`. */
static int64_t last_alike(const struct univariate *p, int64_t from, int64_t to)
{
    const bool negative = sign_at(p, from) < 0;
    while (to - from > 1) {
        const int64_t middle = from + (to - from) / 2;
        if ((sign_at(p, middle) < 0) == negative) from = middle;
        else to = middle;
    }
    return from;
}

static bool find_ranges(const struct univariate *p, struct sp_range *ranges, size_t *count, size_t limit)
{
    struct points points = {.count = 0};
    int64_t first = 1;
    stationary_points(*p, sign_bound(p), &points);
    for (size_t i = 0; i < points.count; i++) {
        const bool is_last = i + 1 == points.count, negative = sign_at(p, points.at[i]) < 0;
        if (!is_last && (sign_at(p, points.at[i + 1]) < 0) == negative) continue;
        const int64_t last = is_last ? INT64_MAX : last_alike(p, points.at[i], points.at[i + 1]);
        if (!negative && *count == limit) return false;
        if (!negative) ranges[(*count)++] = (struct sp_range){first, last};
        first = is_last ? last : last + 1;
    }
    return true;
}

size_t sp_poly_ranges(struct sp_algebra *algebra, const struct sp_poly *a, size_t which, struct sp_range *ranges,
                      size_t limit, bool *complete)
{
    struct univariate p = {.degree = 0};
    size_t count = 0;
    *complete = !algebra->failed && (sp_poly_is_zero(a) || coefficients(a, which, &p));
    if (*complete && p.degree > 0) *complete = find_ranges(&p, ranges, &count, limit);
    else if (*complete && p.coefficient[0] >= 0 && limit) ranges[count++] = (struct sp_range){1, INT64_MAX};
    return count;
}
