/* SPDX-License-Identifier: MIT
 * What explainers and others say of a quantiser, and what it writes and no part of a table says. */
#ifndef SP_EXPLAIN_UNDESCRIBED_H
#define SP_EXPLAIN_UNDESCRIBED_H

#include "check/check.h"

/* How the weights are quantised, by the keys that the prediction read: "gptq, 4 bits, groups of 128". In the arena. The
 * check must have a method. */
const char *sp_quantisation_words(struct shapeproof_check *check);
/* The configuration names a method, or a form of one, that cannot be predicted: what the file has in place of weights
 * is not told right or wrong. `where` is "quantization_config in config.json". */
void sp_say_undescribed(struct shapeproof_check *check, const struct sp_quantised *quantised, const char *where);
/* Weights in whose place the file has tensors of integers or bytes that nobody has described, where no configuration
 * says so: what is missing and what is unexpected of them are one error. */
void sp_explain_own_storage(struct shapeproof_check *check);
/* Scales of attention itself are as the configuration says, where it says that keys and values are quantised. */
void sp_take_cache_scales(struct shapeproof_check *check, const struct sp_quantised *quantised);

#endif
