/* SPDX-License-Identifier: MIT
 * The findings and causes of a check, and what the public header promises of them. */
#include "check/check.h"

#include <stdlib.h>
#include <string.h>

#include "config/inside.h"
#include "lang/prediction.h"

/* ---- what explainers use ---- */

static const struct {
    const char *id;
    enum sp_severity severity;
} kinds[] = {
#define KIND(name, id, severity, meaning) [SP_FINDING_##name] = {id, SP_SEVERITY_##severity},
    SP_FINDINGS(KIND)
#undef KIND
};

void sp_check_add_finding(struct sp_check *check, struct sp_finding finding)
{
    finding.id = kinds[finding.kind].id;
    finding.severity = kinds[finding.kind].severity;
    finding.cause = SP_NONE;
    SP_GROW(check->findings, check->finding_count, check->finding_capacity);
    SP_GROW(check->places, check->finding_count, check->place_capacity);
    struct sp_place *place = &check->places[check->finding_count];
    place->pattern = sp_pattern_of(&check->patterns, finding.name, &place->indices);
    check->findings[check->finding_count++] = finding;
}

void sp_check_add_lacking(struct sp_check *check, const char *name, size_t predicted, enum sp_severity severity,
                          const char *message)
{
    const struct sp_predicted *tensor =
        predicted == SP_NONE ? NULL : sp_prediction_tensor(check->prediction, predicted);
    sp_check_add_finding(
        check,
        (struct sp_finding){.kind = SP_FINDING_LACKING,
                            .name = name,
                            .expected = tensor ? sp_shape_text(&check->arena, tensor->shape, tensor->rank) : NULL,
                            .message = message,
                            .tensor = SP_NONE,
                            .predicted = predicted});
    check->findings[check->finding_count - 1].severity = severity;
}

struct sp_cause *sp_check_add_cause(struct sp_check *check, struct sp_cause cause)
{
    SP_GROW(check->causes, check->cause_count, check->cause_capacity);
    check->causes[check->cause_count] = cause;
    return &check->causes[check->cause_count++];
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
        if (sp_finding_is_open_as(&check->findings[i], SP_FINDING_MISSING)) missing[check->findings[i].predicted] = i;
    return missing;
}

static bool any_is_open_as(const struct sp_check *check, enum sp_finding_kind kind)
{
    for (size_t i = 0; i < check->finding_count; i++)
        if (sp_finding_is_open_as(&check->findings[i], kind)) return true;
    return false;
}

bool sp_check_open_both(const struct sp_check *check)
{
    return any_is_open_as(check, SP_FINDING_MISSING) && any_is_open_as(check, SP_FINDING_UNEXPECTED);
}

bool sp_explained_by(const struct sp_finding *finding, const void *cause_index)
{
    return finding->cause == *(const size_t *)cause_index;
}

size_t sp_find_hyperparameter(const struct sp_prediction *prediction, const char *name)
{
    return sp_map_get(&prediction->hyper_names, name);
}

const char *sp_key_said(struct sp_check *check, const char *key)
{
    bool there;
    if (!sp_config_is_of_gguf(check->config, check->inventory)) return key;
    const char *own = sp_config_gguf_key(&check->arena, check->inventory, key, &there);
    return own ? own : key;
}

bool sp_is_shown(const struct sp_check *check, const char *key)
{
    struct sp_arena arena = {0};
    bool there = false;
    if (!sp_config_is_of_gguf(check->config, check->inventory) || !sp_config_gguf_shows(check->inventory, key))
        return false;
    sp_config_gguf_key(&arena, check->inventory, key, &there);
    sp_arena_free(&arena);
    return !there;
}

const char *sp_said_where(struct sp_check *check, struct sp_provenance from)
{
    if (from.source == SP_SOURCE_DEFAULT) return "by default";
    if (from.source == SP_SOURCE_SETTING) return "on the command line";
    return sp_arena_printf(&check->arena, "in %s%s", from.source == SP_SOURCE_TABLE ? "table " : "", from.name);
}

const char *sp_said(struct sp_check *check, struct sp_hyperparameter hyper)
{
    const char *value = sp_value_words(&check->arena, hyper.value), *where = sp_said_where(check, hyper.from);
    if (sp_is_shown(check, hyper.name))
        return sp_arena_printf(&check->arena, "%s is %s by the tensors of %s", hyper.name, value,
                               sp_config_hyper(check->config)->file);
    const bool given = hyper.from.source == SP_SOURCE_SETTING; /* in the words of whoever gave it */
    return sp_arena_printf(&check->arena, "%s is %s %s", given ? hyper.name : sp_key_said(check, hyper.name), value,
                           where);
}

/* ---- what the public header promises ---- */

void sp_check_free(struct sp_check *check)
{
    if (!check) return;
    sp_match_free(&check->match);
    sp_prediction_free(check->prediction);
    sp_config_free(check->own_config);
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
    static const char *const names[] = {"match", "explained", "differs", "unknown"};
    return names[verdict];
}

const char *sp_severity_name(enum sp_severity severity)
{
    static const char *const names[] = {"note", "warning", "error"};
    return names[severity];
}

const char *sp_check_summary(const struct sp_check *check) { return check->summary; }
const char *sp_check_advice(const struct sp_check *check) { return check->advice; }

const char *sp_check_headline(const struct sp_check *check) { return check->headline; }
const struct sp_inventory *sp_check_inventory(const struct sp_check *check) { return check->inventory; }
const struct sp_config *sp_check_config(const struct sp_check *check) { return check->given_config; }
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
