/* SPDX-License-Identifier: MIT
 * Discrepancies of tied and shared tensors as people met them: real configurations, real names. Next to most of them a
 * file that looks alike and must not be given the same cause. */
#define _XOPEN_SOURCE 700
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "explain/told.h"

#define LLAMA_3B                                                                                                       \
    "\"architectures\": [\"LlamaForCausalLM\"], \"attention_bias\": false, \"head_dim\": 128, \"hidden_size\": 3072, " \
    "\"intermediate_size\": 8192, \"mlp_bias\": false, \"model_type\": \"llama\", \"num_attention_heads\": 24, "       \
    "\"num_hidden_layers\": 28, \"num_key_value_heads\": 8, \"vocab_size\": 128256"
static const char llama_3b[] = "{" LLAMA_3B ", \"tie_word_embeddings\": true}";
static const char llama_3b_untied[] = "{" LLAMA_3B ", \"tie_word_embeddings\": false}";
static const char qwen3[] =
    "{\"architectures\": [\"Qwen3ForCausalLM\"], \"attention_bias\": false, \"head_dim\": 128, \"hidden_size\": 1024, "
    "\"intermediate_size\": 3072, \"model_type\": \"qwen3\", \"num_attention_heads\": 16, \"num_hidden_layers\": 28, "
    "\"num_key_value_heads\": 8, \"tie_word_embeddings\": true, \"vocab_size\": 151936}";
static const char gemma2[] =
    "{\"architectures\": [\"Gemma2ForCausalLM\"], \"attention_bias\": false, \"head_dim\": 256, \"hidden_size\": 2304, "
    "\"intermediate_size\": 9216, \"model_type\": \"gemma2\", \"num_attention_heads\": 8, \"num_hidden_layers\": 26, "
    "\"num_key_value_heads\": 4, \"vocab_size\": 256000}";
static const char ministral[] =
    "{\"architectures\": [\"Mistral3ForConditionalGeneration\"], \"model_type\": \"mistral3\", "
    "\"multimodal_projector_bias\": false, \"spatial_merge_size\": 2, \"text_config\": {\"model_type\": "
    "\"ministral3\", "
    "\"head_dim\": 128, \"hidden_size\": 3072, \"intermediate_size\": 9216, \"num_attention_heads\": 32, "
    "\"num_hidden_layers\": 26, \"num_key_value_heads\": 8, \"tie_word_embeddings\": true, \"vocab_size\": 131072}, "
    "\"vision_config\": {\"hidden_size\": 1024, \"intermediate_size\": 4096, \"model_type\": \"pixtral\", "
    "\"num_hidden_layers\": 24, \"patch_size\": 14}}";
static const char madlad[] =
    "{\"architectures\": [\"T5ForConditionalGeneration\"], \"d_ff\": 8192, \"d_kv\": 128, \"d_model\": 1024, "
    "\"feed_forward_proj\": \"gated-gelu\", \"is_gated_act\": true, \"model_type\": \"t5\", \"num_decoder_layers\": "
    "32, "
    "\"num_heads\": 16, \"num_layers\": 32, \"tie_word_embeddings\": false, \"vocab_size\": 256000}";
static const char bart[] =
    "{\"architectures\": [\"BartModel\"], \"d_model\": 768, \"decoder_attention_heads\": 12, \"decoder_ffn_dim\": "
    "3072, "
    "\"decoder_layers\": 6, \"encoder_attention_heads\": 12, \"encoder_ffn_dim\": 3072, \"encoder_layers\": 6, "
    "\"max_position_embeddings\": 1024, \"model_type\": \"bart\", \"vocab_size\": 50265}";
static const char bert[] =
    "{\"architectures\": [\"BertForMaskedLM\"], \"hidden_size\": 768, \"intermediate_size\": 3072, "
    "\"max_position_embeddings\": 512, \"model_type\": \"bert\", \"num_attention_heads\": 12, \"num_hidden_layers\": "
    "12, "
    "\"type_vocab_size\": 2, \"vocab_size\": 30522}";
static const char opt[] = "{\"architectures\": [\"OPTForCausalLM\"], \"ffn_dim\": 8192, \"hidden_size\": 2048, "
                          "\"max_position_embeddings\": 2048, \"model_type\": \"opt\", \"num_attention_heads\": 32, "
                          "\"num_hidden_layers\": 24, "
                          "\"vocab_size\": 50272, \"word_embed_proj_dim\": 2048}";
static const char cpmant[] =
    "{\"architectures\": [\"CpmAntForCausalLM\"], \"dim_ff\": 10240, \"dim_head\": 128, \"hidden_size\": 4096, "
    "\"model_type\": \"cpmant\", \"num_attention_heads\": 32, \"num_hidden_layers\": 48, "
    "\"position_bias_num_buckets\": 512, \"prompt_length\": 32, \"prompt_types\": 32, \"segment_types\": 32, "
    "\"vocab_size\": 30720}";

#define BEGIN(config, also)                                                                                            \
    struct model model;                                                                                                \
    (void)state;                                                                                                       \
    model_open(&model, config);                                                                                        \
    model_predict(&model, also)

static void expect(const struct model *model, const char *line, const char *causes, size_t open)
{
    assert_told(model, line, causes, open);
}

#define EXPECT(wanted, causes) (model_check(&model), expect(&model, wanted, causes, 0))
#define EXPECT_MEMORY(wanted, causes) (model_check_memory(&model), expect(&model, wanted, causes, 0))

/* ---- the head is absent because it is tied ---- */

/* Loaders printed it as missing for years; nothing is. */
static void head_absent_and_tied(void **state)
{
    BEGIN(llama_3b, 0);
    EXPECT("match: all 254 tensors, 3,212,749,824 elements", "");
    assert_string_equal(shapeproof_check_finding(model.check, 0)->message,
                        "is not stored: it is the same as model.embed_tokens.weight (tie_word_embeddings is true in "
                        "config.json)");
    model_close(&model);
}

static void head_absent_and_not_tied(void **state)
{
    BEGIN(llama_3b_untied, 0);
    model_drop(&model, "lm_head.weight");
    EXPECT("differs: tie_word_embeddings is false in config.json, but the file lacks lm_head.weight: it is tied to "
           "model.embed_tokens.weight, or lost",
           "hyperparameter");
    assert_string_equal(
        shapeproof_check_cause(model.check, 0)->hint,
        "write into config.json: {\"tie_word_embeddings\": true}; --set tie_word_embeddings=true tries it");
    model_close(&model);
}

/* No tie explains a head that is absent together with something else. */
static void head_and_norm_absent(void **state)
{
    BEGIN(llama_3b_untied, 0);
    model_drop(&model, "lm_head.weight");
    model_drop(&model, "model.norm.weight");
    model_check(&model);
    expect(&model,
           "differs: tie_word_embeddings is false in config.json, but the file lacks lm_head.weight: it is tied to "
           "model.embed_tokens.weight, or lost; 1 finding without a known cause",
           "hyperparameter", 1);
    model_close(&model);
}

/* What is there under another name is not tied, and not a copy. */
static void head_renamed(void **state)
{
    BEGIN(llama_3b_untied, 0);
    model_rename(&model, "lm_head.weight", "lm_head", "head");
    EXPECT("differs: renamed: lm_head.weight is called head.weight in the file", "renamed");
    model_close(&model);
}

static void embedding_renamed(void **state)
{
    BEGIN(llama_3b_untied, 0);
    model_rename(&model, "model.embed_tokens.weight", "embed_tokens", "embed_words");
    EXPECT("differs: renamed: model.embed_tokens.weight is called model.embed_words.weight in the file", "renamed");
    model_rename(&model, "model.*", "model", "decoder");
    model_rename(&model, "*.embed_words.*", "embed_words", "embed_tokens");
    EXPECT("differs: renamed: 'model' is called 'decoder' (254 tensors) in the file", "renamed");
    model_close(&model);
}

/* ---- two names, one flag, two values ---- */

/* The loader overwrites the trained head with the embedding. */
static void both_stored_and_different(void **state)
{
    BEGIN(llama_3b, WITH_TIED);
    EXPECT(
        "explained: lm_head.weight is stored although it is tied to model.embed_tokens.weight (tie_word_embeddings is "
        "true in config.json); nothing else differs",
        "tied-copy");
    assert_string_equal(shapeproof_check_cause(model.check, 0)->hint, "--data tells whether the two are equal");
    model_fill(&model, "lm_head.weight", 0x3f);
    model.options.data = true;
    EXPECT("differs: lm_head.weight differs from model.embed_tokens.weight from element 0 on although the two are "
           "tied (tie_word_embeddings is true in config.json): transformers 5 keeps both, transformers 4 does not",
           "tied-apart");
    assert_string_equal(shapeproof_check_cause(model.check, 0)->hint, "set tie_word_embeddings to false to keep both");
    model_close(&model);
}

static void both_stored_and_meant_to_differ(void **state)
{
    BEGIN(llama_3b_untied, 0);
    model_fill(&model, "lm_head.weight", 0x3f);
    model.options.data = true;
    EXPECT("match: all 255 tensors, 3,606,752,256 elements", "");
    model_close(&model);
}

/* ---- the flag is in the text_config alone ---- */

/* A loader that looks for it at the top alone makes up a head. */
static void nested_flag(void **state)
{
    BEGIN(ministral, 0);
    const char *line = model_check(&model);
    assert_non_null(strstr(line, "match: all "));
    expect(&model, line, "", 0);
    assert_int_equal(shapeproof_check_finding_count(model.check), 1);
    assert_string_equal(shapeproof_check_finding(model.check, 0)->name, "language_model.lm_head.weight");
    assert_string_equal(shapeproof_check_finding(model.check, 0)->message,
                        "is not stored: it is the same as language_model.model.embed_tokens.weight "
                        "(text_config.tie_word_embeddings is true in config.json)");
    model_set(&model, "text_config.tie_word_embeddings=false");
    model_set(&model, "tie_word_embeddings=true");
    EXPECT("differs: text_config.tie_word_embeddings is false on the command line, but the file lacks "
           "language_model.lm_head.weight: it is tied, as tie_word_embeddings says",
           "hyperparameter");
    model_close(&model);
}

/* ---- the key is absent, and the class decides ---- */

static void class_default_ties(void **state)
{
    BEGIN(gemma2, 0);
    EXPECT("match: all 288 tensors, 2,614,341,888 elements", "");
    assert_string_equal(shapeproof_check_finding(model.check, 0)->message,
                        "is not stored: it is the same as model.embed_tokens.weight (tie_word_embeddings is true by "
                        "default)");
    model_set(&model, "tie_word_embeddings=false");
    EXPECT("differs: tie_word_embeddings is false on the command line, but the file lacks lm_head.weight: it is "
           "tied to model.embed_tokens.weight, or lost",
           "hyperparameter");
    model_close(&model);
}

/* A copy that is not needed, and does no harm. */
static void redundant_copy(void **state)
{
    BEGIN(qwen3, WITH_TIED);
    EXPECT(
        "explained: lm_head.weight is stored although it is tied to model.embed_tokens.weight (tie_word_embeddings is "
        "true in config.json); nothing else differs",
        "tied-copy");
    model_set(&model, "hidden_size=128");
    model_predict(&model, WITH_TIED);
    model.options.data = true;
    const char *line = model_check(&model);
    assert_memory_equal(line, "match: ", 7);
    expect(&model, line, "tied-copy", 0);
    assert_string_equal(shapeproof_check_cause(model.check, 0)->message,
                        "lm_head.weight is stored once more, byte for byte the same as model.embed_tokens.weight "
                        "(tie_word_embeddings is true in config.json)");
    model_close(&model);
}

/* ---- an encoder and a decoder ---- */

/* Of the encoder's embedding neither name is there: loaders have given it the head. */
static void encoder_without_an_embedding(void **state)
{
    BEGIN(madlad, WITH_TIED);
    model_drop(&model, "shared.weight");
    model_drop(&model, "encoder.embed_tokens.weight");
    EXPECT("explained: shared.weight is not stored: loaders may use decoder.embed_tokens.weight or lm_head.weight "
           "in its place (tie_word_embeddings is false in config.json); nothing else differs",
           "tied-stand-in");
    assert_string_equal(shapeproof_check_cause(model.check, 0)->hint, "store shared.weight as well");
    model_close(&model);
}

/* With the shared one, or without a head of its own, there is nothing to confuse. */
static void encoder_with_an_embedding(void **state)
{
    BEGIN(madlad, 0);
    const char *line = model_check(&model);
    assert_memory_equal(line, "match: ", 7);
    expect(&model, line, "", 0);
    model_predict(&model, WITH_TIED);
    model_drop(&model, "shared.weight");
    model_drop(&model, "encoder.embed_tokens.weight");
    model_drop(&model, "lm_head.weight");
    model_set(&model, "tie_word_embeddings=true");
    line = model_check(&model);
    assert_memory_equal(line, "match: ", 7);
    expect(&model, line, "", 0);
    model_close(&model);
}

/* The head's values are those of the decoder's embedding: whichever is taken, it is the right one. */
static void stand_ins_that_are_equal(void **state)
{
    BEGIN(madlad, 0);
    model_set(&model, "vocab_size=64");
    model_predict(&model, WITH_TIED);
    model_drop(&model, "shared.weight");
    model_drop(&model, "encoder.embed_tokens.weight");
    model.options.data = true;
    const char *line = model_check(&model);
    assert_memory_equal(line, "match: ", 7);
    expect(&model, line, "", 0);
    model_fill(&model, "lm_head.weight", 1);
    model_check(&model);
    expect(&model,
           "explained: shared.weight is not stored: loaders may use decoder.embed_tokens.weight or lm_head.weight "
           "in its place (tie_word_embeddings is false in config.json); nothing else differs",
           "tied-stand-in", 0);
    model_close(&model);
}

static void three_names_stored(void **state)
{
    BEGIN(bart, WITH_TIED);
    const char *line = model_check(&model);
    expect(&model,
           "explained: {encoder,decoder}.embed_tokens.weight are stored although they are tied to shared.weight "
           "(tie_word_embeddings is true by default); nothing else differs",
           "tied-copy", 0);
    model_share(&model, "*shared.weight", "0");
    model_share(&model, "*embed_tokens.weight", "0");
    line = model_check_memory(&model);
    assert_memory_equal(line, "match: ", 7);
    expect(&model, line, "tied", 0);
    model_close(&model);
}

/* The configuration does not say that encoder and decoder have vocabularies of their own. */
static void two_vocabularies(void **state)
{
    BEGIN("{\"architectures\": [\"MarianMTModel\"], \"d_model\": 64, \"decoder_attention_heads\": 8, "
          "\"decoder_ffn_dim\": 128, \"decoder_layers\": 6, \"encoder_attention_heads\": 8, \"encoder_ffn_dim\": 128, "
          "\"encoder_layers\": 6, \"max_position_embeddings\": 512, \"model_type\": \"marian\", "
          "\"static_position_embeddings\": true, \"tie_word_embeddings\": false, "
          "\"transformers_version\": \"4.30.0\", \"vocab_size\": 100}",
          WITH_TIED);
    model_drop(&model, "model.shared.weight");
    model_fill(&model, "model.decoder.embed_tokens.weight", 1);
    model_fill(&model, "lm_head.weight", 1);
    model.options.data = true;
    EXPECT("differs: model.decoder.embed_tokens.weight differs from model.encoder.embed_tokens.weight from element 0 "
           "on although the two are tied (share_encoder_decoder_embeddings is true by default, tie_word_embeddings is "
           "false in config.json): transformers 5 keeps both, transformers 4 does not",
           "tied-apart tied-stand-in");
    assert_string_equal(shapeproof_check_cause(model.check, 0)->hint,
                        "set share_encoder_decoder_embeddings to false to keep both");
    model_close(&model);
}

/* ---- a head that is the first rows of the embedding ---- */

static void first_rows(void **state)
{
    BEGIN(cpmant, 0);
    EXPECT("match: all 436 tensors, 9,391,624,192 elements", "");
    assert_string_equal(shapeproof_check_finding(model.check, 0)->message,
                        "is not stored: it is the same as the first rows of cpmant.input_embedding.weight "
                        "(tie_word_embeddings is true by default)");
    model_predict(&model, WITH_TIED);
    EXPECT("explained: lm_head.weight is stored although it is tied to the first rows of cpmant.input_embedding.weight "
           "(tie_word_embeddings is true by default); nothing else differs",
           "tied-copy");
    model_fill(&model, "lm_head.weight", 1);
    model.options.data = true;
    EXPECT("differs: lm_head.weight differs from the first rows of cpmant.input_embedding.weight from element 0 on "
           "although the two are tied (tie_word_embeddings is true by default): transformers 5 keeps both, "
           "transformers 4 does not",
           "tied-apart");
    model_close(&model);
}

/* Of few words, so that all of it is read: the rows behind the vocabulary are no matter. */
static void first_rows_that_are_equal(void **state)
{
    BEGIN(cpmant, 0);
    model_set(&model, "hidden_size=8");
    model_set(&model, "num_hidden_layers=1");
    model_set(&model, "vocab_size=64");
    model_predict(&model, WITH_TIED);
    model_fill(&model, "lm_head.weight", 9); /* 2,048 bytes */
    model_fill(&model, "cpmant.input_embedding.weight", 9);
    model.options.data = true;
    const char *line = model_check(&model);
    assert_memory_equal(line, "match: ", 7);
    expect(&model, line, "tied-copy", 0);
    assert_string_equal(shapeproof_check_cause(model.check, 0)->message,
                        "lm_head.weight is stored once more, byte for byte the same as the first rows of "
                        "cpmant.input_embedding.weight (tie_word_embeddings is true by default)");
    model_share(&model, "lm_head.weight", "0");
    model_share(&model, "cpmant.input_embedding.weight", "0");
    model.options.data = false;
    line = model_check_memory(&model);
    expect(&model, line, "tied", 0);
    assert_string_equal(shapeproof_check_cause(model.check, 0)->message,
                        "lm_head.weight shares the storage of the first rows of cpmant.input_embedding.weight, as it "
                        "should (tie_word_embeddings is true by default)");
    model_part(&model, "lm_head.weight")->offset = 8; /* the second row on */
    model_check_memory(&model);
    expect(&model,
           "explained: lm_head.weight is stored although it is tied to the first rows of cpmant.input_embedding.weight "
           "(tie_word_embeddings is true by default); nothing else differs",
           "tied-copy", 0);
    model_close(&model);
}

/* ---- a head that was lost ---- */

/* It was trained by itself and the flag kept it from being saved: the file alone cannot tell; it names the rule. */
static void head_dropped_when_saved(void **state)
{
    BEGIN(opt, 0);
    const char *line = model_check(&model);
    assert_memory_equal(line, "match: ", 7);
    expect(&model, line, "", 0);
    assert_string_equal(shapeproof_check_finding(model.check, 0)->message,
                        "is not stored: it is the same as model.decoder.embed_tokens.weight (tie_word_embeddings is "
                        "true by default)");
    model_set(&model, "tie_word_embeddings=false"); /* as it was trained */
    EXPECT("differs: tie_word_embeddings is false on the command line, but the file lacks lm_head.weight: it is "
           "tied to model.decoder.embed_tokens.weight, or lost",
           "hyperparameter");
    model_close(&model);
}

/* ---- names that share memory ---- */

static void pairs_of_bert(void **state)
{
    BEGIN(bert, WITH_TIED);
    model_share(&model, "cls.predictions.decoder.weight", "0");
    model_share(&model, "bert.embeddings.word_embeddings.weight", "0");
    model_share(&model, "cls.predictions.bias", "1");
    model_share(&model, "cls.predictions.decoder.bias", "1");
    EXPECT_MEMORY("match: all 204 tensors, 109,514,298 elements", "tied tied");
    assert_string_equal(shapeproof_check_cause(model.check, 0)->message,
                        "cls.predictions.decoder.weight shares the storage of bert.embeddings.word_embeddings.weight, "
                        "as it should (tie_word_embeddings is true by default)");
    assert_string_equal(shapeproof_check_cause(model.check, 1)->message,
                        "cls.predictions.decoder.bias shares the storage of cls.predictions.bias, as it should "
                        "(tie_word_embeddings is true by default)");
    model_set(&model, "tie_word_embeddings=false");
    EXPECT_MEMORY("explained: cls.predictions.decoder.{weight,bias} share their storage with others although nothing "
                  "ties them; nothing else differs",
                  "shared");
    model_set(&model, "transformers_version=\"4.57.6\""); /* which ties the biases whatever the flag says */
    EXPECT_MEMORY("explained: cls.predictions.decoder.weight shares the storage of "
                  "bert.embeddings.word_embeddings.weight although tie_word_embeddings is false on the command line; "
                  "nothing else differs",
                  "shared tied");
    assert_string_equal(shapeproof_check_cause(model.check, 1)->message,
                        "cls.predictions.decoder.bias shares the storage of cls.predictions.bias, as it should "
                        "(transformers 4 ties them whatever tie_word_embeddings says)");
    model_close(&model);
}

/* All parameters are views of one flat buffer, side by side: none is another one. */
static void one_flat_buffer(void **state)
{
    BEGIN(qwen3, 0);
    uint64_t offset = 0;
    for (size_t i = 0; i < model.count; i++) {
        model.parts[i].storage = "0";
        model.parts[i].offset = offset;
        offset += bytes_of(&model.parts[i]) / 4;
    }
    EXPECT_MEMORY("match: all 310 tensors, 596,049,920 elements", "");
    model_close(&model);
}

/* Two parameters whose ranges cross, and one that begins within another and ends with it. */
static void overlaps(void **state)
{
    BEGIN(qwen3, 0);
    model_share(&model, "model.layers.0.mlp.gate_proj.weight", "0");
    model_share(&model, "model.layers.0.mlp.up_proj.weight", "0");
    model_part(&model, "model.layers.0.mlp.up_proj.weight")->offset = UINT64_C(3072) * 1024;
    EXPECT_MEMORY("match: all 310 tensors, 596,049,920 elements", "");
    model_part(&model, "model.layers.0.mlp.up_proj.weight")->offset--;
    EXPECT_MEMORY("explained: model.layers.0.mlp.gate_proj.weight and model.layers.0.mlp.up_proj.weight have a part of "
                  "one storage in common; nothing else differs",
                  "overlap");
    model_share(&model, "model.layers.0.input_layernorm.weight", "0");
    model_part(&model, "model.layers.0.input_layernorm.weight")->offset = 5;
    EXPECT_MEMORY("explained: model.layers.0.input_layernorm.weight, model.layers.0.mlp.up_proj.weight have a part of "
                  "their storage in common with others; nothing else differs",
                  "overlap");
    model_close(&model);
}

/* ---- elements at one place, sparse tensors ---- */

static void odd_storages(void **state)
{
    BEGIN(qwen3, 0);
    model_part(&model, "model.norm.weight")->flags = SHAPEPROOF_TENSOR_EXPANDED;
    struct shapeproof_inventory *inventory = model_in_memory(&model);
    inventory->tensors[shapeproof_inventory_find(inventory, "model.norm.weight")].bytes /= 2;
    model_judge(&model, inventory);
    expect(&model, "explained: model.norm.weight has 1024 elements at 512 places of its storage; nothing else differs",
           "expanded", 0);
    model_part(&model, "model.norm.weight")->flags = SHAPEPROOF_TENSOR_SPARSE;
    EXPECT_MEMORY("differs: model.norm.weight is a sparse tensor, and modules take only dense tensors", "sparse");
    model_part(&model, "model.layers.0.input_layernorm.weight")->flags = SHAPEPROOF_TENSOR_SPARSE;
    EXPECT_MEMORY("differs: model.layers.0.input_layernorm.weight, model.norm.weight are sparse tensors, and modules "
                  "take only dense tensors",
                  "sparse");
    model_close(&model);
}

/* ---- what the metadata of the file says ---- */

static void dropped_by_the_writer(void **state)
{
    BEGIN(llama_3b_untied, 0);
    model_drop(&model, "lm_head.weight");
    model.metadata = "\"format\":\"pt\",\"lm_head.weight\":\"model.embed_tokens.weight\"";
    EXPECT(
        "differs: tie_word_embeddings is false in config.json, but the file lacks lm_head.weight: the file's metadata "
        "says that it is model.embed_tokens.weight",
        "hyperparameter");
    model.metadata = "\"lm_head.weight\":\"no.such.tensor\"";
    EXPECT("differs: tie_word_embeddings is false in config.json, but the file lacks lm_head.weight: it is tied to "
           "model.embed_tokens.weight, or lost",
           "hyperparameter");
    model_close(&model);
}

/* Layers that are one, which no table knows of. */
static void shared_layers(void **state)
{
    BEGIN(qwen3, 0);
    model_drop(&model, "model.layers.3.mlp.*_proj.weight");
    model.metadata = "\"model.layers.3.mlp.up_proj.weight\":\"model.layers.2.mlp.up_proj.weight\","
                     "\"model.layers.3.mlp.gate_proj.weight\":\"model.layers.2.mlp.gate_proj.weight\","
                     "\"model.layers.3.mlp.down_proj.weight\":\"model.layers.2.mlp.down_proj.weight\"";
    EXPECT("explained: model.layers.3.mlp.{gate_proj,up_proj,down_proj}.weight are not stored: the file's metadata "
           "says to which tensors they are tied; nothing else differs",
           "alias");
    /* One of them would be of another shape: that one is missing. */
    model.metadata = "\"model.layers.3.mlp.up_proj.weight\":\"model.layers.2.mlp.up_proj.weight\","
                     "\"model.layers.3.mlp.gate_proj.weight\":\"model.layers.2.mlp.gate_proj.weight\","
                     "\"model.layers.3.mlp.down_proj.weight\":\"model.layers.2.mlp.up_proj.weight\"";
    model_check(&model);
    expect(&model, "differs: model.layers.3.mlp.down_proj.weight is missing", "alias", 1);
    model_close(&model);
}

static void metadata_against_the_table(void **state)
{
    BEGIN(llama_3b, 0);
    model.metadata = "\"lm_head.weight\":\"model.layers.0.mlp.up_proj.weight\"";
    EXPECT("explained: lm_head.weight is model.layers.0.mlp.up_proj.weight according to the file's metadata, but "
           "tied to model.embed_tokens.weight (tie_word_embeddings is true in config.json); nothing else differs",
           "alias");
    model.metadata = "\"lm_head.weight\":\"model.embed_tokens.weight\"";
    EXPECT("match: all 254 tensors, 3,212,749,824 elements", "");
    model_close(&model);
}

/* quantize_dynamic packs the head, which ends the tie: it is stored, whatever the configuration says of ties. */
static void head_packed_by_pytorch(void **state)
{
    static const char *const configs[] = {llama_3b, llama_3b_untied};
    for (size_t i = 0; i < sizeof configs / sizeof *configs; i++) {
        BEGIN(configs[i], 0);
        if (i) model_drop(&model, "lm_head.weight");
        model_add_shape(&model, "lm_head._packed_params._packed_params.0", SHAPE(128256, 3072));
        model_add_shape(&model, "lm_head.scale", 0, (uint64_t[]){0});
        model_add_shape(&model, "lm_head.zero_point", 0, (uint64_t[]){0});
        EXPECT("explained: 1 weight is stored under PyTorch's quantisation, such as lm_head.weight as "
               "_packed_params._packed_params.0 and 2 others; nothing else differs",
               "parametrised");
        model_close(&model);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(head_absent_and_tied),
        cmocka_unit_test(head_absent_and_not_tied),
        cmocka_unit_test(head_and_norm_absent),
        cmocka_unit_test(head_renamed),
        cmocka_unit_test(embedding_renamed),
        cmocka_unit_test(both_stored_and_different),
        cmocka_unit_test(both_stored_and_meant_to_differ),
        cmocka_unit_test(nested_flag),
        cmocka_unit_test(class_default_ties),
        cmocka_unit_test(redundant_copy),
        cmocka_unit_test(encoder_without_an_embedding),
        cmocka_unit_test(encoder_with_an_embedding),
        cmocka_unit_test(stand_ins_that_are_equal),
        cmocka_unit_test(three_names_stored),
        cmocka_unit_test(two_vocabularies),
        cmocka_unit_test(first_rows),
        cmocka_unit_test(first_rows_that_are_equal),
        cmocka_unit_test(head_dropped_when_saved),
        cmocka_unit_test(pairs_of_bert),
        cmocka_unit_test(one_flat_buffer),
        cmocka_unit_test(overlaps),
        cmocka_unit_test(odd_storages),
        cmocka_unit_test(dropped_by_the_writer),
        cmocka_unit_test(shared_layers),
        cmocka_unit_test(metadata_against_the_table),
        cmocka_unit_test(head_packed_by_pytorch),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
