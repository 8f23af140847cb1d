/* SPDX-License-Identifier: MIT
 * Arrays of NumPy in pickles, which hold their data themselves:
 *   numpy.core.multiarray._reconstruct(ndarray, (0,), b'b') with the state (version, shape, dtype, Fortran order, data)
 *   numpy.core.numeric._frombuffer(data, dtype, shape, order)                                          in protocol 5
 * and the same below numpy._core since NumPy 2. A dtype is numpy.dtype('f4', False, True) with the state (3, '<', ...),
 * or of a class of ml_dtypes. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "base/dtype_word.h"
#include "base/utf8.h"
#include "read/torch/torch.h"

enum { MAX_DTYPE = 32 };

struct array_dtype {
    enum shapeproof_dtype dtype;
    const char *name; /* in the arena when it has no common one */
    uint64_t item;    /* bytes of an element, 0 when not known */
    bool big_endian, objects;
};

static const struct {
    const char *word;
    enum shapeproof_dtype dtype;
} words[] = {
    {"b1", SHAPEPROOF_DTYPE_BOOL}, {"?", SHAPEPROOF_DTYPE_BOOL}, {"i1", SHAPEPROOF_DTYPE_I8},
    {"i2", SHAPEPROOF_DTYPE_I16},  {"i4", SHAPEPROOF_DTYPE_I32}, {"i8", SHAPEPROOF_DTYPE_I64},
    {"u1", SHAPEPROOF_DTYPE_U8},   {"u2", SHAPEPROOF_DTYPE_U16}, {"u4", SHAPEPROOF_DTYPE_U32},
    {"u8", SHAPEPROOF_DTYPE_U64},  {"f2", SHAPEPROOF_DTYPE_F16}, {"f4", SHAPEPROOF_DTYPE_F32},
    {"f8", SHAPEPROOF_DTYPE_F64},  {"c8", SHAPEPROOF_DTYPE_C64}, {"c16", SHAPEPROOF_DTYPE_C128},
};

/* The text of a value without what a name may not have; "?" for none. */
static const char *short_word(struct sp_arena *arena, const struct sp_pickle_value *value)
{
    const bool fits = sp_pickle_is(value, SP_PICKLE_STR) && value->length && value->length <= MAX_DTYPE;
    if (!fits || memchr(value->as.text, 0, value->length) ||
        sp_utf8_check(value->as.text, value->length) != value->length)
        return "?";
    return sp_arena_copy(arena, value->as.text, value->length);
}

/* dtype(ml_dtypes.bfloat16): the class has the name that it has in PyTorch. */
static bool name_class(const struct sp_pickle_value *class, struct array_dtype *found)
{
    const char *name = sp_pickle_is(class, SP_PICKLE_GLOBAL) ? sp_pickle_name(class) : NULL;
    return name && sp_torch_dtype_word(strrchr(name, '.') + 1, &found->dtype);
}

/* The dtype of an array. False for a value that is no dtype of NumPy; one that has no common name keeps its own. */
static bool read_array_dtype(struct sp_torch *torch, const struct sp_pickle_value *value, struct array_dtype *found)
{
    const struct sp_pickle_value *word = sp_pickle_arg(value, 0);
    const char *name = sp_pickle_name(value);
    *found = (struct array_dtype){.dtype = SHAPEPROOF_DTYPE_UNKNOWN};
    if (!name || strcmp(name, "numpy.dtype") || !sp_pickle_is(value, SP_PICKLE_OBJECT)) return false;
    if (!name_class(word, found)) found->name = short_word(&torch->inventory->arena, word);
    for (size_t i = 0; found->name && i < sizeof words / sizeof *words; i++)
        if (!strcmp(found->name, words[i].word)) found->dtype = words[i].dtype;
    if (found->dtype) found->name = shapeproof_dtype_name(found->dtype);
    found->item = shapeproof_dtype_bits(found->dtype) / 8;
    found->objects = sp_pickle_is(word, SP_PICKLE_STR) && word->length && *word->as.text == 'O';
    found->big_endian = sp_pickle_is_text(sp_pickle_item(value->as.object->state, 1), ">");
    return true;
}

/* ---- the data ---- */

/* Of bytes that are written as they are: their number must be right, and their place is known. */
static bool place_array(struct sp_torch *torch, const struct sp_pickle_value *data, const struct array_dtype *dtype,
                        struct sp_torch_tensor *tensor, struct shapeproof_error *error)
{
    while (data && sp_pickle_is(data, SP_PICKLE_OBJECT) && sp_torch_role(data) == SP_TORCH_KNOWN &&
           sp_pickle_is(sp_pickle_arg(data, 0), SP_PICKLE_BYTES))
        data = sp_pickle_arg(data, 0); /* bytearray(b'...') */
    if (!sp_pickle_is(data, SP_PICKLE_BYTES)) return true;
    if (dtype->item && data->length != tensor->bytes)
        return sp_malformed(error, "its shape needs %" PRIu64 " bytes, and it has %" PRIu32, tensor->bytes,
                            data->length);
    if (!torch->bytes || data->as.text < torch->bytes || data->as.text > torch->bytes + torch->length) return true;
    tensor->data_begin = (uint64_t)(data->as.text - torch->bytes);
    tensor->data_end = tensor->data_begin + data->length;
    return true;
}

static void set_fortran_order(struct sp_torch_tensor *tensor)
{
    uint64_t step = 1;
    for (uint32_t i = 0; i < tensor->rank; i++) {
        tensor->stride[i] = step;
        if (tensor->shape[i] && !sp_mul_u64(step, tensor->shape[i], &step)) return; /* the size overflows, too */
    }
    tensor->strided = true;
}

static bool fill_array(struct sp_torch *torch, const struct sp_pickle_value *shape, const struct array_dtype *dtype,
                       const struct sp_pickle_value *data, bool fortran, struct sp_torch_tensor *tensor,
                       struct shapeproof_error *error)
{
    tensor->dtype = dtype->dtype;
    tensor->dtype_name = dtype->name;
    if (dtype->big_endian) tensor->flags |= SHAPEPROOF_TENSOR_BIG_ENDIAN;
    if (!sp_torch_shape(shape, tensor, error)) return false;
    if (fortran && tensor->rank > 1) set_fortran_order(tensor);
    return sp_torch_measure(tensor, error) && place_array(torch, data, dtype, tensor, error);
}

bool sp_torch_array(struct sp_torch *torch, const struct sp_pickle_value *node, struct sp_torch_tensor *tensor,
                    bool *is_array, struct shapeproof_error *error)
{
    const struct sp_pickle_value *state = node->as.object->state, *order = sp_pickle_arg(node, 3);
    const bool buffered = sp_torch_role(node) == SP_TORCH_ARRAY_BUFFER;
    struct array_dtype dtype;
    const struct sp_pickle_value *type = buffered ? sp_pickle_arg(node, 1) : sp_pickle_item(state, 2);
    *is_array = read_array_dtype(torch, type, &dtype) && !dtype.objects;
    if (!*is_array) return true;
    *tensor = (struct sp_torch_tensor){.dtype_name = shapeproof_dtype_name(SHAPEPROOF_DTYPE_UNKNOWN)};
    if (buffered)
        return fill_array(torch, sp_pickle_arg(node, 2), &dtype, sp_pickle_arg(node, 0), sp_pickle_is_text(order, "F"),
                          tensor, error);
    const struct sp_pickle_value *fortran = sp_pickle_item(state, 3);
    return fill_array(torch, sp_pickle_item(state, 1), &dtype, sp_pickle_item(state, 4),
                      sp_pickle_is(fortran, SP_PICKLE_BOOL) && fortran->as.integer, tensor, error);
}
