/* SPDX-License-Identifier: MIT
 * What adapters have besides the pairs of LoRA, against the base: vectors, prompts, modules that were trained as a
 * whole. Each must have a shape that follows from the weight that it is for, and what one module has, all must have. */
#include <stdlib.h>
#include <string.h>

#include "base/chars.h"
#include "base/checked.h"
#include "base/names.h"
#include "check/adapter.h"
#include "check/adapter_parts.h"
#include "explain/files/adapter_base.h"
#include "explain/files/adapter_pairs.h"
#include "explain/gather.h"
#include "explain/vocabulary.h"
#include "model/values.h"

enum part_fit {
    PART_FITS,
    PART_UNFIT,   /* of another size than its weight */
    PART_ASTRAY,  /* for a module that the model does not have */
    PART_FOREIGN, /* for another model of the pipeline */
    PART_FITS_COUNT
};

struct part {
    struct sp_part is;
    size_t tensor, finding;
    size_t base; /* the predicted tensor that it is for, or SHAPEPROOF_NONE */
    enum part_fit fit;
};

struct parts {
    struct shapeproof_check *check;
    struct sp_adapter_base base;
    struct sp_adapter pairs;
    struct shapeproof_value config; /* adapter_config.json */
    struct part *items;
    size_t count, capacity;
    struct sp_map there; /* "module label component" -> item */
    size_t counts[PART_FITS_COUNT];
    const char *method; /* "IA3": of the first part that has one and goes without pairs; NULL for none */
};

/* ---- judging ---- */

/* "module label component", as what is looked up. */
static const char *key_of_part(struct sp_arena *arena, const char *module, const char *label, const char *component)
{
    return sp_arena_printf(arena, "%s %s %s", module, label, component);
}

/* The tensor of the same module with another component; NULL without one. */
static const struct shapeproof_tensor *part_beside(const struct parts *parts, const struct sp_part *part,
                                                   const char *component)
{
    const size_t item =
        sp_map_get(&parts->there, key_of_part(&parts->check->arena, part->module, part->label, component));
    return item == SIZE_MAX ? NULL : shapeproof_inventory_tensor(parts->check->inventory, parts->items[item].tensor);
}

/* Both dimensions of a factor of LoKr, which the file has as a whole, names[0], or as a product of names[1] and
 * names[2]; false when it has neither. */
static bool read_factor(const struct parts *parts, const struct sp_part *part, const char *const names[3],
                        uint64_t *rows, uint64_t *columns)
{
    const struct shapeproof_tensor *whole = part_beside(parts, part, names[0]), *a = part_beside(parts, part, names[1]),
                                   *b = part_beside(parts, part, names[2]);
    if (whole) a = b = whole;
    if (!a || !b || a->rank < 2 || b->rank < 2 || !b->shape[0]) return false;
    *rows = a->shape[0];
    *columns = b->parameters / b->shape[0];
    return true;
}

/* A Kronecker product has the rows, and the columns, of both factors multiplied. */
static bool is_right_product(const struct parts *parts, const struct sp_part *part, uint64_t out, uint64_t in)
{
    static const char *const first[] = {"lokr_w1", "lokr_w1_a", "lokr_w1_b"}, *const second[] = {"lokr_w2", "lokr_w2_a",
                                                                                                 "lokr_w2_b"};
    uint64_t rows[2], columns[2], product_rows, product_columns;
    if (part_beside(parts, part, "lokr_t2")) return true; /* a convolution in three parts */
    if (!read_factor(parts, part, first, &rows[0], &columns[0]) ||
        !read_factor(parts, part, second, &rows[1], &columns[1]))
        return false;
    return sp_mul_u64(rows[0], rows[1], &product_rows) && sp_mul_u64(columns[0], columns[1], &product_columns) &&
           product_rows == out && product_columns == in;
}

/* Whether the part is for several fused weights, or for a module cut from one: its size is that of no predicted tensor.
 */
static bool is_not_one_weight(const struct sp_adapter_found *weights)
{
    return weights->count > 1 || weights->cuts > 1;
}

/* The output and input sizes of the weight that a part is for; of several fused ones together. False when they are no
 * matrix. */
static bool read_out_in(const struct parts *parts, const struct sp_adapter_found *weights, uint64_t *out, uint64_t *in)
{
    if (is_not_one_weight(weights)) return sp_adapter_found_matrix(&parts->base, weights, out, in);
    const struct shapeproof_predicted *weight =
        shapeproof_prediction_tensor(parts->check->prediction, weights->weights[0]);
    *out = weight->rank ? weight->shape[0] : 1;
    *in = *out ? weight->parameters / *out : 0;
    return true;
}

/* Whether the vector has an element for each rank of the pair of LoRA in the same module: lora_E of AdaLoRA, the
 * singular values between B and A. Of a pair that is not whole, or does not fit together, the rank is not known, and
 * the pair has a cause of its own. */
static bool is_as_long_as_rank(const struct parts *parts, const struct sp_part *part,
                               const struct shapeproof_tensor *vector)
{
    const struct sp_pair *pair = sp_adapter_pair(&parts->pairs, part->module, "lora_A", part->label);
    struct sp_product product;
    if (!pair || !sp_pair_product(&parts->pairs, pair, &product)) return true;
    return vector->rank == 2 && vector->shape[0] == product.rank && vector->shape[1] == 1;
}

/* Whether the blocks, (n, blocks, size, size), make up the inputs of the weight: of 16 inputs (1, 4, 4, 4). */
static bool is_cut_into_blocks(const struct shapeproof_tensor *tensor, uint64_t in)
{
    uint64_t inputs;
    return tensor->rank == 4 && tensor->shape[2] == tensor->shape[3] &&
           sp_mul_u64(tensor->shape[1], tensor->shape[2], &inputs) && inputs == in;
}

/* Whether the vector of IA3 scales outputs, (out, 1), or inputs, (1, in); of a convolution (1, out or in, 1, 1). */
static bool is_vector_of_ia3(const struct shapeproof_tensor *tensor, uint64_t out, uint64_t in)
{
    if (tensor->rank == 2)
        return (tensor->shape[0] == out && tensor->shape[1] == 1) || (tensor->shape[0] == 1 && tensor->shape[1] == in);
    if (tensor->rank < 2 || tensor->shape[0] != 1 || tensor->parameters != tensor->shape[1]) return false;
    return tensor->shape[1] == out || tensor->shape[1] == in;
}

/* Whether the scales of BOFT are (out, 1); of a convolution (1, out). */
static bool is_vector_of_boft(const struct shapeproof_tensor *tensor, uint64_t out, bool is_convolution)
{
    return tensor->rank == 2 && tensor->shape[is_convolution ? 1 : 0] == out &&
           tensor->shape[is_convolution ? 0 : 1] == 1;
}

/* Whether the part has the size that its rule derives from the weight of the module, or from several fused ones. With
 * SP_PART_COLUMNS only matrices are compared: the last dimension of a part of a convolution is one of its kernel. */
static bool has_right_size(const struct parts *parts, const struct part *part, const struct sp_adapter_found *weights,
                           enum sp_part_rule rule)
{
    const struct shapeproof_tensor *tensor = shapeproof_inventory_tensor(parts->check->inventory, part->tensor);
    const struct shapeproof_predicted *weight =
        shapeproof_prediction_tensor(parts->check->prediction, weights->weights[0]);
    const bool input_first = sp_adapter_keeps_input_first(&parts->base, weights->weights[0]);
    uint64_t out, in;
    if (!read_out_in(parts, weights, &out, &in)) return false;
    switch (rule) {
    case SP_PART_OUT:
    case SP_PART_BIAS:
        return tensor->parameters == out;
    case SP_PART_OUT_OR_IN:
        return tensor->parameters == out || tensor->parameters == in;
    case SP_PART_IA3:
        return is_vector_of_ia3(tensor, input_first ? in : out, input_first ? out : in);
    case SP_PART_BOFT:
        return is_vector_of_boft(tensor, input_first ? in : out, weight->rank > 2);
    case SP_PART_ROWS:
        return tensor->rank && tensor->shape[0] == out;
    case SP_PART_COLUMNS:
        return tensor->rank > 2 || (tensor->rank && tensor->shape[tensor->rank - 1] == in);
    case SP_PART_SAME:
        return sp_same_shape(tensor, weight);
    case SP_PART_WEIGHT:
        return is_not_one_weight(weights) ? tensor->rank == 2 && tensor->shape[0] == out && tensor->shape[1] == in
                                          : sp_same_shape(tensor, weight);
    case SP_PART_KRONECKER:
        return is_right_product(parts, &part->is, out, in);
    case SP_PART_RANK:
        return is_as_long_as_rank(parts, &part->is, tensor);
    case SP_PART_SCALAR:
        return tensor->parameters == 1;
    case SP_PART_BLOCKS:
        return is_cut_into_blocks(tensor, in);
    case SP_PART_ANY:
    case SP_PART_OF_ALL:
    case SP_PART_PROMPT:
        break;
    }
    return true;
}

/* The predicted tensor that a part is for, or SHAPEPROOF_NONE: the weight of its module. A module that was trained as a
 * whole stands for the tensor with the rest of its name; what looks like a label may be a component of that. */
static size_t base_of_part(const struct parts *parts, const struct sp_part *part)
{
    if (part->kind->rule != SP_PART_SAME) return sp_adapter_base_find(&parts->base, part->module, "weight");
    const size_t found = sp_adapter_base_find(&parts->base, part->module, part->rest);
    if (found != SHAPEPROOF_NONE || !*part->label) return found;
    return sp_adapter_base_find(&parts->base, part->module,
                                sp_arena_printf(&parts->check->arena, "%s.%s", part->label, part->rest));
}

/* The width of the embedding of tokens; 0 when none is predicted. */
static uint64_t embedding_width(const struct shapeproof_prediction *prediction)
{
    for (size_t i = 0; i < shapeproof_prediction_count(prediction); i++) {
        const struct shapeproof_predicted *tensor = shapeproof_prediction_tensor(prediction, i);
        if (tensor->rank != 2) continue;
        char *words = shapeproof_prediction_dimension(prediction, i, 0);
        const bool is = sp_is_vocabulary(words);
        sp_free(words);
        if (is) return tensor->shape[1];
    }
    return 0;
}

/* Whether adapter_config.json makes the virtual tokens as wide as those of text, which all methods do but those that
 * train keys and values instead, with num_layers of them. */
static bool has_tokens_of_text(const struct parts *parts)
{
    const struct shapeproof_value type = sp_value_member(parts->config, "peft_type");
    static const char *const others[] = {"PREFIX_TUNING", "CARTRIDGE"};
    return type.type == SHAPEPROOF_VALUE_STRING && !SP_IS_AMONG(type.string, others);
}

/* Virtual tokens are as wide as the tokens of the model. What adapter_config.json says of their sizes is compared in
 * adapter_config.c. */
static enum part_fit judge_prompt(const struct parts *parts, const struct part *part)
{
    const struct shapeproof_tensor *tensor = shapeproof_inventory_tensor(parts->check->inventory, part->tensor);
    const bool is_tokens = has_tokens_of_text(parts) && strcmp(part->is.kind->component, "prefix_task_cols") != 0;
    const uint64_t width = is_tokens ? embedding_width(parts->check->prediction) : 0;
    if (tensor->rank < 2) return PART_UNFIT;
    return width && tensor->shape[tensor->rank - 1] != width ? PART_UNFIT : PART_FITS;
}

/* How a part fits; fills part->base. */
static enum part_fit judge_part(const struct parts *parts, struct part *part)
{
    const enum sp_part_rule rule = part->is.kind->rule;
    part->base = SHAPEPROOF_NONE;
    /* The rank of a module may be 0 in AdaLoRA; no other part is empty. */
    if (rule != SP_PART_RANK && !shapeproof_inventory_tensor(parts->check->inventory, part->tensor)->parameters)
        return PART_UNFIT;
    if (rule == SP_PART_PROMPT) return judge_prompt(parts, part);
    if (rule == SP_PART_OF_ALL) return PART_FITS;
    struct sp_adapter_found found = {.weights = {base_of_part(parts, &part->is)}, .count = 1};
    if (rule != SP_PART_SAME) found = sp_adapter_base_weights(&parts->base, part->is.module, NULL);
    if (found.foreign) return PART_FOREIGN;
    if (found.count) part->base = found.weights[0];
    if (part->base == SHAPEPROOF_NONE)
        return sp_adapter_base_holds(&parts->base, part->is.module) ? PART_FITS : PART_ASTRAY;
    return has_right_size(parts, part, &found, rule) ? PART_FITS : PART_UNFIT;
}

/* Adds the scales, "x.alpha", of modules that have parts of a method without pairs: they belong to these parts. */
static void read_part_scales(struct parts *parts)
{
    static const struct sp_part_kind scale = {"alpha", NULL, SP_PART_ANY, SP_PART_ANYWHERE};
    struct shapeproof_check *check = parts->check;
    struct sp_map modules = {0};
    for (size_t i = 0; i < parts->count; i++)
        if (parts->items[i].is.kind->where != SP_PART_WITH_PAIRS) sp_map_add(&modules, parts->items[i].is.module, i);
    for (size_t i = 0; modules.count && i < check->finding_count; i++) {
        const struct shapeproof_finding *finding = &check->findings[i];
        if (!sp_finding_is_open_as(finding, SHAPEPROOF_FINDING_UNEXPECTED)) continue;
        const char *module = sp_adapter_scaled(&check->arena, finding->name);
        if (!module || sp_map_get(&modules, module) == SIZE_MAX) continue;
        *SP_PUSH(parts) = (struct part){.is = {&scale, module, "", ""}, .tensor = finding->tensor, .finding = i};
    }
    sp_map_free(&modules);
}

/* Lists the open findings that a tensor is unexpected and is a part of an adapter. */
static void read_parts(struct parts *parts)
{
    struct shapeproof_check *check = parts->check;
    for (size_t i = 0; i < check->finding_count; i++) {
        const struct shapeproof_finding *finding = &check->findings[i];
        struct part part = {.tensor = finding->tensor, .finding = i};
        if (!sp_finding_is_open_as(finding, SHAPEPROOF_FINDING_UNEXPECTED)) continue;
        if (!sp_part_read(&check->arena, finding->name, &part.is)) continue;
        if (part.is.kind->where == SP_PART_WITH_PAIRS && !parts->pairs.count) continue;
        *SP_PUSH(parts) = part;
        if (!parts->method && part.is.kind->where != SP_PART_WITH_PAIRS)
            parts->method = sp_part_method(part.is.kind, parts->config);
    }
}

/* ---- what fits ---- */

/* The names of the predicted tensors that fitting parts are for, each once, in one line; `count` is how many. */
static const char *list_bases(const struct parts *parts, size_t *count)
{
    struct sp_arena *arena = &parts->check->arena;
    const char **names = sp_realloc(NULL, parts->count, sizeof *names);
    struct sp_map known = {0};
    *count = 0;
    for (size_t i = 0; i < parts->count; i++) {
        if (parts->items[i].fit != PART_FITS || parts->items[i].base == SHAPEPROOF_NONE) continue;
        const char *name = shapeproof_prediction_tensor(parts->check->prediction, parts->items[i].base)->name;
        if (sp_map_add(&known, name, i)) names[(*count)++] = name;
    }
    const char *list = sp_some_names(arena, names, *count);
    sp_map_free(&known);
    sp_free(names);
    return list;
}

/* "an adapter (IA3) for 12 tensors of the model: ...". */
static void say_parts(const struct parts *parts, struct shapeproof_cause *cause)
{
    struct sp_arena *arena = &parts->check->arena;
    size_t count;
    const char *names = list_bases(parts, &count);
    const char *what = sp_arena_printf(arena, "an adapter (%s)", parts->method);
    if (count)
        what = sp_arena_printf(arena, "%s for %s of the model: %s", what, sp_count_of(arena, count, "tensor"), names);
    cause->message = what;
    if (!parts->base.whole) return;
    cause->message =
        sp_arena_printf(arena, "the file has the weights of the model and, not merged into them, %s", what);
    cause->hint = count ? sp_adapter_merge_hint : "save the adapter by itself: a prompt cannot be merged";
}

/* What loads parts that are not as PEFT names them; NULL for those that are. */
static const char *hint_of_names(const struct parts *parts)
{
    size_t i = 0;
    while (parts->items[i].fit != PART_FITS) i++;
    if (!*sp_adapter_front(parts->items[i].is.module)->names) return NULL;
    return "load it with ComfyUI, or the program that wrote it: from such files, diffusers reads only pairs of "
           "LoRA, and LoKr for some models";
}

/* Makes notes of the fitting parts. In a file without pairs they are the adapter, and have a cause that says so; beside
 * pairs they belong to these, whose cause says it (adapter.c). */
static void explain_fitting_parts(struct parts *parts)
{
    struct shapeproof_cause *cause = NULL;
    if (!parts->pairs.count && parts->method && parts->counts[PART_FITS]) {
        cause = sp_blame(parts->check, parts->base.whole ? SP_CAUSE_ADAPTER_UNMERGED : SP_CAUSE_ADAPTER);
        cause->hint = hint_of_names(parts);
        say_parts(parts, cause);
    }
    for (size_t i = 0; i < parts->count; i++) {
        if (parts->items[i].fit != PART_FITS) continue;
        if (cause) sp_attribute_finding(parts->check, parts->items[i].finding, cause);
        sp_adapter_tensor_fits(&parts->base, parts->items[i].tensor);
    }
    if (cause && !parts->base.whole) sp_adapter_take_absent(parts->check, cause);
}

/* Parts for another model of the pipeline are no error, unless there are no others. */
static void explain_foreign_parts(struct parts *parts)
{
    struct sp_map known = {0};
    const char **modules = sp_arena_array(&parts->check->arena, parts->count, sizeof *modules);
    size_t count = 0;
    if (!parts->counts[PART_FOREIGN]) return;
    struct shapeproof_cause *cause = sp_blame(parts->check, SP_CAUSE_ADAPTER_COMPONENT);
    for (size_t i = 0; i < parts->count; i++) {
        const char *module = parts->items[i].is.module;
        if (parts->items[i].fit != PART_FOREIGN) continue;
        sp_attribute_finding(parts->check, parts->items[i].finding, cause);
        sp_adapter_tensor_fits(&parts->base, parts->items[i].tensor);
        if (sp_map_add(&known, module, i)) modules[count++] = module;
    }
    const bool all = !parts->pairs.count && parts->counts[PART_FOREIGN] == parts->count;
    sp_adapter_say_foreign(parts->check, cause, modules, count, all);
    if (all && !parts->base.whole) sp_adapter_take_absent(parts->check, cause);
    sp_map_free(&known);
}

/* Whether the file is an adapter without pairs, and has no weights of the model. */
static bool is_adapter_alone(const struct parts *parts)
{
    return !parts->pairs.count && parts->method && !parts->base.whole;
}

/* One cause of that kind for the parts with that fit. If no part fits, it also explains that the weights of the model
 * are missing. */
static void explain_unfit_parts(struct parts *parts, enum part_fit fit, enum sp_cause_kind kind, const char *says)
{
    struct shapeproof_cause *cause = NULL;
    for (size_t i = 0; i < parts->count; i++) {
        if (parts->items[i].fit != fit) continue;
        if (!cause) cause = sp_blame(parts->check, kind);
        sp_attribute_finding(parts->check, parts->items[i].finding, cause);
    }
    if (!cause) return;
    sp_cause_set_message(parts->check, cause, says);
    if (is_adapter_alone(parts) && !parts->counts[PART_FITS]) sp_adapter_take_absent(parts->check, cause);
}

/* ---- what is lacking ---- */

/* Whether modules may differ in having such a part: those of LoKr depend on the sizes of the weight, whole weights and
 * biases on what was trained, and what belongs to no method is for single modules. */
static bool varies(const struct sp_part_kind *kind)
{
    return !kind->method || sp_part_is_of_all(kind) || strcmp(kind->method, "LoKr") == 0 ||
           kind->rule == SP_PART_WEIGHT || kind->rule == SP_PART_BIAS;
}

/* The module of the pair or part with that index, if it should have a part of the kind under the label; NULL if it need
 * not. A kind that goes with pairs belongs to every pair; any other kind to the modules with a part of its method. */
static const char *module_in_need(const struct parts *parts, size_t index, const struct sp_part_kind *kind,
                                  const char *label)
{
    if (kind->where == SP_PART_WITH_PAIRS) {
        const struct sp_pair *pair = &parts->pairs.pairs[index];
        return strcmp(pair->label, label) == 0 ? pair->module : NULL;
    }
    const struct sp_part *part = &parts->items[index].is;
    const bool is_of_method = part->kind->method && strcmp(part->kind->method, kind->method) == 0;
    return is_of_method && !varies(part->kind) && strcmp(part->label, label) == 0 ? part->module : NULL;
}

/* One cause for the modules that lack a part of the kind which others have: "the adapter lacks ia3_l of 2 modules, and
 * has it of others". */
static void blame_lacking(const struct parts *parts, const struct sp_part_kind *kind, const char *label)
{
    struct sp_arena *arena = &parts->check->arena;
    struct sp_names names = {0};
    struct sp_map asked = {0}; /* keys of parts: a module may have several parts, and is named once */
    const size_t count = kind->where == SP_PART_WITH_PAIRS ? parts->pairs.count : parts->count;
    for (size_t i = 0; i < count; i++) {
        const char *module = module_in_need(parts, i, kind, label);
        if (!module) continue;
        const char *key = key_of_part(arena, module, label, kind->component);
        if (sp_map_get(&parts->there, key) == SIZE_MAX && sp_map_add(&asked, key, i)) sp_names_add(&names, module);
    }
    if (names.count) {
        struct shapeproof_cause *cause = sp_blame(parts->check, SP_CAUSE_ADAPTER_PART);
        cause->explains = names.count;
        cause->message =
            sp_arena_printf(arena, "the adapter lacks %s of %s, but has it for other modules: %s", kind->component,
                            sp_count_of(arena, names.count, "module"), sp_names_text(&names));
        cause->hint = "the adapter is incomplete: loaders use the values from before training instead";
    }
    sp_names_free(&names);
    sp_map_free(&asked);
}

/* Looks at each kind of part once, under each label. */
static void explain_lacking_parts(const struct parts *parts)
{
    struct sp_map kinds = {0};
    struct sp_arena *arena = &parts->check->arena;
    for (size_t i = 0; i < parts->count; i++) {
        const struct sp_part *part = &parts->items[i].is;
        if (varies(part->kind) || !sp_map_add(&kinds, key_of_part(arena, "", part->label, part->kind->component), i))
            continue;
        blame_lacking(parts, part->kind, part->label);
    }
    sp_map_free(&kinds);
}

/* The modules of the parts, and what they change, against target_modules. Beside pairs, those are held to it. */
static void explain_targets_of_parts(const struct parts *parts)
{
    struct shapeproof_check *check = parts->check;
    struct sp_adapted adapted = {.check = check, .config = parts->config, .count = 0};
    const char **modules = sp_arena_array(&check->arena, parts->count, sizeof *modules);
    if (parts->pairs.count || parts->config.type != SHAPEPROOF_VALUE_OBJECT) return;
    for (size_t i = 0; i < parts->count; i++) {
        const struct part *part = &parts->items[i];
        if (!part->is.kind->method || sp_part_is_of_all(part->is.kind)) continue;
        modules[adapted.count++] = part->is.module;
        if (part->base != SHAPEPROOF_NONE)
            sp_map_add(&adapted.weights, shapeproof_prediction_tensor(check->prediction, part->base)->name, i);
    }
    adapted.modules = modules;
    if (adapted.count) sp_adapter_hold_to_targets(&adapted);
    sp_map_free(&adapted.weights);
}

/* Judges every part against the model. */
static void judge_parts(struct parts *parts)
{
    struct sp_arena *arena = &parts->check->arena;
    read_part_scales(parts);
    for (size_t i = 0; i < parts->count; i++) {
        const struct sp_part *part = &parts->items[i].is;
        sp_map_add(&parts->there, key_of_part(arena, part->module, part->label, part->kind->component), i);
    }
    for (size_t i = 0; i < parts->count; i++) {
        parts->items[i].fit = judge_part(parts, &parts->items[i]);
        parts->counts[parts->items[i].fit]++;
    }
}

/* One cause for the parts of each verdict, and one for parts that are missing. */
static void blame_parts(struct parts *parts)
{
    const size_t unusable = parts->counts[PART_ASTRAY] + parts->counts[PART_UNFIT];
    const bool for_another_model = !parts->base.whole && unusable > parts->counts[PART_FITS];
    explain_fitting_parts(parts);
    explain_unfit_parts(parts, PART_UNFIT, SP_CAUSE_ADAPTER_SHAPE, "tensors have the wrong size for the model");
    explain_unfit_parts(parts, PART_ASTRAY, SP_CAUSE_ADAPTER_MODULE,
                        for_another_model ? "the adapter was made for another model: this model does not have"
                                          : "the adapter is for modules that the model does not have");
    explain_foreign_parts(parts);
    explain_lacking_parts(parts);
    if (!for_another_model) explain_targets_of_parts(parts);
    if (parts->check->task_head && is_adapter_alone(parts) && !for_another_model)
        sp_adapter_hold_to_head(parts->check, parts->config);
}

void sp_explain_adapter_parts(struct shapeproof_check *check)
{
    static const enum shapeproof_finding_kind unexpected = SHAPEPROOF_FINDING_UNEXPECTED;
    struct parts parts = {.check = check};
    if (!sp_count_wanted(check, sp_is_open_kind, &unexpected)) return;
    sp_adapter_read(&parts.pairs, &check->arena, check->inventory);
    parts.config = sp_adapter_config(&check->arena, check->inventory);
    read_parts(&parts);
    if (parts.count) {
        sp_adapter_base_open(&parts.base, check);
        judge_parts(&parts);
        blame_parts(&parts);
        sp_adapter_base_close(&parts.base);
    }
    sp_adapter_free(&parts.pairs);
    sp_map_free(&parts.there);
    sp_free(parts.items);
}

/* ---- dtypes ---- */

/* Whether loaders lose values when they copy a tensor of that dtype to a parameter. Dtypes of quantised numbers, as in
 * a GGUF file, are not among them. */
static bool is_lossy(enum shapeproof_dtype dtype)
{
    return (dtype >= SHAPEPROOF_DTYPE_BOOL && dtype <= SHAPEPROOF_DTYPE_I64) || sp_is_complex(dtype);
}

/* The tensors of an adapter that have such a dtype. */
struct lossy {
    const struct shapeproof_inventory *inventory;
    struct sp_names names;
    const char *dtype; /* of the first of them, "BOOL" */
    bool has_others;   /* others have another one */
};

static void note_lossy(struct lossy *lossy, size_t tensor)
{
    if (tensor == SHAPEPROOF_NONE) return;
    const struct shapeproof_tensor *found = shapeproof_inventory_tensor(lossy->inventory, tensor);
    if (!is_lossy(found->dtype)) return;
    sp_names_add(&lossy->names, found->name);
    lossy->has_others = lossy->has_others || (lossy->dtype && strcmp(lossy->dtype, found->dtype_name) != 0);
    if (!lossy->dtype) lossy->dtype = found->dtype_name;
}

/* One cause for the matrices and vectors of an adapter, of pairs and of parts, that are no floating-point numbers. */
void sp_explain_adapter_dtypes(struct shapeproof_check *check)
{
    struct lossy lossy = {.inventory = check->inventory};
    struct sp_adapter adapter = {0};
    struct sp_part part;
    sp_adapter_read(&adapter, &check->arena, check->inventory);
    for (size_t i = 0; i < adapter.count; i++) {
        note_lossy(&lossy, adapter.pairs[i].a);
        note_lossy(&lossy, adapter.pairs[i].b);
        note_lossy(&lossy, adapter.pairs[i].mid);
    }
    for (size_t i = 0; i < check->finding_count; i++) {
        const struct shapeproof_finding *finding = &check->findings[i];
        if (finding->kind != SHAPEPROOF_FINDING_UNEXPECTED || !sp_part_read(&check->arena, finding->name, &part))
            continue;
        if (part.kind->where == SP_PART_WITH_PAIRS && !adapter.count) continue;
        if (!sp_part_may_be_integers(part.kind)) note_lossy(&lossy, finding->tensor);
    }
    if (lossy.names.count) {
        struct shapeproof_cause *cause = sp_blame(check, SP_CAUSE_ADAPTER_DTYPE);
        cause->explains = lossy.names.count;
        cause->message =
            sp_arena_printf(&check->arena, "the adapter has %s%s instead of floating-point numbers: %s (%s)",
                            lossy.dtype, lossy.has_others ? " and other dtypes" : "", sp_names_text(&lossy.names),
                            sp_count_of(&check->arena, lossy.names.count, "tensor"));
    }
    sp_names_free(&lossy.names);
    sp_adapter_free(&adapter);
}
