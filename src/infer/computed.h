/* SPDX-License-Identifier: MIT
 * Buffers that loaders compute anyway, such as rotary frequencies: whether a file has them is no evidence for a table
 * or against it. */
#ifndef SP_INFER_COMPUTED_H
#define SP_INFER_COMPUTED_H

#include "match/match.h"

/* Marks the tensors of the file that are such buffers and are not predicted (is_excused), and the predicted tensors
 * that are such buffers and are not in the file (is_recomputed), both in modules that are there. Some versions of a
 * library store them, others do not. The arrays have as many items as the file, and as the prediction, has tensors. */
void sp_find_computed(const struct sp_match *match, bool *is_excused, bool *is_recomputed);

#endif
