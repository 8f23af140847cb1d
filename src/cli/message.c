/* SPDX-License-Identifier: MIT
 * Everything that goes to stderr. What was written to stdout is flushed first, so that on a terminal the two come in
 * their order. */
#include "cli/cli.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* Written only in a process that checks one of a list. */
static struct cli_capture *capture;

void cli_capture_into(struct cli_capture *into) { capture = into; }
struct cli_capture *cli_captured(void) { return capture; }

/* The first error is the one that counts. */
static void capture_error(const struct sp_error *error)
{
    if (capture->error.status) return;
    size_t length = strlen(error->message);
    char *said = cli_say_urls(error->message, &length);
    capture->error = *error;
    if (said) snprintf(capture->error.message, sizeof capture->error.message, "%s", said);
    free(said);
}

/* One line, made printable. */
static void message_line(const char *prefix, const char *text)
{
    size_t length = strlen(text);
    char *said = cli_say_urls(text, &length), *visible = sp_report_visible(said ? said : text);
    fprintf(stderr, "%s%s\n", prefix, visible);
    sp_free(visible);
    free(said);
}

int cli_error(const struct sp_error *error)
{
    if (capture) {
        capture_error(error);
        return (int)error->status;
    }
    fflush(stdout);
    size_t length = strlen(error->message);
    char *said = cli_say_urls(error->message, &length);
    fprintf(stderr, "shapeproof: %s\n", said ? said : error->message); /* printable, and may have several lines */
    free(said);
    if (error->hint[0]) fprintf(stderr, "hint: %s\n", error->hint);
    return (int)error->status;
}

int cli_usage_error(const char *hint, const char *format, ...)
{
    char message[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    if (capture) {
        struct sp_error error = {.status = SP_ERR_USAGE};
        snprintf(error.message, sizeof error.message, "%s", message);
        snprintf(error.hint, sizeof error.hint, "%s", hint ? hint : "");
        capture_error(&error);
        return CLI_USAGE;
    }
    fflush(stdout);
    message_line("shapeproof: ", message);
    if (hint && hint[0]) message_line("hint: ", hint);
    return CLI_USAGE;
}

void cli_warning(const char *path, const char *message)
{
    if (capture) return; /* what is about the file is in the report */
    size_t length = path ? strlen(path) : 0;
    char *said = path ? cli_say_urls(path, &length) : NULL;
    char *visible = sp_report_visible(said ? said : path ? path : "");
    fflush(stdout);
    fprintf(stderr, "warning: %s%s", visible, path ? ": " : "");
    sp_free(visible);
    free(said);
    message_line("", message);
}
