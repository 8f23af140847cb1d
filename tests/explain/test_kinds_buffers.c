/* SPDX-License-Identifier: MIT
 * Tensors that come and go with the version that wrote a file, and that every loader computes itself: rotary
 * frequencies, causal masks, positions, counters. What merely has such a name is no such tensor. */
#define _XOPEN_SOURCE 700
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "explain/kinds.h"

static const char tinyllama[] = "{\"model_type\": \"llama\", \"architectures\": [\"LlamaForCausalLM\"], "
                                "\"vocab_size\": 32000, \"hidden_size\": 2048, \"num_hidden_layers\": 22, "
                                "\"num_attention_heads\": 32, \"num_key_value_heads\": 4, "
                                "\"intermediate_size\": 5632, \"tie_word_embeddings\": false}";
static const char phi3[] =
    "{\"model_type\": \"phi3\", \"architectures\": [\"Phi3ForCausalLM\"], \"vocab_size\": 32064, "
    "\"hidden_size\": 3072, \"num_hidden_layers\": 32, \"num_attention_heads\": 32, "
    "\"num_key_value_heads\": 32, \"intermediate_size\": 8192}";
static const char gpt2[] =
    "{\"model_type\": \"gpt2\", \"architectures\": [\"GPT2LMHeadModel\"], \"vocab_size\": 50257, "
    "\"n_embd\": 768, \"n_layer\": 12, \"n_head\": 12, \"n_positions\": 1024}";
static const char bert[] = "{\"model_type\": \"bert\", \"architectures\": [\"BertForMaskedLM\"], "
                           "\"vocab_size\": 30522, \"hidden_size\": 768, \"num_hidden_layers\": 12}";
static const char resnet[] = "{\"model_type\": \"resnet\", \"architectures\": [\"ResNetForImageClassification\"], "
                             "\"num_channels\": 3, \"embedding_size\": 64, \"hidden_sizes\": [256, 512, 1024, 2048], "
                             "\"depths\": [3, 4, 6, 3], \"layer_type\": \"bottleneck\"}";
static const char bart[] = "{\"model_type\": \"bart\", \"architectures\": [\"BartForConditionalGeneration\"], "
                           "\"vocab_size\": 50265, \"d_model\": 1024, \"encoder_layers\": 6, \"decoder_layers\": 6, "
                           "\"encoder_ffn_dim\": 4096, \"decoder_ffn_dim\": 4096, \"max_position_embeddings\": 1024}";

/* One for each layer; "%d" in the name is its index. */
static void add_to_layers(struct model *model, int layers, const char *before, const char *behind,
                          enum shapeproof_dtype dtype, uint32_t rank, const uint64_t *shape)
{
    for (int i = 0; i < layers; i++) {
        char name[128];
        snprintf(name, sizeof name, "%s%d%s", before, i, behind);
        model_add_shape(model, name, rank, shape)->dtype = dtype;
    }
}

/* Rotary frequencies where the table knows of them: stored and not trained. */
static void inv_freq_of_old_files(void **state)
{
    BEGIN(tinyllama);
    add_to_layers(&model, 22, "model.layers.", ".self_attn.rotary_emb.inv_freq", SHAPEPROOF_DTYPE_F32, SHAPE(32));
    SAYS("match: all 223 tensors, 1,100,049,088 elements", "buffers", 0);
    add_to_layers(&model, 1, "model.layers.", ".self_attn.rotary_emb.original_inv_freq", SHAPEPROOF_DTYPE_F32,
                  SHAPE(32));
    SAYS("explained: the file also has buffers that loaders compute anew: model.layers.0.self_attn.rotary_emb."
         "original_inv_freq (1 tensor); nothing else differs",
         "stray-buffers buffers", 0);
    END;
}

/* Twice as many heads of half the width make the same matrices. The frequencies tell, and that the heads of keys and
 * values are wrong as well. */
static void inv_freq_of_other_heads(void **state)
{
    BEGIN(tinyllama);
    add_to_layers(&model, 22, "model.layers.", ".self_attn.rotary_emb.inv_freq", SHAPEPROOF_DTYPE_F32, SHAPE(32));
    model_set(&model, "num_attention_heads=16");
    model_set(&model, "num_key_value_heads=2");
    SAYS("differs: num_attention_heads is 16 on the command line and num_key_value_heads 2, the file has 32 and 4 (22 "
         "tensors)",
         "hyperparameter buffers", 0);
    model_set(&model, "head_dim=128");
    SAYS("differs: head_dim is 128 on the command line, num_key_value_heads 2 and num_attention_heads 16, the file has "
         "64, 4 and 32 (22 tensors)",
         "hyperparameter buffers", 0);
    assert_string_equal(shapeproof_check_cause(model.check, 0)->hint,
                        "give --set head_dim=64 --set num_key_value_heads=4 --set num_attention_heads=32");
    END;
}

/* Where it does not, they are the same all the same; and their tables too. */
static void rotary_tables(void **state)
{
    BEGIN(phi3);
    add_to_layers(&model, 32, "model.layers.", ".self_attn.rotary_emb.inv_freq", SHAPEPROOF_DTYPE_F32, SHAPE(48));
    add_to_layers(&model, 32, "model.layers.", ".self_attn.rotary_emb.cos_cached", SHAPEPROOF_DTYPE_F32,
                  SHAPE(1, 1, 4096, 96));
    add_to_layers(&model, 32, "model.layers.", ".self_attn.rotary_emb.sin_cached", SHAPEPROOF_DTYPE_F32,
                  SHAPE(1, 1, 4096, 96));
    SAYS("explained: the file also has buffers that loaders compute anew: "
         "model.layers.{0-31}.self_attn.rotary_emb.{inv_freq,cos_cached,sin_cached} (96 tensors); "
         "nothing else differs",
         "stray-buffers", 0);
    END;
}

static void rope_freqs(void **state)
{
    BEGIN(tinyllama);
    model_add_shape(&model, "rope.freqs", SHAPE(32));
    SAYS("explained: the file also has buffers that loaders compute anew: rope.freqs (1 tensor); nothing "
         "else differs",
         "stray-buffers", 0);
    END;
}

/* A matrix of that name is learnt. */
static void a_parameter_called_inv_freq(void **state)
{
    BEGIN(phi3);
    add_to_layers(&model, 32, "model.layers.", ".self_attn.rotary_emb.inv_freq", SHAPEPROOF_DTYPE_F32, SHAPE(48, 3072));
    SAYS("differs: 32 tensors are unexpected: model.layers.{0-31}.self_attn.rotary_emb.inv_freq", "", 32);
    END;
}

static void causal_masks(void **state)
{
    BEGIN(gpt2);
    add_to_layers(&model, 12, "transformer.h.", ".attn.bias", SHAPEPROOF_DTYPE_U8, SHAPE(1, 1, 1024, 1024));
    add_to_layers(&model, 12, "transformer.h.", ".attn.masked_bias", SHAPEPROOF_DTYPE_F32, 0, NULL);
    SAYS("match: all 172 tensors, 137,022,732 elements", "buffers", 0);
    END;
}

/* A mask in a model that has none by its table. */
static void causal_masks_elsewhere(void **state)
{
    BEGIN(phi3);
    add_to_layers(&model, 32, "model.layers.", ".self_attn.bias", SHAPEPROOF_DTYPE_BOOL, SHAPE(1, 1, 4096, 4096));
    model_rename(&model, "*.self_attn.bias", "self_attn", "attn");
    SAYS("explained: the file also has buffers that loaders compute anew: model.layers.{0-31}.attn.bias "
         "(32 tensors); nothing else differs",
         "stray-buffers", 0);
    END;
}

/* A bias of attention is a bias, whatever masks are called. */
static void a_bias_called_attn_bias(void **state)
{
    BEGIN(phi3);
    add_to_layers(&model, 32, "model.layers.", ".attn.bias", SHAPEPROOF_DTYPE_F32, SHAPE(3072));
    SAYS("differs: 32 tensors are unexpected: model.layers.{0-31}.attn.bias", "", 32);
    END;
}

static void position_ids(void **state)
{
    BEGIN(bert);
    model_add_shape(&model, "bert.embeddings.position_ids", SHAPE(1, 512))->dtype = SHAPEPROOF_DTYPE_I64;
    SAYS("match: all 203 tensors, 109,514,810 elements", "buffers", 0);
    model_add_shape(&model, "bert.embeddings.token_type_ids", SHAPE(1, 512))->dtype = SHAPEPROOF_DTYPE_I64;
    SAYS("explained: the file also has buffers that loaders compute anew: bert.embeddings.token_type_ids "
         "(1 tensor); nothing else differs",
         "stray-buffers buffers", 0);
    END;
}

/* Real numbers are no positions. */
static void a_parameter_called_position_ids(void **state)
{
    BEGIN(tinyllama);
    model_add_shape(&model, "model.position_ids", SHAPE(1, 2048));
    SAYS("differs: model.position_ids is unexpected", "", 1);
    END;
}

/* Counters that files of the first years lack. */
static void counters_absent(void **state)
{
    BEGIN(resnet);
    model_drop(&model, "*num_batches_tracked");
    SAYS("explained: the file lacks buffers that loaders compute anew: "
         "resnet.embedder.embedder.normalization.num_batches_tracked, "
         "resnet.encoder.stages.{0-3}.layers.0.shortcut.normalization.num_batches_tracked, "
         "resnet.encoder.stages.{0,3}.layers.{0-2}.layer.{0-2}.normalization.num_batches_tracked and 30 "
         "more (53 tensors); nothing else differs",
         "absent-buffers buffers", 0);
    END;
}

/* Nobody can compute the statistics anew. */
static void statistics_absent(void **state)
{
    BEGIN(resnet);
    model_drop(&model, "resnet.embedder.*running_*");
    model_check(&model);
    assert_null(model_cause(&model, "absent-buffers"));
    assert_int_equal(sp_check_open(model.check), 2);
    END;
}

/* fairseq: positions that are sines, and a scalar that only knows a device. */
static void fairseq_positions(void **state)
{
    BEGIN(bart);
    model_add_shape(&model, "model.encoder.embed_positions._float_tensor", SHAPE(1));
    model_add_shape(&model, "model.decoder.embed_positions._float_tensor", SHAPE(1));
    model_add_shape(&model, "model.encoder.version", SHAPE(1));
    SAYS("explained: the file also has buffers that loaders compute anew: "
         "model.{encoder,decoder}.embed_positions._float_tensor, model.encoder.version (3 tensors); "
         "nothing else differs",
         "stray-buffers", 0);
    END;
}

/* ---- modules that have such buffers ---- */

/* Of a layer that is missing as a whole the counters are no matter of their own. */
static void a_layer_with_counters_absent(void **state)
{
    BEGIN(resnet);
    model_drop(&model, "resnet.encoder.stages.1.layers.2.*");
    SAYS("differs: resnet.encoder.stages.1.layers.2 is missing altogether (18 tensors)", "layers-missing buffers", 0);
    END;
}

/* Nor are those of a layer that nobody expects. */
static void a_stage_with_counters_too_many(void **state)
{
    BEGIN(resnet);
    model_copy(&model, "resnet.encoder.stages.3.layers.0.shortcut.*", "stages.3", "stages.4");
    model_retype(&model, "*num_batches_tracked", SHAPEPROOF_DTYPE_I64);
    SAYS("differs: 6 tensors are unexpected: resnet.encoder.stages.4.layers.0.shortcut.{convolution,normalization}."
         "weight, resnet.encoder.stages.4.layers.0.shortcut.normalization.{bias,running_mean,running_var,"
         "num_batches_tracked}",
         "buffers", 6);
    END;
}

static void counters_of_renamed_modules(void **state)
{
    BEGIN(resnet);
    model_rename(&model, "*", ".normalization.", ".norm.");
    SAYS("differs: renamed: 'normalization' is called 'norm' (265 tensors) in the file", "renamed", 0);
    END;
}

static void one_counter_renamed(void **state)
{
    BEGIN(resnet);
    model_rename(&model, "resnet.embedder.*num_batches_tracked", "tracked", "seen");
    SAYS("differs: renamed: resnet.embedder.embedder.normalization.num_batches_tracked is called "
         "resnet.embedder.embedder.normalization.num_batches_seen in the file",
         "renamed buffers", 0);
    END;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(inv_freq_of_old_files),
        cmocka_unit_test(inv_freq_of_other_heads),
        cmocka_unit_test(rotary_tables),
        cmocka_unit_test(rope_freqs),
        cmocka_unit_test(a_parameter_called_inv_freq),
        cmocka_unit_test(causal_masks),
        cmocka_unit_test(causal_masks_elsewhere),
        cmocka_unit_test(a_bias_called_attn_bias),
        cmocka_unit_test(position_ids),
        cmocka_unit_test(a_parameter_called_position_ids),
        cmocka_unit_test(counters_absent),
        cmocka_unit_test(statistics_absent),
        cmocka_unit_test(fairseq_positions),
        cmocka_unit_test(a_layer_with_counters_absent),
        cmocka_unit_test(a_stage_with_counters_too_many),
        cmocka_unit_test(counters_of_renamed_modules),
        cmocka_unit_test(one_counter_renamed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
