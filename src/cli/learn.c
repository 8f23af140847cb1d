/* SPDX-License-Identifier: MIT
 * shapeproof learn: a table from checkpoints. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/near.h"
#include "cli/subject.h"

static const struct cli_option options[] = {
    {.name = "output", .letter = 'o', .argument = "FILE", .help = "write the table to FILE instead of stdout"},
    {.name = "name", .argument = "NAME", .help = "the name of the table; the model_type is the default"},
    {.name = "like",
     .argument = "TABLE",
     .help = "extend this table; if that is not possible, only use its letters for the hyper-parameters"},
    {.name = "partial", .help = "write the table even if it does not explain every tensor; the rest become comments"},
    {.name = "all",
     .letter = 'a',
     .help = "list every tensor that is not explained, and every undecided expression with all lines of the table "
             "that contain it"},
    {CLI_OPTION_TABLE},
    {CLI_OPTION_TRACE},
    {CLI_OPTION_OFFLINE},
    {CLI_OPTION_LIMIT},
    {CLI_OPTION_FORMAT("text|json|jsonl")},
    {CLI_OPTION_JSON},
    {CLI_OPTION_NO_PAGER},
    {CLI_OPTION_NO_PROGRESS},
    {CLI_OPTION_END},
};

static const struct cli_example usage[] = {
    {"shapeproof learn small/ base/ large/ -o mine.shapes", "three checkpoints with their config.json, one table"},
    {"shapeproof derive --table mine.shapes", "the formula of the learnt table"},
    {NULL, NULL},
};

/* The checkpoints that were named, with their configurations. */
struct examples {
    struct shapeproof_learn_example *list;
    struct shapeproof_inventory **inventories;
    struct shapeproof_config **configs;
    size_t count;
};

static int open_example(struct examples *examples, const char *path)
{
    struct shapeproof_error error = {0};
    const size_t place = examples->count;
    examples->inventories[place] = shapeproof_inventory_open(path, &error);
    examples->configs[place] = shapeproof_config_new();
    examples->list[place] = (struct shapeproof_learn_example){examples->inventories[place], examples->configs[place]};
    examples->count++;
    if (!examples->inventories[place]) return cli_path_error(path, &error);
    char *beside = shapeproof_config_beside(path, &error);
    if (beside) shapeproof_config_load(examples->configs[place], beside, &error);
    else if (error.status == SHAPEPROOF_ERR_UNKNOWN) {
        cli_warn_of_search(path, error.message);
        return CLI_OK;
    }
    shapeproof_free(beside);
    return error.status == SHAPEPROOF_OK ? CLI_OK : cli_path_error(path, &error);
}

static void close_examples(struct examples *examples)
{
    for (size_t i = 0; i < examples->count; i++) {
        shapeproof_config_free(examples->configs[i]);
        shapeproof_inventory_close(examples->inventories[i]);
    }
    free(examples->list);
    free(examples->inventories);
    free(examples->configs);
}

static int open_examples(struct examples *examples, const struct cli_args *args)
{
    int status = CLI_OK;
    examples->list = calloc(args->operand_count, sizeof *examples->list);
    examples->inventories = calloc(args->operand_count, sizeof *examples->inventories);
    examples->configs = calloc(args->operand_count, sizeof *examples->configs);
    if (!examples->list || !examples->inventories || !examples->configs) cli_out_of_memory();
    for (size_t i = 0; i < args->operand_count && status == CLI_OK; i++) {
        cli_begin_step("reading %zu of %zu: %s", i + 1, args->operand_count, args->operands[i]);
        status = open_example(examples, args->operands[i]);
    }
    return status;
}

/* ---- the table, and what is said of it ---- */

static int write_table(const char *path, const char *text)
{
    FILE *file = path ? fopen(path, "w") : stdout;
    if (file) cli_put_text(file, text);
    bool written = file && !ferror(file);
    if (path && file) written = fclose(file) == 0 && written;
    return written ? CLI_OK : cli_complain(CLI_FILE, NULL, "%s: cannot be written", path ? path : "standard output");
}

/* Writes what is said of the table. As text it goes to stderr, because the table itself has stdout; as JSON it goes to
 * stdout, and holds the table as well. */
static void say_learning(const struct cli_args *args, const struct shapeproof_learning *learning)
{
    for (struct cli_output *to = NULL; (to = cli_next_output(to));) {
        const struct shapeproof_report_options how = cli_report_options(args, to);
        char *report = shapeproof_report_learn(learning, &how, NULL);
        if (!to->is_stdout || how.format == SHAPEPROOF_REPORT_JSON) {
            cli_put_report(to, report);
            continue;
        }
        size_t length = strlen(report);
        char *said = cli_restore_operands(report, &length);
        cli_put_lines(cli_messages(), said ? said : report, length, cli_columns_of(STDERR_FILENO));
        free(said);
        shapeproof_free(report);
    }
}

static int report_learning(const struct cli_args *args, const struct shapeproof_learning *learning)
{
    const char *path = cli_value(args, "output", NULL);
    const bool is_proved = shapeproof_learning_is_proved(learning);
    const bool is_written =
        (is_proved || cli_flag(args, "partial")) && (path || cli_format(args) != SHAPEPROOF_REPORT_JSON);
    say_learning(args, learning);
    const int status = is_written ? write_table(path, shapeproof_learning_text(learning)) : CLI_OK;
    return status == CLI_OK && !is_proved ? CLI_DIFFERS : status;
}

static int learn_examples(const struct cli_args *args, const struct examples *examples)
{
    struct cli_subject subject;
    struct shapeproof_error error = {0};
    int status = cli_subject_open_tables(&subject, args);
    const struct shapeproof_learn_options what = {
        .name = cli_value(args, "name", NULL), .like = cli_value(args, "like", NULL), .watch = cli_watch(args)};
    if (status == CLI_OK) {
        cli_begin_step("learning a table");
        struct shapeproof_learning *learning =
            shapeproof_learn(examples->list, examples->count, subject.tables, &what, &error);
        status = learning ? report_learning(args, learning) : cli_error(&error);
        shapeproof_learning_free(learning);
    }
    cli_subject_close(&subject);
    return status;
}

/* False after an error was printed: the table and a report are to go to one FILE. */
static bool files_differ(const struct cli_args *args)
{
    const char *path = cli_value(args, "output", NULL);
    size_t position = 0;
    for (const char *word; path && (word = cli_next_format_file(args, &position));)
        if (strcmp(strchr(word, '=') + 1, path) == 0) {
            cli_usage_error(NULL, "the table and a report cannot go to one file: %s", path);
            return false;
        }
    return true;
}

static int run_learn(const struct cli_args *args)
{
    struct examples examples = {0};
    if (!files_differ(args)) return CLI_USAGE;
    int status = open_examples(&examples, args);
    if (status == CLI_OK) status = learn_examples(args, &examples);
    close_examples(&examples);
    return status;
}

static const struct cli_term statuses[] = {
    {"0", "the table explains every tensor"},
    {"1", "some tensors are not explained"},
    {"2", CLI_USAGE_STATUS},
    {"3", "a table or a configuration is wrong"},
    {"4", "a checkpoint is unreadable or malformed, could not be fetched, or the output could not be written"},
    {NULL, NULL},
};

const struct cli_command cli_learn = {
    .name = "learn",
    .summary = "write a table that explains given checkpoints",
    .operands = "CHECKPOINT...",
    .description =
        "Reads each CHECKPOINT (a file or a directory) and the configuration beside it. All checkpoints must have "
        "one architecture; they should differ in their sizes and flags. For each dimension, loop bound and "
        "condition, learn finds the smallest expression in the keys of the configuration that holds for all "
        "checkpoints. The table consists of these expressions. Only headers are read.\n"
        "\n"
        "Before the table is written, it is expanded for each checkpoint and compared with the file. If it does not "
        "explain a tensor, the tensor is listed, and the table is written only with --partial. If several "
        "expressions are possible, the table has one of them. The others are listed on stderr and in a comment of "
        "the table, together with a checkpoint that would decide between them. If an existing table explains at "
        "least half of every checkpoint, the new table may extend that table; it then contains only the differences.\n"
        "\n"
        "The exit status is 0 if every tensor is explained, and 1 if some are not.",
    .least = 1,
    .most = CLI_MANY,
    .checkpoints = true,
    .opens_output = true,
    .options = options,
    .examples = usage,
    .statuses = statuses,
    .run = run_learn,
};
