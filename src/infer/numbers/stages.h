/* SPDX-License-Identifier: MIT
 * Where the stages of a list of modules end, {before(s) + j}: the dimensions that depend on the stage alone are the
 * same in all modules of it.
 *
 *   blocks.{before(s) + j}.conv.weight   (widths[s], ...)   16, 16, 24, 24, 24   ->   two stages, of 2 and 3 modules */
#ifndef SP_INFER_STAGES_H
#define SP_INFER_STAGES_H

#include "infer/deduce.h"

struct sp_stages {
    uint64_t *marks; /* by the number of a module: a hash of the dimensions and names that its stage decides */
    uint64_t *names; /* by the number of a module: a hash of the names of its tensors */
    size_t count;    /* of the modules; 0: there are too many, and none are told apart */
};

/* The loop over the modules of a stage: the innermost on which the number in hole `front` of the line's name depends.
 * NULL when that is no computed number. */
struct sp_loop *sp_stage_loop(const struct sp_line *line, size_t front);

/* Reads a list of modules (modules.h): `lines` make the names of its tensors, which have the first `front` of `numbers`
 * before the number of the module; `most` is the highest of those. */
void sp_stages_read(struct sp_stages *stages, const struct sp_deduction *deduction, const size_t *lines,
                    size_t line_count, const uint64_t *numbers, size_t front, uint64_t most);
void sp_stages_free(struct sp_stages *stages);
/* Whether both modules may be of one stage: their marks are equal, or one of them is not in the list. */
bool sp_stages_alike(const struct sp_stages *stages, uint64_t a, uint64_t b);
/* How many modules behind the one with the number `first` are like it, each `step` numbers behind the one before. */
int64_t sp_stages_behind(const struct sp_stages *stages, uint64_t first, uint64_t step);
/* How many stages there are at least, if modules are numbered one by one: runs of modules that are alike. */
int64_t sp_stages_count(const struct sp_stages *stages);

/* How often the list repeats a part of it, by the names in its modules: a, b, a, b, a, b three times. */
int64_t sp_stages_repeats(const struct sp_stages *stages);

#endif
