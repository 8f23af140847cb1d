/* SPDX-License-Identifier: MIT
 * The law of src/prove for every table that is built in. */
#define _POSIX_C_SOURCE 200809L

#include "prove/drawn.h"
#include "sample.h"

#include "base/chars.h"
#include "lang/harness.h"

/* Points of a table, and of one draw of its texts; draws, and those where none has met the requirements so far. */
enum { TRIES = 12, POINTS = 3, DRAWS = 5, MANY_DRAWS = 100, MANY_POINTS = 60 };

/* A table that cannot be counted must not be predicted either, unless it would be too much to write down. */
static void try_uncounted(const struct shapeproof_tables *tables, struct sp_count *count,
                          const struct shapeproof_config *fixed, struct sp_arena *arena, uint64_t *seed,
                          struct tries *tries)
{
    for (int i = 0; i < POINTS && !is_limit(count->messages.data); i++) {
        struct shapeproof_error error = {0};
        struct shapeproof_config *config = random_point(count, fixed, arena, seed, false);
        struct shapeproof_prediction *prediction = shapeproof_predict(
            tables, config, &(struct shapeproof_predict_options){.table = count->table->name}, &error);
        if (prediction && !tries->differences++) {
            char *point = point_text(config);
            print_message("%s: %s\n  at %s\n", count->table->name, count->messages.data, point);
            free(point);
        } else if (!prediction && !tries->unpredicted++) tries->why = error;
        shapeproof_prediction_free(prediction);
        shapeproof_config_free(config);
    }
    if (is_limit(count->messages.data))
        sp_fail(&tries->why, SHAPEPROOF_ERR_TABLE, SHAPEPROOF_KIND_NONE, "%s", count->messages.data);
}

/* Points with one class and one choice of texts. Returns whether there are others. */
static bool try_draw(const struct shapeproof_tables *tables, const struct sp_unit *table,
                     const struct shapeproof_config *settings, size_t number, uint64_t *seed, struct tries *tries)
{
    struct sp_count count;
    struct sp_arena arena = {0};
    struct shapeproof_config *fixed = sp_config_variant(settings);
    const size_t classes = draw_class(fixed, tables, table, number, &arena);
    bool counted = sp_count_table(&count, tables, table, sp_config_hyper(fixed), SP_SIDES_MAY_DIFFER);
    const size_t texts = draw_texts(fixed, &count, number, &arena, seed);
    if (number && texts) {
        sp_count_free(&count);
        counted = sp_count_table(&count, tables, table, sp_config_hyper(fixed), SP_SIDES_MAY_DIFFER);
    }
    if (!counted) try_uncounted(tables, &count, fixed, &arena, seed, tries);
    const bool several = classes > 1 || texts;
    const int tried = several ? POINTS : TRIES;
    for (int i = 0; counted && i < (tries->points || several ? tried : MANY_POINTS) && !tries->differences; i++) {
        struct shapeproof_config *config = random_point(&count, fixed, &arena, seed, false);
        try_point(tables, &count, config, tries);
        shapeproof_config_free(config);
    }
    sp_count_free(&count);
    shapeproof_config_free(fixed);
    sp_arena_free(&arena);
    return several;
}

/* Points of the table under settings, "" or several with blanks between them. */
static struct tries try_table(const struct shapeproof_tables *tables, const struct sp_unit *table, const char *settings,
                              uint64_t *seed)
{
    struct tries tries = {0};
    struct shapeproof_config *config = shapeproof_config_new();
    bool several = true;
    apply_settings(config, settings);
    for (size_t i = 0; several && i < (tries.points ? DRAWS : MANY_DRAWS) && !tries.differences; i++)
        several = try_draw(tables, table, config, i, seed, &tries);
    if (!tries.points) print_message("%s %s: nothing was tried: %s\n", table->name, settings, tries.why.message);
    shapeproof_config_free(config);
    return tries;
}

/* Texts, lists, null and objects, which random points do not have. */
#define RESNET "backbone_config.model_type=resnet backbone_config.out_indices=[2,3,4]"
#define SWIN "backbone_config.model_type=swin backbone_config.out_indices=[2,3,4]"
#define INTRACLASS                                                                                                     \
    "intraclass_block_config.vertical_long_to_small_conv_longratio=[3,1,1] "                                           \
    "intraclass_block_config.vertical_long_to_small_conv_midratio=[3,1,1] "                                            \
    "intraclass_block_config.vertical_long_to_small_conv_shortratio=[3,1,1] "                                          \
    "intraclass_block_config.horizontal_small_to_long_conv_longratio=[3,1,1] "                                         \
    "intraclass_block_config.horizontal_small_to_long_conv_midratio=[3,1,1] "                                          \
    "intraclass_block_config.horizontal_small_to_long_conv_shortratio=[3,1,1] "                                        \
    "intraclass_block_config.symmetric_conv_long_longratio=[3,1,1] "                                                   \
    "intraclass_block_config.symmetric_conv_long_midratio=[3,1,1] "                                                    \
    "intraclass_block_config.symmetric_conv_long_shortratio=[3,1,1] "                                                  \
    "intraclass_block_config.reduce_channel=[1,1,0] "                                                                  \
    "intraclass_block_config.return_channel=[1,1,0]"
#define BLOCKS                                                                                                         \
    "backbone_config.block_configs=[[[3,16,32,1,false]],[[3,32,64,2,false],[3,64,64,1,true]],[[3,64,128,2,false]]]"

static const struct {
    const char *table, *settings;
} cases[] = {
    {"gemma4", "text_config.hidden_size_per_layer_input=0"},
    {"vision_encoder_decoder", "encoder.model_type=vit decoder.model_type=gpt2"},
    {"vision_encoder_decoder", "encoder.model_type=deit decoder.model_type=trocr"},
    {"vision_encoder_decoder", "encoder.model_type=donut-swin decoder.model_type=mbart encoder.depths=[2,3]"},
    {"vision_text_dual_encoder", "text_config.model_type=bert vision_config.model_type=vit"},
    {"sockeye_mixed", "encoder=rnn decoder=transformer"},
    {"sockeye_mixed", "encoder=transformer decoder=cnn transformer_preprocess=n transformer_postprocess=drn"},
    {"sockeye_mixed", "encoder=cnn decoder=rnn rnn_cell_type=gru version=1.10.2"},
    {"sockeye_rnn", "rnn_cell_type=gru lhuc=[\"encoder\"] num_layers=[3,5]"},
    {"sockeye_rnn", "source_factors_vocab_sizes=[10,20] source_factors_num_embed=[4,8]"},
    {"sockeye_transformer", "transformer_positional_embedding_type=learned weight_tying_type=src_trg_softmax"},
    {"sockeye_transformer", "source_factors_combine=sum transformer_preprocess=[\"rn\",\"\"]"},
    {"deepseek_v3", "q_lora_rank=null"},
    {"deepseek_v2", "first_k_dense_replace=0 q_lora_rank=null"},
    {"deepseek_v3", "num_hidden_layers=90"},
    {"llama", "num_key_value_heads=null"},
    {"gemma3_text", "num_hidden_layers=70"},
    {"gemma4_text", "num_hidden_layers=6 layer_types=[\"full_attention\",1,\"full_attention\",2,3,4]"},
    {"sockeye_3", "num_embed=8 transformer_model_size=8"},
    {"swin", "depths=[1,2,3] num_heads=[1,2,4]"},
    {"swin", "mlp_ratio=2.5 architectures=[\"SwinForImageClassification\"] id2label={\"0\":1,\"1\":2,\"2\":3}"},
    {"dinov2", "mlp_ratio=2.6667"},
    {"jamba", "attn_layer_offset=1 attn_layer_period=3 num_hidden_layers=100"},
    {"bert", "architectures=[\"BertModel\"] position_embedding_type=relative_key_query"},
    {"wav2vec2", "conv_dim=[8,8] conv_kernel=[3,3] conv_stride=[2,2] feat_extract_norm=layer"},
    {"t5", "feed_forward_proj=gated-gelu architectures=[\"T5EncoderModel\"]"},
    {"resnet", "depths=[1,1] hidden_sizes=[8,16] layer_type=basic"},
    {"falcon", "new_decoder_architecture=true"},
    {"yolos", "image_size=[96,64]"},
    {"yolos", "image_size=[100,60] architectures=[\"YolosForObjectDetection\"]"},
    {"grounding_dino", "backbone_config.out_indices=[2,3,4]"},
    {"grounding_dino", "backbone_config.out_indices=[4] architectures=[\"GroundingDinoForObjectDetection\"]"},
    {"mllama", "text_config.cross_attention_layers=[1,3] text_config.num_hidden_layers=5"},
    {"lfm2", "layer_types=[\"conv\",\"full_attention\",\"conv\"] num_hidden_layers=3"},
    {"lfm2", "full_attn_idxs=[0,2] block_ffn_dim_multiplier=1.3"},
    {"bamba", "attn_layer_indices=[1,2]"},
    {"blip", "architectures=[\"BlipForQuestionAnswering\"]"},
    {"longt5", "encoder_attention_type=transient-global"},
    {"switch_transformers", "num_sparse_encoder_layers=2 num_layers=7"},
    {"mobilenet_v2", "depth_multiplier=0.35 architectures=[\"MobileNetV2ForSemanticSegmentation\"]"},
    {"seamless_m4t_v2", "position_embeddings_type=null architectures=[\"SeamlessM4Tv2ForSpeechToText\"]"},
    {"conditional_detr", RESNET},
    {"dab_detr", RESNET},
    {"deformable_detr", RESNET},
    {"detr", RESNET},
    {"d_fine", RESNET},
    {"deimv2", RESNET},
    {"deimv2", "backbone_config.model_type=dinov3_vit backbone_config.out_indices=[5,8,11] encoder_type=lite"},
    {"dreamlite_unet", "block_out_channels=[8,16,16] attention_head_dim=2 transformer_layers_per_block=1 "
                       "down_block_types=[\"DreamLiteDownBlock2D\",\"DreamLiteCrossAttnNoSelfAttnDownBlock2D\","
                       "\"DreamLiteCrossAttnDownBlock2D\"] "
                       "up_block_types=[\"DreamLiteCrossAttnUpBlock2D\","
                       "\"DreamLiteCrossAttnNoSelfAttnUpBlock2D\",\"DreamLiteUpBlock2D\"]"},
    {"nemo_speechlm", "text_config.layer_types=[\"mamba\",\"moe\",\"attention\"]"},
    {"lw_detr", RESNET},
    {"mask2former", RESNET},
    {"maskformer", RESNET},
    {"oneformer", RESNET},
    {"pp_doclayout_v2", RESNET},
    {"pp_doclayout_v3", RESNET},
    {"pp_doclayout_v4", RESNET},
    {"rt_detr", RESNET},
    {"rt_detr_v2", RESNET},
    {"table_transformer", RESNET},
    {"upernet", RESNET},
    {"deformable_detr", SWIN},
    {"mask2former", SWIN},
    {"mm_grounding_dino", SWIN},
    {"oneformer", SWIN},
    {"upernet", SWIN},
    {"pp_ocrv5_mobile_det", BLOCKS " backbone_config.out_indices=[2,3]"},
    {"pp_ocrv5_server_det", INTRACLASS},
    {"pp_ocrv6_medium_det", BLOCKS " " INTRACLASS},
    {"perception_lm", "vision_config.architecture=vit_pe_core_large_patch14_336 vision_config.model_args.embed_dim=64"},
    {"pp_ocrv6_small_det", BLOCKS " backbone_config.out_indices=[2,3]"},
    {"pp_ocrv5_mobile_rec", BLOCKS},
    {"pp_ocrv6_small_rec", BLOCKS},
    {"pp_ocrv6_tiny_rec", BLOCKS},
    {"slanet", BLOCKS},
    {"paddle_backbone", "model_type=pp_lcnet_v3"},
    {"paddle_backbone", "model_type=pp_lcnet scale=0.5"},
    {"uvdoc", "backbone_config.resnet_head=[[3,32],[32,32]] "
              "backbone_config.resnet_configs=[[[32,32,1,false]],[[32,64,1,true],[64,64,2,false]]] "
              "backbone_config.stage_configs=[[[8,1]],[[8,2],[8,3]]]"},
    {"granite4_vision", "downsample_rate=2/4 deepstack_layer_map=[[1,2],[3,4]]"},
    {"granitemoehybrid", "num_hidden_layers=3 layer_types=[\"mamba\",\"attention\",\"mamba\"]"},
    {"zamba", "num_hidden_layers=3 layers_block_type=[\"mamba\",\"hybrid\",\"mamba\"]"},
    {"nemotron_h", "layer_types=[\"mamba\",\"moe\",\"attention\"]"},
    {"nemotron_h_omni", "text_config.layer_types=[\"mamba\",\"moe\",\"attention\"] downsample_ratio=0.5"},
    {"nemotron_h", "layers_block_type=null layer_types=null hybrid_override_pattern=M-E*"},
    {"wan_animate", "motion_encoder_size=512"},
    {"detectron2_rcnn", "MODEL.META_ARCHITECTURE=GeneralizedRCNN MODEL.RESNETS.DEPTH=50"},
    {"detectron2_rcnn", "MODEL.META_ARCHITECTURE=GeneralizedRCNN MODEL.RESNETS.DEPTH=18"},
    {"detectron2_retinanet", "MODEL.META_ARCHITECTURE=RetinaNet MODEL.RESNETS.DEPTH=101"},
    {"gemma4_text",
     "num_hidden_layers=3 per_layer_config={\"0\":{\"head_dim\":4},\"1\":{\"num_key_value_heads\":2},\"2\":{}}"},
    {"dots3_note_text", "num_hidden_layers=70 per_layer_config={\"0\":{\"q_lora_rank\":4},\"69\":{\"v_head_dim\":2}}"},
    {"unet_motion", "block_out_channels=[8,16] layers_per_block=[1,2] cross_attention_dim=6 "
                    "transformer_layers_per_block=2 temporal_transformer_layers_per_block=[1,3]"},
    {"gemma4_text",
     "per_layer_config={\"0\":{\"head_dim\":4},\"1\":{\"num_key_value_heads\":3},\"2\":{\"head_dim\":null}}"},
    {"dots3_note_text",
     "per_layer_config={\"0\":{\"q_lora_rank\":4,\"v_head_dim\":3},\"1\":{},\"2\":{},\"3\":{\"kv_lora_rank\":5}}"},
    {"recurrent_gemma", "block_types=[\"attention\",\"recurrent\"]"},
    {"poolformer", "hidden_sizes=[8,4,2] depths=[1,2,3] patch_sizes=[7,3,5]"},
    {"doge", "is_moe=true num_experts=50"},
    {"transfo_xl", "cutoffs=[1] tie_projs=[true,false] architectures=[\"TransfoXLLMHeadModel\"]"},
};

/* Those that no point without settings can be predicted for: of a list of lists, of texts, of stages. */
static bool needs_settings(const char *table)
{
    static const char *const tables[] = {"sockeye_mixed",
                                         "transfo_xl",
                                         "yolos",
                                         "unet_motion",
                                         "grounding_dino",
                                         "conditional_detr",
                                         "dab_detr",
                                         "deformable_detr",
                                         "detr",
                                         "d_fine",
                                         "deimv2",
                                         "dreamlite_unet",
                                         "nemo_speechlm",
                                         "lw_detr",
                                         "mask2former",
                                         "maskformer",
                                         "oneformer",
                                         "pp_doclayout_v2",
                                         "pp_doclayout_v3",
                                         "pp_doclayout_v4",
                                         "rt_detr",
                                         "rt_detr_v2",
                                         "table_transformer",
                                         "upernet",
                                         "mm_grounding_dino",
                                         "pp_ocrv5_mobile_det",
                                         "pp_ocrv5_server_det",
                                         "pp_ocrv6_medium_det",
                                         "perception_lm",
                                         "pp_ocrv6_small_det",
                                         "pp_ocrv5_mobile_rec",
                                         "pp_ocrv6_small_rec",
                                         "pp_ocrv6_tiny_rec",
                                         "slanet",
                                         "paddle_backbone",
                                         "uvdoc",
                                         "granite4_vision",
                                         "granitemoehybrid",
                                         "zamba",
                                         "nemotron_h",
                                         "nemotron_h_omni",
                                         "wan_animate",
                                         "vision_text_dual_encoder",
                                         "detectron2_rcnn",
                                         "detectron2_retinanet"};
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        if (!strcmp(table, tables[i])) return true;
    return false;
}

static bool has_case(const char *table)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (!strcmp(table, cases[i].table)) return true;
    return false;
}

/* Each table has points of its own, which do not change when tables are added. */
static uint64_t seed_of(const char *table)
{
    uint64_t seed = 1;
    for (; *table; table++) seed = seed * 1099511628211U + (unsigned char)*table;
    return seed;
}

static void every_table_counts_what_it_expands_to(void **state)
{
    const struct shapeproof_tables *tables = *state;
    size_t differences = 0, points = 0, tried = 0;
    for (size_t i = 0; i < shapeproof_tables_count(tables); i += sample()) {
        const struct sp_unit *table = sp_tables_unit(tables, shapeproof_tables_info(tables, i)->name);
        uint64_t seed = seed_of(table->name);
        if (needs_settings(table->name) && !has_case(table->name)) fail_msg("%s has no settings", table->name);
        if (sp_unit_needs_arguments(table) || needs_settings(table->name)) continue;
        if (sp_unit_chooses(table)) continue; /* its sum is that of another table, which no formula tells */
        const struct tries tries = try_table(tables, table, "", &seed);
        differences += tries.differences + !tries.points;
        points += tries.points;
        tried++;
    }
    print_message("%zu points of %zu tables, of %zu\n", points, tried, shapeproof_tables_count(tables));
    assert_int_equal(differences, 0);
}

static void tables_count_under_settings(void **state)
{
    size_t differences = 0, points = 0;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i += quarter()) {
        const struct sp_unit *table = sp_tables_unit(*state, cases[i].table);
        uint64_t seed = 2 + i;
        if (!table) fail_msg("there is no table %s", cases[i].table);
        const struct tries tries = try_table(*state, table, cases[i].settings, &seed);
        differences += tries.differences + !tries.points;
        points += tries.points;
    }
    print_message("%zu points, one in %zu of %zu cases\n", points, quarter(), sizeof cases / sizeof *cases);
    assert_int_equal(differences, 0);
}

/* Each function that is no arithmetic, of numbers that are open, and in a loop whose end is. */
static void functions(void **state)
{
    (void)state;
    static const char text[] = "table t\n"
                               "kind(i) = kinds[i % len(kinds)]\n"
                               "own(i)  = member(layers, i)\n"
                               "[near]\nw (near_multiple(0.35 * n, 8), near_multiple(m, n))\n"
                               "[row]\nr (row(name, [[\"vit\", 3], [\"vit_b\", 5]])[1], n)\n"
                               "[number]\nd (number_after(after(name, \"_\"), \"patch\", n), m)\n"
                               "[skip]\ns (starts_with(skip(name, 4), \"b\") ? n : m)\n"
                               "[kinds] for i in 0..n-1\n"
                               "c.{i} (count(kinds, kind(i)), find(kinds, kind(i)) + 1, find(kinds, n) default m)\n"
                               "[own] for i in 0..n-1\n"
                               "o.{i} (own(i).width default m)\np.{i} (m) if own(i).flag default i > 1\n"
                               "[root]\nq (int(m^0.5) + 1, i_release)\n";
    struct shapeproof_error error = {0};
    struct shapeproof_tables *tables = shapeproof_tables_new(&error);
    uint64_t seed = 1;
    assert_int_equal(shapeproof_tables_add_text(tables, "t.shapes", text, sizeof text - 1, &error), SHAPEPROOF_OK);
    const struct tries tries = try_table(tables, sp_tables_unit(tables, "t"),
                                         "name=vit_b_patch16 kinds=[\"x\",\"y\",\"x\"] "
                                         "layers={\"0\":{\"width\":3},\"1\":{\"flag\":true},\"2\":{\"flag\":false}}",
                                         &seed);
    assert_int_equal(tries.differences, 0);
    assert_true(tries.points >= 10);
    shapeproof_tables_free(tables);
}

static int open_tables(void **state)
{
    struct shapeproof_error error = {0};
    *state = shapeproof_tables_new(&error);
    return *state ? 0 : 1;
}

static int close_tables(void **state)
{
    shapeproof_tables_free(*state);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_table_counts_what_it_expands_to),
                                       cmocka_unit_test(tables_count_under_settings), cmocka_unit_test(functions)};
    return cmocka_run_group_tests(tests, open_tables, close_tables);
}
