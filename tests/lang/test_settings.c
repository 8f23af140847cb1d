/* SPDX-License-Identifier: MIT
 * Settings of built-in tables that few models have: lists of another length than is usual, flags that are mostly off,
 * parts of another kind. What is expected is what the framework makes of them. */
#define _POSIX_C_SOURCE 200809L
#include "lang/harness.h"

#define TIMM "backbone_config.model_type=timm_backbone backbone_config.backbone=resnet18 "
#define SMALL                                                                                                          \
    "text_config.vocab_size=7 text_config.hidden_size=8 text_config.num_hidden_layers=1 "                              \
    "text_config.num_attention_heads=2 text_config.intermediate_size=4 "
#define ARGS(name) "architecture=" name " "
#define PAIR(writer) "encoder.model_type=bert decoder.model_type=" writer " decoder.vocab_size=7 "

static const struct {
    const char *table, *settings, *name, *shape; /* the shape as (V, E), NULL where there is no such tensor */
} rows[] = {
    /* Lists that do not all have the same length: stages are as many as the shortest allows. */
    {"resnet", "depths=[1,1] hidden_sizes=[8,16,32]", "encoder.stages.1.layers.0.layer.2.convolution.weight",
     "(16, 4, 1, 1)"},
    {"resnet", "depths=[1,1] hidden_sizes=[8,16,32]", "encoder.stages.2.layers.0.layer.2.convolution.weight", NULL},
    {"bit", "depths=[1] hidden_sizes=[8,16]", "norm.weight", "(16)"},
    {"efficientnet", "in_channels=[8,8] num_block_repeats=[1,1]",
     "encoder.blocks.4.depthwise_conv.depthwise_conv.weight", "(96, 1, 3, 3)"},
    {"glpn", "architectures=[\"GLPNForDepthEstimation\"] hidden_sizes=[8,8,8,8,12] num_encoder_blocks=4",
     "decoder.stages.0.convolution.weight", "(64, 12, 1, 1)"},
    {"depth_anything",
     "architectures=[\"DepthAnythingForDepthEstimation\"] backbone_config.model_type=dinov2 reassemble_factors=[1,1]",
     "neck.reassemble_stage.layers.2.projection.weight", NULL},
    {"speecht5_hifigan", "resblock_dilation_sizes=[[1],[1]]", "resblocks.7.convs1.0.weight", "(32, 32, 7)"},
    {"rt_detr", "decoder_in_channels=[8,8,8,8]", "decoder_input_proj.3.0.weight", "(256, 8, 1, 1)"},
    {"mobilevit", "architectures=[\"MobileViTForSemanticSegmentation\"] neck_hidden_sizes=[8,8,8,8,8,8,16,24]",
     "segmentation_head.aspp.convs.0.convolution.weight", "(256, 16, 1, 1)"},
    /* A backbone of timm ends with the last stage that is looked at; its images may have other channels. */
    {"detr", TIMM "backbone_config.out_indices=[1,2] backbone_config.num_channels=4",
     "backbone.conv_encoder.model.conv1.weight", "(64, 4, 7, 7)"},
    {"detr", TIMM "backbone_config.out_indices=[1,2]", "backbone.conv_encoder.model.layer3.0.conv1.weight", NULL},
    {"detr", TIMM "backbone_config.out_indices=[-1]", "input_projection.weight", "(256, 512, 1, 1)"},
    {"detr", TIMM "position_embedding_type=learned", "position_embedding.row_embeddings.weight", "(50, 128)"},
    {"table_transformer", TIMM "position_embedding_type=learned", "backbone.position_embedding.row_embeddings.weight",
     "(50, 128)"},
    /* Flags. */
    {"grounding_dino", "two_stage=false embedding_init_target=false", "reference_points.weight", "(900, 4)"},
    {"grounding_dino", "two_stage=false", "enc_output.weight", NULL},
    {"mm_grounding_dino", "two_stage=false", "enc_output.weight", "(256, 256)"},
    {"beit", "architectures=[\"BeitBackbone\"] use_shared_relative_position_bias=true transformers_version=5.0.0",
     "beit.encoder.relative_position_bias.relative_position_bias_table", "(732, 12)"},
    {"sam", "prompt_encoder_config.num_point_embeddings=5", "prompt_encoder.point_embed.4.weight", "(1, 256)"},
    {"flava_image_codebook", "num_groups=5", "blocks.group_4.group.block_1.id_path.weight", "(2048, 1024, 1, 1)"},
    {"bert_generation", "position_embedding_type=relative_key",
     "encoder.layer.0.attention.self.distance_embedding.weight", "(1023, 64)"},
    {"altclip", "text_config.position_embedding_type=relative_key transformers_version=4.57.6",
     "text_model.roberta.encoder.layer.0.attention.self.distance_embedding.weight", "(1027, 64)"},
    {"bridgetower", "text_config.position_embedding_type=relative_key",
     "cross_modal_text_layers.0.crossattention.self.distance_embedding.weight", "(1027, 64)"},
    {"bridgetower", "text_config.position_embedding_type=relative_key transformers_version=5.0.0",
     "text_model.encoder.layer.0.attention.self.distance_embedding.weight", NULL},
    {"granite_speech", SMALL "projector_config.position_embedding_type=relative_key",
     "projector.qformer.encoder.layer.0.attention.attention.distance_embedding.weight", "(4095, 64)"},
    {"rf_detr", "attention_bias=false backbone_config.out_indices=[2,5] architectures=[\"RfDetrForObjectDetection\"]",
     "transformer.decoder.layers.0.self_attn.in_proj_bias", NULL},
    /* Arguments of timm's models. */
    {"timm_vit_hybrid", ARGS("vit_small_r26_s32_224") "model_args.reg_tokens=4", "pos_embed", "(1, 54, 384)"},
    {"timm_vit_resnet", ARGS("vit_small_resnet26d_224") "model_args.pre_norm=true", "norm_pre.weight", "(768)"},
    {"timm_vit_mci", ARGS("vit_base_mci_224") "model_args.class_token=false", "cls_token", NULL},
    {"timm_deit", ARGS("deit_small_patch16_224") "model_args.no_embed_class=true", "pos_embed", "(1, 196, 384)"},
    {"timm_deit", ARGS("deit_tiny_distilled_patch16_224") "model_args.pos_embed=none", "pos_embed", "(1, 198, 192)"},
    {"timm_deepseek_vit", ARGS("deepseek_vit_412m") "model_args.embed_dim=128", "encoder.blocks.0.mlp.fc2.weight",
     "(128, 352)"},
    {"timm_byoa", ARGS("botnet26t_256") "pretrained_cfg.input_size=[3,256,256] model_args.output_stride=16",
     "stages.3.1.self_attn.pos_embed.height_rel", "(31, 128)"},
    /* Any encoder before any decoder that looks at it. */
    {"encoder_decoder", PAIR("gpt2"), "decoder.transformer.h.0.crossattention.q_attn.weight", "(768, 768)"},
    {"encoder_decoder", PAIR("pegasus"), "enc_to_dec_proj.weight", "(1024, 768)"},
    {"vision_text_dual_encoder", "text_config.model_type=distilbert text_config.dim=24 vision_config.model_type=vit",
     "text_projection.weight", "(512, 24)"},
    /* An encoder that is its decoder, as transformers had them until release 5. */
    {"t5", "tie_encoder_decoder=true num_decoder_layers=1 architectures=[\"T5ForConditionalGeneration\"]",
     "encoder.block.0.layer.1.DenseReluDense.wi.weight", "(2048, 512)"},
    {"longt5", "tie_encoder_decoder=true", "encoder.block.0.layer.0.LocalSelfAttention.q.weight", "(512, 512)"},
    {"prophetnet", "tie_encoder_decoder=true architectures=[\"ProphetNetForConditionalGeneration\"]",
     "prophetnet.encoder.layers.0.feed_forward.intermediate.weight", "(4096, 1024)"},
    {"fsmt", "src_vocab_size=5 tgt_vocab_size=7 tie_word_embeddings=true transformers_version=4.57.6",
     "decoder.embed_tokens.weight", "(5, 1024)"},
    {"marian",
     "vocab_size=5 decoder_vocab_size=7 share_encoder_decoder_embeddings=false transformers_version=4.57.6 "
     "architectures=[\"MarianMTModel\"]",
     "lm_head.weight", "(5, 1024)"},
    /* Encoders that never look at another, and those that may. */
    {"layoutlm", "add_cross_attention=true", "encoder.layer.0.crossattention.self.query.weight", NULL},
    {"layoutlmv3", "add_cross_attention=true", "encoder.layer.0.crossattention.self.query.weight", NULL},
    {"convbert", "add_cross_attention=true", "encoder.layer.0.crossattention.self.query.weight", "(384, 768)"},
    {"imagegpt", "add_cross_attention=true", "h.0.crossattention.c_attn.weight", "(512, 1024)"},
    /* Heads whose width times their number is not the width of the model. */
    {"convbert", "hidden_size=50 num_attention_heads=5", "encoder.layer.0.attention.self.query.weight", "(24, 50)"},
    {"convbert", "hidden_size=50 num_attention_heads=5", "encoder.layer.0.attention.output.dense.weight", "(50, 50)"},
    {"gemma3n_audio", "hidden_size=84", "conformer.0.attention.attn.q_proj.weight", "(80, 84)"},
    {"gemma3n_audio", "hidden_size=84", "conformer.0.attention.post.weight", "(84, 84)"},
    /* Experts: packed in one tensor, apart, or none at all. */
    {"glm4v_moe_text", "transformers_version=5.24.0 architectures=[\"Glm4vMoeTextModel\"]",
     "layers.1.mlp.experts.gate_up_proj", "(128, 2816, 4096)"},
    {"glm4v_moe_text", "transformers_version=4.57.6 architectures=[\"Glm4vMoeTextModel\"]",
     "layers.1.mlp.experts.0.up_proj.weight", "(1408, 4096)"},
    {"glm4v_moe", "transformers_version=5.24.0", "model.language_model.layers.1.mlp.experts.0.up_proj.weight",
     "(1408, 4096)"},
    {"qwen3_5_text", "num_experts=4 architectures=[\"Qwen3_5TextModel\"]", "layers.0.mlp.up_proj.weight",
     "(12288, 4096)"},
    {"qwen3_5_moe_text", "num_experts=4 architectures=[\"Qwen3_5MoeTextModel\"]",
     "layers.0.mlp.experts.3.up_proj.weight", "(512, 2048)"},
    /* Sizes that are lists, or not those of the lists. */
    {"pixtral", "patch_size=[16,32]", "patch_conv.weight", "(1024, 3, 16, 32)"},
    {"udop", "patch_size=[16,32]", "patch_embed.proj.weight", "(1024, 3, 16, 32)"},
    {"udop", "relative_attention_num_buckets=35 transformers_version=5.0.0 architectures=[\"UdopEncoderModel\"]",
     "encoder.relative_bias.biases.0.relative_attention_bias.weight", "(35, 16)"},
    {"flava_image_model", "image_size=[32,64]", "embeddings.position_embeddings", "(1, 9, 768)"},
    {"speecht5", "num_feat_extract_layers=3", "encoder.prenet.feature_encoder.conv_layers.3.conv.weight", NULL},
    {"grounding_dino", "num_feature_levels=2", "input_proj_vision.2.0.weight", "(256, 768, 1, 1)"},
    {"fnet", "use_tpu_fourier_optimizations=true", "encoder.layer.0.fourier.self.dft_mat_seq", "(512, 512)"},
    /* ESM that folds, and ESM that only could. */
    {"esm", "is_folding_model=true architectures=[\"EsmForMaskedLM\"]", "lm_head.dense.weight", "(768, 768)"},
    {"esmfold", "architectures=[\"EsmForProteinFolding\"]", "trunk.structure_module.ipa.linear_out.weight",
     "(384, 2112)"},
    /* A language model whose head has a bias or a name of its own: a composite has one that has neither. */
    {"llava", "text_config.model_type=phi transformers_version=4.57.6", "language_model.lm_head.bias", NULL},
    {"llava", "text_config.model_type=phi transformers_version=4.40.0", "language_model.lm_head.bias", "(51200)"},
    {"llava", "text_config.model_type=gpt_neox transformers_version=5.0.0 text_config.hidden_size=64",
     "language_model.lm_head.weight", "(50432, 64)"},
    {"llava", "text_config.model_type=gpt2 text_config.n_embd=24", "multi_modal_projector.linear_2.weight", "(24, 24)"},
    {"florence2", "text_config.model_type=mbart", "model.language_model.encoder.layer_norm.weight", "(1024)"},
    {"vision_text_dual_encoder", "text_config.model_type=modernbert vision_config.model_type=vit_mae",
     "text_model.final_norm.weight", "(768)"},
    {"encoder_decoder", PAIR("xglm"), "decoder.model.layers.0.encoder_attn.k_proj.weight", "(1024, 1024)"},
    /* A configuration leaves out what its class has anyway. */
    {"llava", "text_config.model_type=phi vision_config.model_type=siglip_vision_model",
     "multi_modal_projector.linear_1.weight", "(2048, 768)"},
    {"blip_2", "text_config.model_type=opt", "language_model.model.decoder.embed_positions.weight", "(2050, 768)"},
    {"encoder_decoder", "encoder.model_type=xlm decoder.model_type=marian", "enc_to_dec_proj.weight", "(1024, 2048)"},
    {"encoder_decoder", PAIR("plbart"), "enc_to_dec_proj.weight", NULL},
    {"gradium_phonon_tts", "attention_bias=true architectures=[\"GradiumPhononTTSModel\"]",
     "layers.0.self_attn.k_proj.bias", "(768)"},
    {"musicgen_melody_decoder", "architectures=[\"MusicgenMelodyDecoder\"]", "embed_tokens.0.weight", "(2049, 1024)"},
    {"sam3_vit_model", "pretrain_image_size=[28,56]", "embeddings.position_embeddings", "(1, 8, 1024)"},
    {"qwen3_vl",
     "text_config.num_hidden_layers=1 vision_config.depth=1 text_config.tie_word_embeddings=true "
     "tie_word_embeddings=false transformers_version=5.0.0",
     "lm_head.weight", "(151936, 4096)"},
    {"inkling_vision", "n_layers=3 text_hidden_size=8", "encoder_layers.1.projection.weight", "(1216, 2048)"},
    {"inkling", "vision_config.n_layers=2 text_config.num_hidden_layers=1", "model.visual.layers.linear_1.weight",
     "(6144, 10240)"},
    {"ovis2", "transformers_version=4.57.3 vocab_size=7 hidden_size=8", "lm_head.weight", "(7, 8)"},
    /* What release 5 has no more. */
    {"layoutlmv2", "detectron2_config_args={\"MODEL.RESNETS.DEPTH\":50}",
     "visual.backbone.bottom_up.res5.2.conv2.weight", "(2048, 64, 3, 3)"},
    {"nezha", "architectures=[\"NezhaForMaskedLM\"]", "nezha.embeddings.position_embeddings.weight", NULL},
    {"ernie_m", "architectures=[\"ErnieMForInformationExtraction\"]", "linear_end.weight", "(1, 768)"},
    {"open_llama", "shared_input_output_embedding=false", "lm_head.weight", "(100000, 4096)"},
    {"transfo_xl", "architectures=[\"TransfoXLLMHeadModel\"] cutoffs=[5,9] vocab_size=20 div_val=2",
     "crit.out_layers.2.weight", "(11, 256)"},
    {"van", "mlp_ratios=[2,2,2,2]", "encoder.stages.3.layers.0.mlp.in_dense.weight", "(1024, 512, 1, 1)"},
    {"efficientformer", "num_meta3d_blocks=2", "encoder.last_stage.meta3D_layers.blocks.1.token_mixer.qkv.weight",
     "(1536, 448)"},
    {"vit_hybrid", "backbone_featmap_shape=[1,64,6,4]", "embeddings.position_embeddings", "(1, 25, 768)"},
    {"llava", "text_config.model_type=persimmon", "language_model.model.final_layernorm.weight", "(4096)"},
    /* Keys of detectron2 that no model of its zoo has. */
    {"detectron2_rcnn",
     "MODEL.META_ARCHITECTURE=ProposalNetwork MODEL.ANCHOR_GENERATOR.NAME=RotatedAnchorGenerator "
     "MODEL.ANCHOR_GENERATOR.ANGLES=[[0,45]] MODEL.ANCHOR_GENERATOR.SIZES=[8,16]",
     "proposal_generator.rpn_head.anchor_deltas.weight", "(60, 1024, 1, 1)"},
    {"detectron2_rcnn",
     "MODEL.META_ARCHITECTURE=GeneralizedRCNN MODEL.ROI_BOX_HEAD.USE_FED_LOSS=true MODEL.ROI_HEADS.NUM_CLASSES=7",
     "roi_heads.box_predictor.fed_loss_cls_weights", "(7)"},
    {"detectron2_rcnn", "MODEL.META_ARCHITECTURE=SemanticSegmentor MODEL.SEM_SEG_HEAD.IN_FEATURES=[\"res3\",\"res4\"]",
     "sem_seg_head.res4.2.weight", "(128, 128, 3, 3)"},
    {"detectron2_rcnn", "MODEL.META_ARCHITECTURE=SemanticSegmentor MODEL.SEM_SEG_HEAD.IN_FEATURES=[\"res3\",\"res4\"]",
     "sem_seg_head.res3.0.weight", NULL},
};

/* "(V, E)"; NULL without such a tensor. */
static char *shape_of(const struct shapeproof_prediction *prediction, const char *name)
{
    const size_t index = shapeproof_prediction_find(prediction, name);
    if (index == SHAPEPROOF_NONE) return NULL;
    const struct shapeproof_predicted *tensor = shapeproof_prediction_tensor(prediction, index);
    struct sp_text out = {0};
    sp_text_puts(&out, "(");
    for (uint32_t i = 0; i < tensor->rank; i++) sp_text_printf(&out, "%s%" PRIu64, i ? ", " : "", tensor->shape[i]);
    sp_text_puts(&out, ")");
    return out.data;
}

static void rare_settings(void **state)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct shapeproof_error error = {0};
        struct shapeproof_config *config = shapeproof_config_new();
        apply_settings(config, rows[i].settings);
        struct shapeproof_prediction *prediction =
            shapeproof_predict(*state, config, &(struct shapeproof_predict_options){.table = rows[i].table}, &error);
        if (!prediction) fail_msg("%s %s: %s", rows[i].table, rows[i].settings, error.message);
        char *shape = shape_of(prediction, rows[i].name);
        const char *expected = rows[i].shape ? rows[i].shape : "none", *found = shape ? shape : "none";
        if (strcmp(expected, found)) fail_msg("%s %s: %s is %s", rows[i].table, rows[i].settings, rows[i].name, found);
        free(shape);
        shapeproof_prediction_free(prediction);
        shapeproof_config_free(config);
    }
}

static int make_tables(void **state)
{
    struct shapeproof_error error = {0};
    *state = shapeproof_tables_new(&error);
    return *state == NULL;
}

static int free_tables(void **state)
{
    shapeproof_tables_free(*state);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(rare_settings)};
    return cmocka_run_group_tests(tests, make_tables, free_tables);
}
