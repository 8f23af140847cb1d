/* SPDX-License-Identifier: MIT
 * shapeproof prove: published formulas against tables. */
#include "cli/list.h"
#include "cli/near.h"
#include "cli/subject.h"

#include <stdlib.h>
#include <string.h>

static const struct cli_option options[] = {
    {CLI_OPTION_CLAIMS},
    {.name = "claim",
     .argument = "TEXT",
     .help = "a claim, such as 'total = V*E', or a definition for the claims, such as 'd = n_embd'; may be repeated"},
    {.name = "checkpoint", .letter = 'k', .argument = "PATH", .help = "evaluate the claims for this checkpoint"},
    {.name = "infer",
     .help = "with --checkpoint: infer the table and the hyper-parameters from names and shapes, as the command "
             "infer does"},
    {.name = "alone",
     .help = "with --checkpoint: use no table; claims take sizes and counts from the file, such as 'E = "
             "dim(wte.weight, 1)'"},
    {CLI_OPTION_CONFIG},
    {CLI_OPTION_MODEL},
    {CLI_OPTION_SET},
    {.name = "at",
     .argument = "POINT",
     .help = "evaluate at the hyper-parameters of a counter-example, written as prove prints it: 'E = 1, N = 1, the "
             "others 1'"},
    {CLI_OPTION_TABLE},
    {CLI_OPTION_VOCABULARY},
    {.name = "allow",
     .argument = "proved|tested",
     .help = "with tested, a claim that is only TESTED counts as proved; with proved (the default), it does not"},
    {.name = "explain",
     .help = "print the proof of every verdict: the polynomials of both sides, for each case; not with a checkpoint or "
             "hyper-parameters"},
    {.name = "all",
     .letter = 'a',
     .help = "list also the claims that are proved; with --checkpoint, also errata and claims that are not about "
             "its hyper-parameters"},
    {CLI_OPTION_OFFLINE},
    {CLI_OPTION_LIMIT},
    {CLI_OPTION_LIST},
    {CLI_OPTION_RESUME},
    {CLI_OPTION_JOBS},
    {CLI_OPTION_TIMEOUT},
    {CLI_OPTION_FORMAT("text|json|jsonl|markdown|csv|html|sarif|junit")},
    {CLI_OPTION_JSON},
    {CLI_OPTION_OUTPUT},
    {CLI_OPTION_QUIET},
    {CLI_OPTION_COLOR},
    {CLI_OPTION_NO_PAGER},
    {CLI_OPTION_NO_PROGRESS},
    {CLI_OPTION_END},
};

static const struct cli_example examples[] = {
    {"shapeproof prove", "every claim about every table"},
    {"shapeproof prove --all gpt2", "every claim about one table, even those that are proved"},
    {"shapeproof prove --claims paper.shapes", "the formulas of a paper"},
    {"shapeproof prove gpt2 --claim 'total = V*E + 12*L*d^2'", "a formula of your own"},
    {"shapeproof prove gpt2-xl --claim 'total = V*d + 12*L*d^2'", "what a formula gives for a published model"},
    {"shapeproof prove --checkpoint model/ --claim 'total = V*d + P*d + 12*L*d^2 + 13*L*d + 2*d'",
     "whether a formula gives what a checkpoint stores"},
    {"shapeproof prove --list models.txt --claims paper.shapes", "the formulas of a paper for many checkpoints"},
    {NULL, NULL},
};

/* The name that stands for a file of the claims of --claim. */
static const char given_claims[] = "--claim";

/* Adds the claims of --claim, which are about that table. *letters is as shapeproof_tables_add_claims has it. */
static int add_given_claims(const struct cli_args *args, struct cli_subject *subject, const char *table, char **letters)
{
    struct shapeproof_error error = {0};
    const char **items = calloc(args->given_count + 1, sizeof *items);
    if (!items) cli_out_of_memory();
    struct shapeproof_claim_lines lines = {.name = given_claims, .items = items};
    for (size_t position = 0; (items[lines.count] = cli_next_value(args, "claim", &position)) != NULL;) lines.count++;
    int status = CLI_OK;
    if (lines.count && shapeproof_tables_add_claims(subject->tables, table, &lines, letters, &error) != SHAPEPROOF_OK)
        status = cli_lines_error(subject, &error);
    free(items);
    return status;
}

/* The files of --claims, and what stands for that of --claim: where the claims stand that are judged. Free it. */
static const char **claim_files(const struct cli_args *args, size_t *count)
{
    const char **files = calloc(args->given_count + 1, sizeof *files);
    if (!files) cli_out_of_memory();
    *count = 0;
    for (size_t position = 0; (files[*count] = cli_next_value(args, "claims", &position)) != NULL;) ++*count;
    if (cli_value(args, "claim", NULL)) files[(*count)++] = given_claims;
    return files;
}

/* The claims of --claims and --claim; else those about the tables that are named; else all. */
static struct shapeproof_proofs *judge_claims(const struct cli_args *args, const struct cli_subject *subject,
                                              struct shapeproof_error *error)
{
    struct shapeproof_prove_options what = {.tables = args->operands,
                                            .table_count = args->operand_count,
                                            .allow_tested = strcmp(cli_value(args, "allow", "proved"), "tested") == 0,
                                            .explain = cli_flag(args, "explain"),
                                            .watch = cli_watch(args)};
    const char **files = claim_files(args, &what.file_count);
    if (!what.table_count && subject->table_name) {
        what.tables = &subject->table_name;
        what.table_count = 1;
    }
    what.files = files;
    if (what.table_count && !cli_value(args, "claim", NULL)) what.file_count = 0;
    cli_warn_of_claims(subject->tables);
    cli_begin_step("proving");
    struct shapeproof_proofs *proofs = shapeproof_prove(subject->tables, &what, error);
    free(files);
    return proofs;
}

/* 1 when a claim is refuted, or an erratum is not; 5 when that is not known of one. The built-in figures that are wrong
 * are known to be: only one without a verdict changes the status. `figures` may be NULL. */
static int status_of(const struct shapeproof_proofs *proofs, const struct shapeproof_figures *figures)
{
    int status = CLI_OK;
    for (size_t i = 0; figures && i < shapeproof_figures_count(figures); i++)
        if (shapeproof_figures_get(figures, i)->verdict == SHAPEPROOF_UNDECIDED) status = CLI_UNKNOWN;
    for (size_t i = 0; i < shapeproof_proofs_count(proofs); i++) {
        const struct shapeproof_proof *proof = shapeproof_proofs_get(proofs, i);
        const bool known = proof->verdict == SHAPEPROOF_PROVED || proof->verdict == SHAPEPROOF_REFUTED;
        if (!proof->as_expected && known) return CLI_DIFFERS;
        if (!proof->as_expected) status = CLI_UNKNOWN;
    }
    return status;
}

static const char as_usual[] = ", as usual in publications\n\n";

/* Writes the verdicts on claims, and on figures if there are any (or NULL); above text and Markdown, what the letters
 * of --claim stand for, if any were added (or NULL). */
static void put_proofs(const struct cli_args *args, const struct shapeproof_proofs *proofs,
                       const struct shapeproof_figures *figures, const char *letters)
{
    for (struct cli_output *to = NULL; (to = cli_next_document(to));) {
        const struct shapeproof_report_options how = cli_report_options(args, to);
        cli_keep_part(to, shapeproof_report_book(proofs, figures, &how, NULL));
    }
    for (struct cli_output *to = NULL; (to = cli_next_output(to));) {
        struct shapeproof_report_options how = cli_report_options(args, to);
        if (cli_is_document(to->format)) continue;
        how.all = how.all || cli_flag(args, "explain");
        if (letters && (how.format == SHAPEPROOF_REPORT_TEXT || how.format == SHAPEPROOF_REPORT_MARKDOWN)) {
            const char *mark = how.format == SHAPEPROOF_REPORT_MARKDOWN ? "`" : "";
            cli_put_part(to, mark, strlen(mark));
            cli_put_part(to, letters, strlen(letters));
            cli_put_part(to, mark, strlen(mark));
            cli_put_part(to, as_usual, strlen(as_usual));
        }
        cli_put_report(to, shapeproof_report_book(proofs, figures, &how, NULL));
    }
}

/* The figures that publications print, where neither tables nor claims are selected; *figures is NULL otherwise. False
 * after an error was printed. */
static bool judge_figures(const struct cli_args *args, struct cli_subject *subject, struct shapeproof_figures **figures)
{
    const bool is_selected = args->operand_count || subject->table_name || cli_value(args, "claims", NULL);
    struct shapeproof_error error = {0};
    *figures = NULL;
    if (is_selected) return true;
    const struct shapeproof_models *models = cli_subject_models(subject);
    const struct shapeproof_figures_options what = {.watch = cli_watch(args)};
    if (!models) return false;
    cli_begin_step("judging printed figures");
    *figures = shapeproof_figures_new(subject->tables, models, &what, &error);
    if (!*figures) cli_error(&error);
    return *figures != NULL;
}

/* Judges, and writes the report; exit status. `letters` is as put_proofs has it. */
static int report_proofs(const struct cli_args *args, struct cli_subject *subject, const char *letters)
{
    struct shapeproof_error error = {0};
    struct shapeproof_figures *figures = NULL;
    struct shapeproof_proofs *proofs = judge_claims(args, subject, &error);
    if (!proofs) return cli_error(&error);
    if (!shapeproof_proofs_count(proofs) && cli_value(args, "claims", NULL) && !args->operand_count) {
        shapeproof_proofs_free(proofs);
        return cli_complain(CLI_UNKNOWN, "claims for checkpoint are held against one with --checkpoint",
                            "%s: there is no claim about a table in it", cli_value(args, "claims", NULL));
    }
    const bool is_judged = judge_figures(args, subject, &figures);
    const int status = is_judged ? status_of(proofs, figures) : CLI_TABLE;
    if (is_judged) put_proofs(args, proofs, figures, letters);
    shapeproof_figures_free(figures);
    shapeproof_proofs_free(proofs);
    return status;
}

/* The one table that --claim is about; NULL after a complaint. */
static const char *table_of_claims(const struct cli_args *args, const struct cli_subject *subject)
{
    if (args->operand_count == 1) return args->operands[0];
    if (!args->operand_count && subject->table_name) return subject->table_name;
    cli_usage_error("shapeproof prove gpt2 --claim 'total = V*E'",
                    "--claim needs one table that it is about, or --checkpoint");
    return NULL;
}

/* 1 when a claim fails; 5 when one cannot be told, or none is about this model. */
static int status_of_verification(const struct shapeproof_verification *verification)
{
    const enum shapeproof_claim_answer answer = shapeproof_verification_answer(verification);
    if (answer == SHAPEPROOF_CLAIM_FAILS) return CLI_DIFFERS;
    return answer == SHAPEPROOF_CLAIM_HOLDS ? CLI_OK : CLI_UNKNOWN;
}

/* Writes the report, and frees the verification; NULL: the error is printed. Exit status. */
static int report_verified(const struct cli_args *args, struct shapeproof_verification *verification,
                           const struct shapeproof_report_verify_options *about, const struct shapeproof_error *error)
{
    struct shapeproof_report_verify_options how = *about;
    if (!verification) return cli_error(error);
    const int status = status_of_verification(verification);
    for (struct cli_output *to = NULL; (to = cli_next_document(to));) {
        how.report = cli_report_options(args, to);
        if (cli_is_document(to->format)) cli_keep_part(to, shapeproof_report_verify(verification, &how, NULL));
    }
    for (struct cli_output *to = NULL; (to = cli_next_output(to));) {
        how.report = cli_report_options(args, to);
        if (!cli_is_document(to->format)) cli_put_report(to, shapeproof_report_verify(verification, &how, NULL));
    }
    shapeproof_verification_free(verification);
    return status;
}

/* ---- at hyper-parameters ---- */

/* Adds the figure of a published model as a claim, "total rounds to 1558M". */
static int add_published_claim(struct cli_subject *subject, const char *table)
{
    struct shapeproof_error error = {0};
    char claim[64];
    char *letters = NULL;
    const char *line = claim, *name = shapeproof_config_model(subject->config);
    if (!*name) return CLI_OK;
    const struct shapeproof_models *models = cli_subject_models(subject);
    const struct shapeproof_model *model = models ? shapeproof_models_find(models, name) : NULL;
    if (!model || !model->published) return CLI_OK;
    const struct shapeproof_claim_lines lines = {.name = model->file, .items = &line, .count = 1};
    int status = CLI_OK;
    snprintf(claim, sizeof claim, "claim total rounds to %s", model->published);
    if (shapeproof_tables_add_claims(subject->tables, table, &lines, &letters, &error) != SHAPEPROOF_OK)
        status = cli_lines_error(subject, &error);
    shapeproof_free(letters);
    return status;
}

/* Evaluates the claims about the table of the prediction at its hyper-parameters. */
static int report_values(const struct cli_args *args, struct cli_subject *subject,
                         const struct shapeproof_prediction *prediction, const char *letters)
{
    const char *model = shapeproof_config_model(subject->config);
    const struct shapeproof_report_verify_options about = {.path = *model ? model : NULL, .letters = letters};
    struct shapeproof_verify_options what = {.files = NULL};
    struct shapeproof_error error = {0};
    const char **files = claim_files(args, &what.file_count);
    what.files = files;
    cli_warn_of_claims(subject->tables);
    cli_begin_step("evaluating claims");
    struct shapeproof_verification *verification =
        shapeproof_verify_values(prediction, subject->config, subject->tables, &what, &error);
    free(files);
    return report_verified(args, verification, &about, &error);
}

/* Holds the claims about a table against its prediction at the given hyper-parameters, and writes the report; exit
 * status. */
static int verify_values(const struct cli_args *args, struct cli_subject *subject)
{
    const struct shapeproof_predict_options what = {.table = subject->table_name};
    struct shapeproof_error error = {0};
    char *letters = NULL;
    struct shapeproof_prediction *prediction = shapeproof_predict(subject->tables, subject->config, &what, &error);
    if (!prediction) return cli_no_prediction(subject, &what, &error);
    const char *table = shapeproof_prediction_table(prediction);
    const bool is_read = cli_value(args, "at", NULL) || cli_settings_are_read(subject, prediction); /* `the others` */
    int status = is_read ? CLI_OK : CLI_USAGE;
    if (status == CLI_OK) status = add_given_claims(args, subject, table, &letters);
    const bool is_given = cli_value(args, "claim", NULL) || cli_value(args, "claims", NULL);
    if (status == CLI_OK && !is_given) status = add_published_claim(subject, table);
    if (status == CLI_OK) status = report_values(args, subject, prediction, letters);
    shapeproof_free(letters);
    shapeproof_prediction_free(prediction);
    return status;
}

/* Sets the hyper-parameters that --at gives, "E = 1, the others 1". */
static int set_point(struct cli_subject *subject, const char *point)
{
    struct shapeproof_error error = {0};
    if (!subject->table_name)
        return cli_usage_error("shapeproof prove gpt2 --at 'E = 1, the others 1'", "--at needs the name of a table");
    if (shapeproof_config_set_point(subject->config, subject->tables, subject->table_name, point, &error) ==
        SHAPEPROOF_OK)
        return CLI_OK;
    return cli_error(&error);
}

/* `prove` with hyper-parameters and without a checkpoint: for each claim what the formula gives, and the table. */
static int prove_values(const struct cli_args *args)
{
    struct cli_subject subject;
    if (args->operand_count > 1)
        return cli_usage_error(NULL, "hyper-parameters are those of one table: '%s' is too much", args->operands[1]);
    int status = cli_subject_open(&subject, args, NULL);
    if (status == CLI_OK) status = cli_add_claims(&subject, args);
    if (status == CLI_OK) status = cli_subject_take(&subject, args, cli_operand(args));
    if (status == CLI_OK) status = cli_subject_count_vocabulary(&subject, args);
    if (status == CLI_OK && cli_value(args, "at", NULL)) status = set_point(&subject, cli_value(args, "at", NULL));
    if (status == CLI_OK) status = verify_values(args, &subject);
    cli_subject_close(&subject);
    return status;
}

/* ---- of tables ---- */

/* Puts the name of the table that is meant in place of each operand; complains of one that is none. */
static int find_tables(const struct cli_args *args, struct cli_subject *subject)
{
    for (size_t i = 0; i < args->operand_count; i++) {
        const char *table = cli_table_called(subject->tables, args->operands[i]);
        if (!table) return cli_complain_of_name(subject, args, args->operands[i]);
        args->operands[i] = table;
    }
    return CLI_OK;
}

/* `prove` without a checkpoint: judges the claims of the tables that the operands name, or of all. An operand that is
 * the name of a published model stands for its table at its hyper-parameters. Exit status. */
static int prove_tables(const struct cli_args *args)
{
    struct cli_subject subject;
    char *letters = NULL;
    int status = cli_subject_open_tables(&subject, args);
    if (status == CLI_OK) status = cli_add_claims(&subject, args);
    if (status == CLI_OK && args->operand_count == 1 && cli_subject_take_model(&subject, args->operands[0])) {
        status = verify_values(args, &subject);
        cli_subject_close(&subject);
        return status;
    }
    if (status == CLI_OK && cli_writes(args, SHAPEPROOF_REPORT_HTML))
        status = cli_usage_error("shapeproof prove --checkpoint model/ --format html",
                                 "prove: --format html goes with --checkpoint, a MODEL or hyper-parameters");
    if (status == CLI_OK) status = find_tables(args, &subject);
    if (status == CLI_OK && cli_value(args, "claim", NULL)) {
        const char *table = table_of_claims(args, &subject);
        status = table ? add_given_claims(args, &subject, table, &letters) : CLI_USAGE;
    }
    if (status == CLI_OK) status = report_proofs(args, &subject, letters);
    shapeproof_free(letters);
    cli_subject_close(&subject);
    return status;
}

/* ---- against a checkpoint ---- */

/* Holds the claims against the checkpoint of the check, or, where that is NULL, against the inventory alone. */
static int report_verification(const struct cli_args *args, const struct cli_subject *subject,
                               const struct shapeproof_inventory *inventory, const struct shapeproof_check *check,
                               const struct shapeproof_report_verify_options *about)
{
    struct shapeproof_verify_options what = {.files = NULL};
    struct shapeproof_error error = {0};
    const char **files = claim_files(args, &what.file_count);
    what.files = files;
    cli_warn_of_claims(subject->tables);
    cli_begin_step("evaluating claims");
    struct shapeproof_verification *verification =
        check ? shapeproof_verify(check, subject->tables, &what, &error)
              : shapeproof_verify_alone(inventory, subject->tables, &what, &error);
    free(files);
    return report_verified(args, verification, about, &error);
}

/* Under the configuration of the subject, which is from an inference if that is not NULL. */
static int verify_under(const struct cli_args *args, const char *path, struct cli_subject *subject,
                        const struct shapeproof_inventory *inventory, const struct shapeproof_inference *inference)
{
    const struct shapeproof_check_options what = {.table = subject->table_name, .watch = cli_watch(args)};
    struct shapeproof_error error = {0};
    char *letters = NULL;
    cli_begin_step("checking %s", path);
    struct shapeproof_check *check = shapeproof_check_new(inventory, subject->tables, subject->config, &what, &error);
    if (!check) return cli_no_prediction(subject, &(struct shapeproof_predict_options){.table = what.table}, &error);
    const struct shapeproof_prediction *prediction = shapeproof_check_prediction(check);
    int status = cli_settings_are_read(subject, prediction) ? CLI_OK : CLI_USAGE;
    if (status == CLI_OK) status = add_given_claims(args, subject, shapeproof_prediction_table(prediction), &letters);
    if (status == CLI_OK)
        status = report_verification(
            args, subject, inventory, check,
            &(struct shapeproof_report_verify_options){.path = path, .letters = letters, .inference = inference});
    shapeproof_free(letters);
    shapeproof_check_free(check);
    return status;
}

static int verify_subject(const struct cli_args *args, const char *path, struct cli_subject *subject,
                          const struct shapeproof_inventory *inventory)
{
    return verify_under(args, path, subject, inventory, NULL);
}

static int verify_alone(const struct cli_args *args, const char *path, struct cli_subject *subject,
                        const struct shapeproof_inventory *inventory)
{
    char *letters = NULL;
    int status = add_given_claims(args, subject, "checkpoint", &letters);
    if (status == CLI_OK)
        status = report_verification(args, subject, inventory, NULL,
                                     &(struct shapeproof_report_verify_options){.path = path, .letters = letters});
    shapeproof_free(letters);
    return status;
}

/* With the table and the hyper-parameters that the names and shapes of the file tell. */
static int verify_inferred(const struct cli_args *args, const char *path, struct cli_subject *subject,
                           const struct shapeproof_inventory *inventory)
{
    const struct shapeproof_infer_options what = {.table = subject->table_name, .watch = cli_watch(args)};
    struct shapeproof_error error = {0};
    cli_begin_step("inferring the table of %s", path);
    struct shapeproof_inference *inference = shapeproof_infer(inventory, subject->tables, &what, &error);
    if (!inference) return cli_error(&error);
    subject->table_name = shapeproof_inference_table(inference);
    shapeproof_inference_configure(inference, subject->config);
    const int status = verify_under(args, path, subject, inventory, inference);
    shapeproof_inference_free(inference);
    return status;
}

/* Holds the claims against a file: alone, with inferred hyper-parameters, or with its configuration. */
static int verify_inventory(const struct cli_args *args, const char *path, const struct shapeproof_inventory *inventory)
{
    const bool alone = cli_flag(args, "alone"), inferred = cli_flag(args, "infer");
    struct cli_subject subject;
    int status = alone || inferred ? cli_subject_open_tables(&subject, args)
                                   : cli_subject_open_for(&subject, args, path, inventory);
    if (status == CLI_OK) status = cli_add_claims(&subject, args);
    if (status == CLI_OK)
        status = (alone ? verify_alone : inferred ? verify_inferred : verify_subject)(args, path, &subject, inventory);
    cli_subject_close(&subject);
    return status;
}

static int verify_operand(const struct cli_args *args) { return cli_with_checkpoint(args, verify_inventory); }

/* The same command, whose operands are checkpoints. */
static const struct cli_command on_checkpoints = {.name = "prove", .checkpoints = true, .options = options};

/* `prove --checkpoint PATH` and `prove --list FILE`: holds the claims against what a checkpoint stores; exit status. */
static int prove_checkpoints(const struct cli_args *args)
{
    const char *path = cli_value(args, "checkpoint", NULL);
    struct cli_args there = *args;
    if (cli_value(args, "at", NULL)) return cli_usage_error(NULL, "--at and a checkpoint exclude each other");
    if (args->operand_count)
        return cli_usage_error("--table NAME names another one",
                               "the configuration of a checkpoint tells its table: '%s' is too much",
                               args->operands[0]);
    const bool tells_values =
        cli_value(args, "config", NULL) || cli_value(args, "model", NULL) || cli_value(args, "set", NULL);
    if (cli_flag(args, "infer") && (cli_flag(args, "alone") || tells_values))
        return cli_usage_error(NULL, "--infer takes the place of --config, --model and --set, and --alone needs none "
                                     "of them");
    if (path && cli_asks_for_list(args)) return cli_usage_error(NULL, "--checkpoint and --list exclude each other");
    there.command = &on_checkpoints;
    if (!path) return cli_run_list(&there, verify_operand);
    there.operands = &path;
    there.operand_count = 1;
    return cli_run_found(&there, verify_operand);
}

/* Whether hyper-parameters are given. */
static bool gives_values(const struct cli_args *args)
{
    static const char *const options_with_values[] = {"config", "model", "set", "vocabulary", "at", NULL};
    for (size_t i = 0; options_with_values[i]; i++)
        if (cli_value(args, options_with_values[i], NULL)) return true;
    return false;
}

static int run_prove(const struct cli_args *args)
{
    static const char *const about_files[] = {"infer", "alone", NULL};
    if (cli_flag(args, "explain") &&
        (cli_value(args, "checkpoint", NULL) || cli_asks_for_list(args) || gives_values(args)))
        return cli_usage_error("give the claim with the name of its table alone",
                               "--explain is about proofs for all hyper-parameters");
    if (cli_value(args, "checkpoint", NULL) || cli_asks_for_list(args)) return prove_checkpoints(args);
    for (size_t i = 0; about_files[i]; i++)
        if (cli_flag(args, about_files[i]))
            return cli_usage_error(NULL, "--%s is about a checkpoint: it goes with --checkpoint or --list",
                                   about_files[i]);
    return gives_values(args) ? prove_values(args) : prove_tables(args);
}

static const struct cli_term statuses[] = {
    {"0", "every claim is proved, and every erratum refuted; with --checkpoint, every claim about its hyper-parameters "
          "holds"},
    {"1", "a claim is refuted, or an erratum is proved; with values of hyper-parameters or with --checkpoint, a claim "
          "fails"},
    {"2", CLI_USAGE_STATUS},
    {"3", "a table, a file of claims or a configuration is wrong"},
    {"4", "the checkpoint is unreadable or malformed, could not be fetched, or the output could not be written"},
    {"5", "a claim is undecided, or was only tested (unless --allow=tested); with --checkpoint, a claim cannot be "
          "evaluated, no claim is about these hyper-parameters, or there is no table or no configuration"},
    {NULL, NULL},
};

const struct cli_command cli_prove = {
    .name = "prove",
    .summary = "prove or refute formulas for the number of parameters of a table",
    .operands = "[TABLE...|MODEL]",
    .description =
        "Proves or refutes all claims about each TABLE, or with --claim only the given claim. If no TABLE is given, "
        "the claims are those in the files of --claims; without --claims, they are all built-in ones. Both sides of "
        "a claim are written as polynomials and subtracted. The verdict is PROVED if the claim holds for all "
        "hyper-parameters. It is REFUTED if the claim is false; the difference and a small counter-example are "
        "printed. It is TESTED if there is no proof, but the claim held at every tested point. Otherwise it is "
        "UNDECIDED, and the reason is printed.\n"
        "\n"
        "Without arguments, the figures that publications print about published models, such as 7.61B, are compared "
        "with the predictions, too. A figure is proved if the predicted number, rounded to the last digit of the "
        "figure, equals the figure. A figure is also proved if it is right by a convention, such as counting without "
        "the embedding. --all lists the figures and names the conventions. A refuted figure does not change the exit "
        "status.\n"
        "\n"
        "Claims are in table files, or in files of their own (--claims), which begin with 'claims for TABLE'. A "
        "claim that a publication makes in error is marked 'erratum': it must be refuted. The exit status is 1 if a "
        "claim is refuted or an erratum is proved. Otherwise it is 5 if a claim is undecided, or if one is TESTED "
        "and --allow tested is not given.\n"
        "\n"
        "With --explain, the proof follows each claim: the expanded polynomial of both sides, for each case of the "
        "conditions in the claim. A proof by cases also lists the assumption of each case. In an assumption such as "
        "'L = F + q1', q1 stands for any integer from 0 up.\n"
        "\n"
        "If a published MODEL or hyper-parameters (--config, --model or --set) are given, the claims about the "
        "table are evaluated at these hyper-parameters: the value of each formula is compared with the prediction "
        "of the table. Without --claim and --claims, the number of parameters that the authors of the model give is "
        "evaluated as a claim too.\n"
        "\n"
        "With --checkpoint, the claims about the table of a checkpoint are evaluated at its hyper-parameters, which "
        "are found in the same way as by 'check'. For each claim, three numbers are printed: the value of the formula, "
        "the prediction of the table, and the number that the file stores. If they differ, the report lists the terms "
        "and tensors that make up the difference. A claim HOLDS if the file stores what the formula gives; otherwise "
        "it FAILS. The words in parentheses behind the prediction say what is proved for all values of the "
        "hyper-parameters: 'PROVED when' is followed by conditions, which this checkpoint meets. In a claim of "
        "--claim, a letter that the table does not define has its usual meaning: d is the width, L the number of "
        "layers. Optional tensors and buffers do not count. A tied tensor counts once; if the file stores it twice, it "
        "counts twice in the stored number.\n"
        "\n"
        "With --infer, the table and the hyper-parameters are inferred from the names and shapes of the file. "
        "Values that names and shapes do not determine are listed as guessed.\n"
        "\n"
        "With --alone, no table and no configuration are needed: claims 'for checkpoint' and those of --claim take "
        "their values from the file. dim(NAME, 0) is the first dimension of the tensor NAME, and dim(NAME, 1) the "
        "second. count(NAME) is the number of tensors with this name, and elements(NAME) the number of their "
        "elements. In NAME, {i} stands for any number and * for any string.\n"
        "\n"
        "With --format html the result is a page that needs neither a network nor scripts: the claims, and the formula "
        "of each group of the table with its numbers.\n"
        "\n"
        "--format junit and --format sarif write a document for CI systems. In JUnit XML each claim is a test case: it "
        "fails if the claim is wrong, and is an error if that is not decided. SARIF 2.1.0 has a result for each such "
        "claim, at its line in its file. --format csv writes a row for each claim.\n"
        "\n"
        "With --list, the claims are evaluated for each checkpoint of a list, in a process of its own. A line of "
        "JSON is written for each checkpoint; with --format sarif, junit, markdown or html, one document about all of "
        "them at the end.",
    .least = 0,
    .most = CLI_MANY,
    .options = options,
    .examples = examples,
    .statuses = statuses,
    .run = run_prove,
};
