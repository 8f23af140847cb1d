/* SPDX-License-Identifier: MIT
 * A row of transformers_kinds.def has words; one with a colon says which kinds the keys behind it may be of:
 *
 *     "int: hidden_size num_hidden_layers float|null: layer_norm_eps [int]: depths"
 */
#include "load/value_kinds.h"

#include <math.h>
#include <string.h>

#include "load/renaming.h"

static const struct {
    const char *model_types, *words;
} rows[] = {
#define KINDS(model_types, words) {model_types, words},
#include "load/transformers_kinds.def"
#undef KINDS
};

/* The kinds by the names that they have in a row. */
static const struct {
    const char *name, *says;
} kinds[] = {{"int", "an integer"},
             {"float", "a real number"},
             {"bool", "a truth value"},
             {"str", "a string"},
             {"null", "null"},
             {"[int]", "a list of integers"},
             {"[float]", "a list of real numbers"},
             {"[bool]", "a list of truth values"},
             {"[str]", "a list of strings"}};

static const char *row_of(const char *model_type)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (sp_words_have(rows[i].model_types, model_type)) return rows[i].words;
    return NULL;
}

/* "int|null: ...": the kinds that the row says the key may be of; NULL when it may be of any. */
static const char *kinds_of(const char *row, const char *key)
{
    const char *taken = NULL, *word;
    for (size_t length; (length = sp_word(&row, &word));)
        if (word[length - 1] == ':') taken = word;
        else if (strncmp(word, key, length) == 0 && !key[length]) return taken;
    return NULL;
}

/* Whether `taken`, which ends with a colon, has the kind. */
static bool takes(const char *taken, const char *kind)
{
    for (;; taken++) {
        const size_t length = strcspn(taken, "|:");
        if (strncmp(taken, kind, length) == 0 && !kind[length]) return true;
        taken += length;
        if (*taken == ':') return false;
    }
}

/* NULL for lists and objects, of which the rows say nothing, and for what is not known: a whole number of more than 64
 * bits is real here, however it is written. */
static const char *kind_of(struct shapeproof_value value, bool in_list)
{
    static const double first_too_large = 9223372036854775808.0; /* 2^63 */
    const bool is_real = value.type == SHAPEPROOF_VALUE_INT && value.is_whole_real;
    if (value.type == SHAPEPROOF_VALUE_REAL && isfinite(value.real) && fabs(value.real) >= first_too_large) return NULL;
    switch (is_real ? SHAPEPROOF_VALUE_REAL : value.type) {
    case SHAPEPROOF_VALUE_INT:
        return in_list ? "[int]" : "int";
    case SHAPEPROOF_VALUE_REAL:
        return in_list ? "[float]" : "float";
    case SHAPEPROOF_VALUE_BOOL:
        return in_list ? "[bool]" : "bool";
    case SHAPEPROOF_VALUE_STRING:
        return in_list ? "[str]" : "str";
    case SHAPEPROOF_VALUE_NULL:
        return in_list ? NULL : "null";
    default:
        return NULL;
    }
}

/* The kind for which the value is refused; NULL when it is taken. A list is refused for one of its items. */
static const char *refused_kind(const char *taken, struct shapeproof_value value)
{
    if (value.type != SHAPEPROOF_VALUE_LIST) {
        const char *kind = kind_of(value, false);
        return kind && !takes(taken, kind) ? kind : NULL;
    }
    for (size_t i = 0; i < value.count; i++) {
        const char *kind = kind_of(value.items[i], true);
        if (kind && !takes(taken, kind)) return kind;
    }
    return NULL;
}

static const char *words_for(const char *kind)
{
    size_t i = 0;
    while (strcmp(kinds[i].name, kind) != 0) i++;
    return kinds[i].says;
}

/* "an integer, a list of integers or null" */
static void put_taken(struct sp_text *text, const char *taken)
{
    size_t count = 0, said = 0;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) count += takes(taken, kinds[i].name);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (!takes(taken, kinds[i].name)) continue;
        if (said) sp_text_puts(text, said + 1 == count ? " or " : ", ");
        sp_text_puts(text, kinds[i].says);
        said++;
    }
}

const char *sp_refused_kind(struct sp_arena *arena, const char *model_type, const char *front,
                            struct shapeproof_value object)
{
    const char *row = row_of(model_type);
    for (size_t i = 0; row && object.type == SHAPEPROOF_VALUE_OBJECT && i < object.count; i++) {
        const struct shapeproof_member *member = &object.members[i];
        const char *taken = kinds_of(row, member->key), *kind = taken ? refused_kind(taken, member->value) : NULL;
        struct sp_text text = {0};
        if (!kind) continue;
        sp_text_printf(&text, "%s%s is %s, not ", front, member->key, words_for(kind));
        put_taken(&text, taken);
        return sp_text_keep(&text, arena);
    }
    return "";
}

static struct shapeproof_value item_as_taken(const char *taken, struct shapeproof_value value, bool in_list)
{
    const char *kind = kind_of(value, in_list);
    if (!kind || takes(taken, kind)) return value;
    if (value.type == SHAPEPROOF_VALUE_INT && takes(taken, in_list ? "[float]" : "float"))
        return (struct shapeproof_value){.type = SHAPEPROOF_VALUE_REAL, .real = (double)value.integer};
    if (value.type == SHAPEPROOF_VALUE_BOOL && takes(taken, in_list ? "[int]" : "int"))
        return sp_value_int(value.boolean);
    return value;
}

struct shapeproof_value sp_value_as_taken(struct sp_arena *arena, const char *model_type, const char *key,
                                          struct shapeproof_value value)
{
    const char *row = row_of(model_type), *taken = row ? kinds_of(row, key) : NULL;
    if (!taken || value.type != SHAPEPROOF_VALUE_LIST) return taken ? item_as_taken(taken, value, false) : value;
    struct shapeproof_value *items = sp_arena_array(arena, value.count, sizeof *items);
    for (size_t i = 0; i < value.count; i++) items[i] = item_as_taken(taken, value.items[i], true);
    value.items = items;
    return value;
}
