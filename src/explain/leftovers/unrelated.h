/* SPDX-License-Identifier: MIT
 * A file of something else. */
#ifndef SP_EXPLAIN_LEFTOVERS_UNRELATED_H
#define SP_EXPLAIN_LEFTOVERS_UNRELATED_H

#include "check/check.h"

/* Whether not one predicted tensor is there, under whatever name or in whatever layout. */
bool sp_is_unrelated(const struct shapeproof_check *check);

#endif
