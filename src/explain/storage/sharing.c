/* SPDX-License-Identifier: MIT
 * Tensors of one storage that nothing ties, and elements of one tensor that share a place. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/budget.h"
#include "base/checked.h"
#include "base/order.h"
#include "check/ties.h"
#include "explain/causes.h"
#include "explain/gather.h"
#include "lang/prediction.h"
#include "model/inventory.h"
#include "model/layouts.h"

/* Buffers may be shared: they are not trained. */
static bool is_parameter(const struct shapeproof_check *check, size_t tensor)
{
    const size_t predicted = check->match.predicted_of[tensor];
    return predicted != SHAPEPROOF_NONE && !shapeproof_prediction_tensor(check->prediction, predicted)->buffer;
}

/* Whether the table ties the tensor to another one in the file. */
static bool is_tied_storage(const struct shapeproof_check *check, size_t tensor)
{
    const size_t predicted = check->match.predicted_of[tensor];
    for (size_t i = 0; i < check->prediction->odd_tie_count; i++) /* tied, and of another size besides */
        if (check->prediction->odd_ties[i].tensor == predicted) return true;
    return sp_match_partner(&check->match, predicted) != SHAPEPROOF_NONE;
}

/* "tie_word_embeddings is false in config.json", the hyper-parameter that would have tied one of the two; "nothing ties
 * them" where there is none. The cause gets the hyper-parameter. */
static const char *why_not(struct shapeproof_check *check, size_t tensor, size_t alike, struct shapeproof_cause *cause)
{
    const struct sp_condition *condition = sp_tie_condition(check, check->match.predicted_of[tensor]);
    if (!condition) condition = sp_tie_condition(check, check->match.predicted_of[alike]);
    if (!condition) return "nothing ties them";
    return sp_tie_said(check, condition, cause);
}

static void explain_shared(struct shapeproof_check *check)
{
    const size_t total = shapeproof_inventory_count(check->inventory);
    const char **names = sp_realloc(NULL, total, sizeof *names);
    struct shapeproof_cause cause = sp_cause_of(SP_CAUSE_SHARED);
    for (size_t i = 0; i < total; i++) {
        const size_t alike = shapeproof_inventory_tensor(check->inventory, i)->same_as;
        if (alike == SHAPEPROOF_NONE || !is_parameter(check, i) || !is_parameter(check, alike)) continue;
        if (is_tied_storage(check, i) || is_tied_storage(check, alike)) continue;
        names[cause.explains++] = shapeproof_inventory_tensor(check->inventory, i)->name;
        if (cause.explains == 1)
            cause.message = sp_arena_printf(&check->arena, "%s shares the storage of %s although %s", names[0],
                                            shapeproof_inventory_tensor(check->inventory, alike)->name,
                                            why_not(check, i, alike, &cause));
    }
    if (cause.explains > 1)
        cause.message = sp_arena_printf(&check->arena, "%s share their storage with others although nothing ties them",
                                        sp_some_names(&check->arena, names, cause.explains));
    if (cause.explains) sp_check_add_cause(check, cause);
    sp_free(names);
}

/* ---- overlaps ---- */

/* The bits of a storage from the first to the last one of a parameter. */
struct range {
    const struct shapeproof_tensor *tensor;
    size_t index; /* of the tensor */
    uint64_t begin, end;
};

/* For qsort: by storage, then by the first bit. */
static int compare_ranges(const void *left, const void *right)
{
    const struct range *a = left, *b = right;
    if (a->tensor->file != b->tensor->file) return a->tensor->file < b->tensor->file ? -1 : 1;
    const int storage = strcmp(a->tensor->storage, b->tensor->storage);
    if (storage) return storage;
    const int begin = sp_order(a->begin, b->begin);
    return begin ? begin : sp_order(a->index, b->index);
}

static bool is_of_one_storage(const struct range *a, const struct range *b)
{
    return a->tensor->file == b->tensor->file && strcmp(a->tensor->storage, b->tensor->storage) == 0;
}

static uint64_t bits_up_to(uint64_t element, unsigned bits)
{
    uint64_t place;
    return sp_mul_u64(element, bits, &place) ? place : UINT64_MAX;
}

/* Lists the parameters that have a range of a storage; returns how many. */
static size_t list_ranges(const struct shapeproof_check *check, struct range *ranges)
{
    size_t count = 0;
    for (size_t i = 0; i < shapeproof_inventory_count(check->inventory); i++) {
        const struct shapeproof_tensor *tensor = shapeproof_inventory_tensor(check->inventory, i);
        const unsigned bits = shapeproof_dtype_bits(tensor->dtype);
        const bool has_place = tensor->storage && tensor->parameters && bits && !tensor->piece &&
                               !(tensor->flags & SHAPEPROOF_TENSOR_NO_DATA);
        if (!has_place || !is_parameter(check, i)) continue;
        ranges[count++] = (struct range){.tensor = tensor,
                                         .index = i,
                                         .begin = bits_up_to(tensor->offset, bits),
                                         .end = bits_up_to(sp_tensor_reach(tensor), bits)};
    }
    return count;
}

/* Whether the table ties the two to each other or to a third one. */
static bool are_tied(const struct shapeproof_check *check, const struct range *a, const struct range *b)
{
    const size_t one = check->match.predicted_of[a->index], other = check->match.predicted_of[b->index];
    const size_t kept = sp_match_partner(&check->match, one), other_kept = sp_match_partner(&check->match, other);
    for (size_t i = 0; i < check->prediction->odd_tie_count; i++)
        if (check->prediction->odd_ties[i].tensor == one || check->prediction->odd_ties[i].tensor == other) return true;
    return kept == other || other_kept == one || (kept != SHAPEPROOF_NONE && kept == other_kept);
}

/* Whether both are the same place in the same order, which is another cause. */
static bool are_the_same(const struct range *a, const struct range *b)
{
    const size_t one = a->tensor->same_as == SHAPEPROOF_NONE ? a->index : a->tensor->same_as;
    return one == (b->tensor->same_as == SHAPEPROOF_NONE ? b->index : b->tensor->same_as);
}

/* The last of the active ranges that has elements in common with that one, and should not have any; or NULL. */
static const struct range *find_overlapped(const struct shapeproof_check *check, const struct range *range,
                                           const struct range *const *active, size_t count)
{
    for (size_t i = count; i-- > 0;) {
        sp_budget_spend(1);
        if (are_the_same(active[i], range) || are_tied(check, active[i], range)) continue;
        if (sp_tensors_overlap(active[i]->tensor, range->tensor)) return active[i];
    }
    return NULL;
}

/* A sweep over the ranges of each storage; active are those that reach behind the beginning of the one that it is at.
 */
static void explain_overlaps(struct shapeproof_check *check)
{
    const size_t total = shapeproof_inventory_count(check->inventory);
    struct range *ranges = sp_realloc(NULL, total, sizeof *ranges);
    const struct range **active = sp_realloc(NULL, total, sizeof *active), *first = NULL;
    const char **names = sp_realloc(NULL, total, sizeof *names);
    const size_t count = list_ranges(check, ranges);
    size_t found = 0, open = 0;
    if (count) qsort(ranges, count, sizeof *ranges, compare_ranges);
    for (size_t i = 0; i < count; i++) {
        size_t kept = 0;
        if (i && !is_of_one_storage(&ranges[i - 1], &ranges[i])) open = 0;
        for (size_t k = 0; k < open; k++)
            if (active[k]->end > ranges[i].begin) active[kept++] = active[k];
        sp_budget_spend(open);
        open = kept;
        const struct range *other = find_overlapped(check, &ranges[i], active, open);
        if (other) names[found++] = ranges[i].tensor->name;
        if (!first) first = other;
        active[open++] = &ranges[i];
    }
    if (found) {
        struct shapeproof_cause *cause = sp_blame(check, SP_CAUSE_OVERLAP);
        cause->explains = found;
        cause->message = found == 1 ? sp_arena_printf(&check->arena, "%s and %s have a part of one storage in common",
                                                      first->tensor->name, names[0])
                                    : sp_arena_printf(&check->arena,
                                                      "%s have a part of their storage in common with "
                                                      "others",
                                                      sp_some_names(&check->arena, names, found));
    }
    sp_free(names);
    sp_free(active);
    sp_free(ranges);
}

/* ---- elements at one place ---- */

static void explain_expanded(struct shapeproof_check *check)
{
    const size_t total = shapeproof_inventory_count(check->inventory);
    const char **names = sp_realloc(NULL, total, sizeof *names);
    const struct shapeproof_tensor *first = NULL;
    size_t count = 0;
    for (size_t i = 0; i < total; i++) {
        const struct shapeproof_tensor *tensor = shapeproof_inventory_tensor(check->inventory, i);
        if (!(tensor->flags & SHAPEPROOF_TENSOR_EXPANDED) || tensor->flags & SHAPEPROOF_TENSOR_NO_DATA) continue;
        if (!is_parameter(check, i)) continue;
        if (!count) first = tensor;
        names[count++] = tensor->name;
    }
    if (count) {
        struct shapeproof_cause *cause = sp_blame(check, SP_CAUSE_EXPANDED);
        const unsigned bits = shapeproof_dtype_bits(first->dtype);
        cause->explains = count;
        cause->message =
            count == 1 && bits
                ? sp_arena_printf(&check->arena, "%s has %" PRIu64 " elements at %" PRIu64 " places of its storage",
                                  first->name, first->parameters, first->bytes * 8 / bits)
                : sp_arena_printf(&check->arena, "%s have more elements than places in their storages",
                                  sp_some_names(&check->arena, names, count));
    }
    sp_free(names);
}

/* ---- all of them ---- */

void sp_explain_sharing(struct shapeproof_check *check)
{
    explain_shared(check);
    explain_overlaps(check);
    explain_expanded(check);
}
