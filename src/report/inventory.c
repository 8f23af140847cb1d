/* SPDX-License-Identifier: MIT */
#include "report/inventory.h"

void sp_put_inventory_heading(struct sp_text *text, const struct shapeproof_inventory *inventory, bool color)
{
    const size_t files = shapeproof_inventory_file_count(inventory);
    sp_color_begin(text, color, SP_COLOR_BOLD);
    sp_put_visible(text, shapeproof_inventory_path(inventory));
    sp_color_end(text, color, SP_COLOR_BOLD);
    if (strcmp(shapeproof_inventory_format(inventory), "memory") != 0) { /* tensors in no file have no format */
        sp_text_puts(text, ": ");
        sp_put_visible(text, shapeproof_inventory_format(inventory));
    }
    if (files > 1) {
        sp_text_puts(text, ", ");
        sp_put_count(text, files, "shard", "shards");
    }
    sp_text_puts(text, "\n\n");
}

void sp_json_totals(struct sp_writer *json, const struct shapeproof_totals *totals)
{
    sp_write_key_number(json, "tensors", totals->tensors);
    sp_write_key_number(json, "parameters", totals->parameters);
    sp_write_key_number(json, "unique_parameters", totals->unique_parameters);
    sp_write_key_number(json, "bytes", totals->bytes);
}

void sp_json_shape(struct sp_writer *json, const struct shapeproof_tensor *tensor)
{
    if (tensor->flags & SHAPEPROOF_TENSOR_NO_SHAPE) {
        sp_write_key(json, "shape");
        sp_write_null(json);
    } else {
        sp_write_key_numbers(json, "shape", tensor->shape, tensor->rank);
    }
}

void sp_json_same_as(struct sp_writer *json, const struct shapeproof_inventory *inventory,
                     const struct shapeproof_tensor *tensor)
{
    if (tensor->same_as == SHAPEPROOF_NONE) return;
    sp_write_key_string(json, "same_as", shapeproof_inventory_tensor(inventory, tensor->same_as)->name);
}

void sp_json_warnings(struct sp_writer *json, const struct shapeproof_inventory *inventory,
                      const struct shapeproof_prediction *prediction)
{
    sp_write_key_open(json, "warnings", '[');
    for (size_t i = 0; i < shapeproof_inventory_warning_count(inventory); i++)
        sp_write_string(json, shapeproof_inventory_warning(inventory, i));
    for (size_t i = 0; prediction && i < shapeproof_prediction_remark_count(prediction); i++)
        sp_write_string(json, shapeproof_prediction_remark(prediction, i));
    sp_write_close(json);
    if (shapeproof_inventory_unread_count(inventory))
        sp_write_key_number(json, "unread", shapeproof_inventory_unread_count(inventory));
    if (!shapeproof_inventory_suspect_count(inventory)) return;
    sp_write_key_open(json, "suspicious", '[');
    for (size_t i = 0; i < shapeproof_inventory_suspect_count(inventory); i++) {
        const struct shapeproof_suspect *suspect = shapeproof_inventory_suspect(inventory, i);
        sp_write_open(json, '{');
        sp_write_key_string(json, "name", suspect->name);
        sp_write_key_bool(json, "called", suspect->called);
        sp_write_close(json);
    }
    sp_write_close(json);
}

bool sp_put_suspects(struct sp_text *cell, const struct shapeproof_inventory *inventory)
{
    enum { SHOWN = 5 };
    const size_t count = shapeproof_inventory_suspect_count(inventory);
    for (size_t i = 0; i < count && i < SHOWN; i++) {
        const struct shapeproof_suspect *suspect = shapeproof_inventory_suspect(inventory, i);
        sp_text_puts(cell, i ? ", and " : suspect->in_a_model ? "loading the model would " : "unpickling it would ");
        sp_text_puts(cell, suspect->called ? "call " : "look up ");
        sp_put_visible(cell, suspect->name);
    }
    if (count > SHOWN) sp_text_printf(cell, ", and %zu more", count - SHOWN);
    return count > 0;
}

bool sp_put_unread(struct sp_text *cell, const struct shapeproof_inventory *inventory)
{
    if (!shapeproof_inventory_unread_count(inventory)) return false;
    sp_put_count(cell, shapeproof_inventory_unread_count(inventory), "tensor that cannot be read",
                 "tensors that cannot be read");
    return true;
}
