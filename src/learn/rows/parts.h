/* SPDX-License-Identifier: MIT
 * Rows that are a built-in part together: a weight and a bias are `linear(...)`. */
#ifndef SP_LEARN_PARTS_H
#define SP_LEARN_PARTS_H

#include "learn/rows/layout.h"

enum { SP_MOST_PART_ROWS = 8 };

/* An argument that says whether there is something: always, never, or where a condition holds. */
struct sp_part_flag {
    bool holds;
    const struct sp_search_term *when; /* or NULL */
};

struct sp_part_found {
    const char *part; /* "linear"; NULL: none */
    const char *base; /* what its names begin with, a pattern up to the last dot */
    size_t base_length;
    size_t rows[SP_MOST_PART_ROWS]; /* of the layout */
    size_t row_count;
    const struct sp_search_term *arguments[4];
    size_t argument_count;
    struct sp_part_flag flags[2]; /* which come behind these */
    size_t flag_count;
    const struct sp_search_term *bias; /* the condition of its bias, an argument; or NULL */
    const struct sp_search_term *where;
};

/* The part that the row at this index belongs to. */
struct sp_part_found sp_find_part(const struct sp_layout *layout, size_t row);

#endif
