/* SPDX-License-Identifier: MIT
 * A part of the configuration that contradicts another about a tie. */
#ifndef SP_EXPLAIN_STORAGE_TIE_FLAGS_H
#define SP_EXPLAIN_STORAGE_TIE_FLAGS_H

#include "check/ties.h"

/* Says what comes of it, when the other part says the opposite of `tied` and loaders that go by that do harm. */
void sp_explain_flag(struct shapeproof_check *check, const struct sp_tie_pair *pair, bool tied);

#endif
