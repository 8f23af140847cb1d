/* SPDX-License-Identifier: MIT
 * What is particular about vocabularies: they are padded and extended. */
#ifndef SP_EXPLAIN_VOCABULARY_H
#define SP_EXPLAIN_VOCABULARY_H

#include "check/check.h"

/* Whether a hyper-parameter, or a dimension in terms of some, is about the number of tokens. */
bool sp_is_vocabulary(const char *words);
/* How a file may have come to `found` rows where `configured` are: " (rounded up to a multiple of 64)", or "". In the
 * arena. */
const char *sp_vocabulary_change(struct shapeproof_check *check, uint64_t configured, uint64_t found);

/* The number of tensor-parallel ranks of which each has `found` rows, padded perhaps; 0 when that is no such part. */
uint64_t sp_vocabulary_ranks(uint64_t configured, uint64_t found);

#endif
