/* SPDX-License-Identifier: MIT */
#include "explain/files/adapter_base.h"

#include <stdlib.h>
#include <string.h>

#include "base/chars.h"
#include "base/checked.h"
#include "check/adapter.h"
#include "config/config.h"
#include "explain/gather.h"
#include "load/memory_names.h"
#include "model/format.h"
#include "names/components.h"
#include "names/wrappers.h"

const char sp_adapter_merge_hint[] =
    "not merged: call merge_and_unload() on the PEFT model, and save the model that it returns";

/* Notes a predicted name without its first component, and without its first two. */
static void note_left_out(struct sp_adapter_base *base, size_t predicted)
{
    const char *name = shapeproof_prediction_tensor(base->check->prediction, predicted)->name;
    for (int i = 0; i < SP_MOST_LEFT_OUT; i++) {
        name = sp_behind_component(name, ".");
        if (!name) return;
        if (!sp_map_add(&base->left_out[i], name, predicted)) sp_map_set(&base->left_out[i], name, SHAPEPROOF_NONE);
    }
}

/* Whether the file has the model itself: more than half of the predicted tensors that are not optional. */
static bool is_model_there(const struct shapeproof_check *check)
{
    size_t needed = 0, there = 0;
    for (size_t i = 0; i < shapeproof_prediction_count(check->prediction); i++) {
        const bool is_needed = !shapeproof_prediction_tensor(check->prediction, i)->optional;
        needed += is_needed;
        there += is_needed && sp_is_stored(check, i);
    }
    return there * 2 > needed;
}

/* What the loader of the base looks for in front of the names of modules: PEFT "base_model.model."; diffusers the name
 * of the model in its pipelines, "unet.". `diffusers` is whether it is that; `strips`, whether its loader takes
 * original names behind the front as well. */
static const char *looked_for(const struct shapeproof_check *check, bool *diffusers, bool *strips)
{
    const struct shapeproof_value class = sp_value_member(sp_config_hyper(check->config)->root, "_class_name");
    *diffusers = class.type == SHAPEPROOF_VALUE_STRING;
    if (!*diffusers) return "base_model.model.";
    *strips = strncmp(class.string, "HunyuanVideo", strlen("HunyuanVideo")) == 0;
    if (strstr(class.string, "UNet")) return "unet.";
    return strncmp(class.string, "Prior", strlen("Prior")) == 0 ? "prior." : "transformer.";
}

/* Whether the file may be what a trainer saved for itself, with keys of its own in front of the names: a distributed
 * checkpoint, or one of PyTorch that is not called adapter_model.bin, as PEFT calls it. */
static bool is_of_trainer(const struct shapeproof_inventory *inventory)
{
    if (sp_format_has(inventory, SP_DISTRIBUTED)) return true;
    return sp_format_has(inventory, SP_BY_TORCH) &&
           strcmp(sp_base_name(shapeproof_inventory_path(inventory)), "adapter_model.bin") != 0;
}

/* The predicted tensor of that name, or of the name without its first component, without its first two, and so on; or
 * SHAPEPROOF_NONE. `left_out` is how many components predicted names are to lack in front: 0 compares whole ones. Of
 * the module, which is in front of the last `rest` characters, a component must be left: every head is a "weight". */
static size_t find_behind(const struct sp_adapter_base *base, const char *name, size_t rest, int left_out)
{
    enum { DEEPEST = 6 };
    for (int depth = 0; name && strlen(name) > rest && depth < DEEPEST;
         depth++, name = sp_behind_component(name, ".")) {
        const size_t found = left_out ? sp_map_get(&base->left_out[left_out - 1], name)
                                      : shapeproof_prediction_find(base->check->prediction, name);
        if (found != SHAPEPROOF_NONE) return found;
        const size_t in_memory = left_out ? SIZE_MAX : sp_map_get(&base->modules.in_memory, name);
        if (in_memory != SIZE_MAX) return in_memory;
    }
    return SHAPEPROOF_NONE;
}

/* Puts the module without wrappers into `text`. */
static void put_bare_module(struct sp_text *text, const char *module)
{
    sp_unwrap(text, module);
    if (text->length && text->data[text->length - 1] == '.') text->data[--text->length] = '\0';
}

/* The predicted tensor `rest` of the module, whatever stands in front of either name; or SHAPEPROOF_NONE. */
static size_t find_anywhere(const struct sp_adapter_base *base, const char *module, const char *rest)
{
    struct sp_text name = {0};
    size_t found = SHAPEPROOF_NONE;
    put_bare_module(&name, module);
    sp_text_printf(&name, ".%s", rest);
    for (int left_out = 0; left_out <= SP_MOST_LEFT_OUT && found == SHAPEPROOF_NONE; left_out++)
        found = find_behind(base, name.data, strlen(rest), left_out);
    sp_text_free(&name);
    return found;
}

/* ---- names of another program ---- */

/* What a scheme has one module for, and most models several. */
static const struct {
    const char *whole, *parts[SP_MOST_FUSED];
} fused_modules[] = {{".qkv_proj", {".q_proj", ".k_proj", ".v_proj"}}, {".gate_up_proj", {".gate_proj", ".up_proj"}}};

/* Fills `weights` with the predicted weight of the module, or with those that it has in one; returns how many. */
static size_t find_parts(const struct sp_adapter_base *base, const char *module, size_t weights[SP_MOST_FUSED])
{
    size_t count = 0;
    weights[0] = find_anywhere(base, module, "weight");
    if (weights[0] != SHAPEPROOF_NONE) return 1;
    for (size_t i = 0; i < sizeof fused_modules / sizeof *fused_modules; i++) {
        const char *whole = fused_modules[i].whole;
        if (!sp_ends_with(module, whole)) continue;
        const int front = (int)(strlen(module) - strlen(whole));
        for (; count < SP_MOST_FUSED && fused_modules[i].parts[count]; count++) {
            const char *part =
                sp_arena_printf(&base->check->arena, "%.*s%s", front, module, fused_modules[i].parts[count]);
            weights[count] = find_anywhere(base, part, "weight");
            if (weights[count] == SHAPEPROOF_NONE) return 0;
        }
    }
    return count;
}

/* The predicted weights that the scheme has for the module, as find_parts. */
static size_t find_translated(const struct sp_adapter_base *base, const struct sp_naming_scheme *scheme,
                              const char *module, size_t weights[SP_MOST_FUSED])
{
    static const char ending[] = ".weight";
    struct sp_text name = {0}, translated = {0};
    size_t count = 0;
    put_bare_module(&name, module);
    sp_text_puts(&name, ending);
    const char *bare = name.data; /* without "module." and the like in front */
    for (struct sp_component_walk part = {.rest = bare};
         sp_component_next(&part, ".") && sp_is_holder(part.text, part.length) && *part.rest;)
        bare = part.rest;
    for (size_t row = 0; !count && sp_naming_scheme_translate(scheme, bare, &row, &translated);) {
        if (!sp_ends_with(translated.data, ending)) continue;
        translated.data[translated.length - strlen(ending)] = '\0';
        count = find_parts(base, translated.data, weights);
    }
    sp_text_free(&name);
    sp_text_free(&translated);
    return count;
}

/* The scheme by which most modules of the adapter have a weight in the model, if more than half of them have one, and
 * not so many by their own names; NULL otherwise. Only programs that load an adapter by its names as they are have a
 * scheme of their own: torchtune, NeMo. */
static const struct sp_naming_scheme *choose_scheme(const struct sp_adapter_base *base)
{
    const struct shapeproof_inventory *inventory = base->check->inventory;
    const struct sp_naming_scheme *best = NULL;
    const char **modules = sp_arena_array(&base->check->arena, shapeproof_inventory_count(inventory), sizeof *modules);
    size_t count = 0, most = 0, weights[SP_MOST_FUSED];
    for (size_t i = 0; i < shapeproof_inventory_count(inventory); i++) {
        const char *name = shapeproof_inventory_tensor(inventory, i)->name;
        struct sp_adapter_place place;
        if (!sp_adapter_place(name, &place) || place.role != SP_ROLE_DOWN || place.ending->taken != SP_TAKEN_ANYWHERE)
            continue;
        modules[count] = sp_arena_copy(&base->check->arena, name, place.module);
        most += find_anywhere(base, modules[count++], "weight") != SHAPEPROOF_NONE;
    }
    if (most < count / 2) most = count / 2;
    for (size_t e = 0; count && e < sp_naming_scheme_count(); e++) {
        size_t found = 0;
        for (size_t i = 0; i < count; i++) found += find_translated(base, sp_naming_scheme(e), modules[i], weights) > 0;
        if (found <= most) continue;
        most = found;
        best = sp_naming_scheme(e);
    }
    return best;
}

/* ---- the base ---- */

void sp_adapter_base_open(struct sp_adapter_base *base, struct shapeproof_check *check)
{
    const size_t tensors = shapeproof_inventory_count(check->inventory);
    *base = (struct sp_adapter_base){.check = check, .whole = is_model_there(check)};
    base->front = looked_for(check, &base->diffusers, &base->strips);
    base->training = is_of_trainer(check->inventory);
    base->peft = sp_value_is_set(sp_adapter_config(&check->arena, check->inventory));
    sp_adapter_modules_open(&base->modules, check, &check->arena, base->diffusers);
    base->finding_of = sp_realloc(NULL, tensors, sizeof *base->finding_of);
    for (size_t i = 0; i < tensors; i++) base->finding_of[i] = SHAPEPROOF_NONE;
    for (size_t i = 0; i < check->finding_count; i++)
        if (sp_finding_is_open_as(&check->findings[i], SHAPEPROOF_FINDING_UNEXPECTED))
            base->finding_of[check->findings[i].tensor] = i;
    for (size_t i = 0; i < shapeproof_prediction_count(check->prediction); i++) note_left_out(base, i);
    base->scheme = choose_scheme(base);
}

void sp_adapter_base_close(struct sp_adapter_base *base)
{
    for (int i = 0; i < SP_MOST_LEFT_OUT; i++) sp_map_free(&base->left_out[i]);
    sp_adapter_modules_close(&base->modules);
    sp_free(base->finding_of);
}

/* Whether the module is of another model of the pipeline than the base: of a denoiser, when that is a model of
 * transformers, or of a text encoder, when it is one of diffusers. But "transformer.h.0" is a name of GPT-2 itself, and
 * no front. */
static bool is_foreign(const struct sp_adapter_base *base, const struct sp_adapter_front *front, const char *module)
{
    const bool is_for_diffusers = front->side == SP_SIDE_DENOISER;
    if (front->side == SP_SIDE_ANY || is_for_diffusers == base->diffusers) return false;
    return front->form == SP_FRONT_FLAT ||
           shapeproof_prediction_find(base->check->prediction,
                                      sp_arena_printf(&base->check->arena, "%s.weight", module)) == SHAPEPROOF_NONE;
}

/* The target of the module by its name behind the front, or NULL. Files from before PEFT have processors in between,
 * "attn1.processor.to_q" for "attn1.to_q". */
static const struct sp_adapter_target *find_target(const struct sp_adapter_base *base, const char *body, bool flat)
{
    static const char processor[] = ".processor.";
    const char *between = strstr(body, processor);
    const struct sp_adapter_target *target = sp_adapter_modules_find(&base->modules, body, flat);
    if (target || !between) return target;
    return sp_adapter_modules_find(
        &base->modules,
        sp_arena_printf(&base->check->arena, "%.*s.%s", (int)(between - body), body, between + strlen(processor)),
        flat);
}

/* Whether the loader of the base looks for that front, where the name behind it is one of the target's. A file with the
 * model itself has no front to look for, and names with underscores or those of XLabs are converted by every loader. */
static bool is_looked_for(const struct sp_adapter_base *base, const struct sp_adapter_front *front,
                          const struct sp_adapter_target *target, const struct sp_adapter_ending *ending)
{
    if (base->whole || front->form == SP_FRONT_FLAT || (ending && ending->taken == SP_TAKEN_CONVERTED)) return true;
    if (!base->diffusers) return front->side == SP_SIDE_TEXT_ENCODER || strcmp(front->text, base->front) == 0;
    if (front->form == SP_FRONT_CONVERTED) return true;
    if (target->original && !base->strips) return false;
    if (strcmp(front->text, base->front) == 0) return true;
    if (strcmp(front->text, "transformer_2.") == 0) return strcmp(base->front, "transformer.") == 0;
    return base->peft && strcmp(front->text, "base_model.model.") == 0;
}

/* The length of a trainer's keys in front of a name that begins as names of adapters do: 6 for
 * "model.base_model.model.x"; 0 without any. */
static size_t outer_length(const struct sp_adapter_base *base, const char *module)
{
    if (!base->training || *sp_adapter_front(module)->text) return 0;
    for (struct sp_component_walk part = {.rest = module};
         sp_component_next(&part, ".") && sp_is_holder(part.text, part.length);)
        if (*sp_adapter_front(part.rest)->text) return (size_t)(part.rest - module);
    return 0;
}

/* Whether an adapter with that front and ending may mean the target. A target by a name from before PEFT needs an
 * ending of that time, or a front with underscores: programs make such names from old and new ones. */
static bool is_usable(const struct sp_adapter_target *target, const struct sp_adapter_front *front,
                      const struct sp_adapter_ending *ending)
{
    return !target->before_peft || front->form == SP_FRONT_FLAT || (ending && sp_ending_is_before_peft(ending));
}

/* Looks up a module in the model by the three pieces of its name:
 *
 *     model.           transformer.   h.0.attn.c_attn
 *     keys of the      front          body, which is looked up in base->modules
 *     trainer (outer)
 *
 * A module whose body is not among these may still, with its front, end as a predicted name does, or be the end of one.
 * Then the weight is
 * found, and is in place (loaders put it there) only if no loader looks for a front: in a file with the model itself,
 * in one for a text encoder that was saved alone, and with the endings of programs that load names as they are. */
struct sp_adapter_found sp_adapter_base_weights(const struct sp_adapter_base *base, const char *module,
                                                const struct sp_adapter_ending *ending)
{
    const size_t outer = outer_length(base, module);
    module += outer;
    const struct sp_adapter_front *front = sp_adapter_front(module);
    struct sp_adapter_found found = {.outer = outer, .foreign = is_foreign(base, front, module)};
    if (found.foreign) return found;
    const char *body = module + strlen(front->text);
    const struct sp_adapter_target *target = find_target(base, body, front->form == SP_FRONT_FLAT);
    if (target && is_usable(target, front, ending)) {
        memcpy(found.weights, target->weights, sizeof found.weights);
        found.count = target->count;
        found.cuts = target->cuts;
        found.behind_front = true;
        found.original = target->original;
        found.in_place = is_looked_for(base, front, target, ending);
    } else if (front->form != SP_FRONT_FLAT) {
        found.count = base->scheme ? find_translated(base, base->scheme, module, found.weights) : 0;
        if (!found.count) found.weights[0] = find_anywhere(base, module, "weight");
        if (!found.count) found.count = found.weights[0] != SHAPEPROOF_NONE;
        found.in_place = base->whole || (front->side == SP_SIDE_TEXT_ENCODER && !base->diffusers);
    }
    if (ending && ending->taken == SP_TAKEN_ANYWHERE) found.in_place = true;
    return found;
}

bool sp_adapter_found_matrix(const struct sp_adapter_base *base, const struct sp_adapter_found *found, uint64_t *out,
                             uint64_t *in)
{
    *out = 0;
    for (size_t i = 0; i < found->count; i++) {
        const struct shapeproof_predicted *weight =
            shapeproof_prediction_tensor(base->check->prediction, found->weights[i]);
        if (weight->rank < 2 || !weight->shape[0]) return false;
        const uint64_t columns = weight->parameters / weight->shape[0];
        if (i && columns != *in) return false;
        *in = columns;
        if (!sp_add_u64(*out, weight->shape[0], out)) return false;
    }
    if (found->cuts > 1 && found->cuts != SP_CUTS_UNKNOWN) *out /= found->cuts;
    return found->count > 0;
}

bool sp_adapter_keeps_input_first(const struct sp_adapter_base *base, size_t weight)
{
    const struct shapeproof_prediction *prediction = base->check->prediction;
    const struct shapeproof_predicted *matrix = shapeproof_prediction_tensor(prediction, weight);
    if (matrix->rank != 2 || !sp_ends_with(matrix->name, ".weight")) return false;
    const size_t length = strlen(matrix->name) - strlen("weight");
    const size_t bias = shapeproof_prediction_find(
        prediction, sp_arena_printf(&base->check->arena, "%.*sbias", (int)length, matrix->name));
    if (bias == SHAPEPROOF_NONE) return false;
    const struct shapeproof_predicted *vector = shapeproof_prediction_tensor(prediction, bias);
    return vector->rank == 1 && vector->shape[0] == matrix->shape[1] && vector->shape[0] != matrix->shape[0];
}

size_t sp_adapter_base_find(const struct sp_adapter_base *base, const char *module, const char *rest)
{
    if (strcmp(rest, "weight") != 0) return find_anywhere(base, module, rest);
    const struct sp_adapter_found found = sp_adapter_base_weights(base, module, NULL);
    return found.count ? found.weights[0] : SHAPEPROOF_NONE;
}

bool sp_adapter_base_holds(const struct sp_adapter_base *base, const char *module)
{
    struct sp_text name = {0};
    put_bare_module(&name, module);
    const char *last = strrchr(name.data, '.');
    const bool experts = last && strcmp(last, ".experts") == 0;
    sp_text_free(&name);
    for (size_t i = 0; experts && i < shapeproof_prediction_count(base->check->prediction); i++)
        if (strstr(shapeproof_prediction_tensor(base->check->prediction, i)->name, ".experts.")) return true;
    return false;
}

void sp_adapter_tensor_fits(const struct sp_adapter_base *base, size_t tensor)
{
    if (tensor == SHAPEPROOF_NONE || base->finding_of[tensor] == SHAPEPROOF_NONE) return;
    struct shapeproof_finding *finding = &base->check->findings[base->finding_of[tensor]];
    finding->severity = SHAPEPROOF_SEVERITY_NOTE;
    finding->message = "is part of the adapter";
}

void sp_adapter_take_absent(struct shapeproof_check *check, const struct shapeproof_cause *cause)
{
    for (size_t i = 0; i < check->finding_count; i++) {
        struct shapeproof_finding *finding = &check->findings[i];
        if (!sp_finding_is_open_as(finding, SHAPEPROOF_FINDING_MISSING)) continue;
        sp_attribute_finding(check, i, cause);
        finding->severity = SHAPEPROOF_SEVERITY_NOTE;
        finding->message = "is not stored: the base has it";
    }
}

void sp_adapter_say_foreign(struct shapeproof_check *check, struct shapeproof_cause *cause, const char *const *modules,
                            size_t count, bool all)
{
    const char *what = sp_adapter_modules_in_words(&check->arena, modules, count, NULL);
    const char *front = sp_adapter_front(modules[0])->text;
    if (all)
        cause->message = sp_arena_printf(
            &check->arena,
            "the adapter was made for another model of a pipeline, and has nothing for this one: %s ('%s')", what,
            front);
    else
        cause->message = sp_arena_printf(
            &check->arena, "the adapter is for another model of a pipeline as well: %s ('%s')", what, front);
    cause->hint = "give --config FILE of that model to check them";
    cause->severity = all ? SHAPEPROOF_SEVERITY_ERROR : SHAPEPROOF_SEVERITY_NOTE;
}
