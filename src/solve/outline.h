/* SPDX-License-Identifier: MIT
 * A table laid out before any hyper-parameter is known: every row at every place where it is used becomes a line, with
 * holes in its name for indices, the loops around it, and the conditions that it depends on. docs/architecture.md calls
 * a line a row template.
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

/* What is computed of a condition once, when it is first needed. */
struct sp_condition_state {
    bool is_told; /* `about` is computed */
    /* The loops around the condition that it depends on: bit 0 for the innermost; the last bit for all from there on.
     */
    uint64_t about;
    struct sp_remembered remembered; /* its cached value */
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

/* A number in a name, one of three kinds:
 *
 *     layer4       loop and expr NULL     the number is `constant`, 4
 *     {2*i + 1}    loop set               factor * index + constant, modulo 2^64 since the constant may be below 0
 *     {before(s)}  expr set               any other expression, in `env` */
struct sp_hole {
    uint64_t constant;
    uint64_t factor;
    struct sp_loop *loop;
    const struct sp_expr *expr;
    const struct sp_env *env;
};

/* What a table or part requires where it is used. */
struct sp_placed_requirement {
    const struct sp_expr *expr;
    const struct sp_env *env;
    const struct sp_line_condition *condition; /* of the use */
    size_t first, end;                         /* the lines that the use makes */
};

enum {
    SP_MAX_ASSUMPTIONS = 4,                       /* conditions that one name may depend on */
    SP_ALL_ALTERNATIVES = 1 << SP_MAX_ASSUMPTIONS /* what the shares of all alternatives of a name add up to */
};

#define SP_NO_LINE SIZE_MAX

/* A row of the table at one place where it is used. If its name depends on a condition, `old ? "q2h" : "dense0"`, the
 * row has a line for each alternative, under the assumption that the condition is true or false (alternatives.h). */
struct sp_line {
    const struct sp_row *row;
    const struct sp_env *env;                  /* in which the expressions of the row have their values */
    struct sp_loop *loop;                      /* the innermost around it, or NULL */
    const struct sp_line_condition *condition; /* the innermost that it depends on, or NULL */
    bool optional;
    const char *name;            /* with SP_INDEX_MARK for each number */
    const struct sp_hole *holes; /* the numbers, from left to right */
    size_t hole_count;
    const char *tie;    /* the pattern of the tensor that it may be tied to, or NULL */
    size_t old_of;      /* the line that this is an older name of; SP_NO_LINE: none */
    uint64_t origin;    /* a hash of the row and of how it is used, which the alternatives of a name have in common */
    unsigned share;     /* SP_ALL_ALTERNATIVES, halved for each assumption */
    size_t alternative; /* the next alternative, in a ring; SP_NO_LINE: there is none, or not all are laid out */
};

/* A table that is used under a condition: one of the models that a composite can have. */
static inline bool sp_row_is_alternative(const struct sp_row *row)
{
    return row->kind == SP_ROW_USE && row->condition && row->unit->is_table;
}

/* Which uses of tables and parts are laid out. The others are treated as if the table did not have them. */
struct sp_use_filter {
    bool (*keeps)(void *context, const struct sp_row *use);
    void *context;
};

struct sp_outline {
    struct sp_solver solver;
    const struct sp_use_filter *filter; /* while it is laid out; or NULL */
    struct sp_literals left_out;        /* the texts in the conditions of uses that the filter left out */
    bool keeps_all;                     /* rows whose conditions are known to be false are laid out as well */
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
