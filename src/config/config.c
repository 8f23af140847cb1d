/* SPDX-License-Identifier: MIT */
#define _POSIX_C_SOURCE 200809L
#include "config/config.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "base/call.h"
#include "base/chars.h"
#include "base/checked.h"
#include "base/fault.h"
#include "base/file.h"
#include "base/names.h"
#include "base/step_name.h"
#include "base/utf8.h"
#include "base/value.h"
#include "config/choose.h"
#include "config/inside.h"
#include "config/sockeye.h"
#include "config/variables.h"
#include "config/yaml.h"
#include "model/keras_code.h"

/* ---- descriptions of quantisation beside the file ---- */

enum { MAX_FILE = 4 << 20 };

static const struct {
    const char *name, *method;
    const char *within; /* the key that has it all, or NULL */
    const char *sign;   /* a key without which it is another file of that name */
} files[] = {
    {"hf_quant_config.json", "modelopt", "quantization", "quant_algo"},
    {"quantize_config.json", "gptq", NULL, "bits"},
    {"quant_config.json", "awq", NULL, "w_bit"},
};

/* The value of a JSON file, or an absent value. *why is the reason if the file exists and cannot be read, else NULL. */
static struct shapeproof_value read_json(struct sp_arena *arena, const char *path, const char **why)
{
    struct shapeproof_value value = sp_value_absent("");
    struct shapeproof_error error = {0};
    struct sp_file file;
    *why = NULL;
    if (!sp_file_open(&file, AT_FDCWD, path, &error)) {
        if (sp_path_is_there(AT_FDCWD, path)) *why = sp_arena_string(arena, error.message);
        return value;
    }
    char *text = sp_file_slurp(&file, MAX_FILE, &error);
    if (!text || !sp_value_parse_json(arena, text, (size_t)file.size, &value, &error)) {
        value = sp_value_absent("");
        *why = sp_arena_string(arena, error.message);
    }
    sp_free(text);
    sp_file_close(&file);
    return value;
}

/* The same object with the method that the file is about, if it names none. */
static struct shapeproof_value with_method(struct sp_arena *arena, struct shapeproof_value object, const char *method)
{
    if (sp_value_is_set(sp_value_member(object, "quant_method"))) return object;
    struct shapeproof_member *members = sp_arena_array(arena, object.count + 1, sizeof *members);
    members[0] = (struct shapeproof_member){"quant_method", sp_value_string(method)};
    memcpy(members + 1, object.members, object.count * sizeof *members);
    return (struct shapeproof_value){.type = SHAPEPROOF_VALUE_OBJECT, .count = object.count + 1, .members = members};
}

/* Some quantisers leave config.json as it is and write a file of their own. What that says of the folder of the
 * configuration at `path`, as quantization_config would say it; absent when there is no such file. `name` is that of
 * the file; static. *unread is a sentence about the first of them that cannot be read, or NULL. */
static struct shapeproof_value quantised_beside(struct sp_arena *arena, const char *path, const char **name,
                                                const char **unread)
{
    const char *why;
    *unread = NULL;
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        const char *beside = sp_arena_printf(arena, "%.*s%s", (int)(sp_base_name(path) - path), path, files[i].name);
        struct shapeproof_value object = read_json(arena, beside, &why);
        if (why && !*unread)
            *unread =
                sp_arena_printf(arena, "%s, which describes a quantisation, cannot be read: %s", files[i].name, why);
        if (files[i].within) object = sp_value_member(object, files[i].within);
        if (!sp_value_is_set(sp_value_member(object, files[i].sign))) continue;
        *name = files[i].name;
        return with_method(arena, object, files[i].method);
    }
    return sp_value_absent("quantization_config");
}

/* ---- config ---- */

enum { MAX_CONFIG = 16 << 20 };

static void rebuild(struct shapeproof_config *config);

struct shapeproof_config *shapeproof_config_new(void)
{
    SP_CALL(NULL, NULL);
    SP_SPENDS("reading the configuration");
    struct shapeproof_config *config = sp_realloc(NULL, 1, sizeof *config);
    *config = (struct shapeproof_config){.path = "", .place = "", .file_root = {.type = SHAPEPROOF_VALUE_OBJECT}};
    rebuild(config);
    return config;
}

void shapeproof_config_free(struct shapeproof_config *config)
{
    if (!config) return;
    sp_free(config->settings);
    sp_free(config->overrides);
    if (config->owns_variables) sp_variables_free(config->variables);
    sp_arena_free(&config->arena);
    sp_free(config);
}

const char *shapeproof_config_path(const struct shapeproof_config *config) { return config->path; }
const char *shapeproof_config_place(const struct shapeproof_config *config) { return config->place; }
const struct sp_hyper *sp_config_hyper(const struct shapeproof_config *config) { return &config->hyper; }

void sp_config_reuse(const struct shapeproof_config *config)
{
    if (config) sp_budget_reuse(config, "", config->input);
}

void sp_config_keep(struct shapeproof_config *config)
{
    sp_keep(config, config, sizeof *config);
    sp_keep(config, config->settings, config->setting_count * sizeof *config->settings);
    sp_keep(config, config->overrides, config->setting_count * sizeof *config->overrides);
}

/* ---- settings ---- */

/* Makes the hyper-parameters anew: the file's values with the settings on top of them. */
static void rebuild(struct shapeproof_config *config)
{
    /* Keys that no table need read, because other code does: to choose the table, to find how its tensors are stored,
     * or to count a vocabulary. The last ones are arguments of PyTorch's layers on which no shape depends. A setting of
     * any of them is never reported as unused. */
    static const char *const read_elsewhere[] = {"quantization_config",
                                                 "quantization",
                                                 "compression_config",
                                                 "dtype",
                                                 "torch_dtype",
                                                 "shapeproof_table",
                                                 "model_type",
                                                 "architectures",
                                                 "_class_name",
                                                 "architecture",
                                                 "version",
                                                 "transformers_version",
                                                 "train_bpe_src",
                                                 "train_bpe_trg",
                                                 "word_min_count",
                                                 "num_words",
                                                 "pad_vocab_to_multiple_of",
                                                 "bpe_symbols_src",
                                                 "bpe_symbols_trg",
                                                 "shared_vocab",
                                                 "weight_tying",
                                                 "weight_tying_type",
                                                 "nhead",
                                                 "stride",
                                                 "padding",
                                                 "dilation"};
    struct shapeproof_value root = config->file_root;
    for (size_t i = 0; i < config->setting_count; i++)
        root = sp_value_with(&config->arena, root, config->settings[i].path, config->settings[i].value);
    config->hyper = (struct sp_hyper){.root = root,
                                      .file = config->label ? config->label : sp_base_name(config->path),
                                      .overrides = config->overrides,
                                      .override_count = config->setting_count,
                                      .other_keys = read_elsewhere,
                                      .other_key_count = sizeof read_elsewhere / sizeof *read_elsewhere,
                                      .scope = config->scope,
                                      .loose = config->loose};
}

/* Appends a setting, which wins over earlier ones of the same path. The hyper-parameters are those of the file and the
 * earlier settings, which are not gone through again. */
static void add_setting(struct shapeproof_config *config, struct sp_setting setting, struct shapeproof_provenance from)
{
    SP_GROW(config->settings, config->setting_count, config->setting_capacity);
    if (config->override_capacity < config->setting_capacity) {
        config->overrides =
            sp_grow(config->overrides, config->override_capacity, config->setting_capacity, sizeof *config->overrides);
        config->override_capacity = config->setting_capacity;
    }
    config->settings[config->setting_count] = setting;
    config->overrides[config->setting_count++] = (struct sp_override){setting.path, from};
    config->hyper.root = sp_value_with(&config->arena, config->hyper.root, setting.path, setting.value);
    config->hyper.overrides = config->overrides;
    config->hyper.override_count = config->setting_count;
}

void sp_config_set_value(struct shapeproof_config *config, const char *path, struct shapeproof_value value,
                         const char *from)
{
    add_setting(config, (struct sp_setting){.path = sp_arena_string(&config->arena, path), .value = value},
                sp_provenance_other(from));
}

void sp_config_derive(struct shapeproof_config *config, const char *path, struct shapeproof_value value,
                      const char *from)
{
    const char *kept = sp_arena_string(&config->arena, from);
    add_setting(config,
                (struct sp_setting){.path = sp_arena_string(&config->arena, path), .value = value, .derived = true},
                sp_provenance_other(kept));
}

void shapeproof_config_name_class(struct shapeproof_config *config, const char *class_name, const char *from)
{
    SP_CALL(NULL, );
    SP_SPENDS("reading the configuration");
    sp_config_keep(config);
    static const char *const keys[] = {"_class_name", "model_type", "architectures", "architecture",
                                       "shapeproof_table"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (sp_value_is_set(sp_value_member(config->hyper.root, keys[i]))) return;
    const struct shapeproof_value value = sp_value_string(sp_arena_string(&config->arena, class_name));
    sp_config_derive(config, keys[0], value, from);
}

/* Drops what the files beside the one that was loaded before said. */
static void forget_derived(struct shapeproof_config *config)
{
    size_t kept = 0;
    for (size_t i = 0; i < config->setting_count; i++) {
        if (config->settings[i].derived) continue;
        config->settings[kept] = config->settings[i];
        config->overrides[kept++] = config->overrides[i];
    }
    if (kept == config->setting_count) return;
    config->setting_count = kept;
    rebuild(config);
}

void sp_config_set_model(struct shapeproof_config *config, struct shapeproof_value root, const char *name)
{
    forget_derived(config);
    config->path = config->place = "";
    config->remark_count = 0;
    config->model = name;
    sp_config_compose(config, root, name, NULL);
}

enum shapeproof_status shapeproof_config_set(struct shapeproof_config *config, const char *setting,
                                             struct shapeproof_error *error)
{
    SP_CALL(error, SHAPEPROOF_ERR_FILE);
    SP_SPENDS("reading the configuration");
    sp_config_keep(config);
    sp_error_reset(error);
    const char *equals = strchr(setting, '=');
    struct shapeproof_error not_json = {0}; /* then the value is a text: name=gpt2 needs no quotes */
    struct shapeproof_value value;
    if (!equals || equals == setting) {
        sp_fail(error, SHAPEPROOF_ERR_USAGE, SHAPEPROOF_KIND_NONE, "'%s': expected key=value", setting);
        return error->status;
    }
    const char *path = sp_arena_copy(&config->arena, setting, (size_t)(equals - setting));
    if (*path == '.' || equals[-1] == '.' || strstr(path, "..")) {
        sp_fail(error, SHAPEPROOF_ERR_USAGE, SHAPEPROOF_KIND_NONE, "'%s': expected a key on each side of a dot",
                setting);
        return error->status;
    }
    if (!sp_value_parse_json(&config->arena, equals + 1, strlen(equals + 1), &value, &not_json))
        value = sp_value_string(sp_arena_string(&config->arena, equals + 1));
    config->input = sp_add_saturated(config->input, strlen(setting));
    add_setting(config, (struct sp_setting){.path = path, .value = value},
                (struct shapeproof_provenance){.source = SHAPEPROOF_SOURCE_SETTING});
    return SHAPEPROOF_OK;
}

struct shapeproof_config *sp_config_variant(const struct shapeproof_config *config)
{
    return sp_config_without(config, SHAPEPROOF_NONE);
}

struct shapeproof_config *sp_config_without(const struct shapeproof_config *config, size_t left_out)
{
    struct shapeproof_config *variant = shapeproof_config_new();
    variant->path = config->path;
    variant->place = config->place;
    variant->file_root = config->file_root;
    variant->original = config->original;
    memcpy(variant->remarks, config->remarks, sizeof variant->remarks);
    variant->remark_count = config->remark_count;
    variant->storage = config->storage;
    variant->loose = config->loose;
    variant->label = config->label;
    variant->model = config->model;
    variant->variables = config->variables;
    rebuild(variant);
    for (size_t i = 0; i < config->setting_count; i++) {
        if (i == left_out) continue;
        struct sp_setting setting = config->settings[i];
        /* copied, because a variant of a variant may outlive the one that it was made from */
        setting.path = sp_arena_string(&variant->arena, setting.path);
        add_setting(variant, setting, config->overrides[i].from);
    }
    return variant;
}

void sp_config_set_root(struct shapeproof_config *config, struct shapeproof_value root)
{
    config->file_root = root;
    rebuild(config);
}

void sp_config_compose(struct shapeproof_config *config, struct shapeproof_value root, const char *label,
                       struct sp_variables *variables)
{
    if (config->owns_variables) sp_variables_free(config->variables);
    config->variables = variables;
    config->owns_variables = variables != NULL;
    config->label = label;
    sp_config_set_root(config, root);
}

void sp_config_limit(struct shapeproof_config *config, const struct sp_scope *scope)
{
    config->scope = scope;
    config->hyper.scope = scope;
}

void sp_config_loosen(struct shapeproof_config *config)
{
    config->loose = true;
    rebuild(config);
}

void sp_config_store(struct shapeproof_config *config, const struct sp_storage *storage) { config->storage = storage; }

/* ---- files ---- */

/* Sockeye's `config` has no suffix, and was JSON before it was YAML. */
static bool is_yaml(const char *path, const char *text)
{
    if (sp_ends_with(path, ".yaml") || sp_ends_with(path, ".yml")) return true;
    return strcmp(sp_base_name(path), "config") == 0 && text[strspn(text, " \t\r\n")] != '{';
}

/* The text as a value, in the format that its path and its beginning tell; false with the error. */
static bool parse_text(struct sp_arena *arena, const char *path, const char *text, size_t length,
                       struct shapeproof_value *root, struct sp_value_repeats *repeats, struct shapeproof_error *error)
{
    if (strncmp(text, "version https://git-lfs", 23) == 0)
        return sp_fail(error, SHAPEPROOF_ERR_TABLE, SHAPEPROOF_KIND_UNRECOGNISED,
                       "this is a git-lfs pointer, not the file itself (run 'git lfs pull')");
    if (sp_ends_with(path, ".hpm") || sp_ends_with(path, ".hpm-template")) {
        if (sp_utf8_check(text, length) < length || strlen(text) < length)
            return sp_fail(error, SHAPEPROOF_ERR_TABLE, SHAPEPROOF_KIND_MALFORMED, "expected UTF-8 text");
        return sp_hpm_parse(arena, text, root, error);
    }
    if (is_yaml(path, text)) return sp_yaml_parse(arena, text, length, root, repeats, error);
    return sp_value_parse_json_noting(arena, text, length, root, repeats, error);
}

size_t shapeproof_config_remark_count(const struct shapeproof_config *config) { return config->remark_count; }
const char *shapeproof_config_remark(const struct shapeproof_config *config, size_t index)
{
    return config->remarks[index];
}

static void add_remark(struct shapeproof_config *config, const char *remark)
{
    for (size_t i = 0; i < config->remark_count; i++)
        if (strcmp(config->remarks[i], remark) == 0) return;
    if (config->remark_count < SP_CONFIG_MAX_REMARKS) config->remarks[config->remark_count++] = remark;
}

static void remark_on_repeats(struct shapeproof_config *config, const struct sp_value_repeats *repeats)
{
    if (!repeats->count) return;
    const char *more =
        repeats->count > 1 ? sp_arena_printf(&config->arena, ", as %zu more are", repeats->count - 1) : "";
    add_remark(config,
               sp_arena_printf(&config->arena,
                               "the key %s is there more than once%s: the last value counts, as it does for Python",
                               sp_quote(repeats->first).text, more));
}

static void remark_on_code(void *to, const char *name, const char *where)
{
    struct shapeproof_config *config = to;
    (void)name;
    add_remark(config, sp_arena_printf(&config->arena, "%s; nothing was executed", where));
}

static void complete_sockeye(struct shapeproof_config *config, const char *version)
{
    sp_config_set_root(config, sp_sockeye_with_model_type(&config->arena, config->file_root, version));
    if (version) sp_config_derive(config, "version", sp_value_string(version), "the file version beside it");
}

static void complete_quantised(struct shapeproof_config *config)
{
    static const char *const keys[] = {"quantization_config", "quantization", "compression_config"};
    const char *name, *unread;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (sp_value_is_set(sp_value_member(config->file_root, keys[i]))) return;
    const struct shapeproof_value beside = quantised_beside(&config->arena, config->path, &name, &unread);
    if (unread) add_remark(config, unread);
    if (sp_value_is_set(beside)) sp_config_derive(config, "quantization_config", beside, name);
}

/* fully_shard of PyTorch makes a class of its own of each model that it divides, "FSDPLlamaForCausalLM", and
 * save_pretrained writes that name. The model is one of LlamaForCausalLM. */
static void complete_divided(struct shapeproof_config *config)
{
    static const char front[] = "FSDP";
    const size_t length = strlen(front);
    const char *class = sp_first_class(&config->hyper);
    if (strncmp(class, front, length) != 0 || class[length] < 'A' || class[length] > 'Z') return;
    struct shapeproof_value *item = sp_arena_alloc(&config->arena, sizeof *item);
    *item = sp_value_string(class + length);
    sp_config_derive(config, "architectures",
                     (struct shapeproof_value){.type = SHAPEPROOF_VALUE_LIST, .count = 1, .items = item},
                     "the name of the class without FSDP");
    add_remark(config,
               sp_arena_printf(&config->arena, "architectures names %s: that is what fully_shard of PyTorch calls %s",
                               sp_quote(class).text, class + length));
}

/* Takes the text of a configuration, JSON, YAML or .hpm, in place of what was loaded before. A JSON object that holds
 * the metadata of a GGUF file becomes a configuration of its table. If the text is that of a file, the keys that files
 * beside it tell are added: the version of Sockeye, or a description of how the weights are quantised. False with the
 * error. */
static bool parse_config(struct shapeproof_config *config, const char *path, const char *text, size_t length,
                         bool is_file, struct shapeproof_error *error)
{
    struct shapeproof_value root;
    struct sp_value_repeats repeats = {0};
    config->remark_count = 0;
    config->input = sp_add_saturated(config->input, length);
    if (!parse_text(&config->arena, path, text, length, &root, &repeats, error)) return false;
    if (root.type != SHAPEPROOF_VALUE_OBJECT)
        return sp_fail(error, SHAPEPROOF_ERR_TABLE, SHAPEPROOF_KIND_MALFORMED,
                       "expected an object of hyper-parameters, found %s", sp_value_kind(root.type));
    remark_on_repeats(config, &repeats);
    sp_keras_code_each(root, remark_on_code, config);
    root = sp_config_of_program_file(&config->arena, sp_config_of_gguf(&config->arena, root));
    sp_config_compose(config, root, NULL, NULL);
    config->place = "";
    config->path = sp_arena_string(&config->arena, path);
    forget_derived(config);
    if (sp_sockeye_is_config(root))
        complete_sockeye(config, is_file ? sp_sockeye_version(&config->arena, config->path) : NULL);
    else if (is_file) complete_quantised(config);
    complete_divided(config);
    rebuild(config);
    return true;
}

/* Whatever the format, a checkpoint has a byte near its beginning that no text has. */
static bool is_text(const struct sp_file *file)
{
    unsigned char bytes[8] = {0};
    struct shapeproof_error error = {0};
    const size_t length = file->size < sizeof bytes ? (size_t)file->size : sizeof bytes;
    if (!sp_file_read(file, 0, bytes, length, &error)) return true;
    for (size_t i = 0; i < length; i++)
        if (bytes[i] < ' ' && !strchr("\t\r\n", bytes[i])) return false;
    return true;
}

static bool load_text(struct shapeproof_config *config, const char *path, const struct sp_file *file,
                      struct shapeproof_error *error)
{
    char *text = sp_file_slurp(file, MAX_CONFIG, error);
    if (text) parse_config(config, path, text, (size_t)file->size, true, error);
    sp_free(text);
    return error->status == SHAPEPROOF_OK;
}

enum shapeproof_status shapeproof_config_load(struct shapeproof_config *config, const char *path,
                                              struct shapeproof_error *error)
{
    SP_CALL(error, SHAPEPROOF_ERR_FILE);
    SP_SPENDS("reading the configuration");
    sp_config_keep(config);
    sp_fault_begin(error);
    struct sp_file file;
    bool text = true;
    if (sp_file_open(&file, AT_FDCWD, path, error)) {
        text = is_text(&file);
        config->label = config->model = NULL;
        config->place = "";
        if (text) load_text(config, path, &file, error);
        else if (sp_config_load_checkpoint(config, path, error)) forget_derived(config);
        sp_file_close(&file);
    }
    if (sp_fault_end(error) && error->status == SHAPEPROOF_OK) return SHAPEPROOF_OK;
    error->status = SHAPEPROOF_ERR_TABLE; /* a configuration that cannot be read is a wrong configuration */
    if (text) sp_error_prefix(error, path);
    return error->status;
}

enum shapeproof_status shapeproof_config_load_text(struct shapeproof_config *config, const char *name, const char *text,
                                                   size_t length, struct shapeproof_error *error)
{
    SP_CALL(error, SHAPEPROOF_ERR_FILE);
    SP_SPENDS("reading the configuration");
    sp_config_keep(config);
    sp_error_reset(error);
    config->label = config->model = NULL;
    sp_budget_given(length);
    if (length > MAX_CONFIG)
        sp_fail(error, SHAPEPROOF_ERR_TABLE, SHAPEPROOF_KIND_LIMIT, "larger than %d bytes", MAX_CONFIG);
    else parse_config(config, name, sp_arena_copy(&config->arena, text, length), length, false, error);
    if (error->status == SHAPEPROOF_OK) return SHAPEPROOF_OK;
    error->status = SHAPEPROOF_ERR_TABLE;
    sp_error_prefix(error, name);
    return error->status;
}

/* Whether the folder, a path that ends with '/' or is empty, has one of the files; the path becomes that of the first.
 */
static bool find_in_folder(struct sp_text *path, const char *const *names, size_t count)
{
    const size_t folder = path->length;
    for (size_t i = 0; i < count; i++) {
        path->length = folder;
        sp_text_puts(path, names[i]);
        if (sp_path_may_be_file(AT_FDCWD, path->data)) return true;
    }
    path->length = folder;
    sp_text_puts(path, "");
    return false;
}

/* Whether the folder, a component of a path, is one that a training puts its steps into, or its models into a step. */
static bool is_of_training(const char *folder)
{
    static const char *const names[] = {"checkpoint*", "ckpt*",  "lightning_logs", "version_#", "pytorch_model_fsdp_#",
                                        "actor",       "critic", "backup",         "outputs"};
    struct sp_step_name step;
    if (sp_step_name_read(folder, false, &step)) return true;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (sp_file_pattern_matches(names[i], folder)) return true;
    return false;
}

/* Turns the path of a folder of a training, "run/checkpoints/step-20/", into that of the folder above,
 * "run/checkpoints/"; false when it is none by its name, and none of the files is beside it that say which step is the
 * last. */
static bool leave_step(struct sp_text *path)
{
    static const char *const marks[] = {"latest", "latest_checkpointed_iteration.txt"};
    size_t end = path->length;
    while (end && path->data[end - 1] == '/') end--;
    size_t begin = end;
    while (begin && path->data[begin - 1] != '/') begin--;
    if (begin == end || (end - begin <= 2 && path->data[begin] == '.')) return false; /* ".", ".." */
    struct sp_text mark = {0}, folder = {0};
    sp_text_append(&mark, path->data, begin);
    sp_text_append(&folder, path->data + begin, end - begin);
    const bool found = is_of_training(folder.data) || find_in_folder(&mark, marks, sizeof marks / sizeof *marks);
    sp_text_free(&mark);
    sp_text_free(&folder);
    path->length = begin;
    sp_text_puts(path, "");
    return found;
}

/* The deepest is "run/lightning_logs/version_0/checkpoints/". */
enum { MOST_LEVELS = 4 };

/* config.json is Hugging Face's, config Sockeye's; verl has what is Hugging Face's in a folder beside the ranks' files.
 */
static const char *const config_names[] = {"config.json", "config", "huggingface/config.json"};

/* Files of other programs, which may have the names of these: they count if their keys are those of the program. */
static const struct {
    const char *id, *name;
} program_files[] = {
#define BESIDE(id, name) {id, name},
#include "config/programs.def"
};

/* Whether the file is the configuration of the program. If it cannot be opened, or is broken and has the keys of the
 * program in its text, it is taken for one, so that the caller reports what is wrong with it. */
static bool is_file_of_program(const char *path, const char *id)
{
    struct sp_arena arena = {0};
    struct shapeproof_value root;
    struct sp_value_repeats repeats = {0};
    struct shapeproof_error ignored = {0};
    struct sp_file file;
    if (!sp_file_open(&file, AT_FDCWD, path, &ignored)) return true;
    char *text = sp_file_slurp(&file, MAX_CONFIG, &ignored);
    bool is_of_program = false;
    if (text && parse_text(&arena, path, text, (size_t)file.size, &root, &repeats, &ignored))
        is_of_program = sp_config_is_of_program(&arena, id, root);
    else if (text) is_of_program = sp_config_text_is_of_program(text, id);
    sp_free(text);
    sp_file_close(&file);
    sp_arena_free(&arena);
    return is_of_program;
}

/* The folder that the checkpoint is, or is in: a path that ends with '/' or is empty. */
static struct sp_text folder_of(const char *checkpoint_path)
{
    struct sp_text path = {0};
    const char *slash = strrchr(checkpoint_path, '/');
    if (sp_path_may_be_folder(AT_FDCWD, checkpoint_path)) sp_text_printf(&path, "%s/", checkpoint_path);
    else sp_text_append(&path, checkpoint_path, slash ? (size_t)(slash + 1 - checkpoint_path) : 0);
    return path;
}

/* One of those in the folder that the path is, or is in; NULL without one. On the heap. */
static char *config_in_folder(const char *checkpoint_path)
{
    struct sp_text path = folder_of(checkpoint_path);
    if (find_in_folder(&path, config_names, sizeof config_names / sizeof *config_names)) return path.data;
    sp_text_free(&path);
    return NULL;
}

/* The config.json of the first folder above it, where the path is of a step of a training; or NULL. On the heap. */
static char *config_above(const char *checkpoint_path)
{
    struct sp_text path = folder_of(checkpoint_path);
    for (size_t levels = 0; levels < MOST_LEVELS && leave_step(&path); levels++)
        if (find_in_folder(&path, config_names, 1)) return path.data;
    sp_text_free(&path);
    return NULL;
}

/* The configuration of a program in the folder that the path is, or is in; NULL without one. On the heap. */
static char *config_of_program(const char *checkpoint_path)
{
    struct sp_text path = folder_of(checkpoint_path);
    for (size_t i = 0; i < sizeof program_files / sizeof *program_files; i++)
        if (find_in_folder(&path, &program_files[i].name, 1)) {
            if (is_file_of_program(path.data, program_files[i].id)) return path.data;
            path.length -= strlen(program_files[i].name);
        }
    sp_text_free(&path);
    return NULL;
}

char *sp_config_beside(const char *checkpoint_path)
{
    char *found = config_in_folder(checkpoint_path);
    if (!found) found = config_above(checkpoint_path);
    return found ? found : config_of_program(checkpoint_path);
}

char *sp_config_unreadable_beside(const char *checkpoint_path)
{
    struct sp_text path = folder_of(checkpoint_path);
    sp_text_puts(&path, config_names[0]);
    if (sp_path_is_there(AT_FDCWD, path.data)) return path.data;
    sp_text_free(&path);
    return NULL;
}

char *shapeproof_config_beside(const char *checkpoint_path, struct shapeproof_error *error)
{
    SP_CALL(error, NULL);
    SP_SPENDS("reading the configuration");
    sp_search_begin(error);
    char *found = sp_config_beside(checkpoint_path);
    if (!found) found = sp_config_unreadable_beside(checkpoint_path);
    if (sp_search_end(found, error)) return found;
    sp_free(found);
    return NULL;
}
