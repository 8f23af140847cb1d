/* SPDX-License-Identifier: MIT
 * Tensors that the configuration ties and gives different shapes: no file can have both. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "explain/gather.h"
#include "lang/prediction.h"

static bool is_blamed(const struct shapeproof_check *check, struct sp_keys keys)
{
    for (size_t i = 0; i < keys.count; i++)
        for (size_t c = 0; c < check->cause_count; c++)
            if (check->causes[c].hyperparameter &&
                strcmp(check->causes[c].hyperparameter,
                       shapeproof_prediction_hyperparameter(check->prediction, keys.list[i])->name) == 0)
                return true;
    return false;
}

/* "embedding.weight has 32 rows (vocab_size)" */
static const char *say_dimension(struct shapeproof_check *check, size_t tensor, uint32_t dimension)
{
    const struct shapeproof_predicted *predicted = shapeproof_prediction_tensor(check->prediction, tensor);
    char *words = shapeproof_prediction_dimension(check->prediction, tensor, dimension);
    const char *says =
        sp_arena_printf(&check->arena, "%s %" PRIu64 " (%s)", predicted->name, predicted->shape[dimension], words);
    sp_free(words);
    return says;
}

static void explain_odd_tie(struct shapeproof_check *check, struct sp_odd_tie tie)
{
    const struct shapeproof_predicted *a = shapeproof_prediction_tensor(check->prediction, tie.tensor);
    const struct shapeproof_predicted *b = shapeproof_prediction_tensor(check->prediction, tie.target);
    uint32_t d = 0;
    while (d < a->rank && d < b->rank && a->shape[d] == b->shape[d]) d++;
    if (d == a->rank || d == b->rank) d = 0;
    if (!a->rank || !b->rank || is_blamed(check, sp_prediction_depends_on(check->prediction, tie.tensor, d)) ||
        is_blamed(check, sp_prediction_depends_on(check->prediction, tie.target, d)))
        return;
    struct shapeproof_cause *cause = sp_blame(check, SP_CAUSE_ODD_TIE);
    cause->message = sp_arena_printf(&check->arena, "the configuration ties tensors of different sizes: %s, %s",
                                     say_dimension(check, tie.tensor, d), say_dimension(check, tie.target, d));
    cause->hint = "give both one size, or do not tie them";
}

/* What another value explains does not contradict itself under it. */
void sp_explain_odd_ties(struct shapeproof_check *check)
{
    const struct shapeproof_prediction *prediction = check->prediction;
    for (size_t i = 0; i < prediction->odd_tie_count; i++) explain_odd_tie(check, prediction->odd_ties[i]);
}
