/* SPDX-License-Identifier: MIT
 * What a file stores of each group of a table. Tensors that are tied are a class: the storage of one of them counts in
 * the group of the tensor that the others are tied to, whichever of their names it has; a second storage counts in the
 * group of its own name, and deviates. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "verify/verify.h"

/* Tensors that do not count. */
struct left_out {
    uint64_t tensors, elements;
};

/* One pass over a check. */
struct tally {
    struct shapeproof_verification *verification;
    const struct shapeproof_check *check;
    enum sp_share *shares; /* heap, by tensor of the file: what it is */
    size_t *kept; /* heap, by predicted tensor: one that is stored, itself, or for the first of a class another one of
                   * it; SHAPEPROOF_NONE: there is none */
    int64_t *stored; /* heap, by group: parameters; the last is what is not predicted */
    struct left_out optional, buffers, state;
};

/* The first of the tensors that a predicted one is tied to; itself when it is tied to none. All that are tied to one
 * are its class. */
static size_t class_of(const struct shapeproof_prediction *prediction, size_t predicted)
{
    const struct shapeproof_predicted *tensor = shapeproof_prediction_tensor(prediction, predicted);
    for (size_t steps = shapeproof_prediction_count(prediction); tensor->same_as != SHAPEPROOF_NONE && steps; steps--) {
        predicted = tensor->same_as;
        tensor = shapeproof_prediction_tensor(prediction, predicted);
    }
    return predicted;
}

/* The first tensor of the file that has the same storage. */
static size_t storage_of(const struct shapeproof_check *check, size_t tensor)
{
    const size_t same = shapeproof_inventory_tensor(check->inventory, tensor)->same_as;
    return same == SHAPEPROOF_NONE ? tensor : same;
}

size_t shapeproof_stored_group_of(const struct shapeproof_check *check, size_t tensor)
{
    const size_t predicted = check->match.predicted_of[tensor];
    if (predicted == SHAPEPROOF_NONE) return SHAPEPROOF_NONE;
    const size_t class = class_of(check->prediction, predicted), first = check->match.tensor_of[class];
    const bool is_own = first != SHAPEPROOF_NONE && storage_of(check, first) != storage_of(check, tensor);
    return shapeproof_prediction_tensor(check->prediction, is_own ? predicted : class)->group;
}

/* Finds what is stored of each predicted tensor. Where the first of a class is not stored, the next one of it is kept
 * in its place. */
static void find_kept(struct tally *tally)
{
    const struct shapeproof_prediction *prediction = tally->check->prediction;
    const size_t count = shapeproof_prediction_count(prediction);
    for (size_t i = 0; i < count; i++) tally->kept[i] = sp_is_stored(tally->check, i) ? i : SHAPEPROOF_NONE;
    for (size_t i = 0; i < count; i++) {
        const size_t class = class_of(prediction, i);
        if (class != i && tally->kept[i] == i && tally->kept[class] == SHAPEPROOF_NONE) tally->kept[class] = i;
    }
}

/* Adds a tensor to the deviation of that kind and group. */
static void deviate(struct tally *tally, enum shapeproof_deviation_kind kind, size_t group, struct sp_deviant deviant)
{
    struct sp_deviations *all = &tally->verification->deviations;
    size_t i = 0;
    while (i < all->count && (all->items[i].kind != kind || all->items[i].group != group)) i++;
    if (i == all->count) *SP_PUSH(all) = (struct sp_deviation){.kind = kind, .group = group};
    *SP_PUSH(&all->items[i].tensors) = deviant;
}

/* Counts a tensor of the file as left out, unless it shares its storage with an earlier one. */
static void leave_out(const struct tally *tally, struct left_out *into, size_t tensor)
{
    const struct shapeproof_tensor *info = shapeproof_inventory_tensor(tally->check->inventory, tensor);
    if (info->same_as != SHAPEPROOF_NONE) return;
    into->tensors++;
    into->elements += info->parameters;
}

/* Counts a tensor that is tied to no other, or that others are tied to: by what is stored of its class. */
static void add_class(struct tally *tally, size_t predicted)
{
    const struct shapeproof_predicted *info = shapeproof_prediction_tensor(tally->check->prediction, predicted);
    const int64_t promised = (int64_t)info->logical;
    if (tally->kept[predicted] == SHAPEPROOF_NONE) {
        deviate(tally, SHAPEPROOF_DEVIATION_MISSING, info->group,
                (struct sp_deviant){SHAPEPROOF_NONE, predicted, -promised, NULL});
        return;
    }
    const size_t tensor = tally->check->match.tensor_of[tally->kept[predicted]];
    const int64_t found = (int64_t)sp_parameters_in(tally->check, tensor);
    tally->stored[info->group] += found;
    if (found != promised)
        deviate(tally, SHAPEPROOF_DEVIATION_SHAPE, info->group,
                (struct sp_deviant){tensor, predicted, found - promised, NULL});
}

/* Counts a tensor that is tied to another, and is in the file. It counts when it has a storage of its own beside that
 * of its class, and deviates then. */
static void add_tied(struct tally *tally, size_t predicted, size_t class)
{
    const struct shapeproof_predicted *info = shapeproof_prediction_tensor(tally->check->prediction, predicted);
    const size_t tensor = tally->check->match.tensor_of[predicted], kept = tally->kept[class];
    const int64_t found = (int64_t)sp_parameters_in(tally->check, tensor);
    if (kept == predicted) return; /* add_class counts it */
    if (storage_of(tally->check, tensor) == storage_of(tally->check, tally->check->match.tensor_of[kept])) return;
    tally->stored[info->group] += found;
    deviate(tally, SHAPEPROOF_DEVIATION_TIED, info->group, (struct sp_deviant){tensor, predicted, found, NULL});
}

/* Counts a predicted tensor; optional ones and buffers are left out. */
static void add_predicted(struct tally *tally, size_t predicted)
{
    const struct shapeproof_predicted *info = shapeproof_prediction_tensor(tally->check->prediction, predicted);
    const size_t tensor = tally->check->match.tensor_of[predicted];
    const size_t class = class_of(tally->check->prediction, predicted);
    if (info->buffer || info->optional) {
        if (tensor != SHAPEPROOF_NONE) leave_out(tally, info->buffer ? &tally->buffers : &tally->optional, tensor);
    } else if (class == predicted) add_class(tally, predicted);
    else if (tensor != SHAPEPROOF_NONE) add_tied(tally, predicted, class);
}

/* Counts a tensor of the file that is not predicted; a trainer's and buffers are left out. */
static void add_unpredicted(struct tally *tally, size_t tensor)
{
    const struct shapeproof_tensor *info = shapeproof_inventory_tensor(tally->check->inventory, tensor);
    const enum sp_share share = tally->shares[tensor];
    if (share == SP_SHARE_STATE) leave_out(tally, &tally->state, tensor);
    else if (share == SP_SHARE_BUFFER) leave_out(tally, &tally->buffers, tensor);
    else if (info->same_as == SHAPEPROOF_NONE) {
        tally->stored[shapeproof_prediction_group_count(tally->check->prediction)] += (int64_t)info->parameters;
        deviate(tally, SHAPEPROOF_DEVIATION_UNPREDICTED, SHAPEPROOF_NONE,
                (struct sp_deviant){tensor, SHAPEPROOF_NONE, (int64_t)info->parameters, NULL});
    }
}

/* Lists what was left out of one kind, if anything was. */
static void say_uncounted(struct shapeproof_verification *verification, const char *what, struct left_out left_out)
{
    if (left_out.tensors)
        verification->uncounted[verification->uncounted_count++] =
            (struct shapeproof_uncounted){what, left_out.tensors, left_out.elements};
}

/* Hands the sums over: of each group, and in total with what is not predicted. */
static void keep_sums(struct tally *tally)
{
    struct shapeproof_verification *verification = tally->verification;
    const struct shapeproof_prediction *prediction = tally->check->prediction;
    const size_t count = shapeproof_prediction_group_count(prediction);
    struct sp_group_sum *sums = sp_arena_array(&verification->arena, count, sizeof *sums);
    const uint64_t bytes = shapeproof_inventory_totals(tally->check->inventory)->bytes;
    verification->deviating = (struct sp_deviating){.verification = verification};
    verification->sums = (struct sp_group_sums){.items = sums,
                                                .count = count,
                                                .total = tally->stored[count],
                                                .bytes = bytes <= INT64_MAX ? (int64_t)bytes : INT64_MAX,
                                                .rows = sp_verify_rows,
                                                .context = &verification->deviating};
    for (size_t i = 0; i < count; i++) {
        sums[i] = (struct sp_group_sum){shapeproof_prediction_group(prediction, i)->name, tally->stored[i]};
        verification->sums.total += tally->stored[i];
    }
}

/* Counts every predicted tensor, then every tensor of the file that is not predicted. */
bool sp_verify_groups(struct shapeproof_verification *verification, struct shapeproof_error *error)
{
    const struct shapeproof_check *check = verification->check;
    const size_t predicted = shapeproof_prediction_count(check->prediction);
    const size_t tensors = shapeproof_inventory_count(check->inventory);
    const size_t groups = shapeproof_prediction_group_count(check->prediction);
    const uint64_t most = INT64_MAX / 4; /* so that no sum or difference of a few overflows */
    struct tally tally = {.verification = verification, .check = check};
    if (shapeproof_prediction_totals(check->prediction)->parameters > most ||
        shapeproof_inventory_totals(check->inventory)->parameters > most || check->counts.logical > most)
        return sp_fail(error, SHAPEPROOF_ERR_FILE, SHAPEPROOF_KIND_NONE, "more parameters than claims can count");
    tally.shares = sp_shares(check);
    tally.kept = sp_realloc(NULL, predicted, sizeof *tally.kept);
    tally.stored = sp_realloc(NULL, groups + 1, sizeof *tally.stored);
    memset(tally.stored, 0, (groups + 1) * sizeof *tally.stored);
    find_kept(&tally);
    for (size_t i = 0; i < predicted; i++) add_predicted(&tally, i);
    for (size_t i = 0; i < tensors; i++)
        if (check->match.predicted_of[i] == SHAPEPROOF_NONE) add_unpredicted(&tally, i);
    keep_sums(&tally);
    say_uncounted(verification, "optional", tally.optional);
    say_uncounted(verification, "buffers", tally.buffers);
    say_uncounted(verification, "trainer state", tally.state);
    sp_free(tally.shares);
    sp_free(tally.kept);
    sp_free(tally.stored);
    return true;
}

struct sp_group_sums sp_verify_predicted_sums(struct sp_arena *arena, const struct shapeproof_prediction *prediction)
{
    const size_t count = shapeproof_prediction_group_count(prediction);
    struct sp_group_sum *items = sp_arena_array(arena, count, sizeof *items);
    struct sp_group_sums sums = {.items = items, .count = count};
    for (size_t i = 0; i < count; i++) {
        const struct shapeproof_group *group = shapeproof_prediction_group(prediction, i);
        items[i] = (struct sp_group_sum){group->name, (int64_t)group->parameters};
        sums.total += items[i].parameters;
    }
    return sums;
}
