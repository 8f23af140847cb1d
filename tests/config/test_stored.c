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
    run.tables = sp_tables_new(&run.error);
    run.config = sp_config_new();
    apply_settings(run.config, settings);
    assert_int_equal(sp_tables_add_text(run.tables, "t.shapes", table, strlen(table), &run.error), SP_OK);
    run.prediction = sp_predict(run.tables, run.config, &(struct sp_predict_options){.stored = true}, &run.error);
    assert_string_equal(run.error.message, "");
    for (size_t i = 0; i < sp_prediction_count(run.prediction); i++) {
        const struct sp_predicted *tensor = sp_prediction_tensor(run.prediction, i);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(modules_of_a_loop),
        cmocka_unit_test(modules_by_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
