/* SPDX-License-Identifier: MIT
 * The metadata of two files of GGUF, which are the configuration that llama.cpp loads them with: a key with another
 * value, or that only one of them has, is a difference. Of a long list the reader keeps the length alone. */
#include <string.h>

#include "diff/diff.h"
#include "model/inventory.h"

enum { SHOWN = 40 }; /* bytes of a value in a message */

/* What a file says of itself but no program computes with; dtypes and pieces are compared elsewhere. */
static bool is_computed_with(const char *key)
{
    static const char *const beside[] = {"general.", "split.", "quantize."};
    if (strcmp(key, "general.architecture") == 0 || strcmp(key, "general.type") == 0) return true;
    for (size_t i = 0; i < sizeof beside / sizeof *beside; i++)
        if (strncmp(key, beside[i], strlen(beside[i])) == 0) return false;
    return true;
}

/* "10000.0 in A", with a long value cut. */
static const char *said_value(struct shapeproof_diff *diff, const char *value, const struct sp_diff_half *half)
{
    if (strlen(value) <= SHOWN) return sp_arena_printf(&diff->arena, "%s in %s", value, sp_half_name(half));
    return sp_arena_printf(&diff->arena, "%.*s... (%zu bytes) in %s", SHOWN, value, strlen(value), sp_half_name(half));
}

static void add_metadata(struct shapeproof_diff *diff, const char *key, const char *message)
{
    sp_diff_add(diff, (struct shapeproof_diff_finding){.kind = SHAPEPROOF_DIFF_FINDING_METADATA,
                                                       .name = key,
                                                       .message = message,
                                                       .a = SHAPEPROOF_NONE,
                                                       .b = SHAPEPROOF_NONE});
}

/* Reports the keys of `half` that the other has not, and, for A, those that it has with another value. */
static void compare_keys(struct shapeproof_diff *diff, const struct sp_diff_half *half,
                         const struct sp_diff_half *other)
{
    for (size_t i = 0; i < shapeproof_inventory_metadata_count(half->inventory); i++) {
        const struct shapeproof_metadata *mine = shapeproof_inventory_metadata(half->inventory, i);
        const char *theirs = sp_inventory_metadata_value(other->inventory, mine->key);
        if (!is_computed_with(mine->key)) continue;
        if (!theirs)
            add_metadata(diff, mine->key,
                         sp_arena_printf(&diff->arena, "is in %s alone: %s", sp_half_name(half),
                                         said_value(diff, mine->value, half)));
        else if (half->side == SHAPEPROOF_DIFF_A && strcmp(mine->value, theirs) != 0)
            add_metadata(diff, mine->key,
                         sp_arena_printf(&diff->arena, "%s, %s", said_value(diff, mine->value, half),
                                         said_value(diff, theirs, other)));
    }
}

void sp_diff_metadata(struct shapeproof_diff *diff)
{
    if (!sp_format_has(diff->a.inventory, SP_BY_LLAMA_CPP) || !sp_format_has(diff->b.inventory, SP_BY_LLAMA_CPP))
        return;
    compare_keys(diff, &diff->a, &diff->b);
    compare_keys(diff, &diff->b, &diff->a);
}
