/* SPDX-License-Identifier: MIT
 * What the open questions say to something that is tried, and is forgotten again. */
#ifndef SP_INFER_TRYING_H
#define SP_INFER_TRYING_H

#include "infer/deduce.h"

struct sp_outcome {
    size_t contradictions;
    size_t answered;
};

/* How the open questions are answered with what is known now, and with what that tells, which stays. More
 * contradictions than the limit are not counted. */
struct sp_outcome sp_deduction_ask_unresolved(struct sp_deduction *deduction, size_t limit);
/* The same if the key is as wanted, and, if asked for, what is known then. */
struct sp_outcome sp_try_want(struct sp_deduction *deduction, const char *key, struct sp_want want, size_t limit,
                              struct sp_kept *then);
struct sp_outcome sp_try_value(struct sp_deduction *deduction, const char *key, struct shapeproof_value value,
                               size_t limit);
/* What no value explains may take several: of layers of two kinds, `near ? swa_heads : heads`, the first one that is
 * open is taken to be of the first kind. False unless that contradicts less than the limit. */
bool sp_suppose_alternative(struct sp_deduction *deduction, size_t limit);

#endif
