/* SPDX-License-Identifier: MIT
 * What to do, where no explainer has said it. */
#ifndef SP_EXPLAIN_ADVICE_H
#define SP_EXPLAIN_ADVICE_H

#include "check/check.h"

/* Gives every error, and the warnings after which something is to be done, a hint if it has none; and says what is to
 * be done about findings without a cause, or why that is not known. */
void sp_advise(struct shapeproof_check *check);

#endif
