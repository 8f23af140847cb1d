/* SPDX-License-Identifier: MIT
 * shapeproof predict: what a checkpoint should hold. */
#include "base/dtype_word.h"
#include "cli/breakdown.h"
#include "cli/fit.h"
#include "cli/predicted.h"
#include "cli/subject.h"

#include <string.h>

static const struct cli_option options[] = {
    {CLI_OPTION_CONFIG},
    {CLI_OPTION_MODEL},
    {CLI_OPTION_SET},
    {CLI_OPTION_TABLE},
    {CLI_OPTION_VOCABULARY},
    {.name = "all", .letter = 'a', .help = "write one line for each tensor; do not collapse indices"},
    {.name = "formulas", .letter = 'f', .help = "print the formula of each sub-total beside it"},
    {.name = "stored",
     .letter = 's',
     .help = "list the tensors that a quantised checkpoint stores in place of its weights"},
    {.name = "by",
     .argument = "KEY[,KEY]",
     .help = "print the parameters and bytes of each layer, group, module, dtype or expert, and their shares; with two "
             "keys, also of each value of the second key within each value of the first. The key measure stands alone: "
             "it prints the measures of the model, such as active, flops and cache"},
    {.name = "against",
     .argument = "TABLE|MODEL",
     .help = "print by how many parameters and bytes another model differs, by the keys of --by; default: group. The "
             "settings of --set are for the first model alone"},
    {.name = "tokens",
     .argument = "LENGTH",
     .help = "with --by measure, the number of tokens of a sequence, such as 8192 or 128k (k is 1024); default: 1"},
    {.name = "images",
     .argument = "N",
     .help = "with --by measure, the number of images of a sequence, for a model of text and images; default: 1"},
    {.name = "patches",
     .argument = "N",
     .help = "with --by measure, the number of patches of an image, for a model that reads images of any size"},
    {.name = "source-tokens",
     .argument = "LENGTH",
     .help = "with --by measure, what an encoder reads for each sequence: tokens, steps of a spectrogram or samples of "
             "a sound"},
    {CLI_OPTION_BATCH},
    {CLI_OPTION_ROWS},
    {CLI_OPTION_EXACT},
    {.name = "dtype",
     .argument = "f32|bf16|f16|f64|fp8|int8",
     .is_open = true,
     .help = "the dtype of the tensors for which the table gives none; it determines their bytes. Names such as "
             "F8_E5M2 and bfloat16 are possible, too. The default is the "
             "dtype in the configuration (dtype or torch_dtype). If there is none, it is f32, and the listing says "
             "that this is assumed"},
    {CLI_OPTION_LIMIT},
    {CLI_OPTION_FORMAT("text|json|jsonl|csv|markdown")},
    {CLI_OPTION_JSON},
    {CLI_OPTION_OUTPUT},
    {CLI_OPTION_QUIET},
    {CLI_OPTION_COLOR},
    {CLI_OPTION_NO_PAGER},
    {CLI_OPTION_END},
};

static const struct cli_example examples[] = {
    {"shapeproof predict gpt2-xl", "the tensors of a published model, without a checkpoint"},
    {"shapeproof predict gpt2 --set n_layer=48 --set n_head=25 --set n_embd=1600",
     "the tensors of a GPT-2 of this size"},
    {"shapeproof predict --config config.json", "with the table that config.json selects"},
    {"shapeproof predict gpt2 --formulas", "the number of parameters of each part as a formula"},
    {"shapeproof predict llama-2-7b --dtype bf16", "how many bytes its weights take in BF16"},
    {"shapeproof predict llama-3-8b --by group", "where its parameters are, and the share of each group"},
    {"shapeproof predict llama-3-8b --by measure --tokens 8k", "its active parameters, operations, cache and bytes"},
    {"shapeproof predict qwen2-vl-7b --by measure --patches 1024", "those of a model of text and images"},
    {"shapeproof predict llama-3-8b --against llama-2-7b", "what another model has more and less"},
    {"shapeproof predict --table mine.shapes --set width=64", "a table of your own"},
    {NULL, NULL},
};

/* A table whose formulas cannot be found is predicted without them. */
static struct shapeproof_derivation *find_formulas(const struct cli_args *args, const struct cli_subject *subject,
                                                   const struct shapeproof_prediction *prediction)
{
    struct shapeproof_error error = {0};
    if (!cli_flag(args, "formulas")) return NULL;
    struct shapeproof_derivation *forms =
        shapeproof_derive_prediction(subject->tables, prediction, subject->config, &error);
    if (!forms) cli_warning(NULL, error.message);
    return forms;
}

/* Keys of the file that are most likely written otherwise than the table has them. */
static void warn_of_misspelt(const struct shapeproof_prediction *prediction, const struct shapeproof_config *config)
{
    struct shapeproof_misspelt found;
    char message[512];
    for (size_t position = 0; shapeproof_prediction_misspelt(prediction, config, &position, &found);) {
        snprintf(message, sizeof message, "nothing reads '%s': is '%s' meant, which the table '%s' looks for?",
                 found.key, found.meant, shapeproof_prediction_table(prediction));
        cli_warning(*shapeproof_config_path(config) ? shapeproof_config_path(config) : NULL, message);
    }
}

/* What predict lists without --stored, for the warning. */
static const char of_model[] = "these are the tensors before that";

/* As --dtype has it; UNKNOWN without it. */
static enum shapeproof_dtype dtype_asked(const struct cli_args *args)
{
    return sp_dtype_of_word(cli_value(args, "dtype", "")).dtype;
}

/* Whether --dtype is that of a tensor; complains if not. */
static bool dtype_is_known(const struct cli_args *args)
{
    const char *word = cli_value(args, "dtype", NULL);
    if (!word || sp_dtype_of_word(word).dtype != SHAPEPROOF_DTYPE_UNKNOWN) return true;
    if (sp_dtype_of_word(word).bits)
        cli_usage_error("shapeproof fit MODEL --memory 24GiB --dtype int4",
                        "predict: '%s' is no value for --dtype: weights of 4 bits are packed into other tensors", word);
    else
        cli_usage_error(
            "shapeproof predict --help lists the options",
            "predict: '%s' is no value for --dtype: expected f32, bf16, f16, f64, fp8, int8, or another name "
            "of safetensors or PyTorch",
            word);
    return false;
}

/* Predicts, and writes the report; exit status. */
static int report_prediction(const struct cli_args *args, const struct cli_subject *subject)
{
    const struct shapeproof_predict_options what = {
        .table = subject->table_name,
        .stored = cli_flag(args, "stored"),
    };
    struct shapeproof_error error = {0};
    struct shapeproof_prediction *prediction = shapeproof_predict(subject->tables, subject->config, &what, &error);
    if (!prediction) return cli_no_prediction(subject, &what, &error);
    if (!cli_settings_are_read(subject, prediction)) {
        shapeproof_prediction_free(prediction);
        return CLI_USAGE;
    }
    struct shapeproof_derivation *forms = find_formulas(args, subject, prediction);
    const struct shapeproof_predicted_size size =
        shapeproof_prediction_size(prediction, subject->config, dtype_asked(args));
    for (struct cli_output *to = NULL; (to = cli_next_output(to));) {
        const struct shapeproof_report_predict_options how = {
            .report = cli_report_options(args, to), .forms = forms, .size = &size};
        cli_put_report(to, shapeproof_report_predict(prediction, &how, NULL));
    }
    warn_of_misspelt(prediction, subject->config);
    cli_warn_of_objection(subject, prediction);
    const size_t count = shapeproof_prediction_count(prediction);
    shapeproof_derivation_free(forms);
    shapeproof_prediction_free(prediction); /* two of them would be held otherwise */
    if (!what.stored) cli_warn_of_quantisation(subject, count, of_model);
    return CLI_OK;
}

/* ---- sums by keys ---- */

/* A prediction that is summed up, and its tensors as an inventory. */
struct side {
    struct cli_subject subject;
    struct shapeproof_prediction *prediction;
    struct shapeproof_predicted_size size;
    struct shapeproof_inventory *inventory; /* NULL for the measures */
};

/* What stands for the path of a prediction in reports. */
static const char *name_of_side(const struct cli_args *args, const char *operand)
{
    const char *name = operand ? operand : cli_value(args, "model", cli_value(args, "config", NULL));
    return name ? name : cli_value(args, "table", "prediction");
}

/* The table of sums has no place for it. */
static void warn_of_dtype(const char *name)
{
    char message[512];
    snprintf(message, sizeof message, "%s: the bytes are those of F32, which is assumed; --dtype sets another dtype",
             name);
    cli_warning(NULL, message);
}

/* Predicts the subject of the side; exit status. */
static int predict_side(const struct cli_args *args, const char *name, struct side *side)
{
    const struct cli_subject *subject = &side->subject;
    const struct shapeproof_predict_options what = {.table = subject->table_name};
    struct shapeproof_error error = {0};
    struct shapeproof_prediction *prediction = shapeproof_predict(subject->tables, subject->config, &what, &error);
    if (!prediction) return cli_no_prediction(subject, &what, &error);
    side->prediction = prediction;
    side->size = shapeproof_prediction_size(prediction, subject->config, dtype_asked(args));
    int status = cli_settings_are_read(subject, prediction) ? CLI_OK : CLI_USAGE;
    if (status == CLI_OK) warn_of_misspelt(prediction, subject->config);
    if (status == CLI_OK) cli_warn_of_quantisation(subject, shapeproof_prediction_count(prediction), of_model);
    if (status == CLI_OK) cli_warn_of_objection(subject, prediction);
    if (status == CLI_OK && side->size.assumed && dtype_asked(args) == SHAPEPROOF_DTYPE_UNKNOWN) warn_of_dtype(name);
    return status;
}

/* Describes the predicted tensors as an inventory; exit status. */
static int describe_side(const char *name, struct side *side)
{
    struct shapeproof_error error = {0};
    side->inventory = cli_inventory_of_prediction(side->prediction, side->size.dtype, name, &error);
    return side->inventory ? CLI_OK : cli_error(&error);
}

/* Opens the other model, which has no settings of the command line; exit status. */
static int predict_other(const struct cli_args *args, const char *name, struct side *side)
{
    int status = cli_subject_open_tables(&side->subject, args);
    side->subject.table_name = NULL;
    const bool is_model = status == CLI_OK && cli_subject_take_model(&side->subject, name);
    if (status == CLI_OK && !is_model) status = cli_subject_take(&side->subject, args, name);
    if (status == CLI_OK && !side->subject.is_named) status = cli_subject_fit(&side->subject, NULL);
    return status == CLI_OK ? predict_side(args, name, side) : status;
}

static void close_side(struct side *side)
{
    shapeproof_inventory_close(side->inventory);
    shapeproof_prediction_free(side->prediction);
    cli_subject_close(&side->subject);
}

/* Writes the sums of a prediction, or of two, side by side; exit status. */
static int put_sums(const struct cli_args *args, const enum shapeproof_by keys[2], const struct side *a,
                    const struct side *b)
{
    struct shapeproof_error error = {0};
    struct shapeproof_diff *diff = b->inventory ? shapeproof_diff_new(a->inventory, b->inventory, NULL, &error) : NULL;
    int status = b->inventory && !diff ? cli_error(&error) : CLI_OK;
    for (struct cli_output *to = NULL; status == CLI_OK && (to = cli_next_output(to));) {
        struct shapeproof_breakdown_options what = cli_breakdown_options(args, to, keys);
        what.prediction = a->prediction;
        what.prediction_b = b->prediction;
        struct shapeproof_breakdown *breakdown = diff ? shapeproof_breakdown_of_diff(diff, &what, &error)
                                                      : shapeproof_breakdown_new(a->inventory, &what, &error);
        status = cli_put_breakdown(args, to, breakdown, false, &error);
    }
    shapeproof_diff_free(diff);
    return status;
}

/* ---- measures ---- */

static bool wants_measures(const struct cli_args *args) { return strcmp(cli_value(args, "by", ""), "measure") == 0; }

/* The measures of a side. */
struct measures {
    struct shapeproof_expressions *expressions;
    struct shapeproof_evaluation *evaluation;
};

/* Evaluates the measures of a side with --tokens, --batch and the like, and the dtype of its tensors; exit status.
 * `other`: the side beside it, or NULL. */
static int measure_side(const struct cli_args *args, const struct side *side, const struct side *other,
                        struct measures *measures)
{
    struct shapeproof_error error = {0};
    struct shapeproof_measures_options what = {.dtype =
                                                   cli_value(args, "dtype", shapeproof_dtype_name(side->size.dtype)),
                                               .against = other ? other->prediction : NULL};
    int status = cli_take_size(args, "tokens", cli_units_of_tokens, "--tokens 8k", &what.tokens);
    if (status == CLI_OK) status = cli_take_size(args, "batch", cli_units_of_sequences, "--batch 4", &what.batch);
    if (status == CLI_OK) status = cli_take_size(args, "images", cli_units_of_sequences, "--images 2", &what.images);
    if (status == CLI_OK)
        status = cli_take_size(args, "patches", cli_units_of_sequences, "--patches 1024", &what.patches);
    if (status == CLI_OK)
        status = cli_take_size(args, "source-tokens", cli_units_of_tokens, "--source-tokens 512", &what.source_tokens);
    if (status != CLI_OK) return status;
    const struct shapeproof_evaluate_options how = {.prediction = side->prediction};
    measures->expressions = shapeproof_measures_new(side->subject.tables, side->prediction, &what, &error);
    if (measures->expressions)
        measures->evaluation = shapeproof_evaluate(measures->expressions, side->subject.config, &how, &error);
    return measures->evaluation ? CLI_OK : cli_error(&error);
}

/* Writes the measures of a prediction, or of two side by side; exit status. */
static int put_measures(const struct cli_args *args, const char *const names[2], const struct side *a,
                        const struct side *b)
{
    const struct side *const sides[] = {a, b};
    const size_t count = b->prediction ? 2 : 1;
    struct measures measures[2] = {{NULL, NULL}, {NULL, NULL}};
    struct shapeproof_evaluated_point points[2] = {{.value = names[0]}, {.value = names[1]}};
    int status = CLI_OK;
    for (size_t i = 0; i < count && status == CLI_OK; i++) {
        status = measure_side(args, sides[i], count == 2 ? sides[1 - i] : NULL, &measures[i]);
        points[i].evaluation = measures[i].evaluation;
    }
    for (struct cli_output *to = NULL; status == CLI_OK && (to = cli_next_output(to));) {
        const struct shapeproof_report_evaluate_options how = {
            .report = cli_report_options(args, to),
            .table = count == 1 ? shapeproof_prediction_table(a->prediction) : NULL,
            .varied = count == 2 ? "model" : NULL,
            .side_by_side = count == 2};
        cli_put_report(to, shapeproof_report_evaluate(points, count, &how, NULL));
    }
    for (size_t i = 0; i < count; i++) {
        shapeproof_evaluation_free(measures[i].evaluation);
        shapeproof_expressions_free(measures[i].expressions);
    }
    return status;
}

/* ---- the command with --by or --against ---- */

/* Reads the keys of the sums; exit status. */
static int read_keys(const struct cli_args *args, enum shapeproof_by keys[2])
{
    const char *by = cli_value(args, "by", "");
    if (!strncmp(by, "measure,", strlen("measure,")) || strstr(by, ",measure"))
        return cli_usage_error(NULL, "predict: the key measure of --by stands alone");
    if (!cli_keys(args, keys)) return CLI_USAGE;
    if (keys[0] == SHAPEPROOF_BY_SHARD || keys[1] == SHAPEPROOF_BY_SHARD)
        return cli_usage_error(NULL, "predict: a prediction has no shards: --by shard is for checkpoints");
    if (keys[0] == SHAPEPROOF_BY_NONE) keys[0] = SHAPEPROOF_BY_GROUP;
    return CLI_OK;
}

/* `subject` is the model of the operand. */
static int sum_up(const struct cli_args *args, const struct cli_subject *subject)
{
    const char *const names[] = {name_of_side(args, cli_operand(args)), cli_value(args, "against", NULL)};
    const bool measures = wants_measures(args);
    enum shapeproof_by keys[2];
    struct side a = {.subject = *subject}, b = {.subject = {.tables = NULL}};
    int status = measures ? CLI_OK : read_keys(args, keys);
    if (status != CLI_OK) return status;
    status = predict_side(args, names[0], &a);
    if (status == CLI_OK && names[1]) status = predict_other(args, names[1], &b);
    if (status == CLI_OK && measures) status = put_measures(args, names, &a, &b);
    else {
        if (status == CLI_OK) status = describe_side(names[0], &a);
        if (status == CLI_OK && names[1]) status = describe_side(names[1], &b);
        if (status == CLI_OK) status = put_sums(args, keys, &a, &b);
    }
    close_side(&b);
    a.subject = (struct cli_subject){.tables = NULL}; /* the caller's */
    close_side(&a);
    return status;
}

/* --by and --against print sums, which have no lines for tensors and no formulas; or measures, of which all rows and
 * digits are printed. */
static bool options_agree(const struct cli_args *args)
{
    static const char *const lists[] = {"all", "formulas", "stored"};
    const bool sums_up = cli_value(args, "by", NULL) || cli_value(args, "against", NULL);
    const char *of_sums = cli_value(args, "rows", NULL) ? "rows" : cli_flag(args, "exact") ? "exact" : NULL;
    static const char *const measures[] = {"tokens", "batch", "images", "patches", "source-tokens"};
    const char *of_lists = NULL, *of_measures = NULL;
    for (size_t i = 0; i < sizeof measures / sizeof *measures && !of_measures; i++)
        if (cli_value(args, measures[i], NULL)) of_measures = measures[i];
    for (size_t i = 0; i < sizeof lists / sizeof *lists && !of_lists; i++)
        if (cli_flag(args, lists[i])) of_lists = lists[i];
    if (of_measures && !wants_measures(args))
        cli_usage_error("--by measure", "predict: --%s goes with --by measure", of_measures);
    else if (of_sums && wants_measures(args))
        cli_usage_error(NULL, "predict: --%s does not go with --by measure", of_sums);
    else if (of_sums && !sums_up) cli_usage_error(NULL, "predict: --%s goes with --by or --against", of_sums);
    else if (of_lists && sums_up) cli_usage_error(NULL, "predict: --%s does not go with --by and --against", of_lists);
    else return true;
    return false;
}

static int run_predict(const struct cli_args *args)
{
    struct cli_subject subject;
    if (!options_agree(args) || !dtype_is_known(args) || !cli_subject_is_given(args, "shapeproof predict gpt2-xl"))
        return CLI_USAGE;
    int status = cli_subject_open(&subject, args, NULL);
    if (status == CLI_OK) status = cli_subject_take(&subject, args, cli_operand(args));
    if (status == CLI_OK && !subject.is_named) status = cli_subject_fit(&subject, NULL);
    if (status == CLI_OK) status = cli_subject_count_vocabulary(&subject, args);
    const bool sums = cli_value(args, "by", NULL) || cli_value(args, "against", NULL);
    if (status == CLI_OK) status = (sums ? sum_up : report_prediction)(args, &subject);
    cli_subject_close(&subject);
    return status;
}

static const struct cli_term statuses[] = {
    {"0", "the listing was printed"},
    {"2", CLI_USAGE_STATUS},
    {"3", "a table or a configuration is wrong, or a hyper-parameter without a default is not given"},
    {"4", "the output could not be written"},
    {"5", "there is no table for the configuration"},
    {NULL, NULL},
};

const struct cli_command cli_predict = {
    .name = "predict",
    .summary = "list what a checkpoint should hold, from its hyper-parameters",
    .operands = "[TABLE|MODEL]",
    .description =
        "Lists the tensors that a table predicts for given hyper-parameters: by group, with shapes, sub-totals and "
        "totals. Each hyper-parameter is listed with its value and the source of the value.\n"
        "\n"
        "TABLE is the name of a table ('shapeproof tables' lists them). MODEL is the name of a published model "
        "('shapeproof models' lists them), whose hyper-parameters are then used. If neither is given, model_type "
        "and architectures of the configuration select the table; if no table is for them, the exit status is 5. A "
        "hyper-parameter that is not given has its default in the table. If the table has no default for it, the "
        "exit status is 3.\n"
        "\n"
        "--format csv writes a row for each tensor, --format markdown a table of the hyper-parameters and one of the "
        "groups, with their formulas if --formulas is given.\n"
        "\n"
        "With --by, the parameters are summed up as 'inspect --by' does it for a file. With --against, the sums of "
        "another model are compared with them, as 'diff --by' does it: a positive number says how much more the "
        "other model has. Optional tensors and buffers do not count.\n"
        "\n"
        "With --by measure, the expressions that 'eval' computes are listed with their values: total, active, flops, "
        "cache, bytes, optimizer and activations. A measure that the table does not carry is unknown, with the "
        "reason.",
    .least = 0,
    .most = 1,
    .options = options,
    .examples = examples,
    .statuses = statuses,
    .run = run_predict,
};
