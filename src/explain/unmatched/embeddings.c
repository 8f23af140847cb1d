/* SPDX-License-Identifier: MIT
 * The embedding a second time, as the last pipeline stage has it. */
#include <stdlib.h>
#include <string.h>

#include "explain/gather.h"
#include "explain/vocabulary.h"

/* A stranger of an embedding's name and shape. */
static size_t embedding_of(const struct shapeproof_check *check, const struct shapeproof_finding *finding)
{
    const struct shapeproof_tensor *tensor = shapeproof_inventory_tensor(check->inventory, finding->tensor);
    if (tensor->rank != 2) return SHAPEPROOF_NONE;
    for (size_t i = 0; i < shapeproof_prediction_count(check->prediction); i++) {
        const struct shapeproof_predicted *predicted = shapeproof_prediction_tensor(check->prediction, i);
        if (check->match.tensor_of[i] == SHAPEPROOF_NONE || !sp_same_shape(tensor, predicted)) continue;
        char *words = shapeproof_prediction_dimension(check->prediction, i, 0);
        const bool is = sp_is_vocabulary(words);
        sp_free(words);
        if (is) return check->match.tensor_of[i];
    }
    return SHAPEPROOF_NONE;
}

void sp_explain_embeddings(struct shapeproof_check *check)
{
    enum { MOST = 4 }; /* strangers of such a name that are looked at: a file may have any number */
    size_t tried = 0;
    for (size_t i = 0; i < check->finding_count && tried < MOST; i++) {
        if (!sp_finding_is_open_as(&check->findings[i], SHAPEPROOF_FINDING_UNEXPECTED) ||
            !strstr(check->findings[i].name, "embed"))
            continue;
        const size_t original = embedding_of(check, &check->findings[i]);
        tried++;
        if (original == SHAPEPROOF_NONE) continue;
        struct shapeproof_cause *cause = sp_blame(check, SP_CAUSE_EMBEDDING_COPY);
        sp_attribute_finding(check, i, cause);
        cause->message = sp_arena_printf(
            &check->arena, "%s has the shape of %s: a copy of a tied embedding, as the last pipeline stage has it",
            check->findings[i].name, shapeproof_inventory_tensor(check->inventory, original)->name);
    }
}
