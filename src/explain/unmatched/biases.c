/* SPDX-License-Identifier: MIT
 * Biases that no other value of a hyper-parameter explains: too many or too few, against the rule that the table has
 * for them, a key of the configuration or none. */
#include <stdlib.h>
#include <string.h>

#include "explain/bias_names.h"
#include "explain/gather.h"
#include "lang/prediction.h"

enum { LEAST = 2 }; /* one tensor alone is no pattern */

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

/* The hyper-parameter that decides whether there is a bias, or SHAPEPROOF_NONE: it is there always, or never. */
static size_t rule_of(struct shapeproof_check *check, size_t predicted, bool lost)
{
    const struct sp_row_origin *origin = &check->prediction->origins[predicted];
    const struct sp_frame *frame = origin->frame->replaced ? origin->frame->caller : origin->frame;
    const struct sp_row *row = lost ? origin->row : bias_row(frame->unit);
    const struct sp_env env = {.frame = frame};
    if (!row || !row->condition) return SHAPEPROOF_NONE;
    const struct sp_keys keys = sp_prediction_condition(check->prediction, &env, row->condition)->keys;
    return keys.count ? keys.list[0] : SHAPEPROOF_NONE;
}

/* ---- causes: one for each rule, and each way to break it ---- */

struct broken {
    bool lost;
    size_t key; /* of the rule */
    size_t count;
};

struct biases {
    struct broken *list;
    size_t count, capacity;
    size_t *of; /* for each finding, or SHAPEPROOF_NONE */
};

static size_t broken_rule(struct biases *biases, bool lost, size_t key)
{
    for (size_t i = 0; i < biases->count; i++)
        if (biases->list[i].lost == lost && biases->list[i].key == key) return i;
    SP_GROW(biases->list, biases->count, biases->capacity);
    biases->list[biases->count] = (struct broken){.lost = lost, .key = key};
    return biases->count++;
}

static size_t classify_biases(struct shapeproof_check *check, struct biases *biases, const struct sp_map *packed,
                              const struct shapeproof_finding *finding)
{
    const bool lost = finding->kind == SHAPEPROOF_FINDING_MISSING;
    if (!sp_finding_is_open(finding) || (!lost && finding->kind != SHAPEPROOF_FINDING_UNEXPECTED))
        return SHAPEPROOF_NONE;
    const size_t predicted = (lost ? sp_weight_of_lost_bias : sp_weight_of_stray_bias)(check, packed, finding->name);
    if (predicted == SHAPEPROOF_NONE || check->match.tensor_of[predicted] == SHAPEPROOF_NONE) return SHAPEPROOF_NONE;
    const size_t rule = broken_rule(biases, lost, rule_of(check, lost ? finding->predicted : predicted, lost));
    biases->list[rule].count++;
    return rule;
}

/* "model.layers.3" of "model.layers.3.mlp.up_proj.bias"; NULL without an index. In the arena. */
static const char *layer_of_bias(struct sp_arena *arena, const char *name)
{
    uint64_t value;
    for (size_t i = 0; name[i]; i++) {
        const size_t digits = sp_index_at(name, i, &value);
        if (digits) return sp_arena_copy(arena, name, i + digits);
    }
    return NULL;
}

/* "72 tensors in 24 layers". */
static const char *how_many_biases(struct shapeproof_check *check, const struct biases *biases, size_t rule)
{
    struct sp_map layers = {0};
    const size_t count = biases->list[rule].count;
    const char *text = sp_count_of(&check->arena, count, "tensor");
    bool all = true;
    for (size_t i = 0; i < check->finding_count && all; i++) {
        if (biases->of[i] != rule) continue;
        const char *layer = layer_of_bias(&check->arena, check->findings[i].name);
        all = layer != NULL;
        if (layer) sp_map_add(&layers, layer, i);
    }
    if (all && layers.count < count)
        text = sp_arena_printf(&check->arena, "%s in %s", text, sp_count_of(&check->arena, layers.count, "layer"));
    sp_map_free(&layers);
    return text;
}

static void say_broken(struct shapeproof_check *check, const struct biases *biases, size_t rule,
                       struct shapeproof_cause *cause)
{
    const struct broken *broken = &biases->list[rule];
    const char *table = shapeproof_prediction_table(check->prediction), *does = broken->lost ? "lacks" : "has";
    const char *names = sp_names_of(check, cause);
    const char *count = how_many_biases(check, biases, rule);
    if (broken->key == SHAPEPROOF_NONE) {
        cause->message = sp_arena_printf(&check->arena, "the file %s biases that %s %s has: %s (%s)", does, table,
                                         broken->lost ? "always" : "never", names, count);
        return;
    }
    const struct shapeproof_hyperparameter hyper =
        *shapeproof_prediction_hyperparameter(check->prediction, broken->key);
    cause->hyperparameter = hyper.name;
    cause->configured = hyper.value;
    cause->message = sp_arena_printf(&check->arena, "%s, but the file %s biases: %s (%s)", sp_said(check, hyper), does,
                                     names, count);
}

struct ruled {
    const struct biases *biases;
    size_t rule;
};

static bool is_ruled(const struct shapeproof_check *check, const struct shapeproof_finding *finding,
                     const void *context)
{
    const struct ruled *ruled = context;
    return ruled->biases->of[finding - check->findings] == ruled->rule;
}

void sp_explain_biases(struct shapeproof_check *check)
{
    struct biases biases = {.of = NULL};
    struct sp_map packed = {0};
    if (!sp_check_open(check)) return;
    biases.of = sp_realloc(NULL, check->finding_count, sizeof *biases.of);
    sp_map_packed(check, &packed);
    for (size_t i = 0; i < check->finding_count; i++)
        biases.of[i] = classify_biases(check, &biases, &packed, &check->findings[i]);
    for (size_t rule = 0; rule < biases.count; rule++) {
        if (biases.list[rule].count < LEAST) continue;
        const struct ruled ruled = {&biases, rule};
        say_broken(check, &biases, rule, sp_gather(check, SP_CAUSE_BIAS, is_ruled, &ruled));
    }
    sp_map_free(&packed);
    sp_free(biases.of);
    sp_free(biases.list);
}
