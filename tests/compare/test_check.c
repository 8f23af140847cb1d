/* SPDX-License-Identifier: MIT
 * What a check says first of files that were altered in one way or several. The models are full-sized; the files are
 * sparse. */
#define _XOPEN_SOURCE 700
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "compare/model.h"

/* A model, and the tensors that are altered. */
struct family {
    const char *config;
    const char *one;        /* a matrix in the middle */
    const char *layer;      /* one layer */
    const char *last_layer; /* the last one */
    const char *embedding, *base;
    uint64_t vocabulary;
};

enum { GPT2, LLAMA, BERT, FAMILIES };

static const struct family families[FAMILIES] = {
    [GPT2] = {.config = "{\"model_type\": \"gpt2\", \"architectures\": [\"GPT2LMHeadModel\"], \"vocab_size\": 50257, "
                        "\"n_embd\": 768, \"n_layer\": 12, \"n_head\": 12, \"n_positions\": 1024}",
              .one = "transformer.h.3.mlp.c_fc.weight",
              .layer = "transformer.h.5.*",
              .last_layer = "transformer.h.11.*",
              .embedding = "transformer.wte.weight",
              .base = "transformer.",
              .vocabulary = 50257},
    [LLAMA] = {.config = "{\"model_type\": \"llama\", \"architectures\": [\"LlamaForCausalLM\"], "
                         "\"vocab_size\": 32000, \"hidden_size\": 4096, \"num_hidden_layers\": 32, "
                         "\"num_attention_heads\": 32, \"num_key_value_heads\": 8, \"intermediate_size\": 11008, "
                         "\"tie_word_embeddings\": false, \"attention_bias\": false}",
               .one = "model.layers.3.mlp.up_proj.weight",
               .layer = "model.layers.5.*",
               .last_layer = "model.layers.31.*",
               .embedding = "model.embed_tokens.weight",
               .base = "model.",
               .vocabulary = 32000},
    [BERT] = {.config = "{\"model_type\": \"bert\", \"architectures\": [\"BertForMaskedLM\"], \"vocab_size\": 30522, "
                        "\"hidden_size\": 768, \"num_hidden_layers\": 12, \"num_attention_heads\": 12, "
                        "\"intermediate_size\": 3072, \"max_position_embeddings\": 512, \"type_vocab_size\": 2}",
              .one = "bert.encoder.layer.3.intermediate.dense.weight",
              .layer = "bert.encoder.layer.5.*",
              .last_layer = "bert.encoder.layer.11.*",
              .embedding = "bert.embeddings.word_embeddings.weight",
              .base = "bert.",
              .vocabulary = 30522},
};

static const char mixtral[] = "{\"model_type\": \"mixtral\", \"architectures\": [\"MixtralForCausalLM\"], "
                              "\"vocab_size\": 32000, \"hidden_size\": 4096, \"num_hidden_layers\": 8, "
                              "\"num_attention_heads\": 32, \"num_key_value_heads\": 8, "
                              "\"intermediate_size\": 14336, \"num_local_experts\": 8}";

/* ---- the alterations ---- */

static void nothing(struct model *model, const struct family *family)
{
    (void)model;
    (void)family;
}

static void drop_one(struct model *model, const struct family *family) { model_drop(model, family->one); }

static void rename_one(struct model *model, const struct family *family)
{
    model_rename(model, family->one, "weight", "wight");
}

static void transpose_one(struct model *model, const struct family *family) { model_transpose(model, family->one); }

static void retype_one(struct model *model, const struct family *family)
{
    model_retype(model, family->one, SP_DTYPE_F16);
}

static void retype_embedding(struct model *model, const struct family *family)
{
    model_retype(model, family->embedding, SP_DTYPE_F16);
}

static void add_head(struct model *model, const struct family *family)
{
    (void)family;
    model_predict(model, WITH_TIED);
}

static void drop_head(struct model *model, const struct family *family)
{
    add_head(model, family);
    model_drop(model, family == &families[BERT] ? "cls.predictions.decoder.*" : "lm_head.weight");
}

static void add_two_tokens(struct model *model, const struct family *family)
{
    model_resize(model, "*", family->vocabulary, family->vocabulary + 2);
}

static void pad_vocabulary(struct model *model, const struct family *family)
{
    model_resize(model, "*", family->vocabulary, (family->vocabulary / 64 + 1) * 64);
}

static void drop_layer(struct model *model, const struct family *family) { model_drop(model, family->layer); }
static void drop_last_layer(struct model *model, const struct family *family) { model_drop(model, family->last_layer); }

static void change_biases(struct model *model, const struct family *family)
{
    if (family == &families[GPT2]) model_drop(model, "*.c_attn.bias");
    else if (family == &families[BERT]) model_drop(model, "*.attention.self.*.bias");
    else model_add_biases(model, "*.[qkv]_proj.weight");
}

static void wrap(struct model *model, const struct family *family)
{
    (void)family;
    model_prefix(model, "module.");
}

static void wrap_twice(struct model *model, const struct family *family)
{
    (void)family;
    model_prefix(model, "module._orig_mod.");
}

static void drop_base(struct model *model, const struct family *family)
{
    for (size_t i = 0; i < model->count; i++)
        if (strncmp(model->parts[i].name, family->base, strlen(family->base)) == 0)
            replace_in(&model->parts[i], family->base, "");
}

static const struct {
    const char *what;
    void (*alter)(struct model *model, const struct family *family);
    const char *says[FAMILIES];
} alterations[] = {
    {"nothing",
     nothing,
     {[GPT2] = "?",
      [LLAMA] = "?",
      [BERT] = "?"}},
    {"drop one",
     drop_one,
     {[GPT2] = "?",
      [LLAMA] = "?",
      [BERT] = "?"}},
    {"rename one",
     rename_one,
     {[GPT2] = "?",
      [LLAMA] = "?",
      [BERT] = "?"}},
    {"transpose one",
     transpose_one,
     {[GPT2] = "?",
      [LLAMA] = "?",
      [BERT] = "?"}},
    {"retype one",
     retype_one,
     {[GPT2] = "?",
      [LLAMA] = "?",
      [BERT] = "?"}},
    {"retype embedding",
     retype_embedding,
     {[GPT2] = "?",
      [LLAMA] = "?",
      [BERT] = "?"}},
    {"add head",
     add_head,
     {[GPT2] = "?",
      [LLAMA] = "?",
      [BERT] = "?"}},
    {"drop head",
     drop_head,
     {[GPT2] = "?",
      [LLAMA] = "?",
      [BERT] = "?"}},
    {"add two tokens",
     add_two_tokens,
     {[GPT2] = "?",
      [LLAMA] = "?",
      [BERT] = "?"}},
    {"pad vocabulary",
     pad_vocabulary,
     {[GPT2] = "?",
      [LLAMA] = "?",
      [BERT] = "?"}},
    {"drop layer",
     drop_layer,
     {[GPT2] = "?",
      [LLAMA] = "?",
      [BERT] = "?"}},
    {"drop last layer",
     drop_last_layer,
     {[GPT2] = "?",
      [LLAMA] = "?",
      [BERT] = "?"}},
    {"change biases",
     change_biases,
     {[GPT2] = "?",
      [LLAMA] = "?",
      [BERT] = "?"}},
    {"wrap",
     wrap,
     {[GPT2] = "?",
      [LLAMA] = "?",
      [BERT] = "?"}},
    {"wrap twice",
     wrap_twice,
     {[GPT2] = "?",
      [LLAMA] = "?",
      [BERT] = "?"}},
    {"drop base",
     drop_base,
     {[GPT2] = "?",
      [LLAMA] = "?",
      [BERT] = "?"}},
};

static void one_alteration(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof alterations / sizeof *alterations; i++)
        for (int f = 0; f < FAMILIES; f++) {
            struct model model;
            model_open(&model, families[f].config);
            model_predict(&model, 0);
            alterations[i].alter(&model, &families[f]);
            const char *line = model_check(&model);
            if (strcmp(line, alterations[i].says[f]) != 0) print_error("%s\n", alterations[i].what);
            assert_string_equal(line, alterations[i].says[f]);
            model_close(&model);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_alteration),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
