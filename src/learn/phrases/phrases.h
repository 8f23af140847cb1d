/* SPDX-License-Identifier: MIT
 * Expressions over the configuration and the indices of a name: what a learnt table may say of a dimension, of the end
 * of a loop, or of a condition. A value is a real number that holds a whole one exactly, a truth value 0 or 1, and NaN
 * where the table language would find something absent or wrong. */
#ifndef SP_LEARN_PHRASES_H
#define SP_LEARN_PHRASES_H

#include <stdbool.h>

#include "base/value.h"
#include "names/patterns.h"

/* What the examples say at one path of their configurations: "text_config.hidden_size" or "depths". */
struct sp_leaf {
    const char *path;
    const struct shapeproof_value *values; /* one for each example, SHAPEPROOF_VALUE_ABSENT where it has none */
    const char *list;                      /* of a column of a list of rows: the list, or NULL; its values are lists */
    const char *column;                    /* what its items have behind the place: "[1]" or ".size" */
    const char *object; /* of the members that a list of names has in an object: the object; or NULL */
    unsigned cost;      /* how unlikely it is that a size depends on it */
    const char *letter; /* how the table calls it, or NULL: by its path */
    const char *comment;
    const char *says;                /* of a letter that stands for its length: "len(id2label) default 2"; or NULL */
    const struct sp_phrase *meaning; /* of a symbol: "head_dim default H // A"; NULL for a plain key */
    size_t uses;
};

/* Where an expression is asked: in an example, at these indices of a name. */
struct sp_point {
    size_t example;
    uint64_t index[SP_MAX_INDICES];
};

enum sp_phrase_op {
    SP_PHRASE_NUMBER,
    SP_PHRASE_INDEX, /* `number` says which */
    SP_PHRASE_KEY,   /* a number */
    SP_PHRASE_TRUTH, /* true or false; `number` where the key is absent or null: 0, 1 or NaN */
    SP_PHRASE_LENGTH,
    SP_PHRASE_SUM,       /* of a list of whole numbers */
    SP_PHRASE_ITEM,      /* the number that stands in a list at `a` */
    SP_PHRASE_AT,        /* the same, or the value itself where that is a number */
    SP_PHRASE_IS,        /* the text that is the value, or at `a` in a list, is `text`; `number` tells whether a text
                            in the place of a list stands for each of its items */
    SP_PHRASE_ABSENT,    /* there is no such key */
    SP_PHRASE_NULL,      /* it is null */
    SP_PHRASE_IS_LIST,   /* it is a list, and no number or text */
    SP_PHRASE_CONTAINED, /* `a` is in the list; without it, the text is */
    SP_PHRASE_ADD,
    SP_PHRASE_SUBTRACT,
    SP_PHRASE_MULTIPLY,
    SP_PHRASE_DIVIDE, /* rounded down */
    SP_PHRASE_REST,
    SP_PHRASE_POWER,
    SP_PHRASE_CEIL_DIV,
    SP_PHRASE_ROUND_UP,
    SP_PHRASE_MAX,
    SP_PHRASE_INT,
    SP_PHRASE_ROUND,
    SP_PHRASE_CEIL,     /* a / b rounded up, of numbers that may be no whole ones */
    SP_PHRASE_NEAR,     /* the multiple of b that is nearest to a */
    SP_PHRASE_QUOTIENT, /* a / b as it is, where one of them is no whole number; to be rounded */
    SP_PHRASE_DEFAULT,
    SP_PHRASE_IF, /* a ? b : c */
    SP_PHRASE_EQUAL,
    SP_PHRASE_LESS,
    SP_PHRASE_AT_LEAST,
    SP_PHRASE_NOT,
    SP_PHRASE_AND,
    SP_PHRASE_OR
};

#define SP_PHRASE_STANDS_FOR_ALL 1.0

struct sp_phrase {
    enum sp_phrase_op op;
    unsigned cost; /* of the whole: what is likely is cheap */
    const struct sp_phrase *a, *b, *c;
    const struct sp_leaf *leaf;
    const char *text;
    double number;
};

/* The value at a point. */
double sp_phrase_value(const struct sp_phrase *term, const struct sp_point *point);

/* An operand whose values at all points are known; a number has none. */
struct sp_phrase_side {
    const struct sp_phrase *term;
    const double *values;
};
/* The values of an operator on two numbers, without a negative zero; false when it has none somewhere. */
bool sp_phrase_values(enum sp_phrase_op op, struct sp_phrase_side a, struct sp_phrase_side b, size_t count,
                      double *values);
/* What the indices are called. */
extern const char *const sp_index_names[SP_MAX_INDICES];
/* Appends it in the table language, keys by their letters where they have one (`letters`). */
void sp_phrase_write(struct sp_text *text, const struct sp_phrase *term, bool letters);
bool sp_phrases_equal(const struct sp_phrase *a, const struct sp_phrase *b);

/* ---- making them; all in the arena ---- */

const struct sp_phrase *sp_phrase_number(struct sp_arena *arena, double number);
const struct sp_phrase *sp_phrase_index(struct sp_arena *arena, size_t index);
/* Of a leaf: KEY, LENGTH, ABSENT, NULL. */
const struct sp_phrase *sp_phrase_leaf(struct sp_arena *arena, enum sp_phrase_op op, const struct sp_leaf *leaf);
/* Of operands; those that the operator has not are NULL. */
const struct sp_phrase *sp_phrase_of(struct sp_arena *arena, enum sp_phrase_op op, const struct sp_phrase *a,
                                     const struct sp_phrase *b, const struct sp_phrase *c);
/* Of a leaf and an operand, which may be NULL. */
const struct sp_phrase *sp_phrase_about(struct sp_arena *arena, struct sp_phrase term);

/* spatial_dims == 3, len(channels) > 2, and the opposite: a key, or a length, and a number above 1. */
bool sp_phrase_compares_with_number(const struct sp_phrase *term);
/* A copy of all of it, leaves excepted. */
const struct sp_phrase *sp_phrase_copy(struct sp_arena *arena, const struct sp_phrase *term);

/* Calls `visit` for each leaf that the term asks, through the meanings of symbols. */
void sp_phrase_leaves(const struct sp_phrase *term, void (*visit)(void *context, const struct sp_leaf *leaf),
                      void *context);

#endif
