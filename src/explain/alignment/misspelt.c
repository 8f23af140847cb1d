/* SPDX-License-Identifier: MIT
 * Keys of the configuration that nothing reads, and that are nearly those that the table looked for. Where the file
 * showed that the default in their place is wrong, the cause that says so has named them. */
#include <string.h>

#include "explain/gather.h"

static bool is_said(const struct shapeproof_check *check, const char *key)
{
    for (size_t i = 0; i < check->cause_count; i++)
        if (check->causes[i].hyperparameter && strcmp(check->causes[i].hyperparameter, key) == 0) return true;
    return false;
}

/* "n_layer is 12 by default", "num_key_value_heads is not there". */
static const char *say_instead(struct shapeproof_check *check, const char *key)
{
    const size_t place = sp_find_hyperparameter(check->prediction, key);
    if (place == SHAPEPROOF_NONE) return sp_arena_printf(&check->arena, "%s is not there", key);
    return sp_said(check, *shapeproof_prediction_hyperparameter(check->prediction, place));
}

void sp_explain_misspelt(struct shapeproof_check *check)
{
    struct shapeproof_misspelt found;
    for (size_t position = 0; shapeproof_prediction_misspelt(check->prediction, check->config, &position, &found);) {
        if (is_said(check, found.meant)) continue;
        struct shapeproof_cause *cause = sp_blame(check, SP_CAUSE_MISSPELT);
        cause->message = sp_arena_printf(&check->arena, "%s has %s, which nothing reads; %s",
                                         *shapeproof_config_path(check->config) ? sp_config_hyper(check->config)->file
                                                                                : "the configuration",
                                         found.key, say_instead(check, found.meant));
        cause->hint = sp_arena_printf(&check->arena, "is %s meant?", found.meant);
    }
}
