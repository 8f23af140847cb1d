/* SPDX-License-Identifier: MIT
 * Directories that hold several models: what `check` and `inspect` do with each of them. */
#ifndef SP_CLI_COMPONENTS_H
#define SP_CLI_COMPONENTS_H

#include "cli/cli.h"

/* Whether the directory is to be checked as a single checkpoint: there is no list of components, or an option is about
 * one model and the directory has one in itself. */
bool cli_is_about_one(const struct cli_args *args, const struct shapeproof_components *components);
/* Checks each component that has weights, and writes one report of all; the worst exit status. */
int cli_check_components(const struct cli_args *args, const struct shapeproof_components *components);
/* Checks an adapter against each component of a pipeline that it has something for; the worst exit status. */
int cli_check_adapter(const struct cli_args *args, const struct shapeproof_inventory *inventory,
                      struct shapeproof_components *components);
/* Inspects each component that has weights, warns of those that are missing, and writes what they add up to, unless a
 * filter leaves tensors out; exit status. With `strict` a file with warnings makes it CLI_DIFFERS. */
int cli_inspect_components(const struct shapeproof_components *components,
                           const struct shapeproof_report_inspect_options *how, bool strict);

/* check.c: the exit status of a check, by the options --for and --strict. */
int cli_judge_check(const struct cli_args *args, const struct shapeproof_check *check,
                    const struct shapeproof_loadings *loadings);
/* inspect.c: writes the report of a checkpoint and its warnings; exit status, and the totals if they are asked for. */
int cli_inspect_one(const char *path, const struct shapeproof_report_inspect_options *how, bool strict,
                    struct shapeproof_totals *totals);

#endif
