/* SPDX-License-Identifier: MIT
 * A directory as a checkpoint: which of its files is meant. */
#ifndef SP_READ_DIRECTORY_H
#define SP_READ_DIRECTORY_H

#include "read/folder.h"

/* Chooses as the frameworks do when they are given the directory, and reads the choice as one finished inventory. */
bool sp_directory_read(const struct sp_folder *folder, struct shapeproof_inventory *inventory,
                       struct shapeproof_error *error);

/* Reads all pieces in the folder that belong to the piece `first` by their names, as one finished inventory. */
bool sp_directory_read_pieces(const struct sp_folder *folder, const char *first, struct shapeproof_inventory *inventory,
                              struct shapeproof_error *error);

/* Reads the file `name` of the folder, with those that it stands for: the shards of an index, the pieces of a GGUF
 * model. */
bool sp_directory_read_file(const struct sp_folder *folder, const char *name, struct shapeproof_inventory *inventory,
                            struct shapeproof_error *error);

/* By its name alone: not what trainers leave beside one. */
bool sp_may_be_checkpoint(const char *name);
/* True for *.index.json. */
bool sp_is_index_name(const char *name);

#endif
