/* SPDX-License-Identifier: MIT
 * Blocks of ggml against what gguf-py 0.19.0 makes of the same bytes (gguf.quants.dequantize), and the intervals around
 * their values. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "stored/ggml_blocks.h"

/* Byte i is 73 i + 41, but the scales of F16 are 0x2c00 and 0x2d00, and that of E8M0 is 120. `weighted` is the sum of
 * each value times its place, from 1 on. */
static const struct {
    const char *name;
    size_t halves, at[2];
    double first, last, weighted;
} cases[] = {
    {"Q4_0", 1, {0, 0}, 0.1875, -0.5, -49.9375},
    {"Q4_1", 2, {0, 2}, 0.890625, 0.640625, 257.875},
    {"Q5_0", 1, {0, 0}, 0.9375, 0.125, -74.0625},
    {"Q5_1", 2, {0, 2}, 1.140625, 0.765625, 544.25},
    {"Q8_0", 1, {0, 0}, -4.3125, -6.875, -43},
    {"Q2_K", 2, {80, 82}, 0.40625, -0.546875, 5551},
    {"Q3_K", 1, {108, 0}, -0.4375, -1.5, 2171.625},
    {"Q4_K", 2, {0, 2}, 3.484375, -1.796875, 426510.75},
    {"Q5_K", 2, {0, 2}, 16.484375, -1.796875, 897456.75},
    {"Q6_K", 1, {208, 0}, 10.0625, 18, -101758},
    {"IQ4_NL", 1, {0, 0}, 2.375, -7.9375, -754.75},
    {"IQ4_XS", 1, {0, 0}, -188.5, -46.875, 55190.6875},
    {"MXFP4", 0, {0, 0}, 0.0078125, -0.01171875, 2.4453125},
};

static void values_as_in_gguf_py(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct sp_ggml_block *type = sp_ggml_block(cases[i].name);
        struct sp_restored restored[SP_GGML_MOST_ELEMENTS];
        unsigned char block[SP_GGML_MOST_ELEMENTS];
        double weighted = 0;
        assert_non_null(type);
        for (size_t k = 0; k < type->bytes; k++) block[k] = (unsigned char)(k * 73 + 41);
        if (!cases[i].halves) block[0] = 120;
        for (size_t k = 0; k < cases[i].halves; k++) {
            block[cases[i].at[k]] = 0;
            block[cases[i].at[k] + 1] = (unsigned char)(0x2c + k);
        }
        type->restore(block, restored);
        for (size_t k = 0; k < type->elements; k++) {
            weighted += (double)restored[k].value * (double)(k + 1);
            assert_true(restored[k].low <= restored[k].value && restored[k].value <= restored[k].high);
        }
        assert_true(fabs((double)restored[0].value - cases[i].first) < 1e-6);
        assert_true(fabs((double)restored[type->elements - 1].value - cases[i].last) < 1e-6);
        if (fabs(weighted - cases[i].weighted) > 1e-6 * fabs(cases[i].weighted))
            fail_msg("%s: %.9g", cases[i].name, weighted);
    }
}

/* A code that is not at an end stands for half a step on either side, one at an end for what is beyond too. */
static void intervals_of_codes(void **state)
{
    struct sp_restored restored[SP_GGML_MOST_ELEMENTS];
    unsigned char block[144] = {0, 0x3c, 0, 0, 1}; /* Q4_K: a scale of 1, no minimum; the first part's scale is 1 */
    (void)state;
    block[16] = 7;
    block[17] = 15;
    sp_ggml_block("Q4_K")->restore(block, restored);
    assert_true(fabs((double)restored[0].value - 7) < 1e-6);
    assert_true(fabs((double)restored[0].low - 6.5) < 1e-3 && fabs((double)restored[0].high - 7.5) < 1e-3);
    assert_true(fabs((double)restored[1].low - 14.5) < 1e-3 && restored[1].high > 20);
    assert_true(restored[2].high < 0.51F && restored[2].low < -5);
}

static void other_types(void **state)
{
    (void)state;
    assert_null(sp_ggml_block("IQ2_XXS"));
    assert_null(sp_ggml_block(NULL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(values_as_in_gguf_py), cmocka_unit_test(intervals_of_codes),
                                       cmocka_unit_test(other_types)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
