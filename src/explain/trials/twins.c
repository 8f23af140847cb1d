/* SPDX-License-Identifier: MIT */
#include "explain/trials/twins.h"

#include <string.h>

#include "base/checked.h"
#include "lang/prediction.h"

/* A dimension that is right now, and would not be. */
struct broken {
    size_t predicted; /* under the change */
    uint32_t dimension;
    uint64_t expected, found;
};

static bool find_broken(const struct sp_sample *sample, const struct shapeproof_prediction *variant,
                        struct broken *broken)
{
    const struct shapeproof_tensor *tensor;
    broken->predicted = sp_sample_breaks(sample, variant, &tensor);
    if (broken->predicted == SHAPEPROOF_NONE) return false;
    const struct shapeproof_predicted *expected = shapeproof_prediction_tensor(variant, broken->predicted);
    for (uint32_t d = 0; d < expected->rank && tensor->rank == expected->rank; d++) {
        if (tensor->shape[d] == expected->shape[d]) continue;
        broken->dimension = d;
        broken->expected = expected->shape[d];
        broken->found = tensor->shape[d];
        return true;
    }
    return false;
}

/* What the key must be for the dimension to be as found, if it is a factor of it; false when that is no whole number.
 */
static bool scale_value(const struct broken *broken, struct shapeproof_value *value)
{
    uint64_t product;
    if (value->type != SHAPEPROOF_VALUE_INT || value->integer <= 0 || !broken->expected) return false;
    if (!sp_mul_u64((uint64_t)value->integer, broken->found, &product) || product % broken->expected) return false;
    *value = sp_value_int((int64_t)(product / broken->expected));
    return true;
}

static bool is_changed(const struct sp_change *change, const char *key)
{
    for (; change; change = change->also)
        if (strcmp(change->key, key) == 0) return true;
    return false;
}

/* Another key in the dimension that scales as it does. */
static bool find_twin(struct shapeproof_prediction *variant, const struct broken *broken,
                      const struct sp_change *change, struct sp_change *twin)
{
    const struct sp_keys keys = sp_prediction_depends_on(variant, broken->predicted, broken->dimension);
    for (size_t i = 0; i < keys.count; i++) {
        const struct shapeproof_hyperparameter *hyper = shapeproof_prediction_hyperparameter(variant, keys.list[i]);
        const bool given =
            hyper->from.source == SHAPEPROOF_SOURCE_CONFIG || hyper->from.source == SHAPEPROOF_SOURCE_SETTING;
        if (!given || is_changed(change, hyper->name)) continue;
        *twin = (struct sp_change){
            .key = hyper->name, .value = hyper->value, .configured = hyper->value, .from = hyper->from};
        if (scale_value(broken, &twin->value)) return true;
    }
    return false;
}

/* Adds a key that repairs the first of what the change breaks; false when it breaks nothing, or none does. */
static bool add_twin(const struct sp_sample *sample, struct sp_arena *arena, struct sp_change *change,
                     const struct shapeproof_config *base)
{
    struct broken broken;
    struct sp_change twin;
    struct sp_variant variant;
    if (!sp_sample_try(sample, base, change, &variant)) return false;
    const bool found =
        find_broken(sample, variant.prediction, &broken) && find_twin(variant.prediction, &broken, change, &twin);
    if (found) {
        struct sp_change *also = sp_arena_array(arena, 1, sizeof *also);
        twin.key = sp_arena_string(arena, twin.key);
        twin.also = change->also;
        *also = twin;
        change->also = also;
    }
    sp_variant_free(&variant);
    return found;
}

const struct sp_change *sp_change_with_twins(const struct sp_sample *sample, struct sp_arena *arena,
                                             const struct sp_change *change, const struct shapeproof_config *base,
                                             int most)
{
    if (change->value.type != SHAPEPROOF_VALUE_INT) return NULL;
    struct sp_change *with = sp_arena_array(arena, 1, sizeof *with);
    *with = *change;
    for (int i = 0; i < most && add_twin(sample, arena, with, base); i++) {
    }
    return with->also ? with : NULL;
}
