/* SPDX-License-Identifier: MIT
 * shapeproof solve: which hyper-parameter explains a total. */
#include "cli/subject.h"

#include <stdlib.h>
#include <string.h>

static const struct cli_option options[] = {
    {.name = "total", .letter = 'n', .argument = "N", .help = "the number of parameters to explain"},
    {.name = "rounds-to", .letter = 'r', .argument = "FIGURE", .help = "the number as it is printed: 65M, 1.5B"},
    {.name = "within", .argument = "PERCENT", .help = "with --total: how far from it an answer may be"},
    {.name = "group", .letter = 'g', .argument = "GROUP", .help = "of one group, not of the whole"},
    {CLI_OPTION_CONFIG},
    {CLI_OPTION_MODEL},
    {CLI_OPTION_SET},
    {CLI_OPTION_TABLE},
    {CLI_OPTION_JSON},
    {CLI_OPTION_COLOR},
    {CLI_OPTION_END},
};

static const struct cli_example examples[] = {
    {"shapeproof solve gpt2 --total 124439808 --set vocab_size=50000", "finds the vocabulary, 50257"},
    {"shapeproof solve gpt2 --total 350000000 --within 2%", "which single change makes it a model of 350M"},
    {"shapeproof solve attention_is_all_you_need --rounds-to 65M", "the vocabularies that fit the figure of the paper"},
    {NULL, NULL},
};

/* For --total or --rounds-to, one of which there is. */
static struct shapeproof_solutions *solve_total(const struct cli_args *args, const struct cli_subject *subject,
                                                double within, struct shapeproof_error *error)
{
    const struct shapeproof_solve_options what = {
        .table = subject->table_name,
        .group = cli_value(args, "group", NULL),
        .within = within,
    };
    const char *figure = cli_value(args, "rounds-to", NULL);
    if (figure) return shapeproof_solve_rounded(subject->tables, subject->config, figure, &what, error);
    return shapeproof_solve(subject->tables, subject->config, cli_number(args, "total", 0), &what, error);
}

/* Solves, and writes the report; exit status 1 when nothing gives the total. */
static int report_solutions(const struct cli_args *args, const struct cli_subject *subject)
{
    const struct shapeproof_report_options how = cli_report_options(args);
    struct shapeproof_error error = {0};
    if (!cli_value(args, "total", NULL) == !cli_value(args, "rounds-to", NULL))
        return cli_usage_error(NULL, "solve: either --total N or --rounds-to FIGURE is needed");
    const char *percent = cli_value(args, "within", NULL);
    char *end = NULL;
    const double within = percent ? strtod(percent, &end) : 0;
    if (percent && cli_value(args, "rounds-to", NULL))
        return cli_usage_error(NULL, "solve: --within goes with --total: --rounds-to is a range by itself");
    if (percent && (end == percent || (*end && strcmp(end, "%") != 0)))
        return cli_usage_error("--within 1%", "solve: --within needs a number of per cent, not '%s'", percent);
    struct shapeproof_solutions *solutions = solve_total(args, subject, within, &error);
    if (!solutions) return cli_error(&error);
    const bool found = shapeproof_solutions_count(solutions) > 0 || shapeproof_solutions_as_given(solutions);
    cli_put_report(shapeproof_report_solve(solutions, &how, NULL));
    shapeproof_solutions_free(solutions);
    return found ? CLI_OK : CLI_DIFFERS;
}

static int run_solve(const struct cli_args *args)
{
    struct cli_subject subject;
    int status = cli_subject_open(&subject, args, NULL);
    if (status == CLI_OK) status = cli_subject_take(&subject, args, cli_operand(args));
    if (status == CLI_OK) status = report_solutions(args, &subject);
    cli_subject_close(&subject);
    return status;
}

static const struct cli_term statuses[] = {
    {"0", "there is an answer"},
    {"1", "no value gives the total"},
    {"2", CLI_USAGE_STATUS},
    {"3", "a table or a configuration is wrong"},
    {"4", "the output could not be written"},
    {"5", "there is no table for the configuration"},
    {NULL, NULL},
};

const struct cli_command cli_solve = {
    .name = "solve",
    .summary = "find the hyper-parameter that, changed alone, gives a total",
    .operands = "[TABLE|MODEL]",
    .description =
        "Finds, for each hyper-parameter of TABLE, the values that give exactly N parameters, while all others are as "
        "--config, --set and the table's defaults say. With --rounds-to it finds the ranges of values whose total "
        "rounds to FIGURE; with --within, the ranges whose total is at most PERCENT away from N. Whole numbers, flags, "
        "and the numbers in a list are tried, one at a time. Flags come first, "
        "then powers of two, multiples of 64, multiples of 8, small numbers, other numbers; within each class, values "
        "closest to the current one come first. The exit status is 1 when nothing gives the total.",
    .least = 0,
    .most = 1,
    .options = options,
    .examples = examples,
    .statuses = statuses,
    .run = run_solve,
};
