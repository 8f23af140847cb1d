/* SPDX-License-Identifier: MIT
 * Files of other programs: their names, their order of dimensions; and parts of models. */
#define _XOPEN_SOURCE 700
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "infer/finding.h"

static const char gpt2[] = "{\"model_type\": \"gpt2\", \"architectures\": [\"GPT2LMHeadModel\"], \"n_layer\": 3, "
                           "\"n_embd\": 48, \"vocab_size\": 200, \"n_positions\": 40, \"n_inner\": 100}";
static const char llama[] = "{\"model_type\": \"llama\", \"architectures\": [\"LlamaForCausalLM\"], "
                            "\"vocab_size\": 320, \"hidden_size\": 256, \"num_hidden_layers\": 4, "
                            "\"num_attention_heads\": 4, \"num_key_value_heads\": 2, \"intermediate_size\": 640}";
static const char bert[] = "{\"model_type\": \"bert\", \"architectures\": [\"BertForMaskedLM\"], "
                           "\"num_hidden_layers\": 2, \"hidden_size\": 16, \"intermediate_size\": 24, "
                           "\"vocab_size\": 30}";

#define NOTED(id, text) assert_non_null(strstr(noted(&finding, id), text))

/* ---- names of other programs ---- */

static void rename_parts(struct model *model, const char *const *names, size_t count)
{
    for (size_t i = 0; i + 1 < count; i += 2) model_rename(model, "*", names[i], names[i + 1]);
}

#define RENAME(model, ...)                                                                                             \
    do {                                                                                                               \
        static const char *const names[] = {__VA_ARGS__};                                                              \
        rename_parts(model, names, sizeof names / sizeof *names);                                                      \
    } while (0)

static void rename_as_meta(struct model *model)
{
    RENAME(model, "model.embed_tokens", "tok_embeddings", "lm_head", "output", "self_attn.q_proj", "attention.wq",
           "self_attn.k_proj", "attention.wk", "self_attn.v_proj", "attention.wv", "self_attn.o_proj", "attention.wo",
           "input_layernorm", "attention_norm", "post_attention_layernorm", "ffn_norm", "mlp.gate_proj",
           "feed_forward.w1", "mlp.down_proj", "feed_forward.w2", "mlp.up_proj", "feed_forward.w3", "model.", "");
}

static void names_of_meta(void **state)
{
    BEGIN(llama);
    rename_as_meta(&model);
    model_add_shape(&model, "rope.freqs", SHAPE(32));
    FIND();
    assert_non_null(finding.inference);
    assert_string_equal(shapeproof_inference_table(finding.inference), "llama");
    assert_true(shapeproof_inference_explains_all(finding.inference));
    assert_int_equal(shapeproof_inference_explained(finding.inference), model.count - 1);
    TOLD("num_hidden_layers", "4");
    TOLD("intermediate_size", "640");
    TOLD("tie_word_embeddings", "false");
    NOTED("names", "of Meta's own Llama");
    NOTED("buffers", "rope.freqs");
    END();
}

/* Of the same models some versions store buffers that others compute. */
static void without_computed_buffers(void **state)
{
    BEGIN("{\"model_type\": \"bros\", \"architectures\": [\"BrosModel\"], \"num_hidden_layers\": 2, "
          "\"num_attention_heads\": 2, \"hidden_size\": 16, \"intermediate_size\": 24, \"vocab_size\": 40, "
          "\"max_position_embeddings\": 12}");
    model_drop(&model, "*inv_freq");
    FIND();
    assert_non_null(finding.inference);
    assert_string_equal(shapeproof_inference_table(finding.inference), "bros");
    assert_true(shapeproof_inference_explains_all(finding.inference));
    assert_int_equal(shapeproof_inference_missing_count(finding.inference), 0);
    NOTED("absent-buffers", "bbox_embeddings.bbox_sinusoid_emb.{x_pos_emb,y_pos_emb}.inv_freq");
    END();
}

/* With something in front, as trainers save it. */
static void names_of_meta_wrapped(void **state)
{
    BEGIN(llama);
    rename_as_meta(&model);
    model_prefix(&model, "model.");
    FIND();
    assert_true(is_found(&finding, "llama"));
    assert_true(shapeproof_inference_explains_all(finding.inference));
    END();
}

/* Of the base model something is left out in front, of the head nothing was. */
static void the_base_left_out_but_of_the_head(void **state)
{
    BEGIN(llama);
    model_rename(&model, "model.*", "model.", "");
    FIND();
    assert_true(is_found(&finding, "llama"));
    assert_true(shapeproof_inference_explains_all(finding.inference));
    TOLD("tie_word_embeddings", "false");
    END();
}

static void rename_as_tensorflow(struct model *model, const char *front, const char *head)
{
    model_transpose(model, "*dense.weight");
    model_transpose(model, "*query.weight");
    model_transpose(model, "*key.weight");
    model_transpose(model, "*value.weight");
    RENAME(model, "LayerNorm.weight", "LayerNorm/gamma:0", "LayerNorm.bias", "LayerNorm/beta:0", "embeddings.weight",
           "embeddings/embeddings:0", ".weight", "/kernel:0", ".bias", "/bias:0", "layer.", "layer_._", ".", "/", ".",
           "/", ".", "/", ".", "/", ".", "/", "layer_/_", "layer_._");
    model_rename(model, "bert/*", "", front);
    model_rename(model, "cls/*", "cls", head);
}

static void names_of_tensorflow(void **state)
{
    BEGIN(bert);
    rename_as_tensorflow(&model, "bert/tf_bert_for_masked_lm/", "mlm___cls/tf_bert_for_masked_lm/mlm___cls");
    FIND();
    assert_non_null(finding.inference);
    assert_true(is_found(&finding, "bert"));
    assert_true(shapeproof_inference_explains_all(finding.inference));
    TOLD("intermediate_size", "24");
    TOLD("num_hidden_layers", "2");
    NOTED("names", "of TensorFlow");
    END();
}

static void names_of_timm(void **state)
{
    BEGIN("{\"model_type\": \"vit\", \"architectures\": [\"ViTForImageClassification\"], \"hidden_size\": 48, "
          "\"num_hidden_layers\": 2, \"num_attention_heads\": 3, \"intermediate_size\": 96, \"image_size\": 32, "
          "\"patch_size\": 8, \"id2label\": {\"0\": \"a\", \"1\": \"b\", \"2\": \"c\"}}");
    model_drop(&model, "*.attention.key.*");
    model_drop(&model, "*.attention.value.*");
    model_resize(&model, "*.attention.query.bias", 48, 144);
    for (size_t i = 0; i < model.count; i++)
        if (fits(&model.parts[i], "*.attention.query.weight")) model.parts[i].shape[0] = 144;
    RENAME(&model, "vit.", "", "embeddings.cls_token", "cls_token", "embeddings.position_embeddings", "pos_embed",
           "embeddings.patch_embeddings.projection", "patch_embed.proj", "encoder.layer.", "blocks.",
           "attention.attention.query", "attn.qkv", "attention.output.dense", "attn.proj", "layernorm_before", "norm1",
           "layernorm_after", "norm2", "intermediate.dense", "mlp.fc1", "output.dense", "mlp.fc2", "layernorm", "norm",
           "classifier", "head");
    struct finding of_timm = find(&model, NULL), finding = find(&model, "vit");
    assert_non_null(of_timm.inference);
    assert_string_equal(shapeproof_inference_table(of_timm.inference), "timm_vit"); /* whose names these are */
    assert_true(shapeproof_inference_explains_all(of_timm.inference));
    finding_close(&of_timm);
    assert_non_null(finding.inference);
    assert_string_equal(shapeproof_inference_table(finding.inference), "vit");
    assert_true(shapeproof_inference_explains_all(finding.inference));
    assert_int_equal(shapeproof_inference_explained(finding.inference), model.count);
    TOLD("qkv_bias", "true");
    TOLD("num_labels", "3");
    NOTED("names", "of timm");
    NOTED("joined", "attention.qkv_proj = query + key + value: blocks.{0,1}.attn.qkv.{weight,bias} (4 tensors)");
    END();
}

/* A file that needs no joining is not explained by it. */
static void nothing_joined_where_names_do(void **state)
{
    BEGIN("{\"model_type\": \"llama\", \"architectures\": [\"LlamaForCausalLM\"], \"vocab_size\": 90, "
          "\"hidden_size\": 48, \"num_hidden_layers\": 3, \"num_attention_heads\": 4, "
          "\"num_key_value_heads\": 4, \"intermediate_size\": 112}");
    rename_as_meta(&model);
    FIND();
    assert_string_equal(shapeproof_inference_table(finding.inference), "llama");
    assert_string_equal(noted(&finding, "joined"), "");
    END();
}

/* ---- components that begin otherwise ---- */

static void components_without_a_level(void **state)
{
    BEGIN("{\"model_type\": \"llava\", \"architectures\": [\"LlavaForConditionalGeneration\"], "
          "\"text_config\": {\"model_type\": \"llama\", \"vocab_size\": 90, \"hidden_size\": 32, "
          "\"num_hidden_layers\": 2, \"num_attention_heads\": 4, \"num_key_value_heads\": 2, "
          "\"intermediate_size\": 48}, \"vision_config\": {\"hidden_size\": 16, \"num_hidden_layers\": 3, "
          "\"intermediate_size\": 24, \"image_size\": 28, \"patch_size\": 14}}");
    model_rename(&model, "vision_tower.*", "vision_tower.vision_model.", "vision_tower.");
    FIND();
    assert_true(is_found(&finding, "llava"));
    assert_true(shapeproof_inference_explains_all(finding.inference));
    TOLD("vision_config.num_hidden_layers", "3");
    GUESSED("vision_config.image_size", "28");
    END();
}

/* Two parts of models have the same tensors but for what is in front: which of them the file is nobody can tell. */
static void a_part_without_what_is_in_front(void **state)
{
    BEGIN("{\"model_type\": \"clip_text_model\", \"vocab_size\": 90, \"hidden_size\": 32, \"num_hidden_layers\": 2, "
          "\"intermediate_size\": 48, \"max_position_embeddings\": 20}");
    model_rename(&model, "text_model.*", "text_model.", "");
    FIND();
    assert_true(is_found(&finding, "clip_text_model"));
    assert_true(is_found(&finding, "xclip_text_model"));
    assert_true(shapeproof_inference_explains_all(finding.inference));
    END();
}

/* ---- the other way round ---- */

static void one_kind_of_matrix_turned(void **state)
{
    BEGIN(llama);
    model_transpose(&model, "*down_proj.weight");
    FIND();
    assert_non_null(finding.inference);
    assert_string_equal(shapeproof_inference_table(finding.inference), "llama");
    assert_int_equal(shapeproof_inference_unexplained_count(finding.inference), 0);
    assert_false(shapeproof_inference_explains_all(finding.inference));
    NOTED("transposed", "model.layers.{0-3}.mlp.down_proj.weight");
    END();
}

static void linear_layers_for_convolutions(void **state)
{
    BEGIN(gpt2);
    model_transpose(&model, "*c_attn.weight");
    model_transpose(&model, "*c_fc.weight");
    model_transpose(&model, "*c_proj.weight");
    FIND();
    assert_true(shapeproof_inference_explains_all(finding.inference));
    NOTED("turned", "gpt2 explains it as well with 9 tensors transposed, as nanoGPT stores it");
    END();
}

/* The file of GPT-2 itself is nothing else the other way round. */
static void convolutions_as_they_are(void **state)
{
    BEGIN(gpt2);
    FIND();
    FOUND("gpt2");
    assert_int_equal(shapeproof_inference_note_count(finding.inference), 0);
    END();
}

/* ---- parts of models ---- */

static void shard_in_the_middle(void **state)
{
    BEGIN(llama);
    model_drop(&model, "model.layers.[03].*");
    model_drop(&model, "model.embed_tokens.weight");
    model_drop(&model, "model.norm.weight");
    model_drop(&model, "lm_head.weight");
    FIND();
    assert_non_null(finding.inference);
    assert_string_equal(shapeproof_inference_table(finding.inference), "llama");
    assert_int_equal(shapeproof_inference_unexplained_count(finding.inference), 0);
    assert_int_equal(shapeproof_inference_missing_count(finding.inference), 9 + 3);
    GUESSED("num_hidden_layers", "3");
    GUESSED("tie_word_embeddings", "false");
    TOLD("intermediate_size", "640");
    END();
}

/* Embeddings and a norm are those of any model. */
static void nothing_of_the_layers(void **state)
{
    BEGIN(llama);
    model_drop(&model, "model.layers.*");
    FIND();
    assert_null(finding.inference);
    assert_int_equal(finding.error.status, SHAPEPROOF_ERR_UNKNOWN);
    END();
}

static void text_half(void **state)
{
    BEGIN(llama);
    model_prefix(&model, "language_model.");
    FIND();
    assert_non_null(finding.inference);
    assert_string_equal(shapeproof_inference_table(finding.inference), "llama");
    assert_true(shapeproof_inference_explains_all(finding.inference));
    NOTED("names", "language_model.");
    END();
}

/* Classes whose tensors are called the same. */
static void class_by_the_shape_of_the_head(void **state)
{
    BEGIN("{\"model_type\": \"bert\", \"architectures\": [\"BertForSequenceClassification\"], "
          "\"num_hidden_layers\": 2, \"hidden_size\": 16, \"intermediate_size\": 24, \"vocab_size\": 30, "
          "\"id2label\": {\"0\": \"a\", \"1\": \"b\"}}");
    FIND();
    FOUND("bert");
    END();
}

/* ---- what the file does not decide ---- */

static void undetermined_keys(void **state)
{
    BEGIN(llama);
    FIND();
    FOUND("llama");
    assert_non_null(strstr(shapeproof_inference_config(finding.inference),
                           "\"shapeproof_undetermined\": [\"model_type\", \"architectures\", \"num_attention_heads\", "
                           "\"num_key_value_heads\", \"head_dim\"]"));
    END();
}

/* transformers refuses a width that its default number of heads, 12, does not divide. */
static void heads_without_effect(void **state)
{
    BEGIN("{\"model_type\": \"gpt2\", \"architectures\": [\"GPT2LMHeadModel\"], \"n_layer\": 2, \"n_embd\": 20, "
          "\"vocab_size\": 200, \"n_positions\": 40, \"n_inner\": 100}");
    FIND();
    FOUND("gpt2");
    GUESSED("n_head", "5");
    BECAUSE("n_head", "no tensor of the file depends on it");
    assert_non_null(strstr(shapeproof_inference_config(finding.inference), "\"n_head\": 5,\n"));
    assert_non_null(
        strstr(shapeproof_inference_config(finding.inference), "\"shapeproof_undetermined\": [\"n_head\"]"));
    END();
}

/* Of the default sizes the number of heads is the default too, although another width of heads is more usual. */
static void heads_of_the_default_width(void **state)
{
    BEGIN("{\"model_type\": \"codegen\", \"architectures\": [\"CodeGenForCausalLM\"], \"n_layer\": 1, "
          "\"n_embd\": 4096, \"vocab_size\": 200, \"n_positions\": 40}");
    FIND();
    FOUND("codegen");
    GUESSED("n_head", "16");
    END();
}

/* A copy of the model that shares its storage, as an average does before the first step, ties nothing. */
static void copy_on_the_same_storage(void **state)
{
    BEGIN(llama);
    model_prefix(&model, "model.");
    model_copy(&model, "*", "model.", "model_ema.");
    model_share(&model, "*.lm_head.weight", "head");
    FIND();
    assert_true(is_found(&finding, "llama"));
    assert_true(explains_all(&finding));
    TOLD("tie_word_embeddings", "false");
    END();
}

/* Of two names of a class the configuration has the one of transformers, not that of the code beside the first models.
 */
static void class_of_today(void **state)
{
    BEGIN("{\"model_type\": \"phimoe\", \"architectures\": [\"PhiMoEForCausalLM\"], \"num_hidden_layers\": 2, "
          "\"hidden_size\": 64, \"intermediate_size\": 96, \"vocab_size\": 200, \"num_attention_heads\": 4, "
          "\"num_key_value_heads\": 2, \"num_local_experts\": 4, \"attention_bias\": true, \"lm_head_bias\": false}");
    FIND();
    FOUND("phimoe");
    GUESSED("architectures", "[\"PhimoeForCausalLM\"]");
    END();
}

/* Where null stands for all heads, transformers wants their number. */
static void as_many_key_heads_as_heads(void **state)
{
    BEGIN("{\"model_type\": \"mixtral\", \"architectures\": [\"MixtralForCausalLM\"], \"num_hidden_layers\": 2, "
          "\"hidden_size\": 60, \"intermediate_size\": 34, \"vocab_size\": 200, \"num_attention_heads\": 5, "
          "\"num_key_value_heads\": 5, \"num_local_experts\": 4}");
    FIND();
    FOUND("mixtral");
    assert_null(strstr(shapeproof_inference_config(finding.inference), "null"));
    assert_non_null(strstr(shapeproof_inference_config(finding.inference), "\"num_key_value_heads\": "));
    END();
}

/* Where null stands for no low-rank projection, 0 would be the rank of one. */
static void no_rank_of_zero(void **state)
{
    BEGIN("{\"model_type\": \"deepseek_v2\", \"architectures\": [\"DeepseekV2ForCausalLM\"], "
          "\"num_hidden_layers\": 2, \"hidden_size\": 64, \"intermediate_size\": 96, \"vocab_size\": 200, "
          "\"moe_intermediate_size\": 24, \"n_routed_experts\": 4, \"num_attention_heads\": 4, "
          "\"num_key_value_heads\": 4, \"kv_lora_rank\": 20, \"q_lora_rank\": null, \"qk_nope_head_dim\": 16, "
          "\"qk_rope_head_dim\": 8, \"v_head_dim\": 12, \"first_k_dense_replace\": 1}");
    FIND();
    assert_true(explains_all(&finding));
    assert_non_null(strstr(shapeproof_inference_config(finding.inference), "\"q_lora_rank\": null"));
    END();
}

static void nothing_undetermined(void **state)
{
    BEGIN("{\"model_type\": \"ctrl\", \"architectures\": [\"CTRLLMHeadModel\"], \"n_layer\": 2, "
          "\"n_embd\": 48, \"dff\": 60, \"vocab_size\": 200}");
    FIND();
    FOUND("ctrl");
    assert_int_equal(shapeproof_inference_undetermined_count(finding.inference), 0);
    assert_null(strstr(shapeproof_inference_config(finding.inference), "undetermined"));
    END();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_of_meta),
        cmocka_unit_test(without_computed_buffers),
        cmocka_unit_test(names_of_meta_wrapped),
        cmocka_unit_test(the_base_left_out_but_of_the_head),
        cmocka_unit_test(names_of_tensorflow),
        cmocka_unit_test(names_of_timm),
        cmocka_unit_test(nothing_joined_where_names_do),
        cmocka_unit_test(components_without_a_level),
        cmocka_unit_test(a_part_without_what_is_in_front),
        cmocka_unit_test(one_kind_of_matrix_turned),
        cmocka_unit_test(linear_layers_for_convolutions),
        cmocka_unit_test(convolutions_as_they_are),
        cmocka_unit_test(shard_in_the_middle),
        cmocka_unit_test(nothing_of_the_layers),
        cmocka_unit_test(text_half),
        cmocka_unit_test(class_by_the_shape_of_the_head),
        cmocka_unit_test(undetermined_keys),
        cmocka_unit_test(heads_without_effect),
        cmocka_unit_test(heads_of_the_default_width),
        cmocka_unit_test(copy_on_the_same_storage),
        cmocka_unit_test(class_of_today),
        cmocka_unit_test(as_many_key_heads_as_heads),
        cmocka_unit_test(no_rank_of_zero),
        cmocka_unit_test(nothing_undetermined),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
