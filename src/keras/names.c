/* SPDX-License-Identifier: MIT
 * How a file calls the variables. A .keras archive and a .weights.h5 number them, below the names of classes. An .h5
 * has a group for each layer, and in it the scopes that were open when the layer was built. */
#include <stdlib.h>

#include "base/chars.h"
#include "keras/model.h"
#include "model/format.h"

static bool any_name(const struct shapeproof_inventory *inventory, const char *front, const char *end)
{
    for (size_t i = 0; i < shapeproof_inventory_count(inventory); i++) {
        const char *name = shapeproof_inventory_tensor(inventory, i)->name;
        if (strncmp(name, front, strlen(front)) == 0 && sp_ends_with(name, end)) return true;
    }
    return false;
}

static bool any_name_within(const struct shapeproof_inventory *inventory, const char *part)
{
    for (size_t i = 0; i < shapeproof_inventory_count(inventory); i++)
        if (strstr(shapeproof_inventory_tensor(inventory, i)->name, part)) return true;
    return false;
}

static void gather_files(struct sp_variable_group *group, const struct shapeproof_inventory *inventory)
{
    const size_t front = strlen(group->front);
    for (size_t i = 0; i < shapeproof_inventory_count(inventory); i++) {
        const struct shapeproof_tensor *tensor = shapeproof_inventory_tensor(inventory, i);
        if (!(tensor->flags & SHAPEPROOF_TENSOR_STATE) && strncmp(tensor->name, group->front, front) == 0)
            *SP_PUSH(&group->files) = tensor->name;
    }
}

static void add_groups(struct sp_arena *arena, struct sp_variables *variables, const struct sp_keras_model *model,
                       const struct shapeproof_inventory *inventory)
{
    for (size_t i = 0; i < model->count; i++) {
        const struct sp_keras_kind *kind = &model->layers[i].kind;
        struct sp_variable_group group = {.name = kind->key,
                                          .front = sp_arena_printf(arena, "%s%s/", variables->front, kind->name)};
        gather_files(&group, inventory);
        sp_map_add(&variables->group_names, group.name, variables->groups.count);
        *SP_PUSH(&variables->groups) = group;
    }
}

static const char checkpointed[] = "_layer_checkpoint_dependencies";

struct sp_variables *sp_keras_name_variables(struct sp_arena *arena, const struct sp_keras_model *model,
                                             const struct shapeproof_inventory *inventory)
{
    struct sp_variables *variables = sp_arena_alloc(arena, sizeof *variables);
    const bool from_keras = inventory && sp_format_has(inventory, SP_BY_KERAS);
    *variables = (struct sp_variables){.front = "", .suffix = "", .list = "layers"};
    variables->numbered = from_keras && sp_format_has(inventory, SP_NUMBERED);
    if (variables->numbered && any_name(inventory, checkpointed, "")) variables->list = checkpointed; /* Keras 2.12 */
    variables->hidden = variables->numbered && any_name_within(inventory, "/_query_dense/");          /* Keras 2 */
    if (!from_keras || variables->numbered) return variables;
    if (any_name(inventory, "model_weights/", "")) variables->front = "model_weights/";
    if (any_name(inventory, variables->front, ":0")) variables->suffix = ":0";
    add_groups(arena, variables, model, inventory);
    return variables;
}
