/* SPDX-License-Identifier: MIT
 * Tensors of subclasses whose data is in other tensors, which are in their state:
 *
 *   DTensor        {"_local_tensor": tensor, "_spec": {"mesh": mesh, "placements": (Shard(dim), ...)}}
 *   ShardedTensor  ([{"tensor": tensor, "metadata": ...}, ...], {"shards_metadata": [...]}, ...)
 *   any other      an object, a dict or a tuple with tensors in it, such as codes and scales
 *
 * The first two have the shape of the whole, and in their state what one rank of a training holds of it. When that is
 * the whole, the tensor is listed as the one that it wraps; otherwise as a piece. Of the others only the outer shape is
 * listed; they have data when a tensor in their state has. */
#include <inttypes.h>
#include <string.h>

#include "base/checked.h"
#include "model/layouts.h"
#include "read/torch/torch.h"

/* Wrappers within wrappers; values that are looked at below one of an unknown class, and how deep; and values that are
 * looked at for all wrappers of a file, as many may share a long state: seconds of a processor at most. */
enum { MAX_WRAPPED = 4, MAX_VALUES = 1000, MAX_VALUES_DEEP = 8, MAX_PLACEMENTS = 16, MAX_UNWRAPPED = 20 * 1000 * 1000 };

static struct sp_pickle_value *entry(struct sp_torch *torch, const struct sp_pickle_value *dict, const char *name)
{
    torch->unwrapped += sp_pickle_is(dict, SP_PICKLE_DICT) ? dict->length / 2 : 1;
    return torch->unwrapped > MAX_UNWRAPPED ? NULL : sp_pickle_get(dict, name);
}

/* The attribute of an object, or of the state of one: a dict, or a tuple of dicts (attributes, slots). */
static struct sp_pickle_value *attribute(struct sp_torch *torch, const struct sp_pickle_value *value, const char *name)
{
    if (sp_pickle_is(value, SP_PICKLE_OBJECT)) value = value->as.object->state;
    struct sp_pickle_value *found = entry(torch, value, name);
    for (uint32_t i = 0; !found && sp_pickle_is(value, SP_PICKLE_TUPLE) && i < value->length && i < 2; i++)
        found = entry(torch, value->as.items[i], name);
    return found;
}

/* ---- pieces ---- */

/* Whether the elements follow one another as the shape has them. */
static bool is_row_major(const struct sp_torch_tensor *part)
{
    const struct shapeproof_tensor tensor = {.rank = part->rank,
                                             .shape = part->shape,
                                             .stride = part->strided ? part->stride : NULL,
                                             .parameters = part->parameters};
    return sp_is_row_major(&tensor);
}

/* Keeps what the file has of the tensor, of the same or another shape, as a piece of it. */
static struct shapeproof_tensor_piece *make_piece(struct sp_torch *torch, struct sp_torch_tensor *tensor,
                                                  const struct sp_torch_tensor *part)
{
    struct sp_arena *arena = &torch->inventory->arena;
    struct shapeproof_tensor_piece *piece = sp_arena_alloc(arena, sizeof *piece);
    uint64_t *shape = sp_arena_array(arena, part->rank, sizeof *shape);
    if (part->rank) memcpy(shape, part->shape, part->rank * sizeof *shape);
    *piece = (struct shapeproof_tensor_piece){.rank = part->rank,
                                              .shape = shape,
                                              .bytes = part->bytes,
                                              .index = SHAPEPROOF_NONE,
                                              .row_major = is_row_major(part)};
    tensor->piece = piece;
    tensor->storage = part->storage;
    tensor->offset = part->offset;
    tensor->extent = part->extent;
    tensor->flags |= part->flags & SHAPEPROOF_TENSOR_NO_DATA;
    return piece;
}

static bool is_same_shape(const struct sp_torch_tensor *a, const struct sp_torch_tensor *b)
{
    return a->rank == b->rank && memcmp(a->shape, b->shape, a->rank * sizeof *a->shape) == 0;
}

/* The tensor that one rank holds of `tensor`: false when there is none, or it is broken. */
static bool read_part(struct sp_torch *torch, struct sp_pickle_value *value, struct sp_torch_tensor *part,
                      struct shapeproof_error *error)
{
    bool is_tensor;
    if (torch->wrapped >= MAX_WRAPPED)
        return sp_fail(error, SHAPEPROOF_ERR_FILE, SHAPEPROOF_KIND_LIMIT, "more than %d tensors that wrap each other",
                       MAX_WRAPPED);
    torch->wrapped++;
    const bool ok = sp_torch_tensor(torch, value, part, &is_tensor, error);
    torch->wrapped--;
    return ok && (is_tensor || sp_malformed(error, "what it wraps is not a tensor"));
}

/* ---- DTensor ---- */

/* The numbers in a tuple, or one that stands alone, multiplied by `product`. */
static bool multiply_by(const struct sp_pickle_value *value, uint64_t *product)
{
    if (sp_pickle_is(value, SP_PICKLE_INT))
        return value->as.integer > 0 && sp_mul_u64(*product, (uint64_t)value->as.integer, product);
    if (!sp_pickle_is(value, SP_PICKLE_TUPLE)) return false;
    for (uint32_t i = 0; i < value->length; i++)
        if (!sp_pickle_is(value->as.items[i], SP_PICKLE_INT) || !multiply_by(value->as.items[i], product)) return false;
    return true;
}

/* How many ranks there are along an axis of the mesh; false when the mesh does not say so. Its layout has the numbers
 * (an object with a shape for each axis); before torch 2.9 it had a tensor of all ranks. */
static bool ranks_along(struct sp_torch *torch, const struct sp_pickle_value *mesh, size_t axis, uint64_t *ranks)
{
    const struct sp_pickle_value *layout = attribute(torch, mesh, "_layout");
    const struct sp_pickle_value *axes = attribute(torch, layout, "axes"), *shape = attribute(torch, layout, "shape");
    struct sp_pickle_value *of_all = attribute(torch, mesh, "mesh");
    struct sp_torch_tensor tensor;
    struct shapeproof_error ignored = {0};
    *ranks = 1;
    if (axes) return multiply_by(attribute(torch, sp_pickle_item(axes, axis), "shape"), ranks);
    if (sp_pickle_is(shape, SP_PICKLE_INT)) return axis == 0 && multiply_by(shape, ranks);
    if (shape) return multiply_by(sp_pickle_item(shape, axis), ranks);
    if (!of_all || !read_part(torch, of_all, &tensor, &ignored) || axis >= tensor.rank) return false;
    *ranks = tensor.shape[axis];
    return true;
}

/* "Shard(0)", "Replicate()", "Partial(sum)" */
static void put_placement(struct sp_torch *torch, struct sp_text *text, const struct sp_pickle_value *placement)
{
    const char *name = sp_pickle_name(placement), *last = name ? strrchr(name, '.') : NULL;
    const struct sp_pickle_value *dim = attribute(torch, placement, "dim"),
                                 *sum = attribute(torch, placement, "reduce_op");
    sp_text_printf(text, "%.40s(", last ? last + 1 : "?");
    if (sp_pickle_is(dim, SP_PICKLE_INT)) sp_text_printf(text, "%" PRId64, dim->as.integer);
    if (sp_pickle_is(sum, SP_PICKLE_STR))
        sp_text_printf(text, "%.*s", (int)(sum->length < 20 ? sum->length : 20), sum->as.text);
    sp_text_puts(text, ")");
}

static bool is_of_class(const struct sp_pickle_value *value, const char *word)
{
    const char *name = sp_pickle_name(value), *last = name ? strrchr(name, '.') : NULL;
    return last && strstr(last, word) != NULL;
}

/* Fills in how a piece of a DTensor has been cut: the placements as text, "Shard(0), Replicate()", into how many
 * pieces, and which of them this is, as far as the mesh says so. Each placement is for one axis of the mesh; axes along
 * which the tensor is replicated do not cut it. Rank (1, 0) of a mesh (2, 3), with "Shard(0), Shard(1)" -> 3 of 6. A
 * summand, of Partial, has all elements and no number among the pieces. */
static void describe_cut(struct sp_torch *torch, const struct sp_pickle_value *spec,
                         struct shapeproof_tensor_piece *piece)
{
    const struct sp_pickle_value *mesh = attribute(torch, spec, "mesh"),
                                 *placements = attribute(torch, spec, "placements");
    const struct sp_pickle_value *place = attribute(torch, mesh, "_coordinate_on_dim"); /* of this rank, by axis */
    struct sp_text text = {0};
    uint64_t ranks, all = 1; /* pieces; 0 once it is not known how many */
    uint64_t index = 0;      /* of this one: the last axis that cuts counts fastest */
    bool is_cut = false, is_numbered = true;
    for (size_t i = 0; i < MAX_PLACEMENTS && sp_pickle_item(placements, i); i++) {
        const struct sp_pickle_value *placement = sp_pickle_item(placements, i);
        sp_text_puts(&text, i ? ", " : "");
        put_placement(torch, &text, placement);
        if (is_of_class(placement, "Replicate")) continue;
        const bool is_known = ranks_along(torch, mesh, i, &ranks);
        if (!is_known || !sp_mul_u64(all, ranks, &all)) all = 0;
        if (is_known && ranks == 1) continue;
        const struct sp_pickle_value *own = sp_pickle_item(place, i);
        is_cut = true;
        is_numbered = is_numbered && all && !is_of_class(placement, "Partial") && sp_pickle_is(own, SP_PICKLE_INT) &&
                      own->as.integer >= 0 && (uint64_t)own->as.integer < ranks;
        if (is_numbered) index = index * ranks + (uint64_t)own->as.integer; /* below `all`, which does not overflow */
    }
    if (text.length) piece->placement = sp_text_keep(&text, &torch->inventory->arena);
    else sp_text_free(&text);
    piece->pieces = all > 1 ? all : 0;
    if (is_cut && is_numbered) piece->index = index;
}

static bool is_partial(struct sp_torch *torch, const struct sp_pickle_value *spec)
{
    const struct sp_pickle_value *placements = attribute(torch, spec, "placements");
    for (size_t i = 0; i < MAX_PLACEMENTS && sp_pickle_item(placements, i); i++)
        if (is_of_class(sp_pickle_item(placements, i), "Partial")) return true;
    return false;
}

static bool read_dtensor(struct sp_torch *torch, struct sp_pickle_value *local, const struct sp_pickle_value *spec,
                         struct sp_torch_tensor *tensor, struct shapeproof_error *error)
{
    struct sp_torch_tensor part;
    if (!read_part(torch, local, &part, error)) return false;
    if (is_same_shape(&part, tensor) && !is_partial(torch, spec)) *tensor = part;
    else describe_cut(torch, spec, make_piece(torch, tensor, &part));
    return true;
}

/* ---- ShardedTensor ---- */

/* Whether both are lists of the same integers: the offsets of a shard in the tensor. */
static bool are_same_offsets(const struct sp_pickle_value *a, const struct sp_pickle_value *b)
{
    if (!sp_pickle_is(a, SP_PICKLE_LIST) || !sp_pickle_is(b, SP_PICKLE_LIST) || a->length != b->length) return false;
    for (uint32_t i = 0; i < a->length; i++)
        if (!sp_pickle_is(a->as.items[i], SP_PICKLE_INT) || !sp_pickle_is(b->as.items[i], SP_PICKLE_INT) ||
            a->as.items[i]->as.integer != b->as.items[i]->as.integer)
            return false;
    return a->length > 0;
}

/* Which of all shards lies where `shard` lies, counted from 0; SHAPEPROOF_NONE when none does. */
static uint64_t index_of_shard(struct sp_torch *torch, struct sp_pickle_value *shard, const struct sp_pickle_value *all)
{
    const struct sp_pickle_value *at = attribute(torch, attribute(torch, shard, "metadata"), "shard_offsets");
    for (uint32_t i = 0; i < all->length && torch->unwrapped <= MAX_UNWRAPPED; i++)
        if (are_same_offsets(at, attribute(torch, all->as.items[i], "shard_offsets"))) return i;
    return SHAPEPROOF_NONE;
}

/* Reads a ShardedTensor: the shards that this file holds. A single one that is the whole takes the place of the tensor,
 * several that are the whole leave it as it is, and when they are less than the whole it is marked as a piece, which
 * has the shape of the first shard and the bytes of all of them. False with an error. */
static bool read_sharded(struct sp_torch *torch, const struct sp_pickle_value *shards,
                         const struct sp_pickle_value *metadata, struct sp_torch_tensor *tensor,
                         struct shapeproof_error *error)
{
    const struct sp_pickle_value *all = attribute(torch, metadata, "shards_metadata");
    struct sp_torch_tensor part = {.rank = tensor->rank}, first = part;
    uint64_t bytes = 0, elements = 0;
    for (uint32_t i = 0; i < shards->length && torch->unwrapped <= MAX_UNWRAPPED; i++) {
        if (!read_part(torch, attribute(torch, shards->as.items[i], "tensor"), &part, error)) return false;
        if (!sp_add_u64(bytes, part.bytes, &bytes) || !sp_add_u64(elements, part.parameters, &elements))
            return sp_malformed(error, "the size of its shards overflows 64 bits");
        if (part.storage && shards->length > 1) part.storage->root->parts = true;
        if (!i) first = part;
    }
    if (shards->length == 1 && is_same_shape(&part, tensor)) *tensor = part;
    if (elements >= tensor->parameters) return true; /* several that are the whole */
    struct shapeproof_tensor_piece *piece = make_piece(torch, tensor, &first);
    piece->bytes = bytes;
    if (sp_pickle_is(all, SP_PICKLE_LIST) && all->length > 1) {
        piece->pieces = all->length;
        if (shards->length == 1) piece->index = index_of_shard(torch, shards->as.items[0], all);
    }
    return true;
}

/* ---- others ---- */

struct search {
    struct sp_torch *torch;
    struct shapeproof_error *error;
    uint64_t end; /* of what may be looked at */
    uint64_t bytes;
};

static bool search_value(struct search *search, struct sp_pickle_value *value, unsigned depth);

static bool search_items(struct search *search, const struct sp_pickle_value *list, unsigned depth)
{
    const bool any = list && list->type >= SP_PICKLE_TUPLE && list->type <= SP_PICKLE_DICT;
    for (uint32_t i = 0; any && i < list->length; i++)
        if (!search_value(search, list->as.items[i], depth + 1)) return false;
    return true;
}

/* Adds up the bytes of the tensors in the value, as far as it is searched. */
static bool search_value(struct search *search, struct sp_pickle_value *value, unsigned depth)
{
    struct sp_torch_tensor part;
    bool is_tensor = false;
    if (!value || depth > MAX_VALUES_DEEP || search->torch->unwrapped++ > search->end) return true;
    if (value->type < SP_PICKLE_TUPLE) return true;
    if (value->type != SP_PICKLE_OBJECT) return search_items(search, value, depth);
    if (search->torch->wrapped >= MAX_WRAPPED) return true;
    search->torch->wrapped++;
    const bool ok = sp_torch_tensor(search->torch, value, &part, &is_tensor, search->error);
    search->torch->wrapped--;
    if (!ok) return false;
    if (!is_tensor) return search_value(search, value->as.object->state, depth + 1);
    if (part.flags & SHAPEPROOF_TENSOR_NO_DATA) return true;
    if (part.storage) part.storage->root->parts = true;
    if (!sp_add_u64(search->bytes, part.bytes, &search->bytes)) search->bytes = UINT64_MAX;
    return true;
}

/* Without a limit on what is looked at. */
static bool read_wrapped(struct sp_torch *torch, struct sp_pickle_value *state, struct sp_torch_tensor *tensor,
                         struct shapeproof_error *error)
{
    struct sp_pickle_value *local = attribute(torch, state, "_local_tensor"), *shards = sp_pickle_item(state, 0);
    const struct sp_pickle_value *metadata = sp_pickle_item(state, 1);
    if (local) return read_dtensor(torch, local, attribute(torch, state, "_spec"), tensor, error);
    if (sp_pickle_is(shards, SP_PICKLE_LIST) && attribute(torch, metadata, "shards_metadata"))
        return read_sharded(torch, shards, metadata, tensor, error);
    struct search search = {.torch = torch, .error = error, .end = torch->unwrapped + MAX_VALUES};
    torch->wrappers++;
    if (!search_value(&search, state, 0)) return false;
    if (!sp_add_u64(torch->wrapped_bytes, search.bytes, &torch->wrapped_bytes)) torch->wrapped_bytes = UINT64_MAX;
    if (!search.bytes && tensor->bytes) tensor->flags |= SHAPEPROOF_TENSOR_NO_DATA;
    return true;
}

bool sp_torch_wrapped(struct sp_torch *torch, struct sp_pickle_value *state, struct sp_torch_tensor *tensor,
                      struct shapeproof_error *error)
{
    if (!read_wrapped(torch, state, tensor, error)) return false;
    return torch->unwrapped <= MAX_UNWRAPPED ||
           sp_fail(error, SHAPEPROOF_ERR_FILE, SHAPEPROOF_KIND_LIMIT,
                   "tensors of subclasses whose states have more than %d values", MAX_UNWRAPPED);
}
