/* SPDX-License-Identifier: MIT
 * A set of table files: the built-in ones and the user's. The user's are parsed and linked when they are added; a
 * built-in table or part is when somebody first asks for it, with what it extends and uses, and nobody notices.
 *
 * Each table, part and set of claims has a place, in order of reading: first the built-in ones, then the user's. A
 * later one hides an earlier one of the same name. */
#ifndef SP_LANG_TABLES_H
#define SP_LANG_TABLES_H

#include "base/map.h"
#include "lang/builtin.h"
#include "lang/syntax/ast.h"
#include "lang/syntax/symbols.h"
#include "shapeproof/table.h"

struct sp_units {
    struct sp_unit **items;
    size_t count, capacity;
};

struct shapeproof_tables {
    struct sp_arena arena;
    struct sp_symbols symbols;
    struct sp_units own;            /* of the user's files, in order of reading */
    struct sp_units builtin;        /* those that were asked for, in that order */
    struct sp_unit **parsed;        /* the same by index of sp_builtin_units, or NULL */
    struct sp_source_text *sources; /* of sp_builtin_files */
    const char **words;             /* of sp_builtin_words */
    struct sp_map names;            /* of the built-in tables and parts: index of sp_builtin_units */
    size_t *list;                   /* the places of the tables that are in force, by name; NULL: to be made */
    size_t list_count;
    const struct shapeproof_table_info **infos; /* of these, each as soon as somebody asks; in the arena */
    struct sp_text messages;
    struct sp_text remarks; /* what is odd and no mistake, a line each */
    uint64_t input;         /* bytes of the user's files */
};

/* The call that is under way works on them (base/budget.h). */
void sp_tables_reuse(const struct shapeproof_tables *tables);

size_t sp_tables_place_count(const struct shapeproof_tables *tables);
/* What is there, without parsing it. */
struct sp_entry sp_tables_entry(const struct shapeproof_tables *tables, size_t place);
/* Parsed and linked; NULL when a built-in file has a mistake, which sp_tables_table tells. */
const struct sp_unit *sp_tables_at(const struct shapeproof_tables *tables, size_t place);
/* Of the table or part of that name that is in force, or SIZE_MAX. */
size_t sp_tables_place(const struct shapeproof_tables *tables, const char *name);
/* Of a table or part of the set, whether it is in force or not; SIZE_MAX when it is not of the set. */
size_t sp_tables_place_of(const struct shapeproof_tables *tables, const struct sp_unit *unit);
/* Of the table that serves an architecture, or a class whatever its model_type, with or without a tag behind a point;
 * or SIZE_MAX. */
size_t sp_tables_of_class(const struct shapeproof_tables *tables, const char *class);
/* The places of the tables in force, by name. */
const size_t *sp_tables_list(const struct shapeproof_tables *tables, size_t *count);

/* As shapeproof_tables_add_text, of a source with its flags; its name and text are copied. After a mistake the set is
 * as it was before. */
enum shapeproof_status sp_tables_add_source(struct shapeproof_tables *tables, struct sp_source_text source,
                                            struct shapeproof_error *error);

/* The table or part of that name that is in force, or NULL. */
const struct sp_unit *sp_tables_unit(const struct shapeproof_tables *tables, const char *name);
/* Keeps the classes that a unit of the set was found to cover, as its `classes`; they are copied. */
void sp_tables_keep_classes(const struct shapeproof_tables *tables, const struct sp_unit *unit,
                            const char *const *classes, size_t count);
/* The table; NULL with an error that suggests another one. */
const struct sp_unit *sp_tables_table(const struct shapeproof_tables *tables, const char *name,
                                      struct shapeproof_error *error);

/* ---- tables.c, link.c ---- */

/* The built-in unit with that index, parsed and not linked, at the end of `builtin` if it was not there; NULL after a
 * mistake. */
struct sp_unit *sp_tables_parse_builtin(struct shapeproof_tables *tables, size_t index);
/* Resolves what the units from index `first` on name in each other; false when there were mistakes. Those of `builtin`
 * see no others, and more come to it while they are linked: those that they use. */
bool sp_link(struct shapeproof_tables *tables, struct sp_units *units, size_t first);

#endif
