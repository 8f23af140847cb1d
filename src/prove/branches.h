/* SPDX-License-Identifier: MIT
 * Getting rid of what is no polynomial to solve for an unknown x in it. Of (3*x + 1) // 8 the remainder of x decides:
 * in each of 8 cases the floor is a polynomial. 4096 // x has few values: in each case it is a number, for a range of
 * x. min(3, x) is 3 or x. The cases are all that there are, while x need not be such that the case occurs. */
#ifndef SP_PROVE_BRANCHES_H
#define SP_PROVE_BRANCHES_H

#include "prove/symbolic/symbolic.h"

struct sp_branches {
    struct sp_algebra *algebra;
    size_t unknown;
    const struct sp_origin *choice; /* of a minimum or maximum, else NULL */
    int64_t slope, offset, divisor; /* (slope*x + offset) // divisor; or slope 0: offset // x */
    int64_t next;                   /* the argument, the remainder, or the first x of the next case */
};

struct sp_branch {
    const struct sp_poly *value;
    int64_t first, last; /* of x, when that is known; else both are 0 */
};

/* False when `atom` is nothing of that kind, or has too many cases. */
bool sp_branches_open(struct sp_symbolic *symbolic, size_t atom, size_t unknown, struct sp_branches *branches);
/* False behind the last case. */
bool sp_branches_next(struct sp_branches *branches, struct sp_branch *out);

#endif
