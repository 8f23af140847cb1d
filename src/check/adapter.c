/* SPDX-License-Identifier: MIT
 * The names of adapters: PEFT saves q_proj.lora_A.weight, and q_proj.lora_A.default.weight in a state dict as a whole;
 * torchtune q_proj.lora_a.weight; NeMo linear_qkv.adapter.linear_in.weight; MLX q_proj.lora_a, with the dimensions the
 * other way round; llama.cpp attn_q.weight.lora_a. */
#define _POSIX_C_SOURCE 200809L /* AT_FDCWD */
#include "check/adapter.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/budget.h"
#include "base/call.h"
#include "base/chars.h"
#include "base/checked.h"
#include "base/fault.h"
#include "base/names.h"
#include "check/adapter_parts.h"
#include "config/config.h"
#include "names/components.h"
#include "names/prefixes.h"
#include "shapeproof/check.h"
#include "shapeproof/shapeproof.h"

/* ---- names ---- */

struct place {
    struct sp_adapter_place is;
    const char *label;
};

/* Reads what follows the ending of a name:
 *
 *     ""  ".weight"                        no label
 *     ".default"  ".default.weight"        the label "default"
 *
 * False for anything else, such as ".bias": the tensor is neither A nor B. */
static bool read_label(struct sp_arena *arena, const char *rest, struct place *place)
{
    const size_t length = strlen(rest), tail = strlen(".weight");
    place->label = "";
    if (!length || strcmp(rest, ".weight") == 0) return true;
    const bool weight = length > tail && strcmp(rest + length - tail, ".weight") == 0;
    const size_t label = length - 1 - (weight ? tail : 0);
    if (memchr(rest + 1, '.', label) || strcmp(rest, ".bias") == 0) return false;
    place->label = sp_arena_copy(arena, rest + 1, label);
    return true;
}

/* The length of the module's name: without the ".weight" that llama.cpp leaves in front of the ending,
 * "blk.0.attn_q" of "blk.0.attn_q.weight.lora_a". */
static size_t module_length(const char *name, size_t length)
{
    const size_t tail = strlen(".weight");
    return length > tail && memcmp(name + length - tail, ".weight", tail) == 0 ? length - tail : length;
}

/* Reads the name of a tensor of a pair; false for any other tensor. */
static bool find_place(struct sp_arena *arena, const char *name, struct place *place)
{
    if (!sp_adapter_place(name, &place->is)) return false;
    place->is.module = module_length(name, place->is.module);
    return read_label(arena, place->is.behind, place);
}

/* ---- pairs ---- */

/* What the map of pairs has for a pair. */
static const char *key_of_pair(struct sp_arena *arena, const char *module, const char *kind, const char *label)
{
    return sp_arena_printf(arena, "%s %s %s", module, kind, label);
}

const struct sp_pair *sp_adapter_pair(const struct sp_adapter *adapter, const char *module, const char *kind,
                                      const char *label)
{
    const size_t found = sp_map_get(&adapter->modules, key_of_pair(adapter->arena, module, kind, label));
    return found == SIZE_MAX ? NULL : &adapter->pairs[found];
}

/* The pair of that module, kind and label: a known one, or a new one. */
static struct sp_pair *pair_of_module(struct sp_adapter *adapter, const char *name, const struct place *place)
{
    const char *module = sp_arena_copy(adapter->arena, name, place->is.module);
    const char *kind = place->is.ending->parts[SP_ROLE_DOWN];
    const char *key = key_of_pair(adapter->arena, module, kind, place->label);
    size_t known = sp_map_get(&adapter->modules, key);
    if (known == SIZE_MAX) {
        known = adapter->count;
        SP_GROW(adapter->pairs, adapter->count, adapter->capacity);
        adapter->pairs[adapter->count++] = (struct sp_pair){
            module,          kind, place->label, SHAPEPROOF_NONE, SHAPEPROOF_NONE, SHAPEPROOF_NONE, SHAPEPROOF_NONE,
            place->is.ending};
        sp_map_add(&adapter->modules, key, known);
    }
    return &adapter->pairs[known];
}

const char *sp_adapter_folder(struct sp_arena *arena, const struct shapeproof_inventory *inventory)
{
    const char *path = shapeproof_inventory_path(inventory);
    if (sp_path_may_be_folder(AT_FDCWD, path)) return sp_arena_printf(arena, "%s/", path);
    return sp_arena_copy(arena, path, (size_t)(sp_base_name(path) - path));
}

/* "FOLDER/adapter_config.json" of what was opened. */
static const char *config_path(struct sp_arena *arena, const struct shapeproof_inventory *inventory)
{
    return sp_arena_printf(arena, "%sadapter_config.json", sp_adapter_folder(arena, inventory));
}

struct shapeproof_value sp_adapter_config(struct sp_arena *arena, const struct shapeproof_inventory *inventory)
{
    struct shapeproof_error error = {0};
    struct shapeproof_config *config = shapeproof_config_new();
    struct shapeproof_value value = sp_value_absent("adapter_config.json");
    if (shapeproof_config_load(config, config_path(arena, inventory), &error) == SHAPEPROOF_OK) {
        struct sp_text text = {0};
        sp_value_json(&text, sp_config_hyper(config)->root);
        sp_value_parse_json(arena, text.data, text.length, &value, &error);
        sp_text_free(&text);
    }
    shapeproof_config_free(config);
    return value;
}

const char *sp_adapter_scaled(struct sp_arena *arena, const char *name)
{
    static const char *const tails[] = {".alpha", ".scalar"};
    for (size_t i = 0; i < sizeof tails / sizeof *tails; i++)
        if (sp_ends_with(name, tails[i])) return sp_arena_copy(arena, name, strlen(name) - strlen(tails[i]));
    return NULL;
}

/* A scale belongs to the pair of its module, whatever that pair is called. */
static void read_scales(struct sp_adapter *adapter)
{
    struct sp_map pairs = {0};
    for (size_t i = 0; i < adapter->count; i++) sp_map_add(&pairs, adapter->pairs[i].module, i);
    for (size_t i = 0; i < shapeproof_inventory_count(adapter->inventory); i++) {
        const char *module =
            sp_adapter_scaled(adapter->arena, shapeproof_inventory_tensor(adapter->inventory, i)->name);
        const size_t pair = module ? sp_map_get(&pairs, module) : SIZE_MAX;
        if (pair != SIZE_MAX) adapter->pairs[pair].alpha = i;
    }
    sp_map_free(&pairs);
}

bool sp_adapter_read(struct sp_adapter *adapter, struct sp_arena *arena, const struct shapeproof_inventory *inventory)
{
    *adapter = (struct sp_adapter){.inventory = inventory, .arena = arena};
    for (size_t i = 0; i < shapeproof_inventory_count(inventory); i++) {
        const char *name = shapeproof_inventory_tensor(inventory, i)->name;
        struct place place;
        if (!strstr(name, "lora") && !strstr(name, "adapter.")) continue; /* all endings have one of these */
        if (!find_place(arena, name, &place)) continue;
        struct sp_pair *pair = pair_of_module(adapter, name, &place);
        *(place.is.role == SP_ROLE_DOWN ? &pair->a : place.is.role == SP_ROLE_UP ? &pair->b : &pair->mid) = i;
    }
    if (adapter->count) read_scales(adapter);
    if (adapter->count) adapter->config = sp_adapter_config(arena, inventory);
    return adapter->count > 0;
}

const char sp_prompt_front[] = "base_model.";

bool sp_has_prompt(const struct shapeproof_inventory *inventory)
{
    return shapeproof_inventory_find(inventory, "prompt_embeddings") != SHAPEPROOF_NONE;
}

/* Whether the file has the weights of adapted modules beside the adapter, as the state dict of the whole model has. */
static bool has_base_weights(const struct shapeproof_inventory *inventory)
{
    for (size_t i = 0; i < shapeproof_inventory_count(inventory); i++)
        if (sp_ends_with(shapeproof_inventory_tensor(inventory, i)->name, ".base_layer.weight")) return true;
    return false;
}

/* Whether it is a bias of the base, which PEFT saves with the adapter if `bias` is "all". */
static bool is_bias_of_base(const char *name)
{
    return strncmp(name, sp_prompt_front, strlen(sp_prompt_front)) == 0 && sp_ends_with(name, ".bias");
}

bool sp_is_adapter(const struct shapeproof_inventory *inventory)
{
    enum { SAMPLE = 64 };
    const bool prompt = sp_has_prompt(inventory), whole = has_base_weights(inventory);
    struct sp_arena arena = {0};
    size_t count = 0, seen = 0;
    for (size_t i = 0; i < shapeproof_inventory_count(inventory);
         i += sp_stride_for(shapeproof_inventory_count(inventory), SAMPLE)) {
        const char *name = shapeproof_inventory_tensor(inventory, i)->name;
        struct place place;
        struct sp_part part;
        const bool scale = sp_adapter_front(name)->form == SP_FRONT_FLAT && sp_adapter_scaled(&arena, name);
        const bool head = prompt && strncmp(name, sp_prompt_front, strlen(sp_prompt_front)) == 0;
        const bool counts = scale || head || find_place(&arena, name, &place) || sp_part_read(&arena, name, &part);
        count += counts;
        seen += counts || whole || !is_bias_of_base(name);
    }
    sp_arena_free(&arena);
    return count && count * 2 >= seen;
}

void sp_adapter_free(struct sp_adapter *adapter)
{
    sp_free(adapter->pairs);
    sp_map_free(&adapter->modules);
}

/* Whether the rank is at most one of the dimensions. A reading of A and B that gives a larger one is the wrong one. */
static bool is_low(struct sp_product product) { return product.rank <= product.out || product.rank <= product.in; }

/* The rows of A and B are their first dimensions, the columns all others together. For a matrix W of (1024, 4096):
 *
 *     usual         A (8, 4096)   B (1024, 8)    PEFT, kohya: W + B A
 *     transposed    A (4096, 8)   B (8, 1024)    MLX: W + (A B)^T; matrices alone
 *
 * A convolution has its kernel in the columns of A, so that `in` is input channels x height x width; with a `mid` of
 * (rank, rank, height, width) the kernel is in that, and A has the input channels alone. */
bool sp_pair_product(const struct sp_adapter *adapter, const struct sp_pair *pair, struct sp_product *product)
{
    if (pair->a == SHAPEPROOF_NONE || pair->b == SHAPEPROOF_NONE) return false;
    const struct shapeproof_tensor *a = shapeproof_inventory_tensor(adapter->inventory, pair->a);
    const struct shapeproof_tensor *b = shapeproof_inventory_tensor(adapter->inventory, pair->b);
    if (sp_pair_is_stacked(adapter, pair)) {
        *product = (struct sp_product){.out = b->shape[1], .in = a->shape[2], .rank = a->shape[1]};
        return true;
    }
    if (a->rank == 2 && b->rank == 2 && !a->shape[0] && !b->shape[1]) { /* AdaLoRA prunes down to no rank at all */
        *product = (struct sp_product){.out = b->shape[0], .in = a->shape[1]};
        return true;
    }
    if (a->rank < 2 || b->rank < 2 || !a->shape[0] || !b->shape[0]) return false;
    const uint64_t rows_a = a->shape[0], rows_b = b->shape[0], columns_b = b->parameters / rows_b;
    uint64_t columns_a = a->parameters / rows_a;
    if (pair->mid != SHAPEPROOF_NONE) {
        const struct shapeproof_tensor *mid = shapeproof_inventory_tensor(adapter->inventory, pair->mid);
        if (mid->rank < 2 || mid->shape[0] != rows_a || mid->shape[1] != rows_a) return false;
        const uint64_t kernel = mid->parameters / rows_a / rows_a;
        if (!sp_mul_u64(columns_a, kernel, &columns_a)) return false;
    }
    const struct sp_product usual = {.out = rows_b, .in = columns_a, .rank = rows_a};
    const struct sp_product transposed = {.out = columns_b, .in = rows_a, .rank = columns_a};
    const bool is_usual = rows_a == columns_b && is_low(usual);
    const bool is_transposed = a->rank == 2 && b->rank == 2 && columns_a == rows_b && is_low(transposed);
    const bool is_transposed_better = is_transposed && transposed.rank < usual.rank;
    *product = is_usual && !is_transposed_better ? usual : transposed;
    return is_usual || is_transposed;
}

bool sp_pair_is_stacked(const struct sp_adapter *adapter, const struct sp_pair *pair)
{
    const struct shapeproof_tensor *a = shapeproof_inventory_tensor(adapter->inventory, pair->a);
    const struct shapeproof_tensor *b = shapeproof_inventory_tensor(adapter->inventory, pair->b);
    const bool of_nemo = strcmp(pair->ending->parts[SP_ROLE_DOWN], "adapter.linear_in") == 0;
    return of_nemo && a->rank == 3 && b->rank == 3 && a->shape[0] == b->shape[0] && a->shape[1] == b->shape[2] &&
           is_low((struct sp_product){b->shape[1], a->shape[2], a->shape[1]});
}

bool sp_has_magnitudes(const struct shapeproof_inventory *inventory)
{
    for (size_t i = 0; i < shapeproof_inventory_count(inventory); i++) {
        const char *name = shapeproof_inventory_tensor(inventory, i)->name;
        if (strstr(name, ".lora_magnitude_vector") || sp_ends_with(name, ".dora_scale") ||
            sp_ends_with(name, ".magnitude"))
            return true;
    }
    return false;
}

/* ---- without a base ---- */

/* What is wrong with the first pair that lacks a matrix, or whose matrices do not fit each other; NULL when all pairs
 * are right. On the heap. */
static char *first_fault(const struct sp_adapter *adapter)
{
    for (size_t i = 0; i < adapter->count; i++) {
        const struct sp_pair *pair = &adapter->pairs[i];
        struct sp_product product;
        struct sp_text text = {0};
        if (sp_pair_product(adapter, pair, &product)) continue;
        const size_t lonely = pair->a != SHAPEPROOF_NONE ? pair->a : pair->b != SHAPEPROOF_NONE ? pair->b : pair->mid;
        if (pair->a == SHAPEPROOF_NONE || pair->b == SHAPEPROOF_NONE)
            sp_text_printf(&text, "the adapter has %s but not the other matrix of the pair",
                           sp_quote(shapeproof_inventory_tensor(adapter->inventory, lonely)->name).text);
        else sp_text_printf(&text, "A and B of the adapter for %s do not fit each other", sp_quote(pair->module).text);
        return text.data;
    }
    return NULL;
}

/* "this is a LoRA adapter of rank 8 for 32 modules of 'meta-llama/Llama-3.2-1B'", of pairs that are all right. */
static void put_pairs(struct sp_text *text, const struct sp_adapter *adapter)
{
    const struct shapeproof_value base = sp_value_member(adapter->config, "base_model_name_or_path");
    const char **modules = sp_arena_array(adapter->arena, adapter->count, sizeof *modules);
    struct sp_product product = {0};
    for (size_t i = 0; i < adapter->count; i++) modules[i] = adapter->pairs[i].module;
    sp_pair_product(adapter, &adapter->pairs[0], &product);
    sp_text_printf(
        text, "this is a %s adapter of rank %" PRIu64 " for %s",
        sp_has_magnitudes(adapter->inventory) ? "DoRA" : "LoRA", product.rank,
        sp_adapter_modules_in_words(adapter->arena, modules, adapter->count, adapter->pairs[0].ending->names));
    if (base.type == SHAPEPROOF_VALUE_STRING) sp_text_printf(text, " of %s", sp_quote(base.string).text);
}

/* By the pairs of LoRA where there are any, else by the parts of other methods. The text stays NULL without either. */
char *shapeproof_adapter_describe(const struct shapeproof_inventory *inventory, bool *consistent)
{
    SP_CALL(NULL, NULL);
    SP_SPENDS("checking it");
    SP_BUDGET_REUSE(inventory);
    struct sp_arena arena = {0};
    struct sp_adapter adapter;
    struct sp_text text = {0};
    char *fault = NULL;
    if (sp_adapter_read(&adapter, &arena, inventory)) {
        fault = first_fault(&adapter);
        if (!fault) put_pairs(&text, &adapter);
    } else {
        const char *parts = sp_parts_describe(&arena, inventory);
        if (parts) sp_text_printf(&text, "this is %s", parts);
    }
    *consistent = !fault;
    sp_adapter_free(&adapter);
    sp_arena_free(&arena);
    return fault ? fault : text.data;
}

/* ---- its base ---- */

/* The config.json of the snapshot of a model that refs/main of the hub's cache names: of "org/name"
 * "HUB/models--org--name/snapshots/COMMIT/config.json". NULL when it was not downloaded. */
static const char *config_in_cache(struct sp_arena *arena, const char *hub, const char *model)
{
    struct sp_text folder = {0};
    sp_text_printf(&folder, "%s/models--", hub);
    for (const char *c = model; *c; c++) {
        if (*c == '/') sp_text_puts(&folder, "--");
        else sp_text_append(&folder, c, 1);
    }
    char *snapshot = shapeproof_checkpoint_path(folder.data);
    const char *path = snapshot ? sp_arena_printf(arena, "%s/config.json", snapshot) : NULL;
    shapeproof_free(snapshot);
    sp_text_free(&folder);
    return path && sp_path_may_be_file(AT_FDCWD, path) ? path : NULL;
}

/* Tries base_model_name_or_path of PEFT, or `model` of MLX, as it is; then behind the folder of the adapter and those
 * above it, in one of which the training ran; then, as the name of a model, in the cache of the hub. */
char *sp_adapter_base_config(const struct shapeproof_inventory *inventory, const char *hub)
{
    enum { MOST_FOLDERS = 4 }; /* that of the adapter in "run/out/checkpoint-4", and above */
    struct sp_arena arena = {0};
    struct sp_text path = {0};
    bool found = false;
    const struct shapeproof_value config = sp_adapter_config(&arena, inventory);
    struct shapeproof_value base = sp_value_member(config, "base_model_name_or_path");
    if (!sp_value_is_set(base)) base = sp_value_member(config, "model"); /* of MLX */
    if (base.type == SHAPEPROOF_VALUE_STRING && *base.string) {
        const char *beside = config_path(&arena, inventory);
        size_t folder = (size_t)(sp_base_name(beside) - beside);
        sp_text_printf(&path, "%s/config.json", base.string);
        found = sp_path_may_be_file(AT_FDCWD, path.data);
        for (size_t i = 0; i < MOST_FOLDERS && !found && *base.string != '/'; i++) {
            path.length = 0;
            sp_text_printf(&path, "%.*s%s/config.json", (int)folder, beside, base.string);
            found = sp_path_may_be_file(AT_FDCWD, path.data);
            while (folder && beside[folder - 1] == '/') folder--;
            while (folder && beside[folder - 1] != '/') folder--;
        }
        const char *cached = !found && hub ? config_in_cache(&arena, hub, base.string) : NULL;
        if (cached) {
            path.length = 0;
            sp_text_puts(&path, cached);
            found = true;
        }
    }
    sp_arena_free(&arena);
    if (found) return path.data;
    sp_text_free(&path);
    return NULL;
}

/* Whether a front may be for the component, "unet" or "text_encoder_2". One that names no component may be for any of
 * its side; one that names no side, for any denoiser. */
static bool is_front_for(const struct sp_adapter_front *front, const char *component)
{
    const bool encoder = strncmp(component, "text_encoder", strlen("text_encoder")) == 0;
    static const char *const denoisers[] = {"unet", "transformer", "transformer_2", "prior", "decoder"};
    if (*front->component) return strcmp(front->component, component) == 0;
    if (front->side == SP_SIDE_TEXT_ENCODER) return encoder;
    return SP_IS_AMONG(component, denoisers);
}

bool shapeproof_adapter_is_for(const struct shapeproof_inventory *inventory, const char *component)
{
    SP_CALL(NULL, false);
    SP_SPENDS("checking it");
    SP_BUDGET_REUSE(inventory);
    struct sp_arena arena = {0};
    bool is = false;
    for (size_t i = 0; i < shapeproof_inventory_count(inventory) && !is; i++) {
        const char *name = shapeproof_inventory_tensor(inventory, i)->name;
        struct place place;
        struct sp_part part;
        if (find_place(&arena, name, &place) || sp_part_read(&arena, name, &part))
            is = is_front_for(sp_adapter_front(name), component);
    }
    sp_arena_free(&arena);
    return is;
}
