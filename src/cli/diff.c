/* SPDX-License-Identifier: MIT
 * shapeproof diff: what differs between two checkpoints. */
#include "cli/breakdown.h"
#include "cli/expect.h"
#include "cli/near.h"
#include "cli/subject.h"

static const struct cli_option options[] = {
    {.name = "data",
     .letter = 'd',
     .help = "compare the data of the tensors too; without --data, only headers are "
             "read"},
    {CLI_OPTION_EXPECT},
    {.name = "strict", .help = "exit with 1 also if there is a warning about A or B"},
    {.name = "all", .letter = 'a', .help = "write one line for each tensor; do not collapse indices"},
    {.name = "by",
     .argument = "KEY[,KEY]",
     .help = "print by how many parameters and bytes each layer, group, module, dtype, shard or expert grew or shrank; "
             "with two keys, also each value of the second within the first. group is the group of the table; the "
             "configuration is that beside A and beside B, or is given for both by --config, --set and --table"},
    {CLI_OPTION_ROWS},
    {CLI_OPTION_EXACT},
    {CLI_OPTION_CONFIG},
    {CLI_OPTION_SET},
    {CLI_OPTION_TABLE},
    {CLI_OPTION_VOCABULARY},
    {CLI_OPTION_OFFLINE},
    {CLI_OPTION_LIMIT},
    {CLI_OPTION_FORMAT("text|json|jsonl|csv|markdown|html")},
    {CLI_OPTION_JSON},
    {CLI_OPTION_OUTPUT},
    {CLI_OPTION_QUIET},
    {CLI_OPTION_COLOR},
    {CLI_OPTION_NO_PAGER},
    {CLI_OPTION_NO_PROGRESS},
    {CLI_OPTION_TODAY},
    {CLI_OPTION_END},
};

static const struct cli_example examples[] = {
    {"shapeproof diff pytorch_model.bin model.safetensors", "whether a conversion kept everything"},
    {"shapeproof diff --data before.pt after.pt", "whether saving and loading changed any data"},
    {"shapeproof diff --by layer base.pt pruned.pt", "which layers grew or shrank, and by how much"},
    {"shapeproof diff --by group base/ extended/", "whether the embedding or the feed-forward layers grew"},
    {"shapeproof diff model.weights.h5 model.pt", "Keras against PyTorch: names are translated"},
    {"shapeproof diff v1/ v2/ --format html -o diff.html", "a page with what grew and shrank"},
    {NULL, NULL},
};

/* ---- sums ---- */

static bool is_by_group(const enum shapeproof_by keys[2])
{
    return keys[0] == SHAPEPROOF_BY_GROUP || keys[1] == SHAPEPROOF_BY_GROUP;
}

/* Writes the sums by these keys. The checks are those of A and B, or NULL if no key is the group. */
static int put_sums(const struct cli_args *args, const struct shapeproof_diff *diff, const enum shapeproof_by keys[2],
                    struct shapeproof_check *const checks[2])
{
    struct shapeproof_error error = {0};
    int status = CLI_OK;
    for (struct cli_output *to = NULL; status == CLI_OK && (to = cli_next_output(to));) {
        struct shapeproof_breakdown_options what = cli_breakdown_options(args, to, keys);
        what.check = checks[0];
        what.check_b = checks[1];
        status = cli_put_breakdown(args, to, shapeproof_breakdown_of_diff(diff, &what, &error), false, &error);
    }
    return status;
}

/* A checkpoint for which no configuration is found is read with the one beside the other. Whoever loads the
 * configuration searches the place again, and reports what fails. */
static const char *place_of_config(const char *own, const struct shapeproof_inventory *inventory, const char *other)
{
    bool inside;
    struct shapeproof_error error, ignored;
    char *beside = shapeproof_config_search(inventory, own, NULL, NULL, &inside, &error);
    char *beside_other = shapeproof_config_beside(other, &ignored);
    const bool is_other = !inside && !beside && error.status == SHAPEPROOF_OK && beside_other;
    shapeproof_free(beside);
    shapeproof_free(beside_other);
    return is_other ? other : own;
}

/* Makes the checks that tell the group of each tensor. */
static int put_sums_by_group(const struct cli_args *args, const struct shapeproof_diff *diff,
                             const enum shapeproof_by keys[2])
{
    struct cli_subject subjects[2] = {{.tables = NULL}, {.tables = NULL}};
    struct shapeproof_check *checks[2] = {NULL, NULL};
    int status = CLI_OK;
    for (size_t side = 0; side < 2 && status == CLI_OK; side++) {
        const char *path = args->operands[side];
        const struct shapeproof_inventory *inventory =
            shapeproof_diff_inventory(diff, side ? SHAPEPROOF_DIFF_B : SHAPEPROOF_DIFF_A);
        const char *place = place_of_config(path, inventory, args->operands[!side]);
        status = cli_subject_open_for(&subjects[side], args, place, inventory);
        if (status == CLI_OK) checks[side] = cli_subject_check(&subjects[side], args, path, inventory, &status);
    }
    if (status == CLI_OK) status = put_sums(args, diff, keys, checks);
    for (size_t side = 0; side < 2; side++) {
        shapeproof_check_free(checks[side]);
        cli_subject_close(&subjects[side]);
    }
    return status;
}

/* ---- the report ---- */

/* Writes what differs: the tensors, or with --by the sums; CLI_OK, or the exit status of an error. */
static int put_diff(const struct cli_args *args, const struct shapeproof_diff *diff)
{
    enum shapeproof_by keys[2];
    if (!cli_keys(args, keys)) return CLI_USAGE;
    if (is_by_group(keys)) return put_sums_by_group(args, diff, keys);
    if (keys[0] != SHAPEPROOF_BY_NONE) return put_sums(args, diff, keys, (struct shapeproof_check *[2]){NULL, NULL});
    for (struct cli_output *to = NULL; (to = cli_next_output(to));) {
        const struct shapeproof_report_options how = cli_report_options(args, to);
        cli_put_report(to, shapeproof_report_diff(diff, &how, NULL));
    }
    return CLI_OK;
}

/* Compares, and writes the report; exit status. */
static int report_diff(const struct cli_args *args, const struct shapeproof_inventory *a,
                       const struct shapeproof_inventory *b, const struct shapeproof_diff_options *what)
{
    struct shapeproof_error error = {0};
    cli_begin_step(what->data ? "comparing data" : "comparing");
    struct shapeproof_diff *diff = shapeproof_diff_new(a, b, what, &error);
    if (!diff) return cli_error(&error);
    const bool doubtful = shapeproof_inventory_warning_count(a) > 0 || shapeproof_inventory_warning_count(b) > 0;
    const bool same = shapeproof_diff_is_same(diff) && !(cli_flag(args, "strict") && doubtful);
    const int status = put_diff(args, diff);
    shapeproof_diff_free(diff);
    return status != CLI_OK || same ? status : CLI_DIFFERS;
}

/* Two files of Keras models, one of which holds its configuration, are compared by the names that Keras has for the
 * variables. */
static int diff_inventories(const struct cli_args *args, const struct shapeproof_inventory *a,
                            const struct shapeproof_inventory *b, const struct shapeproof_expectations *expectations)
{
    struct shapeproof_keras_names *in_a = shapeproof_keras_names_new(a, b),
                                  *in_b = in_a ? shapeproof_keras_names_new(b, a) : NULL;
    struct shapeproof_diff_options what = {
        .expectations = expectations, .data = cli_flag(args, "data"), .watch = cli_watch(args)};
    if (in_b) {
        what.names_a = shapeproof_keras_names_list(in_a);
        what.names_b = shapeproof_keras_names_list(in_b);
    }
    const int status = report_diff(args, a, b, &what);
    shapeproof_keras_names_free(in_a);
    shapeproof_keras_names_free(in_b);
    return status;
}

/* Opens both; they are closed again. */
static int diff_files(const struct cli_args *args, const struct shapeproof_expectations *expectations)
{
    struct shapeproof_error error = {0};
    int status;
    cli_begin_step("reading %s", args->operands[0]);
    struct shapeproof_inventory *a = shapeproof_inventory_open(args->operands[0], &error);
    if (a) cli_begin_step("reading %s", args->operands[1]);
    struct shapeproof_inventory *b = a ? shapeproof_inventory_open(args->operands[1], &error) : NULL;
    if (b) {
        status = diff_inventories(args, a, b, expectations);
        if (cli_format(args) != SHAPEPROOF_REPORT_JSON) cli_warn_of_file(shapeproof_inventory_path(a), a);
        if (cli_format(args) != SHAPEPROOF_REPORT_JSON) cli_warn_of_file(shapeproof_inventory_path(b), b);
    } else status = cli_path_error(args->operands[a ? 1 : 0], &error);
    shapeproof_inventory_close(a);
    shapeproof_inventory_close(b);
    return status;
}

/* What would be ignored without a word is refused. */
static bool options_agree(const struct cli_args *args)
{
    enum shapeproof_by keys[2];
    if (!cli_keys(args, keys)) return false;
    const bool by = keys[0] != SHAPEPROOF_BY_NONE;
    const char *of_group = is_by_group(keys)                     ? NULL
                           : cli_value(args, "config", NULL)     ? "config"
                           : cli_value(args, "set", NULL)        ? "set"
                           : cli_value(args, "table", NULL)      ? "table"
                           : cli_value(args, "vocabulary", NULL) ? "vocabulary"
                                                                 : NULL;
    if (of_group) cli_usage_error(NULL, "diff: --%s goes with --by group", of_group);
    else if (by && cli_flag(args, "all")) cli_usage_error(NULL, "diff: --all does not go with --by");
    else if (by && cli_writes(args, SHAPEPROOF_REPORT_HTML))
        cli_usage_error("a page always has what grew and shrank", "diff: --format html does not go with --by");
    else if (!by && (cli_value(args, "rows", NULL) || cli_flag(args, "exact")))
        cli_usage_error(NULL, "diff: --%s goes with --by", cli_flag(args, "exact") ? "exact" : "rows");
    else return true;
    return false;
}

static int run_diff(const struct cli_args *args)
{
    struct shapeproof_expectations *expectations;
    if (!options_agree(args)) return CLI_USAGE;
    int status = cli_load_expectations(args, &expectations);
    if (status == CLI_OK) status = diff_files(args, expectations);
    shapeproof_expectations_free(expectations);
    return status;
}

static const struct cli_term statuses[] = {
    {"0", "the verdict is same"},
    {"1", "the verdict is differs, or --strict is given and there is a warning"},
    {"2", CLI_USAGE_STATUS},
    {"3", "a file of expected differences is wrong; with --by group, a table or a configuration is wrong"},
    {"4", "a checkpoint is unreadable or malformed, could not be fetched, or the report could not be written"},
    {"5", "with --by group: there is no table or no configuration"},
    {NULL, NULL},
};

const struct cli_command cli_diff = {
    .name = "diff",
    .summary = "compare two checkpoints, in any formats",
    .operands = "A B",
    .description =
        "Compares the names, shapes, dtypes and ties of the checkpoints A and B (files, directories, or indices). "
        "With --data it also compares their data, byte by byte. Data are compared by value if the floating-point "
        "dtypes differ or a matrix is transposed. If data cannot be compared, the report gives the reason. If a "
        "part of a file cannot be read, there is a warning.\n"
        "\n"
        "A renamed tensor is a difference. It is still matched with its counterpart if the renaming is clear: a "
        "prefix, another word for a component, the names of another program, or the names of Keras and PyTorch. "
        "Between Keras and PyTorch, kernels are also transposed, and layers are matched by their variables. The "
        "variables of one Keras model have other names in a .keras archive than in an .h5 file. If one of the files "
        "has "
        "the configuration of the model, diff matches these variables by the configuration, and they do not count "
        "as renamed. A weight that only one of the files quantises is reported as quantised. These are not "
        "differences: a tied name that the format of a file cannot store, the state of an optimizer or trainer "
        "that only one file has, and what a conversion to GGUF or to the names of a known program changes.\n"
        "\n"
        "--format html writes a page that needs neither a network nor scripts: the verdict, what grew and shrank, the "
        "findings, and the tensors of both. In a browser with scripts it also has a map of the tensors and a search. "
        "--format markdown writes the verdict and a table of the errors and warnings, --format csv a row for each "
        "finding.\n"
        "\n"
        "With --by, the report has a row for each group. It gives B minus A, also as a percentage of A: 'new' if A "
        "has none, 'gone' if B has none. Groups without a change share one row. With --by group, each checkpoint "
        "is checked with the configuration inside or beside it, and its tensors have the groups of its table. If only "
        "one of them has a "
        "configuration, both are checked with that. As in 'shapeproof inspect --by', the bytes of the files "
        "that belong to no tensor have rows, so that the changes add up to the change of the size of the files.\n"
        "\n"
        "The first line is the verdict, 'same' or 'differs', and its reason. The exit status is 0 for same and 1 "
        "for differs. With --strict it is also 1 if there is a warning about A or B. The warning may be that a part "
        "cannot be read, or that unpickling would call a function.",
    .least = 2,
    .most = 2,
    .checkpoints = true,
    .options = options,
    .examples = examples,
    .statuses = statuses,
    .run = run_diff,
};
