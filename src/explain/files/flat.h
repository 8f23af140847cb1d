/* SPDX-License-Identifier: MIT */
#ifndef SP_EXPLAIN_FILES_FLAT_H
#define SP_EXPLAIN_FILES_FLAT_H

#include "check/check.h"

/* Whether a matrix is there as a flat piece of it: then what is empty is of FSDP, too. */
bool sp_has_flat_pieces(const struct shapeproof_check *check);

#endif
