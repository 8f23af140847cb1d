/* SPDX-License-Identifier: MIT */
#include "names/prefix_pairs.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

static struct sp_arena arena;

static struct sp_prefix_pairs beginnings_of(const char *const a[2], const char *const b[2])
{
    struct sp_prefix_pairs pairs = {.arena = &arena, .separators = "."};
    for (size_t i = 0; i < 2; i++) sp_prefix_pairs_note_a(&pairs, a[i]);
    for (size_t i = 0; i < 2; i++) sp_prefix_pairs_note_b(&pairs, b[i], i);
    return pairs;
}

static void the_longest_end_tells_the_beginnings(void **state)
{
    (void)state;
    const char *const a[] = {"module.h.fc.weight", "module.wte.weight"}, *const b[] = {"wte.weight", "h.fc.weight"};
    struct sp_prefix_pairs pairs = beginnings_of(a, b);
    const struct sp_prefix_rule_guess guess = sp_prefix_pairs_guess(&pairs, a[0]);
    assert_int_equal(guess.b, 1);
    assert_int_equal(guess.from, strlen("module."));
    assert_int_equal(guess.to, 0);
    sp_prefix_pairs_free(&pairs);
}

static void an_end_of_several_tells_nothing(void **state)
{
    (void)state;
    const char *const a[] = {"text.fc.weight", "image.fc.weight"}, *const b[] = {"model.fc.weight", "norm.weight"};
    struct sp_prefix_pairs pairs = beginnings_of(a, b);
    assert_int_equal(sp_prefix_pairs_guess(&pairs, a[0]).b, SIZE_MAX);
    sp_prefix_pairs_free(&pairs);
}

static void nothing_in_common_tells_nothing(void **state)
{
    (void)state;
    const char *const a[] = {"gamma", "beta"}, *const b[] = {"weight", "bias"};
    struct sp_prefix_pairs pairs = beginnings_of(a, b);
    assert_int_equal(sp_prefix_pairs_guess(&pairs, a[0]).b, SIZE_MAX);
    sp_prefix_pairs_free(&pairs);
}

static void a_front_is_listed_once(void **state)
{
    (void)state;
    struct sp_prefix_pairs pairs = {.arena = &arena, .separators = "."};
    assert_int_equal(sp_prefix_pairs_add(&pairs, "model.a", 6, "a", 0), 0);
    assert_int_equal(sp_prefix_pairs_add(&pairs, "encoder.a", 8, "a", 0), 1);
    assert_int_equal(sp_prefix_pairs_add(&pairs, "model.b", 6, "b", 0), 0);
    assert_int_equal(pairs.count, 2);
    assert_string_equal(pairs.items[1].from, "encoder.");
    assert_string_equal(pairs.items[1].to, "");
    sp_prefix_pairs_free(&pairs);
}

/* "a.a.a. ... " of 10,000 components. */
static void make_deep(char deep[20001])
{
    for (size_t i = 0; i < 20000; i++) deep[i] = i % 2 ? '.' : 'a';
    deep[20000] = '\0';
}

/* All ends of a name together are as long as the square of its length: those of many components are not looked for. */
static void a_deep_name_has_few_ends(void **state)
{
    (void)state;
    char deep[20001];
    make_deep(deep);
    const char *const a[] = {deep, "module.wte.weight"}, *const b[] = {deep + 20, "wte.weight"};
    struct sp_prefix_pairs pairs = beginnings_of(a, b);
    assert_true(pairs.endings.count < 200);
    assert_int_equal(sp_prefix_pairs_guess(&pairs, deep).b, SIZE_MAX);
    assert_int_equal(sp_prefix_pairs_guess(&pairs, a[1]).b, 1);
    sp_prefix_pairs_free(&pairs);
}

/* An end that a deep name has as well is one of several. */
static void the_end_of_a_deep_name_counts(void **state)
{
    (void)state;
    static const char end[] = "wte.weight";
    char deep[20001];
    make_deep(deep);
    memcpy(deep + sizeof deep - sizeof end, end, sizeof end);
    const char *const a[] = {deep, "module.wte.weight"}, *const b[] = {"wte.weight", "h.fc.weight"};
    struct sp_prefix_pairs pairs = beginnings_of(a, b);
    assert_int_equal(sp_prefix_pairs_guess(&pairs, a[1]).b, SIZE_MAX);
    sp_prefix_pairs_free(&pairs);
}

static int free_arena(void **state)
{
    (void)state;
    sp_arena_free(&arena);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_longest_end_tells_the_beginnings), cmocka_unit_test(an_end_of_several_tells_nothing),
        cmocka_unit_test(nothing_in_common_tells_nothing),      cmocka_unit_test(a_deep_name_has_few_ends),
        cmocka_unit_test(the_end_of_a_deep_name_counts),        cmocka_unit_test(a_front_is_listed_once)};
    return cmocka_run_group_tests(tests, NULL, free_arena);
}
