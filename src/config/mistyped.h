/* SPDX-License-Identifier: MIT */
#ifndef SP_CONFIG_MISTYPED_H
#define SP_CONFIG_MISTYPED_H

#include "config/config.h"
#include "shapeproof/prediction.h"

/* Where no prediction can be made because of a setting of the wrong kind, the error says so instead of what it said. */
void sp_blame_mistyped(const struct sp_tables *tables, const struct sp_config *config,
                       const struct sp_predict_options *options, struct sp_error *error);

#endif
