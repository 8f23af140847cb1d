/* SPDX-License-Identifier: MIT
 * What a trial has found out, in words. */
#ifndef SP_EXPLAIN_TRIALS_SAY_H
#define SP_EXPLAIN_TRIALS_SAY_H

#include "explain/trials/trial.h"

/* Words the cause of what vanished in the trial. */
void sp_trial_say(struct shapeproof_check *check, struct shapeproof_cause *cause, const struct sp_hypothesis *trial);

#endif
