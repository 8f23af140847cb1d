/* SPDX-License-Identifier: MIT
 * shapeproof card: the numbers for the model card of a checkpoint, and what its README says about them. */
#include <stdlib.h>
#include <string.h>

#include "cli/subject.h"

enum { LONGEST_README = 1 << 20 }; /* bytes; the rest of a longer one is not read */

static const struct cli_option options[] = {
    {CLI_OPTION_CONFIG},
    {CLI_OPTION_MODEL},
    {CLI_OPTION_SET},
    {CLI_OPTION_TABLE},
    {CLI_OPTION_VOCABULARY},
    {CLI_OPTION_OFFLINE},
    {CLI_OPTION_FORMAT("text|markdown|json")},
    {CLI_OPTION_JSON},
    {CLI_OPTION_OUTPUT},
    {CLI_OPTION_QUIET},
    {CLI_OPTION_COLOR},
    {CLI_OPTION_NO_PAGER},
    {CLI_OPTION_NO_PROGRESS},
    {CLI_OPTION_END},
};

static const struct cli_example examples[] = {
    {"shapeproof card model/", "the numbers of a checkpoint, and whether its README.md agrees"},
    {"shapeproof card model/ --format markdown", "a table for the README.md"},
    {NULL, NULL},
};

/* ---- the README ---- */

/* Reads the file of that name in the folder, which is the first `length` bytes of the path. NULL if there is none. */
static char *read_readme_in(const char *path, size_t length, size_t *size)
{
    static const char name[] = "README.md";
    char *full = malloc(length + sizeof name + 1), *text = NULL;
    if (!full) abort();
    memcpy(full, path, length);
    if (length && path[length - 1] != '/') full[length++] = '/';
    memcpy(full + length, name, sizeof name);
    FILE *file = fopen(full, "rb");
    free(full);
    if (!file) return NULL;
    text = malloc(LONGEST_README);
    if (!text) abort();
    *size = fread(text, 1, LONGEST_README, file);
    fclose(file);
    return text;
}

/* The README.md in the folder of that path, or beside the file. NULL if there is none. Free it. */
static char *read_readme(const char *path, size_t *size)
{
    char *text = read_readme_in(path, strlen(path), size);
    const char *slash = strrchr(path, '/');
    return text ? text : read_readme_in(path, slash ? (size_t)(slash - path) + 1 : 0, size);
}

/* ---- the card ---- */

/* Writes the card; 1 if a statement of the README is wrong. */
static int report_card(const struct cli_args *args, const char *path, const struct shapeproof_inventory *inventory,
                       const struct shapeproof_prediction *prediction)
{
    size_t size = 0;
    char *readme = args->remote_count ? NULL : read_readme(path, &size);
    struct shapeproof_card *card = shapeproof_card_new(inventory, prediction, readme, size);
    int status = CLI_OK;
    for (size_t i = 0; i < shapeproof_card_statement_count(card); i++)
        if (shapeproof_card_statement(card, i)->verdict == SHAPEPROOF_REFUTED) status = CLI_DIFFERS;
    for (struct cli_output *to = NULL; (to = cli_next_output(to));) {
        const struct shapeproof_report_card_options how = {.report = cli_report_options(args, to),
                                                           .path = path,
                                                           .table = prediction ? shapeproof_prediction_table(prediction)
                                                                               : NULL};
        cli_put_report(to, shapeproof_report_card(card, &how, NULL));
    }
    shapeproof_card_free(card);
    free(readme);
    return status;
}

/* Whether there is a configuration, or a table that needs none. */
static bool is_configured(const struct cli_args *args, const char *path, const struct shapeproof_inventory *inventory)
{
    const char *table = cli_value(args, "table", NULL);
    if (table || cli_value(args, "config", NULL) || cli_value(args, "set", NULL) || cli_value(args, "model", NULL))
        return true;
    if (shapeproof_config_is_inside(inventory, table)) return true;
    char *beside = shapeproof_config_beside(path);
    shapeproof_free(beside);
    return beside != NULL;
}

/* The prediction of the configuration, or else what the file alone says: where there is no configuration, or no table
 * for it. */
static int card_of(const struct cli_args *args, const char *path, const struct shapeproof_inventory *inventory)
{
    struct cli_subject subject = {.tables = NULL};
    struct shapeproof_error error = {0};
    if (!is_configured(args, path, inventory)) return report_card(args, path, inventory, NULL);
    int status = cli_subject_open_for(&subject, args, path, inventory);
    if (status == CLI_OK) {
        const struct shapeproof_predict_options what = {.table = subject.table_name};
        struct shapeproof_prediction *prediction = shapeproof_predict(subject.tables, subject.config, &what, &error);
        if (prediction || error.status == SHAPEPROOF_ERR_UNKNOWN)
            status = report_card(args, path, inventory, prediction);
        else status = cli_no_prediction(&subject, &what, &error);
        shapeproof_prediction_free(prediction);
    }
    cli_subject_close(&subject);
    return status;
}

static int run_card(const struct cli_args *args) { return cli_with_checkpoint(args, card_of); }

static const struct cli_term statuses[] = {
    {"0", "the card was written, and no number of parameters in the README is wrong"},
    {"1", "a number of parameters in the README is wrong"},
    {"2", CLI_USAGE_STATUS},
    {"3", "a table or a configuration is wrong"},
    {"4", "the checkpoint is unreadable or malformed, could not be fetched, or the output could not be written"},
    {"5", "no table can be made of the configuration of a Keras model, which only its own code knows"},
    {NULL, NULL},
};

const struct cli_command cli_card = {
    .name = "card",
    .summary = "print the numbers for a model card, and compare the README with them",
    .operands = "PATH",
    .description =
        "Prints the numbers that belong into the model card of the checkpoint at PATH (a file, a directory, or an "
        "index): the parameters in total, with and without embeddings, by group and by dtype, and the bytes. They are "
        "those of the table and the configuration of the checkpoint. Without a configuration, or without a table for "
        "it, they are counted in the file. --format markdown writes a table for a README.\n"
        "\n"
        "Text and JSON also judge each number of parameters in the README.md beside the checkpoint. '7B parameters' "
        "is right for 6,738,415,616 parameters, because the number is rounded to it; 13B is wrong. A number that "
        "leaves out embeddings or counts tied tensors twice is right, and the convention is named. A number is "
        "'unclear' if it is truncated, or if its line has several numbers, or words such as 'than' or 'active', "
        "because "
        "it may be about something else.",
    .least = 1,
    .most = 1,
    .checkpoints = true,
    .options = options,
    .examples = examples,
    .statuses = statuses,
    .run = run_card,
};
