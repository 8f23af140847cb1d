/* SPDX-License-Identifier: MIT
 * A polynomial as nested sums and products, the way a person would write it; for src/math alone. */
#ifndef SP_MATH_FORM_H
#define SP_MATH_FORM_H

#include "math/terms.h"

struct sp_bracket {
    const struct sp_sum *sum;
    int power;
};

/* The term, with its number and sign, times the brackets. */
struct sp_factored_term {
    struct sp_term term;
    const struct sp_bracket *brackets;
    size_t count;
    const struct sp_poly *value;
};

struct sp_sum {
    const struct sp_factored_term *pieces;
    size_t count, cost; /* cost: how many numbers, names, signs and brackets are to be read */
    const struct sp_poly *value;
};

/* `a` itself, unordered: a piece for each term. */
const struct sp_sum *sp_sum_expanded(struct sp_arena *arena, const struct sp_poly *a);
/* The shortest form found; expanded where there are more terms than anybody reads. The algebra is for scratch; what it
 * computes, and the result, are in its arena. */
const struct sp_sum *sp_sum_collected(struct sp_algebra *algebra, const struct sp_poly *a);

#endif
