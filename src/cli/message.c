/* SPDX-License-Identifier: MIT
 * Everything that goes to stderr. What was written to stdout is flushed first, so that on a terminal the two come in
 * their order. */
#include "cli/cli.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* One line, made printable. */
static void message_line(const char *prefix, const char *text)
{
    size_t length = strlen(text);
    char *said = cli_say_urls(text, &length), *visible = sp_report_visible(said ? said : text);
    fprintf(stderr, "%s%s\n", prefix, visible);
    sp_free(visible);
    free(said);
}

void cli_error(const struct sp_error *error)
{
    fflush(stdout);
    size_t length = strlen(error->message);
    char *said = cli_say_urls(error->message, &length);
    fprintf(stderr, "shapeproof: %s\n", said ? said : error->message); /* printable, and may have several lines */
    free(said);
    if (error->hint[0]) fprintf(stderr, "hint: %s\n", error->hint);
}

int cli_usage_error(const char *hint, const char *format, ...)
{
    char message[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    fflush(stdout);
    message_line("shapeproof: ", message);
    if (hint && hint[0]) message_line("hint: ", hint);
    return CLI_USAGE;
}

void cli_warning(const char *path, const char *message)
{
    size_t length = path ? strlen(path) : 0;
    char *said = path ? cli_say_urls(path, &length) : NULL;
    char *visible = sp_report_visible(said ? said : path ? path : "");
    fflush(stdout);
    fprintf(stderr, "warning: %s%s", visible, path ? ": " : "");
    sp_free(visible);
    free(said);
    message_line("", message);
}
