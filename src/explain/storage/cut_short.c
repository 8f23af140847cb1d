/* SPDX-License-Identifier: MIT
 * Files that list tensors of which they do not have the data, or not all of it. Readers of most formats refuse a file
 * that ends too early; of a format whose header is passed around alone they list the tensors. */
#include <inttypes.h>

#include "base/names.h"
#include "explain/gather.h"
#include "model/inventory.h"

/* Whether the file says where its data lie, and ends before. */
static bool is_cut_short(const struct shapeproof_tensor *tensor)
{
    return tensor->flags & SHAPEPROOF_TENSOR_NO_DATA && tensor->data_end;
}

/* Whether it is a part of the model that has a shape, and there are no bytes for it. */
static bool is_without_data(const struct shapeproof_tensor *tensor)
{
    return tensor->flags & SHAPEPROOF_TENSOR_NO_DATA &&
           !(tensor->flags & (SHAPEPROOF_TENSOR_NO_SHAPE | SHAPEPROOF_TENSOR_STATE)) && !tensor->data_end &&
           tensor->bytes;
}

/* "9 of its 21 tensors" */
static const char *share_of(struct shapeproof_check *check, size_t count)
{
    return sp_arena_printf(&check->arena, "%zu of its %zu tensors", count, check->inventory->count);
}

/* The files with the data are incomplete, of a checkpoint whose list of tensors is in a file of its own. */
static void explain_lack(struct shapeproof_check *check)
{
    const struct shapeproof_inventory *inventory = check->inventory;
    struct shapeproof_cause *cause = sp_blame(check, SP_CAUSE_CUT_SHORT);
    cause->message =
        sp_arena_printf(&check->arena, "%s: the data of %s %s missing, in whole or in part", inventory->lack,
                        share_of(check, inventory->lacking), inventory->lacking == 1 ? "is" : "are");
    cause->hint = "fetch the files again, or save the checkpoint again";
}

/* The file ends before the data of some tensors. */
static void explain_end(struct shapeproof_check *check)
{
    const struct shapeproof_inventory *inventory = check->inventory;
    size_t cut = 0;
    for (size_t i = 0; i < inventory->count; i++) cut += is_cut_short(&inventory->tensors[i]);
    if (!cut) return;
    struct shapeproof_cause *cause = sp_blame(check, SP_CAUSE_CUT_SHORT);
    cause->message =
        sp_arena_printf(&check->arena, "the file is cut short: the data of %s %s missing, in whole or in part",
                        share_of(check, cut), cut == 1 ? "is" : "are");
    cause->hint = "fetch the file again";
}

/* A member of the archive has another CRC than it says. */
static void explain_damage(struct shapeproof_check *check)
{
    struct shapeproof_cause *cause = sp_blame(check, SP_CAUSE_DAMAGED);
    cause->message =
        sp_arena_printf(&check->arena, "%s in the file does not match its CRC: it was changed after it was saved",
                        sp_quote(check->inventory->damaged).text);
    cause->hint = "fetch the file again, or save it again";
}

/* torch.load inflates a storage, but with mmap=True it takes the bytes as they are in the file. */
static void explain_compression(struct shapeproof_check *check)
{
    struct shapeproof_cause *cause = sp_blame(check, SP_CAUSE_COMPRESSED);
    const size_t count = check->inventory->compressed;
    cause->message = sp_arena_printf(
        &check->arena, "%s %s compressed in the archive: a program that maps the file into memory reads other numbers",
        sp_count_of(&check->arena, count, "storage"), count == 1 ? "is" : "are");
    cause->hint = "load it with torch.load without mmap=True, and save it again with torch.save";
}

/* Tensors that say of themselves that they are a part of a larger one, a DTensor or a ShardedTensor: that of one rank,
 * or what the files of several ranks have together. Returns whether there are any. */
static bool explain_pieces(struct shapeproof_check *check)
{
    const struct shapeproof_inventory *inventory = check->inventory;
    const struct shapeproof_tensor *first = NULL;
    uint64_t held = 0, whole = 0; /* at most the total of the inventory, which has been checked */
    size_t count = 0;
    for (size_t i = 0; i < inventory->count; i++) {
        const struct shapeproof_tensor *tensor = &inventory->tensors[i];
        if (!tensor->piece || tensor->flags & SHAPEPROOF_TENSOR_STATE || tensor->same_as != SHAPEPROOF_NONE) continue;
        if (!first) first = tensor;
        held += tensor->piece->bytes < tensor->bytes ? tensor->piece->bytes : tensor->bytes;
        whole += tensor->bytes;
        count++;
    }
    if (!count) return false;
    struct shapeproof_cause *cause = sp_blame(check, SP_CAUSE_PIECES);
    const bool are_several = inventory->joined || (inventory->of_ranks && inventory->file_count > 1);
    struct sp_text text = {0};
    if (are_several) sp_text_printf(&text, "the files of %zu ranks do not make a whole", inventory->file_count);
    else sp_text_puts(&text, "this is one rank's piece");
    if (first->piece->pieces && !are_several) sp_text_printf(&text, " of %" PRIu64, first->piece->pieces);
    sp_text_printf(&text, ": %s a part of %s", are_several ? "they have" : "the file has", share_of(check, count));
    if (first->piece->placement) sp_text_printf(&text, " (%s)", first->piece->placement);
    sp_text_puts(&text, ", ");
    sp_text_grouped(&text, held);
    sp_text_puts(&text, " of ");
    sp_text_grouped(&text, whole);
    sp_text_puts(&text, " bytes");
    cause->message = sp_text_keep(&text, &check->arena);
    cause->hint = are_several
                      ? "the file of a rank is there under two names, or is of another training: fetch all again"
                      : "merge the ranks into one checkpoint, or gather when saving: full_state_dict=True of FSDP, "
                        "full_tensor() of each DTensor";
    return true;
}

/* Blames files of all ranks that have enough bytes, but may not be what they should be. False if there are none. */
static bool explain_wrong_ranks(struct shapeproof_check *check)
{
    const struct shapeproof_inventory *inventory = check->inventory;
    const bool counts_differ = inventory->said_ranks && inventory->said_ranks != inventory->file_count;
    if (!inventory->misplaced && !inventory->unplaced && !counts_differ && !inventory->ranks_unsaid) return false;
    struct shapeproof_cause *cause = sp_blame(check, SP_CAUSE_PIECES);
    cause->hint = "fetch the files of all ranks again, or save the checkpoint again";
    if (inventory->misplaced)
        cause->message =
            sp_arena_printf(&check->arena, "files of ranks have the pieces of other ranks than their names say: %s",
                            inventory->misplaced);
    else if (inventory->unplaced) {
        cause->message =
            sp_arena_printf(&check->arena, "the pieces of %s in the files of %zu ranks do not say which ones they are",
                            sp_count_of(&check->arena, inventory->unplaced, "tensor"), inventory->file_count);
        cause->hint = "summands (Partial) and several shards in one file have no number: merge them with the program "
                      "that wrote them; if they are neither, fetch the files of all ranks again";
    } else if (inventory->ranks_unsaid) {
        cause->message = "fsdp_config.json does not say how many ranks there are";
        cause->hint = "fetch it again: verl's model_merger goes by its world_size";
    } else {
        cause->message =
            sp_arena_printf(&check->arena, "fsdp_config.json says %" PRIu64 " ranks, the model has the files of %zu",
                            inventory->said_ranks, inventory->file_count);
        cause->hint = "one of the two is of another training: verl's model_merger goes by fsdp_config.json";
    }
    return true;
}

/* Tensors that are whole once the files of all ranks are read. The program that wrote them reads them again; any other
 * needs them merged. */
static void explain_joined(struct shapeproof_check *check)
{
    const struct shapeproof_inventory *inventory = check->inventory;
    struct shapeproof_cause *cause = sp_blame(check, SP_CAUSE_RANK_FILES);
    cause->message =
        sp_arena_printf(&check->arena, "%s %s divided among the files of %zu ranks, and all pieces are there",
                        sp_count_of(&check->arena, inventory->joined, "tensor"), inventory->joined == 1 ? "is" : "are",
                        inventory->file_count);
    cause->hint =
        inventory->named_by_verl
            ? sp_arena_printf(&check->arena,
                              "verl goes on from them with %zu ranks; for other programs, merge them with 'python -m "
                              "verl.model_merger merge --backend fsdp'",
                              inventory->file_count)
            : "the program that wrote them reads them with the same number of ranks; for others, load each DTensor and "
              "save its full_tensor()";
}

/* Tensors that the file lists without their data. Nothing is said if it is known that other files have the data:
 * another cause says so. */
static void explain_absent_data(struct shapeproof_check *check)
{
    const struct shapeproof_inventory *inventory = check->inventory;
    const char *first = NULL;
    size_t count = 0;
    for (size_t i = 0; i < inventory->count; i++) {
        if (!is_without_data(&inventory->tensors[i])) continue;
        if (!count++) first = inventory->tensors[i].name;
    }
    if (!count || inventory->divided || inventory->lacking) return;
    struct shapeproof_cause *cause = sp_blame(check, SP_CAUSE_NO_DATA);
    const bool torch = sp_format_has(inventory, SP_BY_TORCH);
    cause->message =
        sp_arena_printf(&check->arena, "the file has no data for %s, which %s %s: %s%s", share_of(check, count),
                        count == 1 ? "was" : "were", torch ? "on the meta device" : "never written", first,
                        count > 1 ? " and others" : "");
    cause->hint = torch
                      ? "save the model again with its weights in memory: those that were offloaded, or never loaded, "
                        "are on the meta device"
                      : "save the model again";
}

void sp_explain_cut_short(struct shapeproof_check *check)
{
    if (check->inventory->lacking) explain_lack(check);
    explain_end(check);
    if (check->inventory->damaged) explain_damage(check);
    if (check->inventory->compressed) explain_compression(check);
    if (!explain_pieces(check) && !explain_wrong_ranks(check) && check->inventory->joined) explain_joined(check);
    explain_absent_data(check);
}
