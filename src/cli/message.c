/* SPDX-License-Identifier: MIT
 * Everything that goes to stderr. What was written to stdout is flushed first, so that on a terminal the two come in
 * their order. */
#include "cli/cli.h"

#include <stdarg.h>

/* Written only in a process that checks one of a list. */
static struct cli_capture *capture;

void cli_capture_into(struct cli_capture *into) { capture = into; }
struct cli_capture *cli_captured(void) { return capture; }

/* The first error is the one that counts. */
static void capture_error(const struct sp_error *error)
{
    if (!capture->error.status) capture->error = *error;
}

/* One line, made printable. */
static void message_line(const char *prefix, const char *text)
{
    char *visible = sp_report_visible(text);
    fprintf(stderr, "%s%s\n", prefix, visible);
    sp_free(visible);
}

void cli_error(const struct sp_error *error)
{
    if (capture) {
        capture_error(error);
        return;
    }
    fflush(stdout);
    fprintf(stderr, "shapeproof: %s\n", error->message); /* printable already, and may have several lines */
    if (error->hint[0]) fprintf(stderr, "hint: %s\n", error->hint);
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
    char *visible = sp_report_visible(path ? path : "");
    fflush(stdout);
    fprintf(stderr, "warning: %s%s", visible, path ? ": " : "");
    sp_free(visible);
    message_line("", message);
}
