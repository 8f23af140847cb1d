/* SPDX-License-Identifier: MIT
 * The tensors of an adapter against its adapter_config.json. PEFT makes the tensors that the configuration describes,
 * and then loads the file into them: it ignores a tensor of the file that it has not made, leaves one that the file
 * lacks at its initial values, and raises an error for another shape. */
#include <inttypes.h>
#include <string.h>

#include "base/budget.h"
#include "base/chars.h"
#include "base/checked.h"
#include "base/names.h"
#include "base/order.h"
#include "check/adapter.h"
#include "explain/files/adapter_described.h"
#include "explain/files/adapter_pairs.h"
#include "explain/gather.h"
#include "model/layouts.h"
#include "names/collapse.h"
#include "names/components.h"

/* The methods of PEFT. */
static const struct sp_adapter_method methods[] = {
    {"LORA", "lora_", true},
    {"ADALORA", "lora_", true},
    {"IA3", "ia3_", true},
    {"LOHA", "hada_", true},
    {"LOKR", "lokr_", true},
    {"OFT", "oft_", true},
    {"BOFT", "boft_", true},
    {"VERA", "vera_", true},
    {"PVERA", "pvera_", true},
    {"FOURIERFT", "fourierft_", true},
    {"HRA", "hra_", true},
    {"HIRA", "hira_", true},
    {"VBLORA", "vblora_", true},
    {"MISS", "miss_", true},
    {"RANDLORA", "randlora_", true},
    {"ROAD", "road_", true},
    {"SHIRA", "shira_", true},
    {"C3A", "c3a_", true},
    {"DELORA", "delora_", true},
    {"GRALORA", "gralora_", true},
    {"LN_TUNING", "ln_tuning_", true},
    {"ADAPTION_PROMPT", "adaption_", false},
    {"PROMPT_TUNING", "prompt_embeddings", false},
    {"MULTITASK_PROMPT_TUNING", "prompt_embeddings", false},
    {"P_TUNING", "prompt_embeddings", false},
    {"PREFIX_TUNING", "prompt_embeddings", false},
    {"CPT", "prompt_embeddings", false},
    {"CARTRIDGE", "prompt_embeddings", false},
    {"TRAINABLE_TOKENS", "trainable_tokens_", false},
};

const char sp_described_front[] = "base_model.model.";

struct shapeproof_value sp_described_setting(const struct sp_described *described, const char *key)
{
    return sp_value_member(described->config, key);
}

bool sp_described_is_of_type(const struct sp_described *described, const char *type)
{
    return strcmp(described->method->type, type) == 0;
}

bool sp_described_is_own(const struct sp_described *described, const struct sp_described_item *item)
{
    return strcmp(item->method->begins, described->method->begins) == 0;
}

/* ---- reading ---- */

static const struct sp_adapter_method *method_of_component(const char *text)
{
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++)
        if (strncmp(text, methods[i].begins, strlen(methods[i].begins)) == 0) return &methods[i];
    return NULL;
}

const char *sp_described_bare_module(struct sp_arena *arena, const char *module)
{
    static const char *const wrappers[] = {".base_layer", ".token_adapter"};
    size_t length = strlen(module);
    for (size_t i = 0; i < sizeof wrappers / sizeof *wrappers; i++) {
        const char *wrapper = strstr(module, wrappers[i]);
        if (wrapper && (size_t)(wrapper - module) < length) length = (size_t)(wrapper - module);
    }
    return sp_arena_copy(arena, module, length);
}

/* Takes the name of a tensor apart at its last component that a method names; false when it has none, or when the name
 * does not begin as PEFT's names do. A prompt may stand under a key of a trainer: "state_dict.prompt_embeddings". */
static bool read_item(struct sp_arena *arena, const struct shapeproof_tensor *tensor, struct sp_described_item *item)
{
    const char *name = tensor->name, *found = NULL;
    for (struct sp_component_walk part = {.rest = name}; sp_component_next(&part, ".");)
        if (method_of_component(part.text)) found = part.text;
    if (!found) return false;
    if (strncmp(name, "base_model.", strlen("base_model.")) != 0 && strchr(name, '.') &&
        strcmp(found, "prompt_embeddings") != 0)
        return false;
    *item = (struct sp_described_item){.method = method_of_component(found), .full = "", .tensor = tensor};
    const size_t before = (size_t)(found - name), length = strcspn(found, ".");
    item->component = sp_arena_copy(arena, found, length);
    item->rest = found[length] ? found + length + 1 : "";
    if (before) item->full = sp_arena_copy(arena, name, before - 1);
    if (before > strlen(sp_described_front) && strncmp(name, sp_described_front, strlen(sp_described_front)) == 0)
        item->module = sp_described_bare_module(arena, item->full + strlen(sp_described_front));
    return true;
}

static void read_items(struct sp_described *described)
{
    const struct shapeproof_inventory *inventory = described->check->inventory;
    for (size_t i = 0; i < shapeproof_inventory_count(inventory); i++) {
        struct sp_described_item item;
        if (read_item(described->arena, shapeproof_inventory_tensor(inventory, i), &item)) *SP_PUSH(described) = item;
    }
}

/* The method that peft_type names; NULL for one that is not known here. */
static const struct sp_adapter_method *configured_method(struct shapeproof_value config)
{
    const struct shapeproof_value type = sp_value_member(config, "peft_type");
    for (size_t i = 0; type.type == SHAPEPROOF_VALUE_STRING && i < sizeof methods / sizeof *methods; i++)
        if (strcmp(methods[i].type, type.string) == 0) return &methods[i];
    return NULL;
}

size_t sp_described_weight(const struct sp_described *described, const char *full)
{
    const struct sp_adapter_found found = sp_adapter_base_weights(&described->base, full, NULL);
    return found.count == 1 && found.in_place && found.behind_front ? found.weights[0] : SHAPEPROOF_NONE;
}

/* ---- saying it ---- */

/* A cause with that message. */
static struct shapeproof_cause *blame(const struct sp_described *described, size_t count, const char *message)
{
    struct shapeproof_cause *cause = sp_blame(described->check, SP_CAUSE_ADAPTER_CONFIG);
    cause->explains = count;
    cause->message = message;
    return cause;
}

void sp_described_name(struct sp_described *described, const char *name)
{
    if (!sp_map_add(&described->known, name, described->named)) return;
    SP_GROW(described->names, described->named, described->names_capacity);
    described->names[described->named++] = name;
}

static void forget_named(struct sp_described *described)
{
    described->named = 0;
    sp_map_free(&described->known);
    described->known = (struct sp_map){0};
}

void sp_described_blame(struct sp_described *described, const char *says, const char *noun)
{
    const size_t count = described->named;
    if (count)
        blame(described, count,
              sp_arena_printf(described->arena, "%s: %s (%s)", says,
                              sp_some_names(described->arena, described->names, count),
                              sp_count_of(described->arena, count, noun)));
    forget_named(described);
}

/* Whether the tensor is a bias, "lora_B.bias" or, with the name of the adapter, "lora_B.default.bias". */
static bool is_bias(const struct sp_described_item *item)
{
    return strcmp(sp_behind_last(item->rest, '.'), "bias") == 0;
}

/* ---- the method ---- */

/* Whether any tensor of the method has that component. */
static bool has_component(const struct sp_described *described, const char *component)
{
    for (size_t i = 0; i < described->count; i++)
        if (strcmp(described->items[i].component, component) == 0) return true;
    return false;
}

/* Whether the file has tensors of the other of two methods with the same names: AdaLoRA saves lora_A, lora_B and
 * lora_E, LoRA lora_A.weight and lora_B.weight. NULL, or the type of the other one. */
static const char *other_of_lora(const struct sp_described *described)
{
    bool has_weight = false;
    for (size_t i = 0; i < described->count; i++)
        has_weight |= strcmp(described->items[i].component, "lora_A") == 0 &&
                      strcmp(sp_behind_last(described->items[i].rest, '.'), "weight") == 0;
    if (sp_described_is_of_type(described, "LORA") && has_component(described, "lora_E")) return "ADALORA";
    if (sp_described_is_of_type(described, "ADALORA") && has_weight && !has_component(described, "lora_E"))
        return "LORA";
    return NULL;
}

/* Whether the tensor may stand beside those of any method: the rows of trainable_token_indices. */
static bool is_beside(const struct sp_described_item *item)
{
    return strcmp(item->method->type, "TRAINABLE_TOKENS") == 0;
}

/* Tensors of a method that peft_type does not name. `of_lora` is what other_of_lora returned. */
static void explain_method(struct sp_described *described, const char *of_lora)
{
    const char *other = of_lora;
    for (size_t i = 0; i < described->count; i++) {
        if (!of_lora && sp_described_is_own(described, &described->items[i])) continue;
        if (is_beside(&described->items[i])) continue;
        if (!other) other = described->items[i].method->type;
        sp_described_name(described, described->items[i].tensor->name);
    }
    if (other)
        sp_described_blame(
            described,
            sp_arena_printf(described->arena,
                            "peft_type in adapter_config.json is %s, but the adapter has tensors of %s, which "
                            "PEFT ignores",
                            described->method->type, other),
            "tensor");
}

/* ---- ranks and sizes ---- */

/* Names the tensors with that component whose dimension is not `size`; none for 0, a size that is not known. */
static void name_sizes(struct sp_described *described, const char *component, uint32_t dimension, uint64_t size)
{
    for (size_t i = 0; i < described->count && size; i++) {
        const struct shapeproof_tensor *tensor = described->items[i].tensor;
        if (strcmp(described->items[i].component, component) == 0 && dimension < tensor->rank &&
            tensor->shape[dimension] != size)
            sp_described_name(described, tensor->name);
    }
}

/* "WHAT is 8, but BUT: ..." for the tensors that were named. */
static void blame_sizes(struct sp_described *described, uint64_t size, const char *what, const char *but)
{
    sp_described_blame(described, sp_arena_printf(described->arena, "%s is %" PRIu64 ", but %s", what, size, but),
                       "tensor");
}

/* A number of adapter_config.json that is a dimension of a tensor. */
struct config_size {
    const char *type, *component;
    uint32_t rank, dimension; /* of the tensor */
    const char *key, *pattern;
};

/* What adapter_config.json promises to a module, and the key that does; 0 where that cannot be told. */
struct promised_size {
    uint64_t size;
    const char *key;
};

/* The number for the module: that of the first key in the object `pattern` that means the module, as rank_pattern has
 * for r, or the usual one. It cannot be told with a key that is a regular expression. */
static struct promised_size size_for_module(const struct sp_described *described, const struct config_size *is,
                                            const char *module)
{
    const struct shapeproof_value others = sp_described_setting(described, is->pattern);
    struct promised_size promised = {sp_value_count(sp_described_setting(described, is->key)), is->key};
    for (size_t i = others.type == SHAPEPROOF_VALUE_OBJECT ? others.count : 0; i-- > 0;) {
        if (sp_adapter_is_expression(others.members[i].key)) return (struct promised_size){0, is->key};
        if (module && sp_adapter_is_meant(module, others.members[i].key))
            promised = (struct promised_size){sp_value_count(others.members[i].value), is->pattern};
    }
    return promised;
}

/* Names tensors that have not the size; `first` and `found`, those of the first of them, are filled with it. Of others
 * only those with the same promise are named. */
static void name_other_sizes(struct sp_described *described, const struct config_size *is, struct promised_size *first,
                             uint64_t *found)
{
    for (size_t i = 0; i < described->count; i++) {
        const struct sp_described_item *item = &described->items[i];
        if (strcmp(item->component, is->component) != 0 || item->tensor->rank != is->rank) continue;
        const struct promised_size promised = size_for_module(described, is, item->module);
        const uint64_t size = item->tensor->shape[is->dimension];
        if (!promised.size || size == promised.size) continue;
        if (!described->named) *first = promised, *found = size;
        if (promised.size == first->size && promised.key == first->key)
            sp_described_name(described, item->tensor->name);
    }
}

/* Sizes that are numbers of adapter_config.json: PEFT raises an error for another one. A number that is 0 is derived
 * from another one, and nothing is compared with it. Each key has one cause; its rows stand together. */
static void explain_sizes(struct sp_described *described)
{
    static const struct config_size sizes[] = {
        {"BOFT", "boft_R", 4, 1, "boft_block_num", ""},
        {"BOFT", "boft_R", 4, 2, "boft_block_size", ""},
        {"HRA", "hra_u", 2, 1, "r", ""},
        {"FOURIERFT", "fourierft_spectrum", 1, 0, "n_frequency", "n_frequency_pattern"},
        {"LOHA", "hada_w1_b", 2, 0, "r", "rank_pattern"},
        {"LOHA", "hada_w2_b", 2, 0, "r", "rank_pattern"},
        {"LOKR", "lokr_w1_a", 2, 1, "r", "rank_pattern"},
        {"LOKR", "lokr_w1_b", 2, 0, "r", "rank_pattern"},
        {"LOKR", "lokr_w2_b", 2, 0, "r", "rank_pattern"},
        {"DELORA", "delora_A", 2, 0, "r", "rank_pattern"},
        {"DELORA", "delora_B", 2, 1, "r", "rank_pattern"},
        {"MISS", "miss_block", 2, 0, "r", ""}, /* of rank 3 with init_weights "bat" */
        {"C3A", "c3a_kernel", 3, 2, "block_size", "block_size_pattern"},
        {"VBLORA", "vblora_logits_A", 3, 0, "r", ""},
        {"VBLORA", "vblora_logits_B", 3, 1, "r", ""},
        {"VBLORA", "vblora_logits_A", 3, 2, "num_vectors", ""},
        {"VBLORA", "vblora_logits_B", 3, 2, "num_vectors", ""},
        {"VBLORA", "vblora_vector_bank", 2, 0, "num_vectors", ""},
        {"VBLORA", "vblora_vector_bank", 2, 1, "vector_length", ""},
        {"RANDLORA", "randlora_lambda", 2, 0, "r", ""},
        {"ADAPTION_PROMPT", "adaption_prompt", 3, 1, "adapter_len", ""},
    };
    enum { SIZES = sizeof sizes / sizeof *sizes };
    for (size_t i = 0; i < SIZES; i++) {
        struct promised_size first = {0, ""};
        uint64_t found = 0; /* a size that the file has */
        if (!sp_described_is_of_type(described, sizes[i].type)) continue;
        if (i && strcmp(sizes[i].type, sizes[i - 1].type) == 0 && strcmp(sizes[i].key, sizes[i - 1].key) == 0) continue;
        for (size_t k = i; k < SIZES; k++)
            if (strcmp(sizes[i].type, sizes[k].type) == 0 && strcmp(sizes[i].key, sizes[k].key) == 0)
                name_other_sizes(described, &sizes[k], &first, &found);
        blame_sizes(
            described, first.size,
            sp_arena_printf(described->arena,
                            strcmp(first.key, sizes[i].key) == 0 ? "%s in adapter_config.json"
                                                                 : "a size in %s of adapter_config.json",
                            first.key),
            sp_arena_printf(described->arena, "tensors of the adapter have another size, such as %" PRIu64, found));
    }
}

/* BOFT has boft_n_butterfly_factor factors or, where its extension for CUDA was missing in the training, one. */
static void explain_butterflies(struct sp_described *described)
{
    const uint64_t factors = sp_value_count(sp_described_setting(described, "boft_n_butterfly_factor"));
    for (size_t i = 0; i < described->count && factors; i++) {
        const struct sp_described_item *item = &described->items[i];
        if (strcmp(item->component, "boft_R") == 0 && item->tensor->rank == 4 && item->tensor->shape[0] != 1 &&
            item->tensor->shape[0] != factors)
            sp_described_name(described, item->tensor->name);
    }
    blame_sizes(described, factors, "boft_n_butterfly_factor in adapter_config.json",
                "tensors of the adapter have another number of factors");
}

/* AdaLoRA begins with rank init_r, and reduces ranks as rank_pattern says. */
static void explain_adalora(struct sp_described *described)
{
    if (!has_component(described, "lora_E"))
        blame(described, 1,
              "peft_type in adapter_config.json is ADALORA, but the adapter has no lora_E: PEFT leaves these singular "
              "values at their initial values");
    if (sp_value_is_set(sp_described_setting(described, "rank_pattern"))) return;
    const uint64_t rank = sp_value_count(sp_described_setting(described, "init_r"));
    name_sizes(described, "lora_A", 0, rank);
    blame_sizes(described, rank, "init_r in adapter_config.json", "tensors of the adapter have another rank");
}

/* The largest output and input of the modules of VeRA, which its shared matrices are made for; false when one of them
 * is not known. */
static bool largest_sizes(const struct sp_described *described, uint64_t *out, uint64_t *in)
{
    *out = *in = 0;
    for (size_t i = 0; i < described->count; i++) {
        uint64_t rows, columns;
        if (!described->items[i].module) continue;
        const struct sp_adapter_found found = sp_adapter_base_weights(&described->base, described->items[i].full, NULL);
        if (!found.count || !found.behind_front || sp_adapter_keeps_input_first(&described->base, found.weights[0]) ||
            !sp_adapter_found_matrix(&described->base, &found, &rows, &columns))
            return false;
        if (rows > *out) *out = rows;
        if (columns > *in) *in = columns;
    }
    return *out && *in;
}

/* VeRA has one A (r, inputs) and one B (outputs, r) for all modules, and vectors of `r` and `outputs` for each. */
static void explain_vera(struct sp_described *described)
{
    const uint64_t rank = sp_value_count(sp_described_setting(described, "r"));
    const bool saved = sp_value_is_true(sp_described_setting(described, "save_projection"));
    uint64_t out, in;
    name_sizes(described, "vera_lambda_d", 0, rank);
    name_sizes(described, "vera_A", 0, rank);
    name_sizes(described, "vera_B", 1, rank);
    blame_sizes(described, rank, "r in adapter_config.json", "tensors of the adapter have another rank");
    if (saved && (!has_component(described, "vera_A") || !has_component(described, "vera_B")))
        blame(described, 1,
              sp_arena_printf(described->arena,
                              "save_projection in adapter_config.json is true, but the adapter has no %s: PEFT "
                              "initialises it at random, or raises an error",
                              has_component(described, "vera_A") ? "vera_B" : "vera_A"));
    if (!largest_sizes(described, &out, &in)) return;
    name_sizes(described, "vera_A", 1, in);
    blame_sizes(described, in, "the largest input of the adapted modules", "vera_A has another size");
    name_sizes(described, "vera_B", 0, out);
    blame_sizes(described, out, "the largest output of the adapted modules", "vera_B has another size");
}

/* Whether the name of the module ends with an entry of feedforward_modules: PEFT looks at characters here, not at
 * components. */
static bool is_feedforward(struct shapeproof_value list, const char *module)
{
    for (size_t i = 0; i < list.count; i++)
        if (sp_ends_with(module, list.items[i].string)) return true;
    return false;
}

/* IA3 scales the inputs of feedforward modules, with (1, in), and the outputs of others, with (out, 1). */
static void explain_ia3(struct sp_described *described)
{
    enum { MOST_ENTRIES = 1024 }; /* of the list: each is compared with each module */
    const struct shapeproof_value list = sp_described_setting(described, "feedforward_modules");
    if (list.type != SHAPEPROOF_VALUE_LIST || list.count > MOST_ENTRIES) return;
    for (size_t i = 0; i < list.count; i++)
        if (list.items[i].type != SHAPEPROOF_VALUE_STRING) return;
    for (size_t i = 0; i < described->count; i++) {
        const struct sp_described_item *item = &described->items[i];
        if (!item->module || strcmp(item->component, "ia3_l") != 0 || item->tensor->rank != 2) continue;
        const bool feedforward = is_feedforward(list, item->module);
        if (item->tensor->shape[feedforward ? 0 : 1] != 1) sp_described_name(described, item->tensor->name);
    }
    sp_described_blame(
        described,
        "IA3 scales the input of a module in feedforward_modules of adapter_config.json, shape (1, in), and the "
        "output of others, shape (out, 1); tensors have the other shape",
        "tensor");
}

/* The dimension of the matrix (out, in) that is one of this tensor: the last of lora_A (r, in), and the first of lora_B
 * (out, r). An embedding is (in, out), and the names of its pair have another word. */
static bool outer_dimension(const struct sp_described *described, const struct sp_described_item *item, size_t weight,
                            uint32_t *own, uint32_t *of_matrix)
{
    const bool embedding = strncmp(item->component, "lora_embedding_", strlen("lora_embedding_")) == 0;
    const char letter = item->component[strlen(item->component) - 1];
    if (!embedding && strcmp(item->component, "lora_A") != 0 && strcmp(item->component, "lora_B") != 0) return false;
    if (!embedding && strcmp(sp_behind_last(item->rest, '.'), "weight") != 0) return false;
    const bool input_first = embedding || sp_adapter_keeps_input_first(&described->base, weight);
    *own = letter == 'A' ? 1 : 0;
    *of_matrix = input_first ? 1 - *own : *own;
    return letter == 'A' || letter == 'B';
}

/* Matrices of pairs that are transposed, (in, r) and (r, out). */
static void explain_transposed(struct sp_described *described)
{
    for (size_t i = 0; i < described->count; i++) {
        const struct sp_described_item *item = &described->items[i];
        const size_t weight = item->module ? sp_described_weight(described, item->full) : SHAPEPROOF_NONE;
        uint32_t own, of_matrix;
        if (weight == SHAPEPROOF_NONE || item->tensor->rank != 2) continue;
        const struct shapeproof_predicted *matrix = shapeproof_prediction_tensor(described->check->prediction, weight);
        if (matrix->rank != 2 || !outer_dimension(described, item, weight, &own, &of_matrix)) continue;
        const uint64_t size = matrix->shape[of_matrix];
        if (item->tensor->shape[own] != size && item->tensor->shape[1 - own] == size)
            sp_described_name(described, item->tensor->name);
    }
    sp_described_blame(
        described, "PEFT makes A of shape (r, in) and B of shape (out, r), but tensors of the adapter are transposed",
        "tensor");
}

/* Every lora_B has a bias if lora_bias is set, and none otherwise. If only some of them lack it, adapter_parts.c names
 * these. */
static void explain_lora_bias(struct sp_described *described)
{
    const bool set = sp_value_is_true(sp_described_setting(described, "lora_bias"));
    for (size_t i = 0; i < described->count; i++) {
        const struct sp_described_item *item = &described->items[i];
        if (strcmp(item->component, "lora_B") == 0 && is_bias(item)) sp_described_name(described, item->tensor->name);
    }
    if (set && !described->named && has_component(described, "lora_B"))
        blame(described, 1,
              "lora_bias in adapter_config.json is true, but the adapter has no lora_B.bias: PEFT leaves the biases at "
              "their initial values");
    if (set) forget_named(described);
    sp_described_blame(described,
                       "lora_bias in adapter_config.json is not true, but the adapter has biases, which PEFT ignores",
                       "tensor");
}

/* Names the biases of the base that the adapter lacks: `all` of them, or those of modules with a pair. */
static void name_lost_biases(struct sp_described *described, bool all)
{
    const struct shapeproof_check *check = described->check;
    struct sp_map adapted = {0}; /* names of biases */
    for (size_t i = 0; i < described->count && !all; i++) {
        const size_t weight = sp_described_weight(described, described->items[i].full);
        const char *name =
            weight == SHAPEPROOF_NONE ? "" : shapeproof_prediction_tensor(check->prediction, weight)->name;
        if (sp_described_is_own(described, &described->items[i]) && sp_ends_with(name, ".weight"))
            sp_map_add(&adapted,
                       sp_arena_printf(described->arena, "%.*sbias", (int)(strlen(name) - strlen("weight")), name), i);
    }
    for (size_t i = 0; i < shapeproof_prediction_count(check->prediction); i++) {
        const struct shapeproof_predicted *tensor = shapeproof_prediction_tensor(check->prediction, i);
        if (tensor->optional || tensor->buffer || sp_is_stored(check, i) || !sp_ends_with(tensor->name, ".bias"))
            continue;
        if (sp_match_partner(&check->match, i) == SHAPEPROOF_NONE &&
            (all || sp_map_get(&adapted, tensor->name) != SIZE_MAX))
            sp_described_name(described, tensor->name);
    }
    sp_map_free(&adapted);
}

/* `bias` has PEFT train biases of the base, and save them with the adapter: "all", or with "lora_only" those of the
 * adapted modules. */
static void explain_trained_biases(struct sp_described *described)
{
    const struct shapeproof_value bias = sp_described_setting(described, "bias");
    if (bias.type != SHAPEPROOF_VALUE_STRING) return;
    const bool all = strcmp(bias.string, "all") == 0;
    if (!all && strcmp(bias.string, "lora_only") != 0) return;
    name_lost_biases(described, all);
    sp_described_blame(described,
                       sp_arena_printf(described->arena,
                                       "bias in adapter_config.json is '%s', but the adapter lacks biases of the "
                                       "model, which were trained: PEFT leaves them as the base has them",
                                       bias.string),
                       "tensor");
}

/* The smaller of the two factors that LoKr cuts a dimension into, the largest divisor that is at most its square root
 * and at most decompose_factor, where that is not -1: 48 -> 6, with 4 -> 4. 0 where it is not known. */
static uint64_t smaller_factor(const struct sp_described *described, uint64_t dimension)
{
    const uint64_t most = sp_value_count(sp_described_setting(described, "decompose_factor"));
    uint64_t root = 1;
    if (dimension > UINT32_MAX) return 0;
    while ((root + 1) * (root + 1) <= dimension) root++;
    sp_budget_spend(2 * root);                          /* for each tensor of a file */
    if (most > root && dimension % most == 0) return 0; /* releases of PEFT differ in which of the factors is first */
    uint64_t factor = most && most < root ? most : root;
    while (factor > 1 && dimension % factor) factor--;
    return factor;
}

/* What PEFT makes of a tensor whose sizes depend on the matrix (out, in) that it adapts; false where that is not known.
 *
 *     SHiRA  shira_weight  (r * (in + out))
 *     OFT    oft_R         (in / block, block * (block - 1) / 2), the first 1 if the blocks are shared
 *     LoKr   lokr_w1       (smaller factor of out, smaller factor of in), see smaller_factor
 *
 * Of r and oft_block_size one is 0, and is in divided by the other. A block size that does not divide `in` is adjusted
 * by PEFT, and nothing is compared. */
static bool derive_shape(const struct sp_described *described, const struct sp_described_item *item,
                         const uint64_t *matrix, uint64_t shape[2])
{
    const uint64_t out = matrix[0], in = matrix[1];
    uint64_t r = sp_value_count(sp_described_setting(described, "r"));
    if (strcmp(item->component, "shira_weight") == 0)
        return r && sp_add_u64(in, out, &shape[0]) && sp_mul_u64(shape[0], r, &shape[0]);
    if (strcmp(item->component, "lokr_w1") == 0) {
        shape[0] = smaller_factor(described, out);
        shape[1] = smaller_factor(described, in);
        return shape[0] && shape[1];
    }
    uint64_t block = sp_value_count(sp_described_setting(described, "oft_block_size"));
    if (strcmp(item->component, "oft_R") != 0 || !r == !block) return false;
    if (!block) block = in / r;
    if (!block || in % block || (r && in % r)) return false;
    shape[0] = sp_value_is_true(sp_described_setting(described, "block_share")) ? 1 : in / block;
    shape[1] = block * (block - 1) / 2; /* block is at most `in`, a dimension */
    return block <= UINT32_MAX;
}

/* Tensors of SHiRA, OFT and LoKr that have other sizes than the adapted matrices make them. The numbers for single
 * modules in rank_pattern are not compared. */
static void explain_derived_sizes(struct sp_described *described)
{
    const char *says = ""; /* of the first */
    if (sp_described_setting(described, "rank_pattern").count) return;
    for (size_t i = 0; i < described->count; i++) {
        const struct sp_described_item *item = &described->items[i];
        const size_t weight = sp_described_weight(described, item->full);
        uint64_t shape[2] = {0};
        if (weight == SHAPEPROOF_NONE || !item->tensor->rank || item->tensor->rank > 2) continue;
        const struct shapeproof_predicted *matrix = shapeproof_prediction_tensor(described->check->prediction, weight);
        if (matrix->rank != 2 || !derive_shape(described, item, matrix->shape, shape)) continue;
        if (sp_same_dims(item->tensor->shape, item->tensor->rank, shape, item->tensor->rank)) continue;
        if (!described->named)
            says =
                sp_arena_printf(described->arena,
                                "adapter_config.json makes %s of shape %s for a matrix of the model, but the adapter "
                                "has %s",
                                item->component, sp_shape_text(described->arena, shape, item->tensor->rank),
                                sp_shape_text(described->arena, item->tensor->shape, item->tensor->rank));
        sp_described_name(described, item->tensor->name);
    }
    sp_described_blame(described, says, "tensor");
}

/* ---- prompts ---- */

/* A tensor of a prompt. Each dimension is a number of adapter_config.json, or the product of two. */
struct prompt_kind {
    const char *name;
    bool keys_and_values; /* trained in place of tokens: twice as many numbers for each layer, num_layers */
    uint32_t rank;
    const char *sizes[3][2];
};

/* A number of a prompt; 0 when it is not there. PEFT sets the submodules of a model without them: an encoder and a
 * decoder for a task from sequence to sequence. */
static uint64_t prompt_number(const struct sp_described *described, const char *key)
{
    const struct shapeproof_value value = sp_described_setting(described, key);
    const struct shapeproof_value task = sp_described_setting(described, "task_type");
    if (sp_value_is_set(value) || strcmp(key, "num_transformer_submodules") != 0) return sp_value_count(value);
    return task.type == SHAPEPROOF_VALUE_STRING && strcmp(task.string, "SEQ_2_SEQ_LM") == 0 ? 2 : 1;
}

/* Whether the value of a key can be no number of a prompt. PEFT takes those that are null from the model, but not the
 * number of tokens; of CPT, that is the length of the list of its tokens. */
static bool is_no_prompt_number(const struct sp_described *described, const char *key, struct shapeproof_value value)
{
    const bool is_required = strcmp(key, "num_virtual_tokens") == 0 && !sp_described_is_of_type(described, "CPT");
    return sp_value_is_set(value) ? !sp_value_count(value) : is_required && value.type != SHAPEPROOF_VALUE_ABSENT;
}

/* Numbers of adapter_config.json that are none, such as -3, 0 or "20": PEFT raises an error. */
static void explain_prompt_numbers(struct sp_described *described)
{
    static const char *const keys[] = {"num_virtual_tokens", "token_dim", "num_layers", "num_attention_heads",
                                       "num_transformer_submodules"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        const struct shapeproof_value value = sp_described_setting(described, keys[i]);
        if (is_no_prompt_number(described, keys[i], value))
            blame(described, 1,
                  sp_arena_printf(described->arena,
                                  "%s in adapter_config.json is %s, but PEFT needs a positive integer", keys[i],
                                  sp_value_words(described->arena, value)));
    }
    const uint64_t width = sp_value_count(sp_described_setting(described, "token_dim"));
    const uint64_t heads = sp_value_count(sp_described_setting(described, "num_attention_heads"));
    if (heads && width % heads && sp_described_is_of_type(described, "PREFIX_TUNING"))
        blame(described, 1,
              sp_arena_printf(described->arena,
                              "token_dim in adapter_config.json is %" PRIu64 ", which num_attention_heads %" PRIu64
                              " does not divide: PEFT cannot make keys and values of the prefix",
                              width, heads));
}

/* The product; 0 where one of the numbers is not there, UINT64_MAX where it has more than 64 bits. */
static uint64_t prompt_size(const struct sp_described *described, const char *const keys[2])
{
    uint64_t product = keys[1] && strcmp(keys[1], "num_layers") == 0 ? 2 : 1;
    for (size_t i = 0; i < 2 && keys[i]; i++)
        if (!prompt_number(described, keys[i])) return 0;
    for (size_t i = 0; i < 2 && keys[i]; i++)
        if (!sp_mul_u64(product, prompt_number(described, keys[i]), &product)) return UINT64_MAX;
    return product;
}

/* "num_virtual_tokens is 9, num_transformer_submodules is 2". */
static const char *say_prompt_size(const struct sp_described *described, const char *const keys[2])
{
    const uint64_t one = prompt_number(described, keys[0]);
    const char *text = sp_arena_printf(described->arena, "%s is %" PRIu64, keys[0], one);
    if (!keys[1]) return text;
    const uint64_t other = prompt_number(described, keys[1]);
    const bool layers = strcmp(keys[1], "num_layers") == 0;
    if (!layers && other == 1) return text; /* no encoder beside the decoder */
    return sp_arena_printf(described->arena, "%s, %s is %" PRIu64 "%s", text, keys[1], other,
                           layers ? ", for keys and values" : "");
}

/* Dimensions of the tensor that are not as adapter_config.json makes them. */
static void explain_prompt(struct sp_described *described, const struct shapeproof_tensor *tensor,
                           const struct prompt_kind *kind)
{
    static const char *const ordinals[] = {"first", "second", "third"};
    if (tensor->rank != kind->rank)
        blame(described, 1,
              sp_arena_printf(described->arena, "%s has %s, but PEFT makes it with %" PRIu32, tensor->name,
                              sp_count_of(described->arena, tensor->rank, "dimension"), kind->rank));
    for (uint32_t d = 0; d < kind->rank && tensor->rank == kind->rank; d++) {
        const uint64_t is = tensor->shape[d], size = prompt_size(described, kind->sizes[d]);
        if (!size || is == size) continue;
        const char *makes =
            size == UINT64_MAX ? "too large for any tensor" : sp_arena_printf(described->arena, "%" PRIu64, size);
        blame(described, 1,
              sp_arena_printf(described->arena,
                              "the %s dimension of %s is %" PRIu64 ", but adapter_config.json makes it %s: %s",
                              ordinals[d], tensor->name, is, makes, say_prompt_size(described, kind->sizes[d])));
    }
}

/* Virtual tokens as PEFT makes them from adapter_config.json. A prompt of an encoder and a decoder has its tokens
 * twice. Keys and values are trained for each layer, and once for both. Of multitask prompt tuning, `cols` times `rows`
 * is the change of the prompt for each task. */
static void explain_prompts(struct sp_described *described)
{
    static const struct prompt_kind kinds[] = {
        {"prompt_embeddings", false, 2, {{"num_virtual_tokens", "num_transformer_submodules"}, {"token_dim", NULL}}},
        {"prompt_embeddings", true, 2, {{"num_virtual_tokens", NULL}, {"token_dim", "num_layers"}}},
        {"prefix_task_cols",
         false,
         3,
         {{"num_tasks", NULL}, {"num_virtual_tokens", "num_transformer_submodules"}, {"num_ranks", NULL}}},
        {"prefix_task_rows", false, 3, {{"num_tasks", NULL}, {"num_ranks", NULL}, {"token_dim", NULL}}},
    };
    const struct shapeproof_inventory *inventory = described->check->inventory;
    explain_prompt_numbers(described);
    const bool keys_and_values =
        sp_described_is_of_type(described, "PREFIX_TUNING") || sp_described_is_of_type(described, "CARTRIDGE");
    for (size_t i = 0; i < shapeproof_inventory_count(inventory); i++)
        for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
            const struct shapeproof_tensor *tensor = shapeproof_inventory_tensor(inventory, i);
            if (kinds[k].keys_and_values == keys_and_values &&
                strcmp(sp_behind_last(tensor->name, '.'), kinds[k].name) == 0)
                explain_prompt(described, tensor, &kinds[k]);
        }
}

/* ---- tokens ---- */

/* The tensor with the trained rows of an embedding, from number `*next` on; NULL behind the last one. `module` is the
 * embedding: "base_model.model.model.embed_tokens". */
static const struct shapeproof_tensor *next_delta(const struct sp_described *described, size_t *next,
                                                  const char **module)
{
    static const char tail[] = ".trainable_tokens_delta";
    const struct shapeproof_inventory *inventory = described->check->inventory;
    while (*next < shapeproof_inventory_count(inventory)) {
        const struct shapeproof_tensor *tensor = shapeproof_inventory_tensor(inventory, (*next)++);
        if (!sp_ends_with(tensor->name, tail)) continue;
        *module = sp_described_bare_module(
            described->arena, sp_arena_copy(described->arena, tensor->name, strlen(tensor->name) - strlen(tail)));
        return tensor;
    }
    return NULL;
}

/* The key with the trained tokens: of the method that trains nothing else, or beside those of another one. */
static const char *key_of_tokens(const struct sp_described *described)
{
    return sp_described_is_of_type(described, "TRAINABLE_TOKENS") ? "token_indices" : "trainable_token_indices";
}

/* The list of the tokens that are trained in the embedding `module`. `indices` is this list, or an object with a list
 * for each embedding; without a list for this one, the result is absent. */
static struct shapeproof_value indices_of(struct shapeproof_value indices, const char *module)
{
    if (indices.type == SHAPEPROOF_VALUE_LIST) return indices;
    for (size_t i = 0; indices.type == SHAPEPROOF_VALUE_OBJECT && i < indices.count; i++) {
        const char *key = indices.members[i].key;
        if (sp_ends_with(module, key) && indices.members[i].value.type == SHAPEPROOF_VALUE_LIST)
            return indices.members[i].value;
    }
    return sp_value_absent("token_indices");
}

/* "1 row", "97 rows". */
static const char *rows_said(struct sp_arena *arena, const uint64_t *shape)
{
    return sp_arena_printf(arena, "%" PRIu64 " %s", shape[0], shape[0] == 1 ? "row" : "rows");
}

/* Whether the trained rows are not one for each token of the list. */
static bool has_other_rows(const struct shapeproof_tensor *tensor, struct shapeproof_value list)
{
    return list.type == SHAPEPROOF_VALUE_LIST && tensor->rank && tensor->shape[0] != list.count;
}

/* The tensors whose rows are not one for each token of their list; tied embeddings have a tensor each. Only those with
 * the list and the rows of the first one are named. */
static void explain_rows(struct sp_described *described, struct shapeproof_value indices)
{
    struct sp_arena *arena = described->arena;
    const struct shapeproof_tensor *tensor, *first = NULL;
    const char *module;
    size_t next = 0, listed = 0;
    while ((tensor = next_delta(described, &next, &module)) != NULL) {
        const struct shapeproof_value list = indices_of(indices, module);
        if (!has_other_rows(tensor, list)) continue;
        if (!first) listed = list.count;
        if (!first) first = tensor;
        if (list.count == listed && tensor->shape[0] == first->shape[0]) sp_described_name(described, tensor->name);
    }
    if (first)
        sp_described_blame(described,
                           sp_arena_printf(arena, "%s in adapter_config.json lists %s, but the adapter has %s",
                                           key_of_tokens(described), sp_count_of(arena, listed, "token"),
                                           rows_said(arena, first->shape)),
                           "tensor");
}

/* The largest token of the list, which must be a row of the embedding. */
static void explain_largest_token(struct sp_described *described, const char *module, struct shapeproof_value list)
{
    struct sp_arena *arena = described->arena;
    const size_t base = sp_described_weight(described, module);
    int64_t largest = -1;
    for (size_t i = 0; i < list.count; i++)
        if (list.items[i].type == SHAPEPROOF_VALUE_INT && list.items[i].integer > largest)
            largest = list.items[i].integer;
    if (base == SHAPEPROOF_NONE || largest < 0) return;
    const struct shapeproof_predicted *weight = shapeproof_prediction_tensor(described->check->prediction, base);
    if (weight->rank != 2 || (uint64_t)largest < weight->shape[0]) return;
    struct shapeproof_cause *cause =
        blame(described, 1,
              sp_arena_printf(arena, "%s in adapter_config.json lists token %" PRId64 ", but %s has only %s",
                              key_of_tokens(described), largest, weight->name, rows_said(arena, weight->shape)));
    cause->hint = "if tokens were added for the training, call resize_token_embeddings on the base before the adapter "
                  "is loaded; otherwise correct the list";
}

/* The list of trained tokens against the trained rows of the file. An embedding that is tied to another one has no rows
 * of its own, so an object may list more embeddings than the file has. */
static void explain_tokens(struct sp_described *described)
{
    const char *key = key_of_tokens(described);
    const struct shapeproof_value indices = sp_described_setting(described, key);
    const struct shapeproof_tensor *tensor;
    const char *module;
    size_t next = 0, found = 0;
    explain_rows(described, indices);
    while ((tensor = next_delta(described, &next, &module)) != NULL) {
        const struct shapeproof_value list = indices_of(indices, module);
        found++;
        if (list.type == SHAPEPROOF_VALUE_LIST) explain_largest_token(described, module, list);
        else
            blame(described, 1,
                  sp_arena_printf(described->arena,
                                  "%s in adapter_config.json does not list the tokens of %s, which PEFT ignores", key,
                                  sp_quote(tensor->name).text));
    }
    const bool wanted =
        (indices.type == SHAPEPROOF_VALUE_LIST || indices.type == SHAPEPROOF_VALUE_OBJECT) && indices.count;
    if (wanted && !found)
        blame(described, 1,
              sp_arena_printf(described->arena,
                              "adapter_config.json has %s, but the adapter has no trainable_tokens_delta: PEFT raises "
                              "an error",
                              key));
}

/* ---- all of it ---- */

/* Whether the adapter fits its base: one cause says so, and none says that a part of it does not fit. */
static bool is_fitting(const struct shapeproof_check *check)
{
    static const enum sp_cause_kind unfit[] = {SP_CAUSE_ADAPTER_PREFIX, SP_CAUSE_ADAPTER_SHAPE, SP_CAUSE_ADAPTER_MODULE,
                                               SP_CAUSE_ADAPTER_PAIR};
    bool fits = false;
    for (size_t i = 0; i < check->cause_count; i++) {
        fits |= check->causes[i].id == sp_cause_rows[SP_CAUSE_ADAPTER].id;
        for (size_t k = 0; k < sizeof unfit / sizeof *unfit; k++)
            if (check->causes[i].id == sp_cause_rows[unfit[k]].id) return false;
    }
    return fits;
}

/* A prompt beside an adapter_config.json that does not say of which method it is. Only PEFT saves prompts; pairs may be
 * of other programs, which write no peft_type. */
static void explain_lost_type(const struct sp_described *described)
{
    if (described->config.type == SHAPEPROOF_VALUE_OBJECT && sp_has_prompt(described->check->inventory) &&
        !sp_value_is_set(sp_value_member(described->config, "peft_type")))
        blame(described, 1,
              "adapter_config.json has no peft_type, without which PEFT loads no prompt: it raises an error");
}

static void explain_described(struct sp_described *described)
{
    const char *of_lora = other_of_lora(described);
    bool has_own = false, has_others = false;
    for (size_t i = 0; i < described->count; i++) {
        has_own |= sp_described_is_own(described, &described->items[i]);
        has_others |= !is_beside(&described->items[i]);
    }
    explain_method(described, of_lora);
    if (!has_own && !has_others)
        blame(described, 1,
              sp_arena_printf(described->arena,
                              "peft_type in adapter_config.json is %s, but the adapter has no tensor of this method: "
                              "PEFT leaves them at their initial values",
                              described->method->type));
    if (!has_own || of_lora) return;
    sp_described_check_choice(described);
    if (sp_described_is_of_type(described, "LORA")) {
        explain_transposed(described);
        explain_lora_bias(described);
        explain_trained_biases(described);
    }
    if (sp_described_is_of_type(described, "ADALORA")) explain_adalora(described);
    if (sp_described_is_of_type(described, "VERA")) explain_vera(described);
    if (sp_described_is_of_type(described, "IA3")) explain_ia3(described);
    if (sp_described_is_of_type(described, "BOFT")) explain_butterflies(described);
    if (strcmp(described->method->begins, "prompt_embeddings") == 0) explain_prompts(described);
    explain_sizes(described);
    explain_derived_sizes(described);
    explain_tokens(described);
}

/* PEFT chooses the reader of adapter_model.safetensors or adapter_model.bin by this name. */
static void explain_format(struct shapeproof_check *check)
{
    const char *misnamed = sp_inventory_misnamed(check->inventory, &check->arena);
    const char *file = misnamed ? sp_base_name(shapeproof_inventory_file(check->inventory, 0)) : "";
    if (strncmp(file, "adapter_model.", strlen("adapter_model.")) != 0) return;
    struct shapeproof_cause *cause = sp_blame(check, SP_CAUSE_ADAPTER_FORMAT);
    cause->explains = 1;
    cause->message = sp_arena_printf(&check->arena, "PEFT refuses the file: %s", misnamed);
}

/* Only of adapters that PEFT loads, with a method that is known here. Names that another program gave to the modules
 * are not those of adapter_config.json. */
void sp_explain_adapter_config(struct shapeproof_check *check)
{
    struct sp_described described = {.check = check, .arena = &check->arena};
    if (!is_fitting(check)) return;
    explain_format(check);
    described.config = sp_adapter_config(&check->arena, check->inventory);
    described.method = configured_method(described.config);
    explain_lost_type(&described);
    if (!described.method) return;
    read_items(&described);
    sp_adapter_base_open(&described.base, check);
    if (!described.base.scheme && described.count) explain_described(&described);
    sp_adapter_base_close(&described.base);
    forget_named(&described);
    sp_free(described.items);
    sp_free(described.names);
}
