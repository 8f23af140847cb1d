/* SPDX-License-Identifier: MIT
 * A table laid out before any hyper-parameter is known: every row at every place where it is used, with holes in its
 * name for indices, the loops around it, and the conditions that it depends on.
 *
 *   [cross attention] for i in 0..N-1 if cross
 *   h.{i}.crossattention.q_attn.weight   (E, E)
 *
 *   line        h.#.crossattention.q_attn.weight, the row, the environment in which its shape has its value
 *   hole        # is the index of the loop (times 1, plus 0)
 *   loop        i, from 0 to N-1, of which neither is known yet
 *   condition   cross */
#ifndef SP_SOLVE_OUTLINE_H
#define SP_SOLVE_OUTLINE_H

#include "lang/tables.h"
#include "names/patterns.h"
#include "solve/literals.h"
#include "solve/solver.h"

/* Stands for a text that depends on the class of the model, while that is unknown. */
#define SP_TEXT_MARK '\xfe'

/* A loop over indices. Its index is unknown but for the time that one tensor is looked at. */
struct sp_loop {
    struct sp_binding binding;
    const struct sp_clause *clause;
    const struct sp_env *env; /* in which its bounds have their values */
    struct sp_loop *outer;    /* the next loop around it, or NULL */
    size_t depth;             /* loops around it */
    size_t number;            /* in the outline */
};

/* Worked out when it is asked for. */
struct sp_condition_state {
    bool is_told;
    uint64_t
        about; /* of the loops around it, from the innermost, those it depends on: a bit each, the last for others */
    struct sp_remembered remembered;
};

/* Something that must be true for the lines below it. */
struct sp_line_condition {
    const struct sp_expr *expr;
    const struct sp_env *env;
    struct sp_loop *loop; /* the innermost around it, or NULL */
    struct sp_condition_state *state;
    const struct sp_line_condition *outer;
    size_t number; /* in the outline */
    bool assumed;  /* for the sake of a name: the outline has lines for the opposite as well */
};

/* A number in a name: of the name itself, the index of a loop (times and plus something), or any other expression. */
struct sp_hole {
    uint64_t constant; /* the number; or what is added to the index, if less than 0 modulo 2^64 */
    uint64_t factor;   /* of the index */
    struct sp_loop *loop;
    const struct sp_expr *expr; /* neither of the two */
    const struct sp_env *env;
};

/* What a table or part requires where it is used. */
struct sp_placed_requirement {
    const struct sp_expr *expr;
    const struct sp_env *env;
    const struct sp_line_condition *condition; /* of the use */
    size_t first, end;                         /* the lines that the use makes */
};

enum { SP_MAX_ASSUMPTIONS = 4, SP_ALL_ALTERNATIVES = 1 << SP_MAX_ASSUMPTIONS };

struct sp_line {
    const struct sp_row *row;
    const struct sp_env *env;
    struct sp_loop *loop; /* the innermost, or NULL */
    const struct sp_line_condition *condition;
    bool optional;
    const char *name; /* with SP_INDEX_MARK for each number */
    const struct sp_hole *holes;
    size_t hole_count;
    const char *tie;    /* the pattern of the tensor that it may be tied to, or NULL */
    size_t old_of;      /* an older name of that line, or SIZE_MAX */
    uint64_t origin;    /* the row, and how it is used; the alternatives of a name have it in common */
    unsigned share;     /* of SP_ALL_ALTERNATIVES */
    size_t alternative; /* the next one, in a ring; SIZE_MAX: there are no others, or not all of them are laid out */
};

/* A table that is used under a condition: one of the models that a composite can have. */
static inline bool sp_row_is_alternative(const struct sp_row *row)
{
    return row->kind == SP_ROW_USE && row->condition && row->unit->is_table;
}

/* Whether the use of a table or part is laid out. One that is not is taken for one that the table does not have. */
struct sp_use_filter {
    bool (*keeps)(void *context, const struct sp_row *use);
    void *context;
};

struct sp_outline {
    struct sp_solver solver;
    const struct sp_use_filter *filter; /* while it is laid out; or NULL */
    struct sp_literals left_out;        /* the texts in the conditions of uses that were left out */
    bool keeps_all;                     /* lines that are known to be ruled out as well */
    struct sp_line *lines;
    size_t count, capacity;
    struct sp_placed_requirement *requirements;
    size_t requirement_count, requirement_capacity;
    struct sp_loop **loops;
    size_t loop_count, loop_capacity;
    size_t condition_count;
};

/* Begins with nothing known but the class of the model ("" for not even that), and lays out the table: all of it, or
 * the uses that `filter` keeps. */
void sp_outline_init(struct sp_outline *outline, const struct sp_unit *table, const char *class,
                     const struct sp_use_filter *filter);
/* The same for a configuration, the object `root`, which must live as long: its names are those that this makes, and
 * what it rules out is laid out all the same, but for the other models that a composite can have: hundreds of lines
 * that no change of a single key brings about. Afterwards what was not told is as configured. */
void sp_outline_configure(struct sp_outline *outline, const struct sp_unit *table, const struct shapeproof_value *root);
void sp_outline_free(struct sp_outline *outline);
/* The name of a line for people: "layers.{}.weight". In the arena. */
const char *sp_line_shown(struct sp_outline *outline, const struct sp_line *line);

#endif
