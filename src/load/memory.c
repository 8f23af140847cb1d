/* SPDX-License-Identifier: MIT
 * The model in memory: what is predicted, under the names and in the shapes that the rules of its class give it. */
#include <stdlib.h>
#include <string.h>

#include "load/taking.h"

static struct sp_load_shape piece_of(const struct sp_predicted *tensor)
{
    struct sp_load_shape piece = {.rank = tensor->rank};
    if (tensor->rank) memcpy(piece.shape, tensor->shape, tensor->rank * sizeof *piece.shape);
    return piece;
}

/* Its index; one that is there already stays as it is. */
static size_t hold(struct sp_model_memory *memory, const char *name, const struct sp_load_shape *piece)
{
    const size_t known = sp_map_get(&memory->names, name);
    if (known != SIZE_MAX) return known;
    sp_map_add(&memory->names, name, memory->count);
    *SP_PUSH(memory) = (struct sp_held){.name = name, .piece = *piece};
    memory->items[memory->count - 1].tie = memory->count - 1;
    return memory->count - 1;
}

/* What several tensors of a file become. */
static void hold_gathered(struct sp_model_memory *memory, const struct sp_gathered *gathered)
{
    struct sp_load_shape pieces[SP_EXPRESSIONS];
    const size_t count = sp_convert(gathered, pieces);
    if (!count || !sp_rule_is_known(gathered->rule)) memory->unknown = "its conversion of these weights is not known";
    for (size_t i = 0; i < count; i++)
        hold(memory, sp_target_name(&memory->arena, gathered->rule, gathered->name, i), &pieces[i]);
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

/* Those that are tied are one group: each leads to the same one. */
static void tie_held(struct sp_model_memory *memory, const struct sp_prediction *prediction, const size_t *held_of)
{
    for (size_t i = 0; i < sp_prediction_count(prediction); i++) {
        const struct sp_predicted *tensor = sp_prediction_tensor(prediction, i);
        if (tensor->same_as == SP_NONE || tensor->rows_only) continue;
        const size_t one = held_of[i], other = held_of[tensor->same_as];
        if (one == SIZE_MAX || other == SIZE_MAX) continue;
        memory->items[sp_memory_tie(memory, one)].tie = sp_memory_tie(memory, other);
    }
}

/* What a file may lack is not in memory, unless the class says that it may be missing there. */
static bool has_place(const struct sp_model_memory *memory, const struct sp_predicted *tensor, const char *name)
{
    if (tensor->rank > SP_PIECE_RANK || (memory->loader->holds_once && tensor->same_as != SP_NONE)) return false;
    if (tensor->buffer && sp_class_computes(memory, name)) return false;
    return !tensor->optional || sp_is_spared(memory, name);
}

void sp_memory_build(struct sp_model_memory *memory, const struct sp_loader *loader, const struct sp_loaded *loaded,
                     const struct sp_prediction *prediction)
{
    const size_t count = sp_prediction_count(prediction);
    struct sp_gathering gathering = {.arena = &memory->arena};
    *memory = (struct sp_model_memory){.loader = loader, .loaded = loaded};
    memory->rules = sp_renaming_rules(&memory->arena, loader, loaded);
    sp_alike_init(&memory->alike, &memory->rules);
    memory->prediction = prediction;
    memory->renamed = sp_realloc(NULL, count, sizeof *memory->renamed);
    size_t *held_of = sp_realloc(NULL, count, sizeof *held_of);
    for (size_t i = 0; i < count; i++) {
        const struct sp_predicted *tensor = sp_prediction_tensor(prediction, i);
        held_of[i] = SIZE_MAX;
        struct sp_renamed renamed = sp_alike_rename(&memory->alike, tensor->name);
        const bool placed = has_place(memory, tensor, renamed.name);
        const struct sp_load_shape piece = placed ? piece_of(tensor) : (struct sp_load_shape){0};
        if (placed && renamed.conversion) renamed.name = sp_load_gather(&gathering, renamed, &piece)->name;
        else if (renamed.name != tensor->name) renamed.name = sp_arena_string(&memory->arena, renamed.name);
        if (placed && !renamed.conversion) held_of[i] = hold(memory, renamed.name, &piece);
        memory->renamed[i] = renamed;
    }
    for (size_t i = 0; i < gathering.count; i++) hold_gathered(memory, &gathering.items[i]);
    tie_held(memory, prediction, held_of);
    free(held_of);
    sp_gathering_free(&gathering);
}

void sp_memory_free(struct sp_model_memory *memory)
{
    sp_alike_free(&memory->alike);
    sp_renaming_rules_free(&memory->rules);
    sp_map_free(&memory->names);
    sp_text_free(&memory->scratch);
    free(memory->items);
    free(memory->renamed);
    sp_arena_free(&memory->arena);
}
