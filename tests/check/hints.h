/* SPDX-License-Identifier: MIT
 * Hints, followed to the letter: the findings of the cause are gone then. */
#ifndef TESTS_CHECK_HINTS_H
#define TESTS_CHECK_HINTS_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check/check.h"

/* The values of a patch, and of the objects in it. */
static inline void follow_patch(struct shapeproof_config *config, struct sp_arena *arena, struct shapeproof_value patch,
                                const char *path)
{
    struct shapeproof_error error = {0};
    for (size_t i = 0; i < patch.count; i++) {
        const char *place = sp_arena_printf(arena, "%s%s%s", path, *path ? "." : "", patch.members[i].key);
        if (patch.members[i].value.type == SHAPEPROOF_VALUE_OBJECT) {
            follow_patch(config, arena, patch.members[i].value, place);
            continue;
        }
        const char *value = sp_value_words(arena, patch.members[i].value);
        assert_int_equal(shapeproof_config_set(config, sp_arena_printf(arena, "%s=%s", place, value), &error),
                         SHAPEPROOF_OK);
    }
}

/* "give --set a=1 --set b=2". */
static inline void follow_options(struct shapeproof_config *config, const char *hint)
{
    struct shapeproof_error error = {0};
    for (const char *p = hint; (p = strstr(p, "--set ")) != NULL;) {
        char setting[128];
        p += strlen("--set ");
        snprintf(setting, sizeof setting, "%.*s", (int)strcspn(p, " "), p);
        assert_int_equal(shapeproof_config_set(config, setting, &error), SHAPEPROOF_OK);
    }
}

/* ", and take out 'a', 'b.c': programs compute them anew", or "take 'a' out of config.json: ...". */
static inline void follow_removals(struct shapeproof_config *config, const char *hint)
{
    struct shapeproof_error error = {0};
    const char *p = strstr(hint, ", and take out '");
    if (p) p += strlen(", and take out ");
    else p = strncmp(hint, "take '", strlen("take '")) == 0 ? hint + strlen("take ") : "";
    while (*p == '\'') {
        char setting[128];
        const int length = (int)strcspn(++p, "'");
        snprintf(setting, sizeof setting, "%.*s=null", length, p);
        assert_int_equal(shapeproof_config_set(config, setting, &error), SHAPEPROOF_OK);
        p += length + 1;
        p += strspn(p, ", ");
    }
}

/* The same, or "write into config.json: {"a": 1, "b": {"c": 2}}". */
static inline void follow(struct shapeproof_config *config, const char *hint)
{
    struct sp_arena arena = {0};
    struct shapeproof_error error = {0};
    struct shapeproof_value patch;
    const char *begin = strchr(hint, '{'), *end = strrchr(hint, '}');
    if (strncmp(hint, "give --set ", strlen("give --set ")) == 0) {
        follow_options(config, hint);
        return;
    }
    if (strncmp(hint, "take '", strlen("take '")) == 0) {
        follow_removals(config, hint);
        return;
    }
    assert_non_null(begin);
    assert_non_null(end);
    const char *removed = strstr(hint, "}, and take out '");
    if (removed) end = removed;
    if (!sp_value_parse_json(&arena, begin, (size_t)(end + 1 - begin), &patch, &error)) fail_msg("%s", hint);
    assert_true(patch.count > 0);
    follow_patch(config, &arena, patch, "");
    follow_removals(config, hint);
    sp_arena_free(&arena);
}

static inline const struct shapeproof_finding *finding_of(const struct shapeproof_check *check,
                                                          const struct shapeproof_finding *wanted)
{
    for (size_t i = 0; i < shapeproof_check_finding_count(check); i++) {
        const struct shapeproof_finding *finding = shapeproof_check_finding(check, i);
        if (strcmp(finding->name, wanted->name) == 0 && strcmp(finding->id, "dtype") != 0 &&
            finding->severity == SHAPEPROOF_SEVERITY_ERROR)
            return finding;
    }
    return NULL;
}

/* Whether the hint is one about the configuration. */
static inline bool is_to_be_followed(const char *hint)
{
    return hint &&
           (strncmp(hint, "write into ", strlen("write into ")) == 0 ||
            strncmp(hint, "give --set ", strlen("give --set ")) == 0 || strncmp(hint, "take '", strlen("take '")) == 0);
}

/* Does as the hint of a cause says. */
static inline void assert_hint_holds(const struct shapeproof_check *check, size_t cause)
{
    struct shapeproof_error error = {0};
    struct shapeproof_config *config = sp_config_variant(shapeproof_check_config(check));
    follow(config, shapeproof_check_cause(check, cause)->hint);
    struct shapeproof_check *again =
        shapeproof_check_new(shapeproof_check_inventory(check), check->tables, config,
                             &(struct shapeproof_check_options){.table = check->table_name}, &error);
    if (!again) fail_msg("%s: %s", shapeproof_check_cause(check, cause)->hint, error.message);
    for (size_t i = 0; i < shapeproof_check_finding_count(check); i++)
        if (shapeproof_check_finding(check, i)->cause == cause)
            assert_null(finding_of(again, shapeproof_check_finding(check, i)));
    for (size_t i = 0; i < shapeproof_check_cause_count(again); i++) /* programs refuse lists of another length */
        assert_string_not_equal(shapeproof_check_cause(again, i)->id, "layer-list");
    shapeproof_check_free(again);
    shapeproof_config_free(config);
}

static inline void assert_hints_hold(const struct shapeproof_check *check)
{
    for (size_t i = 0; i < shapeproof_check_cause_count(check); i++)
        if (is_to_be_followed(shapeproof_check_cause(check, i)->hint)) assert_hint_holds(check, i);
}

#endif
