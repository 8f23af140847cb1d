/* SPDX-License-Identifier: MIT
 * From a JSON text to a value, in one walk of the strict scanner: what Python's json.loads gives, but that a NUL in a
 * string is refused, since no string here can hold one. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_scan.h"
#include "base/map.h"
#include "base/utf8.h"
#include "base/value.h"

enum {
    MAX_LEVELS = 1000, /* lists and objects in one another: less than Python's own limit, and bounds the recursion */
    FEW_MEMBERS = 16   /* up to here keys are compared one by one, beyond that through a map */
};

struct tree {
    struct sp_arena *arena;
    struct sp_json json;
    unsigned level;
    const char *why; /* the mistake, where it is another than the scanner's */
    struct sp_json_repeats *repeats;
};

static bool take_value(struct tree *tree, struct sp_value *value);

/* ---- scalars ---- */

/* Python writes Infinity and NaN, for which JSON has no words. */
static bool take_python_word(struct tree *tree, struct sp_value *value)
{
    static const struct {
        const char *word;
        double number;
    } words[] = {{"Infinity", HUGE_VAL}, {"-Infinity", -HUGE_VAL}, {"NaN", NAN}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        const size_t length = strlen(words[i].word);
        if (tree->json.length - tree->json.offset < length ||
            memcmp(tree->json.text + tree->json.offset, words[i].word, length) != 0)
            continue;
        tree->json.offset += length;
        *value =
            isnan(words[i].number) ? (struct sp_value){.type = SP_NULL, .string = ""} : sp_value_real(words[i].number);
        return true;
    }
    return false;
}

/* A whole number of 64 bits from its digits, exactly; others are the nearest double, and whole ones below 2^53, such as
 * 1e3, integers. */
static struct sp_value number_of(struct tree *tree, const char *digits, size_t length)
{
    char few[64], *end, *text = few;
    if (length < sizeof few) {
        memcpy(few, digits, length);
        few[length] = '\0';
    } else text = sp_arena_copy(tree->arena, digits, length);
    errno = 0;
    const long long whole = strtoll(text, &end, 10);
    if (!*end && !errno) return sp_value_int(whole);
    const double number = strtod(text, NULL);
    if (number == floor(number) && fabs(number) < 9007199254740992.0) return sp_value_int((int64_t)number);
    return sp_value_real(number);
}

static bool take_scalar(struct tree *tree, struct sp_value *value)
{
    size_t length;
    if (sp_json_peek(&tree->json) == '"') {
        const char *text = sp_json_string(&tree->json);
        if (text) *value = sp_value_string(sp_arena_copy(tree->arena, text, tree->json.string_length));
        return text != NULL;
    }
    if (take_python_word(tree, value)) return true;
    const char *text = sp_json_skip(&tree->json, &length);
    if (!text) return false;
    if (*text == 't' || *text == 'f') *value = sp_value_bool(*text == 't');
    else if (*text == 'n') *value = (struct sp_value){.type = SP_NULL, .string = ""};
    else *value = number_of(tree, text, length);
    return true;
}

/* ---- lists and objects ---- */

static bool take_list(struct tree *tree, struct sp_value *value)
{
    SP_ARRAY(struct sp_value) items = {0};
    bool ok = sp_json_open(&tree->json, '[');
    for (bool first = true; ok && sp_json_item(&tree->json, &first);) {
        struct sp_value item;
        ok = take_value(tree, &item);
        if (ok) *SP_PUSH(&items) = item;
    }
    *value = (struct sp_value){.type = SP_LIST, .count = items.count};
    struct sp_value *kept = sp_arena_array(tree->arena, items.count, sizeof *kept);
    if (items.count) memcpy(kept, items.items, items.count * sizeof *kept);
    value->items = kept;
    free(items.items);
    return ok && sp_json_ok(&tree->json);
}

typedef SP_ARRAY(struct sp_member) members_of_object;

/* The member that has this key already, or `count`. */
static size_t find_member(const members_of_object *members, struct sp_map *map, const char *key)
{
    if (members->count > FEW_MEMBERS) {
        for (size_t i = map->count; i < members->count; i++) sp_map_add(map, members->items[i].key, i);
        const size_t known = sp_map_get(map, key);
        return known == SIZE_MAX ? members->count : known;
    }
    for (size_t i = 0; i < members->count; i++)
        if (strcmp(members->items[i].key, key) == 0) return i;
    return members->count;
}

/* A key that comes again replaces the value and keeps the place, as in Python. */
static bool take_object(struct tree *tree, struct sp_value *value)
{
    members_of_object members = {0};
    struct sp_map map = {0};
    const char *key;
    bool ok = sp_json_open(&tree->json, '{');
    for (bool first = true; ok && (key = sp_json_member(&tree->json, &first));) {
        struct sp_member member = {.key = sp_arena_copy(tree->arena, key, tree->json.string_length)};
        ok = take_value(tree, &member.value);
        if (!ok) break;
        const size_t place = find_member(&members, &map, member.key);
        if (place == members.count) *SP_PUSH(&members) = member;
        else {
            members.items[place].value = member.value;
            if (tree->repeats && !tree->repeats->count++) tree->repeats->first = member.key;
        }
    }
    *value = (struct sp_value){.type = SP_OBJECT, .count = members.count};
    struct sp_member *kept = sp_arena_array(tree->arena, members.count, sizeof *kept);
    if (members.count) memcpy(kept, members.items, members.count * sizeof *kept);
    value->members = kept;
    sp_map_free(&map);
    free(members.items);
    return ok && sp_json_ok(&tree->json);
}

static bool take_value(struct tree *tree, struct sp_value *value)
{
    const char c = sp_json_peek(&tree->json);
    if (c != '{' && c != '[') return take_scalar(tree, value);
    if (tree->level == MAX_LEVELS) {
        tree->why = "nested deeper than 1000 levels";
        return false;
    }
    tree->level++;
    const bool ok = c == '{' ? take_object(tree, value) : take_list(tree, value);
    tree->level--;
    return ok;
}

/* ---- the text ---- */

static bool bad_json(const char *json, size_t offset, const char *why, struct sp_error *error)
{
    size_t line = 1, column = 1;
    for (size_t i = 0; i < offset; i++) {
        if (((unsigned char)json[i] & 0xc0) != 0x80) column++; /* a character, not a byte of one */
        if (json[i] == '\n') column = 1;
        line += json[i] == '\n';
    }
    return sp_fail(error, SP_ERR_TABLE, SP_KIND_MALFORMED, "line %zu, column %zu: %s", line, column, why);
}

/* What is wrong at the place where the scanner stopped. */
static const char *reason(const struct tree *tree, const char *json)
{
    const size_t offset = tree->json.offset, left = tree->json.length - offset;
    if (tree->why) return tree->why;
    if (left >= 6 && memcmp(json + offset, "\\u0000", 6) == 0) return "a NUL in a string, which would cut it";
    return "not JSON";
}

bool sp_value_parse_json_noting(struct sp_arena *arena, const char *json, size_t length, struct sp_value *value,
                                struct sp_json_repeats *repeats, struct sp_error *error)
{
    struct sp_error why = {0};
    const size_t valid = sp_utf8_check(json, length);
    if (valid < length) return bad_json(json, valid, "not JSON", error);
    struct sp_text copy = {0}; /* which the scanner decodes in place */
    sp_text_append(&copy, json, length);
    struct tree tree = {.arena = arena, .repeats = repeats};
    tree.json = (struct sp_json){.what = "", .text = copy.data, .length = length, .error = &why};
    if (length >= 3 && memcmp(json, "\xef\xbb\xbf", 3) == 0) tree.json.offset = 3; /* a byte-order mark */
    const bool ok = take_value(&tree, value) && sp_json_end(&tree.json);
    if (!ok) bad_json(json, tree.json.offset, reason(&tree, json), error);
    sp_text_free(&copy);
    return ok;
}

bool sp_value_parse_json(struct sp_arena *arena, const char *json, size_t length, struct sp_value *value,
                         struct sp_error *error)
{
    return sp_value_parse_json_noting(arena, json, length, value, NULL, error);
}
