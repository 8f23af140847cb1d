/* SPDX-License-Identifier: MIT
 * The manual pages, shapeproof(1) and shapeproof-COMMAND(1), as roff with the man macros. docs/man/shapeproof.1 is this
 * output, and a test compares the two; the pages of the commands are written when they are installed. */
#include "cli/cli.h"

#include <ctype.h>
#include <string.h>

/* Text is never taken for a request or an escape, and dashes can be copied and pasted. */
static void manual_text(FILE *stream, const char *text)
{
    bool line_start = true;
    for (; *text; text++) {
        if (strncmp(text, "\n\n", 2) == 0) {
            fputs("\n.PP\n", stream);
            text++;
            line_start = true;
            continue;
        }
        if (line_start && (*text == '.' || *text == '\'')) fputs("\\&", stream);
        if (*text == '\\') fputs("\\e", stream);
        else if (*text == '-') fputs("\\-", stream);
        else putc(*text, stream);
        line_start = *text == '\n';
    }
}

/* The same, and the end of the line. */
static void manual_line(FILE *stream, const char *text)
{
    manual_text(stream, text);
    putc('\n', stream);
}

/* The title of the page. */
static void put_upper(FILE *stream, const char *text)
{
    for (; *text; text++) putc(toupper((unsigned char)*text), stream);
}

/* The beginning of shapeproof(1), or of shapeproof-check(1) with "-" and "check". */
static void put_title(FILE *stream, const char *dash, const char *command)
{
    fprintf(stream, ".\\\" Written by 'shapeproof help --man%s%s'; edit the option tables in src/cli instead.\n.TH ",
            *dash ? " " : "", command);
    put_upper(stream, "shapeproof");
    put_upper(stream, dash);
    put_upper(stream, command);
    fprintf(stream, " 1 \"\" \"shapeproof %s\" \"User Commands\"\n", shapeproof_version());
}

/* A paragraph with its names and argument as the tag. */
static void manual_option(FILE *stream, const struct cli_option *option)
{
    fputs(".TP\n", stream);
    if (option->letter) fprintf(stream, "\\fB\\-%c\\fR, ", option->letter);
    fputs("\\fB\\-\\-", stream);
    manual_text(stream, option->name);
    fputs("\\fR", stream);
    if (option->argument) {
        fputs(option->value_with ? "[=\\fI" : "=\\fI", stream);
        manual_text(stream, option->argument);
        fputs(option->takes_file ? "\\fR[=\\fIFILE\\fR]" : option->value_with ? "\\fR]" : "\\fR", stream);
    }
    putc('\n', stream);
    manual_line(stream, option->help);
}

static void put_options(FILE *stream, const struct cli_command *command)
{
    for (const struct cli_option *option = command->options; option->name; option++)
        if (!option->hidden) manual_option(stream, option);
    manual_option(stream, &cli_help_option);
}

static void put_terms(FILE *stream, const struct cli_term *terms)
{
    for (; terms->term; terms++) {
        fprintf(stream, ".TP\n.B %s\n", terms->term);
        manual_line(stream, terms->meaning);
    }
}

/* Exit statuses, environment. */
static void manual_terms(FILE *stream, const char *title, const struct cli_term *terms)
{
    fprintf(stream, ".SH %s\n", title);
    put_terms(stream, terms);
}

/* The command as the tag, what it is for below. */
static void put_examples(FILE *stream, const struct cli_example *example)
{
    for (; example->command; example++) {
        fputs(".TP\n.B ", stream);
        manual_line(stream, example->command);
        manual_line(stream, example->what);
    }
}

/* The section of a command: synopsis, description, options, examples. */
static void put_command(FILE *stream, const struct cli_command *command)
{
    fprintf(stream, ".SS \"shapeproof %s [OPTION]... %s\"\n", command->name, command->operands);
    manual_line(stream, command->description);
    put_options(stream, command);
    if (command->examples) {
        fputs(".PP\nExamples:\n", stream);
        put_examples(stream, command->examples);
    }
    fputs(".PP\nExit status:\n", stream);
    put_terms(stream, command->statuses);
}

void cli_print_manual(FILE *stream)
{
    put_title(stream, "", "");
    fputs(".SH NAME\nshapeproof \\- what a model checkpoint holds, and what it should hold\n", stream);
    fputs(".SH SYNOPSIS\n.B shapeproof\n.I COMMAND\n[\\fIOPTION\\fR]... [\\fIARGUMENT\\fR]...\n.br\n", stream);
    fputs(".B shapeproof\n.I PATH\n[\\fIOPTION\\fR]...\n", stream);
    fputs(".SH DESCRIPTION\n", stream);
    manual_line(
        stream,
        "shapeproof reads the names, dtypes and shapes of the tensors in a model checkpoint. It reads the weights only "
        "with --data, and executes nothing that is in the file. Options may stand before, between and behind the "
        "arguments of a command; -- ends them.");
    fputs(".PP\n", stream);
    manual_line(stream, cli_path_alone);
    fputs(".SH COMMANDS\n", stream);
    for (size_t i = 0; cli_commands[i]; i++) put_command(stream, cli_commands[i]);
    manual_terms(stream, "EXIT STATUS", cli_exit_statuses);
    manual_terms(stream, "ENVIRONMENT", cli_environment);
    fputs(".SH SEE ALSO\n", stream);
    for (size_t i = 0; cli_commands[i]; i++)
        fprintf(stream, ".BR shapeproof\\-%s (1)%s\n", cli_commands[i]->name, cli_commands[i + 1] ? "," : "");
}

void cli_print_command_manual(FILE *stream, const struct cli_command *command)
{
    put_title(stream, "-", command->name);
    fprintf(stream, ".SH NAME\nshapeproof\\-%s \\- ", command->name);
    manual_line(stream, command->summary);
    fprintf(stream, ".SH SYNOPSIS\n.B shapeproof %s\n[\\fIOPTION\\fR]...\n", command->name);
    if (*command->operands) fprintf(stream, ".I %s\n", command->operands);
    fputs(".SH DESCRIPTION\n", stream);
    manual_line(stream, command->description);
    fputs(".SH OPTIONS\n", stream);
    put_options(stream, command);
    manual_terms(stream, "EXIT STATUS", command->statuses);
    manual_terms(stream, "ENVIRONMENT", cli_environment);
    if (command->examples) {
        fputs(".SH EXAMPLES\n", stream);
        put_examples(stream, command->examples);
    }
    fputs(".SH SEE ALSO\n.BR shapeproof (1)\n", stream);
}
