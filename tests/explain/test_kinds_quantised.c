/* SPDX-License-Identifier: MIT
 * Quantised checkpoints: what each quantiser writes, with and without a configuration that says so, and what goes wrong
 * between the two. */
#define _XOPEN_SOURCE 700
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "explain/told.h"

/* ---- configurations ---- */

/* Llama 3.1 8B. */
#define LLAMA(MORE)                                                                                                    \
    "{\"model_type\": \"llama\", \"architectures\": [\"LlamaForCausalLM\"], \"vocab_size\": 128256, "                  \
    "\"hidden_size\": 4096, \"num_hidden_layers\": 32, \"num_attention_heads\": 32, \"num_key_value_heads\": 8, "      \
    "\"intermediate_size\": 14336, \"tie_word_embeddings\": false, \"torch_dtype\": \"bfloat16\"" MORE "}"
#define QUANTISED(JSON) LLAMA(", \"quantization_config\": " JSON)

#define GPTQ(BITS, GROUP)                                                                                              \
    QUANTISED("{\"quant_method\": \"gptq\", \"bits\": " #BITS ", \"group_size\": " #GROUP                              \
              ", \"damp_percent\": 0.1, \"desc_act\": false, \"sym\": true, \"true_sequential\": true}")
#define AWQ                                                                                                            \
    QUANTISED("{\"quant_method\": \"awq\", \"bits\": 4, \"group_size\": 128, \"version\": \"gemm\", "                  \
              "\"zero_point\": true, \"modules_to_not_convert\": null}")
#define FP8(BLOCK)                                                                                                     \
    QUANTISED("{\"quant_method\": \"fp8\", \"activation_scheme\": \"dynamic\", \"fmt\": \"e4m3\", "                    \
              "\"weight_block_size\": " BLOCK "}")
#define BNB(TYPE, TWICE)                                                                                               \
    QUANTISED("{\"_load_in_4bit\": true, \"_load_in_8bit\": false, \"bnb_4bit_compute_dtype\": \"bfloat16\", "         \
              "\"bnb_4bit_quant_storage\": \"uint8\", \"bnb_4bit_quant_type\": \"" TYPE "\", "                         \
              "\"bnb_4bit_use_double_quant\": " TWICE ", \"llm_int8_skip_modules\": null, \"load_in_4bit\": true, "    \
              "\"load_in_8bit\": false, \"quant_method\": \"bitsandbytes\"}")
#define INT8                                                                                                           \
    QUANTISED("{\"load_in_4bit\": false, \"load_in_8bit\": true, \"llm_int8_skip_modules\": null, "                    \
              "\"quant_method\": \"bitsandbytes\"}")
#define COMPRESSED(FORMAT, IGNORE, WEIGHTS, MORE)                                                                      \
    QUANTISED("{\"quant_method\": \"compressed-tensors\", \"format\": \"" FORMAT "\", \"ignore\": " IGNORE             \
              ", \"config_groups\": {\"group_0\": {\"targets\": [\"Linear\"], \"weights\": {" WEIGHTS "}" MORE "}}}")
#define W4A16(IGNORE)                                                                                                  \
    COMPRESSED("pack-quantized", IGNORE,                                                                               \
               "\"num_bits\": 4, \"group_size\": 128, \"strategy\": \"group\", \"symmetric\": true, "                  \
               "\"type\": \"int\"",                                                                                    \
               "")
#define W8A8                                                                                                           \
    COMPRESSED("float-quantized", "[\"lm_head\"]",                                                                     \
               "\"num_bits\": 8, \"strategy\": \"channel\", \"symmetric\": true, \"type\": \"float\"",                 \
               ", \"input_activations\": {\"num_bits\": 8, \"dynamic\": true, \"strategy\": \"token\"}")
#define W8A8_INT                                                                                                       \
    COMPRESSED("int-quantized", "[\"lm_head\"]",                                                                       \
               "\"num_bits\": 8, \"strategy\": \"channel\", \"symmetric\": true, \"type\": \"int\"", "")
#define NVFP4 QUANTISED("{\"quant_method\": \"modelopt\", \"quant_algo\": \"NVFP4\", \"ignore\": [\"lm_head\"]}")
#define QUANTO                                                                                                         \
    QUANTISED("{\"quant_method\": \"quanto\", \"weights\": \"int8\", \"modules_to_not_convert\": [\"lm_head\"]}")
#define MODELOPT(ALGORITHM)                                                                                            \
    QUANTISED("{\"quant_method\": \"modelopt\", \"quant_algo\": \"" ALGORITHM "\", \"ignore\": [\"lm_head\"]}")
#define TORCHAO(TYPE, DATA)                                                                                            \
    QUANTISED("{\"quant_method\": \"torchao\", \"quant_type\": {\"default\": {\"_type\": \"" TYPE                      \
              "\", \"_data\": {" DATA "}}}}")
#define HQQ(AXIS)                                                                                                      \
    QUANTISED("{\"quant_method\": \"hqq\", \"quant_config\": {\"weight_quant_params\": {\"nbits\": 4, "                \
              "\"group_size\": 64, \"axis\": " #AXIS "}}, \"skip_modules\": [\"lm_head\"]}")
#define AQLM                                                                                                           \
    QUANTISED("{\"quant_method\": \"aqlm\", \"nbits_per_codebook\": 16, \"num_codebooks\": 1, \"in_group_size\": 8, "  \
              "\"linear_weights_not_to_quantize\": [\"lm_head.weight\"]}")
#define MLX(MORE) LLAMA(", \"quantization\": {\"group_size\": 64, \"bits\": 4" MORE "}")

static void reconfigure(struct model *model, const char *config)
{
    struct shapeproof_error error = {0};
    model_close_check(model);
    shapeproof_config_free(model->config);
    model->config = shapeproof_config_new();
    if (shapeproof_config_load(model->config, scratch_write(&model->scratch, "config.json", config, strlen(config)),
                               &error))
        die("config", error.message);
}

/* ---- what quantisers write ---- */

static const struct {
    const char *config, *manner, *count;
    const char *recognised; /* without the configuration; NULL: the same */
} written[] = {
    {GPTQ(4, 128), "gptq, 4 bits, groups of 128", "224 weights in 672 tensors", NULL},
    {GPTQ(3, 64), "gptq, 3 bits, groups of 64", "224 weights in 672 tensors", NULL},
    {GPTQ(2, -1), "gptq, 2 bits", "224 weights in 672 tensors", NULL},
    {AWQ, "awq, 4 bits, groups of 128", "224 weights in 672 tensors", NULL},
    {FP8("[128, 128]"), "fp8, blocks of 128 x 128", "224 weights in 448 tensors", NULL},
    {BNB("nf4", "true"), "bitsandbytes, 4 bits, nf4", "224 weights in 1120 tensors", NULL},
    {BNB("nf4", "false"), "bitsandbytes, 4 bits, nf4", "224 weights in 672 tensors", NULL},
    {INT8, "bitsandbytes, 8 bits", "224 weights in 448 tensors", NULL},
    {W4A16("[\"lm_head\"]"), "compressed-tensors, pack-quantized, 4 bits, groups of 128", "224 weights in 672 tensors",
     NULL},
    {W8A8, "compressed-tensors, float-quantized", "224 weights in 448 tensors", "fbgemm-fp8"},
    {W8A8_INT, "compressed-tensors, int-quantized", "224 weights in 448 tensors", NULL},
    {NVFP4, "modelopt, NVFP4, groups of 16", "224 weights in 672 tensors", NULL},
    {QUANTO, "quanto, int8", "224 weights in 448 tensors", NULL},
    {MLX(""), "mlx, 4 bits, groups of 64", "226 weights in 678 tensors", NULL},
    {QUANTISED("{\"quant_method\": \"fbgemm_fp8\", \"modules_to_not_convert\": [\"lm_head\"]}"), "fbgemm-fp8",
     "224 weights in 448 tensors", NULL},
    {QUANTISED("{\"quant_method\": \"bitnet\"}"), "bitnet", "224 weights in 448 tensors", NULL},
    {QUANTISED("{\"quant_method\": \"awq\", \"bits\": 4, \"group_size\": 128, \"version\": \"gemv\"}"),
     "awq, 4 bits, groups of 128", "224 weights in 672 tensors", NULL},
    {QUANTISED("{\"quant_method\": \"gptq\", \"bits\": 4, \"group_size\": 128, \"checkpoint_format\": \"marlin\"}"),
     "gptq, 4 bits, groups of 128", "224 weights in 448 tensors", NULL},
    {MODELOPT("W4A16_AWQ"), "modelopt, W4A16_AWQ, groups of 128", "224 weights in 448 tensors", NULL},
    {MODELOPT("FP8_PB_WO"), "modelopt, FP8_PB_WO", "224 weights in 448 tensors", NULL},
    {MODELOPT("W4A8_MXFP4_FP8"), "modelopt, W4A8_MXFP4_FP8", "224 weights in 448 tensors", "modelopt, MXFP4"},
    {HQQ(1), "hqq, 4 bits, groups of 64", "224 weights in 672 tensors", NULL},
    {HQQ(0), "hqq, 4 bits, groups of 64", "224 weights in 672 tensors", NULL},
    {AQLM, "aqlm", "224 weights in 672 tensors", NULL},
    {QUANTISED("{\"quant_method\": \"eetq\"}"), "eetq", "224 weights in 448 tensors", NULL},
    {QUANTISED("{\"quant_method\": \"higgs\", \"bits\": 4, \"group_size\": 256}"), "higgs, 4 bits, groups of 256",
     "224 weights in 896 tensors", NULL},
    {QUANTISED("{\"quant_method\": \"spqr\", \"bits\": 3}"), "spqr", "224 weights in 672 tensors", NULL},
    {TORCHAO("Int8WeightOnlyConfig", ""), "torchao", "224 weights in 448 tensors", NULL},
    {TORCHAO("Float8WeightOnlyConfig", ""), "torchao", "224 weights in 448 tensors", NULL},
    {QUANTISED("{\"quant_method\": \"metal\", \"bits\": 4, \"group_size\": 64}"), "metal, 4 bits, groups of 64",
     "224 weights in 672 tensors", NULL},
    {QUANTISED("{\"quant_method\": \"fp_quant\", \"forward_dtype\": \"mxfp4\"}"), "fp-quant",
     "224 weights in 1344 tensors", NULL},
};

/* A quantised model and its configuration agree. */
static void method_is_configured(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof written / sizeof *written; i++) {
        struct model model;
        char message[256];
        model_open(&model, written[i].config);
        model_predict(&model, AS_STORED);
        const char *line = model_check(&model);
        assert_non_null(strstr(line, " elements for 8,030,261,248 parameters"));
        snprintf(message, sizeof message, "quantised: %s (%s in config.json): %s", written[i].manner,
                 strstr(written[i].config, "\"quantization\"") ? "quantization" : "quantization_config",
                 written[i].count);
        assert_told(&model, line, "quantised", 0);
        assert_string_equal(shapeproof_check_cause(model.check, 0)->message, message);
        assert_int_equal(shapeproof_check_verdict(model.check), SHAPEPROOF_VERDICT_MATCH);
        assert_int_equal(model_findings(&model, "dtype"), 0);
        model_close(&model);
    }
}

/* The same file beside a configuration that does not mention it. */
static void method_is_recognised(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof written / sizeof *written; i++) {
        struct model model;
        char line[256];
        model_open(&model, written[i].config);
        model_predict(&model, AS_STORED);
        reconfigure(&model, LLAMA(""));
        snprintf(line, sizeof line, "differs: quantised: %s, although config.json has no quantization_config: %s",
                 written[i].recognised ? written[i].recognised : written[i].manner, written[i].count);
        model_check(&model);
        assert_told(&model, line, "quantised", 0);
        model_close(&model);
    }
}

/* MLX says the width of single modules; one that it does not say, or says otherwise, is named. */
static void modules_of_another_width(void **state)
{
    struct model model;
    (void)state;
    model_open(&model, MLX(", \"model.layers.3.mlp.down_proj\": {\"group_size\": 64, \"bits\": 8}"));
    model_predict(&model, AS_STORED);
    reconfigure(&model, MLX(""));
    model_check(&model);
    assert_told(&model,
                "differs: quantization in config.json says 4 bits, but the file has 8 bits in "
                "model.layers.3.mlp.down_proj.weight (1 weight)",
                "quantised-module quantised", 0);
    model_close(&model);
    model_open(&model, MLX(""));
    model_predict(&model, AS_STORED);
    reconfigure(&model, MLX(", \"model.layers.3.mlp.down_proj\": {\"group_size\": 64, \"bits\": 8}"));
    model_check(&model);
    assert_told(&model,
                "differs: quantization in config.json says 8 bits, but the file has 4 bits in "
                "model.layers.3.mlp.down_proj.weight (1 weight)",
                "quantised-module quantised", 0);
    model_close(&model);
}

/* What is stored beside the codes has a dtype of its own, which is none of the model's. */
static void no_dtype_of_what_is_quantised(void **state)
{
    struct model model;
    (void)state;
    model_open(&model, INT8);
    model_predict(&model, AS_STORED);
    model_retype(&model, "*norm.weight", SHAPEPROOF_DTYPE_F16);
    reconfigure(&model, LLAMA(""));
    model_check(&model);
    assert_null(model_cause(&model, "dtype-configured"));
    assert_int_equal(shapeproof_check_cause(model.check, 0)->severity, SHAPEPROOF_SEVERITY_ERROR);
    model_close(&model);
}

/* The index of desc_act, the text that bitsandbytes keeps with each weight, MLX keys under both names. */
static void optional_members(void **state)
{
    (void)state;
    struct model model;
    model_open(&model, GPTQ(4, 128));
    model_predict(&model, AS_STORED | WITH_OPTIONAL);
    model_drop(&model, "*inv_freq");
    model_check(&model);
    assert_told(&model, "match: all 963 tensors, 1,985,941,504 elements for 8,030,261,248 parameters", "quantised", 0);
    assert_string_equal(shapeproof_check_cause(model.check, 0)->message,
                        "quantised: gptq, 4 bits, groups of 128 "
                        "(quantization_config in config.json): 224 weights in "
                        "896 tensors");
    model_close(&model);
    model_open(&model, BNB("nf4", "true"));
    model_predict(&model, AS_STORED | WITH_OPTIONAL);
    model_drop(&model, "*inv_freq");
    model_resize(&model, "*quant_state*", 0, 161);
    model_check(&model);
    assert_told(&model, "match: all 1411 tensors, 4,650,175,200 elements for 8,030,261,248 parameters", "quantised", 0);
    model_close(&model);
}

/* ---- the file and its configuration disagree ---- */

static const struct {
    const char *file, *config, *line, *causes;
} disputes[] = {
    {GPTQ(4, 64), GPTQ(4, 128),
     "differs: quantization_config.group_size is 128 in config.json, the file has 64 (448 tensors)",
     "hyperparameter quantised"},
    {GPTQ(4, -1), GPTQ(4, 64),
     "differs: quantization_config.group_size is 64 in config.json, the file has -1 (448 tensors)",
     "hyperparameter quantised"},
    {GPTQ(8, 128), GPTQ(4, 128), "differs: quantization_config.bits is 4 in config.json, the file has 8 (448 tensors)",
     "hyperparameter quantised"},
    {GPTQ(8, 32), GPTQ(4, 128),
     "differs: quantization_config.group_size is 128 in config.json, the file has 32 (448 tensors); "
     "quantization_config.bits is 4 in config.json, the file has 8 (224 tensors)",
     "hyperparameter hyperparameter quantised"},
    {FP8("[128, 128]"), FP8("[64, 64]"),
     "differs: quantization_config.weight_block_size is [64, 64] in config.json, the file has [128, 128] (224 tensors)",
     "hyperparameter quantised"},
    {FP8("[128, 128]"), FP8("null"),
     "differs: quantization_config in config.json does not say how the file is quantised: fp8, blocks of 128 x 128: "
     "224 weights in 448 tensors",
     "quantised"},
    {BNB("nf4", "false"), BNB("nf4", "true"),
     "differs: quantization_config in config.json does not say how the file is quantised: bitsandbytes, 4 bits, nf4: "
     "224 weights in 672 tensors",
     "quantised"},
    {AWQ, GPTQ(4, 128),
     "differs: quantization_config in config.json says gptq, but the file is quantised with awq, 4 bits, groups of "
     "128: 224 weights in 672 tensors",
     "quantised"},
    {GPTQ(4, 128), AWQ,
     "differs: quantization_config in config.json says awq, but the file is quantised with gptq, 4 bits, groups of "
     "128: 224 weights in 672 tensors",
     "quantised"},
    {INT8, FP8("[128, 128]"),
     "differs: quantization_config in config.json says fp8, but the file is quantised with bitsandbytes, 8 bits: "
     "224 weights in 448 tensors",
     "quantised"},
    {GPTQ(4, 128), QUANTISED("{\"quant_method\": \"higgs\", \"bits\": 4}"),
     "differs: quantization_config in config.json says higgs, but the file is quantised with gptq, 4 bits, groups "
     "of 128: 224 weights in 672 tensors",
     "quantised"},
    {LLAMA(""), GPTQ(4, 128),
     "differs: quantization_config in config.json says gptq, but no weight of the file is quantised", "quantised"},
    {W4A16("[\"lm_head\"]"), W4A16("[\"lm_head\", \"re:.*mlp\\\\.down_proj$\"]"),
     "differs: the file quantises weights that quantization_config in config.json exempts in ignore: "
     "model.layers.{0-31}.mlp.down_proj.weight (32 weights)",
     "quantised-module quantised"},
    {W4A16("[\"lm_head\", \"re:.*mlp[.]down_proj$\"]"), W4A16("[\"lm_head\"]"),
     "differs: quantization_config in config.json quantises weights that the file does not: "
     "model.layers.{0-31}.mlp.down_proj.weight (32 weights)",
     "quantised-module quantised"},
    /* Two ways to say layers 1 and 10 to 19: no dispute. */
    {W4A16("[\"lm_head\", \"model.layers.1*\"]"), W4A16("[\"lm_head\", \"re:model\\\\.layers\\\\.1.*\"]"),
     "match: all 585 tensors, 4,058,386,726 elements for 8,030,261,248 parameters", "quantised"},
    {MLX(", \"model.layers.0.mlp.down_proj\": {\"bits\": 6, \"group_size\": 32}, \"lm_head\": false"),
     MLX(", \"model.layers.0.mlp.down_proj\": {\"bits\": 6, \"group_size\": 32}, \"lm_head\": false"),
     "match: all 741 tensors, 1,703,710,720 elements for 8,030,261,248 parameters", "quantised"},
    {MLX(""), MLX(", \"lm_head\": false"),
     "differs: the file quantises weights that quantization in config.json exempts: lm_head.weight (1 weight)",
     "quantised-module quantised"},
};

static void disputed(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof disputes / sizeof *disputes; i++) {
        struct model model;
        model_open(&model, disputes[i].file);
        model_predict(&model, AS_STORED);
        reconfigure(&model, disputes[i].config);
        model_check(&model);
        assert_told(&model, disputes[i].line, disputes[i].causes, 0);
        model_close(&model);
    }
}

/* Weights under other names are quantised all the same. */
static void all_renamed(void **state)
{
    (void)state;
    struct model model;
    model_open(&model, FP8("[128, 128]"));
    model_predict(&model, AS_STORED);
    model_rename(&model, "model.layers.*", "layers", "blocks");
    model_check(&model);
    assert_told(&model, "differs: renamed: 'layers' is called 'blocks' (512 tensors) in the file", "renamed quantised",
                0);
    assert_string_equal(shapeproof_check_cause(model.check, 1)->message,
                        "quantised: fp8, blocks of 128 x 128 (quantization_config in config.json): no weight is there "
                        "under its name");
    model_close(&model);
}

/* The cause says what would repair it. */
static void hints(void **state)
{
    (void)state;
    struct model model;
    model_open(&model, AWQ);
    model_predict(&model, AS_STORED);
    reconfigure(&model, GPTQ(4, 128));
    model_check(&model);
    assert_string_equal(model_cause(&model, "quantised")->hint,
                        "the file needs \"quantization_config\": {\"quant_method\": \"awq\", \"bits\": 4, "
                        "\"group_size\": 128}");
    reconfigure(&model, FP8("[64, 64]"));
    model_predict(&model, AS_STORED);
    reconfigure(&model, FP8("[128, 128]"));
    model_check(&model);
    assert_string_equal(model_cause(&model, "hyperparameter")->hint,
                        "write into config.json: {\"quantization_config\": {\"weight_block_size\": [64, 64]}}; --set "
                        "'quantization_config.weight_block_size=[64, 64]' tries it");
    model_close(&model);
}

/* ---- single members ---- */

/* One scale is lost, another has one block too few. */
static void members_are_checked(void **state)
{
    (void)state;
    struct model model;
    model_open(&model, FP8("[128, 128]"));
    model_predict(&model, AS_STORED);
    model_drop(&model, "model.layers.3.mlp.up_proj.weight_scale_inv");
    model_part(&model, "model.layers.4.mlp.down_proj.weight_scale_inv")->shape[1]--;
    model_check(&model);
    assert_told(&model,
                "differs: model.layers.3.mlp.up_proj.weight_scale_inv is missing; "
                "model.layers.4.mlp.down_proj.weight_scale_inv (32, 111), expected (32, 112), from "
                "ceil_div(intermediate_size, quantization_config.weight_block_size[1])",
                "quantised", 2);
    model_close(&model);
}

/* ---- real configurations ---- */

/* DeepSeek-V3 with four layers: latent attention, whose widths no block divides; routers that are never quantised. */
static const char deepseek[] =
    "{\"architectures\": [\"DeepseekV3ForCausalLM\"], \"model_type\": \"deepseek_v3\", \"first_k_dense_replace\": 3, "
    "\"hidden_size\": 7168, \"intermediate_size\": 18432, \"kv_lora_rank\": 512, \"moe_intermediate_size\": 2048, "
    "\"n_routed_experts\": 256, \"n_shared_experts\": 1, \"num_attention_heads\": 128, \"num_hidden_layers\": 4, "
    "\"num_key_value_heads\": 128, \"num_nextn_predict_layers\": 0, \"q_lora_rank\": 1536, \"qk_nope_head_dim\": 128, "
    "\"qk_rope_head_dim\": 64, \"v_head_dim\": 128, \"tie_word_embeddings\": false, \"vocab_size\": 129280, "
    "\"quantization_config\": {\"activation_scheme\": \"dynamic\", \"fmt\": \"e4m3\", \"quant_method\": \"fp8\", "
    "\"weight_block_size\": [128, 128]}}";

#define GPT_OSS(MORE)                                                                                                  \
    "{\"architectures\": [\"GptOssForCausalLM\"], \"model_type\": \"gpt_oss\", \"vocab_size\": 201088, "               \
    "\"hidden_size\": 2880, \"intermediate_size\": 2880, \"head_dim\": 64, \"num_attention_heads\": 64, "              \
    "\"num_key_value_heads\": 8, \"num_hidden_layers\": 24, \"num_local_experts\": 32, "                               \
    "\"tie_word_embeddings\": false" MORE "}"
#define MXFP4                                                                                                          \
    ", \"quantization_config\": {\"quant_method\": \"mxfp4\", \"modules_to_not_convert\": "                            \
    "[\"model.layers.*.self_attn\", \"model.layers.*.mlp.router\", \"model.embed_tokens\", \"lm_head\"]}"

#define MIXTRAL                                                                                                        \
    "{\"model_type\": \"mixtral\", \"architectures\": [\"MixtralForCausalLM\"], \"vocab_size\": 32000, "               \
    "\"hidden_size\": 4096, \"num_hidden_layers\": 8, \"num_attention_heads\": 32, \"num_key_value_heads\": 8, "       \
    "\"intermediate_size\": 14336, \"num_local_experts\": 8, \"tie_word_embeddings\": false, "                         \
    "\"quantization_config\": {\"quant_method\": \"gptq\", \"bits\": 4, \"group_size\": 128}}"

/* Gemma 2B in MLX: the head is the embedding, which is quantised. */
static const char gemma[] =
    "{\"architectures\": [\"GemmaForCausalLM\"], \"model_type\": \"gemma\", \"head_dim\": 256, \"hidden_size\": 2048, "
    "\"intermediate_size\": 16384, \"num_attention_heads\": 8, \"num_hidden_layers\": 18, \"num_key_value_heads\": 1, "
    "\"vocab_size\": 256000, \"quantization\": {\"group_size\": 64, \"bits\": 4}}";

static void published_models(void **state)
{
    static const struct {
        const char *config, *line;
    } models[] = {
        {deepseek, "match: all 1621 tensors, 15,111,910,880 elements for 15,111,101,696 parameters"},
        {GPT_OSS(MXFP4), "match: all 459 tensors, 11,956,805,184 elements for 20,914,757,184 parameters"},
        {MIXTRAL, "match: all 699 tensors, 1,815,744,512 elements for 11,872,309,248 parameters"},
        {gemma, "match: all 418 tensors, 391,653,376 elements for 2,506,172,416 parameters"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof models / sizeof *models; i++) {
        struct model model;
        model_open(&model, models[i].config);
        model_predict(&model, AS_STORED);
        model_check(&model);
        assert_told(&model, models[i].line, "quantised", 0);
        model_close(&model);
    }
}

/* The same experts beside a configuration that does not mention them, and among others that are not packed. */
static void packed_experts(void **state)
{
    struct model model;
    (void)state;
    model_open(&model, GPT_OSS(MXFP4));
    model_predict(&model, AS_STORED);
    reconfigure(&model, GPT_OSS(""));
    model_check(&model);
    assert_told(&model,
                "differs: quantised: mxfp4, although config.json has no quantization_config: 48 weights in 96 tensors",
                "quantised", 0);
    model_predict(&model, 0);
    reconfigure(&model, GPT_OSS(MXFP4));
    model_check(&model);
    assert_told(&model,
                "differs: quantization_config in config.json says mxfp4, but no weight of the file is quantised",
                "quantised", 0);
    model_close(&model);
}

/* Routers are left alone by most methods, and loaders rely on that; where all are quantised, that is said. A gate
 * without experts is a matrix like any other. */
static void routers(void **state)
{
    struct model model;
    (void)state;
    model_open(&model, MIXTRAL);
    model_predict(&model, AS_STORED);
    model_copy(&model, "*.experts.0.w1.*", "experts.0.w1", "gate");
    model_resize(&model, "*.block_sparse_moe.gate.*", 14336, 8);
    model_resize(&model, "*.block_sparse_moe.gate.qzeros", 1792, 1);
    model_retype(&model, "*.block_sparse_moe.gate.q*", SHAPEPROOF_DTYPE_I32);
    model_drop(&model, "*.block_sparse_moe.gate.weight");
    model_check(&model);
    assert_told(&model,
                "explained: the routers of experts are quantised, and most loaders expect them unquantised: "
                "model.layers.{0-7}.block_sparse_moe.gate.weight (8 weights); nothing else differs",
                "quantised-router quantised", 0);
    assert_string_equal(shapeproof_check_cause(model.check, 0)->hint,
                        "exempt them (modules_to_not_convert) and quantise again");
    model_close(&model);
}

/* Weights that a program packs as no quantiser does, under names of its own, and nothing says so. */
static void in_a_way_of_its_own(void **state)
{
    struct model model;
    (void)state;
    model_open(&model, LLAMA(""));
    model_predict(&model, 0);
    model_rename(&model, "*.mlp.*_proj.weight", "_proj.weight", "_proj.ternary");
    model_resize(&model, "*.ternary", 4096, 1024);
    model_retype(&model, "*.ternary", SHAPEPROOF_DTYPE_U8);
    model_check(&model);
    assert_told(
        &model,
        "differs: 96 weights are quantised in an unknown way: in their place, the file has 'ternary' (U8, a quarter "
        "of the elements): model.layers.{0-31}.mlp.{gate_proj,up_proj,down_proj}.weight",
        "quantised dtype-configured", 0);
    assert_int_equal(shapeproof_check_cause(model.check, 0)->explains, 2 * 96);
    assert_non_null(strstr(shapeproof_check_cause(model.check, 0)->hint, "newly initialised"));
    model_copy(&model, "*.ternary", "ternary", "steps");
    model_retype(&model, "*.steps", SHAPEPROOF_DTYPE_F32);
    model_check(&model);
    assert_int_equal(shapeproof_check_cause(model.check, 0)->explains, 3 * 96);
    assert_non_null(strstr(shapeproof_check_cause(model.check, 0)->message, " and 'steps': "));
    model_close(&model);
    /* one alone may be an error of another kind */
    model_open(&model, LLAMA(""));
    model_predict(&model, 0);
    model_rename(&model, "model.layers.3.mlp.up_proj.weight", "up_proj.weight", "up_proj.ternary");
    model_retype(&model, "*.ternary", SHAPEPROOF_DTYPE_U8);
    model_check(&model);
    assert_null(model_cause(&model, "quantised"));
    model_close(&model);
}

/* One weight of a kind is not quantised, and no list says so. */
static void one_of_a_kind(void **state)
{
    struct model model;
    (void)state;
    model_open(&model, GPTQ(4, 128));
    model_predict(&model, AS_STORED);
    model_drop(&model, "model.layers.9.mlp.up_proj.*");
    model_add_shape(&model, "model.layers.9.mlp.up_proj.weight", SHAPE(14336, 4096))->dtype = SHAPEPROOF_DTYPE_BF16;
    model_check(&model);
    assert_told(&model,
                "differs: quantization_config in config.json quantises weights that the file does not: "
                "model.layers.9.mlp.up_proj.weight (1 weight)",
                "quantised-module quantised", 0);
    model_close(&model);
}

/* The quantiser left config.json alone and wrote a file of its own. */
static void said_beside(void **state)
{
    static const struct {
        const char *config, *name, *text, *message;
    } files[] = {
        {GPTQ(4, 32), "quantize_config.json",
         "{\"bits\": 4, \"group_size\": 32, \"damp_percent\": 0.1, \"desc_act\": true, \"sym\": true, "
         "\"true_sequential\": true, \"model_name_or_path\": null, \"model_file_base_name\": \"model\"}",
         "quantised: gptq, 4 bits, groups of 32 (quantization_config in quantize_config.json): 224 weights in 672 "
         "tensors"},
        {AWQ, "quant_config.json", "{\"zero_point\": true, \"q_group_size\": 128, \"w_bit\": 4, \"version\": \"GEMM\"}",
         "quantised: awq, 4 bits, groups of 128 (quantization_config in quant_config.json): 224 weights in 672 "
         "tensors"},
        {NVFP4, "hf_quant_config.json",
         "{\"producer\": {\"name\": \"modelopt\", \"version\": \"0.23.0\"}, \"quantization\": "
         "{\"quant_algo\": \"NVFP4\", \"kv_cache_quant_algo\": \"FP8\", \"group_size\": 16, "
         "\"exclude_modules\": [\"lm_head\"]}}",
         "quantised: modelopt, NVFP4, groups of 16 (quantization_config in hf_quant_config.json): 224 weights in 672 "
         "tensors"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        struct model model;
        model_open(&model, files[i].config);
        model_predict(&model, AS_STORED);
        scratch_write(&model.scratch, files[i].name, files[i].text, strlen(files[i].text));
        reconfigure(&model, LLAMA(""));
        model_check(&model);
        assert_told(&model, model.first_line, "quantised", 0);
        assert_int_equal(shapeproof_check_verdict(model.check), SHAPEPROOF_VERDICT_MATCH);
        assert_string_equal(shapeproof_check_cause(model.check, 0)->message, files[i].message);
        model_close(&model);
    }
}

/* Most layers are not there: what is there decides, with a configuration that says how and with one that does not. */
static void partial_files(void **state)
{
    static const char *const configs[] = {GPTQ(4, 128), MLX(""), FP8("[128, 128]"), BNB("nf4", "false")};
    (void)state;
    for (size_t i = 0; i < sizeof configs / sizeof *configs; i++) {
        struct model model;
        model_open(&model, configs[i]);
        model_predict(&model, AS_STORED);
        model_drop(&model, "model.layers.[12]*");
        model_check(&model);
        assert_told(&model, model.first_line, "layers-missing quantised", 0);
        reconfigure(&model, LLAMA(""));
        model_check(&model);
        assert_told(&model, model.first_line, "layers-missing quantised", 0);
        model_close(&model);
    }
}

/* Weights that are rounded when they are loaded are stored as they are. */
static void rounded_when_loaded(void **state)
{
    struct model model;
    (void)state;
    model_open(&model, QUANTISED("{\"quant_method\": \"bitnet\", \"linear_class\": \"autobitlinear\", "
                                 "\"quantization_mode\": \"online\"}"));
    model_predict(&model, AS_STORED);
    model_check(&model);
    assert_told(&model, "match: all 291 tensors, 8,030,261,248 elements", "", 0);
    model_close(&model);
}

/* A method that no part of a table describes is named, and the weights are compared as if they were not quantised. The
 * verdict is unknown if they are stored as packed numbers. */
static void undescribed(void **state)
{
    static const char gemv[] = QUANTISED("{\"quant_method\": \"awq\", \"bits\": 4, \"version\": \"hexagon\"}");
    struct model model;
    (void)state;
    model_open(&model, AWQ);
    model_predict(&model, AS_STORED);
    reconfigure(&model, gemv);
    model_check(&model);
    assert_told(&model,
                "unknown: quantization_config in config.json says awq, for which nothing can be predicted: no table "
                "for the layout hexagon of AWQ: 224 weights are stored in 672 tensors, which are not compared; "
                "nothing else differs",
                "quantised", 0);
    model_predict(&model, 0);
    reconfigure(&model, QUANTISED("{\"quant_method\": \"sinq\"}"));
    model_check(&model);
    assert_told(&model,
                "explained: quantization_config in config.json says sinq, which no part of a table describes: the "
                "weights are compared as if they were not quantised; nothing else differs",
                "quantised", 0);
    model_retype(&model, "*_proj.weight", SHAPEPROOF_DTYPE_F8_E4M3);
    model_check(&model);
    assert_told(&model,
                "unknown: quantization_config in config.json says sinq, which no part of a table describes: the "
                "weights are compared as if they were not quantised; nothing else differs",
                "quantised", 0);
    model_close(&model);
}

/* ---- near misses ---- */

/* Integers without scales are no quantisation that anybody could read. */
static void integers_alone(void **state)
{
    struct model model;
    (void)state;
    model_open(&model, LLAMA(""));
    model_predict(&model, 0);
    model_retype(&model, "*_proj.weight", SHAPEPROOF_DTYPE_I8);
    model_check(&model);
    assert_told(&model,
                "differs: matrices are stored as integers, but the file has no scales for them: "
                "model.layers.{0-31}.self_attn.{q_proj,k_proj,v_proj,o_proj}.weight, "
                "model.layers.{0-31}.mlp.{gate_proj,up_proj,down_proj}.weight (224 tensors)",
                "integers", 0);
    model_close(&model);
}

/* Whatever the integers are; the whole file may be of them. */
static void integers_everywhere(void **state)
{
    static const enum shapeproof_dtype integers[] = {SHAPEPROOF_DTYPE_BOOL, SHAPEPROOF_DTYPE_I8,  SHAPEPROOF_DTYPE_U16,
                                                     SHAPEPROOF_DTYPE_I32,  SHAPEPROOF_DTYPE_I64, SHAPEPROOF_DTYPE_U64};
    struct model model;
    (void)state;
    model_open(&model, LLAMA(""));
    model_predict(&model, 0);
    for (size_t i = 0; i < sizeof integers / sizeof *integers; i++) {
        model_retype(&model, "*", integers[i]);
        assert_memory_equal(model_check(&model), "differs: matrices are stored as integers, but the", 49);
        assert_ptr_not_equal(model_cause(&model, "integers"), NULL);
    }
    model_close(&model);
}

/* No weight is complex unless the table says so: not where all are, and not where most are. */
static void complex_numbers(void **state)
{
    struct model model;
    (void)state;
    model_open(&model, LLAMA(""));
    model_predict(&model, 0);
    model_retype(&model, "*.k_proj.weight", SHAPEPROOF_DTYPE_C64); /* a kind that is uniform, in a file that is not */
    assert_memory_equal(model_check(&model), "differs: 32 tensors have another dtype", 38);
    model_retype(&model, "*_proj.weight", SHAPEPROOF_DTYPE_C64);
    assert_string_equal(model_check(&model), "differs: 224 tensors have another dtype: "
                                             "model.layers.{0-31}.self_attn.{q_proj,k_proj,v_proj,o_proj}.weight, "
                                             "model.layers.{0-31}.mlp.{gate_proj,up_proj,down_proj}.weight");
    model_retype(&model, "*", SHAPEPROOF_DTYPE_C64);
    assert_memory_equal(model_check(&model), "differs: 291 tensors have another dtype", 39);
    model_close(&model);
}

/* The scale of one layer is of another dtype than those of the others, and all that is not quantised has one dtype. */
static void a_scale_of_its_own(void **state)
{
    static const enum shapeproof_dtype others[] = {SHAPEPROOF_DTYPE_I32, SHAPEPROOF_DTYPE_I8, SHAPEPROOF_DTYPE_BF16};
    struct model model;
    (void)state;
    model_open(&model, GPTQ(4, 128));
    model_predict(&model, AS_STORED);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        model_retype(&model, "model.layers.0.self_attn.q_proj.scales", others[i]);
        assert_memory_equal(model_check(&model), "differs: model.layers.0.self_attn.q_proj.scales has dtype ", 58);
    }
    model_close(&model);
}

/* All scales of a file, or one of them, have a dtype that no scale has, however uniform it is; those in which programs
 * compute may have any. */
static void scales_are_floating(void **state)
{
    static const enum shapeproof_dtype wrong[] = {SHAPEPROOF_DTYPE_BOOL, SHAPEPROOF_DTYPE_U8,
                                                  SHAPEPROOF_DTYPE_I32,  SHAPEPROOF_DTYPE_I64,
                                                  SHAPEPROOF_DTYPE_C64,  SHAPEPROOF_DTYPE_F8_E4M3},
                                       right[] = {SHAPEPROOF_DTYPE_F16, SHAPEPROOF_DTYPE_BF16, SHAPEPROOF_DTYPE_F64};
    struct model model;
    (void)state;
    model_open(&model, GPTQ(4, 128));
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        model_predict(&model, AS_STORED);
        model_retype(&model, "model.layers.0.self_attn.q_proj.scales", wrong[i]);
        model_check(&model);
        assert_int_equal(model_findings(&model, "dtype"), 1);
        model_retype(&model, "*.scales", wrong[i]);
        assert_memory_equal(model_check(&model), "differs: 224 tensors have another dtype: ", 41);
        assert_int_equal(model_findings(&model, "dtype"), 224);
    }
    for (size_t i = 0; i < sizeof right / sizeof *right; i++) {
        model_retype(&model, "*.scales", right[i]);
        assert_memory_equal(model_check(&model), "match: ", 7);
    }
    model_close(&model);
}

/* The part gives several dtypes: the shape of a matrix is of integers, whether of 32 or of 64 bits. */
static void one_of_several_dtypes(void **state)
{
    struct model model;
    (void)state;
    model_open(&model, W4A16("[\"lm_head\"]"));
    model_predict(&model, AS_STORED);
    model_retype(&model, "*.weight_shape", SHAPEPROOF_DTYPE_I32);
    assert_memory_equal(model_check(&model), "match: ", 7);
    model_retype(&model, "*.weight_shape", SHAPEPROOF_DTYPE_I64);
    assert_memory_equal(model_check(&model), "match: ", 7);
    model_retype(&model, "model.layers.3.mlp.up_proj.weight_shape", SHAPEPROOF_DTYPE_F32);
    assert_string_equal(
        model_check(&model),
        "differs: model.layers.3.mlp.up_proj.weight_shape has dtype F32 where the table has I32 or I64");
    model_close(&model);
}

/* ---- mixed precision ---- */

/* Norms in full precision; then one of them alone, which is the last of its kind; then one of a kind of 32. */
static void norms_in_full_precision(void **state)
{
    struct model model;
    (void)state;
    model_open(&model, LLAMA(""));
    model_predict(&model, 0);
    model_retype(&model, "*", SHAPEPROOF_DTYPE_BF16);
    model_retype(&model, "*norm.weight", SHAPEPROOF_DTYPE_F32);
    model_check(&model);
    assert_told(&model, "match: all 291 tensors, 8,030,261,248 elements", "mixed-precision", 0);
    assert_string_equal(model_cause(&model, "mixed-precision")->message,
                        "mixed precision: BF16, but F32 in "
                        "model.layers.{0-31}.{input_layernorm,post_attention_layernorm}.weight, model.norm.weight "
                        "(65 tensors)");
    model_retype(&model, "*_layernorm.weight", SHAPEPROOF_DTYPE_BF16);
    model_check(&model);
    assert_told(&model, "match: all 291 tensors, 8,030,261,248 elements", "mixed-precision", 0);
    model_retype(&model, "model.layers.7.input_layernorm.weight", SHAPEPROOF_DTYPE_F32);
    model_check(&model);
    assert_told(&model,
                "differs: model.layers.7.input_layernorm.weight has dtype F32 where others of its kind have BF16",
                "mixed-precision", 1);
    model_close(&model);
}

/* A file in another precision than its configuration says matches, and that is noted; not of the same, nor where most
 * of it is as said. */
static void configured_precision(void **state)
{
    struct model model;
    (void)state;
    model_open(&model, LLAMA(""));
    model_predict(&model, 0);
    model_retype(&model, "*", SHAPEPROOF_DTYPE_F32);
    model_check(&model);
    assert_told(&model, "match: all 291 tensors, 8,030,261,248 elements", "dtype-configured", 0);
    assert_string_equal(model_cause(&model, "dtype-configured")->message,
                        "the configuration says torch_dtype bfloat16, but all tensors are F32");
    assert_string_equal(model_cause(&model, "dtype-configured")->configured.string, "bfloat16");
    assert_string_equal(model_cause(&model, "dtype-configured")->found.string, "F32");
    model_retype(&model, "*", SHAPEPROOF_DTYPE_BF16);
    model_check(&model);
    assert_told(&model, "match: all 291 tensors, 8,030,261,248 elements", "", 0);
    model_retype(&model, "*norm.weight", SHAPEPROOF_DTYPE_F32);
    model_check(&model);
    assert_told(&model, "match: all 291 tensors, 8,030,261,248 elements", "mixed-precision", 0);
    model_close(&model);
}

/* Scales beside one plain weight do not make it a quantised file. */
static void scales_alone(void **state)
{
    struct model model;
    (void)state;
    model_open(&model, LLAMA(""));
    model_predict(&model, 0);
    model_retype(&model, "*", SHAPEPROOF_DTYPE_BF16);
    model_add_shape(&model, "model.layers.3.mlp.up_proj.weight_scale_inv", SHAPE(112, 32));
    model_check(&model);
    assert_told(&model, "differs: model.layers.3.mlp.up_proj.weight_scale_inv is unexpected", "", 1);
    model_close(&model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(method_is_configured),
        cmocka_unit_test(method_is_recognised),
        cmocka_unit_test(no_dtype_of_what_is_quantised),
        cmocka_unit_test(modules_of_another_width),
        cmocka_unit_test(optional_members),
        cmocka_unit_test(disputed),
        cmocka_unit_test(all_renamed),
        cmocka_unit_test(hints),
        cmocka_unit_test(members_are_checked),
        cmocka_unit_test(published_models),
        cmocka_unit_test(packed_experts),
        cmocka_unit_test(routers),
        cmocka_unit_test(in_a_way_of_its_own),
        cmocka_unit_test(one_of_a_kind),
        cmocka_unit_test(integers_alone),
        cmocka_unit_test(integers_everywhere),
        cmocka_unit_test(complex_numbers),
        cmocka_unit_test(a_scale_of_its_own),
        cmocka_unit_test(scales_are_floating),
        cmocka_unit_test(one_of_several_dtypes),
        cmocka_unit_test(undescribed),
        cmocka_unit_test(rounded_when_loaded),
        cmocka_unit_test(partial_files),
        cmocka_unit_test(said_beside),
        cmocka_unit_test(scales_alone),
        cmocka_unit_test(norms_in_full_precision),
        cmocka_unit_test(configured_precision),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
