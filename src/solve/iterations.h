/* SPDX-License-Identifier: MIT
 * All iterations of the loops around a line, and the numbers that its name has in each.
 *
 *   resblocks.{i*K + k}.weight   for i in 0..1 for k in 0..1, K is 2   ->   0, 1, 2, 3 */
#ifndef SP_SOLVE_ITERATIONS_H
#define SP_SOLVE_ITERATIONS_H

#include "solve/lines.h"

/* A walk through all combinations of iterations, the outermost loop first. A loop that is in an iteration before stays
 * there. */
struct sp_iterations {
    struct sp_solver *solver;
    const struct sp_line *line;
    /* Called for each combination; false ends the walk, and the loops stay in these iterations. */
    bool (*visit)(struct sp_iterations *iterations);
    /* The last iteration of a loop whose last bound has no value yet, or a value that is no integer, which ends the
     * walk. NULL: such a bound always ends it. */
    struct shapeproof_value (*end)(struct sp_iterations *iterations, struct sp_loop *loop);
    void *context; /* for the callbacks */
    size_t left;   /* iterations that may still be entered; at 0 the walk ends */
    /* After a walk that ended early: an integer if `visit` or `left` ended it; otherwise the value of the bound that
     * did, which is unknown, or no integer. */
    struct shapeproof_value open;
};

/* True when the walk came to its end; the loops are in no iteration then. */
bool sp_walk_iterations(struct sp_iterations *iterations);
/* Writes the numbers in the line's name to `numbers`, in the iterations that its loops are in. SP_OPEN when one has no
 * value yet, which `open` is then; SP_CONTRADICTS when one is no integer. */
enum sp_answer sp_line_numbers(struct sp_solver *solver, const struct sp_line *line, uint64_t *numbers,
                               struct shapeproof_value *open);

#endif
