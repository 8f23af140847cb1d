/* SPDX-License-Identifier: MIT
 * Laws that must hold for all polynomials, tried on random ones. */
#include "algebra.h"

enum { ROUNDS = 1500 };

/* Called with three random polynomials: with fractions and conditions, and with negative exponents every other time. */
typedef void law(struct sp_algebra *algebra, uint64_t *seed, const struct sp_poly *p, const struct sp_poly *q,
                 const struct sp_poly *r);

static void for_all(law *holds)
{
    for (uint64_t round = 0; round < ROUNDS; round++) {
        struct sp_algebra algebra = new_algebra();
        uint64_t seed = round;
        const struct shape shape = round % 2 ? laurent_shape : small_shape;
        const struct sp_poly *p = random_poly(&algebra, &seed, shape), *q = random_poly(&algebra, &seed, shape);
        holds(&algebra, &seed, p, q, random_poly(&algebra, &seed, shape));
        sp_algebra_free(&algebra);
    }
}

/* ---- the ring ---- */

static void ring(struct sp_algebra *m, uint64_t *seed, const struct sp_poly *p, const struct sp_poly *q,
                 const struct sp_poly *r)
{
    (void)seed;
    const struct sp_poly *zero = sp_poly_int(m, 0), *one = sp_poly_int(m, 1);
    expect_equal(m, "p + q = q + p", sp_poly_add(m, p, q), sp_poly_add(m, q, p));
    expect_equal(m, "(p + q) + r = p + (q + r)", sp_poly_add(m, sp_poly_add(m, p, q), r),
                 sp_poly_add(m, p, sp_poly_add(m, q, r)));
    expect_equal(m, "p + 0 = p", sp_poly_add(m, p, zero), p);
    expect_equal(m, "p - p = 0", sp_poly_sub(m, p, p), zero);
    expect_equal(m, "p + p = 2*p", sp_poly_add(m, p, p), sp_poly_scale(m, p, sp_rational_int(2)));
    expect_equal(m, "p - q = -(q - p)", sp_poly_sub(m, p, q),
                 sp_poly_scale(m, sp_poly_sub(m, q, p), sp_rational_int(-1)));
    expect_equal(m, "p*q = q*p", sp_poly_mul(m, p, q), sp_poly_mul(m, q, p));
    expect_equal(m, "(p*q)*r = p*(q*r)", sp_poly_mul(m, sp_poly_mul(m, p, q), r),
                 sp_poly_mul(m, p, sp_poly_mul(m, q, r)));
    expect_equal(m, "p*(q + r) = p*q + p*r", sp_poly_mul(m, p, sp_poly_add(m, q, r)),
                 sp_poly_add(m, sp_poly_mul(m, p, q), sp_poly_mul(m, p, r)));
    expect_equal(m, "p*1 = p", sp_poly_mul(m, p, one), p);
    expect_equal(m, "p*0 = 0", sp_poly_mul(m, p, zero), zero);
    expect_equal(m, "0*p = 0", sp_poly_scale(m, p, sp_rational_int(0)), zero);
}

static void test_ring(void **state)
{
    (void)state;
    for_all(ring);
}

static void powers(struct sp_algebra *m, uint64_t *seed, const struct sp_poly *p, const struct sp_poly *q,
                   const struct sp_poly *r)
{
    (void)r;
    (void)seed;
    const struct sp_poly *product = sp_poly_int(m, 1);
    for (int n = 0; n <= 4; n++) {
        expect_equal(m, "p^n = p*p*...", sp_poly_power(m, p, n), product);
        product = sp_poly_mul(m, product, p);
    }
    expect_equal(m, "(p*q)^2 = p^2*q^2", sp_poly_power(m, sp_poly_mul(m, p, q), 2),
                 sp_poly_mul(m, sp_poly_power(m, p, 2), sp_poly_power(m, q, 2)));
}

static void test_powers(void **state)
{
    (void)state;
    for_all(powers);
}

/* A polynomial is the sum of its coefficients times the powers of any atom. */
static void coefficients(struct sp_algebra *m, uint64_t *seed, const struct sp_poly *p, const struct sp_poly *q,
                         const struct sp_poly *r)
{
    const size_t x = (size_t)random_between(seed, 0, SYMBOLS - 1);
    const struct sp_poly *sum = sp_poly_int(m, 0);
    (void)q;
    (void)r;
    for (int e = sp_poly_low_degree(p, x); e <= sp_poly_degree(p, x); e++) {
        const struct sp_poly *part = sp_poly_coefficient(m, p, x, e);
        assert_false(sp_poly_uses(part, x));
        sum = sp_poly_add(m, sum, sp_poly_mul(m, part, sp_poly_power(m, sp_poly_atom(m, x), e)));
    }
    expect_equal(m, "p = sum of coefficient*x^e", sum, p);
    assert_true(sp_poly_is_zero(sp_poly_coefficient(m, p, x, 100)));
}

static void test_coefficients(void **state)
{
    (void)state;
    for_all(coefficients);
}

/* The terms of a polynomial, added in any order and grouping, give the same polynomial. */
static void order(struct sp_algebra *m, uint64_t *seed, const struct sp_poly *p, const struct sp_poly *q,
                  const struct sp_poly *r)
{
    const struct sp_poly *all = sp_poly_add(m, sp_poly_add(m, p, q), r), *sum = sp_poly_int(m, 0);
    const struct sp_poly *parts[3] = {p, q, r};
    size_t first = random_bits(seed) % 3;
    for (size_t i = 0; i < 3; i++) {
        const struct sp_poly *part = parts[(first + i) % 3];
        for (size_t k = part->count; k-- > 0;) {
            const struct sp_poly borrowed = {&part->terms[k], 1};
            const struct sp_poly *term = sp_poly_scale(m, &borrowed, sp_rational_int(1));
            sum = random_bits(seed) % 2 ? sp_poly_add(m, sum, term) : sp_poly_add(m, term, sum);
        }
    }
    expect_equal(m, "any order", sum, all);
}

static void test_order(void **state)
{
    (void)state;
    for_all(order);
}

/* ---- division ---- */

static bool uses_condition(const struct sp_poly *p) { return sp_poly_uses(p, 4) || sp_poly_uses(p, 5); }

static void division(struct sp_algebra *m, uint64_t *seed, const struct sp_poly *p, const struct sp_poly *q,
                     const struct sp_poly *r)
{
    (void)seed;
    const struct sp_poly *quotient = sp_poly_divide(m, sp_poly_mul(m, p, q), q);
    const bool sum_with_condition = uses_condition(q) && q->count > 1;
    if (sp_poly_is_zero(q) || (sum_with_condition && !sp_poly_is_zero(sp_poly_mul(m, p, q)))) assert_null(quotient);
    else if (uses_condition(q)) expect_equal(m, "(p*q/q)*q = p*q", sp_poly_mul(m, quotient, q), sp_poly_mul(m, p, q));
    else expect_equal(m, "p*q/q = p", quotient, p);
    if (!(quotient = sp_poly_divide(m, p, r))) return;
    expect_equal(m, "(p/r)*r = p", sp_poly_mul(m, quotient, r), p);
}

static void test_division(void **state)
{
    (void)state;
    for_all(division);
}

/* With a remainder of another kind of term there is no quotient: r is below the divisor in y, and not 0. */
static void test_division_with_rest(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed < ROUNDS; seed++) {
        struct sp_algebra algebra = new_algebra(), *m = &algebra;
        uint64_t random = seed;
        const struct shape in_x = {4, 0, 3, 9, 2, 1}, in_both = {4, 0, 3, 9, 2, 2};
        const struct sp_poly *y2 = sp_poly_power(m, sp_poly_atom(m, 1), 2);
        const struct sp_poly *divisor = sp_poly_add(m, y2, random_poly(m, &random, in_x));
        const struct sp_poly *rest = sp_poly_add(m, random_poly(m, &random, in_x), sp_poly_atom(m, 1));
        const struct sp_poly *product = sp_poly_mul(m, divisor, random_poly(m, &random, in_both));
        const struct sp_poly *quotient = sp_poly_divide(m, sp_poly_add(m, product, rest), divisor);
        if (divisor->count == 1) assert_non_null(quotient); /* y^-1 is a quotient */
        else if (quotient) {
            show("divisor", divisor);
            show("rest", rest);
            fail_msg("divided with a rest");
        }
        assert_null(algebra.failed);
        sp_algebra_free(m);
    }
}

static void test_division_cases(void **state)
{
    (void)state;
    struct sp_algebra algebra = new_algebra(), *m = &algebra;
    const struct sp_poly *x = sp_poly_atom(m, 0), *y = sp_poly_atom(m, 1), *one = sp_poly_int(m, 1);
    const struct sp_poly *zero = sp_poly_int(m, 0), *b = sp_poly_atom(m, 5);
    const struct sp_poly *next = sp_poly_add(m, x, one), *inverse = sp_poly_power(m, x, -1);
    expect_equal(m, "y*(x/y) = x", sp_poly_mul(m, y, sp_poly_divide(m, x, y)), x);
    expect_equal(m, "(x + 1)/(x^2 + x) = 1/x", sp_poly_divide(m, next, sp_poly_mul(m, x, next)), inverse);
    expect_equal(m, "(1 + 1/x)/(x + 1) = 1/x", sp_poly_divide(m, sp_poly_add(m, one, inverse), next), inverse);
    expect_equal(m, "0/x = 0", sp_poly_divide(m, zero, x), zero);
    expect_equal(m, "(b*x + b)/(x + 1) = b", sp_poly_divide(m, sp_poly_mul(m, b, next), next), b);
    assert_null(sp_poly_divide(m, x, zero));
    assert_null(sp_poly_divide(m, zero, zero));
    assert_null(sp_poly_divide(m, x, next));
    assert_null(sp_poly_divide(m, one, next));
    expect_equal(m, "b/b", sp_poly_divide(m, b, b), sp_poly_int(m, 1)); /* 1*b = b, whatever b is */
    assert_null(sp_poly_power(m, next, -1));
    assert_null(sp_poly_power(m, zero, -1));
    assert_null(sp_poly_power(m, b, -1));
    assert_null(sp_poly_power(m, sp_poly_mul(m, b, x), -2));
    expect_equal(m, "0^0 = 1", sp_poly_power(m, zero, 0), one);
    sp_algebra_free(m);
}

/* ---- conditions ---- */

static void test_conditions(void **state)
{
    (void)state;
    struct sp_algebra algebra = new_algebra(), *m = &algebra;
    const struct sp_poly *b = sp_poly_atom(m, 5), *one = sp_poly_int(m, 1), *not_b = sp_poly_sub(m, one, b);
    expect_equal(m, "b*b = b", sp_poly_mul(m, b, b), b);
    expect_equal(m, "b^1000000 = b", sp_poly_power(m, b, 1000000), b);
    expect_equal(m, "b*(1 - b) = 0", sp_poly_mul(m, b, not_b), sp_poly_int(m, 0));
    expect_equal(m, "(1 - b)^7 = 1 - b", sp_poly_power(m, not_b, 7), not_b);
    expect_equal(m, "(1 + b)^3 = 1 + 7*b", sp_poly_power(m, sp_poly_add(m, one, b), 3),
                 sp_poly_add(m, one, sp_poly_scale(m, b, sp_rational_int(7))));
    assert_int_equal(sp_atom_condition(m, "b"), 5);
    assert_int_equal(sp_atom_symbol(m, "x"), 0);
    sp_algebra_free(m);
}

/* `if n_group` is a condition, n_group a number: taken for one, n_group*n_group would be n_group. */
static void test_number_and_condition_of_one_name(void **state)
{
    (void)state;
    for (int symbol_first = 0; symbol_first < 2; symbol_first++) {
        struct sp_algebra algebra = {0};
        if (symbol_first) sp_atom_symbol(&algebra, "n_group");
        else sp_atom_condition(&algebra, "n_group");
        assert_null(algebra.failed);
        if (symbol_first) sp_atom_condition(&algebra, "n_group");
        else sp_atom_symbol(&algebra, "n_group");
        assert_string_equal(algebra.failed, "a name stands for a number and for a condition");
        sp_algebra_free(&algebra);
    }
}

/* ---- values ---- */

static void evaluation(struct sp_algebra *m, uint64_t *seed, const struct sp_poly *p, const struct sp_poly *q,
                       const struct sp_poly *r)
{
    struct sp_rational at[ATOMS], sum, product;
    (void)r;
    random_point(seed, at);
    assert_true(sp_rational_add(value_at(p, at), value_at(q, at), &sum));
    assert_true(same_number(value_at(sp_poly_add(m, p, q), at), sum));
    if (!sp_rational_mul(value_at(p, at), value_at(q, at), &product)) return;
    struct sp_rational value;
    if (sp_poly_evaluate(sp_poly_mul(m, p, q), at, &value)) assert_true(same_number(value, product));
}

static void test_evaluation(void **state)
{
    (void)state;
    for_all(evaluation);
}

/* p with q for x, evaluated = p evaluated where x has the value of q. */
static void substitution(struct sp_algebra *m, uint64_t *seed, const struct sp_poly *p, const struct sp_poly *q,
                         const struct sp_poly *r)
{
    struct sp_rational at[ATOMS], there, here;
    const size_t x = (size_t)random_between(seed, 0, SYMBOLS - 1);
    (void)r;
    random_point(seed, at);
    const struct sp_poly *replaced = sp_poly_substitute(m, p, x, q);
    if (!replaced) {
        assert_true(sp_poly_low_degree(p, x) < 0 && (q->count != 1 || uses_condition(q)));
        return;
    }
    assert_null(m->failed);
    assert_true(is_canonical(m, replaced));
    struct sp_rational moved[ATOMS];
    memcpy(moved, at, sizeof at);
    moved[x] = value_at(q, at);
    if (!sp_poly_evaluate(p, moved, &there) || !sp_poly_evaluate(replaced, at, &here)) return;
    if (same_number(there, here)) return;
    show("p", p);
    show("q", q);
    show("p(x = q)", replaced);
    fail_msg("substitution for atom %zu", x);
}

static void test_substitution(void **state)
{
    (void)state;
    for_all(substitution);
}

static void test_substitution_of_itself(void **state)
{
    (void)state;
    struct sp_algebra algebra = new_algebra(), *m = &algebra;
    uint64_t seed = 5;
    for (int round = 0; round < 200; round++) {
        const struct sp_poly *p = random_poly(m, &seed, laurent_shape);
        for (size_t i = 0; i < ATOMS; i++)
            expect_equal(m, "p(x = x) = p", sp_poly_substitute(m, p, i, sp_poly_atom(m, i)), p);
    }
    sp_algebra_free(m);
}

static const struct sp_poly *put_or_stay(struct sp_algebra *m, const struct sp_poly *p, size_t atom,
                                         const struct sp_poly *value)
{
    const struct sp_poly *put = sp_poly_substitute(m, p, atom, value);
    return put ? put : p;
}

/* Putting in many at once is putting in one after the other, the numbers first. Where a number, 0, has to stay because
 * it would be below a fraction line, they come in the order of the list. */
static void substitution_of_all(struct sp_algebra *m, uint64_t *seed, const struct sp_poly *p, const struct sp_poly *q,
                                const struct sp_poly *r)
{
    (void)r;
    const size_t atoms[3] = {0, 1, 2};
    const struct sp_poly *numbers[2] = {sp_poly_int(m, random_between(seed, -2, 2)),
                                        sp_poly_int(m, random_between(seed, -2, 2))};
    const struct sp_poly *const values[3] = {numbers[0], q, numbers[1]};
    const struct sp_poly *expected = sp_poly_substitute(m, p, 0, numbers[0]);
    expected = expected ? sp_poly_substitute(m, expected, 2, numbers[1]) : NULL;
    if (expected) expected = put_or_stay(m, expected, 1, q);
    else expected = put_or_stay(m, put_or_stay(m, put_or_stay(m, p, 0, numbers[0]), 1, q), 2, numbers[1]);
    const struct sp_poly *all = sp_poly_substitute_all(m, p, atoms, values, 3);
    assert_null(m->failed);
    assert_true(is_canonical(m, all));
    expect_equal(m, "all at once", all, expected);
    assert_ptr_equal(sp_poly_substitute_all(m, p, atoms, values, 0), p);
    assert_null(sp_poly_substitute_all(m, NULL, atoms, values, 3));
}

static void test_substitution_of_all(void **state)
{
    (void)state;
    for_all(substitution_of_all);
}

/* The total of many is what adding one by one gives. */
static void total(struct sp_algebra *m, uint64_t *seed, const struct sp_poly *p, const struct sp_poly *q,
                  const struct sp_poly *r)
{
    const struct sp_poly *choices[3] = {p, q, r}, *parts[40], *sum = sp_poly_int(m, 0);
    const size_t count = random_bits(seed) % 40;
    for (size_t i = 0; i < count; i++) {
        parts[i] = choices[random_bits(seed) % 3];
        if (random_bits(seed) % 4 == 0) parts[i] = sp_poly_scale(m, parts[i], sp_rational_int(-1));
        sum = sp_poly_add(m, sum, parts[i]);
    }
    expect_equal(m, "total", sp_poly_total(m, parts, count), sum);
}

static void test_total(void **state)
{
    (void)state;
    for_all(total);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ring),
        cmocka_unit_test(test_powers),
        cmocka_unit_test(test_coefficients),
        cmocka_unit_test(test_order),
        cmocka_unit_test(test_division),
        cmocka_unit_test(test_division_with_rest),
        cmocka_unit_test(test_division_cases),
        cmocka_unit_test(test_conditions),
        cmocka_unit_test(test_number_and_condition_of_one_name),
        cmocka_unit_test(test_evaluation),
        cmocka_unit_test(test_substitution),
        cmocka_unit_test(test_substitution_of_itself),
        cmocka_unit_test(test_substitution_of_all),
        cmocka_unit_test(test_total),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
