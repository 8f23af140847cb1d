/* SPDX-License-Identifier: MIT
 * The functions for many values at once against those for one: all values of 16 bits, and the numbers of F32 around
 * every border between two of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "model/values.h"

static const enum shapeproof_dtype narrow_dtypes[] = {SHAPEPROOF_DTYPE_F16, SHAPEPROOF_DTYPE_BF16};

static double value_of_bits(enum shapeproof_dtype dtype, uint16_t bits)
{
    const unsigned char bytes[] = {(unsigned char)bits, (unsigned char)(bits >> 8)};
    return sp_value_of(dtype, bytes);
}

/* Each in the middle of zeros. */
static void widened_values(void **state)
{
    (void)state;
    for (size_t d = 0; d < 2; d++)
        for (uint32_t bits = 0; bits <= UINT16_MAX; bits++) {
            uint16_t from[SP_VALUES] = {0};
            float into[SP_VALUES];
            const size_t place = bits % SP_VALUES;
            const double value = value_of_bits(narrow_dtypes[d], (uint16_t)bits);
            from[place] = (uint16_t)bits;
            const bool known = sp_values_widen(narrow_dtypes[d], (unsigned char *)from, into);
            assert_int_equal(known, narrow_dtypes[d] == SHAPEPROOF_DTYPE_BF16 || isfinite(value));
            if (!known) continue;
            assert_true(sp_is_same_value((double)into[place], value));
            assert_true(sp_values_are_equal(narrow_dtypes[d], (unsigned char *)from, into));
            into[place ^ 1] = 1e-30F;
            assert_false(sp_values_are_equal(narrow_dtypes[d], (unsigned char *)from, into));
        }
}

static void expect_rounding(enum shapeproof_dtype dtype, float wide_value, uint16_t bits)
{
    float wide[SP_VALUES] = {0};
    uint16_t narrow[SP_VALUES] = {0};
    const double rounded = sp_rounded_to(dtype, (double)wide_value);
    const size_t place = bits % SP_VALUES;
    wide[place] = wide_value;
    narrow[place] = bits;
    const bool expected = isfinite(rounded) && sp_is_same_value(rounded, value_of_bits(dtype, bits));
    if (sp_values_are_rounded(dtype, (unsigned char *)narrow, wide) != expected)
        fail_msg("%a as %#x of %s", (double)wide_value, bits, shapeproof_dtype_name(dtype));
}

/* For each finite number and the next: both, the middle, and what is beside the middle. */
static void rounded_values(void **state)
{
    (void)state;
    for (size_t d = 0; d < 2; d++)
        for (uint32_t bits = 0; bits < UINT16_MAX; bits++) {
            const enum shapeproof_dtype dtype = narrow_dtypes[d];
            const double low = value_of_bits(dtype, (uint16_t)bits), high = value_of_bits(dtype, (uint16_t)(bits + 1));
            if (!isfinite(low)) continue;
            const double step = isfinite(high) ? high - low : low - value_of_bits(dtype, (uint16_t)(bits - 1));
            const float middle = (float)(low + step / 2);
            const float list[] = {(float)low, middle, nextafterf(middle, 0), nextafterf(middle, middle * 2)};
            for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
                expect_rounding(dtype, list[i], (uint16_t)bits);
                expect_rounding(dtype, list[i], (uint16_t)(bits + 1));
            }
        }
    expect_rounding(SHAPEPROOF_DTYPE_F16, 1e30F, 0x7c00);
    expect_rounding(SHAPEPROOF_DTYPE_F16, 1e30F, 0x4c00);
    expect_rounding(SHAPEPROOF_DTYPE_F16, (float)NAN, 0x7e00);
    expect_rounding(SHAPEPROOF_DTYPE_BF16, (float)INFINITY, 0x7f80);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(widened_values), cmocka_unit_test(rounded_values)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
