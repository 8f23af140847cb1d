/* SPDX-License-Identifier: MIT
 * The tensors of a file, grouped by their names without the numbers in them. */
#ifndef SP_INFER_SHAPES_H
#define SP_INFER_SHAPES_H

#include "infer/tables/prefilter.h"
#include "match/naming.h"
#include "names/patterns.h"
#include "shapeproof/inventory.h"

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

#endif
