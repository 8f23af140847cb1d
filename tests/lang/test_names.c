/* SPDX-License-Identifier: MIT
 * What names mean where several things have the same one, and in tables that extend others. */
#define _POSIX_C_SOURCE 200809L
#include "lang/harness.h"

static void the_nearest_one_counts(void **state)
{
    (void)state;
    assert_listing("table t\nf(i) = i + n\n[a] for i in 1..2\nn = 10*i\n{i} (f(7), n, i)\n", "n=5",
                   "1 (12, 10, 1)\n2 (12, 20, 2)\n");
    assert_listing("table t\n[a] for i in 1..2 for i in 10*i..10*i\n{i} (k)\n[b] for k in 8..8\n{k} (k)\n", "k=3",
                   "10 (3)\n20 (3)\n8 (8)\n");
}

/* A definition of a group may be used by a loop of its own heading, before the next loop has an index. */
static void a_loop_counts_once_it_is_entered(void **state)
{
    (void)state;
    assert_listing("table t\n[a] for i in 1..2 for j in 1..last\nlast = i\n{i}.{j} (last)\n", "",
                   "1.1 (1)\n2.1 (2)\n2.2 (2)\n");
    assert_listing("table t\n[a] for i in 1..last for j in 1..1\nlast = j\n{i}.{j} (last)\n", "j=2",
                   "1.1 (1)\n2.1 (1)\n");
}

static void within_its_definition_a_name_is_the_outer_one(void **state)
{
    (void)state;
    assert_listing("table t\nn = n default 3\n[a]\nn = n + 1\nw (n)\n[b]\nv (n)\n", "", "w (4)\nv (3)\n");
    assert_listing("table t\nlen(x) = len(x) + 1\nw (len([1]))\n", "", "w (2)\n");
}

/* The same inherited lines mean what each of the tables has. */
static void children_define_anew(void **state)
{
    static const char tables[] = "table base\nwidth = n default 2\ntwice(x) = 2*x\n[a] for i in 0..0\n"
                                 "{i} (width, twice(width), other)\n"
                                 "table child extends base\nother = 7\nwidth = m\ntwice(x) = x^2\n"
                                 "table grandchild extends child\nm = 4\n";
    static const struct {
        const char *table, *text;
    } expected[] = {{"base", "0 (2, 4, 1)\n"}, {"child", "0 (5, 25, 7)\n"}, {"grandchild", "0 (4, 16, 7)\n"}};
    (void)state;
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        struct run run = predict(tables, "other=1 m=5");
        const struct shapeproof_predict_options options = {.table = expected[i].table};
        struct shapeproof_prediction *prediction = shapeproof_predict(run.tables, run.config, &options, &run.error);
        char *text = listing(prediction);
        assert_string_equal(text, expected[i].text);
        shapeproof_prediction_free(prediction);
        free(text);
        run_free(&run);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_nearest_one_counts),
        cmocka_unit_test(a_loop_counts_once_it_is_entered),
        cmocka_unit_test(within_its_definition_a_name_is_the_outer_one),
        cmocka_unit_test(children_define_anew),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
