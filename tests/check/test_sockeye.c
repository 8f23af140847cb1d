/* SPDX-License-Identifier: MIT
 * Checkpoints of Sockeye with the configuration that lies beside them: ties, fixed positions, names of MXNet. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "sample.h"
#include "shapeproof/shapeproof.h"

struct checked {
    struct shapeproof_inventory *inventory;
    struct shapeproof_tables *tables;
    struct shapeproof_config *config;
    struct shapeproof_check *check;
};

static struct checked check_file(const char *path)
{
    struct shapeproof_error error = {0};
    struct checked checked = {.inventory = shapeproof_inventory_open(path, &error),
                              .tables = shapeproof_tables_new(&error)};
    char *beside = shapeproof_config_beside(path, &error);
    assert_non_null(beside);
    checked.config = shapeproof_config_new();
    shapeproof_config_load(checked.config, beside, &error);
    shapeproof_free(beside);
    assert_string_equal(error.message, "");
    checked.check = shapeproof_check_new(checked.inventory, checked.tables, checked.config, NULL, &error);
    assert_string_equal(error.message, "");
    return checked;
}

static void close_check(struct checked *checked)
{
    shapeproof_check_free(checked->check);
    shapeproof_config_free(checked->config);
    shapeproof_tables_free(checked->tables);
    shapeproof_inventory_close(checked->inventory);
}

static bool has_cause(const struct shapeproof_check *check, const char *id, const char *message)
{
    for (size_t i = 0; i < shapeproof_check_cause_count(check); i++) {
        const struct shapeproof_cause *cause = shapeproof_check_cause(check, i);
        if (strcmp(cause->id, id) == 0 && strstr(cause->message, message)) return true;
    }
    return false;
}

static void assert_sockeye_3(const char *path, uint64_t tensors, uint64_t parameters, uint64_t unique, uint64_t buffers)
{
    struct checked checked = check_file(path);
    const struct shapeproof_prediction *prediction = shapeproof_check_prediction(checked.check);
    const struct shapeproof_predicted_totals *sum = shapeproof_prediction_totals(prediction);
    assert_int_equal(shapeproof_check_verdict(checked.check), SHAPEPROOF_VERDICT_MATCH);
    assert_string_equal(shapeproof_prediction_table(prediction), "sockeye_3");
    assert_int_equal(shapeproof_inventory_count(checked.inventory), tensors);
    assert_int_equal(sum->tensors, tensors);
    assert_int_equal(sum->parameters, parameters);
    assert_int_equal(sum->unique_parameters, unique);
    assert_int_equal(sum->buffers, buffers);
    assert_true(has_cause(checked.check, "tied",
                          "embedding_target.embedding.weight shares the storage of "
                          "embedding_source.embedding.weight, as it should"));
    assert_true(has_cause(checked.check, "tied",
                          "output_layer.weight shares the storage of "
                          "embedding_source.embedding.weight, as it should"));
    assert_true(has_cause(checked.check, "buffers",
                          "buffers, which are stored but not trained: "
                          "{encoder,decoder}.pos_embedding.weight"));
    close_check(&checked);
}

static void three_names_of_one_storage(void **state)
{
    (void)state;
    assert_sockeye_3("fixtures/sockeye/ok/sockeye3/params.best", 53, 2476, 2092, 176);
}

/* Out of Sockeye's own repository. */
static void a_real_one(void **state)
{
    (void)state;
    char path[CORPUS_PATH];
    if (!corpus_path(path, "sockeye/deepspeed_converted/params.00000") || access(path, R_OK) != 0) skip();
    assert_sockeye_3(path, 40, 5064, 4552, 320);
}

static void names_of_mxnet(void **state)
{
    (void)state;
    struct checked checked = check_file("fixtures/sockeye/ok/sockeye1/params.safetensors");
    assert_int_equal(shapeproof_check_verdict(checked.check), SHAPEPROOF_VERDICT_EXPLAINED);
    assert_string_equal(shapeproof_prediction_table(shapeproof_check_prediction(checked.check)), "sockeye_rnn");
    assert_int_equal(shapeproof_check_finding_count(checked.check), 0);
    assert_int_equal(shapeproof_check_cause_count(checked.check), 1);
    assert_true(has_cause(checked.check, "prefix", "every name in the file begins with 'arg:'"));
    close_check(&checked);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(three_names_of_one_storage),
        cmocka_unit_test(a_real_one),
        cmocka_unit_test(names_of_mxnet),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
