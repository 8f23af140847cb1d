/* SPDX-License-Identifier: MIT
 * Expressions turned round: what must the hyper-parameters be for this one to have that value? */
#ifndef SP_INFER_INVERT_H
#define SP_INFER_INVERT_H

#include "infer/outline.h"

/* Tells the hyper-parameters what follows. SP_OPEN when nothing does, as yet. */
enum sp_answer sp_invert(struct sp_outline *outline, const struct sp_env *env, const struct sp_expr *expr,
                         const struct sp_want *want);
/* For conditions. */
enum sp_answer sp_invert_bool(struct sp_outline *outline, const struct sp_env *env, const struct sp_expr *expr,
                              bool want);
/* The path of the key that an expression is, through definitions and parameters; NULL when it is none. */
const char *sp_key_of(struct sp_outline *outline, const struct sp_env *env, const struct sp_expr *expr);

#endif
