/* SPDX-License-Identifier: MIT
 * Modules that a quantiser left as they were although it quantises such modules by default: the configuration has to
 * list them.
 *
 *     quantised                           plain                                      llm_int8_skip_modules
 *     layers.{0,1}.mlp.up_proj            layers.{0,1}.mlp.down_proj, lm_head        mlp.down_proj, lm_head
 *     layers.0.self_attn.q_proj           layers.1.self_attn.q_proj                  layers.1.self_attn.q_proj
 *     layers.0.mlp.up_proj                layers.1.mlp.experts.{0,1}.up_proj         experts.{0,1}.up_proj */
#include <string.h>

#include "base/chars.h"
#include "base/map.h"
#include "base/text.h"
#include "config/quantised.h"
#include "infer/infer.h"
#include "names/components.h"
#include "stored/schemes.h"

/* The keys of the methods of transformers, which compare each item with the end of a module's name. */
static const struct {
    const char *method, *key;
} lists[] = {
    {"awq", "modules_to_not_convert"},  {"bitnet", "modules_to_not_convert"}, {"bitsandbytes", "llm_int8_skip_modules"},
    {"eetq", "modules_to_not_convert"}, {"fp8", "modules_to_not_convert"},    {"quanto", "modules_to_not_convert"},
};

static const char *list_of_method(const char *method)
{
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        if (strcmp(lists[i].method, method) == 0) return lists[i].key;
    return NULL;
}

/* What is behind the last number: "model.layers.1.mlp.up_proj" -> "mlp.up_proj"; the whole name if it has none, or ends
 * in one. */
static const char *behind_numbers(const char *module)
{
    const char *kind = module;
    for (const char *c = module; *c; c += *c == '.') {
        const size_t digits = strspn(c, "0123456789");
        if (digits && c[digits] == '.') kind = c + digits + 1;
        c += strcspn(c, ".");
    }
    return kind;
}

/* How the modules of the best attempt are stored. */
struct modules {
    struct sp_quantised quantised; /* what the configuration without a list says */
    SP_ARRAY(const char *) packed; /* names of those that are quantised; in the arena of the inference */
    SP_ARRAY(const char *) plain;  /* of those that are not, likewise */
    bool is_list_needed;           /* one of these is quantised by default */
};

/* Adds the module of a predicted weight. Embeddings are no linear layers, so nothing has to be said of them; a head
 * that is tied, and not in the file, has to be listed like one that is. */
static void add_module(struct shapeproof_inference *inference, struct modules *modules, size_t predicted)
{
    const struct sp_attempt *best = inference->best;
    const struct shapeproof_predicted *tensor = shapeproof_prediction_tensor(best->prediction, predicted);
    const size_t seen = best->match.tensor_of[predicted];
    const char *module = sp_quantised_module(&modules->quantised, &inference->arena, tensor->name);
    if (!module || tensor->rank != 2 || tensor->buffer) return;
    if (seen != SHAPEPROOF_NONE && best->view->is_unpacked[seen]) {
        *SP_PUSH(&modules->packed) = module;
        return;
    }
    const bool by_default = sp_quantised_exempts(&modules->quantised, module) == SP_QUANTISED;
    struct sp_quantised all_but_embeddings = modules->quantised;
    all_but_embeddings.heads = all_but_embeddings.routers = true;
    if (by_default ? seen == SHAPEPROOF_NONE : sp_quantised_exempts(&all_but_embeddings, module) != SP_QUANTISED)
        return;
    modules->is_list_needed |= by_default;
    *SP_PUSH(&modules->plain) = module;
}

/* The next longer end of the module's name that does not begin with a number: "experts.0.up_proj" for "up_proj" of
 * "layers.1.mlp.experts.0.up_proj". NULL if `end` is the whole name. */
static const char *longer_end(const char *module, const char *end)
{
    if (end == module) return NULL;
    do end = module + sp_last_component(module, (size_t)(end - module) - 1, ".");
    while (end > module && sp_is_digit(*end));
    return end;
}

/* Whether an item exempts a quantised module, too. */
enum { HITS_NONE, HITS_QUANTISED };

/* Fills `ends` with the ends of the names of plain modules, from the kind to the whole name, and with what such an item
 * would hit. */
static void find_ends(struct sp_map *ends, const struct modules *modules)
{
    uint64_t sizes = 0;
    for (size_t i = 0; i < modules->plain.count; i++) {
        const char *module = modules->plain.items[i];
        for (const char *end = behind_numbers(module); end; end = longer_end(module, end))
            if (sp_map_add(ends, end, HITS_NONE)) sizes |= sp_size_of_name(end);
    }
    for (size_t i = 0; i < modules->packed.count; i++) {
        struct sp_module_pieces piece = sp_module_pieces_of(modules->packed.items[i], sizes);
        while (sp_next_module_piece(&piece))
            if (sp_map_get(ends, piece.text.data) == HITS_NONE) sp_map_set(ends, piece.text.data, HITS_QUANTISED);
        sp_text_free(&piece.text);
    }
}

/* The items: for each plain module the shortest end of its name, its kind if possible, that hits no quantised one. */
static struct shapeproof_value make_list(struct sp_arena *arena, const struct modules *modules)
{
    struct shapeproof_value *items = sp_arena_array(arena, modules->plain.count, sizeof *items);
    struct sp_map listed = {0}, ends = {0};
    size_t count = 0;
    find_ends(&ends, modules);
    for (size_t i = 0; i < modules->plain.count; i++) {
        const char *module = modules->plain.items[i], *end = behind_numbers(module);
        while (end != module && sp_map_get(&ends, end) == HITS_QUANTISED) end = longer_end(module, end);
        if (sp_map_add(&listed, end, 0)) items[count++] = sp_value_string(end);
    }
    sp_map_free(&listed);
    sp_map_free(&ends);
    return (struct shapeproof_value){.type = SHAPEPROOF_VALUE_LIST, .count = count, .items = items};
}

bool sp_infer_exemptions(struct shapeproof_inference *inference, struct shapeproof_member *list)
{
    const struct sp_attempt *best = inference->best;
    struct modules modules = {.is_list_needed = false};
    if (!best->view->unpacked ||
        !sp_quantised_open(&modules.quantised, best->tables, sp_config_hyper(best->config), NULL))
        return false;
    list->key = list_of_method(modules.quantised.method);
    for (size_t i = 0; list->key && i < shapeproof_prediction_count(best->prediction); i++)
        add_module(inference, &modules, i);
    if (modules.is_list_needed) list->value = make_list(&inference->arena, &modules);
    sp_free(modules.plain.items);
    sp_free(modules.packed.items);
    sp_quantised_close(&modules.quantised);
    return modules.is_list_needed;
}
