/* SPDX-License-Identifier: MIT
 * Rows that are a built-in part together: a weight and a bias are `linear(...)`. */
#ifndef SP_LEARN_PARTS_H
#define SP_LEARN_PARTS_H

#include "learn/rows/layout.h"

enum { SP_MOST_PART_ROWS = 8 };

/* An argument that says whether there is something, such as biases. */
struct sp_part_flag {
    bool holds;                        /* false: never */
    const struct sp_search_term *when; /* the condition; NULL: always */
};

struct sp_part_found {
    const char *part; /* "linear"; NULL: none */
    const char *base; /* a pattern, of which base_length characters are what its names begin with: "h.{}.attn." */
    size_t base_length;
    size_t rows[SP_MOST_PART_ROWS]; /* their indices in the layout */
    size_t row_count;
    const struct sp_search_term *arguments[4]; /* sizes */
    size_t argument_count;
    struct sp_part_flag flags[2]; /* arguments behind the sizes */
    size_t flag_count;
    const struct sp_search_term *bias;  /* of a linear whose bias alone has a condition: that; else NULL */
    const struct sp_search_term *where; /* the condition of all of it, or NULL */
};

/* The part that the row at this index belongs to; its `part` is NULL when there is none. */
struct sp_part_found sp_find_part(const struct sp_layout *layout, size_t row);

#endif
