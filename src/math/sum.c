/* SPDX-License-Identifier: MIT
 * Sums in closed form. With binomials, sum of i^k over 0..n-1 is S_k(n), and the telescoping of (i+1)^(k+1) - i^(k+1)
 * gives n^(k+1) = sum over j <= k of C(k+1, j) S_j(n): each S_k follows from the ones before it (Faulhaber). */
#include "math/terms.h"

enum { MAX_POWER = 12 };

static bool binomial(int n, int k, int64_t *result)
{
    int64_t value = 1;
    for (int i = 1; i <= k; i++) {
        if (__builtin_mul_overflow(value, n - k + i, &value)) return false;
        value /= i; /* exact: a product of i consecutive integers */
    }
    *result = value;
    return true;
}

/* S_k(n) for n a polynomial: the sum of i^k for i = 0, ..., n-1 (with 0^0 = 1). */
static const struct sp_poly *power_sum(struct sp_algebra *algebra, int k, const struct sp_poly *n)
{
    const struct sp_poly *sums[MAX_POWER + 1];
    for (int m = 0; m <= k; m++) {
        const struct sp_poly *rest = sp_poly_power(algebra, n, m + 1);
        int64_t ways;
        for (int j = 0; j < m; j++) {
            if (!binomial(m + 1, j, &ways)) return NULL;
            rest = sp_poly_sub(algebra, rest, sp_poly_scale(algebra, sums[j], sp_rational_int(ways)));
        }
        sums[m] = sp_poly_scale(algebra, rest, (struct sp_rational){1, m + 1});
    }
    return sums[k];
}

const struct sp_poly *sp_poly_sum(struct sp_algebra *algebra, const struct sp_poly *a, size_t index,
                                  const struct sp_poly *first, const struct sp_poly *last)
{
    const struct sp_poly *total = sp_poly_int(algebra, 0);
    const struct sp_poly *end = sp_poly_add(algebra, last, sp_poly_int(algebra, 1));
    const int top = sp_poly_degree(a, index);
    if (sp_poly_low_degree(a, index) < 0 || top > MAX_POWER) return NULL;
    for (int k = 0; k <= top && !algebra->failed; k++) {
        const struct sp_poly *coefficient = sp_poly_coefficient(algebra, a, index, k);
        if (sp_poly_is_zero(coefficient)) continue;
        const struct sp_poly *to = power_sum(algebra, k, end), *from = power_sum(algebra, k, first);
        if (!to || !from) return NULL;
        total = sp_poly_add(algebra, total, sp_poly_mul(algebra, coefficient, sp_poly_sub(algebra, to, from)));
    }
    return algebra->failed ? &sp_poly_invalid : total;
}
