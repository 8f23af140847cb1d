/* SPDX-License-Identifier: MIT
 * shapeproof card: the numbers for the model card of a checkpoint, and what its README says about them. */
#define _GNU_SOURCE /* asprintf */
#include "cli/subject.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LONGEST_README = 1 << 20 }; /* bytes, as of a file of tables; the rest of a longer one is not read */

static const struct cli_option options[] = {
    {CLI_OPTION_CONFIG},     {CLI_OPTION_MODEL},
    {CLI_OPTION_SET},        {CLI_OPTION_TABLE},
    {CLI_OPTION_VOCABULARY}, {CLI_OPTION_OFFLINE},
    {CLI_OPTION_LIMIT},      {CLI_OPTION_FORMAT("text|json|jsonl|markdown")},
    {CLI_OPTION_JSON},       {CLI_OPTION_OUTPUT},
    {CLI_OPTION_QUIET},      {CLI_OPTION_COLOR},
    {CLI_OPTION_NO_PAGER},   {CLI_OPTION_NO_PROGRESS},
    {CLI_OPTION_END},
};

static const struct cli_example examples[] = {
    {"shapeproof card model/", "the numbers of a checkpoint, and whether its README.md agrees"},
    {"shapeproof card model/ --format markdown", "a table for the README.md"},
    {NULL, NULL},
};

/* ---- the README ---- */

/* Where the README of the checkpoint would be: in that folder, or beside that file. Free it. */
static char *readme_path(const char *path)
{
    const char *slash = strrchr(path, '/');
    const int folder = slash ? (int)(slash - path) + 1 : 0;
    char *readme = NULL;
    const int length = cli_is_folder(path) ? asprintf(&readme, "%s%sREADME.md", path, slash && !slash[1] ? "" : "/")
                                           : asprintf(&readme, "%.*sREADME.md", folder, path);
    if (length < 0) cli_out_of_memory();
    return readme;
}

/* Opens a regular file; a FIFO does not block. NULL with errno, or with 0 there if it is another kind of file. */
static FILE *open_regular(const char *path)
{
    struct stat info;
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    const bool is_known = fd >= 0 && fstat(fd, &info) == 0, is_regular = is_known && S_ISREG(info.st_mode);
    FILE *stream = is_regular ? fdopen(fd, "rb") : NULL;
    if (stream) return stream;
    const int why = is_known && !is_regular ? 0 : errno;
    if (fd >= 0) close(fd);
    errno = why;
    return NULL;
}

/* Reads the README; *text is NULL if there is none. Of a long one, the whole lines within the limit are read. */
static int read_readme(const char *path, char **text, size_t *size)
{
    char *name = readme_path(path);
    FILE *stream = open_regular(name);
    int status = CLI_OK;
    *text = NULL;
    if (!stream) {
        if (errno != ENOENT)
            status = errno ? cli_complain(CLI_FILE, NULL, "%s: open: %s", name, strerror(errno))
                           : cli_complain(CLI_FILE, NULL, "%s: not a regular file", name);
        free(name);
        return status;
    }
    if (!(*text = malloc(LONGEST_README + 1))) cli_out_of_memory();
    *size = fread(*text, 1, LONGEST_README + 1, stream);
    if (ferror(stream)) status = cli_complain(CLI_FILE, NULL, "%s: read: %s", name, strerror(errno));
    fclose(stream);
    if (*size > LONGEST_README) {
        for (*size = LONGEST_README; *size && (*text)[*size - 1] != '\n';) --*size;
        cli_warning(name, "only the first MiB is read");
    }
    free(name);
    return status;
}

/* ---- the card ---- */

/* Writes the card; 1 if a statement of the README is wrong. */
static int report_card(const struct cli_args *args, const char *path, const struct shapeproof_inventory *inventory,
                       const struct shapeproof_prediction *prediction, const struct shapeproof_evaluated *active)
{
    size_t size = 0;
    char *readme = NULL;
    int status = args->remote_count ? CLI_OK : read_readme(path, &readme, &size);
    if (status != CLI_OK) {
        free(readme);
        return status;
    }
    struct shapeproof_card *card = shapeproof_card_new(inventory, prediction, readme, size);
    for (size_t i = 0; i < shapeproof_card_statement_count(card); i++)
        if (shapeproof_card_statement(card, i)->verdict == SHAPEPROOF_REFUTED) status = CLI_DIFFERS;
    for (struct cli_output *to = NULL; (to = cli_next_output(to));) {
        const struct shapeproof_report_card_options how = {.report = cli_report_options(args, to),
                                                           .path = path,
                                                           .table = prediction ? shapeproof_prediction_table(prediction)
                                                                               : NULL,
                                                           .active = active};
        cli_put_report(to, shapeproof_report_card(card, &how, NULL));
    }
    shapeproof_card_free(card);
    free(readme);
    return status;
}

/* Evaluates `active` for the predicted model. NULL, after a warning, if that fails; the value has no text if the table
 * does not say how much of it a token uses. In both cases the card has no row for it. */
static struct shapeproof_evaluation *evaluate_active(struct cli_subject *subject,
                                                     const struct shapeproof_prediction *prediction,
                                                     struct shapeproof_expressions **expressions)
{
    const char *const text = "active";
    const struct shapeproof_claim_lines lines = {.name = "expression", .items = &text, .count = 1};
    const struct shapeproof_evaluate_options how = {.prediction = prediction};
    struct shapeproof_error error = {0};
    char *letters = NULL;
    *expressions =
        shapeproof_expressions_new(subject->tables, shapeproof_prediction_table(prediction), &lines, &letters, &error);
    shapeproof_free(letters);
    struct shapeproof_evaluation *evaluation =
        *expressions ? shapeproof_evaluate(*expressions, subject->config, &how, &error) : NULL;
    if (evaluation) return evaluation;
    error.message[strcspn(error.message, "\n")] = '\0'; /* without the lines that show the place */
    cli_warning("active parameters", error.message);
    return NULL;
}

/* Writes the card with the prediction, and with the active parameters of a mixture. */
static int report_predicted(const struct cli_args *args, const char *path, const struct shapeproof_inventory *inventory,
                            struct cli_subject *subject, const struct shapeproof_prediction *prediction)
{
    struct shapeproof_expressions *expressions;
    struct shapeproof_evaluation *evaluation = evaluate_active(subject, prediction, &expressions);
    const int status =
        report_card(args, path, inventory, prediction, evaluation ? shapeproof_evaluation_get(evaluation, 0) : NULL);
    shapeproof_evaluation_free(evaluation);
    shapeproof_expressions_free(expressions);
    return status;
}

/* Writes the card by the prediction of the configuration, or, where there is no table for it, by the file alone. */
static int card_of_subject(const struct cli_args *args, const char *path, const struct shapeproof_inventory *inventory,
                           struct cli_subject *subject)
{
    const struct shapeproof_predict_options what = {.table = subject->table_name};
    struct shapeproof_error error = {0};
    struct shapeproof_prediction *prediction = shapeproof_predict(subject->tables, subject->config, &what, &error);
    const int status = prediction ? report_predicted(args, path, inventory, subject, prediction)
                       : error.status == SHAPEPROOF_ERR_UNKNOWN ? report_card(args, path, inventory, NULL, NULL)
                                                                : cli_no_prediction(subject, &what, &error);
    shapeproof_prediction_free(prediction);
    return status;
}

/* With the configuration that is given, or the one that the search finds; but that of the base of an adapter is not of
 * the adapter. Without one the file alone is counted. */
static int card_of(const struct cli_args *args, const char *path, const struct shapeproof_inventory *inventory)
{
    struct cli_subject subject = {.tables = NULL};
    bool ignored;
    struct cli_found_config found;
    int status = cli_search_config(args, path, inventory, &found);
    if (status != CLI_OK) return status;
    char *adapter = shapeproof_adapter_describe(inventory, &ignored);
    if (!adapter) cli_warn_of_search(path, found.denied);
    if (cli_is_told(args) || (!adapter && (found.inside || found.beside))) {
        status = cli_subject_open_found(&subject, args, inventory, found.beside);
        if (status == CLI_OK) status = card_of_subject(args, path, inventory, &subject);
    } else status = report_card(args, path, inventory, NULL, NULL);
    shapeproof_free(adapter);
    shapeproof_free(found.beside);
    cli_subject_close(&subject);
    return status;
}

static int run_card(const struct cli_args *args) { return cli_with_checkpoint(args, card_of); }

static const struct cli_term statuses[] = {
    {"0", "the card was written, and no number of parameters in the README is wrong"},
    {"1", "a number of parameters in the README is wrong"},
    {"2", CLI_USAGE_STATUS},
    {"3", "a table or a configuration is wrong"},
    {"4", "the checkpoint or the README is unreadable, the checkpoint is malformed or could not be fetched, or the "
          "output could not be written"},
    {"5", "no table can be made of a Keras model, because its layers are defined only in the code of its class"},
    {NULL, NULL},
};

const struct cli_command cli_card = {
    .name = "card",
    .summary = "print the numbers for a model card, and compare the README with them",
    .operands = "PATH",
    .description =
        "Prints the numbers that belong into the model card of the checkpoint at PATH (a file, a directory, or an "
        "index): the parameters in total, with and without embeddings, by group and by dtype, and the bytes. They are "
        "computed from the configuration of the checkpoint and the table for it. Without a configuration, or without a "
        "table for it, they are counted in the file. --format markdown writes a table for a README.\n"
        "\n"
        "With --format text, the default, or --format json, the report also judges each number of parameters in the "
        "README.md beside the checkpoint. '7B parameters' is right for a model of 6,738,415,616 parameters, because "
        "this number rounds to 7B; '13B parameters' is wrong. A number that leaves out embeddings or counts tied "
        "tensors twice is right, and the convention is named. A number is 'unclear' if its digits are cut off instead "
        "of rounded, such as '6.73B' for 6,738,415,616. It is also 'unclear' if it may be about something else, "
        "because its line has several numbers of parameters, or words such as 'than' or 'active'.",
    .least = 1,
    .most = 1,
    .checkpoints = true,
    .options = options,
    .examples = examples,
    .statuses = statuses,
    .run = run_card,
};
