/* SPDX-License-Identifier: MIT
 * What DeepSpeed saves of a model, "mp_rank_00_model_states.pt":
 *
 *   {"module": a state dict, "param_shapes": [{name: shape}, ...], "frozen_param_shapes": {name: shape},
 *    "shared_params": {name: the name that has the shape}, "buffer_names": [...], ...}
 *
 * Stage 3 of ZeRO divides each parameter among the ranks, and leaves an empty tensor in the state dict. The data is in
 * the files of the optimizer, and the shape is in this one. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/chars.h"
#include "read/torch/torch.h"

static const char module_prefix[] = "module.";

struct shapes {
    struct sp_map names; /* name -> where its shape is in `sizes` */
    SP_ARRAY(const struct sp_pickle_value *) sizes;
    struct sp_map shared; /* name -> where the other name is in `others` */
    SP_ARRAY(const char *) others;
    struct sp_text key;
};

/* A dict, or the pairs of an OrderedDict. */
static const struct sp_pickle_value *pairs_of(const struct sp_pickle_value *value)
{
    if (sp_pickle_is(value, SP_PICKLE_DICT)) return value;
    return sp_pickle_is(value, SP_PICKLE_OBJECT) ? value->as.object->pairs : NULL;
}

/* Both are also in what somebody has put together from it, whose empty tensors may be what they say. */
static bool has_param_shapes(const struct sp_pickle_value *root)
{
    return sp_pickle_get(root, "module") && sp_pickle_get(root, "param_shapes");
}

/* Other words of its own for what it has saved, or the name that it gives the file. */
static bool is_model_states(const struct sp_torch *torch, const struct sp_pickle_value *root)
{
    static const char *const words[] = {"buffer_names",  "frozen_param_shapes", "shared_params",
                                        "dp_world_size", "mp_world_size",       "ds_config"};
    const struct shapeproof_inventory *inventory = torch->inventory;
    const char *file = torch->file < inventory->file_count ? sp_base_name(inventory->files[torch->file]) : "";
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (sp_pickle_get(root, words[i])) return true;
    return sp_ends_with(file, "_model_states.pt");
}

static const char *spell_name_of(struct sp_torch *torch, struct shapes *shapes, const struct sp_pickle_value *key)
{
    shapes->key.length = 0;
    sp_text_puts(&shapes->key, "");
    if (!sp_torch_put_key(&shapes->key, key, 0)) return NULL;
    return sp_arena_copy(&torch->arena, shapes->key.data, shapes->key.length);
}

static bool note_dict(struct sp_torch *torch, struct shapes *shapes, const struct sp_pickle_value *dict,
                      struct shapeproof_error *error)
{
    const struct sp_pickle_value *pairs = pairs_of(dict);
    for (uint32_t i = 0; pairs && i + 1 < pairs->length; i += 2) {
        const char *name = spell_name_of(torch, shapes, pairs->as.items[i]);
        if (shapes->sizes.count >= SP_MAX_TENSORS || torch->arena.used / 2 > SP_PICKLE_MAX_MEMORY)
            return sp_fail(error, SHAPEPROOF_ERR_FILE, SHAPEPROOF_KIND_LIMIT, "more than %d shapes in param_shapes",
                           SP_MAX_TENSORS);
        if (name) sp_map_add(&shapes->names, name, shapes->sizes.count);
        *SP_PUSH(&shapes->sizes) = pairs->as.items[i + 1];
    }
    return true;
}

/* One dict for each group of parameters; of old versions a single one. */
static bool note_groups(struct sp_torch *torch, struct shapes *shapes, const struct sp_pickle_value *groups,
                        struct shapeproof_error *error)
{
    const bool is_list = sp_pickle_is(groups, SP_PICKLE_LIST) || sp_pickle_is(groups, SP_PICKLE_TUPLE);
    if (!is_list) return note_dict(torch, shapes, groups, error);
    for (uint32_t i = 0; i < groups->length; i++)
        if (!note_dict(torch, shapes, groups->as.items[i], error)) return false;
    return true;
}

static void note_shared(struct sp_torch *torch, struct shapes *shapes, const struct sp_pickle_value *shared)
{
    const struct sp_pickle_value *pairs = pairs_of(shared);
    for (uint32_t i = 0; pairs && i + 1 < pairs->length && shapes->others.count < SP_MAX_TENSORS; i += 2) {
        const char *name = spell_name_of(torch, shapes, pairs->as.items[i]);
        const char *other = spell_name_of(torch, shapes, pairs->as.items[i + 1]);
        if (!name || !other || torch->arena.used / 2 > SP_PICKLE_MAX_MEMORY) continue;
        sp_map_add(&shapes->shared, name, shapes->others.count);
        *SP_PUSH(&shapes->others) = other;
    }
}

/* The shape of a parameter, and the name that stands for the storage. NULL when there is none. */
static const struct sp_pickle_value *shape_of(const struct shapes *shapes, const char **name)
{
    const size_t shared = sp_map_get(&shapes->shared, *name);
    size_t found = sp_map_get(&shapes->names, *name);
    if (found == SIZE_MAX && shared != SIZE_MAX) {
        *name = shapes->others.items[shared];
        found = sp_map_get(&shapes->names, *name);
    }
    return found == SIZE_MAX ? NULL : shapes->sizes.items[found];
}

/* Empty, or of older versions a single element. */
static bool is_placeholder_tensor(const struct shapeproof_tensor *tensor)
{
    return tensor->rank == 1 && tensor->shape[0] <= 1 &&
           strncmp(tensor->name, module_prefix, strlen(module_prefix)) == 0;
}

/* Whether the shapes have another one for the tensor than its own, so that it is a placeholder. With `restore` it
 * becomes the tensor that it stands for: with that shape, without data, and with a storage of its own that tensors
 * which share the parameter have in common. */
static bool restore_shape(struct sp_torch *torch, const struct shapes *shapes, struct shapeproof_tensor *tensor,
                          bool restore)
{
    struct sp_arena *arena = &torch->inventory->arena;
    struct sp_torch_tensor whole = {0};
    struct shapeproof_error ignored = {0};
    const char *name = tensor->name + strlen(module_prefix);
    const struct sp_pickle_value *size = shape_of(shapes, &name);
    if (!size || !sp_torch_shape(size, &whole, &ignored)) return false;
    struct shapeproof_tensor restored = *tensor;
    uint64_t *shape = sp_arena_array(arena, whole.rank, sizeof *shape);
    if (whole.rank) memcpy(shape, whole.shape, whole.rank * sizeof *shape);
    restored.rank = whole.rank;
    restored.shape = shape;
    restored.stride = NULL;
    restored.flags |= SHAPEPROOF_TENSOR_NO_DATA;
    restored.data_begin = restored.data_end = restored.offset = 0;
    restored.storage = sp_arena_printf(arena, "param_shapes/%s", name);
    if (!sp_tensor_measure(&restored) || restored.parameters == tensor->parameters) return false;
    if (restore) *tensor = restored;
    return true;
}

static void note_rank_count(struct shapeproof_inventory *inventory, const struct sp_pickle_value *dict, const char *key)
{
    const struct sp_pickle_value *value = sp_pickle_get(dict, key);
    char text[32];
    if (!sp_pickle_is(value, SP_PICKLE_INT)) return;
    snprintf(text, sizeof text, "%" PRId64, value->as.integer);
    sp_inventory_add_metadata(inventory, key, text);
}

/* How many ranks there are: of DeepSpeed at the root, of Megatron among the arguments of the command. Those have a
 * number of query groups whether or not there are any. */
static void note_ranks(struct sp_torch *torch, const struct sp_pickle_value *root)
{
    const struct sp_pickle_value *args = sp_pickle_get(root, "args");
    if (has_param_shapes(root)) {
        note_rank_count(torch->inventory, root, "mp_world_size");
        note_rank_count(torch->inventory, root, "dp_world_size");
    }
    if (!sp_pickle_get(root, "checkpoint_version") || !sp_pickle_is(args, SP_PICKLE_OBJECT)) return;
    note_rank_count(torch->inventory, args->as.object->state, "tensor_model_parallel_size");
    note_rank_count(torch->inventory, args->as.object->state, "pipeline_model_parallel_size");
    note_rank_count(torch->inventory, args->as.object->state, "expert_model_parallel_size");
    note_rank_count(torch->inventory, args->as.object->state, "expert_tensor_parallel_size");
    const struct sp_pickle_value *grouped = sp_pickle_get(args->as.object->state, "group_query_attention");
    if (sp_pickle_is(grouped, SP_PICKLE_BOOL) && grouped->as.integer)
        note_rank_count(torch->inventory, args->as.object->state, "num_query_groups");
}

/* Stage 3 of ZeRO leaves empty tensors in the model's file and their shapes in param_shapes. Gives such tensors
 * their shape, when the file is certainly of DeepSpeed; otherwise warns. */
static bool restore_shapes(struct sp_torch *torch, const struct sp_pickle_value *root, struct shapes *shapes,
                           size_t first, struct shapeproof_error *error)
{
    struct shapeproof_inventory *inventory = torch->inventory;
    const bool restore = is_model_states(torch, root);
    size_t empty = 0;
    if (!note_groups(torch, shapes, sp_pickle_get(root, "param_shapes"), error) ||
        !note_dict(torch, shapes, sp_pickle_get(root, "frozen_param_shapes"), error))
        return false;
    note_shared(torch, shapes, sp_pickle_get(root, "shared_params"));
    for (size_t i = first; i < inventory->count; i++)
        if (is_placeholder_tensor(&inventory->tensors[i]))
            empty += restore_shape(torch, shapes, &inventory->tensors[i], restore);
    if (restore) inventory->divided += empty;
    else if (empty)
        sp_inventory_warn(inventory,
                          "empty tensors with a shape in 'param_shapes' (%zu), as stage 3 of ZeRO leaves them: "
                          "nothing else shows that DeepSpeed wrote the file, so they are listed as empty",
                          empty);
    return true;
}

bool sp_torch_model_states(struct sp_torch *torch, const struct sp_pickle_value *root, size_t first,
                           struct shapeproof_error *error)
{
    struct shapes shapes = {0};
    bool ok = true;
    if (torch->count_only || !sp_pickle_is(root, SP_PICKLE_DICT)) return true;
    note_ranks(torch, root);
    if (has_param_shapes(root)) ok = restore_shapes(torch, root, &shapes, first, error);
    sp_map_free(&shapes.names);
    sp_map_free(&shapes.shared);
    sp_free(shapes.sizes.items);
    sp_free(shapes.others.items);
    sp_text_free(&shapes.key);
    return ok;
}
