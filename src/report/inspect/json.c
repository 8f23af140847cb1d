/* SPDX-License-Identifier: MIT
 * shapeproof.inspect/1: keys in a fixed order, one tensor per line. After the keys that every tensor has come those
 * that only some have: same_as, stride (when not row-major), offset (when not 0), shard (when there are several files),
 * flags, piece. "bytes" is null when the size of the dtype is unknown. */
#include <string.h>

#include "base/json_write.h"
#include "report/inspect/inspect.h"
#include "report/inventory.h"
#include "shapeproof/redact.h"

/* Only flags that say something of the tensor, and "flags" only if there are any. */
static void json_flags(struct sp_writer *json, uint32_t flags)
{
    static const struct {
        uint32_t flag;
        const char *name;
    } names[] = {{SHAPEPROOF_TENSOR_NO_DATA, "no_data"},
                 {SHAPEPROOF_TENSOR_EXPANDED, "expanded"},
                 {SHAPEPROOF_TENSOR_VIEW, "view"},
                 {SHAPEPROOF_TENSOR_STATE, "state"},
                 {SHAPEPROOF_TENSOR_BIG_ENDIAN, "big_endian"},
                 {SHAPEPROOF_TENSOR_NEGATED, "negated"},
                 {SHAPEPROOF_TENSOR_SPARSE, "sparse"}};
    uint32_t shown = 0;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) shown |= names[i].flag;
    if (!(flags & shown)) return;
    sp_write_key_open(json, "flags", '[');
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (flags & names[i].flag) sp_write_string(json, names[i].name);
    sp_write_close(json);
}

/* Dimensions of size 1 may have any stride, and so may a tensor without elements. */
static bool is_row_major(const struct shapeproof_tensor *tensor)
{
    uint64_t step = 1;
    if (!tensor->stride || !tensor->parameters) return true;
    for (uint32_t i = tensor->rank; i-- > 0; step *= tensor->shape[i])
        if (tensor->shape[i] != 1 && tensor->stride[i] != step) return false;
    return true;
}

/* What the file has of a tensor that was divided. */
static void json_piece(struct sp_writer *json, const struct shapeproof_tensor_piece *piece)
{
    if (!piece) return;
    sp_write_key_open(json, "piece", '{');
    sp_write_key_numbers(json, "shape", piece->shape, piece->rank);
    sp_write_key_number(json, "bytes", piece->bytes);
    if (piece->pieces) sp_write_key_number(json, "pieces", piece->pieces);
    if (piece->index != SHAPEPROOF_NONE) sp_write_key_number(json, "index", piece->index);
    if (piece->placement) sp_write_key_string(json, "placement", piece->placement);
    sp_write_close(json);
}

/* The keys that only some tensors have. */
static void json_tensor_details(struct sp_writer *json, const struct shapeproof_inventory *inventory,
                                const struct shapeproof_tensor *tensor)
{
    sp_json_same_as(json, inventory, tensor);
    if (!is_row_major(tensor)) {
        sp_write_key_numbers(json, "stride", tensor->stride, tensor->rank);
    }
    if (tensor->offset) sp_write_key_number(json, "offset", tensor->offset);
    if (shapeproof_inventory_file_count(inventory) > 1)
        sp_write_key_string(json, "shard", shapeproof_inventory_file(inventory, tensor->file));
    if (tensor->data_end) {
        sp_write_key_number(json, "data_begin", tensor->data_begin);
        sp_write_key_number(json, "data_end", tensor->data_end);
    }
    json_flags(json, tensor->flags);
    json_piece(json, tensor->piece);
}

/* One tensor, one line. */
static void json_tensor(struct sp_writer *json, const struct shapeproof_inventory *inventory,
                        const struct shapeproof_tensor *tensor)
{
    sp_write_open_line(json, '{');
    sp_write_key_string(json, "name", tensor->name);
    sp_write_key_string(json, "dtype", tensor->dtype_name);
    sp_json_shape(json, tensor);
    sp_write_key_number(json, "parameters", tensor->parameters);
    sp_write_key(json, "bytes");
    if (sp_inspect_knows_bytes(tensor)) sp_write_number(json, tensor->bytes);
    else sp_write_null(json);
    sp_write_key_string(json, "storage", tensor->storage);
    json_tensor_details(json, inventory, tensor);
    sp_write_close(json);
}

/* "totals" of all, "selected" of those that match the filter. */
static void json_inspect_totals(struct sp_writer *json, const char *key, const struct shapeproof_totals *totals)
{
    sp_write_key_open_line(json, key, '{');
    sp_json_totals(json, totals);
    sp_write_close(json);
}

/* What the model has whose weights are quantised: "totals" counts what is stored. */
static void json_quantised(struct sp_writer *json, const struct shapeproof_quantised_model *model)
{
    if (!model) return;
    sp_write_key_open_line(json, "model", '{');
    sp_write_key(json, "parameters");
    if (model->parameters) sp_write_number(json, model->parameters);
    else sp_write_null(json);
    sp_write_key_string(json, "quantised", model->how);
    sp_write_close(json);
}

/* What the file says of itself, and the warnings of its reader. */
static void json_metadata(struct sp_writer *json, const struct shapeproof_inventory *inventory)
{
    sp_write_key_open(json, "metadata", '{');
    for (size_t i = 0; i < shapeproof_inventory_metadata_count(inventory); i++) {
        const struct shapeproof_metadata *entry = shapeproof_inventory_metadata(inventory, i);
        sp_write_key_string(json, entry->key, entry->value);
    }
    sp_write_close(json);
    sp_json_warnings(json, inventory, NULL);
}

/* What the bytes of the files are for, and the storages of which no listed tensor uses all. */
static void json_file_bytes(struct sp_writer *json, const struct shapeproof_inventory *inventory)
{
    const struct shapeproof_file_bytes *bytes = shapeproof_inventory_file_bytes(inventory);
    if (!bytes->size) return; /* of a checkpoint of which not all files were opened it is not told */
    sp_write_key_open_line(json, "file_bytes", '{');
    sp_write_key_number(json, "size", bytes->size);
    sp_write_key_number(json, "tensors", bytes->tensors);
    sp_write_key_number(json, "unused", bytes->unused);
    sp_write_key_number(json, "padding", bytes->padding);
    sp_write_key_number(json, "structure", bytes->structure);
    sp_write_key_number(json, "unaccounted", bytes->unaccounted);
    if (bytes->absent) sp_write_key_number(json, "absent", bytes->absent);
    sp_write_close(json);
    if (!shapeproof_inventory_unused_count(inventory)) return;
    sp_write_key_open(json, "unused", '[');
    for (size_t i = 0; i < shapeproof_inventory_unused_count(inventory); i++) {
        const struct shapeproof_unused *unused = shapeproof_inventory_unused(inventory, i);
        sp_write_open_line(json, '{');
        sp_write_key_string(json, "storage", unused->storage);
        sp_write_key_number(json, "bytes", unused->bytes);
        if (shapeproof_inventory_file_count(inventory) > 1)
            sp_write_key_string(json, "shard", shapeproof_inventory_file(inventory, unused->file));
        sp_write_close(json);
    }
    sp_write_close(json);
}

static void json_tensors(struct sp_writer *json, const struct sp_inspect *inspect)
{
    sp_write_key_open(json, "tensors", '[');
    for (size_t i = 0; i < inspect->count; i++) {
        json_tensor(json, inspect->inventory, sp_inspect_tensor(inspect, i));
        sp_inspect_send(inspect, json->text);
    }
    sp_write_close(json);
}

void sp_inspect_json(const struct sp_inspect *inspect, struct sp_text *text)
{
    const struct shapeproof_inventory *inventory = inspect->inventory;
    const struct shapeproof_totals totals = *shapeproof_inventory_totals(inventory);
    struct sp_writer json = sp_write_document(text, "shapeproof.inspect/1");
    sp_write_key_string(&json, "file", shapeproof_inventory_path(inventory));
    sp_write_key_string(&json, "format", shapeproof_inventory_format(inventory));
    if (shapeproof_inventory_is_redacted(inventory)) sp_write_key_bool(&json, "redacted", true);
    json_tensors(&json, inspect);
    json_inspect_totals(&json, "totals", &totals);
    json_quantised(&json, inspect->options.quantised);
    json_file_bytes(&json, inventory);
    json_metadata(&json, inventory);
    if (inspect->options.filter) json_inspect_totals(&json, "selected", &inspect->totals);
    sp_write_close(&json);
}
