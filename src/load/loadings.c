/* SPDX-License-Identifier: MIT
 * What the public header promises: the loaders that are asked, each with the file that it would take. */
#define _POSIX_C_SOURCE 200809L
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/budget.h"
#include "base/call.h"
#include "base/chars.h"
#include "base/error.h"
#include "base/fault.h"
#include "base/names.h"
#include "base/text.h"
#include "check/check.h"
#include "config/config.h"
#include "lang/tables.h"
#include "load/class.h"
#include "load/judge.h"
#include "load/loader.h"
#include "model/inventory.h"
#include "shapeproof/data.h"

/* ---- the folder of a checkpoint ---- */

/* Which file of a folder a loader takes. */

static bool is_directory(const char *path) { return sp_path_is_folder(AT_FDCWD, path); }

/* Whether the folder has a regular file of that name. */
static bool has_file(const char *folder, const char *name)
{
    struct sp_text path = {0};
    sp_text_printf(&path, "%s/%s", folder, name);
    const bool found = sp_path_is_file(AT_FDCWD, path.data);
    sp_text_free(&path);
    return found;
}

/* The VARIANT of a file that would be one of the loader's if it were called without: "fp16" of model.fp16.safetensors.
 * In the arena; NULL for any other file. */
static const char *loader_variant(struct sp_arena *arena, const struct sp_loader *loader, const char *file)
{
    file = sp_base_name(file);
    for (const char *const *name = loader->files; *name; name++) {
        const size_t stem = strcspn(*name, ".") + 1;
        if (sp_ends_with(*name, ".index.json") || strncmp(file, *name, stem) != 0) continue;
        const size_t length = strcspn(file + stem, ".-");
        if (length && sp_ends_with(file + stem + length, *name + stem - 1))
            return sp_arena_copy(arena, file + stem, length);
    }
    return NULL;
}

/* The name of the file that the loader takes of a folder; NULL when there is none that it knows. */
static const char *loader_file(const struct sp_loader *loader, const char *folder)
{
    for (const char *const *name = loader->files; *name; name++)
        if (has_file(folder, *name)) return *name;
    return NULL;
}

/* ---- loadings ---- */

/* The first is the one for whose configurations the tables are. */
static const struct sp_loader *const loaders[] = {&sp_loader_transformers, &sp_loader_transformers4,
                                                  &sp_loader_diffusers, &sp_loader_torch, &sp_loader_mlx};
enum { LOADERS = sizeof loaders / sizeof *loaders };

struct shapeproof_loadings {
    struct sp_arena arena;
    const struct shapeproof_check *check;
    struct shapeproof_data *data; /* of its file, while loaders are asked, when the check has read data; or NULL */
    struct shapeproof_loading items[LOADERS];
    size_t count;
};

/* ---- what a loader need not take ---- */

static bool is_spare_prediction(const struct shapeproof_check *check, size_t predicted)
{
    const struct shapeproof_predicted *tensor = shapeproof_prediction_tensor(check->prediction, predicted);
    return tensor->optional || tensor->buffer;
}

/* Of each tensor that was checked: predicted, and something that a file may lack; the state of a trainer; or judged as
 * harmless by the check. */
static bool *list_spare(struct sp_arena *arena, const struct shapeproof_check *check)
{
    const size_t count = shapeproof_inventory_count(check->inventory);
    bool *spare = sp_arena_array(arena, count, sizeof *spare);
    for (size_t i = 0; i < check->finding_count; i++) {
        const struct shapeproof_finding *finding = &check->findings[i];
        const bool harmless =
            finding->severity == SHAPEPROOF_SEVERITY_NOTE ||
            (finding->cause != SHAPEPROOF_NONE && check->causes[finding->cause].severity != SHAPEPROOF_SEVERITY_ERROR);
        if (finding->tensor != SHAPEPROOF_NONE) spare[finding->tensor] = harmless;
    }
    for (size_t i = 0; i < count; i++) {
        const size_t predicted = check->match.predicted_of[i];
        if (predicted != SHAPEPROOF_NONE) spare[i] = is_spare_prediction(check, predicted);
        else if (shapeproof_inventory_tensor(check->inventory, i)->flags & SHAPEPROOF_TENSOR_STATE) spare[i] = true;
    }
    return spare;
}

/* Of another file than the one that was checked, only its names tell. */
static bool *list_spare_by_name(struct sp_arena *arena, const struct shapeproof_check *check,
                                const struct shapeproof_inventory *inventory)
{
    const size_t count = shapeproof_inventory_count(inventory);
    bool *spare = sp_arena_array(arena, count, sizeof *spare);
    for (size_t i = 0; i < count; i++) {
        const size_t predicted =
            shapeproof_prediction_find(check->prediction, shapeproof_inventory_tensor(inventory, i)->name);
        spare[i] = predicted != SHAPEPROOF_NONE && is_spare_prediction(check, predicted);
    }
    return spare;
}

/* ---- which file ---- */

static struct shapeproof_loading refuse_file(struct shapeproof_loadings *loadings, const struct sp_loader *loader,
                                             const char *why)
{
    return sp_loading_refused(&loadings->arena, sp_loading_of(loader), why);
}

/* Whether the inventory is of that file of the folder. An index comes before a single file when a folder is read. */
static bool was_read(const struct shapeproof_inventory *inventory, const char *file)
{
    if (sp_ends_with(file, ".index.json")) return true;
    return inventory->file_count == 1 && strcmp(sp_base_name(inventory->files[0]), file) == 0;
}

/* The loader takes another file of the folder than the one that was checked. */
static struct shapeproof_loading load_other(struct shapeproof_loadings *loadings, const struct sp_loader *loader,
                                            struct sp_load_subject subject, const char *file)
{
    struct shapeproof_error error = {0};
    const char *path = sp_arena_printf(&loadings->arena, "%s/%s", subject.inventory->path, file);
    struct shapeproof_inventory *inventory = shapeproof_inventory_open(path, &error);
    if (!inventory) return refuse_file(loadings, loader, sp_arena_printf(&loadings->arena, "%s cannot be read", file));
    subject.inventory = inventory;
    subject.data = NULL;
    subject.spare = list_spare_by_name(&loadings->arena, loadings->check, inventory);
    struct shapeproof_loading loading = sp_load(&loadings->arena, loader, &subject);
    loading.message = sp_arena_printf(&loadings->arena, "%s (it takes %s)", loading.message, file);
    shapeproof_inventory_close(inventory);
    return loading;
}

/* Whether the inventory is of files that such a loader takes. */
static bool has_beginning(const struct sp_loader *loader, const struct shapeproof_inventory *inventory)
{
    for (size_t i = 0; i < inventory->file_count; i++) {
        const char *file = sp_base_name(inventory->files[i]);
        if (strncmp(file, loader->beginning, strlen(loader->beginning)) != 0 || !sp_ends_with(file, ".safetensors"))
            return false;
    }
    return true;
}

/* Whether the loader goes by an index of shards: then it opens all that the index names. */
static bool reads_index(const struct sp_loader *loader)
{
    for (const char *const *name = loader->files; *name; name++)
        if (sp_ends_with(*name, ".index.json")) return true;
    return false;
}

/* Why the loader stops at the index: it looks up both objects of it, whatever is in them. NULL: it does not stop. */
static const char *index_obstacle(struct sp_arena *arena, const struct sp_loader *loader,
                                  const struct shapeproof_inventory *inventory)
{
    if (!inventory->index_lacks || !reads_index(loader)) return NULL;
    return sp_arena_printf(arena, "the index has no object '%s'", inventory->index_lacks);
}

/* Whether a shard that an index names could not be read, and the loader would open it, or tensors that are said to be
 * in it are nowhere else. */
static bool lacks_shards(const struct sp_loader *loader, const struct shapeproof_inventory *inventory)
{
    if (inventory->shard_absent && reads_index(loader)) return true;
    for (size_t i = 0; i < inventory->promise_count; i++)
        if (inventory->promises[i].unreadable) return true;
    return false;
}

/* ---- whether its answer decides ---- */

/* The folder that the path is, or that it lies in. */
static const char *folder_of(struct sp_arena *arena, const char *path)
{
    const size_t length = (size_t)(sp_base_name(path) - path);
    return is_directory(path) ? path : length ? sp_arena_copy(arena, path, length) : ".";
}

/* Whether the checkpoint is what the loader takes when it is given the folder: it is the folder, or the first of the
 * files and indexes that the loader looks for there. A shard is only a part of that, and a file of another name, such
 * as one of a trainer, is taken by no loader. */
static bool takes_file(struct sp_arena *arena, const struct sp_loader *loader,
                       const struct shapeproof_inventory *inventory)
{
    const char *path = inventory->path, *file = sp_base_name(path), *folder = folder_of(arena, path);
    const bool is_folder = is_directory(path);
    if (!has_file(folder, "config.json")) return false;
    if (loader->beginning && !is_folder) return strcmp(file, "model.safetensors") == 0;
    if (loader->beginning) return !inventory->stray && has_beginning(loader, inventory);
    const char *taken = loader_file(loader, folder);
    return taken && (is_folder || strcmp(taken, file) == 0);
}

/* Whether a difference, or the cause of some, was expected, and nothing else is wrong. */
static bool is_all_expected(const struct shapeproof_check *check)
{
    bool expected = false;
    if (shapeproof_check_verdict(check) != SHAPEPROOF_VERDICT_MATCH) return false;
    for (size_t i = 0; i < check->finding_count; i++) expected = expected || check->findings[i].reason;
    for (size_t i = 0; i < check->cause_count; i++) expected = expected || check->causes[i].expected;
    return expected;
}

/* A loader that refuses the configuration itself has counted nothing, and no expectation is about that. */
static bool decides(struct shapeproof_loadings *loadings, const struct sp_loader *loader,
                    const struct shapeproof_loading *loading)
{
    const bool counted = loading->fresh || loading->ignored || loading->reshaped;
    if (!takes_file(&loadings->arena, loader, loadings->check->inventory)) return false;
    return !counted || !is_all_expected(loadings->check);
}

/* ---- the answer ---- */

/* The folder has no file that the loader takes. */
static struct shapeproof_loading refuse_folder(struct shapeproof_loadings *loadings, const struct sp_loader *loader,
                                               const struct shapeproof_inventory *inventory)
{
    struct sp_arena *arena = &loadings->arena;
    const char *const *usual = loader->files;
    while (usual[1] && sp_ends_with(*usual, ".index.json")) usual++;
    const char *variant = inventory->file_count ? loader_variant(arena, loader, inventory->files[0]) : NULL;
    const char *why = variant
                          ? sp_arena_printf(arena, "only the variant %s is there: from_pretrained needs variant='%s'",
                                            variant, variant)
                          : sp_arena_printf(arena, "there is no %s, nor any other file that it takes", *usual);
    return refuse_file(loadings, loader, why);
}

/* The answer of a loader, for the file that it takes of the folder, or for the checkpoint when that is no folder. */
static struct shapeproof_loading load_subject(struct shapeproof_loadings *loadings, const struct sp_loader *loader,
                                              const struct sp_load_subject *subject)
{
    const char *folder = subject->inventory->path;
    if (*loader->files && is_directory(folder)) {
        const char *file = loader_file(loader, folder);
        if (!file) return refuse_folder(loadings, loader, subject->inventory);
        if (!was_read(subject->inventory, file)) return load_other(loadings, loader, *subject, file);
    }
    if (loader->beginning && is_directory(folder)) {
        if (subject->inventory->stray)
            return sp_loading_open(&loadings->arena, sp_loading_of(loader),
                                   "it takes the file beside the shards as well");
        if (!has_beginning(loader, subject->inventory))
            return refuse_file(loadings, loader, "it takes no file of that name");
    }
    const char *obstacle = index_obstacle(&loadings->arena, loader, subject->inventory);
    if (obstacle) return refuse_file(loadings, loader, obstacle);
    if (lacks_shards(loader, subject->inventory)) return refuse_file(loadings, loader, "a shard is not there");
    return sp_load(&loadings->arena, loader, subject);
}

/* The loading with what adapter_config.json beside the weights changes of it, for a loader that would take them whole:
 * it adds the adapter, which counts twice if it was merged already, or loads another base. Any other loading stays as
 * it is. */
static struct shapeproof_loading with_adapter(struct shapeproof_loadings *loadings, const struct sp_loader *loader,
                                              struct shapeproof_loading loading)
{
    static const char weights[] = "adapter_model.safetensors";
    struct sp_arena *arena = &loadings->arena;
    const struct shapeproof_inventory *inventory = loadings->check->inventory;
    const char *folder = folder_of(arena, inventory->path);
    if (!loader->adds_adapter || loading.answer != SHAPEPROOF_LOADING_WHOLE || !takes_file(arena, loader, inventory) ||
        !has_file(folder, "adapter_config.json"))
        return loading;
    if (!loader->base_of_adapter && !has_file(folder, weights))
        return sp_loading_refused(arena, loading, "adapter_config.json is beside the weights, and no adapter");
    loading.answer = SHAPEPROOF_LOADING_IN_PART;
    loading.message =
        loader->base_of_adapter
            ? sp_arena_printf(arena, "%s with PEFT loads the base that adapter_config.json names, and not this file",
                              loading.name)
            : sp_arena_printf(arena, "%s with PEFT adds %s on top: if the adapter is merged already, it counts twice",
                              loading.name, weights);
    loading.remedy = "take adapter_config.json out of the folder if the adapter is merged";
    return loading;
}

/* ---- the loaders that are asked ---- */

/* Whether an id is among those that were asked for, "torch,mlx"; `asked` may be NULL. */
static bool is_asked(const char *asked, const char *id)
{
    const size_t length = strlen(id);
    for (; asked; asked = strchr(asked, ',') ? strchr(asked, ',') + 1 : NULL)
        if (strncmp(asked, id, length) == 0 && (!asked[length] || asked[length] == ',')) return true;
    return false;
}

/* Each word has to be the id of a loader. */
static bool check_ids(const char *asked, struct shapeproof_error *error)
{
    for (const char *id = asked; id;) {
        const size_t length = strcspn(id, ",");
        bool known = false;
        for (size_t i = 0; i < LOADERS; i++)
            known = known || (strncmp(loaders[i]->id, id, length) == 0 && !loaders[i]->id[length]);
        if (!known) {
            sp_fail(error, SHAPEPROOF_ERR_USAGE, SHAPEPROOF_KIND_NONE, "there is no loader %s", sp_quote(id).text);
            sp_hint(error, "the loaders are transformers, transformers-4, diffusers, torch and mlx; 'all' means all "
                           "of them, 'none' none");
            return false;
        }
        id = id[length] ? id + length + 1 : NULL;
    }
    return true;
}

/* Whether the configuration names a quantiser. Otherwise no loader has one, whatever the tensors look like. */
static bool names_quantiser(const struct shapeproof_check *check)
{
    static const char *const keys[] = {"quantization_config", "compression_config", "quantization"};
    const struct shapeproof_value root = sp_config_hyper(check->quantisation.base)->root;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (sp_value_member(root, keys[i]).type == SHAPEPROOF_VALUE_OBJECT) return true;
    return check->quantisation.configured != NULL;
}

/* Fills in what a loader needs that unpacks weights in blocks of FP8: subject->unpacked, `scales` and `unscaled`. Such
 * weights keep their names and shapes, and each has its scales beside it, "up_proj.weight_scale_inv". Nothing is filled
 * in where unpacking fails, or may: where a scale has another shape or belongs to no weight, or is missing of an
 * expert, which is stacked with others. */
static void find_unpacked(struct shapeproof_loadings *loadings, struct sp_load_subject *subject)
{
    static const char ending[] = "_scale_inv";
    const struct shapeproof_check *check = loadings->check;
    const struct shapeproof_value described =
        sp_value_member(sp_config_hyper(check->quantisation.base)->root, "quantization_config");
    const size_t count = shapeproof_inventory_count(check->inventory);
    const bool is_fp8 = subject->quantisation && strcmp(subject->quantisation, "fp8") == 0;
    if (!is_fp8 || sp_value_member(described, "weight_block_size").type != SHAPEPROOF_VALUE_LIST) return;
    for (size_t i = 0; i < check->finding_count; i++) {
        const struct shapeproof_finding *finding = &check->findings[i];
        if (!sp_ends_with(finding->name, ending)) continue;
        if (finding->kind != SHAPEPROOF_FINDING_MISSING || strstr(finding->name, "expert")) return;
        subject->unscaled++;
    }
    bool *scales = sp_arena_array(&loadings->arena, count, sizeof *scales);
    for (size_t i = 0; i < count; i++)
        scales[i] = sp_ends_with(shapeproof_inventory_tensor(check->inventory, i)->name, ending);
    subject->scales = scales;
    subject->unpacked = check->quantisation.base;
}

/* What the loaders are asked about. Without a quantiser the model is the one of full precision: its names and shapes
 * decide, and packed weights are taken for what they are not. */
static struct sp_load_subject make_subject(struct shapeproof_loadings *loadings)
{
    const struct shapeproof_check *check = loadings->check;
    struct sp_load_subject subject = {.inventory = check->inventory,
                                      .tables = check->tables,
                                      .config = check->quantisation.base,
                                      .table = check->table_name,
                                      .spare = list_spare(&loadings->arena, check)};
    subject.data = loadings->data;
    if (check->quantisation.recognised && !names_quantiser(check)) return subject;
    subject.config = check->config;
    subject.prediction = check->prediction;
    subject.match = &check->match;
    subject.quantised = check->quantisation.method || names_quantiser(check);
    subject.quantisation = check->quantisation.method;
    find_unpacked(loadings, &subject);
    return subject;
}

/* An adapter without the model that it is for: another library loads it, into a model from elsewhere. */
static bool is_adapter_alone(const struct shapeproof_check *check)
{
    bool adapter = false;
    for (size_t i = 0; i < check->cause_count; i++)
        adapter = adapter || strncmp(check->causes[i].id, "adapter", strlen("adapter")) == 0;
    return adapter && sp_check_matched(check) * 2 < shapeproof_prediction_count(check->prediction);
}

/* Whether the loader's library is the one that the configuration is of: diffusers names the class of its own by
 * _class_name. */
static bool is_of_library(const struct sp_loader *loader, const struct sp_load_subject *subject)
{
    const struct shapeproof_value class = sp_value_member(sp_config_hyper(subject->config)->root, "_class_name");
    return (loader->class_key != NULL) == (class.type == SHAPEPROOF_VALUE_STRING);
}

/* The first loader of the library that the configuration is of. */
static const struct sp_loader *loader_of_library(const struct sp_load_subject *subject)
{
    size_t i = 0;
    while (i + 1 < LOADERS && !is_of_library(loaders[i], subject)) i++;
    return loaders[i];
}

/* The loader whose quantisation it is, or else the first of the library that the configuration is of, if it reads such
 * files and has a class for the configuration. NULL when it has not, or when there is no model in the file. */
static const struct sp_loader *loader_meant(const struct shapeproof_check *check, const struct sp_load_subject *subject)
{
    const struct sp_loader *meant = loader_of_library(subject);
    for (size_t i = 0; subject->quantisation && i < LOADERS; i++)
        if (loaders[i]->quantisation && strcmp(loaders[i]->quantisation, subject->quantisation) == 0)
            meant = loaders[i];
    return sp_load_is_meant(meant, subject) && !is_adapter_alone(check) ? meant : NULL;
}

/* Which answers get a line. */
enum wanted {
    IF_KNOWN,    /* not one that cannot be told */
    ALSO_UNKNOWN /* any: somebody asked for this loader */
};

/* Asks a loader, and adds its answer if it is wanted. */
static void add_loading(struct shapeproof_loadings *loadings, const struct sp_loader *loader,
                        const struct sp_load_subject *subject, enum wanted wanted)
{
    struct shapeproof_loading loading = with_adapter(loadings, loader, load_subject(loadings, loader, subject));
    loading.decides = decides(loadings, loader, &loading);
    if (wanted == ALSO_UNKNOWN || loading.answer != SHAPEPROOF_LOADING_UNKNOWN)
        loadings->items[loadings->count++] = loading;
}

/* Whether the loader with that id gave the same answer, in the same numbers. */
static bool is_same_answer(const struct shapeproof_loadings *loadings, const char *id,
                           const struct shapeproof_loading *loading)
{
    for (size_t i = 0; i < loadings->count; i++) {
        const struct shapeproof_loading *other = &loadings->items[i];
        if (strcmp(other->loader, id) == 0)
            return other->answer == loading->answer && other->fresh == loading->fresh &&
                   other->ignored == loading->ignored && other->reshaped == loading->reshaped;
    }
    return false;
}

/* Asks a loader that is nearly like another one, which was asked before, and adds its answer where it differs. */
static void add_variant(struct shapeproof_loadings *loadings, const struct sp_loader *loader,
                        const struct sp_load_subject *subject)
{
    struct shapeproof_loading loading = with_adapter(loadings, loader, load_subject(loadings, loader, subject));
    loading.decides = decides(loadings, loader, &loading);
    if (loading.answer != SHAPEPROOF_LOADING_UNKNOWN && !is_same_answer(loadings, loader->variant_of, &loading))
        loadings->items[loadings->count++] = loading;
}

struct shapeproof_loadings *shapeproof_loadings_new(const struct shapeproof_check *check, const char *asked,
                                                    struct shapeproof_error *error)
{
    SP_CALL(error, NULL);
    SP_SPENDS("simulating the loaders");
    SP_BUDGET_REUSE(check->inventory);
    /* `asked`: NULL, for the loader that is meant; "all", those of its library; "none"; or ids, "torch,mlx" */
    const bool all = asked && strcmp(asked, "all") == 0, none = asked && strcmp(asked, "none") == 0;
    struct shapeproof_error unreadable = {0};
    sp_error_reset(error);
    if (asked && !all && !none && !check_ids(asked, error)) return NULL;
    sp_fault_begin(error);
    struct shapeproof_loadings *loadings = sp_realloc(NULL, 1, sizeof *loadings);
    *loadings = (struct shapeproof_loadings){.check = check};
    /* data that cannot be opened is no error: without it two tensors are taken to be equal where a loader compares them
     */
    if (check->reads_data && !none) loadings->data = shapeproof_data_open(check->inventory, &unreadable);
    const struct sp_load_subject subject = make_subject(loadings);
    const struct sp_loader *meant = asked ? NULL : loader_meant(check, &subject);
    for (size_t i = 0; i < LOADERS; i++) {
        if (all && !is_of_library(loaders[i], &subject)) continue;
        if (all && loaders[i]->variant_of) add_variant(loadings, loaders[i], &subject);
        else if (all || loaders[i] == meant || is_asked(asked, loaders[i]->id))
            add_loading(loadings, loaders[i], &subject, asked ? ALSO_UNKNOWN : IF_KNOWN);
    }
    shapeproof_data_close(loadings->data);
    loadings->data = NULL;
    if (sp_fault_end(error)) return loadings;
    shapeproof_loadings_free(loadings);
    return NULL;
}

char *shapeproof_loading_objection(const struct shapeproof_tables *tables, const struct shapeproof_config *config,
                                   const char *table, const struct shapeproof_prediction *prediction,
                                   struct shapeproof_error *error)
{
    SP_CALL(error, NULL);
    SP_SPENDS("asking the loader");
    sp_error_reset(error);
    sp_tables_reuse(tables);
    sp_config_reuse(config);
    const struct sp_load_subject subject = {
        .tables = tables, .config = config, .table = table, .prediction = prediction};
    const struct sp_loader *loader = loader_of_library(&subject);
    const struct sp_loaded loaded = sp_class_loaded(loader, &subject);
    if (!loaded.model_type) return NULL;
    struct sp_arena arena = {0};
    struct sp_text text = {0};
    const char *why = sp_class_objection(&arena, loader, &loaded, config, prediction);
    if (*why) sp_text_printf(&text, "%s refuses it: %s", loader->name, why);
    sp_arena_free(&arena);
    return text.data;
}

void shapeproof_loadings_free(struct shapeproof_loadings *loadings)
{
    if (!loadings) return;
    sp_arena_free(&loadings->arena);
    sp_free(loadings);
}

size_t shapeproof_loading_count(const struct shapeproof_loadings *loadings) { return loadings->count; }
const struct shapeproof_loading *shapeproof_loading(const struct shapeproof_loadings *loadings, size_t index)
{
    return &loadings->items[index];
}

const struct shapeproof_loading *shapeproof_loading_failed(const struct shapeproof_loadings *loadings)
{
    for (size_t i = 0; i < loadings->count; i++) {
        const enum shapeproof_loading_answer answer = loadings->items[i].answer;
        const bool bad = answer == SHAPEPROOF_LOADING_IN_PART || answer == SHAPEPROOF_LOADING_REFUSED;
        if (loadings->items[i].decides && bad) return &loadings->items[i];
    }
    return NULL;
}

const char *shapeproof_loading_answer_name(enum shapeproof_loading_answer answer)
{
    static const char *const names[] = {"whole", "in part", "refused", "unknown"};
    return names[answer];
}
