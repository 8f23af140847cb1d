/* SPDX-License-Identifier: MIT
 * What is missing because a shard is, and indexes that promise what no shard holds. */
#include <stdlib.h>
#include <string.h>

#include "base/names.h"
#include "check/ties.h"
#include "explain/gather.h"
#include "model/inventory.h"

/* ---- which finding a promise is about ---- */

/* What the promises of an index, that a shard has a tensor, are compared with. */
struct promises {
    struct shapeproof_check *check;
    size_t *finding_of; /* for each predicted tensor: the finding that it is missing, or SHAPEPROOF_NONE */
    struct sp_finder finder;
};

static void open_promises(struct promises *promises, struct shapeproof_check *check)
{
    *promises = (struct promises){
        .check = check,
        .finding_of = sp_check_missing(check),
        .finder = sp_predicted_finder(&check->naming, check->prediction),
    };
}

static void close_promises(struct promises *promises)
{
    sp_free(promises->finding_of);
    sp_finder_free(&promises->finder);
}

/* The finding that the promised tensor is missing, or SHAPEPROOF_NONE: the model does not need it. */
static size_t finding_of(struct promises *promises, const struct sp_promise *promise)
{
    unsigned renaming;
    const size_t predicted = sp_finder_find(&promises->finder, promise->tensor, &renaming);
    return predicted == SHAPEPROOF_NONE ? SHAPEPROOF_NONE : promises->finding_of[predicted];
}

/* ---- shards ---- */

/* Why the file lacks what a shard should have. */
enum fault {
    UNREADABLE, /* the shard is absent or damaged */
    INCOMPLETE  /* the shard is there without the tensor */
};

/* Whether the promise is about a tensor, and was broken for that reason. */
static bool is_broken(const struct sp_promise *promise, enum fault fault)
{
    return promise->tensor && promise->unreadable == (fault == UNREADABLE);
}

/* Adds the shards with that fault, each once. */
static void list_shards(const struct shapeproof_inventory *inventory, enum fault fault, struct sp_names *names)
{
    struct sp_map known = {0};
    for (size_t i = 0; i < inventory->promise_count; i++) {
        const struct sp_promise *promise = &inventory->promises[i];
        if (is_broken(promise, fault) && sp_map_add(&known, promise->shard, i)) sp_names_add(names, promise->shard);
    }
    sp_map_free(&known);
}

/* Words the cause of what is missing for that reason. */
static void describe_promised(struct shapeproof_check *check, struct shapeproof_cause *cause, enum fault fault)
{
    struct sp_names shards = {0};
    list_shards(check->inventory, fault, &shards);
    const char *names = sp_names_of(check, cause);
    const char *count = sp_tensors_of(check, cause);
    const bool one = shards.count == 1;
    if (fault == UNREADABLE)
        cause->message = sp_arena_printf(&check->arena, "%s %s cannot be read, so %s of the index %s missing: %s",
                                         one ? "shard" : "shards", sp_names_text(&shards), count,
                                         cause->explains == 1 ? "is" : "are", names);
    else
        cause->message = sp_arena_printf(&check->arena, "%s %s tensors that the index lists for it: %s (%s)",
                                         sp_names_text(&shards), one ? "lacks" : "lack", names, count);
    cause->hint = fault == UNREADABLE ? "fetch the shard again" : "the index and the shards are of different versions";
    sp_names_free(&shards);
}

/* One cause for the missing tensors that are promised in shards with that fault. */
static void explain_promises(struct promises *promises, enum fault fault)
{
    struct shapeproof_check *check = promises->check;
    const struct shapeproof_inventory *inventory = check->inventory;
    struct shapeproof_cause *cause = NULL;
    for (size_t i = 0; i < inventory->promise_count; i++) {
        const struct sp_promise *promise = &inventory->promises[i];
        if (!is_broken(promise, fault)) continue;
        const size_t finding = finding_of(promises, promise);
        if (finding == SHAPEPROOF_NONE || check->findings[finding].cause != SHAPEPROOF_NONE) continue;
        if (!cause) cause = sp_blame(check, fault == UNREADABLE ? SP_CAUSE_SHARD_MISSING : SP_CAUSE_INDEX);
        sp_attribute_finding(check, finding, cause);
    }
    if (cause) describe_promised(check, cause, fault);
}

/* Whether the promised tensor is one that is tied to another in the file; then `*predicted` is the tied one. */
static bool is_tied_promise(struct promises *promises, const struct sp_promise *promise, size_t *predicted)
{
    unsigned renaming;
    *predicted = sp_finder_find(&promises->finder, promise->tensor, &renaming);
    return *predicted != SHAPEPROOF_NONE && sp_match_predicted(&promises->check->match, *predicted) == SP_TIED_ABSENT &&
           sp_match_partner(&promises->check->match, *predicted) != SHAPEPROOF_NONE;
}

/* A warning that a tied tensor is in the index and in no shard: a head that was trained by itself is lost, one that is
 * tied is not, and the file does not tell which it was. */
static void explain_tied(struct shapeproof_check *check, size_t predicted)
{
    const size_t partner = check->match.tensor_of[sp_match_partner(&check->match, predicted)];
    struct shapeproof_cause cause = sp_cause_of(SP_CAUSE_INDEX);
    cause.severity = SHAPEPROOF_SEVERITY_WARNING;
    cause.explains = 1;
    cause.message = sp_arena_printf(&check->arena,
                                    "the index lists %s, which no shard holds: it is tied to %s, or was lost when "
                                    "it was saved%s",
                                    shapeproof_prediction_tensor(check->prediction, predicted)->name,
                                    shapeproof_inventory_tensor(check->inventory, partner)->name,
                                    sp_tie_rule(check, sp_tie_condition_between(check, predicted), &cause));
    sp_check_add_cause(check, cause);
}

/* Promised tensors that the model does not need: loaders that go by the index fail at them. */
static void explain_needless(struct promises *promises)
{
    struct shapeproof_check *check = promises->check;
    const struct shapeproof_inventory *inventory = check->inventory;
    const char **names = sp_realloc(NULL, inventory->promise_count, sizeof *names);
    size_t count = 0, predicted;
    for (size_t i = 0; i < inventory->promise_count; i++) {
        const struct sp_promise *promise = &inventory->promises[i];
        if (!promise->tensor || finding_of(promises, promise) != SHAPEPROOF_NONE) continue;
        if (is_tied_promise(promises, promise, &predicted)) explain_tied(check, predicted);
        else names[count++] = promise->tensor;
    }
    if (count) {
        struct shapeproof_cause *cause = sp_blame(check, SP_CAUSE_INDEX);
        cause->severity = SHAPEPROOF_SEVERITY_WARNING;
        for (size_t i = 0; i < count; i++) {
            sp_check_add_lacking(check, names[i], SHAPEPROOF_NONE, cause->severity,
                                 "is in the index, but in no "
                                 "shard");
            sp_attribute_finding(check, check->finding_count - 1, cause);
        }
        cause->message =
            sp_arena_printf(&check->arena, "the index lists %s, which no shard holds and the model does not need",
                            sp_some_names(&check->arena, names, count));
        cause->hint = "remove them from the index: loaders that use the index look for them";
    }
    sp_free(names);
}

/* Without an index: shards that must be there, since the others are numbered. */
static void explain_absent_shards(struct shapeproof_check *check, const char *shards)
{
    static const enum shapeproof_finding_kind kind = SHAPEPROOF_FINDING_MISSING;
    struct shapeproof_cause *cause = sp_gather(check, SP_CAUSE_SHARD_MISSING, sp_is_open_kind, &kind);
    if (!cause) return;
    cause->hint = "fetch the shard again";
    cause->message = sp_arena_printf(&check->arena,
                                     "%s: absent, although the other shards are there, so %s %s "
                                     "missing",
                                     shards, sp_tensors_of(check, cause), cause->explains == 1 ? "is" : "are");
}

void sp_explain_shards(struct shapeproof_check *check)
{
    const struct shapeproof_inventory *inventory = check->inventory;
    struct promises promises;
    if (!inventory->promise_count) return;
    open_promises(&promises, check);
    explain_promises(&promises, UNREADABLE);
    explain_promises(&promises, INCOMPLETE);
    explain_needless(&promises);
    close_promises(&promises);
    for (size_t i = 0; i < inventory->promise_count; i++)
        if (!inventory->promises[i].tensor) explain_absent_shards(check, inventory->promises[i].shard);
}

/* A whole checkpoint beside the shards: some loaders take it and not them, some take both. */
void sp_explain_stray(struct shapeproof_check *check)
{
    const char *stray = check->inventory->stray;
    if (!stray) return;
    struct shapeproof_cause *cause = sp_blame(check, SP_CAUSE_STRAY_FILE);
    cause->explains = 1;
    cause->message =
        sp_arena_printf(&check->arena,
                        "%s lies beside the shards of the index: some loaders read this file instead of the shards, "
                        "some read both",
                        sp_quote(stray).text);
    cause->hint = "remove the file or the shards, whichever you do not need";
}
