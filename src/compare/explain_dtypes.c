/* SPDX-License-Identifier: MIT
 * Dtypes that stand out. Tables seldom say a dtype, so the file is its own measure: tensors that differ in their
 * indices alone should have one dtype, and a single tensor should not differ from a file that is uniform otherwise. */
#include <stdlib.h>
#include <string.h>

#include "compare/check.h"

/* How many tensors have which dtype. */
struct tally {
    size_t by_dtype[SP_DTYPE_COUNT], total;
};

struct dtypes {
    struct sp_patterns patterns;
    size_t *pattern_of;  /* for each tensor that counts */
    struct tally *kinds; /* for each pattern */
    struct tally whole;
};

/* A parameter whose dtype is for the file to say. */
static bool counts(const struct sp_check *check, size_t tensor)
{
    const size_t predicted = check->match.predicted_of[tensor];
    if (predicted == SP_NONE) return false;
    const struct sp_predicted *expected = sp_prediction_tensor(check->prediction, predicted);
    return !expected->buffer && expected->dtype == SP_DTYPE_UNKNOWN;
}

static enum sp_dtype dtype_of(const struct sp_check *check, size_t tensor)
{
    return sp_inventory_tensor(check->inventory, tensor)->dtype;
}

static void add(struct tally *tally, enum sp_dtype dtype)
{
    tally->by_dtype[dtype]++;
    tally->total++;
}

static enum sp_dtype most_common(const struct tally *tally)
{
    enum sp_dtype best = SP_DTYPE_UNKNOWN;
    for (int i = 0; i < SP_DTYPE_COUNT; i++)
        if (tally->by_dtype[i] > tally->by_dtype[best]) best = (enum sp_dtype)i;
    return best;
}

static void dtype_finding(struct sp_check *check, size_t tensor, enum sp_dtype expected, const char *who)
{
    const struct sp_tensor *found = sp_inventory_tensor(check->inventory, tensor);
    sp_check_add_finding(
        check, (struct sp_finding){.id = "dtype",
                                   .severity = SP_SEVERITY_ERROR,
                                   .name = found->name,
                                   .expected = sp_dtype_name(expected),
                                   .found = found->dtype_name,
                                   .tensor = tensor,
                                   .predicted = check->match.predicted_of[tensor],
                                   .message = sp_arena_printf(&check->arena, "has dtype %s where %s %s",
                                                              found->dtype_name, who, sp_dtype_name(expected))});
}

/* What the table itself says of a dtype. */
static void judge_declared(struct sp_check *check)
{
    for (size_t i = 0; i < sp_prediction_count(check->prediction); i++) {
        const enum sp_dtype declared = sp_prediction_tensor(check->prediction, i)->dtype;
        const size_t tensor = check->match.tensor_of[i];
        if (declared != SP_DTYPE_UNKNOWN && tensor != SP_NONE && dtype_of(check, tensor) != declared)
            dtype_finding(check, tensor, declared, "the table has");
    }
}

static void tally_kinds(const struct sp_check *check, struct dtypes *dtypes)
{
    const size_t count = sp_inventory_count(check->inventory);
    dtypes->pattern_of = sp_realloc(NULL, count, sizeof *dtypes->pattern_of);
    for (size_t i = 0; i < count; i++)
        if (counts(check, i))
            dtypes->pattern_of[i] =
                sp_pattern_of(&dtypes->patterns, sp_inventory_tensor(check->inventory, i)->name, NULL);
    dtypes->kinds = sp_realloc(NULL, dtypes->patterns.count, sizeof *dtypes->kinds);
    memset(dtypes->kinds, 0, dtypes->patterns.count * sizeof *dtypes->kinds);
    for (size_t i = 0; i < count; i++)
        if (counts(check, i)) add(&dtypes->kinds[dtypes->pattern_of[i]], dtype_of(check, i));
}

static void judge(struct sp_check *check, const struct dtypes *dtypes, size_t tensor)
{
    const struct tally *kind = &dtypes->kinds[dtypes->pattern_of[tensor]], *whole = &dtypes->whole;
    const enum sp_dtype dtype = dtype_of(check, tensor), usual = most_common(kind), everywhere = most_common(whole);
    if (kind->by_dtype[usual] > kind->by_dtype[dtype]) dtype_finding(check, tensor, usual, "others of its kind have");
    else if (whole->total >= 3 && dtype != everywhere && whole->by_dtype[everywhere] == whole->total - 1)
        dtype_finding(check, tensor, everywhere, "all others have");
}

void sp_explain_dtypes(struct sp_check *check)
{
    struct dtypes dtypes = {0};
    const size_t count = sp_inventory_count(check->inventory);
    judge_declared(check);
    for (size_t i = 0; i < count; i++)
        if (counts(check, i)) add(&dtypes.whole, dtype_of(check, i));
    if (dtypes.whole.by_dtype[most_common(&dtypes.whole)] == dtypes.whole.total) return; /* as nearly all files are */
    tally_kinds(check, &dtypes);
    for (size_t i = 0; i < count; i++)
        if (counts(check, i)) judge(check, &dtypes, i);
    sp_patterns_free(&dtypes.patterns);
    free(dtypes.pattern_of);
    free(dtypes.kinds);
}
