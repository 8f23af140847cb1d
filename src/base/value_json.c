/* SPDX-License-Identifier: MIT
 * From a JSON text to a value: what Python's json.loads gives for a str. A NUL and a lone surrogate in a string are
 * refused, since no string here can hold them. The text is walked twice. The first walk refuses whatever is not JSON at
 * its place, and counts the items of each list and object; the second one makes the values, in arrays that are as long
 * as they must be:
 *
 *     [[1, 2], {}]   ->   counts 2, 2, 0   ->   a list of 2 items: a list of 2 items, an object without members
 *
 * So nothing is held but the values, a copy of the text, in which strings are decoded, and the counts. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/call.h"
#include "base/json_scan.h"
#include "base/map.h"
#include "base/real.h"
#include "base/utf8.h"
#include "base/value.h"

enum {
    MAX_LEVELS = 1000, /* lists and objects in one another: it bounds the recursion, here and in what walks a value */
    FEW_MEMBERS = 16   /* up to here keys are compared one by one, beyond that through a map */
};

struct walk {
    struct sp_json json; /* the scanner, with a copy of the text in which it decodes strings */
    unsigned level;
    const char *why;           /* the mistake, where it is another than the scanner's */
    SP_ARRAY(uint32_t) counts; /* of items and members, in the order in which lists and objects begin */
    struct sp_arena *arena;    /* of the values; NULL in the first walk, which makes none */
    size_t begun;              /* lists and objects that the second walk has come to */
    struct sp_value_repeats *repeats;
};

/* ---- scalars ---- */

/* Moves past Infinity, -Infinity or NaN, which Python writes and JSON does not have; false when none of them is here.
 */
static bool take_python_word(struct walk *walk, struct shapeproof_value *value)
{
    static const struct {
        const char *word;
        double number;
    } words[] = {{"Infinity", HUGE_VAL}, {"-Infinity", -HUGE_VAL}, {"NaN", NAN}};
    const char *text = walk->json.text + walk->json.offset;
    const size_t left = walk->json.length - walk->json.offset;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        const size_t length = strlen(words[i].word);
        if (left < length || memcmp(text, words[i].word, length) != 0) continue;
        walk->json.offset += length;
        *value = sp_value_real(words[i].number);
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
    if (number != floor(number) || fabs(number) >= first_inexact) return sp_value_real(number);
    return (struct shapeproof_value){.type = SHAPEPROOF_VALUE_INT, .is_whole_real = true, .integer = (int64_t)number};
}

/* A string, a word or a number. */
static bool walk_scalar(struct walk *walk, struct shapeproof_value *value)
{
    size_t length;
    if (sp_json_peek(&walk->json) == '"') {
        const char *string = sp_json_string(&walk->json);
        if (string && walk->arena)
            *value = sp_value_string(sp_arena_copy(walk->arena, string, walk->json.string_length));
        return string != NULL;
    }
    if (take_python_word(walk, value)) return true;
    const char *text = sp_json_skip(&walk->json, &length);
    if (!text || !walk->arena) return text != NULL;
    if (*text == 't' || *text == 'f') *value = sp_value_bool(*text == 't');
    else if (*text == 'n') *value = (struct shapeproof_value){.type = SHAPEPROOF_VALUE_NULL, .string = ""};
    else *value = number_of(text, length);
    return true;
}

/* ---- lists and objects ---- */

static bool walk_value(struct walk *walk, struct shapeproof_value *value);

/* The place of the next list or object in the counts; the first walk makes it, and fills it when it knows the count. */
static size_t next_place(struct walk *walk)
{
    if (walk->arena) return walk->begun++;
    *SP_PUSH(&walk->counts) = 0;
    return walk->counts.count - 1;
}

static bool walk_list(struct walk *walk, struct shapeproof_value *value)
{
    const size_t place = next_place(walk), room = walk->counts.items[place];
    struct shapeproof_value unused, *items = walk->arena ? sp_arena_array(walk->arena, room, sizeof *items) : NULL;
    uint32_t count = 0;
    bool ok = sp_json_open(&walk->json, '[');
    for (bool first = true; ok && sp_json_item(&walk->json, &first); count++)
        ok = walk_value(walk, items ? &items[count] : &unused);
    walk->counts.items[place] = count;
    *value = (struct shapeproof_value){.type = SHAPEPROOF_VALUE_LIST, .count = count, .items = items};
    return ok && sp_json_ok(&walk->json);
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

/* Puts a member behind the others. A key that comes again replaces the value and keeps the place, as in Python. */
static void add_member(struct walk *walk, struct shapeproof_member *members, size_t *count, struct sp_map *map,
                       struct shapeproof_member member)
{
    const size_t place = find_member(members, *count, map, member.key);
    members[place] = (struct shapeproof_member){place < *count ? members[place].key : member.key, member.value};
    if (place == *count) ++*count;
    else if (walk->repeats && !walk->repeats->count++) walk->repeats->first = members[place].key;
}

static bool walk_object(struct walk *walk, struct shapeproof_value *value)
{
    const size_t place = next_place(walk), room = walk->counts.items[place];
    struct shapeproof_member *members = walk->arena ? sp_arena_array(walk->arena, room, sizeof *members) : NULL;
    struct sp_map map = {0};
    size_t known = 0;
    uint32_t count = 0;
    const char *key;
    bool ok = sp_json_open(&walk->json, '{');
    for (bool first = true; ok && (key = sp_json_member(&walk->json, &first)) != NULL; count++) {
        struct shapeproof_member member = {0};
        if (members) member.key = sp_arena_copy(walk->arena, key, walk->json.string_length);
        ok = walk_value(walk, &member.value);
        if (members) add_member(walk, members, &known, &map, member);
    }
    sp_map_free(&map);
    walk->counts.items[place] = count;
    *value = (struct shapeproof_value){.type = SHAPEPROOF_VALUE_OBJECT, .count = known, .members = members};
    return ok && sp_json_ok(&walk->json);
}

/* False for what is not JSON; the offset of the scanner is where. */
static bool walk_value(struct walk *walk, struct shapeproof_value *value)
{
    const char c = sp_json_peek(&walk->json);
    if (c != '{' && c != '[') return walk_scalar(walk, value);
    if (walk->level == MAX_LEVELS) {
        walk->why = "nested deeper than 1000 levels";
        return false;
    }
    walk->level++;
    const bool ok = c == '{' ? walk_object(walk, value) : walk_list(walk, value);
    walk->level--;
    return ok;
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

static bool begins_with_mark(const char *text, size_t left)
{
    return left >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0;
}

/* What is wrong at the place where the scanner stopped. */
static const char *reason(const struct walk *walk, const char *json)
{
    const size_t offset = walk->json.offset, left = walk->json.length - offset;
    if (walk->why) return walk->why;
    if (offset == 0 && begins_with_mark(json, left)) return "begins with a byte-order mark, which Python refuses";
    if (sp_json_is_long_integer(json + offset, left))
        return "an integer of more than 4300 digits, which Python refuses";
    if (sp_json_is_surrogate(json + offset, left)) /* one that has a partner is no mistake */
        return "a lone surrogate in a string, which UTF-8 cannot hold";
    if (left >= 6 && memcmp(json + offset, "\\u0000", 6) == 0) return "a NUL in a string, which would cut it";
    return "not JSON";
}

/* Walks over a fresh copy of the text: a walk decodes the strings in its copy. */
static bool walk_text(struct walk *walk, const char *json, size_t length, struct shapeproof_value *value)
{
    if (length) memcpy(walk->json.text, json, length);
    walk->json.offset = 0;
    return walk_value(walk, value) && sp_json_end(&walk->json);
}

/* The scanner's own message is dropped, since bad_json writes one with line and column. */
bool sp_value_parse_json_noting(struct sp_arena *arena, const char *json, size_t length, struct shapeproof_value *value,
                                struct sp_value_repeats *repeats, struct shapeproof_error *error)
{
    struct shapeproof_error scanner_error = {0};
    struct shapeproof_value unused;
    const size_t valid = sp_utf8_check(json, length);
    if (valid < length) return bad_json(json, valid, "not JSON", error);
    if (length > UINT32_MAX) return bad_json(json, 0, "longer than 4 GiB", error); /* the counts have 32 bits */
    struct sp_text copy = {0};
    sp_text_append(&copy, json, length);
    struct walk walk = {.repeats = repeats};
    walk.json = (struct sp_json){.what = "", .text = copy.data, .length = length, .error = &scanner_error};
    walk.json.numbers = SP_JSON_OF_PYTHON;
    const bool sound = walk_text(&walk, json, length, &unused);
    if (!sound) bad_json(json, walk.json.offset, reason(&walk, json), error);
    walk.arena = arena;
    if (sound) walk_text(&walk, json, length, value);
    sp_free(walk.counts.items);
    sp_text_free(&copy);
    return sound;
}

bool sp_value_parse_json(struct sp_arena *arena, const char *json, size_t length, struct shapeproof_value *value,
                         struct shapeproof_error *error)
{
    return sp_value_parse_json_noting(arena, json, length, value, NULL, error);
}
