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

/* In a pattern, in front of an index: 1 and which place of a division it is. */
enum { SP_FIRST_PLACE = 1, SP_LAST_PLACE = 31 };

/* An expression that was found, and those that the examples cannot tell from it. */
struct sp_answer {
    const struct sp_search_term *term; /* NULL: none */
    const struct sp_search_term *others[SP_MOST_ALTERNATIVES];
    size_t other_count;
    size_t distinct; /* values of a size that it has met; 0: it is none */
    bool short_loop; /* it depends on an index, which has no more than two values in the examples */
};

/* Whether it is rather an accident: what has met few values may be, and the more so the longer it is. */
bool sp_is_accident(const struct sp_answer *answer);

struct sp_stem {
    const char *text;              /* up to the index: "h.", with marks for the outer ones */
    size_t stems[SP_MAX_INDICES];  /* the outer ones */
    size_t depth;                  /* how many those are */
    struct sp_answer first, count; /* the loop: first..first + count - 1 */
    struct sp_answer when;         /* the condition in front of it, where its ends have a value; or none */
    uint64_t step, offset;         /* the number in the name is step * index + offset; 1 and 0 as a rule */
    uint64_t period, behind;       /* of what is behind a body: the number is period * iterations + behind; else 0 */
    const struct sp_listed_place *listed; /* of words: the index is a place in its list; or NULL */
    bool is_solved;
};

struct sp_row_tensor {
    struct sp_point point;
    const struct shapeproof_tensor *tensor;
};

struct sp_tensor_row {
    const char *pattern, *key;      /* the key is another one where a row of the name has another rank */
    const char *whole;              /* the pattern before indices were spelt out in this row */
    size_t numbers[SP_MAX_INDICES]; /* which index of the whole pattern each is */
    size_t stems[SP_MAX_INDICES];
    size_t index_count;
    size_t next; /* in the order of the files, while they are read */
    struct {
        struct sp_row_tensor *items;
        size_t count, capacity;
    } places;
    struct sp_answer *dims;
    uint32_t rank;
    struct sp_answer where; /* NULL: at every iteration of its loops */
    size_t tied_to;         /* a row, or SHAPEPROOF_NONE; this row: its first iteration of the loop `tied_at` */
    size_t tied_at;
    struct sp_answer tied_when; /* without a term: always */
    bool is_solved;
    bool is_inner; /* a table that reads a configuration within this one says it: no row of its own */
    const char *why_not;
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
    size_t first_row;
    struct sp_fronts fronts;
    struct sp_listed listed;
    struct sp_answer fronted; /* the condition under which names have their front */
    struct sp_map row_names, stem_names;
    struct sp_map spelled; /* stems whose numbers are no indices, for good */
    struct sp_map counted; /* numbers within words that are */
    struct sp_map divided; /* stem -> which of the divisions */
    struct {
        struct sp_division *items;
        size_t count, capacity;
    } divisions;
    struct sp_map steps;        /* stem -> step and offset, where not every number occurs */
    struct sp_map spelled_rows; /* row with all of its indices -> bits of those that are spelt out in it */
};

/* Which numbers within words are indices, and which words (unless they are not to be). Once, at the beginning. */
void sp_layout_begin(struct sp_layout *layout, struct sp_evidence *evidence, bool words);
/* Rows and stems, by the decisions made so far. */
void sp_layout_make(struct sp_layout *layout);
/* From the next time on the numbers behind this stem are part of the name. */
void sp_layout_spell_stem(struct sp_layout *layout, const struct sp_stem *stem);
/* The numbers behind it are step * index + offset. */
void sp_layout_set_step(struct sp_layout *layout, const struct sp_stem *stem, uint64_t step, uint64_t offset);
/* They are places in a sequence; false when they are that already, or nothing repeats. `apart`: as of divisions. */
bool sp_layout_divide_stem(struct sp_layout *layout, size_t stem, bool apart);
/* Only those of this row. */
void sp_layout_spell_row(struct sp_layout *layout, const struct sp_tensor_row *row, size_t index);
void sp_layout_free(struct sp_layout *layout);

bool sp_row_is_in(const struct sp_tensor_row *row, size_t example);

/* What an answer is about: a dimension of a row, whether there is the row, how often a loop iterations. */
struct sp_asked {
    const char *pattern; /* of the row; of a loop: up to its index */
    int dimension;       /* -1: none */
    bool is_loop;
};
typedef void sp_visit_answer(void *context, const struct sp_answer *answer, struct sp_asked asked);

/* Calls `visit` for every dimension that was found; for every expression, of rows, then of loops. */
void sp_layout_dimensions(const struct sp_layout *layout, sp_visit_answer *visit, void *context);
void sp_layout_answers(const struct sp_layout *layout, sp_visit_answer *visit, void *context);

/* The value of a stem's index at each place of its rows, each once: sorted by example and outer indices, then value. */
struct sp_stem_value {
    struct sp_point outer;
    uint64_t value;
};
size_t sp_stem_values(const struct sp_layout *layout, size_t stem, struct sp_stem_value **values); /* free() them */
int sp_compare_points(const struct sp_point *a, const struct sp_point *b);

#endif
