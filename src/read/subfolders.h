/* SPDX-License-Identifier: MIT
 * A directory without a checkpoint: what is said of it, and where below it there are some. */
#ifndef SP_READ_SUBFOLDERS_H
#define SP_READ_SUBFOLDERS_H

#include "read/folder.h"

/* Fails with what the directory is, as far as that shows, and names the subfolders that hold checkpoints. */
bool sp_folder_refuse_empty(const struct sp_folder *folder, struct shapeproof_error *error);

/* The subfolders that hold checkpoints of their own, quoted, in the arena; NULL when there are none. */
const char *sp_folder_checkpoints_below(const struct sp_folder *folder, struct sp_arena *arena);

/* Whether at least two names are alike but for their last number: "checkpoint-500", "epoch3.pt". */
bool sp_are_steps(const char *const *names, size_t count);

#endif
