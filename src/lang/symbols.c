/* SPDX-License-Identifier: MIT */
#include "lang/symbols.h"

#include <stdint.h>
#include <stdlib.h>

const char *sp_symbol(struct sp_symbols *symbols, const char *text, size_t length)
{
    const char *name = sp_arena_copy(&symbols->arena, text, length);
    const size_t known = sp_map_get(&symbols->map, name);
    if (known != SIZE_MAX) return symbols->list[known];
    SP_GROW(symbols->list, symbols->count, symbols->capacity);
    symbols->list[symbols->count] = name;
    sp_map_add(&symbols->map, name, symbols->count++);
    return name;
}

const char *sp_symbol_find(const struct sp_symbols *symbols, const char *text)
{
    const size_t known = sp_map_get(&symbols->map, text);
    return known == SIZE_MAX ? NULL : symbols->list[known];
}

void sp_symbols_free(struct sp_symbols *symbols)
{
    free(symbols->list);
    sp_map_free(&symbols->map);
    sp_arena_free(&symbols->arena);
}
