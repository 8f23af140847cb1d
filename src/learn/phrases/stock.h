/* SPDX-License-Identifier: MIT
 * What a bank is stocked with: which expressions there are at all, and in which order they are made. */
#ifndef SP_LEARN_STOCK_H
#define SP_LEARN_STOCK_H

#include "learn/phrases/shelf.h"

struct sp_stock {
    struct sp_evidence *evidence;
    struct sp_shelf *shelf;
    struct {
        const struct sp_phrase **items;
        size_t count, capacity;
    } partial;       /* keys that are absent at some of the points */
    size_t simple;   /* the first so many items of the shelf are keys, items of lists, lengths and indices */
    size_t composed; /* the next are those and one operator */
    bool deep;       /* and then two */
};

/* Keys, items, lengths, indices; then one operator on these. */
void sp_stock_numbers(struct sp_stock *stock);
/* One more operator. */
void sp_stock_deeper(struct sp_stock *stock);
/* What sizes are rounded up to, by its name. */
bool sp_is_unit(const struct sp_phrase *term);
/* Conditions on one key or index each. */
void sp_stock_conditions(struct sp_stock *stock);

#endif
