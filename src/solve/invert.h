/* SPDX-License-Identifier: MIT
 * Expressions inverted: which values must keys have for an expression to have a wanted one?
 *
 *     known: n_head = 12    3*n_embd is to be 2304        ->  SP_HOLDS, and n_embd = 768 is told
 *                           n_embd/n_head is to be 64     ->  SP_HOLDS, and n_embd = 768 is told
 *                           n_head is to be 16            ->  SP_CONTRADICTS
 *                           n_embd*n_inner is to be 2048  ->  SP_OPEN: two keys are not known */
#ifndef SP_SOLVE_INVERT_H
#define SP_SOLVE_INVERT_H

#include "solve/solver.h"

/* Tells the keys their values, in solver->known. SP_HOLDS: the expression is what is wanted, or was made so; SP_OPEN:
 * too little is known yet, or several values would do; SP_CONTRADICTS: it cannot be so. */
enum sp_answer sp_invert(struct sp_solver *solver, const struct sp_env *env, const struct sp_expr *expr,
                         const struct sp_want *want);
/* The same for a condition, which is to be true or false. */
enum sp_answer sp_invert_bool(struct sp_solver *solver, const struct sp_env *env, const struct sp_expr *expr,
                              bool want);

#endif
