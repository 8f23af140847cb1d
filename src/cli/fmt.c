/* SPDX-License-Identifier: MIT
 * shapeproof fmt: table files in the layout of the built-in ones. */
#include "cli/cli.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const struct cli_option options[] = {
    {.name = "in-place", .letter = 'i', .help = "rewrite the files that differ instead of printing them"},
    {.name = "check", .help = "print the names of the files that differ, and end with status 1 if there are any"},
    {CLI_OPTION_END},
};

static const struct cli_example examples[] = {
    {"shapeproof fmt mine.shapes", "print the formatted file"},
    {"shapeproof fmt -i *.shapes", "rewrite the files"},
    {"shapeproof fmt --check src/tables/*/*.shapes", "fail if a file is not formatted"},
    {NULL, NULL},
};

struct file {
    const char *name; /* for people */
    const char *path; /* NULL: the standard input */
    char *text;
    size_t length;
};

enum { MAX_SIZE = 1 << 20 }; /* as of any table file */

static int complain_of_file(const struct file *file, const char *problem)
{
    return cli_complain(CLI_FILE, NULL, "%s: %s", file->name, problem);
}

/* A system call failed with errno. */
static int complain_of_call(const struct file *file, const char *call)
{
    return cli_complain(CLI_FILE, NULL, "%s: %s: %s", file->name, call, strerror(errno));
}

static int read_stream(struct file *file, FILE *stream)
{
    if (!(file->text = malloc(MAX_SIZE + 1))) cli_out_of_memory();
    file->length = fread(file->text, 1, MAX_SIZE + 1, stream);
    if (ferror(stream)) return complain_of_call(file, "read");
    return file->length > MAX_SIZE ? complain_of_file(file, "larger than 1 MiB, which no table file is") : CLI_OK;
}

static int read_file(struct file *file)
{
    if (!file->path) return read_stream(file, stdin);
    FILE *stream = fopen(file->path, "rb");
    if (!stream) return complain_of_call(file, "open");
    const int status = read_stream(file, stream);
    fclose(stream);
    return status;
}

static int write_file(const struct file *file, const char *text, size_t length)
{
    FILE *stream = fopen(file->path, "wb");
    if (!stream) return complain_of_call(file, "open");
    const bool written = fwrite(text, 1, length, stream) == length;
    return fclose(stream) == 0 && written ? CLI_OK : complain_of_call(file, "write");
}

/* Prints it, or says that it differs, or rewrites it; exit status. */
static int use_formatted(const struct cli_args *args, const struct file *file, const char *text, size_t length)
{
    const bool differs = length != file->length || memcmp(text, file->text, length) != 0;
    if (cli_flag(args, "check")) {
        if (!differs) return CLI_OK;
        char *visible = shapeproof_report_visible(file->name);
        printf("%s\n", visible);
        shapeproof_free(visible);
        return CLI_DIFFERS;
    }
    if (cli_flag(args, "in-place")) return differs ? write_file(file, text, length) : CLI_OK;
    fwrite(text, 1, length, stdout);
    return CLI_OK;
}

/* Formats one file of tables: writes it, or only tells whether it would change (--check). */
static int format_file(const struct cli_args *args, const char *operand)
{
    const bool is_input = strcmp(operand, "-") == 0;
    struct file file = {.name = is_input ? "standard input" : operand, .path = is_input ? NULL : operand};
    struct shapeproof_error error = {0};
    size_t length;
    if (is_input && cli_flag(args, "in-place"))
        return cli_usage_error(NULL, "fmt: the standard input cannot be rewritten in its place");
    int status = read_file(&file);
    if (status == CLI_OK) {
        char *text = shapeproof_table_format(file.name, file.text, file.length, &length, &error);
        fflush(stdout);
        if (text) status = use_formatted(args, &file, text, length);
        else fprintf(stderr, "%s\n", error.message);
        if (!text) status = cli_exit_of(error.status);
        shapeproof_free(text);
    }
    free(file.text);
    return status;
}

static int run_fmt(const struct cli_args *args)
{
    int worst = CLI_OK;
    if (cli_flag(args, "check") && cli_flag(args, "in-place"))
        return cli_usage_error(NULL, "fmt: --check changes no file, and --in-place does");
    if (!args->operand_count) return format_file(args, "-");
    for (size_t i = 0; i < args->operand_count; i++) {
        const int status = format_file(args, args->operands[i]);
        if (status > worst) worst = status;
    }
    return worst;
}

static const struct cli_term statuses[] = {
    {"0", "the files were formatted; with --check, none differs"},
    {"1", "with --check, a file differs"},
    {"2", CLI_USAGE_STATUS},
    {"3", "a file is not a valid table file"},
    {"4", "a file cannot be read, or the output could not be written"},
    {NULL, NULL},
};

const struct cli_command cli_fmt = {
    .name = "fmt",
    .summary = "format table files in the style of the built-in ones",
    .operands = "[FILE]...",
    .description =
        "Prints each table file in the format of the built-in tables: names, shapes, conditions and comments stand "
        "in columns. The meaning of the table does not change. Comments stay in place, and several blank lines become "
        "one. Formatting a formatted file changes nothing. Without FILE, or if FILE is -, standard input is read. A "
        "file with a mistake is not changed.",
    .least = 0,
    .most = CLI_MANY,
    .options = options,
    .examples = examples,
    .statuses = statuses,
    .run = run_fmt,
};
