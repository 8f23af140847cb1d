/* SPDX-License-Identifier: MIT
 * The configuration of a Keras model: what is composed of it is a table, or there is an error. */
#include <stdint.h>
#include <stdlib.h>

#include "config/config.h"
#include "keras/model.h"
#include "shapeproof/shapeproof.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct shapeproof_error error = {0};
    struct shapeproof_value root;
    struct shapeproof_config *config = shapeproof_config_new();
    struct shapeproof_tables *tables = shapeproof_tables_new(&error);
    if (size < 1 << 20 && sp_value_parse_json(&config->arena, (const char *)data, size, &root, &error)) {
        sp_config_set_root(config, root);
        if (sp_keras_compose(tables, config, NULL, &error) == SHAPEPROOF_OK)
            shapeproof_prediction_free(shapeproof_predict(tables, config, NULL, &error));
    }
    shapeproof_tables_free(tables);
    shapeproof_config_free(config);
    return 0;
}
