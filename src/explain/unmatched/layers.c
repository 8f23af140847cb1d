/* SPDX-License-Identifier: MIT
 * Whole modules that are missing with all of their layers, such as the tower for images; whole layers; then what layers
 * consist of, such as experts. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/budget.h"
#include "check/check.h"
#include "explain/gather.h"
#include "explain/missing_layers.h"
#include "names/components.h"

/* ---- files of another model ---- */

/* Whether a finding is an error without a cause. */
static bool is_any_open(const struct shapeproof_check *check, const struct shapeproof_finding *finding,
                        const void *context)
{
    (void)check;
    (void)context;
    return sp_finding_is_open(finding);
}

/* Whether a tensor that is missing was found all the same, under another name or in another layout. */
static bool is_any_found(const struct shapeproof_check *check)
{
    for (size_t i = 0; i < check->finding_count; i++) {
        const struct shapeproof_finding *finding = &check->findings[i];
        if (finding->kind == SHAPEPROOF_FINDING_MISSING && finding->cause != SHAPEPROOF_NONE &&
            check->causes[finding->cause].severity != SHAPEPROOF_SEVERITY_NOTE)
            return true;
    }
    return false;
}

/* Whether not one predicted tensor is there, under whatever name or in whatever layout. */
static bool is_unrelated(const struct shapeproof_check *check)
{
    return !sp_check_matched(check) && !is_any_found(check);
}

void sp_explain_unrelated(struct shapeproof_check *check)
{
    struct shapeproof_cause *cause =
        is_unrelated(check) ? sp_gather(check, SP_CAUSE_UNRELATED, is_any_open, NULL) : NULL;
    if (!cause) return;
    cause->message = shapeproof_inventory_count(check->inventory)
                         ? sp_arena_printf(&check->arena, "no tensor of the file is predicted by the table %s",
                                           shapeproof_prediction_table(check->prediction))
                         : "the file holds no tensors";
}

/* ---- layers ---- */

/* "model.layers.{4-7} are missing altogether (36 tensors)". */
static void describe_gone(struct shapeproof_check *check, const struct sp_missing_layers *gone,
                          struct shapeproof_cause *cause)
{
    const char **names = sp_realloc(NULL, gone->layers->count, sizeof *names);
    size_t count = 0;
    for (size_t i = 0; i < gone->layers->count; i++)
        if (sp_is_missing_layer(gone, i)) names[count++] = gone->layers->items[i].name;
    cause->message =
        sp_arena_printf(&check->arena, "%s %s missing altogether (%s)", sp_some_names(&check->arena, names, count),
                        count == 1 ? "is" : "are", sp_tensors_of(check, cause));
    sp_free(names);
}

/* Whether all that is gone are experts, by their names. */
static bool are_experts(const struct sp_missing_layers *gone)
{
    for (size_t i = 0; i < gone->layers->count; i++)
        if (sp_is_missing_layer(gone, i) && !strstr(gone->layers->items[i].name, "expert")) return false;
    return true;
}

/* The number of ranks of expert parallelism, if the file is what one of them has; 0 otherwise. Each rank has an equal
 * part of the experts of every layer, those of rank r with the indices r * kept to r * kept + kept - 1. So every index
 * is there in all layers or in none, those that are there follow each other, and both the number of experts and the
 * first index are multiples of how many there are. A single expert shows nothing,
 * and no more do all of them. */
static uint64_t expert_ranks(const struct sp_missing_layers *gone)
{
    enum { MOST = 1024 }; /* experts; larger indices are not looked at */
    size_t all[MOST] = {0},
           lost[MOST] = {0}; /* for each index: how many experts have it, and how many of them are gone */
    uint64_t index, experts = 0, kept = 0, first = MOST, last = 0;
    for (size_t i = 0; i < gone->layers->count; i++) {
        const struct sp_layer *layer = &gone->layers->items[i];
        const size_t at = sp_last_component(layer->name, layer->length, ".");
        if (!strstr(layer->name, "expert") || !sp_index_at(layer->name, at, &index) || index >= MOST) continue;
        all[index]++;
        lost[index] += sp_is_missing_layer(gone, i);
        if (index >= experts) experts = index + 1;
    }
    for (index = 0; index < experts; index++) {
        if (lost[index] && lost[index] != all[index]) return 0;
        if (lost[index]) continue;
        if (first == MOST) first = index;
        last = index;
        kept++;
    }
    if (kept < 2 || kept == experts) return 0;
    const bool is_run = last + 1 - first == kept, is_equal_part = experts % kept == 0 && first % kept == 0;
    return is_run && is_equal_part ? experts / kept : 0;
}

/* Whether a finding is about a tensor of a layer that is gone. */
static bool is_of_gone_layer(const struct shapeproof_check *check, const struct shapeproof_finding *finding,
                             const void *gone)
{
    (void)check;
    return sp_is_missing_layer(gone, sp_missing_layer_of(gone, finding));
}

/* Whether the file has something else in place of a module: unexpected tensors begin with its name, and nothing that is
 * predicted in it is there. Then the layer is of another kind: dense, where one with experts is predicted. */
static bool is_replaced(const struct shapeproof_check *check, const char *module, size_t length)
{
    bool is_other_there = false;
    sp_budget_spend(shapeproof_prediction_count(check->prediction) + check->finding_count);
    for (size_t i = 0; i < shapeproof_prediction_count(check->prediction); i++)
        if (check->match.tensor_of[i] != SHAPEPROOF_NONE &&
            strncmp(shapeproof_prediction_tensor(check->prediction, i)->name, module, length) == 0)
            return false;
    for (size_t i = 0; i < check->finding_count && !is_other_there; i++)
        is_other_there = sp_finding_is_open_as(&check->findings[i], SHAPEPROOF_FINDING_UNEXPECTED) &&
                         strncmp(check->findings[i].name, module, length) == 0;
    return is_other_there;
}

/* Takes experts out of what is gone if their module is replaced: "model.layers.1.mlp." of
 * "model.layers.1.mlp.experts.3". */
static void keep_replaced_apart(const struct shapeproof_check *check, struct sp_missing_layers *gone)
{
    const char *last = NULL; /* the module that was looked at last: mostly that of the next expert as well */
    size_t last_length = 0;
    bool is_last_replaced = false;
    for (size_t i = 0; i < gone->layers->count; i++) {
        const struct sp_layer *layer = &gone->layers->items[i];
        if (!sp_is_missing_layer(gone, i)) continue;
        size_t length = sp_last_component(layer->name, layer->length, ".");    /* before "3" */
        length = length ? sp_last_component(layer->name, length - 1, ".") : 0; /* before "experts" */
        if (!length) continue;
        if (!last || length != last_length || strncmp(layer->name, last, length) != 0)
            is_last_replaced = is_replaced(check, layer->name, length);
        last = layer->name;
        last_length = length;
        if (is_last_replaced) gone->missing[i] = 0;
    }
}

/* One cause for the layers of a level (match/layers.h) of which nothing is there. */
static void explain_level(struct shapeproof_check *check, int level)
{
    struct sp_missing_layers gone = sp_missing_layers_find(check, level);
    if (!gone.layers) return;
    const bool experts = level == SP_LAYER_PARTS && are_experts(&gone);
    if (experts) keep_replaced_apart(check, &gone);
    struct shapeproof_cause *cause =
        sp_gather(check, experts ? SP_CAUSE_EXPERTS_MISSING : SP_CAUSE_LAYERS_MISSING, is_of_gone_layer, &gone);
    if (cause) describe_gone(check, &gone, cause);
    const uint64_t ranks = cause && experts ? expert_ranks(&gone) : 0;
    if (ranks)
        cause->hint = sp_arena_printf(&check->arena,
                                      "the file has the experts of one of %" PRIu64 " expert-parallel ranks: gather "
                                      "the ranks into one checkpoint",
                                      ranks);
    sp_missing_layers_free(&gone);
}

/* ---- modules ---- */

/* A module, and the predicted tensors in it. */
struct module {
    const char *name;  /* "vision_tower." */
    size_t predicted;  /* tensors that are needed */
    size_t missing;    /* tensors that are missing */
    size_t layers;     /* missing tensors that are in a layer of the module */
    const char *owner; /* the innermost module of the first missing tensor; NULL when none is missing */
    bool several;      /* missing tensors have different innermost modules */
};

struct modules {
    struct module *items;
    size_t count, capacity;
    struct sp_map map;
    struct sp_arena arena;
};

/* The module with the first `length` characters of the name; it is added when it is new. */
static struct module *module_named(struct modules *modules, const char *name, size_t length)
{
    const char *own = sp_arena_copy(&modules->arena, name, length);
    const size_t place = sp_map_get(&modules->map, own);
    if (place != SIZE_MAX) return &modules->items[place];
    sp_map_add(&modules->map, own, modules->count);
    SP_GROW(modules->items, modules->count, modules->capacity);
    modules->items[modules->count] = (struct module){.name = own};
    return &modules->items[modules->count++];
}

/* The length of the name in front of the first component that is an index: 13 for "model.layers.3.mlp". 0 without one:
 * "linear_1" is no index. */
static size_t front_of_index(const char *name)
{
    uint64_t index;
    for (struct sp_component_walk part = {.rest = name}; sp_component_next(&part, ".");)
        if (sp_index_at(name, (size_t)(part.text - name), &index) == part.length) return (size_t)(part.text - name);
    return 0;
}

/* Notes a tensor in each module that it is in, up to the first index: "model.", "model.vision_tower.", ... */
static void note_in_modules(struct modules *modules, const char *name, bool needed, bool missing)
{
    const size_t layer = front_of_index(name), end = layer ? layer : strlen(name);
    const char *owner =
        missing ? sp_arena_copy(&modules->arena, name, sp_last_component(name, strlen(name), ".")) : NULL;
    for (size_t length = 0; length < end; length++) {
        if (name[length] != '.') continue;
        struct module *module = module_named(modules, name, length + 1);
        module->predicted += needed;
        module->missing += missing;
        module->layers += missing && layer;
        if (!missing) continue;
        if (!module->owner) module->owner = owner;
        module->several = module->several || strcmp(module->owner, owner) != 0;
    }
}

/* Whether nothing of the module is there, and it is more than a loop: some of what is missing is in no layer, and not
 * all in one inner module. At least FEW tensors must be missing. */
static bool is_module_gone(const struct module *module)
{
    enum { FEW = 4 };
    if (module->missing < FEW || module->missing < module->predicted || !module->several) return false;
    return !module->layers || module->layers < module->missing;
}

/* Lists the outermost modules that are gone; returns how many. */
static size_t list_gone_modules(const struct modules *modules, const char **gone)
{
    size_t count = 0;
    for (size_t i = 0; i < modules->count; i++) { /* a module stands in the list before those within it */
        bool within = false;
        for (size_t k = 0; k < count && !within; k++)
            within = strncmp(modules->items[i].name, gone[k], strlen(gone[k])) == 0;
        if (!within && is_module_gone(&modules->items[i])) gone[count++] = modules->items[i].name;
    }
    return count;
}

/* The context of is_of_gone_module. */
struct gone_modules {
    const char **names;
    size_t count;
};

static bool is_of_gone_module(const struct shapeproof_check *check, const struct shapeproof_finding *finding,
                              const void *modules)
{
    const struct gone_modules *gone = modules;
    if (!sp_finding_is_open_as(finding, SHAPEPROOF_FINDING_MISSING)) return false;
    const char *name = shapeproof_prediction_tensor(check->prediction, finding->predicted)->name;
    for (size_t i = 0; i < gone->count; i++)
        if (strncmp(name, gone->names[i], strlen(gone->names[i])) == 0) return true;
    return false;
}

/* One cause for the modules of which every needed tensor is missing, such as a whole decoder. A tensor that is tied to
 * another one is needed only if it is missing: the other one may be in another module. */
static void explain_modules(struct shapeproof_check *check)
{
    struct modules modules = {0};
    size_t *missing = sp_check_missing(check);
    for (size_t i = 0; i < shapeproof_prediction_count(check->prediction); i++) {
        const struct shapeproof_predicted *tensor = shapeproof_prediction_tensor(check->prediction, i);
        const bool is_missing = missing[i] != SHAPEPROOF_NONE;
        const bool is_needed = tensor->same_as == SHAPEPROOF_NONE || is_missing;
        if (!tensor->optional) note_in_modules(&modules, tensor->name, is_needed, is_missing);
    }
    sp_free(missing);
    struct gone_modules gone = {sp_realloc(NULL, modules.count, sizeof *gone.names), 0};
    gone.count = list_gone_modules(&modules, gone.names);
    struct shapeproof_cause *cause =
        gone.count ? sp_gather(check, SP_CAUSE_LAYERS_MISSING, is_of_gone_module, &gone) : NULL;
    if (cause) {
        check->half_explained = true;           /* the file may be of a model that has no such module */
        for (size_t i = 0; i < gone.count; i++) /* without the dot at the end */
            gone.names[i] = sp_arena_copy(&check->arena, gone.names[i], strlen(gone.names[i]) - 1);
        cause->message = sp_arena_printf(&check->arena, "%s %s missing altogether (%s)",
                                         sp_some_names(&check->arena, gone.names, gone.count),
                                         gone.count > 1 ? "are" : "is", sp_tensors_of(check, cause));
        cause->hint = "take a file that has all of it, or load it from a file of its own; otherwise it is newly "
                      "initialised";
    }
    sp_free(gone.names);
    sp_map_free(&modules.map);
    sp_arena_free(&modules.arena);
    sp_free(modules.items);
}

void sp_explain_layers(struct shapeproof_check *check)
{
    if (is_unrelated(check)) return; /* then all of them are gone, which is no news */
    if (sp_check_open(check)) explain_modules(check);
    for (int level = 0; level < SP_LAYER_LEVELS && sp_check_open(check); level++) explain_level(check, level);
}
