/* SPDX-License-Identifier: MIT */
#include "match/naming.h"

#include <string.h>

#include "names/spelling.h"
#include "names/wrappers.h"

/* The prefix rule that the name of a component begins with, or NULL. */
static const struct sp_prefix_rule *front_of(const struct sp_naming *naming, const char *name)
{
    for (size_t i = 0; i < naming->prefix_rule_count; i++) {
        const struct sp_prefix_rule *rule = &naming->prefix_rules[i];
        if (*rule->from && strncmp(name, rule->from, strlen(rule->from)) == 0) return rule;
    }
    return NULL;
}

void sp_naming_apply(const struct sp_naming *naming, const char *name, struct sp_text *text)
{
    const size_t strip = strlen(naming->strip);
    size_t row = 0;
    struct sp_text bare = {0}, translated = {0};
    if (naming->drop_wrappers) {
        sp_unwrap(&bare, name);
        name = bare.data;
    }
    const struct sp_prefix_rule *rule = front_of(naming, name);
    if (rule) name += strlen(rule->from);
    else if (strncmp(name, naming->strip, strip) == 0) name += strip;
    if (!rule && naming->scheme && sp_naming_scheme_translate(naming->scheme, name, &row, &translated))
        name = translated.data;
    sp_text_puts(text, rule ? rule->to : naming->add);
    sp_text_puts(text, name);
    sp_text_free(&bare);
    sp_text_free(&translated);
}

/* ---- looking up under a naming ---- */

/* With what the file left out in front. */
static size_t find_added(struct sp_finder *finder, const char *name, unsigned *renaming)
{
    const char *add = finder->naming->add;
    if (!*add) return SHAPEPROOF_NONE;
    finder->whole.length = 0;
    sp_text_puts(&finder->whole, add);
    sp_text_puts(&finder->whole, name);
    const size_t found = finder->find(finder->context, finder->whole.data);
    if (found != SHAPEPROOF_NONE) *renaming |= SP_ADDED;
    return found;
}

const char *sp_finder_plain(struct sp_finder *finder, const char *name, unsigned *renaming)
{
    if (finder->naming->tensorflow_names && strchr(name, '/')) {
        sp_arena_free(&finder->spellings);
        name = sp_spell(&finder->spellings, name).text;
        *renaming |= SP_RESPELT;
    }
    if (finder->naming->drop_wrappers && sp_wrapper_in(name)) {
        sp_unwrap(&finder->bare, name);
        name = finder->bare.data;
        *renaming |= SP_UNWRAPPED;
    }
    return name;
}

const char *sp_finder_bare(struct sp_finder *finder, const char *name, unsigned *renaming)
{
    const char *strip = finder->naming->strip;
    name = sp_finder_plain(finder, name, renaming);
    if (!*strip || strncmp(name, strip, strlen(strip)) != 0) return name;
    *renaming |= SP_STRIPPED;
    return name + strlen(strip);
}

/* As the prefix rule of a component says. */
static size_t find_fronted(struct sp_finder *finder, const char *name, unsigned *renaming)
{
    const struct sp_naming *naming = finder->naming;
    size_t found = SHAPEPROOF_NONE;
    name = sp_finder_plain(finder, name, renaming);
    for (size_t i = 0; i < naming->prefix_rule_count && found == SHAPEPROOF_NONE; i++) {
        const size_t from = strlen(naming->prefix_rules[i].from);
        if (strncmp(name, naming->prefix_rules[i].from, from) != 0) continue;
        finder->whole.length = 0;
        sp_text_puts(&finder->whole, naming->prefix_rules[i].to);
        sp_text_puts(&finder->whole, name + from);
        found = finder->find(finder->context, finder->whole.data);
        finder->rule = i;
    }
    if (found != SHAPEPROOF_NONE) *renaming = (*renaming & (SP_UNWRAPPED | SP_RESPELT)) | SP_PREFIX_REPLACED;
    return found;
}

/* As the naming of the whole file says. */
static size_t find_under_naming(struct sp_finder *finder, const char *name, unsigned *renaming)
{
    const struct sp_naming_scheme *scheme = finder->naming->scheme;
    const char *bare = sp_finder_bare(finder, name, renaming);
    size_t found = bare != name ? finder->find(finder->context, bare) : SHAPEPROOF_NONE;
    if (found == SHAPEPROOF_NONE) found = find_added(finder, bare, renaming);
    for (size_t row = 0;
         found == SHAPEPROOF_NONE && scheme && sp_naming_scheme_translate(scheme, bare, &row, &finder->translated);) {
        *renaming |= SP_TRANSLATED;
        found = finder->find(finder->context, finder->translated.data);
        if (found == SHAPEPROOF_NONE) found = find_added(finder, finder->translated.data, renaming);
    }
    return found;
}

static size_t find_predicted(const void *prediction, const char *name)
{
    return shapeproof_prediction_find(prediction, name);
}

struct sp_finder sp_predicted_finder(const struct sp_naming *naming, const struct shapeproof_prediction *prediction)
{
    return (struct sp_finder){.naming = naming, .find = find_predicted, .context = prediction};
}

size_t sp_finder_find(struct sp_finder *finder, const char *name, unsigned *renaming)
{
    size_t found = finder->find(finder->context, name);
    *renaming = 0;
    if (found == SHAPEPROOF_NONE) found = find_under_naming(finder, name, renaming);
    if (found == SHAPEPROOF_NONE && finder->naming->prefix_rule_count) found = find_fronted(finder, name, renaming);
    return found;
}

size_t sp_keep_name(const void *context, const char *name)
{
    const struct sp_name_keeper *keeper = context;
    sp_map_add(keeper->names, sp_arena_string(keeper->arena, name), keeper->tensor);
    return SHAPEPROOF_NONE;
}

void sp_finder_free(struct sp_finder *finder)
{
    sp_text_free(&finder->bare);
    sp_text_free(&finder->whole);
    sp_text_free(&finder->translated);
    sp_arena_free(&finder->spellings);
}

bool sp_naming_is_plain(const struct sp_naming *naming)
{
    return !*naming->strip && !*naming->add && !naming->drop_wrappers && !naming->tensorflow_names && !naming->scheme &&
           !naming->prefix_rule_count;
}
