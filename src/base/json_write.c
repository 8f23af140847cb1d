/* SPDX-License-Identifier: MIT */
#include "base/json_write.h"

#include <assert.h>
#include <stdlib.h>

/* Whether the open container, or one around it, was opened with sp_write_open_line. */
static bool on_one_line(const struct sp_writer *json) { return json->line_depth && json->depth >= json->line_depth; }

/* Two blanks for each open container. */
static void new_line(struct sp_writer *json)
{
    sp_text_puts(json->text, "\n");
    sp_text_pad(json->text, 2 * json->depth);
}

/* The comma and the space in front of an element; nothing between a key and its value. */
static void before(struct sp_writer *json)
{
    if (json->after_key) {
        json->after_key = false;
        return;
    }
    if (json->filled) sp_text_puts(json->text, on_one_line(json) ? ", " : ",");
    if (json->depth && !on_one_line(json)) new_line(json);
    json->filled = true;
}

struct sp_writer sp_write_document(struct sp_text *text, const char *schema)
{
    struct sp_writer json = {.text = text};
    sp_write_open(&json, '{');
    sp_write_key_string(&json, "schema", schema);
    return json;
}

void sp_write_open(struct sp_writer *json, char bracket)
{
    assert(json->depth < SP_WRITER_LEVELS && (bracket == '{' || bracket == '['));
    before(json);
    sp_text_append(json->text, &bracket, 1);
    json->closing[json->depth++] = bracket == '{' ? '}' : ']';
    json->filled = false;
}

void sp_write_open_line(struct sp_writer *json, char bracket)
{
    sp_write_open(json, bracket);
    if (!json->line_depth) json->line_depth = json->depth;
}

void sp_write_close(struct sp_writer *json)
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

void sp_write_key(struct sp_writer *json, const char *key)
{
    before(json);
    sp_text_json(json->text, key);
    sp_text_puts(json->text, ": ");
    json->after_key = true;
}

void sp_write_string(struct sp_writer *json, const char *value)
{
    before(json);
    if (value) sp_text_json(json->text, value);
    else sp_text_puts(json->text, "null");
}

void sp_write_raw(struct sp_writer *json, const char *value)
{
    before(json);
    sp_text_puts(json->text, value);
}

void sp_write_number(struct sp_writer *json, uint64_t value)
{
    before(json);
    sp_text_number(json->text, value);
}

void sp_write_key_value(struct sp_writer *json, const char *key, struct shapeproof_value value)
{
    char *text = shapeproof_value_text(value);
    sp_write_key(json, key);
    sp_write_raw(json, text);
    sp_free(text);
}

void sp_write_bool(struct sp_writer *json, bool value) { sp_write_raw(json, value ? "true" : "false"); }
void sp_write_null(struct sp_writer *json) { sp_write_raw(json, "null"); }

void sp_write_key_open(struct sp_writer *json, const char *key, char bracket)
{
    sp_write_key(json, key);
    sp_write_open(json, bracket);
}

void sp_write_key_open_line(struct sp_writer *json, const char *key, char bracket)
{
    sp_write_key(json, key);
    sp_write_open_line(json, bracket);
}

void sp_write_key_string(struct sp_writer *json, const char *key, const char *value)
{
    sp_write_key(json, key);
    sp_write_string(json, value);
}

void sp_write_key_number(struct sp_writer *json, const char *key, uint64_t value)
{
    sp_write_key(json, key);
    sp_write_number(json, value);
}

void sp_write_key_bool(struct sp_writer *json, const char *key, bool value)
{
    sp_write_key(json, key);
    sp_write_bool(json, value);
}

void sp_write_key_numbers(struct sp_writer *json, const char *key, const uint64_t *values, size_t count)
{
    sp_write_key_open_line(json, key, '[');
    for (size_t i = 0; i < count; i++) sp_write_number(json, values[i]);
    sp_write_close(json);
}

void sp_write_key_optional(struct sp_writer *json, const char *key, const char *value)
{
    if (value) sp_write_key_string(json, key, value);
}

void sp_write_key_filled(struct sp_writer *json, const char *key, const char *value)
{
    if (value && *value) sp_write_key_string(json, key, value);
}
