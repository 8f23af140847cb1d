/* SPDX-License-Identifier: MIT
 * Quantised files without a configuration: the model, how it is quantised, and a configuration that says both. */
#define _XOPEN_SOURCE 700
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "infer/finding.h"

#define LLAMA(MORE)                                                                                                    \
    "{\"model_type\": \"llama\", \"architectures\": [\"LlamaForCausalLM\"], \"vocab_size\": 32000, "                   \
    "\"hidden_size\": 1024, \"num_hidden_layers\": 3, \"num_attention_heads\": 8, \"num_key_value_heads\": 2, "        \
    "\"intermediate_size\": 2816, \"tie_word_embeddings\": false" MORE "}"
#define QUANTISED(JSON) LLAMA(", \"quantization_config\": " JSON)
#define COMPRESSED(FORMAT, WEIGHTS)                                                                                    \
    QUANTISED("{\"quant_method\": \"compressed-tensors\", \"format\": \"" FORMAT "\", \"ignore\": [\"lm_head\"], "     \
              "\"config_groups\": {\"group_0\": {\"targets\": [\"Linear\"], \"weights\": {" WEIGHTS "}}}}")

static const struct {
    const char *config, *manner;
} written[] = {
    {QUANTISED("{\"quant_method\": \"gptq\", \"bits\": 4, \"group_size\": 128}"), "gptq, 4 bits, groups of 128"},
    {QUANTISED("{\"quant_method\": \"gptq\", \"bits\": 3, \"group_size\": 64}"), "gptq, 3 bits, groups of 64"},
    {QUANTISED("{\"quant_method\": \"gptq\", \"bits\": 8, \"group_size\": -1}"), "gptq, 8 bits"},
    {QUANTISED("{\"quant_method\": \"awq\", \"bits\": 4, \"group_size\": 128}"), "awq, 4 bits, groups of 128"},
    {QUANTISED("{\"quant_method\": \"fp8\", \"weight_block_size\": [128, 128]}"), "fp8, blocks of 128 x 128"},
    {QUANTISED("{\"quant_method\": \"bitsandbytes\", \"load_in_4bit\": true, \"bnb_4bit_quant_type\": \"nf4\", "
               "\"bnb_4bit_use_double_quant\": true}"),
     "bitsandbytes, 4 bits, nf4"},
    {QUANTISED("{\"quant_method\": \"bitsandbytes\", \"load_in_4bit\": true, \"bnb_4bit_quant_type\": \"fp4\", "
               "\"bnb_4bit_use_double_quant\": false}"),
     "bitsandbytes, 4 bits"},
    {QUANTISED("{\"quant_method\": \"bitsandbytes\", \"load_in_8bit\": true}"), "bitsandbytes, 8 bits"},
    {COMPRESSED("pack-quantized", "\"num_bits\": 4, \"strategy\": \"group\", \"group_size\": 128"),
     "compressed-tensors, pack-quantized, 4 bits, groups of 128"},
    {COMPRESSED("int-quantized", "\"num_bits\": 8, \"strategy\": \"channel\""), "compressed-tensors, int-quantized"},
    {QUANTISED("{\"quant_method\": \"modelopt\", \"quant_algo\": \"NVFP4\"}"), "modelopt, NVFP4"},
    {QUANTISED("{\"quant_method\": \"quanto\", \"weights\": \"int8\"}"), "quanto, int8"},
    {LLAMA(", \"quantization\": {\"group_size\": 64, \"bits\": 4}"), "mlx, 4 bits, groups of 64"},
    {LLAMA(", \"quantization\": {\"group_size\": 32, \"bits\": 8}"), "mlx, 8 bits, groups of 32"},
    {LLAMA(", \"quantization\": {\"group_size\": 128, \"bits\": 2}"), "mlx, 2 bits, groups of 128"},
    {QUANTISED("{\"quant_method\": \"torchao\", \"quant_type\": {\"default\": {\"_type\": \"Int8WeightOnlyConfig\", "
               "\"_data\": {}}}}"),
     "torchao"},
    {QUANTISED("{\"quant_method\": \"modelopt\", \"quant_algo\": \"W4A16_AWQ\"}"), "modelopt, W4A16_AWQ"},
    {QUANTISED("{\"quant_method\": \"eetq\"}"), "eetq"},
    {QUANTISED("{\"quant_method\": \"hqq\", \"quant_config\": {\"weight_quant_params\": {\"nbits\": 4, \"group_size\": "
               "64, \"axis\": 1}}}"),
     "hqq"},
    {QUANTISED("{\"quant_method\": \"higgs\", \"bits\": 4, \"group_size\": 256}"), "higgs, 4 bits, groups of 256"},
    {QUANTISED("{\"quant_method\": \"fbgemm_fp8\", \"modules_to_not_convert\": [\"lm_head\"]}"), "fbgemm-fp8"},
};

#define OPEN_STORED(config)                                                                                            \
    struct model model;                                                                                                \
    (void)state;                                                                                                       \
    model_open(&model, config);                                                                                        \
    model_predict(&model, AS_STORED)

/* What is not quantised, of a file without a configuration: all layers of a kind, one module, all of a layer; and what
 * the configuration lists then. The head is listed with them, since a list takes the place of the usual one. */
static void exempt_modules(void **state)
{
    static const struct {
        const char *left_out, *listed;
    } cases[] = {
        {"[\"lm_head\", \"down_proj\"]", "\"llm_int8_skip_modules\": [\"mlp.down_proj\", \"lm_head\"]"},
        {"[\"lm_head\", \"model.layers.1.self_attn.q_proj\"]",
         "\"llm_int8_skip_modules\": [\"layers.1.self_attn.q_proj\", \"lm_head\"]"},
        {"[\"lm_head\"]", NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char config[1024];
        snprintf(config, sizeof config,
                 QUANTISED("{\"quant_method\": \"bitsandbytes\", \"load_in_4bit\": true, \"bnb_4bit_quant_type\": "
                           "\"nf4\", \"bnb_4bit_use_double_quant\": true, \"llm_int8_skip_modules\": %s}"),
                 cases[i].left_out);
        OPEN_STORED(config);
        FIND();
        assert_non_null(finding.inference);
        const char *written_config = shapeproof_inference_config(finding.inference);
        if (cases[i].listed) assert_ptr_not_equal(strstr(written_config, cases[i].listed), NULL);
        else assert_null(strstr(written_config, "skip_modules"));
        assert_int_equal(verdict_on_config(&model, &finding), SHAPEPROOF_VERDICT_MATCH);
        END();
    }
}

static void methods(void **state)
{
    for (size_t i = 0; i < sizeof written / sizeof *written; i++) {
        OPEN_STORED(written[i].config);
        FIND();
        if (!finding.inference) fail_msg("%s: %s", written[i].manner, finding.error.message);
        if (!shapeproof_inference_explains_all(finding.inference)) fail_msg("%s", written[i].manner);
        assert_true(is_found(&finding, "llama"));
        assert_int_equal(shapeproof_inference_explained(finding.inference), model.count);
        TOLD("hidden_size", "1024");
        TOLD("intermediate_size", "2816");
        TOLD("num_hidden_layers", "3");
        assert_ptr_not_equal(strstr(noted(&finding, "quantised"), written[i].manner), NULL);
        assert_int_equal(verdict_on_config(&model, &finding), SHAPEPROOF_VERDICT_MATCH);
        END();
    }
}

/* Experts that are not quantised, beside a dense layer and a shared expert that are: "up_proj" would name these, too.
 */
static void exempt_experts(void **state)
{
    OPEN_STORED("{\"model_type\": \"deepseek_v3\", \"vocab_size\": 1000, \"hidden_size\": 256, "
                "\"intermediate_size\": 512, \"moe_intermediate_size\": 128, \"n_routed_experts\": 2, "
                "\"n_shared_experts\": 1, \"num_experts_per_tok\": 2, \"n_group\": 1, \"topk_group\": 1, "
                "\"first_k_dense_replace\": 1, \"num_hidden_layers\": 3, \"num_attention_heads\": 4, "
                "\"num_key_value_heads\": 4, \"q_lora_rank\": 128, \"kv_lora_rank\": 128, \"qk_nope_head_dim\": 64, "
                "\"qk_rope_head_dim\": 64, \"v_head_dim\": 64, \"tie_word_embeddings\": false, "
                "\"quantization_config\": {\"quant_method\": \"fp8\", \"weight_block_size\": [128, 128], "
                "\"modules_to_not_convert\": [\"lm_head\", \"experts\"]}}");
    FIND();
    assert_non_null(finding.inference);
    const char *config = shapeproof_inference_config(finding.inference);
    assert_non_null(strstr(config, "\"experts.0.up_proj\", "));
    assert_null(strstr(config, "\"up_proj\""));
    assert_int_equal(verdict_on_config(&model, &finding), SHAPEPROOF_VERDICT_MATCH);
    END();
}

static void experts_in_one_tensor(void **state)
{
    OPEN_STORED("{\"model_type\": \"gpt_oss\", \"architectures\": [\"GptOssForCausalLM\"], \"vocab_size\": 2000, "
                "\"hidden_size\": 256, \"num_hidden_layers\": 2, \"num_attention_heads\": 4, "
                "\"num_key_value_heads\": 2, \"head_dim\": 64, \"intermediate_size\": 320, "
                "\"num_local_experts\": 4, \"quantization_config\": {\"quant_method\": \"mxfp4\"}}");
    FIND();
    assert_true(is_found(&finding, "gpt_oss"));
    assert_true(shapeproof_inference_explains_all(finding.inference));
    TOLD("num_local_experts", "4");
    TOLD("intermediate_size", "320");
    assert_non_null(strstr(noted(&finding, "quantised"), "mxfp4 (4 weights in 8 tensors)"));
    END();
}

static void behind_a_prefix(void **state)
{
    OPEN_STORED(QUANTISED("{\"quant_method\": \"awq\", \"bits\": 4, \"group_size\": 128}"));
    model_prefix(&model, "module.");
    FIND();
    assert_true(is_found(&finding, "llama"));
    assert_true(shapeproof_inference_explains_all(finding.inference));
    END();
}

static void lost_scales(void **state)
{
    OPEN_STORED(QUANTISED("{\"quant_method\": \"fp8\", \"weight_block_size\": [128, 128]}"));
    model_drop(&model, "model.layers.1.mlp.*.weight_scale_inv");
    FIND();
    assert_non_null(finding.inference);
    assert_true(is_found(&finding, "llama"));
    assert_false(shapeproof_inference_explains_all(finding.inference));
    assert_non_null(strstr(noted(&finding, "incomplete"), "model.layers.1.mlp.{gate_proj,up_proj,down_proj}.weight"));
    END();
}

/* Nothing is quantised where nothing but a mask or positions are integers. */
static void integers_that_are_none(void **state)
{
    OPEN_STORED(LLAMA(""));
    model_add_shape(&model, "model.position_ids", SHAPE(1, 512))->dtype = SHAPEPROOF_DTYPE_I64;
    FIND();
    assert_true(is_found(&finding, "llama"));
    assert_string_equal(noted(&finding, "quantised"), "");
    assert_int_equal(shapeproof_inference_unexplained_count(finding.inference), 0);
    END();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(methods),
        cmocka_unit_test(exempt_modules),
        cmocka_unit_test(exempt_experts),
        cmocka_unit_test(experts_in_one_tensor),
        cmocka_unit_test(behind_a_prefix),
        cmocka_unit_test(lost_scales),
        cmocka_unit_test(integers_that_are_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
