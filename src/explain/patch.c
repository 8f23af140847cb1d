/* SPDX-License-Identifier: MIT */
#include "explain/patch.h"

#include <string.h>

#include "base/chars.h"
#include "explain/trials/proposals.h"
#include "names/components.h"

/* ---- keys that follow from a text ---- */

/* A text of which programs compute other keys. save_pretrained writes those as well, and where they are there they win.
 * Tables mention no more of the text than decides about tensors. */
static const struct derived {
    const char *key;
    const char *begins, *usual; /* of texts with this beginning the usual one */
    const char *other;          /* the usual one of all others */
    const char *flag;           /* one that is set by such a beginning */
    const char *follows[3];     /* all keys that are computed of the text, up to a NULL */
} derived[] = {
    {"feed_forward_proj", "gated", "gated-gelu", "relu", "is_gated_act", {"is_gated_act", "dense_act_fn"}},
};

static bool follows(const struct derived *row, const char *key)
{
    for (size_t i = 0; row->follows[i]; i++)
        if (strcmp(row->follows[i], key) == 0) return true;
    return false;
}

bool sp_patch_takes_out(const char *key)
{
    for (size_t i = 0; i < sizeof derived / sizeof *derived; i++)
        if (follows(&derived[i], key)) return true;
    return sp_ends_with(key, "layer_types") || strcmp(key, "no_rope_layers") == 0;
}

const char *sp_patch_text_of_flag(const char *flag, const char **begins)
{
    for (size_t i = 0; i < sizeof derived / sizeof *derived; i++) {
        *begins = derived[i].begins;
        if (strcmp(derived[i].flag, flag) == 0) return derived[i].key;
    }
    return NULL;
}

bool sp_patch_knows_text(const char *key)
{
    const char *own = key + sp_last_component(key, strlen(key), ".");
    for (size_t i = 0; i < sizeof derived / sizeof *derived; i++)
        if (strcmp(derived[i].key, own) == 0) return true;
    return false;
}

/* The text that stands for what the trial told: the beginning of many, or any but those that the table mentions. */
static struct shapeproof_value usual_text(const struct derived *row, struct shapeproof_value value)
{
    if (value.type != SHAPEPROOF_VALUE_STRING) return value;
    if (strcmp(value.string, row->begins) == 0) return sp_value_string(row->usual);
    if (strcmp(value.string, SP_OTHER_TEXT) == 0) return sp_value_string(row->other);
    return value;
}

static struct shapeproof_value complete_texts(struct sp_arena *arena, struct shapeproof_value patch,
                                              struct shapeproof_value configured)
{
    for (size_t i = 0; i < sizeof derived / sizeof *derived; i++) {
        const struct derived *row = &derived[i];
        const struct shapeproof_value text = sp_value_member(patch, row->key);
        if (text.type != SHAPEPROOF_VALUE_STRING) continue;
        patch = sp_value_with(arena, patch, row->key, usual_text(row, text));
        for (size_t k = 0; row->follows[k]; k++)
            if (sp_value_member(configured, row->follows[k]).type != SHAPEPROOF_VALUE_ABSENT)
                patch = sp_value_with(arena, patch, row->follows[k],
                                      (struct shapeproof_value){.type = SHAPEPROOF_VALUE_NULL});
    }
    return patch;
}

/* ---- lists with an entry for each layer ---- */

static bool is_count_of_layers(const struct shapeproof_member *member, struct shapeproof_value configured)
{
    const bool named = strstr(member->key, "layer") || strstr(member->key, "depth") || strstr(member->key, "block");
    return named && member->value.type == SHAPEPROOF_VALUE_INT && member->value.integer > 0 &&
           configured.type == SHAPEPROOF_VALUE_INT && configured.integer > 1 &&
           member->value.integer != configured.integer;
}

/* Whether a list that has as many entries as there are layers has one for each: the name says so. */
static bool is_of_layers(const struct shapeproof_member *member, size_t count)
{
    static const char *const words[] = {"layer",           "pattern",         "block_type",        "num_kv_heads",
                                        "num_query_heads", "ffn_multipliers", "intermediate_size", "sparsity"};
    bool named = false;
    if (member->value.type != SHAPEPROOF_VALUE_LIST || member->value.count != count) return false;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) named = named || strstr(member->key, words[i]);
    for (size_t i = 0; i < count && named; i++)
        named = member->value.items[i].type != SHAPEPROOF_VALUE_LIST &&
                member->value.items[i].type != SHAPEPROOF_VALUE_OBJECT;
    return named;
}

static bool is_same_value(struct shapeproof_value a, struct shapeproof_value b)
{
    if (a.type != b.type) return false;
    if (a.type == SHAPEPROOF_VALUE_STRING) return strcmp(a.string, b.string) == 0;
    if (a.type == SHAPEPROOF_VALUE_REAL) return a.real >= b.real && a.real <= b.real;
    return a.type == SHAPEPROOF_VALUE_BOOL ? a.boolean == b.boolean : a.integer == b.integer;
}

/* After how many entries the list repeats itself; it must do so at least once. 0: it does not. */
static size_t period_of(struct shapeproof_value list)
{
    for (size_t period = 1; period * 2 <= list.count; period++) {
        size_t i = period;
        while (i < list.count && is_same_value(list.items[i], list.items[i - period])) i++;
        if (i == list.count) return period;
    }
    return 0;
}

/* Whether the list is one of shares, which programs want to be written with a point, as configurations have them. */
static bool is_of_shares(const char *key) { return strstr(key, "sparsity") || strstr(key, "multiplier"); }

/* The list with so many entries: its first ones; or continued as it repeats itself, or with its last entry. */
static struct shapeproof_value resize_list(struct sp_arena *arena, const struct shapeproof_member *of, size_t count)
{
    const struct shapeproof_value list = of->value;
    const size_t period = period_of(list) ? period_of(list) : 1;
    struct shapeproof_value *items = sp_arena_array(arena, count, sizeof *items);
    for (size_t i = 0; i < count; i++) {
        items[i] = i < list.count ? list.items[i] : items[i - period];
        if (items[i].type == SHAPEPROOF_VALUE_INT && is_of_shares(of->key))
            items[i] = sp_value_real((double)items[i].integer);
    }
    return (struct shapeproof_value){SHAPEPROOF_VALUE_LIST, .count = count, .items = items};
}

/* Whether it is certain how a list of layer types goes on: it is cut; or it alternates, and has done so twice. Where
 * all entries are "full_attention" a class has no other. */
static bool is_certain(struct shapeproof_value list, size_t count)
{
    const size_t period = period_of(list);
    if (count < list.count || period > 1) return true;
    return period == 1 && list.items[0].type == SHAPEPROOF_VALUE_STRING &&
           strcmp(list.items[0].string, "full_attention") == 0;
}

/* Errors that the file has under the configuration with all of the patch; SIZE_MAX when nothing can be predicted. */
static size_t errors_with(struct shapeproof_check *check, const char *path, struct shapeproof_value patch)
{
    struct shapeproof_config *config = sp_config_variant(check->config);
    struct sp_variant variant;
    for (size_t i = 0; i < patch.count; i++)
        sp_config_set_value(config, sp_arena_printf(&check->arena, "%s%s", path, patch.members[i].key),
                            patch.members[i].value, "a patch");
    const size_t errors = sp_variant_under(check, config, NULL, &variant) ? variant.errors : SIZE_MAX;
    sp_variant_free(&variant);
    return errors;
}

/* The patch with the list in its new length; without the list if the file is further from that, because the list has as
 * many entries by chance. A class computes types of layers that are absent, unless the table needs them. */
static struct shapeproof_value with_list(struct shapeproof_check *check, const char *path,
                                         struct shapeproof_value patch, const struct shapeproof_member *list,
                                         size_t count)
{
    struct sp_arena *arena = &check->arena;
    const struct shapeproof_value own = sp_value_with(arena, patch, list->key, resize_list(arena, list, count));
    if (errors_with(check, path, own) > errors_with(check, path, patch)) return patch;
    if (is_certain(list->value, count) || !sp_patch_takes_out(list->key)) return own;
    const struct shapeproof_value none =
        sp_value_with(arena, patch, list->key, (struct shapeproof_value){.type = SHAPEPROOF_VALUE_NULL});
    return errors_with(check, path, none) <= errors_with(check, path, own) ? none : own;
}

/* The patch with all lists of the object in their new length, but for those that it has already. */
static struct shapeproof_value with_lists(struct shapeproof_check *check, const char *path,
                                          struct shapeproof_value patch, const struct shapeproof_member *count,
                                          struct shapeproof_value object)
{
    const struct shapeproof_value now = sp_value_member(object, count->key);
    if (object.type != SHAPEPROOF_VALUE_OBJECT || !is_count_of_layers(count, now)) return patch;
    for (size_t i = 0; i < object.count; i++) {
        const struct shapeproof_member *list = &object.members[i];
        if (is_of_layers(list, (size_t)now.integer) &&
            sp_value_member(patch, list->key).type == SHAPEPROOF_VALUE_ABSENT)
            patch = with_list(check, path, patch, list, (size_t)count->value.integer);
    }
    return patch;
}

struct shapeproof_value sp_patch_lists(struct shapeproof_check *check, const char *path, struct shapeproof_member count)
{
    const struct shapeproof_value root = sp_config_hyper(check->config)->root;
    const size_t length = strlen(path);
    const struct shapeproof_value object =
        length ? sp_value_at(root, sp_arena_copy(&check->arena, path, length - 1)) : root;
    const struct shapeproof_value now = sp_value_member(object, count.key);
    struct shapeproof_value lists = {.type = SHAPEPROOF_VALUE_ABSENT};
    if (object.type != SHAPEPROOF_VALUE_OBJECT || !is_count_of_layers(&count, now)) return lists;
    for (size_t i = 0; i < object.count; i++) {
        const struct shapeproof_member *list = &object.members[i];
        if (is_of_layers(list, (size_t)now.integer))
            lists = sp_value_with(&check->arena, lists, list->key,
                                  resize_list(&check->arena, list, (size_t)count.value.integer));
    }
    return lists;
}

static struct shapeproof_value complete_lists(struct shapeproof_check *check, const char *path,
                                              struct shapeproof_value patch, struct shapeproof_value configured)
{
    const struct shapeproof_value given = patch;
    for (size_t i = 0; i < given.count; i++) patch = with_lists(check, path, patch, &given.members[i], configured);
    return patch;
}

/* ---- the whole ---- */

static struct shapeproof_value complete(struct shapeproof_check *check, const char *path, struct shapeproof_value patch,
                                        struct shapeproof_value configured, int depth)
{
    enum { DEEPEST = 4 };
    struct sp_arena *arena = &check->arena;
    patch = complete_texts(arena, patch, configured);
    patch = complete_lists(check, path, patch, configured);
    for (size_t i = 0; i < patch.count && depth < DEEPEST; i++) {
        const struct shapeproof_member member = patch.members[i];
        if (member.value.type != SHAPEPROOF_VALUE_OBJECT) continue;
        const char *below = sp_arena_printf(arena, "%s%s.", path, member.key);
        patch = sp_value_with(arena, patch, member.key,
                              complete(check, below, member.value, sp_value_member(configured, member.key), depth + 1));
    }
    return patch;
}

struct shapeproof_value sp_patch_complete(struct shapeproof_check *check, struct shapeproof_value patch)
{
    return complete(check, "", patch, sp_config_hyper(check->config)->root, 0);
}
