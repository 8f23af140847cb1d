/* SPDX-License-Identifier: MIT
 * Calls of the rebuild functions to tensors. The forms are those of torch 0.1 to 2.x; the call is checked as far as
 * shapes, strides and storage sizes go, and never made. The parts of quantised tensors (scales, zero points) are not
 * listed. */
#include <inttypes.h>
#include <limits.h>
#include <string.h>

#include "base/budget.h"
#include "base/chars.h"
#include "base/checked.h"
#include "model/values.h"
#include "read/torch/torch.h"

enum { MAX_WRAPPERS = 16 };

/* A call after its wrappers were taken off. */
struct call {
    enum sp_torch_role role;
    const char *name;
    struct sp_pickle_value *args;          /* a tuple */
    struct sp_pickle_value *state;         /* or NULL */
    struct sp_pickle_value *wrapped;       /* of a subclass, the state that it is given; or NULL */
    const struct sp_pickle_object *object; /* NULL for a persistent id, and for a function that a subclass is given */
    const char *change; /* what the file does to the tensor after it was made, here or in a wrapper; NULL: nothing */
};

static struct sp_pickle_value *arg(const struct call *call, size_t index) { return sp_pickle_item(call->args, index); }

static bool open_call(struct sp_pickle_value *node, struct call *call)
{
    const char *change = call->change;
    if (sp_pickle_is(node, SP_PICKLE_PERSID)) {
        *call = (struct call){.role = SP_TORCH_SAVED, .name = "", .args = node, .change = change};
        return true;
    }
    if (!sp_pickle_is(node, SP_PICKLE_OBJECT)) return false;
    const struct sp_pickle_object *object = node->as.object;
    *call = (struct call){.role = sp_torch_role(node),
                          .name = sp_pickle_name(node),
                          .args = object->args,
                          .state = object->state,
                          .object = object,
                          .change = change};
    return true;
}

/* torch.nn.parameter.Parameter and Buffer; the other ones with this role are functions. */
static bool is_parameter_class(const struct call *call) { return !strncmp(call->name, "torch.nn.parameter.", 19); }

/* Parameter(data, ...), or in old files Parameter() with a state that begins with the data. */
static struct sp_pickle_value *parameter_data(const struct call *call)
{
    struct sp_pickle_value *data = arg(call, 0);
    return data ? data : sp_pickle_item(call->state, 0);
}

/* What a Parameter has as attributes that setattr does not put into its __dict__: a state that PyTorch writes has none
 * of them, and one that sets them gives the tensor another shape, or is refused. */
static bool is_own_attribute(const struct sp_pickle_value *key)
{
    static const char *const own[] = {"H",
                                      "T",
                                      "data",
                                      "device",
                                      "dtype",
                                      "grad",
                                      "grad_dtype",
                                      "grad_fn",
                                      "imag",
                                      "itemsize",
                                      "layout",
                                      "mH",
                                      "mT",
                                      "name",
                                      "names",
                                      "nbytes",
                                      "ndim",
                                      "output_nr",
                                      "real",
                                      "requires_grad",
                                      "retains_grad",
                                      "shape",
                                      "volatile",
                                      "_backward_hooks",
                                      "_base",
                                      "_cdata",
                                      "_grad",
                                      "_grad_fn",
                                      "_post_accumulate_grad_hooks",
                                      "_python_dispatch",
                                      "_version",
                                      "__class__",
                                      "__dict__"};
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        if (sp_pickle_is_text(key, own[i])) return true;
    return key->length > 3 && !memcmp(key->as.text, "is_", 3);
}

/* Why the attributes of a state are not what PyTorch writes, a dict with texts for keys; or NULL. */
static const char *find_odd_attribute(const struct sp_pickle_value *attributes)
{
    if (sp_pickle_is(attributes, SP_PICKLE_NONE)) return NULL;
    if (!sp_pickle_is(attributes, SP_PICKLE_DICT)) return "a state without attributes is set on it";
    sp_budget_spend(attributes->length); /* many tensors may share one state */
    for (uint32_t i = 0; i < attributes->length; i += 2) {
        const struct sp_pickle_value *key = attributes->as.items[i];
        if (!sp_pickle_is(key, SP_PICKLE_STR)) return "a state is set on it whose keys are no texts";
        if (sp_pickle_is_text(key, "data")) return "its state sets `data`";
        if (is_own_attribute(key)) return "its state sets an attribute of all tensors";
    }
    return NULL;
}

/* The same of a state: attributes, or a pair of attributes and slots. */
static const char *find_odd_state(const struct sp_pickle_value *state)
{
    const bool is_pair = sp_pickle_is(state, SP_PICKLE_TUPLE) && state->length == 2;
    if (!state) return NULL;
    if (!is_pair) return find_odd_attribute(state);
    const char *odd = find_odd_attribute(state->as.items[0]);
    return odd ? odd : find_odd_attribute(state->as.items[1]);
}

/* Whether a state that a class of another package may read in its own way sets `data` to a tensor. */
static bool sets_data(const struct sp_pickle_value *state)
{
    const struct sp_pickle_value *dicts[] = {state, sp_pickle_item(state, 0), sp_pickle_item(state, 1)};
    for (size_t i = 0; i < sizeof dicts / sizeof *dicts; i++) {
        if (!sp_pickle_is(dicts[i], SP_PICKLE_DICT)) continue;
        sp_budget_spend(dicts[i]->length); /* many tensors may share one state */
        if (sp_torch_role(sp_pickle_get(dicts[i], "data")) >= SP_TORCH_TENSOR) return true;
    }
    return false;
}

static bool is_class_of_torch(const struct sp_pickle_value *value)
{
    const char *name = sp_pickle_is(value, SP_PICKLE_GLOBAL) ? sp_pickle_name(value) : "";
    return !strcmp(name, "torch.Tensor") || !strcmp(name, "torch.nn.parameter.Parameter") ||
           !strcmp(name, "torch.nn.parameter.Buffer");
}

/* (requires_grad, volatile, hooks), of a Parameter in files of torch before 0.4: it leaves the data alone. */
static bool is_state_of_variable(const struct sp_pickle_value *state)
{
    enum { ITEMS = 3 };
    return sp_pickle_is(state, SP_PICKLE_TUPLE) && state->length == ITEMS &&
           sp_pickle_is(state->as.items[0], SP_PICKLE_BOOL);
}

/* What the file does to the tensor that one call makes, or NULL. torch.load either refuses it, or the tensor has
 * another shape than its arguments say: set_(storage, offset, size, stride) and `data` replace it. */
static const char *find_change(const struct call *call)
{
    enum { STATE = 3 }; /* the index of the argument */
    const bool is_parameter = call->role == SP_TORCH_PARAMETER;
    const bool is_class = call->role == SP_TORCH_OLD_TENSOR || (is_parameter && is_parameter_class(call));
    const struct sp_pickle_object *object = call->object;
    if (object && (object->items || object->pairs)) return "items are set in it";
    if (object && object->is_new && !is_class) return "it is made by NEWOBJ of a function, which is no class";
    const bool begins = call->role == SP_TORCH_OLD_TENSOR || (is_parameter && !arg(call, 0)); /* it has the data */
    if (call->state && !begins && !(is_parameter && is_state_of_variable(call->state))) return "a state is set on it";
    const bool from_type =
        call->role == SP_TORCH_FROM_TYPE && !strcmp(call->name, "torch._tensor._rebuild_from_type_v2");
    const bool is_plain =
        !from_type || is_class_of_torch(arg(call, 1)); /* others may have a __setstate__ of their own */
    if (!from_type && !(is_parameter && !strcmp(call->name, "torch._utils._rebuild_parameter_with_state"))) return NULL;
    if (from_type && sp_torch_role(arg(call, 0)) == SP_TORCH_WRAPPER) return NULL; /* its state is its content */
    if (is_plain) return find_odd_state(arg(call, STATE));
    return sets_data(arg(call, STATE)) ? "its state sets `data`" : NULL;
}

/* Takes off what only wraps a tensor. False when no rebuild function is underneath. */
static bool unwrap(struct sp_pickle_value *node, struct call *call)
{
    call->change = NULL;
    if (!open_call(node, call)) return false;
    for (int i = 0; i < MAX_WRAPPERS; i++) {
        const bool is_wrapper = call->role == SP_TORCH_PARAMETER || call->role == SP_TORCH_FROM_TYPE;
        if (!is_wrapper && (call->role < SP_TORCH_TENSOR || call->role >= SP_TORCH_LOAD_FROM_BYTES)) return false;
        if (!call->change) call->change = find_change(call);
        if (call->role == SP_TORCH_PARAMETER) {
            if (!open_call(parameter_data(call), call)) return false;
        } else if (call->role == SP_TORCH_FROM_TYPE) {
            struct sp_pickle_value *function = arg(call, 0);
            *call = (struct call){.role = sp_torch_role(function),
                                  .name = sp_pickle_name(function),
                                  .args = arg(call, 2),
                                  .wrapped = arg(call, 3),
                                  .change = call->change};
        } else return true;
    }
    return false;
}

static bool check_change(const struct call *call, struct shapeproof_error *error)
{
    return !call->change ||
           sp_malformed(error, "%s after it was rebuilt: torch refuses that, or has another tensor", call->change);
}

/* ---- shapes ---- */

/* torch.Size((2, 3)) and (2, 3) alike. */
static const struct sp_pickle_value *sizes_of(const struct sp_pickle_value *value)
{
    if (sp_torch_role(value) == SP_TORCH_TRANSPARENT) value = sp_pickle_arg(value, 0);
    return sp_pickle_is(value, SP_PICKLE_TUPLE) || sp_pickle_is(value, SP_PICKLE_LIST) ? value : NULL;
}

static bool read_sizes(const struct sp_pickle_value *value, const char *what, uint64_t *into, uint32_t *count,
                       struct shapeproof_error *error)
{
    const struct sp_pickle_value *sizes = sizes_of(value);
    if (!sizes) return sp_malformed(error, "its %s is not a tuple", what);
    if (sizes->length > SP_MAX_RANK)
        return sp_fail(error, SHAPEPROOF_ERR_FILE, SHAPEPROOF_KIND_LIMIT, "%u dimensions, at most %d", sizes->length,
                       SP_MAX_RANK);
    for (uint32_t i = 0; i < sizes->length; i++) {
        const struct sp_pickle_value *item = sizes->as.items[i];
        if (item->type != SP_PICKLE_INT || item->as.integer < 0)
            return sp_malformed(error, "item %u of its %s is not a non-negative integer", i, what);
        into[i] = (uint64_t)item->as.integer;
    }
    *count = sizes->length;
    return true;
}

static bool read_shape(const struct sp_pickle_value *size, const struct sp_pickle_value *stride,
                       struct sp_torch_tensor *tensor, struct shapeproof_error *error)
{
    uint32_t strides;
    if (!read_sizes(size, "shape", tensor->shape, &tensor->rank, error)) return false;
    if (!stride) return true;
    if (!read_sizes(stride, "stride", tensor->stride, &strides, error)) return false;
    if (strides != tensor->rank) return sp_malformed(error, "%u dimensions and %u strides", tensor->rank, strides);
    tensor->strided = true;
    return true;
}

bool sp_torch_shape(const struct sp_pickle_value *sizes, struct sp_torch_tensor *tensor, struct shapeproof_error *error)
{
    return read_shape(sizes, NULL, tensor, error);
}

/* ---- sizes ---- */

static uint64_t bytes_of_elements(uint64_t elements, unsigned bits, bool *ok)
{
    uint64_t total = 0; /* the bits themselves may overflow where the bytes do not */
    if (!sp_mul_u64(elements / 8, bits, &total) || !sp_add_u64(total, (elements % 8 * bits + 7) / 8, &total))
        *ok = false;
    return total;
}

/* Euclid's algorithm; of two numbers above 0. */
static uint64_t greatest_common_divisor(uint64_t a, uint64_t b)
{
    while (b) {
        const uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* Whether some steps along one dimension lead to the same place as some along another one: a steps of s and b steps of
 * t do if a * s = b * t, and the least such numbers are t / g and s / g (g: greatest common divisor). */
static bool do_meet(uint64_t size, uint64_t stride, uint64_t other_size, uint64_t other_stride)
{
    const bool is_smaller = stride < other_stride;
    if (is_smaller ? (other_stride - 1) / stride >= size - 1 : (stride - 1) / other_stride >= other_size - 1)
        return false; /* all steps along one are shorter than one along the other: most tensors */
    const uint64_t common = greatest_common_divisor(stride, other_stride);
    return other_stride / common < size && stride / common < other_size;
}

/* Whether two elements of a strided tensor certainly lie at one place: a stride is 0, there are more elements than
 * places, or two dimensions meet. False also if only three dimensions together lead to one place. */
static bool has_common_places(const struct sp_torch_tensor *tensor)
{
    if (tensor->extent < tensor->parameters) return true;
    for (uint32_t i = 0; i < tensor->rank; i++) {
        if (tensor->shape[i] == 1) continue;
        if (!tensor->stride[i]) return true;
        for (uint32_t k = 0; k < i; k++)
            if (tensor->stride[k] && do_meet(tensor->shape[i], tensor->stride[i], tensor->shape[k], tensor->stride[k]))
                return true;
    }
    return false;
}

/* Elements in all; elements that differ (an expanded dimension has stride 0); elements from the first to the last. */
bool sp_torch_measure(struct sp_torch_tensor *tensor, struct shapeproof_error *error)
{
    uint64_t elements = 1, distinct = 1, reach = 1, step;
    bool ok = true, empty = false;
    for (uint32_t i = 0; i < tensor->rank; i++) empty |= !tensor->shape[i];
    for (uint32_t i = 0; i < tensor->rank && ok; i++) {
        const uint64_t size = tensor->shape[i], stride = tensor->strided ? tensor->stride[i] : 1;
        ok = sp_mul_u64(elements, size, &elements);
        if (stride) ok = ok && sp_mul_u64(distinct, size, &distinct);
        if (tensor->strided && !empty)
            ok = ok && sp_mul_u64(size - 1, stride, &step) && sp_add_u64(reach, step, &reach);
    }
    tensor->parameters = elements;
    tensor->extent = empty ? 0 : tensor->strided ? reach : elements;
    if (ok && tensor->strided && !empty && has_common_places(tensor)) tensor->flags |= SHAPEPROOF_TENSOR_EXPANDED;
    if (tensor->extent < distinct) distinct = tensor->extent;
    tensor->bytes = bytes_of_elements(empty ? 0 : distinct, shapeproof_dtype_bits(tensor->dtype), &ok);
    return ok || sp_malformed(error, "its size overflows 64 bits");
}

bool sp_torch_check_extent(const struct sp_torch_tensor *tensor, struct shapeproof_error *error)
{
    const struct sp_torch_storage *storage = tensor->storage;
    const unsigned bits = shapeproof_dtype_bits(tensor->dtype);
    uint64_t end = 0;
    bool ok = sp_add_u64(tensor->offset, tensor->extent, &end);
    if (!tensor->extent || !bits || !storage->element_size) return true;
    if (ok && bytes_of_elements(end, bits, &ok) <= storage->bytes && ok) return true;
    return sp_malformed(error, "it reaches element %" PRIu64 " of storage '%s', which has %" PRIu64 " bytes", end,
                        storage->key, storage->bytes);
}

/* ---- the forms ---- */

static bool read_dtype(const struct call *call, size_t index, struct sp_torch_tensor *tensor,
                       struct shapeproof_error *error)
{
    return sp_torch_dtype(arg(call, index), &tensor->dtype, &tensor->dtype_name) ||
           sp_malformed(error, "argument %zu of %s is not a dtype", index, call->name);
}

/* The storage argument: a persistent id, or a stream of its own that holds one. */
static struct sp_torch_storage *read_storage(struct sp_torch *torch, struct sp_pickle_value *value,
                                             const char *function, struct shapeproof_error *error)
{
    if (sp_torch_role(value) == SP_TORCH_LOAD_FROM_BYTES) value = sp_torch_load_from_bytes(torch, value, error);
    if (error->status) return NULL;
    if (sp_torch_is_storage(value)) return sp_torch_storage(torch, value, error);
    sp_malformed(error, "the first argument of %s is not a storage", function);
    return NULL;
}

/* torch takes nothing else for requires_grad. */
static bool check_requires_grad(const struct sp_pickle_value *value, struct shapeproof_error *error)
{
    return !value || value->type == SP_PICKLE_BOOL || sp_malformed(error, "its requires_grad is not a boolean");
}

/* Only numbers with a derivative can require one: real and complex numbers, and not integers of any kind. */
static bool check_gradient(const struct sp_pickle_value *requires_grad, const struct sp_torch_tensor *tensor,
                           struct shapeproof_error *error)
{
    const enum shapeproof_dtype dtype = tensor->dtype;
    if (!sp_pickle_is(requires_grad, SP_PICKLE_BOOL) || !requires_grad->as.integer) return true;
    if (dtype == SHAPEPROOF_DTYPE_UNKNOWN || shapeproof_dtype_is_float(dtype) || sp_is_complex(dtype)) return true;
    return sp_malformed(error, "its requires_grad is True, which torch refuses for %s", tensor->dtype_name);
}

/* How many items a quantizer of the scheme has, 0 if torch does not know the scheme. */
static unsigned count_quantizer_items(const char *scheme)
{
    enum { PER_TENSOR = 3, PER_CHANNEL = 4 };
    if (!strcmp(scheme, "torch.per_tensor_affine")) return PER_TENSOR;
    if (!strcmp(scheme, "torch.per_channel_affine")) return PER_CHANNEL;
    return strcmp(scheme, "torch.per_channel_affine_float_qparams") ? 0 : PER_CHANNEL;
}

static bool check_arguments(const struct call *call, struct shapeproof_error *error);

/* Scales or zero points. They are not listed, but torch refuses the whole file if it cannot rebuild them. */
static bool check_part_of_quantizer(struct sp_pickle_value *part, struct shapeproof_error *error)
{
    struct call call;
    struct sp_torch_tensor tensor;
    if (!unwrap(part, &call) || (call.role != SP_TORCH_TENSOR && call.role != SP_TORCH_TENSOR_V3)) return true;
    if (check_arguments(&call, error) && check_change(&call, error) &&
        read_shape(arg(&call, 2), arg(&call, 3), &tensor, error))
        return true;
    sp_error_prefix(error, "its quantizer");
    return false;
}

/* The quantizer of _rebuild_qtensor: (per_tensor_affine, scale, zero point) or (per_channel_affine, scales, zero
 * points, axis). Python refuses other schemes and other numbers of items. */
static bool check_quantizer(const struct call *call, struct shapeproof_error *error)
{
    enum { QUANTIZER = 4, ARGUMENTS = 7 }; /* an index, and a number of arguments */
    if (strcmp(call->name, "torch._utils._rebuild_qtensor") != 0 || call->args->length != ARGUMENTS) return true;
    const struct sp_pickle_value *quantizer = arg(call, QUANTIZER);
    const struct sp_pickle_value *first = sp_pickle_item(quantizer, 0);
    const char *scheme = sp_pickle_is(first, SP_PICKLE_GLOBAL) ? sp_pickle_name(first) : NULL;
    if (!scheme) return sp_malformed(error, "its quantizer names no scheme");
    const unsigned items = count_quantizer_items(scheme);
    if (!items) return sp_malformed(error, "its quantizer names the unknown scheme %.200s", scheme);
    if (quantizer->length != items)
        return sp_malformed(error, "its quantizer, of the scheme %s, has %u items, not %u", scheme, quantizer->length,
                            items);
    return check_part_of_quantizer(quantizer->as.items[1], error) &&
           check_part_of_quantizer(quantizer->as.items[2], error);
}

/* The functions that make a tensor of a storage or of none. */
static const struct rebuilder {
    const char *name;
    unsigned least, most;
    unsigned requires_grad; /* its index, if it is checked */
} rebuilders[] = {
    {"torch._utils._rebuild_tensor", 4, 4, 0},
    {"torch._utils._rebuild_tensor_v2", 6, 7, 4},
    {"torch._utils._rebuild_tensor_v3", 7, 8, 4},
    {"torch._utils._rebuild_qtensor", 7, 8, 0}, /* up to torch 1.2, scale and zero point are two arguments */
    {"torch._utils._rebuild_meta_tensor_no_storage", 4, 4, 3},
};

static const struct rebuilder *find_rebuilder(const char *name)
{
    for (size_t i = 0; i < sizeof rebuilders / sizeof *rebuilders; i++)
        if (strcmp(name, rebuilders[i].name) == 0) return &rebuilders[i];
    return NULL;
}

/* Python refuses a call with other numbers of arguments than the function takes. Tensors of torch before 0.4 have no
 * function: their class has the first four of these arguments as its state. */
static bool check_arguments(const struct call *call, struct shapeproof_error *error)
{
    const unsigned count = call->args->length;
    const struct rebuilder *known = find_rebuilder(call->name);
    const unsigned least = known ? known->least : 4, most = known ? known->most : UINT_MAX;
    const unsigned requires_grad = known ? known->requires_grad : 0;
    if (count < least)
        return sp_malformed(error, "%s with %u arguments, at least %u expected", call->name, count, least);
    if (count > most) return sp_malformed(error, "%s with %u arguments, at most %u expected", call->name, count, most);
    return (!requires_grad || check_requires_grad(arg(call, requires_grad), error)) && check_quantizer(call, error);
}

/* The last argument says whether the numbers are to be negated or conjugated: {"neg": True}, {"conj": True}. */
static bool read_metadata(const struct call *call, struct sp_torch_tensor *tensor, struct shapeproof_error *error)
{
    static const char *const negated[] = {"neg", "conj"};
    const bool is_v3 = call->role == SP_TORCH_TENSOR_V3;
    const struct sp_pickle_value *metadata = arg(call, is_v3 ? 7 : 6);
    if (!is_v3 && strcmp(call->name, "torch._utils._rebuild_tensor_v2") != 0) return true;
    if (!metadata || sp_pickle_is(metadata, SP_PICKLE_NONE)) return true;
    if (!sp_pickle_is(metadata, SP_PICKLE_DICT)) return sp_malformed(error, "its metadata are no dict");
    sp_budget_spend(metadata->length);
    for (size_t i = 0; i < sizeof negated / sizeof *negated; i++) {
        const struct sp_pickle_value *value = sp_pickle_get(metadata, negated[i]);
        if (value && (value->type != SP_PICKLE_BOOL || value->as.integer)) tensor->flags |= SHAPEPROOF_TENSOR_NEGATED;
    }
    return true;
}

static bool read_dense(struct sp_torch *torch, const struct call *call, struct sp_torch_tensor *tensor,
                       struct shapeproof_error *error)
{
    const struct sp_pickle_value *offset = arg(call, 1);
    if (!check_arguments(call, error)) return false;
    tensor->storage = read_storage(torch, arg(call, 0), call->name, error);
    if (!tensor->storage) return false;
    if (!sp_pickle_is(offset, SP_PICKLE_INT) || offset->as.integer < 0)
        return sp_malformed(error, "its storage offset is not a non-negative integer");
    tensor->offset = (uint64_t)offset->as.integer + tensor->storage->first; /* both below 2^63 */
    tensor->dtype = tensor->storage->dtype;
    tensor->dtype_name = tensor->storage->dtype_name;
    if (call->role == SP_TORCH_TENSOR_V3 && !read_dtype(call, 6, tensor, error)) return false;
    if (tensor->storage->meta) tensor->flags |= SHAPEPROOF_TENSOR_NO_DATA;
    return read_metadata(call, tensor, error) && read_shape(arg(call, 2), arg(call, 3), tensor, error) &&
           sp_torch_measure(tensor, error) && sp_torch_check_extent(tensor, error);
}

static bool read_old(struct sp_torch *torch, const struct call *call, struct sp_torch_tensor *tensor,
                     struct shapeproof_error *error)
{
    const struct call as_call = {.role = SP_TORCH_TENSOR, .name = call->name, .args = call->state};
    return read_dense(torch, &as_call, tensor, error);
}

/* The dtype, the shape and the strides of a tensor without a storage: the arguments from number `first` on. */
static bool read_without_bytes(const struct call *call, size_t first, struct sp_torch_tensor *tensor,
                               struct shapeproof_error *error)
{
    return read_dtype(call, first, tensor, error) &&
           read_shape(arg(call, first + 1), arg(call, first + 2), tensor, error) && sp_torch_measure(tensor, error);
}

/* (ndarray, dtype, ...): the state of the array is (version, shape, dtype, fortran order, bytes). */
static bool read_from_numpy(const struct call *call, struct sp_torch_tensor *tensor, struct shapeproof_error *error)
{
    const struct sp_pickle_value *array = arg(call, 0);
    const struct sp_pickle_value *state = sp_pickle_is(array, SP_PICKLE_OBJECT) ? array->as.object->state : NULL;
    return read_dtype(call, 1, tensor, error) && read_shape(sp_pickle_item(state, 1), NULL, tensor, error) &&
           sp_torch_measure(tensor, error);
}

/* One of the dense tensors that a sparse one consists of. */
static bool read_tensor_part(struct sp_torch *torch, struct sp_pickle_value *node, struct sp_torch_tensor *part,
                             struct shapeproof_error *error)
{
    struct call call;
    if (!unwrap(node, &call) || (call.role != SP_TORCH_TENSOR && call.role != SP_TORCH_TENSOR_V3))
        return sp_malformed(error, "a part of a sparse tensor is not a dense tensor");
    if (!check_change(&call, error)) return false;
    *part = (struct sp_torch_tensor){0};
    return read_dense(torch, &call, part, error);
}

/* How many of the first items are tensors; the first one that is not is the shape. */
static size_t count_parts(const struct sp_pickle_value *parts)
{
    enum { MOST_PARTS = 3 };
    struct call ignored;
    size_t count = 0;
    while (count < MOST_PARTS && unwrap(sp_pickle_item(parts, count), &ignored)) count++;
    return count;
}

/* A sparse tensor. Of coordinates (COO): (indices, values, size). Of compressed rows or columns (CSR, CSC): (starts,
 * indices, values, size). Its shape is that of the whole; its bytes are those of the parts together. */
static bool read_sparse(struct sp_torch *torch, const struct call *call, struct sp_torch_tensor *tensor,
                        struct shapeproof_error *error)
{
    const struct sp_pickle_value *parts = arg(call, 1);
    uint64_t bytes = 0;
    const size_t count = count_parts(parts);
    struct sp_torch_tensor part = {0};
    if (count < 2) return sp_malformed(error, "%s without indices and values", call->name);
    for (size_t i = 0; i < count; i++) { /* the values come last */
        if (!read_tensor_part(torch, sp_pickle_item(parts, i), &part, error)) return false;
        part.storage->root->parts = true;
        if (!sp_add_u64(bytes, part.bytes, &bytes)) return sp_malformed(error, "its size overflows 64 bits");
    }
    tensor->dtype = part.dtype;
    tensor->dtype_name = part.dtype_name;
    if (!read_shape(sp_pickle_item(parts, count), NULL, tensor, error) || !sp_torch_measure(tensor, error))
        return false;
    tensor->bytes = bytes;
    tensor->flags |= SHAPEPROOF_TENSOR_SPARSE;
    return true;
}

/* A tensor that the container describes outside the pickle, found by its persistent id; any other persistent id is not
 * a tensor, which is no error. */
static bool read_saved(const struct sp_torch *torch, const struct sp_pickle_value *persid,
                       struct sp_torch_tensor *tensor, bool *is_tensor, struct shapeproof_error *error)
{
    const struct sp_torch_saved *saved = sp_torch_find_saved(torch, persid);
    *is_tensor = saved != NULL;
    if (!saved) return true;
    *tensor = saved->tensor;
    if (saved->why.status) *error = saved->why;
    return !saved->why.status;
}

/* The class of an object that is a tensor by itself: torch.Tensor(2, 3) is one of that shape, and torch.Tensor() and
 * Parameter() are empty. NULL for every other value. */
static const char *made_alone(const struct sp_pickle_value *node)
{
    const char *name = sp_pickle_is(node, SP_PICKLE_OBJECT) ? sp_pickle_name(node) : NULL;
    if (!name) return NULL;
    if (!strcmp(name, "torch.Tensor")) return name;
    if (strcmp(name, "torch.nn.parameter.Parameter") && strcmp(name, "torch.nn.parameter.Buffer")) return NULL;
    const struct sp_pickle_value *data = sp_pickle_arg(node, 0), *state = node->as.object->state;
    if (!data) data = sp_pickle_item(state, 0);
    return !data || data->type < SP_PICKLE_TUPLE || sp_torch_is_storage(data) ? name : NULL;
}

/* A tensor in the way of its role; those of saved tensors are read elsewhere. */
static bool read_by_role(struct sp_torch *torch, const struct call *call, struct sp_torch_tensor *tensor,
                         struct shapeproof_error *error)
{
    switch (call->role) {
    case SP_TORCH_TENSOR:
    case SP_TORCH_TENSOR_V3:
        return read_dense(torch, call, tensor, error);
    case SP_TORCH_OLD_TENSOR:
        return read_old(torch, call, tensor, error);
    case SP_TORCH_META:
        tensor->flags |= SHAPEPROOF_TENSOR_NO_DATA;
        return check_arguments(call, error) && read_without_bytes(call, 0, tensor, error);
    case SP_TORCH_WRAPPER:
        return read_without_bytes(call, 1, tensor, error) && sp_torch_wrapped(torch, call->wrapped, tensor, error);
    case SP_TORCH_SPARSE:
        return read_sparse(torch, call, tensor, error);
    default: /* SP_TORCH_FROM_NUMPY, the only other role that unwrap leaves */
        return read_from_numpy(call, tensor, error);
    }
}

bool sp_torch_tensor(struct sp_torch *torch, struct sp_pickle_value *node, struct sp_torch_tensor *tensor,
                     bool *is_tensor, struct shapeproof_error *error)
{
    struct call call;
    const enum sp_torch_role role = sp_torch_role(node);
    if (torch->arrays && sp_pickle_is(node, SP_PICKLE_OBJECT) &&
        (role == SP_TORCH_ARRAY || role == SP_TORCH_ARRAY_BUFFER))
        return sp_torch_array(torch, node, tensor, is_tensor, error);
    if (sp_pickle_is(node, SP_PICKLE_OBJECT) && sp_pickle_is(node->as.object->callable, SP_PICKLE_OBJECT) &&
        unwrap(node->as.object->callable, &call)) {
        *is_tensor = true;
        return sp_malformed(error, "it is a call of a tensor, which is no function");
    }
    *is_tensor = unwrap(node, &call);
    const char *alone = *is_tensor && call.role != SP_TORCH_SAVED ? NULL : made_alone(node);
    if (alone || (*is_tensor && call.role == SP_TORCH_OLD_TENSOR && !call.state)) { /* its storage is in the state */
        *is_tensor = true;
        return sp_malformed(error, "%s makes a tensor without a storage of the file", alone ? alone : call.name);
    }
    if (*is_tensor && !check_change(&call, error)) return false;
    if (*is_tensor && call.role == SP_TORCH_SAVED) return read_saved(torch, call.args, tensor, is_tensor, error);
    if (!*is_tensor) return true;
    *tensor = (struct sp_torch_tensor){.dtype_name = shapeproof_dtype_name(SHAPEPROOF_DTYPE_UNKNOWN)};
    const char *function = sp_pickle_name(node);
    const bool is_parameter = function && sp_begins_with(function, "torch._utils._rebuild_parameter");
    if (is_parameter && !check_requires_grad(sp_pickle_arg(node, 1), error)) return false;
    if (!sp_pickle_is(call.role == SP_TORCH_OLD_TENSOR ? call.state : call.args, SP_PICKLE_TUPLE))
        return sp_malformed(error, "%s without a tuple of arguments", call.name);
    const struct rebuilder *known = find_rebuilder(call.name);
    return read_by_role(torch, &call, tensor, error) &&
           (!is_parameter || check_gradient(sp_pickle_arg(node, 1), tensor, error)) &&
           (!known || !known->requires_grad || check_gradient(arg(&call, known->requires_grad), tensor, error));
}
