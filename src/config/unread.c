/* SPDX-License-Identifier: MIT
 * Keys that are given and never read, which most often are misspelt: in settings, and in the file. */
#include <stdlib.h>
#include <string.h>

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

/* ---- the file ---- */

bool shapeproof_prediction_misspelt(const struct shapeproof_prediction *prediction,
                                    const struct shapeproof_config *config, size_t *position,
                                    struct shapeproof_misspelt *found)
{
    SP_CALL(NULL, false);
    SP_SPENDS("reading the configuration");
    const struct shapeproof_value root = sp_config_hyper(config)->root;
    while (*position < prediction->asked_count) {
        found->meant = prediction->asked[(*position)++];
        if (sp_value_is_set(sp_value_at(root, found->meant))) continue;
        found->key = sp_unit_misspelt(prediction->table, root, found->meant);
        if (found->key) return true;
    }
    return false;
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
