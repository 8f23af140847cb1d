/* SPDX-License-Identifier: MIT
 * An inventory of tensors that a program describes, and that are in no file. */
#include <string.h>

#include "base/call.h"
#include "base/names.h"
#include "base/utf8.h"
#include "model/inventory.h"

/* A copy of an array of dimensions in the arena; NULL stays NULL. */
static const uint64_t *copy_dimensions(struct sp_arena *arena, const uint64_t *dimensions, uint32_t rank)
{
    if (!dimensions) return NULL;
    uint64_t *copy = sp_arena_array(arena, rank ? rank : 1, sizeof *copy);
    memcpy(copy, dimensions, rank * sizeof *copy);
    return copy;
}

/* Whether the name is UTF-8, or what a name of Python may be besides (base/utf8.h). Patterns of names mark numbers and
 * texts by bytes that no such name has. */
static bool is_name(const char *name)
{
    uint32_t code;
    for (size_t left = strlen(name), length; left; name += length, left -= length) {
        length = sp_utf8_decode(name, left, &code);
        if (!length) length = sp_utf8_decode_odd(name, left, &code);
        if (!length) return false;
    }
    return true;
}

/* Whether a tensor can be what is described, before anything is copied; false with the error. */
static bool judge_description(const struct shapeproof_tensor_description *described, struct shapeproof_error *error)
{
    if (!sp_options_are_known(described->reserved, error)) return false;
    if (described->rank > SP_MAX_RANK)
        return sp_fail(error, SHAPEPROOF_ERR_FILE, SHAPEPROOF_KIND_LIMIT, "tensor %s has more than %d dimensions",
                       sp_quote(described->name).text, SP_MAX_RANK);
    if (strlen(described->name) > SP_MAX_NAME)
        return sp_fail(error, SHAPEPROOF_ERR_FILE, SHAPEPROOF_KIND_LIMIT,
                       "the name of tensor %s has more than %d bytes", sp_quote(described->name).text, SP_MAX_NAME);
    if (!is_name(described->name))
        return sp_malformed(error, "the name of tensor %s is not UTF-8", sp_quote(described->name).text);
    return true;
}

static bool add_described(struct shapeproof_inventory *inventory, const struct shapeproof_tensor_description *described,
                          struct shapeproof_error *error)
{
    struct sp_arena *arena = &inventory->arena;
    if (!judge_description(described, error)) return false;
    struct shapeproof_tensor *tensor = sp_inventory_add(inventory, error);
    if (!tensor) return false;
    tensor->name = sp_arena_string(arena, described->name);
    tensor->dtype = described->dtype;
    tensor->dtype_name = described->dtype == SHAPEPROOF_DTYPE_UNKNOWN && described->dtype_name
                             ? sp_arena_string(arena, described->dtype_name)
                             : shapeproof_dtype_name(described->dtype);
    tensor->rank = described->rank;
    tensor->shape = described->rank ? copy_dimensions(arena, described->shape, described->rank)
                                    : sp_arena_array(arena, 1, sizeof(uint64_t));
    tensor->stride = copy_dimensions(arena, described->stride, described->rank);
    tensor->storage = described->storage ? sp_arena_string(arena, described->storage) : NULL;
    tensor->offset = described->offset;
    return sp_tensor_measure(tensor) ||
           sp_fail(error, SHAPEPROOF_ERR_FILE, SHAPEPROOF_KIND_LIMIT,
                   "the size of tensor %s is no whole number of bytes below 2^64", sp_quote(described->name).text);
}

struct shapeproof_inventory *shapeproof_inventory_describe(const char *name,
                                                           const struct shapeproof_tensor_description *tensors,
                                                           size_t count, struct shapeproof_error *error)
{
    SP_CALL(error, NULL);
    SP_SPENDS("describing it");
    static const struct sp_format memory = {"memory", SP_TENSORS_ALONE};
    sp_error_reset(error);
    struct shapeproof_inventory *inventory = sp_inventory_new(name);
    bool is_whole = true;
    inventory->format = &memory;
    sp_inventory_add_file(inventory, name);
    sp_inventory_set_size(inventory, 0);
    for (size_t i = 0; i < count && is_whole; i++) is_whole = add_described(inventory, &tensors[i], error);
    if (is_whole && sp_inventory_finish(inventory, error)) return inventory;
    sp_error_prefix(error, name);
    shapeproof_inventory_close(inventory);
    return NULL;
}
