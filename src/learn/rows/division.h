/* SPDX-License-Identifier: MIT
 * Numbers that are places in a sequence of different things, of which some repeat:
 *
 *     layers.0 (matrix)  layers.1 (norm)  layers.4 (matrix)  layers.5 (norm)  layers.8 (matrix)
 *
 *     period 4: layers.{4*i} and layers.{4*i + 1} for i in 0..1, then layers.{4*2}
 *
 * What repeats is the body, what is behind it the end. Every place of the period, and every place of the end, is an
 * index of its own. */
#ifndef SP_LEARN_DIVISION_H
#define SP_LEARN_DIVISION_H

#include "learn/rows/layout.h"

/* How often the period is there, at the outer indices. */
struct sp_body {
    struct sp_point outer;
    uint64_t iterations;
};

struct sp_division {
    uint64_t period;
    struct sp_body *bodies; /* sorted */
    size_t count;
};

/* False when nothing repeats, or what is behind it is not the same everywhere. `apart`: only where the places of the
 * period have no row in common. */
bool sp_division_find(const struct sp_layout *layout, size_t stem, bool apart, struct sp_division *division);
/* Which of the places a number is at: 0 to period - 1 in the body, from the period on behind it. */
uint64_t sp_division_place(const struct sp_division *division, const struct sp_point *outer, uint64_t number);

#endif
