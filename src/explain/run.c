/* SPDX-License-Identifier: MIT
 * The flow of a check: predict, name, match, findings, causes, groups, verdict. */
#include "explain/run.h"

#include <stdlib.h>
#include <string.h>

#include "base/budget.h"
#include "base/call.h"
#include "base/fault.h"
#include "check/check.h"
#include "config/config.h"
#include "explain/adapter_task.h"
#include "explain/causes.h"
#include "explain/own_table.h"
#include "explain/remedy.h"
#include "lang/prediction.h"

/* ---- contradictions ---- */

/* A configuration that contradicts itself gives no prediction. The file may tell which part of it is right:
 *
 *     tied tensors have two shapes                       all but the tie is predicted (predict_loosely)
 *     architectures and model_type name two models       the one under which the file has fewer errors (predict_either)
 *     the user names a table without the class           the class is left out (predict_without_class) */

/* ---- ties of different shapes ---- */

/* The prediction without ties between tensors of different shapes; NULL when there is none. */
static struct shapeproof_prediction *predict_loosely(struct shapeproof_check *check)
{
    struct shapeproof_config *config = sp_config_variant(check->config);
    sp_config_loosen(config);
    struct shapeproof_prediction *prediction = sp_check_predict(check, config, NULL, NULL);
    if (prediction) {
        check->config = check->own_config = config;
        return prediction;
    }
    shapeproof_config_free(config);
    return NULL;
}

/* ---- two models ---- */

/* The prediction under one of the two names. */
struct reading {
    struct shapeproof_config *config;
    struct shapeproof_prediction *prediction;
    size_t errors; /* of the file, under it */
};

/* The reading of the configuration with that key set otherwise; without a prediction, where there is none. */
static struct reading read_with(const struct shapeproof_check *check, const char *key, struct shapeproof_value value)
{
    struct reading reading = {.config = sp_config_variant(check->config), .errors = SIZE_MAX};
    sp_config_set_value(reading.config, key, value, "the other");
    reading.prediction = sp_check_predict(check, reading.config, NULL, NULL);
    if (reading.prediction) reading.errors = sp_match_best_errors(check->inventory, reading.prediction);
    return reading;
}

static void free_reading(struct reading *reading)
{
    shapeproof_prediction_free(reading->prediction);
    shapeproof_config_free(reading->config);
    *reading = (struct reading){.config = NULL};
}

/* The prediction under the class or under the model_type, whichever leaves fewer errors; under the model_type, which
 * most loaders read, when both leave as many. NULL when the configuration does not name two models, or none is
 * predicted. */
static struct shapeproof_prediction *predict_either(struct shapeproof_check *check)
{
    struct sp_two_models two;
    if (!sp_chooses_two(check->tables, sp_config_hyper(check->config), &two)) return NULL;
    struct reading by_type =
        read_with(check, "architectures", (struct shapeproof_value){.type = SHAPEPROOF_VALUE_NULL});
    struct reading by_class = read_with(check, "model_type", sp_value_string(two.class_type));
    const bool class_wins = by_class.errors < by_type.errors, as_good = by_class.errors == by_type.errors;
    struct reading *best = class_wins ? &by_class : &by_type;
    free_reading(class_wins ? &by_type : &by_class);
    if (!best->prediction) {
        free_reading(best);
        return NULL;
    }
    check->config = check->own_config = best->config;
    check->contradiction = (struct sp_contradiction){two, class_wins, as_good, best->errors, NULL};
    return best->prediction;
}

/* The prediction of the table that the user names, without the class of the configuration, which that table does not
 * have; NULL when there is none. */
static struct shapeproof_prediction *predict_without_class(struct shapeproof_check *check)
{
    struct sp_two_models two;
    sp_chooses_two(check->tables, sp_config_hyper(check->config), &two);
    if (!*two.model_type || !*two.class) return NULL;
    struct reading reading =
        read_with(check, "architectures", (struct shapeproof_value){.type = SHAPEPROOF_VALUE_NULL});
    if (!reading.prediction) {
        free_reading(&reading);
        return NULL;
    }
    check->config = check->own_config = reading.config;
    check->contradiction.left_out = two.class;
    return reading.prediction;
}

/* ---- the task of an adapter ---- */

/* The keys that say how many labels there are. Of these id2label, whose entries are labels, comes first where both are
 * set. */
enum { LABEL_KEYS = 2 };
static const char *const label_keys[LABEL_KEYS] = {"num_labels", "id2label"};

/* The configuration of the base with the class that the task of an adapter asks for and, where `with` says so, as many
 * labels as the head in the adapter has rows: the first `with` of {num_labels, id2label}. */
static struct shapeproof_config *config_for_task(struct shapeproof_check *check, const struct sp_adapter_task *task,
                                                 size_t with)
{
    struct shapeproof_config *config = sp_config_variant(check->config);
    struct shapeproof_value *class = sp_arena_alloc(&check->arena, sizeof *class);
    *class = sp_value_string(task->class);
    sp_config_set_value(config, "architectures",
                        (struct shapeproof_value){.type = SHAPEPROOF_VALUE_LIST, .count = 1, .items = class},
                        "task_type in adapter_config.json");
    if (with > 0)
        sp_config_set_value(config, label_keys[0], sp_value_int((int64_t)task->labels), "the rows of the head");
    if (with > 1)
        sp_config_set_value(config, label_keys[1], (struct shapeproof_value){.type = SHAPEPROOF_VALUE_NULL},
                            "the head");
    return config;
}

/* Whether the table reads all keys of labels that config_for_task set. */
static bool reads_labels(const struct shapeproof_prediction *prediction, size_t with)
{
    for (size_t i = 0; i < shapeproof_prediction_unused_count(prediction); i++)
        for (size_t k = 0; k < with; k++)
            if (strcmp(shapeproof_prediction_unused(prediction, i), label_keys[k]) == 0) return false;
    return true;
}

/* The prediction for the class that the task of an adapter asks for, with as many labels as the head in the adapter has
 * rows, as far as the table reads labels; NULL when the file is no such adapter, or no table has this class. */
static struct shapeproof_prediction *predict_for_task(struct shapeproof_check *check)
{
    struct sp_adapter_task task;
    struct shapeproof_error ignored = {0};
    if (!sp_adapter_task_read(check, &task)) return NULL;
    const struct shapeproof_predict_options limited = {.most_tensors = sp_check_most_predicted(check->inventory)};
    size_t with = task.labels && task.labels <= INT32_MAX ? LABEL_KEYS : 0;
    struct shapeproof_config *config = config_for_task(check, &task, with);
    struct shapeproof_prediction *prediction = shapeproof_predict(check->tables, config, &limited, &ignored);
    while (prediction && with && !reads_labels(prediction, with)) {
        shapeproof_prediction_free(prediction);
        shapeproof_config_free(config);
        config = config_for_task(check, &task, --with);
        prediction = shapeproof_predict(check->tables, config, &limited, &ignored);
    }
    if (!prediction) {
        shapeproof_config_free(config);
        return NULL;
    }
    check->config = check->own_config = config;
    check->task_head = task.head;
    check->task_labels = task.labels;
    return prediction;
}

/* The prediction of the check; NULL with an error. If the configuration contradicts itself, check->own_config has the
 * part of it with which the file agrees, and check->contradiction says which that is. For an adapter whose task needs
 * another class, it has this class. */
static struct shapeproof_prediction *predict_subject(struct shapeproof_check *check, struct shapeproof_error *error)
{
    const struct shapeproof_predict_options chosen = {.table = check->table_name,
                                                      .most_tensors = sp_check_most_predicted(check->inventory)};
    struct shapeproof_prediction *prediction = predict_for_task(check);
    if (!prediction) prediction = shapeproof_predict(check->tables, check->config, &chosen, error);
    if (prediction) return prediction;
    if (error->status == SHAPEPROOF_ERR_TABLE) prediction = predict_loosely(check);
    if (error->status == SHAPEPROOF_ERR_UNKNOWN)
        prediction = check->table_name ? predict_without_class(check) : predict_either(check);
    if (prediction) sp_error_reset(error);
    return prediction;
}

/* ---- advice ---- */

/* What to do, where no explainer has said it. */

/* What helps against a cause of that kind, whatever its details are. */
static const char *const usual_hints[SP_CAUSE_COUNT] = {
    [SP_CAUSE_NUMBERED] = "renumber them in the file as the model numbers them",
    [SP_CAUSE_OWN_LOOP] = "correct the bounds of this loop in the table",
    [SP_CAUSE_TWO_MODELS] = "let architectures and model_type name the same model",
    [SP_CAUSE_QUANTISED_MODULE] = "in the configuration, exempt exactly the weights that the file does not quantise",
    [SP_CAUSE_SPARSE] = "save them again as dense tensors: t.to_dense()",
    [SP_CAUSE_OVERLAP] = "save clones of them, so that each has a storage of its own: t.clone()",
    [SP_CAUSE_EXPANDED] = "save them with a place for each element: t.contiguous()",
    [SP_CAUSE_TIED_APART] = "keep one of the two: most loaders keep only one, and not all keep the same one",
    [SP_CAUSE_ADAPTER] = "load it onto its base: PeftModel.from_pretrained(base, DIRECTORY)",
    [SP_CAUSE_ADAPTER_SHAPE] = "load it onto its own base, base_model_name_or_path in adapter_config.json",
    [SP_CAUSE_ADAPTER_MODULE] = "load it onto its own base, base_model_name_or_path in adapter_config.json",
    [SP_CAUSE_ADAPTER_PAIR] = "save the adapter again: both matrices of each pair are needed",
    [SP_CAUSE_ADAPTER_RANK] = "set r and rank_pattern in adapter_config.json to the ranks in the file",
    [SP_CAUSE_ADAPTER_PART] = "save the adapter again with all its tensors, or correct adapter_config.json",
    [SP_CAUSE_ADAPTER_FORMAT] = "save the adapter again with save_pretrained of PEFT, or give the file the name of its "
                                "format",
    [SP_CAUSE_ADAPTER_CONFIG] = "use the adapter_config.json that was saved with the adapter, or save both again",
    [SP_CAUSE_SHARD_MISSING] = "fetch the shard again",
    [SP_CAUSE_PIPELINE] = "gather the stages into one checkpoint",
    [SP_CAUSE_TENSOR_PARALLEL] = "gather the ranks into one checkpoint",
    [SP_CAUSE_INCOMPLETE] = "convert or save the model again: no loader can restore the missing parts",
    [SP_CAUSE_RENAMED] = "give them the names of the model: loaders look only for these",
    [SP_CAUSE_LAYERS_MISSING] = "take a file with all layers, or build a model without these",
    [SP_CAUSE_EXPERTS_MISSING] = "take a file that has them: the router has a row for each expert",
    [SP_CAUSE_BIAS] = "no hyper-parameter gives biases in exactly these places: convert the model again",
    [SP_CAUSE_TRANSPOSED] = "transpose them with W.t().contiguous(), and also square matrices of the same kinds, "
                            "whose shapes do not show it",
    [SP_CAUSE_UNRELATED] =
        "use the configuration of the model that is in the file; 'shapeproof infer' finds out which model it is",
    [SP_CAUSE_INTEGERS] = "export the model again together with the scales: no weight can be computed without them",
};

/* What is to be done about findings without a cause, or why that is not known; for the kind that most of them have. */
static const char *const open_hints[SP_FINDING_KINDS] = {
    [SHAPEPROOF_FINDING_MISSING] = "no other tensor fits, and no hyper-parameter removes it",
    [SHAPEPROOF_FINDING_UNEXPECTED] = "no hyper-parameter adds it, and no missing tensor is like it",
    [SHAPEPROOF_FINDING_SHAPE] = "no fix is known: no single value of a hyper-parameter gives these shapes",
    [SHAPEPROOF_FINDING_DTYPE] = "convert these tensors to the dtype of the rest",
    [SHAPEPROOF_FINDING_QUANTISED] = "in the configuration, exempt exactly the weights that the file does not "
                                     "quantise",
    [SHAPEPROOF_FINDING_LACKING] = "take a file that has these tensors",
    [SHAPEPROOF_FINDING_UNUSED] = "remove the expectation: what it expects no longer exists",
    [SHAPEPROOF_FINDING_EXPIRED] = "repair the difference, or give the expectation a later day",
};

/* Gives a cause the usual hint of its kind; an error for which there is none, "no fix is known". */
static void add_usual_hint(struct shapeproof_cause *cause)
{
    for (size_t kind = 0; kind < SP_CAUSE_COUNT; kind++)
        if (cause->id == sp_cause_rows[kind].id) cause->hint = usual_hints[kind];
    if (!cause->hint && cause->severity == SHAPEPROOF_SEVERITY_ERROR) cause->hint = "no fix is known";
}

/* The keys of the configuration that neither the table nor anything else reads: "; nothing reads a, b and c", or "". */
static const char *unread_said(struct shapeproof_check *check)
{
    enum { MOST_KEYS = 4 };
    const char *keys[MOST_KEYS];
    const size_t count = sp_prediction_unread(check->prediction, check->config, keys, MOST_KEYS);
    struct sp_text text = {0};
    for (size_t i = 0; i < count; i++)
        sp_text_printf(&text, "%s%s", !i ? "; the table does not read " : i + 1 < count ? ", " : " and ", keys[i]);
    return text.length ? sp_text_keep(&text, &check->arena) : "";
}

/* Advice for a table of the user's: the row of the first open finding of that kind may be wrong, or be lacking. There
 * must be such a finding. */
static const char *advice_for_own(struct shapeproof_check *check, enum shapeproof_finding_kind kind)
{
    const char *file = shapeproof_prediction_table_file(check->prediction);
    size_t first = 0;
    while (check->findings[first].kind != kind || !sp_finding_is_open(&check->findings[first])) first++;
    if (kind == SHAPEPROOF_FINDING_UNEXPECTED)
        return sp_arena_printf(&check->arena,
                               "no hyper-parameter adds these tensors: if they belong to the model, "
                               "add rows to %s%s",
                               file, unread_said(check));
    const struct sp_row *row = sp_own_row(&check->prediction->origins[check->findings[first].predicted]);
    if (!row) return open_hints[kind];
    return sp_arena_printf(&check->arena,
                           "no single value of a hyper-parameter %s: if the configuration is right, correct %s:%zu%s",
                           kind == SHAPEPROOF_FINDING_SHAPE ? "gives these shapes" : "leaves it out", file,
                           sp_span_line(row->span), unread_said(check));
}

/* The advice for findings without a cause, by the kind that most of them have; NULL when there are none, and everything
 * was tried that could explain them. */
static const char *advice_for_open(struct shapeproof_check *check)
{
    size_t counts[SP_FINDING_KINDS] = {0}, most = 0;
    for (size_t i = 0; i < check->finding_count; i++)
        if (sp_finding_is_open(&check->findings[i])) counts[check->findings[i].kind]++;
    for (size_t kind = 0; kind < SP_FINDING_KINDS; kind++)
        if (counts[kind] > counts[most]) most = kind;
    const bool lacked_steps = sp_budget_step_refusals() > check->refusals_before;
    if (!counts[most])
        return lacked_steps && check->cause_count
                   ? "a trial took too many steps, so another cause may be better; --limit steps=N allows more"
                   : NULL;
    if (check->open_hint) return check->open_hint;
    if (lacked_steps) return "no fix is known: a trial took too many steps; --limit steps=N allows more";
    const bool about_tensors =
        most == SHAPEPROOF_FINDING_MISSING || most == SHAPEPROOF_FINDING_UNEXPECTED || most == SHAPEPROOF_FINDING_SHAPE;
    if (about_tensors && sp_is_own_table(check->prediction))
        return advice_for_own(check, (enum shapeproof_finding_kind)most);
    return open_hints[most];
}

/* Gives every error, and the warnings after which something is to be done, a hint if it has none; and says what is to
 * be done about findings without a cause, or why that is not known. */
static void advise(struct shapeproof_check *check)
{
    for (size_t i = 0; i < check->cause_count; i++)
        if (!check->causes[i].hint && check->causes[i].severity != SHAPEPROOF_SEVERITY_NOTE)
            add_usual_hint(&check->causes[i]);
    check->advice = advice_for_open(check);
}

/* ---- run ---- */

/* An explainer has a row for each of its causes, one below the other. */
static const struct explainer {
    enum sp_stage stage;
    void (*explain)(struct shapeproof_check *check);
    const char *name;
} explainers[] = {
#define CAUSE(stage, explainer, name, severity, id, meaning) {SP_STAGE_##stage, sp_explain_##explainer, #explainer},
#define ALSO(stage, explainer) {SP_STAGE_##stage, sp_explain_##explainer, #explainer},
#include "explain/causes.def"
#include "lang/tables.h"
#undef CAUSE
#undef ALSO
};
enum { ROWS = sizeof explainers / sizeof *explainers };

/* What the trace calls the stages. */
static const char *const stages[SP_STAGE_COUNT] = {
    [SP_STAGE_NAMES] = "names",
    [SP_STAGE_STORAGE] = "storage",
    [SP_STAGE_FILES] = "other files",
    [SP_STAGE_TIES] = "ties",
    [SP_STAGE_STRUCTURE] = "structure",
    [SP_STAGE_TRIALS] = "trials of hyper-parameters",
    [SP_STAGE_ALIGNMENT] = "alignment with other names and sizes",
    [SP_STAGE_UNMATCHED] = "unmatched tensors",
    [SP_STAGE_MODELS] = "other models",
    [SP_STAGE_CONSISTENCY] = "consistency",
};

/* Lists the rows of a stage, the first one of each explainer; returns how many. */
static size_t list_stage(enum sp_stage stage, size_t rows[ROWS])
{
    size_t count = 0;
    for (size_t i = 0; i < ROWS; i++)
        if (explainers[i].stage == stage && (!i || explainers[i].explain != explainers[i - 1].explain))
            rows[count++] = i;
    return count;
}

/* Shuffles the rows (Fisher and Yates) by numbers of a linear congruential generator, whose state is `seed`. */
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

/* Runs all explainers; those of a row made the causes from begin[row] to end[row] - 1. Ends early when the caller
 * cancels the check. */
static void run_stages(struct shapeproof_check *check, uint64_t seed, size_t begin[ROWS], size_t end[ROWS])
{
    for (enum sp_stage stage = 0; stage < SP_STAGE_COUNT; stage++) {
        size_t rows[ROWS];
        const size_t count = list_stage(stage, rows);
        if (seed) shuffle_rows(rows, count, &seed);
        if (stage == SP_STAGE_CONSISTENCY) sp_count(check);
        sp_trace(check->watch, "stage: %s; %zu findings have no cause", stages[stage], sp_check_open(check));
        for (size_t i = 0; i < count; i++) {
            check->is_cancelled |= !sp_goes_on(check->watch, explainers[rows[i]].name, rows[i], ROWS);
            if (check->is_cancelled) return;
            begin[rows[i]] = check->cause_count;
            explainers[rows[i]].explain(check);
            end[rows[i]] = check->cause_count;
            trace_causes(check, explainers[rows[i]].name, begin[rows[i]]);
        }
    }
}

/* Runs the explainers, in an order within each stage that follows from the seed, 0 being that of the list. The causes
 * are put into the order of the list in any case, and those that were taken back are dropped. */
static void explain_findings(struct shapeproof_check *check, uint64_t seed)
{
    size_t begin[ROWS] = {0}, end[ROWS] = {0}, count = 0;
    run_stages(check, seed, begin, end);
    size_t *order = sp_realloc(NULL, check->cause_count, sizeof *order);
    for (size_t row = 0; row < ROWS; row++)
        for (size_t cause = begin[row]; cause < end[row]; cause++)
            if (check->causes[cause].message) order[count++] = cause; /* else it was taken back */
    sp_check_order_causes(check, order, count);
    sp_free(order);
}

/* What a check is about; see sp_check_new_shuffled. */
struct subject {
    const struct shapeproof_inventory *inventory;
    const struct shapeproof_tables *tables;
    const struct shapeproof_config *config;
    const struct shapeproof_check_options *options;
    uint64_t seed;
    struct sp_answer_cache *asked;
};

/* The check of the file; NULL with an error when there is no prediction, or the caller cancels it. `data` is borrowed
 * until it returns; NULL when no data are to be read. If reading data fails, `error` is filled, and there is a check.
 */
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
                                       .asked = subject->asked,
                                       .refusals_before = sp_budget_step_refusals()};
    check->prediction = predict_subject(check, error);
    if (!check->prediction) {
        shapeproof_check_free(check);
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
    advise(check);
    check->data = NULL;
    check->data_error = NULL;
    check->watch = NULL;
    check->asked = NULL;
    return check;
}

/* The same with the data of the file; NULL with an error also when reading them fails. */
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
    SP_CALL(error, NULL);
    SP_SPENDS("checking it");
    SP_BUDGET_REUSE(inventory);
    sp_tables_reuse(tables);
    sp_config_reuse(config);
    struct sp_answer_cache asked = {.watch = options ? options->watch : NULL};
    sp_fault_begin(error);
    const size_t refusals = sp_budget_memory_refusals();
    struct shapeproof_check *check = sp_check_new_shuffled(inventory, tables, config, options, 0, &asked, error);
    sp_asked_free(&asked);
    if (check && sp_budget_memory_refusals() > refusals) sp_call_exceed(); /* a cause may be one that was not tried */
    if (sp_fault_end(error)) return check;
    shapeproof_check_free(check);
    return NULL;
}
