/* SPDX-License-Identifier: MIT
 * Layers for multi-token prediction: beside a model that does not know them, or promised and not there. */
#include <stdlib.h>
#include <string.h>

#include "explain/gather.h"
#include "match/multi_token.h"
#include "names/components.h"

/* Whether a component of the name is that one. */
static bool has_component(const char *name, const char *component)
{
    for (struct sp_component_walk part = {.rest = name}; sp_component_next(&part, ".");)
        if (sp_is_component(part.text, part.length, component)) return true;
    return false;
}

/* Whether the name is one that files give to layers for multi-token prediction. */
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

/* One cause for such layers in the file that the table does not have. */
static void explain_unknown_layers(struct shapeproof_check *check)
{
    struct shapeproof_cause *cause = sp_gather(check, SP_CAUSE_MULTI_TOKEN, is_unknown_layer, NULL);
    if (cause)
        sp_cause_set_message(check, cause,
                             "the file has layers for multi-token prediction, which the model itself does not use");
}

/* "num_nextn_predict_layers is 1 in config.json"; the cause gets that hyper-parameter, if the table has it. */
static const char *how_many_configured(struct shapeproof_check *check, struct shapeproof_cause *cause)
{
    const size_t key = sp_find_hyperparameter(check->prediction, "num_nextn_predict_layers");
    if (key == SHAPEPROOF_NONE) return "the model is predicted with layers for multi-token prediction";
    const struct shapeproof_hyperparameter hyper = *shapeproof_prediction_hyperparameter(check->prediction, key);
    cause->hyperparameter = hyper.name;
    cause->configured = hyper.value;
    return sp_said(check, hyper);
}

/* Adds the finding that a tensor, or a whole layer, is promised and lacking, explained by the cause. */
static void add_dropped(struct shapeproof_check *check, const char *name, const char *message,
                        const struct shapeproof_cause *cause)
{
    sp_check_add_lacking(check, name, shapeproof_prediction_find(check->prediction, name), cause->severity, message);
    sp_attribute_finding(check, check->finding_count - 1, cause);
}

static void add_dropped_tensors(struct shapeproof_check *check, const char *const *names, size_t count,
                                const struct shapeproof_cause *cause)
{
    for (size_t i = 0; i < count; i++)
        add_dropped(check, names[i], "is announced by the configuration, but missing", cause);
}

/* One finding for each layer that the tensors are in, and one for each tensor that is in no layer. Tensors of a layer
 * follow each other. */
static void add_dropped_layers(struct shapeproof_check *check, const char *const *names, size_t count,
                               const struct shapeproof_cause *cause)
{
    const char *last = ""; /* the layer of the last finding */
    for (size_t i = 0; i < count; i++) {
        const size_t length = sp_layer_end(names[i], SP_LAYERS);
        if (!length) {
            last = names[i];
            add_dropped(check, last, "is announced by the configuration, but missing", cause);
        } else if (strncmp(last, names[i], length) != 0 || last[length]) {
            last = sp_arena_copy(&check->arena, names[i], length);
            add_dropped(check, last, "is announced by the configuration, but all its tensors are missing", cause);
        }
    }
}

/* One cause for layers of multi-token prediction that the configuration has and the file lacks. If it has none of them,
 * which is usual, that is a note; if it has a part of them, a warning, which lists the missing tensors. The cause
 * counts tensors in either case. */
static void explain_dropped_layers(struct shapeproof_check *check)
{
    const size_t total = shapeproof_prediction_count(check->prediction);
    const char **absent = sp_realloc(NULL, total, sizeof *absent);
    size_t count = 0, present = 0;
    for (size_t i = 0; i < total; i++) {
        if (!sp_is_for_multi_token(check->prediction, i)) continue;
        if (check->match.tensor_of[i] != SHAPEPROOF_NONE) present++;
        else absent[count++] = shapeproof_prediction_tensor(check->prediction, i)->name;
    }
    if (count) {
        struct shapeproof_cause cause = sp_cause_of(SP_CAUSE_MULTI_TOKEN);
        const char *configured = how_many_configured(check, &cause);
        if (!present) cause.severity = SHAPEPROOF_SEVERITY_NOTE;
        cause.message = present ? sp_arena_printf(&check->arena,
                                                  "%s, but the file has only a part of these layers: "
                                                  "it lacks %s",
                                                  configured, sp_some_names(&check->arena, absent, count))
                                : sp_arena_printf(&check->arena, "%s, but the file has none of these layers (%s)",
                                                  configured, sp_count_of(&check->arena, count, "tensor"));
        struct shapeproof_cause *added = sp_check_add_cause(check, cause);
        if (present) add_dropped_tensors(check, absent, count, added);
        else add_dropped_layers(check, absent, count, added);
        added->explains = count;
    }
    sp_free(absent);
}

void sp_explain_multi_token(struct shapeproof_check *check)
{
    explain_unknown_layers(check);
    explain_dropped_layers(check);
}
