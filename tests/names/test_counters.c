/* SPDX-License-Identifier: MIT
 * Layers of Keras under other counters; and many names in one line. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "names/collapse.h"
#include "names/counters.h"

/* ---- counters ---- */

enum { MOST_VARIABLES = 8 };

/* Of each name a variable, whose shape is (4), or (5) with a '!' in front. */
static size_t list_variables(const char *const *names, struct sp_variable *variables)
{
    static const uint64_t shape = 4, other = 5;
    size_t count = 0;
    for (; names[count]; count++) {
        const bool is_other = *names[count] == '!';
        assert_true(count < MOST_VARIABLES);
        variables[count] = (struct sp_variable){names[count] + is_other, is_other ? &other : &shape, 1, count};
    }
    return count;
}

/* "FROM>TO:COUNT" of each shift, joined by blanks. */
static void assert_shifts(const char *const *in_a, const char *const *in_b, const char *expected)
{
    struct sp_arena arena = {0};
    struct sp_counted counted = {.arena = &arena};
    struct sp_variable a[MOST_VARIABLES], b[MOST_VARIABLES];
    struct sp_text text = {0};
    const size_t a_count = list_variables(in_a, a), b_count = list_variables(in_b, b);
    sp_count_layers(&counted, a, a_count, b, b_count);
    sp_text_puts(&text, "");
    for (size_t i = 0; i < counted.shift_count; i++)
        sp_text_printf(&text, "%s%s>%s:%zu", i ? " " : "", counted.shifts[i].from, counted.shifts[i].to,
                       counted.shifts[i].count);
    assert_string_equal(text.data, expected);
    sp_text_free(&text);
    sp_counted_free(&counted);
    sp_arena_free(&arena);
}

#define NAMES(...) ((const char *const[]){__VA_ARGS__, NULL})

static void test_shifts(void **state)
{
    (void)state;
    assert_shifts(NAMES("conv_1/kernel:0", "conv_2/kernel:0"), NAMES("conv_13/kernel:0", "conv_14/kernel:0"),
                  "conv_{n}>conv_{n+12}:2");
    assert_shifts(NAMES("conv_5/w", "conv_6/w"), NAMES("conv/w", "conv_1/w"), "conv_{n}>conv_{n-5}:2");
    /* "conv_1/conv_1/kernel:0" has its layer twice; below "layers/" it is behind it */
    assert_shifts(NAMES("model_weights/c_1/c_1/k:0", "model_weights/c_2/c_2/k:0"),
                  NAMES("model_weights/c_3/c_3/k:0", "model_weights/c_4/c_4/k:0"), "c_{n}>c_{n+2}:2");
    assert_shifts(NAMES("layers/d/vars/0", "layers/d_1/vars/0"), NAMES("layers/d_2/vars/0", "layers/d_3/vars/0"),
                  "d_{n}>d_{n+2}:2");
}

/* A class of one layer follows others that have moved, and no more. */
static void test_single_layers(void **state)
{
    (void)state;
    assert_shifts(NAMES("dense/w"), NAMES("dense_3/w"), "");
    assert_shifts(NAMES("conv/w", "conv_1/w", "dense/w"), NAMES("conv_2/w", "conv_3/w", "dense_3/w"),
                  "conv_{n}>conv_{n+2}:2 dense_{n}>dense_{n+3}:1");
}

static void test_no_shifts(void **state)
{
    (void)state;
    assert_shifts(NAMES("c_1/w", "c_2/w"), NAMES("c_1/w", "c_2/w"), "");          /* the same */
    assert_shifts(NAMES("c_1/w", "c_3/w"), NAMES("c_2/w", "c_4/w"), "");          /* a gap */
    assert_shifts(NAMES("c_1/w", "c_2/w"), NAMES("c_2/w", "c_3/w", "c_4/w"), ""); /* another number */
    assert_shifts(NAMES("c_1/w", "c_2/w"), NAMES("c_3/w", "!c_4/w"), "");         /* another shape */
    assert_shifts(NAMES("c_1/w", "c_2/w"), NAMES("c_3/w", "c_4/v"), "");          /* another variable */
    assert_shifts(NAMES("c_1/w", "c_2/w"), NAMES("d_3/w", "d_4/w"), "");          /* another class */
}

/* A model loaded beside another: every layer has the same ending. */
static void test_endings(void **state)
{
    (void)state;
    assert_shifts(NAMES("conv/w", "dense/w"), NAMES("conv_1/w", "dense_1/w"), "x>x_1:2");
    assert_shifts(NAMES("conv/w", "dense/w"), NAMES("conv_2/w", "dense_2/w"), "x>x_2:2");
    assert_shifts(NAMES("conv/w", "dense/w"), NAMES("conv_1/w", "dense/w"), "");
    assert_shifts(NAMES("conv/w", "dense/w", "step"), NAMES("conv_1/w", "dense_1/w", "step"), ""); /* not every one */
    assert_int_equal(sp_layer_length("layers/conv_1/vars/0"), strlen("layers/conv_1"));
    assert_int_equal(sp_layer_length("model_weights/conv/w"), strlen("model_weights/conv"));
    assert_int_equal(sp_layer_length("w"), 0);
}

/* ---- some names ---- */

static void assert_some(const char *const *names, const char *expected)
{
    struct sp_arena arena = {0};
    size_t count = 0;
    while (names[count]) count++;
    assert_string_equal(sp_some_names(&arena, names, count), expected);
    sp_arena_free(&arena);
}

static void test_some_names(void **state)
{
    char longer[200];
    (void)state;
    memset(longer, 'a', sizeof longer);
    longer[sizeof longer - 1] = '\0';
    memcpy(longer + 158, "\xe2\x82\xac", 3); /* a character across the place where it is cut */
    assert_some((const char *const[]){NULL}, "");
    assert_some(NAMES("a.0.q.b", "a.1.q.b", "a.0.k.b", "a.1.k.b"), "a.{0,1}.{q,k}.b");
    assert_some(NAMES("a.q.b", "a.k.b", "a.v.b"), "a.{q,k,v}.b");
    assert_some(NAMES("a.q.b", "a.k.b", "x.k.b"), "a.{q,k}.b, x.k.b"); /* one component, the same one */
    assert_some(NAMES("q", "k"), "q, k");                              /* they have nothing else */
    assert_some(NAMES("a.0.b", "a.c.b"), "a.{0,c}.b");
    assert_some(NAMES("a.0.b", "a.1.b", "a.c.b"), "a.{0,1}.b, a.c.b");
    assert_some(NAMES("a", "b", "c", "d", "e"), "a, b, c and 2 more");
    assert_some(NAMES("a.0.b", "a.1.b", "q", "x.c.y", "d.0.e", "d.1.e", "d.2.f"),
                "a.{0,1}.b, q, x.c.y and 3 more"); /* names, not patterns */
    char cut[164];
    memset(cut, 'a', 158);
    memcpy(cut + 158, "...", 4);
    assert_some(NAMES(longer), cut);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_shifts), cmocka_unit_test(test_single_layers),
                                       cmocka_unit_test(test_no_shifts), cmocka_unit_test(test_endings),
                                       cmocka_unit_test(test_some_names)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
