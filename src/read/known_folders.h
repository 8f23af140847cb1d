/* SPDX-License-Identifier: MIT
 * Directories without a checkpoint of their own that are known by what lies in them: a model in the cache of the
 * Hugging Face hub, whose files are in a snapshot, and what other frameworks save as a folder. */
#ifndef SP_READ_KNOWN_FOLDERS_H
#define SP_READ_KNOWN_FOLDERS_H

#include "read/folder.h"

/* The snapshot that `refs/main` of a cached model names and that is there, "snapshots/1f2e"; NULL when there is none.
 */
const char *sp_hub_snapshot(const struct sp_folder *folder, struct sp_arena *arena);
/* True, with an error that says what the directory is, when it is one of those. */
bool sp_folder_is_known(const struct sp_folder *folder, struct shapeproof_error *error);

#endif
