/* SPDX-License-Identifier: MIT
 * Sums in closed form against adding up. */
#include "algebra.h"

enum { INDEX = 0, BOUND = 1 }; /* x is the index, y stands in the bounds */

/* The sum of a(first), ..., a(last), added up; nothing for an empty range. */
static const struct sp_poly *added_up(struct sp_algebra *m, const struct sp_poly *a, int64_t first, int64_t last)
{
    const struct sp_poly *sum = sp_poly_int(m, 0);
    for (int64_t i = first; i <= last; i++)
        sum = sp_poly_add(m, sum, sp_poly_substitute(m, a, INDEX, sp_poly_int(m, i)));
    return sum;
}

static void test_number_bounds(void **state)
{
    (void)state;
    const struct shape shape = {5, 0, 4, 6, 3, ATOMS};
    for (uint64_t seed = 0; seed < 800; seed++) {
        struct sp_algebra algebra = new_algebra(), *m = &algebra;
        uint64_t random = seed;
        const struct sp_poly *a = random_poly(m, &random, shape);
        const int64_t first = random_between(&random, -5, 5), last = first - 1 + random_between(&random, 0, 8);
        const struct sp_poly *closed = sp_poly_sum(m, a, INDEX, sp_poly_int(m, first), sp_poly_int(m, last));
        assert_false(sp_poly_uses(closed, INDEX));
        expect_equal(m, "sum", closed, added_up(m, a, first, last));
        sp_algebra_free(m);
    }
}

/* for i in y .. 2*y + k, at many y; the body may use y as well. */
static void test_symbolic_bounds(void **state)
{
    (void)state;
    const struct shape shape = {4, 0, 3, 6, 2, 3};
    for (uint64_t seed = 0; seed < 400; seed++) {
        struct sp_algebra algebra = new_algebra(), *m = &algebra;
        uint64_t random = seed;
        const struct sp_poly *a = random_poly(m, &random, shape), *y = sp_poly_atom(m, BOUND);
        const int64_t more = random_between(&random, -1, 3);
        const struct sp_poly *last = sp_poly_add(m, sp_poly_scale(m, y, sp_rational_int(2)), sp_poly_int(m, more));
        const struct sp_poly *closed = sp_poly_sum(m, a, INDEX, y, last);
        for (int64_t at = 0; at < 5; at++) {
            const struct sp_poly *value = sp_poly_int(m, at);
            const struct sp_poly *body = sp_poly_substitute(m, a, BOUND, value);
            expect_equal(m, "sum at a point", sp_poly_substitute(m, closed, BOUND, value),
                         added_up(m, body, at, 2 * at + more));
        }
        sp_algebra_free(m);
    }
}

/* Every power that is supported, up to n = 20 where it fits. */
static void test_powers(void **state)
{
    (void)state;
    for (int k = 0; k <= 12; k++) {
        struct sp_algebra algebra = new_algebra(), *m = &algebra;
        const struct sp_poly *power = sp_poly_power(m, sp_poly_atom(m, INDEX), k), *n = sp_poly_atom(m, BOUND);
        const struct sp_poly *closed = sp_poly_sum(m, power, INDEX, sp_poly_int(m, 1), n);
        struct sp_rational at[ATOMS] = {{0, 1}}, sum = {0, 1}, term;
        assert_null(algebra.failed);
        assert_int_equal(sp_poly_degree(closed, BOUND), k + 1);
        for (int64_t i = 1; i <= 20; i++) {
            at[BOUND] = sp_rational_int(i);
            if (!sp_rational_power(at[BOUND], k, &term) || !sp_rational_add(sum, term, &sum)) break;
            struct sp_rational got;
            if (sp_poly_evaluate(closed, at, &got)) assert_true(same_number(got, sum));
            else assert_true(i > 4); /* what is added in between may overflow first */
        }
        sp_algebra_free(m);
    }
}

/* A range is the sum of its parts: first..middle and middle+1..last, for bounds that are polynomials. */
static void test_split(void **state)
{
    (void)state;
    const struct shape body = {4, 0, 3, 5, 2, ATOMS};
    for (uint64_t seed = 0; seed < 300; seed++) {
        struct sp_algebra algebra = new_algebra(), *m = &algebra;
        uint64_t random = seed;
        const struct sp_poly *a = random_poly(m, &random, body), *first = sp_poly_atom(m, 2);
        const struct sp_poly *middle = sp_poly_add(m, sp_poly_atom(m, 3), sp_poly_atom(m, 5));
        const struct sp_poly *last = sp_poly_divide(m, sp_poly_atom(m, 1), sp_poly_atom(m, 3));
        const struct sp_poly *next = sp_poly_add(m, middle, sp_poly_int(m, 1));
        expect_equal(m, "split",
                     sp_poly_add(m, sp_poly_sum(m, a, INDEX, first, middle), sp_poly_sum(m, a, INDEX, next, last)),
                     sp_poly_sum(m, a, INDEX, first, last));
        sp_algebra_free(m);
    }
}

static void test_cases(void **state)
{
    (void)state;
    struct sp_algebra algebra = new_algebra(), *m = &algebra;
    const struct sp_poly *x = sp_poly_atom(m, INDEX), *n = sp_poly_atom(m, BOUND), *one = sp_poly_int(m, 1);
    const struct sp_poly *zero = sp_poly_int(m, 0), *before = sp_poly_sub(m, n, one);
    expect_equal(m, "N equal layers", sp_poly_sum(m, sp_poly_atom(m, 2), INDEX, zero, before),
                 sp_poly_mul(m, n, sp_poly_atom(m, 2)));
    expect_equal(m, "an empty range", sp_poly_sum(m, x, INDEX, n, before), zero);
    expect_equal(m, "a single one", sp_poly_sum(m, sp_poly_mul(m, x, x), INDEX, n, n), sp_poly_mul(m, n, n));
    expect_equal(m, "nothing added up", sp_poly_sum(m, zero, INDEX, zero, n), zero);
    assert_null(sp_poly_sum(m, sp_poly_power(m, x, -1), INDEX, one, n));
    assert_null(sp_poly_sum(m, sp_poly_power(m, x, 13), INDEX, one, n));
    assert_null(algebra.failed);
    sp_algebra_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_number_bounds), cmocka_unit_test(test_symbolic_bounds), cmocka_unit_test(test_powers),
        cmocka_unit_test(test_split),         cmocka_unit_test(test_cases),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
