/* SPDX-License-Identifier: MIT */
#include "config/quantised.h"

#include <stdlib.h>
#include <string.h>

#include "base/chars.h"
#include "lang/eval.h"
#include "lang/tables.h"
#include "names/components.h"
#include "names/name_pattern.h"

enum { MAX_GLOBS = 4096, MAX_GROUPS = 64, MAX_METHOD = 64, PATTERN_BUDGET = 50 * 1000 * 1000 };

/* ---- the method ---- */

static bool has(struct sp_value object, const char *key) { return sp_value_is_set(sp_value_member(object, key)); }

static const char *text_of_member(struct sp_value object, const char *key)
{
    const struct sp_value value = sp_value_member(object, key);
    return value.type == SP_STRING ? value.string : NULL;
}

/* MLX's own key comes first: its copy under the other one is for readers that know nothing of MLX. */
static bool find_object(struct sp_quantised *quantised, struct sp_value root)
{
    static const char *const paths[] = {"quantization", "quantization_config", "compression_config",
                                        "text_config.quantization_config"};
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        quantised->object = sp_value_at(root, paths[i]);
        quantised->path = paths[i];
        if (quantised->object.type == SP_OBJECT && quantised->object.count) return true;
    }
    return false;
}

/* Files that do not name their method are known by a key. */
static const char *method_by_key(struct sp_value object)
{
    static const struct {
        const char *key, *method;
    } keys[] = {{"load_in_4bit", "bitsandbytes"},
                {"load_in_8bit", "bitsandbytes"},
                {"quant_algo", "modelopt"},
                {"config_groups", "compressed_tensors"},
                {"weight_block_size", "fp8"},
                {"w_bit", "awq"},
                {"bits", "mlx"}};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (has(object, keys[i].key)) return keys[i].method;
    return "nothing of its method";
}

/* As part names have it: "compressed_tensors". */
static const char *method_of_config(struct sp_quantised *quantised)
{
    const char *said = text_of_member(quantised->object, "quant_method");
    if (!said) return method_by_key(quantised->object);
    if (strncmp(said, "modelopt", 8) == 0) said = "modelopt"; /* modelopt_fp4 */
    char *method = sp_arena_printf(&quantised->arena, "%.*s", MAX_METHOD, said);
    for (char *c = method; *c; c++) {
        if (*c == '-') *c = '_';
        if (*c >= 'A' && *c <= 'Z') *c = (char)(*c - 'A' + 'a');
    }
    return method;
}

/* It can be given the two dimensions and the module. */
static bool is_usable(const struct sp_unit *part)
{
    if (!part || part->is_table || part->param_count < 2) return false;
    for (size_t i = 3; i < part->param_count; i++)
        if (!part->params[i].fallback) return false;
    return true;
}

static bool says_true(const struct sp_unit *part, const char *name)
{
    for (size_t i = 0; i < part->definition_count; i++)
        if (strcmp(part->definitions[i].name, name) == 0)
            return part->definitions[i].expr->kind == SP_EXPR_LITERAL && part->definitions[i].expr->value.boolean;
    return false;
}

static void find_part(struct sp_quantised *quantised, const struct sp_tables *tables)
{
    const char *name = sp_arena_printf(&quantised->arena, "quantised_%s", quantised->method);
    const struct sp_unit *part = sp_tables_unit(tables, name);
    if (!is_usable(part)) return;
    quantised->part = part;
    quantised->embeddings = says_true(part, "embeddings");
    quantised->heads = says_true(part, "heads");
    quantised->routers = says_true(part, "routers");
    quantised->typed = says_true(part, "typed");
    quantised->stacked = says_true(part, "stacked");
}

/* ---- exemptions ---- */

static void exempt(struct sp_quantised *quantised, const char *pattern)
{
    size_t components = 1;
    if (strncmp(pattern, "re:", 3) == 0 || strchr(pattern, '*')) {
        if (quantised->glob_count == MAX_GLOBS) return;
        SP_GROW(quantised->globs, quantised->glob_count, quantised->glob_capacity);
        quantised->globs[quantised->glob_count++] = pattern;
        return;
    }
    for (const char *c = pattern; *c; c++) components += *c == '.';
    sp_map_add(&quantised->exempt, pattern, 0);
    quantised->exempt_sizes |= UINT64_C(1) << (components < 63 ? components : 63);
}

static const char *const lists[] = {"modules_to_not_convert", "ignore", "exclude_modules", "llm_int8_skip_modules",
                                    "ignored_layers"};

bool sp_quantised_reads(const char *key) { return strcmp(key, "quant_method") == 0 || SP_IS_AMONG(key, lists); }

static void read_exemptions(struct sp_quantised *quantised)
{
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        const struct sp_value list = sp_value_member(quantised->object, lists[i]);
        if (list.type != SP_LIST) continue;
        if (list.count) quantised->list_key = lists[i];
        for (size_t k = 0; k < list.count; k++)
            if (list.items[k].type == SP_STRING) exempt(quantised, list.items[k].string);
    }
}

/* MLX has a key for each module that is not as the others are. */
static void read_modules(struct sp_quantised *quantised)
{
    for (size_t i = 0; i < quantised->object.count; i++) {
        const struct sp_member *member = &quantised->object.members[i];
        if (member->value.type == SP_OBJECT || member->value.type == SP_BOOL)
            sp_map_set(&quantised->own, member->key, i);
    }
    quantised->budget = sp_arena_alloc(&quantised->arena, sizeof *quantised->budget);
    *quantised->budget = PATTERN_BUDGET;
}

/* Whether one of the names is the module, or whole components of it: "lm_head", "mlp.gate". */
static bool contains_exempt(const struct sp_quantised *quantised, const char *module)
{
    struct sp_text piece = {0};
    bool found = false;
    for (const char *from = module; from && !found; from = sp_behind_component(from, ".")) {
        unsigned components = 0;
        for (const char *to = from; to && *to && !found; to += *to == '.') {
            to += strcspn(to, ".");
            if (++components < 63 && !(quantised->exempt_sizes >> components & 1)) continue;
            piece.length = 0;
            sp_text_append(&piece, from, (size_t)(to - from));
            found = sp_map_get(&quantised->exempt, piece.data) != SIZE_MAX;
        }
    }
    sp_text_free(&piece);
    return found;
}

static bool is_exempt_by_nature(const struct sp_quantised *quantised, const char *module)
{
    static const char *const embeddings[] = {"wte", "wpe", "shared", "position", "word", "token_type"};
    static const char *const heads[] = {"lm_head",    "embed_out",           "score", "classifier",
                                        "qa_outputs", "classification_head", "head",  "output_layer"};
    static const char *const routers[] = {"gate", "router", "shared_expert_gate"};
    const char *last = module + sp_last_component(module, strlen(module), ".");
    if (SP_IS_AMONG(last, heads)) return !quantised->heads;
    if (SP_IS_AMONG(last, routers)) return !quantised->routers;
    return (strstr(last, "embed") || SP_IS_AMONG(last, embeddings)) && !quantised->embeddings;
}

/* What the configuration says of that module alone; absent when it says nothing. */
static struct sp_value own_keys(const struct sp_quantised *quantised, const char *module)
{
    const size_t member = sp_map_get(&quantised->own, module);
    return member == SIZE_MAX ? sp_value_absent(module) : quantised->object.members[member].value;
}

/* "Linear", a class of modules, stands for all of them. */
static bool targets_module(const struct sp_quantised *quantised, struct sp_value targets, const char *module)
{
    if (targets.type != SP_LIST) return true;
    for (size_t i = 0; i < targets.count && *quantised->budget; i++, --*quantised->budget) {
        const char *target = targets.items[i].type == SP_STRING ? targets.items[i].string : "";
        const bool is_class = strncmp(target, "re:", 3) != 0 && !strpbrk(target, ".*_");
        if (is_class || sp_module_matches(target, module, quantised->budget)) return true;
    }
    return false;
}

/* The group of compressed-tensors that has the module; SIZE_MAX: there are no groups, or none has it. */
static size_t group_of(const struct sp_quantised *quantised, const char *module)
{
    const struct sp_value groups = quantised->groups;
    for (size_t i = 0; groups.type == SP_OBJECT && i < groups.count && i < MAX_GROUPS; i++) {
        const struct sp_value group = groups.members[i].value;
        if (group.type == SP_OBJECT && targets_module(quantised, sp_value_member(group, "targets"), module)) return i;
    }
    return SIZE_MAX;
}

/* The configuration says so of the module by itself, or leaves it out of all groups. */
static bool is_left_out_module(const struct sp_quantised *quantised, const char *module)
{
    const struct sp_value own = own_keys(quantised, module);
    if (own.type == SP_BOOL) return !own.boolean;
    return quantised->groups.type == SP_OBJECT && group_of(quantised, module) == SIZE_MAX;
}

enum sp_exemption sp_quantised_exempts(const struct sp_quantised *quantised, const char *module)
{
    if (quantised->exempt_sizes && contains_exempt(quantised, module)) return SP_EXEMPT_LISTED;
    for (size_t i = 0; i < quantised->glob_count; i++)
        if (sp_module_matches(quantised->globs[i], module, quantised->budget)) return SP_EXEMPT_LISTED;
    if (is_left_out_module(quantised, module)) return SP_EXEMPT_LISTED;
    return is_exempt_by_nature(quantised, module) ? SP_EXEMPT_BY_NATURE : SP_QUANTISED;
}

/* ---- one module ---- */

const char *sp_quantised_module(const struct sp_quantised *quantised, struct sp_arena *arena, const char *weight)
{
    static const char suffix[] = ".weight";
    const bool plain = sp_ends_with(weight, suffix);
    if (quantised->stacked) return plain || sp_ends_with(weight, "_bias") ? NULL : sp_arena_string(arena, weight);
    return plain ? sp_arena_copy(arena, weight, strlen(weight) - strlen(suffix)) : NULL;
}

/* Keys for this module alone (MLX), or for the group of modules that it belongs to (compressed-tensors). */
static void find_keys(const struct sp_quantised *quantised, struct sp_arena *arena, struct sp_replacement *replacement)
{
    const struct sp_value own = own_keys(quantised, replacement->module);
    replacement->object = own.type == SP_OBJECT ? own : quantised->object;
    replacement->path =
        own.type == SP_OBJECT ? sp_arena_printf(arena, "%s.%s", quantised->path, replacement->module) : quantised->path;
    const size_t group = group_of(quantised, replacement->module);
    if (group == SIZE_MAX) return;
    const struct sp_member *member = &quantised->groups.members[group];
    replacement->object = member->value;
    replacement->path = sp_arena_printf(arena, "%s.config_groups.%s", quantised->path, member->key);
}

/* What a group of modules leaves to the whole, and what only the file can tell: nothing, most often. */
static void find_given_setting(const struct sp_quantised *quantised, struct sp_arena *arena,
                               struct sp_replacement *replacement)
{
    static const char *const keys[] = {"format", "quant_algo"};
    const struct sp_storage *storage = quantised->storage;
    struct sp_given given[sizeof keys / sizeof *keys + 1];
    size_t count = 0;
    for (size_t i = 0; replacement->path != quantised->path && i < sizeof keys / sizeof *keys; i++) {
        const struct sp_value value = sp_value_member(quantised->object, keys[i]);
        if (has(replacement->object, keys[i]) || !sp_value_is_set(value)) continue;
        given[count++] =
            (struct sp_given){.key = keys[i], .value = value, .from = sp_provenance_other(quantised->path)};
    }
    const uint64_t bytes = storage->text_bytes ? storage->text_bytes(storage, replacement->module) : 0;
    if (bytes && bytes <= INT64_MAX)
        given[count++] = (struct sp_given){
            .key = "quant_state_bytes", .value = sp_value_int((int64_t)bytes), .from = sp_provenance_other("the file")};
    if (!count) return;
    replacement->given = memcpy(sp_arena_array(arena, count, sizeof *given), given, count * sizeof *given);
    replacement->given_count = count;
}

static bool is_packed(const struct sp_quantised *quantised, const char *name, const char *module, size_t rank)
{
    const struct sp_storage *storage = quantised->storage;
    const enum sp_stored stored = storage->ask ? storage->ask(storage, module) : SP_STORED_NOWHERE;
    if (stored != SP_STORED_NOWHERE) return stored == SP_STORED_PACKED;
    if (rank != (quantised->stacked ? 3 : 2) && !(rank == 3 && strstr(name, "expert"))) return false;
    return sp_quantised_exempts(quantised, module) == SP_QUANTISED;
}

static bool replace_weight(const struct sp_overlay *overlay, struct sp_arena *arena, const char *name, size_t rank,
                           struct sp_replacement *replacement)
{
    const struct sp_quantised *quantised = (const struct sp_quantised *)overlay;
    *replacement = (struct sp_replacement){.part = quantised->part};
    replacement->module = sp_quantised_module(quantised, arena, name);
    if (!replacement->module || !is_packed(quantised, name, replacement->module, rank)) return false;
    find_keys(quantised, arena, replacement);
    find_given_setting(quantised, arena, replacement);
    replacement->prefix = quantised->stacked
                              ? replacement->module
                              : sp_arena_copy(arena, name, strlen(replacement->module) + 1); /* with its dot */
    return true;
}

/* ---- the whole ---- */

bool sp_quantised_open(struct sp_quantised *quantised, const struct sp_tables *tables, const struct sp_hyper *hyper,
                       const struct sp_storage *storage)
{
    *quantised = (struct sp_quantised){.overlay = {.replace = replace_weight}, .storage = storage};
    if (!find_object(quantised, hyper->root)) return false;
    quantised->groups = sp_value_member(quantised->object, "config_groups");
    quantised->method = method_of_config(quantised);
    find_part(quantised, tables);
    read_exemptions(quantised);
    read_modules(quantised);
    return true;
}

void sp_quantised_close(struct sp_quantised *quantised)
{
    sp_map_free(&quantised->exempt);
    sp_map_free(&quantised->own);
    free(quantised->globs);
    sp_arena_free(&quantised->arena);
}
