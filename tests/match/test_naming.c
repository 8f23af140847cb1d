/* SPDX-License-Identifier: MIT
 * Wrappers, prefixes and old names: found once, said once, and never where a real module is called like one. */
#define _XOPEN_SOURCE 700
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "check/model.h"

static const char gpt2[] = "{\"model_type\": \"gpt2\", \"architectures\": [\"GPT2LMHeadModel\"], \"n_layer\": 12}";
static const char bert[] = "{\"model_type\": \"bert\", \"architectures\": [\"BertForMaskedLM\"]}";
static const char bert_model[] = "{\"model_type\": \"bert\", \"architectures\": [\"BertModel\"]}";
static const char llama[] = "{\"model_type\": \"llama\", \"architectures\": [\"LlamaForCausalLM\"], "
                            "\"vocab_size\": 320, \"hidden_size\": 64, \"num_hidden_layers\": 40, "
                            "\"num_attention_heads\": 4, \"intermediate_size\": 128}";

#define BEGIN(config)                                                                                                  \
    struct model model;                                                                                                \
    (void)state;                                                                                                       \
    model_open(&model, config);                                                                                        \
    model_predict(&model, 0)

static void every_prefix(void **state)
{
    static const char *const prefixes[] = {"module.",
                                           "_orig_mod.",
                                           "model.",
                                           "state_dict.",
                                           "model_state_dict.",
                                           "state_dict.model.",
                                           "module._orig_mod.",
                                           "_orig_mod.module.",
                                           "state_dict._orig_mod.module.",
                                           "_fsdp_wrapped_module.",
                                           "base_model.model.",
                                           "anything at all."};
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++) {
        char line[256];
        BEGIN(gpt2);
        model_prefix(&model, prefixes[i]);
        snprintf(line, sizeof line, "explained: every name in the file begins with '%s'; nothing else differs",
                 prefixes[i]);
        assert_string_equal(model_check(&model), line);
        assert_int_equal(shapeproof_check_cause_count(model.check), 1);
        assert_int_equal(shapeproof_check_cause(model.check, 0)->explains, 148);
        assert_int_equal(shapeproof_check_finding_count(model.check), 1); /* the tied head */
        model_close(&model);
    }
}

static void base_left_out(void **state)
{
    BEGIN(gpt2);
    model_rename(&model, "transformer.*", "transformer.", "");
    assert_string_equal(model_check(&model),
                        "explained: the file leaves out 'transformer.' in front of 148 names; nothing else differs");
    model_close(&model);
}

static void base_left_out_behind_a_wrapper(void **state)
{
    BEGIN(gpt2);
    model_rename(&model, "transformer.*", "transformer.", "module.");
    assert_string_equal(model_check(&model), "explained: every name in the file begins with 'module.'; the file leaves "
                                             "out 'transformer.' in front of 148 names");
    assert_int_equal(shapeproof_check_cause_count(model.check), 2);
    model_close(&model);
}

static void base_added(void **state)
{
    BEGIN(bert_model);
    model_prefix(&model, "bert.");
    assert_string_equal(model_check(&model),
                        "explained: every name in the file begins with 'bert.'; nothing else differs");
    model_close(&model);
}

/* Another base is a renaming, which no loader undoes. */
static void another_base(void **state)
{
    BEGIN(llama);
    model_rename(&model, "model.layers.*", "model.layers.", "model.blocks.");
    assert_string_equal(model_check(&model), "differs: renamed: 'layers' is called 'blocks' (360 tensors) in the file");
    model_close(&model);
}

static void half_of_the_names(void **state)
{
    BEGIN(gpt2);
    for (size_t i = 0; i < model.count; i += 2) {
        struct part *part = &model.parts[i];
        replace_in(part, "", "module.");
    }
    assert_string_equal(model_check(&model),
                        "differs: 74 of 148 names in the file begin with 'module.', the others do not, such as "
                        "transformer.wpe.weight");
    model_close(&model);
}

/* Outside numbered layers: in one module, or in modules side by side. */
static void half_of_a_module(void **state)
{
    static const char *const without[] = {"embeddings.LayerNorm.bias", "embeddings.word_embeddings.weight"};
    for (size_t i = 0; i < sizeof without / sizeof *without; i++) {
        char name[64];
        BEGIN(bert_model);
        model_prefix(&model, "module.");
        snprintf(name, sizeof name, "module.%s", without[i]);
        model_rename(&model, name, "module.", "");
        const char *told = model_check(&model);
        const char *end = strstr(told, ", the others do not, such as ");
        assert_non_null(end);
        assert_int_equal(strncmp(told, "differs: 198 of 199 names in the file begin with 'module.'", 58), 0);
        assert_string_equal(end + strlen(", the others do not, such as "), without[i]);
        model_close(&model);
    }
}

/* Layers from two files: the one was saved without the base. */
static void half_of_the_layers(void **state)
{
    BEGIN(gpt2);
    model_rename(&model, "transformer.h.?.*", "transformer.h.", "h.");
    assert_string_equal(model_check(&model),
                        "differs: 120 of 148 names in the file leave out 'transformer.', the others do not, such "
                        "as transformer.h.10.ln_1.weight");
    model_close(&model);
}

/* An averaged copy beside the model is no other naming of the model. */
static void a_second_copy(void **state)
{
    BEGIN(gpt2);
    model_copy(&model, "*", "", "ema.");
    assert_string_equal(model_check(&model),
                        "explained: the file holds a second copy of 148 tensors below 'ema.'; nothing else differs");
    assert_null(model_cause(&model, "prefix"));
    model_close(&model);
}

static void wrappers_within_names(void **state)
{
    BEGIN(llama);
    model_rename(&model, "model.layers.*", ".self_attn.", ".self_attn._checkpoint_wrapped_module.");
    assert_string_equal(model_check(&model), "explained: the wrapper '_checkpoint_wrapped_module' stands in 160 of 363 "
                                             "names in the file; nothing else differs");
    model_rename(&model, "model.layers.?.*", ".mlp.", ".mlp._orig_mod.");
    model_prefix(&model, "_orig_mod.");
    assert_string_equal(model_check(&model), "explained: the wrappers '_orig_mod', '_checkpoint_wrapped_module' stand "
                                             "in 363 of 363 names in the file; nothing else differs");
    model_close(&model);
}

static void wrapper_and_strangers(void **state)
{
    BEGIN(gpt2);
    model_prefix(&model, "module.");
    model_add_shape(&model, "step", SHAPE(1));
    assert_string_equal(model_check(&model),
                        "explained: 148 of 149 names in the file begin with 'module.'; 1 tensor of a trainer, or of a "
                        "module around the model, does not have the prefix 'module.' of the model: step");
    assert_string_equal(model_cause(&model, "prefix")->message, "148 of 149 names in the file begin with 'module.'");
    model_close(&model);
}

/* A table whose own names have such components needs no naming. */
static void a_module_that_is_called_like_a_wrapper(void **state)
{
    static const char table[] = "table own\nN = n default 20\n[all] for i in 0..N-1\n"
                                "module._orig_mod.layers.{i}.weight (4, 4)\nmodule.model.{i}.bias (4)\n";
    struct model model;
    struct shapeproof_error error = {0};
    (void)state;
    model_open(&model, "{}");
    assert_int_equal(shapeproof_tables_add_text(model.tables, "own.shapes", table, strlen(table), &error),
                     SHAPEPROOF_OK);
    for (int i = 0; i < 20; i++) {
        char name[64];
        snprintf(name, sizeof name, "module._orig_mod.layers.%d.weight", i);
        model_add_shape(&model, name, SHAPE(4, 4));
        snprintf(name, sizeof name, "module.model.%d.bias", i);
        model_add_shape(&model, name, SHAPE(4));
    }
    struct shapeproof_inventory *inventory = model_in_memory(&model);
    struct shapeproof_check *check = shapeproof_check_new(inventory, model.tables, model.config,
                                                          &(struct shapeproof_check_options){.table = "own"}, &error);
    assert_non_null(check);
    assert_int_equal(shapeproof_check_verdict(check), SHAPEPROOF_VERDICT_MATCH);
    shapeproof_check_free(check);
    shapeproof_inventory_close(inventory);
    /* And without it: the names of the file are then a prefix shorter. */
    for (size_t i = 0; i < model.count; i++) replace_in(&model.parts[i], "module.", "");
    inventory = model_in_memory(&model);
    check = shapeproof_check_new(inventory, model.tables, model.config,
                                 &(struct shapeproof_check_options){.table = "own"}, &error);
    assert_string_equal(shapeproof_check_summary(check),
                        "the file leaves out 'module.' in front of 40 names; nothing else differs");
    shapeproof_check_free(check);
    shapeproof_inventory_close(inventory);
    model_close(&model);
}

static void old_names(void **state)
{
    BEGIN(bert);
    model_rename(&model, "*LayerNorm.weight", "LayerNorm.weight", "LayerNorm.gamma");
    model_rename(&model, "*LayerNorm.bias", "LayerNorm.bias", "LayerNorm.beta");
    assert_string_equal(model_check(&model),
                        "explained: 52 tensors have names of another version: bert.embeddings.LayerNorm.{gamma,beta}, "
                        "bert.encoder.layer.{0-11}.attention.output.LayerNorm.{gamma,beta}, "
                        "bert.encoder.layer.{0-11}.output.LayerNorm.{gamma,beta} and 2 more; nothing else differs");
    model_prefix(&model, "module.");
    assert_string_equal(model_check(&model),
                        "explained: every name in the file begins with 'module.'; 52 tensors have names of another "
                        "version: module.bert.embeddings.LayerNorm.{gamma,beta}, "
                        "module.bert.encoder.layer.{0-11}.attention.output.LayerNorm.{gamma,beta}, "
                        "module.bert.encoder.layer.{0-11}.output.LayerNorm.{gamma,beta} and 2 more");
    assert_int_equal(model_cause(&model, "prefix")->explains, 202);
    assert_int_equal(model_cause(&model, "old-names")->explains, 52);
    model_close(&model);
}

static void one_old_name(void **state)
{
    BEGIN(bert);
    model_rename(&model, "bert.embeddings.LayerNorm.weight", "weight", "gamma");
    assert_string_equal(
        model_check(&model),
        "explained: 1 tensor has a name of another version: bert.embeddings.LayerNorm.gamma; nothing else differs");
    model_close(&model);
}

/* With both names in the file the new one counts. */
static void old_and_new(void **state)
{
    BEGIN(bert);
    model_copy(&model, "bert.embeddings.LayerNorm.weight", "weight", "gamma");
    assert_string_equal(model_check(&model), "differs: bert.embeddings.LayerNorm.gamma is unexpected");
    model_close(&model);
}

/* Long names, without dots or of nothing else, hold no surprise. */
static void strange_names(void **state)
{
    BEGIN(gpt2);
    char name[3000];
    memset(name, 'x', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    model_add_shape(&model, name, SHAPE(1));
    memset(name, '.', sizeof name - 1);
    model_add_shape(&model, name, SHAPE(1));
    model_add_shape(&model, "", SHAPE(1));
    model_add_shape(&model, "_orig_mod", SHAPE(1));
    model_add_shape(&model, "_orig_mod.", SHAPE(1));
    model_check(&model);
    assert_int_equal(shapeproof_check_verdict(model.check), SHAPEPROOF_VERDICT_DIFFERS);
    assert_int_equal(model_findings(&model, "unexpected"), 5);
    assert_int_equal(shapeproof_check_cause_count(model.check), 0);
    model_close(&model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_prefix),
        cmocka_unit_test(base_left_out),
        cmocka_unit_test(base_left_out_behind_a_wrapper),
        cmocka_unit_test(base_added),
        cmocka_unit_test(another_base),
        cmocka_unit_test(half_of_the_names),
        cmocka_unit_test(half_of_a_module),
        cmocka_unit_test(half_of_the_layers),
        cmocka_unit_test(a_second_copy),
        cmocka_unit_test(wrappers_within_names),
        cmocka_unit_test(wrapper_and_strangers),
        cmocka_unit_test(a_module_that_is_called_like_a_wrapper),
        cmocka_unit_test(old_names),
        cmocka_unit_test(one_old_name),
        cmocka_unit_test(old_and_new),
        cmocka_unit_test(strange_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
