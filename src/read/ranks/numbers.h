/* SPDX-License-Identifier: MIT
 * Numbers that each rank counts for itself, as the whole would. All names are noted first, rank by rank in rising
 * order, then the numbers are settled, then names are respelt. */
#ifndef SP_READ_RANKS_NUMBERS_H
#define SP_READ_RANKS_NUMBERS_H

#include "base/map.h"
#include "base/text.h"
#include "model/inventory.h"

/* The numbers that one rank has in one place. */
struct sp_number_range {
    uint64_t lowest, highest;
    uint64_t offset; /* numbers on the ranks before */
    size_t before;   /* the range of the rank before, or SHAPEPROOF_NONE */
    uint32_t rank;
    bool global; /* they are numbers of the whole already */
    bool odd;    /* they are neither that nor counted from 0 */
};

struct sp_rank_numbers {
    const char *marker; /* what stands in front of a number: ".layers." */
    struct sp_arena arena;
    SP_ARRAY(struct sp_number_range) list;
    struct sp_map ranges, last;
    struct sp_text key;
};

/* Names of one `level` belong together. */
void sp_numbers_note(struct sp_rank_numbers *numbers, const char *name, uint32_t level, uint32_t rank);
void sp_numbers_settle(struct sp_rank_numbers *numbers);
/* The name with the number of the whole, in the arena of the numbers or `name` itself; *odd is set when it cannot be
 * told. */
const char *sp_numbers_rename(struct sp_rank_numbers *numbers, const char *name, uint32_t level, uint32_t rank,
                              bool *odd);
void sp_numbers_free(struct sp_rank_numbers *numbers);

#endif
