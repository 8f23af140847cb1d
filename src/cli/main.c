/* SPDX-License-Identifier: MIT
 * shapeproof COMMAND [OPTION]... [ARGUMENT]..., or shapeproof PATH [OPTION]... */
#include "base/suggest.h"
#include "cli/cli.h"
#include "cli/near.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

enum { COMMANDS_AT_MOST = 32 };

/* What other programs call a command: { their word, ours }. */
static const char *const other_names[][2] = {
    {"compare", "diff"},   {"count", "eval"},     {"dump", "inspect"}, {"format", "fmt"},
    {"formula", "derive"}, {"info", "inspect"},   {"list", "inspect"}, {"ls", "inspect"},
    {"show", "inspect"},   {"validate", "check"}, {"verify", "check"}, {"view", "browse"},
};

/* The command that is called so elsewhere, or one that is written alike; NULL if there is none. */
static const char *command_like(const char *name)
{
    const char *names[COMMANDS_AT_MOST] = {NULL};
    size_t count = 0;
    for (size_t i = 0; i < sizeof other_names / sizeof *other_names; i++)
        if (strcmp(other_names[i][0], name) == 0) return other_names[i][1];
    for (; count < COMMANDS_AT_MOST && cli_commands[count]; count++) names[count] = cli_commands[count]->name;
    return sp_suggest(name, names, count);
}

/* Complains of a word that is not `wanted`, such as a command, with the hint that comes nearest. */
static int complain_of_word(const char *name, const char *wanted)
{
    char hint[512] = "shapeproof --help lists the commands";
    const char *likely = strcmp(name, "version") == 0 ? "--version" : command_like(name);
    if (likely) snprintf(hint, sizeof hint, "did you mean '%s'?", likely);
    else cli_hint_of_path(name, hint, sizeof hint);
    return cli_usage_error(hint, "'%s' is %s", name, wanted);
}

int cli_unknown_command(const char *name) { return complain_of_word(name, "not a command"); }

/* Opens the outputs, and runs the command; exit status. */
static int run_parsed(struct cli_args *args)
{
    const char *path = cli_operand(args); /* as the user has it: it becomes that of a cache */
    if (!path && cli_has_option(args, "checkpoint")) path = cli_value(args, "checkpoint", NULL);
    if (!path && strcmp(args->command->name, "prove") == 0 && !cli_value(args, "list", NULL))
        path = cli_value(args, "claims", NULL);
    int status = cli_set_limits(args);
    if (status == CLI_OK) status = cli_open_outputs(args);
    if (status != CLI_OK) return status;
    cli_hold_output(args);
    status = cli_run_found(args, args->command->run);
    cli_put_documents(args, path, status); /* of a list, they are written */
    return status;
}

/* With the words behind the name of the command. */
static int run_command(const struct cli_command *command, int count, char **words)
{
    struct cli_args args;
    int status = CLI_USAGE;
    if (cli_parse(&args, command, count, words)) {
        cli_allow_progress(&args);
        if (cli_has_option(&args, "color")) cli_color_messages(cli_value(&args, "color", "auto"));
        if (cli_flag(&args, "help")) {
            cli_print_command_help(stdout, command);
            status = CLI_OK;
        } else status = run_parsed(&args);
    }
    cli_args_free(&args);
    return status;
}

/* Whether a first word that is no command is a checkpoint: a file or folder, a URL, a model in the cache of the hub, or
 * standard input. */
static bool is_checkpoint(const char *word)
{
    char *cached = shapeproof_checkpoint_path(word);
    const bool is = cached || access(word, F_OK) == 0 || shapeproof_is_remote(word) || strcmp(word, "-") == 0;
    shapeproof_free(cached);
    return is;
}

/* `shapeproof PATH` is `inspect --tree PATH`, and with further words `inspect PATH WORDS...`. Not `check`: that has no
 * answer without a configuration, and its exit status is a judgement, for which a script should ask by name. */
static int show_checkpoint(int count, char **words)
{
    char tree[] = "--tree", *with_tree[] = {tree, words[0]};
    const struct cli_command *inspect = cli_command_named("inspect");
    return count == 1 ? run_command(inspect, 2, with_tree) : run_command(inspect, count, words);
}

static void print_version(void)
{
    printf("shapeproof %s\n", shapeproof_version());
    if (shapeproof_is_portable())
        puts("portable build: no sandbox for libhdf5 and libcurl, only limits of memory, time and open files");
}

/* Complains of an option in front of the command: --help and --version alone may stand there. */
static int complain_of_option(const char *option, int count, char **words)
{
    static const char *const alone[] = {"--help", "--version"};
    char hint[512] = "shapeproof COMMAND [OPTION]...";
    const char *likely = sp_suggest(option, alone, sizeof alone / sizeof *alone);
    if (likely) snprintf(hint, sizeof hint, "did you mean '%s'?", likely);
    for (int i = count - 1; i >= 0 && !likely; i--) /* the first one is written last */
        if (cli_command_named(words[i]))
            snprintf(hint, sizeof hint, "the command comes first: shapeproof %s %s", words[i], option);
    return cli_usage_error(hint, "expected a command in front of '%s'", option);
}

/* The first word is a command or a checkpoint, or asks for help or the version. */
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
    else if (strcmp(first, "--version") == 0 || strcmp(first, "-V") == 0) print_version();
    else if (is_checkpoint(first)) return show_checkpoint(argc - 1, argv + 1);
    else if (first[0] == '-') return complain_of_option(first, argc - 2, argv + 2);
    else return complain_of_word(first, "neither a command nor a file");
    return CLI_OK;
}

/* "json" or "jsonl", if the words ask for it; NULL otherwise. It is known before they are parsed, so that a mistake in
 * them is reported as JSON, too. */
static const char *json_asked(int count, char **words)
{
    static const char option[] = "--format";
    for (int i = 0; i < count && strcmp(words[i], "--") != 0; i++) {
        const char *format = "";
        if (strcmp(words[i], "--json") == 0) format = "json";
        else if (strcmp(words[i], option) == 0 && i + 1 < count) format = words[i + 1];
        else if (strncmp(words[i], option, strlen(option)) == 0 && words[i][strlen(option)] == '=')
            format = words[i] + strlen(option) + 1;
        if (strcmp(format, "json") == 0 || strcmp(format, "jsonl") == 0) return format;
    }
    return NULL;
}

/* A redaction if --redact is among the words; NULL otherwise. It is known before they are parsed, so that a mistake in
 * them is redacted, too. */
static struct shapeproof_redaction *redaction_asked(int count, char **words)
{
    int option = 0;
    while (option < count && strcmp(words[option], "--redact") != 0 && strcmp(words[option], "--") != 0) option++;
    if (option == count || strcmp(words[option], "--redact") != 0) return NULL;
    struct shapeproof_redaction *redaction = shapeproof_redaction_new();
    for (int i = 0; i < count; i++)
        if (strchr(words[i], '/')) shapeproof_free(shapeproof_redact_path(redaction, words[i]));
    return redaction;
}

/* A standard stream that the caller has closed becomes one that fails with the same error, so that no file that the
 * command opens gets its number, and messages or a report go into that. Those to write to become a folder, which
 * /dev/stdout cannot open for writing either. */
static void fill_closed_streams(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0 && (fd == STDIN_FILENO ? open("/dev/null", O_WRONLY) : open("/", O_RDONLY)) != fd)
            return;
}

int main(int argc, char **argv)
{
    fill_closed_streams();
    cli_prepare_for_no_memory();
    signal(SIGXFSZ, SIG_IGN); /* so that a file-size limit is an error of writing, as a full disk is */
    cli_expect_processor_limit();
    struct shapeproof_redaction *redaction = redaction_asked(argc - 1, argv + 1);
    cli_redact_messages(redaction);
    const char *json = json_asked(argc - 1, argv + 1);
    cli_expect_json(json != NULL, json && strcmp(json, "jsonl") == 0);
    int status = cli_expect_stack_limit() ? dispatch_command(argc, argv) : CLI_FILE;
    if (!cli_close_outputs()) status = CLI_FILE;
    shapeproof_redaction_free(redaction);
    return status;
}
