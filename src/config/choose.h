/* SPDX-License-Identifier: MIT */
#ifndef SP_CONFIG_CHOOSE_H
#define SP_CONFIG_CHOOSE_H

#include <stdbool.h>

#include "shapeproof/error.h"

struct sp_hyper;
struct shapeproof_tables;
struct sp_unit;

/* The first of the architectures; "" when there is none. */
const char *sp_first_class(const struct sp_hyper *hyper);
/* The table for a configuration: by `name` when given, else by model_type and architectures[0]. */
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
