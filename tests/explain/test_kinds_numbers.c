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
                "differs: feed_forward_proj is \"relu\" in config.json, the file has one that begins with \"gated\" (6 "
                "tensors)",
                "hyperparameter");
    check_other(
        T5(""), T5(", \"feed_forward_proj\": \"gated-gelu\""),
        "differs: feed_forward_proj is \"gated-gelu\" in config.json, the file agrees with \"relu\" and others (6 "
        "tensors)",
        "hyperparameter");
    check_other(
        T5(", \"feed_forward_proj\": \"gated-gelu\""), T5(""),
        "differs: feed_forward_proj is \"relu\" by default, the file has one that begins with \"gated\" (6 tensors)",
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
                "differs: feed_forward_proj is \"gated-gelu\" in config.json, the file agrees with others (6 tensors)",
                "hyperparameter");
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pictures),
        cmocka_unit_test(a_flag_that_follows_from_a_text),
        cmocka_unit_test(labels),
        cmocka_unit_test(a_text_that_is_not_known),
        cmocka_unit_test(heads_and_width),
        cmocka_unit_test(three_numbers),
        cmocka_unit_test(heads_in_a_quotient),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
