/* SPDX-License-Identifier: MIT
 * The flow of a comparison: predict, name, match, findings, causes, groups, verdict. */
#include "compare/check.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "compare/collapse.h"

static void (*const explainers[])(struct sp_check *) = {
    sp_explain_naming,  sp_explain_ties,   sp_explain_state,      sp_explain_hyperparameters, sp_explain_layers,
    sp_explain_renamed, sp_explain_biases, sp_explain_transposed, sp_explain_dtypes,
};

/* ---- findings ---- */

static const char *shape_text(struct sp_arena *arena, const uint64_t *shape, size_t rank)
{
    struct sp_text text = {0};
    sp_text_puts(&text, "(");
    for (size_t i = 0; i < rank; i++) sp_text_printf(&text, i ? ", %" PRIu64 : "%" PRIu64, shape[i]);
    sp_text_puts(&text, ")");
    const char *kept = sp_arena_copy(arena, text.data, text.length);
    sp_text_free(&text);
    return kept;
}

/* The dimensions that differ, in terms of hyper-parameters: "vocab_size"; "" when the ranks differ. */
static const char *differing_dimensions(struct sp_check *check, const struct sp_tensor *tensor, size_t predicted)
{
    const struct sp_predicted *expected = sp_prediction_tensor(check->prediction, predicted);
    struct sp_text text = {0};
    sp_text_puts(&text, "");
    for (uint32_t i = 0; i < expected->rank && tensor->rank == expected->rank; i++) {
        if (tensor->shape[i] == expected->shape[i]) continue;
        char *name = sp_prediction_dimension(check->prediction, predicted, i);
        sp_text_printf(&text, "%s%s", text.length ? ", " : ": ", name);
        free(name);
    }
    const char *kept = sp_arena_copy(&check->arena, text.data, text.length);
    sp_text_free(&text);
    return kept;
}

static void add_finding(struct sp_check *check, struct sp_finding finding)
{
    finding.cause = SP_NONE;
    SP_GROW(check->findings, check->finding_count, check->finding_capacity);
    check->findings[check->finding_count++] = finding;
}

static void predicted_finding(struct sp_check *check, size_t index)
{
    const struct sp_predicted *expected = sp_prediction_tensor(check->prediction, index);
    const size_t found = check->match.tensor_of[index];
    const struct sp_tensor *tensor = found == SP_NONE ? NULL : sp_inventory_tensor(check->inventory, found);
    struct sp_finding finding = {.severity = SP_SEVERITY_NOTE,
                                 .tensor = found,
                                 .predicted = index,
                                 .name = tensor ? tensor->name : expected->name};
    const char *partner =
        expected->same_as == SP_NONE ? "" : sp_prediction_tensor(check->prediction, expected->same_as)->name;
    switch (sp_match_predicted(&check->match, index)) {
    case SP_MISSING:
        finding.id = "missing";
        finding.severity = SP_SEVERITY_ERROR;
        finding.expected = shape_text(&check->arena, expected->shape, expected->rank);
        finding.message = "is missing";
        break;
    case SP_SHAPE:
        finding.id = "shape";
        finding.severity = SP_SEVERITY_ERROR;
        finding.expected = shape_text(&check->arena, expected->shape, expected->rank);
        finding.found = shape_text(&check->arena, tensor->shape, tensor->rank);
        finding.message = sp_arena_printf(&check->arena, "%s, expected %s%s", finding.found, finding.expected,
                                          differing_dimensions(check, tensor, index));
        break;
    case SP_TIED_ABSENT:
        finding.id = "tied-absent";
        finding.message = *partner ? sp_arena_printf(&check->arena, "is not stored: it is the same as %s", partner)
                                   : "is not stored under this name: a tensor that is the same is";
        break;
    case SP_TIED_PRESENT:
        finding.id = "tied-present";
        finding.message = sp_arena_printf(&check->arena, "is stored although it is the same as %s", partner);
        break;
    default:
        return;
    }
    add_finding(check, finding);
}

static void tensor_finding(struct sp_check *check, size_t index)
{
    const struct sp_tensor *tensor = sp_inventory_tensor(check->inventory, index);
    const bool state = sp_match_tensor(&check->match, index) == SP_STATE;
    struct sp_finding finding = {.tensor = index, .predicted = SP_NONE, .name = tensor->name};
    finding.id = state ? "state" : "unexpected";
    finding.severity = state ? SP_SEVERITY_NOTE : SP_SEVERITY_ERROR;
    finding.message = state ? "is optimizer or trainer state" : "is unexpected";
    finding.found = shape_text(&check->arena, tensor->shape, tensor->rank);
    add_finding(check, finding);
}

static void find_differences(struct sp_check *check)
{
    for (size_t i = 0; i < sp_prediction_count(check->prediction); i++) predicted_finding(check, i);
    for (size_t i = 0; i < sp_inventory_count(check->inventory); i++)
        if (check->match.predicted_of[i] == SP_NONE) tensor_finding(check, i);
}

/* ---- what explainers use ---- */

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

const char *sp_count_of(struct sp_arena *arena, size_t count, const char *noun)
{
    return sp_arena_printf(arena, "%zu %s%s", count, noun, count == 1 ? "" : "s");
}

bool sp_explained_by(const struct sp_finding *finding, const void *cause_index)
{
    return finding->cause == *(const size_t *)cause_index;
}

const char *sp_check_names(struct sp_check *check, bool (*wanted)(const struct sp_finding *, const void *),
                           const void *context, size_t limit)
{
    struct sp_collapse_input *input = sp_realloc(NULL, check->finding_count, sizeof *input);
    struct sp_collapsed *groups;
    struct sp_text text = {0};
    size_t count = 0;
    for (size_t i = 0; i < check->finding_count; i++)
        if (wanted(&check->findings[i], context))
            input[count++] = (struct sp_collapse_input){check->findings[i].name, 0};
    const size_t found = sp_collapse(&check->arena, input, count, &groups);
    sp_text_puts(&text, "");
    for (size_t i = 0; i < found && i < limit; i++) sp_text_printf(&text, "%s%s", i ? ", " : "", groups[i].name);
    if (found > limit) sp_text_printf(&text, " and %zu more", found - limit);
    const char *kept = sp_arena_copy(&check->arena, text.data, text.length);
    sp_text_free(&text);
    free(input);
    return kept;
}

/* ---- groups: what the reader sees of the findings ---- */

/* Findings that may be merged share their severity, id and message; each such kind gets a number. */
static size_t *merge_keys(struct sp_check *check)
{
    size_t *keys = sp_realloc(NULL, check->finding_count, sizeof *keys);
    struct sp_map known = {0};
    for (size_t i = 0; i < check->finding_count; i++) {
        const struct sp_finding *finding = &check->findings[i];
        const char *partner = strcmp(finding->id, "tied-absent") && strcmp(finding->id, "tied-present")
                                  ? finding->message
                                  : sp_name_pattern(&check->arena, finding->message);
        const char *kind =
            sp_arena_printf(&check->arena, "%d %zu %s %s %s %s", (int)finding->severity, finding->cause, finding->id,
                            partner, finding->expected ? finding->expected : "", finding->found ? finding->found : "");
        keys[i] = sp_map_get(&known, kind);
        if (keys[i] != SIZE_MAX) continue;
        keys[i] = i;
        sp_map_add(&known, kind, i);
    }
    sp_map_free(&known);
    return keys;
}

static void group_findings(struct sp_check *check)
{
    struct sp_collapse_input *input = sp_realloc(NULL, check->finding_count, sizeof *input);
    size_t *keys = merge_keys(check);
    struct sp_collapsed *collapsed;
    for (size_t i = 0; i < check->finding_count; i++)
        input[i] = (struct sp_collapse_input){check->findings[i].name, keys[i]};
    const size_t count = sp_collapse(&check->arena, input, check->finding_count, &collapsed);
    check->groups = sp_arena_array(&check->arena, count, sizeof *check->groups);
    for (int severity = SP_SEVERITY_ERROR; severity >= SP_SEVERITY_NOTE; severity--)
        for (size_t i = 0; i < count; i++) {
            const struct sp_finding *first = &check->findings[collapsed[i].first];
            if ((int)first->severity == severity)
                check->groups[check->group_count++] =
                    (struct sp_finding_group){collapsed[i].name, collapsed[i].count, first};
        }
    free(keys);
    free(input);
}

/* ---- the verdict and its reason ---- */

static size_t open_findings(const struct sp_check *check)
{
    size_t open = 0;
    for (size_t i = 0; i < check->finding_count; i++) open += sp_finding_is_open(&check->findings[i]);
    return open;
}

static const struct sp_cause *worst_cause(const struct sp_check *check)
{
    const struct sp_cause *worst = NULL;
    for (size_t i = 0; i < check->cause_count; i++)
        if (!worst || check->causes[i].severity > worst->severity ||
            (check->causes[i].severity == worst->severity && check->causes[i].explains > worst->explains))
            worst = &check->causes[i];
    return worst;
}

/* The kind of open finding of which there are most. */
static const struct sp_finding *most_open(const struct sp_check *check, size_t *count)
{
    const struct sp_finding *most = NULL;
    *count = 0;
    for (size_t i = 0; i < check->finding_count; i++) {
        const struct sp_finding *finding = &check->findings[i];
        size_t alike = 0;
        if (!sp_finding_is_open(finding) || (most && strcmp(most->id, finding->id) == 0)) continue;
        for (size_t k = i; k < check->finding_count; k++)
            alike += sp_finding_is_open(&check->findings[k]) && strcmp(check->findings[k].id, finding->id) == 0;
        if (alike <= *count) continue;
        most = finding;
        *count = alike;
    }
    return most;
}

static bool open_of_kind(const struct sp_finding *finding, const void *id)
{
    return sp_finding_is_open(finding) && strcmp(finding->id, id) == 0;
}

static const char *matching_summary(struct sp_check *check)
{
    const struct sp_totals found = sp_inventory_totals(check->inventory);
    struct sp_text text = {0};
    sp_text_printf(&text, "all %" PRIu64 " tensors, ", found.tensors);
    sp_text_grouped(&text, found.unique_parameters);
    sp_text_puts(&text, " elements");
    const char *kept = sp_arena_copy(&check->arena, text.data, text.length);
    sp_text_free(&text);
    return kept;
}

/* "3 tensors are missing: a.{0-2}.b"; a single finding is said in its own words. */
static const char *open_summary(struct sp_check *check, size_t open)
{
    static const struct {
        const char *id, *says;
    } plurals[] = {{"missing", "are missing"},
                   {"unexpected", "are unexpected"},
                   {"shape", "have another shape"},
                   {"dtype", "have another dtype"}};
    size_t count;
    const struct sp_finding *most = most_open(check, &count);
    const char *says = "differ", *rest = "";
    if (open > count)
        rest = sp_arena_printf(&check->arena, ", and %s more", sp_count_of(&check->arena, open - count, "finding"));
    if (count == 1) return sp_arena_printf(&check->arena, "%s %s%s", most->name, most->message, rest);
    for (size_t i = 0; i < sizeof plurals / sizeof *plurals; i++)
        if (strcmp(plurals[i].id, most->id) == 0) says = plurals[i].says;
    return sp_arena_printf(&check->arena, "%zu tensors %s: %s%s", count, says,
                           sp_check_names(check, open_of_kind, most->id, 3), rest);
}

static bool is_only_warning(const struct sp_check *check, const struct sp_cause *cause)
{
    for (size_t i = 0; i < check->cause_count; i++)
        if (&check->causes[i] != cause && check->causes[i].severity > SP_SEVERITY_NOTE) return false;
    return true;
}

static const char *cause_summary(struct sp_check *check, const struct sp_cause *cause, size_t open)
{
    const char *rest = "";
    if (open)
        rest =
            sp_arena_printf(&check->arena, "; %s without a known cause", sp_count_of(&check->arena, open, "finding"));
    else if (check->verdict == SP_VERDICT_EXPLAINED && is_only_warning(check, cause)) rest = "; nothing else differs";
    return sp_arena_printf(&check->arena, "%s%s", cause->message, rest);
}

static void decide(struct sp_check *check)
{
    const size_t open = open_findings(check);
    const struct sp_cause *worst = worst_cause(check);
    const enum sp_severity severity = worst ? worst->severity : SP_SEVERITY_NOTE;
    check->verdict = open || severity == SP_SEVERITY_ERROR ? SP_VERDICT_DIFFERS
                     : severity == SP_SEVERITY_WARNING     ? SP_VERDICT_EXPLAINED
                                                           : SP_VERDICT_MATCH;
    if (check->verdict == SP_VERDICT_MATCH) check->summary = matching_summary(check);
    else if (severity == SP_SEVERITY_ERROR || !open) check->summary = cause_summary(check, worst, open);
    else check->summary = open_summary(check, open);
}

/* ---- the whole ---- */

struct sp_check *sp_check_new(const struct sp_inventory *inventory, const struct sp_tables *tables,
                              const char *table_name, const struct sp_config *config, struct sp_error *error)
{
    struct sp_prediction *prediction = sp_predict(tables, table_name, config, error);
    if (!prediction) return NULL;
    struct sp_check *check = sp_realloc(NULL, 1, sizeof *check);
    *check = (struct sp_check){.inventory = inventory, .tables = tables, .config = config, .prediction = prediction};
    check->table_name = table_name;
    check->naming = sp_naming_infer(&check->arena, inventory, prediction);
    sp_match_init(&check->match, inventory, prediction, &check->naming);
    find_differences(check);
    for (size_t i = 0; i < sizeof explainers / sizeof *explainers; i++) explainers[i](check);
    group_findings(check);
    decide(check);
    return check;
}

void sp_check_free(struct sp_check *check)
{
    if (!check) return;
    sp_match_free(&check->match);
    sp_prediction_free(check->prediction);
    free(check->findings);
    free(check->causes);
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
size_t sp_check_cause_count(const struct sp_check *check) { return check->cause_count; }
const struct sp_cause *sp_check_cause(const struct sp_check *check, size_t index) { return &check->causes[index]; }
size_t sp_check_finding_count(const struct sp_check *check) { return check->finding_count; }
const struct sp_finding *sp_check_finding(const struct sp_check *check, size_t index)
{
    return &check->findings[index];
}
size_t sp_check_group_count(const struct sp_check *check) { return check->group_count; }
struct sp_finding_group sp_check_group(const struct sp_check *check, size_t index) { return check->groups[index]; }
