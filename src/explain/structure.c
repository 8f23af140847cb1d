/* SPDX-License-Identifier: MIT
 * Causes that gather all open findings of one look: a file of something else, matrices stored the other way round. */
#include <stdlib.h>
#include <string.h>

#include "check/check.h"
#include "model/layouts.h"

typedef bool look(const struct sp_check *check, const struct sp_finding *finding);

static bool is_wanted(const struct sp_check *check, size_t finding, look *wanted)
{
    return sp_finding_is_open(&check->findings[finding]) && wanted(check, &check->findings[finding]);
}

/* Explains all findings of that look with one cause, when there are at least `least`. The message is `says` with their
 * names and number behind it. Returns the cause, or SP_NONE. */
static size_t gather(struct sp_check *check, const char *id, look *wanted, size_t least, const char *says)
{
    size_t count = 0;
    for (size_t i = 0; i < check->finding_count; i++) count += is_wanted(check, i, wanted);
    if (!count || count < least) return SP_NONE;
    const size_t cause = sp_check_add_cause(check, (struct sp_cause){.id = id, .severity = SP_SEVERITY_ERROR});
    for (size_t i = 0; i < check->finding_count; i++)
        if (is_wanted(check, i, wanted)) sp_check_explain(check, i, cause);
    check->causes[cause].message =
        sp_arena_printf(&check->arena, "%s: %s (%s)", says, sp_check_names(check, sp_explained_by, &cause),
                        sp_count_of(&check->arena, count, "tensor"));
    return cause;
}

/* ---- a file of something else ---- */

static bool is_any(const struct sp_check *check, const struct sp_finding *finding)
{
    (void)check;
    (void)finding;
    return true;
}

/* Whether a tensor that is missing was found all the same, under another name or in another layout. */
static bool is_any_found(const struct sp_check *check)
{
    for (size_t i = 0; i < check->finding_count; i++) {
        const struct sp_finding *finding = &check->findings[i];
        if (finding->kind == SP_FINDING_MISSING && finding->cause != SP_NONE &&
            check->causes[finding->cause].severity != SP_SEVERITY_NOTE)
            return true;
    }
    return false;
}

/* Not one predicted tensor is there. */
void sp_explain_unrelated(struct sp_check *check)
{
    for (size_t i = 0; i < sp_inventory_count(check->inventory); i++)
        if (check->match.predicted_of[i] != SP_NONE) return;
    if (is_any_found(check)) return;
    const size_t cause = gather(check, "unrelated", is_any, 1, "");
    if (cause == SP_NONE) return;
    check->causes[cause].message =
        sp_inventory_count(check->inventory)
            ? sp_arena_printf(&check->arena, "no tensor of the file is one that the table %s predicts",
                              sp_prediction_table(check->prediction))
            : "the file holds no tensors";
}

/* ---- transposed matrices ---- */

static bool is_transposed(const struct sp_check *check, const struct sp_finding *finding)
{
    if (finding->kind != SP_FINDING_SHAPE) return false;
    const struct sp_tensor *tensor = sp_inventory_tensor(check->inventory, finding->tensor);
    const struct sp_predicted *expected = sp_prediction_tensor(check->prediction, finding->predicted);
    return tensor->rank == expected->rank && sp_is_transposed(tensor->shape, expected->shape, tensor->rank);
}

void sp_explain_transposed(struct sp_check *check)
{
    const size_t cause = gather(check, "transposed", is_transposed, 1, "stored transposed");
    if (cause == SP_NONE || check->causes[cause].explains > 1) return;
    for (size_t i = 0; i < check->finding_count; i++)
        if (check->findings[i].cause == cause)
            check->causes[cause].message = sp_arena_printf(&check->arena, "%s is stored transposed: %s",
                                                           check->findings[i].name, check->findings[i].message);
}

/* ---- dimensions of 1 ---- */

static bool has_other_ones(const struct sp_check *check, const struct sp_finding *finding)
{
    if (finding->kind != SP_FINDING_SHAPE) return false;
    const struct sp_tensor *tensor = sp_inventory_tensor(check->inventory, finding->tensor);
    const struct sp_predicted *expected = sp_prediction_tensor(check->prediction, finding->predicted);
    return !(tensor->flags & SP_TENSOR_NO_SHAPE) &&
           sp_differs_in_ones(tensor->shape, tensor->rank, expected->shape, expected->rank);
}

void sp_explain_ones(struct sp_check *check)
{
    const size_t cause = gather(check, "squeezed", has_other_ones, 1, "the same but for dimensions of 1");
    if (cause != SP_NONE) check->causes[cause].severity = SP_SEVERITY_WARNING;
}
