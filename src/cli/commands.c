/* SPDX-License-Identifier: MIT
 * The list of commands: a new one is a file with a `const struct cli_command cli_NAME`, and a line here. */
#include "cli/cli.h"

#include <string.h>

#define COMMANDS(X)                                                                                                    \
    X(check)                                                                                                           \
    X(derive)                                                                                                          \
    X(diff)                                                                                                            \
    X(eval)                                                                                                            \
    X(fmt)                                                                                                             \
    X(infer)                                                                                                           \
    X(inspect)                                                                                                         \
    X(learn)                                                                                                           \
    X(models)                                                                                                          \
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
    {"0", "success: a checkpoint matches or is explained, and its loader takes it whole; all claims are proved; or the "
          "output "
          "was printed"},
    {"1", "a checkpoint differs, a claim is refuted, there is no answer, or --strict met a warning"},
    {"2", CLI_USAGE_STATUS},
    {"3", "a table or a configuration is wrong"},
    {"4", "a checkpoint is unreadable or malformed, or could not be fetched, or the output could not be written"},
    {"5", "not decided: there is no table for the architecture, or no proof"},
    {NULL, NULL},
};

const struct cli_term cli_environment[] = {
    {"SHAPEPROOF_TABLES",
     "files and folders of your own tables, colon-separated; they take precedence over the built-in ones"},
    {"NO_COLOR", "when set and not empty, there is no colour but with --color=always"},
    {"TERM", "when it is dumb, there is no colour but with --color=always"},
    {"COLUMNS", "the width of the terminal, in place of what the terminal says"},
    {"HF_TOKEN",
     "the token for checkpoints of the Hugging Face hub (hf://); if it is not set, it is read from the file "
     "that HF_TOKEN_PATH names, $HF_HOME/token or ~/.cache/huggingface/token. It is sent only to the host "
     "of HF_ENDPOINT"},
    {"HF_ENDPOINT", "where the hub is, in place of https://huggingface.co"},
    {"HF_HUB_OFFLINE", "when set and not 0, as with --offline"},
    {"XDG_CACHE_HOME",
     "headers that were fetched are kept in its folder shapeproof; without it, in ~/.cache/shapeproof"},
    {NULL, NULL},
};

const struct cli_option cli_help_option = {.name = "help", .letter = 'h', .help = "explain the command"};
