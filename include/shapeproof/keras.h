/* SPDX-License-Identifier: MIT
 * Keras: the configuration of a model lists its layers with their arguments, and so says what the model holds. A table
 * is composed of it. */
#ifndef SHAPEPROOF_KERAS_H
#define SHAPEPROOF_KERAS_H

#include <stdbool.h>

#include "shapeproof/api.h"
#include "shapeproof/config.h"
#include "shapeproof/inventory.h"
#include "shapeproof/table.h"

#ifdef __cplusplus
extern "C" {
#endif

/* When `config` was read from the configuration of a Keras model, or from no file at all and the checkpoint holds one:
 * adds the table keras_model to `tables`, with a line for each layer, and makes `config` that of the table, in which
 * the arguments of a layer stand under its name: "dense_1.units". Does nothing to any other configuration. `inventory`
 * says how the file calls the variables; NULL: as Keras does. Settings stay. SHAPEPROOF_ERR_UNKNOWN when the model is
 * no list of layers (a subclass, which only its own code knows), SHAPEPROOF_ERR_TABLE when the configuration cannot be
 * read. */
SHAPEPROOF_API enum shapeproof_status shapeproof_keras_compose(struct shapeproof_tables *tables,
                                                               struct shapeproof_config *config,
                                                               const struct shapeproof_inventory *inventory,
                                                               struct shapeproof_error *error);

struct shapeproof_keras_names; /* opaque */

/* What Keras calls the variables of a file that holds its configuration, or that another of the same model holds:
 * "dense_1/kernel", whether the file numbers them or has scopes around them. `other` may be NULL. NULL when neither
 * holds one, or the names are not known. Free with shapeproof_keras_names_free. */
SHAPEPROOF_API struct shapeproof_keras_names *shapeproof_keras_names_new(const struct shapeproof_inventory *inventory,
                                                                         const struct shapeproof_inventory *other);
/* A name for each tensor of the file, or NULL where there is none. Borrowed. */
SHAPEPROOF_API const char *const *shapeproof_keras_names_list(const struct shapeproof_keras_names *names);
SHAPEPROOF_API void shapeproof_keras_names_free(struct shapeproof_keras_names *names);

#ifdef __cplusplus
}
#endif
#endif
