/* SPDX-License-Identifier: MIT
 * What is said to be certain of a value, although something else was tried first, and what is not. */
#define _XOPEN_SOURCE 700
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "infer/finding.h"

/* Norms over all heads at once, or over one that is as wide as all: the same tensors. */
static void one_of_two_lines(void **state)
{
    static const char text[] = "table harp\nmodel_type \"harp\"\n"
                               "kind = norm default \"none\"\n"
                               "[strings]\nframe.weight (heads*width, 7)\n"
                               "string.weight (width) if kind == \"each\"\n"
                               "string.weight (heads*width) if kind == \"all\"\n"
                               "string.more (3) if kind != \"none\"\n";
    struct model model;
    (void)state;
    begin_with(&model, text);
    model_add_shape(&model, "frame.weight", SHAPE(24, 7));
    model_add_shape(&model, "string.weight", SHAPE(24));
    model_add_shape(&model, "string.more", SHAPE(3));
    FIND();
    FOUND("harp");
    GUESSED("norm", "\"each\"");
    GUESSED("width", "24");
    GUESSED("heads", "1");
    BECAUSE("width", "string.weight, dimension 0, if norm is right");
    END();
}

/* Only the product shows of an item and what it is multiplied with: a guess about the item is one about the list. */
static void items_of_a_product(void **state)
{
    static const char text[] = "table stairs\nmodel_type \"stairs\"\n"
                               "[steps] for i in 0..len(times)-1\n"
                               "step.{i}.weight (times[i]*width, 5)\n";
    struct model model;
    (void)state;
    begin_with(&model, text);
    model_add_shape(&model, "step.0.weight", SHAPE(48, 5));
    model_add_shape(&model, "step.1.weight", SHAPE(96, 5));
    FIND();
    FOUND("stairs");
    assert_false(inferred(&finding, "times").determined);
    assert_false(inferred(&finding, "width").determined);
    END();
}

/* The default would do with one value of the other key, and another value with another one. */
static void what_a_difference_is_made_of(void **state)
{
    static const char text[] = "table tower\nmodel_type \"tower\"\n"
                               "words = (tokens default 16384) - (marks default 5)\n"
                               "[rooms]\nroom.weight (width, width)\nhead.weight (words, width)\n";
    struct model model;
    (void)state;
    begin_with(&model, text);
    model_add_shape(&model, "room.weight", SHAPE(64, 64));
    model_add_shape(&model, "head.weight", SHAPE(92, 64));
    FIND();
    FOUND("tower");
    TOLD("width", "64");
    assert_false(inferred(&finding, "tokens").determined);
    assert_false(inferred(&finding, "marks").determined);
    END();
}

/* A default is certain where no other value will do, but for the same one said aloud. */
static void the_default_and_nothing_else(void **state)
{
    static const char text[] = "table wheel\nmodel_type \"wheel\"\n"
                               "kind = kind default \"round\"\n"
                               "[rim]\nrim.weight (kind == \"round\" ? width : 2*width + 1, width)\n"
                               "hub.weight (width)\n";
    struct model model;
    (void)state;
    begin_with(&model, text);
    model_add_shape(&model, "rim.weight", SHAPE(8, 8));
    model_add_shape(&model, "hub.weight", SHAPE(8));
    FIND();
    FOUND("wheel");
    TOLD("kind", "\"round\"");
    END();
}

/* A default of the right length is no reason why it should be used. */
static void one_of_two_lists(void **state)
{
    static const char text[] = "table bridge\nmodel_type \"bridge\"\n"
                               "kind = form default \"arch\"\n"
                               "outs = kind == \"arch\" ? [1, 2] : places default [1, 2, 3]\n"
                               "[piers] for i in 0..len(outs)-1\npier.{i}.weight (width, 5)\n"
                               "[rope] if kind == \"rope\"\nrope.weight (width)\n";
    struct model model;
    (void)state;
    begin_with(&model, text);
    model_add_shape(&model, "pier.0.weight", SHAPE(8, 5));
    model_add_shape(&model, "pier.1.weight", SHAPE(8, 5));
    FIND();
    FOUND("bridge");
    TOLD("width", "8");
    assert_false(inferred(&finding, "form").determined);
    END();
}

/* The items are lists themselves, of a key with a default. */
static void items_of_items_by_default(void **state)
{
    static const char text[] = "table ladder\nmodel_type \"ladder\"\n"
                               "sizes = rungs default [[1, 1]]\n"
                               "[rungs] for i in 0..len(sizes)-1\n"
                               "rung.{i}.weight (sizes[i][0], sizes[i][1])\n";
    struct model model;
    (void)state;
    begin_with(&model, text);
    model_add_shape(&model, "rung.0.weight", SHAPE(3, 5));
    model_add_shape(&model, "rung.1.weight", SHAPE(4, 6));
    FIND();
    FOUND("ladder");
    TOLD("rungs", "[[3, 5], [4, 6]]");
    END();
}

/* Nothing is left of a loop, or all of it is the same as what is there. */
static void a_loop_or_a_tie(void **state)
{
    static const char text[] =
        "table choir\nmodel_type \"choir\"\n"
        "[voices] for i in 0..all-1\nvoice.{i}.weight (width, 5)\n"
        "[echoes] for i in 0..all-given-1\necho.{i}.weight (width, 5) same as voice.{i}.weight\n";
    struct model model;
    (void)state;
    begin_with(&model, text);
    for (int i = 0; i < 3; i++) {
        char name[] = "voice.?.weight";
        name[strlen("voice.")] = (char)('0' + i);
        model_add_shape(&model, name, SHAPE(8, 5));
    }
    FIND();
    FOUND("choir");
    TOLD("all", "3");
    assert_false(inferred(&finding, "given").determined);
    END();
}

/* A factor above 1 has a kernel of its size, one below 1 one of three. */
static void a_factor_or_its_inverse(void **state)
{
    static const char text[] = "table lens\nmodel_type \"lens\"\n"
                               "[glasses] for i in 0..len(factors)-1\n"
                               "glass.{i}.weight (4, int(factors[i])) if factors[i] > 1\n"
                               "glass.{i}.weight (4, 3) if factors[i] < 1\n"
                               "[frame]\nframe.weight (width)\n";
    struct model model;
    (void)state;
    begin_with(&model, text);
    model_add_shape(&model, "frame.weight", SHAPE(9));
    model_add_shape(&model, "glass.0.weight", SHAPE(4, 4));
    model_add_shape(&model, "glass.1.weight", SHAPE(4, 3));
    FIND();
    FOUND("lens");
    TOLD("width", "9");
    assert_false(inferred(&finding, "factors").determined);
    END();
}

/* Of classes that have the same tensors one has no head, and nothing to tie. */
static void a_tie_of_one_class(void **state)
{
    BEGIN("{\"model_type\": \"voxtral\", \"architectures\": [\"VoxtralModel\"], "
          "\"audio_config\": {\"hidden_size\": 16, \"num_hidden_layers\": 1, \"intermediate_size\": 24}, "
          "\"text_config\": {\"model_type\": \"llama\", \"vocab_size\": 90, \"hidden_size\": 32, "
          "\"num_hidden_layers\": 2, \"num_attention_heads\": 4, \"num_key_value_heads\": 2, "
          "\"intermediate_size\": 48, \"tie_word_embeddings\": false}}");
    FIND();
    FOUND("voxtral");
    assert_false(inferred(&finding, "text_config.tie_word_embeddings").determined);
    END();
}

/* Two classes of one table without a word on what tells them apart. */
static void classes_of_one_table(void **state)
{
    static const char text[] = "table twins\narchitectures \"FirstTwinModel\", \"SecondTwinModel\"\n"
                               "[all]\nfirst.weight (width, 5)\nsecond.weight (width)\n";
    struct model model;
    (void)state;
    begin_with(&model, text);
    model_add_shape(&model, "first.weight", SHAPE(8, 5));
    model_add_shape(&model, "second.weight", SHAPE(8));
    FIND();
    FOUND("twins");
    TOLD("width", "8");
    assert_false(inferred(&finding, "_class_name").determined);
    BECAUSE("_class_name", "other classes have the same tensors");
    END();
}

/* Layers of two kinds have other sizes: neither the list of one kind nor any of the sizes explains them alone. */
static void layers_of_two_kinds(void **state)
{
    static const char text[] = "table tower\nmodel_type \"tower\"\n"
                               "near(i) = i in near_layers default (i + 1) % 6 != 0\n"
                               "heads(i) = near(i) ? near_heads default 4 : heads default 4\n"
                               "size(i) = near(i) ? near_size default 16 : size default 16\n"
                               "[layers] for i in 0..layers-1\n"
                               "layer.{i}.query (heads(i) * size(i), width)\n"
                               "layer.{i}.norm (size(i))\n"
                               "layer.{i}.reach (near(i) ? near_reach default 8 : reach default 64, 2)\n";
    static const unsigned sizes[] = {8, 12, 8};
    struct model model;
    (void)state;
    begin_with(&model, text);
    for (unsigned i = 0; i < 3; i++) {
        char name[64];
        add_module(&model, "layer", i, "query", 4UL * sizes[i], 32);
        snprintf(name, sizeof name, "layer.%u.norm", i);
        model_add_shape(&model, name, SHAPE(sizes[i]));
        add_module(&model, "layer", i, "reach", sizes[i] == 8 ? 5 : 9, 2);
    }
    FIND();
    FOUND("tower");
    assert_value(inferred(&finding, "near_layers").value, "[0, 2]");
    GUESSED("near_size", "8");
    GUESSED("size", "12");
    TOLD("width", "32");
    END();
}

/* Of 3584 = heads * width and 512 = heads * width rather 28 and 4 heads of 128 than 224 and 32 of 16, although 32 is
 * the default of the latter. */
static void heads_of_a_usual_width(void **state)
{
    BEGIN("{\"model_type\": \"qwen2\", \"architectures\": [\"Qwen2ForCausalLM\"], \"hidden_size\": 3584, "
          "\"num_attention_heads\": 28, \"num_key_value_heads\": 4, \"num_hidden_layers\": 2, "
          "\"intermediate_size\": 18944, \"vocab_size\": 152064}");
    FIND();
    FOUND("qwen2");
    GUESSED("num_attention_heads", "28");
    BECAUSE("num_attention_heads", "56, 14 and 112 would do as well, this one is usual");
    GUESSED("num_key_value_heads", "4");
    GUESSED("head_dim", "128");
    END();
}

/* Of 40 = heads * width and 20 = heads * width heads that divide the hidden size, as transformers requires, although 10
 * heads have a usual width; and of these first the most. */
static void heads_that_transformers_accepts(void **state)
{
    BEGIN("{\"model_type\": \"llama\", \"architectures\": [\"LlamaForCausalLM\"], \"hidden_size\": 24, "
          "\"num_attention_heads\": 4, \"num_key_value_heads\": 2, \"head_dim\": 10, \"num_hidden_layers\": 2, "
          "\"intermediate_size\": 40, \"vocab_size\": 97}");
    FIND();
    FOUND("llama");
    GUESSED("num_attention_heads", "4");
    BECAUSE("num_attention_heads", "2 would do as well, this one is usual");
    GUESSED("num_key_value_heads", "2");
    GUESSED("head_dim", "10");
    END();
}

/* Layers of two kinds tell by their norms how wide a head is: that comes before the default number of heads. */
static void heads_that_norms_tell(void **state)
{
    BEGIN("{\"model_type\": \"gemma4_text\", \"architectures\": [\"Gemma4ForCausalLM\"], \"hidden_size\": 32, "
          "\"num_attention_heads\": 4, \"num_key_value_heads\": 2, \"head_dim\": 8, \"global_head_dim\": 16, "
          "\"num_hidden_layers\": 6, \"intermediate_size\": 48, \"vocab_size\": 64, "
          "\"hidden_size_per_layer_input\": 8, \"vocab_size_per_layer_input\": 64, \"layer_types\": "
          "[\"sliding_attention\", \"sliding_attention\", \"sliding_attention\", \"sliding_attention\", "
          "\"sliding_attention\", \"full_attention\"]}");
    FIND();
    FOUND("gemma4_text");
    GUESSED("num_attention_heads", "4");
    GUESSED("head_dim", "8");
    GUESSED("global_head_dim", "16");
    END();
}

/* The width of experts shows in fused tensors alone, in the names that transformers 5 has in memory. */
static void sizes_of_fused_tensors(void **state)
{
    BEGIN("{\"model_type\": \"mixtral\", \"architectures\": [\"MixtralForCausalLM\"], \"hidden_size\": 16, "
          "\"num_attention_heads\": 2, \"num_key_value_heads\": 1, \"num_hidden_layers\": 2, "
          "\"intermediate_size\": 40, \"vocab_size\": 64, \"num_local_experts\": 4}");
    model_drop(&model, "*.experts.*");
    for (int i = 0; i < 2; i++) {
        char name[100];
        snprintf(name, sizeof name, "model.layers.%d.block_sparse_moe.experts.gate_up_proj", i);
        model_add_shape(&model, name, SHAPE(4, 80, 16));
        snprintf(name, sizeof name, "model.layers.%d.block_sparse_moe.experts.down_proj", i);
        model_add_shape(&model, name, SHAPE(4, 16, 40));
    }
    model_rename(&model, "*", "block_sparse_moe", "mlp");
    FIND();
    assert_non_null(finding.inference);
    assert_true(is_found(&finding, "mixtral"));
    assert_true(explains_all(&finding));
    TOLD("intermediate_size", "40");
    TOLD("num_local_experts", "4");
    END();
}

/* Layers 0 to 3 have experts where they are not listed as dense and their number is divided by a period. `dense`: the
 * layers, as bits, that have a dense feed-forward. */
static void begin_with_dense_layers(struct model *model, unsigned dense)
{
    static const char text[] = "table orchard\nmodel_type \"orchard\"\n"
                               "sparse(i) = E > 0 and i not in plain and (i + 1) % every == 0\n"
                               "E = trees default 5\nplain = plain_rows default []\nevery = tree_step default 1\n"
                               "[rows] for i in 0..rows-1\n"
                               "row.{i}.soil.weight (9)\n"
                               "row.{i}.grass.weight (7, 9) if not sparse(i)\n"
                               "row.{i}.tree.weight (E, 9) if sparse(i)\n";
    begin_with(model, text);
    for (unsigned i = 0; i < 4; i++) {
        const bool is_dense = dense >> i & 1;
        char name[40];
        snprintf(name, sizeof name, "row.%u.soil.weight", i);
        model_add_shape(model, name, SHAPE(9));
        add_module(model, "row", i, is_dense ? "grass.weight" : "tree.weight", is_dense ? 7 : 5, 9);
    }
}

/* Dense layers that no period gives are listed. */
static void layers_in_a_list(void **state)
{
    (void)state;
    struct model model;
    begin_with_dense_layers(&model, 1 << 0 | 1 << 2 | 1 << 3);
    FIND();
    FOUND("orchard");
    GUESSED("plain_rows", "[0, 2, 3]");
    END();
    begin_with_dense_layers(&model, 1 << 1);
    finding = find(&model, NULL);
    FOUND("orchard");
    GUESSED("plain_rows", "[1]");
    GUESSED("tree_step", "1");
    END();
}

/* A period is likelier than a list of the layers that it leaves out. */
static void layers_of_a_period(void **state)
{
    (void)state;
    struct model model;
    begin_with_dense_layers(&model, 1 << 0 | 1 << 2);
    FIND();
    FOUND("orchard");
    GUESSED("plain_rows", "[]");
    GUESSED("tree_step", "2");
    END();
}

/* The same of a model of transformers, whose other guesses are about heads and the period of full attention. */
static void dense_layers_of_a_mixture(void **state)
{
    BEGIN("{\"model_type\": \"qwen3_next\", \"vocab_size\": 64, \"hidden_size\": 32, \"num_hidden_layers\": 4, "
          "\"num_attention_heads\": 4, \"num_key_value_heads\": 2, \"head_dim\": 16, \"intermediate_size\": 40, "
          "\"num_experts\": 3, \"moe_intermediate_size\": 12, \"shared_expert_intermediate_size\": 20, "
          "\"linear_num_key_heads\": 2, \"linear_num_value_heads\": 4, \"linear_key_head_dim\": 6, "
          "\"linear_value_head_dim\": 5, \"mlp_only_layers\": [0, 3]}");
    FIND();
    FOUND("qwen3_next");
    GUESSED("mlp_only_layers", "[0, 3]");
    END();
}

/* A table that names one of two kinds of layers: the other kind is a word of transformers. The table that names all of
 * its values comes first, although it builds on more tables. */
static void kinds_that_no_table_names(void **state)
{
    BEGIN("{\"model_type\": \"qwen3_moe\", \"vocab_size\": 64, \"hidden_size\": 32, \"num_hidden_layers\": 3, "
          "\"num_attention_heads\": 4, \"num_key_value_heads\": 2, \"head_dim\": 16, \"intermediate_size\": 40, "
          "\"num_experts\": 3, \"moe_intermediate_size\": 12, \"mlp_only_layers\": [1]}");
    FIND();
    FOUND("qwen3_moe");
    assert_string_equal(shapeproof_inference_candidate(finding.inference, 0)->table, "qwen3_moe");
    GUESSED("mlp_only_layers", "[1]");
    assert_true(is_found(&finding, "mellum"));
    finding_close(&finding);
    finding = find(&model, "mellum");
    FOUND("mellum");
    GUESSED("mlp_layer_types", "[\"sparse\", \"dense\", \"sparse\"]");
    END();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_of_two_lines),
        cmocka_unit_test(items_of_a_product),
        cmocka_unit_test(what_a_difference_is_made_of),
        cmocka_unit_test(the_default_and_nothing_else),
        cmocka_unit_test(one_of_two_lists),
        cmocka_unit_test(items_of_items_by_default),
        cmocka_unit_test(a_loop_or_a_tie),
        cmocka_unit_test(a_factor_or_its_inverse),
        cmocka_unit_test(a_tie_of_one_class),
        cmocka_unit_test(classes_of_one_table),
        cmocka_unit_test(layers_of_two_kinds),
        cmocka_unit_test(heads_of_a_usual_width),
        cmocka_unit_test(heads_that_transformers_accepts),
        cmocka_unit_test(heads_that_norms_tell),
        cmocka_unit_test(sizes_of_fused_tensors),
        cmocka_unit_test(layers_in_a_list),
        cmocka_unit_test(layers_of_a_period),
        cmocka_unit_test(dense_layers_of_a_mixture),
        cmocka_unit_test(kinds_that_no_table_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
