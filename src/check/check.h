/* SPDX-License-Identifier: MIT
 * A comparison under way. Findings come first, from the match alone; then explainers turn them into causes, each in
 * its own function; what no cause explains stays a finding. Of a GPT-2 of two layers, when the configuration says three
 * and a bias was lost:
 *
 *   match          tensor_of[3] = 17           h.0.ln_1.bias is the prediction's tensor 3, and the file's tensor 17
 *                  tensor_of[21] = SHAPEPROOF_NONE     h.1.ln_2.bias is not there
 *   findings       0  missing  h.1.ln_2.bias            -> cause SHAPEPROOF_NONE
 *                  1  missing  h.2.ln_1.weight          -> cause 0
 *                  ...
 *                 12  missing  h.2.mlp.c_proj.bias      -> cause 0
 *   places         0  "h.{}.ln_2.bias" with 1, 1  "h.{}.ln_1.weight" with 2, ...: by which findings are grouped
 *   causes         0  hyperparameter: n_layer is 3 in config.json, the file has 2 (12 tensors)
 *   groups         0  h.1.ln_2.bias is missing, 1  h.2.ln_1.weight is missing, ...: the lines of a report
 *   counts, declared, verdict, summary: what follows from them
 *
 * explain/run.c has the flow. */
#ifndef SP_CHECK_CHECK_H
#define SP_CHECK_CHECK_H

#include <string.h>

#include "base/text.h"
#include "base/watch.h"
#include "check/quantised.h"
#include "config/choose.h"
#include "config/config.h"
#include "match/layers.h"
#include "match/match.h"
#include "model/layouts.h"
#include "names/collapse.h"
#include "names/patterns.h"
#include "shapeproof/check.h"
#include "shapeproof/data.h"

/* How many kinds of findings there are. */
#define SP_ONE_FINDING(name, value, id, severity, meaning) +1
enum { SP_FINDING_KINDS = 0 SHAPEPROOF_FINDINGS(SP_ONE_FINDING) };
#undef SP_ONE_FINDING

/* Which model of a configuration that names two is predicted. */
struct sp_contradiction {
    struct sp_two_models two; /* a NULL class: the configuration names one model */
    bool by_class;            /* the model of the class is predicted; false: that of the model_type */
    bool as_good;             /* the file agrees as well with the other one */
    size_t errors;            /* of the file under the predicted one */
    const char *left_out;     /* the configured class, where the table that the user names does not have it; or NULL */
};

struct shapeproof_check {
    struct sp_arena arena; /* of all texts */
    /* what is compared */
    const struct shapeproof_inventory *inventory;
    const struct shapeproof_tables *tables;
    const char *table_name;                 /* NULL: the configuration says it */
    const struct shapeproof_config *config; /* of the prediction */
    struct {                                /* what shapeproof_check_path opened; NULL where the caller owns it */
        struct shapeproof_inventory *inventory;
        struct shapeproof_tables *tables;
        struct shapeproof_config *config;
    } opened;
    /* `config`, where given_config contradicts itself, or names another class than the task of an adapter; or NULL */
    struct shapeproof_config *own_config;
    const struct shapeproof_config *given_config; /* of the caller */
    struct sp_contradiction contradiction;
    const char *task_head; /* which the task of an adapter adds to its base, "ForSequenceClassification"; or NULL */
    uint64_t task_labels;  /* labels of this head; 0: the configuration says how many */
    struct shapeproof_data *data;        /* NULL when only headers are read */
    bool reads_data;                     /* the check was asked to compare data; `data` is there while explainers run */
    struct shapeproof_error *data_error; /* filled when reading it failed */
    const struct shapeproof_watch *watch; /* of the caller; only while explainers run */
    bool is_cancelled;                    /* the caller wants the check to end */
    size_t trials;                        /* that were made */
    struct sp_answer_cache *asked; /* what the file is by itself, as far as it was asked; only while explainers run */
    struct shapeproof_prediction *prediction;
    struct sp_naming naming; /* how names of the file become predicted ones */
    struct sp_match match;
    struct sp_quantisation quantisation;
    /* what comes of it */
    struct sp_levels levels;     /* of the prediction; explain/missing_layers.c reads them when something is missing */
    struct sp_patterns patterns; /* of the findings' names */
    struct shapeproof_finding *findings;
    struct sp_place *places; /* of the findings' names; parallel to them */
    size_t finding_count, finding_capacity, place_capacity;
    struct shapeproof_cause *causes; /* findings have their numbers */
    size_t cause_count, cause_capacity;
    bool half_explained; /* what a cause says leaves it open whether the file is another model */
    struct shapeproof_finding_group *groups;
    size_t group_count;
    struct shapeproof_counts counts;
    struct shapeproof_declared *declared;
    size_t declared_count, declared_capacity;
    const char *summary, *headline; /* the verdict's reason, in full and in a line */
    size_t refusals_before;         /* refusals of steps (base/budget.h) before this check */
    const char *advice;             /* on findings without a cause, or NULL */
    const char *open_hint;          /* what to say of open findings in place of the usual hint; or NULL */
    enum shapeproof_verdict verdict;
};

/* ---- check.c: what explainers use ---- */

/* Adds a finding of its kind, with the kind's id and severity, that no cause explains yet; strings must live in the
 * arena, the inventory or the prediction. */
void sp_check_add_finding(struct shapeproof_check *check, struct shapeproof_finding finding);
/* Adds the finding that something optional or promised is not there: a tensor, which may be a predicted one, or a whole
 * layer. */
void sp_check_add_lacking(struct shapeproof_check *check, const char *name, size_t predicted,
                          enum shapeproof_severity severity, const char *message);
/* Adds a cause and returns it, until the next one is added; strings must live in the arena or be static. */
struct shapeproof_cause *sp_check_add_cause(struct shapeproof_check *check, struct shapeproof_cause cause);
/* Puts the causes into another order: order[i] is the number of the one that becomes the i-th of `count`. Those that
 * are not among them go; they must explain nothing. */
void sp_check_order_causes(struct shapeproof_check *check, const size_t *order, size_t count);
/* Says that a finding is explained by a cause. */
void sp_check_explain(struct shapeproof_check *check, size_t finding, size_t cause);
/* An error that no cause explains. */
static inline bool sp_finding_is_open(const struct shapeproof_finding *finding)
{
    return finding->cause == SHAPEPROOF_NONE && finding->severity == SHAPEPROOF_SEVERITY_ERROR;
}
static inline bool sp_finding_is_open_as(const struct shapeproof_finding *finding, enum shapeproof_finding_kind kind)
{
    return sp_finding_is_open(finding) && finding->kind == kind;
}
/* How many tensors the prediction for a file may have. A configuration of 200 bytes can predict millions, which take
 * gigabytes and minutes. 16 for each tensor of the file, and 163,840 besides, since a file may be one shard of many: 61
 * layers of 384 experts have 72,000 tensors, with scales twice as many. A report of so many takes less than 2 s and 260
 * MB in each format. */
uint64_t sp_check_most_predicted(const struct shapeproof_inventory *inventory);
/* The prediction of the check's table under another configuration, within the scope (NULL: all of it). NULL, with an
 * error unless that is NULL, when there is none. */
struct shapeproof_prediction *sp_check_predict(const struct shapeproof_check *check, struct shapeproof_config *config,
                                               const struct sp_scope *scope, struct shapeproof_error *error);
/* How many findings are errors that no cause explains. */
size_t sp_check_open(const struct shapeproof_check *check);
/* Of each predicted tensor the open finding that it is missing, or SHAPEPROOF_NONE. To be freed. */
size_t *sp_check_missing(const struct shapeproof_check *check);
/* Whether the predicted tensor is in the file. */
static inline bool sp_is_stored(const struct shapeproof_check *check, size_t predicted)
{
    return check->match.tensor_of[predicted] != SHAPEPROOF_NONE;
}
/* How many tensors of the file are predicted ones. */
static inline size_t sp_check_matched(const struct shapeproof_check *check) { return check->match.paired; }
/* Whether there are both, missing and unexpected: only then can one be the other under another name or in another
 * layout. */
bool sp_check_open_both(const struct shapeproof_check *check);
/* Whether the cause explains the finding; `cause_index` points to the cause's number, a size_t. For sp_check_names. */
bool sp_explained_by(const struct shapeproof_finding *finding, const void *cause_index);
/* The hyper-parameter of that name in the prediction, or SHAPEPROOF_NONE. */
size_t sp_find_hyperparameter(const struct shapeproof_prediction *prediction, const char *name);
/* What a file calls a hyper-parameter whose metadata are the configuration: "llama.attention.head_count_kv" of GGUF for
 * num_key_value_heads. In the arena. */
const char *sp_key_said(struct shapeproof_check *check, const char *key);
/* Whether no key says it, and the tensors of the file show it, so that no setting can be wrong. */
bool sp_is_shown(const struct shapeproof_check *check, const char *key);
/* Where a hyper-parameter got its value: "in config.json", "by default", "on the command line". In the arena. */
const char *sp_said_where(struct shapeproof_check *check, struct shapeproof_provenance from);
/* "vocab_size is 50257 in config.json", in the arena. */
const char *sp_said(struct shapeproof_check *check, struct shapeproof_hyperparameter hyper);

/* ---- findings.c: lists of names in one line, in the arena (names/collapse.h) ---- */

/* Of the findings that `wanted` accepts; "" when there are none. */
const char *sp_check_names(struct shapeproof_check *check,
                           bool (*wanted)(const struct shapeproof_finding *, const void *), const void *context);

/* ---- findings.c, expected.c: the steps before and after the explainers ---- */

void sp_find_differences(struct shapeproof_check *check);
void sp_group_findings(struct shapeproof_check *check);
/* Turns the findings that are expected into notes, and the causes that explain no others; adds a finding for each
 * expectation that is expired or that nothing fulfilled; decides again. */
void sp_check_expect(struct shapeproof_check *check, const struct shapeproof_expectations *expectations);

/* ---- counts.c ---- */

/* What a tensor of the file is that shares no storage with an earlier one. */
enum sp_share {
    SP_SHARE_LOGICAL, /* parameters of the model */
    SP_SHARE_COPY,    /* of a tied tensor that is stored as well */
    SP_SHARE_BUFFER,
    SP_SHARE_STATE /* of a trainer */
};

/* Of each tensor of the file, from the findings and their causes. To be freed. */
enum sp_share *sp_shares(const struct shapeproof_check *check);
/* Parameters of the model in a tensor of the file: those that a packed weight stands for, none in its scales. */
uint64_t sp_parameters_in(const struct shapeproof_check *check, size_t tensor);
/* Fills check->counts, from the findings and their causes. */
void sp_count(struct shapeproof_check *check);

/* ---- verdict.c ---- */

void sp_decide(struct shapeproof_check *check);

#endif
