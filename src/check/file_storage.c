/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "check/quantised.h"
#include "stored/suffixes.h"

/* What read_name needs besides a name. */
struct reading {
    struct sp_file_storage *storage;         /* which is filled */
    const struct sp_part_suffixes *suffixes; /* of the method: "qweight", "scales" */
    struct sp_part_suffixes beside;          /* those behind experts in one tensor; empty where there is no such part */
    const struct shapeproof_tensor *tensor;  /* whose name it is */
};

/* A module that is packed by one of its tensors stays packed, whatever the others look like. */
static void note_storage(struct sp_file_storage *storage, const struct sp_text *module, enum sp_stored stored)
{
    const size_t known = sp_map_get(&storage->modules, module->data);
    if (known == SP_STORED_PACKED || known == (size_t)stored) return;
    storage->packed += stored == SP_STORED_PACKED;
    sp_map_set(&storage->modules, sp_arena_copy(&storage->arena, module->data, module->length), stored);
}

/* The sizes that the file tells of a module (sp_told), all 0 for a module that is new. */
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

/* Notes the sizes that a tensor tells of the module that it belongs to, which its name has in front of the last dot. */
static void note_told(struct sp_file_storage *storage, const struct shapeproof_tensor *tensor, const char *name)
{
    uint64_t sizes[SP_TOLD_COUNT] = {0};
    const char *state = strstr(name, ".weight.quant_state."), *dot = state ? state : strrchr(name, '.');
    if (!dot) return;
    sp_told_note(sizes, dot + 1, tensor->shape, tensor->rank);
    for (size_t i = 0; i < SP_TOLD_COUNT; i++)
        if (sizes[i]) told_of_module(storage, sp_arena_copy(&storage->arena, name, (size_t)(dot - name)))[i] = sizes[i];
}

/* Puts the name without one of the suffixes into `module`; false when it ends with none of them. */
static bool strip_any_suffix(struct sp_text *module, const char *name, const char *dot,
                             const struct sp_part_suffixes *suffixes)
{
    for (size_t i = 0; i < suffixes->count; i++)
        if (sp_strip_suffix(module, name, dot, suffixes->name[i])) return true;
    return false;
}

/* Notes whether the module of a tensor is stored packed or plain, by the tensor's name:
 *
 *     "lm_head.qweight"          packed   a suffix of the method
 *     "experts.up_proj_scales"   packed   a suffix behind experts in one tensor
 *     "lm_head.weight"           plain, or packed if its dtype is one of packed numbers
 *     "experts.up_proj"          the same, for a tensor of rank 3 of a method that has a part for experts
 *
 * It is the `find` of a finder, which calls it for every name that the tensor may stand for as long as nothing is
 * found; so it returns SHAPEPROOF_NONE always. */
static size_t read_name(const void *context, const char *name)
{
    const struct reading *reading = context;
    const struct sp_part_suffixes *suffixes = reading->suffixes, *beside = &reading->beside;
    const enum sp_stored by_dtype = sp_looks_packed(reading->tensor) ? SP_STORED_PACKED : SP_STORED_PLAIN;
    struct sp_text module = {0};
    if (strip_any_suffix(&module, name, suffixes->stacked ? "" : ".", suffixes) ||
        strip_any_suffix(&module, name, "", beside)) {
        note_storage(reading->storage, &module, SP_STORED_PACKED);
    } else if (suffixes->stacked) { /* names of experts do not end with "weight" */
        sp_text_puts(&module, name);
        note_storage(reading->storage, &module, SP_STORED_PLAIN);
    } else if (sp_strip_suffix(&module, name, ".", "weight")) {
        note_storage(reading->storage, &module, by_dtype);
    } else if (beside->stacked && reading->tensor->rank == 3) {
        sp_text_puts(&module, name);
        note_storage(reading->storage, &module, by_dtype);
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

static const uint64_t *told_sizes_of(const struct sp_storage *storage, const char *module)
{
    const struct sp_file_storage *file = (const struct sp_file_storage *)storage;
    const size_t known = sp_map_get(&file->told, module);
    return known == SIZE_MAX ? NULL : file->told_sizes.items[known].of;
}

void sp_file_storage_read(struct sp_file_storage *storage, const struct sp_unit *part, const struct sp_unit *beside,
                          const struct shapeproof_inventory *inventory, const struct sp_naming *naming)
{
    struct sp_part_suffixes suffixes;
    *storage = (struct sp_file_storage){.storage = {ask_storage, told_sizes_of}};
    sp_part_suffixes_of(&suffixes, part);
    struct reading reading = {.storage = storage, .suffixes = &suffixes};
    if (beside) sp_part_suffixes_of(&reading.beside, beside);
    reading.beside.stacked = beside != NULL;
    struct sp_finder finder = {.naming = naming, .find = read_name, .context = &reading};
    for (size_t i = 0; i < shapeproof_inventory_count(inventory); i++) {
        unsigned renaming; /* of no interest here */
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
    sp_free(storage->told_sizes.items);
    sp_arena_free(&storage->arena);
}
