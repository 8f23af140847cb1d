/* SPDX-License-Identifier: MIT
 * What follows of the hyper-parameters from the tensors that are there, and from those that are not. */
#ifndef SP_INFER_DEDUCE_H
#define SP_INFER_DEDUCE_H

#include "base/watch.h"
#include "infer/occurrences.h"

/* One thing that the file says about the expressions of one line. For the line
 *
 *     h.{i}.attn.weight (3*E, E)  for i in 0..N-1 if attn
 *
 * and the tensors h.0.attn.weight and h.1.attn.weight of shape (2304, 768): 3*E is 2304, E is 768 (DIMENSION), attn is
 * true (PRESENT), the loop begins at 0 (FIRST) and ends at 1 (LAST). Without any such tensor: attn is false, or the
 * loop has no iterations (MISSING). */
struct sp_constraint {
    enum {
        SP_CONSTRAINT_REQUIRED,  /* a requirement of the table, or of a part that is used, is true */
        SP_CONSTRAINT_DIMENSION, /* the expression of a dimension is the tensor's dimension */
        SP_CONSTRAINT_PRODUCT,   /* the product of both dimensions of a flat matrix (sp_shapes) is its element count */
        SP_CONSTRAINT_PRESENT,   /* a tensor is there, so this condition is true */
        SP_CONSTRAINT_CLAIMED, /* a tensor is there that several lines could have, so all conditions of one are true */
        SP_CONSTRAINT_MISSING, /* no tensor is there, so at least one condition, loop or tie excuses it */
        SP_CONSTRAINT_TIED,    /* the tensor shares its storage with another or does not: so is its tie's condition */
        SP_CONSTRAINT_NUMBER,  /* an expression in the name is the number that the tensor's name has there */
        SP_CONSTRAINT_FIRST,   /* the first bound of a loop is the first index that the file has */
        SP_CONSTRAINT_LAST     /* the same of the last bound */
    } kind;
    size_t line;  /* of the outline; not set for REQUIRED */
    size_t named; /* the tensor (in sp_shapes.named); not set for REQUIRED and MISSING */
    size_t place; /* which dimension (DIMENSION), hole of the name (NUMBER), or requirement of the outline (REQUIRED) */
    const struct sp_line_condition *condition; /* of PRESENT */
    struct sp_loop *loop; /* of FIRST and LAST; of MISSING the loop that lacks one iteration, or NULL for the line */
    int64_t iteration;    /* of that loop: the bound, or the one without a tensor */
    bool none;            /* of MISSING: the tensor is not there under an alternative of its name either */
    bool open_ended;      /* of LAST: there may be further iterations, which have no tensors */
};

/* The answer to a constraint, which holds as long as none of the keys that it was found with has changed. */
struct sp_answered {
    struct sp_constraint constraint;
    enum sp_answer answer;
    uint64_t asked; /* the keys (sp_known.asked) */
    size_t state;   /* the state of what was known before it was propagated (sp_known.states) */
};

/* The answers of a round, in the order of their constraints. */
struct sp_answers {
    struct sp_answered *items;
    size_t count, capacity;
};

/* What may still be spent. When nothing is left, nothing more is inferred. */
struct sp_effort {
    const struct shapeproof_watch *watch; /* asked whether the search goes on; or NULL */
    size_t trials;                        /* constraints propagated to try out values */
    size_t checks; /* propagated in all, so that the time does not grow with the layers times the guesses */
};

struct sp_deduction {
    struct sp_outline *outline;
    struct sp_solver *solver; /* that of the outline */
    struct sp_occurrences occurrences;
    struct sp_constraint *open; /* the constraints that were SP_OPEN in the last round */
    size_t open_count, open_capacity;
    size_t contradictions;              /* the constraints that cannot be met, in the last round */
    struct sp_answers answers, earlier; /* of this round, and of the one before it */
    size_t next;                        /* of `earlier`, the first one that was not posed again in this round */
    size_t scope;                       /* sp_known.scope in which these answers were found */
    struct sp_effort *effort;
    bool by_stages;      /* where numbers in names are worked out, shapes tell which modules are of one stage */
    size_t modules_left; /* values and tensors that may still be tried for what numbers in names are worked out of */
    /* By kind, for each condition of the outline: the line it was posed for in this round, or SHAPEPROOF_NONE. The
     * other lines under the same condition need not pose it again. */
    size_t *present, *claimed, *missing;
    size_t *namesake;   /* for each line the next one with the same name, or SIZE_MAX */
    bool *has_namesake; /* for each line: another one has the same name */
};

void sp_deduction_init(struct sp_deduction *deduction, struct sp_outline *outline, const struct sp_shapes *shapes,
                       struct sp_effort *effort);
/* From now on, where numbers in names are worked out, shapes tell which modules are of one stage. */
void sp_deduce_by_stages(struct sp_deduction *deduction);
void sp_deduction_free(struct sp_deduction *deduction);
/* Constraint propagation to a fixed point: poses all constraints, round after round, until a round makes nothing more
 * known. `most`: how far contested tensors may be decided. It gets there in steps, so that the certain comes first. */
void sp_deduce(struct sp_deduction *deduction, enum sp_contest most);
/* Borrowed names of hyper-parameters. Zero-initialise; sp_free the items. */
struct sp_key_names {
    const char **items;
    size_t count, capacity;
};

/* A key, none of `besides`, whose value decides which line has a contested tensor; NULL when there is none. */
const char *sp_contest_lacks(struct sp_deduction *deduction, const struct sp_key_names *besides);
/* Makes known what follows from one constraint. SP_HOLDS: it is met; SP_OPEN: too little is known yet. Afterwards
 * known.touched is the last guess that the answer depends on. */
enum sp_answer sp_propagate(struct sp_deduction *deduction, const struct sp_constraint *constraint);
/* The value of the constraint's expression less the number that it must have; false when it has no value yet, or is no
 * number. */
bool sp_constraint_difference(struct sp_deduction *deduction, const struct sp_constraint *constraint,
                              int64_t *difference);
/* Solves a DIMENSION constraint for a key by bisection, where the expression cannot be inverted, but grows with the
 * key: (side // 16)*(side // 16) + 1 = 785 -> side = 448. Returns the least value of at least 2 that gives the
 * dimension exactly; false when there is none up to 2^40, or the expression lacks other keys. */
bool sp_constraint_bisect(struct sp_deduction *deduction, const struct sp_constraint *constraint, const char *key,
                          int64_t *value);
/* The first key without a value that an open constraint depends on; NULL when there is none. In the outline's arena. */
const char *sp_constraint_lacks(struct sp_deduction *deduction, const struct sp_constraint *constraint);

#endif
