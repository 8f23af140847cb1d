/* SPDX-License-Identifier: MIT
 * Sizes for which a table reads null as a number. Some classes of transformers refuse null for a size that they know,
 * and make a matrix of rank 0 where only null leaves the matrix out:
 *
 *     K = num_key_value_heads default (null(num_key_value_heads) ? A : 8)   null -> 5, if there are 5 heads
 *     Q = q_lora_rank default (null(q_lora_rank) ? 0 : 1536)                0 -> null */
#include <string.h>

#include "base/chars.h"
#include "infer/infer.h"

/* Whether null stands for the 0 of this key: it is the rank of a product that the model does not have, and the table
 * predicts the same tensors with null. */
static bool is_null_rank(const struct sp_attempt *best, const char *key)
{
    return sp_ends_with(key, "_rank") &&
           sp_attempt_allows(best, best->config, key, (struct shapeproof_value){.type = SHAPEPROOF_VALUE_NULL});
}

void sp_settle_nulls(struct shapeproof_inference *inference)
{
    struct sp_attempt *best = inference->best;
    for (size_t i = 0; i < inference->inferred_count; i++) {
        const struct shapeproof_inferred *inferred = &inference->inferred[i];
        if (inferred->value.type != SHAPEPROOF_VALUE_INT) continue;
        const struct shapeproof_value value = sp_value_at(sp_config_hyper(best->config)->root, inferred->name);
        if (value.type == SHAPEPROOF_VALUE_NULL && inferred->value.integer &&
            sp_attempt_allows(best, best->config, inferred->name, inferred->value))
            sp_config_set_value(best->config, inferred->name, inferred->value, "inferred");
        if (value.type == SHAPEPROOF_VALUE_INT && !value.integer && is_null_rank(best, inferred->name))
            sp_config_set_value(best->config, inferred->name, (struct shapeproof_value){.type = SHAPEPROOF_VALUE_NULL},
                                "inferred");
    }
}
