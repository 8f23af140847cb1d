/* SPDX-License-Identifier: MIT
 * What a trial has found out, in words. */
#ifndef SP_EXPLAIN_TRIALS_SAY_H
#define SP_EXPLAIN_TRIALS_SAY_H

#include "explain/remedy.h"
#include "explain/trials/trial.h"

/* Words the cause of what vanished in the trial. `before` are the changes of the causes before it, which the trial had
 * as well. */
void sp_trial_say(struct sp_check *check, struct sp_cause *cause, const struct sp_trial *trial,
                  struct sp_remedy before);
struct sp_remedy sp_change_remedy(struct sp_check *check, const struct sp_change *change);

#endif
