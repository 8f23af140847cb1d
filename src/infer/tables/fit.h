/* SPDX-License-Identifier: MIT
 * How well the names that a table makes agree with those of a file. */
#ifndef SP_INFER_FIT_H
#define SP_INFER_FIT_H

#include "infer/occurrences.h"

struct sp_fit {
    const struct sp_unit *table;
    const char *class; /* "" when the table does not depend on it */
    size_t seen;       /* tensors of the file */
    size_t missing;    /* names that the file does not have and should */
    size_t weights;    /* of these the ones of no buffers, which loaders may compute */
    size_t absent;     /* names that the file does not have, and may do without */
    size_t tied;       /* names that may be those of tensors which are there under others */
};

bool sp_fit_is_better(struct sp_fit a, struct sp_fit b);
/* The table for the class for which it fits best. */
struct sp_fit sp_fit_table(const struct shapeproof_tables *tables, const struct sp_unit *table,
                           const struct sp_shapes *shapes);
/* What may have to be done to the names of the file before any of the tables fits, besides `way`: the names of a
 * scheme, or nothing. `shapes` are those of the file under that. The names that the tables make are put into `known`,
 * as patterns. */
struct sp_naming sp_fit_naming(struct sp_arena *arena, const struct shapeproof_tables *set,
                               const struct sp_shapes *shapes, const struct sp_unit *const *tables, size_t count,
                               struct sp_naming way, struct sp_map *known);
/* Notes the names that the table makes, as patterns. */
void sp_fit_names(struct sp_arena *arena, const struct shapeproof_tables *tables, const struct sp_unit *table,
                  struct sp_map *known);
/* The classes of the fit's table that have its names just as well, whatever else they may have, in `fits`; returns how
 * many, at most `most`. */
size_t sp_fit_equal_classes(const struct shapeproof_tables *tables, struct sp_fit fit, const struct sp_shapes *shapes,
                            struct sp_fit *fits, size_t most);

#endif
