/* SPDX-License-Identifier: MIT
 * Numbers in names that are worked out of keys: values are tried on whole lists of modules. */
#define _XOPEN_SOURCE 700
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "infer/finding.h"

/* Two levels of three kernels: how many of either shows in the shapes. */
static void a_list_within_a_loop(void **state)
{
    static const char text[] = "table organ\nmodel_type \"organ\"\n"
                               "r = len(kernels)\n"
                               "[levels] for i in 0..levels-1\n"
                               "level.{i}.weight (width // 2^i, 5)\n"
                               "[pipes] for i in 0..levels-1 for k in 0..r-1\n"
                               "pipe.{i*r + k}.weight (width // 2^i, kernels[k])\n";
    static const uint64_t kernels[] = {3, 7, 11};
    struct model model;
    (void)state;
    begin_with(&model, text);
    for (unsigned i = 0; i < 2; i++) {
        add_module(&model, "level", i, "weight", 32U >> i, 5);
        for (unsigned k = 0; k < 3; k++) add_module(&model, "pipe", 3 * i + k, "weight", 32U >> i, kernels[k]);
    }
    FIND();
    FOUND("organ");
    assert_true(explains_all(&finding));
    TOLD("levels", "2");
    TOLD("width", "32");
    TOLD("kernels", "[3, 7, 11]");
    END();
}

/* Names go on from level to level, and at last there is one that only the sum of all tells. */
static void a_sum_of_items(void **state)
{
    static const char text[] = "table coder\nmodel_type \"coder\"\n"
                               "n = len(blocks)\n"
                               "before(i) = i == 0 ? 0 : i == 1 ? blocks[0] : blocks[0] + blocks[1]\n"
                               "require n <= 3, \"no such table\"\n"
                               "[ends]\nlayer.{n + sum(blocks)}.out (width)\n"
                               "[down] for i in 1..n-1\n"
                               "layer.{i + before(i)}.down (width, width)\n"
                               "[blocks] for i in 0..n-1 for j in 1..blocks[i]\n"
                               "layer.{i + before(i) + j}.weight (width, 3)\n";
    struct model model;
    (void)state;
    begin_with(&model, text);
    add_module(&model, "layer", 1, "weight", 16, 3);
    model_add_shape(&model, "layer.2.down", SHAPE(16, 16));
    add_module(&model, "layer", 3, "weight", 16, 3);
    add_module(&model, "layer", 4, "weight", 16, 3);
    model_add_shape(&model, "layer.5.out", SHAPE(16));
    FIND();
    FOUND("coder");
    assert_true(explains_all(&finding));
    TOLD("width", "16");
    TOLD("blocks", "[1, 2]");
    END();
}

/* Six alike may be one row of six, or two of three. */
static void only_the_product_shows(void **state)
{
    static const char text[] = "table wall\nmodel_type \"wall\"\n"
                               "[stones] for i in 0..rows-1 for k in 0..length-1\n"
                               "stone.{i*length + k}.weight (width, 5)\n";
    struct model model;
    (void)state;
    begin_with(&model, text);
    for (unsigned i = 0; i < 6; i++) add_module(&model, "stone", i, "weight", 16, 5);
    FIND();
    FOUND("wall");
    assert_true(explains_all(&finding));
    TOLD("width", "16");
    assert_false(inferred(&finding, "rows").determined);
    assert_false(inferred(&finding, "length").determined);
    END();
}

/* One after the other: plainly so, or by gaps that happen to be 1. */
static void a_longer_way_to_the_same(void **state)
{
    static const char text[] = "table fan\nmodel_type \"fan\"\n"
                               "step = form == \"plain\" ? 1 : form == \"wide\" ? gap : 2\n"
                               "[blades] for i in 0..2\n"
                               "blade.{i*step}.weight (width, 5)\n"
                               "[rest]\nhandle.weight (width)\n";
    struct model model;
    (void)state;
    begin_with(&model, text);
    for (unsigned i = 0; i < 3; i++) add_module(&model, "blade", i, "weight", 16, 5);
    model_add_shape(&model, "handle.weight", SHAPE(16));
    FIND();
    FOUND("fan");
    assert_true(explains_all(&finding));
    assert_false(inferred(&finding, "form").determined);
    END();
}

/* Two after the other leave one way. */
static void the_only_way(void **state)
{
    static const char text[] = "table fan\nmodel_type \"fan\"\n"
                               "[blades] for i in 0..2\n"
                               "blade.{i*gap}.weight (width, 5)\n"
                               "[rest]\nhandle.weight (width)\n";
    struct model model;
    (void)state;
    begin_with(&model, text);
    for (unsigned i = 0; i < 3; i++) add_module(&model, "blade", 3 * i, "weight", 16, 5);
    model_add_shape(&model, "handle.weight", SHAPE(16));
    FIND();
    FOUND("fan");
    assert_true(explains_all(&finding));
    TOLD("gap", "3");
    END();
}

/* No value makes such a list; and numbers beyond all bounds take no time. */
static void no_way_at_all(void **state)
{
    static const char text[] = "table wall\nmodel_type \"wall\"\n"
                               "[stones] for i in 0..rows-1 for k in 0..length-1\n"
                               "stone.{i*length + k}.weight (width, 5)\n"
                               "[ground] for i in 0..3\nground.{i}.weight (width, 5)\n";
    struct model model;
    (void)state;
    begin_with(&model, text);
    add_module(&model, "stone", 1, "weight", 16, 5);
    add_module(&model, "stone", 4000000000U, "weight", 16, 5);
    for (unsigned i = 0; i < 4; i++) add_module(&model, "ground", i, "weight", 16, 5);
    struct finding finding = find(&model, "wall");
    assert_null(finding.inference);
    assert_int_equal(finding.error.status, SHAPEPROOF_ERR_UNKNOWN);
    END();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_list_within_a_loop),   cmocka_unit_test(a_sum_of_items),
        cmocka_unit_test(only_the_product_shows), cmocka_unit_test(a_longer_way_to_the_same),
        cmocka_unit_test(the_only_way),           cmocka_unit_test(no_way_at_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
