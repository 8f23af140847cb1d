/* SPDX-License-Identifier: MIT
 * How much a configuration has to say that the table does not say by itself: of models that explain a file alike, the
 * one whose defaults it agrees with most is the likeliest. */
#include <string.h>

#include "base/chars.h"
#include "infer/guess/guess.h"
#include "infer/infer.h"
#include "lang/functions.h"

bool sp_is_choice_of_table(const char *path)
{
    return strcmp(sp_behind_last(path, '.'), "model_type") == 0 || sp_is_class_key(path);
}

/* NULL when the table has no default for something: it has no size that is usual. */
static struct shapeproof_prediction *predict_defaults(const struct sp_attempt *attempt)
{
    struct shapeproof_config *config = shapeproof_config_new();
    const struct sp_scope scope = {.most = 100000};
    for (size_t i = 0; i < shapeproof_prediction_hyperparameter_count(attempt->prediction); i++) {
        const struct shapeproof_hyperparameter *hyper = shapeproof_prediction_hyperparameter(attempt->prediction, i);
        if (sp_is_choice_of_table(hyper->name)) sp_config_set_value(config, hyper->name, hyper->value, "inferred");
    }
    sp_config_limit(config, &scope);
    struct shapeproof_prediction *prediction = sp_attempt_predict(attempt, config);
    shapeproof_config_free(config);
    return prediction;
}

static bool has_setting(const struct shapeproof_prediction *prediction, struct shapeproof_hyperparameter wanted)
{
    for (size_t i = 0; i < shapeproof_prediction_hyperparameter_count(prediction); i++) {
        const struct shapeproof_hyperparameter *hyper = shapeproof_prediction_hyperparameter(prediction, i);
        if (strcmp(hyper->name, wanted.name) == 0) return sp_values_equal(hyper->value, wanted.value);
    }
    return false;
}

static bool is_guessed(const struct sp_attempt *attempt, const char *name)
{
    const struct sp_fact *fact = sp_known_fact(&attempt->outline.solver.known, name);
    return fact && fact->reason.kind == SP_REASON_GUESS;
}

/* What was only assumed speaks neither for a table nor against it, but for a list: that took some trying. */
static bool is_assumed(const struct sp_attempt *attempt, struct shapeproof_hyperparameter hyper)
{
    return hyper.value.type != SHAPEPROOF_VALUE_LIST && is_guessed(attempt, hyper.name);
}

/* Whether the table would use this value if the key was not set, given the other values. */
static bool is_implied(struct sp_attempt *attempt, struct shapeproof_hyperparameter hyper)
{
    struct shapeproof_value value;
    return sp_default_in_table(&attempt->outline.solver, hyper.name, &value) && sp_values_equal(value, hyper.value);
}

size_t sp_attempt_settings(struct sp_attempt *attempt)
{
    const bool is_any = !attempt->name && is_guessed(attempt, "architecture");
    struct shapeproof_prediction *defaults = is_any ? NULL : predict_defaults(attempt);
    size_t settings = 0;
    for (size_t i = 0; defaults && i < shapeproof_prediction_hyperparameter_count(attempt->prediction); i++) {
        const struct shapeproof_hyperparameter hyper = *shapeproof_prediction_hyperparameter(attempt->prediction, i);
        settings += !is_assumed(attempt, hyper) && !has_setting(defaults, hyper) && !is_implied(attempt, hyper);
    }
    shapeproof_prediction_free(defaults);
    return settings;
}
