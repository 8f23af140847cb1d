/* SPDX-License-Identifier: MIT
 * Keys that are given and never read, which most often are misspelt: in settings, and in the file. */
#include <stdlib.h>
#include <string.h>

#include "base/budget.h"
#include "base/call.h"
#include "base/chars.h"
#include "base/suggest.h"
#include "config/config.h"
#include "config/settings.h"
#include "lang/prediction.h"
#include "lang/words.h"

/* ---- settings ---- */

static bool is_for_others(const struct sp_hyper *hyper, const char *key)
{
    const size_t length = strcspn(key, ".");
    for (size_t i = 0; i < hyper->other_key_count; i++)
        if (strncmp(hyper->other_keys[i], key, length) == 0 && !hyper->other_keys[i][length]) return true;
    return false;
}

static bool is_word_of(const struct sp_unit *unit, const char *key)
{
    struct sp_map words = {0};
    sp_unit_words(unit, &words);
    const bool known = sp_map_get(&words, sp_behind_last(key, '.')) != SIZE_MAX;
    sp_map_free(&words);
    return known;
}

/* That no shape of this model depends on it does not make it a mistake: the number of heads, most often. */
static bool is_known_elsewhere(const struct shapeproof_prediction *prediction, const struct shapeproof_tables *tables,
                               const char *key)
{
    for (size_t i = 0; i < prediction->asked_count; i++)
        if (sp_is_misspelt(key, prediction->asked[i])) return false;
    if (sp_prediction_key_like(prediction, key)) return false;
    size_t count;
    const size_t *list = sp_tables_list(tables, &count);
    for (size_t i = 0; i < count; i++) {
        const struct sp_unit *unit = sp_tables_at(tables, list[i]);
        if (unit && is_word_of(unit, key)) return true;
    }
    return false;
}

bool sp_prediction_could_read(const struct shapeproof_prediction *prediction, const struct shapeproof_tables *tables,
                              const struct shapeproof_config *config, const char *key)
{
    return is_word_of(prediction->table, key) || is_for_others(sp_config_hyper(config), key) ||
           sp_value_is_set(sp_value_at(config->file_root, key)) || is_known_elsewhere(prediction, tables, key);
}

const char *sp_prediction_unknown_setting(const struct shapeproof_prediction *prediction,
                                          const struct shapeproof_tables *tables,
                                          const struct shapeproof_config *config)
{
    for (size_t i = 0; i < shapeproof_prediction_unused_count(prediction); i++) {
        const char *key = shapeproof_prediction_unused(prediction, i);
        if (!sp_prediction_could_read(prediction, tables, config, key)) return key;
    }
    return NULL;
}

const char *sp_prediction_key_like(const struct shapeproof_prediction *prediction, const char *key)
{
    const char *named = sp_unit_key_of_name(prediction->table, key);
    return named ? named : sp_suggest_key(key, prediction->asked, prediction->asked_count);
}

/* ---- values of many paths ---- */

enum {
    LEVELS = 4, /* of objects that are indexed; that of a layer in a configuration of Keras is the second */
    FEW = 32    /* members: so many are searched one by one */
};

/* Looks up values at paths, most of which go through the same large objects: those of the thousands of layers in a
 * configuration of Keras. The last large object of each level is indexed. Zero-initialise. */
struct finder {
    struct {
        const struct shapeproof_member *members; /* of the object that is indexed; NULL: of none */
        struct sp_map index;                     /* key -> place in `members` */
    } levels[LEVELS];
    struct sp_text key;
};

static struct shapeproof_value find_member(struct finder *finder, size_t level, struct shapeproof_value object,
                                           const char *key)
{
    if (level >= LEVELS || object.type != SHAPEPROOF_VALUE_OBJECT || object.count <= FEW) {
        sp_budget_spend(object.count);
        return sp_value_member(object, key);
    }
    struct sp_map *index = &finder->levels[level].index;
    if (finder->levels[level].members != object.members) {
        sp_map_free(index);
        *index = (struct sp_map){0};
        finder->levels[level].members = object.members;
        sp_budget_spend(object.count);
        for (size_t i = object.count; i-- > 0;) sp_map_add(index, object.members[i].key, i); /* the last one counts */
    }
    const size_t place = sp_map_get(index, key);
    return place == SIZE_MAX ? sp_value_absent(key) : object.members[place].value;
}

/* The object that has the last component of the path, and in `*leaf` that component. */
static struct shapeproof_value find_object(struct finder *finder, struct shapeproof_value root, const char *path,
                                           const char **leaf, size_t *level)
{
    *level = 0;
    for (const char *dot; (dot = strchr(path, '.')) != NULL; path = dot + 1) {
        finder->key.length = 0;
        sp_text_append(&finder->key, path, (size_t)(dot - path));
        root = find_member(finder, (*level)++, root, finder->key.data);
    }
    *leaf = path;
    return root;
}

static void free_finder(struct finder *finder)
{
    for (size_t i = 0; i < LEVELS; i++) sp_map_free(&finder->levels[i].index);
    sp_text_free(&finder->key);
}

/* ---- the file ---- */

/* Whether the prediction read the key from the configuration or a setting. An object is not read as one value. */
static bool is_read(const struct shapeproof_prediction *prediction, const char *key)
{
    const size_t place = sp_map_get(&prediction->hyper_names, key);
    if (place == SHAPEPROOF_NONE) return false;
    const enum shapeproof_source source = prediction->hypers[place].from.source;
    return source == SHAPEPROOF_SOURCE_CONFIG || source == SHAPEPROOF_SOURCE_SETTING;
}

bool shapeproof_prediction_misspelt(const struct shapeproof_prediction *prediction,
                                    const struct shapeproof_config *config, size_t *position,
                                    struct shapeproof_misspelt *found)
{
    SP_CALL(NULL, false);
    SP_SPENDS("reading the configuration");
    struct finder finder = {0};
    found->key = NULL;
    while (*position < prediction->asked_count && !found->key) {
        const char *leaf;
        size_t level;
        found->meant = prediction->asked[(*position)++];
        if (is_read(prediction, found->meant)) continue;
        const struct shapeproof_value object =
            find_object(&finder, sp_config_hyper(config)->root, found->meant, &leaf, &level);
        if (!sp_value_is_set(find_member(&finder, level, object, leaf)))
            found->key = sp_unit_misspelt(prediction->table, object, leaf);
    }
    free_finder(&finder);
    return found->key;
}

bool sp_prediction_has_asked(const struct shapeproof_prediction *prediction, const char *key)
{
    const size_t length = strlen(key);
    for (size_t i = 0; i < prediction->asked_count; i++) {
        const char *asked = prediction->asked[i];
        if (strncmp(asked, key, length) == 0 && (!asked[length] || asked[length] == '.' || asked[length] == '['))
            return true;
    }
    return false;
}

size_t sp_prediction_unread(const struct shapeproof_prediction *prediction, const struct shapeproof_config *config,
                            const char **keys, size_t most)
{
    const struct shapeproof_value root = config->file_root;
    size_t count = 0;
    for (size_t i = 0; root.type == SHAPEPROOF_VALUE_OBJECT && i < root.count && count < most; i++) {
        const char *key = root.members[i].key;
        if (!sp_prediction_has_asked(prediction, key) && !is_for_others(sp_config_hyper(config), key))
            keys[count++] = key;
    }
    return count;
}
