/* SPDX-License-Identifier: MIT
 * Numbers in expressions that may be keys: the 4 of hidden_size // 4, where every example has 32 heads and 8 of them
 * for keys. */
#ifndef SP_LEARN_NUMBERS_H
#define SP_LEARN_NUMBERS_H

#include "learn/phrases/evidence.h"

/* The first number in the term that a key, or the product or quotient of two, is in all examples; NULL when there is
 * none. `*as` is that key, or those. */
const struct sp_phrase *sp_number_that_may_be_key(struct sp_evidence *evidence, const struct sp_phrase *term,
                                                  const struct sp_phrase **as);

#endif
