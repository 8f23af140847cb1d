/* SPDX-License-Identifier: MIT
 * What is done with the values of hyper-parameters and of expressions: what JSON can hold, plus "absent", which is not
 * null. What they point to lives in an arena. */
#ifndef SP_BASE_VALUE_H
#define SP_BASE_VALUE_H

#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/map.h"
#include "base/text.h"
#include "shapeproof/value.h"

static inline struct shapeproof_value sp_value_int(int64_t integer)
{
    return (struct shapeproof_value){.type = SHAPEPROOF_VALUE_INT, .integer = integer};
}
static inline struct shapeproof_value sp_value_bool(bool boolean)
{
    return (struct shapeproof_value){.type = SHAPEPROOF_VALUE_BOOL, .boolean = boolean};
}
static inline struct shapeproof_value sp_value_real(double real)
{
    return (struct shapeproof_value){.type = SHAPEPROOF_VALUE_REAL, .real = real};
}
static inline struct shapeproof_value sp_value_string(const char *string)
{
    return (struct shapeproof_value){.type = SHAPEPROOF_VALUE_STRING, .string = string};
}
static inline struct shapeproof_value sp_value_absent(const char *key)
{
    return (struct shapeproof_value){.type = SHAPEPROOF_VALUE_ABSENT, .string = key};
}
/* Whether a condition of the table language holds for the value: true, or an integer other than 0. */
static inline bool sp_value_is_true(struct shapeproof_value value)
{
    return (value.type == SHAPEPROOF_VALUE_BOOL && value.boolean) ||
           (value.type == SHAPEPROOF_VALUE_INT && value.integer);
}
/* Neither absent nor null nor unknown. */
static inline bool sp_value_is_set(struct shapeproof_value value) { return value.type > SHAPEPROOF_VALUE_UNKNOWN; }

/* "an integer", "a list", ... for messages. */
const char *sp_value_kind(enum shapeproof_value_type type);
/* The member of an object, the last one when the key is repeated (as the frameworks' parsers do); absent otherwise. */
struct shapeproof_value sp_value_member(struct shapeproof_value object, const char *key);
/* The members of a wide object by their keys: a Keras model has an object with one for each layer. Zero-initialise;
 * free with sp_members_free, also before another object may lie where this one did. */
struct sp_members {
    const struct shapeproof_member *items; /* from which the map was made; NULL before */
    size_t count;
    struct sp_map places;
};
/* As sp_value_member, for one object again and again. */
struct shapeproof_value sp_members_get(struct sp_members *members, struct shapeproof_value object, const char *key);
void sp_members_free(struct sp_members *members);
/* An integer above 0; 0 for anything else. */
static inline uint64_t sp_value_count(struct shapeproof_value value)
{
    return value.type == SHAPEPROOF_VALUE_INT && value.integer > 0 ? (uint64_t)value.integer : 0;
}
/* Whether this key of a configuration says the class of the model: transformers lists it, diffusers names it, and timm
 * has a name for each architecture. */
static inline bool sp_is_class_key(const char *key)
{
    return strcmp(key, "architectures") == 0 || strcmp(key, "_class_name") == 0 || strcmp(key, "architecture") == 0;
}
/* Whether this key of a configuration says which release wrote it. */
static inline bool sp_is_release_key(const char *key) { return strcmp(key, "transformers_version") == 0; }
/* Whether a key is an item of a list: "depths[2]". */
static inline bool sp_is_item_key(const char *key) { return key[strlen(key) - 1] == ']'; }
/* What the object has at a dotted path, "text_config.vocab_size"; absent when there is nothing. */
struct shapeproof_value sp_value_at(struct shapeproof_value root, const char *path);
/* A copy of the object that has the value at the path, with objects on the way to it; in the arena, but for the path
 * and for what it shares with `object`. */
struct shapeproof_value sp_value_with(struct sp_arena *arena, struct shapeproof_value object, const char *path,
                                      struct shapeproof_value value);
/* A list of the first `count` items of `list`, in the arena, with `item` in place of the one at `place`. `count` may be
 * one more than the list has, if `place` is behind its last item. SIZE_MAX replaces none. */
struct shapeproof_value sp_value_list_with(struct sp_arena *arena, struct shapeproof_value list, size_t count,
                                           size_t place, struct shapeproof_value item);
/* The object with the members of the patch in place of its own; a member that is an object in both is patched itself.
 */
struct shapeproof_value sp_value_patched(struct sp_arena *arena, struct shapeproof_value object,
                                         struct shapeproof_value patch);
/* Appends the value as JSON; absent as null. */
void sp_value_json(struct sp_text *text, struct shapeproof_value value);
/* The same in the arena, for messages, but for NaN and infinities, for which JSON has no word. */
const char *sp_value_words(struct sp_arena *arena, struct shapeproof_value value);
static inline bool sp_value_is_bool(struct shapeproof_value value, bool boolean)
{
    return value.type == SHAPEPROOF_VALUE_BOOL && value.boolean == boolean;
}
/* The values of a JSON text, copied into the arena. A whole number of 64 bits is an integer, exactly, and so is 3.0 or
 * 1e3 below 2^53; larger ones are real numbers, because they may have been rounded. Infinity and NaN, as Python writes
 * them, are real numbers; no table computes with NaN (sp_eval_known). A key that an object has twice has its last
 * value, as in Python; a NUL in a string is refused. Errors have status SHAPEPROOF_ERR_TABLE and name line and column.
 */
bool sp_value_parse_json(struct sp_arena *arena, const char *json, size_t length, struct shapeproof_value *value,
                         struct shapeproof_error *error);
/* The members of objects whose key was there before. Zero-initialise. */
struct sp_value_repeats {
    size_t count;
    const char *first; /* the key of the first of them, in the arena */
};
/* The same, and counts repeated keys in `repeats`, which may be NULL. */
bool sp_value_parse_json_noting(struct sp_arena *arena, const char *json, size_t length, struct shapeproof_value *value,
                                struct sp_value_repeats *repeats, struct shapeproof_error *error);

#endif
