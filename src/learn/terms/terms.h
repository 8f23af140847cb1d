/* SPDX-License-Identifier: MIT
 * Expressions over the configuration and the indices of a name: what a learnt table may say of a dimension, of the end
 * of a loop, or of a condition. A value is a real number that holds a whole one exactly, a truth value 0 or 1, and NaN
 * where the table language would find something absent or wrong. */
#ifndef SP_LEARN_TERMS_H
#define SP_LEARN_TERMS_H

#include <stdbool.h>

#include "base/value.h"
#include "names/patterns.h"

/* What the examples say at one path of their configurations: "text_config.hidden_size" or "depths". */
struct sp_terminal {
    const char *path;
    const struct shapeproof_value *values; /* one for each example, SHAPEPROOF_VALUE_ABSENT where it has none */
    const char *list;                      /* of a column of a list of rows: the list, or NULL; its values are lists */
    const char *column;                    /* what its items have behind the place: "[1]" or ".size" */
    const char *object; /* of the members that a list of names has in an object: the object; or NULL */
    unsigned cost;      /* how unlikely it is that a size depends on it */
    const char *letter; /* how the table calls it, or NULL: by its path */
    const char *comment;
    const char *says; /* of a letter that stands for its length: "len(id2label) default 2"; or NULL */
    const struct sp_search_term *meaning; /* of a symbol: "head_dim default H // A"; NULL for a plain key */
    size_t uses;
};

/* Where an expression is asked: in an example, at these indices of a name. */
struct sp_point {
    size_t example;
    uint64_t index[SP_MAX_INDICES];
};

enum sp_term_op {
    SP_TERM_NUMBER,
    SP_TERM_INDEX, /* `number` says which */
    SP_TERM_KEY,   /* a number */
    SP_TERM_TRUTH, /* true or false; `number` where the key is absent or null: 0, 1 or NaN */
    SP_TERM_LENGTH,
    SP_TERM_SUM,       /* of a list of whole numbers */
    SP_TERM_ITEM,      /* the number that stands in a list at `a` */
    SP_TERM_AT,        /* the same, or the value itself where that is a number */
    SP_TERM_IS,        /* the text that is the value, or at `a` in a list, is `text`; `number` tells whether a text
                            in the place of a list stands for each of its items */
    SP_TERM_ABSENT,    /* there is no such key */
    SP_TERM_NULL,      /* it is null */
    SP_TERM_IS_LIST,   /* it is a list, and no number or text */
    SP_TERM_CONTAINED, /* `a` is in the list; without it, the text is */
    SP_TERM_ADD,
    SP_TERM_SUBTRACT,
    SP_TERM_MULTIPLY,
    SP_TERM_DIVIDE, /* rounded down */
    SP_TERM_REST,
    SP_TERM_POWER,
    SP_TERM_CEIL_DIV,
    SP_TERM_ROUND_UP,
    SP_TERM_MAX,
    SP_TERM_INT,
    SP_TERM_ROUND,
    SP_TERM_CEIL,     /* a / b rounded up, of numbers that may be no whole ones */
    SP_TERM_NEAR,     /* the multiple of b that is nearest to a */
    SP_TERM_QUOTIENT, /* a / b as it is, where one of them is no whole number; to be rounded */
    SP_TERM_DEFAULT,
    SP_TERM_IF, /* a ? b : c */
    SP_TERM_EQUAL,
    SP_TERM_LESS,
    SP_TERM_AT_LEAST,
    SP_TERM_NOT,
    SP_TERM_AND,
    SP_TERM_OR
};

#define SP_TERM_STANDS_FOR_ALL 1.0

struct sp_search_term {
    enum sp_term_op op;
    unsigned cost; /* of the whole: what is likely is cheap */
    const struct sp_search_term *a, *b, *c;
    const struct sp_terminal *terminal;
    const char *text;
    double number;
};

/* The value at a point. */
double sp_search_term_value(const struct sp_search_term *term, const struct sp_point *point);

/* An operand whose values at all points are known; a number has none. */
struct sp_search_term_side {
    const struct sp_search_term *term;
    const double *values;
};
/* The values of an operator on two numbers, without a negative zero; false when it has none somewhere. */
bool sp_search_term_values(enum sp_term_op op, struct sp_search_term_side a, struct sp_search_term_side b, size_t count,
                           double *values);
/* What the indices are called. */
extern const char *const sp_index_names[SP_MAX_INDICES];
/* Appends it in the table language, keys by their letters where they have one (`letters`). */
void sp_search_term_write(struct sp_text *text, const struct sp_search_term *term, bool letters);
bool sp_search_terms_equal(const struct sp_search_term *a, const struct sp_search_term *b);

/* ---- making them; all in the arena ---- */

const struct sp_search_term *sp_search_term_number(struct sp_arena *arena, double number);
const struct sp_search_term *sp_search_term_index(struct sp_arena *arena, size_t index);
/* An operator that takes a terminal and nothing else: KEY, LENGTH, SUM, ABSENT, NULL. */
const struct sp_search_term *sp_search_term_terminal(struct sp_arena *arena, enum sp_term_op op,
                                                     const struct sp_terminal *terminal);
/* An operator on one operand: INT, ROUND, NOT. */
const struct sp_search_term *sp_search_term_unary(struct sp_arena *arena, enum sp_term_op op,
                                                  const struct sp_search_term *a);
/* An operator on two operands: ADD, DEFAULT, EQUAL, AND ... */
const struct sp_search_term *sp_search_term_binary(struct sp_arena *arena, enum sp_term_op op,
                                                   const struct sp_search_term *a, const struct sp_search_term *b);
/* condition ? yes : no */
const struct sp_search_term *sp_search_term_choice(struct sp_arena *arena, const struct sp_search_term *condition,
                                                   const struct sp_search_term *yes, const struct sp_search_term *no);
/* The operator of the term on other operands; those that it does not take are NULL. */
const struct sp_search_term *sp_search_term_with_operands(struct sp_arena *arena, const struct sp_search_term *term,
                                                          const struct sp_search_term *a,
                                                          const struct sp_search_term *b,
                                                          const struct sp_search_term *c);
/* A copy of the term, whose operands are shared, with the cost that follows from its fields. For operators on a
 * terminal and more: ITEM, AT, TRUTH, IS, CONTAINED. */
const struct sp_search_term *sp_search_term_new(struct sp_arena *arena, struct sp_search_term term);

/* spatial_dims == 3, len(channels) > 2, and the opposite: a key, or a length, and a number above 1. */
bool sp_search_term_compares_with_number(const struct sp_search_term *term);
/* A copy of all of it, terminals excepted. */
const struct sp_search_term *sp_search_term_copy(struct sp_arena *arena, const struct sp_search_term *term);

/* Calls `visit` for each terminal that the term asks, through the meanings of symbols. */
void sp_search_term_terminals(const struct sp_search_term *term,
                              void (*visit)(void *context, const struct sp_terminal *terminal), void *context);

#endif
