/* SPDX-License-Identifier: MIT
 * Where reports go: stdout, what it is connected to, the FILEs of --format, and whether everything arrived there. */
#define _GNU_SOURCE /* TIOCGWINSZ */
#include "cli/cli.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

bool cli_wants_color(int stream, const char *when)
{
    if (strcmp(when, "auto") != 0) return strcmp(when, "always") == 0;
    const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");
    return isatty(stream == STDOUT_FILENO ? cli_stdout() : stream) && !(no_color && no_color[0]) &&
           !(term && strcmp(term, "dumb") == 0);
}

/* 0, no limit, unless a person looks at it: a pipe or a file gets the same bytes on every machine. */
unsigned cli_columns_of(int stream)
{
    struct winsize size = {0};
    const char *columns = getenv("COLUMNS");
    if (!isatty(stream)) return 0;
    const unsigned long wanted = columns ? strtoul(columns, NULL, 10) : 0;
    if (wanted && wanted < 10000) return (unsigned)wanted;
    return ioctl(stream, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

unsigned cli_columns(void) { return cli_columns_of(cli_stdout()); }

/* ---- formats ---- */

static const char *const format_names[] = {
    [SHAPEPROOF_REPORT_TEXT] = "text", [SHAPEPROOF_REPORT_JSON] = "json",   [SHAPEPROOF_REPORT_MARKDOWN] = "markdown",
    [SHAPEPROOF_REPORT_CSV] = "csv",   [SHAPEPROOF_REPORT_SARIF] = "sarif", [SHAPEPROOF_REPORT_JUNIT] = "junit",
    [SHAPEPROOF_REPORT_HTML] = "html",
};

const char *cli_name_of_format(enum shapeproof_report_format format) { return format_names[format]; }

/* The format of a word such as "html" or "html=report.html". */
static enum shapeproof_report_format format_named(const char *word)
{
    const size_t length = strcspn(word, "=");
    if (length == strlen("jsonl") && memcmp(word, "jsonl", length) == 0) return SHAPEPROOF_REPORT_JSON;
    for (size_t i = 0; i < sizeof format_names / sizeof *format_names; i++)
        if (strlen(format_names[i]) == length && memcmp(format_names[i], word, length) == 0)
            return (enum shapeproof_report_format)i;
    return SHAPEPROOF_REPORT_TEXT; /* of a command without --format */
}

/* Whether the word is "jsonl" or "jsonl=FILE". */
static bool is_jsonl(const char *word) { return strncmp(word, "jsonl", strlen("jsonl")) == 0; }

enum shapeproof_report_format cli_format(const struct cli_args *args) { return format_named(cli_format_name(args)); }

static bool documents_have(enum shapeproof_report_format format)
{
    for (const struct cli_output *to = NULL; (to = cli_next_document(to));)
        if (to->format == format) return true;
    return false;
}

bool cli_writes(const struct cli_args *args, enum shapeproof_report_format format)
{
    if (cli_format(args) == format || (cli_captures() && documents_have(format))) return true;
    size_t position = 0;
    for (const char *word; (word = cli_next_format_file(args, &position));)
        if (format_named(word) == format) return true;
    return false;
}

const char *cli_format_beside_text(const struct cli_args *args)
{
    size_t position = 0;
    return cli_format(args) != SHAPEPROOF_REPORT_TEXT ? cli_format_name(args) : cli_next_format_file(args, &position);
}

bool cli_is_document(enum shapeproof_report_format format)
{
    return format == SHAPEPROOF_REPORT_SARIF || format == SHAPEPROOF_REPORT_JUNIT;
}

/* ---- the outputs ---- */

/* Filled when the command line is parsed. */
static struct {
    struct cli_output standard; /* stdout */
    struct cli_output *files;   /* one for each FILE of --format */
    size_t file_count;
    bool is_quiet;               /* no report goes to stdout */
    bool is_several;             /* the command is about several checkpoints */
    bool is_list;                /* and these are a list */
    struct cli_output kept;      /* takes the place of all in a process of a list */
    char *report;                /* what was written to `kept` */
    bool keeps_text;             /* and beside it the report as text */
    struct cli_output kept_text; /* which takes that */
    char *text;                  /* what was written to `kept_text` */
} outputs = {.standard = {.is_stdout = true},
             .kept = {.format = SHAPEPROOF_REPORT_JSON},
             .kept_text = {.format = SHAPEPROOF_REPORT_TEXT}};

void cli_expect_json(bool on, bool is_folded)
{
    outputs.standard.stream = stdout;
    outputs.standard.format = on ? SHAPEPROOF_REPORT_JSON : SHAPEPROOF_REPORT_TEXT;
    outputs.standard.is_folded = is_folded;
}

/* Connects stdout to the FILE of --output, or to nothing. */
static int redirect_stdout(const char *path)
{
    int status = CLI_OK;
    const int fd =
        path ? cli_open_file(&outputs.standard.file, path, &status) : open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (fd < 0 && path) return status;
    if (fd < 0 || dup2(fd, STDOUT_FILENO) < 0)
        return cli_complain(CLI_FILE, NULL, "%s: %s: %s", path ? path : "/dev/null", fd < 0 ? "open" : "dup2",
                            strerror(errno));
    close(fd);
    return CLI_OK;
}

/* Opens the FILE of "html=report.html". */
static int open_format_file(const char *word)
{
    int status = CLI_OK;
    struct cli_output *output = &outputs.files[outputs.file_count];
    *output = (struct cli_output){.format = format_named(word), .is_folded = is_jsonl(word)};
    const int fd = cli_open_file(&output->file, strchr(word, '=') + 1, &status);
    if (fd < 0) return status;
    if (!(output->stream = fdopen(fd, "w")))
        return cli_complain(CLI_FILE, NULL, "%s: fdopen: %s", output->file.name, strerror(errno));
    outputs.file_count++;
    return CLI_OK;
}

int cli_open_outputs(const struct cli_args *args)
{
    const bool has_output = !args->command->opens_output && cli_has_option(args, "output");
    const char *path = has_output ? cli_value(args, "output", "-") : "-";
    size_t count = 0, position = 0;
    int status = CLI_OK;
    outputs.standard.format = cli_format(args);
    outputs.standard.is_folded = is_jsonl(cli_format_name(args));
    outputs.is_quiet = cli_has_option(args, "quiet") && cli_flag(args, "quiet");
    while (cli_next_format_file(args, &position)) count++;
    outputs.files = calloc(count + 1, sizeof *outputs.files);
    if (!outputs.files) cli_out_of_memory();
    position = 0; /* first the files, of which one may be /dev/stdout */
    for (const char *word; status == CLI_OK && (word = cli_next_format_file(args, &position));)
        status = open_format_file(word);
    if (status == CLI_OK && strcmp(path, "-") != 0) status = redirect_stdout(path);
    else if (status == CLI_OK && outputs.is_quiet) status = redirect_stdout(NULL);
    return status;
}

/* The output behind that one, the first for NULL; NULL after the last. */
static struct cli_output *next_opened(const struct cli_output *output)
{
    if (!output && !outputs.is_quiet) return &outputs.standard;
    const size_t next = output && output != &outputs.standard ? (size_t)(output - outputs.files) + 1 : 0;
    return next < outputs.file_count ? &outputs.files[next] : NULL;
}

/* Whether the reports of single checkpoints are parts of a document: of a page, or of Markdown about a list. */
static bool keeps_reports(const struct cli_output *output)
{
    return (outputs.is_several && output->format == SHAPEPROOF_REPORT_HTML) ||
           (outputs.is_list && output->format == SHAPEPROOF_REPORT_MARKDOWN);
}

struct cli_output *cli_next_output(const struct cli_output *output)
{
    if (cli_captures() && !output) return &outputs.kept;
    if (output == &outputs.kept && outputs.keeps_text) return &outputs.kept_text;
    struct cli_output *next = next_opened(output == &outputs.kept || output == &outputs.kept_text ? NULL : output);
    while (cli_captures() && next && !keeps_reports(next)) next = next_opened(next);
    return next;
}

static bool is_document(const struct cli_output *output)
{
    return cli_is_document(output->format) || keeps_reports(output);
}

bool cli_stdout_is_document(void) { return !outputs.is_quiet && is_document(&outputs.standard); }

struct cli_output *cli_next_document(const struct cli_output *output)
{
    struct cli_output *next = next_opened(output);
    while (next && !is_document(next)) next = next_opened(next);
    return next;
}

void cli_begin_several(void) { outputs.is_several = true; }

void cli_begin_list(void)
{
    outputs.is_several = outputs.is_list = true;
    for (struct cli_output *to = NULL; (to = next_opened(to));) to->is_folded = to->format == SHAPEPROOF_REPORT_JSON;
}

struct shapeproof_report_options cli_report_options(const struct cli_args *args, const struct cli_output *output)
{
    const int stream = output->is_stdout ? cli_stdout() : output->stream ? fileno(output->stream) : -1;
    const bool is_part = keeps_reports(output) && output->format == SHAPEPROOF_REPORT_HTML;
    return (struct shapeproof_report_options){
        .format = is_part ? SHAPEPROOF_REPORT_HTML_PART : output->format,
        .color = cli_has_option(args, "color") && cli_wants_color(stream, cli_value(args, "color", "auto")),
        .all = cli_has_option(args, "all") && cli_flag(args, "all"),
        .width = cli_columns_of(stream),
    };
}

/* ---- writing ---- */

/* Whether a document was begun on stdout and is not complete there. A handler of signals reads it. */
static volatile sig_atomic_t is_stdout_incomplete;

static bool is_json_on_stdout(const struct cli_output *output)
{
    return output == &outputs.standard && output->format == SHAPEPROOF_REPORT_JSON;
}

/* After a document of JSON: no bytes of it stay in the buffer of the stream, which a handler of signals cannot write.
 */
static void end_json_document(struct cli_output *output)
{
    if (!is_json_on_stdout(output)) return;
    errno = 0;
    if (fflush(output->stream) != 0 && !output->why) output->why = errno;
    is_stdout_incomplete = 0;
}

bool cli_can_begin_json(bool *is_folded)
{
    *is_folded = outputs.standard.is_folded;
    return is_json_on_stdout(&outputs.standard) && !is_stdout_incomplete;
}

/* Puts each document on one line. A string has no raw line break in it, so each stands between two elements; and only
 * the last line of a document begins with "}". */
static void put_folded(struct cli_output *to, const char *bytes, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        const char c = bytes[i];
        if (c == '\n') {
            if (to->fold.is_last) putc('\n', to->stream);
            else if (to->fold.before == ',') putc(' ', to->stream);
            to->fold.is_text = to->fold.is_last = false;
            to->fold.column = 0;
            continue;
        }
        to->fold.is_last = to->fold.is_last || (c == '}' && to->fold.column == 0);
        to->fold.is_text = to->fold.is_text || c != ' ';
        to->fold.column++;
        if (!to->fold.is_text) continue;
        putc(c, to->stream);
        to->fold.before = c;
    }
}

void cli_put_part(void *output, const char *bytes, size_t length)
{
    struct cli_output *to = output;
    cli_end_step();
    char *said = cli_restore_operands(bytes, &length);
    if (is_json_on_stdout(to)) is_stdout_incomplete = 1;
    /* who closes it asks whether it worked */
    errno = 0;
    if (to->is_folded) put_folded(to, said ? said : bytes, length);
    else if (to->is_stdout && to->format == SHAPEPROOF_REPORT_TEXT)
        cli_put_lines(to->stream, said ? said : bytes, length, cli_columns());
    else fwrite(said ? said : bytes, 1, length, to->stream);
    if (!to->why && ferror(to->stream)) to->why = errno;
    free(said);
}

void cli_put_text(FILE *stream, const char *text)
{
    size_t length = strlen(text);
    char *said = cli_restore_operands(text, &length);
    fputs(said ? said : text, stream);
    free(said);
}

void cli_put_blank_line(enum shapeproof_report_format format)
{
    for (struct cli_output *to = NULL; (to = cli_next_output(to));)
        if (to->format == format) cli_put_part(to, "\n", 1);
}

void cli_put_report(struct cli_output *output, char *report)
{
    if (keeps_reports(output)) {
        cli_keep_part(output, report);
        return;
    }
    if (output == &outputs.kept || output == &outputs.kept_text) {
        char **kept = output == &outputs.kept ? &outputs.report : &outputs.text;
        size_t length = strlen(report);
        char *said = cli_restore_operands(report, &length);
        free(*kept);
        if (!(*kept = said ? said : strdup(report))) cli_out_of_memory();
    } else {
        cli_put_part(output, report, strlen(report));
        end_json_document(output);
    }
    shapeproof_free(report);
}

void cli_put_document(struct cli_output *output, char *document)
{
    cli_put_part(output, document, strlen(document));
    shapeproof_free(document);
}

const char *cli_captured_report(void) { return outputs.report; }
const char *cli_captured_text(void) { return outputs.text ? outputs.text : ""; }

void cli_capture_text(void)
{
    outputs.keeps_text = true;
    free(outputs.text); /* of the run that this model is of */
    outputs.text = NULL;
}

/* How many bytes the FILE has by now; 0 of anything that has no size. */
static size_t size_written(const struct cli_output *output)
{
    struct stat file;
    fflush(output->stream);
    return fstat(fileno(output->stream), &file) == 0 && S_ISREG(file.st_mode) ? (size_t)file.st_size : 0;
}

void cli_put_error(const struct shapeproof_checked *failed)
{
    for (struct cli_output *to = NULL; (to = cli_next_output(to));) {
        if (to->format != SHAPEPROOF_REPORT_JSON) continue;
        const size_t before = size_written(to);
        cli_put_report(to, shapeproof_report_error(failed, NULL));
        to->error_size += size_written(to) - before;
    }
}

/* ---- the end ---- */

void cli_discard_outputs(void)
{
    cli_finish_file(&outputs.standard.file, true);
    for (size_t i = 0; i < outputs.file_count; i++) cli_finish_file(&outputs.files[i].file, true);
}

/* Whether the temporary file has more than documents about errors. */
static bool has_report(const struct cli_output *output)
{
    struct stat file;
    return output->file.temporary && stat(output->file.temporary, &file) == 0 &&
           (size_t)file.st_size > output->error_size;
}

static bool close_output(struct cli_output *output)
{
    char *redacted =
        output->file.name && cli_redaction() ? shapeproof_redact_path(cli_redaction(), output->file.name) : NULL;
    const char *name = redacted ? redacted : output->file.name ? output->file.name : "standard output";
    const bool failed_before = ferror(output->stream) != 0;
    errno = 0;
    const bool is_written = fclose(output->stream) == 0 && !failed_before;
    const int why = errno ? errno : output->why;
    const bool is_kept = !is_written || !has_report(output);
    errno = why;
    const bool is_done = cli_finish_file(&output->file, is_kept) && is_written;
    if (!is_done && errno)
        fprintf(stderr, "shapeproof: %s: %s: %s\n", name, is_written ? "rename" : "write", strerror(errno));
    else if (!is_done) fprintf(stderr, "shapeproof: %s: cannot be written\n", name);
    shapeproof_free(redacted);
    return is_done;
}

bool cli_close_outputs(void)
{
    cli_show_output();
    bool is_done = close_output(&outputs.standard);
    for (size_t i = 0; i < outputs.file_count; i++) is_done = close_output(&outputs.files[i]) && is_done;
    return is_done;
}
