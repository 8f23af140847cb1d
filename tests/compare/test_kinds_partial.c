/* SPDX-License-Identifier: MIT
 * Files that hold a part of a model, or more than the model: of one rank, of one stage, of an average beside it. */
#define _XOPEN_SOURCE 700
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "compare/told.h"

static const char llama[] =
    "{\"model_type\": \"llama\", \"architectures\": [\"LlamaForCausalLM\"], \"vocab_size\": 32000, \"hidden_size\": "
    "4096, \"num_hidden_layers\": 32, \"num_attention_heads\": 32, \"num_key_value_heads\": 8, \"intermediate_size\": "
    "11008, \"tie_word_embeddings\": false, \"attention_bias\": false}";

static const char gpt2[] = "{\"model_type\": \"gpt2\", \"architectures\": [\"GPT2LMHeadModel\"], \"vocab_size\": "
                           "50257, \"n_embd\": 768, \"n_layer\": 12, \"n_head\": 12, \"n_positions\": 1024}";

#define BEGIN(config)                                                                                                  \
    struct model model;                                                                                                \
    (void)state;                                                                                                       \
    model_open(&model, config);                                                                                        \
    model_predict(&model, 0)

/* ---- ZeRO ---- */

static void flatten(struct model *model, const char *names, uint64_t elements)
{
    for (size_t i = 0; i < model->count; i++) {
        struct part *part = &model->parts[i];
        if (!fits(part, names)) continue;
        part->rank = 1;
        part->shape[0] = elements;
    }
}

/* All but the smallest parameters are empty. */
static void empty_placeholders(void **state)
{
    BEGIN(llama);
    flatten(&model, "*_proj.weight", 0);
    flatten(&model, "*embed_tokens.weight", 0);
    flatten(&model, "lm_head.weight", 0);
    model_check(&model);
    assert_told(&model,
                "differs: 226 tensors have shape (0) and no data, as in a file that one rank of ZeRO stage 3 saved: "
                "model.embed_tokens.weight, model.layers.{0-31}.self_attn.{q_proj,k_proj,v_proj,o_proj}.weight, "
                "model.layers.{0-31}.mlp.{gate_proj,up_proj,down_proj}.weight and 1 more",
                "zero-partition", 0);
    model_close(&model);
}

static void placeholders_of_one_element(void **state)
{
    BEGIN(gpt2);
    flatten(&model, "*", 1);
    model_check(&model);
    assert_told(&model,
                "differs: 148 tensors have shape (1), as in a file that one rank of ZeRO stage 3 saved: "
                "transformer.{wte,wpe}.weight, transformer.h.{0-11}.ln_{1,2}.{weight,bias}, "
                "transformer.h.{0-11}.attn.c_attn.{weight,bias} and 4 more",
                "zero-partition", 0);
    model_close(&model);
}

/* One short vector among whole matrices is a wrong vector. */
static void one_short_vector(void **state)
{
    BEGIN(llama);
    flatten(&model, "model.norm.weight", 1);
    flatten(&model, "model.layers.3.input_layernorm.weight", 1);
    model_check(&model);
    assert_told(&model,
                "differs: 2 tensors have another shape: model.layers.3.input_layernorm.weight, model.norm.weight", "",
                2);
    model_close(&model);
}

/* ---- tensor parallelism ---- */

/* Columns of what reads the residual stream, rows of what writes to it, and of the vocabulary. */
static void cut(struct model *model, uint64_t ranks)
{
    for (size_t i = 0; i < model->count; i++) {
        struct part *part = &model->parts[i];
        const bool writes = strstr(part->name, "o_proj") || strstr(part->name, "down_proj");
        if (part->rank == 2) part->shape[writes] = (part->shape[writes] + ranks - 1) / ranks;
    }
}

static void one_rank_of_eight(void **state)
{
    BEGIN(llama);
    cut(&model, 8);
    model_check(&model);
    assert_told(&model,
                "differs: this is one of 8 tensor-parallel ranks: it holds 1/8 of model.embed_tokens.weight, "
                "model.layers.{0-31}.self_attn.{q_proj,k_proj,v_proj,o_proj}.weight, "
                "model.layers.{0-31}.mlp.{gate_proj,up_proj,down_proj}.weight and 1 more (226 tensors)",
                "tensor-parallel", 0);
    model_close(&model);
}

/* A vocabulary that was padded first: 32000 + 16 tokens, in four parts of 8004. */
static void a_padded_vocabulary_in_parts(void **state)
{
    BEGIN(llama);
    cut(&model, 4);
    model_resize(&model, "*", 8000, 8004);
    model_check(&model);
    assert_string_equal(sp_check_cause(model.check, 0)->id, "tensor-parallel");
    assert_int_equal(sp_check_cause(model.check, 0)->explains, 226);
    model_close(&model);
}

/* A model of half the feed-forward width, or with half as many key/value heads, is just that. */
static void narrower_and_not_cut(void **state)
{
    BEGIN(llama);
    model_resize(&model, "*", 11008, 5504);
    model_check(&model);
    assert_told(&model, "differs: intermediate_size is 11008 in config.json, the file has 5504 (96 tensors)",
                "hyperparameter", 0);
    model_close(&model);
    model_open(&model, gpt2);
    model_predict(&model, 0);
    model_resize(&model, "*", 768, 384);
    model_resize(&model, "*", 2304, 1152);
    model_resize(&model, "*", 3072, 1536);
    model_check(&model);
    assert_told(&model, "differs: n_embd is 768 in config.json, the file has 384 (148 tensors)", "hyperparameter", 0);
    model_close(&model);
}

/* ---- copies ---- */

static void add_copies(struct model *model, const char *names, const char *prefix)
{
    const size_t count = model->count;
    for (size_t i = 0; i < count; i++) {
        const struct part part = model->parts[i];
        char name[256];
        if (!fits(&part, names)) continue;
        snprintf(name, sizeof name, "%s%s", prefix, part.name);
        model_add_shape(model, name, part.rank, part.shape);
    }
}

/* An exponential moving average beside the weights. */
static void an_average_beside_the_weights(void **state)
{
    BEGIN(llama);
    add_copies(&model, "*", "ema.");
    model_check(&model);
    assert_told(&model, "explained: the file holds a second copy of 291 tensors below 'ema.'; nothing else differs",
                "copy", 0);
    model_close(&model);
}

/* Of a few tensors there may be copies for any reason. */
static void copies_of_a_few(void **state)
{
    BEGIN(llama);
    add_copies(&model, "model.layers.3.*", "ema.");
    model_check(&model);
    assert_int_equal(sp_check_cause_count(model.check), 0);
    assert_int_equal(sp_check_open(model.check), 9);
    model_close(&model);
}

/* The last pipeline stage has a copy of the tied embedding. */
static void an_embedding_for_the_head(void **state)
{
    BEGIN(gpt2);
    model_add_shape(&model, "word_embeddings_for_head.weight", SHAPE(50257, 768));
    model_check(&model);
    assert_told(&model,
                "explained: word_embeddings_for_head.weight has the shape of transformer.wte.weight: a copy, as the "
                "last pipeline stage holds of a tied embedding; nothing else differs",
                "embedding-copy", 0);
    model_resize(&model, "word_embeddings_for_head.weight", 50257, 512);
    model_check(&model);
    assert_told(&model, "differs: word_embeddings_for_head.weight is unexpected", "", 1);
    model_close(&model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(empty_placeholders),
        cmocka_unit_test(placeholders_of_one_element),
        cmocka_unit_test(one_short_vector),
        cmocka_unit_test(one_rank_of_eight),
        cmocka_unit_test(a_padded_vocabulary_in_parts),
        cmocka_unit_test(narrower_and_not_cut),
        cmocka_unit_test(an_average_beside_the_weights),
        cmocka_unit_test(copies_of_a_few),
        cmocka_unit_test(an_embedding_for_the_head),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
