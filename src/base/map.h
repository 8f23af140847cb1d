/* SPDX-License-Identifier: MIT
 * A hash map from strings to indices. The hash is seeded, since attackers choose tensor names.
 * Keys are borrowed. Zero-initialise; free with sp_map_free. */
#ifndef SP_BASE_MAP_H
#define SP_BASE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sp_map {
    struct sp_map_entry *entries;
    struct sp_map_slot *slots;
    size_t count, slot_count;
    uint64_t seed;
};

/* Makes room for that many keys, when their number is known. */
void sp_map_reserve(struct sp_map *map, size_t count);
/* Inserts `key` -> `value`; when the key is there already nothing changes and false is returned. */
bool sp_map_add(struct sp_map *map, const char *key, size_t value);
/* The value of `key`, or SIZE_MAX. */
size_t sp_map_get(const struct sp_map *map, const char *key);
/* Replaces or inserts. */
void sp_map_set(struct sp_map *map, const char *key, size_t value);
void sp_map_free(struct sp_map *map);

#endif
