/* SPDX-License-Identifier: MIT
 * The entries lie one after the other, as they came; beside them an index of 8 bytes a slot, at most three
 * quarters full, with linear probing: looking names up is bound by the cache, and the index of 100,000 names fits in
 * it. A multiplicative hash with a random factor. */
#include "base/map.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/system/system.h"

struct sp_map_entry {
    const char *key;
    size_t value;
};

struct sp_map_slot {
    uint32_t hash, entry; /* its number from 1; 0: the slot is free */
};

enum { LEAST_SLOTS = 64, MOST_SLOTS = 1 << 30 };

static size_t room_of(size_t slots) { return slots / 4 * 3; }

/* Another one for each map. */
static uint64_t new_seed(const struct sp_map *map) { return sp_system_random() ^ (uint64_t)(uintptr_t)map; }

/* Both halves of the product with a secret factor: no choice of words cancels out for every seed. */
static uint64_t mix(uint64_t seed, uint64_t hash, uint64_t word)
{
    const unsigned __int128 product = (unsigned __int128)(hash ^ word) * (seed | 1);
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* Eight bytes at a time. */
static uint32_t hash_of(uint64_t seed, const char *key)
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
    return (uint32_t)mix(seed, hash, word);
}

/* The slot of the key, or the free one where it would be. */
static struct sp_map_slot *find_slot(const struct sp_map *map, const char *key, uint32_t hash)
{
    const size_t mask = map->slot_count - 1;
    for (size_t i = hash & mask;; i = (i + 1) & mask) {
        struct sp_map_slot *slot = &map->slots[i];
        if (!slot->entry) return slot;
        if (slot->hash == hash && strcmp(map->entries[slot->entry - 1].key, key) == 0) return slot;
    }
}

/* Puts what the old slots hold into new ones; no two of them have the same key. */
static void index_again(struct sp_map *map, const struct sp_map_slot *old, size_t old_count)
{
    const size_t mask = map->slot_count - 1;
    for (size_t k = 0; k < old_count; k++) {
        size_t i = old[k].hash & mask;
        if (!old[k].entry) continue;
        while (map->slots[i].entry) i = (i + 1) & mask;
        map->slots[i] = old[k];
    }
}

/* The slots lie behind the entries in one block, since most maps are small and are soon freed. */
static void make_room(struct sp_map *map, size_t slots)
{
    static const size_t bytes_of_slot = sizeof(struct sp_map_slot) + sizeof(struct sp_map_entry) / 4 * 3; /* room_of */
    struct sp_map_entry *old = map->entries;
    const struct sp_map_slot *old_slots = map->slots;
    const size_t old_count = map->slot_count;
    if (!old_count) map->seed = new_seed(map);
    if (old) sp_keep(old, map, sizeof *map);
    /* More than a slot can number are as many as no memory holds. */
    map->entries = sp_realloc(NULL, slots > MOST_SLOTS ? SIZE_MAX : slots, bytes_of_slot);
    map->slots = (struct sp_map_slot *)(map->entries + room_of(slots));
    map->slot_count = slots;
    memset(map->slots, 0, slots * sizeof *map->slots);
    if (old) memcpy(map->entries, old, map->count * sizeof *old);
    index_again(map, old_slots, old_count);
    sp_free(old);
}

void sp_map_reserve(struct sp_map *map, size_t count)
{
    size_t slots = map->slot_count ? map->slot_count : LEAST_SLOTS;
    while (room_of(slots) < count && slots <= MOST_SLOTS) slots *= 2;
    if (slots > map->slot_count) make_room(map, slots);
}

/* A map that is there already when the call begins must be the same when the call fails: one with an old block is old.
 * An entry behind the last one is nothing. */
static void keep_index(struct sp_map *map, struct sp_map_slot *slot)
{
    sp_keep(map->entries, map, sizeof *map);
    sp_keep(map->entries, slot, sizeof *slot);
}

/* The value of the key, which is new with `value` when `added` comes back true. */
static size_t *enter_key(struct sp_map *map, const char *key, size_t value, bool *added)
{
    if (map->count == room_of(map->slot_count)) sp_map_reserve(map, map->count + 1);
    const uint32_t hash = hash_of(map->seed, key);
    struct sp_map_slot *slot = find_slot(map, key, hash);
    *added = !slot->entry;
    if (*added) {
        if (sp_is_old(map->entries)) keep_index(map, slot); /* as a rule they are new: one look-up, not two */
        map->entries[map->count++] = (struct sp_map_entry){key, value};
        *slot = (struct sp_map_slot){hash, (uint32_t)map->count};
    }
    return &map->entries[slot->entry - 1].value;
}

bool sp_map_add(struct sp_map *map, const char *key, size_t value)
{
    bool added;
    enter_key(map, key, value, &added);
    return added;
}

void sp_map_set(struct sp_map *map, const char *key, size_t value)
{
    bool added;
    size_t *place = enter_key(map, key, value, &added);
    if (!added) sp_keep(map->entries, place, sizeof *place);
    *place = value;
}

size_t sp_map_get(const struct sp_map *map, const char *key)
{
    if (!map->count) return SIZE_MAX;
    const struct sp_map_slot *slot = find_slot(map, key, hash_of(map->seed, key));
    return slot->entry ? map->entries[slot->entry - 1].value : SIZE_MAX;
}

void sp_map_free(struct sp_map *map)
{
    sp_free(map->entries);
    *map = (struct sp_map){0};
}
