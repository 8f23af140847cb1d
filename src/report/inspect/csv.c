/* SPDX-License-Identifier: MIT
 * A row for each tensor, with the checkpoint in front, so that the rows of several can stand below each other. */
#include "report/csv.h"
#include "report/inspect/inspect.h"

/* A shape as in text; empty if the file gives none. */
static void put_shape_field(struct sp_csv *csv, const struct shapeproof_tensor *tensor)
{
    struct sp_text shape = {0};
    sp_text_puts(&shape, "");
    if (!(tensor->flags & SHAPEPROOF_TENSOR_NO_SHAPE)) sp_put_shape(&shape, tensor->shape, tensor->rank);
    sp_csv_field(csv, shape.data);
    sp_text_free(&shape);
}

/* Empty when the format does not tell where the data are. */
static void put_place_field(struct sp_csv *csv, const struct shapeproof_tensor *tensor, uint64_t place)
{
    if (tensor->data_end) sp_csv_number(csv, place);
    else sp_csv_field(csv, NULL);
}

void sp_inspect_csv(const struct sp_inspect *inspect, struct sp_text *text)
{
    static const char *const titles[] = {"checkpoint", "shard",   "tensor",  "dtype",      "shape",    "parameters",
                                         "bytes",      "storage", "same_as", "data_begin", "data_end", NULL};
    const struct shapeproof_inventory *inventory = inspect->inventory;
    const bool has_shards = shapeproof_inventory_file_count(inventory) > 1;
    struct sp_csv csv = {.text = text};
    sp_text_puts(text, "");
    if (!inspect->options.no_heading) sp_csv_heading(&csv, titles);
    for (size_t i = 0; i < inspect->count; i++) {
        const struct shapeproof_tensor *tensor = sp_inspect_tensor(inspect, i);
        sp_csv_field(&csv, shapeproof_inventory_path(inventory));
        sp_csv_field(&csv, has_shards ? shapeproof_inventory_file(inventory, tensor->file) : NULL);
        sp_csv_field(&csv, tensor->name);
        sp_csv_field(&csv, tensor->dtype_name);
        put_shape_field(&csv, tensor);
        sp_csv_number(&csv, tensor->parameters);
        if (sp_inspect_knows_bytes(tensor)) sp_csv_number(&csv, tensor->bytes);
        else sp_csv_field(&csv, NULL);
        sp_csv_field(&csv, tensor->storage);
        sp_csv_field(&csv, tensor->same_as == SHAPEPROOF_NONE
                               ? NULL
                               : shapeproof_inventory_tensor(inventory, tensor->same_as)->name);
        put_place_field(&csv, tensor, tensor->data_begin);
        put_place_field(&csv, tensor, tensor->data_end);
        sp_csv_end_row(&csv);
        sp_inspect_send(inspect, text);
    }
}
