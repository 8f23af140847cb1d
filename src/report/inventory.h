/* SPDX-License-Identifier: MIT
 * The parts of an inventory that several reports have. */
#ifndef SP_REPORT_INVENTORY_H
#define SP_REPORT_INVENTORY_H

#include "base/json_write.h"
#include "report/common.h"
#include "shapeproof/inventory.h"
#include "shapeproof/prediction.h"

/* The fields of the totals, inside an open object. */
void sp_json_totals(struct sp_writer *json, const struct shapeproof_totals *totals);
/* "shape" of a tensor; null when it has none. */
void sp_json_shape(struct sp_writer *json, const struct shapeproof_tensor *tensor);
/* "same_as", the name of the tensor that it is the same as; nothing when there is none. */
void sp_json_same_as(struct sp_writer *json, const struct shapeproof_inventory *inventory,
                     const struct shapeproof_tensor *tensor);
/* "warnings", with those about the configuration unless the prediction is NULL; behind them, if there are any, "unread"
 * and "suspicious" */
void sp_json_warnings(struct sp_writer *json, const struct shapeproof_inventory *inventory,
                      const struct shapeproof_prediction *prediction);

/* The first line, and an empty one: "model/: safetensors, 3 shards". */
void sp_put_inventory_heading(struct sp_text *text, const struct shapeproof_inventory *inventory, bool color);

/* What unpickling the file would call, in words; and how many tensors cannot be read. Nothing, and false, for none. */
bool sp_put_suspects(struct sp_text *cell, const struct shapeproof_inventory *inventory);
bool sp_put_unread(struct sp_text *cell, const struct shapeproof_inventory *inventory);

#endif
