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
    const char *list;    /* the path of the list, if the terminal is a column of it (its values are lists), or what its
                            items name in `object`; else NULL */
    const char *column;  /* of a list: what is written behind an item, "[1]" or ".size"; "" for nothing */
    const char *object;  /* the path of the object whose members the items of `list` name; or NULL */
    unsigned cost;       /* how unlikely it is that a size depends on it: 10 for a usual key, 22 for "dropout" */
    const char *letter;  /* how the table calls it, or NULL: by its path */
    const char *comment; /* behind the definition of the letter, "tokens"; or NULL */
    const char *says;    /* of a letter that stands for its length: "len(id2label) default 2"; or NULL */
    const struct sp_search_term *meaning; /* of a symbol: "head_dim default H // A"; NULL for a plain key */
    size_t uses;                          /* in how many places of the table it is written */
};

/* Where an expression is asked: in an example, at these indices of a name. */
struct sp_point {
    size_t example;
    uint64_t index[SP_MAX_INDICES];
};

/* What a term computes from its operands `a`, `b` and `c`, from the value of its key (`terminal`) and from `text` or
 * `number`. It is NaN where an operand is, and where the value is absent, null or of another type, unless stated
 * otherwise. */
enum sp_term_op {
    SP_TERM_NUMBER,    /* `number` */
    SP_TERM_INDEX,     /* an index of the name: `number` is 0 for i, 1 for j ... */
    SP_TERM_KEY,       /* the number at the key; of a symbol the value of its meaning */
    SP_TERM_TRUTH,     /* the truth value at the key, or that of item `a` of its list; where it is absent or null:
                            `number`, which is 0, 1 or NaN */
    SP_TERM_LENGTH,    /* how many items the list at the key has, or members the object */
    SP_TERM_SUM,       /* the sum of a list of whole numbers */
    SP_TERM_ITEM,      /* list[a], a number */
    SP_TERM_AT,        /* at(key, a): list[a], or the value itself if that is a number */
    SP_TERM_IS,        /* key == "text", or list[a] == "text". If `number` is SP_TERM_STANDS_FOR_ALL, a string in
                            place of the list stands for each of its items: at(key, a) == "text". A value of
                            another type is unequal */
    SP_TERM_ABSENT,    /* there is no such key: never NaN */
    SP_TERM_NULL,      /* the key is null: never NaN */
    SP_TERM_IS_LIST,   /* the value is a list, and no number or string; NaN for an empty list */
    SP_TERM_CONTAINED, /* the number `a` is in the list; without an operand: the string `text` is */
    SP_TERM_ADD,
    SP_TERM_SUBTRACT,
    SP_TERM_MULTIPLY,
    SP_TERM_DIVIDE,   /* a // b: rounded down */
    SP_TERM_REST,     /* a % b */
    SP_TERM_POWER,    /* a^b, with b from 0 on */
    SP_TERM_CEIL_DIV, /* ceil_div(a, b): rounded up, of whole numbers */
    SP_TERM_ROUND_UP, /* round_up(a, b): the least multiple of b that is not below a */
    SP_TERM_MAX,
    SP_TERM_INT,      /* int(a): without the fraction */
    SP_TERM_ROUND,    /* round(a), as Python does it: a half goes to the even neighbour */
    SP_TERM_CEIL,     /* -(-a // b): rounded up, of numbers with fractions */
    SP_TERM_NEAR,     /* near_multiple(a, b): the multiple of b that is nearest to a */
    SP_TERM_QUOTIENT, /* a/b, not rounded: an operand of ROUND. NaN if a and b are whole and the quotient is not */
    SP_TERM_DEFAULT,  /* a default b: b where a is NaN */
    SP_TERM_IF,       /* a ? b : c; the one that is not taken may be NaN */
    SP_TERM_EQUAL,    /* a == b; this one and all that follow are conditions */
    SP_TERM_LESS,     /* a < b */
    SP_TERM_AT_LEAST, /* a >= b */
    SP_TERM_NOT,      /* of a truth value, which is 0 or 1 */
    SP_TERM_AND,      /* 0 where a is 0, even if b is NaN */
    SP_TERM_OR        /* 1 where a is not 0, even if b is NaN */
};

#define SP_TERM_STANDS_FOR_ALL 1.0

struct sp_search_term {
    enum sp_term_op op;
    unsigned cost; /* of the whole term, operands included: the likelier, the cheaper; a usual key costs 10 */
    const struct sp_search_term *a, *b, *c; /* operands; NULL: the operator does not take that many */
    const struct sp_terminal *terminal;     /* the key that the operator reads, or NULL */
    const char *text;                       /* of IS and CONTAINED */
    double number;                          /* of NUMBER, INDEX, TRUTH and IS */
};

/* The value at a point; NaN where it has none. */
double sp_search_term_value(const struct sp_search_term *term, const struct sp_point *point);

/* An operand and its values at all points; `values` is NULL for a number (SP_TERM_NUMBER), which is the same at each.
 */
struct sp_search_term_side {
    const struct sp_search_term *term;
    const double *values;
};
/* Fills `values` with those of an arithmetic operator or a comparison at `count` points, without negative zeros. False
 * when it has none at some point; `values` is then filled in part. */
bool sp_search_term_values(enum sp_term_op op, struct sp_search_term_side a, struct sp_search_term_side b, size_t count,
                           double *values);
/* What the indices are called: "i", "j" ... */
extern const char *const sp_index_names[SP_MAX_INDICES];
/* Appends the term in the table language: "4*H" by letters, "4*hidden_size" by paths. Keys without a letter are written
 * by their path in both cases. */
enum sp_key_style { SP_KEYS_BY_LETTER, SP_KEYS_BY_PATH };
void sp_search_term_write(struct sp_text *text, const struct sp_search_term *term, enum sp_key_style style);
/* Whether two terms are the same expression; NaN equals NaN. Terms with equal values may be different ones. */
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

/* Whether a term compares a key or a length with a number above 1: spatial_dims == 3, len(channels) > 2, and their
 * negations. */
bool sp_search_term_compares_with_number(const struct sp_search_term *term);
/* A deep copy, which shares the terminals; NULL of NULL. */
const struct sp_search_term *sp_search_term_copy(struct sp_arena *arena, const struct sp_search_term *term);

/* Calls `visit` for each terminal that the term reads, as often as it is read; for a symbol also for the terminals of
 * its meaning. */
void sp_search_term_terminals(const struct sp_search_term *term,
                              void (*visit)(void *context, const struct sp_terminal *terminal), void *context);

#endif
