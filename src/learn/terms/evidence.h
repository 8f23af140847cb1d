/* SPDX-License-Identifier: MIT
 * What there is to learn from: examples, each a file and its configuration, and what all of these configurations say,
 * path by path.
 *
 *     example 0  hidden_size 64, layers 2      "hidden_size"  [64, 96]
 *     example 1  hidden_size 96                "layers"       [2, absent] */
#ifndef SP_LEARN_EVIDENCE_H
#define SP_LEARN_EVIDENCE_H

#include "base/watch.h"
#include "config/config.h"
#include "learn/terms/terms.h"
#include "shapeproof/inventory.h"
#include "shapeproof/learn.h"

struct sp_terminals {
    struct sp_terminal **items;
    size_t count, capacity;
};

struct sp_evidence {
    struct sp_arena *arena;
    const struct shapeproof_learn_example *examples;
    size_t count;
    struct sp_terminals terminals;        /* in the order of the configurations */
    uint64_t spent, most;                 /* values computed in the search, and how many may be */
    const struct shapeproof_watch *watch; /* of the caller; or NULL */
    size_t asked;                         /* expressions that were looked for */
    bool is_cancelled;                    /* the watch wants the search to end */
};

/* Lists the terminals of all configurations, up to 600. */
void sp_evidence_gather(struct sp_evidence *evidence);
/* The terminal at a path; NULL when there is none. */
struct sp_terminal *sp_evidence_terminal(const struct sp_evidence *evidence, const char *path);
/* Adds a symbol: a terminal with the path and the values of the key, which stands for the term `meaning`. */
struct sp_terminal *sp_evidence_symbol(struct sp_evidence *evidence, const struct sp_terminal *key,
                                       const struct sp_search_term *meaning);
void sp_evidence_free(struct sp_evidence *evidence);

/* Whether the value is the same in every example. */
bool sp_terminal_is_constant(const struct sp_terminal *terminal, size_t examples);

#endif
