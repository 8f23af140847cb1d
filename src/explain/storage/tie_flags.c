/* SPDX-License-Identifier: MIT
 * A configuration that says in one part that tensors are tied, and in another that they are not. The table knows which
 * part its class goes by; loaders have gone by the other. */
#include "explain/storage/tie_flags.h"

#include <string.h>

#include "explain/causes.h"

/* The tensor that comes to harm where the other part is believed: made up instead of taken from its partner, or
 * overwritten by it; or SHAPEPROOF_NONE. */
static size_t harmed(struct shapeproof_check *check, const struct sp_tie_pair *pair, bool tied)
{
    const bool member = sp_is_stored(check, pair->member), target = sp_is_stored(check, pair->target);
    if (tied) return member == target ? SHAPEPROOF_NONE : member ? pair->target : pair->member;
    if (!member || !target || sp_match_shares(&check->match, pair->member, pair->target)) return SHAPEPROOF_NONE;
    const struct sp_likeness likeness =
        sp_tie_likeness(check, check->match.tensor_of[pair->member], check->match.tensor_of[pair->target]);
    return likeness.equality == SP_DATA_EQUAL ? SHAPEPROOF_NONE : pair->member;
}

void sp_explain_flag(struct shapeproof_check *check, const struct sp_tie_pair *pair, bool tied)
{
    const char *other = sp_tie_contradiction(check, pair->condition, tied);
    const size_t tensor = other ? harmed(check, pair, tied) : SHAPEPROOF_NONE;
    if (tensor == SHAPEPROOF_NONE) return;
    struct shapeproof_cause cause = sp_cause_of(SP_CAUSE_TIE_FLAGS);
    const char *rule = sp_tie_said(check, pair->condition, &cause);
    cause.message = sp_arena_printf(&check->arena, "%s, but %s is %s: a loader that goes by that %s %s", rule, other,
                                    tied ? "false" : "true", tied ? "makes up" : "overwrites",
                                    shapeproof_prediction_tensor(check->prediction, tensor)->name);
    cause.hint = "let the two say the same";
    sp_check_add_cause(check, cause);
}

/* Of tied tensors the first that the hyper-parameter ties: the others are tied by the same words. */
void sp_explain_flags(struct shapeproof_check *check)
{
    const struct sp_condition *asked = NULL;
    for (size_t i = 0; i < shapeproof_prediction_count(check->prediction); i++) {
        const size_t target = shapeproof_prediction_tensor(check->prediction, i)->same_as;
        const struct sp_condition *condition = target == SHAPEPROOF_NONE ? NULL : sp_tie_condition(check, i);
        if (!condition || condition->key == SHAPEPROOF_NONE || condition == asked) continue;
        asked = condition;
        if (sp_value_is_bool(shapeproof_prediction_hyperparameter(check->prediction, condition->key)->value, true))
            sp_explain_flag(check, &(struct sp_tie_pair){i, target, condition}, true);
    }
}
