/* SPDX-License-Identifier: MIT
 * The usual case of a table, in which its hyper-parameters have their defaults, and what changes in other cases. What
 * the formulas of a case take for granted is kept in symbolic->premises.assumed. */
#ifndef SP_PROVE_CASES_H
#define SP_PROVE_CASES_H

#include "prove/symbolic/reduce.h"

/* What a formula gains when one condition takes the opposite value, and no other one because of it. */
struct sp_case_change {
    size_t condition;
    bool holds; /* the condition, after the change */
    const struct sp_poly *gain;
};

/* A formula for all cases, as far as sizes and loops decide them. NULL when it has no value. */
const struct sp_poly *sp_case_general(struct sp_count *count, const struct sp_poly *poly);
/* A formula in the usual case, but for the conditions that `overrides` (or NULL) gives a value. NULL when it has none.
 */
const struct sp_poly *sp_case_usual(struct sp_count *count, const struct sp_poly *poly,
                                    const struct sp_values *overrides);

struct sp_changes {
    struct sp_case_change *items; /* heap */
    size_t count, capacity;
};

struct sp_conditions {
    size_t *items; /* heap; atoms */
    size_t count, capacity;
};

/* Every condition that changes the total when it changes alone. Free the items. */
struct sp_changes sp_case_changes(struct sp_count *count, const struct sp_poly *total);
/* The conditions on which the gain of changes->items[which] depends: comparisons of sizes that are not in `changes`
 * themselves (or compare the same quantity as the change does); and, if the change is a comparison, the flags of
 * `changes` without which it gains nothing. sp_case_holds tells the value of each with the change. Free the items. */
struct sp_conditions sp_case_deciding(struct sp_count *count, const struct sp_poly *total,
                                      const struct sp_changes *changes, size_t which);
/* Comparisons of sizes on which the total depends, while all that hyper-parameters say themselves is as usual, but that
 * change nothing alone. Free the items. */
struct sp_conditions sp_case_open(struct sp_count *count, const struct sp_poly *total,
                                  const struct sp_changes *changes);
/* Removes every condition that follows from the others and the change (or NULL): n > 1 beside n > 2. */
void sp_case_drop_implied(struct sp_count *count, const struct sp_case_change *change,
                          struct sp_conditions *conditions);
/* Whether a change, with the conditions that decide it, occurs only where another one does: n > 3, and n > 2. */
bool sp_case_is_within(struct sp_count *count, const struct sp_case_change *a, const struct sp_conditions *with_a,
                       const struct sp_case_change *b, const struct sp_conditions *with_b);
/* Whether one of those changes the total together with another of them. */
bool sp_case_is_needed(struct sp_count *count, const struct sp_poly *total, const struct sp_conditions *open,
                       size_t which);
/* Whether a condition holds in the usual case, but for one change (or NULL). */
bool sp_case_holds(struct sp_count *count, size_t condition, const struct sp_case_change *change);

#endif
