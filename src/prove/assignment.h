/* SPDX-License-Identifier: MIT
 * The number that a polynomial is worth where hyper-parameters have values. It is computed from the atoms by their
 * origins, without counting the table again: thousands of points can be looked at. */
#ifndef SP_PROVE_ASSIGNMENT_H
#define SP_PROVE_ASSIGNMENT_H

#include "prove/symbolic/reduce.h"

/* Values of symbols: those that are set, else what stands for them in terms of others. An example: H = 4*E by a claim,
 * E is set to 3: H is 12. Values are computed when they are asked for, and kept until a symbol is set again. */
struct sp_assignment {
    struct sp_count *count;
    size_t size;                    /* of the arrays, by atom */
    char *states;                   /* heap; enum in assignment.c */
    struct sp_rational *values;     /* heap; of atoms that are set or computed */
    bool *set;                      /* heap: the value was given by sp_assignment_set, and not computed */
    const struct sp_poly **instead; /* heap: what an atom that is not set is worth in terms of others, or NULL */
    bool is_stale;                  /* a value changed since the others were computed */
    unsigned depth;                 /* of atoms that are computed within one another */
};

void sp_assignment_open(struct sp_assignment *numbers, struct sp_count *count);
void sp_assignment_free(struct sp_assignment *numbers);
/* Gives atoms a worth in terms of others, for as long as they are not set. An atom that has one already keeps it. */
void sp_assignment_stand_for(struct sp_assignment *numbers, const struct sp_values *values);
void sp_assignment_set(struct sp_assignment *numbers, size_t atom, struct sp_rational value);
void sp_assignment_unset(struct sp_assignment *numbers, size_t atom);
/* The value of a polynomial or an atom. False when it has none: a symbol without one, a list, a division by zero, what
 * does not fit in 64 bits. */
bool sp_assignment_of(struct sp_assignment *numbers, const struct sp_poly *poly, struct sp_rational *value);
bool sp_assignment_of_atom(struct sp_assignment *numbers, size_t atom, struct sp_rational *value);

#endif
