/* SPDX-License-Identifier: MIT */
#include "config/quantised.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/budget.h"
#include "base/chars.h"
#include "base/checked.h"
#include "base/dtype_word.h"
#include "base/map.h"
#include "base/text.h"
#include "base/value.h"
#include "lang/eval.h"
#include "lang/tables.h"
#include "names/components.h"
#include "names/name_pattern.h"

/* ---- rules ---- */

/* What quantization_config says of single modules. Each quantiser has a place of its own for that:
 *
 *     "extra_config": {"model.layers.0.mlp.gate": {"bits": 16}}             AutoRound: 16 bits are left as they are
 *     "dynamic": {"-:.*down_proj": {}, "+:.*gate_proj": {"bits": 8}}        GPTQModel
 *     "quant_config": {"self_attn.q_proj": {"weight_quant_params": {...}}}  HQQ: names without numbers */

enum { NOT_QUANTISED_BITS = 16 };

/* What the keys of the object with the rules are. */
enum spelling {
    NAMES,    /* of modules, or patterns with "re:" in front */
    REGULAR,  /* of modules, or regular expressions */
    SEARCHED, /* regular expressions, found anywhere in a name */
    SIGNED,   /* regular expressions behind "+:", "-:" or nothing */
    GLOBS,    /* with "*" */
    KINDS     /* names of modules without "model", "layers" and numbers */
};

struct sp_rule_dialect {
    const char *method, *path;
    enum spelling spelling;
    bool complete;     /* a module without a rule is not quantised */
    bool inherits;     /* a rule says only what differs */
    const char *other; /* the rule for those without one, or NULL */
    const char *whole; /* where the keys are for those without a rule; NULL: in quantization_config itself */
    const char *none;  /* a key of the object with the rules which tells that there are none, or NULL */
};

/* A method may have several rows: the first whose rules the configuration has is taken. */
static const struct sp_rule_dialect dialects[] = {
    {"gptq", "dynamic", SIGNED, .inherits = true},
    {"awq", "dynamic", SIGNED, .inherits = true},
    {"gptq", "extra_config", REGULAR, .inherits = true},
    {"awq", "extra_config", REGULAR, .inherits = true},
    {"auto_round", "extra_config", REGULAR, .inherits = true},
    {"modelopt", "quantized_layers", NAMES, .complete = true},
    {"vptq", "config_for_layers", NAMES, .complete = true},
    {"torchao", "quant_type.default._data.fqn_to_config", NAMES, .complete = true, .other = "_default"},
    {"torchao", "quant_type.default._data.module_fqn_to_config", NAMES, .complete = true, .other = "_default"},
    {"torchao", "", NAMES, .whole = "quant_type.default"},
    {"hqq", "quant_config", KINDS, .complete = true, .whole = "quant_config", .none = "weight_quant_params"},
    {"quark", "layer_quant_config", GLOBS, .whole = "global_quant_config"},
    {"quark", "", NAMES, .whole = "global_quant_config"},
    {"gemma", "module_quant_configs", SEARCHED, .inherits = true},
};

/* Whether that key of quantization_config is about single modules. */
static bool rules_read(const char *key)
{
    for (size_t i = 0; i < sizeof dialects / sizeof *dialects; i++)
        if (*dialects[i].path && !strchr(dialects[i].path, '.') && strcmp(dialects[i].path, key) == 0) return true;
    return false;
}

/* ---- reading them ---- */

/* Whether the key of a rule is a pattern, and no name of a module, in the dialect. */
static bool is_pattern(const struct sp_rules *rules, const char *key)
{
    switch (rules->dialect ? rules->dialect->spelling : NAMES) {
    case NAMES:
        return strncmp(key, "re:", 3) == 0;
    case REGULAR:
        return strpbrk(key, "*+?\\^$([|") != NULL;
    case SEARCHED:
    case SIGNED:
        return true;
    case GLOBS:
        return strchr(key, '*') != NULL;
    case KINDS:
        break;
    }
    return false;
}

/* Puts the members of the object with the rules into `named` and `patterns`. Without a dialect null is no rule: the
 * object is then quantization_config itself, whose other keys may be null. */
static void sort_rules(struct sp_rules *rules)
{
    const size_t most = sizeof rules->patterns / sizeof *rules->patterns;
    for (size_t i = 0; rules->object.type == SHAPEPROOF_VALUE_OBJECT && i < rules->object.count; i++) {
        const struct shapeproof_member *member = &rules->object.members[i];
        const bool usable =
            member->value.type == SHAPEPROOF_VALUE_OBJECT || member->value.type == SHAPEPROOF_VALUE_BOOL;
        if (!usable && !(rules->dialect && member->value.type == SHAPEPROOF_VALUE_NULL)) continue;
        if (!is_pattern(rules, member->key)) sp_map_set(&rules->named, member->key, i);
        else if (rules->count < most) rules->patterns[rules->count++] = i;
    }
}

/* What the object has at the path; "" is the object itself. */
static struct shapeproof_value object_at(struct shapeproof_value object, const char *path)
{
    return *path ? sp_value_at(object, path) : object;
}

/* Whether the configuration has rules where the dialect has them. */
static bool has_rules(struct shapeproof_value object, const struct sp_rule_dialect *dialect)
{
    const struct shapeproof_value rules = object_at(object, dialect->path);
    return rules.type == SHAPEPROOF_VALUE_OBJECT && rules.count &&
           !(dialect->none && sp_value_is_set(sp_value_member(rules, dialect->none)));
}

/* The path of what is at `within` in the object at `path`. */
static const char *path_to(struct sp_arena *arena, const char *path, const char *within)
{
    return within && *within ? sp_arena_printf(arena, "%s.%s", path, within) : path;
}

void sp_rules_open(struct sp_rules *rules, struct sp_arena *arena, struct shapeproof_value object, const char *path,
                   const char *method)
{
    *rules = (struct sp_rules){.path = path, .object = object, .whole = object, .whole_path = path};
    for (size_t i = 0; i < sizeof dialects / sizeof *dialects; i++) {
        const struct sp_rule_dialect *dialect = &dialects[i];
        if (strcmp(dialect->method, method) != 0) continue;
        if (dialect->whole) {
            const struct shapeproof_value whole = sp_value_at(object, dialect->whole);
            if (whole.type == SHAPEPROOF_VALUE_OBJECT) {
                rules->whole = whole;
                rules->whole_path = path_to(arena, path, dialect->whole);
            }
        }
        if (!has_rules(object, dialect)) continue;
        rules->dialect = dialect;
        rules->object = object_at(object, dialect->path);
        rules->path = path_to(arena, path, dialect->path);
        break;
    }
    sort_rules(rules);
}

void sp_rules_close(struct sp_rules *rules) { sp_map_free(&rules->named); }

/* ---- one module ---- */

static bool is_number(const char *component, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (component[i] < '0' || component[i] > '9') return false;
    return true;
}

/* "self_attn.q_proj" of "model.layers.0.self_attn.q_proj". */
static void put_kind(struct sp_text *kind, const char *module)
{
    for (const char *at = module; *at;) {
        const size_t length = strcspn(at, ".");
        const bool dropped = is_number(at, length) || (length == 5 && memcmp(at, "model", 5) == 0) ||
                             (length == 6 && memcmp(at, "layers", 6) == 0);
        if (!dropped && kind->length) sp_text_puts(kind, ".");
        if (!dropped) sp_text_append(kind, at, length);
        at += length + (at[length] == '.');
    }
}

/* The index of the rule whose key is the name of the module or its kind, or SIZE_MAX. */
static size_t named_rule(const struct sp_rules *rules, const char *module)
{
    struct sp_text name = {0};
    size_t found = sp_map_get(&rules->named, module);
    if (found == SIZE_MAX && rules->dialect && rules->dialect->spelling == KINDS) {
        sp_text_puts(&name, "");
        put_kind(&name, module);
        found = sp_map_get(&rules->named, name.data);
    } else if (found == SIZE_MAX && rules->dialect && rules->dialect->spelling == NAMES) {
        sp_text_printf(&name, "%s.weight", module);
        found = sp_map_get(&rules->named, name.data);
    }
    sp_text_free(&name);
    return found;
}

static bool fits_pattern(const struct sp_rules *rules, const char *key, const char *module, size_t *budget)
{
    struct sp_text regular = {0};
    const enum spelling spelling = rules->dialect ? rules->dialect->spelling : NAMES;
    if (spelling == NAMES || spelling == GLOBS) return sp_module_matches(key, module, budget);
    const bool has_sign = spelling == SIGNED && (strncmp(key, "+:", 2) == 0 || strncmp(key, "-:", 2) == 0);
    sp_text_printf(&regular, "re:%s%s", spelling == SEARCHED ? ".*" : "", key + 2 * has_sign);
    const bool fits = sp_module_matches(regular.data, module, budget);
    sp_text_free(&regular);
    return fits;
}

/* Each pattern that is looked at takes a step. */
static void spend_step(size_t *budget)
{
    if (*budget) --*budget;
}

/* The index of the rule for a module: one with its name, else the first pattern that fits, else the one that the
 * dialect has for all others; or SIZE_MAX. */
static size_t find_module_rule(const struct sp_rules *rules, const char *module, size_t *budget)
{
    const size_t named = named_rule(rules, module);
    if (named != SIZE_MAX) return named;
    for (size_t i = 0; i < rules->count; i++) {
        spend_step(budget);
        if (fits_pattern(rules, rules->object.members[rules->patterns[i]].key, module, budget))
            return rules->patterns[i];
    }
    return rules->dialect && rules->dialect->other ? sp_map_get(&rules->named, rules->dialect->other) : SIZE_MAX;
}

/* Whether a rule says that its modules are not quantised: its value is null or false, its key begins with "-:", or it
 * has at least as many bits as a weight that is not quantised. */
static bool leaves_out(const struct sp_rules *rules, const struct shapeproof_member *member)
{
    const struct shapeproof_value bits = sp_value_member(member->value, "bits");
    if (member->value.type == SHAPEPROOF_VALUE_NULL || sp_value_is_bool(member->value, false)) return true;
    if (rules->dialect && rules->dialect->spelling == SIGNED && *member->key == '-') return true;
    return rules->dialect && bits.type == SHAPEPROOF_VALUE_INT && bits.integer >= NOT_QUANTISED_BITS;
}

/* What the rules say of a module. The `path` of the result is in the arena; the steps of matching patterns are
 * subtracted from the budget. */
static struct sp_module_rule rules_for(const struct sp_rules *rules, struct sp_arena *arena, const char *module,
                                       size_t *budget)
{
    struct sp_module_rule rule = {.kind = SP_MODULE_NONE, .object = rules->whole, .path = rules->whole_path};
    const size_t found = find_module_rule(rules, module, budget);
    if (found == SIZE_MAX) {
        if (rules->dialect && rules->dialect->complete) rule.kind = SP_MODULE_LEFT_OUT;
        return rule;
    }
    const struct shapeproof_member *member = &rules->object.members[found];
    if (leaves_out(rules, member)) rule.kind = SP_MODULE_LEFT_OUT;
    if (rule.kind == SP_MODULE_LEFT_OUT || member->value.type != SHAPEPROOF_VALUE_OBJECT) return rule;
    return (struct sp_module_rule){SP_MODULE_OWN, member->value, path_to(arena, rules->path, member->key),
                                   rules->dialect && rules->dialect->inherits};
}

/* ---- quantised ---- */

enum { MAX_GLOBS = 4096, MAX_GROUPS = 64, MAX_METHOD = 64 };
/* Matching patterns may take the steps of a prediction divided by that: 4 million by default. A step of a regular
 * expression takes up to 300 ns. */
enum { PATTERN_SHARE = 16 };

/* ---- the method ---- */

static bool has(struct shapeproof_value object, const char *key)
{
    return sp_value_is_set(sp_value_member(object, key));
}

static const char *text_of_member(struct shapeproof_value object, const char *key)
{
    const struct shapeproof_value value = sp_value_member(object, key);
    return value.type == SHAPEPROOF_VALUE_STRING ? value.string : NULL;
}

/* MLX's own key comes first: its copy under the other one is for readers that know nothing of MLX. */
static bool find_object(struct sp_quantised *quantised, struct shapeproof_value root)
{
    static const char *const paths[] = {"quantization", "quantization_config", "compression_config",
                                        "text_config.quantization_config"};
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        quantised->object = sp_value_at(root, paths[i]);
        quantised->path = paths[i];
        if (quantised->object.type == SHAPEPROOF_VALUE_OBJECT && quantised->object.count) return true;
    }
    return false;
}

/* BitNet has the weights of training as well: who loads them rounds them. */
static bool is_rounded_when_loaded(struct shapeproof_value object)
{
    const char *mode = text_of_member(object, "quantization_mode");
    return mode && strcmp(mode, "online") == 0;
}

/* Files that do not name their method are known by a key. */
static const char *method_by_key(struct shapeproof_value object)
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

bool sp_unit_says(const struct sp_unit *unit, const char *name)
{
    for (size_t i = 0; i < unit->definition_count; i++)
        if (strcmp(unit->definitions[i].name, name) == 0)
            return unit->definitions[i].expr->kind == SP_EXPR_LITERAL && unit->definitions[i].expr->value.boolean;
    return false;
}

const struct sp_unit *sp_part_beside(const struct shapeproof_tables *tables, const struct sp_unit *part)
{
    struct sp_text name = {0};
    sp_text_printf(&name, "%s_stacked", part->name);
    const struct sp_unit *beside = sp_tables_unit(tables, name.data);
    sp_text_free(&name);
    return is_usable(beside) ? beside : NULL;
}

/* Reads `typed = true` or `typed = "F16"` of the part. */
static void find_dtype_of_scales(struct sp_quantised *quantised)
{
    for (size_t i = 0; i < quantised->part->definition_count; i++) {
        const struct sp_expr *expr = quantised->part->definitions[i].expr;
        if (strcmp(quantised->part->definitions[i].name, "typed") != 0 || expr->kind != SP_EXPR_LITERAL) continue;
        if (expr->value.type == SHAPEPROOF_VALUE_STRING) quantised->scales = sp_dtype_of_word(expr->value.string).dtype;
        quantised->typed = expr->value.type == SHAPEPROOF_VALUE_STRING ? quantised->scales != SHAPEPROOF_DTYPE_UNKNOWN
                                                                       : expr->value.boolean;
    }
}

/* Finds the part of the method, quantised_METHOD, and what it says of itself; none for a method that no part describes.
 */
static void find_part(struct sp_quantised *quantised, const struct shapeproof_tables *tables)
{
    const char *name = sp_arena_printf(&quantised->arena, "quantised_%s", quantised->method);
    const struct sp_unit *part = sp_tables_unit(tables, name);
    if (!is_usable(part)) return;
    quantised->part = part;
    quantised->beside = sp_part_beside(tables, part);
    quantised->embeddings = sp_unit_says(part, "embeddings");
    quantised->heads = sp_unit_says(part, "heads");
    quantised->routers = sp_unit_says(part, "routers");
    find_dtype_of_scales(quantised);
    quantised->stacked = sp_unit_says(part, "stacked");
}

/* ---- exemptions ---- */

enum { MOST_SIZES = 63 }; /* the last bit of sizes stands for names of as many components or more */

uint64_t sp_size_of_name(const char *name)
{
    unsigned components = 1;
    for (; *name && components < MOST_SIZES; name++) components += *name == '.';
    return UINT64_C(1) << components;
}

/* A module, or its weight as AQLM has it. */
static void exempt(struct sp_quantised *quantised, const char *pattern)
{
    if (sp_ends_with(pattern, ".weight"))
        pattern = sp_arena_printf(&quantised->arena, "%.*s", (int)(strlen(pattern) - strlen(".weight")), pattern);
    if (strncmp(pattern, "re:", 3) == 0 || strchr(pattern, '*')) {
        if (quantised->glob_count == MAX_GLOBS) return;
        SP_GROW(quantised->globs, quantised->glob_count, quantised->glob_capacity);
        quantised->globs[quantised->glob_count++] = pattern;
        return;
    }
    sp_map_add(&quantised->exempt, pattern, 0);
    quantised->exempt_sizes |= sp_size_of_name(pattern);
}

static const char *const lists[] = {
    "modules_to_not_convert", "ignore",       "exclude_modules", "llm_int8_skip_modules",
    "ignored_layers",         "skip_modules", "exclude",         "linear_weights_not_to_quantize"};

bool sp_quantised_reads(const char *key)
{
    return strcmp(key, "quant_method") == 0 || SP_IS_AMONG(key, lists) || rules_read(key);
}

static void read_exemptions(struct sp_quantised *quantised)
{
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        const struct shapeproof_value list = sp_value_member(quantised->object, lists[i]);
        if (list.type != SHAPEPROOF_VALUE_LIST) continue;
        if (list.count) quantised->list_key = lists[i];
        for (size_t k = 0; k < list.count; k++)
            if (list.items[k].type == SHAPEPROOF_VALUE_STRING) exempt(quantised, list.items[k].string);
    }
}

struct sp_module_pieces sp_module_pieces_of(const char *module, uint64_t sizes)
{
    return (struct sp_module_pieces){.from = module, .to = module, .sizes = sizes};
}

bool sp_next_module_piece(struct sp_module_pieces *piece)
{
    while (piece->from) {
        while (*piece->to) {
            const char *end = piece->to + strcspn(piece->to, ".");
            const unsigned components = ++piece->components;
            piece->to = end + (*end == '.');
            if (!(piece->sizes >> (components < MOST_SIZES ? components : MOST_SIZES) & 1)) continue;
            piece->text.length = 0;
            sp_text_append(&piece->text, piece->from, (size_t)(end - piece->from));
            return true;
        }
        piece->from = piece->to = sp_behind_component(piece->from, ".");
        piece->components = 0;
    }
    return false;
}

/* Whether one of the names is the module, or whole components of it: "lm_head", "mlp.gate". */
static bool contains_exempt(const struct sp_quantised *quantised, const char *module)
{
    struct sp_module_pieces piece = sp_module_pieces_of(module, quantised->exempt_sizes);
    bool found = false;
    while (!found && sp_next_module_piece(&piece)) found = sp_map_get(&quantised->exempt, piece.text.data) != SIZE_MAX;
    sp_text_free(&piece.text);
    return found;
}

bool sp_quantised_is_router(const char *module)
{
    static const char *const routers[] = {"gate", "router", "shared_expert_gate"};
    return SP_IS_AMONG(module + sp_last_component(module, strlen(module), "."), routers);
}

static bool is_exempt_by_nature(const struct sp_quantised *quantised, const char *module)
{
    static const char *const embeddings[] = {"wte", "wpe", "shared", "position", "word", "token_type"};
    static const char *const heads[] = {"lm_head",    "embed_out",           "score", "classifier",
                                        "qa_outputs", "classification_head", "head",  "output_layer"};
    const char *last = module + sp_last_component(module, strlen(module), ".");
    if (SP_IS_AMONG(last, heads)) return !quantised->heads;
    if (sp_quantised_is_router(module)) return !quantised->routers;
    return (strstr(last, "embed") || SP_IS_AMONG(last, embeddings)) && !quantised->embeddings;
}

/* "Linear", a class of modules, stands for all of them. */
static bool targets_module(const struct sp_quantised *quantised, struct shapeproof_value targets, const char *module)
{
    if (targets.type != SHAPEPROOF_VALUE_LIST) return true;
    for (size_t i = 0; i < targets.count; i++) {
        spend_step(quantised->budget);
        const char *target = targets.items[i].type == SHAPEPROOF_VALUE_STRING ? targets.items[i].string : "";
        const bool is_class = strncmp(target, "re:", 3) != 0 && !strpbrk(target, ".*_");
        if (is_class || sp_module_matches(target, module, quantised->budget)) return true;
    }
    return false;
}

/* The group of compressed-tensors that has the module; SIZE_MAX: there are no groups, or none has it. */
static size_t group_of(const struct sp_quantised *quantised, const char *module)
{
    const struct shapeproof_value groups = quantised->groups;
    for (size_t i = 0; groups.type == SHAPEPROOF_VALUE_OBJECT && i < groups.count && i < MAX_GROUPS; i++) {
        const struct shapeproof_value group = groups.members[i].value;
        if (group.type == SHAPEPROOF_VALUE_OBJECT &&
            targets_module(quantised, sp_value_member(group, "targets"), module))
            return i;
    }
    return SIZE_MAX;
}

/* The configuration says so of the module by itself, or leaves it out of all groups. */
static bool is_left_out_module(const struct sp_quantised *quantised, const char *module)
{
    struct sp_arena scratch = {0};
    const struct sp_module_rule rule = rules_for(&quantised->rules, &scratch, module, quantised->budget);
    sp_arena_free(&scratch);
    if (rule.kind != SP_MODULE_NONE) return rule.kind == SP_MODULE_LEFT_OUT;
    return quantised->groups.type == SHAPEPROOF_VALUE_OBJECT && group_of(quantised, module) == SIZE_MAX;
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
    if (plain && !quantised->stacked) return sp_arena_copy(arena, weight, strlen(weight) - strlen(suffix));
    if (plain || (!quantised->stacked && !quantised->beside) || sp_ends_with(weight, "_bias")) return NULL;
    return sp_arena_string(arena, weight);
}

/* Keys for this module alone, or for the group of modules that it belongs to (compressed-tensors). True when what they
 * do not say is said for all. */
static bool find_keys(const struct sp_quantised *quantised, struct sp_arena *arena, struct sp_replacement *replacement)
{
    const struct sp_module_rule rule = rules_for(&quantised->rules, arena, replacement->module, quantised->budget);
    const size_t group = rule.kind == SP_MODULE_OWN ? SIZE_MAX : group_of(quantised, replacement->module);
    replacement->object = rule.object;
    replacement->path = rule.path;
    if (group == SIZE_MAX) return rule.inherits;
    const struct shapeproof_member *member = &quantised->groups.members[group];
    replacement->object = member->value;
    replacement->path = sp_arena_printf(arena, "%s.config_groups.%s", quantised->path, member->key);
    return false;
}

const struct sp_told sp_told[SP_TOLD_COUNT] = {
    {"quant_state_bytes", "weight.quant_state.", false}, /* bitsandbytes: a text */
    {"compute_dtype_bytes", "compute_dtype", false},     /* HQQ: a text */
    {"packed_words", "weight_packed", true},             /* of a row */
    {"trellis_words", "trellis", true},                  /* EXL3: of a tile, as many as its bits */
    {"packed_rows", "q_weight", false},                  /* EXL2: as many as the bits of its groups */
    {"packed_groups", "q_scale", false},
    {"row_offset_count", "row_offsets", false}, /* SpQR: what is sparse */
    {"col_val_count", "col_vals", false},
    {"inverse_scales", "weight_scale_inv", false}, /* 8-bit floating point: there are two names for a scale */
};

void sp_told_note(uint64_t sizes[SP_TOLD_COUNT], const char *member, const uint64_t *shape, uint32_t rank)
{
    for (size_t i = 0; i < SP_TOLD_COUNT; i++) {
        const size_t length = strlen(sp_told[i].member);
        const bool begins = sp_told[i].member[length - 1] == '.';
        if (begins ? strncmp(member, sp_told[i].member, length) == 0 : strcmp(member, sp_told[i].member) == 0)
            sizes[i] = !rank ? 1 : shape[sp_told[i].last ? rank - 1 : 0];
    }
}

/* Settings of the whole configuration that a module's own entry may leave out. Groups of modules (config_groups of
 * compressed-tensors) inherit the first ones alone, rules (dynamic, modules_in_block...) all of them. */
static const char *const inherited_keys[] = {
    "format",         "quant_algo", "sparsity_config",   "bits",       "group_size", "num_bits",
    "packing_format", "version",    "checkpoint_format", "zero_point", "w_bit",      "q_group_size"};
enum { KEYS_OF_GROUPS = 3, INHERITED_KEYS = sizeof inherited_keys / sizeof *inherited_keys };

/* Gives the replacement the settings that its own entry does not have: those that it inherits from the whole
 * configuration, and sizes that only the tensors of the file tell. */
static void note_inherited_settings(const struct sp_quantised *quantised, struct sp_arena *arena, bool inherits,
                                    struct sp_replacement *replacement)
{
    const struct sp_storage *storage = quantised->storage;
    const uint64_t *told = storage->told ? storage->told(storage, replacement->module) : NULL;
    const bool has_own_entry = replacement->path != quantised->path; /* else find_keys handed on this very pointer */
    const size_t inherited = !has_own_entry ? 0 : inherits ? INHERITED_KEYS : KEYS_OF_GROUPS;
    struct sp_given given[INHERITED_KEYS + SP_TOLD_COUNT];
    size_t count = 0;
    for (size_t i = 0; i < inherited; i++) {
        const char *key = inherited_keys[i];
        const struct shapeproof_value value = sp_value_member(quantised->object, key);
        if (has(replacement->object, key) || !sp_value_is_set(value)) continue;
        given[count++] = (struct sp_given){.key = key, .value = value, .from = sp_provenance_other(quantised->path)};
    }
    for (size_t i = 0; told && i < SP_TOLD_COUNT; i++)
        if (told[i] && told[i] <= INT64_MAX)
            given[count++] = (struct sp_given){.key = sp_told[i].key,
                                               .value = sp_value_int((int64_t)told[i]),
                                               .from = sp_provenance_other("the file")};
    if (!count) return;
    replacement->given = memcpy(sp_arena_array(arena, count, sizeof *given), given, count * sizeof *given);
    replacement->given_count = count;
}

/* What the method makes of experts in one tensor is another part, most often. */
static bool is_stacked_name(const struct sp_quantised *quantised, const char *name)
{
    return quantised->stacked || !sp_ends_with(name, ".weight");
}

static bool is_packed(const struct sp_quantised *quantised, const char *name, const char *module, size_t rank)
{
    const struct sp_storage *storage = quantised->storage;
    const enum sp_stored stored = storage->ask ? storage->ask(storage, module) : SP_STORED_NOWHERE;
    if (stored != SP_STORED_NOWHERE) return stored == SP_STORED_PACKED;
    const bool stacked = is_stacked_name(quantised, name);
    if (stacked && !quantised->stacked && (storage->ask || !strstr(name, "expert"))) return false;
    if (rank != (stacked ? 3 : 2) && !(rank == 3 && strstr(name, "expert"))) return false;
    return sp_quantised_exempts(quantised, module) == SP_QUANTISED;
}

static bool replace_weight(const struct sp_overlay *overlay, struct sp_arena *arena, const char *name, size_t rank,
                           struct sp_replacement *replacement)
{
    const struct sp_quantised *quantised = (const struct sp_quantised *)overlay;
    *replacement = (struct sp_replacement){.part = quantised->part};
    replacement->module = sp_quantised_module(quantised, arena, name);
    if (!replacement->module || !is_packed(quantised, name, replacement->module, rank)) return false;
    const bool stacked = is_stacked_name(quantised, name);
    if (stacked && !quantised->stacked) replacement->part = quantised->beside;
    note_inherited_settings(quantised, arena, find_keys(quantised, arena, replacement), replacement);
    replacement->prefix =
        stacked ? replacement->module : sp_arena_copy(arena, name, strlen(replacement->module) + 1); /* with its dot */
    return true;
}

/* ---- the whole ---- */

bool sp_quantised_open(struct sp_quantised *quantised, const struct shapeproof_tables *tables,
                       const struct sp_hyper *hyper, const struct sp_storage *storage)
{
    *quantised = (struct sp_quantised){.overlay = {.replace = replace_weight}, .storage = storage};
    if (!find_object(quantised, hyper->root) || is_rounded_when_loaded(quantised->object)) return false;
    quantised->groups = sp_value_member(quantised->object, "config_groups");
    quantised->method = method_of_config(quantised);
    find_part(quantised, tables);
    read_exemptions(quantised);
    sp_rules_open(&quantised->rules, &quantised->arena, quantised->object, quantised->path, quantised->method);
    quantised->budget = sp_arena_alloc(&quantised->arena, sizeof *quantised->budget);
    *quantised->budget = sp_size_saturated(sp_budget_steps() / PATTERN_SHARE);
    return true;
}

void sp_quantised_close(struct sp_quantised *quantised)
{
    sp_map_free(&quantised->exempt);
    sp_rules_close(&quantised->rules);
    sp_free(quantised->globs);
    sp_arena_free(&quantised->arena);
}
