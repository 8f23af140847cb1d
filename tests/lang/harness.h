/* SPDX-License-Identifier: MIT
 * What the tests of the table language share: a table text and settings in, a listing or the message out.
 *
 *   struct run run = predict("table t\nx.weight (V, 3)\n", "V=7");
 *   assert_string_equal(run.text, "x.weight (7, 3)\n");
 *   run_free(&run);
 */
#ifndef SP_TESTS_LANG_HARNESS_H
#define SP_TESTS_LANG_HARNESS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <inttypes.h>
#include <stdio.h>

#include "base/arena.h"
#include "base/text.h"
#include "lang/tables.h"
#include "shapeproof/prediction.h"

struct run {
    struct shapeproof_tables *tables; /* the built-in ones and the text */
    struct shapeproof_config *config;
    struct shapeproof_prediction *prediction; /* NULL after a mistake */
    struct shapeproof_error error;
    char *text; /* the listing, or the message */
};

static inline void list_tensor(struct sp_text *out, const struct shapeproof_prediction *prediction, size_t index)
{
    const struct shapeproof_predicted *tensor = shapeproof_prediction_tensor(prediction, index);
    sp_text_printf(out, "%s (", tensor->name);
    for (uint32_t i = 0; i < tensor->rank; i++) sp_text_printf(out, "%s%" PRIu64, i ? ", " : "", tensor->shape[i]);
    sp_text_puts(out, ")");
    if (tensor->dtype != SHAPEPROOF_DTYPE_UNKNOWN) sp_text_printf(out, " %s", shapeproof_dtype_name(tensor->dtype));
    if (tensor->optional) sp_text_puts(out, " optional");
    if (tensor->buffer) sp_text_puts(out, " buffer");
    if (tensor->same_as != SHAPEPROOF_NONE)
        sp_text_printf(out, " same %sas %s", tensor->rows_only ? "rows " : "",
                       shapeproof_prediction_tensor(prediction, tensor->same_as)->name);
    for (size_t i = 0; i < tensor->old_name_count; i++) sp_text_printf(out, " was %s", tensor->old_names[i]);
    sp_text_puts(out, "\n");
}

/* One line for each tensor, in the words of the language. */
static inline char *listing(const struct shapeproof_prediction *prediction)
{
    struct sp_text out = {0};
    sp_text_puts(&out, "");
    for (size_t i = 0; i < shapeproof_prediction_count(prediction); i++) list_tensor(&out, prediction, i);
    return out.data;
}

/* One line for each hyper-parameter: name = value, from. */
static inline char *hyperparameters(const struct shapeproof_prediction *prediction)
{
    struct sp_text out = {0};
    sp_text_puts(&out, "");
    for (size_t i = 0; i < shapeproof_prediction_hyperparameter_count(prediction); i++) {
        const struct shapeproof_hyperparameter *h = shapeproof_prediction_hyperparameter(prediction, i);
        char *value = shapeproof_value_text(h->value), *from = shapeproof_provenance_text(h->from);
        sp_text_printf(&out, "%s = %s, %s\n", h->name, value, from);
        free(value);
        free(from);
    }
    return out.data;
}

/* One line for each group: [name] parameters. */
static inline char *groups(const struct shapeproof_prediction *prediction)
{
    struct sp_text out = {0};
    sp_text_puts(&out, "");
    for (size_t i = 0; i < shapeproof_prediction_group_count(prediction); i++) {
        const struct shapeproof_group *group = shapeproof_prediction_group(prediction, i);
        sp_text_printf(&out, "[%s] %" PRIu64 "\n", group->name, group->parameters);
    }
    return out.data;
}

/* Settings are separated by blanks: "V=7 architectures=[\"A\"]". */
static inline void apply_settings(struct shapeproof_config *config, const char *settings)
{
    struct shapeproof_error error = {0};
    char *copy = strdup(settings), *save = NULL;
    for (char *one = strtok_r(copy, " ", &save); one; one = strtok_r(NULL, " ", &save)) {
        shapeproof_config_set(config, one, &error);
        assert_string_equal(error.message, "");
    }
    free(copy);
}

/* The name of the last table of a text, which is the one to predict. */
static inline const char *last_table(const struct shapeproof_tables *tables)
{
    for (size_t i = tables->own.count; i-- > 0;)
        if (tables->own.items[i]->is_table) return tables->own.items[i]->name;
    return NULL;
}

static inline void run_expand(struct run *run)
{
    run->prediction = shapeproof_predict(
        run->tables, run->config, &(struct shapeproof_predict_options){.table = last_table(run->tables)}, &run->error);
    run->text = run->prediction ? listing(run->prediction) : strdup(run->error.message);
}

/* Adds the text to the built-in tables and expands its last table. */
static inline struct run predict(const char *table, const char *settings)
{
    struct run run = {0};
    run.tables = shapeproof_tables_new(&run.error);
    assert_non_null(run.tables);
    run.config = shapeproof_config_new();
    apply_settings(run.config, settings);
    if (shapeproof_tables_add_text(run.tables, "t.shapes", table, strlen(table), &run.error) == SHAPEPROOF_OK)
        run_expand(&run);
    else run.text = strdup(shapeproof_tables_messages(run.tables));
    return run;
}

static inline void run_free(struct run *run)
{
    shapeproof_prediction_free(run->prediction);
    shapeproof_config_free(run->config);
    shapeproof_tables_free(run->tables);
    free(run->text);
}

/* The value of an expression as JSON, "absent", "null" or the message. It becomes a default, and so a hyper-parameter
 * that the prediction reports. */
static inline char *evaluate(const char *expression, const char *settings)
{
    struct sp_text table = {0};
    sp_text_printf(&table, "table t\nf(a, b) = a*10 + b\nsquare(x) = x^2\njust(x) = x\nv = result default just(%s)\n",
                   expression);
    sp_text_puts(&table, "absent (1) if absent(v)\nnull (1) if null(v)\nset (1) if not absent(v) and not null(v)\n");
    struct run run = predict(table.data, settings);
    const char *found = NULL;
    char *result = NULL;
    if (!run.prediction) found = strstr(run.text, ": ") + 2;
    else if (shapeproof_prediction_find(run.prediction, "set") == SHAPEPROOF_NONE)
        found = shapeproof_prediction_tensor(run.prediction, 0)->name;
    for (size_t i = 0; !found && i < shapeproof_prediction_hyperparameter_count(run.prediction); i++) {
        const struct shapeproof_hyperparameter *h = shapeproof_prediction_hyperparameter(run.prediction, i);
        if (strcmp(h->name, "result") == 0) found = result = shapeproof_value_text(h->value);
    }
    char *value = found ? strndup(found, strcspn(found, "\n")) : strdup("nothing");
    free(result);
    run_free(&run);
    sp_text_free(&table);
    return value;
}

static inline void assert_listing(const char *table, const char *settings, const char *expected)
{
    struct run run = predict(table, settings);
    assert_string_equal(run.text, expected);
    run_free(&run);
}

/* The message contains that text, and nothing was predicted. */
static inline void assert_mistake(const char *table, const char *settings, const char *expected)
{
    struct run run = predict(table, settings);
    assert_null(run.prediction);
    if (!strstr(run.text, expected)) assert_string_equal(run.text, expected);
    run_free(&run);
}

#endif
