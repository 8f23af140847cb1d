/* SPDX-License-Identifier: MIT
 * Enumerates terms for a bank: which there are at all, and in which order they are made. */
#ifndef SP_LEARN_ENUMERATOR_H
#define SP_LEARN_ENUMERATOR_H
#include "learn/terms/term_bank.h"

struct sp_shelved {
    const struct sp_search_term *term;    /* the cheapest of those with these values */
    const struct sp_search_term **equals; /* the others */
    size_t equal_count;
    size_t next; /* in the slot, plus 1 */
};

struct sp_signature_table {
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

void sp_signatures_init(struct sp_signature_table *signatures, struct sp_arena *arena, const struct sp_domain *domain,
                        size_t most, uint64_t *spent);
void sp_signatures_free(struct sp_signature_table *signatures);
/* The index of the item with these values, or SIZE_MAX. */
size_t sp_signatures_look(const struct sp_signature_table *signatures, const double *values);
const double *sp_signatures_values(const struct sp_signature_table *signatures, size_t item);

struct sp_enumerator {
    struct sp_evidence *evidence;
    struct sp_signature_table *signatures;
    struct {
        const struct sp_search_term **items;
        size_t count, capacity;
    } partial;       /* keys that are absent at some of the points */
    size_t simple;   /* the first so many items of the signature table are keys, items of lists, lengths and indices */
    size_t composed; /* the next are those and one operator */
    bool deep;       /* and then two */
};

/* Puts the term into the signature table, unless it has no value at some point. A key or a length without a value at
 * some of the points goes into `partial`, if it is absent or null there. */
void sp_enumerator_add_term(struct sp_enumerator *enumerator, const struct sp_search_term *term);
/* The same for an operator on two operands, or on one (`b` is NULL). */
void sp_enumerator_add_operation(struct sp_enumerator *enumerator, enum sp_term_op op, const struct sp_search_term *a,
                                 const struct sp_search_term *b);

/* What doubles from stage to stage: 2^stages, 2^(stages - 1). */
void sp_enumerator_doublings(struct sp_enumerator *enumerator);
/* What is left of an image, or of a spectrum, behind strided convolutions: its side, and its area. */
void sp_enumerator_areas(struct sp_enumerator *enumerator);

/* Keys, items, lengths, indices; then one operator on these. */
void sp_enumerator_numbers(struct sp_enumerator *enumerator);
/* One more operator. */
void sp_enumerator_deeper(struct sp_enumerator *enumerator);
/* What sizes are rounded up to, by its name. */
bool sp_is_unit(const struct sp_search_term *term);
/* Conditions on one key or index each. */
void sp_enumerator_conditions(struct sp_enumerator *enumerator);

#endif
