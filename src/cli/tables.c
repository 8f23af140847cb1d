/* SPDX-License-Identifier: MIT
 * shapeproof tables: which tables there are, and what they say. */
#include "cli/subject.h"

#include <stdlib.h>
#include <string.h>

static const struct cli_option options[] = {
    {CLI_OPTION_TABLE},
    {CLI_OPTION_JSON},
    {CLI_OPTION_COLOR},
    {CLI_OPTION_END},
};

static const struct cli_example examples[] = {
    {"shapeproof tables", "all of them"},
    {"shapeproof tables gpt2", "the text of one, to read or to start your own from"},
    {NULL, NULL},
};

/* Suggests one that is called nearly so. */
static int complain_of_table(const struct sp_tables *tables, const char *name)
{
    const size_t count = sp_tables_count(tables);
    const char **names = calloc(count, sizeof *names);
    char hint[128] = "'shapeproof tables' lists them";
    if (!names) abort();
    for (size_t i = 0; i < count; i++) names[i] = sp_tables_info(tables, i).name;
    const char *likely = sp_suggest(name, names, count);
    if (likely) snprintf(hint, sizeof hint, "did you mean '%s'?", likely);
    free(names);
    return cli_usage_error(hint, "there is no table '%s'", name);
}

/* Its text as it stands in the file. */
static int show_table(const struct sp_tables *tables, const char *name)
{
    for (size_t i = 0; i < sp_tables_count(tables); i++) {
        const struct sp_table_info info = sp_tables_info(tables, i);
        if (strcmp(info.name, name) != 0) continue;
        fwrite(info.source, 1, info.source_length, stdout);
        return CLI_OK;
    }
    return complain_of_table(tables, name);
}

/* All of them, or the text of one. */
static int list_tables(const struct cli_args *args, const struct cli_subject *subject)
{
    const struct sp_report_options how = cli_report_options(args);
    size_t length;
    if (args->operand_count && cli_flag(args, "json"))
        return cli_usage_error(NULL, "tables: the text of a table is not JSON");
    if (args->operand_count) return show_table(subject->tables, args->operands[0]);
    char *report = sp_report_tables(subject->tables, &how, &length);
    cli_put_report(report, length);
    return CLI_OK;
}

static int run_tables(const struct cli_args *args)
{
    struct cli_subject subject;
    int status = cli_subject_open_tables(&subject, args);
    if (status == CLI_OK) status = list_tables(args, &subject);
    cli_subject_close(&subject);
    return status;
}

const struct cli_command cli_tables = {
    .name = "tables",
    .summary = "list the tables, or show one",
    .operands = "[TABLE]",
    .description = "Lists the tables that are built in, and those of --table FILE: name, the model_type values they "
                   "serve, what they are. With TABLE, prints its text as it stands in its file.",
    .least = 0,
    .most = 1,
    .options = options,
    .examples = examples,
    .run = run_tables,
};
