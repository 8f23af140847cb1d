/* SPDX-License-Identifier: MIT */
#include "match/multi_token.h"

#include <string.h>

#include "match/layers.h"
#include "names/components.h"

bool sp_is_multi_token_section(const char *name) { return strncmp(name, "multi-token", strlen("multi-token")) == 0; }

bool sp_is_multi_token_module(const char *name)
{
    static const char *const modules[] = {"eh_proj", "enorm", "hnorm", "embed_tokens", "shared_head"};
    const size_t length = strcspn(name, ".");
    for (size_t i = 0; i < sizeof modules / sizeof *modules; i++)
        if (sp_is_component(name, length, modules[i])) return true;
    return false;
}

bool sp_is_for_multi_token(const struct shapeproof_prediction *prediction, size_t predicted)
{
    const struct shapeproof_predicted *tensor = shapeproof_prediction_tensor(prediction, predicted);
    return tensor->optional && sp_is_multi_token_section(shapeproof_prediction_group(prediction, tensor->group)->name);
}

void sp_multi_token_find(struct sp_multi_token *layers, const struct shapeproof_prediction *prediction,
                         bool (*is_there)(const void *context, size_t predicted), const void *context)
{
    *layers = (struct sp_multi_token){0};
    for (size_t i = 0; i < shapeproof_prediction_count(prediction); i++) {
        if (!sp_is_for_multi_token(prediction, i)) continue;
        const char *name = shapeproof_prediction_tensor(prediction, i)->name;
        const size_t length = sp_layer_end(name, SP_LAYERS);
        if (!length) continue;
        const char *layer = sp_arena_copy(&layers->arena, name, length);
        sp_map_add(&layers->predicted, layer, i);
        if (sp_is_multi_token_module(name + length + 1) && is_there(context, i)) sp_map_add(&layers->there, layer, i);
    }
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
    sp_multi_token_find(&layers, match->prediction, is_paired, match);
    for (size_t i = 0; i < shapeproof_prediction_count(match->prediction); i++)
        if (is_paired(match, i) && sp_multi_token_lacks(&layers, shapeproof_prediction_tensor(match->prediction, i)))
            sp_match_unpair(match, i);
    sp_multi_token_free(&layers);
}
