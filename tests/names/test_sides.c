/* SPDX-License-Identifier: MIT
 * Which patterns of one side are which of the other, and what is left unclaimed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "names/sides.h"

struct both {
    struct sp_patterns patterns;
    struct sp_sides a, b;
};

/* "layers.{0-N}.LEAF", with that content each. */
static void add_layers(struct both *both, bool in_a, const char *leaf, const char *content, size_t layers)
{
    struct sp_sides *sides = in_a ? &both->a : &both->b;
    for (size_t i = 0; i < layers; i++) {
        struct sp_text name = {0};
        sp_text_printf(&name, "layers.%zu.%s", layers - 1 - i, leaf); /* their order is not that of the indices */
        sp_sides_add(sides, &both->patterns, name.data, content, i);
        sp_text_free(&name);
    }
}

/* "up_proj=fc1" for each pair of A, joined by blanks, in the order of its patterns' numbers; layers and dots left out.
 */
static void assert_pairs(struct both *both, const char *expected)
{
    struct sp_text text = {0};
    sp_sides_form(&both->a);
    sp_sides_form(&both->b);
    sp_sides_pair(&both->patterns, &both->a, &both->b);
    sp_text_puts(&text, "");
    for (size_t pattern = 0; pattern < both->patterns.count; pattern++)
        for (size_t i = 0; i < both->a.count; i++) {
            const struct sp_side *side = &both->a.items[i];
            if (side->members->pattern != pattern || !side->other) continue;
            assert_ptr_equal(side->other->other, side);
            sp_text_printf(&text, "%s%s=%s", text.length ? " " : "",
                           strrchr(sp_pattern_text(&both->patterns, pattern), '.') + 1,
                           strrchr(sp_pattern_text(&both->patterns, side->other->members->pattern), '.') + 1);
        }
    assert_string_equal(text.data, expected);
    sp_text_free(&text);
    sp_sides_free(&both->a);
    sp_sides_free(&both->b);
    sp_patterns_free(&both->patterns);
}

static void test_alike(void **state)
{
    struct both both = {0};
    (void)state;
    add_layers(&both, true, "mlp.up_proj", "(8, 4)", 3);
    add_layers(&both, true, "mlp.down_proj", "(4, 8)", 3);
    add_layers(&both, false, "mlp.down_lin", "(4, 8)", 3);
    add_layers(&both, false, "mlp.up_lin", "(8, 4)", 3);
    assert_pairs(&both, "up_proj=up_lin down_proj=down_lin");
}

static void test_members_are_in_order(void **state)
{
    struct both both = {0};
    (void)state;
    add_layers(&both, true, "mlp.up_proj", "(8, 4)", 12);
    sp_sides_form(&both.a);
    assert_int_equal(both.a.count, 1);
    assert_int_equal(both.a.items->count, 12);
    for (size_t i = 0; i < 12; i++) {
        assert_int_equal(both.a.items->members[i].indices.value[0], i);
        assert_int_equal(both.a.items->members[i].item, 11 - i);
    }
    sp_sides_free(&both.a);
    sp_patterns_free(&both.patterns);
}

/* Another number of layers, another shape, names with nothing in common: no pair. */
static void test_unlike(void **state)
{
    struct both both = {0};
    (void)state;
    add_layers(&both, true, "mlp.up_proj", "(8, 4)", 3);
    add_layers(&both, false, "mlp.up_lin", "(8, 4)", 4);
    assert_pairs(&both, "");
    add_layers(&both, true, "mlp.up_proj", "(8, 4)", 3);
    add_layers(&both, false, "mlp.up_lin", "(4, 8)", 3);
    assert_pairs(&both, "");
    add_layers(&both, true, "q", "(8, 4)", 1);
    add_layers(&both, false, "feed_forward_network.w", "(8, 4)", 1);
    assert_pairs(&both, "");
}

/* Where two candidates are as near, or nearly so, nothing is claimed. */
static void test_rivals(void **state)
{
    struct both both = {0};
    (void)state;
    add_layers(&both, true, "norm1", "(4)", 2);
    add_layers(&both, false, "normA", "(4)", 2);
    add_layers(&both, false, "normB", "(4)", 2);
    assert_pairs(&both, "");
    add_layers(&both, true, "norm_first", "(4)", 2);
    add_layers(&both, true, "norm_second", "(4)", 2);
    add_layers(&both, false, "ln_first", "(4)", 2);
    add_layers(&both, false, "ln_second", "(4)", 2);
    assert_pairs(&both, "norm_first=ln_first norm_second=ln_second");
}

static void test_one_component(void **state)
{
    struct sp_differing_component one;
    (void)state;
    assert_true(sp_one_component("a.mlp.w", "a.ffn_1.w", &one));
    assert_int_equal(one.a_length, 3);
    assert_int_equal(one.b_length, 5);
    assert_memory_equal(one.b, "ffn_1", 5);
    assert_false(sp_one_component("a.mlp.w", "a.mlp.w", &one));   /* none */
    assert_false(sp_one_component("a.mlp.w", "b.mlp.v", &one));   /* two */
    assert_false(sp_one_component("a.mlp.w", "a.mlp.w.x", &one)); /* more of them */
    assert_false(sp_one_component("a.mlp.w.x", "a.mlp.w", &one));
    assert_false(sp_one_component("a.\xff.w", "a.b.w", &one)); /* an index */
    assert_int_equal(sp_similarity("up_proj", "up_lin"), 0);   /* half of the letters, or nothing */
    assert_int_equal(sp_similarity("up_proj", "up_projs"), 7);
    assert_int_equal(sp_similarity("layers.up_proj", "layers.up_lin"), 10);
    assert_int_equal(sp_similarity("abc", "xyz"), 0);
    assert_int_equal(sp_similarity("aa", "aaa"), 2); /* no letter counts twice */
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_alike), cmocka_unit_test(test_members_are_in_order),
                                       cmocka_unit_test(test_unlike), cmocka_unit_test(test_rivals),
                                       cmocka_unit_test(test_one_component)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
