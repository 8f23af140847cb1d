/* SPDX-License-Identifier: MIT
 * Configurations in the arguments that programs save beside the tensors: which are known, and which only look so. */
#define _POSIX_C_SOURCE 200809L
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "base/value.h"
#include "config/inside.h"
#include "model/inventory.h"

/* The configuration in the settings, as JSON, behind the place; NULL: none is found. */
static void assert_found(const char *settings, const char *expected)
{
    struct sp_arena arena = {0};
    struct sp_text text = {0};
    struct sp_program_config found;
    struct shapeproof_inventory *inventory = sp_inventory_new("x.pt");
    inventory->settings = settings;
    const bool is_found = sp_config_of_program(&arena, inventory, &found);
    assert_int_equal(is_found, expected != NULL);
    if (is_found) {
        sp_text_printf(&text, "%s: ", found.place);
        sp_value_json(&text, found.root);
        assert_string_equal(text.data, expected);
    }
    shapeproof_inventory_close(inventory);
    sp_text_free(&text);
    sp_arena_free(&arena);
}

#define MEGATRON                                                                                                       \
    "{\"args\": {\"padded_vocab_size\": 8, \"num_layers\": 1, \"hidden_size\": 4, \"num_attention_heads\": 2}}"

static void test_programs(void **state)
{
    (void)state;
    assert_found("{\"model_args\": {\"n_layer\": 2, \"n_embd\": 8, \"block_size\": 4, \"dropout\": 0.1}}",
                 "model_args: {\"shapeproof_table\": \"nanogpt\", \"n_layer\": 2, \"n_embd\": 8, \"block_size\": 4}");
    assert_found("{\"arch\": \"resnet18\", \"version\": 2, \"args\": {\"model\": \"resnet18\", \"num_classes\": 3, "
                 "\"input_size\": [1, 28, 28], \"gp\": null}}",
                 "args: {\"architecture\": \"resnet18\", \"num_classes\": 3, \"model_args\": {\"in_chans\": 1}}");
    assert_found(
        "{\"arch\": \"resnet18\", \"version\": 2, \"args\": {\"model\": \"resnet18\", \"num_classes\": 3, "
        "\"input_size\": [1], \"in_chans\": 4, "
        "\"model_kwargs\": {\"a\": 1}}}",
        "args: {\"architecture\": \"resnet18\", \"num_classes\": 3, \"model_args\": {\"a\": 1, \"in_chans\": 4}}");
    assert_found("{\"cfg\": {\"model\": {\"_name\": \"wav2vec2\"}}}", "cfg.model: {\"architecture\": \"wav2vec2\"}");
    assert_found("{\"cfg\": {\"MODEL\": {\"META_ARCHITECTURE\": \"RetinaNet\"}, \"SEED\": 1}}",
                 "cfg: {\"_class_name\": \"RetinaNet\", \"MODEL\": {\"META_ARCHITECTURE\": \"RetinaNet\"}}");
}

/* Megatron has the same arguments for BERT, which its head of two layers shows. */
static void test_strangers(void **state)
{
    (void)state;
    struct sp_arena arena = {0};
    struct sp_program_config found;
    struct shapeproof_error error = {0};
    struct shapeproof_inventory *inventory = sp_inventory_new("x.pt");
    inventory->settings = MEGATRON;
    sp_inventory_add(inventory, &error)->name = "model.language_model.encoder.layers.0.mlp.dense_h_to_4h.weight";
    assert_true(sp_config_of_program(&arena, inventory, &found));
    sp_inventory_add(inventory, &error)->name = "model.lm_head.dense.weight";
    assert_false(sp_config_of_program(&arena, inventory, &found));
    shapeproof_inventory_close(inventory);
    sp_arena_free(&arena);
}

/* Keys that other programs have as well: all signs must be there, and not null. */
static void test_others(void **state)
{
    (void)state;
    assert_found("{\"version\": 2, \"args\": {\"model\": \"resnet18\", \"num_classes\": 3}}", NULL);
    assert_found("{\"model_args\": {\"n_layer\": 2, \"n_embd\": 8, \"block_size\": 4, \"n_kv_head\": 1}}", NULL);
    assert_found("{\"arch\": 1, \"version\": 2, \"args\": {\"model\": null, \"num_classes\": 3}}", NULL);
    assert_found("{\"args\": [1]}", NULL);
    assert_found("{\"model_args\": {\"dim\": 8, \"n_layers\": 2}}", NULL);
    assert_found("{\"hyper_parameters\": {\"model_type\": \"unet\", \"lr\": 0.1}}", NULL);
    assert_found("{\"epoch\": 3}", NULL);
    assert_found("[", NULL);
    assert_found(NULL, NULL);
}

static void test_configurations(void **state)
{
    (void)state;
    assert_found("{\"hyper_parameters\": {\"config\": {\"model_type\": \"gpt2\", \"transformers_version\": \"4.1\"}}}",
                 "hyper_parameters.config: {\"model_type\": \"gpt2\", \"transformers_version\": \"4.1\"}");
    assert_found("{\"c\": {\"__class__\": \"transformers.models.gpt2.configuration_gpt2.GPT2Config\", \"n_layer\": 1}}",
                 "c: {\"__class__\": \"transformers.models.gpt2.configuration_gpt2.GPT2Config\", \"n_layer\": 1, "
                 "\"model_type\": \"gpt2\"}");
    assert_found("{\"c\": {\"__class__\": \"transformers.models.gpt2.tokenization_gpt2.GPT2Tokenizer\", \"n\": 1}}",
                 NULL);
    assert_found("{\"c\": {\"__class__\": \"transformers.models.clip.configuration_clip.CLIPTextConfig\", \"n\": 1}}",
                 NULL);
    assert_found("{\"c\": {\"__class__\": \"transformers.models.gemma3.configuration_gemma3.Gemma3TextConfig\"}}",
                 NULL);
    assert_found(
        "{\"c\": {\"__class__\": \"transformers.models.xlm_roberta.configuration_xlm_roberta.XLMRobertaConfig\"}}",
        "c: {\"__class__\": \"transformers.models.xlm_roberta.configuration_xlm_roberta.XLMRobertaConfig\", "
        "\"model_type\": \"xlm_roberta\"}");
    assert_found(
        "{\"c\": {\"__class__\": \"transformers.models.qwen2_5_vl.configuration_qwen2_5_vl.Qwen2_5_VLConfig\"}}",
        "c: {\"__class__\": \"transformers.models.qwen2_5_vl.configuration_qwen2_5_vl.Qwen2_5_VLConfig\", "
        "\"model_type\": \"qwen2_5_vl\"}");
    assert_found("{\"a\": {\"b\": {\"c\": {\"model_type\": \"gpt2\", \"transformers_version\": \"4\"}}}}",
                 "a.b.c: {\"model_type\": \"gpt2\", \"transformers_version\": \"4\"}");
    assert_found("{\"a\": {\"b\": {\"c\": {\"d\": {\"model_type\": \"gpt2\", \"transformers_version\": \"4\"}}}}}",
                 NULL);
}

/* A file beside a checkpoint: timm's arguments, and a config.json that has the same keys. */
static void assert_of_file(const char *json, const char *expected)
{
    struct sp_arena arena = {0};
    struct sp_text text = {0};
    struct shapeproof_value root;
    struct shapeproof_error error = {0};
    assert_true(sp_value_parse_json(&arena, json, strlen(json), &root, &error));
    sp_value_json(&text, sp_config_of_program_file(&arena, root));
    assert_string_equal(text.data, expected);
    sp_text_free(&text);
    sp_arena_free(&arena);
}

static void test_files(void **state)
{
    (void)state;
    static const char bert[] = "{\"model_type\": \"bert\", \"model\": \"x\", \"num_classes\": 3}";
    static const char timm[] = "{\"architecture\": \"resnet18\", \"num_classes\": 3, \"model\": \"x\"}";
    assert_of_file("{\"model\": \"resnet18\", \"num_classes\": 3, \"lr\": 0.1}",
                   "{\"architecture\": \"resnet18\", \"num_classes\": 3}");
    assert_of_file(bert, bert);
    assert_of_file(timm, timm);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_programs), cmocka_unit_test(test_others),
                                       cmocka_unit_test(test_strangers), cmocka_unit_test(test_configurations),
                                       cmocka_unit_test(test_files)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
