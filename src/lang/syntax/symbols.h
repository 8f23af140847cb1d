/* SPDX-License-Identifier: MIT
 * Interned names: equal names are equal pointers, so that looking one up compares addresses. */
#ifndef SP_LANG_SYNTAX_SYMBOLS_H
#define SP_LANG_SYNTAX_SYMBOLS_H

#include "base/arena.h"
#include "base/map.h"
#include "base/text.h"

struct sp_symbols {
    struct sp_arena arena;
    struct sp_map map;
    const char **list;
    size_t count, capacity;
    struct sp_text wanted; /* scratch: most names are known */
};

const char *shapeproof_symbol(struct sp_symbols *symbols, const char *text, size_t length);
/* The symbol when it exists already, or NULL. */
const char *sp_symbol_find(const struct sp_symbols *symbols, const char *text);
void sp_symbols_free(struct sp_symbols *symbols);

#endif
