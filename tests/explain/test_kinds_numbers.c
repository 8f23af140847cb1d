/* SPDX-License-Identifier: MIT
 * A file made with one configuration, checked against another: the numbers that differ are told, and they alone. */
#define _XOPEN_SOURCE 700
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "explain/kinds.h"

/* `ids` and what is left open are those of the check with `asked`, of a file made with `made`. */
static void check_other(const char *made, const char *asked, const char *line, const char *ids)
{
    struct model model, other;
    model_open(&model, made);
    model_predict(&model, 0);
    model_write(&model, "model.safetensors");
    model_open(&other, asked);
    model_check_path(&other, scratch_path(&model.scratch, "model.safetensors"));
    assert_told(&other, line, ids, 0);
    model_close(&other);
    model_close(&model);
}

#define VIT(image)                                                                                                     \
    "{\"model_type\": \"vit\", \"architectures\": [\"ViTForImageClassification\"], \"num_hidden_layers\": 1, "         \
    "\"image_size\": " #image "}"

/* The size is in a quotient, which is squared, and one more. */
static void pictures(void **state)
{
    (void)state;
    check_other(VIT(384), VIT(224), "differs: image_size is 224 in config.json, the file has 384 (1 tensor)",
                "hyperparameter");
}

#define QWEN(hidden, heads)                                                                                            \
    "{\"model_type\": \"qwen2\", \"architectures\": [\"Qwen2ForCausalLM\"], \"vocab_size\": 1000, "                    \
    "\"num_hidden_layers\": 2, \"num_key_value_heads\": 2, \"intermediate_size\": 512, \"hidden_size\": " #hidden      \
    ", \"num_attention_heads\": " #heads "}"

/* The width of a head follows from two numbers, and both are wrong: the second shows when the first is right. */
static void heads_and_width(void **state)
{
    (void)state;
    check_other(
        QWEN(1536, 12), QWEN(896, 14),
        "differs: num_attention_heads is 14 in config.json, the file has 12 (14 tensors); hidden_size is 896 in "
        "config.json, the file has 1536 (13 tensors)",
        "hyperparameter hyperparameter");
}

#define LLAMA(hidden, head, pairs)                                                                                     \
    "{\"model_type\": \"llama\", \"architectures\": [\"LlamaForCausalLM\"], \"vocab_size\": 1000, "                    \
    "\"num_hidden_layers\": 2, \"num_attention_heads\": 24, \"intermediate_size\": 512, \"hidden_size\": " #hidden     \
    ", \"head_dim\": " #head ", \"num_key_value_heads\": " #pairs "}"

static void three_numbers(void **state)
{
    (void)state;
    check_other(LLAMA(64, 4, 12), LLAMA(3072, 128, 8),
                "differs: hidden_size is 3072 in config.json, the file has 64 (13 tensors); and 2 other causes",
                "hyperparameter hyperparameter hyperparameter");
}

static void check_patch(const char *made, const char *asked, const char *hint)
{
    struct model model, other;
    bool told = false;
    model_open(&model, made);
    model_predict(&model, 0);
    model_write(&model, "model.safetensors");
    model_open(&other, asked);
    model_check_path(&other, scratch_path(&model.scratch, "model.safetensors"));
    for (size_t i = 0; i < shapeproof_check_cause_count(other.check); i++)
        told = told || strcmp(shapeproof_check_cause(other.check, i)->hint, hint) == 0;
    if (!told) fail_msg("%s", shapeproof_check_cause(other.check, 0)->hint);
    assert_hints_hold(other.check);
    model_close(&other);
    model_close(&model);
}

#define BERT(hidden, heads)                                                                                            \
    "{\"model_type\": \"bert\", \"architectures\": [\"BertModel\"], \"vocab_size\": 1000, \"num_hidden_layers\": 2, "  \
    "\"intermediate_size\": 512, \"hidden_size\": " #hidden ", \"num_attention_heads\": " #heads "}"
#define QWEN_KV(hidden, heads, pairs)                                                                                  \
    "{\"model_type\": \"qwen2\", \"architectures\": [\"Qwen2ForCausalLM\"], \"vocab_size\": 1000, "                    \
    "\"num_hidden_layers\": 2, \"num_key_value_heads\": " #pairs                                                       \
    ", \"intermediate_size\": 512, \"hidden_size\": " #hidden ", \"num_attention_heads\": " #heads "}"

/* No shape tells how many heads there are; of numbers that fit the usual one is told. Where heads do not divide the
 * width, programs refuse the configuration. */
static void heads_of_the_usual_size(void **state)
{
    (void)state;
    check_patch(
        QWEN_KV(3584, 28, 4), QWEN_KV(896, 14, 2),
        "write into config.json: {\"hidden_size\": 3584, \"num_attention_heads\": 28, \"num_key_value_heads\": 4}");
    check_patch(
        QWEN_KV(896, 14, 2), QWEN_KV(3584, 28, 4),
        "write into config.json: {\"hidden_size\": 896, \"num_attention_heads\": 14, \"num_key_value_heads\": 2}");
    check_patch(QWEN_KV(3584, 28, 4), QWEN_KV(3584, 14, 4),
                "write into config.json: {\"num_attention_heads\": 28}; --set num_attention_heads=28 tries it");
    check_patch(LLAMA(3072, 128, 8), LLAMA(2048, 64, 8),
                "write into config.json: {\"hidden_size\": 3072, \"head_dim\": 128}");
    check_patch(BERT(1024, 16), BERT(768, 12),
                "write into config.json: {\"hidden_size\": 1024, \"num_attention_heads\": 16}");
    check_other(QWEN_KV(3584, 28, 4), QWEN_KV(3584, 14, 4),
                "differs: num_attention_heads is 14 in config.json, the file has 28 (8 tensors); 28 heads of 128 are "
                "usual, 14 of 256 and 56 of 64 fit as well",
                "hyperparameter");
}

#define PHI(heads)                                                                                                     \
    "{\"model_type\": \"phi3\", \"architectures\": [\"Phi3ForCausalLM\"], \"vocab_size\": 1000, "                      \
    "\"num_hidden_layers\": 2, \"num_key_value_heads\": 32, \"intermediate_size\": 512, \"hidden_size\": 3072, "       \
    "\"num_attention_heads\": " #heads "}"

/* Twice in a dimension, once below a rounded quotient. */
static void heads_in_a_quotient(void **state)
{
    (void)state;
    check_other(PHI(32), PHI(33), "differs: num_attention_heads is 33 in config.json, the file has 32 (4 tensors)",
                "hyperparameter");
}

#define T5(projection)                                                                                                 \
    "{\"model_type\": \"t5\", \"architectures\": [\"T5EncoderModel\"], \"vocab_size\": 100, \"num_layers\": 2, "       \
    "\"d_model\": 64, \"d_ff\": 96" projection "}"

/* Nobody writes the flag that decides: it follows from a text, which is blamed. */
static void a_flag_that_follows_from_a_text(void **state)
{
    (void)state;
    check_other(T5(", \"feed_forward_proj\": \"gated-gelu\""), T5(", \"feed_forward_proj\": \"relu\""),
                "differs: feed_forward_proj is \"relu\" in config.json, the file has a value that begins with "
                "\"gated\" (6 tensors)",
                "hyperparameter");
    check_other(
        T5(""), T5(", \"feed_forward_proj\": \"gated-gelu\""),
        "differs: feed_forward_proj is \"gated-gelu\" in config.json, the file agrees with \"relu\" and with other "
        "values (6 tensors)",
        "hyperparameter");
    check_other(T5(", \"feed_forward_proj\": \"gated-gelu\""), T5(""),
                "differs: feed_forward_proj is \"relu\" by default, the file has a value that begins with \"gated\" (6 "
                "tensors)",
                "hyperparameter");
}

#define MT5(projection)                                                                                                \
    "{\"model_type\": \"mt5\", \"architectures\": [\"MT5EncoderModel\"], \"vocab_size\": 100, \"num_layers\": 2, "     \
    "\"d_model\": 64, \"d_ff\": 96, \"feed_forward_proj\": \"" projection "\"}"

/* The table mentions none of the texts that the file could have. */
static void a_text_that_is_not_known(void **state)
{
    (void)state;
    check_other(MT5("relu"), MT5("gated-gelu"),
                "differs: feed_forward_proj is \"gated-gelu\" in config.json, the file agrees with other values (6 "
                "tensors)",
                "hyperparameter");
}

/* The flag stands in the configuration as well, as save_pretrained writes it: the text changes, and the flag goes. */
static void a_flag_beside_its_text(void **state)
{
    struct model model, other;
    (void)state;
    model_open(&model, T5(", \"feed_forward_proj\": \"gated-gelu\""));
    model_predict(&model, 0);
    model_write(&model, "model.safetensors");
    model_open(&other, T5(", \"feed_forward_proj\": \"relu\", \"is_gated_act\": false, \"dense_act_fn\": \"relu\""));
    model_check_path(&other, scratch_path(&model.scratch, "model.safetensors"));
    assert_told(&other,
                "differs: feed_forward_proj is \"relu\" in config.json, the file has a value that begins with "
                "\"gated\" (6 tensors)",
                "hyperparameter", 0);
    assert_string_equal(shapeproof_check_cause(other.check, 0)->hint,
                        "write into config.json: {\"feed_forward_proj\": \"gated-gelu\"}, and take out "
                        "'is_gated_act', 'dense_act_fn': programs compute them anew");
    model_close(&other);
    model_close(&model);
}

#define LAYERS(layers, lists)                                                                                          \
    "{\"model_type\": \"qwen3\", \"architectures\": [\"Qwen3ForCausalLM\"], \"vocab_size\": 1000, \"hidden_size\": "   \
    "64, \"intermediate_size\": 96, \"num_attention_heads\": 4, \"head_dim\": 16, "                                    \
    "\"num_hidden_layers\": " #layers lists "}"
#define FULL "\"full_attention\""
#define SLIDING "\"sliding_attention\""

static void check_layers(const char *asked, const char *hint)
{
    struct model model, other;
    model_open(&model, LAYERS(4, ""));
    model_predict(&model, 0);
    model_write(&model, "model.safetensors");
    model_open(&other, asked);
    model_check_path(&other, scratch_path(&model.scratch, "model.safetensors"));
    assert_string_equal(shapeproof_check_cause(other.check, 0)->hint, hint);
    assert_hints_hold(other.check);
    model_close(&other);
    model_close(&model);
}

/* A list has an entry for each layer, and programs refuse a configuration where it has not. */
static void a_list_of_layers(void **state)
{
    (void)state;
    check_layers(LAYERS(3, ", \"layer_types\": [" FULL ", " FULL ", " FULL "]"),
                 "write into config.json: {\"num_hidden_layers\": 4, \"layer_types\": [" FULL ", " FULL ", " FULL
                 ", " FULL "]}");
    check_layers(LAYERS(6, ", \"layer_types\": [" SLIDING ", " SLIDING ", " FULL ", " SLIDING ", " SLIDING ", " FULL
                           "], \"no_rope_layers\": [1, 1, 0, 1, 1, 0]"),
                 "write into config.json: {\"num_hidden_layers\": 4, \"layer_types\": [" SLIDING ", " SLIDING ", " FULL
                 ", " SLIDING "], \"no_rope_layers\": [1, 1, 0, 1]}");
    /* Two of a kind do not tell which the third is: the class does. */
    check_layers(LAYERS(2, ", \"layer_types\": [" SLIDING ", " SLIDING "]"),
                 "write into config.json: {\"num_hidden_layers\": 4}, and take out 'layer_types': programs compute "
                 "it anew");
    check_layers(LAYERS(3, ", \"eos_token_id\": [1, 2, 3]"),
                 "write into config.json: {\"num_hidden_layers\": 4}; --set num_hidden_layers=4 tries it");
}

#define LFM2(lists)                                                                                                    \
    "{\"model_type\": \"lfm2\", \"architectures\": [\"Lfm2ForCausalLM\"], \"vocab_size\": 97, \"hidden_size\": 24, "   \
    "\"intermediate_size\": 40, \"num_attention_heads\": 4, \"num_key_value_heads\": 2, \"num_hidden_layers\": 3, "    \
    "\"full_attn_idxs\": [1]" lists "}"

/* The other key has the truth: nothing is to be written. */
static void a_list_that_is_only_taken_out(void **state)
{
    struct model model, other;
    (void)state;
    model_open(&model, LFM2(""));
    model_predict(&model, 0);
    model_write(&model, "model.safetensors");
    model_open(&other, LFM2(", \"layer_types\": [\"conv\", \"conv\", " FULL "]"));
    model_check_path(&other, scratch_path(&model.scratch, "model.safetensors"));
    assert_string_equal(shapeproof_check_cause(other.check, 0)->hint,
                        "take 'layer_types' out of config.json: programs compute it anew; --set layer_types=null tries "
                        "it");
    assert_hints_hold(other.check);
    model_close(&other);
    model_close(&model);
}

#define LABELLED(labels)                                                                                               \
    "{\"model_type\": \"bert\", \"architectures\": [\"BertForSequenceClassification\"], \"vocab_size\": 100, "         \
    "\"hidden_size\": 12, \"num_hidden_layers\": 1" labels "}"

/* The number of labels is the length of a list. */
static void labels(void **state)
{
    (void)state;
    check_other(LABELLED(", \"num_labels\": 3"), LABELLED(", \"id2label\": {\"0\": \"no\", \"1\": \"yes\"}"),
                "differs: id2label lists 2 labels in config.json, the file has 3 (2 tensors)", "hyperparameter");
    check_other(LABELLED(", \"num_labels\": 3"), LABELLED(""),
                "differs: num_labels is 2 by default, the file has 3 (2 tensors)", "hyperparameter");
}

#define ENCODEC                                                                                                        \
    "{\"model_type\": \"encodec\", \"architectures\": [\"EncodecModel\"], \"codebook_size\": 16, \"hidden_size\": "    \
    "16, "                                                                                                             \
    "\"num_filters\": 4, \"num_lstm_layers\": 1, \"sampling_rate\": 1600, \"target_bandwidths\": [0.5, 1.0], "         \
    "\"upsampling_ratios\": [4, 2], \"transformers_version\": \"5.24.0\"}"

/* Sets a key of an EnCodec model, whose weights have the names that transformers 5 writes. */
static void check_encodec(const char *setting, const char *line)
{
    struct model model;
    model_open(&model, ENCODEC);
    model_predict(&model, 0);
    model_rename(&model, "*", "weight_g", "parametrizations.weight.original0");
    model_rename(&model, "*", "weight_v", "parametrizations.weight.original1");
    model_set(&model, setting);
    SAYS(line, "hyperparameter old-names buffers", 0);
    model_close(&model);
}

/* The number of layers counts within a word, weight_ih_l1; the number of blocks moves all that comes later, so that the
 * index of a name is no index of a loop; and the names behind a flag are older names of the table. */
static void numbers_of_names(void **state)
{
    (void)state;
    check_encodec("num_lstm_layers=2", "differs: num_lstm_layers is 2 on the command line, the file has 1 (8 tensors)");
    check_encodec("num_residual_layers=2",
                  "differs: num_residual_layers is 2 on the command line, the file has 1 (110 tensors)");
    check_encodec("use_conv_shortcut=false",
                  "differs: use_conv_shortcut is false on the command line, but the file has "
                  "encoder.layers.{1,4}.shortcut.conv.parametrizations.weight.{original0,original1}, "
                  "encoder.layers.{1,4}.shortcut.conv.bias, "
                  "decoder.layers.{4,7}.shortcut.conv.parametrizations.weight.{original0,original1} and 2 more");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pictures),
        cmocka_unit_test(a_flag_that_follows_from_a_text),
        cmocka_unit_test(a_flag_beside_its_text),
        cmocka_unit_test(a_list_of_layers),
        cmocka_unit_test(a_list_that_is_only_taken_out),
        cmocka_unit_test(labels),
        cmocka_unit_test(a_text_that_is_not_known),
        cmocka_unit_test(heads_and_width),
        cmocka_unit_test(three_numbers),
        cmocka_unit_test(heads_in_a_quotient),
        cmocka_unit_test(heads_of_the_usual_size),
        cmocka_unit_test(numbers_of_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
