/* SPDX-License-Identifier: MIT
 * --help of the command and of its sub-commands, and the command `help`. */
#include "cli/cli.h"

#include <string.h>

enum { WIDEST = 80, NARROWEST = 40, TERM_COLUMNS = 14, OPTION_COLUMNS = 30, EXAMPLE_COLUMNS = 6 };

static const char tagline[] = "shapeproof: what a model checkpoint holds, and what it should hold";

/* ---- filling lines ---- */

/* Blanks up to that column. */
static void indent_to(FILE *stream, size_t *column, size_t wanted)
{
    for (; *column < wanted; ++*column) putc(' ', stream);
}

/* The columns of a line: those of the terminal if it is narrow, since wide lines are hard to read. */
static size_t line_width(void)
{
    const size_t columns = cli_columns();
    return columns >= NARROWEST && columns < WIDEST ? columns : WIDEST;
}

/* Writes the words of a text in lines of that many columns at most. `column` is where the first word begins; further
 * lines are indented by `indent`. An empty line in the text stays one. Ends the last line. */
static void fill_lines(FILE *stream, size_t column, size_t indent, const char *text)
{
    const size_t width = line_width();
    while (*text) {
        const size_t length = strcspn(text, " \n");
        if (column > indent && column + 1 + length > width) {
            putc('\n', stream);
            column = 0;
        }
        if (column > indent) column += (size_t)fprintf(stream, " ");
        indent_to(stream, &column, indent);
        column += fwrite(text, 1, length, stream);
        text += length;
        if (strncmp(text, "\n\n", 2) == 0) {
            fputs("\n\n", stream);
            column = 0;
        }
        text += strspn(text, " \n");
    }
    putc('\n', stream);
}

/* Exit statuses, environment: a term and its meaning in two columns. */
static void help_terms(FILE *stream, const char *title, const struct cli_term *terms)
{
    fprintf(stream, "\n%s:\n", title);
    for (; terms->term; terms++) {
        size_t column = (size_t)fprintf(stream, "  %s", terms->term);
        if (column >= TERM_COLUMNS) {
            fputc('\n', stream);
            column = 0;
        }
        indent_to(stream, &column, TERM_COLUMNS);
        fill_lines(stream, column, TERM_COLUMNS, terms->meaning);
    }
}

/* ---- one command ---- */

/*   -d, --depth=N   and what it does; on a line of its own when the names are long. */
static void help_option(FILE *stream, const struct cli_option *option)
{
    size_t column = option->letter ? (size_t)fprintf(stream, "  -%c, --%s", option->letter, option->name)
                                   : (size_t)fprintf(stream, "      --%s", option->name);
    if (option->argument)
        column += (size_t)fprintf(stream, option->value_with ? "[=%s]" : "=%s%s", option->argument,
                                  option->takes_file ? "[=FILE]" : "");
    if (column + 2 > OPTION_COLUMNS) {
        putc('\n', stream);
        column = 0;
    }
    indent_to(stream, &column, OPTION_COLUMNS);
    fill_lines(stream, column, OPTION_COLUMNS, option->help);
}

/* Each with what it is for below it. */
static void help_examples(FILE *stream, const struct cli_example *example)
{
    if (!example) return;
    fprintf(stream, "\nexamples:\n");
    for (; example->command; example++) {
        size_t column = 0;
        fprintf(stream, "  %s\n", example->command);
        indent_to(stream, &column, EXAMPLE_COLUMNS);
        fill_lines(stream, column, EXAMPLE_COLUMNS, example->what);
    }
}

void cli_print_command_help(FILE *stream, const struct cli_command *command)
{
    fill_lines(stream, (size_t)fprintf(stream, "shapeproof %s:", command->name), 0, command->summary);
    fprintf(stream, "\nusage: shapeproof %s [OPTION]... %s\n\n", command->name, command->operands);
    fill_lines(stream, 0, 0, command->description);
    fprintf(stream, "\noptions:\n");
    for (const struct cli_option *option = command->options; option->name; option++)
        if (!option->hidden) help_option(stream, option);
    help_option(stream, &cli_help_option);
    help_examples(stream, command->examples);
    help_terms(stream, "exit status", command->statuses);
}

/* ---- all of them ---- */

void cli_print_usage(FILE *stream)
{
    fprintf(stream, "usage: shapeproof COMMAND [OPTION]... [ARGUMENT]...\n"
                    "       shapeproof PATH [OPTION]...\n\n");
    fill_lines(stream, 0, 0, cli_path_alone);
    fprintf(stream, "\ncommands:\n");
    for (size_t i = 0; cli_commands[i]; i++) {
        size_t column = (size_t)fprintf(stream, "  %s", cli_commands[i]->name);
        indent_to(stream, &column, TERM_COLUMNS);
        fill_lines(stream, column, TERM_COLUMNS, cli_commands[i]->summary);
    }
    fprintf(stream, "\n'shapeproof COMMAND --help' explains a command.\n");
}

void cli_print_help(FILE *stream)
{
    fill_lines(stream, 0, 0, tagline);
    putc('\n', stream);
    cli_print_usage(stream);
    help_terms(stream, "exit status", cli_exit_statuses);
    help_terms(stream, "environment", cli_environment);
    fprintf(stream, "\n'shapeproof --version' prints the version.\n");
}

/* ---- the command ---- */

static const struct cli_option options[] = {
    {.name = "man", .hidden = true, .help = "write the manual page, or that of COMMAND, as roff"},
    {.name = "completion",
     .argument = "bash|zsh|fish",
     .hidden = true,
     .help = "write the completion script of a shell"},
    {CLI_OPTION_END},
};

/* shapeproof help check; with --man, its manual page. */
static int help_on(const char *name, bool manual)
{
    const struct cli_command *command = cli_command_named(name);
    if (!command) return cli_unknown_command(name);
    if (manual) cli_print_command_manual(stdout, command);
    else cli_print_command_help(stdout, command);
    return CLI_OK;
}

static int run_help(const struct cli_args *args)
{
    if (args->operand_count) return help_on(args->operands[0], cli_flag(args, "man"));
    if (cli_flag(args, "man")) cli_print_manual(stdout);
    else if (cli_value(args, "completion", NULL)) cli_print_completion(stdout, cli_value(args, "completion", NULL));
    else cli_print_help(stdout);
    return CLI_OK;
}

static const struct cli_term statuses[] = {
    {"0", "the help was printed"},
    {"2", "there is no such command"},
    {NULL, NULL},
};

const struct cli_command cli_help = {
    .name = "help",
    .summary = "explain a command",
    .operands = "[COMMAND]",
    .description = "Explains COMMAND, or lists the commands.",
    .most = 1,
    .options = options,
    .statuses = statuses,
    .run = run_help,
};
