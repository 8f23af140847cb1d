/* SPDX-License-Identifier: MIT */
#include "explain/trials/trial.h"

#include <stdlib.h>
#include <string.h>

#include "base/budget.h"
#include "check/check.h"
#include "config/variables.h"
#include "explain/missing_layers.h"
#include "explain/renaming.h"

/* ---- bundles ---- */

/* Findings that stand or fall together: a layer of which nothing is there, a tensor that is missing under one name and
 * there under another. What would explain a part of them does not explain them. Nor does what would explain less than
 * half of the findings of one pattern: it only shifts the end of a loop. */

static void bundle_renamed(struct sp_bundles *bundles, struct shapeproof_check *check)
{
    size_t *other = sp_pair_renamed(check, NULL);
    for (size_t i = 0; i < check->finding_count; i++)
        if (other[i] != SHAPEPROOF_NONE && bundles->of[i] == SHAPEPROOF_NONE)
            bundles->of[i] = bundles->of[other[i]] = bundles->count++;
    sp_free(other);
}

static void bundle_layers(struct sp_bundles *bundles, struct shapeproof_check *check)
{
    struct sp_missing_layers gone = sp_missing_layers_find(check, SP_LAYERS);
    for (size_t i = 0; gone.layers && i < check->finding_count; i++) {
        const size_t layer = sp_missing_layer_of(&gone, &check->findings[i]);
        if (!sp_is_missing_layer(&gone, layer) || bundles->of[i] != SHAPEPROOF_NONE) continue;
        bundles->of[i] = bundles->count + layer;
    }
    if (gone.layers) bundles->count += gone.layers->count;
    sp_missing_layers_free(&gone);
}

void sp_bundles_init(struct sp_bundles *bundles, struct shapeproof_check *check)
{
    *bundles = (struct sp_bundles){.of = sp_realloc(NULL, check->finding_count, sizeof *bundles->of)};
    for (size_t i = 0; i < check->finding_count; i++) bundles->of[i] = SHAPEPROOF_NONE;
    bundle_renamed(bundles, check);
    bundle_layers(bundles, check);
}

static void drop_broken(const struct sp_bundles *bundles, const struct shapeproof_check *check, bool *set)
{
    bool *broken = sp_realloc(NULL, bundles->count, sizeof *broken);
    memset(broken, 0, bundles->count * sizeof *broken);
    for (size_t i = 0; i < check->finding_count; i++)
        if (bundles->of[i] != SHAPEPROOF_NONE && !set[i] && sp_finding_is_open(&check->findings[i]))
            broken[bundles->of[i]] = true;
    for (size_t i = 0; i < check->finding_count; i++)
        set[i] = set[i] && (bundles->of[i] == SHAPEPROOF_NONE || !broken[bundles->of[i]]);
    sp_free(broken);
}

static void drop_minorities(const struct shapeproof_check *check, bool *set)
{
    int64_t *balance =
        sp_realloc(NULL, check->patterns.count, sizeof *balance); /* in the set, less those that are not */
    memset(balance, 0, check->patterns.count * sizeof *balance);
    for (size_t i = 0; i < check->finding_count; i++)
        if (sp_finding_is_open(&check->findings[i])) balance[check->places[i].pattern] += set[i] ? 1 : -1;
    for (size_t i = 0; i < check->finding_count; i++) set[i] = set[i] && balance[check->places[i].pattern] >= 0;
    sp_free(balance);
}

/* Of a set of findings takes out the bundles that are not in it as a whole, and the patterns of which less than half
 * are; returns how many findings stay. */
static size_t bundles_hold(const struct sp_bundles *bundles, const struct shapeproof_check *check, bool *set)
{
    size_t held = 0;
    drop_broken(bundles, check, set);
    drop_minorities(check, set);
    for (size_t i = 0; i < check->finding_count; i++) held += set[i];
    return held;
}

void sp_bundles_free(struct sp_bundles *bundles) { sp_free(bundles->of); }

/* ---- trial ---- */

/* Whether a tensor that is as it should be would no longer be. */
static bool contradicts(const struct sp_match *before, const struct sp_match *after)
{
    for (size_t i = 0; i < shapeproof_inventory_count(after->inventory); i++)
        if (sp_is_error(sp_match_tensor(after, i)) && !sp_is_error(sp_match_tensor(before, i))) return true;
    return false;
}

/* Whether the tensor is one of a whole that may be absent, such as a layer for multi-token prediction. */
static bool is_spare_part(const struct shapeproof_predicted *tensor)
{
    return tensor->optional && !tensor->buffer && !tensor->stands_for;
}

/* The groups with a spare part that the file has, and that was none before. */
static bool *find_new_wholes(const struct sp_match *before, const struct sp_match *after)
{
    const size_t groups = shapeproof_prediction_group_count(after->prediction);
    bool *new = sp_realloc(NULL, groups, sizeof *new);
    memset(new, 0, groups * sizeof *new);
    for (size_t i = 0; i < shapeproof_prediction_count(after->prediction); i++) {
        const struct shapeproof_predicted *tensor = shapeproof_prediction_tensor(after->prediction, i);
        if (sp_match_predicted(after, i) != SP_OPTIONAL || !is_spare_part(tensor)) continue;
        const size_t known = shapeproof_prediction_find(before->prediction, tensor->name);
        if (known == SHAPEPROOF_NONE || sp_match_predicted(before, known) != SP_OPTIONAL) new[tensor->group] = true;
    }
    return new;
}

/* What is newly missing. */
static size_t count_brought(const struct sp_match *before, const struct sp_match *after)
{
    size_t brought = 0;
    for (size_t i = 0; i < shapeproof_prediction_count(after->prediction); i++)
        brought += sp_match_predicted(after, i) == SP_MISSING &&
                   shapeproof_prediction_find(
                       before->prediction, shapeproof_prediction_tensor(after->prediction, i)->name) == SHAPEPROOF_NONE;
    return brought;
}

/* What is left out of a whole of which the file, newly, has other parts. */
static size_t count_lacking(const struct sp_match *before, const struct sp_match *after)
{
    bool *new = find_new_wholes(before, after);
    size_t lacking = 0;
    for (size_t i = 0; i < shapeproof_prediction_count(after->prediction); i++) {
        const struct shapeproof_predicted *tensor = shapeproof_prediction_tensor(after->prediction, i);
        lacking += new[tensor->group] && is_spare_part(tensor) && sp_match_predicted(after, i) == SP_LEFT_OUT;
    }
    sp_free(new);
    return lacking;
}

static void find_vanishing(const struct sp_bundles *bundles, struct sp_hypothesis *trial)
{
    const struct shapeproof_check *check = trial->check;
    trial->vanishes = sp_realloc(NULL, check->finding_count, sizeof *trial->vanishes);
    for (size_t i = 0; i < check->finding_count; i++) {
        const struct shapeproof_finding *finding = &check->findings[i];
        trial->vanishes[i] = sp_finding_is_open(finding) && !sp_variant_has(check, &trial->variant, finding);
    }
    trial->vanished = bundles_hold(bundles, check, trial->vanishes);
}

/* Whether with the causes so far all that vanishes is there in another shape: what is one layer too many is of another
 * shape once there is such a layer. */
static bool are_all_reshaped(const struct sp_hypothesis *trial, const struct sp_match *before)
{
    for (size_t i = 0; i < trial->check->finding_count; i++) {
        const struct shapeproof_finding *finding = &trial->check->findings[i];
        if (trial->vanishes[i] &&
            (finding->tensor == SHAPEPROOF_NONE || sp_match_tensor(before, finding->tensor) != SP_SHAPE))
            return false;
    }
    return true;
}

/* What it takes away must be much more than what it brings: a flag that would replace tensors that are missing by
 * others that are missing, too, explains nothing. */
static bool is_worth_it(const struct sp_hypothesis *trial)
{
    return trial->vanished && trial->brought * 3 <= trial->vanished;
}

/* Why the trial, which makes a prediction, explains nothing; NULL when it does. */
static const char *why_not(struct sp_hypothesis *trial, const struct sp_bundles *bundles, const struct sp_match *before)
{
    const size_t errors = sp_match_errors(before);
    const struct sp_match *after = &trial->variant.match;
    const size_t lacking = trial->variant.errors < errors ? count_lacking(before, after) : 0;
    trial->errors = trial->variant.errors + lacking;
    if (trial->errors >= errors) return "it leaves as many tensors wrong";
    if (contradicts(before, after)) return "it makes tensors wrong that were right";
    find_vanishing(bundles, trial);
    trial->brought = count_brought(before, after) + lacking;
    trial->reshapes = are_all_reshaped(trial, before);
    if (!is_worth_it(trial)) return "it removes too few findings, or predicts new tensors that are missing";
    return sp_trial_agrees(trial) ? NULL : "its loops do not have as many iterations as the file has layers";
}

static void trace_trial(const struct sp_hypothesis *trial, const char *why)
{
    if (!sp_is_traced(trial->check->watch)) return;
    struct sp_text changes = {0};
    for (const struct sp_change *change = trial->change; change; change = change->also) {
        sp_text_printf(&changes, "%s%s=", change == trial->change ? "" : " ", change->key);
        sp_value_json(&changes, change->value);
    }
    if (why) sp_trace(trial->check->watch, "  trial %s: %s", changes.data, why);
    else
        sp_trace(trial->check->watch, "  trial %s: explains %zu findings, leaves %zu tensors wrong", changes.data,
                 trial->vanished, trial->errors);
    sp_text_free(&changes);
}

bool sp_trial_run(struct sp_hypothesis *trial, const struct sp_bundles *bundles, const struct shapeproof_config *base,
                  const struct sp_match *before)
{
    struct shapeproof_check *check = trial->check;
    check->is_cancelled |= !sp_goes_on(check->watch, "trials", ++check->trials, 0);
    if (check->is_cancelled || sp_budget_lacks_trial()) return false;
    const bool predicts = sp_variant_try(check, base, trial->change, &trial->variant);
    const char *why = predicts ? why_not(trial, bundles, before) : "it gives no prediction";
    trace_trial(trial, why);
    if (why && predicts) sp_trial_free(trial);
    return !why;
}

void sp_trial_free(struct sp_hypothesis *trial)
{
    sp_free(trial->vanishes);
    sp_variant_free(&trial->variant);
}

bool sp_trial_is_rival(const struct sp_hypothesis *a, const struct sp_hypothesis *b)
{
    if (a->errors != b->errors || memcmp(a->vanishes, b->vanishes, a->check->finding_count) != 0) return false;
    const bool numbered = a->check->config->variables && a->check->config->variables->numbered;
    return (a->reshapes || numbered) && strcmp(a->change->key, b->change->key) != 0;
}
