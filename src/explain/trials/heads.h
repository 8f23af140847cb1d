/* SPDX-License-Identifier: MIT
 * How many heads: most files tell only what they have together, 28 heads of 128 as well as 14 of 256. */
#ifndef SP_EXPLAIN_TRIALS_HEADS_H
#define SP_EXPLAIN_TRIALS_HEADS_H

#include "explain/what_if.h"

/* Where the changes that were accepted, `best`, leave heads of an unusual size, as many heads of the usual size as the
 * file has room for are told in their place, and other numbers that fit are named. */
void sp_settle_heads(struct shapeproof_check *check, const struct sp_variant *best);

#endif
