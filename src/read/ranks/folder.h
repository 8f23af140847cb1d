/* SPDX-License-Identifier: MIT
 * A folder with the files of ranks as one checkpoint. */
#ifndef SP_READ_RANKS_FOLDER_H
#define SP_READ_RANKS_FOLDER_H

#include "read/folder.h"
#include "read/reader.h"

/* Reads the files of ranks, and finishes the inventory. Where there are none, *are_ranks is false and nothing was done;
 * it is true as well when the folder cannot be listed, which is an error. */
bool sp_ranks_read(const struct sp_folder *folder, bool *are_ranks, struct shapeproof_inventory *inventory,
                   struct shapeproof_error *error);
/* Reads the files again that an inventory was read from (inventory->of_ranks), and adds a source of the tensors that
 * are put together from several of them. The folder must outlive the places. False with an error. */
bool sp_ranks_locate(const struct sp_folder *folder, struct sp_data_places *places, struct shapeproof_error *error);

#endif
