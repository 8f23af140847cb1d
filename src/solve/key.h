/* SPDX-License-Identifier: MIT
 * One key in question, all others as configured: what would it have to be for an expression to have a value?
 *
 *   n_embd = 768, n_head = 12    the row has  3*n_embd,  the file 3072    ->  n_embd = 1024
 *                                the row has  n_embd//n_head, the file 32 ->  n_embd = 384, or n_head = 24
 */
#ifndef SP_SOLVE_KEY_H
#define SP_SOLVE_KEY_H

#include "solve/solver.h"

/* The key that is in question. */
struct sp_unknown {
    const char *path;            /* "text_config.n_head" */
    struct shapeproof_value now; /* what it is, or what stands for it by default */
};

/* Whether the value of the expression depends on the key, as everything else is configured. */
bool sp_key_matters(struct sp_solver *solver, const struct sp_unknown *key, const struct sp_env *env,
                    const struct sp_expr *expr);
/* Values of a key, the likeliest first: numbers, texts, true or false, no lists. Texts live as long as the solver. */
enum { SP_MAX_SOLUTIONS = 6 };
struct sp_key_values {
    struct shapeproof_value list[SP_MAX_SOLUTIONS];
    size_t count;
};

/* The values that the key could have for the expression to have the wanted one: that to which the expression,
 * inverted, leads; where there is no way back, or more than one, those near to what the key is now. Each was put in:
 * with it the expression does have that value. None when the expression does not depend on the key. */
struct sp_key_values sp_solve_key(struct sp_solver *solver, const struct sp_unknown *key, const struct sp_env *env,
                                  const struct sp_expr *expr, struct shapeproof_value wanted);
/* Until sp_suppose_end the key is that; false when it cannot be. */
bool sp_suppose(struct sp_solver *solver, const char *path, struct shapeproof_value value);
void sp_suppose_end(struct sp_solver *solver);

#endif
