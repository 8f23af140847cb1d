/* SPDX-License-Identifier: MIT
 * Numbers that each rank counts for itself, as the whole would. All names are noted first, rank by rank in rising
 * order, then the numbers are settled, then names are respelt. */
#ifndef SP_READ_RANKS_NUMBERS_H
#define SP_READ_RANKS_NUMBERS_H

#include "base/map.h"
#include "base/text.h"
#include "model/inventory.h"

/* The numbers that one rank has behind one beginning of names. With .layers.0 to .layers.3 on each of two ranks:
 * rank 0 has 0 to 3, offset 0; rank 1 has 0 to 3, offset 4. With names .layers.4 to .layers.7 it would be global. */
struct sp_number_range {
    uint64_t lowest, highest; /* as they are in the names */
    uint64_t offset;          /* how many numbers the ranks before have */
    size_t before;            /* the range of the rank before, or SHAPEPROOF_NONE */
    uint32_t rank;
    bool global; /* the names have numbers of the whole already: they begin at `offset` */
    bool odd;    /* they begin neither there nor at 0 */
};

struct sp_rank_numbers {
    const char *marker; /* what stands in front of a number: ".layers." */
    struct sp_arena arena;
    SP_ARRAY(struct sp_number_range) list;
    struct sp_map ranges; /* level, beginning of the names and rank -> number in `list` */
    struct sp_map last;   /* level and beginning -> the range of the rank that was noted last */
    struct sp_text key;   /* of either map, while it is spelt */
};

/* Notes the number in a name on a rank; a name without the marker is passed over. Ranks go on counting where the rank
 * before ends within one `level`: experts are counted anew in each stage of a pipeline. */
void sp_numbers_note(struct sp_rank_numbers *numbers, const char *name, uint32_t level, uint32_t rank);
/* After the last note: what each rank's numbers are in the whole. */
void sp_numbers_settle(struct sp_rank_numbers *numbers);
/* The name with the number of the whole, in the arena of the numbers or `name` itself; *odd is set when it cannot be
 * told. */
const char *sp_numbers_rename(struct sp_rank_numbers *numbers, const char *name, uint32_t level, uint32_t rank,
                              bool *odd);
void sp_numbers_free(struct sp_rank_numbers *numbers);

#endif
