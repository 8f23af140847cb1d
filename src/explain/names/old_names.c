/* SPDX-License-Identifier: MIT
 * Names of older versions, such as gamma for weight. The match knows them; here they are counted. */
#include <stdlib.h>
#include <string.h>

#include "explain/gather.h"

/* Whether all are names of PyTorch's parametrizations, which transformers writes since its version 5, and the
 * configuration is of that: "conv.parametrizations.weight.original0" for "conv.weight_g". */
static bool are_usual(const struct shapeproof_check *check, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!strstr(names[i], ".parametrizations.")) return false;
    return sp_is_of_transformers_5(check);
}

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
        const bool usual = are_usual(check, names, count);
        cause->explains = count;
        if (usual) cause->severity = SHAPEPROOF_SEVERITY_NOTE;
        cause->message =
            sp_arena_printf(&check->arena, "%s %s of another version%s: %s",
                            sp_count_of(&check->arena, count, "tensor"), count == 1 ? "has a name" : "have names",
                            usual ? ", as transformers 5 writes them" : "", sp_some_names(&check->arena, names, count));
    }
    sp_free(names);
}
