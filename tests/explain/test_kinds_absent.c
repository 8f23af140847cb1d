/* SPDX-License-Identifier: MIT
 * Whole components that are absent: no count is blamed for what is not there at all. */
#define _XOPEN_SOURCE 700
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "explain/kinds.h"

static const char gpt2[] = "{\"model_type\": \"gpt2\", \"architectures\": [\"GPT2LMHeadModel\"], \"n_layer\": 12}";
static const char t5[] =
    "{\"model_type\": \"t5\", \"architectures\": [\"T5ForConditionalGeneration\"], \"vocab_size\": 32128, "
    "\"d_model\": 512, \"d_kv\": 64, \"d_ff\": 2048, \"num_layers\": 6, \"num_heads\": 8}";
static const char llava[] =
    "{\"model_type\": \"llava\", \"architectures\": [\"LlavaForConditionalGeneration\"], \"text_config\": "
    "{\"model_type\": \"llama\", \"num_hidden_layers\": 4, \"vocab_size\": 32064}, \"vision_config\": "
    "{\"model_type\": \"clip_vision_model\", \"num_hidden_layers\": 24}}";
static const char mixtral[] = "{\"model_type\": \"mixtral\", \"architectures\": [\"MixtralForCausalLM\"], "
                              "\"vocab_size\": 32000, \"hidden_size\": 4096, \"num_hidden_layers\": 8, "
                              "\"num_attention_heads\": 32, \"num_key_value_heads\": 8, "
                              "\"intermediate_size\": 14336, \"num_local_experts\": 8}";

static void the_language_part_of_llava(void **state)
{
    BEGIN(llava);
    model_drop(&model, "vision_tower.*");
    model_drop(&model, "multi_modal_projector.*");
    SAYS("differs: vision_tower, multi_modal_projector are missing altogether (395 tensors)", "layers-missing", 0);
    END;
}

/* What is absent keeps nothing else from being found out. */
static void the_language_part_of_a_deeper_llava(void **state)
{
    BEGIN(llava);
    model_drop(&model, "vision_tower.*");
    model_drop(&model, "multi_modal_projector.*");
    model_set(&model, "text_config.num_hidden_layers=6");
    SAYS("differs: vision_tower, multi_modal_projector are missing altogether (395 tensors); "
         "text_config.num_hidden_layers is 6 on the command line, the file has 4 (18 tensors)",
         "layers-missing hyperparameter", 0);
    END;
}

static void the_encoder_of_t5(void **state)
{
    BEGIN(t5);
    model_drop(&model, "decoder.*");
    SAYS("differs: the weights are of T5EncoderModel, but config.json says T5ForConditionalGeneration: it lacks "
         "decoder.block.{0-5}.layer.{0-2}.layer_norm.weight, "
         "decoder.block.{0-5}.layer.0.SelfAttention.{q,k,v,o}.weight, "
         "decoder.block.0.layer.0.SelfAttention.relative_attention_bias.weight and 37 more",
         "another-model", 0);
    END;
}

static void the_decoder_of_t5(void **state)
{
    BEGIN(t5);
    model_drop(&model, "encoder.*");
    SAYS("differs: tie_encoder_decoder is false by default, but the file lacks "
         "encoder.block.{0-5}.layer.{0,1}.layer_norm.weight, "
         "encoder.block.{0-5}.layer.0.SelfAttention.{q,k,v,o}.weight, "
         "encoder.block.0.layer.0.SelfAttention.relative_attention_bias.weight and 13 more",
         "hyperparameter", 0);
    END;
}

/* Nothing else of the model is missing: it is one without layers. */
static void no_layers_of_gpt2(void **state)
{
    BEGIN(gpt2);
    model_drop(&model, "transformer.h.*");
    SAYS("differs: n_layer is 12 in config.json, the file has 0 (144 tensors)", "hyperparameter", 0);
    assert_string_equal(shapeproof_check_cause(model.check, 0)->hint,
                        "write into config.json: {\"n_layer\": 0}; --set n_layer=0 tries it");
    END;
}

static void no_layers_and_no_last_norm(void **state)
{
    BEGIN(gpt2);
    model_drop(&model, "transformer.h.*");
    model_drop(&model, "transformer.ln_f.*");
    SAYS("differs: transformer.h.{0-11} are missing altogether (144 tensors); 2 findings without a known cause",
         "layers-missing", 2);
    END;
}

/* The one layer that is there proves the count. */
static void all_layers_but_the_first(void **state)
{
    BEGIN(gpt2);
    model_drop(&model, "transformer.h.[1-9]*.*");
    SAYS("differs: n_layer is 12 in config.json, the file has 1 (132 tensors)", "hyperparameter", 0);
    END;
}

static void all_layers_but_the_last(void **state)
{
    BEGIN(gpt2);
    model_drop(&model, "transformer.h.[0-9].*");
    model_drop(&model, "transformer.h.10.*");
    SAYS("differs: transformer.h.{0-10} are missing altogether (132 tensors)", "layers-missing", 0);
    END;
}

/* The routers are there: the model has experts. */
static void no_experts_of_mixtral(void **state)
{
    BEGIN(mixtral);
    model_drop(&model, "*.experts.*");
    SAYS("differs: model.layers.{0-7}.block_sparse_moe.experts.{0-7} are missing altogether (192 tensors)",
         "experts-missing", 0);
    END;
}

static void no_experts_and_no_routers(void **state)
{
    BEGIN(mixtral);
    model_drop(&model, "*.block_sparse_moe.*");
    SAYS("differs: model.layers.{0-7}.block_sparse_moe.experts.{0-7} are missing altogether (192 tensors); 8 findings "
         "without a known cause",
         "experts-missing", 8);
    END;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_language_part_of_llava), cmocka_unit_test(the_language_part_of_a_deeper_llava),
        cmocka_unit_test(the_encoder_of_t5),          cmocka_unit_test(the_decoder_of_t5),
        cmocka_unit_test(no_layers_of_gpt2),          cmocka_unit_test(no_layers_and_no_last_norm),
        cmocka_unit_test(all_layers_but_the_first),   cmocka_unit_test(all_layers_but_the_last),
        cmocka_unit_test(no_experts_of_mixtral),      cmocka_unit_test(no_experts_and_no_routers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
