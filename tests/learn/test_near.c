/* SPDX-License-Identifier: MIT
 * Models that are nearly what a table knows: learnt as an extension of that table, or not, or told. */
#define _XOPEN_SOURCE 700
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "learn/lessons.h"

enum { SIZES = 3 };

/* Three sizes of a decoder that no type names. */
static const struct {
    uint64_t vocabulary, width, layers, heads, groups, inner;
} sizes[SIZES] = {{50, 24, 2, 4, 2, 33}, {64, 40, 3, 5, 1, 70}, {71, 36, 1, 6, 3, 52}};

static void begin_sizes(struct problem *problem, const char *type)
{
    *problem = (struct problem){.count = 0};
    for (size_t i = 0; i < SIZES; i++) {
        char config[500];
        snprintf(config, sizeof config,
                 "{\"model_type\": \"llama\", \"architectures\": [\"LlamaForCausalLM\"], \"vocab_size\": %zu, "
                 "\"hidden_size\": %zu, \"num_hidden_layers\": %zu, \"num_attention_heads\": %zu, "
                 "\"num_key_value_heads\": %zu, \"intermediate_size\": %zu, \"tie_word_embeddings\": false}",
                 (size_t)sizes[i].vocabulary, (size_t)sizes[i].width, (size_t)sizes[i].layers, (size_t)sizes[i].heads,
                 (size_t)sizes[i].groups, (size_t)sizes[i].inner);
        lesson_begin(problem, config);
        model_predict(problem->models[i], 0);
        char setting[100];
        snprintf(setting, sizeof setting, "model_type=%s", type);
        model_set(problem->models[i], setting);
    }
}

static void add_in_layers(struct problem *problem, size_t size, const char *end, uint64_t rows, uint64_t columns)
{
    for (size_t k = 0; k < sizes[size].layers; k++) {
        char name[100];
        snprintf(name, sizeof name, "model.layers.%zu.%s", k, end);
        if (columns) model_add_shape(problem->models[size], name, SHAPE(rows, columns));
        else model_add_shape(problem->models[size], name, SHAPE(rows));
    }
}

static void assert_extends(const struct problem *problem, const char *table)
{
    if (!shapeproof_learning_base(problem->learning)) fail_msg("%s", shapeproof_learning_text(problem->learning));
    assert_string_equal(shapeproof_learning_base(problem->learning), table);
}

/* One more norm: nothing else is written, and what is not looked at is said. */
static void one_more_norm(void **state)
{
    struct problem problem;
    (void)state;
    begin_sizes(&problem, "nearly_llama");
    for (size_t i = 0; i < SIZES; i++) add_in_layers(&problem, i, "self_attn.sub_norm.weight", sizes[i].width, 0);
    assert_learns(&problem);
    assert_extends(&problem, "llama");
    assert_null(shapeproof_learning_known(problem.learning));
    assert_says(&problem,
                "# The table llama predicts 63 of their 69 tensors: here is what differs.\ntable learnt_here extends "
                "llama\nmodel_type \"nearly_llama\"\n");
    assert_says(&problem, "[layers] for i in 0..L-1\nmodel.layers.{i}.self_attn.sub_norm.weight   (H)\n");
    assert_says_not(&problem, "gate_proj");
    lesson_close(&problem);
}

/* Queries, keys and values in one matrix: the group is written anew, and those that are as before are not. */
static void another_attention(void **state)
{
    struct problem problem;
    (void)state;
    begin_sizes(&problem, "nearly_llama");
    for (size_t i = 0; i < SIZES; i++) {
        const uint64_t width = sizes[i].width, head = width / sizes[i].heads;
        model_drop(problem.models[i], "*.[qkv]_proj.weight");
        add_in_layers(&problem, i, "self_attn.qkv_proj.weight", width + 2 * sizes[i].groups * head, width);
    }
    assert_learns(&problem);
    assert_extends(&problem, "llama");
    assert_says(&problem, "[attention] for i in 0..L-1\n");
    assert_says(&problem, "model.layers.{i}.self_attn.qkv_proj.weight   (H + 2*(H // A*K), H)\n");
    assert_says(&problem, "model.layers.{i}.self_attn.o_proj.weight     (H, H)\n");
    assert_says_not(&problem, "gate_proj");
    assert_says_not(&problem, "embed_tokens");
    lesson_close(&problem);
}

/* A group that none has. */
static void no_final_norm(void **state)
{
    struct problem problem;
    (void)state;
    begin_sizes(&problem, "nearly_llama");
    for (size_t i = 0; i < SIZES; i++) model_drop(problem.models[i], "model.norm.weight");
    assert_learns(&problem);
    assert_extends(&problem, "llama");
    assert_says(&problem, "# No example has this group.\n[final norm]\n");
    lesson_close(&problem);
}

/* Of what no example shows it says what the other table does, which is no knowledge. */
static void what_the_other_table_says(void **state)
{
    struct problem problem;
    bool told = false;
    (void)state;
    begin_sizes(&problem, "nearly_llama");
    problem.count = 1;
    add_in_layers(&problem, 0, "self_attn.sub_norm.weight", sizes[0].width, 0);
    assert_learns(&problem);
    assert_extends(&problem, "llama");
    for (size_t i = 0; i < shapeproof_learning_undecided_count(problem.learning); i++)
        told = told || strcmp(shapeproof_learning_undecided(problem.learning, i)->chosen, "what llama says") == 0;
    assert_true(told);
    assert_non_null(strstr(shapeproof_learning_unvaried(problem.learning), "hidden_size"));
    problem.count = SIZES;
    for (size_t i = 1; i < SIZES; i++) {
        model_close(problem.models[i]);
        free(problem.models[i]);
    }
    problem.count = 1;
    lesson_close(&problem);
}

/* There was nothing to learn: that is told, and the table is written all the same, by itself. */
static void a_known_model(void **state)
{
    struct problem problem;
    (void)state;
    begin_sizes(&problem, "llama_again");
    assert_learns(&problem);
    assert_string_equal(shapeproof_learning_known(problem.learning), "llama");
    assert_null(shapeproof_learning_base(problem.learning));
    assert_says(&problem, "# The table llama predicts all of them as well.\ntable learnt_here\n");
    assert_says(&problem, "gated_mlp(H, I)");
    lesson_close(&problem);
}

/* Other names: no table is near. */
static void other_names(void **state)
{
    struct problem problem;
    (void)state;
    begin_sizes(&problem, "nearly_llama");
    for (size_t i = 0; i < SIZES; i++)
        model_rename(problem.models[i], "model.layers.*", "model.layers", "trunk.blocks");
    assert_learns(&problem);
    assert_null(shapeproof_learning_base(problem.learning));
    assert_null(shapeproof_learning_known(problem.learning));
    lesson_close(&problem);
}

/* Every group is otherwise: an extension would be longer. */
static void hardly_anything_alike(void **state)
{
    struct problem problem;
    (void)state;
    begin_sizes(&problem, "nearly_llama");
    for (size_t i = 0; i < SIZES; i++) {
        model_resize(problem.models[i], "*_proj.weight", sizes[i].width, sizes[i].width + 1);
        model_resize(problem.models[i], "*norm.weight", sizes[i].width, sizes[i].width + 1);
    }
    assert_learns(&problem);
    assert_null(shapeproof_learning_base(problem.learning));
    lesson_close(&problem);
}

/* A tensor whose size nothing explains is not forgotten because the rest is a table that is known. */
static void a_tensor_that_nothing_explains(void **state)
{
    static const uint64_t odd[SIZES] = {1009, 503, 211};
    struct problem problem;
    (void)state;
    begin_sizes(&problem, "nearly_llama");
    for (size_t i = 0; i < SIZES; i++) {
        model_add_shape(problem.models[i], "odd.weight", SHAPE(odd[i], i + 2));
        add_in_layers(&problem, i, "self_attn.sub_norm.weight", sizes[i].width, 0);
    }
    lesson_learn(&problem);
    assert_false(shapeproof_learning_is_proved(problem.learning));
    assert_int_equal(shapeproof_learning_rest_count(problem.learning), 1);
    assert_non_null(strstr(shapeproof_learning_rest(problem.learning, 0), "odd.weight"));
    lesson_close(&problem);
}

/* A table of the user's by the same name is what was learnt before: it is not built upon. */
static void learnt_again(void **state)
{
    struct shapeproof_error error = {0};
    struct problem problem;
    const char *const before = "table learnt_here extends llama\nmodel_type \"nearly_llama\"\n";
    (void)state;
    begin_sizes(&problem, "nearly_llama");
    for (size_t i = 0; i < SIZES; i++) add_in_layers(&problem, i, "self_attn.sub_norm.weight", sizes[i].width, 0);
    assert_int_equal(
        shapeproof_tables_add_text(problem.models[0]->tables, "before.shapes", before, strlen(before), &error),
        SHAPEPROOF_OK);
    assert_learns(&problem);
    assert_says_not(&problem, "extends learnt_here");
    lesson_close(&problem);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_more_norm),
        cmocka_unit_test(another_attention),
        cmocka_unit_test(no_final_norm),
        cmocka_unit_test(a_known_model),
        cmocka_unit_test(what_the_other_table_says),
        cmocka_unit_test(other_names),
        cmocka_unit_test(a_tensor_that_nothing_explains),
        cmocka_unit_test(learnt_again),
        cmocka_unit_test(hardly_anything_alike),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
