/* SPDX-License-Identifier: MIT
 * The state dict of the model in memory: what is predicted, under the names and in the shapes that the rules of its
 * class give it. */
#include <stdlib.h>
#include <string.h>

#include "load/taking.h"

/* Its index; one that is there already stays as it is. */
static size_t hold(struct sp_state_dict *state, const char *name, const struct sp_load_shape *piece)
{
    const size_t index = state->count;
    if (!sp_map_add(&state->names, name, index)) return sp_map_get(&state->names, name);
    *SP_PUSH(state) = (struct sp_state_entry){.name = name, .piece = *piece, .tie = index, .taker = SIZE_MAX};
    return index;
}

/* What several tensors of a file become. */
static void hold_gathered(struct sp_state_dict *state, struct sp_gathered *gathered)
{
    struct sp_load_shape pieces[SP_EXPRESSIONS];
    const size_t count = sp_convert(gathered, pieces);
    if (!count || !sp_rule_is_known(gathered->rule)) state->unknown = "its conversion of these weights is not known";
    for (size_t i = 0; i < count; i++) {
        const char *name = sp_target_name(&state->arena, gathered->rule, gathered->name, i);
        const size_t held = hold(state, name, &pieces[i]);
        if (i == 0) gathered->held = held;
    }
}

void sp_state_dict_untie(struct sp_state_dict *state, const char *name)
{
    const size_t held = sp_map_get(&state->names, name);
    if (held != SIZE_MAX) state->items[held].tie = held;
}

size_t sp_state_dict_tie(const struct sp_state_dict *state, size_t held)
{
    while (state->items[held].tie != held) held = state->items[held].tie;
    return held;
}

/* Those that are tied are one group: each leads to the same one. What is put together is tied to nothing. */
static void tie_held(struct sp_state_dict *state)
{
    for (size_t i = 0; i < shapeproof_prediction_count(state->prediction); i++) {
        const struct shapeproof_predicted *tensor = shapeproof_prediction_tensor(state->prediction, i);
        if (tensor->same_as == SHAPEPROOF_NONE) continue;
        const struct sp_load_place *one = &state->places[i], *other = &state->places[tensor->same_as];
        if (one->held == SIZE_MAX || other->held == SIZE_MAX) continue;
        if (one->renamed.conversion || other->renamed.conversion) continue;
        state->items[sp_state_dict_tie(state, one->held)].tie = sp_state_dict_tie(state, other->held);
    }
}

/* What a file may lack is not in memory, unless the class says that it may be missing there. */
static bool has_place(const struct sp_state_dict *state, const struct shapeproof_predicted *tensor, const char *name)
{
    if (tensor->rank > SP_PIECE_RANK || (state->loader->holds_once && tensor->same_as != SHAPEPROOF_NONE)) return false;
    if (tensor->buffer && sp_class_computes(state, name)) return false;
    return !tensor->optional || sp_class_may_lack(state, name);
}

static struct sp_load_place place_predicted(struct sp_state_dict *state, const struct shapeproof_predicted *tensor,
                                            struct sp_gathering *gathering)
{
    size_t *note;
    struct sp_renamed renamed = sp_alike_rename(&state->alike, tensor->name, &note);
    if (!has_place(state, tensor, renamed.name)) return (struct sp_load_place){.held = SIZE_MAX};
    if (renamed.conversion) {
        if (*note == SIZE_MAX) *note = sp_gathering_find(gathering, renamed);
        sp_gathering_add(gathering, *note, renamed.expression, tensor->shape, tensor->rank);
        return (struct sp_load_place){renamed, *note};
    }
    if (renamed.name != tensor->name) renamed.name = sp_arena_string(&state->arena, renamed.name);
    const struct sp_load_shape piece = sp_load_shape_of(tensor->shape, tensor->rank);
    return (struct sp_load_place){renamed, hold(state, renamed.name, &piece)};
}

/* What is put together is known by where it was gathered, until it is held. */
static void place_gathered(struct sp_state_dict *state, struct sp_gathering *gathering)
{
    for (size_t i = 0; i < gathering->count; i++) hold_gathered(state, &gathering->items[i]);
    for (size_t i = 0; i < shapeproof_prediction_count(state->prediction); i++) {
        struct sp_load_place *place = &state->places[i];
        if (!place->renamed.conversion) continue;
        const struct sp_gathered *gathered = &gathering->items[place->held];
        place->renamed.name = gathered->name;
        place->held = gathered->held;
    }
}

void sp_state_dict_build(struct sp_state_dict *state, const struct sp_loader *loader, const struct sp_loaded *loaded,
                         const struct shapeproof_prediction *prediction)
{
    const size_t count = shapeproof_prediction_count(prediction);
    struct sp_gathering gathering = {.arena = &state->arena};
    *state = (struct sp_state_dict){.loader = loader, .loaded = loaded, .prediction = prediction};
    state->rules = sp_renaming_rules(&state->arena, loader, loaded);
    sp_alike_init(&state->alike, &state->rules);
    state->places = sp_realloc(NULL, count, sizeof *state->places);
    for (size_t i = 0; i < count; i++)
        state->places[i] = place_predicted(state, shapeproof_prediction_tensor(prediction, i), &gathering);
    place_gathered(state, &gathering);
    tie_held(state);
    sp_gathering_free(&gathering);
}

void sp_state_dict_free(struct sp_state_dict *state)
{
    sp_alike_free(&state->alike);
    sp_renaming_rules_free(&state->rules);
    sp_map_free(&state->names);
    sp_text_free(&state->scratch);
    sp_free(state->items);
    sp_free(state->places);
    sp_arena_free(&state->arena);
}
