/* SPDX-License-Identifier: MIT
 * The folder of a training: what `check` does with its models. */
#ifndef SP_CLI_RUN_H
#define SP_CLI_RUN_H

#include "cli/cli.h"

/* Checks each model of the run, in a process of its own, and writes one report of all; the worst exit status, and
 * CLI_DIFFERS if a file beside them is broken. `check` is the command for one checkpoint. */
int cli_check_run(const struct cli_args *args, struct shapeproof_run *run, int (*check)(const struct cli_args *));

#endif
