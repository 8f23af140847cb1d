/* SPDX-License-Identifier: MIT
 * What follows of the hyper-parameters from the tensors that are there, and from those that are not. */
#ifndef SP_INFER_DEDUCE_H
#define SP_INFER_DEDUCE_H

#include "base/watch.h"
#include "infer/occurrences.h"

/* One thing that the file says. */
struct sp_constraint {
    enum {
        SP_CONSTRAINT_REQUIRED,  /* what the table, or a part that is used, requires is so */
        SP_CONSTRAINT_DIMENSION, /* a dimension of a tensor is what it is */
        SP_CONSTRAINT_PRODUCT,   /* the dimensions of a matrix of which no more is known make so many elements */
        SP_CONSTRAINT_PRESENT,   /* a tensor is there: what it depends on is so */
        SP_CONSTRAINT_CLAIMED,   /* a tensor is there that several lines may have: one of them has it */
        SP_CONSTRAINT_MISSING,   /* no tensor is there: something that it depends on is not so */
        SP_CONSTRAINT_TIED,      /* a tied tensor is there, or is not */
        SP_CONSTRAINT_NUMBER,    /* a number in a name is what it is */
        SP_CONSTRAINT_FIRST,     /* a loop begins there */
        SP_CONSTRAINT_LAST       /* a loop ends there */
    } kind;
    size_t line; /* of the outline */
    size_t named;
    size_t place;                              /* the dimension, or the number in the name; the requirement */
    const struct sp_line_condition *condition; /* of SP_CONSTRAINT_PRESENT */
    struct sp_loop *loop; /* of SP_CONSTRAINT_FIRST and SP_CONSTRAINT_LAST; of SP_CONSTRAINT_MISSING, or NULL */
    int64_t iteration;
    bool none;       /* of SP_CONSTRAINT_MISSING: nor is any of the alternatives of its name */
    bool open_ended; /* of SP_CONSTRAINT_LAST: there may be iterations without tensors behind it */
};

/* What may still be spent; when nothing is left no more is found out. */
struct sp_effort {
    const struct shapeproof_watch *watch; /* asked whether the search goes on; or NULL */
    size_t trials;                        /* constraints propagated to try out values */
    size_t checks; /* propagated in all, so that the time does not grow with the layers times the guesses */
};

struct sp_deduction {
    struct sp_outline *outline;
    struct sp_solver *solver; /* that of the outline */
    struct sp_occurrences occurrences;
    struct sp_constraint *open; /* that are not decided yet */
    size_t open_count, open_capacity;
    size_t contradictions;
    struct sp_effort *effort;
    bool by_stages;      /* where numbers in names are worked out, shapes tell which modules are of one stage */
    size_t modules_left; /* values and tensors that may still be tried for what numbers in names are worked out of */
    size_t *present, *claimed,
        *missing;       /* for each condition the line for which it was asked in this round, or SHAPEPROOF_NONE
                         */
    size_t *namesake;   /* of each line the next one with the same name, or SIZE_MAX */
    bool *has_namesake; /* of each line: another one has the same name */
};

void sp_deduction_init(struct sp_deduction *deduction, struct sp_outline *outline, const struct sp_shapes *shapes,
                       struct sp_effort *effort);
/* From now on, where numbers in names are worked out, shapes tell which modules are of one stage. */
void sp_deduce_by_stages(struct sp_deduction *deduction);
void sp_deduction_free(struct sp_deduction *deduction);
/* Asks everything, again and again, until nothing more follows. `most`: what may be done about contested tensors. */
void sp_deduce(struct sp_deduction *deduction, enum sp_contest most);
/* Borrowed names of hyper-parameters. Zero-initialise; free() the items. */
struct sp_key_names {
    const char **items;
    size_t count, capacity;
};

/* A key on which it depends which of the lines that have the same tensors is the right one, besides those; or NULL. */
const char *sp_contest_lacks(struct sp_deduction *deduction, const struct sp_key_names *besides);
enum sp_answer sp_propagate(struct sp_deduction *deduction, const struct sp_constraint *constraint);
/* What the expression of a constraint is, less the number that it should be; false when that is not known. */
bool sp_constraint_difference(struct sp_deduction *deduction, const struct sp_constraint *constraint,
                              int64_t *difference);
/* The least value of the key for which a dimension is as large as it should be; false when there is none. */
bool sp_constraint_bisect(struct sp_deduction *deduction, const struct sp_constraint *constraint, const char *key,
                          int64_t *value);
/* The key that an open constraint lacks first, or NULL. In the outline's arena. */
const char *sp_constraint_lacks(struct sp_deduction *deduction, const struct sp_constraint *constraint);

#endif
