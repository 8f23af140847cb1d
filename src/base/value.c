/* SPDX-License-Identifier: MIT */
#include "base/value.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"

const char *sp_value_kind(enum sp_value_type type)
{
    static const char *const names[] = {"absent",        "null",   "unknown", "a truth value", "an integer",
                                        "a real number", "a text", "a list",  "an object"};
    return names[type];
}

/* Of the key of that length, which need not end there. */
static struct sp_value member_named(struct sp_value object, const char *key, size_t length)
{
    for (size_t i = object.type == SP_OBJECT ? object.count : 0; i-- > 0;)
        if (strncmp(object.members[i].key, key, length) == 0 && !object.members[i].key[length])
            return object.members[i].value;
    return sp_value_absent(key);
}

struct sp_value sp_value_member(struct sp_value object, const char *key)
{
    return member_named(object, key, strlen(key));
}

struct sp_value sp_value_at(struct sp_value root, const char *path)
{
    for (const char *dot; (dot = strchr(path, '.')) != NULL; path = dot + 1)
        root = member_named(root, path, (size_t)(dot - path));
    return sp_value_member(root, path);
}

/* The fewest digits that read back as the same number. */
static void real_json(struct sp_text *text, double real)
{
    char digits[32];
    int precision = 15;
    do snprintf(digits, sizeof digits, "%.*g", precision, real);
    while (strtod(digits, NULL) != real && precision++ < 17);
    if (!isfinite(real)) sp_text_puts(text, "null"); /* JSON has no word for it */
    else if (real == floor(real) && fabs(real) < 1e15) sp_text_printf(text, "%.1f", real);
    else sp_text_puts(text, digits);
}

static void list_json(struct sp_text *text, struct sp_value value)
{
    sp_text_puts(text, "[");
    for (size_t i = 0; i < value.count; i++) {
        if (i) sp_text_puts(text, ", ");
        sp_value_json(text, value.items[i]);
    }
    sp_text_puts(text, "]");
}

static void object_json(struct sp_text *text, struct sp_value value)
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

void sp_value_json(struct sp_text *text, struct sp_value value)
{
    switch (value.type) {
    case SP_ABSENT:
    case SP_NULL:
    case SP_UNKNOWN:
        sp_text_puts(text, "null");
        break;
    case SP_BOOL:
        sp_text_puts(text, value.boolean ? "true" : "false");
        break;
    case SP_INT:
        sp_text_printf(text, "%" PRId64, value.integer);
        break;
    case SP_REAL:
        real_json(text, value.real);
        break;
    case SP_STRING:
        sp_text_json(text, value.string);
        break;
    case SP_LIST:
        list_json(text, value);
        break;
    case SP_OBJECT:
        object_json(text, value);
        break;
    }
}

char *sp_value_text(struct sp_value value)
{
    struct sp_text text = {0};
    sp_value_json(&text, value);
    return text.data;
}

const char *sp_value_words(struct sp_arena *arena, struct sp_value value)
{
    struct sp_text text = {0};
    sp_value_json(&text, value);
    return sp_text_keep(&text, arena);
}

/* ---- from cJSON, whose own nesting limit (1000) bounds the recursion ---- */

/* cJSON keeps a number as a double, which whole numbers from 2^53 up do not fit. So each is read once more from its
 * digits: the nodes of the tree, children after one another, come in the order of the text. */
struct tree {
    struct sp_arena *arena;
    const char *text; /* what follows the number that was taken last; '\0' ends it */
};

static const char *after_string(const char *quote)
{
    const char *at = quote + 1;
    while (*at && *at != '"') at += *at == '\\' && at[1] ? 2 : 1;
    return *at ? at + 1 : at;
}

/* Where the next number begins, which is taken. */
static const char *take_json_number(struct tree *tree)
{
    const char *at = tree->text;
    while (*at && !strchr("-0123456789", *at)) at = *at == '"' ? after_string(at) : at + 1;
    tree->text = at + strspn(at, "+-.0123456789Ee");
    return at;
}

static struct sp_value from_number(struct tree *tree, const cJSON *node)
{
    const char *digits = take_json_number(tree);
    char *end;
    errno = 0;
    const long long whole = strtoll(digits, &end, 10);
    if (end == tree->text && !errno) return sp_value_int(whole);
    const double number = node->valuedouble;
    if (number == floor(number) && fabs(number) < 9007199254740992.0) return sp_value_int((int64_t)number);
    return sp_value_real(number);
}

static struct sp_value from_node(struct tree *tree, const cJSON *node);

static struct sp_value from_list(struct tree *tree, const cJSON *node)
{
    const size_t count = (size_t)cJSON_GetArraySize(node);
    struct sp_value *items = sp_arena_array(tree->arena, count, sizeof *items);
    size_t i = 0;
    for (const cJSON *child = node->child; child; child = child->next) items[i++] = from_node(tree, child);
    return (struct sp_value){.type = SP_LIST, .count = count, .items = items};
}

static struct sp_value from_object(struct tree *tree, const cJSON *node)
{
    const size_t count = (size_t)cJSON_GetArraySize(node);
    struct sp_member *members = sp_arena_array(tree->arena, count, sizeof *members);
    size_t i = 0;
    for (const cJSON *child = node->child; child; child = child->next)
        members[i++] = (struct sp_member){sp_arena_string(tree->arena, child->string), from_node(tree, child)};
    return (struct sp_value){.type = SP_OBJECT, .count = count, .members = members};
}

static struct sp_value from_node(struct tree *tree, const cJSON *node)
{
    if (cJSON_IsBool(node)) return sp_value_bool(cJSON_IsTrue(node));
    if (cJSON_IsNumber(node)) return from_number(tree, node);
    if (cJSON_IsString(node)) return sp_value_string(sp_arena_string(tree->arena, node->valuestring));
    if (cJSON_IsArray(node)) return from_list(tree, node);
    if (cJSON_IsObject(node)) return from_object(tree, node);
    return (struct sp_value){.type = SP_NULL, .string = ""};
}

static bool bad_json(const char *json, size_t offset, struct sp_error *error)
{
    size_t line = 1, column = 1;
    for (size_t i = 0; i < offset; i++) {
        if (((unsigned char)json[i] & 0xc0) != 0x80) column++; /* a character, not a byte of one */
        if (json[i] == '\n') column = 1;
        line += json[i] == '\n';
    }
    return sp_fail(error, SP_ERR_TABLE, SP_KIND_MALFORMED, "line %zu, column %zu: not JSON", line, column);
}

/* Python writes Infinity and NaN, for which JSON has no words: they become a number beyond all doubles, and null. As
 * long as what they replace, so that a mistake behind them is found at its place. */
static void replace_python_words(char *json, size_t length)
{
    bool quoted = false;
    for (size_t i = 0; i < length; i++) {
        if (quoted && json[i] == '\\') i++;
        else if (json[i] == '"') quoted = !quoted;
        else if (quoted) continue;
        else if (length - i >= 8 && memcmp(json + i, "Infinity", 8) == 0) memcpy(json + i, "1e9999  ", 8);
        else if (i && json[i - 1] == ' ' && length - i >= 3 && memcmp(json + i, "NaN", 3) == 0)
            memcpy(json + i - 1, "null", 4);
    }
}

bool sp_value_parse_json(struct sp_arena *arena, const char *json, size_t length, struct sp_value *value,
                         struct sp_error *error)
{
    const char *end = NULL;
    const size_t valid = sp_utf8_check(json, length);
    if (valid < length) return bad_json(json, valid, error);
    struct sp_text copy = {0};
    sp_text_append(&copy, json, length);
    replace_python_words(copy.data, length);
    cJSON *node = cJSON_ParseWithLengthOpts(copy.data, length, &end, 0);
    size_t rest = end ? (size_t)(end - copy.data) : 0;
    while (node && rest < length && strchr(" \t\r\n", json[rest]) && json[rest]) rest++;
    const bool good = node && rest == length;
    if (good) *value = from_node(&(struct tree){arena, copy.data}, node);
    sp_text_free(&copy);
    cJSON_Delete(node);
    return good ? true : bad_json(json, rest, error);
}
