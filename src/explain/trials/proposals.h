/* SPDX-License-Identifier: MIT
 * What could be set otherwise so that findings vanish: changes of hyper-parameters that are worth a trial. Nothing here
 * is sure; trial.h decides. */
#ifndef SP_EXPLAIN_TRIALS_PROPOSALS_H
#define SP_EXPLAIN_TRIALS_PROPOSALS_H

#include "explain/what_if.h"

enum { SP_MOST_PROPOSALS = 128 };
/* What floating-point numbers hold exactly. */
#define SP_MOST_DIMENSION (UINT64_C(1) << 52)

/* Changes, each once; there is room for so many, and the first ones stay. */
struct sp_proposals {
    struct sp_change items[SP_MOST_PROPOSALS];
    size_t count;
};

/* Adds a change, unless the hyper-parameter is one that the table itself sets. */
void sp_propose(struct sp_proposals *proposals, struct sp_hyperparameter hyper, struct sp_value value);
/* Likewise of a number, rounded; nothing when it is negative or too large for a dimension. */
void sp_propose_number(struct sp_proposals *proposals, struct sp_hyperparameter hyper, double value);
/* The value of an integer hyper-parameter; false for any other. */
bool sp_integer_value(struct sp_hyperparameter hyper, int64_t *value);

/* For each dimension that differs what the hyper-parameters in it would have to be (sizes.c). */
void sp_propose_sizes(struct sp_proposals *proposals, struct sp_check *check, const struct sp_sample *sample);
/* For loops that are shorter or longer in the file (lengths.c). */
void sp_propose_lengths(struct sp_proposals *proposals, struct sp_check *check);
/* The other truth values, and the usual numbers of quantisations (proposals.c). */
void sp_propose_flags(struct sp_proposals *proposals, const struct sp_check *check);
void sp_propose_quantisations(struct sp_proposals *proposals, const struct sp_check *check);
/* What no finding suggests: numbers near the configured ones, sizes in place of 0 (guesses.c). */
void sp_propose_guesses(struct sp_proposals *proposals, const struct sp_check *check);
/* Whether an open finding is about what there is, and not about its shape. */
bool sp_is_structural(const struct sp_finding *finding);

#endif
