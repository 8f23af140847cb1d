/* SPDX-License-Identifier: MIT
 * Three lists name the models of a directory, each with the folder that it is in:
 *
 *   model_index.json   {"_class_name": "StableDiffusionPipeline", "unet": ["diffusers", "UNet2DConditionModel"],
 *                      "safety_checker": [null, null], "requires_safety_checker": true}
 *                      Several models of one entry are in folders beside it: controlnet, controlnet_1, ...
 *   modular_model_index.json   {"unet": ["diffusers", "UNet2DConditionModel", {"subfolder": "unet", "type_hint":
 *                      ["diffusers", "UNet2DConditionModel"], "pretrained_model_name_or_path": "org/name"}]}
 *
 *   modules.json       [{"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.Transformer"}, ...]
 *
 * A router among the latter has a list of its own, router_config.json, {"types": {"query_0_Dense": TYPE, ...}}.
 *
 * All of it is a stranger's text: a path of plain names below the directory is followed, and nothing else. Symbolic
 * links are followed as in read/index.c. */
#define _GNU_SOURCE /* O_DIRECTORY, O_CLOEXEC */
#include "shapeproof/components.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/call.h"
#include "base/chars.h"
#include "base/fault.h"
#include "base/json_scan.h"
#include "base/names.h"
#include "base/order.h"
#include "read/directory.h"

enum { MAX_COMPONENTS = 100, MAX_COMPONENT_LIST = 1 << 20, MOST_LOOKED_AT = 10000 };

struct shapeproof_components {
    struct sp_arena arena;
    const char *path;
    SP_ARRAY(struct shapeproof_component) list;
};

/* A list while it is read. */
struct component_list {
    struct shapeproof_components *components;
    const struct sp_folder *folder; /* the directory */
    const char *below;              /* the folder in it that the entries are in, or "" */
    struct sp_json json;
    struct shapeproof_error *error;
};

/* ---- what lies in the folder of a component ---- */

struct contents {
    bool there;   /* the folder itself */
    bool weights; /* a file that may be a checkpoint */
    bool config;  /* config.json */
};

/* Parts of a distributed checkpoint count too: it is for who opens them to refuse them. */
static bool holds_weights(const char *name) { return sp_ends_with(name, ".distcp") || sp_may_be_checkpoint(name); }

static struct contents look_into(const struct sp_folder *folder, const char *name)
{
    struct contents found = {false, false, false};
    DIR *stream = sp_folder_stream(folder->fd, name);
    if (!stream) return found;
    found.there = true;
    const struct dirent *entry;
    for (size_t i = 0; i < MOST_LOOKED_AT && (entry = sp_folder_next(stream, name)); i++) {
        found.weights = found.weights || holds_weights(entry->d_name);
        found.config = found.config || strcmp(entry->d_name, "config.json") == 0;
    }
    sp_folder_end(stream);
    return found;
}

/* ---- what classes need ---- */

enum need {
    NEEDS_WEIGHTS, /* without a file of weights it is missing */
    NEEDS_FOLDER,  /* it has no weights; without its folder it is missing */
    NEEDS_NOTHING, /* it is never missing */
    NEED_UNKNOWN   /* of another library: it is not known whether it has weights */
};

/* Of a component of a pipeline. The configurations of schedulers, tokenizers and their like have other names, so that a
 * config.json shows that the class is a model. */
static enum need need_in_pipeline(const struct shapeproof_component *component, const struct contents *found)
{
    static const char *const plain[] = {"Scheduler",        "Tokenizer", "Processor",
                                        "FeatureExtractor", "Guider",    "Guidance"};
    static const char *const known[] = {"diffusers", "transformers"};
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
        if (strstr(component->class_name, plain[i])) return NEEDS_FOLDER;
    return found->config || SP_IS_AMONG(component->library, known) ? NEEDS_WEIGHTS : NEEDS_FOLDER;
}

/* Of a module of Sentence Transformers. Normalize has an empty folder, which is often lost when a model is copied. */
static enum need need_of_module(const struct shapeproof_component *component)
{
    static const char *const plain[] = {"Pooling",      "Dropout",         "BoW",        "WordWeights", "SpladePooling",
                                        "TokenPooling", "MultiVectorMask", "LogitScore", "Router",      "Asym"};
    if (strcmp(component->library, "sentence_transformers") != 0) return NEED_UNKNOWN;
    if (strcmp(component->class_name, "Normalize") == 0) return NEEDS_NOTHING;
    return SP_IS_AMONG(component->class_name, plain) ? NEEDS_FOLDER : NEEDS_WEIGHTS;
}

/* Sets the state and its note. A component whose folder has weights is a model, whatever its class needs; without
 * weights it is missing or plain, by what the class needs. */
static void judge_component(struct shapeproof_component *component, const struct contents *found, enum need need)
{
    const bool missing = need == NEEDS_WEIGHTS || (need == NEEDS_FOLDER && !found->there);
    if (found->weights) {
        component->state = SHAPEPROOF_COMPONENT_MODEL;
        return;
    }
    component->state = missing ? SHAPEPROOF_COMPONENT_MISSING : SHAPEPROOF_COMPONENT_PLAIN;
    if (missing) component->note = found->there ? "its weights are missing" : "its folder is missing";
    else if (need == NEED_UNKNOWN) component->note = "no weights; whether it has any is not known";
    else component->note = "no weights";
}

/* ---- an entry ---- */

/* Whether it is "" or names with slashes between them, which cannot lead out of the directory. */
static bool is_path_below(const char *path)
{
    for (const char *name = path; *name;) {
        const size_t length = strcspn(name, "/");
        if (!length || SP_IS(name, length, ".") || SP_IS(name, length, "..") || memchr(name, '\\', length) ||
            memchr(name, ':', length))
            return false;
        name += length;
        if (*name && !*++name) return false;
    }
    return true;
}

/* The name of the configuration of a component; some modules have another one than config.json. */
static const char *config_name(const struct shapeproof_component *component)
{
    static const struct {
        const char *class_name, *file;
    } own[] = {{"CNN", "cnn_config.json"}, {"LSTM", "lstm_config.json"}};
    if (strcmp(component->library, "sentence_transformers") == 0)
        for (size_t i = 0; i < sizeof own / sizeof *own; i++)
            if (strcmp(component->class_name, own[i].class_name) == 0) return own[i].file;
    return "config.json";
}

static const char *find_config(const struct component_list *list, const struct shapeproof_component *component)
{
    struct sp_arena *arena = &list->components->arena;
    const char *file = sp_arena_printf(arena, "%s/%s", component->name, config_name(component));
    if (!sp_path_exists(list->folder->fd, file)) return NULL;
    return sp_arena_printf(arena, "%s/%s", component->path, config_name(component));
}

/* Appends a component with its name and its path; NULL after an error. `entry` is its folder, as the list has it. The
 * name counts from the directory: "below/entry", or "." for the directory itself. */
static struct shapeproof_component *add_component(const struct component_list *list, const char *entry)
{
    struct shapeproof_components *components = list->components;
    struct sp_arena *arena = &components->arena;
    const char *slash = *list->below && *entry ? "/" : "";
    if (!is_path_below(entry)) {
        sp_fail(list->error, SHAPEPROOF_ERR_FILE, SHAPEPROOF_KIND_REFUSED, "unsafe folder %s: not below this directory",
                sp_quote(entry).text);
        return NULL;
    }
    if (components->list.count == MAX_COMPONENTS) {
        sp_fail(list->error, SHAPEPROOF_ERR_FILE, SHAPEPROOF_KIND_LIMIT, "more than %d components", MAX_COMPONENTS);
        return NULL;
    }
    struct shapeproof_component *component = SP_PUSH(&components->list);
    *component = (struct shapeproof_component){.name = sp_arena_printf(arena, "%s%s%s", list->below, slash, entry)};
    component->path = *component->name ? sp_folder_join(list->folder, component->name, arena)
                                       : sp_arena_string(arena, list->folder->path);
    if (!*component->name) component->name = ".";
    return component;
}

/* A folder that is named twice is one model. */
static bool is_named_before(const struct shapeproof_components *components)
{
    const struct shapeproof_component *last = &components->list.items[components->list.count - 1];
    for (size_t i = 0; i + 1 < components->list.count; i++)
        if (strcmp(components->list.items[i].name, last->name) == 0) return true;
    return false;
}

enum list_kind { PIPELINE_LIST, MODULE_LIST };

/* Sets the configuration and the state of the component that was added last, whose class is known. */
static void finish_component(const struct component_list *list, struct shapeproof_component *component,
                             enum list_kind kind)
{
    const struct contents found = look_into(list->folder, component->name);
    component->config = find_config(list, component);
    judge_component(component, &found,
                    kind == MODULE_LIST ? need_of_module(component) : need_in_pipeline(component, &found));
    if (!is_named_before(list->components)) return;
    component->state = SHAPEPROOF_COMPONENT_PLAIN;
    component->note = "the folder is listed twice";
}

/* ---- model_index.json ---- */

/* What a list says of one component: a library and a class, both NULL when the entry is anything else. Of a modular
 * pipeline also where it was loaded from, "org/name", and the folder in that. */
struct told {
    const char *library, *class_name, *repository, *subfolder;
    bool listed; /* the class is in the entry itself; false: only in its type hint, since it was not loaded */
};

/* Reads an entry. Of a pipeline it is ["library", "class"], and `rest` is NULL. Of a modular pipeline it has a third
 * item, an object that `rest` reads; the type hint in that is again a pair without `rest`. Anything else is passed over
 * and leaves *told as it is. False when the text is no JSON. */
static bool scan_pair(struct sp_json *json, struct told *told, bool (*rest)(struct sp_json *, struct told *))
{
    const char *words[2] = {NULL, NULL};
    size_t count = 0, ignored;
    if (sp_json_peek(json) != '[') return sp_json_skip(json, &ignored) != NULL;
    sp_json_open(json, '[');
    for (bool first = true; sp_json_item(json, &first); count++) {
        if (count < 2 && sp_json_peek(json) == '"') words[count] = sp_json_string(json);
        else if (count == 2 && rest && sp_json_peek(json) == '{') rest(json, told);
        else sp_json_skip(json, &ignored);
    }
    if (!sp_json_ok(json)) return false;
    if (count != 2 + (rest != NULL) || !words[0] || !words[1]) return true;
    told->library = words[0];
    told->class_name = words[1];
    told->listed = rest != NULL;
    return true;
}

/* The third item of an entry: {"type_hint": ["library", "class"], "subfolder": ..., ...}. The type hint is the class
 * that the component has to be of, also where none was loaded when the list was written. */
static bool scan_origin(struct sp_json *json, struct told *told)
{
    const char *key;
    size_t ignored;
    sp_json_open(json, '{');
    for (bool first = true; (key = sp_json_member(json, &first));) {
        const bool text = sp_json_peek(json) == '"';
        if (strcmp(key, "type_hint") == 0) scan_pair(json, told, NULL);
        else if (text && strcmp(key, "subfolder") == 0) told->subfolder = sp_json_string(json);
        else if (text && (strcmp(key, "pretrained_model_name_or_path") == 0 || strcmp(key, "repo") == 0))
            told->repository = sp_json_string(json);
        else sp_json_skip(json, &ignored);
        if (!sp_json_ok(json)) return false;
    }
    return sp_json_ok(json);
}

/* Whether no component but the directory itself is or ought to be a model: then it is read as a checkpoint of one. */
static bool is_single(const struct shapeproof_components *components)
{
    for (size_t i = 0; i < components->list.count; i++) {
        const struct shapeproof_component *component = &components->list.items[i];
        if (component->state != SHAPEPROOF_COMPONENT_PLAIN && strcmp(component->name, ".") != 0) return false;
    }
    return true;
}

/* Whether there is a folder of that name in the one of the list. */
static bool is_folder_there(const struct component_list *list, const char *name)
{
    return sp_path_is_folder(list->folder->fd, name);
}

/* The other models of an entry that is several, "MultiControlNetModel" or "MultiAdapter": diffusers saves the first in
 * the folder of that name and each further one beside it, controlnet_1, controlnet_2 and so on. */
static bool add_further_models(struct component_list *list, const char *entry, const struct told *told)
{
    struct sp_arena *arena = &list->components->arena;
    if (!strstr(told->class_name, "Multi")) return true;
    for (size_t i = 1;; i++) {
        const char *name = sp_arena_printf(arena, "%s_%zu", entry, i);
        if (!is_folder_there(list, name)) return true;
        struct shapeproof_component *component = add_component(list, name);
        if (!component) return false;
        component->library = sp_arena_string(arena, told->library);
        component->class_name = component->model_class = sp_arena_string(arena, told->class_name);
        finish_component(list, component, PIPELINE_LIST);
    }
}

static bool is_listed(const struct shapeproof_components *components, const char *name)
{
    const size_t length = strlen(name);
    for (size_t i = 0; i < components->list.count; i++) {
        const char *listed = components->list.items[i].name;
        if (strncmp(listed, name, length) == 0 && (!listed[length] || listed[length] == '/')) return true;
    }
    return false;
}

/* Folders with weights that the list of a pipeline does not name, in the order of their names: they are reported as not
 * looked at. */
static void add_unlisted(struct component_list *list)
{
    struct shapeproof_components *components = list->components;
    SP_ARRAY(const char *) names = {0};
    DIR *stream = sp_folder_stream(list->folder->fd, ".");
    const struct dirent *entry;
    for (size_t i = 0; stream && i < MOST_LOOKED_AT && (entry = sp_folder_next(stream, list->folder->path)); i++)
        if (*entry->d_name != '.' && is_path_below(entry->d_name) && !is_listed(components, entry->d_name) &&
            look_into(list->folder, entry->d_name).weights)
            *SP_PUSH(&names) = sp_arena_string(&components->arena, entry->d_name);
    sp_folder_end(stream);
    if (names.count) qsort(names.items, names.count, sizeof *names.items, sp_compare_strings);
    for (size_t i = 0; i < names.count && components->list.count < MAX_COMPONENTS; i++) {
        struct shapeproof_component *component = add_component(list, names.items[i]);
        if (!component) break;
        component->library = "";
        component->class_name = component->model_class = "a folder that the list does not name";
        component->state = SHAPEPROOF_COMPONENT_PLAIN;
        component->note = "not looked at";
    }
    sp_free(names.items);
}

/* Reads model_index.json of a diffusers pipeline: each member [library, class] is a component, members that begin
 * with _ are metadata. */
static bool scan_pipeline(struct component_list *list)
{
    struct sp_arena *arena = &list->components->arena;
    const char *key;
    if (!sp_json_open(&list->json, '{')) return false;
    for (bool first = true; (key = sp_json_member(&list->json, &first));) {
        struct told told = {.library = NULL};
        if (!scan_pair(&list->json, &told, NULL)) return false;
        if (!told.library || *key == '_') continue;
        struct shapeproof_component *component = add_component(list, *key ? key : ".");
        if (!component) return false;
        component->library = sp_arena_string(arena, told.library);
        component->class_name = component->model_class = sp_arena_string(arena, told.class_name);
        finish_component(list, component, PIPELINE_LIST);
        if (*key && !add_further_models(list, key, &told)) return false;
    }
    if (!sp_json_end(&list->json)) return false;
    if (!is_single(list->components)) add_unlisted(list);
    return true;
}

/* ---- modular_model_index.json ---- */

/* "org/name" of the hub, and no path of the machine where the pipeline was saved. */
static bool is_on_hub(const char *repository)
{
    const char *slash = repository ? strchr(repository, '/') : NULL;
    return slash && slash > repository && slash[1] && !strchr(slash + 1, '/') && *repository != '.' &&
           !strpbrk(repository, " :\\");
}

/* A component that is missing here and was loaded from a repository of the hub is not missing: it is there. */
static void say_elsewhere(struct sp_arena *arena, struct shapeproof_component *component, const struct told *told)
{
    if (component->state != SHAPEPROOF_COMPONENT_MISSING || !is_on_hub(told->repository)) return;
    const char *folder = told->subfolder ? told->subfolder : "";
    component->state = SHAPEPROOF_COMPONENT_PLAIN;
    component->note = sp_arena_printf(arena, "not in this directory, but in hf://%s%s%s", told->repository,
                                      *folder ? ", in the folder " : "", folder);
}

/* Reads modular_model_index.json of a diffusers pipeline. A component that was not loaded, and has no repository to be
 * loaded from, is left out. */
static bool scan_modular(struct component_list *list)
{
    struct sp_arena *arena = &list->components->arena;
    const char *key;
    if (!sp_json_open(&list->json, '{')) return false;
    for (bool first = true; (key = sp_json_member(&list->json, &first));) {
        struct told told = {.library = NULL};
        if (!scan_pair(&list->json, &told, scan_origin)) return false;
        if (*key == '_' || !told.class_name || !(told.listed || told.repository)) continue;
        struct shapeproof_component *component = add_component(list, *key ? key : ".");
        if (!component) return false;
        component->library = sp_arena_string(arena, told.library);
        component->class_name = component->model_class = sp_arena_string(arena, told.class_name);
        finish_component(list, component, PIPELINE_LIST);
        say_elsewhere(arena, component, &told);
    }
    return sp_json_end(&list->json);
}

/* ---- modules.json ---- */

/* "sentence_transformers.models.Dense", or since version 5 "sentence_transformers.base.modules.dense.Dense". */
static bool add_module(const struct component_list *list, const char *path, const char *type)
{
    struct sp_arena *arena = &list->components->arena;
    const char *dot = strrchr(type, '.');
    struct shapeproof_component *component = add_component(list, path);
    if (!component) return false;
    component->class_name = sp_arena_string(arena, dot ? dot + 1 : type);
    component->library = sp_arena_copy(arena, type, dot ? strcspn(type, ".") : 0);
    component->model_class =
        dot ? sp_arena_printf(arena, "%s.%s", component->library, component->class_name) : component->class_name;
    finish_component(list, component, MODULE_LIST);
    return true;
}

static bool scan_module(struct component_list *list)
{
    const char *key, *path = "", *type = NULL;
    size_t ignored;
    if (!sp_json_open(&list->json, '{')) return false;
    for (bool first = true; (key = sp_json_member(&list->json, &first));) {
        if (strcmp(key, "path") == 0) path = sp_json_string(&list->json);
        else if (strcmp(key, "type") == 0) type = sp_json_string(&list->json);
        else sp_json_skip(&list->json, &ignored);
        if (!sp_json_ok(&list->json)) return false;
    }
    if (!sp_json_ok(&list->json)) return false;
    return type ? add_module(list, path, type) : sp_malformed(list->error, "a module without a type");
}

/* Files of that name that are no array are of other programs. */
static bool scan_modules(struct component_list *list)
{
    if (sp_json_peek(&list->json) != '[') return true;
    sp_json_open(&list->json, '[');
    for (bool first = true; sp_json_item(&list->json, &first);)
        if (!scan_module(list)) return false;
    return sp_json_end(&list->json);
}

/* The "types" of a router. */
static bool scan_routes(struct component_list *list)
{
    const char *key, *name;
    size_t ignored;
    if (!sp_json_open(&list->json, '{')) return false;
    for (bool first = true; (key = sp_json_member(&list->json, &first));) {
        if (strcmp(key, "types") != 0) {
            if (!sp_json_skip(&list->json, &ignored)) return false;
            continue;
        }
        if (!sp_json_open(&list->json, '{')) return false;
        for (bool inner = true; (name = sp_json_member(&list->json, &inner));) {
            const char *type = sp_json_string(&list->json);
            if (!type || !add_module(list, name, type)) return false;
        }
    }
    return sp_json_end(&list->json);
}

/* ---- the lists of a directory ---- */

/* Scans a file of the folder. */
static bool read_list(struct component_list *list, const char *name, bool (*scan)(struct component_list *))
{
    struct sp_file file;
    if (!sp_file_open(&file, list->folder->fd, name, list->error))
        return sp_folder_blame(list->folder, name, list->error);
    list->json = (struct sp_json){
        .what = "list of components", .error = list->error, .length = (size_t)file.size, .numbers = SP_JSON_OF_PYTHON};
    list->json.text = sp_file_slurp(&file, MAX_COMPONENT_LIST, list->error);
    sp_file_close(&file);
    const bool ok = list->json.text && sp_json_check(&list->json) && scan(list);
    sp_free(list->json.text);
    return ok || sp_folder_blame(list->folder, name, list->error);
}

static bool is_there(const struct sp_folder *folder, const char *name) { return sp_path_exists(folder->fd, name); }

/* What each router leads to. One that is behind another has nobody made. */
static bool read_routers(struct component_list *list)
{
    static const char *const files[] = {"router_config.json", "config.json"}, *const routers[] = {"Router", "Asym"};
    struct shapeproof_components *components = list->components;
    const size_t count = components->list.count;
    for (size_t i = 0; i < count; i++) {
        const struct shapeproof_component component = components->list.items[i];
        if (!SP_IS_AMONG(component.class_name, routers)) continue;
        list->below = strcmp(component.name, ".") == 0 ? "" : component.name;
        for (size_t k = 0; k < sizeof files / sizeof *files; k++) {
            const char *name = sp_arena_printf(&components->arena, "%s/%s", component.name, files[k]);
            if (!is_there(list->folder, name)) continue;
            if (!read_list(list, name, scan_routes)) return false;
            break;
        }
    }
    return true;
}

static bool read_lists(struct shapeproof_components *components, const struct sp_folder *folder,
                       struct shapeproof_error *error)
{
    struct component_list list = {.components = components, .folder = folder, .below = "", .error = error};
    if (is_there(folder, "model_index.json")) {
        if (!read_list(&list, "model_index.json", scan_pipeline)) return false;
    } else if (is_there(folder, "modular_model_index.json")) {
        if (!read_list(&list, "modular_model_index.json", scan_modular)) return false;
    } else if (is_there(folder, "modules.json")) {
        if (!read_list(&list, "modules.json", scan_modules) || !read_routers(&list)) return false;
    }
    if (is_single(components)) components->list.count = 0;
    return true;
}

struct shapeproof_components *shapeproof_components_open(const char *path, struct shapeproof_error *error)
{
    SP_CALL(error, NULL);
    SP_SPENDS("reading it");
    struct sp_folder folder;
    bool ok = true;
    sp_fault_begin(error);
    struct shapeproof_components *components = sp_realloc(NULL, 1, sizeof *components);
    *components = (struct shapeproof_components){.path = NULL};
    components->path = sp_arena_string(&components->arena, path);
    if (sp_folder_open(&folder, components->path)) {
        ok = read_lists(components, &folder, error);
        sp_folder_close(&folder);
    }
    if (sp_fault_end(error) && ok) return components;
    shapeproof_components_free(components);
    return NULL;
}

void shapeproof_components_free(struct shapeproof_components *components)
{
    if (!components) return;
    sp_free(components->list.items);
    sp_arena_free(&components->arena);
    sp_free(components);
}

const char *shapeproof_components_path(const struct shapeproof_components *components) { return components->path; }
size_t shapeproof_component_count(const struct shapeproof_components *components) { return components->list.count; }

void shapeproof_component_leave_out(struct shapeproof_components *components, size_t index, const char *note)
{
    components->list.items[index].state = SHAPEPROOF_COMPONENT_PLAIN;
    components->list.items[index].note = note;
}

const struct shapeproof_component *shapeproof_component(const struct shapeproof_components *components, size_t index)
{
    return &components->list.items[index];
}
