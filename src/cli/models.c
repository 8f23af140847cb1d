/* SPDX-License-Identifier: MIT
 * shapeproof models: which published models are known by name, and what is known of them. */
#include "cli/subject.h"

static const struct cli_option options[] = {
    {.name = "config", .letter = 'c', .help = "write the hyper-parameters of MODEL as a config.json"},
    {.name = "names", .help = "print the names alone, one a line"},
    {CLI_OPTION_FORMAT("text|json|jsonl|csv|markdown")},
    {CLI_OPTION_JSON},
    {CLI_OPTION_OUTPUT},
    {CLI_OPTION_QUIET},
    {CLI_OPTION_COLOR},
    {CLI_OPTION_NO_PAGER},
    {CLI_OPTION_END},
};

static const struct cli_example examples[] = {
    {"shapeproof models", "all of them"},
    {"shapeproof models llama", "those with llama in their name or model_type"},
    {"shapeproof models gpt2-xl", "one, with its source and its hyper-parameters"},
    {"shapeproof predict gpt2-xl", "the tensors of a published model"},
    {"shapeproof check CHECKPOINT --model llama-3-8b", "whether a checkpoint is Llama 3 8B"},
    {NULL, NULL},
};

int cli_complain_of_model(const struct shapeproof_models *models, const char *name)
{
    char hint[256] = "'shapeproof models' lists them";
    const struct shapeproof_model *likely = shapeproof_models_like(models, name);
    if (likely) snprintf(hint, sizeof hint, "did you mean '%s'?", likely->name);
    return cli_usage_error(hint, "there is no published model '%s'", name);
}

/* The hyper-parameters alone. */
static int write_config(const struct shapeproof_models *models, const char *name)
{
    const struct shapeproof_model *model = name ? shapeproof_models_find(models, name) : NULL;
    if (!name) return cli_usage_error("shapeproof models gpt2-xl --config", "--config needs the name of a model");
    if (!model) return cli_complain_of_model(models, name);
    char *text = shapeproof_value_text(model->config);
    puts(text);
    shapeproof_free(text);
    return CLI_OK;
}

static bool any_fits(const struct shapeproof_models *models, const char *filter)
{
    for (size_t i = 0; i < shapeproof_models_count(models); i++)
        if (shapeproof_models_fits(models, i, filter)) return true;
    return false;
}

static void print_names(const struct shapeproof_models *models, const char *filter)
{
    for (size_t i = 0; i < shapeproof_models_count(models); i++)
        if (shapeproof_models_fits(models, i, filter)) printf("%s\n", shapeproof_models_get(models, i)->name);
}

static int run_models(const struct cli_args *args)
{
    const char *name = cli_operand(args);
    size_t position = 0;
    const char *file = cli_next_format_file(args, &position);
    struct shapeproof_error error = {0};
    struct shapeproof_models *models = shapeproof_models_new(&error);
    int status = CLI_OK;
    if (!models) return cli_error(&error);
    const struct shapeproof_model *one = name ? shapeproof_models_find(models, name) : NULL;
    if (cli_flag(args, "names") && (cli_format_beside_text(args) || cli_flag(args, "config")))
        status = cli_usage_error(NULL, "models: --names does not go with --format or --config");
    else if (cli_flag(args, "config") && file)
        status = cli_usage_error(NULL, "models: --config does not go with --format %s", file);
    else if (cli_flag(args, "config")) status = write_config(models, name);
    else if (!one && !any_fits(models, name)) status = cli_complain_of_model(models, name);
    else if (cli_flag(args, "names")) print_names(models, name);
    else
        for (struct cli_output *to = NULL; (to = cli_next_output(to));) {
            const struct shapeproof_report_options how = cli_report_options(args, to);
            cli_put_report(to, shapeproof_report_models(models, name, one, &how, NULL));
        }
    shapeproof_models_free(models);
    return status;
}

static const struct cli_term statuses[] = {
    {"0", "the models were listed"},
    {"2", CLI_USAGE_STATUS},
    {"4", "the output could not be written"},
    {NULL, NULL},
};

const struct cli_command cli_models = {
    .name = "models",
    .summary = "list the published models whose hyper-parameters are built in",
    .operands = "[MODEL|FILTER]",
    .description =
        "Lists the published models whose hyper-parameters are built in. For each, it prints the number of "
        "parameters that the authors give, the number that the framework counts, the model_type, and the name on "
        "the Hugging Face hub. FILTER is a string: only models whose name, name on the hub or model_type contains "
        "it are listed. If the argument is the name of a MODEL, the source and the hyper-parameters of this model "
        "are printed.\n"
        "\n"
        "predict, derive, eval, prove and solve accept the name of a model instead of the name of a table, and fit "
        "accepts it, too. All of these accept it also as --model, instead of a configuration, and so do check, card "
        "and browse.",
    .least = 0,
    .most = 1,
    .options = options,
    .examples = examples,
    .statuses = statuses,
    .run = run_models,
};
