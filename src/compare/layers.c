/* SPDX-License-Identifier: MIT */
#include "compare/layers.h"

#include <stdlib.h>
#include <string.h>

#include "base/chars.h"
#include "compare/patterns.h"

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
static size_t layer_of(struct sp_levels *levels, struct sp_layers *layers, const char *name, size_t length)
{
    const char *own = sp_arena_copy(&levels->arena, name, length);
    if (!sp_map_add(&layers->map, own, layers->count)) return sp_map_get(&layers->map, own);
    SP_GROW(layers->items, layers->count, layers->capacity);
    layers->items[layers->count] = (struct sp_layer){.name = own, .length = length};
    return layers->count++;
}

static bool is_under(const char *name, const struct sp_layer *layer)
{
    return strncmp(name, layer->name, layer->length) == 0 && name[layer->length] == '.';
}

/* Mostly a name is in the layer of the one before it, `last`. */
static void read_name(struct sp_levels *levels, const char *name, size_t predicted, size_t *last)
{
    size_t length = 0;
    for (int level = 0; level < SP_LAYER_LEVELS; level++) {
        struct sp_layers *layers = &levels->at[level];
        if (last[level] == SP_NONE || !is_under(name, &layers->items[last[level]])) {
            length = next_layer(name, length);
            if (!length) break;
            last[level] = layer_of(levels, layers, name, length);
        }
        struct sp_layer *layer = &layers->items[last[level]];
        length = layer->length;
        layers->of[predicted] = last[level];
        layer->predicted++;
    }
}

void sp_levels_read(struct sp_levels *levels, const struct sp_prediction *prediction)
{
    const size_t count = sp_prediction_count(prediction);
    size_t last[SP_LAYER_LEVELS];
    for (int level = 0; level < SP_LAYER_LEVELS; level++) {
        last[level] = SP_NONE;
        levels->at[level].of = sp_realloc(NULL, count, sizeof *levels->at[level].of);
        for (size_t i = 0; i < count; i++) levels->at[level].of[i] = SP_NONE;
    }
    for (size_t i = 0; i < count; i++) {
        const struct sp_predicted *tensor = sp_prediction_tensor(prediction, i);
        if (!tensor->optional) read_name(levels, tensor->name, i, last);
    }
}

void sp_levels_free(struct sp_levels *levels)
{
    for (int level = 0; level < SP_LAYER_LEVELS; level++) {
        free(levels->at[level].items);
        free(levels->at[level].of);
        sp_map_free(&levels->at[level].map);
    }
    sp_arena_free(&levels->arena);
    *levels = (struct sp_levels){0};
}
