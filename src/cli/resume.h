/* SPDX-License-Identifier: MIT
 * check --resume: whether training can go on from a checkpoint. */
#ifndef SP_CLI_RESUME_H
#define SP_CLI_RESUME_H

#include "cli/cli.h"

/* Checks the first operand, and writes the report; exit status. */
int cli_check_resume(const struct cli_args *args);

#endif
