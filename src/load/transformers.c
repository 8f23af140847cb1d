/* SPDX-License-Identifier: MIT
 * transformers 5, and torch below it: the names and rules of transformers.def; and transformers 4, transformers4.def.
 *
 * from_pretrained renames every name by the mappings of the class and of its modules, then by those for old files, and
 * adds or takes away the name of the base model when there is such a tensor then. What is missing is newly initialised
 * and what is unexpected dropped; another shape is an error. load_state_dict(strict=True) does nothing of that: the
 * names have to be those of the model in memory, all of them.
 *
 * transformers 4 has few renamings and no conversions, and looks at the file as a whole for the name of the base model:
 * it is in front of some name, or else it is put in front of all. */
#include "load/rows.h"

/* Each file is read twice: for its rules, and for its classes. */
#define RULE SP_RULE

#define MAPPING(...) SP_MAPPING(__VA_ARGS__),
#define LOADED(...)
static const struct sp_mapping mappings[] = {
#include "load/transformers.def"
};
static const struct sp_mapping old_mappings[] = {
#include "load/transformers4.def"
};
#undef MAPPING
#undef LOADED

#define MAPPING(...)
#define LOADED(of_type, of_class, of_base, of_ties, of_spared, of_ignored, of_mappings, of_computed, of_brittle,       \
               of_unread)                                                                                              \
    {.model_type = of_type,                                                                                            \
     .class = of_class,                                                                                                \
     .base = of_base,                                                                                                  \
     .ties = of_ties,                                                                                                  \
     .spared = of_spared,                                                                                              \
     .ignored = of_ignored,                                                                                            \
     .mappings = of_mappings,                                                                                          \
     .computed = of_computed,                                                                                          \
     .brittle = of_brittle,                                                                                            \
     .unread = of_unread},
static const struct sp_loaded classes[] = {
#include "load/transformers.def"
};
static const struct sp_loaded old_classes[] = {
#include "load/transformers4.def"
};
#undef MAPPING
#undef LOADED

#define ROWS(of_mappings, of_classes)                                                                                  \
    .mappings = of_mappings, .mapping_count = sizeof of_mappings / sizeof *of_mappings, .classes = of_classes,         \
    .class_count = sizeof of_classes / sizeof *of_classes, .by_class = true

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
                                                 .counts_labels = true,
                                                 ROWS(mappings, classes)};

const struct sp_loader sp_loader_transformers4 = {.id = "transformers-4",
                                                  .name = "transformers 4",
                                                  .version = "4.57.6",
                                                  .variant_of = "transformers",
                                                  .files = taken_files,
                                                  .formats = taken_formats,
                                                  .renames = true,
                                                  .spares = true,
                                                  .ties = true,
                                                  .ties_by_text = true,
                                                  .one_renaming = true,
                                                  .base_of_file = true,
                                                  .ignores_computed = true,
                                                  ROWS(old_mappings, old_classes)};

static const char *const any_file[] = {NULL};

const struct sp_loader sp_loader_torch = {.id = "torch",
                                          .name = "torch's strict loading",
                                          .files = any_file,
                                          .formats = taken_formats,
                                          .strict = true,
                                          .forgiven = "(^|\\.)num_batches_tracked$",
                                          .counts_labels = true,
                                          ROWS(mappings, classes)};
