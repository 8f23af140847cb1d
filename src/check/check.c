/* SPDX-License-Identifier: MIT
 * The findings and causes of a check, and what the public header promises of them. */
#include "check/check.h"

#include <stdlib.h>
#include <string.h>

#include "base/budget.h"
#include "base/chars.h"
#include "config/inside.h"
#include "lang/prediction.h"

/* ---- what explainers use ---- */

static const struct {
    const char *id;
    enum shapeproof_severity severity;
} kinds[] = {
#define KIND(name, value, id, severity, meaning) [SHAPEPROOF_FINDING_##name] = {id, SHAPEPROOF_SEVERITY_##severity},
    SHAPEPROOF_FINDINGS(KIND)
#undef KIND
};

void sp_check_add_finding(struct shapeproof_check *check, struct shapeproof_finding finding)
{
    finding.id = kinds[finding.kind].id;
    finding.severity = kinds[finding.kind].severity;
    finding.cause = SHAPEPROOF_NONE;
    SP_GROW(check->findings, check->finding_count, check->finding_capacity);
    SP_GROW(check->places, check->finding_count, check->place_capacity);
    struct sp_place *place = &check->places[check->finding_count];
    place->pattern = sp_pattern_of(&check->patterns, finding.name, &place->indices);
    check->findings[check->finding_count++] = finding;
}

void sp_check_add_lacking(struct shapeproof_check *check, const char *name, size_t predicted,
                          enum shapeproof_severity severity, const char *message)
{
    const struct shapeproof_predicted *tensor =
        predicted == SHAPEPROOF_NONE ? NULL : shapeproof_prediction_tensor(check->prediction, predicted);
    sp_check_add_finding(check,
                         (struct shapeproof_finding){
                             .kind = SHAPEPROOF_FINDING_LACKING,
                             .name = name,
                             .expected = tensor ? sp_shape_text(&check->arena, tensor->shape, tensor->rank) : NULL,
                             .message = message,
                             .tensor = SHAPEPROOF_NONE,
                             .predicted = predicted});
    check->findings[check->finding_count - 1].severity = severity;
}

struct shapeproof_cause *sp_check_add_cause(struct shapeproof_check *check, struct shapeproof_cause cause)
{
    SP_GROW(check->causes, check->cause_count, check->cause_capacity);
    check->causes[check->cause_count] = cause;
    return &check->causes[check->cause_count++];
}

void sp_check_explain(struct shapeproof_check *check, size_t finding, size_t cause)
{
    check->findings[finding].cause = cause;
    check->causes[cause].explains++;
}

uint64_t sp_check_most_predicted(const struct shapeproof_inventory *inventory)
{
    enum { FOR_EACH = 16, BESIDES = 5 << 15 };
    if (sp_budget_tensors()) return sp_budget_tensors();
    return (uint64_t)shapeproof_inventory_count(inventory) * FOR_EACH + BESIDES;
}

struct shapeproof_prediction *sp_check_predict(const struct shapeproof_check *check, struct shapeproof_config *config,
                                               const struct sp_scope *scope, struct shapeproof_error *error)
{
    struct shapeproof_error ignored = {0};
    if (scope) sp_config_limit(config, scope);
    struct shapeproof_prediction *prediction =
        shapeproof_predict(check->tables, config,
                           &(struct shapeproof_predict_options){
                               .table = check->table_name, .most_tensors = sp_check_most_predicted(check->inventory)},
                           error ? error : &ignored);
    if (scope) sp_config_limit(config, NULL);
    return prediction;
}

size_t sp_check_open(const struct shapeproof_check *check)
{
    size_t open = 0;
    for (size_t i = 0; i < check->finding_count; i++) open += sp_finding_is_open(&check->findings[i]);
    return open;
}

size_t *sp_check_missing(const struct shapeproof_check *check)
{
    const size_t total = shapeproof_prediction_count(check->prediction);
    size_t *missing = sp_realloc(NULL, total, sizeof *missing);
    for (size_t i = 0; i < total; i++) missing[i] = SHAPEPROOF_NONE;
    for (size_t i = 0; i < check->finding_count; i++)
        if (sp_finding_is_open_as(&check->findings[i], SHAPEPROOF_FINDING_MISSING))
            missing[check->findings[i].predicted] = i;
    return missing;
}

static bool any_is_open_as(const struct shapeproof_check *check, enum shapeproof_finding_kind kind)
{
    for (size_t i = 0; i < check->finding_count; i++)
        if (sp_finding_is_open_as(&check->findings[i], kind)) return true;
    return false;
}

bool sp_check_open_both(const struct shapeproof_check *check)
{
    return any_is_open_as(check, SHAPEPROOF_FINDING_MISSING) && any_is_open_as(check, SHAPEPROOF_FINDING_UNEXPECTED);
}

bool sp_explained_by(const struct shapeproof_finding *finding, const void *cause_index)
{
    return finding->cause == *(const size_t *)cause_index;
}

size_t sp_find_hyperparameter(const struct shapeproof_prediction *prediction, const char *name)
{
    return sp_map_get(&prediction->hyper_names, name);
}

const char *sp_key_said(struct shapeproof_check *check, const char *key)
{
    bool there;
    if (!sp_config_is_of_gguf(check->config, check->inventory)) return key;
    const char *own = sp_config_gguf_key(&check->arena, check->inventory, key, &there);
    return own ? own : key;
}

bool sp_is_shown(const struct shapeproof_check *check, const char *key)
{
    struct sp_arena arena = {0};
    bool there = false;
    if (!sp_config_is_of_gguf(check->config, check->inventory) || !sp_config_gguf_shows(check->inventory, key))
        return false;
    sp_config_gguf_key(&arena, check->inventory, key, &there);
    sp_arena_free(&arena);
    return !there;
}

const char *sp_said_where(struct shapeproof_check *check, struct shapeproof_provenance from)
{
    if (from.source == SHAPEPROOF_SOURCE_DEFAULT) return "by default";
    if (from.source == SHAPEPROOF_SOURCE_SETTING) return "on the command line";
    return sp_arena_printf(&check->arena, "in %s%s", from.source == SHAPEPROOF_SOURCE_TABLE ? "table " : "", from.name);
}

const char *sp_said(struct shapeproof_check *check, struct shapeproof_hyperparameter hyper)
{
    const char *value = sp_value_words(&check->arena, hyper.value), *where = sp_said_where(check, hyper.from);
    if (sp_is_shown(check, hyper.name))
        return sp_arena_printf(&check->arena, "%s is %s according to the tensors of %s", hyper.name, value,
                               sp_config_hyper(check->config)->file);
    const bool given = hyper.from.source == SHAPEPROOF_SOURCE_SETTING; /* in the words of whoever gave it */
    const char *own = given ? NULL : sp_config_gguf_own_key(&check->arena, check->inventory, hyper.name);
    if (own)
        return sp_arena_printf(&check->arena, "%s is %s in %s", own, value,
                               sp_base_name(shapeproof_inventory_path(check->inventory)));
    return sp_arena_printf(&check->arena, "%s is %s %s", given ? hyper.name : sp_key_said(check, hyper.name), value,
                           where);
}

/* ---- what the public header promises ---- */

void shapeproof_check_free(struct shapeproof_check *check)
{
    if (!check) return;
    sp_match_free(&check->match);
    shapeproof_prediction_free(check->prediction);
    shapeproof_config_free(check->own_config);
    sp_quantisation_free(&check->quantisation);
    sp_patterns_free(&check->patterns);
    sp_levels_free(&check->levels);
    sp_free(check->findings);
    sp_free(check->places);
    sp_free(check->causes);
    sp_free(check->declared);
    sp_arena_free(&check->arena);
    shapeproof_inventory_close(check->opened.inventory);
    shapeproof_config_free(check->opened.config);
    shapeproof_tables_free(check->opened.tables);
    sp_free(check);
}

enum shapeproof_verdict shapeproof_check_verdict(const struct shapeproof_check *check) { return check->verdict; }

const char *shapeproof_verdict_name(enum shapeproof_verdict verdict)
{
    static const char *const names[] = {"match", "explained", "differs", "unknown"};
    return names[verdict];
}

const char *shapeproof_severity_name(enum shapeproof_severity severity)
{
    static const char *const names[] = {"note", "warning", "error"};
    return names[severity];
}

const char *shapeproof_check_summary(const struct shapeproof_check *check) { return check->summary; }
const char *shapeproof_check_advice(const struct shapeproof_check *check) { return check->advice; }

const char *shapeproof_check_headline(const struct shapeproof_check *check) { return check->headline; }
const struct shapeproof_inventory *shapeproof_check_inventory(const struct shapeproof_check *check)
{
    return check->inventory;
}
const struct shapeproof_config *shapeproof_check_config(const struct shapeproof_check *check)
{
    return check->given_config;
}
const struct shapeproof_prediction *shapeproof_check_prediction(const struct shapeproof_check *check)
{
    return check->prediction;
}
const struct shapeproof_counts *shapeproof_check_counts(const struct shapeproof_check *check) { return &check->counts; }
size_t shapeproof_check_declared_count(const struct shapeproof_check *check) { return check->declared_count; }
const struct shapeproof_declared *shapeproof_check_declared(const struct shapeproof_check *check, size_t index)
{
    return &check->declared[index];
}
size_t shapeproof_check_cause_count(const struct shapeproof_check *check) { return check->cause_count; }
const struct shapeproof_cause *shapeproof_check_cause(const struct shapeproof_check *check, size_t index)
{
    return &check->causes[index];
}
size_t shapeproof_check_counterpart(const struct shapeproof_check *check, size_t tensor)
{
    return check->match.predicted_of[tensor];
}

size_t shapeproof_check_finding_count(const struct shapeproof_check *check) { return check->finding_count; }
const struct shapeproof_finding *shapeproof_check_finding(const struct shapeproof_check *check, size_t index)
{
    return &check->findings[index];
}
size_t shapeproof_check_group_count(const struct shapeproof_check *check) { return check->group_count; }
const struct shapeproof_finding_group *shapeproof_check_group(const struct shapeproof_check *check, size_t index)
{
    return &check->groups[index];
}
