/* SPDX-License-Identifier: MIT
 * The built-in tables against counts that others published, and against classes that they must refuse. */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "lang/predicted.h"

static void refuses(const char *table, const char *class)
{
    char setting[100];
    struct shapeproof_error error = {0};
    snprintf(setting, sizeof setting, "architectures=[\"%s\"]", class);
    struct shapeproof_prediction *prediction =
        attempt(table, SETTINGS(setting, "vocab_size=10", "hidden_size=8", "num_hidden_layers=1"), &error);
    if (prediction) fail_msg("%s takes the class %s", table, class);
    assert_int_equal(error.status, SHAPEPROOF_ERR_UNKNOWN);
    if (!strstr(error.message, class)) fail_msg("the message does not name %s: %s", class, error.message);
}

/* What a list of tables shows of each. */
static void test_titles(void **state)
{
    (void)state;
    assert_true(shapeproof_tables_count(tables) > 0);
    for (size_t i = 0; i < shapeproof_tables_count(tables); i++) {
        const struct shapeproof_table_info *info = shapeproof_tables_info(tables, i);
        if (!*info->title) fail_msg("table %s has no title", info->name);
        assert_true(strlen(info->title) <= 120);
    }
}

/* ---- names that stand for settings: what the documentation of torchvision and timm says, counted exactly ---- */

static void test_architectures(void **state)
{
    (void)state;
    static const struct {
        const char *setting;
        uint64_t parameters;
    } published[] = {
        {"architecture=torchvision/alexnet", 61100840},
        {"architecture=torchvision/convnext_tiny", 28589128},
        {"architecture=torchvision/densenet121", 7978856},
        {"architecture=torchvision/efficientnet_b0", 5288548},
        {"architecture=torchvision/efficientnet_v2_s", 21458488},
        {"architecture=torchvision/googlenet", 6624904},
        {"architecture=torchvision/maxvit_t", 30919624},
        {"architecture=torchvision/mobilenet_v2", 3504872},
        {"architecture=torchvision/mobilenet_v3_large", 5483032},
        {"architecture=torchvision/mvit_v2_s", 34537744},
        {"architecture=torchvision/r3d_18", 33371472},
        {"architecture=torchvision/raft_large", 5257536},
        {"architecture=torchvision/regnet_y_400mf", 4344144},
        {"architecture=torchvision/resnet50", 25557032},
        {"architecture=torchvision/shufflenet_v2_x1_0", 2278604},
        {"architecture=torchvision/squeezenet1_0", 1248424},
        {"architecture=torchvision/ssdlite320_mobilenet_v3_large", 3440060},
        {"architecture=torchvision/swin_t", 28288354},
        {"architecture=torchvision/vgg16", 138357544},
        {"architecture=torchvision/vit_b_16", 86567656},
        {"architecture=resnet18.a1_in1k", 11689512},
        {"architecture=vit_base_patch16_224", 86567656},
        {"architecture=lowformer_b0.in1k", 14100472},
        {"architecture=cpubone_b0_bfrobust", 10365560},
        {"architecture=csatv2.in1k", 11103444},
        {"architecture=cspnext_tiny", 2733700},
        {"architecture=ecaresnet50d_pruned", 19939713},
        {"architecture=efficientnet_x_b3", 13299652},
        {"architecture=efficientvim_m1", 6679458},
        {"architecture=gemma4_vit_167m_enc", 167364608},
    };
    for (size_t i = 0; i < sizeof published / sizeof *published; i++) {
        const uint64_t parameters = totals(NULL, SETTINGS(published[i].setting)).unique_parameters;
        if (parameters != published[i].parameters)
            fail_msg("%s: %" PRIu64 ", not %" PRIu64, published[i].setting, parameters, published[i].parameters);
    }
}

/* An argument of timm that a table takes changes what it predicts; with any other there is no prediction. */
static void test_arguments_of_timm(void **state)
{
    (void)state;
    struct shapeproof_error error = {0};
#define TINY "architecture=vit_tiny_patch16_224", "num_classes=0"
    assert_int_equal(totals(NULL, SETTINGS(TINY)).unique_parameters, 5524416);
    assert_int_equal(totals(NULL, SETTINGS(TINY, "model_args.depth=3")).unique_parameters, 1520640);
#undef TINY
#define SWIN "architecture=swin_tiny_patch4_window7_224", "model_args.embed_dim=60", "model_args.depths=[2,1]"
    assert_int_equal(totals(NULL, SETTINGS(SWIN, "model_args.num_heads=[3,6]", "num_classes=7")).unique_parameters,
                     297775);
#undef SWIN
#define ATTO "architecture=convnextv2_atto", "model_args.dims=[16,32,64,96]", "model_args.depths=[1,1,2,1]"
    assert_int_equal(
        totals(NULL, SETTINGS(ATTO, "model_args.use_grn=false", "model_args.conv_bias=false")).unique_parameters,
        297768);
#undef ATTO
#define BEIT "architecture=beit_base_patch16_224", "model_args.embed_dim=48", "model_args.depth=2", "num_classes=0"
    assert_int_equal(
        totals(NULL, SETTINGS(BEIT, "model_args.num_heads=4", "model_args.swiglu_mlp=true", "model_args.scale_mlp=true",
                              "model_args.use_abs_pos_emb=true", "model_args.qkv_bias=false"))
            .unique_parameters,
        128400);
#undef BEIT
    assert_int_equal(totals(NULL, SETTINGS("architecture=crossvit_9_240", "model_args.img_size=192")).unique_parameters,
                     8516176);
    assert_null(attempt(NULL, SETTINGS("architecture=resnet18", "model_args.base_width=32"), &error));
    assert_int_equal(error.status, SHAPEPROOF_ERR_UNKNOWN);
    assert_non_null(strstr(error.message, "base_width"));
}

/* A backbone of Swin has one norm more since transformers 5.9; that of MaskFormer has not, and stores its indices. The
 * numbers are those of named_parameters() and of the buffers in state_dict(). */
static void test_swin_backbones(void **state)
{
    (void)state;
#define SMALL "\"image_size\":32,\"embed_dim\":8,\"depths\":[1,1,2,1],\"num_heads\":[1,1,2,2],\"window_size\":4"
#define BACKBONE(type) "backbone_config={\"model_type\":\"" type "\"," SMALL ",\"out_indices\":[1,2,3,4]}"
#define MASKS(type)                                                                                                    \
    SETTINGS(BACKBONE(type), "feature_size=32", "mask_feature_size=32", "hidden_dim=32", "encoder_feedforward_dim=24", \
             "encoder_layers=2", "decoder_layers=3", "num_attention_heads=2", "dim_feedforward=20", "num_queries=7",   \
             version)
    const char *version = "transformers_version=5.24.0";
    assert_int_equal(totals("mask2former", MASKS("swin")).unique_parameters, 142672);
    assert_int_equal(totals("mask2former", MASKS("swin")).buffers, 0);
    version = "transformers_version=5.8.0";
    assert_int_equal(totals("mask2former", MASKS("swin")).unique_parameters, 142544);
    version = "transformers_version=5.24.0";
    assert_int_equal(totals("donut_swin", SETTINGS("image_size=32", "embed_dim=8", "depths=[1,1,2,1]",
                                                   "num_heads=[1,1,2,2]", "window_size=4", version))
                         .buffers,
                     1280);
#undef SMALL
#undef BACKBONE
#undef MASKS
}

/* What nn.Buffer makes is stored. */
static void test_scales_of_time(void **state)
{
    (void)state;
    assert_int_equal(totals("timesfm", SETTINGS("hidden_size=16", "use_positional_embedding=true")).buffers, 8);
    assert_int_equal(totals("timesfm", SETTINGS("hidden_size=16")).buffers, 0);
}

/* ---- GPT-2 and Llama: what OpenAI and Meta publish, counted exactly ---- */

static void test_gpt2_sizes(void **state)
{
    (void)state;
    assert_int_equal(totals("gpt2", SETTINGS("n_layer=12")).unique_parameters, 124439808);
    assert_int_equal(totals("gpt2", SETTINGS("n_layer=24", "n_embd=1024")).unique_parameters, 354823168);
    assert_int_equal(totals("gpt2", SETTINGS("n_layer=36", "n_embd=1280")).unique_parameters, 774030080);
    assert_int_equal(totals("gpt2", SETTINGS("n_layer=48", "n_embd=1600")).unique_parameters, 1557611200);
}

/* Untied, the head counts again. */
static void test_gpt2_untied(void **state)
{
    (void)state;
    assert_int_equal(totals("gpt2", SETTINGS("tie_word_embeddings=false")).unique_parameters, 163037184);
    assert_int_equal(totals("nanogpt", SETTINGS("vocab_size=50257")).unique_parameters, 124439808);
}

static void test_llama3_8b(void **state)
{
    (void)state;
    const struct shapeproof_predicted_totals sum =
        totals("llama", SETTINGS("vocab_size=128256", "hidden_size=4096", "num_hidden_layers=32",
                                 "num_attention_heads=32", "num_key_value_heads=8", "intermediate_size=14336"));
    assert_int_equal(sum.unique_parameters, 8030261248);
    assert_int_equal(sum.tensors, 291);
}

/* ---- other published counts ---- */

/* Liquid AI gives the sizes of LFM2 exactly; torchvision those of EfficientNet and MobileNetV2. */
static void test_published_counts(void **state)
{
    (void)state;
#define LFM2 "num_hidden_layers=16", "num_key_value_heads=8", "full_attn_idxs=[2,5,8,10,12,14]"
    assert_int_equal(totals("lfm2", SETTINGS(LFM2, "hidden_size=1024", "num_attention_heads=16", "block_ff_dim=6656"))
                         .unique_parameters,
                     354483968);
    assert_int_equal(totals("lfm2", SETTINGS(LFM2, "hidden_size=1536", "num_attention_heads=24", "block_ff_dim=10240"))
                         .unique_parameters,
                     742489344);
    assert_int_equal(totals("lfm2", SETTINGS(LFM2, "hidden_size=2048", "num_attention_heads=32", "block_ff_dim=12288"))
                         .unique_parameters,
                     1170340608);
#define NET(family) "architectures=[\"" family "ForImageClassification\"]", "num_labels=1000"
    assert_int_equal(totals("efficientnet", SETTINGS(NET("EfficientNet"), "width_coefficient=1", "depth_coefficient=1",
                                                     "hidden_dim=1280"))
                         .unique_parameters,
                     5288548);
    assert_int_equal(totals("efficientnet", SETTINGS(NET("EfficientNet"))).unique_parameters, 66347960); /* B7 */
    assert_int_equal(totals("mobilenet_v2", SETTINGS(NET("MobileNetV2"))).unique_parameters, 3504872);
}

/* What the index files of Fuyu-8B and SeamlessM4T v2 give in bytes, of 2 and of 4 to a parameter; Llama 3.2 Vision. */
static void test_published_sizes(void **state)
{
    (void)state;
    assert_int_equal(totals("fuyu", SETTINGS("text_config.model_type=persimmon")).unique_parameters, 18816477184 / 2);
    assert_int_equal(totals("seamless_m4t_v2", SETTINGS("add_adapter=true")).unique_parameters, 9236998676 / 4);
    assert_int_equal(totals("mllama", SETTINGS("vision_config.image_size=560")).unique_parameters, 10670220835);
    assert_int_equal(totals("moonshine", SETTINGS("hidden_size=288")).unique_parameters, 27092736); /* tiny */
    assert_int_equal(totals("dia", SETTINGS("encoder_config.vocab_size=256")).unique_parameters, 1611160576);
}

/* What a reader takes for parameters is none: the activation's constants; the pooler, which old files carry. */
static void test_more_extras(void **state)
{
    (void)state;
    struct shapeproof_prediction *prediction = predict("apertus", SETTINGS("num_hidden_layers=1", "hidden_act=xielu"));
    assert_false(tensor(prediction, "model.layers.0.mlp.act_fn.alpha_p")->buffer);
    assert_false(tensor(prediction, "model.layers.0.mlp.act_fn.alpha_p")->optional);
    assert_true(tensor(prediction, "model.layers.0.mlp.act_fn.beta")->buffer);
    shapeproof_prediction_free(prediction);
    prediction = predict("apertus", SETTINGS("num_hidden_layers=1"));
    assert_true(tensor(prediction, "model.layers.0.mlp.act_fn.alpha_p")->optional);
    shapeproof_prediction_free(prediction);
    prediction = predict("dpr", SETTINGS("architectures=[\"DPRReader\"]", "projection_dim=24"));
    assert_true(tensor(prediction, "span_predictor.encoder.bert_model.pooler.dense.weight")->optional);
    assert_int_equal(tensor(prediction, "span_predictor.qa_outputs.weight")->shape[1], 24);
    shapeproof_prediction_free(prediction);
}

/* The part that only thinks has the same names without a prefix; one that does not speak has no other part. */
static void test_omni_parts(void **state)
{
    (void)state;
    const uint64_t thinker = totals("qwen2_5_omni_thinker", SETTINGS("text_config.vocab_size=152064")).tensors;
    const struct shapeproof_predicted_totals silent = totals("qwen2_5_omni", SETTINGS("enable_audio_output=false"));
    assert_int_equal(silent.tensors, thinker);
    struct shapeproof_prediction *prediction = predict("qwen2_5_omni", SETTINGS("talker_config.hidden_size=896"));
    assert_true(shapeproof_prediction_totals(prediction)->tensors > thinker);
    assert_int_equal(tensor(prediction, "thinker.model.embed_tokens.weight")->shape[0], 152064);
    assert_int_equal(tensor(prediction, "talker.thinker_to_talker_proj.weight")->shape[0], 896);
    assert_int_equal(tensor(prediction, "talker.model.embed_tokens.weight")->shape[1], 3584);
    shapeproof_prediction_free(prediction);
}

/* Eight rows more than there are tokens; a tied head has them, too. */
static void test_mllama_rows(void **state)
{
    (void)state;
    struct shapeproof_prediction *prediction = predict("mllama", SETTINGS("text_config.num_hidden_layers=4"));
    assert_int_equal(tensor(prediction, "language_model.model.embed_tokens.weight")->shape[0], 128264);
    assert_int_equal(tensor(prediction, "language_model.lm_head.weight")->shape[0], 128256);
    tensor(prediction, "language_model.model.layers.3.cross_attn.q_norm.weight");
    tensor(prediction, "language_model.model.layers.2.self_attn.q_proj.weight");
    shapeproof_prediction_free(prediction);
    prediction = predict("mllama", SETTINGS("text_config.tie_word_embeddings=true"));
    assert_int_equal(tensor(prediction, "language_model.lm_head.weight")->shape[0], 128264);
    shapeproof_prediction_free(prediction);
}

static void test_unknown_classes(void **state)
{
    (void)state;
    refuses("gpt2", "GPT2ForMaskedLM");
    refuses("llama", "LlamaForCausalLMEagle");
    refuses("llama", "LlavaLlamaForCausalLM");
    refuses("qwen2", "Qwen2ForRewardModel");
    refuses("bert", "JinaBertForMaskedLM");
    refuses("bert", "BertForSomething");
    refuses("t5", "T5ForMaskedLM");
    refuses("deepseek_v3", "DeepseekV2ForCausalLM");
    refuses("whisper", "WhisperForQuestionAnswering");
    refuses("wav2vec2", "Wav2Vec2ForQuestionAnswering");
    refuses("hubert", "HubertForXVector");
    refuses("speecht5", "SpeechT5ForMaskedLM");
    refuses("videomae", "VideoMAEForImageClassification");
    refuses("resnet", "ResNetForObjectDetection");
    refuses("swin", "SwinForObjectDetection");
    refuses("roberta", "RobertaForSomething");
    refuses("vit", "ViTForDetection");
    refuses("bart", "BartForMaskedLM");
    refuses("opt", "OPTForTokenClassification");
    refuses("helium", "HeliumForQuestionAnswering");
    refuses("persimmon", "PersimmonForQuestionAnswering");
    refuses("fuyu", "FuyuForSequenceClassification");
    refuses("lfm2", "Lfm2ForSequenceClassification");
    refuses("bamba", "BambaForSequenceClassification");
    refuses("mllama", "MllamaForCausalLM");
    refuses("dpr", "DPREncoder");
    refuses("blip", "BlipTextModel");
    refuses("clipseg", "CLIPSegVisionModel");
    refuses("longt5", "LongT5WithLMHeadModel");
    refuses("switch_transformers", "SwitchTransformersTop1Router");
    refuses("pegasus_x", "PegasusXForCausalLM");
    refuses("layoutlmv3", "LayoutLMv3ForMaskedLM");
    refuses("yolos", "YolosForImageClassification");
    refuses("mobilenet_v2", "MobileNetV2Backbone");
    refuses("efficientnet", "EfficientNetBackbone");
    refuses("grounding_dino", "GroundingDinoForSegmentation");
    refuses("seamless_m4t_v2", "SeamlessM4Tv2CodeHifiGan");
    refuses("glm_moe_dsa", "GlmMoeDsaForSequenceClassification");
    refuses("qwen2_5_omni", "Qwen2_5OmniTalkerForConditionalGeneration");
}

/* ---- the Transformer of zh-jp 2024 ---- */

static void test_pytorch_transformer(void **state)
{
    (void)state;
    struct shapeproof_prediction *prediction =
        predict("pytorch_transformer", SETTINGS("src_vocab=10000", "tgt_vocab=10000"));
    const struct shapeproof_predicted_totals *sum = shapeproof_prediction_totals(prediction);
    assert_int_equal(sum->unique_parameters, 59508496);
    assert_int_equal(sum->unique_parameters + sum->buffers, 64628496);
    assert_int_equal(group(prediction, "source embedding"), 5120000);
    assert_int_equal(group(prediction, "encoder attention") + group(prediction, "encoder feed-forward") +
                         group(prediction, "encoder norms"),
                     6 * 3152384);
    assert_int_equal(group(prediction, "decoder attention") + group(prediction, "cross attention") +
                         group(prediction, "decoder feed-forward") + group(prediction, "decoder norms"),
                     6 * 4204032);
    shapeproof_prediction_free(prediction);
}

/* ---- what files carry beyond their class ---- */

static void test_bert_extras(void **state)
{
    (void)state;
    struct shapeproof_prediction *prediction = predict("bert", SETTINGS("architectures=[\"BertForMaskedLM\"]"));
    assert_true(tensor(prediction, "bert.pooler.dense.weight")->optional);
    assert_true(tensor(prediction, "cls.seq_relationship.bias")->optional);
    assert_true(tensor(prediction, "bert.embeddings.position_ids")->buffer);
    assert_int_equal(shapeproof_prediction_totals(prediction)->unique_parameters, 109514298);
    const struct shapeproof_predicted *gain = tensor(prediction, "bert.embeddings.LayerNorm.weight");
    assert_int_equal(gain->old_name_count, 1);
    assert_string_equal(gain->old_names[0], "bert.embeddings.LayerNorm.gamma");
    shapeproof_prediction_free(prediction);
}

/* Layer 61 of DeepSeek-V3: known, not counted. */
static void test_deepseek_v3(void **state)
{
    (void)state;
    struct shapeproof_prediction *prediction =
        predict("deepseek_v3",
                SETTINGS("vocab_size=129280", "hidden_size=7168", "num_hidden_layers=61", "intermediate_size=18432",
                         "num_attention_heads=128", "q_lora_rank=1536", "num_nextn_predict_layers=1"));
    assert_int_equal(shapeproof_prediction_totals(prediction)->unique_parameters, 671026419200);
    assert_true(tensor(prediction, "model.layers.61.mlp.experts.255.down_proj.weight")->optional);
    assert_false(tensor(prediction, "model.layers.60.mlp.experts.255.down_proj.weight")->optional);
    shapeproof_prediction_free(prediction);
}

/* GLM-5 is published as 744B; each of its layers has an indexer, of GLM-5.2 each fourth behind the first three. */
static void test_glm_indexers(void **state)
{
    (void)state;
    struct shapeproof_prediction *prediction = predict("glm_moe_dsa", SETTINGS("num_nextn_predict_layers=1"));
    assert_int_equal(shapeproof_prediction_totals(prediction)->unique_parameters, 743911199232);
    assert_int_equal(tensor(prediction, "model.layers.3.self_attn.indexer.wq_b.weight")->shape[0], 4096);
    assert_true(tensor(prediction, "model.layers.78.self_attn.indexer.wk.weight")->optional);
    shapeproof_prediction_free(prediction);
    prediction = predict("glm_moe_dsa", SETTINGS("index_topk_freq=4", "index_skip_topk_offset=3"));
    tensor(prediction, "model.layers.2.self_attn.indexer.wq_b.weight");
    assert_int_equal(shapeproof_prediction_find(prediction, "model.layers.3.self_attn.indexer.wq_b.weight"),
                     SHAPEPROOF_NONE);
    tensor(prediction, "model.layers.6.self_attn.indexer.wq_b.weight");
    shapeproof_prediction_free(prediction);
}

/* A rank of null is no rank; an absent one is 1536. */
static void test_deepseek_query_rank(void **state)
{
    (void)state;
#define SMALL "vocab_size=10", "hidden_size=8", "num_hidden_layers=1", "intermediate_size=4", "num_attention_heads=2"
    struct shapeproof_prediction *prediction = predict("deepseek_v3", SETTINGS(SMALL, "q_lora_rank=null"));
    assert_int_equal(tensor(prediction, "model.layers.0.self_attn.q_proj.weight")->shape[0], 2 * (128 + 64));
    shapeproof_prediction_free(prediction);
    prediction = predict("deepseek_v3", SETTINGS(SMALL));
    assert_int_equal(tensor(prediction, "model.layers.0.self_attn.q_a_proj.weight")->shape[0], 1536);
    shapeproof_prediction_free(prediction);
}

/* The language model takes the sub-configuration, and its own class whatever that one says. */
static void test_llava_language_models(void **state)
{
    (void)state;
    struct shapeproof_prediction *prediction = predict(
        "llava", SETTINGS("text_config.model_type=mistral", "text_config.vocab_size=10", "text_config.hidden_size=64",
                          "text_config.num_attention_heads=16", "text_config.num_hidden_layers=1",
                          "text_config.intermediate_size=6", "text_config.architectures=[\"MistralModel\"]"));
    assert_int_equal(tensor(prediction, "language_model.model.layers.0.self_attn.k_proj.weight")->shape[0], 8 * 4);
    tensor(prediction, "language_model.lm_head.weight");
    assert_int_equal(tensor(prediction, "vision_tower.vision_model.embeddings.position_embedding.weight")->shape[0],
                     24 * 24 + 1);
    shapeproof_prediction_free(prediction);
    prediction = predict("llava", SETTINGS("vision_config.model_type=pixtral", "vision_config.hidden_size=32"));
    assert_int_equal(tensor(prediction, "vision_tower.patch_conv.weight")->shape[0], 32);
    shapeproof_prediction_free(prediction);
    struct shapeproof_error error = {0};
    assert_null(attempt("llava", SETTINGS("vision_config.model_type=whisper"), &error));
    assert_int_equal(error.status, SHAPEPROOF_ERR_UNKNOWN);
    assert_null(attempt("llava", SETTINGS("text_config.model_type=whisper"), &error));
    assert_int_equal(error.status, SHAPEPROOF_ERR_UNKNOWN);
}

/* transformers 5 writes other keys than version 4 did; both are read. */
static void test_keys_of_both_versions(void **state)
{
    (void)state;
    struct shapeproof_prediction *prediction = predict("qwen3_moe", SETTINGS(SMALL, "num_local_experts=4"));
    assert_int_equal(tensor(prediction, "model.layers.0.mlp.gate.weight")->shape[0], 4);
    shapeproof_prediction_free(prediction);
    prediction = predict("qwen3_moe", SETTINGS(SMALL, "num_experts=6"));
    assert_int_equal(tensor(prediction, "model.layers.0.mlp.gate.weight")->shape[0], 6);
    shapeproof_prediction_free(prediction);
    prediction =
        predict("qwen2_vl", SETTINGS("text_config.vocab_size=10", "text_config.hidden_size=8",
                                     "text_config.num_hidden_layers=1", "text_config.intermediate_size=4",
                                     "text_config.num_attention_heads=4", "text_config.num_key_value_heads=2"));
    assert_int_equal(tensor(prediction, "model.layers.0.self_attn.k_proj.weight")->shape[0], 4);
    shapeproof_prediction_free(prediction);
    prediction = predict("qwen2_5_vl", SETTINGS(SMALL, "num_key_value_heads=1"));
    assert_int_equal(tensor(prediction, "model.layers.0.self_attn.k_proj.weight")->shape[0], 4);
    shapeproof_prediction_free(prediction);
}

/* Some classes for answering questions have a base of another name. */
static void test_base_of_questions(void **state)
{
    (void)state;
    struct shapeproof_prediction *prediction =
        predict("qwen3", SETTINGS(SMALL, "architectures=[\"Qwen3ForQuestionAnswering\"]"));
    tensor(prediction, "transformer.norm.weight");
    shapeproof_prediction_free(prediction);
    prediction = predict("mistral", SETTINGS(SMALL, "architectures=[\"MistralForQuestionAnswering\"]"));
    tensor(prediction, "model.norm.weight");
    shapeproof_prediction_free(prediction);
}

#define UNET_XL                                                                                                        \
    "block_out_channels=[320,640,1280]", "cross_attention_dim=2048", "use_linear_projection=true",                     \
        "addition_embed_type=text_time", "projection_class_embeddings_input_dim=2816",                                 \
        "transformer_layers_per_block=[1,2,10]",                                                                       \
        "down_block_types=[\"DownBlock2D\",\"CrossAttnDownBlock2D\",\"CrossAttnDownBlock2D\"]",                        \
        "up_block_types=[\"CrossAttnUpBlock2D\",\"CrossAttnUpBlock2D\",\"UpBlock2D\"]"

#define DOWN "\"DownEncoderBlock2D\""
#define UP "\"UpDecoderBlock2D\""
#define VAE_SD                                                                                                         \
    "block_out_channels=[128,256,512,512]", "layers_per_block=2",                                                      \
        "down_block_types=[" DOWN "," DOWN "," DOWN "," DOWN "]", "up_block_types=[" UP "," UP "," UP "," UP "]"

/* Of Stable Diffusion 1.5 and XL, ControlNet, the autoencoder that they share, and FLUX.1 dev. */
/* The width of all heads: a remainder of the model's width is left out, and a width of a head that is said counts; the
 * embedding size of ALBERT and ELECTRA lets transformers build such models. Shapes are those that transformers 5.24
 * saved. */
static void test_width_of_heads(void **state)
{
    static const struct {
        const char *settings[8], *tensor;
        uint64_t rows, columns;
    } cases[] = {
        {{"model_type=albert", "hidden_size=64", "num_attention_heads=5"},
         "encoder.albert_layer_groups.0.albert_layers.0.attention.query.weight",
         60,
         64},
        {{"model_type=albert", "hidden_size=64", "num_attention_heads=5"},
         "encoder.albert_layer_groups.0.albert_layers.0.attention.dense.weight",
         64,
         64},
        {{"model_type=electra", "hidden_size=64", "num_attention_heads=5"},
         "encoder.layer.0.attention.self.key.weight",
         60,
         64},
        {{"model_type=roformer", "hidden_size=64", "num_attention_heads=5"},
         "encoder.layer.0.attention.self.value.weight",
         60,
         64},
        {{"model_type=mobilebert", "num_attention_heads=5"}, "encoder.layer.0.attention.self.value.weight", 125, 512},
        {{"model_type=vit", "transformers_version=\"5.24.0\"", "hidden_size=64", "num_attention_heads=5"},
         "encoder.layer.0.attention.attention.query.weight",
         60,
         64},
        {{"model_type=vit", "transformers_version=\"5.24.0\"", "hidden_size=64", "num_attention_heads=4", "head_dim=6"},
         "encoder.layer.0.attention.output.dense.weight",
         64,
         24},
        {{"model_type=vit_mae", "architectures=[\"ViTMAEForPreTraining\"]", "decoder_hidden_size=64",
          "decoder_num_attention_heads=4", "head_dim=6", "transformers_version=\"4.57.0\""},
         "decoder.decoder_layers.0.attention.attention.key.weight",
         64,
         64},
        {{"model_type=dinov2", "transformers_version=\"5.24.0\"", "hidden_size=64", "num_attention_heads=5"},
         "encoder.layer.0.attention.output.dense.weight",
         64,
         60},
        {{"model_type=beit", "transformers_version=\"5.24.0\"", "hidden_size=64", "num_attention_heads=5"},
         "encoder.layer.0.attention.attention.key.weight",
         60,
         64},
        {{"model_type=yolos", "transformers_version=\"5.24.0\"", "hidden_size=64", "num_attention_heads=4",
          "head_dim=6"},
         "encoder.layer.0.attention.attention.key.weight",
         64,
         64},
        {{"model_type=segformer", "hidden_sizes=[32,64,160,256]", "num_attention_heads=[1,2,6,8]"},
         "encoder.block.2.0.attention.self.query.weight",
         156,
         160},
        {{"model_type=vivit", "transformers_version=\"5.24.0\"", "hidden_size=64", "num_attention_heads=5"},
         "encoder.layer.0.attention.attention.query.weight",
         60,
         64},
        {{"model_type=radio", "transformers_version=\"5.24.0\"", "hidden_size=64", "num_attention_heads=5"},
         "radio_model.model.blocks.0.attn.qkv.weight",
         180,
         64},
        {{"model_type=gemma4_audio", "hidden_size=85"}, "layers.0.self_attn.k_proj.linear.weight", 80, 85},
        {{"model_type=gemma4_audio", "hidden_size=85"}, "layers.0.self_attn.relative_k_proj.weight", 80, 85},
        {{"model_type=cohere", "hidden_size=512", "num_attention_heads=64", "num_key_value_heads=32", "head_dim=2",
          "vocab_size=10"},
         "model.layers.0.self_attn.k_proj.weight",
         64,
         512},
        {{"model_type=olmo", "hidden_size=64", "num_attention_heads=4", "head_dim=6", "vocab_size=10"},
         "model.layers.0.self_attn.o_proj.weight",
         64,
         24},
        {{"model_type=granitemoe", "hidden_size=64", "num_attention_heads=4", "head_dim=6", "vocab_size=10"},
         "model.layers.0.self_attn.q_proj.weight",
         24,
         64},
        {{"model_type=moonshine", "hidden_size=64", "head_dim=6"},
         "model.encoder.layers.0.self_attn.q_proj.weight",
         48,
         64},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct shapeproof_prediction *prediction = predict(NULL, cases[i].settings);
        const size_t found = shapeproof_prediction_find(prediction, cases[i].tensor);
        if (found == SHAPEPROOF_NONE) fail_msg("%s: no %s", cases[i].settings[0], cases[i].tensor);
        const struct shapeproof_predicted *tensor = shapeproof_prediction_tensor(prediction, found);
        if (tensor->rank != 2 || tensor->shape[0] != cases[i].rows || tensor->shape[1] != cases[i].columns)
            fail_msg("%s: %s is (%" PRIu64 ", %" PRIu64 ")", cases[i].settings[0], cases[i].tensor, tensor->shape[0],
                     tensor->shape[1]);
        shapeproof_prediction_free(prediction);
    }
}

/* A configuration without a class is that of the encoder-decoder, as in transformers, unless it is in the form of
 * ComfyUI's text encoders. */
static void test_class_of_t5(void **state)
{
    (void)state;
    assert_int_equal(totals("t5", SETTINGS("num_layers=6")).unique_parameters, 60506624);
    assert_int_equal(totals("t5", SETTINGS("is_encoder_decoder=true")).unique_parameters, 60506624);
    assert_int_equal(
        totals("mt5", SETTINGS("is_encoder_decoder=true", "transformers_version=5.24.0", "dense_act_fn=gelu_new"))
            .unique_parameters,
        172119424);
    assert_int_equal(
        totals("umt5", SETTINGS("is_encoder_decoder=true", "transformers_version=5.24.0", "dense_act_fn=gelu_new"))
            .unique_parameters,
        172122112);
    assert_int_equal(totals("t5", SETTINGS("is_encoder_decoder=true", "dense_act_fn=relu")).unique_parameters,
                     35330816);
    assert_int_equal(totals("t5", SETTINGS("is_encoder_decoder=false")).unique_parameters, 35330816);
}

/* q_lora_rank replaces the matrix of the queries in 7 of 42 layers: 32*192*2560 elements by two matrices and a norm. */
static void test_latent_queries(void **state)
{
    (void)state;
    const int64_t whole = 32 * 192 * 2560, latent = 1024 * (2560 + 1 + 32 * 192);
    const int64_t total = (int64_t)totals("bailing_hybrid", SETTINGS("q_lora_rank=null")).unique_parameters;
    assert_int_equal(totals("bailing_hybrid", SETTINGS("q_lora_rank=1024")).unique_parameters,
                     total - 7 * (whole - latent));
}

static void test_diffusion(void **state)
{
    (void)state;
    assert_int_equal(totals("unet_2d_condition", SETTINGS("cross_attention_dim=768")).unique_parameters, 859520964);
    assert_int_equal(totals("unet_2d_condition", SETTINGS(UNET_XL)).unique_parameters, 2567463684);
    assert_int_equal(totals("controlnet", SETTINGS("cross_attention_dim=768")).unique_parameters, 361279120);
    assert_int_equal(totals("autoencoder_kl", SETTINGS(VAE_SD)).unique_parameters, 83653863);
    assert_int_equal(totals("flux", SETTINGS("guidance_embeds=true")).unique_parameters, 11901408320);
}

/* Of what pipelines have beside those, as diffusers makes them by default. */
static void test_pipelines(void **state)
{
    (void)state;
    static const struct {
        const char *table;
        uint64_t parameters;
    } models[] = {{"ace_step_conditions", 608369664},
                  {"ace_step_tokens", 105032198},
                  {"ace_step_sounds", 105011776},
                  {"ltx2_connectors", 1431475200},
                  {"ltx2_duration", 1903361},
                  {"ltx2_sound", 55592802},
                  {"ltx2_wide_sound", 128537448},
                  {"ltx2_latent_upsampler", 497867904},
                  {"audioldm2_unet", 872300484},
                  {"wuerstchen", 1055365280},
                  {"paella_vq", 18406894},
                  {"shap_e_renderer", 226297286},
                  {"stable_audio3_duration", 197376}};
    for (size_t i = 0; i < sizeof models / sizeof *models; i++)
        assert_int_equal(totals(models[i].table, SETTINGS(NULL)).unique_parameters, models[i].parameters);
}

/* Of sentence-transformers' autoencoder, whose ways there and back are one matrix. */
static void test_sparse_autoencoder(void **state)
{
    (void)state;
    const struct shapeproof_predicted_totals counts =
        totals("sentence_sparse_autoencoder", SETTINGS("input_dim=16", "hidden_dim=40"));
    assert_int_equal(counts.unique_parameters, 16 + 40 + 640);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_width_of_heads),
        cmocka_unit_test(test_class_of_t5),
        cmocka_unit_test(test_latent_queries),
        cmocka_unit_test(test_diffusion),
        cmocka_unit_test(test_pipelines),
        cmocka_unit_test(test_sparse_autoencoder),
        cmocka_unit_test(test_titles),
        cmocka_unit_test_teardown(test_architectures, free_config),
        cmocka_unit_test_teardown(test_arguments_of_timm, free_config),
        cmocka_unit_test_teardown(test_swin_backbones, free_config),
        cmocka_unit_test_teardown(test_scales_of_time, free_config),
        cmocka_unit_test_teardown(test_keys_of_both_versions, free_config),
        cmocka_unit_test_teardown(test_base_of_questions, free_config),
        cmocka_unit_test_teardown(test_gpt2_sizes, free_config),
        cmocka_unit_test_teardown(test_gpt2_untied, free_config),
        cmocka_unit_test_teardown(test_llama3_8b, free_config),
        cmocka_unit_test_teardown(test_published_counts, free_config),
        cmocka_unit_test_teardown(test_published_sizes, free_config),
        cmocka_unit_test_teardown(test_more_extras, free_config),
        cmocka_unit_test_teardown(test_mllama_rows, free_config),
        cmocka_unit_test_teardown(test_omni_parts, free_config),
        cmocka_unit_test_teardown(test_unknown_classes, free_config),
        cmocka_unit_test_teardown(test_pytorch_transformer, free_config),
        cmocka_unit_test_teardown(test_bert_extras, free_config),
        cmocka_unit_test_teardown(test_deepseek_v3, free_config),
        cmocka_unit_test_teardown(test_deepseek_query_rank, free_config),
        cmocka_unit_test_teardown(test_glm_indexers, free_config),
        cmocka_unit_test_teardown(test_llava_language_models, free_config),
    };
    return cmocka_run_group_tests(tests, open_tables, close_tables);
}
