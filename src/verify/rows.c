/* SPDX-License-Identifier: MIT
 * What a file stores of the rows of a table: what the table predicts of them, changed by each tensor that deviates.
 *
 *     elements(h.{i}.attn.c_attn.bias)   predicted 96; h.{0-1}.attn.c_attn.bias are missing, -96: stored 0
 *     count(h.{i}.ln_1.weight)           predicted 2; h.2.ln_1.weight is not predicted, +1: stored 3
 *     dim(wte.weight, 0)                 predicted 64; wte.weight has another shape, (80, 16): stored 80 */
#include <string.h>

#include "prove/rows.h"
#include "verify/verify.h"

/* Whether the name of a claim, as a pattern, means the deviant: its row, or it itself where it is of no row. */
static bool means(struct sp_arena *scratch, const char *pattern, const struct shapeproof_verification *verification,
                  const struct sp_deviant *deviant)
{
    if (deviant->row) return sp_row_matches(scratch, pattern, deviant->row);
    const char *name = deviant->tensor == SHAPEPROOF_NONE
                           ? shapeproof_prediction_tensor(verification->prediction, deviant->predicted)->name
                           : shapeproof_inventory_tensor(verification->inventory, deviant->tensor)->name;
    return sp_row_matches(scratch, pattern, &(struct sp_row_count){.name = name});
}

/* The deviants that a name means, and what they change. */
struct change {
    size_t meant, not_meant; /* of one deviation */
    int64_t tensors;         /* stored less predicted */
    int64_t parameters;
    size_t shapes;     /* of tensors whose shape is another one */
    int64_t dimension; /* of these, where it is the same in all; else -1 */
    size_t strangers;  /* tensors that no row predicts */
};

static void add_deviant(struct change *change, const struct shapeproof_verification *verification,
                        enum shapeproof_deviation_kind kind, const struct sp_deviant *deviant, int64_t index)
{
    change->meant++;
    change->parameters += deviant->parameters;
    if (kind == SHAPEPROOF_DEVIATION_MISSING) change->tensors--;
    else if (kind != SHAPEPROOF_DEVIATION_SHAPE) change->tensors++, change->strangers++;
    else {
        const struct shapeproof_tensor *tensor = shapeproof_inventory_tensor(verification->inventory, deviant->tensor);
        const int64_t size = index >= 0 && index < (int64_t)tensor->rank ? (int64_t)tensor->shape[index] : -1;
        change->dimension = change->shapes && change->dimension != size ? -1 : size;
        change->shapes++;
    }
}

/* How many tensors of the table the name of the expression means. */
static int64_t tensors_meant(struct shapeproof_verification *verification, const struct sp_expr *expr)
{
    const struct sp_expr count = {.kind = SP_EXPR_TENSORS, .name = "count", .value = expr->value};
    struct sp_rational number = {0, 1};
    const char *why;
    const struct sp_poly *poly = sp_count_of_rows(&verification->configured.settled, &count, -1, &why);
    return poly && sp_poly_is_constant(poly, &number) ? number.num : 0;
}

/* The dimension that all tensors have that the name means, of which there are `count`; in *value is that of the table.
 * False with *why when they differ, or it cannot be told. */
static bool changed_dimension(const struct change *change, int64_t count, int64_t *value, const char **why)
{
    *why = "the file has tensors of that name that the table does not have";
    if (change->strangers) return false;
    if (!change->shapes || change->dimension == *value) return true;
    *why = "these tensors differ in that dimension";
    if (change->dimension < 0 || (int64_t)change->shapes < count + change->tensors) return false;
    *value = change->dimension;
    return true;
}

bool sp_verify_rows(const void *context, const struct sp_expr *expr, int64_t index, int64_t *value, const char **why)
{
    const struct sp_deviating *deviating = context;
    struct shapeproof_verification *verification = deviating->verification;
    const struct sp_deviations *all = &verification->deviations;
    struct sp_arena scratch = {0};
    struct change change = {.meant = 0};
    const char *pattern = sp_pattern_of_claimed_name(&scratch, expr->value.string);
    for (size_t i = 0; i < all->count; i++) {
        const struct sp_deviation *deviation = &all->items[i];
        for (size_t k = 0; k < deviation->tensors.count; k++) {
            if (deviating->only && deviating->only != deviation) break;
            const struct sp_deviant *deviant = &deviation->tensors.items[k];
            if (means(&scratch, pattern, verification, deviant))
                add_deviant(&change, verification, deviation->kind, deviant, index);
            else change.not_meant++;
        }
    }
    sp_arena_free(&scratch);
    *why = "the tensors of one deviation are no term of it";
    if (deviating->only && change.meant && (change.not_meant || strcmp(expr->name, "elements") != 0)) return false;
    if (strcmp(expr->name, "dim") == 0)
        return changed_dimension(&change, tensors_meant(verification, expr), value, why);
    *value += strcmp(expr->name, "count") == 0 ? change.tensors : change.parameters;
    return true;
}
