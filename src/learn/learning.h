/* SPDX-License-Identifier: MIT
 * What was learnt, and how it comes about:
 *
 *     files + configurations
 *       terms/evidence.h     what every configuration says, path by path
 *       rows/layout.h        names -> rows with loops; rows/listed.h: what they begin with, their words
 *       solve.h              each loop's end, each row's condition and dimensions: functions known by their values ...
 *       terms/term_bank.h    ... and the expressions that have these values, cheapest first
 *       terms/likely.h       of equals, the one whose keys go with the tensor's name
 *       inner.h              what other tables predict of configurations within
 *       rows/parts.h         rows that are a built-in part; rows/alike.h: that are the same but for a word
 *       write.c              rows -> the text of a table
 *       nearest.c, base.c    or only what another table has not
 *       proof.c              the text, expanded for each example, against its file
 *       ambiguities.c        what the examples cannot tell apart, and which example could
 *
 * Two examples, a layer each:
 *
 *     hidden 8, ffn 32: wte (64, 8)  h.0.up (32, 8)      row "wte"     [64, 64] x [8, 12]
 *     hidden 12, ffn 48: wte (64, 12)  h.0.up (48, 12)   row "h.#.up"  [32, 48] x [8, 12]
 *
 *     [8, 12] is hidden; [32, 48] is ffn, or 4*hidden: `up` is nearer to neither, ffn is the smaller expression, and
 * that 4*hidden would do as well is said, with the experiment: a checkpoint whose ffn is not 4*hidden. */
#ifndef SP_LEARN_LEARNING_H
#define SP_LEARN_LEARNING_H

#include "learn/inner.h"
#include "learn/solve.h"

/* A choice, and where it was made. */
struct sp_ambiguity {
    struct shapeproof_undecided told;
    struct {
        struct shapeproof_undecided_place *items;
        size_t count, capacity;
    } places;
};

/* A table that the learnt one may extend, and what it has of the examples. */
struct sp_base {
    const char *table;
    bool *rows;            /* of the layout: which it has already ... */
    const char **headings; /* ... and of the others: in place of which group of it they are, or NULL */
    struct sp_base_group {
        const char *name;
        bool is_replaced; /* something in it is in some example not as predicted */
        bool is_written;  /* there are rows in its place */
    } * groups;
    size_t group_count;
    size_t tensors; /* of all examples, that it has */
    bool is_whole;  /* it predicts all of every example, and nothing else */
    bool is_most;   /* half of every example, at least */
};

struct shapeproof_learning {
    struct sp_arena arena;
    struct sp_evidence evidence;
    struct sp_learn_problem problem;
    struct sp_inners inners;
    const struct shapeproof_tables *tables;
    struct shapeproof_config **invented; /* where no example has a configuration: one for each; else NULL */
    const char *name, *text, *unvaried;
    const struct sp_base *base; /* the table that this one extends, or NULL */
    struct sp_base *near;       /* one that has most of it, or NULL */
    const char *known;          /* the table that has all of it, or NULL */
    size_t explained;
    bool is_proved, are_strangers;
    bool is_sound;             /* the text can be expanded for each example, and what it predicts is there */
    struct sp_map unexplained; /* names of tensors of rows that are told to be so */
    struct {
        const char **items;
        size_t count, capacity;
    } rest;
    struct {
        struct sp_ambiguity *items;
        size_t count, capacity;
    } undecided;
};

/* Makes configurations of the sizes, for examples that have none. */
void sp_learn_invent(struct shapeproof_learning *learning);
/* Letters and comments for the keys that the rows use, by the priors of the tables; `like` is preferred, if any. */
void sp_learn_letters(struct shapeproof_learning *learning, const char *like);
/* Where the table is in the list of all, for shapeproof_tables_info; SIZE_MAX when it is a part, or nothing. */
size_t sp_learn_place_of_table(const struct shapeproof_tables *tables, const char *name);
/* Letters for keys that have one in the table that is extended. */
void sp_learn_letters_of_base(struct shapeproof_learning *learning);
/* What that table has of the examples; NULL when it cannot be extended, or does not predict each. */
struct sp_base *sp_learn_look_at_base(struct shapeproof_learning *learning, const char *table);
/* Writes it as an extension of that table; false, and all is as before, where that does not come out. */
bool sp_learn_extend(struct shapeproof_learning *learning, const char *like, struct shapeproof_error *error);
/* Looks for a table that has all of it, or most of it; and extends the latter where that is shorter. */
void sp_learn_find_near(struct shapeproof_learning *learning);
void sp_learn_extend_near(struct shapeproof_learning *learning, struct shapeproof_error *error);
/* The text of the table. */
void sp_learn_write(struct shapeproof_learning *learning);
/* Compares its expansion with every example; adds to `rest` what differs. */
bool sp_learn_prove(struct shapeproof_learning *learning, struct shapeproof_error *error);
/* Of a table that is not what the files hold: tries each row by itself. Rows that cannot be expanded, or are not what
 * every example has, are not solved from then on, with the reason. The text has to be written again. */
void sp_learn_leave_out_wrong_rows(struct shapeproof_learning *learning);
/* No row is solved from then on. */
void sp_learn_leave_out_all_rows(struct shapeproof_learning *learning);
/* What a row may be that is written as one of parameters. */
#define SP_MAY_BE_BUFFER "a buffer"
/* A row of buffers, as its dtype or its name says. */
bool sp_learn_is_buffer(const struct sp_tensor_row *row);
/* Fills `undecided` and `unvaried`. */
void sp_learn_ambiguity(struct shapeproof_learning *learning);

/* The rows where it was chosen, for people: "h.{}.up.weight, h.{}.up.bias and 3 more". */
const char *sp_ambiguity_places(struct sp_arena *arena, const struct sp_ambiguity *ambiguity);
/* A row for people: "{p}h.{}.ln.weight". */
const char *sp_row_shown(struct sp_arena *arena, const char *pattern);

/* A flag that changes what there is in a model, as its name says, and has one value in all examples. */
bool sp_is_unseen_flag(const struct shapeproof_learning *learning, const struct sp_terminal *terminal);

#endif
