/* SPDX-License-Identifier: MIT
 * Which hyper-parameter, set otherwise, would make findings vanish? Changes are proposed (proposals.h), a sample tells
 * which of them are worth it, and those are tried on the whole (trial.h). The best becomes a cause, and with it the
 * search begins anew, for several values may be wrong. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/budget.h"
#include "base/chars.h"
#include "base/checked.h"
#include "explain/gather.h"
#include "explain/patch.h"
#include "explain/trials/heads.h"
#include "explain/trials/proposals.h"
#include "explain/trials/trial.h"
#include "explain/vocabulary.h"
#include "explain/what_if.h"
#include "lang/prediction.h"

/* ---- keys that are wrong together ---- */

/* With 16 heads in place of 32, of twice the width, all products of both are what they
 * should be; only what depends on the width alone tells. A change of the one breaks the products with the other, unless
 * that one changes as well: num_key_value_heads with num_attention_heads. */

enum { SP_MOST_TWINS = 2 }; /* other keys that change with one, at most */

/* A dimension of the sample that is right now and would be wrong under a change. */
struct broken {
    size_t predicted; /* under the change */
    uint32_t dimension;
    uint64_t expected; /* under the change */
    uint64_t found;    /* in the file */
};

/* The first such dimension; false when the change breaks none. */
static bool find_broken(const struct sp_sample *sample, const struct shapeproof_prediction *variant,
                        struct broken *broken)
{
    const struct shapeproof_tensor *tensor;
    broken->predicted = sp_sample_breaks(sample, variant, &tensor);
    if (broken->predicted == SHAPEPROOF_NONE) return false;
    const struct shapeproof_predicted *expected = shapeproof_prediction_tensor(variant, broken->predicted);
    for (uint32_t d = 0; d < expected->rank && tensor->rank == expected->rank; d++) {
        if (tensor->shape[d] == expected->shape[d]) continue;
        broken->dimension = d;
        broken->expected = expected->shape[d];
        broken->found = tensor->shape[d];
        return true;
    }
    return false;
}

/* Scales the value of a key that is a factor of the dimension, so that this becomes as found: 8 becomes 4 where 2048 is
 * expected and 1024 found. False when that gives no whole number. */
static bool scale_value(const struct broken *broken, struct shapeproof_value *value)
{
    uint64_t product;
    if (value->type != SHAPEPROOF_VALUE_INT || value->integer <= 0 || !broken->expected) return false;
    if (!sp_mul_u64((uint64_t)value->integer, broken->found, &product) || product % broken->expected) return false;
    *value = sp_value_int((int64_t)(product / broken->expected));
    return true;
}

/* Whether the change is of that key, among others. */
static bool is_changed(const struct sp_change *change, const char *key)
{
    for (; change; change = change->also)
        if (strcmp(change->key, key) == 0) return true;
    return false;
}

/* Finds another key in the dimension that the configuration gives, and that can be scaled to repair it; false when
 * there is none. */
static bool find_twin(struct shapeproof_prediction *variant, const struct broken *broken,
                      const struct sp_change *change, struct sp_change *twin)
{
    const struct sp_keys keys = sp_prediction_depends_on(variant, broken->predicted, broken->dimension);
    for (size_t i = 0; i < keys.count; i++) {
        const struct shapeproof_hyperparameter *hyper = shapeproof_prediction_hyperparameter(variant, keys.list[i]);
        const bool given =
            hyper->from.source == SHAPEPROOF_SOURCE_CONFIG || hyper->from.source == SHAPEPROOF_SOURCE_SETTING;
        if (!given || is_changed(change, hyper->name)) continue;
        *twin = (struct sp_change){
            .key = hyper->name, .value = hyper->value, .configured = hyper->value, .from = hyper->from};
        if (scale_value(broken, &twin->value)) return true;
    }
    return false;
}

/* Adds a key that repairs the first of what the change breaks; false when it breaks nothing, or none does. */
static bool add_twin(const struct sp_sample *sample, struct sp_arena *arena, struct sp_change *change,
                     const struct shapeproof_config *base)
{
    struct broken broken;
    struct sp_change twin;
    struct sp_variant variant;
    if (!sp_sample_try(sample, base, change, &variant)) return false;
    const bool found =
        find_broken(sample, variant.prediction, &broken) && find_twin(variant.prediction, &broken, change, &twin);
    if (found) {
        struct sp_change *also = sp_arena_array(arena, 1, sizeof *also);
        twin.key = sp_arena_string(arena, twin.key);
        twin.also = change->also;
        *also = twin;
        change->also = also;
    }
    sp_variant_free(&variant);
    return found;
}

/* The change, and so many other keys at most that what the change alone would break of the sample stays as it is in the
 * file. NULL when it breaks nothing, or no single key repairs the first that it does. In the arena. */
static const struct sp_change *change_with_twins(const struct sp_sample *sample, struct sp_arena *arena,
                                                 const struct sp_change *change, const struct shapeproof_config *base,
                                                 int most)
{
    if (change->value.type != SHAPEPROOF_VALUE_INT) return NULL;
    struct sp_change *with = sp_arena_array(arena, 1, sizeof *with);
    *with = *change;
    for (int i = 0; i < most && add_twin(sample, arena, with, base); i++) {
    }
    return with->also ? with : NULL;
}

/* ---- what a trial found out, in words ---- */

/* Whether another number of tokens was tried. */
static bool is_of_vocabulary(const struct sp_change *change)
{
    return sp_is_vocabulary(change->key) && change->configured.type == SHAPEPROOF_VALUE_INT &&
           change->value.type == SHAPEPROOF_VALUE_INT && change->configured.integer > 0 && change->value.integer > 0;
}

/* How the file may have come to another number of tokens: " (rounded up to a multiple of 64)"; "" where that is not
 * known, or another key was tried. */
static const char *vocabulary_change(struct shapeproof_check *check, const struct sp_change *change)
{
    if (!is_of_vocabulary(change)) return "";
    return sp_vocabulary_change(check, (uint64_t)change->configured.integer, (uint64_t)change->value.integer);
}

/* The number of ranks among which the vocabulary may be divided, if at least two matrices have one part of so many rows
 * and nothing else explains the number; 0 otherwise. */
static uint64_t ranks_of_vocabulary(struct shapeproof_check *check, const struct sp_hypothesis *trial)
{
    const struct sp_change *change = trial->change;
    size_t matrices = 0;
    if (!is_of_vocabulary(change) || *vocabulary_change(check, change)) return 0;
    for (size_t i = 0; i < check->finding_count; i++)
        matrices += trial->vanishes[i] && check->findings[i].kind == SHAPEPROOF_FINDING_SHAPE &&
                    shapeproof_inventory_tensor(check->inventory, check->findings[i].tensor)->rank > 1;
    if (matrices < 2) return 0;
    return sp_vocabulary_ranks((uint64_t)change->configured.integer, (uint64_t)change->value.integer);
}

/* " (rounded up to a multiple of 64)", " (1/8, as one of 8 ranks has that divide it)", or "". */
static const char *how_changed(struct shapeproof_check *check, const struct sp_hypothesis *trial, uint64_t ranks)
{
    if (!ranks) return vocabulary_change(check, trial->change);
    return sp_arena_printf(&check->arena, " (1/%" PRIu64 " of it, the part of one of %" PRIu64 " ranks)", ranks, ranks);
}

/* "; yet it lacks a.bias": what is missing under the change and was not predicted before it; "" for nothing. */
static const char *side_effect(struct shapeproof_check *check, const struct sp_variant *variant)
{
    const size_t total = shapeproof_prediction_count(variant->prediction);
    const char **names = sp_realloc(NULL, total, sizeof *names);
    size_t count = 0;
    for (size_t i = 0; i < total; i++) {
        const char *name = shapeproof_prediction_tensor(variant->prediction, i)->name;
        if (sp_match_predicted(&variant->match, i) == SP_MISSING &&
            shapeproof_prediction_find(check->prediction, name) == SHAPEPROOF_NONE)
            names[count++] = name;
    }
    const char *effect = !count ? ""
                                : sp_arena_printf(&check->arena, "; but with this value, it lacks %s",
                                                  sp_some_names(&check->arena, names, count));
    sp_free(names);
    return effect;
}

/* "; or num_attention_heads should be 16 instead of 32", for changes that explain the same. */
static const char *say_rivals(struct shapeproof_check *check, const struct sp_hypothesis *trial)
{
    const char *says = "";
    for (size_t i = 0; i < trial->rival_count; i++) {
        const struct sp_change *change = trial->rivals[i];
        says = sp_arena_printf(&check->arena, "%s; or %s should be %s instead of %s", says,
                               sp_key_said(check, change->key), sp_value_words(&check->arena, change->value),
                               sp_value_words(&check->arena, change->configured));
    }
    return says;
}

/* The keys of the configuration that the change sets, with those that it takes away as null. */
static struct shapeproof_value patch_of_change(struct sp_arena *arena, const struct sp_change *change)
{
    struct shapeproof_value patch = {0};
    for (; change; change = change->also) {
        if (change->instead_of)
            patch = sp_value_with(arena, patch, change->instead_of,
                                  (struct shapeproof_value){.type = SHAPEPROOF_VALUE_NULL});
        patch = sp_value_with(arena, patch, change->key, change->value);
    }
    return patch;
}

enum together { CONFIGURED, FOUND };

/* Adds the keys that change as well: "SAYS, num_attention_heads 16 and num_key_value_heads 4" as configured; the values
 * alone as found, "SAYS, 32 and 8". */
static const char *say_together(struct shapeproof_check *check, const char *says, const struct sp_change *also,
                                enum together together)
{
    const bool found = together == FOUND;
    for (; also; also = also->also) {
        if (also->value.type == SHAPEPROOF_VALUE_LIST) continue; /* which follows from a number */
        const char *value = sp_value_words(&check->arena, found ? also->value : also->configured);
        says = sp_arena_printf(&check->arena, "%s%s%s%s%s", says, also->also ? ", " : " and ",
                               found ? "" : sp_key_said(check, also->key), found ? "" : " ", value);
    }
    return says;
}

/* Whether "bias" is a word of the key: "use_bias", but not "biased". */
static bool has_word_bias(const char *key)
{
    const char *place = strstr(key, "bias");
    return place && (place == key || place[-1] == '_') && (!place[4] || place[4] == '_');
}

/* "; config.json has bias=true, which the table does not read": the flag may be spelt as another family spells it. */
static const char *other_spelling(struct shapeproof_check *check, const struct sp_change *change)
{
    const struct sp_hyper *hyper = sp_config_hyper(check->config);
    if (change->value.type != SHAPEPROOF_VALUE_BOOL || !has_word_bias(change->key)) return "";
    for (size_t i = 0; i < hyper->root.count; i++) {
        const struct shapeproof_member *member = &hyper->root.members[i];
        if (member->value.type != SHAPEPROOF_VALUE_BOOL || member->value.boolean != change->value.boolean) continue;
        if (!has_word_bias(member->key) || sp_find_hyperparameter(check->prediction, member->key) != SHAPEPROOF_NONE)
            continue;
        return sp_arena_printf(&check->arena, "; %s has %s=%s, which the table %s does not read",
                               *hyper->file ? hyper->file : "the configuration", member->key,
                               member->value.boolean ? "true" : "false",
                               shapeproof_prediction_table(check->prediction));
    }
    return "";
}

/* Whether the file would agree with another text as well. */
static bool agrees_with(struct shapeproof_check *check, const struct sp_hypothesis *trial, const char *text)
{
    struct sp_change change = *trial->change;
    struct sp_variant variant;
    change.value = sp_value_string(text);
    if (!sp_variant_try(check, check->config, &change, &variant)) return false;
    const bool agrees = variant.errors <= trial->errors;
    sp_variant_free(&variant);
    return agrees;
}

/* "has 12"; of a text that is but the beginning of many, or one of many, just that. */
static const char *say_found(struct shapeproof_check *check, const struct sp_hypothesis *trial)
{
    const struct shapeproof_value value = trial->change->value;
    const char *words = sp_value_words(&check->arena, value), *says = "has %s";
    if (value.type == SHAPEPROOF_VALUE_STRING && strcmp(value.string, SP_OTHER_TEXT) == 0)
        return "agrees with "
               "other values";
    if (value.type == SHAPEPROOF_VALUE_STRING) {
        if (agrees_with(check, trial, "another")) says = "agrees with %s and with other values";
        else if (agrees_with(check, trial, sp_arena_printf(&check->arena, "%s-another", value.string)))
            says = "has a value that begins with %s";
    }
    const char *place = strstr(says, "%s");
    return sp_arena_printf(&check->arena, "%.*s%s%s", (int)(place - says), says, words, place + 2);
}

/* "num_labels is 2 in config.json", "id2label lists 2 labels in config.json". */
static const char *say_configured(struct shapeproof_check *check, const struct sp_change *change)
{
    if (!change->instead_of || change->configured.type == SHAPEPROOF_VALUE_STRING)
        return sp_said(check, (struct shapeproof_hyperparameter){change->key, change->configured, change->from});
    return sp_arena_printf(&check->arena, "%s lists %s %s", change->instead_of,
                           sp_count_of(&check->arena, (size_t)change->configured.integer, "label"),
                           sp_said_where(check, change->from));
}

/* "; config.json has n_layers, which nothing reads": the key in whose place a default stands, misspelt. */
static const char *say_misspelt(struct shapeproof_check *check, const struct sp_change *change)
{
    struct shapeproof_misspelt found;
    if (change->from.source != SHAPEPROOF_SOURCE_DEFAULT) return "";
    for (size_t position = 0; shapeproof_prediction_misspelt(check->prediction, check->config, &position, &found);)
        if (strcmp(found.meant, change->key) == 0)
            return sp_arena_printf(&check->arena, "; the configuration has %s, which nothing reads", found.key);
    return "";
}

/* Words the cause of what vanished in the trial, and gives it a patch or a hint. With several keys, one of another
 * type, and one that is a flag:
 *
 *     "num_attention_heads is 16 in config.json and num_key_value_heads 4, the file has 32 and 8 (24 tensors)"
 *     "vocab_size is 50257 in config.json, the file has 50304 (rounded up to a multiple of 64) (2 tensors)"
 *     "attention_bias is false in config.json, but the file has layers.{0-3}.q_proj.bias" */
static void trial_say(struct shapeproof_check *check, struct shapeproof_cause *cause, const struct sp_hypothesis *trial)
{
    const struct sp_change *change = trial->change;
    const size_t index = (size_t)(cause - check->causes);
    const uint64_t ranks = ranks_of_vocabulary(check, trial);
    const char *says = say_configured(check, change), *lacks = side_effect(check, &trial->variant);
    const char *effect =
        sp_arena_printf(&check->arena, "%s%s%s", lacks, say_rivals(check, trial), say_misspelt(check, change));
    if (*lacks) check->half_explained = true;
    if (change->also)
        cause->message = sp_arena_printf(
            &check->arena, "%s, the file has %s (%s)%s", say_together(check, says, change->also, CONFIGURED),
            say_together(check, sp_value_words(&check->arena, cause->found), change->also, FOUND),
            sp_tensors_of(check, cause), effect);
    else if (change->value.type != SHAPEPROOF_VALUE_BOOL)
        cause->message =
            sp_arena_printf(&check->arena, "%s, the file %s%s (%s%s)%s", says, say_found(check, trial),
                            how_changed(check, trial, ranks), sp_tensors_of(check, cause),
                            cause->severity == SHAPEPROOF_SEVERITY_WARNING ? ", which loaders leave out" : "", effect);
    else
        cause->message = sp_arena_printf(&check->arena, "%s, but the file %s%s%s", says,
                                         sp_cause_file_summary(check, index), effect, other_spelling(check, change));
    if (change->value.type == SHAPEPROOF_VALUE_STRING && strcmp(change->value.string, SP_OTHER_TEXT) == 0 &&
        !sp_patch_knows_text(change->key))
        cause->hint = sp_arena_printf(&check->arena, "give %s another value that the model knows", change->key);
    if (ranks && !change->also)
        cause->hint = sp_arena_printf(&check->arena,
                                      "gather the %" PRIu64 " ranks into one file; if the model has %" PRId64 " "
                                      "tokens, write this number into the configuration",
                                      ranks, change->value.integer);
    if (!cause->hint) cause->patch = patch_of_change(&check->arena, change);
}

/* ---- hyperparameters ---- */

enum { MAX_ROUNDS = 6 };      /* changes that are accepted one after the other */
enum { MAX_TRIALS = 4 };      /* changes that are tried on the whole in a round */
enum { MAX_TWINS = 8 };       /* changes that are tried with other keys in a round */
enum { MAX_MISSPELT = 8 };    /* keys under wrong names that are looked at */
enum { MAX_GUESSED = 20000 }; /* tensors that guesses, which no finding suggests, may predict in all */
/* The samples of a round may take together the steps of a prediction divided by that: 2 million by default, some 50 ms.
 * A table of 1,000 layers, each with keys of its own, has as many changes to try, and each takes a prediction. */
enum { SAMPLE_SHARE = 32 };

struct search {
    struct shapeproof_check *check;
    struct sp_bundles bundles;
    struct sp_sample sample;
    struct sp_proposals proposals;
    size_t first_count;                 /* of the proposals that were made before one was accepted: they come first */
    struct sp_variant best;             /* with the causes accepted so far */
    const char *misspelt[MAX_MISSPELT]; /* keys that the configuration seems to have under a wrong name */
    size_t misspelt_count;
};

/* The match of the file with the causes accepted so far. */
static const struct sp_match *match_so_far(const struct search *search)
{
    return search->best.config ? &search->best.match : &search->check->match;
}

/* Keeps the better one; of two that do the same the first, which remembers the other. */
static void compete(struct sp_hypothesis *best, struct sp_hypothesis *trial)
{
    if (!best->vanishes || trial->errors < best->errors) {
        sp_trial_free(best);
        *best = *trial;
        return;
    }
    if (best->rival_count < SP_MOST_RIVALS && sp_trial_is_rival(best, trial))
        best->rivals[best->rival_count++] = trial->change;
    sp_trial_free(trial);
}

/* Fills search->misspelt. */
static void find_misspelt(struct search *search)
{
    struct shapeproof_misspelt found;
    const struct shapeproof_check *check = search->check;
    for (size_t position = 0; search->misspelt_count < MAX_MISSPELT &&
                              shapeproof_prediction_misspelt(check->prediction, check->config, &position, &found);)
        search->misspelt[search->misspelt_count++] = found.meant;
}

/* How likely it is that somebody meant to set the key: 2 if it seems misspelt in the configuration, 1 if the
 * configuration sets it, 0 for a default. */
static int64_t likelihood(const struct search *search, const struct sp_change *change)
{
    if (sp_is_among(change->key, search->misspelt, search->misspelt_count)) return 2;
    return change->from.source != SHAPEPROOF_SOURCE_DEFAULT;
}

/* The proposal with the highest gain; SHAPEPROOF_NONE when none gains anything. Among equals first one that was
 * proposed before anything was accepted, which holds whatever else is wrong; then the likeliest. The weights 6, 3 and 1
 * sort by these three in turn: the likelihood is 2 at most. */
static size_t most_promising(const struct search *search, const int64_t *gains)
{
    size_t best = SHAPEPROOF_NONE;
    int64_t most = 0;
    for (size_t i = 0; i < search->proposals.count; i++) {
        const int64_t promise =
            6 * gains[i] + 3 * (i < search->first_count) + likelihood(search, &search->proposals.items[i]);
        if (gains[i] <= 0 || promise <= most) continue;
        most = promise;
        best = i;
    }
    return best;
}

/* The change that leaves the fewest errors, of the most promising ones; without `vanishes` when none explains anything.
 * Once one does, those that gain less than half of the most are not tried. */
static struct sp_hypothesis best_change(const struct search *search)
{
    const struct shapeproof_config *base = search->best.config ? search->best.config : search->check->config;
    const struct sp_change *changes = search->proposals.items;
    struct sp_hypothesis best = {.check = search->check};
    int64_t gains[SP_MOST_PROPOSALS] = {0}, top = 0; /* 0: tried, or not worth it */
    const uint64_t end = sp_add_saturated(sp_budget_steps_taken(), sp_budget_steps() / SAMPLE_SHARE);
    for (size_t i = 0; i < search->proposals.count && !sp_budget_is_past(end); i++)
        gains[i] = sp_sample_gain(&search->sample, base, &changes[i]);
    for (int tried = 0; tried < MAX_TRIALS; tried++) {
        const size_t i = most_promising(search, gains);
        if (i == SHAPEPROOF_NONE || (best.vanishes && gains[i] < top / 2)) break;
        struct sp_hypothesis trial = {.check = search->check, .change = &changes[i]};
        top = gains[i] > top ? gains[i] : top;
        gains[i] = 0;
        if (sp_trial_run(&trial, &search->bundles, base, match_so_far(search))) compete(&best, &trial);
    }
    return best;
}

/* Where no change explains anything by itself: the first change that explains something together with other keys, one
 * if that suffices, then two. Without `vanishes` when there is none. */
static struct sp_hypothesis best_twins(const struct search *search)
{
    const struct shapeproof_config *base = search->best.config ? search->best.config : search->check->config;
    for (int most = 1; most <= SP_MOST_TWINS; most++)
        for (size_t i = 0; i < search->proposals.count && i < MAX_TWINS; i++) {
            const struct sp_change *change =
                change_with_twins(&search->sample, &search->check->arena, &search->proposals.items[i], base, most);
            struct sp_hypothesis trial = {.check = search->check, .change = change};
            if (change && sp_trial_run(&trial, &search->bundles, base, match_so_far(search))) return trial;
        }
    return (struct sp_hypothesis){.check = search->check};
}

/* ---- causes ---- */

/* Whether all that vanishes is unexpected now and optional under the change: the model may as well lack it, and nothing
 * is wrong with the weights. */
static bool is_spare(const struct shapeproof_check *check, const struct sp_hypothesis *trial)
{
    for (size_t i = 0; i < check->finding_count; i++) {
        const struct shapeproof_finding *finding = &check->findings[i];
        if (!trial->vanishes[i]) continue;
        if (finding->kind != SHAPEPROOF_FINDING_UNEXPECTED ||
            sp_match_tensor(&trial->variant.match, finding->tensor) != SP_OPTIONAL)
            return false;
    }
    return true;
}

/* Makes the cause of a trial. */
static void accept_change(struct search *search, const struct sp_hypothesis *trial)
{
    struct shapeproof_check *check = search->check;
    struct shapeproof_cause *cause = sp_gather(check, SP_CAUSE_HYPERPARAMETER, sp_is_marked, trial->vanishes);
    cause->hyperparameter = trial->change->key;
    cause->configured = trial->change->configured;
    cause->found = trial->change->value;
    if (is_spare(check, trial)) cause->severity = SHAPEPROOF_SEVERITY_WARNING;
    trial_say(check, cause, trial);
}

/* Proposes the changes that findings suggest. */
static void suggest(struct search *search)
{
    sp_propose_quantisations(&search->proposals);
    sp_propose_sizes(&search->proposals);
    sp_propose_labels(&search->proposals);
    sp_propose_lengths(&search->proposals);
    sp_propose_flags(&search->proposals);
}

/* Proposes changes that no finding suggests, as many as MAX_GUESSED allows. */
static void guess(struct search *search)
{
    const size_t affordable = MAX_GUESSED / (shapeproof_prediction_count(search->sample.base) + 1);
    search->proposals.count = 0;
    sp_propose_conditions(&search->proposals);
    if (search->proposals.count > affordable) search->proposals.count = affordable;
}

/* Accepts the best change again and again, until none explains anything. Each leads to new ones, since a dimension may
 * depend on more than one key that is wrong. */
static void run_rounds(struct search *search, void (*propose)(struct search *))
{
    propose(search);
    search->first_count = search->proposals.count;
    for (int round = 0; round < MAX_ROUNDS && sp_check_open(search->check); round++) {
        struct sp_hypothesis better = best_change(search);
        if (!better.vanishes) better = best_twins(search);
        if (!better.vanishes) break;
        accept_change(search, &better);
        sp_free(better.vanishes);
        sp_variant_free(&search->best);
        search->best = better.variant;
        sp_sample_rebase(&search->sample, search->best.config);
        sp_proposals_renew(&search->proposals, search->best.config);
        propose(search);
    }
}

/* Whether guesses may explain anything: a third of the file is predicted, and more differs than the shape of a single
 * tensor. */
static bool is_worth_guessing(const struct search *search)
{
    const struct shapeproof_check *check = search->check;
    const size_t matched = sp_check_matched(check);
    size_t structural = 0;
    for (size_t i = 0; i < check->finding_count; i++) structural += sp_is_structural(&check->findings[i]);
    return search->sample.base && matched && matched * 3 >= shapeproof_inventory_count(check->inventory) &&
           (structural || sp_check_open(check) > 1);
}

void sp_explain_hyperparameters(struct shapeproof_check *check)
{
    struct search search = {.check = check};
    if (!sp_check_open(check)) return;
    sp_bundles_init(&search.bundles, check);
    sp_sample_init(&search.sample, check);
    sp_proposals_init(&search.proposals, check);
    find_misspelt(&search);
    run_rounds(&search, suggest);
    if (is_worth_guessing(&search)) run_rounds(&search, guess);
    if (search.best.config) sp_settle_heads(check, &search.best);
    sp_proposals_free(&search.proposals);
    sp_sample_free(&search.sample);
    sp_variant_free(&search.best);
    sp_bundles_free(&search.bundles);
}
