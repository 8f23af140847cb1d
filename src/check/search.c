/* SPDX-License-Identifier: MIT
 * Where the configuration of a checkpoint is. shapeproof/check.h has the order, and docs/configuration.md the reasons.
 */
#include "base/budget.h"
#include "base/call.h"
#include "base/fault.h"
#include "check/adapter.h"
#include "config/config.h"
#include "config/inside.h"
#include "shapeproof/check.h"
#include "shapeproof/config.h"

static bool has_program(const struct shapeproof_inventory *inventory)
{
    struct sp_arena arena = {0};
    struct sp_program_config ignored;
    const bool has = sp_config_of_program(&arena, inventory, &ignored);
    sp_arena_free(&arena);
    return has;
}

char *shapeproof_config_search(const struct shapeproof_inventory *inventory, const char *path, const char *table,
                               const char *hub, bool *inside, struct shapeproof_error *error)
{
    SP_CALL(error, NULL);
    SP_SPENDS("searching for the configuration");
    SP_BUDGET_REUSE(inventory);
    char *found = NULL;
    *inside = false; /* also if memory runs out below */
    sp_search_begin(error);
    *inside = shapeproof_config_is_inside(inventory, table);
    if (!*inside) found = sp_config_beside(path);
    if (!*inside && !found) *inside = has_program(inventory);
    if (!*inside && !found) found = sp_adapter_base_config(inventory, hub);
    if (!*inside && !found) found = sp_config_unreadable_beside(path);
    if (sp_search_end(*inside || found, error)) return found;
    sp_free(found);
    return NULL;
}
