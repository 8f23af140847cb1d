/* SPDX-License-Identifier: MIT
 * Biases that no other value of a hyper-parameter explains: too many or too few, against the rule that the table has
 * for them, a key of the configuration or none. */
#include <stdlib.h>
#include <string.h>

#include "check/check.h"
#include "lang/prediction.h"

enum { LEAST = 2 }; /* one tensor alone is no pattern */

/* ---- which findings are about biases ---- */

/* "x.weight" for "x.bias", "x" for "x_bias"; NULL for any other name. In the arena. */
static const char *weight_beside(struct sp_arena *arena, const char *name)
{
    const size_t length = strlen(name);
    if (length > 5 && strcmp(name + length - 5, ".bias") == 0)
        return sp_arena_printf(arena, "%.*s.weight", (int)(length - 5), name);
    if (length > 5 && strcmp(name + length - 5, "_bias") == 0) return sp_arena_copy(arena, name, length - 5);
    return NULL;
}

/* The prediction of the weight beside a bias that the file lacks, or of the first tensor that is stored in its place;
 * or SP_NONE. */
static size_t weight_of_lost(struct sp_check *check, const struct sp_map *packed, const char *bias)
{
    const char *weight = weight_beside(&check->arena, bias);
    if (!weight) return SP_NONE;
    const size_t stored = sp_map_get(packed, weight);
    return stored != SIZE_MAX ? stored : sp_prediction_find(check->prediction, weight);
}

static void map_packed(const struct sp_check *check, struct sp_map *packed)
{
    for (size_t i = 0; check->quantisation.method && i < sp_prediction_count(check->prediction); i++) {
        const char *weight = sp_prediction_tensor(check->prediction, i)->stands_for;
        if (weight) sp_map_add(packed, weight, i);
    }
}

/* Likewise of a bias that the file has. */
static size_t weight_of_stray(struct sp_check *check, const struct sp_map *packed, const char *bias)
{
    const char *weight = weight_beside(&check->arena, bias);
    struct sp_text name = {0};
    if (!weight) return SP_NONE;
    const size_t tensor = sp_inventory_find(check->inventory, weight);
    sp_naming_apply(&check->naming, weight, &name);
    const size_t stored = sp_map_get(packed, name.data);
    sp_text_free(&name);
    return stored != SIZE_MAX ? stored : tensor == SP_NONE ? SP_NONE : check->match.predicted_of[tensor];
}

/* ---- the rule ---- */

/* The row `bias` of the part that makes the weight, where there is one. */
static const struct sp_row *bias_row(const struct sp_unit *unit)
{
    for (size_t s = 0; s < unit->section_count; s++)
        for (size_t r = 0; r < unit->sections[s].row_count; r++) {
            const struct sp_row *row = &unit->sections[s].rows[r];
            if (row->kind == SP_ROW_TENSOR && row->name.count == 1 && row->name.pieces[0].text &&
                strcmp(row->name.pieces[0].text, "bias") == 0)
                return row;
        }
    return NULL;
}

/* The hyper-parameter that decides whether there is a bias, or SP_NONE: it is there always, or never. */
static size_t rule_of(struct sp_check *check, size_t predicted, bool lost)
{
    const struct sp_origin *origin = &check->prediction->origins[predicted];
    const struct sp_frame *frame = origin->frame->replaced ? origin->frame->caller : origin->frame;
    const struct sp_row *row = lost ? origin->row : bias_row(frame->unit);
    const struct sp_env env = {.frame = frame};
    if (!row || !row->condition) return SP_NONE;
    const struct sp_keys keys = sp_prediction_condition(check->prediction, &env, row->condition)->keys;
    return keys.count ? keys.list[0] : SP_NONE;
}

/* ---- causes: one for each rule, and each way to break it ---- */

struct broken {
    bool lost;
    size_t key; /* of the rule */
    size_t cause, count;
};

struct biases {
    struct broken *list;
    size_t count, capacity;
    size_t *of; /* for each finding, or SP_NONE */
};

static size_t broken_rule(struct biases *biases, bool lost, size_t key)
{
    for (size_t i = 0; i < biases->count; i++)
        if (biases->list[i].lost == lost && biases->list[i].key == key) return i;
    SP_GROW(biases->list, biases->count, biases->capacity);
    biases->list[biases->count] = (struct broken){.lost = lost, .key = key};
    return biases->count++;
}

static size_t classify(struct sp_check *check, struct biases *biases, const struct sp_map *packed,
                       const struct sp_finding *finding)
{
    const bool lost = finding->kind == SP_FINDING_MISSING;
    if (!sp_finding_is_open(finding) || (!lost && finding->kind != SP_FINDING_UNEXPECTED)) return SP_NONE;
    const size_t predicted = (lost ? weight_of_lost : weight_of_stray)(check, packed, finding->name);
    if (predicted == SP_NONE || check->match.tensor_of[predicted] == SP_NONE) return SP_NONE;
    const size_t rule = broken_rule(biases, lost, rule_of(check, lost ? finding->predicted : predicted, lost));
    biases->list[rule].count++;
    return rule;
}

/* "model.layers.3" of "model.layers.3.mlp.up_proj.bias"; NULL without an index. In the arena. */
static const char *layer_of(struct sp_arena *arena, const char *name)
{
    uint64_t value;
    for (size_t i = 0; name[i]; i++) {
        const size_t digits = sp_index_at(name, i, &value);
        if (digits) return sp_arena_copy(arena, name, i + digits);
    }
    return NULL;
}

/* "72 tensors in 24 layers". */
static const char *how_many(struct sp_check *check, const struct biases *biases, size_t rule)
{
    struct sp_map layers = {0};
    const size_t count = biases->list[rule].count;
    const char *text = sp_count_of(&check->arena, count, "tensor");
    bool all = true;
    for (size_t i = 0; i < check->finding_count && all; i++) {
        if (biases->of[i] != rule) continue;
        const char *layer = layer_of(&check->arena, check->findings[i].name);
        all = layer != NULL;
        if (layer) sp_map_add(&layers, layer, i);
    }
    if (all && layers.count < count)
        text = sp_arena_printf(&check->arena, "%s in %s", text, sp_count_of(&check->arena, layers.count, "layer"));
    sp_map_free(&layers);
    return text;
}

static void say(struct sp_check *check, const struct biases *biases, size_t rule)
{
    const struct broken *broken = &biases->list[rule];
    const char *table = sp_prediction_table(check->prediction), *does = broken->lost ? "lacks" : "has";
    struct sp_cause *cause = &check->causes[broken->cause];
    const char *names = sp_check_names(check, sp_explained_by, &broken->cause);
    const char *count = how_many(check, biases, rule);
    if (broken->key == SP_NONE) {
        cause->message = sp_arena_printf(&check->arena, "the file %s biases that %s %s has: %s (%s)", does, table,
                                         broken->lost ? "always" : "never", names, count);
        return;
    }
    const struct sp_hyperparameter hyper = sp_prediction_hyperparameter(check->prediction, broken->key);
    cause->hyperparameter = hyper.name;
    cause->configured = hyper.value;
    cause->message = sp_arena_printf(&check->arena, "%s, yet the file %s biases of these: %s (%s)",
                                     sp_said(check, hyper), does, names, count);
}

void sp_explain_biases(struct sp_check *check)
{
    struct biases biases = {.of = NULL};
    struct sp_map packed = {0};
    if (!sp_check_open(check)) return;
    biases.of = sp_realloc(NULL, check->finding_count, sizeof *biases.of);
    map_packed(check, &packed);
    for (size_t i = 0; i < check->finding_count; i++)
        biases.of[i] = classify(check, &biases, &packed, &check->findings[i]);
    for (size_t rule = 0; rule < biases.count; rule++) {
        if (biases.list[rule].count < LEAST) continue;
        biases.list[rule].cause =
            sp_check_add_cause(check, (struct sp_cause){.id = "bias", .severity = SP_SEVERITY_ERROR, .message = ""});
        for (size_t i = 0; i < check->finding_count; i++)
            if (biases.of[i] == rule) sp_check_explain(check, i, biases.list[rule].cause);
        say(check, &biases, rule);
    }
    sp_map_free(&packed);
    free(biases.of);
    free(biases.list);
}

/* ---- biases that a quantiser adds ---- */

/* Whether the file has a bias beside the tensors that are stored in place of a weight. */
static bool has_bias(struct sp_check *check, size_t predicted)
{
    const struct sp_predicted *member = sp_prediction_tensor(check->prediction, predicted);
    const char *name = sp_inventory_tensor(check->inventory, check->match.tensor_of[predicted])->name;
    const size_t stem = strlen(member->stands_for) - strlen("weight"), tail = strlen(member->name) - stem;
    if (strlen(name) <= tail) return false;
    name = sp_arena_printf(&check->arena, "%.*sbias", (int)(strlen(name) - tail), name);
    return sp_inventory_find(check->inventory, name) != SP_NONE;
}

static bool all_have_biases(struct sp_check *check)
{
    const char *last = NULL;
    for (size_t i = 0; i < sp_prediction_count(check->prediction); i++) {
        const struct sp_predicted *member = sp_prediction_tensor(check->prediction, i);
        if (!member->stands_for || member->stands_for == last || check->match.tensor_of[i] == SP_NONE) continue;
        const size_t length = strlen(member->stands_for);
        if (length < 7 || strcmp(member->stands_for + length - 7, ".weight") != 0) return false;
        if (!has_bias(check, i)) return false;
        last = member->stands_for;
    }
    return last != NULL;
}

/* Some quantisers give every weight that they pack a bias, whether the model has one there or not. */
void sp_explain_added_biases(struct sp_check *check)
{
    struct sp_map packed = {0};
    size_t cause = SP_NONE;
    if (!check->quantisation.method || !sp_check_open(check) || !all_have_biases(check)) return;
    map_packed(check, &packed);
    for (size_t i = 0; i < check->finding_count; i++) {
        const struct sp_finding *finding = &check->findings[i];
        if (!sp_finding_is_open_as(finding, SP_FINDING_UNEXPECTED)) continue;
        const size_t weight = weight_of_stray(check, &packed, finding->name);
        if (weight == SP_NONE || !sp_prediction_tensor(check->prediction, weight)->stands_for) continue;
        if (cause == SP_NONE)
            cause = sp_check_add_cause(check,
                                       (struct sp_cause){.id = "bias", .severity = SP_SEVERITY_WARNING, .message = ""});
        sp_check_explain(check, i, cause);
    }
    sp_map_free(&packed);
    if (cause == SP_NONE) return;
    check->causes[cause].message =
        sp_arena_printf(&check->arena, "the quantiser gave every weight a bias, which the model lacks: %s (%s)",
                        sp_check_names(check, sp_explained_by, &cause),
                        sp_count_of(&check->arena, check->causes[cause].explains, "tensor"));
    check->causes[cause].hint = "some loaders ignore them, others stop at them";
}
