/* SPDX-License-Identifier: MIT
 * The data of tensors that are one in one checkpoint and several in the other: queries, keys and values, gate and up,
 * the experts of a layer. */
#ifndef SP_DIFF_PARTS_H
#define SP_DIFF_PARTS_H

#include "diff/relations.h"

/* What became of the data of the tensors of A that are joined. */
struct sp_parts_totals {
    size_t compared, different;
    uint64_t bytes;        /* compared */
    size_t left;           /* not compared: quantised, or of too many components */
    size_t unread;         /* not compared for a reason that a finding gives: the place of a part is not known */
    uint64_t bytes_left;   /* of both */
    size_t restored;       /* quantised stacks (stacks.h) all of whose parts are the same within the error */
    double relative_error; /* the largest of these */
};

/* Compares each whole with its parts, where the data show how they are put together; adds a finding for each part that
 * has other data, and counts. False with an error when a file cannot be read, or when the caller wants the call to end.
 */
bool sp_parts_compare(struct shapeproof_diff *diff, struct sp_relations *relations, const struct shapeproof_data *a,
                      const struct shapeproof_data *b, struct sp_data_progress *progress,
                      struct sp_parts_totals *totals, struct shapeproof_error *error);

#endif
