/* SPDX-License-Identifier: MIT
 * A dimension that cannot be inverted, but grows with one number: (448 // 16) * (448 // 16) + 1 with the side of an
 * image. */
#include "infer/deduce.h"

/* sp_constraint_difference under an assumed value of the key. */
static bool difference_for(struct sp_deduction *deduction, const struct sp_constraint *constraint, const char *key,
                           int64_t value, int64_t *difference)
{
    struct sp_known *known = &deduction->solver->known;
    const struct sp_want want = sp_want_value(sp_value_int(value));
    const struct sp_mark mark = sp_known_mark(known);
    const bool good =
        sp_known_tell(known, key, &want) == SP_HOLDS && sp_constraint_difference(deduction, constraint, difference);
    sp_known_undo(known, &mark);
    return good;
}

bool sp_constraint_bisect(struct sp_deduction *deduction, const struct sp_constraint *constraint, const char *key,
                          int64_t *value)
{
    const int64_t most = INT64_C(1) << 40;
    int64_t low = 0, high = 1, difference;
    if (constraint->kind != SP_CONSTRAINT_DIMENSION) return false;
    /* Throughout, the dimension is too small for `low`, of which 0 is taken to be so. */
    for (; high < most; high *= 2) {
        if (!difference_for(deduction, constraint, key, high, &difference)) return false;
        if (difference >= 0) break;
        low = high;
    }
    while (high < most && low + 1 < high) {
        const int64_t middle = low + (high - low) / 2;
        if (!difference_for(deduction, constraint, key, middle, &difference)) return false;
        if (difference < 0) low = middle;
        else high = middle;
    }
    *value = high; /* the smallest for which it is large enough; that it is exact is still open */
    return high > 1 && high < most && difference_for(deduction, constraint, key, high, &difference) && !difference;
}
