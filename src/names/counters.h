/* SPDX-License-Identifier: MIT
 * The layers of Keras models by the counters in their names: conv3d_1 of one file that is conv3d_13 of another. */
#ifndef SP_NAMES_COUNTERS_H
#define SP_NAMES_COUNTERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"

/* A variable of either side; `item` is the caller's number for it. */
struct sp_variable {
    const char *name;
    const uint64_t *shape;
    uint32_t rank;
    size_t item;
};

/* A class of layers of A and its counterpart in B: "conv3d_{n}" and "conv3d_{n+12}". */
struct sp_shift {
    const char *from, *to;
    size_t first, count; /* of its pairs */
};

/* A variable of A and its counterpart in B, by their items. */
struct sp_counted_pair {
    size_t a, b;
};

struct sp_counted {
    struct sp_arena *arena;
    struct sp_shift *shifts;
    size_t shift_count, shift_capacity;
    struct sp_counted_pair *pairs;
    size_t pair_count, pair_capacity;
};

/* Fills `counted` (strings in its arena, the arrays on the heap) with what is the same under other counters. */
void sp_count_layers(struct sp_counted *counted, const struct sp_variable *a, size_t a_count,
                     const struct sp_variable *b, size_t b_count);
void sp_counted_free(struct sp_counted *counted);

/* The length of a name up to and with its layer, "layers/conv3d_1"; 0 when there is none. */
size_t sp_layer_length(const char *name);

#endif
