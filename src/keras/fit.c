/* SPDX-License-Identifier: MIT
 * A configuration as the tables for a checkpoint read it, whatever it was read from. */
#include "base/call.h"
#include "base/error.h"
#include "config/config.h"
#include "config/inside.h"
#include "keras/model.h"
#include "shapeproof/config.h"
#include "shapeproof/keras.h"

enum shapeproof_status shapeproof_config_fit(struct shapeproof_config *config, struct shapeproof_tables *tables,
                                             const char *table, const struct shapeproof_inventory *inventory,
                                             struct shapeproof_error *error)
{
    SP_CALL(error, SHAPEPROOF_ERR_FILE);
    SP_SPENDS("reading the configuration");
    sp_config_keep(config);
    sp_error_reset(error);
    if (!table && sp_keras_compose(tables, config, inventory, error) != SHAPEPROOF_OK) return error->status;
    if (inventory && !sp_config_adopt(config, tables, inventory, error)) return error->status;
    if (inventory && !*config->path && !config->model) sp_config_take_program(config, inventory);
    return SHAPEPROOF_OK;
}
