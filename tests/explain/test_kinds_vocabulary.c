/* SPDX-License-Identifier: MIT
 * Vocabularies that are not what the configuration says: extended, padded, cut, or of two sizes. */
#define _XOPEN_SOURCE 700
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "explain/told.h"

/* TinyLlama/TinyLlama-1.1B, two of its layers. */
static const char tinyllama[] =
    "{\"model_type\": \"llama\", \"architectures\": [\"LlamaForCausalLM\"], \"vocab_size\": 32000, \"hidden_size\": "
    "2048, \"num_hidden_layers\": 2, \"num_attention_heads\": 32, \"num_key_value_heads\": 4, \"intermediate_size\": "
    "5632, \"tie_word_embeddings\": false, \"attention_bias\": false}";

/* Qwen/Qwen2.5-0.5B, two of its layers. */
static const char qwen[] =
    "{\"model_type\": \"qwen2\", \"architectures\": [\"Qwen2ForCausalLM\"], \"vocab_size\": 151936, \"hidden_size\": "
    "896, \"intermediate_size\": 4864, \"num_hidden_layers\": 2, \"num_attention_heads\": 14, \"num_key_value_heads\": "
    "2, \"tie_word_embeddings\": true}";

static const char opt[] =
    "{\"model_type\": \"opt\", \"architectures\": [\"OPTForCausalLM\"], \"vocab_size\": 50272, \"hidden_size\": 768, "
    "\"num_hidden_layers\": 2, \"num_attention_heads\": 12, \"ffn_dim\": 3072, \"max_position_embeddings\": 2048, "
    "\"word_embed_proj_dim\": 768, \"do_layer_norm_before\": true}";

static const char bert[] =
    "{\"model_type\": \"bert\", \"architectures\": [\"BertForMaskedLM\"], \"vocab_size\": 30522, \"hidden_size\": 768, "
    "\"num_hidden_layers\": 2, \"num_attention_heads\": 12, \"intermediate_size\": 3072, \"max_position_embeddings\": "
    "512, \"type_vocab_size\": 2}";

static const char bloom[] = "{\"model_type\": \"bloom\", \"architectures\": [\"BloomForCausalLM\"], \"vocab_size\": "
                            "250680, \"hidden_size\": 1024, \"n_layer\": 2, \"n_head\": 16}";

static void put(struct model *model, const char *file, const char *text)
{
    scratch_write(&model->scratch, file, text, strlen(text));
}

#define BEGIN(config, also)                                                                                            \
    struct model model;                                                                                                \
    (void)state;                                                                                                       \
    model_open(&model, config);                                                                                        \
    model_predict(&model, also)

/* ---- the tokenizer ---- */

/* transformers 5 writes one file, and lists what was added behind what was there. */
static void tokens_without_rows(void **state)
{
    BEGIN(tinyllama, 0);
    put(&model, "tokenizer.json",
        "{\"added_tokens\": [{\"id\": 32000, \"content\": \"<a>\"}, {\"id\": 32002, \"content\": \"<c>\"}], "
        "\"model\": {\"vocab\": {\"x\": 31999}}}");
    model_check(&model);
    assert_told(&model,
                "explained: tokenizer.json has tokens up to number 32002, but the embedding has 32000 rows: 3 "
                "tokens have no row, the last of them '<c>'; nothing else differs",
                "tokenizer", 0);
    put(&model, "tokenizer.json", "{\"added_tokens\": [], \"model\": {\"vocab\": {\"x\": 31999}}}");
    model_check(&model);
    assert_null(model_cause(&model, "tokenizer"));
    model_close(&model);
}

/* ---- extended ---- */

/* A [PAD] was added, and the configuration not changed. */
static void one_token_more(void **state)
{
    BEGIN(tinyllama, 0);
    model_resize(&model, "*", 32000, 32001);
    model_check(&model);
    assert_told(&model, "differs: vocab_size is 32000 in config.json, the file has 32001 (2 tensors)", "hyperparameter",
                0);
    put(&model, "added_tokens.json", "{\"[PAD]\": 32000}");
    model_check(&model);
    assert_told(&model,
                "differs: vocab_size is 32000 in config.json, the file has 32001 (as many as there are tokens in "
                "added_tokens.json) (2 tensors)",
                "hyperparameter", 0);
    assert_string_equal(shapeproof_check_cause(model.check, 0)->hint,
                        "write into config.json: {\"vocab_size\": 32001}; --set vocab_size=32001 tries it");
    model_close(&model);
}

/* The same token in the tokenizer alone: it has no row. */
static void a_token_without_a_row(void **state)
{
    BEGIN(tinyllama, 0);
    put(&model, "added_tokens.json", "{\"[PAD]\": 32000, \"<s>\": 1}");
    model_check(&model);
    assert_told(&model,
                "explained: added_tokens.json has tokens up to number 32000, but the embedding has 32000 rows: "
                "'[PAD]' has no row; nothing else differs",
                "tokenizer", 0);
    put(&model, "added_tokens.json", "{\"<unk>\": 0, \"[PAD]\": 31999}");
    put(&model, "tokenizer_config.json",
        "{\"added_tokens_decoder\": {\"32002\": {\"content\": \"<|im_end|>\", "
        "\"special\": true}, \"32000\": {\"content\": \"[PAD]\"}}, \"pad_token\": 7}");
    model_check(&model);
    assert_told(&model,
                "explained: tokenizer_config.json has tokens up to number 32002, but the embedding has 32000 rows: "
                "3 tokens have no row, the last of them '<|im_end|>'; nothing else differs",
                "tokenizer", 0);
    model_close(&model);
}

/* Fewer tokens than rows are as usual: the rest is padding. Damaged or strange files tell nothing. */
static void tokenizers_that_are_no_matter(void **state)
{
    static const char *const files[] = {
        "{\"added_tokens_decoder\": {\"151664\": {\"content\": \"<|file_sep|>\"}}}",
        "{\"added_tokens_decoder\": {\"151936\": {\"content\": \"<|file_sep|>\"}}",
        "{\"added_tokens_decoder\": {\"151936x\": {\"content\": \"<|file_sep|>\"}, \"\": {}}}",
        "{\"added_tokens_decoder\": {\"99999999999999999999999\": {}}}",
        "{\"added_tokens_decoder\": [151936], \"model\": 3, \"added_tokens\": {\"id\": 999999}}",
        "{\"added_tokens_decoder\": {\"151936\": [3]}}",
        "[]",
        "",
    };
    BEGIN(qwen, 0);
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        put(&model, "tokenizer_config.json", files[i]);
        model_check(&model);
        assert_told(&model, "match: all 26 tensors, 165,960,320 elements", "", 0);
    }
    model_close(&model);
}

/* The embedding was resized to the tokenizer's length: the padding of the original is gone. */
static void as_many_as_the_tokenizer(void **state)
{
    BEGIN(qwen, 0);
    model_resize(&model, "*", 151936, 151665);
    put(&model, "tokenizer_config.json", "{\"added_tokens_decoder\": {\"151664\": {\"content\": \"<|file_sep|>\"}}}");
    model_check(&model);
    assert_told(&model,
                "differs: vocab_size is 151936 in config.json, the file has 151665 (as many as there are tokens in "
                "tokenizer_config.json) (1 tensor)",
                "hyperparameter", 0);
    model_close(&model);
}

/* The whole tokenizer knows what the added tokens alone do not tell; its vocabulary is an object or a list. */
static void the_whole_tokenizer(void **state)
{
    BEGIN(tinyllama, 0);
    model_resize(&model, "*", 32000, 32064);
    put(&model, "tokenizer.json",
        "{\"version\": \"1.0\", \"added_tokens\": [{\"id\": 2, \"content\": \"</s>\"}], "
        "\"model\": {\"type\": \"BPE\", \"vocab\": {\"<unk>\": 0, \"\\u2581a\": 32016}}}");
    model_check(&model);
    assert_told(&model,
                "differs: vocab_size is 32000 in config.json, the file has 32064 (the 32017 tokens of "
                "tokenizer.json, rounded up to a multiple of 64) (2 tensors)",
                "hyperparameter", 0);
    model_resize(&model, "*", 32064, 3);
    put(&model, "tokenizer.json", "{\"model\": {\"vocab\": [[\"a\", -1.5], [\"b\", -2], [\"c\", 0]]}}");
    model_check(&model);
    assert_told(&model,
                "differs: vocab_size is 32000 in config.json, the file has 3 (as many as there are tokens in "
                "tokenizer.json) (2 tensors)",
                "hyperparameter", 0);
    model_close(&model);
}

/* ---- padded ---- */

/* The dictionary has 50265 words, the published size is padded to a multiple of 8. */
static void padding_in_the_configuration_alone(void **state)
{
    BEGIN(opt, 0);
    model_resize(&model, "*", 50272, 50265);
    model_check(&model);
    assert_told(&model,
                "differs: vocab_size is 50272 in config.json, the file has 50265 (50272 is this number rounded up "
                "to a multiple of 8) (1 tensor)",
                "hyperparameter", 0);
    model_resize(&model, "*", 50265, 50269);
    model_check(&model);
    assert_told(&model,
                "differs: vocab_size is 50272 in config.json, the file has 50269 (50272 is this number rounded up "
                "to a multiple of 8) (1 tensor)",
                "hyperparameter", 0);
    model_close(&model);
}

/* Megatron pads to a multiple of 128, and of 128 for each tensor-parallel rank. */
static void padding_in_the_file_alone(void **state)
{
    BEGIN(bert, 0);
    model_resize(&model, "*", 30522, 30592);
    model_check(&model);
    assert_told(&model,
                "differs: vocab_size is 30522 in config.json, the file has 30592 (rounded up to a multiple of 128) (2 "
                "tensors)",
                "hyperparameter", 0);
    model_close(&model);
}

static void padding_for_ranks(void **state)
{
    BEGIN(bloom, 0);
    model_resize(&model, "*", 250680, 250880);
    model_check(&model);
    assert_told(&model,
                "differs: vocab_size is 250680 in config.json, the file has 250880 (rounded up to a multiple of 256 to "
                "1024: 128 for each of 2 to 8 tensor-parallel ranks) (1 tensor)",
                "hyperparameter", 0);
    model_resize(&model, "*", 250880, 251137);
    model_check(&model);
    assert_told(&model, "differs: vocab_size is 250680 in config.json, the file has 251137 (1 tensor)",
                "hyperparameter", 0);
    model_close(&model);
}

/* ---- cut ---- */

/* One eighth of the rows of the embedding and of the head may be what one rank of eight holds; half of them may as well
 * be meant. */
static void one_part_of_the_rows(void **state)
{
    BEGIN(tinyllama, 0);
    model_resize(&model, "*", 32000, 4000);
    model_check(&model);
    assert_told(&model,
                "differs: vocab_size is 32000 in config.json, the file has 4000 (1/8 of it, the part of one of 8 "
                "ranks) (2 tensors)",
                "hyperparameter", 0);
    assert_string_equal(shapeproof_check_cause(model.check, 0)->hint,
                        "gather the 8 ranks into one file; if the model has 4000 tokens, write this number into the "
                        "configuration");
    model_resize(&model, "*", 4000, 4001);
    model_check(&model);
    assert_told(&model, "differs: vocab_size is 32000 in config.json, the file has 4001 (2 tensors)", "hyperparameter",
                0);
    model_resize(&model, "*", 4001, 16000);
    model_check(&model);
    assert_told(&model, "differs: vocab_size is 32000 in config.json, the file has 16000 (2 tensors)", "hyperparameter",
                0);
    model_close(&model);
}

/* 30522 padded to 30592, of which it is a quarter; there is but one matrix of them. */
static void one_part_of_the_padded_rows(void **state)
{
    BEGIN(bert, 0);
    model_resize(&model, "*", 30522, 7648);
    model_check(&model);
    assert_told(&model, "differs: vocab_size is 30522 in config.json, the file has 7648 (2 tensors)", "hyperparameter",
                0);
    model_close(&model);
}

/* ---- two sizes ---- */

/* Eight more rows can be read than predicted. */
static void an_embedding_larger_than_the_head(void **state)
{
    BEGIN(tinyllama, 0);
    model_resize(&model, "model.embed_tokens.weight", 32000, 32008);
    model_check(&model);
    assert_told(&model,
                "differs: model.embed_tokens.weight has 32008 rows, lm_head.weight 32000: vocab_size is 32000 in "
                "config.json",
                "vocabulary", 0);
    model_close(&model);
}

/* Llama 3.2 Vision has eight rows more on purpose; without them the embedding is too small. */
static void eight_rows_for_images(void **state)
{
    BEGIN("{\"model_type\": \"mllama\", \"text_config\": {\"num_hidden_layers\": 4}}", 0);
    model_check(&model);
    assert_int_equal(shapeproof_check_verdict(model.check), SHAPEPROOF_VERDICT_MATCH);
    model_resize(&model, "language_model.model.embed_tokens.weight", 128264, 128256);
    model_check(&model);
    assert_told(&model,
                "differs: language_model.model.embed_tokens.weight (128256, 4096), expected (128264, 4096), from "
                "text_config.vocab_size + 8",
                "", 1);
    model_close(&model);
}

static void a_padded_bias_alone(void **state)
{
    BEGIN(bert, 0);
    model_resize(&model, "cls.predictions.bias", 30522, 30592);
    model_check(&model);
    assert_told(&model,
                "differs: cls.predictions.bias has 30592 rows (rounded up to a multiple of 128), "
                "bert.embeddings.word_embeddings.weight 30522: vocab_size is 30522 in config.json",
                "vocabulary", 0);
    model_close(&model);
}

/* A stored head that is not as large as the embedding it is tied to. */
static void a_tied_head_of_another_size(void **state)
{
    BEGIN(qwen, WITH_TIED);
    model_resize(&model, "lm_head.weight", 151936, 151665);
    model_check(&model);
    assert_told(&model,
                "differs: lm_head.weight has 151665 rows, model.embed_tokens.weight 151936: vocab_size is 151936 in "
                "config.json",
                "vocabulary", 0);
    model_close(&model);
}

/* A wrong width is no matter of the vocabulary. */
static void a_narrow_embedding(void **state)
{
    BEGIN(tinyllama, 0);
    model_resize(&model, "model.embed_tokens.weight", 2048, 1024);
    model_check(&model);
    assert_told(&model, "differs: model.embed_tokens.weight (32000, 1024), expected (32000, 2048), from hidden_size",
                "", 1);
    model_resize(&model, "model.embed_tokens.weight", 32000, 32008);
    model_check(&model);
    assert_told(&model,
                "differs: model.embed_tokens.weight (32008, 1024), expected (32000, 2048), from vocab_size, "
                "hidden_size",
                "", 1);
    model_close(&model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tokens_without_rows),
        cmocka_unit_test(one_token_more),
        cmocka_unit_test(a_token_without_a_row),
        cmocka_unit_test(tokenizers_that_are_no_matter),
        cmocka_unit_test(as_many_as_the_tokenizer),
        cmocka_unit_test(the_whole_tokenizer),
        cmocka_unit_test(padding_in_the_configuration_alone),
        cmocka_unit_test(padding_in_the_file_alone),
        cmocka_unit_test(padding_for_ranks),
        cmocka_unit_test(one_part_of_the_rows),
        cmocka_unit_test(one_part_of_the_padded_rows),
        cmocka_unit_test(an_embedding_larger_than_the_head),
        cmocka_unit_test(eight_rows_for_images),
        cmocka_unit_test(a_padded_bias_alone),
        cmocka_unit_test(a_tied_head_of_another_size),
        cmocka_unit_test(a_narrow_embedding),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
