/* SPDX-License-Identifier: MIT
 * Sizes that no dimension tells by itself: by the line that a tensor turned out to be of, by several keys at once, by
 * the items of a list together. */
#define _XOPEN_SOURCE 700
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "infer/finding.h"

/* Gates of both kinds of layers have one name: which layer is of which kind is known only after one was taken for the
 * other. */
static void line_that_was_another(void **state)
{
    static const char text[] = "table mixer\nmodel_type \"mixer\"\n"
                               "full(i) = kinds[i] == \"full\" default (i + 1) % (group default 6) == 0\n"
                               "[norm] for i in 0..layers-1\nnorm.{i}.weight (width, 1)\n"
                               "[full] for i in 0..layers-1 if full(i)\n"
                               "gate.{i}.weight (heads, width)\nvalue.{i}.weight (heads*4, width)\n"
                               "[linear] for i in 0..layers-1 if not full(i)\n"
                               "gate.{i}.weight (inner, width)\nscan.{i}.weight (inner, 1)\n";
    struct model model;
    (void)state;
    begin_with(&model, text);
    for (unsigned i = 0; i < 3; i++) {
        add_module(&model, "norm", i, "weight", 24, 1);
        add_module(&model, "gate", i, "weight", i == 2 ? 6 : 40, 24);
        if (i == 2) add_module(&model, "value", i, "weight", 24, 24);
        else add_module(&model, "scan", i, "weight", 40, 1);
    }
    FIND();
    FOUND("mixer");
    TOLD("heads", "6");
    TOLD("inner", "40");
    END();
}

/* What two keys make is near to it with neither of them alone, since one of them rounds it. */
static void keys_that_make_one_size(void **state)
{
    static const char text[] = "table wide\nmodel_type \"wide\"\n"
                               "inner = round_up(int(4*width*(factor default 1.0)), multiple default 256)\n"
                               "up.weight (inner, width)\ndown.weight (width, inner)\n";
    struct model model;
    (void)state;
    begin_with(&model, text);
    model_add_shape(&model, "up.weight", SHAPE(336, 120));
    model_add_shape(&model, "down.weight", SHAPE(120, 336));
    FIND();
    FOUND("wide");
    assert_false(inferred(&finding, "factor").determined);
    assert_false(inferred(&finding, "multiple").determined);
    END();
}

/* Of a sum with many terms all have to be smaller than they are by default. */
static void terms_of_a_sum(void **state)
{
    static const char text[] = "table voice\nmodel_type \"voice\"\n"
                               "rows = (words default 4001) + (books default 32)*(codes default 2049) + 1\n"
                               "embed.weight (rows, width)\nnorm.weight (width)\n";
    struct model model;
    (void)state;
    begin_with(&model, text);
    model_add_shape(&model, "embed.weight", SHAPE(3204, 16));
    model_add_shape(&model, "norm.weight", SHAPE(16));
    struct finding finding = find(&model, "voice");
    FOUND("voice");
    assert_false(inferred(&finding, "words").determined);
    END();
}

/* Axes that make the width of a head together, none of which is known by it. */
static void parts_of_a_size(void **state)
{
    static const char text[] = "table turner\nmodel_type \"turner\"\n"
                               "head = sum(axes default [16, 24, 24])\n"
                               "query.weight (width, width)\nnorm.weight (head)\n";
    struct model model;
    (void)state;
    begin_with(&model, text);
    model_add_shape(&model, "query.weight", SHAPE(96, 96));
    model_add_shape(&model, "norm.weight", SHAPE(24));
    FIND();
    FOUND("turner");
    assert_value(inferred(&finding, "axes").value, "[6, 9, 9]");
    assert_false(inferred(&finding, "axes").determined);
    END();
}

/* Of two factors the one with a default has it. */
static void factor_by_default(void **state)
{
    static const char text[] = "table shared\nmodel_type \"shared\"\n"
                               "up.weight ((inner default 1408)*(experts default 1), width)\nnorm.weight (width)\n";
    struct model model;
    (void)state;
    begin_with(&model, text);
    model_add_shape(&model, "up.weight", SHAPE(112, 16));
    model_add_shape(&model, "norm.weight", SHAPE(16));
    FIND();
    FOUND("shared");
    assert_value(inferred(&finding, "inner").value, "112");
    assert_value(inferred(&finding, "experts").value, "1");
    END();
}

/* The levels without attention ask for the width of a text, too: it is a number there as it is in the others. */
static void items_of_one_kind(void **state)
{
    BEGIN("{\"_class_name\": \"UNet2DConditionModel\", \"block_out_channels\": [16, 24, 32], \"in_channels\": 4, "
          "\"down_block_types\": [\"DownBlock2D\", \"CrossAttnDownBlock2D\", \"DownBlock2D\"], \"out_channels\": 4, "
          "\"up_block_types\": [\"UpBlock2D\", \"CrossAttnUpBlock2D\", \"UpBlock2D\"], \"layers_per_block\": 1, "
          "\"cross_attention_dim\": 24, \"attention_head_dim\": 2, \"norm_num_groups\": 8, "
          "\"transformer_layers_per_block\": 2, \"use_linear_projection\": true, "
          "\"addition_embed_type\": \"text_time\", \"projection_class_embeddings_input_dim\": 44}");
    FIND();
    FOUND("unet_2d_condition");
    TOLD("cross_attention_dim", "24");
    END();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(line_that_was_another), cmocka_unit_test(keys_that_make_one_size),
        cmocka_unit_test(terms_of_a_sum),        cmocka_unit_test(parts_of_a_size),
        cmocka_unit_test(factor_by_default),     cmocka_unit_test(items_of_one_kind),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
