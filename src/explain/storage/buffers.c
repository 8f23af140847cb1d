/* SPDX-License-Identifier: MIT
 * Buffers that a table predicts: why a file holds more elements than the model has parameters. */
#include <stdlib.h>

#include "explain/gather.h"

void sp_explain_buffers(struct shapeproof_check *check)
{
    const size_t total = shapeproof_inventory_count(check->inventory);
    const char **names = sp_realloc(NULL, total, sizeof *names);
    size_t count = 0;
    for (size_t i = 0; i < total; i++) {
        const size_t predicted = check->match.predicted_of[i];
        if (predicted == SHAPEPROOF_NONE || !shapeproof_prediction_tensor(check->prediction, predicted)->buffer)
            continue;
        names[count++] = shapeproof_inventory_tensor(check->inventory, i)->name;
    }
    if (count)
        sp_blame(check, SP_CAUSE_BUFFERS)->message = sp_arena_printf(
            &check->arena, "buffers, which are stored but not trained: %s", sp_some_names(&check->arena, names, count));
    sp_free(names);
}
