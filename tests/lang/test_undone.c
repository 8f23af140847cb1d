/* SPDX-License-Identifier: MIT
 * A call that fails leaves a set of tables as it was, whatever it has parsed meanwhile: tables that were parsed before
 * it are linked as before. AddressSanitizer sees when they are not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "base/call.h"
#include "shapeproof/shapeproof.h"

#define LLAMA "fixtures/models/tiny-llama/config.json"

static char *predict(struct shapeproof_tables *tables, const char *file)
{
    struct shapeproof_error error = {0};
    struct shapeproof_config *config = shapeproof_config_new();
    assert_int_equal(shapeproof_config_load(config, file, &error), SHAPEPROOF_OK);
    struct shapeproof_prediction *prediction = shapeproof_predict(tables, config, NULL, &error);
    assert_non_null(prediction);
    char *report = shapeproof_report_predict(prediction, NULL, NULL);
    shapeproof_prediction_free(prediction);
    shapeproof_config_free(config);
    return report;
}

static const char mistaken[] = "table broken\n\nE = width\n\n[a]\nx (E, \n";

static bool predict_and_fail(struct shapeproof_tables *tables, const char *file)
{
    struct shapeproof_error error = {0};
    SP_CALL(NULL, false);
    for (int i = 0; i < 20; i++)
        assert_int_equal(shapeproof_tables_add_text(tables, "broken.shapes", mistaken, strlen(mistaken), &error),
                         SHAPEPROOF_ERR_TABLE);
    for (size_t i = 0; i < 10; i++) shapeproof_tables_info(tables, i);
    shapeproof_free(predict(tables, file));
    sp_call_unwind();
    return true;
}

static void tables_are_as_before(void **state)
{
    struct shapeproof_error error = {0};
    struct shapeproof_tables *tables = shapeproof_tables_new(&error);
    (void)state;
    char *before = predict(tables, LLAMA);
    static const char *const others[] = {"fixtures/models/tiny-gpt2/config.json",
                                         "fixtures/models/tiny-bert/config.json"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        assert_false(predict_and_fail(tables, others[i]));
        char *after = predict(tables, LLAMA);
        assert_string_equal(after, before);
        shapeproof_free(after);
    }
    assert_string_equal(shapeproof_tables_messages(tables), "");
    shapeproof_free(before);
    shapeproof_tables_free(tables);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(tables_are_as_before)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
