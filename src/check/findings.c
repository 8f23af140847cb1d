/* SPDX-License-Identifier: MIT
 * Findings, one for each tensor and kind, read off the match; and their groups, which is what people see. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "check/check.h"
#include "check/ties.h"
#include "names/collapse.h"

/* ---- one finding ---- */

/* The dimensions that differ, in terms of hyper-parameters: ", from vocab_size"; "" when the ranks differ. */
static const char *differing_dimensions(struct shapeproof_check *check, const struct shapeproof_tensor *tensor,
                                        size_t predicted)
{
    const struct shapeproof_predicted *expected = shapeproof_prediction_tensor(check->prediction, predicted);
    struct sp_text text = {0};
    char *last = NULL; /* a square matrix has one dimension twice */
    sp_text_puts(&text, "");
    for (uint32_t i = 0; i < expected->rank && tensor->rank == expected->rank; i++) {
        if (tensor->shape[i] == expected->shape[i]) continue;
        char *name = shapeproof_prediction_dimension(check->prediction, predicted, i);
        if (!last || strcmp(last, name) != 0) sp_text_printf(&text, "%s%s", last ? ", " : ", from ", name);
        sp_free(last);
        last = name;
    }
    sp_free(last);
    return sp_text_keep(&text, &check->arena);
}

static void shape_finding(struct shapeproof_check *check, struct shapeproof_finding *finding)
{
    const struct shapeproof_tensor *tensor = shapeproof_inventory_tensor(check->inventory, finding->tensor);
    finding->kind = SHAPEPROOF_FINDING_SHAPE;
    finding->found = sp_found_shape(&check->arena, tensor);
    finding->message = sp_arena_printf(&check->arena, "%s, expected %s%s", finding->found, finding->expected,
                                       differing_dimensions(check, tensor, finding->predicted));
}

/* The beginning of "is stored although it is the same as wte.weight": how a tied tensor stands to its partner. */
static const char *tie_words(const struct shapeproof_check *check, size_t predicted, size_t partner, bool present)
{
    if (!present) return "is not stored: it is";
    return sp_match_shares(&check->match, predicted, partner) ? "is" : "is stored although it is";
}

static void tie_finding(struct shapeproof_check *check, struct shapeproof_finding *finding, bool present)
{
    const struct shapeproof_predicted *expected = shapeproof_prediction_tensor(check->prediction, finding->predicted);
    const size_t partner = sp_match_partner(&check->match, finding->predicted);
    /* Without a partner in the file the first tensor of the tie is missing, which is a finding of its own. */
    const char *name = partner == SHAPEPROOF_NONE
                           ? shapeproof_prediction_tensor(check->prediction, expected->same_as)->name
                           : shapeproof_inventory_tensor(check->inventory, check->match.tensor_of[partner])->name;
    finding->kind = present ? SHAPEPROOF_FINDING_TIED_PRESENT : SHAPEPROOF_FINDING_TIED_ABSENT;
    finding->message =
        sp_arena_printf(&check->arena, "%s the same as %s%s%s", tie_words(check, finding->predicted, partner, present),
                        expected->rows_only ? "the first rows of " : "", name,
                        present ? "" : sp_tie_rule(check, sp_tie_condition_between(check, finding->predicted), NULL));
}

/* Adds the finding about one predicted tensor, unless it is stored as predicted, or optional and absent. */
static void predicted_finding(struct shapeproof_check *check, size_t index)
{
    const struct shapeproof_predicted *expected = shapeproof_prediction_tensor(check->prediction, index);
    const size_t found = check->match.tensor_of[index];
    const enum sp_difference difference = sp_match_predicted(&check->match, index);
    if (difference == SP_SAME || difference == SP_LEFT_OUT) return;
    struct shapeproof_finding finding = {.tensor = found, .predicted = index};
    finding.name =
        found == SHAPEPROOF_NONE ? expected->name : shapeproof_inventory_tensor(check->inventory, found)->name;
    if (sp_is_error(difference)) finding.expected = sp_shape_text(&check->arena, expected->shape, expected->rank);
    switch (difference) {
    case SP_MISSING:
        finding.kind = SHAPEPROOF_FINDING_MISSING;
        finding.message = "is missing";
        break;
    case SP_SHAPE:
        shape_finding(check, &finding);
        break;
    case SP_OPTIONAL:
        finding.kind = SHAPEPROOF_FINDING_OPTIONAL;
        finding.message = expected->buffer ? "is an optional buffer" : "is optional";
        break;
    case SP_TIED_PRESENT:
    case SP_TIED_ABSENT:
        tie_finding(check, &finding, difference == SP_TIED_PRESENT);
        break;
    default: /* SP_UNEXPECTED and SP_STATE are about tensors that are not predicted */
        return;
    }
    sp_check_add_finding(check, finding);
}

/* Adds the finding about a tensor of the file that is not predicted. */
static void tensor_finding(struct shapeproof_check *check, size_t index)
{
    const struct shapeproof_tensor *tensor = shapeproof_inventory_tensor(check->inventory, index);
    const bool state = sp_match_tensor(&check->match, index) == SP_STATE;
    sp_check_add_finding(check, (struct shapeproof_finding){
                                    .kind = state ? SHAPEPROOF_FINDING_STATE : SHAPEPROOF_FINDING_UNEXPECTED,
                                    .message = state ? "is the state of an optimizer or trainer" : "is unexpected",
                                    .tensor = index,
                                    .predicted = SHAPEPROOF_NONE,
                                    .name = tensor->name,
                                    .found = sp_found_shape(&check->arena, tensor)});
}

void sp_find_differences(struct shapeproof_check *check)
{
    for (size_t i = 0; i < shapeproof_prediction_count(check->prediction); i++) predicted_finding(check, i);
    for (size_t i = 0; i < shapeproof_inventory_count(check->inventory); i++)
        if (check->match.predicted_of[i] == SHAPEPROOF_NONE) tensor_finding(check, i);
}

/* ---- groups ---- */

/* All of a finding but its name, as a text: two findings with the same text can be one line of a report. */
static void put_finding_kind(struct sp_text *text, const struct shapeproof_finding *finding)
{
    const char *const words[] = {finding->expected, finding->found, finding->message, finding->reason};
    text->length = 0;
    sp_text_number(text, finding->kind);
    sp_text_puts(text, " ");
    sp_text_number(text, finding->severity);
    sp_text_puts(text, " ");
    sp_text_number(text, finding->cause);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        sp_text_puts(text, "|");
        sp_text_puts(text, words[i] ? words[i] : "");
    }
}

static bool is_same_text(const char *a, const char *b) { return a == b || (a && b && strcmp(a, b) == 0); }

static bool is_same_kind(const struct shapeproof_finding *a, const struct shapeproof_finding *b)
{
    return a->kind == b->kind && a->severity == b->severity && a->cause == b->cause &&
           is_same_text(a->expected, b->expected) && is_same_text(a->found, b->found) &&
           is_same_text(a->message, b->message) && is_same_text(a->reason, b->reason);
}

/* A number for each finding: findings that agree in all but their names have the same one. Neighbours often agree, so
 * that a finding is compared with the one before it first. To be freed. */
static size_t *merge_keys(struct shapeproof_check *check)
{
    size_t *keys = sp_realloc(NULL, check->finding_count, sizeof *keys);
    struct sp_kinds kinds = {0};
    struct sp_text kind = {0};
    for (size_t i = 0; i < check->finding_count; i++) {
        const struct shapeproof_finding *finding = &check->findings[i];
        if (i && is_same_kind(finding, finding - 1)) {
            keys[i] = keys[i - 1];
            continue;
        }
        put_finding_kind(&kind, finding);
        keys[i] = sp_kind_of(&kinds, &kind);
    }
    sp_text_free(&kind);
    sp_kinds_free(&kinds);
    return keys;
}

/* The sections of a report, in their order. */
enum {
    OPEN,      /* errors and warnings without a cause */
    EXPLAINED, /* those with a cause */
    NOTE,      /* notes, with a cause or without */
    SECTIONS
};

static int section_of(const struct shapeproof_finding *finding)
{
    if (finding->severity == SHAPEPROOF_SEVERITY_NOTE) return NOTE;
    return finding->cause == SHAPEPROOF_NONE ? OPEN : EXPLAINED;
}

/* Fills check->groups: findings that agree in all but the indices in their names become one group, such as
 * "h.{0-11}.attn.bias is missing". Groups are sorted by section, and keep the order of their first findings within
 * one. */
void sp_group_findings(struct shapeproof_check *check)
{
    struct sp_collapse_input *input = sp_realloc(NULL, check->finding_count, sizeof *input);
    size_t *keys = merge_keys(check);
    struct sp_collapsed *collapsed;
    for (size_t i = 0; i < check->finding_count; i++)
        input[i] = (struct sp_collapse_input){check->findings[i].name, keys[i], &check->places[i]};
    const size_t count = sp_collapse(&check->arena, &check->patterns, input, check->finding_count, &collapsed);
    check->groups = sp_arena_array(&check->arena, count, sizeof *check->groups);
    check->group_count = 0;
    for (int section = OPEN; section < SECTIONS; section++)
        for (size_t i = 0; i < count; i++) {
            const struct shapeproof_finding *first = &check->findings[collapsed[i].first];
            if (section_of(first) == section)
                check->groups[check->group_count++] =
                    (struct shapeproof_finding_group){collapsed[i].name, collapsed[i].count, first};
        }
    sp_free(keys);
    sp_free(input);
}

/* ---- their names ---- */

const char *sp_check_names(struct shapeproof_check *check,
                           bool (*wanted)(const struct shapeproof_finding *, const void *), const void *context)
{
    struct sp_collapse_input *input = sp_realloc(NULL, check->finding_count, sizeof *input);
    size_t count = 0;
    for (size_t i = 0; i < check->finding_count; i++)
        if (wanted(&check->findings[i], context))
            input[count++] = (struct sp_collapse_input){.name = check->findings[i].name, .place = &check->places[i]};
    const char *list = sp_some_inputs(&check->arena, &check->patterns, input, count);
    sp_free(input);
    return list;
}
