/* SPDX-License-Identifier: MIT
 * Real numbers as text. The tests run in the C locale and, where the machine has one, in a locale with a comma. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <locale.h>
#include <stdlib.h>
#include <string.h>

#include "base/real.h"
#include "shapeproof/shapeproof.h"

static void texts(void **state)
{
    static const struct {
        double value;
        int digits;
        const char *text;
    } cases[] = {{0.5, 6, "0.5"}, {2.5e-7, 6, "2.5e-07"}, {1.0 / 3, 17, "0.33333333333333331"}, {12, 3, "12"}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_string_equal(sp_real_text(cases[i].value, cases[i].digits).text, cases[i].text);
}

static void numbers(void **state)
{
    const char *text = "2.5x";
    char *end;
    (void)state;
    assert_true(sp_real_read(text, &end) == 2.5);
    assert_string_equal(end, "x");
    assert_true(sp_real_read("-1e-3", NULL) == -0.001);
    assert_true(sp_real_read_float("0.1") == 0.1F);
}

/* What a host gets: the prediction for a configuration with 2.5, and the text of a value. */
static void values_of_a_host(void **state)
{
    static const char table[] = "table t\nE = hidden\nm = ratio\nw (int(E*m))\n";
    struct shapeproof_error error = {0};
    struct shapeproof_tables *tables = shapeproof_tables_new(&error);
    struct shapeproof_config *config = shapeproof_config_new();
    (void)state;
    assert_int_equal(shapeproof_tables_add_text(tables, "t", table, strlen(table), &error), SHAPEPROOF_OK);
    assert_int_equal(shapeproof_config_set(config, "hidden=8", &error), SHAPEPROOF_OK);
    assert_int_equal(shapeproof_config_set(config, "ratio=2.5", &error), SHAPEPROOF_OK);
    const struct shapeproof_predict_options what = {.table = "t"};
    struct shapeproof_prediction *prediction = shapeproof_predict(tables, config, &what, &error);
    assert_non_null(prediction);
    assert_int_equal(shapeproof_prediction_totals(prediction)->parameters, 20);
    shapeproof_prediction_free(prediction);
    shapeproof_config_free(config);
    shapeproof_tables_free(tables);
    char *text = shapeproof_value_text((struct shapeproof_value){.type = SHAPEPROOF_VALUE_REAL, .real = 0.5});
    assert_string_equal(text, "0.5");
    shapeproof_free(text);
}

static int enter_comma(void **state)
{
    static const char *const names[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "fr_FR.utf8", "pl_PL.UTF-8"};
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (setlocale(LC_ALL, names[i])) break;
    return 0;
}

static int leave_comma(void **state)
{
    (void)state;
    setlocale(LC_ALL, "C");
    return 0;
}

static void locale_has_a_comma(void **state)
{
    (void)state;
    if (strcmp(localeconv()->decimal_point, ",") != 0) skip();
    texts(state);
    numbers(state);
    values_of_a_host(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts),
        cmocka_unit_test(numbers),
        cmocka_unit_test(values_of_a_host),
        cmocka_unit_test_setup_teardown(locale_has_a_comma, enter_comma, leave_comma),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
