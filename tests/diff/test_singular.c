/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "diff/singular.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* The bounds hold, are as close as it was asked, and stop at the value. */
static void bounds(void **state)
{
    static const double diagonal[] = {2, 0, 0, 1}, wide[] = {3, 4, 0, 0, 0, 0, 3, 0}; /* 2 and 1; 5 and 3 */
    const double close = 1e-6;
    (void)state;
    struct sp_singular_bounds found = sp_singular_largest(diagonal, 2, 2, 2, close);
    assert_true(found.low <= 2 * (1 + close) && found.high >= 2 * (1 - close) &&
                found.high <= found.low * (1 + 2 * close));
    found = sp_singular_largest(diagonal, 2, 2, 10, close);
    assert_true(found.high < 10 && found.high > 2.2); /* |w| is enough */
    found = sp_singular_largest(wide, 2, 4, 4, close);
    assert_true(found.low > 4 && found.low <= 5.001);
    found = sp_singular_largest(wide, 2, 4, 5.1, close);
    assert_true(found.high < 5.1 && found.high > 4.999);
}

static void numbers_without_bounds(void **state)
{
    static const double zeros[4] = {0};
    const double infinite[] = {(double)INFINITY, 1}, large[] = {1e200, 1e200};
    (void)state;
    assert_true(sp_singular_largest(zeros, 2, 2, 1, 0.1).high <= 0);
    assert_true(isinf(sp_singular_largest(infinite, 1, 2, 1, 0.1).high));
    assert_true(isinf(sp_singular_largest(large, 1, 2, 1, 0.1).high)); /* of the squares */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bounds),
        cmocka_unit_test(numbers_without_bounds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
