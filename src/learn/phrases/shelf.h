/* SPDX-License-Identifier: MIT
 * Terms by the vectors of their values: the hash table below a bank. */
#ifndef SP_LEARN_SHELF_H
#define SP_LEARN_SHELF_H

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
/* False when it has no value somewhere (some of `partial`), or was known by another expression. */
bool sp_shelf_add(struct sp_shelf *shelf, const struct sp_phrase *term, bool *partial);
/* The same of an operator on two numbers, each of which is on the shelf or a number by itself (`values` is NULL): their
 * values are not computed once more. */
void sp_shelf_combine(struct sp_shelf *shelf, enum sp_phrase_op op, struct sp_phrase_side a, struct sp_phrase_side b);
/* The index of the item with these values, or SIZE_MAX. */
size_t sp_shelf_look(const struct sp_shelf *shelf, const double *values);
const double *sp_shelf_values(const struct sp_shelf *shelf, size_t item);

#endif
