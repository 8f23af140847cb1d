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
