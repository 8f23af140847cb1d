/* SPDX-License-Identifier: MIT
 * Whether a count that a trial tells is the one of the file. That findings vanish is not enough: with one layer in
 * place of twelve nearly all do that are missing, although the file may have none. So the last element that a loop has
 * under the change must be there; and where it has none, so must all else of the module that the loop is in. */
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "explain/trials/trial.h"

struct loops {
    const struct sp_match *match; /* under the change */
    struct sp_map ends;    /* what stands in front of an index, "model.layers." -> whether its last one is there */
    struct sp_map emptied; /* such fronts of single loops, "model.layers.3.mlp.experts.", that were looked at */
    struct sp_arena arena;
    size_t lost; /* fronts of which the last one is not there */
    bool agree;  /* so far, of loops without an element */
};

/* A name that vanishes, taken apart, and one of its indices. */
struct place {
    const char *pattern;
    struct sp_indices indices;
    size_t position;
};

/* The length of the pattern in front of the index. */
static size_t front_of_loop(const struct place *place)
{
    size_t length = 0;
    for (size_t marks = 0; place->pattern[length] != SP_INDEX_MARK || marks++ < place->position;) length++;
    return length;
}

/* ---- the last element ---- */

/* Where the name with another index is predicted under the change, or SP_NONE. */
static size_t find_with(const struct loops *loops, const struct place *place, uint64_t index)
{
    struct sp_text name = {0};
    struct sp_indices indices = place->indices;
    indices.value[place->position] = index;
    sp_pattern_fill(&name, place->pattern, &indices);
    const size_t predicted = sp_prediction_find(loops->match->prediction, name.data);
    sp_text_free(&name);
    return predicted;
}

static bool is_element_there(const struct loops *loops, size_t predicted)
{
    return predicted != SP_NONE && loops->match->tensor_of[predicted] != SP_NONE;
}

/* One tensor of it that is there is enough: others may be missing besides. */
static void note_end(struct loops *loops, const struct place *place, bool there)
{
    const char *front = sp_arena_copy(&loops->arena, place->pattern, front_of_loop(place));
    const size_t known = sp_map_get(&loops->ends, front);
    if (known == there || known == true) return;
    sp_map_set(&loops->ends, front, there);
    if (!there) loops->lost++;
    else if (known != SIZE_MAX) loops->lost--;
}

/* A loop that becomes shorter: what vanishes was behind the last element. */
static void note_shorter(struct loops *loops, const struct place *place)
{
    const uint64_t index = place->indices.value[place->position];
    const size_t last = index ? find_with(loops, place, index - 1) : SP_NONE;
    if (last != SP_NONE) note_end(loops, place, is_element_there(loops, last));
}

/* One that becomes longer: what vanishes is the last element, or elements follow of which nothing is there. */
static void note_longer(struct loops *loops, const struct place *place)
{
    const uint64_t index = place->indices.value[place->position];
    uint64_t next = index + 1;
    size_t predicted;
    while ((predicted = find_with(loops, place, next)) != SP_NONE && !is_element_there(loops, predicted)) next++;
    if (predicted == SP_NONE) note_end(loops, place, next == index + 1);
}

/* ---- loops without an element ---- */

/* What is predicted under the change below a front, and what of it is missing. */
static size_t count_below(const struct loops *loops, const char *front, size_t length, size_t *missing)
{
    size_t count = 0;
    *missing = 0;
    for (size_t i = 0; i < sp_prediction_count(loops->match->prediction); i++) {
        const struct sp_predicted *tensor = sp_prediction_tensor(loops->match->prediction, i);
        if (tensor->optional || strncmp(tensor->name, front, length) != 0) continue;
        *missing += sp_match_predicted(loops->match, i) == SP_MISSING;
        count++;
    }
    return count;
}

/* Whether the loop has elements, or all else is there of the nearest module around it that has anything else. */
static bool leaves_a_whole(const struct loops *loops, const char *front)
{
    size_t length = strlen(front), missing;
    if (count_below(loops, front, length, &missing)) return true;
    while (length) {
        while (--length && front[length - 1] != '.' && front[length - 1] != '/') {
        }
        if (count_below(loops, front, length, &missing)) return !missing;
    }
    return true;
}

/* Of loops that are alike, such as the experts of each layer, the first stands for all. */
static void note_emptied(struct loops *loops, const struct place *place)
{
    struct sp_text front = {0};
    if (place->indices.value[place->position]) return;
    const char *pattern = sp_arena_copy(&loops->arena, place->pattern, front_of_loop(place));
    if (!sp_map_add(&loops->emptied, pattern, 0)) return;
    sp_pattern_fill(&front, pattern, &place->indices);
    loops->agree = loops->agree && leaves_a_whole(loops, front.data);
    sp_text_free(&front);
}

/* ---- all that vanishes ---- */

static void note_vanishing(struct loops *loops, const char *name, bool missing)
{
    struct sp_text pattern = {0};
    struct place place = {.position = 0};
    sp_name_split(&pattern, name, SP_INDEX_APART, &place.indices);
    place.pattern = pattern.data;
    for (; place.position < place.indices.count; place.position++) {
        if (missing) note_shorter(loops, &place);
        else note_longer(loops, &place);
        if (missing) note_emptied(loops, &place);
    }
    sp_text_free(&pattern);
}

bool sp_trial_agrees(const struct sp_trial *trial)
{
    const struct sp_check *check = trial->check;
    struct loops loops = {.match = &trial->variant.match, .agree = true};
    if (trial->change->value.type != SP_INT) return true;
    for (size_t i = 0; i < check->finding_count && loops.agree; i++) {
        const struct sp_finding *finding = &check->findings[i];
        if (!trial->vanishes[i] || finding->kind == SP_FINDING_SHAPE) continue;
        const bool missing = finding->kind == SP_FINDING_MISSING;
        const size_t now = missing ? SP_NONE : loops.match->predicted_of[finding->tensor];
        if (missing) note_vanishing(&loops, sp_prediction_tensor(check->prediction, finding->predicted)->name, true);
        else if (now != SP_NONE)
            note_vanishing(&loops, sp_prediction_tensor(loops.match->prediction, now)->name, false);
    }
    const bool agrees = loops.agree && !loops.lost;
    sp_map_free(&loops.ends);
    sp_map_free(&loops.emptied);
    sp_arena_free(&loops.arena);
    return agrees;
}
