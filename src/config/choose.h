/* SPDX-License-Identifier: MIT */
#ifndef SP_CONFIG_CHOOSE_H
#define SP_CONFIG_CHOOSE_H

#include <stdbool.h>

#include "shapeproof/error.h"

struct sp_arena;
struct sp_hyper;
struct shapeproof_tables;
struct sp_unit;

/* The first of the architectures; "" when there is none. */
const char *sp_first_class(const struct sp_hyper *hyper);
/* The class of the same model with another head: of "BertForMaskedLM" and "ForSequenceClassification"
 * "BertForSequenceClassification". Without architectures it is made of the model_type, and may be the name of no class.
 * NULL where the first of the architectures does not begin with the model_type. In the arena. */
const char *sp_class_with_head(struct sp_arena *arena, const struct sp_hyper *hyper, const char *head);
/* The table for a configuration. The first of these that is there decides:
 *   1. `name`, which the caller gives, or NULL;
 *   2. shapeproof_table in the configuration;
 *   3. the class that the model is made by: _class_name of diffusers, or `architecture` of timm;
 *   4. model_type, or, in the files of 2019, the model type that architectures[0] begins with; among several tables the
 *      one that lists architectures[0] comes first;
 *   5. architectures[0], for tables that serve a class whatever its model_type.
 * If a table is named that does not exist, or if nothing leads to a table, NULL with an error. */
const struct sp_unit *sp_choose_table(const struct shapeproof_tables *tables, const char *name,
                                      const struct sp_hyper *hyper, struct shapeproof_error *error);

/* A configuration that names two models: its model_type leads to one table, the first of its architectures to another.
 */
struct sp_two_models {
    const char *model_type, *class;
    const char *class_type; /* the model_type that the class belongs to */
};

bool sp_chooses_two(const struct shapeproof_tables *tables, const struct sp_hyper *hyper, struct sp_two_models *two);

#endif
