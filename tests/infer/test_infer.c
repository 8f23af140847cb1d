/* SPDX-License-Identifier: MIT
 * What a file without a configuration tells, what it cannot tell, and what is said of files that are damaged. */
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
                            "\"vocab_size\": 320, \"hidden_size\": 4096, \"num_hidden_layers\": 3, "
                            "\"num_attention_heads\": 32, \"num_key_value_heads\": 8, \"intermediate_size\": 11008}";

/* ---- what dimensions, numbers and absence tell ---- */

static void dimensions(void **state)
{
    BEGIN(gpt2);
    FIND();
    FOUND("gpt2");
    assert_string_equal(shapeproof_inference_table(finding.inference), "gpt2");
    TOLD("architectures", "[\"GPT2LMHeadModel\"]");
    TOLD("vocab_size", "200");
    TOLD("n_embd", "48");
    TOLD("n_positions", "40");
    TOLD("n_layer", "3");
    TOLD("n_inner", "100");
    TOLD("add_cross_attention", "false");
    TOLD("tie_word_embeddings", "true");
    BECAUSE("n_embd", "transformer.wte.weight, dimension 1");
    BECAUSE("n_layer", "the numbers in names such as transformer.h.0.ln_1.weight");
    BECAUSE("tie_word_embeddings", "lm_head.weight is not there");
    END();
}

static void heads_are_not_determined(void **state)
{
    BEGIN(llama);
    FIND();
    FOUND("llama");
    GUESSED("num_attention_heads", "32");
    GUESSED("num_key_value_heads", "8");
    GUESSED("head_dim", "128");
    BECAUSE("head_dim", "model.layers.0.self_attn.q_proj.weight, dimension 0, if num_attention_heads is right");
    TOLD("tie_word_embeddings", "false");
    TOLD("attention_bias", "false");
    assert_true(is_found(&finding, "mistral"));
    END();
}

/* A norm on each head tells how wide they are, and so how many. */
static void head_norms_determine_heads(void **state)
{
    BEGIN("{\"model_type\": \"qwen3\", \"vocab_size\": 300, \"hidden_size\": 64, \"num_hidden_layers\": 2, "
          "\"num_attention_heads\": 4, \"num_key_value_heads\": 2, \"head_dim\": 24, \"intermediate_size\": 96}");
    FIND();
    FOUND("qwen3");
    TOLD("head_dim", "24");
    TOLD("num_attention_heads", "4");
    TOLD("num_key_value_heads", "2");
    END();
}

/* Of several numbers of heads only one makes the fused projection as wide as it is. */
static void one_value_is_left(void **state)
{
    BEGIN("{\"model_type\": \"deepseek_v3\", \"vocab_size\": 64, \"hidden_size\": 32, \"num_hidden_layers\": 4, "
          "\"num_attention_heads\": 4, \"q_lora_rank\": null, \"kv_lora_rank\": 16, \"qk_nope_head_dim\": 8, "
          "\"qk_rope_head_dim\": 4, \"v_head_dim\": 6, \"first_k_dense_replace\": 2, \"n_routed_experts\": 5, "
          "\"moe_intermediate_size\": 10, \"n_shared_experts\": 3, \"intermediate_size\": 48}");
    FIND();
    FOUND("deepseek_v3");
    TOLD("num_hidden_layers", "4");
    TOLD("first_k_dense_replace", "2");
    TOLD("n_routed_experts", "5");
    TOLD("moe_intermediate_size", "10");
    TOLD("n_shared_experts", "3");
    TOLD("intermediate_size", "48");
    TOLD("kv_lora_rank", "16");
    assert_non_null(strstr(shapeproof_inference_config(finding.inference), "\"q_lora_rank\": null"));
    END();
}

static void which_layers_are_different(void **state)
{
    BEGIN("{\"model_type\": \"qwen3_next\", \"vocab_size\": 64, \"hidden_size\": 32, \"num_hidden_layers\": 9, "
          "\"num_attention_heads\": 2, \"num_key_value_heads\": 1, \"head_dim\": 16, \"full_attention_interval\": 3, "
          "\"num_experts\": 4, \"moe_intermediate_size\": 8, \"shared_expert_intermediate_size\": 8, "
          "\"linear_num_key_heads\": 2, \"linear_num_value_heads\": 4, \"linear_key_head_dim\": 8, "
          "\"linear_value_head_dim\": 8, \"intermediate_size\": 64}");
    FIND();
    FOUND("qwen3_next");
    GUESSED("full_attention_interval", "3");
    BECAUSE("full_attention_interval", "no other value that was tried agrees with the file");
    TOLD("num_experts", "4");
    TOLD("linear_value_head_dim", "8");
    TOLD("linear_num_value_heads", "4");
    GUESSED("linear_num_key_heads", "16");
    GUESSED("linear_key_head_dim", "1");
    END();
}

static void lists_item_by_item(void **state)
{
    BEGIN("{\"model_type\": \"swin\", \"architectures\": [\"SwinForImageClassification\"], \"embed_dim\": 12, "
          "\"depths\": [1, 3, 2], \"num_heads\": [1, 2, 4], \"window_size\": 5, \"patch_size\": 2, "
          "\"mlp_ratio\": 2.5, \"num_labels\": 7}");
    FIND();
    FOUND("swin");
    TOLD("depths", "[1, 3, 2]");
    TOLD("num_heads", "[1, 2, 4]");
    TOLD("window_size", "5");
    TOLD("mlp_ratio", "2.5");
    TOLD("num_labels", "7");
    END();
}

/* Where the table names two texts, an item that is not the one is the other. */
static void one_of_two_texts(void **state)
{
    BEGIN(
        "{\"model_type\": \"gemma4\", \"text_config\": {\"vocab_size\": 64, \"hidden_size\": 32, "
        "\"num_hidden_layers\": 4, \"num_attention_heads\": 4, \"num_key_value_heads\": 2, \"head_dim\": 8, "
        "\"num_global_key_value_heads\": 1, \"global_head_dim\": 16, \"attention_k_eq_v\": true, "
        "\"intermediate_size\": 40, \"hidden_size_per_layer_input\": 0, \"layer_types\": [\"sliding_attention\", "
        "\"sliding_attention\", \"sliding_attention\", \"full_attention\"]}, \"vision_config\": {\"hidden_size\": 16, "
        "\"num_hidden_layers\": 1, \"num_attention_heads\": 2, \"num_key_value_heads\": 2, \"head_dim\": 8, "
        "\"intermediate_size\": 24, \"patch_size\": 4, \"position_embedding_size\": 10}}");
    FIND();
    FOUND("gemma4");
    assert_value(inferred(&finding, "text_config.layer_types").value,
                 "[\"sliding_attention\", \"sliding_attention\", \"sliding_attention\", \"full_attention\"]");
    assert_value(inferred(&finding, "text_config.global_head_dim").value, "16");
    END();
}

/* Nor does it matter how many texts others name, when the default of the item is one of two. */
static void one_of_two_texts_of_the_default(void **state)
{
    BEGIN("{\"model_type\": \"mimo_v2_flash\", \"architectures\": [\"MiMoV2FlashForCausalLM\"], \"vocab_size\": 64, "
          "\"hidden_size\": 32, \"num_hidden_layers\": 4, \"num_attention_heads\": 4, \"num_key_value_heads\": 2, "
          "\"head_dim\": 12, \"v_head_dim\": 8, \"intermediate_size\": 40, \"moe_intermediate_size\": 24, "
          "\"n_routed_experts\": 3, \"layer_types\": [\"sliding_attention\", \"full_attention\", \"full_attention\", "
          "\"sliding_attention\"]}");
    FIND();
    FOUND("mimo_v2_flash");
    TOLD("layer_types", "[\"sliding_attention\", \"full_attention\", \"full_attention\", \"sliding_attention\"]");
    TOLD("num_key_value_heads", "2");
    TOLD("v_head_dim", "8");
    END();
}

/* In a composite the key is that of many tables. */
static void one_of_two_texts_in_a_composite(void **state)
{
    BEGIN("{\"model_type\": \"lfm3_vl\", \"text_config\": {\"model_type\": \"lfm3\", \"vocab_size\": 64, "
          "\"hidden_size\": 32, \"num_hidden_layers\": 3, \"num_attention_heads\": 4, \"num_key_value_heads\": 2, "
          "\"head_dim\": 8, \"intermediate_size\": 40, \"layer_types\": [\"full_attention\", \"conv\", \"conv\"]}, "
          "\"vision_config\": {\"hidden_size\": 16, \"num_hidden_layers\": 3, \"num_attention_heads\": 2, "
          "\"num_key_value_heads\": 1, \"intermediate_size\": 24, \"patch_size\": 4, \"layer_types\": "
          "[\"full_attention\", "
          "\"full_attention\", \"conv\"]}}");
    FIND();
    FOUND("lfm3_vl");
    assert_value(inferred(&finding, "text_config.layer_types").value, "[\"full_attention\", \"conv\", \"conv\"]");
    assert_value(inferred(&finding, "vision_config.layer_types").value,
                 "[\"full_attention\", \"full_attention\", \"conv\"]");
    END();
}

/* A part asks what a text of a list begins with, and how many layers each item of another stands for. */
static void texts_that_a_part_is_given(void **state)
{
    BEGIN("{\"_class_name\": \"UNet2DConditionModel\", \"block_out_channels\": [8, 16, 24], \"down_block_types\": "
          "[\"DownBlock2D\", \"CrossAttnDownBlock2D\", \"CrossAttnDownBlock2D\"], \"up_block_types\": "
          "[\"CrossAttnUpBlock2D\", \"CrossAttnUpBlock2D\", \"UpBlock2D\"], \"cross_attention_dim\": 12, "
          "\"layers_per_block\": 1, \"transformer_layers_per_block\": [1, 2, 3], \"use_linear_projection\": true, "
          "\"addition_embed_type\": \"text_time\", \"projection_class_embeddings_input_dim\": 20}");
    FIND();
    FOUND("unet_2d_condition");
    assert_value(inferred(&finding, "down_block_types").value,
                 "[\"DownBlock2D\", \"CrossAttnDownBlock2D\", \"CrossAttnDownBlock2D\"]");
    assert_value(inferred(&finding, "up_block_types").value,
                 "[\"CrossAttnUpBlock2D\", \"CrossAttnUpBlock2D\", \"UpBlock2D\"]");
    TOLD("addition_embed_type", "\"text_time\"");
    END();
}

/* A model of timm inside of another is one of those that its table serves. */
static void the_name_of_a_model_within(void **state)
{
    BEGIN("{\"model_type\": \"fast_vlm\", \"text_config\": {\"model_type\": \"qwen2\", \"vocab_size\": 64, "
          "\"hidden_size\": 32, \"num_hidden_layers\": 2, \"num_attention_heads\": 4, \"num_key_value_heads\": 2, "
          "\"intermediate_size\": 40}, \"vision_config\": {\"architecture\": \"fastvit_sa12\", \"hidden_size\": 48}}");
    FIND();
    FOUND("fast_vlm");
    assert_value(inferred(&finding, "vision_config.architecture").value, "\"fastvit_sa12\"");
    END();
}

static void a_list_that_is_only_used_in_part(void **state)
{
    BEGIN("{\"model_type\": \"segformer\", \"hidden_sizes\": [8, 16, 20], \"depths\": [1, 1, 2], "
          "\"sr_ratios\": [4, 2, 1], \"patch_sizes\": [7, 3, 3], \"mlp_ratios\": [4, 4, 2]}");
    FIND();
    FOUND("segformer");
    TOLD("hidden_sizes", "[8, 16, 20]");
    TOLD("mlp_ratios", "[4, 4, 2]");
    TOLD("patch_sizes", "[7, 3, 3]");
    assert_value(inferred(&finding, "sr_ratios").value, "[4, 2, 1]");
    END();
}

static void texts_from_the_rows_that_are_there(void **state)
{
    BEGIN("{\"model_type\": \"t5\", \"architectures\": [\"T5ForConditionalGeneration\"], \"d_model\": 16, "
          "\"d_kv\": 4, \"num_heads\": 3, \"d_ff\": 40, \"num_layers\": 2, \"num_decoder_layers\": 3, "
          "\"vocab_size\": 50, \"feed_forward_proj\": \"gated-gelu\", \"tie_word_embeddings\": false}");
    FIND();
    FOUND("t5");
    TOLD("is_gated_act", "true");
    TOLD("num_heads", "3"); /* from the distance bias */
    TOLD("d_kv", "4");
    TOLD("num_decoder_layers", "3");
    TOLD("tie_word_embeddings", "false");
    END();
}

/* Tables within tables, of which several make the same names. */
static void tables_within_tables(void **state)
{
    BEGIN("{\"model_type\": \"llava\", \"architectures\": [\"LlavaForConditionalGeneration\"], "
          "\"text_config\": {\"model_type\": \"qwen2\", \"vocab_size\": 90, \"hidden_size\": 32, "
          "\"num_hidden_layers\": 2, \"num_attention_heads\": 4, \"num_key_value_heads\": 2, "
          "\"intermediate_size\": 48}, \"vision_config\": {\"hidden_size\": 16, \"num_hidden_layers\": 3, "
          "\"intermediate_size\": 24, \"image_size\": 28, \"patch_size\": 14}}");
    FIND();
    FOUND("llava");
    TOLD("text_config.model_type", "\"qwen2\"");
    TOLD("text_config.hidden_size", "32");
    TOLD("text_config.num_hidden_layers", "2");
    TOLD("vision_config.num_hidden_layers", "3");
    GUESSED("vision_config.image_size", "28");
    BECAUSE("vision_config.image_size", "it is rounded down: larger values would do as well");
    END();
}

static void trocr_not_bart(void **state)
{
    BEGIN("{\"model_type\": \"vision-encoder-decoder\", \"encoder\": {\"model_type\": \"vit\", \"hidden_size\": 24, "
          "\"num_hidden_layers\": 1, \"intermediate_size\": 32}, \"decoder\": {\"model_type\": \"trocr\", "
          "\"d_model\": 16, \"decoder_layers\": 2, \"decoder_ffn_dim\": 32, \"vocab_size\": 40}}");
    FIND();
    FOUND("vision_encoder_decoder");
    TOLD("decoder.d_model", "16");
    assert_value(inferred(&finding, "decoder.model_type").value, "\"trocr\"");
    END();
}

/* ---- names that are not quite the table's ---- */

static void prefixes(void **state)
{
    static const char *const prefixes[] = {"module.", "model.", "_orig_mod.", "net.encoder.", "state_dict.model."};
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++) {
        BEGIN(gpt2);
        model_prefix(&model, prefixes[i]);
        FIND();
        assert_true(is_found(&finding, "gpt2"));
        assert_true(explains_all(&finding));
        TOLD("n_embd", "48");
        TOLD("n_layer", "3");
        END();
    }
}

static void the_base_left_out(void **state)
{
    BEGIN("{\"model_type\": \"gpt_neox\", \"vocab_size\": 90, \"hidden_size\": 32, \"num_hidden_layers\": 2, "
          "\"num_attention_heads\": 4, \"intermediate_size\": 64}");
    model_rename(&model, "gpt_neox.*", "gpt_neox.", "");
    FIND();
    assert_true(is_found(&finding, "gpt_neox"));
    TOLD("hidden_size", "32");
    END();
}

static void old_names(void **state)
{
    BEGIN("{\"model_type\": \"bert\", \"architectures\": [\"BertForMaskedLM\"], \"num_hidden_layers\": 2, "
          "\"hidden_size\": 16, \"intermediate_size\": 24, \"vocab_size\": 30}");
    model_rename(&model, "*LayerNorm.weight", "LayerNorm.weight", "LayerNorm.gamma");
    model_rename(&model, "*LayerNorm.bias", "LayerNorm.bias", "LayerNorm.beta");
    FIND();
    assert_true(is_found(&finding, "bert"));
    assert_true(explains_all(&finding));
    TOLD("num_hidden_layers", "2");
    END();
}

/* ---- files that no configuration explains ---- */

static void damage(void **state)
{
    BEGIN(llama);
    model_drop(&model, "model.layers.1.mlp.up_proj.weight");
    model_add_shape(&model, "adapter.lora_A", SHAPE(8, 4096));
    FIND();
    assert_non_null(finding.inference);
    assert_true(is_found(&finding, "llama"));
    assert_int_equal(shapeproof_inference_unexplained_count(finding.inference), 1);
    assert_int_equal(shapeproof_inference_missing_count(finding.inference), 1);
    assert_int_equal(shapeproof_inference_explained(finding.inference), model.count - 1);
    const size_t extra = shapeproof_inference_unexplained(finding.inference, 0);
    assert_string_equal(shapeproof_inventory_tensor(finding.inventory, extra)->name, "adapter.lora_A");
    TOLD("num_hidden_layers", "3");
    END();
}

static void one_wrong_shape(void **state)
{
    BEGIN(gpt2);
    model_resize(&model, "transformer.h.2.mlp.c_fc.weight", 100, 101);
    FIND();
    assert_true(is_found(&finding, "gpt2"));
    assert_int_equal(shapeproof_inference_unexplained_count(finding.inference), 1);
    TOLD("n_inner", "100");
    END();
}

/* Four tensors of two layers are no evidence for the twelve of an encoder layer. */
static void too_little(void **state)
{
    BEGIN(gpt2);
    model_empty(&model);
    model_add_shape(&model, "linear1.weight", SHAPE(100, 10));
    model_add_shape(&model, "linear1.bias", SHAPE(100));
    model_add_shape(&model, "linear2.weight", SHAPE(10, 100));
    model_add_shape(&model, "linear2.bias", SHAPE(10));
    FIND();
    assert_null(finding.inference);
    assert_int_equal(finding.error.status, SHAPEPROOF_ERR_UNKNOWN);
    assert_non_null(strstr(finding.error.message, "nearest: transformer_encoder_layer (explains 4, lacks 8)"));
    finding_close(&finding);
    finding = find(&model, "transformer_encoder_layer");
    assert_int_equal(shapeproof_inference_missing_count(finding.inference), 8);
    END();
}

/* No model_type leads to the table of one layer: its configuration names it. */
static void layer_alone(void **state)
{
    BEGIN(gpt2);
    model_empty(&model);
    model_add_shape(&model, "weight", SHAPE(7, 5, 3, 3));
    model_add_shape(&model, "bias", SHAPE(7));
    FIND();
    assert_true(is_found(&finding, "conv2d"));
    TOLD("kernel_size", "3");
    assert_non_null(strstr(shapeproof_inference_config(finding.inference), "\"shapeproof_table\": \"conv2d\""));
    assert_int_equal(verdict_on_config(&model, &finding), SHAPEPROOF_VERDICT_MATCH);
    END();
}

/* A norm alone could be that of any model: the layers are not there. */
static void no_layers(void **state)
{
    BEGIN(gpt2);
    model_empty(&model);
    model_add_shape(&model, "ln_f.weight", SHAPE(64));
    model_add_shape(&model, "ln_f.bias", SHAPE(64));
    FIND();
    assert_null(finding.inference);
    assert_non_null(strstr(finding.error.message, "no table explains the 2 tensors; nearest: "));
    END();
}

static void nothing_in_common(void **state)
{
    BEGIN(gpt2);
    model_empty(&model);
    model_add_shape(&model, "conv.kernel", SHAPE(3, 3, 8, 8));
    model_add_shape(&model, "dense_17.kernel", SHAPE(8, 8));
    model_add_shape(&model, "", SHAPE(4));
    FIND();
    assert_null(finding.inference);
    assert_int_equal(finding.error.status, SHAPEPROOF_ERR_UNKNOWN);
    assert_string_equal(finding.error.message, "memory: no table explains the 3 tensors");
    END();
}

static void no_tensors(void **state)
{
    BEGIN(gpt2);
    model_empty(&model);
    FIND();
    assert_null(finding.inference);
    assert_int_equal(finding.error.status, SHAPEPROOF_ERR_UNKNOWN);
    END();
}

/* Numbers and sizes that no honest file has must neither take long nor overflow. */
static void hostile(void **state)
{
    BEGIN(llama);
    model_rename(&model, "model.layers.2.*", "layers.2.", "layers.999999999999999999.");
    model_resize(&model, "*k_proj.weight", 1024, 0);
    model_resize(&model, "model.embed_tokens.weight", 320, UINT64_C(1) << 40);
    model_add_shape(&model, "model.layers.18446744073709551616.self_attn.q_proj.weight", SHAPE(1, 1));
    model_add_shape(&model, "1.2.3.4.5.6.7.8.9.10.11.12", SHAPE(1));
    FIND();
    if (finding.inference) assert_false(explains_all(&finding));
    END();
}

static void deterministic(void **state)
{
    BEGIN(llama);
    struct finding first = find(&model, NULL), second = find(&model, NULL);
    char *a = shapeproof_report_infer(first.inference, NULL, NULL),
         *b = shapeproof_report_infer(second.inference, NULL, NULL);
    assert_string_equal(a, b);
    shapeproof_free(a);
    shapeproof_free(b);
    finding_close(&first);
    finding_close(&second);
    model_close(&model);
}

/* ---- tables of one's own, and by name ---- */

static void one_table(void **state)
{
    BEGIN(llama);
    struct finding finding = find(&model, "mistral");
    assert_string_equal(shapeproof_inference_table(finding.inference), "mistral");
    assert_true(explains_all(&finding));
    assert_int_equal(shapeproof_inference_candidate_count(finding.inference), 1);
    finding_close(&finding);
    finding = find(&model, "bert");
    assert_null(finding.inference);
    assert_string_equal(finding.error.message, "memory: the table 'bert' explains less than half of the 30 tensors");
    finding_close(&finding);
    finding = find(&model, "no such");
    assert_null(finding.inference);
    assert_int_equal(finding.error.status, SHAPEPROOF_ERR_USAGE);
    finding_close(&finding);
    model_close(&model);
}

/* A file that is there only if the condition holds: what n must be for it, or NULL when no number will do. */
static void expect_solution(const char *condition, const char *n)
{
    char text[300];
    struct model model;
    snprintf(text, sizeof text, "table edge\n[all]\na (3)\nb (4)\n[some] if %s\nc (5)\n", condition);
    begin_with(&model, text);
    model_add_shape(&model, "a", SHAPE(3));
    model_add_shape(&model, "b", SHAPE(4));
    model_add_shape(&model, "c", SHAPE(5));
    struct finding finding = find(&model, "edge");
    char *found = finding.inference ? shapeproof_value_text(inferred(&finding, "n").value) : NULL;
    if (!found != !n || (n && strcmp(found, n) != 0))
        fail_msg("%s: n is %s, not %s", condition, found ? found : "nothing", n ? n : "nothing");
    shapeproof_free(found);
    finding_close(&finding);
    model_close(&model);
}

/* Turning an operation round must not overflow. */
static void numbers_at_the_edge(void **state)
{
    (void)state;
    expect_solution("-(n - 10) == 3", "7");
    expect_solution("(n - 10) * -1 == 3", "7");
    expect_solution("-n == -9223372036854775807", "9223372036854775807");
    expect_solution("n * -1 == -9223372036854775807", "9223372036854775807");
    expect_solution("-1 * n == -9223372036854775807", "9223372036854775807");
    expect_solution("-n == -9223372036854775807 - 1", NULL);
    expect_solution("n * -1 == -9223372036854775807 - 1", NULL);
    expect_solution("-1 * n == -9223372036854775807 - 1", NULL);
    expect_solution("n * -2 == -9223372036854775807 - 1", "4611686018427387904");
    expect_solution("n * 0 == 1", NULL);
}

/* A root takes steps for the digits of a number, however large the degree. */
static void roots_of_any_degree(void **state)
{
    (void)state;
    expect_solution("n ^ 1 == 9223372036854775807", "9223372036854775807");
    expect_solution("n ^ 2 == 9223372030926249001", "3037000499");
    expect_solution("n ^ 62 == 4611686018427387904", "2");
    expect_solution("n ^ 63 == 2", NULL);
    expect_solution("n ^ 9223372036854775807 == 0", "0");
    expect_solution("n ^ 9223372036854775807 == 1", "1");
    expect_solution("n ^ 9223372036854775807 == 2", NULL);
}

/* What a part requires counts where it is used. */
static void what_parts_require(void **state)
{
    static const char text[] = "table tower\nmodel_type \"tower\"\n"
                               "[foot]\nfoot.weight (width)\n"
                               "[stones] for way in form == \"round\" ? [\"left\"] : [\"up\", \"down\"]\n"
                               "{way}.* stone(form, width)\n"
                               "part stone(form, w)\n"
                               "forms = [\"round\", \"square\", \"flat\"]\n"
                               "require form in forms, \"no such form\"\n"
                               "[stone]\nweight (form == \"square\" ? 4*w : 3*w, w)\n";
    struct model model;
    (void)state;
    begin_with(&model, text);
    model_add_shape(&model, "foot.weight", SHAPE(16));
    model_add_shape(&model, "up.weight", SHAPE(48, 16));
    model_add_shape(&model, "down.weight", SHAPE(48, 16));
    FIND();
    FOUND("tower");
    TOLD("width", "16");
    TOLD("form", "\"flat\"");
    BECAUSE("form", "no other value agrees with the file");
    END();
}

/* Of several numbers that make a dimension one is found by trying: 1, 3, 5, 7 and 9 do. */
static void one_of_several_numbers(void **state)
{
    static const char text[] = "table dial\nmodel_type \"dial\"\n"
                               "[face]\nhour.weight (turns % 2 == 1 ? 5 : turns)\nminute.weight (hands)\n";
    struct model model;
    (void)state;
    begin_with(&model, text);
    model_add_shape(&model, "hour.weight", SHAPE(5));
    model_add_shape(&model, "minute.weight", SHAPE(4));
    FIND();
    FOUND("dial");
    GUESSED("turns", "5");
    BECAUSE("turns", "other values would do as well");
    TOLD("hands", "4");
    END();
}

/* That no other number does which was tried does not show that none does: here 107 does. */
static void untried_number(void **state)
{
    static const char text[] = "table dial\nmodel_type \"dial\"\n"
                               "[face]\nhour.weight (turns % 100 + 10)\nminute.weight (hands)\n";
    struct model model;
    (void)state;
    begin_with(&model, text);
    model_add_shape(&model, "hour.weight", SHAPE(17));
    model_add_shape(&model, "minute.weight", SHAPE(4));
    FIND();
    FOUND("dial");
    GUESSED("turns", "7");
    BECAUSE("turns", "no other value that was tried agrees with the file");
    END();
}

/* A loop without iterations tells no more of its end than that it is before its beginning. */
static void end_of_empty_loop(void **state)
{
    static const char text[] = "table rope\nmodel_type \"rope\"\n"
                               "[knots] for i in begin..end\nknot.{i}.weight (i, 2)\n"
                               "[loops] for i in 1..begin\nloop.{i}.weight (3)\n";
    struct model model;
    (void)state;
    begin_with(&model, text);
    for (int i = 1; i <= 6; i++) {
        char name[40];
        snprintf(name, sizeof name, "loop.%d.weight", i);
        model_add_shape(&model, name, SHAPE(3));
    }
    FIND();
    FOUND("rope");
    TOLD("begin", "6");
    GUESSED("end", "5");
    BECAUSE("end", "knot.{}.weight is not there, but other values may do as well");
    assert_non_null(strstr(shapeproof_inference_config(finding.inference), "\"shapeproof_undetermined\": [\"end\"]"));
    END();
}

/* Patches of an image are counted along both sides: the default side is no more than one that will do. */
static void side_by_default(void **state)
{
    BEGIN("{\"model_type\": \"vit\", \"architectures\": [\"ViTModel\"], \"hidden_size\": 24, "
          "\"num_hidden_layers\": 2, \"intermediate_size\": 32, \"num_attention_heads\": 2}");
    FIND();
    FOUND("vit");
    TOLD("patch_size", "16");
    GUESSED("image_size", "224");
    BECAUSE("image_size", "other values would do as well, this one is the default");
    END();
}

/* An item of a default list that nothing reads. */
static void item_that_nothing_reads(void **state)
{
    static const char text[] = "table fence\nmodel_type \"fence\"\n"
                               "heights = heights default [4, 6, 8]\n"
                               "[rails]\nrail.weight (heights[1] * heights[1], heights[2] * heights[2])\n";
    struct model model;
    (void)state;
    begin_with(&model, text);
    model_add_shape(&model, "rail.weight", SHAPE(36, 64));
    FIND();
    FOUND("fence");
    GUESSED("heights", "[4, 6, 8]");
    BECAUSE("heights", "other values would do as well, this one is the default");
    END();
}

/* Whatever the release: the head has no name of its own. */
static void missing_under_every_name(void **state)
{
    static const char text[] = "table choir\nmodel_type \"choir\"\n"
                               "head = release(version default \"3.0\") < release(\"2.0\") ? \"old_\" : \"new_\"\n"
                               "bound = tied default false ? kind default \"soft\" : \"none\"\n"
                               "[body]\nbody.weight (tokens, width)\n"
                               "{head}scale (width)\n"
                               "{head}head.weight (tokens, width) if bound != \"soft\"\n";
    struct model model;
    (void)state;
    begin_with(&model, text);
    model_add_shape(&model, "body.weight", SHAPE(50, 16));
    model_add_shape(&model, "old_scale", SHAPE(16));
    FIND();
    FOUND("choir");
    TOLD("tied", "true");
    END();
}

/* Each may have no tensor, the last one as well: that there are three is likely, not certain. */
static void a_list_of_which_some_show(void **state)
{
    static const char text[] = "table mosaic\nmodel_type \"mosaic\"\n"
                               "[ground]\nground.weight (width)\n"
                               "[tiles] for k in 0..len(tiles)-1 if not (tiles[k].bare default false)\n"
                               "tile{k}.weight (tiles[k].width, width)\n";
    struct model model;
    (void)state;
    begin_with(&model, text);
    model_add_shape(&model, "ground.weight", SHAPE(16));
    model_add_shape(&model, "tile0.weight", SHAPE(4, 16));
    model_add_shape(&model, "tile2.weight", SHAPE(6, 16));
    FIND();
    FOUND("mosaic");
    GUESSED("tiles", "[{\"width\": 4, \"bare\": false}, {\"bare\": true}, {\"width\": 6, \"bare\": false}]");
    BECAUSE("tiles", "tile2.weight is the last one that is there");
    END();
}

/* The lines of the loop tell of nothing by their names; but what they predict is there. */
static void numbers_worked_out(void **state)
{
    static const char text[] = "table city\narchitectures \"old\", \"new\"\n"
                               "first = [0, 2]\n"
                               "wide  = architecture == \"old\" ? width : 2*width\n"
                               "gate.width (width)\n"
                               "[streets] for g in 0..1 for i in 0..1\n"
                               "street{n}.width (wide)\n"
                               "n = first[g] + i\n";
    struct model model;
    (void)state;
    begin_with(&model, text);
    model_add_shape(&model, "gate.width", SHAPE(7));
    for (int i = 0; i < 4; i++) {
        char name[] = "street?.width";
        name[strlen("street")] = (char)('0' + i);
        model_add_shape(&model, name, SHAPE(14));
    }
    FIND();
    assert_true(is_found(&finding, "city"));
    assert_true(explains_all(&finding));
    TOLD("width", "7");
    END();
}

/* The parts of the levels have names in common: one of them has a tensor that is there, and none one that is not. */
static void kinds_of_levels(void **state)
{
    BEGIN("{\"_class_name\": \"UNet2DModel\", \"block_out_channels\": [16, 24, 32], \"layers_per_block\": 1, "
          "\"down_block_types\": [\"AttnDownBlock2D\", \"DownBlock2D\", \"AttnDownBlock2D\"], "
          "\"up_block_types\": [\"AttnUpBlock2D\", \"AttnUpBlock2D\", \"UpBlock2D\"]}");
    FIND();
    FOUND("unet_2d");
    GUESSED("down_block_types", "[\"AttnDownBlock2D\", \"DownBlock2D\", \"AttnDownBlock2D\"]");
    END();
}

static void kinds_of_levels_without(void **state)
{
    BEGIN("{\"_class_name\": \"UNet2DConditionModel\", \"block_out_channels\": [16, 24], \"layers_per_block\": 1, "
          "\"mid_block_type\": \"UNetMidBlock2DSimpleCrossAttn\", \"cross_attention_dim\": 20, "
          "\"down_block_types\": [\"ResnetDownsampleBlock2D\", \"SimpleCrossAttnDownBlock2D\"], "
          "\"up_block_types\": [\"SimpleCrossAttnUpBlock2D\", \"ResnetUpsampleBlock2D\"]}");
    FIND();
    FOUND("unet_2d_condition");
    END();
}

/* A text of each layer tells by its letters what is done there; others may be in it. */
static void letters_of_texts(void **state)
{
    static const char text[] =
        "table press\nmodel_type \"press\"\n"
        "[first]\nfirst.weight (width)\nfirst.norm (width) if \"n\" in (at(steps, 0) default \"dn\")\n"
        "[then]\nthen.weight (width)\nthen.norm (width) if \"n\" in (at(steps, 1) default \"dn\")\n"
        "[last] if \"r\" in (rest default \"d\")\nlast.weight (width)\n";
    struct model model;
    (void)state;
    begin_with(&model, text);
    model_add_shape(&model, "first.weight", SHAPE(16));
    model_add_shape(&model, "first.norm", SHAPE(16));
    model_add_shape(&model, "then.weight", SHAPE(16));
    FIND();
    FOUND("press");
    GUESSED("steps", "[\"dn\", \"\"]"); /* any other text without an "n" would do as well */
    GUESSED("rest", "\"d\"");
    BECAUSE("rest", "last.weight is not there, which determines a part of it");
    END();
}

/* Layers that may be those for multi-token prediction are the layers of the model, when these would have none. */
static void layers_of_experts_alone(void **state)
{
    BEGIN("{\"model_type\": \"deepseek_v2\", \"architectures\": [\"DeepseekV2ForCausalLM\"], \"vocab_size\": 64, "
          "\"hidden_size\": 32, \"num_hidden_layers\": 2, \"num_attention_heads\": 4, \"q_lora_rank\": 12, "
          "\"kv_lora_rank\": 8, \"qk_nope_head_dim\": 8, \"qk_rope_head_dim\": 4, \"v_head_dim\": 8, "
          "\"first_k_dense_replace\": 0, \"intermediate_size\": 40, \"moe_intermediate_size\": 24, "
          "\"n_routed_experts\": 3, \"n_shared_experts\": 1}");
    FIND();
    FOUND("deepseek_v2");
    TOLD("num_hidden_layers", "2");
    END();
}

/* The same with biases. A dense layer would have them too, but there is none. */
static void layers_of_experts_with_biases(void **state)
{
    BEGIN("{\"model_type\": \"deepseek_v2\", \"architectures\": [\"DeepseekV2ForCausalLM\"], \"vocab_size\": 101, "
          "\"hidden_size\": 40, \"num_hidden_layers\": 2, \"num_attention_heads\": 5, \"q_lora_rank\": 14, "
          "\"kv_lora_rank\": 10, \"qk_nope_head_dim\": 6, \"qk_rope_head_dim\": 4, \"v_head_dim\": 8, "
          "\"first_k_dense_replace\": 0, \"intermediate_size\": 52, \"moe_intermediate_size\": 22, "
          "\"n_routed_experts\": 6, \"n_shared_experts\": 2, \"attention_bias\": true, \"mlp_bias\": true, "
          "\"transformers_version\": \"5.24.0\"}");
    FIND();
    FOUND("deepseek_v2");
    TOLD("num_hidden_layers", "2");
    TOLD("mlp_bias", "true");
    END();
}

/* A layer with eh_proj is one for multi-token prediction, and none of the model. */
static void a_layer_for_multi_token_prediction(void **state)
{
    struct model model;
    (void)state;
    model_open(&model,
               "{\"model_type\": \"deepseek_v3\", \"architectures\": [\"DeepseekV3ForCausalLM\"], \"vocab_size\": 64, "
               "\"hidden_size\": 32, \"num_hidden_layers\": 3, \"num_attention_heads\": 4, \"q_lora_rank\": 12, "
               "\"kv_lora_rank\": 8, \"qk_nope_head_dim\": 8, \"qk_rope_head_dim\": 4, \"v_head_dim\": 8, "
               "\"first_k_dense_replace\": 1, \"intermediate_size\": 40, \"moe_intermediate_size\": 24, "
               "\"n_routed_experts\": 3, \"n_shared_experts\": 1, \"num_nextn_predict_layers\": 1}");
    model_predict(&model, WITH_OPTIONAL);
    FIND();
    FOUND("deepseek_v3");
    TOLD("num_hidden_layers", "3");
    GUESSED("num_nextn_predict_layers", "1"); /* a file may lack further ones */
    END();
}

/* A text that is tried for a list fits no expression: then the default of the table stands there. */
static void guess_of_another_kind(void **state)
{
    static const char text[] = "table loom\nmodel_type \"loom\"\n"
                               "K = kinds default [[3, 5], [3]]\n"
                               "[threads] for s in 0..len(K)-1\n"
                               "stage.{s}.weight (width, K[s][0])\n"
                               "stage.{s}.knots.{place(s)}.weight (width) if len(K[s]) > 1\n"
                               "place(s) = s + len(K[s])\n";
    struct model model;
    (void)state;
    begin_with(&model, text);
    model_add_shape(&model, "stage.0.weight", SHAPE(16, 3));
    model_add_shape(&model, "stage.0.knots.2.weight", SHAPE(16));
    model_add_shape(&model, "stage.1.weight", SHAPE(16, 3));
    FIND();
    FOUND("loom");
    TOLD("width", "16");
    END();
}

/* A text of the default that stands for all but the one that the table names is not told. */
static void texts_that_have_no_name(void **state)
{
    static const char text[] = "table mill\nmodel_type \"mill\"\n"
                               "[wheel] for i in 0..1\nwheel.{i}.weight (width)\n"
                               "wheel.{i}.crown (width) if (pool default \"\") == \"map\"\n";
    struct model model;
    (void)state;
    begin_with(&model, text);
    model_add_shape(&model, "wheel.0.weight", SHAPE(16));
    model_add_shape(&model, "wheel.1.weight", SHAPE(16));
    FIND();
    FOUND("mill");
    GUESSED("pool", "\"\"");
    END();
}

/* What was rounded down to groups of four may have been more, in a list as well. */
static void rounded_items(void **state)
{
    static const char text[] = "table quarry\nmodel_type \"quarry\"\n"
                               "[stones] for i in 0..len(sizes)-1\nstone.{i}.weight (sizes[i] // 4, 3)\n";
    struct model model;
    (void)state;
    begin_with(&model, text);
    model_add_shape(&model, "stone.0.weight", SHAPE(8, 3));
    model_add_shape(&model, "stone.1.weight", SHAPE(16, 3));
    FIND();
    FOUND("quarry");
    GUESSED("sizes", "[32, 64]");
    END();
}

static void own_table(void **state)
{
    static const char text[] = "table pyramid\nmodel_type \"pyramid\"\n"
                               "top = width // 2^(steps - 1)\n"
                               "[steps] for s in 0..steps-1\n"
                               "step{s + 1}.stone.weight (width // 2^s, height(s))\n"
                               "height(s) = kind == \"tall\" ? 3*width : width\n"
                               "[tip] if pointed\n"
                               "tip_of_{steps}.weight (top)\n"
                               "gold.weight (top) if kind == \"tall\"\n"
                               "silver.weight (top) if kind != \"tall\"\n"
                               "kind = kind default \"flat\"\n";
    struct model model;
    (void)state;
    begin_with(&model, text);
    model_add_shape(&model, "step1.stone.weight", SHAPE(64, 192));
    model_add_shape(&model, "step2.stone.weight", SHAPE(32, 192));
    model_add_shape(&model, "step3.stone.weight", SHAPE(16, 192));
    model_add_shape(&model, "tip_of_3.weight", SHAPE(16));
    model_add_shape(&model, "gold.weight", SHAPE(16));
    FIND();
    FOUND("pyramid");
    TOLD("steps", "3");
    TOLD("width", "64");
    TOLD("pointed", "true");
    TOLD("kind", "\"tall\"");
    END();
}

/* ---- tables that fit alike ---- */

static const char *candidate_table(const struct finding *finding, size_t index)
{
    assert_true(index < shapeproof_inference_candidate_count(finding->inference));
    return shapeproof_inference_candidate(finding->inference, index)->table;
}

/* A model that predicts the same tensors as a rare one is the likelier, but for a file of the rare one's own sizes. */
static void rare_table(void **state)
{
    static const char text[] = "table attic\nmodel_type \"attic\"\nrare = true\n"
                               "[beams]\nbeam.weight (width default 8, 3)\nboard.weight (4)\n"
                               "table cellar\nmodel_type \"cellar\"\n"
                               "[beams]\nbeam.weight (width default 9, 3)\nboard.weight (4)\n";
    static const char *const first[] = {"attic", "cellar", "cellar"};
    for (uint64_t width = 8; width < 11; width++) {
        struct model model;
        (void)state;
        begin_with(&model, text);
        model_add_shape(&model, "beam.weight", SHAPE(width, 3));
        model_add_shape(&model, "board.weight", SHAPE(4));
        FIND();
        assert_string_equal(candidate_table(&finding, 0), first[width - 8]);
        assert_true(is_found(&finding, "attic") && is_found(&finding, "cellar"));
        END();
    }
}

/* Of the other tables the one that agrees with more of its defaults comes first, in whichever order they are tried. */
static void likelier_tables_come_first(void **state)
{
    static const char text[] = "table one\nmodel_type \"one\"\n"
                               "[beams]\nbeam.weight (width default 8, height default 8)\n"
                               "table three\nmodel_type \"three\"\n"
                               "[beams]\nbeam.weight (width default 5, height default 6)\n"
                               "table two\nmodel_type \"two\"\n"
                               "[beams]\nbeam.weight (width default 5, height default 8)\n";
    struct model model;
    (void)state;
    begin_with(&model, text);
    model_add_shape(&model, "beam.weight", SHAPE(5, 6));
    FIND();
    assert_string_equal(candidate_table(&finding, 0), "three");
    assert_string_equal(candidate_table(&finding, 1), "two");
    assert_string_equal(candidate_table(&finding, 2), "one");
    END();
}

/* ChronoEdit has the tensors of Wan. */
static void wan_and_not_chronoedit(void **state)
{
    BEGIN("{\"_class_name\": \"WanTransformer3DModel\", \"num_attention_heads\": 2, \"attention_head_dim\": 12, "
          "\"in_channels\": 4, \"out_channels\": 4, \"text_dim\": 16, \"freq_dim\": 32, \"ffn_dim\": 32, "
          "\"num_layers\": 2}");
    FIND();
    FOUND("wan");
    assert_true(is_found(&finding, "chronoedit"));
    END();
}

/* The decoder is as wide as the encoder unless the configuration says otherwise: that is no setting. */
static void implied_value_is_no_setting(void **state)
{
    BEGIN("{\"_class_name\": \"AutoencoderKLWan\", \"base_dim\": 8, \"decoder_base_dim\": null, \"z_dim\": 4, "
          "\"dim_mult\": [1, 2, 2], \"num_res_blocks\": 1, \"temperal_downsample\": [false, true]}");
    FIND();
    FOUND("autoencoder_kl_wan");
    assert_true(is_found(&finding, "autoencoder_kl_qwen_image"));
    END();
}

/* Of the backbones that a detector may have only ResNet is in the file. */
static void detector_on_resnet(void **state)
{
    static const char *const layers[] = {"basic", "bottleneck"};
    for (size_t i = 0; i < sizeof layers / sizeof *layers; i++) {
        char config[1024];
        snprintf(
            config, sizeof config,
            "{\"model_type\": \"dab-detr\", \"architectures\": [\"DabDetrForObjectDetection\"], "
            "\"hidden_size\": 16, \"encoder_layers\": 1, \"decoder_layers\": 2, \"encoder_ffn_dim\": 24, "
            "\"decoder_ffn_dim\": 20, \"num_queries\": 6, \"num_labels\": 5, \"backbone_config\": {\"model_type\": "
            "\"resnet\", \"embedding_size\": 8, \"hidden_sizes\": [8, 12, 16, 20], \"depths\": [1, 1, 2, 1], "
            "\"layer_type\": \"%s\", \"out_indices\": [4]}}",
            layers[i]);
        BEGIN(config);
        FIND();
        FOUND("dab_detr");
        TOLD("backbone_config.embedding_size", "8");
        TOLD("backbone_config.depths", "[1, 1, 2, 1]");
        assert_int_equal(verdict_on_config(&model, &finding), SHAPEPROOF_VERDICT_MATCH);
        END();
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dimensions),
        cmocka_unit_test(heads_are_not_determined),
        cmocka_unit_test(head_norms_determine_heads),
        cmocka_unit_test(one_value_is_left),
        cmocka_unit_test(which_layers_are_different),
        cmocka_unit_test(lists_item_by_item),
        cmocka_unit_test(one_of_two_texts),
        cmocka_unit_test(the_name_of_a_model_within),
        cmocka_unit_test(texts_that_a_part_is_given),
        cmocka_unit_test(one_of_two_texts_of_the_default),
        cmocka_unit_test(one_of_two_texts_in_a_composite),
        cmocka_unit_test(a_list_that_is_only_used_in_part),
        cmocka_unit_test(texts_from_the_rows_that_are_there),
        cmocka_unit_test(tables_within_tables),
        cmocka_unit_test(trocr_not_bart),
        cmocka_unit_test(prefixes),
        cmocka_unit_test(the_base_left_out),
        cmocka_unit_test(old_names),
        cmocka_unit_test(damage),
        cmocka_unit_test(one_wrong_shape),
        cmocka_unit_test(too_little),
        cmocka_unit_test(layer_alone),
        cmocka_unit_test(no_layers),
        cmocka_unit_test(nothing_in_common),
        cmocka_unit_test(no_tensors),
        cmocka_unit_test(hostile),
        cmocka_unit_test(deterministic),
        cmocka_unit_test(one_table),
        cmocka_unit_test(numbers_at_the_edge),
        cmocka_unit_test(roots_of_any_degree),
        cmocka_unit_test(layers_of_experts_alone),
        cmocka_unit_test(layers_of_experts_with_biases),
        cmocka_unit_test(a_layer_for_multi_token_prediction),
        cmocka_unit_test(guess_of_another_kind),
        cmocka_unit_test(texts_that_have_no_name),
        cmocka_unit_test(rounded_items),
        cmocka_unit_test(own_table),
        cmocka_unit_test(numbers_worked_out),
        cmocka_unit_test(kinds_of_levels),
        cmocka_unit_test(kinds_of_levels_without),
        cmocka_unit_test(letters_of_texts),
        cmocka_unit_test(what_parts_require),
        cmocka_unit_test(one_of_several_numbers),
        cmocka_unit_test(untried_number),
        cmocka_unit_test(end_of_empty_loop),
        cmocka_unit_test(side_by_default),
        cmocka_unit_test(item_that_nothing_reads),
        cmocka_unit_test(missing_under_every_name),
        cmocka_unit_test(a_list_of_which_some_show),
        cmocka_unit_test(rare_table),
        cmocka_unit_test(likelier_tables_come_first),
        cmocka_unit_test(wan_and_not_chronoedit),
        cmocka_unit_test(implied_value_is_no_setting),
        cmocka_unit_test(detector_on_resnet),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
