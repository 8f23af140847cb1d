/* SPDX-License-Identifier: MIT
 * The measures that follow from the shapes of the rows alone: bytes(...), lora(...), optimizer(...). */
#ifndef SP_PROVE_SYMBOLIC_SIZING_H
#define SP_PROVE_SYMBOLIC_SIZING_H

#include "prove/symbolic/count.h"

/* The value of a question of the kind SP_EXPR_SIZING, but for bytes(as stored). `number` is the rank of an adapter, or
 * the number of processes; NULL: it was not given. NULL with a message when the value is not known. */
const struct sp_poly *sp_count_sizing(struct sp_count *count, const struct sp_expr *expr, const struct sp_poly *number);
/* What the bytes of the question consist of: "weights 2, gradients 2, states 12 bytes a parameter: ...". */
void sp_put_sizing_convention(struct sp_text *text, const struct sp_sizing *sizing);

#endif
