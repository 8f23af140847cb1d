/* SPDX-License-Identifier: MIT
 * The configuration of a Keras model: what is composed of it is a table, or there is an error. */
#include <stdint.h>
#include <stdlib.h>

#include "config/config.h"
#include "shapeproof/shapeproof.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct sp_error error = {0};
    struct sp_value root;
    struct sp_config *config = sp_config_new();
    struct sp_tables *tables = sp_tables_new(&error);
    if (size < 1 << 20 && sp_value_parse_json(&config->arena, (const char *)data, size, &root, &error)) {
        sp_config_set_root(config, root);
        if (sp_keras_compose(tables, config, NULL, &error) == SP_OK)
            sp_prediction_free(sp_predict(tables, config, NULL, &error));
    }
    sp_tables_free(tables);
    sp_config_free(config);
    return 0;
}
