/* SPDX-License-Identifier: MIT
 * shapeproof tables: which tables there are, and what they say. */
#include "base/suggest.h"
#include "cli/subject.h"

#include <stdlib.h>
#include <string.h>

static const struct cli_option options[] = {
    {.name = "kind",
     .argument = "KIND",
     .help = "list only tables of one kind: text, vision, audio, ..., or own for those of --table"},
    {.name = "measure",
     .argument = "NAME",
     .help = "list only tables that have this measure: active, cache, flops, shard or activations"},
    {.name = "parts",
     .help = "list the parts that a table of your own can use, such as linear(outputs, inputs), instead of the "
             "tables"},
    {.name = "names", .help = "print the names alone, one a line"},
    {CLI_OPTION_TABLE},
    {CLI_OPTION_FORMAT("text|json|jsonl|csv|markdown")},
    {CLI_OPTION_JSON},
    {CLI_OPTION_OUTPUT},
    {CLI_OPTION_QUIET},
    {CLI_OPTION_COLOR},
    {CLI_OPTION_NO_PAGER},
    {CLI_OPTION_END},
};

static const struct cli_example examples[] = {
    {"shapeproof tables", "all of them"},
    {"shapeproof tables qwen", "those with qwen in their name or model_type"},
    {"shapeproof tables --kind audio '*2vec*'", "audio tables whose name or model_type matches a pattern"},
    {"shapeproof tables --measure flops --kind vision",
     "the tables of images that say how many operations a pass takes"},
    {"shapeproof tables --parts norm", "the parts with norm in their name, with their arguments"},
    {"shapeproof tables --parts linear", "the text of a part"},
    {"shapeproof tables gpt2", "the text of a table, to read or to start your own from"},
    {NULL, NULL},
};

/* Suggests one that is called nearly so, or has a model_type that is. */
static int complain_of_table(const struct shapeproof_tables *tables, const char *name)
{
    const size_t count = shapeproof_tables_count(tables);
    size_t words = 0;
    for (size_t i = 0; i < count; i++) words += 1 + shapeproof_tables_info(tables, i)->model_type_count;
    const char **names = calloc(words, sizeof *names);
    char hint[128] = "'shapeproof tables' lists them";
    if (!names) cli_out_of_memory();
    words = 0;
    for (size_t i = 0; i < count; i++) {
        const struct shapeproof_table_info *info = shapeproof_tables_info(tables, i);
        names[words++] = info->name;
        for (size_t k = 0; k < info->model_type_count; k++) names[words++] = info->model_types[k];
    }
    const char *likely = sp_suggest_name(name, names, words);
    if (likely) snprintf(hint, sizeof hint, "did you mean '%s'?", likely);
    free(names);
    return cli_usage_error(hint, "there is no table '%s'", name);
}

/* The first one by name behind this one, or NULL. */
static const char *next_kind(const struct shapeproof_tables *tables, const char *kind)
{
    const char *next = NULL;
    for (size_t i = 0; i < shapeproof_tables_count(tables); i++) {
        const char *other = shapeproof_tables_kind(tables, i);
        if (strcmp(other, kind) > 0 && (!next || strcmp(other, next) < 0)) next = other;
    }
    return next;
}

/* Names those that there are. */
static int complain_of_kind(const struct shapeproof_tables *tables, const char *kind)
{
    char hint[256] = "the kinds are ";
    for (const char *k = next_kind(tables, ""); k; k = next_kind(tables, k)) {
        const size_t length = strlen(hint);
        snprintf(hint + length, sizeof hint - length, "%s%s", hint[length - 1] == ' ' ? "" : ", ", k);
    }
    return cli_usage_error(hint, "there are no tables of the kind '%s'", kind);
}

static int complain_of_filter(const struct shapeproof_tables *tables, const struct shapeproof_tables_filter *filter)
{
    const struct shapeproof_tables_filter text = {.text = filter->text}, kind = {.kind = filter->kind},
                                          measure = {.measure = filter->measure};
    bool any_of_text = false, any_of_kind = false, any_of_measure = false;
    for (size_t i = 0; i < shapeproof_tables_count(tables); i++) {
        any_of_text |= shapeproof_tables_fits(tables, i, &text);
        any_of_kind |= shapeproof_tables_fits(tables, i, &kind);
        any_of_measure |= shapeproof_tables_fits(tables, i, &measure);
    }
    if (!any_of_kind) return complain_of_kind(tables, filter->kind);
    if (!any_of_text) return complain_of_table(tables, filter->text);
    if (!any_of_measure)
        return cli_usage_error("the measures are active, cache, flops, shard and activations",
                               "there is no measure '%s' of tables", filter->measure);
    if (filter->measure) return cli_usage_error(NULL, "none of these tables has the measure '%s'", filter->measure);
    return cli_usage_error(NULL, "there is no table '%s' of the kind '%s'", filter->text, filter->kind);
}

/* Its text as it stands in the file; false when there is no table that is called exactly so. */
static bool show_table(const struct shapeproof_tables *tables, const char *name)
{
    for (size_t i = 0; i < shapeproof_tables_count(tables); i++) {
        const struct shapeproof_table_info *info = shapeproof_tables_info(tables, i);
        if (strcmp(info->name, name) != 0) continue;
        fwrite(info->source, 1, info->source_length, stdout);
        return true;
    }
    return false;
}

static bool any_table_fits(const struct shapeproof_tables *tables, const struct shapeproof_tables_filter *filter)
{
    for (size_t i = 0; i < shapeproof_tables_count(tables); i++)
        if (shapeproof_tables_fits(tables, i, filter)) return true;
    return false;
}

static int print_names(const struct shapeproof_tables *tables, const struct shapeproof_tables_filter *filter)
{
    for (size_t i = 0; i < shapeproof_tables_count(tables); i++)
        if (shapeproof_tables_fits(tables, i, filter)) printf("%s\n", shapeproof_tables_info(tables, i)->name);
    return CLI_OK;
}

/* ---- parts ---- */

/* linear(outputs, inputs, bias = true), and what it is. Its text has it behind the word `part`. */
static void print_part(const struct shapeproof_table_info *part)
{
    static const char word[] = "part ";
    const char *line = part->source, *end = part->source + part->source_length;
    while (line < end && strncmp(line, word, sizeof word - 1) != 0) {
        const char *newline = memchr(line, '\n', (size_t)(end - line));
        line = newline ? newline + 1 : end;
    }
    size_t length = line < end ? strcspn(line, "\n#") : 0;
    while (length && line[length - 1] == ' ') length--;
    if (length > sizeof word - 1) printf("%.*s\n", (int)(length - (sizeof word - 1)), line + sizeof word - 1);
    else printf("%s\n", part->name);
    if (!*part->title) return;
    const size_t size = strlen(part->title) + sizeof "    \n";
    char *title = malloc(size);
    if (!title) cli_out_of_memory();
    snprintf(title, size, "    %s\n", part->title);
    cli_put_lines(stdout, title, strlen(title), cli_columns());
    free(title);
}

/* The parts whose name has the text, or the text of the one that is called exactly so. With --names the names alone. */
static int list_parts(const struct cli_args *args, const struct shapeproof_tables *tables)
{
    const char *text = cli_operand(args);
    const bool names = cli_flag(args, "names");
    struct shapeproof_table_info part;
    bool is_any = false;
    if (cli_format_beside_text(args) || cli_value(args, "kind", NULL) || cli_value(args, "measure", NULL))
        return cli_usage_error(NULL, "tables: --parts does not go with --format, --kind or --measure");
    for (size_t position = 0; text && !names && shapeproof_tables_next_part(tables, &position, &part);) {
        if (strcmp(part.name, text) != 0) continue;
        fwrite(part.source, 1, part.source_length, stdout);
        return CLI_OK;
    }
    for (size_t position = 0; shapeproof_tables_next_part(tables, &position, &part);) {
        if (text && !strstr(part.name, text)) continue;
        if (names) printf("%s\n", part.name);
        else print_part(&part);
        is_any = true;
    }
    if (is_any) return CLI_OK;
    return cli_usage_error("'shapeproof tables --parts' lists them", "there is no part '%s'", text);
}

/* Those that fit, or the text of one. */
static int list_tables(const struct cli_args *args, const struct cli_subject *subject)
{
    const char *beside_text = cli_format_beside_text(args);
    const struct shapeproof_tables_filter filter = {
        .text = cli_operand(args), .kind = cli_value(args, "kind", NULL), .measure = cli_value(args, "measure", NULL)};
    if (cli_flag(args, "parts")) return list_parts(args, subject->tables);
    if (cli_flag(args, "names") && beside_text)
        return cli_usage_error(NULL, "tables: --names does not go with --format %s", beside_text);
    if (filter.text && !filter.kind && !filter.measure && !beside_text && !cli_flag(args, "names") &&
        show_table(subject->tables, filter.text))
        return CLI_OK;
    if (!any_table_fits(subject->tables, &filter)) return complain_of_filter(subject->tables, &filter);
    if (cli_flag(args, "names")) return print_names(subject->tables, &filter);
    for (struct cli_output *to = NULL; (to = cli_next_output(to));) {
        struct shapeproof_report_options how = cli_report_options(args, to);
        how.filter = &filter;
        cli_put_report(to, shapeproof_report_tables(subject->tables, &how, NULL));
    }
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

static const struct cli_term statuses[] = {
    {"0", "the tables were listed"},
    {"2", CLI_USAGE_STATUS},
    {"3", "a table is wrong"},
    {"4", "the output could not be written"},
    {NULL, NULL},
};

const struct cli_command cli_tables = {
    .name = "tables",
    .summary = "list the tables, or show one",
    .operands = "[TABLE|FILTER]",
    .description =
        "Lists the built-in tables and those of --table FILE, with name, kind and title. The values of model_type "
        "that select a table are listed too, if they are not its name. FILTER is a string: only tables whose name, "
        "kind or model_type contains it are listed. A FILTER with *, ? or [...] is a pattern, which must match one "
        "of these as a whole. If the argument is the name of a TABLE, the text of the table is printed, unless "
        "--kind, --measure, --names or a --format other than text is given.\n"
        "\n"
        "With --parts, the parts of tables are listed instead, with name, arguments and a description. A table of "
        "your own can use a part, as in 'attn.query.* linear(H, H)'. The parts in your own table files are listed "
        "too. If the argument is the name of a part, the text of the part is printed.",
    .least = 0,
    .most = 1,
    .options = options,
    .examples = examples,
    .statuses = statuses,
    .run = run_tables,
};
