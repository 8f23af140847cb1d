/* SPDX-License-Identifier: MIT
 * Exact fractions: against long arithmetic on small numbers, and at the limits of 64 bits. */
#include "algebra.h"

static void test_make(void **state)
{
    (void)state;
    static const struct {
        int64_t num, den, lowest_num, lowest_den;
    } cases[] = {
        {6, 4, 3, 2},
        {-6, 4, -3, 2},
        {6, -4, -3, 2},
        {-6, -4, 3, 2},
        {0, -5, 0, 1},
        {INT64_MAX, INT64_MAX, 1, 1},
        {INT64_MIN, 2, INT64_MIN / 2, 1},
        {2, INT64_MIN, 1, INT64_MIN / 2},
        {INT64_MIN, INT64_MIN, 1, 1},
        {0, INT64_MIN, 0, 1},
        {INT64_MAX, -1, -INT64_MAX, 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct sp_rational got = {77, 77};
        const bool negative = cases[i].lowest_den < 0; /* 2/INT64_MIN is -1/2^62 */
        assert_true(sp_rational_make(cases[i].num, cases[i].den, &got));
        assert_int_equal(got.num, negative ? -cases[i].lowest_num : cases[i].lowest_num);
        assert_int_equal(got.den, negative ? -cases[i].lowest_den : cases[i].lowest_den);
    }
}

/* Each of these does not fit, says so, and leaves the result alone. */
static void test_overflow(void **state)
{
    (void)state;
    const struct sp_rational most = {INT64_MAX, 1}, least = {-INT64_MAX, 1}, one = {1, 1}, minus = {-1, 1},
                             tiny = {1, INT64_MAX}, other = {1, INT64_MAX - 1}, raw = {INT64_MIN, 1}, zero = {0, 1};
    struct sp_rational out = {77, 78};
    assert_false(sp_rational_make(1, 0, &out));
    assert_false(sp_rational_make(0, 0, &out));
    assert_false(sp_rational_make(INT64_MIN, 1, &out));
    assert_false(sp_rational_make(1, INT64_MIN, &out));
    assert_false(sp_rational_make(INT64_MIN, -1, &out));
    assert_false(sp_rational_add(most, one, &out));
    assert_false(sp_rational_add(least, minus, &out));
    assert_false(sp_rational_sub(least, one, &out));
    assert_false(sp_rational_sub(most, minus, &out));
    assert_false(sp_rational_sub(zero, raw, &out));
    assert_false(sp_rational_add(tiny, other, &out));
    assert_false(sp_rational_mul(most, (struct sp_rational){2, 1}, &out));
    assert_false(sp_rational_mul(raw, raw, &out));
    assert_false(sp_rational_mul(raw, minus, &out));
    assert_false(sp_rational_mul(tiny, tiny, &out));
    assert_false(sp_rational_div(one, zero, &out));
    assert_false(sp_rational_div(zero, zero, &out));
    assert_false(sp_rational_div(tiny, most, &out));
    assert_false(sp_rational_div(raw, minus, &out));
    assert_false(sp_rational_power((struct sp_rational){2, 1}, 63, &out));
    assert_false(sp_rational_power((struct sp_rational){2, 1}, -63, &out));
    assert_false(sp_rational_power((struct sp_rational){-2, 1}, INT32_MIN, &out));
    assert_false(sp_rational_power(zero, -1, &out));
    assert_false(sp_rational_gcd(tiny, other, &out));
    assert_true(out.num == 77 && out.den == 78);
}

static void test_limits_that_fit(void **state)
{
    (void)state;
    const struct sp_rational most = {INT64_MAX, 1}, least = {-INT64_MAX, 1}, tiny = {1, INT64_MAX};
    struct sp_rational out;
    assert_true(sp_rational_add(most, least, &out) && out.num == 0 && out.den == 1);
    assert_true(sp_rational_mul(most, tiny, &out) && out.num == 1 && out.den == 1);
    assert_true(sp_rational_div(tiny, tiny, &out) && out.num == 1 && out.den == 1);
    assert_true(sp_rational_add(tiny, tiny, &out) && out.num == 2 && out.den == INT64_MAX);
    assert_true(sp_rational_sub(tiny, tiny, &out) && out.num == 0 && out.den == 1);
    assert_true(sp_rational_power((struct sp_rational){-2, 1}, 62, &out) && out.num == (int64_t)1 << 62);
    assert_true(sp_rational_power((struct sp_rational){2, 1}, -62, &out) && out.den == (int64_t)1 << 62);
    assert_true(sp_rational_power((struct sp_rational){-1, 1}, INT32_MAX, &out) && out.num == -1);
    assert_true(sp_rational_power((struct sp_rational){-1, 1}, INT32_MIN, &out) && out.num == 1);
    assert_true(sp_rational_power((struct sp_rational){0, 1}, 0, &out) && out.num == 1);
    assert_int_equal(sp_rational_compare(tiny, (struct sp_rational){1, INT64_MAX - 1}), -1);
    assert_int_equal(sp_rational_compare(most, least), 1);
    assert_int_equal(sp_rational_compare(most, most), 0);
}

/* a/b and c/d are small enough that cross-multiplied they are exact. */
static void test_small(void **state)
{
    (void)state;
    uint64_t seed = 1;
    for (int round = 0; round < 100000; round++) {
        const int64_t a = random_between(&seed, -99, 99), b = random_between(&seed, 1, 99);
        const int64_t c = random_between(&seed, -99, 99), d = random_between(&seed, 1, 99);
        const struct sp_rational left = fraction(a, b), right = fraction(c, d);
        struct sp_rational out;
        assert_true(sp_rational_add(left, right, &out) && out.num * b * d == (a * d + c * b) * out.den);
        assert_true(sp_rational_sub(left, right, &out) && out.num * b * d == (a * d - c * b) * out.den);
        assert_true(sp_rational_mul(left, right, &out) && out.num * b * d == a * c * out.den);
        assert_true(c == 0 ? !sp_rational_div(left, right, &out)
                           : sp_rational_div(left, right, &out) && out.num * b * c == a * d * out.den);
        assert_true(out.den > 0);
        assert_int_equal(sp_rational_compare(left, right), (a * d > c * b) - (a * d < c * b));
        if (!a || !c) continue;
        struct sp_rational one, other;
        assert_true(sp_rational_gcd(left, right, &out) && sp_rational_div(left, out, &one) &&
                    sp_rational_div(right, out, &other));
        assert_true(out.num > 0 && one.den == 1 && other.den == 1);
        assert_true(sp_rational_gcd(one, other, &out) && out.num == 1 && out.den == 1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_make),
        cmocka_unit_test(test_overflow),
        cmocka_unit_test(test_limits_that_fit),
        cmocka_unit_test(test_small),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
