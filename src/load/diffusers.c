/* SPDX-License-Identifier: MIT
 * diffusers: from_pretrained of the class that _class_name names, by the rows of diffusers.def.
 *
 * Names are those of the model's state dict; in a single file those that attention had in old ones are known as well.
 * Another shape is an error. What is unexpected is dropped, and what is missing is left without values, on torch's meta
 * device, so that the model can neither be moved nor run; neither is an error. An index of safetensors comes before a
 * single file; one of pickles is not looked for. */
#include "load/rows.h"

static const char rows[] =
#include "load/diffusers.def"
    ;

static const char *const taken_files[] = {"diffusion_pytorch_model.safetensors.index.json",
                                          "diffusion_pytorch_model.safetensors", "diffusion_pytorch_model.bin", NULL};
static const char *const taken_formats[] = {"safetensors", "torch-zip", "torch-legacy", NULL};

const struct sp_loader sp_loader_diffusers = {.id = "diffusers",
                                              .name = "diffusers",
                                              .files = taken_files,
                                              .formats = taken_formats,
                                              .rows = SP_ROWS(rows),
                                              .class_key = "_class_name",
                                              .renames = true,
                                              .shards_as_named = true,
                                              .spares = true,
                                              .leaves_empty = true};
