/* SPDX-License-Identifier: MIT */
#include "explain/remedy.h"

#include "base/chars.h"
#include "base/names.h"
#include "config/inside.h"
#include "explain/patch.h"

/* Appends the dotted paths of what is in the patch, " --set n_layer=2", each as a shell wants it. */
static void put_options(struct sp_text *text, struct sp_arena *arena, struct shapeproof_value patch, const char *path)
{
    for (size_t i = 0; i < patch.count; i++) {
        const struct shapeproof_member *member = &patch.members[i];
        const char *place = sp_arena_printf(arena, "%s%s%s", path, *path ? "." : "", member->key);
        if (member->value.type == SHAPEPROOF_VALUE_OBJECT && member->value.count) {
            put_options(text, arena, member->value, place);
            continue;
        }
        const char *words = sp_value_words(arena, member->value);
        const char *quote = strpbrk(words, " []{}\"'$`\\*?;&|<>()") ? "'" : "";
        sp_text_printf(text, " --set %s%s=%s%s", quote, place, words, quote);
    }
}

/* Whether nothing of the patch was set on the command line, which would win over what is in the file. */
static bool is_of_file(const struct sp_hyper *hyper, struct sp_arena *arena, struct shapeproof_value patch,
                       const char *path)
{
    for (size_t i = 0; i < patch.count; i++) {
        const struct shapeproof_member *member = &patch.members[i];
        const char *place = sp_arena_printf(arena, "%s%s%s", path, *path ? "." : "", member->key);
        if (sp_hyper_provenance(hyper, place).source == SHAPEPROOF_SOURCE_SETTING) return false;
        if (member->value.type == SHAPEPROOF_VALUE_OBJECT && !is_of_file(hyper, arena, member->value, place))
            return false;
    }
    return true;
}

/* The patch without what has to be taken out, whose paths go into `out`. */
static struct shapeproof_value split_patch(struct sp_arena *arena, struct shapeproof_value patch, const char *path,
                                           struct sp_names *out)
{
    struct shapeproof_value rest = {.type = SHAPEPROOF_VALUE_OBJECT};
    for (size_t i = 0; i < patch.count; i++) {
        const struct shapeproof_member *member = &patch.members[i];
        const char *place = sp_arena_printf(arena, "%s%s%s", path, *path ? "." : "", member->key);
        struct shapeproof_value value = member->value;
        if (value.type == SHAPEPROOF_VALUE_NULL && sp_patch_takes_out(member->key)) {
            sp_names_add(out, place);
            continue;
        }
        if (value.type == SHAPEPROOF_VALUE_OBJECT && value.count) value = split_patch(arena, value, place, out);
        if (value.type != SHAPEPROOF_VALUE_OBJECT || value.count || !member->value.count)
            rest = sp_value_with(arena, rest, member->key, value);
    }
    return rest;
}

/* What to write into a JSON file, and which keys to delete from it. Of {"n_layer": 2} and the key layer_types:
 *
 *     write into config.json: {"n_layer": 2}, and take out 'layer_types': programs compute it anew
 *
 * Where there is only one of the two, the sentence is about that one alone. */
static const char *edits_said(struct sp_arena *arena, const char *file, struct shapeproof_value written,
                              struct sp_names *removed)
{
    const char *const they = removed->count == 1 ? "it" : "them";
    if (!written.count && removed->count)
        return sp_arena_printf(arena, "take %s out of %s: programs compute %s anew", sp_names_text(removed), file,
                               they);
    const char *said = sp_arena_printf(arena, "write into %s: %s", file, sp_value_words(arena, written));
    if (!removed->count) return said;
    return sp_arena_printf(arena, "%s, and take out %s: programs compute %s anew", said, sp_names_text(removed), they);
}

/* What to write into the file whose metadata are the configuration. A program that sets single numbers in place comes
 * with gguf; other values, and keys that are not there, take another conversion. */
static const char *gguf_patch_said(struct shapeproof_check *check, struct shapeproof_value patch)
{
    struct sp_text text = {0};
    bool in_place = true;
    size_t count = 0;
    for (size_t i = 0; i < patch.count; i++) {
        bool there;
        const struct shapeproof_value value = patch.members[i].value;
        const char *key = sp_config_gguf_key(&check->arena, check->inventory, patch.members[i].key, &there);
        if (!key || strncmp(key, "tokenizer.", 10) == 0) continue;
        in_place = in_place && there && value.type != SHAPEPROOF_VALUE_LIST && value.type != SHAPEPROOF_VALUE_OBJECT &&
                   value.type != SHAPEPROOF_VALUE_STRING;
        sp_text_printf(&text, "%s%s to %s", count++ ? ", " : "", key, sp_value_words(&check->arena, value));
    }
    if (!count) return "convert the model again";
    const char *said = sp_text_keep(&text, &check->arena);
    return sp_arena_printf(&check->arena,
                           in_place ? "set %s in the file (gguf_set_metadata of llama.cpp), or convert the model again"
                                    : "convert the model again; this should set %s",
                           said);
}

/* How to apply the patch, for the hint of a cause: "write into config.json: ..." when the values come from a JSON
 * file, with the keys to delete and the options that try it first; "give --set ..." otherwise. */
static const char *patch_said(struct shapeproof_check *check, struct shapeproof_value patch)
{
    const struct sp_hyper *hyper = sp_config_hyper(check->config);
    struct sp_text text = {0};
    if (sp_config_is_of_gguf(check->config, check->inventory) && is_of_file(hyper, &check->arena, patch, ""))
        return gguf_patch_said(check, patch);
    put_options(&text, &check->arena, patch, "");
    const char *options = sp_text_keep(&text, &check->arena);
    if (check->config->variables) /* its keys are not those of a file */
        return sp_arena_printf(&check->arena, "%s tries it", options + 1);
    if (!sp_ends_with(hyper->file, ".json") || !is_of_file(hyper, &check->arena, patch, ""))
        return sp_arena_printf(&check->arena, "give%s", options);
    struct sp_names removed = {0};
    const struct shapeproof_value rest = split_patch(&check->arena, patch, "", &removed);
    const bool is_one_option = !strstr(options + 1, " --set ");
    const char *said = edits_said(&check->arena, hyper->file, rest, &removed);
    sp_names_free(&removed);
    return is_one_option ? sp_arena_printf(&check->arena, "%s;%s tries it", said, options) : said;
}

void sp_say_remedy(struct shapeproof_check *check)
{
    struct shapeproof_value patch = {.type = SHAPEPROOF_VALUE_OBJECT};
    for (size_t i = 0; i < check->cause_count; i++)
        if (sp_value_is_set(check->causes[i].patch)) {
            check->causes[i].patch = sp_patch_complete(check, check->causes[i].patch);
            patch = sp_value_patched(&check->arena, patch, check->causes[i].patch);
        }
    const char *said = patch.count ? patch_said(check, patch) : NULL;
    for (size_t i = 0; i < check->cause_count; i++)
        if (sp_value_is_set(check->causes[i].patch)) check->causes[i].hint = said;
}
