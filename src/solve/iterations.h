/* SPDX-License-Identifier: MIT
 * All iterations of the loops around a line, and the numbers that its name has in each.
 *
 *   resblocks.{i*K + k}.weight   for i in 0..1 for k in 0..1, K is 2   ->   0, 1, 2, 3 */
#ifndef SP_SOLVE_ITERATIONS_H
#define SP_SOLVE_ITERATIONS_H

#include "solve/lines.h"

/* Through the iterations, outermost loop first; a loop that was given a iteration before stays there. */
struct sp_iterations {
    struct sp_solver *solver;
    const struct sp_line *line;
    bool (*visit)(struct sp_iterations *iterations); /* false: that is enough, and the loops stay in these iterations */
    struct shapeproof_value (*end)(struct sp_iterations *iterations, struct sp_loop *loop); /* of a loop whose last
                                                                                   iteration is not known; or NULL */
    void *context;
    size_t left; /* iterations that may still be entered */
    struct shapeproof_value
        open; /* why it ended early: the bound that is not known, or is none; not set when visit said so */
};

/* True when there was every iteration. */
bool sp_walk_iterations(struct sp_iterations *iterations);
/* The numbers in the line's name, in the iterations that its loops are in. `open`: the value that is not known, of
 * SP_OPEN.
 */
enum sp_answer sp_line_numbers(struct sp_solver *solver, const struct sp_line *line, uint64_t *numbers,
                               struct shapeproof_value *open);

#endif
