/* SPDX-License-Identifier: MIT
 * The quantised modules of a file, and the matrices that they were, without any table or configuration. */
#ifndef SP_STORED_UNPACK_H
#define SP_STORED_UNPACK_H

#include "stored/matrix.h"

struct shapeproof_tables;

/* A module whose tensors are those of a quantised matrix. */
struct sp_packed_module {
    const char *name; /* of the matrix: "lm_head.weight" */
    size_t *tensors;  /* of the file */
    size_t count;
    struct sp_matrix matrix;
};

/* How a file may be quantised. */
struct sp_unpacked {
    struct shapeproof_value form; /* as quantization_config would have it */
    struct sp_packed_module *modules;
    size_t count, tensors; /* modules, and tensors of theirs */
    size_t familiar;       /* modules of which a dimension is that of a tensor which is stored as it is */
};

/* The forms under which the most tensors are those of quantised matrices, the likeliest first; all in the arena. No
 * more than `most`, and none when nothing of the file is quantised. */
size_t sp_unpack(struct sp_arena *arena, const struct shapeproof_tables *tables,
                 const struct shapeproof_inventory *file, struct sp_unpacked *found, size_t most);

#endif
