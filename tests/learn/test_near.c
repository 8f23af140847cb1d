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

static void begin_sizes(struct lesson *lesson, const char *type)
{
    *lesson = (struct lesson){.count = 0};
    for (size_t i = 0; i < SIZES; i++) {
        char config[500];
        snprintf(config, sizeof config,
                 "{\"model_type\": \"llama\", \"architectures\": [\"LlamaForCausalLM\"], \"vocab_size\": %zu, "
                 "\"hidden_size\": %zu, \"num_hidden_layers\": %zu, \"num_attention_heads\": %zu, "
                 "\"num_key_value_heads\": %zu, \"intermediate_size\": %zu, \"tie_word_embeddings\": false}",
                 (size_t)sizes[i].vocabulary, (size_t)sizes[i].width, (size_t)sizes[i].layers, (size_t)sizes[i].heads,
                 (size_t)sizes[i].groups, (size_t)sizes[i].inner);
        lesson_begin(lesson, config);
        model_predict(lesson->models[i], 0);
        char setting[100];
        snprintf(setting, sizeof setting, "model_type=%s", type);
        model_set(lesson->models[i], setting);
    }
}

static void add_in_layers(struct lesson *lesson, size_t size, const char *end, uint64_t rows, uint64_t columns)
{
    for (size_t k = 0; k < sizes[size].layers; k++) {
        char name[100];
        snprintf(name, sizeof name, "model.layers.%zu.%s", k, end);
        if (columns) model_add_shape(lesson->models[size], name, SHAPE(rows, columns));
        else model_add_shape(lesson->models[size], name, SHAPE(rows));
    }
}

static void assert_extends(const struct lesson *lesson, const char *table)
{
    if (!shapeproof_learning_base(lesson->learning)) fail_msg("%s", shapeproof_learning_text(lesson->learning));
    assert_string_equal(shapeproof_learning_base(lesson->learning), table);
}

/* One more norm: nothing else is written, and what is not looked at is said. */
static void one_more_norm(void **state)
{
    struct lesson lesson;
    (void)state;
    begin_sizes(&lesson, "nearly_llama");
    for (size_t i = 0; i < SIZES; i++) add_in_layers(&lesson, i, "self_attn.sub_norm.weight", sizes[i].width, 0);
    assert_learns(&lesson);
    assert_extends(&lesson, "llama");
    assert_null(shapeproof_learning_known(lesson.learning));
    assert_says(&lesson,
                "# The table llama predicts 63 of their 69 tensors: here is what differs.\ntable learnt_here extends "
                "llama\nmodel_type \"nearly_llama\"\n");
    assert_says(&lesson, "[layers] for i in 0..L-1\nmodel.layers.{i}.self_attn.sub_norm.weight   (H)\n");
    assert_says_not(&lesson, "gate_proj");
    lesson_close(&lesson);
}

/* Queries, keys and values in one matrix: the group is written anew, and those that are as before are not. */
static void another_attention(void **state)
{
    struct lesson lesson;
    (void)state;
    begin_sizes(&lesson, "nearly_llama");
    for (size_t i = 0; i < SIZES; i++) {
        const uint64_t width = sizes[i].width, head = width / sizes[i].heads;
        model_drop(lesson.models[i], "*.[qkv]_proj.weight");
        add_in_layers(&lesson, i, "self_attn.qkv_proj.weight", width + 2 * sizes[i].groups * head, width);
    }
    assert_learns(&lesson);
    assert_extends(&lesson, "llama");
    assert_says(&lesson, "[attention] for i in 0..L-1\n");
    assert_says(&lesson, "model.layers.{i}.self_attn.qkv_proj.weight   (H + 2*(H // A*K), H)\n");
    assert_says(&lesson, "model.layers.{i}.self_attn.o_proj.weight     (H, H)\n");
    assert_says_not(&lesson, "gate_proj");
    assert_says_not(&lesson, "embed_tokens");
    lesson_close(&lesson);
}

/* A group that none has. */
static void no_final_norm(void **state)
{
    struct lesson lesson;
    (void)state;
    begin_sizes(&lesson, "nearly_llama");
    for (size_t i = 0; i < SIZES; i++) model_drop(lesson.models[i], "model.norm.weight");
    assert_learns(&lesson);
    assert_extends(&lesson, "llama");
    assert_says(&lesson, "# There is no such group in any example.\n[final norm]\n");
    lesson_close(&lesson);
}

/* Of what no example shows it says what the other table does, which is no knowledge. */
static void what_the_other_table_says(void **state)
{
    struct lesson lesson;
    bool told = false;
    (void)state;
    begin_sizes(&lesson, "nearly_llama");
    lesson.count = 1;
    add_in_layers(&lesson, 0, "self_attn.sub_norm.weight", sizes[0].width, 0);
    assert_learns(&lesson);
    assert_extends(&lesson, "llama");
    for (size_t i = 0; i < shapeproof_learning_undecided_count(lesson.learning); i++)
        told = told || strcmp(shapeproof_learning_undecided(lesson.learning, i)->chosen, "what llama says") == 0;
    assert_true(told);
    assert_non_null(strstr(shapeproof_learning_unvaried(lesson.learning), "hidden_size"));
    lesson.count = SIZES;
    for (size_t i = 1; i < SIZES; i++) {
        model_close(lesson.models[i]);
        free(lesson.models[i]);
    }
    lesson.count = 1;
    lesson_close(&lesson);
}

/* There was nothing to learn: that is told, and the table is written all the same, by itself. */
static void a_known_model(void **state)
{
    struct lesson lesson;
    (void)state;
    begin_sizes(&lesson, "llama_again");
    assert_learns(&lesson);
    assert_string_equal(shapeproof_learning_known(lesson.learning), "llama");
    assert_null(shapeproof_learning_base(lesson.learning));
    assert_says(&lesson, "# The table llama predicts all of them as well.\ntable learnt_here\n");
    assert_says(&lesson, "gated_mlp(H, I)");
    lesson_close(&lesson);
}

/* Other names: no table is near. */
static void other_names(void **state)
{
    struct lesson lesson;
    (void)state;
    begin_sizes(&lesson, "nearly_llama");
    for (size_t i = 0; i < SIZES; i++) model_rename(lesson.models[i], "model.layers.*", "model.layers", "trunk.blocks");
    assert_learns(&lesson);
    assert_null(shapeproof_learning_base(lesson.learning));
    assert_null(shapeproof_learning_known(lesson.learning));
    lesson_close(&lesson);
}

/* Every group is otherwise: an extension would be longer. */
static void hardly_anything_alike(void **state)
{
    struct lesson lesson;
    (void)state;
    begin_sizes(&lesson, "nearly_llama");
    for (size_t i = 0; i < SIZES; i++) {
        model_resize(lesson.models[i], "*_proj.weight", sizes[i].width, sizes[i].width + 1);
        model_resize(lesson.models[i], "*norm.weight", sizes[i].width, sizes[i].width + 1);
    }
    assert_learns(&lesson);
    assert_null(shapeproof_learning_base(lesson.learning));
    lesson_close(&lesson);
}

/* A table of the user's by the same name is what was learnt before: it is not built upon. */
static void learnt_again(void **state)
{
    struct shapeproof_error error = {0};
    struct lesson lesson;
    const char *const before = "table learnt_here extends llama\nmodel_type \"nearly_llama\"\n";
    (void)state;
    begin_sizes(&lesson, "nearly_llama");
    for (size_t i = 0; i < SIZES; i++) add_in_layers(&lesson, i, "self_attn.sub_norm.weight", sizes[i].width, 0);
    assert_int_equal(
        shapeproof_tables_add_text(lesson.models[0]->tables, "before.shapes", before, strlen(before), &error),
        SHAPEPROOF_OK);
    assert_learns(&lesson);
    assert_says_not(&lesson, "extends learnt_here");
    lesson_close(&lesson);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_more_norm), cmocka_unit_test(another_attention),         cmocka_unit_test(no_final_norm),
        cmocka_unit_test(a_known_model), cmocka_unit_test(what_the_other_table_says), cmocka_unit_test(other_names),
        cmocka_unit_test(learnt_again),  cmocka_unit_test(hardly_anything_alike),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
