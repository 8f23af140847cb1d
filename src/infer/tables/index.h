/* SPDX-License-Identifier: MIT
 * The index of tables: what the search needs to know of every table before it parses any. That is how its names end,
 * which tables and parts it uses, its classes, and what it extends.
 *
 *   row                          in a use of                  the end of its name
 *   mlp.up_proj.weight                                        up_proj.weight
 *   weight                       mlp.up_proj.* linear(...)    up_proj.weight
 *
 * The index of the built-in tables is made when shapeproof is built: src/tables/make_index.c prints what
 * sp_table_index_add finds. A table of the user's is added to an index of its own when a search first comes to it. */
#ifndef SP_INFER_INDEX_H
#define SP_INFER_INDEX_H

#include <stdint.h>

#include "base/map.h"
#include "lang/tables.h"

/* What separates the components of a name. */
#define SP_ENDS "./:"

enum {
    SP_INDEXED_USE = 1,         /* a use of a table or part; otherwise a tensor */
    SP_INDEXED_OPTIONAL = 2,    /* the file may do without it */
    SP_INDEXED_ALTERNATIVE = 4, /* one of the models that a composite can have */
    SP_INDEXED_SECTION = 8,     /* the first one of its section */
    SP_INDEXED_NONE = (1 << 24) - 1
};

/* A row of a section. Its name has a mark for each number and each expression. Of a tensor it is the last two
 * components, or the only one; of a use the last component that is put in front of the names of what it uses. */
struct sp_indexed_row {
    uint32_t name;      /* offset in the text */
    uint32_t unit : 24; /* of a use: the place of what is used (lang/tables.h), or SP_INDEXED_NONE */
    uint32_t flags : 8;
};

struct sp_indexed_unit {
    uint32_t first, count; /* of the rows */
    uint32_t classes;      /* offset of the names of its classes, one behind the other */
    uint32_t parent;       /* the place of what it extends, or SP_INDEXED_NONE */
    uint8_t class_count;   /* 0: its classes are not in the index */
    bool needs_arguments, chooses;
};

/* An index that can grow. Zero-initialise; free with sp_table_index_free. */
struct sp_table_index {
    struct sp_arena arena;
    struct sp_text text;
    SP_ARRAY(struct sp_indexed_row) rows;
    struct sp_map offsets; /* of the texts that are there, so that each is there once */
};

/* Adds a unit of the set, without its classes. */
struct sp_indexed_unit sp_table_index_add(struct sp_table_index *index, const struct shapeproof_tables *tables,
                                          const struct sp_unit *unit);
/* Adds the classes of a unit that is there. */
void sp_table_index_add_classes(struct sp_table_index *index, struct sp_indexed_unit *unit, const char *const *classes,
                                size_t count);
void sp_table_index_free(struct sp_table_index *index);

/* Of the built-in units, in the order of sp_builtin_units; the count is 0 in the program that makes it. */
extern const char sp_builtin_index_text[];
extern const struct sp_indexed_row sp_builtin_index_rows[];
extern const struct sp_indexed_unit sp_builtin_index_units[];
extern const size_t sp_builtin_index_count;

#endif
