/* SPDX-License-Identifier: MIT
 * The bytes as a configuration in YAML; what comes out of it can be written. */
#include "fuzz.h"

#include "config/yaml.h"

static void fuzz_input(const unsigned char *data, size_t size)
{
    struct sp_arena arena = {0};
    struct shapeproof_error error = {0};
    struct shapeproof_value value;
    struct sp_text json = {0};
    if (sp_yaml_parse(&arena, (const char *)data, size, &value, NULL, &error)) sp_value_json(&json, value);
    else if (error.status != SHAPEPROOF_ERR_TABLE || !error.message[0]) abort(); /* a refusal gives its reason */
    sp_text_free(&json);
    sp_arena_free(&arena);
}
