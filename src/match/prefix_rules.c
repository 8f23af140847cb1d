/* SPDX-License-Identifier: MIT
 * Prefix rules for the components of a model whose names have another prefix than the rest: "model.vision_tower." for
 * "vision_tower.", "model.language_model." for "language_model.model.". A greedy search: as long as names are left that
 * nothing explains, it adds the rule that makes the most of them names of missing predicted tensors. A rule must look
 * like a wrapper: components are put in, left out or moved. Another name for a component is a renaming, and no rule. */
#include <stdlib.h>
#include <string.h>

#include "match/match.h"
#include "model/format.h"
#include "names/components.h"
#include "names/patterns.h"
#include "names/prefixes.h"
#include "names/wrappers.h"

enum {
    SAMPLE = 64,          /* names on which a rule is tried */
    PATTERN_SAMPLE = 1024 /* names whose patterns suggest rules */
};

/* What the naming so far does not explain. */
struct rest {
    const struct sp_match *same; /* the tensors that have one name in both */
    const struct shapeproof_inventory *inventory;
    const struct shapeproof_prediction *prediction;
    struct sp_naming *naming; /* that is being inferred */
    struct sp_finder *names;  /* for its scratch memory */
    size_t *tensors;          /* tensors of the file that are not predicted */
    size_t count;             /* of these */
    bool *found;              /* for each predicted tensor: the file has it */
    size_t missing;           /* how many it should have and does not */
};

/* Whether a predicted tensor is missing, and not optional. */
static bool is_needed_tensor(const struct rest *rest, size_t predicted)
{
    const struct shapeproof_predicted *tensor = shapeproof_prediction_tensor(rest->prediction, predicted);
    return !rest->found[predicted] && !tensor->optional;
}

/* Fills in `tensors`, `count`, `found` and `missing` for the naming so far. */
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

/* The name to which a prefix rule is applied, without wrappers if the naming drops them. Valid until the next call. */
static const char *name_seen_by_rules(const struct rest *rest, size_t place)
{
    unsigned renaming = 0;
    return sp_finder_plain(rest->names, shapeproof_inventory_tensor(rest->inventory, rest->tensors[place])->name,
                           &renaming);
}

/* How many tensors of a sample of the rest the rule explains: it makes their names those of needed tensors. If no more
 * than a last component ("weight", "bias") follows the prefix, or only one tensor is explained, names are weak
 * evidence, and only tensors of the right shape count. */
static size_t gain_of_rule(const struct rest *rest, const struct sp_prefix_rule *rule)
{
    const size_t from = strlen(rule->from);
    struct sp_text wanted = {0};
    size_t gain = 0, with_same_shape = 0;
    bool names_are_evidence = false;
    for (size_t i = 0; i < rest->count; i += sp_stride_for(rest->count, SAMPLE)) {
        const char *name = name_seen_by_rules(rest, i);
        if (strncmp(name, rule->from, from) != 0) continue;
        wanted.length = 0;
        sp_text_puts(&wanted, rule->to);
        sp_text_puts(&wanted, name + from);
        const size_t place = shapeproof_prediction_find(rest->prediction, wanted.data);
        if (place == SHAPEPROOF_NONE || !is_needed_tensor(rest, place)) continue;
        gain++;
        names_are_evidence = names_are_evidence || strchr(name + from, '.');
        with_same_shape += sp_same_shape(shapeproof_inventory_tensor(rest->inventory, rest->tensors[i]),
                                         shapeproof_prediction_tensor(rest->prediction, place));
    }
    sp_text_free(&wanted);
    return gain > 1 && names_are_evidence ? gain : with_same_shape;
}

/* ---- what looks like a wrapper ---- */

/* How often a component occurs in a prefix. */
static size_t times_in(const char *prefix, const char *component, size_t length)
{
    size_t times = 0;
    for (struct sp_component_walk part = {.rest = prefix}; sp_component_next(&part, ".:");)
        times += part.length == length && memcmp(part.text, component, length) == 0;
    return times;
}

enum holders { HOLDERS_COUNT, WITHOUT_HOLDERS };

/* Whether every component of `one` is in `other`, at least as often. WITHOUT_HOLDERS: not those such as "model", which
 * hold a whole model (sp_is_holder). */
static bool is_within_rule(const char *one, const char *other, enum holders holders)
{
    for (struct sp_component_walk part = {.rest = one}; sp_component_next(&part, ".:");) {
        const bool counts = holders == HOLDERS_COUNT || !sp_is_holder(part.text, part.length);
        if (counts && times_in(one, part.text, part.length) > times_in(other, part.text, part.length)) return false;
    }
    return true;
}

/* Whether the rule puts in, leaves out or moves components, and renames none: all components of the file's prefix but
 * holders are in the predicted one, or all of the predicted one's are in the file's. */
static bool looks_like_a_wrapper(const struct sp_prefix_rule *rule)
{
    return is_within_rule(rule->from, rule->to, WITHOUT_HOLDERS) || is_within_rule(rule->to, rule->from, HOLDERS_COUNT);
}

/* Whether the prefix is that of another model in a GGUF file, beside the one for text: a vision tower, an encoder of
 * sounds, a projector. */
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

/* Suggests rules that make a pattern of the file a predicted one. A prefix with an index is not that of a component. */
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

/* How many tensors a rule must explain: one is enough if other prefixes differ as well, and this rule only takes a
 * prefix away, or only takes holders for something else. */
static size_t least_gain(const struct rest *rest, const struct sp_prefix_rule *rule)
{
    const bool others_differ = rest->naming->prefix_rule_count || *rest->naming->strip || *rest->naming->add;
    return others_differ && (is_within_rule(rule->from, "", WITHOUT_HOLDERS) || !*rule->to) ? 1 : 2;
}

/* Whether the rule would take a tensor that the model has lost from an average of its weights beside it. */
static bool is_of_copy(const struct rest *rest, const struct sp_prefix_rule *rule)
{
    return sp_is_of_average(rule->from) && !sp_is_of_average(rest->naming->strip);
}

/* Finds the rule that explains the most of the rest, with its strings in the arena. False when none explains enough. */
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
        if (is_beside_text(rest, rule->from) || is_of_copy(rest, rule)) continue;
        const size_t gain = gain_of_rule(rest, rule);
        if (gain <= most || gain < least_gain(rest, rule)) continue;
        most = gain;
        *best = *rule;
    }
    sp_prefix_pairs_free(&rules);
    sp_patterns_free(&patterns.of_file);
    sp_patterns_free(&patterns.predicted);
    return most > 0;
}

/* Drops wrappers if that explains more: only a few components may have them. */
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
    sp_free(rest.tensors);
    sp_free(rest.found);
}
