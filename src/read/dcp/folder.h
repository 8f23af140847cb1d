/* SPDX-License-Identifier: MIT
 * A distributed checkpoint in its folder. */
#ifndef SP_READ_DCP_FOLDER_H
#define SP_READ_DCP_FOLDER_H

#include "read/folder.h"
#include "read/reader.h"

/* ".metadata", and what a rank writes that has no coordinator, "__0.metadata". */
bool sp_is_dcp_name(const char *name);
/* Reads the pickles of those names as one checkpoint, looks for the files that they name, and finishes the inventory.
 */
bool sp_dcp_read(const struct sp_folder *folder, const char *const *names, size_t count,
                 struct shapeproof_inventory *inventory, struct shapeproof_error *error);

/* "shard-00002-model-00001-of-00001.safetensors": its rank, 2. */
bool sp_is_dcp_shard(const char *name, uint32_t *rank);
/* Reads such files as one checkpoint, and finishes the inventory. */
bool sp_dcp_read_shards(const struct sp_folder *folder, const char *const *names, size_t count,
                        struct shapeproof_inventory *inventory, struct shapeproof_error *error);

/* Reads the files again that an inventory was read from (inventory->described) by one of the functions above, and adds
 * a source of the data to the places of the inventory. The folder must outlive it. */
bool sp_dcp_locate(const struct sp_folder *folder, struct sp_data_places *places, struct shapeproof_error *error);

/* What `metadata.json` of Megatron names as the backend, "torch_dist" or "zarr"; NULL without one. */
const char *sp_megatron_backend(const struct sp_folder *folder, struct sp_arena *arena);
/* Refuses one that is not read. Returns false. */
bool sp_megatron_refuse(const struct sp_folder *folder, const char *backend, struct shapeproof_error *error);

#endif
