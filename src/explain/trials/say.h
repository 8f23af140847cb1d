/* SPDX-License-Identifier: MIT
 * What a trial has found out, in words. */
#ifndef SP_EXPLAIN_TRIALS_SAY_H
#define SP_EXPLAIN_TRIALS_SAY_H

#include "explain/trials/trial.h"

/* Words the cause of what vanished in the trial. `settings` are those of the causes before it, " --set n_layer=2",
 * which the trial had as well. */
void sp_trial_say(struct sp_check *check, struct sp_cause *cause, const struct sp_trial *trial, const char *settings);
/* " --set n_layer=2", as a shell wants it. In the arena. */
const char *sp_change_setting(struct sp_check *check, const struct sp_change *change);

#endif
