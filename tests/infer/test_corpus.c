/* SPDX-License-Identifier: MIT
 * Every configuration of the corpus, inferred again from the tensors that it predicts. */
#define _GNU_SOURCE /* getline */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "corpus.h"
#include "infer/finding.h"
#include "lang/functions.h"

struct tally {
    struct shapeproof_tables *tables;
    size_t seen, configs, found, keys, determined, wrong;
};

/* What the file is said to determine must be what the configuration has. */
static void compare_values(const struct finding *finding, const struct shapeproof_prediction *truth, const char *name,
                           struct tally *tally)
{
    const bool same_table =
        strcmp(shapeproof_inference_table(finding->inference), shapeproof_prediction_table(truth)) == 0;
    for (size_t i = 0; i < shapeproof_inference_count(finding->inference); i++) {
        const struct shapeproof_inferred *inferred = shapeproof_inference_get(finding->inference, i);
        tally->keys++;
        tally->determined += inferred->determined;
        for (size_t k = 0; same_table && k < shapeproof_prediction_hyperparameter_count(truth); k++) {
            const struct shapeproof_hyperparameter *hyper = shapeproof_prediction_hyperparameter(truth, k);
            if (!inferred->determined || strcmp(hyper->name, inferred->name) != 0) continue;
            if (hyper->from.source == SHAPEPROOF_SOURCE_DEFAULT || sp_values_equal(hyper->value, inferred->value))
                continue;
            char *is = shapeproof_value_text(hyper->value), *told = shapeproof_value_text(inferred->value);
            print_message("%s: %s is %s, not %s (%s)\n", name, hyper->name, is, told, inferred->because);
            free(is);
            free(told);
            tally->wrong++;
        }
    }
}

static void infer_one(struct model *model, const char *name, const struct shapeproof_prediction *truth,
                      struct tally *tally)
{
    struct finding finding = find(model, NULL);
    const bool found = is_found(&finding, shapeproof_prediction_table(truth)) && explains_all(&finding);
    if (!found)
        print_message("%s: the table %s is not found; %s is\n", name, shapeproof_prediction_table(truth),
                      finding.inference ? shapeproof_inference_table(finding.inference) : "none");
    tally->found += found;
    if (found) compare_values(&finding, truth, name, tally);
    if (found) assert_int_equal(verdict_on_config(model, &finding), SHAPEPROOF_VERDICT_MATCH);
    finding_close(&finding);
}

/* Of the sides of an image only the product of patches shows; widths that were scaled and rounded do not show the
 * scale. */
static bool is_one_way(const struct shapeproof_prediction *truth)
{
    return !strcmp(shapeproof_prediction_table(truth), "yolos") ||
           !strcmp(shapeproof_prediction_table(truth), "efficientnet");
}

static void infer_config(void *context, const char *name, struct shapeproof_config *config,
                         struct shapeproof_inventory *inventory)
{
    struct tally *tally = context;
    struct shapeproof_error error = {0};
    struct model model = {.tables = tally->tables, .config = config};
    shapeproof_inventory_close(inventory);
    scratch_make(&model.scratch);
    struct shapeproof_prediction *truth = shapeproof_predict(model.tables, model.config, NULL, &error);
    if (truth && !is_one_way(truth) && tally->seen++ % sample() == 0) {
        tally->configs++;
        model_predict(&model, 0);
        infer_one(&model, name, truth, tally);
    }
    shapeproof_prediction_free(truth);
    model.tables = NULL; /* for the next one */
    model_close(&model);
}

static void assert_inferred(const char *what, const struct tally *tally)
{
    print_message("%s: %zu of %zu found; %zu of %zu hyper-parameters are determined by the file\n", what, tally->found,
                  tally->configs, tally->determined, tally->keys);
    assert_int_equal(tally->found, tally->configs);
    assert_int_equal(tally->wrong, 0);
    assert_true(tally->determined * 10 > tally->keys * 7);
}

static void series(void **state)
{
    struct shapeproof_error error = {0};
    struct tally tally = {.tables = shapeproof_tables_new(&error)};
    (void)state;
    corpus_read_record(SERIES, infer_config, &tally);
    shapeproof_tables_free(tally.tables);
    assert_true(tally.configs > 0);
    assert_inferred("series", &tally);
}

static void check_folder(const char *folder)
{
    struct shapeproof_error error = {0};
    struct tally tally = {.tables = shapeproof_tables_new(&error)};
    corpus_read_folder(folder, infer_config, &tally);
    shapeproof_tables_free(tally.tables);
    if (!tally.configs) skip();
    assert_inferred(folder, &tally);
}

static void real(void **state)
{
    (void)state;
    check_folder("architectures/real");
}

static void synthetic(void **state)
{
    (void)state;
    check_folder("architectures/synthetic");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(series), cmocka_unit_test(real), cmocka_unit_test(synthetic)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
