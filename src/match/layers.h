/* SPDX-License-Identifier: MIT
 * What the names of a prediction say of its structure: "model.layers.5.mlp.experts.3.up_proj.weight" is in the layer
 * "model.layers.5", and in that layer's part "model.layers.5.mlp.experts.3". */
#ifndef SP_MATCH_LAYERS_H
#define SP_MATCH_LAYERS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/map.h"
#include "shapeproof/prediction.h"

struct sp_layer {
    const char *name;
    size_t length;    /* of the name */
    size_t predicted; /* tensors under it, without those that are optional */
};

/* The layers of a level: with one index in their names, or with two. */
struct sp_layers {
    struct sp_layer *items;
    size_t count, capacity;
    size_t *of; /* for each predicted tensor its layer, or SHAPEPROOF_NONE: it has none, or is optional */
    struct sp_map map;
};

enum { SP_LAYERS, SP_LAYER_PARTS, SP_LAYER_LEVELS };

struct sp_levels {
    struct sp_layers at[SP_LAYER_LEVELS];
    struct sp_arena arena; /* of the names */
};

/* The length of a layer's name in the name of a tensor; 0 when that is in none of the level. */
size_t sp_layer_end(const char *name, int level);
/* Whether the tensor is under name[0..length), which is a layer's name. */
bool sp_is_in_layer(const char *tensor, const char *name, size_t length);
void sp_levels_read(struct sp_levels *levels, const struct shapeproof_prediction *prediction, int level);
void sp_levels_free(struct sp_levels *levels);

#endif
