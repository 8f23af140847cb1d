/* SPDX-License-Identifier: MIT
 * Whether a count that a trial tells is the one of the file. That findings vanish is not enough: with one layer in
 * place of twelve nearly all do that are missing, although the file may have none. So the last element that a loop has
 * under the change must be there; and where it has none, so must all else of the module that the loop is in. Nor may
 * the file have elsewhere what the change leaves out: layers 0, 1, 4 and 5 of a pruned model are four, and not two. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "explain/missing_layers.h"
#include "explain/trials/trial.h"
#include "match/layers.h"
#include "names/components.h"

/* What the names of vanishing findings tell of loops. An index stands for an iteration of a loop. */
struct loops {
    const struct sp_match *match; /* under the change */
    struct sp_map ends; /* the pattern in front of an index, "model.layers." -> whether the last iteration is there */
    struct sp_map emptied; /* such fronts of loops without an iteration, "model.layers.{}.mlp.experts.", seen so far */
    struct sp_arena arena;
    size_t lost; /* fronts whose last iteration is not there */
    bool agree;  /* so far, of loops without an iteration */
};

/* A name that vanishes, taken apart, and one of its indices. */
struct place {
    const char *pattern;
    struct sp_indices indices;
    size_t position; /* of the index among them */
};

/* Whether the findings are that tensors are missing, or that they are unexpected. */
enum vanishing { MISSING, UNEXPECTED };

/* The length of the pattern in front of the index. */
static size_t front_of_loop(const struct place *place)
{
    size_t length = 0;
    for (size_t marks = 0; place->pattern[length] != SP_INDEX_MARK || marks++ < place->position;) length++;
    return length;
}

/* ---- the last element ---- */

/* The tensor that is predicted under the change for the name with another index, or SHAPEPROOF_NONE. */
static size_t find_with(const struct loops *loops, const struct place *place, uint64_t index)
{
    struct sp_text name = {0};
    struct sp_indices indices = place->indices;
    indices.value[place->position] = index;
    sp_pattern_fill(&name, place->pattern, &indices);
    const size_t predicted = shapeproof_prediction_find(loops->match->prediction, name.data);
    sp_text_free(&name);
    return predicted;
}

/* Whether the file has a tensor that is predicted under the change; false for SHAPEPROOF_NONE. */
static bool is_element_there(const struct loops *loops, size_t predicted)
{
    return predicted != SHAPEPROOF_NONE && loops->match->tensor_of[predicted] != SHAPEPROOF_NONE;
}

/* Notes whether a tensor of the last iteration is there. One that is there is enough: others may be missing besides. */
static void note_end(struct loops *loops, const struct place *place, bool there)
{
    const char *front = sp_arena_copy(&loops->arena, place->pattern, front_of_loop(place));
    const size_t known = sp_map_get(&loops->ends, front); /* SIZE_MAX, false or true */
    if (known == there || known == true) return;
    sp_map_set(&loops->ends, front, there);
    if (!there) loops->lost++;
    else if (known != SIZE_MAX) loops->lost--;
}

/* A loop that becomes shorter: what vanishes was behind its last iteration, the one before it. But the last ones may be
 * optional and absent, such as layers for multi-token prediction: then the one before these is the last. */
static void note_shorter(struct loops *loops, const struct place *place)
{
    uint64_t index = place->indices.value[place->position];
    size_t last = index ? find_with(loops, place, index - 1) : SHAPEPROOF_NONE;
    while (last != SHAPEPROOF_NONE && index > 1 &&
           shapeproof_prediction_tensor(loops->match->prediction, last)->optional && !is_element_there(loops, last))
        last = find_with(loops, place, --index - 1);
    if (last != SHAPEPROOF_NONE) note_end(loops, place, is_element_there(loops, last));
}

/* A loop that becomes longer: what vanishes must be in its last iteration, which is there then. Iterations may follow
 * it that are absent: if any of them is needed, the loop has become too long. */
static void note_longer(struct loops *loops, const struct place *place)
{
    uint64_t next = place->indices.value[place->position] + 1;
    bool needed = false;
    size_t predicted;
    for (; (predicted = find_with(loops, place, next)) != SHAPEPROOF_NONE && !is_element_there(loops, predicted);
         next++)
        needed = needed || !shapeproof_prediction_tensor(loops->match->prediction, predicted)->optional;
    if (predicted == SHAPEPROOF_NONE) note_end(loops, place, !needed);
}

/* ---- loops without an element ---- */

/* How many tensors are predicted and needed under the change below a front, and how many of these are missing. */
static size_t count_below(const struct loops *loops, const char *front, size_t length, size_t *missing)
{
    size_t count = 0;
    *missing = 0;
    for (size_t i = 0; i < shapeproof_prediction_count(loops->match->prediction); i++) {
        const struct shapeproof_predicted *tensor = shapeproof_prediction_tensor(loops->match->prediction, i);
        if (tensor->optional || strncmp(tensor->name, front, length) != 0) continue;
        *missing += sp_match_predicted(loops->match, i) == SP_MISSING;
        count++;
    }
    return count;
}

/* Whether the loop still has iterations; or the file has all else of the nearest module around it that has anything
 * else: without experts, the router and the norms of the layer. */
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

/* Notes a loop whose iteration 0 vanishes, which may have none left. Of loops that are alike, such as the experts of
 * each layer, only the first is looked at. */
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

/* ---- what is elsewhere in the file ---- */

/* Puts the kind of a tensor into `text`, which tells what it may be in another place: the last two components of its
 * name and its shape, "up_proj.weight 64 16". */
static void put_kind(struct sp_text *text, const char *name, const uint64_t *shape, uint32_t rank)
{
    size_t begin = sp_last_component(name, strlen(name), "./");
    if (begin > 1) begin = sp_last_component(name, begin - 1, "./");
    text->length = 0;
    sp_text_puts(text, name + begin);
    for (uint32_t d = 0; d < rank; d++) sp_text_printf(text, " %" PRIu64, shape[d]);
}

/* The length of the name in front of the index of its layer, 13 for "model.layers.3.norm"; 0 when it is in none. */
static size_t front_of_first(const char *name)
{
    const size_t layer = sp_layer_end(name, SP_LAYERS);
    return layer ? sp_last_component(name, layer, ".") : 0;
}

/* What the change leaves out, and where the file may have it instead. */
struct elsewhere {
    struct sp_arena arena;
    struct sp_map kinds;   /* of what the change leaves out -> index in `left` */
    SP_ARRAY(size_t) left; /* how many of that kind have not been found elsewhere */
    struct sp_map there;   /* layers of which the file has something that is predicted, "model.layers.3" */
    struct sp_map fronts;  /* of the loops that become shorter, "model.layers." */
    size_t lost;           /* tensors that the change leaves out */
};

/* Notes what is missing now and is no longer predicted under the change. */
static void note_left_out(struct elsewhere *elsewhere, const struct sp_hypothesis *trial)
{
    const struct shapeproof_check *check = trial->check;
    struct sp_text kind = {0};
    for (size_t i = 0; i < check->finding_count; i++) {
        const struct shapeproof_finding *finding = &check->findings[i];
        if (!trial->vanishes[i] || finding->kind != SHAPEPROOF_FINDING_MISSING) continue;
        const struct shapeproof_predicted *predicted =
            shapeproof_prediction_tensor(check->prediction, finding->predicted);
        put_kind(&kind, predicted->name, predicted->shape, predicted->rank);
        size_t place = sp_map_get(&elsewhere->kinds, kind.data);
        if (place == SIZE_MAX) {
            place = elsewhere->left.count;
            sp_map_add(&elsewhere->kinds, sp_arena_string(&elsewhere->arena, kind.data), place);
            *SP_PUSH(&elsewhere->left) = 0;
        }
        elsewhere->left.items[place]++;
        elsewhere->lost++;
        const size_t front = front_of_first(predicted->name);
        if (front) sp_map_add(&elsewhere->fronts, sp_arena_copy(&elsewhere->arena, predicted->name, front), 0);
    }
    sp_text_free(&kind);
}

/* Notes the layers of which the file has something that is predicted. */
static void note_layers_there(struct elsewhere *elsewhere, const struct shapeproof_check *check)
{
    struct sp_text layer = {0};
    for (size_t i = 0; i < shapeproof_prediction_count(check->prediction); i++) {
        const char *name = shapeproof_prediction_tensor(check->prediction, i)->name;
        const size_t length = sp_is_stored(check, i) ? sp_layer_end(name, SP_LAYERS) : 0;
        if (!length) continue;
        layer.length = 0;
        sp_text_append(&layer, name, length);
        if (sp_map_get(&elsewhere->there, layer.data) == SIZE_MAX)
            sp_map_add(&elsewhere->there, sp_arena_string(&elsewhere->arena, layer.data), i);
    }
    sp_text_free(&layer);
}

/* Whether a tensor is in a layer of which the file has predicted tensors as well: then it is one too many there, and
 * not in a layer that the change leaves out. */
static bool is_in_layer_there(struct elsewhere *elsewhere, const struct shapeproof_check *check, const char *name)
{
    const size_t length = sp_layer_end(name, SP_LAYERS);
    if (!elsewhere->there.count) note_layers_there(elsewhere, check);
    return length && sp_map_get(&elsewhere->there, sp_arena_copy(&elsewhere->arena, name, length)) != SIZE_MAX;
}

/* Whether the file has unexplained tensors of the same kinds: any in the loop that becomes shorter, or as many as half
 * of those that are left out. */
static bool are_found(struct elsewhere *elsewhere, const struct sp_hypothesis *trial)
{
    const struct shapeproof_check *check = trial->check;
    struct sp_text kind = {0}, name = {0};
    size_t found = 0;
    bool same_loop = false;
    for (size_t i = 0; i < check->finding_count && !same_loop; i++) {
        const struct shapeproof_finding *finding = &check->findings[i];
        if (!sp_finding_is_open_as(finding, SHAPEPROOF_FINDING_UNEXPECTED) || trial->vanishes[i]) continue;
        const struct shapeproof_tensor *tensor = shapeproof_inventory_tensor(check->inventory, finding->tensor);
        put_kind(&kind, tensor->name, tensor->shape, tensor->rank);
        const size_t place = sp_map_get(&elsewhere->kinds, kind.data);
        if (place == SIZE_MAX || !elsewhere->left.items[place]) continue;
        name.length = 0;
        sp_naming_apply(&check->naming, tensor->name, &name);
        if (is_in_layer_there(elsewhere, check, name.data)) continue;
        elsewhere->left.items[place]--;
        found++;
        const size_t front = front_of_first(name.data);
        same_loop =
            front && sp_map_get(&elsewhere->fronts, sp_arena_copy(&elsewhere->arena, name.data, front)) != SIZE_MAX;
    }
    sp_text_free(&kind);
    sp_text_free(&name);
    return same_loop || (found && found * 2 >= elsewhere->lost);
}

/* Whether whole layers would still be missing before the new end of a loop that becomes shorter: the file may have what
 * is left of more layers, not renumbered. */
static bool leaves_gaps(struct elsewhere *elsewhere, const struct sp_hypothesis *trial)
{
    struct shapeproof_check *check = trial->check;
    struct sp_missing_layers gone = sp_missing_layers_find(check, SP_LAYERS);
    bool gaps = false;
    for (size_t i = 0; gone.layers && i < check->finding_count && !gaps; i++) {
        const struct shapeproof_finding *finding = &check->findings[i];
        if (trial->vanishes[i] || !sp_is_missing_layer(&gone, sp_missing_layer_of(&gone, finding))) continue;
        if (!sp_variant_has(check, &trial->variant, finding)) continue;
        const char *name = shapeproof_prediction_tensor(check->prediction, finding->predicted)->name;
        const char *front = sp_arena_copy(&elsewhere->arena, name, front_of_first(name));
        gaps = sp_map_get(&elsewhere->fronts, front) != SIZE_MAX;
    }
    if (gone.layers) sp_missing_layers_free(&gone);
    return gaps;
}

/* Whether what the change leaves out is in the file, only elsewhere. */
static bool is_elsewhere(const struct sp_hypothesis *trial)
{
    struct elsewhere elsewhere = {.lost = 0};
    note_left_out(&elsewhere, trial);
    const bool found = elsewhere.lost && (are_found(&elsewhere, trial) || leaves_gaps(&elsewhere, trial));
    sp_map_free(&elsewhere.kinds);
    sp_map_free(&elsewhere.fronts);
    sp_map_free(&elsewhere.there);
    sp_free(elsewhere.left.items);
    sp_arena_free(&elsewhere.arena);
    return found;
}

/* ---- all that vanishes ---- */

/* Looks at the loops that each index of a vanishing name may belong to. */
static void note_vanishing(struct loops *loops, const char *name, enum vanishing vanishing)
{
    struct sp_text pattern = {0};
    struct place place = {.position = 0};
    sp_name_split(&pattern, name, SP_INDEX_APART, &place.indices);
    place.pattern = pattern.data;
    for (; place.position < place.indices.count; place.position++) {
        if (vanishing == UNEXPECTED) note_longer(loops, &place);
        else {
            note_shorter(loops, &place);
            note_emptied(loops, &place);
        }
    }
    sp_text_free(&pattern);
}

/* Whether the file is as the change of a whole number would make it, not merely closer to it. The findings that vanish
 * with the change tell that; all of these must hold:
 *
 *     1. the last iteration that a loop has under the change is in the file (note_shorter, note_longer);
 *     2. where a loop has no iteration, the module around it is complete (note_emptied);
 *     3. what the change leaves out is not elsewhere in the file (is_elsewhere).
 *
 * True for changes of other types, about which numbers in names say nothing. */
bool sp_trial_agrees(const struct sp_hypothesis *trial)
{
    const struct shapeproof_check *check = trial->check;
    struct loops loops = {.match = &trial->variant.match, .agree = true};
    if (trial->change->value.type != SHAPEPROOF_VALUE_INT) return true;
    for (size_t i = 0; i < check->finding_count && loops.agree; i++) {
        const struct shapeproof_finding *finding = &check->findings[i];
        if (!trial->vanishes[i] || finding->kind == SHAPEPROOF_FINDING_SHAPE) continue;
        const bool missing = finding->kind == SHAPEPROOF_FINDING_MISSING;
        const size_t predicted_now = missing ? SHAPEPROOF_NONE : loops.match->predicted_of[finding->tensor];
        if (missing)
            note_vanishing(&loops, shapeproof_prediction_tensor(check->prediction, finding->predicted)->name, MISSING);
        else if (predicted_now != SHAPEPROOF_NONE)
            note_vanishing(&loops, shapeproof_prediction_tensor(loops.match->prediction, predicted_now)->name,
                           UNEXPECTED);
    }
    const bool agrees = loops.agree && !loops.lost && !is_elsewhere(trial);
    sp_map_free(&loops.ends);
    sp_map_free(&loops.emptied);
    sp_arena_free(&loops.arena);
    return agrees;
}
