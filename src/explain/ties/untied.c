/* SPDX-License-Identifier: MIT
 * Tensors that a truth value would tie, and does not. Which they are, and to what, a prediction with the other value
 * tells. When the file holds only one of two, that value may be wrong; when it holds both and they are equal, they may
 * be tied. */
#include <stdlib.h>
#include <string.h>

#include "check/ties.h"
#include "explain/causes.h"
#include "explain/gather.h"
#include "explain/models/asked.h"
#include "explain/remedy.h"
#include "explain/renaming.h"
#include "explain/what_if.h"
#include "lang/prediction.h"
#include "model/layouts.h"

/* ---- flags of ties ---- */

/* A configuration that says in one part that tensors are tied, and in another that they are not. The table knows which
 * part its class goes by; loaders have gone by the other. */

/* The tensor that a loader spoils if it believes the other part, which says the opposite of `tied`: it makes the tensor
 * up instead of taking it from its partner (tied, and one of both is stored), or overwrites it with the partner (not
 * tied, both are stored and not known to be equal). SHAPEPROOF_NONE when it spoils none. */
static size_t harmed(struct shapeproof_check *check, const struct sp_tie_pair *pair, bool tied)
{
    const bool member = sp_is_stored(check, pair->member), target = sp_is_stored(check, pair->target);
    if (tied) return member == target ? SHAPEPROOF_NONE : member ? pair->target : pair->member;
    if (!member || !target || sp_match_shares(&check->match, pair->member, pair->target)) return SHAPEPROOF_NONE;
    const struct sp_likeness likeness =
        sp_tie_likeness(check, check->match.tensor_of[pair->member], check->match.tensor_of[pair->target]);
    return likeness.equality == SP_DATA_EQUAL ? SHAPEPROOF_NONE : pair->member;
}

/* One cause if another part of the configuration says the opposite of `tied`, and loaders that believe it spoil a
 * tensor. */
static void explain_flag(struct shapeproof_check *check, const struct sp_tie_pair *pair, bool tied)
{
    const char *other = sp_tie_contradiction(check, pair->condition, tied);
    const size_t tensor = other ? harmed(check, pair, tied) : SHAPEPROOF_NONE;
    if (tensor == SHAPEPROOF_NONE) return;
    struct shapeproof_cause cause = sp_cause_of(SP_CAUSE_TIE_FLAGS);
    const char *rule = sp_tie_said(check, pair->condition, &cause);
    cause.message = sp_arena_printf(&check->arena, "%s, but %s is %s: a loader that reads the latter %s %s", rule,
                                    other, tied ? "false" : "true", tied ? "initialises" : "overwrites",
                                    shapeproof_prediction_tensor(check->prediction, tensor)->name);
    cause.hint = "set both to the same value";
    sp_check_add_cause(check, cause);
}

/* Looks at the first tensor that each hyper-parameter ties: what holds for it holds for the others. */
void sp_explain_flags(struct shapeproof_check *check)
{
    const struct sp_condition *asked = NULL;
    for (size_t i = 0; i < shapeproof_prediction_count(check->prediction); i++) {
        const size_t target = shapeproof_prediction_tensor(check->prediction, i)->same_as;
        const struct sp_condition *condition = target == SHAPEPROOF_NONE ? NULL : sp_tie_condition(check, i);
        if (!condition || condition->key == SHAPEPROOF_NONE || condition == asked) continue;
        asked = condition;
        if (sp_value_is_bool(shapeproof_prediction_hyperparameter(check->prediction, condition->key)->value, true))
            explain_flag(check, &(struct sp_tie_pair){i, target, condition}, true);
    }
}

/* ---- untied ---- */

/* The pairs that a hyper-parameter would tie if it were true. */
struct list {
    struct sp_tie_pair *items;
    size_t count, capacity;
    size_t *missing; /* for each predicted tensor the open finding that it is missing, if it is under no other name in
                      * the file either; or SHAPEPROOF_NONE. NULL without pairs */
};

/* ---- the pairs ---- */

/* The hyper-parameter that would tie the tensor, if there is one and it is false; or NULL. */
static const struct sp_condition *switch_of(struct shapeproof_check *check, size_t predicted)
{
    const struct sp_row *row = check->prediction->origins[predicted].row;
    if (!row->has_tie || !row->tie_condition) return NULL;
    if (shapeproof_prediction_tensor(check->prediction, predicted)->same_as != SHAPEPROOF_NONE) return NULL;
    const struct sp_condition *condition = sp_tie_condition(check, predicted);
    if (!condition || condition->key == SHAPEPROOF_NONE) return NULL;
    const struct shapeproof_value value =
        shapeproof_prediction_hyperparameter(check->prediction, condition->key)->value;
    return sp_value_is_bool(value, false) ? condition : NULL;
}

/* The prediction of the first layers with the hyper-parameter set to true: ties between layers are all alike. NULL when
 * there is none. */
static struct shapeproof_prediction *predict_tied(const struct shapeproof_check *check,
                                                  struct shapeproof_config *config, const char *key)
{
    static const int64_t first[] = {0, 1, 2, 3, 4, 5, 6, 7};
    const struct sp_scope scope = {first, sizeof first / sizeof *first, 20000};
    sp_config_set_value(config, key, sp_value_bool(true), "what if");
    return sp_check_predict(check, config, &scope, NULL);
}

static const char *key_of_tie(const struct shapeproof_check *check, const struct sp_condition *condition)
{
    return shapeproof_prediction_hyperparameter(check->prediction, condition->key)->name;
}

/* Adds all pairs that the hyper-parameter of the condition would tie and that are not tied now. */
static void add_pairs(struct shapeproof_check *check, struct list *list, const struct sp_condition *condition)
{
    struct shapeproof_config *config = sp_config_variant(check->config);
    struct shapeproof_prediction *tied = predict_tied(check, config, key_of_tie(check, condition));
    for (size_t i = 0; tied && i < shapeproof_prediction_count(tied); i++) {
        const struct shapeproof_predicted *tensor = shapeproof_prediction_tensor(tied, i);
        if (tensor->same_as == SHAPEPROOF_NONE) continue;
        const struct sp_tie_pair pair = {
            shapeproof_prediction_find(check->prediction, tensor->name),
            shapeproof_prediction_find(check->prediction, shapeproof_prediction_tensor(tied, tensor->same_as)->name),
            condition};
        if (pair.member == SHAPEPROOF_NONE || pair.target == SHAPEPROOF_NONE) continue;
        if (shapeproof_prediction_tensor(check->prediction, pair.member)->same_as != SHAPEPROOF_NONE) continue;
        SP_GROW(list->items, list->count, list->capacity);
        list->items[list->count++] = pair;
    }
    shapeproof_prediction_free(tied);
    shapeproof_config_free(config);
}

/* Adds the pairs of every hyper-parameter that would tie tensors; a table has few of them. */
static void collect_untied(struct shapeproof_check *check, struct list *list)
{
    enum { MOST = 4 };
    const struct sp_condition *switches[MOST];
    size_t count = 0;
    for (size_t i = 0; i < shapeproof_prediction_count(check->prediction) && count < MOST; i++) {
        const struct sp_condition *condition = switch_of(check, i);
        bool known = !condition;
        for (size_t k = 0; k < count; k++) known = known || switches[k] == condition;
        if (known) continue;
        switches[count++] = condition;
        add_pairs(check, list, condition);
    }
}

/* Weights that the file stores under a parametrisation, or packed, are not missing either. */
static void note_parametrised(struct shapeproof_check *check, struct list *list)
{
    size_t count;
    const struct sp_parametrised *stored = sp_ask_parametrised(check->asked, check->inventory, &count);
    for (size_t i = 0; i < count; i++) {
        struct sp_text name = {0};
        sp_naming_apply(&check->naming, stored[i].weight, &name);
        const size_t predicted = shapeproof_prediction_find(check->prediction, name.data);
        if (predicted != SHAPEPROOF_NONE) list->missing[predicted] = SHAPEPROOF_NONE;
        sp_text_free(&name);
    }
}

/* Fills list->missing. A tensor that is in the file under another name is not missing. */
static void note_missing(struct shapeproof_check *check, struct list *list)
{
    size_t *renamed = sp_pair_renamed(check, NULL);
    list->missing = sp_check_missing(check);
    for (size_t i = 0; i < check->finding_count; i++) {
        const size_t predicted = check->findings[i].predicted;
        if (renamed[i] != SHAPEPROOF_NONE && predicted != SHAPEPROOF_NONE) list->missing[predicted] = SHAPEPROOF_NONE;
    }
    sp_free(renamed);
    note_parametrised(check, list);
}

/* ---- one of two is absent ---- */

/* The tensor of the pair that is missing while the other one, or what that is tied to, is stored; or SHAPEPROOF_NONE.
 */
static size_t absent_one(const struct shapeproof_check *check, const struct list *list, const struct sp_tie_pair *pair)
{
    const size_t kept = sp_match_partner(&check->match, pair->target);
    const bool target = sp_is_stored(check, pair->target) || kept != SHAPEPROOF_NONE,
               member = sp_is_stored(check, pair->member);
    if (target == member) return SHAPEPROOF_NONE;
    const size_t absent = member ? pair->target : pair->member;
    return list->missing[absent] != SHAPEPROOF_NONE ? absent : SHAPEPROOF_NONE;
}

static const char *stored_name(const struct shapeproof_check *check, size_t predicted)
{
    return shapeproof_inventory_tensor(check->inventory, check->match.tensor_of[predicted])->name;
}

/* What else shows that the absent tensor is tied, as the end of the message: ": tied, as text_config has it". */
static const char *evidence(struct shapeproof_check *check, const struct sp_tie_pair *pair, size_t absent)
{
    const size_t alias = sp_tie_alias(check, absent), kept = sp_match_partner(&check->match, pair->target);
    const char *other = sp_tie_contradiction(check, pair->condition, false);
    if (alias != SHAPEPROOF_NONE)
        return sp_arena_printf(&check->arena, ": the file's metadata says that it is %s",
                               shapeproof_inventory_tensor(check->inventory, alias)->name);
    if (other) return sp_arena_printf(&check->arena, ": it is tied, as %s says", other);
    if (*check->naming.add) return ": it is tied, or the base model was saved without its head";
    const size_t stored = absent == pair->target ? pair->member : kept != SHAPEPROOF_NONE ? kept : pair->target;
    return sp_arena_printf(&check->arena, ": it is tied to %s, or lost", stored_name(check, stored));
}

/* Blames the hyper-parameter that would tie the pair, if there are fewer errors once it is true, and the absent tensor
 * is none. The cause explains the absent tensors of all pairs with the same condition. */
static void blame_switch(struct shapeproof_check *check, const struct list *list, const struct sp_tie_pair *pair,
                         size_t absent)
{
    const char *key = key_of_tie(check, pair->condition);
    const struct sp_change change = {.key = key, .value = sp_value_bool(true), .configured = sp_value_bool(false)};
    struct sp_variant variant;
    struct shapeproof_cause cause = sp_cause_of(SP_CAUSE_HYPERPARAMETER);
    if (!sp_variant_try(check, check->config, &change, &variant)) return;
    const bool better = variant.errors < sp_match_errors(&check->match) &&
                        !sp_variant_has(check, &variant, &check->findings[list->missing[absent]]);
    if (better) {
        const char *rule = sp_tie_said(check, pair->condition, &cause);
        cause.found = sp_value_bool(true);
        struct shapeproof_cause *added = sp_check_add_cause(check, cause);
        for (size_t i = 0; i < list->count; i++) {
            const size_t other = absent_one(check, list, &list->items[i]);
            if (other == SHAPEPROOF_NONE || list->items[i].condition != pair->condition) continue;
            if (sp_finding_is_open(&check->findings[list->missing[other]]))
                sp_attribute_finding(check, list->missing[other], added);
        }
        added->message = sp_arena_printf(&check->arena, "%s, but the file lacks %s%s", rule, sp_names_of(check, added),
                                         added->explains == 1 ? evidence(check, pair, absent) : "");
        added->patch = sp_value_with(&check->arena, added->patch, key, sp_value_bool(true));
    }
    sp_variant_free(&variant);
}

/* Whether more kinds of tensors are missing altogether than are there, besides what a tie would replace: then the file
 * is a part of a model, as when frozen parameters were left out, and what it lacks says nothing of ties. Layers that
 * are not there are no kinds: others of them show what the file has. */
static bool is_mostly_missing(const struct shapeproof_check *check, const struct list *list)
{
    struct sp_patterns patterns = {.rule = check->patterns.rule};
    size_t tied = 0;
    for (size_t i = 0; i < shapeproof_prediction_count(check->prediction); i++)
        if (check->match.tensor_of[i] != SHAPEPROOF_NONE)
            sp_pattern_of(&patterns, shapeproof_prediction_tensor(check->prediction, i)->name, NULL);
    const size_t there = patterns.count;
    for (size_t i = 0; i < check->finding_count; i++)
        if (sp_finding_is_open_as(&check->findings[i], SHAPEPROOF_FINDING_MISSING))
            sp_pattern_of(&patterns,
                          shapeproof_prediction_tensor(check->prediction, check->findings[i].predicted)->name, NULL);
    const size_t missing = patterns.count - there;
    sp_patterns_free(&patterns);
    for (size_t i = 0; i < list->count; i++) tied += absent_one(check, list, &list->items[i]) != SHAPEPROOF_NONE;
    return missing > tied + there;
}

/* Tries each hyper-parameter once, with the first of its pairs of which one is absent. */
static void explain_absent_tie(struct shapeproof_check *check, const struct list *list)
{
    const struct sp_condition *tried = NULL;
    if (is_mostly_missing(check, list)) return;
    for (size_t i = 0; i < list->count; i++) {
        const size_t absent = absent_one(check, list, &list->items[i]);
        if (absent == SHAPEPROOF_NONE || tried == list->items[i].condition) continue;
        if (sp_is_shown(check, key_of_tie(check, list->items[i].condition))) continue;
        if (!sp_finding_is_open(&check->findings[list->missing[absent]])) continue;
        tried = list->items[i].condition;
        blame_switch(check, list, &list->items[i], absent);
    }
}

/* ---- both are stored ---- */

/* Whether two stored tensors hold the same. */
static struct sp_likeness likeness(struct shapeproof_check *check, size_t a, size_t b)
{
    if (sp_match_shares(&check->match, a, b)) return (struct sp_likeness){.equality = SP_DATA_EQUAL};
    return sp_tie_likeness(check, check->match.tensor_of[a], check->match.tensor_of[b]);
}

/* The first of a tie is absent, another stands for it, and so might the tensor that is not tied: an encoder without an
 * embedding of its own has been given the output layer. */
static void explain_stand_in(struct shapeproof_check *check, const struct sp_tie_pair *pair)
{
    const size_t kept = sp_match_partner(&check->match, pair->target);
    if (sp_is_stored(check, pair->target) || kept == SHAPEPROOF_NONE || !sp_is_stored(check, pair->member)) return;
    if (likeness(check, pair->member, kept).equality == SP_DATA_EQUAL) return;
    struct shapeproof_cause cause = sp_cause_of(SP_CAUSE_TIED_STAND_IN);
    const char *name = shapeproof_prediction_tensor(check->prediction, pair->target)->name;
    cause.message = sp_arena_printf(&check->arena, "%s is not stored: loaders may use %s or %s in its place (%s)", name,
                                    stored_name(check, kept), stored_name(check, pair->member),
                                    sp_tie_said(check, pair->condition, &cause));
    cause.hint = sp_arena_printf(&check->arena, "store %s as well", name);
    const struct shapeproof_cause *added = sp_check_add_cause(check, cause);
    for (size_t i = 0; i < check->finding_count; i++)
        if (check->findings[i].predicted == pair->target && check->findings[i].cause == SHAPEPROOF_NONE)
            sp_attribute_finding(check, i, added);
}

/* Whether two stored tensors have one shape in the file. */
static bool has_same_shape(const struct shapeproof_check *check, size_t a, size_t b)
{
    return sp_tensor_same_shape(shapeproof_inventory_tensor(check->inventory, check->match.tensor_of[a]),
                                shapeproof_inventory_tensor(check->inventory, check->match.tensor_of[b]));
}

/* A note that two tensors which nothing ties are equal. */
static void explain_equal(struct shapeproof_check *check, const struct sp_tie_pair *pair)
{
    if (!check->data || !sp_is_stored(check, pair->member) || !sp_is_stored(check, pair->target)) return;
    if (sp_match_shares(&check->match, pair->member, pair->target)) return; /* which is worse, and said elsewhere */
    if (likeness(check, pair->member, pair->target).equality != SP_DATA_EQUAL) return;
    struct shapeproof_cause cause = sp_cause_of(SP_CAUSE_UNTIED_COPY);
    const bool whole = has_same_shape(check, pair->member, pair->target);
    cause.message = sp_arena_printf(&check->arena, "%s is byte for byte the same as %s%s, though not tied to it (%s)",
                                    stored_name(check, pair->member), whole ? "" : "the first rows of ",
                                    stored_name(check, pair->target), sp_tie_said(check, pair->condition, &cause));
    sp_check_add_cause(check, cause);
}

void sp_explain_untied(struct shapeproof_check *check)
{
    struct list list = {0};
    collect_untied(check, &list);
    if (list.count) note_missing(check, &list);
    explain_absent_tie(check, &list);
    for (size_t i = 0; i < list.count; i++) {
        explain_stand_in(check, &list.items[i]);
        explain_equal(check, &list.items[i]);
        explain_flag(check, &list.items[i], false);
    }
    sp_free(list.items);
    sp_free(list.missing);
}
