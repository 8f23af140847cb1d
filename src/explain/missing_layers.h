/* SPDX-License-Identifier: MIT
 * Layers of which nothing is there: all that is predicted under "model.layers.5." is missing. Likewise what layers
 * consist of, such as experts: all that is predicted under "model.layers.5.mlp.experts.3.". */
#ifndef SP_EXPLAIN_MISSING_LAYERS_H
#define SP_EXPLAIN_MISSING_LAYERS_H

#include "check/check.h"

/* The layers of one level, and how much of each is missing. */
struct sp_missing_layers {
    const struct sp_layers *layers; /* NULL when a quick look shows that no layer is gone */
    size_t *missing;                /* for each layer: tensors that are missing without a cause */
};

/* `level` as in match/layers.h. Free it. */
struct sp_missing_layers sp_missing_layers_find(struct shapeproof_check *check, int level);
void sp_missing_layers_free(struct sp_missing_layers *gone);
/* The layer that an open finding that something is missing belongs to, or SHAPEPROOF_NONE. */
size_t sp_missing_layer_of(const struct sp_missing_layers *gone, const struct shapeproof_finding *finding);
/* Whether all of the layer is missing. False for a layer of a single tensor, which is no more than that tensor, and for
 * SHAPEPROOF_NONE. */
bool sp_is_missing_layer(const struct sp_missing_layers *gone, size_t layer);

#endif
