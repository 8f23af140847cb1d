/* SPDX-License-Identifier: MIT
 * The object in `.metadata`, of torch.distributed.checkpoint.metadata, or where its classes were before torch 2.0:
 *
 *   Metadata(state_dict_metadata, planner_data, storage_data, ...)
 *     state_dict_metadata  name -> TensorStorageMetadata(properties, size, chunks), or BytesStorageMetadata()
 *     chunks               [ChunkStorageMetadata(offsets, sizes)]
 *     properties           TensorProperties, whose state is a tuple that begins with the dtype
 *     planner_data         name -> the keys on the way to it, ("optimizer", "state", 0)
 *     mcore_data           of Megatron: name -> {"nd_reformulated_orig_global_shape": shape}
 *
 * The classes are not asked for by their names, but that of bytes: it is their attributes that count. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/chars.h"
#include "base/checked.h"
#include "base/names.h"
#include "read/dcp/dcp.h"
#include "read/torch/torch.h"

enum { MAX_CHUNKS = 4 * 1000 * 1000 };

/* ---- values ---- */

struct sp_pickle_value *sp_dcp_attribute(const struct sp_pickle_value *object, const char *name)
{
    if (!sp_pickle_is(object, SP_PICKLE_OBJECT)) return NULL;
    struct sp_pickle_value *state = object->as.object->state;
    if (sp_pickle_is(state, SP_PICKLE_TUPLE)) state = sp_pickle_item(state, 0);
    return sp_pickle_get(state, name);
}

bool sp_dcp_sizes(struct sp_dcp *dcp, const struct sp_pickle_value *value, const char *what, const uint64_t **sizes,
                  uint32_t *rank)
{
    if (sp_torch_role(value) == SP_TORCH_TRANSPARENT) value = sp_pickle_arg(value, 0); /* torch.Size((2, 3)) */
    if (!sp_pickle_is(value, SP_PICKLE_TUPLE) && !sp_pickle_is(value, SP_PICKLE_LIST))
        return sp_malformed(dcp->error, "%s that is no tuple", what);
    if (value->length > SP_MAX_RANK)
        return sp_fail(dcp->error, SHAPEPROOF_ERR_FILE, SHAPEPROOF_KIND_LIMIT, "%u dimensions, at most %d",
                       value->length, SP_MAX_RANK);
    uint64_t *numbers = sp_arena_array(&dcp->arena, value->length, sizeof *numbers);
    for (uint32_t i = 0; i < value->length; i++) {
        const struct sp_pickle_value *item = value->as.items[i];
        if (item->type != SP_PICKLE_INT || item->as.integer < 0)
            return sp_malformed(dcp->error, "item %u of %s is not a non-negative integer", i, what);
        numbers[i] = (uint64_t)item->as.integer;
    }
    *sizes = numbers;
    *rank = value->length;
    return true;
}

static bool multiply_sizes(const uint64_t *sizes, uint32_t rank, uint64_t *product)
{
    uint64_t elements = 1;
    for (uint32_t i = 0; i < rank; i++)
        if (!sp_mul_u64(elements, sizes[i], &elements)) return false;
    *product = elements;
    return true;
}

/* Limits of what is no tensor's own fault end the reading. */
static bool within_limits(struct sp_dcp *dcp)
{
    if (dcp->chunks > MAX_CHUNKS)
        return sp_fail(dcp->error, SHAPEPROOF_ERR_FILE, SHAPEPROOF_KIND_LIMIT, "more than %d chunks", MAX_CHUNKS);
    return dcp->arena.used <= SP_PICKLE_MAX_MEMORY ||
           sp_fail(dcp->error, SHAPEPROOF_ERR_FILE, SHAPEPROOF_KIND_LIMIT, "chunks that need more than %d bytes",
                   SP_PICKLE_MAX_MEMORY);
}

/* ---- one tensor ---- */

/* The state of the properties is (dtype, layout, ...), or a dict. */
static bool read_properties(struct sp_dcp *dcp, const struct sp_pickle_value *properties, struct sp_dcp_tensor *tensor)
{
    const struct sp_pickle_value *state =
        sp_pickle_is(properties, SP_PICKLE_OBJECT) ? properties->as.object->state : NULL;
    const struct sp_pickle_value *dtype = sp_pickle_get(state, "dtype");
    if (!dtype) dtype = sp_pickle_item(state, 0);
    return sp_torch_dtype(dtype, &tensor->dtype, &tensor->dtype_name) ||
           sp_malformed(dcp->error, "its properties name no dtype");
}

/* Reads the offsets and sizes of a chunk and checks that it lies within its tensor. */
static bool read_chunk(struct sp_dcp *dcp, const struct sp_pickle_value *value, const struct sp_dcp_tensor *tensor,
                       size_t number, struct sp_dcp_chunk *chunk)
{
    uint32_t offsets, sizes;
    *chunk = (struct sp_dcp_chunk){.source = dcp->sources};
    if (!sp_dcp_sizes(dcp, sp_dcp_attribute(value, "offsets"), "offsets of a chunk", &chunk->offsets, &offsets) ||
        !sp_dcp_sizes(dcp, sp_dcp_attribute(value, "sizes"), "sizes of a chunk", &chunk->sizes, &sizes))
        return false;
    if (offsets != tensor->rank || sizes != tensor->rank)
        return sp_malformed(dcp->error, "chunk %zu has %u offsets and %u sizes, the tensor %u dimensions", number,
                            offsets, sizes, tensor->rank);
    for (uint32_t d = 0; d < tensor->rank; d++) {
        const uint64_t begin = chunk->offsets[d], end = begin + chunk->sizes[d]; /* both below 2^63 */
        if (end > tensor->size[d])
            return sp_malformed(dcp->error,
                                "chunk %zu is [%" PRIu64 ", %" PRIu64 ") of dimension %u, which has %" PRIu64, number,
                                begin, end, d, tensor->size[d]);
    }
    return multiply_sizes(chunk->sizes, tensor->rank, &chunk->elements); /* none is larger than that of the tensor */
}

static int compare_offsets(const uint64_t *a, const uint64_t *b, uint32_t rank)
{
    for (uint32_t d = 0; d < rank; d++)
        if (a[d] != b[d]) return a[d] < b[d] ? -1 : 1;
    return 0;
}

void sp_dcp_add_chunk(struct sp_dcp_tensor *tensor, const struct sp_dcp_chunk *chunk)
{
    const size_t last = tensor->chunk_count;
    SP_GROW(tensor->chunks, tensor->chunk_count, tensor->chunk_capacity);
    tensor->chunks[tensor->chunk_count++] = *chunk;
    if (last && compare_offsets(tensor->chunks[last - 1].offsets, chunk->offsets, tensor->rank) >= 0)
        tensor->mixed = true;
}

struct sp_dcp_chunk *sp_dcp_chunk_at(struct sp_dcp *dcp, const struct sp_dcp_tensor *tensor, const uint64_t *offsets,
                                     size_t at)
{
    size_t low = at, high = tensor->chunk_count;
    if (tensor->mixed) {
        for (; low < high && dcp->steps < SP_DCP_MAX_SEARCH; low++, dcp->steps++)
            if (compare_offsets(tensor->chunks[low].offsets, offsets, tensor->rank) == 0) return &tensor->chunks[low];
        return NULL;
    }
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (compare_offsets(tensor->chunks[middle].offsets, offsets, tensor->rank) < 0) low = middle + 1;
        else high = middle;
    }
    if (low == tensor->chunk_count || compare_offsets(tensor->chunks[low].offsets, offsets, tensor->rank) != 0)
        return NULL;
    return &tensor->chunks[low];
}

/* The pickle may have one list of chunks for many tensors. Where the list was read for a tensor of the same size before
 * (its tag says which), that tensor's chunks are copied. False when they have to be read. */
static bool take_shared_chunks(struct sp_dcp *dcp, const struct sp_pickle_value *list, struct sp_dcp_tensor *tensor)
{
    const struct sp_dcp_tensor *first = list->tag ? &dcp->tensors.items[list->tag - 1] : NULL;
    if (!first || first->rank != tensor->rank ||
        (tensor->rank && memcmp(first->size, tensor->size, tensor->rank * sizeof *tensor->size) != 0))
        return false;
    tensor->chunks = sp_realloc(NULL, first->chunk_count + 1, sizeof *tensor->chunks);
    if (first->chunk_count) memcpy(tensor->chunks, first->chunks, first->chunk_count * sizeof *tensor->chunks);
    tensor->chunk_count = tensor->chunk_capacity = first->chunk_count;
    tensor->mixed = first->mixed;
    dcp->chunks += first->chunk_count;
    return true;
}

static bool read_chunks(struct sp_dcp *dcp, const struct sp_pickle_value *list, struct sp_dcp_tensor *tensor)
{
    struct sp_dcp_chunk chunk;
    if (!sp_pickle_is(list, SP_PICKLE_LIST)) return sp_malformed(dcp->error, "it has no list of chunks");
    if (take_shared_chunks(dcp, list, tensor)) return within_limits(dcp);
    for (uint32_t i = 0; i < list->length; i++) {
        dcp->chunks++;
        if (!within_limits(dcp) || !read_chunk(dcp, list->as.items[i], tensor, i, &chunk)) return false;
        sp_dcp_add_chunk(tensor, &chunk);
    }
    return true;
}

static const uint64_t *keep_sizes(struct sp_dcp *dcp, const uint64_t *sizes, uint32_t rank)
{
    uint64_t *kept = sp_arena_array(&dcp->inventory->arena, rank, sizeof *kept);
    if (rank) memcpy(kept, sizes, rank * sizeof *kept);
    return kept;
}

static bool read_tensor_entry(struct sp_dcp *dcp, const struct sp_pickle_value *value, struct sp_dcp_tensor *tensor)
{
    struct sp_arena *arena = &dcp->inventory->arena;
    if (!read_properties(dcp, sp_dcp_attribute(value, "properties"), tensor) ||
        !sp_dcp_sizes(dcp, sp_dcp_attribute(value, "size"), "a size", &tensor->size, &tensor->rank))
        return false;
    if (!multiply_sizes(tensor->size, tensor->rank, &tensor->elements))
        return sp_malformed(dcp->error, "its size overflows 64 bits");
    tensor->dtype_name =
        tensor->dtype ? shapeproof_dtype_name(tensor->dtype) : sp_arena_string(arena, tensor->dtype_name);
    tensor->size = keep_sizes(dcp, tensor->size, tensor->rank);
    tensor->shape = tensor->size;
    tensor->shape_rank = tensor->rank;
    return read_chunks(dcp, sp_dcp_attribute(value, "chunks"), tensor);
}

/* ---- all of them ---- */

static bool spell_key(struct sp_dcp *dcp, const struct sp_pickle_value *key, size_t number, const char **name)
{
    struct sp_text text = {0};
    sp_text_puts(&text, "");
    const bool ok = sp_torch_put_key(&text, key, number) && text.length <= SP_MAX_NAME;
    const bool fits = !ok || sp_inventory_spend_names(dcp->inventory, text.length, dcp->error);
    *name = sp_arena_copy(&dcp->inventory->arena, text.data, ok && fits ? text.length : 0);
    sp_text_free(&text);
    if (ok) return fits;
    return sp_fail(dcp->error, SHAPEPROOF_ERR_FILE, SHAPEPROOF_KIND_LIMIT, "a name is longer than %d bytes",
                   SP_MAX_NAME);
}

/* Whether another rank has written the same chunk; then it is taken for that of this rank. */
static bool is_replica(struct sp_dcp *dcp, struct sp_dcp_tensor *known, const struct sp_dcp_chunk *chunk)
{
    const size_t bytes = known->rank * sizeof *chunk->sizes;
    struct sp_dcp_chunk *same = sp_dcp_chunk_at(dcp, known, chunk->offsets, 0);
    while (same && bytes && memcmp(same->sizes, chunk->sizes, bytes) != 0)
        same = sp_dcp_chunk_at(dcp, known, chunk->offsets, (size_t)(same - known->chunks) + 1);
    if (same) same->source = chunk->source;
    return same != NULL;
}

/* Adds the chunks that another rank lists of a tensor. Chunks of both, which are replicas, count once. */
static bool merge_tensor(struct sp_dcp *dcp, struct sp_dcp_tensor *known, const struct sp_dcp_tensor *more)
{
    if (known->source == more->source)
        return sp_malformed(dcp->error, "tensor name %s appears twice", sp_quote(known->name).text);
    known->source = more->source;
    if (known->dtype != more->dtype || known->rank != more->rank ||
        (known->rank && memcmp(known->size, more->size, known->rank * sizeof *known->size) != 0)) {
        sp_inventory_warn(dcp->inventory, "tensor %s: the ranks do not agree on its type and shape",
                          sp_quote(known->name).text);
        return true;
    }
    for (size_t i = 0; i < more->chunk_count; i++) {
        if (is_replica(dcp, known, &more->chunks[i])) continue;
        sp_dcp_add_chunk(known, &more->chunks[i]);
    }
    return true;
}

/* A text keeps the number of the tensor that it is the name of. */
static void tag_key(struct sp_pickle_value *key, size_t number)
{
    if (key->type == SP_PICKLE_STR) key->tag = (uint32_t)number + 1;
}

/* Adds a tensor, or its chunks to the tensor of that name from the pickle of another rank. One that cannot be read is
 * noted as unread, and is no error. False with an error when a limit for all tensors together is passed. */
static bool add_tensor_entry(struct sp_dcp *dcp, struct sp_pickle_value *key, const char *name,
                             const struct sp_pickle_value *value)
{
    struct sp_dcp_tensor tensor = {.name = name, .source = dcp->sources};
    const size_t known = sp_map_get(&dcp->names, name);
    if (!read_tensor_entry(dcp, value, &tensor)) {
        const struct shapeproof_error why = *dcp->error;
        sp_free(tensor.chunks);
        if (dcp->chunks > MAX_CHUNKS || dcp->arena.used > SP_PICKLE_MAX_MEMORY) return false;
        sp_error_reset(dcp->error);
        return sp_inventory_unread(dcp->inventory, name, &why, dcp->error);
    }
    if (known != SIZE_MAX) {
        const bool ok = merge_tensor(dcp, &dcp->tensors.items[known], &tensor);
        tag_key(key, known);
        sp_free(tensor.chunks);
        return ok;
    }
    if (dcp->tensors.count >= SP_MAX_TENSORS) {
        sp_free(tensor.chunks);
        return sp_fail(dcp->error, SHAPEPROOF_ERR_FILE, SHAPEPROOF_KIND_LIMIT, "more than %d tensors", SP_MAX_TENSORS);
    }
    sp_map_add(&dcp->names, name, dcp->tensors.count);
    tag_key(key, dcp->tensors.count);
    sp_dcp_attribute(value, "chunks")->tag = (uint32_t)dcp->tensors.count + 1;
    *SP_PUSH(&dcp->tensors) = tensor;
    return true;
}

/* Bytes are objects that were pickled: what is not divided. Transformer Engine has one for each of its layers, in
 * Megatron "decoder.layers.mlp.linear_fc1._extra_state/shard_0_12". */
static void count_object(struct sp_dcp *dcp, const char *name)
{
    if (strstr(name, "_extra_state")) {
        dcp->extra_states++;
        return;
    }
    dcp->object_count++;
    sp_names_add(dcp->objects, name);
}

/* Whether an entry is an instance of the class. */
static bool is_entry_of(const struct sp_pickle_value *value, const char *class_name)
{
    const char *name = sp_pickle_name(value);
    return name && sp_ends_with(name, class_name);
}

/* dcp.load unpickles what has no entry of a tensor, also if the entry has the attributes of one. */
static void note_object_name(struct sp_dcp *dcp, const char *name)
{
    if (sp_map_add(&dcp->object_names, name, dcp->object_texts.count)) *SP_PUSH(&dcp->object_texts) = name;
}

const char *sp_dcp_object_name(struct sp_dcp *dcp, const struct sp_pickle_value *key)
{
    struct sp_text text = {0};
    size_t found = SIZE_MAX;
    if (key && sp_torch_put_key(&text, key, 0) && text.length <= SP_MAX_NAME)
        found = sp_map_get(&dcp->object_names, text.data ? text.data : "");
    sp_text_free(&text);
    return found == SIZE_MAX ? NULL : dcp->object_texts.items[found];
}

static bool read_entries(struct sp_dcp *dcp, const struct sp_pickle_value *entries)
{
    const char *name;
    for (uint32_t i = 0; i + 1 < entries->length; i += 2) {
        struct sp_pickle_value *key = entries->as.items[i];
        const struct sp_pickle_value *value = entries->as.items[i + 1];
        if (!spell_key(dcp, key, i / 2, &name)) return false;
        if (!is_entry_of(value, ".TensorStorageMetadata")) note_object_name(dcp, name);
        if (is_entry_of(value, ".BytesStorageMetadata")) count_object(dcp, name);
        else if (!add_tensor_entry(dcp, key, name, value)) return false;
        if (dcp->inventory->arena.used / 2 > SP_PICKLE_MAX_MEMORY)
            return sp_fail(dcp->error, SHAPEPROOF_ERR_FILE, SHAPEPROOF_KIND_LIMIT,
                           "names and shapes of more than %d bytes", SP_PICKLE_MAX_MEMORY);
    }
    return true;
}

/* A key that is the very object that the name was has its number; one that is equal to it is looked up. */
size_t sp_dcp_find(struct sp_dcp *dcp, const struct sp_pickle_value *key)
{
    struct sp_text text = {0};
    size_t found = SHAPEPROOF_NONE;
    if (!sp_pickle_is(key, SP_PICKLE_STR)) return SHAPEPROOF_NONE;
    if (key->tag && !(key->tag & SP_DCP_FILE_TAG)) return key->tag - 1;
    if (sp_torch_put_key(&text, key, 0) && text.length <= SP_MAX_NAME)
        found = sp_map_get(&dcp->names, text.data ? text.data : "");
    sp_text_free(&text);
    return found;
}

/* ---- what else is said of them ---- */

/* Names of flat dictionaries that can only be those of an optimizer. */
static bool is_optimizer_name(const char *name)
{
    static const char *const beginnings[] = {"optimizer.state.", "optimizer.param_groups.", "optim.state.",
                                             "optim.param_groups."};
    for (size_t i = 0; i < sizeof beginnings / sizeof *beginnings; i++)
        if (strncmp(name, beginnings[i], strlen(beginnings[i])) == 0) return true;
    return false;
}

/* Whether a key on the way to a tensor says that it is beside the model: the first one, or the second one where all is
 * below "app", as the examples of PyTorch have it. A tensor at the root is a part of the model. */
static bool is_path_beside_model(const struct sp_pickle_value *path)
{
    const struct sp_pickle_value *first = sp_pickle_item(path, 0), *second = sp_pickle_item(path, 1);
    const bool in_app = sp_pickle_is(first, SP_PICKLE_STR) && SP_IS(first->as.text, first->length, "app");
    return second && (sp_torch_is_state_key(first) || (in_app && sp_torch_is_state_key(second)));
}

static void note_paths(struct sp_dcp *dcp, const struct sp_pickle_value *paths)
{
    if (!sp_pickle_is(paths, SP_PICKLE_DICT)) return;
    for (uint32_t i = 0; i + 1 < paths->length; i += 2) {
        const size_t number = sp_dcp_find(dcp, paths->as.items[i]);
        const struct sp_pickle_value *path = paths->as.items[i + 1];
        if (number != SHAPEPROOF_NONE && is_path_beside_model(path)) dcp->tensors.items[number].state = true;
    }
}

static void note_shape(struct sp_dcp *dcp, struct sp_dcp_tensor *tensor, const struct sp_pickle_value *value)
{
    const uint64_t *shape;
    uint64_t elements;
    uint32_t rank;
    const bool ok = sp_dcp_sizes(dcp, value, "a shape", &shape, &rank);
    if (ok && multiply_sizes(shape, rank, &elements) && elements == tensor->elements) {
        tensor->shape = keep_sizes(dcp, shape, rank);
        tensor->shape_rank = rank;
        return;
    }
    sp_error_reset(dcp->error);
    sp_inventory_warn(dcp->inventory, "tensor %s: its shape is given twice, and the two do not agree",
                      sp_quote(tensor->name).text);
}

/* The shapes that tensors had before their pieces were laid out in rows. */
static void note_shapes(struct sp_dcp *dcp, const struct sp_pickle_value *shapes)
{
    if (!sp_pickle_is(shapes, SP_PICKLE_DICT)) return;
    for (uint32_t i = 0; i + 1 < shapes->length; i += 2) {
        const size_t number = sp_dcp_find(dcp, shapes->as.items[i]);
        const struct sp_pickle_value *shape =
            sp_pickle_get(shapes->as.items[i + 1], "nd_reformulated_orig_global_shape");
        if (number != SHAPEPROOF_NONE && shape) note_shape(dcp, &dcp->tensors.items[number], shape);
    }
}

bool sp_dcp_metadata(struct sp_dcp *dcp, const struct sp_pickle *pickle)
{
    const struct sp_pickle_value *entries = sp_dcp_attribute(pickle->root, "state_dict_metadata");
    const size_t before = dcp->tensors.count;
    if (!sp_pickle_is(entries, SP_PICKLE_DICT))
        return sp_malformed(dcp->error, "a pickle without a dictionary 'state_dict_metadata'");
    if (!read_entries(dcp, entries)) return false;
    for (size_t i = before; i < dcp->tensors.count; i++)
        dcp->tensors.items[i].state = is_optimizer_name(dcp->tensors.items[i].name);
    note_paths(dcp, sp_dcp_attribute(pickle->root, "planner_data"));
    note_shapes(dcp, sp_dcp_attribute(pickle->root, "mcore_data"));
    return sp_dcp_places(dcp, sp_dcp_attribute(pickle->root, "storage_data"));
}
