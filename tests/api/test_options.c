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
    struct sp_tables *tables;
    struct sp_config *config;
    struct sp_inventory *inventory;
} world;

static int open_world(void **state)
{
    struct sp_error error = {0};
    (void)state;
    world.tables = sp_tables_new(&error);
    world.config = sp_config_new();
    sp_config_load(world.config, "fixtures/models/tiny-gpt2/config.json", &error);
    world.inventory = sp_inventory_open("fixtures/models/tiny-gpt2", &error);
    return world.tables && world.inventory && error.status == SP_OK ? 0 : -1;
}

static int close_world(void **state)
{
    (void)state;
    sp_inventory_close(world.inventory);
    sp_config_free(world.config);
    sp_tables_free(world.tables);
    return 0;
}

static void assert_refused(const void *result, const struct sp_error *error)
{
    assert_null(result);
    assert_int_equal(error->status, SP_ERR_USAGE);
    assert_string_equal(error->message, "the options are those of a later version of this library");
}

/* `zero` is a struct of options; CALL uses `options` and `error`. */
#define REFUSES(kind, call)                                                                                            \
    do {                                                                                                               \
        for (size_t i = 0; i < sizeof((struct kind *)NULL)->reserved / sizeof(uint64_t); i++) {                        \
            struct sp_error error = {0};                                                                               \
            struct kind later = {0}, *options = &later;                                                                \
            later.reserved[i] = 1;                                                                                     \
            assert_refused(call, &error);                                                                              \
        }                                                                                                              \
    } while (0)

static void later_options_are_refused(void **state)
{
    (void)state;
    REFUSES(sp_check_options, sp_check_new(world.inventory, world.tables, world.config, options, &error));
    REFUSES(sp_diff_options, sp_diff_new(world.inventory, world.inventory, options, &error));
    REFUSES(sp_infer_options, sp_infer(world.inventory, world.tables, options, &error));
    const struct sp_learn_example example = {world.inventory, world.config};
    REFUSES(sp_learn_options, sp_learn(&example, 1, world.tables, options, &error));
    REFUSES(sp_predict_options, sp_predict(world.tables, world.config, options, &error));
    REFUSES(sp_prove_options, sp_prove(world.tables, options, &error));
    REFUSES(sp_derive_options, sp_derive(world.tables, world.config, options, &error));
    REFUSES(sp_solve_options, sp_solve(world.tables, world.config, 7872, options, &error));
    REFUSES(sp_solve_options, sp_solve_rounded(world.tables, world.config, "8K", options, &error));
}

/* Takes both reports. */
static void assert_same_report(char *with_none, char *with_zero)
{
    assert_string_equal(with_none, with_zero);
    assert_int_equal(with_none[strlen(with_none) - 1], '\n');
    sp_free(with_none);
    sp_free(with_zero);
}

/* Makes the thing without options and with zero ones, reports each likewise, and compares. */
#define SAME(thing, kind, make, report_kind, report, release)                                                          \
    do {                                                                                                               \
        struct sp_error error = {0};                                                                                   \
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
    const struct sp_tables *tables = world.tables;
    const struct sp_config *config = world.config;
    const struct sp_inventory *inventory = world.inventory;
    (void)state;
    SAME(sp_check, sp_check_options, sp_check_new(inventory, tables, config, options, &error), sp_report_options,
         sp_report_check, sp_check_free);
    SAME(sp_diff, sp_diff_options, sp_diff_new(inventory, inventory, options, &error), sp_report_options,
         sp_report_diff, sp_diff_free);
    SAME(sp_inference, sp_infer_options, sp_infer(inventory, tables, options, &error), sp_report_options,
         sp_report_infer, sp_inference_free);
    SAME(sp_prediction, sp_predict_options, sp_predict(tables, config, options, &error), sp_report_predict_options,
         sp_report_predict, sp_prediction_free);
    SAME(sp_derivation, sp_derive_options, sp_derive(tables, config, options, &error), sp_report_derive_options,
         sp_report_derive, sp_derivation_free);
    SAME(sp_solutions, sp_solve_options, sp_solve(tables, config, 7872, options, &error), sp_report_options,
         sp_report_solve, sp_solutions_free);
}

static void none_are_zero_in_reports_of_what_needs_no_options(void **state)
{
    const struct sp_report_inspect_options inspect = {0};
    const struct sp_report_options plain = {0};
    (void)state;
    assert_same_report(sp_report_inspect(world.inventory, NULL, NULL),
                       sp_report_inspect(world.inventory, &inspect, NULL));
    assert_same_report(sp_report_tables(world.tables, NULL, NULL), sp_report_tables(world.tables, &plain, NULL));
}

/* Claims of a table, of a file, and of both: those of that file about that table. */
static size_t claims(const char *table, const char *file)
{
    struct sp_error error = {0};
    const struct sp_prove_options options = {
        .tables = &table, .table_count = table != NULL, .files = &file, .file_count = file != NULL};
    struct sp_proofs *proofs = sp_prove(world.tables, &options, &error);
    assert_string_equal(error.message, "");
    const size_t count = sp_proofs_count(proofs);
    sp_proofs_free(proofs);
    return count;
}

static void which_claims_are_judged(void **state)
{
    static const char text[] =
        "claims for gpt2\nclaim total = total\nclaim [final norm] = [final norm]\nclaims for t5\nclaim total = total\n";
    struct sp_error error = {0};
    (void)state;
    const size_t before = claims("gpt2", NULL);
    if (sp_tables_add_text(world.tables, "mine.shapes", text, strlen(text), &error) != SP_OK)
        fail_msg("%s", sp_tables_messages(world.tables));
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
    assert_int_equal(sizeof(struct sp_check_options), 56);
    assert_int_equal(sizeof(struct sp_diff_options), 48);
    assert_int_equal(sizeof(struct sp_infer_options), 40);
    assert_int_equal(sizeof(struct sp_learn_options), 56);
    assert_int_equal(sizeof(struct sp_predict_options), 48);
    assert_int_equal(sizeof(struct sp_prove_options), 64);
    assert_int_equal(sizeof(struct sp_derive_options), 48);
    assert_int_equal(sizeof(struct sp_solve_options), 48);
    assert_int_equal(sizeof(struct sp_remote_options), 120);
    assert_int_equal(sizeof(struct sp_report_options), 48);
    assert_int_equal(sizeof(struct sp_report_inspect_options), 104);
    assert_int_equal(sizeof(struct sp_report_predict_options), 88);
    assert_int_equal(sizeof(struct sp_report_derive_options), 88);
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
