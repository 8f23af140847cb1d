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
/* What `inspect` reports of each checkpoint. */
struct cli_inspection {
    const struct cli_args *args;
    struct shapeproof_report_inspect_options list; /* without --by */
    enum shapeproof_by keys[2];                    /* of --by; NONE without it */
    const char *query;                             /* --query: the value of this key of the metadata alone; or NULL */
};

/* Inspects each component that has weights, warns of those that are missing, and writes what they add up to, unless a
 * filter leaves tensors out or a single value is wanted; exit status. */
int cli_inspect_components(const struct shapeproof_components *components, const struct cli_inspection *inspection);

/* check.c: the exit status of a check, by the options --for and --strict. */
int cli_judge_check(const struct cli_args *args, const struct shapeproof_check *check,
                    const struct shapeproof_loadings *loadings);
/* check.c: the groups of the table with their formulas, for a page; NULL where they cannot be counted. */
struct shapeproof_verification *cli_count_groups(const struct shapeproof_tables *tables,
                                                 const struct shapeproof_check *check);
/* inspect.c: writes the report of a checkpoint and its warnings; exit status, CLI_DIFFERS if there are warnings and
 * --strict is given. The totals if they are asked for. */
int cli_inspect_one(const char *path, const struct cli_inspection *inspection, struct shapeproof_totals *totals);

#endif
