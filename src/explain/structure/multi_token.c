/* SPDX-License-Identifier: MIT
 * Layers for multi-token prediction: beside a model that does not know them, or promised and not there. */
#include <stdlib.h>
#include <string.h>

#include "explain/gather.h"
#include "names/components.h"

static bool has_component(const char *name, const char *component)
{
    for (struct sp_component_walk part = {.rest = name}; sp_component_next(&part, ".");)
        if (sp_is_component(part.text, part.length, component)) return true;
    return false;
}

static bool is_multi_token(const char *name)
{
    static const char *const components[] = {"mtp", "mtp_layers", "mtp_block", "nextn", "nextn_predict_layers"};
    for (size_t i = 0; i < sizeof components / sizeof *components; i++)
        if (has_component(name, components[i])) return true;
    return false;
}

static bool is_unknown_layer(const struct shapeproof_check *check, const struct shapeproof_finding *finding,
                             const void *context)
{
    (void)check;
    (void)context;
    return finding->kind == SHAPEPROOF_FINDING_UNEXPECTED && is_multi_token(finding->name);
}

/* Those that the table does not have at all. */
static void explain_unknown_layers(struct shapeproof_check *check)
{
    struct shapeproof_cause *cause = sp_gather(check, SP_CAUSE_MULTI_TOKEN, is_unknown_layer, NULL);
    if (cause)
        sp_cause_set_message(check, cause,
                             "the file has layers for multi-token prediction, which the model itself does not use");
}

/* The tables call their group so; it is optional there, since the model is whole without it. */
static bool is_for_multi_token(const struct shapeproof_check *check, size_t predicted)
{
    const struct shapeproof_predicted *tensor = shapeproof_prediction_tensor(check->prediction, predicted);
    return tensor->optional &&
           strcmp(shapeproof_prediction_group(check->prediction, tensor->group)->name, "multi-token prediction") == 0;
}

static const char *how_many_configured(struct shapeproof_check *check, struct shapeproof_cause *cause)
{
    const size_t key = sp_find_hyperparameter(check->prediction, "num_nextn_predict_layers");
    if (key == SHAPEPROOF_NONE) return "the model is predicted with layers for multi-token prediction";
    const struct shapeproof_hyperparameter hyper = *shapeproof_prediction_hyperparameter(check->prediction, key);
    cause->hyperparameter = hyper.name;
    cause->configured = hyper.value;
    return sp_said(check, hyper);
}

static void add_dropped(struct shapeproof_check *check, const char *name, const char *message,
                        const struct shapeproof_cause *cause)
{
    sp_check_add_lacking(check, name, shapeproof_prediction_find(check->prediction, name), cause->severity, message);
    sp_attribute_finding(check, check->finding_count - 1, cause);
}

/* Of layers that are not there at all a finding each; else of each tensor. */
static void add_all_dropped(struct shapeproof_check *check, const char *const *names, size_t count, bool whole,
                            struct shapeproof_cause *cause)
{
    const char *last = "";
    for (size_t i = 0; i < count; i++) {
        const size_t layer = whole ? sp_layer_end(names[i], SP_LAYERS) : 0;
        if (layer && strncmp(last, names[i], layer) == 0 && !last[layer]) continue;
        last = layer ? sp_arena_copy(&check->arena, names[i], layer) : names[i];
        add_dropped(check, last, layer ? "is promised, and no tensor of it is there" : "is promised, and not there",
                    cause);
    }
    cause->explains = count;
}

/* Layers of multi-token prediction that the configuration has and the file lacks, all of them or some. */
static void explain_dropped_layers(struct shapeproof_check *check)
{
    const size_t total = shapeproof_prediction_count(check->prediction);
    const char **absent = sp_realloc(NULL, total, sizeof *absent);
    size_t count = 0, present = 0;
    for (size_t i = 0; i < total; i++) {
        if (!is_for_multi_token(check, i)) continue;
        if (check->match.tensor_of[i] != SHAPEPROOF_NONE) present++;
        else absent[count++] = shapeproof_prediction_tensor(check->prediction, i)->name;
    }
    if (count) {
        struct shapeproof_cause cause = sp_cause_of(SP_CAUSE_MULTI_TOKEN);
        const char *configured = how_many_configured(check, &cause);
        if (!present) cause.severity = SHAPEPROOF_SEVERITY_NOTE;
        cause.message = present ? sp_arena_printf(&check->arena, "%s, the file has a part of these layers: it lacks %s",
                                                  configured, sp_some_names(&check->arena, absent, count))
                                : sp_arena_printf(&check->arena, "%s, the file has none of these layers (%s)",
                                                  configured, sp_count_of(&check->arena, count, "tensor"));
        add_all_dropped(check, absent, count, !present, sp_check_add_cause(check, cause));
    }
    free(absent);
}

void sp_explain_multi_token(struct shapeproof_check *check)
{
    explain_unknown_layers(check);
    explain_dropped_layers(check);
}
