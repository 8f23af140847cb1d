/* SPDX-License-Identifier: MIT
 * Values that constraints and guesses leave wrong, and that are repaired by trying others on the whole. */
#define _XOPEN_SOURCE 700
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "infer/finding.h"

/* The last item tells the layers in the middle, whatever the length. */
static void list_that_is_longer(void **state)
{
    BEGIN("{\"_class_name\": \"AutoencoderKLLTXVideo\", \"block_out_channels\": [8, 16], "
          "\"decoder_block_out_channels\": [8, 16], \"layers_per_block\": [1, 1, 3], "
          "\"decoder_layers_per_block\": [1, 1, 2], \"spatio_temporal_scaling\": [true, false], "
          "\"decoder_spatio_temporal_scaling\": [true, false], \"decoder_inject_noise\": [false, false, false], "
          "\"upsample_factor\": [1, 1], \"down_block_types\": [\"LTXVideoDownBlock3D\", \"LTXVideoDownBlock3D\"], "
          "\"downsample_type\": [\"conv\", \"conv\"], \"latent_channels\": 8, \"patch_size\": 4}");
    FIND();
    FOUND("autoencoder_kl_ltx_video");
    assert_false(inferred(&finding, "layers_per_block").determined); /* between them there may be more */
    END();
}

/* What the table requires to be set is what stands there by default; the widths are a part of that. */
static void default_that_is_required(void **state)
{
    BEGIN("{\"model_type\": \"slanet\", \"architectures\": [\"SLANetBackbone\"], \"post_conv_out_channels\": 6, "
          "\"backbone_config\": {\"model_type\": \"pp_lcnet\", \"scale\": 0.5, \"block_configs\": "
          "[[[3, 16, 32, 1, false]], [[3, 32, 64, 2, false], [3, 64, 64, 1, false]], "
          "[[3, 64, 128, 2, false], [3, 128, 128, 1, false]], [[3, 128, 256, 2, false], [5, 256, 256, 1, false], "
          "[5, 256, 256, 1, false], [5, 256, 256, 1, false], [5, 256, 256, 1, false], [5, 256, 256, 1, false]], "
          "[[5, 256, 512, 2, true], [5, 512, 512, 1, true]]]}}");
    FIND();
    FOUND("slanet");
    END();
}

/* Widths are rounded and layers counted by factors, each of which is wrong as long as the other one is. */
static void factors(void **state)
{
    BEGIN("{\"model_type\": \"efficientnet\", \"architectures\": [\"EfficientNetForImageClassification\"], "
          "\"width_coefficient\": 1.1, \"depth_coefficient\": 1.2, \"hidden_dim\": 1408, \"num_labels\": 5}");
    FIND();
    FOUND("efficientnet");
    assert_value(inferred(&finding, "width_coefficient").value, "1.1");
    assert_false(inferred(&finding, "depth_coefficient").determined); /* 1.1 gives as many layers */
    END();
}

/* A name that stands for settings: which one it is shows on the whole. */
static void name_that_stands_for_all(void **state)
{
    BEGIN("{\"architecture\": \"iformer_s\"}");
    FIND();
    FOUND("timm_iformer");
    END();
}

/* Lists within a list outlive the predictions that they were tried in. */
static void lists_within_lists(void **state)
{
    BEGIN("{\"_class_name\": \"StableCascadeUNet\", \"block_out_channels\": [24, 48], "
          "\"block_types_per_layer\": [[\"SDCascadeResBlock\"], [\"SDCascadeResBlock\", \"SDCascadeAttnBlock\"]], "
          "\"clip_text_pooled_in_channels\": 36, \"conditioning_dim\": 48, \"effnet_in_channels\": 4, "
          "\"in_channels\": 4, \"out_channels\": 4, \"patch_size\": 4, \"pixel_mapper_in_channels\": 7, "
          "\"down_num_layers_per_block\": [2, 3], \"up_num_layers_per_block\": [3, 2], "
          "\"down_blocks_repeat_mappers\": [1, 1], \"up_blocks_repeat_mappers\": [2, 1], "
          "\"timestep_conditioning_type\": [\"sca\", \"crp\", \"abc\"], \"timestep_ratio_embedding_dim\": 16}");
    FIND();
    assert_true(!finding.inference || strcmp(shapeproof_inference_table(finding.inference), "stable_cascade") == 0);
    END();
}

/* A text may stand for the kind of every stage; here, in the autoencoder of Sana, the
 * first are of one kind, the last of another. */
static void text_that_is_a_list(void **state)
{
    BEGIN("{\"_class_name\": \"AutoencoderDC\", \"latent_channels\": 32, "
          "\"encoder_block_types\": [\"ResBlock\", \"ResBlock\", \"ResBlock\", \"EfficientViTBlock\", "
          "\"EfficientViTBlock\", \"EfficientViTBlock\"], \"encoder_layers_per_block\": [2, 2, 2, 3, 3, 3], "
          "\"decoder_block_types\": [\"ResBlock\", \"ResBlock\", \"ResBlock\", \"EfficientViTBlock\", "
          "\"EfficientViTBlock\", \"EfficientViTBlock\"], \"decoder_layers_per_block\": [3, 3, 3, 3, 3, 3], "
          "\"downsample_block_type\": \"conv\", \"upsample_block_type\": \"interpolate\"}");
    FIND();
    FOUND("autoencoder_dc");
    END();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(list_that_is_longer),
        cmocka_unit_test(default_that_is_required),
        cmocka_unit_test(factors),
        cmocka_unit_test(name_that_stands_for_all),
        cmocka_unit_test(lists_within_lists),
        cmocka_unit_test(text_that_is_a_list),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
