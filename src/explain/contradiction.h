/* SPDX-License-Identifier: MIT */
#ifndef SP_EXPLAIN_CONTRADICTION_H
#define SP_EXPLAIN_CONTRADICTION_H

#include "check/check.h"

/* The prediction of the check. Of a configuration that contradicts itself the part is followed with which the file
 * agrees, in check->own_config, and check->contradiction says so. NULL with an error. */
struct shapeproof_prediction *sp_predict_subject(struct shapeproof_check *check, struct shapeproof_error *error);

#endif
