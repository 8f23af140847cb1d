/* SPDX-License-Identifier: MIT
 * A comparison under way. Findings come first, from the match alone; then explainers turn them into causes, each in
 * its own function; what no cause explains stays a finding. */
#ifndef SP_CHECK_CHECK_H
#define SP_CHECK_CHECK_H

#include <string.h>

#include "base/text.h"
#include "check/quantised.h"
#include "config/config.h"
#include "match/layers.h"
#include "match/match.h"
#include "model/layouts.h"
#include "names/patterns.h"
#include "names/some.h"
#include "shapeproof/check.h"
#include "shapeproof/data.h"

struct sp_check {
    struct sp_arena arena;
    const struct sp_inventory *inventory;
    const struct sp_tables *tables;
    const char *table_name;
    const struct sp_config *config;
    struct sp_data *data;        /* NULL when only headers are read */
    struct sp_error *data_error; /* filled when reading it failed */
    struct sp_prediction *prediction;
    struct sp_naming naming;
    struct sp_match match;
    struct sp_quantisation quantisation;
    struct sp_levels levels;     /* of the prediction; explain/layers.c reads them when something is missing */
    struct sp_patterns patterns; /* of the findings' names */
    struct sp_finding *findings;
    struct sp_place *places; /* of the findings' names; parallel to them */
    size_t finding_count, finding_capacity, place_capacity;
    struct sp_cause *causes;
    size_t cause_count, cause_capacity;
    struct sp_finding_group *groups;
    size_t group_count;
    struct sp_counts counts;
    struct sp_declared *declared;
    size_t declared_count, declared_capacity;
    const char *summary;
    enum sp_verdict verdict;
};

/* ---- check.c: what explainers use ---- */

/* Adds a finding of its kind, with the kind's id and severity, that no cause explains yet; strings must live in the
 * arena, the inventory or the prediction. */
void sp_check_add_finding(struct sp_check *check, struct sp_finding finding);
/* Adds a cause and returns its index; strings must live in the arena or be static. */
size_t sp_check_add_cause(struct sp_check *check, struct sp_cause cause);
/* Says that a finding is explained by a cause. */
void sp_check_explain(struct sp_check *check, size_t finding, size_t cause);
/* An error that no cause explains. */
static inline bool sp_finding_is_open(const struct sp_finding *finding)
{
    return finding->cause == SP_NONE && finding->severity == SP_SEVERITY_ERROR;
}
static inline bool sp_finding_is_open_as(const struct sp_finding *finding, enum sp_finding_kind kind)
{
    return sp_finding_is_open(finding) && finding->kind == kind;
}
size_t sp_check_open(const struct sp_check *check);
/* Of each predicted tensor the open finding that it is missing, or SP_NONE. To be freed. */
size_t *sp_check_missing(const struct sp_check *check);
/* Whether there are both, missing and unexpected: only then can one be the other under another name or in another
 * layout. */
bool sp_check_open_both(const struct sp_check *check);
/* "this finding vanishes" / "these 3 findings vanish", of as many as the cause explains. In the arena, or static. */
const char *sp_what_vanishes(struct sp_arena *arena, const struct sp_cause *cause);
bool sp_explained_by(const struct sp_finding *finding, const void *cause_index);
/* The hyper-parameter of that name in the prediction, or SP_NONE. */
size_t sp_find_hyperparameter(const struct sp_prediction *prediction, const char *name);
/* Where a hyper-parameter got its value: "in config.json", "by default", "on the command line". In the arena. */
const char *sp_said_where(struct sp_check *check, struct sp_provenance from);
/* "vocab_size is 50257 in config.json", in the arena. */
const char *sp_said(struct sp_check *check, struct sp_hyperparameter hyper);

/* ---- findings.c: lists of names in one line, in the arena (names/some.h) ---- */

/* Of the findings that `wanted` accepts; "" when there are none. */
const char *sp_check_names(struct sp_check *check, bool (*wanted)(const struct sp_finding *, const void *),
                           const void *context);

/* ---- what explainers tell one another ---- */

/* explain/renamed.c: for each finding of what is missing under one name and there under another the finding about that
 * other name; itself when the prediction need not have it; SP_NONE for all others. To be freed. */
size_t *sp_pair_renamed(struct sp_check *check);
/* explain/layers.c: for each finding the number of the layer that is missing as a whole and that it belongs to, or
 * SP_NONE. Returns how many numbers there are. */
size_t sp_find_gone_layers(struct sp_check *check, size_t *layer_of_finding);

/* ---- findings.c, verdict.c: the steps before and after the explainers ---- */

void sp_find_differences(struct sp_check *check);
void sp_group_findings(struct sp_check *check);
/* Turns the findings that are expected into notes, and the causes that explain no others; adds a finding for each
 * expectation that is expired or that nothing fulfilled; decides again. */
void sp_check_expect(struct sp_check *check, const struct sp_expectations *expectations); /* expected.c */
/* Fills check->counts, from the findings and their causes. */
void sp_count(struct sp_check *check);
void sp_decide(struct sp_check *check);

/* ---- the explainers (check.c lists them in the order in which they run) ---- */

void sp_explain_naming(struct sp_check *check);
void sp_explain_quantised(struct sp_check *check);
void sp_explain_kernels(struct sp_check *check);
void sp_explain_old_names(struct sp_check *check);
void sp_explain_ties(struct sp_check *check);
void sp_explain_flags(struct sp_check *check);
void sp_explain_untied(struct sp_check *check);
void sp_explain_sharing(struct sp_check *check);
void sp_explain_aliases(struct sp_check *check);
void sp_explain_buffers(struct sp_check *check);
void sp_explain_computed(struct sp_check *check);
void sp_explain_state(struct sp_check *check);
void sp_explain_shards(struct sp_check *check);
void sp_explain_stray(struct sp_check *check);
void sp_explain_counters(struct sp_check *check);
void sp_explain_adapter(struct sp_check *check);
void sp_explain_placeholders(struct sp_check *check);
void sp_explain_slices(struct sp_check *check);
void sp_explain_multi_token(struct sp_check *check);
void sp_explain_copies(struct sp_check *check);
void sp_explain_layout(struct sp_check *check);
void sp_explain_hyperparameters(struct sp_check *check);
void sp_explain_embeddings(struct sp_check *check);
void sp_explain_vocabulary(struct sp_check *check);
void sp_explain_tokenizer(struct sp_check *check);
void sp_explain_unrelated(struct sp_check *check);
void sp_explain_layers(struct sp_check *check);
void sp_explain_renamed(struct sp_check *check);
void sp_explain_added_biases(struct sp_check *check);
void sp_explain_biases(struct sp_check *check);
void sp_explain_transposed(struct sp_check *check);
void sp_explain_ones(struct sp_check *check);
void sp_explain_dtypes(struct sp_check *check);
void sp_explain_declared(struct sp_check *check);

#endif
