/* SPDX-License-Identifier: MIT
 * Findings that stand or fall together: a layer of which nothing is there, a tensor that is missing under one name and
 * there under another. What would explain a part of them does not explain them. Nor does what would explain less than
 * half of the findings of one pattern: it only shifts the end of a loop. */
#ifndef SP_EXPLAIN_TRIALS_BUNDLES_H
#define SP_EXPLAIN_TRIALS_BUNDLES_H

#include "check/check.h"

struct sp_bundles {
    size_t *of; /* for each finding the number of its bundle, or SHAPEPROOF_NONE */
    size_t count;
};

/* The bundles of the open findings. */
void sp_bundles_init(struct sp_bundles *bundles, struct shapeproof_check *check);
/* Of a set of findings takes out the bundles that are not in it as a whole, and the patterns of which less than half
 * are; returns how many findings stay. */
size_t sp_bundles_hold(const struct sp_bundles *bundles, const struct shapeproof_check *check, bool *set);
void sp_bundles_free(struct sp_bundles *bundles);

#endif
