/* SPDX-License-Identifier: MIT
 * The layouts:
 *
 * Keras 1 and 2, tf.keras, and the .h5 of Keras 3 ("keras-hdf5"): a group per layer, under /model_weights when the file
 * holds the whole model and under the root when it holds the weights alone. The attribute layer_names of that group
 * gives the layers in their order; weight_names of a layer's group gives the paths of its weights within the group.
 * Keras before 1.0 wrote nb_layers instead. /optimizer_weights holds the optimizer's state.
 *
 * Keras 3 weights ("keras-weights"): each layer has a group "vars" with datasets 0, 1, 2, ... below a path of class
 * names or attributes. The group has the attribute "name", and is there for layers without a variable, too: a lookup
 * keeps its vocabulary elsewhere. /optimizer holds the optimizer's state, and /metrics, of Keras 2, what was counted.
 *
 * Without a trace of either: a file of floating-point datasets alone, in groups, has the layout of Keras 2 without its
 * attributes, as weights exported by hand often have (ELMo's, for one). It is called "keras-hdf5" as well, with a
 * warning that says so. Everything else is "hdf5". */
#include "read/hdf5/keras.h"
#include "model/format.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/chars.h"

static const struct sp_format hdf5_format = {"hdf5", 0};
static const struct sp_format keras_hdf5_format = {"keras-hdf5", SP_BY_KERAS | SP_IN_ORDER};
static const struct sp_format keras_weights_format = {"keras-weights", SP_BY_KERAS | SP_NUMBERED};

static size_t tensor_count(const struct sp_h5_contents *contents)
{
    return contents->inventory->count - contents->first;
}

static struct shapeproof_tensor *tensor_at(const struct sp_h5_contents *contents, size_t index)
{
    return &contents->inventory->tensors[contents->first + index];
}

/* ---- the format ---- */

static bool any_tensor(const struct sp_h5_contents *contents, bool (*is)(const struct shapeproof_tensor *))
{
    for (size_t i = 0; i < tensor_count(contents); i++)
        if (is(tensor_at(contents, i))) return true;
    return false;
}

static bool in_model_weights(const struct shapeproof_tensor *tensor)
{
    return sp_begins_with(tensor->name, "model_weights/");
}

/* Directly in a group called "vars". */
static bool is_variable(const struct shapeproof_tensor *tensor)
{
    const char *slash = strrchr(tensor->name, '/');
    const size_t length = slash ? (size_t)(slash - tensor->name) : 0;
    return (length == 4 || (length > 4 && slash[-5] == '/')) && !strncmp(slash - 4, "vars", 4);
}

static bool is_in_group(const struct shapeproof_tensor *tensor) { return strchr(tensor->name, '/') != NULL; }

static bool is_no_weight(const struct shapeproof_tensor *tensor)
{
    return !shapeproof_dtype_is_float(tensor->dtype) || tensor->flags & SHAPEPROOF_TENSOR_NO_SHAPE;
}

static const struct sp_format *format_of(const struct sp_h5_contents *contents)
{
    if (contents->model_attributes || contents->list_count || any_tensor(contents, in_model_weights))
        return &keras_hdf5_format;
    if (any_tensor(contents, is_variable) || contents->variables) return &keras_weights_format;
    if (!any_tensor(contents, is_in_group) || any_tensor(contents, is_no_weight)) return &hdf5_format;
    sp_inventory_warn(contents->inventory,
                      "no attributes of Keras: the format is called keras-hdf5 only because there are floats in "
                      "groups");
    return &keras_hdf5_format;
}

static void flag_state(const struct sp_h5_contents *contents, const char *prefix)
{
    for (size_t i = 0; i < tensor_count(contents); i++)
        if (sp_begins_with(tensor_at(contents, i)->name, prefix))
            tensor_at(contents, i)->flags |= SHAPEPROOF_TENSOR_STATE;
}

/* ---- layer_names and weight_names ---- */

struct ranking {
    const struct sp_h5_contents *contents;
    struct sp_map tensors; /* name -> index from `first` */
    struct sp_map groups;  /* path -> index of its weight_names in contents->lists; SIZE_MAX once they are ranked */
    size_t *rank;          /* per tensor: its place in the order of the names, SHAPEPROOF_NONE when no name has it */
    size_t ranked;
    size_t missing_weights, missing_layers;
    const char *first_weight, *first_layer;
};

static const char *join_group(const struct sp_h5_contents *contents, const char *group, const char *name)
{
    return *group ? sp_arena_printf(&contents->inventory->arena, "%s/%s", group, name) : name;
}

static bool is_list(const struct sp_h5_names *list, const char *attribute)
{
    return strcmp(list->attribute, attribute) == 0;
}

static void rank_weights(struct ranking *ranking, const struct sp_h5_names *list)
{
    for (size_t i = 0; i < list->count; i++) {
        const char *path = join_group(ranking->contents, list->group, list->names[i]);
        const size_t index = sp_map_get(&ranking->tensors, path);
        if (index == SIZE_MAX && !ranking->missing_weights++) ranking->first_weight = path;
        if (index != SIZE_MAX && ranking->rank[index] == SHAPEPROOF_NONE) ranking->rank[index] = ranking->ranked++;
    }
}

static void rank_layers(struct ranking *ranking, const struct sp_h5_names *list)
{
    for (size_t i = 0; i < list->count; i++) {
        const char *path = join_group(ranking->contents, list->group, list->names[i]);
        const size_t index = sp_map_get(&ranking->groups, path);
        if (index == SIZE_MAX && !ranking->missing_layers++) ranking->first_layer = path;
        if (index == SIZE_MAX) continue;
        rank_weights(ranking, &ranking->contents->lists[index]);
        sp_map_set(&ranking->groups, path, SIZE_MAX); /* ranked: a layer may be named twice */
    }
}

static void index_names(struct ranking *ranking)
{
    const struct sp_h5_contents *contents = ranking->contents;
    ranking->rank = sp_realloc(NULL, tensor_count(contents) + 1, sizeof *ranking->rank);
    for (size_t i = 0; i < tensor_count(contents); i++) {
        sp_map_add(&ranking->tensors, tensor_at(contents, i)->name, i);
        ranking->rank[i] = SHAPEPROOF_NONE;
    }
    for (size_t i = 0; i < contents->list_count; i++)
        if (is_list(&contents->lists[i], "weight_names")) sp_map_add(&ranking->groups, contents->lists[i].group, i);
}

static void warn_of_mismatches(const struct ranking *ranking)
{
    struct shapeproof_inventory *inventory = ranking->contents->inventory;
    const char *first = NULL;
    size_t unnamed = 0;
    for (size_t i = 0; i < tensor_count(ranking->contents); i++)
        if (ranking->rank[i] == SHAPEPROOF_NONE && !unnamed++) first = tensor_at(ranking->contents, i)->name;
    if (ranking->missing_layers)
        sp_inventory_warn(inventory, "layers of layer_names without a group of weight_names: %zu, the first '%s'",
                          ranking->missing_layers, ranking->first_layer);
    if (ranking->missing_weights)
        sp_inventory_warn(inventory, "names of weight_names without a dataset: %zu, the first '%s'",
                          ranking->missing_weights, ranking->first_weight);
    if (unnamed)
        sp_inventory_warn(inventory, "datasets that no weight_names names: %zu, the first '%s'", unnamed, first);
}

struct placed {
    size_t rank, index;
    struct shapeproof_tensor tensor;
};

static int compare_placed(const void *left, const void *right)
{
    const struct placed *a = left, *b = right;
    if (a->rank != b->rank)
        return a->rank < b->rank ? -1 : 1; /* SHAPEPROOF_NONE is the largest: behind the named ones */
    return a->index < b->index ? -1 : a->index > b->index;
}

static void sort_by_rank(const struct ranking *ranking)
{
    const size_t count = tensor_count(ranking->contents);
    struct placed *placed = sp_realloc(NULL, count + 1, sizeof *placed);
    for (size_t i = 0; i < count; i++)
        placed[i] = (struct placed){ranking->rank[i], i, *tensor_at(ranking->contents, i)};
    qsort(placed, count, sizeof *placed, compare_placed);
    for (size_t i = 0; i < count; i++) *tensor_at(ranking->contents, i) = placed[i].tensor;
    sp_free(placed);
}

/* Sorts the tensors as Keras lists them: layers in the order of layer_names, each layer's weights in that of
 * weight_names. */
static void follow_names(const struct sp_h5_contents *contents)
{
    struct ranking ranking = {.contents = contents};
    char layers[24];
    index_names(&ranking);
    for (size_t i = 0; i < contents->list_count; i++)
        if (is_list(&contents->lists[i], "layer_names")) {
            rank_layers(&ranking, &contents->lists[i]);
            snprintf(layers, sizeof layers, "%zu", contents->lists[i].count);
            sp_inventory_add_metadata(contents->inventory, "layers", layers);
        }
    for (size_t i = 0; i < contents->list_count; i++) {
        const bool is_unranked = sp_map_get(&ranking.groups, contents->lists[i].group) == i; /* as the optimizer's */
        if (is_list(&contents->lists[i], "weight_names") && is_unranked) rank_weights(&ranking, &contents->lists[i]);
    }
    warn_of_mismatches(&ranking);
    sort_by_rank(&ranking);
    sp_map_free(&ranking.tensors);
    sp_map_free(&ranking.groups);
    sp_free(ranking.rank);
}

void sp_h5_understand(struct sp_h5_contents *contents)
{
    const struct sp_format *format = format_of(contents);
    contents->inventory->format = format;
    if (contents->list_count) follow_names(contents);
    if (format == &keras_hdf5_format) flag_state(contents, "optimizer_weights/");
    if (format == &keras_weights_format) flag_state(contents, "optimizer/");
    if (format == &keras_weights_format) flag_state(contents, "metrics/");
}
