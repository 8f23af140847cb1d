/* SPDX-License-Identifier: MIT
 * transformers 5, and torch below it: the names and rules of transformers.def.
 *
 * from_pretrained renames every name by the mappings of the class and of its modules, then by those for old files, and
 * adds or takes away the name of the base model when there is such a tensor then. What is missing is newly initialised
 * and what is unexpected dropped; another shape is an error. load_state_dict(strict=True) does nothing of that: the
 * names have to be those of the model in memory, all of them. */
#include "load/loader.h"

static const struct sp_mapping mappings[] = {
#define RULE(from, to, how)                                                                                            \
    {                                                                                                                  \
        from, to, how                                                                                                  \
    }
#define MAPPING(identifier, ...)                                                                                       \
    {identifier, (const struct sp_rule[]){__VA_ARGS__},                                                                \
     sizeof((const struct sp_rule[]){__VA_ARGS__}) / sizeof(struct sp_rule)},
#define LOADED(...)
#include "load/transformers.def"
#undef LOADED
#undef MAPPING
};

static const struct sp_loaded classes[] = {
#define MAPPING(...)
#define LOADED(...) {__VA_ARGS__, NULL, NULL},
#include "load/transformers.def"
#undef LOADED
#undef MAPPING
};

#define OF_TRANSFORMERS                                                                                                \
    .mappings = mappings, .mapping_count = sizeof mappings / sizeof *mappings, .classes = classes,                     \
    .class_count = sizeof classes / sizeof *classes, .by_class = true

/* A single file wins over an index beside it, safetensors over pickles. */
static const char *const taken_files[] = {"model.safetensors", "model.safetensors.index.json", "pytorch_model.bin",
                                          "pytorch_model.bin.index.json", NULL};
static const char *const taken_formats[] = {"safetensors", "torch-zip", "torch-legacy", NULL};

const struct sp_loader sp_loader_transformers = {.id = "transformers",
                                                 .name = "transformers 5",
                                                 .files = taken_files,
                                                 .formats = taken_formats,
                                                 .renames = true,
                                                 .spares = true,
                                                 .ties = true,
                                                 OF_TRANSFORMERS};

static const char *const any_file[] = {NULL};

const struct sp_loader sp_loader_torch = {.id = "torch",
                                          .name = "torch's strict loading",
                                          .files = any_file,
                                          .formats = taken_formats,
                                          .strict = true,
                                          OF_TRANSFORMERS};
