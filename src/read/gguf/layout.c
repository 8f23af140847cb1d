/* SPDX-License-Identifier: MIT */
#include "read/gguf/layout.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "base/names.h"
#include "base/utf8.h"
#include "read/gguf/types.h"

/* ---- what the header says of a tensor ---- */

static bool read_gguf_name(struct sp_gguf_stream *stream, struct sp_text *name)
{
    const uint64_t at = stream->offset, length = sp_gguf_count(stream);
    if (!stream->ok) return false;
    if (length > SP_MAX_NAME)
        return sp_malformed(stream->error, "tensor at byte %" PRIu64 ": a name of %" PRIu64 " bytes", at, length);
    sp_gguf_bytes(stream, length, name);
    if (!stream->ok) return false;
    if (sp_utf8_check(name->data, name->length) < name->length || strlen(name->data) < name->length)
        return sp_malformed(stream->error, "tensor at byte %" PRIu64 ": the name is not UTF-8 without NUL", at);
    return true;
}

/* The file has the innermost dimension first. */
static bool read_gguf_shape(struct sp_gguf_stream *stream, struct shapeproof_inventory *inventory,
                            struct shapeproof_tensor *tensor)
{
    const uint64_t rank = sp_gguf_integer(stream, 4);
    if (!stream->ok) return false;
    if (rank > SP_MAX_RANK)
        return sp_fail(stream->error, SHAPEPROOF_ERR_FILE, SHAPEPROOF_KIND_LIMIT,
                       "tensor %s: %" PRIu64 " dimensions, more than %d", sp_quote(tensor->name).text, rank,
                       SP_MAX_RANK);
    uint64_t *shape = sp_arena_array(&inventory->arena, (size_t)rank, sizeof *shape);
    for (size_t i = (size_t)rank; i-- > 0;) shape[i] = sp_gguf_count(stream);
    tensor->shape = shape;
    tensor->rank = (uint32_t)rank;
    return stream->ok;
}

static bool measure_blocks(struct shapeproof_tensor *tensor, const struct sp_ggml_type *type,
                           struct shapeproof_error *error)
{
    const uint64_t row = tensor->rank ? tensor->shape[tensor->rank - 1] : 1;
    if (row % type->elements)
        return sp_malformed(error, "tensor %s: rows of %" PRIu64 " elements are not whole blocks of %s, which have %u",
                            sp_quote(tensor->name).text, row, type->name, (unsigned)type->elements);
    if (!sp_mul_u64(tensor->parameters / type->elements, type->bytes, &tensor->bytes))
        return sp_malformed(error, "tensor %s: the shape overflows 64 bits", sp_quote(tensor->name).text);
    return true;
}

static bool set_type(struct shapeproof_tensor *tensor, uint32_t number, struct shapeproof_inventory *inventory,
                     struct shapeproof_error *error)
{
    const struct sp_ggml_type *type = sp_ggml_type(number);
    tensor->dtype = type ? type->dtype : SHAPEPROOF_DTYPE_UNKNOWN;
    if (!sp_tensor_measure(tensor))
        return sp_malformed(error, "tensor %s: the shape overflows 64 bits", sp_quote(tensor->name).text);
    if (!type) {
        tensor->dtype_name = sp_arena_printf(&inventory->arena, "type %u", (unsigned)number);
        sp_inventory_warn(inventory, "tensor %s is of type %u of ggml, which is not known here: its bytes are not told",
                          sp_quote(tensor->name).text, (unsigned)number);
        return true;
    }
    tensor->dtype_name = type->name;
    if (type->removed)
        sp_inventory_warn(inventory, "tensor %s is of type %s, which ggml has removed: quantise the model again",
                          sp_quote(tensor->name).text, type->name);
    return type->dtype != SHAPEPROOF_DTYPE_UNKNOWN || measure_blocks(tensor, type, error);
}

static bool read_tensor(struct sp_gguf_stream *stream, struct sp_text *name, uint32_t file_index,
                        struct shapeproof_inventory *inventory)
{
    struct shapeproof_tensor *tensor = sp_inventory_add(inventory, stream->error);
    if (!tensor || !read_gguf_name(stream, name)) return false;
    tensor->name = sp_arena_copy(&inventory->arena, name->data, name->length);
    tensor->file = file_index;
    tensor->flags = stream->big_endian ? SHAPEPROOF_TENSOR_BIG_ENDIAN : 0;
    if (!read_gguf_shape(stream, inventory, tensor)) return false;
    const uint32_t type = (uint32_t)sp_gguf_integer(stream, 4);
    tensor->data_begin = sp_gguf_integer(stream, 8);
    if (!stream->ok || !set_type(tensor, type, inventory, stream->error)) return false;
    if (!sp_add_u64(tensor->data_begin, tensor->bytes, &tensor->data_end))
        return sp_malformed(stream->error, "tensor %s: its data would end beyond 64 bits", sp_quote(tensor->name).text);
    return true;
}

bool sp_gguf_read_tensors(struct sp_gguf_stream *stream, uint64_t count, uint32_t file_index,
                          struct shapeproof_inventory *inventory)
{
    struct sp_text name = {0};
    const uint64_t least = stream->word + 4 + 4 + 8; /* without a name and without dimensions */
    bool ok = true;
    if (count > sp_gguf_left(stream) / least)
        return sp_malformed(stream->error,
                            "%" PRIu64 " tensors are declared, and %" PRIu64
                            " bytes are left of the file (truncated download?)",
                            count, sp_gguf_left(stream));
    for (uint64_t i = 0; i < count && ok; i++) ok = read_tensor(stream, &name, file_index, inventory);
    sp_text_free(&name);
    return ok;
}

/* ---- where the data lie ---- */

static int compare_places(const void *left, const void *right)
{
    const struct shapeproof_tensor *a = *(const struct shapeproof_tensor *const *)left,
                                   *b = *(const struct shapeproof_tensor *const *)right;
    if (a->data_begin != b->data_begin) return a->data_begin < b->data_begin ? -1 : 1;
    if (a->data_end != b->data_end) return a->data_end < b->data_end ? -1 : 1;
    return a < b ? -1 : a > b;
}

static uint64_t padded(uint64_t end, uint64_t alignment)
{
    const uint64_t over = end & (alignment - 1);
    uint64_t to;
    return over && sp_add_u64(end, alignment - over, &to) ? to : end;
}

/* Whether the file does not tell how many bytes the tensor has. */
static bool is_unmeasured(const struct shapeproof_tensor *tensor) { return !tensor->bytes && tensor->parameters; }

/* Whether a tensor lies behind the one before it: ggml has them one after the other, each padded. */
static bool check_place(const struct shapeproof_tensor *before, const struct shapeproof_tensor *tensor,
                        uint64_t alignment, struct shapeproof_inventory *inventory, struct shapeproof_error *error)
{
    const char *name = sp_arena_string(&inventory->arena, sp_quote(tensor->name).text);
    const uint64_t end = before ? before->data_end : 0;
    if (tensor->data_begin & (alignment - 1))
        return sp_malformed(error, "tensor %s: its offset %" PRIu64 " is not a multiple of the alignment, %" PRIu64,
                            name, tensor->data_begin, alignment);
    if (before && tensor->data_begin < end)
        return sp_malformed(error, "tensor %s: bytes [%" PRIu64 ", %" PRIu64 ") overlap %s [%" PRIu64 ", %" PRIu64 ")",
                            sp_quote(before->name).text, before->data_begin, end, name, tensor->data_begin,
                            tensor->data_end);
    if (tensor->data_begin > padded(end, alignment) && !(before && is_unmeasured(before)))
        sp_inventory_warn(inventory, "data bytes [%" PRIu64 ", %" PRIu64 ") before tensor %s belong to no tensor", end,
                          tensor->data_begin, name);
    return true;
}

/* The end of the data: what is missing is said once, and each tensor that reaches beyond has no data. */
static void check_data_end(const struct sp_file *file, uint64_t data, const struct shapeproof_tensor *last,
                           uint64_t alignment, size_t first, struct shapeproof_inventory *inventory)
{
    const uint64_t end = last ? last->data_end : 0, there = file->size > data ? file->size - data : 0;
    size_t cut = 0;
    for (size_t i = first; i < inventory->count; i++) {
        struct shapeproof_tensor *tensor = &inventory->tensors[i];
        if (tensor->data_end <= there) continue;
        tensor->flags |= SHAPEPROOF_TENSOR_NO_DATA;
        cut++;
    }
    if (cut)
        sp_inventory_warn(inventory,
                          "%" PRIu64 " bytes are missing at the end: %zu of %zu tensors lie beyond it, in whole or in "
                          "part (truncated download?)",
                          end - there, cut, inventory->count - first);
    else if (last && there > padded(end, alignment) && !is_unmeasured(last))
        sp_inventory_warn(inventory, "%" PRIu64 " bytes after the last tensor", there - end);
}

/* Makes the places count from the beginning of the file. */
static bool shift_places(uint64_t data, size_t first, struct shapeproof_inventory *inventory,
                         struct shapeproof_error *error)
{
    for (size_t i = first; i < inventory->count; i++) {
        struct shapeproof_tensor *tensor = &inventory->tensors[i];
        if (!sp_add_u64(tensor->data_end, data, &tensor->data_end))
            return sp_malformed(error, "tensor %s: its data would end beyond 64 bits", sp_quote(tensor->name).text);
        tensor->data_begin += data;
        if (is_unmeasured(tensor)) tensor->data_begin = tensor->data_end = 0;
    }
    return true;
}

/* Behind each tensor, to the next multiple of the alignment. */
static bool claim_gguf_padding(uint64_t alignment, uint64_t data, size_t first, struct shapeproof_inventory *inventory)
{
    for (size_t i = first; i < inventory->count; i++) {
        const struct shapeproof_tensor *tensor = &inventory->tensors[i];
        const uint64_t end = tensor->data_end;
        if (end) sp_inventory_claim(inventory, tensor->file, end, data + padded(end - data, alignment), SP_USE_PADDING);
    }
    return true;
}

bool sp_gguf_place_tensors(const struct sp_file *file, uint64_t data, uint64_t alignment, size_t first,
                           struct shapeproof_inventory *inventory, struct shapeproof_error *error)
{
    const size_t count = inventory->count - first;
    const struct shapeproof_tensor **sorted = sp_realloc(NULL, count + 1, sizeof *sorted), *last = NULL;
    bool ok = true;
    for (size_t i = 0; i < count; i++) sorted[i] = &inventory->tensors[first + i];
    qsort(sorted, count, sizeof *sorted, compare_places);
    for (size_t i = 0; i < count && ok; i++) {
        ok = check_place(last, sorted[i], alignment, inventory, error);
        last = sorted[i];
    }
    free(sorted);
    if (!ok) return false;
    if (!count && file->size > data && file->size - data > alignment)
        return sp_malformed(error, "%" PRIu64 " bytes after the header of a GGUF file that declares no tensor",
                            file->size - data);
    check_data_end(file, data, last, alignment, first, inventory);
    return shift_places(data, first, inventory, error) && claim_gguf_padding(alignment, data, first, inventory);
}
