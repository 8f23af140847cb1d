/* SPDX-License-Identifier: MIT */
#include "model/keras_code.h"

#include <string.h>

#include "base/chars.h"
#include "base/names.h"

/* The string at a key; "" for anything else. */
static const char *string_at(struct shapeproof_value object, const char *key)
{
    const struct shapeproof_value value = sp_value_member(object, key);
    return value.type == SHAPEPROOF_VALUE_STRING ? value.string : "";
}

/* Whether a module is one of Keras' packages, which hold layers and functions of models and nothing else that Keras
 * takes from them; or the running program itself, which the file cannot choose. */
static bool is_own_module(const char *module)
{
    static const char *const packages[] = {"keras",     "tf_keras",   "keras_hub", "keras_cv",
                                           "keras_nlp", "tensorflow", "__main__"};
    const size_t length = strcspn(module, ".");
    for (size_t i = 0; i < sizeof packages / sizeof *packages; i++)
        if (strlen(packages[i]) == length && strncmp(module, packages[i], length) == 0) return true;
    return false;
}

/* Whether a module of Keras or TensorFlow has functions of models alone: keras.activations, keras.src.ops.nn. Others
 * open files or fetch them, such as keras.utils.get_file, which releases before 3.9 call. The packages of models keep
 * activations in their utilities. */
static bool has_functions_of_models(const char *module)
{
    static const char *const parts[] = {"activations", "initializers", "losses", "metrics", "regularizers",
                                        "constraints", "ops",          "layers", "backend", "random"};
    static const char *const others[] = {"keras_hub", "keras_cv", "keras_nlp", "__main__"};
    if (SP_BEGINS_WITH_ANY(module, others)) return true;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        const size_t length = strlen(parts[i]);
        for (const char *at = strchr(module, '.'); at; at = strchr(at + 1, '.'))
            if (sp_begins_with(at + 1, parts[i]) && (!at[1 + length] || at[1 + length] == '.')) return true;
    }
    return sp_begins_with(module, "tensorflow.nn") || sp_begins_with(module, "tensorflow.math") || !strchr(module, '.');
}

/* Functions of a module of models that fetch or open files. */
static bool is_code_of_keras(const char *name)
{
    static const char *const prefixes[] = {"get_file", "load_",    "save_", "read_",
                                           "write_",   "download", "open",  "import_"};
    return SP_BEGINS_WITH_ANY(name, prefixes);
}

/* Python's built-in functions that run code or open files. Keras writes its own functions, such as relu, as if they
 * were built in, and releases before 3.9 look up the others there. */
static bool is_code_of_builtins(const char *name)
{
    static const char *const names[] = {"__import__", "breakpoint", "compile", "delattr", "eval", "exec",    "execfile",
                                        "getattr",    "globals",    "input",   "locals",  "open", "setattr", "vars"};
    return SP_IS_AMONG(name, names);
}

/* TFOpLambda calls a function of TensorFlow by its name: those that reach for files or call Python back. */
static bool is_code_of_tensorflow(const char *name)
{
    static const char *const prefixes[] = {"io.",   "py_f",   "numpy_function", "raw_ops.",    "data.",  "saved_model.",
                                           "load_", "train.", "summary.",       "distribute.", "compat."};
    return SP_BEGINS_WITH_ANY(name, prefixes);
}

/* Layers of Keras that run what their configuration holds. */
static const struct code_layer {
    const char *class_name, *does; /* `does`: what loading the model would do */
} code_layers[] = {
    {"Lambda", "run the Python code in its configuration"},
    {"TorchModuleWrapper", "unpickle the module of torch in its configuration"},
    {"TFSMLayer", "run the SavedModel that its configuration names"},
};

/* The row of a class, whose name may have a package in front: "keras.layers>Lambda". NULL for any other class. */
static const struct code_layer *find_code_layer(const char *class_name)
{
    const char *package_end = strrchr(class_name, '>');
    for (size_t i = 0; i < sizeof code_layers / sizeof *code_layers; i++)
        if (strcmp(package_end ? package_end + 1 : class_name, code_layers[i].class_name) == 0) return &code_layers[i];
    return NULL;
}

/* Judges one object that names a class or a function:
 *
 *     {"class_name": "Lambda", "config": {"name": "mean", ...}}              a layer with Python code
 *     {"class_name": "TorchModuleWrapper", "config": {"module": "UEsD..."}}  a layer with a pickle
 *     {"class_name": "__lambda__", ...}                                      a function with Python code
 *     {"class_name": "TFOpLambda", "config": {"function": "io.read_file"}}   a call of TensorFlow
 *     {"class_name": "function", "module": "os", "config": "system"}         a name that is imported and called
 *     {"class_name": "function", "module": "keras.utils", "config": "get_file"}   a function that is not of models
 *
 * Fills `name` with what runs and `where` with the sentence about it; leaves both empty if it is harmless. */
static void judge_entry(struct shapeproof_value entry, struct sp_text *name, struct sp_text *where)
{
    const struct shapeproof_value config = sp_value_member(entry, "config");
    const char *class_name = string_at(entry, "class_name"), *module = string_at(entry, "module");
    const struct code_layer *code = find_code_layer(class_name);
    const char *layer = string_at(config, "name");
    const bool is_function = strcmp(class_name, "function") == 0;
    const char *called = is_function && config.type == SHAPEPROOF_VALUE_STRING ? config.string : class_name;
    const bool is_of_builtins = strcmp(module, "builtins") == 0;
    const bool reaches = is_function && (!has_functions_of_models(module) || is_code_of_keras(called));
    const bool is_foreign =
        is_of_builtins ? is_function && is_code_of_builtins(called) : !is_own_module(module) || reaches;
    if (!*layer) layer = string_at(entry, "name");
    if (code) {
        sp_text_printf(name, "keras.layers.%s", code->class_name);
        sp_text_printf(where, "the layer %s is a %s: loading the model would %s", sp_quote(layer).text,
                       code->class_name, code->does);
    } else if (strcmp(class_name, "__lambda__") == 0) {
        sp_text_puts(name, class_name);
        sp_text_puts(where, "a function in the configuration is Python code, which loading the model would run");
    } else if (strcmp(class_name, "TFOpLambda") == 0 && is_code_of_tensorflow(string_at(config, "function"))) {
        sp_text_printf(name, "tf.%s", string_at(config, "function"));
        sp_text_printf(where, "the layer %s calls %s by its name, which is no computation on tensors",
                       sp_quote(layer).text, sp_quote(name->data).text);
    } else if (*module && is_foreign) {
        sp_text_printf(name, "%s.%s", module, called);
        sp_text_printf(where, "the configuration names %s, which loading the model would import and call",
                       sp_quote(name->data).text);
    }
}

void sp_keras_code_each(struct shapeproof_value root, sp_keras_code_found *found, void *to)
{
    if (root.type == SHAPEPROOF_VALUE_LIST)
        for (size_t i = 0; i < root.count; i++) sp_keras_code_each(root.items[i], found, to);
    if (root.type != SHAPEPROOF_VALUE_OBJECT) return;
    if (*string_at(root, "class_name")) {
        struct sp_text name = {0}, where = {0};
        judge_entry(root, &name, &where);
        if (name.length) found(to, name.data, where.data);
        sp_text_free(&name);
        sp_text_free(&where);
    }
    for (size_t i = 0; i < root.count; i++) sp_keras_code_each(root.members[i].value, found, to);
}
