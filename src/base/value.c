/* SPDX-License-Identifier: MIT */
#include "base/value.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/call.h"
#include "base/real.h"
#include "base/utf8.h"

const char *sp_value_kind(enum shapeproof_value_type type)
{
    static const char *const names[] = {"absent",        "null",     "unknown", "a truth value", "an integer",
                                        "a real number", "a string", "a list",  "an object"};
    return names[type];
}

/* The member whose key is the first `length` characters of `key`; the last one if it is repeated. */
static struct shapeproof_value member_named(struct shapeproof_value object, const char *key, size_t length)
{
    for (size_t i = object.type == SHAPEPROOF_VALUE_OBJECT ? object.count : 0; i-- > 0;)
        if (strncmp(object.members[i].key, key, length) == 0 && !object.members[i].key[length])
            return object.members[i].value;
    return sp_value_absent(key);
}

struct shapeproof_value sp_value_member(struct shapeproof_value object, const char *key)
{
    return member_named(object, key, strlen(key));
}

struct shapeproof_value sp_members_get(struct sp_members *members, struct shapeproof_value object, const char *key)
{
    enum { WIDE = 64 };
    if (object.type != SHAPEPROOF_VALUE_OBJECT || object.count < WIDE) return sp_value_member(object, key);
    if (members->items != object.members || members->count != object.count) {
        sp_members_free(members);
        for (size_t i = 0; i < object.count; i++) sp_map_set(&members->places, object.members[i].key, i);
        members->items = object.members;
        members->count = object.count;
    }
    const size_t member = sp_map_get(&members->places, key);
    return member == SIZE_MAX ? sp_value_absent(key) : object.members[member].value;
}

void sp_members_free(struct sp_members *members)
{
    sp_map_free(&members->places);
    *members = (struct sp_members){0};
}

struct shapeproof_value sp_value_at(struct shapeproof_value root, const char *path)
{
    for (const char *dot; (dot = strchr(path, '.')) != NULL; path = dot + 1)
        root = member_named(root, path, (size_t)(dot - path));
    return sp_value_member(root, path);
}

/* Writes a number with as few digits, from 15 on, as read back as the same number: 0.1, and 3.0 for a whole one. */
static void real_json(struct sp_text *text, double real)
{
    struct sp_real_text digits;
    int precision = 15;
    do digits = sp_real_text(real, precision);
    while (sp_real_read(digits.text, NULL) != real && precision++ < 17);
    if (!isfinite(real)) sp_text_puts(text, "null"); /* JSON has no word for it */
    else if (real == floor(real) && fabs(real) < 1e15) sp_text_printf(text, "%.0f.0", real);
    else sp_text_puts(text, digits.text);
}

static void list_json(struct sp_text *text, struct shapeproof_value value)
{
    sp_text_puts(text, "[");
    for (size_t i = 0; i < value.count; i++) {
        if (i) sp_text_puts(text, ", ");
        sp_value_json(text, value.items[i]);
    }
    sp_text_puts(text, "]");
}

static void object_json(struct sp_text *text, struct shapeproof_value value)
{
    sp_text_puts(text, "{");
    for (size_t i = 0; i < value.count; i++) {
        if (i) sp_text_puts(text, ", ");
        sp_text_json(text, value.members[i].key);
        sp_text_puts(text, ": ");
        sp_value_json(text, value.members[i].value);
    }
    sp_text_puts(text, "}");
}

void sp_value_json(struct sp_text *text, struct shapeproof_value value)
{
    switch (value.type) {
    case SHAPEPROOF_VALUE_ABSENT:
    case SHAPEPROOF_VALUE_NULL:
    case SHAPEPROOF_VALUE_UNKNOWN:
        sp_text_puts(text, "null");
        break;
    case SHAPEPROOF_VALUE_BOOL:
        sp_text_puts(text, value.boolean ? "true" : "false");
        break;
    case SHAPEPROOF_VALUE_INT:
        if (value.integer < 0) sp_text_printf(text, "%" PRId64, value.integer);
        else sp_text_number(text, (uint64_t)value.integer);
        break;
    case SHAPEPROOF_VALUE_REAL:
        real_json(text, value.real);
        break;
    case SHAPEPROOF_VALUE_STRING:
        sp_text_json(text, value.string);
        break;
    case SHAPEPROOF_VALUE_LIST:
        list_json(text, value);
        break;
    case SHAPEPROOF_VALUE_OBJECT:
        object_json(text, value);
        break;
    }
}

char *shapeproof_value_text(struct shapeproof_value value)
{
    SP_CALL(NULL, NULL);
    SP_SPENDS("writing the report");
    struct sp_text text = {0};
    sp_value_json(&text, value);
    return text.data;
}

const char *sp_value_words(struct sp_arena *arena, struct shapeproof_value value)
{
    struct sp_text text = {0};
    if (value.type == SHAPEPROOF_VALUE_REAL && !isfinite(value.real))
        return isnan(value.real) ? "NaN" : value.real < 0 ? "-Infinity" : "Infinity";
    sp_value_json(&text, value);
    return sp_text_keep(&text, arena);
}
