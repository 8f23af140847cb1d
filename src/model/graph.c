/* SPDX-License-Identifier: MIT */
#include "model/graph.h"

#include <string.h>

#include "base/chars.h"
#include "model/inventory.h"

bool sp_is_torch_export(const struct shapeproof_inventory *inventory)
{
    const char *producer = sp_inventory_metadata_value(inventory, "producer_name");
    return inventory->uses.count && producer && strcmp(producer, "pytorch") == 0;
}

/* Operators of PyTorch whose results are constants where they do not depend on the input; the exporter numbers them:
 * "unsqueeze_14". */
static const char *const operators[] = {
    "add",       "arange", "cat",   "clone", "cos", "cumsum",      "div",           "embedding", "expand",
    "full",      "gt",     "le",    "lt",    "mul", "ones",        "permute",       "pow",       "reshape",
    "select",    "sin",    "slice", "stack", "sub", "to",          "triu",          "tril",      "transpose",
    "unsqueeze", "view",   "where", "zeros", "val", "masked_fill", "scalar_tensor",
};

bool sp_is_of_operator(const char *name, const char *operator)
{
    const size_t length = strlen(operator);
    if (strncmp(name, operator, length) != 0) return false;
    name += length;
    if (*name == '_' && sp_is_digit(name[1])) name += 1 + strspn(name + 1, "0123456789");
    return !*name || *name == '/';
}

bool sp_is_graph_constant(const char *name)
{
    if (strncmp(name, "onnx::", 6) == 0) return true;
    for (size_t i = 0; i < sizeof operators / sizeof *operators; i++)
        if (sp_is_of_operator(name, operators[i])) return true;
    return false;
}
