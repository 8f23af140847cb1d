/* SPDX-License-Identifier: MIT
 * A check in one call: where the configuration is found, what wins, and what each failure says. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "shapeproof/shapeproof.h"

#define LLAMA "fixtures/models/tiny-llama"

static void assert_verdict(const char *path, const struct shapeproof_check_path_options *options,
                           enum shapeproof_verdict verdict)
{
    struct shapeproof_error error;
    struct shapeproof_check *check = shapeproof_check_path(path, options, &error);
    if (!check) fail_msg("%s: %s", path, error.message);
    assert_int_equal(shapeproof_check_verdict(check), verdict);
    assert_true(shapeproof_inventory_count(shapeproof_check_inventory(check)) > 0);
    shapeproof_check_free(check);
}

static void assert_fails(const char *path, const struct shapeproof_check_path_options *options,
                         enum shapeproof_status status, const char *message)
{
    struct shapeproof_error error;
    assert_null(shapeproof_check_path(path, options, &error));
    assert_int_equal(error.status, status);
    if (!strstr(error.message, message)) fail_msg("'%s' has no '%s'", error.message, message);
}

static void finds_the_configuration(void **state)
{
    (void)state;
    assert_verdict(LLAMA, NULL, SHAPEPROOF_VERDICT_MATCH);                             /* in the directory */
    assert_verdict(LLAMA "/model.safetensors", NULL, SHAPEPROOF_VERDICT_MATCH);        /* beside the file */
    assert_verdict("fixtures/gguf/models/llama.gguf", NULL, SHAPEPROOF_VERDICT_MATCH); /* in the file */
    const struct shapeproof_check_path_options other = {.config = "fixtures/models/tiny-gpt2/config.json"};
    assert_verdict(LLAMA, &other, SHAPEPROOF_VERDICT_DIFFERS);
}

static void settings_win(void **state)
{
    static const char *const settings[] = {"num_hidden_layers=3", NULL};
    const struct shapeproof_check_path_options options = {.settings = settings};
    (void)state;
    assert_verdict(LLAMA, &options, SHAPEPROOF_VERDICT_DIFFERS);
}

static void takes_own_tables(void **state)
{
    static const char *const files[] = {"docs/lstm.shapes", NULL};
    const struct shapeproof_check_path_options options = {.table_files = files};
    (void)state;
    assert_verdict("fixtures/docs/lstm", &options, SHAPEPROOF_VERDICT_MATCH);
    assert_fails("fixtures/docs/lstm", NULL, SHAPEPROOF_ERR_UNKNOWN, "no table for model_type 'word-lstm'");
}

static void failures(void **state)
{
    static const char *const files[] = {"fixtures/none.shapes", NULL}, *const settings[] = {"no equals sign", NULL};
    (void)state;
    assert_fails("fixtures/none", NULL, SHAPEPROOF_ERR_FILE, "No such file");
    assert_fails("fixtures/safetensors/bad/twice.safetensors", NULL, SHAPEPROOF_ERR_FILE, "appears twice");
    assert_fails("fixtures/adapters/flux_kohya.safetensors", NULL, SHAPEPROOF_ERR_UNKNOWN, "no config.json");
    assert_fails(LLAMA, &(struct shapeproof_check_path_options){.config = "fixtures/none"}, SHAPEPROOF_ERR_TABLE,
                 "No such file");
    assert_fails(LLAMA, &(struct shapeproof_check_path_options){.table_files = files}, SHAPEPROOF_ERR_FILE,
                 "none.shapes");
    assert_fails(LLAMA, &(struct shapeproof_check_path_options){.settings = settings}, SHAPEPROOF_ERR_USAGE,
                 "no equals sign");
}

/* Which predicted tensor a tensor of the file is: none for a layer that is not predicted. */
static void counterparts(void **state)
{
    static const char *const settings[] = {"num_hidden_layers=1", NULL};
    const struct shapeproof_check_path_options options = {.settings = settings};
    struct shapeproof_error error;
    struct shapeproof_check *check = shapeproof_check_path(LLAMA, &options, &error);
    (void)state;
    assert_non_null(check);
    const struct shapeproof_inventory *inventory = shapeproof_check_inventory(check);
    const struct shapeproof_prediction *prediction = shapeproof_check_prediction(check);
    static const char first[] = "model.layers.0.mlp.up_proj.weight", second[] = "model.layers.1.mlp.up_proj.weight";
    const size_t there = shapeproof_check_counterpart(check, shapeproof_inventory_find(inventory, first));
    assert_string_equal(shapeproof_prediction_tensor(prediction, there)->name, first);
    assert_int_equal(shapeproof_check_counterpart(check, shapeproof_inventory_find(inventory, second)),
                     SHAPEPROOF_NONE);
    shapeproof_check_free(check);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(finds_the_configuration), cmocka_unit_test(settings_win),
                                       cmocka_unit_test(takes_own_tables), cmocka_unit_test(failures),
                                       cmocka_unit_test(counterparts)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
