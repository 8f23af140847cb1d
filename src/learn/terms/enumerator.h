/* SPDX-License-Identifier: MIT
 * Bottom-up enumeration of terms with observational equivalence, for a bank: keys, items, lengths and indices first,
 * then one operator on these, then another one. Terms with equal values at all points share an item of the signature
 * table. Which terms there are at all is decided here; the rest of the search only finds and ranks them. */
#ifndef SP_LEARN_ENUMERATOR_H
#define SP_LEARN_ENUMERATOR_H
#include "learn/terms/term_bank.h"

/* The terms with one vector of values. */
struct sp_signature_item {
    const struct sp_search_term *term;    /* the cheapest one */
    const struct sp_search_term **equals; /* the others, 16 at most */
    size_t equal_count;
    size_t next; /* the next item of the same slot, plus 1; 0 at the end */
};

/* A hash table of terms by the vector of their values at all points of the domain. Items keep their index. */
struct sp_signature_table {
    struct sp_arena *arena; /* of the terms */
    const struct sp_domain *domain;
    struct sp_signature_item *items; /* in the order in which they were added */
    size_t count, capacity;
    double *values; /* those of item n from n * domain->count on */
    size_t value_capacity;
    size_t *slots;     /* the first item of each slot, plus 1; 0: empty */
    size_t slot_count; /* a power of 2 */
    double *scratch;   /* the values of the term that is being added */
    size_t most;       /* items; terms beyond are dropped */
    uint64_t *spent;   /* counts the values that are computed */
};

void sp_signatures_init(struct sp_signature_table *signatures, struct sp_arena *arena, const struct sp_domain *domain,
                        size_t most, uint64_t *spent);
void sp_signatures_free(struct sp_signature_table *signatures);
/* The index of the item with these values, or SIZE_MAX. */
size_t sp_signatures_look(const struct sp_signature_table *signatures, const double *values);
const double *sp_signatures_values(const struct sp_signature_table *signatures, size_t item);

struct sp_enumerator {
    struct sp_evidence *evidence;
    struct sp_signature_table *signatures; /* where the terms are put */
    struct {
        const struct sp_search_term **items;
        size_t count, capacity;
    } partial;     /* keys and lengths that are absent or null at some of the points, but not at all */
    size_t simple; /* items [0, simple): keys, items of lists, lengths, indices and powers of two; or all conditions */
    size_t composed; /* items [simple, composed): one operator on these */
    bool deep;       /* the items behind them, of two operators, are made */
};

/* Puts the term into the signature table, unless it has no value at some point. A key or a length without a value at
 * some of the points goes into `partial`, if it is absent or null there. */
void sp_enumerator_add_term(struct sp_enumerator *enumerator, const struct sp_search_term *term);
/* The same for an operator on two operands, or on one (`b` is NULL). */
void sp_enumerator_add_operation(struct sp_enumerator *enumerator, enum sp_term_op op, const struct sp_search_term *a,
                                 const struct sp_search_term *b);

/* Adds what doubles from stage to stage: 2^stages, 2^(stages - 1), 2^(stages - i). */
void sp_enumerator_doublings(struct sp_enumerator *enumerator);
/* Adds the side and the area that strided convolutions leave of an image or a spectrum: image_size // 8, its square. */
void sp_enumerator_areas(struct sp_enumerator *enumerator);

/* Adds all terms of sizes and counts with up to one operator, and idioms with more; sets `simple` and `composed`. */
void sp_enumerator_numbers(struct sp_enumerator *enumerator);
/* Adds products and quotients of a composed and a simple term. Does nothing from the second call on. */
void sp_enumerator_deeper(struct sp_enumerator *enumerator);
/* Whether a term is a key that sizes are rounded up to, by its name: "pad_vocab_to_multiple_of", "divisor". */
bool sp_is_unit(const struct sp_search_term *term);
/* Adds all conditions, most of them on one key or index, and sets `simple`. */
void sp_enumerator_conditions(struct sp_enumerator *enumerator);

#endif
