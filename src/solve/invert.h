/* SPDX-License-Identifier: MIT
 * Expressions inverted: what must the hyper-parameters be for this one to have that value? */
#ifndef SP_SOLVE_INVERT_H
#define SP_SOLVE_INVERT_H

#include "solve/solver.h"

/* Tells the hyper-parameters what follows. SP_OPEN when nothing does, as yet. */
enum sp_answer sp_invert(struct sp_solver *solver, const struct sp_env *env, const struct sp_expr *expr,
                         const struct sp_want *want);
/* For conditions. */
enum sp_answer sp_invert_bool(struct sp_solver *solver, const struct sp_env *env, const struct sp_expr *expr,
                              bool want);

#endif
