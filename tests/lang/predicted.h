/* SPDX-License-Identifier: MIT
 * What a built-in table predicts under settings, for tests. */
#ifndef TESTS_LANG_PREDICTED_H
#define TESTS_LANG_PREDICTED_H

#include <string.h>

#include "lang/tables_fixture.h"
#include "shapeproof/prediction.h"

#define SETTINGS(...) ((const char *const[]){__VA_ARGS__, NULL})

static struct shapeproof_config *config;

static inline int free_config(void **state)
{
    (void)state;
    shapeproof_config_free(config);
    config = NULL;
    return 0;
}

/* A new one, which stays until the test ends, because predictions refer to it. */
static inline void configure(const char *const *settings)
{
    struct shapeproof_error error = {0};
    shapeproof_config_free(config);
    config = shapeproof_config_new();
    for (; *settings; settings++)
        if (shapeproof_config_set(config, *settings, &error) != SHAPEPROOF_OK) fail_msg("%s", error.message);
}

/* NULL with an error. */
static inline struct shapeproof_prediction *attempt(const char *table, const char *const *settings,
                                                    struct shapeproof_error *error)
{
    configure(settings);
    return shapeproof_predict(tables, config, &(struct shapeproof_predict_options){.table = table}, error);
}

/* Under the configuration as it is. */
static inline struct shapeproof_prediction *predicted(const char *table)
{
    struct shapeproof_error error = {0};
    struct shapeproof_prediction *prediction =
        shapeproof_predict(tables, config, &(struct shapeproof_predict_options){.table = table}, &error);
    if (!prediction) fail_msg("%s: %s", table ? table : "the table", error.message);
    return prediction;
}

static inline struct shapeproof_prediction *predict(const char *table, const char *const *settings)
{
    configure(settings);
    return predicted(table);
}

static inline struct shapeproof_predicted_totals totals(const char *table, const char *const *settings)
{
    struct shapeproof_prediction *prediction = predict(table, settings);
    const struct shapeproof_predicted_totals result = *shapeproof_prediction_totals(prediction);
    shapeproof_prediction_free(prediction);
    return result;
}

/* Of a group that is not there, too. */
static inline uint64_t group(const struct shapeproof_prediction *prediction, const char *name)
{
    for (size_t i = 0; i < shapeproof_prediction_group_count(prediction); i++)
        if (strcmp(shapeproof_prediction_group(prediction, i)->name, name) == 0)
            return shapeproof_prediction_group(prediction, i)->parameters;
    return 0;
}

static inline const struct shapeproof_predicted *tensor(const struct shapeproof_prediction *prediction,
                                                        const char *name)
{
    const size_t index = shapeproof_prediction_find(prediction, name);
    if (index == SHAPEPROOF_NONE) fail_msg("there is no tensor '%s'", name);
    return shapeproof_prediction_tensor(prediction, index);
}

#endif
