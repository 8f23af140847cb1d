/* SPDX-License-Identifier: MIT
 * Loops as sums in closed form. */
#ifndef SP_PROVE_SYMBOLIC_SUMS_H
#define SP_PROVE_SYMBOLIC_SUMS_H

#include "prove/symbolic/symbolic.h"

/* The sum of `body` over the index from first to last; 0 when last is less than first. In closed form as far as it has
 * one; the rest is an atom, "sum(i in 0..N-1: widths[i])", which is computed once its ends have values. */
const struct sp_poly *sp_sym_sum(struct sp_symbolic *symbolic, struct sp_span span, size_t index,
                                 const struct sp_poly *body, const struct sp_poly *first, const struct sp_poly *last);

#endif
