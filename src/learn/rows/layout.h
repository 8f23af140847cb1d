/* SPDX-License-Identifier: MIT
 * The names of all examples as rows with loops. A row is what stays of names without their indices, with every place
 * where it occurs; a stem is the piece of a name that an index stands behind, and the loop over it.
 *
 *     example 0  h.0.ln.weight (64)  h.1.ln.weight (64)          stem "h.#"      example 0: 0..1, example 1: 0..2
 *     example 1  h.0.ln.weight (96)  ...  h.2.ln.weight (96)     row  "h.#.ln.weight"   five places
 *
 * Behind a stem whose numbers are places in a sequence a mark says which place of it an index is.
 *
 * Which numbers are indices is a decision that later steps may take back: a number within a word is one only where the
 * examples differ in it (weight_ih_l0), and one between dots is none where each of its values has a meaning of its own
 * (the 0 and 2 of a Sequential). A word that a list of the configuration says is an index as well: its place there. */
#ifndef SP_LEARN_LAYOUT_H
#define SP_LEARN_LAYOUT_H

#include "base/map.h"
#include "learn/rows/listed.h"
#include "learn/terms/term_bank.h"

enum { SP_MOST_ALTERNATIVES = 3 };

/* The mark in front of an index in a pattern: SP_FIRST_PLACE plus its place in a division. */
enum { SP_FIRST_PLACE = 1, SP_LAST_PLACE = 31 };

/* What a word in a name is that a list of the configuration has as an item: `text` of encoders.text.weight, where
 * "inputs" is ["text", "sound"]. */
enum sp_words {
    SP_WORDS_ARE_ITEMS, /* an index: encoders.{name}.weight for name in inputs */
    SP_WORDS_ARE_NAMES  /* part of the name: a row for each word */
};

/* An expression that was found, and those that the examples cannot tell from it. */
struct sp_answer {
    const struct sp_search_term *term; /* NULL: none */
    const struct sp_search_term *others[SP_MOST_ALTERNATIVES];
    size_t other_count;
    size_t distinct; /* how many different values the size has in the examples, counted up to 8; 0: it is no size */
    bool short_loop; /* it depends on an index that has no more than two values in the examples */
};

/* Whether an answer may be an accident: its term is long for the number of different values that it was found by. */
bool sp_is_accident(const struct sp_answer *answer);

/* The piece of a name in front of an index, and the loop over that index. */
struct sp_stem {
    const char *text;              /* up to the index: "h.", with marks for the outer ones */
    size_t stems[SP_MAX_INDICES];  /* the stems of the outer indices */
    size_t depth;                  /* how many those are */
    struct sp_answer first, count; /* the loop: first..first + count - 1 */
    struct sp_answer when;   /* the loop is only where this holds, if it has a term: elsewhere its ends have none */
    uint64_t step, offset;   /* the number in the name is step * index + offset; 1 and 0 as a rule */
    uint64_t period, behind; /* of what is behind a body: the first number is period * iterations + behind; else 0 */
    const struct sp_listed_place *listed; /* if the index is a place in a list, and the name has its item; or NULL */
    bool is_solved;
    enum { SP_SPELLING_UNKNOWN, SP_SPELLING_NO, SP_SPELLING_YES } spelling; /* whether failed rows may spell it out */
};

/* A tensor of a row, and where it is: its example and its indices. */
struct sp_row_tensor {
    struct sp_point point;
    const struct shapeproof_tensor *tensor;
};

struct sp_tensor_row {
    const char *pattern;            /* the name with a mark for each index */
    const char *key;                /* in row_names: the pattern, with the rank if there is a row of another rank */
    const char *whole;              /* the pattern before indices were spelt out in this row */
    size_t numbers[SP_MAX_INDICES]; /* which index of the whole pattern each index is */
    size_t stems[SP_MAX_INDICES];   /* of each index */
    size_t index_count;
    size_t next; /* the row that follows in the order of the files, while they are read */
    struct {
        struct sp_row_tensor *items;
        size_t count, capacity;
    } places;               /* its tensors in all examples, sorted by point */
    struct sp_answer *dims; /* `rank` of them, once they are searched for */
    uint32_t rank;
    struct sp_answer where; /* its condition; without a term: at every iteration of its loops */
    size_t tied_to;         /* the row whose storage it shares, or SHAPEPROOF_NONE; itself: its own first tensor ... */
    size_t tied_at;         /* ... in the loop of this depth */
    struct sp_answer tied_when; /* the condition of the tie; without a term: always */
    bool is_solved;
    bool is_inner;       /* the table of a configuration within this one predicts it: it is not written */
    const char *why_not; /* it is not solved, for people; or NULL */
};

struct sp_division;

struct sp_layout {
    struct sp_evidence *evidence;
    struct sp_arena arena; /* goes with each new layout */
    struct {
        struct sp_tensor_row *items;
        size_t count, capacity;
    } rows;
    struct {
        struct sp_stem *items;
        size_t count, capacity;
    } stems;
    size_t first_row; /* in the order of the files, while they are read */
    struct sp_fronts fronts;
    struct sp_listed listed;
    struct sp_answer fronted; /* the condition under which names have their front */
    struct sp_map row_names;  /* key -> row */
    struct sp_map stem_names; /* text -> stem */
    struct sp_map spelled;    /* texts of stems whose numbers are no indices, for good */
    struct sp_map counted;    /* texts in front of numbers within words that are indices: "weight_ih_l" */
    struct sp_map divided;    /* text of a stem -> which of the divisions */
    struct {
        struct sp_division *items;
        size_t count, capacity;
    } divisions;
    struct sp_map steps;        /* text of a stem -> step and offset, where not every number occurs */
    struct sp_map spelled_rows; /* whole pattern of a row -> bits of the indices that are spelt out in it */
};

/* Decides which numbers within words are indices, and which words, if `words` allows any. Called once, at the
 * beginning.
 */
void sp_layout_begin(struct sp_layout *layout, struct sp_evidence *evidence, enum sp_words words);
/* Rows and stems, by the decisions made so far. */
void sp_layout_make(struct sp_layout *layout);
/* From the next time on the numbers behind this stem are part of the name. */
void sp_layout_spell_stem(struct sp_layout *layout, const struct sp_stem *stem);
/* From the next time on the numbers behind it are step * index + offset. */
void sp_layout_set_step(struct sp_layout *layout, const struct sp_stem *stem, uint64_t step, uint64_t offset);
/* Which sequences of different things may be divided into periods: any, or those in which no row occurs at two places
 * of a period. */
enum sp_divide { SP_DIVIDE_ANY, SP_DIVIDE_APART };
/* From the next time on the numbers behind the stem are places in a period. False when they are that already, or when
 * nothing repeats. */
bool sp_layout_divide_stem(struct sp_layout *layout, size_t stem, enum sp_divide which);
/* From the next time on the numbers of this index are part of the name, in this row alone. */
void sp_layout_spell_row(struct sp_layout *layout, const struct sp_tensor_row *row, size_t index);
void sp_layout_free(struct sp_layout *layout);

/* Whether the example has a tensor of the row. */
bool sp_row_is_in(const struct sp_tensor_row *row, size_t example);

/* What an answer is about. */
struct sp_asked {
    const char *pattern; /* of the row; of a loop: up to its index */
    bool is_loop;
    int dimension; /* of the row, or one of these; as in struct shapeproof_undecided_place */
};
enum {
    SP_WHETHER_OR_HOW_MANY = -1, /* whether there is the row, or how often a loop is repeated */
    SP_WHETHER_BUFFER = -2       /* whether it is a buffer */
};
typedef void sp_visit_answer(void *context, const struct sp_answer *answer, struct sp_asked asked);

/* Calls `visit` for every dimension of the rows of the table; for every answer in the table, of rows, then of loops. */
void sp_layout_dimensions(const struct sp_layout *layout, sp_visit_answer *visit, void *context);
void sp_layout_answers(const struct sp_layout *layout, sp_visit_answer *visit, void *context);

/* A value of a stem's index in an example, at these outer indices. */
struct sp_stem_value {
    struct sp_point outer;
    uint64_t value;
};
/* Lists the values that occur in the names, each once, sorted by example, outer indices and value; returns how many.
 * sp_free them. */
size_t sp_stem_values(const struct sp_layout *layout, size_t stem, struct sp_stem_value **values);
/* The order by example, then by indices; all indices count, unused ones are 0. */
int sp_compare_points(const struct sp_point *a, const struct sp_point *b);

#endif
