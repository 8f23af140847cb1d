/* SPDX-License-Identifier: MIT
 * Numbers in names that are worked out of what is not known yet. */
#ifndef SP_INFER_NUMBERS_H
#define SP_INFER_NUMBERS_H

#include "infer/deduce.h"

/* Tells what lists of modules with such numbers must have been made with. False when nothing new was learnt. */
bool sp_tell_by_numbers(struct sp_deduction *deduction);
/* Whether modules have such numbers through all of several stages. */
bool sp_has_stages(const struct sp_deduction *deduction);

#endif
