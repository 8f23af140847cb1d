/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"

bool cli_writes_document(const struct cli_args *args)
{
    const enum shapeproof_report_format format = cli_format(args);
    return format == SHAPEPROOF_REPORT_SARIF || format == SHAPEPROOF_REPORT_JUNIT;
}

/* Appends, with the URL in place of each path of a sparse cache. */
static void append_part(struct cli_capture *capture, const char *part)
{
    size_t length = strlen(part);
    char *said = cli_restore_urls(part, &length);
    const size_t before = capture->parts ? strlen(capture->parts) : 0;
    capture->parts = realloc(capture->parts, before + length + 1);
    if (!capture->parts) abort();
    memcpy(capture->parts + before, said ? said : part, length);
    capture->parts[before + length] = '\0';
    free(said);
}

void cli_keep_part(struct cli_capture *capture, const struct shapeproof_checked *checked)
{
    const struct shapeproof_report_options how = {.format = capture->document};
    cli_keep_made_part(capture, shapeproof_report_checked(checked, &how, NULL));
}

void cli_keep_made_part(struct cli_capture *capture, char *part)
{
    append_part(capture, part);
    shapeproof_free(part);
}

bool cli_makes_page(const struct cli_args *args)
{
    return cli_format(args) == SHAPEPROOF_REPORT_HTML ||
           (cli_captured() && cli_captured()->document == SHAPEPROOF_REPORT_HTML);
}

void cli_keep_error_part(struct cli_capture *capture, const char *path, int status)
{
    const struct shapeproof_checked checked = {.path = path, .status = status, .error = &capture->error};
    if (!capture->parts) cli_keep_part(capture, &checked);
}

void cli_put_document(const struct cli_capture *capture)
{
    const struct shapeproof_report_options how = {.format = capture->document};
    const char *const parts[] = {capture->parts ? capture->parts : ""};
    cli_put_report(shapeproof_report_document(parts, 1, &how, NULL));
}

void cli_put_checked(const struct cli_args *args, const struct shapeproof_checked *checked)
{
    struct shapeproof_report_options how = cli_report_options(args);
    struct cli_capture *capture = cli_captured();
    how.loadings = checked->loadings;
    how.claims = checked->claims;
    if (capture && capture->document) cli_keep_part(capture, checked);
    if (checked->check && !cli_writes_document(args))
        cli_put_report(shapeproof_report_check(checked->check, &how, NULL));
}

int cli_run_document(struct cli_args *args, int (*run)(const struct cli_args *))
{
    struct cli_capture capture = {.document = cli_format(args)};
    const char *path = cli_operand(args); /* as the user has it: it becomes that of a cache */
    cli_capture_into(&capture);
    const int status = cli_run_found(args, run);
    cli_capture_into(NULL);
    if (capture.error.status) cli_error(&capture.error);
    if (status != CLI_USAGE) {
        if (status != CLI_OK) cli_keep_error_part(&capture, path, status);
        cli_put_document(&capture);
    }
    free(capture.parts);
    return status;
}
