/* SPDX-License-Identifier: MIT */
#include "names/level.h"

#include <string.h>

#include "names/components.h"

enum { DEPTHS = sizeof((struct sp_level *)NULL)->beside };

/* The component of that number; its text is NULL when there are not as many. */
static struct sp_component_walk component_at(const char *name, size_t number)
{
    struct sp_component_walk part = {.rest = name};
    for (size_t i = 0; i <= number; i++)
        if (!sp_component_next(&part, "/")) return (struct sp_component_walk){.text = NULL};
    return part;
}

void sp_level_note(struct sp_level *level, const char *name)
{
    if (!level->first) level->first = name;
    for (size_t i = 0; i < DEPTHS; i++) {
        const struct sp_component_walk own = component_at(name, i), first = component_at(level->first, i);
        level->beside[i] |= !own.text || !first.text || own.length != first.length ||
                            memcmp(own.text, first.text, own.length) != 0 || !own.rest || !*own.rest;
    }
}

/* Behind names that differ: what all begin with is no level. */
void sp_level_find(struct sp_level *level)
{
    bool differs = false;
    for (size_t i = 0; i < DEPTHS && !level->depth && level->first; i++) {
        if (differs && !level->beside[i]) level->depth = i;
        differs = differs || level->beside[i];
    }
}

const char *sp_behind_level(const struct sp_level *level, const char *name)
{
    return level->depth ? component_at(name, level->depth).rest : name;
}
