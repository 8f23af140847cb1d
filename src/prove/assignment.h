/* SPDX-License-Identifier: MIT
 * The number that a polynomial is worth where hyper-parameters have values. It is computed from the atoms by their
 * origins, without counting the table again: thousands of points can be looked at. */
#ifndef SP_PROVE_ASSIGNMENT_H
#define SP_PROVE_ASSIGNMENT_H

#include "prove/symbolic/reduce.h"

/* Values of symbols: those that are set, else what stands for them in terms of others. An example: H = 4*E by a claim,
 * E is set to 3: H is 12. */
struct sp_assignment {
    struct sp_count *count;
    size_t size;                    /* of the arrays, by atom */
    char *states;                   /* heap; enum in assignment.c */
    struct sp_rational *values;     /* heap */
    bool *set;                      /* heap: by the point, and not computed */
    const struct sp_poly **instead; /* heap: the value of an atom that is not set, or NULL */
    bool is_stale;                  /* a value changed since the others were computed */
    unsigned depth;
};

void sp_assignment_open(struct sp_assignment *numbers, struct sp_count *count);
void sp_assignment_free(struct sp_assignment *numbers);
/* What an atom is worth that is not set; the first that is said of it counts. */
void sp_assignment_stand_for(struct sp_assignment *numbers, const struct sp_values *values);
void sp_assignment_set(struct sp_assignment *numbers, size_t atom, struct sp_rational value);
void sp_assignment_unset(struct sp_assignment *numbers, size_t atom);
/* False for what has no value: a symbol without one, a list, a division by zero, what does not fit in 64 bits. */
bool sp_assignment_of(struct sp_assignment *numbers, const struct sp_poly *poly, struct sp_rational *value);
bool sp_assignment_of_atom(struct sp_assignment *numbers, size_t atom, struct sp_rational *value);

#endif
