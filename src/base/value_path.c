/* SPDX-License-Identifier: MIT
 * A value put into others by its dotted path: "text_config.hidden_size". Values are immutable. */
#include <string.h>

#include "base/value.h"

enum { MOST_KEYS = 32 };

static struct shapeproof_value with_member(struct sp_arena *arena, struct shapeproof_value object, const char *key,
                                           struct shapeproof_value value)
{
    const size_t count = object.type == SHAPEPROOF_VALUE_OBJECT ? object.count : 0;
    struct shapeproof_member *members = sp_arena_array(arena, count + 1, sizeof *members);
    size_t kept = 0;
    for (size_t i = 0; i < count; i++)
        if (strcmp(object.members[i].key, key) != 0) members[kept++] = object.members[i];
    members[kept++] = (struct shapeproof_member){key, value};
    return (struct shapeproof_value){.type = SHAPEPROOF_VALUE_OBJECT, .count = kept, .members = members};
}

struct shapeproof_value sp_value_with(struct sp_arena *arena, struct shapeproof_value object, const char *path,
                                      struct shapeproof_value value)
{
    struct shapeproof_value objects[MOST_KEYS] = {object};
    const char *keys[MOST_KEYS];
    size_t depth = 0;
    for (const char *dot; depth + 1 < MOST_KEYS && (dot = strchr(path, '.')) != NULL; depth++, path = dot + 1) {
        keys[depth] = sp_arena_copy(arena, path, (size_t)(dot - path));
        objects[depth + 1] = sp_value_member(objects[depth], keys[depth]);
    }
    keys[depth] = path;
    for (size_t i = depth + 1; i-- > 0;) value = with_member(arena, objects[i], keys[i], value);
    return value;
}

struct shapeproof_value sp_value_list_with(struct sp_arena *arena, struct shapeproof_value list, size_t count,
                                           size_t place, struct shapeproof_value item)
{
    struct shapeproof_value *items = sp_arena_array(arena, count, sizeof *items);
    for (size_t i = 0; i < count; i++) items[i] = i == place ? item : list.items[i];
    return (struct shapeproof_value){.type = SHAPEPROOF_VALUE_LIST, .count = count, .items = items};
}

struct shapeproof_value sp_value_patched(struct sp_arena *arena, struct shapeproof_value object,
                                         struct shapeproof_value patch)
{
    for (size_t i = 0; i < patch.count; i++) {
        const struct shapeproof_member *member = &patch.members[i];
        const struct shapeproof_value old = sp_value_member(object, member->key);
        const bool both = old.type == SHAPEPROOF_VALUE_OBJECT && member->value.type == SHAPEPROOF_VALUE_OBJECT;
        object =
            with_member(arena, object, member->key, both ? sp_value_patched(arena, old, member->value) : member->value);
    }
    return object;
}
