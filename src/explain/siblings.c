/* SPDX-License-Identifier: MIT */
#include "explain/siblings.h"

#include <stdlib.h>
#include <string.h>

#include "names/collapse.h"

void sp_siblings_add(struct sp_siblings *siblings, const char *kin, const char *name, bool has)
{
    const size_t pattern = sp_pattern_of(&siblings->patterns, kin, NULL);
    *SP_PUSH(siblings) = (struct sp_sibling){name, pattern, has};
}

size_t sp_siblings_lacking(struct sp_siblings *siblings)
{
    bool *any = sp_realloc(NULL, siblings->patterns.count, sizeof *any);
    size_t kept = 0;
    if (siblings->patterns.count) memset(any, 0, siblings->patterns.count * sizeof *any);
    for (size_t i = 0; i < siblings->count; i++)
        if (siblings->items[i].has) any[siblings->items[i].pattern] = true;
    for (size_t i = 0; i < siblings->count; i++)
        if (!siblings->items[i].has && any[siblings->items[i].pattern]) siblings->items[kept++] = siblings->items[i];
    sp_free(any);
    return siblings->count = kept;
}

const char *sp_siblings_names(const struct sp_siblings *siblings, struct sp_arena *arena)
{
    const char **names = sp_realloc(NULL, siblings->count, sizeof *names);
    for (size_t i = 0; i < siblings->count; i++) names[i] = siblings->items[i].name;
    const char *list = sp_some_names(arena, names, siblings->count);
    sp_free(names);
    return list;
}

void sp_siblings_free(struct sp_siblings *siblings)
{
    sp_patterns_free(&siblings->patterns);
    sp_free(siblings->items);
}
