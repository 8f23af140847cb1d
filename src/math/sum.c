/* SPDX-License-Identifier: MIT
 * Sums in closed form. With binomials, sum of i^k over 0..n-1 is S_k(n), and the telescoping of (i+1)^(k+1) - i^(k+1)
 * gives n^(k+1) = sum over j <= k of C(k+1, j) S_j(n): each S_k follows from the ones before it (Faulhaber). */
#include "math/terms.h"

enum { MAX_POWER = 12 };

static int64_t binomial(int n, int k)
{
    int64_t value = 1;
    for (int i = 1; i <= k; i++) value = value * (n - k + i) / i; /* exact: a product of i consecutive integers */
    return value;
}

/* sums[k] for k <= top: the sum of i^k for i = 0, ..., n-1 (with 0^0 = 1), where n is a polynomial. */
static void power_sums(struct sp_algebra *algebra, int top, const struct sp_poly *n, const struct sp_poly *sums[])
{
    for (int k = 0; k <= top; k++) {
        const struct sp_poly *rest = sp_poly_power(algebra, n, k + 1);
        for (int j = 0; j < k; j++)
            rest = sp_poly_sub(algebra, rest, sp_poly_scale(algebra, sums[j], sp_rational_int(binomial(k + 1, j))));
        sums[k] = sp_poly_scale(algebra, rest, (struct sp_rational){1, k + 1});
    }
}

const struct sp_poly *sp_poly_sum(struct sp_algebra *algebra, const struct sp_poly *a, size_t index,
                                  const struct sp_poly *first, const struct sp_poly *last)
{
    const struct sp_poly *below_first[MAX_POWER + 1], *up_to_last[MAX_POWER + 1], *total = sp_poly_int(algebra, 0);
    const int top = sp_poly_degree(a, index);
    if (!a || !first || !last) return NULL;
    if (sp_poly_low_degree(a, index) < 0 || top > MAX_POWER) return NULL;
    power_sums(algebra, top, first, below_first);
    power_sums(algebra, top, sp_poly_add(algebra, last, sp_poly_int(algebra, 1)), up_to_last);
    for (int k = 0; k <= top; k++) {
        const struct sp_poly *range = sp_poly_sub(algebra, up_to_last[k], below_first[k]);
        total = sp_poly_add(algebra, total, sp_poly_mul(algebra, sp_poly_coefficient(algebra, a, index, k), range));
    }
    return total;
}
