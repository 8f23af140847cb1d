/* SPDX-License-Identifier: MIT
 * Files that hold a part of the layers: one shard of several that was opened alone, or one stage of a pipeline, which
 * has some layers in a row, what stands before them if they are the first, and what stands behind if they are the last.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/chars.h"
#include "base/shard_name.h"
#include "explain/gather.h"
#include "explain/missing_layers.h"
#include "model/inventory.h"

/* ---- one shard alone ---- */

/* Blames what is missing on the other shards, if the file is one shard by its name, "model-00001-of-00004.safetensors";
 * false otherwise. */
static bool explain_shard_alone(struct shapeproof_check *check)
{
    static const enum shapeproof_finding_kind missing = SHAPEPROOF_FINDING_MISSING;
    const char *name = sp_base_name(shapeproof_inventory_path(check->inventory));
    struct sp_shard_name shard;
    if (!sp_inventory_is_shard(check->inventory, &shard)) return false;
    struct shapeproof_cause *cause = sp_gather(check, SP_CAUSE_SHARD_MISSING, sp_is_open_kind, &missing);
    if (!cause) return false;
    cause->message =
        sp_arena_printf(&check->arena, "%s is one shard of %" PRIu32 ": %s of the model must be in the others", name,
                        shard.of, sp_tensors_of(check, cause));
    cause->hint = "give the directory of the shards, or their index, instead of this one file";
    return true;
}

/* ---- one stage of a pipeline ---- */

/* One loop of layers, of which the file has some in a row:
 *
 *     model.layers.4 to model.layers.7 of 12    begin 4, end 8, layers 12 */
struct stage {
    struct shapeproof_check *check;
    struct sp_missing_layers gone;
    const char *loop;   /* the name of a layer of it; NULL: no layer is gone */
    size_t front;       /* the length of "model.layers." in that name */
    uint64_t begin;     /* the first layer that the file has */
    uint64_t end;       /* behind the last one */
    uint64_t layers;    /* how many are predicted */
    size_t first, last; /* predicted tensors of the loop */
};

/* The number at the end of a layer's name: 3 of "model.layers.3". */
static uint64_t index_of_layer(const struct sp_layer *layer)
{
    size_t digits = 0;
    while (digits < layer->length && sp_is_digit(layer->name[layer->length - 1 - digits])) digits++;
    return strtoull(layer->name + layer->length - digits, NULL, 10);
}

/* The length of the name in front of that number. */
static size_t front_of_layer(const struct sp_layer *layer)
{
    size_t front = layer->length;
    while (front && sp_is_digit(layer->name[front - 1])) front--;
    return front;
}

/* Whether the name is that of a layer of the loop, or of a tensor in one. */
static bool is_of_loop(const struct stage *stage, const char *name)
{
    return strncmp(name, stage->loop, stage->front) == 0 && sp_is_digit(name[stage->front]);
}

/* Finds the loop of which layers are gone, and the run of layers that the file has of it. False unless only one loop
 * has lost layers, some of its layers are there, and these have no gap between them. */
static bool find_run(struct stage *stage)
{
    const struct sp_layers *layers = stage->gone.layers;
    size_t there = 0;
    for (size_t i = 0; i < layers->count && !stage->loop; i++)
        if (sp_is_missing_layer(&stage->gone, i)) {
            stage->loop = layers->items[i].name;
            stage->front = front_of_layer(&layers->items[i]);
        }
    stage->begin = UINT64_MAX;
    for (size_t i = 0; i < layers->count && stage->loop; i++) {
        const bool own = is_of_loop(stage, layers->items[i].name), gone = sp_is_missing_layer(&stage->gone, i);
        const uint64_t index = index_of_layer(&layers->items[i]);
        if (gone && !own) return false;
        if (!own) continue;
        if (index >= stage->layers) stage->layers = index + 1;
        if (gone) continue;
        there++;
        if (index < stage->begin) stage->begin = index;
        if (index >= stage->end) stage->end = index + 1;
    }
    return there && there == stage->end - stage->begin && there < stage->layers;
}

/* Finds the first and the last predicted tensor of the loop. */
static void find_ends(struct stage *stage)
{
    const size_t total = shapeproof_prediction_count(stage->check->prediction);
    stage->first = SHAPEPROOF_NONE;
    for (size_t i = 0; i < total; i++) {
        if (!is_of_loop(stage, shapeproof_prediction_tensor(stage->check->prediction, i)->name)) continue;
        if (stage->first == SHAPEPROOF_NONE) stage->first = i;
        stage->last = i;
    }
}

/* Whether nothing is there of what is predicted in [from, to) and needed, without tensors of the loop. `*missing` is
 * how much is missing; tied tensors are not. */
static bool all_missing(const struct stage *stage, size_t from, size_t to, size_t *missing)
{
    for (size_t i = from; i < to; i++) {
        const struct shapeproof_predicted *tensor = shapeproof_prediction_tensor(stage->check->prediction, i);
        if (tensor->optional || is_of_loop(stage, tensor->name)) continue;
        if (sp_is_stored(stage->check, i)) return false;
        *missing += sp_match_predicted(&stage->check->match, i) == SP_MISSING;
    }
    return true;
}

/* Whether the file is a stage of a pipeline: what is predicted before the layers (embeddings) is there if and only if
 * the first layer is, what is predicted behind them (a head) if and only if the last layer is, and one of both is
 * missing. */
static bool is_stage(const struct stage *stage)
{
    const size_t total = shapeproof_prediction_count(stage->check->prediction);
    size_t before = 0, behind = 0;
    const bool none_before = all_missing(stage, 0, stage->first, &before);
    const bool none_behind = all_missing(stage, stage->last + 1, total, &behind);
    if (stage->begin ? !none_before : before && none_before) return false;
    if (stage->end < stage->layers ? !none_behind : behind && none_behind) return false;
    return before + behind > 0;
}

/* One cause for all that is missing: the file is one stage of a pipeline. Nothing is said if more than an eighth of
 * that is missing inside of layers that the file has. */
static void explain_stage(struct stage *stage)
{
    static const enum shapeproof_finding_kind missing = SHAPEPROOF_FINDING_MISSING;
    struct shapeproof_check *check = stage->check;
    const size_t count = sp_count_wanted(check, sp_is_open_kind, &missing);
    size_t inside = 0; /* of a layer that the file has */
    for (size_t i = 0; i < check->finding_count; i++)
        inside += sp_finding_is_open_as(&check->findings[i], SHAPEPROOF_FINDING_MISSING) &&
                  is_of_loop(stage, check->findings[i].name) &&
                  !sp_is_missing_layer(&stage->gone, sp_missing_layer_of(&stage->gone, &check->findings[i]));
    if (inside * 8 > count) return;
    struct shapeproof_cause *cause = sp_gather(check, SP_CAUSE_PIPELINE, sp_is_open_kind, &missing);
    const bool before = stage->begin > 0, behind = stage->end < stage->layers;
    cause->message = sp_arena_printf(&check->arena,
                                     "the file has layers %" PRIu64 " to %" PRIu64 " of %" PRIu64 " (%.*s), and "
                                     "nothing %s them, like one stage of a pipeline: %s missing",
                                     stage->begin, stage->end - 1, stage->layers, (int)stage->front - 1, stage->loop,
                                     before && behind ? "before and after"
                                     : before         ? "before"
                                                      : "behind",
                                     sp_tensors_of(check, cause));
    cause->hint = "gather the stages into one checkpoint";
}

void sp_explain_stages(struct shapeproof_check *check)
{
    struct stage stage = {.check = check};
    if (check->config->variables) return; /* Keras saves a model whole */
    if (check->inventory->promise_count || explain_shard_alone(check)) return;
    stage.gone = sp_missing_layers_find(check, SP_LAYERS);
    if (!stage.gone.layers) return;
    if (find_run(&stage)) {
        find_ends(&stage);
        if (is_stage(&stage)) explain_stage(&stage);
    }
    sp_missing_layers_free(&stage.gone);
}
