/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "check/quantised.h"
#include "stored/suffixes.h"

/* One tensor of the file under one of the names that it may stand for. */
struct reading {
    struct sp_file_storage *storage;
    const struct sp_part_suffixes *members;
    struct sp_part_suffixes beside; /* of experts in one tensor */
    const struct shapeproof_tensor *tensor;
};

static void note_storage(struct sp_file_storage *storage, const struct sp_text *module, enum sp_stored stored)
{
    const size_t known = sp_map_get(&storage->modules, module->data);
    if (known == SP_STORED_PACKED || known == (size_t)stored) return;
    storage->packed += stored == SP_STORED_PACKED;
    sp_map_set(&storage->modules, sp_arena_copy(&storage->arena, module->data, module->length), stored);
}

/* What is told of a module; none of it, when that is new. */
static uint64_t *told_of_module(struct sp_file_storage *storage, const char *module)
{
    size_t place = sp_map_get(&storage->told, module);
    if (place == SIZE_MAX) {
        place = storage->told_sizes.count;
        sp_map_set(&storage->told, module, place);
        memset(SP_PUSH(&storage->told_sizes), 0, sizeof *storage->told_sizes.items);
    }
    return storage->told_sizes.items[place].of;
}

/* What the tensor tells of the module that it belongs to. */
static void note_told(struct sp_file_storage *storage, const struct shapeproof_tensor *tensor, const char *name)
{
    uint64_t sizes[SP_TOLD_COUNT] = {0};
    const char *state = strstr(name, ".weight.quant_state."), *dot = state ? state : strrchr(name, '.');
    if (!dot) return;
    sp_told_note(sizes, dot + 1, tensor->shape, tensor->rank);
    for (size_t i = 0; i < SP_TOLD_COUNT; i++)
        if (sizes[i]) told_of_module(storage, sp_arena_copy(&storage->arena, name, (size_t)(dot - name)))[i] = sizes[i];
}

/* Notes for one tensor's name whether its module is stored packed or plain: packed when the name ends like a part
 * of the scheme (qweight, scales ...), and for a plain `weight` when its dtype is one of packed numbers. */
static size_t read_name(const void *context, const char *name)
{
    const struct reading *reading = context;
    const struct sp_part_suffixes *members = reading->members;
    struct sp_text module = {0};
    bool member = false;
    for (size_t i = 0; i < members->count && !member; i++) {
        member = sp_strip_suffix(&module, name, members->stacked ? "" : ".", members->name[i]);
        if (member) note_storage(reading->storage, &module, SP_STORED_PACKED);
    }
    const struct sp_part_suffixes *beside = &reading->beside;
    for (size_t i = 0; i < beside->count && !member; i++) {
        member = sp_strip_suffix(&module, name, "", beside->name[i]);
        if (member) note_storage(reading->storage, &module, SP_STORED_PACKED);
    }
    if (!member && members->stacked) {
        sp_text_puts(&module, name);
        note_storage(reading->storage, &module, SP_STORED_PLAIN);
    } else if (!member && sp_strip_suffix(&module, name, ".", "weight")) {
        note_storage(reading->storage, &module, sp_looks_packed(reading->tensor) ? SP_STORED_PACKED : SP_STORED_PLAIN);
    } else if (!member && beside->stacked && reading->tensor->rank == 3) {
        sp_text_puts(&module, name);
        note_storage(reading->storage, &module, sp_looks_packed(reading->tensor) ? SP_STORED_PACKED : SP_STORED_PLAIN);
    }
    note_told(reading->storage, reading->tensor, name);
    sp_text_free(&module);
    return SHAPEPROOF_NONE;
}

static enum sp_stored ask_storage(const struct sp_storage *storage, const char *module)
{
    const size_t known = sp_map_get(&((const struct sp_file_storage *)storage)->modules, module);
    return known == SIZE_MAX ? SP_STORED_NOWHERE : (enum sp_stored)known;
}

static const uint64_t *what_is_told(const struct sp_storage *storage, const char *module)
{
    const struct sp_file_storage *file = (const struct sp_file_storage *)storage;
    const size_t known = sp_map_get(&file->told, module);
    return known == SIZE_MAX ? NULL : file->told_sizes.items[known].of;
}

void sp_file_storage_read(struct sp_file_storage *storage, const struct sp_unit *part, const struct sp_unit *beside,
                          const struct shapeproof_inventory *inventory, const struct sp_naming *naming)
{
    struct sp_part_suffixes members;
    *storage = (struct sp_file_storage){.storage = {ask_storage, what_is_told}};
    sp_part_suffixes_of(&members, part);
    struct reading reading = {.storage = storage, .members = &members};
    if (beside) sp_part_suffixes_of(&reading.beside, beside);
    reading.beside.stacked = beside != NULL;
    struct sp_finder finder = {.naming = naming, .find = read_name, .context = &reading};
    for (size_t i = 0; i < shapeproof_inventory_count(inventory); i++) {
        unsigned renaming;
        reading.tensor = shapeproof_inventory_tensor(inventory, i);
        if (!(reading.tensor->flags & SHAPEPROOF_TENSOR_STATE))
            sp_finder_find(&finder, reading.tensor->name, &renaming);
    }
    sp_finder_free(&finder);
}

void sp_file_storage_free(struct sp_file_storage *storage)
{
    sp_map_free(&storage->modules);
    sp_map_free(&storage->told);
    free(storage->told_sizes.items);
    sp_arena_free(&storage->arena);
}
