/* SPDX-License-Identifier: MIT
 * A configuration as the tables for a checkpoint read it, whatever it was read from. */
#include "base/error.h"
#include "config/inside.h"
#include "shapeproof/config.h"
#include "shapeproof/keras.h"

enum sp_status sp_config_fit(struct sp_config *config, struct sp_tables *tables, const char *table,
                             const struct sp_inventory *inventory, struct sp_error *error)
{
    sp_error_reset(error);
    if (!table && sp_keras_compose(tables, config, inventory, error) != SP_OK) return error->status;
    if (inventory && !sp_config_adopt(config, tables, inventory, error)) return error->status;
    return SP_OK;
}
