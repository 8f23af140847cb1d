/* SPDX-License-Identifier: MIT
 * shapeproof fit: whether a model fits in the memory of a device. */
#include "cli/fit.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LEAST_MEMORY = 1 << 20 }; /* bytes; no device has less, so a smaller number lacks its unit */

static const struct cli_option options[] = {
    {.name = "memory", .argument = "SIZE", .help = "the memory of one device: 80GB (of 10^9 bytes), 24GiB (of 2^30)"},
    {.name = "tokens",
     .argument = "LENGTH",
     .help = "the number of tokens of a sequence, such as 8192 or 128k (k is 1024); if it is not given, the cache is "
             "not counted"},
    {CLI_OPTION_SOURCE_TOKENS},
    {CLI_OPTION_BATCH},
    {.name = "dtype",
     .argument = CLI_DTYPES,
     .is_open = true,
     .help = "of the weights; names such as F8_E4M3 and bfloat16 mean the same; default: as a checkpoint stores them, "
             "bf16 for a MODEL"},
    {CLI_OPTION_CACHE_DTYPE},
    {CLI_OPTION_CONFIG},
    {CLI_OPTION_MODEL},
    {CLI_OPTION_SET},
    {CLI_OPTION_TABLE},
    {CLI_OPTION_VOCABULARY},
    {CLI_OPTION_OFFLINE},
    {CLI_OPTION_LIMIT},
    {CLI_OPTION_FORMAT("text|json|jsonl|markdown")},
    {CLI_OPTION_JSON},
    {CLI_OPTION_OUTPUT},
    {CLI_OPTION_QUIET},
    {CLI_OPTION_COLOR},
    {CLI_OPTION_NO_PAGER},
    {CLI_OPTION_END},
};

static const struct cli_example examples[] = {
    {"shapeproof fit llama-3-70b --memory 80GiB --tokens 128k", "does it fit, and on how many devices"},
    {"shapeproof fit llama-3-8b --memory 24GiB --tokens 8k --dtype int8", "with weights of 8 bits"},
    {"shapeproof fit model.safetensors --memory 24GiB --tokens 32k --batch 4", "with the weights as they are stored"},
    {NULL, NULL},
};

const struct cli_unit cli_units_of_tokens[] = {
    {"", 1}, {"k", UINT64_C(1) << 10}, {"K", UINT64_C(1) << 10}, {"M", UINT64_C(1) << 20}, {NULL, 0}};

const struct cli_unit cli_units_of_sequences[] = {{"", 1}, {NULL, 0}};

int cli_take_size(const struct cli_args *args, const char *name, const struct cli_unit *units, const char *example,
                  uint64_t *value)
{
    const char *text = cli_value(args, name, NULL);
    if (!text) return CLI_OK;
    *value = cli_read_size(text, units);
    return *value ? CLI_OK : cli_usage_error(example, "--%s: '%s' %s", name, text, cli_why_no_size(text, units));
}

int cli_fit_status(const struct shapeproof_fit *fit)
{
    static const int statuses[] = {
        [SHAPEPROOF_FIT_NO] = CLI_DIFFERS, [SHAPEPROOF_FIT_YES] = CLI_OK, [SHAPEPROOF_FIT_UNKNOWN] = CLI_UNKNOWN};
    return statuses[fit->verdict];
}

int cli_fit_subject(const struct cli_args *args, const char *memory, const struct cli_subject *subject,
                    const uint64_t *stored, struct shapeproof_fit **fit)
{
    struct shapeproof_error error = {0};
    struct shapeproof_fit_options what = {.table = subject->table_name,
                                          .dtype =
                                              cli_has_option(args, "dtype") ? cli_value(args, "dtype", NULL) : NULL,
                                          .cache_dtype = cli_value(args, "cache-dtype", NULL),
                                          .batch = 1};
    uint64_t size = 0;
    char example[64];
    what.is_stored = stored && !what.dtype;
    if (what.is_stored) what.stored = *stored;
    snprintf(example, sizeof example, "--%s 24GiB", memory);
    int status = cli_take_size(args, memory, cli_units_of_bytes, example, &size);
    if (status == CLI_OK && size < LEAST_MEMORY && !strpbrk(cli_value(args, memory, NULL), "Bb"))
        status = cli_usage_error(example, "--%s: %s is %" PRIu64 " bytes: a unit is missing", memory,
                                 cli_value(args, memory, NULL), size);
    if (status == CLI_OK) status = cli_take_size(args, "tokens", cli_units_of_tokens, "--tokens 128k", &what.tokens);
    if (status == CLI_OK)
        status = cli_take_size(args, "source-tokens", cli_units_of_tokens, "--source-tokens 512", &what.source_tokens);
    if (status == CLI_OK && what.source_tokens && !what.tokens)
        status = cli_usage_error("--tokens 128 --source-tokens 512", "--source-tokens needs --tokens");
    if (status == CLI_OK) status = cli_take_size(args, "batch", cli_units_of_sequences, "--batch 4", &what.batch);
    if (status != CLI_OK) return status;
    *fit = shapeproof_fit_new(subject->tables, subject->config, size, &what, &error);
    if (*fit) return CLI_OK;
    if (error.status == SHAPEPROOF_ERR_USAGE) return cli_error(&error);
    return cli_no_prediction(subject, &(struct shapeproof_predict_options){.table = what.table}, &error);
}

/* Warns of a configuration that quantises the weights. The model was predicted for `fit`, so that it can be again. */
static void warn_of_quantisation(const struct cli_subject *subject)
{
    const struct shapeproof_predict_options what = {.table = subject->table_name};
    struct shapeproof_error ignored = {0};
    struct shapeproof_prediction *prediction = shapeproof_predict(subject->tables, subject->config, &what, &ignored);
    if (!prediction) return;
    const size_t count = shapeproof_prediction_count(prediction);
    shapeproof_prediction_free(prediction);
    cli_warn_of_quantisation(subject, count, "they are counted in bf16 (--dtype sets another)");
}

static int report_fit(const struct cli_args *args, const struct cli_subject *subject, const uint64_t *stored)
{
    struct shapeproof_fit *fit = NULL;
    if (!cli_value(args, "memory", NULL)) return cli_usage_error("--memory 24GiB", "fit: --memory is needed");
    int status = cli_fit_subject(args, "memory", subject, stored, &fit);
    if (status != CLI_OK) return status;
    if (!stored && !cli_value(args, "dtype", NULL)) warn_of_quantisation(subject);
    for (struct cli_output *to = NULL; (to = cli_next_output(to));) {
        const struct shapeproof_report_options how = cli_report_options(args, to);
        cli_put_report(to, shapeproof_report_fit(fit, &how, NULL));
    }
    status = cli_fit_status(fit);
    shapeproof_fit_free(fit);
    return status;
}

static int fit_inventory(const struct cli_args *args, const char *path, const struct shapeproof_inventory *inventory)
{
    struct cli_subject subject;
    int status = cli_subject_open_for(&subject, args, path, inventory);
    if (status == CLI_OK) status = report_fit(args, &subject, &shapeproof_inventory_totals(inventory)->bytes);
    cli_subject_close(&subject);
    return status;
}

static int fit_operand(const struct cli_args *args) { return cli_with_checkpoint(args, fit_inventory); }

/* The same command, whose operand is a checkpoint. */
static const struct cli_command on_checkpoint = {.name = "fit", .checkpoints = true, .options = options};

static int fit_checkpoint(const struct cli_args *args)
{
    struct cli_args there = *args;
    there.command = &on_checkpoint;
    return cli_run_found(&there, fit_operand);
}

static bool is_published(const char *name)
{
    struct shapeproof_error error = {0};
    struct shapeproof_models *models = shapeproof_models_new(&error);
    const bool found = models && shapeproof_models_find(models, name);
    shapeproof_models_free(models);
    return found;
}

/* "torchvision/resnet18" is a published model. */
static bool names_checkpoint(const char *operand)
{
    return operand && (access(operand, F_OK) == 0 || strcmp(operand, "-") == 0 ||
                       (strchr(operand, '/') && !is_published(operand)));
}

static int run_fit(const struct cli_args *args)
{
    struct cli_subject subject;
    const char *operand = cli_operand(args);
    if (names_checkpoint(operand)) return fit_checkpoint(args);
    if (!operand && !cli_value(args, "config", NULL) && !cli_value(args, "model", NULL))
        return cli_usage_error("shapeproof fit llama-3-8b --memory 24GiB",
                               "fit needs a model, a checkpoint or --config");
    int status = cli_subject_open(&subject, args, NULL);
    if (status == CLI_OK) status = cli_subject_take(&subject, args, operand);
    if (status == CLI_OK && !subject.is_named) status = cli_subject_fit(&subject, NULL);
    if (status == CLI_OK && !cli_settings_are_known(&subject, args)) status = CLI_USAGE;
    if (status == CLI_OK) status = report_fit(args, &subject, NULL);
    cli_subject_close(&subject);
    return status;
}

static const struct cli_term statuses[] = {
    {"0", "the model fits"},
    {"1", "it does not fit"},
    {"2", CLI_USAGE_STATUS},
    {"3", "a table or a configuration is wrong"},
    {"4", "the checkpoint is unreadable or malformed, or the output could not be written"},
    {"5", "the weights fit and the size of the cache is not known, or there is no table for the configuration"},
    {NULL, NULL},
};

const struct cli_command cli_fit = {
    .name = "fit",
    .summary = "say whether a model fits in the memory of a device",
    .operands = "[MODEL|PATH]",
    .description =
        "Compares the memory of a device with the bytes of the weights and of the cache. MODEL is a published model, "
        "whose weights are counted in bf16 or the dtype of --dtype. PATH is a checkpoint, whose weights are counted as "
        "they are stored, unless --dtype is given.\n"
        "\n"
        "The largest batch is the number of sequences of --tokens tokens that fit beside the weights. The longest "
        "sequence is the greatest length at which --batch sequences fit. The line 'devices' has the smallest number of "
        "devices for tensor parallelism: it divides the numbers of query heads and of key-value heads, and the "
        "weights of the largest rank and an equal part of the cache fit in the memory of each device. Where the table "
        "does not say how ranks divide its tensors, each device has an equal part of the weights.\n"
        "\n"
        "Activations, the buffers of a program and the runtime of a device are not included: leave memory for them. A "
        "device sold with 24 GB usually has 24GiB.",
    .least = 0,
    .most = 1,
    .options = options,
    .examples = examples,
    .statuses = statuses,
    .run = run_fit,
};
