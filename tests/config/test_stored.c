/* SPDX-License-Identifier: MIT
 * What is stored in place of the matrices of a quantised model, where one row stands for many of them. */
#define _POSIX_C_SOURCE 200809L
#include "lang/harness.h"

static const char loops[] = "part pair(n)\n"
                            "up.weight (n, 128)\n"
                            "down.weight (128, n)\n"
                            "table t\n"
                            "model_type \"zz\"\n"
                            "[l] for i in 0..3\n"
                            "{i}.* pair(64 + 64*(i // 3))\n"
                            "[m] for i in 0..1\n"
                            "tied.{i}.weight (2, 64) same as other.{i}.weight\n"
                            "other.{i}.weight (2, 64)\n";

static const char projections[] = "table t\n"
                                  "model_type \"zz\"\n"
                                  "[l] for p in [\"q_proj\", \"k_proj\"]\n"
                                  "{p}.weight (64, 64)\n";

static char *stored(const char *table, const char *settings)
{
    struct run run = {0};
    struct sp_text out = {0};
    run.tables = shapeproof_tables_new(&run.error);
    run.config = shapeproof_config_new();
    apply_settings(run.config, settings);
    assert_int_equal(shapeproof_tables_add_text(run.tables, "t.shapes", table, strlen(table), &run.error),
                     SHAPEPROOF_OK);
    run.prediction =
        shapeproof_predict(run.tables, run.config, &(struct shapeproof_predict_options){.stored = true}, &run.error);
    assert_string_equal(run.error.message, "");
    for (size_t i = 0; i < shapeproof_prediction_count(run.prediction); i++) {
        const struct shapeproof_predicted *tensor = shapeproof_prediction_tensor(run.prediction, i);
        list_tensor(&out, run.prediction, i);
        out.length--; /* the end of the line */
        sp_text_printf(&out, ": %" PRIu64, tensor->logical);
        if (tensor->stands_for) sp_text_printf(&out, " of %s", tensor->stands_for);
        sp_text_puts(&out, "\n");
    }
    run_free(&run);
    return out.data;
}

/* The second module has bits of its own, the third is not quantised, and the last is wider. */
static void modules_of_a_loop(void **state)
{
    (void)state;
    char *text = stored(
        loops, "model_type=zz quantization={\"group_size\":64,\"bits\":4,\"1.up\":{\"group_size\":32,\"bits\":8},"
               "\"2.up\":false}");
    assert_string_equal(text, "0.up.weight (64, 16) U32: 8192 of 0.up.weight\n"
                              "0.up.scales (64, 2): 0 of 0.up.weight\n"
                              "0.up.biases (64, 2): 0 of 0.up.weight\n"
                              "0.down.weight (128, 8) U32: 8192 of 0.down.weight\n"
                              "0.down.scales (128, 1): 0 of 0.down.weight\n"
                              "0.down.biases (128, 1): 0 of 0.down.weight\n"
                              "1.up.weight (64, 32) U32: 8192 of 1.up.weight\n"
                              "1.up.scales (64, 4): 0 of 1.up.weight\n"
                              "1.up.biases (64, 4): 0 of 1.up.weight\n"
                              "1.down.weight (128, 8) U32: 8192 of 1.down.weight\n"
                              "1.down.scales (128, 1): 0 of 1.down.weight\n"
                              "1.down.biases (128, 1): 0 of 1.down.weight\n"
                              "2.up.weight (64, 128): 8192\n"
                              "2.down.weight (128, 8) U32: 8192 of 2.down.weight\n"
                              "2.down.scales (128, 1): 0 of 2.down.weight\n"
                              "2.down.biases (128, 1): 0 of 2.down.weight\n"
                              "3.up.weight (128, 16) U32: 16384 of 3.up.weight\n"
                              "3.up.scales (128, 2): 0 of 3.up.weight\n"
                              "3.up.biases (128, 2): 0 of 3.up.weight\n"
                              "3.down.weight (128, 16) U32: 16384 of 3.down.weight\n"
                              "3.down.scales (128, 2): 0 of 3.down.weight\n"
                              "3.down.biases (128, 2): 0 of 3.down.weight\n"
                              "tied.0.weight (2, 8) U32 same as other.0.weight: 128 of tied.0.weight\n"
                              "tied.0.scales (2, 1) same as other.0.scales: 0 of tied.0.weight\n"
                              "tied.0.biases (2, 1) same as other.0.biases: 0 of tied.0.weight\n"
                              "other.0.weight (2, 8) U32: 128 of other.0.weight\n"
                              "other.0.scales (2, 1): 0 of other.0.weight\n"
                              "other.0.biases (2, 1): 0 of other.0.weight\n"
                              "tied.1.weight (2, 8) U32 same as other.1.weight: 128 of tied.1.weight\n"
                              "tied.1.scales (2, 1) same as other.1.scales: 0 of tied.1.weight\n"
                              "tied.1.biases (2, 1) same as other.1.biases: 0 of tied.1.weight\n"
                              "other.1.weight (2, 8) U32: 128 of other.1.weight\n"
                              "other.1.scales (2, 1): 0 of other.1.weight\n"
                              "other.1.biases (2, 1): 0 of other.1.weight\n");
    free(text);
}

/* What a part makes of the module's name is made for each: of these two one may have a scale for the cache. */
static void modules_by_name(void **state)
{
    (void)state;
    char *text =
        stored(projections, "model_type=zz quantization_config={\"quant_method\":\"modelopt\",\"quant_algo\":\"FP8\"}");
    assert_string_equal(text, "q_proj.weight (64, 64) F8_E4M3: 4096 of q_proj.weight\n"
                              "q_proj.weight_scale () F32: 0 of q_proj.weight\n"
                              "q_proj.input_scale () F32: 0 of q_proj.weight\n"
                              "k_proj.weight (64, 64) F8_E4M3: 4096 of k_proj.weight\n"
                              "k_proj.weight_scale () F32: 0 of k_proj.weight\n"
                              "k_proj.input_scale () F32: 0 of k_proj.weight\n"
                              "k_proj.k_scale () F32 optional: 0 of k_proj.weight\n");
    free(text);
}

/* Quantisers say in places of their own how single modules are quantised, and which are not. */
static const char parts_of_layers[] = "table t\n"
                                      "model_type \"zz\"\n"
                                      "[l] for p in [\"layers.0.q_proj\", \"layers.1.q_proj\", \"layers.1.up\"]\n"
                                      "{p}.weight (64, 128)\n";

static const struct {
    const char *config, *text;
} rules[] = {
    {"{\"quant_method\":\"gptq\",\"bits\":4,\"group_size\":64,\"checkpoint_format\":\"marlin\","
     "\"dynamic\":{\"-:.*0.q_proj\":{},\"+:.*up\":{\"bits\":8}}}",
     "layers.0.q_proj.weight (64, 128): 8192\n"
     "layers.1.q_proj.B (8, 128) I32: 8192 of layers.1.q_proj.weight\n"
     "layers.1.q_proj.s (2, 64) F16: 0 of layers.1.q_proj.weight\n"
     "layers.1.q_proj.workspace (0) I32 optional: 0 of layers.1.q_proj.weight\n"
     "layers.1.up.B (8, 256) I32: 8192 of layers.1.up.weight\n"
     "layers.1.up.s (2, 64) F16: 0 of layers.1.up.weight\n"
     "layers.1.up.workspace (0) I32 optional: 0 of layers.1.up.weight\n"},
    {"{\"quant_method\":\"auto-round\",\"bits\":4,\"group_size\":64,\"packing_format\":\"auto_round:auto_awq\","
     "\"extra_config\":{\"layers.0.q_proj\":{\"bits\":16},\".*up\":{\"group_size\":32}}}",
     "layers.0.q_proj.weight (64, 128): 8192\n"
     "layers.1.q_proj.qweight (128, 8) I32: 8192 of layers.1.q_proj.weight\n"
     "layers.1.q_proj.qzeros (2, 8) I32: 0 of layers.1.q_proj.weight\n"
     "layers.1.q_proj.scales (2, 64): 0 of layers.1.q_proj.weight\n"
     "layers.1.up.qweight (128, 8) I32: 8192 of layers.1.up.weight\n"
     "layers.1.up.qzeros (4, 8) I32: 0 of layers.1.up.weight\n"
     "layers.1.up.scales (4, 64): 0 of layers.1.up.weight\n"},
    {"{\"quant_method\":\"modelopt\",\"quant_algo\":\"MIXED_PRECISION\",\"quantized_layers\":{\"layers.0.q_proj\":"
     "{\"quant_algo\":\"FP8\"},\"layers.1.up\":{\"quant_algo\":\"MXFP8\"}}}",
     "layers.0.q_proj.weight (64, 128) F8_E4M3: 8192 of layers.0.q_proj.weight\n"
     "layers.0.q_proj.weight_scale () F32: 0 of layers.0.q_proj.weight\n"
     "layers.0.q_proj.input_scale () F32: 0 of layers.0.q_proj.weight\n"
     "layers.1.q_proj.weight (64, 128): 8192\n"
     "layers.1.up.weight (64, 128) F8_E4M3: 8192 of layers.1.up.weight\n"
     "layers.1.up.weight_scale (64, 4) U8: 0 of layers.1.up.weight\n"
     "layers.1.up.input_scale () F32 optional: 0 of layers.1.up.weight\n"
     "layers.1.up.pre_quant_scale (128) optional: 0 of layers.1.up.weight\n"},
    {"{\"quant_method\":\"quark\",\"exclude\":[\"*0.q_proj\"],\"global_quant_config\":{\"weight\":{\"dtype\":"
     "\"fp8_e4m3\",\"qscheme\":\"per_tensor\"}},\"layer_quant_config\":{\"*up\":{\"weight\":{\"dtype\":\"fp4\","
     "\"qscheme\":\"per_group\",\"group_size\":32}}}}",
     "layers.0.q_proj.weight (64, 128): 8192\n"
     "layers.1.q_proj.weight (64, 128) F8_E4M3: 8192 of layers.1.q_proj.weight\n"
     "layers.1.q_proj.weight_scale (): 0 of layers.1.q_proj.weight\n"
     "layers.1.q_proj.input_scale () optional: 0 of layers.1.q_proj.weight\n"
     "layers.1.up.weight (64, 64) U8: 8192 of layers.1.up.weight\n"
     "layers.1.up.weight_scale (64, 4): 0 of layers.1.up.weight\n"
     "layers.1.up.input_scale () optional: 0 of layers.1.up.weight\n"},
    {"{\"quant_method\":\"torchao\",\"quant_type\":{\"default\":{\"_type\":\"FqnToConfig\",\"_data\":"
     "{\"fqn_to_config\":{\"re:.*1.q_proj\":null,\"layers.1.up\":{\"_type\":\"Float8WeightOnlyConfig\"},\"_default\":"
     "{\"_type\":\"Int4WeightOnlyConfig\",\"_data\":{\"group_size\":32}}}}}}}",
     "layers.0.q_proj._weight_qdata (64, 64): 8192 of layers.0.q_proj.weight\n"
     "layers.0.q_proj._weight_scale (4, 64): 0 of layers.0.q_proj.weight\n"
     "layers.0.q_proj._weight_zero_point (4, 64): 0 of layers.0.q_proj.weight\n"
     "layers.0.q_proj._weight_act_pre_scale (128) optional: 0 of layers.0.q_proj.weight\n"
     "layers.1.q_proj.weight (64, 128): 8192\n"
     "layers.1.up._weight_qdata (64, 128) F8_E4M3: 8192 of layers.1.up.weight\n"
     "layers.1.up._weight_scale (64, 1): 0 of layers.1.up.weight\n"
     "layers.1.up._weight_act_pre_scale (128) optional: 0 of layers.1.up.weight\n"},
};

static void rules_for_modules(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        struct sp_text settings = {0};
        sp_text_printf(&settings, "model_type=zz quantization_config=%s", rules[i].config);
        char *text = stored(parts_of_layers, settings.data);
        assert_string_equal(text, rules[i].text);
        free(text);
        sp_text_free(&settings);
    }
}

/* Experts in one tensor have scales of their own beside it; those of DeepSeek-V4, each by itself, have four bits. */
static void experts(void **state)
{
    static const char table[] = "table t\n"
                                "model_type \"zz\"\n"
                                "experts.up (2, 64, 128)\n"
                                "a.experts.0.up.weight (64, 128)\n"
                                "a.shared_experts.up.weight (64, 128)\n";
    (void)state;
    char *text = stored(table, "model_type=zz quantization_config={\"quant_method\":\"fp8\",\"weight_block_size\":"
                               "[32,32],\"expert_dtype\":\"fp4\"}");
    assert_string_equal(text, "experts.up (2, 64, 128) F8_E4M3: 16384 of experts.up\n"
                              "experts.up_scale_inv (2, 2, 4): 0 of experts.up\n"
                              "a.experts.0.up.weight (64, 64) I8: 8192 of a.experts.0.up.weight\n"
                              "a.experts.0.up.weight_scale_inv (64, 4): 0 of a.experts.0.up.weight\n"
                              "a.shared_experts.up.weight (64, 128) F8_E4M3: 8192 of a.shared_experts.up.weight\n"
                              "a.shared_experts.up.weight_scale_inv (2, 4): 0 of a.shared_experts.up.weight\n");
    free(text);
}

/* ---- the bytes of a file ---- */

/* What the optional tensors of the prediction take that are in the file. */
static uint64_t optional_bytes(const struct shapeproof_prediction *prediction,
                               const struct shapeproof_inventory *inventory)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < shapeproof_prediction_count(prediction); i++) {
        const struct shapeproof_predicted *predicted = shapeproof_prediction_tensor(prediction, i);
        const size_t found = shapeproof_inventory_find(inventory, predicted->name);
        if (!predicted->optional || found == SHAPEPROOF_NONE) continue;
        const struct shapeproof_tensor *tensor = shapeproof_inventory_tensor(inventory, found);
        bytes += tensor->parameters * shapeproof_dtype_bits(tensor->dtype) / 8;
    }
    return bytes;
}

/* Compares what is predicted for a folder of fixtures/quantised with its bytes there; false if the dtype of a tensor
 * is assumed. */
static bool predicts_bytes(const struct shapeproof_tables *tables, const char *folder, uint64_t bytes)
{
    char path[256];
    struct shapeproof_error error = {0};
    struct shapeproof_config *config = shapeproof_config_new();
    snprintf(path, sizeof path, "fixtures/quantised/%s/config.json", folder);
    assert_int_equal(shapeproof_config_load(config, path, &error), SHAPEPROOF_OK);
    snprintf(path, sizeof path, "fixtures/quantised/%s", folder);
    struct shapeproof_inventory *inventory = shapeproof_inventory_open(path, &error);
    struct shapeproof_prediction *prediction =
        shapeproof_predict(tables, config, &(struct shapeproof_predict_options){.stored = true}, &error);
    assert_string_equal(error.message, "");
    const struct shapeproof_predicted_size size =
        shapeproof_prediction_size(prediction, config, SHAPEPROOF_DTYPE_UNKNOWN);
    const uint64_t predicted = size.bytes + optional_bytes(prediction, inventory);
    if (!size.assumed && predicted != bytes)
        fail_msg("%s: %" PRIu64 " bytes, the file has %" PRIu64, folder, predicted, bytes);
    shapeproof_prediction_free(prediction);
    shapeproof_inventory_close(inventory);
    shapeproof_config_free(config);
    return !size.assumed;
}

/* Without the file only a table and quantization_config are known: the quantisers that choose the dtype of their
 * scales by version are counted as assumed, every other one exactly, with its scales and zero points. */
static void bytes_of_files(void **state)
{
    (void)state;
    struct shapeproof_error error = {0};
    struct shapeproof_tables *tables = shapeproof_tables_new(&error);
    FILE *file = fopen("fixtures/quantised/bytes.jsonl", "r");
    char folder[64];
    uint64_t bytes;
    size_t exact = 0, assumed = 0;
    assert_non_null(file);
    while (fscanf(file, "{\"folder\": \"%63[^\"]\", \"bytes\": %" SCNu64 "}\n", folder, &bytes) == 2) {
        if (strncmp(folder, "gguf", 4) == 0) continue; /* its own header has the dtype of each tensor */
        if (predicts_bytes(tables, folder, bytes)) exact++;
        else assumed++;
    }
    assert_true(feof(file));
    fclose(file);
    assert_int_equal(exact, 25);
    assert_int_equal(assumed, 17);
    shapeproof_tables_free(tables);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(modules_of_a_loop), cmocka_unit_test(modules_by_name), cmocka_unit_test(rules_for_modules),
        cmocka_unit_test(experts),           cmocka_unit_test(bytes_of_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
