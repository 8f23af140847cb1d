/* SPDX-License-Identifier: MIT
 * Layers of which nothing is there: all that is predicted under "model.layers.5." is missing. Then the same of what
 * layers consist of, such as experts: all that is predicted under "model.layers.5.mlp.experts.3.". */
#include <stdlib.h>
#include <string.h>

#include "check/check.h"

/* The layers of one level, and what is missing of each now. */
struct gone {
    const struct sp_layers *layers;
    size_t *missing;
};

static size_t layer_of(const struct gone *gone, const struct sp_finding *finding)
{
    return sp_finding_is_open_as(finding, SP_FINDING_MISSING) ? gone->layers->of[finding->predicted] : SP_NONE;
}

/* Whether the tensor of that place in the prediction shows that a layer is not gone: it is in it, and there. */
static bool shows(const struct sp_check *check, size_t predicted, const char *name, size_t length)
{
    if (predicted >= sp_prediction_count(check->prediction) || check->match.tensor_of[predicted] == SP_NONE)
        return false;
    const struct sp_predicted *tensor = sp_prediction_tensor(check->prediction, predicted);
    return !tensor->optional && sp_is_in_layer(tensor->name, name, length);
}

/* A glance at what stands beside each missing tensor tells mostly that no layer is gone. */
static bool could_be_gone(const struct sp_check *check, int level)
{
    for (size_t i = 0; i < check->finding_count; i++) {
        const struct sp_finding *finding = &check->findings[i];
        const size_t place = finding->predicted, length = sp_finding_is_open_as(finding, SP_FINDING_MISSING)
                                                              ? sp_layer_end(finding->name, level)
                                                              : 0;
        if (length && !shows(check, place + 1, finding->name, length) &&
            !(place && shows(check, place - 1, finding->name, length)))
            return true;
    }
    return false;
}

static struct gone count_missing(struct sp_check *check, int level)
{
    if (!check->levels.at[level].of) sp_levels_read(&check->levels, check->prediction, level);
    struct gone gone = {.layers = &check->levels.at[level]};
    gone.missing = sp_realloc(NULL, gone.layers->count, sizeof *gone.missing);
    if (gone.layers->count) memset(gone.missing, 0, gone.layers->count * sizeof *gone.missing);
    for (size_t i = 0; i < check->finding_count; i++) {
        const size_t layer = layer_of(&gone, &check->findings[i]);
        if (layer != SP_NONE) gone.missing[layer]++;
    }
    return gone;
}

/* A layer of a single tensor is that tensor, and no cause. */
static bool is_gone(const struct gone *gone, size_t layer)
{
    if (layer == SP_NONE) return false;
    return gone->layers->items[layer].predicted > 1 && gone->missing[layer] == gone->layers->items[layer].predicted;
}

size_t sp_find_gone_layers(struct sp_check *check, size_t *layer_of_finding)
{
    for (size_t i = 0; i < check->finding_count; i++) layer_of_finding[i] = SP_NONE;
    if (!could_be_gone(check, SP_LAYERS)) return 0;
    const struct gone gone = count_missing(check, SP_LAYERS);
    for (size_t i = 0; i < check->finding_count; i++) {
        const size_t layer = layer_of(&gone, &check->findings[i]);
        layer_of_finding[i] = is_gone(&gone, layer) ? layer : SP_NONE;
    }
    free(gone.missing);
    return gone.layers->count;
}

static void describe(struct sp_check *check, const struct gone *gone, size_t cause)
{
    const char **names = sp_realloc(NULL, gone->layers->count, sizeof *names);
    size_t count = 0;
    for (size_t i = 0; i < gone->layers->count; i++)
        if (is_gone(gone, i)) names[count++] = gone->layers->items[i].name;
    check->causes[cause].message =
        sp_arena_printf(&check->arena, "%s %s missing altogether (%s)", sp_some_names(&check->arena, names, count),
                        count == 1 ? "is" : "are", sp_count_of(&check->arena, check->causes[cause].explains, "tensor"));
    free(names);
}

static bool are_experts(const struct gone *gone)
{
    for (size_t i = 0; i < gone->layers->count; i++)
        if (is_gone(gone, i) && !strstr(gone->layers->items[i].name, "expert")) return false;
    return true;
}

static void explain_level(struct sp_check *check, int level)
{
    if (!could_be_gone(check, level)) return;
    const struct gone gone = count_missing(check, level);
    size_t cause = SP_NONE;
    for (size_t i = 0; i < check->finding_count; i++) {
        if (!is_gone(&gone, layer_of(&gone, &check->findings[i]))) continue;
        if (cause == SP_NONE) {
            const bool experts = level == SP_LAYER_PARTS && are_experts(&gone);
            cause = sp_check_add_cause(check, (struct sp_cause){.id = experts ? "experts-missing" : "layers-missing",
                                                                .severity = SP_SEVERITY_ERROR});
        }
        sp_check_explain(check, i, cause);
    }
    if (cause != SP_NONE) describe(check, &gone, cause);
    free(gone.missing);
}

void sp_explain_layers(struct sp_check *check)
{
    for (int level = 0; level < SP_LAYER_LEVELS && sp_check_open(check); level++) explain_level(check, level);
}
