/* SPDX-License-Identifier: MIT
 * A list of arrays as mx.nd.save writes it: the .params of MXNet, of Gluon and of Sockeye 1 and 2. Little-endian:
 *   u64 0x112   u64 0   u64 N   N arrays   u64 K   K times: u64 length, bytes of the name
 * K is N, or 0 for a list without names. An array, by its first 32 bits:
 *   F993fac8  V1 (0.11)         shape, body                    ndim 0: nothing more
 *   F993fac9  V2 (0.12 to 1.9)  storage type, shape, body      ndim 0: nothing more
 *   F993faca  V3 (from 1.5)     storage type, shape, body      a dimension of -1, or ndim -1: nothing more
 *   else      V0 (to 0.10)      these bits are the number of dimensions, each of 32 bits; body
 * A shape is an i32 ndim and that many i64. A body is the device (two i32), the type (i32) and the data. Of a sparse
 * array the shape of what is stored comes in front of its shape, and in the body the types and shapes of its indices
 * behind the type, their data at the end.
 * What MXNet 2 writes instead are .npz archives. Big-endian files are not read. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/checked.h"
#include "base/names.h"
#include "read/reader.h"
#include "read/window.h"

static const struct sp_format mxnet_params_format = {"mxnet-params", 0};

enum { MAGIC = 0x112, HEAD_BYTES = 24, SMALLEST_ARRAY = 4 };
enum { V1 = 0xF993FAC8U, V2 = 0xF993FAC9U, V3 = 0xF993FACAU };
enum storage { DENSE, ROW_SPARSE, CSR };

struct list {
    struct sp_window window;
    struct shapeproof_inventory *inventory;
    size_t first; /* tensor of this file in the inventory */
    uint64_t count, sparse, undefined;
    uint32_t file;
    char what[64]; /* is being read */
};

struct array {
    uint32_t version; /* V1, V2, V3, or of a V0 array the number of its dimensions */
    enum storage storage;
    uint32_t rank;
    uint64_t shape[SP_MAX_RANK];
    bool undefined; /* its shape was not known when it was written: there is no body */
};

/* ---- types ---- */

static const enum shapeproof_dtype dtypes[] = {
    SHAPEPROOF_DTYPE_F32, SHAPEPROOF_DTYPE_F64, SHAPEPROOF_DTYPE_F16,  SHAPEPROOF_DTYPE_U8,  SHAPEPROOF_DTYPE_I32,
    SHAPEPROOF_DTYPE_I8,  SHAPEPROOF_DTYPE_I64, SHAPEPROOF_DTYPE_BOOL, SHAPEPROOF_DTYPE_I16, SHAPEPROOF_DTYPE_U16,
    SHAPEPROOF_DTYPE_U32, SHAPEPROOF_DTYPE_U64, SHAPEPROOF_DTYPE_BF16,
};

/* Where the next array begins depends on it, so that a type that is not known ends the reading. */
static bool take_type(struct list *list, enum shapeproof_dtype *dtype)
{
    const uint64_t flag = sp_window_le(&list->window, 4);
    if (!list->window.ok) return false;
    if (flag >= sizeof dtypes / sizeof *dtypes)
        return sp_malformed(list->window.error, "%s: type %" PRId32 " is not known", list->what, (int32_t)flag);
    *dtype = dtypes[flag];
    return true;
}

/* ---- shapes ---- */

static bool take_rank(struct list *list, uint64_t rank)
{
    if (!list->window.ok) return false;
    if (rank > SP_MAX_RANK)
        return sp_malformed(list->window.error, "%s: %" PRIu64 " dimensions, at most %d", list->what, rank,
                            SP_MAX_RANK);
    return true;
}

/* Dimensions of 64 bits; *unknown when there are none, or one is -1. */
static bool take_shape(struct list *list, uint32_t *rank, uint64_t *shape, bool *unknown)
{
    const uint64_t dimensions = sp_window_le(&list->window, 4);
    *rank = 0;
    *unknown = dimensions == UINT32_MAX; /* -1 */
    if (*unknown) return list->window.ok;
    if (!take_rank(list, dimensions)) return false;
    *rank = (uint32_t)dimensions;
    for (uint32_t i = 0; i < *rank; i++) {
        shape[i] = sp_window_le(&list->window, 8);
        if (shape[i] == UINT64_MAX) *unknown = true;
        else if (shape[i] > INT64_MAX)
            return sp_malformed(list->window.error, "%s: dimension %" PRId64, list->what, (int64_t)shape[i]);
    }
    return list->window.ok;
}

static bool take_old_shape(struct list *list, struct array *array)
{
    if (!take_rank(list, array->version)) return false;
    array->rank = array->version;
    for (uint32_t i = 0; i < array->rank; i++) array->shape[i] = sp_window_le(&list->window, 4);
    array->undefined = !array->rank;
    return list->window.ok;
}

static bool bytes_of(const uint64_t *shape, uint32_t rank, enum shapeproof_dtype dtype, uint64_t *bytes)
{
    *bytes = shapeproof_dtype_bits(dtype) / 8;
    for (uint32_t i = 0; i < rank; i++)
        if (!sp_mul_u64(*bytes, shape[i], bytes)) return false;
    return true;
}

/* ---- one array ---- */

static bool take_storage(struct list *list, struct array *array)
{
    const uint64_t storage = sp_window_le(&list->window, 4);
    if (!list->window.ok) return false;
    if (storage > CSR || (storage && array->version == V3))
        return sp_malformed(list->window.error, "%s: storage type %" PRId32 " is not known", list->what,
                            (int32_t)storage);
    array->storage = (enum storage)storage;
    return true;
}

/* The shape that is stored of a sparse array: of its values, or of one of its indices. The size of the body depends on
 * these. */
struct stored {
    uint32_t rank;
    uint64_t shape[SP_MAX_RANK];
};

static bool take_head(struct list *list, struct array *array, struct stored *stored)
{
    bool unknown;
    array->version = (uint32_t)sp_window_le(&list->window, 4);
    if (array->version != V1 && array->version != V2 && array->version != V3) return take_old_shape(list, array);
    if (array->version != V1 && !take_storage(list, array)) return false;
    if (array->storage && !take_shape(list, &stored->rank, stored->shape, &unknown)) return false;
    if (!take_shape(list, &array->rank, array->shape, &array->undefined)) return false;
    if (array->version != V3 && !array->rank) array->undefined = true;
    return true;
}

/* The sizes of the indices of a sparse array, added to *bytes. */
static bool take_indices(struct list *list, const struct array *array, uint64_t *bytes)
{
    const unsigned count = array->storage; /* row_sparse has one, csr two */
    for (unsigned i = 0; i < count; i++) {
        struct stored index;
        enum shapeproof_dtype dtype;
        uint64_t size;
        bool unknown;
        if (!take_type(list, &dtype) || !take_shape(list, &index.rank, index.shape, &unknown)) return false;
        if (unknown || !bytes_of(index.shape, index.rank, dtype, &size) || !sp_add_u64(*bytes, size, bytes))
            return sp_malformed(list->window.error, "%s: the size of its indices overflows 64 bits", list->what);
    }
    return true;
}

/* Reads what follows the shape of an array: device, type, the indices of a sparse one, and the data, which are passed
 * over. `stored` is for a sparse array, whose data and indices have no one place and are claimed here. */
static bool take_body(struct list *list, const struct array *array, struct stored *stored,
                      struct shapeproof_tensor *tensor)
{
    enum { DEVICE_BYTES = 8 };
    uint64_t data, indices = 0;
    if (!sp_window_skip(&list->window, DEVICE_BYTES) || !take_type(list, &tensor->dtype)) return false;
    tensor->dtype_name = shapeproof_dtype_name(tensor->dtype);
    const uint64_t *shape = array->storage ? stored->shape : array->shape;
    if (!bytes_of(shape, array->storage ? stored->rank : array->rank, tensor->dtype, &data) ||
        !sp_tensor_measure(tensor))
        return sp_malformed(list->window.error, "%s: the product of its dimensions overflows 64 bits", list->what);
    if (array->storage && !take_indices(list, array, &indices)) return false;
    const uint64_t begin = list->window.at;
    if (!sp_window_skip(&list->window, data)) return false;
    if (!array->storage && data) {
        tensor->data_begin = begin;
        tensor->data_end = begin + data;
    }
    if (!sp_window_skip(&list->window, indices)) return false;
    if (array->storage) sp_inventory_claim(list->inventory, list->file, begin, list->window.at, SP_USE_TENSOR);
    return true;
}

/* Reads one array of the list. An undefined one has no body. */
static bool take_array(struct list *list)
{
    struct array array = {.storage = DENSE};
    struct stored stored = {.rank = 0};
    if (!take_head(list, &array, &stored)) return false;
    struct shapeproof_tensor *tensor = sp_inventory_add(list->inventory, list->window.error);
    if (!tensor) return false;
    uint64_t *shape = sp_arena_array(&list->inventory->arena, array.rank ? array.rank : 1, sizeof *shape);
    tensor->file = list->file;
    tensor->shape = shape;
    list->sparse += array.storage != DENSE;
    list->undefined += array.undefined;
    if (array.undefined) {
        tensor->flags |= SHAPEPROOF_TENSOR_NO_SHAPE | SHAPEPROOF_TENSOR_NO_DATA;
        return true;
    }
    memcpy(shape, array.shape, array.rank * sizeof *shape);
    tensor->rank = array.rank;
    return take_body(list, &array, &stored, tensor);
}

/* ---- the list ---- */

static bool take_arrays(struct list *list)
{
    struct sp_window *window = &list->window;
    sp_window_skip(window, HEAD_BYTES - 8);
    list->count = sp_window_le(window, 8);
    if (!window->ok) return false;
    if (list->count > sp_window_left(window) / SMALLEST_ARRAY)
        return sp_malformed(window->error, "%" PRIu64 " arrays are declared, %" PRIu64 " bytes follow", list->count,
                            sp_window_left(window));
    window->what = list->what;
    for (uint64_t i = 0; i < list->count; i++) {
        snprintf(list->what, sizeof list->what, "array %" PRIu64 " of %" PRIu64, i + 1, list->count);
        if (!take_array(list)) return false;
    }
    return true;
}

static bool take_array_names(struct list *list)
{
    struct sp_window *window = &list->window;
    struct sp_arena *arena = &list->inventory->arena;
    window->what = "the names of the arrays";
    const uint64_t names = sp_window_le(window, 8);
    if (!window->ok) return false;
    if (names && names != list->count)
        return sp_malformed(window->error, "the list has %" PRIu64 " arrays, but the number of names is %" PRIu64,
                            list->count, names);
    for (uint64_t i = 0; i < list->count && window->ok; i++) {
        struct shapeproof_tensor *tensor = &list->inventory->tensors[list->first + i];
        if (names) tensor->name = sp_window_text(window, sp_window_le(window, 8), SP_MAX_NAME, arena);
        else tensor->name = sp_arena_printf(arena, "%" PRIu64, i);
    }
    if (window->ok && sp_window_left(window))
        sp_inventory_warn(list->inventory, "%" PRIu64 " bytes after the last name", sp_window_left(window));
    return window->ok;
}

static void warn_of_arrays(const struct list *list)
{
    if (list->sparse)
        sp_inventory_warn(list->inventory, "sparse arrays, of which a part is stored: %" PRIu64, list->sparse);
    if (list->undefined)
        sp_inventory_warn(list->inventory, "arrays that were saved before they had a shape: %" PRIu64, list->undefined);
}

static unsigned probe_mxnet(const struct sp_probe *probe)
{
    static const unsigned char magic[16] = {MAGIC & 0xff, MAGIC >> 8};
    return probe->head_length >= sizeof magic && !memcmp(probe->head, magic, sizeof magic) ? 8 * sizeof magic : 0;
}

static bool index_mxnet(const struct sp_file *file, uint32_t file_index, struct shapeproof_inventory *inventory,
                        struct shapeproof_error *error)
{
    struct list list = {.inventory = inventory, .first = inventory->count, .file = file_index};
    sp_window_open(&list.window, file, 0, UINT64_MAX, error);
    if (!take_arrays(&list) || !take_array_names(&list)) return false;
    warn_of_arrays(&list);
    sp_inventory_claim(inventory, file_index, 0, list.window.at, SP_USE_STRUCTURE);
    inventory->format = &mxnet_params_format;
    return true;
}

static const struct sp_file_ending endings[] = {{".params", SP_IN_DIRECTORIES | SP_IN_ARCHIVES}, {NULL, 0}};

const struct sp_reader sp_reader_mxnet = {
    .name = "mxnet", .endings = endings, .probe = probe_mxnet, .index = index_mxnet};
