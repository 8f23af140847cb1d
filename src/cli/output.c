/* SPDX-License-Identifier: MIT
 * stdout: what it is connected to, and whether everything arrived there. */
#define _GNU_SOURCE /* TIOCGWINSZ, strdup */
#include "cli/cli.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

bool cli_wants_color(int stream, const char *when)
{
    if (strcmp(when, "auto") != 0) return strcmp(when, "always") == 0;
    const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");
    return isatty(stream == STDOUT_FILENO ? cli_stdout() : stream) && !(no_color && no_color[0]) &&
           !(term && strcmp(term, "dumb") == 0);
}

/* 0, no limit, unless a person looks at it: a pipe gets the same bytes on every machine. */
static unsigned terminal_width(void)
{
    struct winsize size = {0};
    const char *columns = getenv("COLUMNS");
    if (!isatty(cli_stdout())) return 0;
    const unsigned long wanted = columns ? strtoul(columns, NULL, 10) : 0;
    if (wanted && wanted < 10000) return (unsigned)wanted;
    return ioctl(cli_stdout(), TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

enum shapeproof_report_format cli_format(const struct cli_args *args)
{
    static const char *const names[] = {[SHAPEPROOF_REPORT_TEXT] = "text",         [SHAPEPROOF_REPORT_JSON] = "json",
                                        [SHAPEPROOF_REPORT_MARKDOWN] = "markdown", [SHAPEPROOF_REPORT_CSV] = "csv",
                                        [SHAPEPROOF_REPORT_SARIF] = "sarif",       [SHAPEPROOF_REPORT_JUNIT] = "junit",
                                        [SHAPEPROOF_REPORT_HTML] = "html"};
    const char *name = cli_format_name(args);
    if (strcmp(name, "jsonl") == 0) return SHAPEPROOF_REPORT_JSON; /* and cli_fold_documents */
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(names[i], name) == 0) return (enum shapeproof_report_format)i;
    return SHAPEPROOF_REPORT_TEXT; /* of a command without --format */
}

struct shapeproof_report_options cli_report_options(const struct cli_args *args)
{
    return (struct shapeproof_report_options){
        .format = cli_format(args),
        .color = cli_has_option(args, "color") && cli_wants_color(STDOUT_FILENO, cli_value(args, "color", "auto")),
        .all = cli_has_option(args, "all") && cli_flag(args, "all"),
        .width = terminal_width(),
    };
}

/* ---- JSON lines ---- */

/* How far the documents on stdout are written. */
static struct {
    bool on;
    bool is_text;  /* the line has more than indentation by now */
    bool is_last;  /* the line began with the brace that ends the document */
    size_t column; /* of the next byte in its line */
    char before;   /* the last byte that was written */
} fold;

void cli_fold_documents(bool on) { fold.on = on; }

/* Puts each document on one line. A string has no raw line break in it, so each stands between two elements; and only
 * the last line of a document begins with "}". */
static void put_folded(FILE *stream, const char *bytes, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        const char c = bytes[i];
        if (c == '\n') {
            if (fold.is_last) putc('\n', stream);
            else if (fold.before == ',') putc(' ', stream);
            fold.is_text = fold.is_last = false;
            fold.column = 0;
            continue;
        }
        fold.is_last = fold.is_last || (c == '}' && fold.column == 0);
        fold.is_text = fold.is_text || c != ' ';
        fold.column++;
        if (!fold.is_text) continue;
        putc(c, stream);
        fold.before = c;
    }
}

void cli_put_part(void *stream, const char *bytes, size_t length)
{
    char *said = cli_restore_urls(bytes, &length);
    /* who closes it asks whether it worked */
    if (fold.on && stream == stdout) put_folded(stream, said ? said : bytes, length);
    else fwrite(said ? said : bytes, 1, length, stream);
    free(said);
}

void cli_put_report(char *report)
{
    struct cli_capture *capture = cli_captured();
    size_t length = strlen(report);
    if (capture) {
        char *said = cli_restore_urls(report, &length);
        shapeproof_free(capture->report);
        capture->report = said ? said : report;
        if (said) shapeproof_free(report);
        return;
    }
    cli_put_part(stdout, report, length);
    shapeproof_free(report);
}

bool cli_close_output(void)
{
    cli_show_output();
    const bool failed_before = ferror(stdout) != 0;
    const char *path = cli_output_path();
    char *name = path && cli_redaction() ? shapeproof_redact_path(cli_redaction(), path)
                                         : strdup(path ? path : "standard output");
    errno = 0;
    const bool is_written = fclose(stdout) == 0 && !failed_before, is_done = cli_finish_output(is_written);
    if (!is_done && errno) fprintf(stderr, "shapeproof: cannot write to %s: %s\n", name, strerror(errno));
    else if (!is_done) fprintf(stderr, "shapeproof: cannot write to %s\n", name);
    free(name);
    return is_done;
}
