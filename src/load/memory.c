/* SPDX-License-Identifier: MIT
 * The model in memory: what is predicted, under the names and in the shapes that the rules of its class give it. */
#include <stdlib.h>
#include <string.h>

#include "load/taking.h"

/* Its index; one that is there already stays as it is. */
static size_t hold(struct sp_model_memory *memory, const char *name, const struct sp_load_shape *piece)
{
    const size_t index = memory->count;
    if (!sp_map_add(&memory->names, name, index)) return sp_map_get(&memory->names, name);
    *SP_PUSH(memory) = (struct sp_held){.name = name, .piece = *piece, .tie = index, .taker = SIZE_MAX};
    return index;
}

/* What several tensors of a file become. */
static void hold_gathered(struct sp_model_memory *memory, struct sp_gathered *gathered)
{
    struct sp_load_shape pieces[SP_EXPRESSIONS];
    const size_t count = sp_convert(gathered, pieces);
    if (!count || !sp_rule_is_known(gathered->rule)) memory->unknown = "its conversion of these weights is not known";
    for (size_t i = 0; i < count; i++) {
        const char *name = sp_target_name(&memory->arena, gathered->rule, gathered->name, i);
        const size_t held = hold(memory, name, &pieces[i]);
        if (i == 0) gathered->held = held;
    }
}

void sp_memory_untie(struct sp_model_memory *memory, const char *name)
{
    const size_t held = sp_map_get(&memory->names, name);
    if (held != SIZE_MAX) memory->items[held].tie = held;
}

size_t sp_memory_tie(const struct sp_model_memory *memory, size_t held)
{
    while (memory->items[held].tie != held) held = memory->items[held].tie;
    return held;
}

/* Those that are tied are one group: each leads to the same one. What is put together is tied to nothing. */
static void tie_held(struct sp_model_memory *memory)
{
    for (size_t i = 0; i < shapeproof_prediction_count(memory->prediction); i++) {
        const struct shapeproof_predicted *tensor = shapeproof_prediction_tensor(memory->prediction, i);
        if (tensor->same_as == SHAPEPROOF_NONE) continue;
        const struct sp_load_place *one = &memory->places[i], *other = &memory->places[tensor->same_as];
        if (one->held == SIZE_MAX || other->held == SIZE_MAX) continue;
        if (one->renamed.conversion || other->renamed.conversion) continue;
        memory->items[sp_memory_tie(memory, one->held)].tie = sp_memory_tie(memory, other->held);
    }
}

/* What a file may lack is not in memory, unless the class says that it may be missing there. */
static bool has_place(const struct sp_model_memory *memory, const struct shapeproof_predicted *tensor, const char *name)
{
    if (tensor->rank > SP_PIECE_RANK || (memory->loader->holds_once && tensor->same_as != SHAPEPROOF_NONE))
        return false;
    if (tensor->buffer && sp_class_computes(memory, name)) return false;
    return !tensor->optional || sp_class_may_lack(memory, name);
}

static struct sp_load_place place_predicted(struct sp_model_memory *memory, const struct shapeproof_predicted *tensor,
                                            struct sp_gathering *gathering)
{
    size_t *note;
    struct sp_renamed renamed = sp_alike_rename(&memory->alike, tensor->name, &note);
    if (!has_place(memory, tensor, renamed.name)) return (struct sp_load_place){.held = SIZE_MAX};
    if (renamed.conversion) {
        if (*note == SIZE_MAX) *note = sp_gathering_find(gathering, renamed);
        sp_gathering_add(gathering, *note, renamed.expression, tensor->shape, tensor->rank);
        return (struct sp_load_place){renamed, *note};
    }
    if (renamed.name != tensor->name) renamed.name = sp_arena_string(&memory->arena, renamed.name);
    const struct sp_load_shape piece = sp_load_shape_of(tensor->shape, tensor->rank);
    return (struct sp_load_place){renamed, hold(memory, renamed.name, &piece)};
}

/* What is put together is known by where it was gathered, until it is held. */
static void place_gathered(struct sp_model_memory *memory, struct sp_gathering *gathering)
{
    for (size_t i = 0; i < gathering->count; i++) hold_gathered(memory, &gathering->items[i]);
    for (size_t i = 0; i < shapeproof_prediction_count(memory->prediction); i++) {
        struct sp_load_place *place = &memory->places[i];
        if (!place->renamed.conversion) continue;
        const struct sp_gathered *gathered = &gathering->items[place->held];
        place->renamed.name = gathered->name;
        place->held = gathered->held;
    }
}

void sp_memory_build(struct sp_model_memory *memory, const struct sp_loader *loader, const struct sp_loaded *loaded,
                     const struct shapeproof_prediction *prediction)
{
    const size_t count = shapeproof_prediction_count(prediction);
    struct sp_gathering gathering = {.arena = &memory->arena};
    *memory = (struct sp_model_memory){.loader = loader, .loaded = loaded, .prediction = prediction};
    memory->rules = sp_renaming_rules(&memory->arena, loader, loaded);
    sp_alike_init(&memory->alike, &memory->rules);
    memory->places = sp_realloc(NULL, count, sizeof *memory->places);
    for (size_t i = 0; i < count; i++)
        memory->places[i] = place_predicted(memory, shapeproof_prediction_tensor(prediction, i), &gathering);
    place_gathered(memory, &gathering);
    tie_held(memory);
    sp_gathering_free(&gathering);
}

void sp_memory_free(struct sp_model_memory *memory)
{
    sp_alike_free(&memory->alike);
    sp_renaming_rules_free(&memory->rules);
    sp_map_free(&memory->names);
    sp_text_free(&memory->scratch);
    free(memory->items);
    free(memory->places);
    sp_arena_free(&memory->arena);
}
