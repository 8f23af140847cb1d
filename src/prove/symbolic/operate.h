/* SPDX-License-Identifier: MIT
 * What operators and functions give for values that are known in part. */
#ifndef SP_PROVE_SYMBOLIC_OPERATE_H
#define SP_PROVE_SYMBOLIC_OPERATE_H

#include "prove/symbolic/symbolic.h"

/* The result of the operation. False after a mistake, which was reported. */
bool sp_sym_operate(struct sp_symbolic *symbolic, const struct sp_operation *operation, const struct sp_sym *args,
                    size_t count, struct sp_sym *out);
/* c ? yes : no is c*yes + (1-c)*no for numbers and conditions; other values are kept side by side. */
struct sp_sym sp_sym_combine(struct sp_symbolic *symbolic, const struct sp_poly *c, struct sp_sym yes,
                             struct sp_sym no);
/* A value as a number, or as a condition, which is 0 or 1: of a number whether it is not 0. False after a message, for
 * which `span` is, when it is none. */
bool sp_sym_as_number(struct sp_symbolic *symbolic, struct sp_span span, struct sp_sym sym, const struct sp_poly **out);
bool sp_sym_as_condition(struct sp_symbolic *symbolic, struct sp_span span, struct sp_sym sym,
                         const struct sp_poly **out);
struct sp_sym sp_sym_of_condition(const struct sp_poly *poly);
struct sp_sym sp_sym_of_truth(struct sp_symbolic *symbolic, bool value);
/* A list in brackets. */
struct sp_sym sp_sym_of_items(struct sp_symbolic *symbolic, const struct sp_sym *items, size_t count);
/* The conditions a < b and "not this one", as polynomials that are 0 or 1; and min(a, b). */
const struct sp_poly *sp_sym_less(struct sp_symbolic *symbolic, const struct sp_poly *a, const struct sp_poly *b);
const struct sp_poly *sp_sym_least_of(struct sp_symbolic *symbolic, const struct sp_poly *a, const struct sp_poly *b);
const struct sp_poly *sp_sym_not(struct sp_symbolic *symbolic, const struct sp_poly *condition);
/* A value as it is written in formulas, in the arena. */
const char *sp_sym_words(struct sp_symbolic *symbolic, struct sp_sym sym);
/* The same of a side of ==: a truth value is a word, for k == true is not k == 1. */
const char *sp_sym_compared_words(struct sp_symbolic *symbolic, struct sp_sym sym);
/* Whether a number is computed from what a configuration may leave out: a member of an object, the place of an item. */
bool sp_sym_may_be_unset(struct sp_symbolic *symbolic, struct sp_sym sym);
/* Neither absent nor null. */
bool sp_sym_is_set(struct sp_sym sym);
/* Writes the value when it is known: an integer, a real number, a condition, a text, a list. False, and *value means
 * nothing, when it is not, and for absent and null. */
bool sp_sym_literal(struct sp_sym sym, struct shapeproof_value *value);

#endif
