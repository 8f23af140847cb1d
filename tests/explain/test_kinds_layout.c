/* SPDX-License-Identifier: MIT
 * One tensor where several are expected, several where one is, and the same tensors under the names that another
 * program or another year gives them. */
#define _XOPEN_SOURCE 700
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "explain/kinds.h"

static const char llama3[] = "{\"model_type\": \"llama\", \"architectures\": [\"LlamaForCausalLM\"], "
                             "\"vocab_size\": 128256, \"hidden_size\": 4096, \"num_hidden_layers\": 32, "
                             "\"num_attention_heads\": 32, \"num_key_value_heads\": 8, \"intermediate_size\": 14336, "
                             "\"tie_word_embeddings\": false, \"attention_bias\": false}";
static const char bart[] = "{\"model_type\": \"bart\", \"architectures\": [\"BartForConditionalGeneration\"], "
                           "\"vocab_size\": 50265, \"d_model\": 1024, \"encoder_layers\": 6, \"decoder_layers\": 6, "
                           "\"encoder_attention_heads\": 16, \"decoder_attention_heads\": 16, "
                           "\"encoder_ffn_dim\": 4096, \"decoder_ffn_dim\": 4096, \"max_position_embeddings\": 1024}";
static const char gpt2[] =
    "{\"model_type\": \"gpt2\", \"architectures\": [\"GPT2LMHeadModel\"], \"vocab_size\": 50257, "
    "\"n_embd\": 768, \"n_layer\": 12, \"n_head\": 12, \"n_positions\": 1024}";
static const char mixtral[] = "{\"model_type\": \"mixtral\", \"architectures\": [\"MixtralForCausalLM\"], "
                              "\"vocab_size\": 32000, \"hidden_size\": 4096, \"num_hidden_layers\": 4, "
                              "\"num_attention_heads\": 32, \"num_key_value_heads\": 8, "
                              "\"intermediate_size\": 14336, \"num_local_experts\": 8}";
static const char qwen3_moe[] = "{\"model_type\": \"qwen3_moe\", \"architectures\": [\"Qwen3MoeForCausalLM\"], "
                                "\"vocab_size\": 151936, \"hidden_size\": 2048, \"num_hidden_layers\": 2, "
                                "\"num_attention_heads\": 32, \"num_key_value_heads\": 4, \"head_dim\": 128, "
                                "\"moe_intermediate_size\": 768, \"num_experts\": 128, \"intermediate_size\": 6144}";
static const char neox[] = "{\"model_type\": \"gpt_neox\", \"architectures\": [\"GPTNeoXForCausalLM\"], "
                           "\"vocab_size\": 50304, \"hidden_size\": 2048, \"num_hidden_layers\": 4, "
                           "\"num_attention_heads\": 16, \"intermediate_size\": 8192}";
static const char whisper[] = "{\"model_type\": \"whisper\", \"architectures\": [\"WhisperForConditionalGeneration\"], "
                              "\"vocab_size\": 51865, \"d_model\": 384, \"encoder_layers\": 4, \"decoder_layers\": 4, "
                              "\"encoder_ffn_dim\": 1536, \"decoder_ffn_dim\": 1536, \"num_mel_bins\": 80}";
static const char vit[] = "{\"model_type\": \"vit\", \"architectures\": [\"ViTForImageClassification\"], "
                          "\"num_hidden_layers\": 12, \"id2label\": {\"0\": \"a\", \"1\": \"b\", \"2\": \"c\"}}";
static const char wav2vec2[] = "{\"model_type\": \"wav2vec2\", \"architectures\": [\"Wav2Vec2ForCTC\"]}";
static const char bert[] = "{\"model_type\": \"bert\", \"architectures\": [\"BertForMaskedLM\"], "
                           "\"vocab_size\": 30522, \"hidden_size\": 768, \"num_hidden_layers\": 12}";
static const char resnet[] = "{\"model_type\": \"resnet\", \"architectures\": [\"ResNetForImageClassification\"], "
                             "\"num_channels\": 3, \"embedding_size\": 64, \"hidden_sizes\": [256, 512, 1024, 2048], "
                             "\"depths\": [3, 4, 6, 3], \"layer_type\": \"bottleneck\"}";

/* ---- joining and dividing ---- */

static void drop_part(struct model *model, size_t place)
{
    free(model->parts[place].name);
    memmove(&model->parts[place], &model->parts[place + 1], (model->count - place - 1) * sizeof *model->parts);
    model->count--;
}

/* Renames those tensors; one that is called like an earlier one is put behind it along that dimension. */
static void fuse(struct model *model, const char *names, const char *from, const char *to, uint32_t axis)
{
    for (size_t i = 0; i < model->count; i++) {
        if (!fits(&model->parts[i], names)) continue;
        replace_in(&model->parts[i], from, to);
        for (size_t k = 0; k < i; k++) {
            if (strcmp(model->parts[k].name, model->parts[i].name) != 0) continue;
            model->parts[k].shape[axis] += model->parts[i].shape[axis];
            drop_part(model, i--);
            break;
        }
    }
}

/* Leaves the index behind `before` out, and puts all that are called alike then into one tensor. */
static void stack(struct model *model, const char *names, const char *before)
{
    for (size_t i = 0; i < model->count; i++) {
        struct part *part = &model->parts[i];
        if (!fits(part, names)) continue;
        char *index = strstr(part->name, before) + strlen(before), *rest = strchr(index, '.') + 1;
        memmove(index, rest, strlen(rest) + 1);
        memmove(part->shape + 1, part->shape, part->rank * sizeof *part->shape);
        part->shape[0] = 1;
        part->rank++;
        for (size_t k = 0; k < i; k++) {
            if (strcmp(model->parts[k].name, part->name) != 0) continue;
            model->parts[k].shape[0]++;
            drop_part(model, i--);
            break;
        }
    }
}

/* Cuts each of those tensors along that dimension into pieces of these sizes. */
static void cut(struct model *model, const char *names, const char *from, uint32_t axis, const char *const *to,
                const uint64_t *sizes, size_t pieces)
{
    const size_t count = model->count;
    for (size_t i = 0; i < count; i++) {
        if (!fits(&model->parts[i], names)) continue;
        for (size_t p = 0; p < pieces; p++) {
            const struct part whole = model->parts[i];
            struct part *part = model_add_shape(model, whole.name, whole.rank, whole.shape);
            part->shape[axis] = sizes[p];
            replace_in(part, from, to[p]);
        }
    }
    model_drop(model, names);
}

#define CUT(model, names, from, axis, to, ...)                                                                         \
    cut(model, names, from, axis, to, (const uint64_t[]){__VA_ARGS__}, sizeof(to) / sizeof *(to))

static void fuse_llama(struct model *model)
{
    fuse(model, "*.q_proj.weight", "q_proj", "qkv_proj", 0);
    fuse(model, "*.k_proj.weight", "k_proj", "qkv_proj", 0);
    fuse(model, "*.v_proj.weight", "v_proj", "qkv_proj", 0);
    fuse(model, "*.gate_proj.weight", "gate_proj", "gate_up_proj", 0);
    fuse(model, "*.up_proj.weight", ".up_proj", ".gate_up_proj", 0);
}

#define LLAMA_FUSED                                                                                                    \
    "fused in the file: self_attn.qkv_proj = q_proj + k_proj + v_proj, mlp.gate_up_proj = gate_proj + up_proj "

/* ---- side by side ---- */

/* Query, key and value in one, gate and up in one: what inference engines write. */
static void fused_projections(void **state)
{
    BEGIN(llama3);
    fuse_llama(&model);
    SAYS("explained: " LLAMA_FUSED "(160 tensors stored as 64); nothing else differs", "fused", 0);
    assert_int_equal(shapeproof_check_cause(model.check, 0)->explains, 224);
    assert_non_null(strstr(shapeproof_check_cause(model.check, 0)->hint, "order"));
    END;
}

static void fused_behind_a_prefix(void **state)
{
    BEGIN(llama3);
    fuse_llama(&model);
    model_prefix(&model, "module._orig_mod.");
    SAYS("explained: " LLAMA_FUSED "(160 tensors stored as 64); every name in the file begins with 'module._orig_mod.'",
         "fused wrapper", 0);
    END;
}

static void fused_without_the_base(void **state)
{
    BEGIN(llama3);
    fuse_llama(&model);
    model_rename(&model, "model.*", "model.", "");
    SAYS("explained: " LLAMA_FUSED "(160 tensors stored as 64); the file leaves out 'model.' in front of 130 names",
         "fused base-prefix", 0);
    END;
}

/* One layer has too few rows, one lacks the tensor: these stay errors, by name. */
static void fused_but_for_two_layers(void **state)
{
    BEGIN(llama3);
    fuse_llama(&model);
    model_part(&model, "model.layers.3.self_attn.qkv_proj.weight")->shape[0] = 6143;
    model_drop(&model, "model.layers.7.self_attn.qkv_proj.weight");
    SAYS("differs: model.layers.3.self_attn.qkv_proj.weight is (6143, 4096), but its parts do not add up to this "
         "shape; 3 findings without a known cause",
         "incomplete fused", 3);
    END;
}

/* Rows in all, as many as two of the three have: they are not these parts. A Phi-3 of four key heads has as many. */
static void fused_with_a_part_too_few(void **state)
{
    BEGIN(llama3);
    fuse_llama(&model);
    model_resize(&model, "*.qkv_proj.weight", 6144, 5120);
    SAYS("differs: the weights are of a phi3 model, not of llama: the file has "
         "model.layers.{0-31}.self_attn.qkv_proj.weight, model.layers.{0-31}.mlp.gate_up_proj.weight and lacks "
         "model.layers.{0-31}.self_attn.{q_proj,k_proj,v_proj}.weight, "
         "model.layers.{0-31}.mlp.{gate_proj,up_proj}.weight",
         "another-model", 0);
    END;
}

/* Nor can an odd number of rows be those of a Phi-3. */
static void fused_with_odd_rows(void **state)
{
    BEGIN(llama3);
    fuse_llama(&model);
    model_resize(&model, "*.qkv_proj.weight", 6144, 5097);
    model_check(&model);
    assert_null(strstr(shapeproof_check_cause(model.check, 0)->message, "qkv_proj"));
    assert_int_equal(sp_check_open(model.check), 4 * 32);
    assert_int_equal(shapeproof_check_verdict(model.check), SHAPEPROOF_VERDICT_DIFFERS);
    END;
}

/* fairseq keeps the projections of self-attention in one, without a dot before its kind. */
static void fairseq_in_proj(void **state)
{
    BEGIN(bart);
    fuse(&model, "*.self_attn.[qkv]_proj.weight", "k_proj.weight", "in_proj_weight", 0);
    fuse(&model, "*.self_attn.[qkv]_proj.weight", "v_proj.weight", "in_proj_weight", 0);
    fuse(&model, "*.self_attn.[qkv]_proj.weight", "q_proj.weight", "in_proj_weight", 0);
    fuse(&model, "*.self_attn.[qkv]_proj.bias", "k_proj.bias", "in_proj_bias", 0);
    fuse(&model, "*.self_attn.[qkv]_proj.bias", "v_proj.bias", "in_proj_bias", 0);
    fuse(&model, "*.self_attn.[qkv]_proj.bias", "q_proj.bias", "in_proj_bias", 0);
    SAYS("explained: fused in the file: self_attn.in_proj = q_proj + k_proj + v_proj (72 tensors stored as 24); "
         "nothing else differs",
         "fused", 0);
    END;
}

/* Keys and values in one, the queries apart, as Sockeye has them for attention to the source. */
static void keys_and_values(void **state)
{
    BEGIN(bart);
    fuse(&model, "*.encoder_attn.[kv]_proj.*", "k_proj", "kv_proj", 0);
    fuse(&model, "*.encoder_attn.v_proj.*", "v_proj", "kv_proj", 0);
    SAYS("explained: fused in the file: encoder_attn.kv_proj = k_proj + v_proj (24 tensors stored as 12); nothing "
         "else differs",
         "fused", 0);
    END;
}

/* The other way round, and transposed: GPT-2's one matrix as three. */
static void split_conv1d(void **state)
{
    static const char *const to[] = {"q_proj", "k_proj", "v_proj"};
    BEGIN(gpt2);
    CUT(&model, "*.attn.c_attn.weight", "c_attn", 1, to, 768, 768, 768);
    CUT(&model, "*.attn.c_attn.bias", "c_attn", 0, to, 768, 768, 768);
    SAYS("explained: split in the file: attn.c_attn = q_proj + k_proj + v_proj (24 tensors stored as 72); nothing "
         "else differs",
         "split", 0);
    END;
}

/* One of the three is missing in one layer: that layer stays an error. */
static void split_but_for_one(void **state)
{
    static const char *const to[] = {"q_proj", "k_proj", "v_proj"};
    BEGIN(gpt2);
    CUT(&model, "*.attn.c_attn.weight", "c_attn", 1, to, 768, 768, 768);
    CUT(&model, "*.attn.c_attn.bias", "c_attn", 0, to, 768, 768, 768);
    model_drop(&model, "transformer.h.4.attn.k_proj.weight");
    SAYS("differs: the file lacks transformer.h.4.attn.k_proj.weight, a part of "
         "transformer.h.4.attn.c_attn.weight",
         "incomplete split", 0);
    END;
}

/* Heads alternate in it, which no shape tells; the hint says so. */
static void interleaved_heads(void **state)
{
    static const char *const to[] = {"query", "key", "value"};
    BEGIN(neox);
    CUT(&model, "*.attention.query_key_value.*", "query_key_value", 0, to, 2048, 2048, 2048);
    SAYS("explained: split in the file: attention.query_key_value = query + key + value (8 tensors stored as 24); "
         "nothing else differs",
         "split", 0);
    assert_non_null(strstr(shapeproof_check_cause(model.check, 0)->hint, "whether heads alternate"));
    END;
}

/* Four matrices of one shape are missing, and one has the size of three of them under a name that says nothing: which
 * three is not clear, so nothing is claimed. */
static void which_three(void **state)
{
    BEGIN(bart);
    model_drop(&model, "*.encoder.layers.*.self_attn.*");
    for (int i = 0; i < 6; i++) {
        char name[64];
        snprintf(name, sizeof name, "model.encoder.layers.%d.self_attn.combined.weight", i);
        model_add_shape(&model, name, SHAPE(3072, 1024));
    }
    model_check(&model);
    assert_null(model_cause(&model, "fused"));
    assert_int_equal(shapeproof_check_verdict(model.check), SHAPEPROOF_VERDICT_DIFFERS);
    END;
}

/* ---- over an index ---- */

static void pack_mixtral(struct model *model)
{
    fuse(model, "*.experts.*.w1.weight", ".w1.weight", ".gate_up_proj", 0);
    fuse(model, "*.experts.*.w3.weight", ".w3.weight", ".gate_up_proj", 0);
    model_rename(model, "*.experts.*.w2.weight", ".w2.weight", ".down_proj");
    stack(model, "*.experts.*", ".experts.");
}

/* All experts of a layer in two tensors, under the name of the newer module. */
static void packed_experts(void **state)
{
    BEGIN(mixtral);
    pack_mixtral(&model);
    model_rename(&model, "*", "block_sparse_moe", "mlp");
    SAYS("explained: packed in the file: experts.gate_up_proj = 8 x (w1 + w3), experts.down_proj = 8 x w2 (96 "
         "tensors stored as 8); names of transformers 5: model.layers.0.mlp.gate.weight for "
         "model.layers.0.block_sparse_moe.gate.weight (4 tensors)",
         "packed other-names", 0);
    END;
}

static void packed_experts_of_many(void **state)
{
    BEGIN(qwen3_moe);
    fuse(&model, "*.experts.*.gate_proj.weight", ".gate_proj.weight", ".gate_up_proj", 0);
    fuse(&model, "*.experts.*.up_proj.weight", ".up_proj.weight", ".gate_up_proj", 0);
    model_rename(&model, "*.experts.*.down_proj.weight", ".down_proj.weight", ".down_proj");
    stack(&model, "*.experts.*", ".experts.");
    SAYS("explained: packed in the file: experts.gate_up_proj = 128 x (gate_proj + up_proj), experts.down_proj = "
         "128 x down_proj (768 tensors stored as 4); nothing else differs",
         "packed", 0);
    END;
}

/* One layer has an expert less. */
static void packed_with_an_expert_less(void **state)
{
    BEGIN(mixtral);
    pack_mixtral(&model);
    model_part(&model, "*.layers.2.*.down_proj")->shape[0] = 7;
    SAYS("differs: model.layers.2.block_sparse_moe.experts.down_proj is (7, 4096, 14336), but its parts do not add "
         "up to this shape",
         "incomplete packed", 0);
    END;
}

/* The layers of a model in one tensor for each kind. */
static void stacked_layers(void **state)
{
    BEGIN(llama3);
    stack(&model, "model.layers.*", ".layers.");
    SAYS("explained: packed in the file: layers.input_layernorm = 32 x input_layernorm, "
         "layers.post_attention_layernorm = 32 x post_attention_layernorm, self_attn.q_proj = 32 x q_proj and 6 "
         "more (288 tensors stored as 9); nothing else differs",
         "packed", 0);
    END;
}

/* ---- names of others ---- */

static void meta_names(struct model *model)
{
    static const char *const names[][2] = {
        {"self_attn.q_proj", "attention.wq"},     {"self_attn.k_proj", "attention.wk"},
        {"self_attn.v_proj", "attention.wv"},     {"self_attn.o_proj", "attention.wo"},
        {"mlp.gate_proj", "feed_forward.w1"},     {"mlp.down_proj", "feed_forward.w2"},
        {"mlp.up_proj", "feed_forward.w3"},       {"input_layernorm", "attention_norm"},
        {"post_attention_layernorm", "ffn_norm"}, {"lm_head", "output"},
        {"embed_tokens", "tok_embeddings"}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) model_rename(model, "*", names[i][0], names[i][1]);
    model_rename(model, "model.*", "model.", "");
}

#define META "names of Meta's own Llama: tok_embeddings.weight for model.embed_tokens.weight "

/* The checkpoint as its authors publish it, before it was converted. */
static void meta_llama(void **state)
{
    BEGIN(llama3);
    meta_names(&model);
    SAYS("explained: " META "(290 tensors); nothing else differs", "other-names", 0);
    assert_non_null(strstr(shapeproof_check_cause(model.check, 0)->hint, "wq and wk"));
    END;
}

static void meta_llama_with_rope_and_prefix(void **state)
{
    BEGIN(llama3);
    meta_names(&model);
    model_add_shape(&model, "rope.freqs", SHAPE(64));
    model_prefix(&model, "_orig_mod.");
    SAYS("explained: every name in the file begins with '_orig_mod.'; names of Meta's own Llama: "
         "_orig_mod.tok_embeddings.weight for model.embed_tokens.weight (290 tensors)",
         "wrapper other-names stray-buffers", 0);
    END;
}

/* A layer less, whatever the names are. */
static void meta_llama_with_a_layer_less(void **state)
{
    BEGIN(llama3);
    meta_names(&model);
    model_drop(&model, "layers.31.*");
    SAYS("differs: num_hidden_layers is 32 in config.json, the file has 31 (9 tensors)", "hyperparameter other-names",
         0);
    END;
}

/* With query, key and value in one besides. */
static void meta_llama_fused(void **state)
{
    BEGIN(llama3);
    meta_names(&model);
    fuse(&model, "*.attention.w[qkv].weight", "wq", "wqkv", 0);
    fuse(&model, "*.attention.wk.weight", "wk", "wqkv", 0);
    fuse(&model, "*.attention.wv.weight", "wv", "wqkv", 0);
    SAYS("explained: " META "(194 tensors); fused in the file: self_attn.qkv_proj = q_proj + k_proj + v_proj (96 "
         "tensors stored as 32)",
         "other-names fused", 0);
    END;
}

/* One tensor of another program's name is no such file. */
static void one_name_is_no_scheme(void **state)
{
    BEGIN(llama3);
    model_rename(&model, "lm_head.weight", "lm_head", "output");
    model_check(&model);
    assert_null(model_cause(&model, "other-names"));
    assert_int_equal(shapeproof_check_verdict(model.check), SHAPEPROOF_VERDICT_DIFFERS);
    END;
}

static void openai_whisper(void **state)
{
    static const char *const names[][2] = {{"self_attn_layer_norm", "attn_ln"},
                                           {"encoder_attn_layer_norm", "cross_attn_ln"},
                                           {"final_layer_norm", "mlp_ln"},
                                           {"self_attn.q_proj", "attn.query"},
                                           {"self_attn.k_proj", "attn.key"},
                                           {"self_attn.v_proj", "attn.value"},
                                           {"self_attn.out_proj", "attn.out"},
                                           {"encoder_attn.q_proj", "cross_attn.query"},
                                           {"encoder_attn.k_proj", "cross_attn.key"},
                                           {"encoder_attn.v_proj", "cross_attn.value"},
                                           {"encoder_attn.out_proj", "cross_attn.out"},
                                           {".fc1.", ".mlp.0."},
                                           {".fc2.", ".mlp.2."},
                                           {".layers.", ".blocks."},
                                           {"encoder.layer_norm", "encoder.ln_post"},
                                           {"decoder.layer_norm", "decoder.ln"},
                                           {"embed_positions.weight", "positional_embedding"},
                                           {"embed_tokens", "token_embedding"},
                                           {"model.", ""}};
    BEGIN(whisper);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) model_rename(&model, "*", names[i][0], names[i][1]);
    SAYS("explained: names of OpenAI's own Whisper: encoder.positional_embedding for "
         "model.encoder.embed_positions.weight "
         "(163 tensors); nothing else differs",
         "other-names", 0);
    END;
}

/* Another program's names, and its layout too. */
static void timm_vit(void **state)
{
    static const char *const names[][2] = {{"vit.embeddings.cls_token", "cls_token"},
                                           {"vit.embeddings.position_embeddings", "pos_embed"},
                                           {"vit.embeddings.patch_embeddings.projection", "patch_embed.proj"},
                                           {"vit.encoder.layer.", "blocks."},
                                           {"layernorm_before", "norm1"},
                                           {"layernorm_after", "norm2"},
                                           {"attention.output.dense", "attn.proj"},
                                           {"intermediate.dense", "mlp.fc1"},
                                           {"output.dense", "mlp.fc2"},
                                           {"vit.layernorm", "norm"},
                                           {"classifier", "head"}};
    BEGIN(vit);
    fuse(&model, "*.attention.attention.*", "attention.attention.query", "attn.qkv", 0);
    fuse(&model, "*.attention.attention.*", "attention.attention.key", "attn.qkv", 0);
    fuse(&model, "*.attention.attention.*", "attention.attention.value", "attn.qkv", 0);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) model_rename(&model, "*", names[i][0], names[i][1]);
    SAYS("explained: names of timm: cls_token for vit.embeddings.cls_token (128 tensors); fused in the file: "
         "attention.qkv_proj = query + key + value (72 tensors stored as 24)",
         "other-names fused", 0);
    END;
}

/* Length and direction of a weight, under the names of before and after a rewrite. */
static void weight_norm(void **state)
{
    BEGIN(wav2vec2);
    model_rename(&model, "*", "conv.weight_g", "conv.parametrizations.weight.original0");
    model_rename(&model, "*", "conv.weight_v", "conv.parametrizations.weight.original1");
    SAYS("explained: 2 tensors have names of another version: wav2vec2.encoder.pos_conv_embed.conv.parametrizations."
         "weight.{original0,original1}; nothing else differs",
         "old-names", 0);
    model_set(&model, "transformers_version=\"5.24.0\""); /* which writes these names */
    model_check(&model);
    assert_int_equal(shapeproof_check_verdict(model.check), SHAPEPROOF_VERDICT_MATCH);
    END;
}

static void gamma_and_beta(void **state)
{
    BEGIN(bert);
    model_rename(&model, "*LayerNorm.weight", "weight", "gamma");
    model_rename(&model, "*LayerNorm.bias", "bias", "beta");
    SAYS("explained: 52 tensors have names of another version: bert.embeddings.LayerNorm.{gamma,beta}, "
         "bert.encoder.layer.{0-11}.attention.output.LayerNorm.{gamma,beta}, "
         "bert.encoder.layer.{0-11}.output.LayerNorm.{gamma,beta} and 2 more; nothing else differs",
         "old-names", 0);
    END;
}

/* ---- the other way round ---- */

/* A matrix of a linear layer where GPT-2 keeps (in, out): the names are the same, so that no loader would turn it. */
static void linear_for_conv1d(void **state)
{
    BEGIN(gpt2);
    model_transpose(&model, "*.h.*.weight");
    SAYS("differs: stored transposed: transformer.h.{0-11}.attn.c_attn.weight, "
         "transformer.h.{0-11}.mlp.{c_fc,c_proj}.weight (36 tensors)",
         "transposed", 0);
    END;
}

/* Convolutions as Keras keeps them, (height, width, in, out). */
static void kernels_of_keras(void **state)
{
    BEGIN(resnet);
    for (size_t i = 0; i < model.count; i++) {
        struct part *part = &model.parts[i];
        if (part->rank == 4) {
            const uint64_t shape[] = {part->shape[2], part->shape[3], part->shape[1], part->shape[0]};
            memcpy(part->shape, shape, sizeof shape);
        }
    }
    SAYS("differs: stored transposed: resnet.embedder.embedder.convolution.weight, "
         "resnet.encoder.stages.{0-3}.layers.0.shortcut.convolution.weight, "
         "resnet.encoder.stages.{0,3}.layers.{0-2}.layer.{0-2}.convolution.weight and 30 more (53 tensors)",
         "transposed buffers", 0);
    END;
}

/* A convolution over single points is a matrix. */
static void points_as_matrices(void **state)
{
    BEGIN(resnet);
    for (size_t i = 0; i < model.count; i++) {
        struct part *part = &model.parts[i];
        if (part->rank == 4 && part->shape[2] == 1 && part->shape[3] == 1) part->rank = 2;
    }
    SAYS("explained: the same shape except for dimensions of 1: "
         "resnet.encoder.stages.{0-3}.layers.0.shortcut.convolution.weight, "
         "resnet.encoder.stages.{0,3}.layers.{0-2}.layer.{0,2}.convolution.weight, "
         "resnet.encoder.stages.1.layers.{0-3}.layer.{0,2}.convolution.weight and 12 more (36 tensors); "
         "nothing else differs",
         "squeezed buffers", 0);
    END;
}

/* A dimension of 1 in front of some; one of 2 is another tensor. */
static void ones_in_front(void **state)
{
    BEGIN(gpt2);
    for (size_t i = 0; i < model.count; i++) {
        struct part *part = &model.parts[i];
        if (!fits(part, "*.ln_?.*")) continue;
        part->shape[1] = part->shape[0];
        part->shape[0] = 1;
        part->rank = 2;
    }
    model_part(&model, "transformer.h.4.ln_1.bias")->shape[0] = 2;
    SAYS("differs: transformer.h.4.ln_1.bias (2, 768), expected (768)", "squeezed", 1);
    END;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fused_projections),
        cmocka_unit_test(fused_behind_a_prefix),
        cmocka_unit_test(fused_without_the_base),
        cmocka_unit_test(fused_but_for_two_layers),
        cmocka_unit_test(fused_with_a_part_too_few),
        cmocka_unit_test(fused_with_odd_rows),
        cmocka_unit_test(fairseq_in_proj),
        cmocka_unit_test(keys_and_values),
        cmocka_unit_test(split_conv1d),
        cmocka_unit_test(split_but_for_one),
        cmocka_unit_test(interleaved_heads),
        cmocka_unit_test(which_three),
        cmocka_unit_test(packed_experts),
        cmocka_unit_test(packed_experts_of_many),
        cmocka_unit_test(packed_with_an_expert_less),
        cmocka_unit_test(stacked_layers),
        cmocka_unit_test(meta_llama),
        cmocka_unit_test(meta_llama_with_rope_and_prefix),
        cmocka_unit_test(meta_llama_with_a_layer_less),
        cmocka_unit_test(meta_llama_fused),
        cmocka_unit_test(one_name_is_no_scheme),
        cmocka_unit_test(openai_whisper),
        cmocka_unit_test(timm_vit),
        cmocka_unit_test(weight_norm),
        cmocka_unit_test(gamma_and_beta),
        cmocka_unit_test(linear_for_conv1d),
        cmocka_unit_test(kernels_of_keras),
        cmocka_unit_test(points_as_matrices),
        cmocka_unit_test(ones_in_front),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
