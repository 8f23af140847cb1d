/* SPDX-License-Identifier: MIT
 * What the file does not tell: values are tried out, and one that contradicts nothing is taken. */
#ifndef SP_INFER_GUESS_H
#define SP_INFER_GUESS_H

#include "infer/deduce.h"
#include "solve/literals.h"

/* Gives one hyper-parameter that an open constraint lacks a value. False when there is none, or no value will do. */
bool sp_guess(struct sp_deduction *deduction);

/* Writes the values to `texts` under which no open constraint is contradicted: "absent" first, then texts of the table.
 * At most `most`; returns how many. */
size_t sp_guess_texts(struct sp_deduction *deduction, const char *key, struct shapeproof_value *texts, size_t most);
/* Gives values to the keys that are left, on which only tensors depend that the file lacks: without them the table
 * predicts nothing. */
void sp_guess_rest(struct sp_deduction *deduction);

/* The usual number of heads for a width above 0, which it divides: 768 -> 12 heads of 64, 20 -> 5 heads of 4. */
int64_t sp_usual_head_count(int64_t width);

/* ---- defaults.c ---- */

/* The default for the key, or for the item of a list, by what is known: the default of decoder_base_dim is base_dim, 8
 * if that is 8. It is looked for in the table and in all that it uses; false when there is none. */
bool sp_default_of(struct sp_deduction *deduction, const char *key, struct shapeproof_value *value);
/* The same for a key, in the definitions of the table alone. */
bool sp_default_in_table(struct sp_solver *solver, const char *key, struct shapeproof_value *value);
/* How many requirements, of the table and the parts that are known to be used, are known not to be met. */
size_t sp_count_unmet(struct sp_deduction *deduction);

#endif
