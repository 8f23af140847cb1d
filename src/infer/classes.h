/* SPDX-License-Identifier: MIT */
#ifndef SP_INFER_CLASSES_H
#define SP_INFER_CLASSES_H

#include "lang/syntax/ast.h"
#include "lang/tables.h"

/* The classes that the table covers, the plainest first, and how many; the only one is "" when the table does not
 * depend on the class. They live as long as the set of tables. */
const char *const *sp_classes_of(const struct shapeproof_tables *tables, const struct sp_unit *table, size_t *count);
/* The first of these classes that has the same head and is as good, or the class itself: "PhiMoEForCausalLM", which
 * other releases have, -> "PhimoeForCausalLM". */
const char *sp_class_today(const struct shapeproof_tables *tables, const struct sp_unit *table, const char *class,
                           bool (*is_as_good)(const void *context, const char *class), const void *context);
/* How many of these classes have a head, such as that of a language model. */
size_t sp_count_heads(const struct shapeproof_tables *tables, const struct sp_unit *table);
/* Whether it is a part of other models that may stand alone, such as the image encoder of one: it has no class with a
 * head. */
bool sp_is_part(const struct shapeproof_tables *tables, const struct sp_unit *table);
/* Whether the table's classes are names of models such as "resnet50", from which hyper-parameters follow. */
bool sp_stands_for_settings(const struct sp_unit *table);
/* How many tables build on it. */
size_t sp_count_heirs(const struct shapeproof_tables *tables, const struct sp_unit *table);

#endif
