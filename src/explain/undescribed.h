/* SPDX-License-Identifier: MIT
 * What explainers and others say of a quantiser, and what it writes and no part of a table says. */
#ifndef SP_EXPLAIN_UNDESCRIBED_H
#define SP_EXPLAIN_UNDESCRIBED_H

#include "check/check.h"

/* How the weights are quantised, by the keys that the prediction read: "gptq, 4 bits, groups of 128". In the arena. The
 * check must have a method. */
const char *sp_quantisation_words(struct shapeproof_check *check);
/* Adds the cause that the configuration names a method, or a form of one, that cannot be predicted, so that what the
 * file has in place of weights is not judged. `where` is "quantization_config in config.json". */
void sp_say_undescribed(struct shapeproof_check *check, const struct sp_quantised *quantised, const char *where);
/* One error for weights in whose place the file has tensors of integers or bytes that nobody has described and no
 * configuration mentions: it explains the missing weights and the unexpected tensors. */
void sp_explain_own_storage(struct shapeproof_check *check);
/* Makes notes of unexpected scales of keys and values, where the configuration says that their cache is quantised. */
void sp_take_cache_scales(struct shapeproof_check *check, const struct sp_quantised *quantised);

#endif
