/* SPDX-License-Identifier: MIT
 * Which expressions a term bank has, and how far it takes values apart: each limit from both sides. */
#include <math.h>
#include <stdio.h>

#include "learn/asking.h"
#include "learn/solve.h"

enum { EXAMPLES = 3 };

/* Expressions with those values in three examples, without a deeper search. */
static struct sp_found find_values(struct asking *asking, const char *const *configs, const double *wanted)
{
    struct sp_found found;
    *asking = (struct asking){.bank = NULL};
    for (size_t i = 0; i < EXAMPLES; i++) asking_example(asking, configs[i]);
    asking_begin(asking, false);
    sp_term_bank_keep_shallow(asking->bank);
    sp_term_bank_find(asking->bank, wanted, "x", 200, &found);
    return found;
}

static bool finds(const char *const *configs, const double *wanted, const char *words)
{
    struct asking asking;
    const struct sp_found found = find_values(&asking, configs, wanted);
    const bool finds = is_among_found(&found, words);
    asking_end(&asking);
    return finds;
}

static void assert_none(const char *const *configs, const double *wanted)
{
    struct asking asking;
    const struct sp_found found = find_values(&asking, configs, wanted);
    assert_int_equal(found.count, 0);
    asking_end(&asking);
}

static struct sp_found find_condition(struct asking *asking, const char *const *configs, size_t count,
                                      const double *wanted, const char *name)
{
    struct sp_found found;
    *asking = (struct asking){.bank = NULL};
    for (size_t i = 0; i < count; i++) asking_example(asking, configs[i]);
    asking_begin(asking, false);
    sp_term_bank_find_condition(asking->bank, wanted, name, &found);
    return found;
}

/* ---- functions ---- */

/* Of a function at very many points some are kept, with the last one; of its values a few are told apart. */
static void points_of_a_function(void **state)
{
    struct sp_learn_function function = {.index_count = 1};
    double values[20];
    (void)state;
    for (size_t i = 0; i < 401; i++) sp_function_add(&function, &(struct sp_point){.index = {i}}, (double)i);
    struct sp_reduced reduced = sp_function_reduce(&function);
    assert_int_equal(reduced.domain.count, 400);
    assert_int_equal(reduced.domain.points[399].index[0], 400);
    sp_reduced_free(&reduced);
    sp_function_free(&function);
    for (size_t i = 0; i < 20; i++) values[i] = (double)i;
    assert_int_equal(sp_distinct_values(values, 20), 8);
}

/* ---- costs ---- */

/* What is found costs so much more that there is room for what makes it likelier; and without keys more yet. */
static void costs(void **state)
{
    static const char *const configs[] = {"{\"width\": 30}", "{\"width\": 47}", "{\"width\": 101}"};
    static const double widths[] = {30, 47, 101}, numbers[] = {1, 2, 3};
    struct asking asking = {.bank = NULL};
    struct sp_found found;
    (void)state;
    for (size_t i = 0; i < EXAMPLES; i++) asking_example(&asking, configs[i]);
    asking_begin(&asking, true);
    sp_term_bank_find(asking.bank, widths, "x", 96, &found);
    assert_true(is_among_found(&found, "width"));
    assert_int_equal(found.rank[0], 40 + 10);
    sp_term_bank_find(asking.bank, numbers, "x", 96, &found);
    assert_true(is_among_found(&found, "i + 1"));
    assert_int_equal(found.rank[0], 40 + (6 + 4 + 2) + 10);
    asking_end(&asking);
}

/* Whole numbers are exact below 2^53; a power is no larger than 62, a number that others are multiples of than 2^20. */
static void values_of_terms(void **state)
{
    static const struct {
        enum sp_term_op op;
        double a, b, value;
    } cases[] = {{SP_TERM_POWER, 2, 52, 4503599627370496},
                 {SP_TERM_POWER, 2, 53, NAN},
                 {SP_TERM_ADD, 9007199254740990, 1, 9007199254740991},
                 {SP_TERM_POWER, 1, 62, 1},
                 {SP_TERM_POWER, 1, 63, NAN},
                 {SP_TERM_NEAR, 1048577, 1048576, 1048576},
                 {SP_TERM_NEAR, 1048577, 1048577, NAN}};
    struct sp_arena arena = {0};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct sp_search_term *a = sp_search_term_number(&arena, cases[i].a),
                                    *b = sp_search_term_number(&arena, cases[i].b);
        const double value =
            sp_search_term_value(sp_search_term_binary(&arena, cases[i].op, a, b), &(struct sp_point){.example = 0});
        assert_true(isnan(cases[i].value) ? isnan(value) : value == cases[i].value);
    }
    sp_arena_free(&arena);
}

/* ---- counts ---- */

/* Of many keys that have the same values the first ones are kept: beside them there are `k0 - 1 + 1` and `k0 + 1 - 1`.
 */
static void equal_keys(void **state)
{
    struct sp_text texts[EXAMPLES] = {{0}};
    const char *configs[EXAMPLES];
    static const double widths[] = {30, 47, 101};
    struct asking asking;
    (void)state;
    for (size_t e = 0; e < EXAMPLES; e++) {
        for (int i = 0; i < 25; i++) sp_text_printf(&texts[e], "%s\"k%d\": %.0f", i ? ", " : "{", i, widths[e]);
        sp_text_puts(&texts[e], "}");
        configs[e] = texts[e].data;
    }
    const struct sp_found found = find_values(&asking, configs, widths);
    assert_int_equal(found.count, 1 + 16 + 2);
    asking_end(&asking);
    for (size_t e = 0; e < EXAMPLES; e++) sp_text_free(&texts[e]);
}

/* Flags that hold in the first of six examples, and each in some others: many pairs hold in the first one alone. */
static void many_conditions(void **state)
{
    enum { COUNT = 6 };
    static const double wanted[COUNT] = {1};
    struct sp_text texts[COUNT] = {{0}};
    const char *configs[COUNT];
    struct asking asking;
    (void)state;
    for (unsigned e = 0; e < COUNT; e++) {
        for (unsigned f = 1; f < 32; f++)
            sp_text_printf(&texts[e], "%s\"f%u\": %s", f > 1 ? ", " : "{", f,
                           e == 0 || (f >> (e - 1) & 1) ? "true" : "false");
        sp_text_puts(&texts[e], "}");
        configs[e] = texts[e].data;
    }
    const struct sp_found found = find_condition(&asking, configs, COUNT, wanted, "x");
    assert_int_equal(found.count, 48);
    asking_end(&asking);
    for (size_t e = 0; e < COUNT; e++) sp_text_free(&texts[e]);
}

static void items_of_a_list(void **state)
{
    static const char *const configs[] = {"{\"l\": [11, 12, 13, 14, 15, 16, 17, 18, 19, 20]}",
                                          "{\"l\": [21, 22, 23, 24, 35, 36, 37, 38, 69, 80]}",
                                          "{\"l\": [31, 32, 33, 44, 95, 16, 17, 28, 59, 20]}"};
    (void)state;
    assert_true(finds(configs, (const double[]){18, 38, 28}, "l[7]"));
    assert_false(finds(configs, (const double[]){19, 69, 59}, "l[8]"));
}

/* ---- sizes that double ---- */

static void doublings(void **state)
{
    static const char *const configs[] = {"{\"num_stages\": 11, \"up_stages\": 13}",
                                          "{\"num_stages\": 12, \"up_stages\": 5}",
                                          "{\"num_stages\": 10, \"up_stages\": 11}"},
                             *const lists[] = {"{\"few\": [1, 2, 3, 4, 5, 6, 7, 8, 9, 8, 7, 6], \"many\": [1, 2]}",
                                               "{\"few\": [1, 2], \"many\": [1, 2, 3, 4, 5, 6, 7, 8, 9, 8, 7, 6, 5]}",
                                               "{\"few\": [1, 2, 3], \"many\": [1, 2, 3, 4]}"};
    (void)state;
    assert_true(finds(configs, (const double[]){2048, 4096, 1024}, "2^num_stages"));
    assert_none(configs, (const double[]){8192, 32, 2048});
    assert_true(finds(lists, (const double[]){4096, 4, 8}, "2^len(few)"));
    assert_none(lists, (const double[]){4, 8192, 16});
}

/* Of many sides of images the first ones have areas. */
static void sides_of_images(void **state)
{
    static const int factors[EXAMPLES] = {480, 752, 1616};
    struct sp_text texts[EXAMPLES] = {{0}};
    const char *configs[EXAMPLES];
    double eighth[EXAMPLES], ninth[EXAMPLES];
    (void)state;
    for (int e = 0; e < EXAMPLES; e++) {
        int side = 0;
        for (int i = 0; i < 9; i++) {
            side = factors[e] * (i + 2) + i * i * 5 + e * 7 * i;
            sp_text_printf(&texts[e], "%s\"image_%d\": %d", i ? ", " : "{", i, side);
            if (i == 7) eighth[e] = pow(floor(side / 32.), 2);
        }
        ninth[e] = pow(floor(side / 32.), 2);
        sp_text_puts(&texts[e], "}");
        configs[e] = texts[e].data;
    }
    assert_true(finds(configs, eighth, "(image_7 // 32)^2"));
    assert_none(configs, ninth);
    for (size_t e = 0; e < EXAMPLES; e++) sp_text_free(&texts[e]);
}

/* ---- larger expressions ---- */

/* One operation after the other is taken back: three, and no fourth one. */
static void taken_apart(void **state)
{
    static const char *const configs[] = {"{\"width\": 30}", "{\"width\": 47}", "{\"width\": 101}"};
    static const double widths[] = {30, 47, 101};
    double three[EXAMPLES], four[EXAMPLES];
    (void)state;
    for (size_t e = 0; e < EXAMPLES; e++) {
        three[e] = 3 * pow(widths[e] + 1, 2) - 1;
        four[e] = pow(three[e], 2);
    }
    assert_true(finds(configs, three, "3*(width + 1)^2 - 1"));
    assert_none(configs, four);
}

/* A product is taken apart by what is cheap: 16*a, and not if `a` is a key within another one, which costs more. */
static void cheap_factors(void **state)
{
    static const char *const plain[] = {"{\"a\": 301, \"b\": 7}", "{\"a\": 415, \"b\": 8}", "{\"a\": 611, \"b\": 9}"},
                             *const inner[] = {"{\"t\": {\"a\": 301, \"b\": 7}}", "{\"t\": {\"a\": 415, \"b\": 8}}",
                                               "{\"t\": {\"a\": 611, \"b\": 9}}"};
    static const double products[] = {256. * 301 * 7, 256. * 415 * 8, 256. * 611 * 9};
    (void)state;
    assert_true(finds(plain, products, "16*a*(16*b)"));
    assert_none(inner, products);
}

/* The deeper search goes on from what is cheap as well. */
static void deeper(void **state)
{
    static const char *const configs[] = {"{\"t\": {\"a\": 90301, \"b\": 7, \"d\": 41}, \"c\": 37}",
                                          "{\"t\": {\"a\": 70415, \"b\": 8, \"d\": 31}, \"c\": 23}",
                                          "{\"t\": {\"a\": 50611, \"b\": 9, \"d\": 17}, \"c\": 11}"};
    static const double plain[] = {90301 / 7 / 37, 70415 / 8 / 23, 50611 / 9 / 11},
                        inner[] = {90301 / 7 / 41, 70415 / 8 / 31, 50611 / 9 / 17};
    struct asking asking = {.bank = NULL};
    struct sp_found found;
    (void)state;
    for (size_t i = 0; i < EXAMPLES; i++) asking_example(&asking, configs[i]);
    asking_begin(&asking, false);
    sp_term_bank_find(asking.bank, plain, "x", 96, &found);
    assert_true(is_among_found(&found, "t.a // t.b // c"));
    sp_term_bank_find(asking.bank, inner, "x", 96, &found);
    assert_int_equal(found.count, 0);
    asking_end(&asking);
}

/* Sums are looked for as well where all that was found is dear: four times a key is not, and four times one within
 * another key is. */
static void dear_expressions(void **state)
{
    static const char *const plain[] = {"{\"a\": 10, \"b\": 70, \"c\": 3, \"d\": 17}",
                                        "{\"a\": 21, \"b\": 95, \"c\": 4, \"d\": 61}",
                                        "{\"a\": 34, \"b\": 50, \"c\": 2, \"d\": 111}"},
                             *const inner[] = {"{\"t\": {\"a\": 10, \"b\": 70, \"c\": 3, \"d\": 17}}",
                                               "{\"t\": {\"a\": 21, \"b\": 95, \"c\": 4, \"d\": 61}}",
                                               "{\"t\": {\"a\": 34, \"b\": 50, \"c\": 2, \"d\": 111}}"};
    static const double wanted[] = {40, 84, 136};
    (void)state;
    assert_true(finds(plain, wanted, "4*a"));
    assert_false(finds(plain, wanted, "b // c + d"));
    assert_true(finds(inner, wanted, "4*t.a"));
    assert_true(finds(inner, wanted, "t.b // t.c + t.d"));
}

/* A sum of three shares, over so many examples; `cost` is that of a key that does not go with the name, and `others`
 * how many keys there are besides. */
static size_t sums_of_three(size_t examples, unsigned cost, unsigned others)
{
    double wanted[MOST_ASKED];
    struct asking asking = {.bank = NULL};
    struct sp_found found;
    for (size_t e = 0; e < examples; e++) {
        struct sp_text text = {0};
        unsigned values[6];
        wanted[e] = 0;
        for (unsigned i = 0; i < 6; i++) {
            values[i] =
                (unsigned)((e * e * (i + 3) + e * (17 + 5 * i * i) + 7 * i) % (i % 2 ? 11 : 997)) + (i % 2 ? 3 : 800);
            sp_text_printf(&text, "%s\"%s_%c\": %u", i ? ", " : "{", i == 1 ? "odd" : "mlp", 'a' + (char)i, values[i]);
            if (i % 2) wanted[e] += values[i - 1] / values[i];
        }
        for (unsigned i = 0; i < others; i++)
            sp_text_printf(&text, ", \"mlp_x%u\": %zu", i, 5000 + 37 * i * i + 11 * e * e + 3 * i * e * e * e);
        sp_text_puts(&text, "}");
        asking_example(&asking, text.data);
        sp_text_free(&text);
    }
    asking_gather(&asking);
    sp_evidence_terminal(&asking.evidence, "odd_b")->cost = cost;
    asking_begin(&asking, false);
    sp_term_bank_find(asking.bank, wanted, "mlp.weight", 200, &found);
    asking_end(&asking);
    return found.count;
}

/* Of keys that go with the name, or that are used at many places. */
static void sums(void **state)
{
    (void)state;
    assert_true(sums_of_three(24, 7, 0) > 0);
    assert_int_equal(sums_of_three(25, 7, 0), 0);
    assert_int_equal(sums_of_three(24, 8, 0), 0);
    assert_true(sums_of_three(6, 7, 5) > 0); /* among the first 250 of what may be added: each key makes 21 */
    assert_int_equal(sums_of_three(6, 7, 6), 0);
}

/* What is left of half a size, and not of a small count. */
static void halves(void **state)
{
    static const char *const sizes[] = {"{\"a\": 5}", "{\"a\": 4}", "{\"a\": 9}"}, *const counts[] = {"{\"a\": 5}",
                                                                                                      "{\"a\": 3}",
                                                                                                      "{\"a\": 9}"};
    static const double wanted[] = {3, 2, 5};
    (void)state;
    assert_true(finds(sizes, wanted, "ceil_div(a, 2)"));
    assert_false(finds(counts, wanted, "ceil_div(a, 2)"));
}

/* A flag and a size share a word of four letters. */
static void sums_by_flag(void **state)
{
    static const char *const four[] = {"{\"gate\": true, \"n_gate\": 7, \"width\": 50}",
                                       "{\"gate\": false, \"n_gate\": 8, \"width\": 61}",
                                       "{\"gate\": true, \"n_gate\": 11, \"width\": 83}"},
                             *const three[] = {"{\"mlp\": true, \"n_mlp\": 7, \"width\": 50}",
                                               "{\"mlp\": false, \"n_mlp\": 8, \"width\": 61}",
                                               "{\"mlp\": true, \"n_mlp\": 11, \"width\": 83}"};
    static const double wanted[] = {57, 61, 94};
    (void)state;
    assert_true(finds(four, wanted, "gate ? width + n_gate : width"));
    assert_false(finds(three, wanted, "mlp ? width + n_mlp : width"));
}

/* ---- conditions ---- */

/* A number that is compared with is at most 64. */
static void counts_that_are_compared(void **state)
{
    static const char *const small[] = {"{\"a\": 62}", "{\"a\": 64}", "{\"a\": 60}"}, *const large[] = {"{\"a\": 62}",
                                                                                                        "{\"a\": 65}",
                                                                                                        "{\"a\": 60}"};
    static const double wanted[] = {0, 1, 0};
    struct asking asking;
    (void)state;
    struct sp_found found = find_condition(&asking, small, EXAMPLES, wanted, "x");
    assert_true(is_among_found(&found, "a == 64"));
    asking_end(&asking);
    found = find_condition(&asking, large, EXAMPLES, wanted, "x");
    assert_int_equal(found.count, 0);
    asking_end(&asking);
}

/* A key that costs 20 is compared with no number. */
static void unlikely_keys(void **state)
{
    static const double wanted[] = {0, 1, 0};
    (void)state;
    for (unsigned cost = 19; cost <= 20; cost++) {
        struct asking asking = {.bank = NULL};
        struct sp_found found;
        asking_example(&asking, "{\"a\": 12}");
        asking_example(&asking, "{\"a\": 14}");
        asking_example(&asking, "{\"a\": 10}");
        asking_gather(&asking);
        sp_evidence_terminal(&asking.evidence, "a")->cost = cost;
        asking_begin(&asking, false);
        sp_term_bank_find_condition(asking.bank, wanted, "x", &found);
        assert_int_equal(is_among_found(&found, "a == 14"), cost == 19);
        asking_end(&asking);
    }
}

/* A second flag is told if a word of it is in the name, not if one only goes with it. */
static void flags_beside_a_flag(void **state)
{
    static const char *const configs[] = {"{\"alpha\": true, \"mlp_x\": true, \"vocab_x\": true}",
                                          "{\"alpha\": false, \"mlp_x\": true, \"vocab_x\": false}",
                                          "{\"alpha\": false, \"mlp_x\": false, \"vocab_x\": true}"};
    static const double wanted[] = {1, 0, 0};
    struct asking asking;
    (void)state;
    const struct sp_found found = find_condition(&asking, configs, EXAMPLES, wanted, "mlp.wte");
    assert_true(is_among_found(&found, "alpha and mlp_x"));
    assert_false(is_among_found(&found, "alpha and vocab_x"));
    asking_end(&asking);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(points_of_a_function),
        cmocka_unit_test(costs),
        cmocka_unit_test(values_of_terms),
        cmocka_unit_test(equal_keys),
        cmocka_unit_test(many_conditions),
        cmocka_unit_test(items_of_a_list),
        cmocka_unit_test(doublings),
        cmocka_unit_test(sides_of_images),
        cmocka_unit_test(taken_apart),
        cmocka_unit_test(cheap_factors),
        cmocka_unit_test(deeper),
        cmocka_unit_test(dear_expressions),
        cmocka_unit_test(sums),
        cmocka_unit_test(halves),
        cmocka_unit_test(sums_by_flag),
        cmocka_unit_test(counts_that_are_compared),
        cmocka_unit_test(unlikely_keys),
        cmocka_unit_test(flags_beside_a_flag),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
