/* SPDX-License-Identifier: MIT */
#ifndef SP_CONFIG_CHOOSE_H
#define SP_CONFIG_CHOOSE_H

#include "lang/hyper.h"
#include "lang/tables.h"

/* The table for a configuration: by `name` when given, else by model_type and architectures[0]. */
const struct sp_unit *sp_choose_table(const struct sp_tables *tables, const char *name, const struct sp_hyper *hyper,
                                      struct sp_error *error);

#endif
