/* SPDX-License-Identifier: MIT
 * Which hyper-parameter, set otherwise, would make findings vanish? Changes are proposed (proposals.h), a sample tells
 * which of them are worth it, and those are tried on the whole (trial.h). The best becomes a cause, and with it the
 * search begins anew, for several values may be wrong. */
#include <stdlib.h>
#include <string.h>

#include "base/chars.h"
#include "explain/gather.h"
#include "explain/trials/heads.h"
#include "explain/trials/proposals.h"
#include "explain/trials/say.h"
#include "explain/trials/twins.h"

enum { MAX_ROUNDS = 6, MAX_TRIALS = 4, MAX_TWINS = 8, MAX_MISSPELT = 8 };
/* Guesses, which no finding suggests, may predict that many tensors in all. */
enum { MAX_GUESSED = 20000 };

struct search {
    struct shapeproof_check *check;
    struct sp_bundles bundles;
    struct sp_sample sample;
    struct sp_proposals proposals;
    size_t first_count;                 /* of those that were made before one was accepted */
    struct sp_variant best;             /* with the causes accepted so far */
    const char *misspelt[MAX_MISSPELT]; /* keys that the configuration seems to have under a wrong name */
    size_t misspelt_count;
};

/* With the causes accepted so far. */
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

static void find_misspelt(struct search *search)
{
    struct shapeproof_misspelt found;
    const struct shapeproof_check *check = search->check;
    for (size_t position = 0; search->misspelt_count < MAX_MISSPELT &&
                              shapeproof_prediction_misspelt(check->prediction, check->config, &position, &found);)
        search->misspelt[search->misspelt_count++] = found.meant;
}

/* How likely it is that somebody wanted to set the key: hardly where a default stands, unless it is misspelt. */
static int64_t likelihood(const struct search *search, const struct sp_change *change)
{
    if (sp_is_among(change->key, search->misspelt, search->misspelt_count)) return 2;
    return change->from.source != SHAPEPROOF_SOURCE_DEFAULT;
}

/* The highest gain; among equals one that was proposed before anything was accepted, which holds whatever else is
 * wrong, and one that the configuration has rather than a default. */
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

/* Of the most promising changes the one that leaves the fewest errors, and fewer than there are. */
static struct sp_hypothesis best_change(const struct search *search)
{
    const struct shapeproof_config *base = search->best.config ? search->best.config : search->check->config;
    const struct sp_change *changes = search->proposals.items;
    struct sp_hypothesis best = {.check = search->check};
    int64_t gains[SP_MOST_PROPOSALS] = {0}, top = 0;
    for (size_t i = 0; i < search->proposals.count; i++) gains[i] = sp_sample_gain(&search->sample, base, &changes[i]);
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

/* Where no change explains anything by itself: the first with other keys that change with it, with as few as it takes.
 */
static struct sp_hypothesis best_twins(const struct search *search)
{
    const struct shapeproof_config *base = search->best.config ? search->best.config : search->check->config;
    for (int most = 1; most <= SP_MOST_TWINS; most++)
        for (size_t i = 0; i < search->proposals.count && i < MAX_TWINS; i++) {
            const struct sp_change *change =
                sp_change_with_twins(&search->sample, &search->check->arena, &search->proposals.items[i], base, most);
            struct sp_hypothesis trial = {.check = search->check, .change = change};
            if (change && sp_trial_run(&trial, &search->bundles, base, match_so_far(search))) return trial;
        }
    return (struct sp_hypothesis){.check = search->check};
}

/* ---- causes ---- */

/* Whether the model may as well lack all that the cause explains: then nothing is wrong with the weights. What is there
 * in another shape says that the model is another one. */
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

static void accept_change(struct search *search, const struct sp_hypothesis *trial)
{
    struct shapeproof_check *check = search->check;
    struct shapeproof_cause *cause = sp_gather(check, SP_CAUSE_HYPERPARAMETER, sp_is_marked, trial->vanishes);
    cause->hyperparameter = trial->change->key;
    cause->configured = trial->change->configured;
    cause->found = trial->change->value;
    if (is_spare(check, trial)) cause->severity = SHAPEPROOF_SEVERITY_WARNING;
    sp_trial_say(check, cause, trial);
}

static void suggest(struct search *search)
{
    sp_propose_quantisations(&search->proposals);
    sp_propose_sizes(&search->proposals);
    sp_propose_labels(&search->proposals);
    sp_propose_lengths(&search->proposals);
    sp_propose_flags(&search->proposals);
}

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
        free(better.vanishes);
        sp_variant_free(&search->best);
        search->best = better.variant;
        sp_sample_rebase(&search->sample, search->best.config);
        sp_proposals_renew(&search->proposals, search->best.config);
        propose(search);
    }
}

/* A single tensor of another shape is hardly the doing of a hyper-parameter, nor is a file that is mostly something
 * else. */
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
