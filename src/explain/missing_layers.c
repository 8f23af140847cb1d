/* SPDX-License-Identifier: MIT */
#include "explain/missing_layers.h"

#include <stdlib.h>
#include <string.h>

size_t sp_missing_layer_of(const struct sp_missing_layers *gone, const struct shapeproof_finding *finding)
{
    return sp_finding_is_open_as(finding, SHAPEPROOF_FINDING_MISSING) ? gone->layers->of[finding->predicted]
                                                                      : SHAPEPROOF_NONE;
}

/* Whether the tensor of that place in the prediction shows that a layer is not gone: it is in it, and there. */
static bool shows(const struct shapeproof_check *check, size_t predicted, const char *name, size_t length)
{
    if (predicted >= shapeproof_prediction_count(check->prediction) ||
        check->match.tensor_of[predicted] == SHAPEPROOF_NONE)
        return false;
    const struct shapeproof_predicted *tensor = shapeproof_prediction_tensor(check->prediction, predicted);
    return !tensor->optional && sp_is_in_layer(tensor->name, name, length);
}

/* A glance at what stands beside each missing tensor tells mostly that no layer is gone. */
static bool could_be_gone(const struct shapeproof_check *check, int level)
{
    for (size_t i = 0; i < check->finding_count; i++) {
        const struct shapeproof_finding *finding = &check->findings[i];
        const size_t place = finding->predicted, length = sp_finding_is_open_as(finding, SHAPEPROOF_FINDING_MISSING)
                                                              ? sp_layer_end(finding->name, level)
                                                              : 0;
        if (length && !shows(check, place + 1, finding->name, length) &&
            !(place && shows(check, place - 1, finding->name, length)))
            return true;
    }
    return false;
}

struct sp_missing_layers sp_missing_layers_find(struct shapeproof_check *check, int level)
{
    if (!could_be_gone(check, level)) return (struct sp_missing_layers){.layers = NULL};
    if (!check->levels.at[level].of) sp_levels_read(&check->levels, check->prediction, level);
    struct sp_missing_layers gone = {.layers = &check->levels.at[level]};
    gone.missing = sp_realloc(NULL, gone.layers->count, sizeof *gone.missing);
    if (gone.layers->count) memset(gone.missing, 0, gone.layers->count * sizeof *gone.missing);
    for (size_t i = 0; i < check->finding_count; i++) {
        const size_t layer = sp_missing_layer_of(&gone, &check->findings[i]);
        if (layer != SHAPEPROOF_NONE) gone.missing[layer]++;
    }
    return gone;
}

bool sp_is_missing_layer(const struct sp_missing_layers *gone, size_t layer)
{
    if (layer == SHAPEPROOF_NONE) return false;
    return gone->layers->items[layer].predicted > 1 && gone->missing[layer] == gone->layers->items[layer].predicted;
}

void sp_missing_layers_free(struct sp_missing_layers *gone) { sp_free(gone->missing); }
