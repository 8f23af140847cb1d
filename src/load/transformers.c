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

static const char rows[] =
#include "load/transformers.def"
    ;
static const char old_rows[] =
#include "load/transformers4.def"
    ;

/* A single file wins over an index beside it, safetensors over pickles. */
static const char *const taken_files[] = {"model.safetensors", "model.safetensors.index.json", "pytorch_model.bin",
                                          "pytorch_model.bin.index.json", NULL};
static const char *const taken_formats[] = {"safetensors", "torch-zip", "torch-legacy", NULL};

const struct sp_loader sp_loader_transformers = {.id = "transformers",
                                                 .name = "transformers 5",
                                                 .version = "5.24.0",
                                                 .own_releases = "5.",
                                                 .files = taken_files,
                                                 .formats = taken_formats,
                                                 .renames = true,
                                                 .spares = true,
                                                 .ties = true,
                                                 .counts_labels = true,
                                                 .infers_dtype = true,
                                                 .adds_adapter = true,
                                                 .unpacks = "fp8",
                                                 .minds_kinds = true,
                                                 .refuses_sparse = true,
                                                 .maps_archives = true,
                                                 .rows = SP_ROWS(rows),
                                                 .by_class = true};

/* The heads of RoBERTa and ALBERT, and of those that are like them, tie the bias that is outside the decoder to the one
 * within it; that of BERT does the opposite. */
static const char own_biases[] = "(^|\\.)lm_head\\.decoder\\.bias$|^predictions\\.decoder\\.bias$";

const struct sp_loader sp_loader_transformers4 = {.id = "transformers-4",
                                                  .name = "transformers 4",
                                                  .version = "4.57.6",
                                                  .variant_of = "transformers",
                                                  .files = taken_files,
                                                  .formats = taken_formats,
                                                  .renames = true,
                                                  .spares = true,
                                                  .ties = true,
                                                  .ties_over = true,
                                                  .preferred = own_biases,
                                                  .maps_archives = true,
                                                  .ties_by_text = true,
                                                  .one_renaming = true,
                                                  .base_of_file = true,
                                                  .ignores_computed = true,
                                                  .adds_adapter = true,
                                                  .base_of_adapter = true,
                                                  .rows = SP_ROWS(old_rows),
                                                  .by_class = true};

static const char *const any_file[] = {NULL};

const struct sp_loader sp_loader_torch = {.id = "torch",
                                          .name = "torch's strict loading",
                                          .version = "5.24.0",
                                          .own_releases = "5.",
                                          .minds_kinds = true,
                                          .files = any_file,
                                          .formats = taken_formats,
                                          .strict = true,
                                          .refuses_sparse = true,
                                          .forgiven = "(^|\\.)num_batches_tracked$",
                                          .counts_labels = true,
                                          .rows = SP_ROWS(rows),
                                          .by_class = true};
