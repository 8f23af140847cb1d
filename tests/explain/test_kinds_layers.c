/* SPDX-License-Identifier: MIT
 * Layers, and parts of layers, that are too many or too few. */
#define _XOPEN_SOURCE 700
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "explain/told.h"
#include "shapeproof/limits.h"

/* deepseek-ai/DeepSeek-V3, with 4 experts instead of 256. */
#define DEEPSEEK_OF(layers)                                                                                            \
    "{\"model_type\": \"deepseek_v3\", \"architectures\": [\"DeepseekV3ForCausalLM\"], \"vocab_size\": 129280, "       \
    "\"hidden_size\": 7168, \"intermediate_size\": 18432, \"moe_intermediate_size\": 2048, "                           \
    "\"num_hidden_layers\": " #layers                                                                                  \
    ", \"first_k_dense_replace\": 3, \"n_routed_experts\": 4, \"n_shared_experts\": 1, "                               \
    "\"num_attention_heads\": 128, \"q_lora_rank\": 1536, \"kv_lora_rank\": 512, \"qk_nope_head_dim\": 128, "          \
    "\"qk_rope_head_dim\": 64, \"v_head_dim\": 128"
#define DEEPSEEK DEEPSEEK_OF(61)
static const char deepseek[] = DEEPSEEK ", \"num_nextn_predict_layers\": 1}";
static const char deepseek_plain[] = DEEPSEEK "}";

static const char mixtral[] = "{\"model_type\": \"mixtral\", \"architectures\": [\"MixtralForCausalLM\"], "
                              "\"vocab_size\": 32000, \"hidden_size\": 4096, \"num_hidden_layers\": 8, "
                              "\"num_attention_heads\": 32, \"num_key_value_heads\": 8, "
                              "\"intermediate_size\": 14336, \"num_local_experts\": 8}";

/* Qwen/Qwen3-4B. */
static const char qwen[] =
    "{\"model_type\": \"qwen3\", \"architectures\": [\"Qwen3ForCausalLM\"], \"vocab_size\": 151936, \"hidden_size\": "
    "2560, \"intermediate_size\": 9728, \"num_hidden_layers\": 36, \"num_attention_heads\": 32, "
    "\"num_key_value_heads\": 8, \"head_dim\": 128, \"tie_word_embeddings\": true}";

/* google/gemma-4-E4B's number of layers and of those that share, without its inputs to each layer. */
#define GEMMA(more)                                                                                                    \
    "{\"model_type\": \"gemma4\", \"architectures\": [\"Gemma4ForConditionalGeneration\"], \"tie_word_embeddings\": "  \
    "true, \"text_config\": {\"model_type\": \"gemma4_text\", \"vocab_size\": 262144, \"hidden_size\": 2560, "         \
    "\"intermediate_size\": 10240, \"num_hidden_layers\": 42, \"num_attention_heads\": 8, \"num_key_value_heads\": "   \
    "2, \"head_dim\": 256, \"hidden_size_per_layer_input\": 0, \"layer_types\": [" SIX "," SIX "," SIX "," SIX "," SIX \
    "," SIX "," SIX "]" more "}, \"vision_config\": {\"model_type\": \"gemma4_vision\", \"hidden_size\": 768, "        \
    "\"num_hidden_layers\": 2}}"
#define SIX                                                                                                            \
    "\"sliding_attention\",\"sliding_attention\",\"sliding_attention\",\"sliding_attention\",\"sliding_attention\","   \
    "\"full_attention\""

#define BEGIN(config, also)                                                                                            \
    struct model model;                                                                                                \
    (void)state;                                                                                                       \
    model_open(&model, config);                                                                                        \
    model_predict(&model, also)

/* ---- multi-token prediction ---- */

/* What the findings say that the file lacks, in their order. */
static void assert_lacking(const struct model *model, const char *names)
{
    struct sp_text text = {0};
    for (size_t i = 0; i < shapeproof_check_finding_count(model->check); i++) {
        const struct shapeproof_finding *finding = shapeproof_check_finding(model->check, i);
        if (finding->kind == SHAPEPROOF_FINDING_LACKING)
            sp_text_printf(&text, "%s%s", text.length ? ", " : "", finding->name);
    }
    assert_string_equal(text.data ? text.data : "", names);
    sp_text_free(&text);
}

/* Layer 61 is the one for multi-token prediction: eh_proj, enorm, hnorm, shared_head. */
static void promised_and_there(void **state)
{
    BEGIN(deepseek, WITH_OPTIONAL);
    assert_string_equal(model_part(&model, "model.layers.61.eh_proj.weight")->name, "model.layers.61.eh_proj.weight");
    model_check(&model);
    assert_told(&model, "match: all 1579 tensors, 29,593,682,156 elements", "", 0);
    model_close(&model);
}

/* The configuration does not promise it: the model is whole without. */
static void there_without_a_promise(void **state)
{
    BEGIN(deepseek, WITH_OPTIONAL);
    struct model plain;
    model_open(&plain, deepseek_plain);
    model_write(&model, "model.safetensors");
    model_check_path(&plain, scratch_path(&model.scratch, "model.safetensors"));
    assert_told(&plain,
                "explained: num_nextn_predict_layers is 0 by default, the file has 1 (32 tensors, which loaders leave "
                "out); nothing else differs",
                "hyperparameter", 0);
    assert_string_equal(
        shapeproof_check_cause(plain.check, 0)->hint,
        "write into config.json: {\"num_nextn_predict_layers\": 1}; --set num_nextn_predict_layers=1 tries it");
    model_close(&plain);
    model_close(&model);
}

/* The layer was dropped when the model was saved. */
static void promised_and_dropped(void **state)
{
    BEGIN(deepseek, 0);
    model_check(&model);
    assert_told(&model, "match: all 1547 tensors, 27,230,190,824 elements", "multi-token", 0);
    assert_string_equal(shapeproof_check_cause(model.check, 0)->message,
                        "num_nextn_predict_layers is 1 in config.json, but the file has none of these layers (32 "
                        "tensors)");
    assert_int_equal(shapeproof_check_cause(model.check, 0)->explains, 32);
    assert_lacking(&model, "model.layers.61"); /* the layer, and none of its 32 tensors by itself */
    model_close(&model);
}

static void promised_and_there_in_part(void **state)
{
    BEGIN(deepseek, WITH_OPTIONAL);
    model_drop(&model, "model.layers.61.e*");
    model_check(&model);
    assert_told(&model,
                "explained: num_nextn_predict_layers is 1 in config.json, but the file has only a part of these "
                "layers: it lacks model.layers.61.{embed_tokens,enorm,eh_proj}.weight; nothing else differs",
                "multi-token", 0);
    assert_lacking(&model, "model.layers.61.embed_tokens.weight, model.layers.61.enorm.weight, "
                           "model.layers.61.eh_proj.weight");
    model_close(&model);
}

/* Nothing of layer 60 tells it from an ordinary layer: it is none for multi-token prediction, although the
 * configuration promises one there. */
static void promised_in_place_of_a_layer(void **state)
{
    BEGIN(deepseek, 0);
    struct model less;
    model_open(&less, DEEPSEEK_OF(60) ", \"num_nextn_predict_layers\": 1}");
    model_write(&model, "model.safetensors");
    model_check_path(&less, scratch_path(&model.scratch, "model.safetensors"));
    assert_told(&less, "differs: num_hidden_layers is 60 in config.json, the file has 61 (26 tensors)",
                "hyperparameter multi-token", 0);
    model_close(&less);
    model_close(&model);
}

/* What the last layer lacks does not make it one for multi-token prediction, of which it would lack more. */
static void the_last_layer_lacks_something(void **state)
{
    BEGIN(deepseek, 0);
    model_drop(&model, "model.layers.60.mlp.experts.*.up_proj.weight");
    model_check(&model);
    assert_told(&model, "differs: 4 tensors are missing: model.layers.60.mlp.experts.{0-3}.up_proj.weight",
                "multi-token", 4);
    model_drop(&model, "model.layers.60.mlp.*_proj.weight");
    model_drop(&model, "model.layers.60.self_attn.*");
    model_check(&model);
    assert_null(model_cause(&model, "hyperparameter"));
    model_close(&model);
}

/* Nor is a further layer one that is like the others, which lack the same. */
static void one_layer_more_and_all_lack_something(void **state)
{
    BEGIN(deepseek_plain, 0);
    model_copy(&model, "model.layers.60.*", ".60.", ".61.");
    model_drop(&model, "model.layers.*.self_attn.o_proj.weight");
    model_check(&model);
    assert_string_equal(shapeproof_check_cause(model.check, 0)->hyperparameter, "num_hidden_layers");
    assert_int_equal(shapeproof_check_cause(model.check, 0)->found.integer, 62);
    assert_int_equal(shapeproof_check_cause_count(model.check), 1);
    assert_int_equal(sp_check_open(model.check), 61);
    model_close(&model);
}

/* Nor is a further layer one without experts. */
static void one_dense_layer_more(void **state)
{
    BEGIN(deepseek_plain, 0);
    model_copy(&model, "model.layers.0.*", ".0.", ".61.");
    model_check(&model);
    assert_null(model_cause(&model, "hyperparameter"));
    assert_int_equal(sp_check_open(model.check), 12);
    model_close(&model);
}

/* A whole further layer of the usual kind is no layer for multi-token prediction. */
static void one_ordinary_layer_more(void **state)
{
    BEGIN(deepseek_plain, 0);
    model_copy(&model, "model.layers.60.*", ".60.", ".61.");
    model_check(&model);
    assert_told(&model, "differs: num_hidden_layers is 61 in config.json, the file has 62 (26 tensors)",
                "hyperparameter", 0);
    model_close(&model);
}

/* Layers of which the table knows nothing, by their name; `mtproj` is another. */
static void layers_called_mtp(void **state)
{
    BEGIN(qwen, 0);
    model_add_shape(&model, "mtp.fc.weight", SHAPE(2560, 5120));
    model_add_shape(&model, "mtp.norm.weight", SHAPE(2560));
    model_add_shape(&model, "mtp.layers.0.input_layernorm.weight", SHAPE(2560));
    model_check(&model);
    assert_told(&model,
                "explained: the file has layers for multi-token prediction, which the model itself does not use: "
                "mtp.{fc,norm}.weight, mtp.layers.0.input_layernorm.weight (3 tensors); nothing else differs",
                "multi-token", 0);
    model_add_shape(&model, "mtproj.weight", SHAPE(2560));
    model_check(&model);
    assert_told(&model, "differs: mtproj.weight is unexpected", "multi-token", 1);
    model_close(&model);
}

/* More experts in each layer than configured are no layers that were left out: both numbers are told. */
static void more_experts_in_fewer_layers(void **state)
{
    BEGIN(mixtral, 0);
    model_set(&model, "num_hidden_layers=10");
    model_set(&model, "num_local_experts=4");
    model_check(&model);
    assert_string_equal(model.first_line,
                        "differs: num_local_experts is 4 on the command line, the file has 8 (130 tensors); "
                        "num_hidden_layers is 10 on the command line, the file has 8 (12 tensors)");
    model_close(&model);
}

/* ---- keys and values of earlier layers ---- */

/* Layers 24 to 41 have keys of their own in the file, and the model does not use them. */
static void shared_keys_and_values_stored(void **state)
{
    BEGIN(GEMMA(", \"num_kv_shared_layers\": 18"), WITH_OPTIONAL);
    model_check(&model);
    assert_int_equal(shapeproof_check_verdict(model.check), SHAPEPROOF_VERDICT_MATCH);
    assert_int_equal(model_findings(&model, "optional"), 54);
    assert_string_equal(shapeproof_check_group(model.check, 0)->name,
                        "model.language_model.layers.{24-41}.self_attn.k_proj.weight");
    model_drop(&model, "*.layers.24.self_attn.q_proj.weight");
    model_check(&model);
    assert_told(&model, "differs: model.language_model.layers.24.self_attn.q_proj.weight is missing", "buffers", 1);
    model_close(&model);
}

/* ---- indexers of some layers ---- */

#define GLM(more)                                                                                                      \
    "{\"model_type\": \"glm_moe_dsa\", \"architectures\": [\"GlmMoeDsaForCausalLM\"], \"num_hidden_layers\": 11, "     \
    "\"n_routed_experts\": 4" more "}"

/* GLM-5.2 has an indexer in each fourth layer behind the first three; its configuration says so or it does not. */
static void indexers_of_some_layers(void **state)
{
    BEGIN(GLM(", \"index_topk_freq\": 4, \"index_skip_topk_offset\": 3"), 0);
    struct model plain;
    model_check(&model);
    assert_int_equal(shapeproof_check_verdict(model.check), SHAPEPROOF_VERDICT_MATCH);
    model_open(&plain, GLM(""));
    model_write(&model, "model.safetensors");
    model_check_path(&plain, scratch_path(&model.scratch, "model.safetensors"));
    assert_told(&plain,
                "differs: 30 tensors are missing: model.layers.{3-5,7-9}.self_attn.indexer.{wq_b,wk,k_norm}.weight, "
                "model.layers.{3-5,7-9}.self_attn.indexer.k_norm.bias, "
                "model.layers.{3-5,7-9}.self_attn.indexer.weights_proj.weight",
                "buffers", 30);
    model_close(&plain);
    model_close(&model);
}

/* The configuration does not say that they share. */
static void shared_keys_and_values_absent(void **state)
{
    BEGIN(GEMMA(", \"num_kv_shared_layers\": 18"), 0);
    struct model plain;
    model_open(&plain, GEMMA(""));
    model_write(&model, "model.safetensors");
    model_check_path(&plain, scratch_path(&model.scratch, "model.safetensors"));
    assert_told(&plain, "differs: text_config.num_kv_shared_layers is 0 by default, the file has 18 (54 tensors)",
                "hyperparameter buffers", 0);
    model_close(&plain);
    model_close(&model);
}

/* ---- layers and experts ---- */

static void fewer_layers(void **state)
{
    BEGIN(qwen, 0);
    model_drop(&model, "model.layers.3[0-5].*");
    model_check(&model);
    assert_told(&model, "differs: num_hidden_layers is 36 in config.json, the file has 30 (66 tensors)",
                "hyperparameter", 0);
    model_close(&model);
}

static void layers_missing_in_the_middle(void **state)
{
    BEGIN(qwen, 0);
    model_drop(&model, "model.layers.1[0-9].*");
    model_check(&model);
    assert_told(&model, "differs: model.layers.{10-19} are missing altogether (110 tensors)", "layers-missing", 0);
    model_close(&model);
}

/* The router still has eight rows: that is no model of four experts. */
static void half_of_the_experts(void **state)
{
    BEGIN(mixtral, 0);
    model_drop(&model, "*.experts.[4-7].*");
    model_check(&model);
    assert_told(&model,
                "differs: model.layers.{0-7}.block_sparse_moe.experts.{4-7} are missing altogether (96 tensors)",
                "experts-missing", 0);
    model_resize(&model, "*.gate.weight", 8, 4);
    model_check(&model);
    assert_told(&model, "differs: num_local_experts is 8 in config.json, the file has 4 (104 tensors)",
                "hyperparameter", 0);
    model_close(&model);
}

static void one_expert_of_one_layer(void **state)
{
    BEGIN(mixtral, 0);
    model_drop(&model, "model.layers.5.*.experts.3.*");
    model_check(&model);
    assert_told(&model, "differs: model.layers.5.block_sparse_moe.experts.3 is missing altogether (3 tensors)",
                "experts-missing", 0);
    model_close(&model);
}

/* One matrix of an expert is that matrix. */
static void a_part_of_an_expert(void **state)
{
    BEGIN(mixtral, 0);
    model_drop(&model, "model.layers.5.*.experts.3.w[12].*");
    model_check(&model);
    assert_told(&model, "differs: 2 tensors are missing: model.layers.5.block_sparse_moe.experts.3.{w1,w2}.weight", "",
                2);
    model_close(&model);
}

/* The lists of blocks of another EfficientNet: suppositions about them must not use up the memory. */
static void blocks_of_a_smaller_model(void **state)
{
    static const struct shapeproof_limits limits = {.memory = 256 << 20};
    struct shapeproof_error error = {0};
    BEGIN("{\"architecture\": \"efficientnet_b0\", \"num_classes\": 7, \"num_features\": 1280}", 0);
    model_prefix(&model, "state_dict.");
    model_copy(&model, "*", "state_dict.", "state_dict_ema.");
    model_set(&model, "architecture=efficientnet_b1");
    model.inventory = model_in_memory(&model);
    assert_true(shapeproof_set_limits(&limits, &error));
    model.check = shapeproof_check_new(model.inventory, model.tables, model.config, NULL, &error);
    assert_true(shapeproof_set_limits(NULL, &error));
    assert_non_null(model.check);
    assert_string_equal(model_cause(&model, "layers-missing")->message,
                        "blocks.{0,6}.1, blocks.{1,2}.2, blocks.{3,4}.3 and 1 more are missing altogether (148 "
                        "tensors)");
    model_close(&model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_of_a_smaller_model),      cmocka_unit_test(promised_and_there),
        cmocka_unit_test(there_without_a_promise),        cmocka_unit_test(promised_and_dropped),
        cmocka_unit_test(promised_and_there_in_part),     cmocka_unit_test(promised_in_place_of_a_layer),
        cmocka_unit_test(the_last_layer_lacks_something), cmocka_unit_test(one_layer_more_and_all_lack_something),
        cmocka_unit_test(one_dense_layer_more),           cmocka_unit_test(one_ordinary_layer_more),
        cmocka_unit_test(more_experts_in_fewer_layers),   cmocka_unit_test(layers_called_mtp),
        cmocka_unit_test(shared_keys_and_values_stored),  cmocka_unit_test(shared_keys_and_values_absent),
        cmocka_unit_test(indexers_of_some_layers),        cmocka_unit_test(fewer_layers),
        cmocka_unit_test(layers_missing_in_the_middle),   cmocka_unit_test(half_of_the_experts),
        cmocka_unit_test(one_expert_of_one_layer),        cmocka_unit_test(a_part_of_an_expert),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
