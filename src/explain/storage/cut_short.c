/* SPDX-License-Identifier: MIT
 * Files whose header is whole and whose data is not. Readers of most formats refuse such a file; of a format whose
 * header is passed around alone they list the tensors. */
#include "explain/gather.h"
#include "model/inventory.h"

/* Whether the file says where its data lie, and ends before. */
static bool is_cut_short(const struct sp_tensor *tensor)
{
    return tensor->flags & SP_TENSOR_NO_DATA && tensor->data_end;
}

/* Of a checkpoint whose list of tensors is in a file of its own. */
static void explain_lack(struct sp_check *check)
{
    const struct sp_inventory *inventory = check->inventory;
    struct sp_cause *cause = sp_blame(check, SP_CAUSE_CUT_SHORT);
    cause->message =
        sp_arena_printf(&check->arena, "%s: the data of %zu of its %zu tensors %s missing, in whole or in part",
                        inventory->lack, inventory->lacking, inventory->count, inventory->lacking == 1 ? "is" : "are");
    cause->hint = "fetch the files again, or save the checkpoint again";
}

void sp_explain_cut_short(struct sp_check *check)
{
    const struct sp_inventory *inventory = check->inventory;
    size_t cut = 0;
    if (inventory->lacking) explain_lack(check);
    for (size_t i = 0; i < inventory->count; i++) cut += is_cut_short(&inventory->tensors[i]);
    if (!cut) return;
    struct sp_cause *cause = sp_blame(check, SP_CAUSE_CUT_SHORT);
    cause->message = sp_arena_printf(&check->arena,
                                     "the file is cut short: the data of %zu of its %zu tensors %s missing, "
                                     "in whole or in part",
                                     cut, inventory->count, cut == 1 ? "is" : "are");
    cause->hint = "fetch the file again";
}
