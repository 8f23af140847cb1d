/* SPDX-License-Identifier: MIT
 * A configuration out of settings, as the command line gives them: config_of(SETTINGS("n_layer=2", "n_embd=16")). */
#ifndef TESTS_PROVE_SETTINGS_H
#define TESTS_PROVE_SETTINGS_H

#include "shapeproof/config.h"

static inline struct shapeproof_config *config_of(const char *const *settings)
{
    struct shapeproof_error error = {0};
    struct shapeproof_config *config = shapeproof_config_new();
    for (; *settings; settings++) assert_int_equal(shapeproof_config_set(config, *settings, &error), SHAPEPROOF_OK);
    return config;
}
#define SETTINGS(...) ((const char *const[]){__VA_ARGS__, NULL})

#endif
