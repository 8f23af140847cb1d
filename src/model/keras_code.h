/* SPDX-License-Identifier: MIT
 * Python code in the configuration of a Keras model. */
#ifndef SP_MODEL_KERAS_CODE_H
#define SP_MODEL_KERAS_CODE_H

#include "base/value.h"

/* `name`: what runs, "keras.layers.Lambda" or "os.system"; `where`: a sentence about the place, both of untrusted text
 * and only for the time of the call. */
typedef void sp_keras_code_found(void *to, const char *name, const char *where);

/* Reports whatever in a configuration (any part of what model.to_json() gives) runs code when Keras makes the model of
 * it, and is not Keras' own: Lambda layers, functions written as code, names in modules that Keras would import. */
void sp_keras_code_each(struct shapeproof_value root, sp_keras_code_found *found, void *to);

#endif
