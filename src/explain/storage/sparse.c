/* SPDX-License-Identifier: MIT
 * Parameters of which torch.load makes sparse tensors (COO, CSR, CSC, BSR, BSC). */
#include <stdlib.h>

#include "explain/gather.h"

/* Whether a module copies it: a buffer that a file may lack is computed instead. */
static bool is_copied(const struct shapeproof_check *check, size_t tensor)
{
    const size_t predicted = check->match.predicted_of[tensor];
    if (predicted == SHAPEPROOF_NONE) return false;
    const struct shapeproof_predicted *expected = shapeproof_prediction_tensor(check->prediction, predicted);
    return !expected->buffer || !expected->optional;
}

void sp_explain_sparse(struct shapeproof_check *check)
{
    const size_t total = shapeproof_inventory_count(check->inventory);
    const char **names = sp_realloc(NULL, total, sizeof *names);
    size_t count = 0;
    for (size_t i = 0; i < total; i++) {
        const struct shapeproof_tensor *tensor = shapeproof_inventory_tensor(check->inventory, i);
        if (tensor->flags & SHAPEPROOF_TENSOR_SPARSE && is_copied(check, i)) names[count++] = tensor->name;
    }
    if (count) {
        struct shapeproof_cause *cause = sp_blame(check, SP_CAUSE_SPARSE);
        cause->explains = count;
        cause->message = sp_arena_printf(&check->arena, "%s %s, and modules take only dense tensors",
                                         sp_some_names(&check->arena, names, count),
                                         count == 1 ? "is a sparse tensor" : "are sparse tensors");
    }
    sp_free(names);
}
