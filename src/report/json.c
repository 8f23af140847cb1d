/* SPDX-License-Identifier: MIT */
#include "report/json.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>

static bool on_one_line(const struct sp_json *json) { return json->line_depth && json->depth >= json->line_depth; }

static void new_line(struct sp_json *json)
{
    sp_text_puts(json->text, "\n");
    sp_text_pad(json->text, 2 * json->depth);
}

/* The comma and the space in front of an element; nothing between a key and its value. */
static void before(struct sp_json *json)
{
    if (json->after_key) {
        json->after_key = false;
        return;
    }
    if (json->filled) sp_text_puts(json->text, on_one_line(json) ? ", " : ",");
    if (json->depth && !on_one_line(json)) new_line(json);
    json->filled = true;
}

void sp_json_open(struct sp_json *json, char bracket)
{
    assert(json->depth < SP_JSON_DEPTH && (bracket == '{' || bracket == '['));
    before(json);
    sp_text_append(json->text, &bracket, 1);
    json->closing[json->depth++] = bracket == '{' ? '}' : ']';
    json->filled = false;
}

void sp_json_open_line(struct sp_json *json, char bracket)
{
    sp_json_open(json, bracket);
    if (!json->line_depth) json->line_depth = json->depth;
}

void sp_json_close(struct sp_json *json)
{
    assert(json->depth && !json->after_key);
    const bool one_line = on_one_line(json);
    if (json->line_depth == json->depth) json->line_depth = 0;
    json->depth--;
    if (json->filled && !one_line) new_line(json);
    sp_text_append(json->text, &json->closing[json->depth], 1);
    json->filled = true;
    if (!json->depth) sp_text_puts(json->text, "\n");
}

void sp_json_key(struct sp_json *json, const char *key)
{
    before(json);
    sp_text_json(json->text, key);
    sp_text_puts(json->text, ": ");
    json->after_key = true;
}

void sp_json_string(struct sp_json *json, const char *value)
{
    before(json);
    if (value) sp_text_json(json->text, value);
    else sp_text_puts(json->text, "null");
}

void sp_json_raw(struct sp_json *json, const char *value)
{
    before(json);
    sp_text_puts(json->text, value);
}

void sp_json_number(struct sp_json *json, uint64_t value)
{
    char digits[24];
    snprintf(digits, sizeof digits, "%" PRIu64, value);
    sp_json_raw(json, digits);
}

void sp_json_bool(struct sp_json *json, bool value) { sp_json_raw(json, value ? "true" : "false"); }
void sp_json_null(struct sp_json *json) { sp_json_raw(json, "null"); }

void sp_json_numbers(struct sp_json *json, const uint64_t *values, size_t count)
{
    sp_json_open_line(json, '[');
    for (size_t i = 0; i < count; i++) sp_json_number(json, values[i]);
    sp_json_close(json);
}
