/* SPDX-License-Identifier: MIT
 * Which file of a folder a loader takes. */
#ifndef SP_LOAD_FOLDER_H
#define SP_LOAD_FOLDER_H

#include <stdbool.h>

#include "base/arena.h"
#include "load/loader.h"

bool sp_is_folder(const char *path);
/* Whether the folder has a regular file of that name. */
bool sp_has_file(const char *folder, const char *name);
/* The name of the file that the loader takes of a folder; NULL when there is none that it knows. */
const char *sp_loader_file(const struct sp_loader *loader, const char *folder);
/* The VARIANT of a file that would be one of the loader's if it were called without: "fp16" of model.fp16.safetensors.
 * In the arena; NULL for any other file. */
const char *sp_loader_variant(struct sp_arena *arena, const struct sp_loader *loader, const char *file);

#endif
