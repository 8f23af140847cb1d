/* SPDX-License-Identifier: MIT
 * A function that takes longer for longer arguments spends steps in proportion to them. Each row of `costly` has
 * arguments so long that evaluating its condition 100 times exceeds the limit of steps; a short argument does not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "shapeproof/shapeproof.h"

enum { STEPS = 20 * 1000, ITEMS = 20 * 1000, ITERATIONS = 100 };

/* The keys of the configuration: lists, objects and texts of so many items, or bytes. */
static char *make_config(size_t items)
{
    struct sp_text text = {0};
    sp_text_puts(&text, "{\"numbers\": [0");
    for (size_t i = 1; i < items; i++) sp_text_puts(&text, ",1");
    sp_text_puts(&text, "], \"texts\": [\"x\"");
    for (size_t i = 1; i < items; i++) sp_text_puts(&text, ",\"y\"");
    sp_text_puts(&text, "], \"rows\": [[\"z\", 1]");
    for (size_t i = 1; i < items; i++) sp_text_puts(&text, ",[\"y\"]");
    sp_text_puts(&text, "], \"object\": {\"n\": 1");
    for (size_t i = 1; i < items; i++) sp_text_printf(&text, ",\"k%zu\": 1", i);
    sp_text_puts(&text, "}, \"zeros\": {\"");
    for (size_t i = 0; i < items; i++) sp_text_puts(&text, "00000000000000000000");
    sp_text_puts(&text, "\": 1}, \"text\": \"");
    for (size_t i = 0; i < items; i++) sp_text_puts(&text, "aaaaaaaaaaaaaaaaaaaa");
    sp_text_puts(&text, "\", \"digits\": \"1.2.");
    for (size_t i = 0; i < items; i++) sp_text_puts(&text, "11111111111111111111");
    sp_text_puts(&text, "\"}");
    return text.data;
}

/* Predicts a table whose rows have that condition; `message` is the error, or "". The condition reads the index, so
 * that each iteration evaluates it. */
static void predict_if(const char *condition, const char *config_text, char *message, size_t size)
{
    char table[512];
    struct shapeproof_error error = {0};
    struct shapeproof_tables *tables = shapeproof_tables_new(&error);
    struct shapeproof_config *config = shapeproof_config_new();
    snprintf(table, sizeof table, "table slow\n\n[a] for i in 0..%d\nx.{i}  (1)  if (%s) and i >= 0\n", ITERATIONS - 1,
             condition);
    assert_int_equal(shapeproof_tables_add_text(tables, "slow.shapes", table, strlen(table), &error), SHAPEPROOF_OK);
    assert_int_equal(shapeproof_config_load_text(config, "config", config_text, strlen(config_text), &error),
                     SHAPEPROOF_OK);
    const struct shapeproof_predict_options what = {.table = "slow"};
    struct shapeproof_prediction *prediction = shapeproof_predict(tables, config, &what, &error);
    assert_int_equal(prediction == NULL, *error.message != '\0');
    snprintf(message, size, "%s", error.message);
    shapeproof_prediction_free(prediction);
    shapeproof_config_free(config);
    shapeproof_tables_free(tables);
}

static void long_arguments_take_steps(void **state)
{
    static const char *const costly[] = {
        "count(numbers, i) > 0",
        "(find(numbers, 7) default -1) == i",
        "(member(object, \"m\") default -1) == i",
        "(member(object, i) default -1) == 7",
        "(member(zeros, i + 1) default -1) == 7",
        "(object.m default i) == 7",
        "len(text) < i",
        "min(numbers) > i",
        "max(numbers) < i",
        "sum(numbers) < i",
        "skip(text, i % 3) == \"b\"",
        "starts_with(\"b\", texts)",
        "ends_with(\"b\", texts)",
        "row(\"z\", rows)[1] == i + 2",
        "after(text, \"b\") == \"b\"",
        "until(text, \"b\") == \"b\"",
        "(stray(object, [\"n\"], texts) default \"z\") == \"m\"",
        "number_after(text, \"b\", i) < 0",
        "primes(2, i % 3, 3000) < 0",
        "primes(2000000000, i % 3, 300) < 0",
        "(i + 2) in numbers",
        "\"b\" in text",
        "text == text",
        "text < text",
        "numbers == texts",
    };
    char *small = make_config(2), *large = make_config(ITEMS), message[1024];
    struct shapeproof_error error = {0};
    (void)state;
    shapeproof_set_limits(&(struct shapeproof_limits){.steps = STEPS}, &error);
    for (size_t i = 0; i < sizeof costly / sizeof *costly; i++) {
        const bool is_of_list = !strstr(costly[i], "primes");
        predict_if(costly[i], small, message, sizeof message);
        if (is_of_list && *message) fail_msg("%s: %s", costly[i], message);
        predict_if(costly[i], large, message, sizeof message);
        if (!strstr(message, "the table takes more than 20000 steps; --limit steps=N allows more"))
            fail_msg("%s: \"%s\"", costly[i], message);
    }
    shapeproof_set_limits(NULL, &error);
    free(small);
    free(large);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(long_arguments_take_steps)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
