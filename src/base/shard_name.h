/* SPDX-License-Identifier: MIT
 * Names of shards that are numbered: "model-00002-of-00003.safetensors". */
#ifndef SP_BASE_SHARD_NAME_H
#define SP_BASE_SHARD_NAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sp_shard_name {
    size_t stem, digits; /* bytes before the number, and of it */
    uint32_t number, of;
    const char *suffix; /* ".safetensors", in the name */
};

/* False for every other name, that of an index as well. */
bool sp_shard_name_read(const char *name, struct sp_shard_name *shard);

#endif
