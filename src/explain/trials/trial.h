/* SPDX-License-Identifier: MIT
 * A change of a hyper-parameter, tried: the table expanded with it and matched again. Only what was found out in this
 * way becomes a cause. */
#ifndef SP_EXPLAIN_TRIALS_TRIAL_H
#define SP_EXPLAIN_TRIALS_TRIAL_H

#include "check/check.h"
#include "explain/what_if.h"

/* Bundles are findings that stand or fall together: those about a layer of which nothing is there, or the two about a
 * tensor that is missing under one name and there under another. */
struct sp_bundles {
    size_t *of; /* for each finding the number of its bundle, or SHAPEPROOF_NONE */
    size_t count;
};

/* Finds the bundles of the open findings. */
void sp_bundles_init(struct sp_bundles *bundles, struct shapeproof_check *check);
void sp_bundles_free(struct sp_bundles *bundles);

enum { SP_MOST_RIVALS = 2 };

/* A change and what a trial found out of it. Begin with the check and the change set and the rest zero. */
struct sp_hypothesis {
    struct shapeproof_check *check;
    const struct sp_change *change;
    struct sp_variant variant;
    bool *vanishes;           /* which findings do; NULL: it was not run, or explains nothing */
    bool reshapes;            /* all that vanish are about tensors that had another shape before the change */
    size_t errors;            /* that it leaves, with what is lacking of optional wholes */
    size_t vanished, brought; /* how many findings it takes away, and how many missing tensors it brings */
    const struct sp_change *rivals[SP_MOST_RIVALS]; /* other changes that explain the same */
    size_t rival_count;
};

/* Tries it on top of `base`, under which the file matches as in `before`; false when it makes nothing better, more is
 * wrong with it than it explains, or its lengths are not those of the file. */
bool sp_trial_run(struct sp_hypothesis *trial, const struct sp_bundles *bundles, const struct shapeproof_config *base,
                  const struct sp_match *before);
void sp_trial_free(struct sp_hypothesis *trial);
/* Whether the lengths that loops have under the change are those that they have in the file (agree.c). */
bool sp_trial_agrees(const struct sp_hypothesis *trial);
/* Whether two changes give the same dimensions. Of what is missing or unexpected there is but one reading. */
bool sp_trial_is_rival(const struct sp_hypothesis *a, const struct sp_hypothesis *b);

#endif
