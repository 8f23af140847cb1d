/* SPDX-License-Identifier: MIT
 * The quantised modules of a file, and the matrices that they were, without any table or configuration. */
#ifndef SP_STORED_UNPACK_H
#define SP_STORED_UNPACK_H

#include "stored/matrix.h"

struct shapeproof_tables;

/* A module whose tensors are those of a quantised matrix. */
struct sp_packed_module {
    const char *name; /* of the matrix: "lm_head.weight" */
    size_t *tensors;  /* of the file: lm_head.qweight, lm_head.scales */
    size_t count;     /* of these */
    struct sp_matrix matrix;
};

/* One way in which a file may be quantised. */
struct sp_unpacked {
    struct shapeproof_value form; /* as quantization_config would have it */
    struct sp_packed_module *modules;
    size_t count;    /* of the modules */
    size_t tensors;  /* of all modules together */
    size_t familiar; /* dimensions of matrices that a tensor which is not quantised has too */
};

/* Writes the forms that explain the most tensors as those of quantised matrices to `found`, the likeliest first; all in
 * the arena. Returns how many, at most `most`; 0 when nothing of the file is quantised. */
size_t sp_unpack(struct sp_arena *arena, const struct shapeproof_tables *tables,
                 const struct shapeproof_inventory *file, struct sp_unpacked *found, size_t most);

#endif
