/* SPDX-License-Identifier: MIT
 * What Sockeye builds (fixtures/sockeye/truth.tsv), put back together from the names and shapes alone. Its tables ask
 * much of inference: names that depend on the release, lists of objects, two names for each hyper-parameter. */
#define _XOPEN_SOURCE 700
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "infer/finding.h"

static struct shapeproof_tables *tables;

static int make_tables(void **state)
{
    (void)state;
    struct shapeproof_error error = {0};
    tables = shapeproof_tables_new(&error);
    return tables ? 0 : -1;
}

static int free_tables(void **state)
{
    (void)state;
    shapeproof_tables_free(tables);
    return 0;
}

/* A file of what these settings predict. */
static void make_model(struct model *model, const char *table, char *settings)
{
    struct shapeproof_error error = {0};
    char *save = NULL;
    *model = (struct model){.tables = tables, .config = shapeproof_config_new()};
    scratch_make(&model->scratch);
    for (char *word = strtok_r(settings, " ", &save); word; word = strtok_r(NULL, " ", &save)) model_set(model, word);
    struct shapeproof_prediction *prediction =
        shapeproof_predict(tables, model->config, &(struct shapeproof_predict_options){.table = table}, &error);
    if (!prediction) die(table, error.message);
    for (size_t i = 0; i < shapeproof_prediction_count(prediction); i++) {
        const struct shapeproof_predicted *tensor = shapeproof_prediction_tensor(prediction, i);
        if (!tensor->optional) model_add_shape(model, tensor->name, tensor->rank, tensor->shape);
    }
    shapeproof_prediction_free(prediction);
}

/* A row of the file: release, table, settings, and a digest. */
static bool is_recovered(char *row, const char *wanted)
{
    char *save = NULL;
    const char *release = strtok_r(row, "\t", &save), *table = strtok_r(NULL, "\t", &save);
    char *settings = strtok_r(NULL, "\t", &save);
    struct model model;
    if (strcmp(table, wanted) != 0) return true;
    make_model(&model, table, settings);
    struct finding finding = find(&model, NULL);
    const bool good = is_found(&finding, table) && explains_all(&finding) &&
                      verdict_on_config(&model, &finding) == SHAPEPROOF_VERDICT_MATCH;
    if (!good) print_message("%s %s of %zu tensors is not found\n", release, table, model.count);
    finding_close(&finding);
    model.tables = NULL; /* for the next one */
    model_close(&model);
    return good;
}

static size_t missed(const char *table, size_t step)
{
    char row[4096];
    size_t count = 0;
    FILE *file = fopen("fixtures/sockeye/truth.tsv", "r");
    assert_non_null(file);
    for (size_t i = 0; fgets(row, sizeof row, file); i++) count += i % step == 0 && !is_recovered(row, table);
    fclose(file);
    return count;
}

static void sockeye_3(void **state)
{
    (void)state;
    assert_int_equal(missed("sockeye_3", 1), 0);
}

static void convolutions(void **state)
{
    (void)state;
    assert_int_equal(missed("sockeye_cnn", 1), 0);
}

static void attention(void **state)
{
    (void)state;
    assert_int_equal(missed("sockeye_transformer", 1), 0);
}

/* An encoder of one kind and a decoder of another. */
static void mixed(void **state)
{
    (void)state;
    assert_int_equal(missed("sockeye_mixed", 1), 0);
}

/* A part of the rows, for the time it takes. Releases repeat after 12, 13, 18 or 20 rows: the steps go through all of
 * their settings. */
static void others(void **state)
{
    (void)state;
    assert_int_equal(missed("sockeye_rnn", 5), 0);
    assert_int_equal(missed("sockeye_2", 7), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sockeye_3), cmocka_unit_test(convolutions), cmocka_unit_test(attention),
        cmocka_unit_test(mixed),     cmocka_unit_test(others),
    };
    return cmocka_run_group_tests(tests, make_tables, free_tables);
}
