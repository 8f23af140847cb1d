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

/* The tensors of one module. */
struct sp_matrix_members {
    const char *tails[SP_MAX_MEMBERS]; /* what follows the name of the module: "qweight" */
    const struct shapeproof_tensor *tensors[SP_MAX_MEMBERS];
    size_t count;
    const char *module; /* its name: "lm_head" */
};

/* A matrix as the table has it; or several in one tensor, as experts are. */
struct sp_matrix {
    uint64_t lead;          /* how many, of rank 3; 0: one, of rank 2 */
    uint64_t rows, columns; /* of each; not set if only `elements` is known */
    uint64_t elements;      /* of a matrix of which nothing else shows; 0: the dimensions are known */
};

/* One form of one method: the part of the table that says what the method stores, laid out for a matrix whose
 * dimensions are keys without a value. */
struct sp_method {
    struct sp_outline outline;
    struct sp_arena *arena;            /* of what follows */
    struct sp_unit *unit;              /* a table that uses the part once */
    struct shapeproof_value root;      /* the configuration: the keys of the matrix, then the form */
    struct shapeproof_member *members; /* of `root` */
    const char **tails;                /* for each line of the outline */
};

void sp_method_open(struct sp_method *method, const struct sp_unit *part, struct shapeproof_value form);
void sp_method_close(struct sp_method *method);
/* How many tensors the method stores at most for a matrix; method->tails has the suffix of each: "qweight", "weight".
 */
size_t sp_method_tails(const struct sp_method *method);
/* Solves the matrix that these tensors store, from their shapes; false when they can be of none. */
bool sp_method_solve(struct sp_method *method, const struct sp_matrix_members *members, struct sp_matrix *matrix);

#endif
