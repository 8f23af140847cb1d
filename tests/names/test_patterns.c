/* SPDX-License-Identifier: MIT
 * Names taken apart: into indices and the rest, and into components. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "names/components.h"
#include "names/patterns.h"

/* ---- indices ---- */

static const struct {
    const char *name;
    const char *apart, *component, *anywhere; /* the patterns, and behind each its indices */
} cases[] = {
    {"layers.3.mlp.weight", "layers.{}.mlp.weight 3", "layers.{}.mlp.weight 3", "layers.{}.mlp.weight 3"},
    {"h.0.ln_1.fc2", "h.{}.ln_{}.fc2 0 1", "h.{}.ln_1.fc2 0", "h.{}.ln_{}.fc{} 0 1 2"},
    {"dense_1/kernel:0", "dense_{}/kernel:0 1", "dense_1/kernel:0", "dense_{}/kernel:{} 1 0"},
    {"7", "{} 7", "{} 7", "{} 7"},
    {"w1b2", "w1b2", "w1b2", "w{}b{} 1 2"},
    {"a.00.b01", "a.00.b01", "a.00.b01", "a.00.b01"}, /* could not be put back */
    {"a.-1", "a.-1", "a.-1", "a.-{} 1"},
    {"a.1e5", "a.1e5", "a.1e5", "a.{}e{} 1 5"},
    {"x.999999999999999999", "x.{} 999999999999999999", "x.{} 999999999999999999", "x.{} 999999999999999999"},
    {"x.1000000000000000000", "x.1000000000000000000", "x.1000000000000000000", "x.1000000000000000000"},
    {"0.1.2.3.4.5.6.7.8", "{}.{}.{}.{}.{}.{}.{}.{}.8 0 1 2 3 4 5 6 7", "{}.{}.{}.{}.{}.{}.{}.{}.8 0 1 2 3 4 5 6 7",
     "{}.{}.{}.{}.{}.{}.{}.{}.8 0 1 2 3 4 5 6 7"},
    {"", "", "", ""},
};

static void assert_splits(const char *name, enum sp_index_rule rule, const char *expected)
{
    struct sp_patterns patterns = {.rule = rule};
    struct sp_arena arena = {0};
    struct sp_indices indices;
    struct sp_text text = {0}, again = {0};
    const size_t pattern = sp_pattern_of(&patterns, name, &indices);
    sp_text_puts(&text, sp_pattern_shown(&arena, sp_pattern_text(&patterns, pattern)));
    for (size_t i = 0; i < indices.count; i++) sp_text_printf(&text, " %zu", (size_t)indices.value[i]);
    assert_string_equal(text.data, expected);
    sp_pattern_fill(&again, sp_pattern_text(&patterns, pattern), &indices);
    assert_string_equal(again.data, name);
    assert_int_equal(sp_pattern_find(&patterns, sp_pattern_text(&patterns, pattern)), pattern);
    sp_text_free(&text);
    sp_text_free(&again);
    sp_arena_free(&arena);
    sp_patterns_free(&patterns);
}

static void test_rules(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_splits(cases[i].name, SP_INDEX_APART, cases[i].apart);
        assert_splits(cases[i].name, SP_INDEX_COMPONENT, cases[i].component);
        assert_splits(cases[i].name, SP_INDEX_ANYWHERE, cases[i].anywhere);
    }
}

/* A name that comes in pieces gives the pattern of the whole. */
static void test_pieces(void **state)
{
    struct sp_patterns patterns = {.rule = SP_INDEX_ANYWHERE};
    struct sp_indices indices = {.count = 0}, whole;
    struct sp_text text = {0};
    (void)state;
    sp_name_split(&text, "h.4.fc", SP_INDEX_ANYWHERE, &indices);
    sp_name_split(&text, "2.", SP_INDEX_ANYWHERE, &indices);
    sp_name_split(&text, "", SP_INDEX_ANYWHERE, &indices);
    sp_name_split(&text, "weight", SP_INDEX_ANYWHERE, &indices);
    assert_int_equal(sp_pattern_find(&patterns, text.data), SIZE_MAX);
    const size_t pattern = sp_pattern_of(&patterns, "h.4.fc2.weight", &whole);
    assert_int_equal(sp_pattern_find(&patterns, text.data), pattern);
    assert_int_equal(sp_compare_indices(&indices, &whole), 0);
    sp_text_free(&text);
    sp_patterns_free(&patterns);
}

static struct sp_place place_of(struct sp_patterns *patterns, const char *name)
{
    struct sp_place place;
    place.pattern = sp_pattern_of(patterns, name, &place.indices);
    return place;
}

static void test_order_of_places(void **state)
{
    static const char *const sorted[] = {"h.2.w", "h.10.w", "h.10.e.2", "h.10.e.10", "h.11.e.0"};
    struct sp_patterns patterns = {.rule = SP_INDEX_APART};
    (void)state;
    for (size_t i = 0; i < sizeof sorted / sizeof *sorted; i++)
        for (size_t k = 0; k < sizeof sorted / sizeof *sorted; k++) {
            const struct sp_place a = place_of(&patterns, sorted[i]), b = place_of(&patterns, sorted[k]);
            const int order = sp_compare_places(&a, &b);
            assert_int_equal((order > 0) - (order < 0), (i > k) - (i < k));
        }
    sp_patterns_free(&patterns);
}

/* ---- components ---- */

/* "[a][b]" of "a.b". */
static void assert_components(const char *name, const char *separators, const char *expected)
{
    struct sp_text text = {0};
    sp_text_puts(&text, "");
    for (struct sp_component_walk part = {.rest = name}; sp_component_next(&part, separators);)
        sp_text_printf(&text, "[%.*s]", (int)part.length, part.text);
    assert_string_equal(text.data, expected);
    sp_text_free(&text);
}

static void test_components(void **state)
{
    (void)state;
    assert_components("layers.3.mlp", ".", "[layers][3][mlp]");
    assert_components("arg:model.w", ".:", "[arg][model][w]");
    assert_components("arg:model.w", ".", "[arg:model][w]");
    assert_components("model.", ".", "[model]"); /* a prefix */
    assert_components(".a..b", ".", "[][a][][b]");
    assert_components("", ".", "");
    assert_true(sp_is_component("mlp.weight", 3, "mlp"));
    assert_false(sp_is_component("mlp.weight", 3, "mlps"));
    assert_false(sp_is_component("mlp.weight", 3, "ml"));
    assert_int_equal(sp_last_component("a.b/c", 5, "./"), 4);
    assert_int_equal(sp_last_component("a.b/c", 5, "."), 2);
    assert_int_equal(sp_last_component("a.b/c", 1, "."), 0);
    assert_string_equal(sp_behind_component("a.b.c", "."), "b.c");
    assert_string_equal(sp_behind_component("a.", "."), "");
    assert_null(sp_behind_component("a", "."));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_rules), cmocka_unit_test(test_pieces),
                                       cmocka_unit_test(test_order_of_places), cmocka_unit_test(test_components)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
