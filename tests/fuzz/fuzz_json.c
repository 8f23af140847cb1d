/* SPDX-License-Identifier: MIT
 * The bytes as a configuration in JSON; what comes out of it can be written, and read again as the same. */
#include "fuzz.h"

#include "mutate_json.h"

#include "base/value.h"

static void read_again(struct sp_arena *arena, const struct sp_text *json)
{
    struct shapeproof_error error = {0};
    struct shapeproof_value value;
    struct sp_text again = {0};
    if (!sp_value_parse_json(arena, json->data, json->length, &value, &error)) abort();
    sp_value_json(&again, value);
    if (strcmp(json->data, again.data) != 0) abort();
    sp_text_free(&again);
}

static void fuzz_input(const unsigned char *data, size_t size)
{
    struct sp_arena arena = {0};
    struct shapeproof_error error = {0};
    struct shapeproof_value value;
    struct sp_text json = {0};
    if (sp_value_parse_json(&arena, (const char *)data, size, &value, &error)) {
        sp_value_json(&json, value);
        read_again(&arena, &json);
    } else if (error.status != SHAPEPROOF_ERR_TABLE || !error.message[0]) abort(); /* a refusal gives its reason */
    sp_text_free(&json);
    sp_arena_free(&arena);
}

JSON_MUTATOR(JSON_EVERY_TEXT)
