/* SPDX-License-Identifier: MIT
 * The data of weights that one of the files stores under a parametrisation (parametrised.c). */
#ifndef SP_DIFF_PARAMETRISED_H
#define SP_DIFF_PARAMETRISED_H

#include "diff/elements.h"

struct shapeproof_diff;

struct sp_parametrised_totals {
    size_t compared, different; /* tensors of A, weights */
    uint64_t bytes;             /* of A, compared */
    size_t same;                /* weights that follow from their parts */
    size_t unread;              /* tensors of A that are not compared for a reason that a finding gives */
    uint64_t bytes_unread;      /* of these */
};

/* Computes each weight from its parts, compares it with the weight of the other file, notes that it is compared, adds a
 * finding for each that has other data, and counts. False with an error when a file cannot be read. */
bool sp_parametrised_compare(struct shapeproof_diff *diff, const struct shapeproof_data *a,
                             const struct shapeproof_data *b, struct sp_data_progress *progress,
                             struct sp_parametrised_totals *totals, struct shapeproof_error *error);

#endif
