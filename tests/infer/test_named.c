/* SPDX-License-Identifier: MIT
 * Models that have a name: it says more than the sizes that the file shows, and stands alone where it says them all. */
#define _XOPEN_SOURCE 700
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "infer/finding.h"

/* The configuration for the file says that, and no more but what the file does not decide. */
static void assert_config(const struct finding *finding, const char *settings)
{
    const char *text = shapeproof_inference_config(finding->inference);
    if (strncmp(text, settings, strlen(settings)) != 0 ||
        (strncmp(text + strlen(settings), ",\n  \"shapeproof_undetermined\"", 29) != 0 &&
         strcmp(text + strlen(settings), "\n}\n") != 0))
        fail_msg("%s", text);
}

static void expect(const char *config, const char *table, const char *settings)
{
    void **state = NULL;
    BEGIN(config);
    FIND();
    FOUND(table);
    assert_config(&finding, settings);
    END();
}

static void nothing_but_the_name(void **state)
{
    (void)state;
    expect("{\"architecture\": \"vit_small_patch16_224\"}", "timm_vit",
           "{\n  \"architecture\": \"vit_small_patch16_224\"");
    expect("{\"architecture\": \"resnet26d\"}", "timm_resnets", "{\n  \"architecture\": \"resnet26d\"");
    expect("{\"architecture\": \"torchvision/swin_v2_t\"}", "torchvision_swin",
           "{\n  \"architecture\": \"torchvision/swin_v2_t\"");
}

/* Two layers beside each other, RMS norms: what no argument says, and no other name. */
static void what_only_the_name_says(void **state)
{
    (void)state;
    expect("{\"architecture\": \"vit_small_patch16_18x2_224\"}", "timm_vit",
           "{\n  \"architecture\": \"vit_small_patch16_18x2_224\"");
    expect("{\"architecture\": \"aimv2_large_patch14_224\", \"num_classes\": 0}", "timm_vit",
           "{\n  \"architecture\": \"aimv2_large_patch14_224\",\n  \"model_args\": {\n    \"num_classes\": 0\n  }");
}

static void classes_beside_the_name(void **state)
{
    (void)state;
    expect("{\"architecture\": \"resnet26d\", \"num_classes\": 7}", "timm_resnets",
           "{\n  \"architecture\": \"resnet26d\",\n  \"model_args\": {\n    \"num_classes\": 7\n  }");
}

/* Heads that are there for training alone may be gone, as they are here, and they have the only layers with numbers. */
static void without_training_heads(void **state)
{
    BEGIN("{\"architecture\": \"torchvision/googlenet\"}");
    FIND();
    FOUND("torchvision_googlenet");
    END();
}

/* Of sizes that no name stands for each is said. */
static void other_sizes(void **state)
{
    BEGIN("{\"architecture\": \"vit_small_patch16_224\", \"model_args\": {\"embed_dim\": 48, \"depth\": 3, "
          "\"num_heads\": 3, \"img_size\": 32}}");
    FIND();
    FOUND("timm_vit");
    TOLD("model_args.embed_dim", "48");
    TOLD("model_args.depth", "3");
    assert_false(inferred(&finding, "architecture").determined);
    END();
}

/* As transformers wraps it: the name, the number of classes and what the arguments say are those of the wrapper. */
static void within_a_wrapper(void **state)
{
    (void)state;
    expect("{\"model_type\": \"timm_wrapper\", \"architectures\": [\"TimmWrapperModel\"], "
           "\"architecture\": \"resnet26d\"}",
           "timm_wrapper",
           "{\n  \"model_type\": \"timm_wrapper\",\n  \"architectures\": [\"TimmWrapperModel\"],\n"
           "  \"architecture\": \"resnet26d\"");
    expect("{\"model_type\": \"timm_wrapper\", \"architectures\": [\"TimmWrapperForImageClassification\"], "
           "\"architecture\": \"resnet26d\", \"num_labels\": 7}",
           "timm_wrapper",
           "{\n  \"model_type\": \"timm_wrapper\",\n"
           "  \"architectures\": [\"TimmWrapperForImageClassification\"],\n"
           "  \"architecture\": \"resnet26d\",\n  \"num_labels\": 7");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_but_the_name),
        cmocka_unit_test(what_only_the_name_says),
        cmocka_unit_test(classes_beside_the_name),
        cmocka_unit_test(without_training_heads),
        cmocka_unit_test(other_sizes),
        cmocka_unit_test(within_a_wrapper),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
