/* SPDX-License-Identifier: MIT */
#include "explain/trials/bundles.h"

#include <stdlib.h>
#include <string.h>

#include "explain/gone_layers.h"
#include "explain/renaming.h"

static void bundle_renamed(struct sp_bundles *bundles, struct shapeproof_check *check)
{
    size_t *other = sp_pair_renamed(check, NULL);
    for (size_t i = 0; i < check->finding_count; i++)
        if (other[i] != SHAPEPROOF_NONE && bundles->of[i] == SHAPEPROOF_NONE)
            bundles->of[i] = bundles->of[other[i]] = bundles->count++;
    free(other);
}

static void bundle_layers(struct sp_bundles *bundles, struct shapeproof_check *check)
{
    struct sp_gone gone = sp_gone_layers(check, SP_LAYERS);
    for (size_t i = 0; gone.layers && i < check->finding_count; i++) {
        const size_t layer = sp_gone_layer_of(&gone, &check->findings[i]);
        if (!sp_is_gone(&gone, layer) || bundles->of[i] != SHAPEPROOF_NONE) continue;
        bundles->of[i] = bundles->count + layer;
    }
    if (gone.layers) bundles->count += gone.layers->count;
    sp_gone_free(&gone);
}

void sp_bundles_init(struct sp_bundles *bundles, struct shapeproof_check *check)
{
    *bundles = (struct sp_bundles){.of = sp_realloc(NULL, check->finding_count, sizeof *bundles->of)};
    for (size_t i = 0; i < check->finding_count; i++) bundles->of[i] = SHAPEPROOF_NONE;
    bundle_renamed(bundles, check);
    bundle_layers(bundles, check);
}

static void drop_broken(const struct sp_bundles *bundles, const struct shapeproof_check *check, bool *set)
{
    bool *broken = sp_realloc(NULL, bundles->count, sizeof *broken);
    memset(broken, 0, bundles->count * sizeof *broken);
    for (size_t i = 0; i < check->finding_count; i++)
        if (bundles->of[i] != SHAPEPROOF_NONE && !set[i] && sp_finding_is_open(&check->findings[i]))
            broken[bundles->of[i]] = true;
    for (size_t i = 0; i < check->finding_count; i++)
        set[i] = set[i] && (bundles->of[i] == SHAPEPROOF_NONE || !broken[bundles->of[i]]);
    free(broken);
}

static void drop_minorities(const struct shapeproof_check *check, bool *set)
{
    int64_t *balance =
        sp_realloc(NULL, check->patterns.count, sizeof *balance); /* in the set, less those that are not */
    memset(balance, 0, check->patterns.count * sizeof *balance);
    for (size_t i = 0; i < check->finding_count; i++)
        if (sp_finding_is_open(&check->findings[i])) balance[check->places[i].pattern] += set[i] ? 1 : -1;
    for (size_t i = 0; i < check->finding_count; i++) set[i] = set[i] && balance[check->places[i].pattern] >= 0;
    free(balance);
}

size_t sp_bundles_hold(const struct sp_bundles *bundles, const struct shapeproof_check *check, bool *set)
{
    size_t held = 0;
    drop_broken(bundles, check, set);
    drop_minorities(check, set);
    for (size_t i = 0; i < check->finding_count; i++) held += set[i];
    return held;
}

void sp_bundles_free(struct sp_bundles *bundles) { free(bundles->of); }
