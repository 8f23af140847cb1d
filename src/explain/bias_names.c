/* SPDX-License-Identifier: MIT */
#include "explain/bias_names.h"

#include <string.h>

/* "x.weight" for "x.bias", "x" for "x_bias"; NULL for any other name. In the arena. */
static const char *weight_beside(struct sp_arena *arena, const char *name)
{
    const size_t length = strlen(name);
    if (length > 5 && strcmp(name + length - 5, ".bias") == 0)
        return sp_arena_printf(arena, "%.*s.weight", (int)(length - 5), name);
    if (length > 5 && strcmp(name + length - 5, "_bias") == 0) return sp_arena_copy(arena, name, length - 5);
    return NULL;
}

size_t sp_weight_of_lost_bias(struct shapeproof_check *check, const struct sp_map *packed, const char *bias)
{
    const char *weight = weight_beside(&check->arena, bias);
    if (!weight) return SHAPEPROOF_NONE;
    const size_t stored = sp_map_get(packed, weight);
    return stored != SIZE_MAX ? stored : shapeproof_prediction_find(check->prediction, weight);
}

void sp_map_packed(const struct shapeproof_check *check, struct sp_map *packed)
{
    for (size_t i = 0; check->quantisation.method && i < shapeproof_prediction_count(check->prediction); i++) {
        const char *weight = shapeproof_prediction_tensor(check->prediction, i)->stands_for;
        if (weight) sp_map_add(packed, weight, i);
    }
}

size_t sp_weight_of_stray_bias(struct shapeproof_check *check, const struct sp_map *packed, const char *bias)
{
    const char *weight = weight_beside(&check->arena, bias);
    struct sp_text name = {0};
    if (!weight) return SHAPEPROOF_NONE;
    const size_t tensor = shapeproof_inventory_find(check->inventory, weight);
    sp_naming_apply(&check->naming, weight, &name);
    const size_t stored = sp_map_get(packed, name.data);
    sp_text_free(&name);
    return stored != SIZE_MAX          ? stored
           : tensor == SHAPEPROOF_NONE ? SHAPEPROOF_NONE
                                       : check->match.predicted_of[tensor];
}
