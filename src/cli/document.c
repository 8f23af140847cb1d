/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"

void cli_keep_part(struct cli_output *document, char *part)
{
    size_t length = strlen(part);
    char *said = cli_restore_operands(part, &length); /* has the operand in place of each path that stands for one */
    const size_t before = document->parts ? strlen(document->parts) : 0;
    document->parts = realloc(document->parts, before + length + 1);
    if (!document->parts) cli_out_of_memory();
    memcpy(document->parts + before, said ? said : part, length);
    document->parts[before + length] = '\0';
    free(said);
    shapeproof_free(part);
}

static void keep_checked(struct cli_output *document, const struct shapeproof_checked *checked)
{
    const struct shapeproof_report_options how = {.format = document->format};
    cli_keep_part(document, shapeproof_report_checked(checked, &how, NULL));
}

void cli_keep_parts(const struct shapeproof_checked *checked, const struct shapeproof_verification *groups)
{
    struct shapeproof_checked with_groups = *checked;
    with_groups.claims = groups;
    for (struct cli_output *to = NULL; (to = cli_next_document(to));)
        if (to->format != SHAPEPROOF_REPORT_MARKDOWN)
            keep_checked(to, to->format == SHAPEPROOF_REPORT_HTML ? &with_groups : checked);
}

void cli_keep_error_parts(const struct cli_args *args, const struct shapeproof_error *error, const char *path,
                          int status)
{
    const struct shapeproof_checked checked = {
        .path = path, .status = status, .error = error, .command = args->command->name};
    for (struct cli_output *to = NULL; (to = cli_next_document(to));)
        if (!to->parts) keep_checked(to, &checked);
}

void cli_put_checked(const struct cli_args *args, const struct shapeproof_checked *checked,
                     const struct shapeproof_verification *groups)
{
    cli_keep_parts(checked, groups);
    for (struct cli_output *to = NULL; (to = cli_next_output(to));) {
        struct shapeproof_report_options how = cli_report_options(args, to);
        how.loadings = checked->loadings;
        how.fit = checked->fit;
        how.claims = how.format == SHAPEPROOF_REPORT_HTML ? groups : checked->claims;
        if (checked->check && !cli_is_document(how.format) && how.format != SHAPEPROOF_REPORT_HTML_PART)
            cli_put_report(to, shapeproof_report_check(checked->check, &how, NULL));
    }
}

void cli_put_documents(const struct cli_args *args, const char *path, int status)
{
    if (status == CLI_USAGE) return;
    if (path && status != CLI_OK) cli_keep_error_parts(args, cli_first_error(), path, status);
    for (struct cli_output *to = NULL; (to = cli_next_document(to));) {
        if (!path && !to->parts) continue;
        const struct shapeproof_report_options how = {.format = to->format};
        const char *const parts[] = {to->parts ? to->parts : ""};
        cli_put_document(to, shapeproof_report_document(parts, 1, &how, NULL));
        free(to->parts);
        to->parts = NULL;
    }
}
