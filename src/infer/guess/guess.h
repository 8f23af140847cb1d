/* SPDX-License-Identifier: MIT
 * What the file does not tell: values are tried out, and one that contradicts nothing is taken. */
#ifndef SP_INFER_GUESS_H
#define SP_INFER_GUESS_H

#include "infer/deduce.h"
#include "solve/literals.h"

/* Settles one hyper-parameter that an open constraint lacks. False when there is none. */
bool sp_guess(struct sp_deduction *deduction);

/* The texts that a key could be without contradicting anything, as far as is known; absent first. Returns how many. */
size_t sp_guess_texts(struct sp_deduction *deduction, const char *key, struct shapeproof_value *texts, size_t most);
/* Gives a value to what is needed only by tensors that the file lacks: without it there would be no prediction. */
void sp_guess_rest(struct sp_deduction *deduction);

/* ---- defaults.c ---- */

/* What stands for the key, or for the item of a list, where it is not set; false when nothing does. */
bool sp_default_of(struct sp_deduction *deduction, const char *key, struct shapeproof_value *value);
/* How many requirements of what is used are known not to be met. */
size_t sp_count_unmet(struct sp_deduction *deduction);

#endif
