/* SPDX-License-Identifier: MIT
 * A file that is another model of the family: its class, or several values at once, are told when nothing stays open
 * with them, and only then. */
#define _XOPEN_SOURCE 700
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "explain/kinds.h"

#define BERT(class)                                                                                                    \
    "{\"model_type\": \"bert\", \"architectures\": [\"" class "\"], \"num_hidden_layers\": 1, \"vocab_size\": 100, "   \
                                                              "\"hidden_size\": 48, \"num_attention_heads\": 4, "      \
                                                              "\"intermediate_size\": 96}"

/* A file made with one configuration, less what is dropped, checked against another. */
static void check_made(const char *made, const char *dropped, const char *asked, const char *line, const char *ids,
                       size_t open)
{
    struct model model, other;
    model_open(&model, made);
    model_predict(&model, AS_STORED);
    if (dropped) model_drop(&model, dropped);
    model_write(&model, "model.safetensors");
    model_open(&other, asked);
    model_check_path(&other, scratch_path(&model.scratch, "model.safetensors"));
    assert_told(&other, line, ids, open);
    model_close(&other);
    model_close(&model);
}

static void another_class(void **state)
{
    (void)state;
    check_made(BERT("BertForMaskedLM"), NULL, BERT("BertForSequenceClassification"),
               "differs: the weights are of BertForMaskedLM, but config.json says BertForSequenceClassification",
               "another-model", 0);
}

#define DECODER(type, class, sizes)                                                                                    \
    "{\"model_type\": \"" type                                                                                         \
    "\", \"architectures\": [\"" class "\"], \"vocab_size\": 64, \"num_hidden_layers\": 2, "                           \
                                       "\"tie_word_embeddings\": false, " sizes "}"
#define SMALL "\"hidden_size\": 16, \"intermediate_size\": 24, \"num_attention_heads\": 4, \"num_key_value_heads\": 2"

/* The biases of q, k and v are what Qwen2 always has, and no flag of Llama's gives them without that of o. */
static void another_model_type(void **state)
{
    (void)state;
    check_made(DECODER("qwen2", "Qwen2ForCausalLM", SMALL), NULL, DECODER("llama", "LlamaForCausalLM", SMALL),
               "differs: the weights are of a qwen2 model, not of llama: the file has "
               "model.layers.{0,1}.self_attn.{q_proj,k_proj,v_proj}.bias",
               "another-model", 0);
}

/* Of tables that say the same of the file, the one whose name is like the configured one's. */
static void dense_in_place_of_experts(void **state)
{
    (void)state;
    check_made(DECODER("mistral", "MistralForCausalLM", SMALL), NULL,
               DECODER("mixtral", "MixtralForCausalLM", SMALL ", \"num_local_experts\": 4"),
               "differs: the weights are of a mistral model, not of mixtral: the file has "
               "model.layers.{0,1}.mlp.{gate_proj,up_proj,down_proj}.weight and lacks "
               "model.layers.{0,1}.block_sparse_moe.gate.weight, "
               "model.layers.{0,1}.block_sparse_moe.experts.{0-3}.{w1,w2,w3}.weight",
               "another-model", 0);
}

#define SIZES(heads, pairs, width)                                                                                     \
    "\"hidden_size\": 24, \"intermediate_size\": 40, \"num_attention_heads\": " #heads                                 \
    ", \"num_key_value_heads\": " #pairs ", \"head_dim\": " #width
#define LLAMA(class, sizes) DECODER("llama", class, sizes)

/* What the file leaves open and the configuration says right is no cause: the product of heads and width is told, and
 * inference would guess 6 heads of 4. What does not fit is one value, if one will do. */
static void another_class_of_unusual_heads(void **state)
{
    (void)state;
    check_made(LLAMA("LlamaForSequenceClassification", SIZES(4, 2, 6)), NULL, LLAMA("LlamaForCausalLM", SIZES(4, 2, 6)),
               "differs: the weights are of LlamaForSequenceClassification, but config.json says LlamaForCausalLM",
               "another-model", 0);
    check_made(LLAMA("LlamaForSequenceClassification", SIZES(8, 4, 6)), NULL, LLAMA("LlamaForCausalLM", SIZES(8, 4, 6)),
               "differs: the weights are of LlamaForSequenceClassification, but config.json says LlamaForCausalLM",
               "another-model", 0);
    check_made(LLAMA("LlamaForSequenceClassification", SIZES(4, 2, 6)), NULL, LLAMA("LlamaForCausalLM", SIZES(4, 2, 8)),
               "differs: the weights are of LlamaForSequenceClassification, but config.json says LlamaForCausalLM: "
               "head_dim is 8 in config.json, the file has 6 or another that fits",
               "another-model", 0);
}

#define SWIN(depths)                                                                                                   \
    "{\"model_type\": \"swin\", \"architectures\": [\"SwinForImageClassification\"], \"embed_dim\": 12, "              \
    "\"depths\": " depths ", \"num_heads\": [2, 3], \"window_size\": 4, \"patch_size\": 4, \"image_size\": 32, "       \
    "\"id2label\": {\"0\": \"a\", \"1\": \"b\", \"2\": \"c\"}, \"transformers_version\": \"5.24.0\"}"

/* The release says nothing of the weights, and id2label says how many labels there are. */
static void other_depths(void **state)
{
    (void)state;
    check_made(SWIN("[1, 2]"), NULL, SWIN("[2, 1]"),
               "differs: the weights are of another swin model: depths is [2, 1] in config.json, the file has [1, 2]",
               "another-model", 0);
}

/* Two letters in common are no likeness of names: seed_oss explains the file as llama does, and so do others. */
static void first_of_equal_models(void **state)
{
    (void)state;
    check_made(DECODER("llama", "LlamaForCausalLM", SMALL), NULL, "{\"model_type\": \"seamless_m4t_v2\"}",
               "differs: the weights are of a llama model, not of seamless_m4t_v2: the file has "
               "model.layers.{0,1}.input_layernorm.weight, model.layers.{0,1}.self_attn.o_proj.weight, "
               "model.layers.{0,1}.post_attention_layernorm.weight and 7 more and lacks "
               "speech_encoder.feature_projection.layer_norm.{weight,bias}, "
               "speech_encoder.feature_projection.projection.{weight,bias}, "
               "speech_encoder.encoder.layer_norm.{weight,bias} and 2219 more and has another shape of "
               "model.embed_tokens.weight, model.layers.{0,1}.self_attn.{k_proj,v_proj,q_proj}.weight, lm_head.weight",
               "another-model", 0);
}

/* 4 heads of 32 or 8 of 16: the products are all that the file tells, of layers that are too many as well. */
static void heads_or_their_width(void **state)
{
    (void)state;
    struct model model;
    bool told = false;
    model_open(&model, DECODER("llama", "LlamaForCausalLM",
                               "\"num_attention_heads\": 4, \"num_key_value_heads\": 4, \"head_dim\": 32, "
                               "\"hidden_size\": 64, \"intermediate_size\": 24"));
    model_predict(&model, AS_STORED);
    model_set(&model, "head_dim=16");
    model_set(&model, "num_key_value_heads=1");
    model_set(&model, "num_hidden_layers=1");
    assert_string_equal(model_check(&model),
                        "differs: num_hidden_layers is 1 on the command line, the file has 2 (5 tensors); "
                        "and 2 other causes");
    for (size_t i = 0; i < shapeproof_check_cause_count(model.check); i++)
        told = told || strcmp(shapeproof_check_cause(model.check, i)->message,
                              "head_dim is 16 on the command line, the file has 32 (4 tensors); 4 heads of 32 are "
                              "usual, 8 of 16 and 1 of 128 fit as well") == 0;
    assert_true(told);
    model_close(&model);
}

#define QUANTISED(type, class, hidden)                                                                                 \
    "{\"model_type\": \"" type                                                                                         \
    "\", \"architectures\": [\"" class "\"], \"vocab_size\": 500, \"num_hidden_layers\": 4, \"tie_word_embeddings\": " \
                                       "false, \"hidden_size\": " hidden                                               \
                                       ", \"intermediate_size\": 1408, \"num_attention_heads\": 4, "                   \
                                       "\"num_key_value_heads\": 2, "                                                  \
                                       "\"quantization_config\": {\"quant_method\": \"gptq\", \"bits\": 4, "           \
                                       "\"group_size\": 128}}"

/* How it is quantised stays as it is configured. */
static void quantised_of_another_family(void **state)
{
    (void)state;
    check_made(
        QUANTISED("llama", "LlamaForCausalLM", "512"), NULL, QUANTISED("qwen3", "Qwen3ForCausalLM", "1024"),
        "differs: the weights are of a llama model, not of qwen3: the file lacks "
        "model.layers.{0-3}.self_attn.{q_norm,k_norm}.weight and has another shape of model.embed_tokens.weight, "
        "model.layers.{0-3}.input_layernorm.weight, "
        "model.layers.{0-3}.self_attn.q_proj.{qweight,qzeros,scales} and 78 more",
        "another-model quantised", 0);
}

/* Gemma begins with the letter of GPT-2, which is no reason to name it. */
static void a_letter_is_no_likeness(void **state)
{
    (void)state;
    check_made(
        DECODER("llama", "LlamaForCausalLM", SMALL), NULL,
        "{\"model_type\": \"gpt2\", \"architectures\": [\"GPT2LMHeadModel\"], \"n_embd\": 8, \"n_head\": 2}",
        "differs: the weights are of a llama model, not of gpt2: the file has model.embed_tokens.weight, "
        "model.layers.{0,1}.input_layernorm.weight, model.layers.{0,1}.self_attn.{q_proj,k_proj,v_proj,o_proj}.weight "
        "and 9 more and lacks transformer.wpe.weight, transformer.h.{0-11}.ln_{1,2}.{weight,bias}, "
        "transformer.h.{0-11}.attn.c_attn.{weight,bias} and 74 more and has another shape of lm_head.weight",
        "another-model", 0);
}

static void unrelated_model(void **state)
{
    (void)state;
    check_made(DECODER("mistral", "MistralForCausalLM", SMALL), NULL, BERT("BertModel"),
               "differs: no tensor of the file is predicted by the table bert: it is another model, llama, with "
               "model.embed_tokens.weight",
               "another-model", 0);
}

/* Another table and other sizes at once. */
static void another_family_and_size(void **state)
{
    (void)state;
    check_made(DECODER("qwen3", "Qwen3ForCausalLM",
                       "\"hidden_size\": 24, \"intermediate_size\": 40, \"num_attention_heads\": 4, "
                       "\"num_key_value_heads\": 2, \"head_dim\": 8"),
               NULL,
               DECODER("qwen2", "Qwen2ForCausalLM",
                       "\"hidden_size\": 16, \"intermediate_size\": 24, \"num_attention_heads\": 4, "
                       "\"num_key_value_heads\": 2"),
               "differs: the weights are of a qwen3 model, not of qwen2: the file has "
               "model.layers.{0,1}.self_attn.{q_norm,k_norm}.weight and lacks "
               "model.layers.{0,1}.self_attn.{q_proj,k_proj,v_proj}.bias and has another shape of "
               "model.embed_tokens.weight, model.layers.{0,1}.input_layernorm.weight, "
               "model.layers.{0,1}.self_attn.{q_proj,k_proj,v_proj,o_proj}.weight and 10 more",
               "another-model", 0);
}

/* One layer more of a kind that is not its iteration is a layer too many, not another model. */
static void one_layer_more(void **state)
{
    (void)state;
    check_made(DECODER("mixtral", "MixtralForCausalLM", SMALL ", \"num_local_experts\": 2"), NULL,
               DECODER("mixtral", "MixtralForCausalLM", SMALL ", \"num_local_experts\": 2, \"num_hidden_layers\": 1"),
               "differs: num_hidden_layers is 1 in config.json, the file has 2 (13 tensors)", "hyperparameter", 0);
}

/* Neither class explains what lacks a part of a layer: no class is claimed. */
static void another_class_with_a_loss(void **state)
{
    (void)state;
    check_made(BERT("BertForMaskedLM"), "bert.encoder.layer.0.output.dense.weight",
               BERT("BertForSequenceClassification"),
               "differs: 5 tensors are missing: bert.encoder.layer.0.output.dense.weight, "
               "bert.pooler.dense.{weight,bias}, classifier.{weight,bias}; 5 are unexpected",
               "", 10);
}

#define PAIRED(type, class)                                                                                            \
    "{\"model_type\": \"" type                                                                                         \
    "\", \"architectures\": [\"" class "\"], \"vocab_size\": 100, \"hidden_size\": 48, "                               \
                                       "\"num_hidden_layers\": 2, \"num_attention_heads\": 4, "                        \
                                       "\"num_key_value_heads\": 4, \"intermediate_size\": 96, "                       \
                                       "\"tie_word_embeddings\": false}"

/* Models that differ in the biases of their norms alone. */
static void norms_of_another_type(void **state)
{
    (void)state;
    check_made(PAIRED("stablelm", "StableLmForCausalLM"), NULL, PAIRED("llama", "LlamaForCausalLM"),
               "differs: the weights are of a stablelm model, not of llama: the file has "
               "model.layers.{0,1}.{input_layernorm,post_attention_layernorm}.bias, model.norm.bias",
               "another-model", 0);
    check_made(PAIRED("llama", "LlamaForCausalLM"), NULL, PAIRED("stablelm", "StableLmForCausalLM"),
               "differs: the file lacks biases that stablelm always has: "
               "model.layers.{0,1}.{input_layernorm,post_attention_layernorm}.bias, model.norm.bias (5 tensors)",
               "bias", 0);
}

/* A class that no table knows, of a model_type that one does: what the file has of a known class, and what besides. */
static void class_of_ones_own(void **state)
{
    static const struct {
        const char *added, *dropped, *says;
    } cases[] = {
        {"reward.weight", NULL,
         "the file has all 23 tensors of BertModel, and besides 'reward.weight (1, 48)', a head with one output as "
         "a reward model has; --set 'architectures=[\"BertModel\"]' checks it as this class"},
        {NULL, NULL,
         "the file has all 23 tensors of BertModel; --set 'architectures=[\"BertModel\"]' checks it as this class"},
        {"reward.weight", "*.output.dense.weight", NULL},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct model model, other;
        model_open(&model, BERT("BertModel"));
        model_predict(&model, AS_STORED);
        if (cases[i].added) model_add_shape(&model, cases[i].added, SHAPE(1, 48));
        if (cases[i].dropped) model_drop(&model, cases[i].dropped);
        struct shapeproof_inventory *inventory = model_in_memory(&model);
        model_open(&other, BERT("BertForRewards"));
        char *says = shapeproof_unknown_class_describe(inventory, other.tables, other.config);
        if (cases[i].says) assert_string_equal(says, cases[i].says);
        else assert_null(says);
        shapeproof_free(says);
        shapeproof_inventory_close(inventory);
        model_close(&other);
        model_close(&model);
    }
}

#define MIXTURE(type, dense)                                                                                           \
    "{\"model_type\": \"" type                                                                                         \
    "\", \"vocab_size\": 64, \"num_hidden_layers\": 3, \"hidden_size\": 16, \"intermediate_size\": 24, "               \
    "\"num_attention_heads\": 4, \"num_key_value_heads\": 2, \"head_dim\": 8, \"num_experts\": 3, "                    \
    "\"moe_intermediate_size\": 12, \"shared_expert_intermediate_size\": 20, \"mlp_only_layers\": [" dense "]}"

/* Layers with a dense feed-forward: another one is listed than the file has, or none. */
static void another_dense_layer(void **state)
{
    (void)state;
    check_made(MIXTURE("qwen3_moe", "1"), NULL, MIXTURE("qwen3_moe", "0"),
               "differs: the weights are of another qwen3_moe model: mlp_only_layers is [0] in config.json, the file "
               "has [1] or another that fits",
               "another-model", 0);
    check_made(MIXTURE("qwen2_moe", "1"), NULL, MIXTURE("qwen2_moe", "0"),
               "differs: the weights are of another qwen2_moe model: mlp_only_layers is [0] in config.json, the file "
               "has [1] or another that fits",
               "another-model", 0);
    check_made(MIXTURE("qwen2_moe", "1"), NULL, MIXTURE("qwen2_moe", ""),
               "differs: the weights are of another qwen2_moe model: mlp_only_layers is [] in config.json, the file "
               "has [1] or another that fits",
               "another-model", 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(another_class),
        cmocka_unit_test(another_model_type),
        cmocka_unit_test(another_class_of_unusual_heads),
        cmocka_unit_test(other_depths),
        cmocka_unit_test(dense_in_place_of_experts),
        cmocka_unit_test(first_of_equal_models),
        cmocka_unit_test(heads_or_their_width),
        cmocka_unit_test(quantised_of_another_family),
        cmocka_unit_test(a_letter_is_no_likeness),
        cmocka_unit_test(unrelated_model),
        cmocka_unit_test(another_family_and_size),
        cmocka_unit_test(one_layer_more),
        cmocka_unit_test(another_class_with_a_loss),
        cmocka_unit_test(norms_of_another_type),
        cmocka_unit_test(class_of_ones_own),
        cmocka_unit_test(another_dense_layer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
