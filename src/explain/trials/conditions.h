/* SPDX-License-Identifier: MIT */
#ifndef SP_EXPLAIN_TRIALS_CONDITIONS_H
#define SP_EXPLAIN_TRIALS_CONDITIONS_H

#include "explain/trials/proposals.h"

typedef bool (*sp_key_filter)(const struct sp_changeable *key);

bool sp_is_number_key(const struct sp_changeable *key);
/* What each of these keys would have to be for the conditions of a line, in the iterations that its loops were given,
 * to be met if its tensor is `there`, or for one of them not to be. */
void sp_propose_met(struct sp_proposals *proposals, const struct sp_line *line, bool there, sp_key_filter filter);

#endif
