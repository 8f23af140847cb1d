/* SPDX-License-Identifier: MIT
 * A set of table files: the built-in ones and the user's, parsed and linked together. */
#ifndef SP_LANG_TABLES_H
#define SP_LANG_TABLES_H

#include "lang/syntax/ast.h"
#include "lang/syntax/symbols.h"
#include "shapeproof/table.h"

struct sp_tables {
    struct sp_arena arena;
    struct sp_symbols symbols;
    struct sp_unit **units; /* in order of reading: a later one hides an earlier one of the same name */
    size_t count, capacity;
    struct sp_unit **list; /* the tables that are in force, by name */
    size_t list_count;
    struct sp_text messages;
};

/* The table or part of that (interned or not) name that is in force, or NULL. */
const struct sp_unit *sp_tables_unit(const struct sp_tables *tables, const char *name);
/* The table; NULL with an error that suggests another one. */
const struct sp_unit *sp_tables_table(const struct sp_tables *tables, const char *name, struct sp_error *error);
/* Resolves what the units from index `first` on name in each other; false when there were mistakes. */
bool sp_link(struct sp_tables *tables, size_t first);

#endif
