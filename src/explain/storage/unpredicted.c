/* SPDX-License-Identifier: MIT
 * Layers of a Keras model whose weights cannot be predicted: of a class that there is no table for, or given what the
 * configuration does not tell. Nothing is said of their tensors but that they are theirs. */
#include <inttypes.h>

#include "config/variables.h"
#include "explain/gather.h"

struct wanted_layer {
    const struct sp_variables *variables;
    size_t layer;
};

static bool is_of_layer(const struct shapeproof_check *check, const struct shapeproof_finding *finding,
                        const void *context)
{
    const struct wanted_layer *wanted = context;
    (void)check;
    return sp_finding_is_open_as(finding, SHAPEPROOF_FINDING_UNEXPECTED) &&
           sp_variables_unpredicted(wanted->variables, finding->name) == wanted->layer;
}

/* ": its 3 tensors, 43 elements, are not predicted" */
static const char *size_said(struct shapeproof_check *check, const struct shapeproof_cause *cause, size_t index)
{
    struct sp_text text = {0};
    uint64_t elements = 0; /* at most the inventory's total */
    if (!cause->explains) return ": of its weights none is predicted, and none is in the file";
    for (size_t i = 0; i < check->finding_count; i++)
        if (check->findings[i].cause == index)
            elements += shapeproof_inventory_tensor(check->inventory, check->findings[i].tensor)->parameters;
    sp_text_printf(&text, ": its %s, ", sp_tensors_of(check, cause));
    sp_text_grouped(&text, elements);
    sp_text_printf(&text, " element%s, %s not predicted", elements == 1 ? "" : "s",
                   cause->explains == 1 ? "is" : "are");
    return sp_text_keep(&text, &check->arena);
}

static void explain_layer(struct shapeproof_check *check, const struct sp_variables *variables, size_t layer)
{
    const struct sp_unpredicted *said = &variables->unpredicted.items[layer];
    const struct wanted_layer wanted = {variables, layer};
    struct shapeproof_cause *cause = sp_gather(check, SP_CAUSE_UNPREDICTED, is_of_layer, &wanted);
    if (!cause && said->is_quiet) return;
    if (!cause) cause = sp_blame(check, SP_CAUSE_UNPREDICTED);
    const size_t index = (size_t)(cause - check->causes);
    cause->untold = true;
    if (!cause->explains && !said->has_weights) cause->severity = SHAPEPROOF_SEVERITY_NOTE; /* it may need none */
    cause->message =
        sp_arena_printf(&check->arena, "the %s '%s' is of the class %s, and %s%s", said->is_model ? "model" : "layer",
                        said->layer, said->class_name, said->why, size_said(check, cause, index));
}

void sp_explain_unpredicted(struct shapeproof_check *check)
{
    const struct sp_variables *variables = check->config->variables;
    for (size_t i = 0; variables && i < variables->unpredicted.count; i++) explain_layer(check, variables, i);
}
