/* SPDX-License-Identifier: MIT
 * Formulas of publications against real checkpoints: those that are right hold, and errata do not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "shapeproof/shapeproof.h"

static const char *const lstm_table[] = {"docs/lstm.shapes", NULL};

static const struct {
    const char *path;
    const char *const *table_files;
    const char *table, *claims;
    size_t hold, other; /* what is about other hyper-parameters */
} cases[] = {
    {"fixtures/models/tiny-gpt2", NULL, NULL, "docs/examples/publications.shapes", 2, 0},
    {"fixtures/models/tiny-bert", NULL, NULL, "docs/examples/publications.shapes", 2, 0},
    {"fixtures/sockeye/ok/sockeye3", NULL, NULL, "docs/examples/publications.shapes", 4, 1},
    {"fixtures/docs/lstm", lstm_table, "word_lstm", "docs/examples/lstm_claims.shapes", 2, 0},
};

static void check_case(size_t number)
{
    struct shapeproof_error error = {0};
    struct shapeproof_check_path_options options = {.table_files = cases[number].table_files};
    options.check.table = cases[number].table;
    struct shapeproof_check *check = shapeproof_check_path(cases[number].path, &options, &error);
    if (!check) fail_msg("%s", error.message);
    struct shapeproof_tables *tables = shapeproof_tables_new(&error);
    if (cases[number].table_files)
        assert_int_equal(shapeproof_tables_add_file(tables, cases[number].table_files[0], &error), SHAPEPROOF_OK);
    if (shapeproof_tables_add_file(tables, cases[number].claims, &error) != SHAPEPROOF_OK)
        fail_msg("%s", error.message);
    struct shapeproof_verification *verification = shapeproof_verify(
        check, tables, &(struct shapeproof_verify_options){.files = &cases[number].claims, .file_count = 1}, &error);
    if (!verification) fail_msg("%s", error.message);
    size_t hold = 0, other = 0;
    for (size_t i = 0; i < shapeproof_verification_claim_count(verification); i++) {
        const struct shapeproof_verified_claim *claim = shapeproof_verification_claim(verification, i);
        const enum shapeproof_claim_answer wanted =
            claim->proof->erratum ? SHAPEPROOF_CLAIM_FAILS : SHAPEPROOF_CLAIM_HOLDS;
        if (claim->answer == SHAPEPROOF_CLAIM_OTHER) other++;
        else if (claim->answer != wanted)
            fail_msg("%s: %s: %s", cases[number].path, claim->proof->claim,
                     shapeproof_claim_answer_name(claim->answer));
        else hold += !claim->proof->erratum;
    }
    assert_int_equal(hold, cases[number].hold);
    assert_int_equal(other, cases[number].other);
    assert_int_equal(shapeproof_verification_answer(verification), SHAPEPROOF_CLAIM_HOLDS);
    shapeproof_verification_free(verification);
    shapeproof_tables_free(tables);
    shapeproof_check_free(check);
}

static void publications(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) check_case(i);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(publications)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
