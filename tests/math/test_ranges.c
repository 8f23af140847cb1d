/* SPDX-License-Identifier: MIT
 * Where a polynomial is not negative: brute force agrees on small numbers, planted roots are the ends on large ones. */
#include "algebra.h"

#include <stdlib.h>

enum { MANY = 32 };

struct found {
    struct sp_range at[MANY];
    size_t count;
    bool complete;
};

static struct found ranges_of(struct sp_algebra *m, const struct sp_poly *p)
{
    struct found found;
    found.count = sp_poly_ranges(m, p, 0, found.at, MANY, &found.complete);
    return found;
}

static bool within(const struct found *found, int64_t x)
{
    for (size_t i = 0; i < found->count; i++)
        if (found->at[i].first <= x && x <= found->at[i].last) return true;
    return false;
}

/* In order, not empty, and with a gap between two. */
static void assert_canonical(const struct found *found)
{
    assert_true(found->complete);
    for (size_t i = 0; i < found->count; i++) {
        assert_true(found->at[i].first >= (i ? found->at[i - 1].last + 2 : 1));
        assert_true(found->at[i].last >= found->at[i].first);
    }
}

static const struct sp_poly *in_x(struct sp_algebra *m, const int64_t *coefficients, size_t count)
{
    const struct sp_poly *sum = sp_poly_int(m, 0);
    for (size_t i = 0; i < count; i++) {
        const struct sp_poly *power = sp_poly_power(m, sp_poly_atom(m, 0), (int)i);
        sum = sp_poly_add(m, sum, sp_poly_scale(m, power, sp_rational_int(coefficients[i])));
    }
    return sum;
}

/* Small coefficients, or a product of x - r that is lifted or lowered a little, so that its sign changes often. */
static size_t random_coefficients(uint64_t *random, int64_t c[7])
{
    const size_t degree = (size_t)random_between(random, 0, 6);
    if (random_bits(random) % 2) {
        for (size_t i = 0; i <= degree; i++) c[i] = random_between(random, -9, 9);
        return degree;
    }
    c[0] = random_nonzero(random, 1);
    for (size_t size = 1; size <= degree; size++) {
        const int64_t root = random_between(random, 1, 25);
        c[size] = 0;
        for (size_t i = size; i-- > 0;) {
            c[i + 1] += c[i];
            c[i] *= -root;
        }
    }
    c[0] += random_between(random, -3, 3);
    return degree;
}

static void test_brute_force(void **state)
{
    (void)state;
    size_t split = 0;
    for (uint64_t seed = 0; seed < 4000; seed++) {
        struct sp_algebra algebra = new_algebra();
        uint64_t random = seed;
        int64_t c[7];
        const size_t degree = random_coefficients(&random, c);
        const struct found found = ranges_of(&algebra, in_x(&algebra, c, degree + 1));
        assert_canonical(&found);
        for (int64_t x = 1; x <= 30; x++) {
            int64_t value = 0;
            for (size_t i = degree + 1; i-- > 0;) value = value * x + c[i];
            assert_int_equal(within(&found, x), value >= 0);
        }
        split += found.count > 1;
        sp_algebra_free(&algebra);
    }
    assert_true(split > 500);
}

/* -(x - a)(x - b) is not negative from a to b, and with (x - c)^2 at c as well. */
static void test_planted(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 1000; seed++) {
        struct sp_algebra algebra = new_algebra(), *m = &algebra;
        uint64_t random = seed;
        const struct sp_poly *x = sp_poly_atom(m, 0);
        const int64_t a = random_between(&random, 1, 20000), b = a + random_between(&random, 0, 10000);
        const int64_t c = b + random_between(&random, 2, 10000);
        const struct sp_poly *p =
            sp_poly_mul(m, sp_poly_sub(m, x, sp_poly_int(m, a)), sp_poly_sub(m, sp_poly_int(m, b), x));
        const struct found one = ranges_of(m, p);
        assert_canonical(&one);
        assert_int_equal(one.count, 1);
        assert_true(one.at[0].first == a && one.at[0].last == b);
        const struct found two =
            ranges_of(m, sp_poly_mul(m, p, sp_poly_power(m, sp_poly_sub(m, x, sp_poly_int(m, c)), 2)));
        assert_canonical(&two);
        assert_int_equal(two.count, 2);
        assert_true(two.at[0].first == a && two.at[0].last == b && two.at[1].first == c && two.at[1].last == c);
        sp_algebra_free(m);
    }
}

static void test_ends(void **state)
{
    (void)state;
    struct sp_algebra algebra = new_algebra(), *m = &algebra;
    const struct sp_poly *x = sp_poly_atom(m, 0), *y = sp_poly_atom(m, 1);
    struct found found = ranges_of(m, sp_poly_sub(m, x, sp_poly_int(m, 5)));
    assert_true(found.count == 1 && found.at[0].first == 5 && found.at[0].last == INT64_MAX);
    found = ranges_of(m, sp_poly_sub(m, sp_poly_int(m, 5), x));
    assert_true(found.count == 1 && found.at[0].first == 1 && found.at[0].last == 5);
    found = ranges_of(m, sp_poly_sub(m, sp_poly_int(m, INT64_MAX), x));
    assert_true(found.count == 1 && found.at[0].first == 1 && found.at[0].last == INT64_MAX);
    found = ranges_of(m, sp_poly_sub(m, x, sp_poly_int(m, INT64_MAX)));
    assert_true(found.count == 1 && found.at[0].first == INT64_MAX && found.at[0].last == INT64_MAX);
    found = ranges_of(m, sp_poly_int(m, 0));
    assert_true(found.complete && found.count == 1 && found.at[0].first == 1 && found.at[0].last == INT64_MAX);
    found = ranges_of(m, sp_poly_int(m, -1));
    assert_true(found.complete && found.count == 0);
    found = ranges_of(m, sp_poly_sub(m, sp_poly_power(m, x, -1), sp_poly_rational(m, fraction(1, 7)))); /* 1/x >= 1/7 */
    assert_true(found.complete && found.count == 1 && found.at[0].last == 7);
    found = ranges_of(m, sp_poly_add(m, x, y));
    assert_false(found.complete);
    sp_algebra_free(m);
}

static void test_limit(void **state)
{
    (void)state;
    struct sp_algebra algebra = new_algebra(), *m = &algebra;
    const struct sp_poly *x = sp_poly_atom(m, 0), *p = sp_poly_int(m, 1);
    struct sp_range ranges[1];
    bool complete;
    for (int root = 2; root <= 8; root += 2) p = sp_poly_mul(m, p, sp_poly_sub(m, x, sp_poly_int(m, root)));
    assert_int_equal(sp_poly_ranges(m, p, 0, ranges, 1, &complete), 1); /* 1..2, then 4..6 and from 8 on */
    assert_true(ranges[0].first == 1 && ranges[0].last == 2 && !complete);
    sp_algebra_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_brute_force), cmocka_unit_test(test_planted),
                                       cmocka_unit_test(test_ends), cmocka_unit_test(test_limit)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
