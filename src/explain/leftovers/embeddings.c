/* SPDX-License-Identifier: MIT
 * The embedding a second time, as the last pipeline stage has it. */
#include <stdlib.h>
#include <string.h>

#include "explain/gather.h"
#include "explain/vocabulary.h"

/* A stranger of an embedding's name and shape. */
static size_t embedding_of(const struct sp_check *check, const struct sp_finding *finding)
{
    const struct sp_tensor *tensor = sp_inventory_tensor(check->inventory, finding->tensor);
    if (tensor->rank != 2) return SP_NONE;
    for (size_t i = 0; i < sp_prediction_count(check->prediction); i++) {
        const struct sp_predicted *predicted = sp_prediction_tensor(check->prediction, i);
        if (check->match.tensor_of[i] == SP_NONE || !sp_same_shape(tensor, predicted)) continue;
        char *words = sp_prediction_dimension(check->prediction, i, 0);
        const bool is = sp_is_vocabulary(words);
        free(words);
        if (is) return check->match.tensor_of[i];
    }
    return SP_NONE;
}

void sp_explain_embeddings(struct sp_check *check)
{
    enum { MOST = 4 }; /* strangers of such a name that are looked at: a file may have any number */
    size_t tried = 0;
    for (size_t i = 0; i < check->finding_count && tried < MOST; i++) {
        if (!sp_finding_is_open_as(&check->findings[i], SP_FINDING_UNEXPECTED) ||
            !strstr(check->findings[i].name, "embed"))
            continue;
        const size_t original = embedding_of(check, &check->findings[i]);
        tried++;
        if (original == SP_NONE) continue;
        struct sp_cause *cause = sp_blame(check, SP_CAUSE_EMBEDDING_COPY);
        sp_attribute_finding(check, i, cause);
        cause->message = sp_arena_printf(
            &check->arena, "%s has the shape of %s: a copy, as the last pipeline stage holds of a tied embedding",
            check->findings[i].name, sp_inventory_tensor(check->inventory, original)->name);
    }
}
