/* SPDX-License-Identifier: MIT
 * Which tensors of the file have names that a line of the outline can make. */
#ifndef SP_INFER_OCCURRENCES_H
#define SP_INFER_OCCURRENCES_H

#include "infer/tables/prefilter.h"
#include "match/naming.h"
#include "names/patterns.h"
#include "shapeproof/inventory.h"
#include "solve/lines.h"

struct sp_named {
    size_t tensor; /* in the inventory */
    struct sp_place place;
};

struct sp_shapes {
    const struct shapeproof_inventory *inventory;
    struct sp_patterns patterns; /* SP_INDEX_ANYWHERE */
    struct sp_named *named;      /* by pattern, then by indices */
    size_t count;
    size_t *first;                  /* of each pattern in `named`; one more than there are patterns */
    struct sp_prefilter *prefilter; /* of its names */
    const bool *is_flat; /* of each tensor: only the product of its shape is known; NULL: of none. Borrowed */
};

/* Names are what they are under the naming; those that are `known` patterns (which may be NULL) before something is put
 * in front of them stay that. Trainer state is left out. One tensor of `step` is enough for a sample. */
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

struct sp_occurrence {
    const struct sp_line *line;
    size_t *named; /* the tensors (in the shapes' `named`), by the numbers in their names */
    size_t count;
    bool indexed;        /* its shape or its conditions depend on the index of a loop */
    bool is_contested;   /* the tensors are, or may be, those of another line */
    size_t unknown;      /* the number of its name that is not known yet, or SIZE_MAX */
    int64_t *iterations; /* of a line with numbers that are worked out, once all are known: of each tensor those of its
                       loops, outermost first; or NULL */
    bool is_placed;      /* nothing more will be known of them */
};

/* When two lines make the same names, as layers for other purposes behind the last layer do: */
enum sp_contest {
    SP_CONTESTED_UNKNOWN,  /* neither has the tensors, not even when the numbers of only one are known */
    SP_CONTESTED_BY_ALL,   /* neither has the tensors */
    SP_CONTESTED_REQUIRED, /* the one that is not optional has them */
    SP_CONTESTED_FIRST     /* the first one has them, as long as it is not known better */
};

struct sp_occurrences {
    struct sp_outline *outline;
    const struct sp_shapes *shapes;
    struct sp_occurrence *of; /* parallel to the outline's lines */
    size_t *owners;           /* for each tensor in `named` the line that has it, or SHAPEPROOF_NONE */
    bool first_owns;          /* of contested tensors */
    size_t seen;              /* tensors that have an owner */
};

void sp_occurrences_init(struct sp_occurrences *occurrences, struct sp_outline *outline,
                         const struct sp_shapes *shapes);
void sp_occurrences_free(struct sp_occurrences *occurrences);
/* The tensors once more, after something was learnt. */
void sp_occurrences_renew(struct sp_occurrences *occurrences, enum sp_contest contest);

/* The iteration of a loop around the line that a tensor (in `named`) stands for; -1 when its name does not tell. */
int64_t sp_occurrence_iteration(const struct sp_occurrences *occurrences, const struct sp_occurrence *occurrence,
                                const struct sp_loop *loop, size_t named);
/* Gives all loops around the line the iteration that the tensor stands for. */
void sp_occurrence_enter(const struct sp_occurrences *occurrences, const struct sp_occurrence *occurrence,
                         size_t named);
/* Whether the tensors are those of the line. */
bool sp_occurrence_is_owner(const struct sp_occurrences *occurrences, size_t line);
const struct shapeproof_tensor *sp_occurrence_tensor(const struct sp_occurrences *occurrences, size_t named);

#endif
