/* SPDX-License-Identifier: MIT */
#include "cli/resume.h"

#include <string.h>

#include "cli/subject.h"

/* False after an error was printed: options that are about the tensors of one model, or a format that the report does
 * not have. */
static bool options_fit_resuming(const struct cli_args *args)
{
    static const char *const values[] = {"config", "model", "set", "table", "vocabulary", "for", "claims", "expect"};
    static const char *const flags[] = {"strict", "data", "all", "trace"};
    const char *odd = NULL;
    size_t position = 0;
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        if (cli_value(args, values[i], NULL)) odd = values[i];
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
        if (cli_flag(args, flags[i])) odd = flags[i];
    if (odd) {
        cli_usage_error("run check without --resume for the tensors of the model",
                        "check: --resume does not go with --%s", odd);
        return false;
    }
    const char *format = cli_format_name(args), *file = cli_next_format_file(args, &position);
    if (file && strncmp(file, "json", strlen("json")) != 0 && strncmp(file, "text", strlen("text")) != 0) format = file;
    if (strncmp(format, "text", strlen("text")) == 0 || strncmp(format, "json", strlen("json")) == 0) return true;
    cli_usage_error("its report is text or JSON", "check: --resume does not go with --format %s", format);
    return false;
}

/* Adds what the tables tell of the model and the config.json beside it. Exit status. */
static int compare_model(const struct cli_args *args, struct shapeproof_resume *resume)
{
    struct cli_subject subject;
    struct shapeproof_error error = {0};
    int status = cli_subject_open_tables(&subject, args);
    if (status == CLI_OK && !shapeproof_resume_compare(resume, subject.tables, &error)) status = cli_error(&error);
    cli_subject_close(&subject);
    return status;
}

int cli_check_resume(const struct cli_args *args)
{
    static const int statuses[] = {[SHAPEPROOF_RESUME_RIGHT] = CLI_OK,
                                   [SHAPEPROOF_RESUME_UNTOLD] = CLI_UNKNOWN,
                                   [SHAPEPROOF_RESUME_WRONG] = CLI_DIFFERS};
    const char *path = args->operands[0];
    struct shapeproof_error error = {0};
    if (!options_fit_resuming(args)) return CLI_USAGE;
    if (args->remote_count) return cli_usage_error("download the folder first", "check: --resume needs a local folder");
    cli_begin_step("checking %s", path);
    struct shapeproof_resume *resume = shapeproof_resume_new(path, &error);
    if (!resume) return cli_error(&error);
    const int failure = compare_model(args, resume);
    if (failure != CLI_OK) {
        shapeproof_resume_free(resume);
        return failure;
    }
    for (struct cli_output *to = NULL; (to = cli_next_output(to));) {
        const struct shapeproof_report_options how = cli_report_options(args, to);
        cli_put_report(to, shapeproof_report_resume(resume, &how, NULL));
    }
    const int status = statuses[shapeproof_resume_answer(resume)];
    shapeproof_resume_free(resume);
    return status;
}
