/* SPDX-License-Identifier: MIT
 * A prediction as a checkpoint that is in no file, so that it can be summed up and compared as files are. */
#ifndef SP_CLI_PREDICTED_H
#define SP_CLI_PREDICTED_H

#include "cli/cli.h"

/* The parameters of a prediction: its tensors without optional ones and buffers. A tensor that is tied to another
 * shares its storage. `dtype` is that of the tensors for which the table says none; `name` stands for the path. NULL
 * with the error. Free it with shapeproof_inventory_close. */
struct shapeproof_inventory *cli_inventory_of_prediction(const struct shapeproof_prediction *prediction,
                                                         enum shapeproof_dtype dtype, const char *name,
                                                         struct shapeproof_error *error);

#endif
