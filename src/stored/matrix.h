/* SPDX-License-Identifier: MIT
 * What a quantiser makes of one matrix, and the matrix that it was made of: the part that says the first is
 * inverted. Of GPTQ with 4 bits and groups of 128
 *
 *     (4096, 11008)  <->  qweight (1376, 4096), qzeros (86, 512), scales (86, 4096)
 *
 * bitsandbytes and HQQ keep blocks of values and not the shape of the matrix: of that only the number of elements
 * shows.
 */
#ifndef SP_STORED_MATRIX_H
#define SP_STORED_MATRIX_H

#include "base/value.h"
#include "model/inventory.h"
#include "solve/outline.h"

enum { SP_MAX_MEMBERS = 24 };

/* The tensors of one module: their names behind its name, "qweight". */
struct sp_matrix_members {
    const char *tails[SP_MAX_MEMBERS];
    const struct shapeproof_tensor *tensors[SP_MAX_MEMBERS];
    size_t count;
    const char *module;
};

/* A matrix as the table has it, or a row of them, as experts. */
struct sp_matrix {
    uint64_t lead, rows, columns; /* lead: how many; 0: one, of rank 2 */
    uint64_t elements;            /* only that is known of it; else 0 */
};

/* One form of one method. */
struct sp_method {
    struct sp_outline outline; /* of the part, for a matrix whose dimensions are keys */
    struct sp_arena *arena;    /* of what follows */
    struct sp_unit *unit;
    struct shapeproof_value root;
    struct shapeproof_member *members; /* those of `root`: first the dimensions, then the form */
    const char **tails;                /* of each line */
};

void sp_method_open(struct sp_method *method, const struct sp_unit *part, struct shapeproof_value form);
void sp_method_close(struct sp_method *method);
/* The number of lines that can be tails, and each: "qweight", "weight". */
size_t sp_method_tails(const struct sp_method *method);
/* The matrix that these tensors store; false when there is none. */
bool sp_method_solve(struct sp_method *method, const struct sp_matrix_members *members, struct sp_matrix *matrix);

#endif
