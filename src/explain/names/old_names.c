/* SPDX-License-Identifier: MIT
 * Names of older versions, such as gamma for weight. The match knows them; here they are counted. */
#include <stdlib.h>

#include "explain/gather.h"

void sp_explain_old_names(struct shapeproof_check *check)
{
    const size_t total = shapeproof_inventory_count(check->inventory);
    const char **names = sp_realloc(NULL, total, sizeof *names);
    size_t count = 0;
    for (size_t i = 0; i < total; i++)
        if (check->match.renaming[i] & SP_OLD_NAME)
            names[count++] = shapeproof_inventory_tensor(check->inventory, i)->name;
    if (count) {
        struct shapeproof_cause *cause = sp_blame(check, SP_CAUSE_OLD_NAMES);
        cause->explains = count;
        cause->message =
            sp_arena_printf(&check->arena, "%s %s of another version: %s", sp_count_of(&check->arena, count, "tensor"),
                            count == 1 ? "has a name" : "have names", sp_some_names(&check->arena, names, count));
    }
    sp_free(names);
}
