/* SPDX-License-Identifier: MIT
 * What stands in front of names, or is spelt as another program spells it: wrappers, prefixes. The match has already
 * looked past them; here they are counted and said once. */
#include <string.h>

#include "base/chars.h"
#include "check/adapter.h"
#include "explain/files/adapter_described.h"
#include "explain/gather.h"
#include "names/collapse.h"
#include "names/components.h"
#include "names/wrappers.h"

static const char *name_of_stored(const struct shapeproof_check *check, size_t tensor)
{
    return shapeproof_inventory_tensor(check->inventory, tensor)->name;
}

/* How many matched names had that done to them. */
static size_t count_renamed(const struct shapeproof_check *check, unsigned renaming)
{
    size_t count = 0;
    for (size_t i = 0; i < shapeproof_inventory_count(check->inventory); i++)
        count += check->match.predicted_of[i] != SHAPEPROOF_NONE && (check->match.renaming[i] & renaming);
    return count;
}

static struct shapeproof_cause *warn(struct shapeproof_check *check, enum sp_cause_kind kind, size_t explains,
                                     const char *message)
{
    struct shapeproof_cause *cause = sp_blame(check, kind);
    cause->message = message;
    cause->explains = explains;
    return cause;
}

/* Whether every name in the file begins with it. */
static bool is_everywhere(const struct shapeproof_check *check, const char *prefix, size_t length)
{
    for (size_t i = 0; i < shapeproof_inventory_count(check->inventory); i++)
        if (strncmp(name_of_stored(check, i), prefix, length) != 0) return false;
    return true;
}

/* "every name in the file begins" / "12 of 148 names in the file begin". */
static const char *who_begins(struct shapeproof_check *check, const char *prefix, size_t length, size_t count)
{
    if (is_everywhere(check, prefix, length)) return "every name in the file begins";
    return sp_arena_printf(&check->arena, "%zu of %zu names in the file begin", count,
                           shapeproof_inventory_count(check->inventory));
}

/* Whether what `length` bytes of the name are is a key at the top of a pickle, and a dot: the tensor is in a dictionary
 * of its own there. */
static bool is_outer_key(const struct shapeproof_check *check, const char *name, size_t length)
{
    const size_t found = shapeproof_inventory_find(check->inventory, name);
    const size_t outer = found == SHAPEPROOF_NONE ? 0 : shapeproof_inventory_tensor(check->inventory, found)->outer;
    return outer && outer + 1 == length;
}

/* "every name in the file begins with 'module.'"; of a key at the top "every tensor is under the outer key
 * 'module'". The first `length` bytes of `name` are the prefix, which `count` names have. */
static const char *say_prefix(struct shapeproof_check *check, const char *name, size_t length, size_t count)
{
    const int key = (int)length - 1;
    if (!is_outer_key(check, name, length))
        return sp_arena_printf(&check->arena, "%s with '%.*s'", who_begins(check, name, length, count), key + 1, name);
    if (is_everywhere(check, name, length))
        return sp_arena_printf(&check->arena, "every tensor is under the outer key '%.*s'", key, name);
    return sp_arena_printf(&check->arena, "%zu of %zu tensors are under the outer key '%.*s'", count,
                           shapeproof_inventory_count(check->inventory), key, name);
}

/* The length of what was taken away in front of the name; 0 when it was taken from elsewhere too, or nothing was. */
static size_t front_of_name(struct sp_finder *finder, const char *name)
{
    unsigned renaming = 0;
    const char *bare = sp_finder_bare(finder, name, &renaming);
    const size_t length = strlen(name), tail = strlen(bare);
    return tail < length && strcmp(name + length - tail, bare) == 0 ? length - tail : 0;
}

/* What stands in front of every predicted name in the same way, "module._orig_mod.", is said as one. Returns its
 * length, or 0 when the names differ in what was taken away. */
static size_t common_front(const struct shapeproof_check *check)
{
    struct sp_finder finder = {.naming = &check->naming};
    size_t front = 0;
    bool common = true;
    for (size_t i = 0; i < shapeproof_inventory_count(check->inventory) && common; i++) {
        if (check->match.predicted_of[i] == SHAPEPROOF_NONE) continue;
        const size_t length = front_of_name(&finder, name_of_stored(check, i));
        common = length && (!front || length == front);
        front = length;
    }
    sp_finder_free(&finder);
    return common && is_everywhere(check, name_of_stored(check, 0), front) ? front : 0;
}

/* Appends the wrappers in a name that are not in the list yet. */
static size_t list_wrappers(const char *name, const char **seen, size_t count, size_t most)
{
    for (const char *wrapper; (wrapper = sp_wrapper_in(name)) != NULL;) {
        bool known = count == most;
        for (size_t k = 0; k < count; k++) known = known || seen[k] == wrapper;
        if (!known) seen[count++] = wrapper;
        name = strstr(name, wrapper) + strlen(wrapper);
    }
    return count;
}

/* "the wrapper '_orig_mod' stands", "the wrappers '_orig_mod', '_fsdp_wrapped_module' stand". */
static const char *which_wrappers(struct shapeproof_check *check)
{
    enum { MOST = 8 };
    const char *seen[MOST], *list = "";
    size_t count = 0;
    for (size_t i = 0; i < shapeproof_inventory_count(check->inventory); i++)
        count = list_wrappers(name_of_stored(check, i), seen, count, MOST);
    for (size_t i = 0; i < count; i++) list = sp_arena_printf(&check->arena, "%s%s'%s'", list, i ? ", " : "", seen[i]);
    return sp_arena_printf(&check->arena, count > 1 ? "the wrappers %s stand" : "the wrapper %s stands", list);
}

/* Whether the file is an adapter, and its names have no wrappers but those that PEFT puts there. */
static bool has_usual_wrappers(const struct shapeproof_check *check)
{
    for (size_t i = 0; i < shapeproof_inventory_count(check->inventory); i++)
        for (const char *name = name_of_stored(check, i), *wrapper; (wrapper = sp_wrapper_in(name)) != NULL;) {
            if (!sp_is_adapter_wrapper(wrapper)) return false;
            name = strstr(name, wrapper) + strlen(wrapper);
        }
    return sp_is_adapter(check->inventory);
}

/* True when that says all that was taken away. */
static bool say_wrappers(struct shapeproof_check *check)
{
    const size_t count = count_renamed(check, SP_UNWRAPPED), front = count ? common_front(check) : 0;
    if (!count || has_usual_wrappers(check)) return false;
    if (front) warn(check, SP_CAUSE_WRAPPER, count, say_prefix(check, name_of_stored(check, 0), front, count));
    else
        warn(check, SP_CAUSE_WRAPPER, count,
             sp_arena_printf(&check->arena, "%s in %zu of %zu names in the file", which_wrappers(check), count,
                             shapeproof_inventory_count(check->inventory)));
    return front;
}

/* "names of timm: cls_token for embeddings.cls_token (128 tensors)", for what had that done to it. */
static void warn_of_names(struct shapeproof_check *check, unsigned renaming, const char *says, const char *hint)
{
    const size_t count = count_renamed(check, renaming), total = shapeproof_inventory_count(check->inventory);
    for (size_t i = 0; i < total; i++) {
        const size_t predicted = check->match.predicted_of[i];
        if (predicted == SHAPEPROOF_NONE || !(check->match.renaming[i] & renaming)) continue;
        const char *message = sp_arena_printf(&check->arena, "names %s: %s for %s (%s)", says, name_of_stored(check, i),
                                              shapeproof_prediction_tensor(check->prediction, predicted)->name,
                                              sp_count_of(&check->arena, count, "tensor"));
        warn(check, SP_CAUSE_OTHER_NAMES, count, message)->hint = hint;
        return;
    }
}

/* How many names had each front replaced. */
static void count_fronts(const struct shapeproof_check *check, size_t *counts)
{
    struct sp_finder finder = sp_predicted_finder(&check->naming, check->prediction);
    unsigned renaming;
    for (size_t i = 0; i < shapeproof_inventory_count(check->inventory); i++) {
        if (check->match.predicted_of[i] == SHAPEPROOF_NONE || !(check->match.renaming[i] & SP_PREFIX_REPLACED))
            continue;
        sp_finder_find(&finder, name_of_stored(check, i), &renaming);
        counts[finder.rule]++;
    }
    sp_finder_free(&finder);
}

/* Appends "without 'model.' (12)", "with 'module.' (12)" or "with 'a.' for 'b.' (12)"; nothing for no names. */
static void put_front(struct sp_text *text, const char *from, const char *to, size_t count)
{
    if (!count) return;
    if (text->length) sp_text_puts(text, ", ");
    if (!*from) sp_text_printf(text, "without '%s' (%zu)", to, count);
    else if (!*to) sp_text_printf(text, "with '%s' (%zu)", from, count);
    else sp_text_printf(text, "with '%s' for '%s' (%zu)", from, to, count);
}

/* ---- what transformers leaves out since its version 5, and reads with it and without ---- */

/* Whether `to` is `from` with an inner model's own prefix behind it: "vision_tower.vision_model." */
static bool is_inner_prefix(const char *from, const char *to)
{
    static const char *const inner[] = {"vision_model.", "text_model."};
    const size_t length = strlen(from);
    if (strncmp(from, to, length) != 0) return false;
    for (size_t i = 0; i < sizeof inner / sizeof *inner; i++)
        if (strcmp(to + length, inner[i]) == 0) return true;
    return false;
}

/* Whether all that the names lack is what transformers leaves out since version 5, and the configuration is of that.
 * `counts` is how many names had each prefix rule applied; NULL: none had. */
static bool is_left_out_by_writer(const struct shapeproof_check *check, const size_t *counts)
{
    const struct sp_naming *naming = &check->naming;
    if (*naming->strip || naming->scheme || !sp_is_of_transformers_5(check)) return false;
    if (*naming->add && !is_inner_prefix("", naming->add)) return false;
    for (size_t i = 0; i < naming->prefix_rule_count; i++)
        if (counts && counts[i] && !is_inner_prefix(naming->prefix_rules[i].from, naming->prefix_rules[i].to))
            return false;
    return true;
}

/* A warning, or a note, for names that begin differently from predicted ones in several ways: "names in the file begin
 * with 'language_model.' for 'model.' (290), without 'vision_model.' (24)". */
static void warn_of_fronts(struct shapeproof_check *check, size_t stripped, size_t added)
{
    const struct sp_naming *naming = &check->naming;
    size_t counts[SP_MAX_PREFIX_RULES] = {0}, total = 0;
    struct sp_text text = {0};
    count_fronts(check, counts);
    if (!naming->scheme) put_front(&text, "", naming->add, added);
    put_front(&text, naming->strip, "", stripped);
    for (size_t i = 0; i < naming->prefix_rule_count; i++)
        put_front(&text, naming->prefix_rules[i].from, naming->prefix_rules[i].to, counts[i]);
    total = count_renamed(check, SP_STRIPPED | SP_ADDED | SP_PREFIX_REPLACED);
    const bool usual = is_left_out_by_writer(check, counts);
    if (total)
        warn(check, SP_CAUSE_PREFIX, total,
             sp_arena_printf(&check->arena, "names in the file begin %s%s", text.data,
                             usual ? ", as transformers 5 writes them" : ""))
            ->severity = usual ? SHAPEPROOF_SEVERITY_NOTE : SHAPEPROOF_SEVERITY_WARNING;
    sp_text_free(&text);
}

/* The first name of the file that begins with the prefix; the prefix itself where none does. */
static const char *first_with(const struct shapeproof_check *check, const char *prefix)
{
    for (size_t i = 0; i < shapeproof_inventory_count(check->inventory); i++)
        if (strncmp(name_of_stored(check, i), prefix, strlen(prefix)) == 0) return name_of_stored(check, i);
    return prefix;
}

/* Whether the names begin as PEFT writes those of an adapter. */
static bool has_usual_prefix(const struct shapeproof_check *check)
{
    const char *front = sp_has_prompt(check->inventory) ? sp_prompt_front : sp_described_front;
    return strcmp(check->naming.strip, front) == 0 && sp_is_adapter(check->inventory);
}

static void warn_of_prefixes(struct shapeproof_check *check, bool said, size_t stripped, size_t added)
{
    const char *strip = check->naming.strip, *add = check->naming.add;
    if (!said && stripped && !has_usual_prefix(check))
        warn(check, SP_CAUSE_PREFIX, stripped, say_prefix(check, first_with(check, strip), strlen(strip), stripped));
    const bool usual = is_left_out_by_writer(check, NULL);
    if (added && !check->naming.scheme)
        warn(check, SP_CAUSE_BASE_PREFIX, added,
             sp_arena_printf(&check->arena, "the file leaves out '%s' in front of %s%s", add,
                             sp_count_of(&check->arena, added, "name"), usual ? ", as transformers 5 does" : ""))
            ->severity = usual ? SHAPEPROOF_SEVERITY_NOTE : SHAPEPROOF_SEVERITY_WARNING;
}

/* ---- names that begin in two ways ---- */

/* What was done to the beginning of a matched name: flags of enum sp_renaming. `all` or, without it, only what stands
 * in front of it that is not predicted. */
static unsigned front_renaming(const struct shapeproof_check *check, size_t tensor, bool all)
{
    const unsigned renaming = check->match.renaming[tensor];
    const char *name = name_of_stored(check, tensor), *wrapper = sp_wrapper_in(name);
    const bool wrapped = wrapper && strncmp(name, wrapper, strlen(wrapper)) == 0;
    return renaming & (SP_STRIPPED | (all ? SP_ADDED | SP_PREFIX_REPLACED : 0) | (wrapped ? SP_UNWRAPPED : 0));
}

/* Two tensors in layers of one loop, in one module, or anywhere in the file, whose names begin differently. */
struct mixed {
    size_t tensor;     /* one whose name does not begin as predicted; SHAPEPROOF_NONE while there is none */
    size_t other;      /* one whose name does, or has another such beginning */
    size_t count;      /* how many names of the file do not begin as predicted */
    struct sp_map all; /* the first tensor of each loop, "model.layers." */
    struct sp_map few; /* that of each module, "vision_model.embeddings" */
    struct sp_map own; /* the components of predicted names */
    size_t first;      /* the file's first tensor that is compared by its front; SHAPEPROOF_NONE while there is none */
    size_t front;      /* the length of its front */
};

/* Compares the tensor with the first one of its group, which is what `key` says. */
static void mix(struct shapeproof_check *check, struct mixed *mixed, bool all, const char *key, size_t tensor)
{
    struct sp_map *firsts = all ? &mixed->all : &mixed->few;
    if (mixed->tensor != SHAPEPROOF_NONE || sp_map_add(firsts, key, tensor)) return;
    const size_t first = sp_map_get(firsts, key);
    const unsigned renaming = front_renaming(check, tensor, all);
    if (front_renaming(check, first, all) == renaming) return;
    mixed->tensor = renaming ? tensor : first;
    mixed->other = renaming ? first : tensor;
}

/* The components of all predicted names: "model", "norm", "weight". */
static void add_own_components(struct shapeproof_check *check, struct sp_map *own)
{
    for (size_t i = 0; i < shapeproof_prediction_count(check->prediction); i++)
        for (struct sp_component_walk part = {.rest = shapeproof_prediction_tensor(check->prediction, i)->name};
             sp_component_next(&part, ".");)
            sp_map_add(own, sp_arena_copy(&check->arena, part.text, part.length), 0);
}

/* Whether the front is of names that the model does not have, "module.". Programs move parts of composite models into
 * others: LLaVA has model.vision_tower for vision_tower. */
static bool is_foreign(struct shapeproof_check *check, struct mixed *mixed, const char *front, size_t length)
{
    if (!mixed->own.count) add_own_components(check, &mixed->own);
    for (struct sp_component_walk part = {.rest = sp_arena_copy(&check->arena, front, length)};
         sp_component_next(&part, ".");)
        if (sp_map_get(&mixed->own, sp_arena_copy(&check->arena, part.text, part.length)) != SIZE_MAX) return false;
    return true;
}

/* Compares the tensor with the first one of the file by what stands in front of the predicted name: "module." of
 * module.model.norm.weight, nothing of lm_head.weight. Names that differ otherwise, or have a front of names of the
 * model, are left out. */
static void mix_fronts(struct shapeproof_check *check, struct mixed *mixed, const char *predicted, size_t tensor)
{
    const char *name = name_of_stored(check, tensor);
    if (mixed->tensor != SHAPEPROOF_NONE || !sp_ends_with(name, predicted)) return;
    const size_t front = strlen(name) - strlen(predicted);
    const bool is_first = mixed->first == SHAPEPROOF_NONE;
    if (!is_first && front == mixed->front && strncmp(name, name_of_stored(check, mixed->first), front) == 0) return;
    if (front && (name[front - 1] != '.' || !is_foreign(check, mixed, name, front))) return;
    if (is_first) {
        mixed->first = tensor;
        mixed->front = front;
        return;
    }
    mixed->tensor = front ? tensor : mixed->first;
    mixed->other = front ? mixed->first : tensor;
}

/* Finds such a pair: layers.0 with the prefix model., and layers.1 without; or norm.weight with module., and norm.bias
 * without. In a loop all that is done to the beginning must be the same, unless names are translated: a translation
 * may be part of it. In the module of a tensor, and in the one around that, what stands in front must be the same; and
 * in the whole file, of names that have their predicted beginning behind a foreign front: module.model.norm.weight
 * and lm_head.weight. False when there is no such pair. */
static bool find_mixed(struct shapeproof_check *check, struct mixed *mixed)
{
    const bool all = !check->naming.scheme;
    mixed->tensor = mixed->first = SHAPEPROOF_NONE;
    for (size_t i = 0; i < shapeproof_inventory_count(check->inventory); i++) {
        const size_t predicted = check->match.predicted_of[i];
        if (predicted == SHAPEPROOF_NONE) continue;
        const char *name = shapeproof_prediction_tensor(check->prediction, predicted)->name;
        mixed->count += front_renaming(check, i, all) != 0;
        size_t loop = all ? sp_layer_end(name, SP_LAYERS) : 0;
        while (loop && sp_is_digit(name[loop - 1])) loop--;
        if (loop) mix(check, mixed, true, sp_arena_copy(&check->arena, name, loop), i);
        const size_t module = sp_last_component(name, strlen(name), ".");
        const size_t around = module ? sp_last_component(name, module - 1, ".") : 0;
        if (module) mix(check, mixed, false, sp_arena_copy(&check->arena, name, module - 1), i);
        if (around) mix(check, mixed, false, sp_arena_copy(&check->arena, name, around - 1), i);
        mix_fronts(check, mixed, name, i);
    }
    sp_map_free(&mixed->all);
    sp_map_free(&mixed->few);
    sp_map_free(&mixed->own);
    return mixed->tensor != SHAPEPROOF_NONE;
}

/* "begin with 'module.'" or "leave out 'model.'": how the name of mixed->tensor differs from its predicted one. */
static const char *how_begins(struct shapeproof_check *check, const struct mixed *mixed)
{
    const char *name = name_of_stored(check, mixed->tensor), *strip = check->naming.strip;
    const char *predicted =
        shapeproof_prediction_tensor(check->prediction, check->match.predicted_of[mixed->tensor])->name;
    const size_t length = strlen(name), expected = strlen(predicted);
    if (sp_ends_with(name, predicted))
        return sp_arena_printf(&check->arena, "begin with '%.*s'", (int)(length - expected), name);
    if (sp_ends_with(predicted, name))
        return sp_arena_printf(&check->arena, "leave out '%.*s'", (int)(expected - length), predicted);
    if (*strip && (check->match.renaming[mixed->tensor] & SP_STRIPPED))
        return sp_arena_printf(&check->arena, "begin with '%s'", strip);
    return sp_arena_printf(&check->arena, "begin like %s", name);
}

/* An error: no program writes names that begin in two ways, and no loader takes them. Two files were put together. */
static void blame_mixed(struct shapeproof_check *check, const struct mixed *mixed)
{
    struct shapeproof_cause *cause = sp_blame(check, SP_CAUSE_PREFIX);
    cause->severity = SHAPEPROOF_SEVERITY_ERROR;
    cause->explains = mixed->count;
    cause->message = sp_arena_printf(&check->arena, "%zu of %zu names in the file %s, the others do not, such as %s",
                                     mixed->count, shapeproof_inventory_count(check->inventory),
                                     how_begins(check, mixed), name_of_stored(check, mixed->other));
    cause->hint = "give all names the same prefix: a loader ignores a prefix in all names or in none";
}

void sp_explain_naming(struct shapeproof_check *check)
{
    const struct sp_naming *naming = &check->naming;
    struct mixed mixed = {.count = 0};
    if (!check->match.renamed) return;
    if (!naming->tensorflow_names && find_mixed(check, &mixed)) {
        blame_mixed(check, &mixed);
        return;
    }
    const size_t stripped = count_renamed(check, SP_STRIPPED), added = count_renamed(check, SP_ADDED);
    if (naming->tensorflow_names) { /* whatever else was done to them besides */
        warn_of_names(check, SP_RESPELT, "of TensorFlow", NULL);
        return;
    }
    const bool said = say_wrappers(check);
    if (count_renamed(check, SP_PREFIX_REPLACED)) warn_of_fronts(check, stripped, added);
    else warn_of_prefixes(check, said, stripped, added);
    if (naming->scheme) warn_of_names(check, SP_TRANSLATED, naming->scheme->says, naming->scheme->hint);
}
