/* SPDX-License-Identifier: MIT */
#define _POSIX_C_SOURCE 200809L
#include "cli/list.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cli/expect.h"
#include "cli/subject.h"
#include "fleet/list.h"
#include "fleet/pool.h"
#include "fleet/results.h"

enum { TASK_SECONDS = 3600, MOST_SECONDS = 1000 * 1000 };

struct list_run {
    const struct cli_args *args;
    int (*run)(const struct cli_args *); /* the command, for one checkpoint */
    struct sp_list list;
    int from, store;    /* the descriptors of the list and of the copy of its paths; -1: none */
    const char **paths; /* those that are to be checked; NULL: those of the list */
    size_t path_count;
    size_t ended;            /* of these, checked by now */
    size_t before;           /* of the list, checked by an earlier run (--resume) */
    char ***parts;           /* of each document, for each of `paths`; NULL for one that is not checked yet */
    size_t documents;        /* how many: SARIF, JUnit, Markdown, HTML */
    bool stdout_document;    /* stdout has one of them, and no lines of JSON */
    const char **configs;    /* of each path one to take for want of --config; NULL for a list */
    struct cli_listed *each; /* takes the results of each path, in place of `results`; NULL for a list */
    struct sp_results results;
    struct shapeproof_error error;
    struct timespec began;
};

bool cli_asks_for_list(const struct cli_args *args)
{
    return cli_value(args, "list", NULL) || cli_value(args, "resume", NULL) || cli_value(args, "jobs", NULL) ||
           cli_value(args, "timeout", NULL);
}

/* The path of a task, until the next call; NULL with run->error if it is in a list that cannot be read any more. */
static const char *path_of(struct list_run *run, size_t task)
{
    return run->paths ? run->paths[task] : sp_list_path(&run->list, task, &run->error);
}

/* ---- one of the list, in its process ---- */

/* Checks one checkpoint, and writes its line of the results to stdout, which the pool collects; behind it its part of
 * each document, and for a run its report as text, with a NUL at the end of each. Returns the exit status. */
static int check_listed(void *host, size_t task)
{
    struct list_run *run = host;
    struct sp_text line = {0};
    const char *path = path_of(run, task);
    if (!path) {
        fputs(run->error.message, stdout);
        return fflush(stdout) == 0 ? SP_POOL_NOT_BEGUN : CLI_FILE;
    }
    struct cli_args one = cli_args_for(run->args, path, "json");
    if (run->configs && run->configs[task] && !cli_value(&one, "config", NULL))
        cli_args_add(&one, "config", run->configs[task]);
    cli_stop_progress();
    cli_capture(true);
    for (struct cli_output *to = NULL; (to = cli_next_document(to));) { /* of the list that this run is one of */
        free(to->parts);
        to->parts = NULL;
    }
    if (run->each) cli_capture_text();
    const int status = cli_run_found(&one, run->run);
    sp_line_write(&line, path, status, cli_captured_report(), cli_first_error());
    fwrite(line.data, 1, line.length, stdout);
    if (status != CLI_OK) cli_keep_error_parts(run->args, cli_first_error(), path, status);
    for (struct cli_output *to = NULL; (to = cli_next_document(to));) {
        fputs(to->parts ? to->parts : "", stdout);
        putchar('\0');
    }
    if (run->each) {
        fputs(cli_captured_text(), stdout);
        putchar('\0');
    }
    return fflush(stdout) == 0 ? status : CLI_FILE;
}

/* ---- progress, for a person at a terminal ---- */

static double seconds_between(struct timespec from, struct timespec to)
{
    return (double)(to.tv_sec - from.tv_sec) + (double)(to.tv_nsec - from.tv_nsec) / 1e9;
}

/* "12 of 345, 6 a second; 10 match, 2 differ" */
static void show_progress(struct list_run *run)
{
    struct timespec now;
    struct sp_text line = {0};
    clock_gettime(CLOCK_MONOTONIC, &now);
    const double rate = (double)run->ended / (seconds_between(run->began, now) + 1e-9);
    sp_text_grouped(&line, run->ended);
    sp_text_puts(&line, " of ");
    sp_text_grouped(&line, run->path_count);
    sp_text_printf(&line, ", %.0f a second; ", rate);
    sp_line_put_counts(&line, run->results.counts, run->results.failed);
    cli_begin_step("%s", line.data);
    sp_text_free(&line);
}

/* ---- the run ---- */

/* A copy of the text that begins at *rest and ends with a NUL, or at `stop`; *rest is then behind it. */
static char *take_text(const char **rest, const char *stop)
{
    const size_t length = strnlen(*rest, (size_t)(stop - *rest));
    char *text = strndup(*rest, length);
    if (!text) cli_out_of_memory();
    *rest += *rest + length < stop ? length + 1 : length;
    return text;
}

/* Keeps the parts of the documents, and of a run the text, that stand behind the line of the results, which ends at
 * `line_end`; or, if the process ended without a line, parts that say so. */
static void keep_listed_parts(struct list_run *run, const struct sp_pool_end *end, const char *path,
                              const char *line_end)
{
    struct shapeproof_error error;
    if (line_end && !end->signal && !end->late && !end->too_long) {
        const char *rest = line_end, *stop = end->output + end->length;
        for (size_t i = 0; i < run->documents; i++) run->parts[i][end->task] = take_text(&rest, stop);
        if (run->each) run->each[end->task].text = take_text(&rest, stop);
        return;
    }
    sp_results_explain(end, &error);
    cli_keep_error_parts(run->args, &error, path, CLI_FILE);
    size_t i = 0;
    for (struct cli_output *to = NULL; (to = cli_next_document(to));) {
        run->parts[i++][end->task] = to->parts;
        to->parts = NULL;
    }
}

/* Writes the line of a checkpoint that is done into the results; false with the error ends the run. */
static bool note_listed(void *host, const struct sp_pool_end *end)
{
    struct list_run *run = host;
    struct sp_pool_end line = *end;
    const char *path = path_of(run, end->task);
    if (!path) return false;
    if (run->documents || run->each) {
        const char *stop = end->length ? memchr(end->output, '\n', end->length) : NULL;
        if (stop) line.length = (size_t)(++stop - end->output);
        keep_listed_parts(run, end, path, stop);
    }
    run->ended++;
    if (run->each) {
        struct sp_text text = {0};
        sp_results_put_line(&text, path, &line);
        run->each[end->task].line = text.data;
        cli_tell_amount("models", run->ended, run->path_count);
        return true;
    }
    if (isatty(run->results.to)) cli_end_step(); /* the line of results stands where that of the step does */
    if (!sp_results_add(&run->results, path, &line, &run->error)) return false;
    show_progress(run);
    return true;
}

/* Whether it is the FILE of a document, "junit=results.xml". */
static bool is_document_file(const char *word)
{
    static const char *const formats[] = {"sarif=", "junit=", "markdown=", "html="};
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if (strncmp(word, formats[i], strlen(formats[i])) == 0) return true;
    return false;
}

/* Whether the command line can be run with a list: what is wrong in it is found before the list is read, and not once
 * for each checkpoint. The options, the configuration, the claims and the expectations are opened, and closed again.
 * Returns CLI_OK, or complains and returns the exit status. */
static int check_options(const struct cli_args *args)
{
    struct cli_subject subject;
    struct shapeproof_expectations *expectations = NULL;
    char hint[128];
    size_t position = 0;
    snprintf(hint, sizeof hint, "shapeproof %s --help lists the options", args->command->name);
    if (!cli_value(args, "list", NULL))
        return cli_usage_error(hint, "%s: --resume, --jobs and --timeout go with --list", args->command->name);
    if (args->operand_count)
        return cli_usage_error(hint, "%s: '%s' is one argument too many beside --list", args->command->name,
                               args->operands[0]);
    const struct cli_output *document = cli_next_document(NULL);
    if (document && cli_value(args, "resume", NULL))
        return cli_usage_error(hint, "%s: --resume does not go with --format %s", args->command->name,
                               cli_name_of_format(document->format));
    if (cli_format(args) == SHAPEPROOF_REPORT_CSV)
        return cli_usage_error(hint, "%s: --list does not go with --format %s", args->command->name,
                               cli_format_name(args));
    for (const char *word; (word = cli_next_format_file(args, &position));) {
        if (strncmp(word, "json", strlen("json")) == 0)
            return cli_usage_error("--output FILE writes the lines of JSON to FILE",
                                   "%s: --list does not go with --format %s", args->command->name, word);
        if (!is_document_file(word))
            return cli_usage_error(hint, "%s: --list does not go with --format %s", args->command->name, word);
    }
    if (cli_value(args, "output", NULL) && cli_value(args, "resume", NULL))
        return cli_usage_error(hint, "%s: --resume does not go with --output", args->command->name);
    const uint64_t jobs = cli_number(args, "jobs", 1);
    if (jobs < 1 || jobs > SP_POOL_JOBS)
        return cli_usage_error(hint, "%s: --jobs is from 1 to %d", args->command->name, SP_POOL_JOBS);
    if (cli_number(args, "timeout", TASK_SECONDS) > MOST_SECONDS)
        return cli_usage_error(hint, "%s: --timeout is at most %d", args->command->name, MOST_SECONDS);
    int status = cli_subject_open(&subject, args, NULL);
    if (status == CLI_OK && cli_has_option(args, "claims")) status = cli_add_claims(&subject, args);
    if (status == CLI_OK) status = cli_load_expectations(args, &expectations);
    shapeproof_expectations_free(expectations);
    cli_subject_close(&subject);
    return status;
}

/* Opens the list, and reads it once. Only a regular file can be read again: the paths of another one are copied, and
 * those of standard input, because the standard input of a task is another one. */
static bool read_list_option(struct list_run *run)
{
    const char *path = cli_value(run->args, "list", NULL);
    const bool input = strcmp(path, "-") == 0;
    const char *name = input ? "standard input" : path;
    struct stat info;
    run->from = input ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (run->from < 0) {
        cli_fail(&run->error, CLI_FILE, "%s: open: %s", name, strerror(errno));
        return false;
    }
    if (input || fstat(run->from, &info) != 0 || !S_ISREG(info.st_mode)) {
        run->store = cli_open_unnamed();
        if (run->store < 0) {
            cli_fail(&run->error, CLI_FILE, "no temporary file for %s: mkostemp: %s", name, strerror(errno));
            return false;
        }
    }
    if (!sp_list_read(&run->list, run->from, run->store, name, &run->error)) return false;
    if (run->list.count) return true;
    cli_fail(&run->error, CLI_USAGE, "%s: there is no path in it", name);
    return false;
}

static void close_list(struct list_run *run)
{
    if (run->from > STDIN_FILENO) close(run->from);
    if (run->store >= 0) close(run->store);
    sp_list_free(&run->list);
}

static bool open_output(struct list_run *run)
{
    const char *path = cli_value(run->args, "resume", NULL);
    if (path) return sp_results_open(&run->results, path, &run->error);
    sp_results_use(&run->results, run->stdout_document ? -1 : STDOUT_FILENO, "standard output");
    return true;
}

static bool is_done(const void *results, const char *path) { return sp_results_has(results, path); }

static bool leave_out_done(struct list_run *run)
{
    if (run->results.done.count && !sp_list_leave_out(&run->list, is_done, &run->results, &run->before, &run->error))
        return false;
    run->path_count = run->list.count;
    return true;
}

/* The last line of `check --list`, on stderr: how many checkpoints had which verdict, and how many were not
 * checked. */
static void put_summary(const struct list_run *run)
{
    struct sp_text text = {0};
    sp_line_put_counts(&text, run->results.counts, run->results.failed);
    if (run->before) {
        sp_text_puts(&text, "; ");
        sp_text_grouped(&text, run->before);
        sp_text_puts(&text, run->before == 1 ? " was done before" : " were done before");
    }
    if (run->ended < run->path_count) {
        sp_text_puts(&text, "; ");
        sp_text_grouped(&text, run->path_count - run->ended);
        sp_text_puts(&text, " not checked");
    }
    if (run->list.repeated) {
        sp_text_puts(&text, "; ");
        sp_text_grouped(&text, run->list.repeated);
        sp_text_puts(&text, " listed again");
    }
    cli_end_step();
    fprintf(stderr, "%s\n", text.data);
    sp_text_free(&text);
}

/* With the list and the results open; the exit status, or the signal that ended the run in `*interrupted`. */
static int run_paths(struct list_run *run, int *interrupted)
{
    struct sp_pool pool = {
        .count = run->path_count,
        .jobs = (unsigned)cli_number(run->args, "jobs", sp_pool_processors()),
        .seconds = (unsigned)cli_number(run->args, "timeout", TASK_SECONDS),
        .work = check_listed,
        .done = note_listed,
        .host = run,
    };
    clock_gettime(CLOCK_MONOTONIC, &run->began);
    fflush(stdout);
    show_progress(run);
    sp_pool_run(&pool, &run->error);
    put_summary(run);
    *interrupted = pool.interrupted;
    return run->error.status ? cli_error(&run->error) : run->results.status;
}

/* Makes room for the parts of each document. */
static void open_parts(struct list_run *run)
{
    for (const struct cli_output *to = NULL; (to = cli_next_document(to));) run->documents++;
    run->parts = calloc(run->documents + 1, sizeof *run->parts);
    if (!run->parts) cli_out_of_memory();
    for (size_t i = 0; i < run->documents; i++)
        if (!(run->parts[i] = calloc(run->path_count + 1, sizeof *run->parts[i]))) cli_out_of_memory();
}

/* Writes each document of all parts, in the order of the list. A part is missing if the run ended before its time. */
static void put_list_documents(const struct list_run *run)
{
    const char **parts = calloc(run->path_count + 1, sizeof *parts);
    size_t document = 0;
    if (!parts) cli_out_of_memory();
    for (struct cli_output *to = NULL; (to = cli_next_document(to)); document++) {
        const struct shapeproof_report_options how = {.format = to->format};
        for (size_t i = 0; i < run->path_count; i++) parts[i] = run->parts[document][i] ? run->parts[document][i] : "";
        cli_put_document(to, shapeproof_report_document(parts, run->path_count, &how, NULL));
    }
    free(parts);
}

static void close_parts(struct list_run *run)
{
    for (size_t i = 0; run->parts && i < run->documents; i++) {
        for (size_t k = 0; k < run->path_count; k++) free(run->parts[i][k]);
        free(run->parts[i]);
    }
    free(run->parts);
}

bool cli_check_each(const struct cli_args *args, const char **paths, const char **configs, size_t count,
                    int (*check)(const struct cli_args *), struct cli_listed *results, struct shapeproof_error *error)
{
    struct list_run run = {
        .args = args, .run = check, .paths = paths, .path_count = count, .configs = configs, .each = results};
    struct sp_pool pool = {
        .count = count,
        .jobs = cli_captures() ? 1 : sp_pool_processors(), /* those of a list run side by side already */
        .seconds = TASK_SECONDS,
        .work = check_listed,
        .done = note_listed,
        .host = &run,
    };
    open_parts(&run);
    fflush(stdout);
    const bool ran = sp_pool_run(&pool, error);
    size_t document = 0;
    for (struct cli_output *to = NULL; ran && (to = cli_next_document(to)); document++)
        for (size_t i = 0; i < count; i++) {
            if (run.parts[document][i]) cli_keep_part(to, run.parts[document][i]);
            run.parts[document][i] = NULL;
        }
    close_parts(&run);
    if (pool.interrupted) raise(pool.interrupted);
    return ran;
}

int cli_run_list(const struct cli_args *args, int (*check)(const struct cli_args *))
{
    struct list_run run = {.args = args, .run = check, .from = -1, .store = -1};
    int interrupted = 0, status;
    cli_begin_list(); /* an error is a line of JSON, too, if it is JSON */
    run.stdout_document = cli_stdout_is_document();
    status = check_options(args);
    if (status != CLI_OK) return status;
    if (read_list_option(&run) && open_output(&run) && leave_out_done(&run)) {
        open_parts(&run);
        status = run_paths(&run, &interrupted);
        if (!interrupted) put_list_documents(&run);
    } else status = cli_error(&run.error);
    close_parts(&run);
    sp_results_close(&run.results);
    close_list(&run);
    if (interrupted) raise(interrupted); /* so that who called sees that it was interrupted */
    return status;
}
