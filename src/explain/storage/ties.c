/* SPDX-License-Identifier: MIT
 * Tied tensors that are stored all the same: as one storage, as equal copies, as copies that nobody has compared, or
 * with values of their own, which not every loader keeps. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "check/ties.h"
#include "config/config.h"
#include "explain/gather.h"
#include "explain/what_if.h"

/* How the file has a tied tensor that it stores beside its partner. */
enum manner {
    SHARED,      /* in the same storage */
    COPY,        /* in a storage of its own; data were not read */
    EQUAL,       /* the same, with equal data */
    APART,       /* the same, with other data */
    INCOMPARABLE /* the same, and the data cannot be compared */
};

static const enum sp_cause_kind causes[] = {[SHARED] = SP_CAUSE_TIED,
                                            [COPY] = SP_CAUSE_TIED_COPY,
                                            [EQUAL] = SP_CAUSE_TIED_COPY,
                                            [APART] = SP_CAUSE_TIED_APART,
                                            [INCOMPARABLE] = SP_CAUSE_TIED_COPY};

/* A cause gathers all tensors that are tied to one partner in one way. */
struct tie {
    size_t predicted; /* the first of these tensors */
    size_t partner;   /* predicted */
    size_t cause;
    enum manner manner;
    bool rows;                            /* it is the same as the first rows of the partner */
    const struct sp_condition *condition; /* what ties them */
    struct sp_likeness likeness;          /* of the first one; not filled for SHARED */
};

/* Whether one cause has both. */
static bool same_tie(const struct tie *a, const struct tie *b)
{
    return a->partner == b->partner && a->manner == b->manner && a->rows == b->rows && a->condition == b->condition;
}

/* Compares the two in the file; `likeness` is filled unless they share a storage. */
static enum manner manner_of(struct shapeproof_check *check, size_t predicted, size_t partner,
                             struct sp_likeness *likeness)
{
    static const enum manner manners[] = {[SP_DATA_UNREAD] = COPY,
                                          [SP_DATA_EQUAL] = EQUAL,
                                          [SP_DATA_UNEQUAL] = APART,
                                          [SP_DATA_INCOMPARABLE] = INCOMPARABLE};
    if (sp_match_shares(&check->match, predicted, partner)) return SHARED;
    *likeness = sp_tie_likeness(check, check->match.tensor_of[predicted], check->match.tensor_of[partner]);
    return manners[likeness->equality];
}

/* The tie that the finding belongs to: a known one, or a new one with its cause. */
static size_t tie_of_finding(struct shapeproof_check *check, const struct shapeproof_finding *finding,
                             struct tie **ties, size_t *count, size_t *capacity)
{
    struct tie tie = {.predicted = finding->predicted,
                      .partner = sp_match_partner(&check->match, finding->predicted),
                      .rows = shapeproof_prediction_tensor(check->prediction, finding->predicted)->rows_only,
                      .condition = sp_tie_condition_between(check, finding->predicted)};
    tie.manner = manner_of(check, finding->predicted, tie.partner, &tie.likeness);
    for (size_t i = *count; i-- > 0 && *count - i <= 8;) /* the last 8 suffice: findings of one tie follow each other */
        if (same_tie(&(*ties)[i], &tie)) return i;
    tie.cause = check->cause_count;
    struct shapeproof_cause *cause = sp_blame(check, causes[tie.manner]);
    if (tie.manner == EQUAL) cause->severity = SHAPEPROOF_SEVERITY_NOTE;
    SP_GROW(*ties, *count, *capacity);
    (*ties)[*count] = tie;
    return (*count)++;
}

/* ---- saying it ---- */

/* Whether the file has the tensor as predicted, and no more errors than now, once the hyper-parameter is false. */
static bool parts_them(struct shapeproof_check *check, const struct tie *tie, struct shapeproof_hyperparameter hyper)
{
    const struct sp_change change = {
        .key = hyper.name, .value = sp_value_bool(false), .configured = hyper.value, .from = hyper.from};
    struct sp_variant variant;
    if (!sp_variant_try(check, check->config, &change, &variant)) return false;
    const bool parted = sp_match_tensor(&variant.match, check->match.tensor_of[tie->predicted]) == SP_SAME &&
                        variant.errors <= sp_match_errors(&check->match);
    sp_variant_free(&variant);
    return parted;
}

/* Whether the table ties another tensor to the same partner whatever is set. Then the setting is not about the tie
 * alone: T5 shares its embeddings always, and tie_word_embeddings false is how T5 v1.1 says that it does not scale what
 * it hands to its head. */
static bool has_constant_tie(struct shapeproof_check *check, size_t partner)
{
    for (size_t i = 0; i < shapeproof_prediction_count(check->prediction); i++)
        if (shapeproof_prediction_tensor(check->prediction, i)->same_as == partner && !sp_tie_condition(check, i))
            return true;
    return false;
}

/* The hint which hyper-parameter to set to false so that loaders keep both, if a trial shows that it does that. */
static void hint_apart(struct shapeproof_check *check, const struct tie *tie, struct shapeproof_cause *cause)
{
    const size_t key = sp_tie_switch(check, tie->condition);
    if (key == SHAPEPROOF_NONE || has_constant_tie(check, tie->partner)) return;
    const struct shapeproof_hyperparameter hyper = *shapeproof_prediction_hyperparameter(check->prediction, key);
    if (!parts_them(check, tie, hyper)) return;
    cause->hyperparameter = hyper.name;
    cause->configured = hyper.value;
    cause->found = sp_value_bool(false);
    cause->hint = sp_arena_printf(&check->arena, "set %s to false to keep both", hyper.name);
}

/* What becomes of two tensors that are tied and differ. Transformers 5 compares them when it loads both, and ties only
 * what is equal; transformers 4 puts the one that the other is tied to in the place of both. */
static const char *fate_apart(const struct shapeproof_check *check)
{
    const bool transformers =
        sp_value_member(sp_config_hyper(check->config)->root, "model_type").type == SHAPEPROOF_VALUE_STRING;
    return transformers ? "transformers 5 keeps both, transformers 4 does not" : "a loader keeps one of them";
}

/* "lm_head.weight differs from wte.weight from element 5 on although tied to it (tie_word_embeddings is true by
 * default): transformers 5 keeps both, 4 does not". */
static void describe_apart(struct shapeproof_check *check, const struct tie *tie, const char *names,
                           const char *partner, const char *rule)
{
    struct shapeproof_cause *cause = &check->causes[tie->cause];
    const bool one = cause->explains == 1;
    const char *where =
        !one ? "" : sp_arena_printf(&check->arena, " from element %" PRIu64 " on", tie->likeness.element);
    cause->message = sp_arena_printf(&check->arena, "%s %s from %s%s although the two are tied%s: %s", names,
                                     one ? "differs" : "differ", partner, where, rule, fate_apart(check));
    hint_apart(check, tie, cause);
}

/* Words the cause of a tie:
 *
 *     SHARED              "lm_head.weight shares the storage of wte.weight, as it should (RULE)"
 *     EQUAL               "lm_head.weight is stored once more, byte for byte the same as wte.weight (RULE)"
 *     APART               describe_apart
 *     COPY, INCOMPARABLE  "lm_head.weight is stored although it is tied to wte.weight (RULE)" */
static void describe_ties(struct shapeproof_check *check, const struct tie *tie)
{
    struct shapeproof_cause *cause = &check->causes[tie->cause];
    struct sp_arena *arena = &check->arena;
    const bool one = cause->explains == 1;
    const char *names = sp_names_of(check, cause);
    const char *name = shapeproof_inventory_tensor(check->inventory, check->match.tensor_of[tie->partner])->name;
    const char *partner = tie->rows ? sp_arena_printf(arena, "the first rows of %s", name) : name;
    const char *rule = sp_tie_rule(check, tie->condition, cause);
    switch (tie->manner) {
    case SHARED:
        cause->message = sp_arena_printf(arena, "%s %s the storage of %s, as %s should%s", names,
                                         one ? "shares" : "share", partner, one ? "it" : "they", rule);
        break;
    case EQUAL:
        cause->message = sp_arena_printf(arena, "%s %s stored once more, byte for byte the same as %s%s", names,
                                         one ? "is" : "are", partner, rule);
        break;
    case APART:
        describe_apart(check, tie, names, partner, rule);
        break;
    case COPY:
    case INCOMPARABLE:
        cause->message = sp_arena_printf(arena, "%s %s stored although %s tied to %s%s", names, one ? "is" : "are",
                                         one ? "it is" : "they are", partner, rule);
        cause->hint = tie->manner == COPY
                          ? "--data tells whether the two are equal"
                          : sp_arena_printf(arena, "their data are not compared: %s", tie->likeness.why);
    }
}

void sp_explain_ties(struct shapeproof_check *check)
{
    struct tie *ties = NULL;
    size_t count = 0, capacity = 0;
    for (size_t i = 0; i < check->finding_count; i++) {
        if (check->findings[i].kind != SHAPEPROOF_FINDING_TIED_PRESENT) continue;
        const size_t tie = tie_of_finding(check, &check->findings[i], &ties, &count, &capacity);
        sp_check_explain(check, i, ties[tie].cause);
        check->findings[i].severity = ties[tie].manner == APART ? SHAPEPROOF_SEVERITY_ERROR : SHAPEPROOF_SEVERITY_NOTE;
    }
    for (size_t i = 0; i < count; i++) describe_ties(check, &ties[i]);
    sp_free(ties);
}
