/* SPDX-License-Identifier: MIT */
#include "match/layers.h"

#include <stdlib.h>
#include <string.h>

#include "base/chars.h"
#include "names/patterns.h"

/* The length of the name up to and with its first index behind `from`; 0 without one, and when nothing follows it. */
static size_t next_layer(const char *name, size_t from)
{
    uint64_t index;
    for (size_t i = from, digits; name[i]; i += digits ? digits : 1) {
        digits = sp_is_digit(name[i]) ? sp_index_at(name, i, &index) : 0;
        if (digits) return name[i + digits] ? i + digits : 0;
    }
    return 0;
}

/* The layer that is name[0..length), a known one or a new one. */
static size_t layer_named(struct sp_levels *levels, struct sp_layers *layers, const char *name, size_t length)
{
    const char *own = sp_arena_copy(&levels->arena, name, length);
    if (!sp_map_add(&layers->map, own, layers->count)) return sp_map_get(&layers->map, own);
    *SP_PUSH(layers) = (struct sp_layer){.name = own, .length = length};
    return layers->count - 1;
}

size_t sp_layer_end(const char *name, int level)
{
    size_t length = next_layer(name, 0);
    for (; length && level; level--) length = next_layer(name, length);
    return length;
}

bool sp_is_in_layer(const char *tensor, const char *name, size_t length)
{
    return strncmp(tensor, name, length) == 0 && tensor[length] == '.';
}

/* Mostly a name is in the layer of the one before it, `last`. */
static size_t layer_of_name(struct sp_levels *levels, int level, const char *name, size_t last)
{
    struct sp_layers *layers = &levels->at[level];
    if (last != SHAPEPROOF_NONE && sp_is_in_layer(name, layers->items[last].name, layers->items[last].length))
        return last;
    const size_t length = sp_layer_end(name, level);
    return length ? layer_named(levels, layers, name, length) : SHAPEPROOF_NONE;
}

void sp_levels_read(struct sp_levels *levels, const struct shapeproof_prediction *prediction, int level)
{
    const size_t count = shapeproof_prediction_count(prediction);
    struct sp_layers *layers = &levels->at[level];
    size_t last = SHAPEPROOF_NONE;
    layers->of = sp_realloc(NULL, count, sizeof *layers->of);
    for (size_t i = 0; i < count; i++) {
        const struct shapeproof_predicted *tensor = shapeproof_prediction_tensor(prediction, i);
        layers->of[i] = tensor->optional ? SHAPEPROOF_NONE : layer_of_name(levels, level, tensor->name, last);
        if (layers->of[i] == SHAPEPROOF_NONE) continue;
        last = layers->of[i];
        layers->items[last].predicted++;
    }
}

void sp_levels_free(struct sp_levels *levels)
{
    for (int level = 0; level < SP_LAYER_LEVELS; level++) {
        sp_free(levels->at[level].items);
        sp_free(levels->at[level].of);
        sp_map_free(&levels->at[level].map);
    }
    sp_arena_free(&levels->arena);
    *levels = (struct sp_levels){0};
}
