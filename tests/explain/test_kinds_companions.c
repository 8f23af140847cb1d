/* SPDX-License-Identifier: MIT
 * What stands beside a tensor: all siblings have it, or none. Optional tensors of quantisers, layers that are promised,
 * lists of layers. */
#define _XOPEN_SOURCE 700
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "explain/kinds.h"

#define EXPERTS(METHOD)                                                                                                \
    "{\"model_type\": \"qwen3_moe\", \"architectures\": [\"Qwen3MoeForCausalLM\"], \"vocab_size\": 1024, "             \
    "\"hidden_size\": 256, \"num_hidden_layers\": 4, \"num_attention_heads\": 4, \"num_key_value_heads\": 2, "         \
    "\"head_dim\": 64, \"num_experts\": 8, \"moe_intermediate_size\": 128, \"tie_word_embeddings\": false, "           \
    "\"quantization_config\": " METHOD "}"
#define NVFP4 "{\"quant_method\": \"modelopt\", \"quant_algo\": \"NVFP4\", \"ignore\": [\"lm_head\", \"*.gate\"]}"
#define GPTQ "{\"quant_method\": \"gptq\", \"bits\": 4, \"group_size\": 64}"

#define BEGIN_STORED(METHOD)                                                                                           \
    struct model model;                                                                                                \
    (void)state;                                                                                                       \
    model_open(&model, EXPERTS(METHOD));                                                                               \
    model_predict(&model, AS_STORED | WITH_OPTIONAL);                                                                  \
    model_drop(&model, "*.inv_freq")

#define HINT "loaders leave these tensors uninitialised: convert the model again, so that all modules have them or none"

/* All of the optional ones, or none of a kind. */
static void all_or_none(void **state)
{
    static const char *const kinds[] = {"*.input_scale", "*.pre_quant_scale", "*.?_scale"};
    BEGIN_STORED(NVFP4);
    model_check(&model);
    assert_int_equal(shapeproof_check_verdict(model.check), SHAPEPROOF_VERDICT_MATCH);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        model_drop(&model, kinds[i]);
        model_check(&model);
        assert_int_equal(shapeproof_check_verdict(model.check), SHAPEPROOF_VERDICT_MATCH);
    }
    END;
}

static void an_expert_without(void **state)
{
    BEGIN_STORED(NVFP4);
    model_drop(&model, "*.layers.2.*experts.5.up_proj.input_scale");
    SAYS("differs: missing, although sibling modules have it: model.layers.2.mlp.experts.5.up_proj.input_scale (1 "
         "tensor)",
         "companion quantised", 0);
    assert_string_equal(shapeproof_check_cause(model.check, 0)->hint, HINT);
    assert_int_equal(shapeproof_check_finding(model.check, shapeproof_check_finding_count(model.check) - 1)->kind,
                     SHAPEPROOF_FINDING_LACKING);
    END;
}

/* One that alone has it makes the others incomplete. */
static void an_expert_with(void **state)
{
    BEGIN_STORED(NVFP4);
    model_drop(&model, "*experts.[1-7].down_proj.input_scale");
    SAYS("differs: missing, although sibling modules have it: "
         "model.layers.{0-3}.mlp.experts.{1-7}.down_proj.input_scale (28 tensors)",
         "companion quantised", 0);
    END;
}

/* Queries, keys and values are one module in memory, and so are both halves of what goes up. */
static void a_projection_without(void **state)
{
    BEGIN_STORED(NVFP4);
    model_drop(&model, "*.v_proj.input_scale");
    SAYS("differs: missing, although sibling modules have it: model.layers.{0-3}.self_attn.v_proj.input_scale (4 "
         "tensors)",
         "companion quantised", 0);
    model_drop(&model, "*.[qk]_proj.input_scale");
    model_check(&model);
    assert_int_equal(shapeproof_check_verdict(model.check), SHAPEPROOF_VERDICT_MATCH);
    model_drop(&model, "*.gate_proj.input_scale");
    SAYS("differs: missing, although sibling modules have it: "
         "model.layers.{0-3}.mlp.experts.{0-7}.gate_proj.input_scale (32 tensors)",
         "companion quantised", 0);
    END;
}

static void a_cache_scale_without(void **state)
{
    BEGIN_STORED(NVFP4);
    model_drop(&model, "*.layers.3.*.k_proj.k_scale");
    SAYS("differs: missing, although sibling modules have it: model.layers.3.self_attn.k_proj.k_scale (1 tensor)",
         "companion quantised", 0);
    END;
}

/* Whatever the method is called. */
static void an_order_without(void **state)
{
    BEGIN_STORED(GPTQ);
    model_drop(&model, "*.layers.1.self_attn.q_proj.g_idx");
    SAYS("differs: missing, although sibling modules have it: model.layers.1.self_attn.q_proj.g_idx (1 tensor)",
         "companion quantised", 0);
    model_drop(&model, "*.g_idx");
    model_check(&model);
    assert_int_equal(shapeproof_check_verdict(model.check), SHAPEPROOF_VERDICT_MATCH);
    END;
}

/* Of an expert or a layer that is gone its scales are no matter of their own. */
static void of_what_is_gone(void **state)
{
    BEGIN_STORED(NVFP4);
    model_drop(&model, "*.layers.2.*experts.5.*");
    SAYS("differs: model.layers.2.mlp.experts.5 is missing altogether (9 tensors)", "experts-missing quantised", 0);
    END;
}

/* The second half of the experts, in every layer: what one of two ranks has. */
static void experts_of_one_rank(void **state)
{
    BEGIN_STORED(NVFP4);
    model_drop(&model, "*experts.[0-3].*");
    SAYS("differs: model.layers.{0-3}.mlp.experts.{0-3} are missing altogether (144 tensors)",
         "experts-missing quantised", 0);
    assert_string_equal(shapeproof_check_cause(model.check, 0)->hint,
                        "the file has the experts of one of 2 expert-parallel ranks: gather the ranks into one "
                        "checkpoint");
    model_drop(&model, "*.layers.2.*experts.5.*");
    model_check(&model);
    assert_string_equal(shapeproof_check_cause(model.check, 0)->hint,
                        "take a file that has them: the router has a row for each expert");
    END;
}

/* ---- promises ---- */

#define QWEN3(LAYERS, TYPES)                                                                                           \
    "{\"model_type\": \"qwen3\", \"architectures\": [\"Qwen3ForCausalLM\"], \"vocab_size\": 1024, \"hidden_size\": "   \
    "256, \"num_hidden_layers\": " #LAYERS ", \"num_attention_heads\": 4, \"num_key_value_heads\": 2, \"head_dim\": "  \
    "64, \"intermediate_size\": 512, \"tie_word_embeddings\": false, \"layer_types\": [" TYPES "]}"
#define FULL "\"full_attention\""

static void a_list_of_layers(void **state)
{
    BEGIN(QWEN3(3, FULL ", " FULL));
    SAYS("differs: layer_types in config.json has 2 entries for 3 layers", "layer-list", 0);
    END;
    model_open(&model, QWEN3(2, FULL ", " FULL));
    model_predict(&model, 0);
    model_check(&model);
    assert_int_equal(shapeproof_check_verdict(model.check), SHAPEPROOF_VERDICT_MATCH);
    END;
}

/* One of layers that are for multi-token prediction has another length. */
static void a_list_of_other_layers(void **state)
{
    BEGIN(QWEN3(2, FULL ", " FULL "], \"mtp_layer_types\": [" FULL));
    model_check(&model);
    assert_int_equal(shapeproof_check_verdict(model.check), SHAPEPROOF_VERDICT_MATCH);
    END;
}

/* The number is wrong, and the list is right. */
static void a_list_of_the_layers_there_are(void **state)
{
    BEGIN(QWEN3(2, FULL ", " FULL));
    model_set(&model, "num_hidden_layers=3");
    SAYS("differs: num_hidden_layers is 3 on the command line, the file has 2 (11 tensors)", "hyperparameter", 0);
    END;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_or_none),
        cmocka_unit_test(an_expert_without),
        cmocka_unit_test(an_expert_with),
        cmocka_unit_test(a_projection_without),
        cmocka_unit_test(a_cache_scale_without),
        cmocka_unit_test(an_order_without),
        cmocka_unit_test(of_what_is_gone),
        cmocka_unit_test(experts_of_one_rank),
        cmocka_unit_test(a_list_of_layers),
        cmocka_unit_test(a_list_of_other_layers),
        cmocka_unit_test(a_list_of_the_layers_there_are),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
