/* SPDX-License-Identifier: MIT
 * Sums by keys, for `inspect --by` and `diff --by`. */
#ifndef SP_CLI_BREAKDOWN_H
#define SP_CLI_BREAKDOWN_H

#include "cli/cli.h"

/* Rows that both commands have. */
#define CLI_OPTION_ROWS                                                                                                \
    .name = "rows", .letter = 'n', .argument = "N",                                                                    \
    .help = "with --by, print at most N rows, and one for all others; 0 is no limit; the default is 20 in text, "      \
            "otherwise 0"
#define CLI_OPTION_EXACT .name = "exact", .help = "with --by, print all digits of each number; JSON always has them"

/* Reads the keys of --by; refuses the same one twice. False after an error was printed; without --by there are none,
 * and it succeeds. */
bool cli_keys(const struct cli_args *args, enum shapeproof_by keys[2]);
/* --by, --rows, --depth and --sort, as far as the command has them. */
struct shapeproof_breakdown_options cli_breakdown_options(const struct cli_args *args, const struct cli_output *to,
                                                          const enum shapeproof_by keys[2]);
/* Writes the report and frees the breakdown; exit status. NULL: prints the error. `no_heading`: CSV without titles. */
int cli_put_breakdown(const struct cli_args *args, struct cli_output *to, struct shapeproof_breakdown *breakdown,
                      bool no_heading, const struct shapeproof_error *error);

#endif
