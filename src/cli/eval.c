/* SPDX-License-Identifier: MIT
 * shapeproof eval: the value of an expression at some hyper-parameters. */
#define _POSIX_C_SOURCE 200809L
#include "cli/subject.h"
#include "config/settings.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const struct cli_option options[] = {
    {CLI_OPTION_CONFIG},
    {CLI_OPTION_MODEL},
    {CLI_OPTION_SET},
    {CLI_OPTION_TABLE},
    {.name = "checkpoint",
     .letter = 'k',
     .argument = "PATH",
     .help = "use the hyper-parameters of this checkpoint, and let expressions contain stored(...)"},
    {CLI_OPTION_VOCABULARY},
    {.name = "for",
     .argument = "KEY=VALUES",
     .help = "evaluate for several values of one hyper-parameter: 1..12, 64..512..64 (from, to, step), or 1,2,4"},
    {.name = "models",
     .argument = "NAME,NAME",
     .help = "evaluate for several published models or tables, in place of the first operand"},
    {.name = "csv", .help = "the same as --format csv: comma-separated values with a heading"},
    {.name = "plot", .argument = "FILE.svg", .help = "with --for: draw the values as curves; needs gnuplot"},
    {CLI_OPTION_OFFLINE},
    {CLI_OPTION_LIMIT},
    {CLI_OPTION_FORMAT("text|json|jsonl|csv|markdown")},
    {CLI_OPTION_JSON},
    {CLI_OPTION_OUTPUT},
    {CLI_OPTION_QUIET},
    {CLI_OPTION_COLOR},
    {CLI_OPTION_NO_PAGER},
    {CLI_OPTION_NO_PROGRESS},
    {CLI_OPTION_END},
};

static const struct cli_example examples[] = {
    {"shapeproof eval gpt2 '[embedding] / total'", "the share of the embeddings in GPT-2"},
    {"shapeproof eval gpt2 'total(tie_word_embeddings=false) - total'", "what an untied head adds"},
    {"shapeproof eval llama-3-8b '[embedding] / total'", "the same for a published model"},
    {"shapeproof eval llama-3-8b total --for num_hidden_layers=8..64..8", "the total for several depths"},
    {"shapeproof eval mixtral-8x7b active", "the parameters that a token uses"},
    {"shapeproof eval --models mixtral-8x7b,llama-3-8b total active", "two measures of two models side by side"},
    {"shapeproof eval --checkpoint model/ 'stored(total) - total'", "what a checkpoint stores beyond its table"},
    {NULL, NULL},
};

/* ---- the values of --for ---- */

/* Values of one hyper-parameter. */
struct scan {
    char *key;       /* NULL: there is no --for */
    char **settings; /* heap: "n_layer=12", as --set takes them */
    size_t count;
};

enum { MOST_POINTS = 10000 }; /* so that a slip in a bound is told, and not computed for hours */

/* What an allocation returned; without memory the command ends. */
static void *never_null(void *memory)
{
    if (!memory) cli_out_of_memory();
    return memory;
}

/* Appends the setting of the key to a value. */
static void add_scan_value(struct scan *scan, const char *value, size_t length)
{
    const size_t size = strlen(scan->key) + 1 + length + 1;
    scan->settings = never_null(realloc(scan->settings, (scan->count + 1) * sizeof *scan->settings));
    scan->settings[scan->count] = never_null(malloc(size));
    snprintf(scan->settings[scan->count++], size, "%s=%.*s", scan->key, (int)length, value);
}

static const char *scan_value(const struct scan *scan, size_t index)
{
    return scan->settings[index] + strlen(scan->key) + 1;
}

static void free_scan(struct scan *scan)
{
    for (size_t i = 0; i < scan->count; i++) free(scan->settings[i]);
    free(scan->settings);
    free(scan->key);
}

/* A whole number and what follows it; false when there is none. */
static bool read_bound(const char **text, int64_t *value)
{
    char *end;
    errno = 0;
    *value = strtoll(*text, &end, 10);
    const bool good = end != *text && !errno;
    *text = end;
    return good;
}

/* 8..64..8; false when the text is no range. */
static bool read_range(const char *text, int64_t *first, int64_t *last, int64_t *step)
{
    *step = 1;
    if (!read_bound(&text, first) || strncmp(text, "..", 2) != 0) return false;
    text += 2;
    if (!read_bound(&text, last)) return false;
    if (strncmp(text, "..", 2) == 0) {
        text += 2;
        if (!read_bound(&text, step)) return false;
    }
    return !*text && *step > 0 && *first <= *last;
}

/* Up to the next comma that is not within brackets: 12 of "12,24", [2, 2] of "[2, 2],[3, 3]". */
static size_t length_of_value(const char *text)
{
    size_t length = 0;
    for (int depth = 0; text[length] && (depth > 0 || text[length] != ','); length++)
        depth += (text[length] == '[' || text[length] == '{') - (text[length] == ']' || text[length] == '}');
    return length;
}

/* The settings of --for KEY=VALUES, "n_layer=1", "n_layer=2", ..., from a range or from a list; none without --for.
 * Returns CLI_OK, or complains and returns the exit status; free_scan in any case. */
static int read_scan(const struct cli_args *args, struct scan *scan)
{
    const char *text = cli_value(args, "for", NULL), *equals = text ? strchr(text, '=') : NULL;
    int64_t first, last, step;
    char value[24];
    size_t position = 0;
    if (!text) return CLI_OK;
    if (cli_next_value(args, "for", &position) && cli_next_value(args, "for", &position))
        return cli_usage_error("--set sets another hyper-parameter to one value", "--for varies one hyper-parameter");
    if (!equals || equals == text || !equals[1])
        return cli_usage_error("--for num_hidden_layers=8..64..8", "--for needs KEY=VALUES, not '%s'", text);
    scan->key = never_null(strndup(text, (size_t)(equals - text)));
    if (read_range(equals + 1, &first, &last, &step)) {
        /* unsigned, because the difference of two int64_t may not fit in one; first is at most last, and step above 0
         */
        if (((uint64_t)last - (uint64_t)first) / (uint64_t)step >= MOST_POINTS)
            return cli_usage_error(NULL, "--for %s: more than %d values", text, MOST_POINTS);
        const uint64_t count = ((uint64_t)last - (uint64_t)first) / (uint64_t)step + 1;
        for (uint64_t i = 0; i < count; i++) {
            const int length =
                snprintf(value, sizeof value, "%" PRId64, (int64_t)((uint64_t)first + i * (uint64_t)step));
            add_scan_value(scan, value, (size_t)length);
        }
        return CLI_OK;
    }
    if (strstr(equals, ".."))
        return cli_usage_error("--for num_hidden_layers=8..64..8",
                               "--for %s: a range has two whole numbers, the lower one first, and a step above 0",
                               text);
    for (const char *item = equals + 1; *item;) {
        const size_t length = length_of_value(item);
        if (scan->count == MOST_POINTS)
            return cli_usage_error(NULL, "--for %s: more than %d values", text, MOST_POINTS);
        add_scan_value(scan, item, length);
        item += length + (item[length] == ',');
    }
    return CLI_OK;
}

/* ---- a plot ---- */

/* A text between double quotes of gnuplot. */
static void put_quoted(FILE *out, const char *text)
{
    fputc('"', out);
    for (; *text; text++) {
        if (*text == '"' || *text == '\\') fputc('\\', out);
        if ((unsigned char)*text >= ' ') fputc(*text, out);
    }
    fputc('"', out);
}

static bool is_number(const char *text)
{
    char *end;
    strtod(text, &end);
    return end > text && !*end;
}

/* The place of a value that is no number on the axis, and the value as its label. */
static void put_labelled(FILE *out, size_t place, const char *value)
{
    fprintf(out, "%zu ", place);
    put_quoted(out, value);
}

/* The program for gnuplot: settings, one block of data for all curves, the curves. Values that are no numbers are
 * labels at 0, 1, 2, ... */
static void write_plot(FILE *out, const char *file, const char *key, const struct shapeproof_evaluated_point *points,
                       size_t count)
{
    size_t first = 0;
    while (first < count && !points[first].evaluation) first++;
    const size_t curves = first < count ? shapeproof_evaluation_count(points[first].evaluation) : 0;
    bool is_numeric = true;
    for (size_t i = 0; i < count; i++) is_numeric = is_numeric && is_number(points[i].value);
    fputs("set terminal svg size 800,500 background rgb 'white' noenhanced\nset output ", out);
    put_quoted(out, file);
    fputs("\nset grid\nset key left top\nset xlabel ", out);
    put_quoted(out, key);
    fputs("\n$points << END_OF_POINTS\n", out);
    for (size_t i = 0; i < count; i++) {
        if (!points[i].evaluation) continue;
        if (is_numeric) fprintf(out, "%s", points[i].value);
        else put_labelled(out, i, points[i].value);
        for (size_t k = 0; k < curves; k++) {
            const double number = shapeproof_evaluation_get(points[i].evaluation, k)->number;
            if (isnan(number)) fputs(" NaN", out);
            else fprintf(out, " %.17g", number);
        }
        fputc('\n', out);
    }
    fputs("END_OF_POINTS\nplot ", out);
    for (size_t k = 0; k < curves; k++) {
        if (is_numeric) fprintf(out, "%s$points using 1:%zu with linespoints title ", k ? ", " : "", k + 2);
        else fprintf(out, "%s$points using 1:%zu:xtic(2) with linespoints title ", k ? ", " : "", k + 3);
        put_quoted(out, shapeproof_evaluation_get(points[first].evaluation, k)->expression);
    }
    fputc('\n', out);
}

/* Runs gnuplot with the program on its standard input. */
static int run_gnuplot(FILE *program)
{
    extern char **environ;
    char *const arguments[] = {"gnuplot", NULL};
    posix_spawn_file_actions_t actions;
    pid_t pid;
    int status;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, fileno(program), STDIN_FILENO);
    const int failed = posix_spawnp(&pid, "gnuplot", &actions, NULL, arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    if (failed && failed != ENOENT)
        return cli_complain(CLI_FILE, NULL, "--plot: gnuplot: posix_spawn: %s", strerror(failed));
    if (failed)
        return cli_complain(CLI_USAGE, "install gnuplot (Debian: apt-get install gnuplot-nox), or take --csv",
                            "--plot needs gnuplot: %s", strerror(failed));
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR) return cli_complain(CLI_FILE, NULL, "--plot: gnuplot: waitpid: %s", strerror(errno));
    if (WIFSIGNALED(status))
        return cli_complain(CLI_FILE, NULL, "--plot: gnuplot was ended by signal %d", WTERMSIG(status));
    if (WEXITSTATUS(status) == 0) return CLI_OK;
    return cli_complain(CLI_FILE, NULL, "--plot: gnuplot ended with status %d", WEXITSTATUS(status));
}

static int draw_plot(const char *file, const char *key, const struct shapeproof_evaluated_point *points, size_t count)
{
    FILE *program = tmpfile();
    if (!program) return cli_complain(CLI_FILE, NULL, "--plot: tmpfile: %s", strerror(errno));
    write_plot(program, file, key, points, count);
    int status = CLI_FILE;
    const char *call = ferror(program) || fflush(program) != 0 ? "write" : "lseek";
    if (*call == 'l' && fseek(program, 0, SEEK_SET) == 0) status = run_gnuplot(program);
    else cli_complain(CLI_FILE, NULL, "--plot: the temporary file: %s: %s", call, strerror(errno));
    fclose(program);
    return status;
}

/* ---- evaluation ---- */

/* What an evaluation needs beside the subject. */
struct asked {
    const struct cli_args *args;
    struct cli_subject *subject;
    const struct shapeproof_verification *checkpoint; /* or NULL */
    const struct shapeproof_expressions *expressions;
    const char *table, *letters;
};

/* 5 when an expression has no value at a point. */
static int status_of_points(const struct shapeproof_evaluated_point *points, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (!points[i].evaluation) return CLI_UNKNOWN;
        for (size_t k = 0; k < shapeproof_evaluation_count(points[i].evaluation); k++)
            if (!shapeproof_evaluation_get(points[i].evaluation, k)->text) return CLI_UNKNOWN;
    }
    return CLI_OK;
}

static int report_points(const struct asked *asked, const struct shapeproof_evaluated_point *points, size_t count,
                         const char *varied)
{
    struct shapeproof_report_evaluate_options how = {
        .table = asked->table, .letters = asked->letters, .varied = varied};
    const char *plot = cli_value(asked->args, "plot", NULL);
    int status = plot ? draw_plot(plot, varied, points, count) : CLI_OK;
    if (status == CLI_OK) {
        for (struct cli_output *to = NULL; (to = cli_next_output(to));) {
            how.report = cli_report_options(asked->args, to);
            cli_put_report(to, shapeproof_report_evaluate(points, count, &how, NULL));
        }
        status = status_of_points(points, count);
    }
    return status;
}

/* Evaluates at the configuration as it is, whose prediction was made before. */
static int evaluate_once(const struct asked *asked, const struct shapeproof_prediction *prediction)
{
    const struct shapeproof_evaluate_options what = {.checkpoint = asked->checkpoint, .prediction = prediction};
    struct shapeproof_error error = {0};
    struct shapeproof_evaluation *evaluation =
        shapeproof_evaluate(asked->expressions, asked->subject->config, &what, &error);
    if (!evaluation) return cli_error(&error);
    const struct shapeproof_evaluated_point point = {.evaluation = evaluation};
    const int status = report_points(asked, &point, 1, NULL);
    shapeproof_evaluation_free(evaluation);
    return status;
}

/* The results of a scan, one for each value. */
struct scan_results {
    struct shapeproof_evaluated_point *points;
    struct shapeproof_evaluation **evaluations;
    struct shapeproof_error *errors;
    size_t count, evaluated;
};

static struct scan_results open_results(size_t count)
{
    return (struct scan_results){.points = never_null(calloc(count, sizeof(struct shapeproof_evaluated_point))),
                                 .evaluations = never_null(calloc(count, sizeof(struct shapeproof_evaluation *))),
                                 .errors = never_null(calloc(count, sizeof(struct shapeproof_error))),
                                 .count = count};
}

static void close_results(struct scan_results *results)
{
    for (size_t i = 0; i < results->count; i++) shapeproof_evaluation_free(results->evaluations[i]);
    free(results->evaluations);
    free(results->errors);
    free(results->points);
}

/* A point with that value. Where the table cannot be predicted, it has the first line of the error, which is cut there.
 */
static struct shapeproof_evaluated_point point_at(const char *value, const struct shapeproof_evaluation *evaluation,
                                                  struct shapeproof_error *error)
{
    if (!evaluation) error->message[strcspn(error->message, "\n")] = '\0';
    return (struct shapeproof_evaluated_point){
        .value = value, .evaluation = evaluation, .why = evaluation ? NULL : error->message};
}

/* Values of a scan of which the library makes no model. */
struct objections {
    char *first; /* "n_head=7: transformers 5 refuses it: ...", of the first such value; NULL without one */
    size_t count;
};

/* Adds the value of the scan that is set now, if the library makes no model of it. */
static void note_objection(struct objections *objections, const struct cli_subject *subject,
                           const struct shapeproof_prediction *prediction, const char *setting)
{
    struct shapeproof_error ignored = {0};
    char *why =
        shapeproof_loading_objection(subject->tables, subject->config, subject->table_name, prediction, &ignored);
    if (why && !objections->count++) {
        const size_t size = strlen(setting) + strlen(": ") + strlen(why) + 1;
        objections->first = never_null(malloc(size));
        snprintf(objections->first, size, "%s: %s", setting, why);
    }
    shapeproof_free(why);
}

/* One warning of all of them, by the first. */
static void warn_of_objections(struct objections *objections)
{
    char others[64] = "";
    if (!objections->first) return;
    if (objections->count > 1)
        snprintf(others, sizeof others, "; likewise %zu other value%s", objections->count - 1,
                 objections->count > 2 ? "s" : "");
    const size_t size = strlen(objections->first) + sizeof others;
    char *message = never_null(malloc(size));
    snprintf(message, size, "%s%s", objections->first, others);
    cli_warning("--for", message);
    free(message);
    free(objections->first);
}

/* Predicts and evaluates at one value. */
static void evaluate_point(const struct asked *asked, const struct scan *scan, size_t index,
                           struct scan_results *results, struct objections *objections)
{
    const struct cli_subject *subject = asked->subject;
    const struct shapeproof_predict_options table = {.table = subject->table_name};
    struct shapeproof_evaluate_options what = {.checkpoint = asked->checkpoint};
    struct shapeproof_error *error = &results->errors[index];
    struct shapeproof_prediction *prediction = NULL;
    struct shapeproof_evaluation *evaluation = NULL;
    if (shapeproof_config_set(subject->config, scan->settings[index], error) == SHAPEPROOF_OK)
        what.prediction = prediction = shapeproof_predict(subject->tables, subject->config, &table, error);
    if (prediction) evaluation = shapeproof_evaluate(asked->expressions, subject->config, &what, error);
    if (evaluation) note_objection(objections, subject, prediction, scan->settings[index]);
    shapeproof_prediction_free(prediction);
    results->evaluations[index] = evaluation;
    results->evaluated += evaluation != NULL;
    results->points[index] = point_at(scan_value(scan, index), evaluation, error);
}

/* Evaluates at every value of the scan. It is an error only when there is no value at all. */
static int evaluate_scan(const struct asked *asked, const struct scan *scan)
{
    struct scan_results results = open_results(scan->count);
    struct objections objections = {.first = NULL};
    cli_begin_step("evaluating");
    for (size_t i = 0; i < scan->count; i++) {
        cli_tell_amount("values", i, scan->count);
        evaluate_point(asked, scan, i, &results, &objections);
    }
    warn_of_objections(&objections);
    const int status = results.evaluated ? report_points(asked, results.points, scan->count, scan->key)
                                         : cli_error(&results.errors[0]);
    close_results(&results);
    return status;
}

/* False after a complaint: the table does not have the key of --for. */
static bool reads_scan(const struct cli_subject *subject, const struct shapeproof_prediction *prediction,
                       const char *key)
{
    for (size_t i = 0; i < shapeproof_prediction_unused_count(prediction); i++)
        if (strcmp(shapeproof_prediction_unused(prediction, i), key) == 0 &&
            !sp_prediction_could_read(prediction, subject->tables, subject->config, key)) {
            return cli_complain_of_key("for", prediction, key);
        }
    return true;
}

/* Complains of settings that are no hyper-parameters of the table, and of a configuration that its library refuses. */
static int check_read(const struct cli_subject *subject, const struct shapeproof_prediction *prediction)
{
    if (!cli_settings_are_read(subject, prediction)) return CLI_USAGE;
    cli_warn_of_objection(subject, prediction);
    return CLI_OK;
}

/* Predicts, and checks the same. *prediction, to be freed, is NULL after an error. */
static int predict_and_check(struct cli_subject *subject, struct shapeproof_prediction **prediction)
{
    struct shapeproof_error error = {0};
    const struct shapeproof_predict_options what = {.table = subject->table_name};
    *prediction = shapeproof_predict(subject->tables, subject->config, &what, &error);
    return *prediction ? check_read(subject, *prediction) : cli_no_prediction(subject, &what, &error);
}

/* The same with the first value of --for, whose key must be read as well; other values of it may make a configuration
 * that is not refused. */
static int check_settings(struct cli_subject *subject, const struct scan *scan)
{
    struct shapeproof_error error = {0};
    const struct shapeproof_predict_options what = {.table = subject->table_name};
    if (shapeproof_config_set(subject->config, scan->settings[0], &error) != SHAPEPROOF_OK) return cli_error(&error);
    struct shapeproof_prediction *prediction = shapeproof_predict(subject->tables, subject->config, &what, &error);
    if (!prediction) return CLI_OK; /* another value of the scan may do */
    const bool are_read = reads_scan(subject, prediction, scan->key) && cli_settings_are_read(subject, prediction);
    shapeproof_prediction_free(prediction);
    return are_read ? CLI_OK : CLI_USAGE;
}

/* The expressions of a command. */
struct given_expressions {
    const char **items;
    size_t count;
};

/* Evaluates the expressions about a table, once or at every value of --for, and writes the report; exit status.
 * `prediction` is that of the configuration as it is, if it was made; NULL: it was not. `checkpoint` is what
 * stored([group]) asks; NULL: none. */
static int evaluate_expressions(const struct cli_args *args, struct cli_subject *subject, const char *table,
                                const struct shapeproof_prediction *prediction, struct given_expressions given,
                                const struct shapeproof_verification *checkpoint)
{
    const struct shapeproof_claim_lines lines = {.name = "expression", .items = given.items, .count = given.count};
    struct scan scan = {.key = NULL};
    struct shapeproof_error error = {0};
    struct shapeproof_prediction *own = NULL;
    char *letters = NULL;
    int status = read_scan(args, &scan);
    if (status == CLI_OK && cli_value(args, "plot", NULL) && !scan.key)
        status = cli_usage_error("--for n_layer=1..48", "--plot needs --for: a curve has several points");
    subject->table_name = table;
    if (status == CLI_OK && scan.key) status = check_settings(subject, &scan);
    else if (status == CLI_OK) status = prediction ? check_read(subject, prediction) : predict_and_check(subject, &own);
    struct shapeproof_expressions *expressions =
        status == CLI_OK ? shapeproof_expressions_new(subject->tables, table, &lines, &letters, &error) : NULL;
    if (status == CLI_OK && !expressions) status = cli_lines_error(subject, &error);
    if (expressions) {
        const struct asked asked = {args, subject, checkpoint, expressions, table, letters};
        if (letters && cli_format(args) != SHAPEPROOF_REPORT_JSON)
            fprintf(stderr, "%s, as usual in publications\n", letters);
        status = scan.key ? evaluate_scan(&asked, &scan) : evaluate_once(&asked, own ? own : prediction);
    }
    shapeproof_expressions_free(expressions);
    shapeproof_prediction_free(own);
    shapeproof_free(letters);
    free_scan(&scan);
    return status;
}

/* ---- about a table ---- */

/* The prediction that tells the table: of the configuration as it is, or, where a key of --for has no other value, with
 * the first value of --for. NULL after an error was printed, with its exit status in *status. */
static struct shapeproof_prediction *predict_chosen(const struct cli_args *args, struct cli_subject *subject,
                                                    int *status)
{
    struct shapeproof_error error = {0}, ignored = {0};
    struct scan scan = {.key = NULL};
    const struct shapeproof_predict_options what = {.table = subject->table_name};
    struct shapeproof_prediction *prediction = shapeproof_predict(subject->tables, subject->config, &what, &error);
    *status = CLI_OK;
    if (prediction) return prediction;
    *status = read_scan(args, &scan);
    if (*status == CLI_OK && scan.count &&
        shapeproof_config_set(subject->config, scan.settings[0], &ignored) == SHAPEPROOF_OK)
        prediction = shapeproof_predict(subject->tables, subject->config, &what, &ignored);
    if (*status == CLI_OK && !prediction) *status = cli_no_prediction(subject, &what, &error);
    free_scan(&scan);
    return prediction;
}

/* About the table that the configuration chooses. */
static int evaluate_chosen(const struct cli_args *args, struct cli_subject *subject, struct given_expressions given)
{
    int predicted;
    struct shapeproof_prediction *prediction = predict_chosen(args, subject, &predicted);
    if (!prediction) return predicted;
    const int status =
        evaluate_expressions(args, subject, shapeproof_prediction_table(prediction), prediction, given, NULL);
    shapeproof_prediction_free(prediction);
    return status;
}

/* `eval TABLE EXPRESSION...` or `eval MODEL EXPRESSION...`. */
static int evaluate_named(const struct cli_args *args, struct cli_subject *subject)
{
    const struct given_expressions given = {args->operands + 1, args->operand_count - 1};
    if (args->operand_count < 2)
        return cli_usage_error("shapeproof eval gpt2 '[embedding] / total'",
                               "eval needs a table or a model (or --config, or --checkpoint) and an expression");
    const int status = cli_subject_take(subject, args, args->operands[0]);
    if (status != CLI_OK) return status;
    if (!subject->table_name) return evaluate_chosen(args, subject, given);
    return evaluate_expressions(args, subject, subject->table_name, NULL, given, NULL);
}

/* One of these, or `eval EXPRESSION...` with a configuration, a model or --table that tells the table. Its name may
 * stand in front of the expressions all the same, as other commands take it. */
static int evaluate_table(const struct cli_args *args)
{
    struct cli_subject subject;
    struct given_expressions all = {args->operands, args->operand_count};
    const bool told = cli_value(args, "config", NULL) || cli_value(args, "model", NULL);
    int status = cli_subject_open(&subject, args, NULL);
    if (status == CLI_OK) status = cli_subject_count_vocabulary(&subject, args);
    if (status == CLI_OK && subject.table_name && all.count > 1 && strcmp(all.items[0], subject.table_name) == 0) {
        all.items++;
        all.count--;
    }
    if (status == CLI_OK && (told || subject.table_name)) status = evaluate_chosen(args, &subject, all);
    else if (status == CLI_OK) status = evaluate_named(args, &subject);
    cli_subject_close(&subject);
    return status;
}

/* ---- about several models ---- */

/* A model of --models, and the values of the expressions for it. The expressions and the messages are those of its own
 * table. */
struct compared_model {
    char *name; /* heap */
    struct cli_subject subject;
    struct shapeproof_expressions *expressions;
    struct shapeproof_evaluation *evaluation; /* NULL with an error where the model cannot be predicted */
    struct shapeproof_error error;
};

static void close_compared_model(struct compared_model *model)
{
    shapeproof_evaluation_free(model->evaluation);
    shapeproof_expressions_free(model->expressions);
    cli_subject_close(&model->subject);
    free(model->name);
}

/* Binds the expressions to the table of the model's prediction and evaluates them; exit status. */
static int evaluate_for_table(struct compared_model *model, const struct shapeproof_prediction *prediction,
                              struct given_expressions given)
{
    const struct shapeproof_evaluate_options how = {.prediction = prediction};
    const char *table = shapeproof_prediction_table(prediction);
    const struct shapeproof_claim_lines lines = {.name = "expression", .items = given.items, .count = given.count};
    char *letters = NULL;
    model->subject.table_name = table;
    if (!cli_settings_are_read(&model->subject, prediction)) return CLI_USAGE;
    cli_warn_of_objection(&model->subject, prediction);
    model->expressions = shapeproof_expressions_new(model->subject.tables, table, &lines, &letters, &model->error);
    if (!model->expressions) return cli_lines_error(&model->subject, &model->error);
    if (letters) fprintf(cli_messages(), "%s: %s, as usual in publications\n", model->name, letters);
    shapeproof_free(letters);
    model->evaluation = shapeproof_evaluate(model->expressions, model->subject.config, &how, &model->error);
    return CLI_OK;
}

/* Evaluates the expressions for the model called `name`; exit status. A model that cannot be predicted keeps its error
 * for its row. */
static int evaluate_model(const struct cli_args *args, const char *name, struct given_expressions given,
                          struct compared_model *model)
{
    int status = cli_subject_open(&model->subject, args, NULL);
    if (status == CLI_OK) status = cli_subject_take(&model->subject, args, name);
    if (status != CLI_OK) return status;
    const struct shapeproof_predict_options what = {.table = model->subject.table_name};
    struct shapeproof_prediction *prediction =
        shapeproof_predict(model->subject.tables, model->subject.config, &what, &model->error);
    if (prediction) status = evaluate_for_table(model, prediction, given);
    shapeproof_prediction_free(prediction);
    return status;
}

/* Writes a row for each model; exit status. It is an error only when no model has a value. */
static int report_models(const struct cli_args *args, struct compared_model *models, size_t count)
{
    const struct asked asked = {.args = args};
    struct shapeproof_evaluated_point *points = never_null(calloc(count, sizeof *points));
    size_t evaluated = 0;
    for (size_t i = 0; i < count; i++) {
        evaluated += models[i].evaluation != NULL;
        points[i] = point_at(models[i].name, models[i].evaluation, &models[i].error);
    }
    const int status = evaluated ? report_points(&asked, points, count, "model") : cli_error(&models[0].error);
    free(points);
    return status;
}

/* `eval --models NAME,NAME EXPRESSION...`. */
static int evaluate_models(const struct cli_args *args)
{
    static const char *const others[] = {"config", "model", "table", "checkpoint", "for", "plot", "vocabulary"};
    const char *names = cli_value(args, "models", NULL);
    size_t position = 0;
    const struct given_expressions given = {args->operands, args->operand_count};
    struct compared_model *models = NULL;
    size_t count = 0;
    int status = CLI_OK;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (cli_value(args, others[i], NULL))
            return cli_usage_error(NULL, "eval: --%s does not go with --models", others[i]);
    if (cli_next_value(args, "models", &position) && cli_next_value(args, "models", &position))
        return cli_usage_error("--models gpt2-xl,llama-3-8b", "--models is given twice: it takes all names");
    for (bool is_last = false; !is_last && status == CLI_OK;) {
        const size_t length = strcspn(names, ",");
        is_last = !names[length];
        if (!length) status = cli_usage_error("--models gpt2-xl,llama-3-8b", "--models needs NAME,NAME");
        else {
            models = never_null(realloc(models, (count + 1) * sizeof *models));
            models[count] = (struct compared_model){.name = never_null(strndup(names, length))};
            status = evaluate_model(args, models[count].name, given, &models[count]);
            count++;
        }
        names += length + 1;
    }
    if (status == CLI_OK) status = report_models(args, models, count);
    for (size_t i = 0; i < count; i++) close_compared_model(&models[i]);
    free(models);
    return status;
}

/* ---- about a checkpoint ---- */

/* The arguments with the checkpoint as the only operand. */
struct checkpoint_args {
    struct cli_args args; /* first: a pointer to it is handed through */
    struct given_expressions given;
};

static int evaluate_with_check(const struct cli_args *args, struct cli_subject *subject,
                               const struct shapeproof_check *check)
{
    const struct checkpoint_args *whole = (const struct checkpoint_args *)args;
    static const char *const no_files[] = {""}; /* no claims are verified: only what is stored is counted */
    const struct shapeproof_verify_options what = {.files = no_files, .file_count = 1};
    struct shapeproof_error error = {0};
    struct shapeproof_verification *verification = shapeproof_verify(check, subject->tables, &what, &error);
    if (!verification) return cli_error(&error);
    const struct shapeproof_prediction *prediction = shapeproof_check_prediction(check);
    const char *table = shapeproof_prediction_table(prediction);
    const int status = evaluate_expressions(args, subject, table, prediction, whole->given, verification);
    shapeproof_verification_free(verification);
    return status;
}

static int evaluate_inventory(const struct cli_args *args, const char *path,
                              const struct shapeproof_inventory *inventory)
{
    struct cli_subject subject;
    struct shapeproof_error error = {0};
    int status = cli_subject_open_for(&subject, args, path, inventory);
    if (status == CLI_OK) {
        const struct shapeproof_check_options what = {.table = subject.table_name, .watch = cli_watch(args)};
        cli_begin_step("checking %s", path);
        struct shapeproof_check *check = shapeproof_check_new(inventory, subject.tables, subject.config, &what, &error);
        if (check) status = evaluate_with_check(args, &subject, check);
        else status = cli_no_prediction(&subject, &(struct shapeproof_predict_options){.table = what.table}, &error);
        shapeproof_check_free(check);
    }
    cli_subject_close(&subject);
    return status;
}

static int evaluate_operand(const struct cli_args *args) { return cli_with_checkpoint(args, evaluate_inventory); }

/* The same command, whose operand is a checkpoint. */
static const struct cli_command on_checkpoint = {.name = "eval", .checkpoints = true, .options = options};

static int evaluate_checkpoint(const struct cli_args *args)
{
    const char *path = cli_value(args, "checkpoint", NULL);
    struct checkpoint_args there = {.args = *args, .given = {args->operands, args->operand_count}};
    there.args.command = &on_checkpoint;
    there.args.operands = &path;
    there.args.operand_count = 1;
    return cli_run_found(&there.args, evaluate_operand);
}

static int run_eval(const struct cli_args *args)
{
    if (cli_value(args, "models", NULL)) return evaluate_models(args);
    return cli_value(args, "checkpoint", NULL) ? evaluate_checkpoint(args) : evaluate_table(args);
}

static const struct cli_term statuses[] = {
    {"0", "every expression has a value"},
    {"2", "the command line or an expression is wrong, or --plot found no gnuplot"},
    {"3", "a table or a configuration is wrong"},
    {"4", "the checkpoint is unreadable or malformed, could not be fetched, or the output could not be written"},
    {"5", "an expression has no value, or there is no table for the configuration"},
    {NULL, NULL},
};

const struct cli_command cli_eval = {
    .name = "eval",
    .summary = "compute expressions, such as the share of a group or the cost of a change",
    .operands = "[TABLE|MODEL] EXPRESSION...",
    .description =
        "Prints the value of each EXPRESSION. The hyper-parameters are those of a published MODEL, or the defaults "
        "of TABLE with the values of --set. With --config, --model or --checkpoint, the hyper-parameters and the "
        "table come from the configuration; then every argument is an EXPRESSION, even the first.\n"
        "\n"
        "An expression is written in the language of tables, with these additions. The operator / may give a fraction. "
        "[group] is the number of parameters of a group, and total that of the table. Parentheses after them change "
        "hyper-parameters: total(vocab_size=128000), [attention](n_layer=4). With --checkpoint, stored([group]) and "
        "stored(total) are the numbers of parameters that the checkpoint stores, and stored(bytes) is the number of "
        "bytes. active is the number of parameters of a mixture of experts that a token uses, and active([group]) is "
        "the number of those in a group. cache(tokens=131072, batch=1, dtype=bf16) is the number of bytes that a "
        "decoder keeps for earlier tokens. bytes(bf16) is the number of bytes of the weights. optimizer(adam, zero=3, "
        "ranks=64) is the number of bytes of weights, gradients and optimizer states in each process. lora(rank=16, "
        "targets=[q_proj, v_proj]) is the number of parameters of adapters. flops(tokens=4096, batch=1, "
        "attention=full|causal|none, pass=forward|training) is the number of operations of a pass over sequences of "
        "tokens, and flops(batch=1) over images. activations(tokens=2048, tp=8) is the number of bytes that training "
        "keeps for "
        "the backward pass. shard(tp=8, pp=4, ep=8, dtype=bf16) is the number of bytes of the "
        "largest of several ranks. A letter that the table does not define has its usual meaning: d is "
        "the width, L the number of layers. An argument of the form NAME = EXPRESSION defines such a letter.\n"
        "\n"
        "Integers and fractions are computed exactly. A fraction is printed as a decimal number, followed by the "
        "exact fraction. With --for, --models or --csv the exact fraction is omitted. If an expression contains a "
        "number with a decimal point, its result is a floating-point number. With --for there is a row for each value "
        "of a "
        "hyper-parameter, with --models one for each model, and below the table how each measure counts. If nothing "
        "can be predicted for a value or a model, its row gives the reason.",
    .least = 1,
    .most = CLI_MANY,
    .options = options,
    .examples = examples,
    .statuses = statuses,
    .run = run_eval,
};
