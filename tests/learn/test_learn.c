/* SPDX-License-Identifier: MIT
 * Tables learnt from examples: of what tables predict, and of models that none knows. */
#define _XOPEN_SOURCE 700
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "learn/lessons.h"

/* ---- what tables predict, learnt from three of its predictions and right on a fourth ---- */

static void gpt2(void **state)
{
    (void)state;
    const char *const configs[] = {"{\"model_type\": \"gpt2\", \"vocab_size\": 50, \"n_embd\": 8, \"n_layer\": 2, "
                                   "\"n_positions\": 20, \"n_inner\": null}",
                                   "{\"model_type\": \"gpt2\", \"vocab_size\": 61, \"n_embd\": 12, \"n_layer\": 3, "
                                   "\"n_positions\": 18, \"n_inner\": 40}",
                                   "{\"model_type\": \"gpt2\", \"vocab_size\": 70, \"n_embd\": 20, \"n_layer\": 1, "
                                   "\"n_positions\": 33, \"n_inner\": null}",
                                   "{\"model_type\": \"gpt2\", \"vocab_size\": 90, \"n_embd\": 28, \"n_layer\": 5, "
                                   "\"n_positions\": 31, \"n_inner\": null}"};
    struct problem problem;
    lesson_open(&problem, configs, 3);
    assert_learnt(&problem);
    assert_says(&problem, "n_inner default 4*E");
    assert_right_on(&problem, configs[3]);
    lesson_close(&problem);
}

#define LLAMA "\"model_type\": \"llama\", \"architectures\": [\"LlamaForCausalLM\"], \"tie_word_embeddings\": false, "

static void llama(void **state)
{
    (void)state;
    const char *const configs[] = {
        "{" LLAMA "\"vocab_size\": 50, \"hidden_size\": 24, \"num_hidden_layers\": 2, \"num_attention_heads\": 4, "
        "\"num_key_value_heads\": 2, \"intermediate_size\": 33, \"attention_bias\": true}",
        "{" LLAMA "\"vocab_size\": 64, \"hidden_size\": 40, \"num_hidden_layers\": 3, \"num_attention_heads\": 5, "
        "\"num_key_value_heads\": 1, \"intermediate_size\": 70, \"head_dim\": 16, \"attention_bias\": false}",
        "{" LLAMA "\"vocab_size\": 71, \"hidden_size\": 36, \"num_hidden_layers\": 1, \"num_attention_heads\": 6, "
        "\"num_key_value_heads\": 3, \"intermediate_size\": 52, \"attention_bias\": false}",
        "{" LLAMA "\"vocab_size\": 99, \"hidden_size\": 56, \"num_hidden_layers\": 4, \"num_attention_heads\": 7, "
        "\"num_key_value_heads\": 7, \"intermediate_size\": 61, \"attention_bias\": true}"};
    struct problem problem;
    lesson_open(&problem, configs, 3);
    assert_learnt(&problem);
    assert_says(&problem, "= head_dim default H // A");
    assert_says(&problem, "grouped_attention(H, A, K, D, attention_bias, attention_bias)");
    assert_says(&problem, "gated_mlp(H, I)");
    assert_right_on(&problem, configs[3]);
    lesson_close(&problem);
}

/* A llama with one more norm, learnt to be like one: nothing but the norm is written. */
static void like_llama(void **state)
{
    (void)state;
    const char *const configs[] = {
        "{" LLAMA "\"vocab_size\": 50, \"hidden_size\": 24, \"num_hidden_layers\": 2, \"num_attention_heads\": 4, "
        "\"num_key_value_heads\": 2, \"intermediate_size\": 33}",
        "{" LLAMA "\"vocab_size\": 64, \"hidden_size\": 40, \"num_hidden_layers\": 3, \"num_attention_heads\": 5, "
        "\"num_key_value_heads\": 1, \"intermediate_size\": 70}"};
    struct problem problem = {0};
    for (size_t i = 0; i < 2; i++) {
        lesson_begin(&problem, configs[i]);
        model_predict(problem.models[i], 0);
        for (size_t k = 0; k < (i ? 3 : 2); k++) {
            lesson_addf(&problem, SHAPE(i ? 40 : 24), "model.layers.%zu.self_attn.sub_norm.weight", k);
        }
    }
    problem.like = "llama";
    assert_learns(&problem);
    assert_says(&problem, "table learnt_here extends llama");
    assert_says(&problem, "model.layers.{i}.self_attn.sub_norm.weight   (H)");
    assert_null(strstr(shapeproof_learning_text(problem.learning), "gate_proj"));
    lesson_close(&problem);
}

#define BERT "\"model_type\": \"bert\", \"architectures\": [\"BertModel\"], "

static void bert(void **state)
{
    (void)state;
    const char *const configs[] = {
        "{" BERT "\"vocab_size\": 50, \"hidden_size\": 24, \"num_hidden_layers\": 2, \"num_attention_heads\": 4, "
        "\"max_position_embeddings\": 20, \"type_vocab_size\": 2, \"intermediate_size\": 33}",
        "{" BERT "\"vocab_size\": 64, \"hidden_size\": 40, \"num_hidden_layers\": 3, \"num_attention_heads\": 5, "
        "\"max_position_embeddings\": 31, \"type_vocab_size\": 1, \"intermediate_size\": 70}",
        "{" BERT "\"vocab_size\": 71, \"hidden_size\": 36, \"num_hidden_layers\": 1, \"num_attention_heads\": 6, "
        "\"max_position_embeddings\": 17, \"type_vocab_size\": 4, \"intermediate_size\": 52}"};
    struct problem problem;
    lesson_open(&problem, configs, 2);
    assert_learnt(&problem);
    assert_right_on(&problem, configs[2]);
    lesson_close(&problem);
}

/* ---- what no table knows ---- */

/* A Sequential: its numbers are modules, not layers. */
static void perceptron(void **state)
{
    struct problem problem = {0};
    (void)state;
    lesson_begin(&problem, "{\"features\": 5, \"width\": 7, \"classes\": 3}");
    lesson_add(&problem, "net.0.weight", SHAPE(7, 5));
    lesson_add(&problem, "net.0.bias", SHAPE(7));
    lesson_add(&problem, "net.2.weight", SHAPE(3, 7));
    lesson_add(&problem, "net.2.bias", SHAPE(3));
    lesson_begin(&problem, "{\"features\": 8, \"width\": 13, \"classes\": 2}");
    lesson_add(&problem, "net.0.weight", SHAPE(13, 8));
    lesson_add(&problem, "net.0.bias", SHAPE(13));
    lesson_add(&problem, "net.2.weight", SHAPE(2, 13));
    lesson_add(&problem, "net.2.bias", SHAPE(2));
    assert_learns(&problem);
    lesson_close(&problem);
}

/* A number that is the same in all examples is part of the name. */
static void one_number(void **state)
{
    struct problem problem = {0};
    (void)state;
    for (size_t width = 5; width < 8; width++) {
        lesson_beginf(&problem, "{\"width\": %zu}", width);
        lesson_addf(&problem, SHAPE(width, 3), "tower.7.up.weight");
        lesson_addf(&problem, SHAPE(width), "tower.7.norm.weight");
        lesson_addf(&problem, SHAPE(width, 2), "head.0.weight");
    }
    assert_learns(&problem);
    assert_says(&problem, "tower.7.up.weight");
    assert_says(&problem, "head.0.weight");
    lesson_close(&problem);
}

/* Channels in a list; the first convolution sees the colours. */
static void convolutions(void **state)
{
    struct problem problem = {0};
    (void)state;
    lesson_begin(&problem, "{\"channels\": [8, 12, 20], \"colours\": 3}");
    lesson_add(&problem, "conv.0.weight", SHAPE(8, 3, 5, 5));
    lesson_add(&problem, "conv.1.weight", SHAPE(12, 8, 5, 5));
    lesson_add(&problem, "conv.2.weight", SHAPE(20, 12, 5, 5));
    lesson_begin(&problem, "{\"channels\": [6, 10], \"colours\": 1}");
    lesson_add(&problem, "conv.0.weight", SHAPE(6, 1, 5, 5));
    lesson_add(&problem, "conv.1.weight", SHAPE(10, 6, 5, 5));
    assert_learns(&problem);
    assert_says(&problem, "for i in 0..len(channels)-1");
    assert_says(&problem, "i == 0 ? C : channels[i - 1]");
    lesson_close(&problem);
}

/* The way up of a U-Net sees what comes from below and from the side, in the order of the way down reversed. */
static void way_up(void **state)
{
    struct problem problem = {0};
    (void)state;
    lesson_begin(&problem, "{\"channels\": [8, 16, 32]}");
    lesson_add(&problem, "up.0.weight", SHAPE(16, 48));
    lesson_add(&problem, "up.1.weight", SHAPE(8, 24));
    lesson_begin(&problem, "{\"channels\": [6, 20, 44, 50]}");
    lesson_add(&problem, "up.0.weight", SHAPE(44, 94));
    lesson_add(&problem, "up.1.weight", SHAPE(20, 64));
    lesson_add(&problem, "up.2.weight", SHAPE(6, 26));
    assert_learns(&problem);
    assert_says(&problem, "for i in 0..len(channels)-2");
    assert_says(&problem, "channels[len(channels) - 1 - i] + channels[len(channels) - 2 - i]");
    lesson_close(&problem);
}

/* One storage under two names, in each example. */
static void shared_storage(void **state)
{
    struct problem problem = {0};
    const uint64_t shapes[2][2] = {{30, 6}, {41, 8}};
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        lesson_begin(&problem, i ? "{\"symbols\": 41, \"width\": 8}" : "{\"symbols\": 30, \"width\": 6}");
        lesson_add(&problem, "embedding.weight", 2, shapes[i]);
        lesson_add(&problem, "head.weight", 2, shapes[i]);
        problem.models[i]->parts[0].storage = problem.models[i]->parts[1].storage = "one";
    }
    assert_learns(&problem);
    assert_says(&problem, "same as embedding.weight");
    lesson_close(&problem);
}

/* Three names: the second and the third are tied to each other where a flag unties the first, so that what they share
 * with it in some examples does not make them follow it in all. */
static void three_names_of_one_storage(void **state)
{
    struct problem problem = {0};
    static const char *const configs[] = {
        "{\"symbols\": 41, \"width\": 8, \"tied\": true}", "{\"symbols\": 30, \"width\": 6, \"tied\": false}",
        "{\"symbols\": 37, \"width\": 10, \"tied\": true}", "{\"symbols\": 35, \"width\": 12, \"tied\": false}"};
    static const uint64_t shapes[][2] = {{41, 8}, {30, 6}, {37, 10}, {35, 12}};
    (void)state;
    for (size_t i = 0; i < 4; i++) {
        lesson_begin(&problem, configs[i]);
        lesson_add(&problem, "a_embedding.weight", 2, shapes[i]);
        lesson_add(&problem, "decoder.weight", 2, shapes[i]);
        lesson_add(&problem, "head.weight", 2, shapes[i]);
        struct part *parts = problem.models[i]->parts;
        parts[1].storage = parts[2].storage = "head";
        parts[0].storage = i % 2 ? "embedding" : "head";
    }
    assert_learns(&problem);
    assert_says(&problem, "same as a_embedding.weight when tied");
    assert_says(&problem, "same as decoder.weight");
    lesson_close(&problem);
}

/* Two classes, whose names begin otherwise, and a head that one of them has. */
static void classes(void **state)
{
    const char *const configs[] = {
        "{\"model_type\": \"gpt2\", \"architectures\": [\"GPT2Model\"], \"vocab_size\": 50, \"n_embd\": 8, "
        "\"n_layer\": 2, "
        "\"n_positions\": 20, \"tie_word_embeddings\": true}",
        "{\"model_type\": \"gpt2\", \"architectures\": [\"GPT2LMHeadModel\"], \"vocab_size\": 61, \"n_embd\": 12, "
        "\"n_layer\": 3, \"n_positions\": 18, \"tie_word_embeddings\": false}",
        "{\"model_type\": \"gpt2\", \"architectures\": [\"GPT2LMHeadModel\"], \"vocab_size\": 65, \"n_embd\": 20, "
        "\"n_layer\": 1, \"n_positions\": 14, \"tie_word_embeddings\": true}",
        "{\"model_type\": \"gpt2\", \"architectures\": [\"GPT2Model\"], \"vocab_size\": 77, \"n_embd\": 4, "
        "\"n_layer\": 4, "
        "\"n_positions\": 10, \"tie_word_embeddings\": true}"};
    struct problem problem;
    (void)state;
    lesson_open(&problem, configs, 3);
    assert_learnt(&problem);
    assert_says(&problem, "p = class == \"GPT2LMHeadModel\" ? \"transformer.\" : \"\"");
    assert_right_on(&problem, configs[3]);
    lesson_close(&problem);
}

/* The number of layers without experts is a key. */
static void mixture_of_experts(void **state)
{
    struct problem problem = {0};
    const struct {
        const char *config;
        size_t layers, dense, experts;
    } made[] = {{"{\"layers\": 2, \"first_dense\": 1, \"experts\": 5, \"width\": 6, \"inner\": 11}", 2, 1, 5},
                {"{\"layers\": 4, \"first_dense\": 2, \"experts\": 3, \"width\": 6, \"inner\": 11}", 4, 2, 3},
                {"{\"layers\": 5, \"first_dense\": 1, \"experts\": 2, \"width\": 6, \"inner\": 11}", 5, 1, 2}};
    (void)state;
    for (size_t m = 0; m < sizeof made / sizeof *made; m++) {
        char name[80];
        lesson_begin(&problem, made[m].config);
        for (size_t i = 0; i < made[m].layers; i++) {
            snprintf(name, sizeof name, "layers.%zu.mlp.up.weight", i);
            if (i < made[m].dense) lesson_add(&problem, name, SHAPE(11, 6));
            for (size_t k = 0; i >= made[m].dense && k < made[m].experts; k++) {
                lesson_addf(&problem, SHAPE(11, 6), "layers.%zu.experts.%zu.up.weight", i, k);
            }
        }
    }
    assert_learns(&problem);
    assert_says(&problem, "= first_dense");
    assert_says(&problem, "if i < ");
    assert_says(&problem, " for j in 0..");
    lesson_close(&problem);
}

/* ---- large ones ---- */

static void add_deep_example(struct problem *problem, size_t layers, uint64_t width, uint64_t inner)
{
    static const char *const ends[] = {"q", "k", "v", "o", "up", "gate", "down", "norm", "norm2", "scale"};
    char text[200];
    lesson_beginf(problem, "{\"layers\": %zu, \"width\": %zu, \"inner\": %zu, \"kinds\": [\"a\", \"b\"]}", layers,
                  (size_t)width, (size_t)inner);
    for (size_t i = 0; i < layers; i++)
        for (size_t k = 0; k < sizeof ends / sizeof *ends; k++) {
            snprintf(text, sizeof text, "model.layers.%zu.%s.weight", i, ends[k]);
            if (k < 4) lesson_add(problem, text, SHAPE(width, width));
            else if (k < 6) lesson_add(problem, text, SHAPE(inner, width));
            else if (k == 6) lesson_add(problem, text, SHAPE(width, inner));
            else lesson_add(problem, text, SHAPE(width));
        }
}

/* 3,000 tensors in the largest: what is computed does not grow with them. */
static void three_thousand_tensors(void **state)
{
    struct problem problem = {0};
    (void)state;
    add_deep_example(&problem, 300, 12, 33);
    add_deep_example(&problem, 2, 8, 20);
    add_deep_example(&problem, 120, 20, 51);
    assert_learns(&problem);
    assert_says(&problem, "for i in 0..L-1");
    struct shapeproof_error error = {0};
    const struct shapeproof_learn_options few = {.name = "learnt_here",
                                                 .most_values = 1000000}; /* a sixtieth of a second */
    struct shapeproof_learning *learning =
        shapeproof_learn(problem.examples, 3, problem.models[0]->tables, &few, &error);
    assert_true(shapeproof_learning_is_proved(learning));
    shapeproof_learning_free(learning);
    lesson_close(&problem);
}

/* It ends when it has computed so many values, says so, and does not call the rest wrong. */
static void the_search_has_a_limit(void **state)
{
    struct problem problem = {0};
    struct shapeproof_error error = {0};
    (void)state;
    add_deep_example(&problem, 3, 12, 33);
    add_deep_example(&problem, 2, 8, 20);
    lesson_learn(&problem);
    const struct shapeproof_learn_options few = {.name = "learnt_here", .most_values = 5};
    struct shapeproof_learning *learning =
        shapeproof_learn(problem.examples, 2, problem.models[0]->tables, &few, &error);
    assert_non_null(learning);
    assert_false(shapeproof_learning_is_proved(learning));
    assert_string_equal(shapeproof_learning_rest(learning, 0),
                        "the search reached its limit of 5 values: expressions for what follows may exist beyond it");
    shapeproof_learning_free(learning);
    lesson_close(&problem);
}

/* Sizes are called by where they are. */
static void without_configuration(void **state)
{
    struct problem problem = {0};
    (void)state;
    lesson_begin(&problem, "{}");
    lesson_add(&problem, "wte.weight", SHAPE(64, 16));
    lesson_add(&problem, "h.0.up.weight", SHAPE(40, 16));
    lesson_add(&problem, "h.1.up.weight", SHAPE(40, 16));
    assert_learns(&problem);
    assert_says(&problem, "wte_rows");
    assert_says(&problem, "up_rows");
    assert_says(&problem, "h_count");
    lesson_close(&problem);
}

/* ---- what cannot be learnt is not written as if it could ---- */

static void equal_examples_decide_little(void **state)
{
    struct problem problem = {0};
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        lesson_begin(&problem, "{\"width\": 6, \"depth\": 6}");
        lesson_add(&problem, "weight", SHAPE(6, 6));
    }
    assert_learns(&problem);
    assert_true(shapeproof_learning_undecided_count(problem.learning) > 0);
    assert_string_equal(shapeproof_learning_unvaried(problem.learning), "width, depth");
    lesson_close(&problem);
}

/* Of the first two layers nobody can tell whether the third is as wide as the second. */
static void two_iterations_decide_little(void **state)
{
    struct problem problem = {0};
    const uint64_t widths[] = {5, 7};
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        const uint64_t width = widths[i];
        lesson_begin(&problem, i ? "{\"width\": 7, \"layers\": 2}" : "{\"width\": 5, \"layers\": 2}");
        lesson_add(&problem, "layer.0.weight", SHAPE(width, width));
        lesson_add(&problem, "layer.1.weight", SHAPE(width, 4 * width));
    }
    assert_learns(&problem);
    bool told = false;
    for (size_t i = 0; i < shapeproof_learning_undecided_count(problem.learning); i++)
        told = told || strcmp(shapeproof_learning_undecided(problem.learning, i)->experiment,
                              "a checkpoint whose loop has more iterations") == 0;
    assert_true(told);
    lesson_close(&problem);
}

static void one_wrong_tensor(void **state)
{
    struct problem problem = {0};
    (void)state;
    lesson_begin(&problem, "{\"width\": 6, \"vocabulary\": 40}");
    lesson_add(&problem, "symbols.weight", SHAPE(40, 6));
    lesson_add(&problem, "head.weight", SHAPE(40, 6));
    lesson_begin(&problem, "{\"width\": 8, \"vocabulary\": 51}");
    lesson_add(&problem, "symbols.weight", SHAPE(51, 8));
    lesson_add(&problem, "head.weight", SHAPE(1013, 8));
    lesson_learn(&problem);
    assert_false(shapeproof_learning_is_proved(problem.learning));
    assert_string_equal(shapeproof_learning_rest(problem.learning, 0), "head.weight: no expression gives its "
                                                                       "dimension 0");
    lesson_close(&problem);
}

static void different_architectures(void **state)
{
    struct problem problem = {0};
    (void)state;
    lesson_begin(&problem, "{\"width\": 6}");
    lesson_add(&problem, "symbols.weight", SHAPE(6, 6));
    lesson_begin(&problem, "{\"size\": 8}");
    lesson_add(&problem, "other.weight", SHAPE(8, 8));
    lesson_learn(&problem);
    assert_false(shapeproof_learning_is_proved(problem.learning));
    lesson_close(&problem);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gpt2),
        cmocka_unit_test(llama),
        cmocka_unit_test(like_llama),
        cmocka_unit_test(bert),
        cmocka_unit_test(perceptron),
        cmocka_unit_test(one_number),
        cmocka_unit_test(convolutions),
        cmocka_unit_test(way_up),
        cmocka_unit_test(shared_storage),
        cmocka_unit_test(three_names_of_one_storage),
        cmocka_unit_test(classes),
        cmocka_unit_test(mixture_of_experts),
        cmocka_unit_test(without_configuration),
        cmocka_unit_test(three_thousand_tensors),
        cmocka_unit_test(the_search_has_a_limit),
        cmocka_unit_test(equal_examples_decide_little),
        cmocka_unit_test(two_iterations_decide_little),
        cmocka_unit_test(one_wrong_tensor),
        cmocka_unit_test(different_architectures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
