/* SPDX-License-Identifier: MIT */
#include "infer/guise.h"

#include <stdlib.h>
#include <string.h>

#include "names/level.h"
#include "names/spelling.h"

void sp_guise_plain(struct sp_guise *guise, const struct sp_inventory *file)
{
    *guise = (struct sp_guise){.file = file, .inventory = file};
}

void sp_guise_free(struct sp_guise *guise)
{
    sp_inventory_close(guise->own);
    free(guise->seen_as);
    *guise = (struct sp_guise){0};
}

/* ---- making one ---- */

void sp_guise_begin(struct sp_guise *guise, const struct sp_inventory *file)
{
    *guise = (struct sp_guise){.file = file, .own = sp_inventory_new(sp_inventory_path(file))};
    guise->own->format = sp_inventory_format(file);
    for (size_t i = 0; i < sp_inventory_file_count(file); i++)
        sp_inventory_add_file(guise->own, sp_inventory_file(file, i));
    guise->inventory = guise->own;
    guise->seen_as = sp_realloc(NULL, sp_inventory_count(file), sizeof *guise->seen_as);
}

bool sp_guise_add(struct sp_guise *guise, size_t tensor, const char *name, const uint64_t *shape, uint32_t rank)
{
    struct sp_error error = {0};
    const struct sp_tensor *stored = sp_inventory_tensor(guise->file, tensor);
    struct sp_tensor *seen = sp_inventory_add(guise->own, &error);
    if (!seen) return false;
    *seen = *stored;
    seen->name = name;
    seen->shape = shape;
    seen->rank = rank;
    seen->same_as = SP_NONE;
    if (shape != stored->shape) seen->stride = NULL;
    guise->seen_as[tensor] = sp_inventory_count(guise->own) - 1;
    return sp_tensor_measure(seen);
}

bool sp_guise_end(struct sp_guise *guise)
{
    struct sp_error error = {0};
    if (sp_inventory_finish(guise->own, &error)) return true;
    sp_guise_free(guise);
    return false;
}

/* ---- as it was before it was quantised ---- */

/* In the arena of the guise. One whose shape nobody knows is a column. */
static bool add_matrix(struct sp_guise *guise, const struct sp_packed_module *module)
{
    const struct sp_matrix *matrix = &module->matrix;
    uint64_t *shape = sp_arena_array(&guise->own->arena, 3, sizeof *shape);
    const uint32_t rank = matrix->lead ? 3 : 2;
    shape[0] = matrix->lead;
    shape[rank - 2] = matrix->elements ? matrix->elements : matrix->rows;
    shape[rank - 1] = matrix->elements ? 1 : matrix->columns;
    if (!sp_guise_add(guise, module->tensors[0], module->name, shape, rank)) return false;
    const size_t seen = guise->seen_as[module->tensors[0]];
    guise->is_unpacked[seen] = true;
    guise->is_flat[seen] = matrix->elements != 0;
    for (size_t i = 1; i < module->count; i++) guise->seen_as[module->tensors[i]] = seen;
    return true;
}

/* The module of each tensor of the file, or SP_NONE; on the heap. */
static size_t *find_modules(const struct sp_inventory *file, const struct sp_unpacked *unpacked)
{
    const size_t count = sp_inventory_count(file);
    size_t *module_of = sp_realloc(NULL, count, sizeof *module_of);
    for (size_t i = 0; i < count; i++) module_of[i] = SP_NONE;
    for (size_t i = 0; i < unpacked->count; i++)
        for (size_t k = 0; k < unpacked->modules[i].count; k++) module_of[unpacked->modules[i].tensors[k]] = i;
    return module_of;
}

bool sp_guise_unpacked(struct sp_guise *guise, const struct sp_inventory *file, const struct sp_unpacked *unpacked)
{
    const size_t count = sp_inventory_count(file);
    size_t *module_of = find_modules(file, unpacked);
    bool good = true;
    sp_guise_begin(guise, file);
    guise->unpacked = unpacked;
    guise->is_unpacked = sp_arena_array(&guise->own->arena, count, sizeof *guise->is_unpacked);
    guise->is_flat = sp_arena_array(&guise->own->arena, count, sizeof *guise->is_flat);
    for (size_t i = 0; i < count && good; i++) {
        const struct sp_tensor *tensor = sp_inventory_tensor(file, i);
        const struct sp_packed_module *module = module_of[i] == SP_NONE ? NULL : &unpacked->modules[module_of[i]];
        if (!module) good = sp_guise_add(guise, i, tensor->name, tensor->shape, tensor->rank);
        else if (module->tensors[0] == i) good = add_matrix(guise, module);
    }
    free(module_of);
    if (good) return sp_guise_end(guise);
    sp_guise_free(guise);
    return false;
}

/* ---- the other way round ---- */

/* (in, out) as (out, in); of a convolution (h, w, in, out) as (out, in, h, w). In the arena. */
static const uint64_t *kernel_turned(struct sp_arena *arena, const struct sp_tensor *tensor)
{
    uint64_t *shape = sp_arena_array(arena, tensor->rank, sizeof *shape);
    shape[0] = tensor->shape[tensor->rank - 1];
    shape[1] = tensor->shape[tensor->rank - 2];
    memcpy(shape + 2, tensor->shape, (tensor->rank - 2) * sizeof *shape);
    return shape;
}

static bool is_kernel_name(const struct sp_spelling *spelling)
{
    return strcmp(spelling->leaf, "kernel") == 0 || strcmp(spelling->leaf, "vars/0") == 0;
}

static bool add_respelt(struct sp_guise *guise, const struct sp_level *level, size_t tensor)
{
    const struct sp_tensor *stored = sp_inventory_tensor(guise->file, tensor);
    const struct sp_spelling spelling = sp_spell(&guise->own->arena, sp_behind_level(level, stored->name));
    const bool turned = stored->rank >= 2 && is_kernel_name(&spelling);
    return sp_guise_add(guise, tensor, spelling.text,
                        turned ? kernel_turned(&guise->own->arena, stored) : stored->shape, stored->rank);
}

static bool is_any_slashed(const struct sp_inventory *file)
{
    for (size_t i = 0; i < sp_inventory_count(file); i++)
        if (strchr(sp_inventory_tensor(file, i)->name, '/')) return true;
    return false;
}

bool sp_guise_respelt(struct sp_guise *guise, const struct sp_inventory *file)
{
    if (!is_any_slashed(file)) return false;
    struct sp_level level = {.first = NULL};
    bool good = true;
    for (size_t i = 0; i < sp_inventory_count(file); i++) sp_level_note(&level, sp_inventory_tensor(file, i)->name);
    sp_level_find(&level);
    sp_guise_begin(guise, file);
    guise->is_respelt = true;
    for (size_t i = 0; i < sp_inventory_count(file) && good; i++) good = add_respelt(guise, &level, i);
    if (good) return sp_guise_end(guise);
    sp_guise_free(guise);
    return false;
}

/* The tensors are those of the base one by one: what was seen as one of them is seen as the same. */
static void inherit_guise(struct sp_guise *guise, const struct sp_guise *base)
{
    const size_t count = sp_inventory_count(base->file);
    guise->file = base->file;
    guise->is_respelt = base->is_respelt;
    guise->is_unpacked = base->is_unpacked;
    guise->is_flat = base->is_flat;
    guise->unpacked = base->unpacked;
    free(guise->seen_as);
    guise->seen_as = NULL;
    if (!base->seen_as) return;
    guise->seen_as = sp_realloc(NULL, count, sizeof *guise->seen_as);
    memcpy(guise->seen_as, base->seen_as, count * sizeof *guise->seen_as);
}

bool sp_guise_turned(struct sp_guise *guise, const struct sp_guise *base, const bool *turned)
{
    bool good = true;
    sp_guise_begin(guise, base->inventory);
    guise->is_turned = sp_arena_array(&guise->own->arena, sp_inventory_count(base->inventory), sizeof(bool));
    for (size_t i = 0; i < sp_inventory_count(base->inventory) && good; i++) {
        const struct sp_tensor *tensor = sp_inventory_tensor(base->inventory, i);
        const bool turns = turned[i] && tensor->rank == 2;
        good = sp_guise_add(guise, i, tensor->name, turns ? kernel_turned(&guise->own->arena, tensor) : tensor->shape,
                            tensor->rank);
        guise->is_turned[i] = turns;
        guise->turned += turns;
    }
    if (good) good = sp_guise_end(guise);
    else sp_guise_free(guise);
    if (good) inherit_guise(guise, base);
    return good;
}
