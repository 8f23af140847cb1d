/* SPDX-License-Identifier: MIT
 * Dtypes that stand out. Tables seldom say a dtype, so the file is its own measure: tensors that differ in their
 * indices alone should have one dtype, and a single tensor should not differ from a file that is uniform otherwise. */
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "compare/check.h"
#include "compare/collapse.h"

/* The tensors of one name pattern, counted by dtype. */
struct kind {
    const char *pattern;
    size_t by_dtype[SP_DTYPE_COUNT];
    size_t count;
};

struct kinds {
    struct sp_map map;
    struct kind *items;
    size_t count, capacity;
    size_t by_dtype[SP_DTYPE_COUNT]; /* of the whole file, parameters alone */
    size_t total;
};

static bool is_counted(const struct sp_check *check, size_t tensor)
{
    const size_t predicted = check->match.predicted_of[tensor];
    if (predicted == SP_NONE) return false;
    const struct sp_predicted *expected = sp_prediction_tensor(check->prediction, predicted);
    return !expected->buffer && expected->dtype == SP_DTYPE_UNKNOWN;
}

static struct kind *kind_of(struct sp_check *check, struct kinds *kinds, size_t tensor)
{
    const char *pattern = sp_name_pattern(&check->arena, sp_inventory_tensor(check->inventory, tensor)->name);
    size_t place = sp_map_get(&kinds->map, pattern);
    if (place == SIZE_MAX) {
        place = kinds->count;
        SP_GROW(kinds->items, kinds->count, kinds->capacity);
        kinds->items[kinds->count++] = (struct kind){.pattern = pattern};
        sp_map_add(&kinds->map, pattern, place);
    }
    return &kinds->items[place];
}

static enum sp_dtype most_common(const size_t *by_dtype)
{
    enum sp_dtype best = SP_DTYPE_UNKNOWN;
    for (int i = 0; i < SP_DTYPE_COUNT; i++)
        if (by_dtype[i] > by_dtype[best]) best = (enum sp_dtype)i;
    return best;
}

static void dtype_finding(struct sp_check *check, size_t tensor, enum sp_dtype expected, const char *among)
{
    const struct sp_tensor *found = sp_inventory_tensor(check->inventory, tensor);
    SP_GROW(check->findings, check->finding_count, check->finding_capacity);
    check->findings[check->finding_count++] =
        (struct sp_finding){.id = "dtype",
                            .severity = SP_SEVERITY_ERROR,
                            .name = found->name,
                            .expected = sp_dtype_name(expected),
                            .found = found->dtype_name,
                            .tensor = tensor,
                            .predicted = check->match.predicted_of[tensor],
                            .cause = SP_NONE,
                            .message = sp_arena_printf(&check->arena, "has dtype %s, %s %s", found->dtype_name, among,
                                                       sp_dtype_name(expected))};
}

static void judge(struct sp_check *check, struct kinds *kinds, size_t tensor)
{
    const enum sp_dtype dtype = sp_inventory_tensor(check->inventory, tensor)->dtype;
    const size_t predicted = check->match.predicted_of[tensor];
    const enum sp_dtype declared =
        predicted == SP_NONE ? SP_DTYPE_UNKNOWN : sp_prediction_tensor(check->prediction, predicted)->dtype;
    if (declared != SP_DTYPE_UNKNOWN && declared != dtype) dtype_finding(check, tensor, declared, "the table says");
    if (!is_counted(check, tensor)) return;
    const struct kind *kind = kind_of(check, kinds, tensor);
    const enum sp_dtype usual = most_common(kind->by_dtype), whole = most_common(kinds->by_dtype);
    if (dtype != usual && kind->by_dtype[usual] > kind->by_dtype[dtype])
        dtype_finding(check, tensor, usual, "and its like have");
    else if (kind->count == 1 && dtype != whole && kinds->total >= 3 && kinds->by_dtype[whole] == kinds->total - 1)
        dtype_finding(check, tensor, whole, "and all others have");
}

void sp_explain_dtypes(struct sp_check *check)
{
    struct kinds kinds = {0};
    const size_t count = sp_inventory_count(check->inventory);
    for (size_t i = 0; i < count; i++) {
        if (!is_counted(check, i)) continue;
        const enum sp_dtype dtype = sp_inventory_tensor(check->inventory, i)->dtype;
        struct kind *kind = kind_of(check, &kinds, i);
        kind->by_dtype[dtype]++;
        kind->count++;
        kinds.by_dtype[dtype]++;
        kinds.total++;
    }
    for (size_t i = 0; i < count; i++) judge(check, &kinds, i);
    sp_map_free(&kinds.map);
    free(kinds.items);
}
