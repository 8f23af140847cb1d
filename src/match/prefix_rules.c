/* SPDX-License-Identifier: MIT
 * Components of a model whose names begin otherwise than the rest: "model.vision_tower." for "vision_tower.",
 * "model.language_model." for "language_model.model.". Each is found among the names that nothing else explains: a
 * beginning that makes the most of them names that are predicted, missing, and of the same shape. Only what looks like
 * a wrapper counts: components that are put in, left out or moved. Another name for a component is a renaming. */
#include <stdlib.h>
#include <string.h>

#include "match/match.h"
#include "model/format.h"
#include "names/components.h"
#include "names/patterns.h"
#include "names/prefixes.h"
#include "names/wrappers.h"

enum { SAMPLE = 64, PATTERN_SAMPLE = 1024 };

struct rest {
    const struct sp_match *same;
    const struct shapeproof_inventory *inventory;
    const struct shapeproof_prediction *prediction;
    struct sp_naming *naming;
    struct sp_finder *names; /* for its scratch */
    size_t *tensors;         /* of the file, that are nothing predicted */
    size_t count;
    bool *found; /* for each predicted tensor */
    size_t missing;
};

static bool is_needed_tensor(const struct rest *rest, size_t predicted)
{
    const struct shapeproof_predicted *tensor = shapeproof_prediction_tensor(rest->prediction, predicted);
    return !rest->found[predicted] && !tensor->optional;
}

/* What the naming so far does not explain. */
static void find_rest(struct rest *rest)
{
    struct sp_finder finder = sp_predicted_finder(rest->naming, rest->prediction);
    const size_t predicted = shapeproof_prediction_count(rest->prediction);
    unsigned renaming;
    rest->count = rest->missing = 0;
    if (predicted) memset(rest->found, 0, predicted * sizeof *rest->found);
    for (size_t i = 0; i < shapeproof_inventory_count(rest->inventory); i++) {
        const struct shapeproof_tensor *tensor = shapeproof_inventory_tensor(rest->inventory, i);
        size_t place = rest->same->predicted_of[i];
        if (place == SHAPEPROOF_NONE) place = sp_finder_find(&finder, tensor->name, &renaming);
        if (place != SHAPEPROOF_NONE) rest->found[place] = true;
        else if (!(tensor->flags & SHAPEPROOF_TENSOR_STATE)) rest->tensors[rest->count++] = i;
    }
    for (size_t i = 0; i < predicted; i++) rest->missing += is_needed_tensor(rest, i);
    sp_finder_free(&finder);
}

/* The name as a prefix rule sees it; until the next one is asked for. */
static const char *name_seen_by_rules(const struct rest *rest, size_t place)
{
    unsigned renaming = 0;
    return sp_finder_plain(rest->names, shapeproof_inventory_tensor(rest->inventory, rest->tensors[place])->name,
                           &renaming);
}

/* How many of a sample of the rest are explained by it. Where nothing but a "weight" and a "bias" stands behind it,
 * names tell little: then as many as have the right shape. */
static size_t gain_of_rule(const struct rest *rest, const struct sp_prefix_rule *rule)
{
    const size_t from = strlen(rule->from);
    struct sp_text wanted = {0};
    size_t gain = 0, fitting = 0;
    bool telling = false;
    for (size_t i = 0; i < rest->count; i += sp_stride_for(rest->count, SAMPLE)) {
        const char *name = name_seen_by_rules(rest, i);
        if (strncmp(name, rule->from, from) != 0) continue;
        wanted.length = 0;
        sp_text_puts(&wanted, rule->to);
        sp_text_puts(&wanted, name + from);
        const size_t place = shapeproof_prediction_find(rest->prediction, wanted.data);
        if (place == SHAPEPROOF_NONE || !is_needed_tensor(rest, place)) continue;
        gain++;
        telling = telling || strchr(name + from, '.');
        fitting += sp_same_shape(shapeproof_inventory_tensor(rest->inventory, rest->tensors[i]),
                                 shapeproof_prediction_tensor(rest->prediction, place));
    }
    sp_text_free(&wanted);
    return gain > 1 && telling ? gain : fitting;
}

/* ---- what looks like a wrapper ---- */

static size_t times_in(const char *prefix, const char *component, size_t length)
{
    size_t times = 0;
    for (struct sp_component_walk part = {.rest = prefix}; sp_component_next(&part, ".:");)
        times += part.length == length && memcmp(part.text, component, length) == 0;
    return times;
}

/* Every component of the one is in the other, as often; but for holders, when these do not count. */
static bool is_within_rule(const char *one, const char *other, bool holders_count)
{
    for (struct sp_component_walk part = {.rest = one}; sp_component_next(&part, ".:");) {
        const bool counts = holders_count || !sp_is_holder(part.text, part.length);
        if (counts && times_in(one, part.text, part.length) > times_in(other, part.text, part.length)) return false;
    }
    return true;
}

static bool looks_like_a_wrapper(const struct sp_prefix_rule *rule)
{
    return is_within_rule(rule->from, rule->to, false) || is_within_rule(rule->to, rule->from, true);
}

/* In a GGUF file another model stands beside that for text: a vision tower, an encoder of sounds, a projector. */
static bool is_beside_text(const struct rest *rest, const char *from)
{
    return sp_format_has(rest->inventory, SP_BY_LLAMA_CPP) && sp_gguf_part(from);
}

/* ---- the search ---- */

/* The patterns of names that nothing explains, and of those that are predicted and missing. */
struct open_patterns {
    struct sp_patterns of_file, predicted;
};

static void collect_patterns(const struct rest *rest, struct open_patterns *patterns)
{
    for (size_t i = 0; i < rest->count; i += sp_stride_for(rest->count, PATTERN_SAMPLE))
        sp_pattern_of(&patterns->of_file, name_seen_by_rules(rest, i), NULL);
    for (size_t i = 0; i < shapeproof_prediction_count(rest->prediction); i++)
        if (is_needed_tensor(rest, i))
            sp_pattern_of(&patterns->predicted, shapeproof_prediction_tensor(rest->prediction, i)->name, NULL);
}

/* A beginning with an index in it is none of a component. */
static void suggest_rules(struct sp_prefix_pairs *rules, const struct open_patterns *patterns)
{
    const struct sp_patterns *a = &patterns->of_file, *b = &patterns->predicted;
    for (size_t i = 0; i < a->count; i++) sp_prefix_pairs_note_a(rules, sp_pattern_text(a, i));
    for (size_t i = 0; i < b->count; i++) sp_prefix_pairs_note_b(rules, sp_pattern_text(b, i), i);
    for (size_t i = 0; i < a->count; i++) {
        const char *in_a = sp_pattern_text(a, i);
        const struct sp_prefix_rule_guess guess = sp_prefix_pairs_guess(rules, in_a);
        if (guess.b == SIZE_MAX) continue;
        const char *in_b = sp_pattern_text(b, guess.b);
        if (memchr(in_a, (unsigned char)SP_INDEX_MARK, guess.from) ||
            memchr(in_b, (unsigned char)SP_INDEX_MARK, guess.to))
            continue;
        sp_prefix_pairs_add(rules, in_a, guess.from, in_b, guess.to);
    }
}

/* One name is enough where others were found to begin otherwise, and this one only lacks something or has too much. */
static size_t least_gain(const struct rest *rest, const struct sp_prefix_rule *rule)
{
    const bool others = rest->naming->prefix_rule_count || *rest->naming->strip || *rest->naming->add;
    return others && (is_within_rule(rule->from, "", false) || !*rule->to) ? 1 : 2;
}

/* The best prefix rule for the rest, with its strings in the arena; false when there is none. */
static bool find_rule(const struct rest *rest, struct sp_arena *arena, struct sp_prefix_rule *best)
{
    struct open_patterns patterns = {.of_file = {.rule = SP_INDEX_COMPONENT},
                                     .predicted = {.rule = SP_INDEX_COMPONENT}};
    struct sp_prefix_pairs rules = {.arena = arena, .separators = ".:"}; /* MXNet writes "arg:" in front */
    size_t most = 0;
    collect_patterns(rest, &patterns);
    suggest_rules(&rules, &patterns);
    for (size_t i = 0; i < rules.count; i++) {
        const struct sp_prefix_rule *rule = &rules.items[i];
        if (strcmp(rule->from, rule->to) == 0 || !looks_like_a_wrapper(rule)) continue;
        if (is_beside_text(rest, rule->from)) continue;
        const size_t gain = gain_of_rule(rest, rule);
        if (gain <= most || gain < least_gain(rest, rule)) continue;
        most = gain;
        *best = *rule;
    }
    sp_prefix_pairs_free(&rules);
    sp_patterns_free(&patterns.of_file);
    sp_patterns_free(&patterns.predicted);
    return most;
}

/* Wrappers around a few components alone. */
static void try_unwrapping(struct rest *rest)
{
    bool any = false;
    for (size_t i = 0; i < rest->count && !any && !rest->naming->drop_wrappers; i++)
        any = sp_wrapper_in(shapeproof_inventory_tensor(rest->inventory, rest->tensors[i])->name);
    if (!any) return;
    const size_t before = rest->missing;
    rest->naming->drop_wrappers = true;
    find_rest(rest);
    if (rest->missing < before) return;
    rest->naming->drop_wrappers = false;
    find_rest(rest);
}

void sp_prefix_rules_infer(struct sp_arena *arena, const struct sp_match *same, struct sp_naming *naming)
{
    struct sp_finder names = {.naming = naming};
    struct rest rest = {
        .same = same, .inventory = same->inventory, .prediction = same->prediction, .naming = naming, .names = &names};
    rest.tensors = sp_realloc(NULL, shapeproof_inventory_count(rest.inventory), sizeof *rest.tensors);
    rest.found = sp_realloc(NULL, shapeproof_prediction_count(rest.prediction), sizeof *rest.found);
    find_rest(&rest);
    try_unwrapping(&rest);
    while (naming->prefix_rule_count < SP_MAX_PREFIX_RULES && rest.count && rest.missing) {
        if (!find_rule(&rest, arena, &naming->prefix_rules[naming->prefix_rule_count])) break;
        naming->prefix_rule_count++;
        find_rest(&rest);
    }
    sp_finder_free(&names);
    free(rest.tensors);
    free(rest.found);
}
