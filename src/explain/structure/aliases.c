/* SPDX-License-Identifier: MIT
 * Tensors that the file lacks, and of which its metadata says that they are another: a writer dropped all but one of
 * the names of a storage, where the table ties nothing, or ties something else. */
#include <stdlib.h>
#include <string.h>

#include "check/ties.h"
#include "explain/gather.h"

static const char *kept_name(const struct shapeproof_check *check, size_t alias)
{
    return shapeproof_inventory_tensor(check->inventory, alias)->name;
}

static bool is_alias_finding(const struct shapeproof_check *check, const struct shapeproof_finding *finding,
                             const void *context)
{
    (void)context;
    if (finding->kind != SHAPEPROOF_FINDING_MISSING) return false;
    const size_t alias = sp_tie_alias(check, finding->predicted);
    return alias != SHAPEPROOF_NONE &&
           sp_same_shape(shapeproof_inventory_tensor(check->inventory, alias),
                         shapeproof_prediction_tensor(check->prediction, finding->predicted));
}

/* Missing ones: the metadata explains them when the other tensor has the shape. */
static void explain_missing(struct shapeproof_check *check)
{
    struct shapeproof_cause *cause = sp_gather(check, SP_CAUSE_ALIAS, is_alias_finding, NULL);
    if (!cause) return;
    if (cause->explains == 1)
        cause->message = sp_arena_printf(&check->arena, "%s is not stored: the file's metadata says that it is %s",
                                         sp_names_of(check, cause),
                                         kept_name(check, sp_tie_alias(check, sp_first_of(check, cause)->predicted)));
    else
        cause->message =
            sp_arena_printf(&check->arena, "%s are not stored: the file's metadata says to which tensors they are tied",
                            sp_names_of(check, cause));
}

/* Whether the tensor of the file is one of those that the predicted one is tied to. */
static bool is_of_tie(const struct shapeproof_check *check, size_t predicted, size_t tensor)
{
    const size_t other = check->match.predicted_of[tensor], kept = sp_match_partner(&check->match, predicted);
    return other != SHAPEPROOF_NONE && kept != SHAPEPROOF_NONE &&
           (other == kept || sp_match_partner(&check->match, other) == kept);
}

/* Tied ones that are absent: the metadata should name what the table names. */
static void explain_contradictions(struct shapeproof_check *check)
{
    for (size_t i = 0; i < check->finding_count; i++) {
        const struct shapeproof_finding *finding = &check->findings[i];
        if (finding->kind != SHAPEPROOF_FINDING_TIED_ABSENT) continue;
        const size_t alias = sp_tie_alias(check, finding->predicted);
        if (alias == SHAPEPROOF_NONE || is_of_tie(check, finding->predicted, alias)) continue;
        const size_t kept = sp_match_partner(&check->match, finding->predicted);
        if (kept == SHAPEPROOF_NONE) continue;
        struct shapeproof_cause cause = sp_cause_of(SP_CAUSE_ALIAS);
        cause.message = sp_arena_printf(
            &check->arena, "%s is %s according to the file's metadata, but tied to %s%s", finding->name,
            kept_name(check, alias), shapeproof_inventory_tensor(check->inventory, check->match.tensor_of[kept])->name,
            sp_tie_rule(check, sp_tie_condition_between(check, finding->predicted), &cause));
        sp_attribute_finding(check, i, sp_check_add_cause(check, cause));
    }
}

void sp_explain_aliases(struct shapeproof_check *check)
{
    if (!shapeproof_inventory_metadata_count(check->inventory)) return;
    explain_missing(check);
    explain_contradictions(check);
}
