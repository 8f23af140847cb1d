/* SPDX-License-Identifier: MIT
 * Where a stage of a list of modules ends, {before(s) + j}: what a stage decides is the same in all of its modules.
 *
 *   blocks.{before(s) + j}.conv.weight   (widths[s], ...)   16, 16, 24, 24, 24   ->   two stages, of 2 and 3 modules */
#ifndef SP_INFER_STAGES_H
#define SP_INFER_STAGES_H

#include "infer/deduce.h"

struct sp_stages {
    uint64_t *marks; /* of each module, by its number: what its stage decides of it */
    uint64_t *names; /* of each: the names of its tensors */
    size_t count;    /* 0: there is nothing to tell them apart by */
};

/* The loop over the modules of a stage: the innermost on which the number depends, the one that the line has at
 * `front`. NULL when there is none. */
struct sp_loop *sp_stage_loop(const struct sp_line *line, size_t front);

/* Of the modules whose names begin with a pattern, and with these numbers in front, `front` of them; `lines` are those
 * that may have their tensors, `most` is the highest number. */
void sp_stages_read(struct sp_stages *stages, const struct sp_deduction *deduction, const size_t *lines,
                    size_t line_count, const uint64_t *numbers, size_t front, uint64_t most);
void sp_stages_free(struct sp_stages *stages);
/* Whether both modules may be of one stage. */
bool sp_stages_alike(const struct sp_stages *stages, uint64_t a, uint64_t b);
/* How many modules more may be of the stage that begins there, each that many numbers behind the one before. */
int64_t sp_stages_behind(const struct sp_stages *stages, uint64_t first, uint64_t step);
/* How many stages there are at least, of modules that are numbered one by one. */
int64_t sp_stages_count(const struct sp_stages *stages);

/* How often the list repeats a part of it, by the names in its modules: a, b, a, b, a, b three times. */
int64_t sp_stages_repeats(const struct sp_stages *stages);

#endif
