/* SPDX-License-Identifier: MIT
 * The configuration of a model as a graph of layers. What Keras 1, 2 and 3 write differs in how a call is written
 * down: [["in", 0, 0, {}]] before Keras 3, {"args": [{"class_name": "__keras_tensor__", ...}]} since. */
#include <stdlib.h>

#include "base/chars.h"
#include "keras/model.h"

static const char *config_word(struct shapeproof_value object, const char *key)
{
    const struct shapeproof_value value = sp_value_member(object, key);
    return value.type == SHAPEPROOF_VALUE_STRING ? value.string : "";
}

/* ---- classes ---- */

static const struct sp_keras_class classes[] = {
#define CLASS(name, part, rule, takes, axes, cell) {#name, part, SP_KERAS_##rule, SP_KERAS_TAKES_##takes, axes, cell},
#include "keras/classes.def"
#undef CLASS
};

const struct sp_keras_class *sp_keras_class(const char *name)
{
    for (size_t i = 0; i < sizeof classes / sizeof *classes; i++)
        if (strcmp(classes[i].name, name) == 0) return &classes[i];
    return NULL;
}

static bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }
static bool is_lower(char c) { return c >= 'a' && c <= 'z'; }

/* Whether a word begins at [i]: a capital behind anything that small letters follow, or behind a small letter. */
static bool begins_word(const char *name, size_t i)
{
    if (!i || !is_upper(name[i])) return false;
    return is_lower(name[i + 1]) || is_lower(name[i - 1]);
}

const char *sp_keras_snake(struct sp_arena *arena, const char *name)
{
    struct sp_text text = {0};
    for (size_t i = 0; name[i]; i++) {
        const char c = is_upper(name[i]) ? (char)(name[i] - 'A' + 'a') : name[i];
        if (!sp_is_word(c)) continue;
        if (begins_word(name, i)) sp_text_puts(&text, "_");
        sp_text_append(&text, &c, 1);
    }
    return sp_text_keep(&text, arena);
}

static bool is_of_keras(const char *package)
{
    static const char *const packages[] = {"keras", "tf_keras", "tensorflow", "Custom>CustomScaleLayer"};
    for (size_t i = 0; i < sizeof packages / sizeof *packages; i++)
        if (strncmp(package, packages[i], strlen(packages[i])) == 0) return true;
    return false;
}

/* Whether a class is somebody's own, who may have called it as Keras calls another: it is registered under a package,
 * or comes from a module, that is none of Keras, or is registered without a module. */
static bool is_foreign(struct shapeproof_value entry)
{
    const char *registered = config_word(entry, "registered_name"), *class_name = config_word(entry, "class_name");
    const char *module = config_word(entry, "module");
    if (*module && is_of_keras(module)) return false;
    if (strchr(class_name, '>')) return !is_of_keras(class_name);
    if (strchr(registered, '>')) return !is_of_keras(registered);
    return *module || *registered;
}

struct sp_keras_kind sp_keras_kind(struct sp_arena *arena, struct shapeproof_value entry, const char *key)
{
    struct sp_keras_kind kind = {.class_name = config_word(entry, "class_name"),
                                 .config = sp_value_member(entry, "config")};
    const char *behind = strrchr(kind.class_name, '>'); /* "package>Class" */
    if (behind) kind.class_name = behind + 1;
    if (strcmp(kind.class_name, "GroupQueryAttention") == 0) kind.class_name = "GroupedQueryAttention"; /* its own */
    kind.is_foreign = is_foreign(entry);
    kind.class = kind.is_foreign ? NULL : sp_keras_class(kind.class_name);
    kind.name = config_word(kind.config, "name");
    if (!*kind.name) kind.name = config_word(entry, "name");
    kind.key = sp_arena_printf(arena, "%s.config", key);
    return kind;
}

struct sp_keras_kind sp_keras_within(struct sp_arena *arena, const struct sp_keras_kind *kind, const char *key)
{
    const char *path = sp_arena_printf(arena, "%s.%s", kind->key, key);
    struct sp_keras_kind inner = sp_keras_kind(arena, sp_value_member(kind->config, key), path);
    inner.wrapped = kind->wrapped;
    return inner;
}

/* ---- models ---- */

static struct shapeproof_value layers_of(struct shapeproof_value entry)
{
    const struct shapeproof_value config = sp_value_member(entry, "config");
    return config.type == SHAPEPROOF_VALUE_LIST ? config : sp_value_member(config, "layers");
}

bool sp_keras_is_model(struct shapeproof_value entry)
{
    const char *class_name = entry.type == SHAPEPROOF_VALUE_OBJECT ? config_word(entry, "class_name") : "";
    return *class_name && strcmp(class_name, "Merge") != 0 && layers_of(entry).type == SHAPEPROOF_VALUE_LIST;
}

/* A name of the language that no other layer of the model has: letters, digits and "_", which it does not begin with.
 */
static const char *new_layer_key(struct sp_arena *arena, struct sp_map *keys, const char *name)
{
    static const char *const reserved[] = {"and", "as",  "buffer",   "default", "false", "for",  "from", "if",
                                           "in",  "not", "optional", "or",      "same",  "true", "was",  "with"};
    char *key = sp_arena_string(arena, *name ? name : "layer");
    for (char *c = key; *c; c++)
        if (!sp_is_word(*c)) *c = '_';
    if (*key == '_' || sp_is_digit(*key) || SP_IS_AMONG(key, reserved)) key = sp_arena_printf(arena, "layer_%s", key);
    const char *unique = key;
    for (size_t i = 2; !sp_map_add(keys, unique, 0); i++) unique = sp_arena_printf(arena, "%s__%zu", key, i);
    return unique;
}

struct parsing {
    struct sp_arena *arena;
    struct shapeproof_error *error;
    unsigned depth;
};

/* ---- calls ---- */

/* What is collected of a call while it is walked through. */
struct call {
    struct parsing *parsing;
    struct sp_keras_model *model;
    struct sp_keras_layer *layer; /* that is called: a name may stand for one that comes later */
    struct sp_keras_ref *refs;
    size_t count, capacity;
};

static struct sp_keras_layer *layer_of_call(struct sp_keras_model *model, const char *name)
{
    const size_t index = sp_map_get(&model->names, name);
    return index == SIZE_MAX ? NULL : &model->layers[index];
}

static void add_ref(struct call *call, struct shapeproof_value history, struct shapeproof_value recorded,
                    const char *word)
{
    if (history.type != SHAPEPROOF_VALUE_LIST || history.count < 3 || history.items[0].type != SHAPEPROOF_VALUE_STRING)
        return;
    if (history.items[1].type != SHAPEPROOF_VALUE_INT || history.items[2].type != SHAPEPROOF_VALUE_INT) return;
    SP_GROW(call->refs, call->count, call->capacity);
    call->refs[call->count++] = (struct sp_keras_ref){.layer = layer_of_call(call->model, history.items[0].string),
                                                      .node = (size_t)history.items[1].integer,
                                                      .tensor = (size_t)history.items[2].integer,
                                                      .recorded = recorded,
                                                      .word = word};
}

/* Keras 3: tensors anywhere in lists and objects. */
static void walk_arguments(struct call *call, struct shapeproof_value value, const char *word, unsigned depth)
{
    if (depth > 8) return;
    if (value.type == SHAPEPROOF_VALUE_LIST)
        for (size_t i = 0; i < value.count; i++) walk_arguments(call, value.items[i], word, depth + 1);
    if (value.type != SHAPEPROOF_VALUE_OBJECT) return;
    const struct shapeproof_value config = sp_value_member(value, "config");
    if (strcmp(config_word(value, "class_name"), "__keras_tensor__") == 0)
        add_ref(call, sp_value_member(config, "keras_history"), sp_value_member(config, "shape"), word);
    else
        for (size_t i = 0; i < value.count; i++)
            walk_arguments(call, value.members[i].value, word ? word : value.members[i].key, depth + 1);
}

/* Before Keras 3: ["in", 0, 0, {"value": ["other", 0, 0]}]. */
static void walk_history(struct call *call, struct shapeproof_value history)
{
    add_ref(call, history, sp_value_absent(""), NULL);
    if (history.type != SHAPEPROOF_VALUE_LIST || history.count < 4 || history.items[3].type != SHAPEPROOF_VALUE_OBJECT)
        return;
    const struct shapeproof_value words = history.items[3];
    for (size_t i = 0; i < words.count; i++)
        add_ref(call, words.members[i].value, sp_value_absent(""), words.members[i].key);
}

static void read_call(struct call *call, struct shapeproof_value written)
{
    if (written.type == SHAPEPROOF_VALUE_OBJECT) {
        walk_arguments(call, sp_value_member(written, "args"), NULL, 0);
        walk_arguments(call, sp_value_member(written, "kwargs"), NULL, 0);
    } else if (written.type == SHAPEPROOF_VALUE_LIST && written.count &&
               written.items[0].type == SHAPEPROOF_VALUE_STRING) {
        walk_history(call, written);
    } else if (written.type == SHAPEPROOF_VALUE_LIST) {
        for (size_t i = 0; i < written.count; i++) walk_history(call, written.items[i]);
    }
}

/* Whether a call of an embedding is told to go back: embedding(x, reverse=True). */
static bool is_reverse(struct shapeproof_value written)
{
    const struct shapeproof_value args = sp_value_member(written, "args");
    return sp_value_is_true(sp_value_member(sp_value_member(written, "kwargs"), "reverse")) ||
           (args.type == SHAPEPROOF_VALUE_LIST && args.count > 1 && sp_value_is_true(args.items[1]));
}

static void keep_call(struct call *call, struct sp_keras_node *node)
{
    node->count = call->count;
    node->refs = sp_arena_array(call->parsing->arena, call->count, sizeof *node->refs);
    if (call->count) memcpy(node->refs, call->refs, call->count * sizeof *node->refs);
    sp_free(call->refs);
}

static void read_calls(struct parsing *parsing, struct sp_keras_model *model, struct sp_keras_layer *layer,
                       struct shapeproof_value calls)
{
    layer->node_count = calls.type == SHAPEPROOF_VALUE_LIST ? calls.count : 0;
    layer->nodes = sp_arena_array(parsing->arena, layer->node_count, sizeof *layer->nodes);
    for (size_t i = 0; i < layer->node_count; i++) {
        struct call call = {parsing, model, layer, NULL, 0, 0};
        read_call(&call, calls.items[i]);
        layer->nodes[i].reverse = calls.items[i].type == SHAPEPROOF_VALUE_OBJECT && is_reverse(calls.items[i]);
        keep_call(&call, &layer->nodes[i]);
    }
}

/* In a sequential model each layer is called with what comes out of the one before. */
static void chain_layers(struct parsing *parsing, struct sp_keras_model *model)
{
    for (size_t i = 0; i < model->count; i++) {
        struct sp_keras_layer *layer = &model->layers[i];
        layer->node_count = 1;
        layer->nodes = sp_arena_alloc(parsing->arena, sizeof *layer->nodes);
        if (!i) continue;
        layer->nodes->count = 1;
        layer->nodes->refs = sp_arena_alloc(parsing->arena, sizeof *layer->nodes->refs);
        *layer->nodes->refs = (struct sp_keras_ref){.layer = &model->layers[i - 1]};
    }
}

/* ---- layers ---- */

static struct sp_keras_model *parse_model(struct parsing *parsing, struct shapeproof_value entry, const char *path,
                                          struct sp_keras_layer *outer);

/* "kernel_size": [3, 3] as 3, which Keras takes as well: then a trial changes one number instead of two. */
static struct shapeproof_value with_one_size(struct sp_arena *arena, struct shapeproof_value config)
{
    const struct shapeproof_value sizes = sp_value_member(config, "kernel_size");
    if (sizes.type != SHAPEPROOF_VALUE_LIST || !sizes.count) return config;
    for (size_t i = 0; i < sizes.count; i++)
        if (sizes.items[i].type != SHAPEPROOF_VALUE_INT || sizes.items[i].integer != sizes.items[0].integer)
            return config;
    return sp_value_with(arena, config, "kernel_size", sizes.items[0]);
}

/* The configuration of a layer that is around a model, maybe not at once: the layers of that model by their keys. */
static bool parse_wrapped(struct parsing *parsing, struct sp_keras_kind *kind, struct shapeproof_value *config,
                          const char *path)
{
    struct sp_arena *arena = parsing->arena;
    struct shapeproof_value entry = sp_value_member(*config, "layer"), inner = sp_value_member(entry, "config");
    if (entry.type != SHAPEPROOF_VALUE_OBJECT) return true;
    path = sp_arena_printf(arena, "%s.layer.config", path);
    if (sp_keras_is_model(entry)) {
        kind->wrapped = parse_model(parsing, entry, path, NULL);
        if (!kind->wrapped) return false;
        inner = kind->wrapped->root;
        entry = sp_value_with(arena, entry, "class_name", sp_value_string("Functional"));
    } else if (!parse_wrapped(parsing, kind, &inner, path)) {
        return false;
    }
    if (kind->wrapped) *config = sp_value_with(arena, *config, "layer", sp_value_with(arena, entry, "config", inner));
    return true;
}

/* False with an error, which only a model within the layer can have. */
static bool parse_layer(struct parsing *parsing, struct sp_keras_model *model, struct sp_keras_layer *layer,
                        struct shapeproof_value entry, const char *key, const char *path)
{
    layer->kind = sp_keras_kind(parsing->arena, entry, "");
    layer->kind.key = sp_arena_printf(parsing->arena, "%s%s%s", path, *path ? "." : "", key);
    layer->kind.config = with_one_size(parsing->arena, layer->kind.config);
    layer->owner = model;
    layer->build = sp_value_member(entry, "build_config");
    layer->is_operation = strncmp(config_word(entry, "module"), "keras.src.ops", 13) == 0;
    if (!sp_keras_is_model(entry)) return parse_wrapped(parsing, &layer->kind, &layer->kind.config, layer->kind.key);
    layer->inner = parse_model(parsing, entry, layer->kind.key, layer);
    return layer->inner != NULL;
}

/* Reads the layers of a model, gives each a key of its own, and makes the configuration by these keys. */
static bool parse_layers(struct parsing *parsing, struct sp_keras_model *model, struct shapeproof_value layers,
                         const char *path)
{
    struct sp_map keys = {0};
    struct shapeproof_member *members = sp_arena_array(parsing->arena, layers.count, sizeof *members);
    bool good = true;
    for (size_t i = 0; i < layers.count && good; i++) {
        struct sp_keras_layer *layer = &model->layers[i];
        const struct sp_keras_kind kind = sp_keras_kind(parsing->arena, layers.items[i], "");
        const char *key = new_layer_key(parsing->arena, &keys, kind.name);
        good = parse_layer(parsing, model, layer, layers.items[i], key, path);
        const char *name = config_word(layers.items[i], "name"); /* as calls have it */
        sp_map_add(&model->names, *name ? name : kind.name, i);
        members[i] = (struct shapeproof_member){key, layer->inner ? layer->inner->root : layer->kind.config};
    }
    sp_map_free(&keys);
    model->root = (struct shapeproof_value){.type = SHAPEPROOF_VALUE_OBJECT, .count = layers.count, .members = members};
    return good;
}

/* The model that `entry`, {"class_name": ..., "config": {...}}, is, with its layers; nested models are read in the same
 * way, as layers. A sequential model connects each layer to the next one; a functional one lists its connections in
 * inbound_nodes. `path` is where its layers stand in the configuration of the table, "" for the whole model; `outer`
 * the layer that it is the inside of, or NULL. NULL with an error. */
static struct sp_keras_model *parse_model(struct parsing *parsing, struct shapeproof_value entry, const char *path,
                                          struct sp_keras_layer *outer)
{
    const struct shapeproof_value config = sp_value_member(entry, "config"), layers = layers_of(entry);
    struct sp_keras_model *model = sp_arena_alloc(parsing->arena, sizeof *model);
    model->count = layers.count;
    model->layers = sp_arena_array(parsing->arena, layers.count, sizeof *model->layers);
    model->outer = outer;
    model->outputs = sp_value_member(config, "output_layers");
    model->is_sequential = !sp_value_is_set(model->outputs);
    model->built = sp_value_member(config, "build_input_shape");
    if (!sp_value_is_set(model->built))
        model->built = sp_value_member(sp_value_member(entry, "build_config"), "input_shape");
    bool good = true;
    if (++parsing->depth > SP_KERAS_MAX_NESTED)
        good = sp_fail(parsing->error, SHAPEPROOF_ERR_TABLE, SHAPEPROOF_KIND_MALFORMED,
                       "models within one another, more than %d deep", SP_KERAS_MAX_NESTED);
    good = good && parse_layers(parsing, model, layers, path);
    parsing->depth--;
    if (good && model->is_sequential) chain_layers(parsing, model);
    for (size_t i = 0; good && !model->is_sequential && i < model->count; i++)
        read_calls(parsing, model, &model->layers[i], sp_value_member(layers.items[i], "inbound_nodes"));
    if (good) return model;
    sp_keras_forget(model);
    return NULL;
}

struct sp_keras_model *sp_keras_parse(struct sp_arena *arena, struct shapeproof_value entry,
                                      struct shapeproof_error *error)
{
    struct parsing parsing = {arena, error, 0};
    return parse_model(&parsing, entry, "", NULL);
}

void sp_keras_forget(struct sp_keras_model *model)
{
    if (!model) return;
    for (size_t i = 0; i < model->count; i++) {
        sp_keras_forget(model->layers[i].inner);
        sp_keras_forget(model->layers[i].kind.wrapped);
    }
    sp_map_free(&model->names);
}
