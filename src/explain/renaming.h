/* SPDX-License-Identifier: MIT
 * Tensors that are missing under one name and there under another. */
#ifndef SP_EXPLAIN_RENAMING_H
#define SP_EXPLAIN_RENAMING_H

#include "check/check.h"

/* For each finding of what is missing under one name and there under another the finding about that other name; itself
 * when the prediction need not have it; SHAPEPROOF_NONE for all others. To be freed. `says` gets the renaming in words,
 * in the arena, unless it is NULL. */
size_t *sp_pair_renamed(struct shapeproof_check *check, const char **says);

#endif
