/* SPDX-License-Identifier: MIT
 * What was learnt, and how it comes about:
 *
 *     files + configurations
 *       phrases/evidence.h   what every configuration says, path by path
 *       fronts.h, layout.h   names -> rows with loops
 *       solve.h              each loop's end, each row's condition and dimensions: functions known by their values ...
 *       phrases/bank.h       ... and the expressions that have these values, cheapest first
 *       phrases/likely.h     of equals, the one whose keys go with the tensor's name
 *       inner.h              what other tables predict of configurations within
 *       parts.h, write.c     rows -> the text of a table
 *       proof.c              the text, expanded for each example, against its file
 *       undecided.c          what the examples cannot tell apart, and which example could
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
struct sp_doubt {
    struct sp_undecided told;
    struct {
        struct sp_undecided_place *items;
        size_t count, capacity;
    } places;
};

struct sp_learning {
    struct sp_arena arena;
    struct sp_evidence evidence;
    struct sp_lesson lesson;
    struct sp_inners inners;
    const struct sp_tables *tables;
    struct sp_config **invented; /* where no example has a configuration: one for each; else NULL */
    const char *name, *text, *unvaried;
    const char *base;         /* the table that this one extends, or NULL ... */
    const bool *rows_of_base; /* ... and which rows it has already */
    size_t tensors, explained;
    bool is_proved, are_strangers;
    struct {
        const char **items;
        size_t count, capacity;
    } rest;
    struct {
        struct sp_doubt *items;
        size_t count, capacity;
    } undecided;
};

/* Makes configurations of the sizes, for examples that have none. */
void sp_learn_invent(struct sp_learning *learning);
/* Letters and comments for the keys that the rows use, by the habits of the tables; `like` is preferred, if any. */
void sp_learn_letters(struct sp_learning *learning, const char *like);
/* Whether the table that it is to be like has nothing that the examples have not; then sets what is above. */
bool sp_learn_find_base(struct sp_learning *learning, const char *like);
/* The text of the table. */
void sp_learn_write(struct sp_learning *learning);
/* Compares its expansion with every example; adds to `rest` what differs. */
bool sp_learn_prove(struct sp_learning *learning, struct sp_error *error);
/* Fills `undecided` and `unvaried`. */
void sp_learn_doubt(struct sp_learning *learning);

/* The rows where it was chosen, for people: "h.{}.up.weight, h.{}.up.bias and 3 more". */
const char *sp_doubt_places(struct sp_arena *arena, const struct sp_doubt *doubt);
/* A row for people: "{p}h.{}.ln.weight". */
const char *sp_row_shown(struct sp_arena *arena, const char *pattern);

/* A flag that changes what there is in a model, as its name says, and has one value in all examples. */
bool sp_is_unseen_flag(const struct sp_learning *learning, const struct sp_leaf *leaf);

#endif
