/* SPDX-License-Identifier: MIT */
#include "explain/remedy.h"

#include "base/chars.h"

/* More values than that are not said as options as well. */
enum { MOST_OPTIONS = 1 };

struct sp_remedy sp_remedy_with(struct sp_check *check, struct sp_remedy remedy, const char *path,
                                struct sp_value value)
{
    struct sp_remedy more = {.values = sp_arena_array(&check->arena, remedy.count + 1, sizeof *more.values)};
    for (size_t i = 0; i < remedy.count; i++)
        if (strcmp(remedy.values[i].key, path) != 0) more.values[more.count++] = remedy.values[i];
    more.values[more.count++] = (struct sp_member){path, value};
    return more;
}

struct sp_remedy sp_remedy_join(struct sp_check *check, struct sp_remedy first, struct sp_remedy second)
{
    for (size_t i = 0; i < second.count; i++)
        first = sp_remedy_with(check, first, second.values[i].key, second.values[i].value);
    return first;
}

/* " --set n_layer=2", each as a shell wants it. */
static const char *options_of_remedy(struct sp_check *check, struct sp_remedy remedy)
{
    const char *options = "";
    for (size_t i = 0; i < remedy.count; i++) {
        const char *words = sp_value_words(&check->arena, remedy.values[i].value);
        const char *quote = strpbrk(words, " []{}\"'$`\\*?;&|<>()") ? "'" : "";
        options =
            sp_arena_printf(&check->arena, "%s --set %s%s=%s%s", options, quote, remedy.values[i].key, words, quote);
    }
    return options;
}

static bool is_set_by_option(const struct sp_hyper *hyper, const char *path)
{
    for (size_t i = 0; i < hyper->override_count; i++)
        if (strcmp(hyper->overrides[i].path, path) == 0 && hyper->overrides[i].from.source == SP_SOURCE_SETTING)
            return true;
    return false;
}

/* Whether the configuration is a file that a patch can be written into, and nothing set apart from it would win. */
static bool is_for_file(const struct sp_check *check, struct sp_remedy remedy)
{
    const struct sp_hyper *hyper = sp_config_hyper(check->config);
    if (!sp_ends_with(hyper->file, ".json")) return false;
    for (size_t i = 0; i < remedy.count; i++)
        if (is_set_by_option(hyper, remedy.values[i].key)) return false;
    return true;
}

static struct sp_value patch_of_remedy(struct sp_check *check, struct sp_remedy remedy)
{
    struct sp_value patch = {.type = SP_OBJECT};
    for (size_t i = 0; i < remedy.count; i++)
        patch = sp_value_with(&check->arena, patch, remedy.values[i].key, remedy.values[i].value);
    return patch;
}

const char *sp_remedy_said(struct sp_check *check, struct sp_remedy remedy, const struct sp_cause *cause)
{
    const char *vanish = sp_what_vanishes(&check->arena, cause), *options = options_of_remedy(check, remedy);
    if (!is_for_file(check, remedy)) return sp_arena_printf(&check->arena, "with%s %s", options, vanish);
    const char *try = remedy.count > MOST_OPTIONS ? "" : sp_arena_printf(&check->arena, ";%s tries it", options);
    return sp_arena_printf(&check->arena, "write %s into %s, and %s%s",
                           sp_value_words(&check->arena, patch_of_remedy(check, remedy)),
                           sp_config_hyper(check->config)->file, vanish, try);
}
