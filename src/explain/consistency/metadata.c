/* SPDX-License-Identifier: MIT
 * A configuration beside a file that has one in itself. */
#include <string.h>

#include "config/inside.h"
#include "explain/gather.h"

void sp_explain_metadata(struct shapeproof_check *check)
{
    const struct shapeproof_inventory *inventory = check->inventory;
    const char *path = shapeproof_config_path(check->given_config);
    if (!sp_config_gguf_names_model(inventory) || !*path || sp_config_is_of_gguf(check->given_config, inventory))
        return;
    struct shapeproof_cause *cause = sp_blame(check, SP_CAUSE_METADATA);
    cause->message = sp_arena_printf(&check->arena, "the metadata of the file were not compared with %s",
                                     sp_config_hyper(check->given_config)->file);
    cause->hint = "check the file again without --config: its metadata are then the configuration";
}
