/* SPDX-License-Identifier: MIT */
#include "infer/view.h"

#include <stdlib.h>
#include <string.h>

#include "model/parametrised.h"
#include "names/level.h"
#include "names/spelling.h"

void sp_infer_view_plain(struct sp_infer_view *view, const struct shapeproof_inventory *file)
{
    *view = (struct sp_infer_view){.file = file, .inventory = file};
}

void sp_infer_view_free(struct sp_infer_view *view)
{
    shapeproof_inventory_close(view->own);
    sp_free(view->seen_as);
    *view = (struct sp_infer_view){0};
}

/* ---- making one ---- */

void sp_infer_view_begin(struct sp_infer_view *view, const struct shapeproof_inventory *file)
{
    *view = (struct sp_infer_view){.file = file, .own = sp_inventory_new(shapeproof_inventory_path(file))};
    view->own->format = file->format;
    for (size_t i = 0; i < shapeproof_inventory_file_count(file); i++)
        sp_inventory_add_file(view->own, shapeproof_inventory_file(file, i));
    view->inventory = view->own;
    view->seen_as = sp_realloc(NULL, shapeproof_inventory_count(file), sizeof *view->seen_as);
}

bool sp_infer_view_add(struct sp_infer_view *view, size_t tensor, const char *name, const uint64_t *shape,
                       uint32_t rank)
{
    struct shapeproof_error error = {0};
    const struct shapeproof_tensor *stored = shapeproof_inventory_tensor(view->file, tensor);
    struct shapeproof_tensor *seen = sp_inventory_add(view->own, &error);
    if (!seen) return false;
    *seen = *stored;
    seen->name = name;
    seen->shape = shape;
    seen->rank = rank;
    seen->same_as = SHAPEPROOF_NONE;
    if (shape != stored->shape) seen->stride = NULL;
    view->seen_as[tensor] = shapeproof_inventory_count(view->own) - 1;
    return sp_tensor_measure(seen);
}

bool sp_infer_view_end(struct sp_infer_view *view)
{
    struct shapeproof_error error = {0};
    if (sp_inventory_finish(view->own, &error)) return true;
    sp_infer_view_free(view);
    return false;
}

/* ---- as it was before it was quantised ---- */

/* Adds the matrix of a quantised module, as which all of its tensors are seen; if only the number of elements is known,
 * as a column of them (is_flat). */
static bool add_matrix(struct sp_infer_view *view, const struct sp_packed_module *module)
{
    const struct sp_matrix *matrix = &module->matrix;
    uint64_t *shape = sp_arena_array(&view->own->arena, 3, sizeof *shape);
    const uint32_t rank = matrix->lead ? 3 : 2;
    shape[0] = matrix->lead;
    shape[rank - 2] = matrix->elements ? matrix->elements : matrix->rows;
    shape[rank - 1] = matrix->elements ? 1 : matrix->columns;
    if (!sp_infer_view_add(view, module->tensors[0], module->name, shape, rank)) return false;
    const size_t seen = view->seen_as[module->tensors[0]];
    view->is_unpacked[seen] = true;
    view->is_flat[seen] = matrix->elements != 0;
    for (size_t i = 1; i < module->count; i++) view->seen_as[module->tensors[i]] = seen;
    return true;
}

/* The module of each tensor of the file, or SHAPEPROOF_NONE; on the heap. */
static size_t *find_modules(const struct shapeproof_inventory *file, const struct sp_unpacked *unpacked)
{
    const size_t count = shapeproof_inventory_count(file);
    size_t *module_of = sp_realloc(NULL, count, sizeof *module_of);
    for (size_t i = 0; i < count; i++) module_of[i] = SHAPEPROOF_NONE;
    for (size_t i = 0; i < unpacked->count; i++)
        for (size_t k = 0; k < unpacked->modules[i].count; k++) module_of[unpacked->modules[i].tensors[k]] = i;
    return module_of;
}

bool sp_infer_view_unpacked(struct sp_infer_view *view, const struct shapeproof_inventory *file,
                            const struct sp_unpacked *unpacked)
{
    const size_t count = shapeproof_inventory_count(file);
    size_t *module_of = find_modules(file, unpacked);
    bool good = true;
    sp_infer_view_begin(view, file);
    view->unpacked = unpacked;
    view->is_unpacked = sp_arena_array(&view->own->arena, count, sizeof *view->is_unpacked);
    view->is_flat = sp_arena_array(&view->own->arena, count, sizeof *view->is_flat);
    /* The matrix takes the place of the first tensor of its module; the other ones of the module have none. */
    for (size_t i = 0; i < count && good; i++) {
        const struct shapeproof_tensor *tensor = shapeproof_inventory_tensor(file, i);
        const struct sp_packed_module *module =
            module_of[i] == SHAPEPROOF_NONE ? NULL : &unpacked->modules[module_of[i]];
        if (!module) good = sp_infer_view_add(view, i, tensor->name, tensor->shape, tensor->rank);
        else if (module->tensors[0] == i) good = add_matrix(view, module);
    }
    sp_free(module_of);
    if (good) return sp_infer_view_end(view);
    sp_infer_view_free(view);
    return false;
}

/* ---- without parametrisations ---- */

/* Adds the weight that the parts are stored in place of, as which all of them are seen. */
static bool add_weight(struct sp_infer_view *view, const struct sp_parametrised *stored)
{
    const struct shapeproof_tensor *like = shapeproof_inventory_tensor(view->file, stored->like);
    const char *name = sp_arena_string(&view->own->arena, stored->weight);
    if (!sp_infer_view_add(view, stored->like, name, like->shape, like->rank)) return false;
    const size_t seen = view->seen_as[stored->like];
    view->is_computed[seen] = true;
    if (!view->parametrised) view->parametrised = sp_arena_string(&view->own->arena, stored->how);
    for (size_t i = 0; i < stored->count; i++) view->seen_as[stored->parts[i]] = seen;
    return true;
}

bool sp_infer_view_unparametrised(struct sp_infer_view *view, const struct shapeproof_inventory *file)
{
    struct sp_arena arena = {0};
    struct sp_parametrised *stored;
    const size_t count = shapeproof_inventory_count(file), weights = sp_parametrised_find(&arena, file, &stored);
    size_t *weight_of = sp_realloc(NULL, count, sizeof *weight_of), whole = 0;
    bool good = true;
    for (size_t i = 0; i < count; i++) weight_of[i] = SHAPEPROOF_NONE;
    for (size_t i = 0; i < weights; i++) {
        if (!stored[i].is_whole) continue;
        whole++;
        for (size_t k = 0; k < stored[i].count; k++) weight_of[stored[i].parts[k]] = i;
    }
    if (whole) {
        sp_infer_view_begin(view, file);
        view->is_computed = sp_arena_array(&view->own->arena, count, sizeof *view->is_computed);
    }
    /* A weight takes the place of its first part; the other ones have none. */
    for (size_t i = 0; whole && i < count && good; i++) {
        const struct shapeproof_tensor *tensor = shapeproof_inventory_tensor(file, i);
        const struct sp_parametrised *weight = weight_of[i] == SHAPEPROOF_NONE ? NULL : &stored[weight_of[i]];
        if (!weight) good = sp_infer_view_add(view, i, tensor->name, tensor->shape, tensor->rank);
        else if (weight->parts[0] == i) good = add_weight(view, weight);
    }
    sp_free(weight_of);
    sp_arena_free(&arena);
    if (whole && good) return sp_infer_view_end(view);
    if (whole) sp_infer_view_free(view);
    return false;
}

/* ---- the other way round ---- */

/* (in, out) as (out, in); of a convolution (h, w, in, out) as (out, in, h, w). In the arena. */
static const uint64_t *transposed_kernel(struct sp_arena *arena, const struct shapeproof_tensor *tensor)
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

static bool add_respelt(struct sp_infer_view *view, const struct sp_level *level, size_t tensor)
{
    const struct shapeproof_tensor *stored = shapeproof_inventory_tensor(view->file, tensor);
    const struct sp_spelling spelling = sp_spell(&view->own->arena, sp_behind_level(level, stored->name));
    const bool transposed = stored->rank >= 2 && is_kernel_name(&spelling);
    return sp_infer_view_add(view, tensor, spelling.text,
                             transposed ? transposed_kernel(&view->own->arena, stored) : stored->shape, stored->rank);
}

static bool is_any_slashed(const struct shapeproof_inventory *file)
{
    for (size_t i = 0; i < shapeproof_inventory_count(file); i++)
        if (strchr(shapeproof_inventory_tensor(file, i)->name, '/')) return true;
    return false;
}

bool sp_infer_view_respelt(struct sp_infer_view *view, const struct shapeproof_inventory *file)
{
    if (!is_any_slashed(file)) return false;
    struct sp_level level = {.first = NULL};
    bool good = true;
    for (size_t i = 0; i < shapeproof_inventory_count(file); i++)
        sp_level_note(&level, shapeproof_inventory_tensor(file, i)->name);
    sp_level_find(&level);
    sp_infer_view_begin(view, file);
    view->is_respelt = true;
    for (size_t i = 0; i < shapeproof_inventory_count(file) && good; i++) good = add_respelt(view, &level, i);
    if (good) return sp_infer_view_end(view);
    sp_infer_view_free(view);
    return false;
}

/* The tensors are those of the base one by one: what was seen as one of them is seen as the same. */
static void inherit_view(struct sp_infer_view *view, const struct sp_infer_view *base)
{
    const size_t count = shapeproof_inventory_count(base->file);
    view->file = base->file;
    view->is_respelt = base->is_respelt;
    view->is_unpacked = base->is_unpacked;
    view->is_flat = base->is_flat;
    view->is_computed = base->is_computed;
    view->parametrised = base->parametrised;
    view->unpacked = base->unpacked;
    sp_free(view->seen_as);
    view->seen_as = NULL;
    if (!base->seen_as) return;
    view->seen_as = sp_realloc(NULL, count, sizeof *view->seen_as);
    memcpy(view->seen_as, base->seen_as, count * sizeof *view->seen_as);
}

bool sp_infer_view_transposed(struct sp_infer_view *view, const struct sp_infer_view *base, const bool *transposed)
{
    bool good = true;
    sp_infer_view_begin(view, base->inventory);
    view->is_transposed = sp_arena_array(&view->own->arena, shapeproof_inventory_count(base->inventory), sizeof(bool));
    for (size_t i = 0; i < shapeproof_inventory_count(base->inventory) && good; i++) {
        const struct shapeproof_tensor *tensor = shapeproof_inventory_tensor(base->inventory, i);
        const bool swaps = transposed[i] && tensor->rank == 2;
        good = sp_infer_view_add(view, i, tensor->name,
                                 swaps ? transposed_kernel(&view->own->arena, tensor) : tensor->shape, tensor->rank);
        view->is_transposed[i] = swaps;
        view->transposed += swaps;
    }
    if (good) good = sp_infer_view_end(view);
    else sp_infer_view_free(view);
    if (good) inherit_view(view, base);
    return good;
}
