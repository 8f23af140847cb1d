/* SPDX-License-Identifier: MIT
 * shapeproof inspect: what checkpoints hold. */
#include "cli/components.h"
#include "cli/near.h"
#include "cli/subject.h"
#include "fleet/results.h"

#include <limits.h>
#include <string.h>

static const struct cli_option options[] = {
    {.name = "tree",
     .letter = 't',
     .help = "show the names as a tree, with sub-totals; equal subtrees share a line, such as layers.{0-11}"},
    {.name = "depth",
     .letter = 'd',
     .argument = "N",
     .help = "print one sub-total for all names that share their first N components; with --tree, show N levels"},
    {.name = "totals", .help = "print the totals without the tensors"},
    {.name = "sort",
     .letter = 's',
     .argument = "file|name|size",
     .help = "the order of the tensors: as in the file (the default), by name with 2 before 10, or largest first"},
    {.name = "filter",
     .letter = 'f',
     .argument = "GLOB",
     .help = "list only tensors whose whole name matches a shell pattern, such as '*.bias'; the totals are of these "
             "tensors"},
    {.name = "by",
     .argument = "group",
     .help = "print the formula of each group of the table, and its number of parameters, predicted and stored; the "
             "configuration is that beside FILE, or is given by --config, --set and --table"},
    {CLI_OPTION_CONFIG},
    {CLI_OPTION_SET},
    {CLI_OPTION_TABLE},
    {CLI_OPTION_VOCABULARY},
    {.name = "strict",
     .help = "exit with 1 if there is a warning about a FILE, for example that unpickling it would call a function"},
    {CLI_OPTION_OFFLINE},
    {CLI_OPTION_FORMAT("text|json|jsonl|csv|html")},
    {CLI_OPTION_JSON},
    {CLI_OPTION_OUTPUT},
    {CLI_OPTION_COLOR},
    {CLI_OPTION_END},
};

static const struct cli_example examples[] = {
    {"shapeproof inspect model.safetensors", "every tensor with its dtype, shape and size"},
    {"shapeproof inspect --tree checkpoint/", "the structure of a sharded checkpoint"},
    {"shapeproof inspect -d 2 model.pt", "the number of parameters of each part"},
    {"shapeproof inspect --by group model/", "the parameters of its attention, its feed-forward layers, and so on"},
    {"shapeproof inspect model/ --format html -o model.html", "a page with a map of the tensors"},
    {"shapeproof inspect --json model.h5 | jq .totals.unique_parameters", "one number for a script"},
    {NULL, NULL},
};

/* As --sort has them; the parser let no other through. */
static enum shapeproof_inspect_sort sort_named(const char *name)
{
    if (strcmp(name, "name") == 0) return SHAPEPROOF_SORT_NAME;
    return strcmp(name, "size") == 0 ? SHAPEPROOF_SORT_SIZE : SHAPEPROOF_SORT_FILE;
}

/* --depth without --tree is sub-totals. */
static enum shapeproof_inspect_view view_asked(const struct cli_args *args)
{
    if (cli_flag(args, "tree")) return SHAPEPROOF_INSPECT_TREE;
    if (cli_value(args, "depth", NULL)) return SHAPEPROOF_INSPECT_PREFIXES;
    return cli_flag(args, "totals") ? SHAPEPROOF_INSPECT_TOTALS : SHAPEPROOF_INSPECT_LIST;
}

/* Of those that are about the groups of a table. */
static bool group_options_agree(const struct cli_args *args)
{
    static const char *const of_groups[] = {"config", "set", "table", "vocabulary", NULL};
    const bool by_group = cli_value(args, "by", NULL) != NULL;
    for (size_t i = 0; of_groups[i] && !by_group; i++) {
        if (!cli_value(args, of_groups[i], NULL)) continue;
        cli_usage_error(NULL, "inspect: --%s goes with --by group", of_groups[i]);
        return false;
    }
    if (!by_group || (view_asked(args) == SHAPEPROOF_INSPECT_LIST && !cli_value(args, "filter", NULL) &&
                      !cli_value(args, "sort", NULL)))
        return true;
    cli_usage_error(NULL, "inspect: --by does not go with --tree, --depth, --totals, --sort or --filter");
    return false;
}

/* What would be ignored without a word is refused. */
static bool options_agree(const struct cli_args *args)
{
    const bool unfolds = cli_flag(args, "tree") || cli_value(args, "depth", NULL);
    const bool shaped = unfolds || cli_flag(args, "totals");
    if (cli_format(args) == SHAPEPROOF_REPORT_JSON && shaped)
        cli_usage_error("JSON always has every tensor and the totals",
                        "inspect: --json does not go with --tree, --depth or --totals");
    else if (cli_format(args) == SHAPEPROOF_REPORT_CSV && (shaped || cli_value(args, "by", NULL)))
        cli_usage_error("CSV always has a row for each tensor",
                        "inspect: --format csv does not go with --tree, --depth, --totals or --by");
    else if (cli_format(args) == SHAPEPROOF_REPORT_HTML && shaped)
        cli_usage_error("a page always has the totals, the modules and every tensor",
                        "inspect: --format html does not go with --tree, --depth or --totals");
    else if (cli_format(args) == SHAPEPROOF_REPORT_HTML && args->operand_count > 1)
        cli_usage_error("write a page for each", "inspect: --format html is about one FILE, and there are %zu",
                        args->operand_count);
    else if (cli_flag(args, "totals") && unfolds)
        cli_usage_error(NULL, "inspect: --totals does not go with --tree or --depth");
    else return group_options_agree(args);
    return false;
}

/* Whether the titles of CSV stand above what was written: they do once, for all checkpoints. */
static bool has_heading;

/* A file that cannot be read does not keep the others from being shown. */
int cli_inspect_one(const char *path, const struct shapeproof_report_inspect_options *how, bool strict,
                    struct shapeproof_totals *totals)
{
    struct shapeproof_error error = {0};
    struct shapeproof_inventory *inventory = shapeproof_inventory_open(path, &error);
    if (!inventory) return cli_path_error(path, &error);
    struct shapeproof_quantised_model *quantised = shapeproof_quantised_model_new(inventory);
    struct shapeproof_report_inspect_options shown = *how;
    shown.quantised = quantised;
    shown.no_heading = has_heading;
    has_heading = how->report.format == SHAPEPROOF_REPORT_CSV;
    cli_put_report(shapeproof_report_inspect(inventory, &shown, NULL));
    shapeproof_quantised_model_free(quantised);
    if (how->report.format != SHAPEPROOF_REPORT_JSON) cli_warn_of_file(path, inventory);
    if (totals) *totals = *shapeproof_inventory_totals(inventory);
    const bool doubtful = shapeproof_inventory_warning_count(inventory) > 0;
    shapeproof_inventory_close(inventory);
    return strict && doubtful ? CLI_DIFFERS : CLI_OK;
}

/* A checkpoint, or a directory with several. */
static int inspect_path(const char *path, const struct shapeproof_report_inspect_options *how, bool strict)
{
    struct shapeproof_error error = {0};
    struct shapeproof_components *components = shapeproof_components_open(path, &error);
    if (!components) return cli_path_error(path, &error);
    if (shapeproof_component_count(components) && how->report.format == SHAPEPROOF_REPORT_HTML) {
        shapeproof_components_free(components);
        return cli_usage_error("inspect one of the models in it",
                               "inspect: --format html is about one model, and %s "
                               "has several",
                               path);
    }
    const int status = shapeproof_component_count(components) ? cli_inspect_components(components, how, strict)
                                                              : cli_inspect_one(path, how, strict, NULL);
    shapeproof_components_free(components);
    return status;
}

/* ---- by group ---- */

/* `inspect --by group`: the file's parameters in the groups of its table. */
static int report_groups(const struct cli_args *args, const char *path, const struct cli_subject *subject,
                         const struct shapeproof_inventory *inventory)
{
    static const char *const no_files[] = {""}; /* no claim stands there */
    const struct shapeproof_check_options what = {.table = subject->table_name};
    const struct shapeproof_report_verify_options how = {
        .report = cli_report_options(args), .path = path, .groups = true};
    struct shapeproof_error error = {0};
    int status = CLI_OK;
    struct shapeproof_check *check = shapeproof_check_new(inventory, subject->tables, subject->config, &what, &error);
    if (!check) return cli_no_prediction(subject, &(struct shapeproof_predict_options){.table = what.table}, &error);
    struct shapeproof_verification *verification =
        cli_settings_are_read(subject, shapeproof_check_prediction(check))
            ? shapeproof_verify(check, subject->tables,
                                &(struct shapeproof_verify_options){.files = no_files, .file_count = 1}, &error)
            : NULL;
    if (verification) cli_put_report(shapeproof_report_verify(verification, &how, NULL));
    else status = error.status ? cli_error(&error) : CLI_USAGE;
    shapeproof_verification_free(verification);
    shapeproof_check_free(check);
    return status;
}

static int inspect_groups(const struct cli_args *args, const char *path)
{
    struct shapeproof_error error = {0};
    struct cli_subject subject;
    struct shapeproof_inventory *inventory = shapeproof_inventory_open(path, &error);
    if (!inventory) return cli_path_error(path, &error);
    int status = cli_subject_open_for(&subject, args, path, inventory);
    if (status == CLI_OK) status = report_groups(args, path, &subject, inventory);
    if (cli_format(args) != SHAPEPROOF_REPORT_JSON) cli_warn_of_file(path, inventory);
    if (status == CLI_OK && cli_flag(args, "strict") && shapeproof_inventory_warning_count(inventory))
        status = CLI_DIFFERS;
    cli_subject_close(&subject);
    shapeproof_inventory_close(inventory);
    return status;
}

/* `inspect PATH...`: a report for each, with a blank line in front of every report but the first. The exit status is
 * the worst of them. */
static int run_inspect(const struct cli_args *args)
{
    const uint64_t depth = cli_number(args, "depth", 0);
    const struct shapeproof_report_inspect_options how = {
        .report = cli_report_options(args),
        .view = view_asked(args),
        .sort = sort_named(cli_value(args, "sort", "file")),
        .depth = depth < UINT_MAX ? (unsigned)depth : UINT_MAX,
        .filter = cli_value(args, "filter", NULL),
        .sink = cli_put_part,
        .to = stdout,
    };
    int status = CLI_OK;
    bool was_shown = false;
    if (!options_agree(args)) return CLI_USAGE;
    for (size_t i = 0; i < args->operand_count; i++) {
        if (was_shown && how.report.format == SHAPEPROOF_REPORT_TEXT) putchar('\n');
        const int now = cli_value(args, "by", NULL) ? inspect_groups(args, args->operands[i])
                                                    : inspect_path(args->operands[i], &how, cli_flag(args, "strict"));
        was_shown = now == CLI_OK || now == CLI_DIFFERS;
        status = sp_worse_status(status, now);
    }
    return status;
}

static const struct cli_term statuses[] = {
    {"0", "every file was read; with --strict, without a warning"},
    {"1", "with --strict, there is a warning"},
    {"2", CLI_USAGE_STATUS},
    {"3", "with --by: a table or a configuration is wrong"},
    {"4", "a file is unreadable or malformed, could not be fetched, or the output could not be written"},
    {"5", "with --by: there is no table or no configuration"},
    {NULL, NULL},
};

const struct cli_command cli_inspect = {
    .name = "inspect",
    .summary = "list the tensors of checkpoints, with dtypes, shapes, ties and totals",
    .operands = "FILE...",
    .description =
        "Reads the headers of each FILE and lists its tensors. Weights are not read, but a compressed file has to "
        "be inflated. A FILE is a checkpoint in any supported format, a directory, or - for standard input. It may "
        "also be an index (*.index.json), whose shards are read as one checkpoint. Nothing in a FILE is executed.\n"
        "\n"
        "A tensor that shares the storage of an earlier one has the note 'same as NAME'. The parameters of both "
        "count once. Warnings about a FILE go to standard error, or with --json into the document.\n"
        "\n"
        "The parameters of a FILE are the elements that it stores. If the weights are quantised, an extra line has "
        "the number of parameters before quantisation. It is computed from the config.json beside the FILE, or "
        "inferred from names and shapes.\n"
        "\n"
        "With --strict the exit status is 1 if there is a warning about a FILE. Use it to reject files from "
        "untrusted sources: there is a warning if unpickling a FILE would call a function that can run code, and a "
        "line of the report names the function.\n"
        "\n"
        "A directory with a model_index.json (a pipeline of diffusers) or a modules.json (sentence-transformers) "
        "may hold several models. Each model is listed like a FILE of its own. A table at the end has the totals of "
        "all models.\n"
        "\n"
        "--format html writes a page that needs neither a network nor scripts: totals, modules, and a table of the "
        "tensors. In a browser with scripts it also has a map of the tensors and a search.\n"
        "\n"
        "With --json the output has one document of the schema shapeproof.inspect/1 for each FILE. If a FILE cannot "
        "be read, there is a line on standard error and no document for it. The others are still listed, and the "
        "exit status is 4.",
    .least = 1,
    .most = CLI_MANY,
    .checkpoints = true,
    .options = options,
    .examples = examples,
    .statuses = statuses,
    .run = run_inspect,
};
