/* SPDX-License-Identifier: MIT
 * Open addressing with linear probing, at most half full; a multiplicative hash with a random factor. */
#include "base/map.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#include "base/arena.h"

struct sp_map_slot {
    const char *key;
    uint64_t hash;
    size_t value;
};

static uint64_t new_seed(void)
{
    uint64_t seed = 0;
    if (getrandom(&seed, sizeof seed, GRND_NONBLOCK) != (ssize_t)sizeof seed) seed ^= (uint64_t)time(NULL);
    return seed;
}

/* Both halves of the product with a secret factor: no choice of words cancels out for every seed. */
static uint64_t mix(uint64_t seed, uint64_t hash, uint64_t word)
{
    const unsigned __int128 product = (unsigned __int128)(hash ^ word) * (seed | 1);
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* Eight bytes at a time. */
static uint64_t hash_of(uint64_t seed, const char *key)
{
    const size_t length = strlen(key);
    uint64_t hash = mix(seed, seed, length + 0x9e3779b97f4a7c15U), word = 0;
    size_t done = 0;
    for (; length - done >= sizeof word; done += sizeof word) {
        memcpy(&word, key + done, sizeof word);
        hash = mix(seed, hash, word);
    }
    word = 0;
    memcpy(&word, key + done, length - done);
    return mix(seed, hash, word);
}

static struct sp_map_slot *find(const struct sp_map *map, const char *key, uint64_t hash)
{
    size_t i = hash & (map->capacity - 1);
    while (map->slots[i].key && (map->slots[i].hash != hash || strcmp(map->slots[i].key, key) != 0))
        i = (i + 1) & (map->capacity - 1);
    return &map->slots[i];
}

static void grow(struct sp_map *map)
{
    struct sp_map old = *map;
    if (!old.capacity) map->seed = new_seed();
    map->capacity = old.capacity ? old.capacity * 2 : 64;
    map->slots = sp_realloc(NULL, map->capacity, sizeof *map->slots);
    memset(map->slots, 0, map->capacity * sizeof *map->slots);
    for (size_t i = 0; i < old.capacity; i++)
        if (old.slots[i].key) *find(map, old.slots[i].key, old.slots[i].hash) = old.slots[i];
    free(old.slots);
}

static struct sp_map_slot *slot_for(struct sp_map *map, const char *key, uint64_t *hash)
{
    if (map->count * 2 >= map->capacity) grow(map);
    *hash = hash_of(map->seed, key);
    return find(map, key, *hash);
}

bool sp_map_add(struct sp_map *map, const char *key, size_t value)
{
    uint64_t hash;
    struct sp_map_slot *slot = slot_for(map, key, &hash);
    if (slot->key) return false;
    *slot = (struct sp_map_slot){key, hash, value};
    map->count++;
    return true;
}

void sp_map_set(struct sp_map *map, const char *key, size_t value)
{
    uint64_t hash;
    struct sp_map_slot *slot = slot_for(map, key, &hash);
    if (!slot->key) map->count++;
    *slot = (struct sp_map_slot){slot->key ? slot->key : key, hash, value};
}

size_t sp_map_get(const struct sp_map *map, const char *key)
{
    if (!map->count) return SIZE_MAX;
    const struct sp_map_slot *slot = find(map, key, hash_of(map->seed, key));
    return slot->key ? slot->value : SIZE_MAX;
}

void sp_map_free(struct sp_map *map)
{
    free(map->slots);
    *map = (struct sp_map){0};
}
