/* SPDX-License-Identifier: MIT
 * What the file does not tell: values are tried out, and one that contradicts nothing is taken. */
#ifndef SP_INFER_GUESS_H
#define SP_INFER_GUESS_H

#include "infer/deduce.h"
#include "infer/literals.h"

/* Settles one hyper-parameter that an open question lacks. False when there is none. */
bool sp_guess(struct sp_deduction *deduction, const struct sp_literals *literals);

#endif
