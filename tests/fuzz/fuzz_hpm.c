/* SPDX-License-Identifier: MIT
 * The bytes as a configuration of Sockeye recipes, lines of key=value with references to earlier keys. */
#include "fuzz.h"

static void fuzz_input(const unsigned char *data, size_t size)
{
    struct shapeproof_error error = {0};
    struct shapeproof_config *config = shapeproof_config_new();
    if (shapeproof_config_load_text(config, "input.hpm", (const char *)data, size, &error) != SHAPEPROOF_OK)
        fuzz_must_refuse(&error);
    shapeproof_config_free(config);
}
