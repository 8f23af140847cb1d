/* SPDX-License-Identifier: MIT
 * The modules of an adapter against those that adapter_config.json chooses, in the way of PEFT: by the ends of their
 * names, by the numbers of their layers, and for experts by the names of their parameters. */
#include <inttypes.h>
#include <string.h>

#include "base/chars.h"
#include "base/checked.h"
#include "explain/files/adapter_described.h"
#include "names/components.h"

/* ---- the modules ---- */

/* Whether a pattern of a module is a name: PEFT takes any pattern for a regular expression, and these are not compared.
 */
static bool is_plain_name(const char *text)
{
    return *text && !text[strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")];
}

/* The entry of the list that names the module: as a whole, or by its last components, of at most LONGEST characters
 * together, for a name may have 64 KiB. A part of the module; NULL for none. */
static const char *entry_for(const struct sp_map *list, const char *module)
{
    enum { LONGEST = 1024 };
    const size_t length = strlen(module);
    const char *rest = length > LONGEST ? module + (length - LONGEST) : module;
    if (sp_map_get(list, module) != SIZE_MAX) return module;
    for (; rest; rest = sp_behind_component(rest, "."))
        if (sp_map_get(list, rest) != SIZE_MAX) return rest;
    return NULL;
}

static bool is_listed(const struct sp_map *list, const char *module) { return entry_for(list, module) != NULL; }

/* Adds the strings of a list; false when the value is something else. */
static bool add_strings(struct sp_map *map, struct shapeproof_value list)
{
    if (list.type != SHAPEPROOF_VALUE_LIST) return false;
    for (size_t i = 0; i < list.count; i++)
        if (list.items[i].type == SHAPEPROOF_VALUE_STRING) sp_map_add(map, list.items[i].string, i);
        else return false;
    return true;
}

/* Which modules adapter_config.json chooses. */
struct choice {
    struct sp_map targets, excluded;
    const char **numbers;                    /* layers_to_transform, as texts */
    struct sp_map layers;                    /* the same, to be looked up */
    struct sp_map parameters;                /* the modules that target_parameters is about */
    const struct shapeproof_value *patterns; /* of layers_pattern; NULL: layers may be called anything */
    size_t pattern_count;
    bool has_targets; /* false: there are only target_parameters */
    bool ties;        /* ensure_weight_tying: what is tied to a target is changed with it */
};

/* Reads layers_to_transform: a number or a list of numbers; an empty list chooses all. */
static bool read_layers(struct sp_described *described, struct choice *choice)
{
    const struct shapeproof_value layers = sp_described_setting(described, "layers_to_transform");
    const bool one = layers.type == SHAPEPROOF_VALUE_INT;
    if (!sp_value_is_set(layers)) return true;
    if (!one && layers.type != SHAPEPROOF_VALUE_LIST) return false;
    const size_t count = one ? 1 : layers.count;
    choice->numbers = sp_arena_array(described->arena, count, sizeof *choice->numbers);
    for (size_t i = 0; i < count; i++) {
        const struct shapeproof_value layer = one ? layers : layers.items[i];
        if (layer.type != SHAPEPROOF_VALUE_INT) return false;
        const char *number = sp_arena_printf(described->arena, "%" PRId64, layer.integer);
        const size_t next = choice->layers.count;
        if (sp_map_add(&choice->layers, number, next)) choice->numbers[next] = number;
    }
    return true;
}

/* Reads layers_pattern: a name or a list of names; false of more than any model has. */
static bool read_patterns(struct sp_described *described, struct choice *choice)
{
    enum { MOST_PATTERNS = 64 };
    struct shapeproof_value *patterns = sp_arena_array(described->arena, 1, sizeof *patterns);
    *patterns = sp_described_setting(described, "layers_pattern");
    if (!sp_value_is_set(*patterns)) return true;
    choice->patterns = patterns->type == SHAPEPROOF_VALUE_LIST ? patterns->items : patterns;
    choice->pattern_count = patterns->type == SHAPEPROOF_VALUE_LIST ? patterns->count : 1;
    if (choice->pattern_count > MOST_PATTERNS) return false;
    for (size_t i = 0; i < choice->pattern_count; i++)
        if (choice->patterns[i].type != SHAPEPROOF_VALUE_STRING || !is_plain_name(choice->patterns[i].string))
            return false;
    return true;
}

/* Reads the modules of target_parameters: "mlp.experts" of "mlp.experts.down_proj". False of a parameter without a
 * module, "down_proj", which may be in any. */
static bool read_parameters(struct sp_described *described, struct choice *choice)
{
    const struct shapeproof_value parameters = sp_described_setting(described, "target_parameters");
    if (!sp_value_is_set(parameters)) return true;
    if (parameters.type != SHAPEPROOF_VALUE_LIST) return false;
    for (size_t i = 0; i < parameters.count; i++) {
        if (parameters.items[i].type != SHAPEPROOF_VALUE_STRING) return false;
        const char *name = parameters.items[i].string;
        const size_t length = sp_last_component(name, strlen(name), ".");
        if (!length) return false;
        sp_map_add(&choice->parameters, sp_arena_copy(described->arena, name, length - 1), i);
    }
    return true;
}

/* Reads what chooses the modules; false when a part of it is a regular expression, or of a kind that PEFT has not. */
static bool read_choice(struct sp_described *described, struct choice *choice)
{
    const struct shapeproof_value excluded = sp_described_setting(described, "exclude_modules");
    const struct shapeproof_value targets = sp_described_setting(described, "target_modules");
    choice->ties = sp_value_is_true(sp_described_setting(described, "ensure_weight_tying"));
    choice->has_targets = sp_value_is_set(targets);
    return (!choice->has_targets || add_strings(&choice->targets, targets)) &&
           (!sp_value_is_set(excluded) || add_strings(&choice->excluded, excluded)) && read_layers(described, choice) &&
           read_patterns(described, choice) && read_parameters(described, choice);
}

static void free_choice(struct choice *choice)
{
    sp_map_free(&choice->targets);
    sp_map_free(&choice->excluded);
    sp_map_free(&choice->layers);
    sp_map_free(&choice->parameters);
}

/* Whether the component in front of a number is one of layers_pattern. */
static bool is_pattern(const struct choice *choice, const char *text, size_t length)
{
    for (size_t i = 0; i < choice->pattern_count; i++)
        if (sp_is_component(text, length, choice->patterns[i].string)) return true;
    return !choice->pattern_count;
}

/* The number of the module's layer, as PEFT finds it: a component of digits that is not the last, and that is behind
 * one of layers_pattern or, without these, behind two components at least. Of several the first or, as older versions
 * of PEFT have it, the last. NULL without one. */
static const char *layer_of(const struct choice *choice, const char *module, size_t *length, bool is_last)
{
    const char *before = NULL, *found = NULL;
    size_t index = 0, before_length = 0;
    for (struct sp_component_walk part = {.rest = module}; sp_component_next(&part, "."); index++) {
        if (sp_component_is_index(&part) && (is_last || !found) && index >= (choice->pattern_count ? 1 : 2) &&
            is_pattern(choice, before, before_length)) {
            *length = part.length;
            found = part.text;
        }
        before = part.text;
        before_length = part.length;
    }
    return found;
}

/* Whether layers_to_transform leaves the module out, in all versions of PEFT. */
static bool is_of_other_layer(struct sp_described *described, const struct choice *choice, const char *module)
{
    if (!choice->layers.count || sp_map_get(&choice->targets, module) != SIZE_MAX) return false;
    for (int is_last = 0; is_last < 2; is_last++) {
        size_t length;
        const char *layer = layer_of(choice, module, &length, is_last);
        if (layer && sp_map_get(&choice->layers, sp_arena_copy(described->arena, layer, length)) != SIZE_MAX)
            return false;
    }
    return true;
}

/* Why adapter_config.json does not choose a module. */
enum reason { EXCLUDED, NOT_LISTED, OF_OTHER_LAYER, REASONS, CHOSEN = REASONS };

/* The reason for a module of the file. One that is tied to an embedding, and so in no layer, may be chosen with it. */
static enum reason why_unchosen(struct sp_described *described, const struct choice *choice, const char *module)
{
    const bool may_be_tied = choice->ties && !module[strcspn(module, "0123456789")];
    if (is_listed(&choice->parameters, module)) return CHOSEN;
    if (is_listed(&choice->excluded, module)) return EXCLUDED;
    if (may_be_tied) return CHOSEN;
    if (!is_listed(&choice->targets, module)) return NOT_LISTED;
    return is_of_other_layer(described, choice, module) ? OF_OTHER_LAYER : CHOSEN;
}

/* Modules of the file that adapter_config.json does not choose, by the reason. */
static void explain_unchosen(struct sp_described *described, const struct choice *choice)
{
    static const char *const says[REASONS] = {
        "exclude_modules in adapter_config.json excludes modules of the adapter, whose tensors PEFT ignores",
        "target_modules in adapter_config.json does not list modules of the adapter, whose tensors PEFT ignores",
        "layers_to_transform in adapter_config.json does not list layers of the adapter, whose tensors PEFT ignores"};
    for (enum reason reason = EXCLUDED; reason < REASONS; reason++) {
        for (size_t i = 0; i < described->count; i++) {
            const struct sp_described_item *item = &described->items[i];
            if (item->module && sp_described_is_own(described, item) &&
                why_unchosen(described, choice, item->module) == reason)
                sp_described_name(described, item->module);
        }
        sp_described_blame(described, says[reason], "module");
    }
}

/* The module with another layer's number: "layers.1.q_proj" of "layers.0.q_proj" and "1". */
static const char *in_layer(struct sp_arena *arena, const char *module, const char *layer, size_t length,
                            const char *other)
{
    return sp_arena_printf(arena, "%.*s%s%s", (int)(layer - module), module, other, layer + length);
}

/* Whether modules_to_save names single modules, "layers.2.q_proj": these are trained in full, and have no adapter. */
static bool saves_single_modules(const struct sp_described *described)
{
    const struct shapeproof_value saved = sp_described_setting(described, "modules_to_save");
    for (size_t i = 0; saved.type == SHAPEPROOF_VALUE_LIST && i < saved.count; i++)
        if (saved.items[i].type == SHAPEPROOF_VALUE_STRING && strchr(saved.items[i].string, '.')) return true;
    return false;
}

/* How many modules in other layers are looked at, so that the time is bounded. */
enum { MOST_LOOKUPS = 1 << 16 };

/* Modules that the file has in one layer of layers_to_transform, and lacks in another one that the model has. Two sorts
 * of modules are passed over: those that target_modules names as a whole, because they are in one layer alone, and
 * those with a name in which versions of PEFT find different layers. */
static void explain_lacking_layers(struct sp_described *described, const struct choice *choice)
{
    struct sp_arena *arena = described->arena;
    struct sp_map there = {0}, asked = {0};
    size_t lookups = 0;
    if (saves_single_modules(described)) return;
    for (size_t i = 0; i < described->count; i++)
        if (described->items[i].module) sp_map_add(&there, described->items[i].module, i);
    for (size_t i = 0; i < described->count && choice->layers.count; i++) {
        const struct sp_described_item *item = &described->items[i];
        size_t length, last_length;
        if (!item->module || !sp_described_is_own(described, item) || is_listed(&choice->parameters, item->module) ||
            sp_map_get(&choice->targets, item->module) != SIZE_MAX)
            continue;
        const char *layer = layer_of(choice, item->module, &length, false);
        if (layer != layer_of(choice, item->module, &last_length, true)) continue;
        if (!layer || !sp_map_add(&asked, in_layer(arena, item->module, layer, length, "*"), i)) continue;
        for (size_t k = 0; k < choice->layers.count && lookups++ < MOST_LOOKUPS; k++) {
            const char *module = in_layer(arena, item->module, layer, length, choice->numbers[k]);
            if (sp_map_get(&there, module) != SIZE_MAX || is_listed(&choice->excluded, module) ||
                !is_listed(&choice->targets, module))
                continue;
            const char *full = sp_arena_printf(arena, "%s%s", sp_described_front, module);
            if (sp_described_weight(described, full) == SHAPEPROOF_NONE) continue;
            sp_described_name(described, module);
        }
    }
    sp_described_blame(described,
                       "layers_to_transform in adapter_config.json lists layers for which the adapter has no tensors",
                       "module");
    sp_map_free(&there);
    sp_map_free(&asked);
}

/* The module of a predicted weight that PEFT finds and adapts by an entry of target_modules; NULL for any other tensor.
 * LN tuning has norms, and other methods matrices. A single expert is a module in some releases of transformers, and a
 * row of a tensor for all experts in others: it is left open. */
static const char *chosen_module(const struct sp_described *described, const struct choice *choice, size_t predicted)
{
    static const char end[] = ".weight";
    const struct shapeproof_predicted *weight = shapeproof_prediction_tensor(described->check->prediction, predicted);
    const bool of_norms = sp_described_is_of_type(described, "LN_TUNING");
    if (weight->optional || weight->buffer || !sp_ends_with(weight->name, end) || (weight->rank < 2 && !of_norms))
        return NULL;
    if (strstr(weight->name, ".experts.")) return NULL;
    const char *module = sp_arena_copy(described->arena, weight->name, strlen(weight->name) - strlen(end));
    if (!is_listed(&choice->targets, module) || is_listed(&choice->excluded, module)) return NULL;
    const char *full = sp_arena_printf(described->arena, "%s%s", sp_described_front, module);
    return sp_described_weight(described, full) == predicted ? module : NULL;
}

/* Modules that target_modules chooses in the model, and of which the file has nothing: those of an entry that the file
 * has in no layer, and all of LN tuning. An entry that is there in other layers is left to adapter_promises.c. */
static void explain_lacking_targets(struct sp_described *described, const struct choice *choice)
{
    const bool of_norms = sp_described_is_of_type(described, "LN_TUNING");
    struct sp_map there = {0}, met = {0}; /* modules; entries that the file has */
    for (size_t i = 0; i < described->count; i++) {
        const char *module = described->items[i].module;
        const char *entry = module ? entry_for(&choice->targets, module) : NULL;
        if (module) sp_map_add(&there, module, i);
        if (entry && !of_norms) sp_map_add(&met, entry, i);
    }
    for (size_t i = 0; i < shapeproof_prediction_count(described->check->prediction); i++) {
        const char *module = choice->layers.count ? NULL : chosen_module(described, choice, i);
        if (!module || sp_map_get(&there, module) != SIZE_MAX) continue;
        if (sp_map_get(&met, entry_for(&choice->targets, module)) == SIZE_MAX) sp_described_name(described, module);
    }
    sp_described_blame(described,
                       "target_modules in adapter_config.json lists modules for which the adapter has no tensors: PEFT "
                       "leaves them at their initial values",
                       "module");
    sp_map_free(&there);
    sp_map_free(&met);
}

/* ---- experts ---- */

/* Whether a LoRA tensor belongs to the experts of a layer as target_parameters has them, one pair for all. */
static bool is_of_experts(const struct choice *choice, const struct sp_described_item *item)
{
    return item->module && strcmp(sp_behind_last(item->module, '.'), "experts") == 0 &&
           is_listed(&choice->parameters, item->module);
}

/* The number of experts, where the model has them in one tensor (experts, ...) a layer; 0 where it is not known. */
static uint64_t count_experts(const struct shapeproof_prediction *prediction)
{
    uint64_t count = 0;
    for (size_t i = 0; i < shapeproof_prediction_count(prediction); i++) {
        const struct shapeproof_predicted *tensor = shapeproof_prediction_tensor(prediction, i);
        if (tensor->rank != 3 || !strstr(tensor->name, ".experts.")) continue;
        if (count && count != tensor->shape[0]) return 0;
        count = tensor->shape[0];
    }
    return count;
}

/* A has r rows and B r columns for each expert, so they have as many in every layer. */
static void explain_ranks_of_experts(struct sp_described *described, const struct choice *choice)
{
    const struct shapeproof_value pattern = sp_described_setting(described, "rank_pattern");
    const uint64_t rank = sp_value_count(sp_described_setting(described, "r"));
    uint64_t rows = 0;
    if (!rank || (pattern.type == SHAPEPROOF_VALUE_OBJECT && pattern.count)) return;
    if (!sp_mul_u64(rank, count_experts(described->check->prediction), &rows)) return;
    for (size_t i = 0; i < described->count; i++) {
        const struct sp_described_item *item = &described->items[i];
        const bool is_a = strcmp(item->component, "lora_A") == 0;
        if (!is_of_experts(choice, item) || item->tensor->rank != 2) continue;
        if (!is_a && strcmp(item->component, "lora_B") != 0) continue;
        const uint64_t is = item->tensor->shape[is_a ? 0 : 1];
        if (is % rank == 0 && !rows) rows = is;
        const bool is_of_vectors = is == rank; /* one for each expert: a matrix (experts, n) has r ranks */
        if (!is_of_vectors && (is % rank || is != rows)) sp_described_name(described, item->tensor->name);
    }
    sp_described_blame(described,
                       sp_arena_printf(described->arena,
                                       "r in adapter_config.json is %" PRIu64
                                       ", and a pair for experts has r times as many "
                                       "ranks as there are experts; tensors have another rank",
                                       rank),
                       "tensor");
}

/* The layers of the model with experts, as texts of their numbers; and what is in front of these, the same for all of
 * them. False when it differs, or no layer has experts. */
static bool find_layers_of_experts(const struct sp_described *described, struct sp_map *layers, const char **list)
{
    static const struct choice any = {.patterns = NULL};
    const struct shapeproof_prediction *prediction = described->check->prediction;
    const char *first = NULL;
    size_t before = 0;
    for (size_t i = 0; i < shapeproof_prediction_count(prediction); i++) {
        const struct shapeproof_predicted *tensor = shapeproof_prediction_tensor(prediction, i);
        size_t length;
        const char *layer = strstr(tensor->name, ".experts.") ? layer_of(&any, tensor->name, &length, false) : NULL;
        if (!layer || tensor->optional) continue;
        if (!first) before = (size_t)(layer - tensor->name);
        if (!first) first = tensor->name;
        if (before != (size_t)(layer - tensor->name) || strncmp(first, tensor->name, before) != 0) return false;
        const char *number = sp_arena_copy(described->arena, layer, length);
        const size_t next = layers->count;
        if (sp_map_add(layers, number, next)) list[next] = number;
    }
    return first;
}

/* Experts that have a pair in one layer and none in another, which target_parameters means as well. */
static void explain_lacking_experts(struct sp_described *described, const struct choice *choice)
{
    static const struct choice any = {.patterns = NULL};
    struct sp_arena *arena = described->arena;
    const size_t predicted = shapeproof_prediction_count(described->check->prediction);
    const char **list = sp_arena_array(arena, predicted, sizeof *list);
    struct sp_map layers = {0}, there = {0}, asked = {0};
    size_t lookups = 0;
    const bool known = find_layers_of_experts(described, &layers, list);
    for (size_t i = 0; i < described->count; i++) sp_map_add(&there, described->items[i].full, i);
    for (size_t i = 0; i < described->count && known; i++) {
        const struct sp_described_item *item = &described->items[i];
        size_t length;
        if (!is_of_experts(choice, item) || sp_ends_with(item->full, ".base_layer")) continue;
        const char *layer = layer_of(&any, item->full + strlen(sp_described_front), &length, false);
        if (!layer || !sp_map_add(&asked, in_layer(arena, item->full, layer, length, "*"), i)) continue;
        for (size_t k = 0; k < layers.count && lookups++ < MOST_LOOKUPS; k++) {
            const char *module = in_layer(arena, item->full, layer, length, list[k]);
            if (sp_map_get(&there, module) == SIZE_MAX &&
                is_listed(&choice->parameters, sp_described_bare_module(arena, module + strlen(sp_described_front))))
                sp_described_name(described, module);
        }
    }
    sp_described_blame(
        described,
        "target_parameters in adapter_config.json lists experts for which the adapter has no tensors, but has "
        "them in other layers",
        "module");
    sp_map_free(&layers);
    sp_map_free(&there);
    sp_map_free(&asked);
}

void sp_described_check_choice(struct sp_described *described)
{
    struct choice choice = {.patterns = NULL};
    if (described->method->has_targets && read_choice(described, &choice)) {
        if (choice.has_targets) explain_unchosen(described, &choice);
        if (choice.has_targets) explain_lacking_layers(described, &choice);
        if (choice.has_targets && !saves_single_modules(described)) explain_lacking_targets(described, &choice);
        if (sp_described_is_of_type(described, "LORA") && choice.parameters.count) {
            explain_ranks_of_experts(described, &choice);
            explain_lacking_experts(described, &choice);
        }
    }
    free_choice(&choice);
}
