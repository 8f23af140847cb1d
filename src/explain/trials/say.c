/* SPDX-License-Identifier: MIT */
#include "explain/trials/say.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "explain/gather.h"
#include "explain/patch.h"
#include "explain/trials/proposals.h"
#include "explain/vocabulary.h"

/* Whether another number of tokens was tried. */
static bool is_of_vocabulary(const struct sp_change *change)
{
    return sp_is_vocabulary(change->key) && change->configured.type == SHAPEPROOF_VALUE_INT &&
           change->value.type == SHAPEPROOF_VALUE_INT && change->configured.integer > 0 && change->value.integer > 0;
}

/* The ranks that divide the vocabulary, where two matrices at least have one part of so many rows; 0 otherwise. */
static uint64_t ranks_of_vocabulary(const struct shapeproof_check *check, const struct sp_hypothesis *trial)
{
    const struct sp_change *change = trial->change;
    size_t matrices = 0;
    if (!is_of_vocabulary(change)) return 0;
    for (size_t i = 0; i < check->finding_count; i++)
        matrices += trial->vanishes[i] && check->findings[i].kind == SHAPEPROOF_FINDING_SHAPE &&
                    shapeproof_inventory_tensor(check->inventory, check->findings[i].tensor)->rank > 1;
    if (matrices < 2) return 0;
    return sp_vocabulary_ranks((uint64_t)change->configured.integer, (uint64_t)change->value.integer);
}

/* " (rounded up to a multiple of 64)", " (1/8, as one of 8 ranks has that divide it)". */
static const char *how_changed(struct shapeproof_check *check, const struct sp_hypothesis *trial, uint64_t ranks)
{
    const struct sp_change *change = trial->change;
    if (!is_of_vocabulary(change)) return "";
    const char *how =
        sp_vocabulary_change(check, (uint64_t)change->configured.integer, (uint64_t)change->value.integer);
    if (*how || !ranks) return how;
    return sp_arena_printf(&check->arena, " (1/%" PRIu64 ", as one of %" PRIu64 " ranks has that divide it)", ranks,
                           ranks);
}

/* What the changed prediction lacks that the configured one did not ask for. */
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
    const char *effect =
        !count ? "" : sp_arena_printf(&check->arena, "; yet it lacks %s", sp_some_names(&check->arena, names, count));
    free(names);
    return effect;
}

/* "; or num_attention_heads is not 32 but 16", for changes that explain the same. */
static const char *say_rivals(struct shapeproof_check *check, const struct sp_hypothesis *trial)
{
    const char *says = "";
    for (size_t i = 0; i < trial->rival_count; i++) {
        const struct sp_change *change = trial->rivals[i];
        says = sp_arena_printf(&check->arena, "%s; or %s is not %s but %s", says, sp_key_said(check, change->key),
                               sp_value_words(&check->arena, change->configured),
                               sp_value_words(&check->arena, change->value));
    }
    return says;
}

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

/* "SAYS, num_attention_heads 16 and num_key_value_heads 4"; of what is found the values alone, "SAYS, 32 and 8". */
static const char *say_together(struct shapeproof_check *check, const char *says, const struct sp_change *also,
                                bool found)
{
    for (; also; also = also->also) {
        if (also->value.type == SHAPEPROOF_VALUE_LIST) continue; /* which follows from a number */
        const char *value = sp_value_words(&check->arena, found ? also->value : also->configured);
        says = sp_arena_printf(&check->arena, "%s%s%s%s%s", says, also->also ? ", " : " and ",
                               found ? "" : sp_key_said(check, also->key), found ? "" : " ", value);
    }
    return says;
}

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
    if (value.type == SHAPEPROOF_VALUE_STRING && strcmp(value.string, SP_OTHER_TEXT) == 0) return "agrees with others";
    if (value.type == SHAPEPROOF_VALUE_STRING) {
        if (agrees_with(check, trial, "another")) says = "agrees with %s and others";
        else if (agrees_with(check, trial, sp_arena_printf(&check->arena, "%s-another", value.string)))
            says = "has one that begins with %s";
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

void sp_trial_say(struct shapeproof_check *check, struct shapeproof_cause *cause, const struct sp_hypothesis *trial)
{
    const struct sp_change *change = trial->change;
    const size_t index = (size_t)(cause - check->causes);
    const uint64_t ranks = ranks_of_vocabulary(check, trial);
    const char *says = say_configured(check, change), *lacks = side_effect(check, &trial->variant);
    const char *effect =
        sp_arena_printf(&check->arena, "%s%s%s", lacks, say_rivals(check, trial), say_misspelt(check, change));
    if (*lacks) check->half_explained = true;
    if (change->also)
        cause->message =
            sp_arena_printf(&check->arena, "%s, the file has %s (%s)%s", say_together(check, says, change->also, false),
                            say_together(check, sp_value_words(&check->arena, cause->found), change->also, true),
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
    if (strstr(cause->message, "as one of"))
        cause->hint = sp_arena_printf(&check->arena,
                                      "gather the %" PRIu64 " ranks into one file; if %" PRId64
                                      " tokens are meant, the configuration must say so",
                                      ranks, change->value.integer);
    if (!cause->hint) cause->patch = patch_of_change(&check->arena, change);
}
