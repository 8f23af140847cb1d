/* SPDX-License-Identifier: MIT
 * Integer roots: planted ones are all found, and no others; on small ranges brute force agrees. */
#include "algebra.h"

#include <stdlib.h>

enum { MANY = 32 };

struct found {
    int64_t at[MANY];
    size_t count;
    bool complete;
};

static struct found roots_of(struct sp_algebra *m, const struct sp_poly *p)
{
    struct found found;
    found.count = sp_poly_roots(m, p, 0, found.at, MANY, &found.complete);
    return found;
}

/* The polynomial with these coefficients, lowest first. */
static const struct sp_poly *in_x(struct sp_algebra *m, const int64_t *coefficients, size_t count)
{
    const struct sp_poly *sum = sp_poly_int(m, 0);
    for (size_t i = 0; i < count; i++) {
        const struct sp_poly *power = sp_poly_power(m, sp_poly_atom(m, 0), (int)i);
        sum = sp_poly_add(m, sum, sp_poly_scale(m, power, sp_rational_int(coefficients[i])));
    }
    return sum;
}

static void expect_roots(const char *what, const struct sp_poly *p, const struct found *found, const int64_t *expected,
                         size_t count)
{
    bool same = found->complete && found->count == count;
    for (size_t i = 0; same && i < count; i++) same = found->at[i] == expected[i];
    if (same) return;
    show("polynomial", p);
    for (size_t i = 0; i < count; i++) print_message("expected %lld\n", (long long)expected[i]);
    for (size_t i = 0; i < found->count; i++) print_message("found %lld\n", (long long)found->at[i]);
    fail_msg("%s: %s", what, found->complete ? "complete" : "not complete");
}

/* Small coefficients: every root divides the last one, so it is below the range that is tried. */
static void test_brute_force(void **state)
{
    (void)state;
    size_t with_roots = 0;

    for (uint64_t seed = 0; seed < 4000; seed++) {
        struct sp_algebra algebra = new_algebra();
        uint64_t random = seed;
        int64_t c[7], expected[MANY];
        const int64_t most = seed % 2 ? 9 : 3;
        const size_t degree = (size_t)random_between(&random, 1, 6);
        size_t count = 0;
        for (size_t i = 0; i <= degree; i++) c[i] = random_between(&random, -most, most);
        if (c[degree] == 0) c[degree] = 1;
        for (int64_t x = 1; x <= 10; x++) {
            int64_t value = 0;
            for (size_t i = degree + 1; i-- > 0;) value = value * x + c[i];
            if (value == 0) expected[count++] = x;
        }
        const struct sp_poly *p = in_x(&algebra, c, degree + 1);
        const struct found found = roots_of(&algebra, p);
        expect_roots("brute force", p, &found, expected, count);
        with_roots += count > 0;
        sp_algebra_free(&algebra);
    }
    assert_true(with_roots > 300);
}

static int compare(const void *left, const void *right)
{
    const int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
    return (a > b) - (a < b);
}

static size_t sorted_positive(int64_t *values, size_t count)
{
    size_t kept = 0;
    qsort(values, count, sizeof *values, compare);
    for (size_t i = 0; i < count; i++)
        if (values[i] > 0 && (!kept || values[kept - 1] != values[i])) values[kept++] = values[i];
    return kept;
}

/* Sizes of roots such that the product of all still fits. */
static int64_t largest_root(size_t count)
{
    static const int64_t largest[] = {0, 1000000000000000000, 1000000000, 1000000, 30000, 3500, 900};
    return largest[count];
}

/* (x - r)(x - s)..., with multiple, negative and neighbouring roots, times factors that have none, and a fraction. */
static void test_planted(void **state)
{
    (void)state;
    size_t tried = 0;
    for (uint64_t seed = 0; seed < 4000; seed++) {
        struct sp_algebra algebra = new_algebra(), *m = &algebra;
        uint64_t random = seed;
        const size_t degree = (size_t)random_between(&random, 1, 6);
        const struct sp_poly *x = sp_poly_atom(m, 0), *p = sp_poly_rational(m, fraction(random_nonzero(&random, 3), 7));
        int64_t roots[8];
        for (size_t i = 0; i < degree; i++) {
            roots[i] = random_nonzero(&random, 1 + (largest_root(degree) >> random_bits(&random) % 16));
            if (i && random_bits(&random) % 4 == 0) roots[i] = roots[i - 1]; /* a double root */
            if (i && random_bits(&random) % 4 == 0) roots[i] = roots[i - 1] + 1;
            p = sp_poly_mul(m, p, sp_poly_sub(m, x, sp_poly_int(m, roots[i])));
        }
        if (random_bits(&random) % 2) p = sp_poly_mul(m, p, sp_poly_add(m, sp_poly_mul(m, x, x), sp_poly_int(m, 1)));
        if (random_bits(&random) % 2)
            p = sp_poly_mul(m, p, sp_poly_sub(m, sp_poly_scale(m, x, sp_rational_int(2)), sp_poly_int(m, 7)));
        if (random_bits(&random) % 2) p = sp_poly_mul(m, p, sp_poly_power(m, x, (int)random_between(&random, -3, 3)));
        if (!algebra.failed) {
            const struct found found = roots_of(m, p);
            expect_roots("planted", p, &found, roots, sorted_positive(roots, degree));
            tried++;
        }
        sp_algebra_free(m);
    }
    assert_true(tried > 2000);
}

static void test_cases(void **state)
{
    (void)state;
    static const struct {
        const char *what;
        int64_t c[13];
        size_t terms;
        int64_t expected[3];
        size_t count;
    } cases[] = {
        {"a number", {7}, 1, {0}, 0},
        {"x", {0, 1}, 2, {0}, 0},
        {"x - 1", {-1, 1}, 2, {1}, 1},
        {"x + 1", {1, 1}, 2, {0}, 0},
        {"(x - 1)^2", {1, -2, 1}, 3, {1}, 1},
        {"2*x - 1", {-1, 2}, 2, {0}, 0},
        {"x - INT64_MAX", {-INT64_MAX, 1}, 2, {INT64_MAX}, 1},
        {"x^2 - INT64_MAX*x", {0, -INT64_MAX, 1}, 3, {INT64_MAX}, 1},
        {"x^6 - INT64_MAX*x^5", {0, 0, 0, 0, 0, -INT64_MAX, 1}, 7, {INT64_MAX}, 1},
        {"(x - 1)*(x^5 - ...)", {-1, 2, -1}, 3, {1}, 1},
        {"(x - 10^18)*(x + 2)", {-2000000000000000000, -999999999999999998, 1}, 3, {1000000000000000000}, 1},
        {"two neighbours far out", {999999999000000000, -1999999999, 1}, 3, {999999999, 1000000000}, 2},
        {"degree 12", {-4096, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}, 13, {2}, 1},
        {"degree 12, large", {-INT64_MAX, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, INT64_MAX}, 13, {1}, 1},
        {"no change of sign", {INT64_MAX, INT64_MAX, INT64_MAX}, 3, {0}, 0},
        {"wiggles between integers", {1001, -2000, 1000}, 3, {0}, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct sp_algebra algebra = new_algebra();
        const struct sp_poly *p = in_x(&algebra, cases[i].c, cases[i].terms);
        assert_null(algebra.failed);
        const struct found found = roots_of(&algebra, p);
        expect_roots(cases[i].what, p, &found, cases[i].expected, cases[i].count);
        sp_algebra_free(&algebra);
    }
}

/* Derivatives with several roots inside one unit interval: (x-5)(x-5-a)(x-5-b)(x-5-c) with fractions a, b, c. */
static void test_clustered(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 2000; seed++) {
        struct sp_algebra algebra = new_algebra(), *m = &algebra;
        uint64_t random = seed;
        const int64_t base = random_between(&random, 1, 20);
        const struct sp_poly *x = sp_poly_atom(m, 0), *p = sp_poly_sub(m, x, sp_poly_int(m, base));
        for (int64_t left = random_between(&random, 1, 5); left; left--) {
            const struct sp_rational near = fraction(base * 10 + random_between(&random, 1, 9), 10);
            p = sp_poly_mul(m, p, sp_poly_sub(m, x, sp_poly_rational(m, near)));
        }
        assert_null(algebra.failed);
        const struct found found = roots_of(m, p);
        expect_roots("clustered", p, &found, &base, 1);
        sp_algebra_free(m);
    }
}

static void test_not_complete(void **state)
{
    (void)state;
    struct sp_algebra algebra = new_algebra(), *m = &algebra;
    const struct sp_poly *x = sp_poly_atom(m, 0), *product = sp_poly_int(m, 1);
    struct found found = roots_of(m, sp_poly_int(m, 0));
    assert_true(found.count == 0 && !found.complete);
    found = roots_of(m, sp_poly_sub(m, x, sp_poly_atom(m, 1))); /* of two atoms */
    assert_true(found.count == 0 && !found.complete);
    found = roots_of(m, sp_poly_sub(m, sp_poly_power(m, x, 13), x)); /* 12 after x is taken out */
    assert_true(found.count == 1 && found.at[0] == 1 && found.complete);
    found = roots_of(m, sp_poly_sub(m, sp_poly_power(m, x, 13), sp_poly_int(m, 1)));
    assert_true(found.count == 0 && !found.complete);
    for (int64_t root = 1; root <= 4; root++)
        product = sp_poly_mul(m, product, sp_poly_sub(m, x, sp_poly_int(m, root)));
    int64_t first[2];
    bool complete;
    assert_int_equal(sp_poly_roots(m, product, 0, first, 2, &complete), 2);
    assert_true(first[0] == 1 && first[1] == 2 && !complete);
    assert_int_equal(sp_poly_roots(m, product, 0, first, 0, &complete), 0);
    assert_false(complete);
    sp_algebra_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_brute_force), cmocka_unit_test(test_planted),      cmocka_unit_test(test_cases),
        cmocka_unit_test(test_clustered),   cmocka_unit_test(test_not_complete),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
