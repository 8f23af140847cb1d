/* SPDX-License-Identifier: MIT
 * One shard of another model, or of another version: all that is wrong is in it, and the rest of the checkpoint is as
 * it is configured. */
#include <stdlib.h>
#include <string.h>

#include "explain/gather.h"
#include "model/inventory.h"

enum { LEAST = 2 };

/* The file that all findings of the kind are in, or SHAPEPROOF_NONE. */
static size_t file_of_all(const struct shapeproof_check *check, enum shapeproof_finding_kind kind, size_t *count)
{
    size_t file = SHAPEPROOF_NONE;
    *count = 0;
    for (size_t i = 0; i < check->finding_count; i++) {
        if (!sp_finding_is_open_as(&check->findings[i], kind)) continue;
        const size_t own = shapeproof_inventory_tensor(check->inventory, check->findings[i].tensor)->file;
        if (file != SHAPEPROOF_NONE && file != own) return SHAPEPROOF_NONE;
        file = own;
        (*count)++;
    }
    return file;
}

/* Whether another file has a tensor of the same row as a wrong one, and as predicted: the configuration is right. */
static bool is_right_elsewhere(const struct shapeproof_check *check, size_t file)
{
    struct sp_patterns patterns = {.rule = SP_INDEX_APART};
    struct sp_map wrong = {0};
    bool right = false;
    for (size_t i = 0; i < check->finding_count; i++)
        if (sp_finding_is_open_as(&check->findings[i], SHAPEPROOF_FINDING_SHAPE))
            sp_map_add(&wrong, sp_pattern_text(&patterns, sp_pattern_of(&patterns, check->findings[i].name, NULL)), i);
    for (size_t i = 0; i < shapeproof_inventory_count(check->inventory) && !right; i++) {
        const struct shapeproof_tensor *tensor = shapeproof_inventory_tensor(check->inventory, i);
        if (tensor->file == file || check->match.predicted_of[i] == SHAPEPROOF_NONE) continue;
        const size_t pattern = sp_pattern_of(&patterns, tensor->name, NULL);
        right = sp_map_get(&wrong, sp_pattern_text(&patterns, pattern)) != SIZE_MAX;
    }
    sp_map_free(&wrong);
    sp_patterns_free(&patterns);
    return right;
}

static void explain_shapes(struct shapeproof_check *check)
{
    static const enum shapeproof_finding_kind shape = SHAPEPROOF_FINDING_SHAPE;
    size_t count;
    const size_t file = file_of_all(check, shape, &count);
    if (file == SHAPEPROOF_NONE || count < LEAST || !is_right_elsewhere(check, file)) return;
    struct shapeproof_cause *cause = sp_gather(check, SP_CAUSE_OTHER_SHARD, sp_is_open_kind, &shape);
    cause->message = sp_arena_printf(
        &check->arena,
        "%s is of another model than the other shards: all %zu tensors of a wrong shape are in it, such as %s",
        shapeproof_inventory_file(check->inventory, (uint32_t)file), count, sp_first_of(check, cause)->name);
    cause->hint = "fetch that shard again, in the version of the other shards";
}

/* Whether any tensor of the file is a predicted one. */
static bool has_any_matched(const struct shapeproof_check *check, size_t file, bool other)
{
    for (size_t i = 0; i < shapeproof_inventory_count(check->inventory); i++)
        if ((shapeproof_inventory_tensor(check->inventory, i)->file == file) != other &&
            check->match.predicted_of[i] != SHAPEPROOF_NONE)
            return true;
    return false;
}

static void explain_names(struct shapeproof_check *check)
{
    static const enum shapeproof_finding_kind unexpected = SHAPEPROOF_FINDING_UNEXPECTED,
                                              missing = SHAPEPROOF_FINDING_MISSING;
    size_t count;
    const size_t file = file_of_all(check, unexpected, &count);
    if (file == SHAPEPROOF_NONE || count < LEAST || check->inventory->promise_count) return;
    if (!sp_count_wanted(check, sp_is_open_kind, &missing)) return; /* then it is only one too many */
    if (has_any_matched(check, file, false) || !has_any_matched(check, file, true)) return;
    struct shapeproof_cause *cause = sp_gather(check, SP_CAUSE_OTHER_SHARD, sp_is_open_kind, &unexpected);
    const char *first = sp_first_of(check, cause)->name;
    for (size_t i = 0; i < check->finding_count; i++)
        if (sp_finding_is_open_as(&check->findings[i], SHAPEPROOF_FINDING_MISSING))
            sp_attribute_finding(check, i, cause);
    cause->message = sp_arena_printf(
        &check->arena, "%s is of another model than the other shards: none of its %zu tensors is predicted, such as %s",
        shapeproof_inventory_file(check->inventory, (uint32_t)file), count, first);
    cause->hint = "fetch that shard again, in the version of the other shards";
}

void sp_explain_other_shard(struct shapeproof_check *check)
{
    if (shapeproof_inventory_file_count(check->inventory) < 2) return;
    explain_shapes(check);
    explain_names(check);
}
