/* SPDX-License-Identifier: MIT
 * Configurations name Python code, which a loader imports from the folder of the model or from another repository:
 *
 *   config.json       {"auto_map": {"AutoModel": "modeling_own.OwnModel"}}                  modeling_own.py
 *   config.json       {"custom_pipelines": {"task": {"impl": "pipeline_own.Own"}}}          pipeline_own.py
 *   modules.json      [{"path": "", "type": "own_module.Own"}]                              own_module.py
 *   model_index.json  {"_class_name": ["own_pipeline", "Own"], "unet": ["own_unet", "Own"]} own_pipeline.py,
 *                                                                                           unet/own_unet.py
 *
 * "org/name--modeling_own.OwnModel" is code of another repository.
 *
 * A model that can generate runs custom_generate/generate.py without being told.
 *
 * A file of code that is not there is not run. */
#define _GNU_SOURCE /* O_DIRECTORY, O_CLOEXEC */
#include "read/local_code.h"

#include <fcntl.h>
#include <string.h>

#include "base/chars.h"
#include "base/fault.h"
#include "base/json_scan.h"
#include "base/names.h"

enum { MAX_DOCUMENT = 16 << 20 /* bytes, as for a configuration */ };

/* A document while it is read. */
struct document {
    const struct sp_folder *folder;
    const char *name; /* "config.json"; in the folder above "../modules.json" */
    struct sp_json json;
    struct shapeproof_inventory *inventory;
    bool is_asked; /* the loader runs code only if its caller says trust_remote_code=True */
};

/* ---- what is named ---- */

static void warn_of_code(const struct document *document, const char *what)
{
    sp_inventory_warn(document->inventory, "%s names %s: loading the model%s would run it",
                      sp_quote(document->name).text, what, document->is_asked ? " with trust_remote_code=True" : "");
}

/* Warns of MODULE.py in the subfolder, or "" for the folder itself, if it is there. `module` may have a path in it,
 * which is not followed. */
static void judge_module(const struct document *document, const char *subfolder, const char *module)
{
    struct sp_arena *arena = &document->inventory->arena;
    const char *file = sp_arena_printf(arena, "%s%s%.250s.py", subfolder, *subfolder ? "/" : "", module);
    const bool is_path = strchr(module, '/') || strchr(subfolder, '/');
    if (is_path || sp_path_exists(document->folder->fd, file)) warn_of_code(document, sp_quote(file).text);
}

/* Judges "module.Class" or "org/name--module.Class". */
static void judge_reference(const struct document *document, const char *reference)
{
    struct sp_arena *arena = &document->inventory->arena;
    const char *repository_end = strstr(reference, "--"), *dot = strchr(reference, '.');
    if (repository_end) {
        const char *repository = sp_arena_copy(arena, reference, (size_t)(repository_end - reference));
        warn_of_code(document, sp_arena_printf(arena, "code of the repository %s", sp_quote(repository).text));
    } else if (dot) judge_module(document, "", sp_arena_copy(arena, reference, (size_t)(dot - reference)));
}

/* Judges the activation of a module of sentence-transformers, which is imported and called:
 * "torch.nn.modules.activation.Tanh". Names without a module, such as "gelu", are not imported. */
static void judge_activation(const struct document *document, const char *name)
{
    static const char *const packages[] = {"torch.", "transformers.", "sentence_transformers."};
    const char *last = strrchr(name, '.');
    if (!last || !sp_is_word(last[1]) || sp_is_digit(last[1])) return;
    if (SP_BEGINS_WITH_ANY(name, packages)) return;
    sp_inventory_warn(document->inventory, "%s names %s: loading the model would import and call it",
                      sp_quote(document->name).text, sp_quote(name).text);
}

/* ---- the documents ---- */

/* Reads a configuration. `key`: of the value; `in_map`: the strings in it are references to code, as in
 * auto_map and at "impl" of custom_pipelines. */
static void scan_config(struct document *document, const char *key, bool in_map, unsigned depth)
{
    static const char *const activations[] = {"activation_function", "activation_fn",
                                              "sbert_ce_default_activation_function"};
    struct sp_json *json = &document->json;
    const char next = sp_json_peek(json), *inner;
    if (depth >= SP_JSON_DEPTH) {
        sp_malformed(json->error, "nested too deeply");
    } else if (next == '{') {
        sp_json_open(json, '{');
        for (bool first = true; (inner = sp_json_member(json, &first));)
            scan_config(document, inner, in_map || !strcmp(inner, "auto_map") || !strcmp(inner, "impl"), depth + 1);
    } else if (next == '[') {
        sp_json_open(json, '[');
        for (bool first = true; sp_json_item(json, &first);) scan_config(document, key, in_map, depth + 1);
    } else if (next == '"' && (in_map || SP_IS_AMONG(key, activations))) {
        const char *text = sp_json_string(json);
        if (text && in_map) judge_reference(document, text);
        else if (text) judge_activation(document, text);
    } else sp_json_skip(json, &(size_t){0});
}

static void read_config(struct document *document)
{
    document->is_asked = true;
    scan_config(document, "", false, 0);
}

/* Reads the types of the modules: those in a list, and of a router {"types": {"query_0_Dense": TYPE}}. */
static void scan_types(struct document *document, bool in_types, unsigned depth)
{
    struct sp_json *json = &document->json;
    const char next = sp_json_peek(json), *key, *text;
    if (depth >= SP_JSON_DEPTH) {
        sp_malformed(json->error, "nested too deeply");
    } else if (next == '[') {
        sp_json_open(json, '[');
        for (bool first = true; sp_json_item(json, &first);) scan_types(document, in_types, depth + 1);
    } else if (next == '{') {
        sp_json_open(json, '{');
        for (bool first = true; (key = sp_json_member(json, &first));)
            scan_types(document, in_types || !strcmp(key, "type") || !strcmp(key, "types"), depth + 1);
    } else if (next == '"' && in_types) {
        if ((text = sp_json_string(json)) && !sp_begins_with(text, "sentence_transformers."))
            judge_reference(document, text);
    } else sp_json_skip(json, &(size_t){0});
}

static void read_types(struct document *document) { scan_types(document, false, 0); }

/* Reads a pipeline: of each ["library", "Class"] the library may be a file in the folder of the component, or beside
 * the list for the class of the pipeline itself. */
static void read_pipeline(struct document *document)
{
    struct sp_json *json = &document->json;
    const char *key;
    if (!sp_json_open(json, '{')) return;
    for (bool first = true; (key = sp_json_member(json, &first));) {
        if (sp_json_peek(json) != '[') {
            sp_json_skip(json, &(size_t){0});
            continue;
        }
        sp_json_open(json, '[');
        size_t number = 0;
        for (bool begin = true; sp_json_item(json, &begin); number++) {
            const char *module = number == 0 && sp_json_peek(json) == '"' ? sp_json_string(json) : NULL;
            if (module) judge_module(document, *key == '_' ? "" : key, module);
            else sp_json_skip(json, &(size_t){0});
        }
    }
}

/* Whether the text of a document that is no JSON, for example because it has a NaN, may name code all the same. */
static bool may_name_code(const char *text) { return strstr(text, "auto_map") || strstr(text, "\\u"); }

static void judge_document(struct document *document, void (*scan)(struct document *))
{
    struct shapeproof_error why = {0};
    struct sp_file file;
    bool named = true;
    const char *base = sp_base_name(document->name);
    if (!sp_path_exists(document->folder->fd, base)) return;
    document->json = (struct sp_json){.what = "configuration", .error = &why};
    if (sp_file_open(&file, document->folder->fd, base, &why)) {
        document->json.length = (size_t)file.size;
        document->json.text = sp_file_slurp(&file, MAX_DOCUMENT, &why);
        named = !document->json.text || may_name_code(document->json.text);
        sp_file_close(&file);
    }
    if (document->json.text && sp_json_check(&document->json)) {
        scan(document);
        sp_json_end(&document->json);
    }
    sp_free(document->json.text);
    if (why.status && named)
        sp_inventory_warn(document->inventory, "%s is not read, so that it is not known what code it names: %s",
                          sp_quote(document->name).text, why.message);
}

static const struct {
    const char *name;
    void (*scan)(struct document *);
    bool is_list; /* of models, which are in folders below */
} documents[] = {
    {"config.json", read_config, false},
    {"tokenizer_config.json", read_config, false},
    {"processor_config.json", read_config, false},
    {"preprocessor_config.json", read_config, false},
    {"video_preprocessor_config.json", read_config, false},
    {"modular_config.json", read_config, false},
    {"router_config.json", read_types, false},
    {"modules.json", read_types, true},
    {"model_index.json", read_pipeline, true},
    {"modular_model_index.json", read_pipeline, true},
};

static void judge_folder(const struct sp_folder *folder, bool lists, const char *prefix,
                         struct shapeproof_inventory *inventory)
{
    for (size_t i = 0; i < sizeof documents / sizeof *documents; i++) {
        struct document document = {.folder = folder, .inventory = inventory};
        if (lists && !documents[i].is_list) continue;
        document.name = sp_arena_printf(&inventory->arena, "%s%s", prefix, documents[i].name);
        judge_document(&document, documents[i].scan);
    }
}

/* Warns of the code that generate() of transformers runs, which no configuration has to name. */
static void judge_generation(const struct sp_folder *folder, struct shapeproof_inventory *inventory)
{
    static const char code[] = "custom_generate/generate.py";
    if (sp_path_exists(folder->fd, code))
        sp_inventory_warn(inventory, "'%s': loading the model with trust_remote_code=True would run it", code);
}

void sp_local_code_judge(const struct sp_folder *folder, struct shapeproof_inventory *inventory)
{
    judge_generation(folder, inventory);
    judge_folder(folder, false, "", inventory);
    struct sp_folder above = {.fd = sp_hold_fd(openat(folder->fd, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC)),
                              .path = ".."};
    if (above.fd < 0) return;
    judge_folder(&above, true, "../", inventory);
    sp_close(above.fd);
}
