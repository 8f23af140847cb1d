/* SPDX-License-Identifier: MIT
 * Layers of which nothing is there: all that is predicted under "model.layers.5." is missing. Then the same of what
 * layers consist of, such as experts: all that is predicted under "model.layers.5.mlp.experts.3.". */
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "compare/check.h"

struct layer {
    const char *name; /* "model.layers.5" */
    size_t predicted, missing;
};

struct layers {
    struct sp_arena *arena;
    size_t level; /* 1 for layers, 2 for parts of them: how many indices their names have */
    struct sp_text scratch;
    struct sp_map map;
    struct layer *items;
    size_t count, capacity;
};

/* The length of the name up to and with its index of that level; 0 without one, and when nothing follows it. */
static size_t layer_length(const char *name, size_t level)
{
    uint64_t index;
    for (size_t i = 0, digits; name[i]; i += digits ? digits : 1) {
        digits = name[i] >= '0' && name[i] <= '9' ? sp_index_at(name, i, &index) : 0;
        if (digits && !--level) return name[i + digits] ? i + digits : 0;
    }
    return 0;
}

/* The layer of a name, or NULL: it has none, or one that is not known and shall not be added. */
static struct layer *layer_of(struct layers *layers, const char *name, bool added)
{
    const size_t length = layer_length(name, layers->level);
    if (!length) return NULL;
    layers->scratch.length = 0;
    sp_text_append(&layers->scratch, name, length);
    size_t place = sp_map_get(&layers->map, layers->scratch.data);
    if (place == SIZE_MAX) {
        if (!added) return NULL;
        place = layers->count;
        SP_GROW(layers->items, layers->count, layers->capacity);
        layers->items[layers->count++] = (struct layer){.name = sp_arena_copy(layers->arena, name, length)};
        sp_map_add(&layers->map, layers->items[place].name, place);
    }
    return &layers->items[place];
}

static bool is_missing(const struct sp_finding *finding)
{
    return sp_finding_is_open(finding) && strcmp(finding->id, "missing") == 0;
}

/* A layer of a single tensor is that tensor, and no cause. */
static bool is_gone(const struct layer *layer) { return layer->predicted > 1 && layer->missing == layer->predicted; }

static void count_layers(struct sp_check *check, struct layers *layers)
{
    for (size_t i = 0; i < check->finding_count; i++) {
        struct layer *layer = is_missing(&check->findings[i]) ? layer_of(layers, check->findings[i].name, true) : NULL;
        if (layer) layer->missing++;
    }
    for (size_t i = 0; layers->count && i < sp_prediction_count(check->prediction); i++) {
        const struct sp_predicted *tensor = sp_prediction_tensor(check->prediction, i);
        struct layer *layer = tensor->optional ? NULL : layer_of(layers, tensor->name, false);
        if (layer) layer->predicted++;
    }
}

static void free_layers(struct layers *layers)
{
    sp_text_free(&layers->scratch);
    sp_map_free(&layers->map);
    free(layers->items);
}

/* The layer of an open finding that is gone as a whole, or NULL. */
static struct layer *gone_layer(struct layers *layers, const struct sp_finding *finding)
{
    struct layer *layer = layers->count && is_missing(finding) ? layer_of(layers, finding->name, false) : NULL;
    return layer && is_gone(layer) ? layer : NULL;
}

size_t sp_find_gone_layers(struct sp_check *check, size_t *layer_of_finding)
{
    struct layers layers = {.arena = &check->arena, .level = 1};
    count_layers(check, &layers);
    for (size_t i = 0; i < check->finding_count; i++) {
        const struct layer *layer = gone_layer(&layers, &check->findings[i]);
        layer_of_finding[i] = layer ? (size_t)(layer - layers.items) : SP_NONE;
    }
    free_layers(&layers);
    return layers.count;
}

static void describe(struct sp_check *check, const struct layers *layers, size_t cause)
{
    const char **names = sp_realloc(NULL, layers->count, sizeof *names);
    size_t count = 0;
    for (size_t i = 0; i < layers->count; i++)
        if (is_gone(&layers->items[i])) names[count++] = layers->items[i].name;
    check->causes[cause].message =
        sp_arena_printf(&check->arena, "%s %s missing altogether (%s)", sp_some_names(&check->arena, names, count),
                        count == 1 ? "is" : "are", sp_count_of(&check->arena, check->causes[cause].explains, "tensor"));
    free(names);
}

static bool is_expert(const struct layers *layers)
{
    for (size_t i = 0; i < layers->count; i++)
        if (is_gone(&layers->items[i]) && !strstr(layers->items[i].name, "expert")) return false;
    return layers->level > 1;
}

static void explain_level(struct sp_check *check, size_t level)
{
    struct layers layers = {.arena = &check->arena, .level = level};
    size_t cause = SP_NONE;
    count_layers(check, &layers);
    for (size_t i = 0; i < check->finding_count; i++) {
        if (!gone_layer(&layers, &check->findings[i])) continue;
        if (cause == SP_NONE)
            cause = sp_check_add_cause(
                check, (struct sp_cause){.id = is_expert(&layers) ? "experts-missing" : "layers-missing",
                                         .severity = SP_SEVERITY_ERROR});
        sp_check_explain(check, i, cause);
    }
    if (cause != SP_NONE) describe(check, &layers, cause);
    free_layers(&layers);
}

void sp_explain_layers(struct sp_check *check)
{
    explain_level(check, 1);
    explain_level(check, 2);
}
