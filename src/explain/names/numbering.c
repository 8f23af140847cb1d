/* SPDX-License-Identifier: MIT
 * Layers that are numbered from 1 in the file and from 0 in the table, or the other way round: each tensor below them
 * is there, one number higher or lower. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/chars.h"
#include "base/map.h"
#include "explain/gather.h"
#include "explain/own_table.h"
#include "lang/prediction.h"
#include "match/layers.h"
#include "names/components.h"

enum { MOST_FRONTS = 400 }; /* of loops that are looked at: the experts of each layer are one */

/* The indices of a loop. */
struct range {
    uint64_t first, last;
    size_t count; /* of the names that have one */
};

struct numbering {
    struct sp_check *check;
    struct sp_arena arena;
    struct sp_map tensors; /* of the file, by the names that the prediction would have for them */
    const char **names;    /* the same, of each tensor */
    bool *taken;           /* findings that are explained */
    struct sp_text scratch;
    /* the loop that is looked at */
    const char *front; /* in front of the index: "model.layers." */
    size_t length;     /* of that */
    struct range predicted, found;
    size_t any;    /* one of the tensors that are predicted below it */
    int64_t shift; /* from the predicted indices to those of the file */
};

static void name_tensors(struct numbering *numbering)
{
    const struct sp_check *check = numbering->check;
    const size_t count = sp_inventory_count(check->inventory);
    numbering->names = sp_arena_array(&numbering->arena, count, sizeof *numbering->names);
    for (size_t i = 0; i < count; i++) {
        struct sp_text name = {0};
        sp_naming_apply(&check->naming, sp_inventory_tensor(check->inventory, i)->name, &name);
        numbering->names[i] = sp_text_keep(&name, &numbering->arena);
        sp_map_add(&numbering->tensors, numbering->names[i], i);
    }
}

/* What follows the index behind the front; NULL when the name is not below it. */
static const char *index_below(const struct numbering *numbering, const char *name, uint64_t *index)
{
    char *rest;
    if (strncmp(name, numbering->front, numbering->length) != 0 || !sp_is_digit(name[numbering->length])) return NULL;
    *index = strtoull(name + numbering->length, &rest, 10);
    return *rest == '.' ? rest : NULL;
}

/* A name below the front with an index that is so much higher; until the next call. */
static const char *shift_name(struct numbering *numbering, const char *name, int64_t by)
{
    uint64_t index;
    const char *rest = index_below(numbering, name, &index);
    numbering->scratch.length = 0;
    sp_text_printf(&numbering->scratch, "%s%" PRId64 "%s", numbering->front, (int64_t)index + by, rest);
    return numbering->scratch.data;
}

static bool note_index(const struct numbering *numbering, struct range *range, const char *name)
{
    uint64_t index;
    if (!index_below(numbering, name, &index)) return false;
    if (!range->count || index < range->first) range->first = index;
    if (!range->count++ || index > range->last) range->last = index;
    return true;
}

static void look_below(struct numbering *numbering, const char *front)
{
    const struct sp_check *check = numbering->check;
    numbering->front = front;
    numbering->length = strlen(front);
    numbering->predicted = numbering->found = (struct range){.count = 0};
    for (size_t i = 0; i < sp_prediction_count(check->prediction); i++)
        if (!sp_prediction_tensor(check->prediction, i)->optional &&
            note_index(numbering, &numbering->predicted, sp_prediction_tensor(check->prediction, i)->name))
            numbering->any = i;
    for (size_t i = 0; i < sp_inventory_count(check->inventory); i++)
        note_index(numbering, &numbering->found, numbering->names[i]);
}

/* Whether the file has as many, from another one on. */
static bool find_shift(struct numbering *numbering)
{
    numbering->shift = (int64_t)numbering->found.first - (int64_t)numbering->predicted.first;
    return numbering->predicted.count && numbering->found.count && (numbering->shift == 1 || numbering->shift == -1) &&
           (int64_t)numbering->found.last - (int64_t)numbering->predicted.last == numbering->shift;
}

/* Whether all that is predicted below the front is there, each in its shape. */
static bool are_all_shifted(struct numbering *numbering)
{
    const struct sp_check *check = numbering->check;
    uint64_t index;
    for (size_t i = 0; i < sp_prediction_count(check->prediction); i++) {
        const struct sp_predicted *predicted = sp_prediction_tensor(check->prediction, i);
        if (!index_below(numbering, predicted->name, &index)) continue;
        const size_t tensor = sp_map_get(&numbering->tensors, shift_name(numbering, predicted->name, numbering->shift));
        const bool needed = !predicted->optional && predicted->same_as == SP_NONE;
        if (tensor == SP_NONE ? needed : !sp_same_shape(sp_inventory_tensor(check->inventory, tensor), predicted))
            return false;
    }
    return true;
}

/* Whether all that the file has below the front is something predicted. */
static bool is_none_left(struct numbering *numbering)
{
    const struct sp_check *check = numbering->check;
    uint64_t index;
    for (size_t i = 0; i < sp_inventory_count(check->inventory); i++)
        if (index_below(numbering, numbering->names[i], &index) &&
            sp_prediction_find(check->prediction, shift_name(numbering, numbering->names[i], -numbering->shift)) ==
                SP_NONE)
            return false;
    return true;
}

static void take_findings(struct numbering *numbering)
{
    const struct sp_check *check = numbering->check;
    uint64_t index;
    for (size_t i = 0; i < check->finding_count; i++) {
        const struct sp_finding *finding = &check->findings[i];
        const char *name = finding->predicted != SP_NONE
                               ? sp_prediction_tensor(check->prediction, finding->predicted)->name
                               : numbering->names[finding->tensor];
        if (sp_finding_is_open(finding) && index_below(numbering, name, &index)) numbering->taken[i] = true;
    }
}

/* ---- a loop of the user's table that has one turn too many, or too few ---- */

/* Its findings are those with an index that only one side has. */
static void take_beyond(struct numbering *numbering)
{
    const struct sp_check *check = numbering->check;
    uint64_t index;
    for (size_t i = 0; i < check->finding_count; i++) {
        const struct sp_finding *finding = &check->findings[i];
        const bool missing = finding->predicted != SP_NONE;
        const char *name = missing ? sp_prediction_tensor(check->prediction, finding->predicted)->name
                                   : numbering->names[finding->tensor];
        const struct range *other = missing ? &numbering->found : &numbering->predicted;
        if (sp_finding_is_open(finding) && index_below(numbering, name, &index))
            numbering->taken[i] = index < other->first || index > other->last;
    }
}

/* The key that the loop goes by and that says how many the file has; NULL when the configuration is to blame. */
static const char *key_of_loop(const struct numbering *numbering, const struct sp_section *section)
{
    struct sp_prediction *prediction = numbering->check->prediction;
    const struct sp_env env = {.frame = prediction->origins[numbering->any].frame, .section = section};
    const struct sp_clause *loop = NULL;
    for (size_t i = 0; i < section->clause_count; i++) {
        if (section->clauses[i].kind != SP_CLAUSE_RANGE) continue;
        if (loop) return NULL;
        loop = &section->clauses[i];
    }
    if (!loop) return NULL;
    const struct sp_keys keys = sp_prediction_condition(prediction, &env, loop->last)->keys;
    for (size_t i = 0; i < keys.count; i++) {
        const struct sp_hyperparameter hyper = sp_prediction_hyperparameter(prediction, keys.list[i]);
        const uint64_t turns = numbering->found.last - numbering->found.first + 1;
        if (hyper.value.type == SP_INT && hyper.value.integer >= 0 && (uint64_t)hyper.value.integer == turns)
            return hyper.name;
    }
    return NULL;
}

static bool is_one_apart(uint64_t a, uint64_t b) { return a + 1 == b || b + 1 == a; }

/* Whether one end is the same, and the other is one off. */
static bool is_off_by_one(const struct numbering *numbering)
{
    const struct range *predicted = &numbering->predicted, *found = &numbering->found;
    if (!predicted->count || !found->count) return false;
    return predicted->first == found->first
               ? is_one_apart(predicted->last, found->last)
               : predicted->last == found->last && is_one_apart(predicted->first, found->first);
}

/* The loop may be wrong where the file has as many as the configuration says. */
static void suspect_table(struct numbering *numbering)
{
    struct sp_check *check = numbering->check;
    if (!is_off_by_one(numbering)) return;
    const struct sp_origin *origin = &check->prediction->origins[numbering->any];
    const struct sp_section *section = sp_own_section(origin->frame->unit, origin->row);
    const char *key = section ? key_of_loop(numbering, section) : NULL;
    if (!key) return;
    take_beyond(numbering);
    struct sp_cause *cause = sp_gather(check, SP_CAUSE_OWN_LOOP, sp_is_marked, numbering->taken);
    if (!cause) return;
    cause->message = sp_arena_printf(&check->arena,
                                     "the table may be wrong, %s: it makes %s%" PRIu64 " to %" PRIu64
                                     ", the file has %" PRIu64 " to %" PRIu64 ", as many as %s says (%s)",
                                     sp_own_heading(check, section), numbering->front, numbering->predicted.first,
                                     numbering->predicted.last, numbering->found.first, numbering->found.last, key,
                                     sp_tensors_of(check, cause));
}

/* ---- which loops ---- */

/* What stands in front of the index of the layer or part that the name is in; NULL when it is in none. */
static const char *front_of_layer(struct sp_arena *arena, const char *name, int level)
{
    const size_t length = sp_last_component(name, sp_layer_end(name, level), ".");
    return length ? sp_arena_copy(arena, name, length) : NULL;
}

/* Of the open findings of one kind; with `others`, those alone that are in that set as well. */
static size_t list_fronts(struct numbering *numbering, int level, enum sp_finding_kind kind,
                          const struct sp_map *others, struct sp_map *known, const char *fronts[MOST_FRONTS])
{
    const struct sp_check *check = numbering->check;
    size_t count = 0;
    for (size_t i = 0; i < check->finding_count && count < MOST_FRONTS; i++) {
        const struct sp_finding *finding = &check->findings[i];
        if (!sp_finding_is_open_as(finding, kind)) continue;
        const char *name = finding->predicted == SP_NONE
                               ? numbering->names[finding->tensor]
                               : sp_prediction_tensor(check->prediction, finding->predicted)->name;
        const char *front = front_of_layer(&numbering->arena, name, level);
        if (!front || (others && sp_map_get(others, front) == SIZE_MAX)) continue;
        if (sp_map_add(known, front, 0)) fronts[count++] = front;
    }
    return count;
}

/* ---- saying it ---- */

/* "model.layers is numbered from 1 in the file, 1 to 4 for 0 to 3". */
static void say_numbering(struct numbering *numbering, const char **fronts, size_t count)
{
    struct sp_check *check = numbering->check;
    for (size_t i = 0; i < count; i++) fronts[i] = sp_arena_copy(&check->arena, fronts[i], strlen(fronts[i]) - 1);
    struct sp_cause *cause = sp_gather(check, SP_CAUSE_NUMBERED, sp_is_marked, numbering->taken);
    const struct sp_origin *origin = &check->prediction->origins[numbering->any];
    const struct sp_section *own = sp_own_section(origin->frame->unit, origin->row);
    cause->message = sp_arena_printf(
        &check->arena,
        "%s %s numbered from %" PRIu64 " in the file, %" PRIu64 " to %" PRIu64 " for %" PRIu64 " to %" PRIu64 "%s",
        sp_some_names(&check->arena, fronts, count), count > 1 ? "are" : "is", numbering->found.first,
        numbering->found.first, numbering->found.last, numbering->predicted.first, numbering->predicted.last,
        own ? sp_arena_printf(&check->arena, "; or the table is wrong, %s", sp_own_heading(check, own)) : "");
}

static void explain_numbers(struct numbering *numbering, int level)
{
    const char *fronts[MOST_FRONTS];
    struct sp_map strangers = {0}, known = {0};
    list_fronts(numbering, level, SP_FINDING_UNEXPECTED, NULL, &strangers, fronts);
    const size_t count = list_fronts(numbering, level, SP_FINDING_MISSING, &strangers, &known, fronts);
    struct numbering said = *numbering;
    sp_map_free(&strangers);
    sp_map_free(&known);
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        look_below(numbering, fronts[i]);
        if (!find_shift(numbering) || !are_all_shifted(numbering) || !is_none_left(numbering)) continue;
        if (kept && numbering->shift != said.shift) continue;
        take_findings(numbering);
        if (!kept++) said = *numbering;
        fronts[kept - 1] = fronts[i];
    }
    if (!kept) return;
    numbering->found = said.found;
    numbering->predicted = said.predicted;
    numbering->any = said.any;
    say_numbering(numbering, fronts, kept);
    memset(numbering->taken, 0, numbering->check->finding_count * sizeof *numbering->taken);
}

/* What is left of loops of the user's own table. */
static void explain_own_loops(struct numbering *numbering)
{
    const char *fronts[2 * MOST_FRONTS];
    struct sp_map known = {0};
    size_t count = list_fronts(numbering, SP_LAYERS, SP_FINDING_MISSING, NULL, &known, fronts);
    count += list_fronts(numbering, SP_LAYERS, SP_FINDING_UNEXPECTED, NULL, &known, fronts + count);
    sp_map_free(&known);
    for (size_t i = 0; i < count; i++) {
        look_below(numbering, fronts[i]);
        suspect_table(numbering);
        memset(numbering->taken, 0, numbering->check->finding_count * sizeof *numbering->taken);
    }
}

void sp_explain_numbering(struct sp_check *check)
{
    struct numbering numbering = {.check = check};
    if (!sp_check_open_both(check) && !(sp_check_open(check) && sp_is_own_table(check->prediction))) return;
    numbering.taken = sp_arena_array(&numbering.arena, check->finding_count, sizeof *numbering.taken);
    memset(numbering.taken, 0, check->finding_count * sizeof *numbering.taken);
    name_tensors(&numbering);
    for (int level = 0; level < SP_LAYER_LEVELS && sp_check_open_both(check); level++)
        explain_numbers(&numbering, level);
    if (sp_check_open(check) && sp_is_own_table(check->prediction)) explain_own_loops(&numbering);
    sp_map_free(&numbering.tensors);
    sp_text_free(&numbering.scratch);
    sp_arena_free(&numbering.arena);
}
