/* SPDX-License-Identifier: MIT
 * Tied tensors: absent, stored as copies, stored as one, without their partner, three and four of them. */
#define _XOPEN_SOURCE 700
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "check/model.h"

static const char gpt2[] = "{\"model_type\": \"gpt2\", \"architectures\": [\"GPT2LMHeadModel\"], \"n_layer\": 12}";
static const char llama[] = "{\"model_type\": \"llama\", \"architectures\": [\"LlamaForCausalLM\"], "
                            "\"vocab_size\": 320, \"hidden_size\": 64, \"num_hidden_layers\": 4, "
                            "\"num_attention_heads\": 4, \"intermediate_size\": 128, \"tie_word_embeddings\": true}";
static const char t5[] = "{\"model_type\": \"t5\", \"architectures\": [\"T5ForConditionalGeneration\"], "
                         "\"vocab_size\": 32128, \"d_model\": 512, \"d_kv\": 64, \"d_ff\": 2048, \"num_layers\": 6, "
                         "\"num_heads\": 8}";

#define BEGIN(config, also)                                                                                            \
    struct model model;                                                                                                \
    (void)state;                                                                                                       \
    model_open(&model, config);                                                                                        \
    model_predict(&model, also)

static void absent(void **state)
{
    BEGIN(gpt2, 0);
    assert_string_equal(model_check(&model), "match: all 148 tensors, 124,439,808 elements");
    assert_int_equal(shapeproof_check_finding_count(model.check), 1);
    assert_string_equal(shapeproof_check_finding(model.check, 0)->id, "tied-absent");
    assert_string_equal(shapeproof_check_finding(model.check, 0)->message,
                        "is not stored: it is the same as transformer.wte.weight (tie_word_embeddings is true by "
                        "default)");
    model_close(&model);
}

static void stored_as_one(void **state)
{
    BEGIN(gpt2, WITH_TIED);
    model_share(&model, "lm_head.weight", "0");
    model_share(&model, "transformer.wte.weight", "0");
    assert_string_equal(model_check_memory(&model), "match: all 149 tensors, 124,439,808 elements");
    assert_string_equal(model_cause(&model, "tied")->message,
                        "lm_head.weight shares the storage of transformer.wte.weight, as it should "
                        "(tie_word_embeddings is true by default)");
    assert_int_equal(model_cause(&model, "tied")->severity, SHAPEPROOF_SEVERITY_NOTE);
    model_close(&model);
}

static void stored_as_a_copy(void **state)
{
    BEGIN(gpt2, WITH_TIED);
    assert_string_equal(model_check_memory(&model),
                        "explained: lm_head.weight is stored although it is tied to transformer.wte.weight "
                        "(tie_word_embeddings is true by default); nothing else differs");
    assert_string_equal(model_cause(&model, "tied-copy")->hyperparameter, "tie_word_embeddings");
    assert_true(sp_value_is_bool(model_cause(&model, "tied-copy")->configured, true));
    model_close(&model);
}

/* The head stands for the embedding as well. */
static void the_other_one_is_absent(void **state)
{
    BEGIN(llama, WITH_TIED);
    model_drop(&model, "model.embed_tokens.weight");
    assert_string_equal(
        model_check(&model),
        "match: all 38 tensors, 184,896 elements; model.embed_tokens.weight is stored as lm_head.weight");
    assert_string_equal(shapeproof_check_finding(model.check, 0)->name, "model.embed_tokens.weight");
    assert_string_equal(shapeproof_check_finding(model.check, 0)->message,
                        "is not stored: it is the same as lm_head.weight (tie_word_embeddings is true in config.json)");
    model_close(&model);
}

static void both_are_absent(void **state)
{
    BEGIN(llama, 0);
    model_drop(&model, "model.embed_tokens.weight");
    assert_string_equal(model_check(&model), "differs: model.embed_tokens.weight is missing");
    model_close(&model);
}

static void both_are_absent_and_not_tied(void **state)
{
    BEGIN(llama, 0);
    model_drop(&model, "model.embed_tokens.weight");
    model_set(&model, "tie_word_embeddings=false");
    assert_string_equal(model_check(&model),
                        "differs: 2 tensors are missing: model.embed_tokens.weight, lm_head.weight");
    model_close(&model);
}

/* Tied they are, whatever their shape. */
static void one_storage_of_another_shape(void **state)
{
    BEGIN(llama, WITH_TIED);
    model_share(&model, "lm_head.weight", "0");
    model_share(&model, "model.embed_tokens.weight", "0");
    model_resize(&model, "*", 320, 321);
    assert_string_equal(model_check_memory(&model),
                        "differs: vocab_size is 320 in config.json, the file has 321 (2 tensors)");
    assert_int_equal(shapeproof_check_cause_count(model.check), 1);
    model_close(&model);
}

static void a_copy_of_another_shape(void **state)
{
    BEGIN(llama, WITH_TIED);
    model_resize(&model, "lm_head.weight", 320, 321);
    assert_string_equal(model_check(&model), "differs: lm_head.weight has 321 rows, model.embed_tokens.weight 320: "
                                             "vocab_size is 320 in config.json");
    model_close(&model);
}

static void four_as_one(void **state)
{
    BEGIN(t5, WITH_TIED);
    model_share(&model, "*shared.weight", "0");
    model_share(&model, "*embed_tokens.weight", "0");
    model_share(&model, "lm_head.weight", "0");
    assert_string_equal(model_check_memory(&model), "match: all 134 tensors, 60,506,624 elements");
    assert_int_equal(shapeproof_check_cause_count(model.check), 2); /* two are always tied, the head by a setting */
    assert_string_equal(shapeproof_check_cause(model.check, 0)->message,
                        "{encoder,decoder}.embed_tokens.weight share the storage of shared.weight, as they should "
                        "(always tied)");
    assert_string_equal(
        shapeproof_check_cause(model.check, 1)->message,
        "lm_head.weight shares the storage of shared.weight, as it should (tie_word_embeddings is true by default)");
    model_close(&model);
}

static void three_copies(void **state)
{
    BEGIN(t5, WITH_TIED);
    assert_string_equal(
        model_check(&model),
        "explained: {encoder,decoder}.embed_tokens.weight are stored although they are tied to shared.weight (always "
        "tied); "
        "lm_head.weight is stored although it is tied to shared.weight (tie_word_embeddings is true by default)");
    model_close(&model);
}

/* Any one of them is enough, and the others are its copies. */
static void three_without_the_first(void **state)
{
    BEGIN(t5, WITH_TIED);
    model_drop(&model, "shared.weight");
    assert_string_equal(model_check(&model),
                        "explained: decoder.embed_tokens.weight is stored although it is tied to "
                        "encoder.embed_tokens.weight (always tied); lm_head.weight is stored although it is tied to "
                        "encoder.embed_tokens.weight (tie_word_embeddings is true by default)");
    model_drop(&model, "encoder.embed_tokens.weight");
    model_drop(&model, "decoder.embed_tokens.weight");
    assert_string_equal(model_check(&model),
                        "match: all 131 tensors, 60,506,624 elements; shared.weight is stored as lm_head.weight");
    model_drop(&model, "lm_head.weight");
    assert_string_equal(model_check(&model), "differs: shared.weight is missing");
    model_close(&model);
}

static void one_storage_without_a_tie(void **state)
{
    BEGIN(llama, WITH_TIED);
    model_set(&model, "tie_word_embeddings=false");
    model_share(&model, "lm_head.weight", "0");
    model_share(&model, "model.embed_tokens.weight", "0");
    assert_string_equal(model_check_memory(&model),
                        "explained: lm_head.weight shares the storage of model.embed_tokens.weight although "
                        "tie_word_embeddings is false on the command line; nothing else differs");
    model_share(&model, "*.up_proj.weight", "1");
    assert_string_equal(model_check_memory(&model),
                        "explained: model.layers.{1-3}.mlp.up_proj.weight, lm_head.weight share their storage with "
                        "others although nothing ties them; nothing else differs");
    model_close(&model);
}

/* Masks that all layers share are no matter. */
static void buffers_may_share(void **state)
{
    BEGIN(gpt2, WITH_OPTIONAL);
    model_share(&model, "*.attn.bias", "0");
    assert_string_equal(model_check_memory(&model), "match: all 172 tensors, 125,488,396 elements");
    model_close(&model);
}

static void behind_a_prefix(void **state)
{
    BEGIN(gpt2, WITH_TIED);
    model_prefix(&model, "module.");
    assert_string_equal(
        model_check(&model),
        "explained: every name in the file begins with 'module.'; module.lm_head.weight is stored although it is tied "
        "to module.transformer.wte.weight (tie_word_embeddings is true by default)");
    model_close(&model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(absent),
        cmocka_unit_test(stored_as_one),
        cmocka_unit_test(stored_as_a_copy),
        cmocka_unit_test(the_other_one_is_absent),
        cmocka_unit_test(both_are_absent),
        cmocka_unit_test(both_are_absent_and_not_tied),
        cmocka_unit_test(one_storage_of_another_shape),
        cmocka_unit_test(a_copy_of_another_shape),
        cmocka_unit_test(four_as_one),
        cmocka_unit_test(three_copies),
        cmocka_unit_test(three_without_the_first),
        cmocka_unit_test(one_storage_without_a_tie),
        cmocka_unit_test(buffers_may_share),
        cmocka_unit_test(behind_a_prefix),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
