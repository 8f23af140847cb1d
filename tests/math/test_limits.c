/* SPDX-License-Identifier: MIT
 * Formulas that are too large end soon, in bounded memory, and say why; a number that overflowed is never shown. */
#include "algebra.h"

static const char overflow[] = "a coefficient does not fit in 64 bits";
static const char exponent[] = "an exponent is out of bounds";
static const char terms[] = "the formula has too many terms";
static const char memory[] = "the formulas need too much memory; --limit memory=SIZE allows more";

/* A failed result equals nothing and is not zero; the next one fails too, until the failure is cleared. */
static void expect_failed(struct sp_algebra *m, const struct sp_poly *result, const char *why)
{
    assert_string_equal(m->failed ? m->failed : "no failure", why);
    assert_non_null(result);
    assert_false(sp_poly_equal(result, result));
    assert_false(sp_poly_is_zero(result));
    assert_false(sp_poly_is_zero(sp_poly_sub(m, result, result)));
    const struct sp_poly *x = sp_poly_atom(m, 0);
    const struct sp_poly *after[] = {x,
                                     sp_poly_int(m, 0),
                                     sp_poly_mul(m, x, x),
                                     sp_poly_scale(m, x, sp_rational_int(0)),
                                     sp_poly_divide(m, x, x),
                                     sp_poly_power(m, x, 2),
                                     sp_poly_substitute(m, x, 0, x),
                                     sp_poly_sum(m, x, 0, x, x),
                                     sp_poly_total(m, &x, 1),
                                     sp_poly_coefficient(m, x, 0, 1)};
    for (size_t i = 0; i < sizeof after / sizeof *after; i++) assert_false(sp_poly_equal(after[i], after[i]));
    m->failed = NULL;
    assert_true(sp_poly_equal(sp_poly_atom(m, 0), sp_poly_atom(m, 0)));
}

static void test_coefficients(void **state)
{
    (void)state;
    struct sp_algebra algebra = new_algebra(), *m = &algebra;
    const struct sp_poly *x = sp_poly_atom(m, 0), *most = sp_poly_scale(m, x, sp_rational_int(INT64_MAX));
    const struct sp_poly *least = sp_poly_scale(m, most, sp_rational_int(-1));
    expect_equal(m, "the largest", sp_poly_add(m, most, least), sp_poly_int(m, 0));
    expect_failed(m, sp_poly_add(m, most, x), overflow);
    expect_failed(m, sp_poly_sub(m, least, x), overflow);
    expect_failed(m, sp_poly_mul(m, most, sp_poly_int(m, 2)), overflow);
    expect_failed(m, sp_poly_scale(m, most, sp_rational_int(-2)), overflow);
    expect_failed(m, sp_poly_scale(m, x, (struct sp_rational){1, 0}), overflow);
    expect_failed(m, sp_poly_int(m, INT64_MIN), overflow);
    expect_failed(m, sp_poly_rational(m, (struct sp_rational){INT64_MIN, 1}), overflow);
    expect_failed(m, sp_poly_rational(m, (struct sp_rational){1, 0}), overflow);
    expect_failed(m, sp_poly_scale(m, x, (struct sp_rational){INT64_MIN, 1}), overflow);
    expect_equal(m, "not in lowest terms", sp_poly_rational(m, (struct sp_rational){-4, -6}),
                 sp_poly_rational(m, (struct sp_rational){2, 3}));
    expect_failed(m, sp_poly_power(m, most, 2), overflow);
    expect_failed(m, sp_poly_power(m, most, -2), overflow);
    expect_failed(m, sp_poly_substitute(m, sp_poly_power(m, x, 2), 0, most), overflow);
    expect_failed(m, sp_poly_sum(m, most, 0, sp_poly_int(m, 1), sp_poly_int(m, 2)), overflow);
    expect_failed(m, sp_poly_total(m, (const struct sp_poly *[]){most, x}, 2), overflow);
    const struct sp_poly *third = sp_poly_rational(m, (struct sp_rational){1, 3037000499});
    const struct sp_poly *fifth = sp_poly_rational(m, (struct sp_rational){1, 3037000507});
    expect_failed(m, sp_poly_add(m, third, fifth), overflow);
    sp_algebra_free(m);
}

/* The value would not fit: false, and nothing is written. */
static void test_evaluation(void **state)
{
    (void)state;
    struct sp_algebra algebra = new_algebra(), *m = &algebra;
    struct sp_rational at[ATOMS] = {{(int64_t)1 << 32, 1}, {0, 1}}, value = {77, 78};
    const struct sp_poly *x = sp_poly_atom(m, 0);
    assert_false(sp_poly_evaluate(sp_poly_mul(m, x, x), at, &value));
    assert_false(sp_poly_evaluate(sp_poly_power(m, sp_poly_atom(m, 1), -1), at, &value));
    assert_false(sp_poly_evaluate(sp_poly_power(m, x, -2), at, &value));
    assert_true(value.num == 77 && value.den == 78);
    at[0] = sp_rational_int(INT64_MAX);
    assert_true(sp_poly_evaluate(x, at, &value) && value.num == INT64_MAX);
    assert_false(sp_poly_evaluate(sp_poly_add(m, x, sp_poly_int(m, 1)), at, &value));
    at[0].num = INT64_MIN; /* not a value that rationals have */
    assert_false(sp_poly_evaluate(x, at, &value));
    sp_algebra_free(m);
}

static void test_exponents(void **state)
{
    (void)state;
    struct sp_algebra algebra = new_algebra(), *m = &algebra;
    const struct sp_poly *x = sp_poly_atom(m, 0), *high = sp_poly_power(m, x, SP_MAX_EXPONENT);
    const struct sp_poly *low = sp_poly_power(m, x, -SP_MAX_EXPONENT), *one = sp_poly_int(m, 1);
    expect_equal(m, "the highest", sp_poly_mul(m, high, low), one);
    expect_equal(m, "1^2147483647", sp_poly_power(m, one, INT32_MAX), one);
    expect_equal(m, "(-1)^-2147483647", sp_poly_power(m, sp_poly_int(m, -1), -INT32_MAX), sp_poly_int(m, -1));
    expect_equal(m, "0^2147483647", sp_poly_power(m, sp_poly_int(m, 0), INT32_MAX), sp_poly_int(m, 0));
    expect_failed(m, sp_poly_mul(m, high, x), exponent);
    expect_failed(m, sp_poly_divide(m, low, x), exponent);
    expect_failed(m, sp_poly_power(m, x, SP_MAX_EXPONENT + 1), exponent);
    expect_failed(m, sp_poly_power(m, x, INT32_MAX), exponent);
    expect_failed(m, sp_poly_power(m, x, INT32_MIN), exponent);
    expect_failed(m, sp_poly_power(m, high, INT32_MAX), exponent);
    expect_failed(m, sp_poly_substitute(m, high, 0, high), exponent);
    expect_failed(m, sp_poly_substitute_all(m, high, &(size_t){0}, &high, 1), exponent);
    sp_algebra_free(m);
}

/* a0 + a1 + ... */
static const struct sp_poly *sum_of_atoms(struct sp_algebra *m, size_t count)
{
    static const struct sp_poly *atoms[10000];
    for (size_t i = 0; i < count; i++) {
        char name[32];
        snprintf(name, sizeof name, "a%zu", i);
        atoms[i] = sp_poly_atom(m, sp_atom_symbol(m, name));
    }
    return sp_poly_total(m, atoms, count);
}

static void test_hostile(void **state)
{
    (void)state;
    struct sp_algebra algebra = new_algebra(), *m = &algebra;
    const struct sp_poly *x = sp_poly_atom(m, 0), *one = sp_poly_int(m, 1), *next = sp_poly_add(m, x, one);
    expect_failed(m, sp_poly_power(m, sum_of_atoms(m, 5), 50), terms);
    expect_failed(m, sp_poly_power(m, sum_of_atoms(m, 3), INT32_MAX), overflow);
    expect_failed(m, sp_poly_power(m, sum_of_atoms(m, 200), 3), terms);
    expect_failed(m, sp_poly_power(m, sum_of_atoms(m, 10000), 2), terms);
    expect_failed(m, sp_poly_power(m, next, 1000), overflow);
    expect_failed(m, sp_poly_power(m, next, INT32_MAX), overflow);
    expect_failed(m, sp_poly_power(m, sp_poly_sub(m, one, x), 70), overflow);
    const struct sp_poly *power = sp_poly_power(m, sp_poly_sub(m, sp_poly_atom(m, 1), sp_poly_atom(m, 2)), 12);
    expect_failed(m, sp_poly_sum(m, sp_poly_power(m, x, 12), 0, one, power), overflow);
    assert_true(m->arena.used < (size_t)100 << 20);
    sp_algebra_free(m);
}

/* x^1000 + y divided by many: the quotient would have up to a million terms, or none. */
static void test_hostile_divisions(void **state)
{
    (void)state;
    struct sp_algebra algebra = new_algebra(), *m = &algebra;
    const struct sp_poly *x = sp_poly_atom(m, 0), *y = sp_poly_atom(m, 1), *high = sp_poly_power(m, x, 1000);
    const struct sp_poly *below = sp_poly_sub(m, x, y), *all = sp_poly_sub(m, high, sp_poly_power(m, y, 1000));
    const struct sp_poly *quotient = sp_poly_divide(m, all, below);
    assert_non_null(quotient);
    assert_int_equal(quotient->count, 1000);
    expect_equal(m, "(x^1000 - y^1000)/(x - y)", sp_poly_mul(m, quotient, below), all);
    assert_null(sp_poly_divide(m, sp_poly_add(m, high, y), below));
    assert_null(sp_poly_divide(m, sp_poly_add(m, high, sp_poly_power(m, y, 999)), below));
    const struct sp_poly *wide = sp_poly_add(m, sum_of_atoms(m, 9999), sp_poly_mul(m, x, x));
    assert_null(sp_poly_divide(m, wide, sp_poly_add(m, x, sp_poly_int(m, 1))));
    const struct sp_poly *product = sp_poly_mul(m, wide, sp_poly_add(m, x, y));
    expect_failed(m, sp_poly_divide(m, product, sp_poly_add(m, x, y)), "a division takes too long");
    sp_algebra_free(m);
}

/* Additions one by one, until the algebra may take no more memory. */
static void test_memory(void **state)
{
    (void)state;
    struct sp_algebra algebra = new_algebra(), *m = &algebra;
    const struct sp_poly *wide = sum_of_atoms(m, 10000);
    for (int i = 0; i < 3000 && !m->failed; i++) wide = sp_poly_add(m, wide, sp_poly_int(m, 1));
    assert_string_equal(m->failed, memory);
    assert_true(m->arena.used < (size_t)600 << 20);
    sp_algebra_free(m);
}

/* Work adds up over many small steps; whoever begins something new sets it back. */
static void test_work(void **state)
{
    (void)state;
    struct sp_algebra algebra = new_algebra(), *m = &algebra;
    const struct sp_poly *sum = sum_of_atoms(m, 1000), *zero = NULL;
    const struct sp_poly *both[] = {sum, sp_poly_scale(m, sum, sp_rational_int(-1))};
    for (int i = 0; i < 1000000 && !m->failed; i++) zero = sp_poly_total(m, both, 2);
    expect_failed(m, zero, "the formulas take too long");
    expect_failed(m, sp_poly_total(m, both, 2), "the formulas take too long");
    m->work = 0;
    assert_true(sp_poly_is_zero(sp_poly_total(m, both, 2)));
    sp_algebra_free(m);
}

/* What is computed from a polynomial that does not exist does not exist: no operation looks behind the NULL. */
static void test_undefined(void **state)
{
    (void)state;
    struct sp_algebra algebra = new_algebra(), *m = &algebra;
    struct sp_text text = {0};
    struct sp_rational value;
    int64_t root;
    bool complete;
    const struct sp_poly *x = sp_poly_atom(m, 0), *none = sp_poly_power(m, sp_poly_add(m, x, sp_poly_int(m, 1)), -1);
    const struct sp_poly *parts[] = {x, none};
    const struct sp_poly *all[] = {none,
                                   sp_poly_add(m, none, x),
                                   sp_poly_add(m, x, none),
                                   sp_poly_sub(m, x, none),
                                   sp_poly_mul(m, sp_poly_int(m, 0), none),
                                   sp_poly_scale(m, none, sp_rational_int(0)),
                                   sp_poly_power(m, none, 0),
                                   sp_poly_total(m, parts, 2),
                                   sp_poly_divide(m, none, x),
                                   sp_poly_divide(m, x, none),
                                   sp_poly_substitute(m, none, 0, x),
                                   sp_poly_substitute(m, x, 0, none),
                                   sp_poly_coefficient(m, none, 0, 1),
                                   sp_poly_sum(m, none, 0, x, x),
                                   sp_poly_sum(m, x, 0, none, x),
                                   sp_poly_sum(m, x, 0, x, none)};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        assert_null(all[i]);
        assert_false(sp_poly_is_zero(all[i]) || sp_poly_equal(all[i], all[i]) || sp_poly_uses(all[i], 0));
        assert_false(sp_poly_is_constant(all[i], &value) || sp_poly_evaluate(all[i], &value, &value));
        assert_int_equal(sp_poly_degree(all[i], 0), sp_poly_low_degree(all[i], 0));
        assert_int_equal(sp_poly_roots(m, all[i], 0, &root, 1, &complete), 0);
        assert_false(complete);
    }
    sp_poly_put_expanded(&text, m, none);
    sp_poly_put_factored(&text, m, none);
    assert_string_equal(text.data, "undefinedundefined");
    assert_null(m->failed);
    sp_text_free(&text);
    sp_algebra_free(m);
}

/* A condition makes powers of sums small again: (2 - b)^40 = 2^40 + (1 - 2^40)*b. */
static void test_high_powers_of_conditions(void **state)
{
    (void)state;
    struct sp_algebra algebra = new_algebra(), *m = &algebra;
    const struct sp_poly *b = sp_poly_atom(m, 5), *one = sp_poly_int(m, 1), *other = sp_poly_sub(m, one, b);
    const struct sp_poly *power = sp_poly_power(m, sp_poly_sub(m, sp_poly_int(m, 2), b), 40);
    const int64_t large = (int64_t)1 << 40;
    expect_equal(m, "(1 - b)^1000000007", sp_poly_power(m, other, 1000000007), other);
    expect_equal(m, "(2 - b)^40", power,
                 sp_poly_add(m, sp_poly_int(m, large), sp_poly_scale(m, b, sp_rational_int(1 - large))));
    expect_failed(m, sp_poly_power(m, sp_poly_sub(m, sp_poly_int(m, 2), b), 64), overflow);
    sp_algebra_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_coefficients),
        cmocka_unit_test(test_evaluation),
        cmocka_unit_test(test_exponents),
        cmocka_unit_test(test_hostile),
        cmocka_unit_test(test_hostile_divisions),
        cmocka_unit_test(test_memory),
        cmocka_unit_test(test_work),
        cmocka_unit_test(test_undefined),
        cmocka_unit_test(test_high_powers_of_conditions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
