/* SPDX-License-Identifier: MIT
 * Tensors of one storage that nothing ties. */
#include <stdlib.h>

#include "check/ties.h"
#include "explain/causes.h"
#include "lang/prediction.h"

/* Buffers may be shared: they are not trained. */
static bool is_parameter(const struct shapeproof_check *check, size_t tensor)
{
    const size_t predicted = check->match.predicted_of[tensor];
    return predicted != SHAPEPROOF_NONE && !shapeproof_prediction_tensor(check->prediction, predicted)->buffer;
}

/* Whether the table ties the tensor to another one in the file. */
static bool is_tied_storage(const struct shapeproof_check *check, size_t tensor)
{
    const size_t predicted = check->match.predicted_of[tensor];
    for (size_t i = 0; i < check->prediction->odd_tie_count; i++) /* tied, and of another size besides */
        if (check->prediction->odd_ties[i].tensor == predicted) return true;
    return sp_match_partner(&check->match, predicted) != SHAPEPROOF_NONE;
}

/* "tie_word_embeddings is false in config.json", the hyper-parameter that would have tied one of the two; "nothing ties
 * them" where there is none. The cause gets the hyper-parameter. */
static const char *why_not(struct shapeproof_check *check, size_t tensor, size_t alike, struct shapeproof_cause *cause)
{
    const struct sp_condition *condition = sp_tie_condition(check, check->match.predicted_of[tensor]);
    if (!condition) condition = sp_tie_condition(check, check->match.predicted_of[alike]);
    if (!condition) return "nothing ties them";
    return sp_tie_said(check, condition, cause);
}

void sp_explain_sharing(struct shapeproof_check *check)
{
    const size_t total = shapeproof_inventory_count(check->inventory);
    const char **names = sp_realloc(NULL, total, sizeof *names);
    struct shapeproof_cause cause = sp_cause_of(SP_CAUSE_SHARED);
    for (size_t i = 0; i < total; i++) {
        const size_t alike = shapeproof_inventory_tensor(check->inventory, i)->same_as;
        if (alike == SHAPEPROOF_NONE || !is_parameter(check, i) || !is_parameter(check, alike)) continue;
        if (is_tied_storage(check, i) || is_tied_storage(check, alike)) continue;
        names[cause.explains++] = shapeproof_inventory_tensor(check->inventory, i)->name;
        if (cause.explains == 1)
            cause.message = sp_arena_printf(&check->arena, "%s shares the storage of %s although %s", names[0],
                                            shapeproof_inventory_tensor(check->inventory, alike)->name,
                                            why_not(check, i, alike, &cause));
    }
    if (cause.explains > 1)
        cause.message = sp_arena_printf(&check->arena, "%s share their storage with others although nothing ties them",
                                        sp_some_names(&check->arena, names, cause.explains));
    if (cause.explains) sp_check_add_cause(check, cause);
    sp_free(names);
}
