/* SPDX-License-Identifier: MIT
 * Keys that are wrong together. With 16 heads in place of 32, of twice the width, all products of both are what they
 * should be; only what depends on the width alone tells. A change of the one breaks the products with the other, unless
 * that one changes as well: num_key_value_heads with num_attention_heads. */
#ifndef SP_EXPLAIN_TRIALS_TWINS_H
#define SP_EXPLAIN_TRIALS_TWINS_H

#include "explain/what_if.h"

enum { SP_MOST_TWINS = 2 };

/* The change, and so many other keys at most that what the change alone would break of the sample stays as it is in the
 * file. NULL when it breaks nothing, or no single key repairs the first that it does. In the arena. */
const struct sp_change *sp_change_with_twins(const struct sp_sample *sample, struct sp_arena *arena,
                                             const struct sp_change *change, const struct shapeproof_config *base,
                                             int most);

#endif
