/* SPDX-License-Identifier: MIT
 * What a check says first of files that were altered in one way or several. The models are full-sized; the files are
 * sparse. */
#define _XOPEN_SOURCE 700
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "check/model.h"

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
    model_retype(model, family->one, SHAPEPROOF_DTYPE_F16);
}

static void retype_embedding(struct model *model, const struct family *family)
{
    model_retype(model, family->embedding, SHAPEPROOF_DTYPE_F16);
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
    {"as predicted",
     nothing,
     {[GPT2] = "match: all 148 tensors, 124,439,808 elements",
      [LLAMA] = "match: all 291 tensors, 5,933,109,248 elements",
      [BERT] = "match: all 202 tensors, 109,514,298 elements"}},
    {"one tensor missing",
     drop_one,
     {[GPT2] = "differs: transformer.h.3.mlp.c_fc.weight is missing",
      [LLAMA] = "differs: model.layers.3.mlp.up_proj.weight is missing",
      [BERT] = "differs: bert.encoder.layer.3.intermediate.dense.weight is missing"}},
    {"one renamed",
     rename_one,
     {[GPT2] = "differs: renamed: transformer.h.3.mlp.c_fc.weight is called transformer.h.3.mlp.c_fc.wight in the "
               "file",
      [LLAMA] = "differs: renamed: model.layers.3.mlp.up_proj.weight is called model.layers.3.mlp.up_proj.wight in "
                "the file",
      [BERT] = "differs: renamed: bert.encoder.layer.3.intermediate.dense.weight is called "
               "bert.encoder.layer.3.intermediate.dense.wight in the file"}},
    {"one transposed",
     transpose_one,
     {[GPT2] = "differs: transformer.h.3.mlp.c_fc.weight is stored transposed: (3072, 768), expected (768, 3072), "
               "from n_embd, n_inner",
      [LLAMA] = "differs: model.layers.3.mlp.up_proj.weight is stored transposed: (4096, 11008), expected (11008, "
                "4096), from intermediate_size, hidden_size",
      [BERT] = "differs: bert.encoder.layer.3.intermediate.dense.weight is stored transposed: (768, 3072), "
               "expected (3072, 768), from intermediate_size, hidden_size"}},
    {"one of another dtype",
     retype_one,
     {[GPT2] = "differs: transformer.h.3.mlp.c_fc.weight has dtype F16 where others of its kind have F32",
      [LLAMA] = "differs: model.layers.3.mlp.up_proj.weight has dtype F16 where others of its kind have F32",
      [BERT] = "differs: bert.encoder.layer.3.intermediate.dense.weight has dtype F16 where others of its kind "
               "have F32"}},
    {"the embedding of another dtype",
     retype_embedding,
     {[GPT2] = "differs: transformer.wte.weight has dtype F16 where all others have F32",
      [LLAMA] = "differs: model.embed_tokens.weight has dtype F16 where all others have F32",
      [BERT] = "differs: bert.embeddings.word_embeddings.weight has dtype F16 where all others have F32"}},
    {"a tied head stored",
     add_head,
     {[GPT2] = "explained: lm_head.weight is stored although it is tied to transformer.wte.weight "
               "(tie_word_embeddings is true by default); nothing else differs",
      [LLAMA] = "match: all 291 tensors, 5,933,109,248 elements",
      [BERT] = "explained: cls.predictions.decoder.weight is stored although it is tied to "
               "bert.embeddings.word_embeddings.weight (tie_word_embeddings is true by default); "
               "cls.predictions.decoder.bias is stored although it is tied to cls.predictions.bias "
               "(tie_word_embeddings is true by default)"}},
    {"no head",
     drop_head,
     {[GPT2] = "match: all 148 tensors, 124,439,808 elements",
      [LLAMA] = "differs: tie_word_embeddings is false in config.json, but the file lacks lm_head.weight: it is "
                "tied to model.embed_tokens.weight, or lost",
      [BERT] = "match: all 202 tensors, 109,514,298 elements"}},
    {"two more tokens",
     add_two_tokens,
     {[GPT2] = "differs: vocab_size is 50257 in config.json, the file has 50259 (1 tensor)",
      [LLAMA] = "differs: vocab_size is 32000 in config.json, the file has 32002 (2 tensors)",
      [BERT] = "differs: vocab_size is 30522 in config.json, the file has 30524 (2 tensors)"}},
    {"a padded vocabulary",
     pad_vocabulary,
     {[GPT2] = "differs: vocab_size is 50257 in config.json, the file has 50304 (rounded up to a multiple of 64) "
               "(1 tensor)",
      [LLAMA] = "differs: vocab_size is 32000 in config.json, the file has 32064 (2 tensors)",
      [BERT] = "differs: vocab_size is 30522 in config.json, the file has 30528 (rounded up to a multiple of 64) "
               "(2 tensors)"}},
    {"a layer missing in the middle",
     drop_layer,
     {[GPT2] = "differs: transformer.h.5 is missing altogether (12 tensors)",
      [LLAMA] = "differs: model.layers.5 is missing altogether (9 tensors)",
      [BERT] = "differs: bert.encoder.layer.5 is missing altogether (16 tensors)"}},
    {"the last layer missing",
     drop_last_layer,
     {[GPT2] = "differs: n_layer is 12 in config.json, the file has 11 (12 tensors)",
      [LLAMA] = "differs: num_hidden_layers is 32 in config.json, the file has 31 (9 tensors)",
      [BERT] = "differs: num_hidden_layers is 12 in config.json, the file has 11 (16 tensors)"}},
    {"biases of q, k and v: others than expected",
     change_biases,
     {[GPT2] = "differs: the file lacks biases that gpt2 always has: transformer.h.{0-11}.attn.c_attn.bias "
               "(12 tensors)",
      [LLAMA] = "differs: the weights are of a qwen2 model, not of llama: the file has "
                "model.layers.{0-31}.self_attn.{q_proj,k_proj,v_proj}.bias",
      [BERT] = "differs: the file lacks biases that bert always has: "
               "bert.encoder.layer.{0-11}.attention.self.{query,key,value}.bias (36 tensors in 12 layers)"}},
    {"module. in front",
     wrap,
     {[GPT2] = "explained: every name in the file begins with 'module.'; nothing else differs",
      [LLAMA] = "explained: every name in the file begins with 'module.'; nothing else differs",
      [BERT] = "explained: every name in the file begins with 'module.'; nothing else differs"}},
    {"module._orig_mod. in front",
     wrap_twice,
     {[GPT2] = "explained: every name in the file begins with 'module._orig_mod.'; nothing else differs",
      [LLAMA] = "explained: every name in the file begins with 'module._orig_mod.'; nothing else differs",
      [BERT] = "explained: every name in the file begins with 'module._orig_mod.'; nothing else differs"}},
    {"the base prefix left out",
     drop_base,
     {[GPT2] = "explained: the file leaves out 'transformer.' in front of 148 names; nothing else differs",
      [LLAMA] = "explained: the file leaves out 'model.' in front of 290 names; nothing else differs",
      [BERT] = "explained: the file leaves out 'bert.' in front of 197 names; nothing else differs"}},
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

/* ---- several things at once ---- */

/* A test alters the model between the two. */
#define BEGIN(config)                                                                                                  \
    struct model model;                                                                                                \
    (void)state;                                                                                                       \
    model_open(&model, config);                                                                                        \
    model_predict(&model, 0)

#define LLAMA_7B families[LLAMA].config
#define GPT2_SMALL families[GPT2].config
#define BERT_BASE families[BERT].config

static void vocabulary_and_layer_and_prefix(void **state)
{
    BEGIN(LLAMA_7B);
    model_resize(&model, "*", 32000, 32002);
    model_drop(&model, "model.layers.5.*");
    model_prefix(&model, "module.");
    assert_string_equal(model_check(&model), "differs: model.layers.5 is missing altogether (9 tensors); vocab_size is "
                                             "32000 in config.json, the file has 32002 (2 tensors)");
    assert_non_null(model_cause(&model, "prefix"));
    assert_int_equal(model_cause(&model, "prefix")->explains, 282);
    assert_string_equal(model_cause(&model, "hyperparameter")->message,
                        "vocab_size is 32000 in config.json, the file has 32002 (2 tensors)");
    model_close(&model);
}

static void two_hyperparameters(void **state)
{
    BEGIN(LLAMA_7B);
    model_resize(&model, "*", 32000, 32002);
    model_resize(&model, "*", 11008, 11264);
    assert_string_equal(model_check(&model),
                        "differs: intermediate_size is 11008 in config.json, the file has 11264 (96 tensors); "
                        "vocab_size is 32000 in config.json, the file has 32002 (2 tensors)");
    assert_int_equal(shapeproof_check_cause_count(model.check), 2);
    assert_string_equal(shapeproof_check_cause(model.check, 0)->hyperparameter, "intermediate_size");
    assert_int_equal(shapeproof_check_cause(model.check, 0)->configured.integer, 11008);
    assert_int_equal(shapeproof_check_cause(model.check, 0)->found.integer, 11264);
    assert_int_equal(shapeproof_check_cause(model.check, 0)->explains, 96);
    assert_string_equal(shapeproof_check_cause(model.check, 1)->hyperparameter, "vocab_size");
    model_close(&model);
}

/* Where both dimensions of one tensor are wrong, only both settings together help: one patch has them. */
static void two_dimensions_of_one_tensor(void **state)
{
    BEGIN(GPT2_SMALL);
    model_resize(&model, "transformer.wpe.weight", 1024, 512);
    model_resize(&model, "*", 768, 512);
    model_resize(&model, "*", 2304, 1536);
    model_resize(&model, "*", 3072, 2048);
    assert_string_equal(model_check(&model),
                        "differs: n_embd is 768 in config.json, the file has 512 (147 tensors); 8 heads of 64 are "
                        "usual, 4 of 128 and 16 of 32 fit as well; n_positions is 1024 in config.json, the file has "
                        "512 (1 tensor)");
    assert_string_equal(shapeproof_check_cause(model.check, 0)->hint,
                        "write into config.json: {\"n_embd\": 512, \"n_head\": 8, \"n_positions\": 512}");
    assert_ptr_equal(shapeproof_check_cause(model.check, 1)->hint, shapeproof_check_cause(model.check, 0)->hint);
    model_close(&model);
}

static void three_hyperparameters(void **state)
{
    BEGIN(BERT_BASE);
    model_resize(&model, "*", 30522, 30524);
    model_resize(&model, "*", 512, 514);
    model_drop(&model, "bert.encoder.layer.11.*");
    assert_string_equal(
        model_check(&model),
        "differs: num_hidden_layers is 12 in config.json, the file has 11 (16 tensors); and 2 other causes");
    assert_int_equal(shapeproof_check_cause_count(model.check), 3);
    model_close(&model);
}

static void prefix_and_one_missing(void **state)
{
    BEGIN(GPT2_SMALL);
    model_drop(&model, "transformer.h.3.mlp.c_fc.weight");
    model_prefix(&model, "module.");
    assert_string_equal(model_check(&model), "differs: transformer.h.3.mlp.c_fc.weight is missing");
    model_close(&model);
}

static void holes_in_the_layers(void **state)
{
    BEGIN(LLAMA_7B);
    model_drop(&model, "model.layers.[6-9].mlp.up_proj.weight");
    model_drop(&model, "model.layers.1[0-9].mlp.up_proj.weight");
    assert_string_equal(model_check(&model), "differs: 14 tensors are missing: model.layers.{6-19}.mlp.up_proj.weight");
    model_close(&model);
}

static void findings_of_every_kind(void **state)
{
    BEGIN(LLAMA_7B);
    model_drop(&model, "model.norm.weight");
    model_resize(&model, "model.layers.1.mlp.up_proj.weight", 11008, 77);
    model_retype(&model, "model.layers.2.mlp.up_proj.weight", SHAPEPROOF_DTYPE_I8);
    model_add_shape(&model, "extra", SHAPE(5, 5));
    model_add_shape(&model, "more", SHAPE(5, 5));
    assert_string_equal(
        model_check(&model),
        "differs: 2 tensors are unexpected: extra, more; 1 is missing; 1 has another shape; 1 has another dtype");
    assert_int_equal(shapeproof_check_cause_count(model.check), 0);
    model_close(&model);
}

/* Different shapes are never merged, whatever their names. */
static void shapes_stay_apart(void **state)
{
    BEGIN(LLAMA_7B);
    model_resize(&model, "model.layers.[0-4].mlp.up_proj.weight", 11008, 77);
    model_resize(&model, "model.layers.5.mlp.up_proj.weight", 11008, 78);
    assert_string_equal(model_check(&model),
                        "differs: 6 tensors have another shape: model.layers.{0-5}.mlp.up_proj.weight");
    assert_int_equal(shapeproof_check_group_count(model.check), 2);
    assert_string_equal(shapeproof_check_group(model.check, 0)->name, "model.layers.{0-4}.mlp.up_proj.weight");
    assert_int_equal(shapeproof_check_group(model.check, 0)->count, 5);
    assert_string_equal(shapeproof_check_group(model.check, 0)->first->message,
                        "(77, 4096), expected (11008, 4096), from intermediate_size");
    assert_string_equal(shapeproof_check_group(model.check, 1)->name, "model.layers.5.mlp.up_proj.weight");
    model_close(&model);
}

static void everything_is_a_stranger(void **state)
{
    BEGIN(GPT2_SMALL);
    model_empty(&model);
    for (int i = 0; i < 12; i++) {
        char name[32];
        snprintf(name, sizeof name, "blob.%d", i);
        model_add_shape(&model, name, SHAPE(3, 7));
    }
    assert_string_equal(model_check(&model), "differs: no tensor of the file is predicted by the table gpt2");
    model_close(&model);
}

static void an_empty_file(void **state)
{
    BEGIN(GPT2_SMALL);
    model_empty(&model);
    assert_string_equal(model_check(&model), "differs: the file holds no tensors");
    model_close(&model);
}

/* ---- hyper-parameters that do not stand alone in a shape ---- */

static void fewer_key_value_heads(void **state)
{
    BEGIN(LLAMA_7B);
    model_resize(&model, "*.[kv]_proj.weight", 1024, 512);
    assert_string_equal(model_check(&model),
                        "differs: num_key_value_heads is 8 in config.json, the file has 4 (64 tensors); or "
                        "num_attention_heads should be 64 instead of 32");
    assert_string_equal(model_cause(&model, "hyperparameter")->hint,
                        "write into config.json: {\"num_key_value_heads\": 4}; --set num_key_value_heads=4 tries it");
    model_close(&model);
}

static void one_expert_more(void **state)
{
    BEGIN(mixtral);
    model_copy(&model, "*.experts.7.*", "experts.7", "experts.8");
    model_resize(&model, "*.gate.weight", 8, 9);
    assert_string_equal(model_check(&model),
                        "differs: num_local_experts is 8 in config.json, the file has 9 (32 tensors)");
    model_close(&model);
}

static void one_layer_more(void **state)
{
    BEGIN(mixtral);
    model_copy(&model, "model.layers.7.*", ".7.", ".8.");
    assert_string_equal(model_check(&model),
                        "differs: num_hidden_layers is 8 in config.json, the file has 9 (31 tensors)");
    model_close(&model);
}

/* The model has no layers beyond a hole, but more than one layer is gone: no other number of layers explains it. */
static void a_layer_missing_near_the_end(void **state)
{
    BEGIN(LLAMA_7B);
    model_drop(&model, "model.layers.30.*");
    assert_string_equal(model_check(&model), "differs: model.layers.30 is missing altogether (9 tensors)");
    model_close(&model);
}

/* Nothing that a file suggests is expanded without bound. */
static void a_huge_suggestion(void **state)
{
    BEGIN(mixtral);
    model_resize(&model, "*.gate.weight", 8, 9000000000000);
    model_retype(&model, "*.gate.weight", SHAPEPROOF_DTYPE_F8_E4M3);
    assert_string_equal(model_check_memory(&model),
                        "differs: 8 tensors have another shape: model.layers.{0-7}.block_sparse_moe.gate.weight");
    model_close(&model);
}

/* ---- renamed ---- */

static void a_component_renamed_everywhere(void **state)
{
    BEGIN(LLAMA_7B);
    model_rename(&model, "*", ".layers.", ".blocks.");
    assert_string_equal(model_check(&model), "differs: renamed: 'layers' is called 'blocks' (288 tensors) in the file");
    model_close(&model);
}

static void two_kinds_renamed(void **state)
{
    BEGIN(LLAMA_7B);
    model_rename(&model, "*", ".up_proj.", ".up.");
    model_rename(&model, "model.norm.weight", "norm", "final_norm");
    assert_string_equal(model_check(&model),
                        "differs: renamed: model.layers.{}.mlp.up_proj.weight is called model.layers.{}.mlp.up.weight "
                        "(32 tensors), model.norm.weight is called model.final_norm.weight in the file");
    model_close(&model);
}

static void some_layers_renamed(void **state)
{
    BEGIN(LLAMA_7B);
    model_rename(&model, "model.layers.1?.*", ".o_proj.", ".out_proj.");
    assert_string_equal(model_check(&model), "differs: renamed: model.layers.{}.self_attn.o_proj.weight is called "
                                             "model.layers.{}.self_attn.out_proj.weight (10 tensors) in the file");
    model_close(&model);
}

/* Of one shape, but of no likeness: nothing is claimed. */
static void no_likeness(void **state)
{
    BEGIN(LLAMA_7B);
    model_rename(&model, "model.norm.weight", "model.norm.weight", "foo.bar.weight");
    assert_string_equal(model_check(&model), "differs: model.norm.weight is missing; foo.bar.weight is unexpected");
    assert_null(model_cause(&model, "renamed"));
    model_close(&model);
}

/* Up and gate have the same shape: which is which cannot be told. */
static void ambiguous_names(void **state)
{
    BEGIN(LLAMA_7B);
    model_rename(&model, "*", ".up_proj.", ".w1.");
    model_rename(&model, "*", ".gate_proj.", ".w3.");
    assert_string_equal(
        model_check(&model),
        "differs: 64 tensors are missing: model.layers.{0-31}.mlp.{gate_proj,up_proj}.weight; 64 are unexpected");
    assert_null(model_cause(&model, "renamed"));
    model_close(&model);
}

/* The like name has another shape. */
static void renamed_and_reshaped(void **state)
{
    BEGIN(LLAMA_7B);
    model_resize(&model, "model.layers.3.mlp.up_proj.weight", 11008, 77);
    model_rename(&model, "model.layers.3.mlp.up_proj.weight", "weight", "wight");
    assert_string_equal(
        model_check(&model),
        "differs: model.layers.3.mlp.up_proj.weight is missing; model.layers.3.mlp.up_proj.wight is unexpected");
    assert_null(model_cause(&model, "renamed"));
    model_close(&model);
}

/* The indices must agree: layer 3 is not layer 4. */
static void renamed_index(void **state)
{
    BEGIN(LLAMA_7B);
    model_drop(&model, "model.layers.3.mlp.up_proj.weight");
    model_copy(&model, "model.layers.4.mlp.up_proj.weight", "weight", "wight");
    assert_string_equal(
        model_check(&model),
        "differs: model.layers.3.mlp.up_proj.weight is missing; model.layers.4.mlp.up_proj.wight is unexpected");
    assert_null(model_cause(&model, "renamed"));
    model_close(&model);
}

/* ---- biases, transposed matrices ---- */

static void one_bias_missing_is_a_tensor_missing(void **state)
{
    BEGIN(GPT2_SMALL);
    model_drop(&model, "transformer.h.3.mlp.c_fc.bias");
    assert_string_equal(model_check(&model), "differs: transformer.h.3.mlp.c_fc.bias is missing");
    model_close(&model);
}

static void biases_that_no_setting_gives(void **state)
{
    BEGIN(GPT2_SMALL);
    model_drop(&model, "*.attn.c_proj.bias");
    model_add_biases(&model, "transformer.w[tp]e.weight");
    assert_string_equal(model_check(&model),
                        "differs: the file lacks biases that gpt2 always has: transformer.h.{0-11}.attn.c_proj.bias "
                        "(12 tensors); the file has biases that gpt2 never has: transformer.{wte,wpe}.bias "
                        "(2 tensors)");
    model_close(&model);
}

static void conv1d_as_linear(void **state)
{
    BEGIN(GPT2_SMALL);
    model_transpose(&model, "*.c_*.weight");
    assert_string_equal(model_check(&model), "differs: stored transposed: transformer.h.{0-11}.attn.c_attn.weight, "
                                             "transformer.h.{0-11}.mlp.{c_fc,c_proj}.weight (36 tensors)");
    model_close(&model);
}

/* ---- dtypes ---- */

static void dtypes_by_kind_are_as_they_should(void **state)
{
    BEGIN(LLAMA_7B);
    model_retype(&model, "*", SHAPEPROOF_DTYPE_BF16);
    model_retype(&model, "*norm*", SHAPEPROOF_DTYPE_F32);
    assert_string_equal(model_check(&model), "match: all 291 tensors, 5,933,109,248 elements");
    model_close(&model);
}

/* Of two halves that one is wrong that the rest of the file is not like. */
static void half_of_a_kind(void **state)
{
    BEGIN(LLAMA_7B);
    model_retype(&model, "model.layers.?.mlp.up_proj.weight", SHAPEPROOF_DTYPE_F16);
    model_retype(&model, "model.layers.1[0-5].mlp.up_proj.weight", SHAPEPROOF_DTYPE_F16);
    assert_string_equal(model_check(&model),
                        "differs: 16 tensors have another dtype: model.layers.{0-15}.mlp.up_proj.weight");
    model_retype(&model, "model.layers.16.mlp.up_proj.weight", SHAPEPROOF_DTYPE_F16);
    assert_string_equal(model_check(&model),
                        "differs: 15 tensors have another dtype: model.layers.{17-31}.mlp.up_proj.weight");
    model_close(&model);
}

/* In a kind of two there is no majority, but in the file there is. */
static void one_of_a_pair(void **state)
{
    BEGIN("{\"model_type\": \"gpt2\", \"n_layer\": 2}");
    model_retype(&model, "transformer.h.1.attn.c_attn.bias", SHAPEPROOF_DTYPE_BF16);
    assert_string_equal(model_check(&model),
                        "differs: transformer.h.1.attn.c_attn.bias has dtype BF16 where all others have F32");
    model_retype(&model, "transformer.h.1.attn.c_attn.weight", SHAPEPROOF_DTYPE_BF16);
    assert_string_equal(model_check(&model), "differs: 2 tensors have another dtype: "
                                             "transformer.h.1.attn.c_attn.{weight,bias}");
    model_close(&model);
}

/* A temperature that is made of a number of NumPy is double; a matrix is not, and neither is one that is shorter. */
static void a_scalar_of_its_own(void **state)
{
    BEGIN("{\"model_type\": \"clip\", \"text_config\": {\"num_hidden_layers\": 2}, "
          "\"vision_config\": {\"num_hidden_layers\": 2}}");
    static const enum shapeproof_dtype files[] = {SHAPEPROOF_DTYPE_F32, SHAPEPROOF_DTYPE_F16, SHAPEPROOF_DTYPE_BF16};
    for (size_t i = 0; i < 3; i++) {
        model_retype(&model, "*", files[i]);
        model_retype(&model, "logit_scale", SHAPEPROOF_DTYPE_F64);
        assert_memory_equal(model_check(&model), "match: all ", 11);
    }
    model_retype(&model, "logit_scale", SHAPEPROOF_DTYPE_F16);
    assert_string_equal(model_check(&model), "differs: logit_scale has dtype F16 where all others have BF16");
    model_retype(&model, "logit_scale", SHAPEPROOF_DTYPE_BF16);
    model_retype(&model, "text_projection.weight", SHAPEPROOF_DTYPE_F64);
    assert_string_equal(model_check(&model),
                        "differs: text_projection.weight has dtype F64 where all others have BF16");
    model_close(&model);
}

/* A merge of two models, of which each gave half of the layers: the configuration says which half is the other one. */
static void half_of_the_layers(void **state)
{
    struct model model;
    (void)state;
    model_open(&model, "{\"model_type\": \"llama\", \"architectures\": [\"LlamaForCausalLM\"], \"vocab_size\": 100, "
                       "\"hidden_size\": 64, \"num_hidden_layers\": 4, \"num_attention_heads\": 4, "
                       "\"intermediate_size\": 96, \"torch_dtype\": \"bfloat16\"}");
    model_predict(&model, 0);
    model_retype(&model, "*", SHAPEPROOF_DTYPE_BF16);
    model_retype(&model, "*.layers.[01].mlp.up_proj.weight", SHAPEPROOF_DTYPE_F16);
    assert_string_equal(model_check(&model),
                        "differs: 2 tensors have another dtype: model.layers.{0,1}.mlp.up_proj.weight");
    model_set(&model, "torch_dtype=float16");
    assert_string_equal(model_check(&model),
                        "differs: 2 tensors have another dtype: model.layers.{2,3}.mlp.up_proj.weight");
    model_set(&model, "torch_dtype=null");
    assert_string_equal(model_check(&model),
                        "differs: 2 tensors have another dtype: model.layers.{0,1}.mlp.up_proj.weight");
    model_close(&model);
}

static void dtypes_that_the_table_declares(void **state)
{
    BEGIN(BERT_BASE);
    model_predict(&model, WITH_OPTIONAL);
    assert_string_equal(model_check(&model), "match: all 207 tensors, 110,106,940 elements");
    assert_int_equal(model_findings(&model, "optional"), 5);
    model_retype(&model, "*position_ids", SHAPEPROOF_DTYPE_F32);
    assert_string_equal(model_check(&model),
                        "differs: bert.embeddings.position_ids has dtype F32 where the table has I64");
    model_close(&model);
}

/* Vectors of a whole kind, and buffers of which the table says no dtype: a mask may be one of booleans. */
static void dtypes_of_vectors_and_buffers(void **state)
{
    BEGIN(GPT2_SMALL);
    model_predict(&model, WITH_OPTIONAL);
    model_retype(&model, "*.attn.bias", SHAPEPROOF_DTYPE_BOOL);
    assert_string_equal(model_check(&model), "match: all 172 tensors, 137,022,732 elements");
    model_retype(&model, "transformer.h.*.ln_1.weight", SHAPEPROOF_DTYPE_I64);
    assert_string_equal(model_check(&model),
                        "differs: 12 tensors have another dtype: transformer.h.{0-11}.ln_1.weight");
    model_retype(&model, "transformer.h.*.ln_1.weight", SHAPEPROOF_DTYPE_F32);
    model_retype(&model, "transformer.h.3.attn.bias", SHAPEPROOF_DTYPE_C64);
    assert_string_equal(model_check(&model),
                        "differs: transformer.h.3.attn.bias has dtype C64, but this buffer has real numbers");
    model_close(&model);
}

/* ---- optional tensors, trainer state ---- */

static void optional_buffers(void **state)
{
    BEGIN(GPT2_SMALL);
    model_predict(&model, WITH_OPTIONAL);
    assert_string_equal(model_check(&model), "match: all 172 tensors, 137,022,732 elements");
    assert_int_equal(model_findings(&model, "optional"), 24);
    assert_string_equal(shapeproof_check_group(model.check, 0)->name, "transformer.h.{0-11}.attn.bias");
    assert_string_equal(shapeproof_check_group(model.check, 0)->first->message, "is an optional buffer");
    model_resize(&model, "transformer.h.7.attn.bias", 1024, 77);
    assert_string_equal(
        model_check(&model),
        "differs: transformer.h.7.attn.bias (1, 1, 77, 77), expected (1, 1, 1024, 1024), from n_positions");
    model_close(&model);
}

static void trainer_state(void **state)
{
    BEGIN(GPT2_SMALL);
    for (size_t i = model.count; i-- > 0;) {
        char name[256];
        snprintf(name, sizeof name, "optimizer.state.%zu.exp_avg", i);
        struct part part = model.parts[i];
        model_add_shape(&model, name, part.rank, part.shape)->flags = SHAPEPROOF_TENSOR_STATE;
    }
    assert_string_equal(model_check_memory(&model), "match: all 148 tensors, 124,439,808 elements");
    assert_string_equal(model_cause(&model, "state")->message, "148 tensors of state beside the model");
    model_close(&model);
}

/* The state is most of the file, and the model is below a prefix: that is found all the same. */
static void trainer_state_and_prefix(void **state)
{
    BEGIN(GPT2_SMALL);
    model_prefix(&model, "model.");
    for (size_t i = 0; i < 900; i++) {
        char name[256];
        snprintf(name, sizeof name, "%zu.state.%zu.exp_avg", i, i);
        model_add_shape(&model, name, SHAPE(3))->flags = SHAPEPROOF_TENSOR_STATE;
    }
    assert_string_equal(model_check_memory(&model),
                        "explained: 148 of 1048 names in the file begin with 'model.'; nothing else differs");
    model_close(&model);
}

/* ---- files on disk ---- */

static void fixtures(void **state)
{
    static const char *const paths[] = {"fixtures/models/tiny-gpt2", "fixtures/models/tiny-gpt2-sharded",
                                        "fixtures/models/tiny-llama", "fixtures/models/tiny-bert"};
    (void)state;
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        struct model model;
        struct shapeproof_error error = {0};
        model_open(&model, "{}");
        char *config = shapeproof_config_beside(paths[i], &error);
        assert_int_equal(shapeproof_config_load(model.config, config, &error), SHAPEPROOF_OK);
        model_check_path(&model, paths[i]);
        assert_int_equal(shapeproof_check_verdict(model.check), SHAPEPROOF_VERDICT_MATCH);
        shapeproof_free(config);
        model_close(&model);
    }
}

/* What torch saved: the head shares the storage of the embedding. */
static void a_torch_file(void **state)
{
    struct model model;
    struct shapeproof_error error = {0};
    (void)state;
    model_open(&model, "{}");
    assert_int_equal(shapeproof_config_load(model.config, "fixtures/models/tiny-gpt2/config.json", &error),
                     SHAPEPROOF_OK);
    assert_string_equal(model_check_path(&model, "fixtures/models/tiny-gpt2/pytorch_model.bin"),
                        "match: all 29 tensors, 7,872 elements");
    assert_string_equal(model_cause(&model, "tied")->message,
                        "lm_head.weight shares the storage of transformer.wte.weight, as it should "
                        "(tie_word_embeddings is true in config.json)");
    model_set(&model, "tie_word_embeddings=false");
    assert_string_equal(model_check_path(&model, "fixtures/models/tiny-gpt2/pytorch_model.bin"),
                        "explained: lm_head.weight shares the storage of transformer.wte.weight although "
                        "tie_word_embeddings is false on the command line; nothing else differs");
    model_close(&model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_alteration),
        cmocka_unit_test(vocabulary_and_layer_and_prefix),
        cmocka_unit_test(two_hyperparameters),
        cmocka_unit_test(two_dimensions_of_one_tensor),
        cmocka_unit_test(three_hyperparameters),
        cmocka_unit_test(prefix_and_one_missing),
        cmocka_unit_test(holes_in_the_layers),
        cmocka_unit_test(findings_of_every_kind),
        cmocka_unit_test(shapes_stay_apart),
        cmocka_unit_test(everything_is_a_stranger),
        cmocka_unit_test(an_empty_file),
        cmocka_unit_test(fewer_key_value_heads),
        cmocka_unit_test(one_expert_more),
        cmocka_unit_test(one_layer_more),
        cmocka_unit_test(a_layer_missing_near_the_end),
        cmocka_unit_test(a_huge_suggestion),
        cmocka_unit_test(a_component_renamed_everywhere),
        cmocka_unit_test(two_kinds_renamed),
        cmocka_unit_test(some_layers_renamed),
        cmocka_unit_test(no_likeness),
        cmocka_unit_test(ambiguous_names),
        cmocka_unit_test(renamed_and_reshaped),
        cmocka_unit_test(renamed_index),
        cmocka_unit_test(one_bias_missing_is_a_tensor_missing),
        cmocka_unit_test(biases_that_no_setting_gives),
        cmocka_unit_test(conv1d_as_linear),
        cmocka_unit_test(dtypes_by_kind_are_as_they_should),
        cmocka_unit_test(half_of_the_layers),
        cmocka_unit_test(half_of_a_kind),
        cmocka_unit_test(one_of_a_pair),
        cmocka_unit_test(a_scalar_of_its_own),
        cmocka_unit_test(dtypes_of_vectors_and_buffers),
        cmocka_unit_test(dtypes_that_the_table_declares),
        cmocka_unit_test(optional_buffers),
        cmocka_unit_test(trainer_state),
        cmocka_unit_test(trainer_state_and_prefix),
        cmocka_unit_test(fixtures),
        cmocka_unit_test(a_torch_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
