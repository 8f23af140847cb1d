/* SPDX-License-Identifier: MIT
 * What a bank is stocked with: which expressions there are at all, and in which order they are made. */
#ifndef SP_LEARN_STOCK_H
#define SP_LEARN_STOCK_H
#include "learn/phrases/bank.h"

struct sp_shelved {
    const struct sp_phrase *term;    /* the cheapest of those with these values */
    const struct sp_phrase **equals; /* the others */
    size_t equal_count;
    size_t next; /* in the slot, plus 1 */
};

struct sp_shelf {
    struct sp_arena *arena;
    const struct sp_domain *domain;
    struct sp_shelved *items;
    size_t count, capacity;
    double *values; /* those of item n from n * domain->count on */
    size_t value_capacity;
    size_t *slots; /* index plus 1 */
    size_t slot_count;
    double *scratch;
    size_t most;     /* items */
    uint64_t *spent; /* counts the values that are computed */
};

void sp_shelf_init(struct sp_shelf *shelf, struct sp_arena *arena, const struct sp_domain *domain, size_t most,
                   uint64_t *spent);
void sp_shelf_free(struct sp_shelf *shelf);
/* The index of the item with these values, or SIZE_MAX. */
size_t sp_shelf_look(const struct sp_shelf *shelf, const double *values);
const double *sp_shelf_values(const struct sp_shelf *shelf, size_t item);

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

void sp_stock_term(struct sp_stock *stock, const struct sp_phrase *term);
void sp_stock_operation(struct sp_stock *stock, enum sp_phrase_op op, const struct sp_phrase *a,
                        const struct sp_phrase *b);

/* What doubles from stage to stage: 2^stages, 2^(stages - 1). */
void sp_stock_doublings(struct sp_stock *stock);
/* What is left of an image, or of a spectrum, behind strided convolutions: its side, and its area. */
void sp_stock_areas(struct sp_stock *stock);

/* Keys, items, lengths, indices; then one operator on these. */
void sp_stock_numbers(struct sp_stock *stock);
/* One more operator. */
void sp_stock_deeper(struct sp_stock *stock);
/* What sizes are rounded up to, by its name. */
bool sp_is_unit(const struct sp_phrase *term);
/* Conditions on one key or index each. */
void sp_stock_conditions(struct sp_stock *stock);

#endif
