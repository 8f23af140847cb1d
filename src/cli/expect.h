/* SPDX-License-Identifier: MIT
 * What the commands that compare have in common: a file of expected differences. */
#ifndef SP_CLI_EXPECT_H
#define SP_CLI_EXPECT_H

#include "cli/cli.h"

#define CLI_OPTION_EXPECT                                                                                              \
    .name = "expect", .letter = 'e', .argument = "FILE",                                                               \
    .help = "a file of expected differences, each with a reason; they are listed as notes and do not change the "      \
            "verdict"
#define CLI_OPTION_TODAY                                                                                               \
    .name = "today", .argument = "YYYY-MM-DD", .hidden = true,                                                         \
    .help = "the day on which expectations expire or not, for tests"

/* Loads what --expect names; NULL without the option. CLI_OK, or complains and returns the exit status. */
int cli_load_expectations(const struct cli_args *args, struct shapeproof_expectations **expectations);

#endif
