/* SPDX-License-Identifier: MIT
 * Redacting an inventory in place, so that every report, view and format shows the redacted texts. */
#include <stdlib.h>
#include <string.h>

#include "base/budget.h"
#include "base/call.h"
#include "model/inventory.h"
#include "redact/redact.h"

/* A name in the arena of the inventory; NULL stays NULL. */
static const char *redact_name(struct shapeproof_redaction *redaction, struct shapeproof_inventory *inventory,
                               const char *name, bool *is_known)
{
    struct sp_text text = {0};
    const bool known = !name || sp_redact_name(redaction, &text, name, strlen(name));
    if (is_known) *is_known = known;
    return name ? sp_text_keep(&text, &inventory->arena) : NULL;
}

static const char *redact_message(struct shapeproof_redaction *redaction, struct shapeproof_inventory *inventory,
                                  const char *message)
{
    char *redacted = shapeproof_redact_message(redaction, message);
    const char *kept = sp_arena_string(&inventory->arena, redacted);
    sp_free(redacted);
    return kept;
}

static void redact_tensor(struct shapeproof_redaction *redaction, struct shapeproof_inventory *inventory,
                          struct shapeproof_tensor *tensor)
{
    tensor->name = redact_name(redaction, inventory, tensor->name, NULL);
    tensor->storage = redact_name(redaction, inventory, tensor->storage, NULL);
    if (tensor->dtype == SHAPEPROOF_DTYPE_UNKNOWN)
        tensor->dtype_name = redact_name(redaction, inventory, tensor->dtype_name, NULL);
    if (!tensor->piece || !tensor->piece->placement) return;
    struct shapeproof_tensor_piece *piece = sp_arena_alloc(&inventory->arena, sizeof *piece);
    *piece = *tensor->piece;
    piece->placement = redact_message(redaction, inventory, piece->placement);
    tensor->piece = piece;
}

static void redact_metadata(struct shapeproof_redaction *redaction, struct shapeproof_inventory *inventory,
                            struct shapeproof_metadata *entry)
{
    struct sp_text text = {0};
    bool key_is_known;
    entry->key = redact_name(redaction, inventory, entry->key, &key_is_known);
    sp_redact_value(redaction, &text, entry->value, key_is_known);
    entry->value = sp_text_keep(&text, &inventory->arena);
}

/* The maps of an inventory have its strings as their keys. */
static void index_names(struct shapeproof_inventory *inventory)
{
    sp_map_free(&inventory->names);
    sp_map_free(&inventory->metadata_keys);
    for (size_t i = 0; i < inventory->count; i++) sp_map_add(&inventory->names, inventory->tensors[i].name, i);
    for (size_t i = 0; i < inventory->metadata_count; i++)
        sp_map_add(&inventory->metadata_keys, inventory->metadata[i].key, i);
}

/* What no report prints, and only a check uses. */
static void forget_other_texts(struct shapeproof_inventory *inventory)
{
    inventory->promise_count = 0;
    inventory->unread_names.count = 0;
    inventory->first_unread = (struct shapeproof_error){.status = SHAPEPROOF_ERR_FILE};
    inventory->beside = inventory->stray = inventory->broken_optimizer = inventory->damaged = inventory->lack = NULL;
    inventory->misplaced = NULL;
    inventory->settings = NULL;
}

bool shapeproof_inventory_is_redacted(const struct shapeproof_inventory *inventory) { return inventory->is_redacted; }

/* What is redacted is restored when the call fails. */
static void keep_texts(struct shapeproof_redaction *redaction, struct shapeproof_inventory *inventory)
{
    const struct sp_account *account = &inventory->account;
    sp_keep(redaction, redaction, sizeof *redaction);
    sp_keep(inventory, inventory, sizeof *inventory);
    sp_keep(inventory, inventory->files, inventory->file_count * sizeof *inventory->files);
    sp_keep(inventory, inventory->tensors, inventory->count * sizeof *inventory->tensors);
    sp_keep(inventory, inventory->metadata, inventory->metadata_count * sizeof *inventory->metadata);
    sp_keep(inventory, inventory->warnings, inventory->warning_count * sizeof *inventory->warnings);
    sp_keep(inventory, inventory->suspects.items, inventory->suspects.count * sizeof *inventory->suspects.items);
    sp_keep(inventory, account->unused.items, account->unused.count * sizeof *account->unused.items);
}

void shapeproof_redact_inventory(struct shapeproof_redaction *redaction, struct shapeproof_inventory *inventory)
{
    SP_CALL(NULL, );
    SP_SPENDS("redacting it");
    SP_BUDGET_REUSE(inventory);
    keep_texts(redaction, inventory);
    char *path = shapeproof_redact_path(redaction, inventory->path);
    shapeproof_inventory_unused_count(inventory); /* sums up the bytes, for which the storages need their names */
    const bool is_alone = inventory->file_count == 1 && strcmp(inventory->files[0], inventory->path) == 0;
    inventory->path = sp_arena_string(&inventory->arena, path);
    sp_free(path);
    for (size_t i = 0; i < inventory->file_count; i++)
        inventory->files[i] = is_alone ? inventory->path : redact_name(redaction, inventory, inventory->files[i], NULL);
    for (size_t i = 0; i < inventory->count; i++) redact_tensor(redaction, inventory, &inventory->tensors[i]);
    for (size_t i = 0; i < inventory->metadata_count; i++)
        redact_metadata(redaction, inventory, &inventory->metadata[i]);
    for (size_t i = 0; i < inventory->warning_count; i++)
        inventory->warnings[i] = redact_message(redaction, inventory, inventory->warnings[i]);
    for (size_t i = 0; i < inventory->suspects.count; i++)
        inventory->suspects.items[i].name = redact_name(redaction, inventory, inventory->suspects.items[i].name, NULL);
    for (size_t i = 0; i < inventory->account.unused.count; i++)
        inventory->account.unused.items[i].storage =
            redact_name(redaction, inventory, inventory->account.unused.items[i].storage, NULL);
    forget_other_texts(inventory);
    index_names(inventory);
    inventory->is_redacted = true;
}
