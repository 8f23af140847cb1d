/* SPDX-License-Identifier: MIT
 * The format of a checkpoint, and what other modules have to know of it and of its metadata. Each reader has the
 * formats that it reads as constants; nothing compares their names. */
#ifndef SP_MODEL_FORMAT_H
#define SP_MODEL_FORMAT_H

#include <stdbool.h>

#include "shapeproof/inventory.h"

enum sp_format_trait {
    SP_BY_TORCH = 1,       /* torch.save or TorchScript wrote it: tensors may be on the meta device */
    SP_BY_KERAS = 2,       /* it has the names of Keras, or of its variables */
    SP_BY_LLAMA_CPP = 4,   /* it has the names and the metadata of llama.cpp */
    SP_IN_ORDER = 8,       /* tensors stand in the order in which the model made them */
    SP_NUMBERED = 16,      /* variables are numbered within their layers, and have no names of their own */
    SP_TENSORS_ALONE = 32, /* nothing but tensors and texts: no code, and no versions of modules */
    SP_DISTRIBUTED = 64,   /* a training left it in pieces, which only its own program puts together */
    SP_ARCHIVED = 128,     /* it is an archive of several members */
    SP_WITH_CODE = 256     /* TorchScript: the program is in the file */
};

struct sp_format {
    const char *name; /* as reports have it: "torch-zip" */
    unsigned traits;
};

bool sp_format_has(const struct shapeproof_inventory *inventory, enum sp_format_trait trait);
/* The value of a key of the metadata, or NULL. */
const char *sp_inventory_metadata_value(const struct shapeproof_inventory *inventory, const char *key);

#endif
