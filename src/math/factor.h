/* SPDX-License-Identifier: MIT
 * A polynomial as a product: a number, a monomial and sums that have no common factor; for src/math alone. */
#ifndef SP_MATH_FACTOR_H
#define SP_MATH_FACTOR_H

#include "math/terms.h"

enum { SP_MAX_FACTORS = 64 };

struct sp_factors {
    struct sp_term monomial;                    /* with the number */
    const struct sp_poly *sums[SP_MAX_FACTORS]; /* coefficients are integers, the first one positive */
    size_t count;
};

/* `a` is not 0. Finds the factors that lack an atom of the polynomial, and linear ones in a single atom. The algebra
 * is for scratch: what overflows on the way is not tried, and `failed` is cleared. */
void sp_poly_factor(struct sp_algebra *algebra, const struct sp_poly *a, struct sp_factors *factors);

#endif
