/* SPDX-License-Identifier: MIT
 * Configurations that contradict themselves, and so give no prediction: the file may tell which part of them is right.
 * Vocabularies that are one and have two sizes: all is predicted but the tie. Two names for the model: the one is
 * predicted, then the other. A table that the user names, for a model of another class: the class is left out. */
#include "explain/contradiction.h"

#include "lang/prediction.h"

/* ---- ties of different shapes ---- */

static struct shapeproof_prediction *predict_loosely(struct shapeproof_check *check)
{
    struct shapeproof_error error = {0};
    struct shapeproof_config *config = sp_config_variant(check->config);
    sp_config_loosen(config);
    struct shapeproof_prediction *prediction = shapeproof_predict(
        check->tables, config, &(struct shapeproof_predict_options){.table = check->table_name}, &error);
    if (prediction) {
        check->config = check->own_config = config;
        return prediction;
    }
    shapeproof_config_free(config);
    return NULL;
}

/* ---- two models ---- */

/* One of the two names left out. */
struct reading {
    struct shapeproof_config *config;
    struct shapeproof_prediction *prediction;
    size_t errors; /* of the file, under it */
};

static struct reading read_with(const struct shapeproof_check *check, const char *key, struct shapeproof_value value)
{
    struct shapeproof_error error = {0};
    struct reading reading = {.config = sp_config_variant(check->config), .errors = SIZE_MAX};
    sp_config_set_value(reading.config, key, value, "the other");
    reading.prediction = shapeproof_predict(check->tables, reading.config,
                                            &(struct shapeproof_predict_options){.table = check->table_name}, &error);
    if (reading.prediction) reading.errors = sp_match_best_errors(check->inventory, reading.prediction, NULL);
    return reading;
}

static void free_reading(struct reading *reading)
{
    shapeproof_prediction_free(reading->prediction);
    shapeproof_config_free(reading->config);
    *reading = (struct reading){.config = NULL};
}

/* Where both are as good it is the model_type, by which most loaders go. */
static struct shapeproof_prediction *predict_either(struct shapeproof_check *check)
{
    struct sp_two_models two;
    if (!sp_chooses_two(check->tables, sp_config_hyper(check->config), &two)) return NULL;
    struct reading by_type =
        read_with(check, "architectures", (struct shapeproof_value){.type = SHAPEPROOF_VALUE_NULL});
    struct reading by_class = read_with(check, "model_type", sp_value_string(two.class_type));
    const bool class_wins = by_class.errors < by_type.errors, as_good = by_class.errors == by_type.errors;
    struct reading *best = class_wins ? &by_class : &by_type;
    free_reading(class_wins ? &by_type : &by_class);
    if (!best->prediction) {
        free_reading(best);
        return NULL;
    }
    check->config = check->own_config = best->config;
    check->contradiction = (struct sp_contradiction){two, class_wins, as_good, best->errors, NULL};
    return best->prediction;
}

/* Under a table that the user names, a class that it does not have says nothing. */
static struct shapeproof_prediction *predict_without_class(struct shapeproof_check *check)
{
    struct sp_two_models two;
    sp_chooses_two(check->tables, sp_config_hyper(check->config), &two);
    if (!*two.model_type || !*two.class) return NULL;
    struct reading reading =
        read_with(check, "architectures", (struct shapeproof_value){.type = SHAPEPROOF_VALUE_NULL});
    if (!reading.prediction) {
        free_reading(&reading);
        return NULL;
    }
    check->config = check->own_config = reading.config;
    check->contradiction.left_out = two.class;
    return reading.prediction;
}

struct shapeproof_prediction *sp_predict_subject(struct shapeproof_check *check, struct shapeproof_error *error)
{
    const struct shapeproof_predict_options chosen = {.table = check->table_name};
    struct shapeproof_prediction *prediction = shapeproof_predict(check->tables, check->config, &chosen, error);
    if (prediction) return prediction;
    if (error->status == SHAPEPROOF_ERR_TABLE) prediction = predict_loosely(check);
    if (error->status == SHAPEPROOF_ERR_UNKNOWN)
        prediction = check->table_name ? predict_without_class(check) : predict_either(check);
    if (prediction) sp_error_reset(error);
    return prediction;
}
