/* SPDX-License-Identifier: MIT
 * Rows that are a built-in part together: a weight and a bias are `linear(...)`. */
#ifndef SP_LEARN_PARTS_H
#define SP_LEARN_PARTS_H

#include "learn/layout.h"

enum { SP_MOST_PART_ROWS = 5 };

struct sp_part_found {
    const char *part; /* "linear"; NULL: none */
    const char *base; /* what its names begin with, a pattern up to the last dot */
    size_t base_length;
    size_t rows[SP_MOST_PART_ROWS]; /* of the layout */
    size_t row_count;
    const struct sp_phrase *arguments[3];
    size_t argument_count;
    const struct sp_phrase *bias; /* the condition of its bias, an argument; or NULL */
    const struct sp_phrase *where;
};

/* The part that the row at this index belongs to. */
struct sp_part_found sp_find_part(const struct sp_layout *layout, size_t row);

#endif
