/* SPDX-License-Identifier: MIT
 * shapeproof infer: the table and the hyper-parameters that explain a checkpoint which came without any. */
#include <string.h>

#include "cli/subject.h"

static const struct cli_option options[] = {
    {CLI_OPTION_TABLE},
    {.name = "emit-config",
     .letter = 'E',
     .help = "write to stdout, instead of the report, a config.json that check can use"},
    {.name = "all",
     .letter = 'a',
     .help = "write one line for each tensor that is not explained; do not collapse "
             "indices"},
    {CLI_OPTION_TRACE},
    {CLI_OPTION_OFFLINE},
    {CLI_OPTION_LIMIT},
    {CLI_OPTION_FORMAT("text|json|jsonl|markdown")},
    {CLI_OPTION_JSON},
    {CLI_OPTION_OUTPUT},
    {CLI_OPTION_QUIET},
    {CLI_OPTION_COLOR},
    {CLI_OPTION_NO_PAGER},
    {CLI_OPTION_NO_PROGRESS},
    {CLI_OPTION_END},
};

static const struct cli_example examples[] = {
    {"shapeproof infer model.safetensors", "which model a file holds"},
    {"shapeproof infer model.pt --emit-config > config.json", "a configuration for a file that has none"},
    {"shapeproof infer model.pt --table mistral", "the hyper-parameters that fit one table"},
    {NULL, NULL},
};

enum { NAMED = 6 }; /* so many keys in a warning */

/* "num_attention_heads, head_dim and 2 more"; "" when the file decides them all. */
static void list_undetermined(const struct shapeproof_inference *inference, char *list, size_t size)
{
    const size_t count = shapeproof_inference_undetermined_count(inference);
    size_t length = 0;
    *list = '\0';
    for (size_t i = 0; i < count && i < NAMED && length < size; i++)
        length += (size_t)snprintf(list + length, size - length, "%s%.80s", i ? ", " : "",
                                   shapeproof_inference_undetermined(inference, i));
    if (count > NAMED && length < size) snprintf(list + length, size - length, " and %zu more", count - NAMED);
}

/* Says where the metadata of the file contradict its tensors, of which the configuration is made. */
static void warn_of_metadata(const char *path, const struct shapeproof_inference *inference)
{
    for (size_t i = 0; i < shapeproof_inference_note_count(inference); i++) {
        const struct shapeproof_inference_note *note = shapeproof_inference_note(inference, i);
        if (strcmp(note->id, "metadata") == 0) cli_warning(path, note->message);
    }
}

/* Writes the configuration, and says which of its values are assumed, or contradict the metadata. */
static void emit_config(const char *path, const struct shapeproof_inference *inference)
{
    const char *config = shapeproof_inference_config(inference);
    char list[NAMED * 82 + 40], message[sizeof list + 80];
    fwrite(config, 1, strlen(config), stdout);
    list_undetermined(inference, list, sizeof list);
    snprintf(message, sizeof message, "the file does not decide %s: other values may do as well", list);
    if (*list) cli_warning(path, message);
    warn_of_metadata(path, inference);
}

/* Writes the report, or the configuration; exit status. */
static int report_inference(const struct cli_args *args, const char *path, const struct shapeproof_inference *inference)
{
    for (struct cli_output *to = NULL; (to = cli_next_output(to));) {
        const struct shapeproof_report_options how = cli_report_options(args, to);
        if (to->is_stdout && cli_flag(args, "emit-config")) emit_config(path, inference);
        else cli_put_report(to, shapeproof_report_infer(inference, &how, NULL));
    }
    return shapeproof_inference_explains_all(inference) ? CLI_OK : CLI_DIFFERS;
}

/* All tables, or the one that --table names. */
static int infer_checkpoint(const struct cli_args *args, const char *path, const struct shapeproof_inventory *inventory)
{
    struct cli_subject subject;
    struct shapeproof_error error = {0};
    int status = cli_subject_open_tables(&subject, args);
    if (status == CLI_OK) {
        const struct shapeproof_infer_options what = {.table = subject.table_name, .watch = cli_watch(args)};
        cli_begin_step("inferring the table of %s", path);
        struct shapeproof_inference *inference = shapeproof_infer(inventory, subject.tables, &what, &error);
        if (!inference && error.status == SHAPEPROOF_ERR_UNKNOWN) cli_name_adapter(inventory, path, &error);
        status = inference ? report_inference(args, path, inference) : cli_error(&error);
        shapeproof_inference_free(inference);
    }
    cli_subject_close(&subject);
    return status;
}

static int run_infer(const struct cli_args *args) { return cli_with_checkpoint(args, infer_checkpoint); }

static const struct cli_term statuses[] = {
    {"0", "a table explains every tensor, and none is missing"},
    {"1", "some tensors are missing, or not explained, or the metadata of a GGUF file contradict the tensors"},
    {"2", CLI_USAGE_STATUS},
    {"3", "a table is wrong"},
    {"4", "the checkpoint is unreadable or malformed, could not be fetched, or the output could not be written"},
    {"5", "no table fits the file"},
    {NULL, NULL},
};

const struct cli_command cli_infer = {
    .name = "infer",
    .summary = "find the table and the hyper-parameters that explain a checkpoint",
    .operands = "PATH",
    .description =
        "Reads the checkpoint at PATH (a file, a directory, or an index) without a configuration. It finds the "
        "table whose names match, and derives each hyper-parameter from a dimension, a number in a name, or the "
        "presence of a tensor. Then it predicts all tensors from these hyper-parameters. A tensor of the file is "
        "explained if the prediction has the same tensor. Only headers are read.\n"
        "\n"
        "The report begins with the table and the number of tensors that it explains. Each hyper-parameter is "
        "printed with its evidence. Some values are not determined by the file, such as the number of heads of a "
        "projection. They are listed separately, with a default or a usual value. Other tables that predict the "
        "same tensors are listed too.\n"
        "\n"
        "The values in the metadata of a GGUF file are used where no tensor shows them. A value that contradicts the "
        "tensors is named in a note.\n"
        "\n"
        "The exit status is 0 if every tensor is explained and none is missing, 1 if some are missing or not "
        "explained or if the metadata contradict the tensors, and 5 if no table fits. A table fits under two "
        "conditions: it explains most tensors of the "
        "file, including tensors inside a layer, and the file has most of the kinds of tensors that the table "
        "predicts.",
    .least = 1,
    .most = 1,
    .checkpoints = true,
    .options = options,
    .examples = examples,
    .statuses = statuses,
    .run = run_infer,
};
