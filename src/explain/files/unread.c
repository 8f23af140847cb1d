/* SPDX-License-Identifier: MIT
 * What counts as missing because it cannot be read: the file has it, broken. */
#include <stdlib.h>

#include "check/ties.h"
#include "explain/gather.h"
#include "model/inventory.h"

static void describe_unread(struct shapeproof_check *check, struct shapeproof_cause *cause)
{
    const bool one = cause->explains == 1;
    cause->message = sp_arena_printf(&check->arena, "%s %s in the file, but cannot be read: %s (%s%s)",
                                     sp_tensors_of(check, cause), one ? "is" : "are", sp_names_of(check, cause),
                                     one ? "" : "the reason for the first: ", check->inventory->first_unread.message);
    cause->hint = "the file is damaged there: fetch it again, or write it again";
}

void sp_explain_unread(struct shapeproof_check *check)
{
    const struct shapeproof_inventory *inventory = check->inventory;
    struct shapeproof_cause *cause = NULL;
    if (!inventory->unread_names.count) return;
    size_t *finding_of = sp_check_missing(check);
    struct sp_finder finder = sp_predicted_finder(&check->naming, check->prediction);
    for (size_t i = 0; i < inventory->unread_names.count; i++) {
        unsigned renaming;
        const size_t predicted = sp_finder_find(&finder, inventory->unread_names.items[i], &renaming);
        const size_t finding = predicted == SHAPEPROOF_NONE ? SHAPEPROOF_NONE : finding_of[predicted];
        if (finding == SHAPEPROOF_NONE || check->findings[finding].cause != SHAPEPROOF_NONE) continue;
        if (!cause) cause = sp_blame(check, SP_CAUSE_UNREAD);
        sp_attribute_finding(check, finding, cause);
    }
    if (cause) describe_unread(check, cause);
    sp_finder_free(&finder);
    sp_free(finding_of);
}
