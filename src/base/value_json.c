/* SPDX-License-Identifier: MIT
 * From a JSON text to a value: what Python's json.loads gives, but that a NUL in a string is refused, since no string
 * here can hold one. The strict scanner walks the text once, so that whatever is not JSON is refused at its place, and
 * notes the numbers, which a double would round. Then cJSON builds the tree, and the tree becomes the value. */
#include <cjson/cJSON.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/call.h"
#include "base/fault.h"
#include "base/json_scan.h"
#include "base/map.h"
#include "base/real.h"
#include "base/utf8.h"
#include "base/value.h"

enum {
    MAX_LEVELS = 1000, /* lists and objects in one another, as cJSON has it; it bounds the recursion */
    FEW_MEMBERS = 16   /* up to here keys are compared one by one, beyond that through a map */
};

/* ---- the walk ---- */

struct walk {
    struct sp_json json; /* the scanner, with a copy of the text in which it decodes strings */
    char *text;          /* the copy for cJSON, in which a 0 replaces each of Python's words */
    unsigned level;
    const char *why;                           /* the mistake, where it is another than the scanner's */
    SP_ARRAY(struct shapeproof_value) numbers; /* in the order of the text */
};

/* Moves past Infinity, -Infinity or NaN, which Python writes and JSON does not have; false when none of them is here.
 * For cJSON the word is replaced by a 0 and blanks; the value that is noted for it is an infinity, or null for NaN. */
static bool take_python_word(struct walk *walk)
{
    static const struct {
        const char *word;
        double number;
    } words[] = {{"Infinity", HUGE_VAL}, {"-Infinity", -HUGE_VAL}, {"NaN", NAN}};
    const size_t offset = walk->json.offset;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        const size_t length = strlen(words[i].word);
        if (walk->json.length - offset < length || memcmp(walk->json.text + offset, words[i].word, length) != 0)
            continue;
        memset(walk->text + offset, ' ', length);
        walk->text[offset] = '0';
        walk->json.offset += length;
        *SP_PUSH(&walk->numbers) = isnan(words[i].number)
                                       ? (struct shapeproof_value){.type = SHAPEPROOF_VALUE_NULL, .string = ""}
                                       : sp_value_real(words[i].number);
        return true;
    }
    return false;
}

/* The value of a number: an integer if it is written as one of 64 bits, or is whole and below 2^53, such as 1e3;
 * otherwise the nearest double. */
static struct shapeproof_value number_of(const char *digits, size_t length)
{
    static const double first_inexact = 9007199254740992.0; /* 2^53: from here on not every whole number is a double */
    char *end;
    errno = 0;
    const long long whole = strtoll(digits, &end, 10);
    if (end == digits + length && !errno) return sp_value_int(whole);
    const double number = sp_real_read(digits, NULL);
    if (number == floor(number) && fabs(number) < first_inexact) return sp_value_int((int64_t)number);
    return sp_value_real(number);
}

static bool walk_value(struct walk *walk);

/* A string, a word or a number; numbers are noted. */
static bool walk_scalar(struct walk *walk)
{
    size_t length;
    if (sp_json_peek(&walk->json) == '"') return sp_json_string(&walk->json) != NULL;
    if (take_python_word(walk)) return true;
    const char *text = sp_json_skip(&walk->json, &length);
    if (text && !strchr("tfn", *text)) *SP_PUSH(&walk->numbers) = number_of(text, length);
    return text != NULL;
}

static bool walk_list(struct walk *walk)
{
    bool ok = sp_json_open(&walk->json, '[');
    for (bool first = true; ok && sp_json_item(&walk->json, &first);) ok = walk_value(walk);
    return ok && sp_json_ok(&walk->json);
}

static bool walk_object(struct walk *walk)
{
    bool ok = sp_json_open(&walk->json, '{');
    for (bool first = true; ok && sp_json_member(&walk->json, &first);) ok = walk_value(walk);
    return ok && sp_json_ok(&walk->json);
}

/* False for what is not JSON; the offset of the scanner is where. */
static bool walk_value(struct walk *walk)
{
    const char c = sp_json_peek(&walk->json);
    if (c != '{' && c != '[') return walk_scalar(walk);
    if (walk->level == MAX_LEVELS) {
        walk->why = "nested deeper than 1000 levels";
        return false;
    }
    walk->level++;
    const bool ok = c == '{' ? walk_object(walk) : walk_list(walk);
    walk->level--;
    return ok;
}

/* ---- the tree ---- */

struct tree {
    struct sp_arena *arena;
    const struct shapeproof_value *numbers; /* those that were not taken yet: the nodes come in the order of the text */
    struct sp_json_repeats *repeats;
};

static struct shapeproof_value from_node(struct tree *tree, const cJSON *node);

static struct shapeproof_value from_list(struct tree *tree, const cJSON *node)
{
    const size_t count = (size_t)cJSON_GetArraySize(node);
    struct shapeproof_value *items = sp_arena_array(tree->arena, count, sizeof *items);
    size_t i = 0;
    for (const cJSON *child = node->child; child; child = child->next) items[i++] = from_node(tree, child);
    return (struct shapeproof_value){.type = SHAPEPROOF_VALUE_LIST, .count = count, .items = items};
}

/* The member that has this key already, or `count`. The map is filled when there are more than a few. */
static size_t find_member(const struct shapeproof_member *members, size_t count, struct sp_map *map, const char *key)
{
    if (count > FEW_MEMBERS) {
        for (size_t i = map->count; i < count; i++) sp_map_add(map, members[i].key, i);
        const size_t known = sp_map_get(map, key);
        return known == SIZE_MAX ? count : known;
    }
    for (size_t i = 0; i < count; i++)
        if (strcmp(members[i].key, key) == 0) return i;
    return count;
}

/* A key that comes again replaces the value and keeps the place, as in Python. */
static struct shapeproof_value from_object(struct tree *tree, const cJSON *node)
{
    struct shapeproof_member *members = sp_arena_array(tree->arena, (size_t)cJSON_GetArraySize(node), sizeof *members);
    struct sp_map map = {0};
    size_t count = 0;
    for (const cJSON *child = node->child; child; child = child->next) {
        const struct shapeproof_member member = {sp_arena_string(tree->arena, child->string), from_node(tree, child)};
        const size_t place = find_member(members, count, &map, member.key);
        if (place == count) members[count++] = member;
        else {
            members[place].value = member.value;
            if (tree->repeats && !tree->repeats->count++) tree->repeats->first = member.key;
        }
    }
    sp_map_free(&map);
    return (struct shapeproof_value){.type = SHAPEPROOF_VALUE_OBJECT, .count = count, .members = members};
}

static struct shapeproof_value from_node(struct tree *tree, const cJSON *node)
{
    if (cJSON_IsBool(node)) return sp_value_bool(cJSON_IsTrue(node));
    if (cJSON_IsNumber(node)) return *tree->numbers++;
    if (cJSON_IsString(node)) return sp_value_string(sp_arena_string(tree->arena, node->valuestring));
    if (cJSON_IsArray(node)) return from_list(tree, node);
    if (cJSON_IsObject(node)) return from_object(tree, node);
    return (struct shapeproof_value){.type = SHAPEPROOF_VALUE_NULL, .string = ""};
}

/* ---- the text ---- */

/* Fails with the line and the column of an offset. */
static bool bad_json(const char *json, size_t offset, const char *why, struct shapeproof_error *error)
{
    size_t line = 1, column = 1;
    for (size_t i = 0; i < offset; i++) {
        if (((unsigned char)json[i] & 0xc0) != 0x80) column++; /* a character, not a byte of one */
        if (json[i] == '\n') column = 1;
        line += json[i] == '\n';
    }
    return sp_fail(error, SHAPEPROOF_ERR_TABLE, SHAPEPROOF_KIND_MALFORMED, "line %zu, column %zu: %s", line, column,
                   why);
}

/* What is wrong at the place where the scanner stopped. */
static const char *reason(const struct walk *walk, const char *json)
{
    const size_t offset = walk->json.offset, left = walk->json.length - offset;
    if (walk->why) return walk->why;
    if (left >= 6 && memcmp(json + offset, "\\u0000", 6) == 0) return "a NUL in a string, which would cut it";
    return "not JSON";
}

static void delete_tree(void *node) { cJSON_Delete(node); }

/* In three steps: the scanner checks the text and notes its numbers; cJSON makes a tree; the tree becomes the value,
 * with the noted numbers. The scanner decodes strings in place, and the walk replaces words for cJSON, so that each has
 * a copy of the text. The scanner's own message is dropped, since bad_json writes one with line and column. */
bool sp_value_parse_json_noting(struct sp_arena *arena, const char *json, size_t length, struct shapeproof_value *value,
                                struct sp_json_repeats *repeats, struct shapeproof_error *error)
{
    struct shapeproof_error scanner_error = {0};
    const size_t valid = sp_utf8_check(json, length);
    if (valid < length) return bad_json(json, valid, "not JSON", error);
    struct sp_text scanned = {0}, parsed = {0};
    sp_text_append(&scanned, json, length);
    sp_text_append(&parsed, json, length);
    struct walk walk = {.text = parsed.data};
    walk.json = (struct sp_json){.what = "", .text = scanned.data, .length = length, .error = &scanner_error};
    if (length >= 3 && memcmp(json, "\xef\xbb\xbf", 3) == 0) walk.json.offset = 3; /* a byte-order mark */
    const bool sound = walk_value(&walk) && sp_json_end(&walk.json);
    errno = 0;
    cJSON *node = sound ? cJSON_ParseWithLength(parsed.data, length) : NULL;
    if (sound && !node && errno == ENOMEM) sp_out_of_memory(); /* cJSON does not say why it failed */
    if (node) sp_hold(node, delete_tree);
    if (node) *value = from_node(&(struct tree){arena, walk.numbers.items, repeats}, node);
    else bad_json(json, walk.json.offset, reason(&walk, json), error);
    const bool ok = node != NULL;
    if (node) sp_let_go(node, delete_tree);
    sp_free(walk.numbers.items);
    sp_text_free(&scanned);
    sp_text_free(&parsed);
    return ok;
}

bool sp_value_parse_json(struct sp_arena *arena, const char *json, size_t length, struct shapeproof_value *value,
                         struct shapeproof_error *error)
{
    return sp_value_parse_json_noting(arena, json, length, value, NULL, error);
}
