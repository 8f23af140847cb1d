/* SPDX-License-Identifier: MIT
 * Names of tensors in the graphs that torch.onnx.export writes. */
#ifndef SP_MODEL_GRAPH_H
#define SP_MODEL_GRAPH_H

#include <stdbool.h>

struct shapeproof_inventory;

/* Whether an exporter of PyTorch wrote the file, whose names these are. */
bool sp_is_torch_export(const struct shapeproof_inventory *inventory);
/* Whether a name is that of an operator: "view", "view_6", "view_6/shape". */
bool sp_is_of_operator(const char *name, const char *operator);
/* Whether a name is one that an exporter gives to a constant, and to a weight that it has computed with: "val_4",
 * "unsqueeze_14", "onnx::MatMul_53". The uses of the inventory tell weights from constants. */
bool sp_is_graph_constant(const char *name);

#endif
