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

const char cli_path_alone[] =
    "'shapeproof PATH' shows what the checkpoint at PATH holds, as 'shapeproof inspect --tree PATH' does: that needs "
    "nothing but the file. 'shapeproof PATH OPTION...' is 'shapeproof inspect PATH OPTION...', without --tree. "
    "'shapeproof check PATH' tells whether the checkpoint is what its configuration implies.";

const struct cli_term cli_exit_statuses[] = {
    {"0", "success: a checkpoint matches or is explained, and its loader takes it whole; all claims are proved; or the "
          "output "
          "was printed"},
    {"1", "a checkpoint differs, or its loader does not take it whole; a claim is refuted; there is no answer; or with "
          "--strict there is a warning"},
    {"2", CLI_USAGE_STATUS},
    {"3", "a table or a configuration is wrong"},
    {"4", "a checkpoint is unreadable or malformed or could not be fetched, or the output could not be written"},
    {"5", "not decided: there is no table for the architecture, or no proof"},
    {NULL, NULL},
};

const struct cli_term cli_environment[] = {
    {"SHAPEPROOF_TABLES",
     "files and folders of your own tables, colon-separated; they take precedence over the built-in ones"},
    {"NO_COLOR", "if it is set and not empty, the output has no colour without --color=always"},
    {"TERM", "if it is 'dumb', the output has no colour without --color=always"},
    {"COLUMNS", "on a terminal, the width for the tables of inspect and tables, in place of the width of the terminal"},
    {"HF_TOKEN",
     "the token for checkpoints of the Hugging Face hub (hf://). If it is not set, the token is read from the file "
     "HF_TOKEN_PATH, $HF_HOME/token or ~/.cache/huggingface/token. It is sent only to the host of HF_ENDPOINT"},
    {"HF_ENDPOINT", "the address of the hub; https://huggingface.co is the default"},
    {"HF_HUB_OFFLINE", "if it is set and not 0, the same as --offline"},
    {"XDG_CACHE_HOME", "fetched headers are kept in its folder shapeproof; ~/.cache is the default"},
    {NULL, NULL},
};

const struct cli_option cli_help_option = {.name = "help", .letter = 'h', .help = "explain the command"};
