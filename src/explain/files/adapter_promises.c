/* SPDX-License-Identifier: MIT
 * What an adapter should have: what adapter_config.json promises, in all layers alike, for a base with as many tokens.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/chars.h"
#include "base/names.h"
#include "base/order.h"
#include "check/adapter.h"
#include "config/choose.h"
#include "config/tokenizer.h"
#include "explain/files/adapter_pairs.h"
#include "explain/gather.h"
#include "explain/siblings.h"
#include "explain/vocabulary.h"
#include "names/components.h"

enum { MOST = 64 }; /* entries of a list in adapter_config.json that are looked at */

bool sp_adapter_is_meant(const char *module, const char *key)
{
    const size_t length = strlen(module), tail = strlen(key);
    return length >= tail && strcmp(module + length - tail, key) == 0 &&
           (length == tail || module[length - tail - 1] == '.');
}

bool sp_adapter_is_expression(const char *key) { return strpbrk(key, "*+?[](){}|^$\\") != NULL; }

/* Whether the adapter has tensors for a module that the entry of target_modules means. */
static bool is_targeted(const struct sp_adapted *adapted, const char *target)
{
    for (size_t i = 0; i < adapted->count; i++)
        if (sp_adapter_is_meant(adapted->modules[i], target)) return true;
    return false;
}

/* Entries of target_modules for which the adapter has no tensors. A single string is a regular expression, which is not
 * compared. */
static void explain_targets(const struct sp_adapted *adapted)
{
    const struct shapeproof_value targets = sp_value_member(adapted->config, "target_modules");
    struct sp_names absent = {0};
    for (size_t i = 0; targets.type == SHAPEPROOF_VALUE_LIST && i < targets.count && i < MOST; i++)
        if (targets.items[i].type == SHAPEPROOF_VALUE_STRING && !is_targeted(adapted, targets.items[i].string))
            sp_names_add(&absent, targets.items[i].string);
    if (absent.count) {
        struct shapeproof_cause *cause = sp_blame(adapted->check, SP_CAUSE_ADAPTER_TARGET);
        cause->explains = absent.count;
        cause->message =
            sp_arena_printf(&adapted->check->arena,
                            "adapter_config.json lists %s in target_modules, but the adapter has no tensor for %s",
                            sp_names_text(&absent), absent.count == 1 ? "it" : "them");
    }
    sp_names_free(&absent);
}

/* Whether target_modules is a list of modules that are in all layers: none of its entries has the number of a
 * layer in front of a name, as "layers.0.q_proj" has; "to_out.0" has none. */
static bool names_modules_of_all_layers(struct shapeproof_value targets)
{
    if (targets.type != SHAPEPROOF_VALUE_LIST) return false;
    for (size_t i = 0; i < targets.count; i++) {
        if (targets.items[i].type != SHAPEPROOF_VALUE_STRING) return false;
        for (struct sp_component_walk part = {.rest = targets.items[i].string}; sp_component_next(&part, ".");)
            if (sp_component_is_index(&part)) return false;
    }
    return true;
}

/* Matrices that the adapter does not change, where it changes the same matrix of another layer: of a q_proj of layers
 * 0, 1 and 3 the one of layer 2. Layers are whole components of a name: layer_1 and layer_2 of XLNet are two linear
 * modules of each layer. It is an error where adapter_config.json lists modules that are in all layers. Nothing
 * is said where it chooses layers, by layers_to_transform or exclude_modules. */
static void explain_lacking(const struct sp_adapted *adapted)
{
    struct shapeproof_check *check = adapted->check;
    const struct shapeproof_value config = adapted->config;
    const size_t total = shapeproof_prediction_count(check->prediction);
    struct sp_siblings siblings = {.patterns.rule = SP_INDEX_COMPONENT};
    if (sp_value_is_set(sp_value_member(config, "layers_to_transform"))) return;
    if (sp_value_is_set(sp_value_member(config, "exclude_modules"))) return;
    for (size_t i = 0; i < total; i++) {
        const struct shapeproof_predicted *weight = shapeproof_prediction_tensor(check->prediction, i);
        if (weight->rank >= 2 && !weight->optional)
            sp_siblings_add(&siblings, weight->name, weight->name,
                            sp_map_get(&adapted->weights, weight->name) != SIZE_MAX);
    }
    const size_t count = sp_siblings_lacking(&siblings);
    if (count) {
        struct shapeproof_cause *cause = sp_blame(check, SP_CAUSE_ADAPTER_TARGET);
        if (names_modules_of_all_layers(sp_value_member(config, "target_modules")))
            cause->severity = SHAPEPROOF_SEVERITY_ERROR;
        cause->explains = count;
        cause->message = sp_arena_printf(
            &check->arena, "the adapter has nothing for %s whose siblings in other layers it changes: %s",
            count == 1 ? "1 matrix" : sp_arena_printf(&check->arena, "%zu matrices", count),
            sp_siblings_names(&siblings, &check->arena));
    }
    sp_siblings_free(&siblings);
}

void sp_adapter_hold_to_targets(const struct sp_adapted *adapted)
{
    explain_targets(adapted);
    explain_lacking(adapted);
}

/* The modules of the pairs, and what they change, against target_modules. */
static void explain_targets_of_pairs(const struct sp_judged *judged)
{
    struct shapeproof_check *check = judged->check;
    struct sp_adapted adapted = {.check = check, .config = judged->adapter.config, .count = judged->adapter.count};
    const char **modules = sp_arena_array(&check->arena, judged->adapter.count, sizeof *modules);
    for (size_t i = 0; i < judged->adapter.count; i++) {
        modules[i] = judged->adapter.pairs[i].module;
        for (size_t k = 0; k < judged->bases[i].count; k++)
            sp_map_add(&adapted.weights,
                       shapeproof_prediction_tensor(check->prediction, judged->bases[i].weights[k])->name, i);
    }
    adapted.modules = modules;
    sp_adapter_hold_to_targets(&adapted);
    sp_map_free(&adapted.weights);
}

/* Whether the tensor is in a module of that name, which may have a dot: the name is whole components of the tensor's.
 */
static bool is_in_module(const char *tensor, const char *module)
{
    const size_t length = strlen(module);
    for (const char *place = tensor; length && (place = strstr(place, module)) != NULL; place++)
        if ((place == tensor || place[-1] == '.') && place[length] == '.') return true;
    return false;
}

/* Whether the file has anything of the module. */
static bool is_module_stored(const struct shapeproof_inventory *inventory, const char *module)
{
    for (size_t i = 0; i < shapeproof_inventory_count(inventory); i++)
        if (is_in_module(shapeproof_inventory_tensor(inventory, i)->name, module)) return true;
    return false;
}

/* Whether the model has the module: for a classifier PEFT lists "classifier" and "score", of which a model has one. */
static bool is_module_predicted(const struct shapeproof_prediction *prediction, const char *module)
{
    for (size_t i = 0; i < shapeproof_prediction_count(prediction); i++)
        if (is_in_module(shapeproof_prediction_tensor(prediction, i)->name, module)) return true;
    return false;
}

/* Entries of modules_to_save that the model has, and of which the adapter has nothing. */
static void explain_unsaved(const struct sp_judged *judged)
{
    struct shapeproof_check *check = judged->check;
    const struct shapeproof_value modules = sp_value_member(judged->adapter.config, "modules_to_save");
    struct sp_names absent = {0};
    for (size_t i = 0; modules.type == SHAPEPROOF_VALUE_LIST && i < modules.count && i < MOST; i++)
        if (modules.items[i].type == SHAPEPROOF_VALUE_STRING &&
            !is_module_stored(check->inventory, modules.items[i].string) &&
            is_module_predicted(check->prediction, modules.items[i].string))
            sp_names_add(&absent, modules.items[i].string);
    if (absent.count) {
        struct shapeproof_cause *cause = sp_blame(check, SP_CAUSE_ADAPTER_PART);
        cause->explains = absent.count;
        cause->message =
            sp_arena_printf(&check->arena,
                            "adapter_config.json lists %s in modules_to_save, but the adapter has no tensor of %s: "
                            "trained values are lost",
                            sp_names_text(&absent), absent.count == 1 ? "it" : "them");
    }
    sp_names_free(&absent);
}

/* Whether a tensor of the adapter differs from the base in the number of tokens alone, its first dimension. `rows` is
 * the number that it must have; 0: any. */
static bool has_other_tokens(const struct shapeproof_check *check, const struct shapeproof_finding *finding,
                             const void *rows)
{
    if (!sp_finding_is_open_as(finding, SHAPEPROOF_FINDING_SHAPE)) return false;
    const struct shapeproof_tensor *tensor = shapeproof_inventory_tensor(check->inventory, finding->tensor);
    const struct shapeproof_predicted *expected = shapeproof_prediction_tensor(check->prediction, finding->predicted);
    if (!tensor->rank || tensor->rank != expected->rank || tensor->shape[0] == expected->shape[0]) return false;
    if (!sp_same_dims(tensor->shape + 1, tensor->rank - 1, expected->shape + 1, expected->rank - 1)) return false;
    if (*(const uint64_t *)rows && *(const uint64_t *)rows != tensor->shape[0]) return false;
    char *words = shapeproof_prediction_dimension(check->prediction, finding->predicted, 0);
    const bool is = sp_is_vocabulary(words);
    sp_free(words);
    return is;
}

/* One cause for the embedding and the head that were saved with the adapter with more tokens than the base has: tokens
 * were added for the training. The first such tensor gives the number. */
static void explain_added_tokens(struct shapeproof_check *check)
{
    uint64_t rows = 0; /* any number */
    size_t first = 0;
    while (first < check->finding_count && (check->findings[first].cause != SHAPEPROOF_NONE ||
                                            !has_other_tokens(check, &check->findings[first], &rows)))
        first++;
    if (first == check->finding_count) return;
    const struct shapeproof_finding *finding = &check->findings[first];
    const uint64_t base = shapeproof_prediction_tensor(check->prediction, finding->predicted)->shape[0];
    rows = shapeproof_inventory_tensor(check->inventory, finding->tensor)->shape[0];
    struct shapeproof_cause *cause = sp_gather(check, SP_CAUSE_ADAPTER_SHAPE, has_other_tokens, &rows);
    cause->message = sp_arena_printf(
        &check->arena, "the adapter was trained with %" PRIu64 " tokens, the base has %" PRIu64 ": %s (%s)", rows, base,
        sp_names_of(check, cause), sp_tensors_of(check, cause));
    cause->hint = sp_arena_printf(
        &check->arena, "call resize_token_embeddings(%" PRIu64 ") on the base before the adapter is loaded", rows);
}

/* Whether the first dimension of the predicted tensor counts tokens. */
static bool has_rows_of_tokens(const struct shapeproof_check *check, size_t predicted)
{
    if (!shapeproof_prediction_tensor(check->prediction, predicted)->rank) return false;
    char *words = shapeproof_prediction_dimension(check->prediction, predicted, 0);
    const bool is = sp_is_vocabulary(words);
    sp_free(words);
    return is;
}

/* A tensor or a pair of the adapter for an embedding of tokens or a head: its name in the model and its rows; false
 * when the adapter has none. */
static bool find_rows_of_tokens(const struct sp_judged *judged, const char **name, uint64_t *rows)
{
    const struct shapeproof_check *check = judged->check;
    for (size_t i = 0; i < shapeproof_inventory_count(check->inventory); i++) {
        const struct shapeproof_tensor *tensor = shapeproof_inventory_tensor(check->inventory, i);
        const size_t predicted = check->match.predicted_of[i];
        if (predicted == SHAPEPROOF_NONE || !tensor->rank || !has_rows_of_tokens(check, predicted)) continue;
        *name = shapeproof_prediction_tensor(check->prediction, predicted)->name;
        *rows = tensor->shape[0];
        return true;
    }
    for (size_t i = 0; i < judged->adapter.count; i++) {
        if (judged->fits[i] != SP_FITS || !has_rows_of_tokens(check, judged->bases[i].weights[0])) continue;
        const struct shapeproof_predicted *weight =
            shapeproof_prediction_tensor(check->prediction, judged->bases[i].weights[0]);
        *name = weight->name;
        *rows = weight->shape[0];
        return true;
    }
    return false;
}

/* AutoPeftModel resizes the base to the tokenizer that it finds beside the adapter: up to PEFT 0.14 always, since then
 * only to more rows. */
static void explain_tokenizer(const struct sp_judged *judged)
{
    struct shapeproof_check *check = judged->check;
    const char *name;
    uint64_t rows;
    if (!find_rows_of_tokens(judged, &name, &rows)) return;
    const struct sp_tokenizer tokenizer =
        sp_tokenizer_in(&check->arena, sp_adapter_folder(&check->arena, check->inventory));
    if (!tokenizer.size || tokenizer.size == rows) return;
    struct shapeproof_cause *cause = sp_blame(check, SP_CAUSE_ADAPTER_TOKENIZER);
    cause->explains = 1;
    cause->message = sp_arena_printf(&check->arena,
                                     "the tokenizer beside the adapter has %" PRIu64
                                     " tokens, but %s in the adapter has %" PRIu64 " rows",
                                     tokenizer.size, name, rows);
    cause->hint = sp_arena_printf(
        &check->arena,
        "load it with PeftModel.from_pretrained(base, DIRECTORY): AutoPeftModel%s resizes the base to the "
        "tokenizer, and then the adapter does not fit",
        tokenizer.size < rows ? " of PEFT before 0.15" : "");
}

/* Whether modules_to_save names the module of the tensor: PEFT gives it a copy. What else is stored as a whole, such as
 * an embedding that was resized, is loaded into the base's own tensor. */
static bool is_saved_apart(const struct sp_judged *judged, const char *tensor)
{
    const struct shapeproof_value modules = sp_value_member(judged->adapter.config, "modules_to_save");
    for (size_t i = 0; modules.type == SHAPEPROOF_VALUE_LIST && i < modules.count && i < MOST; i++)
        if (modules.items[i].type == SHAPEPROOF_VALUE_STRING && is_in_module(tensor, modules.items[i].string))
            return true;
    return false;
}

/* The base ties two tensors, and the adapter has one of them trained as a whole: once it is loaded, they differ. */
static void explain_ties(const struct sp_judged *judged)
{
    struct shapeproof_check *check = judged->check;
    for (size_t i = 0; i < check->finding_count; i++) {
        struct shapeproof_finding *finding = &check->findings[i];
        if (finding->kind != SHAPEPROOF_FINDING_TIED_ABSENT || finding->cause != SHAPEPROOF_NONE) continue;
        const size_t partner = sp_match_partner(&check->match, finding->predicted);
        if (partner == SHAPEPROOF_NONE) continue;
        const char *name = shapeproof_prediction_tensor(check->prediction, partner)->name;
        if (!is_saved_apart(judged, name)) continue;
        struct shapeproof_cause *cause = sp_blame(check, SP_CAUSE_ADAPTER_TIED);
        sp_attribute_finding(check, i, cause);
        finding->message = "is not stored: the base has it";
        cause->message = sp_arena_printf(&check->arena, "the base ties %s and %s, and the adapter has %s alone",
                                         finding->name, name, name);
        cause->hint = "once the adapter is loaded, the two differ: set tie_word_embeddings to false when you merge "
                      "the adapter and save the model";
    }
}

/* The heads of classifiers, by the first component of their names. */
static bool is_of_head(const char *name)
{
    static const char *const heads[] = {"score", "classifier", "pre_classifier", "classification_head", "qa_outputs"};
    const size_t length = strcspn(name, ".");
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++)
        if (strlen(heads[i]) == length && strncmp(name, heads[i], length) == 0) return true;
    return false;
}

/* The weights beside the configuration of the base; NULL when they are not on this machine, or are the adapter. */
static struct shapeproof_inventory *open_base(struct shapeproof_check *check)
{
    const char *path = check->config->path;
    struct shapeproof_error ignored = {0};
    if (!path || !*path || !sp_ends_with(path, ".json")) return NULL;
    const char *folder = sp_arena_copy(&check->arena, path, (size_t)(sp_base_name(path) - path));
    if (!*folder || strcmp(folder, sp_adapter_folder(&check->arena, check->inventory)) == 0) return NULL;
    return shapeproof_inventory_open(folder, &ignored);
}

/* Whether the base, as it lies on this machine, has all tensors of the head. */
static bool has_base_head(struct shapeproof_check *check)
{
    struct shapeproof_inventory *base = open_base(check);
    bool has = base != NULL;
    for (size_t i = 0; has && i < shapeproof_prediction_count(check->prediction); i++) {
        const struct shapeproof_predicted *tensor = shapeproof_prediction_tensor(check->prediction, i);
        if (tensor->optional || tensor->buffer || !is_of_head(tensor->name)) continue;
        const size_t found = shapeproof_inventory_find(base, tensor->name);
        has = found != SHAPEPROOF_NONE &&
              sp_same_dims(shapeproof_inventory_tensor(base, found)->shape,
                           shapeproof_inventory_tensor(base, found)->rank, tensor->shape, tensor->rank);
    }
    shapeproof_inventory_close(base);
    return has;
}

/* The base is a classifier, and the adapter has nothing of its head: PEFT saves that only where task_type or
 * modules_to_save ask for it. Nothing is said if the adapter has one module of a head of several, or the base has it.
 */
static void explain_head_of_class(struct shapeproof_check *check, struct shapeproof_value config)
{
    const struct shapeproof_value task = sp_value_member(config, "task_type");
    const char *class = sp_first_class(sp_config_hyper(check->config));
    struct sp_names names = {0};
    const char *module = NULL; /* of the head: "score" */
    bool is_stored = false;
    for (size_t i = 0; i < shapeproof_prediction_count(check->prediction) && !is_stored; i++) {
        const struct shapeproof_predicted *tensor = shapeproof_prediction_tensor(check->prediction, i);
        if (tensor->optional || tensor->buffer || !is_of_head(tensor->name)) continue;
        module = sp_arena_copy(&check->arena, tensor->name, strcspn(tensor->name, "."));
        is_stored = is_module_stored(check->inventory, module);
        if (!is_stored) sp_names_add(&names, tensor->name);
    }
    if (names.count && !is_stored && !has_base_head(check)) {
        struct shapeproof_cause *cause = sp_blame(check, SP_CAUSE_ADAPTER_HEAD);
        if (config.type != SHAPEPROOF_VALUE_OBJECT) cause->severity = SHAPEPROOF_SEVERITY_WARNING;
        cause->explains = names.count;
        cause->message =
            sp_arena_printf(&check->arena,
                            "the base is %s, and the adapter has no tensor of its head%s: %s; if the base lacks "
                            "them too, they are newly initialised",
                            *class ? sp_quote(class).text : "a classifier",
                            task.type == SHAPEPROOF_VALUE_STRING
                                ? sp_arena_printf(&check->arena, " (task_type is %s)", sp_quote(task.string).text)
                                : "",
                            sp_names_text(&names));
        cause->hint = sp_arena_printf(&check->arena,
                                      "train it again with the task_type of the class, such as SEQ_CLS, or with '%s' "
                                      "among modules_to_save: PEFT then saves the head",
                                      module);
    }
    sp_names_free(&names);
}

/* Whether the file has the predicted tensor, under whatever front, or a pair for its module. */
static bool is_trained(const struct shapeproof_check *check, const char *predicted)
{
    const char *last = sp_behind_last(predicted, '.'); /* "weight" */
    struct sp_text module = {0};
    bool is = false;
    sp_text_printf(&module, "%.*s", last > predicted ? (int)(last - predicted) - 1 : 0, predicted);
    for (size_t i = 0; module.length && i < shapeproof_inventory_count(check->inventory) && !is; i++) {
        const char *name = shapeproof_inventory_tensor(check->inventory, i)->name;
        is = is_in_module(name, module.data) && strcmp(sp_behind_last(name, '.'), last) == 0;
    }
    sp_text_free(&module);
    return is;
}

/* The task adds a head to the base, and the adapter lacks tensors of it, which no file has then. */
static void explain_head_of_task(struct shapeproof_check *check)
{
    const char *class = sp_first_class(sp_config_hyper(check->config));
    struct sp_names names = {0};
    const char *module = NULL; /* of the head: "score" */
    for (size_t i = 0; i < shapeproof_prediction_count(check->prediction); i++) {
        const struct shapeproof_predicted *tensor = shapeproof_prediction_tensor(check->prediction, i);
        if (tensor->optional || tensor->buffer || !is_of_head(tensor->name) || is_trained(check, tensor->name))
            continue;
        module = sp_arena_copy(&check->arena, tensor->name, strcspn(tensor->name, "."));
        sp_names_add(&names, tensor->name);
    }
    if (names.count) {
        struct shapeproof_cause *cause = sp_blame(check, SP_CAUSE_ADAPTER_HEAD);
        cause->explains = names.count;
        cause->message = sp_arena_printf(
            &check->arena,
            "task_type adds the head of %s to the base, and the adapter lacks %s of it: %s is newly initialised",
            sp_quote(class).text, sp_names_text(&names), names.count == 1 ? "it" : "each of them");
        cause->hint = sp_arena_printf(&check->arena, "save the adapter again with '%s' among modules_to_save", module);
    }
    sp_names_free(&names);
}

void sp_adapter_hold_to_head(struct shapeproof_check *check, struct shapeproof_value config)
{
    if (check->task_head) explain_head_of_task(check);
    else explain_head_of_class(check, config);
}

/* use_dora in adapter_config.json without magnitudes in the file, or magnitudes without use_dora. */
static void explain_magnitudes(const struct sp_judged *judged)
{
    const struct shapeproof_value config = judged->adapter.config;
    const bool magnitudes = sp_has_magnitudes(judged->check->inventory);
    if (config.type != SHAPEPROOF_VALUE_OBJECT || magnitudes == sp_value_is_true(sp_value_member(config, "use_dora")))
        return;
    struct shapeproof_cause *cause = sp_blame(judged->check, SP_CAUSE_ADAPTER_PART);
    cause->explains = 1;
    cause->message = magnitudes ? "the adapter has magnitudes of DoRA, but adapter_config.json does not set "
                                  "use_dora: loaders ignore the magnitudes"
                                : "adapter_config.json sets use_dora, but the adapter has no magnitudes "
                                  "(lora_magnitude_vector): loaders initialise their own";
}

void sp_adapter_hold_to_promises(const struct sp_judged *judged)
{
    if (judged->another) return;
    explain_targets_of_pairs(judged);
    explain_magnitudes(judged);
    explain_unsaved(judged);
    if (judged->base.whole) return;
    explain_added_tokens(judged->check);
    explain_tokenizer(judged);
    explain_ties(judged);
    if (judged->counts[SP_FITS]) sp_adapter_hold_to_head(judged->check, judged->adapter.config);
}
