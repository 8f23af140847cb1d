/* SPDX-License-Identifier: MIT
 * Biases: lost, too many, governed by a flag, by another one, or by none. */
#define _XOPEN_SOURCE 700
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "explain/kinds.h"

/* Qwen2 0.5B, as published. */
static const char qwen2[] =
    "{\"architectures\": [\"Qwen2ForCausalLM\"], \"attention_dropout\": 0.0, \"bos_token_id\": 151643, "
    "\"hidden_act\": \"silu\", \"hidden_size\": 896, \"intermediate_size\": 4864, \"max_position_embeddings\": 131072, "
    "\"max_window_layers\": 24, \"model_type\": \"qwen2\", \"num_attention_heads\": 14, \"num_hidden_layers\": 24, "
    "\"num_key_value_heads\": 2, \"rms_norm_eps\": 1e-06, \"rope_theta\": 1000000.0, \"sliding_window\": 131072, "
    "\"tie_word_embeddings\": true, \"torch_dtype\": \"float32\", \"use_sliding_window\": false, "
    "\"vocab_size\": 151936}";

/* Bielik 11B: Llama with every bias that it can have. */
#define BIELIK(ATTENTION, MLP, MORE)                                                                                   \
    "{\"architectures\": [\"LlamaForCausalLM\"], \"model_type\": \"llama\", " ATTENTION MLP                            \
    "\"hidden_size\": 4096, \"intermediate_size\": 14336, \"num_attention_heads\": 32, \"num_hidden_layers\": 60, "    \
    "\"num_key_value_heads\": 8, \"vocab_size\": 32128, \"tie_word_embeddings\": false" MORE "}"
#define ATTENTION(VALUE) "\"attention_bias\": " VALUE ", "
#define MLP(VALUE) "\"mlp_bias\": " VALUE ", "

#define GPTQ ", \"quantization_config\": {\"quant_method\": \"gptq\", \"bits\": 4, \"group_size\": 128}"

static const char whisper[] =
    "{\"architectures\": [\"WhisperForConditionalGeneration\"], \"model_type\": \"whisper\", \"d_model\": 384, "
    "\"encoder_layers\": 4, \"decoder_layers\": 4, \"encoder_ffn_dim\": 1536, \"decoder_ffn_dim\": 1536, "
    "\"encoder_attention_heads\": 6, \"decoder_attention_heads\": 6, \"vocab_size\": 51865, \"num_mel_bins\": 80, "
    "\"max_source_positions\": 1500, \"max_target_positions\": 448}";

#define GPT_OSS(MORE)                                                                                                  \
    "{\"architectures\": [\"GptOssForCausalLM\"], \"model_type\": \"gpt_oss\", \"vocab_size\": 201088, "               \
    "\"hidden_size\": 2880, \"intermediate_size\": 2880, \"head_dim\": 64, \"num_attention_heads\": 64, "              \
    "\"num_key_value_heads\": 8, \"num_hidden_layers\": 24, \"num_local_experts\": 32, "                               \
    "\"tie_word_embeddings\": false" MORE "}"
#define MXFP4                                                                                                          \
    ", \"quantization_config\": {\"quant_method\": \"mxfp4\", \"modules_to_not_convert\": "                            \
    "[\"model.layers.*.self_attn\", \"model.layers.*.mlp.router\", \"model.embed_tokens\", \"lm_head\"]}"

/* All biases of an architecture that always has them are lost: 218 tensors in place of 290. */
static void lost_biases_without_a_flag(void **state)
{
    BEGIN(qwen2);
    assert_int_equal(model.count, 290);
    model_drop(&model, "*.bias");
    assert_int_equal(model.count, 218);
    SAYS("differs: the file lacks biases that qwen2 always has: "
         "model.layers.{0-23}.self_attn.{q_proj,k_proj,v_proj}.bias (72 tensors in 24 layers)",
         "bias", 0);
    END;
}

/* A bias that the architecture never has, beside those that it has. */
static void stray_biases_without_a_flag(void **state)
{
    BEGIN(qwen2);
    model_add_biases(&model, "*.o_proj.weight");
    SAYS("differs: the file has biases that qwen2 never has: model.layers.{0-23}.self_attn.o_proj.bias (24 tensors)",
         "bias", 0);
    END;
}

/* One flag for four projections, of which one projection lost its biases; another flag that is wrong. */
static void one_projection_against_its_flag(void **state)
{
    BEGIN(BIELIK(ATTENTION("true"), MLP("true"), ""));
    model_drop(&model, "*.o_proj.bias");
    SAYS("differs: attention_bias is true in config.json, but the file lacks biases: "
         "model.layers.{0-59}.self_attn.o_proj.bias (60 tensors)",
         "bias", 0);
    model_drop(&model, "*.mlp.*.bias");
    SAYS("differs: mlp_bias is true in config.json, but the file lacks "
         "model.layers.{0-59}.mlp.{gate_proj,up_proj,down_proj}.bias; attention_bias is true in config.json, but "
         "the file lacks biases: model.layers.{0-59}.self_attn.o_proj.bias (60 tensors)",
         "hyperparameter bias", 0);
    END;
}

/* All seven biases are there, no flag is. */
static void flags_that_are_absent(void **state)
{
    BEGIN(BIELIK("", "", ""));
    model_add_biases(&model, "*_proj.weight");
    SAYS("differs: attention_bias is false by default, but the file has "
         "model.layers.{0-59}.self_attn.{q_proj,k_proj,v_proj,o_proj}.bias; mlp_bias is false by default, but the file "
         "has model.layers.{0-59}.mlp.{gate_proj,up_proj,down_proj}.bias",
         "hyperparameter hyperparameter", 0);
    END;
}

/* The flag is there, as another family spells it. */
static void flag_spelt_otherwise(void **state)
{
    BEGIN(BIELIK("\"bias\": true, ", "", ""));
    model_add_biases(&model, "*.self_attn.*_proj.weight");
    SAYS("differs: attention_bias is false by default, but the file has "
         "model.layers.{0-59}.self_attn.{q_proj,k_proj,v_proj,o_proj}.bias; config.json has bias=true, which the table "
         "llama does not read",
         "hyperparameter", 0);
    END;
}

/* Near it: the other flag agrees with the wrong value. */
static void flag_spelt_otherwise_and_wrong(void **state)
{
    BEGIN(BIELIK("\"bias\": false, ", "", ""));
    model_add_biases(&model, "*.self_attn.*_proj.weight");
    SAYS("differs: attention_bias is false by default, but the file has "
         "model.layers.{0-59}.self_attn.{q_proj,k_proj,v_proj,o_proj}.bias",
         "hyperparameter", 0);
    END;
}

/* A bias beside each of those packed weights, whose columns are the outputs. */
static void add_packed_biases(struct model *model, const char *weights)
{
    const size_t count = model->count;
    model_copy(model, weights, ".qweight", ".bias");
    for (size_t i = count; i < model->count; i++) {
        struct part *part = &model->parts[i];
        part->rank = 1;
        part->shape[0] = part->shape[1];
    }
}

/* The quantiser added a bias to each weight that it packed. */
static void quantiser_adds_biases(void **state)
{
    struct model model;
    (void)state;
    model_open(&model, BIELIK("", "", GPTQ));
    model_predict(&model, AS_STORED);
    add_packed_biases(&model, "*.qweight");
    SAYS("explained: the quantiser gave every weight a bias that the model does not have: "
         "model.layers.{0-59}.self_attn.{q_proj,k_proj,v_proj,o_proj}.bias, "
         "model.layers.{0-59}.mlp.{gate_proj,up_proj,down_proj}.bias (420 tensors); nothing else differs",
         "bias quantised", 0);
    END;
}

/* Near it: some weights have one, which a flag explains. */
static void quantised_model_has_biases(void **state)
{
    struct model model;
    (void)state;
    model_open(&model, BIELIK("", "", GPTQ));
    model_predict(&model, AS_STORED);
    add_packed_biases(&model, "*.mlp.*.qweight");
    SAYS("differs: mlp_bias is false by default, but the file has "
         "model.layers.{0-59}.mlp.{gate_proj,up_proj,down_proj}.bias",
         "hyperparameter quantised", 0);
    END;
}

/* Fused projections were split again, and the one without a bias got one. */
static void key_projections_have_none(void **state)
{
    BEGIN(whisper);
    model_add_biases(&model, "*.k_proj.weight");
    SAYS("differs: the file has biases that whisper never has: "
         "model.{encoder,decoder}.layers.{0-3}.self_attn.k_proj.bias, "
         "model.decoder.layers.{0-3}.encoder_attn.k_proj.bias (12 tensors in 8 layers)",
         "bias", 0);
    END;
}

/* The biases of stacked experts have a name of their own kind. */
static void experts_lost_their_biases(void **state)
{
    BEGIN(GPT_OSS(""));
    model_drop(&model, "*.experts.*_bias");
    SAYS("differs: the file lacks biases that gpt_oss always has: "
         "model.layers.{0-23}.mlp.experts.{gate_up_proj_bias,down_proj_bias} (48 tensors in 24 layers)",
         "bias", 0);
    END;
    model_open(&model, GPT_OSS(MXFP4));
    model_predict(&model, AS_STORED);
    model_drop(&model, "*.experts.*_bias");
    SAYS("differs: the file lacks biases that gpt_oss always has: "
         "model.layers.{0-23}.mlp.experts.{gate_up_proj_bias,down_proj_bias} (48 tensors in 24 layers)",
         "bias quantised", 0);
    END;
}

/* Near all of these: one bias alone is no pattern, and a bias without its weight is no bias. */
static void single_tensors(void **state)
{
    BEGIN(qwen2);
    model_drop(&model, "model.layers.7.self_attn.q_proj.bias");
    SAYS("differs: model.layers.7.self_attn.q_proj.bias is missing", "", 1);
    model_predict(&model, 0);
    model_add_shape(&model, "model.layers.3.adapter.bias", SHAPE(896));
    model_add_shape(&model, "model.layers.4.adapter.bias", SHAPE(896));
    SAYS("differs: 2 tensors are unexpected: model.layers.{3,4}.adapter.bias", "", 2);
    END;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lost_biases_without_a_flag),
        cmocka_unit_test(stray_biases_without_a_flag),
        cmocka_unit_test(one_projection_against_its_flag),
        cmocka_unit_test(flags_that_are_absent),
        cmocka_unit_test(flag_spelt_otherwise),
        cmocka_unit_test(flag_spelt_otherwise_and_wrong),
        cmocka_unit_test(quantiser_adds_biases),
        cmocka_unit_test(quantised_model_has_biases),
        cmocka_unit_test(key_projections_have_none),
        cmocka_unit_test(experts_lost_their_biases),
        cmocka_unit_test(single_tensors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
