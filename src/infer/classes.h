/* SPDX-License-Identifier: MIT */
#ifndef SP_INFER_CLASSES_H
#define SP_INFER_CLASSES_H

#include "lang/syntax/ast.h"
#include "lang/tables.h"

/* The classes that the table covers, the plainest first; "" when it does not depend on the class. In the arena. */
const char **sp_classes_of(struct sp_arena *arena, const struct sp_unit *table, size_t *count);
/* How many of them have a head. */
size_t sp_count_heads(struct sp_arena *arena, const struct sp_unit *table);
/* Whether it is a part of other models that may stand alone, such as the image encoder of one: it has no class with a
 * head. */
bool sp_is_part(struct sp_arena *arena, const struct sp_unit *table);
/* How many tables build on it. */
size_t sp_count_heirs(const struct sp_tables *tables, const struct sp_unit *table);

#endif
