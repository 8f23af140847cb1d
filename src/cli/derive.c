/* SPDX-License-Identifier: MIT
 * shapeproof derive: the closed forms of a table. */
#include "cli/near.h"
#include "cli/subject.h"

static const struct cli_option options[] = {
    {CLI_OPTION_CONFIG},
    {CLI_OPTION_MODEL},
    {CLI_OPTION_SET},
    {CLI_OPTION_TABLE},
    {.name = "measure",
     .argument = "active|cache|flops|activations",
     .help = "the formula of a measure instead: the parameters that a token uses, the bytes that are kept of earlier "
             "tokens, the operations of a forward pass, or the bytes that training keeps"},
    {.name = "latex", .help = "write the formulas in LaTeX"},
    {.name = "claims",
     .help = "write the formulas for all values of the flags as a file of claims for 'prove --claims'; needs a TABLE"},
    {.name = "python",
     .help = "write the formulas for all values of the flags as a Python function with a self-test; needs a TABLE"},
    {.name = "markdown", .help = "the same as --format markdown; with --latex, the formulas are in dollar signs"},
    {.name = "expanded", .help = "expand the formulas instead of collecting and factoring their terms"},
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
    {"shapeproof derive gpt2", "the number of parameters of GPT-2, for all sizes"},
    {"shapeproof derive llama --set num_hidden_layers=32", "with one hyper-parameter fixed"},
    {"shapeproof derive mixtral --measure flops", "the operations of a forward pass, for all sizes"},
    {"shapeproof derive gpt2 --claims > gpt2.claims", "a file of claims to start from"},
    {"shapeproof derive gpt2 --python > gpt2.py", "a function for a program; python3 gpt2.py tests it"},
    {NULL, NULL},
};

/* Derives, and writes the formulas; exit status. */
static int report_derivation(const struct cli_args *args, const struct cli_subject *subject)
{
    const struct shapeproof_derive_options what = {
        .table = subject->table_name,
        .notation = cli_flag(args, "latex") ? SHAPEPROOF_FORMULA_LATEX : SHAPEPROOF_FORMULA_TEXT,
        .measure = cli_value(args, "measure", NULL),
    };
    struct shapeproof_report_derive_options how = {.expanded = cli_flag(args, "expanded"),
                                                   .latex = cli_flag(args, "latex")};
    struct shapeproof_error error = {0};
    struct shapeproof_derivation *derivation = shapeproof_derive(subject->tables, subject->config, &what, &error);
    if (!derivation) return cli_no_formula(subject, &error);
    for (struct cli_output *to = NULL; (to = cli_next_output(to));) {
        how.report = cli_report_options(args, to);
        cli_put_report(to, shapeproof_report_derive(derivation, &how, NULL));
    }
    shapeproof_derivation_free(derivation);
    return CLI_OK;
}

/* Writes the formulas of the table for all cases: as claims, or as a Python function. */
static int derive_general(const struct cli_args *args)
{
    const bool python = cli_flag(args, "python");
    const char *option = python ? "--python" : "--claims";
    struct cli_subject subject;
    struct shapeproof_error error = {0};
    char *text = NULL;
    if (cli_value(args, "config", NULL) || cli_value(args, "model", NULL) || cli_value(args, "set", NULL) ||
        cli_format_beside_text(args))
        return cli_usage_error(NULL,
                               "%s is for all hyper-parameters, and writes text: it takes no --config, --model, --set "
                               "or --format",
                               option);
    int status = cli_subject_open_tables(&subject, args);
    const char *name = cli_operand(args);
    const char *table = name && subject.tables ? cli_table_called(subject.tables, name) : subject.table_name;
    if (status == CLI_OK && name && !table) status = cli_complain_of_name(&subject, args, name);
    else if (status == CLI_OK && !table)
        status = cli_usage_error("shapeproof derive gpt2 --claims", "%s needs the name of a table", option);
    if (status == CLI_OK)
        text = (python ? shapeproof_derive_python : shapeproof_derive_claims)(subject.tables, table, NULL, &error);
    if (text) cli_put_text(stdout, text);
    else if (status == CLI_OK) status = cli_error(&error);
    shapeproof_free(text);
    cli_subject_close(&subject);
    return status;
}

static int run_derive(const struct cli_args *args)
{
    struct cli_subject subject;
    if (cli_flag(args, "claims") && cli_flag(args, "python"))
        return cli_usage_error(NULL, "--claims and --python exclude each other");
    if (cli_value(args, "measure", NULL) && (cli_flag(args, "claims") || cli_flag(args, "python")))
        return cli_usage_error(NULL, "--claims and --python are about the parameters: they take no --measure");
    if (cli_flag(args, "claims") || cli_flag(args, "python")) return derive_general(args);
    if (!cli_subject_is_given(args, "shapeproof derive gpt2")) return CLI_USAGE;
    int status = cli_subject_open(&subject, args, NULL);
    if (status == CLI_OK) status = cli_subject_take(&subject, args, cli_operand(args));
    if (status == CLI_OK && !subject.is_named) status = cli_subject_fit(&subject, NULL);
    if (status == CLI_OK && !cli_settings_are_known(&subject, args)) status = CLI_USAGE;
    if (status == CLI_OK) status = report_derivation(args, &subject);
    cli_subject_close(&subject);
    return status;
}

static const struct cli_term statuses[] = {
    {"0", "the formulas were printed"},
    {"2", CLI_USAGE_STATUS},
    {"3", "a table or a configuration is wrong"},
    {"4", "the output could not be written"},
    {"5", "there is no table for the configuration, or no formula for the table"},
    {NULL, NULL},
};

const struct cli_command cli_derive = {
    .name = "derive",
    .summary = "print the number of parameters of a table as a formula",
    .operands = "[TABLE|MODEL]",
    .description =
        "Prints the number of parameters of each group of TABLE, and of the whole table, as a formula in the "
        "hyper-parameters. The formulas are for the default values of all flags. Below the total, lines such as 'if "
        "not tied' say what another value of a flag changes. Buffers and tensors that are tied to another do not "
        "count. Terms that are not polynomials, such as a minimum or the number of layers of one kind, are left as "
        "they are. If --config, --set or the name of a published MODEL gives the value of a hyper-parameter, the "
        "formulas contain the value.\n"
        "\n"
        "With --claims the formulas are for all values of the flags. In these formulas a flag stands for 1 if it is "
        "true and for 0 otherwise. The same holds for a condition in brackets, such as [n < 2]. 'prove --claims' "
        "proves these formulas. If the table or a formula is changed later so that they no longer agree, 'prove "
        "--claims' refutes "
        "the formula.\n"
        "\n"
        "If a formula is longer than 100 characters, two things are abbreviated: a part that occurs several times "
        "becomes x_1, and a hyper-parameter without a letter in the table becomes its initials. A list below the "
        "formulas explains both.",
    .least = 0,
    .most = 1,
    .options = options,
    .examples = examples,
    .statuses = statuses,
    .run = run_derive,
};
