/* SPDX-License-Identifier: MIT
 * Numbers in names that the table computes from keys without a value: blocks.{before(s) + j}. */
#ifndef SP_INFER_NUMBERS_H
#define SP_INFER_NUMBERS_H

#include "infer/deduce.h"

/* Finds the keys that such numbers depend on from the lists of modules in the file. False when nothing new was told. */
bool sp_tell_by_numbers(struct sp_deduction *deduction);
/* Whether the file has modules that are numbered on through several stages: blocks.{before(s) + j} for s for j. */
bool sp_has_stages(const struct sp_deduction *deduction);

#endif
