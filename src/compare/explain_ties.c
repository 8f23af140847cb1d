/* SPDX-License-Identifier: MIT
 * Tied tensors that are stored all the same, and whether the file shares their storage. */
#include <string.h>

#include "compare/check.h"
#include "lang/prediction.h"

/* The hyper-parameter, or expression, that ties the tensor; NULL when it is always tied. */
static const char *tie_condition(struct sp_check *check, size_t predicted)
{
    const struct sp_origin *origin = &check->prediction->origins[predicted];
    const struct sp_env env = {.frame = origin->frame, .section = origin->section};
    struct sp_text text = {0};
    if (!origin->row->tie_condition) return NULL;
    sp_describe(&text, &env, origin->row->tie_condition);
    const char *kept = sp_arena_copy(&check->arena, text.data, text.length);
    sp_text_free(&text);
    return kept;
}

static size_t storage_of(const struct sp_inventory *inventory, size_t tensor)
{
    const size_t first = sp_inventory_tensor(inventory, tensor)->same_as;
    return first == SP_NONE ? tensor : first;
}

static bool shares_storage(const struct sp_check *check, const struct sp_finding *finding)
{
    const size_t partner = check->match.tensor_of[sp_prediction_tensor(check->prediction, finding->predicted)->same_as];
    return storage_of(check->inventory, finding->tensor) == storage_of(check->inventory, partner);
}

static struct sp_cause copy_cause(struct sp_check *check, const struct sp_finding *finding)
{
    const char *partner =
        sp_prediction_tensor(check->prediction, sp_prediction_tensor(check->prediction, finding->predicted)->same_as)
            ->name;
    const char *key = tie_condition(check, finding->predicted);
    const char *why = key ? sp_arena_printf(&check->arena, " (%s)", key) : "";
    struct sp_cause cause = {.severity = SP_SEVERITY_NOTE, .hyperparameter = key};
    if (shares_storage(check, finding)) {
        cause.id = "tied";
        cause.message = sp_arena_printf(&check->arena, "%s and %s share one storage, as they should%s", finding->name,
                                        partner, why);
        return cause;
    }
    cause.id = "tied-copy";
    cause.severity = SP_SEVERITY_WARNING;
    cause.message = sp_arena_printf(&check->arena, "%s is stored although it is tied to %s%s: loaders ignore this copy",
                                    finding->name, partner, why);
    return cause;
}

void sp_explain_ties(struct sp_check *check)
{
    for (size_t i = 0; i < check->finding_count; i++)
        if (strcmp(check->findings[i].id, "tied-present") == 0)
            sp_check_explain(check, i, sp_check_add_cause(check, copy_cause(check, &check->findings[i])));
}
