/* SPDX-License-Identifier: MIT
 * shapeproof check: whether a checkpoint holds what its hyper-parameters promise. */
#include <stdlib.h>
#include <string.h>

#include "cli/components.h"
#include "cli/expect.h"
#include "cli/fit.h"
#include "cli/list.h"
#include "cli/near.h"
#include "cli/resume.h"
#include "cli/run.h"
#include "cli/subject.h"

static const struct cli_option options[] = {
    {CLI_OPTION_CONFIG},
    {CLI_OPTION_MODEL},
    {CLI_OPTION_SET},
    {CLI_OPTION_TABLE},
    {CLI_OPTION_VOCABULARY},
    {.name = "for",
     .argument = "LOADER[,LOADER]...",
     .help = "report whether these loaders load the file: transformers, transformers-4, diffusers, torch, mlx, or "
             "all; the exit status is 0 only if each loads it whole; with --for=none, the verdict alone determines "
             "the exit status"},
    {.name = "fit",
     .argument = "SIZE",
     .help = "say also whether the model fits in a memory of this size, such as 24GiB (of 2^30 bytes) or 80GB (of "
             "10^9), with its weights as they are stored"},
    {.name = "tokens",
     .argument = "LENGTH",
     .help = "with --fit: the number of tokens of a sequence, such as 8192 or 128k (k is 1024); if it is not given, "
             "the cache is not counted"},
    {CLI_OPTION_SOURCE_TOKENS},
    {CLI_OPTION_BATCH},
    {CLI_OPTION_CACHE_DTYPE},
    {.name = "strict",
     .help = "exit with 1 also if the verdict is explained, or if there is a warning, for example that the table "
             "ignores a key of --set"},
    {.name = "data",
     .letter = 'd',
     .help = "compare the data of tied tensors that are stored twice, and of tensors that could be tied"},
    {.name = "all",
     .letter = 'a',
     .help = "list also the findings that a cause explains, with one line for each tensor"},
    {CLI_OPTION_CLAIMS},
    {CLI_OPTION_EXPECT},
    {CLI_OPTION_TRACE},
    {CLI_OPTION_OFFLINE},
    {CLI_OPTION_LIMIT},
    {CLI_OPTION_LIST},
    {.name = "resume",
     .argument = "FILE",
     .value_with = "list",
     .help = "report whether training can go on from the checkpoint at PATH: moments, scheduler, random states, "
             "ranks and steps; with --list: append the lines to FILE, and skip the paths that have a line there"},
    {CLI_OPTION_JOBS},
    {CLI_OPTION_TIMEOUT},
    {CLI_OPTION_FORMAT("text|json|jsonl|markdown|csv|html|sarif|junit")},
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
    {"shapeproof check model.safetensors", "with the config.json beside it"},
    {"shapeproof check checkpoint/", "a directory: shards and config.json"},
    {"shapeproof check run/", "the folder of a training: all its steps"},
    {"shapeproof check checkpoint/ --for transformers", "whether from_pretrained loads it whole"},
    {"shapeproof check model.keras", "with the configuration that is in the file"},
    {"shapeproof check run/checkpoint-500 --resume", "whether training can go on from this folder"},
    {"shapeproof check --list paths.txt --resume results.jsonl", "all checkpoints of a list, on all processors"},
    {"shapeproof check --list paths.txt --format junit -o results.xml", "the same as a test report for a CI system"},
    {"shapeproof check checkpoint/ --fit 24GiB --tokens 32k", "also whether it fits in the memory of a device"},
    {"shapeproof check params.best --table sockeye_transformer -S num_layers=2", "without a config.json"},
    {"shapeproof check checkpoint/ --format html -o report.html", "a page to look at or to send"},
    {"shapeproof check checkpoint/ --format sarif=out.sarif --format html=report.html",
     "text on stdout, and two files from the same run"},
    {NULL, NULL},
};

/* Lets the error lead on to `infer`, which may find a table for the file. */
static void lead_to_infer(const struct cli_args *args, struct shapeproof_error *error)
{
    char *path = cli_quoted(args->operands[0]);
    cli_hint(
        error,
        "shapeproof infer %s tells which table explains the file, for --table NAME; if none does, shapeproof learn "
        "writes one from checkpoints and their config.json, for --table FILE",
        path);
    free(path);
}

/* Lets the error say what the file has of a known class, where the class of the configuration alone is not known; false
 * when there is no such thing to say. */
static bool name_body(const struct cli_subject *subject, const struct shapeproof_inventory *inventory,
                      struct shapeproof_error *error)
{
    char *body = shapeproof_unknown_class_describe(inventory, subject->tables, subject->config);
    if (body) cli_hint(error, "%s", body);
    shapeproof_free(body);
    return body != NULL;
}

/* The exit status with --for: CLI_DIFFERS when a loader does not load the file whole, else CLI_UNKNOWN when it is
 * not known of one of them. */
static int judge_loadings(const struct shapeproof_loadings *loadings)
{
    int status = CLI_OK;
    for (size_t i = 0; i < shapeproof_loading_count(loadings); i++) {
        const enum shapeproof_loading_answer answer = shapeproof_loading(loadings, i)->answer;
        if (answer == SHAPEPROOF_LOADING_UNKNOWN) status = CLI_UNKNOWN;
        else if (answer != SHAPEPROOF_LOADING_WHOLE) return CLI_DIFFERS;
    }
    return status;
}

/* What is odd about the file, what was not read of it, what a pickle would do, and a setting that was not looked at. */
static bool has_warnings(const struct shapeproof_check *check)
{
    return shapeproof_inventory_warning_count(shapeproof_check_inventory(check)) ||
           shapeproof_prediction_unused_count(shapeproof_check_prediction(check)) ||
           shapeproof_prediction_remark_count(shapeproof_check_prediction(check));
}

int cli_judge_check(const struct cli_args *args, const struct shapeproof_check *check,
                    const struct shapeproof_loadings *loadings)
{
    const enum shapeproof_verdict verdict = shapeproof_check_verdict(check);
    const bool untold = verdict == SHAPEPROOF_VERDICT_UNKNOWN && !has_warnings(check);
    if (cli_flag(args, "strict") && !untold && (verdict != SHAPEPROOF_VERDICT_MATCH || has_warnings(check)))
        return CLI_DIFFERS;
    const char *asked = cli_value(args, "for", NULL);
    if (asked && strcmp(asked, "none") != 0) return judge_loadings(loadings);
    if (loadings && shapeproof_loading_failed(loadings)) return CLI_DIFFERS;
    return verdict == SHAPEPROOF_VERDICT_DIFFERS   ? CLI_DIFFERS
           : verdict == SHAPEPROOF_VERDICT_UNKNOWN ? CLI_UNKNOWN
                                                   : CLI_OK;
}

struct shapeproof_verification *cli_count_groups(const struct shapeproof_tables *tables,
                                                 const struct shapeproof_check *check)
{
    static const char *const no_files[] = {""}; /* no claim stands there */
    struct shapeproof_error error = {0};
    return shapeproof_verify(check, tables, &(struct shapeproof_verify_options){.files = no_files, .file_count = 1},
                             &error);
}

/* The claims of --claims, held against the checkpoint, or for a page its groups alone; NULL when neither is needed, or
 * after an error, which is printed with its exit status in *status. */
static struct shapeproof_verification *hold_claims(const struct cli_args *args, const struct cli_subject *subject,
                                                   const struct shapeproof_check *check, int *status)
{
    struct shapeproof_error error = {0};
    struct shapeproof_verify_options what = {.files = NULL};
    const char **files = calloc(args->given_count + 1, sizeof *files);
    if (!files) cli_out_of_memory();
    for (size_t position = 0; (files[what.file_count] = cli_next_value(args, "claims", &position)) != NULL;)
        what.file_count++;
    what.files = files;
    cli_warn_of_claims(subject->tables);
    struct shapeproof_verification *verification =
        what.file_count                            ? shapeproof_verify(check, subject->tables, &what, &error)
        : cli_writes(args, SHAPEPROOF_REPORT_HTML) ? cli_count_groups(subject->tables, check)
                                                   : NULL;
    if (what.file_count && !verification) *status = cli_error(&error);
    free(files);
    return verification;
}

/* The exit status of a check with --claims: that of the check, but CLI_DIFFERS when a claim fails, and CLI_UNKNOWN in
 * place of CLI_OK when one cannot be evaluated, or there is none about the table. Known errata do not count. */
static int status_with_claims(int status, const struct shapeproof_verification *verification)
{
    size_t claims = 0;
    if (!verification) return status;
    for (size_t i = 0; i < shapeproof_verification_claim_count(verification); i++) {
        const struct shapeproof_verified_claim *claim = shapeproof_verification_claim(verification, i);
        if (claim->proof->erratum) continue;
        claims++;
        if (claim->answer == SHAPEPROOF_CLAIM_FAILS) return CLI_DIFFERS;
        if (claim->answer == SHAPEPROOF_CLAIM_UNKNOWN && status == CLI_OK) status = CLI_UNKNOWN;
    }
    return claims || status != CLI_OK ? status : CLI_UNKNOWN;
}

/* Whether the model fits in the memory of --fit, with the bytes of the checkpoint as its weights; nothing without
 * --fit. Exit status. */
static int fit_check(const struct cli_args *args, const struct cli_subject *subject,
                     const struct shapeproof_check *check, struct shapeproof_fit **fit)
{
    const struct shapeproof_inventory *inventory = shapeproof_check_inventory(check);
    bool consistent;
    if (!cli_value(args, "fit", NULL)) return CLI_OK;
    char *adapter = shapeproof_adapter_describe(inventory, &consistent);
    shapeproof_free(adapter);
    if (adapter) return cli_usage_error(NULL, "check: --fit is about whole models, and this is an adapter");
    return cli_fit_subject(args, "fit", subject, &shapeproof_inventory_totals(inventory)->bytes, fit);
}

/* The exit status of a check with --fit: CLI_DIFFERS when the model does not fit, and CLI_UNKNOWN in place of CLI_OK
 * when that is not known. */
static int status_with_fit(int status, const struct shapeproof_fit *fit)
{
    const int own = fit ? cli_fit_status(fit) : CLI_OK;
    return own == CLI_DIFFERS || status == CLI_OK ? own : status;
}

/* Asks the loaders, holds the claims, and writes the report, also if --fit fails; exit status. */
static int report_check(const struct cli_args *args, const struct cli_subject *subject,
                        const struct shapeproof_check *check)
{
    struct shapeproof_error error = {0};
    int status = CLI_OK;
    struct shapeproof_verification *verification = hold_claims(args, subject, check, &status);
    struct shapeproof_fit *fit = NULL;
    const int fit_status = status == CLI_OK ? fit_check(args, subject, check, &fit) : CLI_OK;
    if (fit_status == CLI_USAGE) status = CLI_USAGE;
    if (status != CLI_OK) {
        shapeproof_verification_free(verification);
        return status;
    }
    struct shapeproof_loadings *loadings = shapeproof_loadings_new(check, cli_value(args, "for", NULL), &error);
    if (loadings) {
        const struct shapeproof_verification *claims = cli_value(args, "claims", NULL) ? verification : NULL;
        status = status_with_fit(status_with_claims(cli_judge_check(args, check, loadings), claims), fit);
        if (fit_status != CLI_OK) status = fit_status;
        const struct shapeproof_checked checked = {.path = args->operands[0],
                                                   .status = status,
                                                   .check = check,
                                                   .loadings = loadings,
                                                   .fit = fit,
                                                   .claims = claims};
        cli_put_checked(args, &checked, verification);
    } else status = cli_error(&error);
    shapeproof_fit_free(fit);
    shapeproof_loadings_free(loadings);
    shapeproof_verification_free(verification);
    return status;
}

/* Checks the file under the configuration, and writes the report; exit status. Where no table is known for the
 * configuration, the error also says what the file has of a known class, or leads on to `infer`, and it says so when
 * the file is an adapter. */
static int check_subject(const struct cli_args *args, const struct cli_subject *subject,
                         const struct shapeproof_inventory *inventory,
                         const struct shapeproof_expectations *expectations)
{
    const struct shapeproof_check_options what = {.table = subject->table_name,
                                                  .expectations = expectations,
                                                  .data = cli_flag(args, "data"),
                                                  .watch = cli_watch(args)};
    struct shapeproof_error error = {0};
    cli_begin_step("checking %s", args->operands[0]);
    struct shapeproof_check *check = shapeproof_check_new(inventory, subject->tables, subject->config, &what, &error);
    if (!check) {
        if (error.status == SHAPEPROOF_ERR_UNKNOWN && !subject->table_name) {
            if (!name_body(subject, inventory, &error)) lead_to_infer(args, &error);
            cli_name_adapter(inventory, args->operands[0], &error);
        }
        return cli_no_prediction(subject, &(struct shapeproof_predict_options){.table = what.table}, &error);
    }
    const struct shapeproof_prediction *prediction = shapeproof_check_prediction(check);
    for (size_t i = shapeproof_config_remark_count(subject->config); i < shapeproof_prediction_remark_count(prediction);
         i++)
        cli_warning(shapeproof_config_path(subject->config), shapeproof_prediction_remark(prediction, i));
    const bool read = cli_settings_are_read(subject, prediction);
    const int status = read ? report_check(args, subject, check) : CLI_USAGE;
    shapeproof_check_free(check);
    return status;
}

/* The components of the pipeline that is given in place of a configuration, a folder or its model_index.json, or in
 * whose folder the file lies; NULL for anything else, or with the error. Free with shapeproof_components_free. */
static struct shapeproof_components *pipeline_of(const struct cli_args *args, const char *path,
                                                 struct shapeproof_error *error)
{
    static const char list[] = "model_index.json";
    const char *given = cli_value(args, "config", path), *last = strrchr(given, '/');
    const char *file = last ? last + 1 : given;
    char folder[4096];
    if (given == path || strcmp(file, list) == 0)
        snprintf(folder, sizeof folder, "%.*s", (int)(file - given), file > given ? given : "");
    else snprintf(folder, sizeof folder, "%s", given);
    struct shapeproof_components *components = shapeproof_components_open(*folder ? folder : ".", error);
    if (components && shapeproof_component_count(components)) return components;
    shapeproof_components_free(components);
    return NULL;
}

/* An adapter of a pipeline, and its components as bases; false when it is not that, or when there is a configuration.
 * A pipeline whose list cannot be read is an error. */
static bool check_with_pipeline(const struct cli_args *args, const char *path,
                                const struct shapeproof_inventory *inventory, int *status)
{
    bool consistent;
    struct shapeproof_error error = {0};
    if (cli_value(args, "table", NULL) || cli_value(args, "set", NULL) || cli_value(args, "claims", NULL)) return false;
    char *adapter = shapeproof_adapter_describe(inventory, &consistent);
    struct shapeproof_components *components = adapter ? pipeline_of(args, path, &error) : NULL;
    const bool failed = error.status != SHAPEPROOF_OK;
    if (components) *status = cli_check_adapter(args, inventory, components);
    else if (failed) *status = cli_error_about(cli_value(args, "config", path), &error);
    shapeproof_components_free(components);
    shapeproof_free(adapter);
    return components || failed;
}

/* With the configuration that is given, or the one that the search finds. A pipeline in place of a configuration comes
 * before the base that an adapter names. */
static int check_inventory(const struct cli_args *args, const char *path, const struct shapeproof_inventory *inventory)
{
    struct cli_subject subject;
    struct shapeproof_expectations *expectations = NULL;
    struct shapeproof_error error = {0};
    const bool inside = shapeproof_config_is_inside(inventory, cli_value(args, "table", NULL));
    char *beside = inside ? NULL : shapeproof_config_beside(path, &error);
    const bool alone = !inside && !beside;
    int status = CLI_OK;
    shapeproof_free(beside);
    if (error.status != SHAPEPROOF_OK && error.status != SHAPEPROOF_ERR_UNKNOWN) return cli_error_about(path, &error);
    if (alone && check_with_pipeline(args, path, inventory, &status)) return status;
    status = cli_subject_open_for(&subject, args, path, inventory);
    if (status == CLI_OK) status = cli_add_claims(&subject, args);
    if (status == CLI_OK) status = cli_load_expectations(args, &expectations);
    if (status == CLI_OK) status = check_subject(args, &subject, inventory, expectations);
    shapeproof_expectations_free(expectations);
    cli_subject_close(&subject);
    return status;
}

static int complain_of_several(const char *path)
{
    return cli_usage_error(NULL, "check: --fit is about one model, and %s has several", path);
}

/* What the first operand names, one checkpoint or several; no run. */
static int check_checkpoint(const struct cli_args *args)
{
    struct shapeproof_error error = {0};
    struct shapeproof_components *components = shapeproof_components_open(args->operands[0], &error);
    if (!components) return cli_path_error(args->operands[0], &error);
    const bool is_one = cli_is_about_one(args, components);
    const int status = is_one                         ? cli_with_checkpoint(args, check_inventory)
                       : cli_value(args, "fit", NULL) ? complain_of_several(args->operands[0])
                                                      : cli_check_components(args, components);
    shapeproof_components_free(components);
    return status;
}

/* What the first operand names: a run, one checkpoint or several. */
static int check_operand(const struct cli_args *args)
{
    if (args->run && cli_value(args, "fit", NULL)) return complain_of_several(args->operands[0]);
    return args->run ? cli_check_run(args, args->run, check_checkpoint) : check_checkpoint(args);
}

/* --fit goes with the reports that have its terms; the other options about the memory go with --fit. */
static bool fit_options_agree(const struct cli_args *args)
{
    static const char *const of_fit[] = {"tokens", "source-tokens", "batch", "cache-dtype"};
    const bool fits = cli_value(args, "fit", NULL);
    const char *format = NULL;
    size_t position = 0;
    for (size_t i = 0; !fits && i < sizeof of_fit / sizeof *of_fit; i++)
        if (cli_value(args, of_fit[i], NULL)) {
            cli_usage_error("--fit 24GiB", "check: --%s goes with --fit", of_fit[i]);
            return false;
        }
    while (fits && (format = cli_next_value(args, "format", &position)))
        if (strncmp(format, "text", strlen("text")) != 0 && strncmp(format, "json", strlen("json")) != 0) {
            cli_usage_error(NULL, "check: --fit goes with text and JSON, not with --format %s", format);
            return false;
        }
    if (!fits || !cli_flag_alone(args, "resume")) return true;
    cli_usage_error(NULL, "check: --fit does not go with --resume");
    return false;
}

static int run_check(const struct cli_args *args)
{
    if (!fit_options_agree(args)) return CLI_USAGE;
    if (cli_asks_for_list(args)) return cli_run_list(args, check_operand);
    if (args->operand_count && cli_flag_alone(args, "resume")) return cli_check_resume(args);
    if (args->operand_count) return check_operand(args);
    cli_complain_of_too_few(args);
    return CLI_USAGE;
}

static const struct cli_term statuses[] = {
    {"0", "the verdict is match or explained, and the loader that would read this file loads it whole; with --for, "
          "each named loader loads the file whole; with --for=none, the verdict is match or explained"},
    {"1", "the verdict is differs, a loader does not load the file whole, a claim of --claims fails, or the model does "
          "not fit in the memory of --fit; with "
          "--strict, also if the verdict is explained or there is a warning; with --resume: training cannot go on"},
    {"2", CLI_USAGE_STATUS},
    {"3", "a table, a configuration, a file of claims or a file of expected differences is wrong"},
    {"4", "a checkpoint is unreadable or malformed, could not be fetched, or the report could not be written"},
    {"5",
     "there is no table for the architecture, there is no configuration, a part of the model cannot be checked, or "
     "a claim of --claims cannot be evaluated, or it is not known whether the model fits; with --for, it is not known "
     "whether a named loader loads the file whole; with --resume, the optimizer or the steps cannot be judged, or PATH "
     "is no checkpoint of a training"},
    {NULL, NULL},
};

const struct cli_command cli_check = {
    .name = "check",
    .summary = "compare a checkpoint with the tensors that its configuration implies",
    .operands = "PATH",
    .description =
        "Reads the checkpoint at PATH (a file, a directory, or an index), predicts its tensors from a "
        "configuration, and compares names, shapes, dtypes and ties. The configuration is the config.json beside "
        "the checkpoint, or is given by --config, --model, --table and --set. GGUF files, Keras models, and the "
        "checkpoints of some training programs contain their configuration. Only headers are read. With --data, "
        "the data of some tensors are read and compared, too: tied tensors that are stored twice, and tensors of "
        "equal shape that could be tied.\n"
        "\n"
        "The report begins with the verdict and its reason. The verdict is 'match', 'explained', 'differs' or "
        "'unknown'. It is 'explained' if every difference has a harmless cause, such as a prefix of all names. It "
        "is 'unknown' if a part of the model cannot be checked and the rest matches. The causes come next. A "
        "hyper-parameter is reported as a cause only if a prediction with another value of it removes differences. "
        "Other causes are inferred from names and shapes. The findings, which are the single differences, come "
        "last. Names that differ only in their indices share a line: layers.{0-4,20-31} stands for exactly these "
        "indices.\n"
        "\n"
        "The exit status is 0 for match and explained, 1 for differs, and 5 for unknown. It is 1 for any verdict if "
        "the loader that would read this file does not load it whole. It is also 5 if there is no configuration, or "
        "no table for the architecture.\n"
        "\n"
        "A directory with a model_index.json (a pipeline of diffusers) or a modules.json (sentence-transformers) "
        "may hold several models. Each model that has weights is compared with the configuration in its folder. Its "
        "verdict is one line of the report, and its own report follows if it differs. A listed model that does not "
        "exist is a difference. The exit status is the worst of all models; from worst to best, these are 4, 3, 1, "
        "5, 0. The options --config, --set, --table, --claims, --expect and --vocabulary are for one model and are "
        "an error here. There is one exception: if a directory of sentence-transformers has a model at its top, "
        "these options select that model, and the others are not checked.\n"
        "\n"
        "A folder that contains the steps of a training run (checkpoint-500, epoch=3-step=12.ckpt) is checked as a "
        "run. The report is a table of the steps and their files; it says what each file is, whether it is whole, "
        "and the verdict of each model. It names the last and the best step. The options apply to each model. The "
        "exit status is the worst of all models, where a broken file counts as 1, and a run without a model as 5.\n"
        "\n"
        "With --claims FILE, the claims in FILE about the table of the checkpoint are evaluated too, as 'prove "
        "--checkpoint' does. If one fails, the exit status is 1. If one cannot be evaluated, the exit status is 5 in "
        "place of 0.\n"
        "\n"
        "An adapter (LoRA and similar) is compared with the configuration of its base model. --config gives this "
        "configuration; it may also be a pipeline of diffusers. Without --config, the config.json beside the "
        "adapter is used. If there is none, the config.json of the base model is used, provided that "
        "adapter_config.json names a local folder, or a model in the cache of the Hugging Face hub.\n"
        "\n"
        "With --resume and without --list, the report is about training: whether it can go on from the checkpoint of "
        "Trainer, accelerate, Lightning, DeepSpeed, verl or torch.distributed.checkpoint at PATH. Each statement about "
        "the model, the optimizer, the scheduler, the random states, the ranks and the steps is right, wrong or "
        "unknown. "
        "The exit status is 0 if training can go on, and 1 if a statement is wrong. It is 5 if no statement is wrong, "
        "but the optimizer or the steps could not be judged. It is also 5 if PATH is a folder without the files of "
        "these programs, or a file without an optimizer.\n"
        "\n"
        "The checkpoint may be remote: hf://ORG/NAME[@REVISION][/PATH] on the Hugging Face hub, or https://... Only "
        "headers are fetched, into a cache; HDF5 files and some small files are fetched whole. --data is refused.\n"
        "\n"
        "A file that matches may still not load. A loader loads a file whole if it newly initialises no parameter, "
        "drops no tensor, and finds no tensor of another shape than it expects. If it is known which loader the "
        "file is for, a line of the report says what this loader initialises and drops. --for reports on other "
        "loaders. A loader finds a file in a directory by its name: model.safetensors, pytorch_model.bin, or an "
        "index of their shards, beside a config.json. For a file of such a name, the exit status is 0 only if the "
        "loader loads it whole. For a file of another name, and with --for none, the verdict alone determines the "
        "exit status. With --for LOADER the verdict has no effect: the exit status is 0 if each loader loads the "
        "file whole, 1 if one does not, and 5 if that is not known.\n"
        "\n"
        "With --list, every checkpoint of a list is checked in a process of its own. An error or a crash is "
        "recorded, and the run continues. When a check ends, its report, with the path and the exit status, is "
        "written as a line of JSON. Empty lines of the list, lines that begin with '#' and repeated paths are "
        "skipped. --resume FILE appends the lines to FILE and skips paths that have a line there. A check that "
        "takes longer than --timeout seconds is ended and recorded as unreadable. At the end, standard error has "
        "the number of checkpoints with each verdict. The exit status is the worst of all checkpoints; from worst "
        "to best, these are 2 (the list is wrong, or the options do not fit a checkpoint), 4, 3, 1, 5, 0.\n"
        "\n"
        "--format html writes a page that needs neither a network nor scripts: the verdict, causes and findings, the "
        "formula of each group of the table with its numbers, and for each tensor what is predicted and stored. In a "
        "browser with scripts it also has a map of the tensors and a search. With --list, and for a directory of "
        "several "
        "models, one page has a table of all models, and the report of each.\n"
        "\n"
        "--format sarif and --format junit write a document for CI systems. SARIF 2.1.0 has a result for each cause "
        "and finding; JUnit XML has a test case for each checkpoint. The document also has the checkpoints that "
        "cannot be checked. With --list, --format sarif, junit and markdown write one document about all "
        "checkpoints at the end.",
    .least = 0,
    .most = 1,
    .checkpoints = true,
    .runs = true,
    .options = options,
    .examples = examples,
    .statuses = statuses,
    .run = run_check,
};
