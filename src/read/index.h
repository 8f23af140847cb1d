/* SPDX-License-Identifier: MIT
 * An index (model.safetensors.index.json, pytorch_model.bin.index.json): which shard holds which tensor. */
#ifndef SP_READ_INDEX_H
#define SP_READ_INDEX_H

#include "read/folder.h"

/* Reads the index `name` and all its shards as one finished inventory. What the index claims and the shards do not
 * hold, or the other way round, becomes warnings. */
bool sp_index_read(const struct sp_folder *folder, const char *name, struct shapeproof_inventory *inventory,
                   struct shapeproof_error *error);

/* A name of a file without a way to it: what a stranger's list may name. */
bool sp_is_plain_name(const char *name);

#endif
