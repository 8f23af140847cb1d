/* SPDX-License-Identifier: MIT
 * The list of commands: a new one is a file with a `const struct cli_command cli_NAME`, and a line here. */
#include "cli/cli.h"

#include <string.h>

#define COMMANDS(X)                                                                                                    \
    X(browse)                                                                                                          \
    X(card)                                                                                                            \
    X(check)                                                                                                           \
    X(derive)                                                                                                          \
    X(diff)                                                                                                            \
    X(eval)                                                                                                            \
    X(fit)                                                                                                             \
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
    "'shapeproof PATH' is 'shapeproof inspect --tree PATH': it lists what the checkpoint at PATH holds, and needs "
    "no configuration. 'shapeproof PATH OPTION...' is 'shapeproof inspect PATH OPTION...', without --tree. "
    "'shapeproof check PATH' compares the checkpoint with the tensors that its configuration implies.";

const struct cli_term cli_exit_statuses[] = {
    {"0", "success: for example, the checkpoint matches and its loader loads it whole, or all claims are proved, or "
          "the output was printed"},
    {"1", "the answer is negative: for example, the checkpoint differs or its loader does not load it whole, or a "
          "claim is refuted, or no solution exists; or --strict is given and there is a warning"},
    {"2", CLI_USAGE_STATUS},
    {"3", "a table, a configuration or a file of expected differences is wrong"},
    {"4", "a checkpoint is unreadable or malformed or could not be fetched, or the output could not be written"},
    {"5", "the question cannot be decided: for example, there is no table for the architecture, no configuration, "
          "or no proof"},
    {NULL, NULL},
};

const struct cli_term cli_environment[] = {
    {"SHAPEPROOF_TABLES",
     "files and folders of your own tables, colon-separated; they take precedence over the built-in ones"},
    {"NO_COLOR", "if set and not empty, the output is not coloured; --color=always overrides this"},
    {"TERM", "if 'dumb', there is no pager, no progress and no colour; --color=always turns colour on nevertheless"},
    {"SHAPEPROOF_PAGER",
     "the pager, a command for the shell; the default is the value of PAGER, or less if PAGER is not "
     "set. There is no pager if the value is empty or 'cat'"},
    {"PAGER", "the pager if SHAPEPROOF_PAGER is not set"},
    {"LESS", "the options of less; if it is not set, they are FRX"},
    {"CI", "if set and not empty, no line on the terminal shows the progress of a command"},
    {"COLUMNS", "the width of the lines on a terminal; the width of the terminal is the default"},
    {"HF_TOKEN",
     "the token for checkpoints of the Hugging Face hub (hf://). If it is not set, the token is read from a file: "
     "$HF_TOKEN_PATH if that variable is set, otherwise $HF_HOME/token if HF_HOME is set, otherwise "
     "huggingface/token in $XDG_CACHE_HOME or ~/.cache. The token is sent only to the host of HF_ENDPOINT"},
    {"HF_ENDPOINT", "the address of the hub; https://huggingface.co is the default"},
    {"HF_HUB_OFFLINE", "if set and not 0, the same as --offline"},
    {"XDG_CACHE_HOME", "the folder of caches; fetched headers are kept in its subfolder shapeproof; ~/.cache is the "
                       "default"},
    {NULL, NULL},
};

const struct cli_option cli_help_option = {.name = "help", .letter = 'h', .help = "explain the command"};
