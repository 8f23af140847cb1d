/* SPDX-License-Identifier: MIT */
#include "lang/syntax/symbols.h"

#include <stdint.h>
#include <stdlib.h>

const char *shapeproof_symbol(struct sp_symbols *symbols, const char *text, size_t length)
{
    symbols->wanted.length = 0;
    sp_text_append(&symbols->wanted, text, length);
    const char *known = sp_symbol_find(symbols, symbols->wanted.data);
    if (known) return known;
    const char *name = sp_arena_copy(&symbols->arena, text, length);
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
    sp_free(symbols->list);
    sp_text_free(&symbols->wanted);
    sp_map_free(&symbols->map);
    sp_arena_free(&symbols->arena);
}
