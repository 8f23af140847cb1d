/* SPDX-License-Identifier: MIT
 * Expressions by their values: all small ones over a list of points, those that have the same value at each of them
 * kept together.
 *
 *     points: example 0, example 1
 *     [64, 96]     hidden_size
 *     [2, 3]       num_hidden_layers
 *     [256, 384]   4*hidden_size, intermediate_size      two of one vector: the cheaper one first
 *
 * What is larger is found by taking the wanted vector apart: 257 = 16^2 + 1 is looked up as 16. */
#ifndef SP_LEARN_TERM_BANK_H
#define SP_LEARN_TERM_BANK_H

#include "learn/terms/evidence.h"

/* Where an expression has to hold. */
struct sp_domain {
    struct sp_point *points;
    size_t count;
    unsigned indices; /* bit n: index n tells points apart */
};

struct sp_term_bank;

/* Expressions for one vector, the likeliest first. A rank is the cost of the term, plus SP_FREE, more or less by what
 * the name of the tensor says for or against it; SP_FREE keeps the difference above 0. */
enum { SP_MOST_FOUND = 48, SP_FREE = 40 };
struct sp_found {
    const struct sp_search_term *terms[SP_MOST_FOUND];
    unsigned rank[SP_MOST_FOUND]; /* of each term: ascending */
    size_t count;
};

/* What is found lives in the arena of the evidence, all else as long as the bank. */
struct sp_term_bank *sp_term_bank_new(struct sp_evidence *evidence, const struct sp_domain *domain);
/* From now on the bank is not enlarged by terms of two operators when nothing is found, which makes searches quick. */
void sp_term_bank_keep_shallow(struct sp_term_bank *bank);
void sp_term_bank_free(struct sp_term_bank *bank);
const struct sp_domain *sp_term_bank_domain(const struct sp_term_bank *bank);
/* Fills `found` with terms of a cost up to `most` that have the wanted values at the points of the domain. `name` is
 * that of the tensor or the loop they are for: terms whose keys go with it rank first. */
void sp_term_bank_find(struct sp_term_bank *bank, const double *wanted, const char *name, unsigned most,
                       struct sp_found *found);
/* Whether a term of the bank, or one number, has the wanted values at all points where the condition holds, or at all
 * where it does not. Otherwise it is not worthwhile to look for a term for each of the two cases. */
bool sp_term_bank_says_half(const struct sp_term_bank *bank, const struct sp_search_term *condition,
                            const double *wanted);
/* Fills `found` with conditions that are true where `wanted` is not 0, and false where it is 0. */
void sp_term_bank_find_condition(struct sp_term_bank *bank, const double *wanted, const char *name,
                                 struct sp_found *found);
/* The conditions of one key or index, each distinct one once, cheapest first: what a case can depend on. */
size_t sp_term_bank_condition_count(struct sp_term_bank *bank);
const struct sp_search_term *sp_term_bank_condition(struct sp_term_bank *bank, size_t index);
/* Keys that have a value at some of the points, and at others none. */
size_t sp_term_bank_partial_count(const struct sp_term_bank *bank);
const struct sp_search_term *sp_term_bank_partial(const struct sp_term_bank *bank, size_t index);

#endif
