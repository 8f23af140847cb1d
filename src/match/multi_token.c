/* SPDX-License-Identifier: MIT */
#include "match/multi_token.h"

#include <string.h>

#include "base/chars.h"
#include "match/layers.h"
#include "model/inventory.h"

bool sp_is_multi_token_section(const char *name) { return strncmp(name, "multi-token", strlen("multi-token")) == 0; }

bool sp_is_for_multi_token(const struct shapeproof_prediction *prediction, size_t predicted)
{
    const struct shapeproof_predicted *tensor = shapeproof_prediction_tensor(prediction, predicted);
    return tensor->optional && sp_is_multi_token_section(shapeproof_prediction_group(prediction, tensor->group)->name);
}

/* The name of a tensor without the number of its layer, "model.layers..eh_proj.weight"; NULL outside of layers. */
static const char *name_in_layer(struct sp_arena *arena, const char *name)
{
    size_t front = sp_layer_end(name, SP_LAYERS);
    if (!front) return NULL;
    const char *rest = name + front;
    while (front && sp_is_digit(name[front - 1])) front--;
    return sp_arena_printf(arena, "%.*s%s", (int)front, name, rest);
}

static bool has_multi_token(const struct shapeproof_prediction *prediction)
{
    bool has = false;
    for (size_t i = 0; i < shapeproof_prediction_group_count(prediction) && !has; i++)
        has = sp_is_multi_token_section(shapeproof_prediction_group(prediction, i)->name);
    return has;
}

void sp_multi_token_find(struct sp_multi_token *layers, const struct shapeproof_inventory *inventory,
                         const struct shapeproof_prediction *prediction,
                         bool (*is_there)(const void *context, size_t predicted), const void *context)
{
    struct sp_map ordinary = {0}; /* what ordinary layers have */
    const char *name;
    *layers = (struct sp_multi_token){0};
    if (!has_multi_token(prediction) || sp_inventory_is_part(inventory)) return;
    const size_t count = shapeproof_prediction_count(prediction);
    for (size_t i = 0; i < count; i++) {
        const char *whole = shapeproof_prediction_tensor(prediction, i)->name;
        if (!sp_is_for_multi_token(prediction, i) && (name = name_in_layer(&layers->arena, whole)) != NULL)
            sp_map_add(&ordinary, name, i);
    }
    for (size_t i = 0; i < count; i++) {
        const char *whole = shapeproof_prediction_tensor(prediction, i)->name;
        if (!sp_is_for_multi_token(prediction, i) || !(name = name_in_layer(&layers->arena, whole))) continue;
        if (sp_map_get(&ordinary, name) != SIZE_MAX) continue;
        const char *layer = sp_arena_copy(&layers->arena, whole, sp_layer_end(whole, SP_LAYERS));
        sp_map_add(&layers->predicted, layer, i);
        if (is_there(context, i)) sp_map_add(&layers->there, layer, i);
    }
    sp_map_free(&ordinary);
}

bool sp_multi_token_lacks(struct sp_multi_token *layers, const struct shapeproof_predicted *tensor)
{
    const bool is_whole = layers->predicted.count == layers->there.count;
    const size_t length = is_whole || !tensor->optional ? 0 : sp_layer_end(tensor->name, SP_LAYERS);
    if (!length) return false;
    const char *layer = sp_arena_copy(&layers->arena, tensor->name, length);
    return sp_map_get(&layers->predicted, layer) != SIZE_MAX && sp_map_get(&layers->there, layer) == SIZE_MAX;
}

void sp_multi_token_free(struct sp_multi_token *layers)
{
    sp_map_free(&layers->predicted);
    sp_map_free(&layers->there);
    sp_arena_free(&layers->arena);
}

static bool is_paired(const void *match, size_t predicted)
{
    return ((const struct sp_match *)match)->tensor_of[predicted] != SHAPEPROOF_NONE;
}

void sp_match_drop_multi_token(struct sp_match *match)
{
    struct sp_multi_token layers;
    sp_multi_token_find(&layers, match->inventory, match->prediction, is_paired, match);
    for (size_t i = 0; i < shapeproof_prediction_count(match->prediction); i++)
        if (is_paired(match, i) && sp_multi_token_lacks(&layers, shapeproof_prediction_tensor(match->prediction, i)))
            sp_match_unpair(match, i);
    sp_multi_token_free(&layers);
}
