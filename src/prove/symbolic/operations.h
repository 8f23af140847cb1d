/* SPDX-License-Identifier: MIT
 * What the files behind sp_sym_operate share; everybody else includes operate.h. */
#ifndef SP_PROVE_SYMBOLIC_OPERATIONS_H
#define SP_PROVE_SYMBOLIC_OPERATIONS_H

#include "prove/symbolic/operate.h"

/* sym.c */
bool sp_sym_is_numeric(struct sp_sym sym);
/* A text, known or only named. */
bool sp_sym_is_text(struct sp_sym sym);
/* "an integer", "a list", ... for messages. */
const char *sp_sym_kind(struct sp_sym sym);
/* Whether a number is not 0, as a condition. */
struct sp_sym sp_sym_truth(struct sp_symbolic *symbolic, struct sp_span span, struct sp_sym number);
/* Notes that a symbol, a hyper-parameter without a value, is used as a list, or as a text. For anything else nothing.
 */
void sp_sym_mark_list(struct sp_symbolic *symbolic, struct sp_sym sym);
void sp_sym_mark_text(struct sp_symbolic *symbolic, struct sp_sym sym);
/* Where an operand stands, which decides whether it needs brackets. */
enum sp_operand_place {
    SP_OPERAND_OF_PRODUCT, /* in front of *, /, // or %: a product needs none, as in a*b // c */
    SP_OPERAND_CLOSED      /* anywhere else: only one word needs none */
};
/* A value as it is written beside an operator that binds tighter than +: (a + b) // c. */
const char *sp_sym_operand(struct sp_symbolic *symbolic, struct sp_sym sym, enum sp_operand_place place);

/* Each of the functions below computes one kind of operation. False after a mistake, which was reported. sp_sym_operate
 * calls them with arguments of which none is absent, null, or either of two values; but those of `default` may be. */

/* compare.c: ==, the four orders, and `in`. */
struct sp_sym sp_sym_equal(struct sp_symbolic *symbolic, const struct sp_sym *args);
bool sp_sym_order(struct sp_symbolic *symbolic, const struct sp_operation *operation, const struct sp_sym *args,
                  struct sp_sym *out);
bool sp_sym_member(struct sp_symbolic *symbolic, const struct sp_operation *operation, const struct sp_sym *args,
                   struct sp_sym *out);

/* compute.c: notes in symbolic->divisors, if a claim is read, that it has no value where the polynomial is `most`, and
 * also below that if a function is given. The index of a sum around it has any value between its ends. The polynomial
 * is also noted with each end in the place of the index: of 1/(i - 50) in sum(i in 1..a: ...) also a - 50. If it is
 * always larger than `most`, it is not noted, unless it is a divisor outside of a sum. */
void sp_sym_note_gap(struct sp_symbolic *symbolic, const struct sp_poly *poly, int64_t most, const char *function);

/* compute.c: arithmetic, and texts one behind the other. */
bool sp_sym_compute(struct sp_symbolic *symbolic, const struct sp_operation *operation, const struct sp_sym *args,
                    struct sp_sym *out);
bool sp_sym_join(struct sp_symbolic *symbolic, const struct sp_operation *operation, const struct sp_sym *args,
                 struct sp_sym *out);

/* call.c: list[index], object.name, a default b, and functions. */
bool sp_sym_item(struct sp_symbolic *symbolic, const struct sp_operation *operation, const struct sp_sym *args,
                 struct sp_sym *out);
bool sp_sym_member_of(struct sp_symbolic *symbolic, const struct sp_operation *operation, const struct sp_sym *args,
                      struct sp_sym *out);
bool sp_sym_default(struct sp_symbolic *symbolic, const struct sp_operation *operation, const struct sp_sym *args,
                    struct sp_sym *out);
bool sp_sym_call(struct sp_symbolic *symbolic, const struct sp_operation *operation, const struct sp_sym *args,
                 size_t count, struct sp_sym *out);

#endif
