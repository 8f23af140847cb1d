/* SPDX-License-Identifier: MIT
 * Layers of Keras that have other numbers than the table: conv3d_1 where conv3d is predicted. */
#include <stdlib.h>
#include <string.h>

#include "explain/gather.h"
#include "model/format.h"
#include "names/counters.h"

/* The predicted tensors, without optional ones that the file lacks. To be freed. */
static struct sp_variable *list_predicted(const struct shapeproof_check *check, size_t *count)
{
    struct sp_variable *variables = sp_realloc(NULL, shapeproof_prediction_count(check->prediction), sizeof *variables);
    *count = 0;
    for (size_t i = 0; i < shapeproof_prediction_count(check->prediction); i++) {
        const struct shapeproof_predicted *tensor = shapeproof_prediction_tensor(check->prediction, i);
        if (tensor->optional && check->match.tensor_of[i] == SHAPEPROOF_NONE) continue;
        variables[(*count)++] = (struct sp_variable){tensor->name, tensor->shape, tensor->rank, i};
    }
    return variables;
}

/* The variables of the model in the file. To be freed. */
static struct sp_variable *list_found(const struct shapeproof_check *check, size_t *count)
{
    struct sp_variable *variables = sp_realloc(NULL, shapeproof_inventory_count(check->inventory), sizeof *variables);
    *count = 0;
    for (size_t i = 0; i < shapeproof_inventory_count(check->inventory); i++) {
        const struct shapeproof_tensor *tensor = shapeproof_inventory_tensor(check->inventory, i);
        if (tensor->flags & (SHAPEPROOF_TENSOR_STATE | SHAPEPROOF_TENSOR_NO_SHAPE)) continue;
        variables[(*count)++] = (struct sp_variable){tensor->name, tensor->shape, tensor->rank, i};
    }
    return variables;
}

/* Which tensors have their counterpart under another number. */
struct moved {
    bool *predicted; /* for each predicted tensor */
    bool *tensors;   /* for each tensor of the file */
};

/* "the layers of the file are numbered otherwise: conv3d_{n} is conv3d_{n+12} (24 tensors)". */
static const char *describe_counters(struct shapeproof_check *check, const struct sp_counted *counted)
{
    enum { SHOWN = 3 };
    struct sp_text text = {0};
    for (size_t i = 0; i < counted->shift_count && i < SHOWN; i++)
        sp_text_printf(&text, "%s%s is %s", i ? ", " : "", counted->shifts[i].from, counted->shifts[i].to);
    if (counted->shift_count > SHOWN) sp_text_printf(&text, " and %zu more", counted->shift_count - SHOWN);
    const char *message = sp_arena_printf(&check->arena, "the layers have other numbers in the file: %s (%s)",
                                          text.data, sp_count_of(&check->arena, counted->pair_count, "tensor"));
    sp_text_free(&text);
    return message;
}

/* Whether an open finding is about such a tensor, on either side. */
static bool is_moved(const struct shapeproof_check *check, const struct shapeproof_finding *finding,
                     const void *context)
{
    const struct moved *moved = context;
    (void)check;
    return sp_finding_is_open(finding) &&
           ((finding->predicted != SHAPEPROOF_NONE && moved->predicted[finding->predicted]) ||
            (finding->tensor != SHAPEPROOF_NONE && moved->tensors[finding->tensor]));
}

static void explain_moved(struct shapeproof_check *check, const struct moved *moved, const struct sp_counted *counted)
{
    struct shapeproof_cause *cause = sp_gather(check, SP_CAUSE_COUNTERS, is_moved, moved);
    if (!cause) return;
    cause->message = describe_counters(check, counted);
    cause->hint = "load it by the order of its layers: by name, some layers would get the weights of others";
}

/* sp_count_layers pairs the variables of both sides by the order of the layers of each class, whatever their counters
 * are. One cause explains the findings about all that it pairs under other names. */
void sp_explain_counters(struct shapeproof_check *check)
{
    struct sp_counted counted = {.arena = &check->arena};
    size_t predicted_count, found_count;
    if (!sp_format_has(check->inventory, SP_BY_KERAS)) return;
    struct sp_variable *predicted = list_predicted(check, &predicted_count), *found = list_found(check, &found_count);
    sp_count_layers(&counted, predicted, predicted_count, found, found_count);
    struct moved moved = {
        sp_arena_array(&check->arena, shapeproof_prediction_count(check->prediction), sizeof *moved.predicted),
        sp_arena_array(&check->arena, shapeproof_inventory_count(check->inventory), sizeof *moved.tensors),
    };
    for (size_t i = 0; i < counted.pair_count; i++) {
        moved.predicted[counted.pairs[i].a] = true;
        moved.tensors[counted.pairs[i].b] = true;
    }
    if (counted.pair_count) explain_moved(check, &moved, &counted);
    sp_counted_free(&counted);
    sp_free(predicted);
    sp_free(found);
}
