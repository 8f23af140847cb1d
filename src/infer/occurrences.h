/* SPDX-License-Identifier: MIT
 * Which tensors of the file have names that a line of the outline can make. */
#ifndef SP_INFER_OCCURRENCES_H
#define SP_INFER_OCCURRENCES_H

#include "infer/tables/prefilter.h"
#include "match/naming.h"
#include "names/patterns.h"
#include "shapeproof/inventory.h"
#include "solve/lines.h"

/* A tensor with its name taken apart: h.7.attn.weight has the pattern h.#.attn.weight and the index 7. */
struct sp_named {
    size_t tensor; /* in the inventory */
    struct sp_place place;
};

/* The tensors of an inventory, ordered so that those of one pattern stand together: the pattern p has
 * named[first[p]] up to named[first[p + 1] - 1]. What other headers call "a tensor (in `named`)" is an index of
 * this list. */
struct sp_shapes {
    const struct shapeproof_inventory *inventory;
    struct sp_patterns patterns;    /* SP_INDEX_ANYWHERE */
    struct sp_named *named;         /* by pattern, then by indices */
    size_t count;                   /* of `named` */
    size_t *first;                  /* by pattern: see above; one more than there are patterns */
    struct sp_prefilter *prefilter; /* of the tables, for these patterns */
    const bool *is_flat; /* by tensor of the inventory: only the product of its shape is known; NULL: all is known of
                            every shape. Borrowed */
};

/* The step of sp_shapes_init for all tensors; a larger one takes a sample. */
enum { SP_EVERY_TENSOR = 1 };

/* Reads every `step`th tensor but for trainer state. Its name is translated by the naming; but if it is one of the
 * patterns in `known` (NULL: none) already without the prefix that the naming adds, the prefix is not added. */
void sp_shapes_init(struct sp_shapes *shapes, const struct shapeproof_tables *tables,
                    const struct shapeproof_inventory *inventory, const struct sp_naming *naming,
                    const struct sp_map *known, size_t step);
static inline bool sp_shapes_is_flat(const struct sp_shapes *shapes, size_t named)
{
    return shapes->is_flat && shapes->is_flat[shapes->named[named].tensor];
}
void sp_shapes_free(struct sp_shapes *shapes);
/* The number of the pattern, or SHAPEPROOF_NONE when the file has no such names. */
size_t sp_shapes_find(const struct sp_shapes *shapes, const char *pattern);
/* The tensor (in `named`) whose name has that pattern and these numbers, as many as the pattern has; or
 * SHAPEPROOF_NONE. */
size_t sp_shapes_seek(const struct sp_shapes *shapes, size_t pattern, const uint64_t *numbers, size_t count);

/* The tensors of the file that have the names of one line. */
struct sp_occurrence {
    const struct sp_line *line;
    size_t *named; /* the tensors (in the shapes' `named`), by the numbers in their names */
    size_t count;
    bool indexed;               /* the shape or the conditions of the line depend on the index of a loop */
    bool is_own_of_multi_token; /* only layers for multi-token prediction have such a line */
    bool is_contested;   /* other lines make the same names, and it is not certain that the tensors are this one's */
    size_t unknown;      /* a hole of the line's name whose expression has no value yet; SIZE_MAX: none */
    int64_t *iterations; /* NULL, unless a number of the name is an expression, {before(s) + j}, and all of these have
                            values: then for each tensor the iterations of its loops, outermost first */
    bool is_placed;      /* `iterations` is final: nothing that becomes known later changes it */
};

/* Two lines may make the same names: layers.{i}.weight for the L layers of a model, and layers.{L + k}.weight behind
 * them for another purpose. Who owns a tensor that both could have? Each value decides more than the one before: */
enum sp_contest {
    SP_CONTESTED_UNKNOWN,  /* a line whose numbers are all known owns it before one with unknown numbers; but it stays
                              contested for both */
    SP_CONTESTED_BY_ALL,   /* the same, and for the owner it is not contested; nobody owns it if the lines are alike */
    SP_CONTESTED_REQUIRED, /* moreover a line that is not optional owns it before an optional one */
    SP_CONTESTED_FIRST     /* moreover the first of the lines owns it, until more is known */
};

struct sp_occurrences {
    struct sp_outline *outline;
    const struct sp_shapes *shapes;
    struct sp_occurrence *of; /* parallel to the outline's lines */
    size_t *owners;           /* for each tensor in `named` the line that owns it, or SHAPEPROOF_NONE */
    bool first_owns;          /* SP_CONTESTED_FIRST: `owners` decides for contested tensors as well */
    size_t seen;              /* tensors that any line has */
};

void sp_occurrences_init(struct sp_occurrences *occurrences, struct sp_outline *outline,
                         const struct sp_shapes *shapes);
void sp_occurrences_free(struct sp_occurrences *occurrences);
/* Finds the tensors of all lines again, after more has become known. */
void sp_occurrences_renew(struct sp_occurrences *occurrences, enum sp_contest contest);

/* The iteration of a loop around the line that a tensor (in `named`) stands for; -1 when its name does not tell. */
int64_t sp_occurrence_iteration(const struct sp_occurrences *occurrences, const struct sp_occurrence *occurrence,
                                const struct sp_loop *loop, size_t named);
/* Gives all loops around the line the iteration that the tensor stands for; sp_loop_leave(line->loop) ends it. */
void sp_occurrence_enter(const struct sp_occurrences *occurrences, const struct sp_occurrence *occurrence,
                         size_t named);
/* Whether the tensors are those of the line. */
bool sp_occurrence_is_owner(const struct sp_occurrences *occurrences, size_t line);
const struct shapeproof_tensor *sp_occurrence_tensor(const struct sp_occurrences *occurrences, size_t named);

#endif
