/* SPDX-License-Identifier: MIT
 * A setting whose value is of a kind that no table can use, `--set num_hidden_layers=abc`, shows as a mistake somewhere
 * in the table. Which setting it is, and what was expected, tells a prediction without it, or the failed call with
 * another value. */
#include <string.h>

#include "config/config.h"
#include "config/settings.h"
#include "lang/prediction.h"

struct question {
    const struct shapeproof_tables *tables;
    const struct shapeproof_config *config;
    const struct shapeproof_predict_options *options;
    sp_config_works *works;
    size_t setting;
};

bool sp_config_predicts(const struct shapeproof_tables *tables, const struct shapeproof_config *config,
                        const struct shapeproof_predict_options *options)
{
    struct shapeproof_error error = {0};
    struct shapeproof_prediction *prediction = shapeproof_predict(tables, config, options, &error);
    shapeproof_prediction_free(prediction);
    return prediction;
}

/* The kind that the key has where the setting is left out: in the file, or by default. */
static enum shapeproof_value_type kind_without(const struct question *question)
{
    struct shapeproof_error error = {0};
    struct shapeproof_config *config = sp_config_without(question->config, question->setting);
    struct shapeproof_prediction *prediction = shapeproof_predict(question->tables, config, question->options, &error);
    const size_t key = prediction
                           ? sp_map_get(&prediction->hyper_names, question->config->settings[question->setting].path)
                           : SHAPEPROOF_NONE;
    const enum shapeproof_value_type kind =
        key == SHAPEPROOF_NONE ? SHAPEPROOF_VALUE_ABSENT : prediction->hypers[key].value.type;
    shapeproof_prediction_free(prediction);
    shapeproof_config_free(config);
    return kind;
}

static bool works_with(const struct question *question, struct shapeproof_value value)
{
    struct shapeproof_config *config = sp_config_variant(question->config);
    sp_config_set_value(config, question->config->settings[question->setting].path, value, "another");
    const bool works = question->works(question->tables, config, question->options);
    shapeproof_config_free(config);
    return works;
}

static bool works_with_number(const struct question *question)
{
    static const int64_t numbers[] = {2, 64, 1024, 1};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (works_with(question, sp_value_int(numbers[i]))) return true;
    return false;
}

/* Of the kinds that are tried the first that works. Where formulas are derived, a flag counts as 1 or 0: if the call
 * works with a truth value and with a number, its message says which of the two the table expected. */
static enum shapeproof_value_type kind_that_works(const struct question *question, const char *message)
{
    const bool takes_flag = works_with(question, sp_value_bool(true));
    const bool is_of_flag = strstr(message, "expected a truth value") != NULL;
    if (takes_flag && (question->works == sp_config_predicts || is_of_flag)) return SHAPEPROOF_VALUE_BOOL;
    if (works_with_number(question)) return SHAPEPROOF_VALUE_INT;
    if (takes_flag) return SHAPEPROOF_VALUE_BOOL;
    return works_with(question, sp_value_string("text")) ? SHAPEPROOF_VALUE_STRING : SHAPEPROOF_VALUE_ABSENT;
}

static bool is_number_kind(enum shapeproof_value_type kind)
{
    return kind == SHAPEPROOF_VALUE_INT || kind == SHAPEPROOF_VALUE_REAL;
}

/* The kind that the setting should have; SHAPEPROOF_VALUE_ABSENT when that cannot be told. A list is one item for all
 * or each its own, where a number is, and is no mistake by itself. */
static enum shapeproof_value_type expected_kind(const struct question *question, const char *message)
{
    const enum shapeproof_value_type given = question->config->settings[question->setting].value.type;
    if (given >= SHAPEPROOF_VALUE_LIST && !strstr(message, sp_value_kind(given))) return SHAPEPROOF_VALUE_ABSENT;
    enum shapeproof_value_type kind = kind_without(question);
    if (kind == SHAPEPROOF_VALUE_ABSENT) kind = kind_that_works(question, message);
    return kind == given || (given == SHAPEPROOF_VALUE_INT && is_number_kind(kind)) ? SHAPEPROOF_VALUE_ABSENT : kind;
}

char *sp_mistyped_setting(const struct shapeproof_tables *tables, const struct shapeproof_config *config,
                          const struct shapeproof_predict_options *options, sp_config_works *works, const char *message)
{
    for (size_t i = 0; i < config->setting_count; i++) {
        const struct question question = {tables, config, options, works, i};
        const struct shapeproof_value value = config->settings[i].value;
        if (config->overrides[i].from.source != SHAPEPROOF_SOURCE_SETTING || !sp_value_is_set(value)) continue;
        const enum shapeproof_value_type kind = expected_kind(&question, message);
        if (kind == SHAPEPROOF_VALUE_ABSENT) continue;
        struct sp_text text = {0};
        sp_text_printf(&text, "--set %s=", config->settings[i].path);
        if (value.type == SHAPEPROOF_VALUE_STRING) sp_text_puts(&text, value.string);
        else sp_value_json(&text, value);
        sp_text_printf(&text, ": expected %s, found %s", sp_value_kind(kind), sp_value_kind(value.type));
        return text.data;
    }
    return NULL;
}
