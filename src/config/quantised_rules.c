/* SPDX-License-Identifier: MIT */
#include "config/quantised_rules.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/chars.h"
#include "base/text.h"
#include "lang/eval.h"
#include "names/name_pattern.h"

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

bool sp_rules_read(const char *key)
{
    for (size_t i = 0; i < sizeof dialects / sizeof *dialects; i++)
        if (*dialects[i].path && !strchr(dialects[i].path, '.') && strcmp(dialects[i].path, key) == 0) return true;
    return false;
}

/* ---- reading them ---- */

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

static struct shapeproof_value object_at(struct shapeproof_value object, const char *path)
{
    return *path ? sp_value_at(object, path) : object;
}

static bool has_rules(struct shapeproof_value object, const struct sp_rule_dialect *dialect)
{
    const struct shapeproof_value rules = object_at(object, dialect->path);
    return rules.type == SHAPEPROOF_VALUE_OBJECT && rules.count &&
           !(dialect->none && sp_value_is_set(sp_value_member(rules, dialect->none)));
}

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
            if (whole.type == SHAPEPROOF_VALUE_OBJECT) rules->whole = whole;
            if (whole.type == SHAPEPROOF_VALUE_OBJECT) rules->whole_path = path_to(arena, path, dialect->whole);
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

static size_t find_module_rule(const struct sp_rules *rules, const char *module, size_t *budget)
{
    const size_t named = named_rule(rules, module);
    if (named != SIZE_MAX) return named;
    for (size_t i = 0; i < rules->count && *budget; i++, --*budget)
        if (fits_pattern(rules, rules->object.members[rules->patterns[i]].key, module, budget))
            return rules->patterns[i];
    return rules->dialect && rules->dialect->other ? sp_map_get(&rules->named, rules->dialect->other) : SIZE_MAX;
}

/* null, false, "-:..." or as many bits as it has without. */
static bool leaves_out(const struct sp_rules *rules, const struct shapeproof_member *member)
{
    const struct shapeproof_value bits = sp_value_member(member->value, "bits");
    if (member->value.type == SHAPEPROOF_VALUE_NULL || sp_value_is_bool(member->value, false)) return true;
    if (rules->dialect && rules->dialect->spelling == SIGNED && *member->key == '-') return true;
    return rules->dialect && bits.type == SHAPEPROOF_VALUE_INT && bits.integer >= NOT_QUANTISED_BITS;
}

struct sp_module_rule sp_rules_for(const struct sp_rules *rules, struct sp_arena *arena, const char *module,
                                   size_t *budget)
{
    struct sp_module_rule rule = {SP_MODULE_NONE, rules->whole, rules->whole_path, false};
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
