/* SPDX-License-Identifier: MIT
 * shapeproof COMMAND [OPTION]... [ARGUMENT]... */
#include "base/suggest.h"
#include "cli/cli.h"

#include <string.h>
#include <unistd.h>

enum { COMMANDS_AT_MOST = 32 };

int cli_unknown_command(const char *name)
{
    char hint[512] = "shapeproof --help lists the commands";
    const char *names[COMMANDS_AT_MOST] = {NULL};
    size_t count = 0;
    for (; count < COMMANDS_AT_MOST && cli_commands[count]; count++) names[count] = cli_commands[count]->name;
    const char *likely = sp_suggest(name, names, count);
    if (likely) snprintf(hint, sizeof hint, "did you mean '%s'?", likely);
    else if (access(name, F_OK) == 0) snprintf(hint, sizeof hint, "to look into a file: shapeproof inspect %s", name);
    return cli_usage_error(hint, "'%s' is not a command", name);
}

/* With the words behind the name of the command. */
static int run_command(const struct cli_command *command, int count, char **words)
{
    struct cli_args args;
    int status = CLI_USAGE;
    if (cli_parse(&args, command, count, words)) {
        if (cli_has_option(&args, "color")) cli_color_messages(cli_value(&args, "color", "auto"));
        if (cli_flag(&args, "help")) {
            cli_print_command_help(stdout, command);
            status = CLI_OK;
        } else status = cli_run_found(&args, command->run);
    }
    cli_args_free(&args);
    return status;
}

/* The first word is a command, or asks for help or the version. */
static int dispatch_command(int argc, char **argv)
{
    if (argc < 2) {
        cli_print_usage(stderr);
        return CLI_USAGE;
    }
    const char *first = argv[1];
    const struct cli_command *command = cli_command_named(first);
    if (command) return run_command(command, argc - 2, argv + 2);
    if (strcmp(first, "--help") == 0 || strcmp(first, "-h") == 0) cli_print_help(stdout);
    else if (strcmp(first, "--version") == 0 || strcmp(first, "-V") == 0)
        printf("shapeproof %s\n", shapeproof_version());
    else if (first[0] == '-')
        return cli_usage_error("shapeproof COMMAND [OPTION]...", "expected a command in front of '%s'", first);
    else return cli_unknown_command(first);
    return CLI_OK;
}

int main(int argc, char **argv)
{
    const int status = dispatch_command(argc, argv);
    return cli_close_output() ? status : CLI_FILE;
}
