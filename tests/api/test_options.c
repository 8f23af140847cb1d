/* SPDX-License-Identifier: MIT
 * What holds for every struct of options: none at all is the same as zero, and what a later version of the library may
 * have put into the reserved words is refused, not ignored. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "shapeproof/shapeproof.h"

static struct {
    struct shapeproof_tables *tables;
    struct shapeproof_config *config;
    struct shapeproof_inventory *inventory;
} world;

static int open_world(void **state)
{
    struct shapeproof_error error = {0};
    (void)state;
    world.tables = shapeproof_tables_new(&error);
    world.config = shapeproof_config_new();
    shapeproof_config_load(world.config, "fixtures/models/tiny-gpt2/config.json", &error);
    world.inventory = shapeproof_inventory_open("fixtures/models/tiny-gpt2", &error);
    return world.tables && world.inventory && error.status == SHAPEPROOF_OK ? 0 : -1;
}

static int close_world(void **state)
{
    (void)state;
    shapeproof_inventory_close(world.inventory);
    shapeproof_config_free(world.config);
    shapeproof_tables_free(world.tables);
    return 0;
}

static void assert_refused(const void *result, const struct shapeproof_error *error)
{
    assert_null(result);
    assert_int_equal(error->status, SHAPEPROOF_ERR_USAGE);
    assert_string_equal(error->message, "the options are those of a later version of this library");
}

/* `zero` is a struct of options; CALL uses `options` and `error`. */
#define REFUSES(kind, call)                                                                                            \
    do {                                                                                                               \
        for (size_t i = 0; i < sizeof((struct kind *)NULL)->reserved / sizeof(uint64_t); i++) {                        \
            struct shapeproof_error error = {0};                                                                       \
            struct kind later = {0}, *options = &later;                                                                \
            later.reserved[i] = 1;                                                                                     \
            assert_refused(call, &error);                                                                              \
        }                                                                                                              \
    } while (0)

static void later_options_are_refused(void **state)
{
    (void)state;
    REFUSES(shapeproof_check_options,
            shapeproof_check_new(world.inventory, world.tables, world.config, options, &error));
    REFUSES(shapeproof_check_path_options, shapeproof_check_path("fixtures/models/tiny-llama", options, &error));
    REFUSES(shapeproof_diff_options, shapeproof_diff_new(world.inventory, world.inventory, options, &error));
    REFUSES(shapeproof_breakdown_options, shapeproof_breakdown_new(world.inventory, options, &error));
    REFUSES(shapeproof_infer_options, shapeproof_infer(world.inventory, world.tables, options, &error));
    const struct shapeproof_learn_example example = {world.inventory, world.config};
    REFUSES(shapeproof_learn_options, shapeproof_learn(&example, 1, world.tables, options, &error));
    REFUSES(shapeproof_predict_options, shapeproof_predict(world.tables, world.config, options, &error));
    REFUSES(shapeproof_prove_options, shapeproof_prove(world.tables, options, &error));
    struct shapeproof_error none = {0};
    struct shapeproof_check *check = shapeproof_check_new(world.inventory, world.tables, world.config, NULL, &none);
    const struct shapeproof_prediction *made = shapeproof_check_prediction(check);
    REFUSES(shapeproof_verify_options, shapeproof_verify(check, world.tables, options, &error));
    REFUSES(shapeproof_verify_options, shapeproof_verify_values(made, world.config, world.tables, options, &error));
    REFUSES(shapeproof_verify_options, shapeproof_verify_alone(world.inventory, world.tables, options, &error));
    shapeproof_check_free(check);
    char *letters;
    const char *const total = "total";
    struct shapeproof_expressions *expressions = shapeproof_expressions_new(
        world.tables, "gpt2", &(struct shapeproof_claim_lines){"test", &total, 1}, &letters, &none);
    REFUSES(shapeproof_evaluate_options, shapeproof_evaluate(expressions, world.config, options, &error));
    shapeproof_expressions_free(expressions);
    struct shapeproof_models *models = shapeproof_models_new(&none);
    REFUSES(shapeproof_figures_options, shapeproof_figures_new(world.tables, models, options, &error));
    shapeproof_models_free(models);
    REFUSES(shapeproof_derive_options, shapeproof_derive(world.tables, world.config, options, &error));
    REFUSES(shapeproof_fit_options, shapeproof_fit_new(world.tables, world.config, 1, options, &error));
    REFUSES(shapeproof_solve_options, shapeproof_solve(world.tables, world.config, 7872, options, &error));
    REFUSES(shapeproof_solve_options, shapeproof_solve_rounded(world.tables, world.config, "8K", options, &error));
    REFUSES(shapeproof_solve_together_options,
            shapeproof_solve_together(world.tables, world.config, 7872, options, &error));
    REFUSES(shapeproof_solve_together_options,
            shapeproof_solve_together_rounded(world.tables, world.config, "8K", options, &error));
}

/* Takes both reports. */
static void assert_same_report(char *with_none, char *with_zero)
{
    assert_string_equal(with_none, with_zero);
    assert_int_equal(with_none[strlen(with_none) - 1], '\n');
    shapeproof_free(with_none);
    shapeproof_free(with_zero);
}

/* Makes the thing without options and with zero ones, reports each likewise, and compares. */
#define SAME(thing, kind, make, report_kind, report, release)                                                          \
    do {                                                                                                               \
        struct shapeproof_error error = {0};                                                                           \
        const struct kind zero = {0}, *options = NULL;                                                                 \
        const struct report_kind plain = {0};                                                                          \
        struct thing *with_none = make;                                                                                \
        options = &zero;                                                                                               \
        struct thing *with_zero = make;                                                                                \
        assert_string_equal(error.message, "");                                                                        \
        assert_same_report(report(with_none, NULL, NULL), report(with_zero, &plain, NULL));                            \
        release(with_none);                                                                                            \
        release(with_zero);                                                                                            \
    } while (0)

static void none_are_zero(void **state)
{
    const struct shapeproof_tables *tables = world.tables;
    const struct shapeproof_config *config = world.config;
    const struct shapeproof_inventory *inventory = world.inventory;
    (void)state;
    SAME(shapeproof_check, shapeproof_check_options, shapeproof_check_new(inventory, tables, config, options, &error),
         shapeproof_report_options, shapeproof_report_check, shapeproof_check_free);
    SAME(shapeproof_diff, shapeproof_diff_options, shapeproof_diff_new(inventory, inventory, options, &error),
         shapeproof_report_options, shapeproof_report_diff, shapeproof_diff_free);
    SAME(shapeproof_breakdown, shapeproof_breakdown_options, shapeproof_breakdown_new(inventory, options, &error),
         shapeproof_report_breakdown_options, shapeproof_report_breakdown, shapeproof_breakdown_free);
    SAME(shapeproof_inference, shapeproof_infer_options, shapeproof_infer(inventory, tables, options, &error),
         shapeproof_report_options, shapeproof_report_infer, shapeproof_inference_free);
    SAME(shapeproof_prediction, shapeproof_predict_options, shapeproof_predict(tables, config, options, &error),
         shapeproof_report_predict_options, shapeproof_report_predict, shapeproof_prediction_free);
    SAME(shapeproof_derivation, shapeproof_derive_options, shapeproof_derive(tables, config, options, &error),
         shapeproof_report_derive_options, shapeproof_report_derive, shapeproof_derivation_free);
    SAME(shapeproof_verification, shapeproof_verify_options,
         shapeproof_verify_alone(inventory, tables, options, &error), shapeproof_report_verify_options,
         shapeproof_report_verify, shapeproof_verification_free);
    SAME(shapeproof_solutions, shapeproof_solve_options, shapeproof_solve(tables, config, 7872, options, &error),
         shapeproof_report_options, shapeproof_report_solve, shapeproof_solutions_free);
}

static void none_are_zero_in_reports_of_what_needs_no_options(void **state)
{
    const struct shapeproof_report_inspect_options inspect = {0};
    const struct shapeproof_report_options plain = {0};
    (void)state;
    assert_same_report(shapeproof_report_inspect(world.inventory, NULL, NULL),
                       shapeproof_report_inspect(world.inventory, &inspect, NULL));
    assert_same_report(shapeproof_report_tables(world.tables, NULL, NULL),
                       shapeproof_report_tables(world.tables, &plain, NULL));
    struct shapeproof_error error = {0};
    struct shapeproof_models *models = shapeproof_models_new(&error);
    assert_non_null(models);
    assert_same_report(shapeproof_report_models(models, NULL, NULL, NULL, NULL),
                       shapeproof_report_models(models, NULL, NULL, &plain, NULL));
    shapeproof_models_free(models);
}

/* Claims of a table, of a file, and of both: those of that file about that table. */
static size_t claims(const char *table, const char *file)
{
    struct shapeproof_error error = {0};
    const struct shapeproof_prove_options options = {
        .tables = &table, .table_count = table != NULL, .files = &file, .file_count = file != NULL};
    struct shapeproof_proofs *proofs = shapeproof_prove(world.tables, &options, &error);
    assert_string_equal(error.message, "");
    const size_t count = shapeproof_proofs_count(proofs);
    shapeproof_proofs_free(proofs);
    return count;
}

static void which_claims_are_judged(void **state)
{
    static const char text[] =
        "claims for gpt2\nclaim total = total\nclaim [final norm] = [final norm]\nclaims for t5\nclaim total = total\n";
    struct shapeproof_error error = {0};
    (void)state;
    const size_t before = claims("gpt2", NULL);
    if (shapeproof_tables_add_text(world.tables, "mine.shapes", text, strlen(text), &error) != SHAPEPROOF_OK)
        fail_msg("%s", shapeproof_tables_messages(world.tables));
    assert_int_equal(claims("gpt2", NULL), before + 2);
    assert_int_equal(claims(NULL, "mine.shapes"), 3);
    assert_int_equal(claims("gpt2", "mine.shapes"), 2);
    assert_int_equal(claims("bert", "mine.shapes"), 0);
}

/* A new option takes the place of reserved words: a program that was compiled before hands over as many bytes as the
 * library reads. Where pointers have 64 bits. */
static void sizes_stay(void **state)
{
    (void)state;
    if (sizeof(void *) != 8) skip();
    assert_int_equal(sizeof(struct shapeproof_check_options), 56);
    assert_int_equal(sizeof(struct shapeproof_diff_options), 48);
    assert_int_equal(sizeof(struct shapeproof_breakdown_options), 72);
    assert_int_equal(sizeof(struct shapeproof_infer_options), 40);
    assert_int_equal(sizeof(struct shapeproof_learn_options), 56);
    assert_int_equal(sizeof(struct shapeproof_predict_options), 48);
    assert_int_equal(sizeof(struct shapeproof_prove_options), 64);
    assert_int_equal(sizeof(struct shapeproof_verify_options), 48);
    assert_int_equal(sizeof(struct shapeproof_derive_options), 48);
    assert_int_equal(sizeof(struct shapeproof_measures_options), 56);
    assert_int_equal(sizeof(struct shapeproof_evaluate_options), 40);
    assert_int_equal(sizeof(struct shapeproof_fit_options), 72);
    assert_int_equal(sizeof(struct shapeproof_figures_options), 48);
    assert_int_equal(sizeof(struct shapeproof_solve_options), 64);
    assert_int_equal(sizeof(struct shapeproof_solve_together_options), 96);
    assert_int_equal(sizeof(struct shapeproof_remote_options), 120);
    assert_int_equal(sizeof(struct shapeproof_report_options), 48);
    assert_int_equal(sizeof(struct shapeproof_report_inspect_options), 104);
    assert_int_equal(sizeof(struct shapeproof_report_breakdown_options), 88);
    assert_int_equal(sizeof(struct shapeproof_report_predict_options), 88);
    assert_int_equal(sizeof(struct shapeproof_report_derive_options), 88);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_stay),
        cmocka_unit_test(later_options_are_refused),
        cmocka_unit_test(none_are_zero),
        cmocka_unit_test(none_are_zero_in_reports_of_what_needs_no_options),
        cmocka_unit_test(which_claims_are_judged),
    };
    return cmocka_run_group_tests(tests, open_world, close_world);
}
