/* SPDX-License-Identifier: MIT
 * shapeproof prove: published formulas against tables. */
#include "cli/subject.h"

#include <stdlib.h>
#include <string.h>

static const struct cli_option options[] = {
    {.name = "claims", .argument = "FILE", .help = "claims of your own about tables; may be repeated"},
    {CLI_OPTION_TABLE},
    {.name = "allow",
     .argument = "proved|tested",
     .help = "what is good enough: a proof, which is the default, or that the claim held wherever it was tried"},
    {.name = "all", .letter = 'a', .help = "the claims that are proved too"},
    {CLI_OPTION_JSON},
    {CLI_OPTION_COLOR},
    {CLI_OPTION_END},
};

static const struct cli_example examples[] = {
    {"shapeproof prove", "every claim about every table"},
    {"shapeproof prove --all gpt2", "those about one table, the right ones too"},
    {"shapeproof prove --claims paper.shapes", "the formulas of a paper"},
    {NULL, NULL},
};

/* Files of claims are table files. */
static int add_claims(const struct cli_args *args, struct cli_subject *subject)
{
    const char *file;
    int status = CLI_OK;
    for (size_t position = 0; status == CLI_OK && (file = cli_next_value(args, "claims", &position)) != NULL;)
        status = cli_add_table_file(subject->tables, file);
    return status;
}

/* The claims about the tables that are named; else those of the claims' files; else all. */
static struct shapeproof_proofs *judge_claims(const struct cli_args *args, const struct cli_subject *subject,
                                              struct shapeproof_error *error)
{
    struct shapeproof_prove_options what = {.tables = args->operands,
                                            .table_count = args->operand_count,
                                            .allow_tested = strcmp(cli_value(args, "allow", "proved"), "tested") == 0};
    const char **files = calloc(args->given_count + 1, sizeof *files);
    if (!files) abort();
    if (!what.table_count && subject->table_name) {
        what.tables = &subject->table_name;
        what.table_count = 1;
    }
    if (!what.table_count) {
        for (size_t position = 0; (files[what.file_count] = cli_next_value(args, "claims", &position)) != NULL;)
            what.file_count++;
        what.files = files;
    }
    struct shapeproof_proofs *proofs = shapeproof_prove(subject->tables, &what, error);
    free(files);
    return proofs;
}

/* 1 when a claim is refuted, or an erratum is not; 5 when that is not known of one. */
static int status_of(const struct shapeproof_proofs *proofs)
{
    int status = CLI_OK;
    for (size_t i = 0; i < shapeproof_proofs_count(proofs); i++) {
        const struct shapeproof_proof *proof = shapeproof_proofs_get(proofs, i);
        const bool known = proof->verdict == SHAPEPROOF_PROVED || proof->verdict == SHAPEPROOF_REFUTED;
        if (!proof->as_expected && known) return CLI_DIFFERS;
        if (!proof->as_expected) status = CLI_UNKNOWN;
    }
    return status;
}

/* Judges, and writes the report; exit status. */
static int report_proofs(const struct cli_args *args, const struct cli_subject *subject)
{
    const struct shapeproof_report_options how = cli_report_options(args);
    struct shapeproof_error error = {0};
    struct shapeproof_proofs *proofs = judge_claims(args, subject, &error);
    if (!proofs) return cli_error(&error);
    const int status = status_of(proofs);
    cli_put_report(shapeproof_report_prove(proofs, &how, NULL));
    shapeproof_proofs_free(proofs);
    return status;
}

static int run_prove(const struct cli_args *args)
{
    struct cli_subject subject;
    int status = cli_subject_open_tables(&subject, args);
    if (status == CLI_OK) status = add_claims(args, &subject);
    if (status == CLI_OK) status = report_proofs(args, &subject);
    cli_subject_close(&subject);
    return status;
}

static const struct cli_term statuses[] = {
    {"0", "every claim is proved, and every erratum refuted"},
    {"1", "a claim is refuted, or an erratum is proved"},
    {"2", CLI_USAGE_STATUS},
    {"3", "a table, a file of claims or a configuration is wrong"},
    {"4", "the output could not be written"},
    {"5", "a claim is undecided, or was only tested (unless --allow=tested)"},
    {NULL, NULL},
};

const struct cli_command cli_prove = {
    .name = "prove",
    .summary = "prove or refute the formulas that are claimed of tables",
    .operands = "[TABLE]...",
    .description =
        "Judges every claim about each TABLE; when none is named, those of the files in --claims, or else every claim "
        "about every table. Both sides of a claim are brought to one polynomial and subtracted: PROVED holds for all "
        "hyper-parameters; REFUTED comes with the difference and the "
        "smallest counter-example; TESTED held at every point that was tried, where no proof was possible; UNDECIDED "
        "says "
        "why.\n"
        "\n"
        "Claims stand in table files, or in files of their own (--claims) that begin with 'claims for TABLE'. A "
        "published error is marked 'erratum': it must be refuted. The exit status is 1 when a claim is refuted that is "
        "not marked, or a marked one holds; otherwise 5 when a claim is undecided, or only tested without --allow "
        "tested.",
    .least = 0,
    .most = CLI_MANY,
    .options = options,
    .examples = examples,
    .statuses = statuses,
    .run = run_prove,
};
