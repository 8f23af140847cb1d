/* SPDX-License-Identifier: MIT */
#include "match/match.h"

#include <stdlib.h>
#include <string.h>

#include "base/budget.h"
#include "base/map.h"
#include "base/order.h"
#include "match/multi_token.h"
#include "model/format.h"

static size_t find_old(const void *old_names, const char *name) { return sp_map_get(old_names, name); }

/* The first tensor of the chain of ties that this one belongs to. */
static size_t tie_root(const struct shapeproof_prediction *prediction, size_t predicted)
{
    for (size_t steps = 0; steps < 64; steps++) {
        const size_t next = shapeproof_prediction_tensor(prediction, predicted)->same_as;
        if (next == SHAPEPROOF_NONE) break;
        predicted = next;
    }
    return predicted;
}

static void pair(struct sp_match *match, size_t tensor, size_t predicted, unsigned renaming)
{
    if (predicted == SHAPEPROOF_NONE || match->tensor_of[predicted] != SHAPEPROOF_NONE) return;
    match->predicted_of[tensor] = predicted;
    match->tensor_of[predicted] = tensor;
    match->renaming[tensor] = (unsigned char)renaming;
    match->paired++;
    match->renamed += renaming != 0;
}

void sp_match_unpair(struct sp_match *match, size_t predicted)
{
    const size_t tensor = match->tensor_of[predicted];
    match->paired--;
    match->renamed -= match->renaming[tensor] != 0;
    match->renaming[tensor] = 0;
    match->predicted_of[tensor] = match->tensor_of[predicted] = SHAPEPROOF_NONE;
}

/* Pairs what the finder finds for the tensors that are left. */
static void pair_found(struct sp_match *match, struct sp_finder finder, unsigned also)
{
    for (size_t i = 0; i < shapeproof_inventory_count(match->inventory); i++) {
        unsigned renaming;
        if (match->predicted_of[i] != SHAPEPROOF_NONE) continue;
        const size_t found = sp_finder_find(&finder, shapeproof_inventory_tensor(match->inventory, i)->name, &renaming);
        pair(match, i, found, renaming | also);
    }
    sp_finder_free(&finder);
}

static void pair_by_old_name(struct sp_match *match, const struct sp_naming *naming)
{
    struct sp_map olds = {0};
    for (size_t i = 0; i < shapeproof_prediction_count(match->prediction); i++) {
        const struct shapeproof_predicted *tensor = shapeproof_prediction_tensor(match->prediction, i);
        for (size_t k = 0; k < tensor->old_name_count; k++) sp_map_add(&olds, tensor->old_names[k], i);
    }
    if (olds.count)
        pair_found(match, (struct sp_finder){.naming = naming, .find = find_old, .context = &olds}, SP_OLD_NAME);
    sp_map_free(&olds);
}

/* Of each tie the first tensor that can stand for the others. Some rows of a tensor cannot stand for all of it.
 * llama.cpp makes the head of the embedding, and never the embedding of the head. */
static void find_kept(struct sp_match *match)
{
    const bool only_root = sp_format_has(match->inventory, SP_BY_LLAMA_CPP);
    for (size_t i = 0; i < shapeproof_prediction_count(match->prediction); i++) {
        const size_t root = tie_root(match->prediction, i);
        const bool rows = shapeproof_prediction_tensor(match->prediction, i)->rows_only;
        if (match->tensor_of[i] == SHAPEPROOF_NONE) continue;
        if (i == root || (match->tie_kept[root] == SHAPEPROOF_NONE && !rows && !only_root)) match->tie_kept[root] = i;
    }
}

size_t sp_match_partner(const struct sp_match *match, size_t predicted)
{
    const size_t kept = match->tie_kept[tie_root(match->prediction, predicted)];
    return kept == predicted ? SHAPEPROOF_NONE : kept;
}

bool sp_same_shape(const struct shapeproof_tensor *tensor, const struct shapeproof_predicted *predicted)
{
    if (tensor->flags & SHAPEPROOF_TENSOR_NO_SHAPE) return false;
    /* Quantisers write a scale of the whole matrix as () and as (1). */
    if (predicted->stands_for && predicted->parameters == 1 && tensor->parameters == 1) return true;
    return sp_same_dims(tensor->shape, tensor->rank, predicted->shape, predicted->rank);
}

static enum sp_difference difference_of(const struct sp_match *match, size_t predicted)
{
    const struct shapeproof_predicted *tensor = shapeproof_prediction_tensor(match->prediction, predicted);
    const size_t found = match->tensor_of[predicted];
    if (found == SHAPEPROOF_NONE) {
        if (tensor->optional) return SP_LEFT_OUT;
        if (sp_match_partner(match, predicted) != SHAPEPROOF_NONE) return SP_TIED_ABSENT;
        /* Of a tie that is absent as a whole, its first tensor alone is missing. */
        return tensor->same_as == SHAPEPROOF_NONE ? SP_MISSING : SP_TIED_ABSENT;
    }
    if (!sp_same_shape(shapeproof_inventory_tensor(match->inventory, found), tensor)) return SP_SHAPE;
    if (sp_match_partner(match, predicted) != SHAPEPROOF_NONE) return SP_TIED_PRESENT;
    return tensor->optional ? SP_OPTIONAL : SP_SAME;
}

static size_t *none_array(size_t count)
{
    size_t *array = sp_realloc(NULL, count, sizeof *array);
    for (size_t i = 0; i < count; i++) array[i] = SHAPEPROOF_NONE;
    return array;
}

void sp_match_begin(struct sp_match *match, const struct shapeproof_inventory *inventory,
                    const struct shapeproof_prediction *prediction)
{
    const size_t tensors = shapeproof_inventory_count(inventory), predicted = shapeproof_prediction_count(prediction);
    *match = (struct sp_match){.inventory = inventory, .prediction = prediction};
    sp_budget_spend(tensors + predicted);
    match->predicted_of = none_array(tensors);
    match->renaming = sp_realloc(NULL, tensors, sizeof *match->renaming);
    memset(match->renaming, 0, tensors);
    match->tensor_of = none_array(predicted);
    match->tie_kept = none_array(predicted);
    match->differs = sp_realloc(NULL, predicted, sizeof *match->differs);
    for (size_t i = 0; i < tensors; i++)
        pair(match, i, shapeproof_prediction_find(prediction, shapeproof_inventory_tensor(inventory, i)->name), 0);
}

void sp_match_rest(struct sp_match *match, const struct sp_naming *naming)
{
    pair_found(match, sp_predicted_finder(naming, match->prediction), 0);
    pair_by_old_name(match, naming);
    sp_match_drop_multi_token(match);
    find_kept(match);
    for (size_t i = 0; i < shapeproof_prediction_count(match->prediction); i++)
        match->differs[i] = (unsigned char)difference_of(match, i);
}

void sp_match_init(struct sp_match *match, const struct shapeproof_inventory *inventory,
                   const struct shapeproof_prediction *prediction, const struct sp_naming *naming)
{
    sp_match_begin(match, inventory, prediction);
    sp_match_rest(match, naming);
}

void sp_match_free(struct sp_match *match)
{
    sp_free(match->predicted_of);
    sp_free(match->renaming);
    sp_free(match->tensor_of);
    sp_free(match->tie_kept);
    sp_free(match->differs);
    *match = (struct sp_match){0};
}

/* The first tensor of the file that has the same storage, offset, shape and order of elements. */
static size_t first_alike(const struct sp_match *match, size_t predicted)
{
    const size_t tensor = match->tensor_of[predicted];
    const size_t first = shapeproof_inventory_tensor(match->inventory, tensor)->same_as;
    return first == SHAPEPROOF_NONE ? tensor : first;
}

/* Whether one is a view of the first rows of the other. */
static bool is_first_rows(const struct shapeproof_tensor *rows, const struct shapeproof_tensor *whole)
{
    if (!rows->storage || !whole->storage || rows->file != whole->file || strcmp(rows->storage, whole->storage) != 0)
        return false;
    if (rows->offset != whole->offset || rows->rank != whole->rank || !rows->rank) return false;
    for (uint32_t i = 0; i < rows->rank; i++) {
        if (i ? rows->shape[i] != whole->shape[i] : rows->shape[i] > whole->shape[i]) return false;
        if (!rows->stride != !whole->stride || (rows->stride && rows->stride[i] != whole->stride[i])) return false;
    }
    return true;
}

bool sp_match_shares(const struct sp_match *match, size_t predicted, size_t partner)
{
    if (first_alike(match, predicted) == first_alike(match, partner)) return true;
    return is_first_rows(shapeproof_inventory_tensor(match->inventory, match->tensor_of[predicted]),
                         shapeproof_inventory_tensor(match->inventory, match->tensor_of[partner]));
}

enum sp_difference sp_match_tensor(const struct sp_match *match, size_t tensor)
{
    if (match->predicted_of[tensor] != SHAPEPROOF_NONE) return sp_match_predicted(match, match->predicted_of[tensor]);
    return shapeproof_inventory_tensor(match->inventory, tensor)->flags & SHAPEPROOF_TENSOR_STATE ? SP_STATE
                                                                                                  : SP_UNEXPECTED;
}

size_t sp_match_errors(const struct sp_match *match)
{
    size_t errors = 0;
    for (size_t i = 0; i < shapeproof_prediction_count(match->prediction); i++)
        errors += sp_is_error(sp_match_predicted(match, i));
    for (size_t i = 0; i < shapeproof_inventory_count(match->inventory); i++)
        errors += match->predicted_of[i] == SHAPEPROOF_NONE && sp_match_tensor(match, i) == SP_UNEXPECTED;
    return errors;
}

void sp_match_init_best(struct sp_match *match, const struct shapeproof_inventory *inventory,
                        const struct shapeproof_prediction *prediction, bool *plain)
{
    struct sp_arena arena = {0};
    sp_match_begin(match, inventory, prediction);
    const struct sp_naming naming = sp_naming_infer(&arena, match);
    sp_match_rest(match, &naming);
    *plain = sp_naming_is_plain(&naming);
    sp_arena_free(&arena);
}

size_t sp_match_best_errors(const struct shapeproof_inventory *inventory,
                            const struct shapeproof_prediction *prediction)
{
    struct sp_match match;
    bool plain;
    sp_match_init_best(&match, inventory, prediction, &plain);
    const size_t errors = sp_match_errors(&match);
    sp_match_free(&match);
    return errors;
}
