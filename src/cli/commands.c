/* SPDX-License-Identifier: MIT
 * The list of commands: a new one is a file with a `const struct cli_command cli_NAME`, and a line here. */
#include "cli/cli.h"

#include <string.h>

#define COMMANDS(X)                                                                                                    \
    X(check)                                                                                                           \
    X(derive)                                                                                                          \
    X(diff)                                                                                                            \
    X(fmt)                                                                                                             \
    X(infer)                                                                                                           \
    X(inspect)                                                                                                         \
    X(learn)                                                                                                           \
    X(predict)                                                                                                         \
    X(prove)                                                                                                           \
    X(solve)                                                                                                           \
    X(tables)                                                                                                          \
    X(help)

#define DECLARE(name) extern const struct cli_command cli_##name;
COMMANDS(DECLARE)

#define ENTRY(name) &cli_##name,
const struct cli_command *const cli_commands[] = {COMMANDS(ENTRY) NULL};

const struct cli_command *cli_command_named(const char *name)
{
    for (size_t i = 0; cli_commands[i]; i++)
        if (strcmp(cli_commands[i]->name, name) == 0) return cli_commands[i];
    return NULL;
}

const struct cli_term cli_exit_statuses[] = {
    {"0", "it matches, or there was nothing to find fault with"},
    {"1", "it differs"},
    {"2", "the command line is wrong"},
    {"3", "a table or a configuration is wrong"},
    {"4", "a checkpoint is unreadable or malformed, or the output could not be written"},
    {"5", "the architecture is unknown: there is no table for it"},
    {NULL, NULL},
};

const struct cli_term cli_environment[] = {
    {"NO_COLOR", "when set and not empty, there is no colour but with --color=always"},
    {"TERM", "when it is dumb, there is no colour but with --color=always"},
    {"COLUMNS", "the width of the terminal, in place of what the terminal says"},
    {NULL, NULL},
};

const struct cli_option cli_help_option = {.name = "help", .letter = 'h', .help = "explain the command"};
