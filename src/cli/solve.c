/* SPDX-License-Identifier: MIT
 * shapeproof solve: which hyper-parameter explains a total; or which values of several together. */
#include "cli/subject.h"

#include <stdlib.h>
#include <string.h>

static const struct cli_option options[] = {
    {.name = "total", .letter = 'n', .argument = "N", .help = "the number of parameters to explain"},
    {.name = "rounds-to",
     .letter = 'r',
     .argument = "FIGURE",
     .help = "the number of parameters as a publication prints it: 65M, 1.5B"},
    {.name = "within", .argument = "PERCENT", .help = "with --total: by how much a total may differ from N"},
    {.name = "at-most",
     .argument = "SIZE",
     .help = "in place of --total: all numbers up to SIZE, such as 7B, or 16GiB with --measure"},
    {.name = "measure",
     .argument = "EXPRESSION",
     .help = "an expression that has the value N, in place of the number of parameters, such as "
             "'cache(tokens=8192, dtype=bf16)'; its numbers 'tokens', 'batch', 'source_tokens' and 'rank' are solved "
             "for as well"},
    {.name = "group",
     .letter = 'g',
     .argument = "GROUP",
     .help = "count the parameters of one group instead of the whole table"},
    {.name = "active", .help = "count only the parameters that a token uses: without the experts that it does not use"},
    {.name = "free", .argument = "KEY,KEY", .help = "two or three hyper-parameters that change together"},
    {.name = "keep",
     .argument = "KEY/KEY",
     .help = "with --free: keep the ratio of two hyper-parameters; may be repeated"},
    {.name = "all", .help = "with --free: try every integer, not only multiples of 64"},
    {CLI_OPTION_CONFIG},
    {CLI_OPTION_MODEL},
    {CLI_OPTION_SET},
    {CLI_OPTION_TABLE},
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
    {"shapeproof solve gpt2 --total 124439808 --set vocab_size=50000",
     "the vocabulary size that gives this total, 50257"},
    {"shapeproof solve gpt2 --total 350000000 --within 2%", "single changes that give about 350M parameters"},
    {"shapeproof solve attention_is_all_you_need --rounds-to 65M", "the vocabularies that fit the figure of the paper"},
    {"shapeproof solve mixtral-8x7b --active --rounds-to 13B", "what gives about 13B active parameters"},
    {"shapeproof solve llama-3-8b --measure 'cache(tokens=8192, dtype=bf16)' --at-most 16GiB",
     "how many tokens, sequences or key-value heads the cache may have"},
    {"shapeproof solve gpt2-medium --rounds-to 1.5B --free n_layer,n_embd --keep n_embd/n_head",
     "depths and widths of a larger model with heads of the same width"},
    {NULL, NULL},
};

static const struct cli_unit units_of_parameters[] = {{"", 1},           {"K", 1000},          {"M", 1000000},
                                                      {"B", 1000000000}, {"T", 1000000000000}, {NULL, 0}};

/* The value of --at-most: a number of parameters, or, of an expression, also one of bytes. 0 if it is none. */
static uint64_t read_most(const struct cli_args *args, const char *most)
{
    return cli_read_size(most, cli_value(args, "measure", NULL) ? cli_units_of_bytes : units_of_parameters);
}

/* For --total, --at-most or --rounds-to, one of which there is. `expressions` has that of --measure, or is NULL. */
static struct shapeproof_solutions *solve_total(const struct cli_args *args, const struct cli_subject *subject,
                                                const struct shapeproof_expressions *expressions, double within,
                                                struct shapeproof_error *error)
{
    const char *most = cli_value(args, "at-most", NULL);
    const struct shapeproof_solve_options what = {
        .table = subject->table_name,
        .group = cli_value(args, "group", NULL),
        .within = within,
        .measure = cli_flag(args, "active") ? "active" : NULL,
        .expressions = expressions,
        .at_most = most != NULL,
    };
    const char *figure = cli_value(args, "rounds-to", NULL);
    const uint64_t total = most ? read_most(args, most) : cli_number(args, "total", 0);
    cli_begin_step("solving");
    if (figure) return shapeproof_solve_rounded(subject->tables, subject->config, figure, &what, error);
    return shapeproof_solve(subject->tables, subject->config, total, &what, error);
}

/* Whether the text is an equation, such as n_embd = 5: it has a single '=' outside of parentheses. */
static bool is_equation(const char *text)
{
    int depth = 0;
    for (const char *at = text; *at; at++) {
        if (*at == '(' || *at == '[') depth++;
        if (*at == ')' || *at == ']') depth--;
        const bool is_part = (at > text && strchr("=<>!", at[-1])) || at[1] == '=';
        if (*at == '=' && depth == 0 && !is_part) return true;
    }
    return false;
}

/* Reads the expression of --measure about the table that the configuration chooses; exit status. Without the option
 * *expressions stays NULL. */
static int read_measure(const struct cli_args *args, struct cli_subject *subject,
                        struct shapeproof_expressions **expressions)
{
    const char *text = cli_value(args, "measure", NULL);
    const struct shapeproof_claim_lines lines = {.name = "expression", .items = &text, .count = 1};
    const struct shapeproof_predict_options what = {.table = subject->table_name};
    struct shapeproof_error error = {0};
    char *letters = NULL;
    if (!text) return CLI_OK;
    if (is_equation(text) || !text[strspn(text, " \t\r\n")])
        return cli_usage_error(is_equation(text) ? "shapeproof prove --claim judges an equation"
                                                 : "--measure 'cache(tokens=8192, dtype=bf16)'",
                               "solve: '%s' is not an expression", text);
    struct shapeproof_prediction *prediction = shapeproof_predict(subject->tables, subject->config, &what, &error);
    if (!prediction) return cli_no_prediction(subject, &what, &error);
    *expressions =
        shapeproof_expressions_new(subject->tables, shapeproof_prediction_table(prediction), &lines, &letters, &error);
    shapeproof_prediction_free(prediction);
    if (letters) fprintf(cli_messages(), "%s, as usual in publications\n", letters);
    shapeproof_free(letters);
    return *expressions ? CLI_OK : cli_lines_error(subject, &error);
}

/* Whether the options agree with each other; complains if they do not. */
static bool options_agree(const struct cli_args *args)
{
    const char *total = cli_value(args, "total", NULL), *figure = cli_value(args, "rounds-to", NULL),
               *most = cli_value(args, "at-most", NULL);
    const bool has_measure = cli_value(args, "measure", NULL);
    if (!!total + !!figure + !!most != 1)
        cli_usage_error("shapeproof solve gpt2 --rounds-to 1.5B",
                        "solve: one of --total N, --at-most SIZE and --rounds-to FIGURE is needed");
    else if (most && has_measure && !read_most(args, most))
        cli_usage_error("--at-most 16GiB", "solve: --at-most needs a size above 0, not '%s'", most);
    else if (most && !read_most(args, most))
        cli_usage_error("--at-most 7B", "solve: --at-most needs a number of parameters above 0, not '%s'", most);
    else if (cli_value(args, "within", NULL) && !total)
        cli_usage_error(NULL, "solve: --within goes with --total: --rounds-to and --at-most are ranges by themselves");
    else if (has_measure && (cli_flag(args, "active") || cli_value(args, "group", NULL)))
        cli_usage_error(NULL, "solve: --active and --group are about parameters: they take no --measure");
    else if ((has_measure || most) && cli_value(args, "free", NULL))
        cli_usage_error(NULL, "solve: --free goes with --total or --rounds-to, and without --measure");
    else return true;
    return false;
}

enum { MAX_WORDS = 16 }; /* keys, and ratios, on the command line: more than the library takes, which says so */

/* --free and --keep as lists of words. */
struct together {
    char *text; /* heap: copies of all values, one after the other, in which the words end with 0 */
    const char *free_keys[MAX_WORDS];
    struct shapeproof_ratio keep[MAX_WORDS];
    size_t free_count, keep_count;
};

/* Copies the values of an option to `text`, each with a 0 behind it, unless `text` is NULL. Returns how many bytes they
 * have. */
static size_t copy_values(const struct cli_args *args, const char *option, char *text)
{
    size_t length = 0, position = 0;
    for (const char *value; (value = cli_next_value(args, option, &position)); length += strlen(value) + 1)
        if (text) memcpy(text + length, value, strlen(value) + 1);
    return length;
}

/* "n_layer,n_embd" as two words, up to `end`. False when there are too many, or an empty one. */
static bool split_keys(struct together *together, char *text, const char *end)
{
    while (text < end) {
        char *comma = strchr(text, ',');
        const size_t length = comma ? (size_t)(comma - text) : strlen(text);
        if (!length || together->free_count == MAX_WORDS) return false;
        together->free_keys[together->free_count++] = text;
        text[length] = '\0';
        text += length + 1;
        if (comma && (text == end || !*text)) return false;
    }
    return true;
}

/* "n_embd/n_head" as two words, for each value up to `end`. False for any other. */
static bool split_ratios(struct together *together, char *text, const char *end)
{
    while (text < end) {
        const size_t length = strlen(text);
        char *slash = strchr(text, '/');
        if (!slash || slash == text || !slash[1] || together->keep_count == MAX_WORDS) return false;
        *slash = '\0';
        together->keep[together->keep_count++] = (struct shapeproof_ratio){text, slash + 1};
        text += length + 1;
    }
    return true;
}

/* Solves for the hyper-parameters of --free together, with the ratios of --keep, and writes the report; CLI_DIFFERS
 * when no combination gives the total. `within` is the tolerance in per cent. */
static int report_together(const struct cli_args *args, const struct cli_subject *subject, double within)
{
    const size_t free_length = copy_values(args, "free", NULL), keep_length = copy_values(args, "keep", NULL);
    struct together together = {.text = malloc(free_length + keep_length + 1)};
    struct shapeproof_error error = {0};
    if (!together.text) cli_out_of_memory();
    char *keep = together.text + copy_values(args, "free", together.text);
    copy_values(args, "keep", keep);
    int status = CLI_OK;
    if (!split_keys(&together, together.text, keep))
        status = cli_usage_error("--free n_layer,n_embd", "solve: --free needs hyper-parameters, with commas between");
    else if (!split_ratios(&together, keep, keep + keep_length))
        status = cli_usage_error("--keep n_embd/n_head", "solve: --keep needs two hyper-parameters, with / between");
    const struct shapeproof_solve_together_options what = {
        .table = subject->table_name,
        .group = cli_value(args, "group", NULL),
        .within = within,
        .measure = cli_flag(args, "active") ? "active" : NULL,
        .free = together.free_keys,
        .free_count = together.free_count,
        .keep = together.keep,
        .keep_count = together.keep_count,
        .every = cli_flag(args, "all"),
    };
    const char *figure = cli_value(args, "rounds-to", NULL);
    struct shapeproof_combinations *found = NULL;
    if (status == CLI_OK) {
        cli_begin_step("solving");
        found = figure ? shapeproof_solve_together_rounded(subject->tables, subject->config, figure, &what, &error)
                       : shapeproof_solve_together(subject->tables, subject->config, cli_number(args, "total", 0),
                                                   &what, &error);
        if (!found) status = cli_no_formula(subject, &error);
    }
    if (found) {
        status = shapeproof_combinations_count(found) ? CLI_OK : CLI_DIFFERS;
        for (struct cli_output *to = NULL; (to = cli_next_output(to));) {
            const struct shapeproof_report_options how = cli_report_options(args, to);
            cli_put_report(to, shapeproof_report_solve_together(found, &how, NULL));
        }
    }
    shapeproof_combinations_free(found);
    free(together.text);
    return status;
}

/* Solves, and writes the report; exit status 1 when nothing gives the total. */
static int report_solutions(const struct cli_args *args, struct cli_subject *subject)
{
    struct shapeproof_error error = {0};
    struct shapeproof_expressions *expressions = NULL;
    if (!options_agree(args)) return CLI_USAGE;
    const char *percent = cli_value(args, "within", NULL);
    char *end = NULL;
    const double within = percent ? strtod(percent, &end) : 0;
    if (percent && (end == percent || (*end && strcmp(end, "%") != 0)))
        return cli_usage_error("--within 1%", "solve: --within needs a number of per cent, not '%s'", percent);
    if (cli_value(args, "free", NULL)) return report_together(args, subject, within);
    if (cli_value(args, "keep", NULL) || cli_flag(args, "all"))
        return cli_usage_error(NULL, "solve: --keep and --all go with --free");
    const int status = read_measure(args, subject, &expressions);
    if (status != CLI_OK) return status;
    struct shapeproof_solutions *solutions = solve_total(args, subject, expressions, within, &error);
    shapeproof_expressions_free(expressions);
    if (!solutions) return cli_no_formula(subject, &error);
    const bool found = shapeproof_solutions_count(solutions) > 0 || shapeproof_solutions_as_given(solutions);
    for (struct cli_output *to = NULL; (to = cli_next_output(to));) {
        const struct shapeproof_report_options how = cli_report_options(args, to);
        cli_put_report(to, shapeproof_report_solve(solutions, &how, NULL));
    }
    shapeproof_solutions_free(solutions);
    return found ? CLI_OK : CLI_DIFFERS;
}

static int run_solve(const struct cli_args *args)
{
    struct cli_subject subject;
    if (!cli_subject_is_given(args, "shapeproof solve gpt2 --rounds-to 1.5B")) return CLI_USAGE;
    int status = cli_subject_open(&subject, args, NULL);
    if (status == CLI_OK) status = cli_subject_take(&subject, args, cli_operand(args));
    if (status == CLI_OK && !cli_settings_are_known(&subject, args)) status = CLI_USAGE;
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
    {"5", "there is no table for the configuration, or the table does not say what is solved for"},
    {NULL, NULL},
};

const struct cli_command cli_solve = {
    .name = "solve",
    .summary = "find hyper-parameters that give a number of parameters",
    .operands = "[TABLE|MODEL]",
    .description =
        "Changes one hyper-parameter of TABLE at a time: an integer, a flag, or one number in a list. Finds the "
        "values for which the table has exactly N parameters. All other hyper-parameters keep their current values: "
        "those of --config and --set, or the defaults of the table. With --rounds-to, solve finds the ranges of "
        "values whose total rounds to FIGURE. With --within, it finds the ranges whose total differs from N by at "
        "most PERCENT.\n"
        "\n"
        "Flags are listed first, then powers of two, multiples of 64, multiples of 8, small numbers, and other "
        "numbers. Within each class, the value closest to the current one is first. The exit status is 1 if no "
        "value gives the total.\n"
        "\n"
        "With --free the hyper-parameters KEY,KEY change together, each between 1/32 and 32 times its current "
        "value. --keep KEY/KEY keeps the ratio of two hyper-parameters: if one changes, so does the other. If the "
        "current value is a multiple of 64, the multiples of 64 are tried. Otherwise all integers up to 256, and "
        "the multiples of 64 above 256, are tried. --all tries every integer. Answers with round numbers that "
        "change all keys by nearly the same factor are listed first. Round numbers are powers of two, multiples of "
        "128, and multiples of 4 below 128.\n"
        "\n"
        "With --measure, solve finds the values for which an expression has the value N, such as the bytes of the "
        "cache. It also changes the numbers of tokens and sequences in the expression. With --at-most, it finds all "
        "values for which the number is SIZE or less.",
    .least = 0,
    .most = 1,
    .options = options,
    .examples = examples,
    .statuses = statuses,
    .run = run_solve,
};
