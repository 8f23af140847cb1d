/* SPDX-License-Identifier: MIT
 * Expressions as Python's re.search reads them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "names/expression.h"

/* What re.search(expression, text) says: the whole match and its first group, NULL for none. */
static const struct {
    const char *expression, *text;
    const char *all, *group;
} searches[] = {
    {"LayerNorm.gamma", "a.LayerNorm.gamma", "LayerNorm.gamma", ""},
    {"layer.", "model.layers", "layers", ""},
    {"layer\\.", "model.layers", NULL, ""},
    {"^model", "a.model", NULL, ""},
    {"norm$", "norm.norm", "norm", ""},
    {"blocks\\.(\\d+)\\.", "x.blocks.12.w", "blocks.12.", "12"},
    {"^text_model\\.(.+)", "text_model.a.b", "text_model.a.b", "a.b"},
    {"experts..*\\.w1.weight", "h.experts.3.w1.weight", "experts.3.w1.weight", ""},
    {"(conv2d[123]|conv_out)\\.", "a.conv2d2.w", "conv2d2.", "conv2d2"},
    {"^model(?!\\.(language_model|visual))", "model.layers", "model", ""},
    {"^model(?!\\.(language_model|visual))", "model.visual.x", NULL, ""},
    {"^model\\.(?:(?!language_model\\.))(.+)", "model.norm", "model.norm", "norm"},
    {"(?<!decoder\\.)(?<!text_model\\.)norm\\.", "decoder.norm.w", NULL, ""},
    {"(?<!decoder\\.)(?<!text_model\\.)norm\\.", "encoder.norm.w", "norm.", ""},
    {"weight(?!\\w)", "weight_g.weight", "weight", ""},
    {"a|b.c|d", "xbyc", "byc", ""},
    {"ab?c+", "acc", "acc", ""},
    {"[a-c]*d", "abcd", "abcd", ""},
    {"", "a", "", ""},
    {"(a", "a", "a", "a"},
    {"a\\", "xa\\", "a\\", ""}, /* at the end it is itself */
    {"a\\", "xab", NULL, ""},
};

static void finds_what_python_finds(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof searches / sizeof *searches; i++) {
        struct sp_expression_match found;
        const char *text = searches[i].text, *all = searches[i].all;
        const bool is_there =
            sp_expression_search(searches[i].expression, strlen(searches[i].expression), text, &found);
        if (is_there != (all != NULL)) fail_msg("%s in %s", searches[i].expression, text);
        if (!is_there) continue;
        assert_int_equal(found.all.end - found.all.begin, strlen(all));
        assert_memory_equal(text + found.all.begin, all, strlen(all));
        assert_int_equal(found.group.end - found.group.begin, strlen(searches[i].group));
        assert_memory_equal(text + found.group.begin, searches[i].group, strlen(searches[i].group));
    }
}

/* The second "weight" stands behind "_v.", the first one is followed by a letter. */
static void finds_the_leftmost_place(void **state)
{
    struct sp_expression_match found;
    (void)state;
    assert_true(sp_expression_search("weight(?!\\w)", 12, "weight_g.weight.weight", &found));
    assert_int_equal(found.all.begin, 9);
}

static void knows_what_stands_in_every_match(void **state)
{
    static const struct {
        const char *expression, *literal;
    } literals[] = {
        {"LayerNorm.gamma", "LayerNorm"},
        {"encoder\\.layer\\.", "encoder.layer."},
        {"mlp.experts..*\\.up_proj.weight(?!\\w)", ".up_proj"},
        {"^text_model\\.(.+)", "text_model."},
        {"(layer_norm|norm)\\.", "."},
        {"norm|layer", ""},
        {"ab+cd?e", "a"},
        {"[abc]+", ""},
    };
    (void)state;
    for (size_t i = 0; i < sizeof literals / sizeof *literals; i++) {
        char literal[16];
        sp_expression_literal(literals[i].expression, strlen(literals[i].expression), literal, sizeof literal);
        assert_string_equal(literal, literals[i].literal);
    }
}

static void gives_up_what_takes_too_long(void **state)
{
    struct sp_expression_match found;
    char text[4096];
    (void)state;
    memset(text, 'a', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    assert_false(sp_expression_search(".*.*.*.*.*b", 11, text, &found));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_what_python_finds),
        cmocka_unit_test(finds_the_leftmost_place),
        cmocka_unit_test(knows_what_stands_in_every_match),
        cmocka_unit_test(gives_up_what_takes_too_long),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
