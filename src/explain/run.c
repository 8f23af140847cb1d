/* SPDX-License-Identifier: MIT
 * The flow of a check: predict, name, match, findings, causes, groups, verdict. */
#include "explain/run.h"

#include <stdlib.h>

#include "explain/advice.h"
#include "explain/causes.h"
#include "explain/contradiction.h"
#include "explain/remedy.h"

/* An explainer has a row for each of its causes, one below the other. */
static const struct explainer {
    enum sp_stage stage;
    void (*explain)(struct shapeproof_check *check);
    const char *name;
} explainers[] = {
#define CAUSE(stage, explainer, name, severity, id, meaning) {SP_STAGE_##stage, sp_explain_##explainer, #explainer},
#define ALSO(stage, explainer) {SP_STAGE_##stage, sp_explain_##explainer, #explainer},
#include "explain/causes.def"
#undef CAUSE
#undef ALSO
};
enum { ROWS = sizeof explainers / sizeof *explainers };

/* For the trace. */
static const char *const stages[SP_STAGE_COUNT] = {
    [SP_STAGE_NAMES] = "names",
    [SP_STAGE_STORAGE] = "storage",
    [SP_STAGE_FILES] = "other files",
    [SP_STAGE_TIES] = "ties",
    [SP_STAGE_STRUCTURE] = "structure",
    [SP_STAGE_TRIALS] = "trials of hyper-parameters",
    [SP_STAGE_COUNTERPARTS] = "counterparts",
    [SP_STAGE_LEFTOVERS] = "leftovers",
    [SP_STAGE_MODELS] = "other models",
    [SP_STAGE_MEASURES] = "measures",
};

/* The rows of a stage, of each explainer the first. */
static size_t list_stage(enum sp_stage stage, size_t rows[ROWS])
{
    size_t count = 0;
    for (size_t i = 0; i < ROWS; i++)
        if (explainers[i].stage == stage && (!i || explainers[i].explain != explainers[i - 1].explain))
            rows[count++] = i;
    return count;
}

static void shuffle_rows(size_t *rows, size_t count, uint64_t *seed)
{
    for (size_t i = count; i > 1; i--) {
        *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        const size_t other = (size_t)((*seed >> 33) % i), row = rows[i - 1];
        rows[i - 1] = rows[other];
        rows[other] = row;
    }
}

static void trace_causes(const struct shapeproof_check *check, const char *explainer, size_t from)
{
    for (size_t i = from; i < check->cause_count && sp_is_traced(check->watch); i++) {
        const struct shapeproof_cause *cause = &check->causes[i];
        if (cause->message) sp_trace(check->watch, "  %s found %s: %s", explainer, cause->id, cause->message);
    }
}

/* Runs all; of each row the number of causes before and behind it goes into `begin` and `end`. */
static void run_stages(struct shapeproof_check *check, uint64_t seed, size_t begin[ROWS], size_t end[ROWS])
{
    for (enum sp_stage stage = 0; stage < SP_STAGE_COUNT; stage++) {
        size_t rows[ROWS];
        const size_t count = list_stage(stage, rows);
        if (seed) shuffle_rows(rows, count, &seed);
        if (stage == SP_STAGE_MEASURES) sp_count(check);
        sp_trace(check->watch, "stage: %s; %zu findings have no cause", stages[stage], sp_check_open(check));
        for (size_t i = 0; i < count; i++) {
            check->is_cancelled |= !sp_goes_on(check->watch, explainers[rows[i]].name, rows[i]);
            if (check->is_cancelled) return;
            begin[rows[i]] = check->cause_count;
            explainers[rows[i]].explain(check);
            end[rows[i]] = check->cause_count;
            trace_causes(check, explainers[rows[i]].name, begin[rows[i]]);
        }
    }
}

/* Causes stand in the order of the list, whatever the order in which they were found. */
static void explain_findings(struct shapeproof_check *check, uint64_t seed)
{
    size_t begin[ROWS] = {0}, end[ROWS] = {0}, count = 0;
    run_stages(check, seed, begin, end);
    size_t *order = sp_realloc(NULL, check->cause_count, sizeof *order);
    for (size_t row = 0; row < ROWS; row++)
        for (size_t cause = begin[row]; cause < end[row]; cause++)
            if (check->causes[cause].message) order[count++] = cause; /* else it was taken back */
    sp_check_order_causes(check, order, count);
    free(order);
}

/* The subject of a check. */
struct subject {
    const struct shapeproof_inventory *inventory;
    const struct shapeproof_tables *tables;
    const struct shapeproof_config *config;
    const struct shapeproof_check_options *options;
    uint64_t seed;
    struct sp_answer_cache *asked;
};

/* `data` is borrowed, and needed no longer afterwards; NULL when no data are read. */
static struct shapeproof_check *compare_with_prediction(const struct subject *subject, struct shapeproof_data *data,
                                                        struct shapeproof_error *error)
{
    struct shapeproof_check *check = sp_realloc(NULL, 1, sizeof *check);
    *check = (struct shapeproof_check){.inventory = subject->inventory,
                                       .tables = subject->tables,
                                       .table_name = subject->options->table,
                                       .config = subject->config,
                                       .given_config = subject->config,
                                       .data = data,
                                       .reads_data = data != NULL,
                                       .data_error = error,
                                       .watch = subject->options->watch,
                                       .asked = subject->asked};
    check->prediction = sp_predict_subject(check, error);
    if (!check->prediction) {
        free(check);
        return NULL;
    }
    sp_match_begin(&check->match, check->inventory, check->prediction);
    check->naming = sp_naming_infer(&check->arena, &check->match);
    sp_check_quantisation(check);
    sp_match_rest(&check->match, &check->naming);
    sp_find_differences(check);
    explain_findings(check, subject->seed);
    if (check->is_cancelled) {
        sp_fail_cancelled(error);
        shapeproof_check_free(check);
        return NULL;
    }
    sp_decide(check);
    sp_group_findings(check);
    if (subject->options->expectations) sp_check_expect(check, subject->options->expectations);
    sp_say_remedy(check);
    sp_advise(check);
    check->data = NULL;
    check->data_error = NULL;
    check->watch = NULL;
    check->asked = NULL;
    return check;
}

static struct shapeproof_check *compare_with_data(const struct subject *subject, struct shapeproof_error *error)
{
    struct shapeproof_data *data = shapeproof_data_open(subject->inventory, error);
    struct shapeproof_check *check = data ? compare_with_prediction(subject, data, error) : NULL;
    shapeproof_data_close(data);
    if (!check || error->status == SHAPEPROOF_OK) return check;
    shapeproof_check_free(check);
    return NULL;
}

struct shapeproof_check *sp_check_new_shuffled(const struct shapeproof_inventory *inventory,
                                               const struct shapeproof_tables *tables,
                                               const struct shapeproof_config *config,
                                               const struct shapeproof_check_options *options, uint64_t seed,
                                               struct sp_answer_cache *asked, struct shapeproof_error *error)
{
    static const struct shapeproof_check_options none = {0};
    sp_error_reset(error);
    const struct subject subject = {inventory, tables, config, options ? options : &none, seed, asked};
    if (!sp_options_are_known(subject.options->reserved, error)) return NULL;
    return subject.options->data ? compare_with_data(&subject, error) : compare_with_prediction(&subject, NULL, error);
}

struct shapeproof_check *shapeproof_check_new(const struct shapeproof_inventory *inventory,
                                              const struct shapeproof_tables *tables,
                                              const struct shapeproof_config *config,
                                              const struct shapeproof_check_options *options,
                                              struct shapeproof_error *error)
{
    struct sp_answer_cache asked = {.watch = options ? options->watch : NULL};
    struct shapeproof_check *check = sp_check_new_shuffled(inventory, tables, config, options, 0, &asked, error);
    sp_asked_free(&asked);
    return check;
}
