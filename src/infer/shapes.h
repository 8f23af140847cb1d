/* SPDX-License-Identifier: MIT
 * The tensors of a file, grouped by their names without the numbers in them. */
#ifndef SP_INFER_SHAPES_H
#define SP_INFER_SHAPES_H

#include "base/arena.h"
#include "base/map.h"
#include "base/text.h"
#include "match/naming.h"
#include "shapeproof/inventory.h"

/* Stands for a number in a name. No name has this byte: it is not UTF-8. */
#define SP_NUMBER_MARK '\xff'
enum { SP_MAX_NUMBERS = 8 }; /* of one name; later ones stay part of the pattern */

struct sp_named {
    size_t tensor; /* in the inventory */
    size_t pattern;
    uint64_t numbers[SP_MAX_NUMBERS];
};

struct sp_shapes {
    const struct sp_inventory *inventory;
    struct sp_arena arena;
    struct sp_map map; /* pattern -> its number */
    const char **patterns;
    size_t pattern_count, pattern_capacity;
    struct sp_named *named; /* by pattern, then by numbers */
    size_t count;
    size_t *first; /* of each pattern in `named`; one more than there are patterns */
};

/* Appends a name, or a piece of one, with a mark for each number. The numbers are added to those that are there. */
void sp_names_split(struct sp_text *pattern, const char *name, uint64_t *numbers, size_t *count);

/* Names are what they are under the naming. Trainer state is left out. One tensor of `step` is enough for a sample. */
void sp_shapes_init(struct sp_shapes *shapes, const struct sp_inventory *inventory, const struct sp_naming *naming,
                    size_t step);
void sp_shapes_free(struct sp_shapes *shapes);
/* The number of the pattern, or SP_NONE when the file has no such names. */
size_t sp_shapes_find(const struct sp_shapes *shapes, const char *pattern);

#endif
