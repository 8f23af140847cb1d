/* SPDX-License-Identifier: MIT
 * Everything that goes to stderr: errors, warnings and hints. */
#define _POSIX_C_SOURCE 200809L /* strdup */
#include "cli/cli.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Written in a process that checks one of a list, and around what may fail without a message. */
static bool captures;

void cli_capture(bool on) { captures = on; }
bool cli_captures(void) { return captures; }

/* ---- colours ---- */

/* Written once, when the options are known. */
static const char *color_when = "auto";

void cli_color_messages(const char *when) { color_when = when; }

/* What a message is, and the colour that compilers give to it. */
struct label {
    const char *word, *color;
};
static const struct label error_label = {"shapeproof:", "31"}, warning_label = {"warning:", "33"},
                          hint_label = {"hint:", "36"};

/* The columns of the terminal for a text of one line, which breaks at its blanks; the lines of mistakes in a table stay
 * as they are, because marks are below what is wrong. 0 without a terminal. */
static unsigned columns_for(const char *text)
{
    const unsigned columns = cli_columns_of(STDERR_FILENO);
    return columns && strchr(text, '\n') ? CLI_UNBROKEN : columns;
}

/* Writes the label, which is bold, and the text, which is printable. */
static void put_labelled(struct label label, const char *text)
{
    char *message = NULL;
    size_t length = 0;
    FILE *stream = open_memstream(&message, &length);
    if (!stream) cli_out_of_memory();
    if (cli_wants_color(STDERR_FILENO, color_when)) fprintf(stream, "\033[1;%sm%s\033[0m", label.color, label.word);
    else fputs(label.word, stream);
    fprintf(stream, " %s\n", text);
    if (fclose(stream) != 0) cli_out_of_memory();
    cli_put_lines(cli_messages(), message, length, columns_for(text));
    free(message);
}

/* ---- texts ---- */

/* Written once, from the words of the command line. */
static struct shapeproof_redaction *messages_redaction;

void cli_redact_messages(struct shapeproof_redaction *redaction) { messages_redaction = redaction; }
struct shapeproof_redaction *cli_redaction(void) { return messages_redaction; }

/* With the URL in place of the path of a sparse cache, and with --redact redacted; free() it. */
static char *text_to_show(const char *text)
{
    size_t length = strlen(text);
    char *said = cli_restore_operands(text, &length);
    if (!said && !(said = strdup(text))) cli_out_of_memory();
    if (!messages_redaction) return said;
    char *redacted = shapeproof_redact_message(messages_redaction, said);
    free(said);
    return redacted;
}

/* The error as it may be shown: only with --redact it is another one. */
static struct shapeproof_error error_to_show(const struct shapeproof_error *error)
{
    struct shapeproof_error shown = *error;
    if (!messages_redaction) return shown;
    char *message = text_to_show(error->message), *hint = text_to_show(error->hint);
    snprintf(shown.message, sizeof shown.message, "%s", message);
    snprintf(shown.hint, sizeof shown.hint, "%s", hint);
    free(message);
    free(hint);
    return shown;
}

/* The first error since the beginning, or since it was last forgotten. */
static struct shapeproof_error first_error;

const struct shapeproof_error *cli_first_error(void) { return &first_error; }
void cli_forget_error(void) { first_error.status = SHAPEPROOF_OK; }

static void keep_first_error(const struct shapeproof_error *error)
{
    if (first_error.status) return;
    char *said = text_to_show(error->message);
    first_error = *error;
    snprintf(first_error.message, sizeof first_error.message, "%s", said);
    free(said);
}

/* Formats a text and makes it printable, into `visible`. */
__attribute__((format(printf, 3, 0))) static void format_visible(char *visible, size_t size, const char *format,
                                                                 va_list args)
{
    char raw[2048];
    vsnprintf(raw, sizeof raw, format, args);
    char *text = shapeproof_report_visible(raw);
    snprintf(visible, size, "%s", text);
    shapeproof_free(text);
}

/* A status of the library and the exit status that it ends with. */
static const struct {
    enum shapeproof_status status;
    enum cli_exit exit;
} exits[] = {
    {SHAPEPROOF_OK, CLI_OK},         {SHAPEPROOF_ERR_USAGE, CLI_USAGE},     {SHAPEPROOF_ERR_TABLE, CLI_TABLE},
    {SHAPEPROOF_ERR_FILE, CLI_FILE}, {SHAPEPROOF_ERR_UNKNOWN, CLI_UNKNOWN}, {SHAPEPROOF_ERR_CANCELLED, CLI_FILE},
};
enum { EXITS = sizeof exits / sizeof *exits };

int cli_exit_of(enum shapeproof_status status)
{
    for (size_t i = 0; i < EXITS; i++)
        if (exits[i].status == status) return (int)exits[i].exit;
    return CLI_FILE;
}

static enum shapeproof_status status_of(enum cli_exit exit)
{
    for (size_t i = 0; i < EXITS; i++)
        if (exits[i].exit == exit) return exits[i].status;
    return SHAPEPROOF_ERR_FILE;
}

void cli_fail(struct shapeproof_error *error, enum cli_exit status, const char *format, ...)
{
    va_list args;
    error->status = status_of(status);
    va_start(args, format);
    format_visible(error->message, sizeof error->message, format, args);
    va_end(args);
}

void cli_hint(struct shapeproof_error *error, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    format_visible(error->hint, sizeof error->hint, format, args);
    va_end(args);
}

/* Made printable. */
static void put_message(struct label label, const char *text)
{
    char *said = text_to_show(text), *visible = shapeproof_report_visible(said);
    put_labelled(label, visible);
    shapeproof_free(visible);
    free(said);
}

/* ---- errors as JSON ---- */

/* Writes the document that stands in for the report, where JSON goes. */
static void put_error_document(const char *path, const struct shapeproof_error *error, int status)
{
    const struct shapeproof_error shown = error_to_show(error);
    char *name = path && messages_redaction ? shapeproof_redact_path(messages_redaction, path) : NULL;
    cli_put_error(&(struct shapeproof_checked){.path = name ? name : path, .status = status, .error = &shown});
    shapeproof_free(name);
}

/* ---- errors ---- */

int cli_error(const struct shapeproof_error *error) { return cli_error_about(NULL, error); }

int cli_error_about(const char *path, const struct shapeproof_error *error)
{
    const int status = cli_exit_of(error->status);
    keep_first_error(error);
    if (captures) return status;
    char *said = text_to_show(error->message);
    put_labelled(error_label, said); /* printable; only what sp_diagnose says has several lines */
    free(said);
    if (error->hint[0]) {
        const struct shapeproof_error shown = error_to_show(error);
        put_labelled(hint_label, shown.hint);
    }
    put_error_document(path, error, status);
    return status;
}

int cli_mistakes(int status, const struct shapeproof_error *error, const char *mistakes)
{
    keep_first_error(error);
    if (captures) return status;
    char *said = text_to_show(mistakes);
    cli_put_lines(cli_messages(), said, strlen(said), columns_for(said));
    putc('\n', cli_messages());
    free(said);
    put_error_document(NULL, error, status);
    return status;
}

int cli_complain(enum cli_exit status, const char *hint, const char *format, ...)
{
    char message[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    struct shapeproof_error error = {0};
    cli_fail(&error, status, "%s", message);
    cli_hint(&error, "%s", hint ? hint : "");
    keep_first_error(&error);
    if (captures) return (int)status;
    put_message(error_label, message);
    if (hint && hint[0]) put_message(hint_label, hint);
    put_error_document(NULL, &error, (int)status);
    return (int)status;
}

/* "model.pt: is empty"; free() it. */
static char *path_and_message(const char *path, const char *message)
{
    const size_t size = strlen(path) + strlen(message) + sizeof ": ";
    char *text = malloc(size);
    if (!text) cli_out_of_memory();
    snprintf(text, size, "%s: %s", path, message);
    return text;
}

void cli_warning(const char *path, const char *message)
{
    if (captures || cli_stdout_is_document()) return; /* what is about the file is in the report */
    char *about = path ? path_and_message(path, message) : NULL;
    put_message(warning_label, about ? about : message);
    free(about);
}

void cli_warn_of_file(const char *path, const struct shapeproof_inventory *inventory)
{
    for (size_t i = 0; i < shapeproof_inventory_warning_count(inventory); i++)
        cli_warning(path, shapeproof_inventory_warning(inventory, i));
}
