/* SPDX-License-Identifier: MIT
 * Experts that are one quantised tensor of ggml in one file, and a matrix each in full precision in the other. */
#ifndef SP_DIFF_STACKS_H
#define SP_DIFF_STACKS_H

#include "diff/parts.h"

/* Whether the parts of a joint are such matrices, of which the whole has one behind the other. */
bool sp_is_quantised_stack(const struct sp_diff_joint *joint);
/* Compares each matrix with its place in the whole; adds a finding for each that has other data, and counts. The bytes
 * of all of them can be read. False with an error when a file cannot be read, or when the progress ends the call. */
bool sp_quantised_stack_compare(struct shapeproof_diff *diff, const struct sp_diff_joint *joint,
                                const struct shapeproof_data *a, const struct shapeproof_data *b,
                                struct sp_data_progress *progress, struct sp_parts_totals *totals,
                                struct shapeproof_error *error);

#endif
