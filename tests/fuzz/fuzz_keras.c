/* SPDX-License-Identifier: MIT
 * The configuration of a Keras model: what is composed of it is a table, or there is an error. */
#include "fuzz.h"

#include "mutate_json.h"

#include "config/config.h"
#include "keras/model.h"

/* MOST_TENSORS fit into FUZZ_MEMORY_FLOOR; the default is what 256 MiB hold. What exceeds the default limit of steps,
 * after ten seconds under sanitizers, exceeds this one at the same places. */
enum { MOST_TENSORS = 20000, MOST_STEPS = 4 * 1000 * 1000 };

static void compose(const unsigned char *data, size_t size)
{
    struct shapeproof_error error = {0};
    struct shapeproof_value root;
    struct shapeproof_tables *tables = fuzz_tables(NULL);
    struct shapeproof_config *config = shapeproof_config_new();
    if (sp_value_parse_json(&config->arena, (const char *)data, size, &root, &error)) {
        sp_config_set_root(config, root);
        if (sp_keras_compose(tables, config, NULL, &error) == SHAPEPROOF_OK) {
            const struct shapeproof_predict_options options = {.most_tensors = MOST_TENSORS};
            struct shapeproof_prediction *prediction = shapeproof_predict(tables, config, &options, &error);
            fuzz_must_have(prediction, &error);
            shapeproof_prediction_free(prediction);
        } else fuzz_must_refuse(&error);
    } else fuzz_must_refuse(&error);
    shapeproof_config_free(config);
}

static void fuzz_input(const unsigned char *data, size_t size)
{
    fuzz_limit(&(struct shapeproof_limits){.steps = MOST_STEPS});
    fuzz_tables(NULL);
    if (size < 1 << 20) fuzz_undone(compose, data, size);
}

JSON_MUTATOR(JSON_EVERY_TEXT)
