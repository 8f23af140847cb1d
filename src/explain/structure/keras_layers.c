/* SPDX-License-Identifier: MIT
 * Layers of a Keras model of which the file has nothing. Their names need no numbers, by which layers are known
 * elsewhere; and it is said before a flag is tried, which would do without a part of each. */
#include <stdlib.h>
#include <string.h>

#include "config/variables.h"
#include "explain/gather.h"

/* How much of the name that the table has is that of the layer: "digit", "layers/dense_1", of a model within the model
 * "layers/sequential/layers/dense". */
static size_t layer_end(const struct sp_variables *variables, const char *name)
{
    const size_t list = strlen(variables->list);
    size_t end = strcspn(name, "/");
    while (variables->numbered && strncmp(name + end, "/", 1) == 0) {
        end += 1 + strcspn(name + end + 1, "/");
        if (strncmp(name + end, "/", 1) != 0 || strncmp(name + end + 1, variables->list, list) != 0 ||
            name[end + 1 + list] != '/')
            break;
        end += 1 + list;
    }
    return end;
}

struct gone_layer {
    const struct sp_variables *variables;
    const char *name; /* of a tensor in it */
    size_t length;
};

static bool is_of_gone(const struct shapeproof_check *check, const struct shapeproof_finding *finding,
                       const void *context)
{
    const struct gone_layer *gone = context;
    if (!sp_finding_is_open_as(finding, SHAPEPROOF_FINDING_MISSING) || finding->predicted == SHAPEPROOF_NONE)
        return false;
    const char *name = sp_prediction_own_name(check->prediction, finding->predicted);
    return strncmp(name, gone->name, gone->length) == 0 && name[gone->length] == '/';
}

/* Whether the file has nothing of the layer, and the model more than one tensor. */
static bool is_gone_layer(const struct shapeproof_check *check, const struct gone_layer *gone)
{
    size_t count = 0;
    for (size_t i = 0; i < shapeproof_prediction_count(check->prediction); i++) {
        const char *name = sp_prediction_own_name(check->prediction, i);
        if (strncmp(name, gone->name, gone->length) != 0 || name[gone->length] != '/') continue;
        if (sp_is_stored(check, i)) return false;
        count++;
    }
    return count > 1;
}

static void explain_gone_layer(struct shapeproof_check *check, const struct gone_layer *gone)
{
    if (!is_gone_layer(check, gone)) return;
    struct shapeproof_cause *cause = sp_gather(check, SP_CAUSE_LAYERS_MISSING, is_of_gone, gone);
    if (!cause) return;
    cause->message = sp_arena_printf(&check->arena, "%.*s is missing altogether (%s)", (int)gone->length, gone->name,
                                     sp_tensors_of(check, cause));
    cause->hint = "take a file with all layers, or build a model without these";
}

void sp_explain_keras_layers(struct shapeproof_check *check)
{
    const struct sp_variables *variables = check->config->variables;
    if (!variables || !sp_check_matched(check) || sp_check_open_both(check)) return;
    for (size_t i = 0; i < check->finding_count; i++) {
        const struct shapeproof_finding *finding = &check->findings[i];
        if (!sp_finding_is_open_as(finding, SHAPEPROOF_FINDING_MISSING) || finding->predicted == SHAPEPROOF_NONE)
            continue;
        const char *name = sp_prediction_own_name(check->prediction, finding->predicted);
        explain_gone_layer(check, &(struct gone_layer){variables, name, layer_end(variables, name)});
    }
}
