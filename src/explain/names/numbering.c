/* SPDX-License-Identifier: MIT
 * Layers that have other numbers in the file than in the table. The layers of both are put in order, and paired one by
 * one; each tensor of a predicted layer must be there in the layer that it is paired with, in its shape:
 *
 *     layers.1 to layers.4 for layers.0 to layers.3          numbered from 1
 *     layers.{0,1,4,5} for layers.0 to layers.3              some were left out, and the rest not renumbered
 *     blocks.0.{0,1}, blocks.1.{2,3} for blocks.0 to 3       in groups, with a number for the group as well */
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
#include "solve/lines.h"

enum { MOST_FRONTS = 400 }; /* of loops that are looked at: the experts of each layer are one */

/* The indices of a loop on one side. */
struct range {
    uint64_t first, last; /* the smallest and the largest */
    size_t count;         /* of the names that have one; 0: there is none */
};

/* The number of a layer: "4", or "0.4" where layers are in groups. */
struct number {
    uint64_t group, index;
};

/* The layers of a loop on one side, ascending, each once. */
struct layer_numbers {
    struct number *items;
    size_t count, capacity;
};

struct numbering {
    struct shapeproof_check *check;
    struct sp_arena arena;
    struct sp_map tensors; /* of the file, by the names that the prediction would have for them */
    const char **names;    /* these names, for each tensor of the file */
    bool *taken;           /* for each finding whether the cause that is being made explains it */
    struct sp_text scratch;
    /* the loop that is looked at */
    const char *front; /* in front of the index: "model.layers." */
    size_t length;     /* of that */
    struct range predicted, found;
    size_t any;                        /* one of the tensors that are predicted below it */
    bool grouped;                      /* the file has two numbers there, GROUP.NUMBER, the table one */
    struct layer_numbers ours, theirs; /* as predicted, as in the file; ours[i] is paired with theirs[i] */
};

/* Fills `names` and `tensors`. */
static void name_tensors(struct numbering *numbering)
{
    const struct shapeproof_check *check = numbering->check;
    const size_t count = shapeproof_inventory_count(check->inventory);
    numbering->names = sp_arena_array(&numbering->arena, count, sizeof *numbering->names);
    for (size_t i = 0; i < count; i++) {
        struct sp_text name = {0};
        sp_naming_apply(&check->naming, shapeproof_inventory_tensor(check->inventory, i)->name, &name);
        numbering->names[i] = sp_text_keep(&name, &numbering->arena);
        sp_map_add(&numbering->tensors, numbering->names[i], i);
    }
}

/* The index behind the front, and what follows it: 3 and ".mlp.weight" for "model.layers.3.mlp.weight". NULL when the
 * name is not below the front. */
static const char *index_below(const struct numbering *numbering, const char *name, uint64_t *index)
{
    char *rest;
    if (strncmp(name, numbering->front, numbering->length) != 0 || !sp_is_digit(name[numbering->length])) return NULL;
    *index = strtoull(name + numbering->length, &rest, 10);
    return *rest == '.' ? rest : NULL;
}

/* Widens the range to the index of the name; false when the name is not below the front. */
static bool note_index(const struct numbering *numbering, struct range *range, const char *name)
{
    uint64_t index;
    if (!index_below(numbering, name, &index)) return false;
    if (!range->count || index < range->first) range->first = index;
    if (!range->count++ || index > range->last) range->last = index;
    return true;
}

/* Takes up the loop with that front: its range of indices on both sides. */
static void take_up_loop(struct numbering *numbering, const char *front)
{
    const struct shapeproof_check *check = numbering->check;
    numbering->front = front;
    numbering->length = strlen(front);
    numbering->predicted = numbering->found = (struct range){.count = 0};
    for (size_t i = 0; i < shapeproof_prediction_count(check->prediction); i++)
        if (!shapeproof_prediction_tensor(check->prediction, i)->optional &&
            note_index(numbering, &numbering->predicted, shapeproof_prediction_tensor(check->prediction, i)->name))
            numbering->any = i;
    for (size_t i = 0; i < shapeproof_inventory_count(check->inventory); i++)
        note_index(numbering, &numbering->found, numbering->names[i]);
}

/* ---- which layer is which ---- */

static int compare_numbers(const void *left, const void *right)
{
    const struct number *a = left, *b = right;
    if (a->group != b->group) return a->group < b->group ? -1 : 1;
    return a->index < b->index ? -1 : a->index > b->index;
}

static void add_number(struct layer_numbers *numbers, struct number number)
{
    if (numbers->count && compare_numbers(&numbers->items[numbers->count - 1], &number) == 0) return;
    SP_GROW(numbers->items, numbers->count, numbers->capacity);
    numbers->items[numbers->count++] = number;
}

static void sort_numbers(struct layer_numbers *numbers)
{
    size_t kept = 0;
    if (numbers->count) qsort(numbers->items, numbers->count, sizeof *numbers->items, compare_numbers);
    for (size_t i = 0; i < numbers->count; i++)
        if (!kept || compare_numbers(&numbers->items[kept - 1], &numbers->items[i]) != 0)
            numbers->items[kept++] = numbers->items[i];
    numbers->count = kept;
}

enum digits {
    ONE_NUMBER, /* "3" of "layers.3.weight" */
    GROUPED     /* "0.3" of "layers.0.3.weight" */
};

/* The number of the layer of a name below the front, and what follows it; NULL when the name has none of that form. */
static const char *number_below(const struct numbering *numbering, const char *name, enum digits form,
                                struct number *number)
{
    char *end;
    const char *rest = index_below(numbering, name, &number->index);
    number->group = 0;
    if (!rest || form == ONE_NUMBER) return rest;
    if (!sp_is_digit(rest[1])) return NULL;
    number->group = number->index;
    number->index = strtoull(rest + 1, &end, 10);
    return *end == '.' ? end : NULL;
}

/* Whether a second number follows that of the loop in every name of the file, and in none that is predicted. */
static bool is_grouped(const struct numbering *numbering)
{
    const struct shapeproof_check *check = numbering->check;
    struct number number;
    for (size_t i = 0; i < shapeproof_inventory_count(check->inventory); i++)
        if (number_below(numbering, numbering->names[i], ONE_NUMBER, &number) &&
            !number_below(numbering, numbering->names[i], GROUPED, &number))
            return false;
    for (size_t i = 0; i < shapeproof_prediction_count(check->prediction); i++)
        if (number_below(numbering, shapeproof_prediction_tensor(check->prediction, i)->name, GROUPED, &number))
            return false;
    return true;
}

static enum digits form_in_file(const struct numbering *numbering) { return numbering->grouped ? GROUPED : ONE_NUMBER; }

/* Lists the layers of both sides. */
static void list_numbers(struct numbering *numbering)
{
    const struct shapeproof_check *check = numbering->check;
    struct number number;
    numbering->ours.count = numbering->theirs.count = 0;
    numbering->grouped = is_grouped(numbering);
    for (size_t i = 0; i < shapeproof_prediction_count(check->prediction); i++) {
        const struct shapeproof_predicted *predicted = shapeproof_prediction_tensor(check->prediction, i);
        if (!predicted->optional && number_below(numbering, predicted->name, ONE_NUMBER, &number))
            add_number(&numbering->ours, number);
    }
    for (size_t i = 0; i < shapeproof_inventory_count(check->inventory); i++)
        if (number_below(numbering, numbering->names[i], form_in_file(numbering), &number))
            add_number(&numbering->theirs, number);
    sort_numbers(&numbering->ours);
    sort_numbers(&numbering->theirs);
}

/* Whether the layers of the file have gaps between their numbers, and go beyond the predicted ones: whole layers were
 * left out, and nothing else of the loop is missing. */
static bool has_gaps(const struct numbering *numbering)
{
    const struct number first = numbering->theirs.items[0], last = numbering->theirs.items[numbering->theirs.count - 1];
    return !numbering->grouped && last.index - first.index + 1 > numbering->theirs.count &&
           last.index > numbering->ours.items[numbering->ours.count - 1].index;
}

/* Whether the file may have the layers under other numbers: as many layers with other numbers; or another number of
 * layers, if they are in groups, or have gaps, which show that they are what is left of a larger model. */
static bool are_others(const struct numbering *numbering)
{
    const struct layer_numbers *ours = &numbering->ours, *theirs = &numbering->theirs;
    if (!ours->count || !theirs->count) return false;
    if (ours->count != theirs->count) return numbering->grouped || has_gaps(numbering);
    return numbering->grouped || memcmp(ours->items, theirs->items, ours->count * sizeof *ours->items) != 0;
}

/* The first number between those of the file that none of its layers has; SHAPEPROOF_NONE when there is none. */
static size_t first_gap(const struct layer_numbers *numbers)
{
    for (size_t i = 1; i < numbers->count; i++)
        if (numbers->items[i].index > numbers->items[i - 1].index + 1) return (size_t)numbers->items[i - 1].index + 1;
    return SHAPEPROOF_NONE;
}

/* Whether a row of the table that can make the name has no condition that rules it out. */
static bool may_have(struct sp_line_map *rows, const char *name)
{
    enum { MOST_ROWS = 8 };
    const struct sp_line *lines[MOST_ROWS];
    struct sp_indices numbers;
    bool may = false;
    const size_t count = sp_lines_named(rows, name, &numbers, lines, MOST_ROWS);
    for (size_t i = 0; i < count; i++) {
        may |= sp_line_find_iterations(&rows->outline->solver, lines[i], numbers.value) &&
               !sp_line_is_ruled_out(&rows->outline->solver, lines[i]);
        sp_loop_leave(lines[i]->loop);
    }
    return may || !count;
}

/* Whether the table itself skips the first number that the file leaves out, as the loop "for t in 0..T-1 if t % blocks
 * == n" skips every other one: then nothing was left out of a larger model. */
static bool is_gap_of_table(struct numbering *numbering)
{
    const struct shapeproof_check *check = numbering->check;
    const size_t gap = numbering->grouped ? SHAPEPROOF_NONE : first_gap(&numbering->theirs);
    if (gap == SHAPEPROOF_NONE) return false;
    struct sp_outline outline = {0};
    struct sp_line_map rows;
    struct number number;
    bool may = false;
    sp_outline_configure(&outline, check->prediction->table, &sp_config_hyper(check->config)->root);
    sp_line_map_init(&rows, &outline);
    for (size_t i = 0; i < shapeproof_prediction_count(check->prediction) && !may; i++) {
        const char *name = shapeproof_prediction_tensor(check->prediction, i)->name;
        const char *rest = number_below(numbering, name, ONE_NUMBER, &number);
        if (!rest || number.index != numbering->ours.items[0].index) continue;
        numbering->scratch.length = 0;
        sp_text_append(&numbering->scratch, numbering->front, numbering->length);
        sp_text_printf(&numbering->scratch, "%zu%s", gap, rest);
        may = may_have(&rows, numbering->scratch.data);
    }
    sp_line_map_free(&rows);
    sp_outline_free(&outline);
    return !may;
}

/* The place of a number in a list, or SHAPEPROOF_NONE. */
static size_t place_of_number(const struct layer_numbers *numbers, struct number number)
{
    const struct number *found =
        numbers->count ? bsearch(&number, numbers->items, numbers->count, sizeof number, compare_numbers) : NULL;
    return found ? (size_t)(found - numbers->items) : SHAPEPROOF_NONE;
}

enum direction { TO_FILE, TO_PREDICTION };

/* The name of one side with the number that its layer has on the other side: layers.1.weight for layers.0.weight. NULL
 * when it is not below the front, or its layer is none of the listed ones. Until the next call. */
static const char *renumber(struct numbering *numbering, const char *name, enum direction direction)
{
    const bool to_file = direction == TO_FILE;
    const struct layer_numbers *from = to_file ? &numbering->ours : &numbering->theirs,
                               *to = to_file ? &numbering->theirs : &numbering->ours;
    struct number number;
    const char *rest = number_below(numbering, name, to_file ? ONE_NUMBER : form_in_file(numbering), &number);
    size_t place = rest ? place_of_number(from, number) : SHAPEPROOF_NONE;
    if (place == SHAPEPROOF_NONE) return NULL;
    if (place >= to->count) place = to->count - 1; /* a layer more, which is like the last */
    numbering->scratch.length = 0;
    sp_text_append(&numbering->scratch, numbering->front, numbering->length);
    if (to_file && numbering->grouped) sp_text_printf(&numbering->scratch, "%" PRIu64 ".", to->items[place].group);
    sp_text_printf(&numbering->scratch, "%" PRIu64 "%s", to->items[place].index, rest);
    return numbering->scratch.data;
}

/* Whether at least 8 of 9 tensors pair: a few may be lost, or added, besides. */
static bool are_nearly_all(size_t paired, size_t single) { return paired && single * 8 <= paired; }

/* Whether the file has nearly all of what is predicted in paired layers, and none of it in another shape. */
static bool are_there(struct numbering *numbering)
{
    const struct shapeproof_check *check = numbering->check;
    size_t paired = 0, lost = 0;
    for (size_t i = 0; i < shapeproof_prediction_count(check->prediction); i++) {
        const struct shapeproof_predicted *predicted = shapeproof_prediction_tensor(check->prediction, i);
        const char *name = renumber(numbering, predicted->name, TO_FILE);
        if (!name) continue;
        const size_t tensor = sp_map_get(&numbering->tensors, name);
        if (tensor == SHAPEPROOF_NONE) lost += !predicted->optional && predicted->same_as == SHAPEPROOF_NONE;
        else if (!sp_same_shape(shapeproof_inventory_tensor(check->inventory, tensor), predicted)) return false;
        else paired++;
    }
    return are_nearly_all(paired, lost);
}

/* The predicted tensor that a tensor of the file is paired with, or SHAPEPROOF_NONE. */
static size_t find_predicted(struct numbering *numbering, size_t tensor)
{
    const char *name = renumber(numbering, numbering->names[tensor], TO_PREDICTION);
    return name ? shapeproof_prediction_find(numbering->check->prediction, name) : SHAPEPROOF_NONE;
}

/* Whether nearly all of what the file has below the front is predicted in paired layers, and none of it in another
 * shape. */
static bool are_predicted(struct numbering *numbering)
{
    const struct shapeproof_check *check = numbering->check;
    size_t paired = 0, added = 0;
    for (size_t i = 0; i < shapeproof_inventory_count(check->inventory); i++) {
        struct number number;
        if (!number_below(numbering, numbering->names[i], ONE_NUMBER, &number)) continue;
        const size_t predicted = find_predicted(numbering, i);
        if (predicted == SHAPEPROOF_NONE) added++;
        else if (!sp_same_shape(shapeproof_inventory_tensor(check->inventory, i),
                                shapeproof_prediction_tensor(check->prediction, predicted)))
            return false;
        else paired++;
    }
    return are_nearly_all(paired, added);
}

/* Takes the open findings about tensors that pair. */
static void take_findings(struct numbering *numbering)
{
    const struct shapeproof_check *check = numbering->check;
    for (size_t i = 0; i < check->finding_count; i++) {
        const struct shapeproof_finding *finding = &check->findings[i];
        if (!sp_finding_is_open(finding)) continue;
        if (finding->predicted == SHAPEPROOF_NONE) {
            numbering->taken[i] |= find_predicted(numbering, finding->tensor) != SHAPEPROOF_NONE;
            continue;
        }
        const char *name =
            renumber(numbering, shapeproof_prediction_tensor(check->prediction, finding->predicted)->name, TO_FILE);
        numbering->taken[i] |= name && sp_map_get(&numbering->tensors, name) != SHAPEPROOF_NONE;
    }
}

/* ---- a loop of the user's table that has one iteration too many, or too few ---- */

/* Takes the open findings below the front with an index that only one side has. */
static void take_beyond(struct numbering *numbering)
{
    const struct shapeproof_check *check = numbering->check;
    uint64_t index;
    for (size_t i = 0; i < check->finding_count; i++) {
        const struct shapeproof_finding *finding = &check->findings[i];
        const bool missing = finding->predicted != SHAPEPROOF_NONE;
        const char *name = missing ? shapeproof_prediction_tensor(check->prediction, finding->predicted)->name
                                   : numbering->names[finding->tensor];
        const struct range *other = missing ? &numbering->found : &numbering->predicted;
        if (sp_finding_is_open(finding) && index_below(numbering, name, &index))
            numbering->taken[i] = index < other->first || index > other->last;
    }
}

/* A key in the last bound of the loop whose value is the number of iterations that the file has: then the loop is to
 * blame. NULL when there is none, and the configuration is to blame; or when the section has several loops. */
static const char *key_of_loop(const struct numbering *numbering, const struct sp_env *env)
{
    struct shapeproof_prediction *prediction = numbering->check->prediction;
    const struct sp_section *section = env->section;
    const struct sp_clause *loop = NULL;
    for (size_t i = 0; i < section->clause_count; i++) {
        if (section->clauses[i].kind != SP_CLAUSE_RANGE) continue;
        if (loop) return NULL;
        loop = &section->clauses[i];
    }
    if (!loop) return NULL;
    const struct sp_keys keys = sp_prediction_condition(prediction, env, loop->last)->keys;
    for (size_t i = 0; i < keys.count; i++) {
        const struct shapeproof_hyperparameter *hyper = shapeproof_prediction_hyperparameter(prediction, keys.list[i]);
        const uint64_t iterations = numbering->found.last - numbering->found.first + 1;
        if (hyper->value.type == SHAPEPROOF_VALUE_INT && hyper->value.integer >= 0 &&
            (uint64_t)hyper->value.integer == iterations)
            return hyper->name;
    }
    return NULL;
}

/* Whether the two differ by one. */
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

/* One cause if the loop of the user's own table is one iteration off, and the file has as many as the configuration
 * says. */
static void suspect_table(struct numbering *numbering)
{
    struct shapeproof_check *check = numbering->check;
    if (!is_off_by_one(numbering)) return;
    const struct sp_env own = sp_own_section(&check->prediction->origins[numbering->any]);
    const char *key = own.section ? key_of_loop(numbering, &own) : NULL;
    if (!key) return;
    take_beyond(numbering);
    struct shapeproof_cause *cause = sp_gather(check, SP_CAUSE_OWN_LOOP, sp_is_marked, numbering->taken);
    if (!cause) return;
    cause->message = sp_arena_printf(&check->arena,
                                     "a loop of the table may be wrong (%s): it makes %s%" PRIu64 " to %" PRIu64
                                     ", the file has %" PRIu64 " to %" PRIu64 ", as the hyper-parameter '%s' says (%s)",
                                     sp_own_heading(check, own.section), numbering->front, numbering->predicted.first,
                                     numbering->predicted.last, numbering->found.first, numbering->found.last, key,
                                     sp_tensors_of(check, cause));
}

/* ---- which loops ---- */

/* The front of the loop that the name is in, "model.layers."; NULL when it is in none of that level (match/layers.h).
 */
static const char *front_of_layer(struct sp_arena *arena, const char *name, int level)
{
    const size_t length = sp_last_component(name, sp_layer_end(name, level), ".");
    return length ? sp_arena_copy(arena, name, length) : NULL;
}

/* Lists the fronts of the loops that open findings of one kind are in, each once, without those in `known`, to which it
 * adds them. Returns how many. */
static size_t list_fronts(struct numbering *numbering, int level, enum shapeproof_finding_kind kind,
                          struct sp_map *known, const char *fronts[MOST_FRONTS])
{
    const struct shapeproof_check *check = numbering->check;
    size_t count = 0;
    for (size_t i = 0; i < check->finding_count && count < MOST_FRONTS; i++) {
        const struct shapeproof_finding *finding = &check->findings[i];
        if (!sp_finding_is_open_as(finding, kind)) continue;
        const char *name = finding->predicted == SHAPEPROOF_NONE
                               ? numbering->names[finding->tensor]
                               : shapeproof_prediction_tensor(check->prediction, finding->predicted)->name;
        const char *front = front_of_layer(&numbering->arena, name, level);
        if (front && sp_map_add(known, front, 0)) fronts[count++] = front;
    }
    return count;
}

/* Lists the fronts of the predicted loops in which the file has unexpected tensors, each once, in the order of the
 * prediction. Returns how many. */
static size_t list_loops(struct numbering *numbering, int level, const char *fronts[MOST_FRONTS])
{
    const struct shapeproof_check *check = numbering->check;
    struct sp_map unexpected = {0}, known = {0}; /* fronts: of unexpected tensors, listed ones */
    const bool any = list_fronts(numbering, level, SHAPEPROOF_FINDING_UNEXPECTED, &unexpected, fronts);
    struct sp_text *front = &numbering->scratch;
    size_t count = 0;
    for (size_t i = 0; i < shapeproof_prediction_count(check->prediction) && any && count < MOST_FRONTS; i++) {
        const struct shapeproof_predicted *predicted = shapeproof_prediction_tensor(check->prediction, i);
        const size_t length = sp_last_component(predicted->name, sp_layer_end(predicted->name, level), ".");
        if (predicted->optional || !length) continue;
        front->length = 0;
        sp_text_append(front, predicted->name, length);
        if (sp_map_get(&unexpected, front->data) == SIZE_MAX || sp_map_get(&known, front->data) != SIZE_MAX) continue;
        fronts[count] = sp_arena_string(&numbering->arena, front->data);
        sp_map_add(&known, fronts[count++], i);
    }
    sp_map_free(&unexpected);
    sp_map_free(&known);
    return count;
}

/* ---- saying it ---- */

/* Whether the numbers of the file have no gaps: 1 to 4. */
static bool is_shifted(const struct numbering *numbering)
{
    const struct layer_numbers *theirs = &numbering->theirs;
    return !numbering->grouped && theirs->items[theirs->count - 1].index - theirs->items[0].index + 1 == theirs->count;
}

/* "0 to 3", "0, 1, 4 and 5", "0.0 to 1.3". A run of two is listed as two numbers, unless it is all there is: "0 to 1".
 */
static const char *numbers_said(struct shapeproof_check *check, const struct layer_numbers *numbers, bool grouped)
{
    enum { FEW = 8 };
    const struct number *first = &numbers->items[0], *last = &numbers->items[numbers->count - 1];
    struct sp_text text = {0};
    if (grouped && numbers->count == 1)
        return sp_arena_printf(&check->arena, "%" PRIu64 ".%" PRIu64, first->group, first->index);
    if (grouped)
        return sp_arena_printf(&check->arena, "%" PRIu64 ".%" PRIu64 " to %" PRIu64 ".%" PRIu64, first->group,
                               first->index, last->group, last->index);
    for (size_t i = 0, end, shown = 0; i < numbers->count; i = end, shown++) {
        for (end = i + 1; end < numbers->count && numbers->items[end].index == numbers->items[end - 1].index + 1;)
            end++;
        if (end == i + 2 && !(i == 0 && end == numbers->count)) end = i + 1;
        if (shown == FEW) {
            sp_text_puts(&text, " and more");
            break;
        }
        sp_text_printf(&text, "%s%" PRIu64, !i ? "" : end == numbers->count ? " and " : ", ", numbers->items[i].index);
        if (end > i + 1) sp_text_printf(&text, " to %" PRIu64, numbers->items[end - 1].index);
    }
    return sp_text_keep(&text, &check->arena);
}

/* Loops that are numbered otherwise in one way, which become one cause. */
struct renumbered {
    struct numbering first;          /* a copy, as it was for the first of them; its lists are in the arena */
    const char *fronts[MOST_FRONTS]; /* of all */
    size_t count;
    bool same; /* all have the numbers of the first one, on both sides */
};

/* How the layers are numbered in the file: "numbered from 1 in the file,", "not renumbered in the file:", "numbered in
 * groups in the file, GROUP.NUMBER for NUMBER:". */
static const char *how_numbered(const struct numbering *numbering)
{
    if (numbering->grouped) return "numbered in groups in the file, GROUP.NUMBER for NUMBER:";
    if (!is_shifted(numbering)) return "not renumbered in the file:";
    return sp_arena_printf(&numbering->check->arena, "numbered from %" PRIu64 " in the file,",
                           numbering->theirs.items[0].index);
}

/* Makes the cause of the loops, which explains the findings that were taken. Its message is one of
 *
 *     "model.layers is numbered from 1 in the file, 1 to 4 for 0 to 3"
 *     "model.layers is not renumbered in the file: 0, 1, 4 and 5 for 0 to 3"
 *     "blocks is numbered in groups in the file, GROUP.NUMBER for NUMBER: 0.0 to 1.3 for 0 to 3"
 *
 * with "4 layers, " in front of the numbers if the file has more or fewer layers than predicted, " in model.layers,
 * others elsewhere" behind them if the loops differ, and the section of a table of the user's. */
static void say_numbering(struct renumbered *renumbered)
{
    const struct numbering *first = &renumbered->first;
    struct shapeproof_check *check = first->check;
    const bool has_other_count = first->ours.count != first->theirs.count;
    const char **fronts = renumbered->fronts;
    for (size_t i = 0; i < renumbered->count; i++) /* without the dot at the end */
        fronts[i] = sp_arena_copy(&check->arena, fronts[i], strlen(fronts[i]) - 1);
    struct shapeproof_cause *cause = sp_gather(check, SP_CAUSE_NUMBERED, sp_is_marked, first->taken);
    const struct sp_section *own = sp_own_section(&check->prediction->origins[first->any]).section;
    const char *layers = has_other_count ? sp_arena_printf(&check->arena, "%s, ",
                                                           sp_count_of(&check->arena, first->theirs.count, "layer"))
                                         : "";
    const char *elsewhere =
        renumbered->same ? "" : sp_arena_printf(&check->arena, " in %s, others elsewhere", fronts[0]);
    const char *table =
        own ? sp_arena_printf(&check->arena, "; or the table is wrong, %s", sp_own_heading(check, own)) : "";
    cause->message =
        sp_arena_printf(&check->arena, "%s %s %s %s%s for %s%s%s",
                        sp_some_names(&check->arena, fronts, renumbered->count), renumbered->count > 1 ? "are" : "is",
                        how_numbered(first), layers, numbers_said(check, &first->theirs, first->grouped),
                        numbers_said(check, &first->ours, false), elsewhere, table);
    if (has_other_count)
        cause->hint = sp_arena_printf(&check->arena,
                                      "renumber them without gaps, and change their number in the configuration to "
                                      "%zu; or take a file with all layers",
                                      first->theirs.count);
}

static bool is_same_list(const struct layer_numbers *a, const struct layer_numbers *b)
{
    return a->count == b->count && memcmp(a->items, b->items, a->count * sizeof *a->items) == 0;
}

/* Whether two loops are numbered otherwise in one way, so that one cause has both: they have the same numbers
 * (`*same`); or both have gaps, and as many layers as predicted. */
static bool is_same_way(const struct numbering *a, const struct numbering *b, bool *same)
{
    *same = is_same_list(&a->ours, &b->ours) && is_same_list(&a->theirs, &b->theirs);
    if (a->grouped != b->grouped || *same) return a->grouped == b->grouped;
    return !a->grouped && !is_shifted(a) && !is_shifted(b) && a->ours.count == a->theirs.count &&
           b->ours.count == b->theirs.count;
}

/* A copy of the list in the arena. */
static struct layer_numbers copy_numbers(struct sp_arena *arena, const struct layer_numbers *numbers)
{
    struct layer_numbers copy = {sp_arena_array(arena, numbers->count, sizeof *copy.items), numbers->count, 0};
    memcpy(copy.items, numbers->items, numbers->count * sizeof *copy.items);
    return copy;
}

/* Makes a cause of the first loop of the level that is numbered otherwise, and of the others that are in the same way;
 * false when there is none. Loops that are numbered in another way are left for the next call. */
static bool explain_numbers(struct numbering *numbering, int level)
{
    const char *fronts[MOST_FRONTS];
    struct renumbered renumbered = {.same = true};
    bool same; /* the loop has the numbers of the first one */
    const size_t count = list_loops(numbering, level, fronts);
    for (size_t i = 0; i < count; i++) {
        take_up_loop(numbering, fronts[i]);
        list_numbers(numbering);
        if (!are_others(numbering) || !are_there(numbering) || !are_predicted(numbering)) continue;
        if (is_gap_of_table(numbering)) continue;
        if (renumbered.count && !is_same_way(&renumbered.first, numbering, &same)) continue;
        take_findings(numbering);
        if (!renumbered.count) {
            renumbered.first = *numbering;
            renumbered.first.ours = copy_numbers(&numbering->arena, &numbering->ours);
            renumbered.first.theirs = copy_numbers(&numbering->arena, &numbering->theirs);
        } else renumbered.same = renumbered.same && same;
        renumbered.fronts[renumbered.count++] = fronts[i];
    }
    if (!renumbered.count) return false;
    say_numbering(&renumbered);
    memset(numbering->taken, 0, numbering->check->finding_count * sizeof *numbering->taken);
    return true;
}

/* Suspects the loops of the user's own table that the findings without a cause are in. */
static void explain_own_loops(struct numbering *numbering)
{
    const char *fronts[2 * MOST_FRONTS];
    struct sp_map known = {0};
    size_t count = list_fronts(numbering, SP_LAYERS, SHAPEPROOF_FINDING_MISSING, &known, fronts);
    count += list_fronts(numbering, SP_LAYERS, SHAPEPROOF_FINDING_UNEXPECTED, &known, fronts + count);
    sp_map_free(&known);
    for (size_t i = 0; i < count; i++) {
        take_up_loop(numbering, fronts[i]);
        suspect_table(numbering);
        memset(numbering->taken, 0, numbering->check->finding_count * sizeof *numbering->taken);
    }
}

void sp_explain_numbering(struct shapeproof_check *check)
{
    struct numbering numbering = {.check = check};
    enum { MOST_WAYS = 4 };
    if (!sp_check_open(check)) return;
    numbering.taken = sp_arena_array(&numbering.arena, check->finding_count, sizeof *numbering.taken);
    memset(numbering.taken, 0, check->finding_count * sizeof *numbering.taken);
    name_tensors(&numbering);
    for (int level = 0; level < SP_LAYER_LEVELS; level++)
        for (int way = 0; way < MOST_WAYS && sp_check_open(check); way++)
            if (!explain_numbers(&numbering, level)) break;
    if (sp_check_open(check) && sp_is_own_table(check->prediction)) explain_own_loops(&numbering);
    sp_map_free(&numbering.tensors);
    sp_text_free(&numbering.scratch);
    sp_free(numbering.ours.items);
    sp_free(numbering.theirs.items);
    sp_arena_free(&numbering.arena);
}
