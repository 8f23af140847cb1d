/* SPDX-License-Identifier: MIT */
#define _POSIX_C_SOURCE 200809L
#include "cli/run.h"

#include <stdlib.h>
#include <string.h>

#include "cli/list.h"
#include "fleet/lines.h"
#include "fleet/results.h"

/* How the report calls what came of a model. */
static const char *const outcome_words[SP_LINE_OUTCOMES] = {
    [SP_LINE_MATCH] = "match",           [SP_LINE_EXPLAINED] = "explained",   [SP_LINE_DIFFERS] = "differs",
    [SP_LINE_HOLDS] = "match",           [SP_LINE_FAILS] = "differs",         [SP_LINE_UNKNOWN] = "unknown",
    [SP_LINE_MISCONFIGURED] = "unknown", [SP_LINE_UNREADABLE] = "unreadable", [SP_LINE_CRASHED] = "unreadable",
    [SP_LINE_USAGE] = "unknown",
};

static char *copy_text(const char *text, size_t length)
{
    char *copy = strndup(text, length);
    if (!copy) cli_out_of_memory();
    return copy;
}

/* What a model came to: the verdict, and its reason, which is what the first line of the report says behind the
 * verdict, or the error. `copy` is what the result borrows from, to be freed. */
static struct shapeproof_run_result result_of(const struct cli_listed *listed, char **copy)
{
    struct shapeproof_run_result result = {.document = listed->line, .report = listed->text};
    struct sp_fleet_line line;
    const size_t length = strcspn(listed->line, "\n");
    *copy = copy_text(listed->line, length);
    if (!sp_line_read(&line, *copy, length))
        line = (struct sp_fleet_line){.status = CLI_FILE, .outcome = SP_LINE_CRASHED, .error = "no result"};
    result.status = line.status;
    result.verdict = outcome_words[line.outcome];
    result.reason = line.error;
    if (!line.error && listed->text) {
        const size_t verdict = strcspn(listed->text, ":\n");
        const char *reason = listed->text + verdict + strspn(listed->text + verdict, ": ");
        free(*copy);
        result.reason = *copy = copy_text(reason, strcspn(reason, "\n"));
    }
    if (!result.reason) result.reason = "";
    return result;
}

static void warn_of_model(void *path, const char *warning) { cli_warning(path, warning); }

/* Prints the warnings of the models, which their own processes have written into the documents alone. */
static void warn_of_models(const struct shapeproof_run *run, const struct cli_listed *listed)
{
    for (size_t i = 0; i < shapeproof_run_model_count(run); i++) {
        const size_t length = strcspn(listed[i].line, "\n");
        char *line = copy_text(listed[i].line, length);
        sp_line_each_warning(line, length, warn_of_model, (void *)shapeproof_run_model(run, i)->path);
        free(line);
    }
}

static bool has_broken_file(const struct shapeproof_run *run)
{
    for (size_t i = 0; i < shapeproof_run_file_count(run); i++)
        if (shapeproof_run_file(run, i)->state == SHAPEPROOF_RUN_BROKEN) return true;
    return false;
}

/* The worst of the models' statuses; a broken file beside them differs from a run that can go on, and where there is
 * no model nothing was checked. */
static int judge_run(const struct shapeproof_run *run, const struct shapeproof_run_result *results)
{
    int status = has_broken_file(run) ? CLI_DIFFERS : CLI_OK;
    const size_t count = shapeproof_run_model_count(run);
    for (size_t i = 0; i < count; i++) status = sp_worse_status(status, results[i].status);
    return count ? status : sp_worse_status(status, CLI_UNKNOWN);
}

/* Keeps, for documents, a part for each broken file; those of the models are kept. */
static void keep_broken(const struct shapeproof_run *run)
{
    for (size_t i = 0; i < shapeproof_run_file_count(run); i++) {
        const struct shapeproof_run_file *file = shapeproof_run_file(run, i);
        struct shapeproof_error error = {.kind = SHAPEPROOF_KIND_MALFORMED};
        if (file->state != SHAPEPROOF_RUN_BROKEN) continue;
        cli_fail(&error, CLI_FILE, "%s: %s", file->path, file->note);
        cli_keep_parts(&(struct shapeproof_checked){.path = file->path, .status = CLI_DIFFERS, .error = &error}, NULL);
    }
}

static void put_run(const struct cli_args *args, const struct shapeproof_run *run,
                    const struct shapeproof_run_result *results)
{
    keep_broken(run);
    for (struct cli_output *to = NULL; (to = cli_next_output(to));) {
        const struct shapeproof_report_options how = cli_report_options(args, to);
        if (!cli_is_document(how.format) && how.format != SHAPEPROOF_REPORT_HTML_PART)
            cli_put_report(to, shapeproof_report_run(run, results, &how, NULL));
    }
}

int cli_check_run(const struct cli_args *args, struct shapeproof_run *run, int (*check)(const struct cli_args *))
{
    struct shapeproof_error error = {0};
    const size_t count = shapeproof_run_model_count(run);
    struct cli_listed *listed = calloc(count + 1, sizeof *listed);
    struct shapeproof_run_result *results = calloc(count + 1, sizeof *results);
    const char **paths = calloc(count + 1, sizeof *paths), **configs = calloc(count + 1, sizeof *configs);
    char **copies = calloc(count + 1, sizeof *copies);
    if (!listed || !results || !paths || !configs || !copies) cli_out_of_memory();
    for (size_t i = 0; i < count; i++) {
        paths[i] = shapeproof_run_model(run, i)->path;
        configs[i] = shapeproof_run_model(run, i)->config;
    }
    cli_begin_several();
    cli_begin_step("checking %s", shapeproof_run_path(run));
    int status = CLI_OK;
    if (shapeproof_run_examine(run, &error) && cli_check_each(args, paths, configs, count, check, listed, &error)) {
        for (size_t i = 0; i < count; i++) results[i] = result_of(&listed[i], &copies[i]);
        status = judge_run(run, results);
        put_run(args, run, results);
        warn_of_models(run, listed);
    } else status = cli_error(&error);
    for (size_t i = 0; i < count; i++) {
        free(listed[i].line);
        free(listed[i].text);
        free(copies[i]);
    }
    free(copies);
    free(configs);
    free(paths);
    free(results);
    free(listed);
    return status;
}
