/* SPDX-License-Identifier: MIT
 * A folder with the files of ranks as one checkpoint. */
#ifndef SP_READ_RANKS_FOLDER_H
#define SP_READ_RANKS_FOLDER_H

#include "read/folder.h"

/* Reads it, and finishes the inventory; *mine is false, and nothing done, when there are none. */
bool sp_ranks_read(const struct sp_folder *folder, bool *mine, struct shapeproof_inventory *inventory,
                   struct shapeproof_error *error);

#endif
