/* SPDX-License-Identifier: MIT
 * Rows that are the same but for one word of their names, which no configuration lists: they are written once, where
 * that saves some lines.
 *
 *     text.layers.{i}.up.weight (4*W, W)  ...     [layers] for i in 0..L-1 for name in ["text", "image", "sound"]
 *     image.layers.{i}.up.weight (4*W, W)  ...    {name}.layers.{i}.up.weight   (4*W, W)
 *     sound.layers.{i}.up.weight (4*W, W)  ...    ... */
#ifndef SP_LEARN_ALIKE_H
#define SP_LEARN_ALIKE_H

#include "base/arena.h"
#include "learn/rows/layout.h"

enum { SP_MOST_ALIKE = 16 };

struct sp_alternating_words {
    const char *words[SP_MOST_ALIKE]; /* the first is that of the rows that are written */
    size_t count;
    size_t begin, length; /* of the first word in their patterns */
};

/* For each row. */
struct sp_alike_row {
    const struct sp_alternating_words *words; /* whose first word it has, or NULL */
    bool is_said;                             /* it is written with the row of the first word */
};

/* Finds such rows; the result has an entry for each row of the layout. `skipped` says which rows are not written at
 * all; NULL: none. All is in the arena. */
const struct sp_alike_row *sp_find_alike(struct sp_arena *arena, const struct sp_layout *layout, const bool *skipped);

#endif
