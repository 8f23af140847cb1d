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

/* A choice among terms that the examples cannot tell apart, and all places where it was made. */
struct sp_ambiguity {
    struct shapeproof_undecided told;
    struct {
        struct shapeproof_undecided_place *items;
        size_t count, capacity;
    } places;
};

/* A table that the learnt one may extend, and what it predicts of the examples. */
struct sp_base {
    const char *table;
    bool *rows;            /* for each row of the layout: the table predicts all of it, so that it is not written */
    const char **headings; /* for each other row: the name of the group in whose place it is written, or NULL */
    struct sp_base_group {
        const char *name;
        bool is_replaced; /* the learnt table has other rows in its place: some example is not as it predicts */
        bool is_written;  /* there are such rows; otherwise the group is left out */
    } * groups;
    size_t group_count;
    size_t tensors; /* how many tensors of all examples it predicts */
    bool is_whole;  /* it predicts every tensor of every example, and no other one */
    bool is_most;   /* it predicts at least half of the tensors of each example */
};

struct shapeproof_learning {
    struct sp_arena arena;
    struct sp_evidence evidence;
    struct sp_learn_problem problem;
    struct sp_inners inners;
    const struct shapeproof_tables *tables;
    struct shapeproof_config **invented; /* where no example has a configuration: one for each; else NULL */
    const char *name;
    const char *text;           /* the table */
    const char *unvaried;       /* keys that the examples do not vary: "a, b, c"; or "" */
    const struct sp_base *base; /* the table that this one extends, or NULL */
    struct sp_base *near;       /* one that has most of it, or NULL */
    const char *known;          /* the table that has all of it, or NULL */
    size_t explained;           /* how many tensors of all examples are predicted with their shape */
    bool is_proved;             /* every tensor of every example is, and no other one */
    bool is_sound; /* what the text predicts is in each file; tensors that are reported as unexplained may be more */
    bool are_strangers;        /* the examples have hardly a name in common: nothing is learnt */
    struct sp_map unexplained; /* names of tensors whose rows are not solved: the proof does not expect them */
    struct {
        const char **items;
        size_t count, capacity;
    } rest; /* what the table does not explain, for people: a sentence each */
    struct {
        struct sp_ambiguity *items;
        size_t count, capacity;
    } undecided;
};

/* Makes configurations of the sizes, for examples that have none, and puts them into the evidence. */
void sp_learn_invent(struct shapeproof_learning *learning);
/* Gives the keys that the rows use the letters and comments that most tables have for them. `like` is a table whose
 * letters are preferred, or NULL. */
void sp_learn_letters(struct shapeproof_learning *learning, const char *like);
/* The index of a table for shapeproof_tables_info; SIZE_MAX when there is none of that name, or it is a part. */
size_t sp_learn_place_of_table(const struct shapeproof_tables *tables, const char *name);
/* Gives the keys the letters of the table that is extended (learning->base), and no others. */
void sp_learn_letters_of_base(struct shapeproof_learning *learning);
/* What a table predicts of the examples; NULL when it cannot be expanded for one of them, or cannot be extended. */
struct sp_base *sp_learn_look_at_base(struct shapeproof_learning *learning, const char *table);
/* Writes the learnt table as an extension of `like`. False when every example is not explained so; then all is as
 * before.
 */
bool sp_learn_extend(struct shapeproof_learning *learning, const char *like, struct shapeproof_error *error);
/* Sets `near` to a table that has at least half of each example, and `known` if it has all. */
void sp_learn_find_near(struct shapeproof_learning *learning);
/* Writes the learnt table as an extension of `near`, if that is proved and shorter. */
void sp_learn_extend_near(struct shapeproof_learning *learning, struct shapeproof_error *error);
/* Writes the text of the table. */
void sp_learn_write(struct shapeproof_learning *learning);
/* Expands the text for every example and compares it with the file: sets is_sound and explained, and adds what differs
 * to `rest`. True when nothing differs, and `rest` was empty before. */
bool sp_learn_prove(struct shapeproof_learning *learning, struct shapeproof_error *error);
/* For a table that differs from the files: tries each row in a table of its own. Rows that cannot be expanded, or
 * differ from an example, count as not solved from then on, with the reason. The text has to be written again. */
void sp_learn_leave_out_wrong_rows(struct shapeproof_learning *learning);
/* All rows count as not solved from then on. */
void sp_learn_leave_out_all_rows(struct shapeproof_learning *learning);
/* The alternative of a row that is written as parameters and may be buffers. */
#define SP_MAY_BE_BUFFER "a buffer"
/* Whether a row is one of buffers, by its dtype or its name. */
bool sp_learn_is_buffer(const struct sp_tensor_row *row);
/* Fills `undecided` and `unvaried` from the answers. */
void sp_learn_ambiguity(struct shapeproof_learning *learning);

/* The rows where it was chosen, for people: "h.{}.up.weight, h.{}.up.bias and 3 more". */
const char *sp_ambiguity_places(struct sp_arena *arena, const struct sp_ambiguity *ambiguity);
/* A row for people: "{p}h.{}.ln.weight". */
const char *sp_row_shown(struct sp_arena *arena, const char *pattern);

/* Whether a key is a flag that likely changes which tensors there are, by its name, and has one value in all examples.
 */
bool sp_is_unseen_flag(const struct shapeproof_learning *learning, const struct sp_terminal *terminal);

#endif
