/* SPDX-License-Identifier: MIT
 * Integer roots without a floating-point decision. A polynomial is monotone between the places where its derivative
 * changes sign, and those are found in the same way, down to a constant. On a monotone stretch of integers a change of
 * sign is found by bisection with exact values. */
#include <stdlib.h>

#include "math/poly.h"

__extension__ typedef __int128 wide;

enum { MAX_DEGREE = 12, MAX_POINTS = 1024 };

struct univariate {
    wide coefficient[MAX_DEGREE + 1];
    int degree;
};

struct points {
    int64_t at[MAX_POINTS];
    size_t count;
};

static bool common_denominator(const struct sp_poly *a, int64_t *den)
{
    struct sp_rational all = {1, 1};
    for (size_t i = 0; i < a->count; i++) {
        struct sp_rational scaled;
        if (!sp_rational_mul(all, a->terms[i].coefficient, &scaled) ||
            !sp_rational_mul(all, sp_rational_int(scaled.den), &all))
            return false;
    }
    *den = all.num;
    return true;
}

/* The coefficients times their common denominator, lowest power first; negative powers are shifted away. */
static bool coefficients(const struct sp_poly *a, size_t which, struct univariate *p)
{
    const int low = sp_poly_low_degree(a, which), high = sp_poly_degree(a, which);
    struct sp_rational scaled;
    int64_t den;
    *p = (struct univariate){.degree = high - low};
    if (high - low > MAX_DEGREE || !common_denominator(a, &den)) return false;
    for (size_t i = 0; i < a->count; i++) {
        const struct sp_term *term = &a->terms[i];
        if (term->count > 1 || (term->count == 1 && term->factors[0].atom != which)) return false;
        if (!sp_rational_mul(term->coefficient, sp_rational_int(den), &scaled)) return false;
        p->coefficient[(term->count ? term->factors[0].exponent : 0) - low] = scaled.num;
    }
    return true;
}

static wide magnitude(wide value) { return value < 0 ? -value : value; }

/* The largest power of two up to 2^62 at which no partial sum overflows. */
static int64_t safe_bound(const struct univariate *p)
{
    for (int bits = 62; bits > 0; bits--) {
        const wide x = (wide)1 << bits;
        wide sum = 0;
        bool fits = true;
        for (int k = p->degree; k >= 0 && fits; k--)
            fits = !__builtin_mul_overflow(sum, x, &sum) &&
                   !__builtin_add_overflow(sum, magnitude(p->coefficient[k]), &sum);
        if (fits) return (int64_t)x;
    }
    return 1;
}

/* Cauchy: no root is larger than 1 + max |a_k| / |a_n|. */
static wide root_bound(const struct univariate *p)
{
    wide largest = 0;
    for (int k = 0; k < p->degree; k++)
        if (magnitude(p->coefficient[k]) > largest) largest = magnitude(p->coefficient[k]);
    return largest / magnitude(p->coefficient[p->degree]) + 2;
}

static int sign_at(const struct univariate *p, int64_t x)
{
    wide value = 0;
    for (int k = p->degree; k >= 0; k--) value = value * x + p->coefficient[k];
    return (value > 0) - (value < 0);
}

static int compare_points(const void *left, const void *right)
{
    const int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
    return (a > b) - (a < b);
}

static void add_point(struct points *points, int64_t at, int64_t bound)
{
    if (at >= 1 && at <= bound && points->count < MAX_POINTS) points->at[points->count++] = at;
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
static int64_t bisect(const struct univariate *p, int64_t from, int64_t to)
{
    const int sign = sign_at(p, from);
    while (to - from > 1) {
        const int64_t middle = from + (to - from) / 2;
        if (sign_at(p, middle) == sign) from = middle;
        else to = middle;
    }
    return from;
}

static struct univariate derivative(const struct univariate *p)
{
    struct univariate d = {.degree = p->degree - 1};
    for (int k = 1; k <= p->degree; k++) d.coefficient[k - 1] = p->coefficient[k] * k;
    return d;
}

/* Points such that p is monotone on the integers between two neighbours: those of p', and where p' changes sign. */
static void stationary_points(const struct univariate *p, int64_t bound, struct points *points)
{
    if (p->degree <= 1) {
        add_point(points, 1, bound);
        add_point(points, bound, bound);
        sort_points(points);
        return;
    }
    const struct univariate d = derivative(p);
    stationary_points(&d, bound, points);
    const struct points before = *points;
    for (size_t i = 0; i + 1 < before.count; i++) {
        if (sign_at(&d, before.at[i]) == sign_at(&d, before.at[i + 1])) continue;
        const int64_t change = bisect(&d, before.at[i], before.at[i + 1]);
        add_point(points, change, bound);
        add_point(points, change + 1, bound);
        add_point(points, change + 2, bound); /* the derivative may be 0 at change+1 */
    }
    sort_points(points);
}

static size_t add_root(int64_t *roots, size_t count, size_t limit, int64_t root)
{
    if (count == limit || (count && roots[count - 1] == root)) return count;
    roots[count] = root;
    return count + 1;
}

size_t sp_poly_roots(struct sp_algebra *algebra, const struct sp_poly *a, size_t which, int64_t *roots, size_t limit,
                     bool *complete)
{
    struct univariate p;
    struct points points = {.count = 0};
    size_t count = 0;
    (void)algebra;
    *complete = true;
    if (sp_poly_is_zero(a) || !coefficients(a, which, &p)) {
        *complete = false;
        return 0;
    }
    if (p.degree == 0) return 0;
    const int64_t safe = safe_bound(&p);
    const int64_t bound = root_bound(&p) < safe ? (int64_t)root_bound(&p) : safe;
    *complete = root_bound(&p) <= safe;
    stationary_points(&p, bound, &points);
    for (size_t i = 0; i < points.count; i++) {
        if (sign_at(&p, points.at[i]) == 0) count = add_root(roots, count, limit, points.at[i]);
        if (i + 1 == points.count || sign_at(&p, points.at[i]) == sign_at(&p, points.at[i + 1])) continue;
        const int64_t next = bisect(&p, points.at[i], points.at[i + 1]) + 1;
        if (sign_at(&p, next) == 0) count = add_root(roots, count, limit, next);
    }
    return count;
}
