/* SPDX-License-Identifier: MIT
 * Names, and lists that loops go through, may depend on what is not known yet: `old ? "q2h" : "dense0"`. A table is
 * laid out once for each alternative, under the assumption that it is the right one. */
#ifndef SP_SOLVE_ALTERNATIVES_H
#define SP_SOLVE_ALTERNATIVES_H

#include "solve/outline.h"

/* A condition that is taken to hold, or not to. */
struct sp_assumption {
    const struct sp_expr *condition; /* NULL: none */
    struct sp_env env;
    bool holds;
    const struct sp_assumption *outer;
};

/* The value under the assumptions. One that depends on another condition stays SHAPEPROOF_VALUE_UNKNOWN, and that
 * condition is `lacking`; the first one that is found is kept. */
bool sp_assume_eval(struct sp_outline *outline, const struct sp_assumption *assumed, const struct sp_env *env,
                    const struct sp_expr *expr, struct shapeproof_value *value, struct sp_assumption *lacking);
/* What must be true under the assumption: its condition, or the opposite. In the outline's arena. */
const struct sp_expr *sp_assumption_expr(struct sp_outline *outline, const struct sp_assumption *assumption);

/* Joins the lines of the outline that are alternatives of one another, where all that there can be are laid out. */
void sp_alternatives_link(struct sp_outline *outline);

#endif
