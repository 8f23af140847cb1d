/* SPDX-License-Identifier: MIT
 * The data of weights that one of the files stores as several tensors (quantised.c). */
#ifndef SP_DIFF_PACKED_H
#define SP_DIFF_PACKED_H

#include "diff/elements.h"

struct shapeproof_diff;

struct sp_packed_totals {
    size_t compared, different; /* tensors of A, weights */
    uint64_t bytes;             /* of A, compared */
    size_t scaled;              /* tensors of A, not compared: columns may have been multiplied (packed.c) */
    uint64_t bytes_scaled;      /* of these */
    size_t same;                /* weights that are the same within the error of their quantisation */
    double relative_error;      /* the largest of these (sp_relative_error) */
};

/* Compares each weight whose matrix can be restored with the matrix of the other file, notes that it is compared, adds
 * a finding for each that has other data, and counts. False with an error when a file cannot be read. */
bool sp_packed_compare(struct shapeproof_diff *diff, const struct shapeproof_data *a, const struct shapeproof_data *b,
                       struct sp_data_progress *progress, struct sp_packed_totals *totals,
                       struct shapeproof_error *error);

#endif
