/* SPDX-License-Identifier: MIT
 * shapeproof inspect: what checkpoints hold. */
#include "base/suggest.h"
#include "cli/breakdown.h"
#include "cli/components.h"
#include "cli/near.h"
#include "cli/subject.h"
#include "fleet/results.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct cli_option options[] = {
    {.name = "tree",
     .letter = 't',
     .help = "show the names as a tree, with sub-totals; equal subtrees share a line, such as layers.{0-11}"},
    {.name = "depth",
     .letter = 'd',
     .argument = "N",
     .help = "print one sub-total for all names that share their first N components; with --tree, show N levels; with "
             "--by module, cut the names behind N components"},
    {.name = "totals", .help = "print the totals without the tensors"},
    {.name = "offsets", .help = "print where the data of each tensor begin and end in its file, in bytes"},
    {.name = "query",
     .argument = "KEY",
     .help = "print the value of one key of the metadata as it is in the FILE, and nothing else; exit with 1 if there "
             "is no such key"},
    {.name = "sort",
     .letter = 's',
     .argument = "file|name|size",
     .help = "the order of the tensors: as in the file (the default), by name with 2 before 10, or largest first (the "
             "default with --by)"},
    {.name = "filter",
     .letter = 'f',
     .argument = "GLOB",
     .help = "list only tensors whose whole name matches a shell pattern, such as '*.bias'; the totals are of these "
             "tensors"},
    {.name = "by",
     .argument = "KEY[,KEY]",
     .help = "print the parameters and bytes of each layer, group, module, dtype, shard or expert; with two keys, "
             "also of each value of the second key within each value of the first. group is the group of the table; "
             "the configuration is that "
             "beside FILE, or is given by --config, --set and --table. group alone prints the formula of each group, "
             "and its number of parameters, predicted and stored"},
    {.name = "redact",
     .help = "replace names, metadata and paths by placeholders, so that the output and the messages can be shown in "
             "public: words that the built-in tables contain stay, and so do numbers, shapes and dtypes"},
    {CLI_OPTION_ROWS},
    {CLI_OPTION_EXACT},
    {CLI_OPTION_CONFIG},
    {CLI_OPTION_SET},
    {CLI_OPTION_TABLE},
    {CLI_OPTION_VOCABULARY},
    {.name = "strict",
     .help = "exit with 1 if there is a warning about a FILE, for example that unpickling it would call a function"},
    {CLI_OPTION_OFFLINE},
    {CLI_OPTION_LIMIT},
    {CLI_OPTION_FORMAT("text|json|jsonl|csv|markdown|html")},
    {CLI_OPTION_JSON},
    {CLI_OPTION_OUTPUT},
    {CLI_OPTION_QUIET},
    {CLI_OPTION_COLOR},
    {CLI_OPTION_NO_PAGER},
    {CLI_OPTION_NO_PROGRESS},
    {CLI_OPTION_END},
};

static const struct cli_example examples[] = {
    {"shapeproof inspect model.safetensors", "every tensor with its dtype, shape and size"},
    {"shapeproof inspect --tree checkpoint/", "the structure of a sharded checkpoint"},
    {"shapeproof inspect -d 2 model.pt", "the number of parameters of each part"},
    {"shapeproof inspect --by group model/", "the parameters of its attention, its feed-forward layers, and so on"},
    {"shapeproof inspect model/ --format html -o model.html", "a page with a map of the tensors"},
    {"shapeproof inspect --by layer,dtype -n 5 model/", "the five largest layers, and how each is stored"},
    {"shapeproof inspect --query general.architecture model.gguf", "one value of the metadata for a script"},
    {"shapeproof inspect --json --redact model.pt", "what a public bug report can contain"},
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
    if (cli_flag(args, "offsets")) return SHAPEPROOF_INSPECT_OFFSETS;
    return cli_flag(args, "totals") ? SHAPEPROOF_INSPECT_TOTALS : SHAPEPROOF_INSPECT_LIST;
}

static bool is_by(const enum shapeproof_by keys[2], enum shapeproof_by key) { return keys[0] == key || keys[1] == key; }

/* --by group alone has a report of its own: formulas, and what is predicted beside what is stored. */
static bool is_by_group_alone(const enum shapeproof_by keys[2])
{
    return keys[0] == SHAPEPROOF_BY_GROUP && keys[1] == SHAPEPROOF_BY_NONE;
}

/* The first of these options that is given, or NULL. */
static const char *first_given(const struct cli_args *args, const char *const *names)
{
    for (; *names; names++) {
        const struct cli_option *option = args->command->options;
        while (strcmp(option->name, *names) != 0) option++;
        if (option->argument ? cli_value(args, *names, NULL) != NULL : cli_flag(args, *names)) return *names;
    }
    return NULL;
}

/* Refuses the options that would be ignored with --by, or without it. */
static bool keys_agree(const struct cli_args *args, const enum shapeproof_by keys[2])
{
    static const char *const of_lists[] = {"tree", "totals", "filter", "offsets", NULL},
                             *const of_modules[] = {"depth", NULL},
                             *const of_groups[] = {"config", "set", "table", "vocabulary", NULL},
                             *const of_sums[] = {"rows", "exact", NULL}, *const of_tables[] = {"sort", NULL};
    const bool by = keys[0] != SHAPEPROOF_BY_NONE, groups = is_by(keys, SHAPEPROOF_BY_GROUP);
    const char *name;
    if (!groups && (name = first_given(args, of_groups)))
        cli_usage_error(NULL, "inspect: --%s goes with --by group", name);
    else if (!by && (name = first_given(args, of_sums))) cli_usage_error(NULL, "inspect: --%s goes with --by", name);
    else if (groups && cli_flag(args, "redact"))
        cli_usage_error("the other keys go with --redact", "inspect: --by group does not go with --redact");
    else if (by && (name = first_given(args, of_lists)))
        cli_usage_error(NULL, "inspect: --by does not go with --%s", name);
    else if (by && !is_by(keys, SHAPEPROOF_BY_MODULE) && (name = first_given(args, of_modules)))
        cli_usage_error(NULL, "inspect: --%s goes with --by module", name);
    else if (is_by_group_alone(keys) && ((name = first_given(args, of_sums)) || (name = first_given(args, of_tables))))
        cli_usage_error("add a second key, as in --by group,dtype", "inspect: --by group does not go with --%s", name);
    else if (is_by_group_alone(keys) && cli_writes(args, SHAPEPROOF_REPORT_CSV))
        cli_usage_error("add a second key, as in --by group,dtype",
                        "inspect: --by group does not go with --format csv");
    else return true;
    return false;
}

/* What would be ignored without a word is refused. */
static bool options_agree(const struct cli_args *args, const enum shapeproof_by keys[2])
{
    const bool by = keys[0] != SHAPEPROOF_BY_NONE;
    const bool unfolds = cli_flag(args, "tree") || (cli_value(args, "depth", NULL) && !by);
    const bool shaped = unfolds || cli_flag(args, "totals");
    const char *beside_text = cli_format_beside_text(args);
    static const char *const not_of_queries[] = {"tree",   "depth", "totals", "offsets", "sort",
                                                 "filter", "by",    "strict", "redact",  NULL};
    const char *ignored = cli_value(args, "query", NULL) ? first_given(args, not_of_queries) : NULL;
    if (ignored) cli_usage_error(NULL, "inspect: --query does not go with --%s", ignored);
    else if (cli_value(args, "query", NULL) && beside_text)
        cli_usage_error("the value is printed as it is in the file", "inspect: --query does not go with --format %s",
                        beside_text);
    else if (cli_flag(args, "offsets") && (shaped || beside_text))
        cli_usage_error(shaped ? NULL : "JSON and CSV always have them",
                        "inspect: --offsets goes with the list of tensors in text");
    else if (cli_writes(args, SHAPEPROOF_REPORT_JSON) && shaped)
        cli_usage_error("JSON always has every tensor and the totals",
                        "inspect: --format json does not go with --tree, --depth or --totals");
    else if (cli_writes(args, SHAPEPROOF_REPORT_CSV) && shaped)
        cli_usage_error("CSV always has a row for each tensor",
                        "inspect: --format csv does not go with --tree, --depth or --totals");
    else if (cli_writes(args, SHAPEPROOF_REPORT_HTML) && shaped)
        cli_usage_error("a page always has the totals, the modules and every tensor",
                        "inspect: --format html does not go with --tree, --depth or --totals");
    else if (cli_writes(args, SHAPEPROOF_REPORT_HTML) && by && !is_by_group_alone(keys))
        cli_usage_error("a page has a map of the tensors by module, layer, group, dtype or shard",
                        "inspect: --format html goes with --by group alone");
    else if (cli_writes(args, SHAPEPROOF_REPORT_MARKDOWN) && unfolds)
        cli_usage_error("--by module adds up modules", "inspect: --format markdown does not go with --tree or --depth");
    else if (cli_flag(args, "totals") && unfolds)
        cli_usage_error(NULL, "inspect: --totals does not go with --tree or --depth");
    else return keys_agree(args, keys);
    return false;
}

/* ---- a checkpoint ---- */

/* Whether the titles of CSV stand above what was written: they do once, for all checkpoints. */
static bool has_heading;

/* Complains that the file has no such key, with the one that comes nearest. */
static int complain_of_query(const char *key, const char *path, const struct shapeproof_inventory *inventory)
{
    const size_t count = shapeproof_inventory_metadata_count(inventory);
    const char **keys = calloc(count + 1, sizeof *keys);
    char hint[512];
    if (!keys) cli_out_of_memory();
    for (size_t i = 0; i < count; i++) keys[i] = shapeproof_inventory_metadata(inventory, i)->key;
    const char *likely = sp_suggest(key, keys, count);
    if (likely) snprintf(hint, sizeof hint, "did you mean '%s'?", likely);
    else snprintf(hint, sizeof hint, "%s", count ? "inspect --totals lists its metadata" : "it has no metadata");
    free(keys);
    return cli_complain(CLI_DIFFERS, hint, "%s: the metadata have no '%s'", path, key);
}

/* The value of a key of the metadata, as it is in the file; on a terminal without what would control that. */
static int put_query(const struct cli_inspection *inspection, const char *path,
                     const struct shapeproof_inventory *inventory)
{
    for (size_t i = 0; i < shapeproof_inventory_metadata_count(inventory); i++) {
        const struct shapeproof_metadata *entry = shapeproof_inventory_metadata(inventory, i);
        if (strcmp(entry->key, inspection->query) != 0) continue;
        cli_end_step();
        char *visible = isatty(cli_stdout()) ? shapeproof_report_visible(entry->value) : NULL;
        puts(visible ? visible : entry->value);
        shapeproof_free(visible);
        return CLI_OK;
    }
    return complain_of_query(inspection->query, path, inventory);
}

/* Its tensors. `quantised` is NULL where weights are stored as they are. */
static int put_list(const struct cli_inspection *inspection, const struct shapeproof_inventory *inventory,
                    const struct shapeproof_quantised_model *quantised)
{
    struct shapeproof_report_inspect_options shown = inspection->list;
    shown.quantised = quantised;
    shown.no_heading = has_heading;
    for (struct cli_output *to = NULL; (to = cli_next_output(to));) {
        shown.report = cli_report_options(inspection->args, to);
        shown.to = to;
        shown.sink = shown.report.format == SHAPEPROOF_REPORT_HTML_PART ? NULL : cli_put_part; /* a part is kept */
        cli_put_report(to, shapeproof_report_inspect(inventory, &shown, NULL));
    }
    return CLI_OK;
}

/* `inspect --by group`: the file's parameters in the groups of its table. */
static int put_groups(const struct cli_inspection *inspection, const struct cli_subject *subject,
                      const struct shapeproof_check *check)
{
    static const char *const no_files[] = {""}; /* no claim stands there */
    struct shapeproof_report_verify_options how = {.path = shapeproof_inventory_path(shapeproof_check_inventory(check)),
                                                   .groups = true};
    struct shapeproof_error error = {0};
    struct shapeproof_verification *verification = shapeproof_verify(
        check, subject->tables, &(struct shapeproof_verify_options){.files = no_files, .file_count = 1}, &error);
    if (!verification) return cli_error(&error);
    for (struct cli_output *to = NULL; (to = cli_next_output(to));) {
        how.report = cli_report_options(inspection->args, to);
        cli_put_report(to, shapeproof_report_verify(verification, &how, NULL));
    }
    shapeproof_verification_free(verification);
    return CLI_OK;
}

/* Sums by the keys; `check` is NULL when none of them is the group. */
static int put_sums(const struct cli_inspection *inspection, const struct shapeproof_inventory *inventory,
                    const struct shapeproof_check *check)
{
    struct shapeproof_error error = {0};
    int status = CLI_OK;
    for (struct cli_output *to = NULL; status == CLI_OK && (to = cli_next_output(to));) {
        struct shapeproof_breakdown_options what = cli_breakdown_options(inspection->args, to, inspection->keys);
        what.check = check;
        status = cli_put_breakdown(inspection->args, to, shapeproof_breakdown_new(inventory, &what, &error),
                                   has_heading, &error);
    }
    return status;
}

/* Makes the check that tells the group of each tensor. */
static int put_by_group(const struct cli_inspection *inspection, const char *path,
                        const struct shapeproof_inventory *inventory)
{
    struct cli_subject subject;
    struct shapeproof_check *check = NULL;
    int status = cli_subject_open_for(&subject, inspection->args, path, inventory);
    if (status == CLI_OK) check = cli_subject_check(&subject, inspection->args, path, inventory, &status);
    if (check && is_by_group_alone(inspection->keys)) status = put_groups(inspection, &subject, check);
    else if (check) status = put_sums(inspection, inventory, check);
    shapeproof_check_free(check);
    cli_subject_close(&subject);
    return status;
}

static void redact_checkpoint(struct shapeproof_redaction *redaction, struct shapeproof_inventory *inventory,
                              struct shapeproof_quantised_model *quantised)
{
    shapeproof_redact_inventory(redaction, inventory);
    if (!quantised) return;
    char *how = shapeproof_redact_message(redaction, quantised->how); /* a configuration may name the method */
    shapeproof_free(quantised->how);
    quantised->how = how;
}

/* A file that cannot be read does not keep the others from being shown. */
static int inspect_checkpoint(const char *path, const struct cli_inspection *inspection,
                              struct shapeproof_totals *totals)
{
    struct shapeproof_error error = {0};
    /* a component of a pipeline is not among the words of the command line */
    if (cli_redaction()) shapeproof_free(shapeproof_redact_path(cli_redaction(), path));
    struct shapeproof_inventory *inventory = shapeproof_inventory_open(path, &error);
    if (!inventory) return cli_path_error(path, &error);
    const bool is_list = !inspection->query && inspection->keys[0] == SHAPEPROOF_BY_NONE;
    /* which looks for the configuration beside the file, before its path is redacted */
    struct shapeproof_quantised_model *quantised = is_list ? shapeproof_quantised_model_new(inventory, &error) : NULL;
    if (error.status != SHAPEPROOF_OK) {
        shapeproof_inventory_close(inventory);
        return cli_path_error(path, &error);
    }
    if (cli_redaction()) redact_checkpoint(cli_redaction(), inventory, quantised);
    int status = CLI_OK;
    if (inspection->query) status = put_query(inspection, path, inventory);
    else if (is_list) status = put_list(inspection, inventory, quantised);
    else if (is_by(inspection->keys, SHAPEPROOF_BY_GROUP)) status = put_by_group(inspection, path, inventory);
    else status = put_sums(inspection, inventory, NULL);
    has_heading = has_heading || status == CLI_OK;
    if (cli_format(inspection->args) != SHAPEPROOF_REPORT_JSON) cli_warn_of_file(path, inventory);
    if (totals) *totals = *shapeproof_inventory_totals(inventory);
    if (status == CLI_OK && cli_flag(inspection->args, "strict") && shapeproof_inventory_warning_count(inventory))
        status = CLI_DIFFERS;
    shapeproof_quantised_model_free(quantised);
    shapeproof_inventory_close(inventory);
    return status;
}

/* Keeps, for a page of several, that a checkpoint could not be inspected, if there was an error since it was begun. */
static int keep_error(const char *path, int status)
{
    const struct shapeproof_error *error = cli_first_error();
    char *name = cli_redaction() ? shapeproof_redact_path(cli_redaction(), path) : NULL;
    if (error->status)
        cli_keep_parts(&(struct shapeproof_checked){.path = name ? name : path, .status = status, .error = error},
                       NULL);
    shapeproof_free(name);
    return status;
}

int cli_inspect_one(const char *path, const struct cli_inspection *inspection, struct shapeproof_totals *totals)
{
    cli_forget_error();
    return keep_error(path, inspect_checkpoint(path, inspection, totals));
}

/* Whether the command is about one checkpoint. */
static bool is_about_one_model(const struct cli_args *args)
{
    struct shapeproof_error ignored = {0}; /* it occurs again */
    if (args->operand_count != 1) return false;
    struct shapeproof_components *components = shapeproof_components_open(args->operands[0], &ignored);
    const bool several = components && shapeproof_component_count(components);
    shapeproof_components_free(components);
    return !several;
}

/* ---- all operands ---- */

/* A checkpoint, or a directory with several. */
static int inspect_path(const char *path, const struct cli_inspection *inspection)
{
    struct shapeproof_error error = {0};
    struct shapeproof_components *components = shapeproof_components_open(path, &error);
    cli_forget_error();
    if (!components) return keep_error(path, cli_path_error(path, &error));
    const int status = shapeproof_component_count(components) ? cli_inspect_components(components, inspection)
                                                              : cli_inspect_one(path, inspection, NULL);
    shapeproof_components_free(components);
    return status;
}

/* `inspect PATH...`: a report for each, with a blank line in front of every report but the first. The exit status is
 * the worst of them. */
static int run_inspect(const struct cli_args *args)
{
    const uint64_t depth = cli_number(args, "depth", 0);
    struct cli_inspection inspection = {
        .args = args,
        .query = cli_value(args, "query", NULL),
        .list =
            {
                .view = view_asked(args),
                .sort = sort_named(cli_value(args, "sort", "file")),
                .depth = depth < UINT_MAX ? (unsigned)depth : UINT_MAX,
                .filter = cli_value(args, "filter", NULL),
            },
    };
    int status = CLI_OK;
    bool was_shown = false;
    if (!cli_keys(args, inspection.keys) || !options_agree(args, inspection.keys)) return CLI_USAGE;
    if (cli_writes(args, SHAPEPROOF_REPORT_HTML) && !is_about_one_model(args)) cli_begin_several();
    for (size_t i = 0; i < args->operand_count; i++) {
        if (was_shown && !inspection.query) {
            cli_put_blank_line(SHAPEPROOF_REPORT_TEXT);
            cli_put_blank_line(SHAPEPROOF_REPORT_MARKDOWN);
        }
        if (args->operand_count == 1) cli_begin_step("reading %s", args->operands[i]);
        else cli_begin_step("reading %zu of %zu: %s", i + 1, args->operand_count, args->operands[i]);
        const int now = inspect_path(args->operands[i], &inspection);
        was_shown = now == CLI_OK || now == CLI_DIFFERS;
        status = sp_worse_status(status, now);
    }
    return status;
}

static const struct cli_term statuses[] = {
    {"0", "every file was read; with --strict, without a warning"},
    {"1", "with --strict, there is a warning; with --query, a FILE has no such key"},
    {"2", CLI_USAGE_STATUS},
    {"3", "with --by group: a table or a configuration is wrong"},
    {"4", "a file is unreadable or malformed, could not be fetched, or the output could not be written"},
    {"5", "with --by group: there is no table or no configuration"},
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
        "tensors. In a browser with scripts it also has a map of the tensors and a search. If there are several "
        "models, "
        "the page begins with a table of all of them.\n"
        "\n"
        "With --by, headers, padding and the other bytes of the file that belong to no tensor have rows, so that the "
        "bytes add up to the size of the file. Tied tensors count once. On a terminal that is wide enough, bars "
        "compare the bytes.\n"
        "\n"
        "With --json the output has one document of the schema shapeproof.inspect/1 for each FILE. If a FILE cannot "
        "be read, there is a line on standard error, and a document of the schema shapeproof.error/1 in its place. The "
        "others are still listed, and the exit status is 4.",
    .least = 1,
    .most = CLI_MANY,
    .checkpoints = true,
    .options = options,
    .examples = examples,
    .statuses = statuses,
    .run = run_inspect,
};
