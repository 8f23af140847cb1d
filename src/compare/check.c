/* SPDX-License-Identifier: MIT
 * The flow of a comparison: predict, name, match, findings, causes, groups, verdict. */
#include "compare/check.h"

#include <stdlib.h>
#include <string.h>

static void (*const explainers[])(struct sp_check *) = {
    sp_explain_quantised,       /* weights in packed form */
    sp_explain_naming,          /* wrapper and base prefixes */
    sp_explain_kernels,         /* (in, out) by their name */
    sp_explain_old_names,       /* gamma for weight */
    sp_explain_ties,            /* tied and stored all the same */
    sp_explain_sharing,         /* not tied and one storage all the same */
    sp_explain_buffers,         /* stored and not trained */
    sp_explain_computed,        /* causal masks, rotary frequencies: with or without */
    sp_explain_state,           /* optimizer and trainer state */
    sp_explain_counters,        /* layers of Keras with other numbers */
    sp_explain_adapter,         /* low-rank matrices for a base */
    sp_explain_shards,          /* shards that are not there, or not as the index says */
    sp_explain_stray,           /* another checkpoint beside the shards */
    sp_explain_flags,           /* tied in one part of the configuration, not tied in another */
    sp_explain_untied,          /* not tied, and only one of them stored */
    sp_explain_aliases,         /* absent, and the file's metadata says which other tensor it is */
    sp_explain_placeholders,    /* empty: saved by one rank of several */
    sp_explain_slices,          /* equal parts of matrices */
    sp_explain_multi_token,     /* layers for multi-token prediction */
    sp_explain_copies,          /* most of the model twice */
    sp_explain_layout,          /* fused, split, packed */
    sp_explain_added_biases,    /* a bias for each quantised weight */
    sp_explain_ones,            /* (768, 1) for (768) */
    sp_explain_hyperparameters, /* one hyper-parameter set otherwise */
    sp_explain_vocabulary,      /* embeddings and heads that disagree */
    sp_explain_tokenizer,       /* tokens without a row */
    sp_explain_renamed,         /* missing under one name, there under another */
    sp_explain_embeddings,      /* the embedding twice */
    sp_explain_unrelated,       /* a file of something else */
    sp_explain_layers,          /* whole layers missing */
    sp_explain_biases,          /* biases too many or too few */
    sp_explain_transposed,      /* matrices the other way round */
    sp_explain_dtypes,          /* dtypes that stand out */
};

/* ---- what explainers use ---- */

void sp_check_add_finding(struct sp_check *check, struct sp_finding finding)
{
    finding.cause = SP_NONE;
    SP_GROW(check->findings, check->finding_count, check->finding_capacity);
    SP_GROW(check->places, check->finding_count, check->place_capacity);
    struct sp_place *place = &check->places[check->finding_count];
    place->pattern = sp_pattern_of(&check->patterns, finding.name, &place->indices);
    check->findings[check->finding_count++] = finding;
}

size_t sp_check_add_cause(struct sp_check *check, struct sp_cause cause)
{
    SP_GROW(check->causes, check->cause_count, check->cause_capacity);
    check->causes[check->cause_count] = cause;
    return check->cause_count++;
}

void sp_check_explain(struct sp_check *check, size_t finding, size_t cause)
{
    check->findings[finding].cause = cause;
    check->causes[cause].explains++;
}

size_t sp_check_open(const struct sp_check *check)
{
    size_t open = 0;
    for (size_t i = 0; i < check->finding_count; i++) open += sp_finding_is_open(&check->findings[i]);
    return open;
}

size_t *sp_check_missing(const struct sp_check *check)
{
    const size_t total = sp_prediction_count(check->prediction);
    size_t *missing = sp_realloc(NULL, total, sizeof *missing);
    for (size_t i = 0; i < total; i++) missing[i] = SP_NONE;
    for (size_t i = 0; i < check->finding_count; i++)
        if (sp_finding_is_open_as(&check->findings[i], "missing")) missing[check->findings[i].predicted] = i;
    return missing;
}

static bool any_is_open_as(const struct sp_check *check, const char *id)
{
    for (size_t i = 0; i < check->finding_count; i++)
        if (sp_finding_is_open_as(&check->findings[i], id)) return true;
    return false;
}

bool sp_check_open_both(const struct sp_check *check)
{
    return any_is_open_as(check, "missing") && any_is_open_as(check, "unexpected");
}

const char *sp_count_of(struct sp_arena *arena, size_t count, const char *noun)
{
    return sp_arena_printf(arena, "%zu %s%s", count, noun, count == 1 ? "" : "s");
}

const char *sp_what_vanishes(struct sp_arena *arena, const struct sp_cause *cause)
{
    if (cause->explains == 1) return "this finding vanishes";
    return sp_arena_printf(arena, "these %zu findings vanish", cause->explains);
}

bool sp_explained_by(const struct sp_finding *finding, const void *cause_index)
{
    return finding->cause == *(const size_t *)cause_index;
}

size_t sp_find_hyperparameter(const struct sp_prediction *prediction, const char *name)
{
    for (size_t i = 0; i < sp_prediction_hyperparameter_count(prediction); i++)
        if (strcmp(sp_prediction_hyperparameter(prediction, i).name, name) == 0) return i;
    return SP_NONE;
}

const char *sp_said_where(struct sp_check *check, const char *from)
{
    if (strncmp(from, "default", 7) == 0) return "by default";
    if (strcmp(from, "command line") == 0) return "on the command line";
    return sp_arena_printf(&check->arena, "in %s", from);
}

/* ---- the whole ---- */

static void explain(struct sp_check *check)
{
    sp_find_differences(check);
    for (size_t i = 0; i < sizeof explainers / sizeof *explainers; i++) explainers[i](check);
    sp_count(check);
    sp_explain_declared(check);
    sp_decide(check);
    sp_group_findings(check);
}

/* `data` is borrowed, and needed no longer afterwards. */
static struct sp_check *compare(const struct sp_inventory *inventory, const struct sp_tables *tables,
                                const char *table_name, const struct sp_config *config, struct sp_data *data,
                                struct sp_error *error)
{
    struct sp_prediction *prediction = sp_predict(tables, table_name, config, error);
    if (!prediction) return NULL;
    struct sp_check *check = sp_realloc(NULL, 1, sizeof *check);
    *check = (struct sp_check){.inventory = inventory, .tables = tables, .config = config, .prediction = prediction};
    check->table_name = table_name;
    check->data = data;
    check->data_error = error;
    sp_match_begin(&check->match, inventory, prediction);
    check->naming = sp_naming_infer(&check->arena, &check->match);
    sp_check_quantisation(check);
    sp_match_rest(&check->match, &check->naming);
    explain(check);
    check->data = NULL;
    check->data_error = NULL;
    return check;
}

struct sp_check *sp_check_new(const struct sp_inventory *inventory, const struct sp_tables *tables,
                              const char *table_name, const struct sp_config *config, struct sp_error *error)
{
    return compare(inventory, tables, table_name, config, NULL, error);
}

struct sp_check *sp_check_new_with_data(const struct sp_inventory *inventory, const struct sp_tables *tables,
                                        const char *table_name, const struct sp_config *config, struct sp_error *error)
{
    struct sp_data *data = sp_data_open(inventory, error);
    struct sp_check *check = data ? compare(inventory, tables, table_name, config, data, error) : NULL;
    sp_data_close(data);
    if (!check || error->status == SP_OK) return check;
    sp_check_free(check);
    return NULL;
}

void sp_check_free(struct sp_check *check)
{
    if (!check) return;
    sp_match_free(&check->match);
    sp_prediction_free(check->prediction);
    sp_quantisation_free(&check->quantisation);
    sp_patterns_free(&check->patterns);
    sp_levels_free(&check->levels);
    free(check->findings);
    free(check->places);
    free(check->causes);
    free(check->declared);
    sp_arena_free(&check->arena);
    free(check);
}

enum sp_verdict sp_check_verdict(const struct sp_check *check) { return check->verdict; }

const char *sp_verdict_name(enum sp_verdict verdict)
{
    static const char *const names[] = {"match", "explained", "differs"};
    return names[verdict];
}

const char *sp_severity_name(enum sp_severity severity)
{
    static const char *const names[] = {"note", "warning", "error"};
    return names[severity];
}

const char *sp_check_summary(const struct sp_check *check) { return check->summary; }
const struct sp_prediction *sp_check_prediction(const struct sp_check *check) { return check->prediction; }
struct sp_counts sp_check_counts(const struct sp_check *check) { return check->counts; }
size_t sp_check_declared_count(const struct sp_check *check) { return check->declared_count; }
const struct sp_declared *sp_check_declared(const struct sp_check *check, size_t index)
{
    return &check->declared[index];
}
size_t sp_check_cause_count(const struct sp_check *check) { return check->cause_count; }
const struct sp_cause *sp_check_cause(const struct sp_check *check, size_t index) { return &check->causes[index]; }
size_t sp_check_finding_count(const struct sp_check *check) { return check->finding_count; }
const struct sp_finding *sp_check_finding(const struct sp_check *check, size_t index)
{
    return &check->findings[index];
}
size_t sp_check_group_count(const struct sp_check *check) { return check->group_count; }
struct sp_finding_group sp_check_group(const struct sp_check *check, size_t index) { return check->groups[index]; }
